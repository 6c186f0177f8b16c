#include "body_kind.h"

#include "front/formats/influx.h"
#include "front/text/cut.h"
#include "json_rows.h"
#include "sample_reading.h"
#include "serve/http/request.h"

#include <stdio.h>
#include <string.h>

bool body_kind_is_sampled(body_kind kind)
{
    return kind >= BODY_INFLUX;
}

static bool find_word(const char *word, body_found *found, problem *why)
{
    static const char *const words[BODY_KINDS] = {[BODY_CSV] = "csv",
                                                  [BODY_NDJSON] = "ndjson",
                                                  [BODY_JSON] = "json",
                                                  [BODY_INFLUX] = "influx",
                                                  [BODY_PROMETHEUS] = "prometheus",
                                                  [BODY_REMOTE_WRITE] = "remote-write",
                                                  [BODY_OTLP] = "otlp"};
    char known[256] = "";
    size_t used = 0;
    for (body_kind kind = 0; kind < BODY_KINDS; kind++) {
        found->kind = kind;
        if (strcmp(words[kind], word) == 0)
            return true;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", kind > 0 ? ", " : "",
                                 words[kind]);
    }
    return problem_set(why, 400, NULL, "format: expected one of %s", known);
}

/* ---- By the bytes ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static oif_text skip_blanks(oif_text text)
{
    while (text.bytes > 0 && is_blank(*text.text)) {
        text.text++;
        text.bytes--;
    }
    return text;
}

static oif_text without_blanks(oif_text body)
{
    if (body.bytes >= 3 && memcmp(body.text, "\xEF\xBB\xBF", 3) == 0)
        body = (oif_text){body.text + 3, body.bytes - 3};
    return skip_blanks(body);
}

static bool begins(oif_text text, const char *beginning)
{
    const size_t bytes = strlen(beginning);
    return text.bytes >= bytes && memcmp(text.text, beginning, bytes) == 0;
}

/* Takes a word off the text, with blanks before it. */
static bool take(oif_text *text, const char *word)
{
    *text = skip_blanks(*text);
    if (!begins(*text, word))
        return false;
    text->text += strlen(word);
    text->bytes -= strlen(word);
    return true;
}

static bool has_binary(oif_text body)
{
    enum { LOOK_BYTES = 4096 };
    return memchr(body.text, '\0', body.bytes < LOOK_BYTES ? body.bytes : LOOK_BYTES) != NULL;
}

static bool has_first_key(oif_text text, const char *key)
{
    return take(&text, "{") && take(&text, key) && take(&text, ":");
}

/* What OpenTelemetry sends as JSON is known by the first key of the object. */
static bool read_json(oif_text body, body_found *found, problem *why)
{
    const oif_text text = without_blanks(body);
    if (has_first_key(text, "\"resourceMetrics\"") || has_first_key(text, "\"resourceLogs\"") ||
        has_first_key(text, "\"resourceSpans\""))
        return problem_set(why, 415, BODY_OTLP_REMEDY, "OTLP is not read as JSON");
    found->kind = json_rows_are_lines(body) ? BODY_NDJSON : BODY_JSON;
    return true;
}

/* Comments may come first. */
static bool is_influx(oif_text text)
{
    while (text.bytes > 0 && *text.text == '#') {
        const char *newline = memchr(text.text, '\n', text.bytes), *end = text.text + text.bytes;
        text.text = newline ? newline + 1 : end;
        text.bytes = (size_t)(end - text.text);
        text = skip_blanks(text);
    }
    return text.bytes > 0 && influx_recognise(text.text, text.bytes);
}

static bool look(const body_claim *claim, oif_text body, body_found *found, problem *why)
{
    const oif_text text = without_blanks(body);
    found->is_guessed = claim->known == 0;
    if (claim->known > 0)
        found->kind = (body_kind)(claim->known - 1);
    else if (*text.text == '{' || *text.text == '[')
        return read_json(body, found, why);
    else if (has_binary(body))
        return problem_set(
            why, 415,
            "Name its type in Content-Type, or its format in the query. Send numbers "
            "as CSV or NDJSON.",
            "the body has bytes that are not text, and nothing says what they are");
    else if (begins(text, "# HELP ") || begins(text, "# TYPE "))
        found->kind = BODY_PROMETHEUS;
    else
        found->kind = is_influx(text) ? BODY_INFLUX : BODY_CSV;
    return true;
}

/* ---- By the type ---- */

static const struct known_type {
    const char *type;
    body_kind kind;
} known_types[] = {
    {"application/x-ndjson", BODY_NDJSON},
    {"application/ndjson", BODY_NDJSON},
    {"application/jsonl", BODY_NDJSON},
    {"application/x-jsonlines", BODY_NDJSON},
    {"text/csv", BODY_CSV},
    {"application/csv", BODY_CSV},
    {"text/tab-separated-values", BODY_CSV},
    {"application/openmetrics-text", BODY_PROMETHEUS},
};

/* Types that say nothing, and what curl sends by default. */
static const char *const open_types[] = {"text/plain", "application/octet-stream",
                                         "application/x-www-form-urlencoded"};

static bool is_open_type(const char *type)
{
    for (size_t i = 0; i < sizeof open_types / sizeof *open_types; i++)
        if (request_type_is(type, open_types[i]))
            return true;
    return !type || !*type;
}

static bool find_json(oif_text body, body_found *found, problem *why)
{
    const oif_text text = without_blanks(body);
    if (*text.text != '{' && *text.text != '[')
        return problem_set(why, 400, "Send an object, an array of objects, or an object per line.",
                           "the body is not JSON with rows in it");
    return read_json(body, found, why);
}

/* Both Prometheus and OpenTelemetry send it. */
static bool find_protobuf(const body_claim *claim, body_found *found, problem *why)
{
    const char *proto = strstr(claim->type, "proto=");
    found->kind = claim->protobuf;
    if (proto && strstr(proto, "prometheus.WriteRequest"))
        found->kind = BODY_REMOTE_WRITE;
    else if (proto && claim->protobuf != BODY_OTLP)
        return problem_set(why, 415,
                           "Send prometheus.WriteRequest, the default of protobuf_message in "
                           "prometheus.yml.",
                           "of Prometheus remote write, only version 1.0 is read");
    return found->kind != BODY_KINDS ||
           problem_set(why, 415,
                       "Send format=otlp or format=remote-write, or use /v1/metrics or "
                       "/api/v1/streams/NAME/write.",
                       "protobuf may be OTLP or Prometheus remote write");
}

/* False: the type is not known, and `why` is not set. */
static bool find_type(const char *type, body_found *found)
{
    for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++) {
        found->kind = known_types[i].kind;
        if (request_type_is(type, known_types[i].type))
            return true;
    }
    found->kind = BODY_PROMETHEUS;
    return request_type_is(type, "text/plain") && strstr(type, "version=0.0.4");
}

bool body_kind_find(const body_claim *claim, oif_text body, body_found *found, problem *why)
{
    *found = (body_found){.is_guessed = false};
    const bool is_protobuf = request_type_is(claim->type, "application/x-protobuf");
    if (!is_protobuf && without_blanks(body).bytes == 0)
        return problem_set(why, 400, "Send at least one row.", "the body is empty");
    if (claim->format)
        return find_word(claim->format, found, why);
    if (is_protobuf)
        return find_protobuf(claim, found, why);
    if (find_type(claim->type, found))
        return true;
    if (is_open_type(claim->type))
        return look(claim, body, found, why);
    if (request_type_is(claim->type, "application/json"))
        return find_json(body, found, why);
    return problem_set(
        why, 415, "Send Content-Type: application/x-ndjson, application/json or text/csv.",
        "this server does not read rows of the type \"%s\"", cut_name(claim->type).text);
}
