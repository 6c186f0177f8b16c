/* Where a row ends in the trees of a forest that forgets by turnover. A walk has no branch:
 * eight trees side by side take as many steps as the deepest of them, and who has come to a
 * leaf stays there. A row with missing numbers walks each tree alone. */
#include "detect/online_iforest/turnover_walk.h"

typedef oif_turnover_state forest;
typedef oif_traveller traveller;

enum { LANES = OIF_TURNOVER_LANES };

/* Where walks go. */
typedef struct woods {
    const uint64_t *words;
    const uint32_t *features,
        *lefts; /* in the second word of each node; bases of their own keep every step to five
                                       * instructions */
    const traveller *traveller;
} woods;

static woods woods_of(const forest *f, const traveller *t)
{
    const oif_turnover_link *links = oif_turnover_link_of(f, 0);
    return (woods){oif_turnover_words(f), &links->feature, &links->left, t};
}

OIF_INLINE size_t next_node(const woods *in, size_t at, bool has_keys)
{
    uint32_t feature = in->features[2 * at];
    uint64_t key = has_keys ? in->traveller->keys[feature] : oif_key(in->traveller->row[feature]);
    uint32_t left = in->lefts[2 * at];
    return left + (uint32_t)(in->words[at] < key);
}

/* The nodes of a complete row in LANES trees from `first` on, no deeper than `levels`. Side by
 * side hides the latency of the loads. Names instead of an array: with one, gcc keeps a copy of
 * every step in memory. */
OIF_INLINE void walk_side_by_side(const woods *in, size_t root, size_t stride, uint32_t levels,
                                  bool has_keys, size_t *restrict nodes)
{
    size_t a = root, b = a + stride, c = b + stride, d = c + stride;
    size_t e = d + stride, f = e + stride, g = f + stride, h = g + stride;
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
    nodes[0] = a, nodes[1] = b, nodes[2] = c, nodes[3] = d;
    nodes[4] = e, nodes[5] = f, nodes[6] = g, nodes[7] = h;
}

_Static_assert(LANES == 8, "walk_side_by_side walks eight trees");

/* The same for half as many. */
OIF_INLINE void walk_half_lane(const woods *in, size_t root, size_t stride, uint32_t levels,
                               bool has_keys, size_t *restrict nodes)
{
    size_t a = root, b = a + stride, c = b + stride, d = c + stride;
    for (; levels > 0; levels--) {
        a = next_node(in, a, has_keys);
        b = next_node(in, b, has_keys);
        c = next_node(in, c, has_keys);
        d = next_node(in, d, has_keys);
    }
    nodes[0] = a, nodes[1] = b, nodes[2] = c, nodes[3] = d;
}

/* The nodes of a complete row in `count` trees from `first` on, at least a lane of them. The
 * last lane, or half of one if that is enough, reaches back to trees that were walked, and so
 * may lie across two. */
OIF_INLINE void walk_lanes(const forest *f, const woods *in, uint32_t first, uint32_t count,
                           bool has_keys, size_t *nodes)
{
    const size_t stride = (size_t)f->leaf_capacity * OIF_TURNOVER_PAIR_WORDS;
    const uint8_t *const lane_levels = oif_turnover_lane_levels(f);
    uint32_t done = 0;
    for (; count - done > LANES / 2; done += count - done < LANES ? count - done : LANES) {
        uint32_t from = done + LANES <= count ? done : count - LANES, tree = first + from;
        uint32_t levels = lane_levels[tree / LANES],
                 beside = lane_levels[(tree + LANES - 1) / LANES];
        walk_side_by_side(in, oif_turnover_root(f, tree), stride, levels > beside ? levels : beside,
                          has_keys, nodes + from);
    }
    if (done < count) {
        uint32_t from = count - LANES / 2, tree = first + from;
        uint32_t levels = lane_levels[tree / LANES],
                 beside = lane_levels[(tree + LANES / 2 - 1) / LANES];
        walk_half_lane(in, oif_turnover_root(f, tree), stride, levels > beside ? levels : beside,
                       has_keys, nodes + from);
    }
}

/* Functions of their own, so that nothing else wants the registers. */
static __attribute__((noinline)) void walk_with_keys(const forest *f, const woods *in,
                                                     uint32_t first, uint32_t count, size_t *nodes)
{
    walk_lanes(f, in, first, count, true, nodes);
}

static __attribute__((noinline)) void
walk_without_keys(const forest *f, const woods *in, uint32_t first, uint32_t count, size_t *nodes)
{
    walk_lanes(f, in, first, count, false, nodes);
}

static size_t walk_alone(const forest *f, const traveller *t, uint32_t tree)
{
    size_t node = oif_turnover_root(f, tree);
    while (oif_turnover_is_cut(f, node))
        node = oif_turnover_step(f, tree, node, t->row);
    return node;
}

void oif_turnover_find_nodes(const forest *f, uint32_t first, uint32_t count, const traveller *t,
                             size_t *nodes)
{
    if (t->complete && count >= LANES) {
        const woods in = woods_of(f, t);
        if (t->has_keys)
            walk_with_keys(f, &in, first, count, nodes);
        else
            walk_without_keys(f, &in, first, count, nodes);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = walk_alone(f, t, first + i);
}
