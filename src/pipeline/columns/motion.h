/* How the values of a stream move. A detector judges a row by its values; motion gives it three
 * numbers more, which say how unusual the way is that led to them:
 *
 *     jump       how much the values have changed since the row before
 *     flutter    how much they vary within the last 16 rows
 *     shape      how unlike all earlier stretches the last 32 values are (shapes.h)
 *
 * Each is measured per column, in units of what is usual for the column, then over all columns:
 *
 *     number = sqrt(mean over the columns of min(move / usual move, 20)^2)
 *
 * So rows of any length get three numbers, which are near 1 while all is usual. A value that is
 * missing, although it seldom was, is a jump.
 *
 * A column takes part while it has memory: while its values are nearer to the one before than to
 * older ones. Otherwise its changes are noise, as in a shuffled table, and it counts as 1. At the
 * start all numbers are 1.
 *
 * The block has no pointers and may be part of another.
 */
#ifndef OIF_PIPELINE_MOTION_H
#define OIF_PIPELINE_MOTION_H

#include "base/state_visitor.h"
#include "base/unchanged.h"
#include "oif.h"

typedef enum oif_motion_mode { OIF_MOTION_OFF, OIF_MOTION_ON, OIF_MOTION_AUTO } oif_motion_mode;

enum { OIF_LAGS = 2 };

typedef enum oif_move { OIF_MOVE_JUMP, OIF_MOVE_FLUTTER, OIF_MOVE_SHAPE, OIF_MOVES } oif_move;

/* What is known about the moves of the columns: an array [columns] each. */
typedef enum oif_motion_field {
    OIF_MOTION_LAST,                                 /* the last value; NaN before the first */
    OIF_MOTION_CHANGE,                               /* since the row before */
    OIF_MOTION_FLUTTER,                              /* of the last 16 values */
    OIF_MOTION_SHAPE_DISTANCE,                       /* to the nearest shape */
    OIF_MOTION_USUAL,                                /* means of the moves ... */
    OIF_MOTION_KNOWN = OIF_MOTION_USUAL + OIF_MOVES, /* ... over these rows */
    OIF_MOTION_LEVEL = OIF_MOTION_KNOWN + OIF_MOVES, /* of the values ... */
    OIF_MOTION_LEVEL_VARIANCE,                       /* ... over the same rows */
    /* How often the change since the row before was smaller, or larger, than that since older rows.
     * A count, so neither a burst nor a level shift looks like memory. */
    OIF_MOTION_NEARER,
    OIF_MOTION_FURTHER = OIF_MOTION_NEARER + OIF_LAGS,
    OIF_MOTION_MISSING_SHARE = OIF_MOTION_FURTHER + OIF_LAGS, /* of the learned rows */
    OIF_MOTION_IS_MISSING,                                    /* in the last row: 1, or 0 */
    OIF_MOTION_NEAREST_SHAPE,
    OIF_MOTION_SHAPES_KNOWN,
    OIF_MOTION_TAKES_PART, /* 1: has memory, or must; or 0 */
    OIF_MOTION_FIELDS
} oif_motion_field;

/* The head of the block; arrays follow at the offsets `.._at`. */
typedef struct oif_motion {
    uint32_t columns;
    uint32_t with_memory; /* columns that take part */
    size_t bytes;
    size_t takes_all;          /* 1: every column takes part */
    uint64_t rows, learned;    /* rows observed, and learned */
    uint64_t counts_from;      /* learned rows after which the numbers count */
    double numbers[OIF_MOVES]; /* of the last row */
    double usual[OIF_MOVES];   /* the means of the numbers since they began to vary ... */
    double known;              /* ... over this number of rows */
    size_t fields_at;          /* double [OIF_MOTION_FIELDS][columns] */
    size_t shapes_at;          /* oif_shapes [columns] */
    size_t recent_at;          /* double [32][columns]: the last values */
} oif_motion;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_motion_bytes(size_t columns);

/* Initialises it in a zeroed block of that many bytes. With OIF_MOTION_ON every column takes part,
 * with or without memory. */
void oif_motion_init(oif_motion *motion, size_t columns, oif_motion_mode mode);

/* Observes the next row, which has no infinities. */
void oif_motion_observe(oif_motion *motion, const double *row);

/* Learns the row observed last. Returns whether the numbers begin to vary with the next row. To a
 * detector that knows only ones that is unusual: it must begin again, or the numbers wait. */
bool oif_motion_learn(oif_motion *motion);

/* For a while the numbers are learned, but not judged. */
void oif_motion_wait(oif_motion *motion);

/* Whether rows are judged by the numbers. Otherwise 1 is judged, all that a detector knows yet. */
bool oif_motion_counts(const oif_motion *motion);

/* The column that moves most; or least, if the number is lower than usual. */
size_t oif_motion_column(const oif_motion *motion, oif_move move);

/* Whether the number is unusual in a way that has a name: high, or a flutter that is low. */
bool oif_motion_is_named(const oif_motion *motion, oif_move move);

/* 1: up, or more than usual; -1: down, or less; 0: neither. */
int oif_motion_direction(const oif_motion *motion, oif_move move, size_t column);

/* The range within which a value does not jump: around the one before the last. */
bool oif_motion_expected(const oif_motion *motion, size_t column, double *low, double *high);

/* Whether the last value of the column is missing. */
bool oif_motion_is_missing(const oif_motion *motion, size_t column);

/* Makes a motion without rows that of `motion`, which has fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_motion_widen(oif_motion *wide, const oif_motion *motion);

/* Reports shapes that the last rows have not changed. */
void oif_motion_unchanged(const oif_motion *motion, const oif_unchanged *unchanged);

void oif_motion_visit_fields(oif_motion *motion, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_motion_check(const oif_motion *motion, oif_error *error);

#endif
