#include "exposition.h"

#include "front/results/prometheus_text.h"
#include "front/results/result_fields.h"
#include "front/text/output.h"
#include "serve/base/background.h"
#include "serve/stream/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is known about one key. */
typedef struct key_series {
    char *key;
    size_t key_bytes;
    double gauges[KEY_GAUGES];
} key_series;

typedef struct stream_series {
    char *name;
    stream_figures figures;
    key_series *keys; /* room for twice keys_max */
    size_t key_count, keys_max;
    bool is_cut;   /* there were more; the first keys_max are the worst so far, in order */
    bool is_short; /* out of memory */
} stream_series;

/* All lines of a metric must be adjacent, so everything is collected first. */
typedef struct collected {
    stream_series *streams;
    size_t count, capacity, keys_max;
    bool is_short;
} collected;

/* ---- The worst keys ---- */

static double or_zero(double number)
{
    return isnan(number) ? 0 : number;
}

static bool is_worse(const key_series *a, const key_series *b)
{
    static const size_t order[] = {GAUGE_IN_EPISODE, GAUGE_SEVERITY, GAUGE_SCORE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        double of_a = or_zero(a->gauges[order[i]]), of_b = or_zero(b->gauges[order[i]]);
        if (of_a != of_b)
            return of_a > of_b;
    }
    return false;
}

static int compare_worst_first(const void *a, const void *b)
{
    return is_worse(a, b) ? -1 : is_worse(b, a);
}

static void keep_worst(stream_series *one)
{
    qsort(one->keys, one->key_count, sizeof *one->keys, compare_worst_first);
    while (one->key_count > one->keys_max)
        free(one->keys[--one->key_count].key);
}

/* Copies the text of a key only if the key may be among the worst. */
static void take_key(void *context, const stream_key *visited)
{
    stream_series *one = context;
    key_series key = {.key_bytes = visited->key_bytes,
                      .gauges = {[GAUGE_SCORE] = visited->score,
                                 [GAUGE_SEVERITY] = visited->severity,
                                 [GAUGE_THRESHOLD] = visited->threshold,
                                 [GAUGE_IN_EPISODE] = visited->episode > 0}};
    if (one->keys_max == 0 || (one->is_cut && !is_worse(&key, &one->keys[one->keys_max - 1])))
        return;
    char *text = malloc(visited->key_bytes + 1);
    if (!text) {
        one->is_short = true;
        return;
    }
    memcpy(text, visited->key, visited->key_bytes);
    key_series *kept = &one->keys[one->key_count++];
    *kept = key;
    kept->key = text;
    one->is_cut |= one->key_count == 2 * one->keys_max;
    if (one->key_count == 2 * one->keys_max)
        keep_worst(one);
}

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
    stream_series one = {0};
    stream_get_figures(visited, &one.figures);
    size_t keys = one.figures.keys + 1; /* more keys may come meanwhile, but no more are shown */
    one.keys_max = keys < all->keys_max ? keys : all->keys_max;
    one.keys = calloc(2 * one.keys_max + 1, sizeof *one.keys);
    if (one.keys) {
        stream_each_key(visited, SIZE_MAX, take_key, &one);
        keep_worst(&one);
    }
    one.name = strdup(stream_name(visited));
    all->is_short = all->is_short || !one.name || !one.keys || one.is_short;
    all->streams[all->count++] = one;
}

static void close_collected(collected *all)
{
    for (size_t i = 0; i < all->count; i++) {
        stream_series *one = &all->streams[i];
        for (size_t j = 0; j < one->key_count; j++)
            free(one->keys[j].key);
        free(one->keys);
        free(one->name);
    }
    free(all->streams);
}

/* ---- Text ---- */

static void write_of_stream(const char *metric, const char *name, double value)
{
    output_print("%s", metric);
    prometheus_label("{stream=", name, strlen(name));
    output_print("}");
    prometheus_value(value);
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
    prometheus_head(metric->name, metric->type, metric->help);
    for (size_t i = 0; i < all->count; i++) {
        const stream_series *one = &all->streams[i];
        write_of_stream(metric->name, one->name, metric->value(one));
    }
}

static void write_alerts(const collected *all)
{
    prometheus_head("oif_alerts_total", "counter", "Anomalous rows.");
    for (size_t i = 0; i < all->count; i++)
        for (oif_grade grade = OIF_GRADE_NOTE; grade <= OIF_GRADE_CRITICAL; grade++) {
            const stream_series *one = &all->streams[i];
            prometheus_label("oif_alerts_total{stream=", one->name, strlen(one->name));
            output_print(",grade=\"%s\"} %" PRIu64 "\n", grade_word(grade),
                         one->figures.alerts[grade]);
        }
}

/* A series for each state, so a rule can name one: oif_stream_state{state="no data"} == 1. */
static void write_states(const collected *all)
{
    prometheus_head("oif_stream_state", "gauge", "1 for the state that the stream is in.");
    for (size_t i = 0; i < all->count; i++)
        for (int state = WATCH_QUIET; state < WATCH_STATES; state++) {
            const stream_series *one = &all->streams[i];
            prometheus_label("oif_stream_state{stream=", one->name, strlen(one->name));
            output_print(",state=\"%s\"} %d\n", watch_words[state],
                         (int)one->figures.state.what == state);
        }
}

/* ---- Each key ---- */

static void write_key_gauge(const collected *all, size_t gauge)
{
    char name[32];
    snprintf(name, sizeof name, "oif_%s", key_gauges[gauge].name);
    prometheus_head(name, "gauge", key_gauges[gauge].help);
    for (size_t i = 0; i < all->count; i++) {
        const stream_series *one = &all->streams[i];
        for (size_t j = 0; j < one->key_count; j++) {
            const key_series *key = &one->keys[j];
            output_print("%s", name);
            prometheus_label("{stream=", one->name, strlen(one->name));
            if (key->key_bytes > 0)
                prometheus_label(",key=", key->key, key->key_bytes);
            output_print("}");
            prometheus_value(key->gauges[gauge]);
        }
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
    prometheus_value(seconds);
    output_print("%s_count %" PRIu64 "\n", name, up_to);
}

static void write_incidents(streams *all)
{
    prometheus_single("oif_incidents_open", "gauge", "Open incidents.",
                      (double)streams_open_incidents(all));
}

static void write_streams(const collected *all)
{
    for (size_t i = 0; i < sizeof stream_metrics / sizeof *stream_metrics; i++)
        write_stream_metric(all, &stream_metrics[i]);
    write_states(all);
    write_alerts(all);
    for (size_t i = 0; i < KEY_GAUGES; i++)
        write_key_gauge(all, i);
}

/* ---- Alertmanager and Prometheus ---- */

static void write_receivers(const exposition_sources *sources)
{
    if (sources->sender) {
        prometheus_single("oif_alertmanager_queue", "gauge", "Episodes that wait to be sent.",
                          (double)alertmanager_waiting(sources->sender));
        prometheus_single("oif_alertmanager_up", "gauge", "0 if the latest request failed.",
                          !alertmanager_is_failing(sources->sender));
    }
    if (sources->hook) {
        prometheus_single("oif_webhook_queue", "gauge", "Records that wait to be sent.",
                          (double)webhook_waiting(sources->hook));
        prometheus_single("oif_webhook_up", "gauge", "0 if the latest request failed.",
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
    prometheus_head("oif_pull_left_out_total", "counter",
                    "Samples of Prometheus in no row: too many keys, or one key twice.");
    pull_each(puller, write_left_out, NULL);
    prometheus_head("oif_pull_up", "gauge", "0 if the latest query of Prometheus failed.");
    pull_each(puller, write_up, NULL);
}

/* ---- Requests ---- */

static void write_requests(request_figures *requests)
{
    uint64_t counts[REQUEST_BUCKETS];
    prometheus_head("oif_http_requests_total", "counter", "Requests that were answered.");
    for (int status = 0; status < REQUEST_STATUSES; status++) {
        uint64_t count = atomic_load(&requests->by_status[status]);
        if (count > 0)
            output_print("oif_http_requests_total{code=\"%d\"} %" PRIu64 "\n", status, count);
    }
    for (size_t i = 0; i < REQUEST_BUCKETS; i++)
        counts[i] = atomic_load(&requests->buckets[i]);
    prometheus_head("oif_http_request_seconds", "histogram",
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
        prometheus_single("process_resident_memory_bytes", "gauge", "Memory of the process.",
                          resident);
    prometheus_head("oif_build_info", "gauge", "The version that runs.");
    prometheus_label("oif_build_info{version=", oif_version(), strlen(oif_version()));
    output_print("} 1\n");
}

bool exposition_write(const exposition_sources *sources, request_figures *requests)
{
    collected all = {.keys_max = sources->keys_max};
    if (sources->all) {
        streams_each(sources->all, take_stream, &all);
        if (!all.is_short)
            write_streams(&all);
        write_incidents(sources->all);
    }
    bool is_whole = !all.is_short;
    close_collected(&all);
    write_receivers(sources);
    if (sources->puller)
        write_pulls(sources->puller);
    write_requests(requests);
    write_process();
    return is_whole;
}
