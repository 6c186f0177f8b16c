#include "digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
    return digest ^ digest >> 29;
}

uint64_t digest_add(uint64_t digest, const void *bytes, size_t count)
{
    const char *at = bytes;
    uint64_t word;
    for (; count >= sizeof word; at += sizeof word, count -= sizeof word) {
        memcpy(&word, at, sizeof word);
        digest = mix(digest, word);
    }
    word = 0;
    if (count > 0)
        memcpy(&word, at, count);
    return mix(digest, word ^ (uint64_t)count << 56);
}

const char *digest_text(const void *bytes, size_t count, char text[DIGEST_TEXT_BYTES])
{
    snprintf(text, DIGEST_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64, digest_add(count, bytes, count),
             digest_add(~(uint64_t)count * 0xd6e8feb86659fd93u, bytes, count));
    return text;
}
