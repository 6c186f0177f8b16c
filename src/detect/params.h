/* Parameter functions for use inside the library. */
#ifndef OIF_DETECT_PARAMS_H
#define OIF_DETECT_PARAMS_H

#include "oif.h"

/* Sets every parameter of a table to its initial value. */
void oif_params_init_table(oif_params *params, const oif_param_table *table);

/* The value of a parameter known to exist. */
double oif_params_value(const oif_params *params, const char *name);

/* Checks that every value is in its range: callers may set values by hand.
 *
 * OIF_EPARAM   one is not; the message says which and what is allowed */
oif_status oif_params_check(const oif_params *params, oif_error *error);

#endif
