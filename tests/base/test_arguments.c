/* Arguments that no program should pass: NULL, numbers past the last one, unknown enumerators. The
 * rules at the top of oif.h say what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oif_rows.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"flow", "heat"};

static oif_params params_of(const char *detector)
{
    oif_params params;
    assert_int_equal(oif_params_init(&params, detector, NULL), OIF_OK);
    return params;
}

static oif_detector *make_detector(void)
{
    oif_params params = params_of("online-iforest");
    oif_detector *detector = NULL;
    assert_int_equal(oif_detector_new(&params, 2, &detector, NULL), OIF_OK);
    assert_int_equal(oif_detector_name_columns(detector, names, NULL), OIF_OK);
    return detector;
}

static oif_pipeline *make_pipeline(void)
{
    oif_params params = params_of("online-iforest");
    oif_pipeline *pipeline = NULL;
    assert_int_equal(oif_pipeline_new(&params, 2, NULL, &pipeline, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_name_columns(pipeline, names, NULL), OIF_OK);
    return pipeline;
}

/* ---- NULL ---- */

static void a_name_that_is_null_is_unknown(void **state)
{
    (void)state;
    oif_params params;
    oif_error error;
    double value;
    assert_null(oif_detector_info_find(NULL));
    assert_int_equal(oif_params_init(&params, NULL, &error), OIF_EPARAM);
    params = params_of("online-iforest");
    assert_int_equal(oif_params_set(&params, NULL, 1, &error), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_UNKNOWN_PARAMETER);
    assert_int_equal(oif_params_get(&params, NULL, &value, &error), OIF_EPARAM);
    assert_int_equal(oif_params_set_text(&params, NULL, "1", &error), OIF_EPARAM);
    assert_int_equal(oif_params_set_text(&params, "num_trees", NULL, &error), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_PARAMETER_RANGE);
    assert_int_equal(oif_params_set_text(&params, "growth", NULL, &error), OIF_EPARAM);
    assert_false(oif_pipeline_option_is_changeable(NULL));
    oif_pipeline *pipeline = make_pipeline();
    assert_int_equal(oif_pipeline_change_option(pipeline, NULL, 1, &error), OIF_EPARAM);
    oif_pipeline_free(pipeline);
}

static void a_column_without_a_name_is_refused_and_the_names_stay(void **state)
{
    (void)state;
    const char *const half[] = {"flow", NULL};
    oif_error error;
    oif_detector *detector = make_detector();
    assert_int_equal(oif_detector_name_columns(detector, half, &error), OIF_EVALUE);
    assert_int_equal(error.column, 2);
    assert_string_equal(oif_detector_column_name(detector, 1), "heat");
    oif_detector_free(detector);
}

static void a_path_that_is_null_is_no_file(void **state)
{
    (void)state;
    oif_detector *detector = make_detector(), *loaded = NULL;
    oif_state_file *file = NULL;
    assert_int_equal(oif_state_file_open(NULL, &file, NULL), OIF_EWRITE);
    assert_int_equal(oif_detector_save_file(detector, NULL, NULL), OIF_EWRITE);
    assert_int_equal(oif_detector_load_file(NULL, &loaded, NULL), OIF_EREAD);
    assert_null(file);
    assert_null(loaded);
    oif_detector_free(detector);
}

static void nothing_may_be_null(void **state)
{
    (void)state;
    oif_detector *loaded = NULL;
    oif_pipeline *pipeline = make_pipeline(), *other = NULL;
    size_t done = 9;
    assert_int_equal(oif_detector_load_memory(NULL, 0, &loaded, NULL), OIF_ETRUNCATED);
    assert_int_equal(oif_pipeline_load_memory(NULL, 0, &other, NULL), OIF_ETRUNCATED);
    assert_int_equal(oif_rules_check(NULL, 0, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_set_rules(pipeline, NULL, 0, NULL), OIF_OK);
    assert_int_equal(
        oif_pipeline_process_rows(pipeline, NULL, 0, 2, NULL, NULL, NULL, NULL, &done, NULL),
        OIF_OK);
    assert_int_equal(done, 0);
    assert_true(isnan(oif_category(NULL, 0)));
    assert_false(oif_pipeline_key(pipeline, NULL, 0, &(oif_key_info){.rows = 0}));
    oif_pipeline_free(pipeline);
    oif_detector_free(NULL);
    oif_pipeline_free(NULL);
    oif_state_file_close(NULL);
    oif_incidents_free(NULL);
}

/* ---- Numbers and enumerators ---- */

static void a_column_past_the_last_one_has_no_name(void **state)
{
    (void)state;
    oif_detector *detector = make_detector();
    oif_pipeline *pipeline = make_pipeline();
    oif_derive kind = OIF_DERIVE_LOG;
    assert_string_equal(oif_detector_column_name(detector, 1), "heat");
    assert_null(oif_detector_column_name(detector, 2));
    assert_null(oif_detector_column_name(detector, SIZE_MAX));
    assert_null(oif_pipeline_column_name(pipeline, 99));
    assert_int_equal(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_DIFF, true, NULL), OIF_OK);
    assert_int_equal(oif_pipeline_learned_from(pipeline, 2, &kind), 1);
    assert_true(oif_pipeline_learned_from(pipeline, 3, &kind) == SIZE_MAX);
    assert_int_equal(kind, OIF_DERIVE_NONE);
    oif_detector_free(detector);
    oif_pipeline_free(pipeline);
}

static void an_unknown_enumerator_has_no_word_and_changes_nothing(void **state)
{
    (void)state;
    oif_error error;
    oif_pipeline *pipeline = make_pipeline();
    assert_string_equal(oif_derive_word(OIF_DERIVE_CATEGORY), "category");
    assert_string_equal(oif_derive_word((oif_derive)99), "");
    assert_string_equal(oif_derive_word((oif_derive)-1), "");
    assert_string_equal(oif_cause_name((oif_cause)99), "");
    assert_string_equal(oif_status_text((oif_status)99), "unknown status");
    assert_int_equal(oif_pipeline_derive(pipeline, 0, (oif_derive)99, false, &error), OIF_EPARAM);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_null_is_unknown),
        cmocka_unit_test(a_column_without_a_name_is_refused_and_the_names_stay),
        cmocka_unit_test(a_path_that_is_null_is_no_file),
        cmocka_unit_test(nothing_may_be_null),
        cmocka_unit_test(a_column_past_the_last_one_has_no_name),
        cmocka_unit_test(an_unknown_enumerator_has_no_word_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
