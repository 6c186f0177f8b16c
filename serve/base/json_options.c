#include "json_options.h"

#include "front/text/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

enum { SCALAR_BYTES = OIF_NUMBER_TEXT_BYTES + 1 };

/* A string or a number as text; NULL for others. */
static const char *scalar_text(const json_t *value, char number[SCALAR_BYTES])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, SCALAR_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        number[oif_number_format(json_real_value(value), number)] = '\0';
    else
        return NULL;
    return number;
}

static bool is_scalar(const json_t *value)
{
    return json_is_string(value) || json_is_number(value);
}

bool json_option_is_value(const json_t *value)
{
    const json_t *item;
    size_t i;
    json_array_foreach(value, i, item)
        if (!is_scalar(item))
            return false;
    return is_scalar(value) || json_is_array(value) || json_is_boolean(value) ||
           json_is_null(value);
}

static const char *keep_text(json_t *texts, const char *text)
{
    json_t *kept = text ? json_string(text) : NULL;
    return json_array_append_new(texts, kept) == 0 ? json_string_value(kept) : NULL;
}

const char *json_option_text(const json_t *value, json_t *texts)
{
    char number[SCALAR_BYTES], *list = NULL;
    const json_t *item;
    size_t i;
    if (!json_option_is_value(value))
        return NULL;
    if (!json_is_array(value))
        return json_is_string(value) ? json_string_value(value)
                                     : keep_text(texts, scalar_text(value, number));
    json_array_foreach(value, i, item) {
        if (!(list = name_list_append(list, scalar_text(item, number))))
            break;
    }
    const char *kept = i == json_array_size(value) ? keep_text(texts, list ? list : "") : NULL;
    free(list);
    return kept;
}

bool json_option_set(const command_entry *command, run_settings *settings, const char *name,
                     const json_t *value, json_t *texts, option_problem *why)
{
    const option_entry *option = option_find(command, name);
    const json_t *item;
    size_t i;
    if (!json_option_is_value(value))
        return option_refuse(why, OPTION_HAS_BAD_VALUE, name, NULL, JSON_OPTION_VALUES);
    if (json_is_null(value))
        return true;
    if (json_is_boolean(value))
        return option_switch(command, settings, name, json_is_true(value), why);
    if (json_is_array(value) && option && option->is_repeated) {
        json_array_foreach(value, i, item)
            if (!json_option_set(command, settings, name, item, texts, why))
                return false;
        return true;
    }
    const char *text = json_option_text(value, texts);
    return text ? option_set(command, settings, name, text, why)
                : option_refuse(why, OPTION_LACKS_MEMORY, name, NULL, NULL);
}

/* ---- Problems ---- */

static void word(problem *why, const option_problem *about)
{
    const bool has_other = *about->other && strcmp(about->other, about->name) != 0,
               has_value = *about->value != '\0';
    const char *name = about->name, *value = about->value;
    switch (about->fault) {
    case OPTION_UNKNOWN:
        problem_set(why, 400, NULL, "\"%s\" is not a setting%s%s%s", name,
                    has_other ? "; did you mean \"" : "", has_other ? about->other : "",
                    has_other ? "\"?" : "");
        break;
    case OPTION_OF_OTHERS:
        problem_set(why, 400, NULL,
                    "\"%s\" is not a setting of the detector %s; leave it out, or use "
                    "\"detector\": \"%s\"",
                    name, value, about->other);
        break;
    case OPTION_NEEDS_VALUE: problem_set(why, 400, NULL, "\"%s\" needs a value", name); break;
    case OPTION_TAKES_NO_VALUE: problem_set(why, 400, NULL, "\"%s\" is true or false", name); break;
    case OPTION_HAS_BAD_VALUE:
        problem_set(why, 400, NULL, "\"%s\": expected %s%s%s%s", name, about->expected,
                    has_value ? ", not \"" : "", value, has_value ? "\"" : "");
        break;
    case OPTION_VALUE_IS_REFUSED:
        problem_set(why, 400, NULL, "\"%s\": %s", name, about->expected);
        break;
    case OPTION_UNKNOWN_DETECTOR:
        problem_set(why, 400, NULL, "there is no detector \"%s\"%s%s%s", value,
                    has_other ? "; did you mean \"" : "", about->other, has_other ? "\"?" : "");
        break;
    case OPTION_LACKS_MEMORY: problem_set(why, 503, NULL, "out of memory"); break;
    }
}

bool problem_set_option(problem *why, const option_problem *about, const char *remedy)
{
    word(why, about);
    why->cause = about->cause;
    if (why->status == 400)
        snprintf(why->remedy, sizeof why->remedy, "%s", remedy);
    return false;
}
