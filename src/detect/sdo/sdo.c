/* SDOstream, sparse data observers on streams (Hartl, Iglesias, Zseby, ESANN 2020).
 *
 * A few rows of the stream, the observers, describe where rows usually are. Each observer counts
 * how often it was among the nearest observers of a row; counts fade over window_size rows. The
 * score of a row is the median distance to its nearest active observers: those with the highest
 * counts. The others, idle_share of all, may be outliers themselves and do not score.
 *
 * Now and then a row becomes an observer, on average num_observers of them in window_size rows, and
 * replaces the one used least for its age. A row is more likely to be chosen if its nearest
 * observers are used more than others.
 *
 * Counts do not fade one by one: instead each row weighs a little more than the one before.
 *
 * A row costs num_observers x d: one distance per observer, for learning and scoring together.
 */
#include "detect/sdo/sdo.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { SLOTS_AT_ONCE = 16 * OIF_SDO_LANES }; /* observers whose distances a score holds */

/* The most that a column adds to a squared distance. With scales: a column with nearly constant
 * values must not outweigh all others. Without: sums must stay finite. */
#define FURTHEST_SQUARE (64.0 * 64.0)
#define GREATEST_SQUARE 0x1p900

/* Rounds up to whole lanes; the arrays have space for them. */
static uint32_t whole_lanes(uint32_t count)
{
    return (count + OIF_SDO_LANES - 1) / OIF_SDO_LANES * OIF_SDO_LANES;
}

/* ---- Creation ---- */

static oif_sdo_state lay_out(const oif_params *params, size_t dimension)
{
    const double log2_of_e = 0x1.71547652b82fep+0;
    oif_sdo_state sdo = {
        .dimension = (uint32_t)dimension,
        .num_observers = (uint32_t)oif_params_value(params, "num_observers"),
        .num_neighbours = (uint32_t)oif_params_value(params, "num_neighbours"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .scale = (oif_sdo_scale)oif_params_value(params, "scale"),
        .idle_share = oif_params_value(params, "idle_share"),
        .weight = 1,
    };
    const double observers = sdo.num_observers;
    sdo.stride = whole_lanes(sdo.num_observers);
    sdo.growth = oif_exp2(log2_of_e / sdo.window_size);
    sdo.sampling = observers * observers /
                   (oif_min_u32(sdo.num_neighbours, sdo.num_observers) * (double)sdo.window_size);
    sdo.furthest_square = sdo.scale == OIF_SDO_NONE ? GREATEST_SQUARE : FURTHEST_SQUARE;

    const size_t row_of_slots = sdo.stride * sizeof(double);
    sdo.bytes = oif_size_align(sizeof sdo);
    sdo.values_at = oif_size_append(&sdo.bytes, dimension, row_of_slots);
    sdo.counts_at = oif_size_append(&sdo.bytes, 1, row_of_slots);
    sdo.births_at = oif_size_append(&sdo.bytes, 1, row_of_slots);
    sdo.distances_at = oif_size_append(&sdo.bytes, 1, row_of_slots);
    sdo.columns_at = oif_size_append(&sdo.bytes, dimension, sizeof(oif_sdo_column));
    return sdo;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_sdo_state *sdo = state;
    *sdo = lay_out(params, dimension);
    sdo->random = oif_random_stream((uint64_t)oif_params_value(params, "seed"), 0);
    oif_sdo_init_columns(sdo);
}

/* ---- Scoring ---- */

/* The median of the distances; of an even number the mean of the two after the middle, as in the
 * authors' code. 0 if no observer is known. */
static double score_of(const oif_sdo_nearest *nearest)
{
    const uint32_t found = nearest->found, middle = found / 2;
    if (found == 0)
        return 0;
    double lower = oif_sqrt(nearest->squares[middle]);
    if (found % 2 || middle + 1 == found)
        return lower;
    return (lower + oif_sqrt(nearest->squares[middle + 1])) / 2;
}

static double score_row(const oif_sdo_state *sdo, const double *row, bool complete)
{
    double squares[SLOTS_AT_ONCE];
    oif_sdo_nearest nearest;
    nearest.wanted = sdo->num_neighbours;
    nearest.found = 0;
    for (uint32_t first = 0; first < sdo->active; first += SLOTS_AT_ONCE) {
        uint32_t count = oif_min_u32(sdo->active - first, SLOTS_AT_ONCE);
        oif_sdo_measure(sdo, row, complete, first, whole_lanes(count), squares);
        oif_sdo_add_nearest(&nearest, squares, first, count);
    }
    return score_of(&nearest);
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    for (size_t i = 0; i < rows->count; i++)
        scores[i] = score_row(state, oif_rows_at(rows, i), rows->complete);
}

/* ---- Which observers are active ---- */

static void swap_numbers(double *a, double *b)
{
    double number = *a;
    *a = *b;
    *b = number;
}

static void swap_observers(oif_sdo_state *sdo, uint32_t a, uint32_t b)
{
    double *arrays[] = {oif_sdo_counts(sdo), oif_sdo_births(sdo), oif_sdo_distances(sdo)};
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        swap_numbers(&arrays[i][a], &arrays[i][b]);
    for (uint32_t column = 0; column < sdo->dimension; column++)
        swap_numbers(&oif_sdo_values(sdo, column)[a], &oif_sdo_values(sdo, column)[b]);
}

/* The minimum of some numbers, in four independent lanes. */
static double least_of(const double *numbers, uint32_t count)
{
    double least[4] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (uint32_t lane = 0; lane < 4; lane++)
            least[lane] = numbers[i + lane] < least[lane] ? numbers[i + lane] : least[lane];
    for (; i < count; i++)
        least[0] = numbers[i] < least[0] ? numbers[i] : least[0];
    for (uint32_t lane = 1; lane < 4; lane++)
        least[0] = least[lane] < least[0] ? least[lane] : least[0];
    return least[0];
}

static uint32_t first_with(const double *numbers, double number)
{
    uint32_t i = 0;
    while (numbers[i] != number)
        i++;
    return i;
}

static uint32_t most_used_idle(const oif_sdo_state *sdo)
{
    const double *counts = oif_sdo_counts(sdo);
    uint32_t most = sdo->active;
    for (uint32_t i = sdo->active + 1; i < sdo->held; i++)
        most = counts[i] > counts[most] ? i : most;
    return most;
}

/* Makes the observers with the highest counts active. */
static void choose_active(oif_sdo_state *sdo)
{
    const double *counts = oif_sdo_counts(sdo);
    while (sdo->active < oif_sdo_active_of(sdo, sdo->held)) {
        swap_observers(sdo, most_used_idle(sdo), sdo->active);
        sdo->active++;
    }
    while (sdo->active < sdo->held) {
        uint32_t idle = most_used_idle(sdo);
        double least_active = least_of(counts, sdo->active);
        if (counts[idle] <= least_active)
            return;
        swap_observers(sdo, idle, first_with(counts, least_active));
    }
}

/* ---- Learning ---- */

/* Finds the nearest of the first `count` observers to the row being learned. */
static void find_nearest(const oif_sdo_state *sdo, uint32_t count, oif_sdo_nearest *nearest)
{
    nearest->wanted = sdo->num_neighbours;
    nearest->found = 0;
    oif_sdo_add_nearest(nearest, oif_sdo_distances(sdo), 0, count);
}

/* Counts the row at its nearest observers. Returns the sum of their counts; `idle_too` is set if
 * one of them is idle. */
static double count_row(oif_sdo_state *sdo, const oif_sdo_nearest *nearest, bool *idle_too)
{
    double sum = 0;
    for (uint32_t i = 0; i < nearest->found; i++) {
        double *count = &oif_sdo_counts(sdo)[nearest->slots[i]];
        *count += sdo->weight;
        sum += *count;
        sdo->total += sdo->weight;
        *idle_too |= nearest->slots[i] >= sdo->active;
    }
    return sum;
}

/* The observer used least for its age. The age of an observer is how much it could have counted: 1
 * - (the weight of its first row, relative to now). */
static uint32_t least_used(const oif_sdo_state *sdo)
{
    const double *counts = oif_sdo_counts(sdo), *births = oif_sdo_births(sdo);
    uint32_t least = 0;
    double least_use = HUGE_VAL;
    for (uint32_t i = 0; i < sdo->held; i++) {
        double use = counts[i] / (sdo->weight - births[i]);
        least = use < least_use ? i : least;
        least_use = use < least_use ? use : least_use;
    }
    return least;
}

static bool is_incomplete(const oif_sdo_state *sdo, uint32_t slot)
{
    unsigned missing = 0;
    for (uint32_t column = 0; column < sdo->dimension; column++)
        missing |= oif_sdo_values(sdo, column)[slot] != oif_sdo_values(sdo, column)[slot];
    return missing;
}

/* Makes the row an observer. */
static void adopt(oif_sdo_state *sdo, const double *row)
{
    const bool full = sdo->held == sdo->num_observers;
    uint32_t slot = full ? least_used(sdo) : sdo->held++;
    if (full) {
        sdo->incomplete -= is_incomplete(sdo, slot);
        sdo->total -= oif_sdo_counts(sdo)[slot];
    }
    for (uint32_t column = 0; column < sdo->dimension; column++)
        oif_sdo_values(sdo, column)[slot] = row[column];
    sdo->incomplete += is_incomplete(sdo, slot);
    oif_sdo_counts(sdo)[slot] = oif_sdo_births(sdo)[slot] = sdo->weight;
    oif_sdo_distances(sdo)[slot] = 0;
    sdo->total += sdo->weight;
}

static bool has_a_number(const double *row, uint32_t dimension)
{
    for (uint32_t i = 0; i < dimension; i++)
        if (row[i] == row[i])
            return true;
    return false;
}

/* Makes the next row weigh more. At the greatest weight, all weights are divided by it. */
static void let_time_pass(oif_sdo_state *sdo)
{
    sdo->rows_so_far += sdo->rows_so_far < OIF_SDO_START;
    sdo->weight *= sdo->growth;
    if (sdo->weight < OIF_SDO_GREATEST_WEIGHT)
        return;
    double *counts = oif_sdo_counts(sdo), *births = oif_sdo_births(sdo);
    sdo->weight /= OIF_SDO_GREATEST_WEIGHT;
    sdo->total = 0; /* summed again, so rounding errors do not accumulate */
    for (uint32_t i = 0; i < sdo->held; i++) {
        counts[i] /= OIF_SDO_GREATEST_WEIGHT;
        births[i] /= OIF_SDO_GREATEST_WEIGHT;
        sdo->total += counts[i];
    }
}

/* Learns a row, given its nearest observers. Returns whether its nearest active observers may have
 * changed; if not, all of `nearest` are active. */
OIF_INLINE bool learn_nearest(oif_sdo_state *sdo, const double *row, const oif_sdo_nearest *nearest)
{
    bool changed = false;
    double sum = count_row(sdo, nearest, &changed);
    double drawn = oif_random_unit(&sdo->random);
    if (nearest->found > 0 ? drawn * sdo->total < sdo->sampling * sum
                           : has_a_number(row, sdo->dimension)) {
        adopt(sdo, row);
        changed = true;
    }
    if (changed)
        choose_active(sdo);
    let_time_pass(sdo);
    return changed;
}

/* Learns a row; `nearest` gets its nearest observers. Returns what learn_nearest does. */
static bool learn_row(oif_sdo_state *sdo, const double *row, bool complete,
                      oif_sdo_nearest *nearest)
{
    if (sdo->scale == OIF_SDO_ROBUST)
        oif_sdo_learn_scales(sdo, row);
    oif_sdo_measure(sdo, row, complete, 0, whole_lanes(sdo->held), oif_sdo_distances(sdo));
    find_nearest(sdo, sdo->held, nearest);
    return learn_nearest(sdo, row, nearest);
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    const oif_sdo_state *sdo = state;
    (void)pool; /* each row depends on the one before */
    for (size_t i = 0; i < rows->count; i++) {
        oif_sdo_nearest nearest;
        bool changed = learn_row(state, oif_rows_at(rows, i), rows->complete, &nearest);
        if (!scores)
            continue;
        if (changed) /* the distances are still valid */
            find_nearest(sdo, sdo->active, &nearest);
        scores[i] = score_of(&nearest);
    }
}

/* Scales change little from row to row. So the nearest observers by the new scales are among those
 * that were near by the old scales, and only a few need to be measured again. `nearest` has the
 * nearest active observers by the old scales, and gets the nearest of all by the new ones. */
static void find_nearest_again(oif_sdo_state *sdo, const double *row, bool complete,
                               oif_sdo_nearest *nearest)
{
    const double rounding = 1 + 0x1p-20, underflow = 0x1p-960; /* upper bounds */
    const oif_sdo_change change = oif_sdo_change_scales(sdo, row);
    if (nearest->found < nearest->wanted || change.greatest > 1.5 * change.least) {
        oif_sdo_measure(sdo, row, complete, 0, whole_lanes(sdo->held), oif_sdo_distances(sdo));
        find_nearest(sdo, sdo->held, nearest);
        return;
    }
    /* `wanted` observers are within furthest x greatest, so farther ones are not among the
     * nearest */
    const double furthest = nearest->squares[nearest->wanted - 1];
    const double bound = furthest * (change.greatest / change.least) * rounding + underflow;
    nearest->found = 0;
    oif_sdo_add_nearest_again(sdo, row, complete, oif_sdo_distances(sdo), sdo->held, bound,
                              nearest);
}

static double score_learn_row(oif_sdo_state *sdo, const double *row, bool complete)
{
    oif_sdo_nearest nearest;
    oif_sdo_measure(sdo, row, complete, 0, whole_lanes(sdo->held), oif_sdo_distances(sdo));
    find_nearest(sdo, sdo->active, &nearest);
    const double score = score_of(&nearest);
    if (sdo->scale == OIF_SDO_ROBUST)
        find_nearest_again(sdo, row, complete, &nearest);
    else
        find_nearest(sdo, sdo->held, &nearest);
    (void)learn_nearest(sdo, row, &nearest);
    return score;
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    (void)pool; /* each row depends on the one before */
    for (size_t i = 0; i < rows->count; i++)
        scores[i] = score_learn_row(state, oif_rows_at(rows, i), rows->complete);
}

/* ---- Questions ---- */

/* A quarter of the observers roughly shows where rows are. It exists after window_size / 32
 * rows. */
static bool ready(const void *state)
{
    const oif_sdo_state *sdo = state;
    return sdo->held >= oif_min_u32(sdo->num_observers, sdo->num_neighbours) &&
           sdo->held >= (sdo->num_observers + 3) / 4;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_sdo_state *sdo = state;
    oif_visit_u32(visitor, "held", &sdo->held, 1);
    oif_visit_u32(visitor, "active", &sdo->active, 1);
    oif_visit_u32(visitor, "incomplete", &sdo->incomplete, 1);
    oif_visit_u32(visitor, "rows_so_far", &sdo->rows_so_far, 1);
    oif_visit_f64(visitor, "weight", &sdo->weight, 1);
    oif_visit_f64(visitor, "total", &sdo->total, 1);
    oif_visit_u64(visitor, "random", &sdo->random.state, 1);
    oif_visit_f64(visitor, "counts", oif_sdo_counts(sdo), sdo->num_observers);
    oif_visit_f64(visitor, "births", oif_sdo_births(sdo), sdo->num_observers);
    for (uint32_t i = 0; i < sdo->dimension; i++) {
        oif_sdo_column *column = &oif_sdo_columns(sdo)[i];
        oif_visit_f64(visitor, "center", &column->center, 1);
        oif_visit_f64(visitor, "variance", &column->variance, 1);
        oif_visit_f64(visitor, "reach", &column->reach, 1);
        oif_visit_f64(visitor, "inverse", &column->inverse, 1);
        oif_visit_u64(visitor, "known", &column->known, 1);
        oif_visit_f64(visitor, "values", oif_sdo_values(sdo, i), sdo->num_observers);
    }
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_sdo_state *sdo = state;
    double idle_counts = 0;
    for (uint32_t i = sdo->active; i < sdo->held; i++)
        idle_counts += oif_sdo_counts(sdo)[i];
    tell(context, "rows_held", sdo->held); /* as observers */
    tell(context, "observers_active", sdo->active);
    tell(context, "observers_incomplete", sdo->incomplete);
    tell(context, "rows_counted", sdo->held ? sdo->total / sdo->weight : 0);
    tell(context, "idle_share_of_counts", sdo->held ? idle_counts / sdo->total : 0);
}

/* ---- The table ---- */

static const char *const scale_words[] = {"robust", "none", NULL};

static const oif_param params_table[] = {
    {"num_observers", "rows of the stream that others are compared with; more see more detail",
     OIF_PARAM_INTEGER, 1, 1 << 16, 200, NULL},
    {"num_neighbours", "nearest observers whose median distance is the score", OIF_PARAM_INTEGER, 1,
     OIF_SDO_MAX_NEIGHBOURS, 6, NULL},
    {"idle_share", "share of the observers, the least used ones, that do not score", OIF_PARAM_REAL,
     0, 0.9, 0.3, NULL},
    {"window_size", "rows in which observers are replaced and counts fade", OIF_PARAM_INTEGER, 1,
     1 << 24, 2048, NULL},
    {"scale", "divide each column by its deviation (robust), or take it as it is (none)",
     OIF_PARAM_CHOICE, 0, 1, OIF_SDO_ROBUST, scale_words},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_sdo = {
    .info = {.table.name = "sdo",
             .table.summary = "distances to a few rows that represent the stream",
             .paper = "Hartl, Iglesias, Zseby: SDOstream: Low-density models for streaming outlier "
                      "detection, ESANN 2020",
             .cost = "num_observers x d",
             .choose = "if columns depend on each other, an anomaly is in one of many columns, or "
                       "memory is scarce",
             .table.params = params_table,
             .table.param_count = sizeof params_table / sizeof params_table[0]},
    .scale = OIF_SCORES_OF_DISTANCE,
    .rarity = {.usual = 1.6, .per_decade = 1.5},
    .check_params = NULL, /* every combination is valid */
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_sdo_check,
};
