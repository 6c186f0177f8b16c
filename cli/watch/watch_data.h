/* What the live view of `oif score --watch` knows about the stream. */
#ifndef OIF_CLI_WATCH_DATA_H
#define OIF_CLI_WATCH_DATA_H

#include "front/columns/input.h"
#include "front/results/result_fields.h"

enum {
    WATCH_BINS = 512,
    WATCH_EPISODES = 64,
    WATCH_KEYS = 1024,
    WATCH_POINTS = 240,
    WATCH_POINTS_AFTER = 80, /* the alert stays in the picture */
    WATCH_KEY_BYTES = 48,
    WATCH_REASON_BYTES = 192
};

/* Some rows that follow each other. */
typedef struct watch_bin {
    double highest, threshold; /* of the highest score and of its row; NaN: none */
    double seconds;            /* of its first row: by --time, or else by the clock */
    uint64_t row;              /* its first one */
    bool is_marked;
} watch_bin;

typedef struct watch_episode {
    bool is_note; /* only a text, in `reason` */
    bool is_over;
    uint64_t key_hash, number, rows, first_row;
    double first_seconds, last_seconds, severity;
    oif_grade grade;
    char key[WATCH_KEY_BYTES], reason[WATCH_REASON_BYTES];
} watch_episode;

typedef struct watch_key {
    uint64_t hash, row; /* row 0: none */
    double severity;
    bool is_in_episode;
    char name[WATCH_KEY_BYTES];
} watch_key;

/* The columns of one key around the begin of its episode. */
typedef struct watch_picture {
    uint64_t key_hash;
    char key[WATCH_KEY_BYTES];
    double *points; /* of each column WATCH_POINTS */
    size_t count, after;
    size_t *order; /* the columns, the reasons first */
    bool is_shown;
} watch_picture;

typedef struct watch_view {
    const cli_input *input;
    const oif_pipeline *pipeline;
    uint64_t rows, anomalies, episode_total;
    double started, looked, next_draw; /* seconds */
    size_t columns_drawn, lines_drawn; /* the size of the terminal then; 0: not drawn yet */

    watch_bin bins[WATCH_BINS]; /* a ring, each of rows_per_bin rows */
    size_t newest_bin, bin_count;
    uint64_t rows_per_bin, rows_in_bin;

    watch_episode episodes[WATCH_EPISODES]; /* a ring */
    uint64_t episode_count;
    watch_key keys[WATCH_KEYS]; /* by hash; of two with one place the more unusual one stays */

    double *history;         /* the latest rows as they were learned, a ring */
    uint64_t *history_keys;  /* whose they are */
    size_t history_capacity; /* rows */
    uint64_t history_rows;
    size_t column_count;
    char *const *names; /* of the columns */
    watch_picture picture;

    bool is_ended;
    bool is_ready;                      /* some row could have been an alert */
    uint64_t rows_needed;               /* of a key until then, about; 0: not known */
    double first_seconds, last_seconds; /* times of rows; NaN: unknown */
} watch_view;

#endif
