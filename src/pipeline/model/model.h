/* The model of one key: its detectors, the judges beside them, and the gate that makes episodes of
 * what they find.
 *
 *     row -> last rows (shingle) ---> detectors -> score -> finding
 *       |                                 ^                    |
 *       +-> judges -> moves --------------+                    +-> decide -> gate -> episode
 *              |                                               |     ^         |
 *              +----------------------------> findings --------+   rules       +-> learn, or not
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
#include "pipeline/alerts/gate.h"
#include "pipeline/alerts/pauses.h"
#include "pipeline/columns/derived_columns.h"
#include "pipeline/judges/judges.h"
#include "pipeline/rules/past_episodes.h"
#include "pipeline/table/held_out.h"

typedef enum oif_learn {
    OIF_LEARN_ALL,
    OIF_LEARN_NORMAL,
    OIF_LEARN_DECAY,
    OIF_LEARN_NONE
} oif_learn;

typedef struct oif_model_options {
    uint32_t shingle; /* rows scored as one */
    oif_learn learn;
    double earned;  /* episodes, by the next row */
    double silence; /* oif_pauses.limit */
    uint64_t moves; /* 1: detectors get the moves beside the values; not with a shingle */
    oif_judges_options judges;
} oif_model_options;

/* Where the parts of a model's block are. */
typedef struct oif_model_layout {
    size_t judges; /* oif_judges */
    /* double [shingle][columns]: the last rows, oldest first. The moves follow, if any. */
    size_t recent;
    size_t shares;  /* double [oif_model_numbers()]: scratch space of explain */
    size_t scratch; /* double [oif_model_numbers()]: the same */
    size_t derived; /* oif_derived_state; empty if no column is derived */
    size_t row;     /* double [columns]: the row with its derived columns; empty likewise */
} oif_model_layout;

/* The head of the block; its parts follow. */
typedef struct oif_model {
    oif_model_options options;
    const oif_derived_plan *plan; /* the pipeline's */
    size_t columns;               /* of learned rows: plan->derived_columns */
    size_t bytes;                 /* of this block; detectors have their own */
    size_t detector_count;
    oif_detector *detectors[OIF_TOGETHER_MAX]; /* the first one leads */
    double before[2]; /* severities of the scores of the last rows, 0 for alerts */

    uint64_t rows; /* processed */
    oif_pauses pauses;
    oif_gate gate;

    /* Who found most in the last row, and which detector that was if it was one of them. */
    uint32_t judge, detector;
    oif_finding found;
    oif_model_layout at;
} oif_model;

static inline double *oif_model_recent(const oif_model *model)
{
    return (double *)((unsigned char *)model + model->at.recent);
}

/* How many numbers a detector gets for each row. */
static inline size_t oif_model_numbers(const oif_model_options *options, size_t columns)
{
    return oif_size_add(oif_size_multiply(options->shingle, columns),
                        options->moves ? OIF_MOVES : 0);
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

/* Whether it has seen enough rows to report anomalies. */
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
    double severity;   /* on the scale of the judges */
    uint32_t detector; /* that found it most unusual */
} oif_table_verdict;

/* Scores, judges and learns a row without infinities. `seconds` is its time; NaN if unknown.
 * `rules`: NULL if there are none and no causes are wanted. `verdict`: NULL, or what decides
 * instead of the detectors, which have learned the row already: oif_model_learn_table. */
void oif_model_process(oif_model *model, const double *row, double seconds,
                       const oif_row_rules *rules, const oif_table_verdict *verdict,
                       oif_result *result);

/* Lets only the judges of a model see a row. */
void oif_model_observe(oif_model *model, const double *row, double seconds);

/* Lets a model that has observed all rows of a finished table, and nothing else, learn them as its
 * detectors get them; they are then processed with a verdict each.
 *
 * OIF_EMEMORY   the model is to be freed */
oif_status oif_model_learn_table(oif_model *model, const oif_table_rows *rows, oif_error *error);

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

/* Visits every field that rows change, except those of the detector. */
void oif_model_visit_fields(oif_model *model, oif_state_visitor *visitor);

/* Validates every field; OIF_EINVARIANT names the broken invariant. */
oif_status oif_model_check(const oif_model *model, oif_error *error);

/* The same, without the detectors. */
oif_status oif_model_check_own(const oif_model *model, oif_error *error);

#endif
