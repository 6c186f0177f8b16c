/* See the header. Everything is done the slow way. Keep it simple: speed belongs in
 * src/detect/rolling_iforest/rolling_grow.c and rolling_walk.c. */
#include "plain_rolling_iforest.h"

#include "base/random.h"
#include "base/stable_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_rolling_node {
    struct plain_rolling_node *left, *right; /* both NULL in a leaf */
    int count;                               /* rows of the sample */
    int column;
    double low, high, cut;
} plain_rolling_node;

struct plain_rolling {
    plain_rolling_params params;
    int dimension;
    oif_random random;
    double *rows; /* all of them */
    int row_count;
    plain_rolling_node **trees; /* NULL if not grown yet */
    int next_tree, rows_since;
};

static void *resize(void *memory, size_t bytes)
{
    memory = realloc(memory, bytes);
    if (!memory) {
        fprintf(stderr, "plain_rolling_iforest: out of memory\n");
        abort();
    }
    return memory;
}

static double average(int n)
{
    double harmonic = 0;
    for (int i = 1; i < n; i++)
        harmonic += 1.0 / i;
    return n < 2 ? 0 : 2 * harmonic - 2.0 * (n - 1) / n;
}

/* ---- Building ---- */

typedef struct plain_column {
    double *numbers; /* those not missing */
    int count;
    double low, high;
} plain_column;

static plain_column read_column(const plain_rolling *f, const int *rows, int count, int column)
{
    plain_column c = {resize(NULL, (size_t)count * sizeof(double)), 0, INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        double number = f->rows[rows[i] * f->dimension + column];
        if (isnan(number))
            continue;
        c.numbers[c.count++] = number;
        c.low = fmin(c.low, number);
        c.high = fmax(c.high, number);
    }
    return c;
}

/* The fourth central moment over the squared second one, after shifting the numbers and scaling
 * them by a power of two to about 0 .. 1; four partial sums. */
static double kurtosis(const plain_column *c)
{
    double half = c->high - c->low > DBL_MAX ? 0.5 : 1, low = c->low * half,
           width = c->high * half - low;
    int exponent = ilogb(width);
    double scale = ldexp(1, -(exponent < -1022 ? -1022 : exponent > 1022 ? 1022 : exponent));
    double sums[5][4] = {{0}}, means[5];
    for (int i = 0; i < c->count; i++) {
        double x = (c->numbers[i] * half - low) * scale, square = x * x;
        sums[1][i % 4] += x;
        sums[2][i % 4] += square;
        sums[3][i % 4] += square * x;
        sums[4][i % 4] += square * square;
    }
    for (int power = 1; power <= 4; power++)
        means[power] =
            ((sums[power][0] + sums[power][1]) + (sums[power][2] + sums[power][3])) / c->count;
    double square = means[1] * means[1], variance = means[2] - square;
    double fourth =
        (means[4] - 4 * means[1] * means[3]) + (6 * square * means[2] - 3 * square * square);
    return fourth / (variance * variance);
}

/* Of some drawn columns, the one with the largest kurtosis that is neither constant nor missing in
 * more than three of four rows; false if all are. */
static bool draw_column(plain_rolling *f, const int *rows, int count, plain_rolling_node *node)
{
    double best = -INFINITY;
    int found = 0;
    for (int draw = 0; draw < 4 * f->params.tournament && found < f->params.tournament; draw++) {
        int column = (int)oif_random_below(&f->random, (uint32_t)f->dimension);
        plain_column c = read_column(f, rows, count, column);
        if (c.low < c.high && c.count >= count / 4) {
            double weight = f->params.tournament > 1 ? kurtosis(&c) : 0;
            found++;
            if (weight > best) {
                best = weight;
                node->column = column;
                node->low = c.low;
                node->high = c.high;
            }
        }
        free(c.numbers);
    }
    return found > 0;
}

static plain_rolling_node *build(plain_rolling *f, const int *rows, int count, int depth)
{
    plain_rolling_node *node = resize(NULL, sizeof *node);
    *node = (plain_rolling_node){.count = count};
    if (count < f->params.max_leaf_samples || depth == f->params.max_depth ||
        !draw_column(f, rows, count, node))
        return node;
    double fraction = oif_random_unit(&f->random);
    node->cut = node->low * (1.0 - fraction) + node->high * fraction;
    if (!(node->cut > node->low && node->cut < node->high))
        node->cut = node->high;

    int *left = resize(NULL, (size_t)count * sizeof *left),
        *right = resize(NULL, (size_t)count * sizeof *right);
    int left_count = 0, right_count = 0, surely_left = 0, surely_right = 0;
    for (int i = 0; i < count; i++) {
        double number = f->rows[rows[i] * f->dimension + node->column];
        surely_left += number < node->cut;
        surely_right += number >= node->cut;
    }
    for (int i = 0; i < count; i++) {
        double number = f->rows[rows[i] * f->dimension + node->column];
        if (isnan(number) ? surely_right > surely_left : number >= node->cut)
            right[right_count++] = rows[i];
        else
            left[left_count++] = rows[i];
    }
    node->left = build(f, left, left_count, depth + 1);
    node->right = build(f, right, right_count, depth + 1);
    free(left);
    free(right);
    return node;
}

static void free_nodes(plain_rolling_node *node)
{
    if (!node)
        return;
    free_nodes(node->left);
    free_nodes(node->right);
    free(node);
}

/* ---- Renewal ---- */

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* The last row in this slot of the ring. */
static int row_in_slot(const plain_rolling *f, int slot, int slots)
{
    int row = slot;
    while (row + slots < f->row_count)
        row += slots;
    return row;
}

/* Rows of the ring without replacement: Floyd's algorithm. */
static int draw_sample(plain_rolling *f, int *rows)
{
    const int slots = f->params.window_size / 2, held = smaller(f->row_count, slots);
    const int wanted = smaller(smaller(f->params.sample_size, slots), held);
    bool *taken = resize(NULL, (size_t)slots * sizeof *taken);
    memset(taken, 0, (size_t)slots * sizeof *taken);
    for (int i = 0; i < wanted; i++) {
        int last = held - wanted + i, slot = (int)oif_random_below(&f->random, (uint32_t)last + 1);
        slot = taken[slot] ? last : slot;
        taken[slot] = true;
        rows[i] = row_in_slot(f, slot, slots);
    }
    free(taken);
    return wanted;
}

static void renew_if_due(plain_rolling *f)
{
    const plain_rolling_params *p = &f->params;
    int rows_a_tree = smaller(f->row_count / 2, p->window_size / 2) / p->num_trees;
    if (f->rows_since < (rows_a_tree > 0 ? rows_a_tree : 1) * p->renew_trees)
        return;
    int *rows = resize(NULL, (size_t)p->window_size * sizeof *rows);
    for (int i = 0; i < p->renew_trees; i++) {
        int count = draw_sample(f, rows);
        free_nodes(f->trees[f->next_tree]);
        f->trees[f->next_tree] = build(f, rows, count, 0);
        f->next_tree = (f->next_tree + 1) % p->num_trees;
    }
    free(rows);
    f->rows_since = 0;
}

/* ---- Scoring and learning ---- */

static double depth_of(const plain_rolling *f, const plain_rolling_node *node, const double *row)
{
    double share = 1, depth = 0;
    while (node->left) {
        double number = row[node->column];
        if (f->params.insertion && (number < node->low || number > node->high)) {
            double low = fmin(number, node->low), high = fmax(number, node->high);
            double half = high - low > DBL_MAX ? 0.5 : 1;
            share *= (node->high * half - node->low * half) / (high * half - low * half);
        }
        depth += share;
        bool right = isnan(number) ? node->right->count > node->left->count : number >= node->cut;
        node = right ? node->right : node->left;
    }
    return depth + share * average(node->count);
}

static double score_of(const plain_rolling *f, const double *row)
{
    uint64_t units = 0, trees = 0;
    for (int tree = 0; tree < f->params.num_trees; tree++) {
        if (!f->trees[tree])
            continue;
        double depth = depth_of(f, f->trees[tree], row);
        units += (uint64_t)(depth * (0x1p32 / average(f->trees[tree]->count)) + 0.5);
        trees++;
    }
    return trees ? oif_exp2(-((double)units * 0x1p-32 / (double)trees)) : 0.5;
}

double plain_rolling_score_learn(plain_rolling *f, const double *row)
{
    double score = score_of(f, row);
    f->rows = resize(f->rows, (size_t)(f->row_count + 1) * (size_t)f->dimension * sizeof *row);
    memcpy(&f->rows[f->row_count * f->dimension], row, (size_t)f->dimension * sizeof *row);
    f->row_count++;
    f->rows_since += f->row_count > 1;
    renew_if_due(f);
    return score;
}

/* ---- Creation ---- */

plain_rolling *plain_rolling_new(const plain_rolling_params *params, int dimension)
{
    plain_rolling *f = resize(NULL, sizeof *f);
    *f = (plain_rolling){.params = *params, .dimension = dimension};
    f->random = oif_random_stream(params->seed, 0);
    f->trees = resize(NULL, (size_t)params->num_trees * sizeof *f->trees);
    for (int tree = 0; tree < params->num_trees; tree++)
        f->trees[tree] = NULL;
    return f;
}

void plain_rolling_free(plain_rolling *f)
{
    for (int tree = 0; tree < f->params.num_trees; tree++)
        free_nodes(f->trees[tree]);
    free(f->trees);
    free(f->rows);
    free(f);
}
