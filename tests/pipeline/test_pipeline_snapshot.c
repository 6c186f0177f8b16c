/* A loaded pipeline equals the saved one, with all its keys; a damaged one is refused. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "../base/sanitized.h"
#include "../snapshot/snapshots.h"
#include "pipelines.h"

typedef struct bytes {
    char *start;
    size_t count, next, capacity;
} bytes;

static ptrdiff_t put_bytes(void *context, const char *from, size_t count)
{
    bytes *to = context;
    if (to->count + count > to->capacity)
        to->start = realloc(to->start, to->capacity = 2 * (to->count + count));
    memcpy(to->start + to->count, from, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static ptrdiff_t get_bytes(void *context, char *to, size_t capacity)
{
    bytes *from = context;
    size_t left = from->count - from->next, count = left < capacity ? left : capacity;
    memcpy(to, from->start + from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

static bytes save(const oif_pipeline *pipeline)
{
    bytes b = {0};
    require_ok(oif_pipeline_save(pipeline, put_bytes, &b, NULL));
    return b;
}

static oif_pipeline *load(bytes b)
{
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require_ok_or(oif_pipeline_load(get_bytes, &b, &pipeline, &error), error);
    return pipeline;
}

static void a_loaded_pipeline_goes_on_as_the_other(void **unused)
{
    (void)unused;
    static const char *const options[] = {"", "shingle=3 learn=normal alert_rate=0.02",
                                          "learn=decay max_keys=3 alert_rate=0.01"};
    static const struct {
        const char *name, *settings;
    } detectors[] = {{"online-iforest", "num_trees=3 window_size=60 max_leaf_samples=4"},
                     {"iforest-asd", "num_trees=3 window_size=24 subsample_size=16"},
                     {"hst", "num_trees=2 window_size=20 max_depth=5"},
                     {"rrcf", "num_trees=3 tree_size=12"},
                     {"loda", "num_projections=3 num_bins=6 window_size=30"},
                     {"rolling-iforest", "num_trees=3 window_size=60 sample_size=16"},
                     {"sdo", "num_observers=9 num_neighbours=3 window_size=30"}};
    for (uint32_t trial = 0; trial < 60; trial++) {
        dice from = {trial};
        double row[2];
        uint32_t keys = 1 + trial % 4, before = dice_below(&from, 1500);
        oif_pipeline *saved = new_pipeline(detectors[trial % 7].name, detectors[trial % 7].settings,
                                           2, options[trial % 3]);
        for (uint32_t i = 0; i < before; i++) {
            draw_row(&from, row, 2);
            process_key(saved, key_text(dice_below(&from, keys)), row);
        }
        bytes first = save(saved);
        oif_pipeline *loaded = load(first);
        bytes second = save(loaded);
        assert_int_equal(first.count, second.count);
        assert_memory_equal(first.start, second.start, first.count);
        for (uint32_t i = 0; i < 2000; i++) {
            const char *key = key_text(dice_below(&from, keys + 1));
            draw_row(&from, row, 2);
            row[0] += i % 200 == 0 ? 50 : 0;
            oif_result a = process_key(saved, key, row), b = process_key(loaded, key, row);
            require_same_result(&a, &b);
        }
        assert_int_equal(oif_pipeline_rows(saved), oif_pipeline_rows(loaded));
        assert_int_equal(oif_pipeline_evictions(saved), oif_pipeline_evictions(loaded));
        assert_int_equal(oif_pipeline_columns(loaded), 2);
        oif_pipeline_free(saved);
        oif_pipeline_free(loaded);
        free(first.start);
        free(second.start);
    }
}

/* With that many keys and a named column. */
static bytes small_snapshot(uint32_t keys)
{
    const char *const name = "load";
    oif_pipeline *pipeline =
        new_pipeline("loda", "num_projections=2 num_bins=3 window_size=4", 1, "alert_rate=0.1");
    dice from = {3};
    double number;
    for (uint32_t i = 0; i < 50 && keys > 0; i++) {
        draw_row(&from, &number, 1);
        process_key(pipeline, key_text(i % keys), &number);
    }
    if (keys == 2)
        require_ok(oif_pipeline_name_columns(pipeline, &name, NULL));
    bytes b = save(pipeline);
    oif_pipeline_free(pipeline);
    return b;
}

static void require_refused(bytes b, const char *how, size_t at)
{
    oif_pipeline *untouched = (oif_pipeline *)&b;
    oif_error error = {0};
    oif_status status = oif_pipeline_load(get_bytes, &b, &untouched, &error);
    bool named = status == OIF_ETRUNCATED || status == OIF_ECORRUPT || status == OIF_EKIND ||
                 status == OIF_EVERSION;
    if (!named || error.status != status || untouched != (oif_pipeline *)&b)
        fail_msg("%s at byte %zu: %s, %s", how, at, oif_status_text(status), error.message);
}

static void every_truncation_and_every_flipped_byte_is_refused(void **unused)
{
    (void)unused;
    const size_t step = STEP_IF_SANITIZED(7);
    for (uint32_t keys = 0; keys < 3; keys++) {
        bytes b = small_snapshot(keys);
        for (size_t count = 0; count < b.count; count += step)
            require_refused((bytes){.start = b.start, .count = count}, "cut off", count);
        for (size_t at = 0; at < b.count; at += step) {
            b.start[at] ^= (char)(1 << at % 8);
            require_refused(b, "flipped", at);
            b.start[at] ^= (char)(1 << at % 8);
        }
        oif_pipeline_free(load(b));
        free(b.start);
    }
}

/* Repairs all checksums, as far as sections are where they claim to be. */
static void repair_all(bytes b)
{
    snapshot s = {(unsigned char *)b.start, b.count};
    for (size_t start = 0; start + OIF_SECTION_BYTES <= b.count;) {
        repair(s, start);
        start += start == 0 ? HEADER_BYTES
                            : OIF_SECTION_BYTES +
                                  (size_t)oif_bytes_load(s.bytes + start + LENGTH_AT, 8) % b.count;
    }
}

/* An accepted pipeline must work. */
static bool survives(bytes b)
{
    oif_pipeline *pipeline = NULL, *copy = NULL;
    oif_result result;
    dice from = {4};
    double number;
    if (oif_pipeline_load(get_bytes, &b, &pipeline, NULL) != OIF_OK)
        return false;
    for (uint32_t i = 0; i < 60; i++) {
        draw_row(&from, &number, 1);
        number = i % 9 == 0 ? NAN : number;
        const char *key = key_text(i % 4);
        require_ok(oif_pipeline_process(pipeline, key, strlen(key), &number, &result, NULL));
        oif_attribution why;
        oif_pipeline_explain(pipeline, &why);
    }
    require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
    require_ok(oif_pipeline_check(copy, NULL));
    bytes again = save(copy);
    oif_pipeline_free(load(again));
    free(again.start);
    oif_pipeline_free(copy);
    oif_pipeline_free(pipeline);
    return true;
}

static void damage_that_no_checksum_shows_is_refused_or_harmless(void **unused)
{
    (void)unused;
    dice from = {5};
    uint32_t accepted = 0, trials = 0;
    for (uint32_t keys = 0; keys < 3; keys++) {
        bytes good = small_snapshot(keys), b = good;
        b.start = malloc(good.count);
        for (; trials < (SANITIZED ? 1000 : 3000) * (keys + 1); trials++) {
            memcpy(b.start, good.start, good.count);
            for (uint32_t wounds = 1 + dice_below(&from, 3); wounds > 0; wounds--) {
                size_t at = dice_below(&from, (uint32_t)good.count);
                b.start[at] = dice_chance(&from, 0.3) ? (char)0xFF : (char)dice_bits(&from);
            }
            repair_all(b);
            accepted += survives(b);
        }
        free(b.start);
        free(good.start);
    }
    if (!(accepted > trials / 100 && accepted < trials * 99 / 100)) /* both outcomes occur */
        fail_msg("%u of %u damaged snapshots were accepted", accepted, trials);
}

static void a_snapshot_of_a_detector_is_no_pipeline(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("hst", "", 2), *none = NULL;
    oif_pipeline *no_pipeline = NULL;
    bytes of_detector = {0}, of_pipeline = small_snapshot(1);
    oif_error error;
    require_ok(oif_detector_save(detector, put_bytes, &of_detector, NULL));
    assert_int_equal(oif_pipeline_load(get_bytes, &of_detector, &no_pipeline, &error), OIF_EKIND);
    assert_int_equal(oif_detector_load(get_bytes, &of_pipeline, &none, &error), OIF_EKIND);
    oif_detector_free(detector);
    free(of_detector.start);
    free(of_pipeline.start);
}

static void a_state_file_holds_a_pipeline(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/oif-pipeline-XXXXXX", path[60];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    bytes b = small_snapshot(2);
    oif_pipeline *saved = load(b), *loaded = NULL, *again = NULL;
    oif_state_file *file = NULL;
    oif_detector *no_detector = NULL;
    oif_error error;
    require_ok_or(oif_state_file_open(path, &file, &error), error);
    assert_int_equal(oif_state_file_load_pipeline(file, &loaded, &error), OIF_END);
    require_ok_or(oif_state_file_save_pipeline(file, saved, &error), error);
    require_ok_or(oif_state_file_load_pipeline(file, &loaded, &error), error);
    require_ok_or(oif_pipeline_load_file(path, &again, &error), error);
    assert_int_equal(oif_state_file_load(file, &no_detector, &error), OIF_EKIND);
    oif_pipeline *all[] = {loaded, again};
    for (int i = 0; i < 2; i++) {
        bytes same = save(all[i]);
        assert_int_equal(same.count, b.count);
        assert_memory_equal(same.start, b.start, b.count);
        free(same.start);
        oif_pipeline_free(all[i]);
    }
    oif_pipeline_free(saved);
    oif_state_file_close(file);
    free(b.start);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0); /* it is empty: no lock was left */
}

static void process_both(oif_pipeline *one, oif_pipeline *other, dice *from, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        oif_result a, b;
        double row[2];
        draw_row(from, row, 2);
        require_ok(oif_pipeline_process_at(one, "k", 1, 1e9 + i, row, &a, NULL));
        require_ok(oif_pipeline_process_at(other, "k", 1, 1e9 + i, row, &b, NULL));
        require_same_result(&a, &b);
    }
}

/* The snapshot does not have it. */
static void a_budget_that_is_off_is_forgotten(void **unused)
{
    (void)unused;
    dice from = {4};
    oif_pipeline *loaded = NULL, *one = new_pipeline("loda", "", 2, "alerts=5");
    for (int i = 0; i < 500; i++) {
        oif_result result;
        double row[2];
        draw_row(&from, row, 2);
        require_ok(oif_pipeline_process_at(one, "k", 1, 1e9 + i, row, &result, NULL));
    }
    require_ok(oif_pipeline_change_option(one, "alerts", 0, NULL));
    bytes b = save(one);
    loaded = load(b);
    process_both(one, loaded, &from, 500, 50);
    require_ok(oif_pipeline_change_option(one, "alerts", 5, NULL));
    require_ok(oif_pipeline_change_option(loaded, "alerts", 5, NULL));
    process_both(one, loaded, &from, 550, 400);
    oif_pipeline_free(one);
    oif_pipeline_free(loaded);
    free(b.start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_pipeline_goes_on_as_the_other),
        cmocka_unit_test(every_truncation_and_every_flipped_byte_is_refused),
        cmocka_unit_test(damage_that_no_checksum_shows_is_refused_or_harmless),
        cmocka_unit_test(a_snapshot_of_a_detector_is_no_pipeline),
        cmocka_unit_test(a_state_file_holds_a_pipeline),
        cmocka_unit_test(a_budget_that_is_off_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
