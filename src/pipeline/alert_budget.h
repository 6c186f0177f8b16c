/* A budget of episodes per day, converted to the fraction of rows to report.
 *
 *     rate  =  episodes wanted per row  x  anomalies per episode  x  2^correction
 *                    |                            |                      |
 *              rows per second              average so far        falls with each episode,
 *                                                                 rises with time
 *
 * The correction is constant on average if and only if episodes are as frequent as wanted. So in
 * the long run the budget is met for any stream. The other two factors are known early and keep the
 * rate close from the start.
 *
 * All keys of a pipeline share one budget.
 */
#ifndef OIF_PIPELINE_ALERT_BUDGET_H
#define OIF_PIPELINE_ALERT_BUDGET_H

#include "base/state_visitor.h"

#include <stdbool.h>

typedef struct oif_alert_budget {
    double per_day;           /* episodes; 0: no budget */
    double calm;              /* rows that end an episode */
    double last_seconds;      /* the latest time; NaN before the first */
    double rows, seconds;     /* so far; older ones count less */
    double episode_anomalies; /* the usual number, at least 1 */
    double correction;        /* of the binary logarithm of the rate */
} oif_alert_budget;

void oif_alert_budget_init(oif_alert_budget *budget, double per_day, double calm);

/* Call it for each row, with its time. */
void oif_alert_budget_pass(oif_alert_budget *budget, double seconds);

/* Call these when an episode begins, and when it ends, with its number of anomalies. */
void oif_alert_budget_begin(oif_alert_budget *budget);
void oif_alert_budget_end(oif_alert_budget *budget, double anomalies);

/* The fraction of rows to report; 0 while it is unknown. */
double oif_alert_budget_rate(const oif_alert_budget *budget);

void oif_alert_budget_visit_fields(oif_alert_budget *budget, oif_state_visitor *visitor);
bool oif_alert_budget_check(const oif_alert_budget *budget);

#endif
