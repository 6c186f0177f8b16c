/* Who has sent the rows of a stream, so rows that are sent again are processed once, and get the
 * same answer again if they are numbered.
 *
 *     writers   name -> how many rows of it were processed      the least recently seen is dropped
 *     bodies    of agents, in the same way: the digest of a body is a writer of one batch
 *     answers   batch <- batch <- batch                         the oldest is dropped
 *               rows: a digest of each, and where its line is in the text
 *
 * All of it is bounded, and what is dropped is counted. A digest shows whether a row differs
 * from the one that was processed under its number. */
#ifndef OIF_SERVE_SENDERS_H
#define OIF_SERVE_SENDERS_H

#include "answer_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WRITERS_MAX = 1000, BODIES_MAX = 1000, ANSWERS_BYTES_MAX = 4 << 20 };

typedef enum sender_kind {
    SENDER_NONE,
    SENDER_STREAM, /* rows are numbered by the stream: there is only one sender */
    SENDER_WRITER,
    SENDER_BODY /* one body, named by its digest; its answer is not kept */
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

typedef struct senders_figures {
    size_t answers_bytes;
    uint64_t answers_dropped;
} senders_figures;
senders_figures senders_get_figures(const senders *all);

/* ---- Answers ---- */

typedef struct kept_row {
    uint64_t digest;
    uint32_t begin, bytes; /* of its line in the text; no bytes: it has none */
    bool is_alert;
} kept_row;

/* Begins to keep the answer to a body; rows are added as they are processed, then the text of them
 * all. Without an end, nothing is kept. */
void answers_begin(senders *all, const sender *from, rows_answer_kind kind);
void answers_add(senders *all, const kept_row *row);
void answers_end(senders *all, uint64_t first_row, const char *text, size_t bytes);

/* What is kept of the rows of a sender from its first_row on. */
typedef struct kept_line {
    const kept_row *row;
    const char *text;
    rows_answer_kind kind; /* what was asked for */
} kept_line;

typedef struct kept_batch kept_batch;
typedef struct answers_cursor {
    kept_batch *next;
    const sender *from;
    uint64_t row;
} answers_cursor;
answers_cursor answers_seek(const senders *all, const sender *from);

/* The next row, whether it is kept or not. */
bool answers_next(answers_cursor *at, kept_line *line);

/* ---- A file ---- */

/* Saves with the number of rows of the stream; loads only if that is the same. */
bool senders_save(const senders *all, uint64_t rows, FILE *file);
bool senders_load(senders *all, uint64_t rows, FILE *file);

#endif
