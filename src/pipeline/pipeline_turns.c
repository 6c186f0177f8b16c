/* A snapshot that is written while rows come (oif_state_file_save_pipeline_in_turns):
 *
 *     beginning, order of the keys, end    taken under the lock of the caller, at the start
 *     key, key, key, ...                   packed in slices; between two slices rows may come
 *
 * So that the snapshot is that of the start, a model that is still to be written is packed into
 * memory before it changes. These copies take no more than the models do in the file, and usually
 * much less: beyond KEPT_BYTES_MAX the lock is not released any more until they are written.
 */
#include "pipeline/pipeline_sections.h"

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/state_file.h"
#include "snapshot/stored_in_memory.h"

#include <string.h>

/* A slice takes less than 1 ms: a model of 14 KB is packed in 0.1 ms, a new one in 0.02 ms. */
enum { SLICE_BYTES = 16 << 10, SLICE_KEYS = 16, KEPT_BYTES_MAX = 64 << 20 };

typedef struct bytes {
    char *at;
    size_t count;
} bytes;

typedef struct saved_key {
    uint32_t entry;
    bytes kept; /* what is written of it; none: the model is as it was */
} saved_key;

typedef struct saving {
    oif_pipeline *pipeline;
    const oif_turns *turns;
    bool is_given; /* the lock, to the threads that process rows */
    oif_model_packer *packer;
    bytes begin, end;
    saved_key *keys; /* in the order of the snapshot */
    uint32_t key_count, next;
    uint32_t *places; /* of entries in `keys`; OIF_NO_KEY: it is written or kept, or is new */
    uint32_t entry_count;
    bytes slice, scratch; /* `count` is the room */
    size_t kept_bytes;
    oif_status status; /* of what was done between the slices */
} saving;

/* ---- The start ---- */

static bytes new_bytes(size_t count)
{
    return (bytes){oif_memory_new(count + 1), count};
}

static ptrdiff_t count_bytes(void *count, const char *written, size_t more)
{
    (void)written;
    *(uint64_t *)count += more;
    return (ptrdiff_t)more;
}

/* Writes what surrounds the keys; returns where they belong. */
static uint64_t write_around(const saving *s, oif_write_function write, void *context)
{
    oif_section_writer writer;
    oif_section_writer_open(&writer, write, context, NULL);
    oif_pipeline_head_write(&writer, s->pipeline, s->packer);
    const uint64_t at = writer.offset;
    oif_pipeline_tail_write(&writer, s->pipeline);
    return oif_section_writer_close(&writer) == OIF_OK ? at : 0;
}

static bool take_around(saving *s)
{
    uint64_t all = 0;
    const size_t before = (size_t)write_around(s, count_bytes, &all);
    s->begin = new_bytes((size_t)all);
    if (!s->begin.at)
        return false;
    oif_memory_stream to = {s->begin.at, s->begin.at + all};
    if (write_around(s, oif_memory_stream_write, &to) != before)
        return false;
    s->begin.count = before;
    s->end = (bytes){s->begin.at + before, (size_t)all - before}; /* in the same block */
    return true;
}

static bool take_order(saving *s)
{
    const oif_keys *keys = &s->pipeline->keys;
    s->entry_count = keys->used;
    s->keys = oif_memory_new(((size_t)keys->count + 1) * sizeof *s->keys);
    s->places = oif_memory_new(((size_t)keys->used + 1) * sizeof *s->places);
    if (!s->keys || !s->places)
        return false;
    for (uint32_t i = 0; i < s->entry_count; i++)
        s->places[i] = OIF_NO_KEY;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer) {
        s->places[i] = s->key_count;
        s->keys[s->key_count++] = (saved_key){.entry = i};
    }
    return true;
}

/* Room for the largest key and model, as sections. */
static size_t most_bytes(const saving *s)
{
    return OIF_KEY_MAX_BYTES + 8 * OIF_SECTION_BYTES + (size_t)s->pipeline->models.section_bytes;
}

static oif_status start(saving *s, oif_error *error)
{
    oif_status status = oif_pipeline_packer_new(s->pipeline, &s->packer, error);
    if (status != OIF_OK)
        return status;
    s->slice = new_bytes(SLICE_BYTES + most_bytes(s));
    s->scratch = new_bytes(most_bytes(s));
    if (s->slice.at && s->scratch.at && take_around(s) && take_order(s))
        return OIF_OK;
    return oif_fail(error, OIF_EMEMORY, "no memory to save %u keys in turns",
                    (unsigned)s->pipeline->keys.count);
}

static void finish(saving *s)
{
    for (uint32_t i = 0; s->keys && i < s->key_count; i++)
        oif_memory_free(s->keys[i].kept.at);
    oif_memory_free(s->keys);
    oif_memory_free(s->places);
    oif_memory_free(s->begin.at);
    oif_memory_free(s->slice.at);
    oif_memory_free(s->scratch.at);
    oif_model_packer_free(s->packer);
}

/* ---- Keys ---- */

/* Writes a key as it is now. Returns its bytes; 0 if it fails. */
static size_t write_key(saving *s, uint32_t entry, char *to, size_t room)
{
    oif_memory_stream stream = {to, to + room};
    oif_section_writer writer;
    oif_section_writer_open_update(&writer, oif_memory_stream_write, &stream, NULL);
    oif_keyed_model_write(&writer, s->pipeline, s->packer, entry);
    return oif_section_writer_pause(&writer) == OIF_OK ? (size_t)(stream.next - to) : 0;
}

/* Between two slices: the model of an entry is about to change. */
static void keep(void *context, uint32_t entry)
{
    saving *s = context;
    const uint32_t place = entry < s->entry_count ? s->places[entry] : OIF_NO_KEY;
    if (place == OIF_NO_KEY || s->status != OIF_OK)
        return;
    s->places[entry] = OIF_NO_KEY;
    const size_t count = write_key(s, entry, s->scratch.at, s->scratch.count);
    bytes *kept = &s->keys[place].kept;
    *kept = new_bytes(count);
    if (count == 0 || !kept->at) {
        s->status = OIF_EMEMORY;
        return;
    }
    memcpy(kept->at, s->scratch.at, count);
    s->kept_bytes += count;
}

/* Appends the next key to the slice. Returns its bytes; 0 if it fails. */
static size_t add_key(saving *s, size_t at)
{
    saved_key *key = &s->keys[s->next++];
    if (!key->kept.at) {
        s->places[key->entry] = OIF_NO_KEY;
        return write_key(s, key->entry, s->slice.at + at, s->slice.count - at);
    }
    const size_t count = key->kept.count;
    memcpy(s->slice.at + at, key->kept.at, count);
    oif_memory_free(key->kept.at);
    key->kept.at = NULL;
    s->kept_bytes -= count;
    return count;
}

/* Fills the slice; returns its bytes. */
static size_t fill_slice(saving *s)
{
    const uint32_t left = s->key_count - s->next,
                   end = s->next + (left < SLICE_KEYS ? left : SLICE_KEYS);
    size_t filled = 0;
    while (s->next < end && filled < SLICE_BYTES && s->status == OIF_OK) {
        const size_t more = add_key(s, filled);
        if (more == 0)
            s->status = OIF_EMEMORY;
        filled += more;
    }
    return filled;
}

/* ---- The lock ---- */

static oif_status give(saving *s, oif_error *error)
{
    s->is_given = true;
    return s->turns->give(s->turns->context)
               ? OIF_OK
               : oif_fail(error, OIF_END, "the caller has ended the save");
}

static void take(saving *s)
{
    if (s->is_given)
        s->turns->take(s->turns->context);
    s->is_given = false;
}

/* ---- The file ---- */

static oif_status write_all(const bytes *all, oif_write_function write, void *context)
{
    return all->count == 0 || write(context, all->at, all->count) == (ptrdiff_t)all->count
               ? OIF_OK
               : OIF_EWRITE;
}

static oif_status fail_to_keep(oif_error *error)
{
    return oif_fail(error, OIF_EMEMORY, "no memory for a model that changed during the save");
}

/* The lock is released while a slice is written, and when all of them are. */
static oif_status save_in_turns(const void *object, oif_write_function write, void *context,
                                oif_error *error)
{
    saving *s = *(saving *const *)object;
    oif_status status = write_all(&s->begin, write, context);
    while (status == OIF_OK && s->next < s->key_count) {
        const bytes slice = {s->slice.at, fill_slice(s)};
        if (s->status != OIF_OK)
            return fail_to_keep(error);
        if (s->kept_bytes < KEPT_BYTES_MAX)
            status = give(s, error);
        if (status == OIF_OK)
            status = write_all(&slice, write, context);
        take(s);
    }
    if (status == OIF_OK)
        status = give(s, error);
    return status == OIF_OK ? write_all(&s->end, write, context) : status;
}

oif_status oif_state_file_save_pipeline_in_turns(oif_state_file *file, oif_pipeline *pipeline,
                                                 const oif_turns *turns, oif_error *error)
{
    static const oif_stored_kind in_turns = {.save = save_in_turns};
    saving s = {.pipeline = pipeline, .turns = turns};
    saving *object = &s;
    if (pipeline->models.watch.before_change)
        return oif_fail(error, OIF_EBUSY, "the pipeline is being saved already");
    if (pipeline->evicted.is_kept) /* their file changes with the rows */
        return oif_state_file_save_pipeline(file, pipeline, error);
    oif_status status = start(&s, error);
    if (status == OIF_OK) {
        pipeline->models.watch = (oif_models_watch){keep, &s};
        status = oif_state_file_save_object(file, &in_turns, &object, error);
        take(&s);
        pipeline->models.watch = (oif_models_watch){NULL, NULL};
    }
    finish(&s);
    return status;
}
