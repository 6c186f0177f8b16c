#include "sample_reading.h"

#include <math.h>
#include <string.h>

bool sample_reading_skip(sample_reading *reading, uint64_t line, const char *message)
{
    if (reading->bad++ > 0)
        return true;
    problem_set(&reading->first_bad, 400, NULL, "%s", message);
    reading->first_bad.line = line;
    return true;
}

bool sample_json_check(oif_text body, problem *why)
{
    return body.bytes <= SAMPLE_JSON_BYTES_MAX ||
           problem_set(why, 413, "Send smaller batches.", "samples as JSON have at most %d bytes",
                       SAMPLE_JSON_BYTES_MAX);
}

static bool ends_with(oif_text name, const char *ending)
{
    const size_t bytes = strlen(ending);
    return name.bytes > bytes && memcmp(name.text + name.bytes - bytes, ending, bytes) == 0;
}

sample_kind sample_kind_by_name(oif_text name, bool has_bound)
{
    if (has_bound && ends_with(name, "_bucket"))
        return SAMPLE_BUCKET;
    return ends_with(name, "_total") || ends_with(name, "_count") || ends_with(name, "_sum")
               ? SAMPLE_COUNTER
               : SAMPLE_GAUGE;
}

double sample_seconds(double number)
{
    const double size = fabs(number);
    return size < 1e11   ? number
           : size < 1e14 ? number / 1e3
           : size < 1e17 ? number / 1e6
                         : number / 1e9;
}
