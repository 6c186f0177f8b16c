/* The rows of `oif eval`: each goes through a pipeline for each detector and seed, as `oif score`
 * has it.
 *
 * A short input is judged as a whole there, so it is here, too: the first block has room for it.
 *
 * Rows are taken in blocks, which lets the clock be read once per block: time spent reading the
 * file and time spent in each detector are measured separately. All detectors take each block in
 * turn, so the file is read once and may be a pipe. Of a row only scores, labels, keys and times
 * are kept: 9 bytes for each detector and seed, up to 13 more for all. */
#include "eval.h"
#include "front/columns/row_source.h"
#include "front/columns/short_input.h"
#include "front/text/clock.h"
#include "front/text/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 256 };

typedef struct row_block {
    double *rows, *seconds;
    size_t stride, row_count, capacity;

    /* The keys of the rows, one after the other. */
    char *keys;
    size_t *key_ends, keys_capacity;
} row_block;

static exit_code complain_out_of_memory(void)
{
    return complain(EXIT_FAILED, "out of memory");
}

/* ---- Room ---- */

/* For one more block. */
static bool make_room(eval_run *evaluation)
{
    const input_columns *columns = &evaluation->input->columns;
    eval_rows *rows = &evaluation->rows;
    size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 16 * (size_t)BLOCK_ROWS;
    if (rows->count + SHORT_INPUT_ROWS_MAX <= rows->capacity)
        return true;
    bool has_memory = eval_rows_reserve(rows, capacity, columns->has_key, columns->has_time);
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        for (size_t run = 0; run < evaluation->run_count && has_memory; run++)
            has_memory = eval_try_reserve(&evaluation->contestants[i].tries[run], capacity);
    rows->capacity = has_memory ? capacity : rows->capacity;
    return has_memory;
}

/* ---- Scoring ---- */

static uint8_t marks_of(const oif_result *result)
{
    return (uint8_t)((result->anomaly ? ROW_IS_ALERT : 0) | (result->ready ? ROW_IS_READY : 0) |
                     (result->episode == OIF_EPISODE_BEGINS ? ROW_BEGINS_EPISODE : 0) |
                     ROW_GRADE * (int)result->grade);
}

/* For --report. The first detector's pipeline has the rows as all of them learn them. */
static exit_code trace_row(eval_run *evaluation, eval_try *try, size_t row,
                           const oif_result *result)
{
    uint32_t key = evaluation->rows.keys ? evaluation->rows.keys[row] : 0;
    if (!eval_trace_row(&try->trace, try->pipeline, row, key, result))
        return complain_out_of_memory();
    return try == evaluation->contestants[0].tries
               ? row_spool_add(&evaluation->spool, oif_pipeline_learned_row(try->pipeline))
               : EXIT_OK;
}

static exit_code take_result(eval_run *evaluation, eval_try *try, size_t row,
                             const oif_result *result)
{
    try->scores[row] = isnan(result->score) ? -INFINITY : result->score;
    try->marks[row] = marks_of(result);
    return try->is_traced ? trace_row(evaluation, try, row, result) : EXIT_OK;
}

static exit_code score_block(eval_run *evaluation, eval_try *try, const row_block *block)
{
    double started = clock_seconds();
    exit_code code = EXIT_OK;
    oif_result result = {.score = NAN};
    oif_error error;
    size_t start = 0, row = evaluation->rows.count;
    for (size_t i = 0; i < block->row_count && code == EXIT_OK; i++, row++) {
        size_t end = block->keys ? block->key_ends[i] : 0;
        if (oif_pipeline_process_at(try->pipeline, block->keys ? block->keys + start : NULL,
                                    end - start, block->seconds[i], block->rows + i * block->stride,
                                    &result, &error) != OIF_OK)
            return complain(EXIT_FAILED, "%s", error.message);
        code = take_result(evaluation, try, row, &result);
        start = end;
    }
    try->seconds += clock_seconds() - started;
    return code;
}

/* The rows of a table, of one detector. */
typedef struct table_rows {
    eval_run *evaluation;
    eval_try *try;
    exit_code code;
} table_rows;

static void take_table_row(void *context, oif_pipeline *pipeline, size_t row,
                           const oif_result *result)
{
    table_rows *table = context;
    (void)pipeline; /* it is that of the detector */
    if (table->code == EXIT_OK)
        table->code = take_result(table->evaluation, table->try, row, result);
}

/* A table that the pipeline refuses, as one with too few rows for a shingle, is a stream. */
static exit_code score_table(eval_run *evaluation, eval_try *try, const row_block *block)
{
    double started = clock_seconds();
    table_rows table = {evaluation, try, EXIT_OK};
    oif_table_info info;
    oif_result *results = calloc(block->row_count, sizeof *results);
    if (!results)
        return complain_out_of_memory();
    const oif_status status =
        oif_pipeline_process_table(try->pipeline, block->rows, block->row_count, block->stride,
                                   block->seconds, take_table_row, &table, results, &info, NULL);
    free(results);
    if (status != OIF_OK)
        return score_block(evaluation, try, block);
    try->seconds += clock_seconds() - started;
    return table.code;
}

/* The labels, keys and times of the block are in the rows already. */
static exit_code score_by_all(eval_run *evaluation, row_block *block, bool is_whole)
{
    exit_code code = EXIT_OK;
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        for (size_t run = 0; run < evaluation->run_count && code == EXIT_OK; run++)
            code = (is_whole ? score_table : score_block)(
                evaluation, &evaluation->contestants[i].tries[run], block);
    evaluation->rows.count += block->row_count;
    block->row_count = 0;
    block->capacity = BLOCK_ROWS;
    return code == EXIT_OK && !make_room(evaluation) ? complain_out_of_memory() : code;
}

/* ---- Reading ---- */

static bool add_key(row_block *block, oif_text key)
{
    size_t start = block->row_count > 0 ? block->key_ends[block->row_count - 1] : 0,
           end = start + key.bytes;
    if (end > block->keys_capacity || !block->keys) {
        size_t capacity = 2 * end + BLOCK_ROWS;
        char *keys = realloc(block->keys, capacity);
        if (!keys)
            return false;
        block->keys = keys;
        block->keys_capacity = capacity;
    }
    if (key.bytes > 0)
        memcpy(block->keys + start, key.text, key.bytes);
    block->key_ends[block->row_count] = end;
    return true;
}

static exit_code read_label(eval_run *evaluation, const oif_record *record, uint8_t *code)
{
    const run_input *input = evaluation->input;
    const input_columns *columns = &input->columns;
    return eval_labels_read(&evaluation->labels, input->reader, record, columns->label,
                            record->texts[columns->label_text], code);
}

static exit_code add_row(eval_run *evaluation, row_block *block, const oif_record *record)
{
    input_columns *columns = &evaluation->input->columns;
    eval_rows *rows = &evaluation->rows;
    exit_code code =
        block->row_count == block->capacity ? score_by_all(evaluation, block, false) : EXIT_OK;
    if (code != EXIT_OK)
        return code;
    size_t row = rows->count + block->row_count;
    code = read_label(evaluation, record, &rows->labels[row]);
    if (code != EXIT_OK)
        return code;
    if (columns->has_key) {
        oif_text key = key_columns_text(&columns->key, record);
        if (!add_key(block, key) || !eval_keys_number(&evaluation->keys, key, &rows->keys[row]))
            return complain_out_of_memory();
        stream_clock_set_key(&evaluation->times, key);
    }
    double seconds = NAN;
    if (columns->has_time)
        rows->seconds[row] = seconds =
            stream_clock_read(&evaluation->times, columns_time(columns, record), record->line);
    block->seconds[block->row_count] = seconds;
    memcpy(block->rows + block->row_count * block->stride,
           categories_row(&columns->categories, record), block->stride * sizeof *block->rows);
    block->row_count++;
    return EXIT_OK;
}

static exit_code read_rows(eval_run *evaluation, row_block *block, progress_line *progress)
{
    run_input *input = evaluation->input;
    exit_code code = EXIT_OK;
    oif_status status;
    oif_record record;
    oif_error error;
    while ((status = row_source_next(input, evaluation->settings->score.on_bad_row,
                                     &evaluation->bad, &record, &error)) == OIF_OK) {
        code = add_row(evaluation, block, &record);
        if (code != EXIT_OK)
            return code;
        progress_row(progress, input->source.bytes_read);
    }
    progress_end(progress);
    if (status != OIF_END)
        return input_complain(input, &error);
    const bool is_whole = evaluation->rows.count == 0 && block->row_count >= SHORT_INPUT_ROWS_MIN &&
                          short_input_rows_max(evaluation->settings, &input->columns) > 0;
    code = score_by_all(evaluation, block, is_whole);
    if (code == EXIT_OK && evaluation->rows.count == 0)
        return complain(EXIT_FAILED, "%s: there is a header but no rows", input->source.name);
    return code;
}

static bool make_block(row_block *block, size_t rows_max)
{
    block->capacity = rows_max > BLOCK_ROWS ? rows_max : BLOCK_ROWS;
    block->rows = calloc(block->capacity * block->stride, sizeof *block->rows);
    block->seconds = calloc(block->capacity, sizeof *block->seconds);
    block->key_ends = calloc(block->capacity, sizeof *block->key_ends);
    return block->rows && block->seconds && block->key_ends;
}

static void free_block(row_block *block)
{
    free(block->rows);
    free(block->seconds);
    free(block->keys);
    free(block->key_ends);
}

exit_code eval_stream(eval_run *evaluation)
{
    const run_input *input = evaluation->input;
    row_block block = {.stride = evaluation->column_count};
    double started = clock_seconds();
    progress_line progress = progress_start(input->source.files.total_bytes);
    const size_t rows_max = short_input_rows_max(evaluation->settings, &input->columns);
    exit_code code = make_block(&block, rows_max) && make_room(evaluation)
                         ? read_rows(evaluation, &block, &progress)
                         : complain_out_of_memory();
    free_block(&block);
    progress_end(&progress);
    evaluation->total_seconds = clock_seconds() - started;
    return code;
}
