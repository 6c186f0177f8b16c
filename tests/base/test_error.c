/* Errors as callers see them: a name for every status, and messages that always fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = OIF_OK; i <= OIF_EBUSY; i++) {
        const char *name = oif_status_text((oif_status)i);
        assert_string_not_equal(name, "unknown status");
        for (int j = OIF_OK; j < i; j++)
            assert_string_not_equal(name, oif_status_text((oif_status)j));
    }
    assert_string_equal(oif_status_text(OIF_EMEMORY), "out of memory");
}

static void a_number_that_is_no_status_has_a_name_too(void **state)
{
    (void)state;
    assert_string_equal(oif_status_text((oif_status)99), "unknown status");
}

/* Causes are kept by number in programs and by name in logs, so neither may ever change. */
static void every_cause_keeps_its_number_and_its_name(void **state)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {
        {1, "unknown_parameter"},
        {2, "parameter_range"},
        {3, "unknown_detector"},
        {4, "unknown_column"},
        {5, "unknown_key"},
        {6, "key_too_long"},
        {7, "bad_rule"},
        {8, "unknown_episode"},
        {9, "no_episodes_kept"},
        {20, "infinite_value"},
        {21, "not_a_number"},
        {23, "decimal_comma"},
        {24, "decimal_point"},
        {25, "too_few_fields"},
        {26, "too_many_fields"},
        {27, "trailing_delimiter"},
        {28, "comment"},
        {29, "open_quote"},
        {30, "line_too_long"},
        {31, "bad_json"},
        {32, "nul_bytes"},
        {33, "not_text"},
        {34, "not_a_time"},
        {36, "day_order"},
        {40, "not_a_snapshot"},
        {41, "detector_snapshot"},
        {42, "pipeline_snapshot"},
        {43, "key_snapshot"},
        {44, "newer_snapshot"},
        {45, "truncated_snapshot"},
        {46, "wrong_checksum"},
        {47, "inconsistent_snapshot"},
        {60, "memory"},
        {61, "system"},
        {62, "file_in_use"},
        {63, "not_built"},
    };
    size_t next = 0;
    (void)state;
    for (int number = 0; number < 100; number++) {
        bool is_known = next < sizeof known / sizeof *known && known[next].number == number;
        assert_string_equal(oif_cause_name((oif_cause)number), is_known ? known[next++].name : "");
    }
    assert_int_equal(next, sizeof known / sizeof *known);
}

static void a_failure_has_a_cause_or_none(void **state)
{
    (void)state;
    oif_error error;
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(oif_fail(&error, OIF_EPARAM, "no"), OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_NONE);
    assert_int_equal(error.system_errno, 0);
    assert_int_equal(oif_fail_because(&error, OIF_EPARAM, OIF_CAUSE_UNKNOWN_KEY, "%d", 7),
                     OIF_EPARAM);
    assert_int_equal(error.cause, OIF_CAUSE_UNKNOWN_KEY);
    assert_string_equal(error.message, "7");
    assert_int_equal(oif_fail_because_at(&error, OIF_EINPUT, OIF_CAUSE_COMMENT, 3, 14, "-"),
                     OIF_EINPUT);
    assert_int_equal(error.cause, OIF_CAUSE_COMMENT);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
    assert_int_equal(oif_fail_because(NULL, OIF_EREAD, OIF_CAUSE_COMMENT, "ignored"), OIF_EREAD);
}

static void a_failure_of_a_system_call_has_its_errno(void **state)
{
    (void)state;
    oif_error error;
    assert_int_equal(oif_fail_system(&error, OIF_EWRITE, ENOSPC, "full"), OIF_EWRITE);
    assert_int_equal(error.cause, OIF_CAUSE_SYSTEM);
    assert_int_equal(error.system_errno, ENOSPC);
    oif_fail(&error, OIF_EWRITE, "another");
    assert_int_equal(error.system_errno, 0);
}

static void some_statuses_are_causes(void **state)
{
    (void)state;
    oif_error error;
    oif_fail(&error, OIF_EMEMORY, "no memory");
    assert_int_equal(error.cause, OIF_CAUSE_MEMORY);
    oif_fail_at(&error, OIF_EVERSION, 0, 1, "newer");
    assert_int_equal(error.cause, OIF_CAUSE_NEWER_SNAPSHOT);
    for (int i = OIF_OK; i <= OIF_EINPUT; i++)
        assert_int_equal(oif_cause_of((oif_status)i),
                         i == OIF_EMEMORY ? OIF_CAUSE_MEMORY : OIF_CAUSE_NONE);
}

static void the_version_is_the_headers(void **state)
{
    (void)state;
    char expected[40];
    snprintf(expected, sizeof expected, "%d.%d.%d", OIF_VERSION_MAJOR, OIF_VERSION_MINOR,
             OIF_VERSION_PATCH);
    assert_string_equal(oif_version(), expected);
    assert_int_equal(oif_version_number(), OIF_VERSION_NUMBER);
    assert_int_equal(oif_behavior_number(), OIF_BEHAVIOR_NUMBER);
    assert_int_equal(OIF_VERSION_NUMBER,
                     OIF_VERSION_MAJOR * 10000 + OIF_VERSION_MINOR * 100 + OIF_VERSION_PATCH);
}

static void a_failure_has_a_place_or_none(void **state)
{
    (void)state;
    oif_error error;
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(oif_fail_at(&error, OIF_EINPUT, 3, 14, "%s %d", "field", 7), OIF_EINPUT);
    assert_int_equal(error.status, OIF_EINPUT);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
    assert_string_equal(error.message, "field 7");
    assert_int_equal(oif_fail(&error, OIF_EPARAM, "no"), OIF_EPARAM);
    assert_int_equal(error.status, OIF_EPARAM);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.message, "no");
    assert_int_equal(oif_fail(NULL, OIF_EREAD, "nobody asks"), OIF_EREAD);
}

static void a_message_too_long_is_cut(void **state)
{
    (void)state;
    char text[2 * OIF_ERROR_MESSAGE_BYTES];
    struct {
        oif_error error;
        char behind;
    } guarded = {.behind = 'b'};
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(oif_fail(&guarded.error, OIF_EVALUE, "%s", text), OIF_EVALUE);
    assert_int_equal(strlen(guarded.error.message), OIF_ERROR_MESSAGE_BYTES - 1);
    assert_int_equal(guarded.behind, 'b');
}

/* Wherever the limit is, the last character is complete. */
static void a_message_is_not_cut_within_a_character(void **state)
{
    static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const size_t bytes = strlen(characters[i]);
        for (size_t before = 0; before < 4; before++) {
            char text[2 * OIF_ERROR_MESSAGE_BYTES] = "xxx";
            oif_error error;
            for (size_t at = before; at + bytes < sizeof text; at += bytes)
                strcpy(text + at, characters[i]);
            oif_fail(&error, OIF_EVALUE, "%s", text);
            size_t whole = (OIF_ERROR_MESSAGE_BYTES - 1 - before) / bytes * bytes;
            assert_int_equal(strlen(error.message), before + whole);
            assert_memory_equal(error.message, text, before + whole);
        }
    }
}

/* Text that is not UTF-8, such as Latin-1, loses three bytes at most. */
static void a_message_in_latin_1_is_cut_at_the_limit(void **state)
{
    (void)state;
    char text[2 * OIF_ERROR_MESSAGE_BYTES];
    oif_error error;
    for (int byte = 0x80; byte < 0x100; byte++) {
        memset(text, byte, sizeof text - 1);
        text[sizeof text - 1] = '\0';
        oif_fail(&error, OIF_EVALUE, "%s", text);
        assert_in_range(strlen(error.message), OIF_ERROR_MESSAGE_BYTES - 4,
                        OIF_ERROR_MESSAGE_BYTES - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_number_that_is_no_status_has_a_name_too),
        cmocka_unit_test(every_cause_keeps_its_number_and_its_name),
        cmocka_unit_test(a_failure_has_a_cause_or_none),
        cmocka_unit_test(a_failure_of_a_system_call_has_its_errno),
        cmocka_unit_test(some_statuses_are_causes),
        cmocka_unit_test(the_version_is_the_headers),
        cmocka_unit_test(a_failure_has_a_place_or_none),
        cmocka_unit_test(a_message_too_long_is_cut),
        cmocka_unit_test(a_message_is_not_cut_within_a_character),
        cmocka_unit_test(a_message_in_latin_1_is_cut_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
