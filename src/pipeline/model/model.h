/* The model of one key: its detectors, and what decides whether their scores are anomalies.
 *
 *     row -> last rows -> detectors -> score -> score history -> p, threshold -> anomaly?
 *       |   (shingle)         ^       (judges.h)                                   | -> episode
 *       +-> motion -----------+                                                    |
 *                             +--------------- learn, or not (option learn) -------+
 *
 * Before all that, columns may be derived from the input columns (derived_columns.h).
 *
 * A model is one block of memory, plus one per detector. Nothing is allocated after creation.
 * Models are packed by comparing bytes (packed_model.h), so structs that are assigned as a whole
 * have no padding.
 */
#ifndef OIF_PIPELINE_MODEL_H
#define OIF_PIPELINE_MODEL_H

#include "base/memory.h"
#include "oif.h"
#include "pipeline/alerts/alert_budget.h"
#include "pipeline/alerts/alerts.h"
#include "pipeline/alerts/judges.h"
#include "pipeline/alerts/score_history.h"
#include "pipeline/columns/derived_columns.h"
#include "pipeline/columns/motion.h"
#include "pipeline/rules/past_episodes.h"
#include "pipeline/senses/senses.h"
#include "pipeline/table/held_out.h"

typedef enum oif_learn {
    OIF_LEARN_ALL,
    OIF_LEARN_NORMAL,
    OIF_LEARN_DECAY,
    OIF_LEARN_NONE
} oif_learn;

enum {
    OIF_MODEL_SAME_ROWS = 1024, /* rows that count as "all recent ones" */
    OIF_PERSISTENCE_MAX = 16
};

typedef struct oif_model_options {
    uint32_t shingle;     /* rows scored as one */
    uint32_t persistence; /* rows whose evidence is combined; 1: each row on its own */
    oif_learn learn;
    uint32_t patience;    /* with OIF_LEARN_DECAY: recent anomalies after which they are learned */
    double alert_rate;    /* episodes wanted per row; unused with a threshold */
    double earned;        /* by the next row: alert_rate, or by the time passed (alert_budget.h) */
    uint64_t limits_rows; /* 1: the number of rows in alerts is limited as well */
    double threshold;     /* if not 0: rows with a higher score are anomalies */
    double memory;        /* past scores that count */
    oif_senses_options senses;
    oif_alert_options alerts;
    uint64_t motion; /* oif_motion_mode; off if rows are scored as shingles */
} oif_model_options;

/* The usual values of a column; older rows count less. Stored halved, so no difference of two
 * values overflows. */
typedef struct oif_usual {
    double half_mean;   /* NaN before the first value */
    double half_spread; /* the mean absolute deviation */
} oif_usual;

/* The head of the block; arrays follow at the offsets `.._at`. */
/* Where the parts of a model's block are. */
typedef struct oif_model_layout {
    size_t judges; /* oif_judge [oif_model_judges()]: detectors, senses, persistence */
    size_t senses; /* oif_senses */
    /* double [shingle][columns]: the last rows, oldest first. With motion, its numbers follow. */
    size_t recent;
    size_t usual;   /* oif_usual [columns] */
    size_t shares;  /* double [oif_model_numbers()]: scratch space of explain */
    size_t scratch; /* double [oif_model_numbers()]: the same */
    size_t motion;  /* oif_motion; empty without motion */
    size_t derived; /* oif_derived_state; empty if no column is derived */
    size_t row;     /* double [columns]: the row with its derived columns; empty likewise */
} oif_model_layout;

/* Too large for the stack. */
typedef struct oif_model {
    oif_model_options options;
    const oif_derived_plan *plan; /* the pipeline's */
    size_t columns;               /* of learned rows: plan->derived_columns */
    size_t bytes;                 /* of this block; detectors have their own */
    size_t detector_count;
    oif_detector *detectors[OIF_TOGETHER_MAX]; /* the first one leads */

    uint64_t rows;             /* processed */
    uint32_t recent_anomalies; /* minus a quarter of the other rows, 0 to patience */
    uint32_t unseen_columns;   /* that never had a value */
    uint32_t unused;
    uint32_t same_rows; /* rows before the last one equal to it, at most OIF_MODEL_SAME_ROWS */
    oif_alerts alerts;
    oif_alert_level level;
    /* What a sense, or the persistence after them, must find beyond the bar: more with each episode
     * that it begins. A sense that is loud on this stream falls silent. */
    double debts[OIF_SENSES_MAX + 1];
    /* The same with each row of one finding, so a finding that lasts ends as an alert. */
    double fatigues[OIF_SENSES_MAX];
    oif_score_history history;

    /* Who decided the score of the last row: a detector, the sense with the number judge -
     * detector_count, or after these the categories, the first value of a column or a move. */
    uint32_t judge;
    uint32_t opened_by; /* whose debt the current episode raised, from 1; 0: none */
    double severities[OIF_PERSISTENCE_MAX]; /* of the last rows; row i is at i % persistence */
    oif_model_layout at;
} oif_model;

static inline double *oif_model_recent(const oif_model *model)
{
    return (double *)((unsigned char *)model + model->at.recent);
}

static inline oif_usual *oif_model_usual(const oif_model *model)
{
    return (oif_usual *)((unsigned char *)model + model->at.usual);
}

/* How many numbers a detector gets for each row. */
static inline size_t oif_model_numbers(const oif_model_options *options, size_t columns)
{
    return oif_size_add(oif_size_multiply(options->shingle, columns),
                        options->motion ? OIF_MOVES : 0);
}

/* How many judges have their own history. A single detector needs none, unless categories judge
 * beside it. */
static inline size_t oif_model_judges_with(const oif_model_options *options,
                                           const oif_derived_plan *plan, size_t detectors)
{
    const size_t judges =
        detectors + oif_senses_count(&options->senses) + (options->persistence > 1);
    return judges > 1 || plan->categories > 0 ? judges : 0;
}

static inline size_t oif_model_judges(const oif_model *model)
{
    return oif_model_judges_with(&model->options, model->plan, model->detector_count);
}

/* Bytes of a model and its detectors, given by `params`; failures as in
 * oif_detector_estimate_bytes. */
oif_status oif_model_estimate_bytes(const oif_params *params, const oif_derived_plan *plan,
                                    const oif_model_options *options, size_t *bytes,
                                    oif_error *error);

/* Creates a model that has seen no row, with detectors for rows of shingle x columns values. The
 * plan must outlive the model. */
oif_status oif_model_new(const oif_params *params, const oif_derived_plan *plan,
                         const oif_model_options *options, oif_model **model, oif_error *error);
oif_status oif_model_clone(const oif_model *model, oif_model **copy, oif_error *error);
void oif_model_free(oif_model *model);

/* Resets it to a model that has seen no row. Its detectors lose names and threads. */
void oif_model_reset(oif_model *model, const oif_model_options *options);

/* Copies the state of another model with the same parameters, plan and options. */
void oif_model_assign(oif_model *model, const oif_model *other);

/* Makes a model that has seen no row what `model` is, whose rows have fewer columns: as if the new
 * ones, after the others, had been missing until now. A detector that cannot has to learn from the
 * start. */
void oif_model_widen(oif_model *wide, const oif_model *model);

/* Sets options that affect only later rows; the shingle stays. */
void oif_model_set_options(oif_model *model, const oif_model_options *options);

/* Bytes of a model and its detectors. */
size_t oif_model_memory_bytes(const oif_model *model);

/* Whether it has learned enough to report anomalies. */
bool oif_model_ready(const oif_model *model);

/* What rules are asked with: the key of the row and the names of the columns, or NULL. And where to
 * put the causes of an anomaly that may begin an episode; NULL: they are not wanted. */
typedef struct oif_row_rules {
    const oif_rules *rules; /* NULL: none */
    const oif_column_names *names;
    oif_text key;
    oif_alert_causes *causes;
} oif_row_rules;

/* What a finished table says about one of its rows. */
typedef struct oif_table_verdict {
    double score;      /* by detectors that have not learned the row */
    uint32_t detector; /* that found it most unusual */
    double p, threshold, severity;
} oif_table_verdict;

/* Scores, judges and learns a row without infinities. `seconds` is its time; NaN if unknown.
 * `rules`: NULL if there are none and no causes are wanted. `verdict`: NULL, or what decides
 * instead of the detectors, which have learned the row already: oif_model_learn_table. */
void oif_model_process(oif_model *model, const double *row, double seconds,
                       const oif_row_rules *rules, const oif_table_verdict *verdict,
                       oif_result *result);

/* Replaces the numbers of the motion by those at the start of a stream: in a table, the first of
 * them would be known by too few rows. `numbers` are what a detector gets. */
void oif_model_hide_motion(const oif_model *model, double *numbers);

/* The rows of a finished table as the detectors of a model get them, and their scores. */
typedef struct oif_model_table {
    oif_table_rows rows;
    const double *scores[OIF_TOGETHER_MAX]; /* for each detector */
} oif_model_table;

/* Lets a model without rows learn all rows of a table; they are then processed with a verdict each.
 *
 * OIF_EMEMORY   the model is to be freed */
oif_status oif_model_learn_table(oif_model *model, const oif_model_table *table, oif_error *error);

/* What was expected of a column in the last row. */
oif_expected oif_model_expected(const oif_model *model, size_t column);

/* Explains the score of the last row. */
void oif_model_explain(oif_model *model, oif_attribution *attributions);

/* The current episode or the last one; false if there was none. */
bool oif_model_episode(const oif_model *model, oif_episode_info *episode);

/* Returns false if there is no such season yet. */
bool oif_model_season(const oif_model *model, size_t index, oif_season_info *info);

/* Reports parts of the model's own block that the last rows have not changed. */
void oif_model_unchanged(const oif_model *model, const oif_unchanged *unchanged);

/* Visits every field that rows change, except those of the detector and of `alerts`. */
void oif_model_visit_fields(oif_model *model, oif_state_visitor *visitor);

/* Validates every field; OIF_EINVARIANT names the broken invariant. */
oif_status oif_model_check(const oif_model *model, oif_error *error);

/* The same, without the detectors. */
oif_status oif_model_check_own(const oif_model *model, oif_error *error);

#endif
