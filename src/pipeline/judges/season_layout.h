/* The layout of the block of a season. Only season*.c includes this. */
#ifndef OIF_PIPELINE_JUDGES_SEASON_LAYOUT_H
#define OIF_PIPELINE_JUDGES_SEASON_LAYOUT_H

#include "base/block.h"
#include "pipeline/judges/period.h"
#include "pipeline/judges/season.h"

#include <string.h>

enum { PHASES = OIF_SEASON_PHASES, PERIODS = OIF_SEASON_PERIODS };

static const double most_distance = 0x1p250; /* so products of squares are finite */

/* ---- Where things are ---- */

static inline uint32_t *history_of(const oif_season *season, uint32_t phase)
{
    uint32_t *history = oif_block_part(season, season->history_at);
    return history + (size_t)phase * PERIODS * season->columns;
}

static inline oif_season_column *column_of(const oif_season *season, size_t column)
{
    return (oif_season_column *)oif_block_part(season, season->columns_at) + column;
}

/* What is expected of the last row, how much of a difference the slope may explain, and the medians
 * of another phase. */
enum { EXPECTED, SLOPE, OTHER, ARRAYS };

static inline double *expected_of(const oif_season *season, size_t array)
{
    return (double *)oif_block_part(season, season->expected_at) + array * season->columns;
}

static inline oif_period_search *search_of(const oif_season *season)
{
    return oif_block_part(season, season->search_at);
}

static inline bool is_searched_for(const oif_season *season)
{
    return season->options.period == 0;
}

/* ---- Phases ---- */

/* Rows per phase of a period in rows. */
static inline double rows_of_phase(double period)
{
    return (double)(((uint64_t)period + PHASES - 1) / PHASES);
}

static inline uint32_t phases_of_rows(double period)
{
    const uint64_t rows = (uint64_t)rows_of_phase(period);
    return (uint32_t)(((uint64_t)period + rows - 1) / rows);
}

static inline uint32_t phases_at_most(const oif_season_options *options)
{
    return options->in_seconds || options->period == 0 ? PHASES : phases_of_rows(options->period);
}

#endif
