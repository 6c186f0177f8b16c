/* Which keys keep their models when there are more keys than models: nearly all of hosts that
 * report in rounds; and hosts that ended are replaced by new ones. */
#include "pipeline/pipeline.h"
#include "pipelines.h"

static const char small[] = "window_size=64 num_trees=8 sample_size=16";

static oif_pipeline *new_limited(uint32_t most_keys)
{
    char options[64];
    snprintf(options, sizeof options, "alert_rate=0.05 max_keys=%u", most_keys);
    return new_pipeline("rolling-iforest", small, 2, options);
}

static oif_result process_number(oif_pipeline *pipeline, uint32_t key, dice *from)
{
    double row[2];
    draw_row(from, row, 2);
    return process_key(pipeline, key_text(key), row);
}

/* Hosts in rotation. Returns the fraction of rows in the second half with the score they would have
 * if every host had a model. */
static double same_in_turn(uint32_t hosts, uint32_t most_keys, uint32_t turns)
{
    oif_pipeline *limited = new_limited(most_keys), *all = new_limited(hosts);
    dice from = {31}, again = {31};
    uint32_t same = 0, counted = 0;
    for (uint32_t turn = 0; turn < turns; turn++)
        for (uint32_t host = 0; host < hosts; host++) {
            oif_result a = process_number(limited, host, &from),
                       b = process_number(all, host, &again);
            assert_true(a.has_no_model == (a.score != a.score) && !b.has_no_model);
            assert_true(!a.has_no_model || (!a.ready && !a.anomaly && !a.learned));
            counted += turn >= turns / 2;
            same += turn >= turns / 2 && a.score == b.score && a.ready == b.ready;
        }
    print_message("%u hosts in turn, %u models: %.1f%% of the scores, %llu evictions, "
                  "%llu rows without a model\n",
                  hosts, most_keys, 100.0 * same / counted,
                  (unsigned long long)oif_pipeline_evictions(limited),
                  (unsigned long long)oif_pipeline_unmodelled_rows(limited));
    assert_true(oif_pipeline_keys(limited) <= most_keys);
    oif_pipeline_free(limited);
    oif_pipeline_free(all);
    return (double)same / counted;
}

static void hosts_that_report_in_turn_keep_their_models(void **unused)
{
    (void)unused;
    assert_true(same_in_turn(50, 49, 300) >= 0.9 * 49 / 50);
    assert_true(same_in_turn(51, 50, 300) >= 0.9 * 50 / 51);
    assert_true(same_in_turn(200, 49, 300) >= 0.5 * 49 / 200);
    assert_true(same_in_turn(3, 2, 300) >= 0.9 * 2 / 3);
    assert_true(same_in_turn(2, 1, 300) >= 0.9 * 1 / 2);
}

/* Hosts report in random order, each equally often. */
static void hosts_that_report_by_chance_keep_their_models(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_limited(49);
    dice from = {32};
    uint32_t ready = 0, rows = 30000;
    for (uint32_t i = 0; i < rows; i++)
        ready += process_number(pipeline, dice_below(&from, 50), &from).ready && i >= rows / 2;
    print_message("50 hosts by chance, 49 models: %.1f%% of the rows are ready\n",
                  200.0 * ready / rows);
    assert_true(ready > 0.45 * rows);
    oif_pipeline_free(pipeline);
}

/* 40 containers at a time, each for 400 of its own rows, then another one starts. */
static void containers_that_ended_give_way(void **unused)
{
    (void)unused;
    enum { AT_A_TIME = 40, LIFE = 400 };
    oif_pipeline *pipeline = new_limited(50);
    dice from = {33};
    uint32_t names[AT_A_TIME], lived[AT_A_TIME], next_name = 0, ready = 0, without = 0, rows = 0;
    for (uint32_t i = 0; i < AT_A_TIME; i++) {
        names[i] = next_name++;
        lived[i] = i * LIFE / AT_A_TIME;
    }
    for (uint32_t turn = 0; turn < 4000; turn++)
        for (uint32_t i = 0; i < AT_A_TIME; i++, rows++) {
            if (lived[i]++ == LIFE) {
                names[i] = next_name++;
                lived[i] = 1;
            }
            oif_result result = process_number(pipeline, names[i], &from);
            ready += result.ready;
            without += result.has_no_model;
        }
    print_message(
        "%u containers, 40 at a time, 50 models: %.1f%% of the rows are ready, %.2f%% have "
        "no model\n",
        next_name, 100.0 * ready / rows, 100.0 * without / rows);
    assert_true(without < rows / 100);
    assert_true(ready > 0.6 * rows);
    oif_pipeline_free(pipeline);
}

/* As many containers as models: a new one waits until the one that ended is overdue. */
static void a_new_key_waits_for_some_turns_at_most(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_limited(50);
    dice from = {34};
    uint32_t turn = 0, waited = 0;
    for (; turn < 50; turn++)
        for (uint32_t i = 0; i < 50; i++)
            assert_false(process_number(pipeline, i, &from).has_no_model);
    for (; turn < 60; turn++)
        for (uint32_t i = 1; i <= 50; i++) /* the first one has ended, another one starts */
            waited += process_number(pipeline, i, &from).has_no_model;
    assert_in_range(waited, 1, 5);
    assert_int_equal(oif_pipeline_evictions(pipeline), 1);
    assert_int_equal(oif_pipeline_restarts(pipeline), 0);
    for (turn = 0; turn < 10; turn++) /* and the first one comes back: none has ended */
        for (uint32_t i = 0; i <= 50; i++)
            assert_true(process_number(pipeline, i, &from).has_no_model == (i == 0));
    oif_pipeline_free(pipeline);
}

static void a_key_that_comes_often_gets_in_among_keys_that_come_once(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_limited(100);
    dice from = {35};
    uint32_t ready = 0;
    for (uint32_t i = 0; i < 60000; i++)
        if (i % 5 || i < 1000)
            process_number(pipeline, 1000 + i, &from);
        else
            ready += process_number(pipeline, i / 5 % 10, &from).ready;
    assert_true(ready > 8000); /* of 11800 */
    oif_pipeline_free(pipeline);
}

/* A file sorted by key. */
static void keys_one_after_another_all_learn(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_limited(5);
    dice from = {36};
    for (uint32_t key = 0; key < 40; key++)
        for (uint32_t i = 0; i < 200; i++) {
            oif_result result = process_number(pipeline, key, &from);
            assert_true(i < 20 || !result.has_no_model);
            assert_true(i < 190 || result.ready);
        }
    oif_pipeline_free(pipeline);
}

static void an_evicted_key_that_comes_back_is_counted(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_limited(1);
    dice from = {37};
    for (uint32_t i = 0; i < 200; i++)
        process_number(pipeline, i / 50 % 2, &from);
    assert_int_equal(oif_pipeline_evictions(pipeline), 3);
    assert_int_equal(oif_pipeline_restarts(pipeline), 2);
    oif_pipeline_free(pipeline);
}

/* With evicted=keep no row is without a model, and few models are read back. */
static void hosts_in_turn_are_seldom_read_back(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "max_keys=49 evicted=keep");
    dice from = {38};
    for (uint32_t turn = 0; turn < 200; turn++)
        for (uint32_t host = 0; host < 50; host++)
            assert_false(process_number(pipeline, host, &from).has_no_model);
    print_message("50 hosts in turn, 49 kept in memory: %llu of 10000 rows evict\n",
                  (unsigned long long)oif_pipeline_evictions(pipeline));
    assert_true(oif_pipeline_evictions(pipeline) < 2500);
    oif_pipeline_free(pipeline);
}

static void a_model_that_cannot_be_kept_is_lost_with_a_reason(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", small, 2, "max_keys=1 evicted=keep");
    const char *why = NULL;
    dice from = {40};
    process_number(pipeline, 7, &from);
    assert_int_equal(oif_pipeline_lost(pipeline, &why), 0);
    process_number(pipeline, 8, &from);
    assert_int_equal(oif_pipeline_lost(pipeline, &why), 1);
    assert_string_equal(why, "evicted=keep needs a state file, and there is none");
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_report_in_turn_keep_their_models),
        cmocka_unit_test(hosts_that_report_by_chance_keep_their_models),
        cmocka_unit_test(containers_that_ended_give_way),
        cmocka_unit_test(a_new_key_waits_for_some_turns_at_most),
        cmocka_unit_test(a_key_that_comes_often_gets_in_among_keys_that_come_once),
        cmocka_unit_test(keys_one_after_another_all_learn),
        cmocka_unit_test(an_evicted_key_that_comes_back_is_counted),
        cmocka_unit_test(hosts_in_turn_are_seldom_read_back),
        cmocka_unit_test(a_model_that_cannot_be_kept_is_lost_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
