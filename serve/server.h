/* The HTTP server: libmicrohttpd's connections on one side, requests and replies on the other. */
#ifndef OIF_SERVE_SERVER_H
#define OIF_SERVE_SERVER_H

#include "app.h"
#include "listen.h"

typedef struct server server;

typedef struct server_options {
    unsigned max_connections;
    double timeout_seconds; /* from 1 on; for clients that do nothing or too little */
    const char *tls_cert, *tls_key;
} server_options;

/* Serves requests from now on. The socket belongs to the server, the app to the caller. Complains
 * and returns NULL if it cannot. */
server *server_open(const server_options *options, const listening *opened, app *served);

/* Takes no further connections, answers what was asked, and ends. */
void server_close(server *running);

#endif
