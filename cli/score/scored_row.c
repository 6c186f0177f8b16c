#include "scoring_run.h"

#include "front/results/alert_record.h"
#include "front/text/cut.h"
#include "front/text/signals.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS_PER_LOOK_AT_THE_CLOCK = 256 };

/* With --min-grade an episode begins when it reaches that grade, and an episode that never does is
 * not reported. */
static oif_episode reported_episode(const scoring_run *scoring, const oif_result *result)
{
    const oif_grade least = scoring->settings->min_grade;
    if (result->episode == OIF_EPISODE_ENDS)
        return result->episode_grade >= least ? OIF_EPISODE_ENDS : OIF_EPISODE_NONE;
    if (least == OIF_GRADE_NONE)
        return result->episode == OIF_EPISODE_BEGINS ? OIF_EPISODE_BEGINS : OIF_EPISODE_NONE;
    return result->grade >= least && result->episode_grade < least ? OIF_EPISODE_BEGINS
                                                                   : OIF_EPISODE_NONE;
}

/* Whether the row is printed as it comes. Of an episode the line comes with its end. */
static bool is_shown(const scoring_run *scoring, const oif_result *result)
{
    const score_settings *settings = scoring->settings;
    if (scoring->is_watched)
        return true;
    if (!scoring->has_rows || settings->rows == PRINT_EPISODES)
        return false;
    if (settings->min_grade != OIF_GRADE_NONE)
        return result->grade >= settings->min_grade;
    return result->anomaly || settings->rows == PRINT_ALL;
}

/* Whether the row changes what is known about an open episode. */
static bool is_followed(const scoring_run *scoring, const oif_result *result)
{
    const bool follows = (scoring->settings->rows == PRINT_EPISODES && !scoring->is_watched) ||
                         scoring->acts_on_episodes;
    return follows && (result->anomaly || result->episode == OIF_EPISODE_ENDS);
}

static void act(scoring_run *scoring, const oif_record *record, oif_text key,
                const row_verdict *verdict)
{
    size_t record_bytes;
    if (scoring->incidents.incidents) {
        incident_lines_row(&scoring->incidents, key, verdict);
        return;
    }
    char *text = alert_record_make(&scoring->writer, record, verdict, key, &record_bytes);
    on_alert_run(scoring->actions, text, record_bytes, alert_record_series(verdict, key),
                 verdict->result.episode == OIF_EPISODE_BEGINS,
                 grade_word(verdict->episode.peak_grade));
}

bool scored_row_is_wanted(const scoring_run *scoring, const oif_result *result)
{
    return is_shown(scoring, result) || is_followed(scoring, result);
}

bool scored_row_is_acted_on(const scoring_run *scoring, const oif_result *result)
{
    return scoring->acts_on_episodes && reported_episode(scoring, result) != OIF_EPISODE_NONE;
}

static row_verdict judge(scoring_run *scoring, const scored_row *row)
{
    if (row->kept)
        return row->kept->verdict;
    if (row->is_in_block) /* neither anomalous nor part of an episode */
        return (row_verdict){
            .result = *row->result, .fields = &scoring->fields, .seconds = row->seconds};
    return result_fields_judge(&scoring->fields, scoring->state->pipeline, row->result,
                               row->seconds);
}

/* With its reasons, whether or not the output shows them. */
static void summarise(scoring_run *scoring, const scored_row *row)
{
    const size_t top = scoring->fields.top;
    scoring->fields.top = REASONS_MAX;
    const row_verdict verdict = judge(scoring, row);
    run_summary_add(&scoring->summary, &verdict, row->key, row->record->line);
    scoring->fields.top = top;
}

static bool print(scoring_run *scoring, const scored_row *row, const row_verdict *verdict)
{
    return scoring->is_watched ? watch_row(&scoring->watch, verdict, row->seconds)
                               : row_writer_row(&scoring->writer, row->record, verdict);
}

/* ---- Episodes ---- */

/* The next episode of the key begins before this one had its calm rows. */
static void act_on_replaced(scoring_run *scoring, const scored_row *row, const row_verdict *verdict,
                            const open_episode *open)
{
    row_verdict ends = *verdict;
    ends.result.episode = OIF_EPISODE_ENDS;
    ends.episode = open->info;
    ends.episode.is_over = true;
    if (scoring->acts_on_episodes && open->info.peak_grade >= scoring->settings->min_grade)
        act(scoring, row->record, row->key, &ends);
}

/* The line of the worst row so far, to be freed. NULL: it is an earlier one. */
static char *line_of_worst(const scoring_run *scoring, const scored_row *row,
                           const row_verdict *verdict, size_t *bytes)
{
    const oif_episode_info *episode = &verdict->episode;
    const bool is_worst =
        verdict->result.anomaly && episode->peak_row == episode->first_row + episode->rows - 1;
    if (!is_worst || scoring->settings->rows != PRINT_EPISODES ||
        verdict->result.grade < scoring->settings->min_grade)
        return NULL;
    output_divert();
    row_writer_row(&scoring->writer, row->record, verdict);
    return output_diverted(bytes);
}

/* Returns false once stdout is closed or has failed, or if there is no memory. */
static bool follow_episode(scoring_run *scoring, const scored_row *row, const row_verdict *verdict)
{
    const oif_result *result = &verdict->result;
    open_episode *open = open_episodes_find(&scoring->episodes_open, row->key);
    if (open && result->episode == OIF_EPISODE_BEGINS)
        act_on_replaced(scoring, row, verdict, open);
    if (open && result->episode != OIF_EPISODE_LASTS) {
        if (!open_episodes_end(&scoring->episodes_open, open))
            return false;
        open = NULL;
    }
    if (result->episode == OIF_EPISODE_ENDS)
        return true;
    if (!open && !(open = open_episodes_add(&scoring->episodes_open, row->key))) {
        scoring->is_memory_short = true;
        return false;
    }
    size_t bytes = 0;
    char *line = line_of_worst(scoring, row, verdict, &bytes);
    open->info = verdict->episode;
    if (line)
        open_episode_set_line(open, line, bytes);
    return true;
}

bool scored_row_write(scoring_run *scoring, const scored_row *row)
{
    const oif_result *result = row->result;
    scoring->anomalies += result->anomaly;
    scoring->graded[result->grade]++;
    scoring->episodes += result->episode == OIF_EPISODE_BEGINS;
    if (!row->is_in_block)
        result_fields_follow(&scoring->fields, scoring->state->pipeline, result);
    if (scoring->incidents.incidents)
        incident_lines_time(&scoring->incidents, row->seconds);
    if (run_summary_takes(&scoring->summary, result))
        summarise(scoring, row);
    const bool is_printed = is_shown(scoring, result),
               is_alert = scored_row_is_acted_on(scoring, result);
    if (!is_printed && !is_alert && !is_followed(scoring, result))
        return true;
    row_verdict verdict = judge(scoring, row);
    bool is_open = !is_printed || print(scoring, row, &verdict);
    if (is_open && is_followed(scoring, result))
        is_open = follow_episode(scoring, row, &verdict);
    if (is_alert) {
        verdict.result.episode = reported_episode(scoring, result);
        act(scoring, row->record, row->key, &verdict);
    }
    return is_open;
}

static void count_keyless(scoring_run *scoring, const oif_record *record)
{
    if (scoring->keyless++ == 0)
        note("%s:%" PRIu64 ": the key '%s' is empty; rows without a key share one model",
             scoring->input->source.name, record->line, cut_name(scoring->settings->key).text);
}

void scored_row_note(scoring_run *scoring, const scored_row *row, bool is_short)
{
    oif_pipeline *pipeline = scoring->state->pipeline;
    silence_monitor_result(&scoring->silence, row->key, row->seconds, row->result);
    scoring->early += !row->result->ready && !row->result->has_no_model && row->result->rule == 0;
    if (is_short) {
        progress_end(&scoring->progress);
        key_room_report(&scoring->room, pipeline, row->result, row->key.text, row->key.bytes);
    }
    state_row(scoring->state);
}

oif_text scored_row_key(scoring_run *scoring, const session_row *row)
{
    if (row->key.bytes > 0)
        return row->key;
    if (scoring->input->columns.has_key)
        count_keyless(scoring, row->record);
    return (oif_text){NULL, 0};
}

void scored_row_take(void *context, const session_row *row, const oif_result *result)
{
    scoring_run *scoring = context;
    const scored_row scored = {
        .record = row->record, .key = row->key, .seconds = row->seconds, .result = result};
    scored_row_note(scoring, &scored,
                    key_room_is_short(&scoring->room, scoring->state->pipeline, result));
    if (!scored_row_write(scoring, &scored))
        scoring->is_over = true;
}

/* Looks at running commands now and then: a look costs as much as several rows. */
static void attend_to_commands(scoring_run *scoring)
{
    if (scoring->actions->running_count == 0 || scoring->rows_until_attention-- > 0)
        return;
    scoring->rows_until_attention = ROWS_PER_LOOK_AT_THE_CLOCK;
    on_alert_attend(scoring->actions);
}

void scored_row_finish(scoring_run *scoring)
{
    attend_to_commands(scoring);
    if (state_has_lost(scoring->state)) {
        progress_end(&scoring->progress);
        state_report_lost(scoring->state);
    }
    progress_row(&scoring->progress, scoring->input->source.bytes_read);
}

void scored_row_save(scoring_run *scoring)
{
    bool is_asked_for = signals_take_save_request();
    if (!is_asked_for && !state_is_due(scoring->state))
        return;
    progress_end(&scoring->progress);
    open_episodes_print(&scoring->episodes_open);
    (is_asked_for ? state_save_now : state_save)(scoring->state);
}
