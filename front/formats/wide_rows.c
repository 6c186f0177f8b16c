#include "wide_rows.h"

#include "front/text/quoting.h"

#include <math.h>
#include <stdlib.h>

/* gcc's analyzer reports values as leaked if they are stored through a pointer into a table. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* A row of a key that has ended is printed this many lines after its last value. */
enum { SILENT_LINES = 10000, LINES_BETWEEN_SWEEPS = 1000 };

struct wide_column {
    byte_item item;
    size_t index;
};

/* Its key is the text of wide_value. */
typedef struct wide_row {
    byte_item item;
    double *values; /* NaN: none */
    size_t capacity, filled;
    uint64_t line; /* of the last value */
    double seconds;
    char time[WIDE_TIME_BYTES];
} wide_row;

/* ---- Printing ---- */

static void print_row(wide_rows *rows, translator *by, wide_row *row)
{
    if (row->filled == 0)
        return;
    translator_begin_row(by, row->line);
    output_text("{");
    if (row->time[0] != '\0') {
        output_text(rows->time_before);
        quoting_write_json(row->time, strlen(row->time));
        output_text(rows->time_after);
        output_text(",");
    }
    output_write(row->item.key, row->item.key_bytes);
    for (size_t i = 0; i < row->capacity; i++) {
        if (isnan(row->values[i]))
            continue;
        const wide_column *column = rows->ordered[i];
        quoting_write_json(column->item.key, column->item.key_bytes);
        output_text(":");
        output_number(row->values[i]);
        output_text(--row->filled > 0 ? "," : "");
        row->values[i] = NAN;
    }
    output_text("}");
    translator_end_row(by);
}

static int compare_lines(const void *a, const void *b)
{
    const wide_row *left = *(wide_row *const *)a, *right = *(wide_row *const *)b;
    return (left->line > right->line) - (left->line < right->line);
}

/* Prints and forgets rows whose last value is before a line, in the order of the input. */
static void print_before(wide_rows *rows, translator *by, uint64_t line)
{
    wide_row *old[WIDE_KEYS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < rows->rows.slot_count; i++) {
        wide_row *row = (wide_row *)rows->rows.slots[i];
        if (row && row->line < line && count < WIDE_KEYS_MAX)
            old[count++] = row;
    }
    if (count == 0)
        return;
    qsort(old, count, sizeof *old, compare_lines);
    for (size_t i = 0; i < count; i++) {
        print_row(rows, by, old[i]);
        free(old[i]->values);
        byte_table_remove(&rows->rows, old[i]);
    }
}

void wide_rows_print_all(wide_rows *rows, translator *by)
{
    print_before(rows, by, UINT64_MAX);
}

/* ---- Adding ---- */

/* NULL: there are too many, or out of memory. */
static wide_column *find_column(wide_rows *rows, oif_text name)
{
    wide_column *column = byte_table_find(&rows->columns, name.text, name.bytes);
    if (column || rows->columns.count == WIDE_COLUMNS_MAX)
        return column;
    column = byte_table_add(&rows->columns, name.text, name.bytes, sizeof *column);
    if (!column)
        return NULL;
    column->index = rows->columns.count - 1;
    rows->ordered[column->index] = column;
    return column;
}

static wide_row *find_row(wide_rows *rows, translator *by, oif_text key)
{
    wide_row *row = byte_table_find(&rows->rows, key.text, key.bytes);
    if (row)
        return row;
    if (rows->rows.count == WIDE_KEYS_MAX)
        wide_rows_print_all(rows, by);
    row = byte_table_add(&rows->rows, key.text, key.bytes, sizeof *row);
    if (row)
        row->seconds = NAN;
    return row;
}

static bool make_room(wide_row *row, size_t index)
{
    if (index < row->capacity)
        return true;
    size_t capacity = index < WIDE_COLUMNS_MAX / 2 ? 2 * (index + 1) : WIDE_COLUMNS_MAX;
    double *values = realloc(row->values, capacity * sizeof *values);
    if (!values)
        return false;
    for (size_t i = row->capacity; i < capacity; i++)
        values[i] = NAN;
    row->values = values;
    row->capacity = capacity;
    return true;
}

static void set_time(wide_row *row, const wide_value *value)
{
    size_t bytes = value->time.bytes < WIDE_TIME_BYTES ? value->time.bytes : 0;
    if (bytes > 0)
        memcpy(row->time, value->time.text, bytes);
    row->time[bytes] = '\0';
    row->seconds = value->seconds;
}

/* Whether a value begins another row. */
static bool begins_row(const wide_row *row, const wide_value *value, size_t index)
{
    if (!isnan(value->seconds) || !isnan(row->seconds))
        return !(value->seconds == row->seconds);
    return index < row->capacity && !isnan(row->values[index]);
}

static bool put(wide_rows *rows, translator *by, wide_row *row, const wide_value *value,
                size_t index)
{
    if (value->seconds < row->seconds) {
        rows->late++;
        return true;
    }
    if (begins_row(row, value, index)) {
        print_row(rows, by, row);
        set_time(row, value);
    }
    row->line = by->line;
    if (isnan(value->value))
        return true;
    if (!make_room(row, index))
        return false;
    if (isnan(row->values[index]))
        row->filled++;
    else
        rows->repeated++;
    row->values[index] = value->value;
    return true;
}

bool wide_rows_add(wide_rows *rows, translator *by, const wide_value *value)
{
    if (by->line > SILENT_LINES && by->line - rows->swept_line > LINES_BETWEEN_SWEEPS) {
        print_before(rows, by, by->line - SILENT_LINES);
        rows->swept_line = by->line;
    }
    wide_column *column = find_column(rows, value->column);
    if (!column && rows->columns.count == WIDE_COLUMNS_MAX) {
        rows->left_out++;
        translator_note(by, "there are %d names already; this one and further ones are left out",
                        WIDE_COLUMNS_MAX);
        return true;
    }
    wide_row *row = column ? find_row(rows, by, value->key) : NULL;
    return row && put(rows, by, row, value, column->index);
}

/* ---- The end ---- */

static void note_count(translator *by, uint64_t count, const char *what)
{
    char text[GROUPED_TEXT_BYTES];
    if (count > 0)
        note("%s: %s: %s", by->source->name, what, grouped_text(count, text));
}

void wide_rows_end(wide_rows *rows, translator *by, const char *repeated)
{
    wide_rows_print_all(rows, by);
    note_count(by, rows->late, "values left out because a later time came before them");
    note_count(by, rows->repeated, repeated);
    note_count(by, rows->left_out, "values left out because there are too many names");
}

void wide_rows_close(wide_rows *rows)
{
    for (size_t i = 0; i < rows->rows.slot_count; i++)
        if (rows->rows.slots[i])
            free(((wide_row *)rows->rows.slots[i])->values);
    byte_table_free(&rows->rows);
    byte_table_free(&rows->columns);
}
