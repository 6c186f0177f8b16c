/* The incidents of all streams: the records for the webhook. */
#include "stream_parts.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* ---- The oldest that waits ---- */

static void take_if_older(const incident_reports *reports, const char *name,
                          incident_notice *oldest)
{
    const incident_report *first = incident_reports_first(reports);
    if (!first || (oldest->text && !(first->made < oldest->made)))
        return;
    char *text = malloc(first->bytes + 1);
    if (!text)
        return;
    memcpy(text, first->text, first->bytes);
    free(oldest->text);
    *oldest = (incident_notice){
        .number = first->number, .made = first->made, .text = text, .bytes = first->bytes};
    snprintf(oldest->stream, sizeof oldest->stream, "%s", name);
}

static void look_at_stream(void *context, stream *one)
{
    stream_read_lock(one);
    if (!one->is_broken)
        take_if_older(&one->incidents.reports, one->name, context);
    stream_read_unlock(one);
}

bool streams_next_notice(streams *all, incident_notice *notice)
{
    removed_reports *removed = streams_removed_reports(all);
    *notice = (incident_notice){.text = NULL};
    streams_each(all, look_at_stream, notice);
    pthread_mutex_lock(&removed->lock);
    take_if_older(&removed->reports, "", notice);
    pthread_mutex_unlock(&removed->lock);
    return notice->text != NULL;
}

/* ---- What was sent ---- */

void stream_replay_reported(stream *one, const journal_record *record)
{
    incident_reports_sent(&one->incidents.reports, record->skip);
}

/* The record follows once no body is being processed, so other records do not wait for one. */
static void note_sent(stream *one, uint64_t number)
{
    stream_read_lock(one);
    one->incidents.sent = number;
    incident_reports_sent(&one->incidents.reports, number);
    stream_read_unlock(one);
}

void stream_keep_reported(stream *one)
{
    stream_incidents *all = &one->incidents;
    const journal_record record = {
        .kind = JOURNAL_REPORTED, .first_row = stream_row_count(one), .skip = all->sent};
    problem ignored;
    if (all->kept_sent >= all->sent || one->is_broken || one->is_removed)
        return;
    all->kept_sent = all->sent;
    if (!stream_keep_record(one, &record, &ignored))
        one->is_failing = true;
}

/* A stream that was removed meanwhile has left its reports here; the record is sent again. */
void streams_notice_done(streams *all, const incident_notice *notice)
{
    removed_reports *removed = streams_removed_reports(all);
    stream *one = streams_find(all, notice->stream);
    if (one) {
        note_sent(one, notice->number);
        stream_release(one);
    } else if (!notice->stream[0]) {
        pthread_mutex_lock(&removed->lock);
        incident_reports_sent(&removed->reports, notice->number);
        pthread_mutex_unlock(&removed->lock);
    }
}

static void count_waiting(void *context, stream *one)
{
    size_t *count = context;
    stream_read_lock(one);
    if (!one->is_broken)
        *count += incident_reports_waiting(&one->incidents.reports);
    stream_read_unlock(one);
}

size_t streams_count_notices(streams *all)
{
    removed_reports *removed = streams_removed_reports(all);
    size_t count = 0;
    streams_each(all, count_waiting, &count);
    pthread_mutex_lock(&removed->lock);
    count += incident_reports_waiting(&removed->reports);
    pthread_mutex_unlock(&removed->lock);
    return count;
}

/* ---- Removed streams ---- */

void streams_keep_reports(streams *all, stream *one)
{
    removed_reports *removed = streams_removed_reports(all);
    incident_reports *reports = &one->incidents.reports;
    pthread_mutex_lock(&removed->lock);
    for (size_t i = 0; i < reports->count; i++) {
        incident_report kept = reports->list[i];
        kept.number = ++removed->numbers;
        if (kept.waits)
            incident_reports_add(&removed->reports, &kept);
        else
            free(kept.text);
    }
    reports->count = reports->bytes = 0;
    pthread_mutex_unlock(&removed->lock);
}
