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
#include <string.h>

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
 * isolated it, so only a share of the row continues. `complete`: no value is missing. */
OIF_INLINE double walk_tree(const oif_rolling_trees *trees, uint32_t tree, const double *row,
                            bool complete, bool insertion)
{
    const oif_rolling_node *nodes = oif_rolling_nodes(trees, tree);
    uint32_t child = oif_rolling_roots(trees)[tree];
    double depth = 0, share = 1;
    while (!(child & OIF_ROLLING_LEAF)) {
        const oif_rolling_node *at = &nodes[child & OIF_ROLLING_NUMBER];
        const double number = row[at->column];
        if (insertion && ((number < at->low) | (number > at->high)))
            share *= share_inside(at, number);
        depth += share;
        bool right = number >= at->cut; /* an index, as a branch would often be mispredicted */
        if (!complete && number != number)
            right = at->children[1] & OIF_ROLLING_MISSING;
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
OIF_INLINE uint64_t units_of(const oif_rolling_trees *trees, uint32_t tree, const double *row,
                             bool complete, bool insertion)
{
    double depth = walk_tree(trees, tree, row, complete, insertion);
    return (uint64_t)(int64_t)(depth * scales_of(trees)[oif_rolling_rows(trees)[tree]] + 0.5);
}

/* ---- Eight trees ---- */

#if OIF_HAS_AVX2_CODE
enum { EIGHT = 8 };

/* Four of the walks, for the trees listed at the top of the file. */
typedef struct four_walks {
    __m256d depth, share;
} four_walks;

typedef struct eight_walks {
    __m256i child;
    /* where the nodes of each tree start: bytes after those of tree 0, at most 2^30 */
    __m256i start;
    four_walks some, others;
} eight_walks;

/* The nodes of all trees, by field. The compiler takes the three pointers for unrelated, so the
 * instructions that load add the place of a node to them. With one pointer, it would be added
 * before, for each node. */
typedef struct node_fields {
    const unsigned char *range, *rest, *column;
} node_fields;

OIF_AVX2 OIF_INLINE node_fields fields_of(const oif_rolling_trees *trees)
{
    const unsigned char *nodes = (const unsigned char *)oif_rolling_nodes(trees, 0);
    node_fields at = {nodes + offsetof(oif_rolling_node, low),
                      nodes + offsetof(oif_rolling_node, cut),
                      nodes + offsetof(oif_rolling_node, column)};
    __asm__("" : "+r"(at.range), "+r"(at.rest), "+r"(at.column));
    return at;
}

OIF_AVX2 OIF_INLINE double number_at(const node_fields *at, uint32_t place, const double *row)
{
    uint32_t column;
    memcpy(&column, at->column + place, sizeof column);
    return row[column];
}

OIF_AVX2 OIF_INLINE __m256d load_two(const unsigned char *field, uint32_t first, uint32_t second)
{
    return _mm256_loadu2_m128d((const double *)(const void *)(field + second),
                               (const double *)(const void *)(field + first));
}

/* One level of four walks, which are at the nodes at these places. `leaf`: all ones for a walk at a
 * leaf, which stays unchanged. Every second 32 bits of `children` get both children; those of
 * `left` are all ones if the left child is next. The range comes before the cut, so fewer registers
 * are in use at once. */
OIF_AVX2 OIF_INLINE void step_four_avx2(four_walks *walks, const node_fields *at, uint32_t a,
                                        uint32_t b, uint32_t c, uint32_t d, __m256d leaf,
                                        const double *row, __m256 *children, __m256 *left)
{
    const __m256d number = _mm256_setr_pd(number_at(at, a, row), number_at(at, b, row),
                                          number_at(at, c, row), number_at(at, d, row));
    /* Transpose four nodes of four numbers: from one register per node to one per field. */
    const __m256d range_ac = load_two(at->range, a, c), range_bd = load_two(at->range, b, d);
    const __m256d low = _mm256_unpacklo_pd(range_ac, range_bd),
                  high = _mm256_unpackhi_pd(range_ac, range_bd);
    const __m256d width = _mm256_sub_pd(_mm256_max_pd(number, high), _mm256_min_pd(number, low));
    const __m256d inside = _mm256_div_pd(_mm256_sub_pd(high, low), width);
    walks->share = _mm256_blendv_pd(_mm256_mul_pd(walks->share, inside), walks->share, leaf);
    walks->depth = _mm256_add_pd(walks->depth, _mm256_andnot_pd(leaf, walks->share));

    const __m256d rest_ac = load_two(at->rest, a, c), rest_bd = load_two(at->rest, b, d);
    *children = _mm256_castpd_ps(_mm256_unpackhi_pd(rest_ac, rest_bd));
    *left =
        _mm256_castpd_ps(_mm256_cmp_pd(number, _mm256_unpacklo_pd(rest_ac, rest_bd), _CMP_LT_OQ));
}

/* One level down. A walk at a leaf reads its root again and ignores what it reads. */
OIF_AVX2 OIF_INLINE void step_eight_avx2(eight_walks *walks, const node_fields *at,
                                         const double *row)
{
    const __m256i child = walks->child, leaf = _mm256_srai_epi32(child, 31);
    /* A leaf is negative and becomes node 0. The low 16 bits do not count, and a constant other
     * than 0 is read from memory by the instruction itself. */
    const __m256i number = _mm256_and_si256(_mm256_max_epi32(child, _mm256_set1_epi32(0xffff)),
                                            _mm256_set1_epi32(OIF_ROLLING_NUMBER << 16));
    uint32_t n[EIGHT]; /* the places of the nodes, which have 32 bytes each */
    _mm256_storeu_si256((__m256i *)(void *)n,
                        _mm256_add_epi32(walks->start, _mm256_srli_epi32(number, 16 - 5)));
    __asm__("" : "+m"(n)); /* eight loads are cheaper than taking a register apart */
    __m256 some_children, some_left, other_children, other_left;
    step_four_avx2(&walks->some, at, n[0], n[1], n[4], n[5],
                   _mm256_castsi256_pd(_mm256_unpacklo_epi32(leaf, leaf)), row, &some_children,
                   &some_left);
    step_four_avx2(&walks->others, at, n[2], n[3], n[6], n[7],
                   _mm256_castsi256_pd(_mm256_unpackhi_epi32(leaf, leaf)), row, &other_children,
                   &other_left);

    /* Of both children, 16 bits each, shift the left one to the position of the right one. */
    const __m256 left = _mm256_shuffle_ps(some_left, other_left, 0xdd);
    const __m256i both =
        _mm256_castps_si256(_mm256_shuffle_ps(some_children, other_children, 0xdd));
    const __m256i shift = _mm256_and_si256(_mm256_castps_si256(left), _mm256_set1_epi32(16));
    const __m256 next = _mm256_castsi256_ps(_mm256_sllv_epi32(both, shift)),
                 stay = _mm256_castsi256_ps(child);
    walks->child = _mm256_castps_si256(_mm256_blendv_ps(next, stay, stay));
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
 * handles that case, and the one of shares so small that their product is 0. */
OIF_AVX2 OIF_INLINE bool fit_avx2(__m256d product_of_shares)
{
    const __m256d fit = _mm256_cmp_pd(product_of_shares, _mm256_setzero_pd(), _CMP_GT_OQ);
    return _mm256_movemask_pd(fit) == 15;
}

OIF_AVX2 OIF_INLINE __m256d shares_of(const eight_walks *walks)
{
    return _mm256_mul_pd(walks->some.share, walks->others.share);
}

OIF_AVX2 OIF_INLINE eight_walks begin_eight_avx2(const oif_rolling_trees *trees, uint32_t first)
{
    const __m128i roots = _mm_loadu_si128((const __m128i *)(oif_rolling_roots(trees) + first));
    const uint32_t tree_bytes = trees->node_capacity * (uint32_t)sizeof(oif_rolling_node);
    const __m256i after_first = _mm256_mullo_epi32(_mm256_set1_epi32((int)tree_bytes),
                                                   _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const four_walks start = {_mm256_setzero_pd(), _mm256_set1_pd(1)};
    return (eight_walks){
        .child = _mm256_slli_epi32(_mm256_cvtepu16_epi32(roots), 16),
        .start = _mm256_add_epi32(_mm256_set1_epi32((int)(first * tree_bytes)), after_first),
        .some = start,
        .others = start};
}

/* The scales of sixteen trees, or of eight twice. */
typedef struct scales_avx2 {
    __m256d some[2], others[2];
} scales_avx2;

OIF_AVX2 OIF_INLINE __m256d four_scales(const double *scales, const uint16_t *rows)
{
    return _mm256_setr_pd(scales[rows[0]], scales[rows[1]], scales[rows[4]], scales[rows[5]]);
}

OIF_AVX2 OIF_INLINE scales_avx2 get_scales_avx2(const oif_rolling_trees *trees, uint32_t a,
                                                uint32_t b)
{
    const double *scales = scales_of(trees);
    const uint16_t *rows = oif_rolling_rows(trees), *of_a = rows + a, *of_b = rows + b;
    const __m128i alike = _mm_set1_epi16((short)of_a[0]);
    const __m128i found =
        _mm_and_si128(_mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(const void *)of_a), alike),
                      _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)(const void *)of_b), alike));
    if (_mm_movemask_epi8(found) == 0xffff) { /* always, once the first trees are replaced */
        const __m256d scale = _mm256_set1_pd(scales[of_a[0]]);
        return (scales_avx2){{scale, scale}, {scale, scale}};
    }
    return (scales_avx2){{four_scales(scales, of_a), four_scales(scales, of_b)},
                         {four_scales(scales, of_a + 2), four_scales(scales, of_b + 2)}};
}

OIF_AVX2 OIF_INLINE __m256d end_eight_avx2(const oif_rolling_trees *trees, const eight_walks *walks,
                                           __m256d some_scales, __m256d other_scales)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i leaves = _mm256_srli_epi32(_mm256_slli_epi32(walks->child, 2), 16 + 2);
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
    const uint32_t second = twice ? first + EIGHT : first;
    const node_fields at = fields_of(trees);
    eight_walks a = begin_eight_avx2(trees, first), b = begin_eight_avx2(trees, second);
    for (uint32_t level = trees->shape.max_depth; level > 0; level--) {
        step_eight_avx2(&a, &at, row);
        if (twice)
            step_eight_avx2(&b, &at, row);
    }
    if (!fit_avx2(twice ? _mm256_mul_pd(shares_of(&a), shares_of(&b)) : shares_of(&a)))
        return false;
    const scales_avx2 scales = get_scales_avx2(trees, first, second);
    *units = _mm256_add_pd(*units, end_eight_avx2(trees, &a, scales.some[0], scales.others[0]));
    if (twice)
        *units = _mm256_add_pd(*units, end_eight_avx2(trees, &b, scales.some[1], scales.others[1]));
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

/* The units of the trees from `tree` on, by walks that ask nothing they need not: most rows are
 * complete and inserted. */
static __attribute__((noinline)) uint64_t units_from(const oif_rolling_trees *trees, uint32_t tree,
                                                     uint32_t grown, const double *row,
                                                     bool complete)
{
    const bool insertion = trees->shape.insertion;
    uint64_t units = 0;
    if (complete && insertion)
        for (; tree < grown; tree++)
            units += units_of(trees, tree, row, true, true);
    for (; tree < grown; tree++)
        units += units_of(trees, tree, row, false, insertion);
    return units;
}

double oif_rolling_score(const oif_rolling_trees *trees, const double *row, bool complete)
{
    const uint32_t grown = grown_trees(trees);
    uint64_t units = 0;
    uint32_t tree = 0;
#if OIF_HAS_AVX2_CODE
    if (complete && trees->shape.insertion && oif_machine_has_avx2())
        tree = add_trees_avx2(trees, grown, row, &units);
#endif
    if (tree < grown)
        units += units_from(trees, tree, grown, row, complete);
    return grown ? oif_exp2(-((double)(int64_t)units * 0x1p-32 / grown)) : 0.5;
}
