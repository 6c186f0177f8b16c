/* The snapshot of one key of a pipeline, for moving it to another pipeline:
 *
 *     KEYF    the options of its pipeline, and the columns of a row
 *     DETE    which detector it has
 *     NAME    the names of the columns, if they have any
 *     KEYS    one key, its rows, no evictions; how many columns are derived
 *     DERI    which columns are derived, and how, if any are
 *     KEY     the key
 *     STAT    the state of its detector (model_sections.h)
 *     MODL    the rest of its model
 *
 * It is read into a model of the receiving pipeline, so the memory needed does not depend on what
 * the snapshot claims. That pipeline must have the same detector, columns and options, except
 * options that can change at run time or concern all keys together.
 */
#include "pipeline/pipeline_sections.h"

#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "oif_rows.h"
#include "pipeline/model/model_sections.h"
#include "snapshot/detector_sections.h"
#include "snapshot/state_file.h"
#include "snapshot/stored_in_memory.h"

#include <stdio.h>
#include <string.h>

static const char key_file_tag[] = "KEYF";

/* A key and its model, in a pipeline or about to be added. */
typedef struct loose_key {
    const oif_pipeline *pipeline; /* the owner, or the one that it must fit */
    char *key;
    size_t key_bytes;
    oif_model *model;
} loose_key;

/* ---- Saving ---- */

/* with_model: false to count the bytes of the rest. */
static oif_status save_parts(const loose_key *from, bool with_model, oif_write_function write,
                             void *context, oif_error *error)
{
    const oif_pipeline_counts counts = {.keys = 1, .rows = from->model->rows};
    oif_section_writer writer;
    oif_section_writer_open(&writer, write, context, error);
    oif_pipeline_heading_write(&writer, key_file_tag, from->pipeline, &counts);
    oif_key_section_write(&writer, OIF_SECTION_KEY, from->key, from->key_bytes);
    if (with_model)
        oif_model_sections_write(&writer, from->model);
    return oif_section_writer_close(&writer);
}

static oif_status save(const void *key, oif_write_function write, void *context, oif_error *error)
{
    return save_parts(key, true, write, context, error);
}

/* Finds the model of a key. If it was evicted, reads it into `*copy`, which the caller frees. */
static oif_status find_model(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                             oif_model **model, oif_model **copy, oif_error *error)
{
    *copy = NULL;
    *model = oif_pipeline_model(pipeline, oif_keys_find(&pipeline->keys, key, key_bytes));
    if (*model)
        return OIF_OK;
    const oif_key_entry *entry = oif_evicted_models_find(&pipeline->evicted, key, key_bytes);
    if (!entry)
        return oif_fail_because(error, OIF_EVALUE, OIF_CAUSE_UNKNOWN_KEY,
                                "the pipeline has no such key");
    oif_status status = oif_models_new_model(&pipeline->models, copy, error);
    if (status == OIF_OK)
        status = oif_evicted_models_copy(&pipeline->evicted, entry, *copy, error);
    *model = *copy;
    return status;
}

/* Saves a key to a target. */
typedef oif_status (*save_function)(const loose_key *from, void *target, oif_error *error);

static oif_status save_to(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                          save_function save_there, void *target, oif_error *error)
{
    oif_model *copy;
    loose_key from = {pipeline, (char *)key, key_bytes, NULL}; /* the key is only read */
    oif_status status = find_model(pipeline, key, key_bytes, &from.model, &copy, error);
    if (status == OIF_OK)
        status = save_there(&from, target, error);
    oif_model_free(copy);
    return status;
}

typedef struct caller_stream {
    oif_write_function write;
    void *context;
} caller_stream;

static oif_status save_to_stream(const loose_key *from, void *target, oif_error *error)
{
    const caller_stream *to = target;
    return save(from, to->write, to->context, error);
}

oif_status oif_pipeline_save_key(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                 oif_write_function write, void *context, oif_error *error)
{
    caller_stream to = {write, context};
    return save_to(pipeline, key, key_bytes, save_to_stream, &to, error);
}

static ptrdiff_t count_bytes(void *count, const char *bytes, size_t more)
{
    (void)bytes;
    *(size_t *)count += more;
    return (ptrdiff_t)more;
}

static oif_status count_key(const loose_key *from, void *count, oif_error *error)
{
    size_t *bytes = count;
    *bytes += (size_t)oif_model_sections_bytes(from->model);
    return save_parts(from, false, count_bytes, bytes, error);
}

oif_status oif_pipeline_key_snapshot_bytes(const oif_pipeline *pipeline, const char *key,
                                           size_t key_bytes, size_t *bytes, oif_error *error)
{
    size_t count = 0;
    oif_status status = save_to(pipeline, key, key_bytes, count_key, &count, error);
    if (status == OIF_OK)
        *bytes = count;
    return status;
}

typedef struct caller_memory {
    char *bytes;
    size_t capacity;
} caller_memory;

static oif_status save_to_memory(const loose_key *from, void *target, oif_error *error)
{
    const caller_memory *memory = target;
    oif_memory_stream to = {memory->bytes, memory->bytes + memory->capacity};
    size_t needed = 0;
    oif_status status = count_key(from, &needed, error);
    if (status == OIF_OK && memory->capacity < needed)
        return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu",
                        needed, memory->capacity);
    return status == OIF_OK ? save(from, oif_memory_stream_write, &to, error) : status;
}

oif_status oif_pipeline_save_key_memory(const oif_pipeline *pipeline, const char *key,
                                        size_t key_bytes, void *bytes, size_t capacity,
                                        oif_error *error)
{
    caller_memory to = {bytes, capacity};
    return save_to(pipeline, key, key_bytes, save_to_memory, &to, error);
}

/* ---- What must be equal ---- */

/* Options that may differ: they can change at run time, or concern all keys together. */
static bool may_differ(const char *name)
{
    return strcmp(name, "max_keys") == 0 || strcmp(name, "memory_limit") == 0 ||
           strcmp(name, "evicted") == 0 || oif_pipeline_option_is_changeable(name);
}

enum { VALUE_TEXT_BYTES = 64 };

static const char *value_text(const oif_param *param, double value, char text[VALUE_TEXT_BYTES])
{
    if (param->type == OIF_PARAM_CHOICE)
        return param->choices[(size_t)value];
    char number[OIF_NUMBER_TEXT_BYTES];
    snprintf(text, VALUE_TEXT_BYTES, "%.*s", (int)oif_number_format(value, number), number);
    return text;
}

static oif_status compare_values(const oif_params *of_key, const oif_params *of_pipeline,
                                 bool are_options, oif_error *error)
{
    for (size_t i = 0; i < of_key->table->param_count; i++) {
        const oif_param *param = &of_key->table->params[i];
        double a = of_key->values[i], b = of_pipeline->values[i];
        char text[2][VALUE_TEXT_BYTES];
        if (a == b || (are_options && may_differ(param->name)))
            continue;
        return oif_fail(error, OIF_EPARAM,
                        "the key was learned with %s=%s, and the pipeline has %s=%s", param->name,
                        value_text(param, a, text[0]), param->name, value_text(param, b, text[1]));
    }
    return OIF_OK;
}

static oif_status compare_names(const oif_column_names *of_key, const oif_column_names *of_pipeline,
                                oif_error *error)
{
    for (size_t i = 0; of_key && of_pipeline && i < of_key->count; i++)
        if (strcmp(oif_column_names_at(of_key, i), oif_column_names_at(of_pipeline, i)) != 0)
            return oif_fail(error, OIF_EPARAM,
                            "column %zu has another name in the key than in the pipeline", i + 1);
    return OIF_OK;
}

static bool are_derived_alike(const oif_derived_plan *a, const oif_derived_plan *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++)
        if (a->list[i].column != b->list[i].column || a->list[i].kind != b->list[i].kind ||
            a->list[i].keeps != b->list[i].keeps)
            return false;
    return a->count == b->count;
}

static oif_status compare(const oif_pipeline_heading *heading, const oif_pipeline *pipeline,
                          oif_error *error)
{
    const char *detector = heading->params.table->name;
    if (strcmp(detector, pipeline->params.table->name) != 0)
        return oif_fail(error, OIF_EPARAM, "the key has the detector %s, and the pipeline has %s",
                        detector, pipeline->params.table->name);
    if (heading->columns != pipeline->columns)
        return oif_fail(error, OIF_EPARAM,
                        "the key has rows of %llu columns, and the pipeline rows of %zu",
                        (unsigned long long)heading->columns, pipeline->columns);
    if (!are_derived_alike(&heading->derived, &pipeline->plan))
        return oif_fail(error, OIF_EPARAM,
                        "the key has other derived columns (diff, rate, log) than the pipeline");
    oif_status status = compare_names(heading->names, pipeline->names, error);
    if (status == OIF_OK)
        status = compare_values(&heading->params, &pipeline->params, false, error);
    return status == OIF_OK ? compare_values(&heading->options, &pipeline->options, true, error)
                            : status;
}

/* ---- Loading ---- */

static void read_heading(oif_section_reader *reader, const oif_pipeline *pipeline)
{
    oif_pipeline_heading heading = {0};
    oif_pipeline_heading_read(reader, key_file_tag, &heading);
    if (reader->status == OIF_OK)
        reader->status = compare(&heading, pipeline, reader->error);
    if (reader->status == OIF_OK && heading.counts.keys != 1)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "there must be one key");
    oif_pipeline_heading_free(&heading);
}

static void read_model(oif_section_reader *reader, loose_key *to)
{
    oif_error why;
    oif_section_reader_expect(reader, OIF_SECTION_STATE);
    if (reader->status != OIF_OK)
        return;
    if (oif_models_new_model(&to->pipeline->models, &to->model, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_EMEMORY, "%s", why.message);
    else
        oif_model_sections_read(reader, to->model);
}

static void free_contents(void *object)
{
    loose_key *key = object;
    oif_memory_free(key->key);
    oif_model_free(key->model);
    key->key = NULL;
    key->model = NULL;
}

/* Fills a loose key of which only the pipeline is set. */
static oif_status load(uint64_t bytes, oif_read_function read, void *context, void **object,
                       oif_error *error)
{
    loose_key *to = *object;
    oif_section_reader reader;
    oif_section_reader_open(&reader, read, context, error);
    reader.end = bytes;
    read_heading(&reader, to->pipeline);
    to->key = oif_key_section_read(&reader, OIF_SECTION_KEY, &to->key_bytes);
    read_model(&reader, to);
    oif_section_reader_close(&reader);
    if (reader.status != OIF_OK)
        free_contents(to);
    return reader.status;
}

static const oif_stored_kind keys = {save, load, free_contents};

/* Adds a loaded key to the pipeline, renamed to `as` unless that is NULL. */
static oif_status add(oif_pipeline *pipeline, loose_key *from, const char *as, size_t as_bytes,
                      oif_key_info *info, oif_error *error)
{
    const char *key = as ? as : from->key;
    size_t key_bytes = as ? as_bytes : from->key_bytes;
    oif_status status = oif_pipeline_put_model(pipeline, key, key_bytes, &from->model, error);
    if (status == OIF_OK && info)
        oif_pipeline_key(pipeline, key, key_bytes, info);
    free_contents(from);
    return status;
}

oif_status oif_pipeline_load_key(oif_pipeline *pipeline, oif_read_function read, void *context,
                                 const char *as, size_t as_bytes, oif_key_info *info,
                                 oif_error *error)
{
    loose_key made = {.pipeline = pipeline};
    void *object = &made;
    oif_status status = load(UINT64_MAX, read, context, &object, error);
    return status == OIF_OK ? add(pipeline, &made, as, as_bytes, info, error) : status;
}

oif_status oif_pipeline_load_key_memory(oif_pipeline *pipeline, const void *bytes, size_t count,
                                        const char *as, size_t as_bytes, oif_key_info *info,
                                        oif_error *error)
{
    loose_key made = {.pipeline = pipeline};
    void *object = &made;
    oif_status status = oif_stored_load_memory(&keys, bytes, count, &object, error);
    return status == OIF_OK ? add(pipeline, &made, as, as_bytes, info, error) : status;
}

/* ---- Files ---- */

static oif_status save_to_file(const loose_key *from, void *path, oif_error *error)
{
    return oif_stored_save_file(&keys, from, path, error);
}

oif_status oif_pipeline_save_key_file(const oif_pipeline *pipeline, const char *key,
                                      size_t key_bytes, const char *path, oif_error *error)
{
    return save_to(pipeline, key, key_bytes, save_to_file, (char *)path, error);
}

oif_status oif_pipeline_load_key_file(oif_pipeline *pipeline, const char *path, const char *as,
                                      size_t as_bytes, oif_key_info *info, oif_error *error)
{
    loose_key made = {.pipeline = pipeline};
    void *object = &made;
    oif_status status = oif_stored_load_file(&keys, path, &object, error);
    return status == OIF_OK ? add(pipeline, &made, as, as_bytes, info, error) : status;
}
