#include "trend_store_parts.h"

#include "serve/base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PENDING_BYTES = 1 << 16, /* collected before they are written */
    MEMORY_BYTES = 1 << 20,  /* of a level, if there is no folder */
    SEGMENTS_OF_LIMIT = 64,  /* how many segments have the space of all */
    SEGMENT_BYTES_MIN = 4096
};

/* ---- The list of segments ---- */

static int compare_segments(const void *a, const void *b)
{
    const trend_segment *left = a, *right = b;
    const int by_level = (left->level > right->level) - (left->level < right->level);
    return by_level != 0 ? by_level
                         : (left->number > right->number) - (left->number < right->number);
}

static trend_segment *add_segment(trend_store *store, const trend_segment *added)
{
    if (store->count == store->capacity) {
        const size_t capacity = 2 * store->capacity + 8;
        trend_segment *larger = realloc(store->segments, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        store->segments = larger;
        store->capacity = capacity;
    }
    size_t at = store->count;
    while (at > 0 && compare_segments(added, &store->segments[at - 1]) < 0)
        at--;
    memmove(&store->segments[at + 1], &store->segments[at],
            (store->count - at) * sizeof *store->segments);
    store->segments[at] = *added;
    store->count++;
    store->figures.bytes += added->bytes;
    return &store->segments[at];
}

static void remove_segment(trend_store *store, trend_segment *one)
{
    const size_t at = (size_t)(one - store->segments);
    trend_segment_remove(one, store->folder);
    if (one->columns > 0)
        store->figures.removed +=
            (one->bytes - TREND_HEADER_BYTES) / trend_bucket_bytes(one->columns);
    store->figures.bytes -= one->bytes;
    store->count--;
    memmove(one, one + 1, (store->count - at) * sizeof *one);
    store->has_new_names = true;
}

static trend_segment *newest_of(trend_store *store, size_t level)
{
    for (size_t i = store->count; i-- > 0;)
        if (store->segments[i].level == level)
            return &store->segments[i];
    return NULL;
}

static bool find_segments(trend_store *store)
{
    DIR *folder = opendir(store->folder);
    bool is_good = true;
    if (!folder)
        return true; /* the stream says what is wrong with its folder */
    for (const struct dirent *entry; is_good && (entry = readdir(folder)) != NULL;) {
        unsigned level;
        unsigned long long number;
        struct stat info;
        char rest;
        if (sscanf(entry->d_name, "trend.%u.%llu%c", &level, &number, &rest) != 2 ||
            level >= TREND_LEVELS || fstatat(dirfd(folder), entry->d_name, &info, 0) != 0)
            continue;
        is_good = add_segment(store, &(trend_segment){.level = level,
                                                      .number = number,
                                                      .bytes = (uint64_t)info.st_size}) != NULL;
    }
    closedir(folder);
    return is_good;
}

trend_store *trend_store_open(const char *folder, size_t columns, size_t limit_bytes)
{
    trend_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->columns = columns;
    store->bucket_bytes = trend_bucket_bytes(columns);
    store->limit_bytes = limit_bytes;
    store->segment_bytes = limit_bytes / SEGMENTS_OF_LIMIT;
    if (store->segment_bytes < SEGMENT_BYTES_MIN)
        store->segment_bytes = SEGMENT_BYTES_MIN;
    if (store->segment_bytes < TREND_HEADER_BYTES + store->bucket_bytes)
        store->segment_bytes = TREND_HEADER_BYTES + store->bucket_bytes;
    store->folder = folder ? strdup(folder) : NULL;
    if ((folder && !store->folder) || (folder && !find_segments(store))) {
        trend_store_close(store);
        return NULL;
    }
    return store;
}

void trend_store_close(trend_store *store)
{
    if (!store)
        return;
    for (size_t level = 0; level < TREND_LEVELS; level++)
        free(store->pending[level].bytes);
    free(store->segments);
    free(store->folder);
    free(store);
}

trend_figures trend_store_figures(const trend_store *store)
{
    return store->figures;
}

void trend_store_count_damaged(trend_store *store, uint64_t buckets)
{
    store->figures.damaged += buckets;
}

/* ---- After a start ---- */

/* The end of the last bucket of a segment that ended by then. */
static uint64_t good_bytes(int fd, const trend_segment *one, trend_bucket *bucket, uint64_t rows)
{
    const size_t bytes = trend_bucket_bytes(one->columns);
    uint64_t end = one->bytes;
    while (end >= TREND_HEADER_BYTES + bytes) {
        const bool is_whole = trend_read_some(fd, bucket, bytes, end - bytes) == bytes &&
                              bucket->checksum == trend_checksum(bucket, bytes);
        if (is_whole && bucket->closed <= rows)
            break;
        end -= bytes;
    }
    return end;
}

/* Returns whether the segment has buckets that stay. */
static bool cut_segment(trend_store *store, trend_segment *one, uint64_t rows)
{
    trend_segment_examine(one, store->folder);
    trend_bucket *bucket = one->columns > 0 ? malloc(trend_bucket_bytes(one->columns)) : NULL;
    int fd = bucket ? trend_segment_open(one, store->folder, O_RDWR) : -1;
    if (fd >= 0) {
        const uint64_t end = good_bytes(fd, one, bucket, rows);
        if (end < one->bytes && ftruncate(fd, (off_t)end) == 0) {
            store->figures.bytes -= one->bytes - end;
            one->bytes = end;
            one->is_dirty = true;
        }
        close(fd);
    }
    free(bucket);
    return one->columns == 0 || one->bytes > TREND_HEADER_BYTES;
}

void trend_store_cut(trend_store *store, uint64_t rows)
{
    for (size_t level = 0; level < TREND_LEVELS; level++)
        for (trend_segment *one; (one = newest_of(store, level)) && !cut_segment(store, one, rows);)
            remove_segment(store, one);
    store->figures.removed = 0; /* they come again */
}

/* ---- Writing ---- */

/* Says which times a full segment has. A failure only costs time later. */
static void seal(const trend_store *store, const trend_segment *one)
{
    int fd = trend_segment_open(one, store->folder, O_WRONLY);
    if (fd < 0)
        return;
    trend_segment_write_header(one, fd, true);
    close(fd);
}

/* NULL: it cannot be made. */
static trend_segment *new_segment(trend_store *store, size_t level, uint64_t number)
{
    const trend_segment one = {.level = level,
                               .number = number,
                               .bytes = TREND_HEADER_BYTES,
                               .columns = store->columns,
                               .low_time = INFINITY,
                               .high_time = -INFINITY,
                               .has_times = true,
                               .is_known = true,
                               .is_dirty = true};
    int fd = trend_segment_open(&one, store->folder, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return NULL;
    const bool is_written = trend_segment_write_header(&one, fd, false);
    close(fd);
    store->has_new_names = true;
    return is_written ? add_segment(store, &one) : NULL;
}

/* The segment for the next bucket of a level. */
static trend_segment *writable(trend_store *store, size_t level)
{
    trend_segment *one = newest_of(store, level);
    const uint64_t number = one ? one->number + 1 : 1;
    if (!one)
        return new_segment(store, level, number);
    trend_segment_examine(one, store->folder);
    trend_segment_find_times(one, store->folder); /* those of an earlier run */
    if (one->columns == store->columns && one->bytes + store->bucket_bytes <= store->segment_bytes)
        return one;
    if (one->columns > 0)
        seal(store, one);
    return new_segment(store, level, number);
}

static void note_times(const trend_store *store, trend_segment *one, const char *buckets,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        trend_bucket bucket;
        memcpy(&bucket, buckets + i * store->bucket_bytes, sizeof bucket);
        one->low_time = fmin(one->low_time, bucket.time);
        one->high_time = fmax(one->high_time, bucket.time);
    }
}

/* Appends as many as fit into a segment; 0: it failed. A part of a bucket is cut off again. */
static size_t append(trend_store *store, size_t level, const char *buckets, size_t count)
{
    trend_segment *one = writable(store, level);
    int fd = one ? trend_segment_open(one, store->folder, O_WRONLY) : -1;
    if (fd < 0)
        return 0;
    const size_t room = (store->segment_bytes - one->bytes) / store->bucket_bytes;
    const size_t taken = count < room ? count : room, bytes = taken * store->bucket_bytes;
    const bool is_written = trend_write_all(fd, buckets, bytes, one->bytes);
    const int reason = errno;
    if (is_written) {
        one->bytes += bytes;
        one->is_dirty = true;
        store->figures.bytes += bytes;
        note_times(store, one, buckets, taken);
    } else if (ftruncate(fd, (off_t)one->bytes) != 0) {
        one->is_dirty = true; /* the rest is no bucket with a checksum */
    }
    close(fd);
    errno = reason;
    return is_written ? taken : 0;
}

static bool write_level(trend_store *store, size_t level)
{
    pending_buckets *pending = &store->pending[level];
    size_t left = pending->used / store->bucket_bytes, written = 1;
    const char *at = pending->bytes;
    for (; left > 0 && written > 0; left -= written, at += written * store->bucket_bytes)
        written = append(store, level, at, left);
    store->figures.lost += left;
    pending->used = 0;
    return left == 0;
}

static uint64_t bytes_of_level(const trend_store *store, size_t level)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < store->count; i++)
        bytes += store->segments[i].level == level ? store->segments[i].bytes : 0;
    return bytes;
}

static trend_segment *oldest_of(trend_store *store, size_t level)
{
    size_t i = 0;
    while (store->segments[i].level != level)
        i++;
    return &store->segments[i];
}

/* There is a level with more than its share: all together have more than all shares. */
static void make_room(trend_store *store)
{
    while (store->figures.bytes > store->limit_bytes) {
        size_t level = 0;
        while (level + 1 < TREND_LEVELS &&
               bytes_of_level(store, level) <= store->limit_bytes / TREND_LEVELS)
            level++;
        remove_segment(store, oldest_of(store, level));
    }
}

bool trend_store_write(trend_store *store)
{
    bool is_written = true;
    for (size_t level = 0; store->folder && level < TREND_LEVELS; level++)
        is_written &= write_level(store, level);
    make_room(store);
    return is_written;
}

static bool sync_segment(const trend_store *store, trend_segment *one)
{
    int fd = trend_segment_open(one, store->folder, O_RDONLY);
    const bool is_synced = fd >= 0 && fdatasync(fd) == 0;
    if (fd >= 0)
        close(fd);
    one->is_dirty = !is_synced;
    return is_synced;
}

bool trend_store_sync(trend_store *store)
{
    bool is_synced = trend_store_write(store);
    for (size_t i = 0; store->folder && i < store->count; i++)
        if (store->segments[i].is_dirty)
            is_synced &= sync_segment(store, &store->segments[i]);
    if (store->folder && store->has_new_names)
        is_synced &= folder_sync(store->folder);
    store->has_new_names = false;
    return is_synced;
}

/* Without a folder, the older half goes when there is no more room. */
static void drop_half(const trend_store *store, pending_buckets *pending)
{
    const size_t kept = pending->used / store->bucket_bytes / 2 * store->bucket_bytes;
    memmove(pending->bytes, pending->bytes + pending->used - kept, kept);
    pending->used = kept;
}

static bool grow(pending_buckets *pending, size_t more)
{
    if (pending->used + more <= pending->capacity)
        return true;
    const size_t capacity = 2 * pending->capacity + more;
    char *larger = realloc(pending->bytes, capacity);
    if (!larger)
        return false;
    pending->bytes = larger;
    pending->capacity = capacity;
    return true;
}

void trend_store_add(trend_store *store, size_t level, const trend_bucket *ended)
{
    pending_buckets *pending = &store->pending[level];
    if (!grow(pending, store->bucket_bytes)) {
        store->figures.lost++;
        return;
    }
    const uint64_t checksum = trend_checksum(ended, store->bucket_bytes);
    memcpy(pending->bytes + pending->used, ended, store->bucket_bytes);
    memcpy(pending->bytes + pending->used, &checksum, sizeof checksum);
    pending->used += store->bucket_bytes;
    if (store->folder && pending->used >= PENDING_BYTES)
        trend_store_write(store);
    else if (!store->folder && pending->used >= MEMORY_BYTES)
        drop_half(store, pending);
}

/* ---- Forgetting ---- */

typedef struct forgetting {
    uint64_t key;
    size_t bucket_bytes;
    int fd; /* -1: none */
} forgetting;

/* No key has the hash 0. */
static void forget_in(void *context, char *buckets, size_t count, uint64_t at)
{
    const forgetting *how = context;
    const uint64_t none = 0;
    const size_t place = offsetof(trend_bucket, key);
    for (size_t i = 0; i < count; i++, at += how->bucket_bytes) {
        uint64_t found;
        memcpy(&found, buckets + i * how->bucket_bytes + place, sizeof found);
        if (found != how->key)
            continue;
        memcpy(buckets + i * how->bucket_bytes + place, &none, sizeof none);
        if (how->fd >= 0)
            trend_write_all(how->fd, &none, sizeof none, at + place);
    }
}

static void forget_in_segment(const trend_store *store, trend_segment *one, uint64_t key)
{
    trend_segment_examine(one, store->folder);
    int fd = one->columns > 0 ? trend_segment_open(one, store->folder, O_RDWR) : -1;
    if (fd < 0)
        return;
    forgetting how = {key, trend_bucket_bytes(one->columns), fd};
    trend_segment_read(one, fd, forget_in, &how);
    close(fd);
    one->is_dirty = true;
}

void trend_store_forget(trend_store *store, uint64_t key)
{
    forgetting how = {key, store->bucket_bytes, -1};
    for (size_t level = 0; level < TREND_LEVELS; level++)
        forget_in(&how, store->pending[level].bytes,
                  store->pending[level].used / store->bucket_bytes, 0);
    for (size_t i = 0; i < store->count; i++)
        forget_in_segment(store, &store->segments[i], key);
}
