#include "pipeline/judges/judges.h"

#include "base/block.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Evidence becomes severity: docs/algorithms/judges.md. */
static const double per_partner_evidence = 2;

/* ---- Parts ---- */

oif_watch *oif_judges_watch(const oif_judges *judges)
{
    return oif_block_part(judges, judges->watch_at);
}

static oif_partner *partner_of(const oif_judges *judges)
{
    return oif_block_part(judges, judges->partner_at);
}

static oif_season *season_of(const oif_judges *judges, size_t index)
{
    return oif_block_part(judges, judges->seasons_at[index]);
}

const oif_season *oif_judges_season(const oif_judges *judges, size_t index)
{
    return index < judges->season_count ? season_of(judges, index) : NULL;
}

/* ---- Creation ---- */

static oif_judges lay_out(size_t columns, const oif_judges_options *options)
{
    oif_judges j = {.columns = columns,
                    .bytes = oif_size_align(sizeof j),
                    .season_count = options->season_count};
    j.watch_at = oif_size_append(&j.bytes, oif_watch_bytes(columns), 1);
    if (columns > 1)
        j.partner_at = oif_size_append(&j.bytes, oif_partner_bytes(columns), 1);
    for (size_t i = 0; i < j.season_count; i++)
        j.seasons_at[i] =
            oif_size_append(&j.bytes, oif_season_bytes(columns, &options->seasons[i]), 1);
    return j;
}

size_t oif_judges_bytes(size_t columns, const oif_judges_options *options)
{
    return lay_out(columns, options).bytes;
}

void oif_judges_init(oif_judges *judges, size_t columns, const oif_judges_options *options)
{
    *judges = lay_out(columns, options);
    oif_watch_init(oif_judges_watch(judges), columns);
    if (judges->partner_at)
        oif_partner_init(partner_of(judges), columns);
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_init(season_of(judges, i), columns, &options->seasons[i]);
}

/* ---- Rows ---- */

static void observe_partners(oif_judges *judges, const double *row, oif_finding *found)
{
    size_t column = 0;
    int direction = 0;
    *found = (oif_finding){.reason = OIF_REASON_PARTNER, .size = NAN, .usual = NAN};
    const double evidence = oif_partner_observe(partner_of(judges), row, &column, &direction);
    if (!(evidence > 0))
        return;
    found->severity = 1 + per_partner_evidence * evidence;
    found->column = (uint32_t)column;
    found->direction = direction;
    found->partner = (uint32_t)oif_partner_of(partner_of(judges), column);
}

/* The season that finds most. */
static void observe_seasons(oif_judges *judges, const double *row, double seconds,
                            oif_finding *found)
{
    *found = (oif_finding){.reason = OIF_REASON_SEASON};
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_observe(season_of(judges, i), row, seconds, found);
}

void oif_judges_observe(oif_judges *judges, const double *row, double seconds,
                        oif_finding findings[OIF_JUDGES])
{
    oif_watch_observe(oif_judges_watch(judges), row, findings);
    if (judges->partner_at)
        observe_partners(judges, row, &findings[OIF_JUDGE_PARTNER]);
    observe_seasons(judges, row, seconds, &findings[OIF_JUDGE_SEASON]);
}

void oif_judges_learn(oif_judges *judges, const double *row)
{
    if (judges->partner_at)
        oif_partner_learn(partner_of(judges), row);
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_learn(season_of(judges, i), row);
}

void oif_judges_pass(oif_judges *judges, const double *row)
{
    oif_watch_pass(oif_judges_watch(judges), row);
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_pass(season_of(judges, i));
}

void oif_judges_rewind(oif_judges *judges, const oif_judges_options *options)
{
    oif_watch_rewind(oif_judges_watch(judges));
    for (size_t i = 0; i < judges->season_count; i++) {
        memset(season_of(judges, i), 0, oif_season_bytes(judges->columns, &options->seasons[i]));
        oif_season_init(season_of(judges, i), judges->columns, &options->seasons[i]);
    }
}

/* ---- Questions ---- */

size_t oif_judges_partner(const oif_judges *judges, size_t column)
{
    return judges->partner_at ? oif_partner_of(partner_of(judges), column) : column;
}

/* The narrowest range: a day says little where weekends differ. */
static bool expected_by_seasons(const oif_judges *judges, size_t column, double *low, double *high)
{
    double least = 0, most = 0;
    bool is_known = false;
    for (size_t i = 0; i < judges->season_count; i++)
        if (oif_season_expected(season_of(judges, i), column, &least, &most) &&
            (!is_known || most - least < *high - *low)) {
            *low = least;
            *high = most;
            is_known = true;
        }
    return is_known;
}

bool oif_judges_expected(const oif_judges *judges, const oif_finding *found, const double *row,
                         double *low, double *high)
{
    switch (found->reason) {
    case OIF_REASON_SEASON: /* a value of an unusual shape may be as expected itself */
        return found->usual == found->usual &&
               expected_by_seasons(judges, found->column, low, high);
    case OIF_REASON_JUMP: return oif_watch_jump_range(found, row[found->column], low, high);
    case OIF_REASON_LEVEL:
    case OIF_REASON_SPREAD:
        return oif_watch_usual_range(oif_judges_watch(judges), found->column, low, high);
    case OIF_REASON_PARTNER:
        return oif_partner_expected(partner_of(judges), row, found->column, low, high);
    default: return false;
    }
}

/* ---- More columns ---- */

void oif_judges_widen(oif_judges *wide, const oif_judges *judges)
{
    oif_watch_widen(oif_judges_watch(wide), oif_judges_watch(judges));
    if (judges->partner_at)
        oif_partner_widen(partner_of(wide), partner_of(judges));
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_widen(season_of(wide, i), season_of(judges, i));
}

/* ---- Snapshots ---- */

void oif_judges_unchanged(const oif_judges *judges, const oif_unchanged *unchanged)
{
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_unchanged(season_of(judges, i), unchanged);
}

void oif_judges_visit_fields(oif_judges *judges, oif_state_visitor *visitor)
{
    oif_watch_visit_fields(oif_judges_watch(judges), visitor);
    if (judges->partner_at)
        oif_partner_visit_fields(partner_of(judges), visitor);
    for (size_t i = 0; i < judges->season_count; i++)
        oif_season_visit_fields(season_of(judges, i), visitor);
}

oif_status oif_judges_check(const oif_judges *judges, oif_error *error)
{
    oif_status status = oif_watch_check(oif_judges_watch(judges), error);
    if (status == OIF_OK && judges->partner_at)
        status = oif_partner_check(partner_of(judges), error);
    for (size_t i = 0; i < judges->season_count && status == OIF_OK; i++)
        status = oif_season_check(season_of(judges, i), error);
    return status;
}
