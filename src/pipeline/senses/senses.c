#include "pipeline/senses/senses.h"

#include "base/block.h"
#include "base/error.h"
#include "base/memory.h"
#include "pipeline/senses/partner.h"
#include "pipeline/senses/stuck.h"

#include <string.h>

/* ---- Creation ---- */

uint32_t oif_senses_count(const oif_senses_options *options)
{
    return options->stuck + options->partner + options->season_count;
}

static void add_sense(oif_senses *s, oif_reason reason, size_t bytes)
{
    s->reasons[s->count] = reason;
    s->at[s->count++] = oif_size_append(&s->bytes, bytes, 1);
}

static oif_senses lay_out(size_t columns, const oif_senses_options *options)
{
    oif_senses s = {.columns = columns, .bytes = oif_size_align(sizeof s)};
    if (options->stuck)
        add_sense(&s, OIF_REASON_STUCK, oif_stuck_bytes(columns));
    if (options->partner)
        add_sense(&s, OIF_REASON_PARTNER, oif_partner_bytes(columns));
    for (uint32_t i = 0; i < options->season_count; i++)
        add_sense(&s, OIF_REASON_SEASON, oif_season_bytes(columns, &options->seasons[i]));
    return s;
}

size_t oif_senses_bytes(size_t columns, const oif_senses_options *options)
{
    return lay_out(columns, options).bytes;
}

void oif_senses_init(oif_senses *senses, size_t columns, const oif_senses_options *options)
{
    uint32_t season = 0;
    *senses = lay_out(columns, options);
    for (uint32_t i = 0; i < senses->count; i++) {
        void *sense = oif_block_part(senses, senses->at[i]);
        senses->findings[i].reason = senses->reasons[i];
        switch (senses->reasons[i]) {
        case OIF_REASON_STUCK: oif_stuck_init(sense, columns); break;
        case OIF_REASON_PARTNER: oif_partner_init(sense, columns); break;
        default: oif_season_init(sense, columns, &options->seasons[season++]); break;
        }
    }
}

/* ---- Rows ---- */

static double observe(oif_finding *found, void *sense, const double *row, double seconds)
{
    size_t column = found->column;
    double evidence;
    switch (found->reason) {
    case OIF_REASON_STUCK: evidence = oif_stuck_observe(sense, row, seconds, &column); break;
    case OIF_REASON_PARTNER:
        evidence = oif_partner_observe(sense, row, seconds, &column, &found->direction);
        found->partner = (uint32_t)oif_partner_of(sense, column);
        break;
    default: evidence = oif_season_observe(sense, row, seconds, &column, &found->direction); break;
    }
    found->column = (uint32_t)column;
    return evidence;
}

void oif_senses_observe(oif_senses *senses, const double *row, double seconds, double evidence[])
{
    for (uint32_t i = 0; i < senses->count; i++)
        evidence[i] =
            observe(&senses->findings[i], oif_block_part(senses, senses->at[i]), row, seconds);
}

size_t oif_senses_partner(const oif_senses *senses, size_t column)
{
    for (uint32_t i = 0; i < senses->count; i++)
        if (senses->reasons[i] == OIF_REASON_PARTNER)
            return oif_partner_of(oif_block_part(senses, senses->at[i]), column);
    return column;
}

const oif_season *oif_senses_season(const oif_senses *senses, size_t index)
{
    for (uint32_t i = 0; i < senses->count; i++)
        if (senses->reasons[i] == OIF_REASON_SEASON && index-- == 0)
            return oif_block_part(senses, senses->at[i]);
    return NULL;
}

void oif_senses_pass(oif_senses *senses)
{
    for (uint32_t i = 0; i < senses->count; i++)
        if (senses->reasons[i] == OIF_REASON_SEASON)
            oif_season_pass(oif_block_part(senses, senses->at[i]));
}

bool oif_senses_expected(const oif_senses *senses, uint32_t sense, const double *row, size_t column,
                         double *low, double *high)
{
    const void *block = oif_block_part(senses, senses->at[sense]);
    switch (senses->reasons[sense]) {
    case OIF_REASON_SEASON: return oif_season_expected(block, column, low, high);
    case OIF_REASON_PARTNER: return oif_partner_expected(block, row, column, low, high);
    default: return false;
    }
}

void oif_senses_learn(oif_senses *senses, const double *row, bool is_change)
{
    for (uint32_t i = 0; i < senses->count; i++) {
        void *sense = oif_block_part(senses, senses->at[i]);
        switch (senses->reasons[i]) {
        case OIF_REASON_STUCK: oif_stuck_learn(sense, is_change); break;
        case OIF_REASON_PARTNER: oif_partner_learn(sense, row); break;
        default: oif_season_learn(sense, row); break;
        }
    }
}

void oif_senses_widen(oif_senses *wide, const oif_senses *senses)
{
    memcpy(wide->findings, senses->findings, sizeof wide->findings);
    for (uint32_t i = 0; i < senses->count; i++) {
        void *to = oif_block_part(wide, wide->at[i]);
        const void *from = oif_block_part(senses, senses->at[i]);
        switch (senses->reasons[i]) {
        case OIF_REASON_STUCK: oif_stuck_widen(to, from); break;
        case OIF_REASON_PARTNER: oif_partner_widen(to, from); break;
        default: oif_season_widen(to, from); break;
        }
    }
}

/* ---- Snapshots ---- */

void oif_senses_unchanged(const oif_senses *senses, const oif_unchanged *unchanged)
{
    for (uint32_t i = 0; i < senses->count; i++)
        if (senses->reasons[i] == OIF_REASON_SEASON)
            oif_season_unchanged(oif_block_part(senses, senses->at[i]), unchanged);
}

static void visit_finding(oif_finding *found, oif_state_visitor *visitor)
{
    int32_t direction = found->direction;
    oif_visit_i32(visitor, "direction", &direction, 1);
    found->direction = direction;
    oif_visit_u32(visitor, "column", &found->column, 1);
    oif_visit_u32(visitor, "partner", &found->partner, 1);
}

void oif_senses_visit_fields(oif_senses *senses, oif_state_visitor *visitor)
{
    for (uint32_t i = 0; i < senses->count; i++) {
        void *sense = oif_block_part(senses, senses->at[i]);
        visit_finding(&senses->findings[i], visitor);
        switch (senses->reasons[i]) {
        case OIF_REASON_STUCK: oif_stuck_visit_fields(sense, visitor); break;
        case OIF_REASON_PARTNER: oif_partner_visit_fields(sense, visitor); break;
        default: oif_season_visit_fields(sense, visitor); break;
        }
    }
}

static oif_status check_sense(oif_reason reason, const void *sense, oif_error *error)
{
    switch (reason) {
    case OIF_REASON_STUCK: return oif_stuck_check(sense, error);
    case OIF_REASON_PARTNER: return oif_partner_check(sense, error);
    default: return oif_season_check(sense, error);
    }
}

oif_status oif_senses_check(const oif_senses *senses, oif_error *error)
{
    for (uint32_t i = 0; i < senses->count; i++) {
        const oif_finding *found = &senses->findings[i];
        if (found->column >= senses->columns || found->partner >= senses->columns ||
            found->direction < -1 || found->direction > 1)
            return oif_fail(error, OIF_EINVARIANT, "a sense found something in no column");
        oif_status status =
            check_sense(senses->reasons[i], oif_block_part(senses, senses->at[i]), error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}
