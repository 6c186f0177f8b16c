#include "sample_reading.h"

#include <string.h>

bool sample_reading_skip(sample_reading *reading, uint64_t line, const char *message)
{
    if (reading->bad++ > 0)
        return true;
    problem_set(&reading->first_bad, 400, NULL, "%s", message);
    reading->first_bad.line = line;
    return true;
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
