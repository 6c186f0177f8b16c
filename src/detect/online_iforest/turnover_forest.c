/* Online Isolation Forest that forgets by turnover: trees only grow, and every few rows the
 * oldest one is emptied.
 *
 * A window forgets row by row, but not all that a row has caused: where a tree was first cut
 * stays forever, and so do the points that were drawn when it was. Here everything goes with
 * the tree. A new one grows in the shadow until it has seen enough to score; then it takes the
 * place of the oldest (turnover_tree.h says how they take turns).
 *
 * One row is learned by all trees: walk to its leaf, count it there and widen the leaf's box,
 * cut the leaf if it is full. Active trees then add the row's depth in relation to the depth to
 * expect of a tree of their age,
 *
 *     s = 2^-( mean over the active trees of (k + c(h)) / c(m) )
 *
 * with k the depth of the leaf, h its height and m the rows in the tree.
 *
 * There is no window, no row to uncount and no cut to undo. A row costs O((num_trees +
 * shadow_trees) (log2(window_size / max_leaf_samples) + dimension)).
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "detect/online_iforest/row_chunk.h"
#include "detect/online_iforest/turnover_walk.h"
#include "detect/tree_figures.h"

/* Each thread has memory for the totals of a chunk, then for a mirror. */
_Static_assert(OIF_ROW_CHUNK_MAX * sizeof(oif_depth_total) +
                       2 * (OIF_KEYED_ROW_MAX_KEYS + 4) * sizeof(double) <=
                   OIF_THREAD_BYTES,
               "a thread has too little memory");

enum {
    USUAL_LEAF_SAMPLES = 8,
    /* trees whose nodes are kept at a time, a whole number of lanes ... */
    GROUP = 32,
    /* ... and a few more, rather than less than a lane at the end */
    MAX_GROUP = GROUP + OIF_LANES - 1,
    MAX_SCALE_BITS = 26 /* a scale is up to 2^5 and fits 32 bits */
};

/* ---- Creation ---- */

static uint32_t mature_age(const oif_params *params, uint32_t shadow_trees)
{
    uint32_t maturity = (uint32_t)oif_params_value(params, "maturity");
    uint32_t usual = (uint32_t)oif_params_value(params, "window_size") / 4;
    if (maturity > 0)
        return maturity;
    return oif_max_u32(usual, shadow_trees); /* at most one turn per row */
}

static uint64_t greatest_age(const oif_turnover_state *forest)
{
    return ((uint64_t)forest->tree_count * forest->maturity + forest->shadow_trees - 1) /
           forest->shadow_trees;
}

static oif_turnover_state read_params(const oif_params *params)
{
    oif_turnover_state forest = {
        .forgetting = OIF_FORGET_BY_TURNOVER,
        .num_trees = (uint32_t)oif_params_value(params, "num_trees"),
        .shadow_trees = (uint32_t)oif_params_value(params, "shadow_trees"),
        .max_leaf_samples = (uint32_t)oif_params_value(params, "max_leaf_samples"),
        .growth = (oif_growth)oif_params_value(params, "growth"),
        .cuts_varying = oif_online_iforest_inserts(params),
        .ring = {.shadows_begun = 1},
    };
    if (forest.max_leaf_samples == 0)
        forest.max_leaf_samples = USUAL_LEAF_SAMPLES;
    forest.maturity = mature_age(params, forest.shadow_trees);
    forest.tree_count = forest.num_trees + forest.shadow_trees;
    forest.max_age = (uint32_t)oif_min_u64(greatest_age(&forest), OIF_TURNOVER_MAX_AGE);
    while ((uint64_t)forest.max_leaf_samples << forest.depth_limit < forest.max_age)
        forest.depth_limit++;
    return forest;
}

/* The leaves that a tree could have if every cut counted its threshold and the cuts of each
 * depth all of its rows. */
static uint64_t leaf_bound(const oif_turnover_state *forest)
{
    uint64_t cuts = 0;
    for (uint32_t depth = 0; depth < forest->depth_limit; depth++) {
        uint64_t nodes = UINT64_C(1) << depth,
                 fed = forest->max_age / oif_turnover_threshold(forest, depth);
        cuts += oif_min_u64(nodes, fed);
    }
    return cuts + 1;
}

/* With adaptive growth the depths cannot all be at their bounds at once, nor nearly so: half of
 * the sum and three leaves more have always been enough. If they were not, a cut would wait
 * until its tree is replaced. */
static uint64_t leaves_wanted(const oif_turnover_state *forest)
{
    uint64_t bound = leaf_bound(forest), all = UINT64_C(1) << forest->depth_limit;
    uint64_t roomy = forest->growth == OIF_ADAPTIVE ? bound / 2 + 3 : bound;
    return oif_min_u64(all, roomy);
}

static oif_status check_params(const oif_params *params, oif_error *error)
{
    oif_turnover_state forest = read_params(params);
    if (oif_params_value(params, "variant") != OIF_RUNNING)
        return oif_fail(
            error, OIF_EPARAM,
            "the variants paper and reference have a window; forgetting=turnover takes running");
    if (oif_params_value(params, "subsample") < 1)
        return oif_fail(
            error, OIF_EPARAM,
            "with forgetting=turnover every tree learns every row: subsample must be 1");
    if (forest.maturity < forest.shadow_trees)
        return oif_fail(
            error, OIF_EPARAM,
            "maturity %u is too small for %u shadow_trees: at most one tree a row can be replaced",
            forest.maturity, forest.shadow_trees);
    if (greatest_age(&forest) > OIF_TURNOVER_MAX_AGE)
        return oif_fail(error, OIF_EPARAM,
                        "a tree would learn more than %d rows before it is replaced; lower "
                        "maturity (or window_size) or raise shadow_trees",
                        OIF_TURNOVER_MAX_AGE);
    if (leaves_wanted(&forest) > OIF_TURNOVER_MAX_LEAVES)
        return oif_fail(error, OIF_EPARAM,
                        "a tree that learns %u rows with max_leaf_samples %u could have more than "
                        "%d leaves; lower maturity (or window_size) or raise max_leaf_samples",
                        forest.max_age, forest.max_leaf_samples, OIF_TURNOVER_MAX_LEAVES);
    return OIF_OK;
}

/* Numbers of a mirror; longer rows have none. */
static uint32_t mirror_width(const oif_turnover_state *forest)
{
    return forest->dimension <= OIF_KEYED_ROW_MAX_KEYS ? forest->box_width : 0;
}

static oif_turnover_state lay_out(const oif_params *params, size_t dimension)
{
    oif_turnover_state forest = read_params(params);
    forest.leaf_capacity = (uint32_t)leaves_wanted(&forest);
    forest.dimension = (uint32_t)dimension;
    forest.box_width = oif_box_width(forest.dimension);
    /* A depth is up to 34 times that to expect. The sum over the trees of such numbers, in
     * depth units and scaled, fits 63 bits. */
    forest.scale_bits = MAX_SCALE_BITS;
    while (forest.num_trees >> (62 - 6 - OIF_DEPTH_BITS - forest.scale_bits) > 0)
        forest.scale_bits--;
    forest.height_count = oif_min_u32(forest.max_age + 1, OIF_TURNOVER_MAX_HEIGHTS);
    forest.age_count = oif_min_u32(forest.max_age + 1, OIF_TURNOVER_MAX_AGES);

    size_t leaves = oif_size_multiply(forest.tree_count, forest.leaf_capacity);
    forest.bytes = oif_size_align(sizeof forest);
    forest.words_at =
        oif_size_append(&forest.bytes, leaves, OIF_TURNOVER_PAIR_WORDS * sizeof(uint64_t));
    forest.extra_depths_at = oif_size_append(&forest.bytes, forest.height_count, sizeof(uint32_t));
    forest.scales_at = oif_size_append(&forest.bytes, forest.age_count, sizeof(uint32_t));
    forest.cut_heights_at =
        oif_size_append(&forest.bytes, forest.depth_limit + 1, sizeof(uint32_t));
    forest.ages_at = oif_size_append(&forest.bytes, forest.tree_count, sizeof(uint32_t));
    forest.lane_levels_at = oif_size_append(&forest.bytes, oif_turnover_lane_count(&forest), 1);
    forest.trees_at = oif_size_append(&forest.bytes, forest.tree_count, sizeof(oif_turnover_tree));
    forest.leaves_at = oif_size_append(&forest.bytes, leaves, sizeof(oif_turnover_leaf));
    forest.boxes_at = oif_size_append(&forest.bytes, leaves, forest.box_width * sizeof(double));
    forest.mirror_at = oif_size_append(&forest.bytes, mirror_width(&forest), sizeof(double));
    return forest;
}

/* The average depth of a tree of average age: trees of all ages up to max_age score. */
static double insertion_depth(const oif_params *params)
{
    oif_turnover_state forest = read_params(params);
    return oif_log2(forest.max_age / 2.0 / forest.max_leaf_samples);
}

static size_t state_bytes(const oif_params *params, size_t dimension)
{
    return lay_out(params, dimension).bytes;
}

static void init(void *state, const oif_params *params, size_t dimension)
{
    oif_turnover_state *forest = state;
    *forest = lay_out(params, dimension);
    for (uint32_t height = 0; height < forest->height_count; height++)
        oif_turnover_extra_depths(forest)[height] = oif_turnover_average_depth(forest, height);
    for (uint32_t age = 0; age < forest->age_count; age++)
        oif_turnover_scales(forest)[age] =
            age > forest->maturity ? oif_turnover_scale_at(forest, age) : 0;
    for (uint32_t depth = 0; depth <= forest->depth_limit; depth++)
        oif_turnover_cut_heights(forest)[depth] = oif_turnover_look_at_height(forest, depth);
    for (uint32_t tree = 0; tree < forest->tree_count; tree++) {
        oif_turnover_tree_at(forest, tree)->random =
            oif_random_stream((uint64_t)oif_params_value(params, "seed"), tree);
        oif_turnover_empty(forest, tree);
    }
}

/* ---- Depths and scores ---- */

/* c(rows) where the table does not reach. */
static __attribute__((noinline, cold)) uint32_t unusual_depth(const oif_turnover_state *forest,
                                                              uint32_t rows)
{
    return oif_turnover_average_depth(forest, rows);
}

OIF_INLINE uint32_t average_depth(const oif_turnover_state *forest, uint32_t rows)
{
    return rows < forest->height_count ? oif_turnover_extra_depths(forest)[rows]
                                       : unusual_depth(forest, rows);
}

/* Depth sums are of depths in relation to those to expect, in units of 2^-(OIF_DEPTH_BITS +
 * scale_bits). The trees of a total are those that know what depth to expect: none before there
 * are max_leaf_samples rows. */

/* The depth of a row's leaf, and what the leaf would have below it if it could be cut on. */
OIF_INLINE uint64_t relative_depth(uint32_t depth, uint32_t extra, uint32_t scale)
{
    return (((uint64_t)depth << OIF_DEPTH_BITS) + extra) * scale;
}

/* Adds what a tree contributes for a row that ends in this leaf: nothing from shadows and from
 * trees too young to expect any depth. */
static void add_depth(const oif_turnover_state *forest, const oif_turnover_ring *now, uint32_t tree,
                      const oif_turnover_leaf *leaf, oif_depth_total *total)
{
    if (!oif_turnover_is_active(forest, now, tree))
        return;
    uint32_t age = oif_turnover_ages(forest)[tree];
    uint32_t scale = age > forest->maturity && age < forest->age_count
                         ? oif_turnover_scales(forest)[age]
                         : oif_turnover_scale_at(forest, age);
    total->depth_sum += relative_depth(leaf->depth, average_depth(forest, leaf->height), scale);
    total->trees += scale > 0;
}

static double score_of(const oif_turnover_state *forest, const oif_depth_total *total)
{
    if (total->trees == 0)
        return 0.5;
    double whole = (double)(INT64_C(1) << (OIF_DEPTH_BITS + forest->scale_bits));
    return oif_exp2(-(double)(int64_t)total->depth_sum / (total->trees * whole));
}

/* ---- Groups of trees ---- */

static uint32_t next_group(uint32_t trees_left)
{
    return trees_left <= MAX_GROUP ? trees_left : GROUP;
}

static oif_turnover_leaf *leaf_of_node(const oif_turnover_state *forest, uint32_t tree, size_t node)
{
    return oif_turnover_leaf_of(forest, tree,
                                oif_turnover_leaf_number(oif_turnover_words(forest)[node]));
}

/* ---- Scoring ---- */

/* From row maturity + 1 on, a tree older than maturity is active and has its scale in the
 * table. */
static bool table_has_all_scales(const oif_turnover_state *forest, const oif_turnover_ring *now)
{
    return forest->max_age < forest->age_count && forest->maturity >= forest->max_leaf_samples &&
           now->rows > forest->maturity;
}

/* The sum of the relative depths of a row that ends at these nodes, in trees whose scales the
 * table has. */
static uint64_t depths_by_table(const oif_turnover_state *forest, uint32_t first, uint32_t count,
                                const size_t *nodes)
{
    const uint32_t *const extra_depths = oif_turnover_extra_depths(forest), *const scales =
                                                                                oif_turnover_scales(
                                                                                    forest);
    const uint32_t *const ages = oif_turnover_ages(forest) + first;
    const uint32_t height_count = forest->height_count, leaf_capacity = forest->leaf_capacity;
    const uint64_t *const words = oif_turnover_words(forest);
    const oif_turnover_leaf *leaves = oif_turnover_leaf_of(forest, first, 0);
    uint64_t depth_sum = 0;
    for (uint32_t i = 0; i < count; i++, leaves += leaf_capacity) {
        const oif_turnover_leaf *leaf = &leaves[oif_turnover_leaf_number(words[nodes[i]])];
        uint32_t extra = leaf->height < height_count ? extra_depths[leaf->height]
                                                     : unusual_depth(forest, leaf->height);
        depth_sum += relative_depth(leaf->depth, extra, scales[ages[i]]);
    }
    return depth_sum;
}

/* What the trees from `begin` to `end` contribute for a row; the first ones count all of them. */
OIF_INLINE oif_depth_total sum_depths(const oif_turnover_state *forest,
                                      const oif_turnover_ring *now, const oif_keyed_row *row,
                                      uint32_t begin, uint32_t end)
{
    const bool by_table = table_has_all_scales(forest, now);
    oif_depth_total total = {0, by_table && begin == 0 && end > 0 ? forest->num_trees : 0};
    for (uint32_t first = begin, count; first < end; first += count) {
        size_t nodes[MAX_GROUP];
        count = next_group(end - first);
        oif_turnover_find_nodes(forest, first, count, row, nodes);
        if (by_table)
            total.depth_sum += depths_by_table(forest, first, count, nodes);
        for (uint32_t i = 0; i < count && !by_table; i++)
            add_depth(forest, now, first + i, leaf_of_node(forest, first + i, nodes[i]), &total);
    }
    return total;
}

static void score_rows(const void *state, const oif_rows *rows, double *scores)
{
    const oif_turnover_state *forest = state;
    for (size_t i = 0; i < rows->count; i++) {
        oif_keyed_row row;
        oif_keyed_row_init(&row, forest->dimension, rows, i);
        oif_depth_total total = sum_depths(forest, &forest->ring, &row, 0, forest->tree_count);
        scores[i] = score_of(forest, &total);
    }
}

/* ---- Learning ---- */

/* What all trees need to learn one row. Pointers into the forest that are found here stay in
 * registers. */
typedef struct row_visit {
    const oif_keyed_row *row;
    const double *mirror; /* the row in the shape of a box; NULL for long rows */
    /* by the height of a leaf that has counted the row; with scores_first what it had before */
    const uint32_t *extra_depths;
    const uint32_t *cut_heights;
    const uint32_t *scales; /* by the age of a tree, in the same way */
    const uint64_t *words;
    bool scores_first;      /* depths are those before the row is counted */
    oif_turnover_ring ring; /* as it is for this row */
    /* all ones; 0 where the table of scales does not have the scales of all trees */
    uint32_t age_mask;
} row_visit;

/* The rest of what a tree does for a row that it has counted: cuts the leaf if it can be.
 * `node` becomes the one where the row is then. Returns the row's relative depth, there or with
 * scores_first before it was counted. */
static __attribute__((noinline)) uint64_t reshape_tree(oif_turnover_state *forest, uint32_t tree,
                                                       size_t *node, const row_visit *visit)
{
    const uint32_t scale = visit->scales[oif_turnover_ages(forest)[tree] & visit->age_mask];
    const oif_turnover_leaf *leaf = leaf_of_node(forest, tree, *node);
    uint64_t before = 0;
    if (visit->scores_first)
        before = relative_depth(leaf->depth, average_depth(forest, leaf->height - 1), scale);
    oif_turnover_cut(forest, tree, *node);
    if (oif_turnover_is_cut(forest, *node))
        *node = oif_turnover_step(forest, tree, *node, visit->row->values);
    if (visit->scores_first)
        return before;
    leaf = leaf_of_node(forest, tree, *node);
    return relative_depth(leaf->depth, average_depth(forest, leaf->height), scale);
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
 * its relative depths, then or before, in those whose scales the table has. A tree whose leaf
 * has to be looked at waits until the others are done: with nothing to call, the loop has all
 * registers. Where this is inlined, `box_width` is a constant for short rows, which makes straight
 * code of the loop over a box. */
OIF_INLINE uint64_t learn_in_trees(oif_turnover_state *forest, uint32_t first, uint32_t count,
                                   const row_visit *visit, size_t *nodes, const double *mirror,
                                   size_t box_width, bool avx2)
{
    const uint32_t *const extra_depths = visit->extra_depths, *const cut_heights =
                                                                  visit->cut_heights;
    const uint32_t *const scales = visit->scales;
    const uint64_t *const words = visit->words;
    const size_t leaf_capacity = forest->leaf_capacity;
    const uint32_t age_mask = visit->age_mask;
    uint32_t *ages = oif_turnover_ages(forest) + first;
    oif_turnover_leaf *leaves = oif_turnover_leaf_of(forest, first, 0);
    double *boxes = oif_turnover_box_of(forest, first, 0);
    uint64_t depth_sum = 0;
    uint32_t waiting_count = 0;
    uint8_t waiting[MAX_GROUP];

    OIF_UNROLL_2
    for (uint32_t i = 0; i < count;
         i++, leaves += leaf_capacity, boxes += leaf_capacity * box_width) {
        size_t number = oif_turnover_leaf_number(words[nodes[i]]);
        oif_turnover_leaf *leaf = &leaves[number];
        double *box = &boxes[number * box_width];
        uint32_t age = ++ages[i];
        if (mirror)
            oif_box_widen(box, mirror, box_width, avx2);
        else
            widen_by_long_row(box, visit->row->values, forest->dimension);
        if (++leaf->height >= cut_heights[leaf->depth]) {
            waiting[waiting_count++] = (uint8_t)i;
            continue;
        }
        depth_sum +=
            relative_depth(leaf->depth, extra_depths[leaf->height], scales[age & age_mask]);
    }
    for (uint32_t i = 0; i < waiting_count; i++)
        depth_sum += reshape_tree(forest, first + waiting[i], &nodes[waiting[i]], visit);
    return depth_sum;
}

/* For short boxes: an empty box widened by the mirror is its copy, but here the compiler sees
 * that nothing changes it and keeps it in registers. */
OIF_INLINE uint64_t learn_in_trees_fixed_width(oif_turnover_state *forest, uint32_t first,
                                               uint32_t count, const row_visit *visit,
                                               size_t *nodes, size_t box_width, bool avx2)
{
    double mirror[OIF_SHORT_BOX];
    for (size_t i = 0; i < box_width; i++)
        mirror[i] = INFINITY;
    oif_box_widen(mirror, visit->mirror, box_width, avx2);
    return learn_in_trees(forest, first, count, visit, nodes, mirror, box_width, avx2);
}

OIF_INLINE uint64_t learn_in_trees_any_width(oif_turnover_state *forest, uint32_t first,
                                             uint32_t count, const row_visit *visit, size_t *nodes,
                                             bool avx2)
{
    if (!visit->mirror)
        return learn_in_trees(forest, first, count, visit, nodes, NULL, forest->box_width, avx2);
    switch (forest->box_width) {
    case 4: return learn_in_trees_fixed_width(forest, first, count, visit, nodes, 4, avx2);
    case 8: return learn_in_trees_fixed_width(forest, first, count, visit, nodes, 8, avx2);
    case 12: return learn_in_trees_fixed_width(forest, first, count, visit, nodes, 12, avx2);
    case 16: return learn_in_trees_fixed_width(forest, first, count, visit, nodes, 16, avx2);
    case 20: return learn_in_trees_fixed_width(forest, first, count, visit, nodes, 20, avx2);
    case 24:
        return learn_in_trees_fixed_width(forest, first, count, visit, nodes, OIF_SHORT_BOX, avx2);
    default:
        return learn_in_trees(forest, first, count, visit, nodes, visit->mirror, forest->box_width,
                              avx2);
    }
}

OIF_AVX2 static uint64_t learn_in_trees_avx2(oif_turnover_state *forest, uint32_t first,
                                             uint32_t count, const row_visit *visit, size_t *nodes)
{
    return learn_in_trees_any_width(forest, first, count, visit, nodes, true);
}

static uint64_t learn_in_trees_of_group(oif_turnover_state *forest, uint32_t first, uint32_t count,
                                        const row_visit *visit, size_t *nodes)
{
    if (oif_machine_has_avx2())
        return learn_in_trees_avx2(forest, first, count, visit, nodes);
    return learn_in_trees_any_width(forest, first, count, visit, nodes, false);
}

static void learn_in_group(oif_turnover_state *forest, uint32_t first, uint32_t count,
                           const row_visit *visit, oif_depth_total *total)
{
    size_t nodes[MAX_GROUP];
    oif_turnover_find_nodes(forest, first, count, visit->row, nodes);
    total->depth_sum += learn_in_trees_of_group(forest, first, count, visit, nodes);
    for (uint32_t i = 0; i < count && visit->age_mask == 0; i++)
        add_depth(forest, &visit->ring, first + i, leaf_of_node(forest, first + i, nodes[i]),
                  total);
}

/* The trees that a thread learns in. */
typedef struct tree_part {
    uint32_t begin, end;
    double *mirror; /* of a row; box_width numbers */
} tree_part;

/* Learns a row in those trees of a part that learn. With scores_first the table must
 * have all scales, and the total is that before; no tree may have been emptied for this row. */
OIF_INLINE void learn_row(oif_turnover_state *forest, const oif_rows *rows, size_t i,
                          const oif_turnover_ring *now, bool scores_first, const tree_part *part,
                          oif_depth_total *total)
{
    double *mirror = part->mirror;
    oif_keyed_row row;
    row_visit visit = {.row = &row,
                       .mirror = mirror,
                       .extra_depths = oif_turnover_extra_depths(forest) - scores_first,
                       .cut_heights = oif_turnover_cut_heights(forest),
                       .scales = oif_turnover_scales(forest) - scores_first,
                       .words = oif_turnover_words(forest),
                       .scores_first = scores_first,
                       .ring = *now,
                       .age_mask = table_has_all_scales(forest, now) ? UINT32_MAX : 0};
    if (forest->dimension <= OIF_KEYED_ROW_MAX_KEYS) {
        oif_keyed_row_init_mirrored(&row, forest->dimension, rows, i, mirror);
        for (uint32_t rest = 2 * forest->dimension; rest < forest->box_width; rest++)
            mirror[rest] = INFINITY;
    } else {
        oif_keyed_row_init_without_keys(&row, forest->dimension, rows, i);
        visit.mirror = NULL;
    }
    if (visit.age_mask && part->begin == 0 && part->end > 0) /* all of them, counted by one part */
        total->trees += forest->num_trees;
    const uint32_t end = oif_min_u32(part->end, oif_turnover_learners(forest, now));
    for (uint32_t first = part->begin, count; first < end; first += count) {
        count = next_group(end - first);
        learn_in_group(forest, first, count, &visit, total);
    }
}

/* A row is coming: empties the tree whose turn it is, if it is one of the part. */
static void prepare_row(oif_turnover_state *forest, oif_turnover_ring *now, const tree_part *part)
{
    uint32_t emptied = oif_turnover_ring_advance(forest, now);
    if (emptied >= part->begin && emptied < part->end)
        oif_turnover_empty(forest, emptied);
}

/* A function of its own, so the keys of a row are on the stack only once. */
static __attribute__((noinline)) oif_depth_total score_row(const oif_turnover_state *forest,
                                                           const oif_rows *rows, size_t i,
                                                           const oif_turnover_ring *now,
                                                           const tree_part *part)
{
    oif_keyed_row row;
    oif_keyed_row_init(&row, forest->dimension, rows, i);
    return sum_depths(forest, now, &row, part->begin, part->end);
}

/* Scores a row by the trees of a part and then learns it there. One walk does both, unless the row
 * has a tree emptied that scores it, or the forest is new. */
static void score_learn_row(oif_turnover_state *forest, const oif_rows *rows, size_t i,
                            oif_turnover_ring *now, const tree_part *part, oif_depth_total *total)
{
    oif_turnover_ring next = *now;
    const bool keeps_trees = oif_turnover_ring_advance(forest, &next) == forest->tree_count;
    if (keeps_trees && table_has_all_scales(forest, now)) {
        *now = next;
        learn_row(forest, rows, i, now, true, part, total);
        return;
    }
    oif_depth_total after = {0, 0};
    *total = score_row(forest, rows, i, now, part);
    prepare_row(forest, now, part);
    learn_row(forest, rows, i, now, false, part, &after);
}

/* Every part of the pool keeps its own account of the ring. */
static void learn_part(void *context, unsigned number)
{
    oif_row_chunk *chunk = context;
    oif_turnover_state *forest = chunk->forest;
    oif_depth_total *totals = oif_row_chunk_totals(chunk, number);
    const tree_part part = {oif_row_chunk_first_tree(chunk, forest->tree_count, number),
                            oif_row_chunk_first_tree(chunk, forest->tree_count, number + 1),
                            (double *)(totals + OIF_ROW_CHUNK_MAX)};
    oif_turnover_ring now = forest->ring;
    for (uint32_t i = 0; i < chunk->count; i++) {
        oif_depth_total *total = &totals[i];
        *total = (oif_depth_total){0, 0};
        if (chunk->scores_first) {
            score_learn_row(forest, chunk->rows, chunk->from + i, &now, &part, total);
        } else {
            prepare_row(forest, &now, &part);
            learn_row(forest, chunk->rows, chunk->from + i, &now, false, &part, total);
        }
    }
    oif_row_chunk_add(chunk, totals);
}

/* The ring turns once more; the part that has the emptied tree has emptied it. */
static double finish_row(void *state, bool scores_first, oif_depth_total total)
{
    oif_turnover_state *forest = state;
    (void)scores_first; /* a score follows from the total alone */
    (void)oif_turnover_ring_advance(forest, &forest->ring);
    return score_of(forest, &total);
}

static void learn_together(oif_turnover_state *forest, const oif_rows *rows, double *scores,
                           bool scores_first, oif_pool *pool)
{
    static const oif_row_chunk_steps steps = {NULL, learn_part, finish_row};
    oif_row_chunk_learn(forest, &steps, OIF_ROW_CHUNK_MAX, rows, scores, scores_first, pool);
}

static tree_part all_trees(const oif_turnover_state *forest)
{
    return (tree_part){0, forest->tree_count, oif_turnover_mirror(forest)};
}

static void clear_mirror(const oif_turnover_state *forest)
{
    memset(oif_turnover_mirror(forest), 0, mirror_width(forest) * sizeof(double));
}

OIF_INLINE void learn_alone(oif_turnover_state *forest, const oif_rows *rows, double *scores)
{
    const tree_part all = all_trees(forest);
    for (size_t i = 0; i < rows->count; i++) {
        oif_depth_total total = {0, 0};
        prepare_row(forest, &forest->ring, &all);
        learn_row(forest, rows, i, &forest->ring, false, &all, &total);
        if (scores)
            scores[i] = score_of(forest, &total);
    }
    clear_mirror(forest);
}

static void score_learn_alone(oif_turnover_state *forest, const oif_rows *rows, double *scores)
{
    const tree_part all = all_trees(forest);
    for (size_t i = 0; i < rows->count; i++) {
        oif_depth_total total = {0, 0};
        score_learn_row(forest, rows, i, &forest->ring, &all, &total);
        scores[i] = score_of(forest, &total);
    }
    clear_mirror(forest);
}

static void learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    if (oif_row_chunk_is_worth(rows, pool))
        learn_together(state, rows, scores, false, pool);
    else
        learn_alone(state, rows, scores);
}

static void score_learn_rows(void *state, const oif_rows *rows, double *scores, oif_pool *pool)
{
    if (oif_row_chunk_is_worth(rows, pool))
        learn_together(state, rows, scores, true, pool);
    else
        score_learn_alone(state, rows, scores);
}

/* ---- Questions ---- */

/* As with a window: once a tree is as old as a quarter of it, the coarse shape shows. */
static bool ready(const void *state)
{
    const oif_turnover_state *forest = state;
    return forest->ring.rows >= forest->maturity &&
           oif_turnover_ages(forest)[forest->ring.oldest] > forest->max_leaf_samples;
}

static void visit_fields(void *state, oif_state_visitor *visitor)
{
    oif_turnover_state *forest = state;
    oif_visit_u32(visitor, "turn", &forest->ring.turn, 1);
    oif_visit_u32(visitor, "oldest", &forest->ring.oldest, 1);
    oif_visit_u32(visitor, "shadows_begun", &forest->ring.shadows_begun, 1);
    oif_visit_u32(visitor, "rows", &forest->ring.rows, 1);
    oif_visit_u8(visitor, "lane_levels", oif_turnover_lane_levels(forest),
                 oif_turnover_lane_count(forest));
    for (uint32_t tree = 0; tree < forest->tree_count; tree++)
        oif_turnover_visit_fields(forest, tree, visitor);
}

static void describe(const void *state, oif_describe_function tell, void *context)
{
    const oif_turnover_state *forest = state;
    oif_tree_figures figures = {0};
    uint64_t made = 0;
    for (uint32_t number = 0; number < forest->tree_count; number++) {
        const oif_turnover_tree *tree = oif_turnover_tree_at(forest, number);
        made += tree->cuts_made;
        if (!oif_turnover_is_active(forest, &forest->ring, number))
            continue;
        for (uint32_t leaf = 0; leaf < tree->leaf_count; leaf++)
            oif_figures_add_leaf(&figures, oif_turnover_leaf_of(forest, number, leaf)->depth);
        oif_figures_end_tree(&figures);
    }
    tell(context, "rows_held", oif_turnover_ages(forest)[forest->ring.oldest]);
    tell(context, "rows_in_youngest",
         oif_turnover_ages(
             forest)[oif_turnover_tree_behind(forest, &forest->ring, forest->num_trees - 1)]);
    oif_figures_tell(&figures, tell, context);
    tell(context, "cuts_made", (double)made);
}

/* ---- The table ---- */

const oif_detector_kind oif_turnover_forest = {
    .check_params = check_params,
    .state_bytes = state_bytes,
    .init = init,
    .insertion_depth = insertion_depth,
    .learn_rows = learn_rows,
    .score_rows = score_rows,
    .score_learn_rows = score_learn_rows,
    .ready = ready,
    .visit_fields = visit_fields,
    .describe = describe,
    .check = oif_turnover_check,
};
