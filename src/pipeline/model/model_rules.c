/* Whether people want an alert: the rules are asked about each column that caused it. */
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <string.h>

/* Columns with smaller shares do not decide. */
static const double least_share = 0.02;

/* How far a value is outside a range, and as a share of its nearer end; if it is further outside
 * than of a range before. */
static void measure_change(const oif_expected *expected, double value, oif_alert_cause *cause)
{
    const double below = expected->low - value, above = value - expected->high,
                 outside = below > above ? below : above,
                 end = fabs(below > above ? expected->low : expected->high),
                 change = outside > 0    ? outside
                          : outside <= 0 ? 0
                                         : NAN;
    if (change != change || change < cause->change)
        return;
    cause->change = change;
    cause->change_share = change > 0 ? change / end : 0;
}

/* Whether the reason is about how large a value is. */
static bool has_size(oif_reason reason)
{
    return reason == OIF_REASON_VALUES || reason == OIF_REASON_SEASON ||
           reason == OIF_REASON_PARTNER || reason == OIF_REASON_JUMP ||
           reason == OIF_REASON_LEVEL || reason == OIF_REASON_SPREAD;
}

static oif_alert_cause cause_of(const oif_model *m, const oif_finding *found, double share)
{
    oif_alert_cause cause = {.column = found->column,
                             .direction = found->direction,
                             .share = share,
                             .change = NAN,
                             .change_share = NAN};
    if (!has_size(found->reason))
        return cause;
    const double value = last_row_of(m)[found->column];
    const oif_expected expected = oif_model_expected_by(m, found, found->column);
    measure_change(&expected, value, &cause);
    if (found->reason == OIF_REASON_JUMP) { /* the same fault is a high value in another row */
        const oif_finding by_values = {.column = OIF_UNKNOWN_COLUMN};
        const oif_expected usual = oif_model_expected_by(m, &by_values, found->column);
        measure_change(&usual, value, &cause);
    }
    return cause;
}

/* The part that a column has in a score by the detectors. */
static oif_alert_cause cause_by_value(const oif_model *m, uint32_t column, double share)
{
    const oif_finding found = {
        .column = column, .direction = oif_watch_side(watch_of(m), column, last_row_of(m)[column])};
    return cause_of(m, &found, share);
}

/* Asks about one column. */
static uint32_t ask(const oif_model *m, const oif_row_rules *rules, oif_reason reason,
                    const oif_alert_cause *cause, double seconds)
{
    char number[OIF_COLUMN_NUMBER_BYTES];
    const oif_rule_columns columns = {m->plan, rules->names};
    const oif_rule_question asked = {.column =
                                         oif_rule_column_name(&columns, cause->column, number),
                                     .key = rules->key,
                                     .reason = reason,
                                     .direction = cause->direction,
                                     .change = cause->change,
                                     .change_share = cause->change_share,
                                     .seconds = seconds};
    return oif_rules_mute(rules->rules, &asked);
}

static uint32_t ask_about_values(oif_model *m, const oif_row_rules *rules, double seconds)
{
    const double *shares = oif_model_shares(m);
    double held = 0, open = 0, most = 0;
    uint32_t rule = 0;
    for (uint32_t i = 0; i < m->columns; i++) {
        if (!(shares[i] > least_share))
            continue;
        const oif_alert_cause cause = cause_by_value(m, i, shares[i]);
        const uint32_t by = ask(m, rules, OIF_REASON_VALUES, &cause, seconds);
        *(by > 0 ? &held : &open) += shares[i];
        if (by > 0 && shares[i] > most) {
            most = shares[i];
            rule = by;
        }
    }
    return held >= open ? rule : 0;
}

uint32_t oif_model_muted_by(oif_model *model, const oif_row_rules *rules, double seconds,
                            oif_judge judge, const oif_finding *found)
{
    if (judge == OIF_JUDGE_VALUES)
        return ask_about_values(model, rules, seconds);
    const oif_alert_cause cause = cause_of(model, found, 1);
    return ask(model, rules, found->reason, &cause, seconds);
}

bool oif_model_is_value_muted(const oif_model *model, const oif_row_rules *rules, double seconds,
                              const oif_finding *found)
{
    const oif_alert_cause cause = cause_by_value(model, found->column, 1);
    return ask(model, rules, OIF_REASON_VALUES, &cause, seconds) > 0;
}

/* ---- Causes to keep ---- */

/* Keeps the highest shares, in their order; of equal ones, the first column. */
static void keep_cause(oif_alert_causes *causes, const oif_alert_cause *cause)
{
    uint32_t at = causes->count < OIF_ALERT_CAUSES_MAX ? causes->count++ : OIF_ALERT_CAUSES_MAX - 1;
    if (causes->list[at].share >= cause->share)
        return;
    for (; at > 0 && causes->list[at - 1].share < cause->share; at--)
        causes->list[at] = causes->list[at - 1];
    causes->list[at] = *cause;
}

void oif_model_find_causes(oif_model *model, oif_alert_causes *causes)
{
    memset(causes, 0, sizeof *causes);
    causes->reason = (uint32_t)model->found.reason;
    if (model->judge != OIF_JUDGE_VALUES) {
        const oif_alert_cause cause = cause_of(model, &model->found, 1);
        keep_cause(causes, &cause);
        return;
    }
    const double *shares = oif_model_shares(model);
    for (uint32_t i = 0; i < model->columns; i++)
        if (shares[i] > least_share) {
            const oif_alert_cause cause = cause_by_value(model, i, shares[i]);
            keep_cause(causes, &cause);
        }
}
