/* Refuses a request that a proxy and this server might understand differently, so one request could
 * carry another hidden in its body: RFC 9112, sections 3.2, 6 and 11.2. libmicrohttpd in its strict
 * mode tolerates two lengths, a length beside an encoding, and names with blanks. What it does not
 * show at all (bare LF, folded lines) is in SECURITY.md. */
#ifndef OIF_SERVE_STRICT_HEADERS_H
#define OIF_SERVE_STRICT_HEADERS_H

#include "serve/base/problem.h"

#include <microhttpd.h>
#include <stdbool.h>

/* Call it when the headers have come. Returns false and sets `why`, status 400. */
bool strict_headers_check(struct MHD_Connection *wire, const char *method, const char *version,
                          problem *why);

/* The same for the trailers after a body in chunks. */
bool strict_trailers_check(struct MHD_Connection *wire, problem *why);

#endif
