#include "options.h"

#include "front/text/cut.h"
#include "front/text/suggest.h"
#include "pipeline_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One "--name", "--name=value" or "--name value" of the command line. */
typedef struct given_flag {
    const char *name; /* without dashes, not terminated */
    size_t name_bytes;
    const char *value; /* NULL: no "=" followed */
} given_flag;

/* ---- Options that commands share ---- */

static const char *set_delimiter(cli_settings *settings, const char *value)
{
    if (strcmp(value, "tab") == 0 || strcmp(value, "\\t") == 0)
        value = "\t";
    if (strlen(value) != 1)
        return "one character, or tab";
    settings->delimiter = *value;
    return NULL;
}

static const char *set_comment(cli_settings *settings, const char *value)
{
    if (*value == '\0' || strpbrk(value, "\r\n"))
        return "the text that comments begin with, such as #";
    settings->comment = value;
    return NULL;
}

static const char *const formats[] = {"csv", "ndjson", "raw", NULL}; /* as oif_format */

/* Of every command that reads rows. */
static const cli_option input_options[] = {
    {"columns", OPTION_TEXT, SETTING(columns), GROUP_COLUMNS, .brief = "learn only these columns",
     .argument = "A,B,..."},
    {"exclude", OPTION_TEXT, SETTING(exclude), GROUP_COLUMNS, .brief = "leave these columns out",
     .help = "leave these columns out, for example names and times", .argument = "A,B,..."},
    {"strict", OPTION_SWITCH, SETTING(strict), GROUP_COLUMNS,
     .help = "guess nothing: refuse columns that hold text, times or numbers that only rise unless "
             "options name them"},
    {"format", OPTION_WORD, SETTING(format), GROUP_INPUT,
     .brief = "csv, ndjson or raw (default: by name or first byte)",
     .help = "the format of the input (default: by file name or first byte); raw is little-endian "
             "float64",
     .argument = "FORMAT", .words = formats, .from = 1},
    {"raw-columns", OPTION_COUNT, SETTING(raw_columns), GROUP_INPUT,
     .help = "number of columns in a raw row", .argument = "N", .from = 1, .to = 1000000,
     .range = "1 to 1000000"},
    {"header", OPTION_CONSTANT, SETTING(header), GROUP_INPUT,
     .help = "the first line is a header, even if it consists of numbers", .from = OIF_HEADER_YES},
    {"no-header", OPTION_CONSTANT, SETTING(header), GROUP_INPUT,
     .help = "the first line is a row; columns are called x0, x1, ...", .from = OIF_HEADER_NO},
    {"delimiter", OPTION_APPLY, SETTING(delimiter), GROUP_INPUT,
     .help = "the character between fields (default: found in the first line); ' ': any run of "
             "spaces and tabs, as vmstat prints them",
     .argument = "C", .apply = set_delimiter},
    {"decimal-comma", OPTION_CONSTANT, SETTING(decimal), GROUP_INPUT,
     .help = "numbers are written 1,5 (default: found in the first rows if ; separates fields)",
     .from = OIF_DECIMAL_COMMA},
    {"comment", OPTION_APPLY, SETTING(comment), GROUP_INPUT,
     .help = "skip CSV lines that begin with this text (default: # before the header)",
     .argument = "TEXT", .apply = set_comment},
    {"skip-lines", OPTION_COUNT, SETTING(skip_lines), GROUP_INPUT,
     .help = "skip this many lines at the start of each file", .argument = "N", .from = 0,
     .to = 1000000, .range = "0 to 1000000"},
};

enum { INPUT_OPTION_COUNT = sizeof input_options / sizeof *input_options };

/* Of every command that takes parameters. chosen_detector has read the name before all else. */
const cli_option detector_option = {
    "detector",
    OPTION_SWITCH,
    SETTING(is_detector_given),
    GROUP_DETECTOR,
    .brief = "one of 'oif detectors' (default " OIF_DEFAULT_DETECTOR ")",
    .help =
        "the detector that scores the rows; A+B: both judge together (default " OIF_DEFAULT_DETECTOR
        ")",
    .argument = "NAME"};

const cli_option *command_option(const cli_command *command, size_t index)
{
    size_t input_count = command->reads_rows ? INPUT_OPTION_COUNT : 0;
    if (command->takes_params && index-- == 0)
        return &detector_option;
    if (index < command->option_count)
        return &command->options[index];
    index -= command->option_count;
    return index < input_count ? &input_options[index] : NULL;
}

const char *option_argument(const cli_option *option, char text[ARGUMENT_TEXT_BYTES])
{
    int length = 0;
    if (option->kind != OPTION_WORD)
        return option->argument;
    for (size_t i = 0; option->words[i] && length < ARGUMENT_TEXT_BYTES; i++)
        length += snprintf(text + length, ARGUMENT_TEXT_BYTES - (size_t)length, "%s%s",
                           i > 0 ? "|" : "", option->words[i]);
    return text;
}

/* ---- Values ---- */

enum { EXPECTED_BYTES = 96 };

static const char *store_count(const cli_option *option, const char *value, uint64_t *count,
                               char expected[EXPECTED_BYTES])
{
    const char *end = value + strlen(value);
    double number;
    snprintf(expected, EXPECTED_BYTES, "a whole number from %s", option->range);
    if (oif_number_parse(value, end, &number) != end ||
        !(number >= option->from && number <= option->to) || number != (double)(uint64_t)number)
        return expected;
    *count = (uint64_t)number;
    return NULL;
}

/* An enum has the size of an int, as on all POSIX systems. */
_Static_assert(sizeof(on_bad_row) == sizeof(int), "OPTION_WORD stores ints");

static const char *store_word(const cli_option *option, const char *value, int *word,
                              char expected[EXPECTED_BYTES])
{
    int length = 0;
    for (int i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], value) == 0) {
            *word = option->from + i;
            return NULL;
        }
        const char *between = i == 0 ? "" : option->words[i + 1] ? ", " : " or ";
        length += snprintf(expected + length, (size_t)(EXPECTED_BYTES - length), "%s%s", between,
                           option->words[i]);
    }
    return expected;
}

/* Returns NULL, or what the value should have been. */
static const char *store_value(const cli_option *option, const char *value, cli_settings *settings,
                               char expected[EXPECTED_BYTES])
{
    void *setting = (char *)settings + option->offset;
    switch (option->kind) {
    case OPTION_SWITCH: *(bool *)setting = true; break;
    case OPTION_CONSTANT: *(int *)setting = option->from; break;
    case OPTION_TEXT: *(const char **)setting = value; break;
    case OPTION_COUNT: return store_count(option, value, setting, expected);
    case OPTION_WORD: return store_word(option, value, setting, expected);
    case OPTION_APPLY: return option->apply(settings, value);
    }
    return NULL;
}

static bool takes_value(const cli_option *option)
{
    return option->argument || option->kind == OPTION_WORD;
}

/* ---- Finding flags ---- */

static given_flag split_flag(const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    const char *equals = strchr(name, '=');
    if (equals)
        return (given_flag){name, (size_t)(equals - name), equals + 1};
    return (given_flag){name, strlen(name), NULL};
}

static bool flag_is(const given_flag *flag, const char *name)
{
    return strlen(name) == flag->name_bytes && memcmp(name, flag->name, flag->name_bytes) == 0;
}

/* Which flags exist depends on the detector, so its name is read before the other arguments. */
static const char *chosen_detector(char **arguments)
{
    const char *chosen = OIF_DEFAULT_DETECTOR;
    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++) {
        given_flag flag = split_flag(*arguments);
        if (**arguments != '-' || !flag_is(&flag, detector_option.name))
            continue;
        if (flag.value)
            chosen = flag.value;
        else if (arguments[1])
            chosen = arguments[1];
    }
    return chosen;
}

static const cli_option *find_option(const cli_command *command, const given_flag *flag)
{
    const cli_option *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        if (flag_is(flag, option->name))
            break;
    return option;
}

const char *param_flag_name(const oif_param *param, char name[FLAG_NAME_BYTES])
{
    snprintf(name, FLAG_NAME_BYTES, "%s", param->name);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    return name;
}

/* A parameter that a flag names: where it is set, and where it is noted that it was. */
typedef struct param_slot {
    oif_params *params; /* NULL: there is no such parameter */
    bool *is_given;
    const oif_param *param;
} param_slot;

static param_slot find_in(oif_params *params, bool is_given[], const given_flag *flag)
{
    char name[FLAG_NAME_BYTES];
    for (size_t i = 0; i < params->table->param_count; i++)
        if (flag_is(flag, param_flag_name(&params->table->params[i], name)))
            return (param_slot){params, &is_given[i], &params->table->params[i]};
    return (param_slot){NULL, NULL, NULL};
}

static param_slot find_param(const cli_command *command, cli_settings *settings,
                             const given_flag *flag)
{
    param_slot place = {NULL, NULL, NULL};
    if (command->takes_params)
        place = find_in(&settings->params, settings->is_given, flag);
    if (!place.params && command->takes_pipeline)
        place = find_in(&settings->options, settings->is_option_given, flag);
    return place;
}

/* The first detector with a parameter of this name; NULL: none has. */
static const char *detector_with(const given_flag *flag)
{
    const oif_detector_info *info;
    char name[FLAG_NAME_BYTES];
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
        for (size_t j = 0; j < info->table.param_count; j++)
            if (flag_is(flag, param_flag_name(&info->table.params[j], name)))
                return info->table.name;
    return NULL;
}

static exit_code complain_unknown_flag(const cli_command *command, const cli_settings *settings,
                                       const char *argument)
{
    const oif_param_table *table = settings->params.table, *pipeline = settings->options.table;
    char names[2 * OIF_PARAMS_MAX][FLAG_NAME_BYTES], hint[HINT_BYTES];
    given_flag flag = split_flag(argument);
    const char *owner = command->takes_params ? detector_with(&flag) : NULL;
    if (owner)
        return complain(EXIT_USAGE,
                        "--%.*s is not an option of the detector %s; leave it out, or use "
                        "--detector %s",
                        (int)flag.name_bytes, flag.name, table->name, owner);
    word_suggestion suggestion = suggestion_for(flag.name, flag.name_bytes);
    const cli_option *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        suggestion_consider(&suggestion, option->name);
    for (size_t i = 0; command->takes_params && i < table->param_count; i++)
        suggestion_consider(&suggestion, param_flag_name(&table->params[i], names[i]));
    for (size_t i = 0; command->takes_pipeline && i < pipeline->param_count; i++)
        suggestion_consider(&suggestion,
                            param_flag_name(&pipeline->params[i], names[OIF_PARAMS_MAX + i]));
    suggestion_consider(&suggestion, "help");
    suggestion_consider(&suggestion, "help-all");
    return complain_because(&(complaint_reason){.cause = OIF_CAUSE_UNKNOWN_PARAMETER}, EXIT_USAGE,
                            "unknown option '%s'%s ('oif %s --help-all' lists all)", argument,
                            suggestion_hint(&suggestion, "--", hint), command->name);
}

/* ---- Reading the command line ---- */

const char *param_argument(const oif_param *param)
{
    const pipeline_flag *flag = pipeline_flag_find(param->name);
    if (flag && flag->argument)
        return flag->argument;
    return param->type == OIF_PARAM_CHOICE ? "WORD" : "N";
}

/* A number in the library, and a time or a size on the command line. */
static exit_code apply_timed(const param_slot *place, const pipeline_flag *timed, const char *text)
{
    char name[FLAG_NAME_BYTES];
    double value;
    oif_error error;
    if (!timed->parse(text, &value))
        return complain(EXIT_USAGE, "--%s: expected %s, not '%s'",
                        param_flag_name(place->param, name), timed->expected, text);
    if (oif_params_set(place->params, timed->name, value, &error) == OIF_OK)
        return EXIT_OK;
    return complain_because(&(complaint_reason){.cause = error.cause}, EXIT_USAGE, "--%s %s: %s",
                            param_flag_name(place->param, name), text, error.message);
}

static exit_code apply_param(const param_slot *place, const char *value)
{
    char name[FLAG_NAME_BYTES];
    oif_error error;
    const pipeline_flag *flag = pipeline_flag_find(place->param->name);
    *place->is_given = true;
    if (flag && flag->parse)
        return apply_timed(place, flag, value);
    if (oif_params_set_text(place->params, place->param->name, value, &error) == OIF_OK)
        return EXIT_OK;
    return complain_because(&(complaint_reason){.cause = error.cause}, EXIT_USAGE, "--%s %s: %s",
                            param_flag_name(place->param, name), value, error.message);
}

static exit_code apply_option(const cli_option *option, const char *value, cli_settings *settings)
{
    char text[EXPECTED_BYTES];
    const char *expected = store_value(option, value, settings, text);
    if (!expected)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--%s: expected %s, not '%s'", option->name, expected, value);
}

static bool is_whole_number(const char *text)
{
    return text && *text && text[strspn(text, "0123456789")] == '\0';
}

/* Takes the flag at the cursor, and its value where that is the next argument. */
static exit_code take_flag(const cli_command *command, char ***cursor, cli_settings *settings)
{
    const char *argument = strcmp(**cursor, "-v") == 0 ? "--verbose" : **cursor;
    given_flag flag = split_flag(argument);
    const cli_option *option = find_option(command, &flag);
    param_slot place = find_param(command, settings, &flag);
    if (strncmp(argument, "--", 2) != 0 || (!option && !place.params))
        return complain_unknown_flag(command, settings, argument);
    if (option && !takes_value(option)) {
        if (flag.value)
            return complain(EXIT_USAGE, "--%s takes no value", option->name);
        return apply_option(option, "", settings);
    }
    bool may_be_left_out = option && option->argument && option->argument[0] == '[';
    if (!flag.value && (!may_be_left_out || is_whole_number((*cursor)[1])))
        flag.value = *++*cursor;
    if (!flag.value && !may_be_left_out)
        return complain(EXIT_USAGE, "%s needs a value ('oif %s --help-all' says which)", argument,
                        command->name);
    return option ? apply_option(option, flag.value, settings) : apply_param(&place, flag.value);
}

static exit_code take_file(const cli_command *command, char *file, cli_settings *settings)
{
    bool is_one_too_many = settings->file && !command->reads_rows;
    if (!command->takes_file || is_one_too_many)
        return complain(EXIT_USAGE, "unexpected argument '%s' (usage: oif %s)", file,
                        command->usage);
    if (!settings->file)
        settings->file = file;
    settings->files[settings->file_count++] = file;
    return EXIT_OK;
}

/* The name, or of a list that part, which no detector has. */
static given_flag unknown_detector(const char *names)
{
    for (;; names++) {
        size_t bytes = strcspn(names, "+");
        char name[FLAG_NAME_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)bytes, names);
        if (names[bytes] == '\0' || !oif_detector_info_find(name))
            return (given_flag){names, bytes, NULL};
        names += bytes;
    }
}

exit_code params_choose(oif_params *params, const char *name, size_t name_bytes)
{
    char text[FLAG_NAME_BYTES];
    oif_error error;
    snprintf(text, sizeof text, "%.*s", (int)cut_bytes(name, name_bytes, sizeof text - 1), name);
    if (oif_params_init(params, text, &error) == OIF_OK)
        return EXIT_OK;
    given_flag unknown = unknown_detector(text);
    word_suggestion suggestion = suggestion_for(unknown.name, unknown.name_bytes);
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++) {
        if (flag_is(&unknown, info->table.name)) /* all parts are known */
            return complain_because(&(complaint_reason){.cause = error.cause}, EXIT_USAGE,
                                    "--detector %s: %s", text, error.message);
        suggestion_consider(&suggestion, info->table.name);
    }
    const complaint_reason reason = {.cause = error.cause};
    if (!suggestion.closest)
        return complain_because(
            &reason, EXIT_USAGE,
            "--detector: there is no detector '%.*s' ('oif detectors' lists all)",
            (int)unknown.name_bytes, unknown.name);
    return complain_because(&reason, EXIT_USAGE,
                            "--detector: there is no detector '%.*s'; did you mean %s?",
                            (int)unknown.name_bytes, unknown.name, suggestion.closest);
}

static exit_code init_detector(const cli_command *command, cli_settings *settings, char **arguments)
{
    const char *names = settings->detectors = chosen_detector(arguments);
    return params_choose(&settings->params, names,
                         command->takes_detectors ? strcspn(names, ",") : strlen(names));
}

static help_kind help_asked(const char *argument)
{
    if (strcmp(argument, "--help-all") == 0)
        return HELP_ALL;
    bool is_short = strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
    return is_short ? HELP_SHORT : HELP_NOT_ASKED;
}

static exit_code take_arguments(const cli_command *command, char **arguments,
                                cli_settings *settings, help_kind *help)
{
    bool options_ended = false;
    exit_code code = EXIT_OK;
    for (; code == EXIT_OK && *arguments; arguments++) {
        bool is_flag = !options_ended && (*arguments)[0] == '-' && (*arguments)[1] != '\0';
        if (is_flag && strcmp(*arguments, "--") == 0)
            options_ended = true;
        else if (is_flag && (*help = help_asked(*arguments)) != HELP_NOT_ASKED)
            break;
        else if (is_flag)
            code = take_flag(command, &arguments, settings);
        else
            code = take_file(command, *arguments, settings);
    }
    return code;
}

exit_code command_parse(const cli_command *command, char **arguments, cli_settings *settings,
                        help_kind *help)
{
    size_t count = 0;
    *settings = (cli_settings){.arguments = arguments};
    *help = HELP_NOT_ASKED;
    exit_code code = init_detector(command, settings, arguments);
    oif_pipeline_options_init(&settings->options);
    while (arguments[count])
        count++;
    settings->files = calloc(count + 1, sizeof *settings->files);
    if (!settings->files)
        return complain(EXIT_FAILED, "out of memory");
    return code == EXIT_OK ? take_arguments(command, arguments, settings, help) : code;
}

void settings_close(cli_settings *settings)
{
    free(settings->files);
    settings->files = NULL;
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

/* Of the library, whose messages name parameters as programs do: "window_size is too large" becomes
 * "--window-size is too large". */
static exit_code complain_params(const cli_settings *settings, oif_status status,
                                 const oif_error *error)
{
    char text[2 * OIF_ERROR_MESSAGE_BYTES + 2], *to = text;
    for (const char *word = error->message; *word;) {
        size_t bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
        bool is_flag = status == OIF_EPARAM && (is_param(&settings->params, word, bytes) ||
                                                is_param(&settings->options, word, bytes));
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

exit_code settings_make_detector(const cli_settings *settings, size_t dimension,
                                 oif_detector **detector)
{
    oif_error error;
    oif_status status = oif_detector_new(&settings->params, dimension, detector, &error);
    return status == OIF_OK ? EXIT_OK : complain_params(settings, status, &error);
}

exit_code settings_make_pipeline(const cli_settings *settings, size_t columns,
                                 oif_pipeline **pipeline)
{
    oif_error error;
    oif_status status =
        oif_pipeline_new(&settings->params, columns, &settings->options, pipeline, &error);
    return status == OIF_OK ? EXIT_OK : complain_params(settings, status, &error);
}

/* ---- Parameters ---- */

static size_t find_param_position(const oif_params *params, const char *name)
{
    size_t i = 0;
    while (i < params->table->param_count && strcmp(params->table->params[i].name, name) != 0)
        i++;
    return i;
}

bool params_keep_evicted(const oif_params *options)
{
    size_t position = find_param_position(options, "evicted");
    return strcmp(options->table->params[position].choices[(size_t)options->values[position]],
                  "keep") == 0;
}

bool settings_give_option(const cli_settings *settings, const char *name)
{
    return settings->is_option_given[find_param_position(&settings->options, name)];
}

bool settings_set_option(cli_settings *settings, const char *name, double value)
{
    oif_error error;
    if (oif_params_set(&settings->options, name, value, &error) != OIF_OK)
        return false;
    settings->is_option_given[find_param_position(&settings->options, name)] = true;
    return true;
}

bool params_learn_none(const oif_params *options)
{
    size_t position = find_param_position(options, "learn");
    return strcmp(options->table->params[position].choices[(size_t)options->values[position]],
                  "none") == 0;
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

/* As words: the same parameter of another detector may have other choices. */
static exit_code compare_param(const oif_param *param, double asked, const oif_params *held,
                               const char *file)
{
    char name[FLAG_NAME_BYTES], asked_text[PARAM_TEXT_BYTES], held_text[PARAM_TEXT_BYTES];
    size_t position = find_param_position(held, param->name);
    const char *asked_word = param_text(param, asked, asked_text), *held_word;
    param_flag_name(param, name);
    if (position == held->table->param_count)
        return complain(EXIT_USAGE,
                        "%s: --%s does not suit the state, whose detector is %s; leave it out",
                        file, name, held->table->name);
    held_word = param_text(&held->table->params[position], held->values[position], held_text);
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
static exit_code change_given(const cli_settings *settings, oif_pipeline *held, const char *file)
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

exit_code settings_apply(const cli_settings *settings, oif_pipeline *held, const char *file)
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
