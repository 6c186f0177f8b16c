#include "first_rows.h"

#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"
#include "front/text/quoting.h"
#include "front/text/signals.h"
#include "key_columns.h"
#include "missing_values.h"
#include "time_of_day.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Waiting for rows ---- */

/* What the reader of the first rows reads from. It stops waiting after a while, so a slow
 * stream is scored without delay. */
typedef struct waiting_source {
    byte_source *source;
    size_t rows;     /* rows that were read */
    double deadline; /* when to stop waiting for more rows; 0: not set yet */
    first_rows_wait wait;
    bool is_cut; /* reading stopped although the source had more */
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

/* Whether the record may be only the beginning of a row, because reading stopped within it. */
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

/* NDJSON: whether the value was written in quotes. A string with escapes is decoded elsewhere,
 * so it does not point into the line. */
static bool is_string(const oif_record *record, oif_text text)
{
    bool is_in_line = text.text > record->text && text.text < record->text + record->text_bytes;
    return is_in_line ? text.text[-1] == '"' : text.bytes > 0;
}

/* The kind of a value that is not a number for the reader. */
static oif_value_kind kind_of(const oif_record *record, oif_text text, bool is_csv)
{
    double value;
    if (!is_csv && !is_string(record, text))
        return text.bytes > 0 && strchr("{[", *text.text) ? OIF_VALUE_TEXT : OIF_VALUE_MISSING;
    return oif_value_parse(text.text, text.bytes, OIF_DECIMAL_AUTO, &value, NULL);
}

/* ---- Times ---- */

static bool look_at_time(time_look *look, oif_text text, bool is_of_first_key)
{
    double seconds;
    if (oif_time_parse(&look->format, text.text, text.bytes, &seconds, NULL) != OIF_OK ||
        isnan(seconds))
        return false;
    look->times++;
    look->has_time_of_day |= fmod(seconds, 86400) != 0;
    if (!is_of_first_key)
        return true;
    if (look->ordered++ == 0)
        look->first_time = look->last_time = seconds;
    look->backward += seconds < look->last_time;
    look->forward += seconds > look->last_time;
    look->last_time = seconds;
    return true;
}

/* 13:05, 13:05:06, 1:05 PM, 18.00.00 */
static bool is_clock(oif_text text)
{
    char joined[64];
    oif_time_format format = {.pattern = NULL};
    double seconds;
    const int bytes = time_of_day_join("1/1/2000", 8, text, joined, sizeof joined);
    return bytes > 0 && text.bytes > 2 &&
           oif_time_parse(&format, joined, (size_t)bytes, &seconds, NULL) == OIF_OK;
}

/* ---- Texts and numbers ---- */

static void keep_first_text(column_look *column, oif_text text)
{
    size_t shown = cut_bytes(text.text, text.bytes, FIRST_TEXT_BYTES - sizeof "...");
    if (column->first_text[0] == '\0')
        snprintf(column->first_text, sizeof column->first_text, "%.*s%s", (int)shown, text.text,
                 shown < text.bytes ? "..." : "");
}

static void look_at_text(column_look *column, oif_text text, bool is_first_row,
                         bool is_of_first_key)
{
    keep_first_text(column, text);
    column->texts++;
    const bool is_time = look_at_time(&column->time, text, is_of_first_key);
    if (look_at_time(&column->day_first, text, is_of_first_key) || is_time)
        return;
    column->begins_as_name |= is_first_row;
    column->clocks += is_clock(text);
}

/* Whether it has only the digits of a date, and maybe of a time of day. */
static bool has_digits_of_date(oif_text text)
{
    size_t digits = 0;
    while (digits < text.bytes && text.text[digits] >= '0' && text.text[digits] <= '9')
        digits++;
    return digits == text.bytes && (digits == 8 || digits == 12 || digits == 14);
}

static void look_at_number(column_look *column, double value, oif_text text, bool is_of_first_key)
{
    column->numbers++;
    column->epochs += rising_is_epoch(value);
    column->bits += value == 0 || value == 1;
    extremes_add(&column->extremes, value);
    if (has_digits_of_date(text)) {
        keep_first_text(column, text);
        column->dates += look_at_time(&column->time, text, is_of_first_key) &&
                         column->time.format.form == OIF_TIME_FORM_COMPACT;
    }
    if (!is_of_first_key)
        return;
    rising_add(&column->rising, value);
    calendar_steps_add(&column->steps, value);
}

/* Whether `a` is the better reading of day and month: more texts are dates, then fewer go back,
 * then all are closer together. */
static bool is_better(const time_look *a, const time_look *b)
{
    if (a->times != b->times)
        return a->times > b->times;
    if (a->backward != b->backward)
        return a->backward < b->backward;
    return fabs(a->last_time - a->first_time) < fabs(b->last_time - b->first_time);
}

static void decide_order(column_look *column)
{
    column->shows_order = column->time.times != column->day_first.times;
    if (is_better(&column->day_first, &column->time))
        column->time = column->day_first;
}

/* ---- Rows ---- */

/* Recognises the rows of the first key; without a key, all rows. */
typedef struct first_key {
    size_t columns[KEY_COLUMNS_MAX];
    size_t count;
    char first[OIF_KEY_MAX_BYTES], now[OIF_KEY_MAX_BYTES];
    size_t first_bytes;
    bool is_known;
} first_key;

/* Joins the texts of the key's columns. Those that exceed the longest key are left out. */
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

/* The last time of a column if its latest text was a time: `times` was the count before. */
static double time_after(const time_look *look, uint32_t times)
{
    return look->times > times ? look->last_time : NAN;
}

/* Takes a text into account: for its column, and for the search for a key, as a time in both
 * orders of day and month. */
static void take_text(first_rows *look, size_t column, oif_text text, bool is_of_first_key)
{
    column_look *own = &look->columns[column];
    const uint32_t month_first = own->time.times, day_first = own->day_first.times;
    look_at_text(own, text, look->rows == 0, is_of_first_key);
    key_search_add(
        &look->keys, column, text,
        (double[2]){time_after(&own->time, month_first), time_after(&own->day_first, day_first)});
}

/* The same with a number. */
static void take_number(first_rows *look, size_t column, double value, oif_text text,
                        bool is_of_first_key)
{
    look_at_number(&look->columns[column], value, text, is_of_first_key);
    key_search_add(&look->keys, column, text, (double[2]){value, value});
}

static void look_at_row(first_rows *look, const oif_record *record, first_key *key, bool is_csv,
                        const char *missing)
{
    bool counts = is_of_first_key(key, record);
    for (size_t i = 0; i < look->column_count; i++) {
        oif_text text = record->texts[i];
        if (!isnan(record->values[i])) {
            take_number(look, i, record->values[i], text, counts);
            continue;
        }
        const oif_value_kind kind = kind_of(record, text, is_csv);
        if (missing &&
            missing_values_have(missing, oif_reader_column_name(look->reader, i), text, !is_csv))
            continue;
        if (kind == OIF_VALUE_TEXT)
            take_text(look, i, text, counts);
        else if (kind != OIF_VALUE_MISSING && !missing)
            look->columns[i].refused++;
    }
    key_search_end_row(&look->keys);
    look->rows++;
    look->hash_rows += is_csv && record->text_bytes > 0 && *record->text == '#';
}

static void look_at_rows(first_rows *look, oif_reader *reader, size_t calls, first_key *key,
                         bool is_csv, const first_rows_hints *hints)
{
    oif_record record;
    for (size_t i = 0; i < look->column_count; i++) {
        look->columns[i].time.format = look->columns[i].day_first.format = hints->time;
        if (hints->time.day_order == OIF_DAY_ORDER_AUTO) {
            look->columns[i].time.format.day_order = OIF_MONTH_FIRST;
            look->columns[i].day_first.format.day_order = OIF_DAY_FIRST;
        }
    }
    for (; calls > 0; calls--) {
        oif_status status = oif_reader_next(reader, &record, NULL);
        if (status == OIF_OK || (status == OIF_EINPUT && oif_reader_refused(reader, &record)))
            look_at_row(look, &record, key, is_csv, hints->missing);
    }
    for (size_t i = 0; i < look->column_count; i++) {
        decide_order(&look->columns[i]);
        look->columns[i].unit = oif_reader_unit(reader, i);
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
                       void *context, size_t calls, const first_rows_hints *hints)
{
    const bool is_csv = options->format == OIF_FORMAT_CSV;
    oif_reader *reader;
    look->column_count = oif_reader_column_count(look->reader);
    look->columns = calloc(look->column_count, sizeof *look->columns);
    first_key *key = calloc(1, sizeof *key);
    if (!look->columns || !key ||
        oif_reader_open(options, read, context, &reader, NULL) != OIF_OK) {
        free(key);
        return look->columns != NULL;
    }
    find_key(key, look->reader, hints->key);
    if (!hints->key)
        key_search_start(&look->keys, look->column_count, calls);
    bool can_look = first_rows_add_columns(look, reader, NULL) == OIF_OK &&
                    select_all(look->reader, reader) &&
                    missing_values_set(reader, hints->missing, !is_csv, NULL) == OIF_OK;
    if (can_look)
        look_at_rows(look, reader, calls, key, is_csv, hints);
    oif_reader_close(reader);
    free(key);
    return can_look;
}

bool first_rows_look(first_rows *look, byte_source *source, const oif_reader_options *options,
                     const first_rows_hints *hints, first_rows_wait wait)
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
        waiting.rows = 1; /* the second reading does not wait */
        waiting.deadline = 1;
        has_memory = calls == 0 || look_again(look, options, read_waiting, &waiting, calls, hints);
    }
    byte_source_return_to(source, position);
    return has_memory;
}

void first_rows_close(first_rows *look)
{
    oif_reader_close(look->reader);
    free(look->columns);
    key_search_free(&look->keys);
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
    const first_rows_hints nothing = {.key = NULL};
    record_source once = {record, 0}, again = {record, 0};
    *look = (first_rows){.reader = NULL};
    if (oif_reader_open(&options, read_record, &once, &look->reader, NULL) != OIF_OK)
        return false;
    return look_again(look, &options, read_record, &again, 1, &nothing);
}

/* ---- Judging ---- */

bool column_look_is_text(const column_look *column)
{
    return column->texts > column->numbers;
}

/* Up to one row in ten may be late; one more if the name of the column says that it is a
 * time. */
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
    const time_look *time = &column->time;
    if (column->texts > 0)
        return column->numbers == 0 && time->times == column->texts
                   ? order_of(time->ordered, time->forward, time->backward, is_named)
                   : TIME_NOT;
    if (column_look_is_compact(column))
        return order_of(time->ordered, time->forward, time->backward, is_named);
    return is_named && column->numbers > 0 && column->epochs == column->numbers
               ? order_of(rising->count, rising->rises, rising->falls, is_named)
               : TIME_NOT;
}

bool column_look_advances(const column_look *column)
{
    return column->time.times > 0 ? column->time.forward > 0 : column->rising.rises > 0;
}

bool column_look_advances_mostly(const column_look *column)
{
    return column->time.times > 0 ? column->time.forward > column->time.ordered / 2
                                  : column->rising.rises > column->rising.count / 2;
}

bool column_look_is_clock(const column_look *column)
{
    return column->texts > 0 && column->numbers == 0 && column->clocks == column->texts;
}

bool column_look_is_date(const column_look *column)
{
    return column->time.times > 0 && !column->time.has_time_of_day;
}

bool column_look_is_compact(const column_look *column)
{
    enum { SURE_DATES = 3 }; /* fewer may be ordinary numbers that look like dates */
    return column->texts == 0 && column->dates == column->numbers && column->dates >= SURE_DATES;
}

bool column_look_is_index(const column_look *column)
{
    enum { SURE_ROWS = 20 };
    const rising_column *rising = &column->rising;
    return rising->count >= SURE_ROWS && rising->rises + 1 == rising->count &&
           rising->smallest_step == 1 && rising->largest_step == 1 &&
           rising->first == trunc(rising->first);
}

bool column_look_is_mixed_time(const column_look *column)
{
    return column->texts > 0 && column->time.times == column->texts && column->numbers == 0 &&
           column->time.backward > 0;
}

size_t first_rows_find_key(const first_rows *look, const bool may_be_key[], size_t time,
                           size_t found[KEY_SEARCH_PARTS])
{
    const bool is_day_first = look->columns[time].time.format.day_order == OIF_DAY_FIRST;
    return key_search_find(&look->keys, may_be_key, time, is_day_first, found);
}

bool column_look_is_label(const column_look *column, const char *name)
{
    static const char *const names[] = {"label", "labels", "is_anomaly", "anomaly_label",
                                        "ground_truth"};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    bool is_named = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_named |= strcasecmp(last, names[i]) == 0;
    return is_named && column->numbers > 0 && column->bits == column->numbers && column->texts == 0;
}

double column_look_row_seconds(const column_look *column)
{
    const rising_column *numbers = &column->rising;
    double unit = 1;
    const time_look *time = &column->time;
    if (time->ordered > 1)
        return fmax(0, (time->last_time - time->first_time) / (time->ordered - 1));
    if (numbers->count < 2)
        return 0;
    for (double limit = 1e11; numbers->first >= limit && unit < 1e9; limit *= 1000)
        unit *= 1000;
    return fmax(0, (numbers->last - numbers->first) / unit / (numbers->count - 1));
}
