/* Rows of a block are processed key by key, and threads share the keys. Neither changes a bit:
 * results, explanations, silences, evictions and snapshots are those of single rows. Built with
 * -fsanitize=thread this is also the test for races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sanitized.h"
#include "pipeline/pipeline.h"

enum { COLUMNS = 3, ROWS = 6000, KEYS_MAX = 40, KEY_BYTES = 16 };

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A stream of keys of which some come late and some fall silent, with anomalies. */
typedef struct stream {
    double rows[ROWS][COLUMNS], seconds[ROWS];
    char texts[ROWS][KEY_BYTES];
    const char *keys[ROWS];
    size_t key_bytes[ROWS];
} stream;

static void make_stream(stream *s, uint64_t seed, size_t keys)
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t known = 1 + keys * (i + ROWS / 4) / ROWS; /* late keys */
        size_t key = next_random(&seed) % (known < keys ? known : keys);
        key = i > ROWS / 2 && key % 5 == 0 ? 0 : key; /* silent ones */
        s->key_bytes[i] = key == 1 ? 0 : (size_t)snprintf(s->texts[i], KEY_BYTES, "host-%zu", key);
        s->keys[i] = key == 1 ? NULL : s->texts[i];
        s->seconds[i] = next_random(&seed) % 50 ? 1e9 + (double)(i / 3) : NAN;
        bool is_odd = next_random(&seed) % 300 == 0;
        for (size_t j = 0; j < COLUMNS; j++)
            s->rows[i][j] = next_random(&seed) % 100 == 0
                                ? NAN
                                : (double)(next_random(&seed) >> 40) * 0x1p-24 + (double)key +
                                      (is_odd ? 1000 : 0);
    }
}

/* What a caller learns about the rows. */
typedef struct outcome {
    oif_result results[ROWS];
    oif_attribution why[ROWS][COLUMNS];
    oif_episode_info episodes[ROWS];
    char keys[ROWS][KEY_BYTES];
    size_t silences;
    char silent[ROWS][KEY_BYTES];
    size_t first; /* of the block */
} outcome;

static void look_at_row(void *context, oif_pipeline *pipeline, size_t row, const oif_result *result)
{
    outcome *out = context;
    size_t bytes, at = out->first + row;
    const char *key = oif_pipeline_recent_key(pipeline, &bytes);
    snprintf(out->keys[at], KEY_BYTES, "%.*s", (int)bytes, key ? key : "");
    if (!result->anomaly)
        return;
    oif_pipeline_explain(pipeline, out->why[at]);
    assert_true(oif_pipeline_episode(pipeline, key, bytes, &out->episodes[at]));
    assert_non_null(oif_pipeline_learned_row(pipeline));
}

static void note_silence(void *context, const oif_silence *silence)
{
    outcome *out = context;
    snprintf(out->silent[out->silences++], KEY_BYTES, "%.*s", (int)silence->key_bytes,
             silence->key ? silence->key : "");
}

static oif_pipeline *make_pipeline(const char *detector, const char *const *options,
                                   const double *values)
{
    oif_params params, chosen;
    oif_pipeline *pipeline = NULL;
    assert_int_equal(oif_params_init(&params, detector, NULL), OIF_OK);
    oif_pipeline_options_init(&chosen);
    for (size_t i = 0; options[i]; i++)
        assert_int_equal(oif_params_set(&chosen, options[i], values[i], NULL), OIF_OK);
    assert_int_equal(oif_pipeline_new(&params, COLUMNS, &chosen, &pipeline, NULL), OIF_OK);
    return pipeline;
}

/* Three ways to process rows of the stream. */
typedef void (*process_function)(oif_pipeline *pipeline, const stream *s, size_t first,
                                 size_t count, outcome *out);

static void process_with_function(oif_pipeline *pipeline, const stream *s, size_t first,
                                  size_t count, outcome *out)
{
    size_t done;
    out->first = first;
    assert_int_equal(oif_pipeline_process_rows_with(pipeline, s->rows[first], count, COLUMNS,
                                                    s->keys + first, s->key_bytes + first,
                                                    s->seconds + first, look_at_row, out,
                                                    out->results + first, &done, NULL),
                     OIF_OK);
    assert_int_equal(done, count);
}

static void process_block(oif_pipeline *pipeline, const stream *s, size_t first, size_t count,
                          outcome *out)
{
    size_t done;
    assert_int_equal(oif_pipeline_process_rows(pipeline, s->rows[first], count, COLUMNS,
                                               s->keys + first, s->key_bytes + first,
                                               s->seconds + first, out->results + first, &done,
                                               NULL),
                     OIF_OK);
    assert_int_equal(done, count);
}

static void process_one_by_one(oif_pipeline *pipeline, const stream *s, size_t first, size_t count,
                               outcome *out)
{
    for (size_t i = first; i < first + count; i++)
        assert_int_equal(oif_pipeline_process_at(pipeline, s->keys[i], s->key_bytes[i],
                                                 s->seconds[i], s->rows[i], &out->results[i], NULL),
                         OIF_OK);
}

static void run(oif_pipeline *pipeline, const stream *s, unsigned threads, size_t block,
                process_function process, outcome *out)
{
    memset(out, 0, sizeof *out);
    assert_int_equal(oif_pipeline_set_threads(pipeline, threads, NULL), OIF_OK);
    for (size_t i = 0; i < ROWS;) {
        size_t count = ROWS - i < block ? ROWS - i : block;
        process(pipeline, s, i, count, out);
        i += count;
        if (i % (12 * block) == 0) /* in all ways at the same rows */
            oif_pipeline_silent(pipeline, 1e9 + (double)(i / 3), note_silence, out);
    }
}

static void expect_same_state(const oif_pipeline *one, const oif_pipeline *many)
{
    size_t bytes = oif_pipeline_snapshot_bytes(one);
    assert_int_equal(bytes, oif_pipeline_snapshot_bytes(many));
    char *first = malloc(bytes), *second = malloc(bytes);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(oif_pipeline_save_memory(one, first, bytes, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_save_memory(many, second, bytes, NULL), OIF_OK);
    assert_memory_equal(first, second, bytes);
    free(first);
    free(second);
}

static void expect_same(const outcome *one, const outcome *many, const char *detector,
                        unsigned threads)
{
    for (size_t i = 0; i < ROWS; i++)
        if (memcmp(&one->results[i], &many->results[i], sizeof one->results[i]) != 0 ||
            memcmp(one->why[i], many->why[i], sizeof one->why[i]) != 0 ||
            memcmp(&one->episodes[i], &many->episodes[i], sizeof one->episodes[i]) != 0 ||
            strcmp(one->keys[i], many->keys[i]) != 0)
            fail_msg("%s, row %zu of %s: score %.17g with one thread, %.17g of %s with %u",
                     detector, i, one->keys[i], one->results[i].score, many->results[i].score,
                     many->keys[i], threads);
    assert_int_equal(one->silences, many->silences);
    assert_memory_equal(one->silent, many->silent, sizeof one->silent);
}

static void compare(const char *detector, const char *const *options, const double *values,
                    size_t keys, bool expects_evictions)
{
    static const unsigned threads[] = {2, 3, 7};
    static const size_t blocks[] = {16, 100, 1000};
    stream *s = malloc(sizeof *s);
    outcome *one = malloc(sizeof *one), *many = malloc(sizeof *many);
    assert_true(s && one && many);
    make_stream(s, 7 + keys, keys);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i += STEP_IF_SANITIZED(2)) {
        oif_pipeline *alone = make_pipeline(detector, options, values),
                     *together = make_pipeline(detector, options, values);
        run(alone, s, 1, blocks[i], process_with_function, one);
        run(together, s, threads[i], blocks[i], process_with_function, many);
        expect_same(one, many, detector, threads[i]);
        expect_same_state(alone, together);
        assert_int_equal(oif_pipeline_evictions(alone) > 0, expects_evictions);
        assert_int_equal(oif_pipeline_evictions(alone), oif_pipeline_evictions(together));
        assert_int_equal(oif_pipeline_check(together, NULL), OIF_OK);
        oif_pipeline_free(alone);
        oif_pipeline_free(together);
    }
    free(s);
    free(one);
    free(many);
}

static void results_and_snapshots_are_those_of_one_thread(void **state)
{
    static const char *const detectors[] = {"rolling-iforest", "online-iforest", "loda"};
    static const char *const options[] = {"alert_rate", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof detectors / sizeof *detectors; i++)
        compare(detectors[i], options, (const double[]){0.01}, KEYS_MAX, false);
    compare("rolling-iforest", options, (const double[]){0.01}, 3, false);
}

static void evictions_and_packed_models_are_those_of_one_thread(void **state)
{
    static const char *const few_keys[] = {"max_keys", "alert_rate", NULL};
    static const char *const little_memory[] = {"memory_limit", "alert_rate", NULL};
    (void)state;
    compare("loda", few_keys, (const double[]){9, 0.01}, KEYS_MAX, true);
    compare("loda", little_memory, (const double[]){3e6, 0.01}, KEYS_MAX, true);
}

static void a_budget_of_alerts_is_that_of_one_thread(void **state)
{
    static const char *const options[] = {"alerts", NULL};
    (void)state;
    compare("loda", options, (const double[]){2000}, 10, false);
}

/* ---- Blocks without a function after each row ---- */

static const char rules[] = "ignore key=host-3\nmute key=host-5 direction=high\n";

/* What surrounds the rows. */
typedef struct setting {
    const char *option; /* NULL: none */
    double value;
    size_t keys;
    bool are_packed; /* all models, at first */
    bool has_rules, keeps_episodes;
} setting;

static oif_pipeline *make_set_pipeline(const setting *set)
{
    const char *const options[] = {set->option, NULL};
    oif_pipeline *pipeline = make_pipeline("rolling-iforest", options, &set->value);
    if (set->are_packed)
        pipeline->models.whole_at_first = 0;
    if (set->has_rules)
        assert_int_equal(oif_pipeline_set_rules(pipeline, rules, strlen(rules), NULL), OIF_OK);
    if (set->keeps_episodes)
        assert_int_equal(oif_pipeline_keep_episodes(pipeline, true, NULL), OIF_OK);
    return pipeline;
}

static void compare_blocks(const setting *set)
{
    static const struct {
        unsigned threads;
        size_t block;
    } ways[] = {{3, 500}, {1, ROWS}, {1, 64}, {1, 63}};
    const size_t way_count = SANITIZED ? 1 : sizeof ways / sizeof *ways;
    stream *s = malloc(sizeof *s);
    outcome *one = malloc(sizeof *one), *many = malloc(sizeof *many);
    assert_true(s && one && many);
    make_stream(s, 11 + set->keys, set->keys);
    for (size_t i = 0; i < way_count; i++) {
        oif_pipeline *single = make_set_pipeline(set), *blocks = make_set_pipeline(set);
        run(single, s, 1, ways[i].block, process_one_by_one, one);
        run(blocks, s, ways[i].threads, ways[i].block, process_block, many);
        expect_same(one, many, "rolling-iforest", ways[i].threads);
        expect_same_state(single, blocks);
        assert_int_equal(oif_pipeline_evictions(single), oif_pipeline_evictions(blocks));
        assert_int_equal(oif_pipeline_unmodelled_rows(single),
                         oif_pipeline_unmodelled_rows(blocks));
        if (set->option && strcmp(set->option, "memory_limit") == 0)
            assert_int_equal(oif_pipeline_memory_bytes(single), oif_pipeline_memory_bytes(blocks));
        assert_int_equal(oif_pipeline_check(blocks, NULL), OIF_OK);
        oif_pipeline_free(single);
        oif_pipeline_free(blocks);
    }
    free(s);
    free(one);
    free(many);
}

static void blocks_of_any_size_are_those_of_single_rows(void **state)
{
    static const setting settings[] = {
        {.keys = KEYS_MAX},
        {.keys = KEYS_MAX, .are_packed = true},
        {.keys = 5, .are_packed = true}, /* become whole within a block */
        {.keys = KEYS_MAX, .are_packed = true, .has_rules = true},
        {.keys = KEYS_MAX, .are_packed = true, .has_rules = true, .keeps_episodes = true},
        {.keys = KEYS_MAX, .are_packed = true, .option = "max_keys", .value = 9},
        {.keys = KEYS_MAX, .option = "memory_limit", .value = 3e6},
        {.keys = KEYS_MAX, .are_packed = true, .option = "memory_limit", .value = 5e6},
        {.keys = 10, .are_packed = true, .option = "alerts", .value = 2000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i += STEP_IF_SANITIZED(2))
        compare_blocks(&settings[i]);
}

/* The last of 1,500 single rows has left a model unpacked, which becomes whole when it is put
 * back. */
static void a_model_that_becomes_whole_before_a_block_is_at_hand(void **state)
{
    enum { BEFORE = 1500, BLOCK = 200 };
    static const setting set = {.keys = 1, .are_packed = true};
    stream *s = malloc(sizeof *s);
    outcome *one = malloc(sizeof *one), *many = malloc(sizeof *many);
    oif_pipeline *single = make_set_pipeline(&set), *blocks = make_set_pipeline(&set);
    (void)state;
    assert_true(s && one && many);
    make_stream(s, 12, 1);
    process_one_by_one(single, s, 0, BEFORE + BLOCK, one);
    process_one_by_one(blocks, s, 0, BEFORE, many);
    assert_true(blocks->models.in_work != OIF_NO_KEY && blocks->models.whole_count == 0);
    process_block(blocks, s, BEFORE, BLOCK, many);
    assert_int_equal(blocks->models.whole_count, 1);
    for (size_t i = 0; i < BEFORE + BLOCK; i++)
        assert_memory_equal(&one->results[i].score, &many->results[i].score, sizeof(double));
    expect_same_state(single, blocks);
    oif_pipeline_free(single);
    oif_pipeline_free(blocks);
    free(s);
    free(one);
    free(many);
}

/* What blocks need is not counted, so a pipeline that must be small does without. */
static void a_small_limit_on_memory_holds_with_blocks(void **state)
{
    stream *s = malloc(sizeof *s);
    outcome *o = malloc(sizeof *o);
    (void)state;
    assert_true(s && o);
    make_stream(s, 13, 5);
    for (int is_large = 0; is_large < 2; is_large++) {
        const setting set = {.keys = 5, .option = "memory_limit", .value = is_large ? 60e6 : 3e6};
        oif_pipeline *pipeline = make_set_pipeline(&set);
        process_block(pipeline, s, 0, ROWS / 2, o);
        assert_int_equal(pipeline->notes != NULL, is_large);
        oif_pipeline_free(pipeline);
    }
    free(s);
    free(o);
}

/* ---- Out of memory ---- */

/* All allocations after the first `left` ones fail. */
static void *allocate_some(void *left, size_t alignment, size_t bytes)
{
    size_t *count = left;
    if (*count == 0)
        return NULL;
    *count -= *count != SIZE_MAX;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* The rows before the one that fails were processed, the others were not: as if they had come one
 * by one, and so is what follows. Returns whether the call failed. */
static bool fail_in_block(const stream *s, size_t allocations, size_t *left, outcome *one,
                          outcome *many)
{
    enum { KNOWN = 1000, END = 2000 };
    const setting set = {.keys = KEYS_MAX, .are_packed = true};
    oif_pipeline *single = make_set_pipeline(&set), *blocks = make_set_pipeline(&set);
    size_t done, count = END - KNOWN;
    process_one_by_one(single, s, 0, KNOWN, one);
    process_one_by_one(blocks, s, 0, KNOWN, many);
    *left = allocations;
    oif_status status = oif_pipeline_process_rows(
        blocks, s->rows[KNOWN], count, COLUMNS, s->keys + KNOWN, s->key_bytes + KNOWN,
        s->seconds + KNOWN, many->results + KNOWN, &done, NULL);
    *left = SIZE_MAX;
    assert_true(status == OIF_OK ? done == count : status == OIF_EMEMORY && done < count);
    process_one_by_one(single, s, KNOWN, done, one);
    expect_same_state(single, blocks);
    process_one_by_one(single, s, KNOWN + done, count - done, one);
    process_block(blocks, s, KNOWN + done, count - done, many);
    expect_same_state(single, blocks);
    assert_memory_equal(one->results, many->results, END * sizeof one->results[0]);
    oif_pipeline_free(single);
    oif_pipeline_free(blocks);
    return status != OIF_OK;
}

static void out_of_memory_ends_a_block_after_the_rows_before(void **state)
{
    size_t left = SIZE_MAX, failed = 0, allocations = 0;
    const oif_allocator some = {allocate_some, release, &left, {0}};
    stream *s = malloc(sizeof *s);
    outcome *one = calloc(1, sizeof *one), *many = calloc(1, sizeof *many);
    (void)state;
    assert_true(s && one && many);
    make_stream(s, 5, KEYS_MAX);
    oif_set_allocator(&some);
    for (; allocations < 400; allocations = allocations < 3 ? allocations + 1 : allocations * 2)
        if (!SANITIZED || allocations % 4 != 3)
            failed += fail_in_block(s, allocations, &left, one, many);
    assert_true(failed > 2);
    oif_set_allocator(NULL);
    free(s);
    free(one);
    free(many);
}

static void end_at_a_bad_row(unsigned threads)
{
    static const char *const no_options[] = {NULL};
    double rows[64][COLUMNS] = {{0}};
    const char *keys[64];
    oif_result results[64];
    oif_error error;
    size_t done;
    oif_pipeline *pipeline = make_pipeline("loda", no_options, NULL);
    assert_int_equal(oif_pipeline_set_threads(pipeline, threads, NULL), OIF_OK);
    for (int i = 0; i < 64; i++)
        keys[i] = i % 2 ? "a" : "b";
    rows[41][2] = INFINITY;
    assert_int_equal(oif_pipeline_process_rows(pipeline, rows[0], 64, COLUMNS, keys, NULL, NULL,
                                               results, &done, &error),
                     OIF_EVALUE);
    assert_int_equal(done, 41);
    assert_int_equal(error.line, 42);
    assert_int_equal(error.column, 3);
    assert_int_equal(oif_pipeline_rows(pipeline), 41);
    oif_pipeline_free(pipeline);
}

static void a_bad_row_ends_the_call_after_those_before_it(void **state)
{
    (void)state;
    end_at_a_bad_row(1);
    end_at_a_bad_row(2);
}

static void threads_are_from_1_to_16(void **state)
{
    static const char *const no_options[] = {NULL};
    oif_pipeline *pipeline = make_pipeline("loda", no_options, NULL);
    oif_error error;
    (void)state;
    assert_int_equal(oif_pipeline_set_threads(pipeline, 0, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_set_threads(pipeline, OIF_THREADS_MAX + 1, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_set_threads(pipeline, OIF_THREADS_MAX, &error), OIF_OK);
    assert_int_equal(oif_pipeline_set_threads(pipeline, 1, &error), OIF_OK);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_and_snapshots_are_those_of_one_thread),
        cmocka_unit_test(evictions_and_packed_models_are_those_of_one_thread),
        cmocka_unit_test(a_budget_of_alerts_is_that_of_one_thread),
        cmocka_unit_test(blocks_of_any_size_are_those_of_single_rows),
        cmocka_unit_test(a_model_that_becomes_whole_before_a_block_is_at_hand),
        cmocka_unit_test(a_small_limit_on_memory_holds_with_blocks),
        cmocka_unit_test(out_of_memory_ends_a_block_after_the_rows_before),
        cmocka_unit_test(a_bad_row_ends_the_call_after_those_before_it),
        cmocka_unit_test(threads_are_from_1_to_16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
