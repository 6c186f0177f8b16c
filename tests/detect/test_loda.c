/* LODA: against its slow twin, and invariants for any rows. */
#include "any_detector.h"

#include "../reference/plain_loda.h"
#include "detect/loda/loda.h"

static const oif_loda_state *state_of(const oif_detector *detector)
{
    return oif_detector_state(detector);
}

/* ---- Against the twin ---- */

typedef void (*fill_row)(dice *from, int i, int dimension, double *row);

static void fill_normal(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = (i % 40 ? 1 : 6) * dice_normal(from) * exp(3 * j) + 100 * j;
}

static void fill_missing(dice *from, int i, int dimension, double *row)
{
    fill_normal(from, i, dimension, row);
    for (int j = 0; j < dimension; j++)
        if (dice_chance(from, i < 30 && j == 0 ? 1 : 0.1))
            row[j] = NAN;
}

static void fill_jumps(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = dice_unit(from) + (i / 130 % 3) * 40;
}

/* Columns that are constant at first, nearly always, or always. */
static void fill_steps(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = j == 1                    ? (i < 300 ? 3 : 4)
                 : j == 2                  ? 0
                 : dice_chance(from, 0.03) ? dice_below(from, 9)
                                           : 5;
}

/* The fast version rounds logarithms to 2^-26. */
static void expect_twin_score(const char *settings, double fast, double plain, int i)
{
    if (!(fabs(fast - plain) <= 1e-6))
        fail_msg("%s, row %d: the score is %.17g, the plain one %.17g", settings, i, fast, plain);
}

static void compare_twins(const plain_loda_params *p, int dimension, fill_row fill)
{
    char settings[200];
    snprintf(settings, sizeof settings,
             "num_projections=%d num_bins=%d window_size=%d scale=%s seed=%" PRIu64,
             p->num_projections, p->num_bins, p->window_size, p->scale ? "learn" : "none", p->seed);
    oif_detector *fast = new_named("loda", settings, (size_t)dimension);
    plain_loda *plain = plain_loda_new(p, dimension);
    dice rolled = {p->seed + 17};
    double row[10];
    for (int i = 0; i < 600; i++) {
        fill(&rolled, i, dimension, row);
        double learned = learn_score(fast, row);
        plain_loda_learn(plain, row);
        if (i % 3 == 0 || i < 40)
            expect_twin_score(settings, learned, plain_loda_score(plain, row), i);
        if (i % 10)
            continue;
        for (int j = 0; j < dimension; j++)
            row[j] += dice_normal(&rolled);
        expect_twin_score(settings, score(fast, row), plain_loda_score(plain, row), i);
    }
    require_ok(oif_detector_check(fast, NULL));
    oif_detector_free(fast);
    plain_loda_free(plain);
}

static void every_score_is_that_of_histograms_counted_from_the_window(void **state)
{
    (void)state;
    static const fill_row fills[] = {fill_normal, fill_missing, fill_jumps, fill_steps};
    static const int projections[] = {1, 7, 32, 50}, bins[] = {1, 10, 100},
                     windows[] = {1, 9, 50, 128, 300};
    static const int dimensions[] = {1, 3, 5, 10};
    for (int number = 0; number < 60; number++) {
        plain_loda_params p = {.num_projections = projections[number / 3 % 4],
                               .num_bins = bins[number % 3],
                               .window_size = windows[number % 5],
                               .scale = number % 7 != 0,
                               .seed = (uint64_t)number};
        compare_twins(&p, dimensions[number / 2 % 4], fills[number / 5 % 4]);
    }
}

static void the_defaults_give_the_scores_of_the_twin(void **state)
{
    (void)state;
    plain_loda_params p = {
        .num_projections = 32, .num_bins = 100, .window_size = 512, .scale = true, .seed = 3};
    compare_twins(&p, 10, fill_normal);
}

/* ---- Projections ---- */

static void a_projection_has_about_the_root_of_the_dimension_in_columns_all_alike(void **state)
{
    (void)state;
    static const uint32_t dimensions[] = {1, 2, 3, 6, 7, 10, 36, 100, 10000};
    for (size_t i = 0; i < 9; i++) {
        oif_detector *detector =
            new_named("loda", "num_projections=400 window_size=2", dimensions[i]);
        const oif_loda_state *l = state_of(detector);
        assert_int_equal(l->terms, (uint32_t)floor(sqrt(dimensions[i]) + 0.5));
        uint32_t *chosen = calloc(dimensions[i], sizeof *chosen);
        assert_non_null(chosen);
        for (uint32_t projection = 0; projection < 400; projection++)
            for (uint32_t term = 0; term < l->terms; term++)
                chosen[oif_loda_columns(l, projection)[term]]++;
        double expected = 400.0 * l->terms / dimensions[i],
               deviation = sqrt(expected * (1 - (double)l->terms / dimensions[i]));
        for (uint32_t column = 0; column < dimensions[i]; column++)
            expect_within(chosen[column], expected - 6 * deviation - 1,
                          expected + 7 * deviation + 3, "projections that a column is in");
        free(chosen);
        oif_detector_free(detector);
    }
}

/* ---- Scores ---- */

static void an_outlier_scores_above_every_inlier(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "seed=3", 4);
    double *rows = normal_rows(77, 1500, 4), highest = 0;
    for (size_t i = 0; i < 1500; i++)
        learn(detector, &rows[i * 4]);
    for (size_t i = 1000; i < 1500; i++) {
        double own = score(detector, &rows[i * 4]);
        highest = own > highest ? own : highest;
    }
    for (int corner = 0; corner < 16; corner++) {
        double row[4];
        for (int j = 0; j < 4; j++)
            row[j] = corner >> j & 1 ? 9 : -9;
        expect_within(score(detector, row), highest, 30, "an outlier's score");
    }
    oif_detector_free(detector);
    free(rows);
}

static void one_outlier_does_not_hide_the_next(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "seed=3", 2);
    dice rolled = {3};
    const double far[] = {1e12, -1e12}, near[] = {0.1, -0.2}, out[] = {9, -9};
    for (int i = 0; i < 3000; i++)
        learn(detector,
              i % 100 == 99 ? far : (double[]){dice_normal(&rolled), dice_normal(&rolled)});
    expect_within(score(detector, out) - score(detector, near), 3, 30,
                  "bits by which a near outlier is above an inlier");
    oif_detector_free(detector);
}

static void a_column_of_small_numbers_counts_as_much_as_one_of_large(void **state)
{
    (void)state;
    oif_detector *learned = new_named("loda", "", 2), *plain = new_named("loda", "scale=none", 2);
    dice rolled = {3};
    for (int i = 0; i < 2000; i++) {
        double row[2] = {1e9 * dice_normal(&rolled), 1e-3 * dice_normal(&rolled)};
        learn(learned, row);
        learn(plain, row);
    }
    const double inlier[] = {0, 0}, outlier[] = {0, 0.02};
    expect_within(score(learned, outlier) - score(learned, inlier), 2, 30, "bits of difference");
    assert_int_equal(state_of(plain)->sample_size, 0);
    oif_detector_free(learned);
    oif_detector_free(plain);
}

/* Scales are powers of two, and every range is made of differences, so powers of two scale
 * everything exactly. Columns are added up only after scaling. */
static void scaling_columns_by_powers_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    const double scales[] = {0x1p40, 0x1p-300, 1, 8, 0x1p900};
    oif_detector *plain = new_named("loda", "window_size=128", 5),
                 *scaled = new_named("loda", "window_size=128", 5);
    double *rows = normal_rows(5, 700, 5), row[5];
    for (size_t i = 0; i < 700; i++) {
        for (size_t j = 0; j < 5; j++)
            row[j] = rows[i * 5 + j] * scales[j];
        double expected = learn_score(plain, &rows[i * 5]);
        expect_same_bits(learn_score(scaled, row), expected, "score", i);
    }
    oif_detector_free(plain);
    oif_detector_free(scaled);
    free(rows);
}

static void a_departure_from_a_constant_is_noticed_on_both_sides(void **state)
{
    (void)state;
    const double constants[] = {0, 7, -7, 1e300, 1e-300};
    for (int i = 0; i < 5; i++) {
        oif_detector *detector = new_named("loda", "", 2);
        dice rolled = {3};
        double by = constants[i] == 0 ? 5 : fabs(constants[i]) / 10, normal[] = {0.5, constants[i]};
        for (int j = 0; j < 700; j++)
            learn(detector, (double[]){dice_unit(&rolled), constants[i]});
        for (int side = -1; side <= 1; side += 2) {
            double departed[] = {0.5, constants[i] + side * by};
            expect_within(score(detector, departed), score(detector, normal) + 2, 30,
                          "a departure from a constant");
        }
        oif_detector_free(detector);
    }
}

static void the_first_rows_score_zero_until_ranges_are_known(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "", 2);
    dice rolled = {2};
    for (int i = 0; i < 600; i++) {
        double own = learn_score(detector, (double[]){dice_normal(&rolled), dice_normal(&rolled)});
        if (i < 15)
            expect_same_bits(own, 0, "score", i);
        else
            assert_true(own > 0);
        assert_int_equal(oif_detector_ready(detector), i >= 127);
    }
    oif_detector_free(detector);
}

static void equal_rows_score_zero_and_anything_else_high(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "window_size=100", 3);
    for (int i = 0; i < 500; i++)
        expect_same_bits(learn_score(detector, (double[]){1, 2, 3}), 0, "score", i);
    expect_within(score(detector, (double[]){2, 3, 4}), log2(800) - 1e-6, log2(800) + 1e-6,
                  "score elsewhere");
    oif_detector_free(detector);
}

/* ---- Forgetting ---- */

static void what_left_the_window_is_forgotten(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "window_size=200 seed=4", 2);
    dice rolled = {8};
    const double here[] = {0, 0}, there[] = {30, -30};
    for (int i = 0; i < 1000; i++) {
        const double *centre = i < 600 ? here : there;
        learn(detector,
              (double[]){centre[0] + dice_normal(&rolled), centre[1] + dice_normal(&rolled)});
        if (i == 599)
            assert_true(score(detector, here) + 2 < score(detector, there));
    }
    assert_true(score(detector, there) + 2 < score(detector, here));
    oif_detector_free(detector);
}

/* Two streams that differ long ago: once the window has passed twice, it is the same, and every
 * range was chosen from it. */
static void only_the_last_two_windows_decide(void **state)
{
    (void)state;
    oif_detector *one = new_named("loda", "window_size=300", 2),
                 *two = new_named("loda", "window_size=300", 2);
    dice rolled = {8};
    for (int i = 0; i < 1500; i++) {
        double row[2] = {dice_normal(&rolled), dice_normal(&rolled)};
        learn(one, row);
        if (i >= 300 && i < 900)
            row[0] = row[0] * 3 + 20;
        learn(two, row);
    }
    for (int i = 0; i < 100; i++) {
        double row[2] = {4 * dice_normal(&rolled), 4 * dice_normal(&rolled)};
        expect_same_bits(score(two, row), score(one, row), "score", i);
    }
    oif_detector_free(one);
    oif_detector_free(two);
}

/* ---- Missing numbers, any magnitude ---- */

static void a_missing_column_leaves_the_projections_without_it(void **state)
{
    (void)state;
    oif_detector *detector = new_named("loda", "num_projections=20", 5);
    const oif_loda_state *l = state_of(detector);
    double *rows = normal_rows(3, 800, 5);
    require_ok(oif_detector_learn_rows(detector, rows, 800, 5, NULL));
    for (uint32_t missing = 0; missing < 5; missing++) {
        double sum = 0, row[5];
        int used = 0;
        memcpy(row, &rows[790 * 5], sizeof row);
        for (uint32_t projection = 0; projection < 20; projection++) {
            bool has = false;
            /* keep one projection: the others lose their rows */
            oif_detector *single = clone_of(detector);
            oif_loda_state *alone = (oif_loda_state *)(uintptr_t)oif_detector_state(single);
            for (uint32_t other = 0; other < 20; other++)
                if (other != projection)
                    oif_loda_histograms(alone)[other].counted = 0;
            for (uint32_t i = 0; i < l->terms; i++)
                has = has || oif_loda_columns(l, projection)[i] == missing;
            sum += has ? 0 : score(single, row);
            used += !has;
            oif_detector_free(single);
        }
        row[missing] = NAN;
        expect_within(score(detector, row), sum / used - 1e-9, sum / used + 1e-9,
                      "the mean of the other projections");
    }
    for (int j = 0; j < 5; j++)
        rows[j] = NAN;
    expect_same_bits(score(detector, rows), 0, "a row without a number", 0);
    oif_detector_free(detector);
    free(rows);
}

static void numbers_over_the_whole_range_of_doubles_are_told_apart(void **state)
{
    (void)state;
    const double size = 1.7e308;
    const char *const settings[] = {"window_size=256", "window_size=256 scale=none"};
    for (int number = 0; number < 2; number++) {
        oif_detector *detector = new_named("loda", settings[number], 2);
        dice rolled = {9};
        for (int i = 0; i < 600; i++) {
            double row[2] = {size * dice_unit(&rolled) * 0.5, -size * dice_unit(&rolled) * 0.5};
            expect_within(learn_score(detector, row), 0, 14, "score");
        }
        const double out[] = {-size, size}, in[] = {0.25 * size, -0.25 * size};
        if (number == 0)
            expect_within(score(detector, out) - score(detector, in), 2, 14,
                          "an outlier at the end of the range");
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

/* ---- Everything ---- */

static void draw_settings(dice *from, char settings[200])
{
    uint32_t window = 1 + dice_below(from, dice_chance(from, 0.5) ? 40 : 300);
    snprintf(settings, 200, "num_projections=%u num_bins=%u window_size=%u scale=%s seed=%u",
             1 + dice_below(from, 12), 1 + dice_below(from, 40), window,
             dice_chance(from, 0.7) ? "learn" : "none", dice_below(from, 1000));
}

static void every_invariant_holds_after_each_of_60000_random_operations(void **state)
{
    (void)state;
    require_invariants("loda", draw_settings, 200, 300, 0, 16);
}

static void blocks_clones_and_estimates_keep_their_promises(void **state)
{
    (void)state;
    require_promises("loda", "");
    require_promises("loda", "num_projections=11 window_size=64 num_bins=7 seed=9");
    require_promises("loda", "num_projections=40 window_size=30 scale=none");
    require_promises("loda", "num_projections=8 window_size=1");
}

/* ---- The check ---- */

static void count_a_row_too_many(oif_loda_state *l)
{
    oif_loda_counts(l, 1)[50]++;
}
static void count_a_row_less(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].counted--;
}
static void move_a_row_to_another_bin(oif_loda_state *l)
{
    uint32_t *counts = oif_loda_counts(l, 1);
    while (*counts == 0)
        counts++;
    counts[0]--;
    counts[1]++;
}
static void move_a_range(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].low += 0.1;
}
static void turn_a_range_around(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].low = oif_loda_histograms(l)[1].high + 1;
}
static void flatten_the_bins(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].bins_a_unit = INFINITY;
}
static void narrow_the_range(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].width = -1;
}
static void use_a_column_that_does_not_exist(oif_loda_state *l)
{
    oif_loda_columns(l, 1)[1] = 4;
}
static void use_a_column_twice(oif_loda_state *l)
{
    oif_loda_columns(l, 1)[1] = oif_loda_columns(l, 1)[0];
}
static void make_a_weight_infinite(oif_loda_state *l)
{
    oif_loda_weights(l, 1)[0] = INFINITY;
}
static void make_a_projection_infinite(oif_loda_state *l)
{
    oif_loda_slot(l, 3)[1] = INFINITY;
}
static void hold_more_rows_than_fit(oif_loda_state *l)
{
    l->rows_held++;
}
static void leave_a_gap(oif_loda_state *l)
{
    l->rows_held = 5;
}

static void widen_the_range(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].width = INT64_MAX;
}
static void make_a_range_infinite(oif_loda_state *l)
{
    oif_loda_histograms(l)[1].high = INFINITY;
}
static void forget_the_next_range(oif_loda_state *l)
{
    l->next_range = 0;
}
static void choose_ranges_too_late(oif_loda_state *l)
{
    l->rows_held = l->next_slot = l->window_size - 1;
    l->next_range = l->window_size + 1;
}
static void choose_no_ranges(oif_loda_state *l)
{
    l->rows_held = l->next_slot = l->next_range = l->window_size - 1;
}
static void make_the_sample_infinite(oif_loda_state *l)
{
    oif_loda_sample(l, 127)[3] = -INFINITY;
}

static const struct {
    const char *name;
    void (*inflict)(oif_loda_state *l);
    const char *words;
} wounds[] = {
    {"count_a_row_too_many", count_a_row_too_many,
     "projection 1: a bin does not count the rows that fall into it"},
    {"count_a_row_less", count_a_row_less,
     "projection 1: the histogram does not count the rows of the window"},
    {"move_a_row", move_a_row_to_another_bin,
     "projection 1: a bin does not count the rows that fall into it"},
    {"move_a_range", move_a_range, "projection 1: the bins do not cover the range"},
    {"turn_a_range_around", turn_a_range_around,
     "projection 1: the range of the histogram is empty"},
    {"flatten_the_bins", flatten_the_bins, "projection 1: the bins do not cover the range"},
    {"narrow_the_range", narrow_the_range,
     "projection 1: the range is narrower than where most rows are"},
    {"use_a_column_that_does_not_exist", use_a_column_that_does_not_exist,
     "projection 1: there is no such column"},
    {"use_a_column_twice", use_a_column_twice,
     "projection 1: the columns are not in ascending order"},
    {"make_a_weight_infinite", make_a_weight_infinite, "projection 1: a weight is not finite"},
    {"make_a_projection_infinite", make_a_projection_infinite,
     "projection 1: a projection is not finite"},
    {"hold_more_rows_than_fit", hold_more_rows_than_fit,
     "the window holds more rows than it has room for"},
    {"leave_a_gap", leave_a_gap, "the ring has a gap"},
    {"widen_the_range", widen_the_range, "projection 1: the range is wider than rows can make it"},
    {"make_a_range_infinite", make_a_range_infinite,
     "projection 1: the range of the histogram is not finite"},
    {"forget_the_next_range", forget_the_next_range,
     "the ranges were not chosen when they should have been"},
    {"choose_ranges_too_late", choose_ranges_too_late,
     "the ranges were not chosen when they should have been"},
    {"choose_no_ranges", choose_no_ranges, "the ranges were not chosen when they should have been"},
    {"make_the_sample_infinite", make_the_sample_infinite, "a row of the sample is infinite"},
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    oif_detector *sound = new_named("loda", "num_projections=3 window_size=128 seed=14", 4);
    double *rows = normal_rows(9, 700, 4);
    require_ok(oif_detector_learn_rows(sound, rows, 700, 4, NULL));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = whole_clone_of(sound);
        wounds[i].inflict((oif_loda_state *)(uintptr_t)oif_detector_state(broken));
        require_broken(broken, wounds[i].name, wounds[i].words);
    }
    oif_detector_free(sound);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_score_is_that_of_histograms_counted_from_the_window),
        cmocka_unit_test(the_defaults_give_the_scores_of_the_twin),
        cmocka_unit_test(a_projection_has_about_the_root_of_the_dimension_in_columns_all_alike),
        cmocka_unit_test(an_outlier_scores_above_every_inlier),
        cmocka_unit_test(one_outlier_does_not_hide_the_next),
        cmocka_unit_test(a_column_of_small_numbers_counts_as_much_as_one_of_large),
        cmocka_unit_test(scaling_columns_by_powers_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(a_departure_from_a_constant_is_noticed_on_both_sides),
        cmocka_unit_test(the_first_rows_score_zero_until_ranges_are_known),
        cmocka_unit_test(equal_rows_score_zero_and_anything_else_high),
        cmocka_unit_test(what_left_the_window_is_forgotten),
        cmocka_unit_test(only_the_last_two_windows_decide),
        cmocka_unit_test(a_missing_column_leaves_the_projections_without_it),
        cmocka_unit_test(numbers_over_the_whole_range_of_doubles_are_told_apart),
        cmocka_unit_test(every_invariant_holds_after_each_of_60000_random_operations),
        cmocka_unit_test(blocks_clones_and_estimates_keep_their_promises),
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
