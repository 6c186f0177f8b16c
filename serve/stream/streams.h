/* All streams of a server, and the folder where they are stored:
 *
 *     DIR/streams/NAME/settings.json   settings of the stream, and what was detected
 *                      state           the snapshot of its pipeline
 *                      history         recent points, episodes, alerts and incidents at that
 *                                      snapshot
 *                      senders         how many rows of each writer it has, and recent bodies
 *                      journal         everything since
 *                      days            hours and days in buckets of five minutes
 *
 * NAME is [A-Za-z0-9][A-Za-z0-9._-]{0,63}, so it is a safe part of a path. */
#ifndef OIF_SERVE_STREAMS_H
#define OIF_SERVE_STREAMS_H

#include "stream.h"

typedef struct streams streams;

enum { HISTORY_DISK_BYTES_INITIALLY = 128 << 20 };

typedef struct streams_options {
    const char *folder;        /* NULL: nothing is stored */
    double save_every;         /* seconds between two syncs of journals; 0: before every answer */
    size_t max_streams;        /* 0: 1000 */
    size_t max_columns;        /* of a stream; 0: 1000 */
    size_t history_bytes;      /* per stream; 0: 64 MB */
    size_t history_disk_bytes; /* the same on disk; 0: none */
    bool sends_incidents;      /* records of incidents are kept until they are sent */
} streams_options;

/* Locks the folder. It is a problem if another program holds it or it cannot be written. */
bool streams_prepare(const streams_options *options, streams **prepared, problem *why);

/* Loads all streams of the folder and replays their journals. A stream that cannot be loaded still
 * exists, with the cause in its `error`. Close the streams even if this fails. */
bool streams_load(streams *all, problem *why);

/* Both. */
bool streams_open(const streams_options *options, streams **opened, problem *why);

/* Saves everything. False if something could not be saved, which was reported on stderr. */
bool streams_close(streams *all);

/* Counted: give it back with stream_release. NULL: no stream has this name. */
stream *streams_find(streams *all, const char *name);
void stream_release(stream *one);

/* Creates a stream, or finds the one with these settings: then *is_new is false. `settings` is an
 * object, or NULL for none; the caller still owns it. `made` may be NULL; otherwise release
 * *made. */
bool streams_create(streams *all, const char *name, json_t *settings, stream **made, bool *is_new,
                    problem *why);

/* The same for rows that make their stream: it is provisional until one of them is accepted. */
bool streams_create_for_rows(streams *all, const char *name, json_t *settings, stream **made,
                             problem *why);

/* Removes provisional streams that no request uses. Call it after a refused post has released its
 * stream. */
void streams_drop_provisional(streams *all);

/* Removes a stream and its files. */
bool streams_remove(streams *all, const char *name, problem *why);

/* Calls `visit` for each stream, by name. */
void streams_each(streams *all, void (*visit)(void *context, stream *one), void *context);
size_t streams_count(streams *all);

/* Whether the disk accepts writes; else sets `why`. For /readyz. A damaged stream is not a reason
 * to take the others away, so it has an answer of its own. */
bool streams_are_ready(streams *all, problem *why);
bool stream_is_ready(stream *one, problem *why);
size_t streams_count_damaged(streams *all);

feed *streams_feed(streams *all);
const streams_options *streams_asked(const streams *all); /* with defaults for 0 */

/* {"streams": [Stream, ...]} and {"open": how many, "incidents": how many, "episodes": [up to
 * `limit` of them, the worst first], "streams": [...]}, written to the (diverted) output. */
void streams_write(streams *all);
void streams_write_now(streams *all, size_t limit);

/* {"open": how many, "outside": open episodes of no incident, "incidents": [record, ...]}: the open
 * ones, the one with the worst open episode first, and then those that are over, the latest first.
 * False: there is no incident of the number. */
bool streams_write_incidents(streams *all, const incidents_query *query);
size_t streams_open_incidents(streams *all);

/* The oldest record of an incident to send; false: there is none. It is returned again
 * until it is done. The caller frees its text. */
typedef struct incident_notice {
    char stream[STREAM_NAME_BYTES]; /* "": it was removed */
    uint64_t number;                /* of its report there */
    double made;
    char *text;
    size_t bytes;
} incident_notice;

bool streams_next_notice(streams *all, incident_notice *notice);
void streams_notice_done(streams *all, const incident_notice *notice);
size_t streams_count_notices(streams *all);

/* Whether a stream may have this name. */
bool stream_name_is_valid(const char *name);

#endif
