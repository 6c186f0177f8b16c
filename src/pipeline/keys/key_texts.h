/* Memory for the texts of keys: small pieces of few chunks.
 *
 *     chunk    | next chunk | web-1 . | db-2  . | disk-of-web-1 . . |  free ...  |
 *     pieces                  16        16        32                               bytes
 *
 * Each text in memory of its own would lie between the packed models of two keys. They grow, so
 * their memory is freed, and with a text between them no two of the gaps could be merged: a fleet
 * took 1.5 times the bytes of its models.
 *
 * The memory of a removed key is used for the next text of that size. Only the newest chunk can be
 * freed before all texts are. A long text has memory of its own.
 */
#ifndef OIF_PIPELINE_KEY_TEXTS_H
#define OIF_PIPELINE_KEY_TEXTS_H

#include <stddef.h>

enum { OIF_KEY_PIECE_SIZES = 5 }; /* 16 to 256 bytes */

/* Zeroed: no texts. */
typedef struct oif_key_texts {
    void *chunks; /* the newest; each begins with the one before it, and its bytes */
    size_t chunk_bytes, used_bytes;    /* of the newest */
    void *unused[OIF_KEY_PIECE_SIZES]; /* pieces of removed texts; each begins with the next one */
} oif_key_texts;

/* Frees the chunks. Long texts must have been removed. */
void oif_key_texts_free(oif_key_texts *texts);

/* Copies a text; NULL: out of memory. */
char *oif_key_texts_add(oif_key_texts *texts, const char *text, size_t bytes);

/* Frees a copy of that many bytes. */
void oif_key_texts_remove(oif_key_texts *texts, char *text, size_t bytes);

#endif
