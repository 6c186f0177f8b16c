/* The options of oif score, and its help. */
#include "front/text/durations.h"
#include "row_options.h"
#include "rule_options.h"
#include "season_option.h"
#include "small_option.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *set_explain(cli_settings *settings, const char *value)
{
    const char *end = value ? value + strlen(value) : NULL;
    double number = DEFAULT_EXPLAIN_TOP;
    if (value && (oif_number_parse(value, end, &number) != end || !(number >= 1 && number <= 1e6) ||
                  number != (double)(size_t)number))
        return "how many columns, a whole number from 1 on";
    settings->score.explain_top = (size_t)number;
    return NULL;
}

/* Names that every format can write as they are. */
static const char *set_prefix(cli_settings *settings, const char *value)
{
    static const char expected[] = "up to 64 letters, digits and _, no digit first";
    size_t bytes = strlen(value);
    if (bytes == 0 || bytes > PREFIX_MAX_BYTES || strchr("0123456789", *value))
        return expected;
    for (const char *c = value; *c; c++)
        if (!(*c == '_' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
              (*c >= 'A' && *c <= 'Z')))
            return expected;
    settings->score.prefix = value;
    return NULL;
}

/* "10000", "30s", "5m" */
static const char *set_save_every(cli_settings *settings, const char *value)
{
    static const char expected[] = "rows such as 10000, or a time such as 30s or 5m";
    const char *end = value + strlen(value);
    double number;
    settings->rows_between_saves = 0;
    settings->seconds_between_saves = 0;
    const char *unit = oif_number_parse(value, end, &number);
    if (!unit || !(number > 0 && number <= 1e12))
        return expected;
    if (strcmp(unit, "s") == 0)
        settings->seconds_between_saves = number;
    else if (strcmp(unit, "m") == 0)
        settings->seconds_between_saves = number * 60;
    else if (unit == end && number == (double)(uint64_t)number)
        settings->rows_between_saves = (uint64_t)number;
    else
        return expected;
    return NULL;
}

static const char *set_measurement(cli_settings *settings, const char *value)
{
    settings->score.measurement = value;
    return *value ? NULL : "a name";
}

static const char *const bad_row_words[] = {"fail", "skip", "null", NULL};      /* as on_bad_row */
static const char *const grade_words[] = {"note", "warning", "critical", NULL}; /* as oif_grade */

static const cli_option options[] = {
    OPTION_KEY,
    {"threads", OPTION_COUNT, SETTING(score.threads), GROUP_KEYS,
     .help =
         "divide the keys of --key among this many threads (default 1): the same output, faster",
     .argument = "N", .from = 1, .to = OIF_THREADS_MAX, .range = "1 to 16"},
    {"time", OPTION_TEXT, SETTING(score.time), GROUP_COLUMNS,
     .brief = "the column with the time of a row",
     .help = "the column with the time of a row: ISO 8601, a number of seconds, milliseconds, ... "
             "since 1970, dates such as 1/31/2026 1:05 PM, 31-Jan-2026 and 20260131, or as in "
             "syslog and common log; Date+Time: the date and the time of day are in two columns; "
             "it is not learned, and shown with alerts",
     .argument = "COL", .stream = STREAM_FIXES},
    OPTION_TIME_YEAR,
    OPTION_TIME_FORMAT,
    OPTIONS_DERIVED,
    OPTION_CATEGORY,
    OPTION_KEEP_ORIGINAL,
    {"season", OPTION_APPLY, SETTING(options), GROUP_DETECTOR,
     .brief = "the stream repeats after N rows, 1d, 1w; auto; off",
     .help = "the stream repeats itself after this many rows, or after a time such as 24h, 1d or "
             "1w of --time, so a value may be unusual for its time; may be given twice, for a day "
             "and a week; auto (the default): search for it while rows arrive, which takes a few "
             "periods; off: none",
     .argument = "PERIOD", .apply = season_set, .on = "auto", .is_repeated = true,
     .stream = STREAM_FIXES},
    OPTION_SMALL,
    {"label", OPTION_TEXT, SETTING(label), GROUP_COLUMNS,
     .help = "leave this column out of learning, for example known labels", .argument = "COL",
     .stream = STREAM_FIXES},
    {"fields", OPTION_NAMES, SETTING(score.fields), GROUP_OUTPUT,
     .brief = "what to add to a row (default score,p,anomaly)",
     .help =
         "what is added to a row (default score,p,anomaly): score; p, the share of recent scores "
         "that are at least as high; severity: one ordinary row in 10^severity scores as high; "
         "threshold; anomaly; grade: note, warning (severity 4 or more) or critical (5 or more); "
         "ready; learned; episode: begins, lasts or ends; and about the row's episode: episode_id, "
         "counted per key; episode_start, a time or a row number; episode_rows; episode_peak, its "
         "highest severity; episode_why, the main reason at its peak; why; expected: the value of "
         "the main column and what was expected; expected_low; expected_high",
     .argument = "A,B,...", .stream = STREAM_CHANGES},
    {"prefix", OPTION_APPLY, SETTING(score.prefix), GROUP_OUTPUT,
     .help = "name the added fields NAME_score, NAME_p, ..., in JSON a member NAME instead of oif: "
             "for rows that already have such names, as from another oif",
     .argument = "NAME", .apply = set_prefix, .stream = STREAM_CHANGES},
    {"explain", OPTION_APPLY, SETTING(score.explain_top), GROUP_OUTPUT,
     .brief = "show why: the TOP columns, low or high (default 3)",
     .help =
         "show why a row is anomalous: the TOP columns with their shares, low or high (default 3)",
     .argument = "[TOP]", .apply = set_explain, .stream = STREAM_CHANGES},
    {"only-alerts", OPTION_SWITCH, SETTING(score.only_alerts), GROUP_OUTPUT,
     .brief = "print only anomalous rows", .stream_remedy = "send rows with answer=alerts instead"},
    {"min-grade", OPTION_WORD, SETTING(score.min_grade), GROUP_OUTPUT,
     .brief = "only rows this bad: note, warning or critical",
     .help =
         "print only anomalous rows of at least this grade; --alert-once and --on-alert then wait "
         "until an episode reaches it, for example to page on critical ones",
     .argument = "GRADE", .words = grade_words, .from = OIF_GRADE_NOTE,
     .stream_remedy = "send rows with answer=alerts instead, and look at their grade"},
    {"alert-once", OPTION_SWITCH, SETTING(score.alert_once), GROUP_OUTPUT,
     .brief = "print two rows per episode: its first and its end",
     .help = "print two rows per episode of anomalies: the first, and the one that ends it",
     .stream_remedy = "ask for episodes instead"},
    {"only-high", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .brief = "alert when these columns are high, not when low",
     .help = "alert only when these columns are higher than expected: names or patterns",
     .argument = "COLS", .apply = rule_only_high, .is_repeated = true, .stream = STREAM_CHANGES},
    {"only-low", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .help = "alert only when these columns are lower than expected: names or patterns",
     .argument = "COLS", .apply = rule_only_low, .is_repeated = true, .stream = STREAM_CHANGES},
    {"min-change", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .brief = "no alert for less, such as latency=20%,errors=5",
     .help = "no alert when a column is outside what was expected by less than this: in percent, "
             "or in the unit of the column, such as latency=20%,errors=5",
     .argument = "COL=N[%]", .apply = rule_min_change, .is_repeated = true,
     .stream = STREAM_CHANGES},
    {"mute", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .brief = "mute alerts: 'column=C direction=low key=K*'",
     .help = "mute alerts by a rule of column=, direction=, change<, reason=, key=, time=, "
             "days=, zone=, from=, until=, such as 'key=db-* time=02:00-04:00'; may be given "
             "several times; see the page on quiet alerts in the manual",
     .argument = "RULE", .apply = rule_mute, .is_repeated = true, .stream = STREAM_CHANGES},
    {"rules", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .help = "rules from a file, one per line; a state keeps its rules until others are given",
     .argument = "FILE", .apply = rule_file, .is_repeated = true,
     .stream_remedy = "a stream reads no files: send the rules as \"mute\""},
    {"ignore-time", OPTION_APPLY, SETTING(score.rules), GROUP_ALERTS,
     .help = "planned work: rows between two times, such as 2026-11-17T22:00..2026-11-18T02:00, "
             "are scored, but cause no alert and are not learned",
     .argument = "FROM..TO", .apply = rule_ignore_time, .is_repeated = true,
     .stream = STREAM_CHANGES},
    {"two-pass", OPTION_CONSTANT, SETTING(score.passes), GROUP_DETECTOR,
     .help = "read all rows, up to 2000, then compare each with all others; the default for files "
             "of 40 to 2000 rows, or 500 with times, unless --state, --key, --category, --alerts, "
             "--learn or --watch is given",
     .from = PASSES_TWO, .stream_remedy = "a stream does not end"},
    {"one-pass", OPTION_CONSTANT, SETTING(score.passes), GROUP_DETECTOR,
     .help = "compare each row with those before it, as in a stream, even if the file is short",
     .from = PASSES_ONE, .stream_remedy = "a stream is always read so"},
    {"incidents", OPTION_SWITCH, SETTING(score.incidents), GROUP_OUTPUT,
     .help = "instead of rows, print a JSON record when an incident begins and when it is over: "
             "episodes of several keys and columns that begin together; --on-alert then runs once "
             "for each of these",
     .stream_remedy = "ask for episodes instead"},
    {"verbose", OPTION_SWITCH, SETTING(verbose), GROUP_OUTPUT,
     .help = "-v: print what is learned, from which columns, what is left out and why, and when "
             "the first alert may come",
     .stream_remedy = "GET the stream: it says what is learned"},
    {"quiet", OPTION_SWITCH, SETTING(is_silent), GROUP_OUTPUT,
     .help = "-q: print no notes and no summary on stderr, only errors",
     .stream_remedy = "answers have no notes that can be left out"},
    {"on-bad-row", OPTION_WORD, SETTING(score.on_bad_row), GROUP_INPUT,
     .brief = "fail (the default), skip the row, or null its numbers",
     .help = "what to do with a row that cannot be read: fail, skip it, or treat its bad numbers "
             "as missing; with skip and null the first line may be bad too",
     .argument = "WORD", .words = bad_row_words, .from = BAD_ROW_FAILS, .stream = STREAM_CHANGES},
    {"output", OPTION_WORD, SETTING(score.output), GROUP_OUTPUT,
     .brief = "csv, ndjson, logfmt, influx or prometheus",
     .help = "the format of the output (default: that of the input); logfmt: name=value; influx: "
             "line protocol, with the key as a tag; prometheus: instead of rows, the latest values "
             "of each key and the totals, at the end or in --output-file",
     .argument = "FORMAT", .words = output_format_words, .from = OUTPUT_CSV,
     .stream_remedy = "answers have the format of the rows"},
    {"output-file", OPTION_TEXT, SETTING(score.output_file), GROUP_OUTPUT,
     .help = "for --output prometheus: write to this file, such as FILE.prom for the node "
             "exporter's textfile collector; it is replaced atomically every 15 s and at the end",
     .argument = "FILE", .stream_remedy = "a stream writes no files: /metrics has its figures"},
    {"output-every", OPTION_AMOUNT, SETTING(score.output_every), GROUP_OUTPUT,
     .help = "for --output prometheus: how often to write", .argument = "TIME", .from = DBL_MIN,
     .to = HUGE_VAL, .range = "a time such as 15s or 1m", .parse = duration_parse,
     .stream_remedy = "a stream writes no files: /metrics has its figures"},
    {"output-keys", OPTION_COUNT, SETTING(score.output_keys), GROUP_OUTPUT,
     .help = "for --output prometheus: how many keys get their own series (default 1000)",
     .argument = "N", .from = 1, .to = 1e7, .range = "1 to 1e7",
     .stream_remedy = "a stream writes no files: /metrics has its figures"},
    {"measurement", OPTION_APPLY, SETTING(score.measurement), GROUP_OUTPUT,
     .help = "for --output influx: the name of the measurement (default oif)", .argument = "NAME",
     .apply = set_measurement, .stream_remedy = "answers have the format of the rows"},
    {"no-output-header", OPTION_SWITCH, SETTING(score.no_output_header), GROUP_OUTPUT,
     .help = "print CSV without a header, for example for logger",
     .stream_remedy = "answers have the header of the rows"},
    {"digits", OPTION_COUNT, SETTING(score.digits), GROUP_OUTPUT,
     .help = "significant digits of added numbers (default: all)", .argument = "N", .from = 1,
     .to = 17, .range = "1 to 17", .stream = STREAM_CHANGES},
    {"on-alert", OPTION_TEXT, SETTING(score.on_alert), GROUP_ALERTS,
     .brief = "run this with sh when an episode begins and ends",
     .help = "run this with sh when an episode or a silence begins and when it ends; the command "
             "gets a JSON record on standard input and OIF_EPISODE=begins or ends; the stream does "
             "not wait for it",
     .argument = "COMMAND",
     .stream_remedy = "a stream runs no commands: use Alertmanager or /api/v1/events"},
    {"on-alert-wait", OPTION_AMOUNT, SETTING(score.on_alert_wait), GROUP_ALERTS,
     .help = "at the end, wait this long for commands that are still running (default 10s)",
     .argument = "TIME", .to = HUGE_VAL, .range = "a time such as 10s or 1m",
     .parse = duration_parse, .given = SETTING(score.is_on_alert_wait_given),
     .stream_remedy = "a stream runs no commands"},
    {"fail-on-alert", OPTION_SWITCH, SETTING(score.fail_on_alert), GROUP_ALERTS,
     .help = "exit with status 3 if a row was anomalous (with --min-grade: of that grade) or a key "
             "fell silent; for scripts and CI",
     .stream_remedy = "a stream has no exit code: ask /api/v1/now"},
    {"watch", OPTION_SWITCH, SETTING(score.watch), GROUP_OUTPUT,
     .brief = "show a live view instead of rows",
     .help = "show a live view instead of rows; without a terminal, print only anomalous rows",
     .stream_remedy = "the page shows it"},
    {"state", OPTION_TEXT, SETTING(state), GROUP_STATE,
     .brief = "resume from this file, and save to it at the end",
     .help =
         "resume from this file if it exists, with columns of the same names, and save to it at "
         "the end",
     .argument = "FILE", .stream_remedy = "the server keeps the state itself"},
    {"save-every", OPTION_APPLY, SETTING(rows_between_saves), GROUP_STATE,
     .help = "also save every N rows, seconds or minutes", .argument = "N|Ns|Nm",
     .apply = set_save_every,
     .stream_remedy = "the server saves by itself: oif serve --save-every"},
    {"rename", OPTION_NAMES, SETTING(score.rename), GROUP_STATE,
     .help = "rename columns that the state knows by another name; it keeps the new name",
     .argument = "OLD=NEW,...", .stream_remedy = "send the rows with the old names"},
    {"allow-lost", OPTION_SWITCH, SETTING(score.allow_lost), GROUP_STATE,
     .help = "if a CSV file lacks a column that the state has learned, take it as missing in every "
             "row instead of failing",
     .stream_remedy = "send the column, with empty values"},
    {"new-columns", OPTION_COUNT, SETTING(score.new_columns), GROUP_COLUMNS,
     .help = "learn columns that appear later, as keys of NDJSON or in files after the state was "
             "made, until there are N columns (default: they are left out)",
     .argument = "N", .from = 0, .to = 4096, .range = "0 to 4096",
     .stream_remedy = "a stream keeps its columns; make another one for rows that have more"},
    {"skip-seen", OPTION_SWITCH, SETTING(score.skip_seen), GROUP_STATE,
     .help =
         "skip the rows that the state has already seen: the input restarts from the beginning, "
         "or is a rotated file",
     .stream_remedy = "send first_row=N with the rows instead"},
};

const cli_command score_command = {
    .name = "score",
    .summary = "score every row of a stream, and show which are anomalous and why",
    .usage = "score [OPTION...] [FILE|-]...",
    .examples = "  oif score readings.csv > scored.csv          adds score, p and anomaly to rows\n"
                "  tail -f readings.csv | oif score             scores each row as it arrives\n"
                "  oif score -v flows.csv                       what is learned, what is left out\n"
                "  oif score --only-alerts --explain flows.csv  only anomalous rows, and why\n"
                "  oif score --key host --state s.oif all.csv   a model per host, kept for later\n",
    .more_examples =
        "  oif score old.csv.gz 'logs/*.csv.zst'        reads several files as one stream\n"
        "  oif score --strict --exclude host flows.csv  guesses nothing about columns\n"
        "  oif score --category state,port --only-alerts --explain hosts.csv\n"
        "                                               learns text too: a value never\n"
        "                                               seen before is an anomaly\n"
        "  oif score --min-grade critical --fields severity,why flows.ndjson\n"
        "                                               only the worst, for a pager\n"
        "  oif score --key host --threads 4 fleet.csv > scored.csv\n"
        "                                               the same output, faster: threads\n"
        "                                               share the hosts\n"
        "  oif score --key host --time at --alert-once --alert-rate 0.0001 flows.ndjson\n"
        "                                               a model for each host, two lines\n"
        "                                               for each episode\n"
        "  tail -n +1 -F readings.csv |\n"
        "    oif score --state pump.oif --save-every 30s --skip-seen\n"
        "                                               resumes after a restart, bit for\n"
        "                                               bit\n"
        "  oif score --state pump.oif history.csv > /dev/null\n"
        "                                               learns from history first: alerts\n"
        "                                               from the first live row on\n"
        "  oif score --state pump.oif --learn none new.csv\n"
        "                                               compares rows with what was\n"
        "                                               learned, and learns nothing\n"
        "  oif score --key host --time at --alerts 5/day --cooldown 10m flows.ndjson\n"
        "                                               as many episodes as a person can\n"
        "                                               handle\n"
        "  oif score --time at --season 1d --season 1w --only-alerts rides.csv\n"
        "                                               what is unusual for this time of\n"
        "                                               the day or week\n"
        "  oif score a.csv | oif score --prefix loda --detector loda\n"
        "                                               two detectors: adds\n"
        "                                               score,p,anomaly,loda_score,...\n"
        "  tail -f flows.csv | oif score --key host --output prometheus \\\n"
        "    --output-file /var/lib/prometheus/node-exporter/oif.prom\n"
        "                                               the latest score of each host,\n"
        "                                               for Prometheus\n"
        "  tail -f flows.csv |\n"
        "    oif score --key host --on-alert 'jq -r .text | mail -s oif ops'\n"
        "                                               a mail when an episode begins or\n"
        "                                               ends\n"
        "  oif score --key host --time at --incidents fleet.csv | jq -r .text\n"
        "                                               one line instead of forty: what\n"
        "                                               began together, and where first\n"
        "  oif score --fail-on-alert --state s.oif new.csv > /dev/null || echo look\n"
        "                                               in a script: exit status 3 means\n"
        "                                               that there was an alert\n"
        "  tail -f flows.csv | oif score --watch        a live view of scores and alerts\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .reads_rows = true,
    .takes_params = true,
    .takes_pipeline = true,
};
