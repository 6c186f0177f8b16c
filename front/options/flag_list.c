#include "flag_list.h"

#include "pipeline_flags.h"

#include <stdio.h>
#include <string.h>

/* ---- Texts of the library ---- */

/* A word of such a text that is the name of a parameter; others may be English words. */
static bool is_name(const char *word, size_t bytes)
{
    return bytes > 1 && (memchr(word, '_', bytes) || word[bytes] == '=');
}

const char *param_help(const oif_param *param, char text[PARAM_HELP_BYTES])
{
    char *to = text, *end = text + PARAM_HELP_BYTES - 1;
    for (const char *word = param->help; *word && to < end;) {
        size_t bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
        bool is_flag = is_name(word, bytes);
        bool is_given = is_flag && word[bytes] == '='; /* scale=none: --scale none */
        bytes += bytes == 0;                           /* between words */
        int length = snprintf(to, (size_t)(end - to) + 1, "%s%.*s%s", is_flag ? "--" : "",
                              (int)bytes, word, is_given ? " " : "");
        for (char *c = to; is_flag && *c; c++)
            *c = *c == '_' ? '-' : *c;
        to += length;
        word += bytes + is_given;
    }
    return text;
}

/* ---- The list ---- */

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

static void add_option(flag_list *list, const option_entry *option)
{
    listed_flag *flag = add_flag(list, option->name);
    flag->argument = option_argument(option, flag->argument_text);
    flag->brief_argument = option->argument;
    flag->group = option->group;
    flag->brief = option->brief;
    flag->help = option->help ? option->help : option->brief;
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

static void add_param(flag_list *list, const oif_param *param, bool is_of_detector)
{
    char name[FLAG_NAME_BYTES];
    listed_flag *flag = find_flag(list, param_flag_name(param, name));
    if (!flag) {
        const pipeline_flag *shown = is_of_detector ? NULL : pipeline_flag_find(param->name);
        if (!is_of_detector && !shown)
            return;
        flag = add_flag(list, name);
        flag->argument = flag->brief_argument = param_argument(param);
        flag->group = is_of_detector ? GROUP_PARAMS : shown->group;
        flag->brief = shown ? shown->brief : NULL;
        flag->help = shown && shown->help ? shown->help : param_help(param, flag->help_text);
        flag->param = param;
    }
    if (param->type == OIF_PARAM_CHOICE)
        add_words(flag, param->choices);
}

static void add_params(flag_list *list, const oif_param_table *table, bool is_of_detector)
{
    for (size_t i = 0; i < table->param_count; i++)
        add_param(list, &table->params[i], is_of_detector);
}

static void add_detectors(flag_list *list, const oif_param_table *detector)
{
    const oif_detector_info *info;
    if (detector)
        add_params(list, detector, true);
    for (size_t i = 0; !detector && (info = oif_detector_info_at(i)) != NULL; i++)
        add_params(list, &info->table, true);
}

void flag_list_make(const command_entry *command, const oif_param_table *detector, flag_list *list)
{
    list->count = 0;
    const option_entry *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        add_option(list, option);
    oif_params pipeline;
    oif_pipeline_options_init(&pipeline);
    if (command->takes_pipeline)
        add_params(list, pipeline.table, false);
    if (command->takes_params)
        add_detectors(list, detector);
}
