#include "record_parts.h"

#include "front/text/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *record_when_text(double seconds, uint64_t row, const char *before,
                             char text[WHEN_TEXT_BYTES])
{
    char moment[MOMENT_TEXT_BYTES];
    if (isnan(seconds))
        snprintf(text, WHEN_TEXT_BYTES, "%s%" PRIu64, before, row);
    else
        snprintf(text, WHEN_TEXT_BYTES, "%s", moment_text(seconds, moment));
    return text;
}

void record_write_when(const char *name, double seconds, uint64_t row)
{
    char text[WHEN_TEXT_BYTES];
    const char *quote = isnan(seconds) ? "" : "\"";
    output_print(",\"%s\":%s%s%s", name, quote, record_when_text(seconds, row, "", text), quote);
}
