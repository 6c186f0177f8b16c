/* The sizes of the public structs. A program compiled with an older header allocates them, so a new
 * member takes the place of `reserved` and the size stays (the rules are at the top of oif.h). If a
 * test fails here, every program must be recompiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "oif_rows.h"

enum { POINTERS_HAVE_64_BITS = sizeof(void *) == 8 };

static void what_callers_allocate_keeps_its_size(void **state)
{
    (void)state;
    if (!POINTERS_HAVE_64_BITS)
        skip();
    assert_int_equal(sizeof(oif_error), 296);
    assert_int_equal(sizeof(oif_allocator), 40);
    assert_int_equal(sizeof(oif_params), 392);
    assert_int_equal(sizeof(oif_result), 72);
    assert_int_equal(sizeof(oif_attribution), 40);
    assert_int_equal(sizeof(oif_episode_info), 128);
    assert_int_equal(sizeof(oif_incident_event), 96);
    assert_int_equal(sizeof(oif_incident_place), 40);
    assert_int_equal(sizeof(oif_incident_info), 88);
    assert_int_equal(sizeof(oif_incident_member), 112);
    assert_int_equal(sizeof(oif_incident_shared), 40);
    assert_int_equal(sizeof(oif_past_episode), 104);
    assert_int_equal(sizeof(oif_table_info), 64);
    assert_int_equal(sizeof(oif_expected), 32);
    assert_int_equal(sizeof(oif_rule_info), 48);
    assert_int_equal(sizeof(oif_reader_options), 56);
    assert_int_equal(sizeof(oif_record), 64);
    assert_int_equal(sizeof(oif_time_format), 64);
}

static void what_callers_index_keeps_its_size(void **state)
{
    (void)state;
    if (!POINTERS_HAVE_64_BITS)
        skip();
    assert_int_equal(sizeof(oif_param), 56);
    assert_int_equal(sizeof(oif_text), 16);
}

static void the_table_at_the_start_of_a_detectors_description_keeps_its_size(void **state)
{
    (void)state;
    if (!POINTERS_HAVE_64_BITS)
        skip();
    assert_int_equal(sizeof(oif_param_table), 48);
    assert_int_equal(offsetof(oif_detector_info, paper), 48);
}

static void members_that_exist_stay_where_they_are(void **state)
{
    (void)state;
    if (!POINTERS_HAVE_64_BITS)
        skip();
    assert_int_equal(offsetof(oif_error, message), 24);
    assert_int_equal(offsetof(oif_params, values), 8);
    assert_int_equal(offsetof(oif_result, episode), 20);
    assert_int_equal(offsetof(oif_attribution, direction), 8);
    assert_int_equal(offsetof(oif_reader_options, max_line_bytes), 16);
    assert_int_equal(offsetof(oif_reader_options, comment), 24);
    assert_int_equal(offsetof(oif_reader_options, decimal), 32);
    assert_int_equal(offsetof(oif_record, line), 40);
    assert_int_equal(offsetof(oif_time_format, is_uncertain), 26);
    assert_int_equal(offsetof(oif_time_format, day_order), 28);
    assert_int_equal(offsetof(oif_time_format, pattern), 32);
    assert_int_equal(offsetof(oif_param, choices), 48);
    assert_int_equal(offsetof(oif_param_table, param_count), 24);
}

static ptrdiff_t read_nothing(void *context, char *buffer, size_t capacity)
{
    (void)context, (void)buffer, (void)capacity;
    return 0;
}

/* A caller that does not set them to 0 must notice before they get a meaning. */
static void options_with_something_in_reserved_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        oif_reader_options options = {.format = OIF_FORMAT_CSV};
        oif_reader *reader = NULL;
        oif_error error;
        options.reserved[i] = 1;
        assert_int_equal(oif_reader_open(&options, read_nothing, NULL, &reader, &error),
                         OIF_EPARAM);
        assert_non_null(strstr(error.message, "set the options to 0"));
        assert_null(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_callers_allocate_keeps_its_size),
        cmocka_unit_test(what_callers_index_keeps_its_size),
        cmocka_unit_test(the_table_at_the_start_of_a_detectors_description_keeps_its_size),
        cmocka_unit_test(members_that_exist_stay_where_they_are),
        cmocka_unit_test(options_with_something_in_reserved_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
