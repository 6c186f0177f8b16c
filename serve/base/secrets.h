/* Hashes, signatures and random numbers. The cryptography is that of GnuTLS. */
#ifndef OIF_SERVE_SECRETS_H
#define OIF_SERVE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_BYTES = 32, SECRET_HEX_BYTES = 2 * SECRET_BYTES + 1 };

/* A SHA-256, an HMAC-SHA256, or random bytes. */
typedef struct secret {
    unsigned char bytes[SECRET_BYTES];
} secret;

/* False: the library refuses. */
bool secret_hash(const void *bytes, size_t count, secret *hash);
bool secret_sign(const void *key, size_t key_bytes, const void *bytes, size_t count,
                 secret *signature);

/* From the kernel. False: it has none. */
bool secret_random(secret *made);

/* Takes the same time for any two. */
bool secret_equal(const secret *a, const secret *b);

/* As hexadecimal digits, and back. */
void secret_write(const secret *from, char text[SECRET_HEX_BYTES]);
bool secret_read(const char *text, secret *to);

/* Overwrites bytes; a compiler does not leave that out. */
void secret_forget(void *bytes, size_t count);

#endif
