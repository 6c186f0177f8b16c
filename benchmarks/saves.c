/* Saving many keys of which few have changed, beside saving all of them.
 *
 *     bench_saves KEYS ROWS COLUMNS PATH
 *
 * ROWS are those of each key. Prints bytes and seconds, of the processor and by the clock, of the
 * whole save, of a save after one row for one key in a hundred, and of loading both. */
#include "oif.h"
#include "stopwatch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, KEY_BYTES = 32, KEYS_PER_CHANGE = 100 };

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "bench_saves: %s\n", error->message);
    exit(1);
}

static oif_pipeline *make_pipeline(size_t columns)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, "rolling-iforest", &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_params_set(&options, "max_keys", 1 << 29, &error), &error);
    require(oif_pipeline_new(&params, columns, &options, &pipeline, &error), &error);
    return pipeline;
}

static double next_number(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1;
    return (double)(state >> 11) * 0x1p-53;
}

static void process_key(oif_pipeline *pipeline, uint64_t number, uint64_t rows)
{
    double row[MOST_COLUMNS];
    char key[KEY_BYTES];
    oif_result result;
    oif_error error;
    const int bytes = snprintf(key, sizeof key, "key-%" PRIu64, number);
    for (uint64_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < oif_pipeline_columns(pipeline); c++)
            row[c] = next_number();
        require(oif_pipeline_process(pipeline, key, (size_t)bytes, row, &result, &error), &error);
    }
}

/* Rows for every `step`-th key, those of a key together. */
static void process(oif_pipeline *pipeline, uint64_t keys, uint64_t step, uint64_t rows)
{
    for (uint64_t i = 0; i < keys; i += step)
        process_key(pipeline, i, rows);
}

static timing save(oif_state_file *file, oif_pipeline *pipeline)
{
    oif_error error;
    timing began = stopwatch_start();
    require(oif_state_file_update_pipeline(file, pipeline, &error), &error);
    return stopwatch_stop(began);
}

static void print_line(const char *what, uint64_t bytes, timing taken)
{
    printf("%-8s %14" PRIu64 " %10.3f %10.3f\n", what, bytes, taken.cpu_seconds,
           taken.wall_seconds);
}

int main(int count, char **arguments)
{
    const uint64_t keys = count == 5 ? strtoull(arguments[1], NULL, 10) : 0,
                   rows = count == 5 ? strtoull(arguments[2], NULL, 10) : 0,
                   columns = count == 5 ? strtoull(arguments[3], NULL, 10) : 0;
    if (keys < KEYS_PER_CHANGE || rows == 0 || columns == 0 || columns > MOST_COLUMNS) {
        fprintf(stderr, "usage: bench_saves KEYS ROWS COLUMNS PATH\n");
        return 2;
    }
    oif_state_file *file = NULL;
    oif_error error;
    oif_pipeline *pipeline = make_pipeline(columns);
    process(pipeline, keys, 1, rows);
    require(oif_state_file_open(arguments[4], &file, &error), &error);
    const timing whole = save(file, pipeline);
    process(pipeline, keys, KEYS_PER_CHANGE, 1);
    const timing changed = save(file, pipeline);
    const oif_log_info log = oif_pipeline_log(pipeline);
    oif_pipeline_free(pipeline);
    timing began = stopwatch_start();
    require(oif_state_file_load_pipeline(file, &pipeline, &error), &error);
    const timing load = stopwatch_stop(began);
    print_line("whole", log.base_bytes, whole);
    print_line("changed", log.update_bytes, changed);
    print_line("load", log.base_bytes + log.update_bytes, load);
    oif_pipeline_free(pipeline);
    oif_state_file_close(file);
    return 0;
}
