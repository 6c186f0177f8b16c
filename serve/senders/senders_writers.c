#include "senders_parts.h"

#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports items as leaked: they are in a table and a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

senders *senders_new(void)
{
    senders *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->writers.limit = WRITERS_MAX;
    all->bodies.limit = BODIES_MAX;
    return all;
}

void senders_free(senders *all)
{
    if (!all)
        return;
    while (all->oldest)
        senders_drop_batch(all);
    byte_table_free(&all->writers.table);
    byte_table_free(&all->bodies.table);
    free(all->made.rows);
    free(all);
}

/* ---- Positions ---- */

uint64_t senders_position(const senders *all, const sender *from)
{
    const writer_list *list = from->kind == SENDER_WRITER ? &all->writers : &all->bodies;
    const known_writer *found = byte_table_find(&list->table, from->name, from->name_bytes);
    return found ? found->rows : 0;
}

static void unlink_writer(writer_list *list, known_writer *one)
{
    *(one->newer ? &one->newer->older : &list->newest) = one->older;
    *(one->older ? &one->older->newer : &list->oldest) = one->newer;
}

static void link_newest(writer_list *list, known_writer *one)
{
    one->newer = NULL;
    one->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = one;
    list->newest = one;
}

/* Makes room by dropping the least recently seen. NULL: out of memory. */
static known_writer *add_writer(writer_list *list, const char *name, size_t bytes)
{
    if (list->table.count == list->limit) {
        known_writer *oldest = list->oldest;
        unlink_writer(list, oldest);
        byte_table_remove(&list->table, oldest);
    }
    known_writer *one = byte_table_add(&list->table, name, bytes, sizeof *one);
    if (one)
        link_newest(list, one);
    return one;
}

known_writer *writer_list_touch(writer_list *list, const char *name, size_t bytes)
{
    known_writer *one = byte_table_find(&list->table, name, bytes);
    if (!one)
        return add_writer(list, name, bytes);
    unlink_writer(list, one);
    link_newest(list, one);
    return one;
}

void senders_advance(senders *all, const sender *from, uint64_t rows)
{
    if (from->kind != SENDER_WRITER && from->kind != SENDER_BODY)
        return;
    writer_list *list = from->kind == SENDER_WRITER ? &all->writers : &all->bodies;
    known_writer *one = writer_list_touch(list, from->name, from->name_bytes);
    if (one)
        one->rows += rows;
}

senders_figures senders_get_figures(const senders *all)
{
    return (senders_figures){.answers_bytes = all->answer_bytes,
                             .answers_dropped = all->answers_dropped};
}
