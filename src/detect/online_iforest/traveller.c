/* What a row that is learned takes along. */
#include "detect/online_iforest/traveller.h"

/* One loop, and what it leaves of -0.0 is 0.0: gcc would make a call of a
 * mere copy. */
OIF_INLINE void shape_numbers(const double *restrict row, uint32_t count, uint64_t *restrict keys,
                              double *restrict numbers, double *restrict negatives)
{
    for (uint32_t i = 0; i < count; i++) {
        double number = row[i] + 0.0;
        keys[i] = oif_key(number);
        numbers[i] = number;
        negatives[i] = -number;
    }
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static void shape_numbers_avx2(const double *row, uint32_t count, uint64_t *keys,
                                        double *numbers, double *negatives)
{
    shape_numbers(row, count, keys, numbers, negatives);
}
#endif

void oif_traveller_shape(const double *row, uint32_t count, uint64_t *keys, double *numbers,
                         double *negatives)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        shape_numbers_avx2(row, count, keys, numbers, negatives);
        return;
    }
#endif
    shape_numbers(row, count, keys, numbers, negatives);
}
