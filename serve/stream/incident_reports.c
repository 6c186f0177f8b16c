#include "incident_reports.h"

#include "front/text/output.h"

#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports a text that a list holds as leaked. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* ---- The list ---- */

static void drop(incident_reports *reports, size_t index)
{
    incident_report *dropped = &reports->list[index];
    free(dropped->text);
    reports->bytes -= dropped->bytes;
    reports->count--;
    memmove(dropped, dropped + 1, (reports->count - index) * sizeof *dropped);
}

void incident_reports_add(incident_reports *reports, const incident_report *added)
{
    if (!added->text)
        return;
    while (reports->count == INCIDENT_REPORTS_MAX ||
           (reports->count > 0 && reports->bytes + added->bytes > INCIDENT_REPORT_BYTES_MAX))
        drop(reports, 0);
    reports->bytes += added->bytes;
    reports->list[reports->count++] = *added;
}

const incident_report *incident_reports_first(const incident_reports *reports)
{
    for (size_t i = 0; i < reports->count; i++)
        if (reports->list[i].waits)
            return &reports->list[i];
    return NULL;
}

size_t incident_reports_waiting(const incident_reports *reports)
{
    size_t count = 0;
    for (size_t i = 0; i < reports->count; i++)
        count += reports->list[i].waits;
    return count;
}

/* What is left are the incidents that are over. */
void incident_reports_sent(incident_reports *reports, uint64_t number)
{
    for (size_t i = reports->count; i-- > 0;) {
        incident_report *report = &reports->list[i];
        if (report->number > number)
            continue;
        report->waits = false;
        if (isnan(report->end))
            drop(reports, i);
    }
}

void incident_reports_free(incident_reports *reports)
{
    while (reports->count > 0)
        drop(reports, reports->count - 1);
}

/* ---- Bytes ---- */

/* A report without its text, as it is stored. */
typedef struct plain_report {
    uint64_t number, incident, waits, bytes;
    double made, end;
} plain_report;

typedef struct plain_head {
    uint64_t report_numbers, report_count, snapshot_bytes;
} plain_head;

static void write_snapshot(const oif_incidents *open, size_t bytes)
{
    char *snapshot = malloc(bytes);
    if (snapshot && oif_incidents_save_memory(open, snapshot, bytes, NULL) == OIF_OK)
        output_write(snapshot, bytes);
    free(snapshot);
}

void stream_incidents_write(const stream_incidents *all)
{
    const plain_head head = {.report_numbers = all->report_numbers,
                             .report_count = all->reports.count,
                             .snapshot_bytes =
                                 all->open ? oif_incidents_snapshot_bytes(all->open) : 0};
    output_write((const char *)&head, sizeof head);
    for (size_t i = 0; i < all->reports.count; i++) {
        const incident_report *report = &all->reports.list[i];
        const plain_report plain = {.number = report->number,
                                    .incident = report->incident,
                                    .waits = report->waits,
                                    .bytes = report->bytes,
                                    .made = report->made,
                                    .end = report->end};
        output_write((const char *)&plain, sizeof plain);
        output_write(report->text, report->bytes);
    }
    if (all->open)
        write_snapshot(all->open, (size_t)head.snapshot_bytes);
}

static bool read_report(incident_reports *reports, bytes_left *from)
{
    plain_report plain;
    if (!bytes_left_take(from, &plain, sizeof plain) || plain.bytes > from->count)
        return false;
    char *text = malloc((size_t)plain.bytes + 1);
    if (!bytes_left_take(from, text, (size_t)plain.bytes)) {
        free(text);
        return false;
    }
    incident_reports_add(reports, &(incident_report){.number = plain.number,
                                                     .incident = plain.incident,
                                                     .made = plain.made,
                                                     .end = plain.end,
                                                     .waits = plain.waits != 0,
                                                     .text = text,
                                                     .bytes = (size_t)plain.bytes});
    return true;
}

bool stream_incidents_read(stream_incidents *all, bytes_left *from)
{
    plain_head head = {.report_count = 0};
    bool is_good = bytes_left_take(from, &head, sizeof head);
    all->report_numbers = head.report_numbers;
    for (uint64_t i = 0; i < head.report_count && is_good; i++)
        is_good = read_report(&all->reports, from);
    is_good = is_good && from->count == head.snapshot_bytes &&
              (from->count == 0 ||
               oif_incidents_load_memory(from->next, from->count, &all->open, NULL) == OIF_OK);
    if (!is_good)
        stream_incidents_free(all);
    return is_good;
}

void stream_incidents_free(stream_incidents *all)
{
    oif_incidents_free(all->open);
    incident_reports_free(&all->reports);
    *all = (stream_incidents){.open = NULL};
}
