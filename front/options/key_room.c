#include "key_room.h"

#include "front/text/cut.h"
#include "front/text/output.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

/* ---- The memory of the machine ---- */

/* The number in a file of the kernel; INFINITY if there is none, or no limit. */
static double read_limit(const char *path)
{
    double bytes;
    FILE *file = fopen(path, "r");
    if (!file)
        return INFINITY;
    bool is_number = fscanf(file, "%lf", &bytes) == 1 && bytes > 0;
    fclose(file);
    return is_number ? bytes : INFINITY;
}

/* The lowest limit of a control group and its parents. `path` is changed. */
static double least_limit(char path[PATH_BYTES])
{
    double least = INFINITY;
    for (;;) {
        char file[PATH_BYTES + 64];
        snprintf(file, sizeof file, "/sys/fs/cgroup%s/memory.max", path);
        least = fmin(least, read_limit(file));
        char *slash = strrchr(path, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* The memory limit of this process's control groups, as containers and systemd units set it. */
static double group_limit(void)
{
    char line[PATH_BYTES], path[PATH_BYTES] = "";
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(path, sizeof path, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (file)
        fclose(file);
    if (strstr(path, ".."))
        path[0] = '\0';
    return fmin(least_limit(path), read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

static double process_limit(void)
{
    struct rlimit space;
    return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY
               ? (double)space.rlim_cur
               : INFINITY;
}

double key_room_memory(void)
{
    double bytes = INFINITY;
#ifdef _SC_PHYS_PAGES
    double pages = (double)sysconf(_SC_PHYS_PAGES), page = (double)sysconf(_SC_PAGESIZE);
    bytes = pages > 0 && page > 0 ? pages * page : INFINITY;
#endif
    bytes = fmin(bytes, fmin(group_limit(), process_limit()));
    return bytes < INFINITY ? bytes : 0;
}

/* ---- The limit ---- */

static double option(const oif_pipeline *pipeline, const char *name)
{
    double value = 0;
    return oif_params_get(oif_pipeline_options(pipeline), name, &value, NULL) == OIF_OK ? value : 0;
}

void key_room_limit(oif_pipeline *pipeline)
{
    double bytes = key_room_memory() / 2;
    if (option(pipeline, "memory_limit") == 0 && bytes >= 1 && bytes < (double)SIZE_MAX)
        oif_pipeline_limit_memory(pipeline, (size_t)bytes);
}

key_room key_room_start(const oif_pipeline *pipeline, bool has_keys)
{
    double limit = option(pipeline, "memory_limit");
    const bool keeps_evicted = option(pipeline, "evicted") != 0;
    return (key_room){.is_wanted = has_keys && !keeps_evicted,
                      .limit = limit > 0 ? limit : key_room_memory() / 2,
                      .is_usual = limit == 0,
                      .evictions = oif_pipeline_evictions(pipeline),
                      .unmodelled = oif_pipeline_unmodelled_rows(pipeline),
                      .restarts = oif_pipeline_restarts(pipeline)};
}

/* ---- Reports ---- */

void key_room_say_limit(const key_room *room)
{
    if (room->is_wanted && room->limit > 0)
        note("the models of all keys may use %.3g GB, %s (--memory-limit)", room->limit / 1e9,
             room->is_usual ? "half of this machine's memory" : "as asked for");
}

/* Why there is no room for more keys, and the option that makes it. */
static void print_reason(const key_room *room, const oif_pipeline *pipeline, char text[],
                         size_t bytes)
{
    double keys = (double)oif_pipeline_keys(pipeline), most = option(pipeline, "max_keys");
    const double giga = 1e9;
    if (keys >= most)
        snprintf(text, bytes,
                 "%.0f keys have a model, the most allowed; allow more with --max-keys %.0f", keys,
                 2 * most);
    else
        snprintf(text, bytes,
                 "the models of %.0f keys use %.3g GB, %s; allow more with --memory-limit %.0fM",
                 keys, (double)oif_pipeline_memory_bytes(pipeline) / giga,
                 room->is_usual ? "half of this machine's memory" : "the memory limit",
                 fmax(1, room->limit * 1.5 / 1e6));
}

void key_room_report(key_room *room, const oif_pipeline *pipeline, const oif_result *result,
                     const char *key, size_t key_bytes)
{
    char reason[256];
    const int shown = (int)cut_bytes(key, key_bytes, 80);
    print_reason(room, pipeline, reason, sizeof reason);
    if (result->has_no_model)
        note("no room is left for a model of the key \"%.*s\": its rows get no score until "
             "another key is evicted; %s, or keep all on disk with --evicted keep --state FILE",
             shown, key, reason);
    else
        note("the key \"%.*s\" is back after its model was evicted, and starts over; %s, or keep "
             "evicted models with --evicted keep --state FILE",
             shown, key, reason);
    room->is_full_reported |= result->has_no_model;
    room->is_restart_reported |= !result->has_no_model;
}

void key_room_summary(const key_room *room, const oif_pipeline *pipeline)
{
    uint64_t evicted = oif_pipeline_evictions(pipeline) - room->evictions,
             unmodelled = oif_pipeline_unmodelled_rows(pipeline) - room->unmodelled,
             restarts = oif_pipeline_restarts(pipeline) - room->restarts;
    char text[4][GROUPED_TEXT_BYTES];
    if (room->is_wanted && (evicted > 0 || unmodelled > 0))
        note("%s keys have a model; %s were evicted, %s of them came back and started over; %s "
             "rows had no model and got no score",
             grouped_text(oif_pipeline_keys(pipeline), text[0]), grouped_text(evicted, text[1]),
             grouped_text(restarts, text[2]), grouped_text(unmodelled, text[3]));
}
