/* The journal of a stream: everything since its last snapshot, in order. Replaying it on that
 * snapshot restores the same pipeline, bit for bit.
 *
 *     "oifjrnl1" | record | record | ... | perhaps a torn one
 *     record:  magic  kind  format  bytes  first_row  skip  seconds  checksum | bytes of payload
 *
 * A torn record at the end is moved to "journal.torn" at the next start. A damaged record with
 * complete ones after it is not torn: then the journal is refused and left unchanged.
 *
 * A record is written before its content is acknowledged, and is on disk once synced. */
#ifndef OIF_SERVE_JOURNAL_H
#define OIF_SERVE_JOURNAL_H

#include "problem.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum journal_kind {
    JOURNAL_ROWS = 1, /* a body */
    JOURNAL_CUT,      /* only the rows up to `first_row` of the previous body were processed */
    JOURNAL_SETTINGS, /* JSON */
    JOURNAL_FORGET,   /* a key */
    JOURNAL_CLOCK,    /* the stream was silent at `seconds` */
    JOURNAL_BAD_ROWS, /* `skip` bad rows so far, after a body without any processed row */
    JOURNAL_END,      /* episode `skip` of a key ended because no row came */
    JOURNAL_NO_DATA,  /* the feed was dead at `seconds` */
    JOURNAL_SENT,     /* a body of a writer: a line of JSON about it, then the body */
    JOURNAL_WAITED,   /* rows that wait were processed at `seconds`; all of them: `format` */
    JOURNAL_REPORTED  /* records of incidents were sent, up to number `skip` */
} journal_kind;

typedef struct journal_record {
    journal_kind kind;
    int format;         /* of a body, as in rows_request */
    uint64_t first_row; /* rows of the stream before it */
    uint64_t skip;      /* first rows of a body, processed earlier */
    double seconds;     /* arrival, by the wall clock */
    const char *payload;
    size_t bytes;
} journal_record;

typedef struct journal {
    char *path;
    int fd;              /* -1: not open */
    uint64_t bytes;      /* of complete records */
    uint64_t undo_bytes; /* before the last record */
    uint64_t cut_bytes;  /* of a torn record, cut off on opening */
    bool is_broken;      /* bytes after `bytes` could not be removed */
} journal;

/* Opens or creates the file at `path`. A torn record at its end is moved to PATH.torn. */
bool journal_open(journal *log, const char *path, problem *why);
void journal_close(journal *log);

/* Calls `take` with each record and the next one, which may be NULL, until it returns false. */
bool journal_replay(journal *log,
                    bool (*take)(void *context, const journal_record *record,
                                 const journal_record *next),
                    void *context, problem *why);

/* Appends a whole record, or fails and leaves the file unchanged: 507 if the disk is full,
 * otherwise 503. */
bool journal_append(journal *log, const journal_record *record, problem *why);

/* Removes the last record. */
void journal_undo(journal *log);

/* Removes all records, after a snapshot. */
bool journal_clear(journal *log, problem *why);

/* Removes the records before a place, after a snapshot that other threads did not wait for: copy
 * writes those after it to PATH.new without the lock of the journal, and syncs them. `end` is the
 * size of the journal, found under the lock. take, under the lock, adds what came since and
 * replaces the journal. Nothing may sync the journal in between, and the folder is to be synced
 * then. A journal that fails is as it was. */
typedef struct journal_rest {
    int from, to; /* descriptors */
    uint64_t place, end;
} journal_rest;

bool journal_copy_rest(const journal *log, journal_rest *rest, problem *why);
bool journal_take_rest(journal *log, journal_rest *rest, problem *why);

/* A separate descriptor, to sync what was appended without the journal's lock; -1: none. The caller
 * closes it. */
int journal_descriptor(const journal *log);

#endif
