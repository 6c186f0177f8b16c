#include "base/unchanged.h"

enum { LINE = OIF_CACHE_LINE_BYTES, WORD_LINES = 64 };

void oif_unchanged_add(const oif_unchanged *unchanged, const void *start, size_t bytes)
{
    const size_t offset = (size_t)((const unsigned char *)start - unchanged->block);
    size_t first = (offset + LINE - 1) / LINE;
    const size_t end = (offset + bytes) / LINE;
    for (size_t next; first < end; first = next) {
        next = (first / WORD_LINES + 1) * WORD_LINES;
        next = next < end ? next : end;
        const uint64_t from_first = UINT64_MAX << first % WORD_LINES,
                       up_to_next = UINT64_MAX >> (WORD_LINES - 1 - (next - 1) % WORD_LINES);
        unchanged->lines[first / WORD_LINES] &= ~(from_first & up_to_next);
    }
}
