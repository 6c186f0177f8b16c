/* Rows from NDJSON: one JSON object per line.
 *
 * A line is parsed once, in place, and its values are stored as they occur; no tree of it is built.
 * The paths of json_paths.h say which keys matter; the rest is only checked for valid JSON. The
 * first line is parsed twice, first to collect its paths.
 *
 * A value that cannot become a number is reported only at the end of the line, because a later key
 * with the same name would replace it. The same goes for values inside objects that get replaced:
 * on a line with a duplicate key, stamps show which values still count. */
#include "base/error.h"
#include "base/excerpt.h"
#include "rows/csv_field.h"
#include "rows/json_paths.h"
#include "rows/json_text.h"
#include "rows/reader.h"
#include "rows/value_text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum {
    MAX_NAMES_BYTES = 64 * 1024 * 1024, /* a long key may be part of many names */
    INDEX_TEXT_BYTES = 24
};

/* The parser of one line. Functions return where they stopped, or NULL after setting the fault. */
typedef struct line_parser {
    oif_reader *reader;
    oif_json_paths *paths;
    const char *lines_end;
    /* where the next text with escapes goes; all of a line fit, as unescaping never lengthens */
    char *unescaped;
    uint64_t first_stamp;
    bool collects; /* new paths are added */
    bool is_first; /* the order of its keys is the expected one */
    oif_json_path *first_added, *last_added;
    bool has_repeated; /* some key occurs twice */
    bool has_bad;
    bool has_too_many, out_of_memory; /* while adding paths */
    oif_json_fault fault;
} line_parser;

static const char *parse_value(line_parser *line, const char *at, oif_json_path *path,
                               unsigned depth);

/* ---- Keys ---- */

static oif_json_path *add_path(line_parser *line, oif_json_path *parent, const char *key,
                               size_t bytes)
{
    if (line->paths->count > OIF_JSON_FIRST_LINE_KEYS_MAX) {
        line->has_too_many = true;
        return NULL;
    }
    oif_json_path *path = oif_json_path_add(line->reader, parent, key, bytes);
    line->out_of_memory |= !path;
    return path;
}

/* The same on a line after the first. */
static oif_json_path *add_late_path(line_parser *line, oif_json_path *parent, const char *key,
                                    size_t bytes)
{
    if (line->reader->new_keys_left == 0)
        return NULL;
    oif_json_path *path = add_path(line, parent, key, bytes);
    if (!path)
        return NULL;
    line->reader->new_keys_left--;
    oif_json_path_append_child(parent, path);
    *(line->last_added ? &line->last_added->next_added : &line->first_added) = path;
    line->last_added = path;
    return path;
}

/* The path below `parent` with this key; NULL if it does not matter. */
static oif_json_path *look_up(line_parser *line, oif_json_path *parent, const char *key,
                              size_t bytes)
{
    oif_json_path *path = oif_json_path_find(line->paths, parent, key, bytes);
    if (path || !line->collects)
        return path;
    return line->is_first ? add_path(line, parent, key, bytes)
                          : add_late_path(line, parent, key, bytes);
}

/* Stores the order of the children. An object that replaces one with the same key starts again. */
static void collect_path(oif_json_path *path)
{
    if (path->parent_stamp != path->parent->stamp) /* not in this object yet */
        oif_json_path_append_child(path->parent, path);
    path->first_child = path->last_child = NULL;
}

static void enter_path(line_parser *line, oif_json_path *path)
{
    if (line->is_first)
        collect_path(path);
    line->has_repeated |= path->stamp >= line->first_stamp;
    path->stamp = ++line->paths->stamp;
    path->parent_stamp = path->parent->stamp;
    path->bad = NULL;
}

/* Parses the key that starts at the quote `open`, in an object at `parent` (NULL: it does not
 * matter). Sets *path to the path of the value, or NULL. Most keys are the expected one; not
 * looking these up saves 28% of the instructions of a log line. */
static const char *parse_key(line_parser *line, const char *open, oif_json_path *parent,
                             oif_json_path *expected, oif_json_path **path)
{
    bool escaped = false;
    *path = NULL;
    if (expected && oif_json_path_is_at(expected, open + 1, line->lines_end)) {
        *path = expected;
        enter_path(line, expected);
        return open + 1 + expected->key_bytes + 1;
    }
    const char *end = oif_json_string_end(open, &escaped, &line->fault);
    if (!end || !parent)
        return end ? end + 1 : NULL;
    const char *key = open + 1, *key_end = end;
    if (escaped) {
        key = line->unescaped;
        key_end = oif_json_unescape(open + 1, end, line->unescaped);
    }
    *path = look_up(line, parent, key, (size_t)(key_end - key));
    if (*path)
        enter_path(line, *path);
    return end + 1;
}

static oif_json_path *path_of_element(line_parser *line, oif_json_path *parent,
                                      oif_json_path *expected, size_t index)
{
    char text[INDEX_TEXT_BYTES];
    oif_json_path *path = expected;
    if (!expected || expected->index != index)
        path = look_up(line, parent, text, (size_t)snprintf(text, sizeof text, "%zu", index));
    if (path)
        enter_path(line, path);
    return path;
}

/* ---- Values ---- */

/* The column of a path, or NULL. */
static const oif_reader_column *column_of(const line_parser *line, const oif_json_path *path)
{
    return path && path->column != OIF_NO_COLUMN ? &line->reader->columns[path->column] : NULL;
}

static void take_value(line_parser *line, const oif_reader_column *column, double value)
{
    if (column && column->slot != OIF_UNSELECTED)
        line->reader->values[column->slot] = value;
}

static void take_bad_value(line_parser *line, oif_json_path *path, const oif_reader_column *column,
                           const char *at)
{
    if (!column || column->slot == OIF_UNSELECTED)
        return;
    line->reader->values[column->slot] = NAN;
    path->bad = at;
    line->has_bad = true;
}

static void take_text(line_parser *line, const oif_reader_column *column, const char *start,
                      const char *end)
{
    if (column && column->text_slot != OIF_UNSELECTED)
        line->reader->texts[column->text_slot] = (oif_text){start, (size_t)(end - start)};
}

static const char *parse_number(line_parser *line, const char *at, oif_json_path *path)
{
    const oif_reader_column *column = column_of(line, path);
    const bool is_value = column && column->slot != OIF_UNSELECTED;
    double value;
    const char *end = is_value ? oif_json_short_number_end(at, line->lines_end, &value) : NULL;
    if (!end) {
        end = oif_json_number_end(at, &line->fault);
        if (!end)
            return NULL;
        if (is_value)
            oif_number_parse(at, end, &value);
    }
    if (is_value && isinf(value))
        take_bad_value(line, path, column, at);
    else if (is_value)
        line->reader->values[column->slot] = value;
    take_text(line, column, at, end);
    return end;
}

/* A string in a column of numbers: "5", "12 ms" and "NA" are read as in CSV. */
static void take_string_value(line_parser *line, oif_json_path *path, oif_span text,
                              const char *open)
{
    oif_reader *reader = line->reader;
    oif_reader_column *column = &reader->columns[path->column];
    double value;
    text = oif_csv_without_blanks(text, '\0');
    oif_value_kind kind = oif_value_parse_plain(text, OIF_DECIMAL_AUTO, &value);
    if (kind == OIF_VALUE_TEXT)
        kind = oif_reader_read_value(reader, column, text, OIF_DECIMAL_AUTO, &value);
    if (kind == OIF_VALUE_NUMBER || kind == OIF_VALUE_MISSING)
        reader->values[column->slot] = value;
    else
        take_bad_value(line, path, column, open);
}

static const char *parse_string(line_parser *line, const char *open, oif_json_path *path)
{
    const oif_reader_column *column = column_of(line, path);
    const bool is_value = column && column->slot != OIF_UNSELECTED;
    bool escaped = false;
    const char *end = oif_json_string_end(open, &escaped, &line->fault);
    if (!end)
        return NULL;
    oif_span text = {open + 1, end};
    if (escaped && column && (is_value || column->text_slot != OIF_UNSELECTED)) {
        text.start = line->unescaped;
        line->unescaped = oif_json_unescape(open + 1, end, line->unescaped);
        text.end = line->unescaped;
    }
    if (is_value)
        take_string_value(line, path, text, open);
    take_text(line, column, text.start, text.end);
    return end + 1;
}

static const char *parse_word(line_parser *line, const char *at, oif_json_path *path)
{
    static const struct {
        const char *text;
        size_t bytes;
        double value;
    } words[] = {{"true", 4, 1}, {"false", 5, 0}, {"null", 4, NAN}};
    const size_t which = *at == 't' ? 0 : *at == 'f' ? 1 : 2;
    const oif_reader_column *column = column_of(line, path);
    if (memcmp(at, words[which].text, words[which].bytes) == 0) {
        take_value(line, column, words[which].value);
        take_text(line, column, at, at + words[which].bytes);
        return at + words[which].bytes;
    }
    const char *word = at + (*at == '-');
    if (!memcmp(word, "NaN", 3) || !memcmp(word, "Infinity", 8))
        return oif_json_fail(&line->fault, at,
                             "JSON has no NaN and no Infinity; write null for a missing number");
    return oif_json_fail(&line->fault, at,
                         "expected a value: a number, a string, true, false or null");
}

static const char *parse_object(line_parser *line, const char *open, oif_json_path *path,
                                unsigned depth)
{
    oif_json_path *expected = path ? path->first_child : NULL, *child;
    const char *at = oif_json_past_blanks(open + 1);
    if (*at == '}')
        return at + 1;
    for (;;) {
        if (*at != '"')
            return oif_json_fail(&line->fault, at, "expected a key in double quotes");
        at = parse_key(line, at, path, expected, &child);
        if (!at)
            return NULL;
        expected = child ? child->next_sibling : expected;
        at = oif_json_past_blanks(at);
        if (*at != ':')
            return oif_json_fail(&line->fault, at, "a colon must follow the key");
        at = parse_value(line, oif_json_past_blanks(at + 1), child, depth);
        if (!at)
            return NULL;
        at = oif_json_past_blanks(at);
        if (*at == '}')
            return at + 1;
        if (*at != ',')
            return oif_json_fail(&line->fault, at, "a comma or a } must follow the value");
        at = oif_json_past_blanks(at + 1);
    }
}

static const char *parse_array(line_parser *line, const char *open, oif_json_path *path,
                               unsigned depth)
{
    oif_json_path *expected = path ? path->first_child : NULL, *child = NULL;
    const bool matters = path && (path->is_parent || line->collects);
    const char *at = oif_json_past_blanks(open + 1);
    if (*at == ']')
        return at + 1;
    for (size_t index = 0;; index++) {
        if (matters)
            child = path_of_element(line, path, expected, index);
        expected = child ? child->next_sibling : expected;
        at = parse_value(line, at, child, depth);
        if (!at)
            return NULL;
        at = oif_json_past_blanks(at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return oif_json_fail(&line->fault, at, "a comma or a ] must follow the value");
        at = oif_json_past_blanks(at + 1);
    }
}

/* An object or an array. Its text includes the brackets. */
static const char *parse_container(line_parser *line, const char *open, oif_json_path *path,
                                   unsigned depth)
{
    const char *end;
    if (depth == OIF_JSON_LEVELS_MAX)
        return oif_json_fail(&line->fault, open,
                             "objects and arrays are nested deeper than 256 levels");
    if (*open == '{')
        end = parse_object(line, open, path, depth + 1);
    else
        end = parse_array(line, open, path, depth + 1);
    if (!end)
        return NULL;
    take_bad_value(line, path, column_of(line, path), open);
    take_text(line, column_of(line, path), open, end);
    return end;
}

static const char *parse_value(line_parser *line, const char *at, oif_json_path *path,
                               unsigned depth)
{
    if (path)
        path->is_leaf = *at != '{' && *at != '[';
    if (*at == '"')
        return parse_string(line, at, path);
    if (oif_json_is_digit(*at) || (*at == '-' && at[1] != 'I'))
        return parse_number(line, at, path);
    if (*at == '{' || *at == '[')
        return parse_container(line, at, path, depth);
    return parse_word(line, at, path);
}

/* ---- Lines ---- */

static line_parser begin_line(oif_reader *reader, bool is_first)
{
    for (size_t i = 0; i < reader->value_count; i++)
        reader->values[i] = NAN;
    for (size_t i = 0; i < reader->text_count; i++)
        reader->texts[i] = (oif_text){"", 0};
    reader->paths->root.stamp = ++reader->paths->stamp;
    return (line_parser){
        .reader = reader,
        .paths = reader->paths,
        .lines_end = reader->buffer + reader->lines_end,
        .unescaped = reader->unescaped,
        .first_stamp = reader->paths->stamp,
        .collects = is_first || reader->new_keys_left > 0,
        .is_first = is_first,
    };
}

/* Whether the line has this path and no later key has replaced one of its ancestors. */
static bool is_current(const line_parser *line, const oif_json_path *path)
{
    for (; path->parent; path = path->parent)
        if (path->stamp < line->first_stamp || path->parent_stamp != path->parent->stamp)
            return false;
    return true;
}

static void forget_replaced(line_parser *line)
{
    oif_reader *reader = line->reader;
    for (size_t i = 0; i < reader->column_count; i++) {
        const oif_reader_column *column = &reader->columns[i];
        if (is_current(line, column->path))
            continue;
        column->path->bad = NULL;
        take_value(line, column, NAN);
        take_text(line, column, "", "");
    }
}

/* Parses the line at `start`; returns its \n. The line is one object unless line->fault is set. */
static const char *parse_line(line_parser *line)
{
    const char *start = line->reader->buffer + line->reader->start,
               *at = oif_json_past_blanks(start);
    if (*at != '{')
        at = oif_json_fail(&line->fault, at, "each line must be a JSON object, such as {\"a\": 1}");
    else
        at = parse_container(line, at, &line->paths->root, 0);
    if (at) {
        at = oif_json_past_blanks(at);
        if (*at != '\n')
            at = oif_json_fail(&line->fault, at, "nothing may follow the object on its line");
    }
    if (!at) {
        const char *from = line->fault.at;
        return memchr(from, '\n', (size_t)(line->lines_end - from));
    }
    if (line->has_repeated)
        forget_replaced(line);
    return at;
}

/* ---- Messages ---- */

static uint64_t column_in_line(const oif_reader *reader, const char *at)
{
    return (uint64_t)(at - (reader->buffer + reader->start)) + 1;
}

static oif_status fail_too_long(oif_reader *reader, oif_error *error)
{
    oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_LINE_TOO_LONG, reader->line, 1,
                        "this line is longer than %zu bytes", reader->max_line_bytes);
    oif_reader_consume_through_newline(reader,
                                       reader->buffer + reader->start + reader->max_line_bytes);
    return OIF_EINPUT;
}

static bool is_allowed_text(const line_parser *line, const oif_json_path *path)
{
    return line->reader->columns[path->column].may_have_text && strchr("\"{[", *path->bad);
}

/* The value of the line to report: the first that should have been a number and is not text where
 * it is allowed, else the first text; NULL if there is none. */
static const oif_json_path *first_bad_path(const line_parser *line)
{
    const oif_json_path *first = NULL, *first_text = NULL;
    for (size_t i = 0; i < line->reader->column_count; i++) {
        const oif_json_path *path = line->reader->columns[i].path;
        if (path->stamp < line->first_stamp || !path->bad)
            continue;
        const oif_json_path **best = is_allowed_text(line, path) ? &first_text : &first;
        if (!*best || path->bad < (*best)->bad)
            *best = path;
    }
    return first ? first : first_text;
}

static oif_status fail_bad_value(const line_parser *line, const oif_json_path *path,
                                 oif_error *error)
{
    const char *name = line->reader->columns[path->column].name, *end, *bad = path->bad;
    const oif_excerpt column = oif_excerpt_of(name, name + strlen(name));
    line->reader->refused_column = path->column;
    const uint64_t line_number = line->reader->line, byte = column_in_line(line->reader, bad);
    oif_json_fault fault;
    bool escaped;
    if (*bad == '{' || *bad == '[')
        return oif_fail_because_at(
            error, OIF_EINPUT, OIF_CAUSE_NOT_A_NUMBER, line_number, byte,
            "%s is not a number in column \"%s\"; leave the column out or choose a part of it, "
            "such as %s.%s",
            *bad == '{' ? "an object" : "an array", column.text, column.text,
            *bad == '{' ? "key" : "0");
    if (*bad == '"') {
        end = oif_json_string_end(bad, &escaped, &fault);
        if (oif_reader_contradicts(line->reader, path->column, (oif_span){bad + 1, end},
                                   line_number, byte, error))
            return OIF_EINPUT;
        return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_NOT_A_NUMBER, line_number, byte,
                                   "the string '%s' is not a number in column \"%s\"; leave the "
                                   "column out or make it null",
                                   oif_excerpt_of(bad + 1, end).text, column.text);
    }
    end = oif_json_number_end(bad, &fault);
    return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_INFINITE_VALUE, line_number, byte,
                               "'%s' is infinite in column \"%s\"; make it a finite number or null",
                               oif_excerpt_of(bad, end).text, column.text);
}

static oif_status check_line(const line_parser *line, oif_error *error)
{
    const oif_reader *reader = line->reader;
    if (line->fault.why) {
        oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_BAD_JSON, reader->line,
                            column_in_line(reader, line->fault.at), "%s", line->fault.why);
        oif_reader_look_for_nul(reader, error);
        return OIF_EINPUT;
    }
    const oif_json_path *bad = line->has_bad ? first_bad_path(line) : NULL;
    return bad ? fail_bad_value(line, bad, error) : OIF_OK;
}

/* ---- Columns ---- */

static oif_status make_column(oif_reader *reader, oif_json_path *path, size_t slot,
                              oif_error *error)
{
    oif_status status = oif_reader_reserve_columns(reader, reader->column_count + 1, error);
    if (status != OIF_OK)
        return status;
    const size_t name_bytes = oif_json_path_name_bytes(path);
    char *name = oif_reader_keep(reader, name_bytes + 1);
    if (!name)
        return oif_fail(error, OIF_EMEMORY, "no memory for a column's name of %zu bytes",
                        name_bytes);

    oif_json_path_write_name(path, name);
    name[name_bytes] = '\0';
    path->column = reader->column_count;
    oif_reader_push_column(reader, name, slot);
    reader->columns[path->column].path = path;
    return OIF_OK;
}

/* Creates a column for each leaf at or below a path, in the order of the line. */
static oif_status make_leaf_columns(oif_reader *reader, oif_json_path *path, size_t *names_bytes,
                                    oif_error *error)
{
    oif_status status = OIF_OK;
    if (path->is_leaf) {
        *names_bytes += oif_json_path_name_bytes(path) + 1;
        if (*names_bytes > MAX_NAMES_BYTES)
            return oif_fail_at(error, OIF_EINPUT, reader->line, 1,
                               "the names of the columns take more than %d bytes", MAX_NAMES_BYTES);
        status = make_column(reader, path, reader->column_count, error);
    }
    for (oif_json_path *child = path->first_child; child && status == OIF_OK;
         child = child->next_sibling)
        status = make_leaf_columns(reader, child, names_bytes, error);
    return status;
}

/* Creates a column for each new leaf of the line, until their names are too long. */
static oif_status make_late_columns(line_parser *line, oif_error *error)
{
    oif_reader *reader = line->reader;
    oif_status status = OIF_OK;
    for (oif_json_path *path = line->first_added; path && status == OIF_OK;
         path = path->next_added) {
        if (!path->is_leaf)
            continue;
        reader->late_names_bytes += oif_json_path_name_bytes(path) + 1;
        if (reader->late_names_bytes > MAX_NAMES_BYTES) {
            reader->new_keys_left = 0;
            return OIF_OK;
        }
        status = make_column(reader, path, OIF_UNSELECTED, error);
    }
    return status;
}

/* Adds the path given by a name and returns it; NULL and *status on failure. */
static oif_json_path *add_named_path(oif_reader *reader, const char *name, char *key,
                                     oif_status *status, oif_error *error)
{
    oif_json_path *path = &reader->paths->root, *parent;
    const char *at = name;
    size_t key_bytes;
    for (;; at++) {
        at = oif_json_path_read_key(at, key, &key_bytes);
        if (!at) {
            *status = oif_fail(
                error, OIF_EPARAM,
                "'%s' is not a path: a backslash must be followed by a dot or another backslash",
                oif_excerpt_of(name, name + strlen(name)).text);
            return NULL;
        }
        parent = path;
        path = oif_json_path_find(reader->paths, parent, key, key_bytes);
        if (!path) {
            path = oif_json_path_add(reader, parent, key, key_bytes);
            if (!path) {
                *status = oif_fail(error, OIF_EMEMORY, "no memory for another column");
                return NULL;
            }
            oif_json_path_append_child(parent, path);
        }
        if (!*at)
            return path;
    }
}

static oif_status ndjson_add_column(oif_reader *reader, const char *name, oif_error *error)
{
    oif_status status = OIF_OK;
    char *key = oif_reader_keep(reader, strlen(name) + 1);
    if (!key)
        return oif_fail(error, OIF_EMEMORY, "no memory for another column");
    oif_json_path *path = add_named_path(reader, name, key, &status, error);
    return path ? make_column(reader, path, OIF_UNSELECTED, error) : status;
}

/* ---- Opening and reading ---- */

static oif_status ndjson_open(oif_reader *reader, const oif_reader_options *options,
                              oif_error *error)
{
    oif_status status = oif_reader_await_first_line(reader, error);
    size_t names_bytes = 0;
    (void)options;
    if (status == OIF_OK)
        status = oif_reader_need_unescaped(reader, error);
    if (status != OIF_OK)
        return status;
    if (reader->start == reader->lines_end) /* the line has not ended yet and is already too long */
        return fail_too_long(reader, error);
    reader->paths = oif_json_paths_new(reader);
    if (!reader->paths)
        return oif_fail(error, OIF_EMEMORY, "no memory for columns");

    line_parser line = begin_line(reader, true);
    const char *newline = parse_line(&line);
    if (column_in_line(reader, newline) - 1 > reader->max_line_bytes)
        return fail_too_long(reader, error);
    if (line.out_of_memory)
        return oif_fail(error, OIF_EMEMORY, "no memory for columns");
    if (line.has_too_many)
        return oif_fail_at(error, OIF_EINPUT, reader->line, 1,
                           "the first line has more than %d keys", OIF_JSON_FIRST_LINE_KEYS_MAX);
    status = check_line(&line, error);
    return status == OIF_OK ? make_leaf_columns(reader, &reader->paths->root, &names_bytes, error)
                            : status;
}

static oif_status ndjson_next(oif_reader *reader, oif_record *record, oif_error *error)
{
    oif_status status = oif_reader_await_next_line(reader, error);
    if (status != OIF_OK)
        return status;
    if (reader->start == reader->lines_end)
        return fail_too_long(reader, error);

    line_parser line = begin_line(reader, false);
    const char *newline = parse_line(&line);
    if (column_in_line(reader, newline) - 1 > reader->max_line_bytes)
        return fail_too_long(reader, error);
    status = line.first_added ? make_late_columns(&line, error) : OIF_OK;
    if (status != OIF_OK)
        return status;
    status = check_line(&line, error);
    if (!line.fault.why)
        *(status == OIF_OK ? record : &reader->refused) = oif_reader_record(
            reader, oif_span_without_returns(reader->buffer + reader->start, newline), newline);
    oif_reader_consume(reader, newline + 1, 1);
    return status;
}

const oif_row_format oif_ndjson_format = {
    .open = ndjson_open, .next = ndjson_next, .add_column = ndjson_add_column};
