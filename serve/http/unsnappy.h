/* Snappy's block format, which Prometheus sends: the size of what comes out is known before. */
#ifndef OIF_SERVE_UNSNAPPY_H
#define OIF_SERVE_UNSNAPPY_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program was built with it. */
bool unsnappy_exists(void);

/* The size of the decompressed bytes. False if the data cannot be of this format. */
bool unsnappy_size(const char *bytes, size_t count, size_t *size);

/* Decompresses to `to`, which has room for that size. False if the data are malformed. */
bool unsnappy_run(const char *bytes, size_t count, char *to, size_t size);

#endif
