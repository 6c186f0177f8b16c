/* Online Isolation Forest (Leveni, Cassales, Pfahringer, Bifet, Boracchi, ICML 2024).
 *
 * Every tree is a histogram of the rows in a sliding window. A leaf counts rows; once it holds enough of them it is cut
 * in two at random, and when old rows leave the window and a cut has too few rows left it is undone. Dense regions are
 * cut often, so a row that ends in a shallow leaf lies where data are sparse: it is anomalous.
 *
 * One row passes the trees like this (Algorithm 1): walk to its leaf in every tree, count it there and widen the leaf's
 * box, cut the leaf if it is full; uncount the row that leaves the window, undo cuts if a guard is broken; add up the
 * depths of the leaves that the new row is in now. Cuts and merges are in online_itree.c, as is the layout.
 *
 * A row costs O(num_trees (log2(window_size / max_leaf_samples) + dimension)), a cut O(dimension + window_size).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/online_itree.h"

#include <stdatomic.h>

typedef oif_iforest_state forest;

enum {
    GROUP = 32,             /* trees whose places are kept at a time; a whole number of lanes */
    MAX_CHUNK = 256,        /* rows that threads work on between two meetings */
    ROWS_WORTH_SHARING = 32 /* for fewer, waking the threads costs more than they help */
};

/* ---- Depths and scores ---- */

/* c(n, eta) of the paper: the average depth of a tree of n rows, 0 under eta; half of it in the authors' code. */
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

/* c(height) where the table does not reach: under 0, or above the window when a sibling is under 0. */
static __attribute__((noinline, cold)) uint32_t unusual_extra_depth(const forest *f, int32_t height)
{
    return height < 0 ? 0 : to_depth_units(average_depth(f, height));
}

/* A row's depth: its leaf's, and what the leaf would have below it if it could be cut on. */
OIF_INLINE uint32_t row_depth(const forest *f, const uint32_t *extra_depths, uint32_t heights_known,
                              const oif_leaf *leaf)
{
    int32_t height = leaf->height;
    if ((uint32_t)height < heights_known)
        return leaf->depth + extra_depths[height];
    return leaf->depth + unusual_extra_depth(f, height);
}

/* What a sum of depths over all trees is multiplied with to become the exponent of the score; 0 while the window holds
 * so few rows that no row can be told from another. */
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

/* The leaves that a tree has when every inner node counts its threshold and the nodes of one depth count no more than
 * the window holds. */
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
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .window_size = (uint32_t)oif_params_value(params, "window_size"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .growth = (oif_growth)oif_params_value(params, "growth"),
        .variant = (oif_variant)oif_params_value(params, "variant"),
        .subsample = oif_params_value(params, "subsample"),
    };
    while (oif_depth_allows_cut(&f, f.depth_limit, (int64_t)f.window_size + 1))
        f.depth_limit++;
    return f;
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    forest f = read_params(params);
    if (leaf_bound(&f) <= OIF_MAX_LEAVES)
        return OIF_OK;
    return oif_fail(
        error, OIF_EPARAM,
        "window_size %u is too large for max_leaf_samples %u: a tree could have more than %d leaves; lower "
        "window_size or raise max_leaf_samples",
        f.window_size, f.max_leaf_samples, OIF_MAX_LEAVES);
}

static forest lay_out(const oif_params *params, size_t dimension)
{
    forest f = read_params(params);
    /* Leaves with heights under zero allow more leaves than the bound. Half as many again have always been enough; if
     * they were not, a cut would wait until a merge frees a record. */
    uint64_t roomy = leaf_bound(&f) * 3 / 2, all = UINT64_C(1) << f.depth_limit;
    f.leaf_capacity = (uint32_t)(all < roomy ? all : roomy < OIF_MAX_LEAVES ? roomy : OIF_MAX_LEAVES);
    f.dimension = (uint32_t)dimension;
    f.box_width = (f.dimension * 2 + OIF_BOX_STEP - 1) / OIF_BOX_STEP * OIF_BOX_STEP;
    uint32_t chunk_room = f.window_size / 8 < MAX_CHUNK ? f.window_size / 8 + 1 : MAX_CHUNK;
    f.slots = (f.window_size + chunk_room + OIF_SLOT_BLOCK - 1) / OIF_SLOT_BLOCK * OIF_SLOT_BLOCK;
    f.full_scale = scale_of_window(&f, f.window_size);

    f.tree_bytes = oif_size_align(sizeof(oif_itree));
    f.labels_at = oif_size_append(&f.tree_bytes, f.slots, 1);
    f.leaves_at = oif_size_append(&f.tree_bytes, f.leaf_capacity, sizeof(oif_leaf));
    f.boxes_at = oif_size_append(&f.tree_bytes, f.leaf_capacity, f.box_width * sizeof(double));

    size_t bottom = oif_size_multiply(f.num_trees, (size_t)1 << f.depth_limit);
    f.bytes = oif_size_align(sizeof f);
    f.cuts_at = oif_size_append(&f.bytes, bottom, sizeof(double));
    f.features_at = oif_size_append(&f.bytes, bottom, sizeof(uint32_t));
    f.leaf_at_at = oif_size_append(&f.bytes, bottom, 1);
    f.levels_at = oif_size_append(&f.bytes, f.num_trees, 1);
    f.lane_levels_at = oif_size_append(&f.bytes, f.num_trees / OIF_LANES + 1, 1);
    f.columns_at = oif_size_append(&f.bytes, f.slots, oif_size_multiply(dimension, sizeof(double)));
    f.mirrors_at = oif_size_append(&f.bytes, OIF_POOL_MAX_PARTS, f.box_width * sizeof(double));
    f.extra_depth_at = oif_size_append(&f.bytes, (size_t)f.window_size + 2, sizeof(uint32_t));
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
        oif_cuts(f)[i] = INFINITY;
    for (uint32_t height = 0; height < f->window_size + 2; height++)
        oif_extra_depths(f)[height] = to_depth_units(average_depth(f, height));
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        oif_itree_init(f, tree, (uint64_t)oif_params_value(params, "seed"));
}

/* ---- Walking ---- */

/* Where walks go: the heap, and the leaves below it by the index that a node there would have. */
typedef struct woods {
    const double *cuts;
    const uint32_t *features;
    const uint8_t *bottom;
    uint32_t depth_limit;
} woods;

/* The leaves of a complete row in OIF_LANES trees whose roots begin at node `root`, `levels` of which hold cuts. Walking
 * them side by side hides the latency of the loads. The inner loop unrolls, so that the nodes stay in registers; a
 * function of its own, so that nothing else wants those. */
static __attribute__((noinline)) void walk_lanes(woods in, const double *restrict row, size_t root,
                                                 uint32_t levels, uint8_t *restrict leaves)
{
    const double *restrict cuts = in.cuts;
    const uint32_t *restrict features = in.features;
    size_t at[OIF_LANES];
    for (uint32_t i = 0; i < OIF_LANES; i++)
        at[i] = root + i;
    for (uint32_t level = levels; level > 0; level--)
        for (uint32_t i = 0; i < OIF_LANES; i++)
            at[i] = 2 * at[i] + (row[features[at[i]]] >= cuts[at[i]]);
    for (uint32_t i = 0; i < OIF_LANES; i++)
        leaves[i] = in.bottom[at[i] << (in.depth_limit - levels)];
}

static bool is_complete(const double *row, uint32_t dimension)
{
    unsigned missing = 0;
    for (uint32_t i = 0; i < dimension; i++)
        missing |= row[i] != row[i];
    return !missing;
}

/* The leaves of a row in `count` trees from `first` on. */
static void find_leaves(const forest *f, uint32_t first, uint32_t count, const double *row, bool complete,
                        uint8_t *leaves)
{
    const woods in = {oif_cuts(f), oif_features(f), oif_leaf_at(f) - ((size_t)f->num_trees << f->depth_limit),
                      f->depth_limit};
    uint32_t i = 0;
    for (; complete && i + OIF_LANES <= count; i += OIF_LANES)
        walk_lanes(in, row, f->num_trees + first + i, oif_lane_levels(f)[(first + i) / OIF_LANES],
                   leaves + i);
    for (; i < count; i++)
        leaves[i] = (uint8_t)oif_itree_walk(f, first + i, row);
}

/* ---- Scoring ---- */

static uint64_t sum_depths(const forest *f, const double *row, bool complete)
{
    const uint32_t *const extra_depths = oif_extra_depths(f);
    const uint32_t heights_known = f->window_size + 2, num_trees = f->num_trees;
    const size_t tree_bytes = f->tree_bytes;
    const unsigned char *leaves = oif_part(f, f->trees_at + f->leaves_at);
    uint64_t depth_sum = 0;
    for (uint32_t first = 0; first < num_trees; first += GROUP) {
        uint8_t found[GROUP];
        uint32_t count = num_trees - first < GROUP ? num_trees - first : GROUP;
        find_leaves(f, first, count, row, complete, found);
        for (uint32_t i = 0; i < count; i++, leaves += tree_bytes)
            depth_sum += row_depth(f, extra_depths, heights_known, (const oif_leaf *)leaves + found[i]);
    }
    return depth_sum;
}

typedef struct scoring {
    const forest *forest;
    const oif_rows *rows;
    double *scores;
    unsigned parts;
} scoring;

static void score_part(void *context, unsigned part)
{
    const scoring *s = context;
    const forest *f = s->forest;
    size_t first = s->rows->count * part / s->parts, last = s->rows->count * (part + 1) / s->parts;
    for (size_t i = first; i < last; i++) {
        const double *row = oif_rows_at(s->rows, i);
        bool complete = s->rows->complete || is_complete(row, f->dimension);
        s->scores[i] = score_of(f, sum_depths(f, row, complete), f->rows_held);
    }
}

static void score_rows(const void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    oif_pool *sharing = rows->count < ROWS_WORTH_SHARING ? NULL : pool;
    scoring s = {state, rows, scores, oif_pool_parts(sharing)};
    oif_pool_run(sharing, score_part, &s);
}

/* ---- Learning ---- */

/* One row on its way through the trees. */
typedef struct passage {
    const double *row;
    const double *mirror; /* the row in the shape of a box */
    bool complete;        /* none of its numbers is missing */
    bool forgets;         /* the window is full: a row has to go */
    uint32_t slot;        /* of the ring, for this row */
    uint32_t oldest;      /* of the ring, the row that goes */
} passage;

/* Whether this tree learns the row. */
static bool draw_counted(forest *f, uint32_t tree)
{
    return f->subsample >= 1 || oif_random_unit(&oif_tree(f, tree)->random) < f->subsample;
}

OIF_INLINE void widen_box(double *restrict box, const double *restrict mirror, size_t steps, bool avx2)
{
    (void)avx2;
#if OIF_HAS_AVX2_CODE
    for (size_t step = 0; avx2 && step < steps; step++)
        oif_lower_4_avx2(box + OIF_BOX_STEP * step, mirror + OIF_BOX_STEP * step);
    if (avx2)
        return;
#endif
    for (size_t i = 0; i < OIF_BOX_STEP * steps; i++)
        box[i] = mirror[i] < box[i] ? mirror[i] : box[i];
}

/* Learns the row and forgets the oldest in `count` trees from `first` on, where it falls into the leaves
 * `found`; returns the sum of the depths it has then.
 * Where this is inlined, `simple` is a constant: every tree learns the row, and none of its numbers is missing; and so
 * is `box_steps` for short rows, which makes straight code of the loop over a box. */
OIF_INLINE uint64_t pass_trees(forest *f, uint32_t first, uint32_t count, const passage *passing,
                               const uint8_t *found, bool simple, size_t box_steps, bool avx2)
{
    /* Copies: a store of a label might change anything behind a pointer, so that all would be loaded again. */
    const passage p = *passing;
    const uint32_t *const extra_depths = oif_extra_depths(f);
    const uint32_t heights_known = f->window_size + 2;
    const size_t tree_bytes = f->tree_bytes;
    const size_t labels_at = f->labels_at, leaves_at = f->leaves_at, boxes_at = f->boxes_at;
    unsigned char *block = oif_part(f, f->trees_at + first * tree_bytes);
    uint64_t depth_sum = 0;

    for (uint32_t i = 0; i < count; i++, block += tree_bytes) {
        uint8_t *labels = block + labels_at;
        oif_leaf *leaves = (oif_leaf *)(block + leaves_at);
        uint32_t number = simple || draw_counted(f, first + i) ? found[i] : OIF_NOT_COUNTED;
        labels[p.slot] = (uint8_t)number;
        if (simple || number != OIF_NOT_COUNTED) {
            widen_box((double *)(block + boxes_at) + number * OIF_BOX_STEP * box_steps, p.mirror, box_steps,
                      avx2);
            if (++leaves[number].height >= leaves[number].cut_at)
                oif_itree_cut(f, first + i, number, p.forgets && labels[p.oldest] == number);
        }
        if (p.forgets) {
            uint32_t old = labels[p.oldest];
            if ((simple || old != OIF_NOT_COUNTED) && --leaves[old].height < leaves[old].guard)
                oif_itree_settle(f, first + i, old);
        }
        /* The label has followed every cut and merge. Without one, and where heights decide the way, walk again. */
        number = labels[p.slot];
        if (!simple && (number == OIF_NOT_COUNTED || !p.complete))
            number = oif_itree_walk(f, first + i, p.row);
        depth_sum += row_depth(f, extra_depths, heights_known, &leaves[number]);
    }
    return depth_sum;
}

OIF_INLINE uint64_t pass_simple(forest *f, uint32_t first, uint32_t count, const passage *p,
                                const uint8_t *found, bool avx2)
{
    switch (f->box_width / OIF_BOX_STEP) {
    case 1: return pass_trees(f, first, count, p, found, true, 1, avx2);
    case 2: return pass_trees(f, first, count, p, found, true, 2, avx2);
    case 3: return pass_trees(f, first, count, p, found, true, 3, avx2);
    case 4: return pass_trees(f, first, count, p, found, true, 4, avx2);
    case 5: return pass_trees(f, first, count, p, found, true, 5, avx2);
    case 6: return pass_trees(f, first, count, p, found, true, 6, avx2);
    default: return pass_trees(f, first, count, p, found, true, f->box_width / OIF_BOX_STEP, avx2);
    }
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static uint64_t pass_simple_avx2(forest *f, uint32_t first, uint32_t count, const passage *p,
                                          const uint8_t *found)
{
    return pass_simple(f, first, count, p, found,
                       true); /* boxes four numbers at a time: 12% faster at d = 10 */
}
#endif

static uint64_t pass_group(forest *f, uint32_t first, uint32_t count, const passage *p)
{
    uint8_t found[GROUP];
    find_leaves(f, first, count, p->row, p->complete, found);
    if (!p->complete || f->subsample < 1)
        return pass_trees(f, first, count, p, found, false, f->box_width / OIF_BOX_STEP, false);
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return pass_simple_avx2(f, first, count, p, found);
#endif
    return pass_simple(f, first, count, p, found, false);
}

/* The distance is at most a whole round of the ring. */
static uint32_t slot_after(const forest *f, uint32_t slot, uint32_t distance)
{
    uint32_t after = slot + distance;
    return after >= f->slots ? after - f->slots : after;
}

/* Rows that are put into the ring together; then every part of the pool takes its trees through them, one by one. */
typedef struct chunk {
    forest *forest;
    const oif_rows *rows;
    size_t from;    /* the first row of the chunk ... */
    uint32_t count; /* ... and how many */
    unsigned parts;
    _Atomic uint64_t
        *depth_sums; /* of each row, over the trees; whole numbers, so that the order does not matter */
} chunk;

static void store_chunk(const chunk *c)
{
    forest *f = c->forest;
    for (uint32_t i = 0; i < c->count; i++) {
        const double *row = oif_rows_at(c->rows, c->from + i);
        double *cell = oif_column(f, 0) + slot_after(f, f->next_slot, i);
        for (uint32_t feature = 0; feature < f->dimension; feature++, cell += f->slots)
            *cell = row[feature];
    }
}

static void mirror_row(const forest *f, const double *row, double *mirror)
{
    for (uint32_t i = 0; i < f->dimension; i++) {
        mirror[i] = row[i];
        mirror[f->dimension + i] = -row[i];
    }
}

/* The first tree of a part of the pool: parts take whole lanes. */
static uint32_t first_tree(const forest *f, unsigned part, unsigned parts)
{
    uint32_t lanes = (f->num_trees + OIF_LANES - 1) / OIF_LANES, first = lanes * part / parts * OIF_LANES;
    return first < f->num_trees ? first : f->num_trees;
}

static void learn_part(void *context, unsigned part)
{
    const chunk *c = context;
    forest *f = c->forest;
    double *mirror = (double *)oif_part(f, f->mirrors_at) + (size_t)part * f->box_width;
    const uint32_t begin = first_tree(f, part, c->parts), end = first_tree(f, part + 1, c->parts);
    for (uint32_t i = 0; i < c->count; i++) {
        const double *row = oif_rows_at(c->rows, c->from + i);
        const uint32_t slot = slot_after(f, f->next_slot, i);
        passage p = {.row = row,
                     .mirror = mirror,
                     .complete = c->rows->complete || is_complete(row, f->dimension),
                     .forgets = f->rows_held + i >= f->window_size,
                     .slot = slot,
                     .oldest = slot_after(f, slot, f->slots - f->window_size)};
        uint64_t depth_sum = 0;
        mirror_row(f, row, mirror);
        for (uint32_t first = begin; first < end; first += GROUP)
            depth_sum += pass_group(f, first, end - first < GROUP ? end - first : GROUP, &p);
        if (c->parts == 1)
            atomic_store_explicit(&c->depth_sums[i], depth_sum, memory_order_relaxed);
        else
            atomic_fetch_add_explicit(&c->depth_sums[i], depth_sum, memory_order_relaxed);
    }
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    forest *f = state;
    oif_pool *sharing = rows->count < ROWS_WORTH_SHARING ? NULL : pool;
    const uint32_t room = f->slots - f->window_size < MAX_CHUNK ? f->slots - f->window_size : MAX_CHUNK;
    for (size_t from = 0; from < rows->count;) {
        _Atomic uint64_t depth_sums[MAX_CHUNK];
        uint32_t count = rows->count - from < room ? (uint32_t)(rows->count - from) : room;
        chunk c = {f, rows, from, count, oif_pool_parts(sharing), depth_sums};
        for (uint32_t i = 0; i < count; i++)
            atomic_init(&depth_sums[i], 0);
        store_chunk(&c);
        oif_pool_run(sharing, learn_part, &c);
        for (uint32_t i = 0; i < count; i++) {
            f->rows_held += f->rows_held < f->window_size;
            if (scores)
                scores[from + i] =
                    score_of(f, atomic_load_explicit(&depth_sums[i], memory_order_relaxed), f->rows_held);
        }
        f->next_slot = slot_after(f, f->next_slot, count);
        from += count;
    }
}

/* ---- Questions ---- */

/* A quarter of the window shows the trees' coarse shape. A window that allows no cut never gets anywhere. */
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
    for (uint32_t height = 0; height < f->window_size + 2; height++)
        if (oif_extra_depths(f)[height] != to_depth_units(average_depth(f, height)))
            return oif_fail(error, OIF_EINVARIANT, "the depth added by a height of %u is wrong", height);
    oif_status status = OIF_OK;
    for (uint32_t tree = 0; tree < f->num_trees && status == OIF_OK; tree++)
        status = oif_itree_check(f, tree, error);
    return status;
}

/* ---- Snapshots ---- */

static void tell_fields(void *state, oif_fields *fields)
{
    forest *f = state;
    size_t nodes = (size_t)f->num_trees << f->depth_limit;
    oif_field_u32(fields, "rows_held", &f->rows_held, 1);
    oif_field_u32(fields, "next_slot", &f->next_slot, 1);
    oif_field_f64(fields, "columns", oif_column(f, 0), (size_t)f->dimension * f->slots);
    oif_field_f64(fields, "cuts", oif_cuts(f), nodes);
    oif_field_u32(fields, "features", oif_features(f), nodes);
    oif_field_u8(fields, "leaf_at", oif_leaf_at(f), nodes);
    oif_field_u8(fields, "levels", oif_levels(f), f->num_trees);
    oif_field_u8(fields, "lane_levels", oif_lane_levels(f), f->num_trees / OIF_LANES + 1);
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        oif_itree_tell_fields(f, tree, fields);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const forest *f = state;
    tell(context, "rows_held", f->rows_held);
}

/* ---- The table ---- */

static const char *const growth_words[] = {"adaptive", "fixed", NULL};
static const char *const variant_words[] = {"running", "paper", "reference", NULL};

static const oif_param params_table[] = {
    {"num_trees", "trees in the forest; more give steadier scores", OIF_PARAM_INTEGER, 1, 4096, 32, NULL},
    {"window_size", "rows remembered; older ones are forgotten", OIF_PARAM_INTEGER, 1, 1 << 24, 2048, NULL},
    {"max_leaf_samples", "rows that the first leaf of a tree holds before it is cut", OIF_PARAM_INTEGER, 1,
     1 << 24, 32, NULL},
    {"growth",
     "rows a leaf holds before it is cut: twice as many at each depth (adaptive), or the same (fixed)",
     OIF_PARAM_CHOICE, 0, 1, OIF_ADAPTIVE, growth_words},
    {"variant",
     "depths relative to the rows now in the window (running), as the paper's text (paper) or as the "
     "authors' code (reference)",
     OIF_PARAM_CHOICE, 0, 2, OIF_RUNNING, variant_words},
    {"subsample", "share of the rows that each tree learns", OIF_PARAM_REAL, 0.001, 1, 1, NULL},
    {"seed", "start of the random numbers: same seed and rows, same scores", OIF_PARAM_INTEGER, 0, 0x1p53, 0,
     NULL},
};

const oif_detector_kind oif_online_iforest = {
    .info = {.name = "online-iforest",
             .summary = "trees that grow where rows are dense and shrink where they are forgotten",
             .paper = "Leveni, Cassales, Pfahringer, Bifet, Boracchi: Online Isolation Forest, ICML 2024",
             .cost = "num_trees x (log2(window_size / max_leaf_samples) + d)",
             .choose =
                 "to follow a stream at once: every row is learned as it comes and forgotten in its turn",
             .params = params_table,
             .param_count = sizeof params_table / sizeof params_table[0]},
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .ready = ready,
    .tell_fields = tell_fields,
    .describe = describe,
    .check = check,
};
