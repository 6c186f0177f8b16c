/* Shared by the tests of logs: state files that updates are appended to. */
#ifndef TESTS_PIPELINE_LOGS_H
#define TESTS_PIPELINE_LOGS_H

#include "../snapshot/kills.h" /* a folder of its own */
#include "pipelines.h"

#include <sys/stat.h>

enum { COLUMNS = 2, KEYS = 40 };

static const char settings[] = "num_trees=2 window_size=8 max_leaf_samples=2";

typedef struct bytes {
    char *start;
    size_t count;
} bytes;

static inline bytes whole_save(const oif_pipeline *pipeline)
{
    bytes b = {.count = oif_pipeline_snapshot_bytes(pipeline)};
    b.start = malloc(b.count);
    require_ok(oif_pipeline_save_memory(pipeline, b.start, b.count, NULL));
    return b;
}

static inline size_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

static inline bytes content_of(const char *path)
{
    bytes b = {malloc(bytes_of(path) + 1), bytes_of(path)};
    FILE *file = fopen(path, "rb");
    if (!file || fread(b.start, 1, b.count, file) != b.count)
        fail_msg("cannot read %s", path);
    fclose(file);
    return b;
}

static inline void write_content(const char *path, bytes content)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(content.start, 1, content.count, file) != content.count ||
        fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

static inline bool are_equal(bytes a, bytes b)
{
    return a.count == b.count && memcmp(a.start, b.start, a.count) == 0;
}

/* Both list their keys in the same order. */
static inline void require_same_keys(const oif_pipeline *a, const oif_pipeline *b)
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
static inline void require_in_file(const char *path, const oif_pipeline *pipeline)
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

static inline oif_state_file *open_state(void)
{
    oif_state_file *file;
    oif_error error;
    require_ok_or(oif_state_file_open("state", &file, &error), error);
    return file;
}

static inline void update(oif_state_file *file, oif_pipeline *pipeline)
{
    oif_error error;
    require_ok_or(oif_state_file_update_pipeline(file, pipeline, &error), error);
}

static inline void process_rows(oif_pipeline *pipeline, dice *from, uint32_t first, uint32_t keys,
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

static inline oif_pipeline *some_pipeline(const char *options, dice *from)
{
    oif_pipeline *made = new_pipeline("online-iforest", settings, COLUMNS, options);
    process_rows(made, from, 0, KEYS, 10 * KEYS);
    return made;
}

static inline oif_pipeline *reload(oif_state_file **file, oif_pipeline *pipeline)
{
    oif_error error;
    oif_pipeline *loaded;
    oif_state_file_close(*file);
    oif_pipeline_free(pipeline);
    *file = open_state();
    require_ok_or(oif_state_file_load_pipeline(*file, &loaded, &error), error);
    return loaded;
}

#endif
