/* What happens to incidents: episodes begin, become worse and end. */
#include "incident_list_parts.h"

#include "front/results/incident_record.h"
#include "front/text/cut.h"

#include <inttypes.h>
#include <stdlib.h>

/* gcc's analyzer reports a text that is returned in a struct as leaked. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static const double ahead_seconds_max = 86400;

/* ---- Lifecycle ---- */

static oif_incidents *make_incidents(void)
{
    oif_params options;
    oif_incidents *made = NULL;
    oif_incidents_options_init(&options);
    bool is_good = oif_params_set(&options, "max_members", INCIDENT_MEMBERS_MAX, NULL) == OIF_OK &&
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
    list->folder = folder ? strdup(folder) : NULL;
    if ((!folder || list->folder) &&
        ((folder && incident_file_load(list)) || (list->incidents = make_incidents())))
        return list;
    incident_list_close(list);
    return NULL;
}

void incident_list_close(incident_list *list)
{
    if (!list)
        return;
    oif_incidents_free(list->incidents);
    for (size_t i = 0; i < list->notice_count; i++)
        free(list->notices[i].record.text);
    for (size_t i = 0; i < list->ended_count; i++)
        free(incident_list_ended_at(list, i)->record.text);
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

void incident_list_add_ended(incident_list *list, ended_incident added)
{
    if (list->ended_count == INCIDENTS_ENDED_MAX) {
        free(incident_list_ended_at(list, 0)->record.text);
        list->ended_start = (list->ended_start + 1) % INCIDENTS_ENDED_MAX;
        list->ended_count--;
    }
    *incident_list_ended_at(list, list->ended_count++) = added;
}

void incident_list_add_notice(incident_list *list, kept_text record)
{
    if (record.text && list->notice_count < INCIDENT_NOTICES_MAX) {
        list->notices[list->notice_count++] = (kept_notice){++list->notice_numbers, record};
        return;
    }
    list->dropped++;
    free(record.text);
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

/* `about` is the episode that changes it. */
static void tell(const incident_list *list, uint64_t number, incident_phase phase,
                 const incident_episode *about)
{
    const incident_view view = {.phase = phase, .has_times = true, .is_brief = true};
    size_t bytes;
    output_divert();
    incident_record_write(list->incidents, number, &view);
    char *text = output_diverted(&bytes);
    if (text)
        list->listener.hear(list->listener.context, about->stream, about->key, about->key_bytes,
                            text, bytes);
    free(text);
}

kept_text incident_list_record(const incident_list *list, uint64_t number, incident_phase phase)
{
    const incident_view view = {.phase = phase, .has_times = true};
    kept_text record;
    output_divert();
    incident_record_write(list->incidents, number, &view);
    record.text = output_diverted(&record.bytes);
    return record;
}

static void notify(incident_list *list, uint64_t number, incident_phase phase)
{
    if (list->is_noticed)
        incident_list_add_notice(list, incident_list_record(list, number, phase));
}

static void end_incident(incident_list *list, uint64_t number, const incident_episode *last)
{
    oif_incident_info info = {0};
    oif_incidents_info(list->incidents, number, &info);
    incident_list_add_ended(
        list, (ended_incident){.number = number,
                               .end_seconds = info.last_seconds,
                               .record = incident_list_record(list, number, INCIDENT_ENDS)});
    notify(list, number, INCIDENT_ENDS);
    tell(list, number, INCIDENT_ENDS, last);
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
                                .reason = episode->reason,
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
    list->is_changed = true;
}

/* Under the lock. Who hears of an incident hears again when its grade rises. */
static uint64_t begin(incident_list *list, const incident_episode *episode,
                      const oif_incident_event *event)
{
    oif_incident_place place;
    oif_incident_info info;
    if (oif_incidents_begin(list->incidents, event, &place, NULL) != OIF_OK ||
        !oif_incidents_info(list->incidents, place.incident, &info))
        return 0;
    note_event(list, episode);
    const bool is_worse =
        incident_record_grade(place.peak_before) < incident_record_grade(info.peak_severity);
    list->total += place.is_new;
    if (place.is_new || is_worse)
        notify(list, place.incident, place.is_new ? INCIDENT_BEGINS : INCIDENT_GROWS);
    if (place.is_new || place.joins || is_worse)
        tell(list, place.incident, place.is_new ? INCIDENT_BEGINS : INCIDENT_GROWS, episode);
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
        if (place.is_over)
            end_incident(list, place.incident, episode);
    }
    pthread_mutex_unlock(&list->lock);
}

/* ---- Members that have no episode ---- */

/* A member with its texts, which stay while the lock is not held. */
typedef struct named_member {
    oif_incident_member info;
    char stream[OIF_INCIDENT_TEXT_BYTES + 1], key[OIF_INCIDENT_TEXT_BYTES];
} named_member;

/* Under the lock: member `index` of the open incident at another index. False: there is none. */
static bool get_member(const incident_list *list, size_t incident, size_t index, named_member *one)
{
    if (!oif_incidents_member(list->incidents, oif_incidents_number(list->incidents, incident),
                              index, &one->info))
        return false;
    snprintf(one->stream, sizeof one->stream, "%.*s", (int)one->info.stream_bytes,
             one->info.stream);
    memcpy(one->key, one->info.key, one->info.key_bytes);
    one->info.stream = one->stream;
    one->info.key = one->key;
    return true;
}

/* Under the lock. Returns whether its incident is over. */
static bool end_member(incident_list *list, const named_member *one)
{
    oif_incident_place place = {0};
    const incident_episode episode = {
        .stream = one->stream, .key = one->key, .key_bytes = one->info.key_bytes};
    const oif_incident_event event = {.stream = one->stream,
                                      .key = one->key,
                                      .key_bytes = one->info.key_bytes,
                                      .seconds = NAN,
                                      .severity = one->info.severity,
                                      .episode = one->info.episode};
    if (oif_incidents_end(list->incidents, &event, &place, NULL) != OIF_OK)
        return false;
    list->is_changed = true;
    if (place.is_over)
        end_incident(list, place.incident, &episode);
    return place.is_over;
}

void incident_list_forget_stream(incident_list *list, const char *stream)
{
    named_member one;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0, j = 0; get_member(list, i, 0, &one); j = 0) {
        bool is_over = false;
        for (; !is_over && get_member(list, i, j, &one); j++)
            is_over = isnan(one.info.end_seconds) && strcmp(one.stream, stream) == 0 &&
                      end_member(list, &one);
        i += !is_over; /* the next one has its index */
    }
    numbered_item *last = byte_table_find(&list->events, stream, strlen(stream));
    if (last)
        byte_table_remove(&list->events, last);
    list->is_changed = true;
    pthread_mutex_unlock(&list->lock);
}

bool incident_list_has(incident_list *list, uint64_t number)
{
    oif_incident_info info;
    pthread_mutex_lock(&list->lock);
    bool is_there = oif_incidents_info(list->incidents, number, &info) && !info.is_over;
    pthread_mutex_unlock(&list->lock);
    return is_there;
}

typedef enum settled { NO_MEMBER, STAYS, ENDS_INCIDENT } settled;

/* A member whose end has passed is settled; for the others `is_open` is asked without the lock,
 * because it takes the lock of a stream, and streams report their episodes under theirs. */
static settled settle_member(incident_list *list, size_t incident, size_t index,
                             bool (*is_open)(void *context, const oif_incident_member *member),
                             void *context)
{
    named_member one;
    pthread_mutex_lock(&list->lock);
    bool is_there = get_member(list, incident, index, &one);
    pthread_mutex_unlock(&list->lock);
    if (!is_there)
        return NO_MEMBER;
    if (!isnan(one.info.end_seconds) || is_open(context, &one.info))
        return STAYS;
    pthread_mutex_lock(&list->lock);
    const bool is_over = end_member(list, &one);
    pthread_mutex_unlock(&list->lock);
    return is_over ? ENDS_INCIDENT : STAYS;
}

void incident_list_settle(incident_list *list,
                          bool (*is_open)(void *context, const oif_incident_member *member),
                          void *context)
{
    settled last = STAYS;
    for (size_t i = 0, j = 0; !(last == NO_MEMBER && j == 0);) {
        last = settle_member(list, i, j, is_open, context);
        if (last == NO_MEMBER && j > 0) { /* the next incident */
            last = STAYS;
            i++;
            j = 0;
        } else if (last != NO_MEMBER) {
            j = last == ENDS_INCIDENT ? 0 : j + 1; /* the next one has its index */
        }
    }
    pthread_mutex_lock(&list->lock);
    byte_table_free(&list->known);
    pthread_mutex_unlock(&list->lock);
}
