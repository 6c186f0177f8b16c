/* The address to listen on: "127.0.0.1:8571", "[::1]:8571", "example.org:443", ":8571", or
 * "unix:/run/oif/socket", which programs of its owner and group can use. */
#ifndef OIF_SERVE_LISTEN_H
#define OIF_SERVE_LISTEN_H

#include "front/text/output.h"

#include <stdbool.h>

enum { LISTEN_ADDRESS_BYTES = 80 };

typedef struct listening {
    int descriptor;
    bool is_loopback;                   /* unreachable from other machines */
    const char *unix_path;              /* the file of a local socket; NULL: none */
    char address[LISTEN_ADDRESS_BYTES]; /* "127.0.0.1:8571", with the actual port if 0 was given */
} listening;

/* Complains on failure. `address` must outlive it. */
exit_code listen_open(const char *address, listening *opened);

/* Removes the file of a local socket. The descriptor stays. */
void listen_remove(listening *opened);

#endif
