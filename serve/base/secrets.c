#include "secrets.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>

bool secret_hash(const void *bytes, size_t count, secret *hash)
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, count, hash->bytes) == 0;
}

bool secret_sign(const void *key, size_t key_bytes, const void *bytes, size_t count,
                 secret *signature)
{
    return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_bytes, bytes, count, signature->bytes) == 0;
}

bool secret_equal(const secret *a, const secret *b)
{
    return gnutls_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void secret_write(const secret *from, char text[SECRET_HEX_BYTES])
{
    for (size_t i = 0; i < sizeof from->bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", from->bytes[i]);
}

void secret_forget(void *bytes, size_t count)
{
    gnutls_memset(bytes, 0, count);
}
