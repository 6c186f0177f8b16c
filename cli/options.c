#include "options.h"

#include "suggest.h"

#include <stdio.h>
#include <string.h>

static const char default_detector[] = "online-iforest";

/* One "--name", "--name=value" or "--name value" of the command line. */
struct flag {
    const char *name; /* without dashes, not terminated */
    size_t name_bytes;
    const char *value; /* NULL: no "=" followed */
};

const char *set_label(struct settings *settings, const char *value)
{
    settings->label = value;
    return NULL;
}

const char *set_key(struct settings *settings, const char *value)
{
    settings->score.key = value;
    return NULL;
}

const char *set_columns(struct settings *settings, const char *value)
{
    settings->columns = value;
    return NULL;
}

const char *set_exclude(struct settings *settings, const char *value)
{
    settings->exclude = value;
    return NULL;
}

const char *set_header(struct settings *settings, const char *value)
{
    (void)value;
    settings->reader.header = OIF_HEADER_YES;
    return NULL;
}

const char *set_no_header(struct settings *settings, const char *value)
{
    (void)value;
    settings->reader.header = OIF_HEADER_NO;
    return NULL;
}

const char *set_delimiter(struct settings *settings, const char *value)
{
    if (strcmp(value, "tab") == 0 || strcmp(value, "\\t") == 0)
        value = "\t";
    if (strlen(value) != 1)
        return "one character, or tab";
    settings->reader.delimiter = *value;
    return NULL;
}

const char *set_format(struct settings *settings, const char *value)
{
    static const char *const words[] = {"csv", "ndjson", "raw"};
    static const oif_format formats[] = {OIF_FORMAT_CSV, OIF_FORMAT_NDJSON, OIF_FORMAT_RAW};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(value, words[i]) != 0)
            continue;
        settings->reader.format = formats[i];
        settings->is_format_given = true;
        return NULL;
    }
    return "csv, ndjson or raw";
}

const char *set_raw_columns(struct settings *settings, const char *value)
{
    const char *end = value + strlen(value);
    double number;

    if (oif_number_parse(value, end, &number) != end || !(number >= 1 && number <= 1e6) ||
        number != (double)(size_t)number)
        return "a whole number from 1 to 1000000";
    settings->reader.columns = (size_t)number;
    return NULL;
}

const char *set_json(struct settings *settings, const char *value)
{
    (void)value;
    settings->json = true;
    return NULL;
}

/* The table's line for --detector; the value was taken by chosen_detector before all else. */
static const char *detector_is_chosen(struct settings *settings, const char *value)
{
    (void)value;
    settings->is_detector_given = true;
    return NULL;
}

const struct option detector_option = {"detector", "NAME", "which detector scores the rows",
                                       detector_is_chosen};

/* ---- Finding flags ---- */

static struct flag split_flag(const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    const char *equals = strchr(name, '=');

    if (equals)
        return (struct flag){name, (size_t)(equals - name), equals + 1};
    return (struct flag){name, strlen(name), NULL};
}

static bool flag_is(const struct flag *flag, const char *name)
{
    return strlen(name) == flag->name_bytes && memcmp(name, flag->name, flag->name_bytes) == 0;
}

/* Which flags exist depends on the detector, so it is found before the other arguments are
 * read. */
static const char *chosen_detector(char **arguments)
{
    const char *chosen = default_detector;

    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++) {
        struct flag flag = split_flag(*arguments);
        if (**arguments != '-' || !flag_is(&flag, detector_option.name))
            continue;
        if (flag.value)
            chosen = flag.value;
        else if (arguments[1])
            chosen = arguments[1];
    }
    return chosen;
}

static const struct option *find_option(const struct command *command, const struct flag *flag)
{
    if (command->takes_params && flag_is(flag, detector_option.name))
        return &detector_option;
    for (size_t i = 0; i < command->option_count; i++)
        if (flag_is(flag, command->options[i].name))
            return &command->options[i];
    return NULL;
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
struct param_place {
    oif_params *params; /* NULL: there is no such parameter */
    bool *is_given;
    const oif_param *param;
};

static struct param_place find_in(oif_params *params, bool is_given[], const struct flag *flag)
{
    char name[FLAG_NAME_BYTES];

    for (size_t i = 0; i < params->info->param_count; i++)
        if (flag_is(flag, param_flag_name(&params->info->params[i], name)))
            return (struct param_place){params, &is_given[i], &params->info->params[i]};
    return (struct param_place){NULL, NULL, NULL};
}

static struct param_place find_param(const struct command *command, struct settings *settings,
                                     const struct flag *flag)
{
    struct param_place place = {NULL, NULL, NULL};

    if (command->takes_params)
        place = find_in(&settings->params, settings->is_given, flag);
    if (!place.params && command->takes_pipeline)
        place = find_in(&settings->options, settings->is_option_given, flag);
    return place;
}

static exit_code complain_unknown_flag(const struct command *command,
                                       const struct settings *settings, const char *argument)
{
    const oif_detector_info *info = settings->params.info, *pipeline = settings->options.info;
    char names[2 * OIF_PARAMS_MAX][FLAG_NAME_BYTES], hint[HINT_BYTES];
    struct flag flag = split_flag(argument);
    struct suggestion suggestion = suggestion_for(flag.name, flag.name_bytes);

    for (size_t i = 0; i < command->option_count; i++)
        suggestion_consider(&suggestion, command->options[i].name);
    for (size_t i = 0; command->takes_params && i < info->param_count; i++)
        suggestion_consider(&suggestion, param_flag_name(&info->params[i], names[i]));
    for (size_t i = 0; command->takes_pipeline && i < pipeline->param_count; i++)
        suggestion_consider(&suggestion,
                            param_flag_name(&pipeline->params[i], names[OIF_PARAMS_MAX + i]));
    if (command->takes_params)
        suggestion_consider(&suggestion, detector_option.name);
    suggestion_consider(&suggestion, "help");
    return complain(EXIT_USAGE, "unknown option '%s'%s ('oif %s --help' lists all)", argument,
                    suggestion_hint(&suggestion, "--", hint), command->name);
}

/* ---- Help ---- */

/* The left column of --help, the start of a further line in the right one, and how wide that
 * one is. */
#define FLAG_WIDTH 22
#define NEXT_LINE "\n                         "
#define HELP_WIDTH 76

/* Breaks the text between words where it is too wide for its column. */
static void print_wrapped(const char *text)
{
    while (strlen(text) > HELP_WIDTH) {
        /* cppcheck-suppress pointerOutOfBounds ; it looks at a shorter text, with which this
         * loop does not begin */
        const char *end = text + HELP_WIDTH;
        while (end > text && *end != ' ')
            end--;
        if (end == text)
            break;
        output_print("%.*s" NEXT_LINE, (int)(end - text), text);
        text = end + 1;
    }
    output_print("%s", text);
}

static void print_option(const char *name, const char *argument, const char *help)
{
    char left[FLAG_NAME_BYTES * 2];

    snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    output_print("  %-*s%s", FLAG_WIDTH, left, strlen(left) > FLAG_WIDTH ? NEXT_LINE : " ");
    print_wrapped(help);
}

static void print_number(const char *before, double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    size_t length = oif_number_format(number, text);

    output_print("%s%.*s", before, (int)length, text);
}

static void print_param(const oif_param *param)
{
    char name[FLAG_NAME_BYTES];
    bool is_choice = param->type == OIF_PARAM_CHOICE;

    print_option(param_flag_name(param, name), is_choice ? "WORD" : "N", param->help);
    if (is_choice) {
        for (size_t i = 0; param->choices[i]; i++)
            output_print("%s%s", i == 0 ? NEXT_LINE : " | ", param->choices[i]);
        output_print("; default %s\n", param->choices[(size_t)param->initial]);
        return;
    }
    print_number(NEXT_LINE, param->minimum);
    print_number(" to ", param->maximum);
    print_number("; default ", param->initial);
    output_print("\n");
}

static void print_params(const oif_detector_info *info)
{
    for (size_t i = 0; i < info->param_count; i++)
        print_param(&info->params[i]);
}

static exit_code print_help(const struct command *command, const struct settings *settings)
{
    const oif_detector_info *info = settings->params.info;

    output_print("oif %s: %s\n\nExamples:\n%s\nUsage: oif %s\n\nOptions:\n", command->name,
                 command->summary, command->examples, command->usage);
    for (size_t i = 0; i < command->option_count; i++) {
        print_option(command->options[i].name, command->options[i].argument,
                     command->options[i].help);
        output_print("\n");
    }
    if (command->takes_params) {
        print_option(detector_option.name, detector_option.argument, detector_option.help);
        output_print(" (default %s)\n", default_detector);
    }
    print_option("help", NULL, "print this");
    output_print("\n");
    if (command->takes_pipeline) {
        output_print("\nAlerts, learning and keys:\n");
        print_params(settings->options.info);
    }
    if (command->takes_params) {
        output_print("\nParameters of %s (%s):\n", info->name, info->summary);
        print_params(info);
    }
    return EXIT_OK;
}

/* ---- Reading the command line ---- */

static exit_code apply_param(const struct param_place *place, const char *value)
{
    char name[FLAG_NAME_BYTES];
    oif_error error;

    *place->is_given = true;
    if (oif_params_set_text(place->params, place->param->name, value, &error) == OIF_OK)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--%s %s: %s", param_flag_name(place->param, name), value,
                    error.message);
}

static exit_code apply_option(const struct option *option, const char *value,
                              struct settings *settings)
{
    const char *expected = option->apply(settings, value);

    if (!expected)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--%s: expected %s, not '%s'", option->name, expected, value);
}

static bool is_whole_number(const char *text)
{
    return text && *text && text[strspn(text, "0123456789")] == '\0';
}

/* Takes the flag that the cursor stands on, and its value where that is the next argument. */
static exit_code take_flag(const struct command *command, char ***cursor, struct settings *settings)
{
    const char *argument = **cursor;
    struct flag flag = split_flag(argument);
    const struct option *option = find_option(command, &flag);
    struct param_place place = find_param(command, settings, &flag);

    if (strncmp(argument, "--", 2) != 0 || (!option && !place.params))
        return complain_unknown_flag(command, settings, argument);
    if (option && !option->argument) {
        if (flag.value)
            return complain(EXIT_USAGE, "--%s takes no value", option->name);
        return apply_option(option, "", settings);
    }
    bool may_be_left_out = option && option->argument[0] == '[';
    if (!flag.value && (!may_be_left_out || is_whole_number((*cursor)[1])))
        flag.value = *++*cursor;
    if (!flag.value && !may_be_left_out)
        return complain(EXIT_USAGE, "%s needs a value ('oif %s --help' says which)", argument,
                        command->name);
    return option ? apply_option(option, flag.value, settings) : apply_param(&place, flag.value);
}

static exit_code take_file(const struct command *command, const char *file,
                           struct settings *settings)
{
    if (!command->takes_file || settings->file)
        return complain(EXIT_USAGE, "unexpected argument '%s' (usage: oif %s)", file,
                        command->usage);
    settings->file = file;
    return EXIT_OK;
}

exit_code choose_detector(oif_params *params, const char *name, size_t name_bytes)
{
    struct suggestion suggestion = suggestion_for(name, name_bytes);
    const oif_detector_info *info;
    char text[FLAG_NAME_BYTES];
    oif_error error;

    snprintf(text, sizeof text, "%.*s", (int)name_bytes, name);
    if (oif_params_init(params, text, &error) == OIF_OK)
        return EXIT_OK;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
        suggestion_consider(&suggestion, info->name);
    if (!suggestion.closest)
        return complain(EXIT_USAGE, "there is no detector '%s' ('oif detectors' lists all)", text);
    return complain(EXIT_USAGE, "there is no detector '%s'; did you mean %s?", text,
                    suggestion.closest);
}

static exit_code init_detector(const struct command *command, struct settings *settings,
                               char **arguments)
{
    const char *names = settings->detectors = chosen_detector(arguments);

    return choose_detector(&settings->params, names,
                           command->takes_detectors ? strcspn(names, ",") : strlen(names));
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

exit_code command_run(const struct command *command, char **arguments)
{
    struct settings settings = {0};
    bool options_ended = false;
    exit_code code = init_detector(command, &settings, arguments);

    oif_pipeline_options_init(&settings.options);
    for (; code == EXIT_OK && *arguments; arguments++) {
        bool is_flag = !options_ended && (*arguments)[0] == '-' && (*arguments)[1] != '\0';
        if (is_flag && strcmp(*arguments, "--") == 0)
            options_ended = true;
        else if (is_flag && asks_for_help(*arguments))
            return print_help(command, &settings);
        else if (is_flag)
            code = take_flag(command, &arguments, &settings);
        else
            code = take_file(command, *arguments, &settings);
    }
    return code == EXIT_OK ? command->run(&settings) : code;
}

exit_code settings_make_detector(const struct settings *settings, size_t dimension,
                                 oif_detector **detector)
{
    oif_error error;
    oif_status status = oif_detector_new(&settings->params, dimension, detector, &error);

    if (status == OIF_OK)
        return EXIT_OK;
    return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s", error.message);
}

exit_code settings_make_pipeline(const struct settings *settings, size_t columns,
                                 oif_pipeline **pipeline)
{
    oif_error error;
    oif_status status =
        oif_pipeline_new(&settings->params, columns, &settings->options, pipeline, &error);

    if (status == OIF_OK)
        return EXIT_OK;
    return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s", error.message);
}

/* ---- Parameters ---- */

static size_t find_param_position(const oif_params *params, const char *name)
{
    size_t i = 0;

    while (i < params->info->param_count && strcmp(params->info->params[i].name, name) != 0)
        i++;
    return i;
}

bool keeps_evicted(const oif_params *options)
{
    size_t position = find_param_position(options, "evicted");

    return strcmp(options->info->params[position].choices[(size_t)options->values[position]],
                  "keep") == 0;
}

const char *param_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES])
{
    if (param->type == OIF_PARAM_CHOICE)
        return param->choices[(size_t)value];
    text[oif_number_format(value, text)] = '\0';
    return text;
}

void print_json_params(const oif_params *params)
{
    for (size_t i = 0; i < params->info->param_count; i++) {
        const oif_param *param = &params->info->params[i];
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
    if (position == held->info->param_count)
        return complain(EXIT_USAGE,
                        "%s: --%s does not suit the state, whose detector is %s; leave it out",
                        file, name, held->info->name);
    held_word = param_text(&held->info->params[position], held->values[position], held_text);
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

    for (size_t i = 0; i < asked->info->param_count && code == EXIT_OK; i++)
        if (is_given[i])
            code = compare_param(&asked->info->params[i], asked->values[i], held, file);
    return code;
}

exit_code settings_compare(const struct settings *settings, const oif_pipeline *held,
                           const char *file)
{
    const oif_params *asked = &settings->params, *params = oif_pipeline_detector_params(held);
    exit_code code;

    if (settings->is_detector_given && asked->info != params->info)
        return complain(EXIT_USAGE,
                        "%s: the state is of the detector %s, not %s; leave --detector out or name "
                        "another file",
                        file, params->info->name, asked->info->name);
    code = compare_given(asked, settings->is_given, params, file);
    if (code == EXIT_OK)
        code = compare_given(&settings->options, settings->is_option_given,
                             oif_pipeline_options(held), file);
    return code;
}
