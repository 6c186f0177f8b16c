#include "plain_row_ranges.h"

#include "base/stable_math.h"

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

typedef struct known_box {
    dealing of;
    box found;
    bool is_known;
} known_box;

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

static box find_column_box(const plain_row_ranges *ranges, const dealing *d, size_t column)
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

/* To find it each time took nine tenths of the time of all tests of ranges. */
static box column_box(const plain_row_ranges *ranges, const dealing *d, size_t group, size_t column)
{
    known_box *known = &ranges->known[column * GROUPS + group];
    if (!known->is_known || memcmp(&known->of, d, sizeof *d) != 0)
        *known = (known_box){*d, find_column_box(ranges, d, column), true};
    return known->found;
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
    for (; found.count < GROUPS && find_box(ranges->count, found.count, &d); found.count++)
        found.boxes[found.count] = column_box(ranges, &d, found.count, column);
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
    if (!ranges->excesses) {
        ranges->excesses = calloc(ranges->columns, sizeof *ranges->excesses);
        ranges->known = calloc(ranges->columns * GROUPS, sizeof *ranges->known);
    }
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
    free(ranges->known);
    *ranges = (plain_row_ranges){.columns = ranges->columns};
}

/* ---- Judging ---- */

/* What is beyond the usual excess of a column, as a part of what can be. */
static double beyond_usual(const plain_row_ranges *ranges, size_t column, double q)
{
    double usual = fmin(ranges->excesses[column], 0.98);
    return (q - usual) * (1 / (1 - usual));
}

static double probability_of(double q)
{
    return q * q / (q * q + 2 * ((1 - q) * (1 - q)));
}

/* The group that a row was dealt to, and since which row its current box is being filled. */
static size_t group_of_row(size_t row)
{
    size_t first = row < 256 ? 0 : row < 512 ? 4 : row < 1024 ? 8 : row < 2048 ? 16 : 0;
    size_t dealt = row < 512 ? 4 : row < 1024 ? 8 : row < 2048 ? 16 : 32;
    for (size_t group = 0; group < dealt; group++) {
        dealing d = {row / dealt, dealt, group};
        if (row_of(&d, 0) == row)
            return first + group;
    }
    return GROUPS;
}

static size_t filling_since(size_t rows, size_t group)
{
    size_t since = 0, first = ALL_ROWS + group * BOX_ROWS;
    for (size_t i = 0; i < 4; i++) { /* the start: several groups are full at once */
        static const size_t ends[] = {256, 512, 1024, 2048}, begins[] = {0, 4, 8, 16, 32};
        if (rows > ends[i] && group >= begins[i] && group < begins[i + 1])
            since = ends[i];
    }
    while (rows > first) { /* then one every 64 rows; the first time it was not full */
        since = first;
        first += ALL_ROWS;
    }
    return since;
}

/* Whether a value of the column is in a box that is being filled. */
static bool is_filling(const plain_row_ranges *ranges, size_t column)
{
    size_t oldest = ranges->count > 2 * ALL_ROWS ? ranges->count - 2 * ALL_ROWS : 0;
    for (size_t row = oldest; row < ranges->count; row++)
        if (!isnan(ranges->rows[row * ranges->columns + column]) &&
            row >= filling_since(ranges->count, group_of_row(row)))
            return true;
    return false;
}

/* How far a value is beyond all that the boxes have, in use or being filled; 0 if fewer than 24
 * groups have two different values. */
static double apart_from_all(const plain_row_ranges *ranges, size_t column, double x)
{
    column_boxes found = find_boxes(ranges, column);
    size_t oldest = ranges->count > 2 * ALL_ROWS ? ranges->count - 2 * ALL_ROWS : 0, known = 0;
    box all = {INFINITY, -INFINITY, true, false}, of[GROUPS];
    for (size_t g = 0; g < GROUPS; g++)
        of[g] = g < found.count && found.boxes[g].has_number
                    ? found.boxes[g]
                    : (box){INFINITY, -INFINITY, true, false};
    for (size_t row = oldest; row < ranges->count; row++) {
        double y = ranges->rows[row * ranges->columns + column];
        size_t g = group_of_row(row);
        if (isnan(y) || row < filling_since(ranges->count, g))
            continue;
        of[g].low = fmin(of[g].low, y);
        of[g].high = fmax(of[g].high, y);
    }
    for (size_t g = 0; g < GROUPS; g++) {
        known += of[g].low < of[g].high;
        all.low = fmin(all.low, of[g].low);
        all.high = fmax(all.high, of[g].high);
    }
    return known < 24 ? 0 : beyond_usual(ranges, column, apart(&all, x, 0));
}

/* The mean probability of one value over the boxes. */
static double mean_probability(const plain_row_ranges *ranges, size_t column, double x)
{
    column_boxes found = find_boxes(ranges, column);
    double sums[4] = {0};
    if (isnan(x)) {
        size_t always = 0;
        for (size_t g = 0; g < found.count; g++)
            always += !found.boxes[g].has_missing;
        return 1 - (double)(GROUPS - always) / GROUPS;
    }
    for (size_t g = 0; g < found.count; g++) {
        double q = found.boxes[g].has_number
                       ? beyond_usual(ranges, column, apart(&found.boxes[g], x, found.width))
                       : apart_from_all(ranges, column, x);
        sums[g % 4] += probability_of(fmax(0, q));
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (double)found.count;
}

/* A row is shallower if several columns are outside, or one by far. */
static double judge_breadth(const plain_row_ranges *ranges, const double *row, double inserted,
                            size_t left_out, size_t step)
{
    double sum = 0, most = 0;
    for (size_t column = 0; column < ranges->columns; column++) {
        double p = mean_probability(ranges, column, row[column]);
        if ((step && column % step == left_out) || !(p > 0.1))
            continue;
        double weight = (p - 0.1) / (1 - 0.1);
        most = fmax(most, weight);
        sum += weight;
        if (!isnan(row[column]) && find_boxes(ranges, column).width > 0)
            sum -= weight * 0.3 * oif_log2(fmax(1 - p, 0x1p-40));
    }
    return inserted / (1 + 0.3 * oif_log2(1 + (sum - most)));
}

double plain_row_ranges_depth(const plain_row_ranges *ranges, const double *row, double depth,
                              size_t left_out, size_t step)
{
    double worst[GROUPS] = {0}, sums[4] = {0};
    size_t in_use = find_boxes(ranges, 0).count;
    if (in_use == 0)
        return depth;
    if (depth <= 1)
        return judge_breadth(ranges, row, depth, left_out, step);
    for (size_t column = 0; column < ranges->columns; column++) {
        if (step && column % step == left_out)
            continue;
        column_boxes found = find_boxes(ranges, column);
        bool has_empty = false;
        for (size_t g = 0; g < in_use; g++)
            has_empty |= !found.boxes[g].has_number;
        bool is_new = has_empty && !isnan(row[column]) && is_filling(ranges, column);
        for (size_t g = 0; g < in_use; g++) {
            double q = apart(&found.boxes[g], row[column], found.width);
            if (!isnan(row[column]) && found.boxes[g].has_number)
                q = beyond_usual(ranges, column, q);
            else if (!isnan(row[column]) && is_new)
                q = apart_from_all(ranges, column, row[column]); /* it had none in this box */
            worst[g] = fmax(worst[g], q);
        }
    }
    for (size_t g = 0; g < GROUPS; g++) {
        double p = probability_of(worst[g]);
        sums[g % 4] += depth - depth / (1 + (depth - 1) / 2 * (p + p * p));
    }
    double inserted =
        depth - ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (0.5 * (double)(in_use + GROUPS));
    return inserted > depth - (depth - 1) / 20
               ? inserted
               : judge_breadth(ranges, row, inserted, left_out, step);
}
