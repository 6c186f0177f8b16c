/* Runs a harness over files instead of the fuzzer's inputs: a regression test for past findings,
 * with any compiler. Each file is followed by OIF_REPLAY_DAMAGED damaged forms of it (none by
 * default), which are the same in every run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

static uint64_t chance = 1;

static size_t below(size_t limit)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(chance >> 33) % limit;
}

/* Cuts the end off, repeats one part at the place of another, or changes up to four bytes: to one
 * of the file, so that digits, signs and separators are met, or to any. Returns the size. */
static size_t damage(uint8_t *bytes, size_t size)
{
    if (size < 2)
        return size;
    switch (below(4)) {
    case 0: return 1 + below(size);
    case 1: {
        size_t from = below(size), to = below(size), most = size - (from > to ? from : to);
        memmove(bytes + to, bytes + from, 1 + below(most));
        return size;
    }
    default:
        for (size_t count = 1 + below(4); count > 0; count--)
            bytes[below(size)] = below(2) ? bytes[below(size)] : (uint8_t)below(256);
        return size;
    }
}

/* In memory of exactly its size, where a sanitizer sees one byte too many. Returns whether there
 * is memory. */
static int run_damaged(const uint8_t *bytes, size_t size)
{
    uint8_t *damaged = malloc(size + 1);
    if (!damaged)
        return 0;
    memcpy(damaged, bytes, size);
    size_t left = damage(damaged, size);
    uint8_t *exact = malloc(left ? left : 1);
    if (exact) {
        memcpy(exact, damaged, left);
        LLVMFuzzerTestOneInput(exact, left);
    }
    free(damaged);
    free(exact);
    return exact != NULL;
}

int main(int count, char **paths)
{
    const char *text = getenv("OIF_REPLAY_DAMAGED");
    const long damaged_count = text ? strtol(text, NULL, 10) : 0;
    for (int i = 1; i < count; i++) {
        size_t size;
        uint8_t *bytes = read_whole(paths[i], &size);
        if (!bytes) {
            fprintf(stderr, "cannot read %s\n", paths[i]);
            return 1;
        }
        fprintf(stderr, "%s\n", paths[i]);
        LLVMFuzzerTestOneInput(bytes, size);
        for (long j = 1; j <= damaged_count; j++) {
            fprintf(stderr, "%s, damaged form %ld\n", paths[i], j);
            if (!run_damaged(bytes, size))
                return 1;
        }
        free(bytes);
    }
    printf("%d inputs replayed, each with %ld damaged forms\n", count - 1, damaged_count);
    return count < 2;
}
