/* All streams of a server, and the folder that they are kept in:
 *
 *     DIR/streams/NAME/settings.json   what the stream was made with, and what was found out
 *                      state           the snapshot of its pipeline
 *                      history         recent points, episodes and alerts at that snapshot
 *                      journal         what has come since
 *
 * NAME is [A-Za-z0-9][A-Za-z0-9._-]{0,63}, so it is a safe part of a path. */
#ifndef OIF_SERVE_STREAMS_H
#define OIF_SERVE_STREAMS_H

#include "stream.h"

typedef struct streams streams;

typedef struct streams_options {
    const char *folder;   /* NULL: nothing is kept */
    double save_every;    /* seconds between two syncs of journals; 0: before every answer */
    size_t max_streams;   /* 0: 1000 */
    size_t max_columns;   /* of a stream; 0: 1000 */
    size_t history_bytes; /* per stream; 0: 64 MB */
} streams_options;

/* Takes the folder. Another program that holds it is a problem, and so is a folder that cannot be
 * written. */
bool streams_prepare(const streams_options *options, streams **prepared, problem *why);

/* Loads all streams of the folder and replays their journals. A stream that cannot be loaded is
 * there all the same, and says why in its `error`. If it fails, they are still to be closed. */
bool streams_load(streams *all, problem *why);

/* Both. */
bool streams_open(const streams_options *options, streams **opened, problem *why);

/* Saves everything. False if something could not be saved: that was said on stderr. */
bool streams_close(streams *all);

/* Counted: to be given back with stream_release. NULL: there is none of that name. */
stream *streams_find(streams *all, const char *name);
void stream_release(stream *one);

/* Makes a stream, or finds the one with these settings: then *is_new is false. `settings` is an
 * object, or NULL for none, and still belongs to the caller. *made may be NULL; else it is to be
 * released. */
bool streams_create(streams *all, const char *name, json_t *settings, stream **made, bool *is_new,
                    problem *why);

/* Removes a stream and what is kept of it. */
bool streams_remove(streams *all, const char *name, problem *why);

/* Calls `visit` for each stream, by name. */
void streams_each(streams *all, void (*visit)(void *context, stream *one), void *context);
size_t streams_count(streams *all);
size_t streams_max_columns(const streams *all);

/* Whether all streams are loaded and the disk takes what is written: else `why` says what is
 * wrong. For /readyz. */
bool streams_are_ready(streams *all, problem *why);

feed *streams_feed(streams *all);

/* {"streams": [Stream, ...]} and {"open": how many, "episodes": [up to `limit` of them, the worst
 * first], "streams": [...]}, written to the (diverted) output. */
void streams_write(streams *all);
void streams_write_now(streams *all, size_t limit);

/* Whether a name may be that of a stream. */
bool stream_name_is_valid(const char *name);

#endif
