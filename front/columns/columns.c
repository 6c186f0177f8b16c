#include "columns.h"

#include "added_fields.h"
#include "front/input/input_error.h"
#include "front/input/time_of_day.h"
#include "front/text/suggest.h"

#include <stdlib.h>
#include <string.h>

/* ---- One name ---- */

static const char *name_at(const column_source *from, size_t column)
{
    return oif_reader_column_name(from->reader, column);
}

static bool has_paths(const column_source *from)
{
    return from->format == OIF_FORMAT_NDJSON;
}

bool columns_have_same_name(const oif_reader *reader, size_t column)
{
    const char *name = oif_reader_column_name(reader, column);
    for (size_t i = 0; i < oif_reader_column_count(reader); i++)
        if (i != column && strcmp(oif_reader_column_name(reader, i), name) == 0)
            return true;
    return false;
}

void columns_list(names_text *names, const oif_reader *reader, size_t column, const char *value)
{
    const char *name = oif_reader_column_name(reader, column);
    bool is_shown = names->shown == names->count;
    names_text_add_as(
        names, name, is_shown && columns_have_same_name(reader, column) ? "NEW_NAME" : name, value);
}

/* A column that none of the first NDJSON lines has may come later. It may also be a typing
 * mistake, so a note says so. */
static exit_code add_column(const column_source *from, const char *name, const char *hint,
                            size_t *added)
{
    oif_error error;
    oif_status status = oif_reader_find_column(from->reader, name, added, &error);
    if (status != OIF_OK)
        return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s: %s", from->name,
                        error.message);
    if (from->look && from->look->rows > 1)
        note("%s: none of the first %zu lines has '%s'%s; it is missing until a line has it",
             from->name, from->look->rows, name, hint);
    else
        note("%s: the first line has no '%s'%s; it is missing until a line has it", from->name,
             name, hint);
    return EXIT_OK;
}

static exit_code complain_no_column(const column_source *from, const char *option, const char *name,
                                    size_t *added)
{
    word_suggestion suggestion = suggestion_for(name, strlen(name));
    names_text there = {.count = 0};
    char hint[HINT_BYTES];
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        suggestion_consider(&suggestion, name_at(from, i));
        names_text_add(&there, name_at(from, i));
    }
    suggestion_hint(&suggestion, "", hint);
    if (has_paths(from) && !name_is_pattern(name))
        return add_column(from, name, hint, added);
    return complain_because(
        &unknown_column, EXIT_USAGE, "%s: --%s: %s '%s'%s (%sthere are %s)", from->name, option,
        name_is_pattern(name) ? "no column matches" : "there is no column", name, hint,
        column_source_has_names(from) ? "" : "no header: ", names_text_read(&there));
}

/* The column of exactly this name; *found is the number of columns if there is none. */
static exit_code find_exactly(const column_source *from, const char *name, size_t *found)
{
    size_t matches = 0;
    *found = oif_reader_column_count(from->reader);
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        if (strcmp(name_at(from, i), name) == 0) {
            *found = i;
            matches++;
        }
    }
    if (matches > 1)
        return complain(EXIT_USAGE, "%s: %zu columns are called '%s'; give each its own name",
                        from->name, matches, name);
    return EXIT_OK;
}

static exit_code find_column(const column_source *from, const char *option, const char *name,
                             size_t *found)
{
    exit_code code = find_exactly(from, name, found);
    if (code == EXIT_OK && *found == oif_reader_column_count(from->reader))
        code = complain_no_column(from, option, name, found);
    return code;
}

/* ---- Lists of names ---- */

/* Applies a name of a list to the column of exactly that name, or to all columns that it
 * covers. Without `uses`, only checks that they exist. */
typedef struct list_meaning {
    const char *option; /* the option with the list */
    column_use *uses;
    column_use exactly, covered;
} list_meaning;

static size_t mark_covered(const column_source *from, const char *name, const list_meaning *meaning)
{
    size_t covered = 0;
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        if (!name_covers(name, name_at(from, i), has_paths(from)))
            continue;
        covered++;
        if (meaning->uses)
            meaning->uses[i] = meaning->covered;
    }
    return covered;
}

/* The patterns of a stream were checked with its first rows. Later rows may lack all columns of
 * one, as they may lack any column. */
static bool may_cover_nothing(const column_source *from, const char *name)
{
    return from->is_part && has_paths(from) && from->known && name_is_pattern(name);
}

static exit_code mark_name(const column_source *from, const char *name, const list_meaning *meaning)
{
    size_t column, count = oif_reader_column_count(from->reader);
    exit_code code = find_exactly(from, name, &column);
    if (code == EXIT_OK && column == count) {
        if (mark_covered(from, name, meaning) > 0 || may_cover_nothing(from, name))
            return EXIT_OK;
        code = complain_no_column(from, meaning->option, name, &column);
    }
    if (code == EXIT_OK && meaning->uses)
        meaning->uses[column] = meaning->exactly;
    return code;
}

static exit_code mark_list(const column_source *from, const char *list, list_meaning meaning)
{
    exit_code code = EXIT_OK;
    if (!list)
        return EXIT_OK;
    char *name = malloc(strlen(list) + 1);
    if (!name)
        return complain(EXIT_FAILED, "out of memory");
    while (list && code == EXIT_OK) {
        list = name_list_next(list, name);
        code = mark_name(from, name, &meaning);
    }
    free(name);
    return code;
}

/* ---- All names ---- */

/* NDJSON lines may lack keys and have extra ones, so the known columns are the default. */
static bool takes_known_columns(const column_source *from, const run_settings *settings)
{
    return has_paths(from) && !settings->columns && known_columns_have_names(from);
}

bool columns_are_fixed(const column_source *from, const run_settings *settings)
{
    return !has_paths(from) || settings->columns || known_columns_have_names(from);
}

/* ---- The date and the time of day in two columns ---- */

static size_t position_of(const oif_reader *reader, const char *name, size_t bytes)
{
    size_t i = 0;
    for (; i < oif_reader_column_count(reader); i++)
        if (strlen(oif_reader_column_name(reader, i)) == bytes &&
            memcmp(oif_reader_column_name(reader, i), name, bytes) == 0)
            break;
    return i;
}

bool columns_find_pair(const oif_reader *reader, const char *name, size_t pair[2])
{
    const size_t count = oif_reader_column_count(reader);
    if (position_of(reader, name, strlen(name)) < count)
        return false;
    for (const char *plus = strchr(name, '+'); plus; plus = strchr(plus + 1, '+')) {
        pair[0] = position_of(reader, name, (size_t)(plus - name));
        pair[1] = position_of(reader, plus + 1, strlen(plus + 1));
        if (pair[0] < count && pair[1] < count && pair[0] != pair[1])
            return true;
    }
    return false;
}

static bool is_pair(const column_source *from, const char *name)
{
    size_t pair[2];
    return name && columns_find_pair(from->reader, name, pair);
}

oif_text columns_time(input_columns *columns, const oif_record *record)
{
    const oif_text date = record->texts[columns->time_text];
    if (!columns->has_clock)
        return date;
    const int bytes = time_of_day_join(date.text, date.bytes, record->texts[columns->clock_text],
                                       columns->time_joined, sizeof columns->time_joined);
    return bytes > 0 ? (oif_text){columns->time_joined, (size_t)bytes} : date;
}

/* Finds a column by its name, and gives it a use other than learning. */
static exit_code set_aside(input_columns *columns, const char *option, const char *name,
                           column_use use, size_t *column)
{
    exit_code code = name ? find_column(&columns->from, option, name, column) : EXIT_OK;
    if (name && code == EXIT_OK)
        columns->uses[*column] = use;
    return code;
}

static exit_code set_time(input_columns *columns, const char *name)
{
    size_t pair[2];
    columns->has_time = name != NULL;
    columns->time_name = name;
    if (!name)
        return EXIT_OK;
    columns->has_clock = columns_find_pair(columns->from.reader, name, pair);
    if (!columns->has_clock)
        return set_aside(columns, "time", name, COLUMN_TIME, &columns->time_text);
    columns->time_text = pair[0];
    columns->clock_text = pair[1];
    columns->uses[pair[0]] = columns->uses[pair[1]] = COLUMN_TIME;
    return EXIT_OK;
}

/* The NDJSON reader adds a column for each unknown name, so all names come first. */
static exit_code find_all_names(const column_source *from, const run_settings *settings,
                                const key_columns *key)
{
    const struct {
        const char *option, *names;
    } lists[] = {{"columns", settings->columns},
                 {"exclude", settings->exclude},
                 {"rate", settings->score.rate},
                 {"category", settings->score.category}},
      single[] = {{"label", settings->label},
                  {"time", is_pair(from, settings->score.time) ? NULL : settings->score.time}};
    exit_code code = EXIT_OK;
    size_t column;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && code == EXIT_OK; i++)
        code = mark_list(from, lists[i].names, (list_meaning){.option = lists[i].option});
    for (size_t i = 0; i < 2 && code == EXIT_OK; i++)
        if (single[i].names)
            code = find_column(from, single[i].option, single[i].names, &column);
    for (size_t i = 0; i < key->count && code == EXIT_OK; i++)
        code = find_column(from, "key", key->names[i], &column);
    if (code == EXIT_OK && takes_known_columns(from, settings))
        code = known_columns_find(from);
    return code;
}

static void mark_all(input_columns *columns, const run_settings *settings)
{
    bool takes_known = takes_known_columns(&columns->from, settings);
    for (size_t i = 0; i < columns->use_count; i++)
        columns->uses[i] = settings->columns ? COLUMN_NOT_CHOSEN
                           : takes_known     ? COLUMN_NOT_IN_STATE
                                             : COLUMN_LEARNED;
    if (takes_known)
        known_columns_mark(&columns->from, columns->uses);
}

/* Categories are learned even if --columns does not name them; those of the known pipeline even
 * without --category. */
static exit_code mark_categories(input_columns *columns, const run_settings *settings)
{
    const column_source *from = &columns->from;
    list_meaning category = {"category", columns->uses, COLUMN_CATEGORY, COLUMN_CATEGORY};
    size_t column;
    oif_derive kind;
    oif_error error;
    for (size_t i = 0; from->known && i < oif_pipeline_learned_columns(from->known); i++) {
        size_t known = oif_pipeline_learned_from(from->known, i, &kind);
        if (kind == OIF_DERIVE_CATEGORY && known_columns_have_names(from) &&
            oif_reader_find_column(from->reader, oif_pipeline_column_name(from->known, known),
                                   &column, &error) == OIF_OK &&
            column < columns->use_count)
            columns->uses[column] = COLUMN_CATEGORY;
    }
    return mark_list(from, settings->score.category, category);
}

static exit_code mark_uses(input_columns *columns, const run_settings *settings)
{
    const column_source *from = &columns->from;
    list_meaning chosen = {"columns", columns->uses, COLUMN_CHOSEN, COLUMN_LEARNED},
                 excluded = {"exclude", columns->uses, COLUMN_EXCLUDED, COLUMN_EXCLUDED};
    mark_all(columns, settings);
    exit_code code = mark_list(from, settings->columns, chosen);
    if (code == EXIT_OK)
        code = mark_categories(columns, settings);
    if (code == EXIT_OK)
        code = mark_list(from, settings->exclude, excluded);
    if (code == EXIT_OK)
        code = set_aside(columns, "label", settings->label, COLUMN_LABEL, &columns->label);
    for (size_t i = 0; i < columns->key.count && code == EXIT_OK; i++)
        code =
            set_aside(columns, "key", columns->key.names[i], COLUMN_KEY, &columns->key.columns[i]);
    if (code == EXIT_OK)
        code = set_time(columns, settings->score.time);
    if (code == EXIT_OK && !settings->columns && !takes_known_columns(from, settings))
        added_fields_leave_out(from, columns->uses);
    columns->has_key = settings->score.key != NULL;
    return code;
}

/* ---- Selecting ---- */

bool columns_is_learned(const input_columns *columns, size_t column)
{
    column_use use = columns->uses[column];
    return use == COLUMN_LEARNED || use == COLUMN_CHOSEN || use == COLUMN_CATEGORY;
}

static exit_code choose_learned(input_columns *columns, const run_settings *settings)
{
    const column_source *from = &columns->from;
    for (size_t i = 0; i < columns->use_count; i++)
        if (columns_is_learned(columns, i))
            columns->learned[columns->count++] = i;
    if (columns->count == 0)
        return complain(
            EXIT_USAGE,
            "%s: no column is left to learn from; name others with --columns, or exclude fewer",
            from->name);
    return known_columns_have_names(from)
               ? known_columns_sort(from, settings, columns->learned, columns->count)
               : EXIT_OK;
}

/* If neither the rows nor the known pipeline have names, the pipeline says which columns are
 * categories. */
static void mark_unnamed_categories(input_columns *columns)
{
    const oif_pipeline *known = columns->from.known;
    if (!known || oif_pipeline_columns(known) != columns->count)
        return;
    for (size_t i = 0; i < oif_pipeline_learned_columns(known); i++) {
        oif_derive kind;
        size_t column = oif_pipeline_learned_from(known, i, &kind);
        if (kind == OIF_DERIVE_CATEGORY)
            columns->uses[columns->learned[column]] = COLUMN_CATEGORY;
    }
}

/* Selects the columns that the reader returns as numbers, and the categories, which it returns
 * as texts. */
static exit_code select_values(input_columns *columns, size_t selection[])
{
    const column_source *from = &columns->from;
    size_t count = 0, categories = 0;
    mark_unnamed_categories(columns);
    for (size_t i = 0; i < columns->count; i++)
        categories += columns->uses[columns->learned[i]] == COLUMN_CATEGORY;
    if (!categories_open(&columns->categories, categories, columns->count,
                         from->format == OIF_FORMAT_NDJSON))
        return complain(EXIT_FAILED, "out of memory");
    categories = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->uses[columns->learned[i]] == COLUMN_CATEGORY)
            columns->categories.list[categories++].place = i;
        else
            selection[count++] = columns->learned[i];
    }
    oif_error error;
    if (oif_reader_select(from->reader, selection, count, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s: %s", from->name, error.message);
    return EXIT_OK;
}

/* Rows that are written in another format than they were read in, also as JSON for --on-alert,
 * are built from the texts of all columns. */
static bool needs_all_texts(oif_format format, const score_settings *settings)
{
    const output_facts *output = output_format_facts(output_format_for(settings->output, format));
    return output->extends != 1 + (int)format || (format == OIF_FORMAT_CSV && settings->on_alert);
}

/* Adds a column unless it is there already; returns its position. */
static size_t add_text(size_t selection[], size_t *count, size_t column)
{
    for (size_t i = 0; i < *count; i++)
        if (selection[i] == column)
            return i;
    selection[*count] = column;
    return (*count)++;
}

/* Selects the columns that the reader returns as texts. time_text, so far a column, becomes a
 * position among these. */
static exit_code select_texts(input_columns *columns, const run_settings *settings,
                              bool reads_label, size_t selection[])
{
    oif_reader *reader = columns->from.reader;
    size_t count = 0;
    if (needs_all_texts(columns->from.format, &settings->score))
        for (; count < oif_reader_column_count(reader); count++)
            selection[count] = count;
    for (size_t i = 0; i < columns->key.count; i++)
        columns->key.texts[i] = add_text(selection, &count, columns->key.columns[i]);
    if (columns->has_time)
        columns->time_text = add_text(selection, &count, columns->time_text);
    if (columns->has_clock)
        columns->clock_text = add_text(selection, &count, columns->clock_text);
    if (reads_label)
        columns->label_text = add_text(selection, &count, columns->label);
    for (size_t i = 0; i < columns->categories.count; i++) {
        category_column *category = &columns->categories.list[i];
        category->text = add_text(selection, &count, columns->learned[category->place]);
    }
    columns->text_count = count;
    oif_error error;
    if (count > 0 && oif_reader_select_texts(reader, selection, count, &error) != OIF_OK)
        return complain(EXIT_USAGE, "%s: %s", columns->from.name, error.message);
    return EXIT_OK;
}

/* ---- Choosing ---- */

exit_code columns_mark(input_columns *columns, const column_source *from,
                       const run_settings *settings)
{
    *columns = (input_columns){.from = *from, .time_format = settings_time_format(settings)};
    exit_code code = key_columns_split(&columns->key, settings->score.key);
    if (code == EXIT_OK)
        code = find_all_names(from, settings, &columns->key);
    columns->use_count = oif_reader_column_count(from->reader);
    columns->uses = calloc(columns->use_count, sizeof *columns->uses);
    columns->learned = calloc(columns->use_count + 1, sizeof *columns->learned);
    if (!columns->uses || !columns->learned)
        return complain(EXIT_FAILED, "out of memory");
    return code == EXIT_OK ? mark_uses(columns, settings) : code;
}

exit_code columns_select(input_columns *columns, const run_settings *settings, label_use use)
{
    size_t *selection = calloc(columns->use_count + 1, sizeof *selection);
    if (!selection)
        return complain(EXIT_FAILED, "out of memory");
    const bool reads_label = settings->label && use == LABEL_READ;
    exit_code code = choose_learned(columns, settings);
    if (code == EXIT_OK)
        code = select_values(columns, selection);
    if (code == EXIT_OK)
        code = select_texts(columns, settings, reads_label, selection);
    free(selection);
    return code;
}

void columns_close(input_columns *columns)
{
    free(columns->uses);
    free(columns->undecided);
    free(columns->learned);
    free(columns->time_pair);
    key_columns_close(&columns->key);
    categories_close(&columns->categories);
}

const char *columns_name(const input_columns *columns, size_t position)
{
    const column_source *from = &columns->from;
    const char *known = from->known ? oif_pipeline_column_name(from->known, position) : NULL;
    return known ? known : oif_reader_column_name(from->reader, columns->learned[position]);
}

exit_code columns_name_pipeline(const input_columns *columns, oif_pipeline *pipeline)
{
    if (!column_source_has_names(&columns->from) || oif_pipeline_column_name(pipeline, 0))
        return EXIT_OK;
    const char **names = calloc(columns->count, sizeof *names);
    if (!names)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < columns->count; i++)
        names[i] = columns_name(columns, i);
    oif_error error;
    oif_status status = oif_pipeline_name_columns(pipeline, names, &error);
    free(names);
    return status == OIF_OK ? EXIT_OK
                            : complain(EXIT_FAILED, "%s: %s", columns->from.name, error.message);
}
