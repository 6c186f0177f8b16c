/* Why a row has its score: the finding of who decided, and the share of each column. */
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <string.h>

/* ---- Findings ---- */

static oif_finding move_finding(const oif_model *m)
{
    static const oif_reason reasons[] = {OIF_REASON_JUMP, OIF_REASON_FLUTTER, OIF_REASON_SHAPE};
    const size_t place = m->judge - move_judge(m, 0, 0);
    const oif_move move = (oif_move)(place / m->columns);
    const uint32_t column = (uint32_t)(place % m->columns);
    return (oif_finding){.reason = reasons[move],
                         .direction = oif_motion_direction(motion_of(m), move, column),
                         .column = column};
}

oif_finding oif_model_finding(const oif_model *m)
{
    const size_t sense = m->judge - m->detector_count;
    if (m->judge >= move_judge(m, 0, 0))
        return move_finding(m);
    if (sense < senses_of(m)->count)
        return senses_of(m)->findings[sense];
    if (!is_by_category(m))
        return (oif_finding){.reason = OIF_REASON_FIRST_VALUE,
                             .column = (uint32_t)(m->judge - first_value_judge(m, 0))};
    const oif_derived_state *derived = derived_of(m);
    return (oif_finding){.reason = derived->is_new ? OIF_REASON_NEW_VALUE : OIF_REASON_RARE_VALUE,
                         .direction = 1,
                         .column = derived->surprising_column};
}

/* ---- Shares ---- */

double oif_model_departure(const oif_usual *usual, double number, double share)
{
    const double most = 1e6 /* for a column that was constant */, rather_far = 10;
    bool is_missing = number != number, was_missing = usual->half_mean != usual->half_mean;
    if (is_missing && was_missing)
        return 0;
    if (is_missing || was_missing)
        return share > 0.5 ? most : rather_far;
    double away = fabs(number / 2 - usual->half_mean);
    if (away == 0)
        return 0;
    return away < most * usual->half_spread ? away / usual->half_spread : most;
}

/* The trees of a forest detect that a value is beyond all others, but not how far. So a column's
 * share of the score is multiplied by the distance of its value from the usual one. A column that
 * the trees happen not to have cut gets part of the average share. */
const double *oif_model_shares(oif_model *model)
{
    const size_t columns = model->columns;
    const double *row = last_row_of(model);
    double *shares = oif_block_part(model, model->at.shares), sum = 0;
    const size_t step = model->options.motion ? columns + OIF_MOVES : columns;
    if (oif_detector_explain(model->detectors[model->judge], oif_model_recent(model), step, shares,
                             scratch_of(model), NULL) != OIF_OK)
        memset(shares, 0, columns * sizeof *shares); /* only an infinity could fail */
    for (size_t i = 0; i < columns; i++) {
        double away = oif_model_departure(&oif_model_usual(model)[i], row[i], shares[i]);
        shares[i] = (shares[i] + 0.5 / (double)columns) * away * away;
        sum += shares[i];
    }
    for (size_t i = 0; i < columns && sum > 0; i++)
        shares[i] /= sum;
    return shares;
}

int oif_model_direction(const oif_model *model, size_t column)
{
    const double half = last_row_of(model)[column] / 2,
                 usual = oif_model_usual(model)[column].half_mean;
    return (half > usual) - (half < usual);
}

static void explain_values(oif_model *model, oif_attribution *attributions)
{
    const double *shares = oif_model_shares(model);
    for (size_t i = 0; i < model->columns; i++) {
        attributions[i].share = shares[i];
        attributions[i].direction = oif_model_direction(model, i);
    }
}

void oif_model_explain(oif_model *model, oif_attribution *attributions)
{
    if (model->judge < model->detector_count) {
        explain_values(model, attributions);
    } else {
        const oif_finding found = oif_model_finding(model);
        attributions[found.column] = (oif_attribution){.share = 1,
                                                       .direction = found.direction,
                                                       .reason = found.reason,
                                                       .partner = found.partner};
    }
    oif_alerts_note_reason(&model->alerts, model->rows, last_row_of(model), attributions,
                           model->columns);
}

bool oif_model_episode(const oif_model *model, oif_episode_info *episode)
{
    *episode = model->alerts.episode;
    episode->partner = OIF_UNKNOWN_COLUMN;
    if (episode->reason == OIF_REASON_PARTNER && episode->column < model->columns) {
        const size_t partner = oif_senses_partner(senses_of(model), episode->column);
        if (partner != episode->column)
            episode->partner = (uint32_t)partner;
    }
    return episode->number > 0;
}
