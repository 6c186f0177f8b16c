/* A pipeline's snapshot, as sections:
 *
 *     PIPE    its options, and the columns of a row
 *     DETE    which detector its models have
 *     NAME    the names of the columns, if they have any
 *     KEYS    how many keys there are; rows processed and evictions so far; how many columns are
 *             derived
 *     DERI    which columns are derived, and how, if any are
 *     BUDG    with a budget of alerts: its state
 *     BLNK    with keys: the blank model that packed ones differ from (model_sections.h)
 *     then for each key, the least recently seen first
 *     KEY     the key
 *     SEEN    when it was seen last, and its usual gap, in rows (eviction.h)
 *     PACK    its model; or
 *     STAT    the state of its detector
 *     MODL    the rest of its model
 *     then with evicted=keep
 *     SHLF    keys whose models are in the evicted models file, and their slots (evicted_models.h)
 *     RULE    the rules that hold back alerts, if there are any
 *     PAST    the last episodes, if they are kept
 *     ROLE    the names of the columns that are the key and the time, if they are named
 *     ATCH    bytes that the program has attached, if there are any
 *
 * Without any key there is one STAT and one MODL, of the blank model. So there always is a state.
 * Its size lets the reader check, before it allocates memory, whether the parameters claim a
 * plausible size of detector. For packed models BLNK has that size, which is limited.
 */
#include "pipeline/pipeline_sections.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "detect/together.h"
#include "pipeline/model/model_sections.h"
#include "pipeline/pipeline_options.h"
#include "snapshot/detector_sections.h"
#include "snapshot/state_file.h"
#include "snapshot/stored_in_memory.h"

#include <string.h>

static const char options_tag[] = "PIPE";

/* ---- Saving ---- */

bool oif_pipeline_has_keys(const oif_pipeline *pipeline)
{
    const oif_keys *keys = &pipeline->keys;
    return keys->count > 1 || (keys->count == 1 && keys->entries[keys->oldest].key_bytes > 0);
}

/* The blank model is a new one, as the reader's will be. */
oif_status oif_pipeline_packer_new(const oif_pipeline *pipeline, oif_model_packer **packer,
                                   oif_error *error)
{
    oif_model *blank;
    if (!oif_pipeline_has_keys(pipeline) ||
        pipeline->models.section_bytes > OIF_PACKED_MOST_FIELD_BYTES)
        return OIF_OK;
    oif_status status = oif_models_new_model(&pipeline->models, &blank, error);
    if (status != OIF_OK)
        return status;
    status = oif_model_packer_new(blank, packer, error);
    oif_model_free(blank);
    return status;
}

void oif_keyed_model_write(oif_section_writer *writer, const oif_pipeline *pipeline,
                           oif_model_packer *packer, uint32_t entry)
{
    const oif_key_entry *key = &pipeline->keys.entries[entry];
    oif_key_section_write(writer, OIF_SECTION_KEY, key->key, key->key_bytes);
    oif_seen_section_write(writer, key);
    if (packer)
        oif_packed_section_write(writer, packer, oif_pipeline_model(pipeline, entry));
    else
        oif_model_sections_write(writer, oif_pipeline_model(pipeline, entry));
}

void oif_pipeline_head_write(oif_section_writer *writer, const oif_pipeline *pipeline,
                             const oif_model_packer *packer)
{
    const oif_pipeline_counts counts = {pipeline->keys.count, pipeline->rows, pipeline->evictions};
    oif_pipeline_heading_write(writer, options_tag, pipeline, &counts);
    oif_budget_section_write(writer, pipeline);
    if (pipeline->keys.count == 0)
        oif_model_sections_write(writer, pipeline->models.blank);
    if (packer)
        oif_blank_section_write(writer, packer);
}

/* Writes the header. */
typedef void (*open_function)(oif_section_writer *writer, oif_write_function write, void *context,
                              oif_error *error);

/* with_slots: also those of the evicted models, as the snapshot is saved beside their file. */
static oif_status save(const oif_pipeline *pipeline, open_function open, bool with_slots,
                       oif_write_function write, void *context, oif_error *error)
{
    const oif_keys *keys = &pipeline->keys;
    oif_section_writer writer;
    oif_model_packer *packer = NULL;
    oif_status status = oif_pipeline_packer_new(pipeline, &packer, error);
    if (status != OIF_OK)
        return status;
    open(&writer, write, context, error);
    oif_pipeline_head_write(&writer, pipeline, packer);
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY && writer.status == OIF_OK;
         i = keys->entries[i].newer)
        oif_keyed_model_write(&writer, pipeline, packer, i);
    if (pipeline->evicted.is_kept)
        oif_evicted_models_write(&writer, &pipeline->evicted, with_slots);
    oif_pipeline_tail_write(&writer, pipeline);
    oif_model_packer_free(packer);
    return oif_section_writer_close(&writer);
}

oif_status oif_pipeline_save(const oif_pipeline *pipeline, oif_write_function write, void *context,
                             oif_error *error)
{
    return save(pipeline, oif_section_writer_open, false, write, context, error);
}

static ptrdiff_t count_bytes(void *count, const char *bytes, size_t more)
{
    (void)bytes;
    *(uint64_t *)count += more;
    return (ptrdiff_t)more;
}

size_t oif_pipeline_snapshot_bytes(const oif_pipeline *pipeline)
{
    uint64_t bytes = 0;
    return save(pipeline, oif_section_writer_open, false, count_bytes, &bytes, NULL) == OIF_OK
               ? (size_t)bytes
               : 0;
}

oif_status oif_pipeline_save_memory(const oif_pipeline *pipeline, void *bytes, size_t capacity,
                                    oif_error *error)
{
    oif_memory_stream to = {bytes, (char *)bytes + capacity};
    const oif_status status = oif_pipeline_save(pipeline, oif_memory_stream_write, &to, error);
    if (status != OIF_EWRITE)
        return status;
    const size_t needed = oif_pipeline_snapshot_bytes(pipeline);
    if (needed == 0)
        return oif_fail(error, OIF_EMEMORY, "no memory to pack the models of the snapshot");
    return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu",
                    needed, capacity);
}

/* ---- Loading ---- */

/* Fails if the open section, or the fields of the blank model, are too small for the state of such
 * detectors. */
static void bound_state(oif_section_reader *reader, const oif_pipeline_heading *p)
{
    oif_params parts[OIF_TOGETHER_MAX];
    size_t count = oif_together_split(&p->params, parts);
    const bool is_packed = strcmp(reader->tag, OIF_SECTION_PACKED) == 0;
    oif_state_section_bound(reader, is_packed ? p->blank.bytes : reader->left, parts, count,
                            (size_t)p->dimension);
}

/* Creates the pipeline once the first state is open, whose size bounds that of the detectors. */
static oif_pipeline *make_pipeline(oif_section_reader *reader, oif_pipeline_heading *p)
{
    oif_pipeline *made = NULL;
    oif_error why;
    bound_state(reader, p);
    const oif_model_options options = oif_pipeline_options_read(&p->options, &p->params);
    if (oif_model_numbers(&options, p->derived.derived_columns) != p->dimension)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the options do not fit the models");
    if (reader->status != OIF_OK)
        return NULL;
    if (oif_pipeline_new(&p->params, (size_t)p->columns, &p->options, &made, &why) != OIF_OK) {
        oif_section_reader_fail(reader, why.status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT,
                                "%s", why.message);
        return NULL;
    }
    made->is_copying = true;
    made->rows = p->counts.rows;
    made->evictions = p->counts.evictions;
    made->budget = p->budget;
    made->names = p->names;
    p->names = NULL;
    if (p->derivations > 0 && oif_pipeline_set_plan(made, &p->derived, &why) != OIF_OK)
        oif_section_reader_fail(reader, why.status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT,
                                "%s", why.message);
    else
        oif_derived_plan_init(&p->derived, (size_t)p->columns);
    if (p->counts.keys > made->most_keys)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the options do not fit the models");
    return made;
}

/* Creates what unpacks the models of a new pipeline. */
static oif_model_packer *make_packer(oif_section_reader *reader, const oif_pipeline_heading *p,
                                     const oif_pipeline *pipeline)
{
    oif_model_packer *packer = NULL;
    oif_error why;
    if (reader->status != OIF_OK || p->blank.bytes == 0)
        return NULL;
    if (oif_model_field_bytes(pipeline->models.blank) != p->blank.bytes)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the options do not fit the models");
    else if (oif_model_packer_new(pipeline->models.blank, &packer, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_EMEMORY, "%s", why.message);
    else if (packer->blank.checksum != p->blank.checksum)
        oif_section_reader_fail(reader, OIF_EVERSION,
                                "a model without rows is not what it was when this was written");
    return packer;
}

/* Reads a model whose first section is open. */
static void read_model(oif_section_reader *reader, oif_pipeline_heading *p, oif_model *model)
{
    if (strcmp(reader->tag, OIF_SECTION_STATE) == 0)
        oif_model_sections_read(reader, model);
    else if (p->packer)
        oif_packed_section_read(reader, p->packer, model);
    else
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a section '%s' without '%s'",
                                OIF_SECTION_PACKED, OIF_SECTION_BLANK);
}

/* Damaged numbers may be too large. */
static void set_seen(oif_pipeline *p, uint32_t entry, const uint64_t seen[2])
{
    const uint64_t most = UINT64_C(1) << 60;
    p->keys.entries[entry].seen = seen[0] < p->rows ? seen[0] : p->rows;
    p->keys.entries[entry].gap = seen[1] < most ? seen[1] : most;
}

void oif_keyed_model_read(oif_section_reader *reader, oif_pipeline_heading *heading,
                          oif_pipeline *pipeline, uint32_t entry, const uint64_t seen[2])
{
    oif_model *model;
    oif_error why;
    if (oif_models_open(&pipeline->models, entry, &model, &why) != OIF_OK) {
        oif_section_reader_fail(reader, OIF_EMEMORY, "%s", why.message);
        return;
    }
    read_model(reader, heading, model);
    set_seen(pipeline, entry, seen);
    oif_pipeline_await(pipeline, entry);
}

/* Reads the section before the first key, if it is there, and opens that of the key. */
static void read_blank(oif_section_reader *reader, oif_pipeline_heading *p)
{
    if (p->counts.keys == 0 ||
        !oif_section_reader_expect_either(reader, OIF_SECTION_BLANK, OIF_SECTION_KEY))
        return;
    p->blank = oif_blank_section_read(reader);
    oif_section_reader_expect(reader, OIF_SECTION_KEY);
}

/* Reads the next key and its model. Creates the pipeline at the first key. Not inlined: its frame
 * and that of the reader would be one. */
static __attribute__((noinline)) void
read_keyed_model(oif_section_reader *reader, oif_pipeline_heading *p, oif_pipeline **pipeline)
{
    size_t key_bytes = 0;
    uint32_t entry = OIF_NO_KEY;
    oif_error why;
    uint64_t seen[2] = {0, 0};
    char *key = NULL;
    if (p->counts.keys > 0) {
        key = oif_key_section_read(reader, OIF_SECTION_KEY, &key_bytes);
        oif_seen_section_read(reader, seen);
    } else {
        oif_section_reader_expect(reader, OIF_SECTION_STATE);
    }
    if (reader->status == OIF_OK && !*pipeline) {
        *pipeline = make_pipeline(reader, p);
        p->packer = make_packer(reader, p, *pipeline);
    }
    if (reader->status == OIF_OK && p->counts.keys == 0) {
        read_model(reader, p, (*pipeline)->models.blank);
        oif_model_reset((*pipeline)->models.blank, &(*pipeline)->models.options);
    } else if (reader->status == OIF_OK &&
               oif_keys_find(&(*pipeline)->keys, key, key_bytes) != OIF_NO_KEY) {
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a key occurs twice");
    } else if (reader->status == OIF_OK) {
        if (oif_pipeline_add_model(*pipeline, key, key_bytes, &entry, &why) == OIF_OK)
            oif_keyed_model_read(reader, p, *pipeline, entry, seen);
        else
            oif_section_reader_fail(reader, OIF_EMEMORY, "%s", why.message);
    }
    oif_memory_free(key);
}

/* `bytes` as in oif_stored_kind. */
static oif_status load_up_to(uint64_t bytes, oif_read_function read, void *context,
                             oif_pipeline **pipeline, oif_error *error)
{
    oif_section_reader reader;
    oif_pipeline *made = NULL;
    oif_pipeline_heading p = {0};
    oif_section_reader_open(&reader, read, context, error);
    reader.end = bytes;
    oif_pipeline_heading_read(&reader, options_tag, &p);
    p.budget = oif_budget_section_read(&reader, &p.options);
    read_blank(&reader, &p);
    uint64_t models = p.counts.keys > 0 ? p.counts.keys : 1;
    for (uint64_t i = 0; i < models && reader.status == OIF_OK; i++)
        read_keyed_model(&reader, &p, &made);
    if (reader.status == OIF_OK && made && made->evicted.is_kept)
        oif_evicted_models_read(&reader, &made->evicted, &made->keys);
    if (reader.status == OIF_OK && made)
        oif_pipeline_tail_read(&reader, made);
    if (reader.status == OIF_OK && made && reader.is_log)
        oif_pipeline_updates_read(&reader, &p, bytes, made);
    oif_pipeline_heading_free(&p);
    if (reader.status == OIF_OK && made) {
        made->is_copying = false;
        *pipeline = made;
    } else {
        oif_pipeline_free(made);
    }
    return reader.status;
}

oif_status oif_pipeline_load(oif_read_function read, void *context, oif_pipeline **pipeline,
                             oif_error *error)
{
    return load_up_to(UINT64_MAX, read, context, pipeline, error);
}

/* ---- As a stored object ---- */

static oif_status save_pipeline(const void *pipeline, oif_write_function write, void *context,
                                oif_error *error)
{
    return oif_pipeline_save(pipeline, write, context, error);
}

static oif_status load_pipeline(uint64_t bytes, oif_read_function read, void *context,
                                void **pipeline, oif_error *error)
{
    oif_pipeline *made;
    oif_status status = load_up_to(bytes, read, context, &made, error);
    if (status == OIF_OK)
        *pipeline = made;
    return status;
}

static void free_pipeline(void *pipeline)
{
    oif_pipeline_free(pipeline);
}

static oif_status save_beside_evicted(const void *pipeline, oif_write_function write, void *context,
                                      oif_error *error)
{
    return save(pipeline, oif_section_writer_open, true, write, context, error);
}

static oif_status save_log(const void *pipeline, oif_write_function write, void *context,
                           oif_error *error)
{
    return save(pipeline, oif_section_writer_open_log, false, write, context, error);
}

const oif_stored_kind oif_pipeline_logs = {save_log, load_pipeline, free_pipeline};
static const oif_stored_kind pipelines = {save_pipeline, load_pipeline, free_pipeline};
static const oif_stored_kind pipelines_beside_evicted = {save_beside_evicted, load_pipeline,
                                                         free_pipeline};

oif_status oif_pipeline_load_memory(const void *bytes, size_t count, oif_pipeline **pipeline,
                                    oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_stored_load_memory(&pipelines, bytes, count, &made, error);
    if (status == OIF_OK)
        *pipeline = made;
    return status;
}

oif_status oif_state_file_save_pipeline(oif_state_file *file, const oif_pipeline *pipeline,
                                        oif_error *error)
{
    const oif_stored_kind *kind = oif_evicted_models_are_beside(&pipeline->evicted, file)
                                      ? &pipelines_beside_evicted
                                      : &pipelines;
    return oif_state_file_save_object(file, kind, pipeline, error);
}

static oif_status attach_evicted(oif_pipeline *pipeline, oif_state_file *file, bool is_loaded,
                                 oif_error *error)
{
    oif_model *blank;
    oif_status status = oif_models_new_model(&pipeline->models, &blank, error);
    if (status != OIF_OK)
        return status;
    status = oif_evicted_models_attach(&pipeline->evicted, file, blank, is_loaded, error);
    oif_model_free(blank);
    return status;
}

oif_status oif_state_file_load_pipeline(oif_state_file *file, oif_pipeline **pipeline,
                                        oif_error *error)
{
    void *object = NULL;
    oif_stored_place before = {0};
    oif_state_file_identify(file, &before);
    oif_status status = oif_state_file_load_object(file, &pipelines, &object, error);
    if (status != OIF_OK)
        return status;
    oif_pipeline *made = object;
    oif_pipeline_follow(made, file, &before);
    if (made->evicted.is_kept)
        status = attach_evicted(made, file, true, error);
    if (status == OIF_OK)
        *pipeline = made;
    else
        oif_pipeline_free(made);
    return status;
}

oif_status oif_state_file_keep_evicted(oif_state_file *file, oif_pipeline *pipeline,
                                       oif_error *error)
{
    if (!pipeline->evicted.is_kept)
        return oif_fail(error, OIF_EPARAM, "the pipeline has the option evicted=forget");
    if (oif_evicted_models_are_beside(&pipeline->evicted, file))
        return OIF_OK;
    return attach_evicted(pipeline, file, false, error);
}

oif_status oif_pipeline_save_file(const oif_pipeline *pipeline, const char *path, oif_error *error)
{
    return oif_stored_save_file(&pipelines, pipeline, path, error);
}

oif_status oif_pipeline_load_file(const char *path, oif_pipeline **pipeline, oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_stored_load_file(&pipelines, path, &made, error);
    if (status == OIF_OK)
        *pipeline = made;
    return status;
}
