/* The judge of seasons: is a value unusual for this time of the day or week?
 *
 * A period is divided into up to 336 phases. Every phase keeps, for each column, its values in the
 * last 3 periods. From the third period on, a value is compared with their median, so one bad
 * period does not matter. The difference is judged by its usual size (usual_size.h).
 *
 *     phase            0     1     2    ...   95
 *     3 periods ago   12    90    22         10          90: an incident
 *     2               12    17    23         11
 *     1               13    16     -         10          missing, or not learned
 *     this            12    18    <-- differs from the median, 17, by 1
 *
 * A phase that covers several rows has their mean, taken as the value at its middle. Between two
 * middles the expected value is interpolated, and a difference counts only as far as it exceeds the
 * difference of the two phases. So neither a steep slope nor a corner is an anomaly.
 *
 * A level that differs from day to day hides a day that is half a day late, as no single value is
 * unusual. So the shape is judged as well: the correlation of the last rows with what was expected,
 * over about a third of a period. It is near 1 as long as the season continues, and near -1 half a
 * period late.
 *
 * Many columns have no season, or a weak one. From time to time a row is also compared with a
 * random phase. The strength of a season is one minus the difference from its own phase divided by
 * that from others. A difference counts in proportion, up to a strength of 0.3.
 *
 * A period is a number of rows or of seconds. In seconds, the first period shows how many rows it
 * has; there are at most that many phases. A period of 0 is searched for (period.h), and once it is
 * found, and is near an hour, a day or a week of the times of the rows, it is in seconds. A season
 * that proves weak is replaced if another is found. Values of past periods are stored as floats.
 * The block has no pointers and may be part of another.
 */
#ifndef OIF_PIPELINE_JUDGES_SEASON_H
#define OIF_PIPELINE_JUDGES_SEASON_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "base/unchanged.h"
#include "pipeline/judges/finding.h"
#include "pipeline/judges/usual_size.h"

#include <stdbool.h>

enum {
    OIF_SEASON_PHASES = 336, /* at most */
    OIF_SEASON_PERIODS = 3   /* kept */
};

typedef struct oif_season_options {
    double period;       /* at least 2, at most 2^52; in rows a whole number; 0: searched for */
    uint64_t in_seconds; /* 1; 0: in rows */
} oif_season_options;

/* The last rows of a column, x, and what was expected, y; older ones count less. */
typedef struct oif_season_shape {
    double rows; /* that count */
    double x, y; /* means */
    double x_squares, y_squares, products;
} oif_season_shape;

typedef struct oif_season_column {
    double mean;               /* of its values in this phase of this period */
    uint64_t count;            /* of these */
    double own, other;         /* the mean distance from the own phase, and from others */
    oif_usual_size difference; /* from the expected value, beyond the slope */
    oif_usual_size unlikeness; /* of the shape: 1 - its correlation with the expected one */
    oif_season_shape shape;
} oif_season_column;

/* The head of the block; arrays follow at the offsets `.._at`. Values are stored in quarters, so no
 * difference of two overflows. */
typedef struct oif_season {
    oif_season_options options;
    double period;       /* that of the options, or found; 0: unknown */
    uint64_t in_seconds; /* 1 if the period is in seconds */
    size_t columns;
    size_t bytes;
    uint32_t phases;      /* 0 until known */
    uint32_t phase;       /* of the last row */
    uint32_t slot;        /* of its period, in the history */
    uint32_t is_known;    /* 1 if the time of the last row and the phases were known */
    uint64_t compared;    /* rows compared with a random phase */
    uint64_t rows;        /* observed */
    uint64_t first_rows;  /* in the first period, if it is in seconds */
    double first_seconds; /* when the first period began; NaN before */
    double middle;        /* mean position of rows within a phase: from 0 to 1 */
    double last_seconds;  /* of the last row, if the period is searched for; NaN before */
    double pause;         /* usual seconds from row to row; 0: unknown */

    size_t columns_at;  /* oif_season_column [columns] */
    size_t expected_at; /* double [3][columns]: of the last row; not saved */
    size_t history_at;  /* uint32_t [phases][PERIODS][columns]: bits of floats, NaN for none */
    size_t search_at;   /* oif_period_search, if the period is searched for */
} oif_season;

/* Bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_season_bytes(size_t columns, const oif_season_options *options);

/* Initialises a season without rows in a zeroed block of that many bytes. */
void oif_season_init(oif_season *season, size_t columns, const oif_season_options *options);

/* Judges the next row, and replaces a finding that is less severe. `seconds` is the time of the
 * row, NaN if unknown; unused for a period in rows. */
void oif_season_observe(oif_season *season, const double *row, double seconds, oif_finding *found);

/* How far a value is from what is expected of it in the row observed last, beyond what the slope
 * may explain; in quarters. NaN while unknown. */
double oif_season_difference(const oif_season *season, size_t column, double value);

/* The range expected of a column in the row observed last: what the season predicts, widened by the
 * usual differences. Returns false while it is unknown. */
bool oif_season_expected(const oif_season *season, size_t column, double *low, double *high);

/* The strength of the season in the column where it is strongest, from 0 to 1; 0 while unknown. */
double oif_season_strength(const oif_season *season, size_t *column);

/* Skips a row that is not observed: a period in rows counts it. */
void oif_season_pass(oif_season *season);

/* Learns the row observed last, which is usual. */
void oif_season_learn(oif_season *season, const double *row);

/* Makes a season without rows that of `season`, which has fewer columns: the new ones come after
 * them, and were missing until now. */
void oif_season_widen(oif_season *wide, const oif_season *season);

/* Reports parts that the last rows have not changed. */
void oif_season_unchanged(const oif_season *season, const oif_unchanged *unchanged);

void oif_season_visit_fields(oif_season *season, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_season_check(const oif_season *season, oif_error *error);

#endif
