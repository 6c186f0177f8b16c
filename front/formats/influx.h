/* Influx's line protocol: whether a text begins so, and rows that came from it, printed as such
 * lines again. */
#ifndef OIF_FRONT_INFLUX_H
#define OIF_FRONT_INFLUX_H

#include "oif_rows.h"

#include <stdbool.h>

/* The text has a whole line, or its beginning. */
bool influx_recognise(const char *text, size_t bytes);

/* Prints the series and the fields of a row that format_influx has made: what is left is the time,
 * which *time becomes; no bytes: the line had none. */
void influx_print_line(oif_text row, oif_text *time);

#endif
