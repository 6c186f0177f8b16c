/* The five minutes of all keys of a stream (trend.h) in one file of a fixed size:
 *
 *     header | bucket | bucket | bucket | ...     a ring: the next bucket replaces the oldest
 *
 * What fits is fixed when the file is made: its size and the number of columns. With more keys the
 * ring reaches back less far; no key is left out. The file is sparse: it takes what was written.
 *
 * It can be lost without harm, so it never fills the disk: nothing is written while less than a
 * tenth of the disk, or 1 GiB, is free. What is not written is counted.
 *
 * A crash loses nothing: what ended after the snapshot of the stream is dropped at the next start,
 * and made again from the journal. A damaged bucket is left out. A file with a damaged header, or
 * one of another size or other columns, is made again from nothing, with a line in the log. The
 * layout is that of this machine.
 *
 * Not thread-safe, except for trend_view_read. */
#ifndef OIF_SERVE_TREND_FILE_H
#define OIF_SERVE_TREND_FILE_H

#include "trend.h"

typedef struct trend_file trend_file;

/* The file at `path` after the stream had this many rows. NULL: the limit has no room for a single
 * bucket, and a file of before is removed; or out of memory. */
trend_file *trend_file_open(const char *path, size_t columns, size_t limit_bytes, uint64_t rows);
void trend_file_close(trend_file *file); /* accepts NULL */

/* Numbers the bucket and writes it. */
void trend_file_add(trend_file *file, trend_bucket *ended);

/* Replaces the buckets of a key by empty ones. */
void trend_file_forget(trend_file *file, uint64_t key);

/* Waits until what was written is on disk. */
void trend_file_sync(trend_file *file);

uint64_t trend_file_lost(const trend_file *file); /* buckets that could not be written */

/* ---- Reading ---- */

typedef struct trend_ring {
    int fd; /* -1: none */
    size_t bucket_bytes;
    uint64_t capacity, next; /* buckets that fit; number of the next one */
} trend_ring;

typedef struct trend_visitor {
    uint64_t key;
    void (*visit)(void *context, trend_bucket *bucket);
    void *context;
} trend_visitor;

/* The buckets that there are now, to be read without the lock of the stream. */
trend_ring trend_file_view(const trend_file *file);

/* Visits the buckets of a key, the oldest first. */
void trend_view_read(const trend_ring *view, const trend_visitor *to);
void trend_view_close(trend_ring *view);

#endif
