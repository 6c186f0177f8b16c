/* The public calls of detectors. The checks are the same for every kind; the work is done by the
 * functions of the kind (detector.h). */
#include "detect/detector.h"

#include "base/error.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct oif_detector {
    const oif_detector_kind *kind;
    oif_params params;
    size_t columns;
    size_t bytes; /* of the whole block, this header included */
    uint64_t rows_learned;
    oif_column_names *names; /* NULL while the columns have none */
    oif_pool *pool;          /* NULL while one thread does the work; clones start without */
    _Alignas(OIF_CACHE_LINE_BYTES) unsigned char state[];
};

/* ---- Creation ---- */

oif_status oif_detector_estimate_bytes(const oif_params *params, size_t columns, size_t *bytes,
                                       oif_error *error)
{
    const oif_detector_kind *kind = oif_detector_kind_of(params);
    if (!kind)
        return oif_fail(error, OIF_EPARAM,
                        "these are not the parameters of a detector; fill them with "
                        "oif_params_init");
    oif_status status = oif_params_check(params, error);
    if (status == OIF_OK && kind->check_params)
        status = kind->check_params(params, error);
    if (status != OIF_OK)
        return status;
    if (columns == 0)
        return oif_fail(error, OIF_EPARAM, "a row needs at least one number");
    if (columns > OIF_COLUMNS_MAX)
        return oif_fail(error, OIF_EPARAM, "a row of %zu numbers is too long", columns);

    size_t total =
        oif_size_align(oif_size_add(sizeof(oif_detector), kind->state_bytes(params, columns)));
    if (total == SIZE_MAX)
        return oif_fail(error, OIF_EMEMORY, "a detector of this size does not fit any memory");
    *bytes = total;
    return OIF_OK;
}

oif_status oif_detector_new(const oif_params *params, size_t columns, oif_detector **detector,
                            oif_error *error)
{
    size_t bytes = 0;
    oif_status status = oif_detector_estimate_bytes(params, columns, &bytes, error);
    if (status != OIF_OK)
        return status;
    oif_detector *made = oif_memory_new(bytes);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for a detector of %zu bytes", bytes);
    memset(made, 0, bytes); /* padding too: equal detectors are equal bytes */
    made->kind = oif_detector_kind_of(params);
    made->params = *params;
    made->columns = columns;
    made->bytes = bytes;
    made->kind->init(made->state, params, columns);
    *detector = made;
    return OIF_OK;
}

oif_status oif_detector_clone(const oif_detector *detector, oif_detector **copy, oif_error *error)
{
    oif_column_names *names;
    oif_status status = oif_column_names_clone(detector->names, &names, error);
    if (status != OIF_OK)
        return status;
    oif_detector *made = oif_memory_new(detector->bytes);
    if (!made) {
        oif_column_names_free(names);
        return oif_fail(error, OIF_EMEMORY, "no memory for a detector of %zu bytes",
                        detector->bytes);
    }
    memcpy(made, detector, detector->bytes);
    made->names = names;
    made->pool = NULL;
    *copy = made;
    return OIF_OK;
}

void oif_detector_assign(oif_detector *detector, const oif_detector *other)
{
    oif_pool *pool = detector->pool;
    oif_column_names *names = detector->names;
    memcpy(detector, other, detector->bytes);
    detector->pool = pool;
    detector->names = names;
}

void oif_detector_free(oif_detector *detector)
{
    if (!detector)
        return;
    oif_pool_free(detector->pool);
    oif_column_names_free(detector->names);
    oif_memory_free(detector);
}

/* ---- Names of columns ---- */

void oif_detector_take_names(oif_detector *detector, oif_column_names *names)
{
    oif_column_names_free(detector->names);
    detector->names = names;
}

const oif_column_names *oif_detector_names(const oif_detector *detector)
{
    return detector->names;
}

oif_status oif_detector_name_columns(oif_detector *detector, const char *const *names,
                                     oif_error *error)
{
    oif_column_names *made = NULL;
    oif_status status =
        names ? oif_column_names_new(names, detector->columns, &made, error) : OIF_OK;
    if (status == OIF_OK)
        oif_detector_take_names(detector, made);
    return status;
}

const char *oif_detector_column_name(const oif_detector *detector, size_t column)
{
    return oif_column_names_at(detector->names, column);
}

/* ---- Threads ---- */

oif_status oif_detector_set_threads(oif_detector *detector, unsigned threads, oif_error *error)
{
    if (threads < 1 || threads > OIF_POOL_MAX_PARTS)
        return oif_fail(error, OIF_EPARAM, "threads must be a whole number from 1 to %d",
                        OIF_POOL_MAX_PARTS);
    oif_pool *pool = threads > 1 ? oif_pool_new(threads) : NULL;
    if (threads > 1 && !pool)
        return oif_fail(error, OIF_EMEMORY, "could not start %u threads", threads - 1);
    oif_pool_free(detector->pool);
    detector->pool = pool;
    return OIF_OK;
}

/* ---- Rows ---- */

/* Whether a value is infinite or missing. Without a branch, so compilers test several at once. */
static bool has_unusual(const double *row, size_t columns)
{
    unsigned unusual = 0;
    for (size_t i = 0; i < columns; i++)
        unusual |= !(row[i] >= -DBL_MAX && row[i] <= DBL_MAX);
    return unusual;
}

oif_status oif_row_check(const double *row, size_t columns, size_t row_number, oif_error *error)
{
    for (size_t i = 0; i < columns; i++)
        if (row[i] > DBL_MAX || row[i] < -DBL_MAX)
            return oif_fail_at(error, OIF_EVALUE, row_number, i + 1,
                               "number %zu of the row is infinite; use NaN for a missing one",
                               i + 1);
    return OIF_OK;
}

static oif_status check_rows(const oif_detector *detector, oif_rows *rows, oif_error *error)
{
    rows->complete = true;
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = oif_rows_at(rows, i);
        if (!has_unusual(row, detector->columns))
            continue;
        rows->complete = false;
        oif_status status = oif_row_check(row, detector->columns, i + 1, error);
        if (status != OIF_OK)
            return status;
    }
    return OIF_OK;
}

bool oif_row_is_complete(const double *row, size_t columns)
{
    unsigned missing = 0;
    for (size_t i = 0; i < columns; i++)
        missing |= row[i] != row[i];
    return !missing;
}

typedef struct scoring {
    const oif_rows *rows;
    oif_score_function score;
    const void *state;
    double *scores;
    unsigned parts;
} scoring;

static void score_part(void *context, unsigned part)
{
    const scoring *s = context;
    size_t first = s->rows->count * part / s->parts, end = s->rows->count * (part + 1) / s->parts;
    oif_rows some = {oif_rows_at(s->rows, first), end - first, s->rows->stride, s->rows->complete};
    s->score(s->state, &some, s->scores + first);
}

void oif_rows_score(const oif_rows *rows, oif_score_function score, const void *state,
                    double *scores, oif_pool *pool)
{
    oif_pool *sharing = oif_pool_worth(pool, rows->count);
    scoring s = {rows, score, state, scores, oif_pool_parts(sharing)};
    oif_pool_run(sharing, score_part, &s);
}

static oif_status learn_checked(oif_detector *detector, oif_rows rows, double *scores,
                                oif_error *error)
{
    oif_status status = check_rows(detector, &rows, error);
    if (status != OIF_OK)
        return status;
    detector->kind->learn_rows(detector->state, &rows, scores, detector->pool);
    detector->rows_learned += rows.count;
    return OIF_OK;
}

oif_status oif_detector_learn_rows(oif_detector *detector, const double *rows, size_t count,
                                   size_t stride, oif_error *error)
{
    return learn_checked(detector, (oif_rows){rows, count, stride, true}, NULL, error);
}

oif_status oif_detector_learn_score_rows(oif_detector *detector, const double *rows, size_t count,
                                         size_t stride, double *scores, oif_error *error)
{
    return learn_checked(detector, (oif_rows){rows, count, stride, true}, scores, error);
}

oif_status oif_detector_score_rows(const oif_detector *detector, const double *rows, size_t count,
                                   size_t stride, double *scores, oif_error *error)
{
    oif_rows block = {rows, count, stride, true};
    oif_status status = check_rows(detector, &block, error);
    if (status == OIF_OK)
        oif_rows_score(&block, detector->kind->score_rows, detector->state, scores, detector->pool);
    return status;
}

oif_status oif_detector_learn(oif_detector *detector, const double *row, oif_error *error)
{
    return oif_detector_learn_rows(detector, row, 1, detector->columns, error);
}

oif_status oif_detector_score(const oif_detector *detector, const double *row, double *score,
                              oif_error *error)
{
    return oif_detector_score_rows(detector, row, 1, detector->columns, score, error);
}

oif_status oif_detector_learn_score(oif_detector *detector, const double *row, double *score,
                                    oif_error *error)
{
    return oif_detector_learn_score_rows(detector, row, 1, detector->columns, score, error);
}

/* ---- Explanations ---- */

/* Scales numbers, none below 0, to a sum of 1, unless all are 0. */
static void make_shares(double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    for (size_t i = 0; i < count && sum > 0; i++)
        numbers[i] /= sum;
}

oif_status oif_detector_explain(const oif_detector *detector, const double *row,
                                size_t step_columns, double *shares, double *scratch,
                                oif_error *error)
{
    const size_t columns = detector->columns;
    double score, without;
    if (step_columns == 0 || columns % step_columns != 0)
        return oif_fail(error, OIF_EPARAM,
                        "rows of %zu numbers do not consist of steps of %zu columns", columns,
                        step_columns);
    oif_status status = oif_detector_score(detector, row, &score, error);
    for (size_t column = 0; column < step_columns && status == OIF_OK; column++) {
        memcpy(scratch, row, columns * sizeof *row);
        for (size_t i = column; i < columns; i += step_columns)
            scratch[i] = NAN;
        status = oif_detector_score(detector, scratch, &without, error);
        shares[column] = score > without ? score - without : 0;
    }
    if (status == OIF_OK)
        make_shares(shares, step_columns);
    return status;
}

/* ---- Questions ---- */

bool oif_detector_ready(const oif_detector *detector)
{
    return detector->kind->ready(detector->state);
}

const oif_params *oif_detector_params(const oif_detector *detector)
{
    return &detector->params;
}

size_t oif_detector_columns(const oif_detector *detector)
{
    return detector->columns;
}

uint64_t oif_detector_rows_learned(const oif_detector *detector)
{
    return detector->rows_learned;
}

size_t oif_detector_memory_bytes(const oif_detector *detector)
{
    return detector->bytes + oif_column_names_memory_bytes(detector->names);
}

oif_status oif_detector_check(const oif_detector *detector, oif_error *error)
{
    if (detector->rows_learned > OIF_MAX_ROWS_LEARNED)
        return oif_fail(error, OIF_EINVARIANT, "more rows were learned than any stream has");
    return detector->kind->check(detector->state, error);
}

void oif_detector_describe(const oif_detector *detector, oif_describe_function report,
                           void *context)
{
    detector->kind->describe(detector->state, report, context);
}

void oif_detector_visit_fields(oif_detector *detector, oif_state_visitor *visitor)
{
    oif_visit_u64(visitor, "rows_learned", &detector->rows_learned, 1);
    detector->kind->visit_fields(detector->state, visitor);
}

const void *oif_detector_state(const oif_detector *detector)
{
    return detector->state;
}
