/* Creates, copies and frees models. */
#include "base/error.h"
#include "base/memory.h"
#include "detect/together.h"
#include "pipeline/model/model_parts.h"

#include <string.h>

/* ---- Creation ---- */

/* `*bytes` becomes the size of the block. */
static oif_model_layout lay_out(const oif_model_options *options, const oif_derived_plan *plan,
                                size_t *bytes)
{
    const size_t columns = plan->derived_columns, numbers = oif_model_numbers(options, columns);
    const bool derives = plan->count > 0;
    oif_model_layout at;
    *bytes = oif_size_align(sizeof(oif_model));
    at.judges = oif_size_append(bytes, oif_judges_bytes(columns, &options->judges), 1);
    at.recent = oif_size_append(bytes, numbers, sizeof(double));
    at.shares = oif_size_append(bytes, numbers, sizeof(double));
    at.scratch = oif_size_append(bytes, numbers, sizeof(double));
    at.derived = oif_size_append(bytes, derives ? oif_derived_state_bytes(plan) : 0, 1);
    at.row = oif_size_append(bytes, derives ? columns : 0, sizeof(double));
    return at;
}

oif_status oif_model_estimate_bytes(const oif_params *params, const oif_derived_plan *plan,
                                    const oif_model_options *options, size_t *bytes,
                                    oif_error *error)
{
    oif_params parts[OIF_TOGETHER_MAX];
    const size_t count = oif_together_split(params, parts),
                 numbers = oif_model_numbers(options, plan->derived_columns);
    if (count == 0 || plan->derived_columns == 0) /* fails and sets the error */
        return oif_detector_estimate_bytes(params, plan->derived_columns, bytes, error);
    size_t total;
    (void)lay_out(options, plan, &total);
    for (size_t i = 0; i < count; i++) {
        size_t detector_bytes = 0;
        oif_status status = oif_detector_estimate_bytes(&parts[i], numbers, &detector_bytes, error);
        if (status != OIF_OK)
            return status;
        total = oif_size_add(total, detector_bytes);
    }
    *bytes = total;
    return OIF_OK;
}

static oif_status make_block(size_t bytes, oif_model **made, oif_error *error)
{
    *made = oif_memory_new(bytes);
    return *made ? OIF_OK
                 : oif_fail(error, OIF_EMEMORY, "no memory for a model of %zu bytes", bytes);
}

/* Sets the head of a block: a model without detectors. */
static void init_head(oif_model *m, const oif_model_options *options, const oif_derived_plan *plan,
                      size_t detectors)
{
    size_t bytes;
    const oif_model_layout at = lay_out(options, plan, &bytes);
    memset(m, 0, bytes); /* padding too: equal models have equal bytes */
    m->options = *options;
    m->plan = plan;
    m->columns = plan->derived_columns;
    m->bytes = bytes;
    m->detector_count = detectors;
    m->at = at;
    oif_gate_init(&m->gate);
    oif_pauses_init(&m->pauses, options->silence);
}

/* Initialises the rest; the detectors are blank. */
static void init_parts(oif_model *m)
{
    oif_judges_init(judges_of(m), m->columns, &m->options.judges);
    if (m->plan->count > 0)
        oif_derived_state_init(m->plan, derived_of(m));
}

static void free_detectors(oif_model *model)
{
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_free(model->detectors[i]);
}

oif_status oif_model_new(const oif_params *params, const oif_derived_plan *plan,
                         const oif_model_options *options, oif_model **model, oif_error *error)
{
    oif_params parts[OIF_TOGETHER_MAX];
    size_t count = oif_together_split(params, parts); /* not 0: the estimate would have failed */
    size_t bytes;
    oif_model *made;
    (void)lay_out(options, plan, &bytes);
    oif_status status = make_block(bytes, &made, error);
    if (status != OIF_OK)
        return status;
    init_head(made, options, plan, count);
    for (size_t i = 0; i < count && status == OIF_OK; i++)
        status = oif_detector_new(&parts[i], oif_model_numbers(options, made->columns),
                                  &made->detectors[i], error);
    if (status != OIF_OK) {
        oif_model_free(made);
        return status;
    }
    init_parts(made);
    *model = made;
    return OIF_OK;
}

void oif_model_reset(oif_model *model, const oif_model_options *options)
{
    const oif_model_options kept = *options; /* may be the model's own */
    oif_detector *detectors[OIF_TOGETHER_MAX];
    memcpy(detectors, model->detectors, sizeof detectors);
    init_head(model, &kept, model->plan, model->detector_count);
    memcpy(model->detectors, detectors, sizeof detectors);
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_strip(model->detectors[i]);
    init_parts(model);
}

oif_status oif_model_clone(const oif_model *model, oif_model **copy, oif_error *error)
{
    oif_model *made;
    oif_status status = make_block(model->bytes, &made, error);
    if (status != OIF_OK)
        return status;
    memcpy(made, model, model->bytes);
    memset(made->detectors, 0, sizeof made->detectors);
    for (size_t i = 0; i < model->detector_count && status == OIF_OK; i++)
        status = oif_detector_clone(model->detectors[i], &made->detectors[i], error);
    if (status != OIF_OK) {
        oif_model_free(made);
        return status;
    }
    *copy = made;
    return OIF_OK;
}

void oif_model_assign(oif_model *model, const oif_model *other)
{
    oif_detector *detectors[OIF_TOGETHER_MAX];
    const oif_derived_plan *plan = model->plan;
    memcpy(detectors, model->detectors, sizeof detectors);
    memcpy(model, other, model->bytes);
    model->plan = plan;
    memcpy(model->detectors, detectors, sizeof detectors);
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_assign(detectors[i], other->detectors[i]);
}

void oif_model_free(oif_model *model)
{
    if (!model)
        return;
    free_detectors(model);
    oif_memory_free(model);
}

void oif_model_set_options(oif_model *model, const oif_model_options *options)
{
    model->options = *options;
    model->pauses.limit = options->silence;
}

size_t oif_model_memory_bytes(const oif_model *model)
{
    size_t bytes = model->bytes;
    for (size_t i = 0; i < model->detector_count; i++)
        bytes += oif_detector_memory_bytes(model->detectors[i]);
    return bytes;
}
