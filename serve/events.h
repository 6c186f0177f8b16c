/* Server-sent events: what the feed brings, to every client that waits for it. A client without
 * news is suspended and costs no thread. Nothing is buffered for one that reads more slowly than
 * events come: it hears which it has lost (FEED_LOST) and goes on with those that are there; one
 * that reads nothing for --timeout is cut off by libmicrohttpd. */
#ifndef OIF_SERVE_EVENTS_H
#define OIF_SERVE_EVENTS_H

#include "feed.h"

#include <stdint.h>

typedef struct events events;
typedef struct events_client events_client;
struct MHD_Connection;
struct MHD_Response;

/* NULL: no memory. */
events *events_open(feed *source);
void events_end(events *all);   /* ends the answers of all clients, also of later ones */
void events_close(events *all); /* when there are no clients */

/* The strings of the filter are copied. `after` is the number of the last event that the client
 * has seen; UINT64_MAX: only new ones. */
events_client *events_client_new(events *all, const feed_filter *filter, uint64_t after);
void events_client_free(events_client *client); /* NULL is fine */

/* The response that sends them; the client belongs to it from now on. NULL: no memory, and the
 * client still belongs to the caller. */
struct MHD_Response *events_respond(events_client *client, struct MHD_Connection *connection);

#endif
