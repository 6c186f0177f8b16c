/* The answer to a question about hours or days: buckets of equal width, filled from the rows that
 * are in memory, and before these from buckets of five minutes.
 *
 *     asked    from |     |     |     |     |     |     |     | to
 *     rows                                | . . . . . . . . .    from a whole five minutes on
 *     5 min            [   ][   ][   ][   ]
 *
 * The file is read without the lock of the stream. */
#include "stream_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double widths[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                                900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct history_answer {
    double from, seconds; /* of the first bucket; of each */
    size_t count, columns, bucket_bytes;
    char *buckets;
    double rows_from; /* the time from which on rows are in memory */
    trend_ring view;
    uint64_t key;
    char *names;   /* of the columns, as JSON, one per line */
    bool is_known; /* the key is in memory */
} history_answer;

/* ---- Buckets ---- */

static trend_bucket *bucket_at(const history_answer *answer, size_t i)
{
    return (trend_bucket *)(void *)(answer->buckets + i * answer->bucket_bytes);
}

/* Which bucket has this time; `count`: none. */
static size_t find_bucket(const history_answer *answer, double time)
{
    const double place = floor((time - answer->from) / answer->seconds);
    return place >= 0 && place < (double)answer->count ? (size_t)place : answer->count;
}

static void add_bucket(void *context, trend_bucket *one)
{
    const history_answer *answer = context;
    const size_t i = find_bucket(answer, one->time);
    if (i < answer->count && one->time < answer->rows_from)
        trend_bucket_merge(bucket_at(answer, i), one, answer->columns);
}

/* ---- Under the lock ---- */

/* The minutes in which the rows in memory begin are left to their bucket. */
static void add_rows(const stream *one, const history_key *key, history_answer *answer)
{
    const double first = key->points.count > 0 ? history_point_at(one->past, key, 0)->time : NAN;
    if (isnan(first))
        return; /* rows without times are in buckets by their arrival */
    answer->rows_from = key->info.rows == key->points.count || !one->trends
                            ? -INFINITY
                            : ceil(first / TREND_SECONDS) * TREND_SECONDS;
    for (uint32_t i = 0; i < key->points.count; i++) {
        const trend_row row = stream_trend_row_of(history_point_at(one->past, key, i));
        const size_t place = find_bucket(answer, row.time);
        if (place < answer->count && row.time >= answer->rows_from)
            trend_bucket_add(bucket_at(answer, place), &row, answer->columns);
    }
}

static char *write_names(const stream *one)
{
    size_t bytes;
    output_divert();
    for (size_t i = 0; i < one->past->value_count; i++) {
        stream_write_column_name(one, i);
        output_write("\n", 1);
    }
    output_write("", 1);
    return output_diverted(&bytes);
}

/* ---- The range ---- */

static double width_for(double seconds)
{
    size_t i = 0;
    while (i + 1 < WIDTHS && widths[i] < seconds)
        i++;
    return widths[i] < seconds ? ceil(seconds / widths[i]) * widths[i] : widths[i];
}

static bool make_buckets(history_answer *answer, const history_query *query, size_t columns)
{
    answer->seconds = width_for((query->to - query->from) / (double)query->points);
    answer->from = floor(query->from / answer->seconds) * answer->seconds;
    answer->count = (size_t)ceil((query->to - answer->from) / answer->seconds);
    answer->columns = columns;
    answer->bucket_bytes = trend_bucket_bytes(columns);
    answer->buckets = calloc(answer->count + 1, answer->bucket_bytes);
    for (size_t i = 0; answer->buckets && i < answer->count; i++)
        trend_bucket_clear(bucket_at(answer, i), answer->key, columns);
    return answer->buckets != NULL;
}

/* By default, it ends with the latest row. */
static void complete_range(const stream *one, const history_key *key, history_query *query)
{
    if (isnan(query->to))
        query->to = (key ? key->info.last_seen : one->now) + 1;
    if (isnan(query->from))
        query->from = query->to - query->span;
}

/* ---- JSON ---- */

/* Lists with a number per bucket: of the bucket, and of the severity and each column. */
enum { TIMES, ROWS, ANOMALIES, GRADES, THRESHOLDS, LOW, HIGH, MEAN, LISTS };

static const char *const list_names[] = {"times",      "rows", "anomalies", "grades",
                                         "thresholds", "low",  "high",      "mean"};

/* `which`: of the severity 0, of columns from 1 on. */
static void write_number(const history_answer *answer, size_t bucket, size_t list, size_t which)
{
    trend_bucket *one = bucket_at(answer, bucket);
    const trend_values *values = &trend_values_of(one)[which];
    const double numbers[] = {answer->from + (double)bucket * answer->seconds,
                              one->rows,
                              one->anomalies,
                              one->grade,
                              (double)one->threshold,
                              (double)values->low,
                              (double)values->high,
                              (double)values->mean};
    if (isfinite(numbers[list]))
        output_print("%.*g", list < THRESHOLDS ? 15 : 7, numbers[list]);
    else
        output_print("null");
}

static bool is_filled(const history_answer *answer, size_t i)
{
    return bucket_at(answer, i)->rows > 0;
}

/* The lists from `first` to before `end`, without buckets that have no rows. */
static void write_lists(const history_answer *answer, size_t first, size_t end, size_t which)
{
    for (size_t list = first; list < end; list++) {
        const char *comma = "";
        output_print("%s\"%s\":[", list > first ? "," : "", list_names[list]);
        for (size_t i = 0; i < answer->count; i++) {
            if (!is_filled(answer, i))
                continue;
            output_print("%s", comma);
            write_number(answer, i, list, which);
            comma = ",";
        }
        output_print("]");
    }
}

static void write_columns(const history_answer *answer)
{
    const char *name = answer->names;
    for (size_t i = 0; i < answer->columns; i++, name += strcspn(name, "\n") + 1) {
        output_print("%s%.*s:{", i > 0 ? "," : "", (int)strcspn(name, "\n"), name);
        write_lists(answer, LOW, LISTS, 1 + i);
        output_print("}");
    }
}

/* Behind the stream and the key. */
static void write_answer(const history_answer *answer)
{
    write_json_member("from", answer->from);
    write_json_member("to", answer->from + (double)answer->count * answer->seconds);
    write_json_member("seconds", answer->seconds);
    output_print(",");
    write_lists(answer, TIMES, LOW, 0);
    output_print(",\"severities\":{");
    write_lists(answer, LOW, LISTS, 0);
    output_print("},\"values\":{");
    write_columns(answer);
    output_print("}}");
}

/* ---- The question ---- */

static bool fail_without_memory(problem *why)
{
    return problem_set(why, 503, NULL, "out of memory");
}

/* Under the lock: what is in memory, and which files there are. */
static bool look(stream *one, history_query *query, history_answer *answer, problem *why)
{
    const history_key *key = stream_find_key(one, query->key, query->key_bytes);
    if (!one->pipeline)
        return problem_set(why, 404, NULL, "the stream has no rows yet");
    if (key && !query->key) {
        query->key = key->info.key;
        query->key_bytes = key->info.key_bytes;
    }
    answer->is_known = key != NULL;
    complete_range(one, key, query);
    if (!(query->to > query->from) || !isfinite(query->to - query->from))
        return problem_set(why, 400, "Name an end after the begin.",
                           "`to` is not later than `from`");
    answer->key = history_hash(query->key ? query->key : "", query->key_bytes);
    if (!make_buckets(answer, query, one->past->value_count))
        return fail_without_memory(why);
    if (key)
        add_rows(one, key, answer);
    if (one->trends)
        answer->view = trend_file_view(one->trends);
    if (key && key->bucket)
        add_bucket(answer, key->bucket);
    stream_begin_object(one, query->key ? query->key : "", query->key_bytes);
    answer->names = write_names(one);
    return answer->names || fail_without_memory(why);
}

static void read_file(history_answer *answer)
{
    if (answer->rows_from > answer->from)
        trend_view_read(&answer->view, &(trend_visitor){answer->key, add_bucket, answer});
    trend_view_close(&answer->view);
}

static bool has_buckets(const history_answer *answer)
{
    size_t i = 0;
    while (i < answer->count && !is_filled(answer, i))
        i++;
    return i < answer->count;
}

bool stream_write_history(stream *one, const history_query *query, problem *why)
{
    history_query asked = *query;
    history_answer answer = {.view.fd = -1, .rows_from = INFINITY};
    stream_read_lock(one);
    bool is_good = look(one, &asked, &answer, why);
    stream_read_unlock(one);
    read_file(&answer);
    if (is_good && !answer.is_known && !has_buckets(&answer))
        is_good = problem_set(why, 404, NULL, "the stream has no such key, or has forgotten it");
    else if (is_good)
        write_answer(&answer);
    free(answer.buckets);
    free(answer.names);
    return is_good;
}
