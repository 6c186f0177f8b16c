#include "flag_list.h"

#include <stdio.h>
#include <string.h>

static bool has_word(const char *words, const char *word)
{
    size_t word_bytes = strlen(word);
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (strcspn(words, " ") == word_bytes && memcmp(words, word, word_bytes) == 0)
            return true;
    return false;
}

static void add_word(listed_flag *flag, const char *word)
{
    size_t used = strlen(flag->words);
    if (!has_word(flag->words, word) && used + strlen(word) + 2 <= FLAG_WORDS_BYTES)
        snprintf(flag->words + used, FLAG_WORDS_BYTES - used, "%s%s", used > 0 ? " " : "", word);
}

static void add_words(listed_flag *flag, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        add_word(flag, words[i]);
}

static listed_flag *add_flag(flag_list *list, const char *name)
{
    listed_flag *flag = &list->flags[list->count];
    if (list->count == FLAGS_MAX)
        return &list->flags[FLAGS_MAX - 1]; /* tests count the flags */
    list->count++;
    memset(flag, 0, sizeof *flag);
    snprintf(flag->name, sizeof flag->name, "%s", name);
    return flag;
}

static void add_option(flag_list *list, const cli_option *option)
{
    listed_flag *flag = add_flag(list, option->name);
    flag->argument = option_argument(option, flag->argument_text);
    flag->help = option->help;
    flag->takes_file = option->argument && strcmp(option->argument, "FILE") == 0;
    if (option->kind == OPTION_WORD)
        add_words(flag, option->words);
    const oif_detector_info *info;
    for (size_t i = 0; option == &detector_option && (info = oif_detector_info_at(i)); i++)
        add_word(flag, info->table.name);
}

static listed_flag *find_flag(flag_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->flags[i].name, name) == 0)
            return &list->flags[i];
    return NULL;
}

static void add_params(flag_list *list, const oif_param_table *table, bool is_of_detector)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const oif_param *param = &table->params[i];
        char name[FLAG_NAME_BYTES];
        listed_flag *flag = find_flag(list, param_flag_name(param, name));
        bool is_choice = param->type == OIF_PARAM_CHOICE;
        if (!flag) {
            flag = add_flag(list, name);
            flag->argument = param_argument(param);
            flag->help = param->help;
            flag->param = param;
            flag->is_of_detector = is_of_detector;
        }
        if (is_choice)
            add_words(flag, param->choices);
    }
}

void flag_list_make(const cli_command *command, flag_list *list)
{
    static const cli_option help_option = {"help", OPTION_SWITCH, 0,
                                           .help = "print examples, all options and their ranges"};
    list->count = 0;
    const cli_option *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        add_option(list, option);
    add_option(list, &help_option);
    oif_params pipeline;
    oif_pipeline_options_init(&pipeline);
    const oif_detector_info *info;
    if (command->takes_pipeline)
        add_params(list, pipeline.table, false);
    for (size_t i = 0; command->takes_params && (info = oif_detector_info_at(i)) != NULL; i++)
        add_params(list, &info->table, true);
}
