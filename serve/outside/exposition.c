#include "exposition.h"

#include "front/results/prometheus_text.h"
#include "front/results/result_fields.h"
#include "front/text/output.h"
#include "serve/base/background.h"
#include "serve/base/name_patterns.h"
#include "serve/stream/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    size_t left_out;
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
    for (; one->key_count > one->keys_max; one->key_count--, one->left_out++)
        free(one->keys[one->key_count - 1].key);
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
    if (one->keys_max == 0 || (one->is_cut && !is_worse(&key, &one->keys[one->keys_max - 1]))) {
        one->left_out++;
        return;
    }
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
FIGURE(saved)
FIGURE(bad_rows)
FIGURE(batches)
FIGURE(episodes)
FIGURE(episodes_open)
FIGURE(keys)
FIGURE(silent_keys)
FIGURE(learning_keys)
FIGURE(evictions)
FIGURE(writers)
FIGURE(writers_dropped)
FIGURE(waiting_rows)
FIGURE(rows_without_model)
FIGURE(memory_bytes)
FIGURE(history_bytes)
FIGURE(journal_bytes)
FIGURE(trend_bytes)
FIGURE(trend_lost)
FIGURE(last_row_at)
FIGURE(saves)
FIGURE(failed_saves)
FIGURE(save_seconds)
FIGURE(last_save_seconds)
FIGURE(has_error)

static double unusual_of(const stream_series *one)
{
    return (double)one->figures.state.unusual;
}

static double last_row_age_of(const stream_series *one)
{
    return background_wall_seconds() - one->figures.last_row_at;
}

static double left_out_of(const stream_series *one)
{
    return (double)one->left_out;
}

static const stream_metric stream_metrics[] = {
    {"oif_rows_total", "counter", "Rows scored.", rows_of},
    {"oif_saved_rows_total", "counter", "Rows that are on disk.", saved_of},
    {"oif_bad_rows_total", "counter", "Rows that could not be read.", bad_rows_of},
    {"oif_batches_total", "counter", "Batches of rows.", batches_of},
    {"oif_episodes_total", "counter", "Episodes of alerts.", episodes_of},
    {"oif_episodes_open", "gauge", "Open episodes of alerts.", episodes_open_of},
    {"oif_keys", "gauge", "Keys with a model.", keys_of},
    {"oif_keys_left_out", "gauge",
     "Keys without series of their own, as the limit metrics-keys is reached.", left_out_of},
    {"oif_silent_keys", "gauge", "Keys without rows for longer than usual.", silent_keys_of},
    {"oif_learning_keys", "gauge", "Keys with too few rows to be judged.", learning_keys_of},
    {"oif_unusual_rows_total", "counter",
     "Rows far outside all earlier ones while their key learned.", unusual_of},
    {"oif_writers", "gauge", "Writers whose rows are numbered.", writers_of},
    {"oif_writers_dropped_total", "counter", "Writers that were forgotten for others.",
     writers_dropped_of},
    {"oif_waiting_rows", "gauge", "Rows that wait for samples of later requests.", waiting_rows_of},
    {"oif_evictions_total", "counter", "Models evicted for another key.", evictions_of},
    {"oif_rows_without_model_total", "counter", "Rows of keys for which there was no room.",
     rows_without_model_of},
    {"oif_memory_bytes", "gauge", "Memory of the models.", memory_bytes_of},
    {"oif_history_bytes", "gauge", "Memory of recent points, episodes and alerts.",
     history_bytes_of},
    {"oif_history_disk_bytes", "gauge", "Hours and days on disk.", trend_bytes_of},
    {"oif_history_lost_total", "counter", "Buckets of hours and days that could not be written.",
     trend_lost_of},
    {"oif_journal_bytes", "gauge", "Rows on disk that are not in the snapshot yet.",
     journal_bytes_of},
    {"oif_last_row_timestamp_seconds", "gauge", "When the latest row arrived.", last_row_at_of},
    {"oif_last_row_age_seconds", "gauge", "Time since the latest row arrived.", last_row_age_of},
    {"oif_saves_total", "counter", "Snapshots written.", saves_of},
    {"oif_failed_saves_total", "counter", "Snapshots that could not be written.", failed_saves_of},
    {"oif_save_seconds_total", "counter", "Time that snapshots took.", save_seconds_of},
    {"oif_last_save_seconds", "gauge", "Time that the latest snapshot took.", last_save_seconds_of},
    {"oif_stream_error", "gauge", "1 if the stream has failed; the API says why.", has_error_of},
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

static void write_latency(const collected *all)
{
    uint64_t counts[LATENCY_BUCKETS] = {0};
    double seconds = 0;
    for (size_t i = 0; i < all->count; i++) {
        const stream_figures *figures = &all->streams[i].figures;
        for (size_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
            counts[bucket] += figures->latency[bucket];
        seconds += figures->latency_seconds;
    }
    prometheus_head("oif_batch_seconds", "histogram", "Time that batches of rows took.");
    write_histogram("oif_batch_seconds", counts, stream_latency_bounds, LATENCY_BUCKETS, seconds);
}

static void write_incidents(streams *all)
{
    incident_figures figures;
    incident_list_get_figures(streams_incidents(all), &figures);
    prometheus_single("oif_incidents_open", "gauge", "Open incidents.", (double)figures.open);
    prometheus_single("oif_incidents_total", "counter", "Incidents that began.",
                      (double)figures.total);
}

static void write_streams(const collected *all)
{
    prometheus_single("oif_streams", "gauge", "Streams.", (double)all->count);
    for (size_t i = 0; i < sizeof stream_metrics / sizeof *stream_metrics; i++)
        write_stream_metric(all, &stream_metrics[i]);
    write_states(all);
    write_alerts(all);
    for (size_t i = 0; i < KEY_GAUGES; i++)
        write_key_gauge(all, i);
    write_latency(all);
}

/* ---- Alertmanager and Prometheus ---- */

static void write_alertmanager(alertmanager *sender)
{
    alertmanager_figures figures;
    alertmanager_get_figures(sender, &figures);
    prometheus_single("oif_alertmanager_posts_total", "counter", "Requests to Alertmanager.",
                      (double)figures.posts);
    prometheus_single("oif_alertmanager_failures_total", "counter",
                      "Requests to Alertmanager that failed.", (double)figures.failures);
    prometheus_single("oif_alertmanager_alerts_total", "counter", "Alerts that Alertmanager took.",
                      (double)figures.alerts);
    prometheus_single("oif_alertmanager_dropped_total", "counter",
                      "Episodes for which there was no room.", (double)figures.dropped);
    prometheus_single("oif_alertmanager_episodes", "gauge",
                      "Open episodes, which are sent again at intervals.",
                      (double)figures.episodes);
    prometheus_single("oif_alertmanager_queue", "gauge", "Episodes that wait to be sent.",
                      (double)figures.waiting);
    prometheus_single("oif_alertmanager_up", "gauge", "0 if the latest request failed.",
                      !figures.is_failing);
}

static void write_webhook(webhook *hook)
{
    webhook_figures figures;
    poster_figures posts;
    webhook_get_figures(hook, &figures, &posts);
    prometheus_single("oif_webhook_posts_total", "counter", "Requests to the webhook.",
                      (double)posts.posts);
    prometheus_single("oif_webhook_failures_total", "counter",
                      "Requests to the webhook that failed.", (double)posts.failures);
    prometheus_single("oif_webhook_records_total", "counter",
                      "Records of incidents that the webhook took.", (double)figures.records);
    prometheus_single("oif_webhook_dropped_total", "counter",
                      "Records that were refused, tried too often or had no room.",
                      (double)figures.dropped);
    prometheus_single("oif_webhook_queue", "gauge", "Records that wait to be sent.",
                      (double)figures.waiting);
    prometheus_single("oif_webhook_up", "gauge", "0 if the latest request failed.",
                      !posts.is_failing);
}

typedef struct pull_metric {
    const char *name, *type, *help;
    size_t number;
    const char *visible; /* while it is written: patterns of streams */
} pull_metric;

static const pull_metric pull_metrics[] = {
    {"oif_pull_steps_total", "counter", "Steps whose rows were taken from Prometheus.", 0, NULL},
    {"oif_pull_failures_total", "counter", "Attempts at a step that failed.", 1, NULL},
    {"oif_pull_missed_steps_total", "counter", "Steps that were never queried.", 2, NULL},
    {"oif_pull_rows_total", "counter", "Rows that were taken from Prometheus.", 3, NULL},
    {"oif_pull_left_out_total", "counter", "Samples in no row: too many keys, or one key twice.", 4,
     NULL},
    {"oif_pull_last_step_seconds", "gauge", "Time that the latest step took.", 5, NULL},
    {"oif_pull_up", "gauge", "0 if the latest attempt failed.", 6, NULL},
};

static void write_pull(void *context, const pull_figures *figures)
{
    const pull_metric *metric = context;
    if (!name_patterns_match(metric->visible, figures->stream))
        return;
    const double values[] = {(double)figures->steps,     (double)figures->failures,
                             (double)figures->missed,    (double)figures->rows,
                             (double)figures->left_out,  figures->last_seconds,
                             figures->is_failing ? 0 : 1};
    write_of_stream(metric->name, figures->stream, values[metric->number]);
}

static void write_pulls(pull *puller, const char *visible)
{
    for (size_t i = 0; i < sizeof pull_metrics / sizeof *pull_metrics; i++) {
        pull_metric metric = pull_metrics[i];
        metric.visible = visible;
        prometheus_head(metric.name, metric.type, metric.help);
        pull_each(puller, write_pull, &metric);
    }
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
    struct rusage used;
    double resident = resident_bytes();
    if (resident > 0)
        prometheus_single("process_resident_memory_bytes", "gauge", "Memory of the process.",
                          resident);
    if (getrusage(RUSAGE_SELF, &used) == 0)
        prometheus_single("process_cpu_seconds_total", "counter", "Processor time of the process.",
                          (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6);
    prometheus_head("oif_build_info", "gauge", "The version that runs.");
    prometheus_label("oif_build_info{version=", oif_version(), strlen(oif_version()));
    output_print("} 1\n");
}

bool exposition_write(const exposition_sources *sources, request_figures *requests,
                      const char *visible)
{
    collected all = {.keys_max = sources->keys_max};
    if (sources->all) {
        streams_each_visible(sources->all, visible, take_stream, &all);
        if (!all.is_short)
            write_streams(&all);
        write_incidents(sources->all);
    }
    bool is_whole = !all.is_short;
    close_collected(&all);
    if (sources->sender)
        write_alertmanager(sources->sender);
    if (sources->hook)
        write_webhook(sources->hook);
    if (sources->puller)
        write_pulls(sources->puller, visible);
    write_requests(requests);
    write_process();
    return is_whole;
}
