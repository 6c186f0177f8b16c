/* The memory of the history of a stream of `oif serve`, before there is a row: recent points and
 * bands of each key, and its open bucket of hours and days (serve/stream/history.h).
 *
 * The history has a limit. Keys have as many points as all of them have room for, halved again and
 * again from 4,096 down to one; then there is only room for the keys that were seen last. */
#ifndef OIF_CLI_HISTORY_SIZE_H
#define OIF_CLI_HISTORY_SIZE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct history_size {
    double keys, rows;      /* that come; rows of each key */
    size_t columns;         /* of a row */
    size_t learned_columns; /* with those that are derived */
    double key_text_bytes;
    bool is_learning;   /* keys are not ready yet */
    double limit_bytes; /* 0: the usual one */
    /* what follows is found out */
    double bytes, kept_keys, kept_points; /* points of each key */
    double needed_bytes;                  /* of a limit that has room for all keys */
} history_size;

void history_size_estimate(history_size *size);

#endif
