/* SDOstream: where everything is. sdo.c says what happens to it.
 *
 *     values     column 0   | o0 o1 o2 .. | .. idle |      observers are rows of the stream; those
 *                column 1   | o0 o1 o2 .. | .. idle |      used most come first, so that a score
 *     counts                | how often each was near |    reads the front of each array only
 */
#ifndef OIF_DETECT_SDO_H
#define OIF_DETECT_SDO_H

#include "base/block.h"
#include "base/random.h"
#include "detect/detector.h"

enum {
    OIF_SDO_LANES = 16,          /* observers whose distances are added up side by side */
    OIF_SDO_MAX_NEIGHBOURS = 64, /* so that they fit a thread's stack */
    OIF_SDO_START = 64           /* rows whose observers show the first scales of the columns */
};

#define OIF_SDO_GREATEST_WEIGHT 0x1p64 /* of a row; then all counts are divided by it */
#define OIF_SDO_FURTHEST_VALUE 0x1p450 /* of what a scale is learned from: squares stay finite */
#define OIF_SDO_LEAST_DEVIATION 0x1p-500
#define OIF_SDO_FIRST_REACH 16.0 /* deviations that a number may be away and count in full */
#define OIF_SDO_GREATEST_REACH 0x1p60

typedef enum oif_sdo_scale { OIF_SDO_ROBUST, OIF_SDO_NONE } oif_sdo_scale;

/* What is known about the numbers of a column. With scale none it stays as it was created. */
typedef struct oif_sdo_column {
    double center;
    double variance; /* around it; both forget as a mean over window_size rows does */
    double reach;    /* deviations beyond which the next number is cut */
    double inverse;  /* 1 / deviation: what differences are multiplied by */
    uint64_t known;  /* numbers learned, window_size at most */
} oif_sdo_column;

/* The state of the detector begins with this; arrays follow at the offsets `.._at`. Without
 * padding, whose bytes no one would set: equal detectors are equal bytes. */
typedef struct oif_sdo_state {
    uint32_t dimension, num_observers, num_neighbours, window_size;
    oif_sdo_scale scale;
    uint32_t stride;   /* num_observers, rounded up to whole lanes */
    double idle_share; /* of the observers, which do not score */
    double growth;     /* of the weight of a row, from row to row: counts fade relative to it */
    double sampling;   /* how likely a row is to become an observer, beside how used its place is */
    double furthest_square; /* the most that a column adds to a squared distance */

    uint32_t held;        /* observers */
    uint32_t active;      /* of them; they come first */
    uint32_t incomplete;  /* observers with a missing number */
    uint32_t rows_so_far; /* OIF_SDO_START at most */
    double weight;        /* of the next row */
    double total;         /* of all counts */
    oif_random random;

    size_t values_at;    /* double [dimension][stride] */
    size_t counts_at;    /* double [stride]: weights of the rows that had it among the nearest */
    size_t births_at;    /* double [stride]: the weight of the row that it is */
    size_t distances_at; /* double [stride]: squared, to the row that is being learned */
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

/* How many of the observers score. */
static inline uint32_t oif_sdo_active_of(const oif_sdo_state *sdo, uint32_t held)
{
    return held ? (uint32_t)((double)(held - 1) * (1 - sdo->idle_share)) + 1 : 0;
}

/* ---- Distances: sdo_nearest.c ---- */

/* Squared distances of a row to the observers from `first` on; `count` is a whole number of
 * lanes. HUGE_VAL where the two have no column in common. */
void oif_sdo_measure(const oif_sdo_state *sdo, const double *row, bool complete, uint32_t first,
                     uint32_t count, double *squares);

/* The nearest observers so far, in ascending order; of equal ones the first comes first. */
typedef struct oif_sdo_nearest {
    uint32_t wanted, found;
    double squares[OIF_SDO_MAX_NEIGHBOURS];
    uint32_t slots[OIF_SDO_MAX_NEIGHBOURS];
} oif_sdo_nearest;

/* Adds those of `count` observers, from slot `first` on, that are nearer than what was found. */
void oif_sdo_add_nearest(oif_sdo_nearest *nearest, const double *squares, uint32_t first,
                         uint32_t count);

/* Adds those of the first `count` observers that are nearer than what was found. `squares` were
 * measured with earlier scales; only those up to `bound` are measured again. */
void oif_sdo_add_nearest_again(const oif_sdo_state *sdo, const double *row, bool complete,
                               const double *squares, uint32_t count, double bound,
                               oif_sdo_nearest *nearest);

/* ---- Scales of columns: sdo_scale.c ---- */

/* What squared distances were multiplied by at least and at most when scales changed. */
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
