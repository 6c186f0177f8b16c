/* A model learns a finished table as a whole, before its rows are processed one by one. */
#include "pipeline/model/model_parts.h"

void oif_model_observe(oif_model *model, const double *row, double seconds)
{
    oif_finding findings[OIF_JUDGES];
    row = oif_model_derive(model, row, seconds);
    (void)oif_model_join(model, row);
    oif_judges_observe(judges_of(model), row, seconds, findings);
    oif_judges_learn(judges_of(model), row);
}

oif_status oif_model_learn_table(oif_model *model, const oif_table_rows *rows, oif_error *error)
{
    oif_status status = OIF_OK;
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_held_out_learn_all(model->detectors[i], rows, error);
    oif_judges_rewind(judges_of(model), &model->options.judges);
    if (model->plan->count > 0)
        oif_derived_state_init(model->plan, derived_of(model));
    model->rows = 0;
    return status;
}
