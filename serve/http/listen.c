#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A burst of connecting clients waits in the kernel's queue. */
enum { QUEUE_LENGTH = 4096, HOST_BYTES = 256, PORT_MAX = 65535 };

static bool split_address(const char *address, char host[HOST_BYTES], const char **port)
{
    const char *colon = strrchr(address, ':');
    if (!colon || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    size_t bytes = (size_t)(colon - address);
    if (bytes >= 2 && address[0] == '[' && colon[-1] == ']') {
        address++;
        bytes -= 2;
    } else if (memchr(address, ':', bytes)) {
        return false; /* ::1:8571 is ambiguous */
    }
    if (bytes >= HOST_BYTES)
        return false;
    memcpy(host, address, bytes);
    host[bytes] = '\0';
    *port = colon + 1;
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Closes the descriptor if it fails. */
static int listen_at(int descriptor, const struct sockaddr *address, socklen_t bytes)
{
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    if (bind(descriptor, address, bytes) == 0 && listen(descriptor, QUEUE_LENGTH) == 0 &&
        fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

static int bind_socket(const struct addrinfo *found)
{
    int on = 1, off = 0, descriptor = socket(found->ai_family, SOCK_STREAM, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (found->ai_family == AF_INET6)
        setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    return listen_at(descriptor, found->ai_addr, found->ai_addrlen);
}

/* ---- Local sockets ---- */

/* A server that was killed leaves the file of its socket behind, and nothing answers there. */
static bool is_left_behind(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    bool is_refused = descriptor >= 0 &&
                      connect(descriptor, (const void *)address, sizeof *address) != 0 &&
                      errno == ECONNREFUSED;
    if (descriptor >= 0)
        close(descriptor);
    return is_refused;
}

/* There are no other threads yet that the mask could concern. */
static int bind_local(const struct sockaddr_un *address)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0)
        return -1;
    mode_t before = umask(S_IXUSR | S_IXGRP | S_IRWXO);
    descriptor = listen_at(descriptor, (const void *)address, sizeof *address);
    int reason = errno;
    umask(before);
    errno = reason;
    return descriptor;
}

static exit_code open_local(const char *path, listening *opened)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return complain(EXIT_USAGE, "--listen unix:%.80s: the path of a socket has 1 to %zu bytes",
                        path, sizeof address.sun_path - 1);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (is_left_behind(&address))
        unlink(path);
    opened->descriptor = bind_local(&address);
    if (opened->descriptor < 0)
        return complain(EXIT_FAILED, "--listen unix:%s: %s%s", path, strerror(errno),
                        errno == EADDRINUSE ? "; another program listens there, or it is not a "
                                              "socket"
                                            : "");
    opened->unix_path = path;
    snprintf(opened->address, sizeof opened->address, "localhost");
    return EXIT_OK;
}

void listen_remove(listening *opened)
{
    if (opened->unix_path)
        unlink(opened->unix_path);
    opened->unix_path = NULL;
}

/* ---- Addresses ---- */

static void describe(listening *opened)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    char host[INET6_ADDRSTRLEN + 20] = "", port[8] = "";
    if (getsockname(opened->descriptor, (void *)&address, &bytes) != 0)
        return;
    opened->is_loopback = is_loopback((void *)&address);
    getnameinfo((void *)&address, bytes, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(opened->address, sizeof opened->address,
             address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

exit_code listen_open(const char *address, listening *opened)
{
    char host[HOST_BYTES];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    memset(opened, 0, sizeof *opened);
    opened->descriptor = -1;
    if (strncmp(address, "unix:", 5) == 0)
        return open_local(address + 5, opened);
    if (!split_address(address, host, &port))
        return complain(EXIT_USAGE,
                        "--listen: expected HOST:PORT such as 127.0.0.1:8571 or [::1]:8571, or "
                        "unix:PATH, not '%s'",
                        address);
    if (strtoull(port, NULL, 10) > PORT_MAX) /* getaddrinfo would take it modulo 65536 */
        return complain(EXIT_USAGE, "--listen %s: a port is from 0 to %d; 0 chooses a free one",
                        address, PORT_MAX);
    int failure = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (failure != 0)
        return complain(EXIT_FAILED, "--listen %s: %s", address, gai_strerror(failure));
    for (const struct addrinfo *at = found; at && opened->descriptor < 0; at = at->ai_next)
        opened->descriptor = bind_socket(at);
    int reason = errno;
    freeaddrinfo(found);
    if (opened->descriptor < 0)
        return complain(EXIT_FAILED, "--listen %s: %s%s", address, strerror(reason),
                        reason == EADDRINUSE ? "; port 0 chooses a free one" : "");
    describe(opened);
    return EXIT_OK;
}
