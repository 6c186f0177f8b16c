#include "detect/widening.h"

#include <math.h>

void oif_widen_row(const oif_widening *widening, const double *row, double *wide)
{
    const size_t new_columns = widening->after - widening->before;
    for (size_t i = 0; i < widening->rows; i++) {
        for (size_t j = 0; j < widening->before; j++)
            *wide++ = *row++;
        for (size_t j = 0; j < new_columns; j++)
            *wide++ = NAN;
    }
    for (size_t j = 0; j < widening->others; j++)
        *wide++ = *row++;
}
