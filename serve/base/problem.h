/* Why a request fails, as reported in its answer. */
#ifndef OIF_SERVE_PROBLEM_H
#define OIF_SERVE_PROBLEM_H

#include "oif.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum { PROBLEM_MESSAGE_BYTES = 1024, PROBLEM_REMEDY_BYTES = 256 };

typedef struct problem {
    int status;      /* of HTTP */
    oif_cause cause; /* OIF_CAUSE_NONE: the status says enough */
    char message[PROBLEM_MESSAGE_BYTES];
    uint64_t line, column; /* of the body, from 1; 0: unknown */
    uint64_t rows;         /* of the stream, if has_rows */
    int has_rows;
    uint64_t writer_rows; /* of the writer, if has_writer */
    int has_writer;
    char remedy[PROBLEM_REMEDY_BYTES];
} problem;

/* Sets the problem and returns false. A long message is cut after a whole character. `remedy` may
 * be NULL. */
bool problem_set(problem *why, int status, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for an error of the library, with its message and its cause. */
bool problem_set_error(problem *why, int status, const char *remedy, const oif_error *error);
bool problem_set_list(problem *why, int status, const char *remedy, const char *format,
                      va_list arguments);

/* What a log may have of it: no text of a body, which may be personal. For a problem with a row
 * that is its cause and place, "bad_json, line 2, column 25"; else the message without what it
 * quotes. */
enum { PROBLEM_REASON_BYTES = 128 };
void problem_write_reason(const problem *why, char reason[PROBLEM_REASON_BYTES]);

#endif
