/* --history, of oif serve and of what is known about its memory beforehand. */
#ifndef OIF_FRONT_HISTORY_OPTION_H
#define OIF_FRONT_HISTORY_OPTION_H

#include "front/text/byte_sizes.h"
#include "options.h"

#define OPTION_HISTORY                                                                             \
    {                                                                                              \
        "history", OPTION_AMOUNT, SETTING(serve.history_bytes), GROUP_LIMITS,                      \
            .brief = "memory for recent points, per stream (default 64M)",                         \
            .help = "memory for the recent points of each stream (default 64M)",                   \
            .argument = "BYTES", .from = 65536, .to = 1e12,                                        \
            .range = "a number of bytes from 64K on, such as 64M", .parse = byte_size_parse        \
    }

#endif
