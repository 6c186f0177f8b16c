/* oif_detector_check detects everything that can be broken in a robust random cut forest, and names
 * it. */
#include "any_detector.h"

#include "detect/rrcf/rrcf.h"

enum { DIMENSION = 3 };

/* A forest to break, and places in its first tree. */
typedef struct victim {
    oif_detector *detector;
    oif_rrcf_state *state;
    oif_cut_tree *tree;
    oif_cut_tree_link *links;
    oif_cut_tree_cut *root_cut;
    uint32_t inner, leaf; /* an inner node below the root with two leaves, and one of them */
} victim;

static victim new_victim(void)
{
    victim v = {
        .detector = new_named(
            "rrcf", "num_trees=2 tree_size=16 sample=sliding window_size=1 seed=1", DIMENSION)};
    double *rows = normal_rows(1, 60, DIMENSION);
    require_ok(oif_detector_learn_rows(v.detector, rows, 60, DIMENSION, NULL));
    free(rows);
    v.state = (oif_rrcf_state *)(uintptr_t)oif_detector_state(v.detector);
    v.tree = oif_rrcf_tree(v.state, 0);
    v.links = oif_cut_tree_links(&v.state->shape, v.tree);
    v.root_cut = oif_cut_tree_cut_at(&v.state->shape, v.tree, v.tree->root);
    for (v.inner = v.state->shape.capacity;; v.inner++) {
        const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(&v.state->shape, v.tree, v.inner);
        v.leaf = cut->left;
        if (v.inner != v.tree->root && oif_cut_tree_is_leaf(&v.state->shape, cut->left) &&
            oif_cut_tree_is_leaf(&v.state->shape, cut->right))
            return v;
    }
}

static void break_root_parent(victim *v)
{
    v->links[v->tree->root].parent = v->inner;
}

static void break_root_mass(victim *v)
{
    v->links[v->tree->root].mass++;
}

static void break_inner_mass(victim *v)
{
    v->links[v->inner].mass++;
}

static void break_leaf_mass(victim *v)
{
    uint32_t node = v->leaf;
    uint32_t *leaves = oif_rrcf_leaves(v->state, 0);
    for (uint32_t i = 0; i < v->state->shape.capacity; i++)
        if (leaves[i] == node)
            leaves[i] =
                /* now counted at its neighbour */
                oif_cut_tree_cut_at(&v->state->shape, v->tree, v->inner)->right;
}

static void break_sample(victim *v)
{
    oif_rrcf_leaves(v->state, 0)[3] = v->state->shape.capacity;
}

static void break_children(victim *v)
{
    v->root_cut->left = v->root_cut->right;
}

static void break_child_parent(victim *v)
{
    v->links[v->leaf].parent = v->tree->root;
}

static void break_cut_low(victim *v)
{
    v->root_cut->value = -100;
}

static void break_cut_high(victim *v)
{
    v->root_cut->value = 100;
}

static void break_cut_nan(victim *v)
{
    v->root_cut->value = NAN;
}

static void break_column(victim *v)
{
    v->root_cut->column = DIMENSION;
}

static void break_range(victim *v)
{
    v->root_cut->range *= 1.5;
}

static void break_box(victim *v)
{
    *oif_cut_tree_box_low(&v->state->shape, v->tree, v->inner) -= 1;
}

static void break_point(victim *v)
{
    *oif_cut_tree_point(&v->state->shape, v->tree, v->leaf) = -50;
}

static void break_gap(victim *v)
{
    for (uint32_t i = 0; i < v->state->shape.capacity; i++)
        oif_cut_tree_point(&v->state->shape, v->tree, i)[1] = NAN;
    for (uint32_t i = v->state->shape.capacity; i < 2 * v->state->shape.capacity - 1; i++)
        oif_cut_tree_box_low(&v->state->shape, v->tree, i)[1] =
            oif_cut_tree_box_low(&v->state->shape, v->tree, i)[1 + DIMENSION] = NAN;
}

static void break_free_list(victim *v)
{
    v->tree->free_leaf = 0;
}

static void break_free_node(victim *v)
{
    v->links[v->leaf].mass = 0;
}

static void break_last_leaf(victim *v)
{
    oif_rrcf_last_leaves(v->state)[0] = v->inner;
}

static void break_emptiness(victim *v)
{
    v->state->rows_learned = 0;
}

static void break_loop(victim *v)
{
    v->links[v->inner].parent = v->leaf;
}

static void break_orphan(victim *v)
{
    v->links[v->leaf].parent = v->leaf;
}

static void break_adoption(victim *v)
{
    oif_cut_tree_cut *cut = oif_cut_tree_cut_at(&v->state->shape, v->tree, v->inner);
    uint32_t other = 0; /* a leaf elsewhere */
    while (v->links[other].mass == 0 || v->links[other].parent == v->inner)
        other++;
    v->links[v->leaf].mass = 0;
    cut->left = other;
}

static void break_right_child(victim *v)
{
    v->root_cut->right = 2 * v->state->shape.capacity - 1;
}

static void break_left_child(victim *v)
{
    v->root_cut->left = OIF_CUT_TREE_NO_NODE;
}

static void break_root(victim *v)
{
    v->tree->root = 2 * v->state->shape.capacity - 1;
}

static void break_free_inner_list(victim *v)
{
    v->tree->free_inner = v->inner;
}

static void break_free_number(victim *v)
{
    v->tree->free_leaf = 2 * v->state->shape.capacity;
}

static void break_last_number(victim *v)
{
    oif_rrcf_last_leaves(v->state)[0] = 2 * v->state->shape.capacity;
}

static void break_infinite_point(victim *v)
{
    *oif_cut_tree_point(&v->state->shape, v->tree, v->leaf) = INFINITY;
}

static void break_has_gaps(victim *v)
{
    v->tree->has_gaps = 2;
}

/* Their sum modulo 2^32 is unchanged. */
static void break_mass_by_wrapping(victim *v)
{
    v->links[v->root_cut->left].mass += UINT32_C(1) << 31;
    v->links[v->root_cut->right].mass += UINT32_C(1) << 31;
}

static void the_check_sees_everything_that_can_be_broken(void **state)
{
    (void)state;
    const struct {
        void (*break_it)(victim *v);
        const char *words;
    } breaks[] = {
        {break_root_parent, "the root is not one"},
        {break_root_mass, "the root's mass is not the number of rows"},
        {break_inner_mass, "an inner mass is not the sum of its children's"},
        {break_leaf_mass, "a leaf's mass is not the number of its rows"},
        {break_sample, "a row's leaf is not one"},
        {break_children, "an inner node does not have two children"},
        {break_child_parent, "a parent does not know its child"},
        {break_cut_low, "a box crosses the cut above it"},
        {break_cut_high, "a box crosses the cut above it"},
        {break_cut_nan, "a cut's column or value does not exist"},
        {break_column, "a cut's column or value does not exist"},
        {break_range, "a range is not the sum of the sides of its box"},
        {break_box, "a box is not the one around its children"},
        {break_point, "a box is not the one around its children"},
        {break_gap, "a number is missing in a tree without missing numbers"},
        {break_free_list, "a free node is not on its list"},
        {break_free_node, "a free node is in the tree"},
        {break_last_leaf, "the last row's leaf is not one"},
        {break_emptiness, "an empty tree has a root"},
        {break_loop, "a node hangs below nothing"},
        {break_infinite_point, "a point is infinite"},
        {break_has_gaps, "it cannot say whether numbers are missing"},
        {break_mass_by_wrapping, "an inner mass is not the sum of its children's"},
        {break_orphan, "a node hangs below nothing"},
        {break_adoption, "a child does not know its parent"},
        {break_left_child, "an inner node does not have two children"},
        {break_right_child, "an inner node does not have two children"},
        {break_root, "the root is not one"},
        {break_free_inner_list, "a free node is not on its list"},
        {break_free_number, "a free node is not on its list"},
        {break_last_number, "the last row's leaf is not one"},
    };
    for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
        victim v = new_victim();
        oif_error error = {.status = OIF_OK};
        require_ok(oif_detector_check(v.detector, NULL));
        breaks[i].break_it(&v);
        if (oif_detector_check(v.detector, &error) != OIF_EINVARIANT)
            fail_msg("the check does not see that %s", breaks[i].words);
        expect_message(error, breaks[i].words);
        expect_message(error, "tree 0: ");
        oif_detector_free(v.detector);
    }
}

/* The check counts the rows of 4,096 leaves at a time. */
static void a_tree_with_many_leaves_is_checked_to_its_end(void **state)
{
    enum { LEAVES = 9000 };
    double *rows = normal_rows(2, LEAVES, DIMENSION);
    oif_detector *detector = new_named("rrcf", "num_trees=1 tree_size=9000 seed=1", DIMENSION);
    oif_error error;
    (void)state;
    require_ok(oif_detector_learn_rows(detector, rows, LEAVES, DIMENSION, NULL));
    assert_int_equal(oif_detector_check(detector, &error), OIF_OK);
    oif_rrcf_state *forest = (oif_rrcf_state *)(uintptr_t)oif_detector_state(detector);
    uint32_t *leaves = oif_rrcf_leaves(forest, 0);
    leaves[0] = leaves[LEAVES - 1]; /* two rows in one leaf, none in another */
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    oif_detector_free(detector);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_sees_everything_that_can_be_broken),
        cmocka_unit_test(a_tree_with_many_leaves_is_checked_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
