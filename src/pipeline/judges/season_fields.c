/* The fields of a season: snapshots, more columns, and whether they are possible. */
#include "base/invariant.h"
#include "pipeline/judges/season_layout.h"

#include <float.h>
#include <math.h>

/* ---- Snapshots ---- */

#define NUMBER(name, member)                                                                       \
    {                                                                                              \
        name, OIF_FIELD_F64, offsetof(oif_season_column, member), 1                                \
    }

static const oif_field column_fields[] = {
    NUMBER("season_mean", mean),
    {"season_count", OIF_FIELD_U64, offsetof(oif_season_column, count), 1},
    NUMBER("season_own", own),
    NUMBER("season_other", other),
    OIF_USUAL_FIELDS("season_difference", oif_season_column, difference),
    OIF_USUAL_FIELDS("season_unlikeness", oif_season_column, unlikeness),
    NUMBER("shape_rows", shape.rows),
    NUMBER("shape_x", shape.x),
    NUMBER("shape_y", shape.y),
    NUMBER("shape_x_squares", shape.x_squares),
    NUMBER("shape_y_squares", shape.y_squares),
    NUMBER("shape_products", shape.products)};

static void visit_search(oif_season *season, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "season_period", &season->period, 1);
    oif_visit_u64(visitor, "season_in_seconds", &season->in_seconds, 1);
    oif_visit_f64(visitor, "season_last_seconds", &season->last_seconds, 1);
    oif_visit_f64(visitor, "season_pause", &season->pause, 1);
    oif_period_search_visit_fields(search_of(season), visitor);
}

void oif_season_visit_fields(oif_season *season, oif_state_visitor *visitor)
{
    const size_t cells = (size_t)phases_at_most(&season->options) * PERIODS * season->columns;
    oif_visit_u64(visitor, "season_rows", &season->rows, 1);
    oif_visit_u32(visitor, "season_phases", &season->phases, 1);
    oif_visit_u32(visitor, "season_phase", &season->phase, 1);
    oif_visit_u32(visitor, "season_slot", &season->slot, 1);
    oif_visit_u64(visitor, "season_compared", &season->compared, 1);
    oif_visit_u64(visitor, "season_first_rows", &season->first_rows, 1);
    oif_visit_f64(visitor, "season_first_seconds", &season->first_seconds, 1);
    oif_visit_f64(visitor, "season_middle", &season->middle, 1);
    oif_visit_records(
        visitor, &(oif_records){column_fields, sizeof column_fields / sizeof *column_fields,
                                column_of(season, 0), sizeof(oif_season_column), season->columns});
    oif_visit_u32(visitor, "season_history", history_of(season, 0), cells);
    if (is_searched_for(season))
        visit_search(season, visitor);
}

/* ---- More columns ---- */

static void widen_history(oif_season *wide, const oif_season *season)
{
    const size_t rows = (size_t)phases_at_most(&season->options) * PERIODS;
    uint32_t *to = history_of(wide, 0), *from = history_of(season, 0);
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * wide->columns, from + i * season->columns, season->columns * sizeof *from);
}

/* What was expected of the last row is not kept. */
void oif_season_widen(oif_season *wide, const oif_season *season)
{
    wide->period = season->period;
    wide->in_seconds = season->in_seconds;
    wide->phases = season->phases;
    wide->phase = season->phase;
    wide->slot = season->slot;
    wide->compared = season->compared;
    wide->rows = season->rows;
    wide->first_rows = season->first_rows;
    wide->first_seconds = season->first_seconds;
    wide->middle = season->middle;
    wide->last_seconds = season->last_seconds;
    wide->pause = season->pause;
    widen_history(wide, season);
    memcpy(column_of(wide, 0), column_of(season, 0), season->columns * sizeof(oif_season_column));
    if (is_searched_for(season))
        oif_period_search_widen(search_of(wide), search_of(season));
}

/* ---- Checks ---- */

static bool is_amount(double number)
{
    return number >= 0 && number <= DBL_MAX;
}

static bool has_infinity(const oif_season *season)
{
    const size_t cells = (size_t)phases_at_most(&season->options) * PERIODS * season->columns;
    const uint32_t *history = history_of(season, 0), infinite_bits = UINT32_C(0x7F800000);
    uint32_t infinite = 0; /* no branch, so compilers can vectorise it */
    for (size_t i = 0; i < cells; i++)
        infinite |= (uint32_t)((history[i] & INT32_MAX) == infinite_bits);
    return infinite != 0;
}

static bool is_possible(const oif_season_column *c)
{
    const oif_season_shape *shape = &c->shape;
    return fabs(c->mean) <= DBL_MAX && is_amount(c->own) && is_amount(c->other) &&
           oif_usual_check(&c->difference) && oif_usual_check(&c->unlikeness) &&
           is_amount(shape->rows) && fabs(shape->x) < 2 * most_distance &&
           fabs(shape->y) < 2 * most_distance && is_amount(shape->x_squares) &&
           is_amount(shape->y_squares) && fabs(shape->products) <= DBL_MAX;
}

static oif_status check_search(const oif_season *season, oif_error *error)
{
    const oif_check check = {error, NULL, 0};
    OIF_REQUIRE(&check, season->in_seconds <= 1, "a season is neither in rows nor in seconds");
    OIF_REQUIRE(&check, season->period == 0 || (season->period >= 2 && season->period <= 0x1p52),
                "a season that was found has no period");
    OIF_REQUIRE(&check,
                season->period == 0  ? season->phases == 0
                : season->in_seconds ? season->phases <= PHASES
                                     : season->phases == phases_of_rows(season->period),
                "a season has phases that its period does not allow");
    OIF_REQUIRE(&check, !isinf(season->last_seconds) && is_amount(season->pause),
                "a season has a pause that no rows have");
    OIF_REQUIRE(&check, oif_period_search_check(search_of(season)),
                "the search for a period is inconsistent");
    return OIF_OK;
}

oif_status oif_season_check(const oif_season *season, oif_error *error)
{
    const oif_check check = {error, NULL, 0};
    const uint32_t most = phases_at_most(&season->options);
    if (is_searched_for(season)) {
        const oif_status status = check_search(season, error);
        if (status != OIF_OK)
            return status;
    } else {
        OIF_REQUIRE(&check, season->in_seconds ? season->phases <= most : season->phases == most,
                    "a season has phases that its period does not allow");
    }
    OIF_REQUIRE(&check, season->phase < oif_max_u32(season->phases, 1) && season->slot < PERIODS,
                "a season is in a phase that it does not have");
    OIF_REQUIRE(&check, !isinf(season->first_seconds), "a season began at no time");
    OIF_REQUIRE(&check, season->middle >= 0 && season->middle <= 1,
                "the middle of a phase is outside of it");
    OIF_REQUIRE(&check, !has_infinity(season), "a number of a past period is infinite");
    for (size_t j = 0; j < season->columns; j++)
        OIF_REQUIRE(&check, is_possible(column_of(season, j)),
                    "a column of a season is impossible");
    return OIF_OK;
}
