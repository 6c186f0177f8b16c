#include "warm_up.h"

#include <math.h>

enum { TRIED_ROWS_MAX = 50000, TRIED_COLUMNS_MAX = 16 };

size_t warm_up_rows(const oif_params *params, const oif_params *options, size_t columns,
                    double row_seconds)
{
    double row[TRIED_COLUMNS_MAX];
    uint32_t state = 1;
    oif_pipeline *pipeline;
    oif_result result;
    size_t rows = 0, count = columns < TRIED_COLUMNS_MAX ? columns : TRIED_COLUMNS_MAX;
    if (oif_pipeline_new(params, count, options, &pipeline, NULL) != OIF_OK)
        return 0;
    do {
        for (size_t i = 0; i < count; i++) {
            state = state * 1664525 + 1013904223;
            row[i] = state / 4294967296.0;
        }
        double seconds = row_seconds > 0 ? (double)rows * row_seconds : NAN;
        if (oif_pipeline_process_at(pipeline, NULL, 0, seconds, row, &result, NULL) != OIF_OK)
            break;
        rows++;
    } while (!result.ready && rows < TRIED_ROWS_MAX);
    oif_pipeline_free(pipeline);
    return rows > 0 && rows < TRIED_ROWS_MAX ? rows - 1 : 0;
}
