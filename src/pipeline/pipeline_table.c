/* A finished table: all rows are known before the first one is judged.
 *
 *     observe    the judges of a new model see the rows in their order, as a stream; derived
 *                columns and shingles become the numbers that detectors get
 *     score      each row by detectors that have not learned it: held_out.h
 *     compare    how rare each score is among so few: table_rarity.h
 *     learn      the detectors of the model learn all rows, and it becomes that of the pipeline
 *     process    each row in its order, with this verdict instead of a score: judges, rules,
 *                episodes and reasons are those of a stream
 */
#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "detect/params.h"
#include "detect/together.h"
#include "pipeline/pipeline.h"
#include "pipeline/table/table_rarity.h"

#include <math.h>
#include <string.h>

/* ---- What is known about the table ---- */

typedef struct table_work {
    oif_pipeline *pipeline;
    const double *rows, *seconds; /* as they are given */
    size_t count, stride;
    size_t first;   /* the first row with a score: that completes a shingle */
    size_t numbers; /* that a detector gets for each row */
    size_t detectors;
    oif_params params[OIF_TOGETHER_MAX];
    double *seen;                     /* [count][numbers], from `first` on */
    double *scores[OIF_TOGETHER_MAX]; /* [count] each, likewise */
    oif_table_verdict *verdicts;      /* [count] */
    double *sorted;                   /* [count]: for table_rarity.h */
} table_work;

static size_t scored_count(const table_work *work)
{
    return work->count - work->first;
}

static oif_table_rows scored_rows(const table_work *work)
{
    return (oif_table_rows){work->seen, scored_count(work), work->numbers};
}

static oif_status open_work(table_work *work, oif_error *error)
{
    const size_t count = scored_count(work);
    bool has_memory =
        (work->seen = oif_memory_new(oif_size_multiply(oif_size_multiply(count, work->numbers),
                                                       sizeof *work->seen))) != NULL &&
        (work->verdicts = oif_memory_new(oif_size_multiply(count, sizeof *work->verdicts))) !=
            NULL &&
        (work->sorted = oif_memory_new(oif_size_multiply(count, sizeof *work->sorted))) != NULL;
    for (size_t i = 0; i < work->detectors && has_memory; i++)
        has_memory =
            (work->scores[i] = oif_memory_new(oif_size_multiply(count, sizeof *work->scores[i]))) !=
            NULL;
    return has_memory ? OIF_OK
                      : oif_fail(error, OIF_EMEMORY, "no memory for a table of %zu rows", count);
}

static void close_work(table_work *work)
{
    oif_memory_free(work->seen);
    oif_memory_free(work->verdicts);
    oif_memory_free(work->sorted);
    for (size_t i = 0; i < work->detectors; i++)
        oif_memory_free(work->scores[i]);
}

static double seconds_at(const table_work *work, size_t row)
{
    return work->seconds ? work->seconds[row] : NAN;
}

/* ---- Observe, score, compare ---- */

/* The moves of the first rows would be known by too few rows, so none are judged. */
static void observe(table_work *work, oif_model *model)
{
    const double as_usual = 1;
    for (size_t i = 0; i < work->count; i++) {
        oif_model_observe(model, work->rows + i * work->stride, seconds_at(work, i));
        if (i < work->first)
            continue;
        double *seen = work->seen + (i - work->first) * work->numbers;
        memcpy(seen, oif_model_recent(model), work->numbers * sizeof *seen);
        for (size_t k = 0; k < OIF_MOVES && model->options.moves; k++)
            seen[work->numbers - OIF_MOVES + k] = as_usual;
    }
}

static oif_status score(table_work *work, oif_error *error)
{
    const oif_table_rows rows = scored_rows(work);
    oif_status status = OIF_OK;
    for (size_t i = 0; i < work->detectors && status == OIF_OK; i++)
        status = oif_held_out_scores(&work->params[i], &rows, work->scores[i], error);
    return status;
}

/* The detector that finds most decides. Its score counts; of several, whose scores have no common
 * scale, the severity. */
static void compare_by(table_work *work, uint32_t detector, const oif_table_rarity *rarity)
{
    for (size_t i = 0; i < scored_count(work); i++) {
        const double score = work->scores[detector][i],
                     severity =
                         oif_table_severity(rarity, score) + OIF_LOWEST_BAR - oif_table_bar();
        oif_table_verdict *verdict = &work->verdicts[i];
        if (detector == 0 || severity > verdict->severity)
            *verdict = (oif_table_verdict){.severity = severity, .detector = detector};
        verdict->score = work->detectors == 1 ? score : verdict->severity;
    }
}

static void compare(table_work *work, const oif_model *model)
{
    for (uint32_t i = 0; i < work->detectors; i++) {
        const oif_table_rarity rarity =
            oif_table_rarity_of(work->scores[i], scored_count(work),
                                oif_detector_scale(model->detectors[i]), work->sorted);
        compare_by(work, i, &rarity);
    }
}

/* ---- Learn, process ---- */

static oif_status learn(table_work *work, oif_model *model, oif_error *error)
{
    const oif_table_rows rows = scored_rows(work);
    return oif_model_learn_table(model, &rows, error);
}

/* The pipeline has the model, so no row can fail. */
static void process(table_work *work, oif_row_function after, void *context, oif_result *results)
{
    for (size_t i = 0; i < work->count; i++) {
        const oif_table_verdict *verdict =
            i < work->first ? NULL : &work->verdicts[i - work->first];
        oif_status status =
            oif_pipeline_process_with(work->pipeline, (oif_text){NULL, 0}, seconds_at(work, i),
                                      work->rows + i * work->stride, verdict, &results[i], NULL);
        (void)status;
        if (after)
            after(context, work->pipeline, i, &results[i]);
    }
}

static oif_table_info info_of(const table_work *work, const oif_result *results)
{
    oif_table_info info = {.rows = work->count, .chance = oif_table_chance(oif_table_bar())};
    for (size_t i = 0; i < work->count; i++)
        info.anomalies += results[i].anomaly;
    return info;
}

/* Up to `put`, nothing of the pipeline has changed. */
static oif_status judge(table_work *work, oif_row_function after, void *context,
                        oif_result *results, oif_table_info *info, oif_error *error)
{
    oif_pipeline *p = work->pipeline;
    oif_model *model = NULL;
    oif_status status = open_work(work, error);
    if (status == OIF_OK)
        status = oif_models_new_model(&p->models, &model, error);
    if (status == OIF_OK) {
        observe(work, model);
        status = score(work, error);
    }
    if (status == OIF_OK) {
        compare(work, model);
        status = learn(work, model, error);
    }
    if (status == OIF_OK)
        status = oif_pipeline_put_model(p, NULL, 0, &model, error);
    oif_model_free(model);
    if (status == OIF_OK) {
        process(work, after, context, results);
        *info = info_of(work, results);
    }
    close_work(work);
    return status;
}

/* ---- The call ---- */

static oif_status check_pipeline(const oif_pipeline *p, oif_error *error)
{
    if (p->rows > 0 || p->keys.count > 0 || p->evicted.file)
        return oif_fail(error, OIF_EPARAM,
                        "a table needs a new pipeline, and this one has processed rows");
    if ((oif_learn)oif_params_value(&p->options, "learn") == OIF_LEARN_NONE)
        return oif_fail(error, OIF_EPARAM,
                        "learn=none cannot be used with a table, whose rows are all learned");
    if (oif_params_value(&p->options, "alerts") > 0)
        return oif_fail(error, OIF_EPARAM,
                        "alerts per day need a stream; set alert_rate for a table");
    return OIF_OK;
}

static oif_status check_rows(const table_work *work, oif_error *error)
{
    if (work->count > OIF_TABLE_ROWS_MAX)
        return oif_fail(error, OIF_EPARAM, "a table has at most %d rows; process these as a stream",
                        OIF_TABLE_ROWS_MAX);
    if (work->count < work->first + OIF_TABLE_ROWS_MIN)
        return oif_fail(error, OIF_EPARAM, "a table needs at least %zu rows to compare",
                        work->first + OIF_TABLE_ROWS_MIN);
    if (work->stride < work->pipeline->columns)
        return oif_fail(error, OIF_EPARAM,
                        "the stride from row to row must be at least %zu, the number of columns",
                        work->pipeline->columns);
    for (size_t i = 0; i < work->count; i++) {
        oif_status status =
            oif_row_check(work->rows + i * work->stride, work->pipeline->columns, i + 1, error);
        if (status == OIF_OK && isinf(seconds_at(work, i)))
            status = oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_INFINITE_VALUE,
                                      "the time of row %zu is infinite", i + 1);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}

oif_status oif_pipeline_process_table(oif_pipeline *pipeline, const double *rows, size_t count,
                                      size_t stride, const double *seconds, oif_row_function after,
                                      void *context, oif_result *results, oif_table_info *info,
                                      oif_error *error)
{
    table_work work = {
        .pipeline = pipeline, .rows = rows, .seconds = seconds, .count = count, .stride = stride};
    oif_status status = check_pipeline(pipeline, error);
    if (status != OIF_OK)
        return status;
    work.first = (size_t)oif_params_value(&pipeline->options, "shingle") - 1;
    work.numbers = oif_pipeline_dimension(pipeline);
    work.detectors = oif_together_split(&pipeline->params, work.params);
    status = check_rows(&work, error);
    return status == OIF_OK ? judge(&work, after, context, results, info, error) : status;
}
