/* oif_detector_check detects everything that can be broken in half-space trees, and names it. */
#include "any_detector.h"

#include "detect/hst/half_space_trees.h"

typedef struct wound {
    oif_hst_state *forest;
    oif_hst_tree *tree;
    oif_hst_node *nodes, *root, *leaf; /* of tree 1; a leaf with rows */
} wound;

static void move_a_cut(wound *w)
{
    w->root->cut += 0.01;
}
static void change_a_column(wound *w)
{
    w->root->column ^= 1;
}
static void count_a_row_too_many(wound *w)
{
    w->leaf->count++;
}
static void overfill_a_leaf(wound *w)
{
    w->leaf->count += w->forest->limit;
}
static void give_a_leaf_a_cut(wound *w)
{
    w->leaf->cut = 3;
}
static void lose_the_rows_of_a_leaf(wound *w)
{
    w->leaf->count = 0;
    w->leaf->first_row = OIF_HST_NONE;
}
static void change_a_mass(wound *w)
{
    w->nodes[w->root->child].worth += 1u << OIF_HST_DEPTH_BITS;
}
static void change_the_roots_mass(wound *w)
{
    w->root->worth += 1u << OIF_HST_DEPTH_BITS;
    w->nodes[w->root->child].worth += 1u << OIF_HST_DEPTH_BITS;
    for (oif_hst_node *n = &w->nodes[w->root->child]; n->child != (uint32_t)(n - w->nodes);
         n = &w->nodes[n->child])
        w->nodes[n->child].worth += 1u << OIF_HST_DEPTH_BITS;
}
static void misplace_a_child(wound *w)
{
    w->nodes[w->root->child + 1].place++;
}
static void misplace_the_root(wound *w)
{
    w->root->place = 2;
}
static void point_outside(wound *w)
{
    w->root->child = 0;
}
static void count_in_an_inner_node(wound *w)
{
    w->root->count = 1;
}
static void name_a_stranger_heavier(wound *w)
{
    w->root->heavier = w->root->child + 2;
}
static void forget_a_node(wound *w)
{
    w->tree->used += 2;
}
static void break_the_free_list(wound *w)
{
    w->tree->free_pair = w->root->child;
}
static void claim_a_level_more(wound *w)
{
    w->tree->levels++;
}
static void hold_more_rows_than_fit(wound *w)
{
    w->forest->rows_held = w->forest->window_size;
}
static void swap_the_lists_of_two_leaves(wound *w)
{
    for (oif_hst_node *n = w->leaf + 1; n < w->nodes + 2 * w->forest->node_capacity; n++)
        if (n->child == (uint32_t)(n - w->nodes) && n->count == w->leaf->count &&
            n->first_row != OIF_HST_NONE) {
            uint32_t row = n->first_row;
            n->first_row = w->leaf->first_row;
            w->leaf->first_row = row;
            return;
        }
}
static void forget_that_trees_stand(wound *w)
{
    w->forest->counting = false;
    w->forest->next_build = 0;
}
static void build_from_more_than_a_window(wound *w)
{
    w->forest->next_build = w->forest->window_size + 1;
}
static void cut_too_deep(wound *w)
{
    w->forest->max_depth = 1;
}

static void give_a_leaf_a_column(wound *w)
{
    w->leaf->column = 1;
}
static void count_a_row_too_few(wound *w)
{
    w->leaf->count--;
}
static void take_half_of_another_pair(wound *w)
{
    w->root->child++;
}
static void point_behind_the_last_node(wound *w)
{
    w->root->child = (uint32_t)(w->root - w->nodes) + w->tree->used;
}
static void misplace_the_left_child(wound *w)
{
    w->nodes[w->root->child].place++;
}
static void use_no_nodes(wound *w)
{
    w->tree->used = 0;
}
static void use_more_nodes_than_there_are(wound *w)
{
    w->tree->used = w->forest->node_capacity + 2;
}
static void use_half_a_pair(wound *w)
{
    w->tree->used--;
}
static void free_the_root(wound *w)
{
    w->tree->free_pair = (uint32_t)(w->root - w->nodes);
}
static void refer_to_more_rows_than_fit(wound *w)
{
    w->forest->reference_rows = w->forest->window_size + 1;
}

static void compare_with_another_number_of_rows(wound *w)
{
    w->forest->no_mass += 1;
}
static void hold_an_infinite_row(wound *w)
{
    oif_hst_row(w->forest, w->forest->window_size - 1)[1] = INFINITY;
}
static void have_an_infinite_range(wound *w)
{
    oif_hst_range_of(w->forest, 1)->high = INFINITY;
}
static void turn_a_range_round(wound *w)
{
    oif_hst_range_of(w->forest, 1)->low = oif_hst_range_of(w->forest, 1)->high + 1;
}
static void start_a_range_too_low(wound *w)
{
    oif_hst_range_of(w->forest, 1)->low = -1.7e308;
}
static void have_a_width_below_0(wound *w)
{
    oif_hst_range_of(w->forest, 1)->width = -1;
}
static void have_an_infinite_width(wound *w)
{
    oif_hst_range_of(w->forest, 1)->width = INFINITY;
}
static void see_half_of_a_range(wound *w)
{
    *oif_hst_range_of(w->forest, 1) = (oif_hst_range){.low = INFINITY, .high = 1, .width = 0};
}
static void see_the_width_of_no_range(wound *w)
{
    *oif_hst_range_of(w->forest, 1) = (oif_hst_range){INFINITY, INFINITY, 1};
}
static void count_twice(wound *w)
{
    w->forest->counting = 2;
}
static void refer_to_half_a_window(wound *w)
{
    w->forest->reference_rows = w->forest->window_size / 2;
}

static const struct {
    const char *name;
    void (*inflict)(wound *w);
    const char *words;
} wounds[] = {
    {"move_a_cut", move_a_cut, "a cut is not in the middle of its cell"},
    {"change_a_column", change_a_column, "a cut has not the column of its place"},
    {"count_a_row_too_many", count_a_row_too_many,
     "the list of a leaf is not as long as its count"},
    {"overfill_a_leaf", overfill_a_leaf, "a leaf holds more rows than the size limit"},
    {"give_a_leaf_a_cut", give_a_leaf_a_cut, "a leaf has a cut"},
    {"lose_the_rows_of_a_leaf", lose_the_rows_of_a_leaf,
     "the counts do not add up to the rows of the window"},
    {"change_a_mass", change_a_mass, "a reference mass is not the sum of its children's"},
    {"change_the_roots_mass", change_the_roots_mass,
     "the root's mass is not that of the reference window"},
    {"misplace_a_child", misplace_a_child, "a child is not in its place"},
    {"misplace_the_root", misplace_the_root, "the root is not in its place"},
    {"point_outside", point_outside, "a child is outside of the tree"},
    {"count_in_an_inner_node", count_in_an_inner_node, "an inner node counts rows"},
    {"name_a_stranger_heavier", name_a_stranger_heavier, "the heavier child is no child"},
    {"forget_a_node", forget_a_node, "a node is neither in the tree nor free"},
    {"break_the_free_list", break_the_free_list, "the list of free nodes is broken"},
    {"claim_a_level_more", claim_a_level_more,
     "the number of levels is not that of the deepest leaf"},
    {"hold_more_rows_than_fit", hold_more_rows_than_fit,
     "a window holds more rows than it has room for"},
    {"swap_the_lists", swap_the_lists_of_two_leaves,
     "a row is in the list of a leaf that it does not fall into"},
    {"forget_that_trees_stand", forget_that_trees_stand,
     "the trees were not built when they should have been"},
    {"build_from_more_than_a_window", build_from_more_than_a_window,
     "the trees are to be built from more than a window"},
    {"cut_too_deep", cut_too_deep, "a node at max_depth is cut"},
    {"give_a_leaf_a_column", give_a_leaf_a_column, "a leaf has a cut"},
    {"count_a_row_too_few", count_a_row_too_few, "the list of a leaf is not as long as its count"},
    {"take_half_of_another_pair", take_half_of_another_pair, "a child is outside of the tree"},
    {"point_behind_the_last_node", point_behind_the_last_node, "a child is outside of the tree"},
    {"misplace_the_left_child", misplace_the_left_child, "a child is not in its place"},
    {"use_no_nodes", use_no_nodes, "there is no room for its nodes"},
    {"use_more_nodes_than_there_are", use_more_nodes_than_there_are,
     "there is no room for its nodes"},
    {"use_half_a_pair", use_half_a_pair, "there is no room for its nodes"},
    {"free_the_root", free_the_root, "the list of free nodes is broken"},
    {"refer_to_more_rows_than_fit", refer_to_more_rows_than_fit,
     "a window holds more rows than it has room for"},
    {"compare_with_another_number_of_rows", compare_with_another_number_of_rows,
     "masses are put in relation to another number of rows"},
    {"hold_an_infinite_row", hold_an_infinite_row, "a row is infinite"},
    {"have_an_infinite_range", have_an_infinite_range, "column 1: the range is none"},
    {"turn_a_range_round", turn_a_range_round, "column 1: the range is none"},
    {"start_a_range_too_low", start_a_range_too_low, "column 1: the range is none"},
    {"have_a_width_below_0", have_a_width_below_0, "column 1: the range is none"},
    {"have_an_infinite_width", have_an_infinite_width, "column 1: the range is none"},
    {"see_half_of_a_range", see_half_of_a_range, "column 1: the range is none"},
    {"see_the_width_of_no_range", see_the_width_of_no_range, "column 1: the range is none"},
    {"count_twice", count_twice, "the trees were not built when they should have been"},
    {"refer_to_half_a_window", refer_to_half_a_window,
     "the trees were not built when they should have been"},
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    oif_detector *sound = new_named("hst", "num_trees=3 window_size=128 seed=14", 2);
    double *rows = normal_rows(9, 700, 2);
    require_ok(oif_detector_learn_rows(sound, rows, 700, 2, NULL));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = whole_clone_of(sound);
        oif_hst_state *forest = (oif_hst_state *)(uintptr_t)oif_detector_state(broken);
        oif_hst_node *nodes = oif_hst_nodes(forest), *leaf = &nodes[oif_hst_root(forest, 1)];
        wound w = {forest, &oif_hst_trees(forest)[1], nodes, leaf, leaf};
        while (w.leaf->count == 0)
            w.leaf++;
        wounds[i].inflict(&w);
        require_broken(broken, wounds[i].name, wounds[i].words);
    }
    oif_detector_free(sound);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
