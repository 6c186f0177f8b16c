/* serve/base/arrival_gaps.c: how long a feed may pause. */
#include "serve/base/arrival_gaps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double day = 86400, start = 1.7e9;

/* Rows arrive this often; the first after the last of those before. Returns the time of the
 * last. */
static double arrive(arrival_gaps *gaps, double from, double every, size_t count)
{
    double now = from;
    for (size_t i = 0; i < count; i++) {
        arrival_gaps_add(gaps, gaps->arrivals > 0 ? now + every - gaps->last : NAN, now + every);
        now += every;
    }
    return now;
}

#define assert_limit(gaps, now, is_live, wanted)                                                   \
    assert_true(fabs(arrival_gaps_limit(gaps, now, is_live) - (wanted)) < 1e-3)

static void a_feed_that_just_began_has_no_limit(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    assert_true(isinf(arrival_gaps_limit(&gaps, start, true)));
    double now = arrive(&gaps, start, 60, 7);
    assert_true(isinf(arrival_gaps_limit(&gaps, now, true)));
    now = arrive(&gaps, now, 60, 1);
    assert_limit(&gaps, now, true, 180);
}

static void a_file_in_batches_is_not_a_feed(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 0.2, 500); /* 100 seconds */
    assert_true(isinf(arrival_gaps_limit(&gaps, now + day, true)));
    assert_true(isinf(arrival_gaps_limit(&gaps, now + day, false)));
}

static void rows_without_times_must_come_for_longer(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 1, 300);
    assert_limit(&gaps, now, true, 30);
    assert_true(isinf(arrival_gaps_limit(&gaps, now, false)));
    now = arrive(&gaps, now, 1, 400);
    assert_limit(&gaps, now, false, 30);
}

static void hours_between_rows_are_not_a_minute(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 7200, 20);
    assert_limit(&gaps, now, false, 3 * 7200);
}

static void two_outages_do_not_count(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 10, 100);
    now = arrive(&gaps, now, 5000, 1);
    now = arrive(&gaps, now, 10, 100);
    now = arrive(&gaps, now, 9000, 1);
    now = arrive(&gaps, now, 10, 100);
    assert_limit(&gaps, now, true, 30);
}

static void a_pause_that_comes_back_is_usual_and_is_forgotten_when_it_no_longer_does(void **state)
{
    arrival_gaps gaps = {0};
    double now = start;
    (void)state;
    for (int night = 0; night < 3; night++) {
        now = arrive(&gaps, now, 60, 600);
        now = arrive(&gaps, now, 40000 + night, 1);
    }
    assert_limit(&gaps, now, true, 3 * 40000);
    for (int night = 0; night < 27; night++)
        now = arrive(&gaps, now, 60, 1440);
    now = arrive(&gaps, now, 60, 1440 * 2);
    assert_limit(&gaps, now, true, 180);
}

static void a_clock_that_is_set_back_adds_no_pause(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 10, 100);
    arrival_gaps_add(&gaps, -3600, now - 3600);
    arrival_gaps_add(&gaps, NAN, now);
    assert_limit(&gaps, now, true, 30);
    assert_int_equal(gaps.arrivals, 102);
}

static void nothing_is_usual_once_all_pauses_are_old(void **state)
{
    arrival_gaps gaps = {0};
    (void)state;
    double now = arrive(&gaps, start, 10, 100);
    assert_true(isinf(arrival_gaps_limit(&gaps, now + 29 * day, true)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_feed_that_just_began_has_no_limit),
        cmocka_unit_test(a_file_in_batches_is_not_a_feed),
        cmocka_unit_test(rows_without_times_must_come_for_longer),
        cmocka_unit_test(hours_between_rows_are_not_a_minute),
        cmocka_unit_test(two_outages_do_not_count),
        cmocka_unit_test(a_pause_that_comes_back_is_usual_and_is_forgotten_when_it_no_longer_does),
        cmocka_unit_test(a_clock_that_is_set_back_adds_no_pause),
        cmocka_unit_test(nothing_is_usual_once_all_pauses_are_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
