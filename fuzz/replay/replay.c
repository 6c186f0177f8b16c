/* Runs a harness over files instead of the fuzzer's inputs: a regression test for past findings,
 * with any compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        size_t size;
        uint8_t *bytes = read_whole(paths[i], &size);
        if (!bytes) {
            fprintf(stderr, "cannot read %s\n", paths[i]);
            return 1;
        }
        fprintf(stderr, "%s\n", paths[i]);
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
    }
    printf("%d inputs replayed\n", count - 1);
    return count < 2;
}
