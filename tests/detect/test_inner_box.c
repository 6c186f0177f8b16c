/* Inner boxes of online-iforest: a row in the inner box is in the box, and a forest with inner
 * boxes behaves exactly like one that widens every box with every row.
 *
 * OIF_INNER_BOX_SEED sets the seed of the random numbers; every failure prints it. */
#include "driver.h"

#include <float.h>

static uint64_t seed(void)
{
    const char *text = getenv("OIF_INNER_BOX_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* ---- Marks ---- */

enum { DIMENSION = 18, WIDTH = 2 * DIMENSION, MARKS = 32 };

/* A grid, and a box with its inner box and a row on it. */
typedef struct scene {
    double origins[MARKS], steps[MARKS], scales[MARKS];
    oif_grid grid;
    double box[WIDTH], mirror[WIDTH];
    int16_t lows[MARKS], row_marks[MARKS];
    uint16_t spans[MARKS];
    oif_inner_box inner;
} scene;

static void set_scene(scene *s)
{
    s->grid = (oif_grid){s->origins, s->steps, s->scales};
    s->inner = (oif_inner_box){s->lows, s->spans};
    assert_int_equal(oif_inner_box_width(DIMENSION), MARKS);
    oif_grid_clear(&s->grid, DIMENSION);
}

static void set_number(scene *s, uint32_t column, double x)
{
    s->mirror[column] = x + 0.0;
    s->mirror[DIMENSION + column] = -s->mirror[column];
}

OIF_AVX2 static bool has_avx2(const scene *s)
{
    return oif_inner_box_has(s->inner, s->row_marks, MARKS, true);
}

/* Marks the row; whether it is in the inner box, by both ways. */
static bool is_in_inner_box(scene *s)
{
    oif_grid_mark_row(&s->grid, s->mirror, DIMENSION, s->row_marks);
    bool inside = oif_inner_box_has(s->inner, s->row_marks, MARKS, false);
    if (oif_machine_has_avx2())
        assert_int_equal(has_avx2(s), inside);
    return inside;
}

/* A number of one of many kinds, often one that was drawn before, or one step beside it. */
static double draw_number(dice *from, double *last)
{
    static const double scales[] = {1, 1, 1000, 1e-3, 1e15, 1e-300, 1e300, 5e-324};
    uint32_t kind = dice_below(from, 8);
    double scale = scales[dice_below(from, sizeof scales / sizeof *scales)];
    double x = kind == 0   ? 0
               : kind == 1 ? *last
               : kind == 2 ? nextafter(*last, INFINITY)
               : kind == 3 ? nextafter(*last, -INFINITY)
               : kind == 4 ? (double)dice_below(from, 200) - 100
               : kind == 5 ? 0.1 * dice_below(from, 100)
               : kind == 6 ? 1e6 + dice_unit(from)
                           : scale * (2 * dice_unit(from) - 1);
    *last = isfinite(x) ? x : 0;
    return *last;
}

static void draw_box(dice *from, double *box, double *last)
{
    for (int i = 0; i < DIMENSION; i++) {
        double a = draw_number(from, last), b = draw_number(from, last);
        box[i] = a < b ? a : b;
        box[DIMENSION + i] = -(a < b ? b : a);
    }
}

static void expect_inside(const scene *s, uint64_t round)
{
    for (int i = 0; i < WIDTH; i++)
        if (!(s->mirror[i] >= s->box[i]))
            fail_msg("seed %" PRIu64 ", round %" PRIu64 ": number %d is %a, below %a, and the row "
                     "is in the inner box",
                     seed(), round, i, s->mirror[i], s->box[i]);
}

/* A box inside another, narrower in some columns. */
static void draw_inner(dice *from, const double *whole, double *box)
{
    memcpy(box, whole, WIDTH * sizeof *box);
    for (int i = 0; i < 4; i++) {
        uint32_t at = dice_below(from, DIMENSION);
        double inner = dice_unit(from);
        box[at] = whole[at] * (1 - inner) - whole[DIMENSION + at] * inner;
        box[DIMENSION + at] = -fmax(box[at], -whole[DIMENSION + at]);
    }
}

/* Mostly at the ends of the box, seldom beside it or anywhere. */
static void draw_row(dice *from, scene *s, double *last)
{
    for (uint32_t i = 0; i < DIMENSION; i++) {
        double low = s->box[i], high = -s->box[DIMENSION + i];
        uint32_t where = dice_below(from, 400);
        double x = where == 0    ? draw_number(from, last)
                   : where == 1  ? nextafter(low, -INFINITY)
                   : where == 2  ? nextafter(high, INFINITY)
                   : where < 80  ? low
                   : where < 160 ? high
                                 : low / 2 + high / 2;
        set_number(s, i, isfinite(x) ? x : low);
    }
}

static void a_row_in_an_inner_box_is_in_the_box(void **state)
{
    (void)state;
    dice from = {seed()};
    double whole[WIDTH], last = 0;
    uint64_t inside = 0;
    scene s;
    set_scene(&s);
    for (uint64_t round = 0; round < 20000; round++) {
        if (round % 100 == 0) {
            draw_box(&from, whole, &last);
            (void)oif_grid_fit(&s.grid, whole, DIMENSION);
        }
        if (round % 20 == 0) {
            draw_inner(&from, whole, s.box);
            oif_inner_box_fit(&s.grid, s.inner, s.box, DIMENSION);
        }
        draw_row(&from, &s, &last);
        if (is_in_inner_box(&s)) {
            expect_inside(&s, round);
            inside++;
            continue;
        }
        oif_inner_box_widen(&s.grid, s.inner, s.box, s.row_marks, s.mirror, DIMENSION);
        expect_inside(&s, round);
        assert_true(oif_inner_box_is_inside(&s.grid, s.inner, s.box, DIMENSION));
    }
    print_message("%" PRIu64 " of 20000 rows were in the inner box\n", inside);
    assert_true(inside > 100);
}

/* The row is just outside the box, in one column. */
static void a_row_beside_the_box_is_not_in_the_inner_box(void **state)
{
    (void)state;
    dice from = {seed()};
    double last = 0;
    scene s;
    set_scene(&s);
    for (uint64_t round = 0; round < 5000; round++) {
        draw_box(&from, s.box, &last);
        if (round % 50 == 0) /* no line may be near it */
            s.box[round % DIMENSION] = -DBL_MAX;
        if (round % 10 == 0)
            (void)oif_grid_fit(&s.grid, s.box, DIMENSION);
        oif_inner_box_fit(&s.grid, s.inner, s.box, DIMENSION);
        for (uint32_t i = 0; i < DIMENSION; i++)
            set_number(&s, i, s.box[i]);
        uint32_t column = dice_below(&from, DIMENSION);
        bool below = dice_chance(&from, 0.5);
        double beside = below ? nextafter(s.box[column], -INFINITY)
                              : nextafter(-s.box[DIMENSION + column], INFINITY);
        if (!isfinite(beside))
            continue;
        set_number(&s, column, beside);
        if (is_in_inner_box(&s))
            fail_msg("seed %" PRIu64 ", round %" PRIu64 ": %a is taken to be in a box from %a to "
                     "%a",
                     seed(), round, beside, s.box[column], -s.box[DIMENSION + column]);
    }
}

/* Rows are often equal to the ends of a range, or have whole numbers: those need no widening. */
static void ends_of_a_range_and_whole_numbers_are_inside(void **state)
{
    (void)state;
    dice from = {seed()};
    scene s;
    set_scene(&s);
    for (uint64_t round = 0; round < 5000; round++) {
        const bool whole = round % 2;
        for (uint32_t i = 0; i < DIMENSION; i++) {
            /* few digits, so their difference is exact */
            double a = (float)(200 * dice_unit(&from) - 100), b = (float)(30 * dice_unit(&from));
            s.box[i] = whole ? floor(a) : a;
            s.box[DIMENSION + i] = -(whole ? ceil(a + b) : a + b);
        }
        oif_grid_clear(&s.grid, DIMENSION);
        (void)oif_grid_fit(&s.grid, s.box, DIMENSION);
        if (whole) /* narrower: its ends are not those of the range */
            for (uint32_t i = 0; i < DIMENSION; i++)
                s.box[i] += s.box[i] < -s.box[DIMENSION + i];
        oif_inner_box_fit(&s.grid, s.inner, s.box, DIMENSION);
        for (uint32_t i = 0; i < DIMENSION; i++)
            set_number(&s, i, dice_chance(&from, 0.5) ? s.box[i] : -s.box[DIMENSION + i]);
        if (!is_in_inner_box(&s))
            fail_msg("seed %" PRIu64 ", round %" PRIu64 ": an end of the box is outside", seed(),
                     round);
    }
}

/* The layout of a detector is that of its parameters, not of the machine or the build. */
static void every_machine_has_inner_boxes_of_the_same_size(void **state)
{
    (void)state;
    assert_int_equal(oif_inner_box_width(12), 0);
    assert_int_equal(oif_inner_box_width(13), 16);
    assert_int_equal(oif_inner_box_width(36), 48);
}

/* ---- Forests ---- */

enum { LONGEST = 70, STREAM_ROWS = 2200 };

/* The slow twin: every row widens every box. */
static void leave_inner_boxes_out(oif_detector *detector)
{
    oif_window_state *forest = (oif_window_state *)(uintptr_t)forest_of(detector);
    forest->grid_is_set = forest->rows_to_grid = 0;
}

/* Column j of row i. Streams differ in how they treat inner boxes: whole numbers lie on marks, a
 * ramp leaves every box, jumps need new grids. */
static double number_of_stream(dice *from, int stream, size_t i, uint32_t j)
{
    double number = dice_normal(from);
    switch (stream) {
    case 0: return number;
    case 1: return round(4 * number);
    case 2: return (double)i + dice_unit(from);
    case 3: return number + (double)(i / 700) * 1e6;
    case 4: return j % 3 ? 0.1 * dice_below(from, 5) : 0.3;
    case 5: return exp(40 * number);
    case 6: return 5e-324 * (dice_below(from, 20) - 10.0);
    default: return 1.7e308 * (2 * dice_unit(from) - 1);
    }
}

static void *snapshot_of(const oif_detector *detector, size_t *bytes)
{
    *bytes = oif_detector_snapshot_bytes(detector);
    void *snapshot = malloc(*bytes);
    assert_non_null(snapshot);
    require_ok(oif_detector_save_memory(detector, snapshot, *bytes, NULL));
    return snapshot;
}

static void expect_equal_snapshots(const oif_detector *a, const oif_detector *b, const char *text)
{
    size_t a_bytes, b_bytes;
    void *of_a = snapshot_of(a, &a_bytes), *of_b = snapshot_of(b, &b_bytes);
    if (a_bytes != b_bytes || memcmp(of_a, of_b, a_bytes) != 0)
        fail_msg("%s: the snapshots differ", text);
    free(of_a);
    free(of_b);
}

static void expect_check_passes(const oif_detector *detector, const char *text, size_t i)
{
    oif_error error;
    if (oif_detector_check(detector, &error) != OIF_OK)
        fail_msg("%s, row %zu: %s", text, i, error.message);
}

/* A loaded forest has no inner boxes at first. */
static void load_again(oif_detector **detector)
{
    size_t bytes;
    void *snapshot = snapshot_of(*detector, &bytes);
    oif_detector_free(*detector);
    *detector = NULL;
    require_ok(oif_detector_load_memory(snapshot, bytes, detector, NULL));
    free(snapshot);
}

static void compare_with_twin(int number)
{
    static const uint32_t dimensions[] = {13, 16, 17, 33, 36, 48, 52, LONGEST};
    const uint32_t dimension = dimensions[number % 7];
    const int stream = number % 8;
    setup s = {.num_trees = 9,
               .window_size = 150,
               .max_leaf_samples = 8,
               .variant = (oif_variant)(number % 3),
               .growth = (oif_growth)(number / 3 % 2),
               .subsample = 1,
               .seed = (uint64_t)number};
    oif_detector *detector = new_detector(&s, dimension), *twin = new_detector(&s, dimension);
    dice from = {seed() + (uint64_t)number};
    char text[300];
    snprintf(text, sizeof text, "seed %" PRIu64 ", %u columns, stream %d, %s", seed(), dimension,
             stream, setup_text(&s));
    leave_inner_boxes_out(twin);
    for (size_t i = 0; i < STREAM_ROWS; i++) {
        double row[LONGEST], own, other;
        for (uint32_t j = 0; j < dimension; j++)
            row[j] = number_of_stream(&from, stream, i, j);
        if (i % 97 == 0)
            row[dice_below(&from, dimension)] = NAN;
        if (i % 3) {
            require_ok(oif_detector_learn_score(detector, row, &own, NULL));
            require_ok(oif_detector_learn_score(twin, row, &other, NULL));
        } else {
            require_ok(oif_detector_score_learn(detector, row, &own, NULL));
            require_ok(oif_detector_score_learn(twin, row, &other, NULL));
        }
        expect_same_bits(own, other, text, i);
        if (i % 100 == 99)
            expect_check_passes(detector, text, i);
        if (i == 1500) {
            expect_equal_snapshots(detector, twin, text);
            load_again(&detector);
        }
    }
    expect_equal_snapshots(detector, twin, text);
    oif_detector_free(detector);
    oif_detector_free(twin);
}

static void a_forest_with_inner_boxes_is_its_twin_without(void **state)
{
    (void)state;
    for (int number = 0; number < 56; number++)
        compare_with_twin(number);
}

/* Rows of a block that threads share, and whether most rows need no widening. */
static void most_rows_of_a_usual_stream_are_in_the_inner_boxes(void **state)
{
    (void)state;
    enum { COLUMNS = 36, ROWS = 6000 };
    setup s = {.num_trees = 32,
               .window_size = 512,
               .max_leaf_samples = 16,
               .variant = OIF_REFERENCE,
               .subsample = 1};
    oif_detector *detector = new_detector(&s, COLUMNS);
    const oif_window_state *forest = forest_of(detector);
    double *rows = normal_rows(seed(), ROWS, COLUMNS);
    uint64_t outside = 0;
    const oif_window_pace *pace = oif_block_part(oif_window_scratch(forest, 0), forest->pace_at);
    for (size_t i = 0; i < ROWS; i++) {
        learn(detector, &rows[i * COLUMNS]);
        if (i >= ROWS / 2)
            outside += pace->outside;
    }
    double share = (double)outside / (ROWS / 2.0) / s.num_trees;
    print_message("%.3f of the visits are outside\n", share);
    assert_true(share < 0.15);
    assert_true(pace->plain_rows == 0);
    free(rows);
    oif_detector_free(detector);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    enum { COLUMNS = 20, ROWS = 3000 };
    setup s = small_setup();
    s.num_trees = 24;
    oif_detector *one = new_detector(&s, COLUMNS), *many = new_detector(&s, COLUMNS);
    double *rows = normal_rows(seed(), ROWS, COLUMNS), scores[2][ROWS];
    leave_inner_boxes_out(one);
    require_ok(oif_detector_set_threads(many, 3, NULL));
    require_ok(oif_detector_learn_score_rows(one, rows, ROWS, COLUMNS, scores[0], NULL));
    require_ok(oif_detector_learn_score_rows(many, rows, ROWS, COLUMNS, scores[1], NULL));
    for (size_t i = 0; i < ROWS; i++)
        expect_same_bits(scores[1][i], scores[0][i], setup_text(&s), i);
    expect_check_passes(many, setup_text(&s), ROWS);
    expect_equal_snapshots(many, one, setup_text(&s));
    free(rows);
    oif_detector_free(one);
    oif_detector_free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_in_an_inner_box_is_in_the_box),
        cmocka_unit_test(a_row_beside_the_box_is_not_in_the_inner_box),
        cmocka_unit_test(ends_of_a_range_and_whole_numbers_are_inside),
        cmocka_unit_test(every_machine_has_inner_boxes_of_the_same_size),
        cmocka_unit_test(a_forest_with_inner_boxes_is_its_twin_without),
        cmocka_unit_test(most_rows_of_a_usual_stream_are_in_the_inner_boxes),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
