#include "plain_row_ranges.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 32, BOX_ROWS = 64, ALL_ROWS = GROUPS * BOX_ROWS };

typedef struct box {
    double low, high;
    bool has_number, has_missing;
} box;

/* Rows are dealt out to `dealt` groups in rounds; each round starts with another group. */
typedef struct dealing {
    size_t first_round, dealt;
    size_t group; /* one of those */
} dealing;

static size_t row_of(const dealing *d, size_t i)
{
    uint64_t round = d->first_round + i, x = (round + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    size_t turn = (size_t)(x >> 32) % d->dealt;
    return (size_t)round * d->dealt + (d->group + d->dealt - turn) % d->dealt;
}

/* How the rows of a group's box were dealt out; false while it has none. A box is used once one
 * more row than it needs has come. */
static bool find_box(size_t rows, size_t group, dealing *found)
{
    /* rows [from, to) are dealt out to groups [begin, end) */
    static const struct {
        size_t from, to, begin, end;
    } starts[] = {{0, 256, 0, 4}, {256, 512, 4, 8}, {512, 1024, 8, 16}, {1024, 2048, 16, 32}};
    size_t renewed = 2 * ALL_ROWS + group * BOX_ROWS;
    if (rows > renewed) {
        size_t begin = renewed + (rows - 1 - renewed) / ALL_ROWS * ALL_ROWS - ALL_ROWS;
        *found = (dealing){begin / GROUPS, GROUPS, group};
        return true;
    }
    for (size_t i = 0; i < 4; i++)
        if (group >= starts[i].begin && group < starts[i].end) {
            size_t dealt = starts[i].end - starts[i].begin;
            *found = (dealing){starts[i].from / dealt, dealt, group - starts[i].begin};
            return rows > starts[i].to;
        }
    return false;
}

static box column_box(const plain_row_ranges *ranges, const dealing *d, size_t column)
{
    box found = {INFINITY, -INFINITY, false, false};
    for (size_t i = 0; i < BOX_ROWS; i++) {
        double x = ranges->rows[row_of(d, i) * ranges->columns + column];
        if (isnan(x)) {
            found.has_missing = true;
        } else {
            found.has_number = true;
            found.low = x < found.low ? x : found.low;
            found.high = x > found.high ? x : found.high;
        }
    }
    return found;
}

/* In quarters, so nothing overflows. */
static double width_of(const box *b)
{
    return b->has_number ? 0.25 * b->high - 0.25 * b->low : 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double usual_width(const box *boxes, size_t count)
{
    double widths[GROUPS];
    size_t middle = count / 2;
    for (size_t i = 0; i < count; i++)
        widths[i] = width_of(&boxes[i]);
    qsort(widths, count, sizeof *widths, compare);
    while (middle < count - 1 && widths[middle] == 0)
        middle++;
    return widths[middle];
}

/* The probability that a cut in this column separates the value from the box. */
static double apart(const box *b, double x, double least_width)
{
    if (isnan(x))
        return b->has_missing ? 0 : 1;
    if (!b->has_number)
        return 1;
    double below = 0.25 * b->low - 0.25 * x, above = 0.25 * x - 0.25 * b->high;
    double distance = fmax(below, above);
    if (distance <= 0)
        return 0;
    return distance / (distance + fmax(width_of(b), least_width));
}

typedef struct column_boxes {
    size_t count;
    box boxes[GROUPS];
    double width; /* minimum width of a box */
} column_boxes;

static column_boxes find_boxes(const plain_row_ranges *ranges, size_t column)
{
    column_boxes found = {0};
    dealing d;
    while (found.count < GROUPS && find_box(ranges->count, found.count, &d))
        found.boxes[found.count++] = column_box(ranges, &d, column);
    if (found.count > 0)
        found.width = usual_width(found.boxes, found.count);
    return found;
}

/* ---- Learning ---- */

/* How far a value is outside the tightest bounds of all boxes. */
static double excess_of(const column_boxes *in_use, double x)
{
    box inner = {-INFINITY, INFINITY, true, false};
    for (size_t g = 0; g < in_use->count; g++) {
        inner.low = fmax(inner.low, in_use->boxes[g].low);
        inner.high = fmin(inner.high, in_use->boxes[g].high);
    }
    double distance = fmax(0.25 * inner.low - 0.25 * x, 0.25 * x - 0.25 * inner.high);
    if (!(distance > 0 && distance < INFINITY))
        return 0;
    return distance / (distance + in_use->width);
}

static void learn_excesses(plain_row_ranges *ranges, const double *row)
{
    for (size_t column = 0; column < ranges->columns; column++) {
        column_boxes in_use = find_boxes(ranges, column);
        double *excess = &ranges->excesses[column];
        if (in_use.count == 0)
            return;
        if ((ranges->count - 1) % 16 == 0)
            *excess = *excess * 0.9375 > 0x1p-40 ? *excess * 0.9375 : 0;
        *excess += excess_of(&in_use, row[column]) * (1.0 / 256);
    }
}

void plain_row_ranges_learn(plain_row_ranges *ranges, const double *row)
{
    if (!ranges->excesses)
        ranges->excesses = calloc(ranges->columns, sizeof *ranges->excesses);
    if (ranges->count == ranges->capacity) {
        ranges->capacity = 2 * ranges->capacity + 64;
        ranges->rows =
            realloc(ranges->rows, ranges->capacity * ranges->columns * sizeof *ranges->rows);
    }
    memcpy(ranges->rows + ranges->count++ * ranges->columns, row, ranges->columns * sizeof *row);
    learn_excesses(ranges, row);
}

void plain_row_ranges_free(plain_row_ranges *ranges)
{
    free(ranges->rows);
    free(ranges->excesses);
    *ranges = (plain_row_ranges){.columns = ranges->columns};
}

/* ---- Judging ---- */

double plain_row_ranges_depth(const plain_row_ranges *ranges, const double *row, double depth,
                              size_t left_out, size_t step)
{
    double worst[GROUPS] = {0}, sums[4] = {0};
    size_t in_use = find_boxes(ranges, 0).count;
    if (in_use == 0 || depth <= 1)
        return depth;
    for (size_t column = 0; column < ranges->columns; column++) {
        if (step && column % step == left_out)
            continue;
        column_boxes found = find_boxes(ranges, column);
        for (size_t g = 0; g < in_use; g++) {
            double q = apart(&found.boxes[g], row[column], found.width);
            if (!isnan(row[column]) && found.boxes[g].has_number)
                q -= ranges->excesses[column];
            worst[g] = fmax(worst[g], q);
        }
    }
    for (size_t g = 0; g < GROUPS; g++) {
        double q = worst[g], p = q * q / (q * q + 2 * ((1 - q) * (1 - q)));
        sums[g % 4] += depth - depth / (1 + (depth - 1) / 2 * (p + p * p));
    }
    return depth - ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (0.5 * (double)(in_use + GROUPS));
}

double plain_row_ranges_worst(const plain_row_ranges *ranges, const double *row, size_t *column)
{
    double worst = 0;
    for (size_t j = 0; j < ranges->columns; j++) {
        column_boxes found = find_boxes(ranges, j);
        double sums[4] = {0};
        for (size_t g = 0; g < found.count; g++) {
            bool counts = !isnan(row[j]) && found.boxes[g].has_number;
            double q = counts ? apart(&found.boxes[g], row[j], found.width) : 0;
            q = fmax(0, q - ranges->excesses[j]);
            sums[g % 4] += q * q / (q * q + 2 * ((1 - q) * (1 - q)));
        }
        double p = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (double)found.count;
        if (p > worst) {
            worst = p;
            *column = j;
        }
    }
    return 2 * worst / fmax(1 - worst, 0x1p-52);
}
