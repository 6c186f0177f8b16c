#include "late_keys.h"

#include "front/text/name_list.h"

#include <inttypes.h>
#include <string.h>

/* At most this many lines with new keys are reported. */
enum { NOTES_MAX = 3 };

void late_keys_start(late_keys *late, const input_columns *columns, const run_settings *settings)
{
    oif_reader *reader = columns->from.reader;
    *late = (late_keys){.is_watching = !columns_are_fixed(&columns->from, settings),
                        .columns = oif_reader_column_count(reader)};
    if (late->is_watching)
        oif_reader_collect_columns(reader, LATE_KEYS_MAX);
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

/* The keys of this record that are numbers, new, and not left out. */
static void list_new(const late_keys *late, const input_columns *columns,
                     const run_settings *settings, const first_rows *look, names_text *names)
{
    const oif_reader *reader = columns->from.reader;
    for (size_t i = late->columns; i < oif_reader_column_count(reader); i++) {
        const char *name = oif_reader_column_name(reader, i);
        if (has_number(look, name) && !name_list_covers(settings->exclude, name, true))
            names_text_add(names, name);
    }
}

static exit_code report(late_keys *late, const input_columns *columns, const run_settings *settings,
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
    note("%s:%" PRIu64 ": %s appears too late to be learned; put a row that has it first",
         columns->from.name, record->line, names_text_read(names));
    return EXIT_OK;
}

exit_code late_keys_row(late_keys *late, const input_columns *columns, const run_settings *settings,
                        const oif_record *record)
{
    oif_reader *reader = columns->from.reader;
    size_t count = oif_reader_column_count(reader);
    if (count == late->columns)
        return EXIT_OK;
    first_rows look;
    names_text names = {.count = 0};
    if (first_rows_look_at_record(&look, record))
        list_new(late, columns, settings, &look, &names);
    first_rows_close(&look);
    late->columns = count;
    exit_code code = names.count > 0 ? report(late, columns, settings, record, &names) : EXIT_OK;
    if (late->reported > NOTES_MAX) {
        late->is_watching = false;
        oif_reader_collect_columns(reader, 0);
    }
    return code;
}
