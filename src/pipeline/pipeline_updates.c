/* Updates of a pipeline's log: what has changed since the save before, so a save of many keys takes
 * the time of those that had rows. After the snapshot of the pipeline (pipeline_snapshot.c), for
 * each update:
 *
 *     UPDT    its number, the rows before it, and how many keys and sections follow
 *     BUDG    with a budget of alerts: its state
 *     GONE    for each key that was removed: the key
 *     KEY SEEN PACK    for each key that has changed but not become the newest, as in the snapshot
 *     KEY SEEN PACK    for each key that was added or has become the newest, in their new order
 *     RULE PAST ROLE ATCH END    as in the snapshot
 *
 * Reading all of it gives the pipeline that was saved, with its keys in the same order.
 */
#include "pipeline/pipeline_sections.h"

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/state_file.h"

static const char update_tag[] = "UPDT", gone_tag[] = "GONE";

/* The section UPDT. The counts of the pipeline are those after the update. */
typedef struct update_head {
    uint64_t number, rows_before, gone, in_place, moved;
    oif_pipeline_counts counts;
} update_head;

static void visit_head(oif_state_visitor *visitor, update_head *head)
{
    oif_visit_u64(visitor, "number", &head->number, 1);
    oif_visit_u64(visitor, "rows_before", &head->rows_before, 1);
    oif_visit_u64(visitor, "gone", &head->gone, 1);
    oif_visit_u64(visitor, "in_place", &head->in_place, 1);
    oif_visit_u64(visitor, "moved", &head->moved, 1);
    oif_visit_u64(visitor, "keys", &head->counts.keys, 1);
    oif_visit_u64(visitor, "rows", &head->counts.rows, 1);
    oif_visit_u64(visitor, "evictions", &head->counts.evictions, 1);
}

/* ---- Saving ---- */

static bool is_in_place(const oif_key_entry *entry)
{
    return entry->key && entry->is_changed && !entry->is_moved;
}

static update_head describe_update(const oif_pipeline *p)
{
    update_head head = {.number = p->stored.log.updates + 1,
                        .rows_before = p->stored.rows,
                        .gone = p->keys.removed.count,
                        .counts = {p->keys.count, p->rows, p->evictions}};
    for (uint32_t i = 0; i < p->keys.used; i++) {
        const oif_key_entry *entry = &p->keys.entries[i];
        head.in_place += is_in_place(entry);
        head.moved += entry->key && entry->is_moved;
    }
    return head;
}

static void write_head(oif_section_writer *writer, update_head *head)
{
    oif_byte_counter counter = oif_byte_counter_new();
    visit_head(&counter.visitor, head);
    oif_section_writer_begin(writer, update_tag, counter.bytes);
    visit_head(&writer->visitor, head);
    oif_section_writer_end(writer);
}

/* The oldest entry that has moved, which all newer ones have. */
static uint32_t first_moved(const oif_keys *keys)
{
    uint32_t first = OIF_NO_KEY;
    for (uint32_t i = keys->newest; i != OIF_NO_KEY && keys->entries[i].is_moved;
         i = keys->entries[i].older)
        first = i;
    return first;
}

static void write_keys(oif_section_writer *writer, const oif_pipeline *p, oif_model_packer *packer)
{
    const oif_keys *keys = &p->keys;
    for (size_t i = 0; i < keys->removed.count; i++)
        oif_key_section_write(writer, gone_tag, keys->removed.list[i].key,
                              keys->removed.list[i].key_bytes);
    for (uint32_t i = 0; i < keys->used && writer->status == OIF_OK; i++)
        if (is_in_place(&keys->entries[i]))
            oif_keyed_model_write(writer, p, packer, i);
    for (uint32_t i = first_moved(keys); i != OIF_NO_KEY && writer->status == OIF_OK;
         i = keys->entries[i].newer)
        oif_keyed_model_write(writer, p, packer, i);
}

static oif_status save_update(const void *pipeline, oif_write_function write, void *context,
                              oif_error *error)
{
    const oif_pipeline *p = pipeline;
    oif_section_writer writer;
    oif_model_packer *packer = NULL;
    oif_status status = oif_pipeline_packer_new(p, &packer, error);
    if (status != OIF_OK)
        return status;
    update_head head = describe_update(p);
    oif_section_writer_open_update(&writer, write, context, error);
    write_head(&writer, &head);
    oif_budget_section_write(&writer, p);
    write_keys(&writer, p, packer);
    oif_pipeline_tail_write(&writer, p);
    oif_model_packer_free(packer);
    return oif_section_writer_close(&writer);
}

/* Whether an update is right, and shorter than a whole save. */
static bool can_be_updated(const oif_pipeline *p, const oif_state_file *file)
{
    if (!p->stored.has_end || !p->keys.removed.are_known ||
        p->stored.log.update_bytes > p->stored.log.base_bytes ||
        !oif_state_file_is_at(file, &p->stored))
        return false;
    const update_head head = describe_update(p);
    return head.in_place + head.moved <= head.counts.keys / 2;
}

oif_status oif_state_file_update_pipeline(oif_state_file *file, oif_pipeline *pipeline,
                                          oif_error *error)
{
    static const oif_stored_kind updates = {.save = save_update};
    if (!oif_pipeline_has_keys(pipeline) || pipeline->evicted.is_kept) {
        pipeline->stored = (oif_stored_place){0};
        return oif_state_file_save_pipeline(file, pipeline, error);
    }
    oif_status status =
        can_be_updated(pipeline, file)
            ? oif_state_file_append(file, &updates, pipeline, &pipeline->stored, error)
            : oif_state_file_save_log(file, &oif_pipeline_logs, pipeline, &pipeline->stored, error);
    if (status != OIF_OK)
        return status;
    pipeline->stored.rows = pipeline->rows;
    oif_keys_forget_changes(&pipeline->keys);
    return OIF_OK;
}

oif_log_info oif_pipeline_log(const oif_pipeline *pipeline)
{
    return pipeline->stored.log;
}

/* ---- Loading ---- */

void oif_pipeline_follow(oif_pipeline *pipeline, const oif_state_file *file,
                         const oif_stored_place *before)
{
    if (!pipeline->stored.has_end || !oif_state_file_is_at(file, before))
        return;
    oif_stored_place place = *before;
    place.log = pipeline->stored.log;
    place.has_end = true;
    place.rows = pipeline->rows;
    pipeline->stored = place;
    oif_keys_forget_changes(&pipeline->keys);
}

static update_head read_head(oif_section_reader *reader, const oif_pipeline *p)
{
    update_head head = {0};
    oif_section_reader_expect(reader, update_tag);
    visit_head(&reader->visitor, &head);
    oif_section_reader_end(reader);
    if (reader->status == OIF_OK &&
        (head.number != p->stored.log.updates + 1 || head.rows_before != p->rows ||
         head.counts.rows < p->rows || head.counts.keys == 0 || head.counts.keys > p->most_keys))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the update does not fit what is before it");
    return head;
}

/* A key may have come and gone since the save before: then it is not known. */
static void read_gone(oif_section_reader *reader, oif_pipeline *p)
{
    size_t key_bytes = 0;
    oif_section_reader_expect(reader, gone_tag);
    char *key = oif_key_section_read(reader, gone_tag, &key_bytes);
    const uint32_t entry =
        reader->status == OIF_OK ? oif_keys_find(&p->keys, key, key_bytes) : OIF_NO_KEY;
    if (entry != OIF_NO_KEY)
        oif_pipeline_drop_key(p, entry);
    oif_memory_free(key);
}

/* Makes the model of an entry blank, or adds a key that may be new. */
static oif_status make_blank(oif_pipeline *p, const char *key, size_t key_bytes, uint32_t *entry,
                             oif_error *error)
{
    if (*entry == OIF_NO_KEY)
        return oif_pipeline_add_model(p, key, key_bytes, entry, error);
    oif_models_remove(&p->models, *entry);
    return oif_models_add(&p->models, *entry, error);
}

static void read_key(oif_section_reader *reader, oif_pipeline_heading *heading, bool is_moved,
                     oif_pipeline *p)
{
    size_t key_bytes = 0;
    uint64_t seen[2] = {0, 0};
    oif_error why;
    char *key = oif_key_section_read(reader, OIF_SECTION_KEY, &key_bytes);
    oif_seen_section_read(reader, seen);
    uint32_t entry =
        reader->status == OIF_OK ? oif_keys_find(&p->keys, key, key_bytes) : OIF_NO_KEY;
    if (entry == OIF_NO_KEY && !is_moved)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the update does not fit what is before it");
    if (reader->status == OIF_OK && make_blank(p, key, key_bytes, &entry, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_EMEMORY, "%s", why.message);
    if (reader->status == OIF_OK) {
        oif_keyed_model_read(reader, heading, p, entry, seen);
        if (is_moved)
            oif_keys_touch(&p->keys, entry);
    }
    oif_memory_free(key);
}

static void read_update(oif_section_reader *reader, oif_pipeline_heading *heading, oif_pipeline *p)
{
    const uint64_t start = reader->offset;
    const update_head head = read_head(reader, p);
    const oif_alert_budget budget = oif_budget_section_read(reader, &p->options);
    if (reader->status != OIF_OK)
        return;
    p->rows = head.counts.rows;
    p->evictions = head.counts.evictions;
    p->budget = budget;
    for (uint64_t i = 0; i < head.gone && reader->status == OIF_OK; i++)
        read_gone(reader, p);
    for (uint64_t i = 0; i < head.in_place && reader->status == OIF_OK; i++)
        read_key(reader, heading, false, p);
    for (uint64_t i = 0; i < head.moved && reader->status == OIF_OK; i++)
        read_key(reader, heading, true, p);
    if (p->keys.count != head.counts.keys)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the update does not fit what is before it");
    if (reader->status != OIF_OK)
        return;
    oif_pipeline_tail_read(reader, p);
    p->stored.log.updates++;
    p->stored.log.update_bytes += reader->offset - start;
}

/* Reads what a crash has left after the last update, or what another program is appending, up to
 * the end of the file. */
static void skip_rest(oif_section_reader *reader, oif_log_info *log)
{
    char ignored[1024];
    ptrdiff_t got = 1;
    while (got > 0 && reader->status == OIF_OK) {
        got = reader->read(reader->context, ignored, sizeof ignored);
        if (got < 0)
            oif_section_reader_fail(reader, OIF_EREAD, "reading failed");
        else
            log->ignored_bytes += (uint64_t)got;
    }
}

/* Numbers the keys as those of a whole save: in their order. */
static void renumber_keys(oif_section_reader *reader, oif_pipeline *p)
{
    oif_silence_queue_renumber(&p->silence, &p->keys);
    if (!oif_keys_renumber(&p->keys, &p->models.in_work))
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for %u keys", p->keys.count);
}

void oif_pipeline_updates_read(oif_section_reader *reader, oif_pipeline_heading *heading,
                               uint64_t bytes, oif_pipeline *p)
{
    const uint64_t end = reader->log_end == UINT64_MAX ? bytes : reader->log_end;
    p->stored.log = (oif_log_info){.is_log = true, .base_bytes = reader->offset};
    p->stored.has_end = reader->log_end != UINT64_MAX;
    if (end == UINT64_MAX || end < reader->offset || p->keys.count == 0)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the end of the updates is not known");
    else if (end > bytes)
        oif_section_reader_fail(reader, OIF_ETRUNCATED, "the snapshot is cut off here");
    reader->end = end;
    while (reader->status == OIF_OK && reader->offset < end)
        read_update(reader, heading, p);
    if (reader->offset > end)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the end of the updates is not known");
    if (reader->status == OIF_OK && p->stored.log.updates > 0)
        renumber_keys(reader, p);
    if (bytes != UINT64_MAX)
        skip_rest(reader, &p->stored.log);
}
