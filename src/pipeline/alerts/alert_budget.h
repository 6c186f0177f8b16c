/* The budget of alerts: how severe a row must be to begin an episode, so that episodes are as
 * frequent as wanted.
 *
 *     bar  =  severity of the rows to report  +  more at the start  +  correction
 *                         |                              |                 |
 *           a few rows per episode wanted      few scores are known    f(overspent)
 *
 *     overspent   what episodes cost minus what rows earned; each row earns the wanted rate
 *     cost        1.2 for an episode that a detector begins, 0.4 for one by a sense
 *     f(s)        s / 10 if s < 0, exp(s / 10) - 1 otherwise
 *
 * This is adaptive conformal inference (Gibbs and Candes, 2021), counted in episodes. On average
 * the bar stays where it is if and only if episodes are as frequent as wanted. Each sense is also
 * limited by a debt of its own (model_row.c). If its episodes cost as much as those of detectors,
 * one talkative sense would raise the bar for all others, and they would miss real incidents. At
 * the highest bar no episode begins, so for any stream, whatever it does,
 *
 *     episodes in n rows  <=  2.5 (rate n + 29)
 *
 * A quiet stream spends its budget, too: the bar falls, but not below one
 * row in 100 (or the rate, if that is more).
 *
 * With `alert_rate` each model has its own level. With `alerts` per day, all keys of a pipeline
 * share one, time rather than rows earns the budget, and at most 2% of the rows are alerts in the
 * long run.
 */
#ifndef OIF_PIPELINE_ALERT_BUDGET_H
#define OIF_PIPELINE_ALERT_BUDGET_H

#include "base/state_visitor.h"

#include <stdbool.h>

/* ---- The level ---- */

typedef struct oif_alert_level {
    double overspent;  /* episodes */
    double alert_rows; /* more than allowed, if rows are counted */
} oif_alert_level;

/* What an episode costs. */
double oif_alert_cost(bool is_by_sense);

/* The severity that a row must exceed to begin an episode, if `rate` episodes per row are wanted
 * and that many scores are known; +infinity: none may begin. Within an episode, to continue it: the
 * bar at which it began. `paid`: the cost of the current episode; 0 outside one. */
double oif_alert_level_bar(const oif_alert_level *level, double rate, double scores, double paid);

/* Call it for each row with the episodes that it earns: those wanted per row. */
void oif_alert_level_pass(oif_alert_level *level, double rate, double scores, double earned);

/* Call it for each row to limit the rows in alerts, too: to 2% in the long run. A wanted number of
 * episodes alone does not: where episodes last, the bar would fall until most rows are in one. */
void oif_alert_level_count_rows(oif_alert_level *level, bool is_alert);

/* Call it when an episode begins, with its cost. */
void oif_alert_level_begin(oif_alert_level *level, double cost);

void oif_alert_level_visit_fields(oif_alert_level *level, oif_state_visitor *visitor);
bool oif_alert_level_check(const oif_alert_level *level);

/* ---- Episodes per day ---- */

typedef struct oif_alert_budget {
    double per_day;       /* episodes; 0: no budget */
    double last_seconds;  /* the latest time; NaN before the first */
    double rows, seconds; /* so far; older ones count less */
    oif_alert_level level;
} oif_alert_budget;

void oif_alert_budget_init(oif_alert_budget *budget, double per_day);

/* Call it for each row, with its time. Returns the episodes that it earns. */
double oif_alert_budget_pass(oif_alert_budget *budget, double seconds);

/* The episodes wanted per row; 0 while that is unknown. */
double oif_alert_budget_rate(const oif_alert_budget *budget);

void oif_alert_budget_visit_fields(oif_alert_budget *budget, oif_state_visitor *visitor);
bool oif_alert_budget_check(const oif_alert_budget *budget);

#endif
