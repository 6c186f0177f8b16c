#include "pipeline/senses/stuck.h"

#include "base/invariant.h"
#include "base/stable_math.h"

#include <math.h>
#include <string.h>

enum {
    FORGET_ROWS = 256,  /* between two times of forgetting */
    FORGET_SHARE = 64,  /* one part in this many is forgotten, ... */
    FORGET_MOST = 4,    /* ... but at most this many rows of a run */
    LEAST_CHANGES = 32, /* of a column that is not simply constant */
    ARRAYS = 5
};

static const double most_rows = 0x1p53; /* more than any stream has */

/* ---- Layout ---- */

static double *array_at(const oif_stuck *stuck, size_t array)
{
    return (double *)stuck->numbers + array * stuck->columns;
}

static double *last_of(const oif_stuck *stuck)
{
    return array_at(stuck, 0);
}

static double *start_of(const oif_stuck *stuck)
{
    return array_at(stuck, 1);
}

static double *longest_of(const oif_stuck *stuck)
{
    return array_at(stuck, 2);
}

static double *changes_of(const oif_stuck *stuck)
{
    return array_at(stuck, 3);
}

static double *limit_of(const oif_stuck *stuck)
{
    return array_at(stuck, 4);
}

double oif_stuck_run(const oif_stuck *stuck, size_t column)
{
    return (double)stuck->rows - start_of(stuck)[column];
}

size_t oif_stuck_bytes(size_t columns)
{
    return oif_size_align(
        oif_size_add(sizeof(oif_stuck), oif_size_multiply(columns, ARRAYS * sizeof(double))));
}

/* ---- Judging ---- */

static const double most_exponent = 8, most_evidence = 1.6;

/* The exponent of the tail of a column's runs. */
static double exponent_of(double longest, double changes)
{
    double exponent = oif_log2(1 + changes) / oif_log2(1 + longest);
    return exponent < most_exponent ? exponent : most_exponent;
}

/* The longest usual run. */
static double limit_for(double longest, double changes)
{
    const double rarer_bits = 3;
    if (!(changes >= LEAST_CHANGES))
        return INFINITY;
    return (longest + 1) * oif_exp2(rarer_bits / exponent_of(longest, changes));
}

static __attribute__((noinline)) void set_limits(oif_stuck *stuck)
{
    for (size_t j = 0; j < stuck->columns; j++)
        limit_of(stuck)[j] = limit_for(longest_of(stuck)[j], changes_of(stuck)[j]);
}

void oif_stuck_init(oif_stuck *stuck, size_t columns)
{
    stuck->columns = (uint32_t)columns;
    for (size_t j = 0; j < columns; j++)
        last_of(stuck)[j] = NAN;
    set_limits(stuck);
}

/* Updates the runs of all columns; returns whether one may exceed its limit. */
static bool follow_runs(oif_stuck *stuck, const double *restrict row)
{
    double *restrict last = last_of(stuck), *restrict start = start_of(stuck),
                     *restrict longest = longest_of(stuck), *restrict changes = changes_of(stuck);
    const double *restrict limit = limit_of(stuck);
    const double before = (double)stuck->rows, now = before + 1, learned = (double)stuck->learned;
    const size_t columns = stuck->columns;
    bool may_be_over = false, ended_longest = false;
    for (size_t j = 0; j < columns; j++) {
        const double x = row[j];
        if (x == last[j]) {
            may_be_over |= now - start[j] > limit[j];
        } else if (x == x) {
            const double ended = learned - start[j];
            if (ended > longest[j]) {
                longest[j] = ended;
                ended_longest = true;
            }
            changes[j] += 1;
            start[j] = before;
            last[j] = x;
        } else {
            may_be_over |= before - start[j] > limit[j];
            start[j] += 1;
        }
    }
    stuck->rows++;
    if (ended_longest)
        set_limits(stuck);
    return may_be_over || ended_longest;
}

static double evidence_of(const oif_stuck *stuck, size_t column)
{
    const double run = oif_stuck_run(stuck, column), limit = limit_of(stuck)[column];
    if (!(run > limit))
        return 0;
    const double evidence =
        exponent_of(longest_of(stuck)[column], changes_of(stuck)[column]) * oif_log2(run / limit);
    return evidence < most_evidence ? evidence : most_evidence;
}

double oif_stuck_observe(oif_stuck *stuck, const double *row, double seconds, size_t *column)
{
    (void)seconds;
    stuck->may_be_over = follow_runs(stuck, row);
    if (!stuck->may_be_over)
        return 0;
    double most = 0;
    for (size_t j = 0; j < stuck->columns; j++) {
        double evidence = row[j] == row[j] ? evidence_of(stuck, j) : 0;
        if (evidence > most) {
            most = evidence;
            *column = j;
        }
    }
    return most;
}

/* ---- Learning ---- */

static void forget(oif_stuck *stuck)
{
    double *longest = longest_of(stuck), *changes = changes_of(stuck);
    for (size_t j = 0; j < stuck->columns; j++) {
        double share = longest[j] / FORGET_SHARE;
        longest[j] -= share < FORGET_MOST ? share : FORGET_MOST;
        longest[j] = longest[j] > 1 ? longest[j] : 1;
        changes[j] -= changes[j] / FORGET_SHARE;
    }
    stuck->rows_to_forget = 0;
    set_limits(stuck);
}

/* A run over the limit becomes the longest, even while it continues. */
static void accept_long_runs(oif_stuck *stuck)
{
    for (size_t j = 0; j < stuck->columns; j++)
        if (oif_stuck_run(stuck, j) > limit_of(stuck)[j])
            longest_of(stuck)[j] = oif_stuck_run(stuck, j);
    set_limits(stuck);
}

void oif_stuck_learn(oif_stuck *stuck, bool is_change)
{
    stuck->learned = stuck->rows;
    if (stuck->may_be_over && is_change)
        accept_long_runs(stuck);
    if (++stuck->rows_to_forget >= FORGET_ROWS)
        forget(stuck);
}

void oif_stuck_widen(oif_stuck *wide, const oif_stuck *stuck)
{
    wide->rows_to_forget = stuck->rows_to_forget;
    wide->rows = stuck->rows;
    wide->learned = stuck->learned;
    wide->may_be_over = stuck->may_be_over;
    for (size_t i = 0; i < ARRAYS; i++)
        memcpy(array_at(wide, i), array_at(stuck, i), stuck->columns * sizeof(double));
    for (size_t j = stuck->columns; j < wide->columns; j++) {
        start_of(wide)[j] = (double)stuck->rows;
        longest_of(wide)[j] = stuck->rows >= FORGET_ROWS; /* as `forget` leaves it */
    }
    set_limits(wide);
}

/* ---- Snapshots ---- */

void oif_stuck_visit_fields(oif_stuck *stuck, oif_state_visitor *visitor)
{
    static const char *const names[ARRAYS] = {"stuck_last", "stuck_start", "stuck_longest",
                                              "stuck_changes", "stuck_limit"};
    oif_visit_u64(visitor, "stuck_rows", &stuck->rows, 1);
    oif_visit_u64(visitor, "stuck_learned", &stuck->learned, 1);
    oif_visit_u32(visitor, "stuck_rows_to_forget", &stuck->rows_to_forget, 1);
    for (size_t i = 0; i < ARRAYS; i++)
        oif_visit_f64(visitor, names[i], array_at(stuck, i), stuck->columns);
}

static bool is_count(double number, double most)
{
    return number >= 0 && number <= most;
}

oif_status oif_stuck_check(const oif_stuck *stuck, oif_error *error)
{
    const double rows = (double)stuck->rows;
    oif_check check = {error, NULL, 0};
    OIF_REQUIRE(&check, stuck->rows_to_forget < FORGET_ROWS,
                "the sense for stuck columns forgot too late");
    OIF_REQUIRE(&check, rows < most_rows && stuck->learned <= stuck->rows,
                "the sense for stuck columns has learned more rows than there are");
    for (uint32_t j = 0; j < stuck->columns; j++) {
        const double last = last_of(stuck)[j];
        check = (oif_check){error, "stuck column", j + 1};
        OIF_REQUIRE(&check, !isinf(last), "the last value is infinite");
        OIF_REQUIRE(&check,
                    is_count(start_of(stuck)[j], rows) &&
                        (start_of(stuck)[j] == rows) == isnan(last),
                    "the run of the last value begins nowhere");
        OIF_REQUIRE(&check, is_count(longest_of(stuck)[j], most_rows),
                    "the longest run is no number of rows");
        OIF_REQUIRE(&check, is_count(changes_of(stuck)[j], most_rows),
                    "the changes are no number of rows");
        OIF_REQUIRE(&check, limit_of(stuck)[j] >= longest_of(stuck)[j],
                    "the longest run is not a usual one");
    }
    return OIF_OK;
}
