#include "pipeline/model/model_sections.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "detect/detector.h"
#include "snapshot/detector_sections.h"

#include <string.h>

static const char model_tag[] = "MODL";

static uint64_t payload_bytes(oif_model *model)
{
    oif_byte_counter counter = oif_byte_counter_new();
    oif_model_visit_fields(model, &counter.visitor);
    return counter.bytes;
}

uint64_t oif_model_sections_bytes(oif_model *model)
{
    return 2 * OIF_SECTION_BYTES +
           oif_state_section_bytes(model->detectors, model->detector_count) + payload_bytes(model);
}

void oif_model_sections_write(oif_section_writer *writer, oif_model *model)
{
    oif_state_section_write(writer, model->detectors, model->detector_count);
    oif_section_writer_begin(writer, model_tag, payload_bytes(model));
    oif_model_visit_fields(model, &writer->visitor);
    oif_section_writer_end(writer);
}

void oif_model_sections_read(oif_section_reader *reader, oif_model *model)
{
    oif_error why;
    oif_state_section_read(reader, model->detectors, model->detector_count);
    oif_section_reader_expect(reader, model_tag);
    if (reader->left != payload_bytes(model))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' has the wrong size",
                                model_tag);
    oif_model_visit_fields(model, &reader->visitor);
    oif_section_reader_end(reader);
    /* Reading their state has already checked the detectors, which takes most of the time. */
    if (reader->status == OIF_OK && oif_model_check_own(model, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the model is inconsistent: %s", why.message);
}

/* ---- Packed ---- */

enum { BLANK_PAYLOAD_BYTES = 12 };

static void visit_all_fields(oif_model *model, oif_state_visitor *visitor)
{
    for (size_t i = 0; i < model->detector_count; i++)
        oif_detector_visit_fields(model->detectors[i], visitor);
    oif_model_visit_fields(model, visitor);
}

uint64_t oif_model_field_bytes(oif_model *model)
{
    return oif_state_section_bytes(model->detectors, model->detector_count) + payload_bytes(model);
}

oif_status oif_model_packer_new(oif_model *blank, oif_model_packer **packer, oif_error *error)
{
    const size_t bytes = (size_t)oif_model_field_bytes(blank);
    size_t block_bytes = oif_size_align(sizeof(oif_model_packer));
    const size_t fields_at = oif_size_append(&block_bytes, bytes, 1),
                 packed_at = oif_size_append(&block_bytes, bytes + OIF_PACKED_SPARE_BYTES, 1);
    oif_model_packer *made = oif_memory_new(block_bytes);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory to pack models of %zu bytes", bytes);
    oif_field_summer sum = oif_field_summer_new();
    visit_all_fields(blank, &sum.visitor);
    made->blank = (oif_blank_fields){bytes, sum.checksum};
    made->blank_fields = (unsigned char *)made + fields_at;
    made->packed = (unsigned char *)made + packed_at;
    oif_field_packer_copy(&made->fields, made->blank_fields, bytes);
    visit_all_fields(blank, &made->fields.visitor);
    memset(made->packed, 0, bytes + OIF_PACKED_SPARE_BYTES);
    *packer = made;
    return OIF_OK;
}

void oif_model_packer_free(oif_model_packer *packer)
{
    oif_memory_free(packer);
}

void oif_blank_section_write(oif_section_writer *writer, const oif_model_packer *packer)
{
    unsigned char payload[BLANK_PAYLOAD_BYTES];
    oif_bytes bytes = oif_bytes_over(payload, sizeof payload);
    oif_bytes_put(&bytes, packer->blank.bytes, 8);
    oif_bytes_put(&bytes, packer->blank.checksum, 4);
    oif_section_writer_put(writer, OIF_SECTION_BLANK, payload, sizeof payload);
}

oif_blank_fields oif_blank_section_read(oif_section_reader *reader)
{
    unsigned char payload[BLANK_PAYLOAD_BYTES];
    oif_bytes bytes =
        oif_bytes_over(payload, oif_section_reader_take(reader, payload, sizeof payload));
    oif_blank_fields blank = {.bytes = oif_bytes_get(&bytes, 8)};
    blank.checksum = (uint32_t)oif_bytes_get(&bytes, 4);
    if (bytes.overrun || blank.bytes > OIF_PACKED_MOST_FIELD_BYTES)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid",
                                OIF_SECTION_BLANK);
    return blank;
}

void oif_packed_section_write(oif_section_writer *writer, oif_model_packer *packer,
                              oif_model *model)
{
    oif_field_packer *fields = &packer->fields;
    oif_field_packer_pack(fields, packer->blank_fields, packer->packed,
                          (size_t)packer->blank.bytes);
    visit_all_fields(model, &fields->visitor); /* changes nothing */
    const size_t bytes = oif_field_packer_end(fields, packer->packed);
    if (bytes == 0) {
        oif_model_sections_write(writer, model);
        return;
    }
    oif_section_writer_begin(writer, OIF_SECTION_PACKED, bytes);
    oif_visit_u8(&writer->visitor, "packed", packer->packed, bytes);
    oif_section_writer_end(writer);
}

void oif_packed_section_read(oif_section_reader *reader, oif_model_packer *packer, oif_model *model)
{
    oif_error why;
    const size_t bytes = oif_section_reader_take(reader, packer->packed, packer->blank.bytes);
    if (reader->status != OIF_OK)
        return;
    oif_field_packer_unpack(&packer->fields, packer->packed, bytes);
    visit_all_fields(model, &packer->fields.visitor);
    if (!oif_field_packer_is_whole(&packer->fields))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid",
                                OIF_SECTION_PACKED);
    if (reader->status == OIF_OK && oif_model_check(model, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the model is inconsistent: %s", why.message);
}
