/* Access control: whose request it is, and whether it may be answered.
 *
 * Without tokens the server listens only on loopback or on a local socket, and everyone there may
 * do everything. On loopback the Host header must then name this machine (a foreign name that
 * resolves to 127.0.0.1 is refused). With tokens, each request needs one: as "Authorization: Bearer
 * TOKEN", or as the password of Basic, which browsers ask for. In any case a browser's write for a
 * page of another origin is refused. */
#ifndef OIF_SERVE_ACCESS_H
#define OIF_SERVE_ACCESS_H

#include "serve/http/request.h"
#include "tokens.h"

#include <pthread.h>

typedef struct access_rules {
    bool is_loopback;     /* without tokens, Host must name this machine */
    char base_path[64];   /* "/oif"; "": none */
    char origin[256];     /* of the page, "https://oif.example"; "": not given */
    pthread_mutex_t lock; /* protects what follows */
    tokens known;
} access_rules;

/* Takes origin and base path of the page from --external-url; NULL: they are not known. 400: its
 * path cannot be one. */
bool access_set_external(access_rules *rules, const char *url, problem *why);

/* What follows the base path in the target of a request, from its / on; the whole target if it does
 * not begin with it, because many proxies remove it. "": the base path without a /. */
const char *access_within_base(const access_rules *rules, const char *target);

/* Replaces the tokens. Requests that have begun keep what they may. */
void access_set_tokens(access_rules *rules, const tokens *known);

/* Whether the request has this level, names this machine and, if it writes, comes from its own
 * page. Sets asked->may_write.
 *
 * 401   no token, or a wrong one
 * 403   the level is too low, or another origin
 * 421   the Host is another machine */
bool access_check(access_rules *rules, request *asked, access_level needed, problem *why);

#endif
