/* Where a node of an isolation tree is cut. */
#ifndef OIF_DETECT_DRAW_CUT_H
#define OIF_DETECT_DRAW_CUT_H

#include "base/random.h"

/* Uniform in a range, and such that the lowest number is less and the highest is not: both
 * sides get rows. */
static inline double oif_draw_cut(oif_random *random, double low, double high)
{
    double fraction = oif_random_unit(random);
    double cut = low * (1.0 - fraction) + high * fraction; /* high - low could overflow */
    return cut > low && cut < high ? cut : high;
}

#endif
