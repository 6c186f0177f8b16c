/* A model whose rows get more columns: it continues as if these had been missing until now.
 *
 *     row, detectors, ranges     new columns are missing in all rows so far
 *     judges                     they begin with the next row; the search for partners starts over
 *     gate, pauses               as they are: they do not depend on the columns
 */
#include "pipeline/model/model_parts.h"

#include <string.h>

static void copy_head(oif_model *wide, const oif_model *m)
{
    oif_model_set_options(wide, &m->options);
    wide->rows = m->rows;
    wide->gate = m->gate;
    wide->pauses = m->pauses;
    wide->judge = m->judge;
    wide->detector = m->detector;
    wide->found = m->found;
    memcpy(wide->before, m->before, sizeof wide->before);
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
                                   .others = model->options.moves ? OIF_MOVES : 0};
    copy_head(wide, model);
    oif_judges_widen(judges_of(wide), judges_of(model));
    oif_widen_row(&widening, oif_model_recent(model), oif_model_recent(wide));
    widen_derived(wide, model);
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_widen(wide->detectors[i], model->detectors[i], &widening);
}
