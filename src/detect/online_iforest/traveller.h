/* A row on its way through the trees of online-iforest, whose walks compare whole numbers: the
 * keys of its numbers, made once for all trees. */
#ifndef OIF_DETECT_TRAVELLER_H
#define OIF_DETECT_TRAVELLER_H

#include "base/vector.h"
#include "detect/detector.h"
#include "detect/online_iforest/box_cut.h"

enum {
    OIF_KEYS_KEPT =
        /* numbers of a row whose keys are made once; of longer rows, as they are asked for */
    256,
    OIF_BOX_STEP = 4 /* numbers of a box that are worked on at a time */
};

/* A row, and the keys of its numbers when there is room for them. */
typedef struct oif_traveller {
    const double *row;
    bool complete; /* none of its numbers is missing */
    bool has_keys;
    uint64_t keys[OIF_KEYS_KEPT];
} oif_traveller;

/* Numbers in the box of a leaf: two a feature, rounded up to whole steps. */
static inline uint32_t oif_box_width(uint32_t dimension)
{
    return (dimension * 2 + OIF_BOX_STEP - 1) / OIF_BOX_STEP * OIF_BOX_STEP;
}

OIF_INLINE void oif_traveller_take_keys(const double *restrict row, uint32_t dimension,
                                        uint64_t *restrict keys)
{
    for (uint32_t i = 0; i < dimension; i++)
        keys[i] = oif_key(row[i]);
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static inline void oif_traveller_take_keys_avx2(const double *row, uint32_t dimension,
                                                         uint64_t *keys)
{
    oif_traveller_take_keys(row, dimension, keys);
}
#endif

/* All but the keys. */
static inline void oif_traveller_take_row(oif_traveller *t, uint32_t dimension,
                                          const oif_rows *rows, size_t i)
{
    t->row = oif_rows_at(rows, i);
    t->complete = rows->complete || oif_row_is_complete(t->row, dimension);
    t->has_keys = dimension <= OIF_KEYS_KEPT;
}

/* Row i of the rows sets out to be scored. */
static inline void oif_traveller_set_out(oif_traveller *t, uint32_t dimension, const oif_rows *rows,
                                         size_t i)
{
    oif_traveller_take_row(t, dimension, rows, i);
    if (!t->has_keys)
        return;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2()) {
        oif_traveller_take_keys_avx2(t->row, dimension, t->keys);
        return;
    }
#endif
    oif_traveller_take_keys(t->row, dimension, t->keys);
}

/* Part of a row that is learned: its keys, its numbers and their negatives. */
void oif_traveller_shape(const double *row, uint32_t count, uint64_t *keys, double *numbers,
                         double *negatives);

/* The same for a row that is learned: also writes its mirror, the row in the shape of a box.
 * The keys of long rows are made with it and not used. */
static inline void oif_traveller_set_out_to_learn(oif_traveller *t, uint32_t dimension,
                                                  const oif_rows *rows, size_t i, double *mirror)
{
    oif_traveller_take_row(t, dimension, rows, i);
    if (t->has_keys) {
        oif_traveller_shape(t->row, dimension, t->keys, mirror, mirror + dimension);
        return;
    }
    for (uint32_t from = 0; from < dimension; from += OIF_KEYS_KEPT)
        oif_traveller_shape(t->row + from,
                            dimension - from < OIF_KEYS_KEPT ? dimension - from : OIF_KEYS_KEPT,
                            t->keys, mirror + from, mirror + dimension + from);
}

OIF_INLINE void oif_box_widen(double *restrict box, const double *restrict mirror, size_t width,
                              bool avx2)
{
    (void)avx2;
#if OIF_HAS_AVX2_CODE
    if (avx2) {
        const size_t paired = width / (2 * OIF_BOX_STEP) * (2 * OIF_BOX_STEP);
        for (size_t i = 0; i < paired;
             i += 2 * OIF_BOX_STEP) { /* two steps a turn: 9% fewer instructions at d = 36 */
            oif_lower_4_avx2(box + i, mirror + i);
            oif_lower_4_avx2(box + i + OIF_BOX_STEP, mirror + i + OIF_BOX_STEP);
        }
        if (paired < width)
            oif_lower_4_avx2(box + paired, mirror + paired);
        return;
    }
#endif
    for (size_t i = 0; i < width; i++)
        box[i] = mirror[i] < box[i] ? mirror[i] : box[i];
}

#endif
