/* Any bytes as a pipeline's snapshot, with valid checksums. An accepted pipeline must work. */
#include "fuzz_input.h"
#include "repair.h"

enum { ROWS = 40, MAX_COLUMNS = 8 };

static ptrdiff_t count_bytes(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)context += count;
    return (ptrdiff_t)count;
}

static void live_on(oif_pipeline *pipeline, input rows)
{
    double row[MAX_COLUMNS];
    oif_attribution why[MAX_COLUMNS];
    oif_result result;
    oif_pipeline *copy = NULL;
    size_t saved = 0;
    for (int i = 0; oif_pipeline_columns(pipeline) <= MAX_COLUMNS && i < ROWS; i++) {
        take_row(&rows, row, oif_pipeline_columns(pipeline));
        require(oif_pipeline_process(pipeline, "abc", (size_t)(i % 4), row, &result, NULL) ==
                OIF_OK);
        oif_pipeline_explain(pipeline, why);
    }
    require(oif_pipeline_check(pipeline, NULL) == OIF_OK);
    require(oif_pipeline_clone(pipeline, &copy, NULL) == OIF_OK);
    require(oif_pipeline_save(copy, count_bytes, &saved, NULL) == OIF_OK && saved > 0);
    oif_pipeline_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    oif_pipeline *pipeline = NULL;
    oif_error error = {.message = ""};
    require(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    repair_snapshot(bytes, size);
    oif_status status = oif_pipeline_load_memory(bytes, size, &pipeline, &error);
    if (status == OIF_OK)
        live_on(pipeline, (input){data + size / 2, data + size});
    else
        require(!pipeline && error.status == status && error.message[0] != '\0');
    oif_pipeline_free(pipeline);
    free(bytes);
    return 0;
}
