/* The buckets of all keys of a stream on disk, in bounded space (trend.h).
 *
 *     FOLDER/trend.LEVEL.NUMBER    a segment: a header, then buckets of one size, in the order in
 *                                  which they ended
 *
 * Each bucket has a checksum: a damaged one is left out, and counted. If all segments together
 * become too large, the oldest one of the finest level that has more than its share is removed: so
 * coarse levels reach back farthest.
 *
 * Buckets are collected in memory and written now and then. A crash loses nothing: what ended after
 * the snapshot of the stream is cut off at the next start, and made again from the journal.
 *
 * The layout is that of this machine; a segment of another one is left out. Not thread-safe, except
 * for reading what trend_store_look has found. */
#ifndef OIF_SERVE_TREND_STORE_H
#define OIF_SERVE_TREND_STORE_H

#include "trend.h"

typedef struct trend_store trend_store;

/* `folder` NULL: the latest buckets are kept in memory only. NULL: out of memory. */
trend_store *trend_store_open(const char *folder, size_t columns, size_t limit_bytes);
void trend_store_close(trend_store *store); /* accepts NULL; does not write */

/* After a start: removes buckets that ended after the stream had this many rows. */
void trend_store_cut(trend_store *store, uint64_t rows);

void trend_store_add(trend_store *store, size_t level, const trend_bucket *ended);

/* Removes the buckets of a key. */
void trend_store_forget(trend_store *store, uint64_t key);

/* Writes what was collected; and makes sure that it is on disk. False: some of it could not be
 * written and is lost; errno says why. */
bool trend_store_write(trend_store *store);
bool trend_store_sync(trend_store *store);

typedef struct trend_figures {
    size_t bytes;                    /* on disk */
    uint64_t lost, damaged, removed; /* buckets not written, unreadable, and too old */
} trend_figures;

trend_figures trend_store_figures(const trend_store *store);

/* ---- Reading ---- */

/* What there is of a key at a level; free it with trend_view_free. NULL: out of memory. */
typedef struct trend_view trend_view;
trend_view *trend_store_look(trend_store *store, uint64_t key, size_t level);
void trend_view_free(trend_view *view); /* accepts NULL */

/* Visits the buckets from `from` on and before `to`, without the lock of the stream. The visited
 * bucket has as many columns as the third argument says. Returns how many were damaged. */
typedef void trend_visitor(void *context, const trend_bucket *bucket, size_t columns);
uint64_t trend_view_read(const trend_view *view, double from, double to, trend_visitor *visit,
                         void *context);

/* Adds what trend_view_read has found damaged to the figures. */
void trend_store_count_damaged(trend_store *store, uint64_t buckets);

#endif
