/* The snapshot of incidents (docs/snapshot-format.md describes the frame):
 *
 *     INCI    the options, and how many incidents it has
 *     INCD    times in doubt, if the last one was
 *     INCS    the clock and the evidence
 *     INCM    one section per incident: its traits and members
 *
 * The memory of the loaded object follows from the options, whose ranges are checked; what an
 * incident claims to have is compared with that before it is read. */
#include "base/error.h"
#include "incidents/incidents.h"
#include "snapshot/detector_sections.h"
#include "snapshot/stored_in_memory.h"

#include <string.h>

static const char options_tag[] = "INCI", doubt_tag[] = "INCD", clock_tag[] = "INCS",
                  incident_tag[] = "INCM";

/* ---- Fields ---- */

static void visit_clock(oif_incidents *incidents, oif_state_visitor *visitor)
{
    oif_evidence *evidence = &incidents->evidence;
    uint8_t has_seconds = incidents->has_seconds;
    oif_visit_u8(visitor, "has_seconds", &has_seconds, 1);
    incidents->has_seconds = has_seconds != 0;
    oif_visit_f64(visitor, "now", &incidents->now, 1);
    oif_visit_u64(visitor, "incidents", &incidents->incidents, 1);
    oif_visit_f64(visitor, "counted", &evidence->counted, 1);
    oif_visit_f64(visitor, "elapsed", &evidence->elapsed, 1);
    oif_visit_f64(visitor, "rate_seconds", &evidence->rate_seconds, 1);
    oif_visit_f64(visitor, "last_begin", &evidence->last_begin, 1);
    oif_visit_f64(visitor, "gaps", evidence->gaps, OIF_GAPS);
    oif_visit_u64(visitor, "gap_count", &evidence->gap_count, 1);
    oif_visit_f64(visitor, "share_total", &evidence->share_total, 1);
    oif_visit_u64(visitor, "hashes", evidence->hashes[0], (size_t)OIF_SHARE_SETS * OIF_SHARE_WAYS);
    oif_visit_f64(visitor, "weights", evidence->weights[0],
                  (size_t)OIF_SHARE_SETS * OIF_SHARE_WAYS);
}

static void visit_head(oif_incident *incident, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "number", &incident->number, 1);
    oif_visit_u32(visitor, "state", &incident->state, 1);
    oif_visit_u32(visitor, "kept", &incident->kept, 1);
    oif_visit_u32(visitor, "open", &incident->open, 1);
    oif_visit_f64(visitor, "first_begin", &incident->first_begin, 1);
    oif_visit_f64(visitor, "last_begin", &incident->last_begin, 1);
    oif_visit_f64(visitor, "last_event", &incident->last_event, 1);
    oif_visit_f64(visitor, "peak_severity", &incident->peak_severity, 1);
    oif_visit_u64(visitor, "members", &incident->traits.members, 1);
    oif_visit_u32(visitor, "traits", &incident->traits.count, 1);
}

static void visit_text(oif_state_visitor *visitor, const char *name, char *text, uint8_t *bytes,
                       size_t most)
{
    oif_visit_u8(visitor, name, bytes, 1);
    oif_visit_u8(visitor, name, (uint8_t *)text, *bytes < most ? *bytes : most);
}

static void visit_lists(oif_incident *incident, oif_state_visitor *visitor)
{
    for (uint32_t i = 0; i < incident->traits.count; i++) {
        oif_trait *trait = &incident->traits.traits[i];
        oif_visit_u64(visitor, "hash", &trait->hash, 1);
        oif_visit_u64(visitor, "members", &trait->members, 1);
        oif_visit_u8(visitor, "kind", &trait->kind, 1);
        visit_text(visitor, "text", trait->text, &trait->bytes, OIF_TRAIT_TEXT_BYTES);
    }
    for (uint32_t i = 0; i < incident->kept; i++) {
        oif_member *member = &incident->members[i];
        oif_visit_u64(visitor, "hash", &member->hash, 1);
        oif_visit_f64(visitor, "seconds", &member->seconds, 1);
        oif_visit_f64(visitor, "end_seconds", &member->end_seconds, 1);
        oif_visit_f64(visitor, "severity", &member->severity, 1);
        oif_visit_u64(visitor, "episode", &member->episode, 1);
        visit_text(visitor, "stream", member->stream, &member->stream_bytes,
                   OIF_INCIDENT_TEXT_BYTES);
        visit_text(visitor, "key", member->key, &member->key_bytes, OIF_INCIDENT_TEXT_BYTES);
        visit_text(visitor, "column", member->column, &member->column_bytes,
                   OIF_INCIDENT_TEXT_BYTES);
    }
}

/* ---- Saving ---- */

static uint64_t bytes_of_clock(oif_incidents *incidents)
{
    oif_byte_counter counter = oif_byte_counter_new();
    visit_clock(incidents, &counter.visitor); /* changes nothing */
    return counter.bytes;
}

static uint64_t bytes_of(oif_incident *incident)
{
    oif_byte_counter counter = oif_byte_counter_new();
    visit_head(incident, &counter.visitor); /* changes nothing */
    visit_lists(incident, &counter.visitor);
    return counter.bytes;
}

static uint64_t count_slots(const oif_incidents *incidents)
{
    uint64_t count = 0;
    for (const oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        count += i->state != OIF_INCIDENT_FREE;
    return count;
}

static void write_doubt(oif_section_writer *writer, int32_t doubted)
{
    if (doubted == 0)
        return;
    oif_section_writer_begin(writer, doubt_tag, sizeof doubted);
    oif_visit_i32(&writer->visitor, "doubted", &doubted, 1);
    oif_section_writer_end(writer);
}

size_t oif_incidents_snapshot_bytes(const oif_incidents *incidents)
{
    uint64_t bytes = OIF_SNAPSHOT_HEADER_BYTES + 3 * OIF_SECTION_BYTES +
                     oif_params_section_write(NULL, options_tag, &incidents->options, 0) +
                     bytes_of_clock((oif_incidents *)incidents); /* not changed */
    if (incidents->doubted != 0)
        bytes += OIF_SECTION_BYTES + sizeof incidents->doubted;
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++)
        if (i->state != OIF_INCIDENT_FREE)
            bytes += OIF_SECTION_BYTES + bytes_of(i);
    return (size_t)bytes;
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
    oif_incidents *same = (oif_incidents *)incidents; /* not changed */
    oif_section_writer_open(&writer, oif_memory_stream_write, &to, error);
    oif_params_section_write(&writer, options_tag, &incidents->options, count_slots(incidents));
    write_doubt(&writer, incidents->doubted);
    oif_section_writer_begin(&writer, clock_tag, bytes_of_clock(same));
    visit_clock(same, &writer.visitor);
    oif_section_writer_end(&writer);
    for (oif_incident *i = incidents->slots; i < oif_incidents_slots_end(incidents); i++) {
        if (i->state == OIF_INCIDENT_FREE)
            continue;
        oif_section_writer_begin(&writer, incident_tag, bytes_of(i));
        visit_head(i, &writer.visitor);
        visit_lists(i, &writer.visitor);
        oif_section_writer_end(&writer);
    }
    return oif_section_writer_close(&writer);
}

/* ---- Loading ---- */

static void read_incident(oif_section_reader *reader, const oif_incidents *incidents,
                          oif_incident *incident)
{
    oif_section_reader_expect(reader, incident_tag);
    visit_head(incident, &reader->visitor);
    if (incident->kept > incidents->max_members ||
        incident->traits.count > OIF_INCIDENT_TRAITS_MAX || incident->state == OIF_INCIDENT_FREE) {
        oif_section_reader_fail(reader, OIF_ECORRUPT, "an incident does not fit its options");
        incident->kept = incident->traits.count = 0;
    }
    if (reader->status == OIF_OK) {
        memset(incident->members, 0, incident->kept * sizeof *incident->members);
        visit_lists(incident, &reader->visitor);
    }
    oif_section_reader_end(reader);
}

static void read_clock(oif_section_reader *reader, oif_incidents *incidents)
{
    if (oif_section_reader_expect_either(reader, doubt_tag, clock_tag)) {
        oif_visit_i32(&reader->visitor, "doubted", &incidents->doubted, 1);
        oif_section_reader_end(reader);
        oif_section_reader_expect(reader, clock_tag);
    }
    visit_clock(incidents, &reader->visitor);
    oif_section_reader_end(reader);
}

static oif_incidents *make_incidents(oif_section_reader *reader, uint64_t *count)
{
    oif_params options;
    oif_incidents *made = NULL;
    oif_error why;
    oif_params_section_read(reader, options_tag, oif_incidents_options_named, &options, count);
    if (reader->status == OIF_OK && oif_incidents_new(&options, &made, &why) != OIF_OK)
        oif_section_reader_fail(reader, why.status, "%s", why.message);
    if (made && *count > 2 * (uint64_t)made->max_incidents)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "there are more incidents than may be");
    return made;
}

static oif_status load(uint64_t bytes, oif_read_function read, void *context, void **object,
                       oif_error *error)
{
    oif_section_reader reader;
    uint64_t count = 0;
    oif_error why;
    oif_section_reader_open(&reader, read, context, error);
    reader.end = bytes;
    oif_incidents *made = make_incidents(&reader, &count);
    if (made && reader.status == OIF_OK)
        read_clock(&reader, made);
    for (uint64_t i = 0; made && i < count && reader.status == OIF_OK; i++)
        read_incident(&reader, made, &made->slots[i]);
    oif_section_reader_close(&reader);
    if (made && reader.status == OIF_OK && oif_incidents_check(made, &why) != OIF_OK)
        oif_section_reader_fail(&reader, OIF_ECORRUPT, "the snapshot is inconsistent: %s",
                                why.message);
    if (!made || reader.status != OIF_OK) {
        oif_incidents_free(made);
        return reader.status;
    }
    made->next_due = -1e308; /* found by the first event */
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
