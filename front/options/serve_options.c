/* The options of oif serve, and its help. */
#include "front/text/byte_sizes.h"
#include "front/text/durations.h"
#include "options.h"

static const option_entry options[] = {
    {"listen", OPTION_TEXT, SETTING(serve.listen), GROUP_SERVICE,
     .brief = "where to listen (default 127.0.0.1:8571)",
     .help = "where to listen (default 127.0.0.1:8571), or unix:PATH; other machines need "
             "--token-file; port 0: a free one",
     .argument = "HOST:PORT"},
    {"data", OPTION_TEXT, SETTING(serve.data), GROUP_SERVICE,
     .brief = "folder for what is learned (default: nothing is kept)",
     .help = "the folder for streams and what they have learned (default: nothing is kept)",
     .argument = "DIR"},
    {"config", OPTION_TEXT, SETTING(serve.config), GROUP_SERVICE,
     .brief = "JSON with streams, Prometheus queries and options",
     .help = "JSON with streams to create, Prometheus queries, Alertmanager and these options",
     .argument = "FILE"},
    {"save-every", OPTION_AMOUNT, SETTING(serve.save_seconds), GROUP_SERVICE,
     .brief = "rows are on disk after this time (default 1s)",
     .help = "rows are on disk after this time (default 1s); 0: before they are answered",
     .argument = "TIME", .from = 0, .to = 86400,
     .range = "a time from 0 to 1d, such as 1s or 50ms; 0: before every answer",
     .parse = duration_parse, .given = SETTING(serve.is_save_given)},
    {"token-file", OPTION_TEXT, SETTING(serve.token_file), GROUP_ACCESS,
     .brief = "the token to read and write, alone in its file",
     .help = "file with the token to read and write; openssl rand -hex 32 makes one",
     .argument = "FILE"},
    {"read-token-file", OPTION_TEXT, SETTING(serve.read_token_file), GROUP_ACCESS,
     .brief = "the token to read, alone in its file",
     .help = "file with the token to read, and no more", .argument = "FILE"},
    {"proxies", OPTION_NAMES, SETTING(serve.proxies), GROUP_ACCESS,
     .brief = "proxies that are trusted to name the client",
     .help = "addresses of proxies whose headers X-Forwarded-For and X-Forwarded-User are trusted "
             "to name the client, such as 192.0.2.1; those on a local socket always are",
     .argument = "LIST"},
    {"tls-cert", OPTION_TEXT, SETTING(serve.tls_cert), GROUP_ACCESS,
     .brief = "serve HTTPS with this certificate (PEM)", .argument = "FILE"},
    {"tls-key", OPTION_TEXT, SETTING(serve.tls_key), GROUP_ACCESS,
     .brief = "the key of the certificate (PEM)", .argument = "FILE"},
    {"max-body", OPTION_AMOUNT, SETTING(serve.max_body_bytes), GROUP_LIMITS,
     .brief = "the largest batch, decompressed (default 64M)", .argument = "BYTES", .from = 1024,
     .to = 1e12, .range = "a number of bytes from 1K on, such as 64M", .parse = byte_size_parse},
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
    {"timeout", OPTION_AMOUNT, SETTING(serve.timeout_seconds), GROUP_LIMITS,
     .brief = "cut off clients slower than this (default 30s)",
     .help = "cut off clients that take longer than this, plus a second per 32 KiB, to send a "
             "request or read an answer (default 30s)",
     .argument = "TIME", .from = 1, .to = 3600, .range = "a time from 1s to 1h",
     .parse = duration_parse},
    {"history", OPTION_AMOUNT, SETTING(serve.history_bytes), GROUP_LIMITS,
     .brief = "memory for recent points, per stream (default 64M)",
     .help = "memory for the recent points of each stream (default 64M)", .argument = "BYTES",
     .from = 65536, .to = 1e12, .range = "a number of bytes from 64K on, such as 64M",
     .parse = byte_size_parse},
    {"history-disk", OPTION_AMOUNT, SETTING(serve.history_disk_bytes), GROUP_LIMITS,
     .brief = "disk for hours and days, per stream (default 128M)",
     .help = "space in --data for the hours and days of each stream (default 128M); 0: none",
     .argument = "BYTES", .from = 0, .to = 1e15, .range = "a number of bytes such as 128M, or 0",
     .parse = byte_size_parse, .given = SETTING(serve.is_history_disk_given)},
    {"alertmanager", OPTION_TEXT, SETTING(serve.alertmanager), GROUP_MONITORING,
     .brief = "send episodes here, such as http://127.0.0.1:9093",
     .help = "send episodes to this Alertmanager, such as http://127.0.0.1:9093",
     .argument = "URL"},
    {"prometheus", OPTION_TEXT, SETTING(serve.prometheus), GROUP_MONITORING,
     .brief = "ask this Prometheus for the queries of --config",
     .help = "ask this Prometheus for the queries of the configuration", .argument = "URL"},
    {"external-url", OPTION_TEXT, SETTING(serve.external_url), GROUP_MONITORING,
     .brief = "the page as people reach it, for links in alerts",
     .help = "the page as people reach it, for links in alerts and behind a proxy, such as "
             "https://example.org/oif (default: the address to listen on)",
     .argument = "URL"},
};

const command_entry serve_command = {
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
