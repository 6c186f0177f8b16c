/* The answer to a question about hours or days: buckets of equal width, filled from the finest
 * source that has them.
 *
 *     asked    from |     |     |     |     |     |     |     | to
 *     rows                                  . . . . . . . . . .    the latest, if buckets are short
 *     1 min            [][][][][][][][][][][][][][][][][][][]
 *     10 min   [      ][      ][      ][      ][      ][      ]     what the finer level has lost
 *
 * Files are read without the lock of the stream. */
#include "stream_parts.h"

#include "front/text/quoting.h"
#include "serve/base/background.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FROM_ROWS = TREND_LEVELS, FROM_NOTHING = TREND_LEVELS + 1 };

/* Rows are looked at for buckets of fewer seconds. */
static const double rows_shorter_than = 60;

static const double widths[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                                900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct history_answer {
    double from, seconds; /* of the first bucket; of each */
    size_t count, columns, bucket_bytes;
    char *buckets;
    unsigned char *sources; /* of each bucket: a level, FROM_ROWS or FROM_NOTHING */
    size_t level;           /* the finest that is of use */
    unsigned char source;   /* of what is being added */
    trend_view *views[TREND_LEVELS];
    char *names;   /* of the columns, as JSON, one per line */
    bool is_known; /* the key is in memory */
    char *head;    /* {"stream":...,"key":... */
} history_answer;

/* ---- Buckets ---- */

static trend_bucket *bucket_at(const history_answer *answer, size_t i)
{
    return (trend_bucket *)(void *)(answer->buckets + i * answer->bucket_bytes);
}

/* The bucket of a time, if this source may add to it; NULL: no. */
static trend_bucket *find_bucket(history_answer *answer, double time)
{
    const double place = floor((time - answer->from) / answer->seconds);
    if (!(place >= 0 && place < (double)answer->count))
        return NULL;
    unsigned char *source = &answer->sources[(size_t)place];
    if (*source == FROM_NOTHING)
        *source = answer->source;
    return *source == answer->source ? bucket_at(answer, (size_t)place) : NULL;
}

static void add_bucket(void *context, const trend_bucket *one, size_t columns)
{
    history_answer *answer = context;
    trend_bucket *to = find_bucket(answer, one->time);
    if (to)
        trend_bucket_merge(to, one, columns < answer->columns ? columns : answer->columns);
}

static void add_row(const stream *one, const history_key *key, const history_point *point,
                    history_answer *answer)
{
    trend_bucket *to = find_bucket(answer, point->time);
    const float *expected = to ? history_band_of(one->past, key, point->row) : NULL;
    if (!to)
        return;
    trend_bucket_add(to,
                     &(trend_row){.time = point->time,
                                  .score = point->score,
                                  .threshold = point->threshold,
                                  .grade = point->grade,
                                  .values = history_values(point)},
                     answer->columns);
    for (size_t i = 0; expected && i < answer->columns; i++) {
        trend_columns(to)[i].expected_low = expected[2 * i];
        trend_columns(to)[i].expected_high = expected[2 * i + 1];
    }
}

/* ---- Under the lock ---- */

/* Rows that are few have no fine buckets. */
static bool are_rows_better(const history_key *key, const history_answer *answer)
{
    return answer->seconds < rows_shorter_than ||
           (key->trend && trend_seconds[key->trend->finest] > answer->seconds);
}

/* Buckets that the recent rows cover from their start on. */
static void add_rows(const stream *one, const history_key *key, history_answer *answer)
{
    if (key->points.count == 0 || !are_rows_better(key, answer))
        return;
    const double first = history_point_at(one->past, key, 0)->time;
    const bool is_all = key->info.rows == key->points.count;
    const double begin =
        is_all ? -INFINITY : ceil((first - answer->from) / answer->seconds) * answer->seconds;
    answer->source = FROM_ROWS;
    for (uint32_t i = 0; i < key->points.count; i++) {
        const history_point *point = history_point_at(one->past, key, i);
        if (point->time - answer->from >= begin)
            add_row(one, key, point, answer);
    }
}

/* What is open at a finer level is part of the bucket that is open at this one. Of the coarser
 * levels, only the one that takes the rows has what no other has. */
static void add_open(const trend *open, history_answer *answer)
{
    for (size_t level = 0; level < TREND_LEVELS; level++) {
        const bool is_fine = level <= answer->level;
        answer->source = (unsigned char)(is_fine ? answer->level : level);
        if ((is_fine || level == open->finest) && trend_open(open, level)->rows > 0)
            add_bucket(answer, trend_open(open, level), open->columns);
    }
}

static bool look_at_files(stream *one, uint64_t key, history_answer *answer)
{
    bool is_good = true;
    for (size_t level = answer->level; one->trends && level < TREND_LEVELS && is_good; level++) {
        answer->views[level] = trend_store_look(one->trends, key, level);
        is_good = answer->views[level] != NULL;
    }
    return is_good;
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

static char *write_head(const stream *one, const history_query *query)
{
    size_t bytes;
    output_divert();
    stream_begin_object(one, query->key ? query->key : "", query->key_bytes);
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
    while (answer->level + 1 < TREND_LEVELS && trend_seconds[answer->level + 1] <= answer->seconds)
        answer->level++;
    answer->buckets = calloc(answer->count + 1, answer->bucket_bytes);
    answer->sources = malloc(answer->count + 1);
    if (!answer->buckets || !answer->sources)
        return false;
    memset(answer->sources, FROM_NOTHING, answer->count + 1);
    for (size_t i = 0; i < answer->count; i++)
        trend_bucket_clear(bucket_at(answer, i), columns);
    return true;
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

static void write_number(float value)
{
    if (isfinite(value))
        output_print("%.7g", (double)value);
    else
        output_print("null");
}

static bool is_filled(const history_answer *answer, size_t i)
{
    return bucket_at(answer, i)->rows > 0;
}

typedef void number_writer(const trend_bucket *bucket, size_t column);

static void write_list(const history_answer *answer, const char *before, number_writer *write,
                       size_t column)
{
    const char *comma = "";
    output_print("%s[", before);
    for (size_t i = 0; i < answer->count; i++)
        if (is_filled(answer, i)) {
            output_print("%s", comma);
            write(bucket_at(answer, i), column);
            comma = ",";
        }
    output_print("]");
}

static void write_rows(const trend_bucket *bucket, size_t column)
{
    (void)column;
    output_print("%" PRIu32, bucket->rows);
}

static void write_anomalies(const trend_bucket *bucket, size_t column)
{
    (void)column;
    output_print("%" PRIu32, bucket->anomalies);
}

static void write_grade(const trend_bucket *bucket, size_t column)
{
    (void)column;
    output_print("%" PRIu32, bucket->grade);
}

static void write_threshold(const trend_bucket *bucket, size_t column)
{
    (void)column;
    write_number(bucket->threshold);
}

static void write_score(const trend_bucket *bucket, size_t which)
{
    const float of[] = {bucket->score_low, bucket->score_high, bucket->score_mean};
    write_number(of[which]);
}

static void write_low(const trend_bucket *bucket, size_t column)
{
    write_number(trend_columns_of(bucket)[column].low);
}

static void write_high(const trend_bucket *bucket, size_t column)
{
    write_number(trend_columns_of(bucket)[column].high);
}

static void write_mean(const trend_bucket *bucket, size_t column)
{
    write_number(trend_columns_of(bucket)[column].mean);
}

static void write_expected(const trend_bucket *bucket, size_t column)
{
    const trend_column *of = &trend_columns_of(bucket)[column];
    if (isfinite(of->expected_low) && isfinite(of->expected_high))
        output_print("[%.7g,%.7g]", (double)of->expected_low, (double)of->expected_high);
    else
        output_print("null");
}

static void write_times(const history_answer *answer)
{
    const char *comma = "";
    output_print(",\"times\":[");
    for (size_t i = 0; i < answer->count; i++)
        if (is_filled(answer, i)) {
            output_print("%s", comma);
            output_json_number(answer->from + (double)i * answer->seconds);
            comma = ",";
        }
    output_print("]");
}

static void write_columns(const history_answer *answer)
{
    const char *name = answer->names;
    output_print(",\"values\":{");
    for (size_t i = 0; i < answer->columns; i++, name += strcspn(name, "\n") + 1) {
        output_print("%s%.*s:{", i > 0 ? "," : "", (int)strcspn(name, "\n"), name);
        write_list(answer, "\"low\":", write_low, i);
        write_list(answer, ",\"high\":", write_high, i);
        write_list(answer, ",\"mean\":", write_mean, i);
        write_list(answer, ",\"expected\":", write_expected, i);
        output_print("}");
    }
    output_print("}");
}

static void write_answer(const history_answer *answer)
{
    output_print("%s", answer->head);
    write_json_member("from", answer->from);
    write_json_member("to", answer->from + (double)answer->count * answer->seconds);
    write_json_member("seconds", answer->seconds);
    write_times(answer);
    write_list(answer, ",\"rows\":", write_rows, 0);
    write_list(answer, ",\"anomalies\":", write_anomalies, 0);
    write_list(answer, ",\"grades\":", write_grade, 0);
    write_list(answer, ",\"thresholds\":", write_threshold, 0);
    write_list(answer, ",\"scores\":{\"low\":", write_score, 0);
    write_list(answer, ",\"high\":", write_score, 1);
    write_list(answer, ",\"mean\":", write_score, 2);
    output_print("}");
    write_columns(answer);
    output_print("}");
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
    const uint64_t hash = history_hash(query->key ? query->key : "", query->key_bytes);
    if (!make_buckets(answer, query, one->past->value_count) || !look_at_files(one, hash, answer))
        return fail_without_memory(why);
    if (key)
        add_rows(one, key, answer);
    if (key && key->trend && key->trend->columns == one->past->value_count)
        add_open(key->trend, answer);
    answer->names = write_names(one);
    answer->head = write_head(one, query);
    return (answer->names && answer->head) || fail_without_memory(why);
}

static void read_files(stream *one, history_answer *answer)
{
    uint64_t damaged = 0;
    const double to = answer->from + (double)answer->count * answer->seconds;
    for (size_t level = answer->level; level < TREND_LEVELS && answer->views[level]; level++) {
        answer->source = (unsigned char)level;
        damaged += trend_view_read(answer->views[level], answer->from, to, add_bucket, answer);
    }
    if (damaged == 0)
        return;
    stream_begin_look(one);
    if (one->trends)
        trend_store_count_damaged(one->trends, damaged);
    stream_end_look(one);
}

static bool has_buckets(const history_answer *answer)
{
    size_t i = 0;
    while (i < answer->count && !is_filled(answer, i))
        i++;
    return i < answer->count;
}

static void close_answer(history_answer *answer)
{
    for (size_t level = 0; level < TREND_LEVELS; level++)
        trend_view_free(answer->views[level]);
    free(answer->buckets);
    free(answer->sources);
    free(answer->names);
    free(answer->head);
}

bool stream_write_history(stream *one, const history_query *query, problem *why)
{
    history_query asked = *query;
    history_answer answer = {0};
    stream_begin_look(one);
    bool is_good = look(one, &asked, &answer, why);
    stream_end_look(one);
    if (is_good)
        read_files(one, &answer);
    if (is_good && !answer.is_known && !has_buckets(&answer))
        is_good = problem_set(why, 404, NULL, "the stream has no such key, or has forgotten it");
    else if (is_good)
        write_answer(&answer);
    close_answer(&answer);
    return is_good;
}
