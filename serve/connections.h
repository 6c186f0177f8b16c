/* The open connections and until when each must have gone on: a client that sends or reads too
 * slowly is cut off, however few bytes it trickles. libmicrohttpd ends connections on which
 * nothing moves; this ends those on which too little does. */
#ifndef OIF_SERVE_CONNECTIONS_H
#define OIF_SERVE_CONNECTIONS_H

#include <stddef.h>

typedef struct connections connections;
typedef struct connection connection;

/* What a client has to do next. */
typedef enum connection_phase {
    PHASE_IDLE,    /* begin a request */
    PHASE_HEADERS, /* end the headers */
    PHASE_BODY,    /* send the body */
    PHASE_WORK,    /* wait for us */
    PHASE_ANSWER,  /* read the answer */
    PHASE_EVENTS   /* read events, for as long as it likes */
} connection_phase;

/* Starts a thread that looks at all of them. NULL: no memory. */
connections *connections_open(double timeout_seconds);
void connections_close(connections *all);

connection *connection_new(connections *all, int descriptor);
void connection_free(connection *one); /* before the descriptor is closed */

/* From now on it is in this phase, in which `bytes` are to move: those take more time. */
void connection_enter(connection *one, connection_phase phase, size_t bytes);

#endif
