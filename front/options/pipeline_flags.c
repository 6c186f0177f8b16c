#include "pipeline_flags.h"

#include "front/text/byte_sizes.h"
#include "front/text/durations.h"

#include <string.h>

/* The options of a pipeline that are flags and settings. The others are for programs: what they
 * decide is measured once (C, Python, Java). */
static const pipeline_flag pipeline_flags[] = {
    {.name = "alert_rate", .group = GROUP_ALERTS, .brief = "episodes to report, per row"},
    {.name = "alerts",
     .group = GROUP_ALERTS,
     .brief = "episodes per day to aim for, instead of --alert-rate",
     .argument = "N/day",
     .expected = "a number per day, hour or week, such as 5/day",
     .parse = per_day_parse},
    {.name = "silence",
     .group = GROUP_ALERTS,
     .argument = "TIME",
     .expected = "a time such as 30s, 10m, 2h or 1d, 0 or -1",
     .parse = duration_parse},
    {.name = "max_keys", .group = GROUP_KEYS},
    {.name = "memory_limit",
     .group = GROUP_KEYS,
     .argument = "BYTES",
     .help = "bytes that all models may use, enforced in the same way; 0: half of this machine's "
             "memory",
     .expected = "a number of bytes such as 500M or 2G",
     .parse = byte_size_parse},
    {.name = "evicted", .group = GROUP_KEYS},
};

const pipeline_flag *pipeline_flag_find(const char *name)
{
    for (size_t i = 0; i < sizeof pipeline_flags / sizeof *pipeline_flags; i++)
        if (strcmp(pipeline_flags[i].name, name) == 0)
            return &pipeline_flags[i];
    return NULL;
}
