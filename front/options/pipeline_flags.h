/* What the command line adds to the pipeline's options, which come from the library's table: the
 * group of --help they belong to, and how times and sizes are written. */
#ifndef OIF_FRONT_PIPELINE_FLAGS_H
#define OIF_FRONT_PIPELINE_FLAGS_H

#include "option_groups.h"

#include <stdbool.h>

typedef struct pipeline_flag {
    const char *name; /* of the parameter: alert_rate */
    option_group group;
    const char *brief; /* as in option_entry; the default is printed behind it */
    const char *help;  /* where the programs do otherwise than the library; NULL: its own text */
    /* For numbers that people write as times or sizes; NULL: as the library reads it. */
    const char *argument, *expected;
    bool (*parse)(const char *text, double *value);
} pipeline_flag;

/* NULL: there is no such option of the pipeline. */
const pipeline_flag *pipeline_flag_find(const char *name);

#endif
