/* --output prometheus: the latest values of each key and the totals of the run, in the text format
 * that Prometheus reads.
 *
 *     # TYPE oif_score gauge
 *     oif_score{host="web-1"} 0.71
 *
 * With --output-file the text atomically replaces that file at intervals, which suits the
 * textfile collector of the node exporter. */
#ifndef OIF_FRONT_METRICS_H
#define OIF_FRONT_METRICS_H

#include "front/columns/columns.h"
#include "front/text/byte_table.h"
#include "prometheus_text.h"

/* The latest of one key: its gauges, and what it had in this run. */
enum { KEY_ALERTS = KEY_GAUGES, KEY_EPISODES, KEY_VALUES };
typedef struct key_metrics {
    byte_item item;
    double values[KEY_VALUES];
} key_metrics;

typedef struct cli_metrics {
    bool is_wanted;
    const char *prefix, *path; /* path NULL: stdout */
    char *new_path;            /* what replaces it */
    char *label;               /* the name of the key's column as a label; NULL: no keys */
    double seconds_between, next_seconds;
    bool is_changed, is_failing;
    uint64_t rows, alerts, episodes, rows_left_out;

    byte_table keys; /* of key_metrics; series are in the order of its slots */
    size_t keys_max;
} cli_metrics;

/* Writes the file for the first time. Prints what is wrong unless it returns EXIT_OK. To be closed
 * in any case. */
exit_code metrics_open(cli_metrics *metrics, const cli_settings *settings);
void metrics_close(cli_metrics *metrics);

/* One row. Without keys `name` is NULL. */
void metrics_row(cli_metrics *metrics, const char *name, size_t bytes, const oif_result *result);

/* Writes what has changed if it is time to. Returns the milliseconds until then, -1 for never. */
int metrics_attend(cli_metrics *metrics);

/* Writes the last values. Returns `code`, unless they could not be written. */
exit_code metrics_finish(cli_metrics *metrics, exit_code code);

#endif
