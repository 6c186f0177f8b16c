/* SDOstream: the data structures. sdo.c has the algorithm.
 *
 *     values     column 0   | o0 o1 o2 .. | .. idle |      observers are rows of the stream; the
 *                column 1   | o0 o1 o2 .. | .. idle |      most used come first, so a score reads
 *     counts                | how often each was near |    only the front of each array
 */
#ifndef OIF_DETECT_SDO_H
#define OIF_DETECT_SDO_H

#include "base/block.h"
#include "base/random.h"
#include "detect/detector.h"

enum {
    OIF_SDO_LANES = 16,          /* observers whose distances are computed side by side */
    OIF_SDO_MAX_NEIGHBOURS = 64, /* so they fit on a thread's stack */
    OIF_SDO_START = 64           /* rows whose observers give the first scales of the columns */
};

#define OIF_SDO_GREATEST_WEIGHT 0x1p64 /* of a row; then all counts are divided by it */
#define OIF_SDO_FURTHEST_VALUE 0x1p450 /* for learning scales: squares stay finite */
#define OIF_SDO_LEAST_DEVIATION 0x1p-500
#define OIF_SDO_FIRST_REACH 16.0 /* deviations within which a value counts in full */
#define OIF_SDO_GREATEST_REACH 0x1p60

typedef enum oif_sdo_scale { OIF_SDO_ROBUST, OIF_SDO_NONE } oif_sdo_scale;

/* What is known about the values of a column. Unchanged since creation with scale none. */
typedef struct oif_sdo_column {
    double center;
    double variance; /* around it; both forget like a mean over window_size rows */
    double reach;    /* deviations at which the next value is clamped */
    double inverse;  /* 1 / deviation, the factor of differences */
    uint64_t known;  /* values learned, at most window_size */
} oif_sdo_column;

/* The head of the state; arrays follow at the offsets `.._at`. It has no implicit padding, whose
 * bytes would be undefined: equal detectors have equal bytes. */
typedef struct oif_sdo_state {
    uint32_t dimension, num_observers, num_neighbours, window_size;
    oif_sdo_scale scale;
    uint32_t stride;        /* num_observers, rounded up to whole lanes */
    double idle_share;      /* of the observers, which do not score */
    double growth;          /* of the weight from row to row; counts fade relative to it */
    double sampling;        /* probability of becoming an observer, before weighing by use */
    double furthest_square; /* the most that a column adds to a squared distance */

    uint32_t held;        /* observers */
    uint32_t active;      /* of them; they come first */
    uint32_t incomplete;  /* observers with a missing number */
    uint32_t rows_so_far; /* at most OIF_SDO_START */
    double weight;        /* of the next row */
    double total;         /* of all counts */
    oif_random random;

    size_t values_at;    /* double [dimension][stride] */
    size_t counts_at;    /* double [stride]: weights of the rows that had it among the nearest */
    size_t births_at;    /* double [stride]: weight of the row that became the observer */
    size_t distances_at; /* double [stride]: squared, to the row being learned */
    size_t columns_at;   /* oif_sdo_column [dimension] */
    size_t bytes;
} oif_sdo_state;

_Static_assert(offsetof(oif_sdo_state, idle_share) ==
                   offsetof(oif_sdo_state, stride) + sizeof(uint32_t),
               "the state of sdo has padding");

static inline double *oif_sdo_values(const oif_sdo_state *sdo, uint32_t column)
{
    return (double *)oif_block_part(sdo, sdo->values_at) + (size_t)column * sdo->stride;
}

static inline double *oif_sdo_counts(const oif_sdo_state *sdo)
{
    return oif_block_part(sdo, sdo->counts_at);
}

static inline double *oif_sdo_births(const oif_sdo_state *sdo)
{
    return oif_block_part(sdo, sdo->births_at);
}

static inline double *oif_sdo_distances(const oif_sdo_state *sdo)
{
    return oif_block_part(sdo, sdo->distances_at);
}

static inline oif_sdo_column *oif_sdo_columns(const oif_sdo_state *sdo)
{
    return oif_block_part(sdo, sdo->columns_at);
}

/* How many of the observers are active. */
static inline uint32_t oif_sdo_active_of(const oif_sdo_state *sdo, uint32_t held)
{
    return held ? (uint32_t)((double)(held - 1) * (1 - sdo->idle_share)) + 1 : 0;
}

/* ---- Distances: sdo_nearest.c ---- */

/* Squared distances from a row to `count` observers, starting at `first`; `count` is a multiple of
 * OIF_SDO_LANES. HUGE_VAL if the two have no column in common. */
void oif_sdo_measure(const oif_sdo_state *sdo, const double *row, bool complete, uint32_t first,
                     uint32_t count, double *squares);

/* The nearest observers so far, in ascending order of distance; equal ones in order of slot. */
typedef struct oif_sdo_nearest {
    uint32_t wanted, found;
    double squares[OIF_SDO_MAX_NEIGHBOURS];
    uint32_t slots[OIF_SDO_MAX_NEIGHBOURS];
} oif_sdo_nearest;

/* Adds those of `count` observers from slot `first` on that are nearer than the ones found so
 * far. */
void oif_sdo_add_nearest(oif_sdo_nearest *nearest, const double *squares, uint32_t first,
                         uint32_t count);

/* Adds those of the first `count` observers that are nearer than the ones found so far. `squares`
 * were measured with earlier scales; only those up to `bound` are measured again. */
void oif_sdo_add_nearest_again(const oif_sdo_state *sdo, const double *row, bool complete,
                               const double *squares, uint32_t count, double bound,
                               oif_sdo_nearest *nearest);

/* ---- Scales of columns: sdo_scale.c ---- */

/* Lower and upper bound of the factors by which a change of scales multiplied squared distances. */
typedef struct oif_sdo_change {
    double least, greatest;
} oif_sdo_change;

void oif_sdo_init_columns(oif_sdo_state *sdo);
void oif_sdo_learn_scales(oif_sdo_state *sdo, const double *row);
oif_sdo_change oif_sdo_change_scales(oif_sdo_state *sdo, const double *row); /* the same */

/* One over the deviation of a column. */
double oif_sdo_inverse_of(const oif_sdo_column *column);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
oif_status oif_sdo_check(const void *state, oif_error *error);

#endif
