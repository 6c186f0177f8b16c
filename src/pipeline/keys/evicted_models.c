#include "pipeline/keys/evicted_models.h"

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/detector_sections.h"
#include "snapshot/stored_in_memory.h"

#include <stdio.h>

static const char evicted_tag[] = "SHLF";

void oif_evicted_models_init(oif_evicted_models *evicted, bool is_kept)
{
    *evicted = (oif_evicted_models){.is_kept = is_kept};
    oif_keys_init(&evicted->keys);
}

void oif_evicted_models_free(oif_evicted_models *evicted)
{
    oif_evicted_file_detach(evicted->file);
    oif_model_packer_free(evicted->packer);
    oif_keys_free(&evicted->keys);
}

static void count_lost(oif_evicted_models *evicted, const char *why)
{
    evicted->lost++;
    snprintf(evicted->why_lost, sizeof evicted->why_lost, "%s", why);
}

/* ---- Slots ---- */

static void set_slot(oif_key_entry *entry, oif_slot slot)
{
    entry->number = (uint64_t)slot.checksum << 32 | slot.number;
    entry->seen = slot.bytes;
}

static oif_slot slot_of(const oif_key_entry *entry)
{
    return (oif_slot){(uint32_t)entry->number, (uint32_t)(entry->number >> 32), entry->seen};
}

bool oif_evicted_models_have(const oif_key_entry *entry)
{
    return slot_of(entry).number != OIF_NO_SLOT;
}

/* Bytes of a slot: a snapshot of one model that is not packed. */
static size_t slot_bytes(const oif_evicted_models *evicted)
{
    return OIF_SNAPSHOT_HEADER_BYTES + (size_t)evicted->model_bytes + OIF_SECTION_BYTES;
}

static oif_memory_stream buffer_stream(const oif_evicted_models *evicted, size_t bytes)
{
    char *buffer = (char *)oif_evicted_file_buffer(evicted->file);
    return (oif_memory_stream){buffer, buffer + bytes};
}

/* Stores the slot of a key. */
static bool note_slot(oif_evicted_models *evicted, const char *key, size_t key_bytes, oif_slot slot)
{
    uint32_t entry = oif_keys_find(&evicted->keys, key, key_bytes);
    if (entry == OIF_NO_KEY)
        entry = oif_keys_add(&evicted->keys, key, key_bytes);
    if (entry == OIF_NO_KEY)
        return false;
    set_slot(&evicted->keys.entries[entry], slot);
    evicted->count++;
    return true;
}

/* ---- Putting ---- */

/* Writes a snapshot of the model into the buffer. `*bytes`: how long it is. A packed one with its
 * section about the blank model may be longer than the slot if packing gains nothing. */
static oif_status write_buffer(const oif_evicted_models *evicted, bool is_packed, oif_model *model,
                               size_t *bytes, oif_error *error)
{
    oif_section_writer writer;
    oif_memory_stream buffer = buffer_stream(evicted, slot_bytes(evicted));
    oif_section_writer_open(&writer, oif_memory_stream_write, &buffer, error);
    if (is_packed) {
        oif_blank_section_write(&writer, evicted->packer);
        oif_packed_section_write(&writer, evicted->packer, model);
    } else {
        oif_model_sections_write(&writer, model);
    }
    *bytes = (size_t)writer.offset + OIF_SECTION_BYTES;
    return oif_section_writer_close(&writer);
}

static oif_status fill_buffer(const oif_evicted_models *evicted, oif_model *model, size_t *bytes,
                              oif_error *error)
{
    return evicted->packer && write_buffer(evicted, true, model, bytes, NULL) == OIF_OK
               ? OIF_OK
               : write_buffer(evicted, false, model, bytes, error);
}

oif_status oif_evicted_models_put(oif_evicted_models *evicted, const oif_key_entry *entry,
                                  oif_model *model, oif_error *error)
{
    oif_slot slot = {0};
    oif_error why;
    size_t bytes = 0;
    if (!evicted->is_kept)
        return OIF_OK;
    if (!evicted->file) {
        count_lost(evicted, "evicted=keep needs a state file, and there is none");
        return OIF_OK;
    }
    oif_status status = fill_buffer(evicted, model, &bytes, &why);
    if (status == OIF_OK)
        status =
            oif_evicted_file_put(evicted->file, bytes, entry->key, entry->key_bytes, &slot, &why);
    if (status == OIF_OK && !note_slot(evicted, entry->key, entry->key_bytes, slot)) {
        oif_evicted_file_free_slot(evicted->file, slot.number);
        return oif_fail(error, OIF_EMEMORY, "no memory to record where a model is");
    }
    if (status == OIF_EMEMORY)
        return oif_fail(error, OIF_EMEMORY, "%s", why.message);
    if (status != OIF_OK)
        count_lost(evicted, why.message);
    return OIF_OK;
}

/* ---- Reading back ---- */

/* Opens the first section of a model. Returns whether that is packed. */
static bool read_blank(oif_section_reader *reader, const oif_model_packer *packer)
{
    if (!oif_section_reader_expect_either(reader, OIF_SECTION_BLANK, OIF_SECTION_STATE))
        return false;
    const oif_blank_fields blank = oif_blank_section_read(reader);
    if (!packer || blank.bytes != packer->blank.bytes || blank.checksum != packer->blank.checksum)
        oif_section_reader_fail(reader, OIF_EVERSION,
                                "a model without rows is not what it was when this was written");
    return oif_section_reader_expect_either(reader, OIF_SECTION_PACKED, OIF_SECTION_STATE);
}

/* Reads the first bytes of the buffer. */
static oif_status read_buffer(const oif_evicted_models *evicted, size_t bytes, oif_model *model,
                              oif_error *error)
{
    oif_section_reader reader;
    oif_memory_stream buffer = buffer_stream(evicted, bytes);
    oif_section_reader_open(&reader, oif_memory_stream_read, &buffer, error);
    reader.end = bytes;
    const bool is_packed = read_blank(&reader, evicted->packer);
    if (reader.status == OIF_OK && is_packed)
        oif_packed_section_read(&reader, evicted->packer, model);
    else if (reader.status == OIF_OK)
        oif_model_sections_read(&reader, model);
    oif_section_reader_close(&reader);
    return reader.status;
}

oif_status oif_evicted_models_copy(const oif_evicted_models *evicted, const oif_key_entry *entry,
                                   oif_model *model, oif_error *error)
{
    if (!evicted->file)
        return oif_fail(error, OIF_EREAD,
                        "the evicted models were beside a state file, and none is open");
    oif_status status =
        oif_evicted_file_get(evicted->file, entry->key, entry->key_bytes, slot_of(entry), error);
    return status == OIF_OK ? read_buffer(evicted, (size_t)slot_of(entry).bytes, model, error)
                            : status;
}

/* The entry of a key that has a slot, or NULL. */
static oif_key_entry *find_entry(const oif_evicted_models *evicted, const char *key,
                                 size_t key_bytes)
{
    uint32_t found =
        evicted->count > 0 ? oif_keys_find(&evicted->keys, key, key_bytes) : OIF_NO_KEY;
    oif_key_entry *entry = found == OIF_NO_KEY ? NULL : &evicted->keys.entries[found];
    return entry && oif_evicted_models_have(entry) ? entry : NULL;
}

static void free_slot(oif_evicted_models *evicted, oif_key_entry *entry)
{
    if (evicted->file)
        oif_evicted_file_free_slot(evicted->file, slot_of(entry).number);
    entry->number = OIF_NO_SLOT;
    evicted->count--;
}

void oif_evicted_models_take(oif_evicted_models *evicted, const char *key, size_t key_bytes,
                             oif_model *model)
{
    oif_error why;
    oif_key_entry *entry = find_entry(evicted, key, key_bytes);
    if (!entry)
        return;
    if (oif_evicted_models_copy(evicted, entry, model, &why) != OIF_OK) {
        oif_model_reset(model, &model->options);
        count_lost(evicted, why.message);
    }
    free_slot(evicted, entry);
}

const oif_key_entry *oif_evicted_models_find(const oif_evicted_models *evicted, const char *key,
                                             size_t key_bytes)
{
    return find_entry(evicted, key, key_bytes);
}

bool oif_evicted_models_drop(oif_evicted_models *evicted, const char *key, size_t key_bytes)
{
    oif_key_entry *entry = find_entry(evicted, key, key_bytes);
    if (entry)
        free_slot(evicted, entry);
    return entry != NULL;
}

oif_status oif_evicted_models_check(const oif_evicted_models *evicted, const oif_keys *in_memory,
                                    oif_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < evicted->keys.count; i++) {
        const oif_key_entry *entry = &evicted->keys.entries[i];
        if (!oif_evicted_models_have(entry))
            continue;
        if (oif_keys_find(in_memory, entry->key, entry->key_bytes) != OIF_NO_KEY)
            return oif_fail(error, OIF_EINVARIANT,
                            "a key has a model in memory and one that was evicted");
        count++;
    }
    if (count != evicted->count)
        return oif_fail(error, OIF_EINVARIANT, "the evicted models are counted wrongly");
    return OIF_OK;
}

/* ---- State files ---- */

/* Claims the slots of the state that the pipeline was loaded from. If the pipeline has processed
 * rows since, other slots may belong to that state too. */
static oif_status claim_slots(const oif_evicted_models *evicted, oif_evicted_file *file,
                              bool is_loaded, oif_error *error)
{
    oif_status status = oif_evicted_file_open(file, error);
    for (uint32_t i = 0; i < evicted->keys.count && status == OIF_OK; i++)
        if (oif_evicted_models_have(&evicted->keys.entries[i]))
            status = oif_evicted_file_claim_slot(file, slot_of(&evicted->keys.entries[i]), error);
    return status == OIF_OK && !is_loaded ? oif_evicted_file_retain_all(file, error) : status;
}

/* Creates what packs the models; none if they are too large. */
static oif_status make_packer(oif_model *blank, oif_model_packer **packer, oif_error *error)
{
    return oif_model_field_bytes(blank) > OIF_PACKED_MOST_FIELD_BYTES
               ? OIF_OK
               : oif_model_packer_new(blank, packer, error);
}

oif_status oif_evicted_models_attach(oif_evicted_models *evicted, oif_state_file *file,
                                     oif_model *blank, bool is_loaded, oif_error *error)
{
    oif_evicted_file *made = NULL;
    oif_model_packer *packer = NULL;
    oif_status status = make_packer(blank, &packer, error);
    if (status == OIF_OK)
        status = oif_evicted_file_new(&file->location, slot_bytes(evicted), &made, error);
    if (status == OIF_OK && evicted->count > 0)
        status = claim_slots(evicted, made, is_loaded, error);
    if (status != OIF_OK) {
        oif_evicted_file_free(made);
        oif_model_packer_free(packer);
        return status;
    }
    oif_model_packer_free(evicted->packer);
    evicted->packer = packer;
    if (is_loaded)
        oif_evicted_file_after_commit(made, true);
    oif_evicted_file_attach(made, &file->evicted, &evicted->file);
    return OIF_OK;
}

bool oif_evicted_models_are_beside(const oif_evicted_models *evicted, const oif_state_file *file)
{
    return evicted->file && evicted->file == file->evicted;
}

/* ---- Snapshots ---- */

/* Visits the slot and the length of a key. */
static void visit_slot(oif_state_visitor *visitor, oif_slot *slot, uint32_t *key_bytes)
{
    oif_visit_u32(visitor, "slot", &slot->number, 1);
    oif_visit_u64(visitor, "bytes", &slot->bytes, 1);
    oif_visit_u32(visitor, "checksum", &slot->checksum, 1);
    oif_visit_u32(visitor, "key_bytes", key_bytes, 1);
}

/* Visits all keys that have a slot. The visitor counts or writes and changes nothing. */
static void visit_keys(const oif_evicted_models *evicted, oif_state_visitor *visitor)
{
    for (uint32_t i = 0; i < evicted->keys.count; i++) {
        const oif_key_entry *entry = &evicted->keys.entries[i];
        oif_slot slot = slot_of(entry);
        uint32_t key_bytes = (uint32_t)entry->key_bytes;
        if (!oif_evicted_models_have(entry))
            continue;
        visit_slot(visitor, &slot, &key_bytes);
        oif_visit_u8(visitor, "key", (uint8_t *)entry->key, key_bytes);
    }
}

void oif_evicted_models_write(oif_section_writer *writer, const oif_evicted_models *evicted,
                              bool is_beside)
{
    uint64_t counts[] = {evicted->lost, is_beside ? evicted->count : 0};
    oif_byte_counter counter = oif_byte_counter_new();
    if (is_beside)
        visit_keys(evicted, &counter.visitor);
    oif_section_writer_begin(writer, evicted_tag, sizeof counts + counter.bytes);
    oif_visit_u64(&writer->visitor, "counts", counts, 2);
    if (is_beside)
        visit_keys(evicted, &writer->visitor);
    oif_section_writer_end(writer);
}

/* Reads one key and its slot; `key` has OIF_KEY_MAX_BYTES. */
static void read_key(oif_section_reader *reader, oif_evicted_models *evicted,
                     const oif_keys *in_memory, char *key)
{
    oif_slot slot = {0};
    uint32_t key_bytes = 0;
    visit_slot(&reader->visitor, &slot, &key_bytes);
    if (key_bytes > OIF_KEY_MAX_BYTES || slot.number == OIF_NO_SLOT)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid", evicted_tag);
    if (reader->status == OIF_OK)
        oif_visit_u8(&reader->visitor, "key", (uint8_t *)key, key_bytes);
    if (reader->status == OIF_OK && (oif_keys_find(in_memory, key, key_bytes) != OIF_NO_KEY ||
                                     oif_keys_find(&evicted->keys, key, key_bytes) != OIF_NO_KEY))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a key occurs twice");
    if (reader->status == OIF_OK && !note_slot(evicted, key, key_bytes, slot))
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for one more key");
}

void oif_evicted_models_read(oif_section_reader *reader, oif_evicted_models *evicted,
                             const oif_keys *in_memory)
{
    uint64_t counts[2] = {0, 0};
    char *key = oif_memory_new(OIF_KEY_MAX_BYTES);
    if (!key)
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for a key");
    oif_section_reader_expect(reader, evicted_tag);
    oif_visit_u64(&reader->visitor, "counts", counts, 2);
    for (uint64_t i = 0; i < counts[1] && reader->status == OIF_OK; i++)
        read_key(reader, evicted, in_memory, key);
    oif_section_reader_end(reader);
    evicted->lost = counts[0];
    oif_memory_free(key);
}
