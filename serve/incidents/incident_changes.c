/* What happens to incidents: episodes begin and end, and time passes. */
#include "incident_list_parts.h"

#include "front/results/incident_record.h"
#include "front/text/cut.h"

#include <inttypes.h>
#include <stdlib.h>

/* gcc's analyzer reports a text that is returned in a struct as leaked. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static const double quiet_seconds = 600, ahead_seconds_max = 86400, never_seconds = 1e12;

/* ---- Lifecycle ---- */

static oif_incidents *make_incidents(void)
{
    oif_params options;
    oif_incidents *made = NULL;
    oif_incidents_options_init(&options);
    bool is_good = oif_params_set(&options, "max_incidents", INCIDENTS_OPEN_MAX, NULL) == OIF_OK &&
                   oif_params_set(&options, "max_members", INCIDENT_MEMBERS_MAX, NULL) == OIF_OK &&
                   oif_params_set(&options, "quiet_seconds", quiet_seconds, NULL) == OIF_OK &&
                   oif_params_set(&options, "stale_seconds", never_seconds, NULL) == OIF_OK &&
                   oif_incidents_new(&options, &made, NULL) == OIF_OK;
    return is_good ? made : NULL;
}

incident_list *incident_list_open(const char *folder, const incident_listener *listener)
{
    incident_list *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    pthread_mutex_init(&list->saving, NULL);
    pthread_mutex_init(&list->lock, NULL);
    list->listener = *listener;
    list->arrived = NAN;
    list->folder = folder ? strdup(folder) : NULL;
    if ((!folder || list->folder) &&
        ((folder && incident_file_load(list)) || (list->incidents = make_incidents())))
        return list;
    incident_list_close(list);
    return NULL;
}

static void free_ended(ended_incident *ended)
{
    free(ended->record.text);
    free(ended->begin.text);
}

void incident_list_close(incident_list *list)
{
    if (!list)
        return;
    oif_incidents_free(list->incidents);
    for (size_t i = 0; i < list->open_count; i++) {
        free(list->open[i].reason.text);
        free(list->open[i].begin.text);
    }
    for (size_t i = 0; i < list->ended_count; i++)
        free_ended(incident_list_ended_at(list, i));
    byte_table_free(&list->events);
    byte_table_free(&list->known);
    pthread_mutex_destroy(&list->lock);
    pthread_mutex_destroy(&list->saving);
    free(list->folder);
    free(list);
}

/* ---- Parts of the list ---- */

ended_incident *incident_list_ended_at(incident_list *list, size_t index)
{
    return &list->ended[(list->ended_start + index) % INCIDENTS_ENDED_MAX];
}

size_t incident_notices_of(const ended_incident *ended)
{
    return (size_t)(ended->begin.text != NULL) + ended->is_end_unsent;
}

void incident_list_add_ended(incident_list *list, ended_incident added)
{
    if (list->ended_count == INCIDENTS_ENDED_MAX) {
        ended_incident *oldest = incident_list_ended_at(list, 0);
        list->dropped += incident_notices_of(oldest);
        free_ended(oldest);
        list->ended_start = (list->ended_start + 1) % INCIDENTS_ENDED_MAX;
        list->ended_count--;
    }
    *incident_list_ended_at(list, list->ended_count++) = added;
}

open_incident *incident_list_find_open(incident_list *list, uint64_t number)
{
    for (size_t i = 0; i < list->open_count; i++)
        if (list->open[i].number == number)
            return &list->open[i];
    return NULL;
}

numbered_item *incident_list_item(byte_table *table, const char *key, size_t bytes)
{
    numbered_item *found = byte_table_find(table, key, bytes);
    return found ? found : byte_table_add(table, key, bytes, sizeof *found);
}

kept_text kept_text_copy(const char *text, size_t bytes)
{
    kept_text copy = {.text = malloc(bytes + 1)};
    if (!copy.text)
        return copy;
    memcpy(copy.text, text, bytes);
    copy.text[bytes] = '\0';
    copy.bytes = bytes;
    return copy;
}

/* ---- Names of episodes ---- */

size_t incident_key(const char *key, size_t bytes, char made[OIF_INCIDENT_TEXT_BYTES])
{
    enum { HASH_BYTES = 17 };
    char hash[HASH_BYTES + 1];
    if (bytes <= OIF_INCIDENT_TEXT_BYTES) {
        if (bytes > 0)
            memcpy(made, key, bytes);
        return bytes;
    }
    const size_t kept = cut_bytes(key, bytes, OIF_INCIDENT_TEXT_BYTES - HASH_BYTES);
    snprintf(hash, sizeof hash, "~%016" PRIx64, byte_hash(BYTE_HASH_START, key, bytes));
    memcpy(made, key, kept);
    memcpy(made + kept, hash, HASH_BYTES);
    return kept + HASH_BYTES;
}

size_t incident_identity(uint64_t number, const char *stream, size_t stream_bytes, const char *key,
                         size_t key_bytes, char text[IDENTITY_BYTES])
{
    size_t bytes = (size_t)snprintf(text, IDENTITY_BYTES, "%" PRIu64 " %.*s ", number,
                                    (int)(stream_bytes < 64 ? stream_bytes : 64), stream);
    const size_t most = IDENTITY_BYTES - bytes;
    key_bytes = key_bytes < most ? key_bytes : most;
    if (key_bytes > 0)
        memcpy(text + bytes, key, key_bytes);
    return bytes + key_bytes;
}

/* ---- Changes ---- */

static void tell_of_first(incident_list *list, uint64_t number, const char *text, size_t bytes)
{
    char stream[OIF_INCIDENT_TEXT_BYTES + 1];
    oif_incident_member first;
    if (!oif_incidents_member(list->incidents, number, 0, &first))
        return;
    snprintf(stream, sizeof stream, "%.*s", (int)first.stream_bytes, first.stream);
    list->listener.hear(list->listener.context, stream, first.key, first.key_bytes, text, bytes);
}

/* `about` is the episode that changes it; NULL: none. */
static void tell(incident_list *list, uint64_t number, incident_phase phase,
                 const incident_episode *about)
{
    const open_incident *open = incident_list_find_open(list, number);
    const incident_view view = {.phase = phase,
                                .has_times = true,
                                .is_brief = true,
                                .reason = open ? open->reason.text : NULL};
    size_t bytes;
    output_divert();
    incident_record_write(list->incidents, number, &view);
    char *text = output_diverted(&bytes);
    if (text && about)
        list->listener.hear(list->listener.context, about->stream, about->key, about->key_bytes,
                            text, bytes);
    else if (text)
        tell_of_first(list, number, text, bytes);
    free(text);
}

kept_text incident_list_record(const incident_list *list, uint64_t number, incident_phase phase,
                               const char *reason)
{
    const incident_view view = {.phase = phase, .has_times = true, .reason = reason};
    kept_text record;
    output_divert();
    incident_record_write(list->incidents, number, &view);
    record.text = output_diverted(&record.bytes);
    return record;
}

static void add_open(incident_list *list, uint64_t number, const incident_episode *first)
{
    const char *reason = first->reason ? first->reason : "";
    if (list->open_count == INCIDENTS_OPEN_MAX + 1)
        return;
    list->total++;
    open_incident *open = &list->open[list->open_count++];
    *open = (open_incident){.number = number};
    open->reason = kept_text_copy(reason, cut_bytes(reason, strlen(reason), REASON_BYTES_MAX));
    if (list->is_noticed)
        open->begin = incident_list_record(list, number, INCIDENT_BEGINS, open->reason.text);
    tell(list, number, INCIDENT_BEGINS, first);
}

static void end_incident(incident_list *list, uint64_t number)
{
    oif_incident_info info = {0};
    open_incident *open = incident_list_find_open(list, number), none = {0};
    if (!open)
        open = &none;
    oif_incidents_info(list->incidents, number, &info);
    ended_incident ended = {
        .number = number, .end_seconds = info.last_seconds, .begin = open->begin};
    ended.record = incident_list_record(list, number, INCIDENT_ENDS, open->reason.text);
    ended.is_end_unsent = ended.record.text && list->is_noticed;
    tell(list, number, INCIDENT_ENDS, NULL);
    free(open->reason.text);
    if (open != &none) {
        size_t after = (size_t)(list->open + list->open_count - open) - 1;
        memmove(open, open + 1, after * sizeof *open);
        list->open_count--;
    }
    incident_list_add_ended(list, ended);
}

static void take_ended(incident_list *list)
{
    uint64_t number;
    while (oif_incidents_next_over(list->incidents, &number)) {
        list->is_changed = true;
        end_incident(list, number);
    }
}

/* ---- Episodes ---- */

static oif_incident_event event_of(const incident_episode *episode,
                                   char key[OIF_INCIDENT_TEXT_BYTES])
{
    double seconds = episode->seconds;
    if (!(seconds <= episode->now + ahead_seconds_max) || isinf(seconds))
        seconds = episode->now;
    return (oif_incident_event){.stream = episode->stream,
                                .key = key,
                                .key_bytes = incident_key(episode->key, episode->key_bytes, key),
                                .column = episode->column,
                                .seconds = seconds,
                                .severity = episode->severity,
                                .episode = episode->number};
}

/* Whether the file that was loaded has a replayed event. */
static bool is_known(incident_list *list, const incident_episode *episode)
{
    const numbered_item *last =
        byte_table_find(&list->events, episode->stream, strlen(episode->stream));
    return episode->is_replayed && last && episode->event <= last->number;
}

static uint64_t find_known(incident_list *list, const oif_incident_event *event)
{
    char identity[IDENTITY_BYTES];
    const size_t bytes = incident_identity(event->episode, event->stream, strlen(event->stream),
                                           event->key, event->key_bytes, identity);
    const numbered_item *known = byte_table_find(&list->known, identity, bytes);
    return known ? known->number : 0;
}

static void note_event(incident_list *list, const incident_episode *episode)
{
    const char *stream = episode->stream;
    numbered_item *last = incident_list_item(&list->events, stream, strlen(stream));
    if (last)
        last->number = episode->event;
    list->arrived = episode->now;
    list->is_changed = true;
}

static double peak_of(const incident_list *list, uint64_t number)
{
    oif_incident_info info;
    return oif_incidents_info(list->incidents, number, &info) ? info.peak_severity : 0;
}

/* Under the lock. */
static uint64_t begin(incident_list *list, const incident_episode *episode,
                      const oif_incident_event *event)
{
    oif_incident_place place = {0};
    const double before = peak_of(list, episode->incident);
    if (oif_incidents_begin(list->incidents, event, &place, NULL) != OIF_OK)
        return 0;
    note_event(list, episode);
    take_ended(list);
    if (place.is_new)
        add_open(list, place.incident, episode);
    else if (place.joins ||
             incident_record_grade(before) < incident_record_grade(peak_of(list, place.incident)))
        tell(list, place.incident, INCIDENT_GROWS, episode);
    return place.incident;
}

uint64_t incident_list_begin(incident_list *list, const incident_episode *episode)
{
    char key[OIF_INCIDENT_TEXT_BYTES];
    const oif_incident_event event = event_of(episode, key);
    pthread_mutex_lock(&list->lock);
    const uint64_t number =
        is_known(list, episode) ? find_known(list, &event) : begin(list, episode, &event);
    pthread_mutex_unlock(&list->lock);
    return number;
}

void incident_list_end(incident_list *list, const incident_episode *episode)
{
    char key[OIF_INCIDENT_TEXT_BYTES];
    oif_incident_place place;
    const oif_incident_event event = event_of(episode, key);
    pthread_mutex_lock(&list->lock);
    if (!is_known(list, episode) &&
        oif_incidents_end(list->incidents, &event, &place, NULL) == OIF_OK) {
        note_event(list, episode);
        take_ended(list);
    }
    pthread_mutex_unlock(&list->lock);
}

/* ---- Time ---- */

void incident_list_advance(incident_list *list, double seconds, double now)
{
    pthread_mutex_lock(&list->lock);
    list->arrived = now;
    if (list->open_count > 0) {
        oif_incidents_advance(list->incidents, seconds <= now + ahead_seconds_max ? seconds : now);
        take_ended(list);
    }
    pthread_mutex_unlock(&list->lock);
}

void incident_list_wait(incident_list *list, double now)
{
    pthread_mutex_lock(&list->lock);
    if (isnan(list->arrived) || now < list->arrived)
        list->arrived = now;
    if (list->open_count > 0 && now - list->arrived >= quiet_seconds) {
        oif_incidents_finish(list->incidents);
        take_ended(list);
    }
    pthread_mutex_unlock(&list->lock);
}

/* ---- Members that have no episode ---- */

/* A member with its texts, which stay while the lock is not held. */
typedef struct named_member {
    oif_incident_member info;
    char stream[OIF_INCIDENT_TEXT_BYTES + 1], key[OIF_INCIDENT_TEXT_BYTES];
} named_member;

/* Under the lock: member `index` of an open incident. False: there is none. */
static bool get_member(const incident_list *list, size_t incident, size_t index, named_member *one)
{
    if (!oif_incidents_member(list->incidents, list->open[incident].number, index, &one->info))
        return false;
    snprintf(one->stream, sizeof one->stream, "%.*s", (int)one->info.stream_bytes,
             one->info.stream);
    memcpy(one->key, one->info.key, one->info.key_bytes);
    one->info.stream = one->stream;
    one->info.key = one->key;
    return true;
}

/* Under the lock. */
static void end_member(incident_list *list, const named_member *one)
{
    oif_incident_place place;
    const oif_incident_event event = {.stream = one->stream,
                                      .key = one->key,
                                      .key_bytes = one->info.key_bytes,
                                      .seconds = NAN,
                                      .severity = one->info.severity,
                                      .episode = one->info.episode};
    if (oif_incidents_end(list->incidents, &event, &place, NULL) == OIF_OK)
        list->is_changed = true;
}

void incident_list_forget_stream(incident_list *list, const char *stream, double now)
{
    named_member one;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->open_count; i++)
        for (size_t j = 0; get_member(list, i, j, &one); j++)
            if (isnan(one.info.end_seconds) && strcmp(one.stream, stream) == 0)
                end_member(list, &one);
    list->arrived = now;
    take_ended(list);
    numbered_item *last = byte_table_find(&list->events, stream, strlen(stream));
    if (last)
        byte_table_remove(&list->events, last);
    list->is_changed = true;
    pthread_mutex_unlock(&list->lock);
}

bool incident_list_has(incident_list *list, uint64_t number)
{
    pthread_mutex_lock(&list->lock);
    bool is_there = incident_list_find_open(list, number) != NULL;
    pthread_mutex_unlock(&list->lock);
    return is_there;
}

/* A member whose end has passed is settled; for the others `is_open` is asked without the lock,
 * because it takes the lock of a stream, and streams report their episodes under theirs. */
static bool settle_member(incident_list *list, size_t incident, size_t index,
                          bool (*is_open)(void *context, const oif_incident_member *member),
                          void *context)
{
    named_member one;
    pthread_mutex_lock(&list->lock);
    bool is_there = incident < list->open_count && get_member(list, incident, index, &one);
    pthread_mutex_unlock(&list->lock);
    if (!is_there || !isnan(one.info.end_seconds) || is_open(context, &one.info))
        return is_there;
    pthread_mutex_lock(&list->lock);
    end_member(list, &one);
    pthread_mutex_unlock(&list->lock);
    return true;
}

void incident_list_settle(incident_list *list,
                          bool (*is_open)(void *context, const oif_incident_member *member),
                          void *context, double now)
{
    for (size_t i = 0; i <= INCIDENTS_OPEN_MAX; i++)
        for (size_t j = 0; settle_member(list, i, j, is_open, context); j++)
            continue;
    pthread_mutex_lock(&list->lock);
    list->arrived = now;
    take_ended(list);
    byte_table_free(&list->known);
    pthread_mutex_unlock(&list->lock);
}
