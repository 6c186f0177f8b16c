/* What all isolation trees have in common. */
#ifndef OIF_DETECT_ISOLATION_H
#define OIF_DETECT_ISOLATION_H

#include "base/random.h"

/* Draws the cut of a node, uniform in its range. The lowest number is always below the cut and the
 * highest never is, so both sides get rows. Packed models have draws in place of cuts, so another
 * formula needs a new format (docs/snapshot-format.md). */
static inline double oif_draw_cut(oif_random *random, double low, double high)
{
    double fraction = oif_random_unit(random);
    double cut = low * (1.0 - fraction) + high * fraction; /* high - low could overflow */
    return cut > low && cut < high ? cut : high;
}

/* c(n) for n >= 2: the average depth of n rows isolated by random cuts, and of an unsuccessful
 * search among them. `harmonic` is H(n - 1). */
static inline double oif_average_path_length(uint32_t n, double harmonic)
{
    return 2 * harmonic - 2.0 * (n - 1) / n;
}

static inline double oif_average_path_length_of(uint32_t n)
{
    double harmonic = 0;
    for (uint32_t i = 1; i < n; i++)
        harmonic += 1.0 / i;
    return oif_average_path_length(n, harmonic);
}

#endif
