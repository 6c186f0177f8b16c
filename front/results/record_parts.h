/* What the records of episodes and of incidents share: members of a JSON object. */
#ifndef OIF_FRONT_RECORD_PARTS_H
#define OIF_FRONT_RECORD_PARTS_H

#include "front/text/durations.h"

#include <stdint.h>

enum { WHEN_TEXT_BYTES = 2 * MOMENT_TEXT_BYTES };

/* A time or, if it is unknown, `before` and the number of the row. */
const char *record_when_text(double seconds, uint64_t row, const char *before,
                             char text[WHEN_TEXT_BYTES]);

/* ,"start":"2026-11-15T19:05:01Z" or ,"start":17 */
void record_write_when(const char *name, double seconds, uint64_t row);

#endif
