#include "json_rows.h"

#include "front/text/output.h"

#include <string.h>

/* Where the text is read. */
typedef struct json_place {
    const char *at, *end;
    const char *line_begin;
    uint64_t line, lines_written;
} json_place;

static const char objects_remedy[] = "Send objects, such as [{\"host\": \"a\", \"load\": 0.5}].";

static bool fail(const json_place *place, problem *why, const char *what)
{
    problem_set(why, 400, objects_remedy, "%s", what);
    why->cause = OIF_CAUSE_BAD_JSON;
    why->line = place->line;
    why->column = (uint64_t)(place->at - place->line_begin) + 1;
    return false;
}

static void skip_blanks(json_place *place)
{
    for (; place->at < place->end && strchr(" \t\r\n", *place->at) && *place->at; place->at++)
        if (*place->at == '\n') {
            place->line++;
            place->line_begin = place->at + 1;
        }
}

/* The end of the object or array that begins at `at`; NULL: it has none. Which bracket closes which
 * is checked by the reader of the rows. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '"')
            for (at++; at < end && *at != '"'; at++)
                at += *at == '\\';
        else if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}

/* Writes an object on one line. A line end inside a string is not JSON: it stays, and is found. */
static void write_object(json_place *place, const char *stop)
{
    bool is_string = false;
    for (; place->lines_written + 1 < place->line; place->lines_written++)
        output_text("\n");
    const char *plain = place->at;
    for (; place->at < stop; place->at++) {
        if (*place->at == '\\' && is_string)
            place->at++;
        else if (*place->at == '"')
            is_string = !is_string;
        else if (*place->at == '\n' && !is_string) {
            output_write(plain, (size_t)(place->at - plain));
            output_text(" ");
            plain = place->line_begin = place->at + 1;
            place->line++;
        }
    }
    output_write(plain, (size_t)(stop - plain));
    output_text("\n");
    place->lines_written++;
    place->at = stop;
}

static bool take_object(json_place *place, problem *why)
{
    if (place->at == place->end || *place->at != '{')
        return fail(place, why, "expected an object, as each row is one");
    const char *stop = value_end(place->at, place->end);
    if (!stop)
        return fail(place, why, "the object that begins here does not end");
    write_object(place, stop);
    return true;
}

static bool take_array(json_place *place, problem *why)
{
    place->at++;
    skip_blanks(place);
    for (bool has_more = true; has_more;) {
        if (!take_object(place, why))
            return false;
        skip_blanks(place);
        has_more = place->at < place->end && *place->at == ',';
        place->at += has_more;
        skip_blanks(place);
    }
    if (place->at == place->end || *place->at != ']')
        return fail(place, why, "the array does not end");
    place->at++;
    skip_blanks(place);
    return place->at == place->end || fail(place, why, "text follows the array");
}

bool json_rows_write(oif_text body, problem *why)
{
    json_place place = {body.text, body.text + body.bytes, body.text, 1, 0};
    skip_blanks(&place);
    if (place.at < place.end && *place.at == '[')
        return take_array(&place, why);
    do {
        if (!take_object(&place, why))
            return false;
        skip_blanks(&place);
    } while (place.at < place.end);
    return true;
}

bool json_rows_are_lines(oif_text body)
{
    json_place place = {body.text, body.text + body.bytes, body.text, 1, 0};
    skip_blanks(&place);
    if (place.at == place.end || *place.at != '{')
        return false;
    const char *newline = memchr(place.at, '\n', (size_t)(place.end - place.at));
    return !newline || value_end(place.at, newline) != NULL;
}
