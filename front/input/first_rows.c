#include "first_rows.h"

#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"
#include "front/text/quoting.h"
#include "front/text/signals.h"
#include "key_columns.h"
#include "number_hints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Waiting for rows ---- */

/* The source for the reader that waits. */
typedef struct waiting_source {
    byte_source *source;
    size_t rows;     /* that were read */
    double deadline; /* for rows after the first; 0: not set yet */
    first_rows_wait wait;
    bool is_cut; /* the source had more */
} waiting_source;

static bool has_enough(waiting_source *waiting)
{
    byte_source *source = waiting->source;
    const int patience = (int)(FIRST_ROWS_WAIT_SECONDS * 1000);
    if (waiting->rows == 0) {
        if (waiting->wait.call && !byte_source_is_ready(source, patience)) {
            waiting->wait.call(waiting->wait.context);
            waiting->wait.call = NULL;
        }
        return false;
    }
    if (waiting->deadline == 0)
        waiting->deadline = clock_seconds() + FIRST_ROWS_WAIT_SECONDS;
    double left = waiting->deadline - clock_seconds();
    return source->bytes_held >= FIRST_ROWS_BYTES_MAX ||
           !byte_source_is_ready(source, left > 0 ? (int)(left * 1000) + 1 : 0);
}

static ptrdiff_t read_waiting(void *context, char *buffer, size_t capacity)
{
    waiting_source *waiting = context;
    byte_source *source = waiting->source;
    if (source->bytes_given == source->bytes_held && has_enough(waiting)) {
        waiting->is_cut = true;
        return 0;
    }
    return byte_source_read(source, buffer, capacity);
}

/* Whether the reader may have taken the beginning of a row for a row. */
static bool is_torn(const waiting_source *waiting, const oif_record *record)
{
    return waiting->is_cut && record->end_bytes == 0;
}

/* Makes the source hold the first rows; counts the calls of oif_reader_next that they need. */
static size_t hold_rows(first_rows *look, waiting_source *waiting)
{
    oif_record record;
    size_t calls = 0;
    while (waiting->rows < FIRST_ROWS_MAX && calls < 2 * FIRST_ROWS_MAX) {
        oif_status status = oif_reader_next(look->reader, &record, NULL);
        if (status != OIF_OK && status != OIF_EINPUT)
            break;
        if (status == OIF_OK && is_torn(waiting, &record))
            break;
        calls++;
        waiting->rows += status == OIF_OK;
    }
    return calls;
}

/* ---- Values ---- */

static bool is_missing_word(oif_text text)
{
    static const char *const words[] = {"", "na", "n/a", "nan", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == text.bytes && strncasecmp(words[i], text.text, text.bytes) == 0)
            return true;
    return false;
}

static bool is_infinite(oif_text text)
{
    const char *end = text.text + text.bytes;
    double value;
    return text.bytes > 0 && oif_number_parse(text.text, end, &value) == end && isinf(value);
}

/* "1,5": a number in another spelling, about which the row has to complain. */
static bool has_decimal_comma(oif_text text)
{
    bool has_comma = false, is_number = text.bytes > 1;
    for (size_t i = 0; i < text.bytes && is_number; i++) {
        has_comma |= text.text[i] == ',';
        is_number = strchr("0123456789,.+-", text.text[i]) && text.text[i] != '\0';
    }
    return has_comma && is_number;
}

/* NDJSON: whether the value was written in quotes. One with escapes is not in the line. */
static bool is_string(const oif_record *record, oif_text text)
{
    bool is_in_line = text.text > record->text && text.text < record->text + record->text_bytes;
    return is_in_line ? text.text[-1] == '"' : text.bytes > 0;
}

/* Whether a value that is not a number is text; if not, it is missing, or infinite, which is an
 * error that the row has to report. */
static bool is_text(const oif_record *record, oif_text text, bool is_csv)
{
    return is_csv ? !is_missing_word(text) && !is_infinite(text) && !has_decimal_comma(text)
                  : is_string(record, text) || (text.bytes > 0 && strchr("{[", *text.text));
}

static void look_at_time(column_look *column, double seconds, bool is_of_first_key)
{
    column->times++;
    if (!is_of_first_key)
        return;
    if (column->ordered++ == 0)
        column->first_time = column->last_time = seconds;
    column->backward += seconds < column->last_time;
    column->forward += seconds > column->last_time;
    column->last_time = seconds;
}

/* A number in quotes is a time only if it is one of this century. */
static bool is_time(column_look *column, oif_text text, double *seconds)
{
    const char *end = text.text + text.bytes;
    double number;
    if (oif_number_parse(text.text, end, &number) == end && !rising_is_epoch(number))
        return false;
    if (oif_time_parse(&column->format, text.text, text.bytes, seconds, NULL) != OIF_OK)
        return false;
    column->epochs += column->format.form == OIF_TIME_FORM_EPOCH;
    return true;
}

/* ---- Texts and numbers ---- */

static void look_at_number_in_text(column_look *column, oif_text text)
{
    const char *end = text.text + text.bytes;
    double number;
    if (oif_number_parse(text.text, end, &number) == end)
        column->quoted++;
    else
        column->marked += number_hints_is_marked(text);
}

static void keep_first_text(column_look *column, oif_text text)
{
    size_t shown = cut_bytes(text.text, text.bytes, FIRST_TEXT_BYTES - sizeof "...");
    if (column->texts == 0)
        snprintf(column->first_text, sizeof column->first_text, "%.*s%s", (int)shown, text.text,
                 shown < text.bytes ? "..." : "");
}

static void look_at_text(column_look *column, oif_text text, bool is_first_row,
                         bool is_of_first_key)
{
    double seconds = NAN;
    if (is_missing_word(text)) { /* in quotes, so it is not a number */
        column->empty_texts++;
        return;
    }
    keep_first_text(column, text);
    column->texts++;
    if (is_time(column, text, &seconds))
        look_at_time(column, seconds, is_of_first_key);
    else {
        column->begins_as_name |= is_first_row;
        look_at_number_in_text(column, text);
    }
}

static void look_at_number(column_look *column, double value, bool is_of_first_key)
{
    column->numbers++;
    column->epochs += rising_is_epoch(value);
    column->bits += value == 0 || value == 1;
    if (is_of_first_key)
        rising_add(&column->rising, value);
}

/* ---- Rows ---- */

/* The rows of the key that comes first; without a key, all. */
typedef struct first_key {
    size_t columns[KEY_COLUMNS_MAX];
    size_t count;
    char first[OIF_KEY_MAX_BYTES], now[OIF_KEY_MAX_BYTES];
    size_t first_bytes;
    bool is_known;
} first_key;

/* Joins the texts of the key's columns. What is too long for a key does not count. */
static size_t join_key(first_key *key, const oif_record *record)
{
    size_t bytes = 0;
    for (size_t i = 0; i < key->count; i++) {
        oif_text text = record->texts[key->columns[i]];
        if (text.bytes >= sizeof key->now - bytes)
            break;
        memcpy(key->now + bytes, text.text, text.bytes);
        bytes += text.bytes;
        key->now[bytes++] = '\0';
    }
    return bytes;
}

static bool is_of_first_key(first_key *key, const oif_record *record)
{
    if (key->count == 0)
        return true;
    size_t bytes = join_key(key, record);
    if (!key->is_known) {
        memcpy(key->first, key->now, bytes);
        key->first_bytes = bytes;
        key->is_known = true;
    }
    return key->first_bytes == bytes && memcmp(key->first, key->now, bytes) == 0;
}

static void look_at_row(first_rows *look, const oif_record *record, first_key *key, bool is_csv)
{
    bool counts = is_of_first_key(key, record);
    for (size_t i = 0; i < look->column_count; i++) {
        oif_text text = record->texts[i];
        if (!isnan(record->values[i]))
            look_at_number(&look->columns[i], record->values[i], counts);
        else if (is_text(record, text, is_csv))
            look_at_text(&look->columns[i], text, look->rows == 0, counts);
        else if (is_csv && !is_missing_word(text))
            look->columns[i].refused++;
    }
    look->rows++;
    look->hash_rows += is_csv && record->text_bytes > 0 && *record->text == '#';
}

static void look_at_rows(first_rows *look, oif_reader *reader, size_t calls, first_key *key,
                         bool is_csv)
{
    oif_record record;
    for (; calls > 0; calls--) {
        oif_status status = oif_reader_next(reader, &record, NULL);
        if (status == OIF_OK || (status == OIF_EINPUT && oif_reader_refused(reader, &record)))
            look_at_row(look, &record, key, is_csv);
    }
}

/* ---- All columns at once ---- */

oif_status first_rows_add_columns(const first_rows *look, oif_reader *reader, oif_error *error)
{
    oif_status status = OIF_OK;
    size_t count = look->reader ? oif_reader_column_count(look->reader) : 0, column;
    for (size_t i = oif_reader_column_count(reader); i < count && status == OIF_OK; i++)
        status =
            oif_reader_find_column(reader, oif_reader_column_name(look->reader, i), &column, error);
    return status;
}

static bool select_all(const oif_reader *names, oif_reader *reader)
{
    size_t count = oif_reader_column_count(names);
    size_t *all = calloc(count, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        all[i] = i;
    bool selected = all && oif_reader_column_count(reader) == count &&
                    oif_reader_select(reader, all, count, NULL) == OIF_OK &&
                    oif_reader_select_texts(reader, all, count, NULL) == OIF_OK;
    free(all);
    return selected;
}

/* Finds the columns of a list such as host,disk; those that are not there are reported later. */
static void find_key(first_key *key, const oif_reader *reader, const char *list)
{
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    while (name && list) {
        list = name_list_next(list, name);
        for (size_t i = 0; i < oif_reader_column_count(reader) && key->count < KEY_COLUMNS_MAX; i++)
            if (strcmp(oif_reader_column_name(reader, i), name) == 0)
                key->columns[key->count++] = i;
    }
    free(name);
}

/* Reads the held rows a second time, now that all their columns are known. */
static bool look_again(first_rows *look, const oif_reader_options *options, oif_read_function read,
                       void *context, size_t calls, const char *key_names)
{
    oif_reader *reader;
    look->column_count = oif_reader_column_count(look->reader);
    look->columns = calloc(look->column_count, sizeof *look->columns);
    first_key *key = calloc(1, sizeof *key);
    if (!look->columns || !key ||
        oif_reader_open(options, read, context, &reader, NULL) != OIF_OK) {
        free(key);
        return look->columns != NULL;
    }
    find_key(key, look->reader, key_names);
    bool can_look =
        first_rows_add_columns(look, reader, NULL) == OIF_OK && select_all(look->reader, reader);
    if (can_look)
        look_at_rows(look, reader, calls, key, options->format == OIF_FORMAT_CSV);
    oif_reader_close(reader);
    free(key);
    return can_look;
}

bool first_rows_look(first_rows *look, byte_source *source, const oif_reader_options *options,
                     const char *key, first_rows_wait wait)
{
    waiting_source waiting = {.source = source, .wait = wait};
    const size_t position = source->bytes_given;
    *look = (first_rows){.reader = NULL};
    byte_source_rewind(source);
    bool has_memory = true;
    if (oif_reader_open(options, read_waiting, &waiting, &look->reader, NULL) == OIF_OK &&
        oif_reader_select(look->reader, NULL, 0, NULL) == OIF_OK) {
        oif_reader_collect_columns(look->reader, OIF_JSON_FIRST_LINE_KEYS_MAX);
        size_t calls = hold_rows(look, &waiting);
        byte_source_rewind(source);
        waiting.rows = 1; /* not to wait again */
        waiting.deadline = 1;
        has_memory = calls == 0 || look_again(look, options, read_waiting, &waiting, calls, key);
    }
    byte_source_return_to(source, position);
    return has_memory;
}

void first_rows_close(first_rows *look)
{
    oif_reader_close(look->reader);
    free(look->columns);
}

/* ---- One record ---- */

typedef struct record_source {
    const oif_record *record;
    size_t given;
} record_source;

static ptrdiff_t read_record(void *context, char *buffer, size_t capacity)
{
    record_source *source = context;
    size_t left = source->record->text_bytes - source->given;
    size_t count = left < capacity ? left : capacity;
    memcpy(buffer, source->record->text + source->given, count);
    source->given += count;
    return (ptrdiff_t)count;
}

bool first_rows_look_at_record(first_rows *look, const oif_record *record)
{
    oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
    record_source once = {record, 0}, again = {record, 0};
    *look = (first_rows){.reader = NULL};
    if (oif_reader_open(&options, read_record, &once, &look->reader, NULL) != OIF_OK)
        return false;
    return look_again(look, &options, read_record, &again, 1, NULL);
}

/* ---- Judging ---- */

bool column_look_is_text(const column_look *column)
{
    return column->texts + column->empty_texts > column->numbers;
}

number_as_text column_look_number_as_text(const column_look *column)
{
    if (column->quoted + column->marked <= column->texts / 2)
        return NUMBER_AS_TEXT_NOT;
    return column->quoted > column->marked ? NUMBER_AS_TEXT_QUOTED : NUMBER_AS_TEXT_MARKED;
}

/* Rows may be late now and then: one in ten, and where the name says that it is a time, one in any
 * case. */
static time_order order_of(uint32_t rows, uint32_t forward, uint32_t backward, bool is_named)
{
    if (backward <= rows / 10 + is_named)
        return TIME_FORWARD;
    return is_named && forward <= backward / 10 ? TIME_BACKWARD : TIME_NOT;
}

time_order column_look_time(const column_look *column, const char *name)
{
    bool is_named = rising_says_time(name);
    const rising_column *rising = &column->rising;
    if (column->texts > 0)
        return column->numbers == 0 && column->times == column->texts &&
                       (is_named || column->epochs == 0)
                   ? order_of(column->ordered, column->forward, column->backward, is_named)
                   : TIME_NOT;
    return is_named && column->numbers > 0 && column->epochs == column->numbers
               ? order_of(rising->count, rising->rises, rising->falls, is_named)
               : TIME_NOT;
}

bool column_look_is_mixed_time(const column_look *column)
{
    return column->texts > 0 && column->times == column->texts && column->numbers == 0 &&
           column->epochs == 0 && column->backward > 0;
}

bool column_look_is_label(const column_look *column, const char *name)
{
    static const char *const names[] = {"label", "labels", "is_anomaly", "anomaly_label",
                                        "ground_truth"};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    bool is_named = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_named |= strcasecmp(last, names[i]) == 0;
    return is_named && column->numbers > 0 && column->bits == column->numbers &&
           column->texts + column->empty_texts == 0;
}

double column_look_row_seconds(const column_look *column)
{
    const rising_column *numbers = &column->rising;
    double unit = 1;
    if (column->ordered > 1)
        return fmax(0, (column->last_time - column->first_time) / (column->ordered - 1));
    if (numbers->count < 2)
        return 0;
    for (double limit = 1e11; numbers->first >= limit && unit < 1e9; limit *= 1000)
        unit *= 1000;
    return fmax(0, (numbers->last - numbers->first) / unit / (numbers->count - 1));
}
