/* The texts of keys: they stay as they are while others come and go, in few allocations, and the
 * memory of removed ones is used again. */
#include "../detect/driver.h"
#include "pipeline/keys/key_texts.h"
#include "pipeline/keys/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 300, STEPS = 20000, LONGEST = 700 };

static size_t live, made;

static void *count_and_allocate(void *context, size_t alignment, size_t bytes)
{
    (void)context;
    live++;
    made++;
    return aligned_alloc(alignment, bytes);
}

static void count_and_free(void *context, void *memory)
{
    (void)context;
    live--;
    free(memory);
}

static int count_allocations(void **state)
{
    (void)state;
    live = made = 0;
    oif_set_allocator(&(oif_allocator){.allocate = count_and_allocate, .release = count_and_free});
    return 0;
}

static int stop_counting(void **state)
{
    (void)state;
    oif_set_allocator(NULL);
    return 0;
}

/* ---- Beside copies of their own ---- */

typedef struct held_text {
    char *copy; /* of the texts; NULL: none */
    char own[LONGEST];
    size_t bytes;
} held_text;

static void add(oif_key_texts *texts, held_text *held, dice *from)
{
    /* most keys are short; 16, 32, ... bytes and one more are the ends of the sizes */
    held->bytes = dice_below(from, 4) ? dice_below(from, 40) : dice_below(from, LONGEST);
    for (size_t i = 0; i < held->bytes; i++)
        held->own[i] = (char)dice_below(from, 256);
    held->copy = oif_key_texts_add(texts, held->own, held->bytes);
    assert_non_null(held->copy);
}

static void texts_stay_as_they_are_while_others_come_and_go(void **state)
{
    (void)state;
    static held_text held[HELD];
    oif_key_texts texts = {0};
    dice from = {39};
    for (int step = 0; step < STEPS; step++) {
        held_text *one = &held[dice_below(&from, HELD)];
        if (!one->copy) {
            add(&texts, one, &from);
            continue;
        }
        assert_memory_equal(one->copy, one->own, one->bytes);
        oif_key_texts_remove(&texts, one->copy, one->bytes);
        one->copy = NULL;
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].copy) {
            assert_memory_equal(held[i].copy, held[i].own, held[i].bytes);
            oif_key_texts_remove(&texts, held[i].copy, held[i].bytes);
        }
    oif_key_texts_free(&texts);
    assert_int_equal(live, 0);
}

/* ---- Allocations ---- */

static void many_keys_take_few_allocations(void **state)
{
    (void)state;
    oif_keys keys;
    char key[32];
    oif_keys_init(&keys);
    for (int i = 0; i < 10000; i++) {
        const int bytes = snprintf(key, sizeof key, "host-%d", i);
        assert_int_not_equal(oif_keys_add(&keys, key, (size_t)bytes), OIF_NO_KEY);
    }
    assert_true(made < 50); /* the table doubles 11 times; a chunk has 4,095 keys */
    oif_keys_free(&keys);
    assert_int_equal(live, 0);
}

static uint32_t add_key(oif_keys *keys, const char *name, int number)
{
    char key[32];
    const int bytes = snprintf(key, sizeof key, "%s-%05d", name, number);
    const uint32_t entry = oif_keys_add(keys, key, (size_t)bytes);
    assert_int_not_equal(entry, OIF_NO_KEY);
    return entry;
}

static void the_memory_of_removed_keys_is_used_again(void **state)
{
    (void)state;
    oif_keys keys;
    size_t after_first = 0;
    oif_keys_init(&keys);
    add_key(&keys, "stays", 0);
    for (int i = 0; i < 10000; i++) {
        const uint32_t first = add_key(&keys, "first", i), second = add_key(&keys, "second", i);
        oif_keys_remove(&keys, first);
        oif_keys_remove(&keys, second);
        after_first = i == 0 ? made : after_first;
    }
    assert_int_equal(made, after_first);
    oif_keys_free(&keys);
    assert_int_equal(live, 0);
}

static void a_key_that_is_added_and_removed_leaves_nothing(void **state)
{
    (void)state;
    oif_key_texts texts = {0};
    for (int round = 0; round < 3; round++) {
        char *held[200];
        for (int i = 0; i < 200; i++) /* several chunks */
            held[i] = oif_key_texts_add(&texts, "host-12345", 10);
        for (int i = 200; i-- > 0;)
            oif_key_texts_remove(&texts, held[i], 10);
        if (round == 0)
            assert_true(live <= 4); /* chunks before the newest are not freed early */
    }
    assert_true(made < 20);
    oif_key_texts_free(&texts);
    char *only = oif_key_texts_add(&texts, "a", 1);
    oif_key_texts_remove(&texts, only, 1);
    assert_int_equal(live, 0);
}

/* More keys than several of the largest chunks hold. The newest are removed, the last one first,
 * and two thirds of the others. */
static void a_chunk_is_not_freed_while_it_holds_texts(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    static char *held[KEYS];
    static bool is_removed[KEYS];
    oif_key_texts texts = {0};
    for (int i = 0; i < KEYS; i++) {
        char key[24];
        snprintf(key, sizeof key, "host-%05d", i);
        held[i] = oif_key_texts_add(&texts, key, 10);
    }
    for (int i = KEYS; i-- > 0;)
        if (i >= KEYS - 6000 || i % 3 > 0) {
            oif_key_texts_remove(&texts, held[i], 10);
            is_removed[i] = true;
        }
    for (int i = 0; i < KEYS; i++) {
        char key[24];
        snprintf(key, sizeof key, "host-%05d", i);
        if (!is_removed[i])
            assert_memory_equal(held[i], key, 10);
    }
    oif_key_texts_free(&texts);
    assert_int_equal(live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_stay_as_they_are_while_others_come_and_go,
                                        count_allocations, stop_counting),
        cmocka_unit_test_setup_teardown(many_keys_take_few_allocations, count_allocations,
                                        stop_counting),
        cmocka_unit_test_setup_teardown(the_memory_of_removed_keys_is_used_again, count_allocations,
                                        stop_counting),
        cmocka_unit_test_setup_teardown(a_chunk_is_not_freed_while_it_holds_texts,
                                        count_allocations, stop_counting),
        cmocka_unit_test_setup_teardown(a_key_that_is_added_and_removed_leaves_nothing,
                                        count_allocations, stop_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
