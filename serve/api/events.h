/* Server-sent events: sends the feed to every client that waits for it. A client without news is
 * suspended and needs no thread. Nothing is buffered for a slow reader: it is informed which events
 * it has lost (FEED_LOST) and continues with those that exist. libmicrohttpd cuts off a client that
 * reads nothing for --timeout. */
#ifndef OIF_SERVE_EVENTS_H
#define OIF_SERVE_EVENTS_H

#include "serve/base/feed.h"
#include "serve/http/loops.h"

#include <stdint.h>

typedef struct events events;
typedef struct events_client events_client;

/* NULL: out of memory. */
events *events_open(feed *source);
void events_end(events *all);        /* ends the answers of all clients, present and future */
void events_restart(events *all);    /* ends those of present clients, which then ask again */
void events_resume_all(events *all); /* after events_end: from now on no client is suspended */
void events_close(events *all);      /* once there are no clients */

/* Copies the strings of the filter. `after` is the number of the last event that the client has
 * seen; UINT64_MAX: only new ones. */
events_client *events_client_new(events *all, const feed_filter *filter, uint64_t after);
void events_client_free(events_client *client); /* accepts NULL */

/* The response that sends the events; it takes ownership of the client. NULL: out of memory; the
 * caller then still owns the client. */
struct MHD_Response *events_respond(events_client *client, struct MHD_Connection *connection,
                                    loops *all);

#endif
