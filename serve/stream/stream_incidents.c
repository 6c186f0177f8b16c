/* Which incident each episode of a stream belongs to. */
#include "stream_parts.h"

#include "front/results/incident_record.h"

#include <stdlib.h>
#include <string.h>

/* ---- Changes ---- */

static char *make_record(const stream *one, uint64_t number, const incident_view *view,
                         size_t *bytes)
{
    output_divert();
    incident_record_write(one->incidents.open, number, view);
    return output_diverted(bytes);
}

static void publish(const stream *one, uint64_t number, incident_phase phase,
                    const oif_incident_event *about)
{
    const incident_view view = {.phase = phase, .has_times = true, .is_brief = true};
    size_t bytes;
    if (one->is_replaying)
        return;
    char *text = make_record(one, number, &view, &bytes);
    if (text)
        feed_add(one->events, FEED_INCIDENT, one->name, about->key, about->key_bytes, text, bytes);
    free(text);
}

/* The number of a report does not depend on who is to get it. */
static void report(stream *one, const oif_incident_info *info, incident_phase phase, double now)
{
    stream_incidents *all = &one->incidents;
    const incident_view view = {.phase = phase, .has_times = true};
    incident_report made = {.number = ++all->report_numbers,
                            .incident = info->number,
                            .made = now,
                            .end = phase == INCIDENT_ENDS ? info->last_seconds : NAN,
                            .waits = one->sends_incidents};
    if (phase != INCIDENT_ENDS && !made.waits)
        return;
    made.text = make_record(one, info->number, &view, &made.bytes);
    incident_reports_add(&all->reports, &made);
}

/* ---- Episodes ---- */

static oif_incidents *make_incidents(void)
{
    oif_params options;
    oif_incidents *made = NULL;
    oif_incidents_options_init(&options);
    bool is_good = oif_params_set(&options, "max_members", INCIDENT_MEMBERS_MAX, NULL) == OIF_OK &&
                   oif_incidents_new(&options, &made, NULL) == OIF_OK;
    return is_good ? made : NULL;
}

static oif_incident_event describe(const stream *one, const stream_episode *info, double seconds)
{
    return (oif_incident_event){.stream = one->name,
                                .key = info->key,
                                .key_bytes = info->key_bytes,
                                .column = info->column,
                                .reason = info->reason,
                                .seconds = seconds,
                                .severity = info->peak_severity,
                                .episode = info->number};
}

/* Returns its incident; 0: none. The webhook gets a report of an incident again when its grade
 * rises. */
static uint64_t join(stream *one, const stream_episode *episode, double now)
{
    stream_incidents *all = &one->incidents;
    const oif_incident_event event = describe(one, episode, episode->began);
    oif_incident_place place;
    oif_incident_info info;
    if (!all->open)
        all->open = make_incidents();
    if (!all->open || oif_incidents_begin(all->open, &event, &place, NULL) != OIF_OK ||
        !oif_incidents_info(all->open, place.incident, &info))
        return 0;
    const incident_phase phase = place.is_new ? INCIDENT_BEGINS : INCIDENT_GROWS;
    const bool is_worse =
        incident_record_grade(place.peak_before) < incident_record_grade(info.peak_severity);
    if (place.is_new || is_worse)
        report(one, &info, phase, now);
    if (place.is_new || place.joins || is_worse)
        publish(one, info.number, phase, &event);
    return info.number;
}

static void leave(stream *one, const oif_incident_event *event, double now)
{
    const stream_incidents *all = &one->incidents;
    oif_incident_place place;
    oif_incident_info info;
    if (!all->open || oif_incidents_end(all->open, event, &place, NULL) != OIF_OK ||
        !place.is_over || !oif_incidents_info(all->open, place.incident, &info))
        return;
    report(one, &info, INCIDENT_ENDS, now);
    publish(one, info.number, INCIDENT_ENDS, event);
}

void stream_join_incident(stream *one, history_episode *episode, double now)
{
    const uint64_t number = join(one, &episode->info, now);
    if (number > 0)
        episode->info.incident = number;
}

void stream_leave_incident(stream *one, const history_episode *episode, double now)
{
    const stream_episode *info = &episode->info;
    const oif_incident_event event =
        describe(one, info, info->is_over ? info->ended : info->last_seen);
    leave(one, &event, now);
}

/* Episodes have numbers from 1, so 0 is free. */
static stream_episode describe_no_data(const stream *one)
{
    return (stream_episode){.key = "",
                            .column = "silence",
                            .reason = watch_words[WATCH_NO_DATA],
                            .began = one->counted.last_row_at,
                            .peak_severity = OIF_WARNING_SEVERITY};
}

void stream_join_no_data(stream *one, double now)
{
    const stream_episode episode = describe_no_data(one);
    join(one, &episode, now);
}

void stream_leave_no_data(stream *one, double now)
{
    const stream_episode episode = describe_no_data(one);
    const oif_incident_event event = describe(one, &episode, now);
    leave(one, &event, now);
}

void stream_end_incidents(stream *one, double now)
{
    for (const history_episode *open = one->past->open; open; open = open->older)
        stream_leave_incident(one, open, now);
    if (one->is_dead)
        stream_leave_no_data(one, now);
}

/* ---- Answers ---- */

size_t stream_open_incidents(stream *one)
{
    size_t count = 0;
    stream_read_lock(one);
    while (!one->is_broken && one->incidents.open &&
           oif_incidents_number(one->incidents.open, count) != 0)
        count++;
    stream_read_unlock(one);
    return count;
}

size_t stream_episodes_of_no_incident(stream *one)
{
    size_t count = 0;
    stream_read_lock(one);
    for (const history_episode *open = one->past->open; open; open = open->older)
        count += open->info.incident == 0;
    stream_read_unlock(one);
    return count;
}

static bool is_wanted(const incidents_query *query, uint64_t number, double last)
{
    return !(last < query->since) && (query->number == 0 || query->number == number);
}

static void visit_open(const stream *one, uint64_t number, const incident_visit *to)
{
    const incident_view view = {.phase = INCIDENT_LASTS, .has_times = true};
    oif_incident_info info;
    oif_incident_member worst;
    incident_answer answer = {.is_over = false};
    if (!oif_incidents_info(one->incidents.open, number, &info) ||
        !is_wanted(to->query, number, info.last_seconds) ||
        !oif_incidents_member(one->incidents.open, number, info.worst, &worst))
        return;
    char *text = make_record(one, number, &view, &answer.bytes);
    answer.rank = worst.severity;
    answer.text = text;
    if (text)
        to->visit(to->context, &answer);
    free(text);
}

/* Nothing is known of a stream that could not be loaded. */
void stream_visit_incidents(stream *one, const incident_visit *to)
{
    uint64_t number;
    stream_read_lock(one);
    const stream_incidents *all = &one->incidents;
    for (size_t i = 0; !one->is_broken && all->open; i++) {
        if ((number = oif_incidents_number(all->open, i)) == 0)
            break;
        visit_open(one, number, to);
    }
    for (size_t i = 0; !one->is_broken && !to->query->only_open && i < all->reports.count; i++) {
        const incident_report *ended = &all->reports.list[i];
        if (!isnan(ended->end) && is_wanted(to->query, ended->incident, ended->end))
            to->visit(to->context, &(incident_answer){.is_over = true,
                                                      .rank = ended->end,
                                                      .text = ended->text,
                                                      .bytes = ended->bytes});
    }
    stream_read_unlock(one);
}
