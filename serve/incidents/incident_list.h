/* The incidents of a server: which episodes of a stream begin together.
 *
 *     streams --begin, worse, end--> incident_list --> open incidents: oif_incidents
 *                                        |             ended ones: a ring of their records
 *                                        |--> a text for each change, to the listener
 *                                        `--> notices: records to send, until they are sent
 *
 * Any thread may make any call. The lock is held for one event, or for one record, at a time. */
#ifndef OIF_SERVE_INCIDENT_LIST_H
#define OIF_SERVE_INCIDENT_LIST_H

#include "oif.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct incident_list incident_list;

enum {
    INCIDENT_MEMBERS_MAX = 4096, /* of all open incidents; further episodes belong to none */
    INCIDENTS_ENDED_MAX = 200,
    INCIDENT_NOTICES_MAX = 500
};

/* Hears of each change: a brief record, without a line end. It must not call the list. `stream` and
 * `key` are those of the episode. */
typedef struct incident_listener {
    void (*hear)(void *context, const char *stream, const char *key, size_t key_bytes,
                 const char *text, size_t bytes);
    void *context;
} incident_listener;

/* Loads DIR/incidents if `folder` is not NULL. A file that cannot be used is reported and renamed
 * to incidents.damaged. NULL: out of memory. */
incident_list *incident_list_open(const char *folder, const incident_listener *listener);
void incident_list_close(incident_list *list); /* accepts NULL; does not save */

/* ---- Episodes ---- */

typedef struct incident_episode {
    const char *stream, *key;
    size_t key_bytes;
    const char *column, *reason; /* of the first row; NULL or "": unknown */
    double seconds;              /* of the row; NaN: unknown. More than a day ahead counts as now */
    double now;                  /* by the wall clock */
    double severity;             /* the highest so far */
    uint64_t number;             /* of the episode */
    uint64_t event;              /* how many events the stream has reported, with this one */
    bool is_replayed;            /* from a journal: events that the file has are skipped */
} incident_episode;

/* An episode begins, or has become worse. Returns the number of its incident; 0: unknown. */
uint64_t incident_list_begin(incident_list *list, const incident_episode *episode);
void incident_list_end(incident_list *list, const incident_episode *episode);

/* The stream no longer exists: its episodes have ended. */
void incident_list_forget_stream(incident_list *list, const char *stream);

/* ---- After a start ---- */

/* Whether incidents of this number last. False for all while nothing was loaded. */
bool incident_list_has(incident_list *list, uint64_t number);

/* Once all streams are loaded, before others use the list: ends the members whose episode is not
 * open. The key that `is_open` gets is as incident_key makes it. */
void incident_list_settle(incident_list *list,
                          bool (*is_open)(void *context, const oif_incident_member *member),
                          void *context);

/* The key as incidents know it: a long one is cut and ends with its hash. Returns its bytes. */
size_t incident_key(const char *key, size_t bytes, char made[OIF_INCIDENT_TEXT_BYTES]);

/* ---- JSON, written to the (diverted) output ---- */

typedef struct incidents_query {
    uint64_t number; /* 0: all */
    bool only_open;
    double since; /* by the last event, seconds since 1970; NaN: all */
    size_t limit; /* 0: 100 */
} incidents_query;

/* {"open": how many, "incidents": [record, ...]}: the open ones, the one with the worst open
 * episode first, and then those that are over, the latest first. False: there is no incident of the
 * number. */
bool incident_list_write(incident_list *list, const incidents_query *query);

/* ---- Notices ---- */

/* A record to be sent: an incident begins, gets a higher grade or ends. */
typedef struct incident_notice {
    uint64_t number; /* of the notice */
    char *text;      /* the caller frees it */
    size_t bytes;
} incident_notice;

/* Whether notices are kept to be sent from now on; if not, what waits is dropped. Without
 * this call nothing is kept. Call it before the streams are loaded: a journal may have the begin
 * of an incident that was not sent before a crash. */
void incident_list_set_noticed(incident_list *list, bool is_noticed);

/* The oldest one; false: there is none. It is returned again until it is done. */
bool incident_list_next_notice(incident_list *list, incident_notice *notice);
void incident_list_notice_done(incident_list *list, const incident_notice *notice);

typedef struct incident_waiting {
    size_t count;     /* notices that wait */
    uint64_t dropped; /* notices for which there was no room */
} incident_waiting;

void incident_list_get_waiting(incident_list *list, incident_waiting *waiting);

/* ---- Figures and the file ---- */

typedef struct incident_figures {
    size_t open;
    uint64_t total; /* that began */
} incident_figures;

void incident_list_get_figures(incident_list *list, incident_figures *figures);

/* What is to be saved: the caller frees it with incident_list_save, after the rows that it is about
 * are on disk. NULL: nothing has changed, or out of memory. */
typedef struct incident_copy incident_copy;
incident_copy *incident_list_copy(incident_list *list);

/* Writes the file, unless it has a later copy; reports a failure once. `copy` may be NULL. */
bool incident_list_save(incident_list *list, incident_copy *copy);

#endif
