#include "prometheus_pull.h"

#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/output.h"
#include "prometheus_rows.h"
#include "serve/base/background.h"
#include "serve/http/http_client.h"
#include "serve/stream/stream_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double query_seconds_max = 30, retry_seconds_max = 10;

/* Of a step of the past that Prometheus answers with an error. */
enum { PAST_ATTEMPTS_MAX = 3, STATUS_UNREACHABLE = 503 };

/* The work of one thread. */
typedef struct pull_worker {
    const prometheus_config *prometheus;
    const pull_config *config;
    streams *all;
    sample_rule rule;
    http_client *client;
    background beside;
    bool is_started;
    bool is_left_out_said; /* used only by the thread */

    pthread_mutex_t lock; /* protects the figures */
    pull_figures figures;
} pull_worker;

struct pull {
    pull_worker *workers;
    size_t count;
};

/* ---- One query ---- */

static char *query_form(const char *query, double at, double timeout_seconds)
{
    char number[40];
    char *form = http_form_add(NULL, "query", query);
    snprintf(number, sizeof number, "%.3f", at);
    form = form ? http_form_add(form, "time", number) : NULL;
    snprintf(number, sizeof number, "%.3f", timeout_seconds);
    return form ? http_form_add(form, "timeout", number) : NULL;
}

/* The answer as JSON, whatever its status; NULL: `why` has the cause. */
static json_t *ask(pull_worker *worker, const char *query, double at, problem *why)
{
    http_answer answer;
    double step = worker->config->step_seconds;
    double timeout_seconds = step < query_seconds_max ? step : query_seconds_max;
    char *form = query_form(query, at, timeout_seconds);
    if (!form) {
        problem_set(why, 500, NULL, "out of memory");
        return NULL;
    }
    bool is_answered =
        http_client_post(worker->client, "/api/v1/query", "application/x-www-form-urlencoded", form,
                         strlen(form), timeout_seconds, &answer);
    free(form);
    json_t *parsed = is_answered && answer.body
                         ? json_loadb(answer.body, answer.bytes, JSON_ALLOW_NUL, NULL)
                         : NULL;
    const char *body = answer.body ? answer.body : "";
    if (!is_answered)
        problem_set(why, STATUS_UNREACHABLE, NULL, "%s", answer.message);
    else if (!parsed)
        problem_set(why, STATUS_UNREACHABLE, NULL, "answers %ld: %.*s", answer.status,
                    (int)cut_bytes(body, strlen(body), 100), body);
    http_answer_close(&answer);
    return parsed;
}

/* ---- One step ---- */

/* Runs all queries or none: rows that lack a whole column would be misleading. */
static bool ask_all(pull_worker *worker, samples *taken, double at, problem *why)
{
    const char *column;
    json_t *query;
    json_object_foreach(worker->config->queries, column, query) {
        problem cause;
        json_t *answer = ask(worker, json_string_value(query), at, &cause);
        bool is_added = answer && prometheus_rows_add(taken, column, at, answer, &cause);
        json_decref(answer);
        if (!is_added)
            return problem_set(
                why, cause.status, NULL, "the query of '%s': %.*s", cut_name(column).text,
                (int)cut_bytes(cause.message, strlen(cause.message), 800), cause.message);
    }
    return true;
}

static bool process(pull_worker *worker, const char *body, size_t bytes, problem *why)
{
    stream *one = streams_find(worker->all, worker->config->stream.name);
    if (!one)
        return problem_set(why, 404, NULL, "the stream was removed; restart oif to make it again");
    rows_answer answer;
    const rows_request request = {
        .body = body, .bytes = bytes, .format = 1 + OIF_FORMAT_NDJSON, .answer = ANSWER_COUNT};
    bool is_processed = stream_rows(one, &request, &answer, why);
    stream_release(one);
    return is_processed;
}

static bool pass_on(pull_worker *worker, samples *taken, problem *why)
{
    size_t bytes, ignored;
    output_divert();
    bool is_good = samples_write(taken, SIZE_MAX, why);
    char *body = output_diverted(&bytes);
    if (is_good && samples_counted(taken)->rows > 0) {
        output_divert();
        is_good =
            body ? process(worker, body, bytes, why) : problem_set(why, 500, NULL, "out of memory");
        free(output_diverted(&ignored));
    }
    free(body);
    return is_good;
}

static void say_left_out(pull_worker *worker, const sample_counts *counts)
{
    const uint64_t beyond = counts->left[LEFT_TOO_LONG], repeated = counts->left[LEFT_REPEATED];
    if (worker->is_left_out_said || beyond + repeated == 0)
        return;
    worker->is_left_out_said = true;
    if (beyond > 0)
        note("stream %s: %" PRIu64 " series are left out: the queries make more than %" PRIu64
             " keys; set max-keys, or ask for fewer series",
             worker->config->stream.name, beyond, counts->rows);
    if (repeated > 0)
        note("stream %s: %" PRIu64 " series are left out: another series of the same query has the "
             "same key; add a label that distinguishes them to \"key\"",
             worker->config->stream.name, repeated);
}

static void count_left_out(pull_worker *worker, const sample_counts *counts)
{
    say_left_out(worker, counts);
    pthread_mutex_lock(&worker->lock);
    worker->figures.left_out += counts->left[LEFT_TOO_LONG] + counts->left[LEFT_REPEATED];
    pthread_mutex_unlock(&worker->lock);
}

static bool take_step(pull_worker *worker, double at, problem *why)
{
    samples *taken = samples_new(&worker->rule);
    if (!taken)
        return problem_set(why, 500, NULL, "out of memory");
    bool is_taken = ask_all(worker, taken, at, why) && pass_on(worker, taken, why);
    if (is_taken)
        count_left_out(worker, samples_counted(taken));
    samples_free(taken);
    return is_taken;
}

/* ---- Steps ---- */

static void report_attempt(pull_worker *worker, bool is_taken, const problem *why)
{
    char host[HTTP_HOST_BYTES];
    http_host_text(worker->prometheus->url, host);
    pthread_mutex_lock(&worker->lock);
    bool was_failing = worker->figures.is_failing;
    worker->figures.is_failing = !is_taken;
    pthread_mutex_unlock(&worker->lock);
    if (!is_taken && !was_failing)
        note("Prometheus %s: stream %s: %s; it is asked again", host, worker->config->stream.name,
             why->message);
    if (is_taken && was_failing)
        note("Prometheus %s: stream %s: answers again", host, worker->config->stream.name);
}

/* Retries until it succeeds or the next step is due. */
static void take_step_or_retry(pull_worker *worker, double at)
{
    double pause_seconds = 1, next = at + worker->config->step_seconds;
    for (;;) {
        problem why = {0};
        bool is_taken = take_step(worker, at, &why);
        if (atomic_load(&worker->beside.is_stopped))
            return;
        report_attempt(worker, is_taken, &why);
        if (is_taken || background_wall_seconds() + pause_seconds >= next ||
            !background_wait(&worker->beside, pause_seconds))
            return;
        pause_seconds = fmin(2 * pause_seconds, retry_seconds_max);
    }
}

/* ---- The past ---- */

static void take_last(void *context, const stream_key *key)
{
    double *last = context;
    *last = fmax(*last, key->last_seen); /* of NaN and a number, the number */
}

/* The time of the latest row; NaN: there is none. */
static double last_time(const pull_worker *worker)
{
    double last = NAN;
    stream *one = streams_find(worker->all, worker->config->stream.name);
    if (!one)
        return NAN;
    stream_each_key(one, SIZE_MAX, take_last, &last);
    stream_release(one);
    return last;
}

/* Retries as long as Prometheus cannot be reached; a step that it cannot answer is missed. Returns
 * false if the thread must end. */
static bool take_past_step(pull_worker *worker, double at)
{
    double pause_seconds = 1;
    for (unsigned errors = 0; errors < PAST_ATTEMPTS_MAX;) {
        problem why = {0};
        const bool is_taken = take_step(worker, at, &why);
        if (atomic_load(&worker->beside.is_stopped))
            return false;
        report_attempt(worker, is_taken, &why);
        if (is_taken)
            return true;
        errors += why.status != STATUS_UNREACHABLE;
        if (errors < PAST_ATTEMPTS_MAX && !background_wait(&worker->beside, pause_seconds))
            return false;
        pause_seconds = fmin(2 * pause_seconds, retry_seconds_max);
    }
    return true;
}

/* Returns the number of the next step. */
static double fill_past(pull_worker *worker)
{
    const double step = worker->config->step_seconds, last = last_time(worker);
    double number = ceil((background_wall_seconds() - worker->config->past_seconds) / step);
    if (!isnan(last))
        number = fmax(number, floor(last / step + 0.5) + 1);
    const double first = number;
    while (number * step <= background_wall_seconds() && take_past_step(worker, number * step))
        number++;
    if (number > first)
        note("stream %s: has taken %.0f steps of the past", worker->config->stream.name,
             number - first);
    return number;
}

/* ---- The present ---- */

/* Steps are at multiples of their length, so they agree across streams and restarts. */
static void *run(void *context)
{
    pull_worker *worker = context;
    double step = worker->config->step_seconds;
    double number = worker->config->past_seconds > 0 ? fill_past(worker)
                                                     : ceil(background_wall_seconds() / step);
    while (background_wait(&worker->beside, number * step - background_wall_seconds())) {
        double wall = background_wall_seconds();
        if (wall < number * step) { /* the clock was set back, or the wait was slightly short */
            number = ceil(wall / step);
            continue;
        }
        take_step_or_retry(worker, number * step);
        number = floor(background_wall_seconds() / step) + 1;
    }
    return NULL;
}

/* ---- Lifecycle ---- */

static bool start_worker(pull_worker *worker, problem *why)
{
    const prometheus_config *prometheus = worker->prometheus;
    json_t *settings = worker->config->stream.settings;
    if (!sample_rule_open(&worker->rule, settings, why))
        return false;
    worker->rule.keys_max = stream_settings_keys_max(settings);
    worker->rule.keeps_missing = true;
    worker->figures.stream = worker->config->stream.name;
    worker->client =
        http_client_new(prometheus->url, prometheus->token_file, &worker->beside.is_stopped);
    int failure = worker->client ? background_start(&worker->beside, run, worker) : ENOMEM;
    worker->is_started = failure == 0;
    return worker->is_started || problem_set(why, 500, NULL, "stream %s: no thread: %s",
                                             worker->config->stream.name, strerror(failure));
}

bool pull_start(const prometheus_config *config, streams *all, pull **started, problem *why)
{
    *started = NULL;
    pull *puller = calloc(1, sizeof *puller);
    pull_worker *workers = calloc(config->stream_count + 1, sizeof *workers);
    if (!puller || !workers) {
        free(puller);
        free(workers);
        return problem_set(why, 500, NULL, "out of memory");
    }
    *puller = (pull){workers, config->stream_count};
    for (size_t i = 0; i < puller->count; i++) {
        workers[i] = (pull_worker){.prometheus = config, .config = &config->streams[i], .all = all};
        pthread_mutex_init(&workers[i].lock, NULL);
    }
    for (size_t i = 0; i < puller->count; i++)
        if (!start_worker(&workers[i], why)) {
            pull_stop(puller);
            return false;
        }
    *started = puller;
    return true;
}

void pull_stop(pull *puller)
{
    if (!puller)
        return;
    for (size_t i = 0; i < puller->count; i++) /* running requests end together */
        atomic_store(&puller->workers[i].beside.is_stopped, true);
    for (size_t i = 0; i < puller->count; i++) {
        pull_worker *worker = &puller->workers[i];
        if (worker->is_started)
            background_stop(&worker->beside);
        http_client_free(worker->client);
        sample_rule_close(&worker->rule);
        pthread_mutex_destroy(&worker->lock);
    }
    free(puller->workers);
    free(puller);
}

void pull_each(pull *puller, void (*visit)(void *context, const pull_figures *figures),
               void *context)
{
    for (size_t i = 0; i < puller->count; i++) {
        pull_worker *worker = &puller->workers[i];
        pthread_mutex_lock(&worker->lock);
        pull_figures figures = worker->figures;
        pthread_mutex_unlock(&worker->lock);
        visit(context, &figures);
    }
}
