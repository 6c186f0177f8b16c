#include "state.h"

#include "front/columns/derive.h"
#include "front/text/clock.h"
#include "front/text/durations.h"
#include "front/text/signals.h"
#include "state_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Keys may be new in the first rows of a run that resumes. */
enum { ROWS_WITH_OLDER_TIMES = 1000 };

#define INCIDENTS_PART "INCI"

/* ---- Starting ---- */

const char *state_advice(oif_status status, const oif_error *error)
{
    switch (status) {
    case OIF_EKIND:
        return error->cause == OIF_CAUSE_KEY_SNAPSHOT
                   ? "; a program can load it into a pipeline"
                   : "; name a file that 'oif score --state FILE' has written";
    case OIF_EVERSION: return "; update oif, or name another file";
    case OIF_ETRUNCATED:
    case OIF_ECORRUPT: return "; restore a backup, or remove the file to start over";
    default: return "";
    }
}

/* Loads the snapshot of a detector, which a program saved, and makes a pipeline around it. */
static oif_status take_up_detector(kept_state *state, const run_settings *settings,
                                   oif_error *error)
{
    oif_detector *detector = NULL;
    oif_error ignored;
    if (oif_state_file_load(state->file, &detector, &ignored) != OIF_OK)
        return OIF_EKIND; /* `error` is that of loading a pipeline, which says more */
    oif_status status =
        oif_pipeline_new_around(&detector, &settings->options, NULL, 0, &state->pipeline, error);
    oif_detector_free(detector);
    state->is_resumed = status == OIF_OK;
    return status;
}

static exit_code load(kept_state *state, const run_settings *settings)
{
    oif_error error;
    oif_status status = oif_state_file_load_pipeline(state->file, &state->pipeline, &error);
    if (status == OIF_END && params_learn_none(&settings->options))
        return complain(EXIT_FAILED,
                        "%s: no such file, and --freeze needs one that has learned; run once "
                        "without --freeze",
                        state->path);
    if (status == OIF_END)
        return EXIT_OK;
    if (status == OIF_EKIND)
        status = take_up_detector(state, settings, &error);
    if (status != OIF_OK)
        return complain(EXIT_FAILED, "%s%s", error.message,
                        error.cause == OIF_CAUSE_NOT_A_SNAPSHOT ? "; name another file"
                                                                : state_advice(status, &error));
    state->is_saved = true;
    if (state->is_resumed && settings->score.key)
        return complain(EXIT_USAGE,
                        "%s: contains a detector that has learned one stream; leave --key out, or "
                        "name another file",
                        state->path);
    state->is_frozen =
        settings_give_option(settings, "learn") && params_learn_none(&settings->options);
    state->lost = oif_pipeline_lost(state->pipeline, NULL);
    const uint64_t ignored = oif_pipeline_log(state->pipeline).ignored_bytes;
    if (ignored > 0)
        note("%s: its last save was interrupted; the %" PRIu64
             " bytes of it are ignored, and the one before is used",
             state->path, ignored);
    seen_rows_load(&state->seen, state->pipeline);
    return settings_apply(settings, state->pipeline, state->path);
}

exit_code state_open(kept_state *state, const run_settings *settings)
{
    *state = (kept_state){.path = settings->state,
                          .rows_between_saves = settings->rows_between_saves,
                          .seconds_between_saves = settings->seconds_between_saves,
                          .has_terminal = isatty(STDOUT_FILENO) == 1};
    if (!state->path && (state->rows_between_saves > 0 || state->seconds_between_saves > 0))
        return complain(EXIT_USAGE, "--save-every needs --state FILE, the file to save to");
    if (!state->path && settings->score.skip_seen)
        return complain(EXIT_USAGE,
                        "--skip-seen needs --state FILE, which counts the rows that were seen");
    if (!state->path && params_learn_none(&settings->options))
        return complain(EXIT_USAGE, "--freeze needs --state FILE, the model to compare rows with");
    if (!state->path && params_keep_evicted(&settings->options))
        return complain(EXIT_USAGE,
                        "--evicted keep needs --state FILE; evicted models are kept beside it");
    if (!state->path)
        return EXIT_OK;
    oif_error error;
    if (oif_state_file_open(state->path, &state->file, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    exit_code code = load(state, settings);
    if (code != EXIT_OK) {
        state->is_saved = true; /* so closing it does not save */
        state_close(state, code);
    }
    return code;
}

/* Keeps past episodes, of which 'oif state feedback' makes rules. */
static exit_code keep_episodes(kept_state *state)
{
    oif_error error;
    if (!state->path || state->is_frozen ||
        oif_pipeline_keep_episodes(state->pipeline, true, &error) == OIF_OK)
        return EXIT_OK;
    return complain(EXIT_FAILED, "%s", error.message);
}

static exit_code make_pipeline(kept_state *state, const run_settings *settings,
                               const input_columns *columns)
{
    exit_code code = settings_make_pipeline(settings, columns->count, &state->pipeline);
    if (code == EXIT_OK)
        code = derive_columns(state->pipeline, settings, columns);
    if (state->path && isatty(STDERR_FILENO)) /* the path may be a typing mistake */
        note("%s: no such file yet; starting a new state", state->path);
    oif_error error;
    if (code == EXIT_OK && params_keep_evicted(&settings->options) &&
        oif_state_file_keep_evicted(state->file, state->pipeline, &error) != OIF_OK)
        code = complain(EXIT_FAILED, "%s", error.message);
    return code == EXIT_OK ? keep_episodes(state) : code;
}

exit_code state_start(kept_state *state, const run_settings *settings, const input_columns *columns)
{
    state->next_save = clock_seconds() + state->seconds_between_saves;
    if (!state->pipeline)
        return make_pipeline(state, settings, columns);
    if (oif_pipeline_columns(state->pipeline) != columns->count)
        return complain(EXIT_FAILED,
                        "%s: the state has learned %zu columns, but the input has %zu; choose the "
                        "same ones with --columns or --exclude, or name another state",
                        state->path, oif_pipeline_columns(state->pipeline), columns->count);
    exit_code code = derive_compare(state->pipeline, settings, columns);
    if (code == EXIT_OK)
        code = keep_episodes(state);
    if (code != EXIT_OK)
        return code;
    uint64_t rows = oif_pipeline_rows(state->pipeline);
    if (!settings->score.skip_seen && !state->is_frozen)
        state->times_to_compare = ROWS_WITH_OLDER_TIMES;
    if (state->is_resumed) {
        note("%s: resumes a detector that has learned %" PRIu64
             " rows; from now on its alerts are saved with it",
             state->path,
             oif_detector_rows_learned(oif_pipeline_detector(state->pipeline, NULL, 0)));
    } else if (settings->score.skip_seen) {
        note("%s: resumes after %" PRIu64 " rows: skipping those that it has seen", state->path,
             rows);
        if (!seen_rows_start(&state->seen, state->pipeline, columns->has_time))
            return complain(EXIT_FAILED, "out of memory");
    } else {
        note("%s: resumes after %" PRIu64 " rows", state->path, rows);
    }
    return EXIT_OK;
}

exit_code state_start_incidents(kept_state *state)
{
    size_t bytes;
    oif_error error;
    const void *attached = state_part_find(state->pipeline, INCIDENTS_PART, &bytes);
    oif_status status = attached
                            ? oif_incidents_load_memory(attached, bytes, &state->incidents, &error)
                            : oif_incidents_new(NULL, &state->incidents, &error);
    if (status == OIF_OK)
        return EXIT_OK;
    return attached ? complain(EXIT_FAILED,
                               "%s: its incidents cannot be loaded (%s); restore a backup, or "
                               "leave --rows incidents out",
                               state->path, error.message)
                    : complain(EXIT_FAILED, "%s", error.message);
}

void state_compare_time(kept_state *state, const char *input, oif_text key, double seconds)
{
    oif_key_info known;
    state->times_to_compare--;
    if (!oif_pipeline_key(state->pipeline, key.text, key.bytes, &known) || isnan(seconds) ||
        known.is_evicted || isnan(known.last_seconds))
        return;
    state->times_to_compare = 0;
    char now[MOMENT_TEXT_BYTES], before[MOMENT_TEXT_BYTES];
    if (seconds < known.last_seconds)
        note("%s: the time %s is before %s, the last one that %s has seen: if the input restarts "
             "from its beginning, use --skip-seen, or rows are learned twice",
             input, moment_text(seconds, now), moment_text(known.last_seconds, before),
             state->path);
}

bool state_skips_row(kept_state *state, const char *input, const session_row *row)
{
    if (!state->file)
        return false;
    if (seen_rows_skip(&state->seen, row))
        return true;
    if (state->seen.skipped > 0 && !state->is_skip_noted)
        note("%s: %" PRIu64 " rows were seen before: starting at row %" PRIu64, input,
             state->seen.skipped, state->seen.skipped + 1);
    state->is_skip_noted = true;
    return false;
}

exit_code state_report_skipped(const kept_state *state, const char *input)
{
    const seen_rows *seen = &state->seen;
    if (seen_rows_are_lost(seen))
        return complain(
            EXIT_FAILED,
            "%s: none of the %" PRIu64
            " rows is the last one that %s has seen, so oif cannot know which rows are new; "
            "nothing was scored; add --time COL, or leave --skip-seen out if all rows are new",
            input, seen->read.count, state->path);
    if (seen->skipped > 0 && !state->is_skip_noted)
        note("%s: all %" PRIu64 " rows were seen before", input, seen->skipped);
    return EXIT_OK;
}

void state_give_up(kept_state *state)
{
    oif_pipeline_free(state->pipeline);
    state->pipeline = NULL;
}

/* ---- Saving ---- */

void state_discard(kept_state *state)
{
    state->is_ahead = true;
}

void state_row(kept_state *state)
{
    if (state->is_frozen)
        return;
    state->rows_unsaved++;
    state->is_saved = false;
}

bool state_is_due(const kept_state *state)
{
    if (!state->file || state->is_saved)
        return false;
    if (state->rows_between_saves > 0)
        return state->rows_unsaved >= state->rows_between_saves;
    return state->seconds_between_saves > 0 && clock_seconds() >= state->next_save;
}

int state_milliseconds_left(const kept_state *state)
{
    double seconds = state->next_save - clock_seconds();
    if (!state->file || state->is_saved || !(state->seconds_between_saves > 0))
        return -1;
    return seconds <= 0 ? 0 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1000) + 1;
}

/* The incidents as bytes, to be freed by the caller. A run that does not follow incidents keeps
 * those that it has loaded. */
static void *copy_incidents(const kept_state *state, size_t *bytes, oif_error *error)
{
    const void *before = state_part_find(state->pipeline, INCIDENTS_PART, bytes);
    if (state->incidents)
        *bytes = oif_incidents_snapshot_bytes(state->incidents);
    void *copy = malloc(*bytes + 1);
    if (!copy)
        snprintf(error->message, sizeof error->message, "%s: no memory to save incidents",
                 state->path);
    else if (!state->incidents && before)
        memcpy(copy, before, *bytes);
    if (copy && state->incidents &&
        oif_incidents_save_memory(state->incidents, copy, *bytes, error) != OIF_OK) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

/* Makes the last rows and the incidents part of what is saved. */
static bool attach_parts(kept_state *state, oif_error *error)
{
    unsigned char seen[SEEN_PART_BYTES];
    size_t bytes;
    void *incidents = copy_incidents(state, &bytes, error);
    if (!incidents)
        return false;
    const state_part parts[] = {
        {SEEN_PART, seen, seen_rows_write(&state->seen, oif_pipeline_rows(state->pipeline), seen)},
        {INCIDENTS_PART, incidents, bytes}};
    const bool is_attached = state_parts_attach(state->pipeline, parts, 2, error) == OIF_OK;
    free(incidents);
    return is_attached;
}

static bool save(kept_state *state, oif_error *error)
{
    /* If the terminal is gone, its output does not matter. Otherwise the state must not be
     * ahead of the output; output_finish reports that failure. */
    if (!output_flush() && !(state->has_terminal && signals_hangup_requested()))
        return false;
    if (!attach_parts(state, error) ||
        oif_state_file_update_pipeline(state->file, state->pipeline, error) != OIF_OK)
        return false;
    state->is_saved = true;
    return true;
}

void state_save(kept_state *state)
{
    oif_error error;
    bool was_failing = state->is_failing;
    state->is_failing = !save(state, &error) && output_is_open();
    if (state->is_failing && !was_failing)
        complain(EXIT_FAILED, "%s; scoring continues", error.message);
    if (!state->is_failing && was_failing && output_is_open())
        note("%s: saving works again", state->path);
    state->rows_unsaved = 0;
    state->next_save = clock_seconds() + state->seconds_between_saves;
}

void state_save_now(kept_state *state)
{
    if (!state->file) {
        note("nothing was saved: there is no --state FILE");
        return;
    }
    if (!state->is_saved)
        state_save(state);
    if (state->is_saved)
        note("%s: saved after %" PRIu64 " rows", state->path, oif_pipeline_rows(state->pipeline));
    else if (state->is_failing)
        complain(EXIT_FAILED, "%s: could not be saved this time either", state->path);
}

bool state_has_lost(const kept_state *state)
{
    return !state->is_loss_reported && oif_pipeline_lost(state->pipeline, NULL) > state->lost;
}

void state_report_lost(kept_state *state)
{
    const char *why;
    oif_pipeline_lost(state->pipeline, &why);
    complain(EXIT_FAILED, "%s; a model is lost, its key starts over, and scoring continues", why);
    state->is_loss_reported = true;
}

exit_code state_close(kept_state *state, exit_code code)
{
    oif_error error;
    bool must_save = state->file && state->pipeline && !state->is_saved;
    if (must_save && state->is_ahead)
        code = complain(EXIT_FAILED,
                        "%s: not saved: it would contain rows that were not written. Repeat the "
                        "rows since the last save (--skip-seen)",
                        state->path);
    else if (must_save && !save(state, &error))
        code = output_is_open()
                   ? complain(EXIT_FAILED, "%s", error.message)
                   : complain(EXIT_FAILED, "%s: not saved, because the output was closed",
                              state->path);
    if (state->is_loss_reported)
        code = complain(EXIT_FAILED, "%s: models that were lost: %" PRIu64, state->path,
                        oif_pipeline_lost(state->pipeline, NULL) - state->lost);
    oif_state_file_close(state->file);
    oif_incidents_free(state->incidents);
    oif_pipeline_free(state->pipeline);
    seen_rows_close(&state->seen);
    return code;
}
