/* Differences, rates and logarithms against a twin that keeps all rows. */
#include "../detect/driver.h"

#include "pipeline/columns/derived_columns.h"

#include <float.h>

enum { COLUMNS = 4 };

/* ---- One column ---- */

static oif_derived_plan plan_of(size_t column, oif_derive kind, bool keeps)
{
    oif_derived_plan plan;
    oif_derived_plan_init(&plan, COLUMNS);
    assert_int_equal(oif_derived_plan_add(&plan, column, kind, keeps, NULL), OIF_OK);
    return plan;
}

static oif_derived_state *state_of(const oif_derived_plan *plan)
{
    oif_derived_state *state = malloc(oif_derived_state_bytes(plan));
    assert_non_null(state);
    oif_derived_state_init(plan, state);
    return state;
}

static void assert_same_number(double found, double expected)
{
    if (!(found == expected || (isnan(found) && isnan(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

typedef struct step {
    double seconds, value, expected;
} step;

/* The derived values of column 1, row by row. */
static void check_steps(oif_derive kind, const step *steps, size_t count)
{
    oif_derived_plan plan = plan_of(1, kind, false);
    oif_derived_state *state = state_of(&plan);
    for (size_t i = 0; i < count; i++) {
        double row[COLUMNS] = {7, steps[i].value, NAN, -1}, out[COLUMNS] = {0};
        oif_derived_row(&plan, state, row, steps[i].seconds, out);
        if (!oif_derived_state_check(&plan, state))
            fail_msg("after row %zu the state is inconsistent", i);
        if (!(out[1] == steps[i].expected || (isnan(out[1]) && isnan(steps[i].expected))))
            fail_msg("row %zu: %.17g instead of %.17g", i, out[1], steps[i].expected);
        assert_same_number(out[0], 7);
        assert_same_number(out[2], NAN);
        assert_same_number(out[3], -1);
    }
    free(state);
    oif_derived_plan_free(&plan);
}

#define CHECK_STEPS(kind, ...)                                                                     \
    check_steps(kind, (const step[]){__VA_ARGS__},                                                 \
                sizeof((const step[]){__VA_ARGS__}) / sizeof(step))

static void a_difference_is_that_to_the_row_before(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_DIFF, {NAN, 5, NAN}, {NAN, 7, 2}, {NAN, 4, -3}, {NAN, NAN, NAN},
                {NAN, 9, NAN}, {NAN, 9, 0}, {3, 1e308, 1e308}, {2, -1e308, NAN}, {1, 0, 1e308});
}

static void a_rate_is_per_second_and_a_fall_a_new_start_at_0(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_RATE, {100, 1000, NAN}, {110, 1500, 50}, {110.5, 1500, 0},
                {112.5, 30, 15}, {113.5, 31, 1}, {114.5, 0, 0});
}

static void a_rate_skips_rows_without_value_or_time(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_RATE, {100, 1000, NAN}, {110, NAN, NAN}, {NAN, 1300, NAN},
                {INFINITY, 1300, NAN}, {NAN, 1350, NAN}, {120, 1400, 20});
}

static void a_rate_needs_a_step_forward_in_time(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_RATE, {100, 1000, NAN}, {100, 1010, NAN}, {101, 1020, 20},
                {90, 900, NAN}, {102, 1032, 11}, {4e9, 1033, 1 / (4e9 - 102)}, {103, 1034, NAN},
                {104, 1040, 6});
}

static void without_times_a_rate_is_per_row(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_RATE, {NAN, 10, NAN}, {NAN, 14, 4}, {NAN, NAN, NAN}, {NAN, 20, 3},
                {50, 30, NAN}, {52, 40, 5}, {NAN, 45, NAN}, {54, 50, 5});
}

static void a_rate_that_overflows_is_missing(void **state)
{
    (void)state;
    CHECK_STEPS(OIF_DERIVE_RATE, {1, -1e308, NAN}, {2, 1e308, NAN},
                {2 + DBL_EPSILON * 2, 1, 1 / (DBL_EPSILON * 2)},
                {3, 1e308, 1e308 / (1 - DBL_EPSILON * 2)}, {1e308, 1e308, 0}, {-1e308, 1, NAN},
                {1e308, 2, NAN}, {-1, 1, NAN}, {0, -5, NAN}, {1, -4, 1});
}

static void a_logarithm_is_that_of_libm_or_missing(void **state)
{
    (void)state;
    oif_derived_plan plan = plan_of(1, OIF_DERIVE_LOG, false);
    oif_derived_state *s = state_of(&plan);
    dice from = {.state = 3};
    double out[COLUMNS];
    for (int i = 0; i < 100000; i++) {
        double value = exp(dice_unit(&from) * 1400 - 700), row[COLUMNS] = {0, value, 0, 0};
        oif_derived_row(&plan, s, row, i, out);
        if (!(fabs(out[1] - log(value)) <= 1e-12 + 1e-15 * fabs(log(value))))
            fail_msg("log(%.17g) is %.17g instead of %.17g", value, out[1], log(value));
    }
    static const double values[] = {5e-324, 1e-310, DBL_MIN, DBL_MAX, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        oif_derived_row(&plan, s, (double[]){0, values[i], 0, 0}, 1, out);
        if (!(fabs(out[1] - log(values[i])) <= 1e-12))
            fail_msg("log(%.17g) is %.17g", values[i], out[1]);
    }
    static const double none[] = {0, -0.0, -1, -DBL_MAX, NAN};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        oif_derived_row(&plan, s, (double[]){0, none[i], 0, 0}, 1, out);
        assert_same_number(out[1], NAN);
    }
    free(s);
    oif_derived_plan_free(&plan);
}

/* ---- Plans ---- */

/* The learned columns as text: "log(a)". */
static void check_names(const oif_derived_plan *plan, const char *const *expected, size_t count)
{
    assert_int_equal(plan->derived_columns, count);
    for (size_t i = 0; i < count; i++) {
        oif_derive kind;
        size_t column = oif_derived_source(plan, i, &kind);
        char text[16];
        assert_true(column < COLUMNS);
        snprintf(text, sizeof text, kind == OIF_DERIVE_NONE ? "%s%c" : "%s(%c)",
                 oif_derive_word(kind), "abcd"[column]);
        assert_string_equal(text, expected[i]);
    }
}

static void a_column_goes_unless_one_of_its_derivations_keeps_it(void **state)
{
    (void)state;
    oif_derived_plan plan, copy;
    oif_derived_plan_init(&plan, COLUMNS);
    check_names(&plan, (const char *const[]){"a", "b", "c", "d"}, 4);
    assert_int_equal(oif_derived_plan_add(&plan, 2, OIF_DERIVE_RATE, false, NULL), OIF_OK);
    check_names(&plan, (const char *const[]){"a", "b", "rate(c)", "d"}, 4);
    assert_int_equal(oif_derived_plan_add(&plan, 0, OIF_DERIVE_LOG, true, NULL), OIF_OK);
    check_names(&plan, (const char *const[]){"a", "log(a)", "b", "rate(c)", "d"}, 5);
    assert_int_equal(oif_derived_plan_add(&plan, 2, OIF_DERIVE_DIFF, false, NULL), OIF_OK);
    check_names(&plan, (const char *const[]){"a", "log(a)", "b", "rate(c)", "diff(c)", "d"}, 6);
    assert_int_equal(oif_derived_plan_add(&plan, 2, OIF_DERIVE_LOG, true, NULL), OIF_OK);
    assert_int_equal(oif_derived_plan_add(&plan, 0, OIF_DERIVE_DIFF, false, NULL), OIF_OK);
    const char *const all[] = {"a",       "log(a)",  "diff(a)", "b", "c",
                               "rate(c)", "diff(c)", "log(c)",  "d"};
    check_names(&plan, all, 9);
    assert_int_equal(oif_derived_plan_clone(&plan, &copy, NULL), OIF_OK);
    oif_derived_plan_free(&plan);
    check_names(&copy, all, 9);
    oif_derived_plan_free(&copy);
}

static void a_plan_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    oif_derived_plan plan = plan_of(1, OIF_DERIVE_RATE, false);
    oif_error error;
    assert_int_equal(oif_derived_plan_add(&plan, 4, OIF_DERIVE_RATE, true, &error), OIF_EPARAM);
    assert_string_equal(error.message, "there is no column 4 among 4");
    assert_int_equal(oif_derived_plan_add(&plan, 1, OIF_DERIVE_RATE, true, &error), OIF_EPARAM);
    assert_string_equal(error.message, "column 1 is derived in this way already");
    assert_int_equal(oif_derived_plan_add(&plan, 0, (oif_derive)4, true, &error), OIF_EPARAM);
    assert_int_equal(oif_derived_plan_add(&plan, 0, OIF_DERIVE_NONE, true, &error), OIF_EPARAM);
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.derived_columns, COLUMNS);
    oif_derived_plan_free(&plan);
}

/* ---- The twin: keeps all rows and finds every derived value by looking back ---- */

enum { ROWS = 400 };

typedef struct history {
    double rows[ROWS][COLUMNS], seconds[ROWS];
} history;

static double twin_rate(const history *h, int row, size_t column)
{
    double value = h->rows[row][column], at = h->seconds[row];
    int before = -1;
    if (isnan(value) || isnan(at))
        return NAN;
    for (int i = 0; i < row; i++) { /* the last one taken */
        bool is_known = !isnan(h->rows[i][column]) && !isnan(h->seconds[i]);
        if (is_known && (before < 0 || h->seconds[i] != h->seconds[before]))
            before = i;
    }
    if (before < 0 || at <= h->seconds[before])
        return NAN;
    double increase = value - h->rows[before][column];
    return (increase < 0 ? value : increase) / (at - h->seconds[before]);
}

static double twin_value(const history *h, int row, size_t column, oif_derive kind)
{
    double value = h->rows[row][column];
    if (kind == OIF_DERIVE_RATE)
        return twin_rate(h, row, column);
    return row == 0 ? NAN : value - h->rows[row - 1][column];
}

static void make_history(history *h, dice *from)
{
    double now = 1e9;
    for (int i = 0; i < ROWS; i++) {
        now += (double)dice_below(from, 5) - 1; /* also the same time, and back */
        h->seconds[i] = i > 0 && dice_chance(from, 0.1) ? NAN : now;
        for (size_t j = 0; j < COLUMNS; j++)
            h->rows[i][j] = dice_chance(from, 0.1) ? NAN : (double)dice_below(from, 100);
    }
}

static void random_rows_become_what_the_twin_finds(void **state)
{
    (void)state;
    static history h;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        dice from = {.state = seed};
        oif_derived_plan plan;
        oif_derived_plan_init(&plan, COLUMNS);
        for (size_t i = 0; i < COLUMNS; i++)
            assert_int_equal(oif_derived_plan_add(&plan, i,
                                                  i % 2 ? OIF_DERIVE_RATE : OIF_DERIVE_DIFF,
                                                  dice_chance(&from, 0.5), NULL),
                             OIF_OK);
        oif_derived_state *s = state_of(&plan);
        make_history(&h, &from);
        for (int i = 0; i < ROWS; i++) {
            double out[2 * COLUMNS], *next = out;
            oif_derived_row(&plan, s, h.rows[i], h.seconds[i], out);
            assert_true(oif_derived_state_check(&plan, s));
            for (size_t j = 0; j < COLUMNS; j++) {
                if (plan.list[j].keeps)
                    assert_same_number(*next++, h.rows[i][j]);
                double expected = twin_value(&h, i, j, plan.list[j].kind), found = *next++;
                if (!(found == expected || (isnan(found) && isnan(expected))))
                    fail_msg("seed %" PRIu64 ", row %d, column %zu: %.17g instead of %.17g", seed,
                             i, j, found, expected);
            }
        }
        free(s);
        oif_derived_plan_free(&plan);
    }
}

/* ---- Snapshots ---- */

typedef struct recorder {
    oif_state_visitor visitor;
    unsigned char bytes[256];
    size_t count;
    bool reads;
} recorder;

static void record(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                   size_t count)
{
    recorder *r = (recorder *)self;
    size_t bytes = oif_field_type_bytes(type) * count;
    (void)name;
    assert_true(r->count + bytes <= sizeof r->bytes);
    if (r->reads)
        memcpy(values, r->bytes + r->count, bytes);
    else
        memcpy(r->bytes + r->count, values, bytes);
    r->count += bytes;
}

static void a_state_that_is_read_back_goes_on_the_same(void **state)
{
    (void)state;
    oif_derived_plan plan = plan_of(1, OIF_DERIVE_RATE, true);
    assert_int_equal(oif_derived_plan_add(&plan, 3, OIF_DERIVE_DIFF, false, NULL), OIF_OK);
    oif_derived_state *a = state_of(&plan), *b = state_of(&plan);
    double from_a[2 * COLUMNS], from_b[2 * COLUMNS];
    dice from = {.state = 9};
    recorder writer = {.visitor = {.visit = record}}, reader;
    for (int i = 0; i < 10; i++)
        oif_derived_row(&plan, a, (double[]){1, i * 7.0, 2, i * i}, i < 4 ? (double)NAN : i,
                        from_a);
    oif_derived_state_visit_fields(&plan, a, &writer.visitor);
    reader = writer;
    reader.reads = true;
    reader.count = 0;
    oif_derived_state_visit_fields(&plan, b, &reader.visitor);
    assert_int_equal(reader.count, writer.count);
    for (int i = 10; i < 20; i++) {
        double row[] = {1, dice_unit(&from), 2, dice_unit(&from)};
        oif_derived_row(&plan, a, row, i, from_a);
        oif_derived_row(&plan, b, row, i, from_b);
        assert_memory_equal(from_a, from_b, plan.derived_columns * sizeof *from_a);
    }
    free(b);
    free(a);
    oif_derived_plan_free(&plan);
}

static void a_damaged_state_is_found(void **state)
{
    (void)state;
    oif_derived_plan plan = plan_of(1, OIF_DERIVE_RATE, true);
    assert_int_equal(oif_derived_plan_add(&plan, 2, OIF_DERIVE_LOG, false, NULL), OIF_OK);
    assert_int_equal(oif_derived_plan_add(&plan, 3, OIF_DERIVE_DIFF, false, NULL), OIF_OK);
    oif_derived_state *s = state_of(&plan);
    const oif_derived_sample good[] = {{1, 2}, {NAN, NAN}, {3, NAN}};
    static const struct {
        size_t at;
        oif_derived_sample sample;
    } bad[] = {{0, {INFINITY, 2}}, {0, {1, -INFINITY}},   {0, {NAN, 2}}, {1, {1, NAN}},
               {1, {NAN, 1}},      {2, {-INFINITY, NAN}}, {2, {1, 1}}};
    memcpy(s->samples, good, sizeof good);
    assert_true(oif_derived_state_check(&plan, s));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(s->samples, good, sizeof good);
        s->samples[bad[i].at] = bad[i].sample;
        if (oif_derived_state_check(&plan, s))
            fail_msg("damage %zu is not found", i);
    }
    memcpy(s->samples, good, sizeof good);
    s->has_time = 2;
    assert_false(oif_derived_state_check(&plan, s));
    free(s);
    oif_derived_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_that_to_the_row_before),
        cmocka_unit_test(a_rate_is_per_second_and_a_fall_a_new_start_at_0),
        cmocka_unit_test(a_rate_skips_rows_without_value_or_time),
        cmocka_unit_test(a_rate_needs_a_step_forward_in_time),
        cmocka_unit_test(without_times_a_rate_is_per_row),
        cmocka_unit_test(a_rate_that_overflows_is_missing),
        cmocka_unit_test(a_logarithm_is_that_of_libm_or_missing),
        cmocka_unit_test(a_column_goes_unless_one_of_its_derivations_keeps_it),
        cmocka_unit_test(a_plan_refuses_what_it_cannot_do),
        cmocka_unit_test(random_rows_become_what_the_twin_finds),
        cmocka_unit_test(a_state_that_is_read_back_goes_on_the_same),
        cmocka_unit_test(a_damaged_state_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
