/* What a detector provides: one table of functions per kind of detector.
 *
 *     oif_detector_learn(detector, row)              include/oif.h: the public call
 *         detector.c      checks the row               the same for every kind
 *         kind->learn_rows(state, rows)              the kind's own work
 *
 * A detector is one block of memory: a header owned by detector.c, the kind's state and, if whole
 * rows are inserted, the ranges of the recent rows.
 */
#ifndef OIF_DETECT_DETECTOR_H
#define OIF_DETECT_DETECTOR_H

#include "base/column_names.h"
#include "base/double_bits.h"
#include "base/pool.h"
#include "base/state_visitor.h"
#include "base/unchanged.h"
#include "base/vector.h"
#include "detect/params.h"
#include "detect/row_block.h"
#include "detect/score_scale.h"
#include "detect/widening.h"
#include "oif.h"

#include <float.h>

/* ---- Rows ---- */

/* Whether every number is finite or missing, as in rows that passed oif_row_check. Has no branch
 * and computes with the bits, so compilers can vectorise it. */
OIF_INLINE bool oif_none_infinite(const double *numbers, size_t count)
{
    const uint64_t sign = UINT64_C(1) << 63, infinite = UINT64_C(0x7FF0000000000000);
    uint64_t differ = sign; /* the top bit stays while all numbers differ from infinity */
    for (size_t i = 0; i < count; i++) {
        const uint64_t other = (oif_bits_of_double(numbers[i]) & ~sign) ^ infinite;
        differ &= other | (0 - other);
    }
    return differ >> 63;
}

/* The same for many numbers. */
bool oif_none_of_many_infinite(const double *numbers, size_t count);

/* Whether no value of the row is missing. */
bool oif_row_is_complete(const double *row, size_t columns);

/* OIF_EVALUE   a value of the row is infinite; error->line is `row_number` */
oif_status oif_row_check(const double *row, size_t columns, size_t row_number, oif_error *error);

/* More rows than any stream has, so row counts never overflow. A detector that claims more is
 * broken. */
#define OIF_MAX_ROWS_LEARNED (UINT64_C(3) << 62)

static inline bool oif_rows_complete_at(const oif_rows *rows, size_t i, size_t dimension)
{
    return rows->complete || oif_row_is_complete(oif_rows_at(rows, i), dimension);
}

/* ---- Threads ---- */

enum {
    OIF_ROWS_WORTH_SHARING = 32, /* with fewer, waking the threads costs more than it saves */
    OIF_THREAD_BYTES = 16384     /* of memory that each part of a detector's pool has, at least */
};

static inline oif_pool *oif_pool_worth(oif_pool *pool, size_t rows)
{
    return rows < OIF_ROWS_WORTH_SHARING ? NULL : pool;
}

/* Scores rows, each independently of the others. */
typedef void (*oif_score_function)(const void *state, const oif_rows *rows, double *scores);

/* Scores rows with `score`. The threads of the pool (may be NULL) share the rows. */
void oif_rows_score(const oif_rows *rows, oif_score_function score, const void *state,
                    double *scores, oif_pool *pool);

/* ---- Kinds of detectors ---- */

/* A kind of detector. The state is one block of memory without pointers into itself,
 * so a copy of its bytes is a clone. */
typedef struct oif_detector_kind {
    /* Name, parameters and texts that users can query. */
    oif_detector_info info;

    oif_score_scale scale;
    oif_score_rarity rarity; /* of scores among rows of several columns */

    /* Columns that stay constant change its scores, as it looks at them as often as at others. */
    bool minds_constants;

    /* Whether the parameters fit together; each is already in its range. NULL if any combination
     * does.
     *
     * OIF_EPARAM   they do not; the message says what to change */
    oif_status (*check_params)(const oif_params *params, oif_error *error);

    /* Bytes of the state; SIZE_MAX if no machine can hold it. */
    size_t (*state_bytes)(const oif_params *params, size_t columns);

    /* Initialises a zeroed state. */
    void (*init)(void *state, const oif_params *params, size_t columns);

    /* With parameters that insert whole rows (row_ranges.h): the depth that gives a score of 1/2.
     * With others: 0. NULL if the kind never inserts rows. */
    double (*insertion_depth)(const oif_params *params);

    /* Learns the rows in order. scores[i] gets the score of row i right after it was learned;
     * `scores` may be NULL. The threads of the pool (may be NULL) may share the work, but the
     * results must be the same bits. */
    void (*learn_rows)(void *state, const oif_rows *rows, double *scores, oif_pool *pool);

    /* Scores rows without learning them. Several threads call it at once. */
    oif_score_function score_rows;

    /* Learns the rows in order, like learn_rows, but scores[i] gets the score of row i right before
     * it was learned. Same bits as calling score_rows and learn_rows for each row. Costs as much as
     * learn_rows with scores: most kinds need only one walk. */
    void (*score_learn_rows)(void *state, const oif_rows *rows, double *scores, oif_pool *pool);

    /* Makes a state without rows, for rows of more columns, that of `state`: as if the new columns
     * had been missing until now. The scores of rows without them stay the same until the next row
     * is learned. NULL: what was learned cannot be kept. */
    void (*widen)(void *wide, const void *state, const oif_widening *widening);

    /* Whether enough rows were learned for meaningful scores. */
    bool (*ready)(const void *state);

    /* Visits every field that learning changes, in a fixed order: the snapshot. Fields that follow
     * from the parameters are not visited; `init` sets them. */
    void (*visit_fields)(void *state, oif_state_visitor *visitor);

    /* Reports parts of the state that the last rows have not changed. NULL: none is known. */
    void (*unchanged)(const void *state, const oif_unchanged *unchanged);

    /* Reports figures about the learned state, such as the leaves of a tree. */
    void (*describe)(const void *state, oif_describe_function report, void *context);

    /* Verifies every invariant. Trusts only what follows from the parameters, because the fields
     * may come from a damaged snapshot. A state that passes is safe for every other function.
     *
     * OIF_EINVARIANT   the message names the broken invariant */
    oif_status (*check)(const void *state, oif_error *error);
} oif_detector_kind;

/* All kinds, then NULL: kinds.c. CONTRIBUTING.md lists what a new detector needs. */
extern const oif_detector_kind *const oif_detector_kinds[];

/* The kind that `params` belongs to. NULL if `params` is NULL, zeroed or not a detector's, such as
 * the options of a pipeline. */
const oif_detector_kind *oif_detector_kind_of(const oif_params *params);

/* Whether constant columns change the scores of the detector, or of one in the list. */
bool oif_detector_minds_constants(const oif_params *params);

/* ---- Inside a detector, for the rest of the library ---- */

/* Copies what another detector with the same parameters and columns has learned.
 * The column names stay. */
void oif_detector_assign(oif_detector *detector, const oif_detector *other);

/* Makes a detector that has learned nothing, with the same parameters and more columns, what
 * `detector` is, as if the new columns had been missing. Does nothing if its kind cannot. */
void oif_detector_widen(oif_detector *wide, const oif_detector *detector,
                        const oif_widening *widening);

/* Bytes of the detector's memory block, a multiple of the cache line. Names and threads are outside
 * the block; a detector without either can be copied by copying the block. */
size_t oif_detector_block_bytes(const oif_detector *detector);
bool oif_detector_is_one_block(const oif_detector *detector);
bool oif_detector_is_in_callers_memory(const oif_detector *detector);

/* Like oif_detector_reset, but also drops names and threads. */
void oif_detector_strip(oif_detector *detector);

/* The scale of the detector's scores, and the severity of a score. */
oif_score_scale oif_detector_scale(const oif_detector *detector);
double oif_detector_severity(const oif_detector *detector, double score);

/* The usual range of a column, as oif_row_ranges_usual. Returns false if the detector has no
 * ranges, or too few rows. */
bool oif_detector_usual_range(const oif_detector *detector, size_t column, double *low,
                              double *high);

/* Visits every field that learning changes: rows_learned, the kind's fields, the ranges of rows. */
void oif_detector_visit_fields(oif_detector *detector, oif_state_visitor *visitor);

/* Reports parts of the block that the last rows have not changed. */
void oif_detector_unchanged(const oif_detector *detector, const oif_unchanged *unchanged);

/* The column names, or NULL. `take` frees the previous ones and takes ownership of `names`. */
const oif_column_names *oif_detector_names(const oif_detector *detector);
void oif_detector_take_names(oif_detector *detector, oif_column_names *names);

/* The kind's state, for tests that look inside. */
const void *oif_detector_state(const oif_detector *detector);

#endif
