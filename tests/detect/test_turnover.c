/* online-iforest with forgetting=turnover: which trees are active when, what a tree holds, what is
 * rejected, and that the check detects what is broken. test_against_plain.c shows that its trees
 * have the distribution of the plain twin. */
#include "any_detector.h"

#include "../reference/plain_turnover.h"
#include "detect/online_iforest/turnover_tree.h"

static oif_detector *new_turnover(const char *settings, size_t dimension)
{
    char all[250];
    snprintf(all, sizeof all, "forgetting=turnover %s", settings);
    return new_named("online-iforest", all, dimension);
}

static oif_turnover_state *turnover_of(const oif_detector *detector)
{
    return (oif_turnover_state *)oif_detector_state(detector);
}

static oif_detector *taught(const char *settings, size_t dimension, size_t rows)
{
    oif_detector *detector = new_turnover(settings, dimension);
    double *numbers = normal_rows(3, rows, dimension);
    require_ok(oif_detector_learn_rows(detector, numbers, rows, dimension, NULL));
    free(numbers);
    return detector;
}

/* ---- Promises of every detector ---- */

static void draw_settings(dice *from, char settings[200])
{
    uint32_t shadows = 1 + dice_below(from, 6);
    snprintf(settings, 200,
             "forgetting=turnover num_trees=%u shadow_trees=%u maturity=%u max_leaf_samples=%u "
             "growth=%s seed=%u",
             1 + dice_below(from, 12), shadows, shadows + dice_below(from, 40),
             1 + dice_below(from, 12), growth_names[dice_below(from, 2)], dice_below(from, 1000));
}

static void invariants_hold_after_every_operation(void **state)
{
    (void)state;
    require_invariants("online-iforest", draw_settings, 200, 300, 0, 1);
}

static void it_keeps_the_promises_of_every_detector(void **state)
{
    (void)state;
    require_promises("online-iforest", "forgetting=turnover");
    require_promises("online-iforest", "forgetting=turnover num_trees=11 window_size=64 seed=9");
    require_promises("online-iforest", "forgetting=turnover num_trees=1 shadow_trees=1 maturity=1");
    require_promises("online-iforest",
                     "forgetting=turnover num_trees=3 shadow_trees=7 maturity=20");
    require_promises("online-iforest", "forgetting=turnover num_trees=67 maturity=30 growth=fixed");
    require_promises("online-iforest",
                     "forgetting=turnover num_trees=40 maturity=10 max_leaf_samples=100");
}

/* ---- Turns ---- */

static void expect_ages_of_twin(int trees, int shadows, int maturity)
{
    char settings[120];
    plain_turnover_params params = {trees, shadows, maturity, 4, 0, 1};
    plain_turnover *twin = plain_turnover_new(&params, 1);
    snprintf(settings, sizeof settings,
             "num_trees=%d shadow_trees=%d maturity=%d max_leaf_samples=4", trees, shadows,
             maturity);
    oif_detector *detector = new_turnover(settings, 1);
    const oif_turnover_state *f = turnover_of(detector);
    dice rolled = {1};
    for (int row = 0; row < 3 * (trees + shadows) * maturity / shadows; row++) {
        double number = dice_normal(&rolled);
        learn(detector, &number);
        plain_turnover_learn(twin, &number);
        for (int place = 0; place < trees + shadows; place++) {
            uint32_t tree = oif_turnover_tree_behind(f, &f->ring, (uint32_t)place);
            if ((int)oif_turnover_ages(f)[tree] != plain_turnover_age(twin, place))
                fail_msg("%s, row %d, place %d: %u rows old, the twin's is %d", settings, row,
                         place, oif_turnover_ages(f)[tree], plain_turnover_age(twin, place));
            if (oif_turnover_is_active(f, &f->ring, tree) != (place < trees))
                fail_msg("%s, row %d, place %d: active or not?", settings, row, place);
        }
    }
    assert_null(plain_turnover_check(twin));
    plain_turnover_free(twin);
    oif_detector_free(detector);
}

static void trees_take_turns_as_the_twins(void **state)
{
    (void)state;
    expect_ages_of_twin(8, 4, 32);
    expect_ages_of_twin(5, 3, 10); /* turns are not equally many rows apart */
    expect_ages_of_twin(5, 4, 7);
    expect_ages_of_twin(1, 1, 1);
    expect_ages_of_twin(1, 5, 5);
    expect_ages_of_twin(3, 6, 11);
    expect_ages_of_twin(12, 1, 5);
}

static void no_tree_gets_older_than_the_greatest_age(void **state)
{
    (void)state;
    static const char *const settings[] = {"num_trees=5 shadow_trees=3 maturity=10",
                                           "num_trees=5 shadow_trees=4 maturity=7",
                                           "num_trees=2 shadow_trees=1 maturity=1"};
    for (size_t i = 0; i < 3; i++) {
        oif_detector *detector = new_turnover(settings[i], 1);
        const oif_turnover_state *f = turnover_of(detector);
        uint32_t oldest = 0;
        for (int row = 0; row < 500; row++) {
            learn(detector, (double[]){row % 7});
            uint32_t age = oif_turnover_ages(f)[f->ring.oldest];
            oldest = age > oldest ? age : oldest;
        }
        expect_within(oldest, f->max_age - 1.0, f->max_age, settings[i]);
        oif_detector_free(detector);
    }
}

static void maturity_is_chosen_from_the_window(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t maturity, max_leaf_samples;
    } cases[] = {{"", 512, 8},
                 {"window_size=100", 25, 8},
                 {"window_size=8", 4, 8}, /* at most one turn per row */
                 {"window_size=8 shadow_trees=9", 9, 8},
                 {"window_size=100 maturity=77 max_leaf_samples=5", 77, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        oif_detector *detector = new_turnover(cases[i].settings, 2);
        assert_int_equal(turnover_of(detector)->maturity, cases[i].maturity);
        assert_int_equal(turnover_of(detector)->max_leaf_samples, cases[i].max_leaf_samples);
        oif_detector_free(detector);
    }
}

static void it_is_ready_when_the_first_shadow_is_mature(void **state)
{
    (void)state;
    oif_detector *detector = new_turnover("maturity=50", 1);
    for (int row = 0; row < 49; row++)
        learn(detector, (double[]){row});
    assert_false(oif_detector_ready(detector));
    learn(detector, (double[]){0});
    assert_true(oif_detector_ready(detector));
    oif_detector_free(detector);
    detector = taught("maturity=4 num_trees=1 max_leaf_samples=1000", 1, 300);
    assert_false(oif_detector_ready(detector));
    expect_within(learn_score(detector, (double[]){0}), 0.5, 0.5,
                  "the score when no tree expects a depth");
    oif_detector_free(detector);
}

/* ---- Forgetting ---- */

/* Once every tree that saw them is gone, nothing is left of old rows. Two detectors that started
 * differently have the same distribution of scores: here, trees of the same ages and heights, and
 * no box that reaches to the old rows. */
static void nothing_is_left_of_rows_that_every_tree_has_forgotten(void **state)
{
    (void)state;
    oif_detector *detector = new_turnover("num_trees=8 maturity=32", 2);
    const oif_turnover_state *f = turnover_of(detector);
    dice rolled = {5};
    for (uint32_t row = 0; row < 300 + f->max_age; row++) {
        double shift = row < 300 ? 1000 : 0;
        learn(detector, (double[]){shift + dice_unit(&rolled), shift + dice_unit(&rolled)});
    }
    for (uint32_t tree = 0; tree < f->tree_count; tree++)
        for (uint32_t leaf = 0; leaf < oif_turnover_tree_at(f, tree)->leaf_count; leaf++)
            for (uint32_t i = 0; i < 2; i++) {
                oif_range r = oif_box_range(oif_turnover_box_of(f, tree, leaf), 2, i);
                if (r.low <= r.high)
                    expect_within(r.high, 0, 1, "the end of a box");
            }
    oif_detector_free(detector);
}

static double mean_score_around(oif_detector *detector, dice *rolled, double centre)
{
    double sum = 0;
    for (int i = 0; i < 200; i++)
        sum += score(detector,
                     (double[]){centre + dice_normal(rolled), centre + dice_normal(rolled)}) /
               200;
    return sum;
}

/* The window never gets over a jump: see docs/algorithms/online-iforest.md. */
static void a_jump_is_forgotten(void **state)
{
    (void)state;
    oif_detector *detector = new_turnover("", 2);
    dice rolled = {5};
    for (int row = 0; row < 14000; row++) {
        double centre = row < 6000 ? 0 : 50;
        learn(detector, (double[]){centre + dice_normal(&rolled), centre + dice_normal(&rolled)});
    }
    double here = mean_score_around(detector, &rolled, 50),
           beside = mean_score_around(detector, &rolled, 55);
    expect_within(beside - here, 0.1, 1, "how much more anomalous it is beside the new rows");
    oif_detector_free(detector);
}

/* ---- Cuts ---- */

/* Every leaf is either below its threshold or at the depth limit c(m) of its tree: eta 2^k >= m. */
static void expect_cut_in_time(const oif_turnover_state *f, uint32_t tree, int row)
{
    uint32_t age = oif_turnover_ages(f)[tree];
    for (uint32_t i = 0; i < oif_turnover_tree_at(f, tree)->leaf_count; i++) {
        const oif_turnover_leaf *leaf = oif_turnover_leaf_of(f, tree, i);
        uint32_t threshold = f->max_leaf_samples << leaf->depth;
        if (leaf->height >= threshold && threshold < age)
            fail_msg("row %d, tree %u of %u rows: a leaf at depth %u counts %u rows and is not cut",
                     row, tree, age, leaf->depth, leaf->height);
    }
}

static void a_leaf_is_cut_as_soon_as_it_may_be_and_not_before(void **state)
{
    (void)state;
    oif_detector *detector = new_turnover("num_trees=5 maturity=300", 2);
    const oif_turnover_state *f = turnover_of(detector);
    dice rolled = {6};
    for (int row = 1; row <= 900; row++) {
        learn(detector, (double[]){dice_normal(&rolled), dice_normal(&rolled)});
        for (uint32_t tree = 0; tree < f->tree_count; tree++) {
            bool cut = oif_turnover_is_cut(f, oif_turnover_root(f, tree));
            assert_int_equal(cut, oif_turnover_ages(f)[tree] > 8);
            expect_cut_in_time(f, tree, row);
        }
    }
    oif_detector_free(detector);
}

/* ---- Missing numbers, long rows ---- */

static void a_row_without_numbers_is_counted_and_touches_no_box(void **state)
{
    (void)state;
    oif_detector *detector = taught("num_trees=5 maturity=60", 3, 700);
    oif_turnover_state *f = turnover_of(detector);
    size_t box_bytes = (size_t)f->tree_count * f->leaf_capacity * f->box_width * sizeof(double);
    double *before = malloc(box_bytes);
    assert_non_null(before);
    uint32_t age = oif_turnover_ages(f)[f->ring.oldest];
    f->ring.turn = f->ring.turn % f->shadow_trees + f->shadow_trees; /* no turn, and */
    for (uint32_t depth = 0; depth <= f->depth_limit; depth++)       /* no cut */
        oif_turnover_cut_heights(f)[depth] = UINT32_MAX;
    memcpy(before, oif_turnover_box_of(f, 0, 0), box_bytes);
    learn(detector, (double[]){NAN, NAN, NAN});
    assert_memory_equal(oif_turnover_box_of(f, 0, 0), before, box_bytes);
    assert_int_equal(oif_turnover_ages(f)[f->ring.oldest], age + 1);
    free(before);
    oif_detector_free(detector);
}

static uint32_t rows_below(const oif_turnover_state *f, uint32_t tree, size_t node)
{
    if (!oif_turnover_is_cut(f, node))
        return oif_turnover_leaf_of(f, tree, oif_turnover_leaf_number(oif_turnover_words(f)[node]))
            ->height;
    size_t left = oif_turnover_link_of(f, node)->left;
    return rows_below(f, tree, left) + rows_below(f, tree, left + 1);
}

static void a_missing_number_goes_with_the_heavier_child(void **state)
{
    (void)state;
    oif_detector *detector = taught("num_trees=9 maturity=100", 2, 2000);
    const oif_turnover_state *f = turnover_of(detector);
    for (uint32_t tree = 0; tree < f->tree_count; tree++) {
        size_t node = oif_turnover_root(f, tree);
        if (!oif_turnover_is_cut(f, node))
            continue;
        size_t left = oif_turnover_link_of(f, node)->left;
        size_t heavier = left + (rows_below(f, tree, left + 1) > rows_below(f, tree, left));
        assert_int_equal(oif_turnover_step(f, tree, node, (double[]){NAN, NAN}), heavier);
    }
    oif_detector_free(detector);
}

/* Rows of more than 256 columns take another code path. If columns repeat, the leaf of a row
 * depends only on which of them is drawn, so a forest of long rows must have the distribution of
 * one of short rows. Here: heights and ages. */
static void long_rows_are_learned_and_scored(void **state)
{
    (void)state;
    enum { LONG = 300, ROWS = 700 };
    double *rows = normal_rows(8, ROWS, LONG), far[LONG], missing[LONG];
    oif_detector *detector = new_turnover("maturity=100", LONG);
    require_ok(oif_detector_learn_rows(detector, rows, ROWS, LONG, NULL));
    require_ok(oif_detector_check(detector, NULL));
    const oif_turnover_state *f = turnover_of(detector);
    for (uint32_t i = 0; i < LONG; i++) {
        far[i] = 10;
        missing[i] = i % 3 ? rows[i] : NAN;
        oif_range all = {INFINITY, -INFINITY};
        for (uint32_t leaf = 0; leaf < oif_turnover_tree_at(f, f->ring.oldest)->leaf_count;
             leaf++) {
            oif_range r = oif_box_range(oif_turnover_box_of(f, f->ring.oldest, leaf), LONG, i);
            all.low = fmin(all.low, r.low);
            all.high = fmax(all.high, r.high);
        }
        expect_within(all.low, -6, -1, "the least of a column");
        expect_within(all.high, 1, 6, "the greatest of a column");
    }
    expect_within(score(detector, far) - score(detector, rows), 0.02, 1, "far less near");
    expect_within(score(detector, missing), 0, 1, "with numbers missing");
    free(rows);
    oif_detector_free(detector);
}

/* ---- Rejections ---- */

static void expect_refused(const char *settings, const char *words)
{
    oif_params params = params_named("online-iforest", "forgetting=turnover");
    size_t bytes = 7;
    oif_error error;
    set_params(&params, settings);
    assert_int_equal(oif_detector_estimate_bytes(&params, 3, &bytes, &error), OIF_EPARAM);
    expect_message(error, words);
    assert_int_equal(bytes, 7);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    expect_refused("variant=paper", "forgetting=turnover takes running");
    expect_refused("variant=reference", "forgetting=turnover takes running");
    expect_refused("subsample=0.5", "subsample must be 1");
    expect_refused("maturity=3", "maturity 3 is too small for 4 shadow_trees");
    expect_refused("maturity=16777216 num_trees=4096", "learn more than 1073741824 rows");
    expect_refused("maturity=1000000 max_leaf_samples=1", "more than 1024 leaves");
    expect_refused("maturity=1000 growth=fixed max_leaf_samples=1", "more than 1024 leaves");
}

/* ---- Many leaves, old trees ---- */

/* Ages and heights beyond the tables are computed; the scores continue as if the tables had
 * them. */
static void trees_may_be_older_than_the_tables_are_long(void **state)
{
    (void)state;
    oif_detector *detector =
        taught("num_trees=2 shadow_trees=1 maturity=5000 insertion=none", 1, 14000);
    const oif_turnover_state *f = turnover_of(detector);
    assert_int_equal(f->age_count, OIF_TURNOVER_MAX_AGES);
    assert_in_range(oif_turnover_ages(f)[f->ring.oldest], OIF_TURNOVER_MAX_AGES, f->max_age);
    dice rolled = {4};
    for (int i = 0; i < 100; i++) {
        double number = dice_normal(&rolled), sum = 0;
        double after = learn_score(detector, &number);
        for (uint32_t place = 0; place < 2; place++) {
            uint32_t tree = oif_turnover_tree_behind(f, &f->ring, place);
            size_t node = oif_turnover_root(f, tree);
            while (oif_turnover_is_cut(f, node))
                node = oif_turnover_step(f, tree, node, &number);
            const oif_turnover_leaf *leaf = oif_turnover_leaf_of(
                f, tree, oif_turnover_leaf_number(oif_turnover_words(f)[node]));
            double extra = leaf->height > 8 ? log2(leaf->height / 8.0) : 0;
            sum += (leaf->depth + extra) / log2(oif_turnover_ages(f)[tree] / 8.0) / 2;
        }
        expect_within(after, exp2(-sum) - 1e-6, exp2(-sum) + 1e-6, "the score");
    }
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

static void equal_rows_make_a_chain_and_score_alike(void **state)
{
    (void)state;
    oif_detector *detector = new_turnover("num_trees=4 maturity=200 insertion=none", 1);
    for (int i = 0; i < 3000; i++)
        learn(detector, (double[]){7});
    const oif_turnover_state *f = turnover_of(detector);
    expect_within(oif_turnover_lane_levels(f)[0], 4, f->depth_limit, "levels");
    expect_within(score(detector, (double[]){8}), score(detector, (double[]){7}), 1,
                  "the score beside");
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

/* ---- The check ---- */

typedef void (*break_it)(oif_turnover_state *f);

static size_t a_cut(const oif_turnover_state *f)
{
    return oif_turnover_root(f, 1);
}

static size_t a_leaf(const oif_turnover_state *f) /* the leftmost */
{
    size_t node = a_cut(f);
    while (oif_turnover_is_cut(f, node))
        node = oif_turnover_link_of(f, node)->left;
    return node;
}

static void break_turn(oif_turnover_state *f)
{
    f->ring.turn = f->maturity + f->shadow_trees;
}
static void break_oldest(oif_turnover_state *f)
{
    f->ring.oldest = f->tree_count;
}
static void break_begun(oif_turnover_state *f)
{
    f->ring.shadows_begun = 0;
}
static void break_begun_less(oif_turnover_state *f)
{
    f->ring.shadows_begun--;
}
static void break_rows(oif_turnover_state *f)
{
    f->ring.rows--;
}
static void break_age(oif_turnover_state *f)
{
    oif_turnover_ages(f)[1]++;
}
static void break_order(oif_turnover_state *f)
{
    f->ring.oldest = oif_turnover_tree_behind(f, &f->ring, 1);
}
static void break_height(oif_turnover_state *f)
{
    oif_turnover_leaf_of(f, 1, 0)->height++;
}
static void break_depth(oif_turnover_state *f)
{
    oif_turnover_leaf_of(f, 1, 0)->depth++;
}
static void break_leaf_count(oif_turnover_state *f)
{
    oif_turnover_tree_at(f, 1)->leaf_count = 0;
}
static void break_leaves_in_use(oif_turnover_state *f)
{
    oif_turnover_tree_at(f, 1)->leaf_count++;
}
static void break_column(oif_turnover_state *f)
{
    oif_turnover_link_of(f, a_cut(f))->column = 9;
}
static void break_value(oif_turnover_state *f)
{
    oif_turnover_words(f)[a_cut(f)] = oif_sort_key(INFINITY) - 1;
}
static void break_children(oif_turnover_state *f)
{
    oif_turnover_link_of(f, a_cut(f))->left++;
}
static void break_circle(oif_turnover_state *f)
{
    oif_turnover_link_of(f, a_cut(f))->left = (uint32_t)a_cut(f);
}
static void break_leaf_way(oif_turnover_state *f)
{
    oif_turnover_link_of(f, a_leaf(f))->left = 0;
}
static void break_leaf_column(oif_turnover_state *f)
{
    oif_turnover_link_of(f, a_leaf(f))->column = 1;
}
static void break_leaf_number(oif_turnover_state *f)
{
    oif_turnover_words(f)[a_leaf(f)]--;
}
static void break_box(oif_turnover_state *f)
{
    oif_turnover_box_of(f, 1, 0)[0] = -INFINITY;
}
static void break_side(oif_turnover_state *f)
{
    const oif_turnover_link *link = oif_turnover_link_of(f, a_cut(f));
    oif_turnover_box_of(f, 1, 0)[link->column] = -1e300;
    oif_turnover_box_of(f, 1, 0)[f->dimension + link->column] = -1e300;
}
static void break_threshold(oif_turnover_state *f)
{
    for (uint32_t leaf = 0; leaf < oif_turnover_tree_at(f, 1)->leaf_count; leaf++)
        oif_turnover_leaf_of(f, 1, leaf)->height = 0;
}
static void break_levels(oif_turnover_state *f)
{
    oif_turnover_lane_levels(f)[0]++;
}
static void break_extra_depth(oif_turnover_state *f)
{
    oif_turnover_extra_depths(f)[100]++;
}
static void break_scale(oif_turnover_state *f)
{
    oif_turnover_scales(f)[f->max_age]++;
}
static void break_cut_height(oif_turnover_state *f)
{
    oif_turnover_cut_heights(f)[0]++;
}

static void the_check_names_what_is_broken(void **state)
{
    (void)state;
    static const struct {
        break_it broken;
        const char *words;
    } cases[] = {
        {break_turn, "the ring of trees is broken"},
        {break_oldest, "the ring of trees is broken"},
        {break_begun, "the ring of trees is broken"},
        {break_begun_less, "the age of the oldest tree is not that of its turn"},
        {break_rows, "the oldest tree has not learned all rows"},
        {break_age, "tree 1: its age is not that of its turn"},
        {break_order, "age"},
        {break_height, "tree 1: the heights do not add up to the rows learned"},
        {break_depth, "tree 1: a leaf's depth is not that of its place"},
        {break_leaf_count, "tree 1: it has more leaves than it has room for"},
        {break_leaves_in_use, "tree 1: a leaf is nowhere in the tree"},
        {break_column, "tree 1: a cut's column does not exist"},
        {break_value, "tree 1: a cut's value is not a number"},
        {break_children, "tree 1: a cut's children are not there"},
        {break_circle, "tree 1: a cut's children are not there"},
        {break_leaf_way, "tree 1: a leaf sends rows elsewhere"},
        {break_leaf_column, "tree 1: a node without a cut has a column"},
        {break_leaf_number, "tree 1: a node has the leaf of another"},
        {break_box, "tree 1: a box is inside out"},
        {break_side, "tree 1: a box crosses a cut above it"},
        {break_threshold, "tree 1: an inner height is under its threshold"},
        {break_levels, "lane 0: its levels are not those of its deepest leaf"},
        {break_extra_depth, "the depth added by a height of 100 is wrong"},
        {break_scale, "the scale of an age of"},
        {break_cut_height, "a leaf at depth 0 is cut at the wrong height"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        oif_detector *detector = taught("num_trees=6 maturity=50", 2, 333);
        oif_error error = {.message = "nothing was found"};
        require_ok(oif_detector_check(detector, NULL));
        cases[i].broken(turnover_of(detector));
        if (oif_detector_check(detector, &error) != OIF_EINVARIANT ||
            !strstr(error.message, cases[i].words))
            fail_msg("case %zu: \"%s\", expected to contain \"%s\"", i, error.message,
                     cases[i].words);
        oif_detector_free(detector);
    }
}

/* Two cuts with the same children would make one leaf count rows of two places. */
static void the_check_finds_children_that_two_cuts_claim(void **state)
{
    (void)state;
    oif_detector *detector = taught("num_trees=6 maturity=50", 2, 333);
    oif_turnover_state *f = turnover_of(detector);
    oif_error error = {.message = "nothing was found"};
    uint32_t tree = 0;
    size_t left = oif_turnover_link_of(f, oif_turnover_root(f, 0))->left;
    while (!(oif_turnover_is_cut(f, left) && oif_turnover_is_cut(f, left + 1))) {
        assert_in_range(++tree, 1, f->tree_count - 1);
        left = oif_turnover_link_of(f, oif_turnover_root(f, tree))->left;
    }
    oif_turnover_words(f)[left + 1] = oif_turnover_words(f)[left];
    *oif_turnover_link_of(f, left + 1) = *oif_turnover_link_of(f, left);
    assert_int_equal(oif_detector_check(detector, &error), OIF_EINVARIANT);
    expect_message(error, "two cuts have the same children");
    oif_detector_free(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_after_every_operation),
        cmocka_unit_test(it_keeps_the_promises_of_every_detector),
        cmocka_unit_test(trees_take_turns_as_the_twins),
        cmocka_unit_test(no_tree_gets_older_than_the_greatest_age),
        cmocka_unit_test(maturity_is_chosen_from_the_window),
        cmocka_unit_test(it_is_ready_when_the_first_shadow_is_mature),
        cmocka_unit_test(nothing_is_left_of_rows_that_every_tree_has_forgotten),
        cmocka_unit_test(a_jump_is_forgotten),
        cmocka_unit_test(a_leaf_is_cut_as_soon_as_it_may_be_and_not_before),
        cmocka_unit_test(a_row_without_numbers_is_counted_and_touches_no_box),
        cmocka_unit_test(a_missing_number_goes_with_the_heavier_child),
        cmocka_unit_test(long_rows_are_learned_and_scored),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(trees_may_be_older_than_the_tables_are_long),
        cmocka_unit_test(equal_rows_make_a_chain_and_score_alike),
        cmocka_unit_test(the_check_names_what_is_broken),
        cmocka_unit_test(the_check_finds_children_that_two_cuts_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
