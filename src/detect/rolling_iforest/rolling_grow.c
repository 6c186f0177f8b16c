/* Growing the trees of rolling-iforest.
 *
 * A node with enough rows is cut if its depth allows it. A few columns are drawn. The one with the
 * heaviest tails among the node's rows, by kurtosis, is cut at a uniform position in its range:
 * where the tails are heavy, such a cut isolates few rows. Smaller values go left, so both children
 * always get rows. A missing value goes to the heavier child and does not count for range or
 * kurtosis. A column that is missing in more than three of four rows is not cut.
 */
#include "detect/rolling_iforest/rolling_tree.h"

#include "detect/isolation.h"
#include "detect/rolling_iforest/rolling_column.h"

#include <string.h>

enum { DRAWS_PER_COLUMN = 4 }; /* draws allowed for each column wanted */

/* A tree that is growing. */
typedef struct tree_growth {
    const oif_rolling_trees *trees;
    oif_random *random;
    const double *values;
    bool weigh;              /* columns compete, so their tails count */
    oif_rolling_node *nodes; /* of the tree ... */
    uint32_t used;           /* ... and how many there are */
    double *numbers;         /* one per row of a node */
    size_t *spare;           /* rows that go right */
} tree_growth;

/* The rows of a future node. */
typedef struct node_rows {
    size_t *rows;
    uint32_t count, depth;
} node_rows;

/* A column drawn for a cut, and its range and tails in the rows of the node. */
typedef struct candidate {
    uint32_t column;
    oif_rolling_column stats;
} candidate;

/* The columns drawn so far, each once. */
typedef struct drawn_columns {
    uint32_t count;
    uint32_t columns[DRAWS_PER_COLUMN * OIF_ROLLING_MAX_TOURNAMENT];
    bool vary[DRAWS_PER_COLUMN * OIF_ROLLING_MAX_TOURNAMENT]; /* among the rows of the node */
} drawn_columns;

/* Returns drawn->count if the column was not drawn yet. */
static uint32_t find_drawn(const drawn_columns *drawn, uint32_t column)
{
    uint32_t i = 0;
    while (i < drawn->count && drawn->columns[i] != column)
        i++;
    return i;
}

/* The first three columns of a draw, if as many compete. They are drawn whatever is in them, so
 * all can be drawn before the first is read. */
typedef struct first_draws {
    uint32_t columns[OIF_ROLLING_THREE];
    uint32_t count; /* 0 if another number competes */
} first_draws;

static first_draws draw_first(tree_growth *growth)
{
    const uint32_t dimension = growth->trees->dimension;
    oif_random *random = growth->random;
    first_draws first = {.count = 0};
    if (growth->trees->shape.tournament != OIF_ROLLING_THREE || !growth->weigh)
        return first;
    for (; first.count < OIF_ROLLING_THREE; first.count++)
        first.columns[first.count] = oif_random_below(random, dimension);
    return first;
}

/* Like choose_any, for first columns that differ: reads them together. Returns false if they must
 * be read one by one. */
static bool choose_first(const tree_growth *growth, const node_rows *at, const first_draws *first,
                         candidate *winner)
{
    const uint32_t *columns = first->columns;
    oif_rolling_column stats[OIF_ROLLING_THREE];
    if (first->count == 0 || columns[0] == columns[1] || columns[0] == columns[2] ||
        columns[1] == columns[2] ||
        !oif_rolling_read_three(growth->values, columns, at->rows, at->count, stats))
        return false;
    uint32_t best = stats[1].kurtosis > stats[0].kurtosis;
    best = stats[2].kurtosis > stats[best].kurtosis ? 2 : best;
    *winner = (candidate){columns[best], stats[best]};
    return true;
}

/* Draws columns until enough of them are not constant here, or too many were drawn. The largest
 * kurtosis wins, the first one if equal. A column may be drawn again and then counts again, but it
 * has won or lost already. Returns false if all were constant. */
static __attribute__((noinline)) bool choose_any(tree_growth *growth, const node_rows *at,
                                                 const first_draws *first, candidate *winner)
{
    const uint32_t wanted = growth->trees->shape.tournament;
    drawn_columns drawn;
    uint32_t found = 0;
    drawn.count = 0;
    for (uint32_t draw = 0; draw < DRAWS_PER_COLUMN * wanted && found < wanted; draw++) {
        uint32_t column = draw < first->count
                              ? first->columns[draw]
                              : oif_random_below(growth->random, growth->trees->dimension);
        const uint32_t known = find_drawn(&drawn, column);
        if (known == drawn.count) {
            candidate next = {.column = column};
            oif_rolling_read_column(growth->values + column, at->rows, at->count, growth->weigh,
                                    growth->numbers, &next.stats);
            drawn.columns[known] = column;
            drawn.vary[known] = next.stats.low < next.stats.high;
            drawn.count++;
            if (drawn.vary[known] && (found == 0 || next.stats.kurtosis > winner->stats.kurtosis))
                *winner = next;
        }
        found += drawn.vary[known];
    }
    return found > 0;
}

static bool draw_column(tree_growth *growth, const node_rows *at, candidate *winner)
{
    const first_draws first = draw_first(growth);
    return choose_first(growth, at, &first, winner) || choose_any(growth, at, &first, winner);
}

static bool may_be_cut(const oif_rolling_shape *shape, const node_rows *at)
{
    return at->count >= shape->max_leaf_samples && at->depth < shape->max_depth;
}

static uint16_t grow_inner(tree_growth *growth, node_rows at);

/* Returns the child to store in the parent. */
static inline uint16_t grow_node(tree_growth *growth, node_rows at)
{
    return may_be_cut(&growth->trees->shape, &at) ? grow_inner(growth, at)
                                                  : (uint16_t)(OIF_ROLLING_LEAF | at.count);
}

/* Likewise, for rows that may be cut. */
static uint16_t grow_inner(tree_growth *growth, node_rows at)
{
    candidate winner;
    if (!draw_column(growth, &at, &winner))
        return (uint16_t)(OIF_ROLLING_LEAF | at.count);
    double cut = oif_draw_cut(growth->random, winner.stats.low, winner.stats.high);
    uint32_t left = oif_rolling_part_rows(growth->values + winner.column, at.rows, at.count, cut,
                                          winner.stats.complete, growth->spare),
             right = at.count - left;
    uint16_t place = (uint16_t)growth->used++;
    oif_rolling_node grown = {
        .low = winner.stats.low, .high = winner.stats.high, .cut = cut, .column = winner.column};
    grown.children[0] = grow_node(growth, (node_rows){at.rows, left, at.depth + 1});
    grown.children[1] = grow_node(growth, (node_rows){at.rows + left, right, at.depth + 1});
    grown.children[right > left] |= OIF_ROLLING_MISSING;
    growth->nodes[place] = grown;
    return place;
}

void oif_rolling_grow(oif_rolling_trees *trees, uint32_t tree, const double *values, size_t *rows,
                      uint32_t count, oif_random *random)
{
    tree_growth growth = {.trees = trees,
                          .random = random,
                          .values = values,
                          .weigh = trees->shape.tournament > 1 && trees->dimension > 1,
                          .nodes = oif_rolling_nodes(trees, tree),
                          .numbers = oif_block_part(trees, trees->numbers_at),
                          .spare = oif_block_part(trees, trees->spare_at)};
    oif_rolling_roots(trees)[tree] = grow_node(&growth, (node_rows){rows, count, 0});
    memset(growth.nodes + growth.used, 0,
           (trees->node_capacity - growth.used) * sizeof *growth.nodes);
    oif_rolling_rows(trees)[tree] = (uint16_t)count;
    /* Scratch space becomes blank again, so a packed model leaves it out. */
    memset(growth.numbers, 0, count * sizeof *growth.numbers);
    memset(growth.spare, 0, count * sizeof *growth.spare);
}
