/* Four judges of one form: a magnitude beside its own usual size (usual_size.h), per column.
 *
 *     change    |x - the value 1, 2, 4 rows ago|, |x - level|, |mean of the last 64 rows - level|
 *     energy    how far the last 16 rows of all columns are from their levels
 *     run       rows since the value changed
 *     gap       rows without a value
 *
 * The level of a column is a slow and robust mean: it starts with the median of the first 32 values
 * and then follows the last 2,000 or so, each by at most three times their usual distance. If the
 * mean of the last rows stays away from it for 64 values, they are the new level.
 *
 * The same numbers say how the values of a row have moved. Detectors get them beside the values,
 * because where a value lies does not say how it got there:
 *
 *     jump      the last step               each in units of its mean, at most 20, then over all
 *     flutter   the mean of the last steps  columns sqrt(mean of squares); near 1 while all is
 *     drift     the distance from the level usual
 *
 * A column takes part while its values resemble those before: while they are nearer to the last one
 * than to the fourth before. In a shuffled table no column does, and the three numbers stay 1.
 *
 * The block has no pointers and may be part of another. */
#ifndef OIF_PIPELINE_JUDGES_WATCH_H
#define OIF_PIPELINE_JUDGES_WATCH_H

#include "base/memory.h"
#include "pipeline/judges/finding.h"
#include "pipeline/judges/usual_size.h"

enum {
    OIF_WATCH_LAGS = 4,    /* the last values that are kept */
    OIF_WATCH_START = 32,  /* values before the level is known */
    OIF_WATCH_WINDOW = 16, /* rows of the energy */
    OIF_MOVES = 3          /* jump, flutter, drift */
};

/* Magnitudes of a column that have a usual size. */
typedef enum oif_magnitude {
    OIF_STEP_OF_1,
    OIF_STEP_OF_2,
    OIF_STEP_OF_4,
    OIF_AMPLITUDE, /* of a value: its distance from the level */
    OIF_DISTANCE,  /* of the mean of the last rows from it */
    OIF_MAGNITUDES
} oif_magnitude;

typedef struct oif_column_watch {
    double last[OIF_WATCH_LAGS]; /* values, the newest first */
    double level, spread;        /* the slow mean, and the mean distance from it */
    double recent;               /* the mean of the last 64 or so */
    double flutter;              /* the mean of the last 16 or so steps */
    double nearer;               /* the share of values nearer to the last one than to the fourth */
    double usual_run, usual_gap; /* in rows, from 1; long ones */
    oif_usual_size sizes[OIF_MAGNITUDES];
    uint32_t values;               /* that were not missing; halved now and then */
    uint32_t level_values;         /* that the level is the mean of */
    uint32_t beyond;               /* values since the mean of the last ones was near the level */
    uint32_t changes;              /* of the value; likewise */
    uint32_t run;                  /* rows that repeat a value */
    uint32_t gap;                  /* rows without a value */
    uint64_t is_back;              /* 1: the last few are near the level, the mean of more is not */
    double start[OIF_WATCH_START]; /* the first values, relative to the very first */
} oif_column_watch;

typedef struct oif_watch {
    uint32_t columns;
    uint32_t unseen; /* columns that never had a value */
    uint64_t rows;
    uint64_t moves_since; /* the row with which the moves began to vary; 0: not yet */
    double moves[OIF_MOVES];
    double squares[OIF_WATCH_WINDOW]; /* of distances from the levels, of row i at i % WINDOW */
    oif_usual_size energy;
    oif_column_watch column[];
} oif_watch;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_watch_bytes(size_t columns);

/* Initialises a watch without rows in a zeroed block of that many bytes. */
void oif_watch_init(oif_watch *watch, size_t columns);

/* Judges the next row, which has no infinities, and learns it. `findings` are one per judge: those
 * of CHANGE, ENERGY, RUN and GAP are set. */
void oif_watch_observe(oif_watch *watch, const double *row, oif_finding findings[OIF_JUDGES]);

/* Skips a row that is neither judged nor learned: the next one is no step from it, nor from those
 * before, whether the values come back or not. */
void oif_watch_pass(oif_watch *watch, const double *row);

/* Before a finished table is judged whose rows were all observed: what is usual stays known. */
void oif_watch_rewind(oif_watch *watch);

/* Whether the moves of the last row may be judged: detectors have learned how they vary. */
bool oif_watch_moves_count(const oif_watch *watch);

/* Whether a column ever had a value. */
static inline bool oif_watch_has_seen(const oif_watch *watch, size_t column)
{
    return watch->column[column].values > 0;
}

/* How far a value is from the level of its column, in units of the usual distance, at most 10^6;
 * NaN for a missing value, or if no level is known. */
double oif_watch_distance(const oif_watch *watch, size_t column, double value);

/* 1: above the level, -1: below, 0: neither. */
int oif_watch_side(const oif_watch *watch, size_t column, double value);

/* The range of usual values, by the level; of values that do not jump from where a value has jumped
 * from, 1, 2 or 4 rows before. Return false while they are unknown. */
bool oif_watch_usual_range(const oif_watch *watch, size_t column, double *low, double *high);
bool oif_watch_jump_range(const oif_finding *jump, double value, double *low, double *high);

/* Makes a watch without rows that of `watch`, which has fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_watch_widen(oif_watch *wide, const oif_watch *watch);

void oif_watch_visit_fields(oif_watch *watch, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_watch_check(const oif_watch *watch, oif_error *error);

#endif
