/* What all requests share. */
#ifndef OIF_SERVE_APP_H
#define OIF_SERVE_APP_H

#include "serve/access/access.h"
#include "serve/http/body.h"
#include "serve/http/request_figures.h"

#include <stdatomic.h>

typedef struct streams streams;
typedef struct events events;
typedef struct outside outside;

typedef struct app {
    _Atomic(streams *) all;    /* NULL while loading */
    _Atomic(outside *) others; /* the same */
    events *watchers;
    access_rules access;
    const char *proxies; /* their addresses; NULL: none */
    size_t max_body_bytes;
    body_budget bodies;
    request_figures requests;
} app;

#endif
