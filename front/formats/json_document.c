/* JSON that does not have one object per line. Rows are the elements of the first array of objects,
 * wherever it is; without one, the objects themselves:
 *
 *     {"meta": {"n": 2},                       {"x": 1}
 *      "data": [{"x": 1},            -->       {"x": 2}
 *               {"x": 2}]}
 *
 * Elements are printed as they end, so a document of any size takes the memory of one element. The
 * brackets are matched here; the reader checks the JSON of each row. */
#include "formats.h"

#include <stdlib.h>

enum { LEVELS_MAX = OIF_JSON_LEVELS_MAX, NAME_BYTES = 32, ROW_BYTES_MAX = OIF_LINE_BYTES_INITIAL };

typedef struct json_level {
    char bracket;          /* { or [ */
    char name[NAME_BYTES]; /* the key in front of it; "": none */
} json_level;

typedef struct json_state {
    json_level levels[LEVELS_MAX];
    int depth, rows_depth; /* rows_depth: of the array whose elements are rows; 0: not found */
    bool is_in_rows;
    char rows_name[NAME_BYTES];

    bool is_string, is_escaped;
    char key[NAME_BYTES]; /* the last string; too long: cut */
    size_t key_bytes;

    char *row; /* that has begun: an element, or the document until an array is found */
    size_t row_bytes, row_capacity;
    uint64_t row_line;
    bool is_too_long; /* which is not an error yet: an array of objects may follow */
} json_state;

/* ---- Rows ---- */

/* Of blanks between values one is kept, so a row is not wider than it has to be. */
static bool keep_byte(json_state *state, char byte)
{
    if (byte == '\n' || (byte == '\t' && !state->is_string))
        byte = ' ';
    if (byte == ' ' && !state->is_string && state->row_bytes > 0 &&
        strchr(" {[", state->row[state->row_bytes - 1]))
        return true;
    if (state->row_bytes == ROW_BYTES_MAX)
        return false;
    if (state->row_bytes == state->row_capacity) {
        size_t capacity = 2 * state->row_capacity + 256;
        char *row = realloc(state->row, capacity);
        if (!row)
            return false;
        state->row = row;
        state->row_capacity = capacity;
    }
    state->row[state->row_bytes++] = byte;
    return true;
}

/* The string after a key, such as "date": "2026-11-18", in a text; no bytes: there is none. */
static oif_text string_after(oif_text text, const char *key)
{
    for (; text.bytes > 0 && !text_begins(text, key); text.text++)
        text.bytes--;
    size_t at = text.bytes > 0 ? strlen(key) : 0;
    while (at < text.bytes && (text.text[at] == ' ' || text.text[at] == ':'))
        at++;
    if (at >= text.bytes || text.text[at] != '"')
        return (oif_text){"", 0};
    const char *begin = text.text + at + 1, *end = memchr(begin, '"', text.bytes - at - 1);
    return (oif_text){begin, end ? (size_t)(end - begin) : 0};
}

/* sadf -j has the time of a row in two parts: "timestamp": {"date": "2026-11-18", "time":
 * "02:57:29", "utc": 1}. They are joined to a member of their own. */
static void print_time(translator *by, oif_text row)
{
    json_state *state = by->state;
    const char *key = NULL, *end;
    if (strcmp(state->rows_name, "statistics") != 0)
        return;
    for (size_t at = 1; at < row.bytes && !key && strchr(" \t\r\"", row.text[at]); at++)
        if (row.text[at] == '"')
            key = row.text + at;
    if (!key ||
        !text_begins((oif_text){key, row.bytes - (size_t)(key - row.text)}, "\"timestamp\""))
        return;
    end = memchr(key, '}', row.bytes - (size_t)(key - row.text));
    oif_text stamp = {key, end ? (size_t)(end - key) : 0};
    oif_text date = string_after(stamp, "\"date\""), time = string_after(stamp, "\"time\"");
    if (date.bytes == 0 || time.bytes == 0)
        return;
    output_print("\"time\":\"%.*sT%.*s%s\",", (int)date.bytes, date.text, (int)time.bytes,
                 time.text, text_has(stamp, "\"utc\": 1") ? "Z" : "");
    snprintf(by->implied.time, sizeof by->implied.time, "time");
    snprintf(by->implied.exclude, sizeof by->implied.exclude, "timestamp");
}

static void print_row(translator *by)
{
    json_state *state = by->state;
    translator_begin_row(by, state->row_line);
    output_text("{");
    print_time(by, (oif_text){state->row, state->row_bytes});
    output_write(state->row + 1, state->row_bytes - 1);
    translator_end_row(by);
    state->row_bytes = 0;
}

static void begin_row(translator *by)
{
    json_state *state = by->state;
    state->row_bytes = 0;
    state->row_line = by->line + 1;
    state->is_too_long = false;
}

/* ---- Brackets ---- */

static bool is_sysstat_hosts(const json_state *state)
{
    return state->depth > 1 && strcmp(state->levels[state->depth - 1].name, "hosts") == 0 &&
           strcmp(state->levels[state->depth - 2].name, "sysstat") == 0;
}

/* An object begins in the innermost array: are its elements the rows? In documents of sysstat those
 * of "hosts" are not. The next host has the same array again. */
static bool are_rows(const json_state *state)
{
    if (state->depth == 0 || state->is_in_rows)
        return false;
    const json_level *level = &state->levels[state->depth - 1];
    if (level->bracket != '[')
        return false;
    if (state->rows_depth > 0)
        return state->rows_depth == state->depth && strcmp(state->rows_name, level->name) == 0;
    return !is_sysstat_hosts(state);
}

static void open_bracket(translator *by, char byte)
{
    json_state *state = by->state;
    if (state->depth == LEVELS_MAX) {
        translator_fail(by, by->line + 1, "JSON that is nested more than %d levels deep",
                        LEVELS_MAX);
        return;
    }
    if (byte == '{' && are_rows(state)) {
        state->is_in_rows = true;
        state->rows_depth = state->depth;
        memcpy(state->rows_name, state->levels[state->depth - 1].name, NAME_BYTES);
    }
    bool is_element = state->is_in_rows && state->depth == state->rows_depth;
    if (is_element || state->depth == 0)
        begin_row(by);
    json_level *level = &state->levels[state->depth++];
    level->bracket = byte;
    memcpy(level->name, state->key, NAME_BYTES);
    state->key[0] = '\0';
}

static void fail_too_long(translator *by, uint64_t line)
{
    translator_fail(by, line,
                    "an object of more than %d MiB without an array of objects in it; choose the "
                    "rows with jq -c",
                    ROW_BYTES_MAX >> 20);
}

/* The brackets are those before `depth` was counted down. */
static void end_bracket(translator *by, bool is_object)
{
    json_state *state = by->state;
    const bool is_element = state->is_in_rows && state->depth == state->rows_depth;
    if (is_element || (state->depth == 0 && state->rows_depth == 0 && is_object)) {
        if (state->is_too_long)
            fail_too_long(by, state->row_line);
        else
            print_row(by);
    } else if (state->depth == 0 && state->rows_depth == 0) {
        translator_fail(by, by->line + 1,
                        "the array that ends here has no objects, such as {\"x\": 1}, and these "
                        "would be the rows");
    }
    if (state->depth < state->rows_depth)
        state->is_in_rows = false;
    if (state->depth == 0)
        state->rows_depth = 0;
}

static void close_bracket(translator *by, char byte)
{
    json_state *state = by->state;
    const char open = byte == '}' ? '{' : '[';
    if (state->depth == 0 || state->levels[state->depth - 1].bracket != open) {
        translator_fail(by, by->line + 1, "a %c without its %c: this is not JSON", byte, open);
        return;
    }
    state->depth--;
    end_bracket(by, byte == '}');
}

/* ---- Bytes ---- */

static void take_string_byte(json_state *state, char byte)
{
    if (state->is_escaped)
        state->is_escaped = false;
    else if (byte == '\\')
        state->is_escaped = true;
    else if (byte == '"')
        state->is_string = false;
    if (state->is_string && state->key_bytes + 1 < NAME_BYTES)
        state->key[state->key_bytes++] = byte;
    state->key[state->key_bytes] = '\0';
}

static bool is_between_values(char byte)
{
    return strchr(" \t\r\n,", byte) && byte != '\0';
}

static void take_plain_byte(translator *by, char byte)
{
    json_state *state = by->state;
    const bool is_between =
        state->depth == 0 || (state->is_in_rows && state->depth == state->rows_depth);
    if (byte == '"' && !is_between) {
        state->is_string = true;
        state->key_bytes = 0;
        state->key[0] = '\0';
    } else if (byte == '{' || (byte == '[' && (!is_between || state->depth == 0))) {
        open_bracket(by, byte);
    } else if (is_between && byte != ']' && !is_between_values(byte)) {
        translator_fail(by, by->line + 1,
                        "the rows must be objects, such as {\"x\": 1}, and this is not one; choose "
                        "the rows with jq -c");
    }
}

static void take_byte(translator *by, char byte)
{
    json_state *state = by->state;
    const bool was_string = state->is_string, closes = byte == '}' || byte == ']';
    if (was_string)
        take_string_byte(state, byte);
    else if (!closes)
        take_plain_byte(by, byte);
    /* until an array of objects is found, the document may be a row itself */
    const bool is_in_row = state->depth > (state->is_in_rows ? state->rows_depth : 0) &&
                           (state->is_in_rows || state->rows_depth == 0);
    if (is_in_row && !state->is_too_long)
        state->is_too_long = !keep_byte(state, byte);
    if (state->is_in_rows && state->is_too_long)
        fail_too_long(by, state->row_line);
    if (closes && !was_string)
        close_bracket(by, byte);
    by->line += byte == '\n';
}

static void take_piece(translator *by, oif_text piece)
{
    size_t i = by->line == 0 && text_begins(piece, "\xEF\xBB\xBF") ? 3 : 0;
    for (; i < piece.bytes && by->problem[0] == '\0'; i++)
        take_byte(by, piece.text[i]);
}

static void take_end(translator *by)
{
    const json_state *state = by->state;
    /* a program that was interrupted may have left its array open */
    const bool is_between_rows = state->is_in_rows && state->depth == state->rows_depth;
    if (state->depth > 0 && !is_between_rows)
        translator_fail(by, state->row_line,
                        "the JSON ends before the value that begins here is complete; the rows "
                        "before it were read");
}

static void close_state(translator *by)
{
    free(((json_state *)by->state)->row);
}

const translation format_json = {.word = "json",
                                 .what = "JSON",
                                 .writes = OIF_FORMAT_NDJSON,
                                 .state_bytes = sizeof(json_state),
                                 .piece = take_piece,
                                 .end = take_end,
                                 .close = close_state};
