/* oif_detector_check detects everything that can be broken in rolling-iforest, and names it. The
 * detector's own file is included, so its state can be broken. */
#include "any_detector.h"

#include "detect/rolling_iforest/rolling_iforest.c"

static oif_detector *detector_with(const char *settings, size_t dimension)
{
    return new_named("rolling-iforest", settings, dimension);
}

/* A node with nodes below it, and one of those that is not a leaf. */
static oif_rolling_node *some_node(rolling_state *rolling)
{
    return oif_rolling_nodes(own_trees(rolling), 2);
}

static void see_more_rows_than_are_counted(rolling_state *rolling)
{
    rolling->rows_seen = rolling->window_size + 1;
}

static void leave_the_ring(rolling_state *rolling)
{
    rolling->next_slot = rolling->slots;
}

static void leave_a_gap_in_the_ring(rolling_state *rolling)
{
    rolling->rows_seen = rolling->next_slot + 1;
}

static void forget_to_grow_trees(rolling_state *rolling)
{
    rolling->rows_since = interval(rolling) + 1;
}

static void renew_a_tree_that_does_not_exist(rolling_state *rolling)
{
    rolling->next_tree = own_trees(rolling)->shape.num_trees;
}

static void lose_a_tree(rolling_state *rolling)
{
    oif_rolling_rows(own_trees(rolling))[rolling->next_tree + 1] = 0;
}

static void lose_a_tree_between_others(rolling_state *rolling)
{
    oif_rolling_rows(own_trees(rolling))[rolling->next_tree] = 0;
}

static void hold_an_infinite_row(rolling_state *rolling)
{
    slot_row(rolling, rolling->slots - 1)[0] = INFINITY;
}

static void empty_a_leaf(rolling_state *rolling)
{
    oif_rolling_roots(own_trees(rolling))[0] = OIF_ROLLING_LEAF;
}

static void go_round_in_circles(rolling_state *rolling)
{
    oif_rolling_node *at = some_node(rolling);
    at->children[!(at->children[0] & OIF_ROLLING_LEAF) ? 0 : 1] &= (uint16_t)~OIF_ROLLING_NUMBER;
}

static void leave_the_tree(rolling_state *rolling)
{
    oif_rolling_node *at = some_node(rolling);
    at->children[!(at->children[0] & OIF_ROLLING_LEAF) ? 0 : 1] |= OIF_ROLLING_NUMBER;
}

static void cut_beyond_the_range(rolling_state *rolling)
{
    some_node(rolling)->cut = some_node(rolling)->high + 1;
}

static void cut_at_the_lowest(rolling_state *rolling)
{
    some_node(rolling)->cut = some_node(rolling)->low;
}

static void have_an_infinite_range(rolling_state *rolling)
{
    some_node(rolling)->high = INFINITY;
}

static void have_no_number_as_a_range(rolling_state *rolling)
{
    some_node(rolling)->low = NAN;
}

static void cut_a_column_that_does_not_exist(rolling_state *rolling)
{
    some_node(rolling)->column = rolling->dimension;
}

static void send_missing_numbers_to_the_lighter_side(rolling_state *rolling)
{
    some_node(rolling)->children[0] ^= OIF_ROLLING_MISSING;
    some_node(rolling)->children[1] ^= OIF_ROLLING_MISSING;
}

static void send_missing_numbers_nowhere(rolling_state *rolling)
{
    some_node(rolling)->children[0] &= (uint16_t)~OIF_ROLLING_MISSING;
    some_node(rolling)->children[1] &= (uint16_t)~OIF_ROLLING_MISSING;
}

static void grow_a_tree_from_other_rows(rolling_state *rolling)
{
    oif_rolling_rows(own_trees(rolling))[0]--;
}

static void widen_a_range_below(rolling_state *rolling)
{
    oif_rolling_node *nodes = some_node(rolling);
    for (uint32_t i = 1; i < own_trees(rolling)->node_capacity; i++)
        if (nodes[i].low < nodes[i].high && nodes[i].column == nodes[0].column) {
            nodes[i].high = nodes[0].high + 1;
            nodes[i].low = nodes[0].low - 1;
        }
}

static void reach_across_a_cut(rolling_state *rolling)
{
    oif_rolling_node *nodes = some_node(rolling);
    for (uint32_t i = 1; i < own_trees(rolling)->node_capacity; i++)
        if (nodes[i].low < nodes[i].high && nodes[i].column == nodes[0].column) {
            nodes[i].high = nodes[0].high;
            nodes[i].low = nodes[0].low;
        }
}

static const struct {
    const char *name;
    void (*inflict)(rolling_state *rolling);
    const char *words;
} wounds[] = {
#define WOUND(function, words)                                                                     \
    {                                                                                              \
#function, function, words                                                                 \
    }
    WOUND(see_more_rows_than_are_counted, "more rows were seen than are counted"),
    WOUND(leave_the_ring, "the next row has no place in the ring"),
    WOUND(leave_a_gap_in_the_ring, "the ring has a gap"),
    WOUND(forget_to_grow_trees, "trees should have been grown before"),
    WOUND(renew_a_tree_that_does_not_exist, "the oldest tree does not exist"),
    WOUND(lose_a_tree, "the first tree without rows is not the next to be grown"),
    WOUND(lose_a_tree_between_others, "trees were not grown in turn"),
    WOUND(hold_an_infinite_row, "a row is infinite"),
    WOUND(empty_a_leaf, "tree 0: a leaf has no rows"),
    WOUND(go_round_in_circles, "tree 2: a node is not where it should be"),
    WOUND(leave_the_tree, "tree 2: a node is not where it should be"),
    WOUND(cut_beyond_the_range, "tree 2: a cut is not within its range"),
    WOUND(cut_at_the_lowest, "tree 2: a cut is not within its range"),
    WOUND(have_an_infinite_range, "tree 2: a cut is not within its range"),
    WOUND(have_no_number_as_a_range, "tree 2: a cut is not within its range"),
    WOUND(cut_a_column_that_does_not_exist, "tree 2: a cut's column does not exist"),
    WOUND(send_missing_numbers_to_the_lighter_side,
          "tree 2: missing numbers do not go to the heavier side"),
    WOUND(send_missing_numbers_nowhere, "tree 2: missing numbers do not go to the heavier side"),
    WOUND(grow_a_tree_from_other_rows,
          "tree 0: its leaves do not have the rows that it was grown from"),
    WOUND(widen_a_range_below, "tree 2: a range reaches beyond one above it"),
    WOUND(reach_across_a_cut, "tree 2: a range reaches across a cut above it"),
#undef WOUND
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    oif_detector *sound = detector_with("window_size=256 num_trees=5", 3);
    double *rows = promise_rows(9, 0.05);
    require_ok(oif_detector_learn_rows(sound, rows, 290, 3, NULL));
    const rolling_state *rolling = oif_detector_state(sound);
    assert_true(rolling->next_tree < 4 && rolling->next_slot < rolling->slots - 1);
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = clone_of(sound);
        oif_error error = {.status = OIF_OK};
        require_ok_or(oif_detector_check(broken, &error), error);
        wounds[i].inflict((rolling_state *)(uintptr_t)oif_detector_state(broken));
        oif_status status = oif_detector_check(broken, &error);
        if (status != OIF_EINVARIANT || strcmp(error.message, wounds[i].words) != 0)
            fail_msg("%s: status %d, \"%s\", expected %d, \"%s\"", wounds[i].name, status,
                     status ? error.message : "", OIF_EINVARIANT, wounds[i].words);
        oif_detector_free(broken);
    }
    oif_detector_free(sound);
    free(rows);
}

/* Nodes that would be too deep, or too small to be cut: the same trees with stricter parameters. */
static void the_check_holds_trees_to_their_parameters(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("window_size=256 num_trees=5", 3);
    rolling_state *rolling = (rolling_state *)(uintptr_t)oif_detector_state(detector);
    oif_rolling_shape *shape = &own_trees(rolling)->shape;
    double *rows = promise_rows(9, 0);
    oif_error error = {.status = OIF_OK};
    require_ok(oif_detector_learn_rows(detector, rows, 290, 3, NULL));
    shape->max_depth = 3;
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    expect_message(error, "a node is too deep");
    shape->max_depth = 8;
    shape->max_leaf_samples = 30;
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    expect_message(error, "a node of few rows is cut");
    shape->max_leaf_samples = 8;
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
    free(rows);
}

/* A walk at a leaf reads the first node, even if the tree has none. */
static void the_check_looks_at_nodes_that_are_not_used(void **state)
{
    (void)state;
    const double same[] = {1, 2, 3};
    oif_detector *detector = detector_with("window_size=64 num_trees=8 sample_size=16", 3);
    oif_rolling_trees *trees = own_trees(oif_detector_state(detector));
    oif_error error = {.status = OIF_OK};
    oif_rolling_nodes(trees, 7)->cut = 1; /* of a tree not yet grown */
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    expect_message(error, "tree 7: a node that is not used is not empty");
    oif_rolling_nodes(trees, 7)->cut = 0;
    for (int i = 0; i < 200; i++)
        require_ok(oif_detector_learn(detector, same, NULL));
    require_ok_or(oif_detector_check(detector, &error), error);
    assert_true(oif_rolling_roots(trees)[5] & OIF_ROLLING_LEAF);
    oif_rolling_nodes(trees, 5)->column = 1 << 28;
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    expect_message(error, "tree 5: a node that is not used is not empty");
    oif_detector_free(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
        cmocka_unit_test(the_check_holds_trees_to_their_parameters),
        cmocka_unit_test(the_check_looks_at_nodes_that_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
