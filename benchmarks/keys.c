/* Many keys: the cost of a row when rows of different keys take turns, beside the same rows sorted
 * by key, and what a key takes in memory and on disk. benchmarks/keys.py compares the figures with
 * their limits.
 *
 *     bench_keys KEYS ROWS COLUMNS turns|sorted [BLOCK_ROWS [NAME=VALUE ...]]
 *
 * ROWS are those of each key. Prints microseconds of processor time per row, the bytes of a key in
 * memory and in a snapshot, and the sum of the bits of all scores, the same in either order. */
#include "oif.h"
#include "stopwatch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, MOST_BLOCK_ROWS = 65536, KEY_BYTES = 16 };

typedef struct workload {
    uint64_t keys, rows;
    size_t columns, block_rows;
    bool is_sorted;
} workload;

typedef struct block {
    size_t count;
    double *rows, *seconds;
    char (*texts)[KEY_BYTES];
    const char **keys;
    oif_result *results;
} block;

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "bench_keys: %s\n", error->message);
    exit(1);
}

static void *new_array(size_t count, size_t bytes)
{
    void *made = calloc(count, bytes);
    if (!made)
        exit(1);
    return made;
}

static block new_block(const workload *work)
{
    const size_t rows = work->block_rows;
    return (block){.rows = new_array(rows * work->columns, sizeof(double)),
                   .seconds = new_array(rows, sizeof(double)),
                   .texts = new_array(rows, KEY_BYTES),
                   .keys = new_array(rows, sizeof(char *)),
                   .results = new_array(rows, sizeof(oif_result))};
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* About normal, different in every key, row and column. */
static double value(uint64_t key, uint64_t row, uint64_t column)
{
    uint64_t state = mix((key << 32 | row) * MOST_COLUMNS + column);
    double sum = 0;
    for (int i = 0; i < 4; i++, state >>= 16)
        sum += (double)(state & 0xffff) / 65536;
    return 10 * (double)(key % 7) + sum;
}

static void fill(block *filled, const workload *work, uint64_t first, size_t count)
{
    filled->count = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = first + i;
        const uint64_t key = work->is_sorted ? at / work->rows : at % work->keys,
                       row = work->is_sorted ? at % work->rows : at / work->keys;
        snprintf(filled->texts[i], KEY_BYTES, "key-%" PRIu64, key);
        filled->keys[i] = filled->texts[i];
        filled->seconds[i] = 1.7e9 + 60 * (double)row;
        for (size_t column = 0; column < work->columns; column++)
            filled->rows[i * work->columns + column] = value(key, row, column);
    }
}

static oif_pipeline *make_pipeline(const workload *work, char **settings)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, "rolling-iforest", &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_params_set(&options, "max_keys", 1 << 29, &error), &error);
    for (; *settings; settings++) {
        char *equals = strchr(*settings, '=');
        if (!equals)
            exit(2);
        *equals = '\0';
        if (oif_params_set_text(&options, *settings, equals + 1, NULL) != OIF_OK)
            require(oif_params_set_text(&params, *settings, equals + 1, &error), &error);
    }
    require(oif_pipeline_new(&params, work->columns, &options, &pipeline, &error), &error);
    return pipeline;
}

/* callgrind counts what happens within it. */
__attribute__((noinline)) static void pass_counted_rows(oif_pipeline *pipeline, const block *rows,
                                                        size_t columns)
{
    oif_error error;
    size_t done = 0;
    require(oif_pipeline_process_rows(pipeline, rows->rows, rows->count, columns, rows->keys, NULL,
                                      rows->seconds, rows->results, &done, &error),
            &error);
}

static uint64_t sum_of_scores(const block *rows)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t bits;
        memcpy(&bits, &rows->results[i].score, sizeof bits);
        sum += bits;
    }
    return sum;
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: bench_keys KEYS ROWS COLUMNS turns|sorted [BLOCK_ROWS "
                        "[NAME=VALUE ...]]\n");
        return 2;
    }
    const workload work = {.keys = strtoull(arguments[1], NULL, 10),
                           .rows = strtoull(arguments[2], NULL, 10),
                           .columns = strtoull(arguments[3], NULL, 10),
                           .block_rows = count > 5 ? strtoull(arguments[5], NULL, 10) : 512,
                           .is_sorted = strcmp(arguments[4], "sorted") == 0};
    if (!work.keys || !work.rows || !work.columns || work.columns > MOST_COLUMNS ||
        !work.block_rows || work.block_rows > MOST_BLOCK_ROWS)
        return 2;
    oif_pipeline *pipeline = make_pipeline(&work, arguments + (count > 6 ? 6 : count));
    block rows = new_block(&work);
    const uint64_t all = work.keys * work.rows;
    uint64_t sum = 0;
    double seconds = 0;
    for (uint64_t row = 0; row < all; row += rows.count) {
        fill(&rows, &work, row,
             all - row < work.block_rows ? (size_t)(all - row) : work.block_rows);
        timing began = stopwatch_start();
        pass_counted_rows(pipeline, &rows, work.columns);
        seconds += stopwatch_stop(began).cpu_seconds;
        sum += sum_of_scores(&rows);
    }
    printf("%.4f %.0f %.0f %016" PRIx64 "\n", 1e6 * seconds / (double)all,
           (double)oif_pipeline_memory_bytes(pipeline) / (double)work.keys,
           (double)oif_pipeline_snapshot_bytes(pipeline) / (double)work.keys, sum);
    oif_pipeline_free(pipeline);
    return 0;
}
