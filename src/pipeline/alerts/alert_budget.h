/* A number of alerts per day that all keys of a pipeline share. The time between rows earns it; the
 * gate of each key (gate.h) borrows what is overspent for its row. */
#ifndef OIF_PIPELINE_ALERTS_ALERT_BUDGET_H
#define OIF_PIPELINE_ALERTS_ALERT_BUDGET_H

#include "base/state_visitor.h"

typedef struct oif_alert_budget {
    double per_day;      /* episodes; 0: no budget */
    double last_seconds; /* the latest time; NaN before the first */
    double overspent;    /* episodes */
} oif_alert_budget;

void oif_alert_budget_init(oif_alert_budget *budget, double per_day);

/* Call it for each row, with its time. Returns the episodes that it earns; NaN: the time is
 * unknown. */
double oif_alert_budget_pass(oif_alert_budget *budget, double seconds);

void oif_alert_budget_visit_fields(oif_alert_budget *budget, oif_state_visitor *visitor);
bool oif_alert_budget_check(const oif_alert_budget *budget);

#endif
