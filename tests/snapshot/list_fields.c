/* Prints the snapshot fields of every detector, of a pipeline's model around one, and what options
 * add to it. One line per field: owner, name, type, count. With default parameters and rows of
 * three columns, like the tables of docs/snapshot-format.md; tests/docs/snapshot_fields.py compares
 * them. */
#include "base/block.h"
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

/* A pipeline without rows, with default options except those given; NULL on failure. */
static oif_pipeline *make_pipeline(const char *const settings[][2], size_t count)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_pipeline_options_init(&options);
    for (size_t i = 0; i < count; i++)
        if (oif_params_set_text(&options, settings[i][0], settings[i][1], NULL) != OIF_OK)
            return NULL;
    if (oif_params_init(&params, "online-iforest", NULL) != OIF_OK ||
        oif_pipeline_new(&params, 3, &options, &pipeline, NULL) != OIF_OK)
        return NULL;
    return pipeline;
}

static bool list_model(void)
{
    oif_pipeline *pipeline = make_pipeline(NULL, 0);
    lister list = {{.visit = print_field}, "MODL"};
    if (!pipeline)
        return false;
    oif_model_visit_fields(pipeline->models.blank, &list.visitor);
    oif_pipeline_free(pipeline);
    return true;
}

/* What a season adds to a model. */
static bool list_season(void)
{
    static const char *const settings[][2] = {{"season_rows", "2"}};
    oif_pipeline *pipeline = make_pipeline(settings, 1);
    lister list = {{.visit = print_field}, "season_rows"};
    if (!pipeline)
        return false;
    const oif_model *blank = pipeline->models.blank;
    oif_season_visit_fields(
        (oif_season *)oif_judges_season(oif_block_part(blank, blank->at.judges), 0), &list.visitor);
    oif_pipeline_free(pipeline);
    return true;
}

/* What derived columns add to a model. */
static bool list_derived(void)
{
    oif_pipeline *pipeline = make_pipeline(NULL, 0);
    lister list = {{.visit = print_field}, "derived"};
    bool is_derived = pipeline != NULL;
    for (size_t i = 0; i < 3 && is_derived; i++)
        is_derived = oif_pipeline_derive(pipeline, i, i < 2 ? OIF_DERIVE_RATE : OIF_DERIVE_CATEGORY,
                                         false, NULL) == OIF_OK;
    if (is_derived)
        oif_derived_state_visit_fields(
            &pipeline->plan,
            oif_block_part(pipeline->models.blank, pipeline->models.blank->at.derived),
            &list.visitor);
    oif_pipeline_free(pipeline);
    return is_derived;
}

static bool list_budget(void)
{
    static const char *const settings[][2] = {{"alerts", "1"}};
    oif_pipeline *pipeline = make_pipeline(settings, 1);
    lister list = {{.visit = print_field}, "BUDG"};
    if (!pipeline)
        return false;
    oif_alert_budget_visit_fields(&pipeline->budget, &list.visitor);
    oif_pipeline_free(pipeline);
    return true;
}

/* A detector listed under `owner`, with default parameters except for its way of forgetting, if
 * given. */
static bool list_detector(const char *owner, const char *name, const char *forgetting)
{
    oif_params params;
    oif_detector *detector;
    lister list = {{.visit = print_field}, owner};
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
    bool all = list_detector("forgetting=turnover", "online-iforest", "turnover") &&
               list_budget() && list_model() && list_season() && list_derived();
    return all ? 0 : 1;
}
