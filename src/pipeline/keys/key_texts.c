#include "pipeline/keys/key_texts.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

enum { LEAST_PIECE_BYTES = 16, FIRST_CHUNK_BYTES = 512, MOST_CHUNK_BYTES = 1 << 16 };

/* The size of pieces that hold these bytes; OIF_KEY_PIECE_SIZES: none does. */
static size_t size_for(size_t bytes)
{
    size_t size = 0;
    while (size < OIF_KEY_PIECE_SIZES && bytes > (size_t)LEAST_PIECE_BYTES << size)
        size++;
    return size;
}

/* A list of pieces or chunks: each begins with the address of the next. */
static void push(void **list, void *piece)
{
    memcpy(piece, list, sizeof *list);
    *list = piece;
}

static void *pop(void **list)
{
    void *piece = *list;
    memcpy(list, piece, sizeof *list);
    return piece;
}

/* Chunks double, so a pipeline of few keys has a small one. */
static bool add_chunk(oif_key_texts *texts)
{
    size_t bytes = texts->chunk_bytes == 0                 ? FIRST_CHUNK_BYTES
                   : texts->chunk_bytes < MOST_CHUNK_BYTES ? 2 * texts->chunk_bytes
                                                           : MOST_CHUNK_BYTES;
    void *chunk = oif_memory_new(bytes);
    if (!chunk)
        return false;
    push(&texts->chunks, chunk);
    memcpy((char *)chunk + sizeof(void *), &bytes, sizeof bytes);
    texts->chunk_bytes = bytes;
    texts->used_bytes = LEAST_PIECE_BYTES; /* with the chunk before it, and its own bytes */
    return true;
}

static void *new_piece(oif_key_texts *texts, size_t size)
{
    const size_t bytes = (size_t)LEAST_PIECE_BYTES << size;
    if (texts->chunk_bytes - texts->used_bytes < bytes && !add_chunk(texts))
        return NULL;
    void *piece = (char *)texts->chunks + texts->used_bytes;
    texts->used_bytes += bytes;
    return piece;
}

char *oif_key_texts_add(oif_key_texts *texts, const char *text, size_t bytes)
{
    const size_t size = size_for(bytes);
    char *copy = size == OIF_KEY_PIECE_SIZES ? oif_memory_new(bytes)
                 : texts->unused[size]       ? pop(&texts->unused[size])
                                             : new_piece(texts, size);
    if (copy && bytes > 0)
        memcpy(copy, text, bytes);
    return copy;
}

/* Gives back the last piece of the newest chunk, and a chunk without pieces: a key that is added,
 * but gets no model because memory has run out, leaves nothing behind. */
static void drop_last(oif_key_texts *texts, size_t piece_bytes)
{
    texts->used_bytes -= piece_bytes;
    if (texts->used_bytes > LEAST_PIECE_BYTES)
        return;
    oif_memory_free(pop(&texts->chunks));
    texts->chunk_bytes = 0;
    if (texts->chunks)
        memcpy(&texts->chunk_bytes, (char *)texts->chunks + sizeof(void *), sizeof(size_t));
    texts->used_bytes = texts->chunk_bytes; /* the one before is full */
}

void oif_key_texts_remove(oif_key_texts *texts, char *text, size_t bytes)
{
    const size_t size = size_for(bytes), piece_bytes = (size_t)LEAST_PIECE_BYTES << size;
    if (!text)
        return;
    if (size == OIF_KEY_PIECE_SIZES)
        oif_memory_free(text);
    else if (text + piece_bytes == (char *)texts->chunks + texts->used_bytes)
        drop_last(texts, piece_bytes);
    else
        push(&texts->unused[size], text);
}

void oif_key_texts_free(oif_key_texts *texts)
{
    while (texts->chunks)
        oif_memory_free(pop(&texts->chunks));
    *texts = (oif_key_texts){0};
}
