#include "detect/row_insertion.h"

#include "base/stable_math.h"
#include "base/vector.h"

#include <float.h>
#include <string.h>

/* With fewer rows, copies of the ranges cost more than they save. */
enum { ROWS_WORTH_SHARING = 128 };

double oif_row_insertion_score(const oif_row_insertion *insertion, const double *row, double score,
                               const oif_columns_left_out *left_out)
{
    if (!(score > DBL_MIN && score < 1))
        return score;
    double depth = -oif_log2(score) * insertion->depth;
    double inserted = oif_row_ranges_depth(insertion->ranges, row, depth, left_out);
    return inserted < depth ? oif_exp2(-inserted / insertion->depth) : score;
}

void oif_row_insertion_score_rows(const oif_row_insertion *insertion, const oif_rows *rows,
                                  double *scores)
{
    for (size_t i = 0; i < rows->count; i++)
        if (oif_row_ranges_may_be_outside(insertion->ranges, oif_rows_at(rows, i)))
            scores[i] = oif_row_insertion_score(insertion, oif_rows_at(rows, i), scores[i], NULL);
}

/* ---- Learning ---- */

OIF_INLINE void score_learn_row(const oif_row_insertion *insertion, const oif_rows *rows, size_t i,
                                double *scores)
{
    const double *row = oif_rows_at(rows, i);
    if (scores && oif_row_ranges_may_be_outside(insertion->ranges, row))
        scores[i] = oif_row_insertion_score(insertion, row, scores[i], NULL);
    (void)oif_row_ranges_learn(insertion->ranges, row, rows->complete);
}

OIF_INLINE void learn_score_row(const oif_row_insertion *insertion, const oif_rows *rows, size_t i,
                                double *scores)
{
    const double *row = oif_rows_at(rows, i);
    bool may_be_outside = oif_row_ranges_learn(insertion->ranges, row, rows->complete);
    if (scores && may_be_outside)
        scores[i] = oif_row_insertion_score(insertion, row, scores[i], NULL);
}

/* Learns the rows from `from` to `end`, and scores them unless `scores` is NULL. */
OIF_INLINE void learn_some(const oif_row_insertion *insertion, const oif_rows *rows, size_t from,
                           size_t end, double *scores, bool scores_first)
{
    for (size_t i = from; i < end; i++)
        if (scores_first)
            score_learn_row(insertion, rows, i, scores);
        else
            learn_score_row(insertion, rows, i, scores);
}

/* ---- Threads ---- */

/* Each row is judged by the ranges of the rows before it, so threads cannot simply share the rows.
 * But of the time two thirds are judging: every part learns all rows up to its own in a copy of the
 * ranges, and judges its own. The last part has learned all rows and works on the ranges
 * themselves.
 *
 *     part 0    learn and judge |
 *     part 1    learn           | learn and judge |
 */
typedef struct shared_rows {
    const oif_row_insertion *insertion;
    const oif_rows *rows;
    double *scores;
    bool scores_first;
    oif_pool *pool;
} shared_rows;

/* The first row of a part. All parts take equally long if each has two thirds of the rows that the
 * one before has, because judging takes twice as long as learning. */
static size_t first_row(size_t rows, unsigned part, unsigned parts)
{
    double left = 1, left_by_all = 1;
    for (unsigned i = 0; i < parts; i++) {
        left = i < part ? left * 2 / 3 : left;
        left_by_all = left_by_all * 2 / 3;
    }
    return part == parts ? rows : (size_t)((double)rows * (1 - left) / (1 - left_by_all));
}

static void learn_part(void *context, unsigned part)
{
    const shared_rows *shared = context;
    const oif_rows *rows = shared->rows;
    const unsigned parts = oif_pool_parts(shared->pool);
    const size_t from = first_row(rows->count, part, parts),
                 end = first_row(rows->count, part + 1, parts);
    oif_row_insertion own = *shared->insertion;
    if (part + 1 < parts)
        own.ranges = oif_pool_memory(shared->pool, part);
    learn_some(&own, rows, 0, from, NULL, shared->scores_first);
    learn_some(&own, rows, from, end, shared->scores, shared->scores_first);
}

static __attribute__((noinline)) void learn_shared(shared_rows *shared)
{
    const oif_row_ranges *ranges = shared->insertion->ranges;
    for (unsigned part = 0; part + 1 < oif_pool_parts(shared->pool); part++)
        memcpy(oif_pool_memory(shared->pool, part), ranges, oif_row_ranges_bytes(ranges->columns));
    oif_pool_run(shared->pool, learn_part, shared);
}

void oif_row_insertion_learn(const oif_row_insertion *insertion, const oif_rows *rows,
                             double *scores, bool scores_first, oif_pool *pool)
{
    if (pool && scores && rows->count >= ROWS_WORTH_SHARING)
        learn_shared(&(shared_rows){insertion, rows, scores, scores_first, pool});
    else
        learn_some(insertion, rows, 0, rows->count, scores, scores_first);
}
