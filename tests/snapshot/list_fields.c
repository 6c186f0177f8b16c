/* Prints what every detector, and a pipeline's model around one, tells of itself for a
 * snapshot, a line a field: whose it is, name, type, count. With default parameters and rows of
 * three numbers, as the tables of docs/snapshot-format.md; tests/docs/snapshot_fields.py
 * compares. */
#include "detect/detector.h"
#include "pipeline/pipeline.h"

#include <stdio.h>

typedef struct lister {
    oif_state_visitor visitor;
    const char *owner;
} lister;

static void print_field(oif_state_visitor *self, const char *name, oif_field_type type,
                        void *values, size_t count)
{
    static const char *const type_names[] = {"u8", "u16", "u32", "i32", "u64", "i64", "f64"};
    (void)values;
    printf("%s %s %s %zu\n", ((lister *)self)->owner, name, type_names[type], count);
}

static bool list_model(void)
{
    oif_params params, options;
    oif_pipeline *pipeline;
    lister list = {{print_field}, "MODL"};
    oif_pipeline_options_init(&options);
    if (oif_params_init(&params, "online-iforest", NULL) != OIF_OK ||
        oif_pipeline_new(&params, 3, &options, &pipeline, NULL) != OIF_OK)
        return false;
    oif_model_visit_fields(pipeline->blank, &list.visitor);
    oif_pipeline_free(pipeline);
    return true;
}

/* Under `owner`, a detector with default parameters but for its way of forgetting where one is
 * named. */
static bool list_detector(const char *owner, const char *name, const char *forgetting)
{
    oif_params params;
    oif_detector *detector;
    lister list = {{print_field}, owner};
    if (oif_params_init(&params, name, NULL) != OIF_OK ||
        (forgetting && oif_params_set_text(&params, "forgetting", forgetting, NULL) != OIF_OK) ||
        oif_detector_new(&params, 3, &detector, NULL) != OIF_OK)
        return false;
    oif_detector_visit_fields(detector, &list.visitor);
    oif_detector_free(detector);
    return true;
}

int main(void)
{
    const oif_detector_info *info;
    for (size_t kind = 0; (info = oif_detector_info_at(kind)) != NULL; kind++)
        if (!list_detector(info->table.name, info->table.name, NULL))
            return 1;
    return list_detector("forgetting=turnover", "online-iforest", "turnover") && list_model() ? 0
                                                                                              : 1;
}
