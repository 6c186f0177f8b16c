/* A model whose rows get more columns: it continues as if these had been missing until now.
 *
 *     row, detectors, ranges     new columns are missing in all rows so far
 *     motion, senses             they begin with the next row; the search for partners starts over
 *     scores, budget, alerts     as they are: they do not depend on the columns
 */
#include "pipeline/model/model_parts.h"

#include <string.h>

/* The same judge; those that belong to a column or a move have other numbers now. */
static uint32_t widened_judge(const oif_model *wide, const oif_model *m)
{
    const size_t moves = first_value_judge(m, m->columns);
    if (m->judge < moves)
        return m->judge;
    const size_t move = (m->judge - moves) / m->columns, column = (m->judge - moves) % m->columns;
    return (uint32_t)move_judge(wide, (oif_move)move, column);
}

/* The counters and the alerts. */
static void copy_head(oif_model *wide, const oif_model *m)
{
    oif_model_set_options(wide, &m->options);
    wide->rows = m->rows;
    wide->recent_anomalies = m->recent_anomalies;
    wide->same_rows = m->same_rows;
    wide->alerts = m->alerts;
    wide->level = m->level;
    wide->history = m->history;
    wide->judge = widened_judge(wide, m);
    wide->opened_by = m->opened_by;
    memcpy(wide->debts, m->debts, sizeof wide->debts);
    memcpy(wide->fatigues, m->fatigues, sizeof wide->fatigues);
    memcpy(wide->severities, m->severities, sizeof wide->severities);
}

static void copy_judges(oif_model *wide, const oif_model *m)
{
    for (size_t i = 0; i < oif_model_judges(m); i++)
        judges_of(wide)[i] = judges_of(m)[i];
}

static void widen_derived(oif_model *wide, const oif_model *m)
{
    if (m->plan->count > 0)
        oif_derived_state_widen(wide->plan, derived_of(wide), m->plan, derived_of(m));
    else if (wide->plan->count > 0)
        derived_of(wide)->rows = m->rows;
}

void oif_model_widen(oif_model *wide, const oif_model *model)
{
    const oif_widening widening = {.rows = model->options.shingle,
                                   .before = model->columns,
                                   .after = wide->columns,
                                   .others = model->options.motion ? OIF_MOVES : 0};
    copy_head(wide, model);
    copy_judges(wide, model);
    oif_senses_widen(senses_of(wide), senses_of(model));
    oif_widen_row(&widening, oif_model_recent(model), oif_model_recent(wide));
    memcpy(oif_model_usual(wide), oif_model_usual(model), model->columns * sizeof(oif_usual));
    oif_model_count_unseen(wide);
    if (model->options.motion)
        oif_motion_widen(motion_of(wide), motion_of(model));
    widen_derived(wide, model);
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_widen(wide->detectors[i], model->detectors[i], &widening);
}
