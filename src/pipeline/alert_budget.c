#include "pipeline/alert_budget.h"

#include "base/stable_math.h"

#include <float.h>
#include <math.h>

static const double day = 86400;

static const double gain = 0.25; /* of the correction, per episode */
/* Bounds of the correction. They limit wind-up: upwards in a stream without anomalies, downwards in
 * an incident of many episodes. */
static const double lowest = -6, highest = 4;

static const double rows_known = 32;   /* needed before the rate is known */
static const double counted_days = 28; /* over which rows per second are averaged */
static const double least_rate = 1e-9, most_rate = 0.1;
static const double most_anomalies = 1024; /* of an episode: more is an incident */

void oif_alert_budget_init(oif_alert_budget *budget, double per_day, double calm)
{
    *budget = (oif_alert_budget){
        .per_day = per_day, .calm = calm, .last_seconds = NAN, .episode_anomalies = 1};
}

static void correct(oif_alert_budget *b, double change)
{
    b->correction += change;
    if (b->correction < lowest)
        b->correction = lowest;
    if (b->correction > highest)
        b->correction = highest;
}

void oif_alert_budget_pass(oif_alert_budget *budget, double seconds)
{
    double passed = seconds - budget->last_seconds;
    if (seconds != seconds || (passed < 0 && passed > -counted_days * day))
        return; /* unknown, or a late row */
    budget->last_seconds = seconds;
    if (!(passed >= 0))
        return; /* the first row, or the previous time was wrong */
    budget->rows++;
    budget->seconds += passed < counted_days * day ? passed : counted_days * day;
    if (budget->seconds > counted_days * day && budget->rows >= 2 * rows_known) {
        budget->rows /= 2;
        budget->seconds /= 2;
    }
    if (budget->rows >= rows_known)
        correct(budget, gain * budget->per_day * (passed / day));
}

void oif_alert_budget_begin(oif_alert_budget *budget)
{
    correct(budget, -gain);
}

/* A single incident with thousands of anomalies must not move the mean far. */
void oif_alert_budget_end(oif_alert_budget *budget, double anomalies)
{
    const double few = 4, weight = 0.125;
    double usual = budget->episode_anomalies;
    double counted = anomalies < few * usual ? anomalies : few * usual;
    usual += (counted - usual) * weight;
    budget->episode_anomalies = usual < most_anomalies ? usual : most_anomalies;
}

double oif_alert_budget_rate(const oif_alert_budget *b)
{
    if (!(b->per_day > 0 && b->rows >= rows_known && b->seconds > 0))
        return 0;
    double rows_per_day = b->rows / b->seconds * day;
    double rate = b->per_day / rows_per_day * b->episode_anomalies * oif_exp2(b->correction);
    /* More anomalies than this prolong episodes instead of adding new ones. */
    double most = 1 / b->calm < most_rate ? 1 / b->calm : most_rate;
    return rate < least_rate ? least_rate : rate > most ? most : rate;
}

void oif_alert_budget_visit_fields(oif_alert_budget *b, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "last_seconds", &b->last_seconds, 1);
    oif_visit_f64(visitor, "counted_rows", &b->rows, 1);
    oif_visit_f64(visitor, "counted_seconds", &b->seconds, 1);
    oif_visit_f64(visitor, "episode_anomalies", &b->episode_anomalies, 1);
    oif_visit_f64(visitor, "correction", &b->correction, 1);
}

bool oif_alert_budget_check(const oif_alert_budget *b)
{
    /* Few rows are not halved, however long they took. */
    const double most_days =
        b->rows > 1 && b->rows < 2 * rows_known ? b->rows * counted_days : counted_days;
    return !(fabs(b->last_seconds) > DBL_MAX) && b->rows >= 0 && b->rows < 0x1p60 &&
           b->seconds >= 0 && b->seconds <= most_days * day && b->episode_anomalies >= 1 &&
           b->episode_anomalies <= most_anomalies && b->correction >= lowest &&
           b->correction <= highest;
}
