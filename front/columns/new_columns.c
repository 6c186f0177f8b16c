#include "new_columns.h"

#include "derive.h"

#include <stdlib.h>
#include <string.h>

size_t new_columns_room(const cli_settings *settings, size_t count)
{
    const uint64_t most = settings->score.new_columns;
    return most > count ? (size_t)(most - count) : 0;
}

/* ---- In the first rows ---- */

static const char *name_at(const cli_columns *columns, size_t column)
{
    return oif_reader_column_name(columns->from.reader, column);
}

/* Whether the first rows have numbers there that are no time, label, row number or date. */
static bool is_worth_learning(const cli_columns *columns, size_t column)
{
    const column_look *look = &columns->from.look->columns[column];
    const char *name = name_at(columns, column);
    return look->numbers > 0 && !column_look_is_text(look) &&
           column_look_time(look, name) == TIME_NOT && !column_look_is_label(look, name) &&
           !(column_look_is_index(look) && name_says_index(name)) &&
           !column_look_is_compact(look) && !calendar_steps_are(&look->steps, name);
}

/* Whether the options and the known pipeline leave a column open. */
static bool is_unknown(const cli_columns *columns, size_t column)
{
    const column_use use = columns->uses[column];
    return (use == COLUMN_LEARNED || use == COLUMN_CHOSEN || use == COLUMN_NOT_IN_STATE) &&
           !known_columns_have(columns->from.known, name_at(columns, column));
}

void new_columns_mark(cli_columns *columns, const cli_settings *settings)
{
    const column_source *from = &columns->from;
    names_text added = {.count = 0};
    if (!from->look || !known_columns_have_names(from))
        return;
    size_t room = new_columns_room(settings, oif_pipeline_columns(from->known));
    for (size_t i = 0; i < from->look->column_count && room > 0; i++) {
        if (!is_unknown(columns, i) || !is_worth_learning(columns, i))
            continue;
        columns->uses[i] = COLUMN_NEW;
        columns_list(&added, from->reader, i, "");
        room--;
    }
    if (added.count > 0)
        note("%s: new columns, learned from now on: %s", from->name, names_text_read(&added));
}

/* ---- In later rows ---- */

/* Makes room for the uses of all columns that the reader has by now. */
static bool enlarge(cli_columns *columns)
{
    const size_t before = columns->use_count, count = oif_reader_column_count(columns->from.reader);
    column_use *uses = realloc(columns->uses, count * sizeof *uses);
    columns->uses = uses ? uses : columns->uses;
    size_t *learned = realloc(columns->learned, (count + 1) * sizeof *learned);
    columns->learned = learned ? learned : columns->learned;
    struct undecided_column *undecided =
        columns->undecided ? realloc(columns->undecided, count * sizeof *undecided) : NULL;
    const bool has_memory = uses && learned && (undecided || !columns->undecided);
    columns->undecided = undecided ? undecided : columns->undecided;
    for (size_t i = before; i < count && has_memory; i++) {
        uses[i] = COLUMN_NOT_CHOSEN;
        if (undecided)
            undecided[i] = (struct undecided_column){false, false};
    }
    columns->use_count = has_memory ? count : before;
    return has_memory;
}

exit_code new_columns_append(cli_columns *columns, const size_t added[], size_t count)
{
    if (!enlarge(columns))
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++) {
        columns->uses[added[i]] = COLUMN_NEW;
        columns->learned[columns->count++] = added[i];
    }
    return columns_select_again(columns);
}

/* ---- The pipeline ---- */

exit_code new_columns_grow(oif_pipeline *pipeline, const cli_settings *settings,
                           const cli_columns *columns)
{
    const size_t known = oif_pipeline_columns(pipeline);
    const size_t count = columns->count > known ? columns->count - known : 0;
    const bool has_names = oif_pipeline_column_name(pipeline, 0) != NULL;
    const char **names = calloc(count + 1, sizeof *names);
    derived_list derived = {.list = NULL};
    oif_error error;
    if (!names)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++)
        names[i] = oif_reader_column_name(columns->from.reader, columns->learned[known + i]);
    exit_code code = derive_list_new(&derived, settings, columns, known);
    if (code == EXIT_OK && oif_pipeline_add_columns(pipeline, count, has_names ? names : NULL,
                                                    derived.list, derived.count, &error) != OIF_OK)
        code = complain(EXIT_FAILED, "%s: %s", columns->from.name, error.message);
    free(names);
    free(derived.list);
    return code;
}
