/* The sense for stuck columns: how long has a column repeated one value, compared with its longest
 * run?
 *
 *     value    7.1  6.8  6.9  6.9  6.9  6.9  6.9  6.9 ...     a column that never repeated
 *     run        1    1    1    2    3    4    5    6 ...     longest 1: unusual from 3 on
 *
 * Many columns repeat: counters stay at 0 for minutes, gauges are rounded. What a run longer than
 * the longest means depends on the tail of their runs. If the longest of n runs had L rows, a
 * power-law tail has the exponent
 *
 *     a = log(n) / log(L)                                  at most 8
 *
 * and a run x times as long as the longest is x^a times as rare. A run is usual while that is less
 * than 8. The evidence is log2 of how many times rarer the run is than the longest usual one, up to
 * a bound: that a run lasts does not make it worse. Columns that have hardly ever changed are
 * simply constant, and never stuck.
 *
 * Runs are forgotten slowly, long ones more slowly than short ones. A missing value neither
 * continues a run nor ends it. The block has no pointers and may be part of another.
 */
#ifndef OIF_PIPELINE_SENSES_STUCK_H
#define OIF_PIPELINE_SENSES_STUCK_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "oif.h"

#include <stdbool.h>

/* The head of a block. `numbers` has these arrays, in order, with one number per column:
 *
 *     last        value, NaN before the first
 *     start       rows before the run of that value; values missing within it count as before
 *     longest     run that has ended
 *     changes     from one value to another; as in `longest`, older ones count less
 *     limit       the longest usual run; derived from both, but not updated at every change
 */
typedef struct oif_stuck {
    uint32_t columns;
    uint32_t rows_to_forget; /* learned since the last forgetting */
    uint64_t rows;           /* observed */
    uint64_t learned;        /* rows observed up to the last learned one */
    uint32_t may_be_over;    /* 1 if the row observed last may have a run over the limit */
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[];
} oif_stuck;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_stuck_bytes(size_t columns);

/* Initialises a sense without rows in a zeroed block of that many bytes. */
void oif_stuck_init(oif_stuck *stuck, size_t columns);

/* Observes the next row. Returns the evidence that a column is stuck, or 0. If there is evidence,
 * `column` is the column with the most; otherwise it is unchanged. `seconds` is unused. */
double oif_stuck_observe(oif_stuck *stuck, const double *row, double seconds, size_t *column);

/* Learns the row observed last, which is usual. A run over the limit stays unusual until it ends,
 * unless `is_change`: then the run so far is accepted. */
void oif_stuck_learn(oif_stuck *stuck, bool is_change);

/* The current run of a column, in rows; for the text of an alert. */
double oif_stuck_run(const oif_stuck *stuck, size_t column);

/* Makes a sense without rows that of `stuck`, which has fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_stuck_widen(oif_stuck *wide, const oif_stuck *stuck);

void oif_stuck_visit_fields(oif_stuck *stuck, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_stuck_check(const oif_stuck *stuck, oif_error *error);

#endif
