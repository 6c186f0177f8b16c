/* The only place of the library that touches files.
 *
 *     PATH         the last snapshot that was saved, always whole
 *     PATH.new     the next one, while it is being written; then it is renamed to PATH
 *     PATH.lock    empty; locked by whoever may write, and removed at the end
 *
 * A rename is all or nothing, but only what was synced before it survives a loss of power, and the new name only once the
 * folder was synced as well.
 */
#define _GNU_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct oif_state_file {
    int lock;
    char *path, *new_path, *lock_path, *folder; /* they follow in the same block of memory */
};

/* ---- Calls that signals may interrupt ---- */

static int open_file(const char *path, int flags)
{
    int file;
    do
        file = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (file < 0 && errno == EINTR);
    return file;
}

static ptrdiff_t write_file(void *context, const char *bytes, size_t count)
{
    ssize_t written;
    do
        written = write(*(const int *)context, bytes, count);
    while (written < 0 && errno == EINTR);
    return written;
}

static ptrdiff_t read_file(void *context, char *buffer, size_t capacity)
{
    ssize_t got;
    do
        got = read(*(const int *)context, buffer, capacity);
    while (got < 0 && errno == EINTR);
    return got;
}

static int sync_file(int file)
{
    int result;
    do
        result = fsync(file);
    while (result < 0 && errno == EINTR);
    return result;
}

static oif_status fail_errno(oif_error *error, oif_status status, const char *what, const char *path)
{
    return oif_fail(error, status, "cannot %s '%.100s': %s", what, path, strerror(errno));
}

/* ---- Holding the file ---- */

static char *join(char **room, const char *text, size_t length, const char *suffix)
{
    char *joined = *room;
    memcpy(joined, text, length);
    strcpy(joined + length, suffix);
    *room += length + strlen(suffix) + 1;
    return joined;
}

static oif_state_file *name_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = strlen(path), folder_length = slash ? (size_t)(slash - path) + 1 : 0;
    oif_state_file *file = oif_memory_new(sizeof *file + 4 * (length + sizeof ".lock"));
    if (!file)
        return NULL;
    char *room = (char *)(file + 1);
    file->path = join(&room, path, length, "");
    file->new_path = join(&room, path, length, ".new");
    file->lock_path = join(&room, path, length, ".lock");
    file->folder = join(&room, path, folder_length, ".");
    return file;
}

/* Whether the lock file is still the one that stands in the folder: who held it may just have removed it. */
static bool is_current(int lock, const char *path)
{
    struct stat own, standing;
    return fstat(lock, &own) == 0 && stat(path, &standing) == 0 && own.st_dev == standing.st_dev &&
           own.st_ino == standing.st_ino;
}

static oif_status take_lock(oif_state_file *file, oif_error *error)
{
    for (;;) {
        file->lock = open_file(file->lock_path, O_RDWR | O_CREAT);
        if (file->lock < 0)
            return fail_errno(error, OIF_EWRITE, "create", file->lock_path);
        if (flock(file->lock, LOCK_EX | LOCK_NB) == 0 && is_current(file->lock, file->lock_path))
            return OIF_OK;
        int reason = errno;
        close(file->lock);
        if (reason == EWOULDBLOCK)
            return oif_fail(error, OIF_EBUSY, "another program holds the state file '%.100s'", file->path);
    }
}

oif_status oif_state_file_open(const char *path, oif_state_file **file, oif_error *error)
{
    oif_state_file *made = name_files(path);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for the name of the state file");
    oif_status status = take_lock(made, error);
    if (status != OIF_OK) {
        oif_memory_free(made);
        return status;
    }
    unlink(made->new_path); /* if a crash left one */
    *file = made;
    return OIF_OK;
}

void oif_state_file_close(oif_state_file *file)
{
    if (!file)
        return;
    unlink(file->lock_path); /* first, so that whoever gets the lock next finds it gone and makes a new one */
    close(file->lock);
    oif_memory_free(file);
}

/* ---- Saving ---- */

static oif_status sync_folder(const oif_state_file *file, oif_error *error)
{
    int folder = open_file(file->folder, O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return fail_errno(error, OIF_EWRITE, "open the folder of", file->path);
    int synced = sync_file(folder);
    int reason = errno;
    close(folder);
    if (synced == 0 || reason == EINVAL || reason == EROFS) /* some file systems cannot sync a folder */
        return OIF_OK;
    errno = reason;
    return fail_errno(error, OIF_EWRITE, "sync the folder of", file->path);
}

/* A file that takes the place of another keeps who may read it. */
static void keep_mode(int file, const char *path)
{
    struct stat standing;
    if (stat(path, &standing) == 0)
        (void)!fchmod(file, standing.st_mode & 07777);
}

static oif_status write_new(const oif_state_file *file, const oif_detector *detector, oif_error *error)
{
    int to = open_file(file->new_path, O_WRONLY | O_CREAT | O_EXCL);
    if (to < 0)
        return fail_errno(error, OIF_EWRITE, "create", file->new_path);
    keep_mode(to, file->path);
    oif_status status = OIF_OK;
    if (oif_detector_save(detector, write_file, &to, NULL) != OIF_OK)
        status = fail_errno(error, OIF_EWRITE, "write", file->new_path);
    else if (sync_file(to) != 0)
        status = fail_errno(error, OIF_EWRITE, "sync", file->new_path);
    if (close(to) != 0 && status == OIF_OK && errno != EINTR)
        status = fail_errno(error, OIF_EWRITE, "close", file->new_path);
    return status;
}

oif_status oif_state_file_save(oif_state_file *file, const oif_detector *detector, oif_error *error)
{
    oif_status status = write_new(file, detector, error);
    if (status == OIF_OK && rename(file->new_path, file->path) != 0)
        status = fail_errno(error, OIF_EWRITE, "replace", file->path);
    if (status == OIF_OK)
        return sync_folder(file, error);
    unlink(file->new_path);
    return status;
}

oif_status oif_detector_save_file(const oif_detector *detector, const char *path, oif_error *error)
{
    oif_state_file *file;
    oif_status status = oif_state_file_open(path, &file, error);
    if (status != OIF_OK)
        return status;
    status = oif_state_file_save(file, detector, error);
    oif_state_file_close(file);
    return status;
}

/* ---- Loading ---- */

/* A snapshot ends where its file does. */
static oif_status load_open_file(int from, oif_detector **detector, oif_error *error)
{
    oif_detector *made;
    char byte;
    oif_status status = oif_detector_load(read_file, &from, &made, error);
    if (status != OIF_OK)
        return status;
    ptrdiff_t more = read_file(&from, &byte, 1);
    if (more == 0) {
        *detector = made;
        return OIF_OK;
    }
    size_t bytes = oif_detector_snapshot_bytes(made);
    oif_detector_free(made);
    return oif_fail_at(error, more > 0 ? OIF_ECORRUPT : OIF_EREAD, 0, bytes,
                       more > 0 ? "byte %zu: the snapshot ends here, but bytes follow"
                                : "byte %zu: could not read on",
                       bytes);
}

oif_status oif_detector_load_file(const char *path, oif_detector **detector, oif_error *error)
{
    int from = open_file(path, O_RDONLY);
    if (from < 0)
        return fail_errno(error, OIF_EREAD, "open", path);
    oif_status status = load_open_file(from, detector, error);
    close(from);
    return status;
}

oif_status oif_state_file_load(const oif_state_file *file, oif_detector **detector, oif_error *error)
{
    if (access(file->path, F_OK) != 0 && errno == ENOENT)
        return oif_fail(error, OIF_END, "there is no state file '%.100s' yet", file->path);
    return oif_detector_load_file(file->path, detector, error);
}
