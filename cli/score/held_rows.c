#include "front/text/clock.h"
#include "front/text/signals.h"
#include "scoring_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BLOCKS_MAX = 64 }; /* of at most a megabyte each */

/* A pipe may have no end: its first rows are held only for so long. */
static const double held_seconds_max = 1;

struct held_rows {
    row_block *blocks[BLOCKS_MAX];
    size_t block_count;
    size_t rows, most_rows;
    double since; /* the first one, by the clock */
    bool is_file;
};

/* ---- Whether rows are held ---- */

exit_code held_rows_start(scoring_run *scoring)
{
    const size_t most_rows = short_input_rows_max(scoring->all_settings, &scoring->input->columns);
    if (most_rows == 0)
        return EXIT_OK;
    scoring->held = calloc(1, sizeof *scoring->held);
    if (!scoring->held)
        return complain(EXIT_FAILED, "out of memory");
    scoring->held->most_rows = most_rows;
    scoring->held->is_file = scoring->input->source.files.total_bytes > 0;
    return EXIT_OK;
}

void held_rows_close(scoring_run *scoring)
{
    held_rows *held = scoring->held;
    for (size_t i = 0; held && i < held->block_count; i++)
        row_block_free(held->blocks[i]);
    free(held);
    scoring->held = NULL;
}

/* ---- Holding rows ---- */

static bool add_row(scoring_run *scoring, const session_row *row)
{
    held_rows *held = scoring->held;
    if (held->rows == held->most_rows)
        return false;
    if (held->rows == 0)
        held->since = clock_seconds();
    for (int tries = 0; tries < 2; tries++) {
        row_block *last = held->block_count > 0 ? held->blocks[held->block_count - 1] : NULL;
        if (last && row_block_add(last, row->record, row->key, row->seconds)) {
            held->rows++;
            return true;
        }
        if (held->block_count == BLOCKS_MAX ||
            !(held->blocks[held->block_count] = row_block_new(&scoring->input->columns)))
            return false;
        held->block_count++;
    }
    return false;
}

static session_row row_of(const row_block *block, size_t i)
{
    return (session_row){.record = &block->waiting[i].record, .seconds = block->seconds[i]};
}

/* Processes the held rows in one pass, as if they had not been held. */
static bool release(scoring_run *scoring, oif_status *status, oif_error *error)
{
    held_rows *held = scoring->held;
    bool continues = true;
    scoring->held = NULL;
    for (size_t b = 0; b < held->block_count; b++) {
        for (size_t i = 0; i < held->blocks[b]->count && continues; i++)
            continues = scored_row_process(scoring, row_of(held->blocks[b], i), status, error);
        row_block_free(held->blocks[b]);
    }
    free(held);
    return continues;
}

/* Milliseconds until the rows are not held any more; -1: never. */
static int milliseconds_left(const held_rows *held)
{
    if (held->is_file || held->rows == 0)
        return -1;
    const double left = held->since + held_seconds_max - clock_seconds();
    return left > 0 ? (int)(1000 * left) + 1 : 0;
}

bool held_rows_row(scoring_run *scoring, const session_row *row, oif_status *status,
                   oif_error *error)
{
    if (!scoring->held)
        return false;
    if (milliseconds_left(scoring->held) != 0 && add_row(scoring, row))
        return true;
    if (!release(scoring, status, error))
        scoring->is_over = true;
    return false;
}

int held_rows_idle(scoring_run *scoring)
{
    if (!scoring->held)
        return -1;
    const int left = milliseconds_left(scoring->held);
    if (left != 0)
        return left;
    if (!release(scoring, &scoring->block_status, &scoring->block_error))
        scoring->is_over = true;
    output_flush();
    return -1;
}

/* ---- Judging them ---- */

/* The rows and the times of all blocks, one after the other; NULL if out of memory. */
static double *gather(const held_rows *held, size_t columns, double **seconds)
{
    double *rows = calloc(held->rows, columns * sizeof *rows);
    *seconds = calloc(held->rows, sizeof **seconds);
    size_t at = 0;
    for (size_t b = 0; rows && *seconds && b < held->block_count; b++)
        for (size_t i = 0; i < held->blocks[b]->count; i++, at++) {
            for (size_t c = 0; c < columns; c++)
                rows[at * columns + c] = held->blocks[b]->rows[i * columns + c];
            (*seconds)[at] = held->blocks[b]->seconds[i];
        }
    if (*seconds)
        return rows;
    free(rows);
    return NULL;
}

static session_row held_row(const held_rows *held, size_t number)
{
    size_t b = 0;
    while (number >= held->blocks[b]->count)
        number -= held->blocks[b++]->count;
    return row_of(held->blocks[b], number);
}

/* Before a row is processed: was there silence? */
static void await_row(scoring_run *scoring, double seconds)
{
    silence_monitor_arrive(&scoring->silence);
    if (scoring->session.silence && silence_clock_row(scoring->session.silence, seconds))
        row_session_look(&scoring->session, seconds);
}

static void take_row(void *context, oif_pipeline *pipeline, size_t number, const oif_result *result)
{
    scoring_run *scoring = context;
    (void)pipeline; /* it is that of the run */
    if (scoring->is_over || signals_stop_requested())
        return;
    const session_row row = held_row(scoring->held, number);
    if (number == 0)
        await_row(scoring, row.seconds);
    scored_row_take(scoring, &row, result);
    scored_row_finish(scoring);
    if (number + 1 < scoring->held->rows)
        await_row(scoring, held_row(scoring->held, number + 1).seconds);
}

/* "178 rows, each compared with all others: 2 episodes; at most one row in 120 would look so by
 * chance" */
static void say_how_sure(const scoring_run *scoring, const oif_table_info *info)
{
    char rows[GROUPED_TEXT_BYTES], one_in[GROUPED_TEXT_BYTES];
    char found[64] = "no row is unusual";
    if (scoring->episodes > 0)
        snprintf(found, sizeof found, "%" PRIu64 " episode%s of anomalies", scoring->episodes,
                 scoring->episodes == 1 ? "" : "s");
    note("%s: %s rows, each compared with all others: %s; at most one row in %s would look like "
         "this by chance",
         scoring->input->source.name, grouped_text(info->rows, rows), found,
         grouped_text((uint64_t)(1 / info->chance), one_in));
}

static oif_status judge(scoring_run *scoring, oif_error *error)
{
    held_rows *held = scoring->held;
    const size_t columns = scoring->input->columns.count;
    double *seconds, *rows = gather(held, columns, &seconds);
    oif_result *results = calloc(held->rows, sizeof *results);
    oif_table_info info;
    oif_status status = OIF_EMEMORY;
    if (rows && results)
        status = oif_pipeline_process_table(scoring->state->pipeline, rows, held->rows, columns,
                                            seconds, take_row, scoring, results, &info, error);
    if (status == OIF_OK && !scoring->is_over) {
        progress_end(&scoring->progress);
        say_how_sure(scoring, &info);
    }
    free(rows);
    free(seconds);
    free(results);
    return status;
}

void held_rows_finish(scoring_run *scoring, oif_status *status, oif_error *error)
{
    oif_error why;
    if (!scoring->held)
        return;
    /* Without a table, as with a shingle longer than the file, or without memory for it. */
    if (scoring->held->rows < SHORT_INPUT_ROWS_MIN || judge(scoring, &why) != OIF_OK) {
        oif_status replayed = OIF_OK;
        release(scoring, &replayed, &why);
        if (replayed != OIF_OK) {
            *status = replayed;
            *error = why;
        }
    }
    held_rows_close(scoring);
}
