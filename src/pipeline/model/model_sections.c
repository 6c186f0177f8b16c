#include "pipeline/model/model_sections.h"

#include "snapshot/detector_sections.h"

static const char model_tag[] = "MODL";

/* without_alerts: for snapshots written before alerts had their own fields. */
static uint64_t payload_bytes(oif_model *model, bool without_alerts, uint32_t format)
{
    oif_byte_counter counter = oif_byte_counter_new(format);
    oif_model_visit_fields(model, &counter.visitor);
    if (!without_alerts)
        oif_alerts_visit_fields(&model->alerts, &counter.visitor);
    return counter.bytes;
}

uint64_t oif_model_sections_bytes(oif_model *model)
{
    return 2 * OIF_SECTION_BYTES +
           oif_state_section_bytes(model->detectors, model->detector_count, 0) +
           payload_bytes(model, false, 0);
}

void oif_model_sections_write(oif_section_writer *writer, oif_model *model)
{
    oif_state_section_write(writer, model->detectors, model->detector_count);
    oif_section_writer_begin(writer, model_tag, payload_bytes(model, false, 0));
    oif_model_visit_fields(model, &writer->visitor);
    oif_alerts_visit_fields(&model->alerts, &writer->visitor);
    oif_section_writer_end(writer);
}

void oif_model_sections_read(oif_section_reader *reader, oif_model *model)
{
    oif_error why;
    oif_state_section_read(reader, model->detectors, model->detector_count);
    oif_section_reader_expect(reader, model_tag);
    const uint32_t format = reader->visitor.format;
    bool without_alerts = reader->left == payload_bytes(model, true, format);
    if (!without_alerts && reader->left != payload_bytes(model, false, format))
        oif_section_reader_fail(reader, OIF_ECORRUPT,
                                "the section '%s' has another size than it should", model_tag);
    oif_model_visit_fields(model, &reader->visitor);
    if (without_alerts)
        oif_alerts_assume(&model->alerts, model->rows);
    else
        oif_alerts_visit_fields(&model->alerts, &reader->visitor);
    oif_section_reader_end(reader);
    /* Reading their state has already checked the detectors, which takes most of the time. */
    if (reader->status == OIF_OK && oif_model_check_own(model, &why) != OIF_OK)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the model is inconsistent: %s", why.message);
}
