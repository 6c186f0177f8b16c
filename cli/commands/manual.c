/* oif manual: the manual pages in mdoc, made from the tables that the command line is read
 * with, so they cannot be out of date. It runs when oif is built, and its output is installed. */
#include "commands.h"
#include "front/options/flag_list.h"

#include <ctype.h>
#include <string.h>

/* The longest line of running text; more is a matter of style to mandoc. */
enum { TEXT_WIDTH = 76 };

static void print_character(char c)
{
    if (c == '\\')
        output_print("\\e");
    else
        output_print("%c", c);
}

/* A line that starts like a request must not be one. */
static void print_line(const char *line, size_t length)
{
    if (length > 0 && (line[0] == '.' || line[0] == '\''))
        output_print("\\&");
    for (size_t i = 0; i < length; i++)
        print_character(line[i]);
    output_print("\n");
}

static void print_indented(const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        size_t indent = strspn(text, " ") < 2 ? 0 : 2;
        print_line(text + indent, length - indent);
        text += length + (text[length] == '\n');
    }
}

static void print_examples(const char *examples, const char *more)
{
    output_print(".Sh EXAMPLES\n.Bd -literal\n");
    print_indented(examples);
    print_indented(more);
    output_print(".Ed\n");
}

/* How much of the text fits a line: up to a blank, or all. */
static size_t line_length(const char *text)
{
    size_t length = strlen(text);
    if (length <= TEXT_WIDTH)
        return length;
    for (size_t i = TEXT_WIDTH; i > 0; i--)
        if (text[i] == ' ')
            return i;
    return strcspn(text, " ");
}

static void print_text(const char *text)
{
    while (*text) {
        size_t length = line_length(text);
        print_line(text, length);
        text += length;
        text += strspn(text, " ");
    }
}

/* "Help" from "help": a sentence of its own. */
static void print_sentence(const char *text)
{
    size_t length = strlen(text);
    if (length == 0)
        return;
    char sentence[1024];
    if (length + 2 > sizeof sentence)
        length = sizeof sentence - 2;
    memcpy(sentence, text, length);
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    if (sentence[length - 1] != '.')
        sentence[length++] = '.';
    sentence[length] = '\0';
    print_text(sentence);
}

/* ---- Parts of a page ---- */

static void print_title(const char *dash, const char *command, const char *summary)
{
    char title[64];
    size_t length = 0;
    for (const char *c = command; *c && length + 1 < sizeof title; c++)
        title[length++] = (char)toupper((unsigned char)*c);
    title[length] = '\0';
    output_print(".\\\" made by 'oif manual': change the tables in cli/ instead\n"
                 ".Dd $Mdocdate$\n.Dt OIF%s%s 1\n.Os\n.Sh NAME\n.Nm oif%s%s\n.Nd ",
                 dash, title, dash, command);
    print_line(summary, strlen(summary));
}

static void print_argument(const char *argument)
{
    size_t length = strlen(argument);
    if (argument[0] == '[')
        output_print(" Op Ar %.*s", (int)length - 2, argument + 1);
    else
        output_print(" Ar %s", argument);
}

static void print_number(const char *before, double number)
{
    output_text(before);
    output_number(number);
}

static void print_range(const oif_param *param)
{
    if (param->type == OIF_PARAM_CHOICE) {
        output_print("One of");
        for (size_t i = 0; param->choices[i]; i++)
            output_print("%s %s", i > 0 ? "," : "", param->choices[i]);
        output_print(";\ndefault %s.\n", param->choices[(size_t)param->initial]);
        return;
    }
    print_number("From ", param->minimum);
    print_number(" to ", param->maximum);
    print_number(";\ndefault ", param->initial);
    output_print(".\n");
}

static void print_flag(const listed_flag *flag)
{
    output_print(".It Fl -%s", flag->name);
    if (flag->argument)
        print_argument(flag->argument);
    output_print("\n");
    print_sentence(flag->help);
    if (flag->param)
        print_range(flag->param);
    else if (flag->argument && *flag->words && !strchr(flag->argument, '|'))
        output_print("One of: %s.\n", flag->words);
}

static void print_group(const flag_list *list, option_group group)
{
    bool has_heading = false;
    for (size_t i = 0; i < list->count; i++) {
        const listed_flag *flag = &list->flags[i];
        if (flag->group != group)
            continue;
        if (!has_heading)
            output_print(".Ss %s\n.Bl -tag -width Ds\n", option_group_title(group));
        has_heading = true;
        print_flag(flag);
    }
    if (has_heading)
        output_print(".El\n");
}

/* The page of oif score has the parameters, by detector. */
static void print_flags(const flag_list *list)
{
    output_print(".Sh OPTIONS\n");
    for (option_group group = GROUP_NONE + 1; group < GROUP_COUNT; group++)
        if (group != GROUP_PARAMS)
            print_group(list, group);
}

static void print_detectors(void)
{
    const oif_detector_info *info;
    output_print(".Sh DETECTORS\nTheir parameters are options of the commands that score rows.\n");
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++) {
        output_print(".Ss %s\n", info->table.name);
        print_sentence(info->table.summary);
        print_sentence(info->paper);
        output_print(".Bl -tag -width Ds\n");
        for (size_t j = 0; j < info->table.param_count; j++) {
            char name[FLAG_NAME_BYTES], help[PARAM_HELP_BYTES];
            const oif_param *param = &info->table.params[j];
            output_print(".It Fl -%s Ar %s\n", param_flag_name(param, name),
                         param->type == OIF_PARAM_CHOICE ? "WORD" : "N");
            print_sentence(param_help(param, help));
            print_range(param);
        }
        output_print(".El\n");
    }
}

/* The command whose name comes next in the alphabet; NULL after the last. */
static const command_entry *command_after(const char *name)
{
    const command_entry *next = NULL, *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (strcmp(command->name, name) > 0 && (!next || strcmp(command->name, next->name) < 0))
            next = command;
    return next;
}

/* Of the page of a command, or of oif itself: NULL. */
static void print_end(const command_entry *page)
{
    const char *between = "";
    char name[COMMAND_NAME_BYTES];
    output_print(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nAll went well.\n"
                 ".It 1\nFailure: of the input, the output or the machine.\n"
                 ".It 2\nThe command line is wrong.\n");
    if (!page || page == &score_command)
        output_print(".It 3\nThere was an alert; only with\n.Nm oif score Fl Fl fail-on-alert .\n");
    output_print(".El\n");
    print_examples(page ? page->examples : program_examples, page ? page->more_examples : NULL);
    output_print(".Sh SEE ALSO\n");
    if (page) {
        output_print(".Xr oif 1");
        between = " ,\n";
    }
    for (const command_entry *other = command_after(""); other;
         other = command_after(other->name)) {
        if (other == page)
            continue;
        output_print("%s.Xr oif-%s 1", between, command_page(other, name));
        between = " ,\n";
    }
    output_print("\n");
}

/* ---- Pages ---- */

static void print_program_page(void)
{
    const command_entry *command;
    char name[COMMAND_NAME_BYTES];
    print_title("", "", "find the unusual rows of a stream, and say why");
    output_print(
        ".Sh SYNOPSIS\n.Nm oif\n.Ar command\n.Op Ar option ...\n.Op Ar file\n.Sh DESCRIPTION\n"
        ".Nm\ngives every row of a stream of numbers an anomaly score as it arrives:\n"
        "the higher, the more anomalous.\nCommands are:\n.Bl -tag -width Ds\n");
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        output_print(".It Ic %s\n", command->name);
        print_sentence(command->summary);
        output_print("See\n.Xr oif-%s 1 .\n", command_page(command, name));
    }
    output_print(".El\n.Sh OPTIONS\n.Bl -tag -width Ds\n"
                 ".It Fl -help\nPrint examples and the commands.\n"
                 ".It Fl -version\nPrint the version of the library that runs.\n.El\n");
    print_end(NULL);
}

static void print_command_page(const command_entry *command)
{
    static flag_list list; /* more than 100 kilobytes */
    flag_list_make(command, NULL, &list);
    char name[COMMAND_NAME_BYTES];
    print_title("-", command_page(command, name), command->summary);
    output_print(".Sh SYNOPSIS\n.Nm oif\n");
    print_line(command->usage, strlen(command->usage));
    output_print(".Sh DESCRIPTION\n");
    print_sentence(command->summary);
    if (command->takes_file && !command->words)
        output_print("Without a file, or with\n.Sq - ,\nit reads standard input.\n");
    if (command->takes_params && command != &score_command)
        output_print("The parameters of the detector are options as well:\n"
                     ".Xr oif-score 1\nlists those of each.\n");
    print_flags(&list);
    if (command == &score_command)
        print_detectors();
    print_end(command);
}

exit_code manual_run(const run_settings *settings)
{
    if (!settings->file) {
        print_program_page();
        return EXIT_OK;
    }
    const command_entry *command;
    char name[COMMAND_NAME_BYTES];
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strcmp(settings->file, command_page(command, name)) == 0) {
            print_command_page(command);
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE, "there is no command '%s'; 'oif --help' lists all", settings->file);
}

const command_entry manual_command = {
    .name = "manual",
    .summary = "print the manual page of oif or of one of its commands",
    .usage = "manual [COMMAND]",
    .examples = "  oif manual score | man -l -   if the pages are not installed\n",
    .takes_file = true,
    .is_hidden = true,
};
