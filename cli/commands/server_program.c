#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to this program: in the build tree, and installed. */
static const char *const places[] = {"oif-serve", "../libexec/oif/oif-serve"};

enum { PATH_BYTES = 4096 };

/* The folder of this program with a trailing slash; "" if unknown. */
static void find_folder(char folder[PATH_BYTES])
{
    ssize_t bytes = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
    folder[bytes > 0 ? bytes : 0] = '\0';
    char *slash = strrchr(folder, '/');
    folder[slash ? slash + 1 - folder : 0] = '\0';
}

static exit_code start(const char *path, char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **command = calloc(count + 3, sizeof *command);
    if (!command)
        return complain(EXIT_FAILED, "out of memory");
    command[0] = (char *)"oif";
    command[1] = (char *)"serve";
    memcpy(command + 2, arguments, count * sizeof *command);
    execv(path, command);
    free(command);
    return complain(EXIT_FAILED, "cannot start %s: %s", path, strerror(errno));
}

exit_code server_program_run(const run_settings *settings)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 64];
    find_folder(folder);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0)
            return start(path, settings->arguments);
    }
    return complain(EXIT_FAILED,
                    "oif was built without the server, which needs libmicrohttpd, GnuTLS, jansson "
                    "and libcurl; install them and build it again: sudo apt-get install "
                    "libmicrohttpd-dev libgnutls28-dev libjansson-dev libcurl4-openssl-dev");
}
