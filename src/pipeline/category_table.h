/* How rare the values of a category are: a bounded table of values and how often each came lately.
 *
 *     value    'ok'    'idle'   'busy'   'maint'   (new)
 *     rows    12,000    3,000    1,300      40                of 16,340
 *
 * The surprise of a value is -log2 of the share of rows whose value is as rare or rarer. By Good
 * and Turing, the chance that the next value has come c times so far is that of the rows whose
 * value has come c + 1 times. So with c rows of the value,
 *
 *     share = (rows of values that have at most c + 1 rows + rows of forgotten values + 1/2) /
 *             (all rows + 1/2)
 *
 * A value that never came is surprising where all values came often, and ordinary where most came
 * once (an id). At most one row in 2^b has a surprise of b bits, whatever the distribution, as long
 * as it lasts.
 *
 * Rows count less with age, to 1/e after about 16,384. A value stays known when its count has
 * fallen to 0, until its entry is needed: a full table forgets the value with the lowest count, so
 * a flood of values that come once does not displace the common ones. Counts are integers, so they
 * are the same everywhere. The table holds no pointers; it may be part of a block.
 */
#ifndef OIF_PIPELINE_CATEGORY_TABLE_H
#define OIF_PIPELINE_CATEGORY_TABLE_H

#include "base/state_visitor.h"

#include <stdbool.h>

enum {
    OIF_CATEGORY_ENTRIES = 256,
    OIF_CATEGORY_ROW = 256 /* the count of one row: what is left of it with age is a fraction */
};

typedef struct oif_category_table {
    uint32_t used;                       /* entries */
    uint32_t rows;                       /* learned since counts were last reduced */
    uint32_t forgotten;                  /* the count of values that were removed */
    uint32_t is_new;                     /* 1 if the value that was judged last was not known */
    double values[OIF_CATEGORY_ENTRIES]; /* ascending */
    uint32_t counts[OIF_CATEGORY_ENTRIES];
} oif_category_table;

/* The surprise of a value, which is finite, in bits: 0 or more. */
double oif_category_surprise(oif_category_table *table, double value);

/* Counts a row with this value. */
void oif_category_learn(oif_category_table *table, double value);

void oif_category_visit_fields(oif_category_table *table, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_category_check(const oif_category_table *table);

#endif
