/* The senders of a stream in a file: in this machine's memory layout, with a digest at the end.
 *
 *     "oifsend1" | rows of the stream | writers | bodies | batches | digest
 */
#include "senders_parts.h"

#include "serve/base/digest.h"

#include <stdlib.h>
#include <string.h>

static const char file_magic[8] = "oifsend1";

typedef struct sender_file {
    FILE *file;
    uint64_t digest;
    bool is_good;
} sender_file;

static void put(sender_file *to, const void *bytes, size_t count)
{
    to->digest = digest_add(to->digest, bytes, count);
    to->is_good &= count == 0 || fwrite(bytes, 1, count, to->file) == count;
}

static void get(sender_file *from, void *bytes, size_t count)
{
    from->is_good = from->is_good && (count == 0 || fread(bytes, 1, count, from->file) == count);
    if (from->is_good)
        from->digest = digest_add(from->digest, bytes, count);
    else
        memset(bytes, 0, count);
}

static void put_count(sender_file *to, uint64_t count)
{
    put(to, &count, sizeof count);
}

/* 0 on failure, and if there are more than allowed. */
static uint64_t get_count(sender_file *from, uint64_t most)
{
    uint64_t count = 0;
    get(from, &count, sizeof count);
    from->is_good &= count <= most;
    return from->is_good ? count : 0;
}

/* ---- Writers ---- */

enum { NAME_BYTES_MAX = 1024 };

static void put_writers(sender_file *to, const writer_list *list)
{
    put_count(to, list->table.count);
    for (const known_writer *one = list->oldest; one; one = one->newer) {
        put_count(to, one->item.key_bytes);
        put(to, one->item.key, one->item.key_bytes);
        put_count(to, one->rows);
    }
}

static void get_writers(sender_file *from, writer_list *list)
{
    for (uint64_t left = get_count(from, list->limit); left > 0 && from->is_good; left--) {
        char name[NAME_BYTES_MAX];
        const size_t bytes = (size_t)get_count(from, sizeof name);
        get(from, name, bytes);
        known_writer *one = from->is_good ? writer_list_touch(list, name, bytes) : NULL;
        from->is_good = one != NULL;
        if (!one)
            return;
        one->rows = get_count(from, UINT64_MAX);
    }
}

/* ---- Answers ---- */

static void put_rows(sender_file *to, const kept_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const kept_row *row = &batch->rows[i];
        put_count(to, row->digest);
        put_count(to, row->begin);
        put_count(to, (uint64_t)row->bytes << 1 | row->is_alert);
    }
}

static void get_rows(sender_file *from, kept_batch *batch)
{
    for (size_t i = 0; i < batch->count && from->is_good; i++) {
        kept_row *row = &batch->rows[i];
        row->digest = get_count(from, UINT64_MAX);
        row->begin = (uint32_t)get_count(from, batch->text_bytes);
        const uint64_t last = get_count(from, (uint64_t)batch->text_bytes << 1 | 1);
        row->bytes = (uint32_t)(last >> 1);
        row->is_alert = last & 1;
        from->is_good &= row->bytes <= batch->text_bytes - row->begin;
    }
}

static void put_batches(sender_file *to, const senders *all)
{
    size_t count = 0;
    for (const kept_batch *batch = all->oldest; batch; batch = batch->newer)
        count++;
    put_count(to, count);
    for (const kept_batch *batch = all->oldest; batch; batch = batch->newer) {
        put_count(to, batch->kind);
        put_count(to, batch->answer);
        put_count(to, batch->first);
        put_count(to, batch->count);
        put_count(to, batch->name_bytes);
        put_count(to, batch->text_bytes);
        put_rows(to, batch);
        put(to, batch->name, batch->name_bytes + batch->text_bytes);
    }
}

static void get_batch(sender_file *from, senders *all)
{
    kept_batch like = {.kind = (sender_kind)get_count(from, SENDER_WRITER)};
    like.answer = (rows_answer_kind)get_count(from, ANSWER_COUNT);
    like.first = get_count(from, UINT64_MAX);
    like.count = (size_t)get_count(from, ANSWERS_BYTES_MAX / sizeof(kept_row));
    like.name_bytes = (size_t)get_count(from, NAME_BYTES_MAX);
    like.text_bytes = (size_t)get_count(from, ANSWERS_BYTES_MAX);
    kept_batch *batch = from->is_good ? kept_batch_new(&like) : NULL;
    from->is_good = batch != NULL;
    if (!batch)
        return;
    get_rows(from, batch);
    get(from, batch->name, batch->name_bytes + batch->text_bytes);
    if (from->is_good)
        senders_add_batch(all, batch);
    else
        free(batch);
}

/* ---- The file ---- */

bool senders_save(const senders *all, uint64_t rows, FILE *file)
{
    sender_file to = {file, 0, true};
    put(&to, file_magic, sizeof file_magic);
    put_count(&to, rows);
    put_writers(&to, &all->writers);
    put_writers(&to, &all->bodies);
    put_count(&to, all->answers_dropped);
    put_batches(&to, all);
    put_count(&to, to.digest);
    return to.is_good && fflush(file) == 0;
}

bool senders_load(senders *all, uint64_t rows, FILE *file)
{
    sender_file from = {file, 0, true};
    char magic[sizeof file_magic];
    get(&from, magic, sizeof magic);
    if (memcmp(magic, file_magic, sizeof magic) != 0 || get_count(&from, UINT64_MAX) != rows)
        return false;
    get_writers(&from, &all->writers);
    get_writers(&from, &all->bodies);
    all->answers_dropped = get_count(&from, UINT64_MAX);
    for (uint64_t left = get_count(&from, ANSWERS_BYTES_MAX); left > 0 && from.is_good; left--)
        get_batch(&from, all);
    const uint64_t digest = from.digest;
    return get_count(&from, UINT64_MAX) == digest && from.is_good;
}
