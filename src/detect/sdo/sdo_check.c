/* Whether an SDOstream detector is consistent. Its fields may come from a damaged snapshot, so only
 * what follows from the parameters is trusted. Takes O(num_observers d). */
#include "detect/sdo/sdo.h"

#include "base/invariant.h"

#include <math.h>

/* More than the weights of all rows can add up to. */
#define GREATEST_TOTAL 0x1p120

static oif_status check_sizes(const oif_sdo_state *sdo, const oif_check *check)
{
    OIF_REQUIRE(check, sdo->held <= sdo->num_observers, "there are more observers than places");
    OIF_REQUIRE(check, sdo->active == oif_sdo_active_of(sdo, sdo->held),
                "another share of the observers is active");
    OIF_REQUIRE(check, sdo->rows_so_far <= OIF_SDO_START, "the start took too many rows");
    OIF_REQUIRE(check, sdo->weight >= 1 && sdo->weight < OIF_SDO_GREATEST_WEIGHT,
                "the weight of a row is out of range");
    return OIF_OK;
}

static oif_status check_counts(const oif_sdo_state *sdo, const oif_check *check)
{
    const double *counts = oif_sdo_counts(sdo), *births = oif_sdo_births(sdo);
    double total = 0, least_active = HUGE_VAL;
    for (uint32_t i = 0; i < sdo->held; i++) {
        OIF_REQUIRE(check, counts[i] >= 0 && counts[i] <= GREATEST_TOTAL,
                    "a count is out of range");
        OIF_REQUIRE(check, births[i] >= 0 && births[i] < sdo->weight,
                    "an observer was born after the last row");
        total += counts[i];
        if (i < sdo->active)
            least_active = counts[i] < least_active ? counts[i] : least_active;
        else
            OIF_REQUIRE(check, counts[i] <= least_active,
                        "an idle observer is used more than an active one");
    }
    OIF_REQUIRE(check, fabs(sdo->total - total) <= total * 0x1p-16,
                "the total is not that of the counts");
    return OIF_OK;
}

static oif_status check_values(const oif_sdo_state *sdo, const oif_check *check)
{
    uint32_t incomplete = 0;
    for (uint32_t i = 0; i < sdo->dimension; i++)
        OIF_REQUIRE(check, oif_none_of_many_infinite(oif_sdo_values(sdo, i), sdo->held),
                    "an observer is infinite");
    for (uint32_t slot = 0; slot < sdo->held; slot++) {
        uint32_t known = 0;
        for (uint32_t i = 0; i < sdo->dimension; i++)
            known += oif_sdo_values(sdo, i)[slot] == oif_sdo_values(sdo, i)[slot];
        OIF_REQUIRE(check, known > 0, "an observer has no number");
        incomplete += known < sdo->dimension;
    }
    OIF_REQUIRE(check, sdo->incomplete == incomplete,
                "the observers with missing numbers are not counted");
    return OIF_OK;
}

static oif_status check_column(const oif_sdo_state *sdo, const oif_check *check)
{
    const oif_sdo_column *column = &oif_sdo_columns(sdo)[check->number];
    const double furthest = OIF_SDO_FURTHEST_VALUE;
    OIF_REQUIRE(check, column->known <= (sdo->scale == OIF_SDO_NONE ? 0 : sdo->window_size),
                "more numbers were learned than count");
    OIF_REQUIRE(check, fabs(column->center) <= furthest, "the center is out of range");
    OIF_REQUIRE(check, column->variance >= 0 && column->variance <= 16 * furthest * furthest,
                "the variance is out of range");
    OIF_REQUIRE(check,
                column->reach >= OIF_SDO_FIRST_REACH && column->reach <= OIF_SDO_GREATEST_REACH,
                "the reach is out of range");
    OIF_REQUIRE(check, column->known > 0 || (column->center == 0 && column->variance == 0),
                "what is known about the column comes from no number");
    OIF_REQUIRE(check, column->inverse == (column->known ? oif_sdo_inverse_of(column) : 1),
                "the inverse is not that of the deviation");
    return OIF_OK;
}

oif_status oif_sdo_check(const void *state, oif_error *error)
{
    const oif_sdo_state *sdo = state;
    const oif_check whole = {error, NULL, 0};
    oif_status status = check_sizes(sdo, &whole);
    if (status == OIF_OK)
        status = check_counts(sdo, &whole);
    if (status == OIF_OK)
        status = check_values(sdo, &whole);
    for (uint32_t i = 0; i < sdo->dimension && status == OIF_OK; i++)
        status = check_column(sdo, &(oif_check){error, "column", i});
    return status;
}
