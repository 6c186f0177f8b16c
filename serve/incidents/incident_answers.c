/* What others get from the list of incidents: JSON, notices and figures. */
#include "incident_list_parts.h"

#include "front/results/incident_record.h"

#include <stdlib.h>

/* ---- Notices ---- */

static void drop_text(kept_text *text)
{
    free(text->text);
    *text = (kept_text){.text = NULL};
}

void incident_list_set_noticed(incident_list *list, bool is_noticed)
{
    pthread_mutex_lock(&list->lock);
    list->is_noticed = is_noticed;
    for (size_t i = 0; i < list->open_count && !is_noticed; i++)
        drop_text(&list->open[i].begin);
    for (size_t i = 0; i < list->ended_count && !is_noticed; i++) {
        ended_incident *ended = incident_list_ended_at(list, i);
        drop_text(&ended->begin);
        ended->is_end_unsent = false;
    }
    pthread_mutex_unlock(&list->lock);
}

static bool make_notice(uint64_t number, bool is_end, const kept_text *text,
                        incident_notice *notice)
{
    kept_text copy = kept_text_copy(text->text, text->bytes);
    *notice = (incident_notice){number, is_end, copy.text, copy.bytes};
    return copy.text != NULL;
}

static bool next_notice(incident_list *list, incident_notice *notice)
{
    for (size_t i = 0; i < list->ended_count; i++) {
        const ended_incident *ended = incident_list_ended_at(list, i);
        if (ended->begin.text)
            return make_notice(ended->number, false, &ended->begin, notice);
        if (ended->is_end_unsent)
            return make_notice(ended->number, true, &ended->record, notice);
    }
    for (size_t i = 0; i < list->open_count; i++)
        if (list->open[i].begin.text)
            return make_notice(list->open[i].number, false, &list->open[i].begin, notice);
    return false;
}

bool incident_list_next_notice(incident_list *list, incident_notice *notice)
{
    pthread_mutex_lock(&list->lock);
    bool is_found = next_notice(list, notice);
    pthread_mutex_unlock(&list->lock);
    return is_found;
}

void incident_list_notice_done(incident_list *list, const incident_notice *notice)
{
    pthread_mutex_lock(&list->lock);
    open_incident *open = incident_list_find_open(list, notice->number);
    if (open)
        drop_text(&open->begin);
    for (size_t i = 0; i < list->ended_count; i++) {
        ended_incident *ended = incident_list_ended_at(list, i);
        if (ended->number != notice->number)
            continue;
        drop_text(&ended->begin);
        ended->is_end_unsent &= !notice->is_end;
    }
    list->is_changed = true;
    pthread_mutex_unlock(&list->lock);
}

void incident_list_get_waiting(incident_list *list, incident_waiting *waiting)
{
    pthread_mutex_lock(&list->lock);
    *waiting = (incident_waiting){.dropped = list->dropped};
    for (size_t i = 0; i < list->open_count; i++)
        waiting->count += list->open[i].begin.text != NULL;
    for (size_t i = 0; i < list->ended_count; i++)
        waiting->count += incident_notices_of(incident_list_ended_at(list, i));
    pthread_mutex_unlock(&list->lock);
}

/* ---- JSON ---- */

typedef struct ranked {
    uint64_t number;
    double peak, last;
} ranked;

static int worst_first(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    int order = (left->peak < right->peak) - (left->peak > right->peak);
    return order != 0 ? order : (left->number < right->number) - (left->number > right->number);
}

static size_t rank_open(incident_list *list, ranked found[INCIDENTS_OPEN_MAX + 1])
{
    oif_incident_info info;
    size_t count = 0;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->open_count; i++)
        if (oif_incidents_info(list->incidents, list->open[i].number, &info))
            found[count++] = (ranked){info.number, info.peak_severity, info.last_seconds};
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
    pthread_mutex_lock(&list->lock);
    const open_incident *open = incident_list_find_open(list, one->number);
    if (open)
        record = incident_list_record(list, one->number, INCIDENT_LASTS, open->reason.text);
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
    ranked open[INCIDENTS_OPEN_MAX + 1];
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
    *figures = (incident_figures){.open = list->open_count, .total = list->total};
    pthread_mutex_unlock(&list->lock);
}
