/* Growing the trees of rolling-iforest, walking them, and what must hold in between.
 *
 * A node of enough rows is cut while its depth allows it. A few features are drawn, and the one with the heaviest tails in
 * the node's rows, by their kurtosis, is cut at a place that is uniform in its range: where the tails are heavy a cut in the
 * range sets few rows apart. Smaller numbers go left, so both children get rows, whatever the numbers are. A missing number
 * goes with the heavier child and counts neither for the range nor for the kurtosis.
 */
#include "detect/rolling_tree.h"

#include "base/double_bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef oif_rolling_trees trees;
typedef oif_rolling_node node;

enum {
    DRAWS_A_FEATURE = 4, /* how often a feature may be drawn in vain for each that is wanted */
    LANES = 4,           /* numbers side by side */
    TREES_AT_ONCE = 2 * LANES
};

/* Compilers make of it what the machine has. */
typedef double four __attribute__((vector_size(LANES * sizeof(double))));

/* ---- Creation ---- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The most inner nodes that a tree can have. Those of one level share the rows, so there are few on each; and every cut sets
 * at least one row apart. */
static uint32_t most_nodes(const oif_rolling_shape *shape)
{
    uint32_t least_rows = shape->max_leaf_samples < 2 ? 2 : shape->max_leaf_samples;
    uint32_t on_a_level = shape->sample_size / least_rows, most = 0;
    if (on_a_level == 0)
        return 1; /* none; but room that is no room would be a special case */
    for (uint32_t depth = 0; depth < shape->max_depth; depth++)
        most += depth < 31 ? smaller(UINT32_C(1) << depth, on_a_level) : on_a_level;
    return smaller(most, shape->sample_size - least_rows + 1);
}

trees oif_rolling_lay_out(const oif_rolling_shape *shape, size_t dimension)
{
    trees t = {.shape = *shape, .dimension = (uint32_t)dimension, .node_capacity = most_nodes(shape)};
    const size_t averages = (size_t)shape->sample_size + 1;
    t.bytes = oif_size_align(sizeof t);
    t.nodes_at =
        oif_size_append(&t.bytes, oif_size_multiply(shape->num_trees, t.node_capacity), sizeof(node));
    t.roots_at = oif_size_append(&t.bytes, shape->num_trees, sizeof(uint16_t));
    t.rows_at = oif_size_append(&t.bytes, shape->num_trees, sizeof(uint16_t));
    t.averages_at = oif_size_append(&t.bytes, averages, sizeof(double));
    t.scales_at = oif_size_append(&t.bytes, averages, sizeof(double));
    t.numbers_at = oif_size_append(&t.bytes, shape->sample_size, sizeof(double));
    t.spare_at = oif_size_append(&t.bytes, shape->sample_size, sizeof(size_t));
    return t;
}

void oif_rolling_init(trees *t, const trees *head)
{
    *t = *head;
    double *averages = oif_rolling_part(t, t->averages_at), *scales = oif_rolling_part(t, t->scales_at);
    double harmonic = 0;
    for (uint32_t n = 2; n <= t->shape.sample_size; n++) {
        harmonic += 1.0 / (n - 1);
        averages[n] = 2 * harmonic - 2.0 * (n - 1) / n;
        scales[n] = 0x1p32 / averages[n];
    }
}

/* ---- Columns ---- */

/* One feature of some rows. */
typedef struct column {
    double low, high; /* of the numbers that are not missing; low < high unless they are constant */
    double kurtosis;  /* their fourth central moment over the square of the second; 0 if nobody asks */
    bool complete;    /* no number is missing */
} column;

/* Missing numbers compare false and stay outside the range. */
OIF_INLINE column scan_from(const double *numbers, uint32_t count, uint32_t i, column seen)
{
    for (; i < count; i++) {
        seen.low = numbers[i] < seen.low ? numbers[i] : seen.low;
        seen.high = numbers[i] > seen.high ? numbers[i] : seen.high;
        seen.complete &= numbers[i] == numbers[i];
    }
    seen.low +=
        0.0; /* of zeros with both signs it would depend on the order which one is the lowest: now it is +0 */
    seen.high += 0.0;
    return seen;
}

static const column nothing_seen = {.low = INFINITY, .high = -INFINITY, .complete = true};

#if OIF_HAS_AVX2_CODE
OIF_AVX2 OIF_INLINE column scan_avx2(const double *numbers, uint32_t count)
{
    column seen = nothing_seen;
    double lows[LANES], highs[LANES];
    __m256d low = _mm256_set1_pd(INFINITY), high = _mm256_set1_pd(-INFINITY), missing = _mm256_setzero_pd();
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
    uint64_t opposite = exponent > 2045 ? 1 : 2046 - exponent;
    return oif_double_from_bits((opposite > 2045 ? 2045 : opposite) << 52);
}

/* The sums of the first four powers of the numbers, each less `low` and scaled. */
OIF_INLINE void sum_powers(const double *numbers, uint32_t count, double low, double scale, double totals[4])
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

/* Of numbers that are not all the same. As they reach from 0 to about 1 after scaling, the variance is not small beside what it is
 * the difference of: one pass is enough. */
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
    double mean = sums[0] / count, mean2 = sums[1] / count, mean3 = sums[2] / count, mean4 = sums[3] / count;
    double square = mean * mean, variance = mean2 - square;
    double fourth = (mean4 - 4 * mean * mean3) + (6 * square * mean2 - 3 * square * square);
    return fourth / (variance * variance);
}

/* What is left in `numbers` is of no use. */
OIF_INLINE column look_at(double *numbers, uint32_t count, bool weigh, column seen)
{
    if (weigh && seen.low < seen.high) {
        uint32_t known = seen.complete ? count : leave_out_missing(numbers, count);
        seen.kurtosis = kurtosis_of(numbers, known, seen.low, seen.high);
    }
    return seen;
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static column look_at_avx2(double *numbers, uint32_t count, bool weigh)
{
    return look_at(numbers, count, weigh, scan_avx2(numbers, count));
}
#endif

static column look_at_any(double *numbers, uint32_t count, bool weigh)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return look_at_avx2(numbers, count, weigh);
#endif
    return look_at(numbers, count, weigh, scan_from(numbers, count, 0, nothing_seen));
}

/* ---- Growing ---- */

/* A tree while it grows. */
typedef struct growth {
    const trees *trees;
    oif_random *random;
    const double *values;
    node *nodes;     /* of the tree ... */
    uint32_t used;   /* ... and how many there are */
    double *numbers; /* one of each row of a node */
    size_t *spare;   /* rows that go right */
} growth;

/* The rows that are to become a node. */
typedef struct plot {
    size_t *rows;
    uint32_t count, depth;
} plot;

static column read_column(const growth *g, const plot *at, uint32_t feature)
{
    const double *restrict values =
        g->values + feature; /* copies: a store might change anything behind a pointer */
    const size_t *restrict rows = at->rows;
    double *restrict numbers = g->numbers;
    for (uint32_t i = 0, count = at->count; i < count; i++)
        numbers[i] = values[rows[i]];
    return look_at_any(numbers, at->count, g->trees->shape.tournament > 1);
}

/* A feature that was drawn for a cut, and what it is in the rows of the node. */
typedef struct candidate {
    uint32_t feature;
    column column;
} candidate;

static const candidate *find_candidate(const candidate *drawn, uint32_t count, uint32_t feature)
{
    for (uint32_t i = 0; i < count; i++)
        if (drawn[i].feature == feature)
            return &drawn[i];
    return NULL;
}

/* Draws features until enough of them are not constant here, or too many were; the one of largest kurtosis wins, of equals
 * the first. A feature may be drawn again and then counts again. False when all were constant. */
static bool draw_feature(growth *g, const plot *at, candidate *winner)
{
    const uint32_t wanted = g->trees->shape.tournament;
    candidate drawn[DRAWS_A_FEATURE * OIF_ROLLING_MAX_TOURNAMENT];
    uint32_t different = 0, found = 0;
    for (uint32_t draw = 0; draw < DRAWS_A_FEATURE * wanted && found < wanted; draw++) {
        uint32_t feature = oif_random_below(g->random, g->trees->dimension);
        const candidate *known = find_candidate(drawn, different, feature);
        if (!known) {
            drawn[different] = (candidate){feature, read_column(g, at, feature)};
            known = &drawn[different++];
        }
        if (!(known->column.low < known->column.high))
            continue;
        if (found++ == 0 || known->column.kurtosis > winner->column.kurtosis)
            *winner = *known;
    }
    return found > 0;
}

/* Uniform in a range, and such that the lowest number is less and the highest is not. */
static double draw_cut(oif_random *random, double low, double high)
{
    double fraction = oif_random_unit(random);
    double cut = low * (1.0 - fraction) + high * fraction; /* high - low could overflow */
    return cut > low && cut < high ? cut : high;
}

/* Where the rows go whose number is missing: to the heavier side. */
static bool missing_goes_right(const growth *g, const plot *at, uint32_t feature, double cut)
{
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        double number = g->values[at->rows[i] + feature];
        left += number < cut;
        right += number >= cut;
    }
    return right > left;
}

/* Brings the rows that go left to the front, in their order, and then those that go right; returns how many go left.
 * Without branches: at random cuts many would be predicted wrong. */
static uint32_t part_rows(const growth *g, const plot *at, const candidate *winner, double cut)
{
    const double *restrict values = g->values + winner->feature;
    size_t *restrict rows = at->rows, *restrict spare = g->spare;
    const bool missing_right = !winner->column.complete && missing_goes_right(g, at, winner->feature, cut);
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
static uint16_t grow_node(growth *g, plot at)
{
    const oif_rolling_shape *shape = &g->trees->shape;
    candidate winner;
    if (at.count < shape->max_leaf_samples || at.depth == shape->max_depth || !draw_feature(g, &at, &winner))
        return (uint16_t)(OIF_ROLLING_LEAF | at.count);
    double cut = draw_cut(g->random, winner.column.low, winner.column.high);
    uint32_t left = part_rows(g, &at, &winner, cut), right = at.count - left;
    uint16_t place = (uint16_t)g->used++;
    node grown = {
        .low = winner.column.low, .high = winner.column.high, .cut = cut, .feature = winner.feature};
    grown.children[0] = grow_node(g, (plot){at.rows, left, at.depth + 1});
    grown.children[1] = grow_node(g, (plot){at.rows + left, right, at.depth + 1});
    grown.children[right > left] |= OIF_ROLLING_MISSING;
    g->nodes[place] = grown;
    return place;
}

void oif_rolling_grow(trees *t, uint32_t tree, const double *values, size_t *rows, uint32_t count,
                      oif_random *random)
{
    growth g = {.trees = t,
                .random = random,
                .values = values,
                .nodes = oif_rolling_nodes(t, tree),
                .numbers = oif_rolling_part(t, t->numbers_at),
                .spare = oif_rolling_part(t, t->spare_at)};
    memset(g.nodes, 0, t->node_capacity * sizeof *g.nodes);
    oif_rolling_roots(t)[tree] = grow_node(&g, (plot){rows, count, 0});
    oif_rolling_rows(t)[tree] = (uint16_t)count;
}

/* ---- Scoring ---- */

/* How likely a row that was put in before the cut was drawn would still be on the side of the others: the width of their
 * range over that of the range with the row. */
static double share_inside(const node *at, double number)
{
    double low = number < at->low ? number : at->low, high = number > at->high ? number : at->high;
    if (high - low > DBL_MAX)
        return (at->high * 0.5 - at->low * 0.5) / (high * 0.5 - low * 0.5);
    return (at->high - at->low) / (high - low);
}

/* The depth of a row in a tree. Where its number is outside the range of a node, the next cut might have set it apart: only a
 * share of the row goes on. */
static double walk_tree(const trees *t, uint32_t tree, const double *row)
{
    const node *nodes = oif_rolling_nodes(t, tree);
    uint32_t child = oif_rolling_roots(t)[tree];
    double depth = 0, share = 1;
    while (!(child & OIF_ROLLING_LEAF)) {
        const node *at = &nodes[child & OIF_ROLLING_NUMBER];
        double number = row[at->feature];
        if (t->shape.insertion && (number < at->low || number > at->high))
            share *= share_inside(at, number);
        depth += share;
        bool right = number != number ? at->children[1] & OIF_ROLLING_MISSING : number >= at->cut;
        child = at->children[right];
    }
    return depth + share * oif_rolling_averages(t)[child & OIF_ROLLING_NUMBER];
}

#if OIF_HAS_AVX2_CODE
/* The walks of a row through LANES trees that follow each other. */
typedef struct walks {
    const unsigned char *trees[LANES]; /* their nodes */
    __m256i child;
    __m256d depth, share, widest;
} walks;

OIF_AVX2 OIF_INLINE walks begin_walks_avx2(const trees *t, uint32_t first)
{
    const uint16_t *roots = oif_rolling_roots(t) + first;
    walks w = {.child = _mm256_setr_epi64x(roots[0], roots[1], roots[2], roots[3]),
               .depth = _mm256_setzero_pd(),
               .share = _mm256_set1_pd(1),
               .widest = _mm256_setzero_pd()};
    for (uint32_t i = 0; i < LANES; i++)
        w.trees[i] = (const unsigned char *)oif_rolling_nodes(t, first + i);
    return w;
}

OIF_AVX2 OIF_INLINE double number_at(const unsigned char *at, const double *row)
{
    return row[((const node *)at)->feature];
}

/* One level down without branches, as none could be predicted. A walk that has come to a leaf looks at its root again and takes
 * nothing from there. */
OIF_AVX2 OIF_INLINE void step_avx2(walks *w, const double *row)
{
    const __m256i leaf = _mm256_cmpgt_epi64(w->child, _mm256_set1_epi64x(OIF_ROLLING_LEAF - 1));
    const __m256i place = _mm256_andnot_si256(leaf, w->child);
    const __m256i offset =
        _mm256_slli_epi64(_mm256_and_si256(place, _mm256_set1_epi64x(OIF_ROLLING_NUMBER)), 5);
    const unsigned char *a = w->trees[0] + _mm256_extract_epi64(offset, 0);
    const unsigned char *b = w->trees[1] + _mm256_extract_epi64(offset, 1);
    const unsigned char *c = w->trees[2] + _mm256_extract_epi64(offset, 2);
    const unsigned char *d = w->trees[3] + _mm256_extract_epi64(offset, 3);
    const __m256d number =
        _mm256_setr_pd(number_at(a, row), number_at(b, row), number_at(c, row), number_at(d, row));
    /* Four nodes of four numbers, turned: from a node each to a field of all each. */
    __m256d node_a = _mm256_load_pd((const double *)a), node_b = _mm256_load_pd((const double *)b);
    __m256d node_c = _mm256_load_pd((const double *)c), node_d = _mm256_load_pd((const double *)d);
    __m256d even_ab = _mm256_unpacklo_pd(node_a, node_b), odd_ab = _mm256_unpackhi_pd(node_a, node_b);
    __m256d even_cd = _mm256_unpacklo_pd(node_c, node_d), odd_cd = _mm256_unpackhi_pd(node_c, node_d);
    const __m256d low = _mm256_permute2f128_pd(even_ab, even_cd, 0x20);
    const __m256d cut = _mm256_permute2f128_pd(even_ab, even_cd, 0x31);
    const __m256d high = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x20);
    const __m256i rest = _mm256_castpd_si256(_mm256_permute2f128_pd(odd_ab, odd_cd, 0x31));

    const __m256d width = _mm256_sub_pd(_mm256_max_pd(number, high), _mm256_min_pd(number, low));
    const __m256d inside = _mm256_div_pd(_mm256_sub_pd(high, low), width);
    w->widest = _mm256_max_pd(w->widest, width);
    w->share = _mm256_blendv_pd(_mm256_mul_pd(w->share, inside), w->share, _mm256_castsi256_pd(leaf));
    w->depth = _mm256_add_pd(w->depth, _mm256_andnot_pd(_mm256_castsi256_pd(leaf), w->share));

    /* The children are the upper 32 bits of the last field. */
    const __m256i right = _mm256_castpd_si256(_mm256_cmp_pd(number, cut, _CMP_GE_OQ));
    const __m256i shift =
        _mm256_add_epi64(_mm256_and_si256(right, _mm256_set1_epi64x(16)), _mm256_set1_epi64x(32));
    const __m256i next = _mm256_and_si256(_mm256_srlv_epi64(rest, shift), _mm256_set1_epi64x(UINT16_MAX));
    w->child = _mm256_blendv_epi8(next, w->child, leaf);
}

/* Writes the depths in the trees; false when a range with the row in it is too wide for a double. */
OIF_AVX2 OIF_INLINE bool end_walks_avx2(const trees *t, const walks *w, double depths[LANES])
{
    const __m256i number = _mm256_and_si256(w->child, _mm256_set1_epi64x(OIF_ROLLING_NUMBER));
    const __m256d averages = _mm256_i64gather_pd(oif_rolling_averages(t), number, 8);
    _mm256_storeu_pd(depths, _mm256_add_pd(w->depth, _mm256_mul_pd(w->share, averages)));
    return _mm256_movemask_pd(_mm256_cmp_pd(w->widest, _mm256_set1_pd(DBL_MAX), _CMP_GT_OQ)) == 0;
}

/* The same for TREES_AT_ONCE trees from `first` on, and a row without missing numbers: two times LANES walks, as one would
 * wait for its loads. */
OIF_AVX2 static bool walk_trees_avx2(const trees *t, uint32_t first, const double *row,
                                     double depths[TREES_AT_ONCE])
{
    walks some = begin_walks_avx2(t, first), others = begin_walks_avx2(t, first + LANES);
    for (uint32_t level = t->shape.max_depth; level > 0; level--) {
        step_avx2(&some, row);
        step_avx2(&others, row);
    }
    bool fit = end_walks_avx2(t, &some, depths);
    return end_walks_avx2(t, &others, depths + LANES) && fit;
}
#endif

/* Trees that are grown come first. */
static uint32_t grown_trees(const trees *t)
{
    const uint16_t *rows = oif_rolling_rows(t);
    uint32_t grown = t->shape.num_trees;
    while (grown > 0 && rows[grown - 1] == 0)
        grown--;
    return grown;
}

/* A depth over the average of the tree's rows, in whole units of 2^-32: their sum does not depend on the order. */
OIF_INLINE uint64_t to_units(const trees *t, uint32_t tree, double depth)
{
    const double *scales = oif_rolling_part(t, t->scales_at);
    return (uint64_t)(int64_t)(depth * scales[oif_rolling_rows(t)[tree]] + 0.5);
}

double oif_rolling_score(const trees *t, const double *row, bool complete)
{
    const uint32_t grown = grown_trees(t);
    uint64_t units = 0;
    uint32_t tree = 0;
#if OIF_HAS_AVX2_CODE
    double depths[TREES_AT_ONCE];
    bool side_by_side = complete && t->shape.insertion && oif_machine_has_avx2();
    for (; side_by_side && tree + TREES_AT_ONCE <= grown && walk_trees_avx2(t, tree, row, depths);
         tree += TREES_AT_ONCE)
        for (uint32_t i = 0; i < TREES_AT_ONCE; i++)
            units += to_units(t, tree + i, depths[i]);
#endif
    for (; tree < grown; tree++)
        units += to_units(t, tree, walk_tree(t, tree, row));
    return grown ? oif_exp2(-((double)units * 0x1p-32 / grown)) : 0.5;
}

/* ---- Figures ---- */

static void add_leaves(const node *nodes, uint32_t child, uint32_t depth, oif_tree_figures *figures)
{
    if (child & OIF_ROLLING_LEAF) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    const node *at = &nodes[child & OIF_ROLLING_NUMBER];
    add_leaves(nodes, at->children[0], depth + 1, figures);
    add_leaves(nodes, at->children[1], depth + 1, figures);
}

void oif_rolling_add_figures(const trees *t, oif_tree_figures *figures)
{
    for (uint32_t tree = 0; tree < t->shape.num_trees; tree++) {
        if (oif_rolling_rows(t)[tree] > 0)
            add_leaves(oif_rolling_nodes(t, tree), oif_rolling_roots(t)[tree], 0, figures);
        oif_figures_end_tree(figures);
    }
}

/* ---- Checking ---- */

/* What a walk over the nodes of a tree knows. */
typedef struct inspection {
    const trees *trees;
    const node *nodes;
    uint32_t tree;
    uint32_t next; /* node that must come, as they stand in the order in which they are grown */
    const node *path[OIF_ROLLING_MAX_DEPTH]; /* the nodes above ... */
    uint32_t sides[OIF_ROLLING_MAX_DEPTH];   /* ... and the side of each on which the walk is */
    oif_error *error;
} inspection;

#define REQUIRE(condition, words)                                                                            \
    do                                                                                                       \
        if (!(condition))                                                                                    \
            return oif_fail(in->error, OIF_EINVARIANT, "tree %u: %s", in->tree, words);                      \
    while (0)

/* A range lies within every range of the same feature above it, and on the right side of the cut there. */
static oif_status check_range(const inspection *in, const node *at, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        const node *above = in->path[i];
        if (above->feature != at->feature)
            continue;
        REQUIRE(at->low >= above->low && at->high <= above->high, "a range reaches beyond one above it");
        REQUIRE(in->sides[i] ? at->low >= above->cut : at->high < above->cut,
                "a range reaches across a cut above it");
    }
    return OIF_OK;
}

/* Checks a child and all below it, and counts their rows. */
static oif_status check_child(inspection *in, uint32_t child, uint32_t depth, uint32_t *rows)
{
    const oif_rolling_shape *shape = &in->trees->shape;
    uint32_t counts[2];
    *rows = child & OIF_ROLLING_NUMBER;
    if (child & OIF_ROLLING_LEAF) {
        REQUIRE(*rows > 0, "a leaf has no rows");
        return OIF_OK;
    }
    REQUIRE(*rows == in->next && in->next < in->trees->node_capacity, "a node is not where it should be");
    REQUIRE(depth < shape->max_depth, "a node is too deep");
    const node *at = &in->nodes[in->next++];
    REQUIRE(at->low >= -DBL_MAX && at->high <= DBL_MAX && at->low < at->cut && at->cut <= at->high,
            "a cut is not within its range");
    REQUIRE(at->feature < in->trees->dimension, "a cut's feature does not exist");
    oif_status status = check_range(in, at, depth);
    in->path[depth] = at;
    for (uint32_t side = 0; side < 2 && status == OIF_OK; side++) {
        in->sides[depth] = side;
        status = check_child(in, at->children[side], depth + 1, &counts[side]);
    }
    if (status != OIF_OK)
        return status;
    *rows = counts[0] + counts[1];
    REQUIRE(*rows >= shape->max_leaf_samples, "a node of few rows is cut");
    const bool heavier_right = counts[1] > counts[0];
    REQUIRE(at->children[heavier_right] & OIF_ROLLING_MISSING &&
                !(at->children[!heavier_right] & OIF_ROLLING_MISSING),
            "missing numbers do not go to the heavier side");
    return OIF_OK;
}

oif_status oif_rolling_check(const trees *t, oif_error *error)
{
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < t->shape.num_trees && status == OIF_OK; tree++) {
        inspection here = {.trees = t, .nodes = oif_rolling_nodes(t, tree), .tree = tree, .error = error};
        inspection *in = &here;
        uint32_t grown_from = oif_rolling_rows(t)[tree], rows;
        if (grown_from == 0)
            continue;
        status = check_child(in, oif_rolling_roots(t)[tree], 0, &rows);
        if (status == OIF_OK)
            REQUIRE(rows == grown_from && rows >= 2 && rows <= t->shape.sample_size,
                    "its leaves do not have the rows that it was grown from");
    }
    return status;
}

/* ---- Snapshots ---- */

void oif_rolling_tell_fields(trees *t, oif_fields *fields)
{
    oif_field_u16(fields, "roots", oif_rolling_roots(t), t->shape.num_trees);
    oif_field_u16(fields, "rows", oif_rolling_rows(t), t->shape.num_trees);
    for (size_t i = 0; i < (size_t)t->shape.num_trees * t->node_capacity; i++) {
        node *n = oif_rolling_nodes(t, 0) + i;
        oif_field_f64(fields, "low", &n->low, 1);
        oif_field_f64(fields, "high", &n->high, 1);
        oif_field_f64(fields, "cut", &n->cut, 1);
        oif_field_u32(fields, "feature", &n->feature, 1);
        oif_field_u16(fields, "children", n->children, 2);
    }
}
