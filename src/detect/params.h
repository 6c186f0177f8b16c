/* What the library itself asks of parameters, beside the public calls. */
#ifndef OIF_DETECT_PARAMS_H
#define OIF_DETECT_PARAMS_H

#include "oif.h"

/* The value of a parameter that is known to exist. */
double oif_params_value(const oif_params *params, const char *name);

/* Checks that every value is in its range: a caller may have filled the struct by hand. */
oif_status oif_params_check(const oif_params *params, oif_error *error);

#endif
