#include "trend_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, FIXED_BYTES = 24, TIMES_BYTES = 16, COLUMNS_MAX = 8192 };

static const char magic[8] = "oiftrnd1";

/* A full segment says which times it has, to be left out of questions about others. */
typedef struct segment_header {
    char magic[8];
    uint32_t level, columns;
    uint64_t number, checksum;
    double low_time, high_time;
    uint64_t times_checksum; /* 0: it is not full */
    uint64_t reserved;
} segment_header;

_Static_assert(sizeof(segment_header) == TREND_HEADER_BYTES, "the header has no padding");

/* ---- Checksums ---- */

/* Of whole words: buckets and headers have a multiple of 8 bytes. */
static uint64_t hash_words(const void *bytes, size_t count)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15), word;
    for (size_t i = 0; i < count; i += sizeof word) {
        memcpy(&word, (const char *)bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t trend_checksum(const trend_bucket *bucket, size_t bytes)
{
    return hash_words((const char *)bucket + sizeof bucket->checksum,
                      bytes - sizeof bucket->checksum);
}

/* ---- Files ---- */

static const char *path_of(const trend_segment *one, const char *folder, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/trend.%zu.%llu", folder, one->level,
             (unsigned long long)one->number);
    return path;
}

int trend_segment_open(const trend_segment *one, const char *folder, int flags)
{
    char path[PATH_BYTES];
    return open(path_of(one, folder, path), flags | O_CLOEXEC, 0600);
}

void trend_segment_remove(const trend_segment *one, const char *folder)
{
    char path[PATH_BYTES];
    unlink(path_of(one, folder, path));
}

bool trend_write_all(int fd, const void *bytes, size_t count, uint64_t at)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = pwrite(fd, from, count, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        at += (uint64_t)written;
        count -= (size_t)written;
    }
    return true;
}

/* Fewer bytes than asked for: the end of the file, or an error. */
size_t trend_read_some(int fd, void *bytes, size_t count, uint64_t at)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(fd, (char *)bytes + done, count - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* ---- Headers ---- */

static bool is_good(const segment_header *header, const trend_segment *one)
{
    return memcmp(header->magic, magic, sizeof magic) == 0 && header->level == one->level &&
           header->number == one->number && header->columns > 0 && header->columns <= COLUMNS_MAX &&
           header->checksum == hash_words(header, FIXED_BYTES);
}

void trend_segment_examine(trend_segment *one, const char *folder)
{
    segment_header header;
    if (one->is_known)
        return;
    one->is_known = true;
    int fd = trend_segment_open(one, folder, O_RDONLY);
    const bool is_read = fd >= 0 && trend_read_some(fd, &header, sizeof header, 0) == sizeof header;
    if (fd >= 0)
        close(fd);
    if (!is_read || !is_good(&header, one))
        return;
    const size_t bucket_bytes = trend_bucket_bytes(header.columns);
    one->columns = header.columns;
    one->bytes -= (one->bytes - sizeof header) % bucket_bytes;
}

bool trend_segment_write_header(const trend_segment *one, int fd, bool is_full)
{
    segment_header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, magic, sizeof magic);
    header.level = (uint32_t)one->level;
    header.columns = (uint32_t)one->columns;
    header.number = one->number;
    header.checksum = hash_words(&header, FIXED_BYTES);
    if (is_full && one->has_times) {
        header.low_time = one->low_time;
        header.high_time = one->high_time;
        header.times_checksum = hash_words(&header.low_time, TIMES_BYTES);
    }
    return trend_write_all(fd, &header, sizeof header, 0);
}

bool trend_segment_is_elsewhere(int fd, double from, double to)
{
    segment_header header;
    return trend_read_some(fd, &header, sizeof header, 0) == sizeof header &&
           header.times_checksum != 0 &&
           header.times_checksum == hash_words(&header.low_time, TIMES_BYTES) &&
           (header.high_time < from || header.low_time >= to);
}

/* ---- Buckets ---- */

void trend_segment_read(const trend_segment *one, int fd, trend_piece_visitor *visit, void *context)
{
    const size_t bucket_bytes = trend_bucket_bytes(one->columns);
    const size_t step = TREND_PIECE_BYTES / bucket_bytes * bucket_bytes;
    char *piece = malloc(TREND_PIECE_BYTES);
    for (uint64_t at = TREND_HEADER_BYTES; piece && at < one->bytes; at += step) {
        const uint64_t left = one->bytes - at;
        const size_t got = trend_read_some(fd, piece, left < step ? (size_t)left : step, at);
        visit(context, piece, got / bucket_bytes, at);
    }
    free(piece);
}

static void widen_times(void *context, char *buckets, size_t count, uint64_t at)
{
    trend_segment *one = context;
    const size_t bucket_bytes = trend_bucket_bytes(one->columns);
    (void)at;
    for (size_t i = 0; i < count; i++) {
        const trend_bucket *bucket =
            (const trend_bucket *)(const void *)(buckets + i * bucket_bytes);
        one->low_time = fmin(one->low_time, bucket->time);
        one->high_time = fmax(one->high_time, bucket->time);
    }
}

void trend_segment_find_times(trend_segment *one, const char *folder)
{
    int fd = one->has_times || one->columns == 0 ? -1 : trend_segment_open(one, folder, O_RDONLY);
    if (fd < 0)
        return;
    one->low_time = INFINITY;
    one->high_time = -INFINITY;
    trend_segment_read(one, fd, widen_times, one);
    one->has_times = true;
    close(fd);
}
