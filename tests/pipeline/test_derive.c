/* Derived columns in a pipeline: a pipeline that derives gives the same results as one that gets
 * the derived rows, with keys, evictions, copies and snapshots. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "../base/sanitized.h"
#include "pipelines.h"

enum { COLUMNS = 3, LEARNED = 4, KEYS = 5 };

static const char settings[] = "num_trees=3 window_size=60 sample_size=16";

/* load, rate(bytes), latency, log(latency) */
static oif_pipeline *new_deriving(const char *options)
{
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", settings, COLUMNS, options);
    oif_error error;
    require_ok_or(oif_pipeline_derive(pipeline, 2, OIF_DERIVE_LOG, true, &error), error);
    require_ok_or(oif_pipeline_derive(pipeline, 1, OIF_DERIVE_RATE, false, &error), error);
    return pipeline;
}

/* Counters of hosts, and the learned row, by hand. */
typedef struct hosts {
    dice from;
    double bytes[KEYS], seconds[KEYS]; /* NaN before the first row */
    double now;
} hosts;

static hosts new_hosts(uint64_t seed)
{
    hosts h = {.from = {.state = seed}, .now = 1.7e9};
    for (size_t i = 0; i < KEYS; i++)
        h.bytes[i] = h.seconds[i] = NAN;
    return h;
}

static uint32_t draw(hosts *h, double row[COLUMNS], double learned[LEARNED])
{
    uint32_t key = dice_below(&h->from, KEYS);
    double before = h->bytes[key], increase = dice_below(&h->from, 1000);
    bool restarts = !(before < 1e5);
    h->now += 1 + dice_below(&h->from, 3);
    row[0] = dice_normal(&h->from);
    row[1] = restarts ? increase : before + increase;
    row[2] = exp(dice_normal(&h->from));
    learned[0] = row[0];
    learned[1] = increase / (h->now - h->seconds[key]);
    learned[2] = row[2];
    h->bytes[key] = row[1];
    h->seconds[key] = h->now;
    return key;
}

static oif_result process_at(oif_pipeline *pipeline, uint32_t key, double seconds,
                             const double *row)
{
    oif_result result;
    oif_error error;
    const char *text = key_text(key);
    require_ok_or(
        oif_pipeline_process_at(pipeline, text, strlen(text), seconds, row, &result, &error),
        error);
    return result;
}

/* Uses the pipeline's own logarithm: libm's may differ in the last bit. */
static void check_learned(const oif_pipeline *pipeline, double learned[LEARNED])
{
    const double *found = oif_pipeline_learned_row(pipeline);
    assert_non_null(found);
    for (size_t i = 0; i < 3; i++)
        assert_true(found[i] == learned[i] || (isnan(found[i]) && isnan(learned[i])));
    assert_true(fabs(found[3] - log(learned[2])) < 1e-12);
    learned[3] = found[3];
}

/* ---- Rows ---- */

static void a_pipeline_that_derives_scores_as_one_with_the_derived_rows(void **unused)
{
    (void)unused;
    static const char *const options[] = {"alert_rate=0.02", "shingle=3 alert_rate=0.02",
                                          "learn=all max_keys=3 alert_rate=0.05"};
    for (size_t trial = 0; trial < 3; trial++) {
        oif_pipeline *derives = new_deriving(options[trial]);
        oif_pipeline *given = new_pipeline("rolling-iforest", settings, LEARNED, options[trial]);
        bool evicts = strstr(options[trial], "max_keys") != NULL;
        hosts h = new_hosts(trial + 1);
        for (int i = 0; i < 3000; i++) {
            double row[COLUMNS], learned[LEARNED];
            uint32_t key = draw(&h, row, learned);
            uint64_t evictions = oif_pipeline_evictions(derives);
            oif_result a = process_at(derives, key, h.now, row);
            if (a.has_no_model) {
                assert_true(process_at(given, key, NAN, learned).has_no_model);
                continue;
            }
            if (evicts && oif_pipeline_evictions(derives) > evictions)
                learned[1] = NAN; /* a new model has no previous value */
            if (!evicts || !isnan(oif_pipeline_learned_row(derives)[1]))
                check_learned(derives, learned);
            oif_result b = process_at(given, key, NAN, oif_pipeline_learned_row(derives));
            require_same_result(&a, &b);
        }
        assert_true(oif_pipeline_unmodelled_rows(derives) > 0 || !evicts);
        require_ok(oif_pipeline_check(derives, NULL));
        oif_pipeline_free(given);
        oif_pipeline_free(derives);
    }
}

static void what_is_learned_is_told(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_deriving("");
    static const struct {
        size_t column;
        oif_derive kind;
        const char *word;
    } expected[LEARNED] = {{0, OIF_DERIVE_NONE, ""},
                           {1, OIF_DERIVE_RATE, "rate"},
                           {2, OIF_DERIVE_NONE, ""},
                           {2, OIF_DERIVE_LOG, "log"}};
    assert_int_equal(oif_pipeline_columns(pipeline), COLUMNS);
    assert_int_equal(oif_pipeline_learned_columns(pipeline), LEARNED);
    for (size_t i = 0; i < LEARNED; i++) {
        oif_derive kind;
        assert_int_equal(oif_pipeline_learned_from(pipeline, i, &kind), expected[i].column);
        assert_int_equal(kind, expected[i].kind);
        assert_string_equal(oif_derive_word(kind), expected[i].word);
    }
    assert_null(oif_pipeline_learned_row(pipeline));
    oif_pipeline_free(pipeline);
}

static void the_derived_column_is_the_reason(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_deriving("alert_rate=0.01");
    dice from = {.state = 4};
    double bytes = 0;
    for (int i = 0; i < 3000; i++) {
        double row[] = {dice_normal(&from), bytes += i == 2999 ? 1e6 : 100 + dice_below(&from, 10),
                        exp(dice_normal(&from))};
        oif_attribution why[LEARNED];
        oif_result result = process_at(pipeline, 0, i, row);
        oif_pipeline_explain(pipeline, why);
        if (i < 2999)
            continue;
        assert_true(result.anomaly);
        assert_true(why[1].share > 0.9 && why[1].direction == 1);
    }
    oif_pipeline_free(pipeline);
}

/* ---- Refusals ---- */

static void columns_are_derived_before_the_first_row(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_deriving("");
    oif_error error;
    assert_int_equal(oif_pipeline_derive(pipeline, 3, OIF_DERIVE_LOG, true, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_derive(pipeline, 1, OIF_DERIVE_RATE, true, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_learned_columns(pipeline), LEARNED);
    process_at(pipeline, 0, 1, (double[]){1, 2, 3});
    assert_int_equal(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_LOG, true, &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "before the first row"));
    process_at(pipeline, 0, 2, (double[]){1, 2, 3});
    oif_pipeline_free(pipeline);
}

static void derived_columns_count_in_the_memory_limit(void **unused)
{
    (void)unused;
    oif_pipeline *small = new_pipeline("rolling-iforest", settings, 1, "");
    size_t bytes = oif_pipeline_memory_bytes(small);
    char options[64];
    oif_error error;
    snprintf(options, sizeof options, "memory_limit=%zu", bytes + 4096);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", settings, 1, options);
    oif_status status = OIF_OK;
    static const oif_derive kinds[] = {OIF_DERIVE_DIFF, OIF_DERIVE_RATE, OIF_DERIVE_LOG};
    for (size_t i = 0; i < 3 && status == OIF_OK; i++)
        status = oif_pipeline_derive(pipeline, 0, kinds[i], true, &error);
    assert_int_equal(status, OIF_EPARAM);
    assert_non_null(strstr(error.message, "memory_limit is too small"));
    process(pipeline, (double[]){1});
    oif_pipeline_free(pipeline);
    oif_pipeline_free(small);
}

/* ---- Copies and snapshots ---- */

typedef struct bytes {
    unsigned char data[1 << 20];
    size_t count, next;
} bytes;

static ptrdiff_t put_bytes(void *context, const char *from, size_t count)
{
    bytes *to = context;
    assert_true(to->count + count <= sizeof to->data);
    memcpy(to->data + to->count, from, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static void a_loaded_pipeline_and_a_copy_go_on_as_the_first(void **unused)
{
    (void)unused;
    static bytes saved, again;
    for (int rows = 0; rows < 500; rows = rows * 3 + 1) {
        oif_pipeline *first = new_deriving("alert_rate=0.02"), *copy, *loaded;
        hosts h = new_hosts(7);
        double row[COLUMNS], learned[LEARNED];
        for (int i = 0; i < rows; i++) {
            uint32_t key = draw(&h, row, learned);
            process_at(first, key, h.now, row);
        }
        saved.count = again.count = 0;
        require_ok(oif_pipeline_save(first, put_bytes, &saved, NULL));
        require_ok(oif_pipeline_load_memory(saved.data, saved.count, &loaded, NULL));
        require_ok(oif_pipeline_save(loaded, put_bytes, &again, NULL));
        assert_int_equal(saved.count, again.count);
        assert_memory_equal(saved.data, again.data, saved.count);
        require_ok(oif_pipeline_clone(first, &copy, NULL));
        oif_pipeline *all[] = {first, copy, loaded};
        for (int i = 0; i < 400; i++) {
            uint32_t key = draw(&h, row, learned);
            oif_result results[3];
            for (size_t j = 0; j < 3; j++)
                results[j] = process_at(all[j], key, h.now, row);
            require_same_result(&results[0], &results[1]);
            require_same_result(&results[0], &results[2]);
            if (i == 200) { /* the copy has its own plan */
                oif_pipeline_free(first);
                require_ok(oif_pipeline_clone(copy, &first, NULL));
                all[0] = first;
            }
        }
        for (size_t j = 0; j < 3; j++)
            oif_pipeline_free(all[j]);
    }
}

/* A checksum finds any single damaged byte, so the fields of DERI are changed with their
 * checksum. */
static void every_cut_snapshot_is_refused(void **unused)
{
    (void)unused;
    static bytes saved;
    oif_pipeline *pipeline = new_deriving(""), *loaded = NULL;
    process_at(pipeline, 0, 1, (double[]){1, 2, 3});
    saved.count = 0;
    require_ok(oif_pipeline_save(pipeline, put_bytes, &saved, NULL));
    const size_t step = 5 * STEP_IF_SANITIZED(5); /* each takes time in proportion to the bytes */
    for (size_t count = 0; count < saved.count; count += step)
        assert_int_not_equal(oif_pipeline_load_memory(saved.data, count, &loaded, NULL), OIF_OK);
    for (size_t at = 0; at < saved.count; at += step) {
        saved.data[at] ^= 0x10;
        assert_int_not_equal(oif_pipeline_load_memory(saved.data, saved.count, &loaded, NULL),
                             OIF_OK);
        saved.data[at] ^= 0x10;
    }
    oif_pipeline_free(pipeline);
}

static void an_evicted_key_gets_its_previous_values_back(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/oif-derive-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/state", folder);
    oif_pipeline *one = new_deriving("max_keys=1 evicted=keep"), *all = new_deriving("");
    oif_state_file *file;
    oif_error error;
    require_ok_or(oif_state_file_open(path, &file, &error), error);
    require_ok_or(oif_state_file_keep_evicted(file, one, &error), error);
    assert_int_equal(oif_pipeline_derive(one, 0, OIF_DERIVE_LOG, true, NULL), OIF_EPARAM);
    hosts h = new_hosts(3);
    for (int i = 0; i < 300; i++) {
        double row[COLUMNS], learned[LEARNED];
        uint32_t key = draw(&h, row, learned);
        oif_result a = process_at(one, key, h.now, row), b = process_at(all, key, h.now, row);
        require_same_result(&a, &b);
    }
    assert_true(oif_pipeline_evictions(one) > 100);
    assert_int_equal(oif_pipeline_lost(one, NULL), 0);
    oif_pipeline_free(all);
    oif_pipeline_free(one);
    oif_state_file_close(file);
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_that_derives_scores_as_one_with_the_derived_rows),
        cmocka_unit_test(what_is_learned_is_told),
        cmocka_unit_test(the_derived_column_is_the_reason),
        cmocka_unit_test(columns_are_derived_before_the_first_row),
        cmocka_unit_test(derived_columns_count_in_the_memory_limit),
        cmocka_unit_test(a_loaded_pipeline_and_a_copy_go_on_as_the_first),
        cmocka_unit_test(every_cut_snapshot_is_refused),
        cmocka_unit_test(an_evicted_key_gets_its_previous_values_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
