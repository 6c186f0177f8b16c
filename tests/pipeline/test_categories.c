/* Categories: the table of values against a slow twin, and how a pipeline treats rare values. */
#include "pipelines.h"

#include "base/block.h"
#include "pipeline/columns/category_table.h"
#include "pipeline/pipeline.h"

static const char settings[] = "num_trees=8 window_size=256 sample_size=64";

/* ---- The table and its twin ---- */

/* The twin keeps its values unordered and scans all of them. */
typedef struct twin {
    double values[OIF_CATEGORY_ENTRIES];
    int counts[OIF_CATEGORY_ENTRIES], forgotten;
    int used, rows;
} twin;

static int twin_find(const twin *t, double value)
{
    for (int i = 0; i < t->used; i++)
        if (t->values[i] == value)
            return i;
    return -1;
}

static double twin_surprise(const twin *t, double value)
{
    int found = twin_find(t, value);
    double own = found < 0 ? 0 : t->counts[found] / 256.0, all = 0.5 + t->forgotten / 256.0,
           as_rare = all;
    for (int i = 0; i < t->used; i++) {
        double rows = t->counts[i] / 256.0;
        all += rows;
        as_rare += rows <= own + 1 ? rows : 0;
    }
    return log2(all / as_rare);
}

/* The entry with the lowest count; among equals, the lowest value. */
static int twin_rarest(const twin *t)
{
    int rarest = 0;
    for (int i = 1; i < t->used; i++)
        if (t->counts[i] < t->counts[rarest] ||
            (t->counts[i] == t->counts[rarest] && t->values[i] < t->values[rarest]))
            rarest = i;
    return rarest;
}

static void twin_learn(twin *t, double value)
{
    int found = twin_find(t, value);
    if (found < 0 && t->used == OIF_CATEGORY_ENTRIES) {
        found = twin_rarest(t);
        t->forgotten += t->counts[found];
        t->counts[found] = 0;
    } else if (found < 0) {
        found = t->used++;
    }
    t->values[found] = value;
    t->counts[found] += 256;
    if (++t->rows % 1024 != 0)
        return;
    for (int i = 0; i < t->used; i++)
        t->counts[i] = t->counts[i] * 15 / 16;
    t->forgotten = t->forgotten * 15 / 16;
}

/* Few values, many, heavy tails, only new ones, and changes between these. */
static double draw_category(dice *from, int kind, int row)
{
    switch (kind) {
    case 0: return dice_below(from, 5);
    case 1: return floor(1 / (dice_unit(from) + 1e-4));
    case 2: return -(double)dice_below(from, 400);
    case 3: return row * 1e300;
    default: return draw_category(from, row / 7000, row);
    }
}

static void the_table_knows_what_its_twin_knows(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 5; kind++) {
        static oif_category_table table;
        static twin slow;
        dice from = {.state = (uint64_t)kind + 1};
        memset(&table, 0, sizeof table);
        memset(&slow, 0, sizeof slow);
        for (int row = 0; row < 28000; row++) {
            double value = kind == 3 ? row : draw_category(&from, kind, row);
            double expected = twin_surprise(&slow, value),
                   found = oif_category_surprise(&table, value);
            if (!(fabs(found - expected) < 1e-9) || table.is_new != (twin_find(&slow, value) < 0))
                fail_msg("kind %d row %d: surprise %.17g, expected %.17g", kind, row, found,
                         expected);
            oif_category_learn(&table, value);
            twin_learn(&slow, value);
            if (row % 100 == 0)
                assert_true(oif_category_check(&table));
        }
        assert_int_equal(table.used, slow.used);
    }
}

/* The promise of the header: at most one row in 2^b is rare by b bits. */
static void surprises_are_as_rare_as_they_say(void **unused)
{
    (void)unused;
    enum { ROWS = 60000, BITS = 10 };
    for (int kind = 0; kind < 3; kind++) {
        static oif_category_table table;
        dice from = {.state = (uint64_t)kind + 20};
        int as_rare[BITS] = {0};
        memset(&table, 0, sizeof table);
        for (int row = 0; row < ROWS; row++) {
            double value = draw_category(&from, kind, row),
                   surprise = oif_category_surprise(&table, value);
            for (int bits = 1; bits < BITS; bits++)
                as_rare[bits] += surprise >= bits;
            oif_category_learn(&table, value);
        }
        for (int bits = 1; bits < BITS; bits++) {
            double most = ROWS / exp2(bits);
            if (!(as_rare[bits] <= most + 4 * sqrt(most)))
                fail_msg("kind %d: %d rows are rare by %d bits, at most %.0f should be", kind,
                         as_rare[bits], bits, most);
        }
    }
}

static void damaged_tables_are_found(void **unused)
{
    (void)unused;
    static oif_category_table good, bad;
    for (int i = 0; i < 10; i++)
        oif_category_learn(&good, i);
    assert_true(oif_category_check(&good));
    for (int damage = 0; damage < 8; damage++) {
        bad = good;
        switch (damage) {
        case 0: bad.used = OIF_CATEGORY_ENTRIES + 1; break;
        case 1: bad.rows = 1024; break;
        case 2: bad.forgotten = UINT32_MAX; break;
        case 3: bad.values[3] = NAN; break;
        case 4: bad.values[9] = INFINITY; break;
        case 5: bad.values[3] = bad.values[4]; break;
        case 6: bad.forgotten = OIF_CATEGORY_ROW * 15 * 1024 + 1; break; /* more than is left */
        default: bad.counts[2] = UINT32_MAX - 100; break;
        }
        if (oif_category_check(&bad))
            fail_msg("damage %d was not found", damage);
    }
}

/* ---- Texts ---- */

static void texts_are_numbers_that_stay_the_same(void **unused)
{
    (void)unused;
    assert_true(oif_category("ok", 2) == 1336475527675048);
    assert_true(oif_category("\0", 1) == 6629935720112800);
    assert_true(isnan(oif_category("", 0)) && isnan(oif_category(NULL, 0)));
    enum { TEXTS = 20000 };
    static double numbers[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        char text[16];
        numbers[i] = oif_category(text, (size_t)snprintf(text, sizeof text, "%d", i));
        assert_true(numbers[i] >= 0 && numbers[i] < 0x1p53 && numbers[i] == floor(numbers[i]));
        for (int j = 0; j < i && i % 100 == 0; j++)
            assert_true(numbers[j] != numbers[i]);
    }
}

/* ---- Pipelines ---- */

enum { COLUMNS = 3, CATEGORY = 1 };

static oif_pipeline *new_with_category(const char *options)
{
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", settings, COLUMNS, options);
    oif_error error;
    require_ok_or(oif_pipeline_derive(pipeline, CATEGORY, OIF_DERIVE_CATEGORY, false, &error),
                  error);
    return pipeline;
}

static oif_result process_category(oif_pipeline *pipeline, dice *from, double category)
{
    double row[COLUMNS] = {dice_normal(from), category, dice_normal(from)};
    return process(pipeline, row);
}

static double common_value(dice *from)
{
    static const double values[] = {7, 7, 7, 7, 1, 1, 1, 4, 4, -3};
    return values[dice_below(from, 10)];
}

static bool is_by_category(const oif_result *result)
{
    return result->anomaly &&
           (result->reason == OIF_REASON_NEW_VALUE || result->reason == OIF_REASON_RARE_VALUE);
}

static void a_value_never_seen_is_an_anomaly_with_its_reason(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        oif_pipeline *pipeline = new_with_category("");
        dice from = {.state = seed};
        for (int i = 0; i < 5000; i++) {
            oif_result result = process_category(pipeline, &from, common_value(&from));
            assert_false(is_by_category(&result));
        }
        oif_result result = process_category(pipeline, &from, oif_category("crashed", 7));
        oif_attribution why[COLUMNS];
        if (!result.anomaly)
            fail_msg("seed %d: no anomaly", (int)seed);
        oif_pipeline_explain(pipeline, why);
        assert_true(why[CATEGORY].share > 0.9 && why[CATEGORY].direction == 1);
        assert_int_equal(why[CATEGORY].reason, OIF_REASON_NEW_VALUE);
        oif_pipeline_free(pipeline);
    }
}

static void a_value_that_comes_back_after_very_long_is_rare(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_with_category("");
    dice from = {.state = 3};
    for (int i = 0; i < 100000; i++)
        process_category(pipeline, &from, i < 1000 && i % 4 == 0 ? 9 : common_value(&from));
    oif_result result = process_category(pipeline, &from, 9);
    oif_attribution why[COLUMNS];
    assert_true(result.anomaly);
    oif_pipeline_explain(pipeline, why);
    assert_int_equal(why[CATEGORY].reason, OIF_REASON_RARE_VALUE);
    oif_pipeline_free(pipeline);
}

/* 100 values with Zipf's law, and only new ones. */
static void healthy_categories_alert_at_most_at_the_rate(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        oif_pipeline *pipeline = new_with_category("");
        dice from = {.state = seed};
        int anomalies = 0, rows = 12000;
        for (int i = 0; i < rows; i++) {
            double value = seed % 2 == 0 ? 1e6 + i : fmin(99, floor(1 / (dice_unit(&from) + 0.01)));
            oif_result result = process_category(pipeline, &from, value);
            anomalies += is_by_category(&result);
        }
        if (anomalies > rows / 1000)
            fail_msg("seed %d: %d anomalies", (int)seed, anomalies);
        oif_pipeline_free(pipeline);
    }
}

static void a_new_value_that_stays_is_one_episode_for_64_rows(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_with_category("");
    dice from = {.state = 5};
    oif_episode_info episode;
    int anomalies = 0, episodes = 0;
    for (int i = 0; i < 20000; i++)
        process_category(pipeline, &from, common_value(&from));
    for (int i = 0; i < 400; i++) {
        oif_result result = process_category(pipeline, &from, 99);
        anomalies += result.anomaly;
        episodes += result.episode == OIF_EPISODE_BEGINS;
    }
    assert_true(anomalies >= 64 && anomalies < 90);
    assert_int_equal(episodes, 1);
    assert_true(oif_pipeline_episode(pipeline, NULL, 0, &episode) && episode.is_over);
    oif_pipeline_free(pipeline);
}

static void a_new_value_that_comes_now_and_then_becomes_known(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_with_category("");
    dice from = {.state = 6};
    int anomalies = 0;
    for (int i = 0; i < 20000; i++) {
        bool is_new = i > 6000 && i % 40 == 0;
        oif_result result = process_category(pipeline, &from, is_new ? 99 : common_value(&from));
        anomalies += is_new && is_by_category(&result);
    }
    assert_true(anomalies >= 1 && anomalies <= 8);
    oif_pipeline_free(pipeline);
}

static void rows_of_nothing_but_a_category_are_judged(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", settings, 1, "");
    dice from = {.state = 7};
    require_ok(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_CATEGORY, false, NULL));
    for (int i = 0; i < 3000; i++) {
        oif_result result = process(pipeline, (double[]){common_value(&from)});
        assert_false(result.anomaly);
    }
    oif_result result = process(pipeline, (double[]){99});
    assert_true(result.anomaly && result.reason == OIF_REASON_NEW_VALUE);
    oif_pipeline_free(pipeline);
}

static void a_frozen_pipeline_judges_a_value_the_same_each_time(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_with_category("");
    dice from = {.state = 8};
    for (int i = 0; i < 6000; i++)
        process_category(pipeline, &from, common_value(&from));
    require_ok(oif_pipeline_change_option(pipeline, "learn", 3, NULL));
    for (int i = 0; i < 500; i++) {
        double row[COLUMNS] = {0.1, 99, -0.1};
        assert_true(process(pipeline, row).anomaly);
        row[CATEGORY] = 7;
        assert_false(process(pipeline, row).anomaly);
    }
    oif_pipeline_free(pipeline);
}

static void a_missing_value_is_not_a_category(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_with_category("");
    dice from = {.state = 9};
    for (int i = 0; i < 3000; i++) {
        oif_result result = process_category(pipeline, &from, i % 3 ? common_value(&from) : NAN);
        assert_false(is_by_category(&result));
        assert_true(isnan(oif_pipeline_learned_row(pipeline)[CATEGORY]) == (i % 3 == 0));
    }
    oif_pipeline_free(pipeline);
}

static void a_million_values_take_no_memory(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("loda", "", 1, "");
    require_ok(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_CATEGORY, false, NULL));
    process(pipeline, (double[]){1});
    size_t bytes = oif_pipeline_memory_bytes(pipeline);
    for (int i = 0; i < 1000000; i++)
        assert_false(process(pipeline, (double[]){i % 2 ? i : 1}).anomaly);
    assert_int_equal(oif_pipeline_memory_bytes(pipeline), bytes);
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
}

/* ---- Deriving ---- */

static void a_category_is_nothing_else_as_well(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", settings, COLUMNS, "");
    oif_error error;
    assert_int_equal(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_CATEGORY, true, &error),
                     OIF_EPARAM);
    assert_non_null(strstr(error.message, "is a category, not a number"));
    require_ok(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_CATEGORY, false, NULL));
    require_ok(oif_pipeline_derive(pipeline, 1, OIF_DERIVE_DIFF, true, NULL));
    assert_int_equal(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_DIFF, false, NULL), OIF_EPARAM);
    assert_int_equal(oif_pipeline_derive(pipeline, 1, OIF_DERIVE_CATEGORY, false, NULL),
                     OIF_EPARAM);
    assert_int_equal(oif_pipeline_derive(pipeline, 0, (oif_derive)5, false, NULL), OIF_EPARAM);
    assert_int_equal(oif_pipeline_learned_columns(pipeline), 4);
    assert_string_equal(oif_derive_word(OIF_DERIVE_CATEGORY), "category");
    oif_pipeline_free(pipeline);
}

static void many_columns_are_derived_at_once_or_not_at_all(void **unused)
{
    (void)unused;
    oif_pipeline *at_once = new_pipeline("rolling-iforest", settings, COLUMNS, ""),
                 *one_by_one = new_pipeline("rolling-iforest", settings, COLUMNS, "");
    oif_derive_column list[] = {{2, OIF_DERIVE_CATEGORY, false},
                                {0, OIF_DERIVE_DIFF, true},
                                {0, OIF_DERIVE_LOG, false},
                                {0, OIF_DERIVE_LOG, false}};
    oif_error error;
    assert_int_equal(oif_pipeline_derive_all(at_once, list, 4, &error), OIF_EPARAM);
    assert_int_equal(error.column, 4);
    assert_int_equal(oif_pipeline_learned_columns(at_once), COLUMNS);
    require_ok_or(oif_pipeline_derive_all(at_once, list, 3, &error), error);
    for (size_t i = 0; i < 3; i++)
        require_ok(
            oif_pipeline_derive(one_by_one, list[i].column, list[i].kind, list[i].keep, NULL));
    dice from = {.state = 11};
    for (int i = 0; i < 2000; i++) {
        double row[COLUMNS] = {dice_normal(&from), dice_normal(&from), dice_below(&from, 30)};
        oif_result a = process(at_once, row), b = process(one_by_one, row);
        require_same_result(&a, &b);
    }
    oif_pipeline_free(one_by_one);
    oif_pipeline_free(at_once);
}

/* ---- Snapshots ---- */

typedef struct bytes {
    unsigned char data[1 << 20];
    size_t count;
} bytes;

static ptrdiff_t put_bytes(void *context, const char *from, size_t count)
{
    bytes *to = context;
    assert_true(to->count + count <= sizeof to->data);
    memcpy(to->data + to->count, from, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static void save(const oif_pipeline *pipeline, bytes *saved)
{
    saved->count = 0;
    require_ok(oif_pipeline_save(pipeline, put_bytes, saved, NULL));
}

static void a_loaded_pipeline_and_a_copy_continue_bit_for_bit(void **unused)
{
    (void)unused;
    static bytes saved, again;
    for (int rows = 0; rows < 6000; rows = rows * 5 + 1) {
        oif_pipeline *all[3] = {new_with_category("alert_rate=0.01")};
        dice from = {.state = 12};
        for (int i = 0; i < rows; i++)
            process_category(all[0], &from, floor(1 / (dice_unit(&from) + 1e-3)));
        save(all[0], &saved);
        require_ok(oif_pipeline_load_memory(saved.data, saved.count, &all[1], NULL));
        require_ok(oif_pipeline_clone(all[0], &all[2], NULL));
        for (int i = 0; i < 2000; i++) {
            double row[COLUMNS] = {dice_normal(&from), floor(1 / (dice_unit(&from) + 1e-4)),
                                   dice_normal(&from)};
            oif_result first = process(all[0], row);
            for (size_t j = 1; j < 3; j++) {
                oif_result other = process(all[j], row);
                require_same_result(&first, &other);
                assert_int_equal(first.reason, other.reason);
            }
        }
        save(all[0], &saved);
        for (size_t j = 1; j < 3; j++) {
            save(all[j], &again);
            assert_int_equal(saved.count, again.count);
            assert_memory_equal(saved.data, again.data, saved.count);
        }
        for (size_t j = 0; j < 3; j++)
            oif_pipeline_free(all[j]);
    }
}

static void a_snapshot_with_a_damaged_table_is_refused(void **unused)
{
    (void)unused;
    static bytes saved;
    oif_pipeline *pipeline = new_with_category(""), *loaded = NULL;
    dice from = {.state = 13};
    for (int i = 0; i < 100; i++)
        process_category(pipeline, &from, common_value(&from));
    oif_model *model = oif_pipeline_model(pipeline, pipeline->last);
    oif_derived_state *state = oif_block_part(model, model->at.derived);
    oif_category_table *table = (oif_category_table *)(state->samples + pipeline->plan.count);
    assert_int_equal(table->used, 4);
    table->values[2] = table->values[1];
    save(pipeline, &saved);
    oif_error error;
    assert_int_equal(oif_pipeline_load_memory(saved.data, saved.count, &loaded, &error),
                     OIF_ECORRUPT);
    assert_null(loaded);
    assert_int_equal(oif_pipeline_check(pipeline, NULL), OIF_EINVARIANT);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_knows_what_its_twin_knows),
        cmocka_unit_test(surprises_are_as_rare_as_they_say),
        cmocka_unit_test(damaged_tables_are_found),
        cmocka_unit_test(texts_are_numbers_that_stay_the_same),
        cmocka_unit_test(a_value_never_seen_is_an_anomaly_with_its_reason),
        cmocka_unit_test(a_value_that_comes_back_after_very_long_is_rare),
        cmocka_unit_test(healthy_categories_alert_at_most_at_the_rate),
        cmocka_unit_test(a_new_value_that_stays_is_one_episode_for_64_rows),
        cmocka_unit_test(a_new_value_that_comes_now_and_then_becomes_known),
        cmocka_unit_test(rows_of_nothing_but_a_category_are_judged),
        cmocka_unit_test(a_frozen_pipeline_judges_a_value_the_same_each_time),
        cmocka_unit_test(a_missing_value_is_not_a_category),
        cmocka_unit_test(a_million_values_take_no_memory),
        cmocka_unit_test(a_category_is_nothing_else_as_well),
        cmocka_unit_test(many_columns_are_derived_at_once_or_not_at_all),
        cmocka_unit_test(a_loaded_pipeline_and_a_copy_continue_bit_for_bit),
        cmocka_unit_test(a_snapshot_with_a_damaged_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
