/* Columns computed from others before a row is learned: differences, rates, logarithms. For a
 * category (category_table.h) the learned row has only whether it is missing; the model judges its
 * rarity beside the detectors.
 *
 *     input row           time    rx_bytes          load    latency
 *                                     |              |         |
 *     learned row               rate(rx_bytes)     load   log(latency)
 *
 * A plan lists the derivations and is shared by all keys. A state holds the previous values of one
 * key: one block of memory, whose size follows from the plan.
 *
 * A derived value that cannot be computed is missing (NaN), never infinite: the first one of a key,
 * the logarithm of a number not above 0, an overflow, a rate without a step forward in time.
 */
#ifndef OIF_PIPELINE_DERIVED_COLUMNS_H
#define OIF_PIPELINE_DERIVED_COLUMNS_H

#include "base/state_visitor.h"
#include "oif.h"
#include "pipeline/columns/category_table.h"

typedef struct oif_derivation {
    size_t column; /* of the input row */
    oif_derive kind;
    bool keeps; /* the column itself is learned too; the same for all its derivations */
} oif_derivation;

typedef struct oif_derived_plan {
    size_t columns;         /* of an input row */
    size_t derived_columns; /* of a learned row */
    size_t count, capacity;
    size_t categories;    /* number of derivations that are categories */
    oif_derivation *list; /* by column, then in the order of adding */
} oif_derived_plan;

/* Without derivations, rows stay as they are. Always free the plan. */
void oif_derived_plan_init(oif_derived_plan *plan, size_t columns);
void oif_derived_plan_free(oif_derived_plan *plan);

/* Adds a derivation. The column itself is no longer learned, unless one of its derivations keeps
 * it.
 *
 * OIF_EPARAM   no such column or kind, a duplicate, or a category that is also derived in another
 *              way or kept
 * OIF_EMEMORY */
oif_status oif_derived_plan_add(oif_derived_plan *plan, size_t column, oif_derive kind, bool keeps,
                                oif_error *error);

oif_status oif_derived_plan_clone(const oif_derived_plan *plan, oif_derived_plan *copy,
                                  oif_error *error);

/* The input column that a learned column is derived from, and how. */
size_t oif_derived_source(const oif_derived_plan *plan, size_t learned, oif_derive *kind);

/* ---- The state of a key ---- */

typedef struct oif_derived_sample {
    double value; /* NaN if unknown */
    double at;    /* rates: its time in seconds, or its row number while no time is known */
} oif_derived_sample;

typedef struct oif_derived_state {
    uint64_t rows;
    uint32_t has_time; /* 1 once a row had a time */
    /* The most surprising category of the last row; not saved. */
    uint32_t surprising_column;   /* among the learned columns */
    double surprise;              /* in bits; 0: none */
    bool is_new;                  /* the value was unknown */
    oif_derived_sample samples[]; /* one per derivation; then a table per category */
} oif_derived_state;

size_t oif_derived_state_bytes(const oif_derived_plan *plan);
void oif_derived_state_init(const oif_derived_plan *plan, oif_derived_state *state);

/* Computes the learned row from the input row, which has no infinities, and stores what the next
 * row needs. `seconds` is the time of the row; not finite if unknown. Never allocates. */
void oif_derived_row(const oif_derived_plan *plan, oif_derived_state *state, const double *row,
                     double seconds, double *derived);

/* Counts the categories of the last row. */
void oif_derived_learn(const oif_derived_plan *plan, oif_derived_state *state);

/* Makes a state without rows that of `state`, whose plan has fewer columns; those of the new plan
 * come after them. */
void oif_derived_state_widen(const oif_derived_plan *wide_plan, oif_derived_state *wide,
                             const oif_derived_plan *plan, const oif_derived_state *state);

void oif_derived_state_visit_fields(const oif_derived_plan *plan, oif_derived_state *state,
                                    oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_derived_state_check(const oif_derived_plan *plan, const oif_derived_state *state);

#endif
