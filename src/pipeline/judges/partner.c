#include "pipeline/judges/partner.h"

#include "base/block.h"
#include "base/invariant.h"
#include "base/stable_math.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    LINKS = OIF_PARTNER_LINKS,
    LARGEST = OIF_PARTNER_LARGEST,
    MEMORY_ROWS = 1024,
    BLOCK_ROWS = 128, /* over which a link must explain the variation of its column */
    TRIAL_ROWS = BLOCK_ROWS,
    LARGEST_ROWS = 64,   /* of which the largest residual is kept */
    PROBATION_ROWS = 512 /* during which a link gives no evidence */
};

/* The fraction of a column's variation that a link may leave unexplained. */
static const double most_at_first = 0.2, most_on_probation = 0.5, most_later = 0.3;

/* The mean time of the rows in a block or trial, and the sum of the squared times about it. */
static const double half_block = 0.5 * (BLOCK_ROWS - 1),
                    block_times = BLOCK_ROWS * ((double)BLOCK_ROWS * BLOCK_ROWS - 1) / 12;

/* Smaller numbers have finite squares and sums of squares. */
static const double most_distance = 0x1p480;

enum { ORIGIN, SUM, RISE, SQUARES, PRODUCTS, SCALED, ARRAYS = SCALED + 2 };

static double *array_at(const oif_partner *partner, size_t array)
{
    return (double *)partner->numbers + array * partner->columns;
}

/* ---- Creation ---- */

size_t oif_partner_bytes(size_t columns)
{
    return oif_size_align(
        oif_size_add(sizeof(oif_partner), oif_size_multiply(columns, ARRAYS * sizeof(double))));
}

void oif_partner_init(oif_partner *partner, size_t columns)
{
    partner->columns = (uint32_t)columns;
    partner->step = 1;
}

/* ---- Judging ---- */

static bool is_used(const oif_partner_link *link)
{
    return link->column != link->partner;
}

/* The row's value minus the one predicted from its partner; NaN if either value is missing. */
static inline double residual_of(const oif_partner_link *link, const double *row)
{
    const double y = row[link->column] - link->column_origin - link->column_mean,
                 x = row[link->partner] - link->partner_origin - link->partner_mean;
    return y - link->slope * x;
}

/* The evidence of a residual that is larger than usual. */
static double evidence_of(double residual, double usual)
{
    const double most = 0x1p100, x = (residual - usual) / (2 * usual);
    return x < most ? oif_log2(1 + x * x / 2) : 2 * oif_log2(most) - 1;
}

double oif_partner_observe(oif_partner *partner, const double *row, size_t *column, int *direction)
{
    double most = 0;
    for (uint32_t i = 0; i < LINKS; i++) {
        oif_partner_link *link = &partner->links[i];
        if (link->rows < PROBATION_ROWS)
            continue;
        const double residual = residual_of(link, row), size = fabs(residual);
        if (!(size > link->usual && link->usual > 0))
            continue;
        const double evidence = evidence_of(size, link->usual);
        link->loudness += evidence > 0.5;
        if (evidence > most) {
            most = evidence;
            *column = link->column;
            *direction = residual > 0 ? 1 : -1;
        }
    }
    return most;
}

size_t oif_partner_of(const oif_partner *partner, size_t column)
{
    for (uint32_t i = 0; i < LINKS; i++)
        if (is_used(&partner->links[i]) && partner->links[i].column == column)
            return partner->links[i].partner;
    return column;
}

bool oif_partner_expected(const oif_partner *partner, const double *row, size_t column, double *low,
                          double *high)
{
    for (uint32_t i = 0; i < LINKS; i++) {
        const oif_partner_link *link = &partner->links[i];
        if (!is_used(link) || link->column != column)
            continue;
        const double predicted = row[column] - residual_of(link, row);
        *low = predicted - link->usual;
        *high = predicted + link->usual;
        return isfinite(*low) && isfinite(*high);
    }
    return false;
}

/* ---- Learning a link ---- */

static void give_up(oif_partner_link *link)
{
    memset(link, 0, sizeof *link);
}

static double median_of(const double *numbers, uint32_t count)
{
    double sorted[LARGEST] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > numbers[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = numbers[i];
    }
    return sorted[count / 2];
}

/* A residual that is tiny next to what the partner explains does not count. So columns that are
 * equal except for rounding may occasionally differ a little more. */
static double least_usual(const oif_partner_link *link)
{
    const double small_part = 0.1, squares = link->partner_squares;
    const double spread = squares >= DBL_MIN ? oif_sqrt(squares) : 0,
                 part = small_part * fabs(link->slope) * spread;
    return part > link->resolution ? part : link->resolution;
}

static void keep_largest(oif_partner_link *link)
{
    const uint64_t count = link->rows / LARGEST_ROWS;
    link->largest[(count - 1) % LARGEST] = link->largest_now;
    link->largest_now = 0;
    double median = median_of(link->largest, (uint32_t)oif_min_u64(count, LARGEST)),
           least = least_usual(link);
    link->usual = median > least ? median : least;
}

/* Whether the link still holds after a block of rows. */
static bool end_block(oif_partner_link *link)
{
    const double keep = 1 - (double)BLOCK_ROWS / MEMORY_ROWS;
    const double variation = link->block_squares - link->block_sum * link->block_sum / BLOCK_ROWS -
                             link->block_rise * link->block_rise / block_times;
    link->variation = link->variation * keep + (variation > 0 ? variation : 0);
    link->errors = link->errors * keep + link->block_errors;
    link->unexplained = link->errors / link->variation;
    link->block_sum = link->block_rise = link->block_squares = link->block_errors = 0;
    return link->unexplained <= (link->rows < PROBATION_ROWS    ? most_on_probation
                                 : link->rows == PROBATION_ROWS ? most_at_first
                                                                : most_later);
}

static void learn_block(oif_partner_link *link, double y, double residual)
{
    if (link->rows % BLOCK_ROWS == 0)
        link->block_origin = y;
    const double away = y - link->block_origin, size = fabs(residual);
    link->block_sum += away;
    link->block_rise += away * ((double)(link->rows % BLOCK_ROWS) - half_block);
    link->block_squares += away * away;
    link->block_errors += residual * residual;
    link->largest_now = size > link->largest_now ? size : link->largest_now;
}

static double smaller_step(double known, double step)
{
    return step > 0 && step <= DBL_MAX && (known == 0 || step < known) ? step : known;
}

static void learn_resolution(oif_partner_link *link, double column, double partner)
{
    const double by_partner = fabs(partner - link->last_partner) * fabs(link->slope);
    link->resolution = smaller_step(link->resolution, fabs(column - link->last_column));
    link->resolution = smaller_step(link->resolution, by_partner);
    link->last_column = column;
    link->last_partner = partner;
}

/* Whether the link seldom gives evidence; older rows count less. */
static bool is_quiet(oif_partner_link *link)
{
    const double most_share = 0.02;
    link->loudness *= 1 - (double)LARGEST_ROWS / MEMORY_ROWS;
    return link->loudness <= most_share * MEMORY_ROWS;
}

static void learn_line(oif_partner_link *link, double y, double x)
{
    const double rows = (double)link->rows + TRIAL_ROWS + 1,
                 weight = rows < MEMORY_ROWS ? 1 / rows : 1.0 / MEMORY_ROWS, keep = 1 - weight;
    link->column_mean += weight * y;
    link->partner_mean += weight * x;
    link->partner_squares = keep * (link->partner_squares + weight * x * x);
    link->products = keep * (link->products + weight * x * y);
    link->slope = link->products / link->partner_squares;
}

static void learn_link(oif_partner_link *link, const double *row)
{
    const double y = row[link->column] - link->column_origin,
                 x = row[link->partner] - link->partner_origin - link->partner_mean;
    const double above_mean = y - link->column_mean, residual = above_mean - link->slope * x;
    if (x != x || y != y)
        return;
    if (!(fabs(x) < most_distance && fabs(y) < most_distance && fabs(residual) < most_distance)) {
        give_up(link);
        return;
    }
    learn_resolution(link, row[link->column], row[link->partner]);
    learn_block(link, y, residual);
    learn_line(link, above_mean, x);
    link->rows++;
    bool goes_on = fabs(link->slope) <= DBL_MAX;
    if (link->rows % BLOCK_ROWS == 0)
        goes_on &= end_block(link);
    if (link->rows % LARGEST_ROWS == 0) {
        keep_largest(link);
        goes_on &= is_quiet(link);
    }
    if (!goes_on)
        give_up(link);
}

/* ---- Trials ---- */

/* A pair of columns at the end of a trial. */
typedef struct pair {
    uint32_t column, partner;
    double unexplained;
} pair;

static bool is_linked(const oif_partner *partner, const pair *found)
{
    for (uint32_t i = 0; i < LINKS; i++) {
        const oif_partner_link *link = &partner->links[i];
        if ((link->column == found->column && link->partner == found->partner) ||
            (link->column == found->partner && link->partner == found->column))
            return true;
    }
    return false;
}

/* The link of a column; NULL if it has none. */
static oif_partner_link *find_link(oif_partner *partner, uint32_t column)
{
    for (uint32_t i = 0; i < LINKS; i++)
        if (is_used(&partner->links[i]) && partner->links[i].column == column)
            return &partner->links[i];
    return NULL;
}

/* A free link, or else the weakest. */
static oif_partner_link *find_place(oif_partner *partner)
{
    oif_partner_link *weakest = &partner->links[0];
    for (uint32_t i = 0; i < LINKS; i++) {
        if (!is_used(&partner->links[i]))
            return &partner->links[i];
        if (partner->links[i].unexplained > weakest->unexplained)
            weakest = &partner->links[i];
    }
    return weakest;
}

static double covariance(const oif_partner *partner, uint32_t a, uint32_t b, double products)
{
    const double *sum = array_at(partner, SUM);
    return (products - sum[a] * (sum[b] / TRIAL_ROWS)) / TRIAL_ROWS;
}

/* The same, after removing the trends of both columns. */
static double covariance_without_trend(const oif_partner *partner, uint32_t a, uint32_t b,
                                       double products)
{
    const double *rise = array_at(partner, RISE);
    return covariance(partner, a, b, products - rise[a] * (rise[b] / block_times));
}

static void start_link(const oif_partner *partner, oif_partner_link *link, const pair *found,
                       double products)
{
    const double *origin = array_at(partner, ORIGIN), *sum = array_at(partner, SUM);
    give_up(link);
    link->column = found->column;
    link->partner = found->partner;
    link->unexplained = found->unexplained;
    link->last_column = link->last_partner = NAN;
    link->column_origin = origin[link->column];
    link->partner_origin = origin[link->partner];
    link->column_mean = sum[link->column] / TRIAL_ROWS;
    link->partner_mean = sum[link->partner] / TRIAL_ROWS;
    link->partner_squares = covariance(partner, link->partner, link->partner,
                                       array_at(partner, SQUARES)[link->partner]);
    link->products = covariance(partner, link->column, link->partner, products);
    link->slope = link->products / link->partner_squares;
    if (!(fabs(link->slope) <= DBL_MAX))
        give_up(link);
}

/* Makes a link of a pair: for the first column, or for the second if only that one has no link. An
 * existing link stays unless the pair is much better. */
static void offer(oif_partner *partner, pair found, double products)
{
    const double much_better = 4;
    if (is_linked(partner, &found))
        return;
    oif_partner_link *link = find_link(partner, found.column);
    if (link && !find_link(partner, found.partner)) {
        found = (pair){found.partner, found.column, found.unexplained};
        link = NULL;
    }
    link = link ? link : find_place(partner);
    if (!is_used(link) || found.unexplained < link->unexplained / much_better)
        start_link(partner, link, &found, products);
}

static __attribute__((noinline)) void end_trial(oif_partner *partner)
{
    const uint32_t columns = partner->columns;
    const double *squares = array_at(partner, SQUARES), *products = array_at(partner, PRODUCTS);
    for (uint32_t i = 0; i < columns; i++) {
        const uint32_t j = (i + partner->step) % columns;
        const double both = covariance_without_trend(partner, i, j, products[i]),
                     left = covariance_without_trend(partner, i, i, squares[i]),
                     right = covariance_without_trend(partner, j, j, squares[j]);
        const double explained = both / left * (both / right);
        if (left > 0 && right > 0 && left < DBL_MAX && right < DBL_MAX &&
            explained >= 1 - most_at_first)
            offer(partner, (pair){i, j, explained < 1 ? 1 - explained : 0}, products[i]);
    }
    partner->step = partner->step < columns / 2 ? partner->step + 1 : 1;
    partner->trial_rows = 0;
}

static void start_trial(oif_partner *partner, const double *row)
{
    memcpy(array_at(partner, ORIGIN), row, partner->columns * sizeof *row);
    memset(array_at(partner, SUM), 0, (size_t)(SCALED - SUM) * partner->columns * sizeof *row);
}

/* A missing value counts as the origin, so two columns seem to follow each other less than they
 * do. */
OIF_INLINE void scale_row(const double *restrict row, const double *restrict origin, size_t columns,
                          double *restrict scaled)
{
    for (size_t j = 0; j < columns; j++) {
        double away = row[j] - origin[j];
        away = away == away ? away : 0;
        scaled[j] = away;
        scaled[columns + j] = away;
    }
}

OIF_INLINE void add_sums(const double *restrict scaled, double time, size_t columns,
                         double *restrict sum, double *restrict rise)
{
    for (size_t j = 0; j < columns; j++) {
        sum[j] += scaled[j];
        rise[j] += scaled[j] * time;
    }
}

OIF_INLINE void add_products(const double *restrict scaled, size_t step, size_t columns,
                             double *restrict squares, double *restrict products)
{
    for (size_t j = 0; j < columns; j++) {
        squares[j] += scaled[j] * scaled[j];
        products[j] += scaled[j] * scaled[j + step];
    }
}

OIF_INLINE void add_to_trial(oif_partner *partner, const double *row)
{
    const size_t columns = partner->columns;
    double *scaled = array_at(partner, SCALED);
    scale_row(row, array_at(partner, ORIGIN), columns, scaled);
    add_sums(scaled, partner->trial_rows - half_block, columns, array_at(partner, SUM),
             array_at(partner, RISE));
    add_products(scaled, partner->step, columns, array_at(partner, SQUARES),
                 array_at(partner, PRODUCTS));
}

static void add_to_trial_portable(oif_partner *partner, const double *row)
{
    add_to_trial(partner, row);
}

OIF_AVX2 static void add_to_trial_avx2(oif_partner *partner, const double *row)
{
    add_to_trial(partner, row);
}

/* Every second row is enough for trials, which are half of the work. */
void oif_partner_learn(oif_partner *partner, const double *row)
{
    if (partner->columns < 2)
        return;
    for (uint32_t i = 0; i < LINKS; i++)
        if (is_used(&partner->links[i]))
            learn_link(&partner->links[i], row);
    partner->skips_row ^= 1;
    if (!partner->skips_row)
        return;
    if (partner->trial_rows == 0)
        start_trial(partner, row);
    (oif_machine_has_avx2() ? add_to_trial_avx2 : add_to_trial_portable)(partner, row);
    if (++partner->trial_rows == TRIAL_ROWS)
        end_trial(partner);
}

/* ---- Snapshots ---- */

static void visit_link(oif_partner_link *link, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "link_column", &link->column, 1);
    oif_visit_u32(visitor, "link_partner", &link->partner, 1);
    oif_visit_u64(visitor, "link_rows", &link->rows, 1);
    oif_visit_f64(visitor, "link_column_origin", &link->column_origin, 1);
    oif_visit_f64(visitor, "link_partner_origin", &link->partner_origin, 1);
    oif_visit_f64(visitor, "link_column_mean", &link->column_mean, 1);
    oif_visit_f64(visitor, "link_partner_mean", &link->partner_mean, 1);
    oif_visit_f64(visitor, "link_partner_squares", &link->partner_squares, 1);
    oif_visit_f64(visitor, "link_products", &link->products, 1);
    oif_visit_f64(visitor, "link_slope", &link->slope, 1);
    oif_visit_f64(visitor, "link_block_origin", &link->block_origin, 1);
    oif_visit_f64(visitor, "link_block_sum", &link->block_sum, 1);
    oif_visit_f64(visitor, "link_block_rise", &link->block_rise, 1);
    oif_visit_f64(visitor, "link_block_squares", &link->block_squares, 1);
    oif_visit_f64(visitor, "link_block_errors", &link->block_errors, 1);
    oif_visit_f64(visitor, "link_variation", &link->variation, 1);
    oif_visit_f64(visitor, "link_errors", &link->errors, 1);
    oif_visit_f64(visitor, "link_unexplained", &link->unexplained, 1);
    oif_visit_f64(visitor, "link_largest_now", &link->largest_now, 1);
    oif_visit_f64(visitor, "link_largest", link->largest, LARGEST);
    oif_visit_f64(visitor, "link_usual", &link->usual, 1);
    oif_visit_f64(visitor, "link_last_column", &link->last_column, 1);
    oif_visit_f64(visitor, "link_last_partner", &link->last_partner, 1);
    oif_visit_f64(visitor, "link_resolution", &link->resolution, 1);
    oif_visit_f64(visitor, "link_loudness", &link->loudness, 1);
}

/* The trial begins again, because pairs wrap around after the last column. */
void oif_partner_widen(oif_partner *wide, const oif_partner *partner)
{
    wide->step = partner->step;
    wide->skips_row = partner->skips_row;
    memcpy(wide->links, partner->links, sizeof wide->links);
}

void oif_partner_visit_fields(oif_partner *partner, oif_state_visitor *visitor)
{
    oif_visit_u32(visitor, "partner_step", &partner->step, 1);
    oif_visit_u32(visitor, "partner_trial_rows", &partner->trial_rows, 1);
    oif_visit_u32(visitor, "partner_skips_row", &partner->skips_row, 1);
    for (uint32_t i = 0; i < LINKS; i++)
        visit_link(&partner->links[i], visitor);
    oif_visit_f64(visitor, "partner_trial", array_at(partner, ORIGIN),
                  (size_t)SCALED * partner->columns);
}

static bool is_finite(double number)
{
    return fabs(number) <= DBL_MAX;
}

static bool is_amount(double number)
{
    return number >= 0 && number <= DBL_MAX;
}

static bool largest_are_amounts(const oif_partner_link *link)
{
    for (uint32_t i = 0; i < LARGEST; i++)
        if (!is_amount(link->largest[i]))
            return false;
    return is_amount(link->largest_now) && is_amount(link->usual);
}

static oif_status check_link(const oif_partner *partner, const oif_partner_link *link,
                             const oif_check *check)
{
    OIF_REQUIRE(check, link->column < partner->columns && link->partner < partner->columns,
                "there is no such column");
    OIF_REQUIRE(check, is_used(link) || link->rows == 0, "a column follows itself");
    OIF_REQUIRE(check, link->rows < UINT64_C(1) << 62, "it has more rows than any stream has");
    OIF_REQUIRE(check,
                is_finite(link->column_origin) && is_finite(link->partner_origin) &&
                    is_finite(link->column_mean) && is_finite(link->partner_mean) &&
                    is_amount(link->partner_squares) && is_finite(link->products) &&
                    is_finite(link->slope),
                "the line is none");
    OIF_REQUIRE(check,
                is_finite(link->block_origin) && is_finite(link->block_sum) &&
                    is_finite(link->block_rise) && is_amount(link->block_squares) &&
                    is_amount(link->block_errors) && is_amount(link->variation) &&
                    is_amount(link->errors) && is_amount(link->unexplained),
                "what is left unexplained is no amount");
    OIF_REQUIRE(check, largest_are_amounts(link), "a residual is no amount");
    OIF_REQUIRE(check,
                !isinf(link->last_column) && !isinf(link->last_partner) &&
                    is_amount(link->resolution) && is_amount(link->loudness),
                "the last values are none");
    return OIF_OK;
}

oif_status oif_partner_check(const oif_partner *partner, oif_error *error)
{
    oif_check check = {error, NULL, 0};
    const uint32_t most_step = oif_max_u32(1, partner->columns / 2);
    OIF_REQUIRE(&check, partner->step >= 1 && partner->step <= most_step,
                "the trial of partners is between columns that do not exist");
    OIF_REQUIRE(&check, partner->trial_rows < TRIAL_ROWS && partner->skips_row <= 1,
                "the trial of partners is too long");
    for (uint32_t i = 0; i < LINKS; i++) {
        check = (oif_check){error, "link of partners", i + 1};
        oif_status status = check_link(partner, &partner->links[i], &check);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}
