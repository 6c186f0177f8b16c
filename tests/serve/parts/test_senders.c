/* Writers and repeated bodies: bounded, in order, and the same after a restart. */
#include "serve/senders/senders.h"

#include "stream_fixture.h"

#include "front/text/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sender writer_of(const char *name)
{
    return (sender){SENDER_WRITER, name, strlen(name), 0};
}

static sender body_of(const char *digest)
{
    return (sender){SENDER_BODY, digest, strlen(digest), 0};
}

static uint64_t position(const senders *all, sender from)
{
    return senders_position(all, &from);
}

static void advance(senders *all, sender from, uint64_t rows)
{
    senders_advance(all, &from, rows);
}

static void writers_and_bodies_have_their_own_numbers(void **state)
{
    senders *all = senders_new();
    (void)state;
    for (int i = 0; i < 10; i++) {
        advance(all, writer_of("a"), 7);
        advance(all, body_of("a"), 3);
    }
    advance(all, (sender){SENDER_STREAM, "", 0, 0}, 5); /* the stream counts these itself */
    assert_int_equal(position(all, writer_of("a")), 70);
    assert_int_equal(position(all, body_of("a")), 30);
    assert_int_equal(position(all, writer_of("")), 0);
    assert_int_equal(position(all, writer_of("b")), 0);
    senders_free(all);
}

static void the_least_recently_seen_is_dropped_first(void **state)
{
    senders *all = senders_new();
    char name[32];
    (void)state;
    for (int i = 0; i < 3 * SENDERS_MAX; i++) {
        snprintf(name, sizeof name, "w%d", i);
        advance(all, writer_of(name), 2);
        advance(all, writer_of("w0"), 1);
        advance(all, body_of(name), 1);
    }
    assert_int_equal(position(all, writer_of("w0")), 3 * SENDERS_MAX + 2);
    for (int i = 1; i < 3 * SENDERS_MAX; i++) {
        snprintf(name, sizeof name, "w%d", i);
        assert_int_equal(position(all, writer_of(name)), i > 2 * SENDERS_MAX ? 2 : 0);
        assert_int_equal(position(all, body_of(name)), i >= 2 * SENDERS_MAX);
    }
    senders_free(all);
}

/* ---- Bytes ---- */

static char *written(const senders *all, size_t *count)
{
    output_divert();
    senders_write(all);
    char *bytes = output_diverted(count);
    assert_non_null(bytes);
    return bytes;
}

static senders *make_some(void)
{
    senders *all = senders_new();
    advance(all, writer_of("a"), 5);
    advance(all, writer_of("b"), 3);
    advance(all, writer_of("a"), 2);
    advance(all, body_of("k"), 4);
    return all;
}

static void what_is_written_is_read(void **state)
{
    senders *all = make_some(), *again = senders_new();
    size_t count, count_again;
    char *bytes = written(all, &count);
    bytes_left from = {bytes, count};
    (void)state;
    assert_true(senders_read(again, &from));
    assert_int_equal(from.count, 0);
    char *bytes_again = written(again, &count_again); /* in the same order */
    assert_int_equal(count, count_again);
    assert_memory_equal(bytes, bytes_again, count);
    assert_int_equal(position(again, writer_of("a")), 7);
    assert_int_equal(position(again, writer_of("b")), 3);
    assert_int_equal(position(again, body_of("k")), 4);
    free(bytes);
    free(bytes_again);
    senders_free(all);
    senders_free(again);
}

/* The file has a checksum, so this is about bytes of another version: a copy of the exact size lets
 * the sanitizer see each read past it. */
static void bytes_that_end_early_are_refused(void **state)
{
    senders *all = make_some();
    size_t count;
    char *bytes = written(all, &count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        char *part = malloc(i + 1);
        memcpy(part, bytes, i);
        bytes_left from = {part, i};
        senders *read = senders_new();
        if (senders_read(read, &from))
            fail_msg("%zu of %zu bytes are enough", i, count);
        senders_free(read);
        free(part);
    }
    memset(bytes, 0xff, sizeof(uint64_t)); /* more writers than there are bytes */
    bytes_left from = {bytes, count};
    assert_false(senders_read(all, &from));
    free(bytes);
    senders_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_and_bodies_have_their_own_numbers),
        cmocka_unit_test(the_least_recently_seen_is_dropped_first),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(bytes_that_end_early_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
