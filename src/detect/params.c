/* Parameters. Names, ranges and words come only from the table. */
#include "detect/params.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "oif_rows.h"

#include <string.h>

void oif_params_init_table(oif_params *params, const oif_param_table *table)
{
    *params = (oif_params){.table = table};
    for (size_t i = 0; i < table->param_count; i++)
        params->values[i] = table->params[i].initial;
}

/* The position of a parameter in the table, or param_count. */
static size_t find_param(const oif_param_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->param_count && strcmp(table->params[i].name, name) != 0)
        i++;
    return i;
}

/* Finds a parameter for a public call, whose arguments are not checked yet. */
static oif_status look_up(const oif_params *params, const char *name, size_t *position,
                          oif_error *error)
{
    if (!params || !params->table)
        return oif_fail(error, OIF_EPARAM,
                        "the parameters are not initialised; call oif_params_init or "
                        "oif_pipeline_options_init first");
    if (!name)
        name = "";
    *position = find_param(params->table, name);
    if (*position == params->table->param_count)
        return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_PARAMETER,
                                "%s has no parameter '%s'", params->table->name,
                                oif_excerpt_of(name, name + strlen(name)).text);
    return OIF_OK;
}

static oif_status fail_choice(const oif_param *param, oif_error *error)
{
    char words[160] = "";
    for (const char *const *word = param->choices; *word; word++) {
        strncat(words, words[0] ? ", " : "", sizeof words - strlen(words) - 1);
        strncat(words, *word, sizeof words - strlen(words) - 1);
    }
    return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_PARAMETER_RANGE, "%s must be one of: %s",
                            param->name, words);
}

static oif_status fail_range(const oif_param *param, oif_error *error)
{
    char minimum[OIF_NUMBER_TEXT_BYTES], maximum[OIF_NUMBER_TEXT_BYTES];
    int minimum_length = (int)oif_number_format(param->minimum, minimum);
    int maximum_length = (int)oif_number_format(param->maximum, maximum);
    return oif_fail_because(error, OIF_EPARAM, OIF_CAUSE_PARAMETER_RANGE,
                            "%s must be %s from %.*s to %.*s", param->name,
                            param->type == OIF_PARAM_INTEGER ? "a whole number" : "a number",
                            minimum_length, minimum, maximum_length, maximum);
}

static oif_status check_value(const oif_param *param, double value, oif_error *error)
{
    bool in_range = value >= param->minimum && value <= param->maximum;
    if (in_range && (param->type == OIF_PARAM_REAL || (double)(int64_t)value == value))
        return OIF_OK; /* only whole numbers have ranges that fit 64 bits */
    return param->type == OIF_PARAM_CHOICE ? fail_choice(param, error) : fail_range(param, error);
}

oif_status oif_params_set(oif_params *params, const char *name, double value, oif_error *error)
{
    size_t i = 0;
    oif_status status = look_up(params, name, &i, error);
    if (status == OIF_OK)
        status = check_value(&params->table->params[i], value, error);
    if (status == OIF_OK)
        params->values[i] = value;
    return status;
}

oif_status oif_params_set_text(oif_params *params, const char *name, const char *text,
                               oif_error *error)
{
    size_t i = 0;
    oif_status status = look_up(params, name, &i, error);
    if (status != OIF_OK)
        return status;
    const oif_param *param = &params->table->params[i];
    if (!text)
        text = ""; /* not a number, and not a word */
    if (param->type == OIF_PARAM_CHOICE) {
        for (size_t word = 0; param->choices[word]; word++)
            if (strcmp(param->choices[word], text) == 0) {
                params->values[i] = (double)word;
                return OIF_OK;
            }
        return fail_choice(param, error);
    }
    double value;
    const char *end = text + strlen(text);
    if (oif_number_parse(text, end, &value) != end)
        return fail_range(param, error);
    return oif_params_set(params, name, value, error);
}

oif_status oif_params_get(const oif_params *params, const char *name, double *value,
                          oif_error *error)
{
    size_t i = 0;
    oif_status status = look_up(params, name, &i, error);
    if (status == OIF_OK)
        *value = params->values[i];
    return status;
}

double oif_params_value(const oif_params *params, const char *name)
{
    return params->values[find_param(params->table, name)];
}

oif_status oif_params_check(const oif_params *params, oif_error *error)
{
    for (size_t i = 0; i < params->table->param_count; i++) {
        oif_status status = check_value(&params->table->params[i], params->values[i], error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}
