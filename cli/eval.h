/* What `oif eval` has found out, for its report. */
#ifndef OIF_CLI_EVAL_H
#define OIF_CLI_EVAL_H

#include "options.h"
#include "ranking.h"

enum { MAX_CONTESTANTS = 16 };

/* One of the detectors that are compared. */
struct contestant {
    oif_params params;
    oif_detector *detector; /* either this ... */
    oif_pipeline *pipeline; /* ... or this, where keys or options of pipelines are asked for */
    struct ranking ranking; /* 24 bytes a row */
    double seconds;         /* learning and scoring, without reading the input */
};

/* Rows that follow each other, measured by themselves. */
struct span {
    size_t first, count, anomaly_count;
    double roc_auc[MAX_CONTESTANTS]; /* NaN when only one kind of row is among them */
};

struct spans {
    struct span *items;
    size_t count;
};

struct evaluation {
    struct contestant contestants[MAX_CONTESTANTS];
    size_t contestant_count;
    size_t feature_count, row_count, anomaly_count;
    const oif_params *options; /* of the pipelines; NULL: there are none */
    bool has_keys;
    double total_seconds;
    struct spans windows; /* of --window: one after the other */
    struct spans early;   /* of --early: all begin with the first row */
};

void report_table(const struct evaluation *evaluation);
void report_json(const struct evaluation *evaluation);

#endif
