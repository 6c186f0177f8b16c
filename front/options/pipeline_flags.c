#include "pipeline_flags.h"

#include "front/text/byte_sizes.h"
#include "front/text/durations.h"

#include <string.h>

/* Without a line here an option works but is in no group, so --help-all lacks it: a test compares
 * them. The seasons have no brief text, as --season sets them. */
static const pipeline_flag pipeline_flags[] = {
    {"alert_rate", GROUP_ALERTS, "episodes to report, per row", NULL, NULL, NULL},
    {"alerts", GROUP_ALERTS, "episodes per day to aim for, instead of --alert-rate", "N/day",
     "a number per day, hour or week, such as 5/day", per_day_parse},
    {"threshold", GROUP_ALERTS, NULL, NULL, NULL, NULL},
    {"memory", GROUP_ALERTS, NULL, NULL, NULL, NULL},
    {"calm", GROUP_ALERTS, NULL, NULL, NULL, NULL},
    {"cooldown", GROUP_ALERTS, NULL, "TIME", "a time such as 30s, 10m, 2h or 1d", duration_parse},
    {"silence", GROUP_ALERTS, NULL, "TIME", "a time such as 30s, 10m, 2h or 1d, 0 or -1",
     duration_parse},
    {"max_keys", GROUP_KEYS, NULL, NULL, NULL, NULL},
    {"memory_limit", GROUP_KEYS, NULL, "BYTES", "a number of bytes such as 500M or 2G",
     byte_size_parse},
    {"evicted", GROUP_KEYS, NULL, NULL, NULL, NULL},
    {"learn", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"patience", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"shingle", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"persistence", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"stuck", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"partner", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"motion", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"find_season", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"season_rows", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"season_seconds", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
    {"other_season_seconds", GROUP_DETECTOR, NULL, NULL, NULL, NULL},
};

const pipeline_flag *pipeline_flag_find(const char *name)
{
    for (size_t i = 0; i < sizeof pipeline_flags / sizeof *pipeline_flags; i++)
        if (strcmp(pipeline_flags[i].name, name) == 0)
            return &pipeline_flags[i];
    return NULL;
}
