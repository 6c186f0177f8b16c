#include "senders.h"

#include "front/text/byte_table.h"
#include "front/text/output.h"

#include <stdlib.h>

/* gcc's analyzer reports items as leaked: they are in a table and a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

typedef struct known_sender {
    byte_item item;
    uint64_t rows;
    struct known_sender *newer, *older;
} known_sender;

typedef struct sender_list {
    byte_table table; /* of known_sender */
    known_sender *newest, *oldest;
} sender_list;

struct senders {
    sender_list writers, bodies;
};

senders *senders_new(void)
{
    return calloc(1, sizeof(senders));
}

void senders_free(senders *all)
{
    if (!all)
        return;
    byte_table_free(&all->writers.table);
    byte_table_free(&all->bodies.table);
    free(all);
}

/* ---- Positions ---- */

uint64_t senders_position(const senders *all, const sender *from)
{
    const sender_list *list = from->kind == SENDER_WRITER ? &all->writers : &all->bodies;
    const known_sender *found = byte_table_find(&list->table, from->name, from->name_bytes);
    return found ? found->rows : 0;
}

static void unlink_sender(sender_list *list, known_sender *one)
{
    *(one->newer ? &one->newer->older : &list->newest) = one->older;
    *(one->older ? &one->older->newer : &list->oldest) = one->newer;
}

static void link_newest(sender_list *list, known_sender *one)
{
    one->newer = NULL;
    one->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = one;
    list->newest = one;
}

/* Makes room by dropping the least recently seen. NULL: out of memory. */
static known_sender *add_sender(sender_list *list, const char *name, size_t bytes)
{
    if (list->table.count == SENDERS_MAX) {
        known_sender *oldest = list->oldest;
        unlink_sender(list, oldest);
        byte_table_remove(&list->table, oldest);
    }
    known_sender *one = byte_table_add(&list->table, name, bytes, sizeof *one);
    if (one)
        link_newest(list, one);
    return one;
}

static bool advance(sender_list *list, const char *name, size_t bytes, uint64_t rows)
{
    known_sender *one = byte_table_find(&list->table, name, bytes);
    if (one) {
        unlink_sender(list, one);
        link_newest(list, one);
    } else
        one = add_sender(list, name, bytes);
    if (one)
        one->rows += rows;
    return one != NULL;
}

void senders_advance(senders *all, const sender *from, uint64_t rows)
{
    if (from->kind == SENDER_WRITER || from->kind == SENDER_BODY)
        advance(from->kind == SENDER_WRITER ? &all->writers : &all->bodies, from->name,
                from->name_bytes, rows);
}

/* ---- Bytes ---- */

static void write_number(uint64_t number)
{
    output_write((const char *)&number, sizeof number);
}

static void write_list(const sender_list *list)
{
    write_number(list->table.count);
    for (const known_sender *one = list->oldest; one; one = one->newer) {
        write_number(one->rows);
        write_number(one->item.key_bytes);
        output_write(one->item.key, one->item.key_bytes);
    }
}

void senders_write(const senders *all)
{
    write_list(&all->writers);
    write_list(&all->bodies);
}

static bool read_sender(sender_list *list, bytes_left *from)
{
    enum { NAME_BYTES_MAX = 1024 };
    char name[NAME_BYTES_MAX];
    uint64_t rows, bytes;
    return bytes_left_take(from, &rows, sizeof rows) &&
           bytes_left_take(from, &bytes, sizeof bytes) && bytes <= sizeof name &&
           bytes_left_take(from, name, (size_t)bytes) && advance(list, name, (size_t)bytes, rows);
}

static bool read_list(sender_list *list, bytes_left *from)
{
    uint64_t count;
    bool is_good = bytes_left_take(from, &count, sizeof count);
    for (uint64_t i = 0; is_good && i < count; i++)
        is_good = read_sender(list, from);
    return is_good;
}

bool senders_read(senders *all, bytes_left *from)
{
    return read_list(&all->writers, from) && read_list(&all->bodies, from);
}
