/* Making the trees of rolling-iforest, walking them, and figures about them. rolling_grow.c
 * grows them. */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/memory.h"
#include "base/stable_math.h"
#include "base/vector.h"
#include "detect/isolation.h"

#include <float.h>
#include <string.h>

enum { LANES = 4, TREES_AT_ONCE = 2 * LANES };

/* ---- Creation ---- */

/* The most inner nodes that a tree can have. Those of one level share the rows, so there are
 * few on each; and every cut sets at least one row apart. */
static uint32_t most_nodes(const oif_rolling_shape *shape)
{
    uint32_t least_rows = shape->max_leaf_samples < 2 ? 2 : shape->max_leaf_samples;
    uint32_t on_a_level = shape->sample_size / least_rows, most = 0;
    if (on_a_level == 0)
        return 1; /* none; but room that is no room would be a special case */
    for (uint32_t depth = 0; depth < shape->max_depth; depth++)
        most += depth < 31 ? oif_min_u32(UINT32_C(1) << depth, on_a_level) : on_a_level;
    return oif_min_u32(most, shape->sample_size - least_rows + 1);
}

oif_rolling_trees oif_rolling_lay_out(const oif_rolling_shape *shape, size_t dimension)
{
    oif_rolling_trees trees = {
        .shape = *shape, .dimension = (uint32_t)dimension, .node_capacity = most_nodes(shape)};
    const size_t averages = (size_t)shape->sample_size + 1;
    trees.bytes = oif_size_align(sizeof trees);
    trees.nodes_at =
        oif_size_append(&trees.bytes, oif_size_multiply(shape->num_trees, trees.node_capacity),
                        sizeof(oif_rolling_node));
    trees.roots_at = oif_size_append(&trees.bytes, shape->num_trees, sizeof(uint16_t));
    trees.rows_at = oif_size_append(&trees.bytes, shape->num_trees, sizeof(uint16_t));
    trees.averages_at = oif_size_append(&trees.bytes, averages, sizeof(double));
    trees.scales_at = oif_size_append(&trees.bytes, averages, sizeof(double));
    trees.numbers_at = oif_size_append(&trees.bytes, shape->sample_size, sizeof(double));
    trees.spare_at = oif_size_append(&trees.bytes, shape->sample_size, sizeof(size_t));
    return trees;
}

void oif_rolling_init(oif_rolling_trees *trees, const oif_rolling_trees *head)
{
    *trees = *head;
    double *averages = oif_block_part(trees, trees->averages_at),
           *scales = oif_block_part(trees, trees->scales_at);
    double harmonic = 0;
    for (uint32_t n = 2; n <= trees->shape.sample_size; n++) {
        harmonic += 1.0 / (n - 1);
        averages[n] = oif_average_path_length(n, harmonic);
        scales[n] = 0x1p32 / averages[n];
    }
}

/* ---- Scoring ---- */

/* How likely a row that was put in before the cut was drawn would still be on the side of the
 * others: the width of their range over that of the range with the row. */
static double share_inside(const oif_rolling_node *at, double number)
{
    double low = number < at->low ? number : at->low, high = number > at->high ? number : at->high;
    if (high - low > DBL_MAX)
        return (at->high * 0.5 - at->low * 0.5) / (high * 0.5 - low * 0.5);
    return (at->high - at->low) / (high - low);
}

/* The depth of a row in a tree. Where its number is outside the range of a node, the next cut
 * might have set it apart: only a share of the row continues. */
static double walk_tree(const oif_rolling_trees *trees, uint32_t tree, const double *row)
{
    const oif_rolling_node *nodes = oif_rolling_nodes(trees, tree);
    uint32_t child = oif_rolling_roots(trees)[tree];
    double depth = 0, share = 1;
    while (!(child & OIF_ROLLING_LEAF)) {
        const oif_rolling_node *at = &nodes[child & OIF_ROLLING_NUMBER];
        double number = row[at->column];
        if (trees->shape.insertion && (number < at->low || number > at->high))
            share *= share_inside(at, number);
        depth += share;
        bool right = number != number ? at->children[1] & OIF_ROLLING_MISSING : number >= at->cut;
        child = at->children[right];
    }
    return depth + share * oif_rolling_averages(trees)[child & OIF_ROLLING_NUMBER];
}

#if OIF_HAS_AVX2_CODE
/* The walks of a row through LANES trees that follow each other. */
typedef struct tree_walks {
    const unsigned char *trees[LANES]; /* their nodes */
    __m256i child;
    __m256d depth, share, widest;
} tree_walks;

OIF_AVX2 OIF_INLINE tree_walks begin_walks_avx2(const oif_rolling_trees *trees, uint32_t first)
{
    const uint16_t *roots = oif_rolling_roots(trees) + first;
    tree_walks walks = {.child = _mm256_setr_epi64x(roots[0], roots[1], roots[2], roots[3]),
                        .depth = _mm256_setzero_pd(),
                        .share = _mm256_set1_pd(1),
                        .widest = _mm256_setzero_pd()};
    for (uint32_t i = 0; i < LANES; i++)
        walks.trees[i] = (const unsigned char *)oif_rolling_nodes(trees, first + i);
    return walks;
}

OIF_AVX2 OIF_INLINE double number_at(const unsigned char *at, const double *row)
{
    return row[((const oif_rolling_node *)at)->column];
}

/* One level down without branches, as none could be predicted. A walk that has come to a leaf
 * looks at its root again and takes nothing from there. */
OIF_AVX2 OIF_INLINE void step_avx2(tree_walks *walks, const double *row)
{
    const __m256i leaf = _mm256_cmpgt_epi64(walks->child, _mm256_set1_epi64x(OIF_ROLLING_LEAF - 1));
    const __m256i place = _mm256_andnot_si256(leaf, walks->child);
    const __m256i offset =
        _mm256_slli_epi64(_mm256_and_si256(place, _mm256_set1_epi64x(OIF_ROLLING_NUMBER)), 5);
    const unsigned char *a = walks->trees[0] + _mm256_extract_epi64(offset, 0);
    const unsigned char *b = walks->trees[1] + _mm256_extract_epi64(offset, 1);
    const unsigned char *c = walks->trees[2] + _mm256_extract_epi64(offset, 2);
    const unsigned char *d = walks->trees[3] + _mm256_extract_epi64(offset, 3);
    const __m256d number =
        _mm256_setr_pd(number_at(a, row), number_at(b, row), number_at(c, row), number_at(d, row));
    /* Four nodes of four numbers, turned: from a node each to a field of all each. */
    __m256d node_a = _mm256_load_pd((const double *)a), node_b = _mm256_load_pd((const double *)b);
    __m256d node_c = _mm256_load_pd((const double *)c), node_d = _mm256_load_pd((const double *)d);
    __m256d even_ab = _mm256_unpacklo_pd(node_a, node_b),
            odd_ab = _mm256_unpackhi_pd(node_a, node_b);
    __m256d even_cd = _mm256_unpacklo_pd(node_c, node_d),
            odd_cd = _mm256_unpackhi_pd(node_c, node_d);
    const __m256d low = _mm256_permute2f128_pd(even_ab, even_cd, 0x20);
    const __m256d cut = _mm256_permute2f128_pd(even_ab, even_cd, 0x31);
    const __m256d high = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x20);
    const __m256i rest = _mm256_castpd_si256(_mm256_permute2f128_pd(odd_ab, odd_cd, 0x31));

    const __m256d width = _mm256_sub_pd(_mm256_max_pd(number, high), _mm256_min_pd(number, low));
    const __m256d inside = _mm256_div_pd(_mm256_sub_pd(high, low), width);
    walks->widest = _mm256_max_pd(walks->widest, width);
    walks->share = _mm256_blendv_pd(_mm256_mul_pd(walks->share, inside), walks->share,
                                    _mm256_castsi256_pd(leaf));
    walks->depth =
        _mm256_add_pd(walks->depth, _mm256_andnot_pd(_mm256_castsi256_pd(leaf), walks->share));

    /* The children are the upper 32 bits of the last field. */
    const __m256i right = _mm256_castpd_si256(_mm256_cmp_pd(number, cut, _CMP_GE_OQ));
    const __m256i shift =
        _mm256_add_epi64(_mm256_and_si256(right, _mm256_set1_epi64x(16)), _mm256_set1_epi64x(32));
    const __m256i next =
        _mm256_and_si256(_mm256_srlv_epi64(rest, shift), _mm256_set1_epi64x(UINT16_MAX));
    walks->child = _mm256_blendv_epi8(next, walks->child, leaf);
}

/* Writes the depths in the trees; false when a range with the row in it is too wide for a
 * double. */
OIF_AVX2 OIF_INLINE bool end_walks_avx2(const oif_rolling_trees *trees, const tree_walks *walks,
                                        double depths[LANES])
{
    const __m256i number = _mm256_and_si256(walks->child, _mm256_set1_epi64x(OIF_ROLLING_NUMBER));
    const __m256d averages = _mm256_i64gather_pd(oif_rolling_averages(trees), number, 8);
    _mm256_storeu_pd(depths, _mm256_add_pd(walks->depth, _mm256_mul_pd(walks->share, averages)));
    return _mm256_movemask_pd(_mm256_cmp_pd(walks->widest, _mm256_set1_pd(DBL_MAX), _CMP_GT_OQ)) ==
           0;
}

/* The same for TREES_AT_ONCE trees from `first` on, and a row without missing numbers: two
 * times LANES walks, as one would wait for its loads. */
OIF_AVX2 static bool walk_trees_avx2(const oif_rolling_trees *trees, uint32_t first,
                                     const double *row, double depths[TREES_AT_ONCE])
{
    tree_walks some = begin_walks_avx2(trees, first),
               others = begin_walks_avx2(trees, first + LANES);
    for (uint32_t level = trees->shape.max_depth; level > 0; level--) {
        step_avx2(&some, row);
        step_avx2(&others, row);
    }
    bool fit = end_walks_avx2(trees, &some, depths);
    return end_walks_avx2(trees, &others, depths + LANES) && fit;
}
#endif

/* Trees that are grown come first. */
static uint32_t grown_trees(const oif_rolling_trees *trees)
{
    const uint16_t *rows = oif_rolling_rows(trees);
    uint32_t grown = trees->shape.num_trees;
    while (grown > 0 && rows[grown - 1] == 0)
        grown--;
    return grown;
}

/* A depth over the average of the tree's rows, in whole units of 2^-32: their sum does not
 * depend on the order. */
OIF_INLINE uint64_t to_units(const oif_rolling_trees *trees, uint32_t tree, double depth)
{
    const double *scales = oif_block_part(trees, trees->scales_at);
    return (uint64_t)(int64_t)(depth * scales[oif_rolling_rows(trees)[tree]] + 0.5);
}

double oif_rolling_score(const oif_rolling_trees *trees, const double *row, bool complete)
{
    const uint32_t grown = grown_trees(trees);
    uint64_t units = 0;
    uint32_t tree = 0;
    (void)complete;
#if OIF_HAS_AVX2_CODE
    double depths[TREES_AT_ONCE];
    bool side_by_side = complete && trees->shape.insertion && oif_machine_has_avx2();
    for (;
         side_by_side && tree + TREES_AT_ONCE <= grown && walk_trees_avx2(trees, tree, row, depths);
         tree += TREES_AT_ONCE)
        for (uint32_t i = 0; i < TREES_AT_ONCE; i++)
            units += to_units(trees, tree + i, depths[i]);
#endif
    for (; tree < grown; tree++)
        units += to_units(trees, tree, walk_tree(trees, tree, row));
    return grown ? oif_exp2(-((double)units * 0x1p-32 / grown)) : 0.5;
}

/* ---- Figures ---- */

static void add_leaves(const oif_rolling_node *nodes, uint32_t child, uint32_t depth,
                       oif_tree_figures *figures)
{
    if (child & OIF_ROLLING_LEAF) {
        oif_figures_add_leaf(figures, depth);
        return;
    }
    const oif_rolling_node *at = &nodes[child & OIF_ROLLING_NUMBER];
    add_leaves(nodes, at->children[0], depth + 1, figures);
    add_leaves(nodes, at->children[1], depth + 1, figures);
}

void oif_rolling_add_figures(const oif_rolling_trees *trees, oif_tree_figures *figures)
{
    for (uint32_t tree = 0; tree < trees->shape.num_trees; tree++) {
        bool is_grown = oif_rolling_rows(trees)[tree] > 0;
        add_leaves(oif_rolling_nodes(trees, tree),
                   is_grown ? oif_rolling_roots(trees)[tree] : OIF_ROLLING_LEAF, 0, figures);
        oif_figures_end_tree(figures);
    }
}

/* ---- Snapshots ---- */

static const oif_field node_fields[] = {
    {"low", OIF_FIELD_F64, offsetof(oif_rolling_node, low), 1},
    {"high", OIF_FIELD_F64, offsetof(oif_rolling_node, high), 1},
    {"cut", OIF_FIELD_F64, offsetof(oif_rolling_node, cut), 1},
    {"column", OIF_FIELD_U32, offsetof(oif_rolling_node, column), 1},
    {"children", OIF_FIELD_U16, offsetof(oif_rolling_node, children), 2},
};

void oif_rolling_visit_fields(oif_rolling_trees *trees, oif_state_visitor *visitor)
{
    oif_visit_u16(visitor, "roots", oif_rolling_roots(trees), trees->shape.num_trees);
    oif_visit_u16(visitor, "rows", oif_rolling_rows(trees), trees->shape.num_trees);
    oif_visit_records(visitor,
                      &(oif_records){node_fields, sizeof node_fields / sizeof node_fields[0],
                                     oif_rolling_nodes(trees, 0), sizeof(oif_rolling_node),
                                     (size_t)trees->shape.num_trees * trees->node_capacity});
}
