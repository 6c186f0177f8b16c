/* The only place of the library that touches files, but for the shelf, which belongs to it.
 *
 *     PATH         the last snapshot that was saved, always whole
 *     PATH.new     the next one, while it is being written; then it is renamed to PATH
 *     PATH.lock    empty; locked by whoever may write, and removed at the end
 *     PATH.shelf   what the snapshot does not hold but refers to (shelf.h)
 *
 * A rename is all or nothing, but only what was synced before it survives a loss of power, and
 * the new name only once the folder was synced as well. The folder is kept open, so that the
 * file stays the same one when the program changes its working directory, and nothing but that
 * sync can fail after the rename.
 */
#define _GNU_SOURCE /* flock */
#define _FILE_OFFSET_BITS 64

#include "snapshot/state_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "snapshot/files.h"
#include "snapshot/savable.h"

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

enum {
    LOCK_ATTEMPTS = 100
}; /* each one lost means that someone else held the file and let it go in between */

/* ---- Calls that signals may interrupt ---- */

static int lock_file(int fd)
{
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result;
}

/* What snapshots are written to and read from. */
typedef struct opened {
    int fd;
    int reason; /* the errno of a failure */
} opened;

static ptrdiff_t write_file(void *context, const char *bytes, size_t count)
{
    opened *to = context;
    ssize_t written;
    do
        written = write(to->fd, bytes, count);
    while (written < 0 && errno == EINTR);
    if (written <= 0)
        to->reason = written < 0 ? errno : EIO;
    return written;
}

static ptrdiff_t read_file(void *context, char *buffer, size_t capacity)
{
    opened *from = context;
    ssize_t got;
    do
        got = read(from->fd, buffer, capacity);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        from->reason = errno;
    return got;
}

/* ---- Holding the file ---- */

/* Which file a path means. Through a symbolic link a save must replace what it points to, not
 * the link; and a rename would also replace /dev/null. */
static oif_status find_file(const char *path, char found[PATH_MAX], oif_error *error)
{
    struct stat standing;
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return oif_fail(error, OIF_EWRITE, "a state file needs a name; '%s' has none",
                        oif_path_shown(path));
    if (lstat(path, &standing) != 0) {
        if (errno != ENOENT || length >= PATH_MAX)
            return oif_fail_errno(error, OIF_EWRITE, "use", path, errno);
        memcpy(found, path, length + 1);
        return OIF_OK;
    }
    if (!realpath(path, found) || stat(found, &standing) != 0)
        return oif_fail_errno(error, OIF_EWRITE, "follow the link", path, errno);
    if (!S_ISREG(standing.st_mode))
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

static char *join(char **room, const char *text, const char *suffix)
{
    char *joined = *room;
    size_t length = strlen(text), suffix_bytes = strlen(suffix) + 1;
    memcpy(joined, text, length);
    memcpy(joined + length, suffix, suffix_bytes);
    *room += length + suffix_bytes;
    return joined;
}

/* Messages show the path that was given, which may be a link to the one that was found. */
static oif_state_file *name_files(const char *path, const char *found)
{
    const char *slash = strrchr(found, '/'), *name = slash ? slash + 1 : found;
    oif_state_file *file =
        oif_memory_new(sizeof *file + strlen(path) + 1 + 4 * (strlen(name) + sizeof ".shelf"));
    if (!file)
        return NULL;
    *file = (oif_state_file){.folder = -1, .lock = -1};
    char *room = (char *)(file + 1);
    file->path = join(&room, path, "");
    file->name = join(&room, name, "");
    file->new_name = join(&room, name, ".new");
    file->lock_name = join(&room, name, ".lock");
    file->shelf_name = join(&room, name, ".shelf");
    return file;
}

/* Whether the lock is still the one that stands in the folder: who held it before may just have
 * removed it. */
static bool is_current(const oif_state_file *file)
{
    struct stat own, standing;
    return fstat(file->lock, &own) == 0 &&
           fstatat(file->folder, file->lock_name, &standing, 0) == 0 &&
           own.st_dev == standing.st_dev && own.st_ino == standing.st_ino;
}

static oif_status take_lock(oif_state_file *file, oif_error *error)
{
    int reason = EWOULDBLOCK;
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        file->lock =
            oif_file_open(file->folder, file->lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
        if (file->lock < 0)
            return oif_fail_errno(error, OIF_EWRITE, "create a lock beside", file->path, errno);
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
        return oif_fail_errno(error, OIF_EWRITE, "lock", file->path, reason);
    return oif_fail(error, OIF_EBUSY,
                    "another program holds the state file '%s'; end it or name another file",
                    oif_path_shown(file->path));
}

static oif_status hold(oif_state_file *file, char *found, oif_error *error)
{
    file->folder = open_folder_of(found);
    if (file->folder < 0)
        return oif_fail_errno(error, OIF_EWRITE, "open the folder of", file->path, errno);
    oif_status status = take_lock(file, error);
    if (status != OIF_OK)
        close(file->folder);
    return status;
}

oif_status oif_state_file_open(const char *path, oif_state_file **file, oif_error *error)
{
    char found[PATH_MAX];
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
    unlinkat(made->folder, made->new_name, 0); /* if a crash left one */
    *file = made;
    return OIF_OK;
}

void oif_state_file_close(oif_state_file *file)
{
    if (!file)
        return;
    oif_shelf_free(file->shelf);
    /* Before the lock is let go: whoever gets it next sees that it is gone and makes a new one. */
    if (is_current(file))
        unlinkat(file->folder, file->lock_name, 0);
    close(file->lock);
    close(file->folder);
    oif_memory_free(file);
}

/* ---- Saving ---- */

static oif_status write_new(const oif_state_file *file, const oif_savable *kind, const void *object,
                            oif_error *error)
{
    opened to = {
        oif_file_create_beside(file->folder, file->name, file->new_name, O_WRONLY | O_EXCL), 0};
    if (to.fd < 0)
        return oif_fail_save(error, "write beside", file->path, errno);
    oif_status status = OIF_OK;
    if (kind->save(object, write_file, &to, NULL) != OIF_OK)
        status = oif_fail_save(error, "write", file->path, to.reason);
    else if (oif_file_sync(to.fd) != 0)
        status = oif_fail_save(error, "sync", file->path, errno);
    if (close(to.fd) != 0 && status == OIF_OK && errno != EINTR)
        status = oif_fail_save(error, "write", file->path, errno);
    return status;
}

static oif_status replace(const oif_state_file *file, const oif_savable *kind, const void *object,
                          bool *was_replaced, oif_error *error)
{
    oif_status status = write_new(file, kind, object, error);
    if (status == OIF_OK && file->shelf)
        status = oif_shelf_sync(file->shelf, error);
    if (status == OIF_OK && renameat(file->folder, file->new_name, file->folder, file->name) != 0)
        status = oif_fail_save(error, "replace", file->path, errno);
    if (status != OIF_OK) {
        unlinkat(file->folder, file->new_name, 0);
        return status;
    }
    *was_replaced = true;
    if (oif_folder_sync(file->folder) != 0)
        return oif_fail(error, OIF_EWRITE, "'%s' is saved, but may not survive a loss of power: %s",
                        oif_path_shown(file->path), strerror(errno));
    return OIF_OK;
}

oif_status oif_state_file_put(oif_state_file *file, const oif_savable *kind, const void *object,
                              oif_error *error)
{
    bool was_replaced = false;
    oif_status status = replace(file, kind, object, &was_replaced, error);
    if (file->shelf && was_replaced)
        oif_shelf_saved(file->shelf, status == OIF_OK);
    return status;
}

/* ---- Loading ---- */

/* A snapshot ends where its file does. */
static oif_status load_whole(opened *from, const oif_savable *kind, void **object, oif_error *error)
{
    char byte;
    struct stat standing;
    bool has_size = fstat(from->fd, &standing) == 0 && S_ISREG(standing.st_mode);
    oif_status status = kind->load(has_size ? (uint64_t)standing.st_size : UINT64_MAX, read_file,
                                   from, object, error);
    if (status != OIF_OK)
        return status;
    off_t bytes = lseek(from->fd, 0, SEEK_CUR);
    ptrdiff_t more = read_file(from, &byte, 1);
    if (more == 0)
        return OIF_OK;
    kind->free(*object);
    return oif_fail_at(error, more > 0 ? OIF_ECORRUPT : OIF_EREAD, 0, (uint64_t)bytes,
                       "byte %lld: the snapshot ends here, but bytes follow", (long long)bytes);
}

static oif_status load_opened(int fd, const char *path, const oif_savable *kind, void **object,
                              oif_error *error)
{
    opened from = {fd, 0};
    if (fd < 0)
        return oif_fail_errno(error, OIF_EREAD, "open", path, errno);
    void *made = NULL;
    oif_error why;
    oif_status status = load_whole(&from, kind, &made, &why);
    close(fd);
    if (status == OIF_EREAD)
        return oif_fail_errno(error, status, "read", path, from.reason);
    if (status != OIF_OK)
        return oif_fail_at(error, status, 0, why.column, "'%s': %.110s", oif_path_shown(path),
                           why.message);
    *object = made;
    return OIF_OK;
}

oif_status oif_savable_load_file(const oif_savable *kind, const char *path, void **object,
                                 oif_error *error)
{
    return load_opened(oif_file_open(AT_FDCWD, path, O_RDONLY, 0), path, kind, object, error);
}

oif_status oif_state_file_get(const oif_state_file *file, const oif_savable *kind, void **object,
                              oif_error *error)
{
    int fd = oif_file_open(file->folder, file->name, O_RDONLY, 0);
    if (fd < 0 && errno == ENOENT)
        return oif_fail(error, OIF_END, "there is no state file '%s' yet",
                        oif_path_shown(file->path));
    return load_opened(fd, file->path, kind, object, error);
}
