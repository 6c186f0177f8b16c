/* The live view of `oif score --watch`, as large as the terminal:
 *
 *     1,204,118 rows   81,330 rows/s   12 keys   14 anomalies in 2 episodes
 *      6.4 |                    #
 *          |--------------------#-----   the threshold
 *        0 |###################################
 *          09:12:01             ^^      09:41:07
 *     episodes
 *       09:41:07  now, 14 rows  critical 6.4  web-1  bytes high 98%
 *     web-1, when the last one began
 *       bytes   ______________/\____   981
 *     keys, the most unusual first
 *       web-1  6.4  in an episode
 *
 * watch.c gathers, watch_view.c draws. */
#ifndef OIF_CLI_WATCH_H
#define OIF_CLI_WATCH_H

#include "cli/draw/screen.h"
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
    double highest, threshold; /* the highest severity and the threshold of its row; NaN: none */
    double seconds;            /* of its first row: by --time, or else by the clock */
    uint64_t row;              /* its first one */
    bool is_marked;
} watch_bin;

typedef struct watch_episode {
    bool is_note; /* only a text, in `reason` */
    uint64_t key_hash;
    oif_episode_info info; /* number 0: none */
    char key[WATCH_KEY_BYTES], reason[WATCH_REASON_BYTES];
} watch_episode;

typedef struct watch_key {
    uint64_t hash, row; /* row 0: none */
    double severity;
    bool is_in_episode;
    char name[WATCH_KEY_BYTES];
} watch_key;

/* The columns of one key around the start of its episode. */
typedef struct watch_picture {
    uint64_t key_hash;
    char key[WATCH_KEY_BYTES];
    double *points; /* of each column WATCH_POINTS */
    size_t count, after;
    size_t *order; /* the columns, the reasons first */
    bool is_shown;
} watch_picture;

typedef struct watch_view {
    const run_input *input;
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
    double first_seconds, last_seconds; /* times of rows; NaN: unknown */
} watch_view;

/* Whether stdout is a terminal that can be drawn on. */
bool watch_is_possible(void);

void watch_start(watch_view *watch, const run_input *input, const oif_pipeline *pipeline);
bool watch_row(watch_view *watch, const row_verdict *verdict, double seconds);

/* Adds a line to the episodes. */
void watch_note(watch_view *watch, const char *text);

void watch_draw(watch_view *watch);
void watch_end(watch_view *watch);

/* Of watch_view.c: paints what was gathered. */
void watch_view_paint(const watch_view *watch, screen *picture);

#endif
