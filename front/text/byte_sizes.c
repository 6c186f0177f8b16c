#include "byte_sizes.h"

#include "oif_rows.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const char *unit, const char *a, const char *b, const char *c)
{
    return strcmp(unit, a) == 0 || strcmp(unit, b) == 0 || strcmp(unit, c) == 0;
}

bool byte_size_parse(const char *text, double *bytes)
{
    static const char prefixes[] = "KMGT";
    double number, factor = 1;
    const char *unit = oif_number_parse(text, text + strlen(text), &number);
    if (!unit || !isfinite(number))
        return false;
    char upper = *unit == 'k' ? 'K' : *unit;
    const char *prefix = upper != '\0' ? strchr(prefixes, upper) : NULL;
    if (prefix) {
        double step = strcmp(unit + 1, "B") == 0 ? 1000 : 1024;
        if (step == 1024 && !is_one_of(unit + 1, "", "i", "iB"))
            return false;
        for (const char *at = prefixes; at <= prefix; at++)
            factor *= step;
    } else if (!is_one_of(unit, "", "B", "B")) {
        return false;
    }
    *bytes = floor(number * factor);
    return true;
}
