/* Walking the trees of rolling-iforest: the score of a row.
 *
 * walk_tree is the definition. With AVX2 a row walks through eight trees side by side, without
 * branches, because they could not be predicted. One register holds the current child of each walk:
 *
 *     child     | tree 0 | tree 1 | tree 2 | tree 3 | tree 4 | tree 5 | tree 6 | tree 7 |
 *     bits      31: a leaf   30: missing values go here    29 .. 16: number   15 .. 0: anything
 *
 * Depths and shares are twice as wide: one register for trees 0 1 4 5, one for 2 3 6 7. This order
 * suits instructions that interleave two registers within each half.
 */
#include "detect/rolling_iforest/rolling_tree.h"

#include "base/stable_math.h"
#include "base/vector.h"

#include <float.h>

/* ---- One tree ---- */

/* The probability that a row inserted before the cut was drawn would stay with the others: the
 * width of their range over the width of the range including the row. */
static double share_inside(const oif_rolling_node *at, double number)
{
    double low = number < at->low ? number : at->low, high = number > at->high ? number : at->high;
    if (high - low > DBL_MAX)
        return (at->high * 0.5 - at->low * 0.5) / (high * 0.5 - low * 0.5);
    return (at->high - at->low) / (high - low);
}

/* The depth of a row in a tree. If its value is outside the range of a node, the cut might have
 * isolated it, so only a share of the row continues. */
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

/* 2^32 / c(n) of isolation.h. */
static inline const double *scales_of(const oif_rolling_trees *trees)
{
    return oif_block_part(trees, trees->scales_at);
}

/* The depth over the average depth for the tree's rows, in whole units of 2^-32, so the sum does
 * not depend on the order. */
static uint64_t units_of(const oif_rolling_trees *trees, uint32_t tree, const double *row)
{
    double depth = walk_tree(trees, tree, row);
    return (uint64_t)(int64_t)(depth * scales_of(trees)[oif_rolling_rows(trees)[tree]] + 0.5);
}

/* ---- Eight trees ---- */

#if OIF_HAS_AVX2_CODE
enum { EIGHT = 8 };

/* Four of the walks, for the trees listed at the top of the file. */
typedef struct four_walks {
    __m256i nodes; /* where the nodes of each tree start */
    __m256d depth, share;
} four_walks;

OIF_AVX2 OIF_INLINE const oif_rolling_node *node_at(long long address)
{
    return (const oif_rolling_node *)(uintptr_t)address;
}

/* One level of four walks. `place`: offset in bytes of each node in its tree. `leaf`: all ones for
 * a walk at a leaf, which stays unchanged. Every second 32 bits of `children` get both children;
 * those of `left` are all ones if the left child is next. */
OIF_AVX2 OIF_INLINE void step_four_avx2(four_walks *walks, __m256i place, __m256i leaf,
                                        const double *row, __m256 *children, __m256 *left)
{
    const __m256i address = _mm256_add_epi64(walks->nodes, place);
    const __m128i far = _mm256_extracti128_si256(address, 1),
                  near = _mm256_castsi256_si128(address);
    const oif_rolling_node *a = node_at(_mm_cvtsi128_si64(near)),
                           *b = node_at(_mm_extract_epi64(near, 1)),
                           *c = node_at(_mm_cvtsi128_si64(far)),
                           *d = node_at(_mm_extract_epi64(far, 1));
    const __m256d number =
        _mm256_setr_pd(row[a->column], row[b->column], row[c->column], row[d->column]);
    /* Transpose four nodes of four numbers: from one register per node to one per field. */
    const __m256d range_ac = _mm256_loadu2_m128d(&c->low, &a->low),
                  range_bd = _mm256_loadu2_m128d(&d->low, &b->low),
                  rest_ac = _mm256_loadu2_m128d(&c->cut, &a->cut),
                  rest_bd = _mm256_loadu2_m128d(&d->cut, &b->cut);
    *children = _mm256_castpd_ps(_mm256_unpackhi_pd(rest_ac, rest_bd));
    *left =
        _mm256_castpd_ps(_mm256_cmp_pd(number, _mm256_unpacklo_pd(rest_ac, rest_bd), _CMP_LT_OQ));

    const __m256d low = _mm256_unpacklo_pd(range_ac, range_bd),
                  high = _mm256_unpackhi_pd(range_ac, range_bd);
    const __m256d width = _mm256_sub_pd(_mm256_max_pd(number, high), _mm256_min_pd(number, low));
    const __m256d inside = _mm256_div_pd(_mm256_sub_pd(high, low), width);
    walks->share = _mm256_blendv_pd(_mm256_mul_pd(walks->share, inside), walks->share,
                                    _mm256_castsi256_pd(leaf));
    walks->depth =
        _mm256_add_pd(walks->depth, _mm256_andnot_pd(_mm256_castsi256_pd(leaf), walks->share));
}

typedef struct eight_walks {
    __m256i child;
    four_walks some, others;
} eight_walks;

/* One level down. A walk at a leaf reads its root again and ignores what it reads. */
OIF_AVX2 OIF_INLINE void step_eight_avx2(eight_walks *walks, const double *row)
{
    const __m256i zero = _mm256_setzero_si256(), child = walks->child;
    const __m256i leaf = _mm256_srai_epi32(child, 31);
    const __m256i number = _mm256_and_si256(_mm256_max_epi32(child, zero), /* a leaf is negative */
                                            _mm256_set1_epi32(OIF_ROLLING_NUMBER << 16));
    const __m256i place = _mm256_srli_epi32(number, 16 - 5); /* a node has 32 bytes */
    __m256 some_children, some_left, other_children, other_left;
    step_four_avx2(&walks->some, _mm256_unpacklo_epi32(place, zero),
                   _mm256_unpacklo_epi32(leaf, leaf), row, &some_children, &some_left);
    step_four_avx2(&walks->others, _mm256_unpackhi_epi32(place, zero),
                   _mm256_unpackhi_epi32(leaf, leaf), row, &other_children, &other_left);

    /* Of both children, 16 bits each, shift the left one to the position of the right one. */
    const __m256 left = _mm256_shuffle_ps(some_left, other_left, 0xdd);
    const __m256i both =
        _mm256_castps_si256(_mm256_shuffle_ps(some_children, other_children, 0xdd));
    const __m256i shift = _mm256_and_si256(_mm256_castps_si256(left), _mm256_set1_epi32(16));
    walks->child = _mm256_blendv_epi8(_mm256_sllv_epi32(both, shift), child, leaf);
}

/* The units of four walks that ended at leaves with that many rows. Their sum is exact: each is
 * less than 2^38, and there are at most 2^12 trees. */
OIF_AVX2 OIF_INLINE __m256d end_four_avx2(const oif_rolling_trees *trees, const four_walks *walks,
                                          __m256i rows, __m256d scales)
{
    const __m256d averages = _mm256_i64gather_pd(oif_rolling_averages(trees), rows, 8);
    const __m256d depth = _mm256_add_pd(walks->depth, _mm256_mul_pd(walks->share, averages));
    return _mm256_floor_pd(_mm256_add_pd(_mm256_mul_pd(depth, scales), _mm256_set1_pd(0.5)));
}

/* A share of 0 or NaN may come from a range that, with the row, overflows a double. walk_tree
 * handles that case. */
OIF_AVX2 OIF_INLINE bool fit_avx2(const eight_walks *walks)
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d fit = _mm256_and_pd(_mm256_cmp_pd(walks->some.share, zero, _CMP_GT_OQ),
                                      _mm256_cmp_pd(walks->others.share, zero, _CMP_GT_OQ));
    return _mm256_movemask_pd(fit) == 15;
}

/* Where the nodes of trees first + a, first + b, first + c and first + d start. */
OIF_AVX2 OIF_INLINE __m256i nodes_avx2(const oif_rolling_trees *trees, uint32_t first, int a, int b,
                                       int c, int d)
{
    const __m256i start = _mm256_set1_epi64x((long long)(uintptr_t)oif_rolling_nodes(trees, first));
    const __m256i tree_bytes =
        _mm256_set1_epi64x((long long)(trees->node_capacity * sizeof(oif_rolling_node)));
    return _mm256_add_epi64(start, _mm256_mul_epu32(tree_bytes, _mm256_setr_epi64x(a, b, c, d)));
}

OIF_AVX2 OIF_INLINE eight_walks begin_eight_avx2(const oif_rolling_trees *trees, uint32_t first)
{
    const __m128i roots = _mm_loadu_si128((const __m128i *)(oif_rolling_roots(trees) + first));
    return (eight_walks){
        .child = _mm256_slli_epi32(_mm256_cvtepu16_epi32(roots), 16),
        .some = {nodes_avx2(trees, first, 0, 1, 4, 5), _mm256_setzero_pd(), _mm256_set1_pd(1)},
        .others = {nodes_avx2(trees, first, 2, 3, 6, 7), _mm256_setzero_pd(), _mm256_set1_pd(1)}};
}

OIF_AVX2 OIF_INLINE __m256d end_eight_avx2(const oif_rolling_trees *trees, uint32_t first,
                                           const eight_walks *walks)
{
    const uint16_t *rows = oif_rolling_rows(trees) + first;
    const double *scales = scales_of(trees);
    const __m256d some_scales = _mm256_setr_pd(scales[rows[0]], scales[rows[1]], scales[rows[4]],
                                               scales[rows[5]]),
                  other_scales = _mm256_setr_pd(scales[rows[2]], scales[rows[3]], scales[rows[6]],
                                                scales[rows[7]]);
    const __m256i zero = _mm256_setzero_si256();
    const __m256i leaves = _mm256_and_si256(_mm256_srli_epi32(walks->child, 16),
                                            _mm256_set1_epi32(OIF_ROLLING_NUMBER));
    return _mm256_add_pd(
        end_four_avx2(trees, &walks->some, _mm256_unpacklo_epi32(leaves, zero), some_scales),
        end_four_avx2(trees, &walks->others, _mm256_unpackhi_epi32(leaves, zero), other_scales));
}

/* Adds the units of EIGHT trees from `first` on, or of twice as many: then walks wait less for
 * loads, which saves a quarter of the time. Returns false, and adds nothing, if walk_tree is
 * needed. */
OIF_AVX2 OIF_INLINE bool add_eights_avx2(const oif_rolling_trees *trees, uint32_t first, bool twice,
                                         const double *row, __m256d *units)
{
    eight_walks a = begin_eight_avx2(trees, first),
                b = begin_eight_avx2(trees, twice ? first + EIGHT : first);
    for (uint32_t level = trees->shape.max_depth; level > 0; level--) {
        step_eight_avx2(&a, row);
        if (twice)
            step_eight_avx2(&b, row);
    }
    if (!fit_avx2(&a) || !fit_avx2(&b))
        return false;
    *units = _mm256_add_pd(*units, end_eight_avx2(trees, first, &a));
    if (twice)
        *units = _mm256_add_pd(*units, end_eight_avx2(trees, first + EIGHT, &b));
    return true;
}

/* Adds the units of as many leading trees as possible; returns how many. */
OIF_AVX2 static uint32_t add_trees_avx2(const oif_rolling_trees *trees, uint32_t grown,
                                        const double *row, uint64_t *units)
{
    __m256d sums = _mm256_setzero_pd();
    uint32_t tree = 0;
    while (tree + 2 * EIGHT <= grown && add_eights_avx2(trees, tree, true, row, &sums))
        tree += 2 * EIGHT;
    if (tree + EIGHT <= grown && add_eights_avx2(trees, tree, false, row, &sums))
        tree += EIGHT;
    double sum[4];
    _mm256_storeu_pd(sum, sums);
    *units += (uint64_t)(int64_t)((sum[0] + sum[1]) + (sum[2] + sum[3]));
    return tree;
}
#endif

/* ---- All trees ---- */

/* Grown trees come first. */
static uint32_t grown_trees(const oif_rolling_trees *trees)
{
    const uint16_t *rows = oif_rolling_rows(trees);
    uint32_t grown = trees->shape.num_trees;
    while (grown > 0 && rows[grown - 1] == 0)
        grown--;
    return grown;
}

double oif_rolling_score(const oif_rolling_trees *trees, const double *row, bool complete)
{
    const uint32_t grown = grown_trees(trees);
    uint64_t units = 0;
    uint32_t tree = 0;
    (void)complete;
#if OIF_HAS_AVX2_CODE
    if (complete && trees->shape.insertion && oif_machine_has_avx2())
        tree = add_trees_avx2(trees, grown, row, &units);
#endif
    for (; tree < grown; tree++)
        units += units_of(trees, tree, row);
    return grown ? oif_exp2(-((double)units * 0x1p-32 / grown)) : 0.5;
}
