/* oif: rows from bytes, and numbers from text and back.
 *
 * The `oif` tool reads its input through this header. A program that already has its rows as
 * doubles needs only oif.h.
 */
#ifndef OIF_ROWS_H
#define OIF_ROWS_H

#include "oif.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers as text ---- */

enum { OIF_NUMBER_TEXT_BYTES = 32 };

/* Reads the longest number at the start of [text, end): the nearest double, whatever the
 * locale. Returns where the number ends, or NULL with *value untouched when there is none.
 * Accepts what strtod does except leading blanks and hexadecimal; too large is an infinity, too
 * small a zero. Never reads at or past `end`. */
OIF_API const char *oif_number_parse(const char *text, const char *end, double *value);

/* Writes the shortest digits that read back as the same double, and of those the closest, laid
 * out as Python's repr does but for whole numbers, which get no ".0": 0.5, 123, 1e-05, 1.5e+16,
 * nan, -inf. Returns the length; writes no final NUL, and may overwrite all of `text`. */
OIF_API size_t oif_number_format(double value, char text[OIF_NUMBER_TEXT_BYTES]);

/* ---- Reading rows ---- */

/* A reader takes bytes from anywhere and gives rows of numbers. It knows three formats:
 *
 *     CSV      time,host,load        NDJSON   {"time": 1, "host": "a", "net": {"in": 7}}     raw   float64
 *              1,a,0.5                        {"time": 2, "host": "b", "net": {"in": 9}}           float64 ...
 *
 * Open it, choose columns, read records until OIF_END. To read "net.in" as a number and "host"
 * as text:
 *
 *     oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
 *     oif_reader *reader = NULL;
 *     oif_record record;
 *     size_t in, host;
 *
 *     if (oif_reader_open(&options, read, context, &reader, NULL) != OIF_OK ||
 *         oif_reader_find_column(reader, "net.in", &in, NULL) != OIF_OK ||
 *         oif_reader_find_column(reader, "host", &host, NULL) != OIF_OK ||
 *         oif_reader_select(reader, &in, 1, NULL) != OIF_OK ||
 *         oif_reader_select_texts(reader, &host, 1, NULL) != OIF_OK)
 *         return 1;
 *     while (oif_reader_next(reader, &record, NULL) == OIF_OK)
 *         printf("%.*s %g\n", (int)record.texts[0].bytes, record.texts[0].text, record.values[0]);
 *     oif_reader_close(reader);
 *
 * In text, lines end in \n or \r\n, the last one may lack it; blank lines and a byte order mark
 * at the start are skipped. What is wrong is told with line and column, and the next call goes
 * on with the line after it.
 *
 * CSV: one row a line, fields with a delimiter between them, as many in each as in the first
 * line. Fields may be quoted; "" inside quotes stands for one quote, and a newline there is
 * text. An empty field, NA, NaN, null and None are missing numbers. Columns have the header's
 * names, or x0, x1, ... Where the header stands once more, as in files that were put one behind
 * the other, it is passed over.
 *
 * NDJSON: one JSON object a line. Columns are the leaves of the first object, called by the
 * keys that lead there with dots between them, and array elements by their number from 0:
 *
 *     {"host": "a", "net": {"in": 7, "out": [1, 2]}, "v1.5": null}
 *                                                 has the columns  host  net.in  net.out.0  net.out.1  v1\.5
 *
 * In a name, a dot that belongs to a key is written \. , a backslash \\ and a NUL character \0
 * . Later lines may have other keys, in any order: what is missing or null is a missing number,
 * what is not selected is passed over, and oif_reader_find_column makes a column of a path that
 * the first line lacks. true is 1 and false 0. A string is no number even if it looks like one;
 * select it as text, or have it written without quotes. Of a key given twice the last one
 * counts. The JSON is strict, just what Python's json.loads takes, but for NaN and Infinity,
 * which are refused, as are objects nested deeper than 256 levels and a first line of more than
 * 65536 keys; numbers may have any length.
 *
 * Raw: rows of `columns` float64 in little-endian order with nothing between them, as numpy's
 * tofile writes them. NaN is a missing number. There are no texts. */
typedef enum oif_format { OIF_FORMAT_CSV, OIF_FORMAT_NDJSON, OIF_FORMAT_RAW } oif_format;

typedef enum oif_header {
    OIF_HEADER_AUTO, /* the first line is a header when none of its fields is a number */
    OIF_HEADER_YES,
    OIF_HEADER_NO
} oif_header;

/* All zero is a good choice for CSV. */
typedef struct oif_reader_options {
    oif_format format;
    oif_header header; /* CSV */
    /* CSV; 0: the most frequent of , ; | and tab in the first line, else a comma */
    char delimiter;
    size_t columns;        /* raw: the numbers in a row */
    size_t max_line_bytes; /* 0: 16 MiB; a longer line is an error, whatever it holds */
} oif_reader_options;

/* Allocates when it is opened, when columns are chosen, and for a line longer than any before
 * it; never for a row. Never asks the source for more while a whole record is at hand, so it
 * suits pipes and terminals. */
typedef struct oif_reader oif_reader;

typedef struct oif_text {
    const char *text; /* not NUL-terminated */
    size_t bytes;
} oif_text;

typedef struct oif_record {
    const double *values; /* the selected columns; NaN where a number is missing */
    /* the columns selected as texts; without quotes and escapes; empty where missing */
    const oif_text *texts;
    const char *text; /* the whole line as it came, without its end; for raw the bytes of the row */
    size_t text_bytes;
    /* of the line's end, which follows the text: 1 for \n, 2 for \r\n, 0 if the input ends
     * without one; text_bytes + end_bytes from `text` on are the record as it came */
    size_t end_bytes;
    uint64_t line; /* where the record starts in the input, from 1; for raw the row */
} oif_record;

/* Opens a reader and looks at the first line. OIF_END when the input is empty; OIF_EPARAM when
 * the delimiter is a letter, a digit or one of . + - " or a line end, and for raw when columns
 * is 0 or a row longer than max_line_bytes; OIF_EINPUT, OIF_EREAD, OIF_EMEMORY. All columns are
 * selected. */
OIF_API OIF_MUST_CHECK oif_status oif_reader_open(const oif_reader_options *options,
                                                  oif_read_function read, void *context,
                                                  oif_reader **reader, oif_error *error);
OIF_API void oif_reader_close(oif_reader *reader);

/* The columns and their names, which live as long as the reader. */
OIF_API size_t oif_reader_column_count(const oif_reader *reader);
OIF_API const char *oif_reader_column_name(const oif_reader *reader, size_t column);

/* Finds a column by its name. OIF_EPARAM when there is none or there are several. In NDJSON a
 * path that is no column yet becomes the last one, not selected: later lines may have it.
 * OIF_EPARAM is then a backslash before anything but . \ and 0; OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_reader_find_column(oif_reader *reader, const char *name,
                                                         size_t *column, oif_error *error);

/* CSV: whether there is a header, its line as it came (empty without one), and the delimiter in
 * use (0 in other formats): what is needed to write rows back with fields added. */
OIF_API bool oif_reader_has_header(const oif_reader *reader);
OIF_API const char *oif_reader_header_text(const oif_reader *reader, size_t *bytes);
OIF_API char oif_reader_delimiter(const oif_reader *reader);

/* Chooses which columns become values, in this order; the others may hold anything. OIF_EPARAM
 * when a column does not exist or is given twice. */
OIF_API OIF_MUST_CHECK oif_status oif_reader_select(oif_reader *reader, const size_t *columns,
                                                    size_t count, oif_error *error);

/* Chooses which columns become texts, in this order; at first none do. A column may be both.
 * The text of a CSV field is without the blanks around it. That of a JSON string is unescaped
 * (half of a surrogate pair, which UTF-8 cannot express, becomes three bytes as Python's
 * surrogatepass makes them); any other JSON value is as it stands, null too. OIF_EPARAM as
 * above and for raw rows, OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_reader_select_texts(oif_reader *reader, const size_t *columns,
                                                          size_t count, oif_error *error);

/* Reads the next record; it is valid until the next call with this reader. OIF_END at the end
 * of the input. OIF_EINPUT when the record is not what was announced (a row with a field too
 * few, text that is no JSON, a raw row cut off by the end) or a selected value is not a finite
 * number: error->line and error->column say where (for raw the row and the number in it), and
 * the next call goes on behind it. OIF_EREAD, OIF_EMEMORY: nothing is lost and the call may be
 * repeated. */
OIF_API OIF_MUST_CHECK oif_status oif_reader_next(oif_reader *reader, oif_record *record,
                                                  oif_error *error);

/* After OIF_EINPUT: the record that was refused, with its bad numbers missing; valid until the
 * next call. False when more is wrong with it than its numbers. */
OIF_API bool oif_reader_refused(oif_reader *reader, oif_record *record);

#ifdef __cplusplus
}
#endif
#endif
