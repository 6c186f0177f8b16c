/* Shared by the pipeline tests. */
#ifndef TESTS_PIPELINE_PIPELINES_H
#define TESTS_PIPELINE_PIPELINES_H

#include "../detect/any_detector.h"

/* Options as on the command line: "alert_rate=0.01 learn=normal". */
static inline oif_pipeline *new_pipeline(const char *name, const char *settings, size_t columns,
                                         const char *options)
{
    oif_params params = params_named(name, settings), chosen;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    oif_pipeline_options_init(&chosen);
    set_params(&chosen, options);
    require_ok_or(oif_pipeline_new(&params, columns, &chosen, &pipeline, &error), error);
    return pipeline;
}

static inline oif_result process_key(oif_pipeline *pipeline, const char *key, const double *row)
{
    oif_result result;
    oif_error error;
    require_ok_or(oif_pipeline_process(pipeline, key, key ? strlen(key) : 0, row, &result, &error),
                  error);
    return result;
}

static inline oif_result process(oif_pipeline *pipeline, const double *row)
{
    return process_key(pipeline, NULL, row);
}

static inline const char *key_text(uint32_t number)
{
    static char text[20];
    snprintf(text, sizeof text, "host-%u", number);
    return text;
}

static inline void draw_row(dice *from, double *row, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        row[i] = dice_normal(from);
}

static inline void require_same_result(const oif_result *a, const oif_result *b)
{
    assert_memory_equal(&a->score, &b->score, sizeof a->score);
    assert_memory_equal(&a->threshold, &b->threshold, sizeof a->threshold);
    assert_true(a->anomaly == b->anomaly && a->ready == b->ready && a->learned == b->learned);
    assert_memory_equal(&a->severity, &b->severity, sizeof a->severity);
    assert_int_equal(a->episode, b->episode);
    assert_int_equal(a->grade, b->grade);
}

#endif
