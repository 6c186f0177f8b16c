#include "pipeline/keys/models.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "pipeline/model/model_sections.h"

#include <stdint.h>

/* New models are whole up to this total, so small fleets never wait for unpacking. */
static const size_t usual_whole_at_first = (size_t)64 << 20;

/* Overhead of an allocation: its header in the C library, and alignment. */
enum { ALLOCATION_BYTES = 32 };

void oif_models_init(oif_models *models, oif_keys *keys, const oif_params *params, oif_model *blank)
{
    *models = (oif_models){.keys = keys,
                           .params = params,
                           .plan = blank->plan,
                           .options = blank->options,
                           .section_bytes = oif_model_sections_bytes(blank),
                           .blank = blank,
                           .whole_at_first = usual_whole_at_first,
                           .whole_at_most = SIZE_MAX,
                           .in_work = OIF_NO_KEY};
}

void oif_models_free(oif_models *models)
{
    for (uint32_t i = models->keys->oldest; i != OIF_NO_KEY; i = models->keys->entries[i].newer) {
        oif_model_free(models->keys->entries[i].value);
        oif_memory_free(models->keys->entries[i].packed);
    }
    oif_unpacked_model_free(&models->work);
    oif_unpacked_model_free(&models->view);
    oif_model_free(models->blank);
}

/* Copying another model would not be faster: all of it must be written either way. */
oif_status oif_models_new_model(const oif_models *models, oif_model **model, oif_error *error)
{
    return oif_model_new(models->params, models->plan, &models->options, model, error);
}

/* ---- Memory ---- */

static size_t bytes_of_packed(const oif_packed_model *packed)
{
    return packed ? packed->bytes + ALLOCATION_BYTES : 0;
}

static size_t bytes_of_whole(const oif_model *model)
{
    return model ? oif_model_memory_bytes(model) + 2 * ALLOCATION_BYTES : 0;
}

static size_t bytes_of_entry(const oif_key_entry *entry)
{
    return bytes_of_whole(entry->value) + bytes_of_packed(entry->packed);
}

/* Replaces the memory that holds the model of an entry. */
static void hold(oif_models *models, oif_key_entry *entry, oif_model *whole,
                 oif_packed_model *packed)
{
    size_t before = bytes_of_entry(entry);
    models->whole_count += (whole != NULL) - (uint32_t)(entry->value != NULL);
    if (entry->value != whole)
        oif_model_free(entry->value);
    if (entry->packed != packed)
        oif_memory_free(entry->packed);
    entry->value = whole;
    entry->packed = packed;
    size_t after = bytes_of_entry(entry);
    models->bytes = models->bytes - before + after;
    models->have_grown |= after > before;
    models->most_bytes = after > models->most_bytes ? after : models->most_bytes;
}

size_t oif_models_entry_bytes(const oif_models *models, uint32_t entry)
{
    return bytes_of_entry(&models->keys->entries[entry]);
}

size_t oif_models_bytes(const oif_models *models)
{
    return models->bytes + bytes_of_whole(models->blank) + oif_unpacked_model_bytes(&models->work) +
           oif_unpacked_model_bytes(&models->view);
}

/* ---- Packing ---- */

/* The unpacked model is of no entry any more. */
static void abandon_work(oif_models *models)
{
    models->in_work = OIF_NO_KEY;
    oif_unpacked_model_abandon(&models->work);
}

/* Spare space, so a model is reallocated only every few dozen rows. There are few sizes: the memory
 * that a model leaves when it grows fits another one. */
static size_t roomy(size_t lines)
{
    size_t room = 1;
    while (room < lines)
        room += room / 16 + 1;
    return room;
}

/* Whether a model of that packed size should be whole instead. Packed, rolling-iforest takes at
 * most half of its bytes, and a third after 500 rows. */
static bool has_learned_much(const oif_models *models, size_t packed_bytes)
{
    size_t whole_bytes = bytes_of_whole(models->blank);
    return packed_bytes > whole_bytes / 3 && models->bytes < models->whole_at_most &&
           whole_bytes <= models->whole_at_most - models->bytes;
}

/* How many rows the unpacked model has processed since it was unpacked. */
static uint64_t rows_in_work(const oif_models *models, const oif_packed_model *packed)
{
    if (models->is_changed)
        return OIF_UNKNOWN_ROWS;
    return packed->count == 0 ? OIF_ALL_ROWS : models->work.model->rows - models->rows_before;
}

oif_status oif_models_put_back(oif_models *models, oif_error *error)
{
    if (models->in_work == OIF_NO_KEY)
        return OIF_OK;
    oif_key_entry *entry = &models->keys->entries[models->in_work];
    oif_packed_model *packed = entry->packed;
    oif_unpacked_model_find(&models->work, models->blank, rows_in_work(models, packed));
    const size_t lines = packed->count + models->work.line_count;
    if (has_learned_much(models, oif_packed_model_bytes(lines)) &&
        oif_models_make_whole(models, models->in_work, NULL) == OIF_OK)
        return OIF_OK;
    if (lines <= packed->capacity) {
        oif_packed_model_store(packed, &models->work);
    } else {
        packed = oif_packed_model_new(roomy(lines));
        if (!packed)
            return oif_fail(error, OIF_EMEMORY, "no memory for a model of %zu bytes",
                            oif_packed_model_bytes(lines));
        oif_packed_model_fill(packed, &models->work);
        hold(models, entry, NULL, packed);
    }
    models->in_work = OIF_NO_KEY;
    return OIF_OK;
}

static oif_status make_blank(oif_models *models, oif_error *error)
{
    return models->blank ? OIF_OK : oif_models_new_model(models, &models->blank, error);
}

/* Creates the models to compare with and to unpack into, all or none of the latter. */
static oif_status prepare_to_pack(oif_models *models, oif_error *error)
{
    oif_status status = make_blank(models, error);
    if (status != OIF_OK || models->work.model)
        return status;
    status = oif_unpacked_model_new(models->blank, &models->work, error);
    if (status != OIF_OK)
        return status;
    status = oif_unpacked_model_new(models->blank, &models->view, error);
    if (status != OIF_OK)
        oif_unpacked_model_free(&models->work);
    return status;
}

oif_status oif_models_unpack(oif_models *models, uint32_t entry, bool for_row, oif_model **model,
                             oif_error *error)
{
    if (entry != models->in_work) {
        oif_status status = oif_models_put_back(models, error);
        if (status != OIF_OK)
            return status;
        oif_packed_model_load(models->keys->entries[entry].packed, models->blank, &models->work);
        models->in_work = entry;
        models->rows_before = models->work.model->rows;
        models->is_changed = false;
    }
    models->is_changed |= !for_row;
    *model = models->work.model;
    return OIF_OK;
}

oif_model *oif_models_view(const oif_models *models, uint32_t entry)
{
    const oif_key_entry *held = &models->keys->entries[entry];
    oif_unpacked_model view = models->view;
    if (held->value)
        return held->value;
    if (entry == models->in_work)
        return models->work.model;
    oif_packed_model_load(held->packed, models->blank, &view);
    return view.model;
}

/* ---- Entries ---- */

oif_status oif_models_keep_blank(oif_models *models, oif_error *error)
{
    oif_status status = make_blank(models, error);
    models->keeps_blank |= status == OIF_OK;
    return status;
}

/* Uses the blank model, unless packed ones may be compared with it; else a new one. */
static oif_status add_whole(oif_models *models, oif_key_entry *entry, oif_error *error)
{
    oif_model *model = models->work.model || models->keeps_blank ? NULL : models->blank;
    oif_status status = model ? OIF_OK : oif_models_new_model(models, &model, error);
    if (status != OIF_OK)
        return status;
    if (model == models->blank)
        models->blank = NULL;
    hold(models, entry, model, NULL);
    return OIF_OK;
}

static oif_status add_packed(oif_models *models, oif_key_entry *entry, oif_error *error)
{
    oif_status status = make_blank(models, error);
    if (status != OIF_OK)
        return status;
    oif_packed_model *packed = oif_packed_model_new(0);
    if (!packed)
        return oif_fail(error, OIF_EMEMORY, "no memory for one more model");
    status = prepare_to_pack(models, error);
    if (status == OIF_OK)
        hold(models, entry, NULL, packed);
    else
        oif_memory_free(packed);
    return status;
}

oif_status oif_models_add(oif_models *models, uint32_t entry, oif_error *error)
{
    bool is_whole = models->are_whole || models->bytes < models->whole_at_first;
    return (is_whole ? add_whole : add_packed)(models, &models->keys->entries[entry], error);
}

/* Turns the model of the last key into the blank one, which saving needs and may not allocate. */
static void become_blank(oif_models *models, oif_key_entry *entry)
{
    models->bytes -= bytes_of_entry(entry);
    models->whole_count--;
    models->blank = entry->value;
    entry->value = NULL;
    oif_model_reset(models->blank, &models->options);
}

void oif_models_remove(oif_models *models, uint32_t number)
{
    oif_key_entry *entry = &models->keys->entries[number];
    oif_models_before_change(models, number);
    if (models->in_work == number)
        abandon_work(models);
    if (!models->blank && models->keys->count == 1)
        become_blank(models, entry);
    else
        hold(models, entry, NULL, NULL);
}

oif_status oif_models_make_whole(oif_models *models, uint32_t entry, oif_error *error)
{
    oif_model *model;
    if (models->keys->entries[entry].value)
        return OIF_OK;
    oif_status status = oif_model_clone(oif_models_view(models, entry), &model, error);
    if (status != OIF_OK)
        return status;
    if (models->in_work == entry)
        abandon_work(models);
    hold(models, &models->keys->entries[entry], model, NULL);
    return OIF_OK;
}

/* ---- Low memory ---- */

static bool can_be_packed(const oif_model *model, const oif_model *blank)
{
    for (size_t i = 0; i < model->detector_count; i++)
        if (!oif_detector_is_one_block(model->detectors[i]) ||
            oif_detector_block_bytes(model->detectors[i]) !=
                oif_detector_block_bytes(blank->detectors[i]))
            return false;
    return true;
}

static bool pack(oif_models *models, oif_key_entry *entry)
{
    if (prepare_to_pack(models, NULL) != OIF_OK || !can_be_packed(entry->value, models->blank))
        return false;
    oif_packed_model *packed = oif_packed_model_of(entry->value, models->blank, &models->view);
    if (!packed)
        return false;
    hold(models, entry, NULL, packed);
    return true;
}

bool oif_models_pack_one(oif_models *models, uint32_t entry)
{
    const oif_keys *keys = models->keys;
    for (uint32_t i = 0; i < keys->used && models->whole_count > 0 && !models->are_whole; i++) {
        uint32_t next = models->next_to_pack < keys->used ? models->next_to_pack : 0;
        models->next_to_pack = next + 1;
        if (next != entry && keys->entries[next].value && pack(models, &keys->entries[next]))
            return true;
    }
    return false;
}

/* ---- Undoing ---- */

oif_models_sums oif_models_sums_now(const oif_models *models)
{
    return (oif_models_sums){models->bytes, models->most_bytes, models->whole_count};
}

bool oif_models_copy_packed(oif_models *models, uint32_t entry, oif_packed_model **before)
{
    oif_key_entry *held = &models->keys->entries[entry];
    oif_packed_model *copy = oif_packed_model_clone(held->packed);
    if (!copy)
        return false;
    *before = held->packed;
    held->packed = copy;
    return true;
}

void oif_models_restore_packed(oif_models *models, uint32_t entry, oif_packed_model *before)
{
    oif_key_entry *held = &models->keys->entries[entry];
    if (models->in_work == entry)
        abandon_work(models);
    oif_model_free(held->value);
    oif_memory_free(held->packed);
    held->value = NULL;
    held->packed = before;
}

void oif_models_restore_sums(oif_models *models, const oif_models_sums *before)
{
    models->bytes = before->bytes;
    models->most_bytes = before->most_bytes;
    models->whole_count = before->whole_count;
    models->have_grown = false;
}

/* ---- Options ---- */

/* Lines in which a packed model is blank stay blank, because both models change in the same way. */
void oif_models_set_options(oif_models *models, const oif_model_options *options)
{
    const oif_model_options before = models->options;
    const oif_keys *keys = models->keys;
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY; i = keys->entries[i].newer) {
        oif_packed_model *packed = keys->entries[i].packed;
        oif_models_before_change(models, i);
        if (packed && i != models->in_work) {
            oif_packed_model_load(packed, models->blank, &models->view);
            oif_model_set_options(models->view.model, options);
            oif_packed_model_update(packed, &models->view);
            oif_model_set_options(models->view.model, &before);
        } else if (!packed) {
            oif_model_set_options(keys->entries[i].value, options);
        }
    }
    oif_model *const own[] = {models->blank, models->work.model, models->view.model};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i])
            oif_model_set_options(own[i], options);
    models->options = *options;
}
