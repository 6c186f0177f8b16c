/* Parameters: the table is well formed, values can be set and read back, and invalid ones are
 * rejected with a helpful message and without side effects. */
#include "driver.h"

static oif_params initial_params(void)
{
    oif_params params;
    require_ok(oif_params_init(&params, "online-iforest", NULL));
    return params;
}

static double value_of(const oif_params *params, const char *name)
{
    double value = -1;
    require_ok(oif_params_get(params, name, &value, NULL));
    return value;
}

/* ---- The table ---- */

static void check_choices(const oif_param *param)
{
    assert_non_null(param->choices);
    size_t count = 0;
    while (param->choices[count]) {
        assert_true(param->choices[count][0] != '\0');
        for (size_t j = 0; j < count; j++)
            assert_string_not_equal(param->choices[count], param->choices[j]);
        count++;
    }
    expect_within(param->minimum, 0, 0, param->name);
    expect_within(param->maximum, (double)count - 1, (double)count - 1, param->name);
}

static void check_param(const oif_detector_info *info, size_t i)
{
    const oif_param *param = &info->table.params[i];
    assert_non_null(param->name);
    assert_non_null(param->help);
    assert_true(param->name[0] && param->help[0]);
    assert_null(strchr(param->help, '\n'));
    assert_int_equal(strspn(param->name, "abcdefghijklmnopqrstuvwxyz_"), strlen(param->name));
    for (size_t j = 0; j < i; j++)
        assert_string_not_equal(param->name, info->table.params[j].name);
    assert_true(isfinite(param->minimum) && isfinite(param->maximum));
    expect_within(param->initial, param->minimum, param->maximum, param->name);
    if (param->type == OIF_PARAM_CHOICE)
        check_choices(param);
    else
        assert_null(param->choices);
    if (param->type != OIF_PARAM_REAL) {
        assert_true(floor(param->minimum) == param->minimum &&
                    floor(param->maximum) == param->maximum);
        assert_true(floor(param->initial) == param->initial);
    }
}

static void the_table_of_every_detector_is_well_formed(void **state)
{
    (void)state;
    size_t kinds = 0;
    const oif_detector_info *info;
    while ((info = oif_detector_info_at(kinds))) {
        assert_true(info->table.name[0] && info->table.summary[0] && info->paper[0]);
        assert_non_null(info->cost);
        assert_non_null(info->choose);
        assert_in_range(info->table.param_count, 1, OIF_PARAMS_MAX);
        for (size_t i = 0; i < info->table.param_count; i++)
            check_param(info, i);
        kinds++;
    }
    assert_true(kinds > 0);
    assert_null(oif_detector_info_at(kinds));
    assert_null(oif_detector_info_at(SIZE_MAX));
}

static void detectors_are_found_by_name_and_by_index_alike(void **state)
{
    (void)state;
    for (size_t i = 0; oif_detector_info_at(i); i++)
        assert_ptr_equal(oif_detector_info_find(oif_detector_info_at(i)->table.name),
                         oif_detector_info_at(i));
    assert_null(oif_detector_info_find("online_iforest"));
    assert_null(oif_detector_info_find(""));
}

static void every_detector_can_be_made_with_its_initial_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; oif_detector_info_at(i); i++) {
        oif_params params;
        oif_detector *detector = NULL;
        require_ok(oif_params_init(&params, oif_detector_info_at(i)->table.name, NULL));
        require_ok(oif_detector_new(&params, 3, &detector, NULL));
        oif_detector_free(detector);
    }
}

/* ---- Setting and getting ---- */

static void initial_values_are_those_of_the_issue(void **state)
{
    (void)state;
    oif_params params = initial_params();
    expect_within(value_of(&params, "num_trees"), 32, 32, "num_trees");
    expect_within(value_of(&params, "window_size"), 2048, 2048, "window_size");
    expect_within(value_of(&params, "max_leaf_samples"), 0, 0, "max_leaf_samples");
    expect_within(value_of(&params, "growth"), 0, 0, "growth");
    expect_within(value_of(&params, "variant"), 0, 0, "variant");
    expect_within(value_of(&params, "subsample"), 1, 1, "subsample");
    expect_within(value_of(&params, "forgetting"), 0, 0, "forgetting");
    expect_within(value_of(&params, "shadow_trees"), 4, 4, "shadow_trees");
    expect_within(value_of(&params, "maturity"), 0, 0, "maturity");
    expect_within(value_of(&params, "seed"), 0, 0, "seed");
}

static void an_unknown_detector_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    oif_params params, before;
    memset(&params, 0x5a, sizeof params);
    before = params;
    oif_error error;
    assert_int_equal(oif_params_init(&params, "offline-iforest", &error), OIF_EPARAM);
    assert_int_equal(error.status, OIF_EPARAM);
    expect_message(error, "offline-iforest");
    expect_message(error, "rolling-iforest");
    assert_memory_equal(&params, &before, sizeof params);
    assert_int_equal(oif_params_init(&params, "offline-iforest", NULL), OIF_EPARAM);
}

static void both_ends_of_every_range_can_be_set_by_number_and_by_text(void **state)
{
    (void)state;
    for (size_t kind = 0; oif_detector_info_at(kind); kind++) {
        const oif_detector_info *info = oif_detector_info_at(kind);
        for (size_t i = 0; i < info->table.param_count; i++)
            for (int end = 0; end < 2; end++) {
                const oif_param *param = &info->table.params[i];
                double wanted = end ? param->maximum : param->minimum;
                oif_params params;
                char text[64];
                require_ok(oif_params_init(&params, info->table.name, NULL));
                set_param(&params, param->name, wanted);
                expect_within(value_of(&params, param->name), wanted, wanted, param->name);
                require_ok(oif_params_init(&params, info->table.name, NULL));
                snprintf(text, sizeof text, "%.17g", wanted);
                const char *word =
                    param->type == OIF_PARAM_CHOICE ? param->choices[(int)wanted] : text;
                require_ok(oif_params_set_text(&params, param->name, word, NULL));
                expect_within(value_of(&params, param->name), wanted, wanted, param->name);
            }
    }
}

static void every_word_of_a_choice_can_be_set(void **state)
{
    (void)state;
    const char *const words[] = {"running", "paper", "reference"};
    oif_params params = initial_params();
    for (int i = 0; i < 3; i++) {
        require_ok(oif_params_set_text(&params, "variant", words[i], NULL));
        expect_within(value_of(&params, "variant"), i, i, words[i]);
    }
    require_ok(oif_params_set_text(&params, "growth", "fixed", NULL));
    expect_within(value_of(&params, "growth"), OIF_FIXED, OIF_FIXED, "growth");
}

static void setting_one_parameter_leaves_the_others(void **state)
{
    (void)state;
    oif_params params = initial_params(), expected = params;
    set_param(&params, "num_trees", 64);
    expected.values[0] = 64;
    assert_memory_equal(&params, &expected, sizeof params);
}

static void a_call_that_succeeds_leaves_the_error_alone(void **state)
{
    (void)state;
    oif_error error, before;
    memset(&error, 0x77, sizeof error);
    before = error;
    oif_params params = initial_params();
    double value;
    require_ok(oif_params_init(&params, "online-iforest", &error));
    require_ok(oif_params_set(&params, "num_trees", 3, &error));
    require_ok(oif_params_set_text(&params, "num_trees", "4", &error));
    require_ok(oif_params_get(&params, "num_trees", &value, &error));
    assert_memory_equal(&error, &before, sizeof error);
}

/* ---- Refusing ---- */

static const struct {
    const char *name;
    double value;
} refused_numbers[] = {
    {"num_trees", 0},
    {"num_trees", -1},
    {"num_trees", 1.5},
    {"num_trees", NAN},
    {"num_trees", INFINITY},
    {"num_trees", -INFINITY},
    {"num_trees", 1e300},
    {"window_size", 0},
    {"window_size", 2047.5},
    {"window_size", 16777217},
    {"max_leaf_samples", -1},
    {"max_leaf_samples", 16777217},
    {"max_leaf_samples", NAN},
    {"growth", -1},
    {"growth", 2},
    {"growth", 0.5},
    {"growth", NAN},
    {"variant", 3},
    {"variant", NAN},
    {"subsample", 0},
    {"subsample", -0.5},
    {"subsample", 1.0001},
    {"subsample", NAN},
    {"forgetting", 2},
    {"shadow_trees", 0},
    {"maturity", -1},
    {"seed", -1},
    {"seed", 0.25},
    {"seed", 0x1p53 + 2},
    {"seed", 0x1p64},
    {"seed", NAN},
};

static void numbers_that_are_not_allowed_are_refused_and_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_numbers / sizeof refused_numbers[0]; i++) {
        oif_params params = initial_params(), before = params;
        oif_error error = {.status = OIF_OK};
        oif_status status =
            oif_params_set(&params, refused_numbers[i].name, refused_numbers[i].value, &error);
        if (status != OIF_EPARAM || error.status != OIF_EPARAM)
            fail_msg("%s = %g gives status %d and %d in the error, expected %d",
                     refused_numbers[i].name, refused_numbers[i].value, status, error.status,
                     OIF_EPARAM);
        expect_message(error, refused_numbers[i].name);
        assert_memory_equal(&params, &before, sizeof params);
        assert_int_equal(
            oif_params_set(&params, refused_numbers[i].name, refused_numbers[i].value, NULL),
            OIF_EPARAM);
    }
}

static const struct {
    const char *name, *text;
} refused_texts[] = {
    {"num_trees", ""},        {"num_trees", "12x"},    {"num_trees", " 12"},
    {"num_trees", "12 "},     {"num_trees", "x"},      {"num_trees", "1,5"},
    {"num_trees", "1.5"},     {"num_trees", "0x10"},   {"num_trees", "nan"},
    {"num_trees", "inf"},     {"num_trees", "-3"},     {"num_trees", "0"},
    {"num_trees", "1e99999"}, {"num_trees", "--1"},    {"subsample", "half"},
    {"subsample", "0.5%"},    {"subsample", "-inf"},   {"variant", ""},
    {"variant", "Paper"},     {"variant", "papers"},   {"variant", "pape"},
    {"growth", "adaptive "},  {"growth", "runn\ning"}, {"seed", "1e-3"},
};

static void texts_that_are_not_allowed_are_refused_and_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_texts / sizeof refused_texts[0]; i++) {
        oif_params params = initial_params(), before = params;
        oif_error error = {.status = OIF_OK};
        oif_status status =
            oif_params_set_text(&params, refused_texts[i].name, refused_texts[i].text, &error);
        if (status != OIF_EPARAM)
            fail_msg("%s = \"%s\" gives status %d, expected %d", refused_texts[i].name,
                     refused_texts[i].text, status, OIF_EPARAM);
        expect_message(error, refused_texts[i].name);
        assert_memory_equal(&params, &before, sizeof params);
    }
}

static void a_refusal_says_what_is_allowed(void **state)
{
    (void)state;
    oif_params params = initial_params();
    oif_error error;
    assert_int_equal(oif_params_set(&params, "num_trees", 0, &error), OIF_EPARAM);
    expect_message(error, "whole number from 1 to 4096");
    assert_int_equal(oif_params_set(&params, "subsample", 2, &error), OIF_EPARAM);
    expect_message(error, "a number from");
    assert_int_equal(oif_params_set_text(&params, "variant", "best", &error), OIF_EPARAM);
    expect_message(error, "running, paper, reference");
    assert_int_equal(oif_params_set(&params, "variant", 7, &error), OIF_EPARAM);
    expect_message(error, "running, paper, reference");
}

static void unknown_names_are_refused_by_set_and_get(void **state)
{
    (void)state;
    oif_params params = initial_params(), before = params;
    oif_error error;
    double value = 42;
    const char *const names[] = {"trees", "num_tree", "num_trees_", "", "NUM_TREES", "num-trees"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(oif_params_set(&params, names[i], 1, &error), OIF_EPARAM);
        expect_message(error, names[i]);
        assert_int_equal(oif_params_set_text(&params, names[i], "1", &error), OIF_EPARAM);
        expect_message(error, names[i]);
        assert_int_equal(oif_params_get(&params, names[i], &value, &error), OIF_EPARAM);
        expect_message(error, names[i]);
    }
    expect_within(value, 42, 42, "what a failing get leaves");
    assert_memory_equal(&params, &before, sizeof params);
}

static void a_name_of_any_length_is_refused_within_the_message(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    oif_params params = initial_params();
    oif_error error;
    assert_int_equal(oif_params_set(&params, name, 1, &error), OIF_EPARAM);
    assert_true(memchr(error.message, '\0', sizeof error.message) != NULL);
    assert_int_equal(oif_params_init(&params, name, &error), OIF_EPARAM);
    assert_true(memchr(error.message, '\0', sizeof error.message) != NULL);
}

/* ---- What oif_detector_new requires ---- */

static void expect_not_created(const oif_params *params, const char *name, double value)
{
    oif_detector *detector = NULL;
    oif_error error = {.status = OIF_OK};
    size_t bytes = 7;
    oif_status status = oif_detector_new(params, 2, &detector, &error);
    if (status != OIF_EPARAM || detector)
        fail_msg("%s = %g: new gives status %d, expected %d", name, value, status, OIF_EPARAM);
    expect_message(error, name);
    assert_int_equal(oif_detector_estimate_bytes(params, 2, &bytes, &error), OIF_EPARAM);
    assert_int_equal(bytes, 7);
}

static void values_filled_in_by_hand_are_checked_at_creation(void **state)
{
    (void)state;
    oif_params initial = initial_params();
    for (size_t i = 0; i < initial.table->param_count; i++) {
        const oif_param *param = &initial.table->params[i];
        double bad[] = {NAN, INFINITY, -INFINITY, param->minimum - 1, param->maximum + 2, -1e300};
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            oif_params params = initial;
            params.values[i] = bad[j];
            expect_not_created(&params, param->name, bad[j]);
        }
        if (param->type == OIF_PARAM_REAL)
            continue;
        oif_params params = initial;
        params.values[i] = param->minimum + 0.5;
        expect_not_created(&params, param->name, params.values[i]);
    }
}

static double last_score_with_seed(uint64_t seed)
{
    setup s = small_setup();
    s.seed = seed;
    oif_detector *detector = new_detector(&s, 1);
    double result = 0;
    for (int i = 0; i < 150; i++)
        result = learn_score(detector, &(double){i % 37});
    oif_detector_free(detector);
    return result;
}

static void every_seed_up_to_two_to_the_53_counts(void **state)
{
    (void)state;
    const uint64_t seeds[] = {
        0, 1, 2, UINT64_C(1) << 32, (UINT64_C(1) << 53) - 1, UINT64_C(1) << 53};
    double scores[6];
    for (int i = 0; i < 6; i++) {
        scores[i] = last_score_with_seed(seeds[i]);
        expect_same_bits(last_score_with_seed(seeds[i]), scores[i], "the same seed again", i);
        for (int j = 0; j < i; j++)
            if (scores[i] == scores[j])
                fail_msg("the seeds %" PRIu64 " and %" PRIu64 " both give the score %.17g",
                         seeds[i], seeds[j], scores[i]);
    }
}

static void a_window_too_large_for_its_leaves_is_refused_with_advice_that_helps(void **state)
{
    (void)state;
    for (int growth = 0; growth < 2; growth++)
        for (int variant = 0; variant < 3; variant++) {
            setup s = small_setup();
            s.growth = (oif_growth)growth;
            s.variant = (oif_variant)variant;
            s.window_size = 1 << 24;
            s.max_leaf_samples = 1;
            oif_params params = params_of(&s);
            oif_detector *detector = NULL;
            oif_error error;
            assert_int_equal(oif_detector_new(&params, 1, &detector, &error), OIF_EPARAM);
            assert_null(detector);
            expect_message(error, "window_size 16777216");
            expect_message(error, "max_leaf_samples 1");
            expect_message(error, "lower window_size or raise max_leaf_samples");

            size_t bytes = 0;
            uint32_t raised = 1, lowered = 1 << 24;
            while (set_param(&params, "max_leaf_samples", raised),
                   oif_detector_estimate_bytes(&params, 1, &bytes, NULL) != OIF_OK)
                raised *= 2;
            expect_within(raised, 2, 1 << 20, "the max_leaf_samples that is enough");
            set_param(&params, "max_leaf_samples", 1);
            while (set_param(&params, "window_size", lowered),
                   oif_detector_estimate_bytes(&params, 1, &bytes, NULL) != OIF_OK)
                lowered /= 2;
            expect_within(lowered, 16, 1 << 23, "the window_size that is small enough");
        }
}

/* ---- Parameters that belong elsewhere ---- */

/* The errors of oif_detector_new and oif_pipeline_new for parameters that are not a detector's. */
static void expect_no_detector(const oif_params *params)
{
    oif_params options;
    oif_detector *detector = NULL;
    oif_pipeline *pipeline = NULL;
    oif_error error = {.status = OIF_OK};
    size_t bytes = 7;
    oif_pipeline_options_init(&options);
    assert_int_equal(oif_detector_estimate_bytes(params, 2, &bytes, &error), OIF_EPARAM);
    assert_int_equal(bytes, 7);
    assert_int_equal(oif_detector_new(params, 2, &detector, &error), OIF_EPARAM);
    assert_null(detector);
    expect_message(error, "not the parameters of a detector; fill them with oif_params_init");
    assert_int_equal(oif_pipeline_new(params, 2, &options, &pipeline, &error), OIF_EPARAM);
    assert_null(pipeline);
    expect_message(error, "not the parameters of a detector; fill them with oif_params_init");
}

/* The errors of oif_pipeline_new for options that are not a pipeline's. */
static void expect_no_pipeline(const oif_params *options)
{
    oif_params params = initial_params();
    oif_pipeline *pipeline = NULL;
    oif_error error = {.status = OIF_OK};
    assert_int_equal(oif_pipeline_new(&params, 2, options, &pipeline, &error), OIF_EPARAM);
    assert_null(pipeline);
    expect_message(error,
                   "not the options of a pipeline; fill them with oif_pipeline_options_init");
}

static void options_of_a_pipeline_are_refused_as_parameters_of_a_detector(void **state)
{
    (void)state;
    oif_params options;
    oif_pipeline_options_init(&options);
    expect_no_detector(&options);
}

static void parameters_of_a_detector_are_refused_as_options_of_a_pipeline(void **state)
{
    (void)state;
    oif_params params = initial_params();
    expect_no_pipeline(&params);
}

static void zeroed_parameters_are_refused_where_a_detector_is_made(void **state)
{
    (void)state;
    oif_params zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    expect_no_detector(&zeroed);
}

static void zeroed_options_are_refused_where_a_pipeline_is_made(void **state)
{
    (void)state;
    oif_params zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    expect_no_pipeline(&zeroed);
}

static void no_parameters_at_all_are_refused(void **state)
{
    (void)state;
    expect_no_detector(NULL);
}

static void no_options_at_all_are_the_initial_ones(void **state)
{
    (void)state;
    oif_params params = initial_params(), initial;
    oif_pipeline *pipeline = NULL;
    oif_pipeline_options_init(&initial);
    assert_int_equal(oif_pipeline_new(&params, 2, NULL, &pipeline, NULL), OIF_OK);
    assert_memory_equal(oif_pipeline_options(pipeline), &initial, sizeof initial);
    oif_pipeline_free(pipeline);
}

static void parameters_of_an_unknown_kind_are_refused(void **state)
{
    (void)state;
    static const oif_param table[] = {{"a", "help", OIF_PARAM_REAL, 0, 1, 0, NULL}};
    const oif_param_table unknown = {.name = "unknown", .params = table, .param_count = 1};
    oif_params params = {.table = &unknown};
    expect_no_detector(&params);
}

static void options_of_an_unknown_kind_are_refused(void **state)
{
    (void)state;
    static const oif_param table[] = {{"a", "help", OIF_PARAM_REAL, 0, 1, 0, NULL}};
    const oif_param_table unknown = {.name = "pipeline", .params = table, .param_count = 1};
    oif_params options = {.table = &unknown};
    expect_no_pipeline(&options);
}

/* `params` are NULL or zeroed. */
static void expect_no_values(oif_params *params)
{
    double value = 7;
    oif_error error = {.status = OIF_OK};
    assert_int_equal(oif_params_set(params, "seed", 1, &error), OIF_EPARAM);
    expect_message(error, "not initialised");
    assert_int_equal(oif_params_set_text(params, "seed", "1", &error), OIF_EPARAM);
    expect_message(error, "not initialised");
    assert_int_equal(oif_params_get(params, "seed", &value, &error), OIF_EPARAM);
    expect_message(error, "not initialised");
    expect_within(value, 7, 7, "what a failing get leaves");
}

static void zeroed_parameters_have_no_values(void **state)
{
    (void)state;
    oif_params zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    expect_no_values(&zeroed);
}

static void no_parameters_have_no_values(void **state)
{
    (void)state;
    expect_no_values(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_every_detector_is_well_formed),
        cmocka_unit_test(detectors_are_found_by_name_and_by_index_alike),
        cmocka_unit_test(every_detector_can_be_made_with_its_initial_parameters),
        cmocka_unit_test(initial_values_are_those_of_the_issue),
        cmocka_unit_test(an_unknown_detector_is_refused_and_changes_nothing),
        cmocka_unit_test(both_ends_of_every_range_can_be_set_by_number_and_by_text),
        cmocka_unit_test(every_word_of_a_choice_can_be_set),
        cmocka_unit_test(setting_one_parameter_leaves_the_others),
        cmocka_unit_test(a_call_that_succeeds_leaves_the_error_alone),
        cmocka_unit_test(numbers_that_are_not_allowed_are_refused_and_change_nothing),
        cmocka_unit_test(texts_that_are_not_allowed_are_refused_and_change_nothing),
        cmocka_unit_test(a_refusal_says_what_is_allowed),
        cmocka_unit_test(unknown_names_are_refused_by_set_and_get),
        cmocka_unit_test(a_name_of_any_length_is_refused_within_the_message),
        cmocka_unit_test(values_filled_in_by_hand_are_checked_at_creation),
        cmocka_unit_test(every_seed_up_to_two_to_the_53_counts),
        cmocka_unit_test(options_of_a_pipeline_are_refused_as_parameters_of_a_detector),
        cmocka_unit_test(parameters_of_a_detector_are_refused_as_options_of_a_pipeline),
        cmocka_unit_test(zeroed_parameters_are_refused_where_a_detector_is_made),
        cmocka_unit_test(zeroed_options_are_refused_where_a_pipeline_is_made),
        cmocka_unit_test(no_parameters_at_all_are_refused),
        cmocka_unit_test(no_options_at_all_are_the_initial_ones),
        cmocka_unit_test(parameters_of_an_unknown_kind_are_refused),
        cmocka_unit_test(options_of_an_unknown_kind_are_refused),
        cmocka_unit_test(zeroed_parameters_have_no_values),
        cmocka_unit_test(no_parameters_have_no_values),
        cmocka_unit_test(a_window_too_large_for_its_leaves_is_refused_with_advice_that_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
