/* How well scores separate anomalies over time: of windows one after the other, and of the first
 * rows. */
#include "eval.h"

#include <stdlib.h>

static bool measure_contestant(const eval_run *evaluation, const eval_contestant *contestant,
                               const row_span *span, double *auc)
{
    double aucs[MAX_RUNS], deviation;
    for (size_t i = 0; i < evaluation->run_count; i++)
        if (!eval_measures_auc(&evaluation->rows, contestant->tries[i].scores, span->first,
                               span->count, &aucs[i]))
            return false;
    eval_measures_spread(aucs, evaluation->run_count, auc, &deviation);
    return true;
}

static bool add_span(const eval_run *evaluation, row_spans *spans, size_t first, size_t end)
{
    row_span *items = realloc(spans->items, (spans->count + 1) * sizeof *items);
    if (!items)
        return false;
    spans->items = items;
    row_span *span = &items[spans->count++];
    *span = (row_span){.first = first, .count = end - first};
    for (size_t i = first; i < end; i++)
        span->anomaly_count += evaluation->rows.labels[i];
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        if (!measure_contestant(evaluation, &evaluation->contestants[i], span, &span->roc_auc[i]))
            return false;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool measure_windows(eval_run *evaluation, size_t window)
{
    size_t count = evaluation->rows.count;
    for (size_t first = 0, next; first < count; first = next) {
        next = first + least(window, count - first);
        if (!add_span(evaluation, &evaluation->windows, first, next))
            return false;
    }
    return true;
}

/* 100, 200, 500, 1000, 2000, ... rows, and all of them. */
static bool measure_early(eval_run *evaluation)
{
    static const size_t steps[] = {1, 2, 5};
    for (size_t power = 100;; power *= 10) {
        for (size_t i = 0; i < 3; i++) {
            size_t end = least(steps[i] * power, evaluation->rows.count);
            if (!add_span(evaluation, &evaluation->early, 0, end))
                return false;
            if (end == evaluation->rows.count)
                return true;
        }
    }
}

bool eval_spans_measure(eval_run *evaluation, const eval_settings *asked)
{
    return (asked->window == 0 || measure_windows(evaluation, (size_t)asked->window)) &&
           (!asked->early || measure_early(evaluation));
}
