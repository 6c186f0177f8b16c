/* What a detector must provide. detector.c checks every call and sends it on to one of these
 * tables. */
#ifndef OIF_DETECT_DETECTOR_H
#define OIF_DETECT_DETECTOR_H

#include "base/column_names.h"
#include "base/pool.h"
#include "base/state_visitor.h"
#include "detect/params.h"
#include "oif.h"

#include <float.h>

/* So that a few numbers per column still count in 32 bits. */
#define OIF_MAX_DIMENSION (UINT32_MAX / 4)

/* A block of rows without infinities. `complete`: none of its numbers is missing. */
typedef struct oif_rows {
    const double *values;
    size_t count;
    size_t stride;
    bool complete;
} oif_rows;

static inline const double *oif_rows_at(const oif_rows *rows, size_t i)
{
    return rows->values + i * rows->stride;
}

/* Whether these numbers are as rows have them: finite, or missing. Without a branch, so that
 * compilers test several at once. */
static inline bool oif_none_infinite(const double *numbers, size_t count)
{
    unsigned infinite = 0;
    for (size_t i = 0; i < count; i++)
        infinite |= (unsigned)(numbers[i] > DBL_MAX) | (unsigned)(numbers[i] < -DBL_MAX);
    return !infinite;
}

/* More rows than any stream has. A detector that claims to have learned more is broken; so
 * counts of rows never overflow. */
#define OIF_MAX_ROWS_LEARNED (UINT64_C(3) << 62)

/* Whether none of the numbers is missing. */
bool oif_row_is_complete(const double *row, size_t dimension);

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

/* For fewer rows, waking the threads of a pool costs more than they help. */
enum { OIF_ROWS_WORTH_SHARING = 32 };

static inline oif_pool *oif_pool_worth(oif_pool *pool, size_t rows)
{
    return rows < OIF_ROWS_WORTH_SHARING ? NULL : pool;
}

typedef void (*oif_score_function)(const void *state, const oif_rows *rows, double *scores);

/* Scores rows by a function that scores some of them; a pool, which may be NULL, shares them
 * among its threads. */
void oif_rows_score(const oif_rows *rows, oif_score_function score, const void *state,
                    double *scores, oif_pool *pool);

/* The state is one block of memory that holds no pointers into itself: a copy of its bytes is a
 * clone. */
typedef struct oif_detector_kind {
    oif_detector_info info;

    /* Whether these parameters, each in its range, fit together. NULL where any do. */
    oif_status (*check_params)(const oif_params *params, oif_error *error);

    /* The bytes of the state; SIZE_MAX when no machine could hold it. */
    size_t (*state_bytes)(const oif_params *params, size_t dimension);

    void (*init)(void *state, const oif_params *params, size_t dimension);

    /* Learns the rows in order and writes the score that each has right after it was learned;
     * `scores` may be NULL. The pool, which may be NULL, may share the work but must not change
     * a bit of the results. */
    void (*learn_rows)(void *state, const oif_rows *rows, double *scores, oif_pool *pool);

    /* Some of the rows that are to be scored: each row by itself, so that threads can share
     * them. */
    oif_score_function score_rows;

    bool (*ready)(const void *state);

    /* Tells every field that rows have changed, for a snapshot. */
    void (*visit_fields)(void *state, oif_state_visitor *visitor);

    /* Names figures about what was learned, such as the leaves of a tree. */
    void (*describe)(const void *state, oif_describe_function tell, void *context);

    /* Believes nothing but what follows from the parameters: the fields may come from a damaged
     * snapshot, and when they pass, every verb has to be safe. */
    oif_status (*check)(const void *state, oif_error *error);
} oif_detector_kind;

/* All kinds, then NULL: kinds.c. CONTRIBUTING.md says what a new detector needs. */
extern const oif_detector_kind *const oif_detector_kinds[];

/* The kind of that name; NULL if unknown. */
const oif_detector_kind *oif_detector_kind_find(const char *name);

/* OIF_EVALUE when a number of the row is infinite. */
oif_status oif_row_check(const double *row, size_t dimension, size_t row_number, oif_error *error);

/* Gives a detector the state of another one with the same parameters and dimension. Its columns
 * keep their names. */
void oif_detector_assign(oif_detector *detector, const oif_detector *other);

/* Tells every field that rows have changed. */
void oif_detector_visit_fields(oif_detector *detector, oif_state_visitor *visitor);

/* The names of its columns, or NULL; and gives it those, which it frees. */
const oif_column_names *oif_detector_names(const oif_detector *detector);
void oif_detector_take_names(oif_detector *detector, oif_column_names *names);

/* The detector's own state, for tests that look inside. */
const void *oif_detector_state(const oif_detector *detector);

#endif
