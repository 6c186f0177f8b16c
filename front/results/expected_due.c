#include "expected_due.h"

enum { ROWS_PER_COLUMN = 16 };

bool expected_is_due(const expected_before *before, size_t learned_columns,
                     const oif_result *result)
{
    return result->anomaly || before->was_anomaly || result->ready != before->was_ready ||
           before->rows % (ROWS_PER_COLUMN * learned_columns) == 0;
}
