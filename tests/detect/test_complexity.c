/* The paper's complexity, by counting instead of timing. With omega rows in the window and eta in a
 * first leaf:
 *
 * - a row passes O(log2(omega / eta)) nodes of a tree, never more than the depth limit; - a tree
 * has about sqrt(omega / eta) leaves with adaptive growth, so memory is
 *   O(tau sqrt(omega / eta) + omega);
 * - nothing depends on the number of rows so far.
 *
 * The printed tables are for people; the bounds are generous. */
#include "driver.h"

#include "../reference/plain_online_iforest.h"

enum { TREES = 8, LEAF_SAMPLES = 16, DIMENSION = 2, FIRST_POWER = 2, LAST_POWER = 10 };

static void draw_row(dice *from, double *row)
{
    double far = dice_chance(from, 0.02) ? 5 : 1;
    for (int j = 0; j < DIMENSION; j++)
        row[j] = far * dice_normal(from);
}

/* The counts for omega / eta = 2^power. */
typedef struct counts {
    double levels, most_levels; /* of the detector's trees with cuts: the steps of a walk */
    double leaf_depth;          /* mean over rows */
    /* nodes of the twin that a row passes per tree to be learned, forgotten and scored */
    double twin_visits;
    double leaves, most_leaves;
    double bytes;
} counts;

static setup setup_for(int power, oif_growth growth)
{
    return (setup){.num_trees = TREES,
                   .window_size = (uint32_t)LEAF_SAMPLES << power,
                   .max_leaf_samples = LEAF_SAMPLES,
                   .growth = growth,
                   .subsample = 1,
                   .seed = 4};
}

static counts count_in_detector(int power, oif_growth growth)
{
    setup s = setup_for(power, growth);
    oif_detector *detector = new_detector(&s, DIMENSION);
    const oif_window_state *f = forest_of(detector);
    counts c = {.bytes = (double)oif_detector_memory_bytes(detector)};
    dice rolled = {1};
    double row[DIMENSION];
    uint32_t rows = s.window_size * 5 / 2, looks = 0;
    for (uint32_t i = 0; i < rows; i++) {
        draw_row(&rolled, row);
        learn(detector, row);
        if (i < s.window_size || i % 61)
            continue;
        looks++;
        for (uint32_t tree = 0; tree < TREES; tree++) {
            double leaves = leaves_below(f, oif_window_root(f, tree));
            c.levels += oif_window_levels(f)[tree];
            c.most_levels = fmax(c.most_levels, oif_window_levels(f)[tree]);
            c.leaves += leaves;
            c.most_leaves = fmax(c.most_leaves, leaves);
            c.leaf_depth += leaf_spot(f, tree, row).depth;
        }
    }
    c.levels /= looks * TREES;
    c.leaves /= looks * TREES;
    c.leaf_depth /= looks * TREES;
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
    return c;
}

static double count_visits_in_twin(int power)
{
    setup s = setup_for(power, OIF_ADAPTIVE);
    plain_forest_params params = {.num_trees = TREES,
                                  .window_size = (int)s.window_size,
                                  .max_leaf_samples = (int)s.max_leaf_samples,
                                  .seed = 4};
    plain_forest *forest = plain_forest_new(&params, DIMENSION);
    dice rolled = {1};
    double row[DIMENSION];
    uint32_t rows = s.window_size / 2;
    long long before = 0;
    for (uint32_t i = 0; i < s.window_size + rows; i++) {
        if (i == s.window_size)
            before = plain_forest_visits(forest);
        draw_row(&rolled, row);
        plain_forest_learn_score(forest, row);
    }
    double visits = (double)(plain_forest_visits(forest) - before) / rows / TREES;
    plain_forest_free(forest);
    return visits;
}

static void the_nodes_that_a_row_passes_grow_as_the_logarithm_of_the_window(void **state)
{
    (void)state;
    print_message("log2(omega/eta)  levels (most)  leaf depth  twin's visits a row and tree\n");
    counts last = {0};
    for (int power = FIRST_POWER; power <= LAST_POWER; power++) {
        counts c = count_in_detector(power, OIF_ADAPTIVE);
        c.twin_visits = count_visits_in_twin(power);
        print_message("%15d  %6.2f (%4.0f)  %10.2f  %13.2f\n", power, c.levels, c.most_levels,
                      c.leaf_depth, c.twin_visits);
        expect_within(c.most_levels, 1, power, "levels of a tree");
        expect_within(c.leaf_depth, 0.2 * power, power, "depth of a row's leaf");
        /* Three walks, each from the root to a leaf. */
        expect_within(c.twin_visits, 3, 3.0 * (power + 1), "the twin's visits");
        if (power > FIRST_POWER) { /* doubling the window adds at most one node to each walk */
            expect_within(c.leaf_depth - last.leaf_depth, -0.2, 1.2,
                          "depth that twice the window adds");
            expect_within(c.twin_visits - last.twin_visits, -0.6, 3.6,
                          "visits that twice the window adds");
        }
        last = c;
    }
}

static void the_leaves_of_a_tree_grow_as_the_square_root_of_the_window(void **state)
{
    (void)state;
    print_message("omega/eta  leaves (most)  over sqrt(omega/eta)  bytes\n");
    counts by_power[LAST_POWER + 1] = {{0}};
    for (int power = FIRST_POWER; power <= LAST_POWER; power++) {
        counts c = by_power[power] = count_in_detector(power, OIF_ADAPTIVE);
        double root = sqrt(exp2(power));
        print_message("%9.0f  %6.1f (%4.0f)  %20.2f  %.0f\n", exp2(power), c.leaves, c.most_leaves,
                      c.leaves / root, c.bytes);
        expect_within(c.leaves, 0.5 * root, 4 * root, "leaves");
        /* Each depth has at most omega / (eta 2^depth) and at most 2^depth cuts: 3 sqrt(omega /
         * eta) in all, and half as many again because heights can be negative. */
        expect_within(c.most_leaves, 1, 4.5 * root + 1, "leaves of the largest tree");
        if (power >= FIRST_POWER + 2)
            expect_within(c.leaves / by_power[power - 2].leaves, 1.4, 3,
                          "leaves that four times the window brings");
    }
    /* Sixteen times the window must not take more than sixteen times the bytes. */
    expect_within(by_power[LAST_POWER].bytes / by_power[LAST_POWER - 4].bytes, 1, 16, "bytes");
}

static void the_leaves_of_a_tree_of_fixed_growth_are_at_most_the_depth_limits(void **state)
{
    (void)state;
    for (int power = FIRST_POWER; power <= 6; power++) {
        counts c = count_in_detector(power, OIF_FIXED);
        expect_within(c.most_levels, 1, power, "levels of a tree");
        expect_within(c.most_leaves, 2, exp2(power), "leaves of the largest tree");
    }
}

static void memory_does_not_depend_on_the_rows_that_passed(void **state)
{
    (void)state;
    setup s = setup_for(5, OIF_ADAPTIVE);
    oif_detector *detector = new_detector(&s, DIMENSION);
    size_t bytes = oif_detector_memory_bytes(detector);
    const oif_window_state *f = forest_of(detector);
    dice rolled = {9};
    double row[DIMENSION], early = 0, late = 0;
    for (int i = 0; i < 100000; i++) {
        draw_row(&rolled, row);
        row[0] += 1e-3 * i; /* drifts away for good: nothing old may stay */
        learn(detector, row);
        if (i % 1000)
            continue;
        double leaves = 0;
        for (uint32_t tree = 0; tree < TREES; tree++)
            leaves += (double)leaves_below(f, oif_window_root(f, tree)) / TREES;
        expect_within(leaves, 0, 4 * sqrt(32), "leaves of a tree");
        *(i < 50000 ? &early : &late) += leaves / 50;
        assert_int_equal(oif_detector_memory_bytes(detector), bytes);
    }
    require_ok(oif_detector_check(detector, NULL));
    print_message("leaves of a tree: %.2f in the first 50000 rows, %.2f in the others; %zu bytes\n",
                  early, late, bytes);
    expect_within(late / early, 0.8, 1.25, "leaves, late over early");
    oif_detector_free(detector);
}

/* With one leaf record too few, a cut would have to wait. */
static void there_is_always_a_record_for_another_leaf(void **state)
{
    (void)state;
    for (int number = 0; number < 12; number++) {
        setup s = {.num_trees = 8,
                   .window_size = 400,
                   .max_leaf_samples = number / 6 ? 2 : 8,
                   .variant = (oif_variant)(number % 3),
                   .growth = number / 6 ? OIF_ADAPTIVE : (oif_growth)(number / 3 % 2),
                   .subsample = 1,
                   .seed = (uint64_t)number};
        oif_detector *detector = new_detector(&s, 1);
        const oif_window_state *f = forest_of(detector);
        dice rolled = {11};
        uint32_t most = 0;
        for (int i = 0; i < 6000; i++) {
            double x = (i / 150 % 2 ? 50 : 0) + dice_unit(&rolled);
            learn(detector, &x);
            for (uint32_t tree = 0; i % 10 == 0 && tree < s.num_trees; tree++) {
                uint32_t leaves = leaves_below(f, oif_window_root(f, tree));
                most = leaves > most ? leaves : most;
            }
        }
        uint32_t all = 1u << f->depth_limit;
        if (most >= f->leaf_capacity && f->leaf_capacity < all)
            fail_msg("%s: a tree has %u leaves, as many as there are records", setup_text(&s),
                     most);
        oif_detector_free(detector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nodes_that_a_row_passes_grow_as_the_logarithm_of_the_window),
        cmocka_unit_test(the_leaves_of_a_tree_grow_as_the_square_root_of_the_window),
        cmocka_unit_test(the_leaves_of_a_tree_of_fixed_growth_are_at_most_the_depth_limits),
        cmocka_unit_test(memory_does_not_depend_on_the_rows_that_passed),
        cmocka_unit_test(there_is_always_a_record_for_another_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
