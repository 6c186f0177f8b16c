/* The formats of --output, one line each. row_writer.c has the functions that write their rows. */
#ifndef OIF_FRONT_OUTPUT_FORMATS_H
#define OIF_FRONT_OUTPUT_FORMATS_H

#include "oif_rows.h"

#include <stdbool.h>

/* The enumerator, the word on the command line, and the members of output_facts that are not 0. */
/* clang-format off */
#define OUTPUT_FORMATS(FORMAT)                                                                     \
    FORMAT(OUTPUT_CSV, "csv", .extends = 1 + OIF_FORMAT_CSV)                                       \
    FORMAT(OUTPUT_NDJSON, "ndjson", .extends = 1 + OIF_FORMAT_NDJSON, .has_objects = true)         \
    FORMAT(OUTPUT_LOGFMT, "logfmt", .extends = 0)
/* clang-format on */

#define OUTPUT_ENUMERATOR(format, ...) format,
typedef enum output_format { OUTPUT_AS_INPUT, OUTPUT_FORMATS(OUTPUT_ENUMERATOR) } output_format;

typedef struct output_facts {
    int extends;      /* 1 + the oif_format whose rows are copied; others are built; 0: all are */
    bool has_objects; /* added fields are one member; other records may be between rows */
} output_facts;

/* Their words, from OUTPUT_CSV; ends with NULL. */
extern const char *const output_format_words[];

/* Those of OUTPUT_AS_INPUT are known with the format of the input. */
const output_facts *output_format_facts(output_format format);

/* The format that is written, never OUTPUT_AS_INPUT. */
output_format output_format_for(output_format asked, oif_format input);

#endif
