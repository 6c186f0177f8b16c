#include "trend_file.h"

#include "serve/base/log.h"

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

static uint64_t checksum_of(const trend_bucket *bucket, size_t bytes)
{
    return hash_words(&bucket->number, bytes - offsetof(trend_bucket, number));
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
    header.checksum = hash_words(&header, offsetof(file_header, checksum));
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
           header->checksum == hash_words(header, offsetof(file_header, checksum));
}

/* Finds the end of the buckets that ended by that row. False: the file is of no use. */
static bool read_file(trend_ring *ring, uint64_t rows)
{
    file_header header;
    trend_bucket *bucket = is_header_good(ring, &header) ? malloc(ring->bucket_bytes) : NULL;
    if (!bucket)
        return false;
    ring->next = header.next;
    const uint64_t first = oldest(ring);
    while (is_kept(ring, ring->next, rows, bucket))
        ring->next++;
    while (ring->next > first && !is_kept(ring, ring->next - 1, rows, bucket))
        ring->next--;
    free(bucket);
    return true;
}

trend_file *trend_file_open(const char *path, size_t columns, size_t limit_bytes, uint64_t rows)
{
    const size_t bucket_bytes = trend_bucket_bytes(columns);
    if (limit_bytes < sizeof(file_header) + bucket_bytes)
        return NULL;
    trend_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return NULL;
    }
    file->ring = (trend_ring){.fd = rows > 0 ? open(path, O_RDWR | O_CLOEXEC) : -1,
                              .bucket_bytes = bucket_bytes,
                              .capacity = (limit_bytes - sizeof(file_header)) / bucket_bytes};
    if (file->ring.fd < 0)
        make_file(file);
    else if (!read_file(&file->ring, rows))
        make_again(file);
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

size_t trend_file_bytes(const trend_file *file)
{
    const trend_ring *ring = &file->ring;
    return sizeof(file_header) + (size_t)(ring->next - oldest(ring)) * ring->bucket_bytes;
}

uint64_t trend_file_lost(const trend_file *file)
{
    return file->lost;
}

/* ---- Reading ---- */

trend_view trend_file_look(const trend_file *file)
{
    trend_view view = {.ring = file->ring};
    view.ring.fd = dup(file->ring.fd);
    return view;
}

/* Visits whole buckets; `number` is that of the first. */
static void visit_piece(trend_view *view, char *piece, size_t count, uint64_t number,
                        const trend_visitor *to)
{
    const size_t bytes = view->ring.bucket_bytes;
    for (size_t i = 0; i < count; i++, number++) {
        trend_bucket *one = (trend_bucket *)(void *)(piece + i * bytes);
        if (one->key != to->key)
            continue;
        if (one->checksum != checksum_of(one, bytes))
            view->damaged = number + 1;
        else if (one->number == number)
            to->visit(to->context, one);
    }
}

void trend_view_read(trend_view *view, const trend_visitor *to)
{
    const trend_ring *ring = &view->ring;
    const uint64_t most = PIECE_BYTES / ring->bucket_bytes;
    char *piece = ring->fd >= 0 ? malloc(PIECE_BYTES) : NULL;
    uint64_t number = oldest(ring), count;
    for (; piece && number < ring->next; number += count) {
        count = ring->capacity - number % ring->capacity; /* up to the end of the file */
        count = count < ring->next - number ? count : ring->next - number;
        count = count < most ? count : most;
        const ssize_t got =
            pread(ring->fd, piece, (size_t)count * ring->bucket_bytes, place_of(ring, number));
        visit_piece(view, piece, got > 0 ? (size_t)got / ring->bucket_bytes : 0, number, to);
    }
    free(piece);
}

/* A bucket that was replaced while it was read is not damaged. */
void trend_file_end_look(trend_file *file, const trend_view *view)
{
    if (view->damaged > oldest(&file->ring))
        make_again(file);
    if (view->ring.fd >= 0)
        close(view->ring.fd);
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
    trend_view view = trend_file_look(file);
    trend_view_read(&view, &(trend_visitor){key, forget_bucket, &view.ring});
    trend_file_end_look(file, &view);
}
