#include "request.h"

#include "front/text/cut.h"
#include "oif_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const header_names[HEADER_COUNT] = {
    [HEADER_ACCEPT] = "Accept",
    [HEADER_AUTHORIZATION] = "Authorization",
    [HEADER_CONTENT_ENCODING] = "Content-Encoding",
    [HEADER_CONTENT_LENGTH] = "Content-Length",
    [HEADER_CONTENT_TYPE] = "Content-Type",
    [HEADER_FORWARDED_FOR] = "X-Forwarded-For",
    [HEADER_FORWARDED_USER] = "X-Forwarded-User",
    [HEADER_HOST] = "Host",
    [HEADER_IF_NONE_MATCH] = "If-None-Match",
    [HEADER_LAST_EVENT_ID] = "Last-Event-ID",
    [HEADER_ORIGIN] = "Origin",
    [HEADER_PREFER] = "Prefer",
    [HEADER_SEC_FETCH_SITE] = "Sec-Fetch-Site",
    [HEADER_STREAM] = "Oif-Stream",
};

const char *request_header_name(request_header header)
{
    return header_names[header];
}

/* ---- Decoding ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place, as the result is never longer. A + is a blank only in a query. Returns false if
 * a % is not followed by two hexadecimal digits. */
static bool decode(char *text, size_t *bytes, bool is_query)
{
    const char *from = text, *end = text + *bytes;
    char *to = text;
    while (from < end) {
        if (*from == '%') {
            int high = end - from > 2 ? hex_digit(from[1]) : -1;
            int low = high >= 0 ? hex_digit(from[2]) : -1;
            if (low < 0)
                return false;
            *to++ = (char)(16 * high + low);
            from += 3;
        } else {
            *to++ = is_query && *from == '+' ? ' ' : *from;
            from++;
        }
    }
    *to = '\0';
    *bytes = (size_t)(to - text);
    return true;
}

static bool take_segments(request *asked, char *path, problem *why)
{
    char *segment = path + 1;
    for (;;) {
        char *end = segment + strcspn(segment, "/");
        bool is_last = *end == '\0';
        size_t bytes = (size_t)(end - segment);
        *end = '\0';
        if (asked->segment_count == REQUEST_SEGMENTS_MAX)
            return problem_set(why, 404, NULL, "no path has that many parts");
        if (!decode(segment, &bytes, false) || strlen(segment) != bytes)
            return problem_set(why, 400, "Write %25 for a percent sign.",
                               "the path has a %% that is not followed by two hexadecimal digits, "
                               "or a %%00");
        asked->segments[asked->segment_count++] = segment;
        if (is_last)
            return true;
        segment = end + 1;
    }
}

static bool take_parameters(request *asked, char *query, problem *why)
{
    while (*query) {
        char *end = query + strcspn(query, "&");
        char *value = query + strcspn(query, "=&");
        bool is_last = *end == '\0';
        *end = '\0';
        if (value < end)
            *value++ = '\0';
        size_t name_bytes = strlen(query), value_bytes = (size_t)(end - value);
        if (!decode(query, &name_bytes, true) || !decode(value, &value_bytes, true) ||
            strlen(query) != name_bytes)
            return problem_set(
                why, 400, "Write %25 for a percent sign.",
                "the parameters have a %% that is not followed by two hexadecimal digits, "
                "or a %%00 in a name");
        if (asked->parameter_count == REQUEST_PARAMETERS_MAX)
            return problem_set(why, 400, NULL, "there are more than %d parameters",
                               REQUEST_PARAMETERS_MAX);
        if (name_bytes > 0 || value_bytes > 0)
            asked->parameters[asked->parameter_count++] =
                (request_parameter){query, value, value_bytes};
        if (is_last)
            break;
        query = end + 1;
    }
    return true;
}

bool request_parse(request *asked, const char *method, const char *target, problem *why)
{
    static char nothing[] = "";
    memset(asked, 0, sizeof *asked);
    snprintf(asked->method, sizeof asked->method, "%s", method);
    asked->target = strdup(target);
    size_t path_bytes = strcspn(target, "?");
    asked->path = strndup(target, path_bytes);
    if (!asked->target || !asked->path)
        return problem_set(why, 503, NULL, "out of memory");
    if (*target != '/')
        return problem_set(why, 400, "Ask for a path such as /api/v1.",
                           "the target of the request does not begin with a /");
    char *query = asked->target[path_bytes] ? asked->target + path_bytes + 1 : nothing;
    asked->target[path_bytes] = '\0';
    return take_segments(asked, asked->target, why) && take_parameters(asked, query, why);
}

bool request_take_form(request *asked, problem *why)
{
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    if (asked->body_bytes == 0)
        return true;
    if (type && !request_type_is(type, "application/x-www-form-urlencoded"))
        return problem_set(why, 415, "Send Content-Type: application/x-www-form-urlencoded.",
                           "the body must be a form such as key=KEY&limit=10");
    asked->form = strndup(asked->body, asked->body_bytes);
    if (!asked->form)
        return problem_set(why, 503, NULL, "out of memory");
    if (strlen(asked->form) != asked->body_bytes)
        return problem_set(why, 400, "Write %00 for it.", "the form has a byte 0");
    return take_parameters(asked, asked->form, why);
}

void request_free(request *asked)
{
    free(asked->path);
    free(asked->target);
    free(asked->form);
    asked->path = asked->target = asked->form = NULL;
}

/* ---- Parameters ---- */

static bool is_in_list(const char *word, const char *list)
{
    size_t bytes = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == bytes && memcmp(at, word, bytes) == 0)
            return true;
        at += length;
    }
    return false;
}

bool request_check_parameters(const request *asked, const char *known, problem *why)
{
    for (size_t i = 0; i < asked->parameter_count; i++) {
        const char *name = asked->parameters[i].name;
        if (!is_in_list(name, known)) {
            problem_set(why, 400, NULL, "there is no parameter '%s' here", cut_name(name).text);
            snprintf(why->remedy, sizeof why->remedy, *known ? "Known here: %s." : "It takes none.",
                     known);
            return false;
        }
        if (request_find(asked, name) != &asked->parameters[i])
            return problem_set(why, 400, "Give it once.", "the parameter '%s' is given twice",
                               name);
    }
    return true;
}

const request_parameter *request_find(const request *asked, const char *name)
{
    for (size_t i = 0; i < asked->parameter_count; i++)
        if (strcmp(asked->parameters[i].name, name) == 0)
            return &asked->parameters[i];
    return NULL;
}

bool request_text(const request *asked, const char *name, const char **text, problem *why)
{
    const request_parameter *found = request_find(asked, name);
    if (found && strlen(found->value) != found->value_bytes)
        return problem_set(why, 400, NULL, "the parameter '%s' must not have a %%00", name);
    if (found)
        *text = found->value;
    return true;
}

static bool parse_number(const request_parameter *given, double *number)
{
    const char *end = given->value + given->value_bytes;
    return given->value_bytes > 0 && oif_number_parse(given->value, end, number) == end &&
           isfinite(*number);
}

bool request_count(const request *asked, const char *name, uint64_t most, uint64_t *value,
                   problem *why)
{
    const request_parameter *given = request_find(asked, name);
    if (!given)
        return true;
    bool is_number = given->value_bytes > 0 && given->value_bytes <= 20 &&
                     strspn(given->value, "0123456789") == given->value_bytes;
    errno = 0;
    uint64_t count = strtoull(given->value, NULL, 10);
    if (!is_number || errno != 0 || count > most)
        return problem_set(why, 400, NULL, "%s: expected a whole number from 0 to %llu", name,
                           (unsigned long long)most);
    *value = count;
    return true;
}

bool request_time(const request *asked, const char *name, double *seconds, problem *why)
{
    const request_parameter *given = request_find(asked, name);
    if (!given || parse_number(given, seconds))
        return true;
    oif_time_format format = {0};
    oif_error error;
    if (oif_time_parse(&format, given->value, given->value_bytes, seconds, &error) == OIF_OK &&
        isfinite(*seconds))
        return true;
    return problem_set(why, 400, NULL,
                       "%s: expected seconds since 1970, or a time such as 2026-11-15T19:05:01Z",
                       name);
}

bool request_flag(const request *asked, const char *name, bool *value, problem *why)
{
    static const char *const words[] = {"false", "true"};
    size_t position = *value;
    if (!request_word(asked, name, words, 2, &position, why))
        return false;
    *value = position == 1;
    return true;
}

bool request_word(const request *asked, const char *name, const char *const *words, size_t count,
                  size_t *position, problem *why)
{
    const request_parameter *given = request_find(asked, name);
    if (!given)
        return true;
    char known[128] = "";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == given->value_bytes && strcmp(words[i], given->value) == 0) {
            *position = i;
            return true;
        }
        if (length < sizeof known)
            length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                       i > 0 ? ", " : "", words[i]);
    }
    return problem_set(why, 400, NULL, "%s: expected one of %s", name, known);
}

bool request_type_is(const char *header, const char *type)
{
    size_t bytes = strlen(type);
    return header && strncasecmp(header, type, bytes) == 0 &&
           (header[bytes] == '\0' || strchr("; \t", header[bytes]));
}
