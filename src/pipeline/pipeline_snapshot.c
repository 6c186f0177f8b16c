/* A pipeline's snapshot:
 *
 *     PIPE    its options, and the columns of a row
 *     DETE    which detector its models have
 *     NAME    the names of the columns, if they have some
 *     KEYS    how many keys there are; rows processed and evictions so far
 *     then for each key, that not seen for longest first
 *     KEY     the key
 *     STAT    the state of its detector
 *     MODL    what else its model remembers
 *     then with evicted=keep
 *     SHLF    which keys have a model on the shelf, and where (evicted.c)
 *
 * Without any key there is one STAT and one MODL, of the model that others are copied from: so
 * whoever loads it knows, before a byte is allocated, that the detectors are not larger than
 * the snapshot makes credible.
 */
#include "pipeline/evicted.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "snapshot/detector_snapshot.h"
#include "snapshot/names_section.h"
#include "snapshot/savable.h"

#include <string.h>

static const char options_tag[] = "PIPE", keys_tag[] = "KEYS", key_tag[] = "KEY ",
                  model_tag[] = "MODL";

enum { COUNTS_BYTES = 24 };

/* ---- Saving ---- */

static uint64_t model_bytes(oif_model *model)
{
    oif_byte_counter counter = oif_byte_counter_new();
    oif_model_visit_fields(model, &counter.visitor);
    return counter.bytes;
}

uint64_t oif_model_sections_bytes(oif_model *model)
{
    return 2 * OIF_SECTION_BYTES + oif_state_bytes(model->detector) + model_bytes(model);
}

void oif_model_write(oif_snapshot_writer *writer, oif_model *model)
{
    oif_state_write(writer, model->detector);
    oif_writer_begin(writer, model_tag, model_bytes(model));
    oif_model_visit_fields(model, &writer->visitor);
    oif_writer_end(writer);
}

static void write_counts(oif_snapshot_writer *writer, const oif_pipeline *p)
{
    unsigned char payload[COUNTS_BYTES];
    oif_bytes bytes = oif_bytes_over(payload, sizeof payload);
    oif_bytes_put(&bytes, p->keys.count, 8);
    oif_bytes_put(&bytes, p->rows, 8);
    oif_bytes_put(&bytes, p->evictions, 8);
    oif_writer_section(writer, keys_tag, payload, sizeof payload);
}

static void write_key(oif_snapshot_writer *writer, const oif_key_entry *entry)
{
    oif_writer_begin(writer, key_tag, entry->key_bytes);
    oif_visit_u8(&writer->visitor, "key", (uint8_t *)entry->key, entry->key_bytes);
    oif_writer_end(writer);
}

static oif_status save(const oif_pipeline *pipeline, bool beside_shelf, oif_write_function write,
                       void *context, oif_error *error)
{
    const oif_keys *keys = &pipeline->keys;
    oif_snapshot_writer writer;
    oif_writer_open(&writer, write, context, error);
    oif_identity_write(&writer, options_tag, &pipeline->options, pipeline->columns);
    oif_identity_write(&writer, OIF_SECTION_DETECTOR, &pipeline->params,
                       oif_detector_dimension(pipeline->blank->detector));
    oif_column_names_write(&writer, pipeline->names);
    write_counts(&writer, pipeline);
    if (keys->count == 0)
        oif_model_write(&writer, pipeline->blank);
    for (uint32_t i = keys->oldest; i != OIF_NO_KEY && writer.status == OIF_OK;
         i = keys->entries[i].newer) {
        write_key(&writer, &keys->entries[i]);
        oif_model_write(&writer, keys->entries[i].value);
    }
    if (pipeline->keeps_evicted)
        oif_evicted_write(&writer, pipeline, beside_shelf);
    return oif_writer_close(&writer);
}

oif_status oif_pipeline_save(const oif_pipeline *pipeline, oif_write_function write, void *context,
                             oif_error *error)
{
    return save(pipeline, false, write, context, error);
}

/* ---- Loading ---- */

/* What is known before the first model. */
typedef struct plan {
    oif_params options, params;
    uint64_t columns, dimension;
    uint64_t keys, rows, evictions;
    oif_column_names *names; /* until there is a pipeline that has them */
} plan;

static oif_status init_options(oif_params *options, const char *name, oif_error *error)
{
    oif_pipeline_options_init(options);
    return strcmp(name, options->info->name) == 0 ? OIF_OK
                                                  : oif_fail(error, OIF_EPARAM, "not a pipeline");
}

static void read_plan(oif_snapshot_reader *reader, plan *p)
{
    unsigned char payload[COUNTS_BYTES];
    oif_identity_read(reader, options_tag, init_options, &p->options, &p->columns);
    oif_identity_read(reader, OIF_SECTION_DETECTOR, oif_params_init, &p->params, &p->dimension);
    p->names = oif_column_names_read(reader, p->columns, keys_tag);
    oif_bytes bytes = oif_bytes_over(payload, oif_snapshot_take(reader, payload, sizeof payload));
    p->keys = oif_bytes_get(&bytes, 8);
    p->rows = oif_bytes_get(&bytes, 8);
    p->evictions = oif_bytes_get(&bytes, 8);
    if (bytes.overrun || bytes.next != bytes.end || p->dimension > OIF_MAX_DIMENSION ||
        p->columns > p->dimension)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the section '%s' makes no sense", keys_tag);
}

/* Made once the first state stands open, which says whether its size is credible. */
static oif_pipeline *make_pipeline(oif_snapshot_reader *reader, plan *p)
{
    oif_pipeline *made = NULL;
    oif_error why;
    oif_state_bound(reader, &p->params, (size_t)p->dimension);
    if (reader->status != OIF_OK)
        return NULL;
    if (oif_pipeline_new(&p->params, (size_t)p->columns, &p->options, &made, &why) != OIF_OK) {
        oif_snapshot_fail(reader, why.status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT, "%s",
                          why.message);
        return NULL;
    }
    made->rows = p->rows;
    made->evictions = p->evictions;
    made->names = p->names;
    p->names = NULL;
    if (oif_detector_dimension(made->blank->detector) != p->dimension || p->keys > made->most_keys)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the options do not fit the models");
    return made;
}

/* Reads the key, in steps: its length is known from where nothing is certain. NULL when there
 * is none. */
static char *read_key(oif_snapshot_reader *reader, size_t *key_bytes)
{
    oif_snapshot_expect(reader, key_tag);
    if (reader->left > OIF_MAX_KEY_BYTES)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "a key of %llu bytes is too long",
                          (unsigned long long)reader->left);
    if (reader->status != OIF_OK)
        return NULL;
    *key_bytes = (size_t)reader->left;
    char *key = oif_memory_new(*key_bytes + 1);
    if (!key) {
        oif_snapshot_fail(reader, OIF_EMEMORY, "no memory for a key of %zu bytes", *key_bytes);
        return NULL;
    }
    oif_snapshot_take(reader, key, *key_bytes);
    return key;
}

void oif_model_read(oif_snapshot_reader *reader, oif_model *model)
{
    oif_error why;
    oif_state_read(reader, model->detector);
    oif_snapshot_expect(reader, model_tag);
    if (reader->left != model_bytes(model))
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the section '%s' has another size than it should",
                          model_tag);
    oif_model_visit_fields(model, &reader->visitor);
    oif_snapshot_end(reader);
    if (reader->status == OIF_OK && oif_model_check(model, &why) != OIF_OK)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the model does not hold together: %s",
                          why.message);
}

/* The next key and its model. Makes the pipeline with the first. */
static void read_keyed_model(oif_snapshot_reader *reader, plan *p, oif_pipeline **pipeline)
{
    size_t key_bytes = 0;
    uint32_t entry = OIF_NO_KEY;
    oif_error why;
    char *key = p->keys > 0 ? read_key(reader, &key_bytes) : NULL;
    oif_snapshot_expect(reader, OIF_SECTION_STATE);
    if (reader->status == OIF_OK && !*pipeline)
        *pipeline = make_pipeline(reader, p);
    if (reader->status == OIF_OK && p->keys == 0) {
        oif_model_read(reader, (*pipeline)->blank);
    } else if (reader->status == OIF_OK &&
               oif_keys_find(&(*pipeline)->keys, key, key_bytes) != OIF_NO_KEY) {
        oif_snapshot_fail(reader, OIF_ECORRUPT, "a key stands here twice");
    } else if (reader->status == OIF_OK) {
        if (oif_pipeline_add_model(*pipeline, key, key_bytes, &entry, &why) == OIF_OK)
            oif_model_read(reader, oif_pipeline_model(*pipeline, entry));
        else
            oif_snapshot_fail(reader, OIF_EMEMORY, "%s", why.message);
    }
    oif_memory_free(key);
}

/* `bytes` as in oif_savable. */
static oif_status load_up_to(uint64_t bytes, oif_read_function read, void *context,
                             oif_pipeline **pipeline, oif_error *error)
{
    oif_snapshot_reader reader;
    oif_pipeline *made = NULL;
    plan p = {0};
    oif_snapshot_open(&reader, read, context, error);
    reader.end = bytes;
    read_plan(&reader, &p);
    uint64_t models = p.keys > 0 ? p.keys : 1;
    for (uint64_t i = 0; i < models && reader.status == OIF_OK; i++)
        read_keyed_model(&reader, &p, &made);
    if (reader.status == OIF_OK && made && made->keeps_evicted)
        oif_evicted_read(&reader, made);
    oif_snapshot_close(&reader);
    oif_column_names_free(p.names);
    if (reader.status == OIF_OK)
        *pipeline = made;
    else
        oif_pipeline_free(made);
    return reader.status;
}

oif_status oif_pipeline_load(oif_read_function read, void *context, oif_pipeline **pipeline,
                             oif_error *error)
{
    return load_up_to(UINT64_MAX, read, context, pipeline, error);
}

/* ---- As something that has snapshots ---- */

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

static oif_status save_beside_shelf(const void *pipeline, oif_write_function write, void *context,
                                    oif_error *error)
{
    return save(pipeline, true, write, context, error);
}

static const oif_savable pipelines = {save_pipeline, load_pipeline, free_pipeline};
static const oif_savable pipelines_with_shelf = {save_beside_shelf, load_pipeline, free_pipeline};

oif_status oif_pipeline_load_memory(const void *bytes, size_t count, oif_pipeline **pipeline,
                                    oif_error *error)
{
    void *made;
    oif_status status = oif_savable_load_memory(&pipelines, bytes, count, &made, error);
    if (status == OIF_OK)
        *pipeline = made;
    return status;
}

oif_status oif_state_file_save_pipeline(oif_state_file *file, const oif_pipeline *pipeline,
                                        oif_error *error)
{
    const oif_savable *kind =
        oif_shelf_is_of(pipeline->shelf, file) ? &pipelines_with_shelf : &pipelines;
    return oif_state_file_put(file, kind, pipeline, error);
}

oif_status oif_state_file_load_pipeline(oif_state_file *file, oif_pipeline **pipeline,
                                        oif_error *error)
{
    void *object;
    oif_status status = oif_state_file_get(file, &pipelines, &object, error);
    if (status != OIF_OK)
        return status;
    oif_pipeline *made = object;
    if (made->keeps_evicted)
        status = oif_evicted_use_shelf(file, made, true, error);
    if (status == OIF_OK)
        *pipeline = made;
    else
        oif_pipeline_free(made);
    return status;
}

oif_status oif_pipeline_load_file(const char *path, oif_pipeline **pipeline, oif_error *error)
{
    void *made;
    oif_status status = oif_savable_load_file(&pipelines, path, &made, error);
    if (status == OIF_OK)
        *pipeline = made;
    return status;
}
