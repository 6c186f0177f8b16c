/* The sense for seasons: is a number unusual for this time of the day, or week?
 *
 * A period is divided into phases, up to 512. Every phase knows, for each column, what it had in
 * the last 4 periods. A number is compared with the median of these, from the third period on, so
 * one bad period does not matter; the difference is judged by the ranges of the differences of
 * recent rows.
 *
 *     phase            0     1     2    ...   95
 *     3 periods ago   12    17    23         11
 *     2               12    90    22         10          90: an incident
 *     1               13    16     -         10          missing, or not learned
 *     this            12    18    <-- differs from the median, 17, by 1
 *
 * A phase that covers several rows has their mean. Then it is taken as the value of its middle,
 * and what lies between two middles is interpolated; only what a number differs by more than the
 * two do counts: so neither a steep slope nor a corner is an anomaly.
 *
 * Many columns have no season. From time to time a row is also compared with a phase at random. A
 * column is judged only if its own phase is closer, to seven tenths of the difference.
 *
 * A period is a number of rows, or of seconds. With seconds, the first period shows how many rows
 * it has, and there are no more phases than that. Numbers of past periods are kept as floats.
 * The block holds no pointers; it may be part of another.
 */
#ifndef OIF_PIPELINE_SENSES_SEASON_H
#define OIF_PIPELINE_SENSES_SEASON_H

#include "base/memory.h"
#include "base/state_visitor.h"
#include "oif.h"

#include <stdbool.h>

enum {
    OIF_SEASON_PHASES = 512, /* at most */
    OIF_SEASON_PERIODS = 4   /* that are kept */
};

typedef struct oif_season_options {
    double period;   /* at least 2, in rows a whole number; at most 2^52 */
    bool in_seconds; /* else in rows */
} oif_season_options;

/* The head of the block; arrays follow at the offsets `.._at`. A quarter of each number is kept,
 * so no difference of two overflows. */
typedef struct oif_season {
    oif_season_options options;
    size_t columns;
    size_t bytes;
    uint32_t phases;      /* 0 until they are known */
    uint32_t phase;       /* of the last row */
    uint32_t slot;        /* of its period, in the history */
    uint32_t is_known;    /* 1 if the last row was at a known time, and phases were known */
    uint64_t compared;    /* rows, with a phase at random */
    uint64_t rows;        /* observed */
    uint64_t first_rows;  /* of the first period, in seconds, */
    double first_seconds; /* and when that began; NaN before it has */
    double middle;        /* of a phase, where its rows are on average: from 0 to 1 */

    size_t history_at;     /* uint32_t [phases][PERIODS][columns]: bits of floats, NaN for none */
    size_t means_at;       /* double [columns]: of the rows of this phase, */
    size_t counts_at;      /* uint32_t [columns]: and how many they are */
    size_t own_at;         /* double [columns]: mean absolute difference from the own phase, */
    size_t other_at;       /* double [columns]: and from others */
    size_t cells_at;       /* float [PERIODS][columns]: scratch memory for a phase */
    size_t expected_at;    /* double [3][columns]: scratch memory for medians and differences */
    size_t differences_at; /* double [columns]: of the last row from the medians */
    size_t ranges_at;      /* oif_row_ranges of differences */
} oif_season;

/* The bytes of the block; SIZE_MAX if no machine could hold it. */
size_t oif_season_bytes(size_t columns, const oif_season_options *options);

/* Makes a sense without rows in a block of that many bytes, all 0. */
void oif_season_init(oif_season *season, size_t columns, const oif_season_options *options);

/* Takes the next row. Returns the evidence that a number is unusual for its phase, 0 if there is
 * none, and then in `column` which, in `direction` whether it is high (1) or low (-1). `seconds`:
 * the time of the row, NaN if not known; does not matter for a period in rows. */
double oif_season_observe(oif_season *season, const double *row, double seconds, size_t *column,
                          int *direction);

/* The row, which was observed last, is a usual one. */
void oif_season_learn(oif_season *season, const double *row);

void oif_season_visit_fields(oif_season *season, oif_state_visitor *visitor);

/* Validates everything: the fields may come from a damaged snapshot. */
oif_status oif_season_check(const oif_season *season, oif_error *error);

#endif
