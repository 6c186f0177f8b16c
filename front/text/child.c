#include "child.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

/* What the program ignores or blocks, the command does not. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, ignored_here;
    sigemptyset(&none);
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGPIPE);
    sigaddset(&ignored_here, SIGXFSZ);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(attributes, &ignored_here);
    posix_spawnattr_setsigmask(attributes, &none);
}

int child_start(char *const *arguments, char *const *variables, int input, pid_t *process)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int reason = posix_spawn_file_actions_init(&files);
    if (reason != 0)
        return reason;
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    reason = posix_spawnp(process, arguments[0], &files, &attributes, arguments, variables);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return reason;
}
