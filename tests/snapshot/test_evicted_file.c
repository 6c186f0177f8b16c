/* The evicted models file: every slot that the saved state uses exists at every moment, whatever
 * fails. A list holds the expected content of the file, and a copy of it what the last saved state
 * would list. */
#define _GNU_SOURCE

#include "snapshot/state_file.h"
#include "snapshots.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Faults ---- */

typedef enum operation { OPEN, WRITE, READ, SYNC, RENAME, OPERATIONS } operation;

static const char *const operation_names[] = {"open", "write", "read", "sync", "rename"};

enum { HALF = -1 }; /* instead of an errno: the call takes half of the bytes */

static struct {
    int calls[OPERATIONS];
    operation failing;
    int position, last; /* the first and the last call of that operation that fails; from 0 */
    int reason;         /* errno, or HALF; 0: no faults */
    int fired;
} plan;

static bool fails(operation called)
{
    int position = plan.calls[called]++;
    if (!plan.reason || called != plan.failing || position < plan.position || position > plan.last)
        return false;
    plan.fired++;
    if (plan.reason > 0)
        errno = plan.reason;
    return true;
}

int __real_openat(int folder, const char *name, int flags, unsigned mode);
int __wrap_openat(int folder, const char *name, int flags, unsigned mode);
int __wrap_openat64(int folder, const char *name, int flags, unsigned mode);
ssize_t __real_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t __real_pread(int fd, void *bytes, size_t count, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t count, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t count, off_t offset);
int __wrap_fsync(int fd);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);

int __wrap_openat(int folder, const char *name, int flags, unsigned mode)
{
    return fails(OPEN) ? -1 : __real_openat(folder, name, flags, mode);
}

int __wrap_openat64(int folder, const char *name, int flags, unsigned mode)
{
    return __wrap_openat(folder, name, flags, mode);
}

/* A failing call has written a part before. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    if (!fails(WRITE))
        return __real_pwrite(fd, bytes, count, offset);
    ssize_t half = __real_pwrite(fd, bytes, (count + 1) / 2, offset);
    return plan.reason > 0 ? (errno = plan.reason, -1) : half;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    return __wrap_pwrite(fd, bytes, count, offset);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t count, off_t offset)
{
    if (!fails(READ))
        return __real_pread(fd, bytes, count, offset);
    return plan.reason > 0 ? -1 : __real_pread(fd, bytes, (count + 1) / 2, offset);
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t count, off_t offset)
{
    return __wrap_pread(fd, bytes, count, offset);
}

/* Real syncs would take nearly all of the time. */
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails(SYNC) ? -1 : 0;
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails(RENAME) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

static void plan_fault(operation failing, int position, int reason, bool from_then_on)
{
    memset(&plan, 0, sizeof plan);
    plan.failing = failing;
    plan.position = position;
    plan.last = from_then_on ? INT32_MAX : position;
    plan.reason = reason;
}

static void plan_nothing(void)
{
    plan_fault(OPEN, 0, 0, false);
}

/* ---- The file and its expected content ---- */

enum { SLOT_BYTES = 48, NAMES = 12 };

typedef struct line {
    oif_slot slot; /* with OIF_NO_SLOT: it is not in the file */
    uint32_t what; /* seed of its bytes */
} line;

typedef struct listing {
    line lines[NAMES];
} listing;

static struct {
    oif_state_file *file;
    oif_evicted_file *evicted;
    oif_detector *state; /* what is saved; any detector will do */
    listing now, saved, before;
    bool is_sure; /* false: after a failed save, either `saved` or `before` may be there */
} world;

static const char *name_text(uint32_t name)
{
    static char text[10];
    snprintf(text, sizeof text, "n%u", name);
    return text;
}

/* A third of the models take all of their slot. */
static size_t bytes_of(uint32_t what)
{
    return what % 3 == 0 ? SLOT_BYTES : 1 + what % SLOT_BYTES;
}

static void draw_bytes(uint32_t what, unsigned char bytes[SLOT_BYTES])
{
    dice from = {what};
    for (int i = 0; i < SLOT_BYTES; i++)
        bytes[i] = (unsigned char)dice_bits(&from);
}

static listing empty_listing(void)
{
    listing b;
    for (uint32_t i = 0; i < NAMES; i++)
        b.lines[i] = (line){.slot.number = OIF_NO_SLOT};
    return b;
}

static size_t count_lines(const listing *b)
{
    size_t count = 0;
    for (uint32_t i = 0; i < NAMES; i++)
        count += b->lines[i].slot.number != OIF_NO_SLOT;
    return count;
}

static oif_status open_evicted(const listing *known, oif_error *error)
{
    oif_evicted_file *made;
    require_ok(oif_state_file_open("state", &world.file, NULL));
    require_ok(oif_evicted_file_new(&world.file->location, SLOT_BYTES, &made, NULL));
    oif_status status = count_lines(known) > 0 ? oif_evicted_file_open(made, error) : OIF_OK;
    for (uint32_t i = 0; i < NAMES && status == OIF_OK; i++)
        if (known->lines[i].slot.number != OIF_NO_SLOT)
            status = oif_evicted_file_claim_slot(made, known->lines[i].slot, error);
    if (status != OIF_OK) {
        oif_evicted_file_free(made);
        oif_state_file_close(world.file);
        return status;
    }
    oif_evicted_file_after_commit(made, true);
    oif_evicted_file_attach(made, &world.file->evicted, &world.evicted);
    return OIF_OK;
}

static void start(void)
{
    plan_nothing();
    world.now = world.saved = world.before = empty_listing();
    world.is_sure = true;
    world.state = new_named("loda", "num_projections=2 num_bins=3 window_size=4", 1);
    require_ok(open_evicted(&world.now, NULL));
}

static void finish(void)
{
    plan_nothing();
    oif_state_file_close(world.file);
    assert_null(world.evicted); /* because its file was freed */
    oif_detector_free(world.state);
    unlink("state");
    unlink("state.evicted");
}

static oif_status put(uint32_t name, uint32_t what, oif_error *error)
{
    line *l = &world.now.lines[name];
    oif_slot slot = {7, 7, 7};
    draw_bytes(what, oif_evicted_file_buffer(world.evicted));
    oif_status status = oif_evicted_file_put(world.evicted, bytes_of(what), name_text(name),
                                             strlen(name_text(name)), &slot, error);
    if (status == OIF_OK)
        *l = (line){slot, what};
    else
        assert_true(slot.number == 7 && slot.checksum == 7 && slot.bytes == 7);
    return status;
}

static oif_status get(uint32_t name, const line *l, oif_error *error)
{
    return oif_evicted_file_get(world.evicted, name_text(name), strlen(name_text(name)), l->slot,
                                error);
}

static void release(uint32_t name)
{
    oif_evicted_file_free_slot(world.evicted, world.now.lines[name].slot.number);
    world.now.lines[name].slot.number = OIF_NO_SLOT;
}

static oif_status save(oif_error *error)
{
    oif_error why = {0};
    oif_status status = oif_state_file_save(world.file, world.state, &why);
    if (error)
        *error = why;
    if (status != OIF_OK && !strstr(why.message, "is saved, but"))
        return status; /* and nothing has changed */
    if (status != OIF_OK && world.is_sure)
        world.before = world.saved;
    world.saved = world.now;
    world.is_sure = status == OIF_OK;
    return status;
}

static void require_all_there(const listing *b)
{
    unsigned char expected[SLOT_BYTES];
    for (uint32_t i = 0; i < NAMES; i++) {
        if (b->lines[i].slot.number == OIF_NO_SLOT)
            continue;
        oif_error error;
        require_ok_or(get(i, &b->lines[i], &error), error);
        draw_bytes(b->lines[i].what, expected);
        assert_int_equal(b->lines[i].slot.bytes, bytes_of(b->lines[i].what));
        assert_memory_equal(oif_evicted_file_buffer(world.evicted), expected,
                            bytes_of(b->lines[i].what));
    }
}

/* The content of the file, and everything listed by a state that a crash may leave. */
static void require_whole(void)
{
    require_all_there(&world.now);
    require_all_there(&world.saved);
    if (!world.is_sure)
        require_all_there(&world.before);
}

static uint64_t slots_in_file(void)
{
    struct stat standing;
    return stat("state.evicted", &standing) == 0
               ? ((uint64_t)standing.st_size + SLOT_BYTES - 1) / SLOT_BYTES
               : 0;
}

/* As after kill -9: nothing is saved, and the next program knows only the saved state. */
static void crash(void)
{
    const listing left = world.saved;
    oif_error error;
    oif_state_file_close(world.file);
    require_ok_or(open_evicted(&left, &error), error);
    world.now = left;
    world.is_sure = true;
}

static void step(dice *from, uint32_t what)
{
    uint32_t name = dice_below(from, NAMES), kind = dice_below(from, 20);
    bool is_there = world.now.lines[name].slot.number != OIF_NO_SLOT;
    if (kind < 18 && is_there)
        release(name);
    else if (kind < 18)
        (void)!put(name, what, NULL);
    else if (kind == 18)
        (void)!save(NULL);
    else if (world.is_sure)
        crash();
}

/* ---- Ordinary use ---- */

static void what_was_put_is_there_until_no_saved_state_knows_of_it(void **unused)
{
    (void)unused;
    uint64_t most = 0;
    for (uint32_t trial = 0; trial < 30; trial++) {
        dice from = {trial};
        start();
        for (uint32_t i = 0; i < 2000; i++) {
            step(&from, i);
            require_whole();
        }
        most = slots_in_file() > most ? slots_in_file() : most;
        finish();
    }
    print_message("%d names, at most %d slots\n", NAMES, (int)most);
    assert_true(most > NAMES && most <= 2 * NAMES); /* slots are reused, but not too soon */
}

static void without_saves_slots_are_used_again_at_once(void **unused)
{
    (void)unused;
    start();
    for (uint32_t i = 0; i < 100; i++) {
        require_ok(put(i % 2, i, NULL));
        require_ok(put(2 + i % 2, i, NULL));
        release(i % 2);
        release(2 + i % 2);
    }
    assert_int_equal(slots_in_file(), 2);
    finish();
}

static void many_slots_are_fine(void **unused)
{
    (void)unused;
    enum { MANY = 1000 };
    oif_slot slots[MANY];
    start();
    for (uint32_t i = 0; i < MANY; i++) {
        draw_bytes(i, oif_evicted_file_buffer(world.evicted));
        require_ok(oif_evicted_file_put(world.evicted, bytes_of(i), "x", 1, &slots[i], NULL));
    }
    for (uint32_t i = 0; i < MANY; i++)
        require_ok(oif_evicted_file_get(world.evicted, "x", 1, slots[i], NULL));
    assert_int_equal(slots_in_file(), MANY);
    finish();
}

static void the_file_is_made_when_it_is_needed_and_read_by_whom_the_state_is(void **unused)
{
    (void)unused;
    struct stat standing;
    start();
    require_ok(save(NULL));
    assert_int_equal(access("state.evicted", F_OK), -1);
    assert_int_equal(chmod("state", 0640), 0);
    require_ok(put(1, 1, NULL));
    assert_int_equal(stat("state.evicted", &standing), 0);
    assert_int_equal(standing.st_mode & 0777, 0640);
    finish();
    start();
    assert_int_equal(symlink("elsewhere", "state.evicted"), 0); /* which is not followed */
    oif_error error;
    assert_int_equal(put(1, 1, &error), OIF_EWRITE);
    assert_int_equal(access("elsewhere", F_OK), -1);
    finish();
}

static void a_user_that_was_detached_is_not_touched(void **unused)
{
    (void)unused;
    oif_evicted_file *gone;
    start();
    gone = world.evicted;
    oif_evicted_file_detach(gone);
    oif_evicted_file_detach(NULL);
    assert_ptr_equal(world.file->evicted, gone);
    oif_state_file_close(world.file);
    assert_ptr_equal(world.evicted, gone);
    world.evicted = NULL;
    world.file = NULL;
    finish();
}

/* ---- Lost files ---- */

/* The last one takes all of its slot. */
static void three_models_saved(void)
{
    start();
    for (uint32_t i = 0; i < 3; i++)
        require_ok(put(i, 10 + i, NULL));
    require_ok(save(NULL));
}

static void a_file_that_is_cut_off_is_refused(void **unused)
{
    (void)unused;
    three_models_saved();
    oif_state_file_close(world.file);
    for (long bytes = 3 * SLOT_BYTES - 1; bytes >= -1; bytes--) {
        oif_error error = {0};
        assert_int_equal(bytes < 0 ? unlink("state.evicted") : truncate("state.evicted", bytes), 0);
        assert_int_equal(open_evicted(&world.saved, &error), OIF_ETRUNCATED);
        expect_message(error, "evicted models of 'state'");
    }
    world.file = NULL;
    finish();
}

static void a_slot_that_two_models_have_or_that_is_too_small_is_refused(void **unused)
{
    (void)unused;
    oif_error error;
    three_models_saved();
    oif_state_file_close(world.file);
    world.saved.lines[1].slot.number = world.saved.lines[2].slot.number;
    assert_int_equal(open_evicted(&world.saved, &error), OIF_ECORRUPT);
    world.saved.lines[1].slot.number = UINT32_MAX - 1;
    assert_int_equal(open_evicted(&world.saved, &error), OIF_ETRUNCATED);
    world.saved.lines[1].slot = (oif_slot){.bytes = SLOT_BYTES + 1};
    assert_int_equal(open_evicted(&world.saved, &error), OIF_ECORRUPT);
    world.saved.lines[1].slot.bytes = UINT64_MAX;
    assert_int_equal(open_evicted(&world.saved, &error), OIF_ECORRUPT);
    world.file = NULL;
    finish();
}

static void every_flipped_byte_is_found(void **unused)
{
    (void)unused;
    three_models_saved();
    FILE *file = fopen("state.evicted", "r+");
    assert_non_null(file);
    setbuf(file, NULL);
    for (long at = 0; at < 3 * SLOT_BYTES; at++) {
        oif_error error;
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1 << at % 8, file);
        for (uint32_t i = 0; i < 3; i++) {
            const oif_slot *slot = &world.now.lines[i].slot;
            bool is_hit = (uint32_t)(at / SLOT_BYTES) == slot->number &&
                          (uint64_t)(at % SLOT_BYTES) < slot->bytes;
            assert_int_equal(get(i, &world.now.lines[i], &error), is_hit ? OIF_ECORRUPT : OIF_OK);
        }
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
    }
    fclose(file);
    line other = world.now.lines[0];
    assert_int_equal(get(1, &other, NULL), OIF_ECORRUPT); /* it exists, under another name */
    finish();
}

/* Like a section of a snapshot: the same checksum over it and its own would be constant. */
static void bytes_that_end_with_their_own_checksum_are_told_apart(void **unused)
{
    (void)unused;
    oif_slot slots[2];
    start();
    for (uint32_t i = 0; i < 2; i++) {
        unsigned char *buffer = oif_evicted_file_buffer(world.evicted);
        draw_bytes(i, buffer);
        oif_bytes_store(buffer + SLOT_BYTES - 4,
                        oif_checksum(&oif_checksum_zip, 0, buffer, SLOT_BYTES - 4), 4);
        require_ok(oif_evicted_file_put(world.evicted, SLOT_BYTES, "x", 1, &slots[i], NULL));
    }
    assert_int_equal(oif_evicted_file_get(world.evicted, "x", 1, slots[0], NULL), OIF_OK);
    slots[0].checksum = slots[1].checksum;
    assert_int_equal(oif_evicted_file_get(world.evicted, "x", 1, slots[0], NULL), OIF_ECORRUPT);
    finish();
}

/* ---- Faults at every call ---- */

static const int reasons[] = {ENOSPC, EIO, EINTR, HALF};

/* Ten things come and go, with two saves. If only signals or short writes happen, nothing may
 * fail. */
static void live_a_little(bool must_succeed)
{
    int failures = 0;
    for (uint32_t i = 0; i < 10; i++) {
        if (i == 3 || i == 7)
            failures += save(NULL) != OIF_OK;
        failures += put(i % 5, i, NULL) != OIF_OK;
        uint32_t old = (i + 3) % 5;
        if (world.now.lines[old].slot.number != OIF_NO_SLOT)
            release(old);
    }
    failures += save(NULL) != OIF_OK;
    assert_true(failures == 0 || !must_succeed);
}

static int try_every_fault(operation failing, int positions, bool from_then_on)
{
    int tried = 0;
    for (int position = 0; position < positions; position++)
        for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
            bool is_harmless = reasons[i] == HALF || (reasons[i] == EINTR && !from_then_on);
            if ((reasons[i] == HALF && failing != WRITE) ||
                ((reasons[i] == EINTR || reasons[i] == HALF) && from_then_on) ||
                (reasons[i] == EINTR && failing == RENAME))
                continue;
            start();
            plan_fault(failing, position, reasons[i], from_then_on);
            live_a_little(is_harmless);
            if (plan.fired == 0)
                fail_msg("%s %d never came", operation_names[failing], position);
            plan_nothing();
            require_whole();
            live_a_little(true);
            require_whole();
            crash();
            require_whole();
            finish();
            tried++;
        }
    return tried;
}

static void whatever_fails_no_saved_state_loses_anything(void **unused)
{
    (void)unused;
    int positions[OPERATIONS], tried = 0;
    start();
    plan_nothing();
    live_a_little(true);
    memcpy(positions, plan.calls, sizeof positions);
    finish();
    /* writes of ten models and three states */
    assert_true(positions[OPEN] == 4 && positions[WRITE] >= 13 && positions[SYNC] == 10 &&
                positions[RENAME] == 3);
    for (operation failing = OPEN; failing < OPERATIONS; failing++)
        for (int from_then_on = 0; failing != READ && from_then_on < 2; from_then_on++)
            tried += try_every_fault(failing, positions[failing], from_then_on);
    print_message("%d faults\n", tried);
}

static void a_state_is_not_saved_when_the_evicted_models_cannot_be_synced(void **unused)
{
    (void)unused;
    oif_error error;
    /* of the state, of the evicted models, of the folder with their names */
    for (int position = 0; position < 3; position++) {
        start();
        require_ok(put(1, 1, NULL));
        plan_fault(SYNC, position, EIO, false);
        assert_int_equal(save(&error), OIF_EWRITE);
        expect_message(error, "keeps the state it had");
        assert_int_equal(access("state", F_OK), -1);
        plan_nothing();
        require_ok(save(&error));
        finish();
    }
}

static void saves_that_fail_do_not_use_up_slots(void **unused)
{
    (void)unused;
    three_models_saved();
    for (uint32_t i = 0; i < 100; i++) {
        if (world.now.lines[i % 5].slot.number != OIF_NO_SLOT)
            release(i % 5);
        require_ok(put(i % 5, i, NULL));
        plan_fault(RENAME, 0, ENOSPC, false);
        assert_int_equal(save(NULL), OIF_EWRITE);
        plan_nothing();
        require_whole();
    }
    assert_true(slots_in_file() <= 8); /* of the saved state, and of now */
    finish();
}

static void a_failure_to_read_is_reported(void **unused)
{
    (void)unused;
    oif_error error;
    three_models_saved();
    plan_fault(READ, 0, EIO, false);
    assert_int_equal(get(0, &world.now.lines[0], &error), OIF_EREAD);
    expect_message(error, "cannot read from the evicted models of 'state'");
    plan_fault(READ, 0, EINTR, false);
    require_ok(get(0, &world.now.lines[0], &error));
    plan_fault(READ, 0, HALF, false);
    require_whole();
    plan_nothing();
    assert_int_equal(truncate("state.evicted", 3 * SLOT_BYTES - 1), 0);
    assert_int_equal(get(2, &world.now.lines[2], &error), OIF_EREAD);
    finish();
}

static char folder[] = "/tmp/oif-evicted-XXXXXX";

static int enter_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **unused)
{
    (void)unused;
    /* fails if a test has left something */
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_there_until_no_saved_state_knows_of_it),
        cmocka_unit_test(without_saves_slots_are_used_again_at_once),
        cmocka_unit_test(many_slots_are_fine),
        cmocka_unit_test(the_file_is_made_when_it_is_needed_and_read_by_whom_the_state_is),
        cmocka_unit_test(a_user_that_was_detached_is_not_touched),
        cmocka_unit_test(a_file_that_is_cut_off_is_refused),
        cmocka_unit_test(a_slot_that_two_models_have_or_that_is_too_small_is_refused),
        cmocka_unit_test(every_flipped_byte_is_found),
        cmocka_unit_test(bytes_that_end_with_their_own_checksum_are_told_apart),
        cmocka_unit_test(whatever_fails_no_saved_state_loses_anything),
        cmocka_unit_test(a_state_is_not_saved_when_the_evicted_models_cannot_be_synced),
        cmocka_unit_test(saves_that_fail_do_not_use_up_slots),
        cmocka_unit_test(a_failure_to_read_is_reported),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
