/* Judges the bytes of connections before libmicrohttpd reads them (framing.h).
 *
 * libmicrohttpd has no hook for that, and versions before 1.0 have no option to be strict. But it
 * reads with recv and gnutls_record_recv, and a program's own functions of these names come before
 * those of shared libraries. They are defined in wire.c, pass everything on, and look only at
 * connections that are watched. wire_agrees is false if libmicrohttpd got bytes by another way, so
 * a version that reads differently cannot go unnoticed. */
#ifndef OIF_SERVE_WIRE_H
#define OIF_SERVE_WIRE_H

#include "framing.h"

typedef struct wire_watch {
    framing bytes;
    bool is_encrypted; /* recv gets what gnutls decrypts */
    bool is_refused;   /* the answer was sent */
    uint64_t requests; /* that libmicrohttpd has begun */
    void (*on_refusal)(void *context, const char *why);
    void *context;
} wire_watch;

/* Watches a connection until wire_forget, which comes before its descriptor is closed. False: its
 * descriptor is too large, or out of memory. */
bool wire_watch_start(int descriptor, wire_watch *watch);
void wire_watch_stop(int descriptor);

/* Sends an answer with an error, whole or not at all: "400 Bad Request". Headers end with CR LF. */
void wire_answer(int descriptor, const char *status, const char *headers, const char *message);

/* Call it for each request that libmicrohttpd begins: whether its headers were judged here. */
bool wire_agrees(wire_watch *watch);

#endif
