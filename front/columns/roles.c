#include "roles.h"

#include "front/input/input_error.h"
#include "front/input/other_formats.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <stdlib.h>
#include <string.h>

/* With many keys, a single one may take long to have enough rows. */
enum { RISING_WATCH_ROWS = 20000 };

static const char *name_at(const cli_columns *columns, size_t column)
{
    return oif_reader_column_name(columns->from.reader, column);
}

/* ---- Names that occur twice ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static exit_code report_repeated(const cli_columns *columns, const cli_settings *settings)
{
    const char **names = calloc(columns->use_count, sizeof *names);
    names_text repeated = {.count = 0};
    if (!names)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < columns->use_count; i++)
        names[i] = name_at(columns, i);
    qsort(names, columns->use_count, sizeof *names, by_name);
    for (size_t i = 1; i < columns->use_count; i++)
        if (strcmp(names[i], names[i - 1]) == 0 && (i == 1 || strcmp(names[i], names[i - 2]) != 0))
            names_text_add(&repeated, names[i]);
    free(names);
    if (repeated.count == 0)
        return EXIT_OK;
    if (settings->strict)
        return complain(EXIT_FAILED, "%s: several columns are called %s; give each its own name",
                        columns->from.name, names_text_read(&repeated));
    if (!settings->is_quiet)
        note("%s: several columns are called %s, so options cannot name them; give each its own "
             "name",
             columns->from.name, names_text_read(&repeated));
    return EXIT_OK;
}

/* ---- A header that was taken for a row ---- */

/* A line whose names contain a number is taken for a row. Then the first row has text where all
 * others have numbers or times. */
static bool is_like_a_header(const column_look *column)
{
    uint32_t others = column->texts - 1;
    return column->begins_as_name && others + column->numbers > 0 &&
           (others == 0 || (column->numbers == 0 && column->times == others));
}

static exit_code check_header(const cli_columns *columns, const cli_settings *settings)
{
    const column_source *from = &columns->from;
    if (from->format != OIF_FORMAT_CSV || oif_reader_has_header(from->reader) ||
        settings->header != OIF_HEADER_AUTO || settings->score.on_bad_row != BAD_ROW_FAILS)
        return EXIT_OK;
    for (size_t i = 0; i < from->look->column_count; i++)
        if (columns->uses[i] == COLUMN_LEARNED && is_like_a_header(&from->look->columns[i]))
            return complain(EXIT_FAILED,
                            "%s:%llu: the first line has text in column %zu, and the lines after "
                            "it have numbers: if it is a header, add --header",
                            from->name, (unsigned long long)from->header_line, i + 1);
    return EXIT_OK;
}

/* ---- Comments that were taken for rows ---- */

/* Where most rows begin with #, as colors and channels do, they are not comments. */
static void report_comments(const cli_columns *columns, const cli_settings *settings)
{
    const first_rows *look = columns->from.look;
    if (look->hash_rows > 0 && look->hash_rows <= look->rows / 2 && !settings->is_quiet)
        note("%s: %zu of the first %zu rows begin%s with #; leave comments out with --comment '#'",
             columns->from.name, look->hash_rows, look->rows, look->hash_rows == 1 ? "s" : "");
}

/* ---- Text and times ---- */

/* Some options imply what a column is. */
static bool is_derived(const cli_settings *settings, const char *name)
{
    return name_list_has(settings->score.diff, name) || name_list_has(settings->score.rate, name) ||
           name_list_has(settings->score.log, name);
}

static bool is_open(const cli_columns *columns, const cli_settings *settings, size_t column)
{
    return columns->uses[column] == COLUMN_LEARNED &&
           !is_derived(settings, name_at(columns, column));
}

static bool may_be_time(const cli_columns *columns, const cli_settings *settings, size_t column)
{
    const column_source *from = &columns->from;
    const char *name = name_at(columns, column);
    if (!is_open(columns, settings, column) && columns->uses[column] != COLUMN_NOT_IN_STATE)
        return false;
    return column_look_time(&from->look->columns[column], name) == TIME_FORWARD &&
           !(known_columns_have_names(from) && known_columns_have(from, name));
}

/* The first column that may be the time, preferably one whose name says so; use_count if there
 * is none. */
static size_t find_time(const cli_columns *columns, const cli_settings *settings)
{
    size_t found = columns->use_count;
    for (size_t i = 0; i < columns->from.look->column_count; i++) {
        if (!may_be_time(columns, settings, i))
            continue;
        if (rising_says_time(name_at(columns, i)))
            return i;
        if (found == columns->use_count)
            found = i;
    }
    return found;
}

static void take_time(cli_columns *columns, const cli_settings *settings)
{
    names_text name = {.count = 0};
    size_t column = find_time(columns, settings);
    if (column == columns->use_count)
        return;
    columns->uses[column] = COLUMN_TIME;
    columns->has_time = true;
    columns->time_text = column;
    columns->time_name = name_at(columns, column);
    columns_list(&name, columns->from.reader, column, "");
    if (!settings->is_quiet)
        note("%s: '%s' is taken for the time of the rows, as if you had given --time %s; "
             "--exclude %s leaves it out",
             columns->from.name, cut_name(columns->time_name).text, names_text_paste(&name),
             names_text_paste(&name));
}

/* ": sort ... FILE | oif score": sorts the rows by a column. "" where the order of its texts is not
 * that of the times, and in NDJSON. */
static file_command sort_command(const cli_columns *columns, size_t column)
{
    const column_source *from = &columns->from;
    const column_look *look = &from->look->columns[column];
    const char delimiter = oif_reader_delimiter(from->reader);
    char sort[64], command[160] = "";
    bool has_year_first = strspn(look->first_text, "0123456789") >= 4;
    snprintf(sort, sizeof sort, "sort -s -t %s -k %zu,%zu%s",
             delimiter == '\t' ? "$'\\t'" : (char[]){'\'', delimiter, '\'', '\0'}, column + 1,
             column + 1, look->numbers > 0 ? "n" : "");
    if (delimiter == '\0' || delimiter == ' ' || (look->numbers == 0 && !has_year_first))
        return other_formats_command(from->name, "");
    if (oif_reader_has_header(from->reader))
        snprintf(
            command, sizeof command, ": (head -n %llu FILE; tail -n +%llu FILE | %s) | oif score",
            (unsigned long long)from->header_line, (unsigned long long)from->header_line + 1, sort);
    else
        snprintf(command, sizeof command, ": %s FILE | oif score", sort);
    return other_formats_command(from->name, command);
}

/* The newest rows come first: the time is not learned, and cannot be used as it is. */
static void leave_backward_out(cli_columns *columns, const cli_settings *settings)
{
    const column_source *from = &columns->from;
    for (size_t i = 0; i < from->look->column_count && !from->known; i++) {
        names_text name = {.count = 0};
        if (!is_open(columns, settings, i) ||
            column_look_time(&from->look->columns[i], name_at(columns, i)) != TIME_BACKWARD)
            continue;
        columns->uses[i] = COLUMN_GOES_BACK;
        columns_list(&name, from->reader, i, "");
        if (!settings->is_quiet)
            note("%s: the times in '%s' go backwards, so the column is left out; sort the rows, "
                 "oldest first%s; or use the times anyway with --time %s",
                 from->name, cut_name(name_at(columns, i)).text, sort_command(columns, i).text,
                 names_text_paste(&name));
    }
}

static void leave_label_out(cli_columns *columns, const cli_settings *settings)
{
    const column_source *from = &columns->from;
    for (size_t i = 0; i < from->look->column_count && !from->known; i++) {
        names_text name = {.count = 0};
        if (!is_open(columns, settings, i) ||
            !column_look_is_label(&from->look->columns[i], name_at(columns, i)))
            continue;
        columns->uses[i] = COLUMN_LABEL;
        columns_list(&name, from->reader, i, "");
        if (!settings->is_quiet)
            note("%s: '%s' is taken for known labels and left out, as if you had given --label "
                 "%s; to learn it, list all columns with --columns A,B,...",
                 from->name, cut_name(name_at(columns, i)).text, names_text_paste(&name));
    }
}

/* Gives all columns that hold text this use; COLUMN_LEARNED: they keep theirs. */
static void list_text(cli_columns *columns, const cli_settings *settings, column_use use,
                      names_text *texts)
{
    const column_source *from = &columns->from;
    for (size_t i = 0; i < from->look->column_count; i++) {
        const column_look *column = &from->look->columns[i];
        if (!is_open(columns, settings, i) || !column_look_is_text(column))
            continue;
        columns->uses[i] = use;
        columns_list(texts, from->reader, i, column->first_text);
    }
}

static exit_code refuse_text(const cli_columns *columns, const cli_settings *settings,
                             names_text *texts)
{
    names_text time = {.count = 0};
    size_t column = settings->score.time ? columns->use_count : find_time(columns, settings);
    if (column < columns->use_count)
        names_text_add(&time, name_at(columns, column));
    return complain(EXIT_FAILED,
                    "%s: text in %s, and --strict does not guess what it is for: add --exclude %s, "
                    "or use it with --key, --label or --category%s%s",
                    columns->from.name, names_text_read(texts), names_text_paste(texts),
                    time.count > 0 ? "; times are used with --time " : "",
                    time.count > 0 ? names_text_paste(&time) : "");
}

static size_t count_learned(const cli_columns *columns)
{
    size_t count = 0;
    for (size_t i = 0; i < columns->use_count; i++)
        count += columns_is_learned(columns, i);
    return count;
}

/* The name of a column that holds text has blanks. */
static bool is_text_with_blanks(const cli_columns *columns)
{
    for (size_t i = 0; i < columns->use_count; i++)
        if (columns->uses[i] == COLUMN_IS_TEXT && strpbrk(name_at(columns, i), " \t"))
            return true;
    return false;
}

/* ---- Numbers that are text ---- */

typedef struct text_advice {
    char text[2 * NAMES_TEXT_BYTES + 256 + sizeof(file_command)];
} text_advice;

static void add_numbers_advice(const cli_columns *columns, number_as_text kind, const char *remedy,
                               text_advice *advice)
{
    const first_rows *look = columns->from.look;
    names_text names = {.count = 0};
    size_t used = strlen(advice->text);
    for (size_t i = 0; i < look->column_count; i++)
        if (columns->uses[i] == COLUMN_IS_TEXT &&
            column_look_number_as_text(&look->columns[i]) == kind)
            names_text_add(&names, name_at(columns, i));
    if (names.count > 0)
        snprintf(advice->text + used, sizeof advice->text - used,
                 "; to learn the numbers in %s, %s", names_text_read(&names), remedy);
}

/* "" where no text is like a number. */
static text_advice advise_on_numbers(const cli_columns *columns)
{
    text_advice advice = {.text = ""};
    add_numbers_advice(columns, NUMBER_AS_TEXT_QUOTED,
                       "remove their quotes: jq -c 'walk(tonumber? // .)'", &advice);
    add_numbers_advice(columns, NUMBER_AS_TEXT_MARKED,
                       "write them as in -1234.5, without units and separators of thousands",
                       &advice);
    return advice;
}

/* Says why a text that is a time is not taken for that of the rows. */
static void advise_on_times(const cli_columns *columns, text_advice *advice)
{
    const first_rows *look = columns->from.look;
    for (size_t i = 0; i < look->column_count && !columns->has_time; i++) {
        const column_look *column = &look->columns[i];
        size_t used = strlen(advice->text);
        if (columns->uses[i] != COLUMN_IS_TEXT || !column_look_is_mixed_time(column))
            continue;
        snprintf(advice->text + used, sizeof advice->text - used,
                 "; the times in %s go backwards in %u of %u rows: if it is the time of the rows, "
                 "sort the rows, oldest first%s",
                 cut_name(name_at(columns, i)).text, column->backward, column->ordered,
                 sort_command(columns, i).text);
        return;
    }
}

static exit_code leave_text_out(cli_columns *columns, const cli_settings *settings)
{
    names_text texts = {.count = 0};
    size_t before = count_learned(columns);
    list_text(columns, settings, COLUMN_IS_TEXT, &texts);
    if (texts.count == 0 || known_columns_have_names(&columns->from))
        return EXIT_OK; /* a state has decided about them before */
    text_advice advice = advise_on_numbers(columns);
    if (texts.count == before && advice.text[0] != '\0')
        return complain(EXIT_FAILED, "%s: no column is left to learn from: text in %s%s",
                        columns->from.name, names_text_read(&texts), advice.text);
    if (texts.count == before)
        return complain(EXIT_FAILED,
                        "%s: no column is left to learn from: text in %s; to learn which texts are "
                        "rare, add --category %s%s",
                        columns->from.name, names_text_read(&texts), names_text_paste(&texts),
                        before == 1 && is_text_with_blanks(columns)
                            ? "; if blanks separate the columns: --delimiter ' '"
                            : "");
    advise_on_times(columns, &advice);
    if (!settings->is_quiet)
        note("%s: text in %s: left out; use it with --category, --key, --time or --label, or add "
             "--exclude %s to leave it out without this note%s",
             columns->from.name, names_text_read(&texts), names_text_paste(&texts), advice.text);
    return EXIT_OK;
}

/* ---- A state knows its columns ---- */

/* Leaves out columns that the state has not learned, if the input has all that it has learned. */
static void leave_unknown_out(cli_columns *columns)
{
    const column_source *from = &columns->from;
    names_text unknown = {.count = 0};
    if (from->format != OIF_FORMAT_CSV || !known_columns_have_names(from) ||
        count_learned(columns) <= oif_pipeline_columns(from->known) ||
        !known_columns_are_all_here(from))
        return;
    for (size_t i = 0; i < columns->use_count; i++) {
        if (columns->uses[i] != COLUMN_LEARNED || known_columns_have(from, name_at(columns, i)))
            continue;
        columns->uses[i] = COLUMN_NOT_IN_STATE;
        names_text_add(&unknown, name_at(columns, i));
    }
    if (unknown.count > 0)
        note("%s: the state %s has not learned from %s: left out", from->name, from->known_path,
             names_text_read(&unknown));
}

/* Rows without names have the columns of the state if they have as many. */
static bool fits_without_names(const cli_columns *columns)
{
    const column_source *from = &columns->from;
    return from->known && !known_columns_have_names(from) &&
           count_learned(columns) == oif_pipeline_columns(from->known);
}

static exit_code decide(cli_columns *columns, const cli_settings *settings)
{
    exit_code code = check_header(columns, settings);
    report_comments(columns, settings);
    if (code == EXIT_OK && !settings->strict && !settings->score.time && !settings->columns)
        take_time(columns, settings);
    if (code == EXIT_OK && !columns->has_time && !settings->columns)
        leave_backward_out(columns, settings);
    if (code == EXIT_OK && !settings->label && !settings->columns)
        leave_label_out(columns, settings);
    return code == EXIT_OK ? leave_text_out(columns, settings) : code;
}

static exit_code check_strictly(cli_columns *columns, const cli_settings *settings)
{
    names_text texts = {.count = 0};
    list_text(columns, settings, COLUMN_LEARNED, &texts);
    return texts.count > 0 ? refuse_text(columns, settings, &texts)
                           : check_header(columns, settings);
}

/* A column without any value in the first rows may turn out to be text; then its texts are missing,
 * not errors. */
static exit_code find_undecided(cli_columns *columns, const cli_settings *settings)
{
    const first_rows *look = columns->from.look;
    for (size_t i = 0; i < look->column_count; i++) {
        const column_look *column = &look->columns[i];
        if (!is_open(columns, settings, i) || column->numbers + column->texts + column->refused > 0)
            continue;
        if (!columns->undecided)
            columns->undecided = calloc(columns->use_count, sizeof *columns->undecided);
        if (!columns->undecided)
            return complain(EXIT_FAILED, "out of memory");
        columns->undecided[i].is_undecided = true;
        columns->undecided[i].is_told = settings->is_quiet;
        oif_reader_allow_text(columns->from.reader, i);
    }
    return EXIT_OK;
}

exit_code roles_find(cli_columns *columns, const cli_settings *settings)
{
    const first_rows *look = columns->from.look;
    exit_code code = report_repeated(columns, settings);
    if (code != EXIT_OK || fits_without_names(columns))
        return code;
    if (look && look->rows > 0)
        code = settings->strict ? check_strictly(columns, settings) : decide(columns, settings);
    if (code == EXIT_OK && !settings->strict)
        leave_unknown_out(columns);
    if (code == EXIT_OK && !settings->strict && look && look->rows > 0)
        code = find_undecided(columns, settings);
    if (look && columns->has_time && !columns->has_key && columns->time_text < look->column_count)
        columns->row_seconds = column_look_row_seconds(&look->columns[columns->time_text]);
    return code;
}

/* ---- Columns that only ever rise ---- */

/* "; --exclude id": the option for the columns of one kind. */
typedef struct rising_advice {
    char text[3 * NAMES_TEXT_BYTES];
} rising_advice;

static void add_advice(rising_advice *advice, names_text *names, const char *what,
                       const char *option)
{
    size_t used = strlen(advice->text);
    if (names->count > 0)
        snprintf(advice->text + used, sizeof advice->text - used, "; %s %s %s", what, option,
                 names_text_paste(names));
}

static exit_code report_rising(const cli_columns *columns, const cli_settings *settings,
                               const rising_column rising[])
{
    names_text all = {.count = 0}, kinds[RISING_COUNTER + 1] = {{.count = 0}};
    rising_advice advice = {.text = ""};
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns_name(columns, i);
        rising_kind kind = rising_judge(&rising[i], name);
        if (kind == RISING_NOT || name_list_has(settings->score.rate, name) ||
            name_list_has(settings->score.diff, name))
            continue;
        if (kind == RISING_TIME && (columns->has_time || kinds[RISING_TIME].count > 0))
            kind = RISING_EVENLY;
        columns_list(&all, columns->from.reader, columns->learned[i], "");
        columns_list(&kinds[kind], columns->from.reader, columns->learned[i], "");
    }
    if (all.count == 0)
        return EXIT_OK;
    add_advice(&advice, &kinds[RISING_TIME], "if it is the time:", "--time");
    add_advice(&advice, &kinds[RISING_EVENLY], "leave it out with", "--exclude");
    add_advice(&advice, &kinds[RISING_COUNTER], "a counter is learned by", "--rate");
    if (settings->strict)
        return complain(EXIT_FAILED, "%s: --strict learns nothing that only ever rises: %s%s",
                        columns->from.name, names_text_read(&all), advice.text);
    if (!settings->is_quiet)
        note("%s: learned although it only ever rises, so every value is new: %s%s",
             columns->from.name, names_text_read(&all), advice.text);
    return EXIT_OK;
}

exit_code roles_report_rising(cli_columns *columns, const cli_settings *settings)
{
    const first_rows *look = columns->from.look;
    columns->is_rising_judged = columns->from.known;
    if (!look || look->rows < RISING_ROWS || columns->from.known)
        return EXIT_OK;
    rising_column *rising = calloc(columns->count, sizeof *rising);
    if (!rising)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->learned[i] < look->column_count &&
            columns->uses[columns->learned[i]] != COLUMN_CATEGORY)
            rising[i] = look->columns[columns->learned[i]].rising;
        columns->is_rising_judged |= rising[i].count >= RISING_ROWS;
    }
    exit_code code = report_rising(columns, settings, rising);
    free(rising);
    return code;
}

/* ---- Live ---- */

void rising_watch_start(rising_watch *watch, const cli_columns *columns)
{
    *watch = (rising_watch){.rows_left = RISING_WATCH_ROWS};
    if (!columns->is_rising_judged)
        watch->columns = calloc(columns->count, sizeof *watch->columns);
}

void rising_watch_end(rising_watch *watch)
{
    free(watch->columns);
    free(watch->key);
    watch->columns = NULL;
    watch->key = NULL;
}

static bool is_of_first_key(rising_watch *watch, oif_text key)
{
    if (!watch->key) {
        watch->key = malloc(key.bytes + 1);
        watch->key_bytes = key.bytes;
        if (watch->key)
            memcpy(watch->key, key.text, key.bytes);
    }
    return watch->key && watch->key_bytes == key.bytes &&
           memcmp(watch->key, key.text, key.bytes) == 0;
}

exit_code rising_watch_row(rising_watch *watch, const cli_columns *columns,
                           const cli_settings *settings, const oif_record *record)
{
    exit_code code = EXIT_OK;
    uint32_t most = 0;
    if (!columns->has_key || is_of_first_key(watch, key_columns_text(&columns->key, record))) {
        for (size_t i = 0, value = 0; i < columns->count; i++) {
            if (columns->uses[columns->learned[i]] == COLUMN_CATEGORY)
                continue;
            rising_add(&watch->columns[i], record->values[value++]);
            most = watch->columns[i].count > most ? watch->columns[i].count : most;
        }
    }
    if (most < RISING_ROWS && --watch->rows_left > 0)
        return EXIT_OK;
    code = report_rising(columns, settings, watch->columns);
    rising_watch_end(watch);
    return code;
}
