/* Saves that append what has changed, and what goes wrong: a save that is interrupted at any byte
 * leaves the state before or after it, no damage stays unnoticed, and a load during a save gives
 * one of both states. */
#define _GNU_SOURCE

#include "../base/sanitized.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "logs.h"
#include "snapshot/sections.h"

#include <errno.h>

/* ---- Faults: the call with this number fails, from 1; 0: none ---- */

static struct {
    int at, calls, reason;
} fault;

static bool fails_now(void)
{
    errno = fault.reason;
    return fault.at > 0 && ++fault.calls == fault.at;
}

ssize_t __real_pwrite(int fd, const void *from, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *from, size_t count, off_t offset);
ssize_t __real_pwrite64(int fd, const void *from, size_t count, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *from, size_t count, off_t offset);
int __wrap_fsync(int fd);

/* Half of the bytes are written before a disk is full; all of them before a broken one fails. */
ssize_t __wrap_pwrite(int fd, const void *from, size_t count, off_t offset)
{
    if (!fails_now())
        return __real_pwrite(fd, from, count, offset);
    (void)!__real_pwrite(fd, from, fault.reason == EIO ? count : count / 2, offset);
    errno = fault.reason;
    return -1;
}

ssize_t __wrap_pwrite64(int fd, const void *from, size_t count, off_t offset)
{
    return __wrap_pwrite(fd, from, count, offset);
}

/* The disk is not waited for: the tests with kill -9 do that. */
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails_now() ? -1 : 0;
}

/* ---- Interruptions and damage ---- */

/* A state before and after an update, as files and as whole saves. */
typedef struct two_states {
    bytes before, after, whole_before, whole_after;
} two_states;

enum { FEW_KEYS = 6 };

static oif_pipeline *small_pipeline(dice *from)
{
    oif_pipeline *made = new_pipeline("loda", "num_projections=1 num_bins=2 window_size=4", COLUMNS,
                                      "find_season=off moves=off");
    process_rows(made, from, 0, FEW_KEYS, 20);
    return made;
}

static two_states make_states(void)
{
    dice from = {3};
    two_states made;
    oif_pipeline *p = small_pipeline(&from);
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

/* 1: the state before; 2: after. Anything else fails the test. */
static int which_state(const two_states *states, const oif_pipeline *loaded)
{
    bytes whole = whole_save(loaded);
    const int state = are_equal(whole, states->whole_before)  ? 1
                      : are_equal(whole, states->whole_after) ? 2
                                                              : 3;
    free(whole.start);
    assert_int_not_equal(state, 3);
    return state;
}

/* The same for bytes of a file; 0: refused. */
static int state_of(const two_states *states, const char *start, size_t count)
{
    oif_pipeline *loaded = NULL;
    oif_error error = {0};
    if (oif_pipeline_load_memory(start, count, &loaded, &error) != OIF_OK) {
        assert_true(error.message[0] != '\0' && error.status != OIF_EMEMORY);
        return 0;
    }
    const int state = which_state(states, loaded);
    oif_pipeline_free(loaded);
    return state;
}

/* Written by the first version with this format, and never again. */
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

/* Else a crash during the next update would leave neither an end nor a whole update. */
static void nothing_is_appended_to_a_log_with_half_an_end(void **unused)
{
    (void)unused;
    two_states states = make_states();
    oif_error error;
    oif_pipeline *p;
    states.after.start[OIF_SNAPSHOT_HEADER_BYTES + OIF_LOG_END_BYTES - 1] ^= 1;
    write_content("state", states.after);
    oif_state_file *file = open_state();
    require_ok_or(oif_state_file_load_pipeline(file, &p, &error), error);
    assert_int_equal(oif_pipeline_log(p).updates, 1);
    update(file, p);
    assert_int_equal(oif_pipeline_log(p).updates, 0);
    require_in_file("state", p);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
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
    enum { HEAD = OIF_SECTION_HEAD_BYTES, LENGTH_AT = OIF_SECTION_TAG_BYTES, COUNTS = 8 };
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
        const uint64_t length = oif_bytes_load(head + LENGTH_AT, 8);
        oif_bytes_store(head + LENGTH_AT, UINT64_C(1) << 50, 8);
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
            oif_pipeline *p = small_pipeline(&from), *before;
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

/* ---- Loading during a save ---- */

/* What saves, and before which call of read, from 1. */
static struct {
    oif_state_file *file;
    oif_pipeline *pipeline;
    int at, calls;
} saver;

/* A file is read in large pieces; smaller ones give more moments to save at. */
enum { MOST_READ = 100 };

ssize_t __real_read(int fd, void *to, size_t count);
ssize_t __wrap_read(int fd, void *to, size_t count);

ssize_t __wrap_read(int fd, void *to, size_t count)
{
    if (saver.file && ++saver.calls == saver.at)
        update(saver.file, saver.pipeline);
    return __real_read(fd, to, count < MOST_READ ? count : MOST_READ);
}

static void a_load_during_a_save_gives_the_state_before_or_after(void **unused)
{
    (void)unused;
    dice from = {8};
    oif_pipeline *p = small_pipeline(&from), *loaded;
    oif_state_file *file = open_state();
    int seen[3] = {0}, wholes = 0, updates = 0;
    bool is_saved = true;
    update(file, p);
    for (int at = 1; is_saved; at++) {
        two_states states = {.whole_before = whole_save(p)};
        oif_error error;
        process_rows(p, &from, 0, FEW_KEYS, 2);
        states.whole_after = whole_save(p);
        saver.file = file, saver.pipeline = p, saver.at = at, saver.calls = 0;
        require_ok_or(oif_pipeline_load_file("state", &loaded, &error), error);
        is_saved = saver.calls >= at;
        saver.file = NULL;
        seen[which_state(&states, loaded)]++;
        *(oif_pipeline_log(p).updates == 0 ? &wholes : &updates) += is_saved;
        oif_pipeline_free(loaded);
        free_states(&states);
    }
    assert_true(seen[1] > 0 && seen[2] > 0 && wholes > 0 && updates > 0);
    oif_pipeline_free(p);
    oif_state_file_close(file);
    unlink("state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_has_the_bytes_that_it_had),
        cmocka_unit_test(an_append_that_ends_at_any_byte_leaves_the_state_before),
        cmocka_unit_test(an_end_that_is_written_in_part_loses_nothing),
        cmocka_unit_test(nothing_is_appended_to_a_log_with_half_an_end),
        cmocka_unit_test(a_changed_byte_is_refused_or_changes_nothing),
        cmocka_unit_test(a_file_that_is_cut_off_is_refused),
        cmocka_unit_test(claims_of_an_update_are_checked_before_memory_is_taken),
        cmocka_unit_test(what_a_crash_has_left_is_counted_and_cut_off),
        cmocka_unit_test(a_failed_append_leaves_the_state_before_and_the_next_one_succeeds),
        cmocka_unit_test(a_load_during_a_save_gives_the_state_before_or_after)};
    golden = content_of("golden/snapshots/format-1/pipeline_updates.oif");
    const int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    free(golden.start);
    return failed;
}
