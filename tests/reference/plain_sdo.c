#include "plain_sdo.h"

#include "base/random.h"
#include "base/stable_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START = 64 };

typedef struct plain_observer {
    double *row;
    double count, birth;
} plain_observer;

typedef struct plain_column {
    double center, variance, reach, scale;
    int known;
} plain_column;

struct plain_sdo {
    plain_sdo_params params;
    int dimension, held;
    long rows_learned;
    double weight;
    oif_random random;
    plain_observer *observers; /* active ones first */
    plain_column *columns;
};

static void *allocate(size_t count, size_t item_bytes)
{
    void *memory = calloc(count, item_bytes);
    if (memory == NULL) {
        fprintf(stderr, "plain_sdo: out of memory\n");
        abort();
    }
    return memory;
}

plain_sdo *plain_sdo_new(const plain_sdo_params *params, int dimension)
{
    plain_sdo *sdo = allocate(1, sizeof *sdo);
    sdo->params = *params;
    sdo->dimension = dimension;
    sdo->weight = 1;
    sdo->random = oif_random_stream(params->seed, 0);
    sdo->observers = allocate((size_t)params->num_observers, sizeof *sdo->observers);
    sdo->columns = allocate((size_t)dimension, sizeof *sdo->columns);
    for (int i = 0; i < params->num_observers; i++)
        sdo->observers[i].row = allocate((size_t)dimension, sizeof(double));
    for (int j = 0; j < dimension; j++)
        sdo->columns[j] = (plain_column){.reach = 16, .scale = 1};
    return sdo;
}

void plain_sdo_free(plain_sdo *sdo)
{
    for (int i = 0; i < sdo->params.num_observers; i++)
        free(sdo->observers[i].row);
    free(sdo->observers);
    free(sdo->columns);
    free(sdo);
}

/* ---- Scales ---- */

static double clip(double number, double limit)
{
    return number > limit ? limit : number < -limit ? -limit : number;
}

/* 1 / deviation. The fast version stores the inverse, so the twin does too: a division would give
 * other bits. */
static double scale_of(const plain_column *column)
{
    double least = fabs(column->center) * 0x1p-30 + 0x1p-500;
    return 1 / fmax(sqrt(column->variance), least);
}

static void learn_number(plain_sdo *sdo, plain_column *column, double number)
{
    number = clip(number, 0x1p450);
    if (column->known < sdo->params.window_size)
        column->known++;
    if (column->known == 1 && column->variance == 0)
        column->center = number;
    double limit = INFINITY, apart = number - column->center;
    if (sdo->rows_learned >= START && column->variance > 0)
        limit = column->reach / column->scale;
    if (fabs(apart) <= limit)
        column->reach = 16;
    else if (column->reach < 0x1p60)
        column->reach *= 2;
    apart = clip(apart, limit);
    column->center += 1 / (double)column->known * apart;
    column->variance += 1 / (double)column->known * (apart * apart - column->variance);
    column->scale = scale_of(column);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void start_column(plain_sdo *sdo, int j)
{
    plain_column *column = &sdo->columns[j];
    double numbers[START], deviations[START];
    size_t count = 0;
    for (int i = 0; i < sdo->held && i < START; i++)
        if (!isnan(sdo->observers[i].row[j]))
            numbers[count++] = clip(sdo->observers[i].row[j], 0x1p450);
    if (count < 2)
        return;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    double center = numbers[count / 2];
    for (size_t i = 0; i < count; i++)
        deviations[i] = fabs(numbers[i] - center);
    qsort(deviations, count, sizeof *deviations, compare_numbers);
    if (deviations[count / 2] == 0)
        return;
    column->center = center;
    column->variance = 1.4826 * deviations[count / 2] * (1.4826 * deviations[count / 2]);
    column->scale = scale_of(column);
}

static void learn_scales(plain_sdo *sdo, const double *row)
{
    for (int j = 0; j < sdo->dimension; j++)
        if (!isnan(row[j]))
            learn_number(sdo, &sdo->columns[j], row[j]);
    for (long starts = 1; starts <= START; starts *= 2)
        if (sdo->rows_learned + 1 == starts)
            for (int j = 0; j < sdo->dimension; j++)
                start_column(sdo, j);
}

/* ---- Distances ---- */

typedef struct plain_neighbour {
    double square;
    int slot;
} plain_neighbour;

static int compare_neighbours(const void *a, const void *b)
{
    const plain_neighbour *x = a, *y = b;
    return x->square != y->square ? (x->square > y->square) - (x->square < y->square)
                                  : x->slot - y->slot;
}

static double square_between(const plain_sdo *sdo, const double *a, const double *b)
{
    double sum = 0, furthest = sdo->params.scale ? 64 * 64 : 0x1p900;
    int common = 0;
    for (int j = 0; j < sdo->dimension; j++) {
        double apart = (a[j] - b[j]) * sdo->columns[j].scale;
        if (isnan(a[j]) || isnan(b[j]))
            continue;
        sum += fmin(apart * apart, furthest);
        common++;
    }
    if (common == 0)
        return INFINITY;
    return common == sdo->dimension ? sum : sum * ((double)sdo->dimension / common);
}

/* The nearest of the first observers, as many as wanted; returns how many there are. */
static int find_nearest(const plain_sdo *sdo, const double *row, int observers,
                        plain_neighbour *nearest)
{
    int found = 0;
    for (int i = 0; i < observers; i++) {
        double square = square_between(sdo, row, sdo->observers[i].row);
        if (square < INFINITY)
            nearest[found++] = (plain_neighbour){square, i};
    }
    qsort(nearest, (size_t)found, sizeof *nearest, compare_neighbours);
    return found < sdo->params.num_neighbours ? found : sdo->params.num_neighbours;
}

static int active_of(const plain_sdo *sdo)
{
    return sdo->held ? (int)floor((sdo->held - 1) * (1 - sdo->params.idle_share)) + 1 : 0;
}

double plain_sdo_score(const plain_sdo *sdo, const double *row)
{
    plain_neighbour *nearest = allocate((size_t)sdo->params.num_observers, sizeof *nearest);
    int found = find_nearest(sdo, row, active_of(sdo), nearest);
    double score = 0;
    if (found % 2 == 1 || found == 2)
        score = sqrt(nearest[found / 2].square);
    else if (found > 0)
        score = (sqrt(nearest[found / 2].square) + sqrt(nearest[found / 2 + 1].square)) / 2;
    free(nearest);
    return score;
}

/* ---- Learning ---- */

static void swap(plain_sdo *sdo, int a, int b)
{
    plain_observer observer = sdo->observers[a];
    sdo->observers[a] = sdo->observers[b];
    sdo->observers[b] = observer;
}

/* The first of those with the lowest count, or with the highest. */
static int extreme(const plain_sdo *sdo, int from, int to, bool highest)
{
    int best = from;
    for (int i = from; i < to; i++) {
        double count = sdo->observers[i].count, so_far = sdo->observers[best].count;
        if (highest ? count > so_far : count < so_far)
            best = i;
    }
    return best;
}

static void adopt(plain_sdo *sdo, const double *row)
{
    int slot = 0, active = active_of(sdo);
    double least = INFINITY;
    for (int i = 0; i < sdo->held; i++) {
        double use = sdo->observers[i].count / (sdo->weight - sdo->observers[i].birth);
        if (use < least)
            slot = i;
        least = fmin(use, least);
    }
    if (sdo->held < sdo->params.num_observers)
        slot = sdo->held++;
    memcpy(sdo->observers[slot].row, row, (size_t)sdo->dimension * sizeof *row);
    sdo->observers[slot].count = sdo->observers[slot].birth = sdo->weight;
    for (; active < active_of(sdo); active++)
        swap(sdo, active, extreme(sdo, active, sdo->held, true));
}

static void put_active_first(plain_sdo *sdo)
{
    const int active = active_of(sdo);
    while (active < sdo->held) {
        int idle = extreme(sdo, active, sdo->held, true), least = extreme(sdo, 0, active, false);
        if (sdo->observers[idle].count <= sdo->observers[least].count)
            return;
        swap(sdo, idle, least);
    }
}

void plain_sdo_learn(plain_sdo *sdo, const double *row)
{
    const plain_sdo_params *p = &sdo->params;
    plain_neighbour *nearest = allocate((size_t)p->num_observers, sizeof *nearest);
    double all = 0, near = 0, observers = p->num_observers;
    bool empty = true;
    if (p->scale)
        learn_scales(sdo, row);
    int found = find_nearest(sdo, row, sdo->held, nearest);
    for (int i = 0; i < found; i++)
        near += sdo->observers[nearest[i].slot].count += sdo->weight;
    for (int i = 0; i < sdo->held; i++)
        all += sdo->observers[i].count;
    for (int j = 0; j < sdo->dimension; j++)
        empty = empty && isnan(row[j]);
    /* k^2 / (x T), times the fraction of all counts held by the nearest */
    double chance = observers * observers / fmin(p->num_neighbours, observers) / p->window_size;
    double drawn = oif_random_unit(&sdo->random);
    if (found > 0 ? drawn < chance * near / all : !empty)
        adopt(sdo, row);
    put_active_first(sdo);
    sdo->weight *= oif_exp2(0x1.71547652b82fep+0 / p->window_size);
    sdo->rows_learned++;
    free(nearest);
}
