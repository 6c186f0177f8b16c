/* Finds after how many rows a stream repeats itself, while the rows arrive.
 *
 * Up to 8 columns are sampled. A sample is the mean of some rows: of one at first, and each time
 * the space is full and no period was found, of twice as many.
 *
 *     512 samples of 1 row | 512 of 2 rows | 512 of 4 rows | ...     merged, nothing is lost
 *
 * When the space is full, the changes from sample to sample are compared with those of some samples
 * later: their autocorrelation. It is high at a period and at twice the period. Changes rather than
 * values, so a trend does not matter, and a random walk, whose changes are noise, has no period.
 * Large changes are cut, so a few outliers do not matter. The mean over several multiples of a
 * period gives it more exactly than one sample. A period that is nearly one of a clock is that one:
 * 288 rows rather than 287.
 *
 * So a period is found after two and a half to five times its length: 24 rows after 512, 288 rows
 * after 1,024, 1,440 rows after 4,096. One search costs about 100,000 multiplications per column;
 * the time from one search to the next doubles.
 */
#ifndef OIF_PIPELINE_JUDGES_PERIOD_H
#define OIF_PIPELINE_JUDGES_PERIOD_H

#include "base/state_visitor.h"
#include "base/unchanged.h"

#include <stdbool.h>

enum {
    OIF_PERIOD_COLUMNS = 8, /* searched, at most */
    OIF_PERIOD_SAMPLES = 512
};

typedef struct oif_period_search {
    uint32_t columns;         /* searched */
    uint32_t step;            /* one column in this many is searched */
    uint32_t samples;         /* complete */
    uint32_t rows_in_sample;  /* so far */
    uint64_t rows_per_sample; /* a power of two */
    double sums[OIF_PERIOD_COLUMNS];
    uint32_t counts[OIF_PERIOD_COLUMNS]; /* values in these sums */
    double changes[OIF_PERIOD_SAMPLES];  /* scratch space of a search, too much for the stack; blank
                                         * between searches, so a packed model leaves it out */
    /* of each column; bits of floats; a missing sample is the one before it */
    uint32_t values[][OIF_PERIOD_SAMPLES];
} oif_period_search;

/* Bytes of a search, which is a block. */
size_t oif_period_search_bytes(size_t columns);

/* Initialises a search without rows in a zeroed block of that many bytes. */
void oif_period_search_init(oif_period_search *search, size_t columns);

/* Takes the next row. Returns the period in rows once one is found, otherwise 0. */
double oif_period_search_row(oif_period_search *search, const double *row);

/* Makes a search without rows that of `search`, of rows with fewer columns. */
void oif_period_search_widen(oif_period_search *wide, const oif_period_search *search);

/* Reports samples that the last rows have not changed. */
void oif_period_search_unchanged(const oif_period_search *search, const oif_unchanged *unchanged);

void oif_period_search_visit_fields(oif_period_search *search, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_period_search_check(const oif_period_search *search);

#endif
