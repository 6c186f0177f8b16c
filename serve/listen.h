/* The address to listen on: "127.0.0.1:8571", "[::1]:8571", "example.org:443", ":8571". */
#ifndef OIF_SERVE_LISTEN_H
#define OIF_SERVE_LISTEN_H

#include "../cli/output.h"

#include <stdbool.h>

enum { LISTEN_ADDRESS_BYTES = 80 };

typedef struct listening {
    int descriptor;
    bool is_loopback;                   /* no other machine reaches it */
    char address[LISTEN_ADDRESS_BYTES]; /* "127.0.0.1:8571", with the port that was chosen for 0 */
} listening;

/* Complains if it cannot. */
exit_code listen_open(const char *address, listening *opened);

#endif
