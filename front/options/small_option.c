#include "small_option.h"

const char *small_set(run_settings *settings, const char *value)
{
    const oif_param_table *table = settings->params.table;
    oif_params small = settings->params;
    (void)value; /* it has none */
    if (oif_params_set_small(&small, NULL) != OIF_OK)
        return "a detector with small models"; /* as the table of options says */
    for (size_t i = 0; i < table->param_count; i++)
        if (!settings->is_given[i] && small.values[i] != settings->params.values[i]) {
            settings->params.values[i] = small.values[i];
            settings->is_given[i] = true;
        }
    return NULL;
}
