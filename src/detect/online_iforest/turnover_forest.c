/* Online Isolation Forest that forgets by turnover: trees only grow, and every few rows the
 * oldest one is emptied.
 *
 * A window forgets row by row, but not all that a row has caused: where a tree was first cut
 * stays for ever, and so do the points that were drawn when it was. Here everything goes with
 * the tree. A new one grows in the shadow until it has seen enough to score; then it takes the
 * place of the oldest (turnover_tree.h tells how they take turns).
 *
 * One row passes all trees: walk to its leaf, count it there and widen the leaf's box, cut the
 * leaf if it is full. Active trees then add the row's depth in relation to the depth to expect
 * of a tree of their age,
 *
 *     s = 2^-( mean over the active trees of (k + c(h)) / c(m) )      k: depth of the leaf, h: its height, m: rows in the tree
 *
 * There is no window, no row to uncount and no cut to undo. A row costs O((num_trees +
 * shadow_trees) (log2(window_size / max_leaf_samples) + dimension)).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "detect/online_iforest/turnover_walk.h"
#include "detect/tree_figures.h"

#include <stdatomic.h>

typedef oif_turnover_state forest;
typedef oif_turnover_ring ring;
typedef oif_traveller traveller;

enum {
    USUAL_LEAF_SAMPLES = 8,
    LANES = OIF_TURNOVER_LANES,
    /* trees whose nodes are kept at a time, a whole number of lanes ... */
    GROUP = 32,
    MAX_GROUP = GROUP + LANES - 1, /* ... and a few more, rather than less than a lane at the end */
    /* numbers; boxes up to this have code of their own for each width */
    SHORT_BOX = 24,
    MAX_CHUNK = 256, /* rows that threads work on between two meetings */
    LONGEST_MIRROR = 2 * OIF_KEYS_KEPT,
    MAX_SCALE_BITS = 26 /* a scale is up to 2^5 and fits 32 bits */
};

/* ---- Creation ---- */

static uint32_t mature_age(const oif_params *params, uint32_t shadow_trees)
{
    uint32_t maturity = (uint32_t)oif_params_value(params, "maturity");
    uint32_t usual = (uint32_t)oif_params_value(params, "window_size") / 4;
    if (maturity > 0)
        return maturity;
    return usual > shadow_trees ? usual : shadow_trees; /* at most one turn a row */
}

static uint64_t greatest_age(const forest *f)
{
    return ((uint64_t)f->tree_count * f->maturity + f->shadow_trees - 1) / f->shadow_trees;
}

static forest read_params(const oif_params *params)
{
    forest f = {
        .forgetting = OIF_FORGET_BY_TURNOVER,
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .shadow_trees = (uint32_t)oif_params_value(params, "shadow_trees"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .growth = (oif_growth)oif_params_value(params, "growth"),
        .ring = {.shadows_begun = 1},
    };
    if (f.max_leaf_samples == 0)
        f.max_leaf_samples = USUAL_LEAF_SAMPLES;
    f.maturity = mature_age(params, f.shadow_trees);
    f.tree_count = f.num_trees + f.shadow_trees;
    f.max_age = (uint32_t)(greatest_age(&f) < OIF_TURNOVER_MAX_AGE ? greatest_age(&f)
                                                                   : OIF_TURNOVER_MAX_AGE);
    while ((uint64_t)f.max_leaf_samples << f.depth_limit < f.max_age)
        f.depth_limit++;
    return f;
}

/* The leaves that a tree could have if every cut counted its threshold and the cuts of each
 * depth all of its rows. */
static uint64_t leaf_bound(const forest *f)
{
    uint64_t cuts = 0;
    for (uint32_t depth = 0; depth < f->depth_limit; depth++) {
        uint64_t nodes = UINT64_C(1) << depth, fed = f->max_age / oif_turnover_threshold(f, depth);
        cuts += nodes < fed ? nodes : fed;
    }
    return cuts + 1;
}

/* With adaptive growth the depths cannot all be at their bounds at once, nor nearly so: half of
 * the sum and three leaves more have always been enough. If they were not, a cut would wait
 * until its tree is replaced. */
static uint64_t leaves_wanted(const forest *f)
{
    uint64_t bound = leaf_bound(f), all = UINT64_C(1) << f->depth_limit;
    uint64_t roomy = f->growth == OIF_ADAPTIVE ? bound / 2 + 3 : bound;
    return all < roomy ? all : roomy;
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    forest f = read_params(params);
    if (oif_params_value(params, "variant") != OIF_RUNNING)
        return oif_fail(
            error, OIF_EPARAM,
            "the variants paper and reference have a window; forgetting=turnover takes running");
    if (oif_params_value(params, "subsample") < 1)
        return oif_fail(
            error, OIF_EPARAM,
            "with forgetting=turnover every tree learns every row: subsample must be 1");
    if (f.maturity < f.shadow_trees)
        return oif_fail(
            error, OIF_EPARAM,
            "maturity %u is too small for %u shadow_trees: at most one tree a row can be replaced",
            f.maturity, f.shadow_trees);
    if (greatest_age(&f) > OIF_TURNOVER_MAX_AGE)
        return oif_fail(
            error, OIF_EPARAM,
            "a tree would learn more than %d rows before it is replaced; lower maturity (or "
            "window_size) or raise shadow_trees",
            OIF_TURNOVER_MAX_AGE);
    if (leaves_wanted(&f) > OIF_TURNOVER_MAX_LEAVES)
        return oif_fail(
            error, OIF_EPARAM,
            "a tree that learns %u rows with max_leaf_samples %u could have more than %d leaves; "
            "lower maturity (or window_size) or raise max_leaf_samples",
            f.max_age, f.max_leaf_samples, OIF_TURNOVER_MAX_LEAVES);
    return OIF_OK;
}

static forest lay_out(const oif_params *params, size_t dimension)
{
    forest f = read_params(params);
    f.leaf_capacity = (uint32_t)leaves_wanted(&f);
    f.dimension = (uint32_t)dimension;
    f.box_width = oif_box_width(f.dimension);
    /* A depth is up to 34 times that to expect. The sum over the trees of such numbers, in
     * depth units and scaled, fits 63 bits. */
    f.scale_bits = MAX_SCALE_BITS;
    while (f.num_trees >> (62 - 6 - OIF_DEPTH_BITS - f.scale_bits) > 0)
        f.scale_bits--;
    f.height_count =
        f.max_age < OIF_TURNOVER_MAX_HEIGHTS ? f.max_age + 1 : OIF_TURNOVER_MAX_HEIGHTS;
    f.age_count = f.max_age < OIF_TURNOVER_MAX_AGES ? f.max_age + 1 : OIF_TURNOVER_MAX_AGES;

    size_t leaves = oif_size_multiply(f.tree_count, f.leaf_capacity);
    f.bytes = oif_size_align(sizeof f);
    f.words_at = oif_size_append(&f.bytes, leaves, OIF_TURNOVER_PAIR_WORDS * sizeof(uint64_t));
    f.extra_depths_at = oif_size_append(&f.bytes, f.height_count, sizeof(uint32_t));
    f.scales_at = oif_size_append(&f.bytes, f.age_count, sizeof(uint32_t));
    f.cut_heights_at = oif_size_append(&f.bytes, f.depth_limit + 1, sizeof(uint32_t));
    f.ages_at = oif_size_append(&f.bytes, f.tree_count, sizeof(uint32_t));
    f.lane_levels_at = oif_size_append(&f.bytes, oif_turnover_lane_count(&f), 1);
    f.trees_at = oif_size_append(&f.bytes, f.tree_count, sizeof(oif_turnover_tree));
    f.leaves_at = oif_size_append(&f.bytes, leaves, sizeof(oif_turnover_leaf));
    f.boxes_at = oif_size_append(&f.bytes, leaves, f.box_width * sizeof(double));
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
    for (uint32_t height = 0; height < f->height_count; height++)
        oif_turnover_extra_depths(f)[height] = oif_turnover_average_depth(f, height);
    for (uint32_t age = 0; age < f->age_count; age++)
        oif_turnover_scales(f)[age] = age > f->maturity ? oif_turnover_scale_at(f, age) : 0;
    for (uint32_t depth = 0; depth <= f->depth_limit; depth++)
        oif_turnover_cut_heights(f)[depth] = oif_turnover_look_at_height(f, depth);
    for (uint32_t tree = 0; tree < f->tree_count; tree++) {
        oif_turnover_tree_at(f, tree)->random =
            oif_random_stream((uint64_t)oif_params_value(params, "seed"), tree);
        oif_turnover_empty(f, tree);
    }
}

/* ---- Depths and scores ---- */

/* c(rows) where the table does not reach. */
static __attribute__((noinline, cold)) uint32_t unusual_depth(const forest *f, uint32_t rows)
{
    return oif_turnover_average_depth(f, rows);
}

OIF_INLINE uint32_t average_depth(const forest *f, uint32_t rows)
{
    return rows < f->height_count ? oif_turnover_extra_depths(f)[rows] : unusual_depth(f, rows);
}

/* What trees add to a row's score: whole numbers, so that it does not matter who adds first. */
typedef struct verdict {
    /* of the depths in relation to those to expect, in units of 2^-(OIF_DEPTH_BITS +
     * scale_bits) */
    uint64_t depth_sum;
    /* that know what depth to expect: none before there are max_leaf_samples rows */
    uint32_t trees;
} verdict;

/* The depth of a row's leaf, and what the leaf would have below it if it could be cut on. */
OIF_INLINE uint64_t relative_depth(uint32_t depth, uint32_t extra, uint32_t scale)
{
    return (((uint64_t)depth << OIF_DEPTH_BITS) + extra) * scale;
}

/* What a tree says about a row that ends in this leaf. Shadows say nothing, nor do trees too
 * young to expect any depth. */
static void add_depth(const forest *f, const ring *now, uint32_t tree,
                      const oif_turnover_leaf *leaf, verdict *v)
{
    if (!oif_turnover_is_active(f, now, tree))
        return;
    uint32_t age = oif_turnover_ages(f)[tree];
    uint32_t scale = age > f->maturity && age < f->age_count ? oif_turnover_scales(f)[age]
                                                             : oif_turnover_scale_at(f, age);
    v->depth_sum += relative_depth(leaf->depth, average_depth(f, leaf->height), scale);
    v->trees += scale > 0;
}

static double score_of(const forest *f, const verdict *v)
{
    if (v->trees == 0)
        return 0.5;
    double whole = (double)(INT64_C(1) << (OIF_DEPTH_BITS + f->scale_bits));
    return oif_exp2(-(double)(int64_t)v->depth_sum / (v->trees * whole));
}

/* ---- Groups of trees ---- */

static uint32_t next_group(uint32_t trees_left)
{
    return trees_left <= MAX_GROUP ? trees_left : GROUP;
}

static oif_turnover_leaf *leaf_standing(const forest *f, uint32_t tree, size_t node)
{
    return oif_turnover_leaf_of(f, tree, oif_turnover_leaf_number(oif_turnover_words(f)[node]));
}

/* ---- Scoring ---- */

/* From row maturity + 1 on, who is older than maturity is active and has its scale in the
 * table. */
static bool table_tells_all(const forest *f, const ring *now)
{
    return f->max_age < f->age_count && f->maturity >= f->max_leaf_samples &&
           now->rows > f->maturity;
}

/* The sum of the relative depths of a row that ends at these nodes, in trees whose scales the
 * table has. */
static uint64_t depths_by_table(const forest *f, uint32_t first, uint32_t count,
                                const size_t *nodes)
{
    const uint32_t *const extra_depths = oif_turnover_extra_depths(f), *const scales =
                                                                           oif_turnover_scales(f);
    const uint32_t *const ages = oif_turnover_ages(f) + first;
    const uint32_t height_count = f->height_count, leaf_capacity = f->leaf_capacity;
    const uint64_t *const words = oif_turnover_words(f);
    const oif_turnover_leaf *leaves = oif_turnover_leaf_of(f, first, 0);
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++, leaves += leaf_capacity) {
        const oif_turnover_leaf *leaf = &leaves[oif_turnover_leaf_number(words[nodes[i]])];
        uint32_t extra = leaf->height < height_count ? extra_depths[leaf->height]
                                                     : unusual_depth(f, leaf->height);
        depth_sum += relative_depth(leaf->depth, extra, scales[ages[i]]);
    }
    return depth_sum;
}

static verdict judge(const forest *f, const traveller *t)
{
    const bool by_table = table_tells_all(f, &f->ring);
    verdict v = {0, by_table ? f->num_trees : 0};
    for (uint32_t first = 0, count; first < f->tree_count; first += count) {
        size_t nodes[MAX_GROUP];
        count = next_group(f->tree_count - first);
        oif_turnover_find_nodes(f, first, count, t, nodes);
        if (by_table)
            v.depth_sum += depths_by_table(f, first, count, nodes);
        for (uint32_t i = 0; i < count && !by_table; i++)
            add_depth(f, &f->ring, first + i, leaf_standing(f, first + i, nodes[i]), &v);
    }
    return v;
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const forest *f = state;
    for (size_t i = 0; i < rows->count; i++) {
        traveller t;
        oif_traveller_set_out(&t, f->dimension, rows, i);
        verdict v = judge(f, &t);
        scores[i] = score_of(f, &v);
    }
}

/* ---- Learning ---- */

/* One row on its way through the trees. Pointers into the forest that are found here stay in
 * registers. */
typedef struct passage {
    const traveller *traveller;
    const double *mirror; /* the row in the shape of a box; NULL for long rows */
    const uint32_t *extra_depths, *cut_heights, *scales;
    const uint64_t *words;
    ring ring; /* as it is for this row */
    /* all ones; 0 where the table of scales does not tell who is active, or how old */
    uint32_t age_mask;
} passage;

/* The rest of what a tree does for a row that it has counted: cuts the leaf if it can be.
 * Returns the node where the row is then. */
static __attribute__((noinline)) size_t finish_tree(forest *f, uint32_t tree, size_t node,
                                                    const passage *p)
{
    oif_turnover_cut(f, tree, node);
    return oif_turnover_is_cut(f, node) ? oif_turnover_step(f, tree, node, p->traveller->row)
                                        : node;
}

static __attribute__((noinline)) void
widen_by_long_row(double *restrict box, const double *restrict row, uint32_t dimension)
{
    double *restrict negatives = box + dimension;
    for (uint32_t i = 0; i < dimension; i++) {
        box[i] = row[i] < box[i] ? row[i] : box[i];
        negatives[i] = -row[i] < negatives[i] ? -row[i] : negatives[i];
    }
}

/* Counts the row in `count` trees from `first` on, where it ends at `nodes`; returns the sum of
 * its relative depths in those whose scales the table has. A tree whose leaf has to be looked
 * at waits until the others are done: with nothing to call, the loop has all registers. Where
 * this is inlined, `box_width` is a constant for short rows, which makes straight code of the
 * loop over a box. */
OIF_INLINE uint64_t pass_trees(forest *f, uint32_t first, uint32_t count, const passage *p,
                               size_t *nodes, const double *mirror, size_t box_width, bool avx2)
{
    const uint32_t *const extra_depths = p->extra_depths, *const cut_heights = p->cut_heights;
    const uint32_t *const scales = p->scales;
    const uint64_t *const words = p->words;
    const size_t leaf_capacity = f->leaf_capacity;
    const uint32_t age_mask = p->age_mask;
    uint32_t *ages = oif_turnover_ages(f) + first;
    oif_turnover_leaf *leaves = oif_turnover_leaf_of(f, first, 0);
    double *boxes = oif_turnover_box_of(f, first, 0);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0;
    uint8_t waiting[MAX_GROUP];

    OIF_BY_TWOS
    for (uint32_t i = 0; i < count;
         i++, leaves += leaf_capacity, boxes += leaf_capacity * box_width) {
        size_t number = oif_turnover_leaf_number(words[nodes[i]]);
        oif_turnover_leaf *leaf = &leaves[number];
        double *box = &boxes[number * box_width];
        uint32_t age = ++ages[i];
        if (mirror)
            oif_box_widen(box, mirror, box_width, avx2);
        else
            widen_by_long_row(box, p->traveller->row, f->dimension);
        if (++leaf->height >= cut_heights[leaf->depth]) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        depth_sum +=
            relative_depth(leaf->depth, extra_depths[leaf->height], scales[age & age_mask]);
    }
    for (uint32_t i = 0; i < waiting_count; i++) {
        uint32_t tree = first + waiting[i];
        size_t *node = &nodes[waiting[i]];
        *node = finish_tree(f, tree, *node, p);
        const oif_turnover_leaf *leaf = leaf_standing(f, tree, *node);
        depth_sum += relative_depth(leaf->depth, average_depth(f, leaf->height),
                                    scales[oif_turnover_ages(f)[tree] & age_mask]);
    }
    return depth_sum;
}

/* For short boxes: an empty box widened by the mirror is its copy, but here the compiler sees
 * that nobody changes it and keeps it in registers. */
OIF_INLINE uint64_t pass_short(forest *f, uint32_t first, uint32_t count, const passage *p,
                               size_t *nodes, size_t box_width, bool avx2)
{
    double mirror[SHORT_BOX];
    for (size_t i = 0; i < box_width; i++)
        mirror[i] = INFINITY;
    oif_box_widen(mirror, p->mirror, box_width, avx2);
    return pass_trees(f, first, count, p, nodes, mirror, box_width, avx2);
}

OIF_INLINE uint64_t pass_any(forest *f, uint32_t first, uint32_t count, const passage *p,
                             size_t *nodes, bool avx2)
{
    if (!p->mirror)
        return pass_trees(f, first, count, p, nodes, NULL, f->box_width, avx2);
    switch (f->box_width) {
    case 4: return pass_short(f, first, count, p, nodes, 4, avx2);
    case 8: return pass_short(f, first, count, p, nodes, 8, avx2);
    case 12: return pass_short(f, first, count, p, nodes, 12, avx2);
    case 16: return pass_short(f, first, count, p, nodes, 16, avx2);
    case 20: return pass_short(f, first, count, p, nodes, 20, avx2);
    case 24: return pass_short(f, first, count, p, nodes, SHORT_BOX, avx2);
    default: return pass_trees(f, first, count, p, nodes, p->mirror, f->box_width, avx2);
    }
}

#if OIF_HAS_AVX2_CODE
OIF_AVX2 static uint64_t pass_any_avx2(forest *f, uint32_t first, uint32_t count, const passage *p,
                                       size_t *nodes)
{
    return pass_any(f, first, count, p, nodes, true);
}
#endif

static uint64_t count_in_trees(forest *f, uint32_t first, uint32_t count, const passage *p,
                               size_t *nodes)
{
#if OIF_HAS_AVX2_CODE
    if (oif_machine_has_avx2())
        return pass_any_avx2(f, first, count, p, nodes);
#endif
    return pass_any(f, first, count, p, nodes, false);
}

static void pass_group(forest *f, uint32_t first, uint32_t count, const passage *p, verdict *v)
{
    size_t nodes[MAX_GROUP];
    oif_turnover_find_nodes(f, first, count, p->traveller, nodes);
    v->depth_sum += count_in_trees(f, first, count, p, nodes);
    for (uint32_t i = 0; i < count && p->age_mask == 0; i++)
        add_depth(f, &p->ring, first + i, leaf_standing(f, first + i, nodes[i]), v);
}

/* Takes a row through the trees from `begin` to `end` that learn. */
static void pass_row(forest *f, const oif_rows *rows, size_t i, const ring *now, uint32_t begin,
                     uint32_t end, verdict *v)
{
    double mirror[LONGEST_MIRROR];
    traveller t;
    passage p = {.traveller = &t,
                 .mirror = mirror,
                 .extra_depths = oif_turnover_extra_depths(f),
                 .cut_heights = oif_turnover_cut_heights(f),
                 .scales = oif_turnover_scales(f),
                 .words = oif_turnover_words(f),
                 .ring = *now,
                 .age_mask = table_tells_all(f, now) ? UINT32_MAX : 0};
    if (f->dimension <= OIF_KEYS_KEPT) {
        oif_traveller_set_out_to_learn(&t, f->dimension, rows, i, mirror);
        for (uint32_t rest = 2 * f->dimension; rest < f->box_width; rest++)
            mirror[rest] = INFINITY;
    } else {
        oif_traveller_take_row(&t, f->dimension, rows, i);
        p.mirror = NULL;
    }
    if (p.age_mask && begin == 0 && end > 0) /* all of them, told by one part */
        v->trees += f->num_trees;
    uint32_t learners = oif_turnover_learners(f, now);
    end = end < learners ? end : learners;
    for (uint32_t first = begin, count; first < end; first += count) {
        count = next_group(end - first);
        pass_group(f, first, count, &p, v);
    }
}

/* A row is coming: empties the tree whose turn it is, if it is one from `begin` to `end`. */
static void prepare_row(forest *f, ring *now, uint32_t begin, uint32_t end)
{
    uint32_t emptied = oif_turnover_ring_advance(f, now);
    if (emptied >= begin && emptied < end)
        oif_turnover_empty(f, emptied);
}

/* Rows that every part of the pool takes its trees through, one by one; each keeps its own
 * account of the ring. */
typedef struct chunk {
    forest *forest;
    const oif_rows *rows;
    size_t from;    /* the first row of the chunk ... */
    uint32_t count; /* ... and how many */
    unsigned parts;
    _Atomic uint64_t *depth_sums; /* of each row: see verdict */
    _Atomic uint32_t *trees;
} chunk;

/* The first tree of a part of the pool: parts take whole lanes. */
static uint32_t first_tree(const forest *f, unsigned part, unsigned parts)
{
    uint32_t first = oif_turnover_lane_count(f) * part / parts * LANES;
    return first < f->tree_count ? first : f->tree_count;
}

static void learn_part(void *context, unsigned part)
{
    const chunk *c = context;
    forest *f = c->forest;
    const uint32_t begin = first_tree(f, part, c->parts), end = first_tree(f, part + 1, c->parts);
    ring now = f->ring;
    for (uint32_t i = 0; i < c->count; i++) {
        verdict v = {0, 0};
        prepare_row(f, &now, begin, end);
        pass_row(f, c->rows, c->from + i, &now, begin, end, &v);
        atomic_fetch_add_explicit(&c->depth_sums[i], v.depth_sum, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->trees[i], v.trees, memory_order_relaxed);
    }
}

static void learn_chunk(chunk *c, double *scores, oif_pool *pool)
{
    forest *f = c->forest;
    for (uint32_t i = 0; i < c->count; i++) {
        atomic_init(&c->depth_sums[i], 0);
        atomic_init(&c->trees[i], 0);
    }
    oif_pool_run(pool, learn_part, c);
    for (uint32_t i = 0; i < c->count; i++) {
        verdict v = {atomic_load_explicit(&c->depth_sums[i], memory_order_relaxed),
                     atomic_load_explicit(&c->trees[i], memory_order_relaxed)};
        (void)oif_turnover_ring_advance(f, &f->ring); /* whose tree is emptied has emptied it */
        if (scores)
            scores[c->from + i] = score_of(f, &v);
    }
}

static void learn_together(forest *f, const oif_rows *rows, double *scores, oif_pool *pool)
{
    _Atomic uint64_t depth_sums[MAX_CHUNK] = {0};
    _Atomic uint32_t trees[MAX_CHUNK] = {0};
    for (size_t from = 0; from < rows->count; from += MAX_CHUNK) {
        uint32_t count =
            rows->count - from < MAX_CHUNK ? (uint32_t)(rows->count - from) : MAX_CHUNK;
        chunk c = {f, rows, from, count, oif_pool_parts(pool), depth_sums, trees};
        learn_chunk(&c, scores, pool);
    }
}

static void learn_alone(forest *f, const oif_rows *rows, double *scores)
{
    for (size_t i = 0; i < rows->count; i++) {
        verdict v = {0, 0};
        prepare_row(f, &f->ring, 0, f->tree_count);
        pass_row(f, rows, i, &f->ring, 0, f->tree_count, &v);
        if (scores)
            scores[i] = score_of(f, &v);
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

/* As with a window: once a tree is as old as a quarter of it, the coarse shape shows. */
static bool ready(const void *state)
{
    const forest *f = state;
    return f->ring.rows >= f->maturity &&
           oif_turnover_ages(f)[f->ring.oldest] > f->max_leaf_samples;
}

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    forest *f = state;
    oif_visit_u32(visitor, "turn", &f->ring.turn, 1);
    oif_visit_u32(visitor, "oldest", &f->ring.oldest, 1);
    oif_visit_u32(visitor, "shadows_begun", &f->ring.shadows_begun, 1);
    oif_visit_u32(visitor, "rows", &f->ring.rows, 1);
    oif_visit_u8(visitor, "lane_levels", oif_turnover_lane_levels(f), oif_turnover_lane_count(f));
    for (uint32_t tree = 0; tree < f->tree_count; tree++)
        oif_turnover_visit_fields(f, tree, visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const forest *f = state;
    oif_tree_figures figures = {0};
    uint64_t made = 0;
    for (uint32_t number = 0; number < f->tree_count; number++) {
        const oif_turnover_tree *tree = oif_turnover_tree_at(f, number);
        made += tree->cuts_made;
        if (!oif_turnover_is_active(f, &f->ring, number))
            continue;
        for (uint32_t leaf = 0; leaf < tree->leaf_count; leaf++)
            oif_figures_add_leaf(&figures, oif_turnover_leaf_of(f, number, leaf)->depth);
        oif_figures_end_tree(&figures);
    }
    tell(context, "rows_held", oif_turnover_ages(f)[f->ring.oldest]);
    tell(context, "rows_in_youngest",
         oif_turnover_ages(f)[oif_turnover_tree_behind(f, &f->ring, f->num_trees - 1)]);
    oif_figures_tell(&figures, tell, context);
    tell(context, "cuts_made", (double)made);
}

/* ---- The table ---- */

const oif_detector_kind oif_turnover_forest = {
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_turnover_check,
};
