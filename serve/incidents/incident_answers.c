/* What others get from the list of incidents: JSON, notices and figures. */
#include "incident_list_parts.h"

#include "front/results/incident_record.h"

#include <stdlib.h>

/* ---- Notices ---- */

/* Under the lock. */
static void drop_notices(incident_list *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list->notices[i].record.text);
    list->notice_count -= count;
    memmove(list->notices, list->notices + count, list->notice_count * sizeof *list->notices);
}

void incident_list_set_noticed(incident_list *list, bool is_noticed)
{
    pthread_mutex_lock(&list->lock);
    list->is_noticed = is_noticed;
    if (!is_noticed)
        drop_notices(list, list->notice_count);
    pthread_mutex_unlock(&list->lock);
}

bool incident_list_next_notice(incident_list *list, incident_notice *notice)
{
    pthread_mutex_lock(&list->lock);
    const kept_notice *next = list->notice_count > 0 ? &list->notices[0] : NULL;
    kept_text copy = {.text = NULL};
    if (next)
        copy = kept_text_copy(next->record.text, next->record.bytes);
    if (copy.text)
        *notice = (incident_notice){next->number, copy.text, copy.bytes};
    pthread_mutex_unlock(&list->lock);
    return copy.text != NULL;
}

void incident_list_notice_done(incident_list *list, const incident_notice *notice)
{
    pthread_mutex_lock(&list->lock);
    if (list->notice_count > 0 && list->notices[0].number == notice->number)
        drop_notices(list, 1);
    list->is_changed = true;
    pthread_mutex_unlock(&list->lock);
}

void incident_list_get_waiting(incident_list *list, incident_waiting *waiting)
{
    pthread_mutex_lock(&list->lock);
    *waiting = (incident_waiting){.count = list->notice_count, .dropped = list->dropped};
    pthread_mutex_unlock(&list->lock);
}

/* ---- JSON ---- */

typedef struct ranked {
    uint64_t number;
    double severity, last; /* of its worst open member; its last event */
} ranked;

static int worst_first(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    int order = (left->severity < right->severity) - (left->severity > right->severity);
    return order != 0 ? order : (left->number < right->number) - (left->number > right->number);
}

static size_t rank_open(incident_list *list, ranked found[INCIDENT_MEMBERS_MAX])
{
    oif_incident_info info;
    oif_incident_member worst;
    uint64_t number;
    size_t count = 0;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; (number = oif_incidents_number(list->incidents, i)) != 0; i++)
        if (oif_incidents_info(list->incidents, number, &info) &&
            oif_incidents_member(list->incidents, number, info.worst, &worst))
            found[count++] = (ranked){number, worst.severity, info.last_seconds};
    pthread_mutex_unlock(&list->lock);
    if (count > 0)
        qsort(found, count, sizeof *found, worst_first);
    return count;
}

typedef struct record_list {
    const incidents_query *query;
    size_t limit, written;
} record_list;

static bool is_wanted(const record_list *to, uint64_t number, double last)
{
    const incidents_query *query = to->query;
    return to->written < to->limit && !(last < query->since) &&
           (query->number == 0 || query->number == number);
}

static void write_record(record_list *to, const kept_text *record)
{
    if (!record->text)
        return;
    output_text(to->written++ > 0 ? ",\n" : "");
    output_write(record->text, record->bytes);
}

/* The lock is released between two incidents, so rows do not wait for a long list. */
static void write_open(incident_list *list, record_list *to, const ranked *one)
{
    kept_text record = {.text = NULL};
    if (!is_wanted(to, one->number, one->last))
        return;
    oif_incident_info info;
    pthread_mutex_lock(&list->lock);
    if (oif_incidents_info(list->incidents, one->number, &info) && !info.is_over)
        record = incident_list_record(list, one->number, INCIDENT_LASTS);
    pthread_mutex_unlock(&list->lock);
    write_record(to, &record);
    free(record.text);
}

static void write_ended(incident_list *list, record_list *to)
{
    pthread_mutex_lock(&list->lock);
    for (size_t i = list->ended_count; i > 0; i--) {
        const ended_incident *ended = incident_list_ended_at(list, i - 1);
        if (is_wanted(to, ended->number, ended->end_seconds))
            write_record(to, &ended->record);
    }
    pthread_mutex_unlock(&list->lock);
}

bool incident_list_write(incident_list *list, const incidents_query *query)
{
    enum { USUAL_LIMIT = 100 };
    ranked open[INCIDENT_MEMBERS_MAX];
    record_list to = {query, query->limit > 0 ? query->limit : USUAL_LIMIT, 0};
    const size_t count = rank_open(list, open);
    output_print("{\"open\":%zu,\"incidents\":[", count);
    for (size_t i = 0; i < count; i++)
        write_open(list, &to, &open[i]);
    if (!query->only_open)
        write_ended(list, &to);
    output_print("]}\n");
    return query->number == 0 || to.written > 0;
}

/* ---- Figures ---- */

void incident_list_get_figures(incident_list *list, incident_figures *figures)
{
    pthread_mutex_lock(&list->lock);
    *figures = (incident_figures){.total = list->total};
    while (oif_incidents_number(list->incidents, figures->open) != 0)
        figures->open++;
    pthread_mutex_unlock(&list->lock);
}
