#include "bad_rows.h"

#include <stdio.h>

void bad_rows_add(struct bad_rows *bad, const oif_error *error, bool is_mended)
{
    uint64_t before = bad->skipped + bad->mended;

    if (before < BAD_PLACES_MAX)
        bad->first[before] = *error;
    if (is_mended)
        bad->mended++;
    else
        bad->skipped++;
}

static void tell_count(uint64_t count, const char *what_was_done, const char *name)
{
    char text[GROUPED_TEXT_BYTES];

    if (count > 0)
        complain(EXIT_OK, "%s: %s bad row%s %s", name, grouped_text(count, text),
                 count == 1 ? "" : "s", what_was_done);
}

void bad_rows_tell(const struct bad_rows *bad, const struct input *input)
{
    uint64_t count = bad->skipped + bad->mended;
    char text[PLACE_TEXT_BYTES];

    tell_count(bad->skipped, "skipped", input->name);
    tell_count(bad->mended,
               bad->mended == 1 ? "scored without its bad numbers"
                                : "scored without their bad numbers",
               input->name);
    for (uint64_t i = 0; i < count && i < BAD_PLACES_MAX; i++)
        complain(EXIT_OK, "  %s", input_place_text(input, &bad->first[i], text));
    if (count > BAD_PLACES_MAX)
        complain(EXIT_OK, "  and %s more", grouped_text(count - BAD_PLACES_MAX, text));
}
