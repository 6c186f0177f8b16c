/* Any bytes as a compressed file. The first byte chooses gzip or zstd. A complete file is
 * decompressed to the same text, whatever the sizes of the pieces. */
#include "front/input/decompress.h"
#include "fuzz_input.h"

enum { MOST_TEXT = 1 << 18, LARGEST_PIECE = 4096 };

typedef struct outcome {
    uint64_t sum;
    size_t bytes;
    bool is_whole;
} outcome;

static outcome decompress(compression kind, const char *bytes, size_t count, size_t piece_in,
                          size_t piece_out)
{
    char text[LARGEST_PIECE];
    outcome result = {.sum = 0xcbf29ce484222325u};
    decompressor *opened = decompressor_new(kind);
    require(opened);
    bool has_failed = false, is_stuck = false;
    while (!has_failed && !is_stuck && result.bytes < MOST_TEXT) {
        size_t in_bytes = count < piece_in ? count : piece_in, before = in_bytes, given;
        const char *in = bytes;
        has_failed = decompressor_run(opened, &in, &in_bytes, text, piece_out, &given) != NULL;
        require(in_bytes <= before && given <= piece_out && in == bytes + (before - in_bytes));
        for (size_t i = 0; i < given; i++)
            result.sum = (result.sum ^ (unsigned char)text[i]) * 0x100000001b3u;
        require(has_failed || given == piece_out || in_bytes == 0);
        bytes = in;
        count -= before - in_bytes;
        result.bytes += given;
        is_stuck = count == 0 && given < piece_out;
    }
    result.is_whole = is_stuck && decompressor_may_end(opened);
    decompressor_free(opened);
    return result;
}

static void require_decided_once(const char *bytes, size_t count)
{
    bool is_undecided = true;
    compression decided = COMPRESSION_NONE;
    for (size_t i = 0; i <= count && i < 16; i++) {
        bool was_undecided = is_undecided;
        compression kind = compression_of(bytes, i, &is_undecided);
        require(was_undecided || (!is_undecided && kind == decided));
        decided = kind;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *bytes = (const char *)data + 1;
    compression kind = data[0] % 2 ? COMPRESSION_GZIP : COMPRESSION_ZSTD;
    require_decided_once(bytes, size - 1);
    if (!decompressor_exists(kind))
        return 0;
    outcome whole = decompress(kind, bytes, size - 1, SIZE_MAX, LARGEST_PIECE);
    outcome slow = decompress(kind, bytes, size - 1, 1, LARGEST_PIECE);
    outcome small = decompress(kind, bytes, size - 1, 7, 13);
    /* libzstd may reject a malformed frame in pieces and accept it as a whole, or vice versa. If it
     * accepts both, the text is the same. */
    if (kind == COMPRESSION_GZIP)
        require(slow.is_whole == whole.is_whole && small.is_whole == whole.is_whole);
    if (whole.is_whole && slow.is_whole)
        require(slow.sum == whole.sum);
    if (whole.is_whole && small.is_whole)
        require(small.sum == whole.sum);
    return 0;
}
