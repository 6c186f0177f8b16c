/* Half-Space Trees: against the plain twin from the paper, and invariants for any rows. */
#include "any_detector.h"

#include "../reference/plain_half_space_trees.h"
#include "detect/hst/half_space_trees.h"

static const oif_hst_state *state_of(const oif_detector *detector)
{
    return oif_detector_state(detector);
}

/* ---- Against the twin ---- */

typedef struct twins {
    oif_detector *fast;
    plain_hst *plain;
    char settings[200];
} twins;

static twins new_twins(const plain_hst_params *p, int dimension)
{
    static const char *const ranges[] = {"first", "every", "fixed"};
    twins t;
    snprintf(t.settings, sizeof t.settings,
             "num_trees=%d window_size=%d max_depth=%d size_limit=%.17g ranges=%s range_low=%.17g "
             "range_high=%.17g "
             "seed=%" PRIu64,
             p->num_trees, p->window_size, p->max_depth, p->size_limit,
             ranges[p->fixed ? 2 : p->relearn], p->low, p->high, p->seed);
    t.fast = new_named("hst", t.settings, (size_t)dimension);
    t.plain = plain_hst_new(p, dimension);
    return t;
}

static void free_twins(twins *t)
{
    oif_detector_free(t->fast);
    plain_hst_free(t->plain);
}

/* The sum of mass x 2^depth behind a score; the two are one to one. */
static double mass_of_score(const twins *t, double score)
{
    const oif_hst_state *f = state_of(t->fast);
    return ((exp2((1 - score) / f->full_scale)) - 1) * f->num_trees * f->reference_rows;
}

static void expect_twin_score(const twins *t, double fast, const double *row, int i)
{
    double plain = plain_hst_score(t->plain, row);
    if (!(fabs(fast - plain) <= 1e-12))
        fail_msg(
            "%s, row %d: the score is %.17g (mass %.1f), the plain one %.17g (mass %" PRIu64 ")",
            t->settings, i, fast, mass_of_score(t, fast), plain, plain_hst_mass(t->plain, row));
}

typedef void (*fill_row)(dice *from, int i, int dimension, double *row);

static void fill_normal(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = (i % 40 ? 1 : 6) * dice_normal(from) * (j + 1) + 100 * j;
}

static void fill_clusters(dice *from, int i, int dimension, double *row)
{
    (void)i;
    double centre = dice_below(from, 3) * 5;
    for (int j = 0; j < dimension; j++)
        row[j] = centre + 0.01 * dice_normal(from);
}

/* Away from where the ranges were learned, and back. */
static void fill_jumps(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = dice_unit(from) + (i / 130 % 3) * 40;
}

static void fill_steps(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = j == 1 ? (i < 300 ? 3 : 4) : dice_below(from, 4);
}

static void compare_twins(const plain_hst_params *params, int dimension, fill_row fill)
{
    enum { ROWS = 700 };
    twins t = new_twins(params, dimension);
    dice rolled = {params->seed + 17};
    double row[5];
    for (int i = 0; i < ROWS; i++) {
        fill(&rolled, i, dimension, row);
        double learned = learn_score(t.fast, row);
        plain_hst_learn(t.plain, row);
        expect_twin_score(&t, learned, row, i);
        if (i % 5)
            continue;
        for (int j = 0; j < dimension; j++)
            row[j] += dice_normal(&rolled);
        expect_twin_score(&t, score(t.fast, row), row, i);
    }
    require_ok(oif_detector_check(t.fast, NULL));
    free_twins(&t);
}

static void every_score_is_that_of_the_complete_trees_of_the_paper(void **state)
{
    (void)state;
    static const fill_row fills[] = {fill_normal, fill_clusters, fill_jumps, fill_steps};
    static const int trees[] = {1, 7, 8, 11, 16}, windows[] = {1, 9, 50, 128, 250},
                     depths[] = {1, 4, 9, 11};
    static const double limits[] = {0.1, 0, 0.03, 0.5, 1};
    for (int number = 0; number < 60; number++) {
        plain_hst_params p = {.num_trees = trees[number % 5],
                              .window_size = windows[number / 2 % 5],
                              .max_depth = depths[number / 3 % 4],
                              .size_limit = limits[number / 4 % 5],
                              .relearn = number % 3 == 1,
                              .fixed = number % 3 == 2,
                              .low = -3,
                              .high = 4.5,
                              .seed = (uint64_t)number};
        compare_twins(&p, number % 2 ? 3 : 5, fills[number / 5 % 4]);
    }
}

static void the_defaults_give_the_scores_of_the_paper(void **state)
{
    (void)state;
    plain_hst_params p = {.num_trees = 32,
                          .window_size = 250,
                          .max_depth = 15,
                          .size_limit = 0.1,
                          .low = 0,
                          .high = 1,
                          .seed = 5};
    compare_twins(&p, 3, fill_normal);
}

/* ---- Scores ---- */

static void an_outlier_scores_above_every_inlier(void **state)
{
    (void)state;
    oif_detector *detector = new_named("hst", "seed=3", 4);
    double *rows = normal_rows(77, 1500, 4), highest = 0;
    for (size_t i = 0; i < 1500; i++)
        learn(detector, &rows[i * 4]);
    for (size_t i = 0; i < 400; i++) {
        double *inlier = &rows[i * 4];
        double own = fabs(inlier[0]) + fabs(inlier[1]) + fabs(inlier[2]) + fabs(inlier[3]) < 2
                         ? score(detector, inlier)
                         : 0;
        highest = own > highest ? own : highest;
    }
    for (int corner = 0; corner < 16; corner++) {
        double row[4];
        for (int j = 0; j < 4; j++)
            row[j] = corner >> j & 1 ? 6 : -6;
        expect_within(score(detector, row), highest + 0.01, 1, "an outlier's score");
    }
    oif_detector_free(detector);
    free(rows);
}

static void a_row_where_nobody_was_scores_one(void **state)
{
    (void)state;
    oif_detector *detector =
        new_named("hst", "window_size=100 ranges=fixed range_low=0 range_high=100 max_depth=20", 1);
    dice rolled = {2};
    for (int i = 0; i < 300; i++)
        learn(detector, &(double){50 + dice_unit(&rolled)});
    expect_same_bits(score(detector, &(double){-1000}), 1, "far below", 0);
    expect_same_bits(score(detector, &(double){1e308}), 1, "far above", 1);
    expect_within(score(detector, &(double){50.5}), 0, 0.7, "in the middle");
    oif_detector_free(detector);
}

static void the_first_rows_score_one_half_until_trees_are_built(void **state)
{
    (void)state;
    oif_detector *detector = new_named("hst", "", 2);
    dice rolled = {2};
    for (int i = 0; i < 600; i++) {
        double own = learn_score(detector, (double[]){dice_normal(&rolled), dice_normal(&rolled)});
        if (i < 15)
            expect_same_bits(own, 0.5, "score", i);
        else
            assert_true(own != 0.5);
        assert_int_equal(oif_detector_ready(detector), i >= 249);
    }
    oif_detector_free(detector);
}

static void a_limit_that_no_window_passes_never_gets_ready(void **state)
{
    (void)state;
    oif_detector *detector = new_named("hst", "window_size=20 size_limit=1", 1);
    dice rolled = {2};
    double first = 0;
    for (int i = 0; i < 100; i++) {
        double own = learn_score(detector, &(double){dice_normal(&rolled)});
        first = i == 19 ? own : first;
        if (i > 19)
            expect_same_bits(own, first, "score", i);
        assert_false(oif_detector_ready(detector));
    }
    oif_detector_free(detector);
}

/* Ranges are stored as eighths, and cuts are sums of their parts: powers of two scale them
 * exactly. */
static void scaling_columns_by_powers_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    const double scales[] = {0x1p40, 0x1p-300, 1, 8};
    const char *const settings[] = {"window_size=60", "window_size=60 ranges=every"};
    for (int number = 0; number < 2; number++) {
        oif_detector *plain = new_named("hst", settings[number], 4),
                     *scaled = new_named("hst", settings[number], 4);
        double *rows = normal_rows(5, 700, 4), row[4];
        for (size_t i = 0; i < 700; i++) {
            for (size_t j = 0; j < 4; j++)
                row[j] = rows[i * 4 + j] * scales[j];
            double expected = learn_score(plain, &rows[i * 4]);
            expect_same_bits(learn_score(scaled, row), expected, settings[number], i);
        }
        oif_detector_free(plain);
        oif_detector_free(scaled);
        free(rows);
    }
}

static void a_departure_from_a_constant_is_noticed_on_both_sides(void **state)
{
    (void)state;
    const double constants[] = {0, 7, -7, 1e300, -1.79e308};
    for (int i = 0; i < 5; i++) {
        oif_detector *detector = new_named("hst", "window_size=100", 2);
        dice rolled = {3};
        double normal[] = {0.5, constants[i]}, above[] = {0.5, 0}, below[] = {0.5, 0},
               by = fabs(constants[i]) / 100;
        for (int j = 0; j < 300; j++)
            learn(detector, (double[]){dice_unit(&rolled), constants[i]});
        above[1] = constants[i] + (by > 0 ? by : 2);
        below[1] = constants[i] - (by > 0 && i < 4 ? by : i == 4 ? -by / 2 : 2);
        expect_within(score(detector, above), score(detector, normal) + 0.05, 1,
                      "above the constant");
        expect_within(score(detector, below), score(detector, normal) + 0.05, 1,
                      "below the constant");
        oif_detector_free(detector);
    }
}

/* ---- Any magnitude ---- */

/* The learned ranges span all doubles: most cuts are beyond the largest double, and the others must
 * still halve. */
static void numbers_over_the_whole_range_of_doubles_are_told_apart(void **state)
{
    (void)state;
    const double size = 1.7976931348623157e308;
    oif_detector *huge = new_named("hst", "window_size=100", 1),
                 *unit = new_named("hst", "window_size=100", 1);
    dice rolled = {9};
    for (int i = 0; i < 400; i++) {
        double position = i % 100 == 0   ? -1
                          : i % 100 == 1 ? 1
                                         : floor(dice_normal(&rolled) * 0x1p20) * 0x1p-23;
        position = position < -1 ? -1 : position > 1 ? 1 : position;
        double expected = learn_score(unit, &position);
        expect_within(learn_score(huge, &(double){position * size}), expected - 1e-9,
                      expected + 1e-9, "a huge score");
    }
    for (uint32_t i = 0; i < state_of(huge)->num_trees * state_of(huge)->node_capacity; i++)
        assert_true(oif_hst_nodes(state_of(huge))[i].cut >= -INFINITY);
    oif_detector_free(huge);
    oif_detector_free(unit);
}

/* ---- Forgetting ---- */

static void the_window_before_decides_and_nothing_older(void **state)
{
    (void)state;
    const char *const settings[] = {"window_size=100 seed=4",
                                    "window_size=100 seed=4 ranges=every"};
    for (int number = 0; number < 2; number++) {
        oif_detector *one = new_named("hst", settings[number], 2),
                     *two = new_named("hst", settings[number], 2);
        dice rolled = {8};
        const double here[] = {0, 0}, there[] = {3, -3};
        for (int i = 0; i < 600; i++) {
            const double *centre = i < 400 ? here : there;
            double row[2] = {centre[0] + dice_normal(&rolled), centre[1] + dice_normal(&rolled)};
            learn(one, row);
            if (i >= 100 && i < 300) /* a different past, after the first window */
                row[0] += 2;
            learn(two, row);
            if (i == 399)
                assert_true(score(one, here) < score(one, there));
        }
        assert_true(score(one, there) < score(one, here));
        for (int i = 0; i < 100; i++) {
            double row[2] = {4 * dice_normal(&rolled), 4 * dice_normal(&rolled)};
            expect_same_bits(score(two, row), score(one, row), settings[number], i);
        }
        oif_detector_free(one);
        oif_detector_free(two);
    }
}

/* Ranges learned once are blind where the stream has moved far away; ranges learned in every window
 * follow it. */
static void ranges_of_every_window_follow_a_stream_that_goes_far_away(void **state)
{
    (void)state;
    oif_detector *first = new_named("hst", "window_size=100", 1),
                 *every = new_named("hst", "window_size=100 ranges=every", 1);
    dice rolled = {8};
    for (int i = 0; i < 500; i++) {
        double number = (i < 200 ? 0 : 1e6) + dice_unit(&rolled);
        learn(first, &number);
        learn(every, &number);
    }
    double inlier = 1e6 + 0.5, outlier = 1e6 + 30;
    expect_same_bits(score(first, &outlier), score(first, &inlier), "beyond the work range", 0);
    expect_within(score(every, &outlier), score(every, &inlier) + 0.1, 1, "an outlier far away");
    oif_detector_free(first);
    oif_detector_free(every);
}

/* ---- Missing numbers ---- */

/* Walks the reference tree by its masses alone. */
static uint64_t mass_by_heavier_children(const oif_hst_state *f, const double *row)
{
    uint64_t sum = 0;
    const oif_hst_node *nodes = oif_hst_nodes(f);
    uint32_t limit = (uint32_t)(f->size_limit * f->reference_rows);
    for (uint32_t tree = 0; tree < f->num_trees; tree++) {
        uint32_t at = oif_hst_root(f, tree);
        while (oif_hst_mass(nodes[at].worth) > limit &&
               oif_hst_depth(nodes[at].place) < f->max_depth) {
            const oif_hst_node *left = &nodes[nodes[at].child], *right = left + 1;
            double number = row[nodes[at].column];
            bool goes_right = number >= nodes[at].cut;
            if (isnan(number))
                goes_right = oif_hst_mass(right->worth) > oif_hst_mass(left->worth);
            at = nodes[at].child + goes_right;
        }
        sum += (uint64_t)oif_hst_mass(nodes[at].worth) << oif_hst_depth(nodes[at].place);
    }
    return sum;
}

static void a_missing_number_follows_the_heavier_child(void **state)
{
    (void)state;
    for (int number = 0; number < 20; number++) {
        char settings[100];
        snprintf(settings, sizeof settings, "window_size=80 seed=%d num_trees=%d", number,
                 5 + number);
        oif_detector *detector = new_named("hst", settings, 3);
        const oif_hst_state *f = state_of(detector);
        dice rolled = {(uint64_t)number};
        for (int i = 0; i < 500; i++) {
            double row[3] = {dice_normal(&rolled), dice_unit(&rolled), dice_below(&rolled, 3)};
            if (dice_chance(&rolled, 0.4))
                row[dice_below(&rolled, 3)] = NAN;
            learn(detector, row);
            if (i < 80)
                continue;
            double whole = f->num_trees * (double)f->reference_rows;
            double expected =
                1 - log2(1 + (double)mass_by_heavier_children(f, row) / whole) * f->full_scale;
            expect_within(score(detector, row), expected - 1e-12, expected + 1e-12, settings);
        }
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

/* A column missing in the first window has no range, so it is never cut. */
static void a_column_that_was_always_missing_never_matters(void **state)
{
    (void)state;
    const char *const settings[] = {"window_size=80 num_trees=7", "window_size=80 num_trees=8",
                                    "window_size=80 num_trees=41"};
    for (int number = 0; number < 3; number++) {
        oif_detector *detector = new_named("hst", settings[number], 3);
        dice rolled = {(uint64_t)number};
        for (size_t i = 0; i < 500; i++) {
            double row[3] = {dice_normal(&rolled), NAN, dice_normal(&rolled)};
            double expected = learn_score(detector, row);
            row[1] = 1e300 * dice_normal(&rolled);
            expect_same_bits(score(detector, row), expected, settings[number], i);
        }
        oif_detector_free(detector);
    }
}

/* ---- Memory ---- */

/* The worst case for the number of nodes is one row per leaf at the bottom: chains down to
 * max_depth, from as many clusters as can be above the limit, at other places in each window. */
static void the_room_for_nodes_is_enough_for_the_worst_windows(void **state)
{
    (void)state;
    const char *const settings[] = {"window_size=250", "window_size=40 size_limit=0",
                                    "window_size=17 size_limit=0.3",
                                    "window_size=64 size_limit=0.05 max_depth=24"};
    for (int number = 0; number < 4; number++) {
        oif_detector *detector = new_named("hst", settings[number], 2);
        const oif_hst_state *f = state_of(detector);
        uint32_t clusters = f->window_size / (f->limit + 1), most_used = 0;
        dice rolled = {6};
        for (uint32_t i = 0; i < 8 * f->window_size; i++) {
            dice place = {i / f->window_size * 1000 + i % clusters};
            learn(detector,
                  (double[]){dice_unit(&place) + dice_unit(&rolled) * 1e-9, dice_unit(&place)});
            require_ok(oif_detector_check(detector, NULL));
        }
        for (uint32_t tree = 0; tree < f->num_trees; tree++)
            most_used =
                oif_hst_trees(f)[tree].used > most_used ? oif_hst_trees(f)[tree].used : most_used;
        print_message("%s: %u nodes used of %u\n", settings[number], most_used, f->node_capacity);
        assert_true(most_used > f->node_capacity / 2); /* the streams were bad enough */
        oif_detector_free(detector);
    }
}

static void the_default_takes_a_hundredth_of_complete_trees(void **state)
{
    (void)state;
    oif_detector *detector = new_named("hst", "", 10);
    expect_within((double)oif_detector_memory_bytes(detector), 100e3, 500e3, "bytes");
    expect_within(sizeof(oif_hst_node), 32, 32, "bytes of a node");
    assert_true(state_of(detector)->node_capacity * 100 < 1 << 16);
    oif_detector_free(detector);
}

/* ---- Everything ---- */

static void draw_settings(dice *from, char settings[200])
{
    static const uint32_t trees[] = {1, 2, 3, 8, 9};
    static const char *const ranges[] = {"first", "every", "fixed"};
    static const double limits[] = {0, 0.05, 0.1, 0.1, 0.4, 1};
    uint32_t window = 1 + dice_below(from, dice_chance(from, 0.5) ? 40 : 200);
    uint32_t depth = 1 + dice_below(from, dice_chance(from, 0.5) ? 8 : 24);
    snprintf(settings, 200,
             "num_trees=%u window_size=%u max_depth=%u size_limit=%g ranges=%s seed=%u",
             trees[dice_below(from, 5)], window, depth, limits[dice_below(from, 6)],
             ranges[dice_below(from, 3)], dice_below(from, 1000));
}

static void every_invariant_holds_after_each_of_60000_random_operations(void **state)
{
    (void)state;
    require_invariants("hst", draw_settings, 200, 300, 0, 1);
}

static void blocks_clones_and_estimates_keep_their_promises(void **state)
{
    (void)state;
    require_promises("hst", "");
    require_promises("hst", "num_trees=11 window_size=64 max_depth=7 seed=9");
    require_promises("hst", "num_trees=8 window_size=1");
    require_promises("hst", "num_trees=3 window_size=90 ranges=every size_limit=0");
    require_promises("hst", "num_trees=16 ranges=fixed range_low=-5 range_high=15");
}

static void ranges_that_are_upside_down_are_refused(void **state)
{
    (void)state;
    oif_params params = params_named("hst", "range_low=3 range_high=3");
    oif_detector *detector = NULL;
    oif_error error;
    assert_int_equal(oif_detector_new(&params, 2, &detector, &error), OIF_EPARAM);
    expect_message(error, "range_low must be below range_high");
}

static void more_nodes_than_can_be_numbered_are_refused(void **state)
{
    (void)state;
    oif_params params =
        params_named("hst", "num_trees=4096 window_size=16777216 max_depth=24 size_limit=0");
    oif_detector *detector = NULL;
    oif_error error = {.status = OIF_OK};
    size_t bytes = 7;
    assert_int_equal(oif_detector_estimate_bytes(&params, 1, &bytes, &error), OIF_EMEMORY);
    expect_message(error, "exceeds the address space");
    assert_int_equal(bytes, 7);
    assert_int_equal(oif_detector_new(&params, 1, &detector, NULL), OIF_EMEMORY);
    assert_null(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_nodes_than_can_be_numbered_are_refused),
        cmocka_unit_test(every_score_is_that_of_the_complete_trees_of_the_paper),
        cmocka_unit_test(the_defaults_give_the_scores_of_the_paper),
        cmocka_unit_test(an_outlier_scores_above_every_inlier),
        cmocka_unit_test(a_row_where_nobody_was_scores_one),
        cmocka_unit_test(the_first_rows_score_one_half_until_trees_are_built),
        cmocka_unit_test(a_limit_that_no_window_passes_never_gets_ready),
        cmocka_unit_test(scaling_columns_by_powers_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(a_departure_from_a_constant_is_noticed_on_both_sides),
        cmocka_unit_test(numbers_over_the_whole_range_of_doubles_are_told_apart),
        cmocka_unit_test(the_window_before_decides_and_nothing_older),
        cmocka_unit_test(ranges_of_every_window_follow_a_stream_that_goes_far_away),
        cmocka_unit_test(a_missing_number_follows_the_heavier_child),
        cmocka_unit_test(a_column_that_was_always_missing_never_matters),
        cmocka_unit_test(the_room_for_nodes_is_enough_for_the_worst_windows),
        cmocka_unit_test(the_default_takes_a_hundredth_of_complete_trees),
        cmocka_unit_test(every_invariant_holds_after_each_of_60000_random_operations),
        cmocka_unit_test(blocks_clones_and_estimates_keep_their_promises),
        cmocka_unit_test(ranges_that_are_upside_down_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
