/* How bad an anomaly is: severity and grade, and that an incident does not hide the next one. */
#include "pipelines.h"

enum { COLUMNS = 5, HABITUATION = 6000 };

static const char *const forests[] = {"rolling-iforest", "online-iforest"};

static oif_pipeline *habituated(const char *detector, const char *options, dice *from)
{
    oif_pipeline *pipeline = new_pipeline(detector, "", COLUMNS, options);
    double row[COLUMNS];
    for (int i = 0; i < HABITUATION; i++) {
        draw_row(from, row, COLUMNS);
        process(pipeline, row);
    }
    return pipeline;
}

static oif_result try_row(const oif_pipeline *pipeline, const double *row)
{
    oif_pipeline *copy;
    require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
    oif_result result = process(copy, row);
    oif_pipeline_free(copy);
    return result;
}

static void the_worse_a_spike_the_higher_its_severity(void **unused)
{
    (void)unused;
    for (int f = 0; f < 2; f++) {
        dice from = {1};
        oif_pipeline *pipeline = habituated(forests[f], "", &from);
        const double sizes[] = {6, 10, 20, 50, 1000, 1e6};
        double before = 0;
        for (int i = 0; i < 6; i++) {
            double row[COLUMNS] = {0.1, -0.3, sizes[i], 0.2, 0.4};
            oif_result r = try_row(pipeline, row);
            if (!(r.severity > before))
                fail_msg("%s: %g sd has severity %g, less had %g", forests[f], sizes[i], r.severity,
                         before);
            if (sizes[i] >= 10 && r.grade != OIF_GRADE_CRITICAL)
                fail_msg("%s: %g sd has severity %g, grade %d", forests[f], sizes[i], r.severity,
                         (int)r.grade);
            before = r.severity;
        }
        oif_pipeline_free(pipeline);
    }
}

static void an_ordinary_row_has_the_severity_of_its_share_and_no_grade(void **unused)
{
    (void)unused;
    dice from = {2};
    oif_pipeline *pipeline = habituated("rolling-iforest", "", &from);
    int ordinary = 0;
    for (int i = 0; i < 1000; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        oif_result r = process(pipeline, row);
        if (r.p < 0.05)
            continue;
        ordinary++;
        expect_within(r.severity, -log10(r.p) - 1e-9, -log10(r.p) + 1e-9, "severity");
        assert_int_equal(r.grade, OIF_GRADE_NONE);
    }
    assert_in_range(ordinary, 900, 1000);
    oif_pipeline_free(pipeline);
}

static void grades_follow_from_severity(void **unused)
{
    (void)unused;
    dice from = {3};
    oif_pipeline *pipeline = habituated("rolling-iforest", "alert_rate=0.01", &from);
    int alerts[4] = {0};
    for (int i = 0; i < 40000; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        oif_result r = process(pipeline, row);
        oif_grade expected = !r.anomaly       ? OIF_GRADE_NONE
                             : r.severity < 4 ? OIF_GRADE_NOTE
                             : r.severity < 5 ? OIF_GRADE_WARNING
                                              : OIF_GRADE_CRITICAL;
        assert_int_equal(r.grade, expected);
        alerts[r.grade]++;
    }
    if (!(alerts[OIF_GRADE_NOTE] > 300 && alerts[OIF_GRADE_CRITICAL] <= 0.05 * 400))
        fail_msg("of noise %d alerts are notes, %d warnings, %d critical", alerts[OIF_GRADE_NOTE],
                 alerts[OIF_GRADE_WARNING], alerts[OIF_GRADE_CRITICAL]);
    oif_pipeline_free(pipeline);
}

/* A gauge that is always 1 falls to 0 for 20 rows, three times. If the first fall entered the
 * history of scores, the later ones would count as usual. */
static void the_same_incident_is_found_again(void **unused)
{
    (void)unused;
    for (int f = 0; f < 2; f++) {
        dice from = {4};
        oif_pipeline *pipeline = new_pipeline(forests[f], "", COLUMNS, "");
        for (int i = 0; i < 11000; i++) {
            double row[COLUMNS];
            draw_row(&from, row, COLUMNS);
            bool down = i >= 7000 && i % 1500 < 20;
            row[1] = down ? 0 : 1;
            oif_result r = process(pipeline, row);
            if (down && !r.anomaly)
                fail_msg("%s: row %d of a gauge that is down is not an anomaly", forests[f], i);
        }
        oif_pipeline_free(pipeline);
    }
}

static void a_constant_stream_raises_no_alert(void **unused)
{
    (void)unused;
    for (size_t i = 0; oif_detector_info_at(i); i++) {
        const char *name = oif_detector_info_at(i)->table.name;
        oif_pipeline *pipeline = new_pipeline(name, "", 2, "alert_rate=0.01");
        for (int number = 0; number < 5000; number++)
            if (process(pipeline, (double[]){5, 7}).anomaly)
                fail_msg("%s: row %d of a constant stream is an alert", name, number);
        oif_pipeline_free(pipeline);
    }
}

/* A stream that becomes constant may be unusual at first, but not forever. */
static void a_row_like_all_of_the_last_thousand_is_ordinary(void **unused)
{
    (void)unused;
    for (size_t i = 0; oif_detector_info_at(i); i++) {
        const char *name = oif_detector_info_at(i)->table.name;
        dice from = {5};
        oif_pipeline *pipeline = new_pipeline(name, "", COLUMNS, "alert_rate=0.01 learn=normal");
        double row[COLUMNS];
        for (int number = 0; number < 8000; number++) {
            if (number < 4000)
                draw_row(&from, row, COLUMNS);
            else
                row[0] = row[1] = row[2] = 9;
            if (process(pipeline, row).anomaly && number > 4000 + 1024)
                fail_msg("%s: row %d is like the thousand before it", name, number);
        }
        oif_pipeline_free(pipeline);
    }
}

/* Rows are equal if their values are, whatever the sign of a zero or of a NaN. */
static void rows_are_compared_by_value(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "threshold=-1");
    for (int i = 0; i < 3000; i++) {
        oif_result r = process(pipeline, (double[]){i % 2 ? 0.0 : -0.0, i % 3 ? NAN : -NAN});
        assert_true(!r.anomaly && !signbit(r.severity));
    }
    assert_true(process(pipeline, (double[]){1, NAN}).anomaly);
    oif_pipeline_free(pipeline);
}

/* With learn=all the value is already usual when the row is explained. */
static void the_first_number_of_a_column_is_the_reason(void **unused)
{
    (void)unused;
    const char *const options[] = {"learn=all", "learn=decay"};
    for (int i = 0; i < 2; i++) {
        dice from = {6};
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, options[i]);
        double row[COLUMNS];
        for (int number = 0; number < 4000; number++) {
            draw_row(&from, row, COLUMNS);
            row[0] = number < 3999 ? NAN : 5;
            process(pipeline, row);
        }
        oif_attribution why[COLUMNS];
        oif_pipeline_explain(pipeline, why);
        expect_within(why[0].share, 0.9, 1, "the share of the column that was always missing");
        oif_pipeline_free(pipeline);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worse_a_spike_the_higher_its_severity),
        cmocka_unit_test(an_ordinary_row_has_the_severity_of_its_share_and_no_grade),
        cmocka_unit_test(grades_follow_from_severity),
        cmocka_unit_test(the_same_incident_is_found_again),
        cmocka_unit_test(a_constant_stream_raises_no_alert),
        cmocka_unit_test(a_row_like_all_of_the_last_thousand_is_ordinary),
        cmocka_unit_test(rows_are_compared_by_value),
        cmocka_unit_test(the_first_number_of_a_column_is_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
