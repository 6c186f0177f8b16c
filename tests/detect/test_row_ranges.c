/* Row insertion: the fast version against its slow twin, on streams of every kind, and the cases it
 * is meant for. */
#include "any_detector.h"

#include "../base/sanitized.h"
#include "../reference/plain_row_ranges.h"
#include "base/memory.h"
#include "base/stable_math.h"
#include "detect/row_ranges.h"

enum { COLUMNS = STREAM_DIMENSION, SPARE = STEP_IF_SANITIZED(5) };

static const double usual_depth = 8.5;

static oif_row_ranges *new_ranges(size_t columns)
{
    size_t bytes = oif_row_ranges_bytes(columns);
    oif_row_ranges *ranges = oif_memory_new(bytes);
    assert_non_null(ranges);
    memset(ranges, 0, bytes);
    oif_row_ranges_init(ranges, columns);
    return ranges;
}

static void require_sound(const oif_row_ranges *ranges)
{
    oif_error error;
    require_ok_or(oif_row_ranges_check(ranges, &error), error);
}

static void learn_row(oif_row_ranges *ranges, const double *row)
{
    bool complete = true;
    for (uint32_t j = 0; j < ranges->columns; j++)
        complete &= !isnan(row[j]);
    oif_row_ranges_learn(ranges, row, complete);
}

static double depth_of(const oif_row_ranges *ranges, const double *row)
{
    return oif_row_ranges_depth(ranges, row, usual_depth, NULL);
}

static void require_same(const oif_row_ranges *ranges, const plain_row_ranges *plain,
                         const double *row, dice *from, const char *what, uint64_t number)
{
    double depth = 0.5 + 10 * dice_unit(from);
    size_t step = dice_below(from, 3), column = step ? dice_below(from, (uint32_t)step) : 0;
    oif_columns_left_out left_out = {column, step};
    double got = oif_row_ranges_depth(ranges, row, depth, step ? &left_out : NULL);
    double expected = plain_row_ranges_depth(plain, row, depth, column, step);
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s, row %" PRIu64 ": depth %.17g is %.17g and %.17g by definition", what, number,
                 depth, got, expected);
}

static void every_stream_has_the_depths_of_the_definition(void **state)
{
    (void)state;
    for (style of = NORMAL; of < STYLES; of++) {
        oif_row_ranges *ranges = new_ranges(COLUMNS);
        plain_row_ranges plain = {.columns = COLUMNS};
        dice from = {17 + of};
        char what[40];
        snprintf(what, sizeof what, "style %d", of);
        for (uint64_t i = 0; i < 9000; i++) {
            double row[COLUMNS];
            for (size_t j = 0; j < COLUMNS; j++)
                row[j] = dice_chance(&from, 0.01) ? NAN : number_in_style(&from, of, i);
            if (dice_chance(&from, 0.02))
                row[dice_below(&from, COLUMNS)] *= 3;
            for (size_t j = 0; j < COLUMNS; j++)
                row[j] = isinf(row[j]) ? 0 : row[j];
            learn_row(ranges, row);
            plain_row_ranges_learn(&plain, row);
            if (i < 600 / SPARE || i % (64 * SPARE) < 2 || i % (97 * SPARE) == 0) {
                require_same(ranges, &plain, row, &from, what, i);
                require_sound(ranges);
            }
        }
        plain_row_ranges_free(&plain);
        oif_memory_free(ranges);
    }
}

/* Columns are processed four at a time and in parts of 32. */
static void rows_of_every_length_have_the_depths_of_the_definition(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 4, 6, 31, 32, 33, 36, 67};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l += STEP_IF_SANITIZED(3)) {
        const size_t columns = lengths[l];
        oif_row_ranges *ranges = new_ranges(columns);
        plain_row_ranges plain = {.columns = columns};
        dice from = {100 + columns};
        char what[40];
        snprintf(what, sizeof what, "%zu columns", columns);
        for (uint64_t i = 0; i < 6500; i++) {
            double row[67];
            for (size_t j = 0; j < columns; j++)
                row[j] = dice_chance(&from, 0.003) ? NAN : dice_normal(&from);
            learn_row(ranges, row);
            plain_row_ranges_learn(&plain, row);
            if (i % (64 * SPARE) == 0 || i % (333 * SPARE) == 0) {
                require_same(ranges, &plain, row, &from, what, i);
                require_sound(ranges);
            }
        }
        plain_row_ranges_free(&plain);
        oif_memory_free(ranges);
    }
}

/* Columns that begin at different times, and one that has few values. */
static void late_and_sparse_columns_have_the_depths_of_the_definition(void **state)
{
    (void)state;
    static const uint64_t begins[COLUMNS] = {0, 700, 2300, 3000, 0};
    oif_row_ranges *ranges = new_ranges(COLUMNS);
    plain_row_ranges plain = {.columns = COLUMNS};
    dice from = {55};
    for (uint64_t i = 0; i < 7000; i++) {
        double row[COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++)
            row[j] = i < begins[j] ? NAN : dice_normal(&from) * (j == 3 ? 1e9 : 1);
        row[4] = dice_chance(&from, 0.99) ? NAN : row[4];
        row[1 + dice_below(&from, 2)] *= dice_chance(&from, 0.02) ? 30 : 1;
        if (i % (41 * SPARE) == 0)
            require_same(ranges, &plain, row, &from, "late", i);
        learn_row(ranges, row);
        plain_row_ranges_learn(&plain, row);
    }
    plain_row_ranges_free(&plain);
    oif_memory_free(ranges);
}

/* Columns with a period that divides the number of groups, and occasional jitter: with groups in a
 * fixed order, each would see only one phase, and boxes would have no width. */
static void periodic_streams_have_the_depths_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t period = 2; period <= 32; period *= 2) {
        oif_row_ranges *ranges = new_ranges(COLUMNS);
        plain_row_ranges plain = {.columns = COLUMNS};
        dice from = {period};
        double row[COLUMNS];
        for (uint64_t i = 0; i < 9000; i++) {
            for (size_t j = 0; j < COLUMNS; j++)
                row[j] = (double)(i % period) + (dice_chance(&from, 0.001) ? 0.5 : 0);
            learn_row(ranges, row);
            plain_row_ranges_learn(&plain, row);
            if (i % 64 < 2 || i % 97 == 0) {
                require_same(ranges, &plain, row, &from, "periodic", i);
                require_sound(ranges);
            }
        }
        row[2] = 20.0 * (double)period;
        expect_within(depth_of(ranges, row), 0.4, 1, "the depth of a spike in a periodic column");
        plain_row_ranges_free(&plain);
        oif_memory_free(ranges);
    }
}

/* Always as far outside as possible: the usual excess must not exceed 1. */
static void a_column_that_grows_without_end_stays_sound(void **state)
{
    (void)state;
    oif_row_ranges *ranges = new_ranges(1);
    double number = 1;
    for (int i = 0; i < 5000; i++, number *= 1.1) {
        learn_row(ranges, &number);
        require_sound(ranges);
    }
    oif_memory_free(ranges);
}

/* Rows of normal values; the last column is always `last`. */
static oif_row_ranges *learned_ranges(uint64_t rows, double last, dice *from)
{
    oif_row_ranges *ranges = new_ranges(COLUMNS);
    for (uint64_t i = 0; i < rows; i++) {
        double row[COLUMNS];
        for (size_t j = 0; j + 1 < COLUMNS; j++)
            row[j] = dice_normal(from);
        row[COLUMNS - 1] = last;
        learn_row(ranges, row);
    }
    return ranges;
}

static void a_row_inside_all_boxes_keeps_its_depth(void **state)
{
    (void)state;
    dice from = {1};
    oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
    const double row[COLUMNS] = {0.1, -0.1, 0.2, -0.2, 7};
    assert_true(depth_of(ranges, row) == usual_depth);
    oif_memory_free(ranges);
}

static void the_further_outside_the_smaller_the_depth(void **state)
{
    (void)state;
    dice from = {2};
    oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
    double before = usual_depth;
    for (double away = 4; away < 1e6; away *= 2) {
        const double row[COLUMNS] = {0, away, 0, 0, 7};
        double depth = depth_of(ranges, row);
        if (!(depth < before && depth > 0))
            fail_msg("%g away: depth %g, before %g", away, depth, before);
        before = depth;
    }
    assert_true(before < 0.5);
    oif_memory_free(ranges);
}

/* By one column alone, a blip equals an incident of the whole machine. */
static void the_more_columns_are_outside_the_smaller_the_depth(void **state)
{
    (void)state;
    dice from = {9};
    oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
    double row[COLUMNS] = {0, 0, 0, 0, 7}, before = usual_depth;
    for (size_t j = 0; j + 1 < COLUMNS; j++) {
        row[j] = 30;
        double depth = depth_of(ranges, row);
        if (!(depth < before))
            fail_msg("%zu columns outside: depth %g, with fewer %g", j + 1, depth, before);
        before = depth;
    }
    oif_memory_free(ranges);
}

/* A column shifts; a value much further outside is extreme at any time after that. */
static void a_level_shift_blinds_no_column(void **state)
{
    (void)state;
    static const double shifts[] = {5, 10, 30};
    for (size_t i = 0; i < 3; i++) {
        dice from = {10 + i};
        oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
        for (int row_number = 1; row_number <= 4000; row_number++) {
            double row[COLUMNS];
            for (size_t j = 0; j < COLUMNS; j++)
                row[j] = dice_normal(&from);
            row[1] += shifts[i];
            row[4] = 7;
            (void)oif_row_ranges_learn(ranges, row, true);
            row[1] = shifts[i] + 1000;
            if (row_number % 100 == 0 && !(depth_of(ranges, row) < 1))
                fail_msg("%d rows after a shift of %g: depth %g", row_number, shifts[i],
                         depth_of(ranges, row));
        }
        oif_memory_free(ranges);
    }
}

/* The first value is extreme, those after it are not: the column is new. After a hundred of them a
 * value beyond all others is. */
static void a_column_that_starts_late_is_extreme_once(void **state)
{
    (void)state;
    dice from = {13};
    oif_row_ranges *ranges = learned_ranges(5000, NAN, &from);
    double row[COLUMNS] = {0};
    assert_true(depth_of(ranges, row) <= 1);
    for (int i = 0; i < 3000; i++) {
        for (size_t j = 0; j < COLUMNS; j++)
            row[j] = dice_normal(&from);
        (void)oif_row_ranges_learn(ranges, row, true);
        row[0] = row[1] = row[2] = row[3] = 0;
        row[4] = 0.5;
        if (!(depth_of(ranges, row) > usual_depth - 1))
            fail_msg("%d rows after the first value: depth %g", i + 1, depth_of(ranges, row));
        row[4] = 100;
        if (i >= 100 && !(depth_of(ranges, row) < 2))
            fail_msg("%d rows after the first value, a value of 100 has the depth %g", i + 1,
                     depth_of(ranges, row));
    }
    oif_memory_free(ranges);
}

static void another_value_in_a_constant_column_is_as_far_out_as_can_be(void **state)
{
    (void)state;
    dice from = {3};
    oif_row_ranges *ranges = learned_ranges(5000, 0, &from);
    const double row[COLUMNS] = {0, 0, 0, 0, 1e-9};
    assert_true(depth_of(ranges, row) == 1);
    oif_memory_free(ranges);
}

static void a_missing_number_is_outside_where_none_was_missing(void **state)
{
    (void)state;
    dice from = {4};
    oif_row_ranges *ranges = learned_ranges(5000, 0, &from);
    const double row[COLUMNS] = {0, NAN, 0, 0, 0};
    assert_true(depth_of(ranges, row) == 1);
    oif_memory_free(ranges);
}

static void a_number_is_outside_where_all_were_missing_and_a_missing_one_is_not(void **state)
{
    (void)state;
    dice from = {5};
    oif_row_ranges *ranges = learned_ranges(5000, NAN, &from);
    const double missing[COLUMNS] = {0, 0, 0, 0, NAN}, number[COLUMNS] = {0, 0, 0, 0, 1};
    assert_true(depth_of(ranges, missing) == usual_depth);
    assert_true(depth_of(ranges, number) == 1);
    oif_memory_free(ranges);
}

static void no_row_is_judged_before_a_group_has_enough_rows(void **state)
{
    (void)state;
    dice from = {6};
    const double row[COLUMNS] = {1e9, 0, 0, 0, 7};
    oif_row_ranges *few = learned_ranges(256, 7, &from), *enough = learned_ranges(257, 7, &from);
    assert_true(depth_of(few, row) == usual_depth);
    assert_true(depth_of(enough, row) < usual_depth - 1); /* four groups of 32 */
    oif_memory_free(few);
    oif_memory_free(enough);
}

/* Only one of 32 groups has learned the row, and it does not use the row before its box is full. */
static void a_row_that_was_learned_is_still_outside(void **state)
{
    (void)state;
    dice from = {7};
    oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
    const double row[COLUMNS] = {1e9, 0, 0, 0, 7};
    learn_row(ranges, row);
    assert_true(depth_of(ranges, row) < 1.01);
    oif_memory_free(ranges);
}

/* A time, or a rising counter, is outside every box at every row. */
static void a_column_that_always_rises_does_not_hide_the_others(void **state)
{
    (void)state;
    oif_row_ranges *ranges = new_ranges(COLUMNS);
    dice from = {9};
    double row[COLUMNS], least = usual_depth;
    for (int i = 0; i < 7000; i++) {
        for (size_t j = 0; j < COLUMNS; j++)
            row[j] = j == 2 ? i : dice_unit(&from);
        learn_row(ranges, row);
        least = i >= 1000 ? fmin(least, depth_of(ranges, row)) : least;
    }
    expect_within(least, usual_depth - 1, usual_depth, "the least depth of ordinary rows");
    row[4] = 40;
    expect_within(depth_of(ranges, row), 0.4, 1, "the depth of a row with a spike");
    oif_memory_free(ranges);
}

static void a_column_left_out_does_not_count(void **state)
{
    (void)state;
    dice from = {8};
    oif_row_ranges *ranges = learned_ranges(5000, 7, &from);
    const double row[COLUMNS] = {0, 1e9, 0, 0, 7};
    const oif_columns_left_out bad = {1, COLUMNS}, good = {0, COLUMNS};
    assert_true(oif_row_ranges_depth(ranges, row, usual_depth, &bad) == usual_depth);
    assert_true(oif_row_ranges_depth(ranges, row, usual_depth, &good) < 1.01);
    oif_memory_free(ranges);
}

/* ---- In detectors ---- */

typedef struct inserting {
    const char *detector, *without, *with;
    double depth; /* of a score of 1/2 */
} inserting;

static double average_path_length(uint32_t rows)
{
    double harmonic = 0;
    for (uint32_t i = 1; i < rows; i++)
        harmonic += 1.0 / i;
    return 2 * harmonic - 2.0 * (rows - 1) / rows;
}

static double expected_score(const plain_row_ranges *plain, const double *row, double score,
                             double scale)
{
    if (!(score > 0 && score < 1))
        return score;
    double depth = -oif_log2(score) * scale;
    double inserted = plain_row_ranges_depth(plain, row, depth, 0, 0);
    return inserted < depth ? oif_exp2(-inserted / scale) : score;
}

/* Learning and scoring a row at once, scoring it later, and learning rows in blocks. */
static void require_inserted(const inserting *kind, style of)
{
    enum { ROWS = SANITIZED ? 1500 : 3000, BLOCK = 100 };
    oif_detector *without = new_named(kind->detector, kind->without, COLUMNS),
                 *with = new_named(kind->detector, kind->with, COLUMNS),
                 *in_blocks = new_named(kind->detector, kind->with, COLUMNS);
    plain_row_ranges plain = {.columns = COLUMNS};
    dice from = {31 + of};
    static double rows[BLOCK][COLUMNS], scores[BLOCK], blocks[BLOCK];
    for (uint64_t i = 0; i < ROWS; i++) {
        double *row = rows[i % BLOCK];
        for (size_t j = 0; j < COLUMNS; j++)
            row[j] = dice_chance(&from, 0.002) ? NAN : number_in_style(&from, of, i);
        if (dice_chance(&from, 0.01))
            row[dice_below(&from, COLUMNS)] = 1e3 * dice_normal(&from);
        plain_row_ranges_learn(&plain, row);
        double score_without = learn_score(without, row);
        scores[i % BLOCK] = learn_score(with, row);
        double expected = expected_score(&plain, row, score_without, kind->depth);
        expect_same_bits(scores[i % BLOCK], expected, kind->with, i);
        expected = expected_score(&plain, row, score(without, row), kind->depth);
        expect_same_bits(score(with, row), expected, kind->with, i);
        if (i % BLOCK == BLOCK - 1) {
            require_ok(
                oif_detector_learn_score_rows(in_blocks, rows[0], BLOCK, COLUMNS, blocks, NULL));
            assert_memory_equal(blocks, scores, sizeof scores);
        }
    }
    require_ok(oif_detector_check(with, NULL));
    plain_row_ranges_free(&plain);
    oif_detector_free(without);
    oif_detector_free(with);
    oif_detector_free(in_blocks);
}

static void detectors_score_what_their_trees_and_the_ranges_say(void **state)
{
    (void)state;
    const inserting kinds[] = {
        {"rolling-iforest", "insertion=path", "insertion=row", average_path_length(128)},
        {"online-iforest", "insertion=none", "insertion=auto", oif_log2(2048 / 32)},
        {"online-iforest", "insertion=none forgetting=turnover",
         "insertion=row forgetting=turnover", oif_log2(4608 / 2.0 / 8)},
        {"iforest-asd", "insertion=none", "insertion=row", average_path_length(256)},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (style of = NORMAL; of < STYLES; of++) {
            /* With insertion, online-iforest cuts no constant columns: other trees, other
             * scores. */
            bool varies = of == NORMAL || of == JUMPS || of == SORTED;
            if (varies || strcmp(kinds[i].detector, "online-iforest") != 0)
                require_inserted(&kinds[i], of);
        }
}

static void the_variants_of_the_paper_insert_nothing_unless_told(void **state)
{
    (void)state;
    const char *const variants[] = {"variant=paper", "variant=reference"};
    for (int i = 0; i < 2; i++) {
        char none[60];
        snprintf(none, sizeof none, "%s insertion=none", variants[i]);
        oif_detector *as_created = new_named("online-iforest", variants[i], COLUMNS),
                     *without = new_named("online-iforest", none, COLUMNS);
        assert_int_equal(oif_detector_memory_bytes(as_created), oif_detector_memory_bytes(without));
        oif_detector_free(as_created);
        oif_detector_free(without);
    }
}

/* No cut is wasted on constant columns, so nothing drifts while the window fills. */
static void a_constant_stream_always_scores_one_half(void **state)
{
    (void)state;
    const char *const settings[] = {"", "forgetting=turnover"};
    for (int i = 0; i < 2; i++) {
        oif_detector *detector = new_named("online-iforest", settings[i], COLUMNS);
        const double row[COLUMNS] = {5, 7, 0, NAN, 1e9};
        for (int number = 0; number < 6000; number++)
            expect_within(learn_score(detector, row), 0.5 - 1e-6, 0.5 + 1e-6, "the score");
        oif_detector_free(detector);
    }
}

/* The column in which a row is extreme has the largest share, also if the problem is a missing
 * value. */
static void the_inserted_column_explains_the_score(void **state)
{
    (void)state;
    const double wrong[] = {1e3, NAN};
    for (int i = 0; i < 2; i++) {
        oif_detector *detector = new_named("rolling-iforest", "", COLUMNS);
        dice from = {5};
        double row[COLUMNS], shares[COLUMNS], scratch[COLUMNS];
        for (int number = 0; number < 4000; number++) {
            for (size_t j = 0; j < COLUMNS; j++)
                row[j] = dice_normal(&from);
            learn(detector, row);
        }
        row[3] = wrong[i];
        require_ok(oif_detector_explain(detector, row, COLUMNS, shares, scratch, NULL));
        expect_within(shares[3], 0.9, 1, "the share of the column that is wrong");
        oif_detector_free(detector);
    }
}

/* ---- Checks ---- */

/* Eight of 32 groups have a box by then; in the others, every value may be missing. */
enum { CHECKED_ROWS = 600, GROUPS_IN_USE = 8, SECOND = OIF_RANGE_GROUPS /* its boxes */ };
#define MISSING_IN_UNUSED (UINT32_MAX << GROUPS_IN_USE)

static oif_detector *checked_detector(void)
{
    oif_detector *sound = new_named("rolling-iforest", "", COLUMNS);
    double *rows = normal_rows(3, CHECKED_ROWS, COLUMNS);
    require_ok(oif_detector_learn_rows(sound, rows, CHECKED_ROWS, COLUMNS, NULL));
    require_ok(oif_detector_check(sound, NULL));
    free(rows);
    return sound;
}

/* Sets one number of a field. */
typedef struct setting {
    oif_state_visitor visitor;
    const char *field;
    size_t at;
    double value;
    bool done;
} setting;

static void set_number(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    setting *to = (setting *)(void *)self;
    if (strcmp(name, to->field) != 0)
        return;
    assert_true(to->at < count);
    if (type == OIF_FIELD_F64)
        ((double *)values)[to->at] = to->value;
    else if (type == OIF_FIELD_U64)
        ((uint64_t *)values)[to->at] = (uint64_t)to->value;
    else
        ((uint32_t *)values)[to->at] = (uint32_t)to->value;
    to->done = true;
}

static void set_field(oif_detector *detector, const char *field, size_t at, double value)
{
    setting to = {{.visit = set_number}, field, at, value, false};
    oif_detector_visit_fields(detector, &to.visitor);
    assert_true(to.done);
}

static const char NO_BOX[] = "column 2: a box is not a range",
                  NO_FILLING_BOX[] = "a box that is being filled is not a range",
                  NOT_DERIVED[] = "column 2: bounds do not follow from the boxes";

static const struct {
    const char *name, *field;
    size_t at;
    double value;
    const char *words;
} wounds[] = {
    {"too many rows", "range_rows", 0, 0x1.9p63, "more rows than any stream has"},
    {"too few groups", "range_groups", 0, 1, "other groups of ranges judge"},
    {"a missing low of a box being filled", "filling_lows", 1, NAN, NO_FILLING_BOX},
    {"an infinite low of a box being filled", "filling_lows", 1, -INFINITY, NO_FILLING_BOX},
    {"an infinite high of a box being filled", "filling_highs", 1, INFINITY, NO_FILLING_BOX},
    {"a box being filled, turned round", "filling_highs", 0, -1e9, NO_FILLING_BOX},
    {"a low above the high", "lows", SECOND, INFINITY, NO_BOX},
    {"a high below the low", "highs", SECOND, -1e9, NO_BOX},
    {"an infinite low", "lows", SECOND + 3, -INFINITY, NO_BOX},
    {"an infinite high", "highs", SECOND + 3, INFINITY, NO_BOX},
    {"a low of a group without a box", "lows", SECOND + GROUPS_IN_USE, -9, NO_BOX},
    {"a high of a group without a box", "highs", SECOND + GROUPS_IN_USE, 9, NO_BOX},
    {"a group without a box where nothing was missing", "missing", 1, MISSING_IN_UNUSED << 1,
     NO_BOX},
    {"an excess above 1", "excesses", 2, 1.5, "column 3: the usual excess is not a share"},
    {"an excess below 0", "excesses", 1, -0.1, "column 2: the usual excess is not a share"},
    {"a missing excess", "excesses", 0, NAN, "column 1: the usual excess is not a share"},
    {"another inner low", "inner_lows", 0, -9, "column 1: bounds do not follow from the boxes"},
    {"another inner high", "inner_highs", 1, 9, NOT_DERIVED},
    {"another width", "widths", 2, 9, "column 3: bounds do not follow from the boxes"},
};

static void the_check_of_a_detector_names_what_is_broken_in_its_ranges(void **state)
{
    (void)state;
    oif_detector *sound = checked_detector();
    for (size_t i = 0; i < sizeof wounds / sizeof *wounds; i++) {
        oif_detector *broken = whole_clone_of(sound);
        set_field(broken, wounds[i].field, wounds[i].at, wounds[i].value);
        require_broken(broken, wounds[i].name, wounds[i].words);
    }
    oif_detector_free(sound);
}

/* A box of a group in use is empty only if the column was always missing in it. */
static void the_check_accepts_an_empty_box_only_where_values_were_missing(void **state)
{
    (void)state;
    for (uint32_t is_missing = 0; is_missing < 2; is_missing++) {
        oif_detector *broken = checked_detector();
        set_field(broken, "lows", SECOND + 3, INFINITY);
        set_field(broken, "highs", SECOND + 3, -INFINITY);
        set_field(broken, "missing", 1, MISSING_IN_UNUSED | is_missing << 3);
        require_broken(broken, "an empty box", is_missing ? NOT_DERIVED : NO_BOX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_has_the_depths_of_the_definition),
        cmocka_unit_test(rows_of_every_length_have_the_depths_of_the_definition),
        cmocka_unit_test(late_and_sparse_columns_have_the_depths_of_the_definition),
        cmocka_unit_test(periodic_streams_have_the_depths_of_the_definition),
        cmocka_unit_test(a_column_that_grows_without_end_stays_sound),
        cmocka_unit_test(a_row_inside_all_boxes_keeps_its_depth),
        cmocka_unit_test(the_further_outside_the_smaller_the_depth),
        cmocka_unit_test(the_more_columns_are_outside_the_smaller_the_depth),
        cmocka_unit_test(a_level_shift_blinds_no_column),
        cmocka_unit_test(a_column_that_starts_late_is_extreme_once),
        cmocka_unit_test(another_value_in_a_constant_column_is_as_far_out_as_can_be),
        cmocka_unit_test(a_missing_number_is_outside_where_none_was_missing),
        cmocka_unit_test(a_number_is_outside_where_all_were_missing_and_a_missing_one_is_not),
        cmocka_unit_test(no_row_is_judged_before_a_group_has_enough_rows),
        cmocka_unit_test(a_row_that_was_learned_is_still_outside),
        cmocka_unit_test(a_column_that_always_rises_does_not_hide_the_others),
        cmocka_unit_test(a_column_left_out_does_not_count),
        cmocka_unit_test(detectors_score_what_their_trees_and_the_ranges_say),
        cmocka_unit_test(the_variants_of_the_paper_insert_nothing_unless_told),
        cmocka_unit_test(a_constant_stream_always_scores_one_half),
        cmocka_unit_test(the_inserted_column_explains_the_score),
        cmocka_unit_test(the_check_of_a_detector_names_what_is_broken_in_its_ranges),
        cmocka_unit_test(the_check_accepts_an_empty_box_only_where_values_were_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
