/* A text that grows and is used again, so it is allocated a few times per request. */
#ifndef OIF_SERVE_TEXT_BUFFER_H
#define OIF_SERVE_TEXT_BUFFER_H

#include "oif_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* gcc's analyzer reports the text as leaked: it is stored through a pointer. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* All zero is empty. */
typedef struct text_buffer {
    char *bytes;
    size_t count, capacity;
    bool is_failed; /* out of memory: what was added since is missing */
} text_buffer;

static inline void text_buffer_free(text_buffer *room)
{
    free(room->bytes);
    *room = (text_buffer){.bytes = NULL};
}

/* Room for `more` bytes behind the text; NULL: out of memory. */
static inline char *text_buffer_reserve(text_buffer *room, size_t more)
{
    if (!room->bytes || more > room->capacity - room->count) {
        const size_t capacity = 2 * room->capacity + more + 64;
        char *bytes = realloc(room->bytes, capacity);
        if (!bytes) {
            room->is_failed = true;
            return NULL;
        }
        room->bytes = bytes;
        room->capacity = capacity;
    }
    return room->bytes + room->count;
}

static inline void text_buffer_add(text_buffer *room, const char *text, size_t bytes)
{
    char *end = text_buffer_reserve(room, bytes);
    if (!end || bytes == 0)
        return;
    memcpy(end, text, bytes);
    room->count += bytes;
}

static inline void text_buffer_add_byte(text_buffer *room, char byte)
{
    text_buffer_add(room, &byte, 1);
}

#endif
