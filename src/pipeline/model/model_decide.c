/* Which finding counts, and is the row anomalous? */
#include "pipeline/model/model_parts.h"

#include <math.h>

/* A frozen model judges a row the same way, whatever came before. */
static double bar_of(const oif_model *m)
{
    return is_frozen(m) ? OIF_LOWEST_BAR : oif_gate_bar(&m->gate);
}

bool oif_model_ready(const oif_model *model)
{
    return model->rows >= OIF_FIRST_ROWS;
}

static oif_judge most_severe(const oif_finding findings[OIF_JUDGES])
{
    oif_judge most = OIF_JUDGE_VALUES;
    for (oif_judge i = OIF_JUDGE_VALUES + 1; i < OIF_JUDGES; i++)
        if (findings[i].severity > findings[most].severity)
            most = i;
    return most;
}

/* Who gives the reason. That a column no longer follows another one, or is unusual for its time,
 * says less than that a value is far outside its usual ones. */
static oif_judge plainer(const oif_model *m, const oif_finding findings[OIF_JUDGES],
                         oif_judge judge, double bar)
{
    const double far = 8, *row = last_row_of(m);
    const oif_finding *found = &findings[judge];
    const oif_judge plain =
        findings[OIF_JUDGE_VALUES].severity > findings[OIF_JUDGE_CHANGE].severity
            ? OIF_JUDGE_VALUES
            : OIF_JUDGE_CHANGE;
    if (judge != OIF_JUDGE_PARTNER && judge != OIF_JUDGE_SEASON)
        return judge;
    const bool is_far =
        oif_watch_distance(watch_of(m), found->column, row[found->column]) > far ||
        (judge == OIF_JUDGE_PARTNER &&
         oif_watch_distance(watch_of(m), found->partner, row[found->partner]) > far);
    return is_far && findings[plain].severity > bar ? plain : judge;
}

/* Strikes out what a rule holds back, and what others found in the same column: the same news has
 * another name there, such as a high value that is high for its time, too. */
static void strike_out(const oif_model *m, const oif_row_rules *rules, double seconds,
                       oif_judge judge, oif_finding findings[OIF_JUDGES])
{
    const oif_finding held = findings[judge];
    for (oif_judge i = OIF_JUDGE_VALUES + 1; i < OIF_JUDGES; i++) {
        const bool is_same = judge == OIF_JUDGE_VALUES
                                 ? oif_model_is_value_muted(m, rules, seconds, &findings[i])
                                 : findings[i].column == held.column;
        if (is_same)
            findings[i].severity = 0;
    }
    findings[judge].severity = 0;
}

static void accept(oif_model *m, oif_judge judge, const oif_finding *found, oif_result *result)
{
    m->judge = judge;
    m->found = *found;
    result->severity = found->severity;
    result->reason = found->reason;
    if (judge == OIF_JUDGE_VALUES)
        result->detector = m->detector;
}

static void set_anomaly(oif_model *m, const oif_row_rules *rules, oif_result *result)
{
    result->anomaly = true;
    result->grade = oif_grade_of(result->severity);
    if (rules && rules->causes && oif_gate_is_news(&m->gate, m->rows, result))
        oif_model_find_causes(m, rules->causes);
}

void oif_model_decide(oif_model *m, oif_finding findings[OIF_JUDGES], double seconds,
                      const oif_row_rules *rules, oif_result *result)
{
    const bool has_rules = rules && rules->rules;
    accept(m, OIF_JUDGE_VALUES, &findings[OIF_JUDGE_VALUES], result);
    if (!result->ready) {
        result->severity = 0;
        return;
    }
    result->threshold = bar_of(m);
    for (oif_judge i = OIF_JUDGE_VALUES; i < OIF_JUDGES && !is_frozen(m); i++)
        findings[i].severity = oif_gate_severity(&m->gate, i, findings[i].severity);
    const oif_judge most = most_severe(findings);
    oif_judge judge = plainer(m, findings, most, result->threshold);
    findings[judge].severity = findings[most].severity;    /* it is the reason that is plainer */
    while (findings[judge].severity > result->threshold) { /* each time one less */
        const uint32_t rule =
            has_rules ? oif_model_muted_by(m, rules, seconds, judge, &findings[judge]) : 0;
        accept(m, judge, &findings[judge], result);
        if (rule == 0) {
            result->rule = 0; /* what it holds back is not all */
            set_anomaly(m, rules, result);
            return;
        }
        result->rule = result->rule > 0 ? result->rule : rule;
        strike_out(m, rules, seconds, judge, findings);
        judge = most_severe(findings);
    }
    if (result->rule == 0)
        result->severity = findings[judge].severity;
}
