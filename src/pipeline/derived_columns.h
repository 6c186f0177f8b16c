/* Columns that are made from others before a row is learned: differences, rates, logarithms. Of
 * a category (category_table.h) a row has only whether it is missing; how rare it is, the model
 * judges beside its detectors.
 *
 *     row that comes      time    rx_bytes          load    latency
 *                                     |              |         |
 *     row that is learned       rate(rx_bytes)     load   log(latency)
 *
 * A plan says which, and is shared by all keys. A state remembers the previous values of one key:
 * one block of memory, whose size follows from the plan.
 *
 * A derived value that cannot be known is missing (NaN), never infinite: the first of a key, the
 * logarithm of what is not above 0, what overflows, a rate without a step forward in time.
 */
#ifndef OIF_PIPELINE_DERIVED_COLUMNS_H
#define OIF_PIPELINE_DERIVED_COLUMNS_H

#include "base/state_visitor.h"
#include "oif.h"
#include "pipeline/category_table.h"

typedef struct oif_derivation {
    size_t column; /* of the row that comes */
    oif_derive kind;
    bool keeps; /* the column itself is learned too; the same for all derivations of a column */
} oif_derivation;

typedef struct oif_derived_plan {
    size_t columns;         /* of a row that comes */
    size_t derived_columns; /* of a row that is learned */
    size_t count, capacity;
    size_t categories;    /* derivations that are one */
    oif_derivation *list; /* by column, then in the order in which they were added */
} oif_derived_plan;

/* Without any derivation the rows stay as they are. To be freed in any case. */
void oif_derived_plan_init(oif_derived_plan *plan, size_t columns);
void oif_derived_plan_free(oif_derived_plan *plan);

/* Adds a derivation. The column itself is no longer learned, unless one of its derivations keeps
 * it.
 *
 * OIF_EPARAM   there is no such column or kind, or the column has this derivation already; a
 *              category is derived or kept otherwise as well
 * OIF_EMEMORY */
oif_status oif_derived_plan_add(oif_derived_plan *plan, size_t column, oif_derive kind, bool keeps,
                                oif_error *error);

oif_status oif_derived_plan_clone(const oif_derived_plan *plan, oif_derived_plan *copy,
                                  oif_error *error);

/* The column that comes from which a column that is learned is made, and how. */
size_t oif_derived_source(const oif_derived_plan *plan, size_t learned, oif_derive *kind);

/* ---- The state of a key ---- */

typedef struct oif_derived_sample {
    double value; /* NaN: none is known */
    double at;    /* rates: its seconds, or its row while no time is known */
} oif_derived_sample;

typedef struct oif_derived_state {
    uint64_t rows;
    uint32_t has_time; /* 1 once a row had a time */
    /* The most surprising category of the last row; not saved. */
    uint32_t surprising_column;   /* that is learned */
    double surprise;              /* in bits; 0: there is none */
    bool is_new;                  /* the value was not known */
    oif_derived_sample samples[]; /* one per derivation; then a table per category */
} oif_derived_state;

size_t oif_derived_state_bytes(const oif_derived_plan *plan);
void oif_derived_state_init(const oif_derived_plan *plan, oif_derived_state *state);

/* Makes the row that is learned from the one that comes, which has no infinities, and remembers
 * it. `seconds` is the time of the row; not finite: unknown. Never allocates. */
void oif_derived_row(const oif_derived_plan *plan, oif_derived_state *state, const double *row,
                     double seconds, double *derived);

/* Counts the categories of that row. */
void oif_derived_learn(const oif_derived_plan *plan, oif_derived_state *state);

void oif_derived_state_visit_fields(const oif_derived_plan *plan, oif_derived_state *state,
                                    oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_derived_state_check(const oif_derived_plan *plan, const oif_derived_state *state);

#endif
