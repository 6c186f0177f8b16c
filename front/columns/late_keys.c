#include "late_keys.h"

#include "front/text/name_list.h"
#include "new_columns.h"

#include <inttypes.h>
#include <string.h>

/* At most this many lines with new keys are reported. */
enum { NOTES_MAX = 3, COLLECTED_MAX = 4096 };

void late_keys_start(late_keys *late, const cli_columns *columns, const cli_settings *settings)
{
    oif_reader *reader = columns->from.reader;
    const bool learns = settings->score.new_columns > 0 && !settings->columns &&
                        columns->from.format == OIF_FORMAT_NDJSON;
    *late = (late_keys){.is_watching = learns || !columns_are_fixed(&columns->from, settings),
                        .columns = oif_reader_column_count(reader)};
    if (late->is_watching)
        oif_reader_collect_columns(reader, learns ? COLLECTED_MAX : LATE_KEYS_MAX);
}

/* Whether a record has a number under this name. */
static bool has_number(const first_rows *look, const char *name)
{
    for (size_t i = 0; i < look->column_count; i++)
        if (look->columns[i].numbers > 0 &&
            strcmp(oif_reader_column_name(look->reader, i), name) == 0)
            return true;
    return false;
}

/* Sorts the keys of this record that are numbers, new, and not left out: those to learn, and those
 * for which there is no room. */
static void sort_new(late_keys *late, const cli_columns *columns, const cli_settings *settings,
                     const first_rows *look, names_text *learned, names_text *left_out)
{
    const oif_reader *reader = columns->from.reader;
    const size_t room = new_columns_room(settings, columns->count);
    for (size_t i = late->columns; i < oif_reader_column_count(reader); i++) {
        const char *name = oif_reader_column_name(reader, i);
        if (!has_number(look, name) || name_list_covers(settings->exclude, name, true))
            continue;
        const bool fits = late->added_count < room && late->added_count < LATE_KEYS_MAX;
        if (fits)
            late->added[late->added_count++] = i;
        names_text_add(fits ? learned : left_out, name);
    }
}

static exit_code report(late_keys *late, const cli_columns *columns, const cli_settings *settings,
                        const oif_record *record, names_text *names)
{
    if (settings->strict)
        return complain(EXIT_FAILED,
                        "%s:%" PRIu64 ": %s is new, and --strict does not leave it out silently: "
                        "list all columns with --columns A,B,...",
                        columns->from.name, record->line, names_text_read(names));
    if (late->reported++ == NOTES_MAX)
        note("%s:%" PRIu64
             ": more keys appear that the first lines lack; they are not reported any more",
             columns->from.name, record->line);
    if (late->reported > NOTES_MAX)
        return EXIT_OK;
    note("%s:%" PRIu64 ": %s appears too late to be learned; --new-columns N learns such columns, "
         "up to N in all",
         columns->from.name, record->line, names_text_read(names));
    return EXIT_OK;
}

exit_code late_keys_row(late_keys *late, const cli_columns *columns, const cli_settings *settings,
                        const oif_record *record)
{
    oif_reader *reader = columns->from.reader;
    size_t count = oif_reader_column_count(reader);
    if (count == late->columns)
        return EXIT_OK;
    first_rows look;
    names_text learned = {.count = 0}, left_out = {.count = 0};
    if (first_rows_look_at_record(&look, record))
        sort_new(late, columns, settings, &look, &learned, &left_out);
    first_rows_close(&look);
    late->columns = count;
    if (learned.count > 0)
        note("%s:%" PRIu64 ": new columns, learned from the next row on: %s", columns->from.name,
             record->line, names_text_read(&learned));
    exit_code code =
        left_out.count > 0 ? report(late, columns, settings, record, &left_out) : EXIT_OK;
    if (late->reported > NOTES_MAX) {
        late->is_watching = false;
        oif_reader_collect_columns(reader, 0);
    }
    return code;
}
