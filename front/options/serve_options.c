/* The options of oif serve, and its help. */
#include "front/text/byte_sizes.h"
#include "front/text/durations.h"
#include "options.h"

#include <string.h>

static const char *set_save_every(cli_settings *settings, const char *value)
{
    double seconds;
    if (!duration_parse(value, &seconds) || !(seconds >= 0 && seconds <= 86400))
        return "a time from 0 to 1d, such as 1s or 50ms; 0: before every answer";
    settings->serve.save_seconds = seconds;
    settings->serve.is_save_given = true;
    return NULL;
}

static const char *set_timeout(cli_settings *settings, const char *value)
{
    if (!duration_parse(value, &settings->serve.timeout_seconds) ||
        !(settings->serve.timeout_seconds >= 1 && settings->serve.timeout_seconds <= 3600))
        return "a time from 1s to 1h";
    return NULL;
}

static const char *set_max_body(cli_settings *settings, const char *value)
{
    if (!byte_size_parse(value, &settings->serve.max_body_bytes) ||
        !(settings->serve.max_body_bytes >= 1024 && settings->serve.max_body_bytes <= 1e12))
        return "a number of bytes from 1K on, such as 64M";
    return NULL;
}

static const char *set_history(cli_settings *settings, const char *value)
{
    if (!byte_size_parse(value, &settings->serve.history_bytes) ||
        !(settings->serve.history_bytes >= 65536 && settings->serve.history_bytes <= 1e12))
        return "a number of bytes from 64K on, such as 64M";
    return NULL;
}

static const char *set_metrics_keys(cli_settings *settings, const char *value)
{
    double keys;
    const char *end = oif_number_parse(value, value + strlen(value), &keys);
    if (!end || *end || !(keys >= 0 && keys <= 1e6) || keys != (double)(uint64_t)keys)
        return "a whole number from 0 to 1000000";
    settings->serve.metrics_keys = (uint64_t)keys;
    settings->serve.is_metrics_keys_given = true;
    return NULL;
}

static const cli_option options[] = {
    {"listen", OPTION_TEXT, SETTING(serve.listen), GROUP_SERVICE,
     .brief = "where to listen (default 127.0.0.1:8571)",
     .help = "where to listen (default 127.0.0.1:8571); other machines need --token-file; port 0: "
             "a free one",
     .argument = "HOST:PORT"},
    {"data", OPTION_TEXT, SETTING(serve.data), GROUP_SERVICE,
     .brief = "folder for what is learned (default: nothing is kept)",
     .help = "the folder for streams and what they have learned (default: nothing is kept)",
     .argument = "DIR"},
    {"config", OPTION_TEXT, SETTING(serve.config), GROUP_SERVICE,
     .brief = "JSON with streams, Prometheus queries and options",
     .help = "JSON with streams to create, Prometheus queries, Alertmanager and these options",
     .argument = "FILE"},
    {"save-every", OPTION_APPLY, SETTING(serve.save_seconds), GROUP_SERVICE,
     .brief = "rows are on disk after this time (default 1s)",
     .help = "rows are on disk after this time (default 1s); 0: before they are answered",
     .argument = "TIME", .apply = set_save_every},
    {"token-file", OPTION_TEXT, SETTING(serve.token_file), GROUP_ACCESS,
     .brief = "tokens that allow reading and writing, one per line",
     .help = "file of tokens that allow reading and writing, one per line", .argument = "FILE"},
    {"read-token-file", OPTION_TEXT, SETTING(serve.read_token_file), GROUP_ACCESS,
     .brief = "tokens that allow only reading", .help = "file of tokens that allow only reading",
     .argument = "FILE"},
    {"tls-cert", OPTION_TEXT, SETTING(serve.tls_cert), GROUP_ACCESS,
     .brief = "serve HTTPS with this certificate (PEM)", .argument = "FILE"},
    {"tls-key", OPTION_TEXT, SETTING(serve.tls_key), GROUP_ACCESS,
     .brief = "the key of the certificate (PEM)", .argument = "FILE"},
    {"max-body", OPTION_APPLY, SETTING(serve.max_body_bytes), GROUP_LIMITS,
     .brief = "the largest batch, decompressed (default 64M)", .argument = "BYTES",
     .apply = set_max_body},
    {"max-streams", OPTION_COUNT, SETTING(serve.max_streams), GROUP_LIMITS,
     .brief = "number of streams (default 1000)",
     .help = "how many streams there may be (default 1000)", .argument = "N", .from = 1,
     .to = 1000000, .range = "1 to 1000000"},
    {"max-columns", OPTION_COUNT, SETTING(serve.max_columns), GROUP_LIMITS,
     .brief = "columns of a stream (default 1000)",
     .help = "how many columns the rows of a stream may have (default 1000)", .argument = "N",
     .from = 1, .to = 65536, .range = "1 to 65536"},
    {"max-connections", OPTION_COUNT, SETTING(serve.max_connections), GROUP_LIMITS,
     .brief = "open connections (default 2000)",
     .help = "how many connections may be open (default 2000)", .argument = "N", .from = 8,
     .to = 1000000, .range = "8 to 1000000"},
    {"timeout", OPTION_APPLY, SETTING(serve.timeout_seconds), GROUP_LIMITS,
     .brief = "cut off clients slower than this (default 30s)",
     .help = "a client that sends or reads too slowly for this long is cut off (default 30s)",
     .argument = "TIME", .apply = set_timeout},
    {"history", OPTION_APPLY, SETTING(serve.history_bytes), GROUP_LIMITS,
     .brief = "memory for recent points, per stream (default 64M)",
     .help = "memory for the recent points of each stream (default 64M)", .argument = "BYTES",
     .apply = set_history},
    {"alertmanager", OPTION_TEXT, SETTING(serve.alertmanager), GROUP_MONITORING,
     .brief = "send episodes here, such as to http://127.0.0.1:9093",
     .help = "send episodes to this Alertmanager, such as http://127.0.0.1:9093",
     .argument = "URL"},
    {"prometheus", OPTION_TEXT, SETTING(serve.prometheus), GROUP_MONITORING,
     .brief = "ask this Prometheus for the queries of --config",
     .help = "ask this Prometheus for the queries of the configuration", .argument = "URL"},
    {"external-url", OPTION_TEXT, SETTING(serve.external_url), GROUP_MONITORING,
     .brief = "the page as people reach it, for links in alerts",
     .help = "the page as people reach it, for links in alerts (default: the address to listen on)",
     .argument = "URL"},
    {"metrics-keys", OPTION_APPLY, SETTING(serve.metrics_keys), GROUP_MONITORING,
     .brief = "keys per stream with series in /metrics (default 100)",
     .help = "keys of each stream with series of their own in /metrics: the worst (default 100)",
     .argument = "N", .apply = set_metrics_keys},
};

const cli_command serve_command = {
    .name = "serve",
    .summary = "score rows that arrive over HTTP, with a live page and metrics",
    .usage = "serve [OPTION...]",
    .examples = "  oif serve                               page and API at http://127.0.0.1:8571\n"
                "  oif serve --data /var/lib/oif           what was learned survives a restart\n"
                "  curl --data-binary @readings.csv -H 'Content-Type: text/csv' \\\n"
                "      'http://127.0.0.1:8571/api/v1/streams/pump/rows?create=true'\n"
                "                                          rows in, their scores out\n"
                "  oif serve --listen 0.0.0.0:8571 --token-file token \\\n"
                "      --tls-cert c.pem --tls-key k.pem    for other machines\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};
