/* Robust random cut trees: inserting and removing rows.
 *
 * In a tree rebuilt from scratch, a row p at a node with box B would meet a cut through the box
 * around B and p. That cut is outside B with the probability
 *
 *     extension / (range + extension)
 *
 * where range is the sum of B's sides and extension is what p adds to them. If it is outside, p is
 * alone on one side: a new node with that cut goes above the old node, with p's leaf beside it. If
 * it is not, the cut goes through B and has the distribution of the existing cut, so p follows that
 * cut (Algorithm 2 and Theorem 3 of the paper). Only two things are drawn: whether the cut is
 * outside and, if so, where. The distribution is the same, with fewer draws.
 *
 * Removing a row removes its leaf and the node above; the sibling of the leaf moves up (Lemma 1 of
 * the paper).
 */
#include "detect/rrcf/random_cut_tree.h"

#include "base/four.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Sums over the columns ---- */

/* In lanes it is twice as fast as the plain loop at 10 columns. */
enum { LANES = OIF_FOUR };

/* If the columns do not fill whole vectors, the last vector overlaps the one before. These masks
 * keep only the new lanes, indexed by their number. */
static const oif_four_masks NEW_LANES[LANES] = {
    {-1, -1, -1, -1}, {0, 0, 0, -1}, {0, 0, -1, -1}, {0, -1, -1, -1}};

OIF_INLINE double sum_of_lanes(const oif_four *sums)
{
    return ((*sums)[0] + (*sums)[2]) + ((*sums)[1] + (*sums)[3]);
}

/* ---- Boxes ---- */

typedef struct node_box {
    const double *low, *high;
} node_box;

OIF_INLINE node_box box_of(const oif_cut_tree_shape *shape, const oif_cut_tree *tree, uint32_t node)
{
    if (oif_cut_tree_is_leaf(shape, node)) {
        const double *point = oif_cut_tree_point(shape, tree, node);
        return (node_box){point, point};
    }
    const double *low = oif_cut_tree_box_low(shape, tree, node);
    return (node_box){low, low + shape->dimension};
}

OIF_INLINE double positive(double x)
{
    return x > 0 ? x : 0;
}

/* How far a row is outside a box in one column; 0 if either has no value there. */
OIF_INLINE double outside(double low, double high, double number)
{
    return low > number ? low - number : positive(number - high);
}

OIF_INLINE void add_outside(oif_four *sums, node_box box, const double *row, uint32_t from,
                            const oif_four_masks *counted)
{
    oif_four low, high, number;
    oif_four_load(&low, box.low + from);
    oif_four_load(&high, box.high + from);
    oif_four_load(&number, row + from);
    oif_four below = low - number, above = number - high; /* at most one of them is positive */
    *sums += (oif_four)(*counted & (((oif_four_masks)below & (below > 0)) |
                                    ((oif_four_masks)above & (above > 0))));
}

/* What a row adds to the sides of a box, summed over all columns. */
OIF_INLINE double extension(node_box box, const double *row, uint32_t dimension)
{
    double sum = 0;
    if (dimension < LANES) {
        for (uint32_t i = 0; i < dimension; i++)
            sum += outside(box.low[i], box.high[i], row[i]);
        return sum;
    }
    oif_four sums = {0};
    for (uint32_t i = 0; i + LANES <= dimension; i += LANES)
        add_outside(&sums, box, row, i, &NEW_LANES[0]);
    if (dimension % LANES)
        add_outside(&sums, box, row, dimension - LANES, &NEW_LANES[dimension % LANES]);
    return sum_of_lanes(&sums);
}

OIF_INLINE void add_sides(oif_four *sums, node_box box, uint32_t from,
                          const oif_four_masks *counted)
{
    oif_four low, high;
    oif_four_load(&low, box.low + from);
    oif_four_load(&high, box.high + from);
    oif_four side = high - low;
    *sums += (oif_four)(*counted & (oif_four_masks)side & (side > 0));
}

/* The sum of the sides of a box; a side without values counts 0. */
OIF_INLINE double range_of(node_box box, uint32_t dimension)
{
    double sum = 0;
    if (dimension < LANES) {
        for (uint32_t i = 0; i < dimension; i++)
            sum += positive(box.high[i] - box.low[i]);
        return sum;
    }
    oif_four sums = {0};
    for (uint32_t i = 0; i + LANES <= dimension; i += LANES)
        add_sides(&sums, box, i, &NEW_LANES[0]);
    if (dimension % LANES)
        add_sides(&sums, box, dimension - LANES, &NEW_LANES[dimension % LANES]);
    return sum_of_lanes(&sums);
}

/* Sides near the largest double add up to infinity. Then everything is scaled by this; not always,
 * because the smallest sides would become 0. */
static const double SHRINK = 0x1p-64;

static double shrunk_outside(node_box box, const double *row, uint32_t i)
{
    return outside(box.low[i] * SHRINK, box.high[i] * SHRINK, row[i] * SHRINK);
}

static double shrunk_extension(node_box box, const double *row, uint32_t dimension)
{
    double sum = 0;
    for (uint32_t i = 0; i < dimension; i++)
        sum += shrunk_outside(box, row, i);
    return sum;
}

static double shrunk_range(node_box box, uint32_t dimension)
{
    double sum = 0;
    for (uint32_t i = 0; i < dimension; i++)
        sum += positive(box.high[i] * SHRINK - box.low[i] * SHRINK);
    return sum;
}

/* The lower or the higher of two numbers, or the one that is not missing. */
OIF_INLINE double lower_of(double a, double b)
{
    return a < b || isnan(b) ? a : b;
}

OIF_INLINE double higher_of(double a, double b)
{
    return a > b || isnan(b) ? a : b;
}

OIF_INLINE void measure_range(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                              uint32_t inner)
{
    oif_cut_tree_cut_at(shape, tree, inner)->range =
        range_of(box_of(shape, tree, inner), shape->dimension);
}

OIF_INLINE void widen(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t inner,
                      const double *restrict row)
{
    double *restrict low = oif_cut_tree_box_low(shape, tree, inner), *restrict high =
                                                                         low + shape->dimension;
    for (uint32_t i = 0; i < shape->dimension; i++) {
        low[i] = lower_of(low[i], row[i]);
        high[i] = higher_of(high[i], row[i]);
    }
    measure_range(shape, tree, inner);
}

/* Sets the box of an inner node to the one around two others; returns whether it changed. */
OIF_INLINE bool enclose(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t inner,
                        node_box a, node_box b)
{
    double *restrict low = oif_cut_tree_box_low(shape, tree, inner), *restrict high =
                                                                         low + shape->dimension;
    unsigned changed = 0;
    for (uint32_t i = 0; i < shape->dimension; i++) {
        double lowest = lower_of(a.low[i], b.low[i]), highest = higher_of(a.high[i], b.high[i]);
        changed |= (unsigned)(!(lowest == low[i]) | !(highest == high[i]));
        low[i] = lowest;
        high[i] = highest;
    }
    measure_range(shape, tree, inner);
    return changed;
}

/* ---- Creation ---- */

oif_cut_tree_shape oif_cut_tree_layout(size_t dimension, uint32_t capacity)
{
    oif_cut_tree_shape shape = {.dimension = (uint32_t)dimension, .capacity = capacity};
    size_t row_bytes = oif_size_multiply(dimension, sizeof(double));
    shape.bytes = oif_size_align(sizeof(oif_cut_tree));
    shape.links_at =
        oif_size_append(&shape.bytes, 2 * (size_t)capacity - 1, sizeof(oif_cut_tree_link));
    shape.cuts_at = oif_size_append(&shape.bytes, capacity - 1, sizeof(oif_cut_tree_cut));
    shape.points_at = oif_size_append(&shape.bytes, capacity, row_bytes);
    shape.boxes_at = oif_size_append(&shape.bytes, capacity - 1, oif_size_multiply(2, row_bytes));
    return shape;
}

void oif_cut_tree_init(const oif_cut_tree_shape *shape, oif_cut_tree *tree, oif_random random)
{
    *tree = (oif_cut_tree){.random = random,
                           .root = OIF_CUT_TREE_NO_NODE,
                           .free_leaf = 0,
                           .free_inner = shape->capacity};
    oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    for (uint32_t node = 0; node < 2 * shape->capacity - 1; node++)
        links[node].parent = node + 1;
    links[shape->capacity - 1].parent = OIF_CUT_TREE_NO_NODE;
    links[2 * shape->capacity - 2].parent = OIF_CUT_TREE_NO_NODE;
}

static uint32_t take_free(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                          uint32_t *first)
{
    uint32_t node = *first;
    *first = oif_cut_tree_links(shape, tree)[node].parent;
    return node;
}

static void give_free(const oif_cut_tree_shape *shape, const oif_cut_tree *tree, uint32_t *first,
                      uint32_t node)
{
    oif_cut_tree_links(shape, tree)[node] = (oif_cut_tree_link){.parent = *first};
    *first = node;
}

static void replace_child(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t parent,
                          uint32_t old_child, uint32_t new_child)
{
    oif_cut_tree_links(shape, tree)[new_child].parent = parent;
    if (parent == OIF_CUT_TREE_NO_NODE) {
        tree->root = new_child;
        return;
    }
    oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, parent);
    *(cut->left == old_child ? &cut->left : &cut->right) = new_child;
}

/* ---- Walking ---- */

/* A missing value goes to the heavier child, to the left one if both are equal. */
OIF_INLINE uint32_t child_towards(const oif_cut_tree_cut *cut, const oif_cut_tree_link *links,
                                  const double *row)
{
    double number = row[cut->column];
    if (isnan(number))
        return links[cut->right].mass > links[cut->left].mass ? cut->right : cut->left;
    return number <= cut->value ? cut->left : cut->right;
}

/* The probability that a cut through the box around a node and a row isolates the row. */
OIF_INLINE double chance_apart(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                               uint32_t node, const double *row, double extends)
{
    double range =
        oif_cut_tree_is_leaf(shape, node) ? 0 : oif_cut_tree_cut_at(shape, tree, node)->range;
    double total = range + extends;
    if (total > DBL_MAX) {
        node_box box = box_of(shape, tree, node);
        extends = shrunk_extension(box, row, shape->dimension);
        total = shrunk_range(box, shape->dimension) + extends;
    }
    return extends / total;
}

/* ---- Inserting a row ---- */

/* Draws a column, in proportion to what the row adds to it. */
OIF_INLINE uint32_t draw_column(const oif_cut_tree_shape *shape, oif_cut_tree *tree, node_box box,
                                const double *row, double extends)
{
    bool shrunk = extends > DBL_MAX;
    double left = oif_random_unit(&tree->random) *
                  (shrunk ? shrunk_extension(box, row, shape->dimension) : extends);
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < shape->dimension; i++) {
        double own =
            shrunk ? shrunk_outside(box, row, i) : outside(box.low[i], box.high[i], row[i]);
        if (own > 0) {
            chosen = i; /* rounding may leave a rest, which goes to the last one */
            left -= own;
            if (left < 0)
                break;
        }
    }
    return chosen;
}

/* Uniform in [low, high). */
static double draw_value(oif_cut_tree *tree, double low, double high)
{
    double fraction = oif_random_unit(&tree->random);
    double value = low * (1 - fraction) + high * fraction; /* high - low could overflow */
    return value > low && value < high ? value : low;
}

static uint32_t make_leaf(const oif_cut_tree_shape *shape, oif_cut_tree *tree, const double *row)
{
    uint32_t leaf = take_free(shape, tree, &tree->free_leaf);
    oif_cut_tree_links(shape, tree)[leaf] =
        (oif_cut_tree_link){.parent = OIF_CUT_TREE_NO_NODE, .mass = 1};
    memcpy(oif_cut_tree_point(shape, tree, leaf), row, shape->dimension * sizeof *row);
    return leaf;
}

/* Isolates the row from this node: a new inner node takes its place, with the node on one side of
 * its cut and a leaf for the row on the other. Returns the leaf. */
OIF_INLINE uint32_t set_apart(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t node,
                              const double *row, double extends)
{
    oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    node_box box = box_of(shape, tree, node);
    uint32_t column = draw_column(shape, tree, box, row, extends);
    bool row_left = row[column] < box.low[column];
    double value = row_left ? draw_value(tree, row[column], box.low[column])
                            : draw_value(tree, box.high[column], row[column]);
    uint32_t leaf = make_leaf(shape, tree, row), inner = take_free(shape, tree, &tree->free_inner);
    links[inner].mass = links[node].mass + 1;
    replace_child(shape, tree, links[node].parent, node, inner);
    links[node].parent = links[leaf].parent = inner;
    *oif_cut_tree_cut_at(shape, tree, inner) = (oif_cut_tree_cut){.value = value,
                                                                  .column = column,
                                                                  .left = row_left ? leaf : node,
                                                                  .right = row_left ? node : leaf};
    enclose(shape, tree, inner, box, (node_box){row, row});
    return leaf;
}

/* Counts a row at a leaf whose point does not differ from it. Values missing in the point are taken
 * from the row, or the leaf would absorb rows that differ there. */
static void count_duplicate(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t leaf,
                            const double *row)
{
    oif_cut_tree_links(shape, tree)[leaf].mass++;
    double *point = oif_cut_tree_point(shape, tree, leaf);
    for (uint32_t i = 0; tree->has_gaps && i < shape->dimension; i++)
        point[i] = isnan(point[i]) ? row[i] : point[i];
}

OIF_INLINE uint32_t insert(const oif_cut_tree_shape *shape, oif_cut_tree *tree, const double *row)
{
    oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    tree->has_gaps |= !oif_row_is_complete(row, shape->dimension);
    if (tree->root == OIF_CUT_TREE_NO_NODE)
        return tree->root = make_leaf(shape, tree, row);
    for (uint32_t node = tree->root;;) {
        double extends = extension(box_of(shape, tree, node), row, shape->dimension);
        if (extends > 0 &&
            oif_random_unit(&tree->random) < chance_apart(shape, tree, node, row, extends))
            return set_apart(shape, tree, node, row, extends);
        if (oif_cut_tree_is_leaf(shape, node)) {
            count_duplicate(shape, tree, node, row);
            return node;
        }
        if (extends > 0 || tree->has_gaps)
            widen(shape, tree, node, row);
        links[node].mass++;
        node = child_towards(oif_cut_tree_cut_at(shape, tree, node), links, row);
    }
}

/* ---- Removing a row ---- */

OIF_INLINE void shrink_boxes_above(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                                   uint32_t node)
{
    for (; node != OIF_CUT_TREE_NO_NODE; node = oif_cut_tree_links(shape, tree)[node].parent) {
        const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, node);
        if (!enclose(shape, tree, node, box_of(shape, tree, cut->left),
                     box_of(shape, tree, cut->right)))
            return;
    }
}

OIF_INLINE void remove_row(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t leaf)
{
    oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    uint32_t inner = links[leaf].parent;
    for (uint32_t node = leaf; node != OIF_CUT_TREE_NO_NODE; node = links[node].parent)
        links[node].mass--;
    if (links[leaf].mass > 0)
        return;
    if (inner == OIF_CUT_TREE_NO_NODE) {
        tree->root = OIF_CUT_TREE_NO_NODE;
    } else {
        const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, inner);
        uint32_t beside = cut->left == leaf ? cut->right : cut->left, above = links[inner].parent;
        replace_child(shape, tree, above, inner, beside);
        give_free(shape, tree, &tree->free_inner, inner);
        shrink_boxes_above(shape, tree, above);
    }
    give_free(shape, tree, &tree->free_leaf, leaf);
}

/* ---- Displacement ---- */

/* Removing a node's rows lifts every row beside it by one level. The displacement is the ratio of
 * the two masses, and its maximum on the path to the root. A fraction is exact and needs only one
 * division, at the end. */
typedef struct fraction {
    uint32_t above, below;
} fraction;

OIF_INLINE void keep_greater(fraction *kept, uint32_t above, uint32_t below)
{
    if ((uint64_t)above * kept->below > (uint64_t)kept->above * below)
        *kept = (fraction){above, below};
}

double oif_cut_tree_displacement(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                 uint32_t leaf)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    fraction most = {0, 1};
    uint32_t mass = links[leaf].mass;
    for (uint32_t node = links[leaf].parent; node != OIF_CUT_TREE_NO_NODE;
         node = links[node].parent) {
        keep_greater(&most, links[node].mass - mass, mass);
        mass = links[node].mass;
    }
    return (double)most.above / most.below;
}

/* Follows the row as `insert` would. At each node where the row could be isolated, adds its
 * displacement there, weighted by the probability: the whole node would be lifted, or the sibling
 * of a node further up. At a leaf with an equal row it would be a duplicate, and one row more would
 * have to be removed. */
OIF_INLINE double expected_displacement(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                        const double *row)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    double expected = 0, not_yet_apart = 1;
    fraction most = {0, 1};
    if (tree->root == OIF_CUT_TREE_NO_NODE)
        return 0;
    for (uint32_t node = tree->root;;) {
        uint32_t mass = links[node].mass;
        double extends = extension(box_of(shape, tree, node), row, shape->dimension);
        if (extends > 0) {
            fraction here = most;
            keep_greater(&here, mass, 1);
            double chance = chance_apart(shape, tree, node, row, extends);
            expected += not_yet_apart * chance * ((double)here.above / here.below);
            not_yet_apart *= 1 - chance;
        }
        if (oif_cut_tree_is_leaf(shape, node))
            return extends > 0 ? expected
                               : expected + not_yet_apart * ((double)most.above / most.below);
        node = child_towards(oif_cut_tree_cut_at(shape, tree, node), links, row);
        keep_greater(&most, mass - links[node].mass, links[node].mass + 1);
    }
}

/* ---- For this machine ---- */

OIF_AVX2 static uint32_t insert_avx2(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                                     const double *row)
{
    return insert(shape, tree, row);
}

OIF_AVX2 static void remove_row_avx2(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                                     uint32_t leaf)
{
    remove_row(shape, tree, leaf);
}

OIF_AVX2 static double expected_displacement_avx2(const oif_cut_tree_shape *shape,
                                                  const oif_cut_tree *tree, const double *row)
{
    return expected_displacement(shape, tree, row);
}

uint32_t oif_cut_tree_insert(const oif_cut_tree_shape *shape, oif_cut_tree *tree, const double *row)
{
    if (oif_machine_has_avx2())
        return insert_avx2(shape, tree, row);
    return insert(shape, tree, row);
}

void oif_cut_tree_remove(const oif_cut_tree_shape *shape, oif_cut_tree *tree, uint32_t leaf)
{
    if (oif_machine_has_avx2())
        remove_row_avx2(shape, tree, leaf);
    else
        remove_row(shape, tree, leaf);
}

double oif_cut_tree_expected_displacement(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                          const double *row)
{
    if (oif_machine_has_avx2())
        return expected_displacement_avx2(shape, tree, row);
    return expected_displacement(shape, tree, row);
}

/* ---- Figures ---- */

/* Goes from leaf to leaf, left to right, by the links alone: a tree may be too deep for
 * recursion. */
void oif_cut_tree_add_figures(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                              oif_tree_figures *figures)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    uint64_t depth = 0;
    for (uint32_t node = tree->root; node != OIF_CUT_TREE_NO_NODE;) {
        for (; !oif_cut_tree_is_leaf(shape, node); depth++)
            node = oif_cut_tree_cut_at(shape, tree, node)->left;
        oif_figures_add_leaf(figures, depth);
        while (links[node].parent != OIF_CUT_TREE_NO_NODE &&
               oif_cut_tree_cut_at(shape, tree, links[node].parent)->right == node) {
            node = links[node].parent;
            depth--;
        }
        node = links[node].parent == OIF_CUT_TREE_NO_NODE
                   ? OIF_CUT_TREE_NO_NODE
                   : oif_cut_tree_cut_at(shape, tree, links[node].parent)->right;
    }
    oif_figures_end_tree(figures);
}

/* ---- Checking ---- */

/* Counts the nodes on a free list; UINT32_MAX if another node is on it. A list that ends has no
 * node twice. */
static uint32_t count_free(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                           uint32_t first, bool leaves)
{
    uint32_t count = 0, all = 2 * shape->capacity - 1;
    for (uint32_t node = first; node != OIF_CUT_TREE_NO_NODE;
         node = oif_cut_tree_links(shape, tree)[node].parent)
        if (node >= all || oif_cut_tree_is_leaf(shape, node) != leaves ||
            oif_cut_tree_links(shape, tree)[node].mass != 0 || ++count > shape->capacity)
            return UINT32_MAX;
    return count;
}

/* Equal numbers, or both missing. */
static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static const char *check_box(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                             uint32_t inner)
{
    const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, inner);
    node_box own = box_of(shape, tree, inner), left = box_of(shape, tree, cut->left),
             right = box_of(shape, tree, cut->right);
    for (uint32_t i = 0; i < shape->dimension; i++)
        if (!same_number(own.low[i], lower_of(left.low[i], right.low[i])) ||
            !same_number(own.high[i], higher_of(left.high[i], right.high[i])))
            return "a box is not the one around its children";
    if (cut->range != range_of(own, shape->dimension))
        return "a range is not the sum of the sides of its box";
    if (left.high[cut->column] > cut->value || right.low[cut->column] <= cut->value)
        return "a box crosses the cut above it";
    return NULL;
}

static const char *check_leaf(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                              uint32_t leaf)
{
    const double *point = oif_cut_tree_point(shape, tree, leaf);
    if (!oif_none_infinite(point, shape->dimension))
        return "a point is infinite";
    if (!tree->has_gaps && !oif_row_is_complete(point, shape->dimension))
        return "a number is missing in a tree without missing numbers";
    return NULL;
}

static const char *check_inner(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                               uint32_t inner)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, inner);
    uint32_t all = 2 * shape->capacity - 1;
    if (cut->left >= all || cut->right >= all || cut->left == cut->right)
        return "an inner node does not have two children";
    if (links[cut->left].parent != inner || links[cut->right].parent != inner)
        return "a child does not know its parent";
    if (links[cut->left].mass == 0 || links[cut->right].mass == 0)
        return "a free node is in the tree";
    if (links[inner].mass != (uint64_t)links[cut->left].mass + links[cut->right].mass)
        return "an inner mass is not the sum of its children's";
    if (cut->column >= shape->dimension || !isfinite(cut->value))
        return "a cut's column or value does not exist";
    return check_box(shape, tree, inner);
}

/* Every node but the root is linked from its parent. A parent has more mass than its children, so
 * no node is its own ancestor, and all nodes are below the root. */
static const char *check_place(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                               uint32_t node)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    if (node == tree->root)
        return NULL;
    uint32_t parent = links[node].parent;
    if (parent >= 2 * shape->capacity - 1 || oif_cut_tree_is_leaf(shape, parent) ||
        links[parent].mass == 0)
        return "a node hangs below nothing";
    const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, parent);
    if (cut->left != node && cut->right != node)
        return "a parent does not know its child";
    return NULL;
}

static const char *check_root(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                              uint32_t rows)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    if (tree->has_gaps > 1)
        return "it cannot say whether numbers are missing";
    if (rows == 0)
        return tree->root == OIF_CUT_TREE_NO_NODE ? NULL : "an empty tree has a root";
    if (tree->root >= 2 * shape->capacity - 1 || links[tree->root].parent != OIF_CUT_TREE_NO_NODE)
        return "the root is not one";
    if (links[tree->root].mass != rows)
        return "the root's mass is not the number of rows";
    return NULL;
}

const char *oif_cut_tree_check(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                               uint32_t rows)
{
    const oif_cut_tree_link *links = oif_cut_tree_links(shape, tree);
    uint32_t all = 2 * shape->capacity - 1, leaves = 0, inner_nodes = 0;
    const char *broken = check_root(shape, tree, rows);
    for (uint32_t node = 0; node < all && !broken; node++) {
        if (links[node].mass == 0)
            continue;
        broken = links[node].mass > rows ? "a node has more mass than the tree"
                                         : check_place(shape, tree, node);
        if (!broken)
            broken = oif_cut_tree_is_leaf(shape, node) ? check_leaf(shape, tree, node)
                                                       : check_inner(shape, tree, node);
        *(oif_cut_tree_is_leaf(shape, node) ? &leaves : &inner_nodes) += 1;
    }
    if (broken)
        return broken;
    if (count_free(shape, tree, tree->free_leaf, true) != shape->capacity - leaves ||
        count_free(shape, tree, tree->free_inner, false) != shape->capacity - 1 - inner_nodes)
        return "a free node is not on its list";
    return NULL;
}

/* ---- Snapshots ---- */

static const oif_field link_fields[] = {
    {"parent", OIF_FIELD_U32, offsetof(oif_cut_tree_link, parent), 1},
    {"mass", OIF_FIELD_U32, offsetof(oif_cut_tree_link, mass), 1},
};

static const oif_field cut_fields[] = {
    {"value", OIF_FIELD_F64, offsetof(oif_cut_tree_cut, value), 1},
    {"range", OIF_FIELD_F64, offsetof(oif_cut_tree_cut, range), 1},
    {"column", OIF_FIELD_U32, offsetof(oif_cut_tree_cut, column), 1},
    {"left", OIF_FIELD_U32, offsetof(oif_cut_tree_cut, left), 1},
    {"right", OIF_FIELD_U32, offsetof(oif_cut_tree_cut, right), 1},
};

void oif_cut_tree_visit_fields(const oif_cut_tree_shape *shape, oif_cut_tree *tree,
                               oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "random", &tree->random.state, 1);
    oif_visit_u32(visitor, "root", &tree->root, 1);
    oif_visit_u32(visitor, "free_leaf", &tree->free_leaf, 1);
    oif_visit_u32(visitor, "free_inner", &tree->free_inner, 1);
    oif_visit_u32(visitor, "has_gaps", &tree->has_gaps, 1);
    oif_visit_records(visitor,
                      &(oif_records){link_fields, sizeof link_fields / sizeof link_fields[0],
                                     oif_cut_tree_links(shape, tree), sizeof(oif_cut_tree_link),
                                     2 * (size_t)shape->capacity - 1});
    oif_visit_records(visitor,
                      &(oif_records){cut_fields, sizeof cut_fields / sizeof cut_fields[0],
                                     oif_cut_tree_cut_at(shape, tree, shape->capacity),
                                     sizeof(oif_cut_tree_cut), (size_t)shape->capacity - 1});
    oif_visit_f64(visitor, "points", oif_cut_tree_point(shape, tree, 0),
                  (size_t)shape->capacity * shape->dimension);
    oif_visit_f64(visitor, "boxes", oif_cut_tree_box_low(shape, tree, shape->capacity),
                  (size_t)(shape->capacity - 1) * 2 * shape->dimension);
}
