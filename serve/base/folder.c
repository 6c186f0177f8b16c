#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool folder_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_synced = fsync(fd) == 0;
    int reason = errno;
    close(fd);
    errno = reason;
    return is_synced;
}

static bool is_file(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

bool folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_file(entry))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    return rmdir(path) == 0;
}

bool folder_is_unused(const char *path)
{
    bool is_unused = true;
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        is_unused &= !is_file(entry) || strcmp(entry->d_name, "settings.json.new") == 0;
    closedir(folder);
    return is_unused;
}

void folder_restrict(const char *path)
{
    struct stat info;
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_file(entry) &&
            fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode) && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
            fchmodat(dirfd(folder), entry->d_name, S_IRUSR | S_IWUSR, 0);
    closedir(folder);
}
