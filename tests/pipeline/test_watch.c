/* The watch (watch.h) beside a twin that keeps every value and computes all from the definitions,
 * and what it says about a step, another level, a stuck and a missing column. */
#include "../detect/any_detector.h"

#include "pipeline/judges/watch.h"

#include <float.h>

enum { MOST_ROWS = 2400, MOST_COLUMNS = STREAM_DIMENSION };

static const double bar = 2.8;

static oif_watch *new_watch(size_t columns)
{
    oif_watch *watch = calloc(1, oif_watch_bytes(columns));
    assert_non_null(watch);
    oif_watch_init(watch, columns);
    return watch;
}

static void require_sound(const oif_watch *watch)
{
    oif_error error;
    require_ok_or(oif_watch_check(watch, &error), error);
}

static const oif_finding *observe(oif_watch *watch, const double *row)
{
    static oif_finding findings[OIF_JUDGES];
    memset(findings, 0, sizeof findings);
    oif_watch_observe(watch, row, findings);
    return findings;
}

/* ---- The twin ---- */

/* What a column says about its last row, and its deviation in each row. */
typedef struct column_twin {
    oif_finding steps[3], amplitude, distance, run,
        gap; /* `severity` is how many times the usual size */
    bool moves;
    double jump, flutter, drift;
    double deviations[MOST_ROWS]; /* NaN: no value, or no level yet */
} column_twin;

static double apart(double a, double b)
{
    return fmin(fabs(a - b), 0x1p900);
}

static double within(double x, double most)
{
    return fmax(-most, fmin(x, most));
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The level and the spread of the first 32 values. */
static void first_level(const double *values, double *level, double *spread)
{
    double sorted[32];
    for (int i = 0; i < 32; i++)
        sorted[i] = copysign(apart(values[i], values[0]), values[i] - values[0]);
    qsort(sorted, 32, sizeof *sorted, by_size);
    *level = values[0] + sorted[16];
    *spread = 0;
    for (int i = 0; i < 32; i++)
        *spread +=
            fabs(copysign(apart(values[i], values[0]), values[i] - values[0]) - sorted[16]) / 32;
}

static oif_finding measured(oif_usual_size *usual, double size, double direction, bool adapts)
{
    const oif_finding found = {.severity = oif_usual_times(usual, size),
                               .size = size,
                               .usual = usual->size,
                               .direction = (direction > 0) - (direction < 0)};
    oif_usual_learn(usual, size, adapts);
    return found;
}

/* In logarithms, as docs/measurements/judges.md has it: one that is longer counts at once among the
 * first 48, later by .3 octaves at most. */
static double usual_rows(double usual, double rows, double known)
{
    const double pace = 1 + 200 / (known + 1);
    if (rows > usual)
        return known < 48 ? rows : fmin(rows, usual * exp2(0.3 * pace));
    return fmax(1, usual * (1 - 0.00007 * pace));
}

/* Rows of a run or gap beside the usual ones; nothing once it has lasted for 64 rows more than it
 * takes to exceed the bar. */
static oif_finding lasting(double usual, double rows, double at_usual, double per_octave,
                           size_t columns)
{
    const double enough = usual * exp2((bar - at_usual + log10((double)columns)) / per_octave);
    const oif_finding none = {0},
                      found = {.severity = fmin(rows / usual, 1000), .size = rows, .usual = usual};
    return rows > usual && rows <= enough + 64 ? found : none;
}

/* Learned, but no news. */
static oif_finding silent(oif_finding found, bool is_news)
{
    return is_news ? found : (oif_finding){0};
}

/* Walks over all rows of a column so far. */
static void walk(column_twin *t, const double *column, size_t rows, size_t columns)
{
    static const size_t lags[] = {1, 2, 4};
    oif_usual_size step_sizes[3] = {{0}}, amplitudes = {0}, distances = {0};
    double v[MOST_ROWS], level = 0, spread = 0, recent = 0, usual_run = 1, usual_gap = 1,
                         nearer = 0;
    size_t count = 0, run = 0, gap = 0, changes = 0, level_values = 32, beyond = 0;
    bool is_back = false;
    *t = (column_twin){.jump = 1};
    for (size_t r = 0; r < rows; r++) {
        const double x = column[r];
        memset(t->steps, 0, sizeof t->steps);
        t->amplitude = t->distance = t->run = t->gap = (oif_finding){0};
        t->moves = false;
        t->deviations[r] = NAN;
        if (isnan(x)) {
            gap++;
            if (count >= 32)
                t->gap = lasting(usual_gap, (double)gap + 1, 1.8, 1, columns);
            continue;
        }
        v[count] = x;
        if (count > 0)
            usual_gap = usual_rows(usual_gap, (double)gap + 1, (double)count);
        gap = 0;
        if (count > 0 && x == v[count - 1]) {
            run++;
            if (changes >= 32 && (double)run >= usual_run) /* a row more than usual */
                t->run = lasting(usual_run, (double)run + 1, 1, 1 / .7, columns);
        } else if (count > 0) {
            usual_run = usual_rows(usual_run, (double)run + 1, (double)changes);
            changes++;
            run = 0;
        }
        for (size_t i = 0; i < 3; i++)
            if (count >= lags[i])
                t->steps[i] = silent(measured(&step_sizes[i], apart(x, v[count - lags[i]]),
                                              x - v[count - lags[i]], true),
                                     i == 0 || count < 32 ||
                                         2 * apart(x, level) >= apart(v[count - lags[i]], level));
        if (count == 31)
            first_level(v, &level, &spread);
        if (count == 31)
            recent = level;
        if (count >= 32) {
            const double away = copysign(apart(x, level), x - level);
            const double near = spread > 0 ? level + within(away, 6 * spread) : x;
            recent += copysign(apart(near, recent), near - recent) / 64;
            t->deviations[r] = spread > 0  ? within(away / (1.25 * spread), 30)
                               : away == 0 ? 0
                                           : copysign(10, away);
            t->amplitude = measured(&amplitudes, fabs(away), away, true);
            const double distance = apart(recent, level);
            double lately = x; /* the mean of the last five values */
            for (size_t k = 1; k < 5; k++)
                lately +=
                    copysign(apart(v[count - k], lately), v[count - k] - lately) / (double)(k + 1);
            is_back = distance > distances.size && (is_back || 2 * apart(lately, level) < distance);
            t->distance =
                silent(measured(&distances, distance, recent - level, count % 8 == 0),
                       !is_back && fabs(away) >= distance && (away < 0) == (recent < level));
            level_values += level_values < 2000;
            const double learned = (double)level_values,
                         most = spread > 0 ? 3 * spread : fabs(away);
            level += within(away, most) / learned;
            spread += (fmin(fabs(away), 2 * most) - spread) / learned;
            beyond = distances.count >= 48 && distance > 1.5 * distances.size ? beyond + 1 : 0;
            if (beyond == 64) { /* the last four values are the new level */
                level = x;
                for (size_t i = 1; i < 4; i++)
                    level += copysign(apart(v[count - i], level), v[count - i] - level) /
                             (double)(i + 1);
                recent = level;
                level_values = 32;
                beyond = 0;
            }
        }
        if (count >= 4) {
            const double step = apart(x, v[count - 1]), oldest = apart(x, v[count - 4]),
                         learned = count < 1024 ? (double)count + 1 : 1024,
                         mean = oif_usual_mean(&step_sizes[0]);
            nearer += ((step < oldest ? 1 : step > oldest ? 0 : 0.5) - nearer) / learned;
            t->flutter += (fmin(step, 20 * mean) - t->flutter) / 16;
            t->moves = count >= 64 && nearer >= 0.55;
            t->jump = mean > 0 ? fmin(step / mean, 20) : 1;
            t->drift = oif_usual_mean(&distances);
            t->drift = t->drift > 0 ? fmin(apart(recent, level) / t->drift, 20) : 1;
        }
        count++;
    }
    const double mean = oif_usual_mean(&step_sizes[0]);
    t->flutter = mean > 0 ? fmin(t->flutter / mean, 20) : 1;
}

static void take(oif_finding *most, const oif_finding *one, size_t column)
{
    if (!(one->severity > most->severity))
        return;
    *most = *one;
    most->column = (uint32_t)column;
}

static void rate(oif_finding *found, double at_usual, double per_octave, double penalty,
                 oif_reason reason)
{
    const double severity =
        found->severity > 0 ? at_usual + per_octave * log2(found->severity) - penalty : 0;
    found->severity = fmax(severity, 0);
    found->reason = reason;
}

/* The mean square of the deviations in a row; 0 without one. */
static double mean_square(const column_twin *columns, size_t count, size_t row)
{
    double sum = 0;
    int known = 0;
    for (size_t j = 0; j < count; j++)
        if (!isnan(columns[j].deviations[row])) {
            sum += columns[j].deviations[row] * columns[j].deviations[row];
            known++;
        }
    return known > 0 ? sum / known : 0;
}

static oif_finding energy_of(const column_twin *columns, size_t count, size_t rows)
{
    oif_usual_size usual = {0};
    oif_finding found = {0};
    double furthest = 0;
    uint32_t column = 0;
    for (uint32_t j = 0; j < count; j++)
        if (fabs(columns[j].deviations[rows - 1]) > fabs(furthest)) {
            furthest = columns[j].deviations[rows - 1];
            column = j;
        }
    for (size_t r = OIF_FIRST_ROWS; r <= rows; r++) {
        double slots[16] = {0}, squares = 0; /* in the order that they are summed in */
        for (size_t back = 0; back < 16; back++)
            slots[(r - back) % 16] = mean_square(columns, count, r - back - 1);
        for (size_t i = 0; i < 16; i++)
            squares += slots[i];
        found = silent(measured(&usual, sqrt(squares / 16), furthest, r % 4 == 0),
                       2 * mean_square(columns, count, r - 1) >= squares / 16);
    }
    found.column = column;
    return found;
}

/* The findings of the last row, and its moves. */
static void judge_rows(const double *const *columns, size_t count, size_t rows,
                       oif_finding findings[OIF_JUDGES], double moves[OIF_MOVES])
{
    static column_twin twins[MOST_COLUMNS];
    const double penalty = log10((double)count);
    oif_finding step = {0}, amplitude = {0}, distance = {0}, run = {0}, gap = {0};
    double jump = 0, flutter = 0, drift = 0;
    int moving = 0;
    for (size_t j = 0; j < count; j++) {
        column_twin *t = &twins[j];
        walk(t, columns[j], rows, count);
        for (size_t i = 0; i < 3; i++)
            take(&step, &t->steps[i], j);
        take(&amplitude, &t->amplitude, j);
        take(&distance, &t->distance, j);
        take(&run, &t->run, j);
        take(&gap, &t->gap, j);
        if (!t->moves)
            continue;
        moving++;
        jump += t->jump * t->jump;
        flutter += t->flutter * t->flutter;
        drift += t->drift * t->drift;
    }
    rate(&step, 2, 1, penalty, OIF_REASON_JUMP);
    rate(&amplitude, 2, 1 / .8, penalty, OIF_REASON_VALUES);
    rate(&distance, 1.5, 1 / .7, penalty, OIF_REASON_LEVEL);
    rate(&run, 1, 1 / .7, penalty, OIF_REASON_STUCK);
    rate(&gap, 1.8, 1, penalty, OIF_REASON_MISSING);
    findings[OIF_JUDGE_CHANGE] = amplitude.severity > step.severity ? amplitude : step;
    if (step.severity > bar && distance.severity <= amplitude.severity) {
        findings[OIF_JUDGE_CHANGE] = step; /* the plainer reason */
        findings[OIF_JUDGE_CHANGE].severity = fmax(step.severity, amplitude.severity);
    }
    if (distance.severity > findings[OIF_JUDGE_CHANGE].severity)
        findings[OIF_JUDGE_CHANGE] = distance;
    findings[OIF_JUDGE_ENERGY] = energy_of(twins, count, rows);
    rate(&findings[OIF_JUDGE_ENERGY], 2, 2, 0, OIF_REASON_SPREAD);
    findings[OIF_JUDGE_RUN] = run;
    gap.size -= gap.severity > 0; /* the row before had a value */
    gap.usual -= gap.severity > 0;
    findings[OIF_JUDGE_GAP] = gap;
    moves[0] = moving > 0 ? sqrt(jump / moving) : 1;
    moves[1] = moving > 0 ? sqrt(flutter / moving) : 1;
    moves[2] = moving > 0 ? sqrt(drift / moving) : 1;
}

static bool are_close(double a, double b)
{
    return fabs(a - b) <= 1e-7 * fmax(1, fabs(b)) || fabs(a - b) <= 1e-7 * fabs(b);
}

static void expect_same_finding(const oif_finding *a, const oif_finding *b, oif_judge judge,
                                uint64_t seed, size_t row)
{
    const bool is_same =
        are_close(a->severity, b->severity) &&
        (b->severity == 0 ||
         (are_close(a->size, b->size) && are_close(a->usual, b->usual) && a->reason == b->reason &&
          a->direction == b->direction && a->column == b->column));
    if (!is_same)
        fail_msg("seed %" PRIu64 ", row %zu, judge %d: severity %.12g, size %.12g of %.12g, reason "
                 "%d, direction %d, column %u; the twin: %.12g, %.12g of %.12g, %d, %d, %u",
                 seed, row, judge, a->severity, a->size, a->usual, a->reason, a->direction,
                 a->column, b->severity, b->size, b->usual, b->reason, b->direction, b->column);
}

/* Findings that are more than nothing, by judge. */
typedef struct found_counts {
    int of[OIF_JUDGES];
} found_counts;

static void expect_the_twins_findings(uint64_t seed, size_t rows, size_t every, found_counts *found)
{
    static double values[MOST_COLUMNS][MOST_ROWS];
    static const oif_judge judges[] = {OIF_JUDGE_CHANGE, OIF_JUDGE_ENERGY, OIF_JUDGE_RUN,
                                       OIF_JUDGE_GAP};
    const double *const columns[] = {values[0], values[1], values[2], values[3], values[4]};
    stream s = new_stream((dice){seed});
    const uint32_t held = dice_below(&s.dice, 1000);
    oif_watch *watch = new_watch(s.dimension);
    for (size_t r = 0; r < rows; r++) {
        double row[MOST_COLUMNS], moves[OIF_MOVES];
        oif_finding expected[OIF_JUDGES];
        next_row(&s, row);
        if (r % 150 > 100 && r % 150 < 100 + held % 30) /* stuck, or missing */
            row[held % s.dimension] = held % 2 ? values[held % s.dimension][r - 1] : NAN;
        for (size_t j = 0; j < s.dimension; j++)
            values[j][r] = row[j];
        const oif_finding *actual = observe(watch, row);
        for (size_t i = 0; i < 4; i++)
            found->of[judges[i]] += actual[judges[i]].severity > bar;
        if (r % every > 0 && actual[OIF_JUDGE_RUN].severity == 0 &&
            actual[OIF_JUDGE_GAP].severity == 0)
            continue;
        judge_rows(columns, s.dimension, r + 1, expected, moves);
        for (size_t i = 0; i < 4; i++)
            expect_same_finding(&actual[judges[i]], &expected[judges[i]], judges[i], seed, r + 1);
        for (size_t i = 0; i < OIF_MOVES; i++)
            if (!are_close(watch->moves[i], moves[i]))
                fail_msg("seed %" PRIu64 ", row %zu, move %zu: %.12g, the twin: %.12g", seed, r + 1,
                         i, watch->moves[i], moves[i]);
        require_sound(watch);
    }
    free(watch);
}

/* ---- Against the twin ---- */

static void it_finds_what_the_definitions_say(void **unused)
{
    (void)unused;
    found_counts found = {{0}};
    const uint64_t first = seed_from_environment();
    for (uint64_t seed = first; seed < first + 150; seed++)
        expect_the_twins_findings(seed, 400, 3, &found);
    for (uint64_t seed = first + 150; seed < first + 162; seed++)
        expect_the_twins_findings(seed, MOST_ROWS, 29, &found);
    assert_true(found.of[OIF_JUDGE_CHANGE] > 50 && found.of[OIF_JUDGE_ENERGY] > 10);
    assert_true(found.of[OIF_JUDGE_RUN] > 10 && found.of[OIF_JUDGE_GAP] > 10);
}

/* ---- What it says ---- */

/* A watch that knows `columns` columns of noise with the standard deviation 1. */
static oif_watch *watch_of_noise(dice *from, size_t columns, int rows)
{
    oif_watch *watch = new_watch(columns);
    double row[MOST_COLUMNS];
    for (int r = 0; r < rows; r++) {
        for (size_t j = 0; j < columns; j++)
            row[j] = 20 + dice_normal(from);
        observe(watch, row);
    }
    return watch;
}

static void a_step_is_a_jump_up_or_down_in_its_column(void **unused)
{
    (void)unused;
    for (int direction = -1; direction <= 1; direction += 2) {
        dice from = {5};
        oif_watch *watch = watch_of_noise(&from, 3, 600);
        double row[3] = {20, 20 + 40. * direction, 20}, low, high;
        const oif_finding *found = &observe(watch, row)[OIF_JUDGE_CHANGE];
        assert_int_equal(found->reason, OIF_REASON_JUMP);
        assert_int_equal(found->column, 1);
        assert_int_equal(found->direction, direction);
        expect_within(found->size, 36, 44, "size");
        expect_within(found->usual, 2.5, 5.5, "the usual size");
        expect_within(found->severity, 4, 7, "severity");
        assert_true(oif_watch_jump_range(found, row[1], &low, &high));
        assert_true(low > 20 - 10 && high < 20 + 10 && low < high);
        free(watch);
    }
}

/* The mean of the last rows leaves the level, which is found before long, and is found no more once
 * that is the new normal: a level that stays is not an incident forever. */
static void another_level_is_told_for_a_while(void **unused)
{
    (void)unused;
    for (int direction = -1; direction <= 1; direction += 2) {
        dice from = {6};
        oif_watch *watch = watch_of_noise(&from, 1, 1500);
        int first = 0, last = 0;
        for (int r = 1; r <= 3000; r++) {
            const double x = 20 + 1.5 * direction + dice_normal(&from);
            const oif_finding *found = &observe(watch, &x)[OIF_JUDGE_CHANGE];
            if (found->reason != OIF_REASON_LEVEL || found->severity <= bar)
                continue;
            first = first > 0 ? first : r;
            last = r;
            assert_int_equal(found->direction, direction);
            assert_int_equal(found->column, 0);
            expect_within(found->size, 0.2, 2.5, "size");
        }
        print_message("a level is told from row %d to row %d\n", first, last);
        assert_true(first > 0 && first < 64);
        assert_true(last < 150);
        free(watch);
    }
}

/* What an incident leaves in the mean of the last rows is not reported. */
static void the_end_of_an_incident_is_not_another_level(void **unused)
{
    (void)unused;
    for (int bad = 3; bad <= 40; bad += 6)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            dice from = {seed};
            oif_watch *watch = watch_of_noise(&from, 1, 600);
            for (int r = 0; r < bad; r++) {
                const double x = 80 + dice_normal(&from);
                observe(watch, &x);
            }
            for (int r = 0; r < 200; r++) {
                const double x = 20 + dice_normal(&from);
                const oif_finding *found = &observe(watch, &x)[OIF_JUDGE_CHANGE];
                if (r >= 9 && found->reason == OIF_REASON_LEVEL && found->severity > bar)
                    fail_msg("%d rows were bad (seed %d): %g in row %d after them", bad, (int)seed,
                             found->severity, r);
            }
            free(watch);
        }
}

static void a_stuck_column_is_told_for_some_rows(void **unused)
{
    (void)unused;
    dice from = {7};
    oif_watch *watch = watch_of_noise(&from, 2, 600);
    int first = 0, last = 0;
    for (int r = 1; r <= 500; r++) {
        const double row[] = {20 + dice_normal(&from), 20};
        const oif_finding *found = &observe(watch, row)[OIF_JUDGE_RUN];
        if (found->severity <= bar)
            continue;
        first = first > 0 ? first : r;
        last = r;
        assert_int_equal(found->reason, OIF_REASON_STUCK);
        assert_int_equal(found->column, 1);
        assert_int_equal(found->direction, 0);
        expect_within(found->size, r - 1, r, "size");
        expect_within(found->usual, 1, 1.1, "the usual size");
    }
    assert_true(first >= 2 && first <= 8);
    assert_true(last >= first + 40 && last <= first + 80);
    free(watch);
}

static void a_gap_is_told_in_its_column_for_some_rows(void **unused)
{
    (void)unused;
    dice from = {8};
    oif_watch *watch = watch_of_noise(&from, 2, 600);
    int first = 0, last = 0;
    for (int r = 1; r <= 500; r++) {
        const double row[] = {NAN, 20 + dice_normal(&from)};
        const oif_finding *found = &observe(watch, row)[OIF_JUDGE_GAP];
        if (found->severity <= bar)
            continue;
        first = first > 0 ? first : r;
        last = r;
        assert_int_equal(found->reason, OIF_REASON_MISSING);
        assert_int_equal(found->column, 0);
        expect_within(found->size, r, r + 1, "size");
    }
    assert_true(first >= 2 && first <= 4);
    assert_true(last >= first + 40 && last <= first + 80);
    free(watch);
}

/* Runs and gaps that are as long as ever are not reported. */
static void usual_runs_and_gaps_are_not_told(void **unused)
{
    (void)unused;
    dice from = {9};
    oif_watch *watch = new_watch(1);
    double x = 0;
    for (int r = 0; r < 20000; r++) {
        x = r % 12 == 0 ? dice_normal(&from) : x;
        const double value = r % 60 < 10 ? NAN : x;
        const oif_finding *found = observe(watch, &value);
        if (r < 1000)
            continue;
        assert_true(found[OIF_JUDGE_RUN].severity < bar);
        assert_true(found[OIF_JUDGE_GAP].severity < bar);
    }
    free(watch);
}

/* The last rows spread, each by too little to be a step. */
static void rows_that_are_far_from_their_level_are_a_spread(void **unused)
{
    (void)unused;
    dice from = {10};
    oif_watch *watch = watch_of_noise(&from, 1, 2000);
    double most = 0;
    for (int r = 0; r < 60; r++) {
        const double x = 20 + 4 * dice_normal(&from);
        const oif_finding *found = &observe(watch, &x)[OIF_JUDGE_ENERGY];
        most = fmax(most, found->severity);
        if (found->severity == 0) /* the row itself is not far */
            continue;
        assert_int_equal(found->reason, OIF_REASON_SPREAD);
        assert_int_equal(found->direction, oif_watch_side(watch, 0, x));
    }
    assert_true(most > bar);
    free(watch);
}

/* ---- Moves ---- */

/* Once there are enough rows to know that it is one. */
static void a_shuffled_table_has_moves_of_1(void **unused)
{
    (void)unused;
    for (int constant = 0; constant < 2; constant++) {
        dice from = {11};
        oif_watch *watch = new_watch(3);
        int moved = 0;
        for (int r = 0; r < 5000; r++) {
            const double row[] = {dice_normal(&from), dice_below(&from, 3),
                                  constant ? 5 : exp(dice_normal(&from))};
            observe(watch, row);
            for (size_t i = 0; i < OIF_MOVES; i++)
                moved += watch->moves[i] != 1 && r >= 600;
        }
        assert_int_equal(moved, 0);
        free(watch);
    }
}

static void in_a_series_a_jump_and_flutter_and_drift_stand_out(void **unused)
{
    (void)unused;
    dice from = {12};
    oif_watch *watch = new_watch(1);
    double x = 0;
    for (int r = 0; r < 2000; r++) {
        x = 0.98 * x + dice_normal(&from);
        observe(watch, &x);
    }
    assert_true(oif_watch_moves_count(watch));
    expect_within(watch->moves[1], 0.3, 2, "flutter while all is usual");
    x += 12;
    observe(watch, &x);
    expect_within(watch->moves[0], 8, 20, "jump");
    for (int r = 0; r < 16; r++) {
        const double other = x + (r % 2 ? 5 : -5);
        observe(watch, &other);
    }
    expect_within(watch->moves[1], 5, 20, "flutter");
    for (int r = 0; r < 64; r++) {
        const double far = 60;
        observe(watch, &far);
    }
    expect_within(watch->moves[2], 5, 20, "drift");
    free(watch);
}

/* ---- Passing, rewinding, widening ---- */

static void after_a_row_that_is_passed_no_step_is_known(void **unused)
{
    (void)unused;
    dice from = {13};
    oif_watch *watch = watch_of_noise(&from, 2, 600);
    const double level = watch->column[0].level, far[] = {90, NAN}, near[] = {90.5, 20};
    const uint64_t rows = watch->rows;
    oif_watch_pass(watch, far);
    assert_true(watch->column[0].level == level && watch->rows == rows);
    require_sound(watch);
    assert_int_equal(observe(watch, near)[OIF_JUDGE_CHANGE].reason, OIF_REASON_VALUES);
    oif_watch_pass(watch, far);
    const double back[] = {20.5, 20};
    assert_int_not_equal(observe(watch, back)[OIF_JUDGE_CHANGE].reason, OIF_REASON_JUMP);
    assert_true(watch->column[0].last[0] == 20.5 && isnan(watch->column[0].last[1]));
    free(watch);
    oif_watch *fresh = new_watch(1);
    oif_watch_pass(fresh, far);
    assert_false(oif_watch_has_seen(fresh, 0));
    assert_true(isnan(fresh->column[0].last[0]));
    free(fresh);
}

static void after_a_rewind_the_first_row_is_no_jump_and_what_is_usual_is_known(void **unused)
{
    (void)unused;
    dice from = {14};
    oif_watch *watch = watch_of_noise(&from, 1, 600);
    const double spread = watch->column[0].spread, first = 50, second = 20;
    oif_watch_rewind(watch);
    require_sound(watch);
    assert_true(watch->column[0].spread == spread);
    assert_int_equal(observe(watch, &first)[OIF_JUDGE_CHANGE].reason, OIF_REASON_VALUES);
    assert_int_equal(observe(watch, &second)[OIF_JUDGE_CHANGE].reason, OIF_REASON_JUMP);
    free(watch);
}

/* The new columns are as if they had been missing until now; only that their gap is not counted. */
static void a_wider_watch_continues_the_columns_it_had(void **unused)
{
    (void)unused;
    dice from = {15};
    oif_watch *narrow = new_watch(2), *wide = new_watch(4), *twin = new_watch(4);
    for (int r = 0; r < 700; r++) {
        const double row[] = {dice_normal(&from), r % 7 ? (double)dice_below(&from, 3) : NAN, NAN,
                              NAN};
        observe(narrow, row);
        observe(twin, row);
    }
    oif_watch_widen(wide, narrow);
    require_sound(wide);
    assert_int_equal(wide->unseen, 2);
    for (int r = 0; r < 700; r++) {
        const double row[] = {dice_normal(&from), r % 7 ? (double)dice_below(&from, 3) : NAN,
                              dice_unit(&from), r > 90 ? 5 : NAN};
        oif_finding a[OIF_JUDGES] = {{0}}, b[OIF_JUDGES] = {{0}};
        oif_watch_observe(wide, row, a);
        oif_watch_observe(twin, row, b);
        for (oif_judge i = OIF_JUDGE_CHANGE; i <= OIF_JUDGE_GAP; i++)
            expect_same_finding(&a[i], &b[i], i, 15, (size_t)r);
        assert_int_equal(wide->unseen, r > 90 ? 0 : 1);
    }
    require_sound(wide);
    free(narrow);
    free(wide);
    free(twin);
}

/* ---- Questions ---- */

static void distances_sides_and_ranges_are_by_the_level(void **unused)
{
    (void)unused;
    dice from = {16};
    double low, high;
    oif_watch *watch = new_watch(1);
    const double some = 20;
    for (int r = 0; r < OIF_WATCH_START; r++) {
        assert_true(isnan(oif_watch_distance(watch, 0, 20)));
        assert_int_equal(oif_watch_side(watch, 0, 1e9), 0);
        assert_false(oif_watch_usual_range(watch, 0, &low, &high));
        observe(watch, &some);
    }
    assert_true(oif_watch_distance(watch, 0, 20) == 0); /* a constant */
    assert_true(oif_watch_distance(watch, 0, 20.001) == 1e6);
    free(watch);
    watch = watch_of_noise(&from, 1, 3000);
    assert_true(isnan(oif_watch_distance(watch, 0, NAN)));
    expect_within(oif_watch_distance(watch, 0, 28), 9, 11, "distance"); /* the mean one is .8 */
    assert_int_equal(oif_watch_side(watch, 0, 28), 1);
    assert_int_equal(oif_watch_side(watch, 0, 12), -1);
    assert_true(oif_watch_usual_range(watch, 0, &low, &high));
    expect_within(low, 17.5, 18.2, "low");
    expect_within(high, 21.8, 22.5, "high");
    free(watch);
}

static void ranges_of_huge_values_are_unknown(void **unused)
{
    (void)unused;
    dice from = {17};
    double low, high;
    oif_watch *watch = new_watch(1);
    for (int r = 0; r < 500; r++) {
        const double x = r % 2 ? DBL_MAX : -DBL_MAX;
        observe(watch, &x);
        require_sound(watch);
    }
    for (int r = 0; r < 500; r++) {
        const double x = dice_chance(&from, 0.5) ? DBL_MAX : 5e-324;
        const oif_finding *found = observe(watch, &x), *change = &found[OIF_JUDGE_CHANGE];
        for (oif_judge i = OIF_JUDGE_CHANGE; i <= OIF_JUDGE_GAP; i++)
            assert_true(isfinite(found[i].severity) && isfinite(found[i].size));
        if (oif_watch_usual_range(watch, 0, &low, &high))
            assert_true(isfinite(low) && isfinite(high));
        if (oif_watch_jump_range(change, x, &low, &high))
            assert_true(isfinite(low) && isfinite(high));
        require_sound(watch);
    }
    free(watch);
}

/* ---- Snapshots ---- */

typedef struct field_copy {
    oif_state_visitor visitor;
    unsigned char bytes[1 << 16];
    size_t at;
    bool reads;
    int fields;
} field_copy;

static void copy_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    field_copy *copy = (field_copy *)self;
    const size_t bytes = count * oif_field_type_bytes(type);
    assert_true(name[0] != 0 && copy->at + bytes <= sizeof copy->bytes);
    memcpy(copy->reads ? values : copy->bytes + copy->at,
           copy->reads ? copy->bytes + copy->at : values, bytes);
    copy->at += bytes;
    copy->fields++;
}

/* Every byte of the block but the number of columns is in a field. */
static void fields_are_saved_and_loaded_one_by_one(void **unused)
{
    (void)unused;
    static field_copy copy;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        stream s = new_stream((dice){seed});
        oif_watch *watch = new_watch(s.dimension), *loaded = new_watch(s.dimension);
        double row[MOST_COLUMNS];
        for (uint64_t r = 0; r < 20 * seed; r++) {
            next_row(&s, row);
            observe(watch, row);
        }
        copy = (field_copy){.visitor = {copy_field, NULL}};
        oif_watch_visit_fields(watch, &copy.visitor);
        const size_t written = copy.at;
        copy.at = 0;
        copy.reads = true;
        oif_watch_visit_fields(loaded, &copy.visitor);
        assert_int_equal(copy.at, written);
        assert_int_equal(written + sizeof watch->columns,
                         sizeof *watch + s.dimension * sizeof *watch->column);
        assert_memory_equal(loaded, watch, oif_watch_bytes(s.dimension));
        require_sound(loaded);
        free(watch);
        free(loaded);
    }
}

static oif_watch *sound_watch(void)
{
    dice from = {18};
    return watch_of_noise(&from, 2, 300);
}

#define EXPECT_REFUSED(change, words)                                                              \
    do {                                                                                           \
        oif_watch *w = sound_watch();                                                              \
        oif_column_watch *c = &w->column[1];                                                       \
        oif_error error = {.message = ""};                                                         \
        require_sound(w);                                                                          \
        (void)c;                                                                                   \
        change;                                                                                    \
        if (oif_watch_check(w, &error) != OIF_EINVARIANT)                                          \
            fail_msg("%s is accepted", #change);                                                   \
        expect_message(error, words);                                                              \
        free(w);                                                                                   \
    } while (0)

static void what_no_stream_gives_is_refused(void **unused)
{
    (void)unused;
    EXPECT_REFUSED(w->moves_since = w->rows + 1, "moves vary since a row to come");
    EXPECT_REFUSED(w->moves[2] = INFINITY, "a move is not finite");
    EXPECT_REFUSED(w->moves[0] = NAN, "a move is not finite");
    EXPECT_REFUSED(w->squares[15] = -1, "a square is");
    EXPECT_REFUSED(w->squares[3] = NAN, "a square is");
    EXPECT_REFUSED(w->squares[3] = 901, "a square is"); /* 30 deviations at most */
    EXPECT_REFUSED(w->energy.above = w->energy.count + 1, "the usual energy is impossible");
    EXPECT_REFUSED(w->unseen = 1, "unseen columns are miscounted");
    EXPECT_REFUSED(c->values = c->changes = 0, "unseen columns are miscounted");
    EXPECT_REFUSED(c->last[3] = -INFINITY, "watched column 2: a value is infinite");
    EXPECT_REFUSED(c->level = NAN, "its level is none");
    EXPECT_REFUSED(c->recent = INFINITY, "its level is none");
    EXPECT_REFUSED(c->spread = -1, "its level is none");
    EXPECT_REFUSED(c->flutter = NAN, "its level is none");
    EXPECT_REFUSED(c->start[31] = NAN, "its level is none");
    EXPECT_REFUSED(c->nearer = 1.1, "a share is not between 0 and 1");
    EXPECT_REFUSED(c->nearer = NAN, "a share is not between 0 and 1");
    EXPECT_REFUSED(c->usual_run = 0.5, "a run has fewer rows than one");
    EXPECT_REFUSED(c->usual_gap = NAN, "a run has fewer rows than one");
    EXPECT_REFUSED(c->usual_gap = 0x1p41, "a run has fewer rows than one");
    EXPECT_REFUSED(c->values = (1U << 30) + 1, "it counts more values than it had");
    EXPECT_REFUSED(c->level_values = c->values + 1, "it counts more values than it had");
    EXPECT_REFUSED(c->beyond = UINT32_MAX, "it counts more values than it had");
    EXPECT_REFUSED(c->is_back = 2, "it counts more values than it had");
    EXPECT_REFUSED(c->changes = c->values + 1, "it counts more values than it had");
    EXPECT_REFUSED(c->run = UINT32_MAX, "it counts more values than it had");
    EXPECT_REFUSED(c->gap = UINT32_MAX, "it counts more values than it had");
    for (int i = 0; i < OIF_MAGNITUDES; i++)
        EXPECT_REFUSED(c->sizes[i].size = NAN, "a usual size is impossible");
}

/* Counts stop or are halved before they overflow. */
static void a_billion_rows_later_it_is_still_sound(void **unused)
{
    (void)unused;
    dice from = {19};
    oif_watch *watch = watch_of_noise(&from, 2, 300);
    for (size_t j = 0; j < 2; j++) {
        oif_column_watch *c = &watch->column[j];
        c->values = c->changes = c->run = c->gap = 1U << 30;
        for (int i = 0; i < OIF_MAGNITUDES; i++)
            c->sizes[i].count = c->sizes[i].above = 1U << 30;
    }
    require_sound(watch);
    for (int r = 0; r < 50; r++) {
        const double row[] = {r % 2 ? dice_normal(&from) : 20, r < 20 ? NAN : 20};
        observe(watch, row);
        require_sound(watch);
    }
    assert_true(watch->column[0].values % 8 != 0); /* the level is not learned with every row */
    free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_what_the_definitions_say),
        cmocka_unit_test(a_step_is_a_jump_up_or_down_in_its_column),
        cmocka_unit_test(another_level_is_told_for_a_while),
        cmocka_unit_test(the_end_of_an_incident_is_not_another_level),
        cmocka_unit_test(a_stuck_column_is_told_for_some_rows),
        cmocka_unit_test(a_gap_is_told_in_its_column_for_some_rows),
        cmocka_unit_test(usual_runs_and_gaps_are_not_told),
        cmocka_unit_test(rows_that_are_far_from_their_level_are_a_spread),
        cmocka_unit_test(a_shuffled_table_has_moves_of_1),
        cmocka_unit_test(in_a_series_a_jump_and_flutter_and_drift_stand_out),
        cmocka_unit_test(after_a_row_that_is_passed_no_step_is_known),
        cmocka_unit_test(after_a_rewind_the_first_row_is_no_jump_and_what_is_usual_is_known),
        cmocka_unit_test(a_wider_watch_continues_the_columns_it_had),
        cmocka_unit_test(distances_sides_and_ranges_are_by_the_level),
        cmocka_unit_test(ranges_of_huge_values_are_unknown),
        cmocka_unit_test(fields_are_saved_and_loaded_one_by_one),
        cmocka_unit_test(what_no_stream_gives_is_refused),
        cmocka_unit_test(a_billion_rows_later_it_is_still_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
