/* Four numbers at a time, in the vectors of gcc and clang: vector instructions where the machine
 * has them, the same bits everywhere. */
#ifndef OIF_BASE_FOUR_H
#define OIF_BASE_FOUR_H

#include "base/vector.h"

#include <string.h>

enum { OIF_FOUR = 4 };

typedef double oif_four __attribute__((vector_size(OIF_FOUR * sizeof(double))));
typedef int64_t oif_four_masks __attribute__((vector_size(OIF_FOUR * sizeof(double))));

/* By pointer: how a vector is passed differs between processors. */
OIF_INLINE void oif_four_load(oif_four *into, const double *from)
{
    memcpy(into, from, sizeof *into);
}

OIF_INLINE void oif_four_store(double *into, const oif_four *from)
{
    memcpy(into, from, sizeof *from);
}

/* others[i] = these[i] where the mask is all ones. */
OIF_INLINE void oif_four_choose(const oif_four_masks *where, const oif_four *these,
                                oif_four *others)
{
    *others = (oif_four)((*where & (oif_four_masks)*these) | (~*where & (oif_four_masks)*others));
}

#endif
