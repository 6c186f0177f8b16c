/* SDOstream: against its slow twin, and invariants for any rows. */
#include "any_detector.h"

#include "../reference/plain_sdo.h"
#include "detect/sdo/sdo.h"

static const oif_sdo_state *state_of(const oif_detector *detector)
{
    return oif_detector_state(detector);
}

/* ---- Against the twin ---- */

typedef void (*fill_row)(dice *from, int i, int dimension, double *row);

static void fill_normal(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = (i % 40 ? 1 : 60) * dice_normal(from) * exp(3 * j) + 100 * j;
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

/* Columns that are constant at first, nearly always, or always; many rows are equal. */
static void fill_steps(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = j == 1                    ? (i < 300 ? 3 : 4)
                 : j == 2                  ? 0
                 : dice_chance(from, 0.03) ? dice_below(from, 9)
                                           : 5;
}

static void fill_huge(dice *from, int i, int dimension, double *row)
{
    for (int j = 0; j < dimension; j++)
        row[j] = (i % 50 ? 1e300 : 1.7e308) * (2 * dice_unit(from) - 1);
}

static void compare_twins(const plain_sdo_params *p, int dimension, fill_row fill)
{
    char settings[200];
    snprintf(settings, sizeof settings,
             "num_observers=%d num_neighbours=%d window_size=%d idle_share=%g scale=%s "
             "seed=%" PRIu64,
             p->num_observers, p->num_neighbours, p->window_size, p->idle_share,
             p->scale ? "robust" : "none", p->seed);
    oif_detector *fast = new_named("sdo", settings, (size_t)dimension);
    plain_sdo *plain = plain_sdo_new(p, dimension);
    dice rolled = {p->seed + 17};
    double row[10];
    for (int i = 0; i < 600; i++) {
        fill(&rolled, i, dimension, row);
        double learned = learn_score(fast, row);
        plain_sdo_learn(plain, row);
        expect_same_bits(learned, plain_sdo_score(plain, row), settings, (size_t)i);
        for (int j = 0; j < dimension; j++)
            row[j] += dice_normal(&rolled);
        expect_same_bits(score(fast, row), plain_sdo_score(plain, row), settings, (size_t)i);
    }
    require_ok(oif_detector_check(fast, NULL));
    oif_detector_free(fast);
    plain_sdo_free(plain);
}

static void every_score_has_the_bits_of_the_twin(void **state)
{
    (void)state;
    static const fill_row fills[] = {fill_normal, fill_missing, fill_jumps, fill_steps, fill_huge};
    static const int observers[] = {1, 7, 16, 50, 300}, neighbours[] = {1, 2, 5, 6, 20},
                     windows[] = {1, 9, 128, 2048}, dimensions[] = {1, 3, 10};
    static const double idle_shares[] = {0, 0.3, 0.6, 0.9};
    for (int number = 0; number < 60; number++) {
        plain_sdo_params p = {.num_observers = observers[number % 5],
                              .num_neighbours = neighbours[number / 2 % 5],
                              .window_size = windows[number / 3 % 4],
                              .idle_share = idle_shares[number % 4],
                              .scale = number % 7 != 0,
                              .seed = (uint64_t)number};
        compare_twins(&p, dimensions[number % 3], fills[number / 5 % 5]);
    }
}

static void the_defaults_have_the_bits_of_the_twin(void **state)
{
    (void)state;
    plain_sdo_params p = {.num_observers = 200,
                          .num_neighbours = 6,
                          .window_size = 2048,
                          .idle_share = 0.3,
                          .scale = true,
                          .seed = 3};
    compare_twins(&p, 10, fill_normal);
}

/* ---- Scores ---- */

static void an_outlier_scores_above_every_inlier(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "seed=3", 4);
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
        expect_within(score(detector, row), 2 * highest, 30, "an outlier's score");
    }
    oif_detector_free(detector);
    free(rows);
}

/* Each column alone looks ordinary; only together they do not. */
static void a_broken_dependency_is_seen(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "seed=3", 2);
    dice rolled = {5};
    for (int i = 0; i < 3000; i++) {
        double first = dice_normal(&rolled);
        learn(detector, (double[]){first, first + 0.1 * dice_normal(&rolled)});
    }
    double kept = score(detector, (double[]){1, 1}), broken = score(detector, (double[]){1, -1});
    expect_within(broken, 4 * kept, 10, "a broken dependency");
    oif_detector_free(detector);
}

static void the_column_that_is_wrong_has_the_largest_share(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "", 8);
    double *rows = normal_rows(7, 2500, 8), shares[8], scratch[8];
    require_ok(oif_detector_learn_rows(detector, rows, 2500, 8, NULL));
    for (size_t wrong = 0; wrong < 8; wrong++) {
        double *row = &rows[wrong * 8];
        row[wrong] = 8;
        require_ok(oif_detector_explain(detector, row, 8, shares, scratch, NULL));
        expect_within(shares[wrong], 0.7, 1, "the share of the column that is wrong");
    }
    oif_detector_free(detector);
    free(rows);
}

static void equal_rows_score_zero_and_anything_else_far(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "window_size=100", 3);
    for (int i = 0; i < 500; i++)
        expect_same_bits(learn_score(detector, (double[]){1, 2, 0}), 0, "score", (size_t)i);
    double far = sqrt(3 * 64 * 64);
    expect_within(score(detector, (double[]){2, 3, 4}), far, far, "score elsewhere");
    expect_within(score(detector, (double[]){1, 2, 1e-9}), 64, 64, "score of the first change");
    oif_detector_free(detector);
}

static void it_is_ready_with_a_quarter_of_the_observers(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "", 2);
    double *rows = normal_rows(3, 200, 2);
    expect_same_bits(score(detector, rows), 0, "the score before any row", 0);
    for (size_t i = 0; i < 200; i++) {
        learn(detector, &rows[2 * i]);
        assert_int_equal(oif_detector_ready(detector), state_of(detector)->held >= 50);
    }
    assert_true(oif_detector_ready(detector));
    oif_detector_free(detector);
    free(rows);
}

/* ---- Observers ---- */

/* About num_observers rows become observers in window_size rows. */
static void all_observers_are_replaced_once_in_a_window(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "num_observers=100 window_size=1000", 3);
    const oif_sdo_state *s = state_of(detector);
    double *rows = normal_rows(3, 20000, 3);
    uint32_t adopted = 0;
    for (size_t i = 0; i < 20000; i++) {
        double weight = s->weight;
        learn(detector, &rows[3 * i]);
        for (uint32_t slot = 0; i >= 2000 && slot < s->held; slot++)
            adopted += oif_sdo_births(s)[slot] == weight;
    }
    assert_int_equal(s->held, 100);
    expect_within(adopted, 0.6 * 1800, 1.6 * 1800, "observers adopted in 18 windows");
    oif_detector_free(detector);
    free(rows);
}

static void an_outlier_that_was_learned_does_not_become_normal(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "window_size=500", 2);
    dice rolled = {3};
    const double out[] = {9, -9}, in[] = {0.1, -0.2};
    for (int i = 0; i < 4000; i++)
        learn(detector,
              i % 200 == 199 ? out : (double[]){dice_normal(&rolled), dice_normal(&rolled)});
    expect_within(score(detector, out), 10 * score(detector, in), 30, "an outlier seen before");
    oif_detector_free(detector);
}

static void what_is_older_than_some_windows_is_forgotten(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "num_observers=50 window_size=200 seed=4", 2);
    dice rolled = {8};
    const double here[] = {0, 0}, there[] = {30, -30};
    for (int i = 0; i < 3000; i++) {
        const double *centre = i < 1000 ? here : there;
        learn(detector,
              (double[]){centre[0] + dice_normal(&rolled), centre[1] + dice_normal(&rolled)});
        if (i == 999)
            assert_true(4 * score(detector, here) < score(detector, there));
    }
    assert_true(4 * score(detector, there) < score(detector, here));
    oif_detector_free(detector);
}

/* Weights are divided by 2^64 now and then; no score may change. */
static void a_long_stream_keeps_its_counts(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "num_observers=20 window_size=7", 2);
    double *rows = normal_rows(4, 30000, 2);
    const oif_sdo_state *s = state_of(detector);
    for (size_t i = 0; i < 30000; i++) {
        expect_within(learn_score(detector, &rows[2 * i]), 0, 20, "score");
        if (i % 100 == 99) {
            oif_error error;
            require_ok_or(oif_detector_check(detector, &error), error);
            /* six neighbours, a weight that fades with exp(-1/7), and a new observer per row */
            expect_within(s->total / s->weight, 20, 60, "the rows that all counts are worth");
        }
    }
    oif_detector_free(detector);
    free(rows);
}

/* ---- Scales ---- */

static double deviation_of(const oif_detector *detector, uint32_t column)
{
    return 1 / oif_sdo_columns(state_of(detector))[column].inverse;
}

static void scaling_columns_by_powers_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    const double scales[] = {0x1p40, 0x1p-300, 1, 8, 0x1p400};
    oif_detector *plain = new_named("sdo", "window_size=128", 5),
                 *scaled = new_named("sdo", "window_size=128", 5);
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

static void a_few_outliers_hardly_change_a_scale(void **state)
{
    (void)state;
    const int first_rows[] = {3, 20, 63, 500}; /* outliers come after these rows */
    for (int start = 0; start < 4; start++) {
        oif_detector *detector = new_named("sdo", "", 1);
        dice rolled = {3};
        for (int i = 0; i < 3000; i++) {
            learn(detector, (double[]){dice_normal(&rolled)});
            if (i == first_rows[start] || (start == 3 && i > 500 && i % 500 == 0))
                learn(detector, (double[]){1e12});
        }
        expect_within(deviation_of(detector, 0), 0.8, 1.4, "the deviation after outliers");
        oif_detector_free(detector);
    }
}

static void a_new_scale_is_learned(void **state)
{
    (void)state;
    for (int direction = 0; direction < 2; direction++) {
        oif_detector *detector = new_named("sdo", "window_size=500", 1);
        dice rolled = {3};
        for (int i = 0; i < 2000; i++)
            learn(detector, (double[]){dice_normal(&rolled)});
        double by = direction ? 1e-2 : 1e9;
        for (int i = 0; i < (direction ? 6000 : 1000); i++)
            learn(detector, (double[]){by * dice_normal(&rolled)});
        expect_within(deviation_of(detector, 0) / by, 0.6, 1.7, "the deviation after a change");
        oif_detector_free(detector);
    }
}

/* While consecutive values are clamped, each is clamped less than the one before. */
static void a_column_that_gets_wider_is_believed_within_some_rows(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "", 1);
    dice rolled = {3};
    for (int i = 0; i < 3000; i++)
        learn(detector, (double[]){dice_normal(&rolled)});
    for (int i = 0; i < 60; i++)
        learn(detector, (double[]){1e9 * dice_normal(&rolled)});
    expect_within(deviation_of(detector, 0), 1e8, 1e9, "the deviation after 60 wide rows");
    oif_detector_free(detector);
}

static void a_constant_column_does_not_hide_the_others(void **state)
{
    (void)state;
    const double constants[] = {0, 7, -1e300, 1e-100};
    for (int i = 0; i < 4; i++) {
        oif_detector *detector = new_named("sdo", "", 2);
        dice rolled = {3};
        for (int j = 0; j < 1500; j++)
            learn(detector, (double[]){dice_normal(&rolled), constants[i]});
        double inlier[] = {0.5, constants[i]}, outlier[] = {8, constants[i]};
        expect_within(score(detector, outlier), 10 * score(detector, inlier), 20, "an outlier");
        double by = constants[i] == 0 ? 5 : fabs(constants[i]) / 10;
        for (int side = -1; side <= 1; side += 2)
            expect_within(score(detector, (double[]){0.5, constants[i] + side * by}), 8, 100,
                          "a departure from a constant");
        oif_detector_free(detector);
    }
}

/* ---- Missing numbers, any magnitude ---- */

static void distances_are_over_the_columns_that_both_rows_have(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "num_observers=1 scale=none", 4);
    learn(detector, (double[]){0, 0, 0, NAN});
    expect_within(score(detector, (double[]){3, 4, 0, 9}), 5 * sqrt(4.0 / 3) - 1e-12,
                  5 * sqrt(4.0 / 3) + 1e-12, "three of four columns");
    expect_same_bits(score(detector, (double[]){3, NAN, NAN, 9}), 6, "one of four columns", 0);
    expect_same_bits(score(detector, (double[]){NAN, NAN, NAN, 9}), 0, "no common column", 0);
    oif_detector_free(detector);
}

static void rows_with_nothing_in_common_have_observers_of_their_own(void **state)
{
    (void)state;
    oif_detector *detector = new_named("sdo", "num_observers=40 window_size=200", 2);
    dice rolled = {3};
    for (int i = 0; i < 1000; i++) {
        double number = dice_normal(&rolled);
        learn(detector, i % 2 ? (double[]){number, NAN} : (double[]){NAN, number});
        learn(detector, (double[]){NAN, NAN});
    }
    for (int j = 0; j < 2; j++) {
        double row[] = {NAN, NAN};
        row[j] = 9;
        expect_within(score(detector, row), 6, 20, "an outlier of either sort");
        row[j] = 0;
        expect_within(score(detector, row), 0, 1, "an inlier of either sort");
    }
    oif_detector_free(detector);
}

static void numbers_over_the_whole_range_of_doubles_are_told_apart(void **state)
{
    (void)state;
    const double size = 1.7e308;
    const char *const settings[] = {"window_size=256", "window_size=256 scale=none"};
    for (int number = 0; number < 2; number++) {
        oif_detector *detector = new_named("sdo", settings[number], 2);
        dice rolled = {9};
        for (int i = 0; i < 600; i++)
            learn(detector, (double[]){dice_unit(&rolled), -dice_unit(&rolled)});
        double in = score(detector, (double[]){0.5, -0.5}),
               out = score(detector, (double[]){0.5, -size});
        expect_within(out, 100 * in, number ? 0x1p450 : 91, "an outlier at the end of the range");
        for (int i = 0; i < 600; i++)
            expect_within(learn_score(detector, (double[]){size * dice_unit(&rolled), -size}), 0,
                          0x1p451, "a score of huge numbers");
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

/* ---- Everything ---- */

static void draw_settings(dice *from, char settings[200])
{
    uint32_t window = 1 + dice_below(from, dice_chance(from, 0.5) ? 40 : 300);
    snprintf(settings, 200,
             "num_observers=%u num_neighbours=%u window_size=%u idle_share=%g scale=%s seed=%u",
             1 + dice_below(from, 40), 1 + dice_below(from, 10), window, 0.9 * dice_unit(from),
             dice_chance(from, 0.7) ? "robust" : "none", dice_below(from, 1000));
}

static void every_invariant_holds_after_each_of_60000_random_operations(void **state)
{
    (void)state;
    require_invariants("sdo", draw_settings, 200, 300, 0, 0x1p452);
}

static void blocks_clones_and_estimates_keep_their_promises(void **state)
{
    (void)state;
    require_promises("sdo", "");
    require_promises("sdo", "num_observers=11 window_size=64 num_neighbours=2 seed=9");
    require_promises("sdo", "num_observers=40 window_size=30 scale=none");
    require_promises("sdo", "num_observers=1 window_size=1");
}

/* ---- The check ---- */

static void hold_more_than_fits(oif_sdo_state *s)
{
    s->held++;
}
static void let_one_less_be_active(oif_sdo_state *s)
{
    s->active--;
}
static void start_for_ever(oif_sdo_state *s)
{
    s->rows_so_far++;
}
static void let_rows_weigh_nothing(oif_sdo_state *s)
{
    s->weight = 0.5;
}
static void let_rows_weigh_too_much(oif_sdo_state *s)
{
    s->weight = NAN;
}
static void make_a_count_negative(oif_sdo_state *s)
{
    oif_sdo_counts(s)[39] = -1;
}
static void make_a_count_infinite(oif_sdo_state *s)
{
    oif_sdo_counts(s)[0] = INFINITY;
}
static void be_born_tomorrow(oif_sdo_state *s)
{
    oif_sdo_births(s)[3] = s->weight;
}
static void use_an_idle_one_most(oif_sdo_state *s)
{
    oif_sdo_counts(s)[39] = 2 * s->total;
}
static void lose_the_total(oif_sdo_state *s)
{
    s->total *= 1.001;
}
static void make_an_observer_infinite(oif_sdo_state *s)
{
    oif_sdo_values(s, 3)[39] = -INFINITY;
}
static void empty_an_observer(oif_sdo_state *s)
{
    for (uint32_t i = 0; i < 4; i++)
        oif_sdo_values(s, i)[5] = NAN;
}
static void miss_a_number(oif_sdo_state *s)
{
    oif_sdo_values(s, 2)[5] = NAN;
}
static void know_too_much(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].known = 129;
}
static void know_nothing(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].known = 0;
}
static void lose_a_center(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].center = NAN;
}
static void turn_a_variance(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].variance = -1;
}
static void reach_for_nothing(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].reach = 0;
}
static void invert_nothing(oif_sdo_state *s)
{
    oif_sdo_columns(s)[1].inverse = INFINITY;
}

static const struct {
    const char *name;
    void (*inflict)(oif_sdo_state *s);
    const char *words;
} wounds[] = {
    {"hold_more_than_fits", hold_more_than_fits, "there are more observers than places"},
    {"let_one_less_be_active", let_one_less_be_active, "another share of the observers is active"},
    {"start_for_ever", start_for_ever, "the start took too many rows"},
    {"let_rows_weigh_nothing", let_rows_weigh_nothing, "the weight of a row is out of range"},
    {"let_rows_weigh_too_much", let_rows_weigh_too_much, "the weight of a row is out of range"},
    {"make_a_count_negative", make_a_count_negative, "a count is out of range"},
    {"make_a_count_infinite", make_a_count_infinite, "a count is out of range"},
    {"be_born_tomorrow", be_born_tomorrow, "an observer was born after the last row"},
    {"use_an_idle_one_most", use_an_idle_one_most, "an idle observer is used more than an active"},
    {"lose_the_total", lose_the_total, "the total is not that of the counts"},
    {"make_an_observer_infinite", make_an_observer_infinite, "an observer is infinite"},
    {"empty_an_observer", empty_an_observer, "an observer has no number"},
    {"miss_a_number", miss_a_number, "the observers with missing numbers are not counted"},
    {"know_too_much", know_too_much, "column 1: more numbers were learned than count"},
    {"know_nothing", know_nothing, "column 1: what is known about the column comes from no number"},
    {"lose_a_center", lose_a_center, "column 1: the center is out of range"},
    {"turn_a_variance", turn_a_variance, "column 1: the variance is out of range"},
    {"reach_for_nothing", reach_for_nothing, "column 1: the reach is out of range"},
    {"invert_nothing", invert_nothing, "column 1: the inverse is not that of the deviation"},
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    oif_detector *sound = new_named("sdo", "num_observers=40 window_size=128 seed=14", 4);
    double *rows = normal_rows(9, 700, 4);
    require_ok(oif_detector_learn_rows(sound, rows, 700, 4, NULL));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_detector *broken = whole_clone_of(sound);
        wounds[i].inflict((oif_sdo_state *)(uintptr_t)oif_detector_state(broken));
        require_broken(broken, wounds[i].name, wounds[i].words);
    }
    oif_detector_free(sound);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_score_has_the_bits_of_the_twin),
        cmocka_unit_test(the_defaults_have_the_bits_of_the_twin),
        cmocka_unit_test(an_outlier_scores_above_every_inlier),
        cmocka_unit_test(a_broken_dependency_is_seen),
        cmocka_unit_test(the_column_that_is_wrong_has_the_largest_share),
        cmocka_unit_test(equal_rows_score_zero_and_anything_else_far),
        cmocka_unit_test(it_is_ready_with_a_quarter_of_the_observers),
        cmocka_unit_test(all_observers_are_replaced_once_in_a_window),
        cmocka_unit_test(an_outlier_that_was_learned_does_not_become_normal),
        cmocka_unit_test(what_is_older_than_some_windows_is_forgotten),
        cmocka_unit_test(a_long_stream_keeps_its_counts),
        cmocka_unit_test(scaling_columns_by_powers_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(a_few_outliers_hardly_change_a_scale),
        cmocka_unit_test(a_new_scale_is_learned),
        cmocka_unit_test(a_column_that_gets_wider_is_believed_within_some_rows),
        cmocka_unit_test(a_constant_column_does_not_hide_the_others),
        cmocka_unit_test(distances_are_over_the_columns_that_both_rows_have),
        cmocka_unit_test(rows_with_nothing_in_common_have_observers_of_their_own),
        cmocka_unit_test(numbers_over_the_whole_range_of_doubles_are_told_apart),
        cmocka_unit_test(every_invariant_holds_after_each_of_60000_random_operations),
        cmocka_unit_test(blocks_clones_and_estimates_keep_their_promises),
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
