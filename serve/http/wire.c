#include "wire.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { DESCRIPTORS_MAX = 1 << 20, ANSWER_BYTES = 512 };

/* By descriptor. Pages that are never touched take no memory. */
static _Atomic(wire_watch *) *watched;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    watched = calloc(DESCRIPTORS_MAX, sizeof *watched);
}

bool wire_watch_start(int descriptor, wire_watch *watch)
{
    pthread_once(&once, make_table);
    if (!watched || descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
        return false;
    atomic_store(&watched[descriptor], watch);
    return true;
}

void wire_watch_stop(int descriptor)
{
    if (watched && descriptor >= 0 && descriptor < DESCRIPTORS_MAX)
        atomic_store(&watched[descriptor], NULL);
}

static wire_watch *watch_of(int descriptor)
{
    return watched && descriptor >= 0 && descriptor < DESCRIPTORS_MAX
               ? atomic_load(&watched[descriptor])
               : NULL;
}

bool wire_agrees(wire_watch *watch)
{
    return ++watch->requests <= watch->bytes.heads;
}

/* ---- Refusing ---- */

static size_t write_answer(char text[ANSWER_BYTES], const char *status, const char *headers,
                           const char *message)
{
    char body[ANSWER_BYTES / 2];
    int bytes = snprintf(body, sizeof body, "{\"error\":{\"status\":%.3s,\"message\":\"%s\"}}\n",
                         status, message);
    bytes = snprintf(text, ANSWER_BYTES,
                     "HTTP/1.1 %s\r\nConnection: close\r\n%s"
                     "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                     status, headers, bytes, body);
    return (size_t)bytes;
}

void wire_answer(int descriptor, const char *status, const char *headers, const char *message)
{
    char text[ANSWER_BYTES];
    const size_t bytes = write_answer(text, status, headers, message);
    send(descriptor, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Bytes that are left unread when a connection is closed would reset it, and the client might not
 * see the answer. */
static void drop_rest(int descriptor)
{
    char bytes[4096];
    for (int i = 0; i < 64; i++)
        if (recvfrom(descriptor, bytes, sizeof bytes, MSG_DONTWAIT, NULL, NULL) <= 0)
            return;
}

/* `session` is NULL if the connection is not encrypted. */
static void refuse(wire_watch *watch, int descriptor, gnutls_session_t session)
{
    static const char bad_request[] = "400 Bad Request";
    char text[ANSWER_BYTES];
    if (watch->is_refused)
        return;
    watch->is_refused = true;
    watch->on_refusal(watch->context, watch->bytes.wrong);
    if (session) {
        gnutls_record_send(session, text, write_answer(text, bad_request, "", watch->bytes.wrong));
        gnutls_bye(session, GNUTLS_SHUT_WR);
    } else {
        wire_answer(descriptor, bad_request, "", watch->bytes.wrong);
    }
    shutdown(descriptor, SHUT_WR);
    drop_rest(descriptor);
}

/* Returns how many of the bytes libmicrohttpd gets; 0 ends the connection. A good request before
 * the wrong one is answered first; the shutdown makes libmicrohttpd read again after that. */
static ssize_t judge(wire_watch *watch, int descriptor, gnutls_session_t session, const char *bytes,
                     ssize_t count)
{
    const size_t good = count > 0 ? framing_take(&watch->bytes, bytes, (size_t)count) : 0;
    if (!watch->bytes.wrong)
        return count;
    if (good > 0)
        shutdown(descriptor, SHUT_RD);
    else
        refuse(watch, descriptor, session);
    return (ssize_t)good;
}

/* ---- In place of the functions of the libraries ---- */

#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))

SEEN_BY_LIBRARIES ssize_t recv(int descriptor, void *bytes, size_t count, int flags)
{
    wire_watch *watch = watch_of(descriptor);
    if (!watch || watch->is_encrypted)
        return recvfrom(descriptor, bytes, count, flags, NULL, NULL);
    if (watch->bytes.wrong) {
        refuse(watch, descriptor, NULL);
        return 0;
    }
    return judge(watch, descriptor, NULL, bytes,
                 recvfrom(descriptor, bytes, count, flags, NULL, NULL));
}

SEEN_BY_LIBRARIES ssize_t gnutls_record_recv(gnutls_session_t session, void *bytes, size_t count)
{
    unsigned char sequence[8];
    const int descriptor = gnutls_transport_get_int(session);
    wire_watch *watch = watch_of(descriptor);
    if (!watch)
        return gnutls_record_recv_seq(session, bytes, count, sequence);
    if (watch->bytes.wrong) {
        refuse(watch, descriptor, session);
        return 0;
    }
    return judge(watch, descriptor, session, bytes,
                 gnutls_record_recv_seq(session, bytes, count, sequence));
}
