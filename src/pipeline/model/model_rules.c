/* Whether people want an alert: the rules are asked about each column that caused it. */
#include "pipeline/model/model_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How far a value is outside a range, and as a share of its nearer end. */
static void measure_change(const oif_expected *expected, double value, oif_rule_question *asked)
{
    const double below = expected->low - value, above = value - expected->high,
                 outside = below > above ? below : above,
                 end = fabs(below > above ? expected->low : expected->high);
    asked->change = outside > 0 ? outside : outside <= 0 ? 0 : NAN;
    asked->change_share = asked->change > 0 ? asked->change / end : asked->change;
}

/* Whether the reason is about how large a value is. */
static bool has_size(oif_reason reason)
{
    return reason == OIF_REASON_VALUES || reason == OIF_REASON_SEASON ||
           reason == OIF_REASON_PARTNER || reason == OIF_REASON_JUMP;
}

/* The question about a column; `number` has room for the name of a column without one. */
static oif_rule_question question_about(const oif_model *m, const oif_row_rules *rules,
                                        size_t column, char number[24])
{
    const size_t source = oif_derived_source(m->plan, column, &(oif_derive){OIF_DERIVE_NONE});
    const char *name = oif_column_names_at(rules->names, source);
    if (!name) {
        snprintf(number, 24, "%zu", source + 1);
        name = number;
    }
    return (oif_rule_question){.column = {name, strlen(name)}, .key = rules->key};
}

/* Asks about one column. */
static uint32_t ask(const oif_model *m, const oif_row_rules *rules, const oif_finding *found,
                    double seconds)
{
    char number[24];
    oif_rule_question asked = question_about(m, rules, found->column, number);
    const oif_expected expected = oif_model_expected(m, found->column);
    asked.reason = found->reason;
    asked.direction = found->direction;
    asked.seconds = seconds;
    asked.change = asked.change_share = NAN;
    if (has_size(found->reason))
        measure_change(&expected, last_row_of(m)[found->column], &asked);
    return oif_rules_mute(rules->rules, &asked);
}

/* Columns with small shares do not decide. */
static uint32_t ask_about_values(oif_model *m, const oif_row_rules *rules, double seconds)
{
    const double least = 0.02;
    const double *shares = oif_model_shares(m);
    double held = 0, open = 0, most = 0;
    uint32_t rule = 0;
    for (uint32_t i = 0; i < m->columns; i++) {
        if (!(shares[i] > least))
            continue;
        const oif_finding found = {.column = i, .direction = oif_model_direction(m, i)};
        const uint32_t by = ask(m, rules, &found, seconds);
        *(by > 0 ? &held : &open) += shares[i];
        if (by > 0 && shares[i] > most) {
            most = shares[i];
            rule = by;
        }
    }
    return held >= open ? rule : 0;
}

uint32_t oif_model_muted_by(oif_model *model, const oif_row_rules *rules, double seconds,
                            const oif_result *result)
{
    if (result->reason == OIF_REASON_VALUES && model->judge < model->detector_count)
        return ask_about_values(model, rules, seconds);
    const oif_finding found = oif_model_finding(model);
    return ask(model, rules, &found, seconds);
}
