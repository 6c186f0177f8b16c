/* What a key costs: the bytes of its model after some rows, as it is held beside many others
 * (src/pipeline/model/packed_model.h), and the bytes of a whole model. Prints the table of
 * docs/measurements/fleets.md; tools/measure/fleet_tables.sh builds and runs it. */
#include "pipeline/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS_MAX = 36 };

static const char *const detectors[] = {
    "rolling-iforest", "online-iforest", "iforest-asd", "hst", "rrcf", "loda", "sdo"};
static const size_t column_counts[] = {3, 10, COLUMNS_MAX};
static const int row_counts[] = {3, 100, 480, 2048};

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return (double)(*state >> 11) * 0x1p-53;
}

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static oif_pipeline *make_pipeline(const char *detector, const char *setting, size_t columns)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, detector, &error), &error);
    if (setting) { /* the small one of the page */
        require(oif_params_set(&params, "window_size", 256, &error), &error);
        require(oif_params_set(&params, "num_trees", 16, &error), &error);
    }
    oif_pipeline_options_init(&options);
    require(oif_pipeline_new(&params, columns, &options, &pipeline, &error), &error);
    pipeline->models.whole_at_first = pipeline->models.whole_at_most = 0;
    return pipeline;
}

static void print_line(const char *detector, const char *setting, size_t columns)
{
    oif_pipeline *pipeline = make_pipeline(detector, setting, columns);
    uint64_t state = 1;
    int row_number = 0;
    printf("| `%s%s` | %zu |", detector, setting ? setting : "", columns);
    for (size_t i = 0; i < sizeof row_counts / sizeof *row_counts; i++) {
        for (; row_number < row_counts[i]; row_number++) {
            double row[COLUMNS_MAX];
            oif_result result;
            oif_error error;
            for (size_t j = 0; j < columns; j++)
                row[j] = uniform(&state);
            require(oif_pipeline_process(pipeline, "a", 1, row, &result, &error), &error);
        }
        size_t bytes = oif_unpacked_model_compare(&pipeline->models.work, pipeline->models.blank);
        printf(" %.1f |", (double)bytes / 1e3);
    }
    printf(" %.0f |\n", (double)oif_model_memory_bytes(pipeline->models.blank) / 1e3);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    printf("| detector | columns | 3 rows | 100 rows | 480 rows | 2,048 rows | whole |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof detectors / sizeof *detectors; i++)
        for (size_t j = 0; j < sizeof column_counts / sizeof *column_counts; j++)
            print_line(detectors[i], NULL, column_counts[j]);
    print_line("rolling-iforest", " --window-size 256 --num-trees 16", 3);
    return 0;
}
