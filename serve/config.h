/* oif serve --config FILE: what a server is to do, as JSON.
 *
 *     {
 *       "listen": "127.0.0.1:8571", "data": "/var/lib/oif",
 *       "limits": {"max-body": "64M"},
 *       "streams": [{"name": "pumps", "settings": {"key": "pump", "time": "ts"}}],
 *       "alertmanager": {"url": "http://127.0.0.1:9093", "labels": {"team": "infra"}},
 *       "prometheus": {"url": "http://127.0.0.1:9090", "step": "15s", "streams": [
 *         {"name": "hosts", "key": ["instance"], "queries": {"load": "node_load1"}}]}
 *     }
 *
 * All that is not about streams, Alertmanager or Prometheus is an option of `oif serve` without its
 * dashes. It becomes an argument of the command, so it has the same checks. */
#ifndef OIF_SERVE_CONFIG_H
#define OIF_SERVE_CONFIG_H

#include "problem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct stream_config {
    const char *name;
    json_t *settings; /* an object */
} stream_config;

typedef struct alertmanager_config {
    const char *url;        /* NULL: none is told */
    const char *token_file; /* NULL: none */
    json_t *labels;         /* an object of texts that every alert has; may be NULL */
    double resend_seconds;
    const char *min_grade; /* of the episodes that are sent; NULL: all */
} alertmanager_config;

/* One stream whose rows are the answers of Prometheus. */
typedef struct pull_config {
    stream_config stream; /* with the settings that follow from the queries */
    json_t *queries;      /* {column: PromQL} */
    json_t *labels;       /* that make the key: an array of names; empty: all labels */
    double step_seconds;
} pull_config;

typedef struct prometheus_config {
    const char *url;        /* NULL: none is asked */
    const char *token_file; /* NULL: none */
    pull_config *streams;
    size_t stream_count;
} prometheus_config;

typedef struct server_config {
    json_t *text;     /* what the other members point into */
    char **arguments; /* "--listen=127.0.0.1:8571", ...; ends with NULL */
    size_t argument_count;
    stream_config *streams;
    size_t stream_count;
    alertmanager_config alertmanager;
    prometheus_config prometheus;
} server_config;

/* The names of the columns that the rows of a pulled stream have besides the queries'. */
#define PULL_TIME_COLUMN "time"
#define PULL_KEY_COLUMN "key" /* if no labels are named */

/* As an empty file would be. */
void config_init(server_config *config);

/* Reads FILE. On failure `why` has the place and the cause, and there is nothing to close. */
bool config_load(const char *path, server_config *config, problem *why);
void config_close(server_config *config);

#endif
