/* The gate: severities in, episodes out.
 *
 *     bar       = lowest bar + (overspent > 0 ? exp(overspent / 10) - 1 : 0)
 *     overspent : + the cost of each episode, - the episodes that each row earns; at least -2
 *
 * The lowest bar says how sure an alert must be. What the rows earn is a cap: the most that a
 * healthy stream may cost, never a quota to fill. At the highest bar no episode begins, so whatever
 * a stream does,
 *
 *     episodes in n rows  <=  2 (earned per row * n + 29)
 *
 * A judge that begins one episode after another falls silent: each adds to its debt, which later
 * findings of the same judge must exceed beside the bar. Judges without a debt pay more instead.
 *
 *     rows      . . . ! . ! ! . . . . . . . . . . . !      ! severity above the bar: anomalous
 *     episode         begins, lasts ... | ends             after 16 calm rows
 *
 * What is worse by one unit than all before in an episode that has lasted for a while is news
 * again: it begins the next episode. */
#ifndef OIF_PIPELINE_ALERTS_GATE_H
#define OIF_PIPELINE_ALERTS_GATE_H

#include "base/state_visitor.h"
#include "pipeline/judges/finding.h"

/* The severity that an anomaly exceeds; oif.h has those of a warning and of a critical one. */
#define OIF_LOWEST_BAR 2.8

typedef struct oif_gate {
    double overspent;         /* episodes */
    double debts[OIF_JUDGES]; /* severities */
    uint32_t in_episode;      /* 1 from the first anomaly of an episode to its end */
    uint32_t calm_rows;       /* since the last anomaly of the episode */
    uint32_t opened_by;       /* the judge that began the last episode */
    uint32_t unused;
    oif_episode_info episode; /* the current or last one; number 0: none yet */
} oif_gate;

void oif_gate_init(oif_gate *gate);

/* The severity that a row must exceed to be anomalous; +infinity: none can. Within an episode it is
 * what it was when that began. */
double oif_gate_bar(const oif_gate *gate);

/* The severity of a finding, less the debt of its judge. */
double oif_gate_severity(const oif_gate *gate, oif_judge judge, double severity);

oif_grade oif_grade_of(double severity);

/* Whether row `row` of the key, which is anomalous, begins an episode. */
bool oif_gate_is_news(const oif_gate *gate, uint64_t row, const oif_result *result);

/* Call it for each row with the episodes that it earns. */
void oif_gate_earn(oif_gate *gate, double earned);

/* Call it once row `row` of the key, from 1, is judged. `judge`: who found it anomalous, if anyone.
 * Sets result->episode and result->episode_grade. */
void oif_gate_follow(oif_gate *gate, oif_judge judge, uint64_t row, double seconds,
                     oif_result *result);

/* Stores the first reason of row `row` if it is the worst row of its episode. */
void oif_gate_note_reason(oif_gate *gate, uint64_t row, const double *values,
                          const oif_attribution *attributions, size_t columns);

/* Visits the fields that rows change. */
void oif_gate_visit_fields(oif_gate *gate, oif_state_visitor *visitor);

/* Whether a gate, or all that share a budget, can have overspent that much. */
bool oif_gate_could_owe(double overspent);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_gate_check(const oif_gate *gate, uint64_t rows, size_t columns);

#endif
