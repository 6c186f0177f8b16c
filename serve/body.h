/* The body of a request as it arrives: decompressed, and refused before it fills the memory.
 * The limit is that of the decompressed bytes, so a small body that expands without end is cut
 * off at the limit; and all bodies together have a limit too. */
#ifndef OIF_SERVE_BODY_H
#define OIF_SERVE_BODY_H

#include "../cli/decompress.h"
#include "request.h"

#include <stdatomic.h>

/* What all bodies together hold. */
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
    body_budget *budget;
} body;

/* By the headers of the request: 413 if it says that it is too large, 415 if it is compressed in
 * a way that is not known. */
bool body_begin(body *taken, const request *asked, size_t limit, body_budget *budget, problem *why);
bool body_add(body *taken, const char *bytes, size_t count, problem *why);
bool body_end(body *taken, problem *why); /* 400 if compressed data are cut off */
void body_free(body *taken);

#endif
