/* Learning rows with several threads: each part of the pool takes some of the trees through a
 * chunk of rows, one by one. What the trees add to a row's score are integers, so the order in
 * which threads add them does not matter.
 *
 *     rows      | chunk          | chunk          | ...     all threads meet between two chunks
 *     part 0      trees 0 to 15
 *     part 1      trees 16 to 31
 */
#ifndef OIF_DETECT_ROW_CHUNK_H
#define OIF_DETECT_ROW_CHUNK_H

#include "base/pool.h"
#include "detect/detector.h"

#include <stdatomic.h>

enum { OIF_ROW_CHUNK_MAX = 256 }; /* rows in a chunk */

/* What trees add to a row's score; the unit of the depths is the forest's. */
typedef struct oif_depth_total {
    uint64_t depth_sum;
    uint32_t trees; /* that were added up, where the forest has to know */
} oif_depth_total;

typedef struct oif_row_chunk {
    void *forest;
    const oif_rows *rows;
    size_t from;       /* the first row of the chunk ... */
    uint32_t count;    /* ... and how many */
    bool scores_first; /* scores are those that rows have before they are learned */
    oif_pool *pool;
    unsigned parts; /* of the pool */
    _Atomic uint64_t depth_sums[OIF_ROW_CHUNK_MAX];
    _Atomic uint32_t trees[OIF_ROW_CHUNK_MAX];
} oif_row_chunk;

/* How a forest learns a chunk. */
typedef struct oif_row_chunk_steps {
    /* Before any part begins; may be NULL. */
    void (*prepare)(const oif_row_chunk *chunk);
    /* Learns the chunk's rows in the trees of one part; the context is an oif_row_chunk. */
    void (*learn_part)(void *context, unsigned part);
    /* The next row of the chunk was learned in all trees. Returns its score. */
    double (*finish_row)(void *forest, bool scores_first, oif_depth_total total);
} oif_row_chunk_steps;

/* Whether threads are to share the rows. */
static inline bool oif_row_chunk_is_worth(const oif_rows *rows, const oif_pool *pool)
{
    return rows->count >= OIF_ROWS_WORTH_SHARING && oif_pool_parts(pool) > 1;
}

/* The first tree of a part, of so many trees; parts take whole lanes. */
uint32_t oif_row_chunk_first_tree(const oif_row_chunk *chunk, uint32_t tree_count, unsigned part);

/* What the trees of a part find for each row of the chunk, in the part's own memory. */
static inline oif_depth_total *oif_row_chunk_totals(const oif_row_chunk *chunk, unsigned part)
{
    _Static_assert(OIF_ROW_CHUNK_MAX * sizeof(oif_depth_total) <= OIF_THREAD_BYTES,
                   "a part has memory for the totals");
    return oif_pool_memory(chunk->pool, part);
}

/* Adds what the trees of a part have found for each row of the chunk. Once for all: threads that
 * add row by row wait for each other's cache lines, half of the time of learning. */
void oif_row_chunk_add(oif_row_chunk *chunk, const oif_depth_total *totals);

/* Learns all rows, at most `most` in a chunk, and writes their scores unless `scores` is NULL. */
void oif_row_chunk_learn(void *forest, const oif_row_chunk_steps *steps, uint32_t most,
                         const oif_rows *rows, double *scores, bool scores_first, oif_pool *pool);

#endif
