/* LODA: the data structures. loda.c has the algorithm.
 *
 *     row            (x0 x1 x2 ... )
 *     projections      |  \ |    |          each adds up a few columns with random weights
 *     ring           | v0 | v1 | .. |       projections of the rows in the window, one row per slot
 *     histograms     |_.::._|_.:._|..       one per projection: how often the window has each v
 */
#ifndef OIF_DETECT_LODA_H
#define OIF_DETECT_LODA_H

#include "base/block.h"
#include "detect/detector.h"

enum {
    /* logarithms are whole multiples of 2^-26, so sums do not depend on their order */
    OIF_LODA_LOG_BITS = 26,
    /* rows that the first ranges are chosen from; then twice as many each time, up to a window */
    OIF_LODA_FIRST_RANGE = 16
};

#define OIF_LODA_GREATEST_TERM 0x1p900 /* of a projection: sums of terms do not overflow */
#define OIF_LODA_LEAST_WIDTH 0x1p-900  /* of a range: the bins per unit stay finite */

typedef enum oif_loda_scale { OIF_LODA_LEARN, OIF_LODA_NONE } oif_loda_scale;

/* A histogram covers [low, high] with num_bins bins of equal width. */
typedef struct oif_loda_histogram {
    double low, high;
    double bins_a_unit; /* num_bins / (high - low); 0 if there is only one bin */
    int64_t width;      /* log2 of the range relative to the range of most rows */
    uint32_t counted;   /* rows of the window with a projection, in the range or not */
    uint32_t padding;   /* named, so it is initialised */
} oif_loda_histogram;

_Static_assert(sizeof(oif_loda_histogram) ==
                   offsetof(oif_loda_histogram, padding) + sizeof(uint32_t),
               "a histogram has padding");

/* The head of the state; arrays follow at the offsets `.._at`. It has no implicit padding, whose
 * bytes would be undefined: equal detectors have equal bytes. */
typedef struct oif_loda_state {
    uint32_t dimension, num_projections, num_bins, window_size;
    oif_loda_scale scale;

    uint32_t terms; /* columns in a projection */
    /* number of first rows kept to learn the columns' scales; 0 with scale none */
    uint32_t sample_size;

    uint32_t rows_held; /* in the window */
    uint32_t next_slot; /* of the ring */
    /* rows in a window that is not yet full at which all ranges are chosen again */
    uint32_t next_range;
    uint32_t has_ranges; /* 1 once the histograms have ranges */
    uint32_t padding;    /* named, so it is initialised */

    size_t columns_at; /* uint32_t [num_projections][terms], ascending */
    size_t normals_at; /* double   [num_projections][terms]: the weights as drawn */
    /* double   [num_projections][terms]: the weights divided by the columns' scales */
    size_t weights_at;
    /* double   [window_size][num_projections]; NaN if a value was missing */
    size_t ring_at;
    size_t histograms_at; /* oif_loda_histogram [num_projections] */
    size_t counts_at;     /* uint32_t [num_projections][num_bins] */
    /* int32_t  [window_size + 1]: log2 of every count; for the count 0 see loda.c */
    size_t logs_at;
    size_t sample_at;  /* double   [sample_size][dimension] */
    size_t scratch_at; /* double   [window_size]: numbers to find quantiles of */
    size_t bytes;
} oif_loda_state;

_Static_assert(offsetof(oif_loda_state, columns_at) ==
                   offsetof(oif_loda_state, padding) + sizeof(uint32_t),
               "the state of loda has padding");

static inline uint32_t *oif_loda_columns(const oif_loda_state *loda, uint32_t projection)
{
    return (uint32_t *)oif_block_part(loda, loda->columns_at) + (size_t)projection * loda->terms;
}

static inline double *oif_loda_normals(const oif_loda_state *loda, uint32_t projection)
{
    return (double *)oif_block_part(loda, loda->normals_at) + (size_t)projection * loda->terms;
}

static inline double *oif_loda_weights(const oif_loda_state *loda, uint32_t projection)
{
    return (double *)oif_block_part(loda, loda->weights_at) + (size_t)projection * loda->terms;
}

/* The projections of the row in a slot. */
static inline double *oif_loda_slot(const oif_loda_state *loda, uint32_t slot)
{
    return (double *)oif_block_part(loda, loda->ring_at) + (size_t)slot * loda->num_projections;
}

static inline oif_loda_histogram *oif_loda_histograms(const oif_loda_state *loda)
{
    return oif_block_part(loda, loda->histograms_at);
}

static inline uint32_t *oif_loda_counts(const oif_loda_state *loda, uint32_t projection)
{
    return (uint32_t *)oif_block_part(loda, loda->counts_at) + (size_t)projection * loda->num_bins;
}

static inline int32_t *oif_loda_logs(const oif_loda_state *loda)
{
    return oif_block_part(loda, loda->logs_at);
}

static inline double *oif_loda_sample(const oif_loda_state *loda, uint32_t row)
{
    return (double *)oif_block_part(loda, loda->sample_at) + (size_t)row * loda->dimension;
}

/* After ranges were chosen from `rows` rows: the rows at which they are chosen next. */
static inline uint32_t oif_loda_range_after(const oif_loda_state *loda, uint32_t rows)
{
    uint32_t next = rows ? 2 * rows : OIF_LODA_FIRST_RANGE;
    return oif_min_u32(next, loda->window_size);
}

/* The bin of a projection that is not missing; num_bins if it is outside the range. */
static inline uint32_t oif_loda_bin_of(const oif_loda_histogram *histogram, uint32_t num_bins,
                                       double projected)
{
    if (!(projected >= histogram->low && projected <= histogram->high))
        return num_bins;
    uint32_t bin = (uint32_t)((projected - histogram->low) * histogram->bins_a_unit);
    return bin < num_bins ? bin : num_bins - 1;
}

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_loda_check(const void *state, oif_error *error);

#endif
