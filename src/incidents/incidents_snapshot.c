/* The snapshot of incidents (docs/snapshot-format.md describes the frame):
 *
 *     INCI    the options, and how many members there are
 *     INCM    the time, how many incidents began, and the members
 *
 * The memory of the loaded object follows from the options, whose ranges are checked. */
#include "base/error.h"
#include "incidents/incidents.h"
#include "snapshot/detector_sections.h"
#include "snapshot/stored_in_memory.h"

#include <string.h>

static const char options_tag[] = "INCI", members_tag[] = "INCM";

/* ---- Fields ---- */

static void visit_text(oif_state_visitor *visitor, const char *name, char *text, uint8_t *bytes,
                       size_t most)
{
    oif_visit_u8(visitor, name, bytes, 1);
    oif_visit_u8(visitor, name, (uint8_t *)text, *bytes < most ? *bytes : most);
}

static void visit_members(oif_incidents *incidents, oif_state_visitor *visitor)
{
    oif_visit_f64(visitor, "now", &incidents->now, 1);
    oif_visit_u64(visitor, "incidents", &incidents->incidents, 1);
    oif_visit_u64(visitor, "over", &incidents->over, 1);
    for (oif_member *m = incidents->members; m < incidents->members + incidents->count; m++) {
        oif_visit_u64(visitor, "incident", &m->incident, 1);
        oif_visit_u64(visitor, "episode", &m->episode, 1);
        oif_visit_u64(visitor, "hash", &m->hash, 1);
        oif_visit_f64(visitor, "seconds", &m->seconds, 1);
        oif_visit_f64(visitor, "end_seconds", &m->end_seconds, 1);
        oif_visit_f64(visitor, "severity", &m->severity, 1);
        visit_text(visitor, "stream", m->stream, &m->stream_bytes, sizeof m->stream);
        visit_text(visitor, "key", m->key, &m->key_bytes, sizeof m->key);
        visit_text(visitor, "column", m->column, &m->column_bytes, sizeof m->column);
        visit_text(visitor, "reason", m->reason, &m->reason_bytes, sizeof m->reason);
    }
}

/* ---- Saving ---- */

static uint64_t bytes_of_members(const oif_incidents *incidents)
{
    oif_byte_counter counter = oif_byte_counter_new();
    visit_members((oif_incidents *)incidents, &counter.visitor); /* changes nothing */
    return counter.bytes;
}

size_t oif_incidents_snapshot_bytes(const oif_incidents *incidents)
{
    return (size_t)(OIF_SNAPSHOT_HEADER_BYTES + 3 * OIF_SECTION_BYTES +
                    oif_params_section_write(NULL, options_tag, &incidents->options, 0) +
                    bytes_of_members(incidents));
}

oif_status oif_incidents_save_memory(const oif_incidents *incidents, void *bytes, size_t capacity,
                                     oif_error *error)
{
    oif_section_writer writer;
    oif_memory_stream to = {bytes, (char *)bytes + capacity};
    size_t needed = oif_incidents_snapshot_bytes(incidents);
    if (capacity < needed)
        return oif_fail(error, OIF_EPARAM, "the snapshot has %zu bytes and there is room for %zu",
                        needed, capacity);
    oif_section_writer_open(&writer, oif_memory_stream_write, &to, error);
    oif_params_section_write(&writer, options_tag, &incidents->options, incidents->count);
    oif_section_writer_begin(&writer, members_tag, bytes_of_members(incidents));
    visit_members((oif_incidents *)incidents, &writer.visitor); /* not changed */
    oif_section_writer_end(&writer);
    return oif_section_writer_close(&writer);
}

/* ---- Loading ---- */

static oif_incidents *make_incidents(oif_section_reader *reader)
{
    oif_params options;
    oif_incidents *made = NULL;
    oif_error why;
    uint64_t count = 0;
    oif_params_section_read(reader, options_tag, oif_incidents_options_named, &options, &count);
    if (reader->status == OIF_OK && oif_incidents_new(&options, &made, &why) != OIF_OK)
        oif_section_reader_fail(reader, why.status, "%s", why.message);
    if (made && count > made->max_members)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "there are more members than may be");
    if (made && reader->status == OIF_OK) {
        made->count = (uint32_t)count;
        memset(made->members, 0, made->count * sizeof *made->members);
    }
    return made;
}

static oif_status load(uint64_t bytes, oif_read_function read, void *context, void **object,
                       oif_error *error)
{
    oif_section_reader reader;
    oif_error why;
    oif_section_reader_open(&reader, read, context, error);
    reader.end = bytes;
    oif_incidents *made = make_incidents(&reader);
    if (made && reader.status == OIF_OK) {
        oif_section_reader_expect(&reader, members_tag);
        visit_members(made, &reader.visitor);
        oif_section_reader_end(&reader);
    }
    oif_section_reader_close(&reader);
    if (made && reader.status == OIF_OK && oif_incidents_check(made, &why) != OIF_OK)
        oif_section_reader_fail(&reader, OIF_ECORRUPT, "the snapshot is inconsistent: %s",
                                why.message);
    if (!made || reader.status != OIF_OK) {
        oif_incidents_free(made);
        return reader.status;
    }
    *object = made;
    return OIF_OK;
}

static void free_object(void *incidents)
{
    oif_incidents_free(incidents);
}

static const oif_stored_kind stored = {.load = load, .free = free_object};

oif_status oif_incidents_load_memory(const void *bytes, size_t count, oif_incidents **incidents,
                                     oif_error *error)
{
    void *made = NULL;
    oif_status status = oif_stored_load_memory(&stored, bytes, count, &made, error);
    if (status == OIF_OK)
        *incidents = made;
    return status;
}
