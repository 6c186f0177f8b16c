/* Whether the rows of the window fall into the leaves that count them, in every tree.
 *
 * To walk each row down each tree took most of the time in which a snapshot is loaded. Instead,
 * the cuts above a leaf bound a region, and a row is compared with the region of its leaf:
 *
 *     leaf 0   low low low | high high high     a table of regions for each of some trees;
 *     leaf 1   low low low | high high high     low <= number < high, or the number is missing
 *     ...
 *     no leaf  -inf ...    | +inf ...
 *
 *     row 7    number number number             rows of the ring, some at a time, row by row
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

enum { ROWS_AT_ONCE = 8, TOP_LEVELS = 10 };

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

/* ---- Regions: for short rows ---- */

enum {
    STEP = 4,
    MOST_WIDE = 16,       /* numbers in a row; longer ones walk */
    TABLE_NUMBERS = 4096, /* of all regions at a time */
    SOME_TREES = 16,
    SOME_ROWS = 64
};

/* Rows of the ring, each of them `width` numbers: 0 where there are no more columns. */
typedef struct some_rows {
    uint32_t first, count; /* slots */
    _Alignas(OIF_CACHE_LINE_BYTES) double numbers[SOME_ROWS * MOST_WIDE];
} some_rows;

/* The regions of some trees. That of no leaf, and of columns that there are not, is anywhere. */
typedef struct regions {
    const oif_window_state *forest;
    uint32_t width;
    size_t tree_numbers;          /* of a tree's table */
    uint32_t first, count;        /* trees */
    bool is_in_doubt[SOME_TREES]; /* some row is not in the region of its leaf */
    _Alignas(OIF_CACHE_LINE_BYTES) double bounds[TABLE_NUMBERS];
} regions;

static double *region_of(regions *r, uint32_t tree, uint32_t leaf)
{
    return r->bounds + (tree - r->first) * r->tree_numbers + (size_t)leaf * 2 * r->width;
}

/* Sets the regions of the leaves below a node, whose own is `here`. */
static void set_below(regions *r, uint32_t tree, oif_window_node at, double *here)
{
    const oif_window_state *forest = r->forest;
    if (!oif_window_is_cut(forest, at)) {
        double *region = region_of(r, tree, oif_window_leaf_number(forest, at));
        memcpy(region, here, 2 * r->width * sizeof *here);
        return;
    }
    const uint32_t column = oif_window_cut_columns(forest)[at.index];
    const double value = oif_window_cut_value(forest, at);
    double *low = &here[column], *high = &here[r->width + column];
    const double low_here = *low, high_here = *high;
    *high = value < high_here ? value : high_here;
    set_below(r, tree, oif_window_left(at), here);
    *high = high_here;
    *low = value > low_here ? value : low_here;
    set_below(r, tree, oif_window_right(at), here);
    *low = low_here;
}

static void set_regions(regions *r, uint32_t first, uint32_t count)
{
    r->first = first;
    r->count = count;
    for (uint32_t i = 0; i < count; i++) {
        double *anywhere = region_of(r, first + i, r->forest->leaf_capacity);
        for (uint32_t j = 0; j < r->width; j++) {
            anywhere[j] = -INFINITY;
            anywhere[r->width + j] = INFINITY;
        }
        set_below(r, first + i, oif_window_root(r->forest, first + i), anywhere);
        r->is_in_doubt[i] = false;
    }
}

static void take_rows(const regions *r, uint32_t first, uint32_t count, some_rows *rows)
{
    rows->first = first;
    rows->count = count;
    for (uint32_t column = 0; column < r->forest->dimension; column++) {
        const double *numbers = oif_window_ring_column(r->forest, column) + first;
        for (uint32_t i = 0; i < count; i++)
            rows->numbers[i * r->width + column] = numbers[i];
    }
}

/* What one tree says about some rows. */
typedef struct labelled {
    const double *numbers;
    const uint8_t *labels;
    uint32_t count;
    const double *table;
    uint32_t leaf_capacity;
} labelled;

OIF_INLINE const double *region_at(const labelled *l, uint32_t i, size_t width)
{
    return l->table + oif_min_u32(l->labels[i], l->leaf_capacity) * 2 * width;
}

/* Without a branch, so compilers compare several numbers at once. */
static bool are_inside(const labelled *l, size_t width)
{
    unsigned outside = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const double *row = l->numbers + i * width, *low = region_at(l, i, width);
        for (size_t j = 0; j < width; j++)
            outside |= (unsigned)(row[j] < low[j]) | (unsigned)(row[j] >= low[width + j]);
    }
    return !outside;
}

#if OIF_HAS_AVX2_CODE
/* Where this is inlined, `width` is a constant. */
OIF_AVX2 OIF_INLINE bool are_inside_by_fours(const labelled *l, size_t width)
{
    __m256d outside = _mm256_setzero_pd();
    for (uint32_t i = 0; i < l->count; i++) {
        const double *row = l->numbers + i * width, *low = region_at(l, i, width);
        for (size_t j = 0; j < width; j += STEP) {
            __m256d four = _mm256_loadu_pd(row + j);
            __m256d below = _mm256_cmp_pd(four, _mm256_loadu_pd(low + j), _CMP_LT_OQ);
            __m256d above = _mm256_cmp_pd(four, _mm256_loadu_pd(low + width + j), _CMP_GE_OQ);
            outside = _mm256_or_pd(outside, _mm256_or_pd(below, above));
        }
    }
    return _mm256_movemask_pd(outside) == 0;
}

OIF_AVX2 static bool are_inside_avx2(const labelled *l, size_t width)
{
    switch (width) {
    case 4: return are_inside_by_fours(l, 4);
    case 8: return are_inside_by_fours(l, 8);
    case 12: return are_inside_by_fours(l, 12);
    default: return are_inside_by_fours(l, MOST_WIDE);
    }
}
#else
static bool are_inside_avx2(const labelled *l, size_t width)
{
    return are_inside(l, width);
}
#endif

static void compare(regions *r, const some_rows *rows)
{
    const oif_window_state *forest = r->forest;
    for (uint32_t i = 0; i < r->count; i++) {
        const uint8_t *labels = oif_window_labels(forest, oif_window_tree_at(forest, r->first + i));
        const labelled l = {rows->numbers, labels + rows->first, rows->count,
                            region_of(r, r->first + i, 0), forest->leaf_capacity};
        r->is_in_doubt[i] |=
            !(oif_machine_has_avx2() ? are_inside_avx2(&l, r->width) : are_inside(&l, r->width));
    }
}

static void compare_all(regions *r, some_rows *rows)
{
    const uint32_t slots = r->forest->slots, held = r->forest->rows_held;
    uint32_t slot = oif_window_oldest_slot(r->forest);
    for (uint32_t done = 0; done < held; done += rows->count) {
        slot = slot < slots ? slot : 0;
        take_rows(r, slot, oif_min_u32(SOME_ROWS, oif_min_u32(held - done, slots - slot)), rows);
        compare(r, rows);
        slot += rows->count;
    }
}

oif_status oif_window_labels_check(const oif_window_state *forest, oif_error *error)
{
    regions r = {.forest = forest, .width = (forest->dimension + STEP - 1) / STEP * STEP};
    some_rows rows = {.count = 0};
    r.tree_numbers = ((size_t)forest->leaf_capacity + 1) * 2 * r.width;
    const bool are_long = r.width > MOST_WIDE || r.tree_numbers > TABLE_NUMBERS;
    const uint32_t at_once =
        are_long ? 1 : (uint32_t)oif_min_size(TABLE_NUMBERS / r.tree_numbers, SOME_TREES);
    oif_status status = OIF_OK;
    for (uint32_t first = 0; first < forest->num_trees && status == OIF_OK; first += at_once) {
        r.is_in_doubt[0] = true;
        r.count = 1;
        if (!are_long) {
            set_regions(&r, first, oif_min_u32(at_once, forest->num_trees - first));
            compare_all(&r, &rows);
        }
        for (uint32_t i = 0; i < r.count && status == OIF_OK; i++)
            if (r.is_in_doubt[i])
                status = walk_rows(forest, first + i, error);
    }
    return status;
}
