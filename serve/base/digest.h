/* A checksum of bytes with 64 bits, eight bytes at a time. It is not safe against forgery, and
 * another on a machine with another byte order. */
#ifndef OIF_SERVE_DIGEST_H
#define OIF_SERVE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `digest`; any number begins a new one. */
uint64_t digest_add(uint64_t digest, const void *bytes, size_t count);

/* Two of them as 32 hexadecimal digits. */
enum { DIGEST_TEXT_BYTES = 33 };
const char *digest_text(const void *bytes, size_t count, char text[DIGEST_TEXT_BYTES]);

#endif
