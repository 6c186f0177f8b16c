/* Fill an oif_error and return its status in one statement: return oif_fail(error, OIF_EVALUE,
 * ...). */
#ifndef OIF_BASE_ERROR_H
#define OIF_BASE_ERROR_H

#include "oif.h"

/* Fills `error` (if not NULL) without a place and returns `status`. Truncates a long message
 * after a whole character. The cause is that of the status: oif_cause_of. */
oif_status oif_fail(oif_error *error, oif_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place, both counted from 1. */
oif_status oif_fail_at(oif_error *error, oif_status status, uint64_t line, uint64_t column,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same with a cause. Give one to failures by which a caller may decide what to do. */
oif_status oif_fail_because(oif_error *error, oif_status status, oif_cause cause,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
oif_status oif_fail_because_at(oif_error *error, oif_status status, oif_cause cause, uint64_t line,
                               uint64_t column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The same for a system call that failed with the errno `reason`. The message quotes it, too. */
oif_status oif_fail_system(oif_error *error, oif_status status, int reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The cause of every failure with this status, as far as the status alone says it. */
oif_cause oif_cause_of(oif_status status);

#endif
