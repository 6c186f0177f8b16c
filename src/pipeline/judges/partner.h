/* The sense for columns that follow each other: does a column still follow its partner?
 *
 * Partners are found by trial. Over 128 rows, every second one, each column i is compared with
 * column i + k, in the next trial with i + k + 1, and so on. A pair is the same both ways, so k
 * goes up to half of the columns. A pair with r^2 of .8 or more becomes a link, up to 8 of them:
 *
 *     link   requests = a + b cpu      least squares, to 1/e after 1,024 rows
 *            residual                  against the largest of 64 rows, as a median of 16 of these
 *
 * In a trial, two random walks often seem to follow each other. So a link gives no evidence for its
 * first 512 rows, and from the start it must predict. Its squared residuals, each taken before its
 * row is learned, may add up to a fraction of the column's variation about its trend in blocks of
 * 128 rows: half at first, a fifth at the end of the 512 rows, three tenths later. Random walks
 * fail that at once, and so do counters that only rise. A link that fails is dropped. A link is
 * also replaced by a pair that leaves less than a quarter as much unexplained.
 *
 * The evidence of a residual x widths outside is log2(1 + x^2 / 2), as for ranges of rows; the
 * width is twice the usual largest residual. That is at least the smallest step that either column
 * ever made, and a tenth of what the partner explains: twins that differ by a digit now and then
 * are still twins. A link that finds more than one row in 50 is dropped, and may come back after
 * another trial. Missing values give no evidence. The block has no pointers and may be part of
 * another.
 */
#ifndef OIF_PIPELINE_JUDGES_PARTNER_H
#define OIF_PIPELINE_JUDGES_PARTNER_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "oif.h"

enum {
    OIF_PARTNER_LINKS = 8,
    OIF_PARTNER_LARGEST = 16 /* residuals of a link, each the largest of 64 rows */
};

/* A column that follows another one. Values are relative to the row at which the link began. */
typedef struct oif_partner_link {
    uint32_t column, partner; /* equal: no link */
    uint64_t rows;            /* learned */
    double column_origin, partner_origin;
    double column_mean, partner_mean;
    double partner_squares, products; /* about the means, per row */
    double slope;
    /* of the column in the last rows, up to 128; `rise`: weighted by time from their middle */
    double block_origin, block_sum, block_rise, block_squares;
    double block_errors;      /* squares of residuals in the same rows */
    double variation, errors; /* the same for earlier blocks; older ones count less */
    double unexplained;       /* fraction of the column's variation */
    double largest_now;       /* residual in the last rows, up to 64 */
    double largest[OIF_PARTNER_LARGEST];
    double usual;                     /* the median of `largest`, or the least that counts */
    double last_column, last_partner; /* values of the last row; NaN before */
    double resolution;                /* the smallest step seen, in units of the column; 0: none */
    double loudness;                  /* rows with evidence of late */
} oif_partner_link;

/* The head of a block. `numbers` has these arrays, in order, with one number per column, for the
 * current trial:
 *
 *     origin      first value of the trial, NaN if missing
 *     sum         of the values, here and below minus the origin
 *     rise        of the values times the time from the middle of the trial
 *     squares
 *     products    with the partner's value
 *     scaled      [2][columns]: scratch space for the row, twice
 */
typedef struct oif_partner {
    uint32_t columns;
    uint32_t step;       /* the partner of column i is i + step */
    uint32_t trial_rows; /* learned in this trial */
    uint32_t skips_row;  /* 1 if the next row is not part of it */
    oif_partner_link links[OIF_PARTNER_LINKS];
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[];
} oif_partner;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_partner_bytes(size_t columns);

/* Initialises a sense without rows in a zeroed block of that many bytes. */
void oif_partner_init(oif_partner *partner, size_t columns);

/* Returns the evidence that a column no longer follows its partner, or 0. If there is evidence,
 * `column` is that column and `direction` says whether it is above (1) or below (-1) the
 * prediction. */
double oif_partner_observe(oif_partner *partner, const double *row, size_t *column, int *direction);

/* Learns a usual row. */
void oif_partner_learn(oif_partner *partner, const double *row);

/* The partner that a column follows, or the column itself if it has none; for the text of an
 * alert. */
size_t oif_partner_of(const oif_partner *partner, size_t column);

/* The range that the partner of a column predicts for it in this row. Returns false if it has no
 * partner, or the partner's value is missing. */
bool oif_partner_expected(const oif_partner *partner, const double *row, size_t column, double *low,
                          double *high);

/* Makes a sense without rows that of `partner`, which has fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_partner_widen(oif_partner *wide, const oif_partner *partner);

void oif_partner_visit_fields(oif_partner *partner, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_partner_check(const oif_partner *partner, oif_error *error);

#endif
