/* Shared by the harnesses: values from the fuzzer's bytes, and what must hold for any detector. */
#ifndef FUZZ_FUZZ_INPUT_H
#define FUZZ_FUZZ_INPUT_H

#include "oif.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(condition)                                                                         \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    while (0)

typedef struct input {
    const uint8_t *next, *end;
} input;

/* 0 if none is left. */
static inline uint8_t take_byte(input *from)
{
    return from->next < from->end ? *from->next++ : 0;
}

/* A small number, a missing one, or a difficult one; never infinite. */
static inline double take_number(input *from)
{
    static const double unusual[] = {NAN,      0.0,    -0.0,    DBL_MAX,        -DBL_MAX,
                                     DBL_MIN,  5e-324, -5e-324, 1e300,          -1e300,
                                     0x1p-900, 1e15,   1.0 / 3, 1 + DBL_EPSILON};
    uint8_t byte = take_byte(from);
    if (byte >= 240)
        return unusual[(byte - 240) % (sizeof unusual / sizeof unusual[0])];
    return (byte - 120) / 8.0;
}

static inline void take_row(input *from, double *row, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++)
        row[i] = take_number(from);
}

static inline void require_whole(const oif_detector *detector)
{
    oif_error error;
    if (oif_detector_check(detector, &error) == OIF_OK)
        return;
    fprintf(stderr, "the check says: %s\n", error.message);
    abort();
}

static inline uint8_t *snapshot_of(const oif_detector *detector, size_t *count)
{
    *count = oif_detector_snapshot_bytes(detector);
    uint8_t *bytes = malloc(*count);
    require(bytes && oif_detector_save_memory(detector, bytes, *count, NULL) == OIF_OK);
    return bytes;
}

/* Both have the same bits. */
static inline void require_same(const oif_detector *a, const oif_detector *b)
{
    size_t count_a, count_b;
    uint8_t *bytes_a = snapshot_of(a, &count_a), *bytes_b = snapshot_of(b, &count_b);
    require(count_a == count_b && memcmp(bytes_a, bytes_b, count_a) == 0);
    free(bytes_a);
    free(bytes_b);
}

static inline void add_figure(void *context, const char *name, double value)
{
    require(name[0] != '\0' && value == value);
    *(double *)context += value;
}

#endif
