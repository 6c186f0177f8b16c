#include "plain_half_space_trees.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_node {
    int column;
    double cut; /* within the column's range mapped to [0, 1] */
    long reference, latest;
} plain_node;

struct plain_hst {
    plain_hst_params params;
    int dimension;
    plain_node **trees; /* node i has the children 2i and 2i + 1; the root is 1 */
    double *low, *high; /* of the columns */
    double *rows;       /* of the latest window */
    int rows_held, reference_rows, next_build;
    bool steady; /* the trees are final, rows are counted as they come */
};

static void *allocate(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "plain_half_space_trees: out of memory\n");
        abort();
    }
    return memory;
}

/* Algorithm 1: cuts the box of a node in the middle of a random column, then its halves. */
static void build_node(plain_hst *forest, int tree, uint64_t key, unsigned at, int depth,
                       double *least, double *greatest)
{
    plain_node *node = &forest->trees[tree][at];
    oif_random random = oif_random_stream(key, at);
    *node = (plain_node){.column = (int)oif_random_below(&random, (uint32_t)forest->dimension)};
    if (depth == forest->params.max_depth)
        return;
    int q = node->column;
    double old_least = least[q], old_greatest = greatest[q];
    node->cut = (old_least + old_greatest) / 2;
    greatest[q] = node->cut;
    build_node(forest, tree, key, 2 * at, depth + 1, least, greatest);
    greatest[q] = old_greatest;
    least[q] = node->cut;
    build_node(forest, tree, key, 2 * at + 1, depth + 1, least, greatest);
    least[q] = old_least;
}

/* "Initialise Work Space": for each column s +- 2 max(s, 1 - s), s uniform in [0, 1]. */
static void build_trees(plain_hst *forest)
{
    double *least = allocate((size_t)forest->dimension, sizeof *least);
    double *greatest = allocate((size_t)forest->dimension, sizeof *greatest);
    for (int tree = 0; tree < forest->params.num_trees; tree++) {
        uint64_t key = oif_random_stream(forest->params.seed, (uint64_t)tree).state;
        for (int q = 0; q < forest->dimension; q++) {
            oif_random random = oif_random_stream(key, 0x100000000u + (uint64_t)q);
            double s = oif_random_unit(&random), sigma = 2 * fmax(s, 1 - s);
            least[q] = s - sigma;
            greatest[q] = s + sigma;
        }
        build_node(forest, tree, key, 1, 0, least, greatest);
    }
    free(least);
    free(greatest);
}

static void learn_ranges(plain_hst *forest)
{
    for (int q = 0; q < forest->dimension; q++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < forest->rows_held; i++) {
            low = fmin(low, forest->rows[i * forest->dimension + q]);
            high = fmax(high, forest->rows[i * forest->dimension + q]);
        }
        if (low == high) { /* a constant: a thousandth of it, or 1 */
            double around = low == 0 ? 0.5 : fabs(low) / 2048;
            low -= around;
            high += around;
        }
        forest->low[q] = low;
        forest->high[q] = high;
    }
}

static unsigned child_for(const plain_hst *forest, const plain_node *node, unsigned at,
                          const double *row)
{
    int q = node->column;
    double position = (row[q] - forest->low[q]) / (forest->high[q] - forest->low[q]);
    /* Cuts can meet the ends of the range: equal values go right, despite rounding. */
    return position < node->cut - 1e-12 ? 2 * at : 2 * at + 1;
}

/* Algorithm 2. */
static void update_mass(plain_hst *forest, int tree, const double *row)
{
    unsigned at = 1;
    for (int depth = 0; depth <= forest->params.max_depth; depth++) {
        plain_node *node = &forest->trees[tree][at];
        node->latest++;
        at = child_for(forest, node, at, row);
    }
}

static void count_row(plain_hst *forest, const double *row)
{
    for (int tree = 0; tree < forest->params.num_trees; tree++)
        update_mass(forest, tree, row);
}

static void swap_masses(plain_hst *forest)
{
    for (int tree = 0; tree < forest->params.num_trees; tree++)
        for (size_t i = 1; i < (size_t)2 << forest->params.max_depth; i++) {
            forest->trees[tree][i].reference = forest->trees[tree][i].latest;
            forest->trees[tree][i].latest = 0;
        }
    forest->reference_rows = forest->rows_held;
}

plain_hst *plain_hst_new(const plain_hst_params *params, int dimension)
{
    plain_hst *forest = allocate(1, sizeof *forest);
    *forest = (plain_hst){.params = *params, .dimension = dimension};
    forest->trees = allocate((size_t)params->num_trees, sizeof *forest->trees);
    for (int i = 0; i < params->num_trees; i++)
        forest->trees[i] = allocate((size_t)2 << params->max_depth, sizeof **forest->trees);
    forest->low = allocate((size_t)dimension, sizeof *forest->low);
    forest->high = allocate((size_t)dimension, sizeof *forest->high);
    forest->rows = allocate((size_t)params->window_size * (size_t)dimension, sizeof *forest->rows);
    forest->next_build = params->window_size < 16 ? params->window_size : 16;
    for (int q = 0; q < dimension; q++) {
        forest->low[q] = params->low;
        forest->high[q] = params->high;
    }
    return forest;
}

void plain_hst_free(plain_hst *forest)
{
    for (int i = 0; i < forest->params.num_trees; i++)
        free(forest->trees[i]);
    free(forest->trees);
    free(forest->low);
    free(forest->high);
    free(forest->rows);
    free(forest);
}

void plain_hst_learn(plain_hst *forest, const double *row)
{
    int window = forest->params.window_size;
    memcpy(&forest->rows[forest->rows_held * forest->dimension], row,
           (size_t)forest->dimension * sizeof *row);
    forest->rows_held++;
    if (forest->steady) {
        count_row(forest, row);
        if (forest->rows_held == window)
            swap_masses(forest);
    } else if (forest->rows_held == forest->next_build) {
        if (!forest->params.fixed)
            learn_ranges(forest);
        build_trees(forest);
        for (int i = 0; i < forest->rows_held; i++)
            count_row(forest, &forest->rows[i * forest->dimension]);
        swap_masses(forest);
        forest->next_build = forest->next_build * 2 < window ? forest->next_build * 2 : window;
        forest->steady = forest->rows_held == window && !forest->params.relearn;
    }
    if (forest->rows_held == window)
        forest->rows_held = 0;
}

uint64_t plain_hst_mass(const plain_hst *forest, const double *row)
{
    uint64_t sum = 0;
    double limit = forest->params.size_limit * forest->reference_rows;
    for (int tree = 0; tree < forest->params.num_trees; tree++) {
        unsigned at = 1;
        int depth = 0;
        const plain_node *node = &forest->trees[tree][1];
        while (depth < forest->params.max_depth && (double)node->reference > limit) {
            at = child_for(forest, node, at, row);
            node = &forest->trees[tree][at];
            depth++;
        }
        sum += (uint64_t)node->reference << depth;
    }
    return sum;
}

double plain_hst_score(const plain_hst *forest, const double *row)
{
    if (forest->reference_rows == 0)
        return 0.5;
    double rows = (double)forest->params.num_trees * forest->reference_rows;
    return 1 - log2(1 + (double)plain_hst_mass(forest, row) / rows) /
                   log2(1 + exp2(forest->params.max_depth));
}
