/* What a detector provides: one table of functions per kind of detector.
 *
 *     oif_detector_learn(detector, row)              include/oif.h: the public call
 *         detector.c      checks the row               the same for every kind
 *         kind->learn_rows(state, rows)              the kind's own work
 *
 * A detector is one block of memory: the header that detector.c owns, then the kind's state, then,
 * where whole rows are inserted, the ranges of the recent rows.
 */
#ifndef OIF_DETECT_DETECTOR_H
#define OIF_DETECT_DETECTOR_H

#include "base/column_names.h"
#include "base/pool.h"
#include "base/state_visitor.h"
#include "detect/params.h"
#include "detect/score_scale.h"
#include "oif.h"

#include <float.h>

/* ---- Rows ---- */

/* A block of rows without infinities. Row i starts at values[i * stride]. */
typedef struct oif_rows {
    const double *values;
    size_t count;
    size_t stride;
    bool complete; /* no value is missing */
} oif_rows;

static inline const double *oif_rows_at(const oif_rows *rows, size_t i)
{
    return rows->values + i * rows->stride;
}

/* Whether every number is finite or missing, as in rows that passed oif_row_check.
 * Without a branch, so compilers test several numbers at once. */
static inline bool oif_none_infinite(const double *numbers, size_t count)
{
    unsigned infinite = 0;
    for (size_t i = 0; i < count; i++)
        infinite |= (unsigned)(numbers[i] > DBL_MAX) | (unsigned)(numbers[i] < -DBL_MAX);
    return !infinite;
}

/* Whether no value of the row is missing. */
bool oif_row_is_complete(const double *row, size_t columns);

/* OIF_EVALUE   a value of the row is infinite; error->line is `row_number` */
oif_status oif_row_check(const double *row, size_t columns, size_t row_number, oif_error *error);

/* More rows than any stream has. A detector that claims more is broken.
 * So counts of rows never overflow. */
#define OIF_MAX_ROWS_LEARNED (UINT64_C(3) << 62)

static inline bool oif_rows_complete_at(const oif_rows *rows, size_t i, size_t dimension)
{
    return rows->complete || oif_row_is_complete(oif_rows_at(rows, i), dimension);
}

/* The rows from `from` on, `most` of them at most. */
static inline oif_rows oif_rows_from(const oif_rows *rows, size_t from, size_t most)
{
    size_t left = rows->count - from;
    return (oif_rows){oif_rows_at(rows, from), left < most ? left : most, rows->stride,
                      rows->complete};
}

/* ---- Threads ---- */

/* For fewer rows, waking the threads costs more than they save. */
enum { OIF_ROWS_WORTH_SHARING = 32 };

static inline oif_pool *oif_pool_worth(oif_pool *pool, size_t rows)
{
    return rows < OIF_ROWS_WORTH_SHARING ? NULL : pool;
}

/* Scores rows, each independently of the others. */
typedef void (*oif_score_function)(const void *state, const oif_rows *rows, double *scores);

/* Scores rows with `score`. The threads of the pool, which may be NULL, share the rows. */
void oif_rows_score(const oif_rows *rows, oif_score_function score, const void *state,
                    double *scores, oif_pool *pool);

/* ---- Kinds of detectors ---- */

/* A kind of detector. The state is one block of memory without pointers into itself,
 * so a copy of its bytes is a clone. */
typedef struct oif_detector_kind {
    /* Name, parameters and texts: everything that users can ask for. */
    oif_detector_info info;

    oif_score_scale scale;

    /* Whether the parameters, each of them in its range, fit together.
     * NULL where any do.
     *
     * OIF_EPARAM   they do not; the message says what to change */
    oif_status (*check_params)(const oif_params *params, oif_error *error);

    /* The bytes of the state; SIZE_MAX when no machine can hold it. */
    size_t (*state_bytes)(const oif_params *params, size_t columns);

    /* Fills a state that is all zero. */
    void (*init)(void *state, const oif_params *params, size_t columns);

    /* The depth that a score of 1/2 means, with parameters that insert whole rows (row_ranges.h);
     * 0 with others. NULL where no row is ever inserted. */
    double (*insertion_depth)(const oif_params *params);

    /* Learns the rows in order. scores[i] gets the score of row i right after it was learned;
     * `scores` may be NULL. The threads of the pool, which may be NULL, may share the work;
     * they must not change a bit of the results. */
    void (*learn_rows)(void *state, const oif_rows *rows, double *scores, oif_pool *pool);

    /* Scores rows without learning them. Threads call it at the same time. */
    oif_score_function score_rows;

    /* Learns the rows in order, as learn_rows. scores[i] gets the score of row i right before it
     * was learned: the bits of score_rows, then learn_rows, row by row. Costs what learn_rows with
     * scores does: most kinds walk once. */
    void (*score_learn_rows)(void *state, const oif_rows *rows, double *scores, oif_pool *pool);

    /* Whether enough rows were learned for scores to mean something. */
    bool (*ready)(const void *state);

    /* Visits every field that learning changes, in a fixed order: the snapshot.
     * What follows from the parameters is not visited; `init` sets it. */
    void (*visit_fields)(void *state, oif_state_visitor *visitor);

    /* Reports figures about what was learned, such as the leaves of a tree. */
    void (*describe)(const void *state, oif_describe_function report, void *context);

    /* Verifies every invariant. Trusts only what follows from the parameters, because the fields
     * may come from a damaged snapshot. A state that passes is safe for every other function.
     *
     * OIF_EINVARIANT   the message names the broken one */
    oif_status (*check)(const void *state, oif_error *error);
} oif_detector_kind;

/* All kinds, then NULL: kinds.c. CONTRIBUTING.md lists what a new detector needs. */
extern const oif_detector_kind *const oif_detector_kinds[];

/* The kind that these are the parameters of. NULL when `params` is NULL or zeroed, or holds
 * something else, such as the options of a pipeline. */
const oif_detector_kind *oif_detector_kind_of(const oif_params *params);

/* ---- Inside a detector, for the rest of the library ---- */

/* Copies what another detector with the same parameters and columns has learned.
 * The column names stay. */
void oif_detector_assign(oif_detector *detector, const oif_detector *other);

/* The bytes of the block of memory that a detector is: a whole number of cache lines. Names and
 * threads are not in it; a detector without either is copied by copying the block. */
size_t oif_detector_block_bytes(const oif_detector *detector);
bool oif_detector_is_one_block(const oif_detector *detector);
bool oif_detector_is_in_callers_memory(const oif_detector *detector);

/* As oif_detector_reset, but names and threads do not stay. */
void oif_detector_strip(oif_detector *detector);

/* What its scores are. */
oif_score_scale oif_detector_scale(const oif_detector *detector);

/* Visits every field that learning changes: rows_learned, those of the kind, the ranges of rows. */
void oif_detector_visit_fields(oif_detector *detector, oif_state_visitor *visitor);

/* The column names, or NULL. `take` frees those before; the detector then owns `names`. */
const oif_column_names *oif_detector_names(const oif_detector *detector);
void oif_detector_take_names(oif_detector *detector, oif_column_names *names);

/* The kind's state, for tests that look inside. */
const void *oif_detector_state(const oif_detector *detector);

#endif
