#include "flags.h"

#include <stdio.h>
#include <string.h>

static bool has_word(const char *words, const char *word, size_t word_bytes)
{
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (strcspn(words, " ") == word_bytes && memcmp(words, word, word_bytes) == 0)
            return true;
    return false;
}

static void add_word(struct listed_flag *flag, const char *word, size_t word_bytes)
{
    size_t used = strlen(flag->words);

    if (!has_word(flag->words, word, word_bytes) && used + word_bytes + 2 <= FLAG_WORDS_BYTES)
        snprintf(flag->words + used, FLAG_WORDS_BYTES - used, "%s%.*s", used > 0 ? " " : "",
                 (int)word_bytes, word);
}

/* "csv|ndjson" are words, "N|Ns" stands for others. */
static void add_words_of_argument(struct listed_flag *flag)
{
    const char *word = flag->argument;

    if (!word || !strchr(word, '|') ||
        word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-|")] != '\0')
        return;
    while (*word) {
        size_t word_bytes = strcspn(word, "|");
        add_word(flag, word, word_bytes);
        word += word_bytes + (word[word_bytes] == '|');
    }
}

static struct listed_flag *add_flag(struct flag_list *list, const char *name)
{
    struct listed_flag *flag = &list->flags[list->count];

    if (list->count == FLAGS_MAX)
        return &list->flags[FLAGS_MAX - 1]; /* tests count the flags */
    list->count++;
    memset(flag, 0, sizeof *flag);
    snprintf(flag->name, sizeof flag->name, "%s", name);
    return flag;
}

static struct listed_flag *add_option(struct flag_list *list, const struct option *option)
{
    struct listed_flag *flag = add_flag(list, option->name);

    flag->argument = option->argument;
    flag->help = option->help;
    flag->takes_file = option->argument && strcmp(option->argument, "FILE") == 0;
    add_words_of_argument(flag);
    return flag;
}

static struct listed_flag *find_flag(struct flag_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->flags[i].name, name) == 0)
            return &list->flags[i];
    return NULL;
}

static void add_params(struct flag_list *list, const oif_detector_info *info, bool is_of_detector)
{
    for (size_t i = 0; i < info->param_count; i++) {
        const oif_param *param = &info->params[i];
        char name[FLAG_NAME_BYTES];
        struct listed_flag *flag = find_flag(list, param_flag_name(param, name));
        bool is_choice = param->type == OIF_PARAM_CHOICE;

        if (!flag) {
            flag = add_flag(list, name);
            flag->argument = is_choice ? "WORD" : "N";
            flag->help = param->help;
            flag->param = param;
            flag->is_of_detector = is_of_detector;
        }
        for (size_t j = 0; is_choice && param->choices[j]; j++)
            add_word(flag, param->choices[j], strlen(param->choices[j]));
    }
}

void flags_list(const struct command *command, struct flag_list *list)
{
    static const struct option help_option = {"help", NULL,
                                              "print examples, all options and their ranges", NULL};
    const oif_detector_info *info;
    struct listed_flag *detector;
    oif_params pipeline;

    list->count = 0;
    for (size_t i = 0; i < command->option_count; i++)
        add_option(list, &command->options[i]);
    if (command->takes_params) {
        detector = add_option(list, &detector_option);
        for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
            add_word(detector, info->name, strlen(info->name));
    }
    add_option(list, &help_option);
    oif_pipeline_options_init(&pipeline);
    if (command->takes_pipeline)
        add_params(list, pipeline.info, false);
    for (size_t i = 0; command->takes_params && (info = oif_detector_info_at(i)) != NULL; i++)
        add_params(list, info, true);
}
