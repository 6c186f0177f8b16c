/* The journal of a stream: what has come since its last snapshot, in the order it came. Replayed on
 * that snapshot it makes the same pipeline again, bit for bit.
 *
 *     "oifjrnl1" | record | record | ... | perhaps a torn one
 *     record:  magic  kind  format  bytes  first_row  skip  seconds  checksum | bytes of payload
 *
 * A torn record at the end is moved to "journal.torn" at the next start. A record that is damaged
 * and has whole ones behind it is not torn: then the journal is refused and stays as it is.
 *
 * A record is written before what it holds is acknowledged, and is on disk once it was synced. */
#ifndef OIF_SERVE_JOURNAL_H
#define OIF_SERVE_JOURNAL_H

#include "problem.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum journal_kind {
    JOURNAL_ROWS = 1, /* a body */
    JOURNAL_CUT,      /* the rows up to `first_row` of the body before it were processed, no more */
    JOURNAL_SETTINGS, /* JSON */
    JOURNAL_FORGET,   /* a key */
    JOURNAL_CLOCK,    /* the stream was silent at `seconds` */
    JOURNAL_BAD_ROWS  /* `skip` of them, in a body of which no row was processed */
} journal_kind;

/* As the format of JOURNAL_BAD_ROWS: `skip` is how many there were in all, so a record that is
 * replayed on a snapshot that knows of it changes nothing. Older journals do not have it. */
enum { BAD_ROWS_IN_ALL = 1 };

typedef struct journal_record {
    journal_kind kind;
    int format;         /* of a body, as in rows_request */
    uint64_t first_row; /* the rows of the stream before it */
    uint64_t skip;      /* the first rows of a body, which had been processed before */
    double seconds;     /* when it came, by the machine's clock */
    const char *payload;
    size_t bytes;
} journal_record;

typedef struct journal {
    char *path;
    int fd;              /* -1: not open */
    uint64_t bytes;      /* of whole records */
    uint64_t undo_bytes; /* before the last record */
    uint64_t cut_bytes;  /* of a torn record that were cut off when it was opened */
    bool is_broken;      /* what is behind `bytes` could not be removed */
} journal;

/* Opens the file at `path`, or makes it. What is torn at its end is moved to PATH.torn. */
bool journal_open(journal *log, const char *path, problem *why);
void journal_close(journal *log);

/* Calls `take` with each record and the one after it, which may be NULL, until it returns false. */
bool journal_replay(journal *log,
                    bool (*take)(void *context, const journal_record *record,
                                 const journal_record *next),
                    void *context, problem *why);

/* Appends a record as a whole, or fails and leaves the file as it was: 507 if the disk is full,
 * otherwise 503. */
bool journal_append(journal *log, const journal_record *record, problem *why);

/* Takes the last record back. */
void journal_undo(journal *log);

/* Removes all records, after a snapshot. */
bool journal_clear(journal *log, problem *why);

/* Has the disk take what was appended. A descriptor of its own may be synced without the lock that
 * protects the journal. */
int journal_descriptor(const journal *log); /* to be closed; -1: none */
bool journal_sync(int descriptor);

#endif
