/* Online Isolation Forest, transcribed from the paper. The header says what it is for.
 *
 *     node: height, depth, box [lo, hi]^d    learn   walk down, height + 1, widen the box;
 *                                                    a leaf may split
 *          x_q < p /        \ x_q >= p       forget  walk down, height - 1; an inner node may merge
 *              node          node            score   walk down, depth of the leaf + c(height)
 *
 * Three walks per tree and row, each O(depth), the first times d; a split samples h points in O(h
 * d). Keep it simple. Speed belongs in src/detect/online_iforest/window_forest.c. */
#include "plain_online_iforest.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_node {
    struct plain_node *left, *right; /* both NULL in a leaf */
    int split_column;                /* q */
    double split_value;              /* p */
    int height; /* may fall below 0 in a leaf: its sampled points are not the rows to forget */
    int depth;
    double *lo, *hi; /* the box; lo = +inf and hi = -inf while empty */
} plain_node;

typedef struct plain_tree {
    plain_node *root;
    uint64_t random_state;
} plain_tree;

struct plain_forest {
    plain_forest_params params;
    int dimension;
    plain_tree *trees;
    double *window; /* ring of window_size + 1 rows: the new row arrives before the oldest leaves */
    int oldest;
    int row_count; /* rows now in the window */
    long long visits;
};

static void *allocate(size_t count, size_t item_bytes)
{
    void *memory = malloc(count * item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "plain_online_iforest: out of memory\n");
        abort();
    }
    return memory;
}

/* Random numbers: splitmix64 (Steele, Lea, Flood 2014), one generator per tree. */

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Uniform in [0, 1). */
static double random_unit(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double random_between(uint64_t *state, double lo, double hi)
{
    double u = random_unit(state);
    double value = lo * (1 - u) + hi * u;
    return value < lo ? lo : value > hi ? hi : value;
}

/* The paper's quantities. */

/* c(n, eta): the expected depth of a tree over n rows. */
static double expected_depth(const plain_forest *forest, int n)
{
    int eta = forest->params.max_leaf_samples;
    if (n < eta)
        return 0;
    double levels = log2((double)n / eta);
    return forest->params.variant == PLAIN_VARIANT_REFERENCE ? levels / 2 : levels;
}

/* The height at which a node of this depth splits, and below which it merges. */
static long long split_height(const plain_forest *forest, int depth)
{
    long long eta = forest->params.max_leaf_samples;
    return forest->params.growth == PLAIN_GROWTH_ADAPTIVE ? eta << depth : eta;
}

/* k < delta, in integers: log2(n / eta) > k exactly when eta * 2^k < n, and log4 when eta * 4^k
 * < n. */
static bool below_depth_limit(const plain_forest *forest, int depth)
{
    long long eta = forest->params.max_leaf_samples;
    int n = forest->row_count, omega = forest->params.window_size;
    if (forest->params.variant == PLAIN_VARIANT_REFERENCE)
        return eta << (2 * depth) < n;
    if (forest->params.variant == PLAIN_VARIANT_RUNNING && n < omega)
        return eta << depth < n;
    return eta << depth < omega;
}

static bool may_split(const plain_forest *forest, const plain_node *leaf)
{
    return leaf->height >= split_height(forest, leaf->depth) &&
           below_depth_limit(forest, leaf->depth);
}

/* Nodes and their boxes. */

static bool is_leaf(const plain_node *node)
{
    return node->left == NULL;
}

static void empty_box(plain_node *node, int dimension)
{
    for (int j = 0; j < dimension; j++) {
        node->lo[j] = INFINITY;
        node->hi[j] = -INFINITY;
    }
}

static void widen_box(plain_node *node, const double *lo, const double *hi, int dimension)
{
    for (int j = 0; j < dimension; j++) {
        if (lo[j] < node->lo[j])
            node->lo[j] = lo[j];
        if (hi[j] > node->hi[j])
            node->hi[j] = hi[j];
    }
}

static void enclose_points(plain_node *node, const double *points, int count, int dimension)
{
    empty_box(node, dimension);
    for (int i = 0; i < count; i++, points += dimension)
        widen_box(node, points, points, dimension);
}

static plain_node *new_leaf(int depth, const double *points, int count, int dimension)
{
    plain_node *leaf = allocate(1, sizeof *leaf);
    *leaf = (plain_node){.depth = depth, .height = count};
    leaf->lo = allocate((size_t)dimension, sizeof *leaf->lo);
    leaf->hi = allocate((size_t)dimension, sizeof *leaf->hi);
    enclose_points(leaf, points, count, dimension);
    return leaf;
}

static void free_node(plain_node *node)
{
    if (node == NULL)
        return;
    free_node(node->left);
    free_node(node->right);
    free(node->lo);
    free(node->hi);
    free(node);
}

static plain_node *child_for(const plain_node *inner, const double *row)
{
    return row[inner->split_column] < inner->split_value ? inner->left : inner->right;
}

/* Algorithm 2: learn. */

static double *sample_points(const plain_forest *forest, plain_tree *tree, const plain_node *leaf)
{
    int dimension = forest->dimension;
    double *points = allocate((size_t)leaf->height * (size_t)dimension, sizeof *points);
    double *value = points;
    for (int i = 0; i < leaf->height; i++)
        for (int j = 0; j < dimension; j++)
            *value++ = random_between(&tree->random_state, leaf->lo[j], leaf->hi[j]);
    return points;
}

/* Uniform over the columns whose box is not empty; -1 if there is none. */
static int choose_column(const plain_forest *forest, plain_tree *tree, const plain_node *leaf)
{
    int candidates = 0;
    for (int j = 0; j < forest->dimension; j++)
        candidates += leaf->lo[j] <= leaf->hi[j];
    int chosen = (int)(random_unit(&tree->random_state) * candidates);
    for (int j = 0; j < forest->dimension; j++)
        if (leaf->lo[j] <= leaf->hi[j] && chosen-- == 0)
            return j;
    return -1;
}

static void swap_points(double *a, double *b, int dimension)
{
    for (int j = 0; j < dimension; j++) {
        double value = a[j];
        a[j] = b[j];
        b[j] = value;
    }
}

/* Moves the points with x_q < p to the front and returns their number. */
static int partition_points(double *points, int count, int dimension, int column, double value)
{
    int left_count = 0;
    for (int i = 0; i < count; i++) {
        double *point = points + (size_t)i * (size_t)dimension;
        if (point[column] < value)
            swap_points(points + (size_t)left_count++ * (size_t)dimension, point, dimension);
    }
    return left_count;
}

/* Turns the leaf into an inner node whose children share its `height` points. */
static void split_by_points(const plain_forest *forest, plain_tree *tree, plain_node *leaf,
                            double *points)
{
    int column = choose_column(forest, tree, leaf);
    if (column < 0)
        return;

    int dimension = forest->dimension;
    double value = random_between(&tree->random_state, leaf->lo[column], leaf->hi[column]);
    int left_count = partition_points(points, leaf->height, dimension, column, value);
    double *right_points = points + (size_t)left_count * (size_t)dimension;

    leaf->split_column = column;
    leaf->split_value = value;
    leaf->left = new_leaf(leaf->depth + 1, points, left_count, dimension);
    leaf->right = new_leaf(leaf->depth + 1, right_points, leaf->height - left_count, dimension);

    bool children_may_follow = forest->params.variant == PLAIN_VARIANT_REFERENCE;
    if (children_may_follow && may_split(forest, leaf->left))
        split_by_points(forest, tree, leaf->left, points);
    if (children_may_follow && may_split(forest, leaf->right))
        split_by_points(forest, tree, leaf->right, right_points);
}

static void split_leaf(const plain_forest *forest, plain_tree *tree, plain_node *leaf)
{
    double *points = sample_points(forest, tree, leaf);
    /* The authors rebuild the node from its sampled points, and so draw the split value between
     * them. */
    if (forest->params.variant == PLAIN_VARIANT_REFERENCE)
        enclose_points(leaf, points, leaf->height, forest->dimension);
    split_by_points(forest, tree, leaf, points);
    free(points);
}

static void learn_point(plain_forest *forest, plain_tree *tree, plain_node *node, const double *row)
{
    forest->visits++;
    node->height++;
    widen_box(node, row, row, forest->dimension);
    if (!is_leaf(node))
        learn_point(forest, tree, child_for(node, row), row);
    else if (may_split(forest, node))
        split_leaf(forest, tree, node);
}

/* Algorithm 3: forget. */

/* Makes the node a leaf whose box encloses those of the leaves below it. Its box as an inner node
 * is dropped; in `running` and `paper` that one is wider, because points sampled at a split do not
 * reach its walls. */
static void merge_children(plain_node *node, int dimension)
{
    if (is_leaf(node))
        return;
    merge_children(node->left, dimension);
    merge_children(node->right, dimension);
    empty_box(node, dimension);
    widen_box(node, node->left->lo, node->left->hi, dimension);
    widen_box(node, node->right->lo, node->right->hi, dimension);
    free_node(node->left);
    free_node(node->right);
    node->left = node->right = NULL;
}

static void forget_point(plain_forest *forest, plain_node *node, const double *row)
{
    forest->visits++;
    node->height--;
    if (is_leaf(node))
        return;
    if (node->height < split_height(forest, node->depth))
        merge_children(node, forest->dimension);
    else
        forget_point(forest, child_for(node, row), row);
}

/* Algorithm 4: point depth. */

static const plain_node *find_leaf(const plain_node *node, const double *row)
{
    while (!is_leaf(node))
        node = child_for(node, row);
    return node;
}

static double point_depth(const plain_forest *forest, const plain_node *leaf)
{
    return leaf->depth + expected_depth(forest, leaf->height);
}

/* Algorithm 1: the forest. */

plain_forest *plain_forest_new(const plain_forest_params *params, int dimension)
{
    assert(params->num_trees >= 1 && params->window_size >= 1);
    assert(params->max_leaf_samples >= 1 && dimension >= 1);
    plain_forest *forest = allocate(1, sizeof *forest);
    *forest = (plain_forest){.params = *params, .dimension = dimension};
    forest->window =
        allocate(((size_t)params->window_size + 1) * (size_t)dimension, sizeof *forest->window);
    forest->trees = allocate((size_t)params->num_trees, sizeof *forest->trees);
    uint64_t seeds = params->seed;
    for (int i = 0; i < params->num_trees; i++) {
        forest->trees[i].root = new_leaf(0, NULL, 0, dimension);
        forest->trees[i].random_state = next_random(&seeds);
    }
    return forest;
}

void plain_forest_free(plain_forest *forest)
{
    if (forest == NULL)
        return;
    for (int i = 0; i < forest->params.num_trees; i++)
        free_node(forest->trees[i].root);
    free(forest->trees);
    free(forest->window);
    free(forest);
}

/* The row that arrived `position` rows after the oldest. */
static double *window_row(const plain_forest *forest, int position)
{
    int slot = (forest->oldest + position) % (forest->params.window_size + 1);
    return forest->window + (size_t)slot * (size_t)forest->dimension;
}

void plain_forest_learn(plain_forest *forest, const double *row)
{
    memcpy(window_row(forest, forest->row_count), row, (size_t)forest->dimension * sizeof *row);
    forest->row_count++;
    for (int i = 0; i < forest->params.num_trees; i++)
        learn_point(forest, &forest->trees[i], forest->trees[i].root, row);

    if (forest->row_count > forest->params.window_size) {
        const double *oldest_row = window_row(forest, 0);
        for (int i = 0; i < forest->params.num_trees; i++)
            forget_point(forest, forest->trees[i].root, oldest_row);
        forest->oldest = (forest->oldest + 1) % (forest->params.window_size + 1);
        forest->row_count--;
    }
}

double plain_forest_score(plain_forest *forest, const double *row)
{
    plain_variant variant = forest->params.variant;
    double depth_sum = 0;
    for (int i = 0; i < forest->params.num_trees; i++) {
        const plain_node *leaf = find_leaf(forest->trees[i].root, row);
        forest->visits += leaf->depth + 1;
        depth_sum += point_depth(forest, leaf);
    }
    double mean_depth = depth_sum / forest->params.num_trees;
    int n = variant == PLAIN_VARIANT_PAPER ? forest->params.window_size : forest->row_count;
    double normaliser = expected_depth(forest, n);
    if (normaliser == 0)
        return variant == PLAIN_VARIANT_RUNNING ? 0.5 : 1.0;
    return exp2(-mean_depth / normaliser);
}

double plain_forest_learn_score(plain_forest *forest, const double *row)
{
    plain_forest_learn(forest, row);
    return plain_forest_score(forest, row);
}

/* Inspection. */

double plain_forest_depth(const plain_forest *forest, int tree, const double *row)
{
    return point_depth(forest, find_leaf(forest->trees[tree].root, row));
}

int plain_forest_leaf_depth(const plain_forest *forest, int tree, const double *row)
{
    return find_leaf(forest->trees[tree].root, row)->depth;
}

static int count_nodes(const plain_node *node)
{
    return is_leaf(node) ? 1 : 1 + count_nodes(node->left) + count_nodes(node->right);
}

int plain_forest_node_count(const plain_forest *forest, int tree)
{
    return count_nodes(forest->trees[tree].root);
}

long long plain_forest_visits(const plain_forest *forest)
{
    return forest->visits;
}

static bool box_encloses(const plain_node *outer, const plain_node *inner, int dimension)
{
    for (int j = 0; j < dimension; j++)
        if (inner->lo[j] < outer->lo[j] || inner->hi[j] > outer->hi[j])
            return false;
    return true;
}

static const char *check_node(const plain_forest *forest, const plain_node *node)
{
    if (is_leaf(node))
        return NULL;
    const struct plain_node *left = node->left, *right = node->right;
    if (node->height != left->height + right->height)
        return "inner height is not the sum of its children";
    if (node->height < split_height(forest, node->depth))
        return "inner height is below the height that keeps a split";
    if (left->depth != node->depth + 1 || right->depth != node->depth + 1)
        return "child is not one level below its parent";
    if (!box_encloses(node, left, forest->dimension) ||
        !box_encloses(node, right, forest->dimension))
        return "child's box reaches outside its parent's";
    const char *broken = check_node(forest, left);
    return broken != NULL ? broken : check_node(forest, right);
}

const char *plain_forest_check(const plain_forest *forest)
{
    for (int i = 0; i < forest->params.num_trees; i++) {
        const plain_node *root = forest->trees[i].root;
        if (root->height != forest->row_count)
            return "root height is not the number of rows in the window";
        const char *broken = check_node(forest, root);
        if (broken != NULL)
            return broken;
    }
    return NULL;
}
