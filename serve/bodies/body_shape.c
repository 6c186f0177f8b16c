#include "body_shape.h"

#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports texts as leaked if they are stored through a pointer into a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* ---- Names ---- */

/* Takes over the name, which is NULL if there was no memory for it. */
static bool add_name(shape_names *names, char *name)
{
    char **longer = name ? realloc(names->list, (names->count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(name);
        return false;
    }
    names->list = longer;
    longer[names->count++] = name;
    return true;
}

static bool has_name(const shape_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

static void free_names(shape_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

void body_shape_free(body_shape *shape)
{
    free_names(&shape->undecided);
    free_names(&shape->left_out);
    free(shape->header);
    free(shape->time);
    *shape = (body_shape){.header = NULL};
}

/* ---- The first body ---- */

static bool take_names(body_shape *shape, const input_columns *columns)
{
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < columns->use_count; i++) {
        const char *name = oif_reader_column_name(columns->from.reader, i);
        if (!name)
            continue;
        if (columns->undecided && columns->undecided[i].is_undecided)
            has_memory = add_name(&shape->undecided, strdup(name));
        else if (!columns_is_learned(columns, i))
            has_memory = add_name(&shape->left_out, strdup(name));
    }
    return has_memory;
}

bool body_shape_leave_out(body_shape *shape, const char *name)
{
    return add_name(&shape->left_out, strdup(name));
}

bool body_shape_take(body_shape *shape, const run_input *input)
{
    size_t bytes;
    const char *header = oif_reader_header_text(input->reader, &bytes),
               *time = input->columns.time_name;
    if (time && !shape->time && !(shape->time = strdup(time)))
        return false;
    if (shape->day_order == OIF_DAY_ORDER_AUTO)
        shape->day_order = input->columns.time_format.day_order;
    if (input->format == OIF_FORMAT_CSV && !shape->header && shape->fields == 0) {
        shape->delimiter = oif_reader_delimiter(input->reader);
        shape->has_crlf = strlen(input->source.line_end) == 2;
        if (!oif_reader_has_header(input->reader))
            shape->fields = oif_reader_column_count(input->reader);
        else if (!(shape->header = strndup(header, bytes)))
            return false;
    }
    return take_names(shape, &input->columns);
}

bool body_shape_mark_undecided(const body_shape *shape, input_columns *columns)
{
    if (shape->undecided.count == 0 || columns->undecided)
        return true;
    columns->undecided = calloc(columns->use_count, sizeof *columns->undecided);
    if (!columns->undecided)
        return false;
    for (size_t i = 0; i < columns->use_count; i++) {
        const char *name = oif_reader_column_name(columns->from.reader, i);
        columns->undecided[i].is_undecided = has_name(&shape->undecided, name);
        columns->undecided[i].is_told = true;
        if (columns->undecided[i].is_undecided)
            oif_reader_allow_text(columns->from.reader, i);
    }
    return true;
}

/* ---- Later bodies ---- */

static const char *end_of_line(const char *at, const char *end)
{
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline ? newline : end;
}

/* A header may have line ends in quotes, so it is compared as a whole. */
static bool begins_with_header(const body_shape *shape, const char *at, const char *end)
{
    size_t bytes = shape->header ? strlen(shape->header) : 0;
    if (bytes == 0 || (size_t)(end - at) < bytes || memcmp(at, shape->header, bytes) != 0)
        return false;
    at += bytes;
    at += at < end && *at == '\r';
    return at == end || *at == '\n';
}

start_line body_shape_judge(const body_shape *shape, const char *comment, oif_text body,
                            oif_text *line)
{
    const char *end = body.text + body.bytes;
    const file_start start = {.comment = comment,
                              .header = shape->header ? shape->header : "",
                              .header_bytes = shape->header ? strlen(shape->header) : 0,
                              .delimiter = shape->delimiter ? shape->delimiter : ','};
    for (const char *at = body.text; at < end; at++) {
        const char *newline = end_of_line(at, end);
        if (begins_with_header(shape, at, end))
            return START_IS_HEADER;
        start_line kind = file_start_judge(&start, at, (size_t)(newline - at));
        size_t bytes = (size_t)(newline - at);
        bytes -= bytes > 0 && at[bytes - 1] == '\r';
        *line = (oif_text){at, bytes};
        if (kind != START_IS_BLANK && kind != START_IS_COMMENT)
            return kind;
        at = newline;
    }
    return START_IS_BLANK;
}

/* ---- JSON ---- */

/* JSON has only UTF-8. Other text, such as Latin-1, is kept as one character from U+0000 to U+00FF
 * per byte, in an array: ["\u00e9tat"]. NULL: out of memory. */
static json_t *bytes_to_json(const char *text)
{
    char *characters = malloc(2 * strlen(text) + 1), *end = characters;
    if (!characters)
        return NULL;
    for (; *text; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte >= 0x80)
            *end++ = (char)(0xc0 | byte >> 6);
        *end++ = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    *end = '\0';
    json_t *made = json_pack("[s]", characters);
    free(characters);
    return made;
}

static json_t *text_to_json(const char *text)
{
    json_t *made = text ? json_string(text) : json_null();
    return made ? made : bytes_to_json(text);
}

/* The caller frees it. NULL: out of memory, or not such a text. */
static char *text_from_json(const json_t *saved)
{
    const bool is_bytes = json_is_array(saved);
    const char *from = json_string_value(is_bytes ? json_array_get(saved, 0) : saved);
    char *text = from ? strdup(from) : NULL, *to = text;
    for (; to && is_bytes && *from; from++) {
        unsigned lead = (unsigned char)*from;
        *to++ = (char)(lead >= 0x80 ? (lead & 3) << 6 | ((unsigned char)*++from & 0x3f) : lead);
    }
    if (to && is_bytes)
        *to = '\0';
    return text;
}

static json_t *names_to_json(const shape_names *names)
{
    json_t *made = json_array();
    for (size_t i = 0; i < names->count; i++)
        json_array_append_new(made, text_to_json(names->list[i]));
    return made;
}

static bool names_from_json(const json_t *saved, shape_names *names)
{
    bool is_loaded = true;
    for (size_t i = 0; is_loaded && i < json_array_size(saved); i++)
        is_loaded = add_name(names, text_from_json(json_array_get(saved, i)));
    return is_loaded;
}

json_t *body_shape_save(const body_shape *shape)
{
    const char delimiter[2] = {shape->delimiter, '\0'};
    return json_pack("{s:o, s:I, s:s, s:b, s:b, s:b, s:o, s:i, s:o, s:o}", "header",
                     text_to_json(shape->header), "fields", (json_int_t)shape->fields, "delimiter",
                     delimiter, "decimal-comma", shape->has_decimal_commas, "decimal-point",
                     shape->has_decimal_points, "crlf", shape->has_crlf, "time",
                     text_to_json(shape->time), "day-order", (int)shape->day_order, "undecided",
                     names_to_json(&shape->undecided), "left-out", names_to_json(&shape->left_out));
}

static bool load_text(const json_t *object, const char *name, char **text)
{
    const json_t *saved = json_object_get(object, name);
    *text = text_from_json(saved);
    return *text || !saved || json_is_null(saved);
}

bool body_shape_equal(const body_shape *a, const body_shape *b)
{
    json_t *left = body_shape_save(a), *right = body_shape_save(b);
    bool is_equal = left && right && json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return is_equal;
}

bool body_shape_load(body_shape *shape, const json_t *saved)
{
    const char *delimiter = json_string_value(json_object_get(saved, "delimiter"));
    *shape = (body_shape){
        .fields = (size_t)json_integer_value(json_object_get(saved, "fields")),
        .delimiter = delimiter ? *delimiter : '\0',
        .has_decimal_commas = json_is_true(json_object_get(saved, "decimal-comma")),
        .has_decimal_points = json_is_true(json_object_get(saved, "decimal-point")),
        .has_crlf = json_is_true(json_object_get(saved, "crlf")),
        .day_order = (oif_day_order)(json_integer_value(json_object_get(saved, "day-order")) % 3)};
    return load_text(saved, "header", &shape->header) && load_text(saved, "time", &shape->time) &&
           names_from_json(json_object_get(saved, "undecided"), &shape->undecided) &&
           names_from_json(json_object_get(saved, "left-out"), &shape->left_out);
}
