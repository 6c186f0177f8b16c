/* Rows of the tables of options that oif score and oif eval share: what a row's columns are for. */
#ifndef OIF_FRONT_ROW_OPTIONS_H
#define OIF_FRONT_ROW_OPTIONS_H

#include "options.h"

/* clang-format off */
#define OPTION_KEY                                                                                 \
    {"key", OPTION_NAMES, SETTING(score.key), GROUP_KEYS,                                          \
     .brief = "each value, such as each host, gets its own model",                                 \
     .help = "each key, such as each host, gets its own model; host,disk: the two columns "        \
             "together are the key",                                                               \
     .argument = "COL,COL", .stream = STREAM_FIXES}

#define OPTION_TIME_FORMAT                                                                         \
    {"time-format", OPTION_APPLY, SETTING(score.time_pattern), GROUP_COLUMNS,                      \
     .help = "how times are written (default: found in the first rows): a pattern such as "        \
             "'%d.%m.%Y %H:%M' of %Y %y %m %b %d %H %I %M %S %f %p %z %a %s %F %T; or day-first "  \
             "or month-first for dates such as 01/02/2026",                                        \
     .argument = "PATTERN", .apply = set_time_format, .stream = STREAM_FIXES}

#define OPTION_RATE                                                                            \
    {"rate", OPTION_NAMES, SETTING(score.rate), GROUP_COLUMNS,                                     \
     .brief = "counters: learn their increase per second or row",                                  \
     .help = "these columns are counters: learn their increase per second of --time, or per row "  \
             "without it; a counter that falls was reset to 0",                                    \
     .argument = "A,B,...", .stream = STREAM_FIXES}

#define OPTION_CATEGORY                                                                            \
    {"category", OPTION_NAMES, SETTING(score.category), GROUP_COLUMNS,                             \
     .brief = "text, such as states: learn how rare a value is",                                   \
     .help = "these columns hold text, such as states and names, or numbers that are names: "      \
             "learn how rare a value is; a new value is an anomaly where new values are rare",     \
     .argument = "A,B,...", .stream = STREAM_FIXES}
/* clang-format on */

#endif
