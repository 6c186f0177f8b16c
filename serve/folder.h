/* Folders of streams: their entries are on disk once they were synced, and none has a folder in it.
 */
#ifndef OIF_SERVE_FOLDER_H
#define OIF_SERVE_FOLDER_H

#include <stdbool.h>

/* Has the disk take what was made, renamed or removed in it; else errno says why. */
bool folder_sync(const char *path);

/* Removes a folder with its files; true if there is none. */
bool folder_remove(const char *path);

/* Whether nothing was kept in it yet: the server stopped while it was made. */
bool folder_is_unused(const char *path);

#endif
