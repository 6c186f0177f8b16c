/* The sense for columns that follow each other, against a twin for one pair that keeps all rows and
 * sums them with weights, and the cases it is meant for. */
#include "../detect/any_detector.h"

#include "base/memory.h"
#include "pipeline/judges/partner.h"

enum { MAX_COLUMNS = 24, TRIAL = 128, NONE = 99 };

static oif_partner *new_partner(size_t columns)
{
    size_t bytes = oif_partner_bytes(columns);
    oif_partner *partner = oif_memory_new(bytes);
    assert_non_null(partner);
    memset(partner, 0, bytes);
    oif_partner_init(partner, columns);
    return partner;
}

static void require_sound(const oif_partner *partner)
{
    oif_error error;
    require_ok_or(oif_partner_check(partner, &error), error);
}

static double observe(oif_partner *partner, const double *row, size_t *column, int *direction)
{
    *column = NONE;
    *direction = 0;
    return oif_partner_observe(partner, row, column, direction);
}

/* ---- The twin: does the first of two columns follow the second? ---- */

enum { MAX_ROWS = 4000 };

typedef struct line {
    double column_mean, partner_mean, slope;
} line;

typedef struct twin {
    int count; /* of rows that the line is fitted to */
    double y[MAX_ROWS], x[MAX_ROWS], weights[MAX_ROWS];
    double residuals[MAX_ROWS]; /* of the rows after the trial, each before it is learned */
    bool is_link;
    int trial_rows, rows;
} twin;

/* Least squares with weights that add up to 1. */
static line twin_line(const twin *t)
{
    line l = {0, 0, 0};
    double squares = 0, products = 0;
    for (int i = 0; i < t->count; i++) {
        l.column_mean += t->weights[i] * t->y[i];
        l.partner_mean += t->weights[i] * t->x[i];
    }
    for (int i = 0; i < t->count; i++) {
        double x = t->x[i] - l.partner_mean;
        squares += t->weights[i] * x * x;
        products += t->weights[i] * x * (t->y[i] - l.column_mean);
    }
    l.slope = products / squares;
    return l;
}

static double twin_residual(const twin *t, const double *row)
{
    line l = twin_line(t);
    return row[0] - l.column_mean - l.slope * (row[1] - l.partner_mean);
}

/* A series without its mean and trend. */
static void remove_trend(const double *series, double *left)
{
    double mean = 0, products = 0, times = 0;
    for (int i = 0; i < TRIAL; i++)
        mean += series[i] / TRIAL;
    for (int i = 0; i < TRIAL; i++) {
        products += (series[i] - mean) * (i - (TRIAL - 1) / 2.0);
        times += (i - (TRIAL - 1) / 2.0) * (i - (TRIAL - 1) / 2.0);
    }
    for (int i = 0; i < TRIAL; i++)
        left[i] = series[i] - mean - products / times * (i - (TRIAL - 1) / 2.0);
}

static double product(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < TRIAL; i++)
        sum += a[i] * b[i];
    return sum;
}

static void twin_end_trial(twin *t)
{
    double y[TRIAL], x[TRIAL];
    remove_trend(t->y, y);
    remove_trend(t->x, x);
    double both = product(y, x);
    t->is_link = both * both >= 0.8 * product(y, y) * product(x, x);
    t->count = t->is_link ? TRIAL : 0;
    t->rows = 0;
    for (int i = 0; i < t->count; i++)
        t->weights[i] = 1.0 / TRIAL;
}

static void twin_learn(twin *t, const double *row, bool is_in_trials)
{
    if (t->is_link) {
        double weight = t->rows + TRIAL + 1 < 1024 ? 1.0 / (t->rows + TRIAL + 1) : 1.0 / 1024;
        t->residuals[t->rows++] = twin_residual(t, row);
        for (int i = 0; i < t->count; i++)
            t->weights[i] *= 1 - weight;
        t->weights[t->count] = weight;
    } else if (!is_in_trials) {
        return;
    }
    t->y[t->count] = row[0];
    t->x[t->count++] = row[1];
    if (!t->is_link && t->count == TRIAL)
        twin_end_trial(t);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the last 16 largest residuals of 64 rows each. */
static double twin_usual(const twin *t)
{
    double largest[16];
    int full = t->rows / 64, count = full < 16 ? full : 16;
    for (int i = 0; i < count; i++) {
        largest[i] = 0;
        for (int k = 0; k < 64; k++)
            largest[i] = fmax(largest[i], fabs(t->residuals[(full - 1 - i) * 64 + k]));
    }
    qsort(largest, (size_t)count, sizeof *largest, by_size);
    return largest[count / 2];
}

static double twin_evidence(const twin *t, const double *row)
{
    if (!t->is_link || t->rows < 512)
        return 0;
    double size = fabs(twin_residual(t, row)), usual = twin_usual(t);
    double widths = (size - usual) / (2 * usual);
    return size > usual ? log2(1 + widths * widths / 2) : 0;
}

static void a_pair_has_the_evidence_of_the_definition(void **state)
{
    (void)state;
    static twin t;
    for (int noise = 1; noise <= 2; noise++) {
        dice from = {20 + (uint64_t)noise};
        oif_partner *partner = new_partner(2);
        memset(&t, 0, sizeof t);
        int unusual = 0;
        for (int i = 0; i < 3500; i++) {
            double row[2] = {1e6, -3e3 + 40 * dice_normal(&from)};
            row[0] += 7 * row[1] + 50 * noise * dice_normal(&from);
            if (i < 300) /* they do not follow each other yet */
                row[0] = dice_normal(&from);
            if (dice_chance(&from, 0.004))
                row[0] += 400;
            size_t column;
            int direction;
            double got = observe(partner, row, &column, &direction),
                   expected = twin_evidence(&t, row);
            if (fabs(got - expected) > 1e-6 * (1 + expected))
                fail_msg("noise %d, row %d: evidence %.12g, by definition %.12g", noise, i, got,
                         expected);
            unusual += got > 0;
            oif_partner_learn(partner, row);
            twin_learn(&t, row, i % 2 == 0);
        }
        require_sound(partner);
        assert_true(unusual > 15); /* otherwise nothing was compared */
        oif_memory_free(partner);
    }
}

/* ---- What it is meant for ---- */

/* Five columns; the fourth follows the second, downwards. */
static void make_row(dice *from, double row[5])
{
    for (int j = 0; j < 5; j++)
        row[j] = 100 + dice_normal(from);
    row[3] = 500 - 2 * row[1] + 0.2 * dice_normal(from);
}

/* Learns some rows; returns the largest evidence. */
static double learn_rows(oif_partner *partner, dice *from, int rows)
{
    double row[5], most = 0;
    size_t column;
    int direction;
    for (int i = 0; i < rows; i++) {
        make_row(from, row);
        most = fmax(most, observe(partner, row, &column, &direction));
        oif_partner_learn(partner, row);
    }
    return most;
}

static void a_column_that_no_longer_follows_its_partner_is_noticed(void **state)
{
    (void)state;
    dice from = {1};
    oif_partner *partner = new_partner(5);
    double row[5];
    size_t column;
    expect_within(learn_rows(partner, &from, 6000), 0, 0.3, "the evidence of ordinary rows");
    make_row(&from, row);
    row[3] += 3; /* within the range of its column */
    int direction;
    expect_within(observe(partner, row, &column, &direction), 1, 9, "the evidence");
    size_t other = oif_partner_of(partner, column);
    assert_true((column == 1 && other == 3) || (column == 3 && other == 1));
    assert_int_equal(direction, 1);
    row[3] -= 6;
    observe(partner, row, &column, &direction);
    assert_int_equal(direction, -1);
    assert_int_equal(oif_partner_of(partner, 0), 0);
    oif_memory_free(partner);
}

static void columns_that_only_seem_to_follow_each_other_are_no_partners(void **state)
{
    (void)state;
    enum { WALKS = 10 };
    for (int rises = 0; rises < 2; rises++) {
        dice from = {2};
        oif_partner *partner = new_partner(WALKS);
        double row[WALKS] = {0};
        for (int i = 0; i < 30000; i++) {
            for (int j = 0; j < WALKS; j++)
                row[j] += dice_normal(&from) + 5 * rises;
            size_t column;
            int direction;
            double evidence = observe(partner, row, &column, &direction);
            if (evidence > 0)
                fail_msg("rises %d, row %d: evidence %g in column %zu", rises, i, evidence, column);
            oif_partner_learn(partner, row);
        }
        oif_memory_free(partner);
    }
}

static void a_link_that_was_broken_for_long_is_given_up_and_another_found(void **state)
{
    (void)state;
    dice from = {3};
    oif_partner *partner = new_partner(5);
    double row[5];
    learn_rows(partner, &from, 6000);
    assert_true(oif_partner_of(partner, 3) == 1 || oif_partner_of(partner, 1) == 3);
    for (int i = 0; i < 6000; i++) {
        make_row(&from, row);
        row[3] = row[4] + 0.1 * dice_normal(&from);
        oif_partner_learn(partner, row);
    }
    assert_true(oif_partner_of(partner, 3) == 4 || oif_partner_of(partner, 4) == 3);
    assert_true(oif_partner_of(partner, 1) == 1);
    size_t column;
    int direction;
    row[3] = row[4] + 2;
    expect_within(observe(partner, row, &column, &direction), 1, 9, "the evidence");
    oif_memory_free(partner);
}

/* More pairs than links, the later ones closer: these win. */
static void the_closest_partners_are_kept(void **state)
{
    (void)state;
    dice from = {4};
    oif_partner *partner = new_partner(MAX_COLUMNS);
    for (int i = 0; i < 20000; i++) {
        double row[MAX_COLUMNS];
        for (int j = 0; j < MAX_COLUMNS; j += 2) {
            row[j] = dice_normal(&from);
            row[j + 1] = row[j] + (j < 12 ? 0.4 : 0.01) * dice_normal(&from);
        }
        oif_partner_learn(partner, row);
        require_sound(partner);
    }
    for (size_t j = 12; j < MAX_COLUMNS; j += 2)
        if (oif_partner_of(partner, j) != j + 1 && oif_partner_of(partner, j + 1) != j)
            fail_msg("columns %zu and %zu are no partners", j, j + 1);
    oif_memory_free(partner);
}

static void a_missing_number_says_nothing(void **state)
{
    (void)state;
    dice from = {5};
    oif_partner *partner = new_partner(5);
    double row[5];
    size_t column;
    int direction;
    learn_rows(partner, &from, 6000);
    for (int i = 0; i < 2000; i++) {
        make_row(&from, row);
        row[3] = NAN;
        assert_true(observe(partner, row, &column, &direction) == 0);
        oif_partner_learn(partner, row);
        require_sound(partner);
    }
    expect_within(learn_rows(partner, &from, 100), 0, 0.3, "the evidence of ordinary rows");
    make_row(&from, row);
    row[3] += 3;
    expect_within(observe(partner, row, &column, &direction), 1, 9, "the evidence");
    oif_memory_free(partner);
}

static void columns_that_are_equal_may_differ_by_rounding(void **state)
{
    (void)state;
    dice from = {6};
    oif_partner *partner = new_partner(2);
    double row[2];
    size_t column;
    int direction;
    for (int i = 0; i < 3000; i++) {
        row[0] = row[1] = dice_normal(&from);
        oif_partner_learn(partner, row);
    }
    row[1] += 1e-6;
    assert_true(observe(partner, row, &column, &direction) == 0);
    row[1] += 1;
    expect_within(observe(partner, row, &column, &direction), 2, 30, "the evidence");
    oif_memory_free(partner);
}

/* Two columns of every style, and sums of both. */
static void any_numbers_leave_it_sound(void **state)
{
    (void)state;
    for (style of = NORMAL; of < STYLES; of++)
        for (style other = NORMAL; other < STYLES; other++) {
            dice from = {100 + of};
            oif_partner *partner = new_partner(4);
            for (uint64_t i = 0; i < 2500; i++) {
                style now = i < 1500 ? of : other;
                double x = number_in_style(&from, now, i), y = number_in_style(&from, now, i);
                double row[4] = {x, x / 2 + y / 1000, y / 4, x};
                for (int j = 0; j < 4; j++)
                    row[j] = isinf(row[j]) ? 1e308 : row[j];
                size_t column;
                int direction;
                double evidence = observe(partner, row, &column, &direction);
                if (!(evidence >= 0 && evidence < 1000))
                    fail_msg("styles %d, %d: evidence %g", of, other, evidence);
                oif_partner_learn(partner, row);
                if (i % 16 == 0)
                    require_sound(partner);
            }
            oif_memory_free(partner);
        }
}

static void a_single_column_has_no_partner(void **state)
{
    (void)state;
    oif_partner *partner = new_partner(1);
    for (double x = 0; x < 3000; x++) {
        size_t column;
        int direction;
        assert_true(observe(partner, &x, &column, &direction) == 0);
        oif_partner_learn(partner, &x);
    }
    require_sound(partner);
    oif_memory_free(partner);
}

/* ---- Damage ---- */

/* The numeric fields of a link are adjacent, in order. */
static void damage_is_noticed(void **state)
{
    (void)state;
    dice from = {7};
    oif_partner *partner = new_partner(5);
    learn_rows(partner, &from, 6000);
    oif_partner_link *link = &partner->links[0], kept = *link;
    double *first = &link->column_origin, *end = &link->usual + 1;
    for (double *number = first; number < end; number++) {
        const double damaged[] = {NAN, INFINITY, -INFINITY};
        for (int i = 0; i < 3; i++) {
            *number = damaged[i];
            if (oif_partner_check(partner, NULL) != OIF_EINVARIANT)
                fail_msg("number %td may be %g", number - first, damaged[i]);
        }
        *link = kept;
    }
    link->column = 5;
    assert_int_equal(oif_partner_check(partner, NULL), OIF_EINVARIANT);
    link->column = link->partner;
    assert_int_equal(oif_partner_check(partner, NULL), OIF_EINVARIANT);
    *link = kept;
    partner->step = 3;
    assert_int_equal(oif_partner_check(partner, NULL), OIF_EINVARIANT);
    partner->step = 1;
    partner->trial_rows += 128;
    assert_int_equal(oif_partner_check(partner, NULL), OIF_EINVARIANT);
    oif_memory_free(partner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_has_the_evidence_of_the_definition),
        cmocka_unit_test(a_column_that_no_longer_follows_its_partner_is_noticed),
        cmocka_unit_test(columns_that_only_seem_to_follow_each_other_are_no_partners),
        cmocka_unit_test(a_link_that_was_broken_for_long_is_given_up_and_another_found),
        cmocka_unit_test(the_closest_partners_are_kept),
        cmocka_unit_test(a_missing_number_says_nothing),
        cmocka_unit_test(columns_that_are_equal_may_differ_by_rounding),
        cmocka_unit_test(any_numbers_leave_it_sound),
        cmocka_unit_test(a_single_column_has_no_partner),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
