/* The fields of a model, and whether they are possible. */
#include "base/error.h"
#include "pipeline/model/model_parts.h"

#include <float.h>
#include <math.h>

static void visit_found(oif_finding *found, oif_state_visitor *visitor)
{
    uint32_t reason = (uint32_t)found->reason;
    oif_visit_f64(visitor, "found_severity", &found->severity, 1);
    oif_visit_f64(visitor, "found_size", &found->size, 1);
    oif_visit_f64(visitor, "found_usual", &found->usual, 1);
    oif_visit_u32(visitor, "found_reason", &reason, 1);
    oif_visit_i32(visitor, "found_direction", &found->direction, 1);
    oif_visit_u32(visitor, "found_column", &found->column, 1);
    oif_visit_u32(visitor, "found_partner", &found->partner, 1);
    found->reason = (oif_reason)reason;
}

void oif_model_visit_fields(oif_model *m, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "rows", &m->rows, 1);
    oif_visit_f64(visitor, "recent", oif_model_recent(m),
                  oif_model_numbers(&m->options, m->columns));
    oif_visit_u32(visitor, "judge", &m->judge, 1);
    oif_visit_u32(visitor, "detector", &m->detector, 1);
    visit_found(&m->found, visitor);
    oif_visit_f64(visitor, "before", m->before, 2);
    oif_judges_visit_fields(judges_of(m), visitor);
    if (m->plan->count > 0)
        oif_derived_state_visit_fields(m->plan, derived_of(m), visitor);
    oif_gate_visit_fields(&m->gate, visitor);
    oif_pauses_visit_fields(&m->pauses, visitor);
}

void oif_model_unchanged(const oif_model *m, const oif_unchanged *unchanged)
{
    oif_judges_unchanged(judges_of(m), unchanged);
}

static bool has_infinity(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(numbers[i]) > DBL_MAX)
            return true;
    return false;
}

static bool is_found(const oif_model *m)
{
    const oif_finding *found = &m->found;
    return m->judge < OIF_JUDGES && m->detector < m->detector_count && found->column < m->columns &&
           found->partner < m->columns && found->direction >= -1 && found->direction <= 1 &&
           (unsigned)found->reason < OIF_REASONS && fabs(found->severity) <= DBL_MAX &&
           !isinf(found->size) && !isinf(found->usual);
}

oif_status oif_model_check_own(const oif_model *model, oif_error *error)
{
    if (!oif_gate_check(&model->gate, model->rows, model->columns))
        return oif_fail(error, OIF_EINVARIANT, "the last episode is inconsistent");
    if (!oif_pauses_check(&model->pauses))
        return oif_fail(error, OIF_EINVARIANT, "the last pause is inconsistent");
    if (has_infinity(oif_model_recent(model), oif_model_numbers(&model->options, model->columns)))
        return oif_fail(error, OIF_EINVARIANT, "a value of the last rows is infinite");
    if (model->plan->count > 0 && !oif_derived_state_check(model->plan, derived_of(model)))
        return oif_fail(error, OIF_EINVARIANT, "the previous values of a column are not possible");
    if (!is_found(model))
        return oif_fail(error, OIF_EINVARIANT, "the last row was judged by no judge");
    for (size_t i = 0; i < 2; i++)
        if (!(model->before[i] >= 0 && model->before[i] <= DBL_MAX))
            return oif_fail(error, OIF_EINVARIANT, "a severity of the last rows is impossible");
    return oif_judges_check(judges_of(model), error);
}

oif_status oif_model_check(const oif_model *model, oif_error *error)
{
    oif_status status = oif_model_check_own(model, error);
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_detector_check(model->detectors[i], error);
    return status;
}
