/* LODA, the lightweight on-line detector of anomalies (Pevny, Machine Learning 2016).
 *
 * One-dimensional histograms are weak detectors that cost next to nothing; many of them together
 * are a strong one. Each histogram is of a random projection: the sum of about sqrt(dimension)
 * columns with normally distributed weights. The score is the mean over the projections of -log2 of
 * the density at the row's projection.
 *
 * The histograms describe the last window_size rows. Their projections are kept in a ring: a new
 * row is counted, the row that it replaces is uncounted. The range of each histogram is chosen
 * again from the ring once per window, one histogram after another. So the ranges follow the
 * stream, and no row pays for all of them.
 *
 * The column with the largest values would dominate a projection, so each column is divided by its
 * scale, learned from the first rows. The scale is rounded to a power of two, so dividing by it is
 * exact.
 *
 * A row costs O(num_projections sqrt(dimension)); choosing a range costs O(window_size), once every
 * window_size / num_projections rows.
 */
#include "detect/loda/loda.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/stable_math.h"
#include "base/vector.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SAMPLE_SIZE = 256,   /* rows that the scales of the columns are learned from */
    TAIL = 20,           /* one row in 20 may be outside "where most rows are", on either side */
    REACH = 3,           /* a range extends 3 times as far, if there are rows */
    EMPTY_BIN_LOG2 = -3, /* an empty bin counts as an eighth of a row */
    /* projections computed together: their slots in the ring are one cache line */
    LANES = 8,
    MAX_CHUNK = 192, /* rows that pass LANES projections before the next */
    /* rows of the largest window that a thread sorts in its own memory */
    THREAD_WINDOW = OIF_THREAD_BYTES / sizeof(double)
};

/* ---- Creation ---- */

/* sqrt(dimension), rounded. */
static uint32_t rounded_root(uint64_t dimension)
{
    uint64_t root = 1;
    while (root * (root + 1) < dimension)
        root++;
    return (uint32_t)root;
}

static oif_loda_state lay_out(const oif_params *params, size_t dimension)
{
    oif_loda_state loda = {
        .dimension = (uint32_t)dimension,
        .num_projections = (uint32_t)oif_params_value(params, "num_projections"),
        .num_bins = (uint32_t)oif_params_value(params, "num_bins"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .scale = (oif_loda_scale)oif_params_value(params, "scale"),
        .terms = rounded_root(dimension),
    };
    loda.next_range = oif_loda_range_after(&loda, 0);
    if (loda.scale == OIF_LODA_LEARN)
        loda.sample_size = oif_min_u32(loda.window_size, SAMPLE_SIZE);

    size_t weights = oif_size_multiply(loda.num_projections, loda.terms);
    loda.bytes = oif_size_align(sizeof loda);
    loda.columns_at = oif_size_append(&loda.bytes, weights, sizeof(uint32_t));
    loda.normals_at = oif_size_append(&loda.bytes, weights, sizeof(double));
    loda.weights_at = oif_size_append(&loda.bytes, weights, sizeof(double));
    loda.ring_at =
        oif_size_append(&loda.bytes, loda.window_size, loda.num_projections * sizeof(double));
    loda.histograms_at =
        oif_size_append(&loda.bytes, loda.num_projections, sizeof(oif_loda_histogram));
    loda.counts_at = oif_size_append(&loda.bytes, loda.num_projections,
                                     oif_size_multiply(loda.num_bins, sizeof(uint32_t)));
    loda.logs_at = oif_size_append(&loda.bytes, (size_t)loda.window_size + 1, sizeof(int32_t));
    loda.sample_at = oif_size_append(&loda.bytes, loda.sample_size,
                                     oif_size_multiply(dimension, sizeof(double)));
    loda.scratch_at = oif_size_append(&loda.bytes, loda.window_size, sizeof(double));
    return loda;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static int64_t to_log_units(double bits)
{
    return (int64_t)(bits * (1 << OIF_LODA_LOG_BITS) + (bits < 0 ? -0.5 : 0.5));
}

/* Draws the columns of a projection, all distinct, in ascending order. */
static void draw_columns(const oif_loda_state *loda, oif_random *random, uint32_t *columns)
{
    for (uint32_t drawn = 0; drawn < loda->terms;) {
        uint32_t column = oif_random_below(random, loda->dimension), at = drawn;
        while (at > 0 && columns[at - 1] > column)
            at--;
        if (at > 0 && columns[at - 1] == column)
            continue;
        memmove(&columns[at + 1], &columns[at], (drawn - at) * sizeof *columns);
        columns[at] = column;
        drawn++;
    }
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_loda_state *loda = state;
    *loda = lay_out(params, dimension);
    for (uint32_t projection = 0; projection < loda->num_projections; projection++) {
        oif_random random =
            oif_random_stream((uint64_t)oif_params_value(params, "seed"), projection);
        draw_columns(loda, &random, oif_loda_columns(loda, projection));
        for (uint32_t i = 0; i < loda->terms; i++)
            oif_loda_weights(loda, projection)[i] = oif_loda_normals(loda, projection)[i] =
                oif_random_normal(&random);
    }
    oif_loda_logs(loda)[0] = EMPTY_BIN_LOG2 * (1 << OIF_LODA_LOG_BITS);
    for (uint32_t count = 1; count <= loda->window_size; count++)
        oif_loda_logs(loda)[count] = (int32_t)to_log_units(oif_log2(count));
}

/* ---- Projecting ---- */

/* A row's projection; NaN if one of its values is missing. */
OIF_INLINE double project(const oif_loda_state *loda, uint32_t projection, const double *row)
{
    const uint32_t *columns = oif_loda_columns(loda, projection);
    const double *weights = oif_loda_weights(loda, projection);
    double sum = 0;
    for (uint32_t i = 0; i < loda->terms; i++) {
        double term = weights[i] * row[columns[i]];
        term = term > OIF_LODA_GREATEST_TERM ? OIF_LODA_GREATEST_TERM : term;
        sum += term < -OIF_LODA_GREATEST_TERM ? -OIF_LODA_GREATEST_TERM : term;
    }
    return sum;
}

/* Added to an unsigned count to subtract 1. */
#define MINUS_ONE UINT32_MAX

/* Counts a projection or, if `change` is MINUS_ONE, uncounts it. */
OIF_INLINE void add_to_histogram(oif_loda_histogram *histogram, uint32_t *counts, uint32_t num_bins,
                                 double projected, uint32_t change)
{
    if (projected != projected)
        return;
    uint32_t bin = oif_loda_bin_of(histogram, num_bins, projected);
    histogram->counted += change;
    if (bin < num_bins)
        counts[bin] += change;
}

/* ---- Scoring ---- */

typedef struct surprise {
    int64_t bits; /* in log units, added up over ... */
    uint32_t projections;
} surprise;

/* Adds -log2 of the density at this projection. The unit is the width of a bin if the histogram
 * covered only the range of most rows. So a longer range, with coarser bins, does not change the
 * density. */
OIF_INLINE void add_surprise(const oif_loda_state *loda, uint32_t projection, double projected,
                             surprise *sum)
{
    const oif_loda_histogram *histogram = &oif_loda_histograms(loda)[projection];
    const int32_t *logs = oif_loda_logs(loda);
    if (projected != projected || histogram->counted == 0)
        return;
    uint32_t bin = oif_loda_bin_of(histogram, loda->num_bins, projected);
    uint32_t count = bin < loda->num_bins ? oif_loda_counts(loda, projection)[bin] : 0;
    sum->bits += histogram->width + logs[histogram->counted] - logs[count];
    sum->projections++;
}

static double score_of(const oif_loda_state *loda, const surprise *sum)
{
    if (!loda->has_ranges || sum->projections == 0)
        return 0;
    return (double)sum->bits / ((double)sum->projections * (1 << OIF_LODA_LOG_BITS));
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_loda_state *loda = state;
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = oif_rows_at(rows, i);
        surprise sum = {0};
        for (uint32_t projection = 0; projection < loda->num_projections; projection++)
            add_surprise(loda, projection, project(loda, projection, row), &sum);
        scores[i] = score_of(loda, &sum);
    }
}

/* ---- Quantiles ---- */

/* Moves the numbers below the pivot (or equal to it) to the front of [low, high) and returns their
 * end. Twice as fast without a branch that depends on the numbers. */
OIF_INLINE uint32_t move_to_front(double *numbers, uint32_t low, uint32_t high, double pivot,
                                  bool equal_too)
{
    for (uint32_t i = low; i < high; i++) {
        double number = numbers[i];
        numbers[i] = numbers[low];
        numbers[low] = number;
        low += equal_too ? number <= pivot : number < pivot;
    }
    return low;
}

/* The number that would be at position `wanted` if [low, high) were sorted; smaller ones are moved
 * before it. Hoare's selection. Random pivots keep an adversarial stream from slowing it down. */
static double select_number(double *numbers, uint32_t low, uint32_t high, uint32_t wanted)
{
    oif_random random = {high};
    while (high - low > 1) {
        double pivot = numbers[low + oif_random_below(&random, high - low)];
        uint32_t below = move_to_front(numbers, low, high, pivot, false);
        if (wanted < below) {
            high = below;
            continue;
        }
        low = move_to_front(numbers, below, high, pivot, true);
        if (wanted < low)
            return pivot;
    }
    return numbers[wanted];
}

typedef struct interval {
    double low, high;
} interval;

/* The interval without the lowest and the highest 1/share of the numbers. */
static interval middle_of(double *numbers, uint32_t count, uint32_t share)
{
    uint32_t least = count / share, greatest = count - 1 - least;
    double low = select_number(numbers, 0, count, least);
    return (interval){low, select_number(numbers, least, count, greatest)};
}

static interval extent_of(const double *numbers, uint32_t count)
{
    interval extent = {INFINITY, -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        extent.low = numbers[i] < extent.low ? numbers[i] : extent.low;
        extent.high = numbers[i] > extent.high ? numbers[i] : extent.high;
    }
    return extent;
}

/* ---- Ranges ---- */

/* Collects the projections of the window that are not missing; returns how many. */
static uint32_t gather_projections(const oif_loda_state *loda, uint32_t projection,
                                   double *gathered)
{
    const uint32_t stride = loda->num_projections, rows_held = loda->rows_held;
    const double *projected = oif_loda_slot(loda, 0) + projection;
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < rows_held; slot++, projected += stride) {
        gathered[count] = *projected;
        count += *projected == *projected;
    }
    return count;
}

/* Chooses the range of a histogram: all rows of the window, but at most REACH times the spread of
 * most rows beyond them. */
static void choose_range(oif_loda_histogram *histogram, uint32_t num_bins, double *projected,
                         uint32_t count)
{
    interval range = extent_of(projected, count), most = middle_of(projected, count, TAIL);
    double spread = most.high - most.low;
    if (spread >= OIF_LODA_LEAST_WIDTH) {
        double least = most.low - REACH * spread, greatest = most.high + REACH * spread;
        range.low = range.low > least ? range.low : least;
        range.high = range.high < greatest ? range.high : greatest;
    } else {
        spread = range.high - range.low;
    }
    histogram->low = range.low;
    histogram->high = range.high;
    bool one_bin = spread < OIF_LODA_LEAST_WIDTH;
    histogram->bins_a_unit = one_bin ? 0 : num_bins / (range.high - range.low);
    histogram->width = one_bin ? 0 : to_log_units(oif_log2((range.high - range.low) / spread));
}

/* Chooses the range again and counts the window. Not inlined, because it is rare. */
static __attribute__((noinline)) void renew_histogram(oif_loda_state *loda, uint32_t projection,
                                                      double *scratch)
{
    const uint32_t num_bins = loda->num_bins, count = gather_projections(loda, projection, scratch);
    uint32_t *counts = oif_loda_counts(loda, projection);
    oif_loda_histogram renewed = {0};
    memset(counts, 0, num_bins * sizeof *counts);
    if (count > 0)
        choose_range(&renewed, num_bins, scratch, count);
    for (uint32_t i = 0; i < count; i++)
        add_to_histogram(&renewed, counts, num_bins, scratch[i], 1);
    oif_loda_histograms(loda)[projection] = renewed;
    /* Blank again: equal detectors are equal bytes, whichever thread did this. */
    memset(scratch, 0, loda->rows_held * sizeof *scratch);
}

/* ---- Scales ---- */

/* Half the usual spread of a column: of the middle half or, if those are all equal, of more of
 * them. Halved, because the difference of two doubles may overflow. */
static double half_scale(double *numbers, uint32_t count)
{
    static const uint32_t shares[] = {4, TAIL, UINT32_MAX};
    for (uint32_t i = 0; count > 0 && i < 3; i++) {
        interval most = middle_of(numbers, count, shares[i]);
        if (most.low < most.high)
            return most.high / 2 - most.low / 2;
    }
    /* Constant so far: measure departures in thousandths of the constant or, if it is 0, in
     * units. */
    double constant = count == 0 || numbers[0] == 0 ? 0x1p10
                      : numbers[0] < 0              ? -numbers[0]
                                                    : numbers[0];
    return constant * 0x1p-11;
}

/* One over the scale, as a power of two. */
static double inverse_scale(const oif_loda_state *loda, uint32_t column)
{
    double *numbers = oif_block_part(loda, loda->scratch_at);
    uint32_t count = 0;
    for (uint32_t i = 0; i < loda->rows_held; i++) {
        double number = oif_loda_sample(loda, i)[column];
        numbers[count] = number;
        count += number == number;
    }
    double half = half_scale(numbers, count);
    if (half < 0x1p-1000)
        return 0x1p1000;
    double exponent = (double)(int64_t)(oif_log2(half) + 1024) - 1023;
    return oif_exp2(exponent > 1000 ? -1000 : -exponent);
}

/* The term of a projection that uses this column; `terms` if none does. */
static uint32_t term_of(const oif_loda_state *loda, uint32_t projection, uint32_t column)
{
    const uint32_t *columns = oif_loda_columns(loda, projection);
    uint32_t low = 0, high = loda->terms;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < loda->terms && columns[low] == column ? low : loda->terms;
}

/* Learns the scales from the rows so far and projects these rows with them. A scale is computed
 * once, when the first projection needs it. */
static void learn_scales(oif_loda_state *loda)
{
    for (uint32_t column = 0; column < loda->dimension; column++) {
        double inverse = 0;
        for (uint32_t projection = 0; projection < loda->num_projections; projection++) {
            uint32_t term = term_of(loda, projection, column);
            if (term == loda->terms)
                continue;
            inverse = inverse > 0 ? inverse : inverse_scale(loda, column);
            oif_loda_weights(loda, projection)[term] =
                oif_loda_normals(loda, projection)[term] * inverse;
        }
    }
    for (uint32_t slot = 0; slot < loda->rows_held; slot++)
        for (uint32_t projection = 0; projection < loda->num_projections; projection++)
            oif_loda_slot(loda, slot)[projection] =
                project(loda, projection, oif_loda_sample(loda, slot));
}

/* ---- Learning ---- */

/* Rows that pass all projections, LANES at a time, before the next rows do. */
typedef struct row_chunk {
    oif_loda_state *loda;
    const oif_rows *rows;
    uint32_t first_slot;
    /* each row replaces an older one, and renews histograms in order: */
    bool full;
    const uint32_t *renewed;     /* row i renews those from renewed[i] up to renewed[i + 1] */
    _Atomic int64_t *bits;       /* surprise per row; NULL if no scores are wanted */
    _Atomic uint32_t *projected; /* per row, the number of projections added up */
    oif_pool *pool;
} row_chunk;

/* Learns one row in some projections and adds up its surprise; with scores_first, the surprise
 * before learning. */
OIF_INLINE void learn_in_lanes(const row_chunk *chunk, uint32_t i, uint32_t first, uint32_t end,
                               double *scratch, bool scores_first, surprise *sum)
{
    oif_loda_state *loda = chunk->loda;
    const double *row = oif_rows_at(chunk->rows, i);
    const uint32_t num_bins = loda->num_bins, renew_from = chunk->renewed[i],
                   renew_to = chunk->renewed[i + 1];
    double *held = oif_loda_slot(loda, chunk->first_slot + i);
    for (uint32_t projection = first; projection < end; projection++) {
        oif_loda_histogram *histogram = &oif_loda_histograms(loda)[projection];
        uint32_t *counts = oif_loda_counts(loda, projection);
        double projected = project(loda, projection, row);
        if (scores_first)
            add_surprise(loda, projection, projected, sum);
        if (chunk->full)
            add_to_histogram(histogram, counts, num_bins, held[projection], MINUS_ONE);
        add_to_histogram(histogram, counts, num_bins, projected, 1);
        held[projection] = projected;
        if (projection >= renew_from && projection < renew_to)
            renew_histogram(loda, projection, scratch);
        if (!scores_first && chunk->bits)
            add_surprise(loda, projection, projected, sum);
    }
}

OIF_INLINE void learn_part_in_order(const row_chunk *chunk, unsigned part, bool scores_first)
{
    const oif_loda_state *loda = chunk->loda;
    const uint32_t count = (uint32_t)chunk->rows->count,
                   lanes = (loda->num_projections + LANES - 1) / LANES;
    const unsigned parts = oif_pool_parts(chunk->pool);
    double *scratch =
        chunk->pool ? oif_pool_memory(chunk->pool, part) : oif_block_part(loda, loda->scratch_at);
    surprise sums[MAX_CHUNK];
    memset(sums, 0, count * sizeof *sums);
    for (uint32_t lane = lanes * part / parts; lane < lanes * (part + 1) / parts; lane++) {
        uint32_t first = lane * LANES, left = loda->num_projections - first;
        for (uint32_t i = 0; i < count; i++)
            learn_in_lanes(chunk, i, first, first + oif_min_u32(left, LANES), scratch, scores_first,
                           &sums[i]);
    }
    for (uint32_t i = 0; chunk->bits && i < count; i++) {
        atomic_fetch_add_explicit(&chunk->bits[i], sums[i].bits, memory_order_relaxed);
        atomic_fetch_add_explicit(&chunk->projected[i], sums[i].projections, memory_order_relaxed);
    }
}

/* Two functions: testing the order per projection would cost each of them 2%. */
static void learn_score_part(void *context, unsigned part)
{
    learn_part_in_order(context, part, false);
}

static void score_learn_part(void *context, unsigned part)
{
    learn_part_in_order(context, part, true);
}

/* The first histogram renewed by the row in a slot. Over a window, every histogram is renewed
 * once. */
static uint32_t renewed_at(const oif_loda_state *loda, uint32_t slot)
{
    return (uint32_t)((uint64_t)loda->num_projections * slot / loda->window_size);
}

/* Learns rows in consecutive slots; writes their scores unless `scores` is NULL. */
static void learn_in_slots(oif_loda_state *loda, const oif_rows *rows, double *scores,
                           bool scores_first, oif_pool *pool)
{
    const bool full = loda->rows_held == loda->window_size;
    _Atomic int64_t bits[MAX_CHUNK];
    _Atomic uint32_t projected[MAX_CHUNK];
    uint32_t renewed[MAX_CHUNK + 1];
    row_chunk chunk = {loda,      rows, loda->next_slot, full, renewed, scores ? bits : NULL,
                       projected, pool};
    for (uint32_t i = 0; i <= rows->count; i++)
        renewed[i] = full ? renewed_at(loda, loda->next_slot + i) : 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        atomic_init(&bits[i], 0);
        atomic_init(&projected[i], 0);
    }
    oif_pool_run(pool, scores_first ? score_learn_part : learn_score_part, &chunk);
    for (uint32_t i = 0; scores && i < rows->count; i++) {
        surprise sum = {atomic_load_explicit(&bits[i], memory_order_relaxed),
                        atomic_load_explicit(&projected[i], memory_order_relaxed)};
        scores[i] = score_of(loda, &sum);
    }
}

/* Called each time a window that is not full has twice as many rows as the time before. */
static void renew_all(oif_loda_state *loda)
{
    loda->has_ranges = 1;
    loda->next_range = oif_loda_range_after(loda, loda->next_range);
    if (loda->rows_held <= loda->sample_size)
        learn_scales(loda);
    for (uint32_t projection = 0; projection < loda->num_projections; projection++)
        renew_histogram(loda, projection, oif_block_part(loda, loda->scratch_at));
}

static double score_slot(const oif_loda_state *loda, uint32_t slot)
{
    surprise sum = {0};
    for (uint32_t projection = 0; projection < loda->num_projections; projection++)
        add_surprise(loda, projection, oif_loda_slot(loda, slot)[projection], &sum);
    return score_of(loda, &sum);
}

/* How many of the next rows get consecutive slots, up to a row that renews all histograms. */
static uint32_t rows_to_event(const oif_loda_state *loda)
{
    return loda->rows_held == loda->window_size ? loda->window_size - loda->next_slot
                                                : loda->next_range - loda->rows_held;
}

static void learn_chunk(oif_loda_state *loda, const oif_rows *rows, double *scores,
                        bool scores_first, oif_pool *pool)
{
    const uint32_t count = (uint32_t)rows->count, last_slot = loda->next_slot + count - 1;
    const bool full = loda->rows_held == loda->window_size;
    for (uint32_t i = 0; !full && i < count && loda->next_slot + i < loda->sample_size; i++)
        memcpy(oif_loda_sample(loda, loda->next_slot + i), oif_rows_at(rows, i),
               loda->dimension * sizeof(double));
    learn_in_slots(loda, rows, scores, scores_first, pool);
    loda->next_slot = last_slot + 1 < loda->window_size ? last_slot + 1 : 0;
    if (full)
        return;
    loda->rows_held += count;
    if (loda->rows_held < loda->next_range)
        return;
    renew_all(loda);
    if (scores && !scores_first)
        scores[count - 1] = score_slot(loda, last_slot);
}

static void learn_chunks(oif_loda_state *loda, const oif_rows *rows, double *scores,
                         bool scores_first, oif_pool *pool)
{
    for (size_t from = 0; from < rows->count;) {
        oif_rows some = oif_rows_from(rows, from, oif_min_u32(rows_to_event(loda), MAX_CHUNK));
        bool shared = some.count >= OIF_ROWS_WORTH_SHARING && loda->window_size <= THREAD_WINDOW;
        learn_chunk(loda, &some, scores ? scores + from : NULL, scores_first, shared ? pool : NULL);
        from += some.count;
    }
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    learn_chunks(state, rows, scores, false, pool);
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    learn_chunks(state, rows, scores, true, pool);
}

/* ---- Questions ---- */

/* A quarter of the window gives the histograms their coarse shape. */
static bool ready(const void *state)
{
    const oif_loda_state *loda = state;
    return loda->has_ranges && loda->rows_held >= loda->window_size / 4;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_loda_state *loda = state;
    oif_visit_u32(visitor, "rows_held", &loda->rows_held, 1);
    oif_visit_u32(visitor, "next_slot", &loda->next_slot, 1);
    oif_visit_u32(visitor, "next_range", &loda->next_range, 1);
    oif_visit_u32(visitor, "has_ranges", &loda->has_ranges, 1);
    oif_visit_f64(visitor, "weights", oif_loda_weights(loda, 0),
                  (size_t)loda->num_projections * loda->terms);
    oif_visit_f64(visitor, "ring", oif_loda_slot(loda, 0),
                  (size_t)loda->window_size * loda->num_projections);
    for (uint32_t projection = 0; projection < loda->num_projections; projection++) {
        oif_loda_histogram *histogram = &oif_loda_histograms(loda)[projection];
        oif_visit_f64(visitor, "low", &histogram->low, 1);
        oif_visit_f64(visitor, "high", &histogram->high, 1);
        oif_visit_f64(visitor, "bins_a_unit", &histogram->bins_a_unit, 1);
        oif_visit_i64(visitor, "width", &histogram->width, 1);
        oif_visit_u32(visitor, "counted", &histogram->counted, 1);
        oif_visit_u32(visitor, "counts", oif_loda_counts(loda, projection), loda->num_bins);
    }
    oif_visit_f64(visitor, "sample", oif_loda_sample(loda, 0),
                  (size_t)loda->sample_size * loda->dimension);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_loda_state *loda = state;
    const double projections = loda->num_projections;
    uint64_t in_use = 0, inside = 0, known = 0;
    for (uint32_t projection = 0; projection < loda->num_projections; projection++) {
        known += oif_loda_histograms(loda)[projection].counted;
        for (uint32_t bin = 0; bin < loda->num_bins; bin++) {
            in_use += oif_loda_counts(loda, projection)[bin] > 0;
            inside += oif_loda_counts(loda, projection)[bin];
        }
    }
    tell(context, "rows_held", loda->rows_held);
    tell(context, "features_in_a_projection", loda->terms);
    tell(context, "has_ranges", loda->has_ranges);
    tell(context, "bins_in_use_mean", (double)in_use / projections);
    tell(context, "rows_in_range_mean", (double)inside / projections);
    tell(context, "rows_known_mean", (double)known / projections);
}

/* ---- The table ---- */

static const char *const scale_words[] = {"learn", "none", NULL};

static const oif_param params_table[] = {
    {"num_projections", "random projections, each with a histogram; more give steadier scores",
     OIF_PARAM_INTEGER, 1, 4096, 32, NULL},
    {"num_bins", "bins of a histogram", OIF_PARAM_INTEGER, 1, 1 << 16, 100, NULL},
    {"window_size", "rows remembered; older ones are forgotten", OIF_PARAM_INTEGER, 1, 1 << 24, 512,
     NULL},
    {"scale",
     "divide each column by its spread in the first rows (learn), or take it as it is (none)",
     OIF_PARAM_CHOICE, 0, 1, OIF_LODA_LEARN, scale_words},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0,
     0x1p53, 0, NULL},
};

const oif_detector_kind oif_loda = {
    .info =
        {.table.name = "loda",
         .table.summary = "histograms of random projections that forget old rows",
         .paper =
             "Pevny: Loda: Lightweight on-line detector of anomalies, Machine Learning 102, 2016",
         .cost = "num_projections x sqrt(d)",
         .choose = "if values are often missing: a row is judged by those that are there",
         .table.params = params_table,
         .table.param_count = sizeof params_table / sizeof params_table[0]},
    .scale = OIF_SCORES_IN_BITS,
    .rarity = {.usual = 8.7, .per_decade = 0.75},
    .check_params = NULL, /* every combination is valid */
    .minds_constants = true,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_loda_check,
};
