/* Saves that append what has changed: what is loaded equals a whole save, bit for bit, and the file
 * stays bounded. */
#define _GNU_SOURCE

#include "../base/sanitized.h"
#include "logs.h"

#include <utime.h>

int __wrap_fsync(int fd);

/* The disk is not waited for: the tests with kill -9 do that. */
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

/* ---- The slow twin ---- */

static void ignore_silence(void *context, const oif_silence *silence)
{
    (void)silence;
    ++*(int *)context;
}

static void put_key(oif_pipeline *p, const char *key, const char *as)
{
    size_t count;
    char from[20];
    snprintf(from, sizeof from, "%s", key);
    if (oif_pipeline_key_snapshot_bytes(p, from, strlen(from), &count, NULL) != OIF_OK)
        return;
    char *saved = malloc(count);
    require_ok(oif_pipeline_save_key_memory(p, from, strlen(from), saved, count, NULL));
    require_ok(oif_pipeline_load_key_memory(p, saved, count, as, strlen(as), NULL, NULL));
    free(saved);
}

static void remove_some_key(oif_pipeline *p, dice *from)
{
    const char *key = key_text(dice_below(from, KEYS));
    oif_status status = oif_pipeline_remove_key(p, key, strlen(key), NULL);
    assert_true(status == OIF_OK || status == OIF_EVALUE);
}

static void process_on_threads(oif_pipeline *p, dice *from, uint32_t key_count)
{
    enum { ROWS = 16 };
    double rows[ROWS][COLUMNS + 1];
    char texts[ROWS][20];
    const char *keys[ROWS];
    oif_result results[ROWS];
    size_t done;
    require_ok(oif_pipeline_set_threads(p, 2, NULL));
    for (int i = 0; i < ROWS; i++) {
        snprintf(texts[i], sizeof texts[i], "host-%u", dice_below(from, key_count));
        keys[i] = texts[i];
        draw_row(from, rows[i], COLUMNS + 1);
    }
    require_ok(oif_pipeline_process_rows(p, rows[0], ROWS, COLUMNS + 1, keys, NULL, NULL, results,
                                         &done, NULL));
}

/* Anything that may change a pipeline, now and then. */
static void change_something(oif_pipeline *p, dice *from)
{
    static const char rules[] = "mute key=host-1*\n";
    static const char *const names[] = {"a", "b", "c"};
    oif_attribution why[COLUMNS + 1];
    int silent = 0;
    switch (dice_below(from, 16)) {
    case 0: remove_some_key(p, from); break;
    case 1:
        oif_pipeline_silent(p, (double)oif_pipeline_rows(p) + 500, ignore_silence, &silent);
        break;
    case 2: require_ok(oif_pipeline_set_rules(p, rules, sizeof rules - 1, NULL)); break;
    case 3: require_ok(oif_pipeline_set_rules(p, "", 0, NULL)); break;
    case 4: oif_pipeline_explain(p, why); break;
    case 5: put_key(p, key_text(dice_below(from, KEYS)), "copied"); break;
    case 6: require_ok(oif_pipeline_attach(p, "attached", dice_below(from, 9), NULL)); break;
    case 7: require_ok(oif_pipeline_keep_episodes(p, dice_chance(from, .8), NULL)); break;
    case 8: process_on_threads(p, from, 4); break;
    case 9: require_ok(oif_pipeline_name_roles(p, "host", NULL, NULL)); break;
    case 10:
        if (dice_chance(from, .3))
            require_ok(oif_pipeline_change_option(p, "silence", 1 + dice_below(from, 3), NULL));
        break;
    case 11:
        if (dice_chance(from, .2))
            require_ok(oif_pipeline_name_columns(p, names, NULL));
        break;
    case 12:
        if (dice_chance(from, .2) && oif_pipeline_columns(p) == COLUMNS &&
            !oif_pipeline_column_name(p, 0) &&
            oif_detector_adds_columns(oif_pipeline_detector_params(p)))
            require_ok(oif_pipeline_add_columns(p, 1, NULL, NULL, 0, NULL));
        break;
    default: break;
    }
    process_rows(p, from, dice_below(from, 3) * KEYS / 3, 1 + dice_below(from, 8),
                 (int)dice_below(from, 8));
}

static void updates_give_the_bits_of_a_whole_save(void **unused)
{
    (void)unused;
    static const char *const options[] = {"",
                                          "max_keys=30",
                                          "alerts=5 max_keys=200",
                                          "season_rows=6 silence=100",
                                          "memory_limit=300000",
                                          "shingle=2 learn=normal alert_rate=0.02"};
    uint64_t saves = 0, updates = 0;
    for (uint32_t trial = 0; trial < 6; trial += STEP_IF_SANITIZED(5)) {
        dice from = {trial};
        oif_pipeline *p = some_pipeline(options[trial % 6], &from);
        oif_state_file *file = open_state();
        for (int save = 0; save < 30; save++, saves++) {
            for (uint32_t i = dice_below(&from, 3); i > 0; i--)
                change_something(p, &from);
            update(file, p);
            updates += oif_pipeline_log(p).updates > 0;
            require_in_file("state", p);
            if (dice_chance(&from, 0.2))
                p = reload(&file, p);
        }
        oif_pipeline_free(p);
        oif_state_file_close(file);
        unlink("state");
    }
    assert_true(updates > saves / 3); /* otherwise this has tested little */
}

static void an_update_writes_the_keys_that_changed(void **unused)
{
    (void)unused;
    dice from = {1};
    oif_pipeline *p = some_pipeline("", &from);
    oif_state_file *file = open_state();
    update(file, p);
    const uint64_t base = oif_pipeline_log(p).base_bytes;
    assert_int_equal(bytes_of("state"), base);
    process_rows(p, &from, 3, 1, 1);
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    assert_true(oif_pipeline_log(p).update_bytes < base / 10);
    p = reload(&file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    process_rows(p, &from, 3, 1, 1);
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 2);
    require_in_file("state", p);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

/* The key does not move, as it is the newest already. */
static void rows_of_the_newest_key_on_threads_are_saved(void **unused)
{
    (void)unused;
    dice from = {7};
    oif_pipeline *p = some_pipeline("", &from);
    oif_state_file *file = open_state();
    process_on_threads(p, &from, 1);
    update(file, p);
    process_on_threads(p, &from, 1);
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    require_in_file("state", p);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

static void note_silence(void *context, const oif_silence *silence)
{
    char *heard = context;
    const size_t length = strlen(heard);
    snprintf(heard + length, 200 - length, "%.*s since %g, ", (int)silence->key_bytes, silence->key,
             silence->since);
}

/* Keys that updates have put into another order are silent when they were before. */
static void keys_of_updates_are_silent_in_the_same_order(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"a", "b", "c"};
    dice from = {9};
    oif_pipeline *p = some_pipeline("", &from), *loaded = NULL;
    oif_state_file *file = open_state();
    const double row[COLUMNS] = {1, 2};
    char heard[2][200] = {"", ""};
    oif_result result;
    oif_error error;
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 3; k++)
            require_ok(oif_pipeline_process_at(p, keys[k], 1, 10 * i + k, row, &result, &error));
    update(file, p);
    for (int i = 40; i < 60; i++)
        require_ok(oif_pipeline_process_at(p, keys[0], 1, 10 * i, row, &result, &error));
    process_rows(p, &from, 0, 1, 1); /* too few for a deadline: all other numbers change */
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    require_ok_or(oif_state_file_load_pipeline(file, &loaded, &error), error);
    oif_pipeline_silent(p, 1e6, note_silence, heard[0]);
    oif_pipeline_silent(loaded, 1e6, note_silence, heard[1]);
    assert_string_equal(heard[0], "b since 391, c since 392, a since 590, ");
    assert_string_equal(heard[1], heard[0]);
    oif_pipeline_free(loaded);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

static void the_file_stays_bounded(void **unused)
{
    (void)unused;
    dice from = {2};
    oif_pipeline *p = some_pipeline("", &from);
    oif_state_file *file = open_state();
    uint64_t whole = 0;
    for (int i = 0; i < 200; i++) {
        process_rows(p, &from, 0, KEYS, 3);
        update(file, p);
        const oif_log_info log = oif_pipeline_log(p);
        assert_true(log.update_bytes <= 2 * log.base_bytes);
        whole += log.updates == 0;
    }
    assert_true(whole > 1 && whole < 40);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

/* ---- Others who write ---- */

static void a_file_that_another_has_changed_is_replaced(void **unused)
{
    (void)unused;
    dice from = {6};
    oif_pipeline *p = some_pipeline("", &from), *other = some_pipeline("shingle=2", &from);
    oif_state_file *file = open_state();
    update(file, p);
    for (int way = 0; way < 6; way++) {
        process_rows(p, &from, 1, 1, 1);
        update(file, p);
        assert_int_equal(oif_pipeline_log(p).updates, 1);
        if (way == 0)
            unlink("state");
        else if (way == 1)
            assert_int_equal(utime("state", &(struct utimbuf){1, 1}), 0);
        else if (way == 2)
            require_ok(oif_state_file_save_pipeline(file, other, NULL));
        else if (way == 3)
            update(file, other);
        else if (way == 4)
            assert_int_equal(truncate("state", 100), 0);
        else
            assert_int_equal(link("state", "backup"), 0);
        process_rows(p, &from, 1, 1, 1);
        update(file, p);
        assert_int_equal(oif_pipeline_log(p).updates, 0);
        require_in_file("state", p);
    }
    oif_pipeline_free(p);
    oif_pipeline_free(other);
    oif_state_file_close(file);
    unlink("backup");
    unlink("state");
}

static void streams_without_keys_are_saved_whole_in_the_format_before(void **unused)
{
    (void)unused;
    oif_pipeline *p = new_pipeline("online-iforest", settings, COLUMNS, "");
    oif_state_file *file = open_state();
    for (int i = 0; i < 3; i++) {
        process(p, (double[COLUMNS]){i, 1});
        update(file, p);
        assert_false(oif_pipeline_log(p).is_log);
        bytes in_file = content_of("state"), whole = whole_save(p);
        assert_true(are_equal(in_file, whole));
        free(in_file.start);
        free(whole.start);
    }
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_give_the_bits_of_a_whole_save),
        cmocka_unit_test(an_update_writes_the_keys_that_changed),
        cmocka_unit_test(keys_of_updates_are_silent_in_the_same_order),
        cmocka_unit_test(rows_of_the_newest_key_on_threads_are_saved),
        cmocka_unit_test(the_file_stays_bounded),
        cmocka_unit_test(a_file_that_another_has_changed_is_replaced),
        cmocka_unit_test(streams_without_keys_are_saved_whole_in_the_format_before)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
