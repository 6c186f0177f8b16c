/* Robust Random Cut Forest from outside and inside: the promises of oif.h, invariants after every
 * operation for any rows, and every degenerate case.
 *
 * OIF_FOREST_SEED sets the seed of the random operations; every failure prints it. */
#include "any_detector.h"

#include "detect/rrcf/rrcf.h"

/* ---- Forests ---- */

typedef struct plan {
    uint32_t num_trees, tree_size;
    oif_rrcf_sample sample;
    double window_size;
    uint64_t seed;
} plan;

static const char *plan_text(const plan *p)
{
    static char text[200];
    snprintf(text, sizeof text, "%s num_trees=%u tree_size=%u window_size=%g seed=%" PRIu64,
             p->sample == OIF_RRCF_SLIDING ? "sliding" : "reservoir", p->num_trees, p->tree_size,
             p->window_size, p->seed);
    return text;
}

static oif_params params_of_plan(const plan *p)
{
    oif_params params;
    require_ok(oif_params_init(&params, "rrcf", NULL));
    set_param(&params, "num_trees", p->num_trees);
    set_param(&params, "tree_size", p->tree_size);
    set_param(&params, "sample", p->sample);
    set_param(&params, "window_size", p->window_size);
    set_param(&params, "seed", (double)p->seed);
    return params;
}

static oif_detector *new_rrcf(const plan *p, size_t dimension)
{
    oif_params params = params_of_plan(p);
    oif_detector *detector = NULL;
    oif_error error;
    require_ok_or(oif_detector_new(&params, dimension, &detector, &error), error);
    return detector;
}

enum { PLANS = 4, DIMENSION = 3, ROWS = 600 };

static plan plan_number(int number)
{
    return (plan){.num_trees = 7,
                  .tree_size = number / 2 ? 64 : 40,
                  .sample = (oif_rrcf_sample)(number % 2),
                  .window_size = number / 2 ? 150 : 1,
                  .seed = (uint64_t)number};
}

static oif_rrcf_state *state_of(const oif_detector *detector)
{
    return (oif_rrcf_state *)oif_detector_state(detector); /* tests may write there */
}

/* Normal rows with ties, duplicates, some missing values and, later, a jump. */
static double *mixed_rows(uint64_t seed, size_t count, double missing)
{
    double *rows = normal_rows(seed, count, DIMENSION);
    dice rolled = {seed + 1000};
    for (size_t i = 0; i < count * DIMENSION; i++) {
        if (i > count * DIMENSION / 2)
            rows[i] += 10;
        if (i % DIMENSION == 1)
            rows[i] = floor(rows[i] * 2);
        if (dice_chance(&rolled, missing))
            rows[i] = NAN;
    }
    for (size_t i = 20; i < count; i += 7)
        memcpy(&rows[i * DIMENSION], &rows[(i - 20) * DIMENSION], DIMENSION * sizeof *rows);
    return rows;
}

/* ---- Promises ---- */

static void blocks_clones_and_estimates_keep_their_promises(void **state)
{
    (void)state;
    require_promises("rrcf", "");
    require_promises("rrcf", "num_trees=7 tree_size=64 window_size=150 seed=9");
    require_promises("rrcf", "num_trees=5 tree_size=40 window_size=1");
    require_promises("rrcf", "num_trees=7 tree_size=50 sample=sliding");
    require_promises("rrcf", "num_trees=1 tree_size=2 sample=sliding");
}

static void a_forest_that_no_machine_can_hold_is_refused(void **state)
{
    (void)state;
    plan p = {.num_trees = 4096, .tree_size = 1 << 16, .window_size = 1};
    oif_params params = params_of_plan(&p);
    oif_detector *detector = NULL;
    oif_error error;
    assert_int_equal(oif_detector_new(&params, OIF_COLUMNS_MAX, &detector, &error), OIF_EMEMORY);
    assert_null(detector);
}

static void a_forest_is_ready_once_the_sample_is_half_full(void **state)
{
    (void)state;
    plan p = plan_number(2);
    oif_detector *detector = new_rrcf(&p, 1);
    for (uint32_t i = 0; i < 500; i++) {
        assert_int_equal(oif_detector_ready(detector), i >= p.tree_size / 2);
        learn(detector, &(double){i});
    }
    oif_detector_free(detector);
}

/* ---- Random operations ---- */

/* Like those of any_detector.h, plus longer rows, most of them not a whole number of vectors, and
 * duplicates. */
enum { ROUNDS = 160, OPERATIONS_A_ROUND = 300, MAX_DIMENSION = 9 };

static const char *const style_names[] = {"normal",   "few values", "constant",   "huge",
                                          "few ulps", "far offset", "sorted",     "jumps",
                                          "missing",  "subnormal",  "heavy tails"};

/* One forest and its stream. */
typedef struct trial {
    uint64_t seed;
    int round, operation;
    plan plan;
    uint32_t dimension;
    style styles[MAX_DIMENSION];
    double missing, all_missing, repeats;
    uint64_t row;
    double last[MAX_DIMENSION];
    dice dice;
    oif_detector *detector;
} trial;

static const char *trial_text(const trial *t)
{
    static char text[600];
    int length =
        snprintf(text, sizeof text, "seed %" PRIu64 ", round %d, operation %d, %s, missing %g",
                 t->seed, t->round, t->operation, plan_text(&t->plan), t->missing);
    for (uint32_t i = 0; i < t->dimension; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s",
                           style_names[t->styles[i]]);
    return text;
}

static void draw_row(trial *t, double *row)
{
    bool nothing = dice_chance(&t->dice, t->all_missing),
         repeated = dice_chance(&t->dice, t->repeats);
    for (uint32_t i = 0; i < t->dimension; i++) {
        row[i] = repeated ? t->last[i] : number_in_style(&t->dice, t->styles[i], t->row);
        if (nothing || dice_chance(&t->dice, t->missing))
            row[i] = NAN;
    }
    memcpy(t->last, row, t->dimension * sizeof *row);
    t->row++;
}

static void begin_round(trial *t)
{
    static const uint32_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 9};
    t->plan = (plan){.num_trees = 1 + dice_below(&t->dice, 4),
                     .tree_size = 2 + dice_below(&t->dice, dice_chance(&t->dice, 0.5) ? 6 : 60),
                     .sample = (oif_rrcf_sample)(t->round % 2),
                     .window_size = 1 + dice_below(&t->dice, 150),
                     .seed = dice_bits(&t->dice) >> 11};
    t->dimension = dimensions[t->round / 2 % 8];
    t->row = 0;
    t->missing = dice_chance(&t->dice, 0.5) ? 0 : 0.3 * dice_unit(&t->dice);
    t->all_missing = dice_chance(&t->dice, 0.8) ? 0 : 0.5 * dice_unit(&t->dice);
    t->repeats = dice_chance(&t->dice, 0.5) ? 0 : 0.5 * dice_unit(&t->dice);
    memset(t->last, 0, sizeof t->last);
    for (uint32_t i = 0; i < t->dimension; i++)
        t->styles[i] = (style)dice_below(&t->dice, STYLES);
    t->detector = new_rrcf(&t->plan, t->dimension);
}

static void operate(trial *t)
{
    double rows[MAX_BLOCK * MAX_DIMENSION], scores[MAX_BLOCK] = {0};
    size_t count = 1 + dice_below(&t->dice, MAX_BLOCK), d = t->dimension;
    uint32_t chosen = dice_below(&t->dice, 10);
    for (size_t i = 0; i < count; i++)
        draw_row(t, &rows[i * d]);
    if (chosen < 2) {
        require_ok(oif_detector_learn(t->detector, rows, NULL));
    } else if (chosen < 5) {
        require_ok(oif_detector_learn_score(t->detector, rows, scores, NULL));
    } else if (chosen < 6) {
        require_ok(oif_detector_score_rows(t->detector, rows, count, d, scores, NULL));
    } else if (chosen < 7) {
        oif_detector *copy = clone_of(t->detector);
        oif_detector_free(t->detector);
        t->detector = copy;
    } else {
        require_ok(oif_detector_learn_score_rows(t->detector, rows, count, d, scores, NULL));
    }
    for (size_t i = 0; i < MAX_BLOCK; i++)
        if (!(scores[i] >= 0 && scores[i] <= t->plan.tree_size))
            fail_msg("%s: the score is %.17g", trial_text(t), scores[i]);
}

static void every_invariant_holds_after_each_random_operation(void **state)
{
    (void)state;
    trial t = {.seed = seed_from_environment()};
    t.dice.state = t.seed;
    for (t.round = 0; t.round < ROUNDS; t.round++) {
        begin_round(&t);
        for (t.operation = 0; t.operation < OPERATIONS_A_ROUND; t.operation++) {
            oif_error error = {.status = OIF_OK};
            operate(&t);
            if (oif_detector_check(t.detector, &error) != OIF_OK)
                fail_msg("%s: %s", trial_text(&t), error.message);
        }
        oif_detector_free(t.detector);
    }
}

/* ---- Sums by definition ---- */

enum { LANES = 4, WIDEST = 15 };

/* Columns 0, 4, 8, ... are added in one lane, 1, 5, 9, ... in the next, and so on. What remains at
 * the end is in the last lanes. The lanes are added crosswise. Fewer columns than lanes are added
 * in order. */
static double sum_in_lanes(const double *parts, size_t dimension)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t whole = dimension - dimension % LANES;
    for (size_t i = 0; dimension < LANES && i < dimension; i++)
        sum += parts[i];
    for (size_t i = 0; dimension >= LANES && i < dimension; i++)
        lanes[i < whole ? i % LANES : i + LANES - dimension] += parts[i];
    return dimension < LANES ? sum : (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* Two rows are one box. A third row is isolated from it with the probability of its part of the
 * extended box, and then lifts two rows; otherwise it is beside one of them and lifts that. */
static void expect_sums_of_two_rows(const double *two, const double *third, size_t dimension,
                                    size_t number)
{
    char what[60];
    const oif_cut_tree_shape shape = oif_cut_tree_layout(dimension, 3);
    oif_cut_tree *tree = calloc(1, shape.bytes);
    assert_non_null(tree);
    oif_cut_tree_init(&shape, tree, oif_random_stream(3, dimension));
    oif_cut_tree_insert(&shape, tree, two);
    oif_cut_tree_insert(&shape, tree, two + dimension);
    double sides[WIDEST], added[WIDEST];
    for (size_t i = 0; i < dimension; i++) {
        double low = fmin(two[i], two[dimension + i]), high = fmax(two[i], two[dimension + i]);
        sides[i] = high - low;
        added[i] = fmax(fmax(low - third[i], third[i] - high), 0);
    }
    double range = sum_in_lanes(sides, dimension), extension = sum_in_lanes(added, dimension);
    double apart = extension / (range + extension);
    snprintf(what, sizeof what, "the range of a box of %zu columns", dimension);
    expect_same_bits(oif_cut_tree_cut_at(&shape, tree, tree->root)->range, range, what, number);
    snprintf(what, sizeof what, "the displacement with %zu columns", dimension);
    expect_same_bits(oif_cut_tree_expected_displacement(&shape, tree, third),
                     2 * apart + (1 - apart), what, number);
    free(tree);
}

static void sums_over_any_number_of_columns_have_the_bits_of_their_definition(void **state)
{
    (void)state;
    enum { TRIALS = 100 };
    for (size_t dimension = 1; dimension <= WIDEST; dimension++) {
        double *rows = normal_rows(dimension, 3 * TRIALS, dimension);
        for (size_t i = 0; i < TRIALS; i++) {
            double *row = &rows[3 * i * dimension], *third = row + 2 * dimension;
            third[i % dimension] += 20; /* outside the box */
            expect_sums_of_two_rows(row, third, dimension, i);
        }
        free(rows);
    }
}

/* ---- Scores ---- */

/* Three points on a line: the first cut is between 1 and 100 with the probability 0.99. Then
 * removing 100 lifts the two others; otherwise 1 is its sibling and only that is lifted. */
static void three_points_have_the_displacement_that_paper_and_pencil_give(void **state)
{
    (void)state;
    plan p = {
        .num_trees = 4096, .tree_size = 3, .sample = OIF_RRCF_SLIDING, .window_size = 1, .seed = 4};
    oif_detector *detector = new_rrcf(&p, 1);
    learn(detector, &(double){0});
    learn(detector, &(double){1});
    double far = learn_score(detector, &(double){100});
    expect_within(far, 1.99 - 0.007, 1.99 + 0.007, "score of 100");
    double again =
        /* a second one: 1/2 beside its neighbour, or 2/2 if cut off first */
        score(detector, &(double){0});
    expect_within(again, 0.505 - 0.004, 0.505 + 0.004, "score of 0");
    expect_same_bits(score(detector, &(double){100}), far, "the row learned last", 2);
    oif_detector_free(detector);
}

/* A score is the mean displacement of its leaves, found by walking up. */
static void a_score_is_the_mean_displacement_over_the_trees(void **state)
{
    (void)state;
    plan p = {
        .num_trees = 33, .tree_size = 50, .sample = OIF_RRCF_SLIDING, .window_size = 1, .seed = 2};
    oif_detector *detector = new_rrcf(&p, DIMENSION);
    double *rows = mixed_rows(5, ROWS, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double learned = learn_score(detector, &rows[i * DIMENSION]), sum = 0;
        const oif_rrcf_state *f = state_of(detector);
        for (uint32_t number = 0; number < p.num_trees; number++) {
            const oif_cut_tree_link *links =
                oif_cut_tree_links(&f->shape, oif_rrcf_tree(f, number));
            double greatest = 0;
            uint32_t node = oif_rrcf_leaves(f, number)[i % p.tree_size];
            for (; links[node].parent != OIF_CUT_TREE_NO_NODE; node = links[node].parent)
                greatest =
                    fmax(greatest, (double)(links[links[node].parent].mass - links[node].mass) /
                                       links[node].mass);
            sum += greatest;
        }
        expect_within(learned, sum / p.num_trees - 1e-8, sum / p.num_trees + 1e-8, "score");
    }
    oif_detector_free(detector);
    free(rows);
}

static void an_obvious_outlier_scores_above_every_inlier(void **state)
{
    (void)state;
    for (int sample = 0; sample < 2; sample++) {
        plan p = {.num_trees = 64,
                  .tree_size = 128,
                  .sample = (oif_rrcf_sample)sample,
                  .window_size = 512,
                  .seed = 1};
        oif_detector *detector = new_rrcf(&p, 4);
        double *rows = normal_rows(77, 1000, 4), highest = 0;
        for (size_t i = 0; i < 1000; i++) {
            double own = learn_score(detector, &rows[i * 4]);
            highest = i > 500 ? fmax(highest, own) : 0;
        }
        for (int corner = 0; corner < 16; corner++) {
            double row[4];
            for (int j = 0; j < 4; j++)
                row[j] = corner >> j & 1 ? 12 : -12;
            double unseen = score(detector, row);
            if (!(unseen > highest))
                fail_msg("%s: the outlier in corner %d scores %g, an inlier %g", plan_text(&p),
                         corner, unseen, highest);
        }
        double seen = learn_score(detector, (double[]){12, -12, 12, -12});
        if (!(seen > highest))
            fail_msg("%s: the outlier scores %g, an inlier %g", plan_text(&p), seen, highest);
        oif_detector_free(detector);
        free(rows);
    }
}

/* Multiplying all values by a power of two is exact, and so are all ranges, probabilities and
 * cuts. */
static void scaling_by_a_power_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    for (int number = 0; number < PLANS; number++) {
        plan p = plan_number(number);
        oif_detector *plain = new_rrcf(&p, DIMENSION), *scaled = new_rrcf(&p, DIMENSION);
        double *rows = mixed_rows(5, ROWS, 0.03), row[DIMENSION];
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t j = 0; j < DIMENSION; j++)
                row[j] = rows[i * DIMENSION + j] * 0x1p200;
            double expected = learn_score(plain, &rows[i * DIMENSION]);
            expect_same_bits(learn_score(scaled, row), expected, plan_text(&p), i);
        }
        oif_detector_free(plain);
        oif_detector_free(scaled);
        free(rows);
    }
}

/* The sum of the ranges overflows here, so everything is computed with scaled numbers: the same up
 * to rounding. */
static void numbers_whose_ranges_overflow_are_told_apart_like_small_ones(void **state)
{
    (void)state;
    plan p = {
        .num_trees = 50, .tree_size = 64, .sample = OIF_RRCF_SLIDING, .window_size = 1, .seed = 3};
    oif_detector *small = new_rrcf(&p, 4), *huge = new_rrcf(&p, 4);
    dice rolled = {6};
    for (size_t i = 0; i < 500; i++) {
        double row[4], larger[4];
        for (int j = 0; j < 4; j++) {
            row[j] = 2 * dice_unit(&rolled) - 1;
            row[j] *= i % 10 ? 0.1 : 1;
            larger[j] = row[j] * 0x1.fp1023;
        }
        double expected = learn_score(small, row), actual = learn_score(huge, larger);
        /* no draw was near its threshold */
        expect_within(actual, expected - 1e-6, expected + 1e-6, "score");
    }
    require_ok(oif_detector_check(huge, NULL));
    oif_detector_free(small);
    oif_detector_free(huge);
}

static void what_left_the_sample_is_forgotten(void **state)
{
    (void)state;
    for (int sample = 0; sample < 2; sample++) {
        plan p = {.num_trees = 32,
                  .tree_size = 64,
                  .sample = (oif_rrcf_sample)sample,
                  .window_size = 128,
                  .seed = 3};
        oif_detector *detector = new_rrcf(&p, 2);
        dice rolled = {8};
        const double here[] = {0, 0}, there[] = {40, -40};
        for (int i = 0; i < 3000; i++) {
            const double *centre = i < 1500 ? here : there;
            learn(detector,
                  (double[]){centre[0] + dice_normal(&rolled), centre[1] + dice_normal(&rolled)});
            if (i == 1499 && !(score(detector, here) < score(detector, there)))
                fail_msg("%s: before the move, here scores %g and there %g", plan_text(&p),
                         score(detector, here), score(detector, there));
        }
        if (!(score(detector, there) < score(detector, here)))
            fail_msg("%s: after the move, here scores %g and there %g", plan_text(&p),
                     score(detector, here), score(detector, there));
        oif_detector_free(detector);
    }
}

/* ---- Degenerate data ---- */

static void equal_rows_share_a_leaf_and_score_nothing(void **state)
{
    (void)state;
    const double constant[] = {-0.1, 1e15, 7}, other[] = {-0.1, 1e15, 8};
    for (int number = 0; number < PLANS; number++) {
        plan p = plan_number(number);
        oif_detector *detector = new_rrcf(&p, 3);
        for (size_t i = 0; i < 4 * p.tree_size; i++)
            expect_same_bits(learn_score(detector, constant), 0, plan_text(&p), i);
        const oif_rrcf_state *f = state_of(detector);
        const oif_cut_tree *tree = oif_rrcf_tree(f, 0);
        assert_true(oif_cut_tree_is_leaf(&f->shape, tree->root));
        assert_int_equal(oif_cut_tree_links(&f->shape, tree)[tree->root].mass, p.tree_size);
        expect_same_bits(score(detector, other), p.tree_size, "another row", 0);
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

static void an_empty_forest_scores_nothing(void **state)
{
    (void)state;
    plan p = plan_number(0);
    oif_detector *detector = new_rrcf(&p, 2);
    require_ok(oif_detector_check(detector, NULL));
    expect_same_bits(score(detector, (double[]){1, 2}), 0, "before any row", 0);
    expect_same_bits(learn_score(detector, (double[]){1, 2}), 0, "the first row", 0);
    expect_same_bits(score(detector, (double[]){1, 3}), 1, "beside the first row", 0);
    oif_detector_free(detector);
}

/* Numbers that grow by half each time make the deepest trees possible. */
static void a_tree_may_be_as_deep_as_it_has_rows(void **state)
{
    (void)state;
    plan p = {
        .num_trees = 1, .tree_size = 1500, .sample = OIF_RRCF_SLIDING, .window_size = 1, .seed = 1};
    oif_detector *detector = new_rrcf(&p, 1);
    double number = 1e-300;
    for (int i = 0; i < 3000; i++) {
        learn(detector, &number);
        number = number > 1e300 ? 1e-300 : number * 1.5;
    }
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

/* ---- Missing values ---- */

static void a_column_that_is_always_missing_never_matters(void **state)
{
    (void)state;
    for (int number = 0; number < PLANS; number++) {
        plan p = plan_number(number);
        oif_detector *detector = new_rrcf(&p, 3), *without = new_rrcf(&p, 2);
        dice rolled = {(uint64_t)number};
        for (size_t i = 0; i < 400; i++) {
            double row[3] = {dice_normal(&rolled), NAN, dice_normal(&rolled)},
                   shorter[2] = {row[0], row[2]};
            expect_same_bits(learn_score(detector, row), learn_score(without, shorter),
                             plan_text(&p), i);
            row[1] = 1e300 * dice_normal(&rolled); /* never seen there */
            row[2] = shorter[1] = 2 * dice_normal(&rolled);
            expect_same_bits(score(detector, row), score(without, shorter), plan_text(&p), i);
        }
        oif_detector_free(detector);
        oif_detector_free(without);
    }
}

static void rows_without_any_number_score_nothing_and_numbers_are_welcome_after_them(void **state)
{
    (void)state;
    for (int number = 0; number < PLANS; number++) {
        plan p = plan_number(number);
        oif_detector *detector = new_rrcf(&p, 2);
        const double nothing[] = {NAN, NAN};
        for (size_t i = 0; i < 100; i++)
            expect_same_bits(learn_score(detector, nothing), 0, plan_text(&p), i);
        dice rolled = {1};
        for (int i = 0; i < 100; i++)
            learn(detector, (double[]){dice_unit(&rolled), dice_unit(&rolled)});
        require_ok(oif_detector_check(detector, NULL));
        const oif_rrcf_state *f = state_of(detector);
        assert_false(oif_cut_tree_is_leaf(&f->shape, oif_rrcf_tree(f, 0)->root));
        if (!(score(detector, (double[]){9, 9}) > score(detector, (double[]){0.5, 0.5})))
            fail_msg("%s: the outlier is not seen", plan_text(&p));
        oif_detector_free(detector);
    }
}

static void a_missing_number_hides_no_outlier_of_another_column(void **state)
{
    (void)state;
    plan p = {.num_trees = 64,
              .tree_size = 128,
              .sample = OIF_RRCF_RESERVOIR,
              .window_size = 512,
              .seed = 5};
    oif_detector *detector = new_rrcf(&p, 5);
    dice rolled = {6};
    double row[5], lowest_outlier = INFINITY, highest_inlier = 0, lowest_share = 1;
    for (int i = 0; i < 1500; i++) {
        for (int j = 0; j < 5; j++)
            row[j] = dice_chance(&rolled, 0.05) ? NAN : dice_normal(&rolled);
        learn(detector, row);
    }
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 5; j++)
            row[j] = 0.5 * dice_normal(&rolled);
        row[4] = NAN;
        highest_inlier = fmax(highest_inlier, score(detector, row));
        for (int j = 0; j < 4; j++)
            row[j] = dice_chance(&rolled, 0.5) ? 12 : -12;
        double without = score(detector, row);
        row[4] = 0.5 * dice_normal(&rolled);
        lowest_share = fmin(lowest_share, without / score(detector, row));
        lowest_outlier = fmin(lowest_outlier, without);
    }
    expect_within(lowest_share, 0.8, 1,
                  "an outlier's score without its last number, as a share of that with it");
    if (!(lowest_outlier > highest_inlier))
        fail_msg("without their last number an outlier scores %g, an inlier %g", lowest_outlier,
                 highest_inlier);
    oif_detector_free(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_clones_and_estimates_keep_their_promises),
        cmocka_unit_test(a_forest_that_no_machine_can_hold_is_refused),
        cmocka_unit_test(a_forest_is_ready_once_the_sample_is_half_full),
        cmocka_unit_test(every_invariant_holds_after_each_random_operation),
        cmocka_unit_test(sums_over_any_number_of_columns_have_the_bits_of_their_definition),
        cmocka_unit_test(three_points_have_the_displacement_that_paper_and_pencil_give),
        cmocka_unit_test(a_score_is_the_mean_displacement_over_the_trees),
        cmocka_unit_test(an_obvious_outlier_scores_above_every_inlier),
        cmocka_unit_test(scaling_by_a_power_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(numbers_whose_ranges_overflow_are_told_apart_like_small_ones),
        cmocka_unit_test(what_left_the_sample_is_forgotten),
        cmocka_unit_test(equal_rows_share_a_leaf_and_score_nothing),
        cmocka_unit_test(an_empty_forest_scores_nothing),
        cmocka_unit_test(a_tree_may_be_as_deep_as_it_has_rows),
        cmocka_unit_test(a_column_that_is_always_missing_never_matters),
        cmocka_unit_test(rows_without_any_number_score_nothing_and_numbers_are_welcome_after_them),
        cmocka_unit_test(a_missing_number_hides_no_outlier_of_another_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
