/* Looks at the first rows before columns are chosen: which hold text, which a time, and which
 * keys appear only in later NDJSON lines?
 *
 *     source |############################|............ not read yet
 *             ^ held: looked at, and read again by the reader that gives the records
 *
 * A file is looked at up to FIRST_ROWS_MAX rows or FIRST_ROWS_BYTES_MAX. Of a stream, the first
 * row is waited for, as scoring would, and then only what comes at once: a live row is never late
 * by more than FIRST_ROWS_WAIT_SECONDS, and only at the start. */
#ifndef OIF_FRONT_FIRST_ROWS_H
#define OIF_FRONT_FIRST_ROWS_H

#include "byte_source.h"
#include "key_search.h"
#include "marks.h"

#include "oif_rows.h"

enum { FIRST_ROWS_MAX = 1000, FIRST_ROWS_BYTES_MAX = 1 << 20 };
#define FIRST_ROWS_WAIT_SECONDS 0.1

/* A text as it is shown: cut. */
enum { FIRST_TEXT_BYTES = 41 };

/* What the first rows have in one column as times, read in one order of day and month. */
typedef struct time_look {
    uint32_t times;
    uint32_t ordered;  /* times of the first key: */
    uint32_t forward;  /* later than the one before */
    uint32_t backward; /* earlier */
    bool has_time_of_day;
    double first_time, last_time;
    oif_time_format format;
} time_look;

/* What the first rows have in one column. A value is a number, missing or text. */
typedef struct column_look {
    uint32_t numbers, texts;
    uint32_t refused; /* infinite, or in another unit; the row reports it as an error */
    uint32_t epochs;  /* of the numbers: those that may be times since 1970 */
    uint32_t dates;   /* of the numbers: those that may be dates such as 20261115 */
    uint32_t bits;    /* of the numbers: those that are 0 or 1 */
    uint32_t clocks;  /* of the texts: those that are a time of day without a date */
    time_look time;   /* of the texts, and of the dates: in the order of day and month that suits */
    time_look day_first; /* the other order, while rows are looked at */
    bool shows_order;    /* only one order suits */
    extreme_values extremes;
    calendar_steps steps; /* of the first key */
    const char *unit;     /* of the numbers; "": none */
    char first_text[FIRST_TEXT_BYTES];
    bool begins_as_name;  /* the first row has text there that is not a time */
    rising_column rising; /* of the first key */
} column_look;

typedef struct first_rows {
    oif_reader *reader; /* whose columns these are */
    column_look *columns;
    size_t column_count;
    size_t rows;
    size_t hash_rows; /* CSV: that begin with #, as comments do */
    key_search keys;  /* empty if the key is known */
} first_rows;

/* What else to do when the first row has to be waited for; called once at most. */
typedef struct first_rows_wait {
    void (*call)(void *context); /* or NULL */
    void *context;
} first_rows_wait;

/* What options say about the rows; each NULL or 0 if it is not given. */
typedef struct first_rows_hints {
    const char *key;     /* the list of the key's columns */
    const char *missing; /* see missing_values_set */
    oif_time_format time;
} first_rows_hints;

/* Looks at the rows that the source has held since its first byte, and at more; the next read of
 * the source is the same as without it. What is wrong with the input is not its business: then it
 * has seen less. Returns false if there is no memory. To be closed in any case. */
bool first_rows_look(first_rows *look, byte_source *source, const oif_reader_options *options,
                     const first_rows_hints *hints, first_rows_wait wait);
void first_rows_close(first_rows *look);

/* The same for a single record. */
bool first_rows_look_at_record(first_rows *look, const oif_record *record);

/* Gives another reader of the same source the columns that later lines have brought. */
oif_status first_rows_add_columns(const first_rows *look, oif_reader *reader, oif_error *error);

/* More than half of the values are text. */
bool column_look_is_text(const column_look *column);

/* The mean time from row to row of a column of times; 0 if it is not known. */
double column_look_row_seconds(const column_look *column);

/* Whether all values are times: as text; or as numbers, if the name says so. Those that go to and
 * fro are not the time of the rows; those that go back only are, newest first. */
typedef enum time_order { TIME_NOT, TIME_FORWARD, TIME_BACKWARD } time_order;
time_order column_look_time(const column_look *column, const char *name);

/* Whether a time comes after another one, so the column can order the rows. */
bool column_look_advances(const column_look *column);

/* Whether most of its times come after the one before. */
bool column_look_advances_mostly(const column_look *column);

/* Whether all values are a time of day without a date; and dates without a time of day. */
bool column_look_is_clock(const column_look *column);
bool column_look_is_date(const column_look *column);

/* Whether all values are numbers such as 20261115. */
bool column_look_is_compact(const column_look *column);

/* Whether all values grow by 1 from row to row. */
bool column_look_is_index(const column_look *column);

/* Whether all values are times as text that go to and fro. */
bool column_look_is_mixed_time(const column_look *column);

/* The columns, out of those that may be a key, that keep the rows of several streams apart, such as
 * host: the times of a column advance only within each. Returns how many; 0 if there are none. */
size_t first_rows_find_key(const first_rows *look, const bool may_be_key[], size_t time,
                           size_t found[KEY_SEARCH_PARTS]);

/* Whether the column has a name of known labels, and is 0 and 1 only. */
bool column_look_is_label(const column_look *column, const char *name);

#endif
