/* Influx's line protocol: whether a text begins so. */
#ifndef OIF_FRONT_INFLUX_H
#define OIF_FRONT_INFLUX_H

#include "oif_rows.h"

#include <stdbool.h>

/* The text has a whole line, or its beginning. */
bool influx_recognise(const char *text, size_t bytes);

#endif
