/* Numbers as people and spreadsheets write them: 12%, 3.4 GB, $1,234.50, 1'234. One reader for CSV,
 * NDJSON and oif_value_parse. Callers try plain numbers first, which are nearly all. */
#ifndef OIF_ROWS_VALUE_TEXT_H
#define OIF_ROWS_VALUE_TEXT_H

#include "rows/reader.h"

/* What the commas of a number show. */
typedef enum oif_comma_use {
    OIF_COMMA_ABSENT,
    OIF_COMMA_GROUPS,  /* 1,234.5 or 1,234,567 */
    OIF_COMMA_DECIMAL, /* 1,5 or 1.234,5 */
    OIF_COMMA_EITHER   /* 1,234: taken as groups unless the caller knows better */
} oif_comma_use;

typedef struct oif_marked_number {
    double value;     /* in the unit */
    const char *unit; /* "s", "B", "%", "$", ...; "": none */
    oif_comma_use commas;
} oif_marked_number;

/* Reads a number with a unit, a sign of a currency, or groups of digits; false if it is not one.
 * `decimal` is OIF_DECIMAL_AUTO if the number has to show what its commas are. */
bool oif_marked_number_read(oif_span text, oif_decimal decimal, oif_marked_number *number);

/* The meaning of a text that is a plain number, a truth value or missing; OIF_VALUE_TEXT for all
 * others. *value is NaN unless it is a number. */
oif_value_kind oif_value_parse_plain(oif_span text, oif_decimal decimal, double *value);

/* The meaning of a text in a column of a reader that is not a plain number. Remembers what it shows
 * about the column and the file: its unit, and what commas are. *value is NaN unless it is a
 * number. */
oif_value_kind oif_reader_read_value(oif_reader *reader, oif_reader_column *column, oif_span text,
                                     oif_decimal decimal, double *value);

/* Whether a text that was refused is a number that contradicts others: another unit, or another use
 * of commas. *error then says so. */
bool oif_reader_contradicts(const oif_reader *reader, size_t column, oif_span text, uint64_t line,
                            uint64_t byte, oif_error *error);

#endif
