/* A double and its 64 bits. */
#ifndef OIF_BASE_DOUBLE_BITS_H
#define OIF_BASE_DOUBLE_BITS_H

#include <stdint.h>
#include <string.h>

static inline double oif_double_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t oif_bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif
