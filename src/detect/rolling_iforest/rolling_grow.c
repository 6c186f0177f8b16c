/* Growing the trees of rolling-iforest.
 *
 * A node of enough rows is cut while its depth allows it. A few columns are drawn, and the one
 * with the heaviest tails in the node's rows, by their kurtosis, is cut at a place that is
 * uniform in its range: where the tails are heavy such a cut sets few rows apart. Smaller
 * numbers go left, so both children get rows, whatever the numbers are. A missing number goes
 * with the heavier child and counts neither for the range nor for the kurtosis.
 */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/double_bits.h"
#include "base/vector.h"
#include "detect/isolation.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    DRAWS_PER_COLUMN = 4, /* columns that may be drawn for each that is wanted */
    /* numbers that are added up side by side; so the bits of a kurtosis depend on it */
    LANES = 4
};

/* Compilers make of it what the machine has. */
typedef double four __attribute__((vector_size(LANES * sizeof(double))));

/* ---- Columns ---- */

/* One column of some rows. */
typedef struct column_stats {
    double low, high; /* of the numbers that are not missing; low < high unless they are constant */
    /* their fourth central moment over the square of the second; 0 where it is not needed */
    double kurtosis;
    bool complete; /* no number is missing */
} column_stats;

/* Missing numbers compare false and stay outside the range. */
OIF_INLINE column_stats scan_from(const double *numbers, uint32_t count, uint32_t i,
                                  column_stats seen)
{
    for (; i < count; i++) {
        seen.low = numbers[i] < seen.low ? numbers[i] : seen.low;
        seen.high = numbers[i] > seen.high ? numbers[i] : seen.high;
        seen.complete &= numbers[i] == numbers[i];
    }
    /* of zeros with both signs it would depend on the order which one is the lowest: now it is
     * +0 */
    seen.low += 0.0;
    seen.high += 0.0;
    return seen;
}

static const column_stats nothing_seen = {.low = INFINITY, .high = -INFINITY, .complete = true};

#if OIF_HAS_AVX2_CODE
OIF_AVX2 OIF_INLINE column_stats scan_avx2(const double *numbers, uint32_t count)
{
    column_stats seen = nothing_seen;
    double lows[LANES], highs[LANES];
    __m256d low = _mm256_set1_pd(INFINITY), high = _mm256_set1_pd(-INFINITY),
            missing = _mm256_setzero_pd();
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        __m256d number = _mm256_loadu_pd(numbers + i);
        low = _mm256_min_pd(number, low);
        high = _mm256_max_pd(number, high);
        missing = _mm256_or_pd(missing, _mm256_cmp_pd(number, number, _CMP_UNORD_Q));
    }
    _mm256_storeu_pd(lows, low);
    _mm256_storeu_pd(highs, high);
    seen.complete = _mm256_movemask_pd(missing) == 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        seen.low = lows[lane] < seen.low ? lows[lane] : seen.low;
        seen.high = highs[lane] > seen.high ? highs[lane] : seen.high;
    }
    return scan_from(numbers, count, i, seen);
}
#endif

static uint32_t leave_out_missing(double *numbers, uint32_t count)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++) {
        numbers[known] = numbers[i];
        known += numbers[i] == numbers[i];
    }
    return known;
}

/* What brings the width of a range to about 1 without rounding anything: a power of two. */
static double scale_of(double width)
{
    uint64_t exponent = oif_bits_of_double(width) >> 52; /* 0 for a subnormal width, 2046 at most */
    return oif_double_from_bits((exponent > 2045 ? 1 : 2046 - exponent) << 52);
}

/* The sums of the first four powers of the numbers, each less `low` and scaled. */
OIF_INLINE void sum_powers(const double *numbers, uint32_t count, double low, double scale,
                           double totals[4])
{
    four x, square, sums[4] = {{0}};
    for (uint32_t i = 0; i < count; i += LANES) {
        if (count - i >= LANES) {
            memcpy(&x, numbers + i, sizeof x);
        } else {
            double rest[LANES] = {low, low, low, low}; /* adds nothing */
            for (uint32_t lane = 0; lane < count - i; lane++)
                rest[lane] = numbers[i + lane];
            memcpy(&x, rest, sizeof x);
        }
        x = (x - low) * scale;
        square = x * x;
        sums[0] += x;
        sums[1] += square;
        sums[2] += square * x;
        sums[3] += square * square;
    }
    for (int power = 0; power < 4; power++)
        totals[power] = (sums[power][0] + sums[power][1]) + (sums[power][2] + sums[power][3]);
}

/* Of numbers that are not all the same. As they reach from 0 to about 1 after scaling, the
 * variance is not small beside what it is the difference of: one pass is enough. */
OIF_INLINE double kurtosis_of(double *numbers, uint32_t count, double low, double high)
{
    double width = high - low, sums[4];
    if (width > DBL_MAX) {
        for (uint32_t i = 0; i < count; i++)
            numbers[i] *= 0.5;
        low *= 0.5;
        width = high * 0.5 - low;
    }
    sum_powers(numbers, count, low, scale_of(width), sums);
    double mean = sums[0] / count, mean2 = sums[1] / count, mean3 = sums[2] / count,
           mean4 = sums[3] / count;
    double square = mean * mean, variance = mean2 - square;
    double fourth = (mean4 - 4 * mean * mean3) + (6 * square * mean2 - 3 * square * square);
    return fourth / (variance * variance);
}

/* What is left in `numbers` is of no use. */
OIF_INLINE column_stats look_at(double *numbers, uint32_t count, bool weigh, column_stats seen)
{
    if (weigh && seen.low < seen.high) {
        uint32_t known = seen.complete ? count : leave_out_missing(numbers, count);
        seen.kurtosis = kurtosis_of(numbers, known, seen.low, seen.high);
    }
    return seen;
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static column_stats look_at_avx2(double *numbers, uint32_t count, bool weigh)
{
    return look_at(numbers, count, weigh, scan_avx2(numbers, count));
}
#endif

static column_stats look_at_any(double *numbers, uint32_t count, bool weigh)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return look_at_avx2(numbers, count, weigh);
#endif
    return look_at(numbers, count, weigh, scan_from(numbers, count, 0, nothing_seen));
}

/* ---- Growing ---- */

/* A tree while it grows. */
typedef struct tree_growth {
    const oif_rolling_trees *trees;
    oif_random *random;
    const double *values;
    oif_rolling_node *nodes; /* of the tree ... */
    uint32_t used;           /* ... and how many there are */
    double *numbers;         /* one of each row of a node */
    size_t *spare;           /* rows that go right */
} tree_growth;

/* The rows that are to become a node. */
typedef struct node_rows {
    size_t *rows;
    uint32_t count, depth;
} node_rows;

static column_stats read_column(const tree_growth *growth, const node_rows *at, uint32_t column)
{
    /* copies: a store might change anything behind a pointer */
    const double *restrict values = growth->values + column;
    const size_t *restrict rows = at->rows;
    double *restrict numbers = growth->numbers;
    for (uint32_t i = 0, count = at->count; i < count; i++)
        numbers[i] = values[rows[i]];
    return look_at_any(numbers, at->count, growth->trees->shape.tournament > 1);
}

/* A column that was drawn for a cut, and what it is in the rows of the node. */
typedef struct candidate {
    uint32_t column;
    column_stats stats;
} candidate;

static const candidate *find_candidate(const candidate *drawn, uint32_t count, uint32_t column)
{
    for (uint32_t i = 0; i < count; i++)
        if (drawn[i].column == column)
            return &drawn[i];
    return NULL;
}

/* Draws columns until enough of them are not constant here, or too many were; the one of
 * largest kurtosis wins, of equals the first. A column may be drawn again and then counts
 * again. False when all were constant. */
static bool draw_column(tree_growth *growth, const node_rows *at, candidate *winner)
{
    const uint32_t wanted = growth->trees->shape.tournament;
    candidate drawn[DRAWS_PER_COLUMN * OIF_ROLLING_MAX_TOURNAMENT];
    uint32_t different = 0, found = 0;
    for (uint32_t draw = 0; draw < DRAWS_PER_COLUMN * wanted && found < wanted; draw++) {
        uint32_t column = oif_random_below(growth->random, growth->trees->dimension);
        const candidate *known = find_candidate(drawn, different, column);
        if (!known) {
            drawn[different] = (candidate){column, read_column(growth, at, column)};
            known = &drawn[different++];
        }
        if (!(known->stats.low < known->stats.high))
            continue;
        if (found++ == 0 || known->stats.kurtosis > winner->stats.kurtosis)
            *winner = *known;
    }
    return found > 0;
}

/* Where the rows go whose number is missing: to the heavier side. */
static bool missing_goes_right(const tree_growth *growth, const node_rows *at, uint32_t column,
                               double cut)
{
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        double number = growth->values[at->rows[i] + column];
        left += number < cut;
        right += number >= cut;
    }
    return right > left;
}

/* Brings the rows that go left to the front, in their order, and then those that go right;
 * returns how many go left. Without branches: at random cuts many would be predicted wrong. The
 * same as in iforest.c but for rows that are offsets; there they are numbers of 32 bits, as its
 * snapshots have them. */
static uint32_t part_rows(const tree_growth *growth, const node_rows *at, const candidate *winner,
                          double cut)
{
    const double *restrict values = growth->values + winner->column;
    size_t *restrict rows = at->rows, *restrict spare = growth->spare;
    const bool missing_right =
        !winner->stats.complete && missing_goes_right(growth, at, winner->column, cut);
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        size_t row = rows[i];
        double number = values[row];
        bool goes_right = (number >= cut) | (missing_right & (number != number));
        rows[left] = row;
        spare[right] = row;
        left += !goes_right;
        right += goes_right;
    }
    memcpy(rows + left, spare, right * sizeof *spare);
    return left;
}

/* Returns what its parent is to hold as a child. */
static uint16_t grow_node(tree_growth *growth, node_rows at)
{
    const oif_rolling_shape *shape = &growth->trees->shape;
    candidate winner;
    if (at.count < shape->max_leaf_samples || at.depth == shape->max_depth ||
        !draw_column(growth, &at, &winner))
        return (uint16_t)(OIF_ROLLING_LEAF | at.count);
    double cut = oif_draw_cut(growth->random, winner.stats.low, winner.stats.high);
    uint32_t left = part_rows(growth, &at, &winner, cut), right = at.count - left;
    uint16_t place = (uint16_t)growth->used++;
    oif_rolling_node grown = {
        .low = winner.stats.low, .high = winner.stats.high, .cut = cut, .column = winner.column};
    grown.children[0] = grow_node(growth, (node_rows){at.rows, left, at.depth + 1});
    grown.children[1] = grow_node(growth, (node_rows){at.rows + left, right, at.depth + 1});
    grown.children[right > left] |= OIF_ROLLING_MISSING;
    growth->nodes[place] = grown;
    return place;
}

void oif_rolling_grow(oif_rolling_trees *trees, uint32_t tree, const double *values, size_t *rows,
                      uint32_t count, oif_random *random)
{
    tree_growth growth = {.trees = trees,
                          .random = random,
                          .values = values,
                          .nodes = oif_rolling_nodes(trees, tree),
                          .numbers = oif_block_part(trees, trees->numbers_at),
                          .spare = oif_block_part(trees, trees->spare_at)};
    memset(growth.nodes, 0, trees->node_capacity * sizeof *growth.nodes);
    oif_rolling_roots(trees)[tree] = grow_node(&growth, (node_rows){rows, count, 0});
    oif_rolling_rows(trees)[tree] = (uint16_t)count;
}
