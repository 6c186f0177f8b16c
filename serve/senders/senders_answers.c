#include "senders_parts.h"

#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports items as leaked: they are in a table and a list. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* ---- Keeping answers ---- */

void senders_drop_batch(senders *all)
{
    kept_batch *batch = all->oldest;
    all->oldest = batch->newer;
    if (!all->oldest)
        all->newest = NULL;
    all->answer_bytes -= batch->block_bytes;
    free(batch);
}

void answers_begin(senders *all, const sender *from, rows_answer_kind kind)
{
    all->made.from = from;
    all->made.kind = kind;
    all->made.count = 0;
    all->made.is_given_up = false;
}

void answers_add(senders *all, const kept_row *row)
{
    made_batch *made = &all->made;
    if (made->count == made->capacity && !made->is_given_up) {
        const size_t capacity = 2 * made->capacity + 256;
        kept_row *larger = capacity * sizeof *larger <= 2 * ANSWERS_BYTES_MAX
                               ? realloc(made->rows, capacity * sizeof *larger)
                               : NULL;
        made->is_given_up = !larger;
        if (larger) {
            made->rows = larger;
            made->capacity = capacity;
        }
    }
    if (!made->is_given_up)
        made->rows[made->count++] = *row;
}

kept_batch *kept_batch_new(const kept_batch *like)
{
    const size_t rows_bytes = like->count * sizeof *like->rows,
                 bytes = sizeof *like + rows_bytes + like->name_bytes + like->text_bytes;
    kept_batch *batch = calloc(1, bytes);
    if (!batch)
        return NULL;
    *batch = *like;
    batch->newer = NULL;
    batch->block_bytes = bytes;
    batch->rows = (kept_row *)(batch + 1);
    batch->name = (char *)batch->rows + rows_bytes;
    batch->text = batch->name + like->name_bytes;
    return batch;
}

void senders_add_batch(senders *all, kept_batch *batch)
{
    *(all->newest ? &all->newest->newer : &all->oldest) = batch;
    all->newest = batch;
    all->answer_bytes += batch->block_bytes;
    while (all->answer_bytes > ANSWERS_BYTES_MAX) {
        senders_drop_batch(all);
        all->answers_dropped++;
    }
}

void answers_end(senders *all, uint64_t first_row, const char *text, size_t bytes)
{
    made_batch *made = &all->made;
    const kept_batch like = {.kind = made->from->kind,
                             .first = first_row,
                             .count = made->count,
                             .answer = made->kind,
                             .name_bytes = made->from->name_bytes,
                             .text_bytes = bytes};
    const bool fits =
        bytes + made->count * sizeof *made->rows + made->from->name_bytes < ANSWERS_BYTES_MAX / 2;
    kept_batch *batch =
        !made->is_given_up && made->count > 0 && fits ? kept_batch_new(&like) : NULL;
    all->answers_dropped += made->count > 0 && !batch;
    made->count = 0;
    if (!batch)
        return;
    memcpy(batch->rows, made->rows, like.count * sizeof *batch->rows);
    if (like.name_bytes > 0)
        memcpy(batch->name, made->from->name, like.name_bytes);
    if (bytes > 0)
        memcpy(batch->text, text, bytes);
    senders_add_batch(all, batch);
}

/* ---- Repeating answers ---- */

static bool is_of(const kept_batch *batch, const sender *from)
{
    return batch->kind == from->kind && batch->name_bytes == from->name_bytes &&
           (from->name_bytes == 0 || memcmp(batch->name, from->name, from->name_bytes) == 0);
}

answers_cursor answers_seek(const senders *all, const sender *from)
{
    return (answers_cursor){.next = all->oldest, .from = from, .row = from->first_row};
}

/* The batches of a sender are in the order of its rows. */
bool answers_next(answers_cursor *at, kept_line *line)
{
    const uint64_t row = at->row++;
    while (at->next && !(is_of(at->next, at->from) && row < at->next->first + at->next->count))
        at->next = at->next->newer;
    if (!at->next || row < at->next->first)
        return false;
    const kept_row *found = &at->next->rows[row - at->next->first];
    *line = (kept_line){found, at->next->text + found->begin, at->next->answer};
    return true;
}
