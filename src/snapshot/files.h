/* Calls of the operating system, made again when a signal interrupts them, and what is said
 * when they fail: for the state file and its shelf, the only parts of the library that touch
 * files. */
#ifndef OIF_SNAPSHOT_FILES_H
#define OIF_SNAPSHOT_FILES_H

#include "oif.h"

#include <sys/stat.h>

int oif_file_open(int folder, const char *name, int flags, unsigned mode);
int oif_file_sync(int fd);

/* Makes names that were given or taken in a folder last; fine where the file system knows no
 * such thing. */
int oif_folder_sync(int folder);

/* All of the bytes or none that count: 0, or the errno of the failure; a file that is too short
 * is ENODATA. */
int oif_file_write_at(int fd, const void *bytes, size_t count, uint64_t offset);
int oif_file_read_at(int fd, void *bytes, size_t count, uint64_t offset);

/* Creates a file that belongs to the one that stands: whoever may not read that one must not
 * get hold of this one either, not even while it is empty. */
int oif_file_create_beside(int folder, const char *standing, const char *name, int flags);

/* The end of a long path tells more than its start. */
const char *oif_path_shown(const char *path);

/* "cannot WHAT 'PATH': REASON"; the second adds that the state file is as it was. */
oif_status oif_fail_errno(oif_error *error, oif_status status, const char *what, const char *path,
                          int reason);
oif_status oif_fail_save(oif_error *error, const char *what, const char *path, int reason);

#endif
