/* Where a row ends in the trees of a forest that forgets by turnover. A walk has no branch:
 * eight trees side by side take as many steps as the deepest of them, and a walk that has come
 * to a leaf stays there. A row with missing numbers walks each tree alone. */
#include "detect/online_iforest/turnover_walk.h"

/* What a step of a walk reads. */
typedef struct tree_walk {
    const uint64_t *words;
    /* in the second word of each node; bases of their own keep every step to five instructions */
    const uint32_t *columns, *lefts;
    const oif_keyed_row *row;
} tree_walk;

static tree_walk walk_of(const oif_turnover_state *forest, const oif_keyed_row *row)
{
    const oif_turnover_link *links = oif_turnover_link_of(forest, 0);
    return (tree_walk){oif_turnover_words(forest), &links->column, &links->left, row};
}

OIF_INLINE size_t next_node(const tree_walk *walk, size_t at, bool has_keys)
{
    uint32_t column = walk->columns[2 * at];
    uint64_t key = has_keys ? walk->row->keys[column] : oif_sort_key(walk->row->values[column]);
    uint32_t left = walk->lefts[2 * at];
    return left + (uint32_t)(walk->words[at] < key);
}

/* The nodes of a complete row in LANES trees from `first` on, no deeper than `levels`. Side by
 * side hides the latency of the loads. Names instead of an array: with one, gcc keeps a copy of
 * every step in memory. window_walk.c has its counterpart. */
OIF_INLINE void walk_side_by_side(const tree_walk *walk, size_t root, size_t stride,
                                  uint32_t levels, bool has_keys, size_t *restrict nodes)
{
    size_t a = root, b = a + stride, c = b + stride, d = c + stride;
    size_t e = d + stride, f = e + stride, g = f + stride, h = g + stride;
    for (; levels > 0; levels--) {
        a = next_node(walk, a, has_keys);
        b = next_node(walk, b, has_keys);
        c = next_node(walk, c, has_keys);
        d = next_node(walk, d, has_keys);
        e = next_node(walk, e, has_keys);
        f = next_node(walk, f, has_keys);
        g = next_node(walk, g, has_keys);
        h = next_node(walk, h, has_keys);
    }
    nodes[0] = a, nodes[1] = b, nodes[2] = c, nodes[3] = d;
    nodes[4] = e, nodes[5] = f, nodes[6] = g, nodes[7] = h;
}

_Static_assert(OIF_LANES == 8, "walk_side_by_side walks eight trees");

/* The same for half as many. */
OIF_INLINE void walk_half_lane(const tree_walk *walk, size_t root, size_t stride, uint32_t levels,
                               bool has_keys, size_t *restrict nodes)
{
    size_t a = root, b = a + stride, c = b + stride, d = c + stride;
    for (; levels > 0; levels--) {
        a = next_node(walk, a, has_keys);
        b = next_node(walk, b, has_keys);
        c = next_node(walk, c, has_keys);
        d = next_node(walk, d, has_keys);
    }
    nodes[0] = a, nodes[1] = b, nodes[2] = c, nodes[3] = d;
}

/* The nodes of a complete row in `count` trees from `first` on, at least a lane of them. The
 * last lane, or half of one if that is enough, reaches back to trees that were walked, and so
 * may lie across two. */
OIF_INLINE void walk_lanes(const oif_turnover_state *forest, const tree_walk *walk, uint32_t first,
                           uint32_t count, bool has_keys, size_t *nodes)
{
    const size_t stride = (size_t)forest->leaf_capacity * OIF_TURNOVER_PAIR_WORDS;
    const uint8_t *const lane_levels = oif_turnover_lane_levels(forest);
    uint32_t done = 0;
    for (; count - done > OIF_LANES / 2;
         done += count - done < OIF_LANES ? count - done : OIF_LANES) {
        uint32_t from = done + OIF_LANES <= count ? done : count - OIF_LANES, tree = first + from;
        uint32_t levels = lane_levels[tree / OIF_LANES],
                 beside = lane_levels[(tree + OIF_LANES - 1) / OIF_LANES];
        walk_side_by_side(walk, oif_turnover_root(forest, tree), stride,
                          levels > beside ? levels : beside, has_keys, nodes + from);
    }
    if (done < count) {
        uint32_t from = count - OIF_LANES / 2, tree = first + from;
        uint32_t levels = lane_levels[tree / OIF_LANES],
                 beside = lane_levels[(tree + OIF_LANES / 2 - 1) / OIF_LANES];
        walk_half_lane(walk, oif_turnover_root(forest, tree), stride,
                       levels > beside ? levels : beside, has_keys, nodes + from);
    }
}

/* Functions of their own, so that nothing else wants the registers. */
static __attribute__((noinline)) void walk_with_keys(const oif_turnover_state *forest,
                                                     const tree_walk *walk, uint32_t first,
                                                     uint32_t count, size_t *nodes)
{
    walk_lanes(forest, walk, first, count, true, nodes);
}

static __attribute__((noinline)) void walk_without_keys(const oif_turnover_state *forest,
                                                        const tree_walk *walk, uint32_t first,
                                                        uint32_t count, size_t *nodes)
{
    walk_lanes(forest, walk, first, count, false, nodes);
}

static size_t walk_alone(const oif_turnover_state *forest, const oif_keyed_row *row, uint32_t tree)
{
    size_t node = oif_turnover_root(forest, tree);
    while (oif_turnover_is_cut(forest, node))
        node = oif_turnover_step(forest, tree, node, row->values);
    return node;
}

void oif_turnover_find_nodes(const oif_turnover_state *forest, uint32_t first, uint32_t count,
                             const oif_keyed_row *row, size_t *nodes)
{
    if (row->complete && count >= OIF_LANES) {
        const tree_walk walk = walk_of(forest, row);
        if (row->has_keys)
            walk_with_keys(forest, &walk, first, count, nodes);
        else
            walk_without_keys(forest, &walk, first, count, nodes);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = walk_alone(forest, row, first + i);
}
