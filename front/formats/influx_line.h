/* A line of Influx's line protocol, in its parts:
 *
 *     cpu,host=a usage=12.5,procs=3i,state="up" 1794970649000000000
 *     ----------                                 series
 *     ---                                        measurement
 *         ------                                 tags: name=value
 *                ---------------------------     fields: name=value
 */
#ifndef OIF_FRONT_INFLUX_LINE_H
#define OIF_FRONT_INFLUX_LINE_H

#include "oif_rows.h"

#include <stdbool.h>

/* They point into the line, with its escapes. */
typedef struct influx_line {
    oif_text series, measurement, fields;
    oif_text time; /* a whole number; no bytes: none */
} influx_line;

/* False if it is not such a line. The tags are not checked; nor are the values of the fields. */
bool influx_line_split(oif_text line, influx_line *parts);

/* The next tag or field; *at is NULL at first, and after the last one. False if it is malformed. */
bool influx_line_next_tag(const influx_line *parts, const char **at, oif_text *name,
                          oif_text *value);
bool influx_line_next_field(const influx_line *parts, const char **at, oif_text *name,
                            oif_text *value);

typedef enum influx_kind { INFLUX_BAD, INFLUX_NUMBER, INFLUX_BOOLEAN, INFLUX_STRING } influx_kind;

/* What the value of a field is; its number, also of a boolean: 1 or 0. A string is in quotes. */
influx_kind influx_line_value(oif_text value, double *number);

/* What may be escaped: in the name of a measurement, in tags and the names of fields,
 * and in a string. */
#define INFLUX_MEASUREMENT_ESCAPES ", \\"
#define INFLUX_TAG_ESCAPES ",= \\"
#define INFLUX_STRING_ESCAPES "\"\\"

/* Copies a text without its escapes to `room`, which has text.bytes bytes. Returns how many. */
size_t influx_line_unescape(oif_text text, const char *escaped, char *room);

#endif
