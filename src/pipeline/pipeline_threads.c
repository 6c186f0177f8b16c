/* Rows of a pipeline on several threads, by key. What keys share is left to the calling thread, in
 * the order of the rows, so the bits are those of one thread:
 *
 *     before     finds the models, up to the first row whose key has none in memory as a whole
 *     at once    each thread processes the rows of its keys, in their order
 *     after      counts the rows: which key was last, when it will be silent, when it may go
 *
 * A row that the first step stops at is processed by itself: it may need another model's room. With
 * a budget of alerts every row depends on all before it, so all rows are processed that way. */
#include "base/error.h"
#include "base/pool.h"
#include "detect/detector.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS_AT_ONCE = 512, ROWS_WORTH_SHARING = 8 };

/* What the caller gives. */
typedef struct given_rows {
    const double *rows, *seconds;
    size_t count, stride;
    const char *const *keys;
    const size_t *key_bytes;
    oif_result *results;
    oif_row_function after;
    void *context;
} given_rows;

/* What is noted about each row, in the memory of the pool. */
typedef struct row_notes {
    uint32_t entries[MOST_ROWS_AT_ONCE];
    double deadlines[MOST_ROWS_AT_ONCE]; /* of the keys, after each row */
} row_notes;

/* Rows of keys whose models are at hand. */
typedef struct shared_rows {
    oif_pipeline *pipeline;
    const given_rows *given;
    size_t first, count;
    unsigned parts;
    row_notes *notes;
} shared_rows;

typedef struct key_text {
    const char *text;
    size_t bytes;
} key_text;

static key_text key_of(const given_rows *given, size_t i)
{
    const char *key = given->keys ? given->keys[i] : NULL;
    return (key_text){key, !key ? 0 : given->key_bytes ? given->key_bytes[i] : strlen(key)};
}

static double seconds_of(const given_rows *given, size_t i)
{
    return given->seconds ? given->seconds[i] : NAN;
}

/* The entry of a row's key if the row can be processed with others, else OIF_NO_KEY. */
static uint32_t find_entry(const oif_pipeline *p, const given_rows *given, size_t i)
{
    key_text key = key_of(given, i);
    uint32_t entry = oif_keys_find(&p->keys, key.text, key.bytes);
    bool is_at_hand = entry != OIF_NO_KEY && p->keys.entries[entry].value;
    bool is_valid = !isinf(seconds_of(given, i)) &&
                    oif_row_check(given->rows + i * given->stride, p->columns, 1, NULL) == OIF_OK;
    return is_at_hand && is_valid ? entry : OIF_NO_KEY;
}

static void gather(shared_rows *shared)
{
    const given_rows *given = shared->given;
    size_t left = given->count - shared->first;
    size_t most = left < MOST_ROWS_AT_ONCE ? left : MOST_ROWS_AT_ONCE;
    for (shared->count = 0; shared->count < most; shared->count++) {
        uint32_t entry = find_entry(shared->pipeline, given, shared->first + shared->count);
        if (entry == OIF_NO_KEY)
            return;
        shared->notes->entries[shared->count] = entry;
    }
}

/* Entries are numbered as keys come, so neighbours go to different threads. */
static void process_part(void *context, unsigned part)
{
    shared_rows *shared = context;
    const given_rows *given = shared->given;
    /* for `after`, which asks about the row of this thread */
    oif_pipeline view = *shared->pipeline;
    for (size_t i = 0; i < shared->count; i++) {
        const uint32_t entry = shared->notes->entries[i];
        const size_t row = shared->first + i;
        if (entry % shared->parts != part)
            continue;
        oif_model *model = view.keys.entries[entry].value;
        oif_row_question asked;
        const oif_row_rules *rules = oif_pipeline_row_rules(&view, entry, &asked);
        oif_model_process(model, given->rows + row * given->stride, seconds_of(given, row), rules,
                          NULL, &given->results[row]);
        if (rules)
            oif_pipeline_keep_episode(&view, model, view.rows + i + 1, &asked,
                                      &given->results[row]);
        shared->notes->deadlines[i] = oif_alerts_deadline(&model->alerts);
        view.last = entry;
        if (given->after)
            given->after(given->context, &view, row, &given->results[row]);
    }
}

static void count_rows(shared_rows *shared)
{
    oif_pipeline *p = shared->pipeline;
    for (size_t i = 0; i < shared->count; i++) {
        const uint32_t entry = shared->notes->entries[i];
        const size_t row = shared->first + i;
        oif_pipeline_count_held(p, &shared->given->results[row], seconds_of(shared->given, row));
        oif_silence_queue_push(&p->silence, &p->keys, entry, shared->notes->deadlines[i]);
        oif_keys_touch(&p->keys, entry);
        oif_keys_mark(&p->keys, entry);
        p->last = entry;
        p->rows++;
        oif_eviction_see(&p->keys.entries[entry], p->rows);
    }
}

/* How many rows from `first` on were processed, on several threads if they are many; 0: the first
 * one is to be processed by itself. */
static size_t process_at_once(oif_pipeline *p, const given_rows *given, size_t first)
{
    const bool is_watched = p->models.watch.before_change != NULL;
    if (!p->pool || p->budget.per_day > 0 || p->models.have_grown || is_watched)
        return 0;
    shared_rows shared = {
        .pipeline = p, .given = given, .first = first, .notes = oif_pool_memory(p->pool, 0)};
    gather(&shared);
    const bool is_shared = shared.count >= ROWS_WORTH_SHARING;
    shared.parts = is_shared ? oif_pool_parts(p->pool) : 1;
    if (is_shared)
        oif_pool_run(p->pool, process_part, &shared);
    else
        process_part(&shared, 0); /* their models were found; to find them again costs more */
    count_rows(&shared);
    return shared.count;
}

static oif_status process_one(oif_pipeline *p, const given_rows *given, size_t i, oif_error *error)
{
    key_text key = key_of(given, i);
    oif_status status =
        oif_pipeline_process_at(p, key.text, key.bytes, seconds_of(given, i),
                                given->rows + i * given->stride, &given->results[i], error);
    if (status == OIF_OK && given->after)
        given->after(given->context, p, i, &given->results[i]);
    if (status != OIF_OK && error)
        error->line = i + 1;
    return status;
}

oif_status oif_pipeline_process_rows_with(oif_pipeline *pipeline, const double *rows, size_t count,
                                          size_t stride, const char *const *keys,
                                          const size_t *key_bytes, const double *seconds,
                                          oif_row_function after, void *context,
                                          oif_result *results, size_t *done, oif_error *error)
{
    const given_rows given = {rows,      seconds, count, stride, keys,
                              key_bytes, results, after, context};
    *done = 0;
    oif_status status = oif_pipeline_refuse_reentry(pipeline, error);
    if (count > 1 && stride < pipeline->columns)
        return oif_fail(error, OIF_EPARAM,
                        "the stride from row to row must be at least %zu, the number of columns",
                        pipeline->columns);
    while (*done < count && status == OIF_OK) {
        size_t at_once = process_at_once(pipeline, &given, *done);
        if (at_once == 0) {
            status = process_one(pipeline, &given, *done, error);
            at_once = status == OIF_OK;
        }
        *done += at_once;
    }
    return status;
}

oif_status oif_pipeline_process_rows(oif_pipeline *pipeline, const double *rows, size_t count,
                                     size_t stride, const char *const *keys,
                                     const size_t *key_bytes, const double *seconds,
                                     oif_result *results, size_t *done, oif_error *error)
{
    return oif_pipeline_process_rows_with(pipeline, rows, count, stride, keys, key_bytes, seconds,
                                          NULL, NULL, results, done, error);
}

oif_status oif_pipeline_set_threads(oif_pipeline *pipeline, unsigned threads, oif_error *error)
{
    return oif_pool_set(&pipeline->pool, threads, sizeof(row_notes), error);
}
