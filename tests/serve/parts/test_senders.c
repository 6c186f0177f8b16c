/* Writers, keys of requests and kept answers: bounded, in order, and the same after a restart. */
#include "serve/senders/senders.h"

#include "stream_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sender writer_of(const char *name, uint64_t first)
{
    return (sender){SENDER_WRITER, name, strlen(name), first};
}

/* A batch whose lines are "NAME NUMBER\n". */
static void keep_batch(senders *all, const char *name, uint64_t first, size_t count)
{
    const sender from = writer_of(name, first);
    char *text = malloc(count * 32 + 1);
    size_t bytes = 0;
    assert_non_null(text);
    answers_begin(all, &from, ANSWER_RESULTS);
    for (size_t i = 0; i < count; i++) {
        const size_t begin = bytes;
        bytes += (size_t)sprintf(text + bytes, "%s %llu\n", name, (unsigned long long)(first + i));
        answers_add(all, &(kept_row){.digest = first + i,
                                     .begin = (uint32_t)begin,
                                     .bytes = (uint32_t)(bytes - begin),
                                     .is_alert = i % 2 == 1});
    }
    answers_end(all, first, text, bytes);
    senders_advance(all, &from, count);
    free(text);
}

/* How many of the rows from `first` on are kept, each with the right line. */
static size_t count_kept(const senders *all, const char *name, uint64_t first, size_t count)
{
    const sender from = writer_of(name, first);
    answers_cursor at = answers_seek(all, &from);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        char expected[64];
        kept_line line;
        snprintf(expected, sizeof expected, "%s %llu\n", name, (unsigned long long)(first + i));
        if (!answers_next(&at, &line))
            continue;
        kept++;
        assert_int_equal(line.row->digest, first + i);
        assert_int_equal(line.row->bytes, strlen(expected));
        assert_memory_equal(line.text, expected, strlen(expected));
    }
    return kept;
}

static void rows_of_writers_are_found_among_others(void **state)
{
    senders *all = senders_new();
    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        keep_batch(all, "a", 7 * i, 7);
        keep_batch(all, "b", 3 * i, 3);
    }
    for (uint64_t first = 0; first < 75; first++)
        for (size_t count = 1; count < 80; count += 9) {
            size_t expected = first >= 70 ? 0 : 70 - first < count ? 70 - first : count;
            assert_int_equal(count_kept(all, "a", first, count), expected);
        }
    assert_int_equal(count_kept(all, "b", 0, 100), 30);
    assert_int_equal(count_kept(all, "c", 0, 100), 0);
    const sender a = writer_of("a", 0), c = writer_of("c", 0);
    assert_int_equal(senders_position(all, &a), 70);
    assert_int_equal(senders_position(all, &c), 0);
    senders_free(all);
}

static void the_least_recently_seen_writer_goes_first(void **state)
{
    senders *all = senders_new();
    char name[32];
    (void)state;
    for (int i = 0; i < 3 * WRITERS_MAX; i++) {
        snprintf(name, sizeof name, "w%d", i);
        const sender from = writer_of(name, 0), first = writer_of("w0", 0);
        senders_advance(all, &from, 2);
        senders_advance(all, &first, 1);
    }
    const sender first = writer_of("w0", 0), second = writer_of("w1", 0);
    assert_int_equal(senders_position(all, &first), 3 * WRITERS_MAX + 2);
    assert_int_equal(senders_position(all, &second), 0);
    senders_free(all);
}

static void answers_are_bounded_and_the_latest_are_kept(void **state)
{
    senders *all = senders_new();
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        keep_batch(all, "a", 1000 * i, 1000);
        assert_true(senders_get_figures(all).answers_bytes <= ANSWERS_BYTES_MAX);
    }
    assert_int_equal(count_kept(all, "a", 199000, 1000), 1000);
    assert_int_equal(count_kept(all, "a", 0, 1000), 0);
    const size_t kept = count_kept(all, "a", 0, 200000);
    assert_true(kept > 10000 && kept % 1000 == 0);
    assert_int_equal(senders_get_figures(all).answers_dropped, 200 - kept / 1000);
    keep_batch(all, "b", 0, 400000); /* larger than all that is kept */
    assert_int_equal(count_kept(all, "b", 0, 400000), 0);
    assert_int_equal(count_kept(all, "a", 199000, 1000), 1000);
    senders_free(all);
}

/* ---- The file ---- */

static FILE *saved(const senders *all, char **bytes, size_t *count)
{
    FILE *file = open_memstream(bytes, count);
    assert_non_null(file);
    assert_true(senders_save(all, 77, file));
    fclose(file);
    return fmemopen(*bytes, *count, "r");
}

static senders *make_some(void)
{
    senders *all = senders_new();
    const sender body = {SENDER_BODY, "k", 1, 0};
    keep_batch(all, "a", 0, 5);
    keep_batch(all, "b", 0, 3);
    keep_batch(all, "a", 5, 2);
    senders_advance(all, &body, 4);
    return all;
}

static void what_is_saved_is_loaded(void **state)
{
    senders *all = make_some(), *again = senders_new(), *other = senders_new();
    char *bytes;
    size_t count;
    FILE *file = saved(all, &bytes, &count);
    (void)state;
    assert_false(senders_load(other, 78, file));
    rewind(file);
    assert_true(senders_load(again, 77, file));
    const sender a = writer_of("a", 0), body = {SENDER_BODY, "k", 1, 0};
    assert_int_equal(senders_position(again, &a), 7);
    assert_int_equal(senders_position(again, &body), 4);
    assert_int_equal(count_kept(again, "a", 0, 7), 7);
    assert_int_equal(count_kept(again, "b", 0, 3), 3);
    fclose(file);
    free(bytes);
    senders_free(all);
    senders_free(again);
    senders_free(other);
}

static bool loads(char *bytes, size_t count)
{
    senders *all = senders_new();
    FILE *file = fmemopen(bytes, count, "r");
    assert_non_null(file);
    bool is_loaded = senders_load(all, 77, file);
    fclose(file);
    senders_free(all);
    return is_loaded;
}

static void a_damaged_file_is_refused(void **state)
{
    senders *all = make_some();
    char *bytes;
    size_t count;
    (void)state;
    fclose(saved(all, &bytes, &count));
    assert_true(loads(bytes, count));
    for (size_t i = 1; i < count; i++)
        assert_false(loads(bytes, i));
    for (size_t i = 0; i < 8 * count; i++) {
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        if (loads(bytes, count))
            fail_msg("bit %zu of %zu", i, 8 * count);
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
    }
    free(bytes);
    senders_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_writers_are_found_among_others),
        cmocka_unit_test(the_least_recently_seen_writer_goes_first),
        cmocka_unit_test(answers_are_bounded_and_the_latest_are_kept),
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(a_damaged_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
