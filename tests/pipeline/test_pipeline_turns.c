/* A snapshot that is written in turns with rows is that of its start, byte for byte. The lock is
 * released between two slices: there the test itself processes rows, so no thread is needed. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "pipelines.h"

#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 2, KEYS = 60 };

static char folder[] = "/tmp/oif_turns_XXXXXX";

typedef struct content {
    char *bytes;
    size_t count;
} content;

static content content_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    content c = {malloc(1 << 24), 0};
    assert_non_null(c.bytes);
    c.count = fread(c.bytes, 1, 1 << 24, file);
    fclose(file);
    return c;
}

/* What happens while the lock is released, and how often that is. */
typedef struct others {
    oif_pipeline *pipeline;
    dice from;
    void (*act)(struct others *o);
    size_t turns;
    bool is_given, must_end;
} others;

static bool give(void *context)
{
    others *o = context;
    assert_false(o->is_given);
    o->is_given = true;
    o->turns++;
    o->act(o);
    return !o->must_end;
}

static void take(void *context)
{
    others *o = context;
    assert_true(o->is_given);
    o->is_given = false;
}

static void fill(oif_pipeline *pipeline, dice *from, uint32_t rows)
{
    double row[COLUMNS];
    for (uint32_t i = 0; i < rows; i++) {
        draw_row(from, row, COLUMNS);
        process_key(pipeline, key_text((uint32_t)(dice_bits(from) % KEYS)), row);
    }
}

static void do_nothing(others *o)
{
    (void)o;
}

static void process_rows(others *o)
{
    fill(o->pipeline, &o->from, 7);
}

static void process_rows_of_new_keys(others *o)
{
    double row[COLUMNS];
    draw_row(&o->from, row, COLUMNS);
    process_key(o->pipeline, key_text(1000 + (uint32_t)o->turns), row);
    process_rows(o);
}

static void remove_and_add(others *o)
{
    double row[COLUMNS];
    char key[20];
    snprintf(key, sizeof key, "%s", key_text((uint32_t)(dice_bits(&o->from) % KEYS)));
    OIF_IGNORE(oif_pipeline_remove_key(o->pipeline, key, strlen(key), NULL));
    draw_row(&o->from, row, COLUMNS);
    process_key(o->pipeline, key, row);
}

static void change_options(others *o)
{
    oif_error error;
    require_ok_or(
        oif_pipeline_change_option(o->pipeline, "silence", 3 + (double)(o->turns % 5), &error),
        error);
    process_rows(o);
}

static void save_plainly(const oif_pipeline *pipeline, content *expected)
{
    oif_error error;
    require_ok_or(oif_pipeline_save_file(pipeline, "plain", &error), error);
    *expected = content_of("plain");
    unlink("plain");
}

static void require_saved_as_at_the_start(const char *options, uint32_t rows,
                                          void (*act)(others *o), size_t least_turns)
{
    others o = {.pipeline =
                    new_pipeline("rolling-iforest", "num_trees=9 window_size=64 sample_size=32",
                                 COLUMNS, options),
                .from = (dice){7},
                .act = act};
    const oif_turns turns = {give, take, &o};
    oif_state_file *file = NULL;
    oif_error error;
    content expected;
    fill(o.pipeline, &o.from, rows);
    save_plainly(o.pipeline, &expected);
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    require_ok_or(oif_state_file_save_pipeline_in_turns(file, o.pipeline, &turns, &error), error);
    assert_false(o.is_given);
    assert_in_range(o.turns, least_turns, 1000);
    content saved = content_of("state");
    if (saved.count != expected.count || memcmp(saved.bytes, expected.bytes, saved.count) != 0)
        fail_msg("%s, %u rows: %zu bytes were saved, %zu at the start", options, rows, saved.count,
                 expected.count);
    free(saved.bytes);

    /* the pipeline itself is as good as before: a plain save and one in turns agree again */
    fill(o.pipeline, &o.from, 50);
    free(expected.bytes);
    save_plainly(o.pipeline, &expected);
    o.act = do_nothing;
    require_ok_or(oif_state_file_save_pipeline_in_turns(file, o.pipeline, &turns, &error), error);
    saved = content_of("state");
    assert_int_equal(saved.count, expected.count);
    assert_memory_equal(saved.bytes, expected.bytes, saved.count);
    free(saved.bytes);
    free(expected.bytes);
    oif_state_file_close(file);
    oif_pipeline_free(o.pipeline);
    unlink("state");
}

static void a_snapshot_in_turns_is_that_of_its_start(void **unused)
{
    (void)unused;
    require_saved_as_at_the_start("", 0, do_nothing, 1);
    require_saved_as_at_the_start("", 3000, do_nothing, KEYS / 16);
    require_saved_as_at_the_start("", 3000, process_rows, KEYS / 16);
    require_saved_as_at_the_start("", 3000, process_rows_of_new_keys, KEYS / 16);
    require_saved_as_at_the_start("max_keys=60", 3000, process_rows_of_new_keys, KEYS / 16);
    require_saved_as_at_the_start("", 3000, remove_and_add, KEYS / 16);
    require_saved_as_at_the_start("", 3000, change_options, KEYS / 16);
    require_saved_as_at_the_start("alerts=5", 3000, process_rows, KEYS / 16);
    require_saved_as_at_the_start("memory_limit=1500000", 3000, process_rows,
                                  1); /* packed models */
}

static void save_again(others *o)
{
    const oif_turns turns = {give, take, o};
    oif_state_file *file = NULL;
    oif_error error;
    require_ok_or(oif_state_file_open("other", &file, &error), error);
    assert_int_equal(oif_state_file_save_pipeline_in_turns(file, o->pipeline, &turns, &error),
                     OIF_EBUSY);
    oif_state_file_close(file);
}

static void a_pipeline_is_saved_in_turns_once_at_a_time(void **unused)
{
    (void)unused;
    require_saved_as_at_the_start("", 300, save_again, 1);
}

static void a_save_that_fails_leaves_the_lock_taken_and_the_file_as_it_was(void **unused)
{
    (void)unused;
    others o = {.pipeline = new_pipeline("rolling-iforest", "num_trees=3", COLUMNS, ""),
                .from = (dice){7},
                .act = process_rows};
    const oif_turns turns = {give, take, &o};
    oif_state_file *file = NULL;
    oif_error error;
    fill(o.pipeline, &o.from, 300);
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    require_ok_or(oif_state_file_save_pipeline_in_turns(file, o.pipeline, &turns, &error), error);
    content before = content_of("state");
    assert_int_equal(mkdir("state.new", 0700), 0); /* in the way */
    assert_int_equal(oif_state_file_save_pipeline_in_turns(file, o.pipeline, &turns, &error),
                     OIF_EWRITE);
    assert_false(o.is_given);
    rmdir("state.new");
    o.must_end = true;
    assert_int_equal(oif_state_file_save_pipeline_in_turns(file, o.pipeline, &turns, &error),
                     OIF_END);
    assert_false(o.is_given);
    content after = content_of("state");
    assert_int_equal(after.count, before.count);
    assert_memory_equal(after.bytes, before.bytes, before.count);
    process_rows(&o); /* nothing is kept any more */
    free(before.bytes);
    free(after.bytes);
    oif_state_file_close(file);
    oif_pipeline_free(o.pipeline);
    unlink("state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_in_turns_is_that_of_its_start),
        cmocka_unit_test(a_pipeline_is_saved_in_turns_once_at_a_time),
        cmocka_unit_test(a_save_that_fails_leaves_the_lock_taken_and_the_file_as_it_was),
    };
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir("/") != 0 || rmdir(folder) != 0 || failed;
}
