/* Forgetting by turnover, transcribed from docs/algorithms/online-iforest.md. The header says what
 * it is for.
 *
 *   trees[0]  trees[1]  ...  trees[T-1]  |  trees[T]  ...  trees[T+s-1]
 *   the oldest                 active    |  shadows        the youngest
 *
 * When a shadow is mature, the oldest tree is freed, all others move one place forward, and a new
 * tree is added at the end. */
#include "plain_turnover.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    struct node *left, *right; /* both NULL in a leaf */
    int split_column;
    double split_value;
    int height, depth;
    double *lo, *hi; /* the box; lo = +inf and hi = -inf while empty */
} node;

struct plain_turnover {
    plain_turnover_params params;
    int dimension, trees_in_all;
    node **trees;
    long long rows;
    uint64_t random;
};

static void *allocate(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "plain_turnover: out of memory\n");
        abort();
    }
    return memory;
}

/* splitmix64 (Steele, Lea, Flood 2014); uniform in [0, 1). */
static double random_unit(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static double random_between(uint64_t *state, double lo, double hi)
{
    double u = random_unit(state), value = lo * (1 - u) + hi * u;
    return value < lo ? lo : value > hi ? hi : value;
}

/* ---- Nodes ---- */

static node *new_node(int depth, int dimension)
{
    node *made = allocate(1, sizeof *made);
    made->depth = depth;
    made->lo = allocate((size_t)dimension, sizeof *made->lo);
    made->hi = allocate((size_t)dimension, sizeof *made->hi);
    for (int j = 0; j < dimension; j++) {
        made->lo[j] = INFINITY;
        made->hi[j] = -INFINITY;
    }
    return made;
}

static void free_tree(node *n)
{
    if (n == NULL)
        return;
    free_tree(n->left);
    free_tree(n->right);
    free(n->lo);
    free(n->hi);
    free(n);
}

/* Counts a point, ignoring missing values. */
static void count_point(node *n, const double *point, int dimension)
{
    n->height++;
    for (int j = 0; j < dimension; j++) {
        if (point[j] < n->lo[j])
            n->lo[j] = point[j];
        if (point[j] > n->hi[j])
            n->hi[j] = point[j];
    }
}

/* A row without the value goes to the heavier child. */
static node *child_for(const node *n, const double *row)
{
    double value = row[n->split_column];
    if (isnan(value))
        return n->right->height > n->left->height ? n->right : n->left;
    return value < n->split_value ? n->left : n->right;
}

static const node *find_leaf(const node *n, const double *row)
{
    while (n->left)
        n = child_for(n, row);
    return n;
}

/* ---- Growing ---- */

static double expected_depth(const plain_turnover *forest, int rows)
{
    int eta = forest->params.max_leaf_samples;
    return rows < eta ? 0 : log2((double)rows / eta);
}

static long long split_height(const plain_turnover *forest, int depth)
{
    return (long long)forest->params.max_leaf_samples << (forest->params.fixed_growth ? 0 : depth);
}

/* High enough, and above the depth limit c(m) of a tree of m rows: eta 2^k < m. */
static bool may_split(const plain_turnover *forest, const node *root, const node *leaf)
{
    return leaf->height >= split_height(forest, leaf->depth) &&
           (long long)forest->params.max_leaf_samples << leaf->depth < root->height;
}

/* Uniform over the columns whose box is not empty; -1 if there is none. */
static int choose_column(plain_turnover *forest, const node *leaf)
{
    int candidates = 0;
    for (int j = 0; j < forest->dimension; j++)
        candidates += leaf->lo[j] <= leaf->hi[j];
    int chosen = (int)(random_unit(&forest->random) * candidates);
    for (int j = 0; j < forest->dimension; j++)
        if (leaf->lo[j] <= leaf->hi[j] && chosen-- == 0)
            return j;
    return -1;
}

/* The children share as many points as the leaf counts, drawn uniformly from its box. */
static void split(plain_turnover *forest, node *leaf)
{
    int column = choose_column(forest, leaf);
    if (column < 0)
        return;
    double *point = allocate((size_t)forest->dimension, sizeof *point);
    leaf->split_column = column;
    leaf->split_value = random_between(&forest->random, leaf->lo[column], leaf->hi[column]);
    leaf->left = new_node(leaf->depth + 1, forest->dimension);
    leaf->right = new_node(leaf->depth + 1, forest->dimension);
    for (int i = 0; i < leaf->height; i++) {
        for (int j = 0; j < forest->dimension; j++)
            point[j] = leaf->lo[j] > leaf->hi[j]
                           ? NAN
                           : random_between(&forest->random, leaf->lo[j], leaf->hi[j]);
        count_point(point[column] < leaf->split_value ? leaf->left : leaf->right, point,
                    forest->dimension);
    }
    free(point);
}

/* The path is chosen by the heights before the row changes them. */
static void learn_point(plain_turnover *forest, node *root, const double *row)
{
    node *n = root;
    while (n->left) {
        node *next = child_for(n, row);
        count_point(n, row, forest->dimension);
        n = next;
    }
    count_point(n, row, forest->dimension);
    if (may_split(forest, root, n))
        split(forest, n);
}

/* ---- The forest ---- */

plain_turnover *plain_turnover_new(const plain_turnover_params *params, int dimension)
{
    assert(params->num_trees >= 1 && params->shadow_trees >= 1 &&
           params->maturity >= params->shadow_trees);
    plain_turnover *forest = allocate(1, sizeof *forest);
    *forest = (plain_turnover){.params = *params, .dimension = dimension, .random = params->seed};
    forest->trees_in_all = params->num_trees + params->shadow_trees;
    forest->trees = allocate((size_t)forest->trees_in_all, sizeof *forest->trees);
    for (int i = 0; i < forest->trees_in_all; i++)
        forest->trees[i] = new_node(0, dimension);
    return forest;
}

void plain_turnover_free(plain_turnover *forest)
{
    if (forest == NULL)
        return;
    for (int i = 0; i < forest->trees_in_all; i++)
        free_tree(forest->trees[i]);
    free(forest->trees);
    free(forest);
}

/* Shadow j of a new forest waits for row j maturity / s. */
static bool has_begun(const plain_turnover *forest, int tree)
{
    const plain_turnover_params *p = &forest->params;
    return tree < p->num_trees ||
           forest->rows * p->shadow_trees >= (long long)(tree - p->num_trees) * p->maturity;
}

/* The oldest tree goes, the oldest shadow becomes active, a new one starts. */
static void turn_over(plain_turnover *forest)
{
    if (forest->trees[forest->params.num_trees]->height < forest->params.maturity)
        return;
    free_tree(forest->trees[0]);
    memmove(forest->trees, forest->trees + 1,
            (size_t)(forest->trees_in_all - 1) * sizeof *forest->trees);
    forest->trees[forest->trees_in_all - 1] = new_node(0, forest->dimension);
}

void plain_turnover_learn(plain_turnover *forest, const double *row)
{
    turn_over(forest);
    for (int i = 0; i < forest->trees_in_all; i++)
        if (has_begun(forest, i))
            learn_point(forest, forest->trees[i], row);
    forest->rows++;
}

double plain_turnover_score(const plain_turnover *forest, const double *row)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < forest->params.num_trees; i++) {
        double normal = expected_depth(forest, forest->trees[i]->height);
        if (normal > 0) {
            sum += plain_turnover_depth(forest, i, row) / fmax(normal, 1.0 / 32);
            known++;
        }
    }
    return known ? exp2(-sum / known) : 0.5;
}

double plain_turnover_learn_score(plain_turnover *forest, const double *row)
{
    plain_turnover_learn(forest, row);
    return plain_turnover_score(forest, row);
}

/* ---- Inspection ---- */

int plain_turnover_age(const plain_turnover *forest, int tree)
{
    return forest->trees[tree]->height;
}

double plain_turnover_depth(const plain_turnover *forest, int tree, const double *row)
{
    const node *leaf = find_leaf(forest->trees[tree], row);
    return leaf->depth + expected_depth(forest, leaf->height);
}

int plain_turnover_leaf_depth(const plain_turnover *forest, int tree, const double *row)
{
    return find_leaf(forest->trees[tree], row)->depth;
}

static int count_nodes(const node *n)
{
    return n->left ? 1 + count_nodes(n->left) + count_nodes(n->right) : 1;
}

int plain_turnover_node_count(const plain_turnover *forest, int tree)
{
    return count_nodes(forest->trees[tree]);
}

static const char *check_node(const plain_turnover *forest, const node *n)
{
    if (!n->left)
        return NULL;
    if (n->height != n->left->height + n->right->height)
        return "inner height is not the sum of its children";
    if (n->height < split_height(forest, n->depth))
        return "inner height is below the height that splits";
    const char *broken = check_node(forest, n->left);
    return broken ? broken : check_node(forest, n->right);
}

const char *plain_turnover_check(const plain_turnover *forest)
{
    const char *broken = NULL;
    for (int i = 0; i < forest->trees_in_all && !broken; i++) {
        broken = check_node(forest, forest->trees[i]);
        if (i > 0 && forest->trees[i]->height > forest->trees[i - 1]->height)
            broken = "a tree is older than the one before it";
    }
    return broken;
}
