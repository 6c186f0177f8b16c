/* Small files that are the old one or the new one, whole, also after a power cut; only their owner
 * can read them. */
#ifndef OIF_SERVE_WHOLE_FILE_H
#define OIF_SERVE_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes PATH.new, syncs it and renames it to PATH. On failure errno has the cause. */
bool whole_file_write(const char *path, const void *bytes, size_t count);

#endif
