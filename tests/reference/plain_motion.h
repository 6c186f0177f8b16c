/* How values move, by definition (src/pipeline/columns/motion.h, shapes.h): keeps every value, and
 * one column does not know of the others. The oracle for the fast version. */
#ifndef TESTS_REFERENCE_PLAIN_MOTION_H
#define TESTS_REFERENCE_PLAIN_MOTION_H

#include <stdbool.h>
#include <stddef.h>

enum { PLAIN_MOVES = 3, PLAIN_SHAPES = 32, PLAIN_POINTS = 16, PLAIN_LAGS = 2 };

typedef struct plain_shape {
    double uses;
    double points[PLAIN_POINTS];
} plain_shape;

typedef struct plain_moves {
    double *values;  /* of all rows; a missing one is the one before, NaN before the first */
    size_t first;    /* row with a value, if there is one */
    bool is_missing; /* in the last row */
    bool takes_part;
    double moves[PLAIN_MOVES]; /* of the last row */
    double usual[PLAIN_MOVES], known[PLAIN_MOVES];
    double level, level_variance; /* of the learned rows */
    /* the share of them nearer to the row before than to an older one, and further from it */
    double nearer[PLAIN_LAGS], further[PLAIN_LAGS];
    double missing_share;
    size_t shape_count, nearest;
    plain_shape shapes[PLAIN_SHAPES];
} plain_moves;

typedef struct plain_motion {
    size_t columns, rows, learned, capacity, with_memory;
    bool takes_all;
    double numbers[PLAIN_MOVES];      /* of the last row */
    double usual[PLAIN_MOVES], known; /* means since the numbers vary */
    plain_moves *of;
} plain_motion;

plain_motion *plain_motion_new(size_t columns, bool takes_all);
void plain_motion_free(plain_motion *motion);

/* The numbers of the next row. */
void plain_motion_observe(plain_motion *motion, const double *row, double numbers[PLAIN_MOVES]);

/* Learns it. Returns whether a column takes part after none did. */
bool plain_motion_learn(plain_motion *motion);

/* The first column with memory that moves most, or least if the number is lower than usual; and
 * where it moves. */
size_t plain_motion_column(const plain_motion *motion, size_t move);
bool plain_motion_is_named(const plain_motion *motion, size_t move);
int plain_motion_direction(const plain_motion *motion, size_t move, size_t column);

#endif
