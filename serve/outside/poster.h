/* Sends bodies to a server that may be down: pauses grow after failures, the first failure and the
 * recovery are reported. A poster belongs to one thread. */
#ifndef OIF_SERVE_POSTER_H
#define OIF_SERVE_POSTER_H

#include "serve/base/background.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct poster poster;

typedef struct poster_options {
    const char *name, *what;  /* in messages: "Alertmanager", "alerts" */
    const char *url, *path;   /* `path` is appended */
    const char *token_file;   /* NULL: none */
    const char *secret_file;  /* to sign with; NULL: none */
    const background *beside; /* requests end when it stops */
} poster_options;

/* What the options point to must live as long. NULL: out of memory. */
poster *poster_new(const poster_options *options);
void poster_free(poster *to); /* accepts NULL */

typedef enum post_result {
    POST_TAKEN,
    POST_REFUSED, /* the body itself is at fault: a retry would not help */
    POST_FAILED
} post_result;

/* POSTs JSON. */
post_result poster_send(poster *to, const char *body, size_t bytes, double timeout_seconds);

/* Whether the pause after the last failure is over. */
bool poster_may_send(const poster *to);

/* Whether the latest request failed. Any thread may ask. */
bool poster_is_failing(const poster *to);

#endif
