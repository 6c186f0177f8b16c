/* oif: rows from bytes, numbers from text and back, and times from text.
 *
 * The `oif` tool reads its input through this header.
 * A program that already has its rows as doubles needs only oif.h.
 * The rules at the top of oif.h apply here too.
 */
#ifndef OIF_ROWS_H
#define OIF_ROWS_H

#include "oif.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers as text ---- */

/* The size of a buffer for the text of a number. */
enum { OIF_NUMBER_TEXT_BYTES = 32 };

/* Reads the longest number at the start of [text, end).
 *
 *   - The result is the nearest double, whatever the locale.
 *     Too large becomes an infinity, too small a zero.
 *   - Accepts what strtod accepts, except leading blanks and hexadecimal.
 *   - Never reads at or past `end`.
 *
 * Returns the end of the number.
 * If there is none, returns NULL and leaves *value unchanged. */
OIF_API const char *oif_number_parse(const char *text, const char *end, double *value);

/* Writes the shortest digits that read back as the same double;
 * of those, the closest.
 *
 *   - The layout is that of Python's repr, but whole numbers have no ".0": 0.5,
 *     123, 1e-05, 1.5e+16, nan, -inf.
 *   - Writes no NUL and may overwrite all of `text`.
 *
 * Returns the length. */
OIF_API size_t oif_number_format(double value, char text[OIF_NUMBER_TEXT_BYTES]);

/* ---- Values as text ---- */

/* The meaning of a text where a number should be. */
typedef enum oif_value_kind {
    OIF_VALUE_NUMBER,
    OIF_VALUE_MISSING,
    OIF_VALUE_INFINITE,
    OIF_VALUE_TEXT
} oif_value_kind;

typedef enum oif_decimal {
    OIF_DECIMAL_AUTO, /* the point, or the comma if semicolons separate fields */
    OIF_DECIMAL_POINT,
    OIF_DECIMAL_COMMA
} oif_decimal;

/* Reads a value as readers do, in CSV fields and JSON strings alike.
 *
 *   - Numbers as in oif_number_parse; true is 1, false is 0, in any case.
 *   - Missing, in any case: empty, NA, N/A, NaN, null, None, nil, NaT, <NA>,
 *     (null), \N, ?, -, --, and #N/A, #NULL!, #DIV/0!, #VALUE!, #REF!, #NUM!.
 *   - Digits in groups: 1,234.5 or 1'234.5 or 1 234.5 or 1.234,5.
 *     1,5 is one and a half; 1,234 has a group unless `decimal` is the comma.
 *   - A currency before or after the number: $1,234.50, -5 EUR.
 *   - A unit: 12%, 12.5 ms, 3.4 GB, 512KiB, 80 MB/s, 3 GHz, 1.5 kW, 21 C with a
 *     degree sign, and others.
 *     The value is in the unit of its kind: seconds, bytes, bytes per second,
 *     bits per second, Hz, W, V, A; percent stays percent.
 *
 * *value is NaN unless it is a number or infinite.
 * *unit is "s", "B", "%", "$", ...; "" if there is none. `unit` may be NULL. */
OIF_API oif_value_kind oif_value_parse(const char *text, size_t bytes, oif_decimal decimal,
                                       double *value, const char **unit);

/* ---- Times as text ---- */

/* How the times of a stream are written. */
typedef enum oif_time_form {
    OIF_TIME_FORM_NONE,       /* no time was read yet */
    OIF_TIME_FORM_ISO,        /* 2026-11-15T19:05:01.25+01:00, 15.11.2026 19:05 */
    OIF_TIME_FORM_EPOCH,      /* 1794769501: a number, counted from 1970 */
    OIF_TIME_FORM_SYSLOG,     /* Nov 15 19:05:01 */
    OIF_TIME_FORM_COMMON_LOG, /* 15/Nov/2026:19:05:01 +0000 */
    OIF_TIME_FORM_SLASHED,    /* 11/15/2026 7:05 PM, 15/11/2026, 15-11-2026 */
    OIF_TIME_FORM_NAMED,      /* 15-Nov-2026, Nov 15, 2026, RFC 2822, ctime */
    OIF_TIME_FORM_COMPACT,    /* 20261115, 20261115190501 */
    OIF_TIME_FORM_PATTERN     /* as `pattern` says */
} oif_time_form;

/* Whether 01/02/2026 is the 1st of February or the 2nd of January. */
typedef enum oif_day_order {
    OIF_DAY_ORDER_AUTO, /* not known yet */
    OIF_DAY_FIRST,
    OIF_MONTH_FIRST
} oif_day_order;

/* What is known about the times of one stream; one for each stream.
 * Zero it before use;
 * set `year`, `day_order` and `pattern` if you know them. */
typedef struct oif_time_format {
    oif_time_form form;      /* of the last time */
    int32_t year;            /* syslog: of the last time; before the first, the year to start in */
    double per_second;       /* numbers: units per second, 1 to 1e9; 0 until decided */
    double last_seconds;     /* syslog: the last time */
    bool has_zone;           /* some times name their zone */
    bool lacks_zone;         /* some do not: UTC is assumed */
    bool is_uncertain;       /* the unit of numbers, the year or day_order is a guess */
    oif_day_order day_order; /* of dates such as 01/02/2026 */
    const char *pattern;     /* see oif_time_check_pattern; NULL: any form.
                              * It must outlive the format. */
    uint64_t reserved[3];
} oif_time_format;

/* Reads a time as seconds since 1970 in UTC. Never allocates.
 *
 *   - ISO 8601: a date, or a date and a time of day with T or a blank between
 *     them, such as 2026-11-15, 2026-11-15 19:05, 2026-11-15T19:05:01,25Z,
 *     20261115T190501+0100. Dates may have / instead of -.
 *     Also a month, 2026-11, and dates such as 15.11.2026.
 *     The zone is Z, UTC, GMT, +hh:mm, +hhmm or +hh.
 *   - Numbers are seconds below 1e11, milliseconds below 1e14,
 *     microseconds below 1e17 and nanoseconds below 1e20.
 *     The first one that is not 0 decides for the stream.
 *   - Syslog has no year.
 *     It starts with format->year, or with 1972 if that is 0;
 *     when the months start again, so does the year.
 *     A December after January is a late row of the previous year.
 *   - Common log, with or without brackets; one of them may be missing.
 *   - Dates such as 1/31/2026 1:05 PM, 31/01/2026, 31-01-2026 and 31.1.26.
 *     The first one decides whether the day or the month is first.
 *     If it shows neither, as 01/02/2026, the month is first: a guess.
 *   - Dates with a name: 31-Jan-2026, January 31, 2026 1:05 PM,
 *     Sat, 31 Jan 2026 13:05:06 +0100 (RFC 2822), Sat Jan 31 13:05:06 2026.
 *   - Digits only, from 1900 to 2199: 20260131, 202601311305, 20260131130506.
 *     After a number that is not such a date they are numbers.
 *   - A later time may have another form.
 *     But after dates, a number is not a time.
 *   - 24:00:00 is the start of the next day,
 *     and so is a leap second (23:59:60).
 *   - Empty text, NA, NaN, null and others of oif_value_parse
 *     are a missing time: OIF_OK, and *seconds is NaN.
 *   - The result is accurate to a microsecond or better.
 *
 * OIF_EVALUE   not a time, or one that does not exist, such as February 30;
 *              the message says why
 *              OIF_CAUSE_DAY_ORDER: 13/01/2026 after dates with the month first,
 *              or 01/13/2026 after dates with the day first */
OIF_API OIF_MUST_CHECK oif_status oif_time_parse(oif_time_format *format, const char *text,
                                                 size_t bytes, double *seconds, oif_error *error);

/* Whether a text can be the pattern of a format, such as "%d.%m.%Y %H:%M".
 *
 *   - %Y %y year, %m %b month, %d day, %H %M %S %f time of day,
 *     %I %p with AM or PM, %z zone, %a weekday, %s seconds since 1970.
 *   - %F is %Y-%m-%d, %T is %H:%M:%S, %R is %H:%M, %D is %m/%d/%y.
 *   - %% is a percent sign, a blank any blanks or none.
 *     Other characters stand for themselves.
 *   - Numbers may have fewer digits.
 *
 * OIF_EPARAM   it has an unknown part,
 *              or lacks the year, the month or the day */
OIF_API OIF_MUST_CHECK oif_status oif_time_check_pattern(const char *pattern, oif_error *error);

/* The size of a buffer for a description. */
enum { OIF_TIME_TEXT_BYTES = 80 };

/* Describes how the times were interpreted:
 * "ISO 8601 without a zone, taken as UTC". */
OIF_API void oif_time_describe(const oif_time_format *format, char text[OIF_TIME_TEXT_BYTES]);

/* ---- Reading rows ---- */

/* A reader takes bytes from anywhere and returns rows of numbers.
 * It knows two formats:
 *
 *     CSV         time,host,load
 *                 1,a,0.5
 *     NDJSON      {"time": 1, "host": "a", "net": {"in": 7}}
 *                 {"time": 2, "host": "b", "net": {"in": 9}}
 *
 * Open it, select columns, read records until OIF_END.
 * To read "net.in" as a number and "host" as text:
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
 * Text (CSV and NDJSON):
 *
 *   - Lines end in \n or \r\n; the last line may lack it.
 *   - Blank lines and a byte order mark at the start are skipped.
 *   - An error has a line and a column.
 *     The next call continues with the line after it.
 *
 * CSV:
 *
 *   - One row per line.
 *     Every line has as many fields as the first one.
 *   - Fields may be quoted.
 *     Inside quotes "" is one quote, and a newline is text.
 *   - Fields are read as oif_value_parse does: units, groups of digits, and
 *     words for missing numbers.
 *     A column has one kind of unit, and a file one use of commas:
 *     values that contradict this are refused.
 *   - Columns have the names in the header, or x0, x1, ...
 *   - A repeated header, as in concatenated files, is skipped,
 *     also with a byte order mark.
 *   - With the delimiter ' ', any run of blanks and tabs separates fields,
 *     as vmstat prints them.
 *   - A first line such as sep=; names the delimiter,
 *     as Excel reads it, and is skipped.
 *   - Lines with # before the header are skipped, unless the last of them
 *     has as many fields as the row below: then it is the header.
 *   - Between semicolons 1,5 is a number: with the first such field among
 *     the first rows, the decimal sign is the comma.
 *     Points then group thousands, as in 1.234,5.
 *     After a number such as 1.234, which is read with decimals, it is refused;
 *     OIF_DECIMAL_COMMA makes that 1234.
 *
 * NDJSON:
 *
 *   - One JSON object per line.
 *   - Columns are the leaves of the first object.
 *     A name is the path of keys, joined by dots;
 *     array elements are counted from 0:
 *
 *         {"host": "a", "net": {"in": 7, "out": [1, 2]}, "v1.5": null}
 *         columns:  host  net.in  net.out.0  net.out.1  v1\.5
 *
 *   - In a name, three characters of a key are escaped:
 *     \. is a dot, \\ a backslash, \0 a NUL character.
 *   - Later lines may have other keys, in any order.
 *     Missing or null is a missing number.
 *     Keys that are not selected are skipped;
 *     oif_reader_collect_columns makes columns of them.
 *   - true is 1 and false is 0.
 *     A string is read like a CSV field: "5" and "12 ms" are numbers,
 *     "NA" is missing.
 *   - If a key occurs twice, the last one counts.
 *   - The JSON is strict: what Python's json.loads accepts,
 *     except NaN and Infinity.
 *     Numbers may have any length.
 *   - Limits: OIF_JSON_LEVELS_MAX and OIF_JSON_FIRST_LINE_KEYS_MAX. */
typedef enum oif_format { OIF_FORMAT_CSV, OIF_FORMAT_NDJSON } oif_format;

enum {
    OIF_JSON_LEVELS_MAX = 256,            /* nested objects and arrays */
    OIF_JSON_FIRST_LINE_KEYS_MAX = 65536, /* leaves of the first object */
    OIF_LINE_BYTES_INITIAL = 16 << 20     /* the meaning of max_line_bytes = 0 */
};

typedef enum oif_header {
    OIF_HEADER_AUTO, /* the first line is a header if none of its fields is a number */
    OIF_HEADER_YES,
    OIF_HEADER_NO
} oif_header;

/* Zero it before use; zero is a good choice for CSV. */
typedef struct oif_reader_options {
    oif_format format;
    oif_header header;     /* CSV */
    char delimiter;        /* CSV; 0: the most frequent of , ; | and tab in the first line */
    size_t max_line_bytes; /* a longer line is an error; 0: OIF_LINE_BYTES_INITIAL */
    /* CSV: skip lines that begin with this text.
     * It must outlive the reader.
     * NULL: only lines with # before the header. */
    const char *comment;
    oif_decimal decimal; /* CSV */
    uint64_t reserved[2];
} oif_reader_options;

/* Allocates when it is opened, when columns are selected,
 * and for a line longer than any before it; never for a row.
 * Does not read more bytes while it has a complete record:
 * suits pipes and terminals. */
typedef struct oif_reader oif_reader;

typedef struct oif_text {
    const char *text; /* not NUL-terminated */
    size_t bytes;
} oif_text;

/* One row.
 * The original record is text_bytes + end_bytes bytes, starting at `text`. */
typedef struct oif_record {
    const double *values;  /* the selected columns; NaN if a number is missing */
    const oif_text *texts; /* columns selected as texts, without quotes and escapes */
    const char *text;      /* the line without its end */
    size_t text_bytes;
    size_t end_bytes; /* of the line end: 1 for \n, 2 for \r\n, 0 at the end of the input */
    uint64_t line;    /* where the record starts, from 1 */
    uint64_t reserved[2];
} oif_record;

/* Opens a reader and reads the first line. All columns are selected.
 * Close it with oif_reader_close.
 *
 * OIF_END      the input is empty
 * OIF_EPARAM   the delimiter is a letter, a digit, a line end or one of . + - "
 *              the comment is empty or has a line end in it
 *              the comma is both the delimiter and the decimal sign
 *              reserved is not 0
 * OIF_EINPUT   the first line is malformed
 * OIF_EREAD    `read` failed */
OIF_API OIF_MUST_CHECK oif_status oif_reader_open(const oif_reader_options *options,
                                                  oif_read_function read, void *context,
                                                  oif_reader **reader, oif_error *error);

/* Closes a reader. NULL is accepted. */
OIF_API void oif_reader_close(oif_reader *reader);

/* ---- Reading rows: columns ---- */

/* The number of columns, and the name of one, valid as long as the reader. */
OIF_API size_t oif_reader_column_count(const oif_reader *reader);
OIF_API const char *oif_reader_column_name(const oif_reader *reader, size_t column);

/* Finds a column by its name.
 * NDJSON: a path that is not a column yet becomes the last one, not selected.
 * Later lines may have it.
 *
 * OIF_EPARAM   there is no such column, or there are several
 *              NDJSON: the path contains an invalid escape
 *              (only \. \\ and \0 are valid) */
OIF_API OIF_MUST_CHECK oif_status oif_reader_find_column(oif_reader *reader, const char *name,
                                                         size_t *column, oif_error *error);

/* NDJSON: unknown keys of later lines become columns, not selected,
 * as soon as oif_reader_next has read the line: at most `count` more keys,
 * including objects and arrays; 0: no more.
 * The reader allocates for each.
 * CSV has all its columns from the start. */
OIF_API void oif_reader_collect_columns(oif_reader *reader, size_t count);

/* Selects the columns that become values, in this order.
 * Other columns may hold anything.
 *
 * OIF_EPARAM   a column does not exist or is given twice */
OIF_API OIF_MUST_CHECK oif_status oif_reader_select(oif_reader *reader, const size_t *columns,
                                                    size_t count, oif_error *error);

/* Selects the columns that become texts, in this order.
 * Initially there are none.
 * A column can be both a value and a text.
 *
 *   - CSV: the field without the blanks around it.
 *   - NDJSON: a string is unescaped.
 *     Half of a surrogate pair, which UTF-8 cannot express,
 *     becomes three bytes, as with Python's surrogatepass.
 *     Any other value is copied as it is, null too.
 *
 * OIF_EPARAM   a column does not exist or is given twice */
OIF_API OIF_MUST_CHECK oif_status oif_reader_select_texts(oif_reader *reader, const size_t *columns,
                                                          size_t count, oif_error *error);

/* Text in this column is reported as an error only
 * if all other selected values of the record are good. */
OIF_API void oif_reader_allow_text(oif_reader *reader, size_t column);

/* A text that means missing, in addition to those of oif_value_parse:
 * a number such as -200, in any spelling, or a word.
 * `column` is one of them, or OIF_ALL_COLUMNS.
 *
 * OIF_EMEMORY   no memory */
#define OIF_ALL_COLUMNS SIZE_MAX
OIF_API OIF_MUST_CHECK oif_status oif_reader_add_missing(oif_reader *reader, size_t column,
                                                         const char *text, oif_error *error);

/* The unit that the values of a column are converted to:
 * "s", "B", "%", "$", ...; "" if none was read so far. */
OIF_API const char *oif_reader_unit(const oif_reader *reader, size_t column);

/* What a program needs to write CSV rows back with appended fields:
 * whether there is a header, its original line (empty without a header),
 * and the delimiter (0 in other formats). */
OIF_API bool oif_reader_has_header(const oif_reader *reader);
OIF_API const char *oif_reader_header_text(const oif_reader *reader, size_t *bytes);
OIF_API char oif_reader_delimiter(const oif_reader *reader);

/* The line number of the header; 0 without a header.
 * And whether decimal commas were read so far. */
OIF_API uint64_t oif_reader_header_line(const oif_reader *reader);
OIF_API bool oif_reader_has_decimal_commas(const oif_reader *reader);

/* ---- Reading rows: records ---- */

/* Reads the next record.
 * It is valid until the next call with this reader.
 *
 * OIF_END       the input ended
 * OIF_EINPUT    the record is malformed (a field too few, invalid JSON),
 *               or a selected value is not a finite number;
 *               error->line and error->column say where;
 *               the next call continues after it
 * OIF_EREAD     `read` failed; nothing is lost, the call may be repeated
 * OIF_EMEMORY   as OIF_EREAD */
OIF_API OIF_MUST_CHECK oif_status oif_reader_next(oif_reader *reader, oif_record *record,
                                                  oif_error *error);

/* After OIF_EINPUT: returns the rejected record, with its bad numbers missing.
 * It is valid until the next call.
 * Returns false if more than its numbers is wrong. */
OIF_API bool oif_reader_refused(oif_reader *reader, oif_record *record);

/* After OIF_EINPUT: the column whose value is the first bad one,
 * with oif_reader_allow_text the one that is reported;
 * the number of columns where oif_reader_refused would return false. */
OIF_API size_t oif_reader_refused_column(const oif_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
