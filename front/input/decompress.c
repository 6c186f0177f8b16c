#include "decompress.h"

#include <stdlib.h>
#include <string.h>

#ifdef OIF_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef OIF_HAS_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* ---- Kinds ---- */

static const struct known_compression {
    const char *magic;
    size_t magic_bytes;
    const char *name, *command;
} known[] = {
    [COMPRESSION_NONE] = {"", 0, "uncompressed", "cat"},
    [COMPRESSION_GZIP] = {"\x1f\x8b\x08", 3, "gzip", "gzip -dc"},
    [COMPRESSION_ZSTD] = {"\x28\xb5\x2f\xfd", 4, "zstd", "zstd -dc"},
    [COMPRESSION_BZIP2] = {"BZh", 3, "bzip2", "bzip2 -dc"},
    [COMPRESSION_XZ] = {"\xfd\x37zXZ\0", 6, "xz", "xz -dc"},
};

enum { KNOWN_COUNT = sizeof known / sizeof *known };

/* After "BZh" comes the size of blocks, then the first block or the end. A text could begin with
 * the first three bytes. */
static bool is_bzip2(const char *bytes, size_t count, bool *is_undecided)
{
    *is_undecided = count < 6 && (count < 4 || (bytes[3] >= '1' && bytes[3] <= '9'));
    return count >= 6 && bytes[3] >= '1' && bytes[3] <= '9' &&
           (memcmp(bytes + 4, "1A", 2) == 0 || memcmp(bytes + 4, "\x17\x72", 2) == 0);
}

/* A zstd file may begin with a frame of foreign data, which is skipped. */
static bool is_skippable_frame(const char *bytes, size_t count, bool *is_undecided)
{
    static const char rest[] = "\x2a\x4d\x18";
    size_t compared = count < 4 ? count : 4;
    bool matches = count > 0 && ((unsigned char)bytes[0] & 0xf0) == 0x50 &&
                   memcmp(bytes + 1, rest, compared - 1) == 0;
    *is_undecided = matches && count < 4;
    return matches && count >= 4;
}

compression compression_of(const char *bytes, size_t count, bool *is_undecided)
{
    *is_undecided = count == 0;
    if (is_skippable_frame(bytes, count, is_undecided))
        return COMPRESSION_ZSTD;
    for (int kind = COMPRESSION_GZIP; kind < KNOWN_COUNT; kind++) {
        size_t wanted = known[kind].magic_bytes, compared = count < wanted ? count : wanted;
        if (memcmp(bytes, known[kind].magic, compared) != 0)
            continue;
        if (kind == COMPRESSION_BZIP2)
            return is_bzip2(bytes, count, is_undecided) ? COMPRESSION_BZIP2 : COMPRESSION_NONE;
        *is_undecided = count < wanted;
        return count < wanted ? COMPRESSION_NONE : (compression)kind;
    }
    return COMPRESSION_NONE;
}

const char *compression_name(compression kind)
{
    return known[kind].name;
}

const char *compression_command(compression kind)
{
    return known[kind].command;
}

bool decompressor_exists(compression kind)
{
#ifdef OIF_HAS_ZLIB
    if (kind == COMPRESSION_GZIP)
        return true;
#endif
#ifdef OIF_HAS_ZSTD
    if (kind == COMPRESSION_ZSTD)
        return true;
#endif
    return kind == COMPRESSION_NONE;
}

/* ---- Decompressors ---- */

struct decompressor {
    compression kind;
    bool may_end;
#ifdef OIF_HAS_ZLIB
    z_stream gzip;
    bool is_padding; /* zeros follow the last member, as on tapes */
#endif
#ifdef OIF_HAS_ZSTD
    ZSTD_DStream *zstd;
    bool has_small_window;
#endif
};

bool decompressor_may_end(const decompressor *opened)
{
    return opened->may_end;
}

#ifdef OIF_HAS_ZLIB

enum { WINDOW_BITS_OF_GZIP = 15 + 16 };

static const char *problem_of_gzip(const decompressor *opened, int result)
{
    if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) /* no room, no input */
        return NULL;
    if (result == Z_MEM_ERROR)
        return "out of memory";
    if (result == Z_NEED_DICT)
        return "it needs a dictionary";
    return opened->gzip.msg ? opened->gzip.msg : "invalid data";
}

/* Whether another member begins; zeros that fill the last block of a tape are passed over. */
static bool begin_next_member(decompressor *opened, const char **in, size_t *in_bytes,
                              const char **problem)
{
    while (*in_bytes > 0 && **in == '\0') {
        opened->is_padding = true;
        ++*in;
        --*in_bytes;
    }
    if (*in_bytes == 0)
        return false;
    if (opened->is_padding || **in != '\x1f') {
        *problem = "bytes that are not gzip data follow";
        return false;
    }
    opened->may_end = false;
    return inflateReset(&opened->gzip) == Z_OK;
}

static const char *run_gzip(decompressor *opened, const char **in, size_t *in_bytes, char *out,
                            size_t capacity, size_t *given)
{
    z_stream *gzip = &opened->gzip;
    const char *problem = NULL;
    while (!problem && *given < capacity) {
        if (opened->may_end && !begin_next_member(opened, in, in_bytes, &problem))
            return problem;
        size_t room = capacity - *given;
        uInt in_now = *in_bytes < 1u << 30 ? (uInt)*in_bytes : 1u << 30;
        uInt out_now = room < 1u << 30 ? (uInt)room : 1u << 30;
        gzip->next_in = (z_const Bytef *)*in;
        gzip->avail_in = in_now;
        gzip->next_out = (Bytef *)out + *given;
        gzip->avail_out = out_now;
        int result = inflate(gzip, Z_SYNC_FLUSH);
        *in += in_now - gzip->avail_in;
        *in_bytes -= in_now - gzip->avail_in;
        *given += out_now - gzip->avail_out;
        opened->may_end = result == Z_STREAM_END;
        problem = problem_of_gzip(opened, result);
        if (*in_bytes == 0 && gzip->avail_out > 0)
            break;
    }
    return problem;
}

#endif

#ifdef OIF_HAS_ZSTD

/* What `zstd -d` allows without --long; more memory must be asked for. */
enum { WINDOW_LOG_MAX = 27, SMALL_WINDOW_LOG_MAX = 23 };

static const char *problem_of_zstd(const decompressor *opened, size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        if (opened->has_small_window)
            return "it needs a window of more than 8 MiB, compress it without --long";
        return "it needs a window of more than 128 MiB, use zstd -dc --long=31 FILE | oif score";
    case ZSTD_error_prefix_unknown: return "bytes that are not zstd data follow";
    default: return ZSTD_getErrorName(result);
    }
}

static const char *run_zstd(decompressor *opened, const char **in, size_t *in_bytes, char *out,
                            size_t capacity, size_t *given)
{
    while (*given < capacity && (*in_bytes > 0 || !opened->may_end)) {
        ZSTD_inBuffer source = {*in, *in_bytes, 0};
        ZSTD_outBuffer target = {out, capacity, *given};
        size_t before = *given, result = ZSTD_decompressStream(opened->zstd, &target, &source);
        *in += source.pos;
        *in_bytes -= source.pos;
        *given = target.pos;
        if (ZSTD_isError(result))
            return problem_of_zstd(opened, result);
        opened->may_end = result == 0;
        if (source.pos == 0 && *given == before) /* nothing more will come of these bytes */
            return *in_bytes > 0 ? "invalid data" : NULL;
    }
    return NULL;
}

#endif

static bool start(decompressor *opened)
{
    switch (opened->kind) {
#ifdef OIF_HAS_ZLIB
    case COMPRESSION_GZIP: return inflateInit2(&opened->gzip, WINDOW_BITS_OF_GZIP) == Z_OK;
#endif
#ifdef OIF_HAS_ZSTD
    case COMPRESSION_ZSTD:
        opened->zstd = ZSTD_createDStream();
        return opened->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(
                                   opened->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
#endif
    default: return false;
    }
}

decompressor *decompressor_new(compression kind)
{
    decompressor *opened = calloc(1, sizeof *opened);
    if (!opened)
        return NULL;
    opened->kind = kind;
    if (start(opened))
        return opened;
    decompressor_free(opened);
    return NULL;
}

void decompressor_limit_window(decompressor *opened)
{
    (void)opened;
#ifdef OIF_HAS_ZSTD
    if (opened->kind != COMPRESSION_ZSTD)
        return;
    opened->has_small_window = !ZSTD_isError(
        ZSTD_DCtx_setParameter(opened->zstd, ZSTD_d_windowLogMax, SMALL_WINDOW_LOG_MAX));
#endif
}

void decompressor_free(decompressor *opened)
{
    if (!opened)
        return;
#ifdef OIF_HAS_ZLIB
    if (opened->kind == COMPRESSION_GZIP)
        inflateEnd(&opened->gzip);
#endif
#ifdef OIF_HAS_ZSTD
    ZSTD_freeDStream(opened->zstd);
#endif
    free(opened);
}

const char *decompressor_run(decompressor *opened, const char **in, size_t *in_bytes, char *out,
                             size_t capacity, size_t *given)
{
    *given = 0;
    switch (opened->kind) {
#ifdef OIF_HAS_ZLIB
    case COMPRESSION_GZIP: return run_gzip(opened, in, in_bytes, out, capacity, given);
#endif
#ifdef OIF_HAS_ZSTD
    case COMPRESSION_ZSTD: return run_zstd(opened, in, in_bytes, out, capacity, given);
#endif
    default: break;
    }
    (void)in;
    (void)in_bytes;
    (void)out;
    (void)capacity;
    return "this program cannot decompress it";
}
