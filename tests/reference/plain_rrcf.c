/* See the header. Everything is done the slow way: a box costs a walk over all rows below, a
 * displacement the depths of all rows before and after. Keep it simple. Speed belongs in
 * src/detect/rrcf/random_cut_tree.c. */
#include "plain_rrcf.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_cut_node {
    struct plain_cut_node *left, *right; /* both NULL in a leaf */
    int column;                          /* rows with row[column] <= value are on the left */
    double value;
    double *row; /* of a leaf */
    int count;   /* of a leaf: the row and its duplicates */
} plain_cut_node;

struct plain_cut_tree {
    plain_cut_node *root;
    size_t dimension;
    uint64_t random_state;
};

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "plain_rrcf: out of memory\n");
        abort();
    }
    return memory;
}

/* ---- Random numbers: splitmix64 (Steele, Lea, Flood 2014) ---- */

static double draw_unit(plain_cut_tree *tree)
{
    uint64_t x = tree->random_state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53;
}

/* ---- Boxes ---- */

typedef struct plain_cut_box {
    double *low, *high;
} plain_cut_box;

static plain_cut_box new_box(size_t dimension)
{
    plain_cut_box box = {allocate(dimension * sizeof(double)),
                         allocate(dimension * sizeof(double))};
    for (size_t i = 0; i < dimension; i++) {
        box.low[i] = INFINITY;
        box.high[i] = -INFINITY;
    }
    return box;
}

static void free_box(plain_cut_box box)
{
    free(box.low);
    free(box.high);
}

static void add_row(plain_cut_box box, const double *row, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++) {
        box.low[i] = fmin(box.low[i], row[i]);
        box.high[i] = fmax(box.high[i], row[i]);
    }
}

static void add_rows_below(plain_cut_box box, const plain_cut_node *node, size_t dimension)
{
    if (!node->left) {
        add_row(box, node->row, dimension);
        return;
    }
    add_rows_below(box, node->left, dimension);
    add_rows_below(box, node->right, dimension);
}

/* A cut of a box: r uniform up to the sum of the sides; the side that contains r is cut there. */
static void draw_cut(plain_cut_tree *tree, plain_cut_box box, int *column, double *value)
{
    double sum = 0;
    for (size_t i = 0; i < tree->dimension; i++)
        sum += box.high[i] - box.low[i];
    double r = draw_unit(tree) * sum;
    size_t last = 0;
    for (size_t i = 0; i < tree->dimension; i++) {
        double side = box.high[i] - box.low[i];
        if (side <= 0)
            continue;
        last = i;
        if (r < side)
            break;
        r -= side;
    }
    *column = (int)last;
    *value = fmin(box.low[last] + r, nextafter(box.high[last], -INFINITY));
}

/* ---- Building ---- */

static plain_cut_node *new_leaf(const double *row, size_t dimension, int count)
{
    plain_cut_node *leaf = allocate(sizeof *leaf);
    leaf->row = allocate(dimension * sizeof *row);
    memcpy(leaf->row, row, dimension * sizeof *row);
    leaf->count = count;
    return leaf;
}

static plain_cut_node *new_inner(int column, double value, plain_cut_node *left,
                                 plain_cut_node *right)
{
    plain_cut_node *inner = allocate(sizeof *inner);
    *inner = (plain_cut_node){.left = left, .right = right, .column = column, .value = value};
    return inner;
}

static bool same_row(const double *a, const double *b, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool all_same(const double **rows, size_t count, size_t dimension)
{
    for (size_t i = 1; i < count; i++)
        if (!same_row(rows[0], rows[i], dimension))
            return false;
    return true;
}

static plain_cut_node *build(plain_cut_tree *tree, const double **rows, size_t count)
{
    if (all_same(rows, count, tree->dimension))
        return new_leaf(rows[0], tree->dimension, (int)count);
    plain_cut_box box = new_box(tree->dimension);
    for (size_t i = 0; i < count; i++)
        add_row(box, rows[i], tree->dimension);
    int column;
    double value;
    draw_cut(tree, box, &column, &value);
    free_box(box);

    const double **left = allocate(count * sizeof *left), **right = allocate(count * sizeof *right);
    size_t left_count = 0, right_count = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i][column] <= value)
            left[left_count++] = rows[i];
        else
            right[right_count++] = rows[i];
    plain_cut_node *left_node = build(tree, left, left_count),
                   *right_node = build(tree, right, right_count);
    free(left);
    free(right);
    return new_inner(column, value, left_node, right_node);
}

plain_cut_tree *plain_cut_tree_build(const double *rows, size_t count, size_t dimension,
                                     uint64_t seed)
{
    plain_cut_tree *tree = allocate(sizeof *tree);
    tree->dimension = dimension;
    tree->random_state = seed;
    const double **all = allocate(count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = &rows[i * dimension];
    tree->root = count ? build(tree, all, count) : NULL;
    free(all);
    return tree;
}

static void free_nodes(plain_cut_node *node)
{
    if (!node)
        return;
    free_nodes(node->left);
    free_nodes(node->right);
    free(node->row);
    free(node);
}

void plain_cut_tree_free(plain_cut_tree *tree)
{
    free_nodes(tree->root);
    free(tree);
}

/* ---- Algorithm 2: InsertPoint ---- */

static plain_cut_node *insert_below(plain_cut_tree *tree, plain_cut_node *node, const double *row)
{
    if (!node->left && same_row(node->row, row, tree->dimension)) {
        node->count++;
        return node;
    }
    plain_cut_box below = new_box(tree->dimension), with_row = new_box(tree->dimension);
    add_rows_below(below, node, tree->dimension);
    add_rows_below(with_row, node, tree->dimension);
    add_row(with_row, row, tree->dimension);
    int column;
    double value;
    draw_cut(tree, with_row, &column, &value);
    bool row_left = row[column] <= value && value < below.low[column];
    bool row_right = row[column] > value && value >= below.high[column];
    free_box(below);
    free_box(with_row);
    if (row_left)
        return new_inner(column, value, new_leaf(row, tree->dimension, 1), node);
    if (row_right)
        return new_inner(column, value, node, new_leaf(row, tree->dimension, 1));
    plain_cut_node **child = row[node->column] <= node->value ? &node->left : &node->right;
    *child = insert_below(tree, *child, row);
    return node;
}

void plain_cut_tree_insert(plain_cut_tree *tree, const double *row)
{
    tree->root =
        tree->root ? insert_below(tree, tree->root, row) : new_leaf(row, tree->dimension, 1);
}

/* ---- Algorithm 1: ForgetPoint ---- */

static plain_cut_node *forget_below(plain_cut_node *node, const double *row)
{
    if (!node->left) {
        if (--node->count > 0)
            return node;
        free_nodes(node);
        return NULL;
    }
    bool goes_left = row[node->column] <= node->value;
    plain_cut_node **child = goes_left ? &node->left : &node->right;
    *child = forget_below(*child, row);
    if (*child)
        return node;
    plain_cut_node *other = goes_left ? node->right : node->left;
    free(node);
    return other;
}

void plain_cut_tree_forget(plain_cut_tree *tree, const double *row)
{
    tree->root = forget_below(tree->root, row);
}

/* ---- Inspection ---- */

static int rows_below(const plain_cut_node *node)
{
    return node->left ? rows_below(node->left) + rows_below(node->right) : node->count;
}

static bool is_above(const plain_cut_node *node, const plain_cut_node *leaf)
{
    return node == leaf ||
           (node->left && (is_above(node->left, leaf) || is_above(node->right, leaf)));
}

/* The sum of the depths of all rows below a node, without those of the set `out`. Without `out` its
 * parent disappears, so its sibling is one level higher. */
static long depths_without(const plain_cut_node *node, const plain_cut_node *out, long depth)
{
    if (node == out)
        return 0;
    if (!node->left)
        return depth * node->count;
    if (node->left == out)
        return depths_without(node->right, out, depth);
    if (node->right == out)
        return depths_without(node->left, out, depth);
    return depths_without(node->left, out, depth + 1) + depths_without(node->right, out, depth + 1);
}

/* The same rows at their current depths. */
static long depths_of_others(const plain_cut_node *node, const plain_cut_node *out, long depth)
{
    if (node == out)
        return 0;
    if (!node->left)
        return depth * node->count;
    return depths_of_others(node->left, out, depth + 1) +
           depths_of_others(node->right, out, depth + 1);
}

static const plain_cut_node *find_leaf(const plain_cut_tree *tree, const double *row, long *depth)
{
    const plain_cut_node *node = tree->root;
    for (*depth = 0; node->left; ++*depth)
        node = row[node->column] <= node->value ? node->left : node->right;
    if (!same_row(node->row, row, tree->dimension)) {
        fprintf(stderr, "plain_rrcf: the row is not in the tree\n");
        abort();
    }
    return node;
}

double plain_cut_tree_depth(const plain_cut_tree *tree, const double *row)
{
    long depth;
    find_leaf(tree, row, &depth);
    return (double)depth;
}

static double greatest_displacement(const plain_cut_tree *tree, const plain_cut_node *node,
                                    const plain_cut_node *leaf)
{
    double fall =
        (double)(depths_of_others(tree->root, node, 0) - depths_without(tree->root, node, 0));
    double greatest = fall / rows_below(node);
    if (!node->left)
        return greatest;
    return fmax(greatest, greatest_displacement(
                              tree, is_above(node->left, leaf) ? node->left : node->right, leaf));
}

double plain_cut_tree_displacement(const plain_cut_tree *tree, const double *row)
{
    long depth;
    return greatest_displacement(tree, tree->root, find_leaf(tree, row, &depth));
}

int plain_cut_tree_root_column(const plain_cut_tree *tree)
{
    return tree->root && tree->root->left ? tree->root->column : -1;
}

double plain_cut_tree_root_value(const plain_cut_tree *tree)
{
    return tree->root && tree->root->left ? tree->root->value : 0;
}
