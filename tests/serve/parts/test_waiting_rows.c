/* Rows that wait for samples of later requests. */
#include "serve/agents/waiting_rows.h"

#include "stream_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool add(waiting_rows *all, const char *rows, double now)
{
    return waiting_rows_add(all, (oif_text){rows, strlen(rows)}, 1, now);
}

static void expect_rows(waiting_rows *all, double arrived_by, const char *expected)
{
    size_t bytes = 0;
    char *text = waiting_rows_take(all, arrived_by, &bytes);
    if (!text || bytes != strlen(expected) || memcmp(text, expected, bytes) != 0)
        fail_msg("%.*s\nand not\n%s", (int)bytes, text ? text : "", expected);
    free(text);
}

static void samples_of_a_key_and_a_time_become_one_row(void **state)
{
    waiting_rows *all = waiting_rows_new();
    (void)state;
    assert_true(add(
        all, "{\"time\":10,\"job\":\"n\",\"a\":1}\n{\"time\":10,\"job\":\"m\",\"a\":2}\n", 100));
    assert_true(add(all, "{\"time\":10,\"job\":\"n\",\"b\":3,\"c\":4}\n", 101));
    assert_true(add(all, "{\"time\":10.5,\"job\":\"n\",\"d\":5}\n", 102));
    assert_int_equal(waiting_rows_count(all), 2);
    assert_false(waiting_rows_are_due(all, 99));
    assert_true(waiting_rows_are_due(all, 100));
    expect_rows(all, 100,
                "{\"time\":10,\"job\":\"n\",\"a\":1,\"b\":3,\"c\":4,\"d\":5}\n"
                "{\"time\":10,\"job\":\"m\",\"a\":2}\n");
    assert_int_equal(waiting_rows_count(all), 0);
    waiting_rows_free(all);
}

static void a_column_that_is_there_begins_another_row(void **state)
{
    waiting_rows *all = waiting_rows_new();
    (void)state;
    assert_true(add(all, "{\"time\":10,\"a\":1}\n", 100));
    assert_true(add(all, "{\"time\":10.5,\"a\":2}\n", 100));
    assert_true(add(all, "{\"time\":11.2,\"b\":3}\n", 100));
    assert_true(add(all, "{\"time\":20,\"c\":4}\n", 101));
    expect_rows(all, 100, "{\"time\":10,\"a\":1}\n{\"time\":10.5,\"a\":2,\"b\":3}\n");
    expect_rows(all, 200, "{\"time\":20,\"c\":4}\n");
    waiting_rows_free(all);
}

/* A sender that catches up sends many instants of one series, then those of another one. */
static void the_nearest_row_is_joined(void **state)
{
    waiting_rows *all = waiting_rows_new();
    (void)state;
    assert_true(add(all, "{\"time\":10.2,\"a\":3}\n{\"time\":10,\"a\":1}\n", 100));
    assert_true(add(all, "{\"time\":10.1,\"a\":2}\n", 100));
    assert_true(add(all, "{\"time\":10.1,\"b\":2}\n{\"time\":10.02,\"b\":1}\n", 101));
    assert_true(add(all, "{\"time\":10.9,\"b\":3}\n", 101));
    expect_rows(all, 101,
                "{\"time\":10,\"a\":1,\"b\":1}\n{\"time\":10.1,\"a\":2,\"b\":2}\n"
                "{\"time\":10.2,\"a\":3,\"b\":3}\n");
    waiting_rows_free(all);
}

static void rows_are_taken_by_time_and_wait_by_arrival(void **state)
{
    waiting_rows *all = waiting_rows_new();
    (void)state;
    assert_true(add(all, "{\"time\":30,\"a\":1}\n{\"time\":10,\"a\":2}\n", 100));
    assert_true(add(all, "{\"time\":20,\"a\":3}\n", 105));
    assert_true(add(all, "{\"time\":10,\"b\":9}\n", 106));
    expect_rows(all, 102, "{\"time\":10,\"a\":2,\"b\":9}\n{\"time\":30,\"a\":1}\n");
    expect_rows(all, 105, "{\"time\":20,\"a\":3}\n");
    waiting_rows_free(all);
}

static void names_and_keys_may_have_any_signs(void **state)
{
    waiting_rows *all = waiting_rows_new();
    (void)state;
    assert_true(
        add(all, "{\"time\":1,\"host\":{\"name\":\"a,}\\\"{\"},\"x{l=\\\"1,}\\\"}\":1e-05}\n", 1));
    assert_true(add(all, "{\"time\":1,\"host\":{\"name\":\"a,}\\\"{\"},\"x\":-2}\n", 1));
    assert_true(add(all, "{\"time\":1,\"host\":{\"name\":\"a\"},\"x\":3}\n", 1));
    expect_rows(
        all, 1,
        "{\"time\":1,\"host\":{\"name\":\"a,}\\\"{\"},\"x{l=\\\"1,}\\\"}\":1e-05,\"x\":-2}\n"
        "{\"time\":1,\"host\":{\"name\":\"a\"},\"x\":3}\n");
    waiting_rows_free(all);
}

static void what_is_not_such_a_row_is_refused(void **state)
{
    static const char *const bad[] = {"x\n",
                                      "{}\n",
                                      "{\"time\":1}\n",
                                      "{\"time\":\"x\",\"a\":1}\n",
                                      "{\"time\":1,\"a\":1}",
                                      "{\"time\":1,\"a\n",
                                      "\n",
                                      "{\"time\":1,\"a\":1}\n{\"time\"\n"};
    waiting_rows *all = waiting_rows_new();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (add(all, bad[i], 1))
            fail_msg("%s", bad[i]);
    assert_int_equal(waiting_rows_count(all), 0);
    waiting_rows_free(all);
}

/* What waits is bounded: then all of it is due. */
static void many_rows_are_due_at_once(void **state)
{
    waiting_rows *all = waiting_rows_new();
    char row[64];
    size_t bytes;
    (void)state;
    for (int i = 0; i <= WAITING_ROWS_MAX; i++) {
        assert_false(waiting_rows_are_due(all, 0));
        snprintf(row, sizeof row, "{\"time\":%d,\"key\":\"k%d\",\"a\":1}\n", 10 * i, i % 7);
        assert_true(add(all, row, 5));
    }
    assert_true(waiting_rows_are_due(all, 0));
    free(waiting_rows_take(all, 0, &bytes));
    assert_int_equal(waiting_rows_count(all), 0);
    assert_false(waiting_rows_are_due(all, INFINITY));
    waiting_rows_free(all);
}

/* How many numbers are in the rows that have arrived by then. */
static size_t take_numbers(waiting_rows *all, double arrived_by)
{
    size_t bytes = 0, colons = 0, rows = 0;
    char *text = waiting_rows_take(all, arrived_by, &bytes);
    for (size_t i = 0; text && i < bytes; i++) {
        colons += text[i] == ':';
        rows += text[i] == '\n';
    }
    free(text);
    return colons - 2 * rows; /* without the time and the key */
}

/* Any samples in any requests: rows of the same samples, each once. */
static void no_sample_is_lost_or_doubled(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        waiting_rows *all = waiting_rows_new();
        char row[96];
        size_t taken = 0, given = 0;
        for (double now = 0; now < 50; now++) {
            snprintf(row, sizeof row, "{\"time\":%u,\"key\":\"k%u\",\"c%u\":%u,\"d%u\":1}\n",
                     draw(5), draw(3), draw(10), draw(100), draw(10));
            assert_true(add(all, row, now));
            given += 2;
            if (draw(4) > 0)
                continue;
            taken += take_numbers(all, now - 3);
        }
        taken += take_numbers(all, INFINITY);
        assert_int_equal(taken, given);
        assert_true(add(all, "{\"time\":1,\"key\":\"k1\",\"a\":1}\n", 60));
        assert_false(waiting_rows_are_due(all, 59)); /* as nothing else is held */
        waiting_rows_free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_a_key_and_a_time_become_one_row),
        cmocka_unit_test(a_column_that_is_there_begins_another_row),
        cmocka_unit_test(the_nearest_row_is_joined),
        cmocka_unit_test(rows_are_taken_by_time_and_wait_by_arrival),
        cmocka_unit_test(names_and_keys_may_have_any_signs),
        cmocka_unit_test(what_is_not_such_a_row_is_refused),
        cmocka_unit_test(many_rows_are_due_at_once),
        cmocka_unit_test(no_sample_is_lost_or_doubled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
