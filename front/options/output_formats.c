#include "output_formats.h"

#include <stddef.h>

#define OUTPUT_WORD(format, word, ...) word,
const char *const output_format_words[] = {OUTPUT_FORMATS(OUTPUT_WORD) NULL};

#define OUTPUT_FACTS(format, word, ...) [format] = {__VA_ARGS__},
static const output_facts facts[] = {OUTPUT_FORMATS(OUTPUT_FACTS)};

const output_facts *output_format_facts(output_format format)
{
    return &facts[format];
}

output_format output_format_for(output_format asked, oif_format input)
{
    if (asked != OUTPUT_AS_INPUT)
        return asked;
    return input == OIF_FORMAT_NDJSON ? OUTPUT_NDJSON : OUTPUT_CSV;
}
