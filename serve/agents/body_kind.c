#include "body_kind.h"

#include "front/text/cut.h"
#include "json_rows.h"
#include "serve/http/request.h"

#include <stdio.h>
#include <string.h>

static const char *const words[BODY_KINDS] = {
    [BODY_CSV] = "csv", [BODY_NDJSON] = "ndjson", [BODY_JSON] = "json", [BODY_FLOAT64] = "raw"};

const char *body_kind_word(body_kind kind)
{
    return words[kind];
}

static bool find_word(const char *word, body_found *found, problem *why)
{
    char known[128] = "";
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

static oif_text without_blanks(oif_text body)
{
    if (body.bytes >= 3 && memcmp(body.text, "\xEF\xBB\xBF", 3) == 0)
        body = (oif_text){body.text + 3, body.bytes - 3};
    while (body.bytes > 0 && *body.text && strchr(" \t\r\n", *body.text)) {
        body.text++;
        body.bytes--;
    }
    return body;
}

static bool has_binary(oif_text body)
{
    enum { LOOK_BYTES = 4096 };
    return memchr(body.text, '\0', body.bytes < LOOK_BYTES ? body.bytes : LOOK_BYTES) != NULL;
}

static body_kind kind_of_json(oif_text body)
{
    return json_rows_are_lines(body) ? BODY_NDJSON : BODY_JSON;
}

static bool look(const body_claim *claim, oif_text body, body_found *found, problem *why)
{
    const oif_text text = without_blanks(body);
    found->is_guessed = true;
    if (text.bytes > 0 && (*text.text == '{' || *text.text == '[')) {
        found->kind = kind_of_json(body);
        return true;
    }
    if (has_binary(body))
        return problem_set(why, 415,
                           "Name its type in Content-Type, or its format in the query; raw float64 "
                           "numbers need columns=N.",
                           "the body has bytes that are not text, and nothing says what they are");
    found->kind = claim->known > 0 ? (body_kind)(claim->known - 1) : BODY_CSV;
    found->is_guessed = claim->known == 0;
    return true;
}

/* ---- By the type ---- */

typedef struct known_type {
    const char *type;
    body_kind kind;
} known_type;

static const known_type known_types[] = {
    {"application/x-ndjson", BODY_NDJSON},
    {"application/ndjson", BODY_NDJSON},
    {"application/jsonl", BODY_NDJSON},
    {"application/x-jsonlines", BODY_NDJSON},
    {"text/csv", BODY_CSV},
    {"application/csv", BODY_CSV},
    {"text/tab-separated-values", BODY_CSV},
    {"application/x-float64", BODY_FLOAT64},
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
    if (text.bytes > 0 && *text.text != '{' && *text.text != '[')
        return problem_set(why, 400, "Send an object, an array of objects, or an object per line.",
                           "the body is not JSON with rows in it");
    found->kind = kind_of_json(body);
    return true;
}

bool body_kind_find(const body_claim *claim, oif_text body, body_found *found, problem *why)
{
    *found = (body_found){.is_guessed = false};
    if (without_blanks(body).bytes == 0)
        return problem_set(why, 400, "Send at least one row.", "the body is empty");
    if (claim->format)
        return find_word(claim->format, found, why);
    if (request_type_is(claim->type, "application/octet-stream") && claim->has_columns) {
        found->kind = BODY_FLOAT64;
        return true;
    }
    if (is_open_type(claim->type))
        return look(claim, body, found, why);
    if (request_type_is(claim->type, "application/json"))
        return find_json(body, found, why);
    for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++) {
        found->kind = known_types[i].kind;
        if (request_type_is(claim->type, known_types[i].type))
            return true;
    }
    return problem_set(why, 415,
                       "Send Content-Type: application/x-ndjson, application/json or text/csv.",
                       "rows of the type %s are not read", cut_name(claim->type).text);
}
