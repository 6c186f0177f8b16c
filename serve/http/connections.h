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

typedef struct connections_options {
    double timeout_seconds;
    bool is_encrypted;
    /* of bytes that are no good request */
    void (*on_refusal)(void *context, int status, const char *from, const char *why);
    void *context;
} connections_options;

/* Starts a thread that watches all of them. NULL: out of memory. */
connections *connections_open(const connections_options *options);
void connections_close(connections *all);

/* NULL: out of memory. */
connection *connection_new(connections *all, int descriptor, const struct sockaddr *from);
void connection_free(connection *one); /* call it before the descriptor is closed */

/* Its client, as text; "" for NULL. */
const char *connection_address(const connection *one);

/* A request begins: whether its bytes were judged (wire.h). False for NULL. */
bool connection_agrees(connection *one);

/* Enters a phase in which `bytes` are to be transferred; more bytes get more time. */
void connection_enter(connection *one, connection_phase phase, size_t bytes);

#endif
