/* Whether the rows of the window fall into the leaves that count them, in every tree.
 *
 * To walk each row down each tree took most of the time in which a snapshot is loaded. Instead,
 * the cuts above a leaf bound a region, and a row is compared with the region of its leaf, four
 * columns at a time:
 *
 *     leaf 0   low low low low | high high high high     a table of regions for a tree;
 *     leaf 1   low low low low | high high high high     low <= number < high, or the number is
 *     ...                                                missing
 *     no leaf  -inf ...        | +inf ...
 *
 * A row that is in the region of its leaf walks into it, or lacks a number that a cut on its way
 * asks for. Only if some row is not, the tree is walked: that decides. With 3 columns, a
 * snapshot loads twice as fast.
 */
#include "detect/online_iforest/window_tree.h"

#include "base/invariant.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>

/* ---- Walking: for every tree ---- */

typedef struct walk {
    oif_check base;
    const oif_window_state *forest;
    const oif_window_tree *tree;
} walk;

enum { ROWS_AT_ONCE = 8, TOP_LEVELS = 7 };

/* The cuts of the top levels as a heap of their own: node i has the children 2 i and 2 i + 1. */
typedef struct top_cuts {
    uint32_t levels;
    double values[1 << TOP_LEVELS];  /* the least number that goes right */
    size_t columns[1 << TOP_LEVELS]; /* where the column begins in the ring */
} top_cuts;

static void copy_top(const walk *check, top_cuts *top)
{
    const oif_window_state *forest = check->forest;
    const uint32_t root = oif_window_root(forest, check->base.number).index;
    top->levels = oif_min_u32(oif_window_levels(forest)[check->base.number], TOP_LEVELS);
    for (uint32_t level = 0, first = 1; level < top->levels; level++, first *= 2)
        for (uint32_t i = 0; i < first; i++) {
            const oif_window_node at = {root * first + i, level};
            const bool is_cut = oif_window_is_cut(forest, at);
            top->values[first + i] = is_cut ? oif_window_cut_value(forest, at) : INFINITY;
            top->columns[first + i] =
                (size_t)oif_window_cut_columns(forest)[at.index] * forest->slots;
        }
}

/* Where rows of the ring are after the top levels; they go left below a leaf. All levels are
 * walked without a branch, and rows side by side, as a step waits for the one before. */
static void walk_top(const walk *check, const top_cuts *top, const uint32_t slots[ROWS_AT_ONCE],
                     uint32_t at[ROWS_AT_ONCE])
{
    const double *ring = oif_window_ring_column(check->forest, 0);
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        at[i] = 1;
    for (uint32_t level = 0; level < top->levels; level++)
        for (int i = 0; i < ROWS_AT_ONCE; i++) {
            const double number = ring[top->columns[at[i]] + slots[i]];
            at[i] = 2 * at[i] + (number >= top->values[at[i]]);
        }
}

/* The leaf that a row falls into, from the node on where the top levels have led it. */
static uint32_t leaf_below(const walk *check, const top_cuts *top, uint32_t slot, uint32_t place)
{
    const oif_window_state *forest = check->forest;
    const uint32_t root = oif_window_root(forest, check->base.number).index;
    const uint32_t width = UINT32_C(1) << top->levels;
    oif_window_node at = {root * width + (place - width), top->levels};
    while (oif_window_is_cut(forest, at)) {
        uint32_t column = oif_window_cut_columns(forest)[at.index];
        double number = oif_window_ring_column(forest, column)[slot];
        at =
            number >= oif_window_cut_value(forest, at) ? oif_window_right(at) : oif_window_left(at);
    }
    return oif_window_leaf_number(forest, at);
}

/* Whether a cut on the way of a row asks for a number that it lacks: then it may be anywhere. */
static bool lacks_number(const walk *check, uint32_t slot)
{
    const oif_window_state *forest = check->forest;
    oif_window_node at = oif_window_root(forest, check->base.number);
    while (oif_window_is_cut(forest, at)) {
        double number =
            oif_window_ring_column(forest, oif_window_cut_columns(forest)[at.index])[slot];
        if (isnan(number))
            return true;
        at =
            number >= oif_window_cut_value(forest, at) ? oif_window_right(at) : oif_window_left(at);
    }
    return false;
}

/* Whether a row is counted by the leaf that it falls into. */
static oif_status check_label(const walk *check, uint32_t slot, uint32_t leaf)
{
    uint32_t label = oif_window_labels(check->forest, check->tree)[slot];
    OIF_REQUIRE(&check->base,
                label == leaf || label == OIF_WINDOW_NOT_COUNTED || lacks_number(check, slot),
                "a row is counted by a leaf that it does not fall into");
    return OIF_OK;
}

static oif_status check_labels(const walk *check)
{
    const oif_window_state *forest = check->forest;
    oif_status status = OIF_OK;
    top_cuts top;
    copy_top(check, &top);
    for (uint32_t done = 0; done < forest->rows_held && status == OIF_OK; done += ROWS_AT_ONCE) {
        uint32_t slots[ROWS_AT_ONCE], places[ROWS_AT_ONCE];
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i++) {
            uint32_t age = oif_min_u32(done + i + 1, forest->rows_held);
            slots[i] = forest->next_slot >= age ? forest->next_slot - age
                                                : forest->next_slot + forest->slots - age;
        }
        walk_top(check, &top, slots, places);
        const uint32_t count = oif_min_u32(ROWS_AT_ONCE, forest->rows_held - done);
        for (uint32_t i = 0; i < count && status == OIF_OK; i++)
            status = check_label(check, slots[i], leaf_below(check, &top, slots[i], places[i]));
    }
    return status;
}

static oif_status walk_rows(const oif_window_state *forest, uint32_t number, oif_error *error)
{
    const walk all = {.base = {error, "tree", number},
                      .forest = forest,
                      .tree = oif_window_tree_at(forest, number)};
    return check_labels(&all);
}

/* ---- Regions: for trees with few leaves ---- */

enum {
    STEP = 4,
    MOST_LEAVES = 48, /* 3 KB on the stack */
    MOST_COLUMNS = 16 /* longer rows walk */
};

/* What a leaf allows in some columns. */
typedef struct region {
    double low[STEP], high[STEP];
} region;

/* The regions of a tree in some columns. That of no leaf, and of columns that there are not, is
 * anywhere. */
typedef struct regions {
    const oif_window_state *forest;
    uint32_t tree, first_column;
    const double *columns[STEP]; /* of the ring; the first one in place of those there are not */
    const uint8_t *labels;
    region of_leaf[MOST_LEAVES + 1];
} regions;

/* Sets the regions of the leaves below a node, whose own is `here`. */
static void set_below(regions *r, oif_window_node at, region *here)
{
    const oif_window_state *forest = r->forest;
    if (!oif_window_is_cut(forest, at)) {
        r->of_leaf[oif_window_leaf_number(forest, at)] = *here;
        return;
    }
    const uint32_t column = oif_window_cut_columns(forest)[at.index] - r->first_column;
    if (column >= STEP) { /* unsigned, so a column before the first one is excluded too */
        set_below(r, oif_window_left(at), here);
        set_below(r, oif_window_right(at), here);
        return;
    }
    const double value = oif_window_cut_value(forest, at);
    double *low = &here->low[column], *high = &here->high[column];
    const double low_here = *low, high_here = *high;
    *high = value < high_here ? value : high_here;
    set_below(r, oif_window_left(at), here);
    *high = high_here;
    *low = value > low_here ? value : low_here;
    set_below(r, oif_window_right(at), here);
    *low = low_here;
}

static void set_regions(regions *r, uint32_t first_column)
{
    region *anywhere = &r->of_leaf[r->forest->leaf_capacity];
    r->first_column = first_column;
    for (uint32_t i = 0; i < STEP; i++) {
        const uint32_t column = first_column + i;
        r->columns[i] = oif_window_ring_column(
            r->forest, column < r->forest->dimension ? column : first_column);
        anywhere->low[i] = -INFINITY;
        anywhere->high[i] = INFINITY;
    }
    set_below(r, oif_window_root(r->forest, r->tree), anywhere);
}

OIF_INLINE const region *region_at(const regions *r, uint32_t slot)
{
    return &r->of_leaf[oif_min_u32(r->labels[slot], r->forest->leaf_capacity)];
}

/* Whether rows are in the regions of their leaves, from one slot of the ring to another. */
static bool are_inside(const regions *r, uint32_t from, uint32_t end)
{
    bool outside = false;
    for (uint32_t slot = from; slot < end; slot++) {
        const region *leaf = region_at(r, slot);
        for (uint32_t i = 0; i < STEP; i++)
            outside |= r->columns[i][slot] < leaf->low[i] || r->columns[i][slot] >= leaf->high[i];
    }
    return !outside;
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 OIF_INLINE __m256d outside_of(const region *leaf, __m256d row)
{
    return _mm256_or_pd(_mm256_cmp_pd(row, _mm256_loadu_pd(leaf->low), _CMP_LT_OQ),
                        _mm256_cmp_pd(row, _mm256_loadu_pd(leaf->high), _CMP_GE_OQ));
}

/* Four numbers of four columns become four rows. */
OIF_AVX2 static bool are_inside_avx2(const regions *r, uint32_t from, uint32_t end)
{
    __m256d outside = _mm256_setzero_pd();
    for (; from + STEP <= end; from += STEP) {
        const __m256d a = _mm256_loadu_pd(r->columns[0] + from),
                      b = _mm256_loadu_pd(r->columns[1] + from),
                      c = _mm256_loadu_pd(r->columns[2] + from),
                      d = _mm256_loadu_pd(r->columns[3] + from), even_ab = _mm256_unpacklo_pd(a, b),
                      odd_ab = _mm256_unpackhi_pd(a, b), even_cd = _mm256_unpacklo_pd(c, d),
                      odd_cd = _mm256_unpackhi_pd(c, d);
        const __m256d first = outside_of(region_at(r, from),
                                         _mm256_permute2f128_pd(even_ab, even_cd, 0x20)),
                      second = outside_of(region_at(r, from + 1),
                                          _mm256_permute2f128_pd(odd_ab, odd_cd, 0x20)),
                      third = outside_of(region_at(r, from + 2),
                                         _mm256_permute2f128_pd(even_ab, even_cd, 0x31)),
                      fourth = outside_of(region_at(r, from + 3),
                                          _mm256_permute2f128_pd(odd_ab, odd_cd, 0x31));
        outside = _mm256_or_pd(
            outside, _mm256_or_pd(_mm256_or_pd(first, second), _mm256_or_pd(third, fourth)));
    }
    return _mm256_movemask_pd(outside) == 0 && are_inside(r, from, end);
}
#else
static bool are_inside_avx2(const regions *r, uint32_t from, uint32_t end)
{
    return are_inside(r, from, end);
}
#endif

/* Whether all rows of the window are in the regions of their leaves in a tree. */
static bool is_clear(const oif_window_state *forest, uint32_t tree)
{
    regions r = {.forest = forest, .tree = tree};
    const uint32_t oldest = oif_window_oldest_slot(forest), held = forest->rows_held,
                   end = oif_min_u32(oldest + held, forest->slots), rest = held - (end - oldest);
    bool (*const inside)(const regions *, uint32_t, uint32_t) =
        oif_machine_has_avx2() ? are_inside_avx2 : are_inside;
    bool is_clear = true;
    r.labels = oif_window_labels(forest, oif_window_tree_at(forest, tree));
    for (uint32_t column = 0; column < forest->dimension && is_clear; column += STEP) {
        set_regions(&r, column);
        is_clear = inside(&r, oldest, end) && inside(&r, 0, rest);
    }
    return is_clear;
}

oif_status oif_window_labels_check(const oif_window_state *forest, oif_error *error)
{
    const bool has_regions =
        forest->leaf_capacity <= MOST_LEAVES && forest->dimension <= MOST_COLUMNS;
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < forest->num_trees && status == OIF_OK; tree++)
        if (!has_regions || !is_clear(forest, tree))
            status = walk_rows(forest, tree, error);
    return status;
}
