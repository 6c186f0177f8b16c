#include "fleet_size.h"

#include "front/options/key_room.h"
#include "stream_random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE_KEYS = 8, SECONDS_PER_ROW = 60, KEY_TEXT_BYTES = 32 };

/* A time of this century: the first row's. */
static const double first_seconds = 1.8e9;

/* With room for fewer whole models than this, none is packed. */
enum { FEW_MODELS = 16 };

/* Bytes that a key takes beside its model: an entry of the table of keys, two slots, two entries
 * of the queue of silent keys, which all double when they are full, and a copy of the key. */
enum { ENTRY_BYTES = 72, SLOT_BYTES = 8, QUEUE_BYTES = 24, COPY_BYTES = 16 };

/* A run with few keys, and what it shows. */
typedef struct trial {
    oif_pipeline *pipeline;
    double *row;
    size_t columns;
    uint64_t keys; /* so far */
    uint64_t random;
    uint64_t first_whole;                         /* keys whose models are whole from the start */
    double whole_bytes, packed_bytes, file_bytes; /* of a model, and of a key in a state file */
    double shared_bytes;                          /* by all keys */
} trial;

/* ---- The trial ---- */

static size_t key_text(uint64_t key, char text[KEY_TEXT_BYTES])
{
    return (size_t)snprintf(text, KEY_TEXT_BYTES, "host-%07" PRIu64, key);
}

static double model_bytes(const trial *t, uint64_t key)
{
    char text[KEY_TEXT_BYTES];
    oif_key_info info;
    const size_t text_bytes = key_text(key, text);
    bool is_known = oif_pipeline_key(t->pipeline, text, text_bytes, &info);
    return is_known ? (double)info.memory_bytes - ENTRY_BYTES - (double)text_bytes : 0;
}

static double table_bytes(double keys)
{
    const double capacity = exp2(ceil(log2(fmax(keys, FEW_MODELS))));
    return capacity * (ENTRY_BYTES + SLOT_BYTES + QUEUE_BYTES) + keys * COPY_BYTES;
}

/* Learns a random row. Numbers without a pattern, with all their bits in use, take the most. */
static exit_code learn(trial *t, uint64_t key, uint64_t number)
{
    char text[KEY_TEXT_BYTES];
    oif_result result;
    oif_error error;
    for (size_t i = 0; i < t->columns; i++)
        t->row[i] = (double)(key % 7) +
                    stream_random_noise(&t->random) * (1 + stream_random_uniform(&t->random) / 8);
    oif_status status = oif_pipeline_process_at(t->pipeline, text, key_text(key, text),
                                                first_seconds + (double)(number * SECONDS_PER_ROW),
                                                t->row, &result, &error);
    return status == OIF_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.message);
}

/* Adds keys of one row until a model is packed, but at most `most` keys. */
static exit_code add_first(trial *t, uint64_t most)
{
    double models = 0, last = INFINITY;
    exit_code code = EXIT_OK;
    while (code == EXIT_OK && t->keys < most && last >= t->whole_bytes) {
        code = learn(t, t->keys, 0);
        last = model_bytes(t, t->keys++);
        models += last;
        t->whole_bytes = fmax(t->whole_bytes, last);
    }
    t->first_whole = t->keys - (last < t->whole_bytes);
    t->shared_bytes = fmax(0, (double)oif_pipeline_memory_bytes(t->pipeline) - models -
                                  table_bytes((double)t->keys));
    return code;
}

static exit_code add_samples(trial *t, uint64_t rows)
{
    const double before = (double)oif_pipeline_snapshot_bytes(t->pipeline);
    exit_code code = EXIT_OK;
    for (uint64_t number = 0; number < rows; number++)
        for (uint64_t i = 0; i < SAMPLE_KEYS && code == EXIT_OK; i++)
            code = learn(t, t->keys + i, number);
    t->keys += SAMPLE_KEYS;
    const double after = (double)oif_pipeline_snapshot_bytes(t->pipeline);
    t->file_bytes = (after - before) / SAMPLE_KEYS;
    return code;
}

/* Samples that have become whole are packed, as at a limit: a new key needs room for one more
 * model, so at least one is packed for each. If packing gains nothing, samples are evicted instead;
 * those take as much as a whole model. */
static exit_code pack_samples(trial *t)
{
    const uint64_t first = t->keys - SAMPLE_KEYS, end = t->keys;
    exit_code code = EXIT_OK;
    for (uint64_t key = first; key < end && code == EXIT_OK; key++) {
        const uint64_t most = t->keys + end; /* there are no more whole models */
        while (code == EXIT_OK && model_bytes(t, key) >= t->whole_bytes && t->keys < most) {
            oif_pipeline_limit_memory(t->pipeline, oif_pipeline_memory_bytes(t->pipeline) - 1);
            code = learn(t, t->keys++, 0);
        }
        const double packed = model_bytes(t, key);
        t->packed_bytes += (packed > 0 ? packed : t->whole_bytes) / SAMPLE_KEYS;
    }
    return code;
}

static exit_code try_keys(trial *t, uint64_t keys, uint64_t rows)
{
    exit_code code = add_first(t, keys);
    if (code == EXIT_OK)
        code = add_samples(t, rows);
    return code == EXIT_OK ? pack_samples(t) : code;
}

/* ---- All keys ---- */

static double sum_bytes(const fleet_size *size)
{
    return size->shared_bytes + size->table_bytes + size->whole_keys * size->whole_bytes +
           (size->keys - size->whole_keys) * size->packed_bytes;
}

/* How many of the first models are whole, and how many of those that have grown. */
static double count_whole(const fleet_size *size, uint64_t first_whole)
{
    const double whole = size->whole_bytes, third = whole / 3,
                 first = fmin((double)first_whole, ceil(size->limit_bytes / 4 / whole)),
                 left = size->keys - first;
    if (size->limit_bytes / FEW_MODELS < whole || left <= 0)
        return size->keys;
    if (size->packed_bytes <= third)
        return first;
    const double free_bytes = size->limit_bytes * 3 / 4 - first * whole - left * third;
    return first + fmax(0, fmin(left, floor(free_bytes / (whole - third))));
}

/* Packs whole models until all are within the limit, or none is whole. */
static void fit_limit(fleet_size *size)
{
    const double excess = sum_bytes(size) - size->limit_bytes,
                 saved = size->whole_bytes - size->packed_bytes;
    if (excess > 0 && size->limit_bytes / FEW_MODELS >= size->whole_bytes && saved > 0)
        size->whole_keys = fmax(0, size->whole_keys - ceil(excess / saved));
    size->memory_bytes = sum_bytes(size);
    const double least = size->whole_keys > 0 ? size->whole_bytes : size->packed_bytes,
                 fitting = (size->limit_bytes - size->shared_bytes) /
                           (least + size->table_bytes / size->keys);
    size->fitting_keys =
        size->memory_bytes > size->limit_bytes ? fmax(1, floor(fitting)) : size->keys;
}

static void multiply(const trial *t, fleet_size *size)
{
    size->whole_bytes = t->whole_bytes;
    size->packed_bytes = t->packed_bytes;
    size->shared_bytes = t->shared_bytes;
    size->table_bytes = table_bytes(size->keys);
    size->file_bytes = size->keys * t->file_bytes;
    size->whole_keys = count_whole(size, t->first_whole);
    fit_limit(size);
}

/* ---- Settings ---- */

/* The limits of the run are not those of the trial. */
static exit_code start_trial(const run_settings *settings, size_t columns, trial *t)
{
    run_settings own = *settings;
    settings_set_option(&own, "max_keys", 1e6);
    settings_set_option(&own, "memory_limit", 0);
    t->columns = columns;
    t->row = calloc(columns, sizeof *t->row);
    return t->row ? settings_make_pipeline(&own, columns, &t->pipeline)
                  : complain(EXIT_FAILED, "out of memory");
}

static exit_code read_limit(const run_settings *settings, size_t columns, fleet_size *size)
{
    oif_pipeline *pipeline = NULL;
    exit_code code = settings_make_pipeline(settings, columns, &pipeline);
    if (code != EXIT_OK)
        return code;
    const key_room room = key_room_start(pipeline, true);
    size->limit_bytes = room.limit > 0 ? room.limit : INFINITY;
    size->is_limit_usual = room.is_usual;
    oif_pipeline_free(pipeline);
    return EXIT_OK;
}

exit_code fleet_size_estimate(const run_settings *settings, uint64_t keys, size_t columns,
                              uint64_t rows, fleet_size *size)
{
    trial t = {0};
    *size = (fleet_size){.keys = (double)keys};
    exit_code code = read_limit(settings, columns, size);
    if (code == EXIT_OK)
        code = start_trial(settings, columns, &t);
    if (code == EXIT_OK)
        code = try_keys(&t, keys, rows);
    if (code == EXIT_OK)
        multiply(&t, size);
    oif_pipeline_free(t.pipeline);
    free(t.row);
    return code;
}
