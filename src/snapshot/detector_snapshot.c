/* A detector's snapshot: which detector it is ("DETE"), the names of its columns if any ("NAME"),
 * then what it has learned ("STAT"). The first section is small and read as a whole, so its
 * checksum is verified before anything is allocated. */
#include "base/error.h"
#include "detect/detector.h"
#include "snapshot/detector_sections.h"
#include "snapshot/names_section.h"
#include "snapshot/state_file.h"
#include "snapshot/stored_in_memory.h"

/* ---- Snapshots ---- */

size_t oif_detector_snapshot_bytes(const oif_detector *detector)
{
    oif_detector *one = (oif_detector *)detector; /* not changed */
    return OIF_SNAPSHOT_HEADER_BYTES + 3 * OIF_SECTION_BYTES +
           (size_t)oif_state_section_bytes(&one, 1) +
           oif_names_section_bytes(oif_detector_names(detector)) +
           oif_params_section_write(NULL, OIF_SECTION_DETECTOR, oif_detector_params(detector),
                                    oif_detector_columns(detector));
}

oif_status oif_detector_save(const oif_detector *detector, oif_write_function write, void *context,
                             oif_error *error)
{
    oif_section_writer writer;
    oif_detector *one = (oif_detector *)detector; /* not changed */
    oif_section_writer_open(&writer, write, context, error);
    oif_params_section_write(&writer, OIF_SECTION_DETECTOR, oif_detector_params(detector),
                             oif_detector_columns(detector));
    oif_names_section_write(&writer, oif_detector_names(detector));
    oif_state_section_write(&writer, &one, 1);
    return oif_section_writer_close(&writer);
}

static oif_detector *make_detector(oif_section_reader *reader)
{
    oif_params params;
    uint64_t dimension;
    oif_detector *made = NULL;
    oif_error why;
    oif_params_section_read(reader, OIF_SECTION_DETECTOR, oif_params_init, &params, &dimension);
    if (dimension > OIF_COLUMNS_MAX)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a row of %llu numbers is too long",
                                (unsigned long long)dimension);
    oif_column_names *names = oif_names_section_read(reader, dimension, OIF_SECTION_STATE);
    if (reader->status == OIF_OK)
        oif_state_section_bound(reader, reader->left, &params, 1, (size_t)dimension);
    if (reader->status == OIF_OK &&
        oif_detector_new(&params, (size_t)dimension, &made, &why) != OIF_OK)
        oif_section_reader_fail(reader, why.status, "%s", why.message);
    if (made)
        oif_detector_take_names(made, names);
    else
        oif_column_names_free(names);
    return made;
}

/* `bytes` as in oif_stored_kind. */
static oif_status load_up_to(uint64_t bytes, oif_read_function read, void *context,
                             oif_detector **detector, oif_error *error)
{
    oif_section_reader reader;
    oif_section_reader_open(&reader, read, context, error);
    reader.end = bytes;
    oif_detector *made = make_detector(&reader);
    if (made)
        oif_state_section_read(&reader, &made, 1);
    oif_section_reader_close(&reader);
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

/* ---- Memory ---- */

oif_status oif_detector_save_memory(const oif_detector *detector, void *bytes, size_t capacity,
                                    oif_error *error)
{
    size_t needed = oif_detector_snapshot_bytes(detector);
    oif_memory_stream to = {bytes, (char *)bytes + capacity};
    if (capacity < needed)
        return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu",
                        needed, capacity);
    return oif_detector_save(detector, oif_memory_stream_write, &to, error);
}

/* ---- As a stored object ---- */

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

static const oif_stored_kind detectors = {save_detector, load_detector, free_detector};

oif_status oif_detector_load_memory(const void *bytes, size_t count, oif_detector **detector,
                                    oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_stored_load_memory(&detectors, bytes, count, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_state_file_save(oif_state_file *file, const oif_detector *detector, oif_error *error)
{
    return oif_state_file_save_object(file, &detectors, detector, error);
}

oif_status oif_state_file_load(const oif_state_file *file, oif_detector **detector,
                               oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_state_file_load_object(file, &detectors, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_detector_load_file(const char *path, oif_detector **detector, oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_stored_load_file(&detectors, path, &made, error);
    if (status == OIF_OK)
        *detector = made;
    return status;
}

oif_status oif_detector_save_file(const oif_detector *detector, const char *path, oif_error *error)
{
    return oif_stored_save_file(&detectors, detector, path, error);
}
