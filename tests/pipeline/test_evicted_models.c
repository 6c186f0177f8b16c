/* evicted=keep: a key that comes back resumes as if it had never lost its model, across saves and
 * crashes. What the evicted models file cannot return is lost and counted, never used. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "../base/sanitized.h"
#include "../snapshot/snapshots.h"
#include "pipelines.h"

#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 2 };

/* Thousands of saves; tests/snapshot checks that they are synced. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

static oif_state_file *open_state(void)
{
    oif_state_file *file = NULL;
    oif_error error;
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    return file;
}

static oif_pipeline *new_keeping(oif_state_file *file, const char *name, const char *settings,
                                 const char *options)
{
    oif_error error;
    oif_pipeline *pipeline = new_pipeline(name, settings, COLUMNS, options);
    require_ok_or(oif_state_file_keep_evicted(file, pipeline, &error), error);
    return pipeline;
}

static void save(oif_state_file *file, const oif_pipeline *pipeline)
{
    oif_error error;
    require_ok_or(oif_state_file_save_pipeline(file, pipeline, &error), error);
}

static oif_pipeline *load(oif_state_file *file)
{
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require_ok_or(oif_state_file_load_pipeline(file, &pipeline, &error), error);
    return pipeline;
}

static void require_none_lost(const oif_pipeline *pipeline)
{
    const char *why;
    if (oif_pipeline_lost(pipeline, &why) != 0)
        fail_msg("%" PRIu64 " models are lost: %s", oif_pipeline_lost(pipeline, NULL), why);
}

static void remove_files(void)
{
    unlink("state");
    unlink("state.evicted");
}

/* ---- As if nothing was evicted ---- */

/* One stream twice: through a pipeline without limits, and through one that keeps what it evicts
 * and is saved, loaded and crashes now and then. */
typedef struct race {
    oif_pipeline *free, *tight, *free_then; /* free_then: `free` when `tight` was saved */
    oif_state_file *file;
    dice from;
    uint32_t keys, saves, loads, crashes;
} race;

static void run_rows(race *r, uint32_t rows)
{
    double row[COLUMNS];
    oif_attribution why[2][COLUMNS];
    for (uint32_t i = 0; i < rows; i++) {
        const char *key = key_text(dice_below(&r->from, r->keys));
        draw_row(&r->from, row, COLUMNS);
        row[0] += dice_chance(&r->from, 0.01) ? 30 : 0;
        row[1] = dice_chance(&r->from, 0.02) ? NAN : row[1];
        oif_result a = process_key(r->free, key, row), b = process_key(r->tight, key, row);
        require_same_result(&a, &b);
        if (i % 16)
            continue;
        oif_pipeline_explain(r->free, why[0]);
        oif_pipeline_explain(r->tight, why[1]);
        for (int j = 0; j < COLUMNS; j++)
            assert_true(why[0][j].share == why[1][j].share &&
                        why[0][j].direction == why[1][j].direction);
    }
}

static void save_both(race *r)
{
    save(r->file, r->tight);
    oif_pipeline_free(r->free_then);
    require_ok(oif_pipeline_clone(r->free, &r->free_then, NULL));
    r->saves++;
}

static void load_again(race *r)
{
    oif_pipeline_free(r->tight);
    oif_state_file_close(r->file);
    r->file = open_state();
    r->tight = load(r->file);
    r->loads++;
}

/* Returns to what was saved. The rows since then are different now, and get what they would have
 * got. */
static void crash(race *r)
{
    load_again(r);
    oif_pipeline_free(r->free);
    require_ok(oif_pipeline_clone(r->free_then, &r->free, NULL));
    r->crashes++;
}

static void require_counts(const race *r)
{
    oif_error error;
    require_none_lost(r->tight);
    require_ok_or(oif_pipeline_check(r->tight, &error), error);
    assert_int_equal(oif_pipeline_keys(r->tight) + oif_pipeline_kept(r->tight),
                     oif_pipeline_keys(r->free));
    assert_int_equal(oif_pipeline_rows(r->tight), oif_pipeline_rows(r->free));
}

static void race_to_the_end(const char *name, const char *settings, const char *options,
                            uint32_t keys, uint32_t rounds, uint32_t rows_a_round)
{
    race r = {.file = open_state(), .from = {keys}, .keys = keys};
    char tight_options[200];
    snprintf(tight_options, sizeof tight_options, "%s max_keys=3 evicted=keep", options);
    r.free = new_pipeline(name, settings, COLUMNS, options);
    r.tight = new_keeping(r.file, name, settings, tight_options);
    save_both(&r);
    for (uint32_t i = 0; i < rounds; i++) {
        run_rows(&r, dice_below(&r.from, rows_a_round));
        require_counts(&r);
        uint32_t event = dice_below(&r.from, 4);
        if (event < 3)
            save_both(&r);
        if (event == 1)
            load_again(&r);
        if (event == 3)
            crash(&r);
    }
    assert_true(r.saves > 2 && r.loads > r.crashes && r.crashes > 0);
    assert_true(oif_pipeline_evictions(r.tight) > keys);
    oif_pipeline_free(r.free);
    oif_pipeline_free(r.free_then);
    oif_pipeline_free(r.tight);
    oif_state_file_close(r.file);
    remove_files();
}

static void a_key_that_comes_back_goes_on_as_if_it_had_never_gone(void **unused)
{
    (void)unused;
    static const char *const options[] = {
        "alert_rate=0.02", "shingle=3 learn=normal alert_rate=0.02", "learn=decay alert_rate=0.05"};
    for (size_t i = 0; i < SMALL_DETECTORS; i++)
        race_to_the_end(small_detectors[i].name, small_detectors[i].settings, options[i % 3], 20,
                        24, SANITIZED ? 60 : 200);
}

static void thousands_of_keys_come_and_go(void **unused)
{
    (void)unused;
    const uint32_t rows = SANITIZED ? 150 : 700, keys = 3 * rows;
    race_to_the_end("loda", "num_projections=2 num_bins=4 window_size=8", "alert_rate=0.1", keys,
                    20, rows);
    race_to_the_end("online-iforest", "num_trees=2 window_size=16 max_leaf_samples=2",
                    "alert_rate=0.1", keys, 20, rows);
}

static void a_pipeline_as_it_is_made_is_kept_as_well(void **unused)
{
    (void)unused;
    for (size_t i = 0; oif_detector_info_at(i); i++)
        race_to_the_end(oif_detector_info_at(i)->table.name, "", "", 6, 16, 20);
}

/* ---- Which key has which model ---- */

/* Keys 0 to 4 in rotation, so 3 of them are evicted. */
static oif_pipeline *five_keys(oif_state_file *file, uint32_t rows)
{
    oif_pipeline *pipeline = new_keeping(file, "loda", "num_projections=2 num_bins=3 window_size=4",
                                         "alert_rate=0.1 max_keys=2 evicted=keep");
    dice from = {3};
    double row[COLUMNS];
    for (uint32_t i = 0; i < rows; i++) {
        draw_row(&from, row, COLUMNS);
        process_key(pipeline, key_text(i % 5), row);
    }
    return pipeline;
}

typedef struct bytes {
    unsigned char *start;
    size_t count;
} bytes;

static bytes read_whole(const char *path)
{
    bytes b = {malloc(1 << 20), 0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    b.count = fread(b.start, 1, 1 << 20, file);
    fclose(file);
    return b;
}

/* The distance from one model to the next; most are packed and shorter. */
static size_t slot_bytes_of(bytes evicted)
{
    for (size_t at = 1; at + 8 <= evicted.count; at++)
        if (memcmp(evicted.start + at, evicted.start, 8) == 0)
            return at;
    fail_msg("there is only one slot");
    return 0;
}

static size_t slots_in_file(void)
{
    bytes evicted = read_whole("state.evicted");
    const size_t slot_bytes = slot_bytes_of(evicted);
    free(evicted.start);
    return (evicted.count + slot_bytes - 1) / slot_bytes; /* the last model may be packed */
}

static void the_file_has_at_most_two_slots_for_a_key(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = five_keys(file, 5);
    assert_int_equal(slots_in_file(), 3);
    double row[COLUMNS] = {1, 2};
    for (uint32_t i = 0; i < 500; i++) {
        process_key(pipeline, key_text(i % 5), row);
        if (i % 17 == 0)
            save(file, pipeline);
    }
    if (slots_in_file() > 8)
        fail_msg("%zu slots for 5 keys", slots_in_file());
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    remove_files();
}

/* A key of five_keys whose model is in the file. */
static const char *evicted_key(const oif_pipeline *pipeline)
{
    oif_key_info info = {.is_evicted = false};
    for (uint32_t i = 0; i < 5; i++)
        if (oif_pipeline_key(pipeline, key_text(i), strlen(key_text(i)), &info) && info.is_evicted)
            return key_text(i);
    fail_msg("no key was evicted");
    return NULL;
}

static void without_a_state_file_what_is_evicted_is_counted_as_lost(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *kept = five_keys(file, 50), *clone = NULL, *read_only = NULL;
    const char *why;
    double row[COLUMNS] = {1, 2};
    assert_int_equal(oif_pipeline_kept(kept), 3);
    require_ok(oif_pipeline_clone(kept, &clone, NULL));
    assert_int_equal(oif_pipeline_kept(clone), 0);
    process_key(clone, "new", row);
    assert_int_equal(oif_pipeline_lost(clone, &why), 1);
    assert_string_equal(why, "evicted=keep needs a state file, and there is none");

    save(file, kept);
    require_ok(oif_pipeline_load_file("state", &read_only, NULL));
    assert_int_equal(oif_pipeline_kept(read_only), 3);
    /* its model cannot be read, and that of the evicted key cannot be written */
    process_key(read_only, evicted_key(read_only), row);
    assert_int_equal(oif_pipeline_lost(read_only, NULL), 2);
    assert_int_equal(oif_pipeline_kept(read_only), 2);
    require_ok(oif_pipeline_check(read_only, NULL));

    oif_state_file_close(file); /* too early */
    process_key(kept, "new", row);
    assert_int_equal(oif_pipeline_lost(kept, NULL), 1);
    oif_pipeline_free(kept);
    oif_pipeline_free(clone);
    oif_pipeline_free(read_only);
    remove_files();
}

static void a_state_file_keeps_the_models_of_its_last_pipeline(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *first = five_keys(file, 50), *second;
    save(file, first);
    second = load(file);
    double row[COLUMNS] = {1, 2};
    process_key(second, "new", row);
    require_none_lost(second);
    process_key(first, "new", row);
    assert_int_equal(oif_pipeline_lost(first, NULL), 1);
    oif_pipeline_free(first);
    process_key(second, "newer", row);
    assert_int_equal(oif_pipeline_detector(second, key_text(0), 6), NULL);
    oif_pipeline_free(second);
    oif_state_file_close(file);
    remove_files();
}

static void to_keep_evicted_models_twice_costs_no_saved_model(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = five_keys(file, 50);
    double row[COLUMNS] = {1, 2};
    save(file, pipeline);
    for (uint32_t i = 0; i < 20; i++) { /* models of the saved state are in memory */
        process_key(pipeline, key_text(i % 7), row);
        require_ok(oif_state_file_keep_evicted(file, pipeline, NULL));
    }
    oif_pipeline_free(pipeline); /* not saved */
    pipeline = load(file);
    for (uint32_t i = 0; i < 5; i++)
        process_key(pipeline, key_text(i), row);
    require_none_lost(pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    remove_files();
}

/* Loads, and gives all keys a row: everything that was saved is there. */
static void require_five_keys_whole(oif_state_file *file)
{
    oif_pipeline *pipeline = load(file);
    double row[COLUMNS] = {1, 2};
    assert_int_equal(oif_pipeline_kept(pipeline), 3);
    for (uint32_t i = 0; i < 5; i++)
        process_key(pipeline, key_text(i), row);
    require_none_lost(pipeline);
    oif_pipeline_free(pipeline);
}

static void a_new_pipeline_that_was_not_saved_costs_no_saved_model(void **unused)
{
    (void)unused;
    static const char *const windows[] = {"num_projections=2 num_bins=3 window_size=4",
                                          "num_projections=1 num_bins=2 window_size=2",
                                          "num_projections=3 num_bins=5 window_size=9"};
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = five_keys(file, 50);
    double row[COLUMNS] = {3, 4};
    save(file, pipeline);
    oif_pipeline_free(pipeline);
    /* with slots of other sizes too */
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        oif_state_file_close(file);
        file = open_state();
        pipeline = new_keeping(file, "loda", windows[i], "max_keys=1 evicted=keep");
        for (uint32_t j = 0; j < 30; j++)
            process_key(pipeline, key_text(j % 6), row);
        require_none_lost(pipeline);
        oif_pipeline_free(pipeline);
        require_five_keys_whole(file);
    }
    oif_state_file_close(file);
    remove_files();
}

/* The state on disk is not what the pipeline has become since it was saved. */
static void a_pipeline_that_comes_back_to_its_file_costs_no_saved_model(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = five_keys(file, 50);
    double row[COLUMNS] = {3, 4};
    save(file, pipeline);
    for (uint32_t i = 0; i < 20; i++) {
        process_key(pipeline, key_text(i % 5), row);
        oif_state_file_close(file);
        file = open_state();
        require_ok(oif_state_file_keep_evicted(file, pipeline, NULL));
    }
    require_none_lost(pipeline);
    oif_pipeline_free(pipeline); /* not saved */
    require_five_keys_whole(file);
    oif_state_file_close(file);
    remove_files();
}

/* Once the new one is saved, nothing needs the models that were evicted before it. */
static void a_new_pipeline_that_is_saved_has_the_file_for_itself(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline_free(five_keys(file, 50)); /* never saved: not used by any state */
    oif_state_file_close(file);
    file = open_state();
    oif_pipeline *pipeline = five_keys(file, 50);
    size_t alone = slots_in_file();
    save(file, pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    file = open_state();
    pipeline = five_keys(file, 50);
    assert_int_equal(slots_in_file(), 2 * alone);
    for (uint32_t i = 0; i < 50; i++) {
        save(file, pipeline);
        process_key(pipeline, key_text(i % 5), (double[]){1, 2});
    }
    assert_int_equal(slots_in_file(), 2 * alone);
    require_none_lost(pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    remove_files();
}

static void a_snapshot_elsewhere_has_the_models_in_memory(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state(), *other = NULL;
    oif_pipeline *pipeline = five_keys(file, 50), *loaded;
    require_ok(oif_state_file_open("other", &other, NULL));
    save(other, pipeline);
    loaded = load(other);
    assert_int_equal(oif_pipeline_keys(loaded), 2);
    assert_int_equal(oif_pipeline_kept(loaded), 0);
    oif_pipeline_free(loaded);
    oif_state_file_close(other);
    unlink("other");
    save(file, pipeline);
    oif_pipeline_free(pipeline);
    /* not held, then held */
    require_ok(oif_pipeline_load_file("state", &loaded, NULL));
    require_ok(oif_state_file_keep_evicted(file, loaded, NULL));
    double row[COLUMNS] = {1, 2};
    process_key(loaded, key_text(0), row);
    require_none_lost(loaded);
    oif_pipeline_free(loaded);
    oif_state_file_close(file);
    remove_files();
}

static void a_pipeline_that_forgets_has_no_evicted_models_file(void **unused)
{
    (void)unused;
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = new_pipeline("hst", "", COLUMNS, "max_keys=1");
    oif_error error;
    double row[COLUMNS] = {1, 2};
    assert_int_equal(oif_state_file_keep_evicted(file, pipeline, &error), OIF_EPARAM);
    process_key(pipeline, "a", row);
    for (int i = 0; i < 1000; i++) /* until a is overdue */
        process_key(pipeline, "b", row);
    save(file, pipeline);
    assert_int_equal(oif_pipeline_evictions(pipeline), 1);
    require_none_lost(pipeline);
    assert_int_equal(access("state.evicted", F_OK), -1);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    remove_files();
}

/* ---- Damage ---- */

enum {
    STRIDE = 151 * STEP_IF_SANITIZED(2)
}; /* of the damaged bytes; the tests of the files cover all */

static void write_whole(const char *path, bytes b)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(b.start, 1, b.count, file), b.count);
    assert_int_equal(fclose(file), 0);
}

/* Repairs all checksums of a snapshot, as far as sections are where they claim to be. */
static void repair_all(snapshot s)
{
    for (size_t start = 0; start + OIF_SECTION_BYTES <= s.count;) {
        repair(s, start);
        start += start == 0 ? HEADER_BYTES
                            : OIF_SECTION_BYTES +
                                  (size_t)oif_bytes_load(s.bytes + start + LENGTH_AT, 8) % s.count;
    }
}

/* A state and its evicted models, as files and as bytes. */
static void make_state(bytes *state, bytes *evicted)
{
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = five_keys(file, 50);
    save(file, pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    *state = read_whole("state");
    *evicted = read_whole("state.evicted");
}

/* Loads, and gives each key a row; returns how many models were lost, or -1 if loading was
 * refused. */
static int lost_by_all_keys(oif_result results[5])
{
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = NULL, *copy = NULL;
    oif_error error = {0};
    oif_status status = oif_state_file_load_pipeline(file, &pipeline, &error);
    int lost = -1;
    if (status == OIF_OK) {
        uint64_t before = oif_pipeline_lost(pipeline, NULL);
        for (uint32_t i = 0; i < 5; i++)
            results[i] = process_key(pipeline, key_text(i), (double[]){1, 2});
        lost = (int)(oif_pipeline_lost(pipeline, NULL) - before);
        require_ok_or(oif_pipeline_check(pipeline, &error), error);
        require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
        save(file, pipeline);
    } else if (error.status != status || pipeline || !strstr(error.message, "state")) {
        fail_msg("%s, %s", oif_status_text(status), error.message);
    }
    oif_pipeline_free(pipeline);
    oif_pipeline_free(copy);
    oif_state_file_close(file);
    return lost;
}

/* Finds the start of the section with the slots. */
static size_t find_evicted_section(bytes state)
{
    for (size_t start = HEADER_BYTES; start + OIF_SECTION_BYTES <= state.count;
         start += OIF_SECTION_BYTES + (size_t)oif_bytes_load(state.start + start + LENGTH_AT, 8))
        if (memcmp(state.start + start, "SHLF", 4) == 0)
            return start;
    fail_msg("the state has no section SHLF");
    return 0;
}

/* Five keys, two of them in memory, and a slot that was needed before another one became free. */
enum { SLOTS = 4 };

/* The entry of the state for the key whose model is in the slot: slot, bytes, checksum, bytes of
 * the key, key. NULL: there is none. */
enum { BYTES_AT = 4, CHECKSUM_AT = 12, KEY_BYTES_AT = 16, KEY_AT = 20 };

static unsigned char *line_of(bytes state, uint32_t slot)
{
    size_t section = find_evicted_section(state);
    unsigned char *line = state.start + section + PAYLOAD_AT + 16;
    for (uint64_t left = oif_bytes_load(line - 8, 8); left > 0; left--) {
        if (oif_bytes_load(line, 4) == slot)
            return line;
        line += KEY_AT + oif_bytes_load(line + KEY_BYTES_AT, 4);
    }
    return NULL;
}

static size_t model_bytes(bytes state, uint32_t slot)
{
    const unsigned char *line = line_of(state, slot);
    return line ? (size_t)oif_bytes_load(line + BYTES_AT, 8) : 0;
}

/* The end of the last model that the state needs. */
static size_t needed_bytes(bytes state, size_t slot_bytes)
{
    size_t needed = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (line_of(state, slot))
            needed = slot * slot_bytes + model_bytes(state, slot);
    return needed;
}

static oif_result result_of_a_new_key(void)
{
    oif_pipeline *fresh = new_pipeline("loda", "num_projections=2 num_bins=3 window_size=4",
                                       COLUMNS, "alert_rate=0.1 max_keys=2");
    oif_result result = process_key(fresh, "a", (double[]){1, 2});
    oif_pipeline_free(fresh);
    return result;
}

static void a_damaged_model_is_lost_and_the_others_are_not(void **unused)
{
    (void)unused;
    bytes state, evicted;
    oif_result whole[5], results[5], fresh = result_of_a_new_key();
    make_state(&state, &evicted);
    assert_int_equal(lost_by_all_keys(whole), 0);
    const size_t slot_bytes = slot_bytes_of(evicted);
    assert_int_equal((evicted.count + slot_bytes - 1) / slot_bytes, SLOTS);
    for (size_t at = 0; at < evicted.count; at += STRIDE) {
        evicted.start[at] ^= (unsigned char)(1 << at % 8);
        write_whole("state", state);
        write_whole("state.evicted", evicted);
        evicted.start[at] ^= (unsigned char)(1 << at % 8);
        bool is_used = at % slot_bytes < model_bytes(state, (uint32_t)(at / slot_bytes));
        assert_int_equal(lost_by_all_keys(results), is_used);
        uint32_t changed = 0;
        for (uint32_t i = 0; i < 5; i++) {
            bool is_whole = memcmp(&results[i].score, &whole[i].score, sizeof fresh.score) == 0 &&
                            results[i].severity == whole[i].severity &&
                            results[i].ready == whole[i].ready;
            if (!is_whole)
                require_same_result(&results[i], &fresh);
            changed += !is_whole;
        }
        assert_int_equal(changed, is_used);
    }
    free(state.start);
    free(evicted.start);
    remove_files();
}

static void a_state_or_its_evicted_models_cut_off_are_refused(void **unused)
{
    (void)unused;
    bytes state, evicted;
    oif_result results[5];
    make_state(&state, &evicted);
    const size_t needed = needed_bytes(state, slot_bytes_of(evicted));
    for (size_t cut = 1; cut <= needed; cut += STRIDE) {
        const size_t count = needed - cut;
        write_whole("state.evicted", (bytes){evicted.start, count});
        assert_int_equal(lost_by_all_keys(results), -1);
    }
    unlink("state.evicted");
    assert_int_equal(lost_by_all_keys(results), -1);
    write_whole("state.evicted", evicted);
    for (size_t count = 0; count < state.count; count += STRIDE) {
        write_whole("state", (bytes){state.start, count});
        assert_int_equal(lost_by_all_keys(results), -1);
    }
    write_whole("state", state);
    assert_int_equal(lost_by_all_keys(results), 0);
    free(state.start);
    free(evicted.start);
    remove_files();
}

static void slots_that_no_checksum_shows_to_be_wrong_are_refused_or_harmless(void **unused)
{
    (void)unused;
    bytes state, evicted, hurt;
    oif_result results[5];
    dice from = {5};
    uint32_t refused = 0, lost = 0, trials = 300;
    make_state(&state, &evicted);
    size_t section = find_evicted_section(state);
    uint32_t length = (uint32_t)oif_bytes_load(state.start + section + LENGTH_AT, 8);
    hurt = (bytes){malloc(state.count), state.count};
    for (uint32_t i = 0; i < trials; i++) {
        memcpy(hurt.start, state.start, state.count);
        for (uint32_t wounds = 1 + dice_below(&from, 3); wounds > 0; wounds--)
            hurt.start[section + PAYLOAD_AT + dice_below(&from, length)] =
                dice_chance(&from, 0.5) ? (unsigned char)dice_bits(&from)
                                        : (unsigned char)dice_below(&from, 4);
        repair((snapshot){hurt.start, hurt.count}, section);
        write_whole("state", hurt);
        write_whole("state.evicted", evicted);
        int outcome = lost_by_all_keys(results);
        refused += outcome < 0;
        lost += outcome > 0;
    }
    print_message("%u refused, %u with models lost, %u as they were\n", refused, lost,
                  trials - refused - lost);
    assert_true(refused > trials / 10 && lost > trials / 10);
    free(hurt.start);
    free(state.start);
    free(evicted.start);
    remove_files();
}

/* Written by the first version with this format, and never again. */
static bytes golden_state, golden_evicted;

static void evicted_models_of_the_first_version_come_back(void **unused)
{
    (void)unused;
    bytes state, evicted;
    oif_result expected[5], results[5];
    make_state(&state, &evicted);
    assert_int_equal(lost_by_all_keys(expected), 0);
    write_whole("state", golden_state);
    write_whole("state.evicted", golden_evicted);
    assert_int_equal(lost_by_all_keys(results), 0);
    for (uint32_t i = 0; i < 5; i++)
        require_same_result(&results[i], &expected[i]);
    free(state.start);
    free(evicted.start);
    remove_files();
}

/* What a key of three columns takes on the disk after 100 rows. */
static void evicted_models_are_packed(void **unused)
{
    (void)unused;
    enum { KEYS = 50, WIDE = 3, ROWS = 100, MOST_BYTES = 16 << 10 };
    oif_error error;
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", WIDE, "max_keys=2 evicted=keep");
    require_ok_or(oif_state_file_keep_evicted(file, pipeline, &error), error);
    dice from = {8};
    double row[WIDE];
    for (uint32_t key = 0; key < KEYS; key++)
        for (uint32_t i = 0; i < ROWS; i++) {
            draw_row(&from, row, WIDE);
            process_key(pipeline, key_text(key), row);
        }
    struct stat standing;
    save(file, pipeline);
    assert_int_equal(stat("state.evicted", &standing), 0);
    const size_t kept = oif_pipeline_kept(pipeline);
    print_message("%zu bytes of a key on the disk, %zu of its slot\n",
                  (size_t)standing.st_blocks * 512 / kept, (size_t)standing.st_size / kept);
    assert_true(kept >= KEYS / 2 && (size_t)standing.st_blocks * 512 <= kept * MOST_BYTES);
    require_none_lost(pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    remove_files();
}

/* Evicted models of another day, complete, beside this state: they are not the models that the
 * state refers to. */
static void an_older_model_is_not_taken_for_the_newer_one(void **unused)
{
    (void)unused;
    bytes old_state, old_evicted;
    oif_result results[5];
    make_state(&old_state, &old_evicted);
    assert_int_equal(lost_by_all_keys(results), 0); /* and saves: all keys have seen one row more */
    oif_state_file *file = open_state();
    oif_pipeline *pipeline = load(file);
    for (uint32_t i = 0; i < 40; i++) /* until all slots of the old day are reused */
        process_key(pipeline, key_text(i % 5), (double[]){i, 2});
    save(file, pipeline);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    write_whole("state", old_state);
    int lost = lost_by_all_keys(results);
    if (lost < 1 || lost > 3)
        fail_msg("%d of 3 models were lost", lost);
    free(old_state.start);
    free(old_evicted.start);
    remove_files();
}

static void a_key_that_stands_twice_is_refused(void **unused)
{
    (void)unused;
    bytes state, evicted;
    oif_result results[5];
    make_state(&state, &evicted);
    size_t section = find_evicted_section(state);
    unsigned char *digit = state.start + section + PAYLOAD_AT + 16 + KEY_AT + strlen("host-"),
                  was = *digit;
    for (char other = '0'; other < '5'; other++) { /* two are in memory, three evicted */
        *digit = (unsigned char)other;
        repair((snapshot){state.start, state.count}, section);
        write_whole("state", state);
        write_whole("state.evicted", evicted);
        assert_int_equal(lost_by_all_keys(results), (unsigned char)other == was ? 0 : -1);
    }
    free(state.start);
    free(evicted.start);
    remove_files();
}

/* Damages an evicted model and adjusts its own checksums and the one in the state. */
static void damage_a_model(dice *from, bytes state, size_t section, bytes evicted)
{
    oif_checksum_table table;
    oif_checksum_table_init_castagnoli(&table);
    uint32_t slot = line_of(state, 0) ? 0 : 1;
    unsigned char *line = line_of(state, slot),
                  *model = evicted.start + slot * slot_bytes_of(evicted);
    size_t key_bytes = (size_t)oif_bytes_load(line + KEY_BYTES_AT, 4),
           count = model_bytes(state, slot);
    for (uint32_t wounds = 1 + dice_below(from, 3); wounds > 0; wounds--)
        model[dice_below(from, (uint32_t)count)] =
            dice_chance(from, 0.3) ? 0xFF : (unsigned char)dice_bits(from);
    repair_all((snapshot){model, count});
    uint32_t checksum = oif_checksum(&table, 0, line + KEY_AT, key_bytes);
    oif_bytes_store(line + CHECKSUM_AT, oif_checksum(&table, checksum, model, count), 4);
    repair((snapshot){state.start, state.count}, section);
}

static void a_model_that_no_checksum_shows_to_be_damaged_is_lost_or_harmless(void **unused)
{
    (void)unused;
    bytes state, evicted;
    oif_result results[5];
    dice from = {6};
    uint32_t lost = 0, trials = 500;
    make_state(&state, &evicted);
    size_t section = find_evicted_section(state);
    bytes hurt_state = {malloc(state.count), state.count},
          hurt_evicted = {malloc(evicted.count), evicted.count};
    for (uint32_t i = 0; i < trials; i++) {
        memcpy(hurt_state.start, state.start, state.count);
        memcpy(hurt_evicted.start, evicted.start, evicted.count);
        damage_a_model(&from, hurt_state, section, hurt_evicted);
        write_whole("state", hurt_state);
        write_whole("state.evicted", hurt_evicted);
        int outcome = lost_by_all_keys(results);
        assert_true(outcome == 0 || outcome == 1);
        lost += (uint32_t)outcome;
    }
    print_message("%u of %u damaged models were lost\n", lost, trials);
    assert_true(lost > trials / 50 && lost < trials * 9 / 10); /* both outcomes occur */
    free(hurt_state.start);
    free(hurt_evicted.start);
    free(state.start);
    free(evicted.start);
    remove_files();
}

/* thousands of files; /tmp if there is no such folder */
static char folder[] = "/dev/shm/oif-evicted-XXXXXX";

static int enter_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/oif-evicted-XXXXXX");
        if (!mkdtemp(folder))
            return -1;
    }
    return chdir(folder);
}

static int leave_folder(void **unused)
{
    (void)unused;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_comes_back_goes_on_as_if_it_had_never_gone),
        cmocka_unit_test(thousands_of_keys_come_and_go),
        cmocka_unit_test(a_pipeline_as_it_is_made_is_kept_as_well),
        cmocka_unit_test(the_file_has_at_most_two_slots_for_a_key),
        cmocka_unit_test(without_a_state_file_what_is_evicted_is_counted_as_lost),
        cmocka_unit_test(a_state_file_keeps_the_models_of_its_last_pipeline),
        cmocka_unit_test(to_keep_evicted_models_twice_costs_no_saved_model),
        cmocka_unit_test(a_new_pipeline_that_was_not_saved_costs_no_saved_model),
        cmocka_unit_test(a_pipeline_that_comes_back_to_its_file_costs_no_saved_model),
        cmocka_unit_test(a_new_pipeline_that_is_saved_has_the_file_for_itself),
        cmocka_unit_test(a_snapshot_elsewhere_has_the_models_in_memory),
        cmocka_unit_test(a_pipeline_that_forgets_has_no_evicted_models_file),
        cmocka_unit_test(a_damaged_model_is_lost_and_the_others_are_not),
        cmocka_unit_test(a_state_or_its_evicted_models_cut_off_are_refused),
        cmocka_unit_test(slots_that_no_checksum_shows_to_be_wrong_are_refused_or_harmless),
        cmocka_unit_test(evicted_models_of_the_first_version_come_back),
        cmocka_unit_test(evicted_models_are_packed),
        cmocka_unit_test(an_older_model_is_not_taken_for_the_newer_one),
        cmocka_unit_test(a_key_that_stands_twice_is_refused),
        cmocka_unit_test(a_model_that_no_checksum_shows_to_be_damaged_is_lost_or_harmless),
    };
    golden_state = read_whole("golden/snapshots/format-1/pipeline_evicted.state");
    golden_evicted = read_whole("golden/snapshots/format-1/pipeline_evicted.evicted");
    const int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    free(golden_state.start);
    free(golden_evicted.start);
    return failed;
}
