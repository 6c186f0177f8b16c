/* The options of oif score, and its help. */
#include "front/text/durations.h"
#include "row_options.h"
#include "rule_options.h"
#include "season_option.h"

#include <string.h>

/* "10000", "30s", "5m" */
static const char *set_save_every(run_settings *settings, const char *value)
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

/* The pipeline's option `learn`, of which the command line has only the default and none. */
static const char *set_freeze(run_settings *settings, const char *value)
{
    const bool is_on = !value || strcmp(value, "on") == 0;
    oif_params words = settings->options;
    double learn = 0;
    if (!is_on && strcmp(value, "off") != 0)
        return "on or off";
    return oif_params_set_text(&words, "learn", is_on ? "none" : "decay", NULL) == OIF_OK &&
                   oif_params_get(&words, "learn", &learn, NULL) == OIF_OK &&
                   settings_set_option(settings, "learn", learn)
               ? NULL
               : "on or off";
}

static const char *const printed_words[] = {"all", "alerts", "episodes", "incidents",
                                            NULL};                         /* as printed_rows */
static const char *const bad_row_words[] = {"fail", "skip", "null", NULL}; /* as on_bad_row */
static const char *const grade_words[] = {"note", "warning", "critical", NULL}; /* as oif_grade */

static const option_entry options[] = {
    OPTION_KEY,
    {"time", OPTION_TEXT, SETTING(score.time), GROUP_COLUMNS,
     .brief = "the column with the time of a row",
     .help = "the column with the time of a row: ISO 8601, a number of seconds, milliseconds, ... "
             "since 1970, dates such as 1/31/2026 1:05 PM, 31-Jan-2026 and 20260131, or as in "
             "syslog and common log; Date+Time: the date and the time of day are in two columns; "
             "it is not learned, and shown with alerts",
     .argument = "COL", .stream = STREAM_FIXES},
    OPTION_TIME_FORMAT,
    OPTION_RATE,
    OPTION_CATEGORY,
    {"season", OPTION_APPLY, SETTING(options), GROUP_DETECTOR,
     .brief = "the stream repeats after N rows, 1d, 1w; auto; off",
     .help = "the stream repeats itself after this many rows, or after a time such as 24h, 1d or "
             "1w of --time, so a value may be unusual for its time; may be given twice, for a day "
             "and a week; auto (the default): search for it while rows arrive, which takes a few "
             "periods; off: none",
     .argument = "PERIOD", .apply = season_set, .on = "auto", .is_repeated = true,
     .stream = STREAM_FIXES},
    {"freeze", OPTION_APPLY, SETTING(options), GROUP_DETECTOR,
     .brief = "learn nothing: compare rows with --state FILE",
     .help = "learn nothing: compare rows with what --state FILE has learned",
     .argument = "[on|off]", .apply = set_freeze, .on = "on", .stream = STREAM_CHANGES},
    {"label", OPTION_TEXT, SETTING(label), GROUP_COLUMNS,
     .help = "leave this column out of learning, for example known labels", .argument = "COL",
     .stream = STREAM_FIXES},
    {"fields", OPTION_NAMES, SETTING(score.fields), GROUP_OUTPUT,
     .brief = "what to add (default score,severity,anomaly)",
     .help =
         "what is added to a row (default score,severity,anomaly, where only alerts are printed "
         "also why): score: what the detector says; severity: how rare the row is, one unit more "
         "is about a tenth as frequent; threshold: higher severities are anomalies; anomaly; "
         "grade: note, warning (severity 3.3 or more) or critical (4 or more); ready; episode: "
         "begins, lasts or ends; episode_id, counted per key; why: up to three columns, and what "
         "is unusual about them; expected: the value of the main column and what was expected; the "
         "first 48 rows of a key come too early to be judged: their severity and anomaly are empty",
     .argument = "A,B,...", .stream = STREAM_CHANGES},
    {"rows", OPTION_WORD, SETTING(score.rows), GROUP_OUTPUT,
     .brief = "what to print: all, alerts, episodes or incidents",
     .help = "what to print: all rows (the default); alerts: only anomalous ones, and why, as they "
             "come; episodes: one line per episode, its worst row, once the episode has ended, "
             "which 16 rows without an anomaly show, and at the end of the input at once; or "
             "instead of rows a JSON record when an "
             "incident begins and when it is over, which are episodes of several keys and columns "
             "that begin together: --on-alert then runs once for each of these",
     .argument = "WHAT", .words = printed_words, .from = PRINT_ALL,
     .stream_remedy = "send rows with answer=alerts instead, or ask for episodes"},
    {"only-alerts", OPTION_CONSTANT, SETTING(score.rows), GROUP_OUTPUT,
     .brief = "short for --rows episodes: the worst row of each", .from = PRINT_EPISODES,
     .stream_remedy = "send rows with answer=alerts instead"},
    {"min-grade", OPTION_WORD, SETTING(score.min_grade), GROUP_OUTPUT,
     .brief = "only rows this bad: note, warning or critical",
     .help =
         "print only anomalous rows of at least this grade, and why; --rows episodes and "
         "--on-alert then wait until an episode reaches it, for example to page on critical ones",
     .argument = "GRADE", .words = grade_words, .from = OIF_GRADE_NOTE,
     .stream_remedy = "send rows with answer=alerts instead, and look at their grade"},
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
    {"output", OPTION_WORD, SETTING(score.output), GROUP_OUTPUT, .brief = "csv, ndjson or logfmt",
     .help = "the format of the output (default: that of the input); logfmt: name=value",
     .argument = "FORMAT", .words = output_format_words, .from = OUTPUT_CSV,
     .stream_remedy = "answers have the format of the rows"},
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
    {"skip-seen", OPTION_SWITCH, SETTING(score.skip_seen), GROUP_STATE,
     .help =
         "skip the rows that the state has already seen: the input restarts from the beginning, "
         "or is a rotated file",
     .stream_remedy = "send first_row=N with the rows instead"},
};

const command_entry score_command = {
    .name = "score",
    .summary = "score every row of a stream: which are anomalous, and why",
    .usage = "score [OPTION...] [FILE|-]...",
    .examples = "  oif score readings.csv > scored.csv          adds score, severity, anomaly\n"
                "  tail -f readings.csv | oif score             scores each row as it arrives\n"
                "  oif score -v flows.csv                       what is learned, what is left out\n"
                "  oif score --only-alerts flows.csv            one line per episode, and why\n"
                "  oif score --key host --state s.oif all.csv   a model per host, kept for later\n",
    .more_examples =
        "  oif score old.csv.gz 'logs/*.csv.zst'        reads several files as one stream\n"
        "  oif score --strict --exclude host flows.csv  guesses nothing about columns\n"
        "  oif score --category state,port --only-alerts hosts.csv\n"
        "                                               learns text too: a value never\n"
        "                                               seen before is an anomaly\n"
        "  oif score --min-grade critical --fields severity,why flows.ndjson\n"
        "                                               only the worst, for a pager\n"
        "  oif score --key host --time at --rows episodes flows.ndjson\n"
        "                                               a model for each host, one line\n"
        "                                               for each episode: its worst row\n"
        "  tail -n +1 -F readings.csv |\n"
        "    oif score --state pump.oif --save-every 30s --skip-seen\n"
        "                                               resumes after a restart, bit for\n"
        "                                               bit\n"
        "  oif score --state pump.oif history.csv > /dev/null\n"
        "                                               learns from history first: alerts\n"
        "                                               from the first live row on\n"
        "  oif score --state pump.oif --freeze new.csv\n"
        "                                               compares rows with what was\n"
        "                                               learned, and learns nothing\n"
        "  oif score --key host --time at --alerts 5/day flows.ndjson\n"
        "                                               as many episodes as a person can\n"
        "                                               handle\n"
        "  oif score --time at --season 1d --season 1w --only-alerts rides.csv\n"
        "                                               what is unusual for this time of\n"
        "                                               the day or week\n"
        "  tail -f flows.csv |\n"
        "    oif score --key host --on-alert 'jq -r .text | mail -s oif ops'\n"
        "                                               a mail when an episode begins or\n"
        "                                               ends\n"
        "  oif score --key host --time at --rows incidents fleet.csv | jq -r .text\n"
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
