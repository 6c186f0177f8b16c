/* LODA: where everything is. loda.c says what happens to it.
 *
 *     row            (x0 x1 x2 ... )
 *     projections      |  \ |    |          each adds up a few features with random weights
 *     ring           | v0 | v1 | .. |       the projections of the rows in the window, a row a slot
 *     histograms     |_.::._|_.:._|..       one for each projection: which v the window has, and how often
 */
#ifndef OIF_DETECT_LODA_H
#define OIF_DETECT_LODA_H

#include "detect/detector.h"

enum {
    /* logarithms are whole multiples of 2^-26: sums do not depend on their order */
    OIF_LODA_LOG_BITS = 26,
    OIF_LODA_FIRST_RANGE =
        16 /* rows that the first ranges are chosen from; then from twice as many, up to a window */
};

#define OIF_LODA_GREATEST_TERM 0x1p900 /* of a projection, so that no sum of terms overflows */
#define OIF_LODA_LEAST_WIDTH 0x1p-900  /* of a range, so that the bins of a unit can be counted */

typedef enum oif_loda_scale { OIF_LODA_LEARN, OIF_LODA_NONE } oif_loda_scale;

/* A histogram covers [low, high] with num_bins bins of equal width. */
typedef struct oif_loda_histogram {
    double low, high;
    double bins_a_unit; /* num_bins / (high - low); 0 when all of it is one bin */
    int64_t width;      /* log2 of the whole range, relative to where most rows are */
    uint32_t counted;   /* rows of the window whose projection is known, inside the range or not */
    uint32_t unused;    /* instead of padding */
} oif_loda_histogram;

_Static_assert(sizeof(oif_loda_histogram) ==
                   offsetof(oif_loda_histogram, unused) + sizeof(uint32_t),
               "a histogram has padding");

/* The state of the detector begins with this; arrays follow at the offsets `.._at`. Without
 * padding, whose bytes no one would set: equal detectors are equal bytes. */
typedef struct oif_loda_state {
    uint32_t dimension, num_projections, num_bins, window_size;
    oif_loda_scale scale;

    uint32_t terms; /* features in a projection */
    /* the first rows, kept as they are to learn the features' scales; 0 with scale none */
    uint32_t sample_size;

    uint32_t rows_held; /* in the window */
    uint32_t next_slot; /* of the ring */
    /* rows in a window that is not yet full at which all ranges are chosen anew */
    uint32_t next_range;
    uint32_t has_ranges; /* 1 once the histograms have them */
    uint32_t unused;     /* instead of padding */

    size_t features_at; /* uint32_t [num_projections][terms], ascending */
    size_t normals_at;  /* double   [num_projections][terms]: the weights as they were drawn */
    /* double   [num_projections][terms]: the same over the features' scales */
    size_t weights_at;
    /* double   [window_size][num_projections]; NaN where a number was missing */
    size_t ring_at;
    size_t histograms_at; /* oif_loda_histogram [num_projections] */
    size_t counts_at;     /* uint32_t [num_projections][num_bins] */
    /* int32_t  [window_size + 1]: log2 of every count; of the count 0 see loda.c */
    size_t logs_at;
    size_t sample_at;  /* double   [sample_size][dimension] */
    size_t scratch_at; /* double   [window_size]: numbers to find quantiles of */
    size_t bytes;
} oif_loda_state;

_Static_assert(offsetof(oif_loda_state, features_at) ==
                   offsetof(oif_loda_state, unused) + sizeof(uint32_t),
               "the state of loda has padding");

static inline void *oif_loda_part(const oif_loda_state *l, size_t offset)
{
    return (unsigned char *)l + offset;
}

static inline uint32_t *oif_loda_features(const oif_loda_state *l, uint32_t projection)
{
    return (uint32_t *)oif_loda_part(l, l->features_at) + (size_t)projection * l->terms;
}

static inline double *oif_loda_normals(const oif_loda_state *l, uint32_t projection)
{
    return (double *)oif_loda_part(l, l->normals_at) + (size_t)projection * l->terms;
}

static inline double *oif_loda_weights(const oif_loda_state *l, uint32_t projection)
{
    return (double *)oif_loda_part(l, l->weights_at) + (size_t)projection * l->terms;
}

/* The projections of the row in a slot. */
static inline double *oif_loda_slot(const oif_loda_state *l, uint32_t slot)
{
    return (double *)oif_loda_part(l, l->ring_at) + (size_t)slot * l->num_projections;
}

static inline oif_loda_histogram *oif_loda_histograms(const oif_loda_state *l)
{
    return oif_loda_part(l, l->histograms_at);
}

static inline uint32_t *oif_loda_counts(const oif_loda_state *l, uint32_t projection)
{
    return (uint32_t *)oif_loda_part(l, l->counts_at) + (size_t)projection * l->num_bins;
}

static inline int32_t *oif_loda_logs(const oif_loda_state *l)
{
    return oif_loda_part(l, l->logs_at);
}

static inline double *oif_loda_sample(const oif_loda_state *l, uint32_t row)
{
    return (double *)oif_loda_part(l, l->sample_at) + (size_t)row * l->dimension;
}

/* The rows that ranges are chosen from after having been chosen from so many. */
static inline uint32_t oif_loda_range_after(const oif_loda_state *l, uint32_t rows)
{
    uint32_t next = rows ? 2 * rows : OIF_LODA_FIRST_RANGE;
    return next < l->window_size ? next : l->window_size;
}

/* The bin of a projection that is not missing; num_bins when it is outside of the range. */
static inline uint32_t oif_loda_bin_of(const oif_loda_histogram *h, uint32_t num_bins,
                                       double projected)
{
    if (!(projected >= h->low && projected <= h->high))
        return num_bins;
    uint32_t bin = (uint32_t)((projected - h->low) * h->bins_a_unit);
    return bin < num_bins ? bin : num_bins - 1;
}

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_loda_check(const void *state, oif_error *error);

#endif
