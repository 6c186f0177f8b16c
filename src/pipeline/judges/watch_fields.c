/* The fields of a watch: snapshots, more columns, and whether they are possible. */
#include "base/invariant.h"
#include "pipeline/judges/watch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, OIF_FIELD_F64, offsetof(oif_column_watch, member), 1                              \
    }
#define NUMBERS(member, count)                                                                     \
    {                                                                                              \
#member, OIF_FIELD_F64, offsetof(oif_column_watch, member), count                          \
    }
#define COUNT(member)                                                                              \
    {                                                                                              \
#member, OIF_FIELD_U32, offsetof(oif_column_watch, member), 1                              \
    }
#define PART(name, type, member)                                                                   \
    {                                                                                              \
        name, type, offsetof(oif_column_watch, member), 1                                          \
    }
#define USUAL_SIZE(name, magnitude) OIF_USUAL_FIELDS(name, oif_column_watch, sizes[magnitude])

static const oif_field column_fields[] = {NUMBERS(last, OIF_WATCH_LAGS),
                                          NUMBER(level),
                                          NUMBER(spread),
                                          NUMBER(recent),
                                          NUMBER(flutter),
                                          NUMBER(nearer),
                                          NUMBER(usual_run),
                                          NUMBER(usual_gap),
                                          USUAL_SIZE("step_1", OIF_STEP_OF_1),
                                          USUAL_SIZE("step_2", OIF_STEP_OF_2),
                                          USUAL_SIZE("step_4", OIF_STEP_OF_4),
                                          USUAL_SIZE("amplitude", OIF_AMPLITUDE),
                                          USUAL_SIZE("distance", OIF_DISTANCE),
                                          COUNT(values),
                                          COUNT(level_values),
                                          COUNT(beyond),
                                          PART("is_back", OIF_FIELD_U64, is_back),
                                          COUNT(changes),
                                          COUNT(run),
                                          COUNT(gap),
                                          NUMBERS(start, OIF_WATCH_START)};

void oif_watch_visit_fields(oif_watch *watch, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "watch_rows", &watch->rows, 1);
    oif_visit_u64(visitor, "moves_since", &watch->moves_since, 1);
    oif_visit_f64(visitor, "moves", watch->moves, OIF_MOVES);
    oif_visit_f64(visitor, "squares", watch->squares, OIF_WATCH_WINDOW);
    oif_usual_visit_fields(&watch->energy, visitor);
    oif_visit_u32(visitor, "unseen", &watch->unseen, 1);
    oif_visit_records(visitor,
                      &(oif_records){column_fields, sizeof column_fields / sizeof *column_fields,
                                     watch->column, sizeof *watch->column, watch->columns});
}

void oif_watch_widen(oif_watch *wide, const oif_watch *watch)
{
    const uint32_t columns = wide->columns;
    memcpy(wide, watch, sizeof *watch + watch->columns * sizeof *watch->column);
    wide->columns = columns;
    wide->unseen += columns - watch->columns;
}

/* ---- Checks ---- */

static bool are_finite(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(numbers[i]) <= DBL_MAX))
            return false;
    return true;
}

static bool is_amount(double number)
{
    return number >= 0 && number <= DBL_MAX;
}

static bool is_length(double rows)
{
    return rows >= 1 && rows <= 0x1p40;
}

static bool are_values(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isinf(values[i]))
            return false;
    return true;
}

static oif_status check_column(const oif_column_watch *c, const oif_check *check)
{
    const uint32_t most = 1U << 30;
    OIF_REQUIRE(check, are_values(c->last, OIF_WATCH_LAGS), "a value is infinite");
    OIF_REQUIRE(check,
                are_finite(&c->level, 1) && are_finite(&c->recent, 1) && is_amount(c->spread) &&
                    is_amount(c->flutter) && are_finite(c->start, OIF_WATCH_START),
                "its level is none");
    OIF_REQUIRE(check, c->nearer >= 0 && c->nearer <= 1, "a share is not between 0 and 1");
    OIF_REQUIRE(check, is_length(c->usual_run) && is_length(c->usual_gap),
                "a run has fewer rows than one, or more than any stream");
    OIF_REQUIRE(check,
                c->values <= most && c->level_values <= c->values && c->beyond <= most &&
                    c->is_back <= 1 && c->changes <= most && c->run <= most && c->gap <= most &&
                    c->changes <= c->values,
                "it counts more values than it had");
    for (size_t i = 0; i < OIF_MAGNITUDES; i++)
        OIF_REQUIRE(check, oif_usual_check(&c->sizes[i]), "a usual size is impossible");
    return OIF_OK;
}

static uint32_t count_unseen(const oif_watch *watch)
{
    uint32_t unseen = 0;
    for (size_t j = 0; j < watch->columns; j++)
        unseen += watch->column[j].values == 0;
    return unseen;
}

oif_status oif_watch_check(const oif_watch *watch, oif_error *error)
{
    const double most_square = 900; /* of 30 deviations */
    oif_check check = {error, NULL, 0};
    OIF_REQUIRE(&check, watch->moves_since <= watch->rows, "moves vary since a row to come");
    OIF_REQUIRE(&check, are_finite(watch->moves, OIF_MOVES), "a move is not finite");
    for (size_t i = 0; i < OIF_WATCH_WINDOW; i++)
        OIF_REQUIRE(&check, watch->squares[i] >= 0 && watch->squares[i] <= most_square,
                    "a square is no mean of squared deviations");
    OIF_REQUIRE(&check, oif_usual_check(&watch->energy), "the usual energy is impossible");
    OIF_REQUIRE(&check, watch->unseen == count_unseen(watch), "unseen columns are miscounted");
    for (uint32_t j = 0; j < watch->columns; j++) {
        check = (oif_check){error, "watched column", j + 1};
        const oif_status status = check_column(&watch->column[j], &check);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}
