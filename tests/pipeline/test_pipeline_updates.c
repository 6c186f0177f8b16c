/* Saves that append what has changed: what is loaded equals a whole save, bit for bit; a save that
 * was interrupted at any byte leaves the state before or after it; no damage stays unnoticed. */
#define _GNU_SOURCE

#include "../base/sanitized.h"
#include "../snapshot/kills.h" /* a folder of its own */
#include "base/bytes.h"
#include "base/checksum.h"
#include "pipelines.h"
#include "snapshot/sections.h"

#include <errno.h>
#include <sys/stat.h>
#include <utime.h>

enum { COLUMNS = 2, KEYS = 40 };

static const char settings[] = "num_trees=2 window_size=8 max_leaf_samples=2";

/* ---- Faults: the call with this number fails, from 1; 0: none ---- */

static struct {
    int at, calls, reason;
} fault;

static bool fails_now(void)
{
    errno = fault.reason;
    return fault.at > 0 && ++fault.calls == fault.at;
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
int __wrap_fsync(int fd);

/* Half of the bytes are written before the disk is full. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (!fails_now())
        return __real_pwrite(fd, bytes, count, offset);
    (void)!__real_pwrite(fd, bytes, count / 2, offset);
    errno = fault.reason;
    return -1;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    return __wrap_pwrite(fd, bytes, count, offset);
}

/* The disk is not waited for: the tests with kill -9 do that. */
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails_now() ? -1 : 0;
}

/* ---- Helpers ---- */

typedef struct bytes {
    char *start;
    size_t count;
} bytes;

static bytes whole_save(const oif_pipeline *pipeline)
{
    bytes b = {.count = oif_pipeline_snapshot_bytes(pipeline)};
    b.start = malloc(b.count);
    require_ok(oif_pipeline_save_memory(pipeline, b.start, b.count, NULL));
    return b;
}

static size_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

static bytes content_of(const char *path)
{
    bytes b = {malloc(bytes_of(path) + 1), bytes_of(path)};
    FILE *file = fopen(path, "rb");
    if (!file || fread(b.start, 1, b.count, file) != b.count)
        fail_msg("cannot read %s", path);
    fclose(file);
    return b;
}

static bool are_equal(bytes a, bytes b)
{
    return a.count == b.count && memcmp(a.start, b.start, a.count) == 0;
}

/* Both list their keys in the same order. */
static void require_same_keys(const oif_pipeline *a, const oif_pipeline *b)
{
    oif_key_info of_a, of_b;
    size_t at_a = 0, at_b = 0;
    while (oif_pipeline_next_key(a, &at_a, &of_a)) {
        assert_true(oif_pipeline_next_key(b, &at_b, &of_b));
        assert_int_equal(of_a.key_bytes, of_b.key_bytes);
        assert_memory_equal(of_a.key, of_b.key, of_a.key_bytes);
    }
    assert_false(oif_pipeline_next_key(b, &at_b, &of_b));
}

/* The whole save of what a file holds is that of the pipeline. */
static void require_in_file(const char *path, const oif_pipeline *pipeline)
{
    oif_pipeline *loaded, *twin;
    oif_error error;
    require_ok_or(oif_pipeline_load_file(path, &loaded, &error), error);
    bytes a = whole_save(pipeline), b = whole_save(loaded);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.start, b.start, a.count);
    require_ok(oif_pipeline_load_memory(a.start, a.count, &twin, NULL));
    require_same_keys(loaded, twin);
    require_ok(oif_pipeline_check(loaded, NULL));
    oif_pipeline_free(twin);
    oif_pipeline_free(loaded);
    free(a.start);
    free(b.start);
}

static oif_state_file *open_state(void)
{
    oif_state_file *file;
    oif_error error;
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    return file;
}

static void update(oif_state_file *file, oif_pipeline *pipeline)
{
    oif_error error;
    require_ok_or(oif_state_file_update_pipeline(file, pipeline, &error), error);
}

static void process_rows(oif_pipeline *pipeline, dice *from, uint32_t first, uint32_t keys,
                         int rows)
{
    double row[COLUMNS + 1];
    oif_result result;
    for (int i = 0; i < rows; i++) {
        const char *key = key_text(first + dice_below(from, keys));
        draw_row(from, row, oif_pipeline_columns(pipeline));
        row[0] += dice_chance(from, 0.05) ? 30 : 0;
        require_ok(oif_pipeline_process_at(
            pipeline, key, strlen(key), (double)oif_pipeline_rows(pipeline), row, &result, NULL));
    }
}

static oif_pipeline *some_pipeline(const char *options, dice *from)
{
    oif_pipeline *made = new_pipeline("online-iforest", settings, COLUMNS, options);
    process_rows(made, from, 0, KEYS, 10 * KEYS);
    return made;
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
            require_ok(oif_pipeline_change_option(p, "cooldown", 1 + dice_below(from, 3), NULL));
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

static oif_pipeline *reload(oif_state_file **file, oif_pipeline *pipeline)
{
    oif_error error;
    oif_pipeline *loaded;
    oif_state_file_close(*file);
    oif_pipeline_free(pipeline);
    *file = open_state();
    require_ok_or(oif_state_file_load_pipeline(*file, &loaded, &error), error);
    return loaded;
}

static void updates_give_the_bits_of_a_whole_save(void **unused)
{
    (void)unused;
    static const char *const options[] = {"",
                                          "max_keys=30",
                                          "alerts=5 max_keys=200",
                                          "stuck=on season_rows=6 silence=100",
                                          "memory_limit=300000",
                                          "shingle=2 learn=normal alert_rate=0.02"};
    uint64_t updates = 0;
    for (uint32_t trial = 0; trial < 12; trial += STEP_IF_SANITIZED(5)) {
        dice from = {trial};
        oif_pipeline *p = some_pipeline(options[trial % 6], &from);
        oif_state_file *file = open_state();
        for (int save = 0; save < 30; save++) {
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
    assert_true(updates > 60); /* otherwise this has tested little */
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

/* ---- Interruptions and damage ---- */

/* A state before and after an update, as files and as whole saves. */
typedef struct two_states {
    bytes before, after, whole_before, whole_after;
} two_states;

static two_states make_states(void)
{
    dice from = {3};
    two_states made;
    oif_pipeline *p =
        new_pipeline("loda", "num_projections=1 num_bins=2 window_size=4", COLUMNS,
                     "persistence=1 stuck=off partner=off find_season=off motion=off");
    process_rows(p, &from, 0, 6, 20);
    oif_state_file *file = open_state();
    update(file, p);
    made.before = content_of("state");
    made.whole_before = whole_save(p);
    process_rows(p, &from, 4, 3, 3);
    require_ok(oif_pipeline_remove_key(p, "host-0", 6, NULL));
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    made.after = content_of("state");
    made.whole_after = whole_save(p);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
    return made;
}

static void free_states(two_states *made)
{
    free(made->before.start);
    free(made->after.start);
    free(made->whole_before.start);
    free(made->whole_after.start);
}

/* 1: the state before; 2: after; 0: refused. Anything else fails the test. */
static int state_of(const two_states *states, const char *start, size_t count)
{
    oif_pipeline *loaded = NULL;
    oif_error error = {0};
    if (oif_pipeline_load_memory(start, count, &loaded, &error) != OIF_OK) {
        assert_true(error.message[0] != '\0' && error.status != OIF_EMEMORY);
        return 0;
    }
    bytes whole = whole_save(loaded);
    const int state = are_equal(whole, states->whole_before)  ? 1
                      : are_equal(whole, states->whole_after) ? 2
                                                              : 3;
    oif_pipeline_free(loaded);
    free(whole.start);
    assert_int_not_equal(state, 3);
    return state;
}

/* Written by the first version with this format. It is never written again. */
static bytes golden;

static void a_log_has_the_bytes_that_it_had(void **unused)
{
    (void)unused;
    two_states states = make_states();
    assert_int_equal(state_of(&states, golden.start, golden.count), 2);
    assert_true(are_equal(golden, states.after));
    free_states(&states);
}

static void an_append_that_ends_at_any_byte_leaves_the_state_before(void **unused)
{
    (void)unused;
    two_states states = make_states();
    const size_t old = states.before.count, new = states.after.count;
    char *file = malloc(new);
    memcpy(file, states.after.start, new);
    memcpy(file, states.before.start, old); /* with the end that counts until the last step */
    for (size_t end = old; end <= new; end++)
        assert_int_equal(state_of(&states, file, end), 1);
    memset(file + old, 0, new - old); /* blocks that a loss of power has emptied */
    assert_int_equal(state_of(&states, file, new), 1);
    free(file);
    free_states(&states);
}

static void an_end_that_is_written_in_part_loses_nothing(void **unused)
{
    (void)unused;
    two_states states = make_states();
    char *file = malloc(states.after.count);
    for (size_t written = 0; written <= OIF_LOG_END_BYTES; written++) {
        const size_t at = OIF_SNAPSHOT_HEADER_BYTES + written;
        memcpy(file, states.after.start, states.after.count);
        memcpy(file + at, states.before.start + at, OIF_LOG_END_BYTES - written);
        assert_int_not_equal(state_of(&states, file, states.after.count), 0);
    }
    free(file);
    free_states(&states);
}

static void a_changed_byte_is_refused_or_changes_nothing(void **unused)
{
    (void)unused;
    two_states states = make_states();
    char *file = states.after.start;
    for (size_t at = 0; at < states.after.count; at += STEP_IF_SANITIZED(7)) {
        file[at] ^= (char)(1U << at % 8);
        assert_int_not_equal(state_of(&states, file, states.after.count), 1);
        file[at] ^= (char)(1U << at % 8);
    }
    assert_int_equal(state_of(&states, file, states.after.count), 2);
    free_states(&states);
}

static void a_file_that_is_cut_off_is_refused(void **unused)
{
    (void)unused;
    two_states states = make_states();
    for (size_t end = 0; end < states.after.count; end += STEP_IF_SANITIZED(7))
        assert_int_equal(state_of(&states, states.after.start, end), 0);
    free_states(&states);
}

/* A section of the update that claims more than there is. Checksums are right. */
static void claims_of_an_update_are_checked_before_memory_is_taken(void **unused)
{
    (void)unused;
    enum { HEAD = 16, COUNTS = 8 };
    two_states states = make_states();
    char *file = states.after.start, *copy = malloc(states.after.count);
    unsigned char *head = (unsigned char *)file + states.before.count;
    memcpy(copy, file, states.after.count);
    for (size_t i = 0; i < COUNTS - 2; i++) { /* of UPDT; rows and evictions may be any */
        unsigned char *payload = head + HEAD + 4;
        oif_bytes_store(payload + 8 * i, UINT64_C(1) << 60, 8);
        oif_bytes_store(payload + 8 * COUNTS,
                        oif_checksum(&oif_checksum_zip, 0, payload, 8 * COUNTS), 4);
        assert_int_equal(state_of(&states, file, states.after.count), 0);
        memcpy(file, copy, states.after.count);
    }
    for (unsigned char *end = (unsigned char *)file + states.after.count; head < end;) {
        const uint64_t length = oif_bytes_load(head + 8, 8);
        oif_bytes_store(head + 8, UINT64_C(1) << 50, 8);
        oif_bytes_store(head + HEAD, oif_checksum(&oif_checksum_zip, 0, head, HEAD), 4);
        assert_int_equal(state_of(&states, file, states.after.count), 0);
        memcpy(file, copy, states.after.count);
        head += HEAD + 4 + length + 4;
    }
    free(copy);
    free_states(&states);
}

static void what_a_crash_has_left_is_counted_and_cut_off(void **unused)
{
    (void)unused;
    dice from = {4};
    oif_pipeline *p = some_pipeline("", &from);
    oif_state_file *file = open_state();
    update(file, p);
    FILE *more = fopen("state", "ab");
    fputs("half of an update", more);
    fclose(more);
    p = reload(&file, p);
    assert_int_equal(oif_pipeline_log(p).ignored_bytes, strlen("half of an update"));
    process_rows(p, &from, 1, 1, 1);
    update(file, p);
    const oif_log_info log = oif_pipeline_log(p);
    assert_int_equal(log.updates, 1);
    assert_int_equal(log.ignored_bytes, 0);
    assert_int_equal(bytes_of("state"), log.base_bytes + log.update_bytes);
    require_in_file("state", p);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

/* Every write and sync of an append fails once. */
static void a_failed_append_leaves_the_state_before_and_the_next_one_succeeds(void **unused)
{
    (void)unused;
    static const int reasons[] = {ENOSPC, EIO};
    bool has_failed = true;
    for (int at = 1; has_failed; at++)
        for (int i = 0; i < 2 && has_failed; i++) {
            dice from = {5};
            oif_error error;
            oif_pipeline *p = some_pipeline("", &from), *before;
            oif_state_file *file = open_state();
            update(file, p);
            require_ok(oif_pipeline_clone(p, &before, NULL));
            process_rows(p, &from, 2, 2, 4);
            fault.at = at, fault.calls = 0, fault.reason = reasons[i];
            oif_status status = oif_state_file_update_pipeline(file, p, &error);
            has_failed = fault.calls >= at;
            fault.at = 0;
            assert_int_equal(status, has_failed ? OIF_EWRITE : OIF_OK);
            if (has_failed && !strstr(error.message, "may not survive a loss of power"))
                require_in_file("state", before);
            else
                require_in_file("state", p);
            process_rows(p, &from, 2, 2, 4);
            update(file, p);
            require_in_file("state", p);
            oif_pipeline_free(before);
            oif_pipeline_free(p);
            oif_state_file_close(file);
            unlink("state");
        }
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
        cmocka_unit_test(rows_of_the_newest_key_on_threads_are_saved),
        cmocka_unit_test(the_file_stays_bounded),
        cmocka_unit_test(a_log_has_the_bytes_that_it_had),
        cmocka_unit_test(an_append_that_ends_at_any_byte_leaves_the_state_before),
        cmocka_unit_test(an_end_that_is_written_in_part_loses_nothing),
        cmocka_unit_test(a_changed_byte_is_refused_or_changes_nothing),
        cmocka_unit_test(a_file_that_is_cut_off_is_refused),
        cmocka_unit_test(claims_of_an_update_are_checked_before_memory_is_taken),
        cmocka_unit_test(what_a_crash_has_left_is_counted_and_cut_off),
        cmocka_unit_test(a_failed_append_leaves_the_state_before_and_the_next_one_succeeds),
        cmocka_unit_test(a_file_that_another_has_changed_is_replaced),
        cmocka_unit_test(streams_without_keys_are_saved_whole_in_the_format_before)};
    golden = content_of("golden/snapshots/format-5/pipeline_updates.oif");
    const int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    free(golden.start);
    return failed;
}
