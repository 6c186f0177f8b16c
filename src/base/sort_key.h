/* Doubles as unsigned integers in the same order, for walks that compare integers. */
#ifndef OIF_BASE_SORT_KEY_H
#define OIF_BASE_SORT_KEY_H

#include "base/double_bits.h"

/* Keys are in the order of the numbers; 0.0 and -0.0 have the same key. */
static inline uint64_t oif_sort_key(double number)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits = oif_bits_of_double(number + 0.0); /* turns -0.0 into 0.0 */
    return bits ^ ((0 - (bits >> 63)) | sign);
}

/* The number with this key. */
static inline double oif_sort_key_number(uint64_t key)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return oif_double_from_bits(key & sign ? key ^ sign : ~key);
}

/* At least as large as any key. */
#define OIF_SORT_KEY_MAX UINT64_MAX

#endif
