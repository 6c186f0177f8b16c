#include "pipeline/alerts/alert_budget.h"

#include "pipeline/alerts/gate.h"

#include <float.h>
#include <math.h>

static const double day = 86400, most_days = 28; /* of a pause that earn */

void oif_alert_budget_init(oif_alert_budget *budget, double per_day)
{
    *budget = (oif_alert_budget){.per_day = per_day, .last_seconds = NAN};
}

double oif_alert_budget_pass(oif_alert_budget *budget, double seconds)
{
    const double days = (seconds - budget->last_seconds) / day;
    if (seconds != seconds)
        return NAN;
    if (days <= 0 && days > -most_days)
        return 0; /* a late row */
    budget->last_seconds = seconds;
    if (!(days > 0))
        return 0; /* the first row, or the previous time was wrong */
    return budget->per_day * (days < most_days ? days : most_days);
}

void oif_alert_budget_visit_fields(oif_alert_budget *budget, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "last_seconds", &budget->last_seconds, 1);
    oif_visit_f64(visitor, "overspent", &budget->overspent, 1);
}

bool oif_alert_budget_check(const oif_alert_budget *budget)
{
    return !(fabs(budget->last_seconds) > DBL_MAX) && oif_gate_could_owe(budget->overspent);
}
