#include "options.h"

#include "front/formats/formats.h"
#include "front/text/durations.h"
#include "pipeline_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options that commands share ---- */

static const char *set_pivot(run_settings *settings, const char *value)
{
    const char *colon = strrchr(value, ':');
    if (!colon || colon == value || colon[1] == '\0' || colon - value >= 256)
        return "METRIC:VALUE, the columns of the names and of the numbers";
    settings->pivot = value;
    return NULL;
}

const char *set_time_format(run_settings *settings, const char *value)
{
    const bool is_day = strcmp(value, "day-first") == 0,
               is_month = strcmp(value, "month-first") == 0;
    settings->score.day_order = is_day     ? OIF_DAY_FIRST
                                : is_month ? OIF_MONTH_FIRST
                                           : OIF_DAY_ORDER_AUTO;
    settings->score.time_pattern = is_day || is_month ? NULL : value;
    return is_day || is_month || oif_time_check_pattern(value, NULL) == OIF_OK
               ? NULL
               : "a pattern with a year, month and day, such as '%d.%m.%Y %H:%M', or day-first or "
                 "month-first";
}

oif_time_format settings_time_format(const run_settings *settings)
{
    return (oif_time_format){.day_order = settings->score.day_order,
                             .pattern = settings->score.time_pattern};
}

/* Of every command that reads rows. */
static const option_entry input_options[] = {
    {"columns", OPTION_NAMES, SETTING(columns), GROUP_COLUMNS, .brief = "learn only these columns",
     .argument = "A,B,...", .stream = STREAM_FIXES},
    {"exclude", OPTION_NAMES, SETTING(exclude), GROUP_COLUMNS, .brief = "leave these columns out",
     .help = "leave these columns out, for example names and times", .argument = "A,B,...",
     .stream = STREAM_FIXES},
    {"missing", OPTION_NAMES, SETTING(missing), GROUP_COLUMNS,
     .help = "these values mean missing, besides an empty field, NA, null, ? and the like: numbers "
             "or words such as -200,unknown; COL=-200 only in these columns",
     .argument = "V,COL=V,...", .stream = STREAM_FIXES},
    {"strict", OPTION_SWITCH, SETTING(strict), GROUP_COLUMNS,
     .help = "guess nothing: refuse columns that hold text, times or numbers that only rise unless "
             "options name them",
     .stream = STREAM_FIXES},
    {"format", OPTION_WORD, SETTING(format), GROUP_INPUT,
     .brief = "csv, ndjson, json, ... (default: found)",
     .help = "the format of the input (default: by file name and first line); sysstat is the text "
             "of sar, mpstat, pidstat and iostat, sadf that of "
             "sadf -d; json is the first array of objects in a document; prometheus is the text of "
             "scrapes, each a row; access-log is that of web servers, a row per --every",
     .argument = "FORMAT", .words = format_words, .from = 1, .stream = STREAM_FIXES},
    {"pivot", OPTION_APPLY, SETTING(pivot), GROUP_INPUT,
     .help = "rows hold one value each: the names in METRIC become columns with the numbers in "
             "VALUE; rows of the same time, and of the same --key, become one",
     .argument = "METRIC:VALUE", .apply = set_pivot,
     .stream_remedy = "send rows with one column for each metric"},
    {"csv", OPTION_APPLY, SETTING(delimiter), GROUP_INPUT,
     .brief = "how CSV is written, such as 'sep=; decimal=,'",
     .help = "how CSV is written (default: found in the first lines), words such as "
             "'sep=; decimal=, header=no comment=# skip=3': the character between fields, or tab, "
             "or space for any run of spaces and tabs; the decimal sign; whether the first line is "
             "a header, else columns are called x0, x1, ...; what comment lines begin with; lines "
             "to skip at the start of each file",
     .argument = "WORDS", .apply = csv_option_set, .is_repeated = true, .stream = STREAM_FIXES},
    {"every", OPTION_AMOUNT, SETTING(every), GROUP_INPUT,
     .help = "the time of one row of an access log (default 1m)", .argument = "TIME", .from = 1,
     .to = 86400, .range = "a time from 1s to 1d", .parse = duration_parse,
     .stream_remedy = "rows are CSV or NDJSON"},
};

static const option_entry help_options[] = {
    {"help", OPTION_SWITCH, 0, GROUP_HELP,
     .help = "-h: print examples and the options that people need most",
     .stream_remedy = "GET /api/v1/openapi.json"},
    {"help-all", OPTION_SWITCH, 0, GROUP_HELP,
     .help = "print all examples, options, ranges and defaults; with --detector NAME, the "
             "parameters of that detector",
     .stream_remedy = "GET /api/v1/openapi.json"},
};

enum {
    INPUT_OPTION_COUNT = sizeof input_options / sizeof *input_options,
    HELP_OPTION_COUNT = sizeof help_options / sizeof *help_options
};

/* Of every command that takes parameters. chosen_detector has read the name before all else. */
const option_entry detector_option = {
    "detector",
    OPTION_SWITCH,
    SETTING(is_detector_given),
    GROUP_DETECTOR,
    .brief = "how rows are scored (default " OIF_DEFAULT_DETECTOR ")",
    .help = "the detector that scores the rows (default " OIF_DEFAULT_DETECTOR
            "): rolling-iforest, online-iforest, iforest-asd, hst, rrcf, loda or sdo; the page on "
            "choosing a detector compares them; A+B: both judge together",
    .argument = "NAME",
    .stream = STREAM_FIXES};

const option_entry *command_option(const command_entry *command, size_t index)
{
    size_t input_count = command->reads_rows ? INPUT_OPTION_COUNT : 0;
    if (command->takes_params && index-- == 0)
        return &detector_option;
    if (index < command->option_count)
        return &command->options[index];
    index -= command->option_count;
    if (index < input_count)
        return &input_options[index];
    index -= input_count;
    return index < HELP_OPTION_COUNT ? &help_options[index] : NULL;
}

const char *option_argument(const option_entry *option, char text[ARGUMENT_TEXT_BYTES])
{
    int length = 0;
    if (option->kind != OPTION_WORD)
        return option->argument;
    for (size_t i = 0; option->words[i] && length < ARGUMENT_TEXT_BYTES; i++)
        length += snprintf(text + length, ARGUMENT_TEXT_BYTES - (size_t)length, "%s%s",
                           i > 0 ? "|" : "", option->words[i]);
    return text;
}

char *settings_keep_text(run_settings *settings, const char *text, size_t bytes)
{
    joined_text *joined = malloc(sizeof *joined + bytes + 1);
    if (!joined)
        return NULL;
    snprintf(joined->text, bytes + 1, "%.*s", (int)bytes, text);
    joined->before = settings->joined;
    settings->joined = joined;
    return joined->text;
}

void settings_close(run_settings *settings)
{
    free(settings->files);
    settings->files = NULL;
    free(settings->score.rules.text);
    settings->score.rules = (given_rules){.text = NULL};
    while (settings->joined) {
        joined_text *before = settings->joined->before;
        free(settings->joined);
        settings->joined = before;
    }
}

/* ---- Detectors and pipelines ---- */

static bool is_param(const oif_params *params, const char *word, size_t bytes)
{
    for (size_t i = 0; i < params->table->param_count; i++)
        if (strlen(params->table->params[i].name) == bytes &&
            memcmp(params->table->params[i].name, word, bytes) == 0)
            return true;
    return false;
}

static bool is_pipeline_flag(const char *word, size_t bytes)
{
    char name[FLAG_NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)bytes, word);
    return bytes < sizeof name && pipeline_flag_find(name);
}

/* Of the library, whose messages name parameters as programs do: "window_size is too large" becomes
 * "--window-size is too large". */
static exit_code complain_params(const run_settings *settings, oif_status status,
                                 const oif_error *error)
{
    char text[2 * OIF_ERROR_MESSAGE_BYTES + 2], *to = text;
    for (const char *word = error->message; *word;) {
        size_t bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
        bool is_flag = status == OIF_EPARAM &&
                       (is_param(&settings->params, word, bytes) || is_pipeline_flag(word, bytes));
        bytes += bytes == 0; /* between words */
        to += sprintf(to, "%s%.*s", is_flag ? "--" : "", (int)bytes, word);
        for (char *c = to - bytes; is_flag && c < to; c++)
            *c = *c == '_' ? '-' : *c;
        word += bytes;
    }
    *to = '\0';
    return complain_because(&(complaint_reason){.cause = error->cause},
                            status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s", text);
}

exit_code settings_make_detector(const run_settings *settings, size_t dimension,
                                 oif_detector **detector)
{
    oif_error error;
    oif_status status = oif_detector_new(&settings->params, dimension, detector, &error);
    return status == OIF_OK ? EXIT_OK : complain_params(settings, status, &error);
}

exit_code settings_make_pipeline(const run_settings *settings, size_t columns,
                                 oif_pipeline **pipeline)
{
    oif_error error;
    oif_status status =
        oif_pipeline_new(&settings->params, columns, &settings->options, pipeline, &error);
    return status == OIF_OK ? EXIT_OK : complain_params(settings, status, &error);
}

/* ---- Parameters ---- */

const char *param_flag_name(const oif_param *param, char name[FLAG_NAME_BYTES])
{
    snprintf(name, FLAG_NAME_BYTES, "%s", param->name);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    return name;
}

const char *param_argument(const oif_param *param)
{
    const pipeline_flag *flag = pipeline_flag_find(param->name);
    if (flag && flag->argument)
        return flag->argument;
    return param->type == OIF_PARAM_CHOICE ? "WORD" : "N";
}

static size_t find_param_position(const oif_params *params, const char *name)
{
    size_t i = 0;
    while (i < params->table->param_count && strcmp(params->table->params[i].name, name) != 0)
        i++;
    return i;
}

const char *params_word(const oif_params *params, const char *name)
{
    size_t position = find_param_position(params, name);
    return position < params->table->param_count
               ? params->table->params[position].choices[(size_t)params->values[position]]
               : "";
}

bool params_keep_evicted(const oif_params *options)
{
    return strcmp(params_word(options, "evicted"), "keep") == 0;
}

bool params_learn_none(const oif_params *options)
{
    return strcmp(params_word(options, "learn"), "none") == 0;
}

bool settings_give_param(const run_settings *settings, const char *name)
{
    size_t position = find_param_position(&settings->params, name);
    return position < settings->params.table->param_count && settings->is_given[position];
}

bool settings_give_option(const run_settings *settings, const char *name)
{
    return settings->is_option_given[find_param_position(&settings->options, name)];
}

bool settings_set_option(run_settings *settings, const char *name, double value)
{
    oif_error error;
    if (oif_params_set(&settings->options, name, value, &error) != OIF_OK)
        return false;
    settings->is_option_given[find_param_position(&settings->options, name)] = true;
    return true;
}

const char *param_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES])
{
    if (param->type == OIF_PARAM_CHOICE)
        return param->choices[(size_t)value];
    text[oif_number_format(value, text)] = '\0';
    return text;
}

void params_print_json(const oif_params *params)
{
    for (size_t i = 0; i < params->table->param_count; i++) {
        const oif_param *param = &params->table->params[i];
        const char *quote = param->type == OIF_PARAM_CHOICE ? "\"" : "";
        char text[PARAM_TEXT_BYTES];
        output_print("%s\"%s\": %s%s%s", i > 0 ? ", " : "", param->name, quote,
                     param_text(param, params->values[i], text), quote);
    }
}

/* What a value of an option was given as: --season sets several options. */
static const char *given_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES])
{
    if (strcmp(param->name, "find_season") == 0)
        return value != 0 ? "auto" : "off";
    return strstr(param->name, "season") && value == 0 ? "off" : param_text(param, value, text);
}

/* As words: the same parameter of another detector may have other choices. */
static exit_code compare_param(const oif_param *param, double asked, const oif_params *held,
                               const char *file)
{
    char name[FLAG_NAME_BYTES], asked_text[PARAM_TEXT_BYTES], held_text[PARAM_TEXT_BYTES];
    const oif_param season = {.name = "season"};
    size_t position = find_param_position(held, param->name);
    const char *asked_word = given_text(param, asked, asked_text), *held_word;
    param_flag_name(strstr(param->name, "season") ? &season : param, name);
    if (position == held->table->param_count)
        return complain(EXIT_USAGE,
                        "%s: --%s does not suit the state, whose detector is %s; leave it out",
                        file, name, held->table->name);
    held_word = given_text(&held->table->params[position], held->values[position], held_text);
    if (strcmp(asked_word, held_word) == 0)
        return EXIT_OK;
    return complain(
        EXIT_USAGE,
        "%s: the state was learned with --%s %s, not %s; leave it out or name another file", file,
        name, held_word, asked_word);
}

static exit_code compare_given(const oif_params *asked, const bool is_given[],
                               const oif_params *held, const char *file)
{
    exit_code code = EXIT_OK;
    for (size_t i = 0; i < asked->table->param_count && code == EXIT_OK; i++)
        if (is_given[i])
            code = compare_param(&asked->table->params[i], asked->values[i], held, file);
    return code;
}

/* Options that decide about alerts from now on are not what was learned: a state takes them. */
static exit_code change_given(const run_settings *settings, oif_pipeline *held, const char *file)
{
    const oif_param_table *table = settings->options.table;
    for (size_t i = 0; i < table->param_count; i++) {
        oif_error error;
        const char *name = table->params[i].name;
        if (!settings->is_option_given[i] || !oif_pipeline_option_is_changeable(name))
            continue;
        if (oif_pipeline_change_option(held, name, settings->options.values[i], &error) != OIF_OK)
            return complain(EXIT_USAGE, "%s: %s", file, error.message);
    }
    return EXIT_OK;
}

exit_code settings_apply(const run_settings *settings, oif_pipeline *held, const char *file)
{
    const oif_params *asked = &settings->params, *params = oif_pipeline_detector_params(held);
    if (settings->is_detector_given && asked->table != params->table)
        return complain(EXIT_USAGE,
                        "%s: the state is of the detector %s, not %s; leave --detector out or name "
                        "another file",
                        file, params->table->name, asked->table->name);
    exit_code code = compare_given(asked, settings->is_given, params, file);
    if (code == EXIT_OK)
        code = change_given(settings, held, file);
    if (code == EXIT_OK)
        code = compare_given(&settings->options, settings->is_option_given,
                             oif_pipeline_options(held), file);
    return code;
}
