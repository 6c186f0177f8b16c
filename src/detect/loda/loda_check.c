/* Whether a LODA detector holds together. Its fields may come from a damaged snapshot, so
 * nothing is believed but what follows from the parameters. Takes O(num_projections
 * (window_size + num_bins)). */
#include "detect/loda/loda.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

typedef oif_loda_state loda;
typedef oif_loda_histogram histogram;

enum {
    BINS_AT_ONCE = 4096
}; /* whose rows are counted together: sixteen rounds for the most bins, one for most */

#define REQUIRE(condition, words)                                                                  \
    do                                                                                             \
        if (!(condition))                                                                          \
            return oif_fail(error, OIF_EINVARIANT, "projection %u: %s", projection, words);        \
    while (0)

static oif_status check_weights(const loda *l, uint32_t projection, oif_error *error)
{
    const uint32_t *features = oif_loda_features(l, projection);
    for (uint32_t i = 0; i < l->terms; i++) {
        REQUIRE(features[i] < l->dimension, "there is no such feature");
        REQUIRE(i == 0 || features[i - 1] < features[i], "the features are not in ascending order");
        REQUIRE(fabs(oif_loda_weights(l, projection)[i]) <= 0x1p1010, "a weight is not finite");
    }
    return OIF_OK;
}

/* The bins follow from the range, and so they can be counted; how wide it is relative to where
 * most rows are, too. */
static oif_status check_range(const loda *l, uint32_t projection, oif_error *error)
{
    const histogram *h = &oif_loda_histograms(l)[projection];
    const double furthest = (double)l->terms * OIF_LODA_GREATEST_TERM, whole = h->high - h->low;
    /* log2(1 + 2 REACH) of loda.c, rounded up */
    const int64_t widest = (int64_t)3 << OIF_LODA_LOG_BITS;
    REQUIRE(h->low >= -furthest && h->high <= furthest, "the range of the histogram is not finite");
    REQUIRE(h->low <= h->high, "the range of the histogram is empty");
    REQUIRE(h->bins_a_unit == (whole < OIF_LODA_LEAST_WIDTH ? 0 : l->num_bins / whole),
            "the bins do not cover the range");
    REQUIRE(h->width >= 0, "the range is narrower than where most rows are");
    REQUIRE(h->width <= widest, "the range is wider than rows can make it");
    return OIF_OK;
}

/* Counts the rows of the window that fall into some of the bins. */
static void count_bins(const loda *l, uint32_t projection, uint32_t first_bin,
                       uint32_t counts[BINS_AT_ONCE])
{
    const histogram *h = &oif_loda_histograms(l)[projection];
    memset(counts, 0, BINS_AT_ONCE * sizeof *counts);
    for (uint32_t slot = 0; slot < l->rows_held; slot++) {
        double projected = oif_loda_slot(l, slot)[projection];
        uint32_t bin =
            projected == projected ? oif_loda_bin_of(h, l->num_bins, projected) : l->num_bins;
        if (bin < l->num_bins &&
            bin - first_bin < BINS_AT_ONCE) /* and so not below it, in unsigned numbers */
            counts[bin - first_bin]++;
    }
}

static oif_status check_counts(const loda *l, uint32_t projection, oif_error *error)
{
    uint32_t known = 0, counts[BINS_AT_ONCE];
    for (uint32_t slot = 0; slot < l->rows_held; slot++) {
        double projected = oif_loda_slot(l, slot)[projection];
        REQUIRE(!(fabs(projected) > (double)l->terms * OIF_LODA_GREATEST_TERM),
                "a projection is not finite");
        known += projected == projected;
    }
    REQUIRE(oif_loda_histograms(l)[projection].counted == known,
            "the histogram does not count the rows of the window");
    for (uint32_t first = 0; first < l->num_bins; first += BINS_AT_ONCE) {
        uint32_t left = l->num_bins - first, now = left < BINS_AT_ONCE ? left : BINS_AT_ONCE;
        count_bins(l, projection, first, counts);
        REQUIRE(memcmp(oif_loda_counts(l, projection) + first, counts, now * sizeof *counts) == 0,
                "a bin does not count the rows that fall into it");
    }
    return OIF_OK;
}

static oif_status check_window(const loda *l, oif_error *error)
{
    uint32_t first_range = oif_loda_range_after(l, 0), next_range = first_range;
    if (l->rows_held > l->window_size || l->next_slot >= l->window_size)
        return oif_fail(error, OIF_EINVARIANT, "the window holds more rows than it has room for");
    if (l->rows_held < l->window_size && l->next_slot != l->rows_held)
        return oif_fail(error, OIF_EINVARIANT, "the ring has a gap");
    while (next_range <= l->rows_held && next_range < l->window_size)
        next_range = oif_loda_range_after(l, next_range);
    if (l->next_range != next_range || l->has_ranges != (l->rows_held >= first_range))
        return oif_fail(error, OIF_EINVARIANT,
                        "the ranges were not chosen when they should have been");
    if (!oif_none_infinite(oif_loda_sample(l, 0), (size_t)l->sample_size * l->dimension))
        return oif_fail(error, OIF_EINVARIANT, "a row of the sample is infinite");
    return OIF_OK;
}

oif_status oif_loda_check(const void *state, oif_error *error)
{
    const loda *l = state;
    oif_status status = check_window(l, error);
    for (uint32_t i = 0; i < l->num_projections && status == OIF_OK; i++) {
        status = check_weights(l, i, error);
        if (status == OIF_OK)
            status = check_range(l, i, error);
        if (status == OIF_OK)
            status = check_counts(l, i, error);
    }
    return status;
}
