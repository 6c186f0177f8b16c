/* An answer as plain data. Its body is composed with output_print and output_write between
 * reply_begin and reply_end, like all text of this program. */
#ifndef OIF_SERVE_REPLY_H
#define OIF_SERVE_REPLY_H

#include "serve/base/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPLY_HEADERS_MAX = 16, REPLY_HEADER_BYTES = 384 };

#define REPLY_JSON "application/json"

typedef struct reply_header {
    const char *name;
    char value[REPLY_HEADER_BYTES];
} reply_header;

typedef struct events_client events_client;

typedef struct reply {
    int status;
    const char *type; /* Content-Type; NULL: no body */
    char *body;       /* freed, unless is_static */
    size_t body_bytes;
    bool is_static;
    reply_header headers[REPLY_HEADERS_MAX];
    size_t header_count;
    events_client *events;             /* instead of a body: live events */
    char reason[PROBLEM_REASON_BYTES]; /* of a refusal, for the log */
} reply;

void reply_begin(void);
void reply_end(reply *answer, int status, const char *type);
void reply_free(reply *answer);

/* Without a body; and with static bytes. */
void reply_empty(reply *answer, int status);
void reply_static(reply *answer, int status, const char *type, const void *bytes, size_t count);

void reply_add_header(reply *answer, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* {"error":{"status":400,"message":"...","line":3,...},"rows":17} */
void reply_problem(reply *answer, const problem *why);
void reply_refuse(reply *answer, int status, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
