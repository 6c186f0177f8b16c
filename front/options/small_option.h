/* --small: small models, for very many keys or little memory. */
#ifndef OIF_FRONT_SMALL_OPTION_H
#define OIF_FRONT_SMALL_OPTION_H

#include "options.h"

/* For tables of options. Parameters that are given, before or after it, keep their values. */
const char *small_set(run_settings *settings, const char *value);

#define OPTION_SMALL                                                                               \
    {                                                                                              \
        "small", OPTION_APPLY, SETTING(params), GROUP_DETECTOR,                                    \
            .help = "small models, for very many keys or little memory: 16 trees of 48 rows, a "   \
                    "window of 256; they find about as many events but rank rows less well",       \
            .apply = small_set, .detector = "rolling-iforest", .stream = STREAM_FIXES              \
    }

#endif
