/* The fields of a model, and whether they are possible. */
#include "base/error.h"
#include "pipeline/model/model_parts.h"

#include <float.h>
#include <math.h>

void oif_model_visit_fields(oif_model *m, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "rows", &m->rows, 1);
    oif_visit_u32(visitor, "recent_anomalies", &m->recent_anomalies, 1);
    oif_visit_u32(visitor, "same_rows", &m->same_rows, 1);
    oif_visit_f64(visitor, "recent", oif_model_recent(m), m->options.shingle * m->columns);
    for (size_t i = 0; i < m->columns; i++) {
        oif_visit_f64(visitor, "half_mean", &oif_model_usual(m)[i].half_mean, 1);
        oif_visit_f64(visitor, "half_spread", &oif_model_usual(m)[i].half_spread, 1);
    }
    oif_model_count_unseen(m);
    oif_score_history_visit_fields(&m->history, visitor);
    if (oif_model_judges(m) > 0)
        oif_visit_u32(visitor, "judge", &m->judge, 1);
    oif_alert_level_visit_fields(&m->level, visitor);
    oif_visit_f64(visitor, "debts", m->debts, persistence_of(m) + 1);
    oif_visit_f64(visitor, "fatigues", m->fatigues, senses_of(m)->count);
    oif_visit_u32(visitor, "opened_by", &m->opened_by, 1);
    if (m->options.persistence > 1)
        oif_visit_f64(visitor, "severities", m->severities, m->options.persistence);
    oif_senses_visit_fields(senses_of(m), visitor);
    if (m->options.motion)
        oif_motion_visit_fields(motion_of(m), visitor);
    for (size_t i = 0; i < oif_model_judges(m); i++)
        oif_judge_visit_fields(&judges_of(m)[i], visitor);
    if (m->plan->count > 0)
        oif_derived_state_visit_fields(m->plan, derived_of(m), visitor);
    oif_alerts_visit_fields(&m->alerts, visitor);
}

void oif_model_unchanged(const oif_model *m, const oif_unchanged *unchanged)
{
    oif_score_history_unchanged(&m->history, unchanged);
    for (size_t i = 0; i < oif_model_judges(m); i++)
        oif_score_history_unchanged(&judges_of(m)[i].history, unchanged);
    oif_senses_unchanged(senses_of(m), unchanged);
    if (m->options.motion)
        oif_motion_unchanged(motion_of(m), unchanged);
}

static bool has_infinity(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(numbers[i]) > DBL_MAX)
            return true;
    return false;
}

static bool knows_usual(const oif_model *m)
{
    for (size_t i = 0; i < m->columns; i++) {
        const oif_usual *usual = &oif_model_usual(m)[i];
        if (fabs(usual->half_mean) > DBL_MAX ||
            !(usual->half_spread >= 0 && usual->half_spread <= DBL_MAX))
            return false;
    }
    return true;
}

oif_status oif_model_check_own(const oif_model *model, oif_error *error)
{
    const oif_model_options *options = &model->options;
    if (model->recent_anomalies > options->patience || model->same_rows > OIF_MODEL_SAME_ROWS)
        return oif_fail(error, OIF_EINVARIANT, "the model counts more rows than its options allow");
    if (!oif_alerts_check(&model->alerts, model->rows, model->columns))
        return oif_fail(error, OIF_EINVARIANT, "the last episode or pause is inconsistent");
    if (has_infinity(oif_model_recent(model), options->shingle * model->columns))
        return oif_fail(error, OIF_EINVARIANT, "a value of the last rows is infinite");
    if (model->plan->count > 0 && !oif_derived_state_check(model->plan, derived_of(model)))
        return oif_fail(error, OIF_EINVARIANT, "the previous values of a column are not possible");
    if (!knows_usual(model))
        return oif_fail(error, OIF_EINVARIANT, "the usual values of a column are not finite");
    if (!oif_score_history_check(&model->history))
        return oif_fail(error, OIF_EINVARIANT, "the history of scores is inconsistent");
    if (model->judge >= move_judge(model, model->options.motion ? OIF_MOVES : 0, 0) ||
        (is_by_category(model) && model->plan->categories == 0))
        return oif_fail(error, OIF_EINVARIANT, "the last row was judged by no detector or sense");
    if (!oif_alert_level_check(&model->level))
        return oif_fail(error, OIF_EINVARIANT, "more episodes are overspent than can be");
    for (uint32_t i = 0; i <= OIF_SENSES_MAX; i++)
        if (!(model->debts[i] >= 0 && model->debts[i] <= 2 * OIF_MODEL_MOST_DEBT))
            return oif_fail(error, OIF_EINVARIANT, "the debt of a sense is out of range");
    for (uint32_t i = 0; i < OIF_SENSES_MAX; i++)
        if (!(model->fatigues[i] >= 0 && model->fatigues[i] <= DBL_MAX))
            return oif_fail(error, OIF_EINVARIANT, "the fatigue of a sense is out of range");
    if (model->opened_by > persistence_of(model) + 1)
        return oif_fail(error, OIF_EINVARIANT, "the last episode was opened by no sense");
    for (uint32_t i = 0; i < options->persistence; i++)
        if (!(fabs(model->severities[i]) <= DBL_MAX))
            return oif_fail(error, OIF_EINVARIANT, "the severity of a row is not finite");
    for (size_t i = 0; i < oif_model_judges(model); i++)
        if (!oif_score_history_check(&judges_of(model)[i].history))
            return oif_fail(error, OIF_EINVARIANT, "the history of a judge is inconsistent");
    const oif_status status = oif_senses_check(senses_of(model), error);
    return status == OIF_OK && model->options.motion ? oif_motion_check(motion_of(model), error)
                                                     : status;
}

oif_status oif_model_check(const oif_model *model, oif_error *error)
{
    oif_status status = oif_model_check_own(model, error);
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_detector_check(model->detectors[i], error);
    return status;
}
