/* The HTTP server: connects libmicrohttpd to requests and replies. */
#ifndef OIF_SERVE_SERVER_H
#define OIF_SERVE_SERVER_H

#include "app.h"
#include "serve/http/listen.h"

typedef struct server server;

typedef struct server_options {
    unsigned max_connections;
    double timeout_seconds; /* at least 1; for idle or slow clients */
    bool is_encrypted;      /* with the certificate of certificate_use */
} server_options;

/* Starts serving. The server owns the socket, the caller owns the app. Complains and returns NULL
 * on failure. */
server *server_open(const server_options *options, const listening *opened, app *served);

/* Accepts no further connections, answers open requests, and ends. */
void server_close(server *running);

#endif
