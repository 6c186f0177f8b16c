/* Problems as answers have them: messages of any length end with a whole character. */
#include "serve/base/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_message_is_not_cut_within_a_character(void **state)
{
    static const char character[] = "\xe2\x82\xac";
    (void)state;
    for (size_t before = 0; before < 3; before++) {
        char text[2 * PROBLEM_MESSAGE_BYTES] = "xx";
        problem why;
        for (size_t at = before; at + 3 < sizeof text; at += 3)
            strcpy(text + at, character);
        assert_false(problem_set(&why, 400, "do", "%s", text));
        assert_int_equal(strlen(why.message),
                         before + (PROBLEM_MESSAGE_BYTES - 1 - before) / 3 * 3);
        assert_memory_equal(why.message, text, strlen(why.message));
        assert_string_equal(why.remedy, "do");
        assert_int_equal(why.status, 400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_not_cut_within_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
