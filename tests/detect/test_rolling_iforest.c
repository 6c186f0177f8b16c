/* rolling-iforest: against its plain twin, bit for bit; when trees are grown and from which rows;
 * tournaments and virtual insertion; invariances and degenerate cases.
 *
 * The detector's own file is included, so the tests see its state; trees are counted as they
 * grow. */
#include "any_detector.h"

#include "../reference/plain_rolling_iforest.h"
#include "detect/rolling_iforest/rolling_iforest.c"

/* ---- Counting trees ---- */

static struct {
    uint32_t trees, last_tree; /* grown since the last look; number of the last */
    uint32_t rows;             /* it was grown from */
    double lowest, highest;    /* in the first column of those rows */
} grown;

void __real_oif_rolling_grow(oif_rolling_trees *t, uint32_t tree, const double *values,
                             size_t *rows, uint32_t count, oif_random *random);
void __wrap_oif_rolling_grow(oif_rolling_trees *t, uint32_t tree, const double *values,
                             size_t *rows, uint32_t count, oif_random *random);

void __wrap_oif_rolling_grow(oif_rolling_trees *t, uint32_t tree, const double *values,
                             size_t *rows, uint32_t count, oif_random *random)
{
    grown.trees++;
    grown.last_tree = tree;
    grown.rows = count;
    grown.lowest = INFINITY;
    grown.highest = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        grown.lowest = fmin(grown.lowest, values[rows[i]]);
        grown.highest = fmax(grown.highest, values[rows[i]]);
    }
    __real_oif_rolling_grow(t, tree, values, rows, count, random);
}

static oif_detector *detector_with(const char *settings, size_t dimension)
{
    return new_named("rolling-iforest", settings, dimension);
}

/* ---- The promises ---- */

static const char *const setups[] = {
    "num_trees=11 window_size=200 sample_size=32",
    "num_trees=32 window_size=300 sample_size=128 renew_trees=32",
    "num_trees=40 window_size=64 max_leaf_samples=2 max_depth=12 seed=7",
    "num_trees=9 window_size=600 tournament=1 renew_trees=4 insertion=path",
    "num_trees=17 window_size=800 sample_size=64 insertion=none",
    "num_trees=3 window_size=4 sample_size=2 max_leaf_samples=1 max_depth=1",
};

enum { SETUPS = sizeof setups / sizeof setups[0] };

static void it_keeps_the_promises_of_every_detector(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++)
        require_promises("rolling-iforest", setups[number]);
}

static plain_rolling_params draw_params(dice *from)
{
    plain_rolling_params p = {.num_trees = 1 + (int)dice_below(from, 44),
                              .window_size = 4 + (int)dice_below(from, 200),
                              .sample_size = 2 + (int)dice_below(from, 60),
                              .max_depth = 1 + (int)dice_below(from, 12),
                              .max_leaf_samples = 1 + (int)dice_below(from, 12),
                              .tournament = 1 + (int)dice_below(from, 4),
                              .insertion = dice_chance(from, 0.8),
                              .seed = dice_below(from, 1000)};
    p.renew_trees = dice_chance(from, 0.5) ? 1 : 1 + (int)dice_below(from, (uint32_t)p.num_trees);
    return p;
}

static void write_settings(const plain_rolling_params *p, char settings[200])
{
    snprintf(
        settings, 200,
        "num_trees=%d window_size=%d sample_size=%d max_depth=%d max_leaf_samples=%d tournament=%d "
        "insertion=%s renew_trees=%d seed=%" PRIu64,
        p->num_trees, p->window_size, p->sample_size, p->max_depth, p->max_leaf_samples,
        p->tournament, p->insertion ? "path" : "none", p->renew_trees, p->seed);
}

static void draw_settings(dice *from, char settings[200])
{
    plain_rolling_params p = draw_params(from);
    write_settings(&p, settings);
}

static void whatever_the_rows_are_it_holds_together(void **state)
{
    (void)state;
    require_invariants("rolling-iforest", draw_settings, 60, 400, 0, 1);
}

static void a_detector_that_no_machine_can_hold_is_refused(void **state)
{
    (void)state;
    oif_params params = params_named("rolling-iforest", "window_size=16777216");
    size_t bytes = 0;
    oif_status status = oif_detector_estimate_bytes(&params, OIF_COLUMNS_MAX, &bytes, NULL);
    if (status == OIF_OK)
        assert_true(bytes / 8 / (1 << 23) >= OIF_COLUMNS_MAX); /* if 64 bits can count them */
    else
        assert_int_equal(status, OIF_EMEMORY);
}

static void more_trees_cannot_be_renewed_than_there_are(void **state)
{
    (void)state;
    oif_params params = params_named("rolling-iforest", "num_trees=5 renew_trees=6");
    oif_detector *detector = NULL;
    oif_error error;
    assert_int_equal(oif_detector_new(&params, 3, &detector, &error), OIF_EPARAM);
    expect_message(error, "renew_trees must be at most num_trees, which is 5");
    assert_null(detector);
}

/* ---- Against the twin ---- */

static void compare_with_twin(const plain_rolling_params *p, stream *s, int rows)
{
    char settings[200];
    write_settings(p, settings);
    oif_detector *fast = detector_with(settings, s->dimension);
    plain_rolling *plain = plain_rolling_new(p, (int)s->dimension);
    for (int i = 0; i < rows; i++) {
        double row[STREAM_DIMENSION];
        next_row(s, row);
        double expected = plain_rolling_score_learn(plain, row);
        expect_same_bits(learn_score(fast, row), expected, settings, i);
    }
    oif_detector_free(fast);
    plain_rolling_free(plain);
}

/* Streams of all kinds: ties, constants, missing values, both ends of the range of a double,
 * subnormals. */
static void every_score_is_that_of_the_plain_twin(void **state)
{
    (void)state;
    uint64_t seed = seed_from_environment();
    dice from = {seed};
    for (int round = 0; round < 150; round++) {
        plain_rolling_params p = draw_params(&from);
        stream s = new_stream((dice){dice_bits(&from)});
        compare_with_twin(&p, &s, 350);
    }
    print_message("seed %" PRIu64 "\n", seed);
}

/* Except for row insertion, which has its own twin (test_row_ranges.c). */
static void as_created_it_is_the_plain_twin(void **state)
{
    (void)state;
    plain_rolling_params p = {.num_trees = 32,
                              .window_size = 2048,
                              .sample_size = 128,
                              .max_depth = 8,
                              .max_leaf_samples = 8,
                              .tournament = 3,
                              .renew_trees = 1,
                              .insertion = true};
    stream s = {
        .dice = {3}, .dimension = 5, .styles = {NORMAL, HEAVY_TAILS, FEW_VALUES, JUMPS, SORTED}};
    char settings[200];
    write_settings(&p, settings);
    oif_params as_created = params_named("rolling-iforest", "insertion=path"),
               written = params_named("rolling-iforest", settings);
    assert_memory_equal(as_created.values, written.values, sizeof written.values);
    compare_with_twin(&p, &s, 3000);
}

/* ---- When trees are grown ---- */

/* A row whose first value is its number, from 1. */
static void feed_numbered_row(oif_detector *detector, size_t number)
{
    grown.trees = 0;
    learn(detector, (double[]){(double)number, (double)(number * 7919 % 101)});
}

static void trees_are_renewed_in_turn_from_the_last_half_window(void **state)
{
    (void)state;
    enum { TREES = 8, WINDOW = 128, SAMPLE = 20 };
    for (uint32_t at_a_time = 1; at_a_time <= TREES; at_a_time += 7) {
        char settings[100];
        snprintf(settings, sizeof settings,
                 "num_trees=8 window_size=128 sample_size=20 renew_trees=%u", at_a_time);
        oif_detector *detector = detector_with(settings, 2);
        size_t since = 0;
        uint32_t next_tree = 0;
        for (size_t i = 1; i < 1000; i++) {
            size_t seen = i - 1; /* a tree that is due is grown when the next row comes */
            size_t half = seen / 2 < WINDOW / 2 ? seen / 2 : WINDOW / 2;
            size_t interval = (half / TREES ? half / TREES : 1) * at_a_time;
            bool due = since >= interval;
            feed_numbered_row(detector, i);
            if (grown.trees != (due ? at_a_time : 0))
                fail_msg("%s: row %zu grows %u trees", settings, i, grown.trees);
            since = (due ? 0 : since) + (i > 1);
            if (!due)
                continue;
            next_tree = (next_tree + at_a_time) % TREES;
            assert_int_equal((grown.last_tree + 1) % TREES, next_tree);
            assert_int_equal(grown.rows, seen < SAMPLE ? seen : SAMPLE);
            double oldest = seen > WINDOW / 2 ? (double)(seen - WINDOW / 2 + 1) : 1;
            expect_within(grown.lowest, oldest, (double)seen, "the first row of a sample");
            expect_within(grown.highest, grown.lowest, (double)seen, "the last row of a sample");
        }
        oif_detector_free(detector);
    }
}

/* Every row of the ring is equally likely: over many trees each is drawn about equally often. */
static void a_sample_is_drawn_evenly_and_without_replacement(void **state)
{
    (void)state;
    enum { SLOTS = 50, SAMPLE = 20, DRAWS = 5000 };
    oif_detector *detector = detector_with("window_size=100 sample_size=20", 1);
    rolling_state *rolling = (rolling_state *)(uintptr_t)oif_detector_state(detector);
    uint32_t counts[SLOTS] = {0};
    size_t sample[SAMPLE];
    for (int i = 0; i < 2 * SLOTS; i++)
        learn(detector, &(double){i});
    for (int draw = 0; draw < DRAWS; draw++) {
        bool drawn[SLOTS] = {false};
        assert_int_equal(draw_sample(rolling, sample), SAMPLE);
        for (int i = 0; i < SAMPLE; i++) {
            assert_true(sample[i] < SLOTS && !drawn[sample[i]]);
            drawn[sample[i]] = true;
            counts[sample[i]]++;
        }
    }
    for (int slot = 0; slot < SLOTS; slot++) /* 2000 each, with a standard deviation of 35 */
        expect_within(counts[slot], 1850, 2150, "draws of a row");
    oif_detector_free(detector);
}

static void a_detector_becomes_ready_when_all_trees_have_a_whole_sample(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("", 2);
    uint32_t whole = 0;
    for (size_t i = 1; i <= 400; i++) {
        feed_numbered_row(detector, i);
        whole += grown.trees && grown.rows == 128;
        if (oif_detector_ready(detector) != (whole >= 32))
            fail_msg("row %zu: ready is %d with %u trees of a whole sample", i,
                     oif_detector_ready(detector), whole);
    }
    assert_true(whole > 32);
    oif_detector_free(detector);

    detector = detector_with("window_size=20 num_trees=4", 2); /* never more than ten rows */
    for (size_t i = 1; i <= 14; i++) {
        assert_false(oif_detector_ready(detector));
        feed_numbered_row(detector, i);
    }
    assert_true(oif_detector_ready(detector));
    oif_detector_free(detector);
}

/* ---- The shape of trees ---- */

/* The most nodes that can be cut, with that many rows and levels. */
static uint32_t most_cuts(uint32_t rows, uint32_t levels, uint32_t least_rows,
                          uint32_t known[41][8])
{
    if (rows < least_rows || levels == 0)
        return 0;
    uint32_t *most = &known[rows][levels];
    for (uint32_t left = 1; left < rows && !(*most && left == 1); left++) {
        uint32_t cuts = 1 + most_cuts(left, levels - 1, least_rows, known) +
                        most_cuts(rows - left, levels - 1, least_rows, known);
        *most = cuts > *most ? cuts : *most;
    }
    return *most;
}

static void a_tree_has_room_for_the_most_cuts_it_can_have(void **state)
{
    (void)state;
    for (uint32_t least_rows = 1; least_rows <= 9; least_rows++)
        for (uint32_t rows = 2; rows <= 40; rows++)
            for (uint32_t levels = 1; levels < 8; levels++) {
                static uint32_t known[41][8];
                memset(known, 0, sizeof known);
                oif_rolling_shape shape = {.num_trees = 1,
                                           .sample_size = rows,
                                           .max_depth = levels,
                                           .max_leaf_samples = least_rows};
                uint32_t room = oif_rolling_lay_out(&shape, 1).node_capacity;
                uint32_t most = most_cuts(rows, levels, least_rows < 2 ? 2 : least_rows, known);
                if (room < most)
                    fail_msg("%u rows, %u levels, cut from %u rows on: room for %u cuts, %u can be",
                             rows, levels, least_rows, room, most);
            }
}

/* The fraction of cuts at the first of six columns. */
static double share_of_first_column(const char *settings, double tail)
{
    oif_detector *detector = detector_with(settings, 6);
    const oif_rolling_trees *t = own_trees(oif_detector_state(detector));
    dice rolled = {12};
    double first = 0, all = 0, row[6];
    for (int i = 0; i < 3000; i++) {
        for (int j = 0; j < 6; j++)
            row[j] = dice_unit(&rolled);
        row[0] = pow(row[0], tail);
        learn(detector, row);
    }
    for (uint32_t i = 0; i < t->shape.num_trees * t->node_capacity; i++) {
        const oif_rolling_node *at = oif_rolling_nodes(t, 0) + i;
        first += at->low < at->high && at->column == 0;
        all += at->low < at->high;
    }
    oif_detector_free(detector);
    return first / all;
}

/* With replacement, a given one of six columns is among three draws with the probability 1 -
 * (5/6)^3 = 0.42. */
static void a_tournament_prefers_heavy_tails(void **state)
{
    (void)state;
    expect_within(share_of_first_column("tournament=1", 8), 0.13, 0.21,
                  "no tournament, heavy tails");
    expect_within(share_of_first_column("tournament=3", 1), 0.13, 0.21, "three columns alike");
    expect_within(share_of_first_column("tournament=3", 8), 0.33, 0.46,
                  "a tournament of three, heavy tails");
}

/* ---- Scores ---- */

static void the_first_rows_score_one_half_until_a_tree_is_grown(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("", 2);
    for (size_t i = 0; i < 2; i++) {
        double row[2] = {(double)i, 0};
        expect_same_bits(learn_score(detector, row), 0.5, "score", i);
    }
    oif_detector_free(detector);
}

static void rows_without_any_number_and_equal_rows_score_one_half(void **state)
{
    (void)state;
    const double nothing[] = {NAN, NAN}, constant[] = {4, 1e15};
    const double *const rows[] = {nothing, constant};
    for (int i = 0; i < 2; i++) {
        oif_detector *detector = detector_with("window_size=64", 2);
        for (size_t row = 0; row < 300; row++)
            expect_same_bits(learn_score(detector, rows[i]), 0.5, "score", row);
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

/* What an isolation forest cannot do: the score rises with every step outwards. */
static void the_further_out_a_row_is_the_higher_it_scores(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("", 3),
                 *no_insertion = detector_with("insertion=none", 3);
    double *rows = normal_rows(4, 3000, 3);
    require_ok(oif_detector_learn_rows(detector, rows, 3000, 3, NULL));
    require_ok(oif_detector_learn_rows(no_insertion, rows, 3000, 3, NULL));
    double last = score(detector, (double[]){0, 0, 0});
    for (double out = 3.5; out < 1e300; out *= 1.5) {
        double now = score(detector, (double[]){out, -out, out});
        if (!(now > last || (now == last && out > 1e8)))
            fail_msg("at %g the score is %.17g, nearer it was %.17g", out, now, last);
        last = now;
    }
    if (!(last > 0.9))
        fail_msg("infinitely far out the score is %g", last);
    expect_same_bits(score(no_insertion, (double[]){1e9, 1e9, 1e9}),
                     score(no_insertion, (double[]){5, 5, 5}),
                     "without insertion, far out and near", 0);
    oif_detector_free(detector);
    oif_detector_free(no_insertion);
    free(rows);
}

static void an_outlier_scores_above_nearly_all_rows(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("", 2);
    double *rows = normal_rows(2, 3000, 2), above = 0;
    for (size_t i = 0; i < 3000; i++) {
        double own = learn_score(detector, &rows[2 * i]),
               outlier = score(detector, (double[]){40, -40});
        above += i >= 64 && own >= outlier;
    }
    expect_within(above, 0, 3, "rows of 2936 that score above the outlier");
    oif_detector_free(detector);
    free(rows);
}

/* After a jump all trees are new within window_size / 2 rows. */
static void the_forest_follows_a_jump(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("window_size=512 insertion=path", 2);
    dice rolled = {6};
    for (int i = 0; i < 2000; i++)
        learn(detector, (double[]){dice_normal(&rolled), dice_normal(&rolled)});
    double before = score(detector, (double[]){50, 50});
    for (int i = 0; i < 512; i++)
        learn(detector, (double[]){50 + dice_normal(&rolled), 50 + dice_normal(&rolled)});
    double after = score(detector, (double[]){50, 50}),
           old_place = score(detector, (double[]){0, 0});
    if (!(before > 0.8 && after < 0.5 && old_place > 0.8))
        fail_msg("the new place scores %g before the jump and %g after it, the old one then %g",
                 before, after, old_place);
    oif_detector_free(detector);
}

/* Never matters to the trees. To the ranges of rows, any other value there is an extreme
 * outlier. */
static void a_column_that_is_constant_or_missing_never_matters(void **state)
{
    (void)state;
    oif_detector *detector = detector_with("window_size=256 insertion=path", 4);
    dice rolled = {6};
    double row[4] = {5, 0, NAN, -7};
    for (int i = 0; i < 2000; i++) {
        row[1] = (i % 40 ? 1 : 7) * dice_normal(&rolled);
        learn(detector, row);
    }
    row[1] = 0.1;
    double inlier = score(detector, row), elsewhere[] = {-900, 0.1, 12, NAN};
    expect_same_bits(score(detector, elsewhere), inlier,
                     "other numbers in columns that were constant or missing", 0);
    row[1] = 15;
    if (!(score(detector, row) > inlier))
        fail_msg("the outlier scores %g, the inlier %g", score(detector, row), inlier);
    oif_detector_free(detector);
}

static void rows_of_ten_thousand_numbers_work(void **state)
{
    (void)state;
    enum { WIDE = 10000 };
    oif_detector *detector = detector_with("num_trees=9 window_size=128 sample_size=32", WIDE);
    double *row = new_numbers(WIDE), inlier = 0, outlier = 0;
    dice rolled = {3};
    for (int i = 0; i < 200; i++) {
        bool out = i % 20 == 0;
        for (size_t j = 0; j < WIDE; j++)
            row[j] = i % 7 == 0 && j % 3 == 0 ? NAN : (out ? 40 : 1) * (dice_unit(&rolled) - 0.5);
        double own = learn_score(detector, row);
        expect_within(own, 0, 1, "score");
        *(out ? &outlier : &inlier) += i < 100 ? 0 : own / (out ? 5 : 95);
    }
    require_ok(oif_detector_check(detector, NULL));
    if (!(outlier > inlier))
        fail_msg("outliers score %g, inliers %g", outlier, inlier);
    oif_detector_free(detector);
    free(row);
}

/* ---- Invariances ---- */

typedef double (*change)(double number, size_t column);

static double same_number(double number, size_t column)
{
    (void)column;
    return number;
}

static double times_a_power_of_two(double number, size_t column)
{
    static const double factors[] = {0x1p40, 0x1p-300, 1, 0x1p1000, 0x1p-9};
    return number * factors[column];
}

/* Values are multiples of 2^-10 up to 2^10, so only the positions of cuts are rounded. */
static double moved(double number, size_t column)
{
    static const double offsets[] = {1024, -0x1p20, 0, 0x1p30, 77};
    return number + offsets[column];
}

static void score_changed_rows(const char *settings, change to, double *scores, size_t count)
{
    enum { D = 5 };
    oif_detector *detector = detector_with(settings, D);
    dice rolled = {8};
    for (size_t i = 0; i < count; i++) {
        double row[D];
        for (size_t j = 0; j < D; j++) {
            double number =
                floor(dice_normal(&rolled) * (i % 50 ? 1 : 6) * (j == 1 ? 4 : 40960)) / 1024;
            row[j] = dice_chance(&rolled, 0.02) ? NAN : to(number, j);
        }
        scores[i] = learn_score(detector, row);
    }
    oif_detector_free(detector);
}

static void the_units_of_columns_do_not_matter(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    for (int number = 0; number < SETUPS; number++) {
        double *plain = new_numbers(COUNT), *changed = new_numbers(COUNT);
        score_changed_rows(setups[number], same_number, plain, COUNT);
        score_changed_rows(setups[number], times_a_power_of_two, changed, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            expect_same_bits(changed[i], plain[i], "scaled by powers of two", i);
        score_changed_rows(setups[number], moved, changed, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            expect_within(changed[i], plain[i] - 1e-9, plain[i] + 1e-9, "moved");
        free(plain);
        free(changed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_keeps_the_promises_of_every_detector),
        cmocka_unit_test(whatever_the_rows_are_it_holds_together),
        cmocka_unit_test(a_detector_that_no_machine_can_hold_is_refused),
        cmocka_unit_test(more_trees_cannot_be_renewed_than_there_are),
        cmocka_unit_test(every_score_is_that_of_the_plain_twin),
        cmocka_unit_test(as_created_it_is_the_plain_twin),
        cmocka_unit_test(trees_are_renewed_in_turn_from_the_last_half_window),
        cmocka_unit_test(a_sample_is_drawn_evenly_and_without_replacement),
        cmocka_unit_test(a_detector_becomes_ready_when_all_trees_have_a_whole_sample),
        cmocka_unit_test(a_tree_has_room_for_the_most_cuts_it_can_have),
        cmocka_unit_test(a_tournament_prefers_heavy_tails),
        cmocka_unit_test(the_first_rows_score_one_half_until_a_tree_is_grown),
        cmocka_unit_test(rows_without_any_number_and_equal_rows_score_one_half),
        cmocka_unit_test(the_further_out_a_row_is_the_higher_it_scores),
        cmocka_unit_test(an_outlier_scores_above_nearly_all_rows),
        cmocka_unit_test(the_forest_follows_a_jump),
        cmocka_unit_test(a_column_that_is_constant_or_missing_never_matters),
        cmocka_unit_test(rows_of_ten_thousand_numbers_work),
        cmocka_unit_test(the_units_of_columns_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
