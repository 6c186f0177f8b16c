/* What the files of a model share. Only model*.c includes this.
 *
 *     model_create.c      creation
 *     model_row.c         a row: observe, score, decide, learn, follow
 *     model_decide.c      which finding counts, and is the row anomalous?
 *     model_rules.c       is the alert wanted?
 *     model_explain.c     which columns, and what was expected instead
 *     model_table.c       learns a finished table
 *     model_widen.c       gets more columns
 *     model_snapshot.c    its fields
 */
#ifndef OIF_PIPELINE_MODEL_PARTS_H
#define OIF_PIPELINE_MODEL_PARTS_H

#include "base/block.h"
#include "detect/detector.h"
#include "pipeline/model/model.h"

/* ---- Parts of the block ---- */

static inline oif_judges *judges_of(const oif_model *m)
{
    return oif_block_part(m, m->at.judges);
}

static inline oif_watch *watch_of(const oif_model *m)
{
    return oif_judges_watch(judges_of(m));
}

static inline oif_derived_state *derived_of(const oif_model *m)
{
    return oif_block_part(m, m->at.derived);
}

static inline double *scratch_of(const oif_model *m)
{
    return oif_block_part(m, m->at.scratch);
}

/* The last row as it was learned. */
static inline double *last_row_of(const oif_model *m)
{
    return oif_model_recent(m) + (m->options.shingle - 1) * m->columns;
}

/* The moves as a detector gets them, after the values of the row. */
static inline double *moves_of_row(const oif_model *m)
{
    return oif_model_recent(m) + m->columns;
}

static inline bool is_frozen(const oif_model *m)
{
    return m->options.learn == OIF_LEARN_NONE;
}

/* ---- Steps of a row ---- */

/* Computes the columns of a row that are derived. Returns the row to learn. */
const double *oif_model_derive(oif_model *model, const double *row, double seconds);

/* Appends the row to the shingle; returns whether the shingle is full. */
bool oif_model_join(oif_model *model, const double *row);

/* Decides whether the row is anomalous, and by which of the findings, whose severities have lost
 * the debts of their judges. */
void oif_model_decide(oif_model *model, oif_finding findings[OIF_JUDGES], double seconds,
                      const oif_row_rules *rules, oif_result *result);

/* The share that each column has in the score of the detector that decided: `columns` numbers in
 * the model's scratch space. 0 for all if no column has one. */
const double *oif_model_shares(oif_model *model);

/* What was expected of a column: by a finding that is about it, or else usually. */
oif_expected oif_model_expected_by(const oif_model *model, const oif_finding *found, size_t column);

/* ---- Rules ---- */

/* The rule, from 1, that holds back a finding; 0: none does. */
uint32_t oif_model_muted_by(oif_model *model, const oif_row_rules *rules, double seconds,
                            oif_judge judge, const oif_finding *found);

/* Whether a rule holds back what a detector finds in the column of a finding. */
bool oif_model_is_value_muted(const oif_model *model, const oif_row_rules *rules, double seconds,
                              const oif_finding *found);

/* Which columns caused the anomaly. Ask before the row is learned, as rules are. */
void oif_model_find_causes(oif_model *model, oif_alert_causes *causes);

#endif
