/* The body of a request as it arrives: decompressed, and refused before it fills the memory. The
 * limit is on the decompressed bytes, so a decompression bomb is cut off at the limit. All bodies
 * together have a limit too. */
#ifndef OIF_SERVE_BODY_H
#define OIF_SERVE_BODY_H

#include "front/input/decompress.h"
#include "request.h"

#include <stdatomic.h>

/* Bytes held by all bodies together. */
typedef struct body_budget {
    _Atomic size_t used_bytes;
    size_t limit_bytes;
} body_budget;

typedef struct body {
    char *bytes;
    size_t count, capacity;
    size_t limit;         /* of count */
    size_t arrived_bytes; /* before decompression */
    compression kind;
    decompressor *opened;
    bool is_snappy; /* it is decompressed at its end, as a whole */
    body_budget *budget;
} body;

/* By the headers of the request: 413 if it is too large, 415 if its compression is unknown. */
bool body_begin(body *taken, const request *asked, size_t limit, body_budget *budget, problem *why);
bool body_add(body *taken, const char *bytes, size_t count, problem *why);

/* 400 if compressed data are truncated, 413 if there are too many of them decompressed, 415 if they
 * came without their Content-Encoding. */
bool body_end(body *taken, problem *why);
void body_free(body *taken);

#endif
