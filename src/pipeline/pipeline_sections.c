#include "pipeline/pipeline_sections.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "detect/params.h"
#include "snapshot/detector_sections.h"
#include "snapshot/names_section.h"

#include <string.h>

static const char keys_tag[] = "KEYS", derived_tag[] = "DERI", budget_tag[] = "BUDG",
                  seen_tag[] = "SEEN";

enum { COUNTS_BYTES = 32, DERIVATION_BYTES = 16 };

/* ---- Writing ---- */

static void write_counts(oif_section_writer *writer, const oif_pipeline *p,
                         const oif_pipeline_counts *counts)
{
    unsigned char payload[COUNTS_BYTES];
    oif_bytes bytes = oif_bytes_over(payload, sizeof payload);
    oif_bytes_put(&bytes, counts->keys, 8);
    oif_bytes_put(&bytes, counts->rows, 8);
    oif_bytes_put(&bytes, counts->evictions, 8);
    oif_bytes_put(&bytes, p->plan.count, 8);
    oif_section_writer_put(writer, keys_tag, payload, sizeof payload);
}

static void visit_derivation(oif_state_visitor *visitor, oif_derivation *derivation)
{
    uint64_t column = derivation->column;
    uint32_t kind = (uint32_t)derivation->kind, keeps = derivation->keeps;
    oif_visit_u64(visitor, "column", &column, 1);
    oif_visit_u32(visitor, "kind", &kind, 1);
    oif_visit_u32(visitor, "keeps", &keeps, 1);
    *derivation = (oif_derivation){(size_t)column, (oif_derive)kind, keeps != 0};
}

static void write_derivations(oif_section_writer *writer, const oif_derived_plan *plan)
{
    if (plan->count == 0)
        return;
    oif_section_writer_begin(writer, derived_tag, plan->count * DERIVATION_BYTES);
    for (size_t i = 0; i < plan->count; i++)
        visit_derivation(&writer->visitor, &plan->list[i]);
    oif_section_writer_end(writer);
}

void oif_pipeline_heading_write(oif_section_writer *writer, const char *tag,
                                const oif_pipeline *pipeline, const oif_pipeline_counts *counts)
{
    oif_params_section_write(writer, tag, &pipeline->options, pipeline->columns);
    oif_params_section_write(writer, OIF_SECTION_DETECTOR, &pipeline->params,
                             oif_pipeline_dimension(pipeline));
    oif_names_section_write(writer, pipeline->names);
    write_counts(writer, pipeline, counts);
    write_derivations(writer, &pipeline->plan);
}

void oif_key_section_write(oif_section_writer *writer, const char *tag, const char *key,
                           size_t key_bytes)
{
    oif_section_writer_begin(writer, tag, key_bytes);
    oif_visit_u8(&writer->visitor, "key", (uint8_t *)key, key_bytes); /* changes nothing */
    oif_section_writer_end(writer);
}

void oif_budget_section_write(oif_section_writer *writer, const oif_pipeline *p)
{
    oif_alert_budget budget = p->budget;
    oif_byte_counter counter = oif_byte_counter_new();
    if (budget.per_day == 0)
        return;
    oif_alert_budget_visit_fields(&budget, &counter.visitor);
    oif_section_writer_begin(writer, budget_tag, counter.bytes);
    oif_alert_budget_visit_fields(&budget, &writer->visitor);
    oif_section_writer_end(writer);
}

void oif_seen_section_write(oif_section_writer *writer, const oif_key_entry *entry)
{
    uint64_t seen[] = {entry->seen, entry->gap};
    oif_section_writer_begin(writer, seen_tag, sizeof seen);
    oif_visit_u64(&writer->visitor, "seen", seen, 2);
    oif_section_writer_end(writer);
}

void oif_pipeline_tail_write(oif_section_writer *writer, const oif_pipeline *pipeline)
{
    oif_rules_write(writer, pipeline->rules);
    oif_past_episodes_write(writer, pipeline->past);
    oif_roles_section_write(writer, pipeline->roles);
    oif_attachment_write(writer, &pipeline->attached);
}

/* ---- Reading ---- */

static oif_status init_options(oif_params *options, const char *name, oif_error *error)
{
    oif_pipeline_options_init(options);
    return strcmp(name, options->table->name) == 0 ? OIF_OK
                                                   : oif_fail(error, OIF_EPARAM, "not a pipeline");
}

static void read_counts(oif_section_reader *reader, const char *tag, oif_pipeline_heading *p)
{
    unsigned char payload[COUNTS_BYTES];
    oif_params_section_read(reader, tag, init_options, &p->options, &p->columns);
    oif_params_section_read(reader, OIF_SECTION_DETECTOR, oif_params_init, &p->params,
                            &p->dimension);
    p->names = oif_names_section_read(reader, p->columns, keys_tag);
    oif_bytes bytes =
        oif_bytes_over(payload, oif_section_reader_take(reader, payload, sizeof payload));
    p->counts.keys = oif_bytes_get(&bytes, 8);
    p->counts.rows = oif_bytes_get(&bytes, 8);
    p->counts.evictions = oif_bytes_get(&bytes, 8);
    p->derivations = oif_bytes_get(&bytes, 8);
    if (bytes.overrun || bytes.next != bytes.end || p->dimension > OIF_COLUMNS_MAX ||
        p->columns > p->dimension)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid", keys_tag);
}

/* Reads the derived columns. There are at most three per input column, so the dimension bounds the
 * memory. */
static void read_derivations(oif_section_reader *reader, oif_pipeline_heading *p)
{
    oif_error why;
    oif_derived_plan_init(&p->derived, (size_t)p->columns);
    if (p->derivations == 0 || reader->status != OIF_OK)
        return;
    oif_section_reader_expect(reader, derived_tag);
    if (p->derivations > p->dimension || reader->left != p->derivations * DERIVATION_BYTES)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' has the wrong size",
                                derived_tag);
    for (uint64_t i = 0; i < p->derivations && reader->status == OIF_OK; i++) {
        oif_derivation d = {0};
        visit_derivation(&reader->visitor, &d);
        if (reader->status == OIF_OK &&
            oif_derived_plan_add(&p->derived, d.column, d.kind, d.keeps, &why) != OIF_OK)
            oif_section_reader_fail(reader, why.status == OIF_EMEMORY ? OIF_EMEMORY : OIF_ECORRUPT,
                                    "%s", why.message);
    }
    oif_section_reader_end(reader);
}

void oif_pipeline_heading_read(oif_section_reader *reader, const char *tag,
                               oif_pipeline_heading *heading)
{
    read_counts(reader, tag, heading);
    read_derivations(reader, heading);
}

void oif_pipeline_heading_free(oif_pipeline_heading *heading)
{
    oif_model_packer_free(heading->packer);
    oif_column_names_free(heading->names);
    oif_derived_plan_free(&heading->derived);
}

oif_alert_budget oif_budget_section_read(oif_section_reader *reader, const oif_params *options)
{
    oif_alert_budget budget = {0};
    if (reader->status != OIF_OK)
        return budget; /* the options may be none */
    oif_alert_budget_init(&budget, oif_params_value(options, "alerts"));
    if (budget.per_day == 0)
        return budget;
    oif_section_reader_expect(reader, budget_tag);
    oif_alert_budget_visit_fields(&budget, &reader->visitor);
    oif_section_reader_end(reader);
    if (reader->status == OIF_OK && !oif_alert_budget_check(&budget))
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is invalid", budget_tag);
    return budget;
}

char *oif_key_section_read(oif_section_reader *reader, const char *tag, size_t *key_bytes)
{
    if (strcmp(reader->tag, tag) != 0) /* not open yet */
        oif_section_reader_expect(reader, tag);
    if (reader->left > OIF_KEY_MAX_BYTES)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "a key of %llu bytes is too long",
                                (unsigned long long)reader->left);
    if (reader->status != OIF_OK)
        return NULL;
    *key_bytes = (size_t)reader->left;
    char *key = oif_memory_new(*key_bytes + 1);
    if (!key) {
        oif_section_reader_fail(reader, OIF_EMEMORY, "no memory for a key of %zu bytes",
                                *key_bytes);
        return NULL;
    }
    oif_section_reader_take(reader, key, *key_bytes);
    return key;
}

void oif_seen_section_read(oif_section_reader *reader, uint64_t seen[2])
{
    oif_section_reader_expect(reader, seen_tag);
    oif_visit_u64(&reader->visitor, "seen", seen, 2);
    oif_section_reader_end(reader);
    (void)oif_section_reader_expect_either(reader, OIF_SECTION_PACKED, OIF_SECTION_STATE);
}

static void free_tail(oif_pipeline *p)
{
    oif_rules_free(p->rules);
    oif_past_episodes_free(p->past);
    oif_column_names_free(p->roles);
    oif_attachment_free(&p->attached);
    p->rules = NULL;
    p->past = NULL;
    p->roles = NULL;
}

void oif_pipeline_tail_read(oif_section_reader *reader, oif_pipeline *p)
{
    enum { RULES, PAST, ROLES, ATTACHED, END };
    static const char *const tags[] = {OIF_SECTION_RULES, OIF_SECTION_PAST, OIF_SECTION_ROLES,
                                       OIF_SECTION_ATTACHED, OIF_SECTION_END};
    size_t next = 0;
    free_tail(p);
    for (size_t first = RULES; reader->status == OIF_OK && next != END; first = next + 1) {
        next = first + oif_section_reader_expect_one(reader, tags + first, END + 1 - first);
        if (reader->status == OIF_OK && next == RULES)
            p->rules = oif_rules_read(reader);
        else if (reader->status == OIF_OK && next == PAST)
            p->past = oif_past_episodes_read(reader, p->rows, p->plan.derived_columns);
        else if (reader->status == OIF_OK && next == ROLES)
            p->roles = oif_roles_section_read(reader);
        else if (reader->status == OIF_OK && next == ATTACHED)
            oif_attachment_read(reader, &p->attached);
    }
    oif_section_reader_end(reader);
    oif_pipeline_update_asks(p);
}
