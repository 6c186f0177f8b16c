#include "row_block.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Records ---- */

row_block *row_block_new(const input_columns *columns)
{
    row_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->quiet_until = NAN;
    block->columns = columns->count;
    block->texts = columns->text_count;
    block->bytes = malloc(ROW_BLOCK_BYTES);
    block->rows = calloc(ROW_BLOCK_ROWS, (columns->count + 1) * sizeof *block->rows);
    if (block->bytes && block->rows)
        return block;
    row_block_free(block);
    return NULL;
}

void row_block_free(row_block *block)
{
    if (!block)
        return;
    row_block_empty(block);
    free(block->bytes);
    free(block->rows);
    free(block);
}

static size_t aligned(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Takes memory that the caller has checked is there. */
static void *take(row_block *block, size_t bytes)
{
    void *memory = block->bytes + block->bytes_used;
    block->bytes_used += aligned(bytes);
    return memory;
}

static const char *copy(row_block *block, const char *text, size_t bytes)
{
    char *made = take(block, bytes);
    if (bytes > 0)
        memcpy(made, text, bytes);
    return made;
}

static bool is_within(const oif_record *record, const oif_text *text)
{
    uintptr_t line = (uintptr_t)record->text, at = (uintptr_t)text->text;
    return text->text && at >= line && at <= line + record->text_bytes;
}

static size_t needed_bytes(const row_block *block, const oif_record *record, size_t key_bytes)
{
    size_t bytes = aligned(block->texts * sizeof(oif_text)) +
                   aligned(record->text_bytes + record->end_bytes) + aligned(key_bytes);
    for (size_t i = 0; i < block->texts; i++)
        bytes += is_within(record, &record->texts[i]) ? 0 : aligned(record->texts[i].bytes);
    return bytes;
}

/* Texts within the line keep their place in it: the byte before a text can show what it is. */
static void copy_texts(row_block *block, const oif_record *record, const char *line,
                       oif_text texts[])
{
    for (size_t i = 0; i < block->texts; i++) {
        const oif_text *text = &record->texts[i];
        texts[i].bytes = text->bytes;
        texts[i].text = is_within(record, text) ? line + (text->text - record->text)
                                                : copy(block, text->text, text->bytes);
    }
}

bool row_block_add(row_block *block, const oif_record *record, oif_text key, double seconds)
{
    const size_t at = block->count;
    if (at == ROW_BLOCK_ROWS ||
        needed_bytes(block, record, key.bytes) > ROW_BLOCK_BYTES - block->bytes_used)
        return false;
    oif_record *kept = &block->waiting[at].record;
    double *values = block->rows + at * block->columns;
    oif_text *texts = take(block, block->texts * sizeof *texts);
    *kept = *record;
    memcpy(values, record->values, block->columns * sizeof *values);
    kept->values = values;
    kept->text = copy(block, record->text, record->text_bytes + record->end_bytes);
    copy_texts(block, record, kept->text, texts);
    kept->texts = texts;
    block->keys[at] = key.bytes > 0 ? copy(block, key.text, key.bytes) : NULL;
    block->key_bytes[at] = key.bytes;
    block->seconds[at] = seconds;
    block->waiting[at].kept = NULL;
    block->waiting[at].is_short = false;
    block->count++;
    return true;
}

void row_block_empty(row_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        free(block->waiting[i].kept);
    block->count = 0;
    block->bytes_used = 0;
    block->quiet_until = NAN;
}

/* ---- Verdicts ---- */

kept_verdict *kept_verdict_make(const result_fields *fields, oif_pipeline *pipeline,
                                const oif_result *result, double seconds, bool is_judged)
{
    const size_t count = fields->column_count;
    kept_verdict *kept = malloc(sizeof *kept + count * (sizeof(double) + sizeof(oif_attribution) +
                                                        sizeof(oif_expected) + sizeof(size_t)));
    if (!kept)
        return NULL;
    kept->fields = *fields;
    kept->fields.attributions = (oif_attribution *)(void *)(kept->numbers + count);
    kept->fields.expected = (oif_expected *)(void *)(kept->fields.attributions + count);
    kept->fields.order = (size_t *)(void *)(kept->fields.expected + count);
    kept->verdict = (row_verdict){.result = *result, .fields = &kept->fields, .seconds = seconds};
    result_fields_follow(&kept->fields, pipeline, result);
    if (!is_judged)
        return kept;
    kept->verdict = result_fields_judge(&kept->fields, pipeline, result, seconds);
    if (kept->verdict.values) {
        memcpy(kept->numbers, kept->verdict.values, count * sizeof *kept->numbers);
        kept->verdict.values = kept->numbers;
    }
    return kept;
}
