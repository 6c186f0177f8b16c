/* Answers about a stream as JSON, and its figures. */
#include "stream_parts.h"

#include "front/results/rules_json.h"
#include "front/text/quoting.h"
#include "serve/base/background.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_LIMIT = 100 };

/* ---- Figures ---- */

/* Call it under the lock. */
static stream_figures figures_of(const stream *one)
{
    const oif_pipeline *pipeline = one->pipeline;
    stream_figures figures = one->counted;
    figures.bad_rows = one->bad_rows;
    figures.episodes = one->past->episodes;
    figures.episodes_open = one->past->open_count;
    figures.silent_keys = one->past->silent_count;
    figures.learning_keys = one->past->learning_count;
    figures.state = stream_state_of(one, background_wall_seconds());
    figures.is_dead = one->is_dead;
    figures.memory_bytes = sizeof *one + one->past->bytes;
    if (one->trends)
        figures.trend_lost = trend_file_lost(one->trends);
    figures.rows_per_second = stream_rate(one, background_wall_seconds());
    figures.has_error = one->error[0] != '\0';
    memcpy(figures.alerts, one->past->graded, sizeof figures.alerts);
    if (pipeline) {
        figures.rows = oif_pipeline_rows(pipeline);
        figures.keys = oif_pipeline_keys(pipeline);
        figures.rows_without_model = oif_pipeline_unmodelled_rows(pipeline);
        figures.memory_bytes += oif_pipeline_memory_bytes(pipeline);
    }
    figures.saved = one->saved;
    return figures;
}

void stream_get_figures(stream *one, stream_figures *figures)
{
    stream_read_lock(one);
    *figures = figures_of(one);
    stream_read_unlock(one);
}

const char *stream_get_error(stream *one, char error[PROBLEM_MESSAGE_BYTES])
{
    stream_read_lock(one);
    snprintf(error, PROBLEM_MESSAGE_BYTES, "%s", one->error);
    stream_read_unlock(one);
    return error;
}

/* ---- The stream ---- */

/* Numbers as people write them: 0.1, which jansson would print with 17 digits. */
static void write_json(json_t *value)
{
    const char *name, *comma = "";
    json_t *item;
    size_t i;
    if (json_is_object(value)) {
        output_print("{");
        json_object_foreach(value, name, item) {
            output_print("%s", comma);
            quoting_write_json(name, strlen(name));
            output_print(":");
            write_json(item);
            comma = ",";
        }
        output_print("}");
    } else if (json_is_array(value)) {
        output_print("[");
        json_array_foreach(value, i, item) {
            output_print(i > 0 ? "," : "");
            write_json(item);
        }
        output_print("]");
    } else if (json_is_string(value)) {
        quoting_write_json(json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        output_print("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        output_number(json_real_value(value));
    } else {
        output_print(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
    }
}

void stream_write_column_name(const stream *one, size_t column)
{
    const char *name = oif_pipeline_column_name(one->pipeline, column);
    if (name)
        quoting_write_json(name, strlen(name));
    else
        output_print("\"x%zu\"", column);
}

static void write_columns(const stream *one)
{
    output_print("[");
    for (size_t i = 0; i < oif_pipeline_columns(one->pipeline); i++) {
        output_print(i > 0 ? "," : "");
        stream_write_column_name(one, i);
    }
    output_print("]");
}

static void write_note(const char *text, size_t bytes, bool *is_first)
{
    output_print(*is_first ? "" : ",");
    quoting_write_json(text, bytes);
    *is_first = false;
}

static void write_late_keys(const stream *one, bool *is_first)
{
    names_text names = one->late;
    const char *them = names.count == 1 ? "it" : "them", *ending = names.count == 1 ? "s" : "";
    char text[NAMES_TEXT_BYTES + 128];
    if (names.count == 0)
        return;
    snprintf(text, sizeof text,
             "%s appear%s too late to be learned; to learn %s, list all columns in the setting "
             "\"columns\" of another stream",
             names_text_read(&names), ending, them);
    write_note(text, strlen(text), is_first);
}

/* What was said about the first rows, and what is wrong with the times and later keys so far. */
static void write_notes(const stream *one)
{
    const char *at = one->notes ? one->notes : "";
    char times[STREAM_CLOCK_TEXT_BYTES];
    bool is_first = true;
    output_print(",\"notes\":[");
    while (*at) {
        size_t bytes = strcspn(at, "\n");
        write_note(at, bytes, &is_first);
        at += bytes + (at[bytes] == '\n');
    }
    if (stream_clock_problem(&one->times, times))
        write_note(times, strlen(times), &is_first);
    write_late_keys(one, &is_first);
    output_print("]");
}

void stream_write(stream *one)
{
    const run_settings *settings = &one->settings.cli;
    stream_read_lock(one);
    const stream_figures now = figures_of(one);
    output_print("{\"name\":\"%s\"", one->name);
    stream_write_state(&now.state);
    output_print(",\"settings\":");
    write_json(one->settings.object ? one->settings.object : json_null());
    write_json_text("detector", settings->params.table ? settings->params.table->name : NULL);
    output_print(",\"columns\":");
    if (one->pipeline)
        write_columns(one);
    else
        output_print("null");
    write_json_text("key", settings->score.key);
    write_json_text("time", settings->score.time);
    output_print(",\"rows\":%" PRIu64 ",\"saved\":%" PRIu64, now.rows, now.saved);
    output_print(",\"bad_rows\":%" PRIu64 ",\"keys\":%zu,\"silent_keys\":%zu", now.bad_rows,
                 now.keys, now.silent_keys);
    output_print(",\"learning_keys\":%zu", now.learning_keys);
    output_print(",\"episodes_open\":%zu,\"episodes\":%" PRIu64 ",\"alerts\":%" PRIu64,
                 now.episodes_open, now.episodes,
                 now.alerts[OIF_GRADE_NOTE] + now.alerts[OIF_GRADE_WARNING] +
                     now.alerts[OIF_GRADE_CRITICAL]);
    output_print(",\"memory_bytes\":%zu", now.memory_bytes);
    write_json_member("rows_per_second", round(now.rows_per_second * 10) / 10);
    write_json_member("last_row_at", now.last_row_at);
    output_print(",\"kept\":%s,\"rules\":", one->folder ? "true" : "false");
    if (one->pipeline)
        rules_write_json(one->pipeline);
    else
        output_print("[]");
    write_notes(one);
    write_json_text("error", one->error);
    output_print("}");
    stream_read_unlock(one);
}

/* ---- Keys ---- */

static void write_key(const stream *one, const history_key *key, double now)
{
    const stream_key *info = &key->info;
    output_print("{\"key\":");
    write_json_key(one->settings.cli.score.key != NULL, info->key, info->key_bytes);
    const stream_state state = stream_key_state(one, key, now);
    stream_write_state(&state);
    output_print(",\"rows\":%" PRIu64, info->rows);
    write_json_member("last_seen", info->last_seen);
    write_json_member("score", info->score);
    write_json_member("threshold", info->threshold);
    write_json_member("severity", rounded_severity(info->severity));
    write_json_text("grade", grade_word(info->grade));
    if (key->open)
        output_print(",\"episode\":%" PRIu64, key->open->info.number);
    else
        output_print(",\"episode\":null");
    write_json_text("reason", info->reason);
    output_print(",\"silent\":%s}", info->is_silent ? "true" : "false");
}

static bool has_part(const history_key *key, const char *part, size_t bytes)
{
    const char *at = key->info.key;
    for (size_t left = key->info.key_bytes; left >= bytes; left--, at++)
        if (memcmp(at, part, bytes) == 0)
            return true;
    return false;
}

static int compare_numbers(double a, double b) /* higher first, unknown last */
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a < b) - (a > b);
}

static int by_name(const void *a, const void *b)
{
    const stream_key *left = &(*(history_key *const *)a)->info,
                     *right = &(*(history_key *const *)b)->info;
    size_t x = left->key_bytes, y = right->key_bytes;
    int order = memcmp(left->key, right->key, x < y ? x : y);
    return order != 0 ? order : (x > y) - (x < y);
}

static int by_score(const void *a, const void *b)
{
    const history_key *left = *(history_key *const *)a, *right = *(history_key *const *)b;
    int order = compare_numbers(left->info.score, right->info.score);
    return order != 0 ? order : by_name(a, b);
}

/* Open episodes first, by their worst row; then silent keys; then by the last row. */
static int by_severity(const void *a, const void *b)
{
    const history_key *left = *(history_key *const *)a, *right = *(history_key *const *)b;
    int order = (left->open == NULL) - (right->open == NULL);
    if (order == 0 && left->open)
        order = compare_numbers(left->open->info.peak_severity, right->open->info.peak_severity);
    if (order == 0)
        order = right->info.is_silent - left->info.is_silent;
    if (order == 0)
        order = compare_numbers(left->info.severity, right->info.severity);
    return order != 0 ? order : by_name(a, b);
}

static bool is_key(const history_key *key, const char *text, size_t bytes)
{
    return key->info.key_bytes == bytes && memcmp(key->info.key, text, bytes) == 0;
}

typedef int keys_comparison(const void *a, const void *b);

/* A heap with the last of its keys on top: the key at `i` moves down to its place. */
static void sift_down(const history_key **heap, size_t count, size_t i, keys_comparison *compare)
{
    const history_key *moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && compare(&heap[child], &heap[child + 1]) < 0;
        if (compare(&moved, &heap[child]) >= 0)
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

/* Puts the first `most` keys at the front, in order. Rows wait meanwhile, and a page shows few of
 * many keys, so most of these are compared once. */
static void sort_first(const history_key **list, size_t count, size_t most,
                       keys_comparison *compare)
{
    most = most < count ? most : count;
    for (size_t i = most / 2; most < count && i-- > 0;)
        sift_down(list, most, i, compare);
    for (size_t i = most; most > 0 && i < count; i++)
        if (compare(&list[i], &list[0]) < 0) {
            const history_key *last = list[0];
            list[0] = list[i];
            list[i] = last;
            sift_down(list, most, 0, compare);
        }
    qsort(list, most, sizeof *list, compare);
}

/* The matching keys, most recently seen first; NULL: out of memory. */
static const history_key **list_keys(const stream *one, const keys_query *query, size_t *count)
{
    const history_key **list = calloc(one->past->keys.count + 1, sizeof *list);
    *count = 0;
    if (!list)
        return NULL;
    for (const history_key *key = one->past->newest; key; key = key->older)
        if ((!query->find || has_part(key, query->find, query->find_bytes)) &&
            (!query->key || is_key(key, query->key, query->key_bytes)))
            list[(*count)++] = key;
    return list;
}

void stream_write_keys(stream *one, const keys_query *query)
{
    static keys_comparison *const orders[] = {by_severity, by_score, NULL, by_name};
    size_t count, limit = query->limit > 0 ? query->limit : USUAL_LIMIT;
    const double now = background_wall_seconds();
    stream_read_lock(one);
    const history_key **list = list_keys(one, query, &count);
    if (list && orders[query->order])
        sort_first(list, count, query->offset + limit, orders[query->order]);
    output_print("{\"keys\":[");
    for (size_t i = query->offset; list && i < count && i - query->offset < limit; i++) {
        output_print(i > query->offset ? "," : "");
        write_key(one, list[i], now);
    }
    output_print("],\"total\":%zu}", count);
    free(list);
    stream_read_unlock(one);
}

void stream_each_key(stream *one, size_t limit, void (*visit)(void *context, const stream_key *key),
                     void *context)
{
    stream_read_lock(one);
    for (const history_key *key = one->past->newest; key && limit > 0; key = key->older, limit--)
        visit(context, &key->info);
    stream_read_unlock(one);
}

/* ---- Points ---- */

typedef struct point_range {
    const stream *one;
    const history_key *key;
    uint32_t first;
} point_range;

/* The members of Points that are lists with a number per point. */
static void write_lists(const point_range *range)
{
    static const char *const names[] = {"rows", "times", "severities", "thresholds", "grades"};
    for (size_t list = 0; list < sizeof names / sizeof *names; list++) {
        output_print(",\"%s\":[", names[list]);
        for (uint32_t i = range->first; i < range->key->points.count; i++) {
            const history_point *point = history_point_at(range->one->past, range->key, i);
            const double numbers[] = {(double)point->row, point->time,
                                      rounded_severity((double)point->severity),
                                      (double)point->threshold, (double)point->grade};
            output_print(i > range->first ? "," : "");
            output_json_number(numbers[list]);
        }
        output_print("]");
    }
}

/* A float with just the digits it has. */
static void write_float(float value)
{
    if (isfinite(value))
        output_print("%.7g", (double)value);
    else
        output_print("null");
}

static void write_values(const point_range *range)
{
    output_print(",\"values\":{");
    for (size_t column = 0; column < range->one->past->value_count; column++) {
        output_print(column > 0 ? "," : "");
        stream_write_column_name(range->one, column);
        output_print(":[");
        for (uint32_t i = range->first; i < range->key->points.count; i++) {
            output_print(i > range->first ? "," : "");
            write_float(history_values(history_point_at(range->one->past, range->key, i))[column]);
        }
        output_print("]");
    }
    output_print("}");
}

static uint32_t first_point(const stream *one, const history_key *key, const points_query *query)
{
    uint32_t first = 0;
    if (query->limit > 0 && query->limit < key->points.count)
        first = key->points.count - (uint32_t)query->limit;
    while (first < key->points.count && query->since > 0 &&
           history_point_at(one->past, key, first)->time < query->since)
        first++;
    return first;
}

static void write_points(stream *one, const history_key *key, const points_query *query)
{
    const point_range range = {one, key, first_point(one, key, query)};
    stream_begin_object(one, key->info.key, key->info.key_bytes);
    output_print(",\"columns\":");
    write_columns(one);
    write_lists(&range);
    write_values(&range);
    if (query->wants_expected)
        stream_write_bands(one, key, range.first);
    output_print("}");
}

history_key *stream_find_key(const stream *one, const char *key, size_t key_bytes)
{
    return key && one->settings.cli.score.key ? history_find(one->past, key, key_bytes)
                                              : one->past->newest;
}

bool stream_write_points(stream *one, const points_query *query, problem *why)
{
    stream_read_lock(one);
    const history_key *key = stream_find_key(one, query->key, query->key_bytes);
    bool is_found = one->pipeline && key;
    if (is_found)
        write_points(one, key, query);
    stream_read_unlock(one);
    return is_found ||
           problem_set(why, 404, NULL,
                       query->key ? "the stream has no such key, or has not seen it for a long time"
                                  : "the stream has no rows yet");
}

/* ---- Episodes ---- */

/* Whether a query wants what happened at this time to this key. */
static bool is_wanted(const events_query *query, double time, const char *key, size_t key_bytes)
{
    return !(query->since > 0 && time < query->since) &&
           (!query->key ||
            (query->key_bytes == key_bytes && memcmp(query->key, key, key_bytes) == 0));
}

/* Which episodes to write, and how many were written. */
typedef struct episode_list {
    const events_query *query;
    size_t limit, written;
} episode_list;

static void write_wanted(void *context, const stream_episode *episode)
{
    episode_list *list = context;
    if (list->written >= list->limit ||
        !is_wanted(list->query, episode->last_seen, episode->key, episode->key_bytes))
        return;
    output_print(list->written++ > 0 ? "," : "");
    stream_episode_write(episode);
}

/* Open episodes come first; each kind is newest first. */
void stream_write_episodes(stream *one, const events_query *query)
{
    episode_list list = {query, query->limit > 0 ? query->limit : USUAL_LIMIT, 0};
    stream_read_lock(one);
    output_print("{\"episodes\":[");
    stream_visit_open(one, write_wanted, &list);
    if (!query->only_open)
        stream_visit_ended(one, write_wanted, &list);
    output_print("]}");
    stream_read_unlock(one);
}

/* ---- Alerts ---- */

void stream_write_alerts(stream *one, const events_query *query)
{
    size_t limit = query->limit > 0 ? query->limit : USUAL_LIMIT, written = 0;
    stream_read_lock(one);
    output_print("{\"alerts\":[");
    for (size_t i = 0; i < one->past->alert_count && written < limit; i++) {
        const history_alert *alert = history_alert_at(one->past, i);
        if (!is_wanted(query, alert->time, alert->key, alert->key_bytes))
            continue;
        output_print(written++ > 0 ? "," : "");
        output_write(alert->text, alert->bytes);
    }
    output_print("]}");
    stream_read_unlock(one);
}
