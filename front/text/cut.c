#include "cut.h"

#include <string.h>

size_t cut_bytes(const char *text, size_t bytes, size_t most)
{
    size_t end = bytes < most ? bytes : most;
    while (end < bytes && end > 0 && most - end < 3 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

cut_text cut_name(const char *name)
{
    cut_text cut;
    size_t bytes = cut_bytes(name, strlen(name), CUT_NAME_BYTES);
    memcpy(cut.text, name, bytes);
    cut.text[bytes] = '\0';
    return cut;
}
