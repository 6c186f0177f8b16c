#include "pipeline/table/held_out.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "detect/params.h"

#include <string.h>

enum {
    FOLDS = 4,
    REPETITIONS = 4,
    LEARNED_ROWS = 1024, /* at least, some of them several times: small forests are all renewed */
    MOST_ROWS = 8192     /* for a detector that is not ready sooner */
};

static const uint8_t no_fold = FOLDS;

/* The rows in random order, and the fold of each. */
typedef struct folds {
    uint32_t *order;
    uint8_t *of_row;
    oif_random random;
} folds;

static oif_status open_folds(folds *f, size_t count, uint64_t seed, oif_error *error)
{
    f->order = oif_memory_new(oif_size_multiply(count, sizeof *f->order));
    f->of_row = oif_memory_new(count);
    f->random = oif_random_stream(seed, 1);
    if (!f->order || !f->of_row)
        return oif_fail(error, OIF_EMEMORY, "no memory for a table of %zu rows", count);
    for (uint32_t i = 0; i < count; i++)
        f->order[i] = i;
    memset(f->of_row, 0, count);
    return OIF_OK;
}

static void close_folds(folds *f)
{
    oif_memory_free(f->order);
    oif_memory_free(f->of_row);
}

static void shuffle(folds *f, size_t count)
{
    for (uint32_t i = (uint32_t)count; i > 1; i--) {
        const uint32_t j = oif_random_below(&f->random, i), other = f->order[j];
        f->order[j] = f->order[i - 1];
        f->order[i - 1] = other;
    }
}

static void draw_folds(folds *f, size_t count)
{
    shuffle(f, count);
    for (size_t i = 0; i < count; i++)
        f->of_row[f->order[i]] = (uint8_t)(i % FOLDS);
}

/* Learns all rows but those of a fold, again and again until it has learned enough. */
static void learn_without(oif_detector *detector, const oif_table_rows *table, folds *f,
                          uint8_t fold)
{
    uint64_t learned;
    do {
        shuffle(f, table->count);
        for (size_t i = 0; i < table->count; i++) {
            const size_t row = f->order[i];
            oif_status status = OIF_OK;
            if (f->of_row[row] != fold)
                status = oif_detector_learn(detector, table->rows + row * table->numbers, NULL);
            (void)status; /* only an infinity could fail */
        }
        learned = oif_detector_rows_learned(detector);
    } while (learned < LEARNED_ROWS || (!oif_detector_ready(detector) && learned < MOST_ROWS));
}

static void score_fold(const oif_detector *detector, const oif_table_rows *table, const folds *f,
                       uint8_t fold, double *scores)
{
    for (size_t row = 0; row < table->count; row++) {
        double score = 0;
        oif_status status = OIF_OK;
        if (f->of_row[row] == fold)
            status = oif_detector_score(detector, table->rows + row * table->numbers, &score, NULL);
        (void)status; /* only an infinity could fail */
        scores[row] += score / REPETITIONS;
    }
}

/* Each detector has a seed of its own, so trees differ. */
static oif_params seeded(const oif_params *params, unsigned number)
{
    oif_params other = *params;
    const double seed = oif_params_value(params, "seed");
    oif_status status = oif_params_set(
        &other, "seed", seed + number <= 0x1p53 ? seed + number : seed - number, NULL);
    (void)status; /* every detector has one */
    return other;
}

static oif_status repeat(const oif_params *params, const oif_table_rows *table, folds *f,
                         unsigned repetition, double *scores, oif_error *error)
{
    draw_folds(f, table->count);
    for (uint8_t fold = 0; fold < FOLDS; fold++) {
        const oif_params own = seeded(params, repetition * FOLDS + fold);
        oif_detector *detector;
        oif_status status = oif_detector_new(&own, table->numbers, &detector, error);
        if (status != OIF_OK)
            return status;
        learn_without(detector, table, f, fold);
        score_fold(detector, table, f, fold, scores);
        oif_detector_free(detector);
    }
    return OIF_OK;
}

oif_status oif_held_out_scores(const oif_params *params, const oif_table_rows *table,
                               double *scores, oif_error *error)
{
    folds f;
    oif_status status =
        open_folds(&f, table->count, (uint64_t)oif_params_value(params, "seed"), error);
    memset(scores, 0, table->count * sizeof *scores);
    for (unsigned i = 0; i < REPETITIONS && status == OIF_OK; i++)
        status = repeat(params, table, &f, i, scores, error);
    close_folds(&f);
    return status;
}

oif_status oif_held_out_learn_all(oif_detector *detector, const oif_table_rows *table,
                                  oif_error *error)
{
    folds f;
    const oif_params *params = oif_detector_params(detector);
    oif_status status =
        open_folds(&f, table->count, (uint64_t)oif_params_value(params, "seed"), error);
    if (status == OIF_OK)
        learn_without(detector, table, &f, no_fold);
    close_folds(&f);
    return status;
}
