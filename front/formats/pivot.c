/* --pivot METRIC:VALUE: rows of CSV or NDJSON that hold one value each become rows of all values of
 * a time, and of a key if --key names one:
 *
 *     time,host,metric,value               {"time":"10:00","host":"a","cpu":5,"mem":70}
 *     10:00,a,cpu,5               -->      {"time":"10:01","host":"a","cpu":6}
 *     10:00,a,mem,70
 *     10:01,a,cpu,6
 *
 * Other columns are left out. */
#include "formats.h"
#include "wide_rows.h"

#include "front/input/rising.h"
#include "front/text/name_list.h"
#include "front/text/quoting.h"

#include <math.h>
#include <stdlib.h>

enum { KEYS_MAX = 8, TEXTS_MAX = 2 + KEYS_MAX };

typedef struct pivot_state {
    wide_rows rows;
    oif_reader *reader;
    size_t texts[TEXTS_MAX]; /* the columns: the metric, the time if there is one, the keys */
    size_t text_count;
    bool has_time;
    oif_time_format times;
} pivot_state;

static ptrdiff_t read_rows(void *context, char *buffer, size_t capacity)
{
    translator *by = context;
    return byte_source_read_unfiltered(by->source, buffer, capacity);
}

/* ---- Columns ---- */

static bool find_column(translator *by, const char *name, size_t *column)
{
    pivot_state *state = by->state;
    oif_error error;
    if (oif_reader_find_column(state->reader, name, column, &error) == OIF_OK)
        return true;
    names_text names = {.count = 0};
    for (size_t i = 0; i < oif_reader_column_count(state->reader) && i < 8; i++)
        names_text_add(&names, oif_reader_column_name(state->reader, i));
    translator_fail(by, 1, "--pivot: %.120s; the first columns are %.120s", error.message,
                    names_text_read(&names));
    return false;
}

/* ---- Names ---- */

enum { NAME_BYTES_MAX = 200, LEVELS_MAX = 16 };

/* Prints a name with its colon; the objects of a path, a.b, as "a":{"b": . Returns how many of them
 * are open. So options name the same paths in the rows that are made. */
static int print_name(const char *name)
{
    char part[NAME_BYTES_MAX];
    size_t bytes = 0;
    int open = 0;
    for (; *name != '\0'; name++) {
        if (*name == '.' && bytes > 0 && name[1] != '\0' && open + 1 < LEVELS_MAX) {
            quoting_write_json(part, bytes);
            output_text(":{");
            bytes = 0;
            open++;
            continue;
        }
        name += *name == '\\' && name[1] != '\0';
        if (bytes < sizeof part)
            part[bytes++] = *name;
    }
    quoting_write_json(part, bytes);
    output_text(":");
    return open;
}

static void print_closing(int open)
{
    for (; open > 0; open--)
        output_text("}");
}

/* The bytes of a path up to the last part, or to the second one; 0: it has one part. */
static size_t parent_bytes(const char *name, bool is_first)
{
    size_t bytes = 0;
    for (size_t i = 0; name[i] != '\0' && !(is_first && bytes > 0); i++) {
        i += name[i] == '\\' && name[i + 1] != '\0';
        if (name[i] == '.' && i > 0 && name[i + 1] != '\0')
            bytes = i + 1;
    }
    return bytes;
}

static bool have_same_parent(const char *a, const char *b, bool is_first)
{
    size_t bytes = parent_bytes(a, is_first);
    return bytes > 0 && bytes == parent_bytes(b, is_first) && memcmp(a, b, bytes) == 0;
}

static const char *name_of_text(const pivot_state *state, size_t i)
{
    return oif_reader_column_name(state->reader, state->texts[i]);
}

/* An object that is printed twice would lose the first one: only neighbours are joined. */
static bool check_paths(translator *by)
{
    const pivot_state *state = by->state;
    for (size_t i = 1; i < state->text_count; i++)
        for (size_t j = i + 1; j < state->text_count; j++) {
            const char *a = name_of_text(state, i), *b = name_of_text(state, j);
            bool are_neighbours =
                j == i + 1 && have_same_parent(a, b, false) && !(state->has_time && i == 1);
            if (!have_same_parent(a, b, true) || are_neighbours)
                continue;
            translator_fail(by, 1,
                            "--pivot: %.60s and %.60s are in one object; keys of one object must "
                            "be next to each other, and the time apart (jq can move them)",
                            a, b);
            return false;
        }
    return true;
}

static void name_time(translator *by, const char *name)
{
    pivot_state *state = by->state;
    size_t bytes;
    output_divert();
    int open = print_name(name);
    char *text = output_diverted(&bytes);
    if (!text || bytes >= sizeof state->rows.time_before) {
        translator_fail(by, 1, "the name of the time is too long");
    } else {
        memcpy(state->rows.time_before, text, bytes);
        memset(state->rows.time_after, '}', (size_t)open);
        snprintf(by->implied.time, sizeof by->implied.time, "%s", name);
    }
    free(text);
}

/* The time: as --time says, or a column that is called so. */
static bool find_time(translator *by)
{
    pivot_state *state = by->state;
    const char *name = by->options.time;
    for (size_t i = 0; !name && i < oif_reader_column_count(state->reader); i++)
        if (rising_says_time(oif_reader_column_name(state->reader, i)))
            name = oif_reader_column_name(state->reader, i);
    state->has_time = name != NULL;
    if (!name)
        return true;
    name_time(by, name);
    return find_column(by, name, &state->texts[state->text_count++]);
}

static bool find_keys(translator *by)
{
    pivot_state *state = by->state;
    const char *list = by->options.key;
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    bool is_found = !list || name;
    while (is_found && list) {
        list = name_list_next(list, name);
        if (state->text_count == TEXTS_MAX) {
            translator_fail(by, 1, "--pivot takes at most %d columns of --key", KEYS_MAX);
            is_found = false;
        } else {
            is_found = find_column(by, name, &state->texts[state->text_count++]);
        }
    }
    free(name);
    return is_found;
}

/* METRIC:VALUE was checked with the options. */
static bool find_columns(translator *by)
{
    pivot_state *state = by->state;
    const char *colon = strrchr(by->options.pivot, ':');
    char metric[256];
    size_t value;
    snprintf(metric, sizeof metric, "%.*s", (int)(colon - by->options.pivot), by->options.pivot);
    return find_column(by, metric, &state->texts[state->text_count++]) &&
           find_column(by, colon + 1, &value) && find_time(by) && find_keys(by) &&
           check_paths(by) && oif_reader_select(state->reader, &value, 1, NULL) == OIF_OK &&
           oif_reader_select_texts(state->reader, state->texts, state->text_count, NULL) == OIF_OK;
}

static bool open_rows(translator *by)
{
    pivot_state *state = by->state;
    oif_error error = {.message = ""};
    oif_status status = oif_reader_open(&by->options.reader, read_rows, by, &state->reader, &error);
    if (status == OIF_EREAD)
        return false;
    if (status == OIF_END)
        by->has_ended = true;
    else if (status != OIF_OK)
        translator_fail(by, error.line, "%s", error.message);
    else if (!find_columns(by))
        translator_fail(by, 1, "--pivot and --key need columns of their own");
    return true;
}

/* ---- Rows ---- */

/* The key as members of JSON; to be freed. */
static char *key_text(const pivot_state *state, const oif_record *record, size_t *bytes)
{
    output_divert();
    const size_t first = state->has_time ? 2 : 1;
    int open = 0;
    for (size_t i = first; i < state->text_count; i++) {
        const char *name = name_of_text(state, i);
        const bool is_joined =
            i > first && have_same_parent(name_of_text(state, i - 1), name, false);
        if (!is_joined)
            print_closing(open);
        output_text(i > first ? "," : "");
        if (is_joined)
            print_name(name + parent_bytes(name, false));
        else
            open = print_name(name);
        quoting_write_json(record->texts[i].text, record->texts[i].bytes);
    }
    print_closing(open);
    output_text(first < state->text_count ? "," : "");
    return output_diverted(bytes);
}

static void take_record(translator *by, const oif_record *record)
{
    pivot_state *state = by->state;
    wide_value value = {.seconds = NAN, .column = record->texts[0], .value = record->values[0]};
    if (state->has_time)
        value.time = record->texts[1];
    if (value.column.bytes == 0 ||
        (state->has_time && (value.time.bytes >= WIDE_TIME_BYTES ||
                             oif_time_parse(&state->times, value.time.text, value.time.bytes,
                                            &value.seconds, NULL) != OIF_OK ||
                             isnan(value.seconds)))) {
        translator_bad_row(by);
        return;
    }
    char *key = key_text(state, record, &value.key.bytes);
    value.key.text = key ? key : "";
    if ((!key && value.key.bytes > 0) || !wide_rows_add(&state->rows, by, &value))
        translator_fail(by, by->line, "out of memory");
    free(key);
}

static void take_end(translator *by)
{
    pivot_state *state = by->state;
    by->has_ended = true;
    wide_rows_end(&state->rows, by,
                  "values replaced by a later one with the same time and name (if they come from "
                  "several sources, name these with --key COL)");
}

/* One record of the input. */
static bool take_next(translator *by)
{
    pivot_state *state = by->state;
    oif_record record;
    oif_error error;
    if (!state->reader)
        return open_rows(by);
    oif_status status = oif_reader_next(state->reader, &record, &error);
    if (status == OIF_EREAD)
        return false;
    by->line = status == OIF_OK ? record.line : status == OIF_EINPUT ? error.line : by->line;
    translator_print(by);
    if (status == OIF_OK)
        take_record(by, &record);
    else if (status == OIF_EINPUT)
        translator_bad_row(by);
    else if (status == OIF_END)
        take_end(by);
    else
        translator_fail(by, by->line, "%s", error.message);
    translator_printed(by);
    return true;
}

static void close_state(translator *by)
{
    pivot_state *state = by->state;
    oif_reader_close(state->reader);
    wide_rows_close(&state->rows);
}

const translation format_pivot = {.word = "pivot",
                                  .what = "--pivot",
                                  .writes = OIF_FORMAT_NDJSON,
                                  .state_bytes = sizeof(pivot_state),
                                  .pull = take_next,
                                  .close = close_state,
                                  .bad_line =
                                      "--pivot finds no name, no number or no time in this row"};
