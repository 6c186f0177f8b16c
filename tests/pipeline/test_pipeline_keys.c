/* Keys can be listed, found and removed, and moved from one pipeline to another bit for bit. A key
 * that does not fit, or is damaged, is refused with a message. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "../base/sanitized.h"
#include "../snapshot/snapshots.h"
#include "pipelines.h"

#include <unistd.h>

static const char *const small = "num_trees=3 window_size=60 sample_size=16";

/* Thousands of saves; tests/snapshot checks that they are synced. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

static oif_result process_at(oif_pipeline *pipeline, const char *key, double seconds,
                             const double *row)
{
    oif_result result;
    oif_error error;
    require_ok_or(
        oif_pipeline_process_at(pipeline, key, strlen(key), seconds, row, &result, &error), error);
    return result;
}

static void feed(oif_pipeline *pipeline, dice *from, uint32_t keys, uint32_t rows)
{
    double row[2];
    for (uint32_t i = 0; i < rows; i++) {
        draw_row(from, row, 2);
        process_key(pipeline, key_text(dice_below(from, keys)), row);
    }
}

static void remove_key(oif_pipeline *pipeline, const char *key)
{
    oif_error error;
    require_ok_or(oif_pipeline_remove_key(pipeline, key, strlen(key), &error), error);
}

static snapshot save_key(const oif_pipeline *pipeline, const char *key)
{
    snapshot s = {0};
    oif_error error;
    require_ok_or(oif_pipeline_key_snapshot_bytes(pipeline, key, strlen(key), &s.count, &error),
                  error);
    s.bytes = malloc(s.count);
    require_ok_or(
        oif_pipeline_save_key_memory(pipeline, key, strlen(key), s.bytes, s.count, &error), error);
    assert_int_equal(
        oif_pipeline_save_key_memory(pipeline, key, strlen(key), s.bytes, s.count - 1, NULL),
        OIF_EPARAM);
    return s;
}

static void load_key(oif_pipeline *pipeline, snapshot s, const char *as)
{
    oif_error error;
    require_ok_or(oif_pipeline_load_key_memory(pipeline, s.bytes, s.count, as, as ? strlen(as) : 0,
                                               NULL, &error),
                  error);
}

static void require_same_pipelines(const oif_pipeline *a, const oif_pipeline *b)
{
    snapshot of_a = save_all(a), of_b = save_all(b);
    require_same_bytes(of_a, of_b);
    free(of_a.bytes);
    free(of_b.bytes);
}

/* ---- Finding and listing ---- */

static void a_key_is_described(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "alert_rate=0.01");
    dice from = {1};
    double row[2], far[2] = {1e3, 1e3};
    oif_key_info info;
    assert_false(oif_pipeline_key(pipeline, "a", 1, &info));
    draw_row(&from, row, 2);
    process_at(pipeline, "a", 1000, row);
    assert_true(oif_pipeline_key(pipeline, "a", 1, &info));
    assert_true(info.rows == 1 && !info.is_ready && !info.is_in_episode && !info.is_evicted);
    assert_true(info.last_seconds == 1000);
    assert_memory_equal(info.key, "a", 1);
    assert_true(info.memory_bytes > 1000 &&
                info.memory_bytes < oif_pipeline_memory_bytes(pipeline));
    oif_result result = {0};
    for (int i = 1; i < 3000; i++) {
        draw_row(&from, row, 2);
        result = process_at(pipeline, "a", 1000 + i, row);
        assert_true(oif_pipeline_key(pipeline, "a", 1, &info));
        assert_true(info.rows == (uint64_t)i + 1 && info.last_seconds == 1000 + i);
    }
    assert_true(info.is_ready);
    assert_int_equal(info.is_ready, result.ready);
    assert_false(info.is_in_episode);
    assert_true(process_at(pipeline, "a", 5000, far).anomaly);
    assert_true(oif_pipeline_key(pipeline, "a", 1, &info) && info.is_in_episode);
    oif_pipeline_free(pipeline);
}

static void keys_are_listed_and_can_be_removed_on_the_way(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "");
    dice from = {2};
    oif_key_info info;
    size_t position = 0, seen = 0;
    assert_false(oif_pipeline_next_key(pipeline, &position, &info));
    feed(pipeline, &from, 40, 500);
    for (position = 0; oif_pipeline_next_key(pipeline, &position, &info); seen++) {
        char key[20];
        snprintf(key, sizeof key, "%.*s", (int)info.key_bytes, info.key);
        assert_string_equal(key, key_text((uint32_t)atoi(key + 5)));
        if (seen % 2 == 0)
            remove_key(pipeline, key);
    }
    assert_int_equal(seen, 40);
    assert_int_equal(oif_pipeline_keys(pipeline), 20);
    for (position = 0, seen = 0; oif_pipeline_next_key(pipeline, &position, &info);)
        seen++;
    assert_int_equal(seen, 20);
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
}

/* ---- Removing ---- */

static void a_removed_key_begins_again_and_the_others_do_not_notice(void **unused)
{
    (void)unused;
    for (uint32_t trial = 0; trial < 40; trial++) {
        dice from = {trial};
        uint32_t most = 1 + trial % 7, keys = 1 + dice_below(&from, 9);
        char options[60];
        snprintf(options, sizeof options, "max_keys=%u alert_rate=0.02", most);
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, options);
        oif_pipeline *others = new_pipeline("rolling-iforest", small, 2, options);
        oif_error error;
        for (uint32_t i = 0; i < 300; i++) {
            double row[2];
            const char *key = key_text(dice_below(&from, keys));
            draw_row(&from, row, 2);
            if (dice_chance(&from, 0.1)) {
                oif_key_info info;
                bool is_there = oif_pipeline_key(pipeline, key, strlen(key), &info);
                assert_int_equal(oif_pipeline_remove_key(pipeline, key, strlen(key), &error),
                                 is_there ? OIF_OK : OIF_EVALUE);
                if (!is_there)
                    assert_string_equal(error.message, "the pipeline has no such key");
                assert_false(oif_pipeline_key(pipeline, key, strlen(key), &info));
                /* the twin is rebuilt from those that are left, in order */
                snapshot s = save_all(pipeline);
                oif_pipeline_free(others);
                require_ok(oif_pipeline_load_memory(s.bytes, s.count, &others, NULL));
                free(s.bytes);
            }
            oif_result a = process_key(pipeline, key, row), b = process_key(others, key, row);
            require_same_result(&a, &b);
            require_ok_or(oif_pipeline_check(pipeline, &error), error);
        }
        require_same_pipelines(pipeline, others);
        oif_pipeline_free(pipeline);
        oif_pipeline_free(others);
    }
}

static void count_silence(void *context, const oif_silence *silence)
{
    (void)silence;
    ++*(int *)context;
}

static void a_removed_key_is_never_silent(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "silence=60");
    dice from = {3};
    double row[2];
    int silences = 0;
    for (uint32_t i = 0; i < 20; i++) {
        draw_row(&from, row, 2);
        process_at(pipeline, key_text(i), i, row);
    }
    for (uint32_t i = 0; i < 20; i += 2)
        remove_key(pipeline, key_text(i));
    draw_row(&from, row, 2);
    process_at(pipeline, "new", 1000, row); /* it takes the entry of a removed key */
    oif_pipeline_silent(pipeline, 1001, count_silence, &silences);
    assert_int_equal(silences, 10);
    oif_pipeline_silent(pipeline, 1061, count_silence, &silences);
    assert_int_equal(silences, 11);
    oif_pipeline_free(pipeline);
}

static void the_recent_key_and_its_row_are_gone_after_a_removal(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "");
    double row[2] = {1, 2};
    size_t bytes;
    oif_attribution why[2];
    process_key(pipeline, "first", row);
    process_key(pipeline, "second", row);
    remove_key(pipeline, "second");
    assert_memory_equal(oif_pipeline_recent_key(pipeline, &bytes), "first", 5);
    assert_null(oif_pipeline_learned_row(pipeline));
    oif_pipeline_explain(pipeline, why);
    assert_true(why[0].share == 0 && why[1].share == 0);
    remove_key(pipeline, "first");
    assert_null(oif_pipeline_recent_key(pipeline, &bytes));
    assert_int_equal(oif_pipeline_keys(pipeline), 0);
    snapshot s = save_all(pipeline); /* without any key */
    free(s.bytes);
    oif_pipeline_free(pipeline);
}

/* ---- Moving ---- */

static void a_moved_key_goes_on_bit_for_bit(void **unused)
{
    (void)unused;
    static const char *const options[] = {"", "shingle=3 learn=normal alert_rate=0.02",
                                          "learn=decay", "season_rows=24", "alerts=10 silence=100"};
    for (uint32_t trial = 0; trial < 4 * SMALL_DETECTORS; trial++) {
        dice from = {trial};
        const char *name = small_detectors[trial % SMALL_DETECTORS].name,
                   *settings = small_detectors[trial % SMALL_DETECTORS].settings;
        oif_pipeline *left = new_pipeline(name, settings, 2, options[trial % 5]);
        oif_pipeline *right = new_pipeline(name, settings, 2, options[trial % 5]);
        oif_pipeline *stay = NULL;
        feed(left, &from, 3, dice_below(&from, 1500) + 20);
        feed(right, &from, trial % 4 + 1, dice_below(&from, 300)); /* may have the key */
        require_ok(oif_pipeline_clone(left, &stay, NULL));
        snapshot s = save_key(left, "host-1");
        load_key(right, s, NULL);
        snapshot again = save_key(right, "host-1");
        require_same_bytes(s, again);
        remove_key(left, "host-1");
        double row[2];
        /* a budget covers all keys; a single key keeps to it only if the rest is the same */
        for (uint32_t i = 0; i < 500 && trial % 5 != 4; i++) {
            draw_row(&from, row, 2);
            row[0] += i % 100 == 0 ? 50 : 0;
            const char *key = key_text(dice_below(&from, 3));
            oif_result a = process_key(stay, key, row),
                       b = process_key(strcmp(key, "host-1") == 0 ? right : left, key, row);
            require_same_result(&a, &b);
        }
        require_ok(oif_pipeline_check(right, NULL));
        free(s.bytes);
        free(again.bytes);
        oif_pipeline_free(left);
        oif_pipeline_free(right);
        oif_pipeline_free(stay);
    }
}

static void a_key_can_get_another_name_or_none(void **unused)
{
    (void)unused;
    oif_pipeline *from_keys = new_pipeline("rolling-iforest", small, 2, "");
    oif_pipeline *without_keys = new_pipeline("rolling-iforest", small, 2, "");
    dice from = {5};
    oif_key_info info;
    double row[2];
    feed(from_keys, &from, 1, 200);
    snapshot s = save_key(from_keys, "host-0");
    load_key(without_keys, s, "");
    load_key(from_keys, s, "another");
    assert_true(oif_pipeline_key(without_keys, NULL, 0, &info) && info.rows == 200 && !info.key);
    require_ok(oif_pipeline_load_key_memory(from_keys, s.bytes, s.count, NULL, 0, &info, NULL));
    assert_true(info.rows == 200 && info.key_bytes == 6);
    for (int i = 0; i < 100; i++) {
        draw_row(&from, row, 2);
        oif_result a = process_key(from_keys, "host-0", row), b = process(without_keys, row),
                   c = process_key(from_keys, "another", row);
        require_same_result(&a, &b);
        require_same_result(&a, &c);
    }
    free(s.bytes);
    oif_pipeline_free(from_keys);
    oif_pipeline_free(without_keys);
}

static void a_loaded_key_counts_as_the_most_recently_seen(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "max_keys=2");
    double row[2] = {1, 2};
    oif_key_info info;
    process_key(pipeline, "a", row);
    process_key(pipeline, "b", row);
    snapshot s = save_key(pipeline, "a");
    load_key(pipeline, s, NULL);
    load_key(pipeline, s, "c"); /* which evicts b */
    assert_true(oif_pipeline_key(pipeline, "a", 1, &info));
    assert_false(oif_pipeline_key(pipeline, "b", 1, &info));
    assert_true(oif_pipeline_key(pipeline, "c", 1, &info));
    assert_int_equal(oif_pipeline_evictions(pipeline), 1);
    free(s.bytes);
    oif_pipeline_free(pipeline);
}

static void a_key_file_is_written_and_read(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/oif-keys-XXXXXX", path[60];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/key", folder);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, ""), *no_pipeline = NULL;
    oif_pipeline *other = new_pipeline("rolling-iforest", small, 2, "");
    dice from = {6};
    oif_error error;
    feed(pipeline, &from, 2, 200);
    require_ok_or(oif_pipeline_save_key_file(pipeline, "host-1", 6, path, &error), error);
    require_ok_or(oif_pipeline_load_key_file(other, path, NULL, 0, NULL, &error), error);
    snapshot a = save_key(pipeline, "host-1"), b = save_key(other, "host-1");
    require_same_bytes(a, b);
    assert_int_equal(oif_pipeline_save_key_file(pipeline, "none", 4, path, &error), OIF_EVALUE);
    assert_int_equal(oif_pipeline_load_file(path, &no_pipeline, &error), OIF_EKIND);
    assert_int_equal(oif_pipeline_save_file(pipeline, path, &error), OIF_OK);
    assert_int_equal(oif_pipeline_load_key_file(other, path, NULL, 0, NULL, &error), OIF_EKIND);
    require_ok_or(oif_pipeline_load_file(path, &no_pipeline, &error), error);
    require_same_pipelines(pipeline, no_pipeline);
    FILE *file = fopen(path, "wb"); /* a key followed by other bytes changes nothing */
    fwrite(a.bytes, 1, a.count, file);
    fputc('x', file);
    fclose(file);
    remove_key(other, "host-1");
    assert_int_equal(oif_pipeline_load_key_file(other, path, NULL, 0, NULL, &error), OIF_ECORRUPT);
    assert_int_equal(oif_pipeline_keys(other), 0);
    remove(path);
    assert_int_equal(remove(folder), 0); /* it is empty: no lock was left */
    free(a.bytes);
    free(b.bytes);
    oif_pipeline_free(no_pipeline);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(other);
}

/* ---- What does not fit ---- */

static void a_key_that_does_not_fit_is_refused_with_a_sentence(void **unused)
{
    (void)unused;
    static const struct {
        const char *detector, *settings, *options;
        size_t columns;
        const char *message; /* NULL: it fits */
    } cases[] = {
        {"rolling-iforest", "", "", 2, NULL},
        {"rolling-iforest", "", "alert_rate=0.1 learn=all silence=5 max_keys=3 evicted=keep", 2,
         NULL},
        {"rolling-iforest", "", "memory_limit=1000000000", 2, NULL},
        {"hst", "", "", 2, "the key has the detector rolling-iforest, and the pipeline has hst"},
        {"rolling-iforest", "", "", 3, "the key has rows of 2 columns, and the pipeline rows of 3"},
        {"rolling-iforest", "num_trees=7", "", 2,
         "the key was learned with num_trees=3, and the pipeline has num_trees=7"},
        {"rolling-iforest", "insertion=none", "", 2,
         "the key was learned with insertion=row, and the pipeline has insertion=none"},
        {"rolling-iforest", "", "shingle=4", 2,
         "the key was learned with shingle=1, and the pipeline has shingle=4"},
        {"rolling-iforest", "", "moves=off", 2,
         "the key was learned with moves=on, and the pipeline has moves=off"},
    };
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "");
    dice from = {7};
    feed(pipeline, &from, 1, 100);
    snapshot s = save_key(pipeline, "host-0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[100] = "";
        if (strcmp(cases[i].detector, "rolling-iforest") == 0)
            snprintf(settings, sizeof settings, "%s %s", small, cases[i].settings);
        oif_pipeline *other =
            new_pipeline(cases[i].detector, settings, cases[i].columns, cases[i].options);
        oif_error error = {.message = ""};
        oif_status status =
            oif_pipeline_load_key_memory(other, s.bytes, s.count, NULL, 0, NULL, &error);
        assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
        assert_int_equal(status, cases[i].message ? OIF_EPARAM : OIF_OK);
        assert_int_equal(oif_pipeline_keys(other), cases[i].message ? 0 : 1);
        oif_pipeline_free(other);
    }
    free(s.bytes);
    oif_pipeline_free(pipeline);
}

static void names_and_derived_columns_have_to_be_the_same(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cpu", "mem"}, *const other_names[] = {"cpu", "disk"};
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "");
    oif_pipeline *other = new_pipeline("rolling-iforest", small, 2, "");
    oif_pipeline *derived = new_pipeline("rolling-iforest", small, 2, "");
    dice from = {8};
    oif_error error;
    feed(pipeline, &from, 1, 100);
    require_ok(oif_pipeline_name_columns(pipeline, names, NULL));
    snapshot s = save_key(pipeline, "host-0");
    load_key(other, s, NULL); /* which has no names */
    require_ok(oif_pipeline_name_columns(other, other_names, NULL));
    assert_int_equal(oif_pipeline_load_key_memory(other, s.bytes, s.count, NULL, 0, NULL, &error),
                     OIF_EPARAM);
    assert_string_equal(error.message, "column 2 has another name in the key than in the pipeline");
    require_ok(oif_pipeline_derive(derived, 0, OIF_DERIVE_DIFF, false, NULL));
    assert_int_equal(oif_pipeline_load_key_memory(derived, s.bytes, s.count, NULL, 0, NULL, &error),
                     OIF_EPARAM);
    assert_string_equal(error.message,
                        "the key has other derived columns (diff, rate, log) than the pipeline");
    free(s.bytes);
    feed(derived, &from, 1, 50);
    s = save_key(derived, "host-0");
    load_key(derived, s, "copy");
    free(s.bytes);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(other);
    oif_pipeline_free(derived);
}

/* ---- Damage ---- */

static void every_truncation_and_every_flipped_byte_of_a_key_is_refused(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        new_pipeline("online-iforest", "num_trees=1 window_size=10 max_leaf_samples=4", 1, "");
    double row = 1;
    process_key(pipeline, "key", &row);
    snapshot s = save_key(pipeline, "key"), before = save_all(pipeline);
    for (size_t i = 0; i < s.count; i += STEP_IF_SANITIZED(5)) {
        assert_int_not_equal(
            oif_pipeline_load_key_memory(pipeline, s.bytes, i, NULL, 0, NULL, NULL), OIF_OK);
        s.bytes[i] ^= 0x10;
        if (oif_pipeline_load_key_memory(pipeline, s.bytes, s.count, NULL, 0, NULL, NULL) == OIF_OK)
            fail_msg("byte %zu", i);
        s.bytes[i] ^= 0x10;
    }
    snapshot after = save_all(pipeline); /* nothing has changed */
    require_same_bytes(before, after);
    free(s.bytes);
    free(before.bytes);
    free(after.bytes);
    oif_pipeline_free(pipeline);
}

/* ---- With evicted models ---- */

static void an_evicted_key_is_listed_moved_and_removed(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/oif-keys-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    oif_state_file *file = NULL;
    oif_error error;
    oif_key_info info;
    dice from = {9};
    size_t position = 0, evicted = 0, seen = 0;
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    oif_pipeline *all = new_pipeline("rolling-iforest", small, 2, "");
    oif_pipeline *few = new_pipeline("rolling-iforest", small, 2, "max_keys=2 evicted=keep");
    require_ok_or(oif_state_file_keep_evicted(file, few, &error), error);
    dice same = from;
    feed(all, &from, 6, 600);
    feed(few, &same, 6, 600);
    for (; oif_pipeline_next_key(few, &position, &info); seen++)
        evicted += info.is_evicted;
    assert_int_equal(seen, 6);
    assert_int_equal(evicted, 4);
    for (uint32_t i = 0; i < 6; i++) {
        snapshot a = save_key(all, key_text(i)), b = save_key(few, key_text(i));
        oif_pipeline *third = new_pipeline("rolling-iforest", small, 2, "");
        load_key(third, b, NULL);
        snapshot c = save_key(third, key_text(i));
        a.count = b.count < a.count ? b.count : a.count;
        assert_int_equal(b.count, c.count);
        /* everything but the options, which come first, is the same */
        assert_memory_equal(a.bytes + 1500, b.bytes + 1500, a.count - 1500);
        assert_memory_equal(c.bytes + 1500, b.bytes + 1500, c.count - 1500);
        free(a.bytes);
        free(b.bytes);
        free(c.bytes);
        oif_pipeline_free(third);
    }
    position = 0;
    while (oif_pipeline_next_key(few, &position, &info))
        if (info.is_evicted)
            require_ok(oif_pipeline_remove_key(few, info.key, info.key_bytes, NULL));
    assert_int_equal(oif_pipeline_kept(few), 0);
    require_ok_or(oif_pipeline_check(few, &error), error);
    require_ok_or(oif_state_file_save_pipeline(file, few, &error), error);
    oif_pipeline_free(few);
    require_ok_or(oif_state_file_load_pipeline(file, &few, &error), error);
    assert_int_equal(oif_pipeline_keys(few), 2);
    oif_pipeline_free(few);
    oif_pipeline_free(all);
    oif_state_file_close(file);
    remove("state");
    remove("state.evicted");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(remove(folder), 0);
}

/* ---- Around a detector ---- */

static void a_pipeline_takes_up_a_detector_that_has_learned(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cpu", "mem"};
    oif_detector *detector = new_named("rolling-iforest", small, 2), *twin = NULL;
    oif_pipeline *pipeline = NULL;
    dice from = {11};
    double row[2], expected;
    oif_params options;
    oif_pipeline_options_init(&options);
    set_params(&options, "learn=all");
    for (int i = 0; i < 500; i++) {
        draw_row(&from, row, 2);
        require_ok(oif_detector_learn(detector, row, NULL));
    }
    require_ok(oif_detector_name_columns(detector, names, NULL));
    require_ok(oif_detector_clone(detector, &twin, NULL));
    require_ok(oif_pipeline_new_around(&detector, &options, "a", 1, &pipeline, NULL));
    assert_null(detector);
    assert_string_equal(oif_pipeline_column_name(pipeline, 1), "mem");
    assert_int_equal(oif_detector_rows_learned(oif_pipeline_detector(pipeline, "a", 1)), 500);
    for (int i = 0; i < 500; i++) {
        draw_row(&from, row, 2);
        require_ok(oif_detector_learn_score(twin, row, &expected, NULL)); /* as learn=all does */
        oif_result result = process_key(pipeline, "a", row);
        assert_memory_equal(&result.score, &expected, sizeof expected);
    }
    oif_pipeline_free(pipeline);
    pipeline = NULL;
    set_params(&options, "shingle=2");
    require_ok(oif_pipeline_new_around(&twin, &options, NULL, 0, &pipeline, NULL));
    assert_int_equal(oif_pipeline_columns(pipeline), 1);
    assert_null(oif_pipeline_column_name(pipeline, 0));
    process(pipeline, row);
    oif_pipeline_free(pipeline);
}

static void a_detector_that_does_not_fit_stays_with_its_owner(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("rolling-iforest", small, 2), *same = detector;
    oif_pipeline *pipeline = NULL;
    oif_params options;
    oif_error error;
    oif_pipeline_options_init(&options);
    set_params(&options, "shingle=3");
    assert_int_equal(oif_pipeline_new_around(&detector, &options, NULL, 0, &pipeline, &error),
                     OIF_EPARAM);
    assert_string_equal(error.message, "a detector of 2 columns cannot take shingles of 3 rows");
    assert_int_equal(oif_pipeline_new_around(&detector, oif_detector_params(detector), NULL, 0,
                                             &pipeline, &error),
                     OIF_EPARAM);
    assert_ptr_equal(detector, same);
    assert_null(pipeline);
    require_ok(oif_pipeline_new_around(&detector, NULL, NULL, 0, &pipeline, &error));
    oif_pipeline_free(pipeline);
}

/* ---- Blocks of rows ---- */

static void a_block_of_rows_is_the_same_as_single_rows(void **unused)
{
    (void)unused;
    enum { ROWS = 700, STRIDE = 3 };
    static double rows[ROWS * STRIDE], seconds[ROWS];
    static oif_result results[ROWS];
    static const char *keys[ROWS];
    static size_t key_bytes[ROWS];
    static const char *const names[] = {"a", "bb", "c"};
    for (int trial = 0; trial < 4; trial++) {
        oif_pipeline *one = new_pipeline("rolling-iforest", small, 2, "alert_rate=0.02");
        oif_pipeline *block = new_pipeline("rolling-iforest", small, 2, "alert_rate=0.02");
        dice from = {(uint64_t)trial};
        size_t done = 99;
        oif_error error;
        for (int i = 0; i < ROWS; i++) {
            draw_row(&from, &rows[i * STRIDE], STRIDE);
            rows[i * STRIDE + 2] = INFINITY; /* between the rows */
            seconds[i] = i;
            keys[i] = names[dice_below(&from, 3)];
            key_bytes[i] = strlen(keys[i]);
        }
        require_ok_or(oif_pipeline_process_rows(block, rows, ROWS, STRIDE, trial ? keys : NULL,
                                                trial > 1 ? key_bytes : NULL,
                                                trial > 2 ? seconds : NULL, results, &done, &error),
                      error);
        assert_int_equal(done, ROWS);
        for (int i = 0; i < ROWS; i++) {
            oif_result result;
            require_ok(oif_pipeline_process_at(
                one, trial ? keys[i] : NULL, trial ? key_bytes[i] : 0, trial > 2 ? seconds[i] : NAN,
                &rows[i * STRIDE], &result, NULL));
            require_same_result(&result, &results[i]);
        }
        require_same_pipelines(one, block);
        rows[5 * STRIDE + 1] = INFINITY; /* the sixth row cannot be used */
        assert_int_equal(oif_pipeline_process_rows(block, rows, ROWS, STRIDE, NULL, NULL, NULL,
                                                   results, &done, &error),
                         OIF_EVALUE);
        assert_int_equal(done, 5);
        assert_true(error.line == 6 && error.column == 2);
        assert_int_equal(oif_pipeline_rows(block), ROWS + 5);
        assert_int_equal(
            oif_pipeline_process_rows(block, rows, 2, 1, NULL, NULL, NULL, results, &done, &error),
            OIF_EPARAM);
        assert_int_equal(done, 0);
        oif_pipeline_free(one);
        oif_pipeline_free(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_described),
        cmocka_unit_test(keys_are_listed_and_can_be_removed_on_the_way),
        cmocka_unit_test(a_removed_key_begins_again_and_the_others_do_not_notice),
        cmocka_unit_test(a_removed_key_is_never_silent),
        cmocka_unit_test(the_recent_key_and_its_row_are_gone_after_a_removal),
        cmocka_unit_test(a_moved_key_goes_on_bit_for_bit),
        cmocka_unit_test(a_key_can_get_another_name_or_none),
        cmocka_unit_test(a_loaded_key_counts_as_the_most_recently_seen),
        cmocka_unit_test(a_key_file_is_written_and_read),
        cmocka_unit_test(a_key_that_does_not_fit_is_refused_with_a_sentence),
        cmocka_unit_test(names_and_derived_columns_have_to_be_the_same),
        cmocka_unit_test(every_truncation_and_every_flipped_byte_of_a_key_is_refused),
        cmocka_unit_test(an_evicted_key_is_listed_moved_and_removed),
        cmocka_unit_test(a_pipeline_takes_up_a_detector_that_has_learned),
        cmocka_unit_test(a_detector_that_does_not_fit_stays_with_its_owner),
        cmocka_unit_test(a_block_of_rows_is_the_same_as_single_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
