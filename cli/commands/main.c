/* The `oif` program: finds the command in a table and runs it. */
#include "cli/eval/eval_command.h"
#include "cli/score/score.h"
#include "cli/state/state_commands.h"
#include "commands.h"
#include "front/options/command.h"
#include "front/text/signals.h"
#include "front/text/suggest.h"

#include <stdio.h>
#include <string.h>

typedef struct known_command {
    const command_entry *accepts;
    exit_code (*run)(const run_settings *settings);
} known_command;

static const known_command commands[] = {
    {&score_command, score_run},
    {&eval_command, eval_command_run},
    {&serve_command, server_program_run},
    {&state_command, state_run},
    {&inspect_command, inspect_run},
    {&feedback_command, feedback_run},
    {&size_command, size_run},
    {&demo_command, demo_run},
    /* Hidden commands come last. */
    {&completions_command, completions_run},
    {&manual_command, manual_run},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const char program_examples[] =
    "  oif demo                            a demonstration on an embedded stream\n"
    "  oif score readings.csv              add score, severity and anomaly\n"
    "  oif score --only-alerts readings.csv\n"
    "                                      one line per episode, its worst row\n"
    "  tail -f readings.csv | oif score    score rows as they arrive\n"
    "  oif score --state s.oif new.csv     resume where the last run ended\n"
    "  oif eval --label fault pump.csv     how many known anomalies are found?\n"
    "  oif serve --data /var/lib/oif       rows over HTTP, a live page, metrics\n";

const command_entry *command_at(size_t index)
{
    if (index >= COMMAND_COUNT || commands[index].accepts->is_hidden)
        return NULL;
    return commands[index].accepts;
}

const char *command_page(const command_entry *command, char name[COMMAND_NAME_BYTES])
{
    snprintf(name, COMMAND_NAME_BYTES, "%s", command->name);
    for (char *c = name; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    return name;
}

static exit_code print_version(void)
{
    output_print("oif %s\n", oif_version());
    return EXIT_OK;
}

static exit_code print_help(void)
{
    output_print("oif: find the unusual rows of a stream, and say why\n\nExamples:\n%s\n"
                 "Usage: oif COMMAND [OPTION...] [FILE|-]...\n\nCommands:\n",
                 program_examples);
    const command_entry *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        output_print("  %-14s %s\n", command->name, command->summary);
    output_print("\n"
                 "  oif COMMAND --help       examples and the options that people need most\n"
                 "  oif COMMAND --help-all   all options, and the parameters of the detector\n"
                 "  oif --version            the version of the library in use\n"
                 "\n"
                 "Exit status: 0 success, 1 failure, 2 wrong command line, 3 there was an alert\n"
                 "(only with oif score --fail-on-alert).\n");
    return EXIT_OK;
}

static exit_code complain_unknown_command(const char *name)
{
    word_suggestion suggestion = suggestion_for(name, strlen(name));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        suggestion_consider(&suggestion, commands[i].accepts->name);
    suggestion_consider(&suggestion, "help");
    suggestion_consider(&suggestion, "--help");
    suggestion_consider(&suggestion, "--version");
    char hint[HINT_BYTES];
    return complain(EXIT_USAGE, "unknown command '%s'%s ('oif --help' lists all)", name,
                    suggestion_hint(&suggestion, "", hint));
}

/* How many of the arguments are the name, which may have two words: "state inspect"; 0: they are
 * other words. */
static size_t count_name(const char *name, char **arguments)
{
    const char *space = strchr(name, ' ');
    if (!space)
        return strcmp(name, arguments[0]) == 0;
    const size_t bytes = (size_t)(space - name);
    const bool is_same = strlen(arguments[0]) == bytes && memcmp(name, arguments[0], bytes) == 0 &&
                         arguments[1] && strcmp(space + 1, arguments[1]) == 0;
    return is_same ? 2 : 0;
}

/* The command with the longest name that the arguments begin with. */
static const known_command *find_command(char **arguments, size_t *words)
{
    const known_command *found = NULL;
    *words = 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const size_t count = count_name(commands[i].accepts->name, arguments);
        if (count > *words) {
            *words = count;
            found = &commands[i];
        }
    }
    return found;
}

/* oif help [COMMAND] */
static exit_code run_help(char **arguments)
{
    char *help[] = {"--help", NULL};
    if (!*arguments)
        return print_help();
    size_t words;
    const known_command *command = find_command(arguments, &words);
    if (!command && strcmp(*arguments, "help") == 0 && !arguments[1])
        return print_help();
    if (!command)
        return complain_unknown_command(*arguments);
    if (arguments[words])
        return complain(EXIT_USAGE, "unexpected argument '%s' (usage: oif help [COMMAND])",
                        arguments[words]);
    return command_run(command->accepts, command->run, help);
}

static exit_code run(char **arguments)
{
    if (!*arguments)
        return complain(EXIT_USAGE,
                        "no command given; 'oif --help' lists them, 'oif demo' is a demonstration");
    if (strcmp(*arguments, "--version") == 0)
        return print_version();
    if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0)
        return print_help();
    if (strcmp(*arguments, "help") == 0)
        return run_help(arguments + 1);
    size_t words;
    const known_command *command = find_command(arguments, &words);
    return command ? command_run(command->accepts, command->run, arguments + words)
                   : complain_unknown_command(*arguments);
}

int main(int argc, char **argv)
{
    output_start();
    exit_code code = output_finish(run(argc > 0 ? argv + 1 : argv));
    signals_pass_on();
    return (int)code;
}
