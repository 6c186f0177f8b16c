/* Reading numbers and texts from bytes in memory, which may end early. */
#ifndef OIF_SERVE_BYTES_LEFT_H
#define OIF_SERVE_BYTES_LEFT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bytes_left {
    const char *next;
    size_t count;
} bytes_left;

/* Copies the next bytes. False, and nothing is taken: there are fewer, or `to` is NULL. */
bool bytes_left_take(bytes_left *from, void *to, size_t count);

#endif
