/* Rows of a pipeline by key, on one or several threads. A key's rows are processed one after the
 * other, as long as its model is in the caches: with 1,000 keys in turn, to fetch another model for
 * every row took twice as long as the row. What keys share is left to the calling thread, in the
 * order of the rows, so the bits are those of single rows:
 *
 *     before     finds the models, up to the first row whose key has none at hand
 *     packed     the calling thread processes the rows of keys with packed models, key by key
 *     at once    each thread processes the rows of its keys with whole models, key by key
 *     after      counts the rows: which key was last, when it will be silent, when it may go
 *
 *     rows       a b c a c a          keys   a: 0 -> 3 -> 5     b: 1     c: 2 -> 4
 *
 * A packed model may need memory when it grows. If there is none, all packed models are restored
 * and the rows are processed one by one, up to the one that fails. With a limit on memory packed
 * models are not at hand: when they are packed decides what they take, and that decides what is
 * evicted.
 *
 * A row that the first step stops at is processed by itself: it may need another model's room. With
 * a budget of alerts every row depends on all before it, so all rows are processed that way. So are
 * the rows of one thread with a function to be called after each, in their order. */
#include "base/error.h"
#include "base/memory.h"
#include "base/pool.h"
#include "detect/detector.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROWS_AT_ONCE = 8192, /* 8 of each key, of 1,000 keys in turn */
    SLOTS = 2 * MOST_ROWS_AT_ONCE,
    ROWS_WORTH_SHARING = 8,
    ROWS_WORTH_GROUPING = 64, /* fewer are not worth the memory for notes */
    ROWS_WORTH_A_COPY = 3     /* of a packed model, on average */
};

/* Of packed models, to restore them. */
static const size_t most_copied_bytes = (size_t)64 << 20;

/* What the caller gives. */
typedef struct given_rows {
    const double *rows, *seconds;
    size_t count, stride;
    const char *const *keys;
    const size_t *key_bytes;
    oif_result *results;
    oif_row_function after;
    void *context;
    size_t single_until; /* packed models are not at hand before this row */
} given_rows;

/* The rows of a key: indices of `next`. */
typedef struct key_rows {
    uint32_t entry, first, last;
    uint32_t slot;
    bool is_packed;           /* before the first row */
    oif_packed_model *before; /* NULL: not yet copied */
} key_rows;

#define NO_ROW UINT32_MAX

/* What is noted about each row, and the keys in the order of their first rows. */
typedef struct oif_row_notes {
    uint32_t entries[MOST_ROWS_AT_ONCE];
    uint32_t next[MOST_ROWS_AT_ONCE];    /* row of the same key; NO_ROW: none */
    double deadlines[MOST_ROWS_AT_ONCE]; /* of the keys, after each row */
    key_rows keys[MOST_ROWS_AT_ONCE];
    uint32_t key_count;
    uint32_t slots[SLOTS]; /* a hash table of indices of `keys`, from 1; 0: free */
} row_notes;

/* Rows of keys whose models are at hand. */
typedef struct shared_rows {
    oif_pipeline *pipeline;
    const given_rows *given;
    size_t first, count;
    unsigned parts;
    row_notes *notes;
    size_t packed_rows, packed_keys; /* among them */
    size_t packed_bytes;             /* of the models of these keys */
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

/* ---- Before ---- */

/* The entry of a row's key if it has a model and the row is valid, else OIF_NO_KEY. */
static uint32_t find_entry(const oif_pipeline *p, const given_rows *given, size_t i)
{
    key_text key = key_of(given, i);
    uint32_t entry = oif_keys_find(&p->keys, key.text, key.bytes);
    bool is_valid = !isinf(seconds_of(given, i)) &&
                    oif_row_check(given->rows + i * given->stride, p->columns, 1, NULL) == OIF_OK;
    return is_valid ? entry : OIF_NO_KEY;
}

/* The index of `keys` in which a key is, or where it would be added. `*slot`: of either. */
static uint32_t find_key(const row_notes *notes, uint32_t entry, uint32_t *slot)
{
    const uint32_t mixed = entry * UINT32_C(0x9e3779b1);
    for (*slot = (mixed >> 16 ^ mixed) % SLOTS; notes->slots[*slot] != 0;
         *slot = (*slot + 1) % SLOTS)
        if (notes->keys[notes->slots[*slot] - 1].entry == entry)
            return notes->slots[*slot] - 1;
    return notes->key_count;
}

/* Whether packed models are at hand. Kept episodes could not be taken back. */
static bool are_packed_at_hand(const shared_rows *shared)
{
    const oif_pipeline *p = shared->pipeline;
    const given_rows *given = shared->given;
    return p->memory_limit == SIZE_MAX && !p->past && !given->after &&
           shared->first >= given->single_until &&
           given->count - shared->first >= ROWS_WORTH_A_COPY;
}

static bool is_packed_at_hand(const shared_rows *shared, const oif_packed_model *packed)
{
    return are_packed_at_hand(shared) && packed->bytes <= most_copied_bytes - shared->packed_bytes;
}

/* Notes a key at its first row. False: its model is not at hand. */
static bool add_key(shared_rows *shared, uint32_t entry, uint32_t slot)
{
    row_notes *notes = shared->notes;
    const oif_key_entry *held = &shared->pipeline->keys.entries[entry];
    const oif_packed_model *packed = held->packed;
    if (!held->value && !is_packed_at_hand(shared, packed))
        return false;
    if (!held->value) {
        shared->packed_keys++;
        shared->packed_bytes += packed->bytes;
    }
    notes->keys[notes->key_count++] = (key_rows){
        .entry = entry, .first = NO_ROW, .last = NO_ROW, .slot = slot, .is_packed = !held->value};
    notes->slots[slot] = notes->key_count;
    return true;
}

/* Notes the next row. False: the model of its key is not at hand. */
static bool add_row(shared_rows *shared, uint32_t entry)
{
    uint32_t slot;
    row_notes *notes = shared->notes;
    const uint32_t row = (uint32_t)shared->count, at = find_key(notes, entry, &slot);
    if (at == notes->key_count && !add_key(shared, entry, slot))
        return false;
    key_rows *key = &notes->keys[at];
    *(key->first == NO_ROW ? &key->first : &notes->next[key->last]) = row;
    key->last = row;
    notes->entries[row] = entry;
    notes->next[row] = NO_ROW;
    shared->packed_rows += key->is_packed;
    shared->count++;
    return true;
}

static void forget_keys(row_notes *notes)
{
    while (notes->key_count > 0)
        notes->slots[notes->keys[--notes->key_count].slot] = 0;
}

static void gather(shared_rows *shared)
{
    const given_rows *given = shared->given;
    size_t left = given->count - shared->first;
    size_t most = left < MOST_ROWS_AT_ONCE ? left : MOST_ROWS_AT_ONCE;
    while (shared->count < most) {
        uint32_t entry = find_entry(shared->pipeline, given, shared->first + shared->count);
        if (entry == OIF_NO_KEY || !add_row(shared, entry))
            return;
    }
}

/* ---- Rows ---- */

/* Processes row `i` of a block. `view`: the pipeline as `after` sees it, which asks about this
 * row. */
static void process_row(const shared_rows *shared, oif_pipeline *view, oif_model *model, size_t i)
{
    const given_rows *given = shared->given;
    const size_t row = shared->first + i;
    oif_row_question asked;
    view->last = shared->notes->entries[i];
    const oif_row_rules *rules = oif_pipeline_row_rules(view, view->last, &asked);
    oif_model_process(model, given->rows + row * given->stride, seconds_of(given, row), rules, NULL,
                      &given->results[row]);
    if (rules)
        oif_pipeline_keep_episode(view, model, view->rows + i + 1, &asked, &given->results[row]);
    shared->notes->deadlines[i] = oif_pauses_deadline(&model->pauses);
    if (given->after)
        given->after(given->context, view, row, &given->results[row]);
}

/* Entries are numbered as keys come, so neighbours go to different threads. */
static void process_part(void *context, unsigned part)
{
    const shared_rows *shared = context;
    const row_notes *notes = shared->notes;
    oif_pipeline view = *shared->pipeline;
    for (uint32_t i = 0; i < notes->key_count; i++) {
        const key_rows *key = &notes->keys[i];
        if (key->is_packed || key->entry % shared->parts != part)
            continue;
        for (uint32_t row = key->first; row != NO_ROW; row = notes->next[row])
            process_row(shared, &view, view.keys.entries[key->entry].value, row);
    }
}

/* ---- Packed models ---- */

static bool process_packed_key(const shared_rows *shared, oif_pipeline *view, key_rows *key)
{
    oif_models *models = &shared->pipeline->models;
    oif_model *model;
    if (!oif_models_copy_packed(models, key->entry, &key->before) ||
        oif_models_open_for_row(models, key->entry, &model, NULL) != OIF_OK)
        return false;
    for (uint32_t row = key->first; row != NO_ROW; row = shared->notes->next[row])
        process_row(shared, view, model, row);
    return oif_models_put_back(models, NULL) == OIF_OK;
}

/* Frees what the models were, or restores it. */
static void end_packed(const shared_rows *shared, bool is_good)
{
    for (uint32_t i = 0; i < shared->notes->key_count; i++) {
        key_rows *key = &shared->notes->keys[i];
        if (key->before && is_good)
            oif_memory_free(key->before);
        else if (key->before)
            oif_models_restore_packed(&shared->pipeline->models, key->entry, key->before);
    }
}

/* All or, if memory runs out, no rows. */
static bool process_packed(const shared_rows *shared)
{
    oif_models *models = &shared->pipeline->models;
    oif_pipeline view = *shared->pipeline; /* only its key is asked for */
    const oif_models_sums sums = oif_models_sums_now(models);
    bool is_good = true;
    for (uint32_t i = 0; i < shared->notes->key_count && is_good; i++)
        if (shared->notes->keys[i].is_packed)
            is_good = process_packed_key(shared, &view, &shared->notes->keys[i]);
    end_packed(shared, is_good);
    if (!is_good)
        oif_models_restore_sums(models, &sums);
    models->have_grown = false; /* there is no limit */
    return is_good;
}

/* ---- After ---- */

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

/* Memory for notes, which the pipeline keeps; NULL if there is none. A limit on memory does not
 * count them: what is evicted must not depend on blocks. */
static row_notes *notes_of(oif_pipeline *p)
{
    if (!p->notes && (p->notes = oif_memory_new(sizeof *p->notes)) != NULL)
        memset(p->notes, 0, sizeof *p->notes);
    return p->notes;
}

/* Whether it helps to process rows key by key. Notes are at most a hundredth of a limit on memory,
 * unless threads need them. */
static bool is_order_useful(const oif_pipeline *p, const given_rows *given)
{
    return p->pool || (given->keys && !given->after && given->count >= ROWS_WORTH_GROUPING &&
                       p->memory_limit / 100 >= sizeof(row_notes));
}

/* Whether rows may be processed key by key, because the caller cannot see it. */
static bool is_order_free(const oif_pipeline *p, const given_rows *given)
{
    return is_order_useful(p, given) && p->budget.per_day <= 0 && !p->models.have_grown &&
           !p->models.watch.before_change;
}

/* Finds the models of the next rows. Packed ones only if they have several rows each, and none is
 * unpacked: that one may become whole when it is packed again. */
static void find_models(shared_rows *shared, given_rows *given)
{
    const shared_rows none = *shared;
    if (are_packed_at_hand(shared) &&
        oif_models_put_back(&shared->pipeline->models, NULL) != OIF_OK)
        given->single_until = shared->first + 1;
    gather(shared);
    if (shared->packed_rows >= ROWS_WORTH_A_COPY * shared->packed_keys)
        return;
    given->single_until = shared->first + shared->count;
    forget_keys(shared->notes);
    *shared = none;
    gather(shared);
}

/* How many rows from `first` on were processed, on several threads if they are many; 0: the first
 * one is to be processed by itself. */
static size_t process_at_once(oif_pipeline *p, given_rows *given, size_t first)
{
    shared_rows shared = {.pipeline = p, .given = given, .first = first};
    if (!is_order_free(p, given) || !(shared.notes = notes_of(p)))
        return 0;
    find_models(&shared, given);
    const bool is_shared = shared.count >= ROWS_WORTH_SHARING;
    shared.parts = is_shared ? oif_pool_parts(p->pool) : 1;
    if (shared.packed_keys > 0 && !process_packed(&shared)) {
        given->single_until = first + shared.count;
        shared.count = 0;
    } else if (is_shared) {
        oif_pool_run(p->pool, process_part, &shared);
    } else {
        process_part(&shared, 0); /* their models were found; to find them again costs more */
    }
    count_rows(&shared);
    forget_keys(shared.notes);
    return shared.count;
}

/* ---- Single rows ---- */

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
    given_rows given = {.rows = rows,
                        .seconds = seconds,
                        .count = count,
                        .stride = stride,
                        .keys = keys,
                        .key_bytes = key_bytes,
                        .results = results,
                        .after = after,
                        .context = context};
    *done = 0;
    oif_status status = OIF_OK;
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
    const bool had_notes = pipeline->notes;
    if (threads > 1 && !notes_of(pipeline))
        return oif_fail(error, OIF_EMEMORY, "no memory for the rows of %u threads", threads);
    oif_status status = oif_pool_set(&pipeline->pool, threads, 0, error);
    if (status != OIF_OK && !had_notes) {
        oif_memory_free(pipeline->notes);
        pipeline->notes = NULL;
    }
    return status;
}
