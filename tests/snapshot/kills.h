/* Shared by the tests with kill -9: short-lived children, in their own folder.
 *
 * OIF_KILL_TRIALS: how many children; 10,000 in `tools/test/long.sh kill`. OIF_KILL_SEED: other
 * moments.
 * TMPDIR: where the files are; on a disk most kills come during a sync, in memory during a
 * write. */
#ifndef TESTS_SNAPSHOT_KILLS_H
#define TESTS_SNAPSHOT_KILLS_H

#include "../detect/driver.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_LIFE_MICROSECONDS = 12000, LONGEST_LIFE_MICROSECONDS = 3000000 };

/* Runs a child for a while. `live` returns only if something goes wrong, with a number for the
 * cause, and writes the number of rows of each saved generation. Returns the rows of the last
 * acknowledged generation. */
static inline uint64_t run_child(int (*live)(int acknowledge), uint32_t microseconds,
                                 uint64_t acknowledged)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        _exit(live(ends[1]));
    }
    close(ends[1]);
    nanosleep(&(struct timespec){.tv_sec = microseconds / 1000000,
                                 .tv_nsec = (long)(microseconds % 1000000) * 1000},
              NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        fail_msg("the child ended with %d after %" PRIu64 " rows", WEXITSTATUS(status),
                 acknowledged);
    /* a write of so few bytes is never split */
    while (read(ends[0], &acknowledged, sizeof acknowledged) > 0)
        ;
    close(ends[0]);
    return acknowledged;
}

static inline uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* On a slow or busy machine, children live longer, so most of them get to saving. */
static inline uint32_t adapt_life(uint32_t longest, bool got_to_save)
{
    longest = got_to_save ? longest - longest / 64 : longest + longest / 16;
    if (longest > LONGEST_LIFE_MICROSECONDS)
        return LONGEST_LIFE_MICROSECONDS;
    return longest < USUAL_LIFE_MICROSECONDS ? USUAL_LIFE_MICROSECONDS : longest;
}

static char killing_folder[4096];

static inline int enter_folder(void **unused)
{
    (void)unused;
    const char *parent = getenv("TMPDIR");
    snprintf(killing_folder, sizeof killing_folder, "%s/oif-kill-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(killing_folder) && chdir(killing_folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **unused)
{
    (void)unused;
    return chdir("/") == 0 && rmdir(killing_folder) == 0 ? 0 : -1;
}

#endif
