/* Where requests begin and end: what is good before something wrong, and how many heads were
 * complete. What is refused in all is in test_smuggling.py. */
#include "serve/http/framing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
#define CHUNKS "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

static void heads_are_counted_over_bodies_and_chunks(void **state)
{
    static const char text[] = GET POST CHUNKS "3\r\nabc\r\n0\r\n\r\n" GET;
    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        framing wire = {0};
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            const size_t left = sizeof text - 1 - at;
            const size_t count = left < piece ? left : piece;
            assert_int_equal(framing_take(&wire, text + at, count), count);
        }
        assert_null(wire.wrong);
        assert_int_equal(wire.heads, 4);
    }
}

static void only_whole_requests_before_a_wrong_one_are_good(void **state)
{
    static const struct {
        const char *good, *wrong;
        uint64_t heads;
    } cases[] = {
        {"", "GET / HTTP/1.1\nHost: a\r\n\r\n", 0},
        {GET, "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 1},
        {GET POST, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 2},
        {CHUNKS "3\r\nabc\r\n", "z\r\n", 1}, /* of a body, the bytes before it */
        {CHUNKS "3\r\nabc", "d\r\n", 1},
        {POST, "x", 1}, /* not yet wrong: a method may begin with it */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        framing wire = {0};
        strcat(strcpy(text, cases[i].good), cases[i].wrong);
        const size_t good = framing_take(&wire, text, strlen(text));
        assert_int_equal(good, strlen(wire.wrong ? cases[i].good : text));
        assert_int_equal(wire.heads, cases[i].heads);
        assert_int_equal(wire.wrong == NULL, strcmp(cases[i].wrong, "x") == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_counted_over_bodies_and_chunks),
        cmocka_unit_test(only_whole_requests_before_a_wrong_one_are_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
