/* The address of a client, as text. */
#ifndef OIF_SERVE_ADDRESS_H
#define OIF_SERVE_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

enum { ADDRESS_BYTES = 64 };

/* "192.0.2.1", "2001:db8::1", or "unix" for a local socket. IPv4 that comes by IPv6 is IPv4. */
void address_write(const struct sockaddr *from, char text[ADDRESS_BYTES]);

/* Whether an address is in a list such as "192.0.2.1,unix". */
bool address_is_listed(const char *address, const char *list);

#endif
