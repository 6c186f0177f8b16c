/* After how many rows does a series repeat itself? For --season auto.
 *
 * The series is divided into blocks, of 1, 2, 4, ... rows. A slow pattern under noise shows only in
 * long blocks. The changes from block to block are compared with those of some blocks later: their
 * autocorrelation. It is high at a period and at twice the period. Changes rather than values, so
 * a trend does not matter, and a random walk, whose changes are noise, has no period. Ranks of
 * changes rather than changes, so a few outliers do not matter.
 *
 * The best blocks show that there is a period. The mean autocorrelation over all multiples of a
 * period decides which one: with periods of 60 and 25 rows, 125 is near a multiple of both, but
 * 250, 375, ... are less and less so. With several periods the result is the strongest one, or
 * their common multiple if that explains much more and fits in the series. */
#ifndef OIF_CLI_SEASON_PERIOD_H
#define OIF_CLI_SEASON_PERIOD_H

#include <stddef.h>

typedef struct season_period {
    size_t rows;        /* 0: none */
    double correlation; /* of changes, and those of a period later: up to 1 */
    double certainty;   /* in standard deviations of what noise has */
} season_period;

/* A period is found if the series has two and a half of it. Missing numbers are NaN. Finds none
 * where there is too little memory. */
season_period season_period_find(const double *values, size_t count);

#endif
