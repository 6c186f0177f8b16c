/* A detector's snapshot: which detector it is ("DETE"), then all it has learned ("STAT"). The first is small and read as a
 * whole, so that nothing is believed, and nothing allocated, before its checksum is known to be right. */
#include "base/bytes.h"
#include "base/error.h"
#include "detect/detector.h"
#include "snapshot/sections.h"

#include <stdio.h>

static const char identity_tag[] = "DETE", state_tag[] = "STAT";

enum {
    IDENTITY_BYTES = 2048, /* of any detector: sixteen parameters with names of up to a hundred bytes */
    STATE_RATIO = 4,     /* a detector takes at most so many times the bytes of its state in a snapshot ... */
    STATE_ROOM = 1 << 16 /* ... and these: the rest of it follows from its parameters */
};

/* ---- Saving ---- */

static size_t encode_identity(const oif_detector *detector, unsigned char buffer[IDENTITY_BYTES])
{
    const oif_params *params = oif_detector_params(detector);
    oif_bytes bytes = oif_bytes_over(buffer, IDENTITY_BYTES);
    oif_bytes_put_text(&bytes, params->info->name);
    oif_bytes_put(&bytes, oif_detector_dimension(detector), 8);
    oif_bytes_put(&bytes, params->info->param_count, 1);
    for (size_t i = 0; i < params->info->param_count; i++) {
        oif_bytes_put_text(&bytes, params->info->params[i].name);
        oif_bytes_put_f64(&bytes, params->values[i]);
    }
    return (size_t)(bytes.next - bytes.start);
}

static uint64_t count_state(const oif_detector *detector)
{
    oif_field_counter counter = oif_field_counter_new();
    oif_detector_tell_fields((oif_detector *)detector, &counter.fields); /* looks at sizes only */
    return counter.bytes;
}

size_t oif_detector_snapshot_bytes(const oif_detector *detector)
{
    unsigned char identity[IDENTITY_BYTES];
    return OIF_SNAPSHOT_HEADER_BYTES + 3 * OIF_SECTION_BYTES + encode_identity(detector, identity) +
           (size_t)count_state(detector);
}

oif_status oif_detector_save(const oif_detector *detector, oif_write_function write, void *context,
                             oif_error *error)
{
    unsigned char identity[IDENTITY_BYTES];
    size_t identity_bytes = encode_identity(detector, identity);
    oif_snapshot_writer writer;
    oif_writer_open(&writer, write, context, error);
    oif_writer_section(&writer, identity_tag, identity, identity_bytes);
    oif_writer_begin(&writer, state_tag, count_state(detector));
    oif_detector_tell_fields((oif_detector *)detector, &writer.fields); /* which only reads them */
    oif_writer_end(&writer);
    return oif_writer_close(&writer);
}

/* ---- Loading ---- */

static void decode_params(oif_snapshot_reader *reader, oif_bytes *bytes, oif_params *params)
{
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_error why;
    for (uint64_t left = oif_bytes_get(bytes, 1); left > 0 && !bytes->overrun; left--) {
        oif_bytes_get_text(bytes, name);
        double value = oif_bytes_get_f64(bytes);
        if (!bytes->overrun && oif_params_set(params, name, value, &why) != OIF_OK)
            oif_snapshot_fail(reader, OIF_EVERSION, "this version of oif would not have written this: %s",
                              why.message);
    }
}

static void decode_identity(oif_snapshot_reader *reader, oif_params *params, size_t *dimension)
{
    unsigned char payload[IDENTITY_BYTES];
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_snapshot_expect(reader, identity_tag);
    oif_bytes bytes = oif_bytes_over(payload, oif_snapshot_take(reader, payload, sizeof payload));
    oif_bytes_get_text(&bytes, name);
    uint64_t numbers = oif_bytes_get(&bytes, 8);
    if (bytes.overrun || oif_params_init(params, name, NULL) != OIF_OK) {
        oif_snapshot_fail(reader, OIF_EVERSION, "this version of oif has no detector '%.60s'", name);
        return;
    }
    decode_params(reader, &bytes, params);
    if (bytes.overrun || bytes.next != bytes.end || numbers > OIF_MAX_DIMENSION)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the section '%s' makes no sense", identity_tag);
    *dimension = (size_t)numbers;
}

/* Makes the detector if the state that follows is large enough to be its own. */
static void make_detector(oif_snapshot_reader *reader, const oif_params *params, size_t dimension,
                          oif_detector **made)
{
    size_t bytes = 0;
    oif_error why;
    oif_status status = oif_detector_estimate_bytes(params, dimension, &bytes, &why);
    if (status == OIF_OK && bytes > STATE_ROOM && (bytes - STATE_ROOM) / STATE_RATIO > reader->left)
        oif_snapshot_fail(reader, OIF_ECORRUPT,
                          "a state of %llu bytes is too small for a detector of %zu bytes",
                          (unsigned long long)reader->left, bytes);
    else if (status == OIF_OK)
        status = oif_detector_new(params, dimension, made, &why);
    if (status != OIF_OK)
        oif_snapshot_fail(reader, status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT, "%s", why.message);
}

static void load_state(oif_snapshot_reader *reader, oif_detector *detector)
{
    uint64_t expected = count_state(detector);
    oif_error why;
    if (reader->left != expected)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the state has %llu bytes instead of %llu",
                          (unsigned long long)reader->left, (unsigned long long)expected);
    oif_detector_tell_fields(detector, &reader->fields);
    oif_snapshot_end(reader);
    if (reader->status == OIF_OK && oif_detector_check(detector, &why) != OIF_OK)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the state does not hold together: %s", why.message);
}

oif_status oif_detector_load(oif_read_function read, void *context, oif_detector **detector, oif_error *error)
{
    oif_snapshot_reader reader;
    oif_params params;
    size_t dimension = 0;
    oif_detector *made = NULL;
    oif_snapshot_open(&reader, read, context, error);
    if (reader.status == OIF_OK)
        decode_identity(&reader, &params, &dimension);
    oif_snapshot_expect(&reader, state_tag);
    if (reader.status == OIF_OK)
        make_detector(&reader, &params, dimension, &made);
    if (reader.status == OIF_OK)
        load_state(&reader, made);
    oif_snapshot_expect(&reader, OIF_SECTION_END);
    oif_snapshot_take(&reader, NULL, 0);
    if (reader.status == OIF_OK)
        *detector = made;
    else
        oif_detector_free(made);
    return reader.status;
}

/* ---- In memory ---- */

static ptrdiff_t put_into_memory(void *context, const char *bytes, size_t count)
{
    char **next = context;
    memcpy(*next, bytes, count);
    *next += count;
    return (ptrdiff_t)count;
}

oif_status oif_detector_save_memory(const oif_detector *detector, void *bytes, size_t capacity,
                                    oif_error *error)
{
    size_t needed = oif_detector_snapshot_bytes(detector);
    char *next = bytes;
    if (capacity < needed)
        return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu", needed,
                        capacity);
    return oif_detector_save(detector, put_into_memory, &next, error);
}

typedef struct piece {
    const char *next, *end;
} piece;

static ptrdiff_t take_from_memory(void *context, char *buffer, size_t capacity)
{
    piece *from = context;
    size_t left = (size_t)(from->end - from->next), count = left < capacity ? left : capacity;
    memcpy(buffer, from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

oif_status oif_detector_load_memory(const void *bytes, size_t count, oif_detector **detector,
                                    oif_error *error)
{
    piece from = {bytes, (const char *)bytes + count};
    oif_detector *made;
    oif_status status = oif_detector_load(take_from_memory, &from, &made, error);
    if (status != OIF_OK)
        return status;
    if (from.next != from.end) {
        size_t read = count - (size_t)(from.end - from.next);
        oif_detector_free(made);
        return oif_fail_at(error, OIF_ECORRUPT, 0, read, "byte %zu: the snapshot ends here, but bytes follow",
                           read);
    }
    *detector = made;
    return OIF_OK;
}
