#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { MAPPED_BYTES = 12 };

void address_write(const struct sockaddr *from, char text[ADDRESS_BYTES])
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    snprintf(text, ADDRESS_BYTES, "unix");
    if (from->sa_family == AF_INET) {
        memcpy(&four, from, sizeof four);
        inet_ntop(AF_INET, &four.sin_addr, text, ADDRESS_BYTES);
    } else if (from->sa_family == AF_INET6) {
        memcpy(&six, from, sizeof six);
        if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
            inet_ntop(AF_INET, six.sin6_addr.s6_addr + MAPPED_BYTES, text, ADDRESS_BYTES);
        else
            inet_ntop(AF_INET6, &six.sin6_addr, text, ADDRESS_BYTES);
    }
}

bool address_is_listed(const char *address, const char *list)
{
    const size_t bytes = strlen(address);
    for (const char *at = list; at && *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        if (length == bytes && memcmp(at, address, bytes) == 0)
            return true;
        at += length;
    }
    return false;
}
