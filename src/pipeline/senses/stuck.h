/* The sense for stuck columns: how long has a column repeated one value, against the longest it
 * ever did?
 *
 *     value    7.1  6.8  6.9  6.9  6.9  6.9  6.9  6.9 ...     a column that never repeated
 *     run        1    1    1    2    3    4    5    6 ...     longest 1: unusual from 6 on
 *
 * A run is usual up to twice the longest and three more. Many columns repeat: counters stay at 0
 * for minutes, gauges are rounded. What a longer run means depends on the tail of their runs. If
 * the longest of n runs had L rows, a tail that falls as a power has the exponent
 *
 *     a = log(n) / log(L)                                  at most 8
 *
 * and a run x times as long as the longest is x^a times as rare: so a run is also usual while that
 * is less than 8, and evidence is log2 of how many times rarer it is than the longest usual one.
 * Columns that have hardly ever changed are constant by nature and never stuck.
 *
 * Runs are forgotten slowly, the long ones more slowly than the short ones. A missing number
 * neither continues a run nor ends it. The block holds no pointers; it may be part of another.
 */
#ifndef OIF_PIPELINE_SENSES_STUCK_H
#define OIF_PIPELINE_SENSES_STUCK_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "oif.h"

/* A block that begins with this. `numbers` has, one array after another, with a number per
 * column:
 *
 *     last        value, NaN before the first
 *     start       rows before the run of that value; those missed within it count as before
 *     longest     run that has ended
 *     changes     from one value to another; as `longest`, older ones count less
 *     limit       the longest usual run; follows from both, but not at every change
 */
typedef struct oif_stuck {
    uint32_t columns;
    uint32_t rows_to_forget; /* learned since something was last forgotten */
    uint64_t rows;           /* observed */
    uint64_t learned;        /* observed up to the last one that was learned */
    uint32_t may_be_over;    /* 1 if the row observed last may have a run over the limit */
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[];
} oif_stuck;

/* The bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_stuck_bytes(size_t columns);

/* Makes a sense without rows in a block of that many bytes, all 0. */
void oif_stuck_init(oif_stuck *stuck, size_t columns);

/* Takes the next row. Returns the evidence that a column is stuck, 0 if none is, and in `column`
 * the one that has most of it; `column` stays as it is if none is. `seconds` do not matter. */
double oif_stuck_observe(oif_stuck *stuck, const double *row, double seconds, size_t *column);

/* The row that was observed last is a usual one. */
void oif_stuck_learn(oif_stuck *stuck);

/* Rows that have had the last value of a column, for the words of an alert. */
double oif_stuck_run(const oif_stuck *stuck, size_t column);

void oif_stuck_visit_fields(oif_stuck *stuck, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_stuck_check(const oif_stuck *stuck, oif_error *error);

#endif
