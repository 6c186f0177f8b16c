/* What the model of a key takes: live, as a snapshot, and the time to save, load and replay it.
 * Prints the two tables of docs/flink.md; the second one is computed from a line of the first.
 * Times are of the processor, the best of several runs.
 *
 *     bench_key_state
 */
#include "oif.h"
#include "stopwatch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS_MAX = 10, ROWS = 3000, RUNS = 20 };

typedef struct setting {
    const char *detector;
    const char *title;
    double window; /* 0: the default */
    size_t columns;
} setting;

static const setting settings[] = {
    {"rolling-iforest", "`rolling-iforest` (the default)", 0, 3},
    {"rolling-iforest", "`rolling-iforest`", 0, 10},
    {"online-iforest", "`online-iforest`, window 256", 256, 3},
    {"online-iforest", "`online-iforest`, window 256", 256, 10},
    {"online-iforest", "`online-iforest`, window 2048", 2048, 10},
    {"sdo", "`sdo`", 0, 10},
};

enum { SIZED = 3 }; /* the setting of the second table */

/* Bytes of a key beside its rows and its base, at most; OperatorTest measures them. */
enum { KEY_BYTES = 200, NEW_KEY_ROWS = 50 };

typedef struct sizes {
    double live_bytes, base_bytes;
} sizes;

static const char key[] = "a";

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "bench_key_state: %s\n", error->message);
    exit(1);
}

static oif_pipeline *make_pipeline(const setting *asked)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, asked->detector, &error), &error);
    if (asked->window > 0)
        require(oif_params_set(&params, "window_size", asked->window, &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_pipeline_new(&params, asked->columns, &options, &pipeline, &error), &error);
    return pipeline;
}

static void fill(double *numbers, size_t count)
{
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        numbers[i] = (double)(state >> 11) * 0x1p-53;
    }
}

/* Seconds for all rows. */
static double process(oif_pipeline *pipeline, const double *rows, size_t columns)
{
    timing began = stopwatch_start();
    for (size_t i = 0; i < ROWS; i++) {
        oif_result result;
        oif_error error;
        require(oif_pipeline_process(pipeline, key, 1, rows + i * columns, &result, &error),
                &error);
    }
    return stopwatch_stop(began).cpu_seconds;
}

static double save(const oif_pipeline *pipeline, void *base, size_t bytes)
{
    oif_error error;
    timing began = stopwatch_start();
    require(oif_pipeline_save_key_memory(pipeline, key, 1, base, bytes, &error), &error);
    return stopwatch_stop(began).cpu_seconds;
}

/* Loads a key that the pipeline does not have, as after an eviction. */
static double load(oif_pipeline *pipeline, const void *base, size_t bytes)
{
    oif_error error;
    require(oif_pipeline_remove_key(pipeline, key, 1, &error), &error);
    timing began = stopwatch_start();
    require(oif_pipeline_load_key_memory(pipeline, base, bytes, key, 1, NULL, &error), &error);
    return stopwatch_stop(began).cpu_seconds;
}

static void lower(double *best, double seconds)
{
    if (seconds < *best)
        *best = seconds;
}

static sizes print_line(const setting *asked)
{
    static double rows[ROWS * COLUMNS_MAX];
    oif_pipeline *pipeline = make_pipeline(asked);
    oif_key_info info;
    oif_error error;
    size_t bytes = 0;
    fill(rows, ROWS * asked->columns);
    process(pipeline, rows, asked->columns);
    require(oif_pipeline_key_snapshot_bytes(pipeline, key, 1, &bytes, &error), &error);
    void *base = malloc(bytes);
    if (!base || !oif_pipeline_key(pipeline, key, 1, &info))
        exit(1);
    double save_seconds = 1e9, load_seconds = 1e9, replay_seconds = 1e9;
    for (int run = 0; run < RUNS; run++) {
        lower(&save_seconds, save(pipeline, base, bytes));
        lower(&load_seconds, load(pipeline, base, bytes));
        lower(&replay_seconds, process(pipeline, rows, asked->columns));
    }
    printf("| %s | %zu | %.0f KB | %.0f KB | %.2f ms | %.2f ms | %.1f us |\n", asked->title,
           asked->columns, (double)info.memory_bytes / 1e3, (double)bytes / 1e3, 1e3 * save_seconds,
           1e3 * load_seconds, 1e6 * replay_seconds / ROWS);
    free(base);
    oif_pipeline_free(pipeline);
    return (sizes){(double)info.memory_bytes, (double)bytes};
}

/* The resource with 10^5, 10^6 and 10^8 keys, with two digits. */
static void print_resource(const char *what, double bytes_per_key)
{
    static const double keys[] = {1e5, 1e6, 1e8};
    printf("| %s |", what);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const double bytes = bytes_per_key * keys[i];
        const double unit = bytes < 999.5e9 ? 1e9 : 1e12;
        char digits[32];
        snprintf(digits, sizeof digits, "%.1e", bytes / unit); /* rounds to two digits */
        printf(" %.3g %s |", strtod(digits, NULL), bytes < 999.5e9 ? "GB" : "TB");
    }
    putchar('\n');
}

/* A new base replaces the rows once they take as many bytes as the model: on average half that. */
static void print_resources(const setting *asked, sizes one)
{
    const double row_bytes = 8.0 * (double)(asked->columns + 1);
    printf("\n%s, %zu columns:\n\n| resource | 10^5 keys | 10^6 keys | 10^8 keys |\n"
           "| --- | --- | --- | --- |\n",
           asked->title, asked->columns);
    print_resource("state, keys with 50 rows each", KEY_BYTES + NEW_KEY_ROWS * row_bytes);
    print_resource("state, all keys with base and half a log",
                   KEY_BYTES + one.base_bytes + one.live_bytes / 2);
    print_resource("native memory, 1% of the keys active", one.live_bytes / 100);
    print_resource("native memory, all keys active", one.live_bytes);
}

int main(void)
{
    sizes sized = {0};
    printf("| detector | columns | live model | base | save a base | load a base | replay a row |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        sizes one = print_line(&settings[i]);
        if (i == SIZED)
            sized = one;
    }
    print_resources(&settings[SIZED], sized);
    return 0;
}
