/* What the files of a model share: its parts, who can decide a score, and the steps of a row. Only
 * model*.c includes this.
 *
 *     model_create.c      creation
 *     model_row.c         a row: observe, score, judge, learn
 *     model_score.c       the score, by detectors, senses and categories
 *     model_judge.c       is it an anomaly, and why?
 *     model_rules.c       is the alert wanted?
 *     model_explain.c     which columns, and the names of reasons
 *     model_expected.c    what was expected instead
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

static inline oif_judge *judges_of(const oif_model *m)
{
    return oif_block_part(m, m->at.judges);
}

static inline oif_senses *senses_of(const oif_model *m)
{
    return oif_block_part(m, m->at.senses);
}

static inline oif_derived_state *derived_of(const oif_model *m)
{
    return oif_block_part(m, m->at.derived);
}

static inline oif_motion *motion_of(const oif_model *m)
{
    return oif_block_part(m, m->at.motion);
}

static inline double *scratch_of(const oif_model *m)
{
    return oif_block_part(m, m->at.scratch);
}

/* The numbers of the motion as a detector gets them, after the values of the row. */
static inline double *moves_of_row(const oif_model *m)
{
    return oif_model_recent(m) + m->columns;
}

/* ---- Who decided ---- */

/* Judges after the detectors and senses: the categories, ... */
static inline size_t category_judge(const oif_model *m)
{
    return m->detector_count + senses_of(m)->count;
}

/* ... the first value of each column, ... */
static inline size_t first_value_judge(const oif_model *m, size_t column)
{
    return category_judge(m) + 1 + column;
}

/* ... and each move of each column. */
static inline size_t move_judge(const oif_model *m, oif_move move, size_t column)
{
    return first_value_judge(m, m->columns) + (size_t)move * m->columns + column;
}

/* Whether a category decided. Its values may differ although the learned rows are equal. */
static inline bool is_by_category(const oif_model *m)
{
    return m->judge == category_judge(m);
}

/* The number of the persistence among the debts. */
static inline uint32_t persistence_of(const oif_model *m)
{
    return senses_of(m)->count;
}

/* The finding of the sense that decided, of the categories, of a first value or of a move. */
oif_finding oif_model_finding(const oif_model *model);

/* The share that each column has in the score of a detector that decided: `columns` numbers in the
 * model's scratch space. 0 for all if no column has one. */
const double *oif_model_shares(oif_model *model);

/* Whether a value is above (1) or below (-1) the usual one. */
int oif_model_direction(const oif_model *model, size_t column);

/* The last row as it was learned. */
static inline const double *last_row_of(const oif_model *m)
{
    return oif_model_recent(m) + (m->options.shingle - 1) * m->columns;
}

/* How far a value is from the mean of its column, in units of the spread. If the value is missing
 * but others were not, or present but all others were missing: the maximum if it caused the score,
 * else rather far, because some columns miss values now and then. */
double oif_model_departure(const oif_usual *usual, double number, double share);

/* ---- The steps of a row ---- */

/* The verdict of the judges on the last row. */
typedef struct oif_row_scores {
    double bar; /* that severities must exceed: oif_model_bar */
    double score;
    double severity;    /* by the detectors */
    bool persists;      /* together with the rows before it, it is an anomaly */
    double for_history; /* the score to learn: by detectors and persistence, not by senses */
    uint32_t sense;     /* that finds most, as a judge; 0: none finds enough */
    uint32_t decided;   /* by which judge, whatever the reason is called */
    uint32_t detector;  /* that finds most, as a judge */
    double found[OIF_SENSES_MAX + 1]; /* severities above the bar by each sense, then by the
                                       * categories; 0: not found */
} oif_row_scores;

/* The severity that a row must exceed to be an anomaly. A frozen model judges a row the same way,
 * whatever came before. */
double oif_model_bar(const oif_model *model);

/* The score of the row, which the motion has observed; of its values by the verdict, if there is
 * one. */
oif_row_scores oif_model_score(oif_model *model, const double *row, double seconds,
                               const oif_table_verdict *verdict);

/* Whether detectors learn a row and then score it. Usually they score it first. */
bool oif_model_learns_first(const oif_model *model);

/* Decides about the row. */
void oif_model_judge(oif_model *model, bool was_ready, const oif_row_scores *scores,
                     const double *row, const oif_table_verdict *verdict, oif_result *result);

/* Decides again about an anomaly, by the detectors alone, whose score is enough for one. */
void oif_model_judge_values(oif_model *model, const oif_row_scores *scores, oif_result *result);

/* Decides about an anomaly in another column, by the sense or category that finds most of what no
 * rule holds back, after what `first` and the detectors found is held back. Returns false, and
 * changes nothing, if there is none. */
bool oif_model_judge_others(oif_model *model, const oif_row_rules *rules, double seconds,
                            uint32_t first, const oif_row_scores *scores, oif_result *result);

/* Whether a rule holds back a finding. */
bool oif_model_is_finding_muted(const oif_model *model, const oif_row_rules *rules, double seconds,
                                const oif_finding *found);

/* The rule, from 1, that holds back an anomaly; 0: none does. */
uint32_t oif_model_muted_by(oif_model *model, const oif_row_rules *rules, double seconds,
                            const oif_result *result);

/* Which columns caused an anomaly. Ask before the row is learned, as rules are. */
void oif_model_find_causes(oif_model *model, const oif_result *result, oif_alert_causes *causes);

/* Raises the score of a row in which a column has its first value. */
void oif_model_judge_first_value(const oif_model *model, oif_row_scores *scores);

/* Whether a column has its first value in this row. */
bool oif_model_has_first_value(const oif_model *model, const double *row);

void oif_model_count_unseen(oif_model *model);

/* What an episode adds to the debt of a sense that begins it, and where that ends. */
#define OIF_MODEL_DEBT_STEP 1.0
#define OIF_MODEL_MOST_DEBT 100.0

#endif
