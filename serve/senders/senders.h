/* Who has sent the rows of a stream, so rows that are sent again are processed once.
 *
 *     writers   name -> how many rows of it were processed      the least recently seen is dropped
 *     bodies    of agents, in the same way: the digest of a body is a writer of one batch
 */
#ifndef OIF_SERVE_SENDERS_H
#define OIF_SERVE_SENDERS_H

#include "serve/base/bytes_left.h"

#include <stdint.h>

enum { SENDERS_MAX = 1000 }; /* writers, and as many bodies */

typedef enum sender_kind {
    SENDER_NONE,
    SENDER_STREAM, /* rows are numbered by the stream: there is only one sender */
    SENDER_WRITER,
    SENDER_BODY /* one body, named by its digest */
} sender_kind;

/* Who sends a body. */
typedef struct sender {
    sender_kind kind;
    const char *name; /* "" of SENDER_STREAM */
    size_t name_bytes;
    uint64_t first_row; /* the number of the first row of the body, among those of the sender */
} sender;

typedef struct senders senders;

/* NULL: out of memory. */
senders *senders_new(void);
void senders_free(senders *all);

/* How many rows of a writer or a body were processed; 0 if it is not known. */
uint64_t senders_position(const senders *all, const sender *from);

/* More rows of it were processed. Without memory it is not remembered. */
void senders_advance(senders *all, const sender *from, uint64_t rows);

/* As bytes, written to the (diverted) output; and from them, into an empty one: false without
 * memory, or if they are others. */
void senders_write(const senders *all);
bool senders_read(senders *all, bytes_left *from);

#endif
