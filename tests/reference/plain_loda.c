#include "plain_loda.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_RANGE = 16, SAMPLE_SIZE = 256 };

typedef struct plain_projection {
    double *normals; /* one per column, mostly 0 */
    double low, high, spread;
} plain_projection;

struct plain_loda {
    plain_loda_params params;
    int dimension;
    plain_projection *projections;
    double *scales; /* of the columns */
    double *rows;   /* the window, oldest first */
    int rows_held;
    long rows_learned;
    bool has_ranges;
};

static void *allocate(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "plain_loda: out of memory\n");
        abort();
    }
    return memory;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Draws sqrt(d) distinct columns, then a weight for each, lowest column first. */
static void draw_weights(plain_loda *loda, int number)
{
    double *normals = loda->projections[number].normals;
    int terms = (int)floor(sqrt(loda->dimension) + 0.5);
    oif_random random = oif_random_stream(loda->params.seed, (uint64_t)number);
    for (int drawn = 0; drawn < terms;) {
        uint32_t column = oif_random_below(&random, (uint32_t)loda->dimension);
        drawn += normals[column] == 0;
        normals[column] = 1;
    }
    for (int i = 0; i < loda->dimension; i++)
        if (normals[i] != 0)
            normals[i] = oif_random_normal(&random);
}

plain_loda *plain_loda_new(const plain_loda_params *params, int dimension)
{
    plain_loda *loda = allocate(1, sizeof *loda);
    *loda = (plain_loda){.params = *params, .dimension = dimension};
    loda->projections = allocate((size_t)params->num_projections, sizeof *loda->projections);
    loda->scales = allocate((size_t)dimension, sizeof *loda->scales);
    loda->rows =
        allocate(((size_t)params->window_size + 1) * (size_t)dimension, sizeof *loda->rows);
    for (int i = 0; i < dimension; i++)
        loda->scales[i] = 1;
    for (int i = 0; i < params->num_projections; i++) {
        loda->projections[i].normals = allocate((size_t)dimension, sizeof(double));
        draw_weights(loda, i);
    }
    return loda;
}

void plain_loda_free(plain_loda *loda)
{
    for (int i = 0; i < loda->params.num_projections; i++)
        free(loda->projections[i].normals);
    free(loda->projections);
    free(loda->scales);
    free(loda->rows);
    free(loda);
}

static double project(const plain_loda *loda, const plain_projection *p, const double *row)
{
    double sum = 0;
    for (int i = 0; i < loda->dimension; i++)
        if (p->normals[i] != 0)
            sum += p->normals[i] * (row[i] / loda->scales[i]);
    return sum;
}

static const double *row_at(const plain_loda *loda, int age)
{
    return &loda->rows[age * loda->dimension];
}

/* The window's projections, or a column's values, without missing ones, sorted. */
static double *sorted_numbers(const plain_loda *loda, const plain_projection *p, int column,
                              int *count)
{
    double *numbers = allocate((size_t)loda->rows_held + 1, sizeof *numbers);
    *count = 0;
    for (int i = 0; i < loda->rows_held; i++) {
        double number = p ? project(loda, p, row_at(loda, i)) : row_at(loda, i)[column];
        if (!isnan(number))
            numbers[(*count)++] = number;
    }
    qsort(numbers, (size_t)*count, sizeof *numbers, compare_numbers);
    return numbers;
}

/* The distance between the quartiles, the outer twentieths or the extremes, rounded to a power of
 * two. */
static void learn_scale(plain_loda *loda, int column)
{
    int count;
    double *x = sorted_numbers(loda, NULL, column, &count), scale = 1;
    if (count > 0) {
        scale = x[count - 1 - count / 4] - x[count / 4];
        if (scale == 0)
            scale = x[count - 1 - count / 20] - x[count / 20];
        if (scale == 0)
            scale = x[count - 1] - x[0];
        if (scale == 0)
            scale = x[0] == 0 ? 1 : fabs(x[0]) / 1024;
    }
    loda->scales[column] = exp2(floor(log2(scale)));
    free(x);
}

static void choose_range(plain_loda *loda, plain_projection *p)
{
    int count;
    double *x = sorted_numbers(loda, p, 0, &count);
    p->low = p->high = 0;
    p->spread = 0;
    if (count > 0) {
        double least = x[count / 20], greatest = x[count - 1 - count / 20];
        p->low = x[0];
        p->high = x[count - 1];
        p->spread = greatest - least;
        if (p->spread > 0) {
            p->low = fmax(p->low, least - 3 * p->spread);
            p->high = fmin(p->high, greatest + 3 * p->spread);
        } else {
            p->spread = p->high - p->low;
        }
    }
    free(x);
}

static void choose_ranges(plain_loda *loda)
{
    int window = loda->params.window_size, projections = loda->params.num_projections,
        next = FIRST_RANGE;
    while (next < loda->rows_learned && next < window)
        next *= 2;
    if (loda->rows_learned > window) { /* one after another, each once per window */
        long slot = (loda->rows_learned - 1) % window;
        for (long i = projections * slot / window; i < projections * (slot + 1) / window; i++)
            choose_range(loda, &loda->projections[i]);
    } else if (loda->rows_learned == next || loda->rows_learned == window) {
        loda->has_ranges = true;
        if (loda->params.scale && loda->rows_held <= SAMPLE_SIZE)
            for (int i = 0; i < loda->dimension; i++)
                learn_scale(loda, i);
        for (int i = 0; i < projections; i++)
            choose_range(loda, &loda->projections[i]);
    }
}

void plain_loda_learn(plain_loda *loda, const double *row)
{
    size_t row_bytes = (size_t)loda->dimension * sizeof *row;
    memcpy(&loda->rows[loda->rows_held * loda->dimension], row, row_bytes);
    loda->rows_held++;
    loda->rows_learned++;
    if (loda->rows_held > loda->params.window_size) {
        loda->rows_held--;
        memmove(loda->rows, &loda->rows[loda->dimension], (size_t)loda->rows_held * row_bytes);
    }
    choose_ranges(loda);
}

/* -1 outside the range. */
static int bin_of(const plain_loda *loda, const plain_projection *p, double projected)
{
    int bins = loda->params.num_bins;
    if (projected < p->low || projected > p->high)
        return -1;
    if (p->low == p->high)
        return 0;
    int bin = (int)((projected - p->low) * (bins / (p->high - p->low)));
    return bin < bins ? bin : bins - 1;
}

double plain_loda_score(const plain_loda *loda, const double *row)
{
    double sum = 0;
    int used = 0;
    for (int i = 0; i < loda->params.num_projections; i++) {
        const plain_projection *p = &loda->projections[i];
        double projected = project(loda, p, row);
        int bin = isnan(projected) ? -1 : bin_of(loda, p, projected), known = 0, same = 0;
        for (int age = 0; age < loda->rows_held; age++) {
            double other = project(loda, p, row_at(loda, age));
            known += !isnan(other);
            same += !isnan(other) && bin >= 0 && bin_of(loda, p, other) == bin;
        }
        if (isnan(projected) || known == 0)
            continue;
        double density = (same ? same : 0.125) / known;
        if (p->spread > 0)
            density /= (p->high - p->low) / p->spread;
        sum -= log2(density);
        used++;
    }
    return loda->has_ranges && used ? sum / used : 0;
}
