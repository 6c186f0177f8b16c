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
static void explain_values(oif_model *model, oif_attribution *attributions)
{
    const size_t columns = model->columns;
    const double *recent = oif_model_recent(model),
                 *row = recent + (model->options.shingle - 1) * columns;
    double *shares = (double *)((unsigned char *)model + model->shares_at), sum = 0;
    const size_t step = model->options.motion ? columns + OIF_MOVES : columns;
    if (oif_detector_explain(model->detectors[model->judge], recent, step, shares,
                             scratch_of(model), NULL) != OIF_OK)
        memset(shares, 0, columns * sizeof *shares); /* only an infinity could fail */
    for (size_t i = 0; i < columns; i++) {
        const oif_usual *usual = &oif_model_usual(model)[i];
        double away = oif_model_departure(usual, row[i], shares[i]);
        attributions[i].share = (shares[i] + 0.5 / (double)columns) * away * away;
        attributions[i].direction =
            (row[i] / 2 > usual->half_mean) - (row[i] / 2 < usual->half_mean);
        sum += attributions[i].share;
    }
    for (size_t i = 0; i < columns && sum > 0; i++)
        attributions[i].share /= sum;
    oif_alerts_note_reason(&model->alerts, model->rows, row, attributions, columns);
}

void oif_model_explain(oif_model *model, oif_attribution *attributions)
{
    if (model->judge < model->detector_count) {
        explain_values(model, attributions);
        return;
    }
    const oif_finding found = oif_model_finding(model);
    oif_attribution *attribution = &attributions[found.column];
    attribution->share = 1;
    attribution->direction = found.direction;
    attribution->reason = found.reason;
    attribution->partner = found.partner;
    const double *row = oif_model_recent(model) + (model->options.shingle - 1) * model->columns;
    oif_alerts_note_reason(&model->alerts, model->rows, row, attributions, model->columns);
}
