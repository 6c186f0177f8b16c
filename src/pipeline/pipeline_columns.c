/* The columns of a pipeline: their names, what is derived from them, and more of them later. */
#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "detect/together.h"
#include "pipeline/pipeline.h"

#include <string.h>

/* ---- Names of columns ---- */

static bool are_alike(const oif_column_names *a, const oif_column_names *b)
{
    if (!a || !b || a->count != b->count)
        return a == b;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(oif_column_names_at(a, i), oif_column_names_at(b, i)) != 0)
            return false;
    return true;
}

oif_status oif_pipeline_name_columns(oif_pipeline *pipeline, const char *const *names,
                                     oif_error *error)
{
    oif_column_names *made = NULL;
    oif_status status =
        names ? oif_column_names_new(names, pipeline->columns, &made, error) : OIF_OK;
    if (status != OIF_OK)
        return status;
    if (!are_alike(pipeline->names, made))
        pipeline->stored = (oif_stored_place){0}; /* updates have no names */
    oif_column_names_free(pipeline->names);
    pipeline->names = made;
    return OIF_OK;
}

const char *oif_pipeline_column_name(const oif_pipeline *pipeline, size_t column)
{
    return oif_column_names_at(pipeline->names, column);
}

/* ---- Derived columns ---- */

oif_status oif_pipeline_derive(oif_pipeline *pipeline, size_t column, oif_derive kind, bool keep,
                               oif_error *error)
{
    return oif_pipeline_derive_all(pipeline, &(oif_derive_column){column, kind, keep}, 1, error);
}

/* The error has the number of the derivation, from 1. */
static oif_status add_derived(oif_derived_plan *plan, const oif_derive_column *derived, size_t i,
                              oif_error *error)
{
    oif_status status =
        oif_derived_plan_add(plan, derived[i].column, derived[i].kind, derived[i].keep, error);
    if (status == OIF_EPARAM && error)
        error->column = i + 1;
    return status;
}

/* Creates the models once for all derivations, because a model of many columns takes a while. */
oif_status oif_pipeline_derive_all(oif_pipeline *pipeline, const oif_derive_column *derived,
                                   size_t count, oif_error *error)
{
    oif_derived_plan plan;
    if (pipeline->rows > 0 || pipeline->keys.count > 0 || pipeline->evicted.file)
        return oif_fail(
            error, OIF_EPARAM,
            "derive columns before the first row is processed and before evicted models are kept");
    oif_status status = oif_derived_plan_clone(&pipeline->plan, &plan, error);
    if (status != OIF_OK)
        return status;
    for (size_t i = 0; i < count && status == OIF_OK; i++)
        status = add_derived(&plan, derived, i, error);
    if (status == OIF_OK)
        status = oif_pipeline_set_plan(pipeline, &plan, error);
    if (status != OIF_OK)
        oif_derived_plan_free(&plan);
    return status;
}

size_t oif_pipeline_learned_columns(const oif_pipeline *pipeline)
{
    return pipeline->plan.derived_columns;
}

size_t oif_pipeline_learned_from(const oif_pipeline *pipeline, size_t learned_column,
                                 oif_derive *kind)
{
    if (learned_column < oif_pipeline_learned_columns(pipeline))
        return oif_derived_source(&pipeline->plan, learned_column, kind);
    *kind = OIF_DERIVE_NONE;
    return SIZE_MAX;
}

const double *oif_pipeline_learned_row(const oif_pipeline *pipeline)
{
    const oif_model *model = oif_pipeline_model(pipeline, pipeline->last);
    return model ? oif_model_recent(model) + (model->options.shingle - 1) * model->columns : NULL;
}

const char *oif_derive_word(oif_derive kind)
{
    static const char *const words[] = {"", "diff", "rate", "log", "category"};
    return (unsigned)kind < sizeof words / sizeof *words ? words[kind] : "";
}

/* ---- More columns ---- */

typedef struct new_columns {
    size_t count;
    const char *const *names; /* NULL: the columns of the pipeline have none */
    const oif_derive_column *derived;
    size_t derived_count;
} new_columns;

static bool has_name(const oif_column_names *names, const char *name)
{
    for (size_t i = 0; name && i < names->count; i++)
        if (strcmp(oif_column_names_at(names, i), name) == 0)
            return true;
    return false;
}

static oif_status check_new(const oif_pipeline *p, const new_columns *more, oif_error *error)
{
    if (p->evicted.file)
        return oif_fail(error, OIF_EPARAM,
                        "a pipeline with evicted=keep cannot get more columns: all models in its "
                        "file have the same size");
    if (more->count > OIF_COLUMNS_MAX - p->columns)
        return oif_fail(error, OIF_EPARAM, "a row has at most %d columns", OIF_COLUMNS_MAX);
    if ((more->names != NULL) != (p->names != NULL))
        return oif_fail(error, OIF_EPARAM,
                        p->names ? "the columns have names, so new ones need names too"
                                 : "the columns have no names, so new ones cannot have names");
    for (size_t i = 0; more->names && i < more->count; i++)
        if (has_name(p->names, more->names[i]))
            return oif_fail_at(error, OIF_EPARAM, 0, i + 1, "there is a column '%s' already",
                               more->names[i]);
    return OIF_OK;
}

/* The names of all columns; the result is NULL if they have none. */
static oif_status join_names(const oif_pipeline *p, const new_columns *more,
                             oif_column_names **joined, oif_error *error)
{
    const size_t count = p->columns + more->count;
    *joined = NULL;
    if (!more->names)
        return OIF_OK;
    const char **all = oif_memory_new(oif_size_multiply(count, sizeof *all));
    if (!all)
        return oif_fail(error, OIF_EMEMORY, "no memory for the names of %zu columns", count);
    for (size_t i = 0; i < count; i++)
        all[i] = i < p->columns ? oif_column_names_at(p->names, i) : more->names[i - p->columns];
    oif_status status = oif_column_names_new(all, count, joined, error);
    oif_memory_free(all);
    return status;
}

static oif_status widen_plan(const oif_derived_plan *plan, const new_columns *more,
                             oif_derived_plan *wide, oif_error *error)
{
    oif_status status = oif_derived_plan_clone(plan, wide, error);
    if (status != OIF_OK)
        return status;
    wide->columns += more->count;
    wide->derived_columns += more->count;
    for (size_t i = 0; i < more->derived_count && status == OIF_OK; i++)
        status = more->derived[i].column < plan->columns
                     ? oif_fail_at(error, OIF_EPARAM, 0, i + 1,
                                   "column %zu is not new; only new columns can be derived now",
                                   more->derived[i].column)
                     : add_derived(wide, more->derived, i, error);
    if (status != OIF_OK)
        oif_derived_plan_free(wide);
    return status;
}

/* A pipeline with the columns, names and models that `p` will have. */
static oif_status make_wide(const oif_pipeline *p, const new_columns *more, oif_pipeline **wide,
                            oif_error *error)
{
    oif_derived_plan plan;
    oif_pipeline *made = NULL;
    oif_status status = widen_plan(&p->plan, more, &plan, error);
    if (status != OIF_OK)
        return status;
    status = oif_pipeline_new(&p->params, plan.columns, &p->options, &made, error);
    if (status == OIF_OK && plan.count > 0)
        status = oif_pipeline_set_plan(made, &plan, error);
    if (status != OIF_OK)
        oif_derived_plan_free(&plan);
    if (status == OIF_OK) {
        oif_pipeline_limit_memory(made, p->memory_limit);
        status = oif_pipeline_copy_models(p, made, oif_model_widen, error);
    }
    if (status == OIF_OK)
        status = join_names(p, more, &made->names, error);
    if (status != OIF_OK) {
        oif_pipeline_free(made);
        return status;
    }
    *wide = made;
    return OIF_OK;
}

/* After the members of two pipelines were exchanged. */
static void repair_pointers(oif_pipeline *p)
{
    oif_model *const own[] = {p->models.blank, p->models.work.model, p->models.view.model};
    p->models.keys = &p->keys;
    p->models.params = &p->params;
    p->models.plan = &p->plan;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i])
            own[i]->plan = &p->plan;
    for (uint32_t i = p->keys.oldest; i != OIF_NO_KEY; i = p->keys.entries[i].newer)
        if (p->keys.entries[i].value)
            ((oif_model *)p->keys.entries[i].value)->plan = &p->plan;
}

/* Gives `p` everything of `wide` that depends on the columns, and the other way round. */
static void exchange(oif_pipeline *p, oif_pipeline *wide)
{
    oif_pipeline before = *p;
    p->columns = wide->columns;
    p->plan = wide->plan;
    p->names = wide->names;
    p->keys = wide->keys;
    p->models = wide->models;
    p->silence = wide->silence;
    p->last = wide->last;
    p->evicted.model_bytes = wide->evicted.model_bytes;
    wide->columns = before.columns;
    wide->plan = before.plan;
    wide->names = before.names;
    wide->keys = before.keys;
    wide->models = before.models;
    wide->silence = before.silence;
    repair_pointers(p);
    repair_pointers(wide);
}

oif_status oif_pipeline_add_columns(oif_pipeline *pipeline, size_t count, const char *const *names,
                                    const oif_derive_column *derived, size_t derived_count,
                                    oif_error *error)
{
    const new_columns more = {count, names, derived, derived_count};
    oif_pipeline *wide = NULL;
    if (count == 0)
        return OIF_OK;
    oif_status status = check_new(pipeline, &more, error);
    if (status == OIF_OK)
        status = make_wide(pipeline, &more, &wide, error);
    if (status != OIF_OK)
        return status;
    exchange(pipeline, wide);
    pipeline->stored = (oif_stored_place){0};
    oif_pipeline_free(wide);
    return OIF_OK;
}

bool oif_detector_adds_columns(const oif_params *params)
{
    oif_params parts[OIF_TOGETHER_MAX];
    const size_t count = oif_together_split(params, parts);
    bool keeps = count > 0;
    for (size_t i = 0; i < count; i++)
        keeps &= oif_detector_kind_of(&parts[i])->widen != NULL;
    return keeps;
}
