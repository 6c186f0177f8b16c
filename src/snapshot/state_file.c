/* A state file and the files beside it:
 *
 *     PATH           the last saved snapshot, always complete; as a log, updates follow it
 *     PATH.new       the next one while it is written; then renamed to PATH
 *     PATH.lock      empty; locked by the program that may save, and removed at the end
 *     PATH.evicted   evicted models that the snapshot refers to (evicted_file.h)
 *
 * A rename is atomic. After a power loss, only what was synced before the rename is certain to
 * exist, and the new name only once the folder was synced too. The folder is kept open, so the file
 * stays the same if the program changes its working directory, and after the rename only the sync
 * of the folder can fail.
 */
#define _GNU_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64

#include "snapshot/state_file.h"

#ifndef OIF_WITHOUT_FILES /* else: no_files.c */

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/files.h"
#include "snapshot/sections.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* Each failed attempt means that another program held the file and released it in between. */
enum { LOCK_ATTEMPTS = 100 };

/* Each failed attempt means that another program has saved in between. Most fail at the header. */
enum { LOAD_ATTEMPTS = 100 };

/* ---- Calls that signals may interrupt ---- */

static int lock_file(int fd)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result;
}

/* An open file that a snapshot is written to. */
typedef struct opened {
    int fd;
    int reason;      /* the errno of a failure */
    uint64_t offset; /* of the next byte to write */
    uint64_t end;    /* of the last bytes that were written */
} opened;

/* How many of the next bytes to look at together: enough for a write, few enough to find zeros. */
static size_t piece_of(size_t count)
{
    enum { PIECE = 1024 };
    return count < PIECE ? count : PIECE;
}

static bool starts_with_zeros(const char *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, piece_of(count) - 1) == 0;
}

/* Leaves out zeros, so the file gets holes: a model that has learned little is mostly zeros, and a
 * fleet of such models takes a fifth of the disk. */
static ptrdiff_t write_file(void *context, const char *bytes, size_t count)
{
    opened *to = context;
    for (size_t done = 0, end; done < count && to->reason == 0; done = end) {
        end = done + piece_of(count - done);
        if (starts_with_zeros(bytes + done, count - done))
            continue;
        while (end < count && !starts_with_zeros(bytes + end, count - end))
            end += piece_of(count - end);
        to->reason = oif_file_write_at(to->fd, bytes + done, end - done, to->offset + done);
        to->end = to->offset + end;
    }
    to->offset += count;
    return to->reason == 0 ? (ptrdiff_t)count : -1;
}

/* A file does not end with a hole: its last zero is written. */
static bool write_end(opened *to)
{
    if (to->end < to->offset)
        to->reason = oif_file_write_at(to->fd, "", 1, to->offset - 1);
    return to->reason == 0;
}

/* ---- Opening and locking ---- */

/* Finds the file that a path refers to. A save must replace the target of a symbolic link, not the
 * link. It must not replace a device either, as a rename to /dev/null would. */
static oif_status find_file(const char *path, char found[PATH_MAX], oif_error *error)
{
    struct stat info;
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return oif_fail(error, OIF_EWRITE, "a state file needs a name; '%s' has none",
                        oif_path_shown(path));
    if (lstat(path, &info) != 0) {
        if (errno != ENOENT || length >= PATH_MAX)
            return oif_fail_errno(error, OIF_EWRITE, "use", path, errno);
        memcpy(found, path, length + 1);
        return OIF_OK;
    }
    if (!realpath(path, found) || stat(found, &info) != 0)
        return oif_fail_errno(error, OIF_EWRITE, "follow the link", path, errno);
    if (!S_ISREG(info.st_mode))
        return oif_fail(error, OIF_EWRITE, "'%s' is a folder or a device; name a file",
                        oif_path_shown(path));
    return OIF_OK;
}

static int open_folder_of(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return oif_file_open(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY, 0);
    char first = slash[1];
    slash[1] = '\0';
    int folder = oif_file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    slash[1] = first;
    return folder;
}

/* Writes both texts and a NUL at `*next`, and moves it past them. */
static const char *append(char **next, const char *text, const char *suffix)
{
    char *start = *next;
    size_t length = strlen(text), suffix_bytes = strlen(suffix) + 1;
    memcpy(start, text, length);
    memcpy(start + length, suffix, suffix_bytes);
    *next += length + suffix_bytes;
    return start;
}

/* Creates a state file with its names. Messages show the path as given, which may be a link to the
 * one found. */
static oif_state_file *name_files(const char *path, const char *found)
{
    const char *slash = strrchr(found, '/'), *name = slash ? slash + 1 : found;
    oif_state_file *file =
        oif_memory_new(sizeof *file + strlen(path) + 1 + 4 * (strlen(name) + sizeof ".evicted"));
    if (!file)
        return NULL;
    char *text = (char *)(file + 1);
    *file = (oif_state_file){.location.folder = -1, .lock = -1};
    file->location.path = append(&text, path, "");
    file->location.name = append(&text, name, "");
    file->location.evicted_name = append(&text, name, ".evicted");
    file->new_name = append(&text, name, ".new");
    file->lock_name = append(&text, name, ".lock");
    return file;
}

/* Whether the locked file is still the one in the folder: the previous holder of the lock may just
 * have removed it. */
static bool is_current(const oif_state_file *file)
{
    struct stat own, info;
    return fstat(file->lock, &own) == 0 &&
           fstatat(file->location.folder, file->lock_name, &info, 0) == 0 &&
           own.st_dev == info.st_dev && own.st_ino == info.st_ino;
}

static oif_status take_lock(oif_state_file *file, oif_error *error)
{
    int reason = EWOULDBLOCK;
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        file->lock = oif_file_open(file->location.folder, file->lock_name,
                                   O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
        if (file->lock < 0)
            return oif_fail_system(
                error, OIF_EWRITE, errno,
                "cannot create a lock beside '%s': %s; name a file in a folder that "
                "can be written to",
                oif_path_shown(file->location.path), strerror(errno));
        bool locked = lock_file(file->lock) == 0;
        if (locked && is_current(file))
            return OIF_OK;
        if (!locked)
            reason = errno;
        close(file->lock);
        if (!locked)
            break;
    }
    if (reason != EWOULDBLOCK)
        return oif_fail_errno(error, OIF_EWRITE, "lock", file->location.path, reason);
    return oif_fail(error, OIF_EBUSY,
                    "another process is using the state file '%s'; stop it, or name another file",
                    oif_path_shown(file->location.path));
}

static oif_status hold(oif_state_file *file, char *found, oif_error *error)
{
    file->location.folder = open_folder_of(found);
    if (file->location.folder < 0)
        return oif_fail_system(
            error, OIF_EWRITE, errno,
            "cannot open the folder of '%s': %s; create the folder, or name another file",
            oif_path_shown(file->location.path), strerror(errno));
    oif_status status = take_lock(file, error);
    if (status != OIF_OK)
        close(file->location.folder);
    return status;
}

/* `found` has room for a path. */
static oif_status open_found(const char *path, char *found, oif_state_file **file, oif_error *error)
{
    oif_status status = find_file(path, found, error);
    if (status != OIF_OK)
        return status;
    oif_state_file *made = name_files(path, found);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for the name of the state file");
    status = hold(made, found, error);
    if (status != OIF_OK) {
        oif_memory_free(made);
        return status;
    }
    unlinkat(made->location.folder, made->new_name, 0); /* left by a crash, if any */
    *file = made;
    return OIF_OK;
}

oif_status oif_state_file_open(const char *path, oif_state_file **file, oif_error *error)
{
    char *found = oif_memory_new(PATH_MAX);
    if (!found)
        return oif_fail(error, OIF_EMEMORY, "no memory for the name of the state file");
    oif_status status = open_found(path ? path : "", found, file, error); /* "": no file */
    oif_memory_free(found);
    return status;
}

void oif_state_file_close(oif_state_file *file)
{
    if (!file)
        return;
    oif_evicted_file_free(file->evicted);
    /* Before the lock is released: the next program that gets the lock sees that the file is gone
     * and creates a new one. */
    if (is_current(file))
        unlinkat(file->location.folder, file->lock_name, 0);
    close(file->lock);
    close(file->location.folder);
    oif_memory_free(file);
}

/* ---- Saving ---- */

/* Writes the end of a log into its header. Returns 0 or the errno. */
static int write_log_end(int fd, uint64_t end)
{
    unsigned char bytes[OIF_LOG_END_BYTES];
    oif_log_end_encode(bytes, end);
    return oif_file_write_at(fd, bytes, sizeof bytes, OIF_SNAPSHOT_HEADER_BYTES);
}

/* `log_end`: NULL if it is not a log; else becomes its end. */
static oif_status write_new(const oif_state_file *file, const oif_stored_kind *kind,
                            const void *object, uint64_t *log_end, oif_error *error)
{
    opened to = {.fd = oif_file_create_beside(file->location.folder, file->location.name,
                                              file->new_name, O_WRONLY | O_EXCL)};
    if (to.fd < 0)
        return oif_fail_save(error, "write beside", file->location.path, errno);
    oif_status status = kind->save(object, write_file, &to, error);
    if (status == OIF_OK && !write_end(&to))
        status = OIF_EWRITE;
    if (status == OIF_OK && log_end) {
        *log_end = to.offset;
        to.reason = write_log_end(to.fd, to.offset);
        status = to.reason == 0 ? OIF_OK : OIF_EWRITE;
    }
    if (status == OIF_EWRITE)
        status = oif_fail_save(error, "write", file->location.path, to.reason);
    else if (status == OIF_OK && oif_file_sync(to.fd) != 0)
        status = oif_fail_save(error, "sync", file->location.path, errno);
    if (close(to.fd) != 0 && status == OIF_OK && errno != EINTR)
        status = oif_fail_save(error, "write", file->location.path, errno);
    return status;
}

static oif_status fail_late_sync(const oif_state_file *file, oif_error *error)
{
    return oif_fail_system(error, OIF_EWRITE, errno,
                           "'%s' is saved, but may not survive a loss of power: %s",
                           oif_path_shown(file->location.path), strerror(errno));
}

static oif_status replace(oif_state_file *file, const oif_stored_kind *kind, const void *object,
                          uint64_t *log_end, bool *was_replaced, oif_error *error)
{
    file->saves++;
    oif_status status = write_new(file, kind, object, log_end, error);
    if (status == OIF_OK && file->evicted)
        status = oif_evicted_file_before_commit(file->evicted, error);
    if (status == OIF_OK && renameat(file->location.folder, file->new_name, file->location.folder,
                                     file->location.name) != 0)
        status = oif_fail_save(error, "replace", file->location.path, errno);
    if (status != OIF_OK) {
        unlinkat(file->location.folder, file->new_name, 0);
        return status;
    }
    *was_replaced = true;
    return oif_folder_sync(file->location.folder) == 0 ? OIF_OK : fail_late_sync(file, error);
}

oif_status oif_state_file_save_object(oif_state_file *file, const oif_stored_kind *kind,
                                      const void *object, oif_error *error)
{
    bool was_replaced = false;
    oif_status status = replace(file, kind, object, NULL, &was_replaced, error);
    if (file->evicted && was_replaced)
        oif_evicted_file_after_commit(file->evicted, status == OIF_OK);
    return status;
}

oif_status oif_stored_save_file(const oif_stored_kind *kind, const void *object, const char *path,
                                oif_error *error)
{
    oif_state_file *file = NULL;
    oif_status status = oif_state_file_open(path, &file, error);
    if (!file)
        return status;
    status = oif_state_file_save_object(file, kind, object, error);
    oif_state_file_close(file);
    return status;
}

/* ---- Logs ---- */

void oif_state_file_identify(const oif_state_file *file, oif_stored_place *place)
{
    struct stat info;
    const int folder = file->location.folder;
    const char *name = file->location.name;
    /* A file with a second name may be a backup, which a save must not change. */
    const bool may_grow = fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                          info.st_nlink == 1 && faccessat(folder, name, W_OK, AT_EACCESS) == 0;
    place->file = may_grow ? file : NULL;
    if (!may_grow)
        return;
    place->saves = file->saves;
    place->device = (uint64_t)info.st_dev;
    place->inode = (uint64_t)info.st_ino;
    place->bytes = (uint64_t)info.st_size;
    place->seconds = info.st_mtim.tv_sec;
    place->nanoseconds = info.st_mtim.tv_nsec;
}

bool oif_state_file_is_at(const oif_state_file *file, const oif_stored_place *place)
{
    oif_stored_place now = {0};
    oif_state_file_identify(file, &now);
    return place->file == file && now.file == file && now.saves == place->saves &&
           now.device == place->device && now.inode == place->inode && now.bytes == place->bytes &&
           now.seconds == place->seconds && now.nanoseconds == place->nanoseconds;
}

oif_status oif_state_file_save_log(oif_state_file *file, const oif_stored_kind *kind,
                                   const void *object, oif_stored_place *place, oif_error *error)
{
    bool was_replaced = false;
    uint64_t end = 0;
    *place = (oif_stored_place){0};
    oif_status status = replace(file, kind, object, &end, &was_replaced, error);
    if (status != OIF_OK)
        return status;
    place->log = (oif_log_info){.is_log = true, .base_bytes = end};
    place->has_end = true;
    oif_state_file_identify(file, place);
    return OIF_OK;
}

/* Writes and syncs an update behind the end of a log, which does not count yet. */
static oif_status write_update(const oif_state_file *file, const oif_stored_kind *kind,
                               const void *object, opened *to, oif_error *error)
{
    const char *path = file->location.path;
    if (ftruncate(to->fd, (off_t)to->offset) != 0) /* what a crash has left */
        return oif_fail_save(error, "write", path, errno);
    oif_status status = kind->save(object, write_file, to, error);
    if (status == OIF_OK && !write_end(to))
        status = OIF_EWRITE;
    if (status == OIF_EWRITE)
        return oif_fail_save(error, "write", path, to->reason);
    if (status == OIF_OK && oif_file_sync(to->fd) != 0)
        return oif_fail_save(error, "sync", path, errno);
    return status;
}

/* First the update is on the disk, then the end that makes it count. An end that may be written in
 * part must not be followed by half an update, so `*may_grow` becomes false. */
static oif_status append_update(const oif_state_file *file, const oif_stored_kind *kind,
                                const void *object, opened *to, bool *may_grow, oif_error *error)
{
    const uint64_t end = to->offset;
    oif_status status = write_update(file, kind, object, to, error);
    *may_grow = status == OIF_OK || ftruncate(to->fd, (off_t)end) == 0;
    if (status != OIF_OK)
        return status;
    const int reason = write_log_end(to->fd, to->offset);
    if (reason != 0) {
        *may_grow = false;
        /* Else the whole update stays: any end fits it. */
        if (write_log_end(to->fd, end) == 0 && oif_file_sync(to->fd) == 0)
            (void)!ftruncate(to->fd, (off_t)end);
        return oif_fail_save(error, "write", file->location.path, reason);
    }
    *may_grow = oif_file_sync(to->fd) == 0;
    return *may_grow ? OIF_OK : fail_late_sync(file, error);
}

oif_status oif_state_file_append(oif_state_file *file, const oif_stored_kind *kind,
                                 const void *object, oif_stored_place *place, oif_error *error)
{
    const uint64_t end = place->log.base_bytes + place->log.update_bytes;
    opened to = {
        .fd = oif_file_open(file->location.folder, file->location.name, O_WRONLY | O_NOFOLLOW, 0),
        .offset = end,
        .end = end};
    bool may_grow = false;
    if (to.fd < 0)
        return oif_fail_save(error, "write", file->location.path, errno);
    file->saves++;
    oif_status status = append_update(file, kind, object, &to, &may_grow, error);
    close(to.fd);
    if (status == OIF_OK) {
        place->log.updates++;
        place->log.update_bytes += to.offset - end;
    }
    place->log.ignored_bytes = 0;
    if (may_grow)
        oif_state_file_identify(file, place);
    else
        *place = (oif_stored_place){0}; /* so the next save replaces the file */
    return status;
}

/* ---- Loading ---- */

/* An open file that a snapshot is read from, in large pieces: a key has a dozen small parts. */
typedef struct source {
    int fd;
    int reason;          /* the errno of a failure */
    uint64_t offset;     /* of the next byte to return */
    bool has_ended;      /* the end of the file was reached */
    size_t next, filled; /* buffered bytes: buffer[next] up to buffer[filled] */
    char buffer[1 << 14];
} source;

static bool fill_buffer(source *from)
{
    ssize_t got;
    do
        got = read(from->fd, from->buffer, sizeof from->buffer);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        from->reason = errno;
    from->has_ended = got == 0;
    from->next = 0;
    from->filled = got > 0 ? (size_t)got : 0;
    return got >= 0;
}

static ptrdiff_t read_file(void *context, char *bytes, size_t capacity)
{
    source *from = context;
    if (from->next == from->filled && !fill_buffer(from))
        return -1;
    const size_t left = from->filled - from->next, count = left < capacity ? left : capacity;
    memcpy(bytes, from->buffer + from->next, count);
    from->next += count;
    from->offset += count;
    return (ptrdiff_t)count;
}

static bool rewind_source(source *from)
{
    from->offset = from->next = from->filled = 0;
    return lseek(from->fd, 0, SEEK_SET) == 0;
}

/* Loads a snapshot that must end where its file does. A log is read up to there, and another
 * program may append to it in the meantime. */
static oif_status load_whole(source *from, const oif_stored_kind *kind, void **object,
                             oif_error *error)
{
    char byte;
    struct stat info;
    bool has_size = fstat(from->fd, &info) == 0 && S_ISREG(info.st_mode);
    oif_status status =
        kind->load(has_size ? (uint64_t)info.st_size : UINT64_MAX, read_file, from, object, error);
    if (status != OIF_OK || from->has_ended)
        return status;
    const uint64_t bytes = from->offset;
    ptrdiff_t more = read_file(from, &byte, 1);
    if (more == 0)
        return OIF_OK;
    kind->free(*object);
    return oif_fail_at(error, more > 0 ? OIF_ECORRUPT : OIF_EREAD, 0, bytes,
                       "byte %llu: the snapshot ends here, but more bytes follow",
                       (unsigned long long)bytes);
}

static bool has_changed(int fd, const struct stat *before)
{
    struct stat now;
    return fstat(fd, &now) == 0 &&
           (now.st_size != before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Loads a file again that another program has appended to in the meantime. */
static oif_status load_stable(source *from, const oif_stored_kind *kind, void **object,
                              oif_error *error)
{
    for (int attempt = 1;; attempt++) {
        struct stat before;
        void *made = *object;
        const bool is_known = fstat(from->fd, &before) == 0;
        oif_status status = load_whole(from, kind, &made, error);
        if (status == OIF_OK)
            *object = made;
        if (status == OIF_OK || attempt == LOAD_ATTEMPTS || !is_known ||
            !has_changed(from->fd, &before) || !rewind_source(from))
            return status;
    }
}

/* `*reason` becomes the errno of a failure to read. */
static oif_status load_buffered(int fd, const oif_stored_kind *kind, void **object, int *reason,
                                oif_error *error)
{
    source *from = oif_memory_new(sizeof *from);
    if (!from)
        return oif_fail(error, OIF_EMEMORY, "no memory to read a file");
    *from = (source){.fd = fd};
    const oif_status status = load_stable(from, kind, object, error);
    *reason = from->reason;
    oif_memory_free(from);
    return status;
}

static oif_status load_opened(int fd, const char *path, const oif_stored_kind *kind, void **object,
                              oif_error *error)
{
    if (fd < 0)
        return oif_fail_errno(error, OIF_EREAD, "open", path, errno);
    void *made = *object;
    oif_error why;
    int reason = 0;
    oif_status status = load_buffered(fd, kind, &made, &reason, &why);
    close(fd);
    if (status == OIF_EREAD)
        return oif_fail_errno(error, status, "read", path, reason);
    if (status != OIF_OK)
        return oif_fail_because_at(error, status, why.cause, 0, why.column, "'%s': %s",
                                   oif_path_shown(path), why.message);
    *object = made;
    return OIF_OK;
}

oif_status oif_stored_load_file(const oif_stored_kind *kind, const char *path, void **object,
                                oif_error *error)
{
    if (!path)
        path = ""; /* no file has this name */
    return load_opened(oif_file_open(AT_FDCWD, path, O_RDONLY, 0), path, kind, object, error);
}

oif_status oif_state_file_load_object(const oif_state_file *file, const oif_stored_kind *kind,
                                      void **object, oif_error *error)
{
    int fd = oif_file_open(file->location.folder, file->location.name, O_RDONLY, 0);
    if (fd < 0 && errno == ENOENT)
        return oif_fail(error, OIF_END, "there is no state file '%s' yet",
                        oif_path_shown(file->location.path));
    return load_opened(fd, file->location.path, kind, object, error);
}

#endif
