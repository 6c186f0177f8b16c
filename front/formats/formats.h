/* The formats that a translator reads, and which of them an input has. */
#ifndef OIF_FRONT_FORMATS_H
#define OIF_FRONT_FORMATS_H

#include "translator.h"

extern const translation format_json, format_vmstat, format_sysstat, format_sadf, format_prometheus,
    format_influx, format_access_log, format_pivot;

/* The words of --format: CSV and NDJSON as in oif_format, then those that are translated; ends with
 * NULL. */
extern const char *const format_words[];

/* The format of a word of --format, counted from 0; NULL: it needs no translation. */
const translation *formats_asked(int word);

/* The format of what the source begins with, of which it waits for the first line; NULL: CSV,
 * NDJSON, or something else. */
const translation *formats_recognise(byte_source *source);

#endif
