/* The list of detectors, the default first. A new detector adds a declaration and a list entry. */
#include "detect/detector.h"
#include "detect/together.h"

#include <string.h>

extern const oif_detector_kind oif_rolling_iforest;
extern const oif_detector_kind oif_online_iforest;
extern const oif_detector_kind oif_iforest_asd;
extern const oif_detector_kind oif_half_space_trees;
extern const oif_detector_kind oif_rrcf;
extern const oif_detector_kind oif_loda;
extern const oif_detector_kind oif_sdo;

const oif_detector_kind *const oif_detector_kinds[] = {
    &oif_rolling_iforest,
    &oif_online_iforest,
    &oif_iforest_asd,
    &oif_half_space_trees,
    &oif_rrcf,
    &oif_loda,
    &oif_sdo,
    NULL,
};

const oif_detector_info *oif_detector_info_at(size_t index)
{
    for (size_t i = 0; oif_detector_kinds[i]; i++)
        if (i == index)
            return &oif_detector_kinds[i]->info;
    return NULL;
}

const oif_detector_kind *oif_detector_kind_of(const oif_params *params)
{
    for (size_t i = 0; params && oif_detector_kinds[i]; i++)
        if (params->table == &oif_detector_kinds[i]->info.table)
            return oif_detector_kinds[i];
    return NULL;
}

const oif_detector_info *oif_detector_info_find(const char *name)
{
    for (size_t i = 0; name && oif_detector_kinds[i]; i++)
        if (strcmp(oif_detector_kinds[i]->info.table.name, name) == 0)
            return &oif_detector_kinds[i]->info;
    return NULL;
}

oif_status oif_params_init(oif_params *params, const char *detector, oif_error *error)
{
    const oif_detector_info *info = oif_detector_info_find(detector);
    if (!detector)
        detector = "";
    oif_status status = info ? OIF_OK : oif_together_find(detector, &info, error);
    if (status == OIF_OK)
        oif_params_init_table(params, &info->table);
    return status;
}
