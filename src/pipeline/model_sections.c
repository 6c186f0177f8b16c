#include "pipeline/model_sections.h"

#include "snapshot/detector_sections.h"

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
        oif_section_reader_fail(reader, OIF_ECORRUPT,
                                "the section '%s' has another size than it should", model_tag);
    oif_model_visit_fields(model, &reader->visitor);
    oif_section_reader_end(reader);
    if (reader->status == OIF_OK && oif_model_check(model, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the model does not hold together: %s",
                                why.message);
}
