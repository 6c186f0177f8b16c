/* How rare the values of a category are: a bounded table of values with their recent counts.
 *
 *     value    'ok'    'idle'   'busy'   'maint'   (new)
 *     rows    12,000    3,000    1,300      40                of 16,340
 *
 * The surprise of a value is -log2 of the fraction of rows whose value is as rare or rarer. By Good
 * and Turing, the probability that the next value has occurred c times so far is the fraction of
 * rows whose value has occurred c + 1 times. So for a value with c rows,
 *
 *     share = (rows of values that have at most c + 1 rows + rows of forgotten values + 1/2) /
 *             (all rows + 1/2)
 *
 * A value that never occurred is surprising if all values are common, and ordinary if most occurred
 * once (an id). At most one row in 2^b has a surprise of b bits, whatever the distribution, as long
 * as it does not change.
 *
 * Rows count less with age, 1/e after about 16,384. A value whose count has fallen to 0 stays known
 * until its entry is needed. A full table forgets the value with the lowest count, so a flood of
 * values that occur once does not displace the common ones. Counts are integers, hence the same on
 * every machine. The table has no pointers and may be part of a block.
 */
#ifndef OIF_PIPELINE_CATEGORY_TABLE_H
#define OIF_PIPELINE_CATEGORY_TABLE_H

#include "base/state_visitor.h"

#include <stdbool.h>

enum {
    OIF_CATEGORY_ENTRIES = 256,
    OIF_CATEGORY_ROW = 256 /* count of one row, large enough to fade in fractions */
};

typedef struct oif_category_table {
    uint32_t used;                       /* entries */
    uint32_t rows;                       /* learned since counts were last reduced */
    uint32_t forgotten;                  /* the count of removed values */
    uint32_t is_new;                     /* 1 if the value judged last was unknown */
    double values[OIF_CATEGORY_ENTRIES]; /* ascending */
    uint32_t counts[OIF_CATEGORY_ENTRIES];
} oif_category_table;

/* The surprise of a finite value in bits: 0 or more. */
double oif_category_surprise(oif_category_table *table, double value);

/* Counts a row with this value. */
void oif_category_learn(oif_category_table *table, double value);

void oif_category_visit_fields(oif_category_table *table, oif_state_visitor *visitor);

/* Whether the fields are consistent; they may come from a damaged snapshot. */
bool oif_category_check(const oif_category_table *table);

#endif
