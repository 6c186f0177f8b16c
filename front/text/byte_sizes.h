/* Numbers of bytes as people write them: "1G", "512MiB". */
#ifndef OIF_FRONT_BYTE_SIZES_H
#define OIF_FRONT_BYTE_SIZES_H

#include <stdbool.h>

/* As coreutils have it: K, M, G and T, also Ki and KiB, are powers of 1024; KB, MB, GB and TB of
 * 1000; a plain number is bytes. */
bool byte_size_parse(const char *text, double *bytes);

#endif
