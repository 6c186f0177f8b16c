/* Small models: parameters of rolling-iforest for very many keys or little memory. The other
 * settings that were compared are in docs/measurements/small.md. */
#include "base/error.h"
#include "oif.h"

#include <string.h>

static const char small_detector[] = "rolling-iforest";

static const struct {
    const char *name;
    double value;
} small_values[] = {
    {"num_trees", 16}, {"window_size", 256},     {"sample_size", 48},
    {"max_depth", 4},  {"max_leaf_samples", 12},
};

oif_status oif_params_set_small(oif_params *params, oif_error *error)
{
    oif_status status = OIF_OK;
    if (params && params->table && strcmp(params->table->name, small_detector) != 0)
        return oif_fail(error, OIF_EPARAM, "%s has no small models; use %s", params->table->name,
                        small_detector);
    for (size_t i = 0; i < sizeof small_values / sizeof *small_values && status == OIF_OK; i++)
        status = oif_params_set(params, small_values[i].name, small_values[i].value, error);
    return status;
}
