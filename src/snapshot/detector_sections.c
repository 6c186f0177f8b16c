#include "snapshot/detector_sections.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/memory.h"
#include "detect/detector.h"

#include <string.h>

enum {
    PARAMS_BYTES = 2560, /* at most: 48 parameters with names of up to 40 bytes */
    /* A detector has at most STATE_RATIO times the bytes of its state in a snapshot, plus
     * STATE_EXTRA_BYTES for what follows from its parameters. */
    STATE_RATIO = 6,
    STATE_EXTRA_BYTES = 1 << 16
};

/* ---- Parameters ---- */

size_t oif_params_section_write(oif_section_writer *writer, const char *tag,
                                const oif_params *params, uint64_t number)
{
    unsigned char payload[PARAMS_BYTES];
    oif_bytes bytes = oif_bytes_over(payload, sizeof payload);
    oif_bytes_put_text(&bytes, params->table->name);
    oif_bytes_put(&bytes, number, 8);
    oif_bytes_put(&bytes, params->table->param_count, 1);
    for (size_t i = 0; i < params->table->param_count; i++) {
        oif_bytes_put_text(&bytes, params->table->params[i].name);
        oif_bytes_put_f64(&bytes, params->values[i]);
    }
    size_t length = (size_t)(bytes.next - bytes.start);
    if (writer)
        oif_section_writer_put(writer, tag, payload, length);
    return length;
}

static void decode_params(oif_section_reader *reader, oif_bytes *bytes, oif_params *params)
{
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_error why;
    for (uint64_t left = oif_bytes_get(bytes, 1); left > 0 && !bytes->overrun; left--) {
        oif_bytes_get_text(bytes, name);
        double value = oif_bytes_get_f64(bytes);
        if (!bytes->overrun && oif_params_set(params, name, value, &why) != OIF_OK)
            oif_section_reader_fail(reader, OIF_EVERSION,
                                    "the parameters of the snapshot are invalid: %s", why.message);
    }
}

void oif_params_section_read(oif_section_reader *reader, const char *tag,
                             oif_params_init_function init, oif_params *params, uint64_t *number)
{
    unsigned char payload[PARAMS_BYTES];
    char name[OIF_BYTES_TEXT_MAX + 1];
    oif_section_reader_expect(reader, tag);
    oif_bytes bytes =
        oif_bytes_over(payload, oif_section_reader_take(reader, payload, sizeof payload));
    oif_bytes_get_text(&bytes, name);
    *number = oif_bytes_get(&bytes, 8);
    if (bytes.overrun || init(params, name, NULL) != OIF_OK) {
        oif_section_reader_fail(reader, OIF_EVERSION, "this version of oif has no detector '%s'",
                                oif_excerpt_of(name, name + strlen(name)).text);
        return;
    }
    decode_params(reader, &bytes, params);
    if (bytes.overrun || bytes.next != bytes.end)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid", tag);
}

/* ---- State ---- */

static void visit_all(oif_detector *const detectors[], size_t count, oif_state_visitor *visitor)
{
    for (size_t i = 0; i < count; i++)
        oif_detector_visit_fields(detectors[i], visitor);
}

uint64_t oif_state_section_bytes(oif_detector *const detectors[], size_t count)
{
    oif_byte_counter counter = oif_byte_counter_new();
    visit_all(detectors, count, &counter.visitor); /* changes nothing */
    return counter.bytes;
}

void oif_state_section_write(oif_section_writer *writer, oif_detector *const detectors[],
                             size_t count)
{
    oif_section_writer_begin(writer, OIF_SECTION_STATE, oif_state_section_bytes(detectors, count));
    visit_all(detectors, count, &writer->visitor); /* changes nothing */
    oif_section_writer_end(writer);
}

void oif_state_section_bound(oif_section_reader *reader, uint64_t state_bytes,
                             const oif_params params[], size_t count, size_t dimension)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = 0;
        oif_error why;
        oif_status status = oif_detector_estimate_bytes(&params[i], dimension, &bytes, &why);
        if (status != OIF_OK)
            oif_section_reader_fail(reader, status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT,
                                    "%s", why.message);
        total = oif_size_add(total, bytes);
    }
    size_t extra = count * STATE_EXTRA_BYTES;
    if (total > extra && (total - extra) / STATE_RATIO > state_bytes)
        oif_section_reader_fail(reader, OIF_ECORRUPT,
                                "a state of %llu bytes is too small for a detector of %zu bytes",
                                (unsigned long long)state_bytes, total);
}

void oif_state_section_read(oif_section_reader *reader, oif_detector *const detectors[],
                            size_t count)
{
    uint64_t expected = oif_state_section_bytes(detectors, count);
    oif_error why;
    if (reader->left != expected)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the state has %llu bytes instead of %llu",
                                (unsigned long long)reader->left, (unsigned long long)expected);
    visit_all(detectors, count, &reader->visitor);
    oif_section_reader_end(reader);
    for (size_t i = 0; i < count && reader->status == OIF_OK; i++)
        if (oif_detector_check(detectors[i], &why) != OIF_OK)
            oif_section_reader_fail(reader, OIF_ECORRUPT, "the state is inconsistent: %s",
                                    why.message);
}
