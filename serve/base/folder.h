/* Folders of streams. Entries are on disk once synced; no folder contains another.
 */
#ifndef OIF_SERVE_FOLDER_H
#define OIF_SERVE_FOLDER_H

#include <stdbool.h>

/* Syncs what was created, renamed or removed in it. On failure errno has the cause. */
bool folder_sync(const char *path);

/* Removes a folder with its files; true if there is none. */
bool folder_remove(const char *path);

/* Whether nothing was stored in it yet: the server stopped while creating it. */
bool folder_is_unused(const char *path);

/* Makes what is in it readable and writable by its owner alone. */
void folder_restrict(const char *path);

#endif
