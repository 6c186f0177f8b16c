/* Rows that the threads of a pool learn together. */
#include "detect/online_iforest/row_chunk.h"

#include "detect/online_iforest/online_iforest.h"

uint32_t oif_row_chunk_first_tree(const oif_row_chunk *chunk, uint32_t tree_count, unsigned part)
{
    uint32_t lanes = (tree_count + OIF_LANES - 1) / OIF_LANES;
    return oif_min_u32(lanes * part / chunk->parts * OIF_LANES, tree_count);
}

void oif_row_chunk_add(oif_row_chunk *chunk, const oif_depth_total *totals)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        atomic_fetch_add_explicit(&chunk->depth_sums[i], totals[i].depth_sum, memory_order_relaxed);
        atomic_fetch_add_explicit(&chunk->trees[i], totals[i].trees, memory_order_relaxed);
    }
}

static oif_depth_total total_of_row(oif_row_chunk *chunk, uint32_t i)
{
    return (oif_depth_total){atomic_load_explicit(&chunk->depth_sums[i], memory_order_relaxed),
                             atomic_load_explicit(&chunk->trees[i], memory_order_relaxed)};
}

static void learn_chunk(oif_row_chunk *chunk, const oif_row_chunk_steps *steps, double *scores,
                        oif_pool *pool)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        atomic_init(&chunk->depth_sums[i], 0);
        atomic_init(&chunk->trees[i], 0);
    }
    if (steps->prepare)
        steps->prepare(chunk);
    oif_pool_run(pool, steps->learn_part, chunk);
    for (uint32_t i = 0; i < chunk->count; i++) {
        double score =
            steps->finish_row(chunk->forest, chunk->scores_first, total_of_row(chunk, i));
        if (scores)
            scores[chunk->from + i] = score;
    }
}

void oif_row_chunk_learn(void *forest, const oif_row_chunk_steps *steps, uint32_t most,
                         const oif_rows *rows, double *scores, bool scores_first, oif_pool *pool)
{
    oif_row_chunk chunk = {.forest = forest,
                           .rows = rows,
                           .scores_first = scores_first,
                           .pool = pool,
                           .parts = oif_pool_parts(pool)};
    for (; chunk.from < rows->count; chunk.from += chunk.count) {
        chunk.count =
            (uint32_t)oif_min_size(rows->count - chunk.from, oif_min_u32(most, OIF_ROW_CHUNK_MAX));
        learn_chunk(&chunk, steps, scores, pool);
    }
}
