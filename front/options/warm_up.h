/* How long a pipeline learns before it can alert. */
#ifndef OIF_FRONT_WARM_UP_H
#define OIF_FRONT_WARM_UP_H

#include "oif.h"

/* How many rows of a key come before the first that may be an alert: tried with rows of random
 * numbers, `row_seconds` apart if that is not 0. 0: not known, or too many to wait for. */
size_t warm_up_rows(const oif_params *params, const oif_params *options, size_t columns,
                    double row_seconds);

#endif
