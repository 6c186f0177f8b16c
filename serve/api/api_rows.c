#include "api.h"

#include "front/text/output.h"
#include "posted_rows.h"

#include <inttypes.h>
#include <string.h>

/* ---- The request ---- */

/* If the headers say what the client wants, the query need not. */
static rows_answer_kind usual_answer(const request *asked)
{
    const char *prefer = asked->headers[HEADER_PREFER];
    if (prefer && strstr(prefer, "return=minimal"))
        return ANSWER_COUNT;
    return request_type_is(asked->headers[HEADER_ACCEPT], REPLY_JSON) ? ANSWER_COUNT
                                                                      : ANSWER_RESULTS;
}

static bool check_writer(const char *name, problem *why)
{
    enum { WRITER_BYTES_MAX = 200 };
    const size_t bytes = strlen(name);
    for (size_t i = 0; i < bytes; i++)
        if (name[i] < ' ' || name[i] > '~')
            return problem_set(why, 400, NULL, "writer: expected printable ASCII");
    return (bytes > 0 && bytes <= WRITER_BYTES_MAX) ||
           problem_set(why, 400, NULL, "writer: expected 1 to %d bytes", WRITER_BYTES_MAX);
}

static bool read_sender(const request *asked, rows_request *rows, problem *why)
{
    rows->has_first_row = request_find(asked, "first_row") != NULL;
    if (!request_count(asked, "first_row", UINT64_C(1) << 62, &rows->first_row, why) ||
        !request_text(asked, "writer", &rows->writer, why) ||
        (rows->writer && !check_writer(rows->writer, why)))
        return false;
    return !rows->writer || rows->has_first_row ||
           problem_set(why, 400, "Add first_row, the number of the first row of the batch.",
                       "writer: the rows of a writer need numbers");
}

static bool read_request(const request *asked, posted_rows *posted, problem *why)
{
    static const char *const answers[] = {"results", "alerts", "count"};
    rows_request *rows = &posted->rows;
    size_t answer = usual_answer(asked);
    bool is_good =
        request_word(asked, "answer", answers, 3, &answer, why) && read_sender(asked, rows, why) &&
        request_flag(asked, "durable", &rows->is_durable, why) &&
        request_flag(asked, "create", &posted->may_create, why) &&
        request_text(asked, "format", &posted->format, why) &&
        posted_rows_read_precision(posted, why) && posted_rows_read_setting(posted, "key", why) &&
        posted_rows_read_setting(posted, "time", why);
    rows->answer = (rows_answer_kind)answer;
    return is_good;
}

/* ---- The answer ---- */

static const char header_note[] = "only a header came; rows may follow without it";

static void add_figures(reply *answer, const posted_rows *posted)
{
    const rows_answer *done = &posted->done;
    char left[AGENT_REPORT_BYTES];
    if (agent_report_text(&posted->report, left))
        reply_add_header(answer, "Oif-Left-Out", "%s", left);
    if (!posted->is_scored)
        return;
    reply_add_header(answer, "Oif-Rows", "%" PRIu64, done->rows);
    reply_add_header(answer, "Oif-Saved", "%" PRIu64, done->saved);
    reply_add_header(answer, "Oif-Accepted", "%" PRIu64, done->accepted);
    reply_add_header(answer, "Oif-Skipped", "%" PRIu64, done->skipped);
    if (done->has_writer)
        reply_add_header(answer, "Oif-Writer-Rows", "%" PRIu64, done->writer_rows);
    reply_add_header(answer, "Oif-Bad", "%" PRIu64, done->bad);
    reply_add_header(answer, "Oif-Alerts", "%" PRIu64, done->alerts);
    if (done->waiting > 0)
        reply_add_header(answer, "Oif-Waiting", "%" PRIu64, done->waiting);
    if (done->is_a_header)
        reply_add_header(answer, "Oif-Note", "%s", header_note);
}

static void print_count(const posted_rows *posted)
{
    const rows_answer *done = &posted->done;
    output_print("{\"rows\": %" PRIu64 ", \"saved\": %" PRIu64 ", \"accepted\": %" PRIu64
                 ", \"skipped\": %" PRIu64 ", \"alerts\": %" PRIu64 ", \"bad\": %" PRIu64,
                 done->rows, done->saved, done->accepted, done->skipped, done->alerts, done->bad);
    if (done->has_writer)
        output_print(", \"writer_rows\": %" PRIu64, done->writer_rows);
    if (done->waiting > 0)
        output_print(", \"waiting\": %" PRIu64, done->waiting);
    if (done->is_a_header)
        output_print(", \"note\": \"%s\"", header_note);
    agent_report_write(&posted->report);
    output_print("}\n");
}

bool api_post_rows(api_call *call, problem *why)
{
    posted_rows posted = posted_rows_begin(call);
    posted.must_have_sample = true;
    bool is_good = read_request(call->asked, &posted, why) && posted_rows_take(&posted, why) &&
                   posted_rows_check_bad(&posted, why);
    const bool is_counted = posted.rows.answer == ANSWER_COUNT;
    if (is_good && is_counted)
        print_count(&posted);
    call->type = is_counted           ? REPLY_JSON
                 : posted.done.is_csv ? "text/csv; charset=utf-8"
                                      : "application/x-ndjson";
    add_figures(call->answer, &posted);
    posted_rows_end(&posted);
    return is_good;
}
