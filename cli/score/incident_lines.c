#include "incident_lines.h"

#include "front/results/incident_record.h"

exit_code incident_lines_check(const score_settings *settings)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {{"--only-alerts", settings->only_alerts},
                   {"--alert-once", settings->alert_once},
                   {"--min-grade", settings->min_grade != OIF_GRADE_NONE},
                   {"--watch", settings->watch},
                   {"--fields", settings->fields != NULL},
                   {"--output", settings->output != OUTPUT_AS_INPUT}};
    for (size_t i = 0; settings->incidents && i < sizeof options / sizeof *options; i++)
        if (options[i].is_given)
            return complain(EXIT_USAGE,
                            "%s is about rows, and --incidents prints a JSON record for each begin "
                            "and end of an incident instead; leave one of them out",
                            options[i].name);
    return EXIT_OK;
}

exit_code incident_lines_open(incident_lines *lines, const score_settings *settings,
                              on_alert *actions)
{
    oif_error error;
    *lines = (incident_lines){.actions = actions};
    if (settings->incidents && oif_incidents_new(NULL, &lines->incidents, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    return EXIT_OK;
}

void incident_lines_close(incident_lines *lines)
{
    oif_incidents_free(lines->incidents);
    lines->incidents = NULL;
}

/* ---- Lines ---- */

static void act(incident_lines *lines, uint64_t number, incident_phase phase, const char *reason)
{
    oif_incident_info info;
    size_t bytes;
    if (!lines->actions->command || !oif_incidents_info(lines->incidents, number, &info))
        return;
    output_divert();
    incident_record_write(lines->incidents, number, phase, lines->has_times, reason);
    char *record = output_diverted(&bytes);
    on_alert_run(lines->actions, record, bytes, number, phase == INCIDENT_BEGINS,
                 grade_word(incident_record_grade(info.peak_severity)));
}

static void report(incident_lines *lines, uint64_t number, incident_phase phase, const char *reason)
{
    incident_record_write(lines->incidents, number, phase, lines->has_times, reason);
    act(lines, number, phase, reason);
}

static void report_over(incident_lines *lines)
{
    uint64_t number;
    while (oif_incidents_next_over(lines->incidents, &number))
        report(lines, number, INCIDENT_ENDS, NULL);
}

/* ---- Rows ---- */

void incident_lines_time(incident_lines *lines, double seconds)
{
    lines->rows++;
    if (isnan(seconds))
        return;
    lines->has_times = true;
    oif_incidents_advance(lines->incidents, seconds);
    report_over(lines);
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

void incident_lines_row(incident_lines *lines, oif_text key, const row_verdict *verdict)
{
    const oif_episode_info *episode = &verdict->episode;
    const bool begins = verdict->result.episode == OIF_EPISODE_BEGINS;
    const oif_incident_event event = {.key = key.text,
                                      .key_bytes = key.bytes,
                                      .column = column_of(verdict, begins),
                                      .seconds =
                                          begins ? episode->first_seconds : episode->last_seconds,
                                      .sequence = lines->rows,
                                      .severity = episode->peak_severity,
                                      .episode = episode->number};
    oif_incident_place place = {0};
    char reason[FIELD_TEXT_BYTES] = "";
    oif_status status =
        (begins ? oif_incidents_begin : oif_incidents_end)(lines->incidents, &event, &place, NULL);
    report_over(lines);
    if (status != OIF_OK || !place.is_new) /* times of rows are finite, and keys short */
        return;
    result_fields_reasons_text(verdict, reason, sizeof reason);
    report(lines, place.incident, INCIDENT_BEGINS, reason);
}

void incident_lines_finish(incident_lines *lines)
{
    if (!lines->incidents)
        return;
    oif_incidents_finish(lines->incidents);
    report_over(lines);
    uint64_t number;
    for (size_t i = 0; (number = oif_incidents_number(lines->incidents, i)) != 0; i++)
        incident_record_write(lines->incidents, number, INCIDENT_LASTS, lines->has_times, NULL);
}
