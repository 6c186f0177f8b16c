/* What a client wants to hear about its rows. */
#ifndef OIF_SERVE_ANSWER_KIND_H
#define OIF_SERVE_ANSWER_KIND_H

typedef enum rows_answer_kind {
    ANSWER_RESULTS, /* the lines that `oif score` would print */
    ANSWER_ALERTS,  /* only the anomalous ones */
    ANSWER_COUNT    /* no lines */
} rows_answer_kind;

#endif
