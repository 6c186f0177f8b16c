#define _GNU_SOURCE /* sched_getaffinity */
#include "scoring_run.h"

#include "front/text/signals.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS_MAX = 8 }; /* more gain little, and each has memory of its own */

/* ---- Blocks ---- */

/* On the thread that has processed the row. */
static void keep_verdict(void *context, oif_pipeline *pipeline, size_t row,
                         const oif_result *result)
{
    scoring_run *scoring = context;
    row_block *block = scoring->block;
    waiting_row *waiting = &block->waiting[row];
    waiting->is_short = key_room_is_short(&scoring->room, pipeline, result);
    if (!result->anomaly && result->episode == OIF_EPISODE_NONE)
        return;
    const bool is_judged =
        scored_row_is_wanted(scoring, result) || scored_row_is_acted_on(scoring, result);
    waiting->kept =
        kept_verdict_make(&scoring->fields, pipeline, result, block->seconds[row], is_judged);
    if (!waiting->kept)
        scoring->is_memory_short = true;
}

static bool write_waiting(scoring_run *scoring, size_t i)
{
    const row_block *block = scoring->block;
    const waiting_row *waiting = &block->waiting[i];
    const key_room *room = &scoring->room;
    const scored_row row = {.record = &waiting->record,
                            .key = {block->keys[i], block->key_bytes[i]},
                            .seconds = block->seconds[i],
                            .result = &block->results[i],
                            .kept = waiting->kept,
                            .is_in_block = true};
    bool is_reported =
        row.result->has_no_model ? room->is_full_reported : room->is_restart_reported;
    scored_row_note(scoring, &row, waiting->is_short && !is_reported);
    if (!scored_row_write(scoring, &row))
        return false;
    scored_row_finish(scoring);
    return true;
}

bool scoring_threads_flush(void *context)
{
    scoring_run *scoring = context;
    row_block *block = scoring->block;
    size_t done = 0;
    if (block->count == 0 || scoring->is_over)
        return !scoring->is_over;
    scoring->block_status = oif_pipeline_process_rows_with(
        scoring->state->pipeline, block->rows, block->count, block->columns, block->keys,
        block->key_bytes, block->seconds, keep_verdict, scoring, block->results, &done,
        &scoring->block_error);
    scoring->block_error.line = 0; /* it is the row of the block */
    bool is_written = !scoring->is_memory_short;
    if (!is_written)
        state_discard(scoring->state); /* it knows rows that will never be written */
    for (size_t i = 0; i < done && is_written; i++)
        is_written = write_waiting(scoring, i);
    row_block_empty(block);
    scoring->is_over = !is_written || scoring->block_status != OIF_OK || signals_stop_requested();
    if (!scoring->is_over)
        scored_row_save(scoring);
    return !scoring->is_over;
}

/* The state is saved after exactly as many rows as were asked for. */
static bool is_block_full(const scoring_run *scoring)
{
    const kept_state *state = scoring->state;
    return scoring->block->count == ROW_BLOCK_ROWS ||
           (state->rows_between_saves > 0 &&
            state->rows_unsaved + scoring->block->count >= state->rows_between_saves);
}

/* ---- Silence ---- */

/* Up to this time of the stream no key becomes silent, and rows can wait. */
static double quiet_until(scoring_run *scoring)
{
    row_block *block = scoring->block;
    if (isnan(block->quiet_until))
        block->quiet_until = oif_pipeline_next_silence(scoring->state->pipeline);
    return block->quiet_until;
}

/* Before a row waits: if a key may be silent by its time, the rows before it are written first. */
static void advance_time(scoring_run *scoring, double seconds)
{
    if (!scoring->silence.is_wanted)
        return;
    silence_monitor_arrive(&scoring->silence);
    if (!silence_clock_row(&scoring->silence.clock, seconds) || seconds <= quiet_until(scoring))
        return;
    if (!scoring_threads_flush(scoring))
        return;
    row_session_look(&scoring->session, seconds);
    scoring->block->quiet_until = NAN;
}

static bool add_row(scoring_run *scoring, const session_row *row)
{
    row_block *block = scoring->block;
    if (!row_block_add(block, row->record, row->key, row->seconds))
        return false;
    if (scoring->silence.is_wanted)
        block->quiet_until =
            fmin(quiet_until(scoring),
                 oif_pipeline_silence_after(scoring->state->pipeline, row->key.text, row->key.bytes,
                                            row->seconds));
    return true;
}

bool scoring_threads_row(scoring_run *scoring, const session_row *row)
{
    advance_time(scoring, row->seconds);
    if (scoring->is_over)
        return true;
    if (!add_row(scoring, row)) {
        if (!scoring_threads_flush(scoring))
            return true;
        if (!add_row(scoring, row)) {
            scoring->block->quiet_until = NAN; /* the caller processes the row */
            return false;
        }
    }
    if (is_block_full(scoring))
        scoring_threads_flush(scoring);
    return true;
}

/* ---- Starting ---- */

/* Processors that this process may use. */
static unsigned processors(void)
{
    long count = 1;
#ifdef CPU_COUNT
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        count = CPU_COUNT(&allowed);
#elif defined _SC_NPROCESSORS_ONLN
    count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

/* Whether keys can be divided: --alerts makes each row depend on all rows before it, --watch shows
 * rows one by one, and --category numbers the texts of all keys in the order of the rows. */
static bool may_be_divided(const scoring_run *scoring)
{
    const input_columns *columns = &scoring->input->columns;
    double alerts = 0;
    oif_status status =
        oif_params_get(oif_pipeline_options(scoring->state->pipeline), "alerts", &alerts, NULL);
    return status == OIF_OK && alerts == 0 && columns->has_key && columns->categories.count == 0 &&
           !scoring->is_watched;
}

exit_code scoring_threads_start(scoring_run *scoring)
{
    oif_error ignored;
    run_input *input = scoring->input;
    const unsigned threads = processors();
    if (threads < 2 || !may_be_divided(scoring) ||
        oif_pipeline_set_threads(scoring->state->pipeline, threads, &ignored) != OIF_OK)
        return EXIT_OK;
    scoring->block = row_block_new(&input->columns);
    if (!scoring->block)
        return complain(EXIT_FAILED, "out of memory");
    input->source.before_read = scoring_threads_flush;
    input->source.before_read_context = scoring;
    return EXIT_OK;
}
