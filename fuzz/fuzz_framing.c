/* Any bytes as those of a connection: the same is found in them, whatever the pieces that they come
 * in, and nothing is good behind what is wrong. The first byte chooses the size of the pieces. */
#include "fuzz_input.h"

#include "serve/http/framing.h"

/* Returns how many bytes were good. */
static size_t take_pieces(framing *wire, const char *bytes, size_t count, size_t piece_bytes)
{
    size_t good = 0;
    for (size_t at = 0; at < count && !wire->wrong; at += piece_bytes) {
        const size_t left = count - at, piece = left < piece_bytes ? left : piece_bytes;
        const size_t taken = framing_take(wire, bytes + at, piece);
        require(taken <= piece && (taken == piece || wire->wrong));
        good = at + taken;
    }
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 1;
    const size_t count = size - 1;
    framing whole = {0}, pieces = {0};
    const size_t good = framing_take(&whole, bytes, count);
    const size_t good_of_pieces = take_pieces(&pieces, bytes, count, 1 + data[0] % 32);
    require(whole.wrong == pieces.wrong && whole.heads == pieces.heads);
    require(whole.state == pieces.state && whole.length == pieces.length);
    require(good <= good_of_pieces); /* the first pieces of a wrong head are gone already */
    require(whole.wrong || (good == count && good_of_pieces == count));
    if (whole.wrong) /* what is good stays good without the rest */
        require(framing_take(&(framing){0}, bytes, good) == good);
    return 0;
}
