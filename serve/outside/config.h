/* oif serve --config FILE: the configuration of a server, as JSON.
 *
 *     {
 *       "listen": "127.0.0.1:8571", "data": "/var/lib/oif",
 *       "max-body": "64M",
 *       "streams": [{"name": "pumps", "settings": {"key": "pump", "time": "ts"}}],
 *       "alertmanager": {"url": "http://127.0.0.1:9093", "labels": {"team": "infra"}},
 *       "webhook": {"url": "https://example.com/hook"},
 *       "prometheus": {"url": "http://127.0.0.1:9090", "step": "15s", "streams": [
 *         {"name": "hosts", "key": ["instance"], "queries": {"load": "node_load1"}}]}
 *     }
 *
 * Everything except streams, Alertmanager, webhook and Prometheus is an option of `oif serve`
 * without its dashes, which is set and checked as on the command line. */
#ifndef OIF_SERVE_CONFIG_H
#define OIF_SERVE_CONFIG_H

#include "serve/base/problem.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct stream_config {
    const char *name;
    json_t *settings; /* an object */
} stream_config;

typedef struct alertmanager_config {
    const char *url;        /* NULL: no Alertmanager */
    const char *token_file; /* NULL: none */
    json_t *labels;         /* an object of texts for every alert; NULL without a file */
    double resend_seconds;
    const char *min_grade; /* of the episodes to send; NULL: all */
} alertmanager_config;

typedef struct webhook_config {
    const char *url;         /* NULL: no webhook */
    const char *token_file;  /* NULL: none */
    const char *secret_file; /* to sign with; NULL: records are not signed */
} webhook_config;

/* A stream whose rows are answers of Prometheus. */
typedef struct pull_config {
    stream_config stream; /* with settings derived from the queries */
    json_t *queries;      /* {column: PromQL} */
    json_t *labels;       /* of the key: an array of names; empty: all labels */
    double step_seconds;
    double past_seconds; /* asked for at the start if the stream lacks them; 0: none */
} pull_config;

typedef struct prometheus_config {
    const char *url;        /* NULL: no Prometheus */
    const char *token_file; /* NULL: none */
    pull_config *streams;
    size_t stream_count;
} prometheus_config;

typedef struct server_config {
    json_t *text;    /* owns what the other members point to */
    json_t *options; /* {"listen": "127.0.0.1:8571"}: of the command, not yet checked */
    stream_config *streams;
    size_t stream_count;
    alertmanager_config alertmanager;
    webhook_config webhook;
    prometheus_config prometheus;
} server_config;

/* The columns of a pulled stream's rows, besides the queries. */
#define PULL_TIME_COLUMN "time"
#define PULL_KEY_COLUMN "series" /* if no labels are named: all of them, as sample_rule.h has it */

/* The configuration of an empty file. */
void config_init(server_config *config);

/* Reads FILE. On failure, `why` has the place and the cause, and there is nothing to close. */
bool config_load(const char *path, server_config *config, problem *why);
void config_close(server_config *config);

#endif
