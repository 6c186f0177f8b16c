#include "option_set.h"

#include "front/text/cut.h"
#include "front/text/suggest.h"
#include "pipeline_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_refuse(option_problem *why, option_fault fault, const char *name, const char *value,
                   const char *expected)
{
    *why = (option_problem){.fault = fault};
    memcpy(why->name, name, cut_bytes(name, strlen(name), sizeof why->name - 1));
    if (value)
        memcpy(why->value, value, cut_bytes(value, strlen(value), sizeof why->value - 1));
    snprintf(why->expected, sizeof why->expected, "%s", expected ? expected : "");
    return false;
}

static bool refuse_error(option_problem *why, const char *name, const char *value,
                         const oif_error *error)
{
    option_refuse(why, OPTION_VALUE_IS_REFUSED, name, value, error->message);
    why->cause = error->cause;
    return false;
}

/* ---- Options of the tables ---- */

const option_entry *option_find(const command_entry *command, const char *name)
{
    const option_entry *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        if (strcmp(option->name, name) == 0)
            break;
    return option;
}

static const char *store_count(const option_entry *option, const char *value, uint64_t *count,
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

static const char *store_amount(const option_entry *option, const char *value, double *amount)
{
    double number;
    if (!option->parse(value, &number) || !(number >= option->from && number <= option->to))
        return option->range;
    *amount = number;
    return NULL;
}

/* An enum has the size of an int, as on all POSIX systems. */
_Static_assert(sizeof(on_bad_row) == sizeof(int), "OPTION_WORD stores ints");

static const char *store_word(const option_entry *option, const char *value, int *word,
                              char expected[EXPECTED_BYTES])
{
    int length = 0;
    for (int i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], value) == 0) {
            *word = (int)option->from + i;
            return NULL;
        }
        const char *between = i == 0 ? "" : option->words[i + 1] ? ", " : " or ";
        length += snprintf(expected + length, (size_t)(EXPECTED_BYTES - length), "%s%s", between,
                           option->words[i]);
    }
    return expected;
}

/* Lists may be given in parts: --exclude a --exclude b. */
static const char *store_names(const char *value, run_settings *settings, const char **names)
{
    if (!*names) {
        *names = value;
        return NULL;
    }
    char *joined = settings_keep_text(settings, *names, strlen(*names) + strlen(value) + 1);
    if (!joined)
        return "a shorter list, as there is no memory for this one";
    sprintf(joined + strlen(*names), ",%s", value);
    *names = joined;
    return NULL;
}

/* Returns NULL, or what the value should have been. */
static const char *store_value(const option_entry *option, const char *value,
                               run_settings *settings, char expected[EXPECTED_BYTES])
{
    void *setting = (char *)settings + option->offset;
    const char *text = value ? value : ""; /* only what `apply` reads may be left out */
    if (option->given > 0)
        *(bool *)((char *)settings + option->given) = true;
    switch (option->kind) {
    case OPTION_SWITCH: *(bool *)setting = true; break;
    case OPTION_CONSTANT: *(int *)setting = (int)option->from; break;
    case OPTION_TEXT: *(const char **)setting = value; break;
    case OPTION_NAMES: return store_names(text, settings, setting);
    case OPTION_COUNT: return store_count(option, text, setting, expected);
    case OPTION_AMOUNT: return store_amount(option, text, setting);
    case OPTION_WORD: return store_word(option, text, setting, expected);
    case OPTION_APPLY: return option->apply(settings, value);
    }
    return NULL;
}

bool option_may_lack_value(const option_entry *option)
{
    return option->argument && option->argument[0] == '[';
}

static bool set_listed(const option_entry *option, run_settings *settings, const char *value,
                       option_problem *why)
{
    char text[EXPECTED_BYTES];
    const bool takes_value = option->argument || option->kind == OPTION_WORD;
    if (!takes_value && value)
        return option_refuse(why, OPTION_TAKES_NO_VALUE, option->name, value, NULL);
    if (takes_value && !value && !option_may_lack_value(option))
        return option_refuse(why, OPTION_NEEDS_VALUE, option->name, NULL, NULL);
    const char *expected = store_value(option, value, settings, text);
    return !expected || option_refuse(why, OPTION_HAS_BAD_VALUE, option->name, value, expected);
}

/* ---- Parameters ---- */

/* The parameter that a flag names; the count of parameters: there is none. */
static size_t find_in(const oif_param_table *table, const char *name)
{
    char flag[FLAG_NAME_BYTES];
    size_t i = 0;
    while (i < table->param_count && strcmp(param_flag_name(&table->params[i], flag), name) != 0)
        i++;
    return i;
}

/* Where a parameter is set, and where it is noted that it was. */
typedef struct param_slot {
    oif_params *params; /* NULL: there is no such parameter */
    const oif_param *param;
    bool *is_given;
} param_slot;

static param_slot find_param(const command_entry *command, run_settings *settings, const char *name)
{
    size_t i;
    oif_params *of_detector = &settings->params, *of_pipeline = &settings->options;
    if (command->takes_params &&
        (i = find_in(of_detector->table, name)) < of_detector->table->param_count)
        return (param_slot){of_detector, &of_detector->table->params[i], &settings->is_given[i]};
    if (command->takes_pipeline &&
        (i = find_in(of_pipeline->table, name)) < of_pipeline->table->param_count &&
        pipeline_flag_find(of_pipeline->table->params[i].name))
        return (param_slot){of_pipeline, &of_pipeline->table->params[i],
                            &settings->is_option_given[i]};
    return (param_slot){NULL, NULL, NULL};
}

/* Some are numbers in the library, and times or sizes for people. */
static bool set_param(const param_slot *place, const char *name, const char *value,
                      option_problem *why)
{
    const pipeline_flag *flag = pipeline_flag_find(place->param->name);
    oif_error error;
    double number;
    if (!value)
        return option_refuse(why, OPTION_NEEDS_VALUE, name, NULL, NULL);
    *place->is_given = true;
    bool is_timed = flag && flag->parse;
    if (is_timed && !flag->parse(value, &number))
        return option_refuse(why, OPTION_HAS_BAD_VALUE, name, value, flag->expected);
    oif_status status = is_timed
                            ? oif_params_set(place->params, place->param->name, number, &error)
                            : oif_params_set_text(place->params, place->param->name, value, &error);
    return status == OIF_OK || refuse_error(why, name, value, &error);
}

/* ---- Any option ---- */

/* The first detector with a parameter of this name; NULL: none has. */
static const char *detector_with(const char *name)
{
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
        if (find_in(&info->table, name) < info->table.param_count)
            return info->table.name;
    return NULL;
}

bool option_refuse_unknown(const command_entry *command, const run_settings *settings,
                           const char *name, option_problem *why)
{
    const oif_param_table *table = settings->params.table, *pipeline = settings->options.table;
    char names[2 * OIF_PARAMS_MAX][FLAG_NAME_BYTES];
    const char *owner = command->takes_params ? detector_with(name) : NULL;
    word_suggestion suggestion = suggestion_for(name, strlen(name));
    const option_entry *option;
    for (size_t i = 0; (option = command_option(command, i)) != NULL; i++)
        suggestion_consider(&suggestion, option->name);
    for (size_t i = 0; command->takes_params && i < table->param_count; i++)
        suggestion_consider(&suggestion, param_flag_name(&table->params[i], names[i]));
    for (size_t i = 0; command->takes_pipeline && i < pipeline->param_count; i++)
        if (pipeline_flag_find(pipeline->params[i].name))
            suggestion_consider(&suggestion,
                                param_flag_name(&pipeline->params[i], names[OIF_PARAMS_MAX + i]));
    option_refuse(why, owner ? OPTION_OF_OTHERS : OPTION_UNKNOWN, name, owner ? table->name : NULL,
                  NULL);
    why->cause = owner ? OIF_CAUSE_NONE : OIF_CAUSE_UNKNOWN_PARAMETER;
    const char *other = owner ? owner : suggestion.closest ? suggestion.closest : "";
    snprintf(why->other, sizeof why->other, "%s", other);
    return false;
}

bool option_set(const command_entry *command, run_settings *settings, const char *name,
                const char *value, option_problem *why)
{
    const option_entry *option = option_find(command, name);
    if (option && option->group != GROUP_HELP) /* which ends the command line */
        return set_listed(option, settings, value, why);
    param_slot place = find_param(command, settings, name);
    return place.params ? set_param(&place, name, value, why)
                        : option_refuse_unknown(command, settings, name, why);
}

static bool has_word(const oif_param *param, const char *word)
{
    for (size_t i = 0; param->choices && param->choices[i]; i++)
        if (strcmp(param->choices[i], word) == 0)
            return true;
    return false;
}

bool option_switch(const command_entry *command, run_settings *settings, const char *name,
                   bool is_on, option_problem *why)
{
    const option_entry *option = option_find(command, name);
    const oif_param *param = option ? NULL : find_param(command, settings, name).param;
    if (option && option->on)
        return option_set(command, settings, name, is_on ? option->on : "off", why);
    if (param && has_word(param, "on"))
        return option_set(command, settings, name, is_on ? "on" : "off", why);
    if (is_on)
        return option_set(command, settings, name, NULL, why);
    return option || param || option_refuse_unknown(command, settings, name, why);
}

/* ---- Detectors ---- */

/* Writes the name, or of a list that part, which no detector has, to `part`. Returns false if there
 * are detectors of all names. */
static bool find_unknown(const char *names, char part[FLAG_NAME_BYTES])
{
    for (;; names++) {
        size_t bytes = strcspn(names, "+");
        snprintf(part, FLAG_NAME_BYTES, "%.*s", (int)bytes, names);
        if (!oif_detector_info_find(part))
            return true;
        names += bytes;
        if (*names == '\0')
            return false;
    }
}

bool params_find(oif_params *params, const char *name, size_t name_bytes, option_problem *why)
{
    char text[FLAG_NAME_BYTES], part[FLAG_NAME_BYTES];
    oif_error error;
    snprintf(text, sizeof text, "%.*s", (int)cut_bytes(name, name_bytes, sizeof text - 1), name);
    if (oif_params_init(params, text, &error) == OIF_OK)
        return true;
    refuse_error(why, detector_option.name, text, &error);
    if (!find_unknown(text, part))
        return false;
    word_suggestion suggestion = suggestion_for(part, strlen(part));
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
        suggestion_consider(&suggestion, info->table.name);
    why->fault = OPTION_UNKNOWN_DETECTOR;
    snprintf(why->value, sizeof why->value, "%s", part);
    snprintf(why->other, sizeof why->other, "%s", suggestion.closest ? suggestion.closest : "");
    return false;
}

bool settings_start(const command_entry *command, const char *detectors, run_settings *settings,
                    option_problem *why)
{
    *settings = (run_settings){.detectors = detectors};
    oif_pipeline_options_init(&settings->options);
    return params_find(&settings->params, detectors,
                       command->takes_detectors ? strcspn(detectors, ",") : strlen(detectors), why);
}
