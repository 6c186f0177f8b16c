/* Online Isolation Forest as the paper has it, with a sliding window (Leveni, Cassales,
 * Pfahringer, Bifet, Boracchi, ICML 2024).
 *
 * Every tree is a histogram of the rows in a sliding window. A leaf counts rows; once it holds
 * enough of them it is cut in two at random, and when old rows leave the window and a cut has
 * too few rows left it is undone. Dense regions are cut often, so a row that ends in a shallow
 * leaf lies where data are sparse: it is anomalous.
 *
 * One row passes the trees like this (Algorithm 1): walk to its leaf in every tree, count it
 * there and widen the leaf's box, cut the leaf if it is full; uncount the row that leaves the
 * window, undo cuts if a guard is broken; add up the depths of the leaves that the new row is
 * in now. Cuts and merges are in online_itree.c, as is the layout.
 *
 * A row costs O(num_trees (log2(window_size / max_leaf_samples) + dimension)), a cut
 * O(dimension + window_size).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/online_iforest/online_itree.h"
#include "detect/online_iforest/traveller.h"
#include "detect/tree_figures.h"

#include <stdatomic.h>

typedef oif_iforest_state forest;
typedef oif_traveller traveller;

enum {
    SHORT_BOX = 24,  /* numbers; boxes up to this have code of their own for each width */
    GROUP = 32,      /* trees whose places are kept at a time; a whole number of lanes */
    MAX_CHUNK = 256, /* rows that threads work on between two meetings */
    USUAL_LEAF_SAMPLES = 32
};

/* ---- Depths and scores ---- */

/* c(n, eta) of the paper: the average depth of a tree of n rows, 0 under eta; half of it in the
 * authors' code. */
static double average_depth(const forest *f, double rows)
{
    if (rows < f->max_leaf_samples)
        return 0.0;
    double depth = oif_log2(rows / f->max_leaf_samples);
    return f->variant == OIF_REFERENCE ? depth / 2 : depth;
}

static uint32_t to_depth_units(double depth)
{
    return (uint32_t)(depth * (1 << OIF_DEPTH_BITS) + 0.5);
}

/* c(height) where the table does not reach: under 0, or above the window when a sibling is
 * under 0. */
static __attribute__((noinline, cold)) uint32_t unusual_extra_depth(const forest *f, int32_t height)
{
    return height < 0 ? 0 : to_depth_units(average_depth(f, height));
}

/* A row's depth: its leaf's, and what the leaf would have below it if it could be cut on. */
static uint32_t row_depth(const forest *f, const oif_leaf *leaf)
{
    int32_t height = leaf->height;
    return leaf->depth + ((uint32_t)height < f->window_size + 2 ? oif_extra_depths(f)[height]
                                                                : unusual_extra_depth(f, height));
}

/* What a sum of depths over all trees is multiplied with to become the exponent of the score; 0
 * while the window holds so few rows that no row can be told from another. */
static double scale_of_window(const forest *f, uint32_t rows_held)
{
    double rows = f->variant == OIF_PAPER ? f->window_size : rows_held * f->subsample;
    double normaliser = average_depth(f, rows);
    return normaliser > 0 ? 1.0 / (normaliser * f->num_trees * (1 << OIF_DEPTH_BITS)) : 0.0;
}

static double score_of(const forest *f, uint64_t depth_sum, uint32_t rows_held)
{
    double scale = rows_held == f->window_size ? f->full_scale : scale_of_window(f, rows_held);
    if (scale == 0)
        return f->variant == OIF_RUNNING ? 0.5 : 1.0;
    return oif_exp2(-(double)depth_sum * scale);
}

/* ---- Creation ---- */

/* The leaves that a tree has when every inner node counts its threshold and the nodes of one
 * depth count no more than the window holds. */
static uint64_t leaf_bound(const forest *f)
{
    uint64_t cuts = 0;
    for (uint32_t depth = 0; depth < f->depth_limit; depth++) {
        uint64_t nodes = UINT64_C(1) << depth;
        uint64_t fed = ((uint64_t)f->window_size + 1) / (uint64_t)oif_threshold(f, depth);
        cuts += nodes < fed ? nodes : fed;
    }
    return cuts + 1;
}

static forest read_params(const oif_params *params)
{
    forest f = {
        .forgetting = OIF_FORGET_BY_WINDOW,
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .growth = (oif_growth)oif_params_value(params, "growth"),
        .variant = (oif_variant)oif_params_value(params, "variant"),
        .subsample = oif_params_value(params, "subsample"),
    };
    if (f.max_leaf_samples == 0)
        f.max_leaf_samples = USUAL_LEAF_SAMPLES;
    while (oif_depth_allows_cut(&f, f.depth_limit, (int64_t)f.window_size + 1))
        f.depth_limit++;
    return f;
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    forest f = read_params(params);
    if (leaf_bound(&f) <= OIF_MAX_LEAVES)
        return OIF_OK;
    return oif_fail(error, OIF_EPARAM,
                    "window_size %u is too large for max_leaf_samples %u: a tree could have more "
                    "than %d leaves; lower "
                    "window_size or raise max_leaf_samples",
                    f.window_size, f.max_leaf_samples, OIF_MAX_LEAVES);
}

static forest lay_out(const oif_params *params, size_t dimension)
{
    forest f = read_params(params);
    /* Leaves with heights under zero allow more leaves than the bound. Half as many again have
     * always been enough; if they were not, a cut would wait until a merge frees a record. */
    uint64_t roomy = leaf_bound(&f) * 3 / 2, all = UINT64_C(1) << f.depth_limit;
    f.leaf_capacity = (uint32_t)(all < roomy              ? all
                                 : roomy < OIF_MAX_LEAVES ? roomy
                                                          : OIF_MAX_LEAVES);
    f.dimension = (uint32_t)dimension;
    f.box_width = oif_box_width(f.dimension);
    uint32_t chunk_room = f.window_size / 8 < MAX_CHUNK ? f.window_size / 8 + 1 : MAX_CHUNK;
    f.slots = (f.window_size + chunk_room + OIF_SLOT_BLOCK - 1) / OIF_SLOT_BLOCK * OIF_SLOT_BLOCK;
    f.full_scale = scale_of_window(&f, f.window_size);

    f.tree_bytes = oif_size_align(sizeof(oif_itree));
    f.leaf_bytes = sizeof(oif_leaf) + f.box_width * sizeof(double);
    f.leaves_at = oif_size_append(&f.tree_bytes, f.leaf_capacity, f.leaf_bytes);
    f.labels_at = oif_size_append(&f.tree_bytes, f.slots, 1);

    size_t bottom = oif_size_multiply(f.num_trees, (size_t)1 << f.depth_limit);
    f.bytes = oif_size_align(sizeof f);
    f.last_lefts_at = oif_size_append(&f.bytes, bottom, sizeof(uint64_t));
    f.features_at = oif_size_append(&f.bytes, bottom, sizeof(uint32_t));
    f.leaf_at_at = oif_size_append(&f.bytes, bottom, 2);
    f.levels_at = oif_size_append(&f.bytes, f.num_trees, 1);
    f.lane_levels_at = oif_size_append(&f.bytes, f.num_trees / OIF_LANES + 1, 1);
    f.columns_at = oif_size_append(&f.bytes, f.slots, oif_size_multiply(dimension, sizeof(double)));
    f.mirrors_at = oif_size_append(&f.bytes, OIF_POOL_MAX_PARTS, f.box_width * sizeof(double));
    f.extra_depth_at = oif_size_append(&f.bytes, (size_t)f.window_size + 3, sizeof(uint32_t));
    f.trees_at = oif_size_append(&f.bytes, f.num_trees, f.tree_bytes);
    return f;
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    forest *f = state;
    *f = lay_out(params, dimension);
    for (size_t i = 0; i < (size_t)f->num_trees << f->depth_limit; i++)
        oif_last_lefts(f)[i] = OIF_UNCUT;
    for (int32_t height = -1; height < (int32_t)f->window_size + 2; height++)
        oif_extra_depths(f)[height] = to_depth_units(average_depth(f, height));
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        oif_itree_init(f, tree, (uint64_t)oif_params_value(params, "seed"));
}

/* ---- Walking ---- */

/* Where walks go. */
typedef struct woods {
    const uint64_t *last_lefts;
    const uint32_t *features;
    const uint8_t *leaf_at;
    const traveller *traveller;
} woods;

OIF_INLINE size_t next_node(const woods *in, size_t at, bool has_keys)
{
    uint32_t feature = in->features[at];
    uint64_t key = has_keys ? in->traveller->keys[feature] : oif_key(in->traveller->row[feature]);
    return oif_twice_plus_less(at, in->last_lefts[at], key);
}

/* The leaves of a complete row in OIF_LANES trees whose roots begin at node `root`, `levels` of
 * which hold cuts. Walking them side by side hides the latency of the loads. Names instead of
 * an array: with one, gcc keeps a copy of every step in memory. */
OIF_INLINE void walk_side_by_side(const woods *in, size_t root, uint32_t levels, bool has_keys,
                                  size_t *restrict leaves)
{
    size_t a = root, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    for (; levels > 0; levels--) {
        a = next_node(in, a, has_keys);
        b = next_node(in, b, has_keys);
        c = next_node(in, c, has_keys);
        d = next_node(in, d, has_keys);
        e = next_node(in, e, has_keys);
        f = next_node(in, f, has_keys);
        g = next_node(in, g, has_keys);
        h = next_node(in, h, has_keys);
    }
    leaves[0] = in->leaf_at[a];
    leaves[1] = in->leaf_at[b];
    leaves[2] = in->leaf_at[c];
    leaves[3] = in->leaf_at[d];
    leaves[4] = in->leaf_at[e];
    leaves[5] = in->leaf_at[f];
    leaves[6] = in->leaf_at[g];
    leaves[7] = in->leaf_at[h];
}

_Static_assert(OIF_LANES == 8, "walk_side_by_side walks eight trees");

/* The leaves of a complete row in lanes from `lane` to `end`. Functions of their own, so that
 * nothing else wants the registers. */
static __attribute__((noinline)) void walk_lanes(const forest *f, const traveller *t, uint32_t lane,
                                                 uint32_t end, size_t *leaves)
{
    const woods in = {oif_last_lefts(f), oif_features(f), oif_leaf_at(f), t};
    const uint8_t *const levels = oif_lane_levels(f);
    for (; lane < end; lane++, leaves += OIF_LANES)
        walk_side_by_side(&in, f->num_trees + lane * OIF_LANES, levels[lane], true, leaves);
}

static __attribute__((noinline)) void walk_lanes_without_keys(const forest *f, const traveller *t,
                                                              uint32_t lane, uint32_t end,
                                                              size_t *leaves)
{
    const woods in = {oif_last_lefts(f), oif_features(f), oif_leaf_at(f), t};
    for (; lane < end; lane++, leaves += OIF_LANES)
        walk_side_by_side(&in, f->num_trees + lane * OIF_LANES, oif_lane_levels(f)[lane], false,
                          leaves);
}

/* The leaves of a row in `count` trees from `first` on, which begins a lane. */
static void find_leaves(const forest *f, uint32_t first, uint32_t count, const traveller *t,
                        size_t *leaves)
{
    uint32_t lane = first / OIF_LANES, whole = t->complete ? count / OIF_LANES : 0;
    if (t->has_keys)
        walk_lanes(f, t, lane, lane + whole, leaves);
    else
        walk_lanes_without_keys(f, t, lane, lane + whole, leaves);
    for (uint32_t i = whole * OIF_LANES; i < count; i++)
        leaves[i] = oif_itree_walk(f, first + i, t->row);
}

/* ---- Scoring ---- */

static uint64_t sum_depths(const forest *f, const traveller *t)
{
    const uint32_t num_trees = f->num_trees;
    const unsigned char *leaves = oif_part(f, f->trees_at + f->leaves_at);
    uint64_t depth_sum = 0;
    for (uint32_t first = 0; first < num_trees; first += GROUP) {
        size_t found[GROUP];
        uint32_t count = num_trees - first < GROUP ? num_trees - first : GROUP;
        find_leaves(f, first, count, t, found);
        for (uint32_t i = 0; i < count; i++, leaves += f->tree_bytes)
            depth_sum += row_depth(f, oif_part(leaves, found[i] * f->leaf_bytes));
    }
    return depth_sum;
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const forest *f = state;
    for (size_t i = 0; i < rows->count; i++) {
        traveller t;
        oif_traveller_set_out(&t, f->dimension, rows, i);
        scores[i] = score_of(f, sum_depths(f, &t), f->rows_held);
    }
}

/* ---- Learning ---- */

/* One row on its way through the trees. */
typedef struct passage {
    const traveller *traveller;
    const double *mirror; /* the row in the shape of a box */
    const uint32_t *extra_depths;
    bool forgets;    /* the window is full: a row has to go */
    uint32_t slot;   /* of the ring, for this row */
    uint32_t oldest; /* of the ring, the row that goes */
} passage;

/* Whether this tree learns the row. */
static bool draw_counted(forest *f, uint32_t tree)
{
    return f->subsample >= 1 || oif_random_unit(&oif_tree(f, tree)->random) < f->subsample;
}

/* The rest of what a tree does for a row that it has counted: cuts the leaf if it is high
 * enough, forgets the oldest row, undoes cuts if it must. Returns the depth that the row has
 * then. */
static __attribute__((noinline)) uint32_t finish_tree(forest *f, uint32_t number, const passage *p)
{
    oif_itree *tree = oif_tree(f, number);
    const uint8_t *labels = oif_labels(f, tree);
    uint32_t label = labels[p->slot];
    if (label != OIF_NOT_COUNTED) {
        const oif_leaf *leaf = oif_leaf_of(f, tree, label);
        if (leaf->height >= leaf->cut_at)
            oif_itree_cut(f, number, label, p->forgets && labels[p->oldest] == label);
    }
    if (p->forgets && labels[p->oldest] != OIF_NOT_COUNTED) {
        uint32_t old = labels[p->oldest];
        oif_leaf *leaf = oif_leaf_of(f, tree, old);
        if (--leaf->height < leaf->guard)
            oif_itree_settle(f, number, old);
    }
    /* The label has followed every cut and merge. Without one, and where heights decide the
     * way, walk again. */
    label = labels[p->slot];
    if (label == OIF_NOT_COUNTED || !p->traveller->complete)
        label = oif_itree_walk(f, number, p->traveller->row);
    return row_depth(f, oif_leaf_of(f, tree, label));
}

/* Learns the row and forgets the oldest in `count` trees from `first` on, where it falls into
 * the leaves `found`; returns the sum of the depths it has then. For every row. */
static __attribute__((noinline)) uint64_t pass_trees(forest *f, uint32_t first, uint32_t count,
                                                     const passage *p, const size_t *found)
{
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        oif_itree *tree = oif_tree(f, first + i);
        bool counted = draw_counted(f, first + i);
        oif_labels(f, tree)[p->slot] = counted ? (uint8_t)found[i] : OIF_NOT_COUNTED;
        if (counted) {
            oif_leaf *leaf = oif_leaf_of(f, tree, (uint32_t)found[i]);
            oif_box_widen(leaf->box, p->mirror, f->box_width, false);
            leaf->height++;
        }
        depth_sum += finish_tree(f, first + i, p);
    }
    return depth_sum;
}

/* The same for a complete row that every tree learns when a row is forgotten. A tree that has
 * to change its shape, or whose leaf has an unusual height, waits until the others are done:
 * with nothing to call, the loop has all registers. Where this is inlined, `box_width` is a
 * constant for short rows, which makes straight code of the loop over a box. */
OIF_INLINE uint64_t pass_simple(forest *f, uint32_t first, uint32_t count, const passage *p,
                                const size_t *found, const double *mirror, size_t box_width,
                                bool avx2)
{
    const uint32_t *const extra_depths = p->extra_depths;
    const size_t tree_bytes = f->tree_bytes;
    const size_t leaf_bytes = sizeof(oif_leaf) + box_width * sizeof(double);
    const size_t label_at = f->labels_at - f->leaves_at + p->slot,
                 oldest_at = label_at - p->slot + p->oldest;
    unsigned char *leaves = oif_part(f, f->trees_at + first * tree_bytes + f->leaves_at);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0;
    uint8_t waiting[GROUP];

    OIF_BY_TWOS
    for (uint32_t i = 0; i < count; i++, leaves += tree_bytes) {
        oif_leaf *leaf = oif_part(leaves, found[i] * leaf_bytes);
        leaves[label_at] = (uint8_t)found[i];
        oif_box_widen(leaf->box, mirror, box_width, avx2);
        oif_leaf *old = oif_part(leaves, leaves[oldest_at] * leaf_bytes);
        /* A height under 0 is a large one without its sign. */
        if ((uint32_t)++leaf->height >= (uint32_t)leaf->cut_at || old->height <= old->guard) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        old->height--;
        depth_sum += leaf->depth + extra_depths[leaf->height];
    }
    for (uint32_t i = 0; i < waiting_count; i++)
        depth_sum += finish_tree(f, first + waiting[i], p);
    return depth_sum;
}

/* For short boxes: an empty box widened by the mirror is its copy, but here the compiler sees
 * that nobody changes it and keeps it in registers. */
OIF_INLINE uint64_t pass_short(forest *f, uint32_t first, uint32_t count, const passage *p,
                               const size_t *found, size_t box_width, bool avx2)
{
    double mirror[SHORT_BOX];
    for (size_t i = 0; i < box_width; i++)
        mirror[i] = INFINITY;
    oif_box_widen(mirror, p->mirror, box_width, avx2);
    return pass_simple(f, first, count, p, found, mirror, box_width, avx2);
}

OIF_INLINE uint64_t pass_any_short(forest *f, uint32_t first, uint32_t count, const passage *p,
                                   const size_t *found, bool avx2)
{
    switch (f->box_width) {
    case 4: return pass_short(f, first, count, p, found, 4, avx2);
    case 8: return pass_short(f, first, count, p, found, 8, avx2);
    case 12: return pass_short(f, first, count, p, found, 12, avx2);
    case 16: return pass_short(f, first, count, p, found, 16, avx2);
    case 20: return pass_short(f, first, count, p, found, 20, avx2);
    default: return pass_short(f, first, count, p, found, SHORT_BOX, avx2);
    }
}

#if OIF_HAS_AVX2_CODE
/* Boxes four numbers at a time: 12% faster at d = 10. */
OIF_AVX2 static uint64_t pass_any_short_avx2(forest *f, uint32_t first, uint32_t count,
                                             const passage *p, const size_t *found)
{
    return pass_any_short(f, first, count, p, found, true);
}

OIF_AVX2 static uint64_t pass_long_avx2(forest *f, uint32_t first, uint32_t count, const passage *p,
                                        const size_t *found)
{
    return pass_simple(f, first, count, p, found, p->mirror, f->box_width, true);
}
#endif

static uint64_t pass_group(forest *f, uint32_t first, uint32_t count, const passage *p)
{
    size_t found[GROUP];
    find_leaves(f, first, count, p->traveller, found);
    if (!p->forgets || !p->traveller->complete || f->subsample < 1)
        return pass_trees(f, first, count, p, found);
    bool is_short = f->box_width <= SHORT_BOX;
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return is_short ? pass_any_short_avx2(f, first, count, p, found)
                        : pass_long_avx2(f, first, count, p, found);
#endif
    return is_short ? pass_any_short(f, first, count, p, found, false)
                    : pass_simple(f, first, count, p, found, p->mirror, f->box_width, false);
}

/* The distance is at most a whole round of the ring. */
static uint32_t slot_after(const forest *f, uint32_t slot, uint32_t distance)
{
    uint32_t after = slot + distance;
    return after >= f->slots ? after - f->slots : after;
}

static void store_row(forest *f, const double *row, uint32_t slot)
{
    double *cell = oif_column(f, 0) + slot;
    OIF_BY_TWOS
    for (uint32_t feature = 0; feature < f->dimension; feature++, cell += f->slots)
        *cell = row[feature];
}

/* Takes a row that is in the ring already through the trees from `begin` to `end`; returns the
 * sum of its depths there. `ahead`: rows in the ring that are learned before it. */
static uint64_t pass_row(forest *f, const oif_rows *rows, size_t i, uint32_t ahead, unsigned part,
                         uint32_t begin, uint32_t end)
{
    double *mirror = (double *)oif_part(f, f->mirrors_at) + (size_t)part * f->box_width;
    uint32_t slot = slot_after(f, f->next_slot, ahead);
    traveller t;
    passage p = {.traveller = &t,
                 .mirror = mirror,
                 .extra_depths = oif_extra_depths(f),
                 .forgets = f->rows_held + ahead >= f->window_size,
                 .slot = slot,
                 .oldest = slot_after(f, slot, f->slots - f->window_size)};
    uint64_t depth_sum = 0;
    oif_traveller_set_out_to_learn(&t, f->dimension, rows, i, mirror);
    for (uint32_t first = begin; first < end; first += GROUP)
        depth_sum += pass_group(f, first, end - first < GROUP ? end - first : GROUP, &p);
    return depth_sum;
}

/* The row in the next slot has been learned: the window moves on. Returns the score of this sum
 * of depths. */
static double finish_row(forest *f, uint64_t depth_sum)
{
    f->rows_held += f->rows_held < f->window_size;
    f->next_slot = slot_after(f, f->next_slot, 1);
    return score_of(f, depth_sum, f->rows_held);
}

/* Rows that are put into the ring together; then every part of the pool takes its trees through
 * them, one by one. */
typedef struct chunk {
    forest *forest;
    const oif_rows *rows;
    size_t from;    /* the first row of the chunk ... */
    uint32_t count; /* ... and how many */
    unsigned parts;
    _Atomic uint64_t
        /* of each row, over the trees; whole numbers, so that the order does not matter */
        *depth_sums;
} chunk;

/* The first tree of a part of the pool: parts take whole lanes. */
static uint32_t first_tree(const forest *f, unsigned part, unsigned parts)
{
    uint32_t lanes = (f->num_trees + OIF_LANES - 1) / OIF_LANES,
             first = lanes * part / parts * OIF_LANES;
    return first < f->num_trees ? first : f->num_trees;
}

static void learn_part(void *context, unsigned part)
{
    const chunk *c = context;
    forest *f = c->forest;
    const uint32_t begin = first_tree(f, part, c->parts), end = first_tree(f, part + 1, c->parts);
    for (uint32_t i = 0; i < c->count; i++)
        atomic_fetch_add_explicit(&c->depth_sums[i],
                                  pass_row(f, c->rows, c->from + i, i, part, begin, end),
                                  memory_order_relaxed);
}

static void learn_together(forest *f, const oif_rows *rows, double *scores, oif_pool *pool)
{
    const uint32_t room =
        f->slots - f->window_size < MAX_CHUNK ? f->slots - f->window_size : MAX_CHUNK;
    for (size_t from = 0; from < rows->count;) {
        _Atomic uint64_t depth_sums[MAX_CHUNK];
        uint32_t count = rows->count - from < room ? (uint32_t)(rows->count - from) : room;
        chunk c = {f, rows, from, count, oif_pool_parts(pool), depth_sums};
        for (uint32_t i = 0; i < count; i++) {
            atomic_init(&depth_sums[i], 0);
            store_row(f, oif_rows_at(rows, from + i), slot_after(f, f->next_slot, i));
        }
        oif_pool_run(pool, learn_part, &c);
        for (uint32_t i = 0; i < count; i++) {
            double score =
                finish_row(f, atomic_load_explicit(&depth_sums[i], memory_order_relaxed));
            if (scores)
                scores[from + i] = score;
        }
        from += count;
    }
}

static void learn_alone(forest *f, const oif_rows *rows, double *scores)
{
    for (size_t i = 0; i < rows->count; i++) {
        store_row(f, oif_rows_at(rows, i), f->next_slot);
        double score = finish_row(f, pass_row(f, rows, i, 0, 0, 0, f->num_trees));
        if (scores)
            scores[i] = score;
    }
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    if (rows->count < OIF_ROWS_WORTH_SHARING || oif_pool_parts(pool) == 1)
        learn_alone(state, rows, scores);
    else
        learn_together(state, rows, scores, pool);
}

/* ---- Questions ---- */

/* A quarter of the window shows the trees' coarse shape. A window that allows no cut never gets
 * anywhere. */
static bool ready(const void *state)
{
    const forest *f = state;
    return f->depth_limit > 0 && f->rows_held >= f->window_size / 4 &&
           f->rows_held * f->subsample > f->max_leaf_samples;
}

static oif_status check(const void *state, oif_error *error)
{
    const forest *f = state;
    if (f->rows_held > f->window_size || f->next_slot >= f->slots)
        return oif_fail(error, OIF_EINVARIANT, "the window holds more rows than it has room for");
    if (!oif_none_infinite(oif_column(f, 0), (size_t)f->dimension * f->slots))
        return oif_fail(error, OIF_EINVARIANT, "a row is infinite");
    for (int32_t height = -1; height < (int32_t)f->window_size + 2; height++)
        if (oif_extra_depths(f)[height] != to_depth_units(average_depth(f, height)))
            return oif_fail(error, OIF_EINVARIANT, "the depth added by a height of %d is wrong",
                            height);
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < f->num_trees && status == OIF_OK; tree++)
        status = oif_itree_check(f, tree, error);
    return status;
}

/* ---- Snapshots ---- */

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    forest *f = state;
    size_t nodes = (size_t)f->num_trees << f->depth_limit;
    oif_visit_u32(visitor, "rows_held", &f->rows_held, 1);
    oif_visit_u32(visitor, "next_slot", &f->next_slot, 1);
    oif_visit_f64(visitor, "columns", oif_column(f, 0), (size_t)f->dimension * f->slots);
    oif_visit_u64(visitor, "last_lefts", oif_last_lefts(f), nodes);
    oif_visit_u32(visitor, "features", oif_features(f), nodes);
    oif_visit_u8(visitor, "leaf_at", oif_leaf_at(f), 2 * nodes);
    oif_visit_u8(visitor, "levels", oif_levels(f), f->num_trees);
    oif_visit_u8(visitor, "lane_levels", oif_lane_levels(f), f->num_trees / OIF_LANES + 1);
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        oif_itree_visit_fields(f, tree, visitor);
}

/* Heights under 0 tell of points that were drawn for a cut and never leave, see
 * docs/algorithms/online-iforest.md. */
typedef struct low_leaves {
    uint64_t under_zero;
    int32_t least;
} low_leaves;

static void add_leaves(const forest *f, oif_spot at, oif_tree_figures *figures, low_leaves *low)
{
    if (oif_is_cut(f, at)) {
        add_leaves(f, oif_left(at), figures, low);
        add_leaves(f, oif_right(at), figures, low);
        return;
    }
    int32_t height = oif_leaf_here(f, at)->height;
    oif_figures_add_leaf(figures, at.depth);
    low->under_zero += height < 0;
    low->least = height < low->least ? height : low->least;
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const forest *f = state;
    oif_tree_figures figures = {0};
    low_leaves low = {0, 0};
    uint64_t made = 0, undone = 0;
    for (uint32_t number = 0; number < f->num_trees; number++) {
        const oif_itree *tree = oif_tree(f, number);
        add_leaves(f, oif_root(f, number), &figures, &low);
        oif_figures_end_tree(&figures);
        made += tree->cuts_made, undone += tree->cuts_undone;
    }
    tell(context, "rows_held", f->rows_held);
    oif_figures_tell(&figures, tell, context);
    tell(context, "cuts_made", (double)made);
    tell(context, "cuts_undone", (double)undone);
    tell(context, "leaves_under_0", (double)low.under_zero / (double)figures.leaves);
    tell(context, "under_0_max", -(double)low.least);
}

/* ---- The table ---- */

const oif_detector_kind oif_window_forest = {
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = check,
};
