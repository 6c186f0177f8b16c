/* Ranges of the recent rows: is a value outside the recent range of its column, and how far?
 *
 * A tree looks at only a few values of a row, so a row with one extreme value among ten walks down
 * with the ordinary rows. Here the whole row counts. Recent rows are dealt out to groups, and every
 * group keeps the box of 64 of them: the lowest and highest value of each column.
 *
 *     row       0  1  2 ... 31 | 32 33 34 ... 63 | ...     one row of each round to a group,
 *     group     7  8  9 ...  6 | 19 20 21 ... 18 | ...     so a box covers 64 rows out of 2,048
 *
 *     in use    | box | box | box | ...               judges rows
 *     filling   | box | box | box | ...               every 64 rows one of them is full and
 *                                                     replaces the one in use
 *
 * The start is quicker: the first 256 rows fill four groups, the next 256 four more, then eight,
 * then sixteen. A group judges only once it has 64 rows: a box of fewer rows is too small.
 *
 * If the row had been in a group, a random cut in its worst column would have isolated it with the
 * probability q = e / (e + w). Here e is the distance from the box, and w the width of the box or
 * the median width of all boxes, whichever is larger. The median keeps ordinary rows from looking
 * extreme when one box happens to be small or a counter was 0 in most boxes. A column that is
 * always outside, such as a time or a rising counter, would mask the others, so each column's usual
 * q of late is subtracted from its q. Insertion turns q into a smaller depth
 * (oif_row_ranges_depth). More columns outside, and values still further outside, make it smaller
 * again: extreme rows can be ranked.
 *
 * A row inside every box costs two comparisons per column. The block has no pointers and may be
 * part of another block.
 */
#ifndef OIF_DETECT_ROW_RANGES_H
#define OIF_DETECT_ROW_RANGES_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "base/unchanged.h"
#include "detect/widening.h"
#include "oif.h"

enum {
    OIF_RANGE_GROUPS = 32,
    OIF_RANGE_ROWS = 64 /* per box */
};

/* More rows than any stream has, so the count never overflows. */
#define OIF_RANGE_ROWS_MAX (UINT64_C(3) << 62)

/* The head of a block. `numbers` has these arrays, in order:
 *
 *     double lows [columns][GROUPS]       of the boxes in use, in quarters
 *     double highs [columns][GROUPS]
 *     double filling_lows [GROUPS][columns]
 *     double filling_highs [GROUPS][columns]
 *     double inner_lows [columns]         the highest low of all boxes in use ...
 *     double inner_highs [columns]        ... and the lowest high
 *     double widths [columns]             a quarter of the usual width of a box in use
 *     double excesses [columns]           how far outside values usually are, as a q
 *     uint32_t missing [columns]          bit g: a value was missing in group g
 *     uint32_t filling_missing [columns]
 */
typedef struct oif_row_ranges {
    uint32_t columns;
    uint32_t groups; /* in use; the others have no box yet */
    uint64_t rows;   /* learned */
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[];
} oif_row_ranges;

/* Skips the columns `column`, column + step, column + 2 step, ... */
typedef struct oif_columns_left_out {
    size_t column, step;
} oif_columns_left_out;

/* Bytes of a block for that many columns; SIZE_MAX if no machine could hold it. */
size_t oif_row_ranges_bytes(size_t columns);

/* Initialises ranges without rows in a zeroed block of that many bytes. */
void oif_row_ranges_init(oif_row_ranges *ranges, size_t columns);

/* Learns a row; `complete`: no value is missing. Returns what oif_row_ranges_may_be_outside would
 * return after this call. */
bool oif_row_ranges_learn(oif_row_ranges *ranges, const double *row, bool complete);

/* Whether a row may be outside a box. If not, insertion does not change its depth. */
bool oif_row_ranges_may_be_outside(const oif_row_ranges *ranges, const double *row);

/* The depth of a row after insertion: `depth` inside all boxes, about 1 if one column is far
 * outside, less if several are. `left_out` may be NULL. */
double oif_row_ranges_depth(const oif_row_ranges *ranges, const double *row, double depth,
                            const oif_columns_left_out *left_out);

/* The usual range of a column: the medians of the lows and the highs of the boxes, so about 97 of
 * 100 values are within it, and an incident in some of the rows does not widen it. Returns false
 * while it is unknown. */
bool oif_row_ranges_usual(const oif_row_ranges *ranges, size_t column, double *low, double *high);

/* Makes ranges without rows for more columns those of `ranges`, as if the new columns had been
 * missing in all rows so far. */
void oif_row_ranges_widen(oif_row_ranges *wide, const oif_row_ranges *ranges,
                          const oif_widening *widening);

/* Reports boxes that the last rows have not changed. */
void oif_row_ranges_unchanged(const oif_row_ranges *ranges, const oif_unchanged *unchanged);

void oif_row_ranges_visit_fields(oif_row_ranges *ranges, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_row_ranges_check(const oif_row_ranges *ranges, oif_error *error);

#endif
