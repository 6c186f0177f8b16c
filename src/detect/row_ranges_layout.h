/* The layout of the block of row ranges. Only row_ranges*.c includes this. */
#ifndef OIF_DETECT_ROW_RANGES_LAYOUT_H
#define OIF_DETECT_ROW_RANGES_LAYOUT_H

#include "base/vector.h"
#include "detect/row_ranges.h"

enum {
    GROUPS = OIF_RANGE_GROUPS,
    FIRST_GROUPS = 4, /* filled first */
    START_ROWS = GROUPS * OIF_RANGE_ROWS,
    EXCESS_MEMORY = 256, /* rows */
    FADE_ROWS = 16,      /* between two fadings of the excesses */
    LANES = 4 /* independent partial sums; the bits of the total depend on their number */
};

/* Boxes in use are stored in quarters, so neither a difference of two values nor a sum of two such
 * differences overflows. */
static const double quarter = 0.25;

enum { /* numbers per column before each array */
       LOWS = 0,
       HIGHS = LOWS + GROUPS,
       FILLING_LOWS = HIGHS + GROUPS,
       FILLING_HIGHS = FILLING_LOWS + GROUPS,
       INNER_LOWS = FILLING_HIGHS + GROUPS,
       INNER_HIGHS = INNER_LOWS + 1,
       WIDTHS = INNER_HIGHS + 1,
       EXCESSES = WIDTHS + 1,
       MASKS = EXCESSES + 1,
       NUMBERS = MASKS + 1 /* two masks take the space of one number */
};

static inline double *array_at(const oif_row_ranges *ranges, uint32_t numbers_before)
{
    return (double *)ranges->numbers + (size_t)numbers_before * ranges->columns;
}

static inline double *lows_of(const oif_row_ranges *ranges, size_t column)
{
    return array_at(ranges, LOWS) + column * GROUPS;
}

static inline double *highs_of(const oif_row_ranges *ranges, size_t column)
{
    return array_at(ranges, HIGHS) + column * GROUPS;
}

static inline double *filling_low(const oif_row_ranges *ranges, uint32_t group)
{
    return array_at(ranges, FILLING_LOWS + group);
}

static inline double *filling_high(const oif_row_ranges *ranges, uint32_t group)
{
    return array_at(ranges, FILLING_HIGHS + group);
}

static inline uint32_t *missing_of(const oif_row_ranges *ranges)
{
    return (uint32_t *)array_at(ranges, MASKS);
}

static inline uint32_t *filling_missing_of(const oif_row_ranges *ranges)
{
    return missing_of(ranges) + ranges->columns;
}

static inline bool is_vector_work(const oif_row_ranges *ranges)
{
    return ranges->columns >= LANES && oif_machine_has_avx2();
}

/* Whether a value may be outside a box. A missing value always may. */
OIF_INLINE bool is_outside(double low, double high, double number)
{
    return !(number >= low && number <= high);
}

/* What is derived from the boxes in use. */
typedef struct oif_ranges_derived {
    double inner_low, inner_high, width;
} oif_ranges_derived;

/* `start` may be any number from 0 on; a start near the usual width is faster. */
oif_ranges_derived oif_row_ranges_derive(const oif_row_ranges *ranges, uint32_t column,
                                         double start);

/* Rows are dealt out in rounds, one row to each group, and each round starts with another group. In
 * a fixed order, a column that repeats every two or eight rows would show each group only one
 * phase. */
static inline uint32_t turn_of(uint64_t round)
{
    uint64_t x = (round + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(x >> 32);
}

/* How many groups are in use next: twice as many at the start, then all. */
static inline uint32_t next_groups(uint32_t groups)
{
    return groups == 0 ? FIRST_GROUPS : groups < GROUPS ? 2 * groups : GROUPS;
}

#endif
