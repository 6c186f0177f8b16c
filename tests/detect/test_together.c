/* Lists of detectors as one name, and the parameters of a list. */
#include "any_detector.h"

#include "detect/together.h"

#include <pthread.h>

static double value_of(const oif_params *params, const char *name)
{
    double value = NAN;
    oif_error error;
    require_ok_or(oif_params_get(params, name, &value, &error), error);
    return value;
}

static void a_list_has_the_parameters_of_all_its_detectors(void **unused)
{
    (void)unused;
    for (size_t a = 0; oif_detector_info_at(a); a++)
        for (size_t b = 0; oif_detector_info_at(b); b++) {
            const oif_param_table *first = &oif_detector_info_at(a)->table,
                                  *second = &oif_detector_info_at(b)->table;
            oif_params list, parts[OIF_TOGETHER_MAX];
            char name[100];
            if (a == b)
                continue;
            snprintf(name, sizeof name, "%s+%s", first->name, second->name);
            require_ok(oif_params_init(&list, name, NULL));
            assert_string_equal(list.table->name, name);
            assert_int_equal(oif_together_split(&list, parts), 2);
            assert_ptr_equal(parts[0].table, first);
            assert_ptr_equal(parts[1].table, second);
            for (size_t i = 0; i < first->param_count; i++)
                assert_true(parts[0].values[i] == first->params[i].initial);
            for (size_t i = 0; i < second->param_count; i++)
                assert_true(parts[1].values[i] == second->params[i].initial);
        }
}

static void the_seed_is_one_for_all(void **unused)
{
    (void)unused;
    oif_params list = params_named("rolling-iforest+hst", "seed=7"), parts[OIF_TOGETHER_MAX];
    assert_int_equal(oif_together_split(&list, parts), 2);
    for (int i = 0; i < 2; i++)
        assert_true(value_of(&parts[i], "seed") == 7);
}

static void a_name_that_is_taken_has_the_name_of_the_detector_in_front(void **unused)
{
    (void)unused;
    oif_params list =
                   params_named("hst+iforest-asd", "window_size=99 iforest_asd_window_size=1000"),
               parts[OIF_TOGETHER_MAX];
    oif_together_split(&list, parts);
    assert_true(value_of(&parts[0], "window_size") == 99);
    assert_true(value_of(&parts[1], "window_size") == 1000);
}

static void a_list_with_a_fault_is_refused_with_its_reason(void **unused)
{
    (void)unused;
    const char *const lists[][2] = {
        {"rolling-iforest+", "there is no detector ''"},
        {"+", "there is no detector ''"},
        {"hst+nope", "there is no detector 'nope'"},
        {"hst+x\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
         "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9",
         "there is no detector 'x\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
         "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9...'"},
        {"hst+rrcf+hst", "hst is in the list of detectors twice"},
        {"hst+rrcf+loda+iforest-asd+rolling-iforest", "at most 4 detectors can judge together"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        oif_params params;
        oif_error error;
        assert_int_equal(oif_params_init(&params, lists[i][0], &error), OIF_EPARAM);
        if (!strstr(error.message, lists[i][1]))
            fail_msg("%s: \"%s\" instead of \"%s\"", lists[i][0], error.message, lists[i][1]);
    }
    char endless[5000];
    memset(endless, '+', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    oif_params params;
    assert_int_equal(oif_params_init(&params, endless, NULL), OIF_EPARAM);
}

static void a_list_is_no_detector(void **unused)
{
    (void)unused;
    oif_params list = params_named("rolling-iforest+loda", "");
    oif_detector *detector = NULL;
    oif_error error;
    assert_int_equal(oif_detector_new(&list, 2, &detector, &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "judge together in a pipeline"));
}

static void *find_lists(void *tables)
{
    static const char *const names[] = {"hst+loda", "loda+hst", "rrcf+hst+loda", "hst+rrcf"};
    for (int i = 0; i < 4; i++) {
        oif_params params;
        require_ok(oif_params_init(&params, names[i], NULL));
        ((const oif_param_table **)tables)[i] = params.table;
    }
    return NULL;
}

static void threads_that_name_a_list_get_the_same_table(void **unused)
{
    (void)unused;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    const oif_param_table *tables[THREADS][4];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_lists, tables[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(tables[i], tables[0], sizeof tables[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_the_parameters_of_all_its_detectors),
        cmocka_unit_test(the_seed_is_one_for_all),
        cmocka_unit_test(a_name_that_is_taken_has_the_name_of_the_detector_in_front),
        cmocka_unit_test(a_list_with_a_fault_is_refused_with_its_reason),
        cmocka_unit_test(a_list_is_no_detector),
        cmocka_unit_test(threads_that_name_a_list_get_the_same_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
