/* The public calls of detectors. Checks are the same for every kind; the kind's own functions
 * (detector.h) do the work. */
#include "detect/detector.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "detect/row_insertion.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct oif_detector {
    const oif_detector_kind *kind;
    oif_params params;
    size_t columns;
    size_t bytes;           /* of the whole block, including this header */
    double insertion_depth; /* 0: rows are not inserted, and there are no ranges */
    size_t ranges_at;       /* offset of the ranges in the block, or where they would be */
    uint64_t rows_learned;
    oif_column_names *names; /* NULL while the columns are unnamed */
    oif_pool *pool;          /* NULL with one thread; clones start with NULL */
    bool is_callers_memory;  /* the caller owns this block; it is not freed */
    _Alignas(OIF_CACHE_LINE_BYTES) unsigned char state[];
};

static oif_row_ranges *ranges_of(const oif_detector *detector)
{
    return (oif_row_ranges *)((unsigned char *)detector + detector->ranges_at);
}

static oif_row_insertion insertion_of(const oif_detector *detector)
{
    return (oif_row_insertion){ranges_of(detector), detector->insertion_depth};
}

/* ---- Creation ---- */

static double insertion_depth(const oif_detector_kind *kind, const oif_params *params)
{
    return kind->insertion_depth ? kind->insertion_depth(params) : 0;
}

/* The bytes of header and state. */
static size_t bytes_before_ranges(const oif_detector_kind *kind, const oif_params *params,
                                  size_t columns)
{
    return oif_size_align(oif_size_add(sizeof(oif_detector), kind->state_bytes(params, columns)));
}

static oif_status fail_kind(const oif_params *params, oif_error *error)
{
    if (params && params->table && strchr(params->table->name, '+'))
        return oif_fail(error, OIF_EPARAM,
                        "%s is a list of detectors; they judge together in a pipeline",
                        params->table->name);
    return oif_fail(error, OIF_EPARAM,
                    "these are not the parameters of a detector; fill them with oif_params_init");
}

oif_status oif_detector_estimate_bytes(const oif_params *params, size_t columns, size_t *bytes,
                                       oif_error *error)
{
    const oif_detector_kind *kind = oif_detector_kind_of(params);
    if (!kind)
        return fail_kind(params, error);
    oif_status status = oif_params_check(params, error);
    if (status == OIF_OK && kind->check_params)
        status = kind->check_params(params, error);
    if (status != OIF_OK)
        return status;
    if (columns == 0)
        return oif_fail(error, OIF_EPARAM, "a row needs at least one number");
    if (columns > OIF_COLUMNS_MAX)
        return oif_fail(error, OIF_EPARAM, "a row of %zu columns is too long; the limit is %d",
                        columns, OIF_COLUMNS_MAX);

    size_t total = bytes_before_ranges(kind, params, columns);
    if (insertion_depth(kind, params) > 0)
        total = oif_size_add(total, oif_row_ranges_bytes(columns));
    if (total == SIZE_MAX)
        return oif_fail(error, OIF_EMEMORY, "a detector of this size exceeds the address space");
    *bytes = total;
    return OIF_OK;
}

/* Initialises a zeroed state, and the ranges if there are any. */
static void init_state(oif_detector *detector)
{
    detector->kind->init(detector->state, &detector->params, detector->columns);
    if (detector->insertion_depth > 0)
        oif_row_ranges_init(ranges_of(detector), detector->columns);
}

/* Builds a detector from checked parameters in memory of that many bytes. */
static void fill(oif_detector *made, size_t bytes, const oif_params *params, size_t columns)
{
    memset(made, 0, bytes); /* padding too: equal detectors have equal bytes */
    made->kind = oif_detector_kind_of(params);
    made->params = *params;
    made->columns = columns;
    made->bytes = bytes;
    made->insertion_depth = insertion_depth(made->kind, params);
    made->ranges_at = bytes_before_ranges(made->kind, params, columns);
    init_state(made);
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
    fill(made, bytes, params, columns);
    *detector = made;
    return OIF_OK;
}

oif_status oif_detector_init(void *memory, size_t memory_bytes, const oif_params *params,
                             size_t columns, oif_detector **detector, oif_error *error)
{
    size_t bytes = 0;
    oif_status status = oif_detector_estimate_bytes(params, columns, &bytes, error);
    if (status != OIF_OK)
        return status;
    if (!memory || memory_bytes < bytes)
        return oif_fail(error, OIF_EPARAM, "the detector needs %zu bytes and there are %zu", bytes,
                        memory ? memory_bytes : 0);
    if ((uintptr_t)memory % OIF_MEMORY_ALIGNMENT != 0)
        return oif_fail(error, OIF_EPARAM, "the memory must be aligned to %d bytes",
                        OIF_MEMORY_ALIGNMENT);
    fill(memory, bytes, params, columns);
    *detector = memory;
    (*detector)->is_callers_memory = true;
    return OIF_OK;
}

void oif_detector_reset(oif_detector *detector)
{
    memset(detector->state, 0, detector->bytes - offsetof(oif_detector, state));
    detector->rows_learned = 0;
    init_state(detector);
}

void oif_detector_strip(oif_detector *detector)
{
    oif_pool_free(detector->pool);
    detector->pool = NULL;
    oif_detector_take_names(detector, NULL);
    oif_detector_reset(detector);
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
    made->is_callers_memory = false;
    *copy = made;
    return OIF_OK;
}

void oif_detector_assign(oif_detector *detector, const oif_detector *other)
{
    oif_pool *pool = detector->pool;
    oif_column_names *names = detector->names;
    bool is_callers_memory = detector->is_callers_memory;
    memcpy(detector, other, detector->bytes);
    detector->pool = pool;
    detector->names = names;
    detector->is_callers_memory = is_callers_memory;
}

void oif_detector_widen(oif_detector *wide, const oif_detector *detector,
                        const oif_widening *widening)
{
    const oif_detector_kind *kind = detector->kind;
    if (!kind->widen)
        return;
    kind->widen(wide->state, detector->state, widening);
    if (detector->insertion_depth > 0)
        oif_row_ranges_widen(ranges_of(wide), ranges_of(detector), widening);
    wide->rows_learned = detector->rows_learned;
}

void oif_detector_free(oif_detector *detector)
{
    if (!detector)
        return;
    oif_pool_free(detector->pool);
    oif_column_names_free(detector->names);
    if (!detector->is_callers_memory)
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
    const size_t ranges =
        detector->insertion_depth > 0 ? oif_row_ranges_bytes(detector->columns) : 0;
    return oif_pool_set(&detector->pool, threads,
                        ranges > OIF_THREAD_BYTES ? ranges : OIF_THREAD_BYTES, error);
}

/* ---- Rows ---- */

/* A vector type: the compiler uses the machine's vector instructions. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* 0 times two numbers. */
OIF_INLINE pair zero_times(const double *numbers)
{
    pair two;
    memcpy(&two, numbers, sizeof two);
    return two * 0.0;
}

/* Whether a value is infinite or missing. Zero times such a value is NaN, and so is the sum. Two
 * sums, so an addition need not wait for the one before. */
static bool has_unusual(const double *row, size_t columns)
{
    pair sums = {0, 0}, others = sums;
    size_t i = 0;
    for (; i + 4 <= columns; i += 4) {
        sums += zero_times(row + i);
        others += zero_times(row + i + 2);
    }
    if (i + 2 <= columns) {
        sums += zero_times(row + i);
        i += 2;
    }
    sums += others;
    double sum = sums[0] + sums[1];
    if (i < columns)
        sum += row[i] * 0.0;
    return sum != 0;
}

oif_status oif_row_check(const double *row, size_t columns, size_t row_number, oif_error *error)
{
    for (size_t i = 0; i < columns; i++)
        if (row[i] > DBL_MAX || row[i] < -DBL_MAX)
            return oif_fail_because_at(
                error, OIF_EVALUE, OIF_CAUSE_INFINITE_VALUE, row_number, i + 1,
                "column %zu of the row is infinite; use NaN for a missing value", i + 1);
    return OIF_OK;
}

static oif_status check_rows(const oif_detector *detector, oif_rows *rows, oif_error *error)
{
    rows->complete = true;
    if (rows->count > 1 && rows->stride < detector->columns)
        return oif_fail(error, OIF_EPARAM,
                        "the stride from row to row is %zu, less than the %zu columns of a row",
                        rows->stride, detector->columns);
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

OIF_AVX2 static bool none_infinite_avx2(const double *numbers, size_t count)
{
    return oif_none_infinite(numbers, count);
}

bool oif_none_of_many_infinite(const double *numbers, size_t count)
{
    return (oif_machine_has_avx2() ? none_infinite_avx2 : oif_none_infinite)(numbers, count);
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
    if (!sharing) {
        score(state, rows, scores);
        return;
    }
    scoring s = {rows, score, state, scores, oif_pool_parts(sharing)};
    oif_pool_run(sharing, score_part, &s);
}

/* Scores and inserts some rows of a block. Other threads may take the other rows. */
static void score_and_insert(const void *context, const oif_rows *rows, double *scores)
{
    const oif_detector *detector = context;
    const oif_row_insertion insertion = insertion_of(detector);
    detector->kind->score_rows(detector->state, rows, scores);
    oif_row_insertion_score_rows(&insertion, rows, scores);
}

/* Learns rows that the kind has learned and scored. */
OIF_INLINE void insert_and_learn(oif_detector *detector, const oif_rows *rows, double *scores,
                                 bool scores_first)
{
    const oif_row_insertion insertion = insertion_of(detector);
    if (insertion.depth > 0)
        oif_row_insertion_learn(&insertion, rows, scores, scores_first, detector->pool);
    detector->rows_learned += rows->count;
}

static oif_status learn_checked(oif_detector *detector, oif_rows rows, double *scores,
                                oif_error *error)
{
    oif_status status = check_rows(detector, &rows, error);
    if (status != OIF_OK)
        return status;
    detector->kind->learn_rows(detector->state, &rows, scores, detector->pool);
    insert_and_learn(detector, &rows, scores, false);
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
    if (status != OIF_OK)
        return status;
    if (detector->insertion_depth > 0)
        oif_rows_score(&block, score_and_insert, detector, scores, detector->pool);
    else
        oif_rows_score(&block, detector->kind->score_rows, detector->state, scores, detector->pool);
    return OIF_OK;
}

oif_status oif_detector_score_learn_rows(oif_detector *detector, const double *rows, size_t count,
                                         size_t stride, double *scores, oif_error *error)
{
    oif_rows block = {rows, count, stride, true};
    oif_status status = check_rows(detector, &block, error);
    if (status != OIF_OK)
        return status;
    detector->kind->score_learn_rows(detector->state, &block, scores, detector->pool);
    insert_and_learn(detector, &block, scores, true);
    return OIF_OK;
}

oif_status oif_detector_score_learn(oif_detector *detector, const double *row, double *score,
                                    oif_error *error)
{
    return oif_detector_score_learn_rows(detector, row, 1, detector->columns, score, error);
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

/* Scales numbers, all at least 0, to a sum of 1, unless all are 0. */
static void make_shares(double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    for (size_t i = 0; i < count && sum > 0; i++)
        numbers[i] /= sum;
}

/* The score of a row without a column in all its steps. The kind sees the column as missing. The
 * ranges skip it, because a missing value may itself be the anomaly. */
static double score_without(const oif_detector *detector, const double *row, size_t column,
                            size_t step_columns, double *scratch)
{
    const oif_rows block = {scratch, 1, detector->columns, false};
    const oif_columns_left_out left_out = {column, step_columns};
    double score;
    memcpy(scratch, row, detector->columns * sizeof *row);
    for (size_t i = column; i < detector->columns; i += step_columns)
        scratch[i] = NAN;
    detector->kind->score_rows(detector->state, &block, &score);
    const oif_row_insertion insertion = insertion_of(detector);
    return insertion.depth > 0 ? oif_row_insertion_score(&insertion, scratch, score, &left_out)
                               : score;
}

oif_status oif_detector_explain(const oif_detector *detector, const double *row,
                                size_t step_columns, double *shares, double *scratch,
                                oif_error *error)
{
    const size_t columns = detector->columns;
    double score;
    if (step_columns == 0 || columns % step_columns != 0)
        return oif_fail(error, OIF_EPARAM,
                        "a row of %zu numbers cannot be divided into steps of %zu columns", columns,
                        step_columns);
    oif_status status = oif_detector_score(detector, row, &score, error);
    for (size_t column = 0; column < step_columns && status == OIF_OK; column++) {
        double without = score_without(detector, row, column, step_columns, scratch);
        shares[column] = score > without ? score - without : 0;
    }
    if (status == OIF_OK)
        make_shares(shares, step_columns);
    return status;
}

/* ---- Questions ---- */

bool oif_detector_usual_range(const oif_detector *detector, size_t column, double *low,
                              double *high)
{
    return detector->insertion_depth > 0 &&
           oif_row_ranges_usual(ranges_of(detector), column, low, high);
}

oif_score_scale oif_detector_scale(const oif_detector *detector)
{
    return detector->kind->scale;
}

double oif_detector_severity(const oif_detector *detector, double score)
{
    return oif_score_severity(detector->kind->scale, detector->kind->rarity, score);
}

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

void oif_detector_unchanged(const oif_detector *detector, const oif_unchanged *unchanged)
{
    if (unchanged->rows != OIF_ALL_ROWS && unchanged->rows >= detector->rows_learned)
        return; /* it may have been reset among these rows */
    if (detector->kind->unchanged)
        detector->kind->unchanged(detector->state, unchanged);
    if (detector->insertion_depth > 0)
        oif_row_ranges_unchanged(ranges_of(detector), unchanged);
}

size_t oif_detector_block_bytes(const oif_detector *detector)
{
    return detector->bytes;
}

bool oif_detector_is_one_block(const oif_detector *detector)
{
    return !detector->names && !detector->pool;
}

bool oif_detector_is_in_callers_memory(const oif_detector *detector)
{
    return detector->is_callers_memory;
}

oif_status oif_detector_check(const oif_detector *detector, oif_error *error)
{
    if (detector->rows_learned > OIF_MAX_ROWS_LEARNED)
        return oif_fail(error, OIF_EINVARIANT, "more rows were learned than any stream has");
    oif_status status = detector->kind->check(detector->state, error);
    if (status == OIF_OK && detector->insertion_depth > 0)
        status = oif_row_ranges_check(ranges_of(detector), error);
    return status;
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
    if (detector->insertion_depth > 0)
        oif_row_ranges_visit_fields(ranges_of(detector), visitor);
}

const void *oif_detector_state(const oif_detector *detector)
{
    return detector->state;
}
