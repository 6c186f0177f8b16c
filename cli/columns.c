#include "columns.h"

#include "added_fields.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

static bool is_named(const oif_reader *reader, size_t column, const char *name, size_t name_bytes)
{
    const char *column_name = oif_reader_column_name(reader, column);
    return strlen(column_name) == name_bytes && memcmp(column_name, name, name_bytes) == 0;
}

/* A column that the first line of NDJSON lacks may come later. It may as well be a mistake, so
 * a note says so. */
static exit_code add_column(const column_source *from, const char *name, size_t name_bytes,
                            const char *hint, size_t *added)
{
    char *terminated = strndup(name, name_bytes);
    oif_error error = {.status = OIF_EMEMORY, .message = "out of memory"};
    oif_status status =
        terminated ? oif_reader_find_column(from->reader, terminated, added, &error) : OIF_EMEMORY;
    free(terminated);
    if (status != OIF_OK)
        return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s: %s", from->name,
                        error.message);
    note("%s: the first line has no '%.*s'%s; it is missing until a line has it", from->name,
         (int)name_bytes, name, hint);
    return EXIT_OK;
}

static exit_code complain_no_column(const column_source *from, const char *name, size_t name_bytes,
                                    size_t *added)
{
    word_suggestion suggestion = suggestion_for(name, name_bytes);
    char hint[HINT_BYTES];
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++)
        suggestion_consider(&suggestion, oif_reader_column_name(from->reader, i));
    suggestion_hint(&suggestion, "", hint);
    if (from->format == OIF_FORMAT_NDJSON)
        return add_column(from, name, name_bytes, hint, added);
    return complain(
        EXIT_USAGE, "%s: there is no column '%.*s'%s%s", from->name, (int)name_bytes, name, hint,
        oif_reader_has_header(from->reader) ? "" : " (no header: columns are x0, x1, ...)");
}

static exit_code find_column(const column_source *from, const char *name, size_t name_bytes,
                             size_t *found)
{
    size_t matches = 0;
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++) {
        if (is_named(from->reader, i, name, name_bytes)) {
            *found = i;
            matches++;
        }
    }
    if (matches == 0)
        return complain_no_column(from, name, name_bytes, found);
    if (matches > 1)
        return complain(EXIT_USAGE, "%s: %zu columns are called '%.*s'; give each its own name",
                        from->name, matches, (int)name_bytes, name);
    return EXIT_OK;
}

/* Sets used[column] for each name in a list such as "a,b,c"; without `used` it only sees that
 * they exist. */
static exit_code mark_columns(const column_source *from, const char *names, bool used[], bool value)
{
    while (names) {
        size_t column, name_bytes = strcspn(names, ",");
        exit_code code = find_column(from, names, name_bytes, &column);
        if (code != EXIT_OK)
            return code;
        if (used)
            used[column] = value;
        if (names[name_bytes] == '\0')
            return EXIT_OK;
        names += name_bytes + 1;
    }
    return EXIT_OK;
}

/* Finds a column that is not learned from. */
static exit_code set_aside(const column_source *from, const char *name, bool used[], size_t *column)
{
    exit_code code = name ? find_column(from, name, strlen(name), column) : EXIT_OK;
    if (name && code == EXIT_OK)
        used[*column] = false;
    return code;
}

/* Lines of NDJSON may lack keys and have others, so the known columns are the default. */
static bool takes_known_columns(const column_source *from, const cli_settings *settings)
{
    return from->format == OIF_FORMAT_NDJSON && !settings->columns &&
           known_columns_have_names(from);
}

/* NDJSON makes columns of names that it does not know, so all names come first. */
static exit_code find_all_names(const column_source *from, const cli_settings *settings,
                                const key_columns *key)
{
    const char *lists[] = {settings->columns,    settings->exclude,   settings->score.diff,
                           settings->score.rate, settings->score.log, settings->score.category};
    const char *names[] = {settings->label, settings->score.time};
    exit_code code = EXIT_OK;
    size_t column;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && code == EXIT_OK; i++)
        code = mark_columns(from, lists[i], NULL, true);
    for (size_t i = 0; i < 2 && code == EXIT_OK; i++)
        code = names[i] ? find_column(from, names[i], strlen(names[i]), &column) : EXIT_OK;
    for (size_t i = 0; i < key->count && code == EXIT_OK; i++)
        code = find_column(from, key->names[i], strlen(key->names[i]), &column);
    if (code == EXIT_OK && takes_known_columns(from, settings))
        code = known_columns_find(from);
    return code;
}

/* Categories are learned also where --columns does not name them, and those of the known pipeline
 * without --category. */
static exit_code mark_categories(const column_source *from, const cli_settings *settings,
                                 bool used[], bool is_category[])
{
    size_t column;
    oif_derive kind;
    oif_error error;
    for (size_t i = 0; from->known && i < oif_pipeline_learned_columns(from->known); i++) {
        size_t known = oif_pipeline_learned_from(from->known, i, &kind);
        if (kind == OIF_DERIVE_CATEGORY && known_columns_have_names(from) &&
            oif_reader_find_column(from->reader, oif_pipeline_column_name(from->known, known),
                                   &column, &error) == OIF_OK)
            used[column] = is_category[column] = true;
    }
    exit_code code = mark_columns(from, settings->score.category, used, true);
    return code == EXIT_OK ? mark_columns(from, settings->score.category, is_category, true) : code;
}

static exit_code mark_learned(cli_columns *columns, const cli_settings *settings, bool used[],
                              bool is_category[])
{
    const column_source *from = &columns->from;
    bool takes_known = takes_known_columns(from, settings);
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++)
        used[i] = !settings->columns && !takes_known;
    if (takes_known)
        known_columns_mark(from, used);
    exit_code code = mark_columns(from, settings->columns, used, true);
    if (code == EXIT_OK)
        code = mark_categories(from, settings, used, is_category);
    if (code == EXIT_OK)
        code = mark_columns(from, settings->exclude, used, false);
    if (code == EXIT_OK)
        code = set_aside(from, settings->label, used, &columns->label);
    for (size_t i = 0; i < columns->key.count && code == EXIT_OK; i++)
        code = set_aside(from, columns->key.names[i], used, &columns->key.columns[i]);
    if (code == EXIT_OK)
        code = set_aside(from, settings->score.time, used, &columns->time_text);
    if (code == EXIT_OK && !settings->columns && !takes_known)
        added_fields_leave_out(from, used);
    return code;
}

/* Where neither side has names, the known pipeline says which columns are categories. */
static void mark_unnamed_categories(const cli_columns *columns, bool is_category[])
{
    const oif_pipeline *known = columns->from.known;
    if (!known || oif_pipeline_columns(known) != columns->count)
        return;
    for (size_t i = 0; i < oif_pipeline_learned_columns(known); i++) {
        oif_derive kind;
        size_t column = oif_pipeline_learned_from(known, i, &kind);
        if (kind == OIF_DERIVE_CATEGORY)
            is_category[columns->learned[column]] = true;
    }
}

/* Those that are numbers become values, those that are categories texts. */
static exit_code select_values(cli_columns *columns, bool is_category[], bool reads_label,
                               size_t selection[])
{
    const column_source *from = &columns->from;
    size_t count = 0, categories = 0;
    mark_unnamed_categories(columns, is_category);
    for (size_t i = 0; i < columns->count; i++)
        categories += is_category[columns->learned[i]];
    if (!categories_open(&columns->categories, categories, columns->count,
                         from->format == OIF_FORMAT_NDJSON))
        return complain(EXIT_FAILED, "out of memory");
    categories = 0;
    for (size_t i = 0; i < columns->count; i++) {
        if (is_category[columns->learned[i]])
            columns->categories.list[categories++].place = i;
        else
            selection[count++] = columns->learned[i];
    }
    if (reads_label)
        selection[count++] = columns->label;
    oif_error error;
    if (oif_reader_select(from->reader, selection, count, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s: %s", from->name, error.message);
    return EXIT_OK;
}

static exit_code choose_learned(cli_columns *columns, const cli_settings *settings,
                                const bool used[])
{
    const column_source *from = &columns->from;
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++)
        if (used[i])
            columns->learned[columns->count++] = i;
    if (columns->count == 0)
        return complain(EXIT_USAGE, "%s: no column is left to learn from", from->name);
    return known_columns_have_names(from)
               ? known_columns_sort(from, settings, columns->learned, columns->count)
               : EXIT_OK;
}

/* Rows that are written in another format than they came in, also for --on-alert, are made of
 * their texts. */
static bool needs_all_texts(oif_format format, const score_settings *settings)
{
    output_format output = settings->output;
    if (format == OIF_FORMAT_RAW)
        return false;
    return output == OUTPUT_LOGFMT || output == OUTPUT_INFLUX ||
           (format == OIF_FORMAT_CSV && (output == OUTPUT_NDJSON || settings->on_alert)) ||
           (format == OIF_FORMAT_NDJSON && output == OUTPUT_CSV);
}

/* Adds a column unless it is among them; returns its position. */
static size_t add_text(size_t selection[], size_t *count, size_t column)
{
    for (size_t i = 0; i < *count; i++)
        if (selection[i] == column)
            return i;
    selection[*count] = column;
    return (*count)++;
}

/* time_text is a column until now. */
static exit_code select_texts(cli_columns *columns, const cli_settings *settings, bool reads_label,
                              size_t selection[])
{
    oif_reader *reader = columns->from.reader;
    size_t count = 0;
    columns->has_key = settings->score.key != NULL;
    columns->has_time = settings->score.time != NULL;
    if (needs_all_texts(columns->from.format, &settings->score))
        for (; count < oif_reader_column_count(reader); count++)
            selection[count] = count;
    for (size_t i = 0; i < columns->key.count; i++)
        columns->key.texts[i] = add_text(selection, &count, columns->key.columns[i]);
    if (columns->has_time)
        columns->time_text = add_text(selection, &count, columns->time_text);
    if (reads_label)
        columns->label_text = add_text(selection, &count, columns->label);
    for (size_t i = 0; i < columns->categories.count; i++) {
        cli_category *category = &columns->categories.list[i];
        category->text = add_text(selection, &count, columns->learned[category->place]);
    }
    oif_error error;
    if (count > 0 && oif_reader_select_texts(reader, selection, count, &error) != OIF_OK)
        return complain(EXIT_USAGE, "%s: %s", columns->from.name, error.message);
    return EXIT_OK;
}

exit_code columns_choose(cli_columns *columns, const column_source *from,
                         const cli_settings *settings, label_use use)
{
    *columns = (cli_columns){.from = *from};
    exit_code code = key_columns_split(&columns->key, settings->score.key);
    if (code == EXIT_OK)
        code = find_all_names(from, settings, &columns->key);
    size_t column_count = oif_reader_column_count(from->reader);
    bool *used = calloc(column_count, sizeof *used);
    bool *is_category = calloc(column_count, sizeof *is_category);
    size_t *selection = calloc(column_count + 1, sizeof *selection);
    columns->learned = calloc(column_count + 1, sizeof *columns->learned);
    bool has_memory = used && is_category && selection && columns->learned;
    bool reads_label = settings->label && use == LABEL_READ,
         is_raw = from->format == OIF_FORMAT_RAW;
    if (!has_memory)
        code = complain(EXIT_FAILED, "out of memory");
    if (has_memory && code == EXIT_OK)
        code = mark_learned(columns, settings, used, is_category);
    if (code == EXIT_OK)
        code = choose_learned(columns, settings, used);
    if (code == EXIT_OK)
        code = select_values(columns, is_category, reads_label && is_raw, selection);
    if (code == EXIT_OK)
        code = select_texts(columns, settings, reads_label && !is_raw, selection);
    free(selection);
    free(is_category);
    free(used);
    return code;
}

void columns_close(cli_columns *columns)
{
    free(columns->learned);
    key_columns_close(&columns->key);
    categories_close(&columns->categories);
}

const char *columns_name(const cli_columns *columns, size_t position)
{
    const column_source *from = &columns->from;
    const char *known = from->known ? oif_pipeline_column_name(from->known, position) : NULL;
    return known ? known : oif_reader_column_name(from->reader, columns->learned[position]);
}
