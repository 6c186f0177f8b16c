#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "oif.h"

#ifndef OIF_WITHOUT_FILES /* else: no_files.c */

#include "base/error.h"
#include "snapshot/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN_PATH_BYTES = 120 }; /* of a path in a message; leaves space for the reason */

/* ---- Calls that signals may interrupt ---- */

int oif_file_open(int folder, const char *name, int flags, unsigned mode)
{
    int fd;
    do
        fd = openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int oif_file_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result < 0 && errno == EINTR);
    return result;
}

int oif_folder_sync(int folder)
{
    int result = oif_file_sync(folder);
    /* EINVAL: the file system cannot sync folders. */
    return result != 0 && errno == EINVAL ? 0 : result;
}

int oif_file_write_at(int fd, const void *bytes, size_t count, uint64_t offset)
{
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = pwrite(fd, next, count, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        next += written, offset += (uint64_t)written, count -= (size_t)written;
    }
    return 0;
}

int oif_file_read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
    char *next = bytes;
    while (count > 0) {
        ssize_t got = pread(fd, next, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : ENODATA;
        next += got, offset += (uint64_t)got, count -= (size_t)got;
    }
    return 0;
}

int oif_file_create_beside(int folder, const char *existing, const char *name, int flags)
{
    struct stat info;
    bool exists = fstatat(folder, existing, &info, 0) == 0;
    int fd = oif_file_open(folder, name, flags | O_CREAT, exists ? 0600 : 0666);
    if (fd < 0 || !exists)
        return fd;
    /* Best effort. */
    (void)!fchown(fd, info.st_uid, info.st_gid);
    (void)!fchmod(fd, info.st_mode & 0777);
    return fd;
}

/* ---- Messages ---- */

const char *oif_path_shown(const char *path)
{
    size_t length = strlen(path);
    const char *shown = length > SHOWN_PATH_BYTES ? path + length - SHOWN_PATH_BYTES : path;
    for (int i = 0; i < 3 && shown > path && ((unsigned char)*shown & 0xc0) == 0x80; i++)
        shown++; /* to the start of a character */
    return shown;
}

oif_status oif_fail_errno(oif_error *error, oif_status status, const char *what, const char *path,
                          int reason)
{
    return oif_fail_system(error, status, reason, "cannot %s '%s': %s", what, oif_path_shown(path),
                           strerror(reason));
}

oif_status oif_fail_save(oif_error *error, const char *what, const char *path, int reason)
{
    return oif_fail_system(error, OIF_EWRITE, reason,
                           "cannot %s '%s': %s; it keeps the state it had", what,
                           oif_path_shown(path), strerror(reason));
}

#endif
