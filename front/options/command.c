#include "command.h"

#include "option_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One "--name", "--name=value" or "--name value" of the command line. */
typedef struct given_flag {
    char name[FLAG_NAME_BYTES]; /* without dashes; cut where it is longer than any option's */
    const char *value;          /* NULL: no "=" followed */
} given_flag;

static given_flag split_flag(const char *argument)
{
    given_flag flag;
    const char *name = argument + strspn(argument, "-");
    size_t bytes = strcspn(name, "=");
    flag.value = name[bytes] ? name + bytes + 1 : NULL;
    snprintf(flag.name, sizeof flag.name, "%.*s", (int)bytes, name);
    return flag;
}

/* Which flags exist depends on the detector, so its name is read before the other arguments. */
static const char *chosen_detector(char **arguments)
{
    const char *chosen = OIF_DEFAULT_DETECTOR;
    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++) {
        given_flag flag = split_flag(*arguments);
        if (**arguments != '-' || strcmp(flag.name, detector_option.name) != 0)
            continue;
        if (flag.value)
            chosen = flag.value;
        else if (arguments[1])
            chosen = arguments[1];
    }
    return chosen;
}

/* "rolling-iforest, online-iforest, ..." */
enum { DETECTORS_BYTES = 256 };
static const char *detector_names(char text[DETECTORS_BYTES])
{
    const oif_detector_info *info;
    int used = 0;
    *text = '\0';
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL && used < DETECTORS_BYTES; i++)
        used += snprintf(text + used, (size_t)(DETECTORS_BYTES - used), "%s%s", i > 0 ? ", " : "",
                         info->table.name);
    return text;
}

static exit_code complain_detector(const option_problem *why)
{
    const complaint_reason reason = {.cause = why->cause};
    char names[DETECTORS_BYTES];
    if (*why->other)
        return complain_because(&reason, EXIT_USAGE,
                                "--detector: there is no detector '%s'; did you mean %s?",
                                why->value, why->other);
    return complain_because(&reason, EXIT_USAGE,
                            "--detector: there is no detector '%s'; choose one of: %s", why->value,
                            detector_names(names));
}

/* The argument is the one with the name of the option. */
static exit_code complain_option(const command_entry *command, const char *argument,
                                 const option_problem *why)
{
    const complaint_reason reason = {.cause = why->cause};
    const char *end = *why->other ? "?" : "";
    switch (why->fault) {
    case OPTION_UNKNOWN:
        return complain_because(
            &reason, EXIT_USAGE, "unknown option '%s'%s%s%s ('oif %s --help-all' lists all)",
            argument, *why->other ? "; did you mean --" : "", why->other, end, command->name);
    case OPTION_OF_OTHERS:
        return complain(EXIT_USAGE,
                        "--%s is not an option of the detector %s; leave it out, or use "
                        "--detector %s",
                        why->name, why->value, why->other);
    case OPTION_NEEDS_VALUE:
        return complain(EXIT_USAGE, "%s needs a value ('oif %s --help-all' says which)", argument,
                        command->name);
    case OPTION_TAKES_NO_VALUE: return complain(EXIT_USAGE, "--%s takes no value", why->name);
    case OPTION_HAS_BAD_VALUE:
        return complain(EXIT_USAGE, "--%s: expected %s, not '%s'", why->name, why->expected,
                        why->value);
    case OPTION_VALUE_IS_REFUSED:
        return complain_because(&reason, EXIT_USAGE, "--%s %s: %s", why->name, why->value,
                                why->expected);
    case OPTION_UNKNOWN_DETECTOR: return complain_detector(why);
    default: return complain(EXIT_FAILED, "out of memory");
    }
}

static bool is_whole_number(const char *text)
{
    return text && *text && text[strspn(text, "0123456789")] == '\0';
}

/* The name of a flag that has a short one. */
static const char *long_name(const char *argument)
{
    if (strcmp(argument, "-v") == 0)
        return "--verbose";
    return strcmp(argument, "-q") == 0 ? "--quiet" : argument;
}

/* Takes the flag at the cursor, and its value where that is the next argument. */
static exit_code take_flag(const command_entry *command, char ***cursor, run_settings *settings)
{
    const char *argument = long_name(**cursor);
    given_flag flag = split_flag(argument);
    const option_entry *option = option_find(command, flag.name);
    option_problem why;
    bool is_set = false;
    if (!flag.value && option && option_may_lack_value(option) && is_whole_number((*cursor)[1]))
        flag.value = *++*cursor;
    if (strncmp(argument, "--", 2) != 0)
        option_refuse_unknown(command, settings, flag.name, &why);
    else
        is_set = option_set(command, settings, flag.name, flag.value, &why);
    if (!is_set && why.fault == OPTION_NEEDS_VALUE && (*cursor)[1])
        is_set = option_set(command, settings, flag.name, *++*cursor, &why);
    return is_set ? EXIT_OK : complain_option(command, argument, &why);
}

static exit_code take_file(const command_entry *command, char *file, run_settings *settings)
{
    if (!command->takes_file || (settings->file && !command->reads_rows))
        return complain(EXIT_USAGE, "unexpected argument '%s' (usage: oif %s)", file,
                        command->usage);
    if (!settings->file)
        settings->file = file;
    settings->files[settings->file_count++] = file;
    return EXIT_OK;
}

exit_code params_choose(oif_params *params, const char *name, size_t name_bytes)
{
    option_problem why;
    return params_find(params, name, name_bytes, &why) ? EXIT_OK
                                                       : complain_option(NULL, NULL, &why);
}

static help_kind help_asked(const char *argument)
{
    if (strcmp(argument, "--help-all") == 0)
        return HELP_ALL;
    bool is_short = strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
    return is_short ? HELP_SHORT : HELP_NOT_ASKED;
}

static exit_code take_arguments(const command_entry *command, char **arguments,
                                run_settings *settings, help_kind *help)
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

exit_code command_take(const command_entry *command, char **arguments, run_settings *settings,
                       help_kind *help)
{
    size_t count = 0;
    *help = HELP_NOT_ASKED;
    settings->arguments = arguments;
    while (arguments[count])
        count++;
    settings->files = calloc(count + 1, sizeof *settings->files);
    if (!settings->files)
        return complain(EXIT_FAILED, "out of memory");
    return take_arguments(command, arguments, settings, help);
}

exit_code command_parse(const command_entry *command, char **arguments, run_settings *settings,
                        help_kind *help)
{
    option_problem why;
    *help = HELP_NOT_ASKED;
    if (!settings_start(command, chosen_detector(arguments), settings, &why))
        return complain_option(command, "--detector", &why);
    return command_take(command, arguments, settings, help);
}

exit_code command_run(const command_entry *command, exit_code (*run)(const run_settings *settings),
                      char **arguments)
{
    run_settings settings;
    help_kind help = HELP_NOT_ASKED;
    exit_code code = command_parse(command, arguments, &settings, &help);
    if (code == EXIT_OK && help != HELP_NOT_ASKED)
        help_print(command, settings.params.table, help);
    else if (code == EXIT_OK)
        code = run(&settings);
    settings_close(&settings);
    return code;
}
