/* A detector's snapshot: which detector it is ("DETE"), the names of its columns if they have
 * some ("NAME"), then all it has learned ("STAT"). The first is small and read as a whole, so
 * that nothing is believed, and nothing allocated, before its checksum is known to be right. */
#include "snapshot/detector_snapshot.h"

#include "base/bytes.h"
#include "base/error.h"
#include "detect/detector.h"
#include "snapshot/names_section.h"
#include "snapshot/savable.h"

enum {
    IDENTITY_BYTES = 2048, /* at most: sixteen parameters with names of up to a hundred bytes */
    /* a detector takes at most so many times the bytes of its state in a snapshot ... */
    STATE_RATIO = 6,
    STATE_ROOM = 1 << 16 /* ... and these: the rest of it follows from its parameters */
};

/* ---- Identities ---- */

size_t oif_identity_write(oif_snapshot_writer *writer, const char *tag, const oif_params *params,
                          uint64_t number)
{
    unsigned char payload[IDENTITY_BYTES];
    oif_bytes bytes = oif_bytes_over(payload, sizeof payload);
    oif_bytes_put_text(&bytes, params->info->name);
    oif_bytes_put(&bytes, number, 8);
    oif_bytes_put(&bytes, params->info->param_count, 1);
    for (size_t i = 0; i < params->info->param_count; i++) {
        oif_bytes_put_text(&bytes, params->info->params[i].name);
        oif_bytes_put_f64(&bytes, params->values[i]);
    }
    size_t length = (size_t)(bytes.next - bytes.start);
    if (writer)
        oif_writer_section(writer, tag, payload, length);
    return length;
}

static void decode_params(oif_snapshot_reader *reader, oif_bytes *bytes, oif_params *params)
{
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_error why;
    for (uint64_t left = oif_bytes_get(bytes, 1); left > 0 && !bytes->overrun; left--) {
        oif_bytes_get_text(bytes, name);
        double value = oif_bytes_get_f64(bytes);
        if (!bytes->overrun && oif_params_set(params, name, value, &why) != OIF_OK)
            oif_snapshot_fail(reader, OIF_EVERSION,
                              "this version of oif would not have written this: %s", why.message);
    }
}

void oif_identity_read(oif_snapshot_reader *reader, const char *tag, oif_kinds kinds,
                       oif_params *params, uint64_t *number)
{
    unsigned char payload[IDENTITY_BYTES];
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_snapshot_expect(reader, tag);
    oif_bytes bytes = oif_bytes_over(payload, oif_snapshot_take(reader, payload, sizeof payload));
    oif_bytes_get_text(&bytes, name);
    *number = oif_bytes_get(&bytes, 8);
    if (bytes.overrun || kinds(params, name, NULL) != OIF_OK) {
        oif_snapshot_fail(reader, OIF_EVERSION, "this version of oif has no detector '%.60s'",
                          name);
        return;
    }
    decode_params(reader, &bytes, params);
    if (bytes.overrun || bytes.next != bytes.end)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the section '%s' makes no sense", tag);
}

/* ---- States ---- */

uint64_t oif_state_bytes(const oif_detector *detector)
{
    oif_byte_counter counter = oif_byte_counter_new();
    oif_detector_visit_fields((oif_detector *)detector, &counter.visitor); /* looks at sizes only */
    return counter.bytes;
}

void oif_state_write(oif_snapshot_writer *writer, const oif_detector *detector)
{
    oif_writer_begin(writer, OIF_SECTION_STATE, oif_state_bytes(detector));
    oif_detector_visit_fields((oif_detector *)detector,
                              &writer->visitor); /* which only reads them */
    oif_writer_end(writer);
}

void oif_state_bound(oif_snapshot_reader *reader, const oif_params *params, size_t dimension)
{
    size_t bytes = 0;
    oif_error why;
    oif_status status = oif_detector_estimate_bytes(params, dimension, &bytes, &why);
    if (status != OIF_OK)
        oif_snapshot_fail(reader, status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT, "%s",
                          why.message);
    else if (bytes > STATE_ROOM && (bytes - STATE_ROOM) / STATE_RATIO > reader->left)
        oif_snapshot_fail(reader, OIF_ECORRUPT,
                          "a state of %llu bytes is too small for a detector of %zu bytes",
                          (unsigned long long)reader->left, bytes);
}

void oif_state_read(oif_snapshot_reader *reader, oif_detector *detector)
{
    uint64_t expected = oif_state_bytes(detector);
    oif_error why;
    if (reader->left != expected)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the state has %llu bytes instead of %llu",
                          (unsigned long long)reader->left, (unsigned long long)expected);
    oif_detector_visit_fields(detector, &reader->visitor);
    oif_snapshot_end(reader);
    if (reader->status == OIF_OK && oif_detector_check(detector, &why) != OIF_OK)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "the state does not hold together: %s",
                          why.message);
}

/* ---- Snapshots ---- */

size_t oif_detector_snapshot_bytes(const oif_detector *detector)
{
    return OIF_SNAPSHOT_HEADER_BYTES + 3 * OIF_SECTION_BYTES + (size_t)oif_state_bytes(detector) +
           oif_column_names_section_bytes(oif_detector_names(detector)) +
           oif_identity_write(NULL, OIF_SECTION_DETECTOR, oif_detector_params(detector),
                              oif_detector_dimension(detector));
}

oif_status oif_detector_save(const oif_detector *detector, oif_write_function write, void *context,
                             oif_error *error)
{
    oif_snapshot_writer writer;
    oif_writer_open(&writer, write, context, error);
    oif_identity_write(&writer, OIF_SECTION_DETECTOR, oif_detector_params(detector),
                       oif_detector_dimension(detector));
    oif_column_names_write(&writer, oif_detector_names(detector));
    oif_state_write(&writer, detector);
    return oif_writer_close(&writer);
}

static oif_detector *make_detector(oif_snapshot_reader *reader)
{
    oif_params params;
    uint64_t dimension;
    oif_detector *made = NULL;
    oif_error why;
    oif_identity_read(reader, OIF_SECTION_DETECTOR, oif_params_init, &params, &dimension);
    if (dimension > OIF_MAX_DIMENSION)
        oif_snapshot_fail(reader, OIF_ECORRUPT, "a row of %llu numbers is too long",
                          (unsigned long long)dimension);
    oif_column_names *names = oif_column_names_read(reader, dimension, OIF_SECTION_STATE);
    if (reader->status == OIF_OK)
        oif_state_bound(reader, &params, (size_t)dimension);
    if (reader->status == OIF_OK &&
        oif_detector_new(&params, (size_t)dimension, &made, &why) != OIF_OK)
        oif_snapshot_fail(reader, why.status, "%s", why.message);
    if (made)
        oif_detector_take_names(made, names);
    else
        oif_column_names_free(names);
    return made;
}

/* `bytes` as in oif_savable. */
static oif_status load_up_to(uint64_t bytes, oif_read_function read, void *context,
                             oif_detector **detector, oif_error *error)
{
    oif_snapshot_reader reader;
    oif_snapshot_open(&reader, read, context, error);
    reader.end = bytes;
    oif_detector *made = make_detector(&reader);
    if (made)
        oif_state_read(&reader, made);
    oif_snapshot_close(&reader);
    if (reader.status == OIF_OK)
        *detector = made;
    else
        oif_detector_free(made);
    return reader.status;
}

oif_status oif_detector_load(oif_read_function read, void *context, oif_detector **detector,
                             oif_error *error)
{
    return load_up_to(UINT64_MAX, read, context, detector, error);
}

/* ---- In memory ---- */

oif_status oif_detector_save_memory(const oif_detector *detector, void *bytes, size_t capacity,
                                    oif_error *error)
{
    size_t needed = oif_detector_snapshot_bytes(detector);
    oif_piece to = {bytes, (char *)bytes + capacity};
    if (capacity < needed)
        return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu",
                        needed, capacity);
    return oif_detector_save(detector, oif_piece_put, &to, error);
}

/* ---- As something that has snapshots ---- */

static oif_status save_detector(const void *detector, oif_write_function write, void *context,
                                oif_error *error)
{
    return oif_detector_save(detector, write, context, error);
}

static oif_status load_detector(uint64_t bytes, oif_read_function read, void *context,
                                void **detector, oif_error *error)
{
    oif_detector *made;
    oif_status status = load_up_to(bytes, read, context, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

static void free_detector(void *detector)
{
    oif_detector_free(detector);
}

static const oif_savable detectors = {save_detector, load_detector, free_detector};

oif_status oif_detector_load_memory(const void *bytes, size_t count, oif_detector **detector,
                                    oif_error *error)
{
    void *made;
    oif_status status = oif_savable_load_memory(&detectors, bytes, count, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_state_file_save(oif_state_file *file, const oif_detector *detector, oif_error *error)
{
    return oif_state_file_put(file, &detectors, detector, error);
}

oif_status oif_state_file_load(const oif_state_file *file, oif_detector **detector,
                               oif_error *error)
{
    void *made;
    oif_status status = oif_state_file_get(file, &detectors, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_detector_load_file(const char *path, oif_detector **detector, oif_error *error)
{
    void *made;
    oif_status status = oif_savable_load_file(&detectors, path, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_detector_save_file(const oif_detector *detector, const char *path, oif_error *error)
{
    oif_state_file *file = NULL;
    oif_status status = oif_state_file_open(path, &file, error);
    if (!file)
        return status;
    status = oif_state_file_save(file, detector, error);
    oif_state_file_close(file);
    return status;
}
