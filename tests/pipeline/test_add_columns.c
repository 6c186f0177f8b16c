/* A pipeline gets more columns while it runs, and continues as if these had been missing before. */
#include "../snapshot/snapshots.h"
#include "pipelines.h"

#include "detect/row_ranges.h"
#include "pipeline/judges/season.h"
#include "pipeline/pipeline.h"

enum { MOST_COLUMNS = 12 };

/* A row of `before` columns that will have `after`; what is not there yet is missing. */
static void draw_wide_row(dice *from, double row[], size_t before, size_t after)
{
    draw_row(from, row, before);
    for (size_t i = before; i < after; i++)
        row[i] = NAN;
}

static void add_columns(oif_pipeline *pipeline, size_t count)
{
    oif_error error;
    require_ok_or(oif_pipeline_add_columns(pipeline, count, NULL, NULL, 0, &error), error);
    require_ok_or(oif_pipeline_check(pipeline, &error), error);
}

static oif_pipeline *clone_pipeline(const oif_pipeline *pipeline)
{
    oif_pipeline *copy = NULL;
    oif_error error;
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    return copy;
}

/* ---- Parts are those that never had a value in the new columns ---- */

static void wider_ranges_are_those_of_rows_that_lacked_the_columns(void **unused)
{
    (void)unused;
    static const size_t counts[] = {0, 1, 63, 200, 256, 257, 700, 1500, 2048, 2049, 4096, 5000};
    /* Two rows of a shingle and two numbers after it: 2 -> 3 columns each. */
    const oif_widening widening = {.rows = 2, .before = 2, .after = 3, .others = 2};
    enum { BEFORE = 6, AFTER = 8 };
    const size_t bytes = oif_row_ranges_bytes(AFTER);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        dice from = {c};
        oif_row_ranges *narrow = calloc(1, oif_row_ranges_bytes(BEFORE)), *wide = calloc(1, bytes),
                       *twin = calloc(1, bytes);
        oif_row_ranges_init(narrow, BEFORE);
        oif_row_ranges_init(wide, AFTER);
        oif_row_ranges_init(twin, AFTER);
        for (size_t i = 0; i < counts[c]; i++) {
            double row[BEFORE], full[AFTER];
            draw_row(&from, row, BEFORE);
            row[1] = i % 7 == 0 ? NAN : row[1];
            oif_widen_row(&widening, row, full);
            oif_row_ranges_learn(narrow, row, i % 7 != 0);
            oif_row_ranges_learn(twin, full, false);
        }
        oif_row_ranges_widen(wide, narrow, &widening);
        require_ok(oif_row_ranges_check(wide, NULL));
        assert_memory_equal(wide, twin, bytes);
        free(narrow);
        free(wide);
        free(twin);
    }
}

static void wider_seasons_are_those_of_rows_that_lacked_the_columns(void **unused)
{
    (void)unused;
    enum { BEFORE = 3, AFTER = 5, ROWS = 900 };
    static const oif_season_options options[] = {{24, 0}, {0, 0}, {3600, 1}};
    for (size_t o = 0; o < 3; o++) {
        dice from = {o};
        oif_season *season[3];
        for (size_t i = 0; i < 3; i++) {
            const size_t columns = i == 0 ? BEFORE : AFTER;
            season[i] = calloc(1, oif_season_bytes(columns, &options[o]));
            oif_season_init(season[i], columns, &options[o]);
        }
        for (size_t i = 0; i < ROWS; i++) {
            double row[AFTER];
            draw_wide_row(&from, row, BEFORE, AFTER);
            row[0] += 5 * sin(6.283185307179586 * (double)i / 24);
            for (size_t k = 0; k < 2; k++) { /* the narrow ones, and the twins */
                oif_finding found = {0};
                oif_season_observe(season[k], row, 300.0 * (double)i, &found);
                oif_season_learn(season[k], row);
            }
        }
        oif_season_widen(season[2], season[0]);
        require_ok(oif_season_check(season[2], NULL));
        for (size_t i = 0; i < 200; i++) {
            double row[AFTER];
            oif_finding found[2] = {{0}};
            draw_row(&from, row, AFTER);
            for (size_t k = 0; k < 2; k++)
                oif_season_observe(season[1 + k], row, 300.0 * (double)(ROWS + i), &found[k]);
            assert_true(found[0].severity == found[1].severity);
            assert_int_equal(found[0].column, found[1].column);
            oif_season_learn(season[1], row);
            oif_season_learn(season[2], row);
        }
        for (size_t i = 0; i < 3; i++)
            free(season[i]);
    }
}

/* ---- Nothing is lost ---- */

static void scores_of_rows_without_the_new_column_stay_the_same(void **unused)
{
    (void)unused;
    static const char *const options[] = {"moves=off", "", "shingle=4", "season_seconds=300"};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        for (uint32_t rows = 1; rows < 3000; rows = rows * 3 + 1) {
            dice from = {o};
            double row[3];
            oif_pipeline *narrow = new_pipeline("rolling-iforest", "", 2, options[o]);
            for (uint32_t i = 0; i < rows; i++) {
                draw_wide_row(&from, row, 2, 3);
                process(narrow, row);
            }
            oif_pipeline *wide = clone_pipeline(narrow);
            add_columns(wide, 1);
            assert_int_equal(oif_pipeline_columns(wide), 3);
            assert_int_equal(oif_pipeline_rows(wide), rows);
            draw_wide_row(&from, row, 2, 3);
            const oif_result a = process(narrow, row), b = process(wide, row);
            if (rows >= 4) /* of more columns the largest finding counts less */
                expect_same_bits(b.score, a.score, options[o], rows);
            oif_pipeline_free(narrow);
            oif_pipeline_free(wide);
        }
    }
}

/* Of the first rows with a new column, how many are anomalies beside the one that reports it. */
static void a_column_that_begins_late_is_reported_once_and_then_learned(void **unused)
{
    (void)unused;
    enum { SEEDS = 20, BEFORE = 2500, SINCE = 1000 };
    size_t begun = 0, others = 0, found = 0, usual = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        dice from = {seed};
        double row[3];
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
        for (size_t i = 0; i < BEFORE; i++) {
            draw_row(&from, row, 2);
            usual += process(pipeline, row).anomaly && i >= BEFORE - SINCE;
        }
        add_columns(pipeline, 1);
        for (size_t i = 0; i < SINCE; i++) {
            draw_row(&from, row, 2);
            row[2] = 200 + 10 * dice_normal(&from);
            const oif_result result = process(pipeline, row);
            begun += result.reason == OIF_REASON_FIRST_VALUE;
            others += result.anomaly && result.reason != OIF_REASON_FIRST_VALUE;
            if (result.reason == OIF_REASON_FIRST_VALUE)
                assert_int_equal(result.grade, OIF_GRADE_NOTE);
        }
        row[2] = 1000;
        const oif_result bad = process(pipeline, row);
        oif_attribution why[3];
        oif_pipeline_explain(pipeline, why);
        found += bad.anomaly && why[2].share > 0.9;
        oif_pipeline_free(pipeline);
    }
    print_message("begun %zu, others %zu (before: %zu), found %zu of %d\n", begun, others, usual,
                  found, SEEDS);
    assert_true(begun >= SEEDS - 2 && begun <= SEEDS);
    assert_true(others <= 2 * usual + SEEDS);
    assert_int_equal(found, SEEDS);
}

static void every_detector_takes_more_columns(void **unused)
{
    (void)unused;
    static const char *const options[] = {"", "shingle=3 learn=normal alert_rate=0.02",
                                          "season_seconds=600 moves=on", ""};
    static const char *const lists[] = {"rolling-iforest+hst", "hst+sdo"};
    for (size_t trial = 0; trial < 4 * (SMALL_DETECTORS + 2); trial++) {
        const size_t kind = trial / 4;
        dice from = {trial};
        double row[MOST_COLUMNS];
        const bool is_list = kind >= SMALL_DETECTORS;
        oif_pipeline *pipeline =
            new_pipeline(is_list ? lists[kind - SMALL_DETECTORS] : small_detectors[kind].name,
                         is_list ? "" : small_detectors[kind].settings, 2, options[trial % 4]);
        for (size_t columns = 2; columns < MOST_COLUMNS; columns += 1 + dice_below(&from, 4)) {
            const uint32_t rows = dice_below(&from, 300);
            for (uint32_t i = 0; i < rows; i++) {
                draw_row(&from, row, MOST_COLUMNS);
                row[dice_below(&from, (uint32_t)columns)] = dice_chance(&from, 0.1) ? NAN : 3;
                process(pipeline, row);
            }
            const size_t now = oif_pipeline_columns(pipeline);
            add_columns(pipeline, columns + 1 > now ? columns + 1 - now : 1);
        }
        oif_pipeline_free(pipeline);
    }
}

static void detectors_that_cannot_keep_what_they_learned_begin_again(void **unused)
{
    (void)unused;
    dice from = {1};
    double row[3];
    oif_params params = params_named("hst", "");
    assert_false(oif_detector_adds_columns(&params));
    assert_true(oif_detector_adds_columns(&(oif_params){0}) == false);
    params = params_named("rolling-iforest", "");
    assert_true(oif_detector_adds_columns(&params));
    oif_pipeline *pipeline = new_pipeline("hst", "window_size=50", 2, "");
    for (size_t i = 0; i < 2000; i++) {
        draw_row(&from, row, 3);
        process(pipeline, row);
    }
    add_columns(pipeline, 1);
    assert_int_equal(oif_detector_rows_learned(oif_pipeline_detector(pipeline, NULL, 0)), 0);
    for (size_t i = 0; i < 200; i++) {
        draw_row(&from, row, 3);
        process(pipeline, row);
    }
    assert_true(process(pipeline, row).ready);
    oif_pipeline_free(pipeline);
}

/* ---- Keys, snapshots, blocks ---- */

/* Rows of several keys, whose models are whole and packed. */
static oif_pipeline *keyed_pipeline(const char *options, dice *from, size_t rows)
{
    oif_pipeline *pipeline =
        new_pipeline("rolling-iforest", "num_trees=8 window_size=128 sample_size=32", 2, options);
    double row[2];
    pipeline->models.whole_at_first = pipeline->models.whole_at_most = 200000;
    for (size_t i = 0; i < rows; i++) {
        draw_row(from, row, 2);
        process_key(pipeline, key_text(dice_below(from, 40)), row);
    }
    return pipeline;
}

static void models_of_all_keys_get_the_columns(void **unused)
{
    (void)unused;
    dice from = {4};
    double row[3];
    oif_pipeline *pipeline = keyed_pipeline("", &from, 4000), *narrow = clone_pipeline(pipeline);
    const uint64_t rows = oif_pipeline_rows(pipeline);
    add_columns(pipeline, 1);
    assert_int_equal(oif_pipeline_keys(pipeline), 40);
    assert_int_equal(oif_pipeline_rows(pipeline), rows);
    for (uint32_t key = 0; key < 40; key++) {
        draw_wide_row(&from, row, 2, 3);
        const oif_result a = process_key(narrow, key_text(key), row),
                         b = process_key(pipeline, key_text(key), row);
        expect_same_bits(b.score, a.score, "score", key);
    }
    oif_pipeline_free(pipeline);
    oif_pipeline_free(narrow);
}

static void a_grown_pipeline_resumes_bit_for_bit(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 4; seed++) {
        dice from = {seed};
        double row[4];
        oif_error error;
        oif_pipeline *grown = keyed_pipeline(seed % 2 ? "shingle=2" : "", &from, 3000), *loaded;
        add_columns(grown, 1 + seed % 2);
        snapshot saved = save_all(grown);
        require_ok_or(oif_pipeline_load_memory(saved.bytes, saved.count, &loaded, &error), error);
        for (size_t i = 0; i < 3000; i++) {
            const char *key = key_text(dice_below(&from, 41));
            draw_row(&from, row, 4);
            row[2] = i % 97 == 0 ? NAN : 100 + row[2];
            const oif_result a = process_key(grown, key, row), b = process_key(loaded, key, row);
            require_same_result(&a, &b);
        }
        snapshot first = save_all(grown), second = save_all(loaded);
        require_same_bytes(first, second);
        free(saved.bytes);
        free(first.bytes);
        free(second.bytes);
        oif_pipeline_free(grown);
        oif_pipeline_free(loaded);
    }
}

static void an_old_snapshot_takes_more_columns(void **unused)
{
    (void)unused;
    static const char *const files[] = {"golden/snapshots/format-1/pipeline.oif",
                                        "golden/snapshots/format-1/pipeline_moves.oif"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        oif_pipeline *pipeline = NULL;
        oif_error error;
        dice from = {i};
        double row[MOST_COLUMNS];
        require_ok_or(oif_pipeline_load_file(files[i], &pipeline, &error), error);
        const bool has_names = oif_pipeline_column_name(pipeline, 0) != NULL;
        const size_t columns = oif_pipeline_columns(pipeline);
        const char *const name[] = {"new"};
        require_ok_or(
            oif_pipeline_add_columns(pipeline, 1, has_names ? name : NULL, NULL, 0, &error), error);
        require_ok_or(oif_pipeline_check(pipeline, &error), error);
        for (size_t k = 0; k < 500; k++) {
            draw_row(&from, row, columns + 1);
            process_key(pipeline, "web-1", row);
        }
        require_ok_or(oif_pipeline_check(pipeline, &error), error);
        oif_pipeline_free(pipeline);
    }
}

static void blocks_and_threads_give_the_same_results(void **unused)
{
    (void)unused;
    enum { ROWS = 1200 };
    dice from = {8};
    static double rows[ROWS][3];
    static oif_result results[ROWS];
    static const char *keys[ROWS];
    static size_t key_bytes[ROWS];
    static char texts[ROWS][20];
    oif_error error;
    size_t done = 0;
    oif_pipeline *single = keyed_pipeline("", &from, 3000);
    add_columns(single, 1);
    oif_pipeline *blocks = clone_pipeline(single);
    require_ok_or(oif_pipeline_set_threads(blocks, 3, &error), error);
    for (size_t i = 0; i < ROWS; i++) {
        draw_row(&from, rows[i], 3);
        snprintf(texts[i], sizeof texts[i], "%s", key_text(dice_below(&from, 40)));
        keys[i] = texts[i];
        key_bytes[i] = strlen(texts[i]);
    }
    require_ok_or(oif_pipeline_process_rows(blocks, rows[0], ROWS, 3, keys, key_bytes, NULL,
                                            results, &done, &error),
                  error);
    for (size_t i = 0; i < ROWS; i++) {
        const oif_result one = process_key(single, texts[i], rows[i]);
        require_same_result(&one, &results[i]);
    }
    oif_pipeline_free(single);
    oif_pipeline_free(blocks);
}

/* ---- Names, derived columns, reasons ---- */

static void names_and_derived_columns_are_added(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cpu", "rx_total"}, *const more[] = {"mem", "tx_total"};
    dice from = {3};
    double row[4] = {0};
    oif_error error;
    oif_derive kind;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
    require_ok(oif_pipeline_name_columns(pipeline, names, &error));
    require_ok(oif_pipeline_derive(pipeline, 1, OIF_DERIVE_RATE, false, &error));
    for (size_t i = 0; i < 400; i++) {
        row[0] = dice_normal(&from);
        row[1] += 5;
        process(pipeline, row);
    }
    require_ok_or(oif_pipeline_add_columns(
                      pipeline, 2, more, &(oif_derive_column){3, OIF_DERIVE_RATE, true}, 1, &error),
                  error);
    require_ok_or(oif_pipeline_check(pipeline, &error), error);
    assert_string_equal(oif_pipeline_column_name(pipeline, 0), "cpu");
    assert_string_equal(oif_pipeline_column_name(pipeline, 3), "tx_total");
    assert_int_equal(oif_pipeline_learned_columns(pipeline), 5);
    assert_int_equal(oif_pipeline_learned_from(pipeline, 3, &kind), 3);
    assert_int_equal(kind, OIF_DERIVE_NONE);
    assert_int_equal(oif_pipeline_learned_from(pipeline, 4, &kind), 3);
    assert_int_equal(kind, OIF_DERIVE_RATE);
    row[1] += 7;
    row[2] = 1;
    row[3] = 100;
    process(pipeline, row);
    const double *learned = oif_pipeline_learned_row(pipeline);
    assert_true(learned[1] == 7 && learned[2] == 1 && learned[3] == 100 && isnan(learned[4]));
    row[3] = 109;
    process(pipeline, row);
    assert_true(oif_pipeline_learned_row(pipeline)[4] == 9);
    oif_pipeline_free(pipeline);
}

static void the_last_row_is_explained_as_before(void **unused)
{
    (void)unused;
    size_t explained = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        dice from = {seed};
        double row[2] = {0};
        oif_result result = {0};
        oif_attribution before[2], after[3];
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
        for (size_t i = 0; i < 3000; i++) { /* a walk, so moves count */
            row[0] = 0.98 * row[0] + 0.2 * dice_normal(&from);
            row[1] = seed % 3 ? dice_normal(&from) : 0.98 * row[1] + 0.2 * dice_normal(&from);
            result = process(pipeline, row);
        }
        row[0] = seed % 2 ? -row[0] - 1.5 : row[0] + 30;
        result = process(pipeline, row);
        oif_pipeline_explain(pipeline, before);
        add_columns(pipeline, 1);
        oif_pipeline_explain(pipeline, after);
        if (result.anomaly)
            for (size_t i = 0; i < 2; i++) {
                assert_true(fabs(before[i].share - after[i].share) < 0.02);
                assert_int_equal(before[i].reason, after[i].reason);
            }
        explained += result.anomaly;
        oif_pipeline_free(pipeline);
    }
    print_message("%zu explained\n", explained);
    assert_true(explained >= 6);
}

/* ---- What is refused ---- */

static void what_cannot_be_added_changes_nothing(void **unused)
{
    (void)unused;
    static const char *const names[] = {"a", "b"}, *const taken[] = {"c", "a"},
                             *const good[] = {"c", "d"};
    dice from = {2};
    double row[2];
    oif_error error;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
    assert_int_equal(oif_pipeline_add_columns(pipeline, 1, good, NULL, 0, &error), OIF_EPARAM);
    require_ok(oif_pipeline_name_columns(pipeline, names, &error));
    for (size_t i = 0; i < 50; i++) {
        draw_row(&from, row, 2);
        process(pipeline, row);
    }
    snapshot before = save_all(pipeline);
    assert_int_equal(oif_pipeline_add_columns(pipeline, 2, NULL, NULL, 0, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_add_columns(pipeline, 2, taken, NULL, 0, &error), OIF_EPARAM);
    assert_int_equal(error.column, 2);
    assert_int_equal(oif_pipeline_add_columns(pipeline, OIF_COLUMNS_MAX, good, NULL, 0, &error),
                     OIF_EPARAM);
    const oif_derive_column wrong[] = {{2, OIF_DERIVE_LOG, false}, {1, OIF_DERIVE_RATE, false}};
    assert_int_equal(oif_pipeline_add_columns(pipeline, 2, good, wrong, 2, &error), OIF_EPARAM);
    assert_int_equal(error.column, 2);
    require_ok(oif_pipeline_add_columns(pipeline, 0, NULL, NULL, 0, &error));
    snapshot after = save_all(pipeline);
    require_same_bytes(before, after);
    free(before.bytes);
    free(after.bytes);
    oif_pipeline_free(pipeline);
}

static void a_memory_limit_holds_for_the_wider_models(void **unused)
{
    (void)unused;
    dice from = {2};
    double row[2];
    oif_error error;
    size_t bytes = 0;
    char option[64];
    oif_params params = params_named("rolling-iforest", "");
    require_ok(oif_detector_estimate_bytes(&params, 2, &bytes, &error));
    snprintf(option, sizeof option, "memory_limit=%zu moves=off season_seconds=0", 3 * bytes);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, option);
    draw_row(&from, row, 2);
    process(pipeline, row);
    assert_int_equal(oif_pipeline_add_columns(pipeline, 100, NULL, NULL, 0, &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "memory_limit"));
    assert_int_equal(oif_pipeline_columns(pipeline), 2);
    process(pipeline, row);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wider_ranges_are_those_of_rows_that_lacked_the_columns),
        cmocka_unit_test(wider_seasons_are_those_of_rows_that_lacked_the_columns),
        cmocka_unit_test(scores_of_rows_without_the_new_column_stay_the_same),
        cmocka_unit_test(a_column_that_begins_late_is_reported_once_and_then_learned),
        cmocka_unit_test(every_detector_takes_more_columns),
        cmocka_unit_test(detectors_that_cannot_keep_what_they_learned_begin_again),
        cmocka_unit_test(models_of_all_keys_get_the_columns),
        cmocka_unit_test(a_grown_pipeline_resumes_bit_for_bit),
        cmocka_unit_test(an_old_snapshot_takes_more_columns),
        cmocka_unit_test(blocks_and_threads_give_the_same_results),
        cmocka_unit_test(names_and_derived_columns_are_added),
        cmocka_unit_test(the_last_row_is_explained_as_before),
        cmocka_unit_test(what_cannot_be_added_changes_nothing),
        cmocka_unit_test(a_memory_limit_holds_for_the_wider_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
