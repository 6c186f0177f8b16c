/* --help has examples and the options that people need most, one line each, and fits a terminal.
 * --help-all has all examples and options with their full text. Neither is wider than 80
 * columns. */
#include "help.h"

#include "flag_list.h"

#include <stdio.h>
#include <string.h>

/* The left column, and where the right one starts. */
enum { HELP_WIDTH = 80, FLAG_WIDTH = 22, TEXT_COLUMN = FLAG_WIDTH + 3, HEADING_INDENT = 2 };

/* Breaks the text between words where it is too wide. The first line starts at `column`, too. */
static void print_wrapped(const char *text, size_t column)
{
    size_t width = HELP_WIDTH - column;
    while (strlen(text) > width) {
        /* cppcheck-suppress pointerOutOfBounds ; it looks at a shorter text, with which this
         * loop does not begin */
        const char *end = text + width;
        while (end > text && *end != ' ')
            end--;
        if (end == text)
            break;
        output_print("%.*s\n%*s", (int)(end - text), text, (int)column, "");
        text = end + 1;
    }
    output_print("%s\n", text);
}

static void print_left(const listed_flag *flag, const char *argument, bool may_break)
{
    char left[2 * FLAG_NAME_BYTES + ARGUMENT_TEXT_BYTES];
    snprintf(left, sizeof left, "--%s%s%s", flag->name, argument ? " " : "",
             argument ? argument : "");
    if (may_break && strlen(left) > FLAG_WIDTH)
        output_print("  %s\n%*s", left, TEXT_COLUMN, "");
    else
        output_print("  %-*s ", FLAG_WIDTH, left);
}

/* "(default 0.001)" behind an option of the pipeline; where the default is 0, that means none. */
static void print_brief(const listed_flag *flag)
{
    const oif_param *param = flag->param;
    char text[PARAM_TEXT_BYTES];
    print_left(flag, flag->brief_argument, false);
    output_print("%s", flag->brief);
    if (param && (param->type == OIF_PARAM_CHOICE || param->initial != 0))
        output_print(" (default %s)", param_text(param, param->initial, text));
    output_print("\n");
}

static void print_range(const oif_param *param)
{
    char minimum[PARAM_TEXT_BYTES], maximum[PARAM_TEXT_BYTES], initial[PARAM_TEXT_BYTES];
    output_print("%*s", TEXT_COLUMN, "");
    if (param->type == OIF_PARAM_CHOICE)
        for (size_t i = 0; param->choices[i]; i++)
            output_print("%s%s", i > 0 ? " | " : "", param->choices[i]);
    else
        output_print("%s to %s", param_text(param, param->minimum, minimum),
                     param_text(param, param->maximum, maximum));
    output_print("; default %s\n", param_text(param, param->initial, initial));
}

static void print_full(const listed_flag *flag)
{
    print_left(flag, flag->argument, true);
    print_wrapped(flag->help, TEXT_COLUMN);
    if (flag->param)
        print_range(flag->param);
}

static void print_heading(option_group group, const oif_param_table *detector)
{
    if (group != GROUP_PARAMS) {
        output_print("\n%s:\n", option_group_title(group));
        return;
    }
    output_print("\n%s of %s:\n%*s", option_group_title(group), detector->name, HEADING_INDENT, "");
    print_wrapped(detector->summary, HEADING_INDENT);
}

static void print_group(const flag_list *list, option_group group, const oif_param_table *detector,
                        help_kind kind)
{
    bool has_heading = false;
    for (size_t i = 0; i < list->count; i++) {
        const listed_flag *flag = &list->flags[i];
        if (flag->group != group || (kind == HELP_SHORT && !flag->brief))
            continue;
        if (!has_heading)
            print_heading(group, detector);
        has_heading = true;
        if (kind == HELP_SHORT)
            print_brief(flag);
        else
            print_full(flag);
    }
}

void help_print(const command_entry *command, const oif_param_table *detector, help_kind kind)
{
    static flag_list list; /* more than 100 kilobytes */
    flag_list_make(command, detector, &list);
    output_print("oif %s: %s\n\nExamples:\n%s", command->name, command->summary, command->examples);
    if (kind == HELP_ALL && command->more_examples)
        output_print("%s", command->more_examples);
    output_print("\nUsage: oif %s\n", command->usage);
    for (option_group group = GROUP_NONE + 1; group < GROUP_COUNT; group++)
        print_group(&list, group, detector, kind);
    if (kind == HELP_SHORT)
        output_print("\n'oif %s --help-all' explains all options, with examples.\n", command->name);
}
