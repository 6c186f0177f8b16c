/* The rows of benchmarks/flink.py through one pipeline with a model per key: the cost of the
 * library alone, compared with Flink's operator.
 *
 *     bench_keyed ROWS FIRST_ROWS KEYS WINDOW     prints microseconds of processor time per row,
 *                                                 without the first rows, and the sum of the
 *                                                 scores' bits, which must equal Flink's
 */
#include "oif.h"
#include "stopwatch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 10, BLOCK_ROWS = 1024, KEY_BYTES = 16 };

typedef struct block {
    size_t count;
    char keys[BLOCK_ROWS][KEY_BYTES];
    double rows[BLOCK_ROWS][COLUMNS];
} block;

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "bench_keyed: %s\n", error->message);
    exit(1);
}

/* The same as in BenchRow.java. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static void fill(block *filled, uint64_t first, size_t count, uint64_t keys)
{
    filled->count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = 16 * (first + i);
        snprintf(filled->keys[i], KEY_BYTES, "key-%" PRIu64, (mix(place + 15) >> 33) % keys);
        for (uint64_t column = 0; column < COLUMNS; column++)
            filled->rows[i][column] = (double)(mix(place + column) >> 11) * 0x1p-53;
    }
}

static oif_pipeline *make_pipeline(double window)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, "online-iforest", &error), &error);
    require(oif_params_set(&params, "window_size", window, &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_params_set(&options, "max_keys", 1 << 29, &error), &error);
    require(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, &error), &error);
    return pipeline;
}

static uint64_t process(oif_pipeline *pipeline, const block *rows)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rows->count; i++) {
        oif_result result;
        oif_error error;
        require(oif_pipeline_process(pipeline, rows->keys[i], strlen(rows->keys[i]), rows->rows[i],
                                     &result, &error),
                &error);
        uint64_t bits;
        memcpy(&bits, &result.score, sizeof bits);
        sum += bits;
    }
    return sum;
}

int main(int count, char **arguments)
{
    if (count != 5) {
        fprintf(stderr, "usage: bench_keyed ROWS FIRST_ROWS KEYS WINDOW\n");
        return 2;
    }
    uint64_t rows = strtoull(arguments[1], NULL, 10), first = strtoull(arguments[2], NULL, 10);
    uint64_t keys = strtoull(arguments[3], NULL, 10), sum = 0;
    oif_pipeline *pipeline = make_pipeline(strtod(arguments[4], NULL));
    block *filled = malloc(sizeof *filled);
    double seconds = 0;
    if (!filled || !keys || first >= rows)
        return 2;
    for (uint64_t row = 0; row < rows; row += filled->count) {
        uint64_t left = (row < first ? first : rows) - row;
        fill(filled, row, left < BLOCK_ROWS ? (size_t)left : BLOCK_ROWS, keys);
        timing began = stopwatch_start();
        sum += process(pipeline, filled);
        if (row >= first)
            seconds += stopwatch_stop(began).cpu_seconds;
    }
    printf("%.4f %" PRIu64 " %zu\n", 1e6 * seconds / (double)(rows - first), sum,
           oif_pipeline_memory_bytes(pipeline));
    free(filled);
    oif_pipeline_free(pipeline);
    return 0;
}
