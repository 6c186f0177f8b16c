/* A budget of episodes per day: turns it into the share of rows to report.
 *
 *     rate  =  episodes wanted per row  x  anomalies per episode  x  2^correction
 *                    |                            |                      |
 *              rows per second            of what has happened     a bit less after each episode,
 *                                                                  a bit more as time passes
 *
 * The correction does not move on average if and only if episodes are as frequent as wanted. So
 * the budget is kept in the long run, whatever the stream is like. The two other factors are known
 * soon, and keep it near from the start.
 *
 * There is one budget for all keys of a pipeline.
 */
#ifndef OIF_PIPELINE_ALERT_BUDGET_H
#define OIF_PIPELINE_ALERT_BUDGET_H

#include "base/state_visitor.h"

#include <stdbool.h>

typedef struct oif_alert_budget {
    double per_day;           /* episodes; 0: there is no budget */
    double calm;              /* rows that end an episode */
    double last_seconds;      /* the latest time; NaN before the first */
    double rows, seconds;     /* that have passed, older ones count less */
    double episode_anomalies; /* the usual number, at least 1 */
    double correction;        /* of the binary logarithm of the rate */
} oif_alert_budget;

void oif_alert_budget_init(oif_alert_budget *budget, double per_day, double calm);

/* A row has come at this time. */
void oif_alert_budget_pass(oif_alert_budget *budget, double seconds);

/* An episode has begun; or has ended, with that many anomalies. */
void oif_alert_budget_begin(oif_alert_budget *budget);
void oif_alert_budget_end(oif_alert_budget *budget, double anomalies);

/* The share of rows to report; 0 while it is unknown. */
double oif_alert_budget_rate(const oif_alert_budget *budget);

void oif_alert_budget_visit_fields(oif_alert_budget *budget, oif_state_visitor *visitor);
bool oif_alert_budget_check(const oif_alert_budget *budget);

#endif
