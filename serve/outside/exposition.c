#include "exposition.h"

#include "front/results/result_fields.h"
#include "front/text/output.h"
#include "serve/base/background.h"
#include "serve/stream/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct stream_series {
    char name[STREAM_NAME_BYTES];
    stream_figures figures;
} stream_series;

/* All lines of a metric must be adjacent, so everything is collected first. */
typedef struct collected {
    stream_series *streams;
    size_t count, capacity;
    bool is_short; /* out of memory */
} collected;

/* ---- Collecting ---- */

static bool make_room(collected *all)
{
    if (all->count < all->capacity)
        return true;
    size_t capacity = 2 * all->capacity + 16;
    stream_series *larger = realloc(all->streams, capacity * sizeof *larger);
    if (!larger)
        return false;
    all->streams = larger;
    all->capacity = capacity;
    return true;
}

static void take_stream(void *context, stream *visited)
{
    collected *all = context;
    if (!make_room(all)) {
        all->is_short = true;
        return;
    }
    stream_series *one = &all->streams[all->count++];
    stream_get_figures(visited, &one->figures);
    snprintf(one->name, sizeof one->name, "%s", stream_name(visited));
}

/* ---- Text ---- */

/* The lines before the values. */
static void write_head(const char *name, const char *type, const char *help)
{
    output_print("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* The end of a line. */
static void write_value(double value)
{
    output_text(" ");
    if (isfinite(value))
        output_number(value);
    else
        output_text(isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    output_text("\n");
}

/* A metric without labels. */
static void write_single(const char *name, const char *type, const char *help, double value)
{
    write_head(name, type, help);
    output_print("%s", name);
    write_value(value);
}

/* Names of streams need no escapes. */
static void write_of_stream(const char *metric, const char *name, double value)
{
    output_print("%s{stream=\"%s\"}", metric, name);
    write_value(value);
}

/* ---- Each stream ---- */

typedef struct stream_metric {
    const char *name, *type, *help;
    double (*value)(const stream_series *one);
} stream_metric;

#define FIGURE(member)                                                                             \
    static double member##_of(const stream_series *one)                                            \
    {                                                                                              \
        return (double)one->figures.member;                                                        \
    }

FIGURE(rows)
FIGURE(bad_rows)
FIGURE(episodes_open)
FIGURE(keys)
FIGURE(rows_without_model)
FIGURE(memory_bytes)
FIGURE(trend_lost)
FIGURE(failed_saves)

static double last_row_age_of(const stream_series *one)
{
    return background_wall_seconds() - one->figures.last_row_at;
}

static const stream_metric stream_metrics[] = {
    {"oif_rows_total", "counter", "Rows scored.", rows_of},
    {"oif_bad_rows_total", "counter", "Rows that could not be read.", bad_rows_of},
    {"oif_episodes_open", "gauge", "Open episodes of alerts.", episodes_open_of},
    {"oif_keys", "gauge", "Keys with a model.", keys_of},
    {"oif_rows_without_model_total", "counter", "Rows of keys for which there was no room.",
     rows_without_model_of},
    {"oif_memory_bytes", "gauge", "Memory of the models.", memory_bytes_of},
    {"oif_history_lost_total", "counter", "Buckets of hours and days that could not be written.",
     trend_lost_of},
    {"oif_last_row_age_seconds", "gauge", "Time since the latest row arrived.", last_row_age_of},
    {"oif_failed_saves_total", "counter", "Snapshots that could not be written.", failed_saves_of},
};

static void write_stream_metric(const collected *all, const stream_metric *metric)
{
    write_head(metric->name, metric->type, metric->help);
    for (size_t i = 0; i < all->count; i++) {
        const stream_series *one = &all->streams[i];
        write_of_stream(metric->name, one->name, metric->value(one));
    }
}

static void write_alerts(const collected *all)
{
    write_head("oif_alerts_total", "counter", "Anomalous rows.");
    for (size_t i = 0; i < all->count; i++)
        for (oif_grade grade = OIF_GRADE_NOTE; grade <= OIF_GRADE_CRITICAL; grade++) {
            const stream_series *one = &all->streams[i];
            output_print("oif_alerts_total{stream=\"%s\",grade=\"%s\"} %" PRIu64 "\n", one->name,
                         grade_word(grade), one->figures.alerts[grade]);
        }
}

/* A series for each state, so a rule can name one: oif_stream_state{state="no data"} == 1. */
static void write_states(const collected *all)
{
    write_head("oif_stream_state", "gauge", "1 for the state that the stream is in.");
    for (size_t i = 0; i < all->count; i++)
        for (int state = WATCH_QUIET; state < WATCH_STATES; state++) {
            const stream_series *one = &all->streams[i];
            output_print("oif_stream_state{stream=\"%s\",state=\"%s\"} %d\n", one->name,
                         watch_words[state], (int)one->figures.state.what == state);
        }
}

/* ---- All streams together ---- */

/* `counts` are per bucket, not cumulative; the last bucket has no bound. */
static void write_histogram(const char *name, const uint64_t *counts, const double *bounds,
                            size_t buckets, double seconds)
{
    uint64_t up_to = 0;
    for (size_t i = 0; i < buckets; i++) {
        char bound[OIF_NUMBER_TEXT_BYTES];
        up_to += counts[i];
        if (i + 1 < buckets)
            output_print("%s_bucket{le=\"%.*s\"} %" PRIu64 "\n", name,
                         (int)oif_number_format(bounds[i], bound), bound, up_to);
    }
    output_print("%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum", name, up_to, name);
    write_value(seconds);
    output_print("%s_count %" PRIu64 "\n", name, up_to);
}

static void write_incidents(streams *all)
{
    write_single("oif_incidents_open", "gauge", "Open incidents.",
                 (double)streams_open_incidents(all));
}

static void write_streams(const collected *all)
{
    for (size_t i = 0; i < sizeof stream_metrics / sizeof *stream_metrics; i++)
        write_stream_metric(all, &stream_metrics[i]);
    write_states(all);
    write_alerts(all);
}

/* ---- Alertmanager and Prometheus ---- */

static void write_receivers(const exposition_sources *sources)
{
    if (sources->sender) {
        write_single("oif_alertmanager_queue", "gauge", "Episodes that wait to be sent.",
                     (double)alertmanager_waiting(sources->sender));
        write_single("oif_alertmanager_up", "gauge", "0 if the latest request failed.",
                     !alertmanager_is_failing(sources->sender));
    }
    if (sources->hook) {
        write_single("oif_webhook_queue", "gauge", "Records that wait to be sent.",
                     (double)webhook_waiting(sources->hook));
        write_single("oif_webhook_up", "gauge", "0 if the latest request failed.",
                     !webhook_is_failing(sources->hook));
    }
}

static void write_left_out(void *context, const pull_figures *figures)
{
    (void)context;
    write_of_stream("oif_pull_left_out_total", figures->stream, (double)figures->left_out);
}

static void write_up(void *context, const pull_figures *figures)
{
    (void)context;
    write_of_stream("oif_pull_up", figures->stream, !figures->is_failing);
}

static void write_pulls(pull *puller)
{
    write_head("oif_pull_left_out_total", "counter",
               "Samples of Prometheus in no row: too many keys, or one key twice.");
    pull_each(puller, write_left_out, NULL);
    write_head("oif_pull_up", "gauge", "0 if the latest query of Prometheus failed.");
    pull_each(puller, write_up, NULL);
}

/* ---- Requests ---- */

static void write_requests(request_figures *requests)
{
    uint64_t counts[REQUEST_BUCKETS];
    write_head("oif_http_requests_total", "counter", "Requests that were answered.");
    for (int status = 0; status < REQUEST_STATUSES; status++) {
        uint64_t count = atomic_load(&requests->by_status[status]);
        if (count > 0)
            output_print("oif_http_requests_total{code=\"%d\"} %" PRIu64 "\n", status, count);
    }
    for (size_t i = 0; i < REQUEST_BUCKETS; i++)
        counts[i] = atomic_load(&requests->buckets[i]);
    write_head("oif_http_request_seconds", "histogram",
               "Time from the last byte of a request to its answer.");
    write_histogram("oif_http_request_seconds", counts, request_bounds, REQUEST_BUCKETS,
                    (double)atomic_load(&requests->nanoseconds) * 1e-9);
}

/* ---- The process ---- */

/* 0 if there is no /proc. */
static double resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void write_process(void)
{
    double resident = resident_bytes();
    if (resident > 0)
        write_single("process_resident_memory_bytes", "gauge", "Memory of the process.", resident);
    write_head("oif_build_info", "gauge", "The version that runs.");
    output_print("oif_build_info{version=\"%s\"} 1\n", oif_version());
}

bool exposition_write(const exposition_sources *sources, request_figures *requests)
{
    collected all = {.count = 0};
    if (sources->all) {
        streams_each(sources->all, take_stream, &all);
        if (!all.is_short)
            write_streams(&all);
        write_incidents(sources->all);
    }
    bool is_whole = !all.is_short;
    free(all.streams);
    write_receivers(sources);
    if (sources->puller)
        write_pulls(sources->puller);
    write_requests(requests);
    write_process();
    return is_whole;
}
