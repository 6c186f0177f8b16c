/* Keys and mirror of a row that is learned, in one pass over its values. */
#include "detect/online_iforest/keyed_row.h"

/* One loop, and -0.0 becomes 0.0: of a mere copy gcc would make a call. */
OIF_INLINE void mirror_values(const double *restrict values, uint32_t count,
                              uint64_t *restrict keys, double *restrict numbers,
                              double *restrict negatives)
{
    for (uint32_t i = 0; i < count; i++) {
        double number = values[i] + 0.0;
        keys[i] = oif_sort_key(number);
        numbers[i] = number;
        negatives[i] = -number;
    }
}

OIF_AVX2 static void mirror_values_avx2(const double *values, uint32_t count, uint64_t *keys,
                                        double *numbers, double *negatives)
{
    mirror_values(values, count, keys, numbers, negatives);
}

void oif_keyed_row_mirror(const double *values, uint32_t count, uint64_t *keys, double *numbers,
                          double *negatives)
{
    if (oif_machine_has_avx2())
        mirror_values_avx2(values, count, keys, numbers, negatives);
    else
        mirror_values(values, count, keys, numbers, negatives);
}
