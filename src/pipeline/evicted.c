#include "pipeline/evicted.h"

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/detector_snapshot.h"
#include "snapshot/savable.h"

#include <stdio.h>

static const char shelf_tag[] = "SHLF";

static void lose(oif_pipeline *p, const char *why)
{
    p->lost++;
    snprintf(p->why_lost, sizeof p->why_lost, "%s", why);
}

/* The size of a place: a snapshot of one model. */
static size_t place_bytes(const oif_pipeline *p)
{
    return OIF_SNAPSHOT_HEADER_BYTES + (size_t)oif_model_sections_bytes(p->blank) +
           OIF_SECTION_BYTES;
}

static oif_piece room_of(const oif_pipeline *p)
{
    char *room = (char *)oif_shelf_room(p->shelf);
    return (oif_piece){room, room + place_bytes(p)};
}

/* ---- Putting ---- */

static oif_status fill_room(const oif_pipeline *p, oif_model *model, oif_error *error)
{
    oif_snapshot_writer writer;
    oif_piece room = room_of(p);
    oif_writer_open(&writer, oif_piece_put, &room, error);
    oif_model_write(&writer, model);
    return oif_writer_close(&writer);
}

/* Notes where the model of a key is. */
static bool note_place(oif_pipeline *p, const oif_key_entry *of, uint32_t place, uint32_t checksum)
{
    uint32_t entry = oif_keys_find(&p->evicted, of->key, of->key_bytes);
    if (entry == OIF_NO_KEY)
        entry = oif_keys_add(&p->evicted, of->key, of->key_bytes);
    if (entry == OIF_NO_KEY)
        return false;
    p->evicted.entries[entry].shelved.place = place;
    p->evicted.entries[entry].shelved.checksum = checksum;
    p->shelved++;
    return true;
}

oif_status oif_evicted_put(oif_pipeline *pipeline, uint32_t entry, oif_error *error)
{
    const oif_key_entry *going = &pipeline->keys.entries[entry];
    uint32_t place, checksum;
    oif_error why;
    if (!pipeline->keeps_evicted)
        return OIF_OK;
    if (!pipeline->shelf) {
        lose(pipeline, "there is no state file to keep models beside");
        return OIF_OK;
    }
    oif_status status = fill_room(pipeline, going->value, &why);
    if (status == OIF_OK)
        status =
            oif_shelf_put(pipeline->shelf, going->key, going->key_bytes, &place, &checksum, &why);
    if (status == OIF_OK && !note_place(pipeline, going, place, checksum)) {
        oif_shelf_release(pipeline->shelf, place);
        return oif_fail(error, OIF_EMEMORY, "no memory to note where a model is");
    }
    if (status == OIF_EMEMORY)
        return oif_fail(error, OIF_EMEMORY, "%s", why.message);
    if (status != OIF_OK)
        lose(pipeline, why.message);
    return OIF_OK;
}

/* ---- Taking back ---- */

static oif_status read_room(const oif_pipeline *p, oif_model *model, oif_error *error)
{
    oif_snapshot_reader reader;
    oif_piece room = room_of(p);
    oif_snapshot_open(&reader, oif_piece_take, &room, error);
    reader.end = place_bytes(p);
    oif_snapshot_expect(&reader, OIF_SECTION_STATE);
    if (reader.status == OIF_OK)
        oif_model_read(&reader, model);
    oif_snapshot_close(&reader);
    return reader.status;
}

static oif_status read_place(const oif_pipeline *p, const oif_key_entry *entry, oif_model *model,
                             oif_error *error)
{
    if (!p->shelf)
        return oif_fail(error, OIF_EREAD, "there is no state file that models are kept beside");
    oif_status status = oif_shelf_get(p->shelf, entry->key, entry->key_bytes, entry->shelved.place,
                                      entry->shelved.checksum, error);
    return status == OIF_OK ? read_room(p, model, error) : status;
}

void oif_evicted_take(oif_pipeline *pipeline, const char *key, size_t key_bytes, oif_model *model)
{
    oif_error why;
    uint32_t found = oif_keys_find(&pipeline->evicted, key, key_bytes);
    oif_key_entry *entry = found == OIF_NO_KEY ? NULL : &pipeline->evicted.entries[found];
    if (!entry || entry->shelved.place == OIF_NO_PLACE)
        return;
    if (read_place(pipeline, entry, model, &why) != OIF_OK) {
        oif_model_assign(model, pipeline->blank);
        lose(pipeline, why.message);
    }
    if (pipeline->shelf)
        oif_shelf_release(pipeline->shelf, entry->shelved.place);
    entry->shelved.place = OIF_NO_PLACE;
    pipeline->shelved--;
}

oif_status oif_evicted_check(const oif_pipeline *pipeline, oif_error *error)
{
    uint32_t shelved = 0;
    for (uint32_t i = 0; i < pipeline->evicted.count; i++) {
        const oif_key_entry *entry = &pipeline->evicted.entries[i];
        if (entry->shelved.place == OIF_NO_PLACE)
            continue;
        if (oif_keys_find(&pipeline->keys, entry->key, entry->key_bytes) != OIF_NO_KEY)
            return oif_fail(error, OIF_EINVARIANT,
                            "a key has a model in memory and one on the shelf");
        shelved++;
    }
    if (shelved != pipeline->shelved)
        return oif_fail(error, OIF_EINVARIANT, "the models on the shelf are counted wrongly");
    return OIF_OK;
}

/* ---- Using a shelf ---- */

/* The places that models have are those of the state that the pipeline was loaded from; when it
 * has gone on since then, what the state has besides is not known any more. */
static oif_status claim_places(const oif_pipeline *p, oif_shelf *shelf, bool is_loaded,
                               oif_error *error)
{
    oif_status status = oif_shelf_reopen(shelf, error);
    for (uint32_t i = 0; i < p->evicted.count && status == OIF_OK; i++)
        if (p->evicted.entries[i].shelved.place != OIF_NO_PLACE)
            status = oif_shelf_claim(shelf, p->evicted.entries[i].shelved.place, error);
    return status == OIF_OK && !is_loaded ? oif_shelf_keep_all(shelf, error) : status;
}

oif_status oif_evicted_use_shelf(oif_state_file *file, oif_pipeline *pipeline, bool is_loaded,
                                 oif_error *error)
{
    oif_shelf *shelf = NULL;
    oif_status status = oif_shelf_new(file, place_bytes(pipeline), &shelf, error);
    if (status == OIF_OK && pipeline->shelved > 0)
        status = claim_places(pipeline, shelf, is_loaded, error);
    if (status != OIF_OK) {
        oif_shelf_free(shelf);
        return status;
    }
    if (is_loaded)
        oif_shelf_saved(shelf, true);
    oif_shelf_use(shelf, &pipeline->shelf);
    return OIF_OK;
}

oif_status oif_state_file_keep_evicted(oif_state_file *file, oif_pipeline *pipeline,
                                       oif_error *error)
{
    if (!pipeline->keeps_evicted)
        return oif_fail(error, OIF_EPARAM, "the pipeline has the option evicted=forget");
    if (oif_shelf_is_of(pipeline->shelf, file))
        return OIF_OK;
    return oif_evicted_use_shelf(file, pipeline, false, error);
}

/* ---- Snapshots ---- */

/* Tells where the model of a key is; of a key that is read, its bytes are not known yet. */
static void tell_place(oif_state_visitor *visitor, oif_key_entry *entry, uint32_t *key_bytes)
{
    oif_visit_u32(visitor, "place", &entry->shelved.place, 1);
    oif_visit_u32(visitor, "checksum", &entry->shelved.checksum, 1);
    oif_visit_u32(visitor, "key_bytes", key_bytes, 1);
}

static void tell_places(const oif_pipeline *p, oif_state_visitor *visitor)
{
    for (uint32_t i = 0; i < p->evicted.count; i++) {
        oif_key_entry *entry = &p->evicted.entries[i];
        uint32_t key_bytes = (uint32_t)entry->key_bytes;
        if (entry->shelved.place == OIF_NO_PLACE)
            continue;
        tell_place(visitor, entry, &key_bytes);
        oif_visit_u8(visitor, "key", (uint8_t *)entry->key, key_bytes);
    }
}

void oif_evicted_write(oif_snapshot_writer *writer, const oif_pipeline *pipeline, bool is_there)
{
    uint64_t counts[] = {pipeline->lost, is_there ? pipeline->shelved : 0};
    oif_byte_counter counter = oif_byte_counter_new();
    if (is_there)
        tell_places(pipeline, &counter.visitor);
    oif_writer_begin(writer, shelf_tag, sizeof counts + counter.bytes);
    oif_visit_u64(&writer->visitor, "counts", counts, 2);
    if (is_there)
        tell_places(pipeline, &writer->visitor);
    oif_writer_end(writer);
}

static void read_place_of_key(oif_snapshot_reader *reader, oif_pipeline *p, char *key)
{
    oif_key_entry read = {0};
    uint32_t key_bytes = 0;
    tell_place(&reader->visitor, &read, &key_bytes);
    if (key_bytes > OIF_MAX_KEY_BYTES || read.shelved.place == OIF_NO_PLACE)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the section '%s' makes no sense", shelf_tag);
    if (reader->status == OIF_OK)
        oif_visit_u8(&reader->visitor, "key", (uint8_t *)key, key_bytes);
    read.key = key;
    read.key_bytes = key_bytes;
    if (reader->status == OIF_OK && (oif_keys_find(&p->keys, key, key_bytes) != OIF_NO_KEY ||
                                     oif_keys_find(&p->evicted, key, key_bytes) != OIF_NO_KEY))
        oif_snapshot_fail(reader, OIF_ECORRUPT, "a key stands here twice");
    if (reader->status == OIF_OK &&
        !note_place(p, &read, read.shelved.place, read.shelved.checksum))
        oif_snapshot_fail(reader, OIF_EMEMORY, "no memory for one more key");
}

void oif_evicted_read(oif_snapshot_reader *reader, oif_pipeline *pipeline)
{
    uint64_t counts[2] = {0, 0};
    char *key = oif_memory_new(OIF_MAX_KEY_BYTES);
    if (!key)
        oif_snapshot_fail(reader, OIF_EMEMORY, "no memory for a key");
    oif_snapshot_expect(reader, shelf_tag);
    oif_visit_u64(&reader->visitor, "counts", counts, 2);
    for (uint64_t i = 0; i < counts[1] && reader->status == OIF_OK; i++)
        read_place_of_key(reader, pipeline, key);
    oif_snapshot_end(reader);
    pipeline->lost = counts[0];
    oif_memory_free(key);
}
