/* One segment of a trend_store: a file with a header and buckets of one size. */
#ifndef OIF_SERVE_TREND_SEGMENT_H
#define OIF_SERVE_TREND_SEGMENT_H

#include "trend.h"

enum {
    TREND_HEADER_BYTES = 64,
    TREND_PIECE_BYTES = 1 << 18 /* that are read at a time: at least one bucket */
};

typedef struct trend_segment {
    size_t level;
    uint64_t number, bytes;
    size_t columns;             /* 0: it cannot be used */
    double low_time, high_time; /* of its buckets, if has_times */
    bool is_known;              /* the header was read */
    bool has_times, is_dirty;
} trend_segment;

/* -1 and errno on failure. */
int trend_segment_open(const trend_segment *one, const char *folder, int flags);
void trend_segment_remove(const trend_segment *one, const char *folder);

/* Reads the header, once. Whole buckets count; a torn one at the end will be written over. */
void trend_segment_examine(trend_segment *one, const char *folder);

/* Writes the header: with the times, if it is full and they are known. */
bool trend_segment_write_header(const trend_segment *one, int fd, bool is_full);

/* Finds out which times it has. */
void trend_segment_find_times(trend_segment *one, const char *folder);

/* Whether a full segment says that it has nothing within these times. */
bool trend_segment_is_elsewhere(int fd, double from, double to);

/* Visits pieces of whole buckets, which the visitor may change, and where they begin in the file.
 * `fd` stays open. */
typedef void trend_piece_visitor(void *context, char *buckets, size_t count, uint64_t at);
void trend_segment_read(const trend_segment *one, int fd, trend_piece_visitor *visit,
                        void *context);

/* ---- Buckets in files ---- */

uint64_t trend_checksum(const trend_bucket *bucket, size_t bytes);

/* All of it, or errno says what is wrong. */
bool trend_write_all(int fd, const void *bytes, size_t count, uint64_t at);
size_t trend_read_some(int fd, void *bytes, size_t count, uint64_t at);

#endif
