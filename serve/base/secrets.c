#include "secrets.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool secret_hash(const void *bytes, size_t count, secret *hash)
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, count, hash->bytes) == 0;
}

bool secret_sign(const void *key, size_t key_bytes, const void *bytes, size_t count,
                 secret *signature)
{
    return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_bytes, bytes, count, signature->bytes) == 0;
}

bool secret_random(secret *made)
{
    return getrandom(made->bytes, sizeof made->bytes, 0) == (ssize_t)sizeof made->bytes;
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

bool secret_read(const char *text, secret *to)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != SECRET_HEX_BYTES - 1 || strspn(text, digits) != SECRET_HEX_BYTES - 1)
        return false;
    for (size_t i = 0; i < sizeof to->bytes; i++)
        to->bytes[i] = (unsigned char)(16 * (strchr(digits, text[2 * i]) - digits) +
                                       (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

void secret_forget(void *bytes, size_t count)
{
    gnutls_memset(bytes, 0, count);
}
