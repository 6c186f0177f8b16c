/* What `oif eval` has found out, for its report. */
#ifndef OIF_CLI_EVAL_H
#define OIF_CLI_EVAL_H

#include "eval_keys.h"
#include "eval_labels.h"
#include "eval_measures.h"
#include "eval_trace.h"
#include "front/columns/input.h"
#include "front/input/stream_clock.h"
#include "front/options/season_option.h"
#include "row_spool.h"

enum { MAX_CONTESTANTS = 16, MAX_RUNS = 100 };

/* One detector with one seed. */
typedef struct eval_try {
    oif_params params;
    oif_pipeline *pipeline;
    double *scores; /* of the rows; -infinity where there is none */
    uint8_t *marks; /* of the rows: ROW_IS_ALERT, ... */
    double seconds; /* learning and scoring, without reading the input */
    double measures[MEASURES];
    bool is_traced; /* a report is asked for, and of this run */
    eval_trace trace;
} eval_try;

/* Makes room for the results of that many rows. Returns false when memory is short. */
bool eval_try_reserve(eval_try *try, size_t capacity);

/* One of the detectors that are compared. */
typedef struct eval_contestant {
    const char *name;
    eval_try *tries; /* of --runs; seeds count up from that of the first */
    /* over its tries; the spread is the standard deviation */
    double mean[MEASURES], spread[MEASURES], mean_seconds;
    size_t rank; /* 0: the best */
} eval_contestant;

typedef struct eval_run {
    const run_settings *settings;
    run_input *input;
    eval_contestant contestants[MAX_CONTESTANTS];
    size_t contestant_count, run_count;
    size_t order[MAX_CONTESTANTS]; /* the best contestant first */
    size_t column_count;
    eval_rows rows;
    eval_keys keys;
    eval_labels labels;
    stream_clock times;
    bad_rows bad;
    double total_seconds;
    row_spool spool; /* of --report: the rows as they were learned */
} eval_run;

/* Reads all rows and has every contestant score them. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code eval_stream(eval_run *evaluation);

/* Writes the page of --report. Prints what is wrong unless it returns EXIT_OK. */
exit_code eval_write_report(eval_run *evaluation);

/* "--alert-rate 0.001": what decides about alerts. */
enum { ALERTS_TEXT_BYTES = 80 };
const char *eval_alerts_text(const eval_run *evaluation, char text[ALERTS_TEXT_BYTES]);

/* Whether false alerts are counted per day. */
bool eval_is_timed(const eval_run *evaluation);

void eval_report_table(const eval_run *evaluation);
void eval_report_json(const eval_run *evaluation);

/* "alerts": 3, "episodes": 1, ...: members of an object in JSON. */
void eval_json_measures(const double measures[MEASURES]);

#endif
