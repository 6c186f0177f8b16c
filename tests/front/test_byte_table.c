/* The hash table of keys: compared with a plain list, in the order that output shows, and without
 * memory. */
#include "front/text/byte_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct counted {
    byte_item item;
    size_t number;
} counted;

enum { KEYS = 3000 };

static size_t make_key(char text[32], size_t number)
{
    return (size_t)sprintf(text, "key-%zu", number);
}

static counted *find(const byte_table *table, size_t number)
{
    char text[32];
    size_t bytes = make_key(text, number);
    return byte_table_find(table, text, bytes);
}

static counted *add(byte_table *table, size_t number)
{
    char text[32];
    size_t bytes = make_key(text, number);
    counted *item = byte_table_add(table, text, bytes, sizeof *item);
    if (item)
        item->number = number;
    return item;
}

/* ---- Memory that runs short: calls of calloc that may succeed; negative: all ---- */

static int callocs_left = -1;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (callocs_left == 0)
        return NULL;
    callocs_left -= callocs_left > 0;
    return __real_calloc(count, bytes);
}

/* ---- Tests ---- */

static void the_hash_has_its_published_values(void **state)
{
    (void)state;
    assert_true(byte_hash(BYTE_HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(byte_hash(BYTE_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(byte_hash(BYTE_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(byte_hash(byte_hash(BYTE_HASH_START, "foo", 3), "bar", 3) ==
                byte_hash(BYTE_HASH_START, "foobar", 6));
}

static void an_empty_table_has_no_key(void **state)
{
    byte_table table = {0};
    (void)state;
    assert_null(byte_table_find(&table, "", 0));
    assert_null(byte_table_find(&table, NULL, 0));
    byte_table_free(&table);
}

static void keys_are_any_bytes(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } keys[] = {{"", 0}, {"a", 1}, {"a\0", 2}, {"a\0b", 3}, {"\0", 1}, {"\xff\xfe", 2}};
    enum { COUNT = sizeof keys / sizeof *keys };
    byte_table table = {0};
    counted *items[COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_null(byte_table_find(&table, keys[i].text, keys[i].bytes));
        items[i] = byte_table_add(&table, keys[i].text, keys[i].bytes, sizeof *items[i]);
        assert_non_null(items[i]);
        assert_int_equal(items[i]->number, 0);
        assert_int_equal(items[i]->item.key_bytes, keys[i].bytes);
        assert_memory_equal(items[i]->item.key, keys[i].text, keys[i].bytes + 1);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(byte_table_find(&table, keys[i].text, keys[i].bytes), items[i]);
    assert_ptr_equal(byte_table_find(&table, NULL, 0), items[0]);
    byte_table_free(&table);
    assert_int_equal(table.count, 0);
}

/* Adds and removes at random; a list says what must be there. */
static void what_was_added_is_found_until_it_is_removed(void **state)
{
    static counted *items[KEYS];
    byte_table table = {0};
    size_t count = 0;
    uint64_t random = 1;
    (void)state;
    for (int step = 0; step < 50000; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t number = (size_t)(random >> 33) % KEYS;
        assert_ptr_equal(find(&table, number), items[number]);
        if (items[number]) {
            byte_table_remove(&table, items[number]);
            items[number] = NULL;
            count--;
        } else {
            items[number] = add(&table, number);
            assert_non_null(items[number]);
            count++;
        }
        assert_int_equal(table.count, count);
        assert_true(2 * table.count <= table.slot_count);
    }
    for (size_t i = 0; i < KEYS; i++) {
        assert_ptr_equal(find(&table, i), items[i]);
        assert_true(!items[i] || items[i]->number == i);
    }
    byte_table_free(&table);
}

/* Series of --output prometheus are printed in this order. */
static void slots_are_in_the_order_of_hashes(void **state)
{
    static const char *const keys[] = {"web-1", "web-2", "db", "cache"};
    byte_table table = {0};
    uint64_t before = 0;
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_non_null(byte_table_add(&table, keys[i], strlen(keys[i]), sizeof(byte_item)));
    assert_int_equal(table.slot_count, 64);
    for (size_t i = 0; i < table.slot_count; i++) {
        const byte_item *item = table.slots[i];
        uint64_t hash = item ? byte_hash(BYTE_HASH_START, item->key, item->key_bytes) : 0;
        if (!item)
            continue;
        hash = (hash ^ hash >> 32) % 64;
        assert_int_equal(i, hash);
        assert_true(hash >= before);
        before = hash;
    }
    byte_table_free(&table);
}

static void without_memory_for_slots_it_becomes_fuller(void **state)
{
    byte_table table = {0};
    size_t count = 0;
    (void)state;
    callocs_left = 0;
    assert_null(add(&table, 0));
    assert_false(byte_table_make_room(&table));
    callocs_left = 1; /* slots, but no item */
    assert_null(add(&table, 0));
    assert_int_equal(table.count, 0);
    callocs_left = -1;
    while (count < 32)
        assert_non_null(add(&table, count++));
    assert_int_equal(table.slot_count, 64);
    callocs_left = 0;
    assert_true(byte_table_make_room(&table));
    assert_int_equal(table.slot_count, 64);
    callocs_left = -1;
    assert_true(byte_table_make_room(&table));
    assert_int_equal(table.slot_count, 128);
    for (size_t i = 0; i < count; i++)
        assert_non_null(find(&table, i));
    byte_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_has_its_published_values),
        cmocka_unit_test(an_empty_table_has_no_key),
        cmocka_unit_test(keys_are_any_bytes),
        cmocka_unit_test(what_was_added_is_found_until_it_is_removed),
        cmocka_unit_test(slots_are_in_the_order_of_hashes),
        cmocka_unit_test(without_memory_for_slots_it_becomes_fuller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
