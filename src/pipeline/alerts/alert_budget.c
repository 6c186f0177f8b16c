#include "pipeline/alerts/alert_budget.h"

#include "base/stable_math.h"

#include <float.h>
#include <math.h>

static const double day = 86400, log10_of_2 = 0.30102999566398120;

/* ---- The level ---- */

static const double first_step = 0.1; /* of the bar, for an episode at the wanted rate */
static const double highest_bar = 16; /* from here on no episode begins */
static const double episode_rows = 3; /* alerts of a usual episode */

/* The largest share of rows that are alerts, unless more episodes are wanted. */
static const double told_apart = 0.01;

/* Only a damaged snapshot has more. */
static const double least_overspent = -1000, most_overspent = 30, most_alert_rows = 512;

static double severity_of_share(double share)
{
    return share < 1 ? -oif_log2(share) * log10_of_2 : 0;
}

static double lowest_bar(double rate)
{
    return severity_of_share(rate > told_apart ? rate : told_apart);
}

/* The first rows of a stream explore its range: each new extreme looks rarer than it is. Where more
 * alerts are wanted than the tail has rows, that does not matter. */
static double more_at_start(double rate, double scores)
{
    const double times = 0.5, start_rows = 4000;
    return rate < told_apart ? times * log10_of_2 * oif_log2(1 + start_rows / (scores + 1)) : 0;
}

static double bar_without_correction(double rate, double scores, double lowest)
{
    const double first = severity_of_share(episode_rows * rate);
    return (first > lowest ? first : lowest) + more_at_start(rate, scores);
}

static double correction_of(double overspent)
{
    const double log2_of_e = 1.4426950408889634, steps = first_step * overspent;
    return steps < 0 ? steps : oif_exp2(steps * log2_of_e) - 1;
}

static double correction_of_rows(double alert_rows)
{
    const double allowed = 32, step = 0.05;
    return alert_rows > allowed ? step * (alert_rows - allowed) : 0;
}

/* Chosen together: the total stays what was wanted (docs/measurements/reality.md). */
double oif_alert_cost(bool is_by_sense)
{
    return is_by_sense ? 0.4 : 1.2;
}

double oif_alert_level_bar(const oif_alert_level *level, double rate, double scores, double paid)
{
    const double lowest = lowest_bar(rate);
    const double bar = bar_without_correction(rate, scores, lowest) +
                       correction_of(level->overspent - paid) +
                       correction_of_rows(level->alert_rows);
    return bar < lowest ? lowest : bar < highest_bar ? bar : INFINITY;
}

void oif_alert_level_pass(oif_alert_level *level, double rate, double scores, double earned)
{
    /* Once the bar is at its lowest, nothing more is saved up. */
    const double lowest = lowest_bar(rate), left = level->overspent - earned,
                 least = (lowest - bar_without_correction(rate, scores, lowest)) / first_step;
    if (level->overspent > least)
        level->overspent = left > least ? left : least;
}

void oif_alert_level_begin(oif_alert_level *level, double cost)
{
    level->overspent += level->overspent < most_overspent - cost ? cost : 0;
}

void oif_alert_level_count_rows(oif_alert_level *level, bool is_alert)
{
    const double alert_share = 0.016, counted = level->alert_rows + is_alert - alert_share;
    level->alert_rows = counted < 0 ? 0 : counted < most_alert_rows ? counted : most_alert_rows;
}

void oif_alert_level_visit_fields(oif_alert_level *level, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "overspent", &level->overspent, 1);
    oif_visit_f64(visitor, "alert_rows", &level->alert_rows, 1);
}

bool oif_alert_level_check(const oif_alert_level *level)
{
    return level->overspent >= least_overspent && level->overspent <= most_overspent &&
           level->alert_rows >= 0 && level->alert_rows <= most_alert_rows;
}

/* ---- Episodes per day ---- */

static const double rows_known = 32;   /* needed before the rate is known */
static const double counted_days = 28; /* over which rows per second are averaged */
static const double least_rate = 1e-9, most_rate = 0.1;

void oif_alert_budget_init(oif_alert_budget *budget, double per_day)
{
    *budget = (oif_alert_budget){.per_day = per_day, .last_seconds = NAN};
}

double oif_alert_budget_pass(oif_alert_budget *budget, double seconds)
{
    const double passed = seconds - budget->last_seconds, most = counted_days * day;
    if (seconds != seconds || (passed < 0 && passed > -most))
        return 0; /* unknown, or a late row */
    budget->last_seconds = seconds;
    if (!(passed >= 0))
        return 0; /* the first row, or the previous time was wrong */
    const double counted = passed < most ? passed : most;
    budget->rows++;
    budget->seconds += counted;
    if (budget->seconds > most && budget->rows >= 2 * rows_known) {
        budget->rows /= 2;
        budget->seconds /= 2;
    }
    return budget->rows >= rows_known ? budget->per_day * (counted / day) : 0;
}

double oif_alert_budget_rate(const oif_alert_budget *b)
{
    if (!(b->per_day > 0 && b->rows >= rows_known && b->seconds > 0))
        return 0;
    const double rate = b->per_day / (b->rows / b->seconds * day);
    return rate < least_rate ? least_rate : rate > most_rate ? most_rate : rate;
}

void oif_alert_budget_visit_fields(oif_alert_budget *b, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "last_seconds", &b->last_seconds, 1);
    oif_visit_f64(visitor, "counted_rows", &b->rows, 1);
    oif_visit_f64(visitor, "counted_seconds", &b->seconds, 1);
    oif_alert_level_visit_fields(&b->level, visitor);
}

bool oif_alert_budget_check(const oif_alert_budget *b)
{
    /* Few rows are not halved, however long they took. */
    const double most_days =
        b->rows > 1 && b->rows < 2 * rows_known ? b->rows * counted_days : counted_days;
    return !(fabs(b->last_seconds) > DBL_MAX) && b->rows >= 0 && b->rows < 0x1p60 &&
           b->seconds >= 0 && b->seconds <= most_days * day && oif_alert_level_check(&b->level);
}
