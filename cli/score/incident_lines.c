#include "incident_lines.h"

#include "front/results/incident_record.h"
#include "front/text/durations.h"

#include <stdio.h>

exit_code incident_lines_check(const score_settings *settings)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {{"--min-grade", settings->min_grade != OIF_GRADE_NONE},
                   {"--watch", settings->watch},
                   {"--fields", settings->fields != NULL},
                   {"--output", settings->output != OUTPUT_AS_INPUT}};
    for (size_t i = 0; settings->rows == PRINT_INCIDENTS && i < sizeof options / sizeof *options;
         i++)
        if (options[i].is_given)
            return complain(
                EXIT_USAGE,
                "%s is about rows, and --rows incidents prints a JSON record for the start "
                "and the end of each incident instead; leave one of them out",
                options[i].name);
    return EXIT_OK;
}

exit_code incident_lines_start(incident_lines *lines, const score_settings *settings,
                               kept_state *state, on_alert *actions)
{
    *lines = (incident_lines){.actions = actions};
    if (settings->rows != PRINT_INCIDENTS)
        return EXIT_OK;
    exit_code code = state_start_incidents(state);
    *lines =
        (incident_lines){.incidents = state->incidents,
                         .actions = actions,
                         .rows = oif_pipeline_rows(state->pipeline),
                         .has_times = settings->time && oif_pipeline_rows(state->pipeline) > 0};
    return code;
}

/* ---- Lines ---- */

static void write_line(const incident_lines *lines, uint64_t number, incident_phase phase)
{
    const incident_view view = {.phase = phase, .has_times = lines->has_times};
    incident_record_write(lines->incidents, number, &view);
    output_text("\n");
}

static void act(incident_lines *lines, uint64_t number, incident_phase phase)
{
    oif_incident_info info;
    size_t bytes;
    if (!lines->actions->command || !oif_incidents_info(lines->incidents, number, &info))
        return;
    output_divert();
    write_line(lines, number, phase);
    char *record = output_diverted(&bytes);
    on_alert_run(lines->actions, record, bytes, number, phase == INCIDENT_BEGINS,
                 grade_word(incident_record_grade(info.peak_severity)));
}

static void report(incident_lines *lines, uint64_t number, incident_phase phase)
{
    write_line(lines, number, phase);
    act(lines, number, phase);
}

/* ---- Rows ---- */

void incident_lines_time(incident_lines *lines, double seconds)
{
    lines->rows++;
    lines->has_times |= !isnan(seconds);
}

/* The column with the highest share, now or at the worst row; "": unknown. */
static const char *column_of(const row_verdict *verdict, bool begins)
{
    const result_fields *fields = verdict->fields;
    if (begins)
        return verdict->reason_count > 0 ? fields->names[result_fields_reason_column(verdict, 0)]
                                         : "";
    const uint32_t column = verdict->episode.column;
    return column == OIF_UNKNOWN_COLUMN ? "" : fields->names[column];
}

/* Who hears of an incident hears again when its grade rises. */
static void take_event(incident_lines *lines, const oif_incident_event *event, bool begins)
{
    oif_incident_place place = {0};
    oif_incident_info info;
    if ((begins ? oif_incidents_begin : oif_incidents_end)(lines->incidents, event, &place, NULL) !=
            OIF_OK || /* times of rows are finite, and keys short */
        !oif_incidents_info(lines->incidents, place.incident, &info))
        return;
    if (place.is_new)
        report(lines, place.incident, INCIDENT_BEGINS);
    else if (!place.is_over &&
             incident_record_grade(place.peak_before) < incident_record_grade(info.peak_severity))
        report(lines, place.incident, INCIDENT_GROWS);
    if (place.is_over)
        report(lines, place.incident, INCIDENT_ENDS);
}

/* Episodes have numbers from 1, so 0 is free for the silence of a key. */
static oif_incident_event silence_event(oif_text key, double seconds)
{
    return (oif_incident_event){
        .key = key.text, .key_bytes = key.bytes, .column = "silence", .seconds = seconds};
}

void incident_lines_silence_begins(incident_lines *lines, oif_text key, double seconds,
                                   double pause)
{
    oif_incident_event event = silence_event(key, seconds);
    char reason[DURATION_TEXT_BYTES + 16], duration[DURATION_TEXT_BYTES];
    lines->has_times = true;
    snprintf(reason, sizeof reason, "no row for %s", duration_text(pause, duration));
    event.reason = reason;
    take_event(lines, &event, true);
}

void incident_lines_silence_ends(incident_lines *lines, oif_text key, double seconds)
{
    const oif_incident_event event = silence_event(key, seconds);
    take_event(lines, &event, false);
}

void incident_lines_row(incident_lines *lines, oif_text key, const row_verdict *verdict)
{
    const oif_episode_info *episode = &verdict->episode;
    const bool begins = verdict->result.episode == OIF_EPISODE_BEGINS;
    const double seconds = begins ? episode->first_seconds : episode->last_seconds;
    char reason[FIELD_TEXT_BYTES] = "";
    if (begins)
        result_fields_reasons_text(verdict, reason, sizeof reason);
    const oif_incident_event event = {.key = key.text,
                                      .key_bytes = key.bytes,
                                      .column = column_of(verdict, begins),
                                      .reason = reason,
                                      .seconds = lines->has_times ? seconds : (double)lines->rows,
                                      .severity = episode->peak_severity,
                                      .episode = episode->number};
    take_event(lines, &event, begins);
}

void incident_lines_finish(incident_lines *lines)
{
    uint64_t number;
    for (size_t i = 0;
         lines->incidents && (number = oif_incidents_number(lines->incidents, i)) != 0; i++)
        write_line(lines, number, INCIDENT_LASTS);
}
