#include "descriptors.h"

#include "front/text/output.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

/* A stream has open: its journal, its folder, a lock, its hours and days and possibly a file of
 * evicted models. Streams may use 4/8 of the limit, connections 3/8, everything else the rest. */
enum { PER_STREAM = 5, SHARES = 8, STREAM_SHARES = 4, CONNECTION_SHARES = 3, MOST = 1 << 20 };

static const char remedy[] = "raise the limit of open files: ulimit -n 65536 before oif serve, or "
                             "LimitNOFILE=65536 in its systemd unit";

static size_t limit_now(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > MOST)
        return MOST;
    return (size_t)limit.rlim_cur;
}

void descriptors_raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= MOST)
        return;
    limit.rlim_cur = limit.rlim_max < MOST ? limit.rlim_max : MOST;
    setrlimit(RLIMIT_NOFILE, &limit); /* on failure there are just fewer of all */
}

unsigned descriptors_for_connections(unsigned wanted)
{
    size_t limit = limit_now(), possible = limit / SHARES * CONNECTION_SHARES;
    if (possible >= wanted)
        return wanted;
    note("at most %zu connections, as the limit of open files is %zu: %s", possible, limit, remedy);
    return (unsigned)possible;
}

bool descriptors_allow(size_t streams, problem *why)
{
    size_t limit = limit_now();
    return streams <= limit / SHARES * STREAM_SHARES / PER_STREAM ||
           problem_set(
               why, 503, remedy,
               "stream %zu cannot be opened: each may hold %d open files, and the limit is %zu",
               streams, PER_STREAM, limit);
}

const char *descriptors_remedy(int reason, const char *usual)
{
    return reason == EMFILE || reason == ENFILE ? remedy : usual;
}
