/* oif_detector_check detects everything that can be broken in an online isolation forest, and names
 * it. */
#include "driver.h"

typedef struct wound {
    oif_window_state *forest;
    oif_window_tree *tree; /* number 1 of 3 */
    oif_window_node root;
} wound;

/* The leftmost leaf, and its parent. */
static oif_window_node leftmost_leaf(const wound *w)
{
    oif_window_node at = w->root;
    while (oif_window_is_cut(w->forest, at))
        at = oif_window_left(at);
    return at;
}

static oif_window_node rightmost_leaf(const wound *w)
{
    oif_window_node at = w->root;
    while (oif_window_is_cut(w->forest, at))
        at = oif_window_right(at);
    return at;
}

static oif_window_leaf *leaf_record(const wound *w, oif_window_node at)
{
    return oif_window_leaf_here(w->forest, at);
}

static uint32_t spare_number(const wound *w)
{
    for (uint32_t i = 0; i < w->forest->leaf_capacity; i++)
        if (oif_window_leaf_of(w->forest, w->tree, i)->depth == OIF_WINDOW_VACANT)
            return i;
    fail_msg("no record is vacant: choose another seed");
    return 0;
}

static uint8_t *newest_label(const wound *w)
{
    const oif_window_state *f = w->forest;
    return &oif_window_labels(f, w->tree)[f->next_slot ? f->next_slot - 1 : f->slots - 1];
}

static double *box_of(const wound *w, oif_window_node at)
{
    return oif_window_box(w->forest, oif_window_leaf_here(w->forest, at));
}

static void count_a_row_too_many(wound *w)
{
    leaf_record(w, leftmost_leaf(w))->height++;
}

static void lower_a_height_under_its_guard(wound *w)
{
    oif_window_leaf *leaf = leaf_record(w, leftmost_leaf(w));
    leaf->height = leaf->guard - 1;
}

static void lower_a_guard(wound *w)
{
    leaf_record(w, leftmost_leaf(w))->guard -= 10000;
}

static void lower_a_height_and_its_guard(wound *w)
{
    oif_window_leaf *leaf = leaf_record(w, leftmost_leaf(w));
    leaf->guard -= 256;
    leaf->height -= 256;
}

static void change_a_leafs_depth(wound *w)
{
    leaf_record(w, leftmost_leaf(w))->depth += 1u << OIF_DEPTH_BITS;
}

static void move_a_leaf(wound *w)
{
    leaf_record(w, leftmost_leaf(w))->index++;
}

static void vacate_a_leaf(wound *w)
{
    leaf_record(w, leftmost_leaf(w))->depth = OIF_WINDOW_VACANT;
}

static void occupy_a_spare_record(wound *w)
{
    oif_window_leaf_of(w->forest, w->tree, spare_number(w))->depth = 0;
}

static void number_a_leaf_too_high(wound *w)
{
    oif_window_leaf_at(w->forest)[oif_window_place_below(w->forest, leftmost_leaf(w))] =
        (uint8_t)w->forest->leaf_capacity;
}

static void misnumber_a_place_below_a_leaf(wound *w)
{
    oif_window_leaf_at(w->forest)[leftmost_leaf(w).index] ^= 1;
}

static void put_a_leaf_in_two_places(wound *w)
{
    uint8_t *leaf_at = oif_window_leaf_at(w->forest);
    leaf_at[oif_window_place_below(w->forest, rightmost_leaf(w))] =
        leaf_at[oif_window_place_below(w->forest, leftmost_leaf(w))];
}

static void cut_a_column_that_does_not_exist(wound *w)
{
    oif_window_cut_columns(w->forest)[w->root.index] = w->forest->dimension;
}

static void cut_at_minus_infinity(wound *w)
{
    oif_window_last_lefts(w->forest)[w->root.index] = oif_sort_key(-INFINITY) - 1;
}

static void hide_a_cut_below_a_leaf(wound *w)
{
    oif_window_node at = leftmost_leaf(w);
    if (at.depth + 1 >= w->forest->depth_limit)
        fail_msg("the leftmost leaf is too deep: choose another seed");
    oif_window_last_lefts(w->forest)[oif_window_left(at).index] = oif_sort_key(0);
}

static void turn_a_box_inside_out(wound *w)
{
    const oif_window_state *f = w->forest;
    oif_window_node at = leftmost_leaf(w);
    uint32_t column = oif_window_cut_columns(f)[at.index / 2];
    box_of(w, at)[column] = 1;                /* low */
    box_of(w, at)[f->dimension + column] = 5; /* -high */
}

static void widen_a_box_over_its_cut(wound *w)
{
    const oif_window_state *f = w->forest;
    oif_window_node at = leftmost_leaf(w);
    uint32_t column = oif_window_cut_columns(f)[at.index / 2];
    double beyond = oif_window_cut_value(f, oif_window_parent(at)) + 1;
    box_of(w, at)[column] = fmin(box_of(w, at)[column], beyond);
    box_of(w, at)[f->dimension + column] = -beyond;
}

static void claim_a_level_more(wound *w)
{
    oif_window_levels(w->forest)[1]++;
}

static void claim_a_level_less(wound *w)
{
    oif_window_levels(w->forest)[1]--;
}

static void walk_less_deep_than_the_tree(wound *w)
{
    oif_window_lane_levels(w->forest)[0] = 0;
}

static void label_a_row_with_a_vacant_leaf(wound *w)
{
    *newest_label(w) = (uint8_t)spare_number(w);
}

static void label_a_row_with_another_leaf(wound *w)
{
    uint32_t left = oif_window_leaf_number(w->forest, leftmost_leaf(w));
    uint32_t right = oif_window_leaf_number(w->forest, rightmost_leaf(w));
    *newest_label(w) = (uint8_t)(*newest_label(w) == left ? right : left);
}

static void drop_the_label_of_a_row(wound *w)
{
    *newest_label(w) = OIF_WINDOW_NOT_COUNTED;
}

static void hold_more_rows_than_fit(wound *w)
{
    w->forest->rows_held = w->forest->window_size + 1;
}

static void leave_the_ring(wound *w)
{
    w->forest->next_slot = w->forest->slots;
}

static const struct {
    const char *name;
    void (*inflict)(wound *w);
    const char *words;
} wounds[] = {
#define WOUND(function, words)                                                                     \
    {                                                                                              \
#function, function, words                                                                 \
    }
    WOUND(count_a_row_too_many, "the heights do not add up to the rows in the window"),
    WOUND(lower_a_height_under_its_guard, "a leaf's height is under its guard"),
    WOUND(lower_a_guard, "the guards of the leaves do not add up to the threshold above"),
    WOUND(lower_a_height_and_its_guard, "an inner height is under its threshold"),
    WOUND(change_a_leafs_depth, "a leaf's depth is not that of its place"),
    WOUND(move_a_leaf, "a leaf does not know its place"),
    WOUND(vacate_a_leaf, "a vacant leaf is in the tree"),
    WOUND(occupy_a_spare_record, "a leaf that is not vacant is nowhere in the tree"),
    WOUND(number_a_leaf_too_high, "a leaf's number is too large"),
    WOUND(misnumber_a_place_below_a_leaf, "a place below a leaf has the number of another"),
    WOUND(put_a_leaf_in_two_places, "a leaf is in two places"),
    WOUND(cut_a_column_that_does_not_exist, "a cut's column does not exist"),
    WOUND(cut_at_minus_infinity, "a cut's value is not a number"),
    WOUND(hide_a_cut_below_a_leaf, "a cut lies below a leaf"),
    WOUND(turn_a_box_inside_out, "a box is inside out"),
    WOUND(widen_a_box_over_its_cut, "a box crosses a cut above it"),
    WOUND(claim_a_level_more, "the number of levels is not that of the deepest leaf"),
    WOUND(claim_a_level_less, "the number of levels is not that of the deepest leaf"),
    WOUND(walk_less_deep_than_the_tree, "the trees walked beside it go less deep"),
    WOUND(label_a_row_with_a_vacant_leaf, "a row is counted by a leaf that is not in the tree"),
    WOUND(label_a_row_with_another_leaf, "a row is counted by a leaf that it does not fall into"),
    WOUND(drop_the_label_of_a_row, "a row is counted by no leaf"),
    WOUND(hold_more_rows_than_fit, "the window holds more rows than it has room for"),
    WOUND(leave_the_ring, "the window holds more rows than it has room for"),
#undef WOUND
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    setup s = {
        .num_trees = 3, .window_size = 256, .max_leaf_samples = 4, .subsample = 1, .seed = 14};
    oif_detector *sound = new_detector(&s, 2);
    double *rows = normal_rows(9, 700, 2);
    require_ok(oif_detector_learn_rows(sound, rows, 700, 2, NULL));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = clone_of(sound);
        oif_window_state *forest = (oif_window_state *)(uintptr_t)oif_detector_state(broken);
        wound w = {forest, oif_window_tree_at(forest, 1), oif_window_root(forest, 1)};
        oif_error error = {.status = OIF_OK};
        require_ok_or(oif_detector_check(broken, &error), error);
        wounds[i].inflict(&w);
        oif_status status = oif_detector_check(broken, &error);
        if (status != OIF_EINVARIANT || error.status != OIF_EINVARIANT ||
            !strstr(error.message, wounds[i].words))
            fail_msg("%s: status %d, \"%s\", expected %d, \"%s\"", wounds[i].name, status,
                     status ? error.message : "", OIF_EINVARIANT, wounds[i].words);
        if (!strstr(wounds[i].words, "window holds")) /* trees 0 to 2 are walked side by side */
            expect_message(error, strstr(wounds[i].words, "beside") ? "tree 0: " : "tree 1: ");
        assert_int_equal(oif_detector_check(broken, NULL), OIF_EINVARIANT);
        oif_detector_free(broken);
    }
    require_ok(oif_detector_check(sound, NULL));
    oif_detector_free(sound);
    free(rows);
}

/* ---- Labels ---- */

/* Whether a leaf may count a row of the ring: the definition, cut by cut. */
static bool falls_into(const oif_window_state *forest, uint32_t tree, uint32_t slot, uint32_t leaf)
{
    oif_window_node at = oif_window_root(forest, tree);
    while (oif_window_is_cut(forest, at)) {
        uint32_t column = oif_window_cut_columns(forest)[at.index];
        double number = oif_window_ring_column(forest, column)[slot];
        if (isnan(number))
            return true; /* it may be anywhere */
        at =
            number >= oif_window_cut_value(forest, at) ? oif_window_right(at) : oif_window_left(at);
    }
    return oif_window_leaf_number(forest, at) == leaf;
}

static uint32_t draw_standing_leaf(const oif_window_state *forest, uint32_t tree, dice *from)
{
    const oif_window_tree *in = oif_window_tree_at(forest, tree);
    for (;;) {
        uint32_t leaf = dice_below(from, forest->leaf_capacity);
        if (oif_window_leaf_of(forest, in, leaf)->depth != OIF_WINDOW_VACANT)
            return leaf;
    }
}

/* Changes the label of a row, or sets one of its values to a cut or close to it. */
static void misplace_a_row(oif_window_state *forest, uint32_t tree, uint32_t slot, dice *from)
{
    const oif_window_node root = oif_window_root(forest, tree);
    uint8_t *label = &oif_window_labels(forest, oif_window_tree_at(forest, tree))[slot];
    if (*label != OIF_WINDOW_NOT_COUNTED &&
        (dice_below(from, 2) || !oif_window_is_cut(forest, root))) {
        *label = (uint8_t)draw_standing_leaf(forest, tree, from);
        return;
    }
    if (!oif_window_is_cut(forest, root))
        return;
    const double cut = oif_window_cut_value(forest, root);
    const double numbers[] = {cut, nextafter(cut, -INFINITY), nextafter(cut, INFINITY), NAN};
    oif_window_ring_column(forest, oif_window_cut_columns(forest)[root.index])[slot] =
        numbers[dice_below(from, 4)];
}

static bool all_fall_into_their_leaves(const oif_window_state *forest)
{
    for (uint32_t tree = 0; tree < forest->num_trees; tree++)
        for (uint32_t age = 1; age <= forest->rows_held; age++) {
            uint32_t slot = (forest->next_slot + forest->slots - age) % forest->slots;
            uint8_t label = oif_window_labels(forest, oif_window_tree_at(forest, tree))[slot];
            if (label != OIF_WINDOW_NOT_COUNTED && !falls_into(forest, tree, slot, label))
                return false;
        }
    return true;
}

enum { LABELLED_ROWS = 500, WOUNDS = 40 }; /* the window wraps around the ring */

static void require_same_verdicts(oif_detector *sound, dice *from, uint32_t verdicts[2])
{
    for (int i = 0; i < WOUNDS; i++) {
        oif_detector *broken = clone_of(sound);
        oif_window_state *forest = (oif_window_state *)(uintptr_t)oif_detector_state(broken);
        uint32_t age = 1 + dice_below(from, forest->rows_held);
        uint32_t slot = (forest->next_slot + forest->slots - age) % forest->slots;
        assert_in_range(forest->next_slot, 1, forest->rows_held - 1);
        slot = i < 4 ? 0 : i < 8 ? forest->slots - 1 : slot; /* the ends of the ring */
        misplace_a_row(forest, dice_below(from, forest->num_trees), slot, from);
        oif_error error = {.message = ""};
        const bool are_right = all_fall_into_their_leaves(forest);
        oif_status status = oif_detector_check(broken, &error);
        if (status != (are_right ? OIF_OK : OIF_EINVARIANT) ||
            (!are_right && !strstr(error.message, "a leaf that it does not fall into")))
            fail_msg("%zu columns, wound %d: status %d, \"%s\", but the rows are %s",
                     oif_detector_columns(sound), i, status, error.message,
                     are_right ? "in their leaves" : "not");
        verdicts[are_right]++;
        oif_detector_free(broken);
    }
}

/* Rows of up to 16 columns are compared with regions, others walk; trees come in groups. */
static void a_row_in_another_leaf_is_found_whatever_the_columns(void **state)
{
    (void)state;
    static const size_t columns[] = {1, 3, 4, 5, 10, 16, 17, 40};
    dice from = {31};
    uint32_t verdicts[2] = {0, 0};
    for (size_t i = 0; i < 4 * sizeof columns / sizeof columns[0]; i++) {
        const size_t d = columns[i / 4];
        setup s = {.num_trees = 21,
                   .window_size = 300,
                   .max_leaf_samples = 4,
                   .subsample = i % 2 ? 0.5 : 1,
                   .seed = i};
        oif_detector *sound = new_detector(&s, d);
        double *rows = normal_rows(i, LABELLED_ROWS, d);
        for (size_t j = 0; i % 4 > 1 && j < LABELLED_ROWS * d; j++)
            rows[j] = dice_below(&from, 5) ? rows[j] : NAN;
        require_ok(oif_detector_learn_rows(sound, rows, LABELLED_ROWS, d, NULL));
        require_ok(oif_detector_check(sound, NULL));
        require_same_verdicts(sound, &from, verdicts);
        oif_detector_free(sound);
        free(rows);
    }
    print_message("%u detectors were broken, %u were not\n", verdicts[0], verdicts[1]);
    assert_true(verdicts[0] > 100 && verdicts[1] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
        cmocka_unit_test(a_row_in_another_leaf_is_found_whatever_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
