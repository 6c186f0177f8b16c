/* oif completions: what a shell needs to complete a command line, made from the tables that the
 * command line is read with. It runs when oif is built, and its output is installed. */
#include "cli/state/state_commands.h"
#include "commands.h"
#include "front/options/flag_list.h"

#include <string.h>

/* Prints text between single quotes, with quotes inside escaped as the shell needs it. */
static void print_quoted(const char *text, const char *special, const char *escape,
                         const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'')
            output_print("%s", quote);
        else
            output_print("%s%c", strchr(special, *text) ? escape : "", *text);
    }
}

/* "inspect" of "state inspect"; NULL: the name has one word. */
static const char *second_word(const command_entry *command)
{
    const char *space = strchr(command->name, ' ');
    return space ? space + 1 : NULL;
}

/* "score eval ...": also what follows `oif help`, which is not in the table of commands. */
static void print_command_names(void)
{
    const command_entry *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (!second_word(command))
            output_print("%s%s", i > 0 ? " " : "", command->name);
}

/* "inspect feedback ...": what may follow a command, with `between` the words. */
static size_t print_second_words(const command_entry *first, const char *between)
{
    const command_entry *command;
    const size_t bytes = strlen(first->name);
    size_t count = 0;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (second_word(command) && strncmp(command->name, first->name, bytes) == 0)
            output_print("%s%s", count++ > 0 ? between : "", second_word(command));
    return count;
}

/* Calls `print` for each command, with its flags. */
static void for_each_command(void (*print)(const command_entry *command, const flag_list *list))
{
    static flag_list list; /* more than 100 kilobytes */
    const command_entry *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        flag_list_make(command, NULL, &list);
        print(command, &list);
    }
}

static const char help_summary[] = "print the help of a command";

/* ---- bash ---- */

static const char bash_start[] =
    "# bash completion for oif, made by 'oif completions bash'\n\n"
    "_oif_words() { # _oif_words WORDS: those that begin like the word at the cursor\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
    "}\n\n"
    "_oif() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    COMPREPLY=()\n"
    "    # --flag=value comes as three words\n"
    "    if [[ $word == = ]]; then\n"
    "        word=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
    "        _oif_words \"";

static void print_bash_values(const command_entry *command, const flag_list *list)
{
    char name[COMMAND_NAME_BYTES];
    for (size_t i = 0; i < list->count; i++) {
        const listed_flag *flag = &list->flags[i];
        if (!flag->argument || *flag->argument == '[')
            continue;
        output_print("    %s:--%s) ", command_page(command, name), flag->name);
        if (*flag->words)
            output_print("_oif_words \"%s\"; ", flag->words);
        else if (flag->takes_file)
            output_print("compopt -o default; ");
        output_print("return ;;\n");
    }
}

static void print_bash_command(const command_entry *command, const flag_list *list)
{
    char name[COMMAND_NAME_BYTES];
    output_print("    %s:-*) _oif_words \"", command_page(command, name));
    for (size_t i = 0; i < list->count; i++)
        output_print("%s--%s", i > 0 ? " " : "", list->flags[i].name);
    output_print("\" ;;\n");
    if (!command->takes_file)
        return;
    output_print("    %s:*) ", name);
    if (strcmp(name, "state") == 0) {
        output_print("_oif_words \"");
        print_second_words(command, " ");
        output_print("\"; ");
    }
    if (!command->words)
        output_print("compopt -o default ;;\n");
    for (size_t i = 0; command->words && command->words[i]; i++)
        output_print("%s%s%s", i == 0 ? "_oif_words \"" : " ", command->words[i],
                     command->words[i + 1] ? "" : "\" ;;\n");
}

static void print_bash(void)
{
    output_print("%s", bash_start);
    print_command_names();
    output_print(" help --help --version\"\n        return\n    fi\n"
                 "    local command=${COMP_WORDS[1]}\n"
                 "    if [[ $command == state && $COMP_CWORD -gt 2 ]]; then\n"
                 "        case ${COMP_WORDS[2]} in ");
    print_second_words(&state_command, " | ");
    output_print(") command=state-${COMP_WORDS[2]} ;; esac\n    fi\n"
                 "    case $command:$before in\n");
    for_each_command(print_bash_values);
    output_print("    esac\n    case $command:$word in\n");
    for_each_command(print_bash_command);
    output_print("    help:*) _oif_words \"");
    print_command_names();
    output_print("\" ;;\n    esac\n}\n\ncomplete -F _oif oif\n");
}

/* ---- zsh ---- */

static void print_zsh_quoted(const char *text)
{
    print_quoted(text, "[]:\\", "\\", "'\\''");
}

static void print_zsh_flag(const listed_flag *flag)
{
    bool may_be_left_out = flag->argument && *flag->argument == '[';
    output_print(" \\\n            '--%s%s[", flag->name,
                 flag->argument && !may_be_left_out ? "=" : "");
    print_zsh_quoted(flag->help);
    output_print("]");
    if (flag->argument) {
        output_print(may_be_left_out ? "::" : ":");
        print_zsh_quoted(flag->argument);
        output_print(*flag->words ? ":(%s)" : flag->takes_file ? ":_files" : ":", flag->words);
    }
    output_print("'");
}

static void print_zsh_command(const command_entry *command, const flag_list *list)
{
    char name[COMMAND_NAME_BYTES];
    output_print("    %s)\n        _arguments", command_page(command, name));
    for (size_t i = 0; i < list->count; i++)
        print_zsh_flag(&list->flags[i]);
    if (command->words) {
        output_print(" \\\n            '1:kind:(");
        for (size_t i = 0; command->words[i]; i++)
            output_print("%s%s", i > 0 ? " " : "", command->words[i]);
        output_print(")'");
    } else if (command->takes_file) {
        output_print(" \\\n            '1:file:_files'");
    }
    output_print("\n        ;;\n");
}

static void print_zsh(void)
{
    output_print(
        "#compdef oif\n# zsh completion for oif, made by 'oif completions zsh'\n\n_oif() {\n"
        "    local -a commands=(\n");
    const command_entry *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (second_word(command))
            continue;
        output_print("        '%s:", command->name);
        print_quoted(command->summary, "", "", "'\\''");
        output_print("'\n");
    }
    output_print("        'help:%s'\n", help_summary);
    output_print("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
                 "        compadd -- --help --version\n        return\n    fi\n"
                 "    shift words\n    (( CURRENT-- ))\n"
                 "    if [[ $words[1] == state && $CURRENT -gt 2 && $words[2] == (");
    print_second_words(&state_command, "|");
    output_print(
        ") ]]; then\n        words[2]=state-$words[2]\n        shift words\n"
        "        (( CURRENT-- ))\n    elif [[ $words[1] == state && $CURRENT -eq 2 ]]; then\n"
        "        compadd -- ");
    print_second_words(&state_command, " ");
    output_print("\n    fi\n    case $words[1] in\n");
    for_each_command(print_zsh_command);
    output_print("    help)\n        _arguments '1:command:(");
    print_command_names();
    output_print(")'\n        ;;\n");
    output_print("    esac\n}\n\n_oif \"$@\"\n");
}

/* ---- fish ---- */

static void print_fish_description(const char *text)
{
    output_print(" -d '");
    print_quoted(text, "\\", "\\", "\\'");
    output_print("'\n");
}

static void print_fish_command(const command_entry *command, const flag_list *list)
{
    const char *name = second_word(command) ? second_word(command) : command->name;
    if (second_word(command))
        output_print("\ncomplete -c oif -n '__fish_seen_subcommand_from state' -a %s", name);
    else
        output_print("\ncomplete -c oif -n __fish_use_subcommand -f -a %s", name);
    print_fish_description(command->summary);
    if (!command->takes_file)
        output_print("complete -c oif -n '__fish_seen_subcommand_from %s' -f\n", name);
    for (size_t i = 0; command->words && command->words[i]; i++)
        output_print("complete -c oif -n '__fish_seen_subcommand_from %s' -f -a %s\n", name,
                     command->words[i]);
    for (size_t i = 0; i < list->count; i++) {
        const listed_flag *flag = &list->flags[i];
        output_print("complete -c oif -n '__fish_seen_subcommand_from %s' -l %s", name, flag->name);
        if (*flag->words)
            output_print(" -x -a '%s'", flag->words);
        else if (flag->argument && *flag->argument != '[')
            output_print(flag->takes_file ? " -r -F" : " -x");
        print_fish_description(flag->help);
    }
}

static void print_fish(void)
{
    output_print("# fish completion for oif, made by 'oif completions fish'\n\n"
                 "complete -c oif -n __fish_use_subcommand -f -l help\n"
                 "complete -c oif -n __fish_use_subcommand -f -l version\n");
    for_each_command(print_fish_command);
    output_print("\ncomplete -c oif -n __fish_use_subcommand -f -a help -d '%s'\n"
                 "complete -c oif -n '__fish_seen_subcommand_from help' -f -a '",
                 help_summary);
    print_command_names();
    output_print("'\n");
}

/* ---- The command ---- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};

exit_code completions_run(const run_settings *settings)
{
    for (size_t i = 0; settings->file && shells[i]; i++) {
        if (strcmp(settings->file, shells[i]) == 0) {
            printers[i]();
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE,
                    "completions are for bash, zsh or fish (usage: oif completions SHELL)");
}

const command_entry completions_command = {
    .name = "completions",
    .summary = "print what a shell needs to complete the command line",
    .usage = "completions bash|zsh|fish",
    .examples = "  eval \"$(oif completions bash)\"   in ~/.bashrc, if they are not installed\n",
    .takes_file = true,
    .words = shells,
    .is_hidden = true,
};
