/* Ranges of the recent rows: is a number outside of what its column has had, and how far?
 *
 * A tree asks a row for a few of its numbers, so a row with one extreme number among ten walks
 * down with the crowd. Here the whole row is looked at. Recent rows are dealt out to groups in
 * turn, and every group knows the box of 64 of them: the lowest and highest number of each column.
 *
 *     row       0  1  2 ... 31 | 32 33 34 ... 63 | ...     one row of each round to a group,
 *     group     7  8  9 ...  6 | 19 20 21 ... 18 | ...     so a box covers 64 rows out of 2,048
 *
 *     in use    | box | box | box | ...               judges rows
 *     filling   | box | box | box | ...               every 64 rows one of them is full and
 *                                                     replaces the one in use
 *
 * The start is quicker: the first 256 rows fill four groups, the next 256 four more, then eight,
 * then sixteen. A group judges once it has 64 rows, never before: a box of few rows is too small.
 *
 * Had the row been among those of a group, a random cut in its worst column would have set it
 * apart with the probability q = e / (e + w), e its distance from the box and w the width of the
 * box there, or the median width of all boxes if that is larger: so one box that happens to be
 * small, or a counter that was 0 in most boxes, does not make ordinary rows look extreme. A
 * column that is always outside, as a time or a counter that only rises, would blind the rest: so
 * what is usual for the column lately is taken off its q. Insertion turns q into a smaller depth
 * (oif_row_ranges_depth).
 *
 * A row inside every box costs two comparisons per column. The block holds no pointers; it may
 * be part of another. Rows may be anything that has columns: the pipeline gives it derived ones.
 */
#ifndef OIF_DETECT_ROW_RANGES_H
#define OIF_DETECT_ROW_RANGES_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "oif.h"

enum {
    OIF_RANGE_GROUPS = 32,
    OIF_RANGE_ROWS = 64 /* of a box */
};

/* More than any stream has, so the count never overflows. */
#define OIF_RANGE_ROWS_MAX (UINT64_C(3) << 62)

/* A block that begins with this. `numbers` has, one array after another:
 *
 *     double lows [columns][GROUPS]       of the boxes in use, in quarters
 *     double highs [columns][GROUPS]
 *     double filling_lows [GROUPS][columns]
 *     double filling_highs [GROUPS][columns]
 *     double inner_lows [columns]         the highest low of all boxes in use ...
 *     double inner_highs [columns]        ... and the lowest high
 *     double widths [columns]             the usual width of a box in use, a quarter of it
 *     double excesses [columns]           how far outside numbers are usually, as a q
 *     uint32_t missing [columns]          bit g: group g has had no number there
 *     uint32_t filling_missing [columns]
 */
typedef struct oif_row_ranges {
    uint32_t columns;
    uint32_t groups; /* that judge; the others have no box yet */
    uint64_t rows;   /* learned */
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[];
} oif_row_ranges;

/* Which columns count: all but `column`, column + step, column + 2 step, .. */
typedef struct oif_columns_left_out {
    size_t column, step;
} oif_columns_left_out;

/* The bytes of the block for rows of that many columns; SIZE_MAX if no machine could hold it. */
size_t oif_row_ranges_bytes(size_t columns);

/* Makes ranges without rows in a block of that many bytes, all 0. */
void oif_row_ranges_init(oif_row_ranges *ranges, size_t columns);

/* Learns a row; `complete`: none of its numbers is missing. Returns whether it may be outside a
 * box, as oif_row_ranges_may_be_outside would now. */
bool oif_row_ranges_learn(oif_row_ranges *ranges, const double *row, bool complete);

/* Whether a row may be outside a box: if not, insertion changes nothing. */
bool oif_row_ranges_may_be_outside(const oif_row_ranges *ranges, const double *row);

/* The depth of a row that was inserted: `depth` where it is inside all boxes, down to 1 where
 * it is far outside. `left_out` may be NULL. */
double oif_row_ranges_depth(const oif_row_ranges *ranges, const double *row, double depth,
                            const oif_columns_left_out *left_out);

/* How far outside the worst number of a row is, as the square of a number of widths: 0 if none is
 * outside, and then `column` stays as it is; at most 2^53. A number inside half of the boxes is
 * never far outside. Missing numbers, and numbers where all were missing, do not count. */
double oif_row_ranges_worst(const oif_row_ranges *ranges, const double *row, size_t *column);

void oif_row_ranges_visit_fields(oif_row_ranges *ranges, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_row_ranges_check(const oif_row_ranges *ranges, oif_error *error);

#endif
