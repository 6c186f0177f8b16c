/* Whether a LODA detector is consistent. Its fields may come from a damaged snapshot, so only what
 * follows from the parameters is trusted. Takes O(num_projections (window_size + num_bins)). */
#include "detect/loda/loda.h"

#include "base/invariant.h"

#include <math.h>
#include <string.h>

/* Bins counted together: at most sixteen passes, usually one. */
enum { BINS_AT_ONCE = 768 };

static oif_status check_weights(const oif_loda_state *loda, const oif_check *check)
{
    const uint32_t projection = check->number;
    const uint32_t *columns = oif_loda_columns(loda, projection);
    for (uint32_t i = 0; i < loda->terms; i++) {
        OIF_REQUIRE(check, columns[i] < loda->dimension, "there is no such column");
        OIF_REQUIRE(check, i == 0 || columns[i - 1] < columns[i],
                    "the columns are not in ascending order");
        OIF_REQUIRE(check, fabs(oif_loda_weights(loda, projection)[i]) <= 0x1p1010,
                    "a weight is not finite");
    }
    return OIF_OK;
}

/* The range determines the bins per unit and bounds the relative width. */
static oif_status check_range(const oif_loda_state *loda, const oif_check *check)
{
    const uint32_t projection = check->number;
    const oif_loda_histogram *histogram = &oif_loda_histograms(loda)[projection];
    const double furthest = (double)loda->terms * OIF_LODA_GREATEST_TERM,
                 whole = histogram->high - histogram->low;
    /* log2(1 + 2 REACH) of loda.c, rounded up */
    const int64_t widest = (int64_t)3 << OIF_LODA_LOG_BITS;
    OIF_REQUIRE(check, histogram->low >= -furthest && histogram->high <= furthest,
                "the range of the histogram is not finite");
    OIF_REQUIRE(check, histogram->low <= histogram->high, "the range of the histogram is empty");
    OIF_REQUIRE(check,
                histogram->bins_a_unit ==
                    (whole < OIF_LODA_LEAST_WIDTH ? 0 : loda->num_bins / whole),
                "the bins do not cover the range");
    OIF_REQUIRE(check, histogram->width >= 0, "the range is narrower than where most rows are");
    OIF_REQUIRE(check, histogram->width <= widest, "the range is wider than rows can make it");
    return OIF_OK;
}

/* Counts the rows of the window in some of the bins. */
static void count_bins(const oif_loda_state *loda, uint32_t projection, uint32_t first_bin,
                       uint32_t counts[BINS_AT_ONCE])
{
    const oif_loda_histogram *histogram = &oif_loda_histograms(loda)[projection];
    memset(counts, 0, BINS_AT_ONCE * sizeof *counts);
    for (uint32_t slot = 0; slot < loda->rows_held; slot++) {
        double projected = oif_loda_slot(loda, slot)[projection];
        uint32_t bin = projected == projected
                           ? oif_loda_bin_of(histogram, loda->num_bins, projected)
                           : loda->num_bins;
        /* unsigned, so a bin before the first one is excluded too */
        if (bin < loda->num_bins && bin - first_bin < BINS_AT_ONCE)
            counts[bin - first_bin]++;
    }
}

static oif_status check_counts(const oif_loda_state *loda, const oif_check *check)
{
    const uint32_t projection = check->number;
    uint32_t known = 0, counts[BINS_AT_ONCE];
    for (uint32_t slot = 0; slot < loda->rows_held; slot++) {
        double projected = oif_loda_slot(loda, slot)[projection];
        OIF_REQUIRE(check, !(fabs(projected) > (double)loda->terms * OIF_LODA_GREATEST_TERM),
                    "a projection is not finite");
        known += projected == projected;
    }
    OIF_REQUIRE(check, oif_loda_histograms(loda)[projection].counted == known,
                "the histogram does not count the rows of the window");
    for (uint32_t first = 0; first < loda->num_bins; first += BINS_AT_ONCE) {
        uint32_t left = loda->num_bins - first, now = left < BINS_AT_ONCE ? left : BINS_AT_ONCE;
        count_bins(loda, projection, first, counts);
        OIF_REQUIRE(
            check,
            memcmp(oif_loda_counts(loda, projection) + first, counts, now * sizeof *counts) == 0,
            "a bin does not count the rows that fall into it");
    }
    return OIF_OK;
}

static oif_status check_window(const oif_loda_state *loda, oif_error *error)
{
    uint32_t first_range = oif_loda_range_after(loda, 0), next_range = first_range;
    if (loda->rows_held > loda->window_size || loda->next_slot >= loda->window_size)
        return oif_fail(error, OIF_EINVARIANT, "the window holds more rows than it has room for");
    if (loda->rows_held < loda->window_size && loda->next_slot != loda->rows_held)
        return oif_fail(error, OIF_EINVARIANT, "the ring has a gap");
    while (next_range <= loda->rows_held && next_range < loda->window_size)
        next_range = oif_loda_range_after(loda, next_range);
    if (loda->next_range != next_range || loda->has_ranges != (loda->rows_held >= first_range))
        return oif_fail(error, OIF_EINVARIANT,
                        "the ranges were not chosen when they should have been");
    if (!oif_none_of_many_infinite(oif_loda_sample(loda, 0),
                                   (size_t)loda->sample_size * loda->dimension))
        return oif_fail(error, OIF_EINVARIANT, "a row of the sample is infinite");
    return OIF_OK;
}

oif_status oif_loda_check(const void *state, oif_error *error)
{
    const oif_loda_state *loda = state;
    oif_status status = check_window(loda, error);
    for (uint32_t i = 0; i < loda->num_projections && status == OIF_OK; i++) {
        const oif_check check = {error, "projection", i};
        status = check_weights(loda, &check);
        if (status == OIF_OK)
            status = check_range(loda, &check);
        if (status == OIF_OK)
            status = check_counts(loda, &check);
    }
    return status;
}
