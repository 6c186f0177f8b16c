/* Hashes and signatures. The cryptography is that of GnuTLS. */
#ifndef OIF_SERVE_SECRETS_H
#define OIF_SERVE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_BYTES = 32, SECRET_HEX_BYTES = 2 * SECRET_BYTES + 1 };

/* A SHA-256 or an HMAC-SHA256. */
typedef struct secret {
    unsigned char bytes[SECRET_BYTES];
} secret;

/* False: the library refuses. */
bool secret_hash(const void *bytes, size_t count, secret *hash);
bool secret_sign(const void *key, size_t key_bytes, const void *bytes, size_t count,
                 secret *signature);

/* Takes the same time for any two. */
bool secret_equal(const secret *a, const secret *b);

/* As hexadecimal digits. */
void secret_write(const secret *from, char text[SECRET_HEX_BYTES]);

/* Overwrites bytes; a compiler does not leave that out. */
void secret_forget(void *bytes, size_t count);

#endif
