/* What each address has done before it showed a token: connections that are open, and tokens that
 * were wrong. One address can take up only a part of the connections, and try only some tokens per
 * minute. Any thread may make any call. */
#ifndef OIF_SERVE_CLIENTS_H
#define OIF_SERVE_CLIENTS_H

#include "address.h"

#include <stddef.h>

typedef struct clients clients;

/* `connections_max` per address. NULL: out of memory. */
clients *clients_new(size_t connections_max);
void clients_free(clients *all);

/* A connection opens; false: the address has too many. Local sockets have no limit. `counted` says
 * where it was counted, for clients_leave. */
bool clients_enter(clients *all, const char *address, char counted[ADDRESS_BYTES]);

/* It has shown a token, or needs none; or it ends before that. */
void clients_leave(clients *all, const char counted[ADDRESS_BYTES]);

/* Whether a token may be tried; else seconds until it may. */
bool clients_may_try(clients *all, const char *address, unsigned *wait_seconds);

/* A token was wrong. */
void clients_note_wrong(clients *all, const char *address);

#endif
