/* The open connections and their deadlines: a client that sends or reads too slowly is cut off,
 * even if some bytes trickle. libmicrohttpd ends connections without any traffic; this ends those
 * with too little. */
#ifndef OIF_SERVE_CONNECTIONS_H
#define OIF_SERVE_CONNECTIONS_H

#include "address.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct connections connections;
typedef struct connection connection;

/* What the client must do next. */
typedef enum connection_phase {
    PHASE_IDLE,    /* start a request */
    PHASE_HEADERS, /* finish the headers */
    PHASE_BODY,    /* send the body */
    PHASE_WORK,    /* wait for the server */
    PHASE_ANSWER,  /* read the answer */
    PHASE_EVENTS   /* read events, without a deadline */
} connection_phase;

/* Starts a thread that watches all of them. NULL: out of memory. */
connections *connections_open(double timeout_seconds);
void connections_close(connections *all);

/* NULL: out of memory. */
connection *connection_new(connections *all, int descriptor, const struct sockaddr *from);
void connection_free(connection *one); /* call it before the descriptor is closed */

/* Its client, as text; "" for NULL. */
const char *connection_address(const connection *one);

/* Enters a phase in which `bytes` are to be transferred; more bytes get more time. */
void connection_enter(connection *one, connection_phase phase, size_t bytes);

#endif
