#include "whole_file.h"

#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool write_new(const char *path, const void *bytes, size_t count)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    const bool is_written =
        fchmod(file, 0600) == 0 && write_all(file, bytes, count) && fsync(file) == 0;
    const int reason = errno;
    const bool is_closed = close(file) == 0;
    errno = is_written ? errno : reason;
    return is_written && is_closed;
}

bool whole_file_write(const char *path, const void *bytes, size_t count)
{
    char new_path[PATH_BYTES], folder[PATH_BYTES];
    if (strlen(path) + sizeof ".new" > sizeof new_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(new_path, sizeof new_path, "%s.new", path);
    snprintf(folder, sizeof folder, "%s", path);
    return write_new(new_path, bytes, count) && rename(new_path, path) == 0 &&
           folder_sync(dirname(folder));
}
