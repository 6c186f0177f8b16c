/* Online Isolation Forest from outside and inside: invariants after every operation for any rows,
 * and every degenerate case.
 *
 * OIF_FOREST_SEED sets the seed of the random operations; every failure prints it. */
#include "driver.h"

#include <float.h>

/* ---- Random operations ---- */

enum {
    OPERATIONS = 100000,
    OPERATIONS_A_ROUND = 400,
    ROUNDS = OPERATIONS / OPERATIONS_A_ROUND,
    MAX_DIMENSION = 5,
    MAX_BLOCK = 80
};

typedef enum style {
    NORMAL,
    FEW_VALUES,
    CONSTANT,
    HUGE_NUMBERS,
    FEW_ULPS,
    FAR_OFFSET,
    SORTED,
    JUMPS,
    ALWAYS_MISSING,
    SUBNORMAL,
    HEAVY_TAILS,
    STYLES
} style;

static const char *const style_names[] = {"normal",   "few values", "constant",   "huge",
                                          "few ulps", "far offset", "sorted",     "jumps",
                                          "missing",  "subnormal",  "heavy tails"};

/* One forest and its stream. */
typedef struct trial {
    uint64_t seed;
    int round, operation;
    setup setup;
    uint32_t dimension;
    style styles[MAX_DIMENSION];
    double missing, all_missing;
    uint64_t row;
    dice dice;
    oif_detector *detector;
} trial;

static const char *trial_text(const trial *t)
{
    static char text[600];
    int length =
        snprintf(text, sizeof text, "seed %" PRIu64 ", round %d, operation %d, %s, missing %g",
                 t->seed, t->round, t->operation, setup_text(&t->setup), t->missing);
    for (uint32_t i = 0; i < t->dimension; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s",
                           style_names[t->styles[i]]);
    return text;
}

static double number_in_style(trial *t, style of)
{
    dice *from = &t->dice;
    switch (of) {
    case NORMAL: return dice_normal(from);
    case FEW_VALUES: return dice_below(from, 4);
    case CONSTANT: return 0.1;
    case HUGE_NUMBERS: return 1.79e308 * (2 * dice_unit(from) - 1);
    case FEW_ULPS: return 1 + 0x1p-52 * dice_below(from, 4);
    case FAR_OFFSET: return 1e15 + dice_unit(from);
    case SORTED: return (double)t->row;
    case JUMPS: return dice_normal(from) + (double)(t->row / 60 % 3) * 1000;
    case ALWAYS_MISSING: return NAN;
    case SUBNORMAL: return 5e-324 * dice_below(from, 20);
    case HEAVY_TAILS: return exp(40 * dice_normal(from));
    case STYLES: break;
    }
    return 0;
}

static void draw_row(trial *t, double *row)
{
    bool nothing = dice_chance(&t->dice, t->all_missing);
    for (uint32_t i = 0; i < t->dimension; i++) {
        row[i] = number_in_style(t, t->styles[i]);
        if (nothing || dice_chance(&t->dice, t->missing))
            row[i] = NAN;
    }
    t->row++;
}

static void draw_setup(trial *t)
{
    static const uint32_t dimensions[] = {1, 2, 5};
    static const uint32_t trees[] = {1, 2, 3, 8, 9};
    int combination = t->round % 36; /* every variant, growth, subsample and dimension together */
    t->setup =
        (setup){.num_trees = trees[dice_below(&t->dice, 5)],
                .window_size = 8 + dice_below(&t->dice, dice_chance(&t->dice, 0.5) ? 40 : 293),
                .max_leaf_samples = 1 + dice_below(&t->dice, dice_chance(&t->dice, 0.5) ? 6 : 32),
                .variant = (oif_variant)(combination % 3),
                .growth = (oif_growth)(combination / 3 % 2),
                .subsample = combination / 6 % 2 ? 0.5 : 1,
                .seed = dice_bits(&t->dice) >> 11};
    t->dimension = dimensions[combination / 12];
    oif_params params = params_of(&t->setup);
    size_t bytes;
    while (oif_detector_estimate_bytes(&params, t->dimension, &bytes, NULL) == OIF_EPARAM) {
        t->setup.max_leaf_samples++; /* too many leaves */
        params = params_of(&t->setup);
    }
}

static void begin_round(trial *t)
{
    draw_setup(t);
    t->row = 0;
    t->missing = dice_chance(&t->dice, 0.5) ? 0 : 0.3 * dice_unit(&t->dice);
    t->all_missing = dice_chance(&t->dice, 0.8) ? 0 : 0.5 * dice_unit(&t->dice);
    for (uint32_t i = 0; i < t->dimension; i++)
        t->styles[i] = (style)dice_below(&t->dice, STYLES);
    t->detector = new_detector(&t->setup, t->dimension);
}

static void require_in_unit_range(const trial *t, const double *scores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(scores[i] >= 0 && scores[i] <= 1))
            fail_msg("%s: the score is %.17g", trial_text(t), scores[i]);
}

static oif_status operate(trial *t)
{
    double rows[MAX_BLOCK * MAX_DIMENSION], scores[MAX_BLOCK] = {0};
    size_t count = 1 + dice_below(&t->dice, dice_chance(&t->dice, 0.1) ? MAX_BLOCK : 12),
           d = t->dimension;
    oif_status status = OIF_OK;
    uint32_t chosen = dice_below(&t->dice, 20);
    if (chosen >= 16)
        for (size_t i = 0; i < count; i++)
            draw_row(t, &rows[i * d]);
    else
        draw_row(t, rows);
    if (chosen < 5) {
        status = oif_detector_learn(t->detector, rows, NULL);
    } else if (chosen < 12) {
        status = oif_detector_learn_score(t->detector, rows, scores, NULL);
    } else if (chosen < 14) {
        status = oif_detector_score(t->detector, rows, scores, NULL);
    } else if (chosen == 14) {
        oif_detector *copy = clone_of(t->detector);
        oif_detector_free(t->detector);
        t->detector = copy;
    } else if (chosen == 15) {
        rows[dice_below(&t->dice, t->dimension)] = INFINITY;
        status = oif_detector_learn(t->detector, rows, NULL) == OIF_EVALUE ? OIF_OK : OIF_EVALUE;
    } else if (chosen == 16) {
        status = oif_detector_learn_rows(t->detector, rows, count, d, NULL);
    } else if (chosen == 17) {
        status = oif_detector_score_rows(t->detector, rows, count, d, scores, NULL);
    } else {
        status = oif_detector_learn_score_rows(t->detector, rows, count, d, scores, NULL);
    }
    require_in_unit_range(t, scores, MAX_BLOCK);
    return status;
}

static uint64_t seed_from_environment(void)
{
    const char *text = getenv("OIF_FOREST_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

static void every_invariant_holds_after_each_of_100000_random_operations(void **state)
{
    (void)state;
    trial t = {.seed = seed_from_environment()};
    t.dice.state = t.seed;
    uint64_t cuts = 0, undone = 0;
    for (t.round = 0; t.round < ROUNDS; t.round++) {
        begin_round(&t);
        for (t.operation = 0; t.operation < OPERATIONS_A_ROUND; t.operation++) {
            oif_error error = {.status = OIF_OK};
            oif_status status = operate(&t);
            if (status != OIF_OK)
                fail_msg("%s: the operation gives \"%s\"", trial_text(&t), oif_status_text(status));
            if (oif_detector_check(t.detector, &error) != OIF_OK)
                fail_msg("%s: %s", trial_text(&t), error.message);
        }
        const oif_window_state *f = forest_of(t.detector);
        for (uint32_t tree = 0; tree < f->num_trees; tree++) {
            cuts += oif_window_tree_at(f, tree)->cuts_made;
            undone += oif_window_tree_at(f, tree)->cuts_undone;
        }
        oif_detector_free(t.detector);
    }
    print_message("seed %" PRIu64 ": %d operations, %" PRIu64 " cuts, %" PRIu64 " undone\n", t.seed,
                  OPERATIONS, cuts, undone);
    assert_true(cuts > 10000 && undone > 5000); /* the trees were kept busy */
}

/* ---- Scores ---- */

static void expect_score_of_depths(const oif_detector *detector, const double *row, double actual,
                                   const setup *s)
{
    const oif_window_state *f = forest_of(detector);
    double sum = 0, rows = f->variant == OIF_PAPER ? f->window_size : f->rows_held * f->subsample;
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        sum += depth_in_tree(f, tree, row);
    double expected = exp2(-sum / f->num_trees / normal_depth(f, rows));
    if (normal_depth(f, rows) <= 0)
        expected = f->variant == OIF_RUNNING ? 0.5 : 1;
    if (!(fabs(actual - expected) <= 1e-6 * expected))
        fail_msg("%s, %u rows: the score is %.17g, its depths say %.17g", setup_text(s),
                 f->rows_held, actual, expected);
}

/* Depths are rounded to 2^-26 each, and dividing by a small normal depth amplifies that: hence
 * 10^-6. The numbers of trees are around those walked side by side. */
static void a_score_is_two_to_minus_the_mean_depth_over_the_normal_depth(void **state)
{
    (void)state;
    const uint32_t trees[] = {1, 7, 8, 9, 31, 32, 33, 40, 71};
    for (int number = 0; number < 12 * 9; number++) {
        setup s = {.num_trees = trees[number / 12],
                   .window_size = 150,
                   .max_leaf_samples = number % 2 ? 4 : 10,
                   .variant = (oif_variant)(number % 3),
                   .growth = (oif_growth)(number / 3 % 2),
                   .subsample = number / 6 % 2 ? 0.5 : 1,
                   .seed = (uint64_t)number};
        oif_detector *detector = new_detector(&s, 3);
        dice rolled = {(uint64_t)number};
        for (int i = 0; i < 400; i++) {
            double row[3] = {dice_normal(&rolled), dice_normal(&rolled) + (i > 200 ? 3 : 0),
                             dice_below(&rolled, 5)};
            if (i % 5 == 0)
                row[dice_below(&rolled, 3)] = NAN;
            double learned = learn_score(detector, row);
            if (i % 7)
                continue;
            expect_score_of_depths(detector, row, learned, &s);
            for (int j = 0; j < 3; j++)
                row[j] += j == i % 3 ? 2 : 0;
            expect_score_of_depths(detector, row, score(detector, row), &s);
        }
        oif_detector_free(detector);
    }
}

static void an_obvious_outlier_scores_above_every_inlier(void **state)
{
    (void)state;
    for (int number = 0; number < 12; number++) {
        setup s = {.num_trees = 64,
                   .window_size = 512,
                   .max_leaf_samples = 16,
                   .variant = (oif_variant)(number % 3),
                   .growth = (oif_growth)(number / 3 % 2),
                   .subsample = number / 6 % 2 ? 0.5 : 1,
                   .seed = (uint64_t)number};
        oif_detector *detector = new_detector(&s, 4);
        double *rows = normal_rows(77, 1600, 4), highest = 0, row[4];
        for (size_t i = 0; i < 1600;
             i++) { /* one row in 50 is an outlier, or there would be nothing to cut off */
            memcpy(row, &rows[i * 4], sizeof row);
            for (size_t j = 0; i % 50 == 0 && j < 4; j++)
                row[j] *= 8;
            learn(detector, row);
        }
        for (size_t i = 0; i < 400; i++) {
            double *inlier = &rows[i * 4];
            bool central = true;
            for (size_t j = 0; j < 4; j++)
                central = central && fabs(inlier[j]) < 1;
            double own = central ? score(detector, inlier) : 0;
            highest = own > highest ? own : highest;
        }
        for (int corner = 0; corner < 16; corner++) {
            for (int j = 0; j < 4; j++)
                row[j] = corner >> j & 1 ? 9 : -9;
            double outlier = score(detector, row);
            if (!(outlier > highest))
                fail_msg("%s: the outlier in corner %d scores %g, an inlier %g", setup_text(&s),
                         corner, outlier, highest);
        }
        oif_detector_free(detector);
        free(rows);
    }
}

/* A cut is low (1 - u) + high u, so multiplying by a power of two scales every number exactly, for
 * any rows. */
static void scaling_columns_by_powers_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    const double scales[] = {0x1p40, 0x1p-300, 1, 8};
    for (int number = 0; number < 12; number++) {
        setup s = small_setup();
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3 % 2);
        s.subsample = number / 6 % 2 ? 0.5 : 1;
        oif_detector *plain = new_detector(&s, 4), *scaled = new_detector(&s, 4);
        double *rows = normal_rows(5, 700, 4), row[4];
        for (size_t i = 0; i < 700; i++) {
            for (size_t j = 0; j < 4; j++)
                row[j] = rows[i * 4 + j] * scales[j];
            double expected = learn_score(plain, &rows[i * 4]);
            expect_same_bits(learn_score(scaled, row), expected, setup_text(&s), i);
        }
        oif_detector_free(plain);
        oif_detector_free(scaled);
        free(rows);
    }
}

/* A shift rounds the cuts. With whole numbers that matters only if a cut is within some 2^-40 of a
 * whole number: not in these streams, whose bits are fixed. */
static void shifting_columns_by_powers_of_two_changes_no_bit_of_a_score(void **state)
{
    (void)state;
    const double shifts[] = {64, -1024, 0, 4096};
    for (int number = 0; number < 6; number++) {
        setup s = small_setup();
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3 % 2);
        oif_detector *plain = new_detector(&s, 4), *shifted = new_detector(&s, 4);
        dice rolled = {31};
        for (size_t i = 0; i < 700; i++) {
            double row[4], moved[4];
            for (size_t j = 0; j < 4; j++) {
                row[j] = dice_below(&rolled, j == 3 ? 3 : 40);
                moved[j] = row[j] + shifts[j];
            }
            double expected = learn_score(plain, row);
            expect_same_bits(learn_score(shifted, moved), expected, setup_text(&s), i);
        }
        oif_detector_free(plain);
        oif_detector_free(shifted);
    }
}

/* ---- Forgetting ---- */

static void what_left_the_window_is_forgotten(void **state)
{
    (void)state;
    for (int number = 0; number < 12; number++) {
        setup s = {.num_trees = 32,
                   .window_size = 256,
                   .max_leaf_samples = 8,
                   .variant = (oif_variant)(number % 3),
                   .growth = (oif_growth)(number / 3 % 2),
                   .subsample = number / 6 % 2 ? 0.5 : 1,
                   .seed = 3};
        oif_detector *detector = new_detector(&s, 2);
        dice rolled = {8};
        const double here[] = {0, 0}, there[] = {40, -40};
        for (int i = 0; i < 3000; i++) {
            const double *centre = i < 2000 ? here : there;
            double row[2] = {centre[0] + dice_normal(&rolled), centre[1] + dice_normal(&rolled)};
            if (i % 9 == 0)
                row[i / 9 % 2] = NAN;
            if (i % 101 == 0)
                row[0] = row[1] = NAN;
            learn(detector, row);
            if (i == 1999 && !(score(detector, here) < score(detector, there)))
                fail_msg("%s: before the move, here scores %g and there %g", setup_text(&s),
                         score(detector, here), score(detector, there));
        }
        if (!(score(detector, there) < score(detector, here)))
            fail_msg("%s: after the move, here scores %g and there %g", setup_text(&s),
                     score(detector, here), score(detector, there));
        const oif_window_state *f = forest_of(detector);
        for (uint32_t tree = 0; s.subsample == 1 && tree < f->num_trees; tree++)
            assert_int_equal(oif_window_height(f, oif_window_root(f, tree)), s.window_size);
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

/* ---- Merging ---- */

/* Widens a box of `width` numbers by those of all leaves below a node. */
static void enclose_leaves(const oif_window_state *f, uint32_t tree, oif_window_node at,
                           double *box)
{
    if (oif_window_is_cut(f, at)) {
        enclose_leaves(f, tree, oif_window_left(at), box);
        enclose_leaves(f, tree, oif_window_right(at), box);
        return;
    }
    const double *own = oif_window_box(f, oif_window_leaf_here(f, at));
    for (uint32_t i = 0; i < 2 * f->dimension; i++)
        box[i] = fmin(box[i], own[i]);
}

/* Compares the leaves that were cut before the last row; returns how many there are. */
static int check_merged_leaves(const oif_window_state *before, const oif_window_state *after,
                               uint32_t tree, oif_window_node at, const double *row)
{
    if (!oif_window_is_cut(before, at))
        return 0;
    if (oif_window_is_cut(after, at))
        return check_merged_leaves(before, after, tree, oif_window_left(at), row) +
               check_merged_leaves(before, after, tree, oif_window_right(at), row);
    double expected[2 * MAX_DIMENSION], actual[2 * MAX_DIMENSION];
    uint32_t d = after->dimension;
    for (uint32_t i = 0; i < 2 * d; i++)
        expected[i] = actual[i] = INFINITY;
    enclose_leaves(before, tree, at, expected);
    enclose_leaves(after, tree, at, actual);
    for (uint32_t i = 0; leaf_spot(after, tree, row).index == at.index && i < d; i++) {
        expected[i] = fmin(expected[i], row[i]);
        expected[d + i] = fmin(expected[d + i], -row[i]);
    }
    for (uint32_t i = 0; i < d; i++) {
        expect_same_bits(actual[i], expected[i], "the low end of a merged box", i);
        expect_same_bits(-actual[d + i], -expected[d + i], "the high end of a merged box", i);
    }
    return 1;
}

static void a_merged_node_encloses_its_children_and_nothing_else(void **state)
{
    (void)state;
    for (int number = 0; number < 6; number++) {
        setup s = {
            .num_trees = 5, .window_size = 100, .max_leaf_samples = 4, .subsample = 1, .seed = 6};
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3);
        oif_detector *detector = new_detector(&s, 2), *before = NULL;
        dice rolled = {10};
        int merged = 0;
        for (int i = 0; i < 800; i++) {
            double row[2] = {(i / 60 % 2) * 5 + dice_normal(&rolled), dice_normal(&rolled)};
            oif_detector_free(before);
            before = clone_of(detector);
            learn(detector, row);
            for (uint32_t tree = 0; tree < s.num_trees; tree++) {
                const oif_window_state *old = forest_of(before), *now = forest_of(detector);
                if (oif_window_tree_at(old, tree)->cuts_made ==
                    oif_window_tree_at(now, tree)->cuts_made) /* a cut draws new boxes */
                    merged += check_merged_leaves(old, now, tree, oif_window_root(now, tree), row);
            }
        }
        expect_within(merged, 10, 10000, setup_text(&s));
        oif_detector_free(before);
        oif_detector_free(detector);
    }
}

/* The new row fills a leaf and the oldest row leaves it: the cut is undone at once, and only the
 * box around the points it drew remains. The box around h points in a box has on average (h - 1) /
 * (h + 1) of each side. */
static void a_cut_that_is_undone_at_once_leaves_the_box_of_its_points(void **state)
{
    (void)state;
    for (int number = 0; number < 6; number++) {
        setup s = {
            .num_trees = 9, .window_size = 60, .max_leaf_samples = 6, .subsample = 1, .seed = 6};
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3);
        oif_detector *detector = new_detector(&s, 2), *before = NULL;
        dice rolled = {10};
        double sum = 0, variance = 0;
        int seen = 0;
        for (int i = 0; i < 1500; i++) {
            double row[2] = {dice_unit(&rolled), dice_unit(&rolled)};
            oif_detector_free(before);
            before = clone_of(detector);
            learn(detector, row);
            const oif_window_state *old = forest_of(before), *now = forest_of(detector);
            for (uint32_t tree = 0; tree < s.num_trees; tree++) {
                const oif_window_tree *then = oif_window_tree_at(old, tree),
                                      *since = oif_window_tree_at(now, tree);
                oif_window_node at = leaf_spot(old, tree, row);
                if (since->cuts_made != then->cuts_made + 1 ||
                    since->cuts_undone != then->cuts_undone + 1 ||
                    leaf_spot(now, tree, row).index != at.index)
                    continue;
                const double *from = oif_window_box(old, oif_window_leaf_here(old, at));
                const double *drawn = oif_window_box(now, oif_window_leaf_here(now, at));
                double h = oif_window_threshold(now, at.depth);
                for (uint32_t j = 0; j < 2; j++) {
                    double low = fmin(from[j], row[j]), high = fmax(-from[2 + j], row[j]);
                    expect_within(drawn[j], low, high, "the low end of the box that stays");
                    expect_within(-drawn[2 + j], low, high, "the high end of the box that stays");
                    sum += (-drawn[2 + j] - drawn[j]) / (high - low) - (h - 1) / (h + 1);
                    variance += 2 * (h - 1) / ((h + 1) * (h + 1) * (h + 2));
                    seen++;
                }
            }
        }
        expect_within(seen, 8, 1e6, setup_text(&s));
        expect_within(sum / sqrt(variance), -5, 5,
                      "standard errors between the sides and their law");
        oif_detector_free(before);
        oif_detector_free(detector);
    }
}

/* ---- Blocks ---- */

/* A block stores several rows at once, adds up no depths that are not asked for, and scores with a
 * table of all depths; the twin takes one row at a time. */
static void compare_blocks_with_rows(const setup *s, uint32_t columns, size_t block)
{
    enum { ROWS = 700 };
    oif_detector *blocks = new_detector(s, columns), *single = new_detector(s, columns);
    double *rows = normal_rows(31, ROWS, columns), scores[ROWS];
    for (size_t i = 0; i < ROWS; i += 41)
        rows[i * columns + i % columns] = NAN;
    for (size_t from = 0; from < ROWS; from += block) {
        const size_t count = ROWS - from < block ? ROWS - from : block;
        const double *some = rows + from * columns;
        require_ok(oif_detector_learn_rows(blocks, some, count, columns, NULL));
        require_ok(oif_detector_score_rows(blocks, some, count, columns, scores, NULL));
        for (size_t i = 0; i < count; i++)
            learn(single, some + i * columns);
        for (size_t i = 0; i < count; i++) {
            double score;
            require_ok(oif_detector_score(single, some + i * columns, &score, NULL));
            expect_same_bits(scores[i], score, setup_text(s), from + i);
        }
    }
    require_ok(oif_detector_check(blocks, NULL));
    free(rows);
    oif_detector_free(blocks);
    oif_detector_free(single);
}

static void a_block_of_rows_is_learned_and_scored_as_its_rows_are(void **state)
{
    (void)state;
    static const uint32_t dimensions[] = {3, 20};
    for (int number = 0; number < 24; number++) {
        setup s = {.num_trees = number % 3 ? 16 : 11,
                   .window_size = number % 2 ? 150 : 56, /* the latter with 8 slots to spare */
                   .max_leaf_samples = 8,
                   .variant = (oif_variant)(number % 3),
                   .growth = (oif_growth)(number / 3 % 2),
                   .subsample = number == 5 ? 0.5 : 1,
                   .seed = (uint64_t)number};
        compare_blocks_with_rows(&s, dimensions[number / 2 % 2], number % 4 ? 100 : 13);
    }
}

/* Rows that are all equal are as deep as rows can be: the sum of eight depths passes 32 bits. */
/* Learns the rows, scores them as a block, and compares each score with that of the row alone. */
static void expect_scores_as_alone(const setup *s, const double *rows, size_t count, size_t columns)
{
    oif_detector *detector = new_detector(s, columns);
    double *scores = malloc(count * sizeof *scores), alone;
    require_ok(oif_detector_learn_rows(detector, rows, count, columns, NULL));
    require_ok(oif_detector_score_rows(detector, rows, count, columns, scores, NULL));
    for (size_t i = 0; i < count; i++) {
        require_ok(oif_detector_score(detector, rows + i * columns, &alone, NULL));
        expect_same_bits(scores[i], alone, setup_text(s), i);
    }
    free(scores);
    oif_detector_free(detector);
}

static void the_deepest_rows_of_a_block_score_as_alone(void **state)
{
    enum { ROWS = 5000, COLUMNS = 3 };
    (void)state;
    static const double equal[ROWS * COLUMNS]; /* all 0 */
    const setup wide_leaves = {
        .num_trees = 32, .window_size = 2048, .max_leaf_samples = 32, .subsample = 1};
    expect_scores_as_alone(&wide_leaves, equal, ROWS, COLUMNS);

    /* Cuts take one row after another off the many at 0, which get deeper than 16 levels. */
    static double powers[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        powers[i] = i % 100 == 0 ? ldexp(1, -(int)(i / 100 % 20)) : 0;
    const setup small_leaves = {
        .num_trees = 32, .window_size = 2048, .max_leaf_samples = 1, .subsample = 1};
    expect_scores_as_alone(&small_leaves, powers, ROWS, 1);
}

/* ---- Subsampling ---- */

static void each_tree_counts_its_own_share_of_the_rows(void **state)
{
    (void)state;
    const double shares[] = {1, 0.5, 0.125};
    for (int k = 0; k < 3; k++) {
        setup s = {.num_trees = 50,
                   .window_size = 800,
                   .max_leaf_samples = 8,
                   .subsample = shares[k],
                   .seed = 1};
        oif_detector *detector = new_detector(&s, 1);
        const oif_window_state *f = forest_of(detector);
        dice rolled = {1};
        for (int i = 0; i < 2000; i++)
            learn(detector, &(double){dice_unit(&rolled)});
        double sum = 0, squares = 0, mean = 800 * shares[k], variance = mean * (1 - shares[k]);
        for (uint32_t tree = 0; tree < s.num_trees; tree++) {
            double apart = oif_window_height(f, oif_window_root(f, tree)) - mean;
            sum += apart;
            squares += apart * apart;
        }
        /* Binomial, and independent between trees: mean and spread are within five standard
         * errors. */
        expect_within(sum / 50, -5 * sqrt(variance / 50), 5 * sqrt(variance / 50),
                      "rows in a tree over the mean");
        expect_within(squares / 50, 0, 2 * variance, "variance of the rows in a tree");
        expect_within(squares / 50, 0.3 * variance, 1e9, "variance of the rows in a tree");
        oif_detector_free(detector);
    }
}

/* ---- Missing values ---- */

/* A column that never had a value is never cut, so the value of a scored row there cannot matter.
 * This also compares two kinds of walks: a row with a missing value goes tree by tree, a complete
 * one many trees at a time. */
static void a_column_that_is_always_missing_never_matters(void **state)
{
    (void)state;
    const uint32_t trees[] = {1, 7, 8, 32, 41};
    for (int number = 0; number < 30; number++) {
        setup s = small_setup();
        s.num_trees = trees[number % 5];
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 15);
        oif_detector *detector = new_detector(&s, 3);
        dice rolled = {(uint64_t)number};
        for (size_t i = 0; i < 500; i++) {
            double row[3] = {dice_normal(&rolled), NAN, dice_normal(&rolled)};
            double expected = learn_score(detector, row);
            row[1] = 1e300 * dice_normal(&rolled);
            expect_same_bits(score(detector, row), expected, setup_text(&s), i);
        }
        oif_detector_free(detector);
    }
}

static void a_number_missing_in_a_column_of_noise_hardly_moves_a_score(void **state)
{
    (void)state;
    setup s = {
        .num_trees = 64, .window_size = 512, .max_leaf_samples = 16, .subsample = 1, .seed = 5};
    oif_detector *detector = new_detector(&s, 5);
    dice rolled = {6};
    double row[5], moved = 0, lowest_outlier = 1, highest_inlier = 0;
    for (int i = 0; i < 2000; i++) {
        double far = i % 40 ? 1 : 7;
        for (int j = 0; j < 5; j++)
            row[j] = j == 4 ? dice_unit(&rolled) : far * dice_normal(&rolled);
        learn(detector, row);
    }
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 5; j++)
            row[j] = j == 4 ? 0.1 + 0.8 * dice_unit(&rolled) : 0.5 * dice_normal(&rolled);
        double complete = score(detector, row);
        row[4] = NAN;
        moved += fabs(score(detector, row) - complete) / 200;
        highest_inlier = fmax(highest_inlier, score(detector, row));
        for (int j = 0; j < 4; j++)
            row[j] = dice_chance(&rolled, 0.5) ? 12 : -12;
        lowest_outlier = fmin(lowest_outlier, score(detector, row));
    }
    expect_within(moved, 0, 0.02, "the mean change of a score");
    if (!(lowest_outlier > highest_inlier))
        fail_msg("without their last number an outlier scores %g, an inlier %g", lowest_outlier,
                 highest_inlier);
    oif_detector_free(detector);
}

static void rows_without_any_number_leave_the_trees_uncut_and_scores_in_the_middle(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        setup s = small_setup();
        s.variant = (oif_variant)variant;
        oif_detector *detector = new_detector(&s, 2);
        const double nothing[] = {NAN, NAN};
        double last = 0;
        for (int i = 0; i < 600; i++)
            last = learn_score(detector, nothing);
        /* One leaf holds the whole window: its depth is the normal depth. */
        expect_within(last, 0.5 - 1e-6, 0.5 + 1e-6, variant_names[variant]);
        for (uint32_t tree = 0; tree < s.num_trees; tree++)
            assert_int_equal(
                leaves_below(forest_of(detector), oif_window_root(forest_of(detector), tree)), 1);
        dice rolled = {1};
        for (int i = 0; i < 600; i++) /* and the first values are accepted */
            learn(detector, (double[]){dice_unit(&rolled), dice_unit(&rolled)});
        require_ok(oif_detector_check(detector, NULL));
        assert_true(leaves_below(forest_of(detector), oif_window_root(forest_of(detector), 0)) > 2);
        oif_detector_free(detector);
    }
}

/* ---- Degenerate data ---- */

/* Nothing can be cut, so rows cannot be distinguished: running gives 0.5, the two literal variants
 * 2^0. */
static void a_window_too_small_to_be_cut_scores_every_row_the_same(void **state)
{
    (void)state;
    for (int number = 0; number < 12; number++) {
        setup s = small_setup();
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3 % 2);
        s.window_size = 20;
        s.max_leaf_samples = number / 6 ? 21 : 200;
        oif_detector *detector = new_detector(&s, 2);
        dice rolled = {2};
        double expected = s.variant == OIF_RUNNING ? 0.5 : 1.0;
        for (size_t i = 0; i < 100; i++) {
            double row[2] = {dice_normal(&rolled), 1e9 * dice_normal(&rolled)};
            expect_same_bits(score(detector, row), expected, setup_text(&s), i);
            expect_same_bits(learn_score(detector, row), expected, setup_text(&s), i);
        }
        require_ok(oif_detector_check(detector, NULL));
        oif_detector_free(detector);
    }
}

static void the_first_rows_score_the_same_until_a_tree_could_be_cut(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        setup s = small_setup();
        s.variant = (oif_variant)variant;
        oif_detector *detector = new_detector(&s, 1);
        dice rolled = {2};
        /* The paper's text divides by the depth of a full window from the first row on: 2^-0 while
         * leaves are small. */
        double expected = s.variant == OIF_RUNNING ? 0.5 : 1.0;
        expect_same_bits(score(detector, &(double){3}), expected, "before any row", 0);
        for (size_t i = 1; i < s.max_leaf_samples; i++)
            expect_same_bits(learn_score(detector, &(double){dice_normal(&rolled)}), expected,
                             setup_text(&s), i);
        oif_detector_free(detector);
    }
}

static void expect_equal_rows_to_score_alike(const setup *s, const double *constant,
                                             size_t dimension)
{
    oif_detector *detector = new_detector(s, dimension);
    double last = 0;
    for (size_t i = 0; i < 5 * s->window_size; i++) {
        last = learn_score(detector, constant);
        expect_same_bits(score(detector, constant), last, setup_text(s), i);
        expect_within(last, 0, 1, "score");
        if (i % 37 == 0)
            require_ok(oif_detector_check(detector, NULL));
    }
    /* All rows are one point: nowhere can be denser, and the score is as low as in a dense
     * place. */
    expect_within(last, 0, 0.5, setup_text(s));
    double lower[MAX_DIMENSION];
    for (size_t i = 0; i < dimension; i++)
        lower[i] = constant[i] - 1;
    if (!(score(detector, lower) > last))
        fail_msg("%s: a row under the constant scores %g, the constant %g", setup_text(s),
                 score(detector, lower), last);
    oif_detector_free(detector);
}

static void equal_rows_score_alike_and_low(void **state)
{
    (void)state;
    const double zeros[] = {0, 0, 0}, others[] = {-0.1, 1e15, -7}, single[] = {3.25};
    for (int number = 0; number < 12; number++) {
        setup s = small_setup();
        s.variant = (oif_variant)(number % 3);
        s.growth = (oif_growth)(number / 3 % 2);
        s.subsample = number / 6 % 2 ? 0.5 : 1;
        expect_equal_rows_to_score_alike(&s, zeros, 3);
        expect_equal_rows_to_score_alike(&s, others, 3);
        expect_equal_rows_to_score_alike(&s, single, 1);
    }
}

static void constant_columns_do_not_hide_an_outlier(void **state)
{
    (void)state;
    setup s = {
        .num_trees = 64, .window_size = 512, .max_leaf_samples = 16, .subsample = 1, .seed = 5};
    oif_detector *detector = new_detector(&s, 4);
    dice rolled = {6};
    double row[4] = {5, 0, 5, 5};
    for (int i = 0; i < 2000; i++) {
        row[1] = (i % 40 ? 1 : 7) * dice_normal(&rolled);
        learn(detector, row);
    }
    row[1] = 15;
    double outlier = score(detector, row);
    row[1] = 0.1;
    double inlier = score(detector, row);
    if (!(outlier > inlier))
        fail_msg("beside three constant columns an outlier scores %g, an inlier %g", outlier,
                 inlier);
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

static void a_range_of_a_few_ulps_and_the_whole_range_of_doubles_are_cut_alike(void **state)
{
    (void)state;
    const double lows[] = {1, -1.7e308, 1e15, 5e-324, -0x1p-1022},
                 highs[] = {1 + 0x1p-50, 1.7e308, 1e15 + 2, 5e-322, 0x1p-1022};
    for (int range = 0; range < 5; range++)
        for (int number = 0; number < 6; number++) {
            setup s = small_setup();
            s.variant = (oif_variant)(number % 3);
            s.growth = (oif_growth)(number / 3);
            oif_detector *detector = new_detector(&s, 1);
            dice rolled = {12};
            for (int i = 0; i < 600; i++) {
                double u = dice_unit(&rolled), x = lows[range] * (1 - u) + highs[range] * u;
                expect_within(learn_score(detector, &x), 0, 1, "score");
            }
            const oif_window_state *f = forest_of(detector);
            uint32_t leaves = 0;
            for (uint32_t tree = 0; tree < f->num_trees; tree++)
                leaves += leaves_below(f, oif_window_root(f, tree));
            expect_within(leaves, 2.0 * f->num_trees, f->num_trees * 255.0, "leaves");
            require_ok(oif_detector_check(detector, NULL));
            oif_detector_free(detector);
        }
}

static void rows_of_ten_thousand_numbers_work(void **state)
{
    (void)state;
    enum { WIDE = 10000 };
    for (int variant = 0; variant < 3; variant++) {
        setup s = {
            .num_trees = 9, .window_size = 64, .max_leaf_samples = 4, .subsample = 1, .seed = 2};
        s.variant = (oif_variant)variant;
        oif_detector *detector = new_detector(&s, WIDE);
        double *row = new_numbers(WIDE), inlier = 0, outlier = 0;
        dice rolled = {3};
        for (int i = 0; i < 200; i++) {
            bool out = i % 20 == 0;
            for (size_t j = 0; j < WIDE; j++)
                row[j] = (out ? 40 : 1) * (dice_unit(&rolled) - 0.5);
            if (i % 7 == 0)
                for (size_t j = 0; j < WIDE; j += 3)
                    row[j] = NAN;
            double own = learn_score(detector, row);
            expect_within(own, 0, 1, "score");
            *(out ? &outlier : &inlier) += i < 100 ? 0 : own / (out ? 5 : 95);
            if (i % 40 == 39)
                require_ok(oif_detector_check(detector, NULL));
        }
        if (!(outlier > inlier))
            fail_msg("%s: outliers score %g, inliers %g", variant_names[variant], outlier, inlier);
        oif_detector_free(detector);
        free(row);
    }
}

/* ---- Keys ---- */

static void keys_are_in_the_order_of_the_numbers(void **state)
{
    (void)state;
    const double numbers[] = {-INFINITY, -DBL_MAX, -1.5, -1,  -DBL_MIN, -0x1p-1074, 0,
                              0x1p-1074, DBL_MIN,  1,    1.5, DBL_MAX,  INFINITY};
    const size_t count = sizeof numbers / sizeof *numbers;
    for (size_t i = 0; i < count; i++) {
        if (oif_sort_key_number(oif_sort_key(numbers[i])) != numbers[i])
            fail_msg("%a comes back as %a", numbers[i],
                     oif_sort_key_number(oif_sort_key(numbers[i])));
        if (i > 0 && oif_sort_key(numbers[i - 1]) >= oif_sort_key(numbers[i]))
            fail_msg("the keys of %a and %a are not in their order", numbers[i - 1], numbers[i]);
    }
    assert_true(oif_sort_key(-0.0) == oif_sort_key(0.0));
    assert_true(oif_sort_key(INFINITY) < OIF_WINDOW_UNCUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_invariant_holds_after_each_of_100000_random_operations),
        cmocka_unit_test(a_score_is_two_to_minus_the_mean_depth_over_the_normal_depth),
        cmocka_unit_test(an_obvious_outlier_scores_above_every_inlier),
        cmocka_unit_test(scaling_columns_by_powers_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(shifting_columns_by_powers_of_two_changes_no_bit_of_a_score),
        cmocka_unit_test(what_left_the_window_is_forgotten),
        cmocka_unit_test(a_merged_node_encloses_its_children_and_nothing_else),
        cmocka_unit_test(a_cut_that_is_undone_at_once_leaves_the_box_of_its_points),
        cmocka_unit_test(a_block_of_rows_is_learned_and_scored_as_its_rows_are),
        cmocka_unit_test(the_deepest_rows_of_a_block_score_as_alone),
        cmocka_unit_test(each_tree_counts_its_own_share_of_the_rows),
        cmocka_unit_test(a_column_that_is_always_missing_never_matters),
        cmocka_unit_test(a_number_missing_in_a_column_of_noise_hardly_moves_a_score),
        cmocka_unit_test(rows_without_any_number_leave_the_trees_uncut_and_scores_in_the_middle),
        cmocka_unit_test(a_window_too_small_to_be_cut_scores_every_row_the_same),
        cmocka_unit_test(the_first_rows_score_the_same_until_a_tree_could_be_cut),
        cmocka_unit_test(equal_rows_score_alike_and_low),
        cmocka_unit_test(constant_columns_do_not_hide_an_outlier),
        cmocka_unit_test(a_range_of_a_few_ulps_and_the_whole_range_of_doubles_are_cut_alike),
        cmocka_unit_test(rows_of_ten_thousand_numbers_work),
        cmocka_unit_test(keys_are_in_the_order_of_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
