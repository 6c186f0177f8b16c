#include "trend_file.h"

#include "front/text/byte_table.h"
#include "serve/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18, FREE_SHARE = 10, FREE_BYTES = 1 << 30, WRITES_PER_CHECK = 64 };

static const char magic[8] = "oifdays1";

/* `next` is that of the latest sync: the buckets behind it say how many there are. */
typedef struct file_header {
    char magic[8];
    uint64_t bucket_bytes, capacity, next, checksum;
} file_header;

struct trend_file {
    char *path;
    trend_ring ring;
    uint64_t lost;
    bool has_room, is_dirty;
};

/* ---- Bytes ---- */

static uint64_t checksum_of(const trend_bucket *bucket, size_t bytes)
{
    return byte_hash(BYTE_HASH_START, &bucket->number, bytes - offsetof(trend_bucket, number));
}

static off_t place_of(const trend_ring *ring, uint64_t number)
{
    return (off_t)(sizeof(file_header) + number % ring->capacity * ring->bucket_bytes);
}

static uint64_t oldest(const trend_ring *ring)
{
    return ring->next > ring->capacity ? ring->next - ring->capacity : 0;
}

static bool write_bucket(const trend_ring *ring, uint64_t number, const trend_bucket *bucket)
{
    return pwrite(ring->fd, bucket, ring->bucket_bytes, place_of(ring, number)) ==
           (ssize_t)ring->bucket_bytes;
}

/* ---- A new file ---- */

static bool write_header(const trend_ring *ring)
{
    file_header header = {
        .bucket_bytes = ring->bucket_bytes, .capacity = ring->capacity, .next = ring->next};
    memcpy(header.magic, magic, sizeof magic);
    header.checksum = byte_hash(BYTE_HASH_START, &header, offsetof(file_header, checksum));
    return pwrite(ring->fd, &header, sizeof header, 0) == sizeof header;
}

/* If it cannot be made, all buckets are lost and counted. */
static void make_file(trend_file *file)
{
    trend_ring *ring = &file->ring;
    const off_t bytes = place_of(ring, ring->capacity - 1) + (off_t)ring->bucket_bytes;
    if (ring->fd >= 0)
        close(ring->fd);
    unlink(file->path);
    ring->next = 0;
    ring->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (ring->fd < 0 || (ftruncate(ring->fd, bytes) == 0 && write_header(ring)))
        return;
    close(ring->fd);
    ring->fd = -1;
}

static void make_again(trend_file *file)
{
    log_line("warn", "history", "path", file->path, "reason",
             "damaged, or made for other columns or another --history-disk: it starts again",
             (char *)NULL);
    make_file(file);
}

/* ---- After a start ---- */

static bool is_kept(const trend_ring *ring, uint64_t number, uint64_t rows, trend_bucket *bucket)
{
    return pread(ring->fd, bucket, ring->bucket_bytes, place_of(ring, number)) ==
               (ssize_t)ring->bucket_bytes &&
           bucket->number == number && bucket->closed <= rows &&
           bucket->checksum == checksum_of(bucket, ring->bucket_bytes);
}

static bool is_header_good(const trend_ring *ring, file_header *header)
{
    return pread(ring->fd, header, sizeof *header, 0) == sizeof *header &&
           memcmp(header->magic, magic, sizeof magic) == 0 &&
           header->bucket_bytes == ring->bucket_bytes && header->capacity == ring->capacity &&
           header->checksum == byte_hash(BYTE_HASH_START, header, offsetof(file_header, checksum));
}

/* Finds the end of the buckets that ended by that row, from `next` of the header. */
static void find_end(trend_ring *ring, uint64_t next, uint64_t rows, trend_bucket *bucket)
{
    ring->next = next;
    const uint64_t first = oldest(ring);
    while (is_kept(ring, ring->next, rows, bucket))
        ring->next++;
    while (ring->next > first && !is_kept(ring, ring->next - 1, rows, bucket))
        ring->next--;
}

/* A file that cannot be read now, because there is no memory or no descriptor, stays as it is:
 * buckets are then lost and counted. One without a good header is of no use. */
static void open_file(trend_file *file, uint64_t rows)
{
    trend_ring *ring = &file->ring;
    file_header header;
    trend_bucket *bucket = malloc(ring->bucket_bytes);
    ring->fd = bucket ? open(file->path, O_RDWR | O_CLOEXEC) : -1;
    if (ring->fd >= 0 && is_header_good(ring, &header))
        find_end(ring, header.next, rows, bucket);
    else if (ring->fd >= 0)
        make_again(file);
    else if (bucket && errno == ENOENT)
        make_file(file);
    else
        log_line("warn", "history", "path", file->path, "reason",
                 bucket ? strerror(errno) : "no memory", (char *)NULL);
    free(bucket);
}

trend_file *trend_file_open(const char *path, size_t columns, size_t limit_bytes, uint64_t rows)
{
    const size_t bucket_bytes = trend_bucket_bytes(columns);
    if (limit_bytes < sizeof(file_header) + bucket_bytes) {
        unlink(path); /* of a larger limit before */
        return NULL;
    }
    trend_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return NULL;
    }
    file->ring = (trend_ring){.fd = -1,
                              .bucket_bytes = bucket_bytes,
                              .capacity = (limit_bytes - sizeof(file_header)) / bucket_bytes};
    if (rows > 0)
        open_file(file, rows);
    else
        make_file(file);
    return file;
}

void trend_file_close(trend_file *file)
{
    if (!file)
        return;
    if (file->ring.fd >= 0)
        close(file->ring.fd);
    free(file->path);
    free(file);
}

/* ---- Writing ---- */

static bool has_room(int fd)
{
    struct statvfs disk;
    if (fstatvfs(fd, &disk) != 0)
        return false;
    const double all = (double)disk.f_blocks * (double)disk.f_frsize,
                 left = (double)disk.f_bavail * (double)disk.f_frsize;
    return left >= fmin(all / FREE_SHARE, FREE_BYTES);
}

void trend_file_add(trend_file *file, trend_bucket *ended)
{
    trend_ring *ring = &file->ring;
    ended->number = ring->next;
    ended->checksum = checksum_of(ended, ring->bucket_bytes);
    if (!file->has_room || ring->next % WRITES_PER_CHECK == 0)
        file->has_room = ring->fd >= 0 && has_room(ring->fd);
    const bool is_written = file->has_room && write_bucket(ring, ring->next, ended);
    ring->next += is_written;
    file->lost += !is_written;
    file->is_dirty |= is_written;
}

void trend_file_sync(trend_file *file)
{
    if (file->is_dirty && write_header(&file->ring))
        fdatasync(file->ring.fd);
    file->is_dirty = false;
}

uint64_t trend_file_lost(const trend_file *file)
{
    return file->lost;
}

/* ---- Reading ---- */

trend_ring trend_file_view(const trend_file *file)
{
    trend_ring view = file->ring;
    view.fd = dup(file->ring.fd);
    return view;
}

/* Visits whole buckets; `number` is that of the first. One that is damaged, or was replaced
 * meanwhile, is left out. */
static void visit_piece(const trend_ring *ring, char *piece, size_t count, uint64_t number,
                        const trend_visitor *to)
{
    const size_t bytes = ring->bucket_bytes;
    for (size_t i = 0; i < count; i++, number++) {
        trend_bucket *one = (trend_bucket *)(void *)(piece + i * bytes);
        if (one->key == to->key && one->number == number &&
            one->checksum == checksum_of(one, bytes))
            to->visit(to->context, one);
    }
}

void trend_view_read(const trend_ring *view, const trend_visitor *to)
{
    const uint64_t most = PIECE_BYTES / view->bucket_bytes;
    char *piece = view->fd >= 0 ? malloc(PIECE_BYTES) : NULL;
    uint64_t number = oldest(view), count;
    for (; piece && number < view->next; number += count) {
        count = view->capacity - number % view->capacity; /* up to the end of the file */
        count = count < view->next - number ? count : view->next - number;
        count = count < most ? count : most;
        const ssize_t got =
            pread(view->fd, piece, (size_t)count * view->bucket_bytes, place_of(view, number));
        visit_piece(view, piece, got > 0 ? (size_t)got / view->bucket_bytes : 0, number, to);
    }
    free(piece);
}

void trend_view_close(trend_ring *view)
{
    if (view->fd >= 0)
        close(view->fd);
    view->fd = -1;
}

/* ---- Forgetting ---- */

static void forget_bucket(void *context, trend_bucket *bucket)
{
    const trend_ring *ring = context;
    const uint64_t number = bucket->number;
    memset(bucket, 0, ring->bucket_bytes);
    write_bucket(ring, number, bucket);
}

void trend_file_forget(trend_file *file, uint64_t key)
{
    trend_ring *ring = &file->ring;
    trend_view_read(ring, &(trend_visitor){key, forget_bucket, ring});
}
