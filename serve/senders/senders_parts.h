/* The internals of senders.h, for the files that implement it. */
#ifndef OIF_SERVE_SENDERS_PARTS_H
#define OIF_SERVE_SENDERS_PARTS_H

#include "front/text/byte_table.h"
#include "senders.h"

typedef struct known_writer {
    byte_item item;
    uint64_t rows;
    struct known_writer *newer, *older;
} known_writer;

typedef struct writer_list {
    byte_table table; /* of known_writer */
    known_writer *newest, *oldest;
    size_t limit;
} writer_list;

/* One block: this, the rows, the name and the text. */
struct kept_batch {
    struct kept_batch *newer;
    size_t block_bytes;
    sender_kind kind;
    rows_answer_kind answer;
    uint64_t first; /* row of the sender */
    size_t count, name_bytes, text_bytes;
    kept_row *rows;
    char *name, *text;
};

/* The answer that is being made. */
typedef struct made_batch {
    const sender *from;
    rows_answer_kind kind;
    kept_row *rows;
    size_t count, capacity;
    bool is_given_up;
} made_batch;

struct senders {
    writer_list writers, bodies;
    kept_batch *oldest, *newest;
    size_t answer_bytes;
    uint64_t answers_dropped;
    made_batch made;
};

/* The writer, which becomes the most recently seen; NULL: out of memory. */
known_writer *writer_list_touch(writer_list *list, const char *name, size_t bytes);

/* Room for a batch with these numbers; NULL: out of memory. And adds it as the newest. */
kept_batch *kept_batch_new(const kept_batch *like);
void senders_add_batch(senders *all, kept_batch *batch);

/* Drops the oldest batch; there must be one. */
void senders_drop_batch(senders *all);

#endif
