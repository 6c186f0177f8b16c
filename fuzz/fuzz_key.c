/* Any bytes as the snapshot of a key, with valid checksums, for a pipeline that has keys. An
 * accepted key must work; a rejected one must have changed nothing. */
#include "fuzz_input.h"
#include "repair.h"

enum { ROWS = 40, COLUMNS = 2, SAVED_BYTES = 1 << 20 };

static void set(oif_params *params, const char *name, const char *value)
{
    require(oif_params_set_text(params, name, value, NULL) == OIF_OK);
}

/* Small, so its snapshots are small. */
static oif_pipeline *new_pipeline(void)
{
    static const double row[COLUMNS] = {1, 2};
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_result result;
    require(oif_params_init(&params, "online-iforest", NULL) == OIF_OK);
    set(&params, "num_trees", "2");
    set(&params, "window_size", "16");
    set(&params, "max_leaf_samples", "4");
    oif_pipeline_options_init(&options);
    set(&options, "find_season", "off");
    set(&options, "moves", "off");
    require(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, NULL) == OIF_OK);
    for (size_t i = 0; i < 20; i++)
        require(oif_pipeline_process(pipeline, "ab", 1 + i % 2, row, &result, NULL) == OIF_OK);
    return pipeline;
}

static size_t save(const oif_pipeline *pipeline, uint8_t *bytes)
{
    size_t count = oif_pipeline_snapshot_bytes(pipeline);
    require(count <= SAVED_BYTES);
    require(oif_pipeline_save_memory(pipeline, bytes, count, NULL) == OIF_OK);
    return count;
}

static void live_on(oif_pipeline *pipeline, const oif_key_info *key, input rows)
{
    double row[COLUMNS];
    oif_attribution why[COLUMNS];
    oif_result result;
    char name[OIF_KEY_MAX_BYTES];
    size_t bytes = key->key_bytes;
    if (bytes > 0)
        memcpy(name, key->key, bytes);
    for (int i = 0; i < ROWS; i++) {
        take_row(&rows, row, COLUMNS);
        require(oif_pipeline_process(pipeline, name, bytes, row, &result, NULL) == OIF_OK);
        oif_pipeline_explain(pipeline, why);
    }
    require(oif_pipeline_check(pipeline, NULL) == OIF_OK);
    require(oif_pipeline_remove_key(pipeline, name, bytes, NULL) == OIF_OK);
    require(oif_pipeline_check(pipeline, NULL) == OIF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t before[SAVED_BYTES], after[SAVED_BYTES];
    uint8_t *bytes = malloc(size + 1);
    oif_pipeline *pipeline = new_pipeline();
    oif_error error = {.message = ""};
    oif_key_info key;
    require(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    repair_snapshot(bytes, size);
    size_t count = save(pipeline, before);
    oif_status status = oif_pipeline_load_key_memory(pipeline, bytes, size, NULL, 0, &key, &error);
    if (status == OIF_OK) {
        live_on(pipeline, &key, (input){data + size / 2, data + size});
    } else {
        require(error.status == status && error.message[0] != '\0');
        require(save(pipeline, after) == count && memcmp(before, after, count) == 0);
    }
    oif_pipeline_free(pipeline);
    free(bytes);
    return 0;
}
