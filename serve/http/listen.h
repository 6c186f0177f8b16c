/* The address to listen on: "127.0.0.1:8571", "[::1]:8571", "example.org:443", ":8571". */
#ifndef OIF_SERVE_LISTEN_H
#define OIF_SERVE_LISTEN_H

#include "front/text/output.h"

#include <stdbool.h>

enum { LISTEN_ADDRESS_BYTES = 80 };

typedef struct listening {
    int descriptor;
    bool is_loopback; /* unreachable from other machines */
    unsigned port;
    char address[LISTEN_ADDRESS_BYTES]; /* "127.0.0.1:8571", with the actual port if 0 was given */
} listening;

/* Complains on failure. */
exit_code listen_open(const char *address, listening *opened);

#endif
