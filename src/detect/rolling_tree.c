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
    LANES = 4            /* sums side by side; part of what the bits of a kurtosis are */
};

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
    t.column_at = oif_size_append(&t.bytes, shape->sample_size, sizeof(double));
    t.spare_at = oif_size_append(&t.bytes, shape->sample_size, sizeof(uint32_t));
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

/* ---- Kurtosis ---- */

typedef struct range {
    double low, high;
} range;

/* What brings the width of a range to about 1 without rounding anything: a power of two. */
static double scale_of(double width)
{
    uint64_t exponent = oif_bits_of_double(width) >> 52; /* 0 for a subnormal width, 2046 at most */
    uint64_t opposite = exponent > 2045 ? 1 : 2046 - exponent;
    return oif_double_from_bits((opposite > 2045 ? 2045 : opposite) << 52);
}

/* The sums of the first four powers of the numbers, each less `low` and scaled, where half of them may be asked for. */
static void sum_powers(const double *restrict numbers, uint32_t count, double low, double scale,
                       double sums[4])
{
    double lanes[4][LANES] = {{0}};
    for (uint32_t i = 0; i < count; i += LANES)
        for (uint32_t lane = 0; lane < LANES; lane++) {
            double x = i + lane < count ? (numbers[i + lane] - low) * scale : 0, square = x * x;
            lanes[0][lane] += x;
            lanes[1][lane] += square;
            lanes[2][lane] += square * x;
            lanes[3][lane] += square * square;
        }
    for (int power = 0; power < 4; power++)
        sums[power] = (lanes[power][0] + lanes[power][1]) + (lanes[power][2] + lanes[power][3]);
}

/* The fourth central moment over the square of the second, of numbers that are not all the same. */
static double kurtosis(double *numbers, uint32_t count, range r)
{
    double width = r.high - r.low, sums[4];
    if (width > DBL_MAX) {
        for (uint32_t i = 0; i < count; i++)
            numbers[i] *= 0.5;
        r.low *= 0.5;
        width = r.high * 0.5 - r.low;
    }
    sum_powers(numbers, count, r.low, scale_of(width), sums);
    double mean = sums[0] / count, mean2 = sums[1] / count, mean3 = sums[2] / count, mean4 = sums[3] / count;
    double square = mean * mean, variance = mean2 - square;
    double fourth = (mean4 - 4 * mean * mean3) + (6 * square * mean2 - 3 * square * square);
    return fourth / (variance * variance);
}

/* ---- Growing ---- */

/* A tree while it grows. */
typedef struct growth {
    const trees *trees;
    oif_random *random;
    const double *values;
    node *nodes;     /* of the tree ... */
    uint32_t used;   /* ... and how many there are */
    double *column;  /* one number of each row of a node */
    uint32_t *spare; /* rows that go right */
} growth;

/* The rows that are to become a node. */
typedef struct plot {
    uint32_t *rows;
    uint32_t count, depth;
} plot;

/* Collects one feature of a node's rows, but for missing numbers; returns how many. */
static uint32_t read_column(const growth *g, const plot *at, uint32_t feature, range *r)
{
    const double *restrict values =
        g->values + feature; /* copies: a store might change anything behind a pointer */
    const uint32_t *restrict rows = at->rows;
    double *restrict column = g->column;
    const size_t stride = g->trees->dimension;
    uint32_t known = 0;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0, count = at->count; i < count; i++) {
        double number = values[rows[i] * stride];
        low = number < low ? number : low;
        high = number > high ? number : high;
        column[known] = number;
        known += number == number;
    }
    *r = (range){low, high};
    return known;
}

/* Draws features until enough of them are not constant here, or too many were; the one of largest kurtosis wins, of equals
 * the first. False when all were constant. */
static bool draw_feature(growth *g, const plot *at, node *cut)
{
    const uint32_t wanted = g->trees->shape.tournament;
    double heaviest = -INFINITY;
    uint32_t found = 0;
    for (uint32_t draw = 0; draw < DRAWS_A_FEATURE * wanted && found < wanted; draw++) {
        uint32_t feature = oif_random_below(g->random, g->trees->dimension);
        range r;
        uint32_t known = read_column(g, at, feature, &r);
        if (!(r.low < r.high))
            continue;
        found++;
        double weight = wanted > 1 ? kurtosis(g->column, known, r) : 0;
        if (weight > heaviest) {
            heaviest = weight;
            *cut = (node){.low = r.low, .high = r.high, .feature = feature};
        }
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

/* Brings the rows that go left to the front, in their order, and then those that go right; returns how many go left, and
 * notes which side is heavier. Without branches: at random cuts many would be predicted wrong. */
static uint32_t part_rows(const growth *g, const plot *at, node *cut)
{
    const double *restrict values = g->values + cut->feature;
    uint32_t *restrict rows = at->rows, *restrict spare = g->spare;
    const size_t stride = g->trees->dimension;
    const uint32_t count = at->count;
    uint32_t left = 0, right = 0;
    for (uint32_t i = 0; i < count; i++) {
        double number = values[rows[i] * stride];
        left += number < cut->cut;
        right += number >= cut->cut;
    }
    const bool heavier_right = right > left;
    if (heavier_right)
        cut->feature |= OIF_ROLLING_HEAVIER_RIGHT;
    left = right = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows[i];
        double number = values[row * stride];
        bool goes_right = heavier_right ? !(number < cut->cut) : number >= cut->cut;
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
    node grown;
    if (at.count < shape->max_leaf_samples || at.depth == shape->max_depth || !draw_feature(g, &at, &grown))
        return (uint16_t)(OIF_ROLLING_LEAF | at.count);
    grown.cut = draw_cut(g->random, grown.low, grown.high);
    uint32_t left = part_rows(g, &at, &grown), place = g->used++;
    grown.children[0] = grow_node(g, (plot){at.rows, left, at.depth + 1});
    grown.children[1] = grow_node(g, (plot){at.rows + left, at.count - left, at.depth + 1});
    g->nodes[place] = grown;
    return (uint16_t)place;
}

void oif_rolling_grow(trees *t, uint32_t tree, const double *values, uint32_t *rows, uint32_t count,
                      oif_random *random)
{
    growth g = {.trees = t,
                .random = random,
                .values = values,
                .nodes = oif_rolling_nodes(t, tree),
                .column = oif_rolling_part(t, t->column_at),
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
OIF_INLINE double walk_tree(const trees *t, uint32_t tree, const double *row, bool complete, bool insertion)
{
    const node *nodes = oif_rolling_nodes(t, tree);
    uint32_t child = oif_rolling_roots(t)[tree];
    double depth = 0, share = 1;
    while (!(child & OIF_ROLLING_LEAF)) {
        const node *at = &nodes[child];
        double number = row[oif_rolling_feature(at)];
        if (insertion && (number < at->low || number > at->high))
            share *= share_inside(at, number);
        depth += share;
        bool missing_right = !complete && number != number && at->feature & OIF_ROLLING_HEAVIER_RIGHT;
        child = at->children[number >= at->cut || missing_right];
    }
    return depth + share * oif_rolling_averages(t)[child & ~(uint32_t)OIF_ROLLING_LEAF];
}

/* In whole units of 2^-32, whose sum does not depend on their order, over the average of the rows. */
OIF_INLINE double score_as(const trees *t, const double *row, bool complete, bool insertion)
{
    const uint16_t *rows = oif_rolling_rows(t);
    const double *scales = oif_rolling_part(t, t->scales_at);
    uint64_t units = 0;
    uint32_t tree = 0;
    for (; tree < t->shape.num_trees && rows[tree] > 0; tree++)
        units += (uint64_t)(walk_tree(t, tree, row, complete, insertion) * scales[rows[tree]] + 0.5);
    return tree ? oif_exp2(-((double)units * 0x1p-32 / tree)) : 0.5;
}

double oif_rolling_score(const trees *t, const double *row, bool complete)
{
    if (!t->shape.insertion)
        return score_as(t, row, false, false);
    return complete ? score_as(t, row, true, true) : score_as(t, row, false, true);
}

/* ---- Figures ---- */

static void add_leaves(const node *nodes, uint32_t child, uint32_t depth, oif_tree_figures *figures)
{
    if (child & OIF_ROLLING_LEAF) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    add_leaves(nodes, nodes[child].children[0], depth + 1, figures);
    add_leaves(nodes, nodes[child].children[1], depth + 1, figures);
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
        if (oif_rolling_feature(above) != oif_rolling_feature(at))
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
    *rows = child & ~(uint32_t)OIF_ROLLING_LEAF;
    if (child & OIF_ROLLING_LEAF) {
        REQUIRE(*rows > 0, "a leaf has no rows");
        return OIF_OK;
    }
    REQUIRE(child == in->next && child < in->trees->node_capacity, "a node is not where it should be");
    REQUIRE(depth < shape->max_depth, "a node is too deep");
    const node *at = &in->nodes[in->next++];
    REQUIRE(at->low >= -DBL_MAX && at->high <= DBL_MAX && at->low < at->cut && at->cut <= at->high,
            "a cut is not within its range");
    REQUIRE(oif_rolling_feature(at) < in->trees->dimension, "a cut's feature does not exist");
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
    REQUIRE((counts[1] > counts[0]) == (at->feature >= OIF_ROLLING_HEAVIER_RIGHT),
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
