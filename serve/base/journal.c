#include "journal.h"

#include "descriptors.h"
#include "digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char file_magic[8] = "oifjrnl1";

enum { RECORD_MAGIC = 0x4f494652 }; /* an integer, so another byte order is noticed */

/* The header of a record. */
typedef struct record_start {
    uint32_t magic;
    uint16_t kind, format;
    uint64_t bytes, first_row, skip;
    double seconds;
    uint64_t checksum; /* of the fields before it and the payload */
} record_start;

/* ---- Checksums ---- */

static uint64_t checksum_of(const record_start *start, const char *payload)
{
    const uint64_t head = digest_add(1, start, offsetof(record_start, checksum));
    return digest_add(head, payload, (size_t)start->bytes);
}

/* ---- Reading ---- */

/* The file mapped into memory. */
typedef struct mapping {
    const char *bytes;
    size_t count;
} mapping;

static bool map_file(int fd, mapping *map)
{
    struct stat info;
    *map = (mapping){NULL, 0};
    if (fstat(fd, &info) != 0)
        return false;
    if (info.st_size == 0)
        return true;
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    *map = (mapping){bytes, (size_t)info.st_size};
    return true;
}

static void unmap(mapping *map)
{
    if (map->count > 0)
        munmap((void *)(uintptr_t)map->bytes, map->count);
}

/* Where the record after the one at `at` begins; 0 if the record at `at` is incomplete. */
static size_t read_record(const mapping *map, size_t at, journal_record *record)
{
    record_start start;
    if (map->count < at || map->count - at < sizeof start)
        return 0;
    memcpy(&start, map->bytes + at, sizeof start);
    const char *payload = map->bytes + at + sizeof start;
    if (start.magic != RECORD_MAGIC || start.bytes > map->count - at - sizeof start ||
        start.checksum != checksum_of(&start, payload))
        return 0;
    *record = (journal_record){.kind = (journal_kind)start.kind,
                               .format = start.format,
                               .first_row = start.first_row,
                               .skip = start.skip,
                               .seconds = start.seconds,
                               .payload = payload,
                               .bytes = (size_t)start.bytes};
    return at + sizeof start + (size_t)start.bytes;
}

static size_t end_of_records(const mapping *map)
{
    journal_record record;
    size_t at = sizeof file_magic, next;
    while ((next = read_record(map, at, &record)) > 0)
        at = next;
    return at;
}

/* Whether a complete record begins anywhere after `from`. A body could look like many records, so a
 * search that reads too much gives up and returns true. */
static bool has_record_after(const mapping *map, size_t from)
{
    const uint32_t magic = RECORD_MAGIC;
    uint64_t allowance = 64 * (uint64_t)map->count;
    for (size_t at = from + 1; at < map->count && map->count - at >= sizeof(record_start); at++) {
        journal_record record;
        record_start start;
        if (memcmp(map->bytes + at, &magic, sizeof magic) != 0)
            continue;
        memcpy(&start, map->bytes + at, sizeof start);
        if (start.bytes > map->count - at - sizeof start)
            continue;
        if (allowance < start.bytes || read_record(map, at, &record) > 0)
            return true;
        allowance -= start.bytes;
    }
    return false;
}

/* ---- Opening ---- */

static bool fail(problem *why, const journal *log, const char *what)
{
    int reason = errno;
    bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    problem_set(why, is_full ? 507 : 503,
                is_full ? "make room on the disk, and send it again"
                        : descriptors_remedy(
                              reason, "repair the disk or fix its permissions, and send it again"),
                "%s: %s: %s", log->path, what, strerror(reason));
    why->cause = OIF_CAUSE_SYSTEM;
    return false;
}

static bool begin_file(journal *log)
{
    log->bytes = sizeof file_magic;
    return ftruncate(log->fd, 0) == 0 &&
           pwrite(log->fd, file_magic, sizeof file_magic, 0) == (ssize_t)sizeof file_magic &&
           fsync(log->fd) == 0;
}

static bool write_whole(int fd, struct iovec *parts, int count, off_t at)
{
    if (lseek(fd, at, SEEK_SET) < 0)
        return false;
    while (count > 0) {
        ssize_t written = writev(fd, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written == 0 ? ENOSPC : errno;
            return false;
        }
        for (; count > 0 && (size_t)written >= parts->iov_len; parts++, count--)
            written -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= (size_t)written;
        }
    }
    return true;
}

/* Moves the bytes after the last record to PATH.torn, for the operator. */
static bool keep_torn(const journal *log, const char *bytes, size_t count)
{
    size_t path_bytes = strlen(log->path) + sizeof ".torn";
    char *path = malloc(path_bytes);
    if (!path)
        return false;
    snprintf(path, path_bytes, "%s.torn", log->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    free(path);
    if (fd < 0)
        return false;
    struct iovec all = {(void *)(uintptr_t)bytes, count};
    bool is_kept = write_whole(fd, &all, 1, 0) && fsync(fd) == 0;
    return close(fd) == 0 && is_kept;
}

/* Only a record that was being written when the machine stopped may be cut off, and no record
 * follows it. */
static bool check_damage(const journal *log, const mapping *map, size_t end, problem *why)
{
    bool is_begun = map->count >= sizeof file_magic;
    char remedy[PROBLEM_REMEDY_BYTES];
    if (is_begun && memcmp(map->bytes, file_magic, sizeof file_magic) != 0)
        return problem_set(why, 503, "move it away, or restore a backup",
                           "%s: is not a journal of this version of oif", log->path);
    if (!is_begun || end == map->count || !has_record_after(map, end))
        return true;
    snprintf(remedy, sizeof remedy,
             "stop the server, and restore a backup of the journal, or copy it elsewhere and "
             "continue without what follows the damage: truncate -s %zu journal",
             end);
    return problem_set(why, 503, remedy,
                       "%s: is damaged at byte %zu of %zu, and complete records follow the damage; "
                       "the file was not changed",
                       log->path, end, map->count);
}

/* Finds the end of the records, and moves away what follows. */
static bool find_end(journal *log, problem *why)
{
    mapping map;
    if (!map_file(log->fd, &map))
        return fail(why, log, "cannot be read");
    size_t end = map.count >= sizeof file_magic ? end_of_records(&map) : 0;
    if (!check_damage(log, &map, end, why)) {
        unmap(&map);
        return false;
    }
    log->cut_bytes = map.count - end;
    bool is_kept = log->cut_bytes == 0 || keep_torn(log, map.bytes + end, map.count - end);
    unmap(&map);
    log->bytes = end;
    bool is_cut =
        is_kept && (end == 0 ? begin_file(log)
                             : log->cut_bytes == 0 ||
                                   (ftruncate(log->fd, (off_t)end) == 0 && fsync(log->fd) == 0));
    return is_cut || fail(why, log, "cannot be written");
}

bool journal_open(journal *log, const char *path, problem *why)
{
    *log = (journal){.fd = -1, .path = strdup(path)};
    if (!log->path)
        return problem_set(why, 503, NULL, "out of memory");
    log->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (log->fd < 0)
        return fail(why, log, "cannot be opened");
    bool is_open = find_end(log, why);
    log->undo_bytes = log->bytes;
    return is_open;
}

void journal_close(journal *log)
{
    if (log->path && log->fd >= 0)
        close(log->fd);
    free(log->path);
    *log = (journal){.fd = -1};
}

bool journal_replay(journal *log,
                    bool (*take)(void *context, const journal_record *record,
                                 const journal_record *next),
                    void *context, problem *why)
{
    mapping map;
    if (!map_file(log->fd, &map))
        return fail(why, log, "cannot be read");
    journal_record record, next;
    size_t at = read_record(&map, sizeof file_magic, &record);
    while (at > 0) {
        at = read_record(&map, at, &next);
        if (!take(context, &record, at > 0 ? &next : NULL))
            break;
        record = next;
    }
    unmap(&map);
    return true;
}

/* ---- Writing ---- */

static void cut_back(journal *log, uint64_t bytes)
{
    int reason = errno;
    log->is_broken = ftruncate(log->fd, (off_t)bytes) != 0;
    log->bytes = bytes;
    errno = reason;
}

bool journal_append(journal *log, const journal_record *record, problem *why)
{
    record_start start = {.magic = RECORD_MAGIC,
                          .kind = (uint16_t)record->kind,
                          .format = (uint16_t)record->format,
                          .bytes = record->bytes,
                          .first_row = record->first_row,
                          .skip = record->skip,
                          .seconds = record->seconds};
    start.checksum = checksum_of(&start, record->payload);
    struct iovec parts[2] = {{&start, sizeof start},
                             {(void *)(uintptr_t)record->payload, record->bytes}};
    if (log->is_broken)
        cut_back(log, log->bytes);
    errno = EIO;
    if (log->is_broken)
        return fail(why, log, "cannot be written");
    if (!write_whole(log->fd, parts, record->bytes > 0 ? 2 : 1, (off_t)log->bytes)) {
        cut_back(log, log->bytes);
        return fail(why, log, "cannot be written");
    }
    log->undo_bytes = log->bytes;
    log->bytes += sizeof start + record->bytes;
    return true;
}

void journal_undo(journal *log)
{
    cut_back(log, log->undo_bytes);
}

bool journal_clear(journal *log, problem *why)
{
    if (ftruncate(log->fd, sizeof file_magic) != 0 || fsync(log->fd) != 0)
        return fail(why, log, "cannot be written");
    log->bytes = log->undo_bytes = sizeof file_magic;
    return true;
}

/* ---- Removing the first records ---- */

static char *path_of_rest(const journal *log)
{
    const size_t bytes = strlen(log->path) + sizeof ".new";
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s.new", log->path);
    return path;
}

/* Copies the records from `end` on, up to `new_end`, behind those that were copied. */
static bool copy_records(journal_rest *rest, uint64_t new_end)
{
    char piece[1 << 16];
    while (rest->end < new_end) {
        const uint64_t left = new_end - rest->end;
        const ssize_t got =
            pread(rest->from, piece, left < sizeof piece ? left : sizeof piece, (off_t)rest->end);
        struct iovec part = {piece, got > 0 ? (size_t)got : 0};
        errno = got == 0 ? EIO : errno;
        if (got <= 0 ||
            !write_whole(rest->to, &part, 1, (off_t)(rest->end - rest->place + sizeof file_magic)))
            return false;
        rest->end += (uint64_t)got;
    }
    return true;
}

bool journal_copy_rest(const journal *log, journal_rest *rest, problem *why)
{
    const uint64_t end = rest->end;
    char *path = path_of_rest(log);
    rest->to = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    free(path);
    rest->end = rest->place;
    struct iovec start = {(void *)(uintptr_t)file_magic, sizeof file_magic};
    bool is_copied = rest->from >= 0 && rest->to >= 0 && write_whole(rest->to, &start, 1, 0) &&
                     copy_records(rest, end) && fsync(rest->to) == 0;
    return is_copied || fail(why, log, "cannot be written");
}

bool journal_take_rest(journal *log, journal_rest *rest, problem *why)
{
    char *path = path_of_rest(log);
    const uint64_t gone = rest->place - sizeof file_magic;
    bool is_taken = path && copy_records(rest, log->bytes) && rename(path, log->path) == 0;
    if (is_taken) {
        close(log->fd);
        log->fd = rest->to;
        rest->to = -1;
        log->bytes -= gone;
        log->undo_bytes = log->bytes;
        log->is_broken = false;
    } else
        fail(why, log, "cannot be written");
    free(path);
    return is_taken;
}

int journal_descriptor(const journal *log)
{
    return log->fd < 0 ? -1 : fcntl(log->fd, F_DUPFD_CLOEXEC, 0);
}
