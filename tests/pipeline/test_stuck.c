/* The sense for stuck columns against a twin that keeps all rows and finds the runs in them, and
 * the cases it is meant for. */
#include "../detect/any_detector.h"

#include "base/memory.h"
#include "base/stable_math.h"
#include "pipeline/senses/stuck.h"

enum { COLUMNS = 5, MAX_ROWS = 6000, NONE = 99 };

static oif_stuck *new_stuck(size_t columns)
{
    size_t bytes = oif_stuck_bytes(columns);
    oif_stuck *stuck = oif_memory_new(bytes);
    assert_non_null(stuck);
    memset(stuck, 0, bytes);
    oif_stuck_init(stuck, columns);
    return stuck;
}

static void require_sound(const oif_stuck *stuck)
{
    oif_error error;
    require_ok_or(oif_stuck_check(stuck, &error), error);
}

static double observe(oif_stuck *stuck, const double *row, size_t *column)
{
    *column = NONE;
    return oif_stuck_observe(stuck, row, NAN, column);
}

/* ---- The twin ---- */

typedef struct twin {
    size_t count;
    double rows[MAX_ROWS][COLUMNS];
    bool learned[MAX_ROWS];   /* the last row is not learned yet when it is judged */
    bool is_change[MAX_ROWS]; /* it was learned although it is unusual */
} twin;

/* The runs of a column so far. */
typedef struct runs {
    double run, known, longest, changes, limit, value;
} runs;

static double twin_exponent(const runs *r)
{
    return fmin(8, oif_log2(1 + r->changes) / oif_log2(1 + r->longest));
}

static void twin_set_limit(runs *r)
{
    double by_tail = (r->longest + 1) * oif_exp2(3 / twin_exponent(r));
    r->limit = r->changes < 32 ? INFINITY : by_tail;
}

/* Returns whether the run was the longest. */
static bool twin_end_run(runs *r)
{
    bool longest = r->known > r->longest;
    r->longest = fmax(r->longest, r->known);
    r->changes++;
    r->run = r->known = 0;
    return longest;
}

static void twin_forget(runs *r)
{
    r->longest = fmax(1, r->longest - fmin(4, r->longest / 64));
    r->changes -= r->changes / 64;
}

/* Takes a value of a column; returns whether it ended a run that was the longest. */
static bool twin_take(runs *r, double x)
{
    if (isnan(x)) {
        r->known--; /* unless the row is learned */
        return false;
    }
    bool longest = x != r->value && twin_end_run(r);
    r->value = x;
    r->run++;
    return longest;
}

/* Accepts the run of a column; returns whether it exceeded the limit. */
static bool twin_accept(runs *r, bool is_change)
{
    bool over = r->run > r->limit && is_change;
    r->known = r->run;
    r->longest = over ? r->run : r->longest;
    return over;
}

/* If one limit must be set, all are. */
static void twin_find_runs(const twin *t, runs found[COLUMNS])
{
    unsigned learned = 0;
    for (size_t j = 0; j < COLUMNS; j++)
        found[j] = (runs){.value = NAN, .limit = INFINITY};
    for (size_t i = 0; i < t->count; i++) {
        bool set = false, accepted = false;
        for (size_t j = 0; j < COLUMNS; j++)
            set |= twin_take(&found[j], t->rows[i][j]);
        for (size_t j = 0; j < COLUMNS && set; j++)
            twin_set_limit(&found[j]);
        for (size_t j = 0; j < COLUMNS && t->learned[i]; j++)
            accepted |= twin_accept(&found[j], t->is_change[i]);
        bool forgets = t->learned[i] && ++learned % 256 == 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            if (accepted)
                twin_set_limit(&found[j]);
            if (forgets) {
                twin_forget(&found[j]);
                twin_set_limit(&found[j]);
            }
        }
    }
}

static double twin_evidence(const twin *t, const runs *r, size_t column)
{
    if (isnan(t->rows[t->count - 1][column]) || r->run <= r->limit)
        return 0;
    return fmin(1.6, twin_exponent(r) * oif_log2(r->run / r->limit));
}

static void require_same(const twin *t, double got, size_t column)
{
    double expected = 0;
    size_t expected_column = NONE;
    runs found[COLUMNS];
    twin_find_runs(t, found);
    for (size_t j = 0; j < COLUMNS; j++)
        if (twin_evidence(t, &found[j], j) > expected) {
            expected = twin_evidence(t, &found[j], j);
            expected_column = j;
        }
    if (memcmp(&got, &expected, sizeof got) != 0 || column != expected_column)
        fail_msg("row %zu: evidence %.17g in column %zu, by definition %.17g in column %zu",
                 t->count - 1, got, column, expected, expected_column);
}

/* Columns that repeat more or less often, with missing values, and rows that are not learned. */
static void every_stream_has_the_evidence_of_the_definition(void **state)
{
    (void)state;
    static twin t;
    for (style of = NORMAL; of < STYLES; of++) {
        oif_stuck *stuck = new_stuck(COLUMNS);
        dice from = {40 + of};
        double repeats = 0, row[COLUMNS] = {0}, unusual = 0;
        t.count = 0;
        for (size_t i = 0; i < MAX_ROWS; i++) {
            if (i % 500 == 0)
                repeats = i % 1000 ? 0.97 : 0.2 * dice_unit(&from);
            for (size_t j = 0; j < COLUMNS; j++)
                if (!dice_chance(&from, j == 1 ? 0.3 : repeats))
                    row[j] = number_in_style(&from, j < 3 ? of : NORMAL, i);
            memcpy(t.rows[t.count], row, sizeof row);
            if (dice_chance(&from, 0.05))
                t.rows[t.count][2] = NAN;
            t.learned[t.count++] = false;
            size_t column;
            double evidence = observe(stuck, t.rows[i], &column);
            if (evidence > 0 || i % 61 == 0)
                require_same(&t, evidence, column);
            unusual += evidence > 0;
            t.learned[i] = evidence > 0 ? dice_chance(&from, 0.04) : !dice_chance(&from, 0.1);
            t.is_change[i] = dice_chance(&from, 0.5);
            if (t.learned[i])
                oif_stuck_learn(stuck, t.is_change[i]);
            require_sound(stuck);
        }
        assert_true(unusual > 10); /* otherwise nothing was compared */
        oif_memory_free(stuck);
    }
}

/* ---- What it is meant for ---- */

/* Learns some rows, the last column always 7; returns how many were unusual. */
static int learn_rows(oif_stuck *stuck, dice *from, int rows, double repeats, double row[COLUMNS])
{
    int unusual = 0;
    size_t column;
    for (int i = 0; i < rows; i++) {
        for (size_t j = 0; j + 1 < COLUMNS; j++)
            row[j] = i > 0 && dice_chance(from, repeats) ? row[j] : dice_normal(from);
        row[COLUMNS - 1] = 7;
        unusual += observe(stuck, row, &column) > 0;
        oif_stuck_learn(stuck, false);
    }
    return unusual;
}

/* How many more rows a column keeps its value until that is unusual; the others change. */
static int rows_until_stuck(oif_stuck *stuck, dice *from, double row[COLUMNS], size_t which)
{
    for (int i = 1; i < 2000; i++) {
        for (size_t j = 0; j + 1 < COLUMNS; j++)
            row[j] = j == which ? row[j] : dice_normal(from);
        size_t column;
        if (observe(stuck, row, &column) > 0) {
            assert_int_equal(column, which);
            return i;
        }
        oif_stuck_learn(stuck, false);
    }
    return -1;
}

static void a_column_that_never_repeats_is_stuck_after_two_equal_rows(void **state)
{
    (void)state;
    dice from = {1};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    assert_int_equal(learn_rows(stuck, &from, 3000, 0, row), 0);
    assert_int_equal(rows_until_stuck(stuck, &from, row, 3), 2);
    assert_true(oif_stuck_run(stuck, 3) == 3);
    oif_memory_free(stuck);
}

static void evidence_grows_up_to_a_bound_while_a_column_is_stuck(void **state)
{
    (void)state;
    dice from = {2};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS], before = 0;
    learn_rows(stuck, &from, 3000, 0, row);
    for (int i = 0; i < 100; i++) {
        size_t column;
        double evidence = observe(stuck, row, &column);
        if (!(evidence > before || (evidence == before && (i == 0 || evidence == 1.6))))
            fail_msg("after %d rows the evidence is %g, before %g", i, evidence, before);
        before = evidence;
    }
    assert_true(before == 1.6);
    oif_memory_free(stuck);
}

static void a_column_constant_by_nature_is_never_stuck(void **state)
{
    (void)state;
    oif_stuck *stuck = new_stuck(2);
    dice from = {3};
    for (int i = 0; i < 20000; i++) {
        const double row[] = {7, i < 3000 ? i / 200 : 15}; /* the second changed a few times */
        size_t column;
        assert_true(observe(stuck, row, &column) == 0);
        if (!dice_chance(&from, 0.01))
            oif_stuck_learn(stuck, false);
    }
    oif_memory_free(stuck);
}

static void a_column_that_repeats_may_repeat_for_longer(void **state)
{
    (void)state;
    dice from = {4};
    double row[COLUMNS];
    int before = 0;
    for (double repeats = 0; repeats < 0.9; repeats += 0.2) {
        oif_stuck *stuck = new_stuck(COLUMNS);
        assert_int_equal(learn_rows(stuck, &from, 4000, repeats, row), 0);
        int rows = rows_until_stuck(stuck, &from, row, 0);
        if (!(rows > before))
            fail_msg("repeats %g: stuck after %d rows, with fewer %d", repeats, rows, before);
        before = rows;
        oif_memory_free(stuck);
    }
}

static void a_run_that_was_accepted_is_usual_from_then_on(void **state)
{
    (void)state;
    dice from = {5};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    size_t column;
    learn_rows(stuck, &from, 3000, 0, row);
    for (int i = 0; i < 300; i++)
        observe(stuck, row, &column);
    assert_true(observe(stuck, row, &column) > 0);
    oif_stuck_learn(stuck, true);
    for (int i = 0; i < 80; i++)
        assert_true(observe(stuck, row, &column) == 0);
    oif_memory_free(stuck);
}

/* A run that is learned row by row must not raise its own limit: that hid every column that ever
 * repeats. */
static void a_run_that_is_learned_as_it_grows_is_still_found(void **state)
{
    (void)state;
    dice from = {9};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS], evidence = 0;
    learn_rows(stuck, &from, 4000, 0.3, row);
    for (int i = 0; i < 100; i++) {
        size_t column;
        evidence = observe(stuck, row, &column);
        oif_stuck_learn(stuck, false);
    }
    assert_true(evidence == 1.6);
    oif_memory_free(stuck);
}

static void a_run_that_was_not_accepted_is_not_learned(void **state)
{
    (void)state;
    dice from = {6};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    size_t column;
    learn_rows(stuck, &from, 3000, 0, row);
    for (int i = 0; i < 100; i++)
        observe(stuck, row, &column);
    learn_rows(stuck, &from, 10, 0, row);
    assert_int_equal(rows_until_stuck(stuck, &from, row, 2), 2);
    oif_memory_free(stuck);
}

static void long_runs_are_forgotten_slowly(void **state)
{
    (void)state;
    dice from = {7};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    size_t column;
    learn_rows(stuck, &from, 3000, 0, row);
    for (int i = 0; i < 20; i++) {
        observe(stuck, row, &column);
        oif_stuck_learn(stuck, true);
    }
    learn_rows(stuck, &from, 3000, 0, row);
    int soon = rows_until_stuck(stuck, &from, row, 0);
    learn_rows(stuck, &from, 200000, 0, row);
    int late = rows_until_stuck(stuck, &from, row, 0);
    if (!(soon > 15 && late == 2))
        fail_msg("stuck after %d rows soon after a run of 21, and %d rows long after", soon, late);
    oif_memory_free(stuck);
}

static void a_missing_number_neither_continues_a_run_nor_ends_it(void **state)
{
    (void)state;
    dice from = {8};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    size_t column;
    learn_rows(stuck, &from, 3000, 0, row);
    double kept = row[0];
    for (int i = 0; i < 3; i++)
        observe(stuck, row, &column);
    for (size_t j = 0; j < COLUMNS; j++)
        row[j] = NAN;
    for (int i = 0; i < 1000; i++)
        assert_true(observe(stuck, row, &column) == 0);
    assert_true(oif_stuck_run(stuck, 0) == 4);
    row[0] = kept;
    observe(stuck, row, &column);
    assert_true(oif_stuck_run(stuck, 0) == 5);
    oif_memory_free(stuck);
}

/* ---- Damage ---- */

static void require_refused(oif_stuck *stuck, double *number, double damaged)
{
    double kept = *number;
    *number = damaged;
    oif_error error;
    if (oif_stuck_check(stuck, &error) != OIF_EINVARIANT)
        fail_msg("number %td may be %g", number - stuck->numbers, damaged);
    *number = kept;
    require_sound(stuck);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    dice from = {9};
    oif_stuck *stuck = new_stuck(COLUMNS);
    double row[COLUMNS];
    learn_rows(stuck, &from, 1000, 0.5, row);
    for (size_t j = 0; j < COLUMNS; j++) {
        double *last = stuck->numbers + j;
        require_refused(stuck, last, INFINITY);
        require_refused(stuck, last, NAN);
        for (int array = 1; array < 4; array++) {
            require_refused(stuck, last + array * COLUMNS, -1);
            require_refused(stuck, last + array * COLUMNS, NAN);
            require_refused(stuck, last + array * COLUMNS, 1e300);
        }
        require_refused(stuck, last + COLUMNS, 1000); /* no rows left for the run */
        require_refused(stuck, last + 4 * COLUMNS, 0);
        require_refused(stuck, last + 4 * COLUMNS, NAN);
    }
    stuck->rows_to_forget += 256;
    assert_int_equal(oif_stuck_check(stuck, NULL), OIF_EINVARIANT);
    stuck->rows_to_forget -= 256;
    stuck->learned++;
    assert_int_equal(oif_stuck_check(stuck, NULL), OIF_EINVARIANT);
    oif_memory_free(stuck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_has_the_evidence_of_the_definition),
        cmocka_unit_test(a_column_that_never_repeats_is_stuck_after_two_equal_rows),
        cmocka_unit_test(evidence_grows_up_to_a_bound_while_a_column_is_stuck),
        cmocka_unit_test(a_column_constant_by_nature_is_never_stuck),
        cmocka_unit_test(a_column_that_repeats_may_repeat_for_longer),
        cmocka_unit_test(a_run_that_was_accepted_is_usual_from_then_on),
        cmocka_unit_test(a_run_that_is_learned_as_it_grows_is_still_found),
        cmocka_unit_test(a_run_that_was_not_accepted_is_not_learned),
        cmocka_unit_test(long_runs_are_forgotten_slowly),
        cmocka_unit_test(a_missing_number_neither_continues_a_run_nor_ends_it),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
