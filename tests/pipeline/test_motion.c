/* How values move: against a twin that keeps every value, which columns take part, the reasons of
 * alerts, and snapshots. */
#include "../base/sanitized.h"
#include "pipelines.h"

#include "base/memory.h"
#include "pipeline/columns/motion.h"
#include "pipeline/columns/shapes.h"
#include "pipeline/pipeline.h"
#include "reference/plain_motion.h"

#include <float.h>

enum { MOST_COLUMNS = 9, WAIT_ROWS = 2048 /* learned before a ready detector judges them */ };

static const double turn = 6.283185307179586;

static oif_motion *new_motion(size_t columns, oif_motion_mode mode)
{
    size_t bytes = oif_motion_bytes(columns);
    oif_motion *motion = oif_memory_new(bytes);
    assert_non_null(motion);
    memset(motion, 0, bytes);
    oif_motion_init(motion, columns, mode);
    return motion;
}

static void require_sound(const oif_motion *motion)
{
    oif_error error;
    require_ok_or(oif_motion_check(motion, &error), error);
}

static oif_motion *motion_in(const oif_pipeline *pipeline)
{
    oif_model *model = oif_pipeline_model(pipeline, 0);
    assert_true(model->options.motion != OIF_MOTION_OFF);
    return (oif_motion *)((unsigned char *)model + model->at.motion);
}

/* ---- Streams ---- */

typedef enum kind {
    NOISE,
    MEMORY, /* each value resembles the one before */
    WAVE,
    SAME,
    WHOLE,
    LATE,  /* missing at first */
    GAPS,  /* often missing */
    LARGE, /* around 1e300 */
    EVERYTHING,
    FADES,  /* has memory at first */
    BEGINS, /* has memory later */
    DRIFT,  /* noise, slowly rising: 5 standard deviations in 5,000 rows */
    BURST,  /* noise, ten times as large for some rows */
    SHIFT,  /* noise with another level later */
    COUNTER,
    KINDS
} kind;

typedef struct column {
    kind of;
    double state;
} column;

static double draw_everything(dice *from)
{
    static const double values[] = {DBL_MAX, -DBL_MAX, 0, 5e-324, 1e150, -1e150, 1e-300, NAN};
    return values[dice_below(from, sizeof values / sizeof *values)];
}

static double draw_value(column *c, dice *from, int row)
{
    c->state = 0.98 * c->state + dice_normal(from);
    switch (c->of) {
    case NOISE: return dice_normal(from);
    case MEMORY: return c->state;
    case WAVE: return sin(turn * row / 40) + 0.05 * dice_normal(from);
    case SAME: return 0.1;
    case WHOLE: return floor(2 * c->state);
    case LATE: return row < 300 ? NAN : c->state;
    case GAPS: return dice_chance(from, 0.3) ? NAN : c->state;
    case LARGE: return 1e300 * c->state;
    case EVERYTHING: return dice_chance(from, 0.05) ? draw_everything(from) : c->state;
    case FADES: return row < 1000 ? c->state : dice_normal(from);
    case BEGINS:
        return row < 1000 ? dice_normal(from)
                          : 1.5 * sin(turn * row / 200) + 0.05 * dice_normal(from);
    case DRIFT: return dice_normal(from) + row / 1000.0;
    case BURST: return (row % 700 >= 640 ? 10 : 1) * dice_normal(from);
    case SHIFT: return dice_normal(from) + (row >= 1500 ? 8 : 0);
    case COUNTER: return row % 900 * 3.0 + dice_unit(from);
    case KINDS: break;
    }
    return 0;
}

/* ---- The twin ---- */

static void require_same_numbers(const oif_motion *motion, const plain_motion *plain,
                                 const double *expected, const char *what)
{
    for (oif_move k = 0; k < OIF_MOVES; k++) {
        if (memcmp(&motion->numbers[k], &expected[k], sizeof expected[k]) != 0)
            fail_msg("%s, row %zu: number %d is %.17g, by definition %.17g", what, plain->rows, k,
                     motion->numbers[k], expected[k]);
        size_t most = oif_motion_column(motion, k);
        assert_int_equal(most, plain_motion_column(plain, k));
        assert_int_equal(oif_motion_direction(motion, k, most),
                         plain_motion_direction(plain, k, most));
        assert_int_equal(oif_motion_is_missing(motion, most), plain->of[most].is_missing);
        assert_int_equal(oif_motion_is_named(motion, k), plain_motion_is_named(plain, k));
        assert_memory_equal(&motion->usual[k], &plain->usual[k], sizeof motion->usual[k]);
    }
}

/* Returns the largest number of columns that took part. */
static size_t compare_with_twin(uint64_t seed, size_t columns, bool takes_all, double learned)
{
    enum { ROWS = SANITIZED ? 1000 : 4000 };
    dice from = {seed};
    column kinds[MOST_COLUMNS] = {0};
    double row[MOST_COLUMNS], expected[OIF_MOVES];
    size_t most = 0;
    oif_motion *motion = new_motion(columns, takes_all ? OIF_MOTION_ON : OIF_MOTION_AUTO);
    plain_motion *plain = plain_motion_new(columns, takes_all);
    char what[80];
    snprintf(what, sizeof what, "seed %" PRIu64 ", %zu columns", seed, columns);
    for (size_t j = 0; j < columns; j++)
        kinds[j].of = (kind)dice_below(&from, KINDS);
    for (int i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < columns; j++)
            row[j] = draw_value(&kinds[j], &from, i);
        oif_motion_observe(motion, row);
        plain_motion_observe(plain, row, expected);
        require_same_numbers(motion, plain, expected, what);
        if (dice_chance(&from, learned))
            assert_int_equal(oif_motion_learn(motion), plain_motion_learn(plain));
        assert_int_equal(motion->with_memory, plain->with_memory);
        most = motion->with_memory > most ? motion->with_memory : most;
        if (i % 50 == 0)
            require_sound(motion);
    }
    oif_memory_free(motion);
    plain_motion_free(plain);
    return most;
}

static void the_numbers_are_those_of_the_definition(void **unused)
{
    (void)unused;
    static const size_t columns[] = {1, 3, 9};
    static const double learned[] = {1, 0.9, 0.3};
    size_t with_memory = 0;
    for (uint64_t seed = 1; seed <= 36; seed++)
        with_memory +=
            compare_with_twin(seed, columns[seed % 3], seed % 4 == 0, learned[seed / 3 % 3]);
    print_message("%zu columns took part\n", with_memory);
    assert_true(with_memory > 36);
}

/* Each kind alone: with nine columns a number is seldom that of one of them. */
static void the_numbers_of_each_kind_of_column_are_those_of_the_definition(void **unused)
{
    (void)unused;
    for (kind of = 0; of < KINDS; of++) {
        uint64_t seed = 1;
        while (dice_below(&(dice){seed}, KINDS) != of) /* the first draw chooses the kind */
            seed++;
        compare_with_twin(seed, 1, false, 1);
        compare_with_twin(seed, 1, true, 0.7);
    }
}

/* ---- Which columns take part ---- */

static void noise_does_not_move(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        oif_motion *motion = new_motion(MOST_COLUMNS, OIF_MOTION_AUTO);
        dice from = {seed};
        double row[MOST_COLUMNS];
        int moving = 0;
        for (int i = 0; i < 3000; i++) {
            draw_row(&from, row, MOST_COLUMNS);
            oif_motion_observe(motion, row);
            for (oif_move k = 0; k < OIF_MOVES; k++) {
                if (i < 32)
                    assert_true(motion->numbers[k] == 1);
                moving += motion->numbers[k] != 1;
                if (i >= 512 && motion->numbers[k] != 1)
                    fail_msg("seed %" PRIu64 ", row %d: noise moves", seed, i);
            }
            oif_motion_learn(motion);
        }
        assert_int_equal(motion->with_memory, 0);
        if (moving > 3 * 256)
            fail_msg("seed %" PRIu64 ": %d numbers of noise vary", seed, moving);
        oif_memory_free(motion);
    }
}

/* Rows after which a column of the kind took part. */
static int rows_with_memory(kind of, uint64_t seed)
{
    oif_motion *motion = new_motion(1, OIF_MOTION_AUTO);
    dice from = {seed};
    column c = {.of = of};
    int rows = 0;
    for (int i = 0; i < 5000; i++) {
        double x = draw_value(&c, &from, i);
        oif_motion_observe(motion, &x);
        oif_motion_learn(motion);
        rows += motion->with_memory > 0;
    }
    oif_memory_free(motion);
    return rows;
}

static void columns_with_memory_take_part_and_no_others(void **unused)
{
    (void)unused;
    static const kind without[] = {NOISE, DRIFT, BURST, SHIFT, SAME},
                      with[] = {MEMORY, WAVE, COUNTER};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (size_t i = 0; i < sizeof without / sizeof *without; i++)
            if (rows_with_memory(without[i], seed) > 0)
                fail_msg("seed %" PRIu64 ": kind %d takes part", seed, without[i]);
        for (size_t i = 0; i < sizeof with / sizeof *with; i++)
            if (rows_with_memory(with[i], seed) < 4000)
                fail_msg("seed %" PRIu64 ": kind %d takes part after only %d rows", seed, with[i],
                         rows_with_memory(with[i], seed));
    }
}

static void values_that_resemble_those_before_move(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        oif_motion *motion = new_motion(3, OIF_MOTION_AUTO);
        dice from = {seed};
        column kinds[3] = {{.of = MEMORY}, {.of = MEMORY}, {.of = MEMORY}};
        double row[3], sums[OIF_MOVES] = {0};
        int begins = 0;
        for (int i = 0; i < 3000; i++) {
            for (size_t j = 0; j < 3; j++)
                row[j] = draw_value(&kinds[j], &from, i);
            oif_motion_observe(motion, row);
            begins += oif_motion_learn(motion);
            for (oif_move k = 0; k < OIF_MOVES && i >= 1000; k++)
                sums[k] += motion->numbers[k] / 2000;
        }
        assert_int_equal(begins, 1);
        assert_int_equal(motion->with_memory, 3);
        for (oif_move k = 0; k < OIF_MOVES; k++)
            expect_within(sums[k], 0.8, 1.4, "the mean of a number");
        oif_memory_free(motion);
    }
}

static void a_column_without_memory_ends_to_take_part(void **unused)
{
    (void)unused;
    oif_motion *motion = new_motion(1, OIF_MOTION_AUTO);
    dice from = {3};
    column fades = {.of = FADES};
    for (int i = 0; i < 6000; i++) {
        double x = draw_value(&fades, &from, i);
        oif_motion_observe(motion, &x);
        oif_motion_learn(motion);
        if (i == 999)
            assert_int_equal(motion->with_memory, 1);
    }
    assert_int_equal(motion->with_memory, 0);
    assert_true(motion->numbers[OIF_MOVE_JUMP] == 1);
    oif_memory_free(motion);
}

static void a_value_that_is_seldom_missing_is_a_jump(void **unused)
{
    (void)unused;
    for (int often = 0; often < 2; often++) {
        oif_motion *motion = new_motion(1, OIF_MOTION_ON);
        dice from = {4};
        column c = {.of = often ? GAPS : MEMORY};
        double x;
        for (int i = 0; i < 5000; i++) {
            x = draw_value(&c, &from, i);
            oif_motion_observe(motion, &x);
            oif_motion_learn(motion);
        }
        oif_motion_observe(motion, &(double){NAN});
        expect_within(motion->numbers[OIF_MOVE_JUMP], often ? 1 + 19 * 0.6 : 20,
                      often ? 1 + 19 * 0.8 : 20, "the jump to a missing value");
        assert_true(oif_motion_is_missing(motion, 0));
        oif_memory_free(motion);
    }
}

/* In a pipeline with motion=auto, detectors get ones after the values of noise, and other numbers
 * after those of a column with memory. */
static void a_pipeline_leaves_the_motion_of_noise_out(void **unused)
{
    (void)unused;
    for (int has_memory = 0; has_memory < 2; has_memory++) {
        oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, "");
        dice from = {5};
        column kinds[2] = {{.of = has_memory ? MEMORY : NOISE}, {.of = NOISE}};
        int moving = 0;
        for (int i = 0; i < 3000; i++) {
            double row[2] = {draw_value(&kinds[0], &from, i), draw_value(&kinds[1], &from, i)};
            process(pipeline, row);
            const double *learned = oif_model_recent(oif_pipeline_model(pipeline, 0));
            assert_memory_equal(learned, row, sizeof row);
            moving += i >= 1000 && learned[2] != 1 && learned[3] != 1 && learned[4] != 1;
        }
        assert_int_equal(motion_in(pipeline)->with_memory, has_memory);
        if (has_memory)
            assert_true(moving > 1900);
        else
            assert_int_equal(moving, 0);
        assert_int_equal(oif_detector_columns(oif_pipeline_detector(pipeline, NULL, 0)), 5);
        oif_pipeline_free(pipeline);
    }
}

/* ---- The numbers begin to vary ---- */

/* The score of a row by the detector of the pipeline, as it is. */
static double score_with(const oif_detector *detector, double value, const double *numbers)
{
    double row[1 + OIF_MOVES] = {value};
    memcpy(row + 1, numbers, OIF_MOVES * sizeof *numbers);
    return score(detector, row);
}

/* A detector that is ready learns the numbers for a while before rows are judged by them. */
static void wait_and_judge(bool learns_all)
{
    static const double ones[OIF_MOVES] = {1, 1, 1};
    oif_pipeline *pipeline =
        new_pipeline("rolling-iforest", "", 1,
                     learns_all ? "learn=all stuck=off partner=off persistence=1 find_season=off"
                                : "learn=normal stuck=off partner=off persistence=1 "
                                  "find_season=off");
    dice from = {6};
    column begins = {.of = BEGINS};
    int waiting = 0, judged = 0;
    for (int i = 0; i < 4000 + WAIT_ROWS; i++) {
        double x = draw_value(&begins, &from, i);
        if (i < 1000) {
            process(pipeline, &x);
            continue;
        }
        oif_detector *copy = clone_of(oif_pipeline_detector(pipeline, NULL, 0));
        const bool counts = oif_motion_counts(motion_in(pipeline));
        oif_result result = process(pipeline, &x);
        const double *numbers = motion_in(pipeline)->numbers;
        double before = score_with(copy, x, counts ? numbers : ones);
        if (result.learned)
            learn(copy, (double[]){x, numbers[0], numbers[1], numbers[2]});
        double after = score_with(copy, x, counts ? numbers : ones);
        assert_true(result.score == (learns_all && counts ? after : before));
        assert_true(score_with(copy, 1, ones) ==
                    score_with(oif_pipeline_detector(pipeline, NULL, 0), 1, ones));
        waiting += !counts && result.learned;
        judged += counts && numbers[0] != 1;
        oif_detector_free(copy);
    }
    print_message("waited for %d rows, judged %d\n", waiting, judged);
    assert_int_equal(waiting, WAIT_ROWS);
    assert_true(judged > 500);
    oif_pipeline_free(pipeline);
}

static void a_ready_detector_learns_motion_before_it_judges_by_it(void **unused)
{
    (void)unused;
    wait_and_judge(false);
    wait_and_judge(true);
}

/* One that is not ready begins again: it knew only ones. */
static void a_detector_that_is_not_ready_begins_again_with_motion(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "motion=on");
    dice from = {7};
    column c = {.of = MEMORY};
    for (int i = 0; i < 40; i++) {
        double x = draw_value(&c, &from, i);
        process(pipeline, &x);
        assert_true(oif_motion_counts(motion_in(pipeline)));
        assert_int_equal(oif_detector_rows_learned(oif_pipeline_detector(pipeline, NULL, 0)),
                         i < 31 ? i + 1 : i - 31);
        assert_false(oif_detector_ready(oif_pipeline_detector(pipeline, NULL, 0)));
    }
    oif_pipeline_free(pipeline);
}

/* ---- Bounds ---- */

/* Uses fade every 64 rows, whichever rows are missing or not learned. */
static void shapes_stay_sound_if_every_64th_value_is_missing(void **unused)
{
    (void)unused;
    oif_motion *motion = new_motion(1, OIF_MOTION_ON);
    for (int i = 1; i <= 20000; i++) {
        double x = i % 64 == 0 ? NAN : sin(turn * i / 32);
        oif_motion_observe(motion, &x);
        oif_motion_learn(motion);
        require_sound(motion);
    }
    oif_memory_free(motion);
}

static void shapes_stay_sound_if_every_64th_row_is_not_learned(void **unused)
{
    (void)unused;
    oif_motion *motion = new_motion(1, OIF_MOTION_ON);
    for (int i = 1; i <= 20000; i++) {
        oif_motion_observe(motion, &(double){sin(turn * i / 32)});
        if (i % 64 != 0)
            oif_motion_learn(motion);
        require_sound(motion);
    }
    oif_memory_free(motion);
}

/* ---- Reasons of alerts ---- */

typedef double planted_stream(dice *from, int row, int planted);

/* A slow wave jumps from near its top to near its bottom. */
static double jumping(dice *from, int row, int planted)
{
    return sin(turn * (row + (row >= planted ? 200 : 0)) / 400) + 0.02 * dice_normal(from);
}

/* A quick small wave on a slow large one becomes larger, within the usual range. */
static double fluttering(dice *from, int row, int planted)
{
    return sin(turn * row / 1000) + (row >= planted ? 0.9 : 0.3) * sin(turn * row / 16) +
           0.05 * dice_normal(from);
}

/* A wave runs backwards: the same values and changes, with another sign. */
static double reshaped(dice *from, int row, int planted)
{
    const double at = turn * (row % 40) / 40 * (row >= planted ? -1 : 1);
    return 0.7 * sin(at) + 0.3 * sin(2 * at) + 0.02 * dice_normal(from);
}

/* Whether a row soon after the planted one is an alert for that reason, for which the explanation
 * names the second column. */
static bool is_found(planted_stream *draw, oif_reason reason, int within, uint64_t seed)
{
    const int planted = 4080 + 4 * (int)seed;
    oif_pipeline *pipeline =
        new_pipeline("rolling-iforest", "", 2, "find_season=off partner=off alert_rate=0.002");
    dice from = {seed};
    bool found = false;
    for (int i = 0; i < planted + within; i++) {
        oif_attribution why[2];
        double row[2] = {0.5 * sin(turn * i / 300) + 0.02 * dice_normal(&from),
                         draw(&from, i, planted)};
        oif_result result = process(pipeline, row);
        if (i < planted || !result.anomaly || result.reason != reason)
            continue;
        oif_pipeline_explain(pipeline, why);
        found |= why[1].share == 1 && why[1].reason == reason && why[0].share == 0;
    }
    oif_pipeline_free(pipeline);
    return found;
}

static void expect_found(planted_stream *draw, oif_reason reason, int within, const char *what)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= 10; seed++)
        found += is_found(draw, reason, within, seed);
    print_message("%s: found in %d of 10 streams\n", what, found);
    if (found < 8)
        fail_msg("%s: found in %d of 10 streams", what, found);
}

static void a_jump_within_the_usual_range_is_an_alert(void **unused)
{
    (void)unused;
    expect_found(jumping, OIF_REASON_JUMP, 1, "a jump");
}

static void a_quiet_column_that_flutters_is_an_alert(void **unused)
{
    (void)unused;
    expect_found(fluttering, OIF_REASON_FLUTTER, 60, "flutter");
}

static void another_shape_is_an_alert(void **unused)
{
    (void)unused;
    expect_found(reshaped, OIF_REASON_SHAPE, 64, "another shape");
}

/* Values outside the usual range of their column are the reason, although they also jump. */
static void extreme_values_are_the_reason_whichever_detector_decides(void **unused)
{
    (void)unused;
    static const char *const detectors[] = {"rolling-iforest", "loda", "rrcf",
                                            "rolling-iforest+rrcf", "rrcf+rolling-iforest"};
    for (size_t d = 0; d < sizeof detectors / sizeof *detectors; d++) {
        oif_pipeline *pipeline = new_pipeline(
            detectors[d], "", 2, "find_season=off partner=off alert_rate=0.01 motion=on");
        column kinds[2] = {{.of = MEMORY}, {.of = MEMORY}};
        dice from = {14};
        int alerts = 0, values = 0;
        for (int i = 0; i < 6000; i++) {
            double row[2] = {draw_value(&kinds[0], &from, i), draw_value(&kinds[1], &from, i)};
            bool is_planted = i > 2000 && i % 97 == 0;
            row[0] += is_planted ? 200 : 0;
            oif_result result = process(pipeline, row);
            alerts += is_planted && result.anomaly;
            values += is_planted && result.anomaly && result.reason == OIF_REASON_VALUES;
        }
        if (alerts < 12 || values < 0.6 * alerts)
            fail_msg("%s: values are the reason of %d of %d alerts", detectors[d], values, alerts);
        oif_pipeline_free(pipeline);
    }
}

/* ---- Snapshots and clones ---- */

enum { SAVED_COLUMNS = 3, SAVED_ROWS = 3000 };

static oif_pipeline *reload(const oif_pipeline *pipeline)
{
    size_t count = oif_pipeline_snapshot_bytes(pipeline);
    void *bytes = malloc(count);
    oif_pipeline *loaded;
    oif_error error;
    require_ok_or(oif_pipeline_save_memory(pipeline, bytes, count, &error), error);
    require_ok_or(oif_pipeline_load_memory(bytes, count, &loaded, &error), error);
    free(bytes);
    return loaded;
}

static void require_same_snapshot(const oif_pipeline *a, const oif_pipeline *b)
{
    size_t count = oif_pipeline_snapshot_bytes(a);
    assert_int_equal(oif_pipeline_snapshot_bytes(b), count);
    unsigned char *of_a = malloc(count), *of_b = malloc(count);
    require_ok(oif_pipeline_save_memory(a, of_a, count, NULL));
    require_ok(oif_pipeline_save_memory(b, of_b, count, NULL));
    assert_memory_equal(of_a, of_b, count);
    free(of_a);
    free(of_b);
}

static void require_same_explanation(oif_pipeline *a, oif_pipeline *b)
{
    oif_attribution of_a[SAVED_COLUMNS], of_b[SAVED_COLUMNS];
    oif_pipeline_explain(a, of_a);
    oif_pipeline_explain(b, of_b);
    for (size_t j = 0; j < SAVED_COLUMNS; j++) {
        assert_true(of_a[j].share == of_b[j].share && of_a[j].reason == of_b[j].reason);
        assert_int_equal(of_a[j].direction, of_b[j].direction);
    }
}

static void draw_saved_row(column kinds[SAVED_COLUMNS], dice *from, int i, double *row)
{
    for (size_t j = 0; j < SAVED_COLUMNS; j++)
        row[j] = draw_value(&kinds[j], from, i);
    row[0] += i % 331 == 330 ? 20 : 0;
}

enum { WHILE_IT_WAITS = -1 };

static bool waits(const oif_pipeline *pipeline)
{
    return oif_pipeline_model(pipeline, 0)->options.motion &&
           !oif_motion_counts(motion_in(pipeline));
}

static void compare_with_copies(const char *options, int copied_at)
{
    oif_pipeline *pipeline =
                     new_pipeline("online-iforest", "window_size=256", SAVED_COLUMNS, options),
                 *loaded = NULL, *clone = NULL;
    column kinds[SAVED_COLUMNS] = {{.of = copied_at == WHILE_IT_WAITS ? BEGINS : MEMORY},
                                   {.of = copied_at == WHILE_IT_WAITS ? NOISE : GAPS},
                                   {.of = NOISE}};
    dice from = {11};
    double row[SAVED_COLUMNS];
    for (int i = 0; i < SAVED_ROWS; i++) {
        if (copied_at == WHILE_IT_WAITS ? i > 0 && !loaded && waits(pipeline) : i == copied_at) {
            loaded = reload(pipeline);
            require_ok(oif_pipeline_clone(pipeline, &clone, NULL));
        }
        draw_saved_row(kinds, &from, i, row);
        oif_result result = process(pipeline, row);
        if (!loaded)
            continue;
        oif_result of_loaded = process(loaded, row), of_clone = process(clone, row);
        require_same_result(&result, &of_loaded);
        require_same_result(&result, &of_clone);
        if (result.reason != of_loaded.reason || result.reason != of_clone.reason)
            fail_msg("%s, row %d: the reason is %d, loaded %d, cloned %d", options, i,
                     result.reason, of_loaded.reason, of_clone.reason);
        require_same_explanation(pipeline, loaded);
        require_same_explanation(pipeline, clone);
    }
    assert_non_null(loaded);
    require_same_snapshot(pipeline, loaded);
    require_same_snapshot(pipeline, clone);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(loaded);
    oif_pipeline_free(clone);
}

static void a_snapshot_and_a_clone_continue_the_same(void **unused)
{
    (void)unused;
    static const char *const options[] = {"motion=off", "motion=on", "motion=auto",
                                          "motion=auto learn=all",
                                          ("motion=on stuck=off partner=off persistence=1 "
                                           "find_season=off")};
    static const int rows[] = {20, 150, 1501}; /* the first: before any column takes part */
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
            compare_with_copies(options[i], rows[j]);
    compare_with_copies("motion=auto", WHILE_IT_WAITS);
    compare_with_copies("motion=auto learn=all", WHILE_IT_WAITS);
}

/* ---- Damage ---- */

static oif_motion *taught_motion(void)
{
    oif_motion *motion = new_motion(2, OIF_MOTION_ON);
    column kinds[2] = {{.of = MEMORY}, {.of = WAVE}};
    dice from = {12};
    for (int i = 0; i < 500; i++) {
        double row[2] = {draw_value(&kinds[0], &from, i), draw_value(&kinds[1], &from, i)};
        oif_motion_observe(motion, row);
        oif_motion_learn(motion);
    }
    require_sound(motion);
    return motion;
}

static void *part_of(oif_motion *motion, size_t at)
{
    return (unsigned char *)motion + at;
}

static void expect_damage_found(oif_motion *motion, const char *what)
{
    oif_error error;
    if (oif_motion_check(motion, &error) != OIF_EINVARIANT)
        fail_msg("%s is accepted", what);
}

#define EXPECT_REFUSED(field, value)                                                               \
    do {                                                                                           \
        const __typeof__(field) sound = (field);                                                   \
        (field) = (value);                                                                         \
        expect_damage_found(motion, #field " = " #value);                                          \
        (field) = sound;                                                                           \
        require_sound(motion);                                                                     \
    } while (0)

/* A field of the second of two columns. */
static double *of_column(oif_motion *motion, uint32_t field)
{
    return (double *)part_of(motion, motion->fields_at) + (size_t)2 * field + 1;
}

static void the_check_refuses_damaged_columns(void **unused)
{
    (void)unused;
    oif_motion *motion = taught_motion();
#define FIELD(name) (of_column(motion, OIF_MOTION_##name))
    EXPECT_REFUSED(*FIELD(LAST), INFINITY);
    EXPECT_REFUSED(*FIELD(LAST), 3e150);
    EXPECT_REFUSED(*FIELD(CHANGE), NAN);
    EXPECT_REFUSED(*FIELD(CHANGE), -3e150);
    EXPECT_REFUSED(*FIELD(FLUTTER), -1);
    EXPECT_REFUSED(*FIELD(FLUTTER), NAN);
    EXPECT_REFUSED(*FIELD(FLUTTER), 1e302);
    EXPECT_REFUSED(*FIELD(SHAPE_DISTANCE), -1);
    EXPECT_REFUSED(*FIELD(SHAPE_DISTANCE), NAN);
    EXPECT_REFUSED(*FIELD(SHAPE_DISTANCE), 1e151);
    for (oif_move k = 0; k < OIF_MOVES; k++) {
        EXPECT_REFUSED(*FIELD(USUAL + k), -1);
        EXPECT_REFUSED(*FIELD(USUAL + k), NAN);
        EXPECT_REFUSED(*FIELD(USUAL + k), 1e151);
        EXPECT_REFUSED(*FIELD(KNOWN + k), -1);
        EXPECT_REFUSED(*FIELD(KNOWN + k), NAN);
        EXPECT_REFUSED(*FIELD(KNOWN + k), 1001);
        EXPECT_REFUSED(*FIELD(KNOWN + k), 0.5);
    }
    EXPECT_REFUSED(*FIELD(LEVEL), NAN);
    EXPECT_REFUSED(*FIELD(LEVEL), INFINITY);
    EXPECT_REFUSED(*FIELD(LEVEL_VARIANCE), -1);
    EXPECT_REFUSED(*FIELD(LEVEL_VARIANCE), INFINITY);
    for (uint32_t i = 0; i < OIF_LAGS; i++) {
        EXPECT_REFUSED(*FIELD(NEARER + i), -0.1);
        EXPECT_REFUSED(*FIELD(NEARER + i), 1.1);
        EXPECT_REFUSED(*FIELD(NEARER + i), NAN);
        EXPECT_REFUSED(*FIELD(FURTHER + i), -0.1);
        EXPECT_REFUSED(*FIELD(FURTHER + i), 1.1);
        EXPECT_REFUSED(*FIELD(FURTHER + i), NAN);
    }
    EXPECT_REFUSED(*FIELD(MISSING_SHARE), -0.1);
    EXPECT_REFUSED(*FIELD(MISSING_SHARE), 1.1);
    EXPECT_REFUSED(*FIELD(MISSING_SHARE), NAN);
    EXPECT_REFUSED(*FIELD(IS_MISSING), 2);
    EXPECT_REFUSED(*FIELD(IS_MISSING), 0.5);
    EXPECT_REFUSED(*FIELD(NEAREST_SHAPE), OIF_SHAPES + 1);
    EXPECT_REFUSED(*FIELD(NEAREST_SHAPE), 0.5);
    EXPECT_REFUSED(*FIELD(TAKES_PART), 2);
    EXPECT_REFUSED(*FIELD(TAKES_PART), NAN);
    EXPECT_REFUSED(*FIELD(TAKES_PART), 0); /* fewer columns with memory than counted */
    EXPECT_REFUSED(*FIELD(SHAPES_KNOWN), 0);
    EXPECT_REFUSED(*FIELD(SHAPES_KNOWN), OIF_SHAPES + 1);
    EXPECT_REFUSED(*FIELD(SHAPES_KNOWN), *FIELD(SHAPES_KNOWN) + 0.5);
    EXPECT_REFUSED(*FIELD(TAKES_PART), 0.5);
#undef FIELD
    oif_memory_free(motion);
}

static void the_check_refuses_damaged_shapes(void **unused)
{
    (void)unused;
    oif_motion *motion = taught_motion();
    oif_shapes *shapes = (oif_shapes *)part_of(motion, motion->shapes_at) + 1;
    const uint32_t known = (uint32_t)*of_column(motion, OIF_MOTION_SHAPES_KNOWN);
    assert_in_range(known, 2, OIF_SHAPES - 1);
    EXPECT_REFUSED(shapes->uses[0], 0); /* an empty place before others */
    EXPECT_REFUSED(shapes->uses[0], NAN);
    EXPECT_REFUSED(shapes->uses[0], INFINITY);
    EXPECT_REFUSED(shapes->uses[1], -1);
    EXPECT_REFUSED(shapes->uses[1], 601);
    EXPECT_REFUSED(shapes->uses[known], -1);
    EXPECT_REFUSED(shapes->uses[known], NAN);
    EXPECT_REFUSED(shapes->points[0][0][0], NAN);
    EXPECT_REFUSED(shapes->points[1][15][0], 3e150);
    EXPECT_REFUSED(shapes->points[OIF_SHAPE_GROUPS - 1][3][3], -INFINITY);
    oif_memory_free(motion);
}

static void the_check_refuses_damaged_counts_and_numbers(void **unused)
{
    (void)unused;
    oif_motion *motion = taught_motion();
    double *recent = part_of(motion, motion->recent_at);
    EXPECT_REFUSED(recent[0], NAN);
    EXPECT_REFUSED(recent[0], 2e150);
    EXPECT_REFUSED(recent[32 * 2 - 1], -INFINITY);
    EXPECT_REFUSED(motion->with_memory, 1);
    EXPECT_REFUSED(motion->with_memory, 3);
    EXPECT_REFUSED(motion->learned, motion->rows + 1);
    EXPECT_REFUSED(motion->rows, motion->learned - 1);
    EXPECT_REFUSED(motion->counts_from, motion->learned + WAIT_ROWS + 1);
    EXPECT_REFUSED(motion->counts_from, UINT64_MAX);
    for (oif_move k = 0; k < OIF_MOVES; k++) {
        EXPECT_REFUSED(motion->numbers[k], -1);
        EXPECT_REFUSED(motion->numbers[k], NAN);
        EXPECT_REFUSED(motion->numbers[k], 20.5);
        EXPECT_REFUSED(motion->usual[k], -1);
        EXPECT_REFUSED(motion->usual[k], NAN);
        EXPECT_REFUSED(motion->usual[k], 20.5);
    }
    EXPECT_REFUSED(motion->known, -1);
    EXPECT_REFUSED(motion->known, NAN);
    EXPECT_REFUSED(motion->known, 1001);
    EXPECT_REFUSED(motion->known, 0.5);
    oif_memory_free(motion);
    motion = new_motion(1, OIF_MOTION_AUTO); /* without columns that take part */
    double *takes_part = (double *)part_of(motion, motion->fields_at) + OIF_MOTION_TAKES_PART;
    EXPECT_REFUSED(*takes_part, 1);
    oif_memory_free(motion);
}

static void a_pipeline_with_a_damaged_motion_is_not_loaded(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("loda", "", 1, "motion=on"), *none = NULL;
    oif_error error;
    for (int i = 0; i < 50; i++)
        process(pipeline, &(double){i % 7});
    motion_in(pipeline)->numbers[1] = NAN;
    assert_int_equal(oif_pipeline_check(pipeline, &error), OIF_EINVARIANT);
    size_t count = oif_pipeline_snapshot_bytes(pipeline);
    void *bytes = malloc(count);
    require_ok(oif_pipeline_save_memory(pipeline, bytes, count, NULL));
    assert_int_equal(oif_pipeline_load_memory(bytes, count, &none, &error), OIF_ECORRUPT);
    expect_message(error, "the motion of the last row is not possible");
    free(bytes);
    oif_pipeline_free(pipeline);
}

/* ---- Options ---- */

static oif_status try_pipeline(const char *options, size_t columns, oif_pipeline **pipeline,
                               oif_error *error)
{
    oif_params params = params_named("rolling-iforest", ""), chosen;
    oif_pipeline_options_init(&chosen);
    set_params(&chosen, options);
    return oif_pipeline_new(&params, columns, &chosen, pipeline, error);
}

static void a_shingle_leaves_no_motion(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    assert_int_equal(try_pipeline("motion=on shingle=2", 2, &pipeline, &error), OIF_EPARAM);
    expect_message(error, "motion=on contradicts shingle");
    assert_null(pipeline);
    require_ok_or(try_pipeline("motion=auto shingle=2", 2, &pipeline, &error), error);
    process(pipeline, (double[]){1, 2});
    assert_int_equal(oif_pipeline_model(pipeline, 0)->options.motion, OIF_MOTION_OFF);
    assert_int_equal(oif_detector_columns(oif_pipeline_detector(pipeline, NULL, 0)), 4);
    oif_pipeline_free(pipeline);
}

static void expect_motion(const char *detector, const char *options, oif_motion_mode expected)
{
    oif_pipeline *pipeline = new_pipeline(detector, "", 2, options);
    process(pipeline, (double[]){1, 2});
    if (oif_pipeline_model(pipeline, 0)->options.motion != expected)
        fail_msg("%s, %s: the motion is not %d", detector, options, expected);
    assert_int_equal(oif_detector_columns(oif_pipeline_detector(pipeline, NULL, 0)),
                     expected == OIF_MOTION_OFF ? 2 : 2 + OIF_MOVES);
    oif_pipeline *loaded = reload(pipeline);
    assert_int_equal(oif_pipeline_model(loaded, 0)->options.motion, expected);
    oif_pipeline_free(loaded);
    oif_pipeline_free(pipeline);
}

/* Constant numbers would change their scores. */
static void detectors_that_mind_constants_have_motion_only_on_request(void **unused)
{
    (void)unused;
    static const char *const minding[] = {"loda", "hst", "iforest-asd", "rolling-iforest+loda",
                                          "hst+rolling-iforest"},
                             *const others[] = {"rolling-iforest", "online-iforest", "rrcf",
                                                "rolling-iforest+rrcf"};
    for (size_t i = 0; i < sizeof minding / sizeof *minding; i++) {
        expect_motion(minding[i], "", OIF_MOTION_OFF);
        expect_motion(minding[i], "motion=auto", OIF_MOTION_OFF);
        expect_motion(minding[i], "motion=on", OIF_MOTION_ON);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect_motion(others[i], "", OIF_MOTION_AUTO);
        expect_motion(others[i], "motion=on", OIF_MOTION_ON);
    }
}

static void motion_does_not_make_a_pipeline_without_columns(void **unused)
{
    (void)unused;
    static const char *const options[] = {"motion=off", "motion=on", "motion=auto"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        oif_pipeline *pipeline = NULL;
        oif_error error;
        assert_int_equal(try_pipeline(options[i], 0, &pipeline, &error), OIF_EPARAM);
        assert_null(pipeline);
    }
}

static void a_detector_that_exists_has_no_motion(void **unused)
{
    (void)unused;
    oif_detector *detector = new_named("rolling-iforest", "", 3), *given = detector;
    oif_pipeline *pipeline = NULL;
    oif_params options;
    oif_error error;
    oif_pipeline_options_init(&options);
    set_params(&options, "motion=on");
    assert_int_equal(oif_pipeline_new_around(&given, &options, NULL, 0, &pipeline, &error),
                     OIF_EPARAM);
    expect_message(error, "motion=on needs a detector that the pipeline creates itself");
    assert_null(pipeline);
    assert_ptr_equal(given, detector);
    set_params(&options, "motion=auto");
    require_ok_or(oif_pipeline_new_around(&given, &options, NULL, 0, &pipeline, &error), error);
    assert_ptr_equal(oif_pipeline_detector(pipeline, NULL, 0), detector);
    assert_int_equal(oif_pipeline_model(pipeline, 0)->options.motion, OIF_MOTION_OFF);
    assert_true(oif_params_value(oif_pipeline_options(pipeline), "motion") == OIF_MOTION_OFF);
    oif_pipeline *loaded = reload(pipeline);
    oif_pipeline_free(loaded);
    oif_pipeline_free(pipeline);
}

/* A frozen model gives a row the same score, whatever came before. */
static void a_frozen_model_does_not_judge_motion(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 1, "motion=on");
    dice from = {13};
    for (int i = 0; i < 2000; i++)
        process(pipeline, &(double){sin(turn * i / 100) + 0.01 * dice_normal(&from)});
    require_ok(oif_pipeline_change_option(pipeline, "learn", OIF_LEARN_NONE, NULL));
    double score = process(pipeline, &(double){0.5}).score;
    process(pipeline, &(double){-1});
    oif_result after = process(pipeline, &(double){0.5});
    assert_true(after.score == score);
    assert_true(after.reason == OIF_REASON_VALUES);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_those_of_the_definition),
        cmocka_unit_test(the_numbers_of_each_kind_of_column_are_those_of_the_definition),
        cmocka_unit_test(noise_does_not_move),
        cmocka_unit_test(columns_with_memory_take_part_and_no_others),
        cmocka_unit_test(values_that_resemble_those_before_move),
        cmocka_unit_test(a_column_without_memory_ends_to_take_part),
        cmocka_unit_test(a_value_that_is_seldom_missing_is_a_jump),
        cmocka_unit_test(a_pipeline_leaves_the_motion_of_noise_out),
        cmocka_unit_test(a_ready_detector_learns_motion_before_it_judges_by_it),
        cmocka_unit_test(a_detector_that_is_not_ready_begins_again_with_motion),
        cmocka_unit_test(shapes_stay_sound_if_every_64th_value_is_missing),
        cmocka_unit_test(shapes_stay_sound_if_every_64th_row_is_not_learned),
        cmocka_unit_test(a_jump_within_the_usual_range_is_an_alert),
        cmocka_unit_test(a_quiet_column_that_flutters_is_an_alert),
        cmocka_unit_test(another_shape_is_an_alert),
        cmocka_unit_test(extreme_values_are_the_reason_whichever_detector_decides),
        cmocka_unit_test(a_snapshot_and_a_clone_continue_the_same),
        cmocka_unit_test(the_check_refuses_damaged_columns),
        cmocka_unit_test(the_check_refuses_damaged_shapes),
        cmocka_unit_test(the_check_refuses_damaged_counts_and_numbers),
        cmocka_unit_test(a_pipeline_with_a_damaged_motion_is_not_loaded),
        cmocka_unit_test(a_shingle_leaves_no_motion),
        cmocka_unit_test(detectors_that_mind_constants_have_motion_only_on_request),
        cmocka_unit_test(motion_does_not_make_a_pipeline_without_columns),
        cmocka_unit_test(a_detector_that_exists_has_no_motion),
        cmocka_unit_test(a_frozen_model_does_not_judge_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
