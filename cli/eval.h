/* What `oif eval` has found out, for its report. */
#ifndef OIF_CLI_EVAL_H
#define OIF_CLI_EVAL_H

#include "options.h"
#include "roc.h"

enum { MAX_CONTESTANTS = 16 };

/* One of the detectors that are compared. */
typedef struct eval_contestant {
    oif_params params;
    oif_detector *detector; /* either this ... */
    oif_pipeline *pipeline; /* ... or this, where keys or options of pipelines are asked for */
    roc_ranking ranking;    /* 24 bytes per row */
    double seconds;         /* learning and scoring, without reading the input */
} eval_contestant;

/* Rows that follow each other, measured by themselves. */
typedef struct row_span {
    size_t first, count, anomaly_count;
    double roc_auc[MAX_CONTESTANTS]; /* NaN when only one kind of row is among them */
} row_span;

typedef struct row_spans {
    row_span *items;
    size_t count;
} row_spans;

typedef struct eval_run {
    eval_contestant contestants[MAX_CONTESTANTS];
    size_t contestant_count;
    size_t column_count, row_count, anomaly_count;
    const oif_params *options; /* of the pipelines; NULL: there are none */
    bool has_keys;
    double total_seconds;
    row_spans windows; /* of --window: one after the other */
    row_spans early;   /* of --early: all begin with the first row */
} eval_run;

void eval_report_table(const eval_run *evaluation);
void eval_report_json(const eval_run *evaluation);

#endif
