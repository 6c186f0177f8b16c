#include "reference/plain_motion.h"

#include <math.h>
#include <stdlib.h>

enum { JUMP, FLUTTER, SHAPE };

plain_motion *plain_motion_new(size_t columns, bool takes_all)
{
    plain_motion *motion = calloc(1, sizeof *motion);
    motion->columns = columns;
    motion->takes_all = takes_all;
    motion->of = calloc(columns, sizeof *motion->of);
    for (size_t move = 0; move < PLAIN_MOVES; move++)
        motion->numbers[move] = motion->usual[move] = 1;
    return motion;
}

void plain_motion_free(plain_motion *motion)
{
    for (size_t j = 0; j < motion->columns; j++)
        free(motion->of[j].values);
    free(motion->of);
    free(motion);
}

static void append_row(plain_motion *motion)
{
    motion->rows++;
    if (motion->rows <= motion->capacity)
        return;
    motion->capacity = 2 * motion->rows;
    for (size_t j = 0; j < motion->columns; j++)
        motion->of[j].values =
            realloc(motion->of[j].values, motion->capacity * sizeof *motion->of[j].values);
}

/* ---- Shapes ---- */

/* Every second of the last 32 values, newest first, less their mean. Before its first value a
 * column had that value. */
static void find_stretch(const plain_moves *c, size_t last, double stretch[PLAIN_POINTS])
{
    double sum = 0;
    for (size_t i = 0; i < PLAIN_POINTS; i++) {
        stretch[i] = c->values[last >= c->first + 2 * i ? last - 2 * i : c->first];
        sum += stretch[i];
    }
    for (size_t i = 0; i < PLAIN_POINTS; i++)
        stretch[i] -= sum / PLAIN_POINTS;
}

static double squared_distance(const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < PLAIN_POINTS; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void find_nearest(plain_moves *c, const double *stretch)
{
    double least = INFINITY;
    for (size_t i = 0; i < c->shape_count; i++)
        if (squared_distance(c->shapes[i].points, stretch) < least) {
            least = squared_distance(c->shapes[i].points, stretch);
            c->nearest = i;
        }
    c->moves[SHAPE] = c->shape_count > 0 ? sqrt(least / PLAIN_POINTS) : 0;
}

static void set_shape(plain_shape *shape, const double *stretch)
{
    shape->uses = 1;
    for (size_t i = 0; i < PLAIN_POINTS; i++)
        shape->points[i] = stretch[i];
}

/* A mean of at most 50 stretches. */
static void move_shape(plain_shape *shape, const double *stretch)
{
    shape->uses += shape->uses < 599; /* at most 600 */
    for (size_t i = 0; i < PLAIN_POINTS; i++)
        shape->points[i] += (stretch[i] - shape->points[i]) * (1 / fmin(shape->uses, 50));
}

static plain_shape *least_used(plain_moves *c)
{
    plain_shape *least = &c->shapes[0];
    for (size_t i = 0; i < PLAIN_SHAPES; i++)
        if (c->shapes[i].uses < least->uses)
            least = &c->shapes[i];
    return least;
}

static void learn_shape(plain_moves *c, size_t rows)
{
    double stretch[PLAIN_POINTS], spread = sqrt(c->level_variance);
    size_t turn = rows / 8;
    bool is_new = c->shape_count == 0 || c->moves[SHAPE] > 0.05 * spread;
    find_stretch(c, rows - 1, stretch);
    if (turn % 4 == 0 && c->shape_count < PLAIN_SHAPES && is_new) {
        set_shape(&c->shapes[c->shape_count++], stretch);
        return;
    }
    if (c->shape_count == 0)
        return;
    if (c->moves[SHAPE] <= 2 * spread)
        move_shape(&c->shapes[c->nearest], stretch);
    if (turn % 8 != 0)
        return;
    for (size_t i = 0; i < c->shape_count; i++)
        c->shapes[i].uses = c->shapes[i].uses * 0.97 + 1e-9;
    if (c->shape_count == PLAIN_SHAPES && c->moves[SHAPE] > 0.2 * spread)
        set_shape(least_used(c), stretch);
}

/* ---- Observing ---- */

/* Whether the shape of a column is judged: every eighth row. */
static bool shape_is_due(const plain_motion *motion, size_t column)
{
    return motion->of[column].takes_part && (motion->rows + column) % 8 == 0;
}

/* The standard deviation of the last 16 values; before the first value, it was always so. */
static double find_flutter(const plain_moves *c, size_t row)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 16; i++)
        sum += c->values[row >= c->first + i ? row - i : c->first];
    for (size_t i = 0; i < 16; i++) {
        double away = c->values[row >= c->first + i ? row - i : c->first] - sum / 16;
        squares += away * away;
    }
    return sqrt(squares / 16);
}

static void observe_value(plain_moves *c, size_t row, double value)
{
    double before = row > 0 ? c->values[row - 1] : NAN;
    c->is_missing = isnan(value);
    c->values[row] = isnan(value) ? before : fmax(-1e150, fmin(1e150, value));
    if (isnan(c->values[row]))
        return;
    if (isnan(before)) {
        c->first = row;
        before = c->values[row];
    }
    c->moves[JUMP] = fabs(c->values[row] - before);
    c->moves[FLUTTER] = find_flutter(c, row);
}

static double relative_move(const plain_motion *motion, const plain_moves *c, size_t move)
{
    double known = c->known[JUMP];
    bool is_new = known < 256 && known < (double)motion->learned - 256;
    if (!c->takes_part || c->usual[move] == 0 || is_new)
        return 1;
    if (move == JUMP && c->is_missing)
        return 1 + 19 * (1 - c->missing_share);
    return fmin(c->moves[move] / c->usual[move], 20);
}

void plain_motion_observe(plain_motion *motion, const double *row, double numbers[PLAIN_MOVES])
{
    append_row(motion);
    for (size_t j = 0; j < motion->columns; j++) {
        double stretch[PLAIN_POINTS];
        observe_value(&motion->of[j], motion->rows - 1, row[j]);
        if (!shape_is_due(motion, j))
            continue;
        find_stretch(&motion->of[j], motion->rows - 1, stretch);
        find_nearest(&motion->of[j], stretch);
    }
    for (size_t move = 0; move < PLAIN_MOVES; move++) {
        double sum = 0;
        for (size_t j = 0; j < motion->columns; j++) {
            double x = relative_move(motion, &motion->of[j], move);
            sum += x * x;
        }
        numbers[move] = motion->numbers[move] = sqrt(sum / (double)motion->columns);
    }
}

/* ---- Learning ---- */

static const size_t lags[PLAIN_LAGS] = {12, 31};

/* The distance to the value some rows before. Before its first value a column had that value. */
static double distance_to(const plain_moves *c, size_t row, size_t lag)
{
    return fabs(c->values[row] - c->values[row >= c->first + lag ? row - lag : c->first]);
}

/* Means over the learned rows, at most about 1000. */
static void learn_moves(plain_moves *c, size_t row)
{
    double x = c->values[row];
    for (size_t move = 0; move < PLAIN_MOVES; move++) {
        if (move == SHAPE && c->shape_count == 0)
            continue;
        c->known[move] = fmin(c->known[move] + 1, 1000);
        c->usual[move] += (c->moves[move] - c->usual[move]) / c->known[move];
    }
    double rows = c->known[JUMP], away = rows > 1 ? x - c->level : 0;
    c->level = rows > 1 ? c->level + away / rows : x;
    c->level_variance += (away * away - c->level_variance) / rows;
    for (size_t i = 0; i < PLAIN_LAGS; i++) {
        if (!(rows > (double)lags[i]))
            continue;
        double change = distance_to(c, row, 1), older = distance_to(c, row, lags[i]);
        c->nearer[i] += ((change < older ? 1 : 0) - c->nearer[i]) / rows;
        c->further[i] += ((change > older ? 1 : 0) - c->further[i]) / rows;
    }
}

static bool has_memory(const plain_moves *c)
{
    bool found = false;
    for (size_t i = 0; i < PLAIN_LAGS; i++) {
        double compared = c->nearer[i] + c->further[i];
        if (!(compared > 0.25))
            continue;
        double memory = (c->nearer[i] - c->further[i]) / compared,
               by_chance = 3.4 / sqrt(c->known[JUMP] * compared);
        found |= memory > fmax(c->takes_part ? 0.55 : 0.65, by_chance);
    }
    return found;
}

static bool decide_on_columns(plain_motion *motion)
{
    size_t before = motion->with_memory;
    motion->with_memory = 0;
    for (size_t j = 0; j < motion->columns; j++) {
        motion->of[j].takes_part = motion->takes_all || has_memory(&motion->of[j]);
        motion->with_memory += motion->of[j].takes_part;
    }
    if (before > 0 || motion->with_memory == 0)
        return false;
    motion->known = 0;
    return true;
}

static void learn_numbers(plain_motion *motion)
{
    motion->known = fmin(motion->known + 1, 1000);
    for (size_t move = 0; move < PLAIN_MOVES; move++)
        motion->usual[move] += (motion->numbers[move] - motion->usual[move]) / motion->known;
}

bool plain_motion_learn(plain_motion *motion)
{
    motion->learned++;
    learn_numbers(motion);
    for (size_t j = 0; j < motion->columns; j++) {
        plain_moves *c = &motion->of[j];
        c->missing_share += (c->is_missing - c->missing_share) / 1000;
        if (!c->is_missing)
            learn_moves(c, motion->rows - 1);
        if (!c->is_missing && shape_is_due(motion, j))
            learn_shape(c, motion->rows);
    }
    return (motion->learned == 32 || motion->learned % 64 == 0) && decide_on_columns(motion);
}

/* ---- Reasons ---- */

size_t plain_motion_column(const plain_motion *motion, size_t move)
{
    bool is_low = motion->numbers[move] < motion->usual[move];
    size_t found = motion->columns;
    for (size_t j = 0; j < motion->columns; j++) {
        if (!motion->of[j].takes_part)
            continue;
        double moves = relative_move(motion, &motion->of[j], move),
               others =
                   found < motion->columns ? relative_move(motion, &motion->of[found], move) : NAN;
        if (isnan(others) || (is_low ? moves < others : moves > others))
            found = j;
    }
    return found < motion->columns ? found : 0;
}

bool plain_motion_is_named(const plain_motion *motion, size_t move)
{
    return move == FLUTTER || motion->numbers[move] >= motion->usual[move];
}

int plain_motion_direction(const plain_motion *motion, size_t move, size_t column)
{
    const plain_moves *c = &motion->of[column];
    size_t last = motion->rows - 1;
    if (move == FLUTTER)
        return c->moves[FLUTTER] < c->usual[FLUTTER] ? -1 : 1;
    if (move == SHAPE || last <= c->first || isnan(c->values[last]))
        return 0;
    return c->values[last] > c->values[last - 1]   ? 1
           : c->values[last] < c->values[last - 1] ? -1
                                                   : 0;
}
