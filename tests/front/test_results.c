/* front/results: a record and its verdict in every format, and the records of alerts. The verdicts
 * are made by hand, so their numbers are known. */
#include "front_fixture.h"

#include "front/results/alert_record.h"
#include "front/results/incident_record.h"
#include "front/results/row_writer.h"

#include <math.h>

static const double noon = 1794830400; /* 2026-11-16T12:00:00Z */

/* ---- Rows and verdicts ---- */

typedef struct test_writer {
    memory_rows rows;
    result_fields fields;
    row_writer writer;
    oif_pipeline *pipeline;
    row_verdict verdict;
} test_writer;

static const oif_result plain_result = {.score = 0.5,
                                        .threshold = 2.8,
                                        .ready = true,
                                        .learned = true,
                                        .severity = 0.602,
                                        .pause = NAN};

static void begin_text(test_writer *test, oif_text text, const char *const arguments[])
{
    *test = (test_writer){.pipeline = NULL};
    if (try_rows(&test->rows, text, arguments) != EXIT_OK)
        fail_msg("%s", said.text);
    const run_input *input = &test->rows.input;
    const run_settings *settings = &test->rows.settings;
    assert_int_equal(settings_make_pipeline(settings, input->columns.count, &test->pipeline),
                     EXIT_OK);
    assert_int_equal(result_fields_open(&test->fields, settings), EXIT_OK);
    assert_int_equal(result_fields_start(&test->fields, test->pipeline, &input->columns), EXIT_OK);
    assert_int_equal(row_writer_start(&test->writer, input, &settings->score), EXIT_OK);
    test->verdict = (row_verdict){.result = plain_result, .fields = &test->fields, .seconds = NAN};
}

static void begin(test_writer *test, const char *text, const char *const arguments[])
{
    begin_text(test, text_of(text), arguments);
}

static void end(test_writer *test)
{
    row_writer_close(&test->writer);
    result_fields_close(&test->fields);
    oif_pipeline_free(test->pipeline);
    close_rows(&test->rows);
}

static const char *header_of(const test_writer *test)
{
    output_divert();
    assert_true(row_writer_header(&test->writer, &test->fields));
    return take_written();
}

static const char *next_row(test_writer *test)
{
    oif_record record = next_record(&test->rows);
    output_divert();
    assert_true(row_writer_row(&test->writer, &record, &test->verdict));
    return take_written();
}

/* The values of the verdict's fields in CSV and in JSON. */
static const char *csv_fields(const test_writer *test)
{
    output_divert();
    assert_true(result_fields_write_csv(&test->verdict, ',', '.'));
    return take_written();
}

static const char *json_fields(const test_writer *test)
{
    output_divert();
    assert_true(result_fields_write_json(&test->verdict));
    return take_written();
}

/* ---- Formats ---- */

static const char mixed[] = "host,load,note\n"
                            "web,0.50,\"two \"\"words\"\"\"\n"
                            "db,,\n"
                            "x y,+1,007\n";

static void csv_keeps_its_bytes_and_gets_fields(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, mixed, OPTIONS("--key", "host", "--exclude", "note"));
    assert_string_equal(header_of(&test), "host,load,note,score,severity,anomaly\n");
    assert_string_equal(next_row(&test), "web,0.50,\"two \"\"words\"\"\",0.5,0.6,0\n");
    assert_string_equal(next_row(&test), "db,,,0.5,0.6,0\n");
    end(&test);
}

static void csv_keeps_its_line_ends_and_its_byte_order_mark(void **state)
{
    (void)state;
    test_writer test;
    begin(&test,
          "\xef\xbb\xbf"
          "load\r\n1\r\n2\n",
          NO_OPTIONS);
    assert_string_equal(header_of(&test), "\xef\xbb\xbf"
                                          "load,score,severity,anomaly\r\n");
    assert_string_equal(next_row(&test), "1,0.5,0.6,0\r\n");
    assert_string_equal(next_row(&test), "2,0.5,0.6,0\n");
    end(&test);
}

static void csv_with_decimal_commas_gets_fields_with_them(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load;x\n1,5;2\n", NO_OPTIONS);
    assert_string_equal(header_of(&test), "load;x;score;severity;anomaly\n");
    assert_string_equal(next_row(&test), "1,5;2;0,5;0,6;0\n");
    end(&test);
}

static void csv_becomes_ndjson_with_numbers_and_null(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, mixed, OPTIONS("--key", "host", "--exclude", "note", "--output", "ndjson"));
    assert_string_equal(header_of(&test), "");
    assert_string_equal(next_row(&test),
                        "{\"host\":\"web\",\"load\":0.50,\"note\":\"two \\\"words\\\"\","
                        "\"oif\":{\"score\":0.5,\"severity\":0.6,\"anomaly\":false}}\n");
    assert_string_equal(next_row(&test),
                        "{\"host\":\"db\",\"load\":null,\"note\":null,"
                        "\"oif\":{\"score\":0.5,\"severity\":0.6,\"anomaly\":false}}\n");
    assert_string_equal(next_row(&test),
                        "{\"host\":\"x y\",\"load\":1,\"note\":\"007\","
                        "\"oif\":{\"score\":0.5,\"severity\":0.6,\"anomaly\":false}}\n");
    end(&test);
}

static void ndjson_is_extended_before_its_last_brace(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "{\"load\": 0.5 }\n{}\n{\"load\":1,\"d\":{\"e\":2}} \n",
          OPTIONS("--fields", "score"));
    assert_string_equal(header_of(&test), "");
    assert_string_equal(next_row(&test), "{\"load\": 0.5 ,\"oif\":{\"score\":0.5}}\n");
    assert_string_equal(next_row(&test), "{\"oif\":{\"score\":0.5}}\n");
    assert_string_equal(next_row(&test), "{\"load\":1,\"d\":{\"e\":2},\"oif\":{\"score\":0.5}} \n");
    end(&test);
}

static void ndjson_becomes_csv_with_a_header(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "{\"host\":\"a,b\",\"load\":1}\n{\"host\":\"say \\\"no\\\"\"}\n",
          OPTIONS("--key", "host", "--output", "csv", "--fields", "score"));
    assert_string_equal(header_of(&test), "host,load,score\n");
    assert_string_equal(next_row(&test), "\"a,b\",1,0.5\n");
    assert_string_equal(next_row(&test), "\"say \"\"no\"\"\",,0.5\n");
    end(&test);
}

static void logfmt_leaves_out_what_is_missing(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, mixed, OPTIONS("--key", "host", "--exclude", "note", "--output", "logfmt"));
    assert_string_equal(header_of(&test), "");
    assert_string_equal(next_row(&test), "host=web load=0.50 note=\"two \\\"words\\\"\" "
                                         "score=0.5 severity=0.6 anomaly=false\n");
    test.verdict.result.score = NAN;
    assert_string_equal(next_row(&test), "host=db severity=0.6 anomaly=false\n");
    assert_string_equal(next_row(&test),
                        "host=\"x y\" load=+1 note=007 severity=0.6 anomaly=false\n");
    end(&test);
}

/* ---- Fields ---- */

static const char all_fields[] =
    "score,severity,threshold,anomaly,grade,ready,episode,episode_id,why,expected";

static void every_field_of_a_calm_row_is_written(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load\n1\n", OPTIONS("--fields", all_fields));
    assert_string_equal(csv_fields(&test), ",0.5,0.6,2.8,0,,1,,,,");
    assert_string_equal(json_fields(&test),
                        "\"oif\":{\"score\":0.5,\"severity\":0.6,\"threshold\":2.8,"
                        "\"anomaly\":false,"
                        "\"grade\":null,\"ready\":true,\"episode\":null,\"episode_id\":null,"
                        "\"why\":[],\"expected\":null}");
    end(&test);
}

static const double row_values[] = {9, NAN};

/* An anomaly whose reasons are two columns, in an episode. */
static void make_anomalous(test_writer *test)
{
    test->verdict.result.anomaly = true;
    test->verdict.result.grade = OIF_GRADE_CRITICAL;
    test->verdict.result.episode = OIF_EPISODE_BEGINS;
    test->verdict.values = row_values;
    test->verdict.reason_count = 2;
    test->verdict.episode = (oif_episode_info){.number = 3,
                                               .first_row = 40,
                                               .first_seconds = noon,
                                               .last_seconds = noon + 60,
                                               .rows = 2,
                                               .anomalies = 1,
                                               .peak_grade = OIF_GRADE_CRITICAL,
                                               .peak_severity = 5.2,
                                               .column = 0,
                                               .direction = 1,
                                               .value = 9,
                                               .reason = OIF_REASON_VALUES};
    test->fields.order[0] = 0;
    test->fields.order[1] = 1;
    test->fields.attributions[0] = (oif_attribution){.share = 0.71, .direction = 1};
    test->fields.attributions[1] = (oif_attribution){.share = 0.2, .direction = -1};
    test->fields.expected[0] = (oif_expected){.low = 0.123456, .high = 3};
    test->fields.expected[1] = (oif_expected){.low = NAN, .high = NAN};
}

static void every_field_of_an_anomaly_is_written(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load,\"x,y\"\n9,\n", OPTIONS("--fields", "anomaly,grade,episode,episode_id,why"));
    make_anomalous(&test);
    assert_string_equal(csv_fields(&test), ",1,critical,begins,3,"
                                           "\"load high 71%; x,y missing 20%\"");
    assert_string_equal(
        json_fields(&test),
        "\"oif\":{\"anomaly\":true,\"grade\":\"critical\",\"episode\":\"begins\","
        "\"episode_id\":3,"
        "\"why\":[{\"column\":\"load\",\"direction\":\"high\",\"share\":0.71,\"value\":9,"
        "\"expected\":[0.1235,3]},"
        "{\"column\":\"x,y\",\"direction\":\"missing\",\"share\":0.20}]}");
    char text[FIELD_TEXT_BYTES];
    test.verdict.episode.reason = OIF_REASON_PARTNER;
    test.verdict.episode.partner = 1;
    result_fields_episode_text(&test.fields, &test.verdict.episode, text);
    assert_string_equal(text, "load no longer follows x,y");
    test.verdict.episode.partner = OIF_UNKNOWN_COLUMN;
    result_fields_episode_text(&test.fields, &test.verdict.episode, text);
    assert_string_equal(text, "load no longer follows another column");
    end(&test);
}

static void a_number_that_is_not_finite_is_empty_or_null(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load\n1\n", OPTIONS("--fields", "score,severity,anomaly"));
    test.verdict.result.score = NAN;
    test.verdict.result.severity = INFINITY;
    assert_string_equal(csv_fields(&test), ",,,0");
    assert_string_equal(json_fields(&test),
                        "\"oif\":{\"score\":null,\"severity\":null,\"anomaly\":false}");
    end(&test);
}

static void numbers_have_as_many_digits_as_asked_for(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load\n1\n", OPTIONS("--fields", "score,threshold", "--digits", "3"));
    test.verdict.result.score = 0.000123456;
    test.verdict.result.threshold = 2.87654;
    assert_string_equal(csv_fields(&test), ",0.000123,2.88");
    end(&test);
}

static void a_value_has_the_type_of_its_field(void **state)
{
    (void)state;
    test_writer test;
    field_value value;
    begin(&test, "load,x\n9,\n", OPTIONS("--fields", all_fields));
    result_fields_value(&test.verdict, FIELD_GRADE, &value);
    assert_int_equal(value.kind, VALUE_ABSENT);
    result_fields_value(&test.verdict, FIELD_EPISODE_ID, &value);
    assert_int_equal(value.kind, VALUE_ABSENT);
    make_anomalous(&test);
    result_fields_value(&test.verdict, FIELD_GRADE, &value);
    assert_int_equal(value.kind, VALUE_TEXT);
    assert_string_equal(value.text, "critical");
    result_fields_value(&test.verdict, FIELD_ANOMALY, &value);
    assert_int_equal(value.kind, VALUE_TRUTH);
    assert_true(value.truth);
    result_fields_value(&test.verdict, FIELD_EPISODE_ID, &value);
    assert_int_equal(value.kind, VALUE_COUNT);
    assert_int_equal(value.count, 3);
    result_fields_value(&test.verdict, FIELD_SEVERITY, &value);
    assert_int_equal(value.kind, VALUE_NUMBER);
    result_fields_value(&test.verdict, FIELD_WHY, &value);
    assert_string_equal(value.text, "load high 71%; x missing 20%");
    end(&test);
}

static void reasons_that_do_not_fit_are_cut_off(void **state)
{
    (void)state;
    test_writer test;
    char text[16];
    begin(&test, "load,x\n9,\n", OPTIONS("--fields", "why"));
    make_anomalous(&test);
    result_fields_reasons_text(&test.verdict, text, sizeof text);
    assert_string_equal(text, "load high 71%; ");
    result_fields_reasons_text(&test.verdict, text, 5);
    assert_string_equal(text, "load");
    end(&test);
}

static void what_is_unusual_has_words_of_its_own(void **state)
{
    (void)state;
    static const struct {
        oif_attribution why;
        const char *text;
    } unusual[] = {
        {{.reason = OIF_REASON_VALUES, .direction = 1, .size = NAN}, "high"},
        {{.reason = OIF_REASON_VALUES, .direction = -1, .size = NAN}, "low"},
        {{.reason = OIF_REASON_VALUES, .size = NAN}, "unusual"},
        {{.reason = OIF_REASON_PARTNER, .size = NAN}, "no longer follows cpu"},
        {{.reason = OIF_REASON_SEASON, .direction = -1, .size = NAN}, "low for this time"},
        {{.reason = OIF_REASON_SILENCE, .size = NAN}, "after a silence"},
        {{.reason = OIF_REASON_STUCK, .size = 220, .usual = 6},
         "the same value for 220 rows, usually at most 6"},
        {{.reason = OIF_REASON_MISSING, .size = 14, .usual = 2},
         "no value for 14 rows, usually at most 2"},
        {{.reason = OIF_REASON_MISSING, .size = NAN, .usual = NAN}, "no value"},
        {{.reason = OIF_REASON_JUMP, .direction = -1, .size = NAN, .usual = NAN}, "jumps down"},
        {{.reason = OIF_REASON_JUMP, .direction = 1, .size = 62, .usual = NAN}, "jumps up by 62"},
        {{.reason = OIF_REASON_JUMP, .direction = 1, .size = 15432, .usual = 0.00123456},
         "jumps up by 15400, usually at most 0.00123"},
        {{.reason = OIF_REASON_LEVEL, .direction = -1, .size = 1.32, .usual = 0.5},
         "stays below its level by 1.32, usually at most 0.5"},
        {{.reason = OIF_REASON_LEVEL, .direction = 1, .size = NAN, .usual = NAN},
         "stays above its level"},
        {{.reason = OIF_REASON_SPREAD, .size = 100, .usual = 0},
         "far from its level for 16 rows: by 100 standard deviations, usually at most 0"},
        {{.reason = OIF_REASON_SPREAD, .size = NAN, .usual = NAN},
         "far from its level for 16 rows"},
        {{.reason = OIF_REASON_JUMP, .direction = 1, .size = 1e30, .usual = 9.996},
         "jumps up by 1e+30, usually at most 10"}};
    char text[128];
    for (size_t i = 0; i < sizeof unusual / sizeof *unusual; i++) {
        result_fields_unusual_text(&unusual[i].why, 1, "cpu", text, sizeof text);
        assert_string_equal(text, unusual[i].text);
    }
    const oif_attribution high = {.reason = OIF_REASON_VALUES, .direction = 1};
    result_fields_unusual_text(&high, NAN, "cpu", text, sizeof text);
    assert_string_equal(text, "missing");
}

static void a_share_is_said_if_others_have_one(void **state)
{
    (void)state;
    char text[SHARE_TEXT_BYTES];
    assert_string_equal(result_fields_share_text(0.994, text), " 99%");
    assert_string_equal(result_fields_share_text(0.995, text), "");
    assert_string_equal(result_fields_share_text(1, text), "");
}

static void a_row_that_was_not_judged_says_so(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load\n1\n", OPTIONS("--fields", "score,severity,anomaly,ready"));
    test.verdict.result.ready = false;
    assert_string_equal(csv_fields(&test), ",0.5,,,0");
    assert_string_equal(
        json_fields(&test),
        "\"oif\":{\"score\":0.5,\"severity\":null,\"anomaly\":null,\"ready\":false}");
    end(&test);
}

static exit_code try_fields(const char *list)
{
    result_fields fields;
    const run_settings settings = {.score.fields = list};
    messages_capture();
    exit_code code = result_fields_open(&fields, &settings);
    take_messages();
    result_fields_close(&fields);
    return code;
}

static void an_unknown_or_repeated_field_is_refused(void **state)
{
    (void)state;
    assert_int_equal(try_fields("score,anomaly"), EXIT_OK);
    assert_int_equal(try_fields("score,anomly"), EXIT_USAGE);
    assert_has(said.text, "--fields: there is no field 'anomly'; did you mean anomaly?");
    assert_int_equal(try_fields("score,ready,score"), EXIT_USAGE);
    assert_string_equal(said.text, "--fields: 'score' is given twice; leave one out");
    assert_int_equal(try_fields(""), EXIT_USAGE);
}

static void the_usual_fields_follow_the_other_options(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load\n1\n", OPTIONS("--rows", "episodes"));
    assert_string_equal(header_of(&test), "load,score,severity,anomaly,why\n");
    assert_int_equal(test.fields.top, REASONS_MAX);
    assert_false(test.fields.follows_episodes);
    end(&test);
}

static void a_name_that_rows_have_already_is_noted(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "load,score\n1,2\n", NO_OPTIONS);
    const column_source *from = &test.rows.input.columns.from;
    messages_capture();
    result_fields_note_clash(&test.fields, from, true);
    take_messages();
    assert_string_equal(noted, "");
    messages_capture();
    result_fields_note_clash(&test.fields, from, false);
    take_messages();
    assert_has(noted, "rows: rows already have a field 'score'; the last one is of this run");
    end(&test);
}

/* ---- Alerts ---- */

static const char *record_of(test_writer *test, oif_text key)
{
    static char copy[4096];
    oif_record record = next_record(&test->rows);
    size_t bytes = 0;
    char *text = alert_record_make(&test->writer, &record, &test->verdict, key, &bytes);
    assert_non_null(text);
    assert_true(bytes < sizeof copy);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    free(text);
    return copy;
}

static void the_record_of_an_alert_has_the_row_and_a_sentence(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "host,load,x\n\"w\"\"1\",9,\n", OPTIONS("--key", "host", "--on-alert", "cat"));
    make_anomalous(&test);
    assert_string_equal(
        record_of(&test, text_of("w\"1")),
        "{\"episode\":\"begins\",\"id\":3,\"key\":\"w\\\"1\",\"start\":\"2026-11-16T12:00:00Z\","
        "\"end\":null,\"rows\":2,\"anomalies\":1,\"grade\":\"critical\",\"peak\":5.20,"
        "\"reason\":\"load high 71%; x missing 20%\","
        "\"text\":\"w\\\"1: load high 71%; x missing 20% since 2026-11-16T12:00:00Z, 2 rows, "
        "severity 5.2 (critical)\",\"expected\":\"load 9, expected 0.1235 to 3\","
        "\"row\":{\"host\":\"w\\\"1\",\"load\":9,\"x\":null}}\n");
    end(&test);
}

static void the_record_of_an_end_has_the_reason_of_the_worst_row(void **state)
{
    (void)state;
    test_writer test;
    begin(&test, "{\"load\":9,\"x\":1}\n{\"load\":9,\"x\":1}\n", OPTIONS("--on-alert", "cat"));
    make_anomalous(&test);
    test.verdict.result.episode = OIF_EPISODE_ENDS;
    test.verdict.episode.first_seconds = test.verdict.episode.last_seconds = NAN;
    assert_string_equal(record_of(&test, (oif_text){NULL, 0}),
                        "{\"episode\":\"ends\",\"id\":3,\"key\":null,\"start\":40,\"end\":41,"
                        "\"rows\":2,\"anomalies\":1,\"grade\":\"critical\",\"peak\":5.20,"
                        "\"reason\":\"load high\",\"text\":\"load high from row 40 to row 41, "
                        "2 rows, severity 5.2 (critical)\",\"row\":{\"load\":9,\"x\":1}}\n");
    test.verdict.episode.column = OIF_UNKNOWN_COLUMN;
    assert_has(record_of(&test, (oif_text){NULL, 0}), "\"reason\":\"unusual\"");
    end(&test);
}

static void the_record_of_a_silence_has_its_times(void **state)
{
    (void)state;
    size_t bytes;
    char *begins = alert_record_of_silence(true, text_of("web"), noon, 300, "no row", &bytes);
    assert_non_null(begins);
    const char *expected = "{\"silence\":\"begins\",\"key\":\"web\",\"start\":"
                           "\"2026-11-16T12:00:00Z\",\"end\":null,\"seconds\":300,"
                           "\"reason\":\"silence\",\"text\":\"no row\"}\n";
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(begins, expected, bytes);
    free(begins);
    char *ends = alert_record_of_silence(false, text_of("web"), noon, 90.5, "a row", &bytes);
    assert_non_null(ends);
    expected = "{\"silence\":\"ends\",\"key\":\"web\",\"start\":\"2026-11-16T12:00:00Z\","
               "\"end\":\"2026-11-16T12:01:30.500Z\",\"seconds\":90.5,"
               "\"reason\":\"silence\",\"text\":\"a row\"}\n";
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(ends, expected, bytes);
    free(ends);
}

static void the_beginning_and_the_end_of_an_episode_share_a_number(void **state)
{
    (void)state;
    row_verdict begins = {.episode.number = 3}, ends = begins, next = {.episode.number = 4};
    ends.result.episode = OIF_EPISODE_ENDS;
    const uint64_t series = alert_record_series(&begins, text_of("web"));
    assert_true(alert_record_series(&ends, text_of("web")) == series);
    assert_true(alert_record_series(&next, text_of("web")) != series);
    assert_true(alert_record_series(&begins, text_of("db")) != series);
    assert_true(alert_record_silence_series(text_of("web")) != series);
    assert_true(alert_record_silence_series(text_of("web")) !=
                alert_record_silence_series(text_of("db")));
}

static void begin_member(oif_incidents *incidents, const char *key, double severity)
{
    const oif_incident_event event = {.key = key,
                                      .key_bytes = strlen(key),
                                      .column = "load",
                                      .seconds = noon,
                                      .severity = severity,
                                      .episode = 1};
    oif_incident_place place;
    assert_int_equal(oif_incidents_begin(incidents, &event, &place, NULL), OIF_OK);
}

static void members_of_an_incident_have_the_grades_of_their_severities(void **state)
{
    static const double below = 1e-9;
    const incident_view view = {.phase = INCIDENT_LASTS, .has_times = true};
    oif_params options;
    oif_incidents *incidents;
    size_t bytes;
    (void)state;
    oif_incidents_options_init(&options);
    assert_int_equal(oif_incidents_new(&options, &incidents, NULL), OIF_OK);
    begin_member(incidents, "a", OIF_WARNING_SEVERITY - below);
    begin_member(incidents, "b", OIF_WARNING_SEVERITY);
    begin_member(incidents, "c", OIF_CRITICAL_SEVERITY - below);
    begin_member(incidents, "d", OIF_CRITICAL_SEVERITY);
    output_divert();
    incident_record_write(incidents, 1, &view);
    output_write("", 1);
    char *text = output_diverted(&bytes);
    assert_non_null(text);
    const char *at = strstr(text, "\"order\":");
    static const char *const grades[] = {"note", "warning", "warning", "critical"};
    for (size_t i = 0; i < sizeof grades / sizeof *grades; i++) {
        at = at ? strstr(at, "\"grade\":\"") : NULL;
        if (!at || strncmp(at + 9, grades[i], strlen(grades[i])) != 0)
            fail_msg("member %zu is not %s: %s", i, grades[i], text);
        at++;
    }
    free(text);
    oif_incidents_free(incidents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_keeps_its_bytes_and_gets_fields),
        cmocka_unit_test(csv_keeps_its_line_ends_and_its_byte_order_mark),
        cmocka_unit_test(csv_with_decimal_commas_gets_fields_with_them),
        cmocka_unit_test(csv_becomes_ndjson_with_numbers_and_null),
        cmocka_unit_test(ndjson_is_extended_before_its_last_brace),
        cmocka_unit_test(ndjson_becomes_csv_with_a_header),
        cmocka_unit_test(logfmt_leaves_out_what_is_missing),
        cmocka_unit_test(every_field_of_a_calm_row_is_written),
        cmocka_unit_test(every_field_of_an_anomaly_is_written),
        cmocka_unit_test(a_number_that_is_not_finite_is_empty_or_null),
        cmocka_unit_test(numbers_have_as_many_digits_as_asked_for),
        cmocka_unit_test(a_value_has_the_type_of_its_field),
        cmocka_unit_test(reasons_that_do_not_fit_are_cut_off),
        cmocka_unit_test(what_is_unusual_has_words_of_its_own),
        cmocka_unit_test(a_share_is_said_if_others_have_one),
        cmocka_unit_test(a_row_that_was_not_judged_says_so),
        cmocka_unit_test(an_unknown_or_repeated_field_is_refused),
        cmocka_unit_test(the_usual_fields_follow_the_other_options),
        cmocka_unit_test(a_name_that_rows_have_already_is_noted),
        cmocka_unit_test(the_record_of_an_alert_has_the_row_and_a_sentence),
        cmocka_unit_test(the_record_of_an_end_has_the_reason_of_the_worst_row),
        cmocka_unit_test(the_record_of_a_silence_has_its_times),
        cmocka_unit_test(the_beginning_and_the_end_of_an_episode_share_a_number),
        cmocka_unit_test(members_of_an_incident_have_the_grades_of_their_severities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
