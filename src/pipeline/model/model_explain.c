/* Why a row has its severity: the finding that decided, the share of each column, and what was
 * expected instead. */
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <string.h>

/* ---- Shares ---- */

/* How far a value is from the level of its column, in units of the usual distance. If the value is
 * missing but others were not, or present but all others were missing: the maximum if it caused the
 * score, else rather far, because some columns miss values now and then. */
static double departure_of(const oif_model *m, size_t column, double value, double share)
{
    const double most = 1e6, rather_far = 10;
    const bool is_missing = value != value, was_missing = !oif_watch_has_seen(watch_of(m), column);
    if (is_missing && was_missing)
        return 0;
    if (is_missing || was_missing)
        return share > 0.5 ? most : rather_far;
    const double distance = oif_watch_distance(watch_of(m), column, value);
    return distance == distance ? distance : 1;
}

/* The trees of a forest detect that a value is beyond all others, but not how far. So a column's
 * share of the score is multiplied by the distance of its value from the usual one. A column that
 * the trees happen not to have cut gets part of the average share. */
const double *oif_model_shares(oif_model *model)
{
    const size_t columns = model->columns;
    const double *row = last_row_of(model);
    double *shares = oif_block_part(model, model->at.shares), sum = 0;
    const size_t step = model->options.moves ? columns + OIF_MOVES : columns;
    if (oif_detector_explain(model->detectors[model->detector], oif_model_recent(model), step,
                             shares, scratch_of(model), NULL) != OIF_OK)
        memset(shares, 0, columns * sizeof *shares); /* only an infinity could fail */
    for (size_t i = 0; i < columns; i++) {
        const double away = departure_of(model, i, row[i], shares[i]);
        shares[i] = (shares[i] + 0.5 / (double)columns) * away * away;
        sum += shares[i];
    }
    for (size_t i = 0; i < columns && sum > 0; i++)
        shares[i] /= sum;
    return shares;
}

static void explain_values(oif_model *model, oif_attribution *attributions)
{
    const double *shares = oif_model_shares(model);
    for (size_t i = 0; i < model->columns; i++) {
        attributions[i] = (oif_attribution){
            .share = shares[i],
            .direction = oif_watch_side(watch_of(model), i, last_row_of(model)[i]),
            .size = NAN,
            .usual = NAN};
    }
}

void oif_model_explain(oif_model *model, oif_attribution *attributions)
{
    const oif_finding *found = &model->found;
    if (model->judge == OIF_JUDGE_VALUES)
        explain_values(model, attributions);
    else
        attributions[found->column] = (oif_attribution){.share = 1,
                                                        .direction = found->direction,
                                                        .reason = found->reason,
                                                        .partner = found->partner,
                                                        .size = found->size,
                                                        .usual = found->usual};
    oif_gate_note_reason(&model->gate, model->rows, last_row_of(model), attributions,
                         model->columns);
}

bool oif_model_episode(const oif_model *model, oif_episode_info *episode)
{
    *episode = model->gate.episode;
    episode->partner = OIF_UNKNOWN_COLUMN;
    if (episode->reason == OIF_REASON_PARTNER && episode->column < model->columns) {
        const size_t partner = oif_judges_partner(judges_of(model), episode->column);
        if (partner != episode->column)
            episode->partner = (uint32_t)partner;
    }
    return episode->number > 0;
}

bool oif_model_season(const oif_model *model, size_t index, oif_season_info *info)
{
    const oif_season *season = oif_judges_season(judges_of(model), index);
    if (!season || season->period == 0)
        return false;
    *info = (oif_season_info){.rows = season->in_seconds ? 0 : season->period,
                              .seconds = season->in_seconds ? season->period : 0,
                              .was_found = season->options.period == 0};
    info->strength = oif_season_strength(season, &info->column);
    return true;
}

/* ---- What was expected ---- */

oif_expected oif_model_expected_by(const oif_model *m, const oif_finding *found, size_t column)
{
    oif_expected expected = {.low = NAN, .high = NAN, .basis = found->reason};
    if (found->column == column &&
        oif_judges_expected(judges_of(m), found, last_row_of(m), &expected.low, &expected.high))
        return expected;
    expected.basis = OIF_REASON_VALUES;
    if (!oif_detector_usual_range(m->detectors[0], column, &expected.low, &expected.high) &&
        !oif_watch_usual_range(watch_of(m), column, &expected.low, &expected.high))
        expected.low = expected.high = NAN;
    return expected;
}

oif_expected oif_model_expected(const oif_model *model, size_t column)
{
    const oif_finding by_values = {.column = OIF_UNKNOWN_COLUMN};
    return oif_model_expected_by(
        model, model->judge == OIF_JUDGE_VALUES ? &by_values : &model->found, column);
}
