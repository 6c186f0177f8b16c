/* System calls, retried after signals, and messages for their failures. Used by the state file and
 * the evicted models file; nothing else in the library touches files. */
#ifndef OIF_SNAPSHOT_FILES_H
#define OIF_SNAPSHOT_FILES_H

#include "oif.h"

#include <sys/stat.h>

int oif_file_open(int folder, const char *name, int flags, unsigned mode);
int oif_file_sync(int fd);

/* Syncs the names in a folder after a change. Succeeds on file systems that cannot sync folders. */
int oif_folder_sync(int folder);

/* Writes or reads all bytes. Returns 0 or the errno; ENODATA if the file is too short. A failed
 * write may have written some bytes. */
int oif_file_write_at(int fd, const void *bytes, size_t count, uint64_t offset);
int oif_file_read_at(int fd, void *bytes, size_t count, uint64_t offset);

/* Creates a file with the owner and permissions of the existing one, if there is one. A user
 * without permission to read that one cannot open the new one at any moment, not even while it is
 * empty. */
int oif_file_create_beside(int folder, const char *existing, const char *name, int flags);

/* The end of a path, which says more than its start, short enough for messages. */
const char *oif_path_shown(const char *path);

/* "cannot WHAT 'PATH': REASON"; the second adds that the state file is unchanged. */
oif_status oif_fail_errno(oif_error *error, oif_status status, const char *what, const char *path,
                          int reason);
oif_status oif_fail_save(oif_error *error, const char *what, const char *path, int reason);

#endif
