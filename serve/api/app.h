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
    _Atomic(streams *) all; /* NULL while loading */
    pthread_rwlock_t others_lock;
    outside *others; /* NULL while loading, and for a moment during a reload */
    events *watchers;
    access_rules access;
    pthread_mutex_t creating; /* of streams by tokens with quotas, one at a time */
    const char *proxies;      /* their addresses; NULL: none */
    size_t max_body_bytes;
    body_budget bodies;
    request_figures requests;
} app;

#endif
