/* front/session: rows with keys and times through a pipeline, and when silence is looked for. */
#include "front_fixture.h"

#include "front/session/row_session.h"

#include <math.h>

/* ---- The clock ---- */

static const double noon = 1794830400; /* 2026-11-16T12:00:00Z */

static silence_clock new_clock(void)
{
    return (silence_clock){.latest = NAN};
}

/* `silence` as in the option: 0 is a limit that is learned. */
static oif_pipeline *new_pipeline(double silence)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_pipeline_options_init(&options);
    assert_int_equal(oif_params_init(&params, OIF_DEFAULT_DETECTOR, NULL), OIF_OK);
    assert_int_equal(oif_params_set(&options, "silence", silence, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_new(&params, 1, &options, &pipeline, NULL), OIF_OK);
    return pipeline;
}

static void only_a_later_row_advances_the_clock(void **state)
{
    (void)state;
    silence_clock clock = new_clock();
    assert_false(silence_clock_row(&clock, NAN));
    assert_true(isnan(clock.latest));
    assert_true(silence_clock_row(&clock, noon));
    assert_false(silence_clock_row(&clock, noon));
    assert_false(silence_clock_row(&clock, noon - 1));
    assert_false(silence_clock_row(&clock, NAN));
    assert_true(clock.latest == noon);
    assert_true(silence_clock_row(&clock, noon + 0.5));
    assert_true(clock.latest == noon + 0.5);
}

static void the_longest_pause_between_arrivals_is_kept(void **state)
{
    (void)state;
    silence_clock clock = new_clock();
    silence_clock_arrive(&clock, 3);
    silence_clock_arrive(&clock, 10);
    silence_clock_arrive(&clock, 4);
    assert_int_equal(clock.arrivals, 3);
    assert_true(clock.longest_idle == 10);
}

static void a_stream_is_live_within_a_day_of_the_wall_clock(void **state)
{
    (void)state;
    silence_clock clock = new_clock();
    assert_false(silence_clock_is_live(&clock, noon));
    silence_clock_row(&clock, noon);
    assert_true(silence_clock_is_live(&clock, noon));
    assert_true(silence_clock_is_live(&clock, noon + 86399));
    assert_true(silence_clock_is_live(&clock, noon - 86399));
    assert_false(silence_clock_is_live(&clock, noon + 86400));
    assert_false(silence_clock_is_live(&clock, noon - 86400));
}

static void the_present_is_unknown_until_rows_arrived_four_times(void **state)
{
    (void)state;
    oif_pipeline *pipeline = new_pipeline(0);
    silence_clock clock = new_clock();
    silence_clock_row(&clock, noon);
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(silence_clock_now(&clock, pipeline, noon, 100)));
        silence_clock_arrive(&clock, 1);
    }
    assert_true(silence_clock_now(&clock, pipeline, noon, 100) == noon + 98);
    oif_pipeline_free(pipeline);
}

static void pauses_up_to_twice_the_longest_are_not_silence(void **state)
{
    (void)state;
    oif_pipeline *pipeline = new_pipeline(0);
    silence_clock clock = {.latest = noon, .longest_idle = 30, .arrivals = 4};
    assert_true(silence_clock_now(&clock, pipeline, noon, 0) == noon);
    assert_true(silence_clock_now(&clock, pipeline, noon, 60) == noon);
    assert_true(silence_clock_now(&clock, pipeline, noon, 61) == noon + 1);
    oif_pipeline_free(pipeline);
}

static void with_a_fixed_limit_every_second_without_rows_counts(void **state)
{
    (void)state;
    oif_pipeline *pipeline = new_pipeline(300);
    silence_clock clock = {.latest = noon, .longest_idle = 30};
    assert_true(silence_clock_now(&clock, pipeline, noon, 20) == noon + 20);
    oif_pipeline_free(pipeline);
}

static void the_present_of_an_old_stream_is_unknown(void **state)
{
    (void)state;
    oif_pipeline *fixed = new_pipeline(300), *learned = new_pipeline(0);
    silence_clock clock = {.latest = noon, .arrivals = 9}, empty = new_clock();
    assert_true(isnan(silence_clock_now(&clock, fixed, noon + 2 * 86400, 20)));
    assert_true(isnan(silence_clock_now(&clock, learned, noon + 2 * 86400, 20)));
    assert_true(isnan(silence_clock_now(&empty, fixed, noon, 20)));
    oif_pipeline_free(fixed);
    oif_pipeline_free(learned);
}

/* ---- Sessions ---- */

/* What a session reports: "web db silent(db,noon+60) web". */
typedef struct session_log {
    char text[1024];
    session_row row; /* its record is gone */
    uint64_t line;
    oif_result result;
    size_t scored;
} session_log;

static void log_silent(void *context, const oif_silence *silence)
{
    session_log *log = context;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, " silent(%.*s,noon+%g)",
             (int)silence->key_bytes, silence->key, silence->since - noon);
}

static void log_scored(void *context, const session_row *row, const oif_result *result)
{
    session_log *log = context;
    size_t used = strlen(log->text);
    log->row = *row;
    log->line = row->record->line;
    log->result = *result;
    log->scored++;
    snprintf(log->text + used, sizeof log->text - used, " %.*s", (int)row->key.bytes,
             row->key.text ? row->key.text : "");
}

typedef struct test_session {
    memory_rows rows;
    oif_pipeline *pipeline;
    stream_clock times;
    silence_clock silence;
    session_log log;
    row_session session;
} test_session;

static void begin(test_session *test, const char *text, const char *const arguments[])
{
    *test = (test_session){.silence = new_clock()};
    open_rows(&test->rows, text, arguments);
    input_columns *columns = &test->rows.input.columns;
    assert_int_equal(settings_make_pipeline(&test->rows.settings, columns->count, &test->pipeline),
                     EXIT_OK);
    test->times =
        stream_clock_start(&test->rows.input.source, columns->time_name, &columns->time_format);
    test->times.has_keys = columns->has_key;
    test->session = (row_session){.pipeline = test->pipeline,
                                  .columns = columns,
                                  .times = &test->times,
                                  .silence = &test->silence,
                                  .sink = {&test->log, log_silent, log_scored}};
}

static void end(test_session *test)
{
    oif_pipeline_free(test->pipeline);
    close_rows(&test->rows);
}

static oif_status process_record(test_session *test, const oif_record *record)
{
    session_row row = row_session_read(&test->session, record);
    return row_session_process(&test->session, &row, NULL);
}

static void process(test_session *test, int count)
{
    for (int i = 0; i < count; i++) {
        oif_record record = next_record(&test->rows);
        assert_int_equal(process_record(test, &record), OIF_OK);
    }
}

static const char fleet[] = "host,at,load\n"
                            "web,2026-11-16T12:00:00Z,1\n"
                            "db,2026-11-16T12:01:00Z,2\n"
                            "web,2026-11-16T12:02:00Z,1\n"
                            "web,2026-11-16T12:05:00Z,1\n"
                            "web,2026-11-16T12:07:00Z,1\n"
                            "web,2026-11-16T12:09:00Z,1\n"
                            "db,2026-11-16T12:10:00Z,2\n";

static const char *const watched[] = {"--key", "host", "--time", "at", "--silence", "5m", NULL};

static void a_row_has_the_key_and_the_time_of_its_record(void **state)
{
    (void)state;
    test_session test;
    begin(&test, fleet, watched);
    process(&test, 2);
    assert_int_equal(test.log.scored, 2);
    assert_string_equal(test.log.text, " web db");
    assert_true(test.log.row.seconds == noon + 60);
    assert_int_equal(test.log.line, 3);
    assert_true(test.log.row.values[0] == 2);
    oif_key_info info;
    assert_true(oif_pipeline_key(test.pipeline, "web", 3, &info));
    assert_true(oif_pipeline_key(test.pipeline, "db", 2, &info));
    end(&test);
}

static void several_columns_are_one_key(void **state)
{
    (void)state;
    test_session test;
    begin(&test, "host,disk,load\nweb,/dev,1\n", OPTIONS("--key", "host,disk"));
    process(&test, 1);
    assert_string_equal(test.log.text, " web/\\/dev");
    assert_true(isnan(test.log.row.seconds));
    end(&test);
}

static void without_key_and_time_a_row_has_neither(void **state)
{
    (void)state;
    test_session test;
    begin(&test, "load\n1\n2\n", NO_OPTIONS);
    process(&test, 2);
    assert_int_equal(test.log.scored, 2);
    assert_null(test.log.row.key.text);
    assert_int_equal(test.log.row.key.bytes, 0);
    assert_true(isnan(test.log.row.seconds));
    assert_true(isnan(test.silence.latest));
    assert_int_equal(test.times.read, 0);
    end(&test);
}

static void a_silent_key_is_reported_before_the_row_that_shows_it(void **state)
{
    (void)state;
    test_session test;
    begin(&test, fleet, watched);
    process(&test, 4);
    assert_string_equal(test.log.text, " web db web web");
    process(&test, 1);
    assert_string_equal(test.log.text, " web db web web silent(db,noon+60) web");
    process(&test, 1);
    assert_string_equal(test.log.text, " web db web web silent(db,noon+60) web web");
    process(&test, 1);
    assert_string_equal(test.log.text, " web db web web silent(db,noon+60) web web db");
    assert_int_equal(test.log.result.reason, OIF_REASON_SILENCE);
    assert_true(test.log.result.pause == 540);
    end(&test);
}

static void a_look_counts_the_keys_that_fell_silent_since_the_last(void **state)
{
    (void)state;
    test_session test;
    begin(&test, fleet, watched);
    process(&test, 3);
    assert_int_equal(row_session_look(&test.session, noon + 360), 0);
    assert_int_equal(row_session_look(&test.session, noon + 500), 2);
    assert_int_equal(row_session_look(&test.session, noon + 900), 0);
    assert_string_equal(test.log.text, " web db web silent(db,noon+60) silent(web,noon+120)");
    end(&test);
}

static void without_a_silence_clock_no_silence_is_reported(void **state)
{
    (void)state;
    test_session test;
    begin(&test, fleet, watched);
    test.session.silence = NULL;
    process(&test, 7);
    assert_string_equal(test.log.text, " web db web web web web db");
    end(&test);
}

static void a_late_row_does_not_make_others_silent(void **state)
{
    (void)state;
    test_session test;
    begin(&test,
          "host,at,load\n"
          "db,2026-11-16T11:00:00Z,2\n"
          "web,2026-11-16T11:04:00Z,1\n"
          "web,2026-11-16T11:01:00Z,1\n"
          "web,,1\n",
          watched);
    process(&test, 4);
    assert_string_equal(test.log.text, " db web web web");
    assert_true(isnan(test.log.row.seconds));
    assert_true(test.silence.latest == noon - 3600 + 240);
    end(&test);
}

static void a_row_that_the_pipeline_refuses_has_no_result(void **state)
{
    (void)state;
    test_session test;
    begin(&test, "load\n1\n", NO_OPTIONS);
    const double infinite[] = {INFINITY};
    oif_record record = next_record(&test.rows);
    record.values = infinite;
    assert_int_equal(process_record(&test, &record), OIF_EVALUE);
    assert_int_equal(test.log.scored, 0);
    end(&test);
}

static void the_pipeline_gets_numbers_for_categories(void **state)
{
    (void)state;
    test_session test;
    begin(&test, "load,state\n1,up\n2,down\n3,up\n", OPTIONS("--category", "state"));
    process(&test, 1);
    const double up = test.log.row.values[1];
    assert_true(test.log.row.values[0] == 1);
    process(&test, 1);
    assert_true(test.log.row.values[0] == 2);
    assert_false(test.log.row.values[1] == up);
    process(&test, 1);
    assert_true(test.log.row.values[1] == up);
    end(&test);
}

static void the_order_of_times_is_that_of_the_first_key_if_there_are_rates(void **state)
{
    (void)state;
    test_session test;
    begin(&test, fleet, watched);
    process(&test, 7);
    assert_false(test.times.has_first_key);
    assert_int_equal(test.times.ordered, 7);
    end(&test);
    begin(&test, fleet, watched);
    test.times.has_rates = true;
    process(&test, 7);
    assert_true(test.times.has_first_key);
    assert_int_equal(test.times.ordered, 5);
    end(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_later_row_advances_the_clock),
        cmocka_unit_test(the_longest_pause_between_arrivals_is_kept),
        cmocka_unit_test(a_stream_is_live_within_a_day_of_the_wall_clock),
        cmocka_unit_test(the_present_is_unknown_until_rows_arrived_four_times),
        cmocka_unit_test(pauses_up_to_twice_the_longest_are_not_silence),
        cmocka_unit_test(with_a_fixed_limit_every_second_without_rows_counts),
        cmocka_unit_test(the_present_of_an_old_stream_is_unknown),
        cmocka_unit_test(a_row_has_the_key_and_the_time_of_its_record),
        cmocka_unit_test(several_columns_are_one_key),
        cmocka_unit_test(without_key_and_time_a_row_has_neither),
        cmocka_unit_test(a_silent_key_is_reported_before_the_row_that_shows_it),
        cmocka_unit_test(a_look_counts_the_keys_that_fell_silent_since_the_last),
        cmocka_unit_test(without_a_silence_clock_no_silence_is_reported),
        cmocka_unit_test(a_late_row_does_not_make_others_silent),
        cmocka_unit_test(a_row_that_the_pipeline_refuses_has_no_result),
        cmocka_unit_test(the_pipeline_gets_numbers_for_categories),
        cmocka_unit_test(the_order_of_times_is_that_of_the_first_key_if_there_are_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
