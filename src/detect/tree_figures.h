/* Figures that every kind of tree has, collected leaf by leaf and reported under the same names. */
#ifndef OIF_DETECT_TREE_FIGURES_H
#define OIF_DETECT_TREE_FIGURES_H

#include "oif.h"

typedef struct oif_tree_figures {
    uint64_t trees;
    uint64_t leaves, leaves_max; /* of all trees; of the largest */
    uint64_t depth_sum, depth_max;
    uint64_t leaves_here; /* of the current tree */
} oif_tree_figures;

static inline void oif_figures_add_leaf(oif_tree_figures *figures, uint64_t depth)
{
    figures->leaves_here++;
    figures->depth_sum += depth;
    figures->depth_max = depth > figures->depth_max ? depth : figures->depth_max;
}

/* Call it after adding all leaves of a tree. */
static inline void oif_figures_end_tree(oif_tree_figures *figures)
{
    figures->trees++;
    figures->leaves += figures->leaves_here;
    figures->leaves_max =
        figures->leaves_here > figures->leaves_max ? figures->leaves_here : figures->leaves_max;
    figures->leaves_here = 0;
}

/* Every inner node has two children; an empty tree has no nodes. */
static inline void oif_figures_tell(const oif_tree_figures *figures, oif_describe_function tell,
                                    void *context)
{
    uint64_t nodes = figures->leaves ? 2 * figures->leaves - figures->trees : 0;
    tell(context, "nodes", (double)nodes);
    tell(context, "leaves_mean", (double)figures->leaves / (double)figures->trees);
    tell(context, "leaves_max", (double)figures->leaves_max);
    tell(context, "depth_mean",
         figures->leaves ? (double)figures->depth_sum / (double)figures->leaves : 0);
    tell(context, "depth_max", (double)figures->depth_max);
}

#endif
