/* Compressed input, recognised by its first bytes: gzip through zlib and zstd through libzstd,
 * where the program was built with them. Bytes go in and out in pieces of any size, so a live
 * stream is decompressed as it comes, and what a file expands to never has to fit into memory.
 *
 * Several gzip members or zstd frames in sequence are one text, as with `gzip -dc` and `zstd
 * -dc`. */
#ifndef OIF_FRONT_DECOMPRESS_H
#define OIF_FRONT_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_ZSTD,
    COMPRESSION_BZIP2, /* this and the next are only recognised */
    COMPRESSION_XZ
} compression;

/* What begins with these bytes. *is_undecided: more bytes could make it another one. */
compression compression_of(const char *bytes, size_t count, bool *is_undecided);

/* "gzip", and "gzip -dc", the program that decompresses it. */
const char *compression_name(compression kind);
const char *compression_command(compression kind);

typedef struct decompressor decompressor;

/* Whether this program has one; and a new one, NULL if out of memory. */
bool decompressor_exists(compression kind);
decompressor *decompressor_new(compression kind);
void decompressor_free(decompressor *opened);

/* Before the first byte: refuses zstd data that need a window of more than 8 MiB, the least that
 * RFC 8878 asks every program to take. For data that come from anywhere. */
void decompressor_limit_window(decompressor *opened);

/* Advances *in past what was used of the *in_bytes bytes. *given bytes were written, even if
 * there is a problem. Returns NULL, or what is wrong. All is used once *given is less than the
 * capacity. */
const char *decompressor_run(decompressor *opened, const char **in, size_t *in_bytes, char *out,
                             size_t capacity, size_t *given);

/* Whether the data may end here: a member or frame is complete. */
bool decompressor_may_end(const decompressor *opened);

#endif
