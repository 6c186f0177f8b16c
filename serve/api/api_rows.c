#include "api.h"

#include "found_stream.h"
#include "front/text/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 0: detect it in the bytes. */
static bool find_format(const request *asked, int *format, problem *why)
{
    static const struct known_type {
        const char *type;
        int format;
    } known[] = {
        {"application/x-ndjson", 1 + OIF_FORMAT_NDJSON},
        {"application/ndjson", 1 + OIF_FORMAT_NDJSON},
        {"application/jsonl", 1 + OIF_FORMAT_NDJSON},
        {REPLY_JSON, 1 + OIF_FORMAT_NDJSON},
        {"text/csv", 1 + OIF_FORMAT_CSV},
        {"text/plain", 0},
        {"application/octet-stream", 0},
        {"application/x-www-form-urlencoded", 0}, /* curl's default */
    };
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    *format = 0;
    if (!type || !*type)
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (request_type_is(type, known[i].type)) {
            *format = known[i].format;
            return true;
        }
    }
    return problem_set(why, 415, "Send Content-Type: application/x-ndjson or text/csv.",
                       "rows of this Content-Type are not read");
}

/* If the headers say what the client wants, the query need not. */
static rows_answer_kind usual_answer(const request *asked)
{
    const char *prefer = asked->headers[HEADER_PREFER];
    if (prefer && strstr(prefer, "return=minimal"))
        return ANSWER_COUNT;
    return request_type_is(asked->headers[HEADER_ACCEPT], REPLY_JSON) ? ANSWER_COUNT
                                                                      : ANSWER_RESULTS;
}

static bool read_request(const request *asked, rows_request *rows, bool *may_create, problem *why)
{
    static const char *const answers[] = {"results", "alerts", "count"};
    size_t answer = usual_answer(asked);
    memset(rows, 0, sizeof *rows);
    *may_create = false;
    rows->body = asked->body;
    rows->bytes = asked->body_bytes;
    rows->has_first_row = request_find(asked, "first_row") != NULL;
    bool is_good = find_format(asked, &rows->format, why) &&
                   request_word(asked, "answer", answers, 3, &answer, why) &&
                   request_count(asked, "first_row", UINT64_C(1) << 62, &rows->first_row, why) &&
                   request_flag(asked, "durable", &rows->is_durable, why) &&
                   request_flag(asked, "create", may_create, why);
    rows->answer = (rows_answer_kind)answer;
    return is_good;
}

static void add_figures(reply *answer, const rows_answer *done)
{
    reply_add_header(answer, "Oif-Rows", "%" PRIu64, done->rows);
    reply_add_header(answer, "Oif-Saved", "%" PRIu64, done->saved);
    reply_add_header(answer, "Oif-Accepted", "%" PRIu64, done->accepted);
    reply_add_header(answer, "Oif-Skipped", "%" PRIu64, done->skipped);
    reply_add_header(answer, "Oif-Bad", "%" PRIu64, done->bad);
    reply_add_header(answer, "Oif-Alerts", "%" PRIu64, done->alerts);
}

static void print_count(const rows_answer *done)
{
    output_print("{\"rows\": %" PRIu64 ", \"saved\": %" PRIu64 ", \"accepted\": %" PRIu64
                 ", \"skipped\": %" PRIu64 ", \"alerts\": %" PRIu64 ", \"bad\": %" PRIu64 "}\n",
                 done->rows, done->saved, done->accepted, done->skipped, done->alerts, done->bad);
}

static void score(stream *one, const rows_request *rows, reply *answer)
{
    rows_answer done = {0};
    problem why;
    reply_begin();
    bool is_good = stream_rows(one, rows, &done, &why);
    if (is_good && rows->answer == ANSWER_COUNT)
        print_count(&done);
    const char *type = rows->answer == ANSWER_COUNT ? REPLY_JSON
                       : done.is_csv                ? "text/csv; charset=utf-8"
                                                    : "application/x-ndjson";
    reply_end(answer, 200, type);
    if (!is_good) {
        reply_free(answer);
        reply_problem(answer, &why);
    }
    add_figures(answer, &done);
}

/* The host by which the client reached this server, if it can be pasted into a shell. */
static const char *host_of(const request *asked)
{
    const char *host = asked->headers[HEADER_HOST];
    bool is_plain = host && *host && strlen(host) < 100 &&
                    host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789.:-[]")] == '\0';
    return is_plain ? host : "127.0.0.1:8571";
}

static bool refuse_missing(const request *asked, problem *why)
{
    if (!check_stream_name(stream_name_of(asked), why))
        return false;
    refuse_missing_stream(why, NULL);
    snprintf(why->remedy, sizeof why->remedy,
             "Add ?create=true for usual settings, or: curl -X PUT -d '{\"key\": \"host\"}' "
             "http%s://%s/api/v1/streams/%s",
             asked->is_encrypted ? "s" : "", host_of(asked), stream_name_of(asked));
    return false;
}

/* Another client may create it at the same time, with other settings. */
static stream *create_stream(streams *all, const char *name, problem *why)
{
    stream *made = NULL;
    bool is_new;
    if (check_stream_name(name, why) && !streams_create(all, name, NULL, &made, &is_new, why))
        made = streams_find(all, name);
    return made;
}

void api_post_rows(app *served, const request *asked, reply *answer)
{
    streams *all = found_streams(served, answer);
    stream *one = NULL;
    rows_request rows;
    bool may_create;
    problem why;
    if (!all)
        return;
    if (read_request(asked, &rows, &may_create, &why)) {
        one = streams_find(all, stream_name_of(asked));
        if (!one && may_create)
            one = create_stream(all, stream_name_of(asked), &why);
        else if (!one)
            refuse_missing(asked, &why);
    }
    if (!one) {
        reply_problem(answer, &why);
        return;
    }
    score(one, &rows, answer);
    stream_release(one);
}

void api_post_explain(app *served, const request *asked, reply *answer)
{
    stream *one = found_stream(served, asked, answer);
    const request_parameter *key = request_find(asked, "key");
    explain_request row = {.body = asked->body, .bytes = asked->body_bytes};
    problem why;
    if (!one)
        return;
    if (key) {
        row.key = key->value;
        row.key_bytes = key->value_bytes;
    }
    if (find_format(asked, &row.format, &why)) {
        reply_begin();
        bool is_good = stream_write_explanation(one, &row, &why);
        output_write("\n", 1);
        reply_end_or_problem(answer, is_good, &why);
    } else {
        reply_problem(answer, &why);
    }
    stream_release(one);
}
