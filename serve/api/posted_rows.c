#include "posted_rows.h"

#include "front/text/output.h"
#include "serve/agents/json_rows.h"
#include "serve/base/background.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

posted_rows posted_rows_begin(api_call *call)
{
    return (posted_rows){
        .call = call, .settings = json_object(), .per_second = 1e9, .protobuf = BODY_KINDS};
}

void posted_rows_end(posted_rows *posted)
{
    json_decref(posted->settings);
    free(posted->text);
}

bool posted_rows_read_setting(posted_rows *posted, const char *name, problem *why)
{
    const char *text = NULL;
    if (!request_text(posted->call->asked, name, &text, why))
        return false;
    return !text || json_object_set_new(posted->settings, name, json_string(text)) == 0 ||
           problem_set(why, 400, "Send it as UTF-8.", "%s: the name of a column is text", name);
}

bool posted_rows_read_precision(posted_rows *posted, problem *why)
{
    static const char *const words[] = {"ns", "n", "us", "u", "ms", "s", "m", "h"};
    static const double per_second[] = {1e9, 1e9, 1e6, 1e6, 1e3, 1, 1.0 / 60, 1.0 / 3600};
    size_t position = 0;
    if (!request_word(posted->call->asked, "precision", words, 8, &position, why))
        return false;
    posted->per_second = per_second[position];
    return true;
}

/* ---- The body ---- */

static oif_text body_of(const posted_rows *posted)
{
    return (oif_text){posted->call->asked->body, posted->call->asked->body_bytes};
}

static bool find_kind(posted_rows *posted, int known, problem *why)
{
    const request *asked = posted->call->asked;
    const body_claim claim = {.format = posted->format,
                              .type = asked->headers[HEADER_CONTENT_TYPE],
                              .protobuf = posted->protobuf,
                              .known = known};
    return body_kind_find(&claim, body_of(posted), &posted->found, why);
}

/* By the settings of the stream; those of a new one are completed first. */
static bool write_samples(posted_rows *posted, stream *one, problem *why)
{
    const agent_body sent = {.kind = posted->found.kind,
                             .bytes = body_of(posted),
                             .now_seconds = background_wall_seconds(),
                             .per_second = posted->per_second,
                             .limit_bytes = posted->call->served->max_body_bytes};
    sample_rule rule;
    if (!one && !agent_body_settle(&sent, posted->settings, why))
        return false;
    json_t *settings = one ? stream_copy_settings(one) : json_incref(posted->settings);
    bool is_good = sample_rule_open(&rule, settings, why) &&
                   agent_body_write(&sent, &rule, &posted->report, why);
    sample_rule_close(&rule);
    json_decref(settings);
    return is_good;
}

bool posted_rows_translate(posted_rows *posted, stream *one, problem *why)
{
    rows_request *rows = &posted->rows;
    size_t bytes;
    if (!find_kind(posted, one ? stream_format(one) : 0, why))
        return false;
    const body_kind kind = posted->found.kind;
    rows->body = body_of(posted).text;
    rows->bytes = body_of(posted).bytes;
    rows->must_have_row = posted->found.is_guessed;
    rows->format = posted->found.is_guessed ? 0 : 1 + (int)kind;
    if (kind == BODY_CSV || kind == BODY_NDJSON)
        return true;
    output_divert();
    bool is_good =
        kind == BODY_JSON ? json_rows_write(body_of(posted), why) : write_samples(posted, one, why);
    posted->text = output_diverted(&bytes);
    if (is_good && !posted->text && bytes > 0)
        return problem_set(why, 503, NULL, "out of memory");
    rows->body = posted->text;
    rows->bytes = bytes;
    rows->format = 1 + OIF_FORMAT_NDJSON;
    rows->may_wait = body_kind_is_sampled(kind);
    return is_good;
}

/* ---- The stream ---- */

/* The host by which the client reached this server, if it can be pasted into a shell. */
static const char *host_of(const request *asked)
{
    const char *host = asked->headers[HEADER_HOST];
    bool is_plain = host && *host && strlen(host) < 100 &&
                    host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789.:-[]")] == '\0';
    return is_plain ? host : "127.0.0.1:8571";
}

static bool refuse_missing(const api_call *call, problem *why)
{
    if (!api_check_name(call, why))
        return false;
    problem_set(why, 404, NULL, "there is no stream of this name");
    snprintf(why->remedy, sizeof why->remedy,
             "Add ?create=true for usual settings, or: curl -X PUT -d '{\"key\": \"host\"}' "
             "http%s://%s/api/v1/streams/%s",
             call->asked->is_encrypted ? "s" : "", host_of(call->asked), api_stream_name(call));
    return false;
}

/* Another client may create it at the same time, with other settings. */
static bool find_or_create(posted_rows *posted, problem *why)
{
    api_call *call = posted->call;
    const char *name = api_stream_name(call);
    if (call->one)
        return true;
    if (!api_check_name(call, why))
        return false;
    if (!streams_create_for_rows(call->all, name, posted->settings, &call->one, why))
        call->one = streams_find(call->all, name);
    call->is_change = call->one != NULL;
    return call->one != NULL;
}

/* ---- Scoring ---- */

/* Samples that a rule leaves out are understood. Without rows of them there is nothing to score. */
static bool check_samples(const posted_rows *posted, problem *why)
{
    const uint64_t *left = posted->report.samples.left;
    uint64_t sum = 0;
    for (int i = 0; i < LEFT_OUT_COUNT; i++)
        sum += left[i];
    if (posted->report.bad > 0) {
        *why = posted->report.first_bad;
        return false;
    }
    if (sum == 0 && posted->must_have_sample)
        return problem_set(why, 400, "Send at least one number.", "the body has no sample");
    return left[LEFT_TEXT] + left[LEFT_TOO_LONG] + left[LEFT_UNKNOWN] == 0 ||
           problem_set(why, 400, "Send at least one number.",
                       "none of the samples can be used: text %" PRIu64 ", too long %" PRIu64
                       ", unknown %" PRIu64,
                       left[LEFT_TEXT], left[LEFT_TOO_LONG], left[LEFT_UNKNOWN]);
}

bool posted_rows_check_bad(const posted_rows *posted, problem *why)
{
    const agent_report *report = &posted->report;
    if (report->bad == 0)
        return true;
    *why = report->first_bad;
    snprintf(why->remedy, sizeof why->remedy,
             "%" PRIu64 " of this kind left out; the other samples were taken, %" PRIu64 " rows.",
             report->bad, posted->done.accepted);
    why->has_rows = true;
    why->rows = posted->done.rows;
    return false;
}

/* An agent sends a body again if it got no answer. All samples have times, so the same bytes are
 * the same samples. */
static void expect_repetition(posted_rows *posted)
{
    const oif_text bytes = body_of(posted);
    if (!posted->rows.has_first_row)
        posted->rows.digest = digest_text(bytes.text, bytes.bytes, posted->digest);
}

static bool take(posted_rows *posted, problem *why)
{
    api_call *call = posted->call;
    call->one = streams_find(call->all, api_stream_name(call));
    if (!call->one && !posted->may_create)
        return refuse_missing(call, why);
    if (call->one && !stream_check_settings(call->one, posted->settings, why))
        return false;
    if (!posted_rows_translate(posted, call->one, why))
        return false;
    if (body_kind_is_sampled(posted->found.kind) && posted->report.samples.rows == 0)
        return check_samples(posted, why);
    if (!find_or_create(posted, why))
        return false;
    if (body_kind_is_sampled(posted->found.kind) && posted->report.has_times)
        expect_repetition(posted);
    posted->is_scored = true;
    return stream_rows(call->one, &posted->rows, &posted->done, why);
}

bool posted_rows_take(posted_rows *posted, problem *why)
{
    api_call *call = posted->call;
    if (!api_find_streams(call, why))
        return false;
    bool is_good = take(posted, why);
    if (is_good || !call->one)
        return is_good;
    stream_release(call->one);
    call->one = NULL;
    streams_drop_provisional(call->all);
    return false;
}
