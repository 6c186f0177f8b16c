#include "bad_rows.h"

#include "input_error.h"

void bad_rows_add(bad_rows *bad, const byte_source *source, const oif_error *error, bool is_mended)
{
    uint64_t before = bad->skipped + bad->mended;
    if (before < BAD_PLACES_MAX) {
        bad->first[before] = *error;
        bad->files[before] = byte_source_place(source, &bad->first[before].line);
    }
    if (is_mended)
        bad->mended++;
    else
        bad->skipped++;
}

static void report_count(uint64_t count, const char *what_was_done, const char *name)
{
    char text[GROUPED_TEXT_BYTES];
    if (count > 0)
        note("%s: %s bad row%s %s", name, grouped_text(count, text), count == 1 ? "" : "s",
             what_was_done);
}

void bad_rows_report(const bad_rows *bad, const byte_source *source)
{
    char name[BYTE_SOURCE_TITLE_BYTES];
    byte_source_title(source, name);
    uint64_t count = bad->skipped + bad->mended;
    report_count(bad->skipped, "skipped", name);
    report_count(bad->mended,
                 bad->mended == 1 ? "scored without its bad numbers"
                                  : "scored without their bad numbers",
                 name);
    char text[INPUT_ERROR_TEXT_BYTES];
    for (uint64_t i = 0; i < count && i < BAD_PLACES_MAX; i++)
        note("  %s", input_error_text(bad->files[i], &bad->first[i], text));
    if (count > BAD_PLACES_MAX)
        note("  and %s more", grouped_text(count - BAD_PLACES_MAX, text));
}
