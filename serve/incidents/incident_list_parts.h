/* The internals of the list of incidents, for the files that implement it. */
#ifndef OIF_SERVE_INCIDENT_LIST_PARTS_H
#define OIF_SERVE_INCIDENT_LIST_PARTS_H

#include "front/results/incident_record.h"
#include "front/text/byte_table.h"
#include "incident_list.h"

#include <pthread.h>

typedef struct kept_text {
    char *text; /* NULL: none */
    size_t bytes;
} kept_text;

typedef struct ended_incident {
    uint64_t number;
    double end_seconds;
    kept_text record;
} ended_incident;

typedef struct kept_notice {
    uint64_t number; /* of the notice */
    kept_text record;
} kept_notice;

/* An item of `events`, by the name of a stream, or of `known`, by the identity of an episode. */
typedef struct numbered_item {
    byte_item item;
    uint64_t number;
} numbered_item;

struct incident_list {
    char *folder; /* NULL: nothing is stored */
    incident_listener listener;

    pthread_mutex_t lock; /* protects what follows */
    oif_incidents *incidents;
    ended_incident ended[INCIDENTS_ENDED_MAX]; /* a ring */
    size_t ended_count, ended_start;
    kept_notice notices[INCIDENT_NOTICES_MAX]; /* the oldest first */
    size_t notice_count;
    uint64_t notice_numbers, dropped; /* notices that were made; those for which was no room */
    uint64_t total;                   /* incidents that began */
    byte_table events;                /* how many each stream has reported */
    byte_table known; /* the incident of each episode in the file, until the streams are loaded */
    uint64_t copies;  /* that were made */
    bool is_noticed;  /* notices are kept to be sent */
    bool is_changed;  /* since the last copy */
    bool is_failing;  /* the last save failed */

    pthread_mutex_t saving; /* protects the file and what follows; taken before `lock` */
    uint64_t saved_copy;    /* its number */
};

/* ---- incident_changes.c ---- */

kept_text kept_text_copy(const char *text, size_t bytes);

/* The whole record; the caller frees it. */
kept_text incident_list_record(const incident_list *list, uint64_t number, incident_phase phase);

/* Of ended incidents, 0 being the oldest. */
ended_incident *incident_list_ended_at(incident_list *list, size_t index);
void incident_list_add_ended(incident_list *list, ended_incident added);
void incident_list_add_notice(incident_list *list, kept_text record);
numbered_item *incident_list_item(byte_table *table, const char *key, size_t bytes);

/* "3 fleet host-17", at most that many bytes, for `known`. Returns its bytes. */
enum { IDENTITY_BYTES = 2 * OIF_INCIDENT_TEXT_BYTES + 32 };
size_t incident_identity(uint64_t number, const char *stream, size_t stream_bytes, const char *key,
                         size_t key_bytes, char text[IDENTITY_BYTES]);

/* ---- incident_file.c ---- */

/* Fills a new list. False: there is no file, or it was set aside. */
bool incident_file_load(incident_list *list);

#endif
