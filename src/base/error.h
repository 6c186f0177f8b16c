/* Fill an oif_error and return its status in one statement: return oif_fail(error, OIF_EVALUE,
 * ...). */
#ifndef OIF_BASE_ERROR_H
#define OIF_BASE_ERROR_H

#include "oif.h"

/* Fills `error` (if not NULL) without a place and returns `status`. Truncates a long message
 * after a whole character. */
oif_status oif_fail(oif_error *error, oif_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place, both counted from 1. */
oif_status oif_fail_at(oif_error *error, oif_status status, uint64_t line, uint64_t column,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
