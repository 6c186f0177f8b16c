#include "roles.h"

#include "front/advice/advice.h"
#include "front/input/input_error.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With many keys, it takes long until a single one has enough rows. */
enum { RISING_WATCH_ROWS = 20000 };

static const char *name_at(const input_columns *columns, size_t column)
{
    return oif_reader_column_name(columns->from.reader, column);
}

/* ---- Names that occur twice ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static exit_code report_repeated(const input_columns *columns, const run_settings *settings)
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

/* A header with a number among its names was taken for a row: then the first row has text where
 * all others have numbers or times. */
static bool is_like_a_header(const column_look *column)
{
    uint32_t others = column->texts - 1;
    return column->begins_as_name && others + column->numbers > 0 &&
           (others == 0 || (column->numbers == 0 && column->time.times == others));
}

static exit_code check_header(const input_columns *columns, const run_settings *settings)
{
    const column_source *from = &columns->from;
    if (from->format != OIF_FORMAT_CSV || oif_reader_has_header(from->reader) ||
        settings->header != OIF_HEADER_AUTO || settings->score.on_bad_row != BAD_ROW_FAILS)
        return EXIT_OK;
    advice given;
    for (size_t i = 0; i < from->look->column_count; i++)
        if (columns->uses[i] == COLUMN_LEARNED && is_like_a_header(&from->look->columns[i]))
            return complain_because(
                advice_on(&given, ADVICE_HEADER, NULL), EXIT_FAILED,
                "%s:%llu: the first line has text in column %zu, and the lines after it have "
                "numbers",
                from->name, (unsigned long long)from->header_line, i + 1);
    return EXIT_OK;
}

/* ---- Comments that were taken for rows ---- */

/* If most rows begin with #, as rows of colours and channels do, they are not comments. */
static void report_comments(const input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    advice given;
    if (look->hash_rows > 0 && look->hash_rows <= look->rows / 2 && !settings->is_quiet)
        note_because(advice_on(&given, ADVICE_COMMENTS, NULL),
                     "%s: %zu of the first %zu rows begin%s with #", columns->from.name,
                     look->hash_rows, look->rows, look->hash_rows == 1 ? "s" : "");
}

/* ---- Text and times ---- */

/* Some options imply what a column is. */
static bool is_rate(const input_columns *columns, const run_settings *settings, const char *name)
{
    return name_list_covers(settings->score.rate, name, columns->from.format == OIF_FORMAT_NDJSON);
}

static bool is_open(const input_columns *columns, const run_settings *settings, size_t column)
{
    return columns->uses[column] == COLUMN_LEARNED &&
           !is_rate(columns, settings, name_at(columns, column));
}

static bool may_be_time(const input_columns *columns, const run_settings *settings, size_t column)
{
    const column_source *from = &columns->from;
    const char *name = name_at(columns, column);
    if (!is_open(columns, settings, column) && columns->uses[column] != COLUMN_NOT_IN_STATE)
        return false;
    return column_look_time(&from->look->columns[column], name) == TIME_FORWARD &&
           !known_columns_have(from->known, name);
}

/* The first column that may be the time; use_count if there is none. Preferably one that advances
 * at all, whose name says so, and that advances at most rows: `ts` rather than `date`. */
static size_t find_time(const input_columns *columns, const run_settings *settings)
{
    size_t found = columns->use_count;
    int most = -1;
    for (size_t i = 0; i < columns->from.look->column_count; i++) {
        const column_look *look = &columns->from.look->columns[i];
        const int suits = 4 * column_look_advances(look) +
                          2 * rising_says_time(name_at(columns, i)) +
                          column_look_advances_mostly(look);
        if (suits <= most || !may_be_time(columns, settings, i))
            continue;
        found = i;
        most = suits;
    }
    return found;
}

/* The only column with a time of day, if another column has dates; use_count if there is
 * none. */
static size_t find_clock(const input_columns *columns, const run_settings *settings, size_t date)
{
    const first_rows *look = columns->from.look;
    size_t found = columns->use_count;
    if (!column_look_is_date(&look->columns[date]))
        return found;
    for (size_t i = 0; i < look->column_count; i++) {
        if (!is_open(columns, settings, i) || !column_look_is_clock(&look->columns[i]) ||
            !rising_says_time(name_at(columns, i)))
            continue;
        if (found < columns->use_count)
            return columns->use_count;
        found = i;
    }
    return found;
}

/* Sets the name of both columns, "Date+Time". Returns false if out of memory. */
static bool name_pair(input_columns *columns)
{
    const char *date = name_at(columns, columns->time_text),
               *clock = name_at(columns, columns->clock_text);
    const size_t bytes = strlen(date) + strlen(clock) + 2;
    columns->time_pair = malloc(bytes);
    if (columns->time_pair)
        snprintf(columns->time_pair, bytes, "%s+%s", date, clock);
    return columns->time_pair != NULL;
}

/* Adds the column of the time of day to that of the dates. */
static void take_clock(input_columns *columns, const run_settings *settings)
{
    names_text name = {.count = 0};
    advice given;
    columns->clock_text = find_clock(columns, settings, columns->time_text);
    if (columns->clock_text == columns->use_count || !name_pair(columns))
        return;
    columns->has_clock = true;
    columns->uses[columns->clock_text] = COLUMN_TIME;
    columns->time_name = columns->time_pair;
    names_text_add(&name, columns->time_pair);
    if (!settings->is_quiet)
        note_because(advice_on(&given, ADVICE_TIME_PAIR, &(advice_words){.names = &name}),
                     "%s: the times of the rows are in '%s' and '%s'", columns->from.name,
                     cut_name(name_at(columns, columns->time_text)).text,
                     cut_name(name_at(columns, columns->clock_text)).text);
}

/* ---- The order of day and month ---- */

static bool is_date_in_order(const char *text, oif_day_order order)
{
    oif_time_format format = {.day_order = order};
    double seconds;
    return oif_time_parse(&format, text, strlen(text), &seconds, NULL) == OIF_OK &&
           format.form == OIF_TIME_FORM_SLASHED;
}

/* Sets the order of day and month that the first rows show, and notes it if the first row alone
 * does not show it. */
static void take_day_order(input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    advice given;
    if (!columns->has_time || columns->time_text >= look->column_count ||
        columns->time_format.day_order != OIF_DAY_ORDER_AUTO || columns->time_format.pattern)
        return;
    const column_look *column = &look->columns[columns->time_text];
    if (column->time.format.form != OIF_TIME_FORM_SLASHED)
        return;
    const bool is_day = column->time.format.day_order == OIF_DAY_FIRST;
    columns->time_format.day_order = column->time.format.day_order;
    if (!settings->is_quiet && is_date_in_order(column->first_text, OIF_DAY_FIRST) &&
        is_date_in_order(column->first_text, OIF_MONTH_FIRST))
        note_because(advice_on(&given, ADVICE_DAY_ORDER,
                               &(advice_words){.count = is_day ? "month-first" : "day-first"}),
                     "%s: %s in '%s' is read with the %s first%s", columns->from.name,
                     column->first_text, cut_name(name_at(columns, columns->time_text)).text,
                     is_day ? "day" : "month", column->shows_order ? ", as other rows show" : "");
}

static void take_time(input_columns *columns, const run_settings *settings)
{
    names_text name = {.count = 0};
    advice given;
    size_t column = find_time(columns, settings);
    if (column == columns->use_count)
        return;
    columns->uses[column] = COLUMN_TIME;
    columns->has_time = true;
    columns->time_text = column;
    columns->time_name = name_at(columns, column);
    take_clock(columns, settings);
    if (columns->has_clock)
        return;
    columns_list(&name, columns->from.reader, column, "");
    if (!settings->is_quiet)
        note_because(advice_on(&given, ADVICE_TIME_TAKEN, &(advice_words){.names = &name}),
                     "%s: '%s' is used as the time of the rows", columns->from.name,
                     cut_name(columns->time_name).text);
}

/* ": sort ... FILE | oif score": sorts the rows by a column. "" where the order of its texts is not
 * that of the times, and in NDJSON. */
typedef struct sort_command {
    char text[160];
} sort_command;

static sort_command sorted_by(const input_columns *columns, size_t column)
{
    const column_source *from = &columns->from;
    const column_look *look = &from->look->columns[column];
    const char delimiter = oif_reader_delimiter(from->reader);
    const unsigned long long header = from->header_line;
    sort_command made = {.text = ""};
    char sort[64];
    bool has_year_first = strspn(look->first_text, "0123456789") >= 4;
    snprintf(sort, sizeof sort, "sort -s -t %s -k %zu,%zu%s",
             delimiter == '\t' ? "$'\\t'" : (char[]){'\'', delimiter, '\'', '\0'}, column + 1,
             column + 1, look->numbers > 0 ? "n" : "");
    if (delimiter == '\0' || delimiter == ' ' || (look->numbers == 0 && !has_year_first))
        return made;
    if (oif_reader_has_header(from->reader))
        snprintf(made.text, sizeof made.text,
                 ": (head -n %llu FILE; tail -n +%llu FILE | %s) | oif score", header, header + 1,
                 sort);
    else
        snprintf(made.text, sizeof made.text, ": %s FILE | oif score", sort);
    return made;
}

typedef bool (*column_test)(const column_look *look, const char *name);

static bool goes_back(const column_look *look, const char *name)
{
    return column_look_time(look, name) == TIME_BACKWARD;
}

static bool is_text(const column_look *look, const char *name)
{
    (void)name;
    return column_look_is_text(look);
}

/* Sets the use of every column that passes the test, and lists the names. Returns the first
 * such column. */
static size_t list_columns(input_columns *columns, const run_settings *settings, column_test test,
                           column_use use, names_text *names)
{
    const column_source *from = &columns->from;
    size_t first = columns->use_count;
    for (size_t i = 0; i < from->look->column_count; i++) {
        const column_look *look = &from->look->columns[i];
        if (!is_open(columns, settings, i) || !test(look, name_at(columns, i)))
            continue;
        columns->uses[i] = use;
        columns_list(names, from->reader, i, test == is_text ? look->first_text : "");
        first = i < first ? i : first;
    }
    return first;
}

/* The newest rows come first: the time is not learned, and cannot be used as it is. */
static void leave_backward_out(input_columns *columns, const run_settings *settings)
{
    names_text names = {.count = 0}, first_name = {.count = 0};
    advice given;
    size_t first = list_columns(columns, settings, goes_back, COLUMN_GOES_BACK, &names);
    if (names.count == 0 || settings->is_quiet)
        return;
    columns_list(&first_name, columns->from.reader, first, "");
    const sort_command command = sorted_by(columns, first);
    const advice_words words = {
        .file = columns->from.name, .command = command.text, .names = &first_name};
    note_because(advice_on(&given, ADVICE_TIMES_BACKWARD, &words),
                 "%s: the times in '%s' go backwards, so the column%s left out", columns->from.name,
                 names_text_read(&names), names.count == 1 ? " is" : "s are");
}

static void leave_label_out(input_columns *columns, const run_settings *settings)
{
    names_text names = {.count = 0}, first_name = {.count = 0};
    advice given;
    size_t first = list_columns(columns, settings, column_look_is_label, COLUMN_LABEL, &names);
    if (names.count == 0 || settings->is_quiet)
        return;
    columns_list(&first_name, columns->from.reader, first, "");
    note_because(advice_on(&given, ADVICE_LABEL_TAKEN, &(advice_words){.names = &first_name}),
                 "%s: '%s' %s treated as known labels and left out", columns->from.name,
                 names_text_read(&names), names.count == 1 ? "is" : "are");
}

/* ---- Rows of several streams ---- */

/* The column with the time of the rows, or one that would be it if its times were in order. */
static size_t find_any_time(const input_columns *columns)
{
    const first_rows *look = columns->from.look;
    size_t found = columns->has_time ? columns->time_text : 0;
    while (found < look->column_count && !columns->has_time &&
           !column_look_is_mixed_time(&look->columns[found]))
        found++;
    return found;
}

/* Advises a key if the times show that the rows are of several streams. Returns whether they do. */
static bool advise_key(const input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    const size_t time = find_any_time(columns);
    names_text names = {.count = 0};
    size_t parts[KEY_SEARCH_PARTS];
    bool may_be_key[KEY_SEARCH_COLUMNS] = {false}; /* parts of the date are not */
    advice given;
    for (size_t i = 0; i < look->column_count && i < KEY_SEARCH_COLUMNS; i++)
        may_be_key[i] =
            i != time && is_open(columns, settings, i) && !column_look_is_clock(&look->columns[i]);
    const size_t count =
        time < look->column_count ? first_rows_find_key(look, may_be_key, time, parts) : 0;
    for (size_t i = 0; i < count; i++)
        columns_list(&names, columns->from.reader, parts[i], "");
    if (count > 0 && !settings->is_quiet)
        note_because(advice_on(&given, ADVICE_KEY, &(advice_words){.names = &names}),
                     "%s: the times in '%s' advance only within each %s", columns->from.name,
                     cut_name(name_at(columns, time)).text, names_text_read(&names));
    return count > 0;
}

/* ---- Row numbers and parts of the date ---- */

static bool is_index(const column_look *look, const char *name)
{
    return column_look_is_index(look) && name_says_index(name);
}

static bool is_calendar(const column_look *look, const char *name)
{
    return column_look_is_compact(look) || calendar_steps_are(&look->steps, name);
}

static void leave_out(input_columns *columns, const run_settings *settings, column_test test,
                      column_use use, advice_topic topic, const char *what)
{
    names_text names = {.count = 0};
    advice given;
    list_columns(columns, settings, test, use, &names);
    if (names.count > 0 && !settings->is_quiet)
        note_because(advice_on(&given, topic, &(advice_words){.names = &names}),
                     "%s: left out, as %s: %s", columns->from.name, what, names_text_read(&names));
}

/* Whether any column is left besides row numbers and parts of the date. */
static bool has_others(const input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    for (size_t i = 0; i < look->column_count; i++)
        if (is_open(columns, settings, i) && !is_index(&look->columns[i], name_at(columns, i)) &&
            !is_calendar(&look->columns[i], name_at(columns, i)))
            return true;
    return false;
}

static void leave_marks_out(input_columns *columns, const run_settings *settings)
{
    if (!has_others(columns, settings))
        return;
    leave_out(columns, settings, is_index, COLUMN_INDEX, ADVICE_INDEX, "it is a row number");
    leave_out(columns, settings, is_calendar, COLUMN_CALENDAR, ADVICE_CALENDAR,
              "it is a part of the date");
}

/* ---- Marks for missing values ---- */

/* Notes a number that looks like a mark for missing values, such as -999, and the columns that
 * have it. */
static void report_marks(const input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    names_text names = {.count = 0};
    double mark, found = NAN;
    char text[OIF_NUMBER_TEXT_BYTES + 1];
    advice given;
    for (size_t i = 0; i < look->column_count; i++) {
        if (!columns_is_learned(columns, i) ||
            !extremes_have_mark(&look->columns[i].extremes, &mark) || !mark_is_usual(mark) ||
            (names.count > 0 && mark != found))
            continue;
        found = mark;
        columns_list(&names, columns->from.reader, i, "");
    }
    if (names.count == 0 || settings->is_quiet)
        return;
    text[oif_number_format(found, text)] = '\0';
    note_because(advice_on(&given, ADVICE_MARK, &(advice_words){.count = text}),
                 "%s: %s, far from all other values, is repeated in %s", columns->from.name, text,
                 names_text_read(&names));
}

/* ---- Units ---- */

/* Says once what numbers with units were converted to. */
static void report_units(const input_columns *columns, const run_settings *settings)
{
    const first_rows *look = columns->from.look;
    names_text names = {.count = 0};
    for (size_t i = 0; i < look->column_count; i++)
        if (columns_is_learned(columns, i) && look->columns[i].unit && *look->columns[i].unit)
            columns_list(&names, columns->from.reader, i, look->columns[i].unit);
    if (names.count > 0 && !settings->is_quiet)
        note("%s: numbers with units are read in these: %s", columns->from.name,
             names_text_read(&names));
}

static exit_code refuse_text(const input_columns *columns, const run_settings *settings,
                             names_text *texts)
{
    names_text time = {.count = 0};
    size_t column = settings->score.time ? columns->use_count : find_time(columns, settings);
    advice given = {.shell = ""};
    advice_add(&given, ADVICE_TEXT_STRICT, &(advice_words){.names = texts});
    if (column < columns->use_count) {
        names_text_add(&time, name_at(columns, column));
        advice_add(&given, ADVICE_TIME_STRICT, &(advice_words){.names = &time});
    }
    return complain_because(advice_reason(&given, OIF_CAUSE_NONE), EXIT_FAILED,
                            "%s: text in %s, and --strict does not guess what it is for",
                            columns->from.name, names_text_read(texts));
}

static size_t count_learned(const input_columns *columns)
{
    size_t count = 0;
    for (size_t i = 0; i < columns->use_count; i++)
        count += columns_is_learned(columns, i);
    return count;
}

/* Whether the name of a column of text contains blanks: the delimiter may be wrong. */
static bool is_text_with_blanks(const input_columns *columns)
{
    for (size_t i = 0; i < columns->use_count; i++)
        if (columns->uses[i] == COLUMN_IS_TEXT && strpbrk(name_at(columns, i), " \t"))
            return true;
    return false;
}

/* ---- Leaving text out ---- */

/* Advises on columns of times that are not used as the time of the rows, and says why. */
static void advise_on_times(const input_columns *columns, advice *given)
{
    const first_rows *look = columns->from.look;
    for (size_t i = 0; i < look->column_count && !columns->has_time; i++) {
        const column_look *column = &look->columns[i];
        names_text name = {.count = 0};
        char count[48];
        if (columns->uses[i] != COLUMN_IS_TEXT || !column_look_is_mixed_time(column))
            continue;
        names_text_add(&name, name_at(columns, i));
        snprintf(count, sizeof count, "%u of %u rows", column->time.backward, column->time.ordered);
        const sort_command command = sorted_by(columns, i);
        const advice_words words = {columns->from.name, command.text, &name, count};
        advice_add(given, ADVICE_TIMES_MIXED, &words);
        return;
    }
}

static exit_code refuse_all_text(const input_columns *columns, names_text *texts, advice *given)
{
    const bool are_lines = columns->use_count == 1 && is_text_with_blanks(columns);
    if (given->shell[0] == '\0') {
        if (are_lines)
            advice_add(given, ADVICE_BLANKS, NULL);
        else
            advice_add(given, ADVICE_TEXT_IS_ALL, &(advice_words){.names = texts});
    }
    if (are_lines)
        return complain_because(advice_reason(given, OIF_CAUSE_NONE), EXIT_FAILED,
                                "%s: there is one column, and it holds text", columns->from.name);
    return complain_because(advice_reason(given, OIF_CAUSE_NONE), EXIT_FAILED,
                            "%s: no column is left to learn from: text in %s", columns->from.name,
                            names_text_read(texts));
}

static exit_code leave_text_out(input_columns *columns, const run_settings *settings, bool has_keys)
{
    names_text texts = {.count = 0};
    advice given = {.shell = ""};
    size_t before = count_learned(columns);
    list_columns(columns, settings, is_text, COLUMN_IS_TEXT, &texts);
    if (texts.count == 0 || known_columns_have_names(&columns->from))
        return EXIT_OK; /* the state knows which columns are learned */
    if (texts.count < before)
        advice_add(&given, ADVICE_TEXT_LEFT_OUT, &(advice_words){.names = &texts});
    if (texts.count == before)
        return refuse_all_text(columns, &texts, &given);
    if (!has_keys)
        advise_on_times(columns, &given);
    if (!settings->is_quiet)
        note_because(advice_reason(&given, OIF_CAUSE_NONE), "%s: text in %s: left out",
                     columns->from.name, names_text_read(&texts));
    return EXIT_OK;
}

/* ---- A state knows its columns ---- */

/* Leaves out columns that the state has not learned, if the input has all that it has learned. */
static void leave_unknown_out(input_columns *columns)
{
    const column_source *from = &columns->from;
    names_text unknown = {.count = 0};
    advice given;
    if (from->format != OIF_FORMAT_CSV || !known_columns_have_names(from) ||
        count_learned(columns) <= oif_pipeline_columns(from->known) ||
        !known_columns_are_all_here(from))
        return;
    for (size_t i = 0; i < columns->use_count; i++) {
        if (columns->uses[i] != COLUMN_LEARNED ||
            known_columns_have(from->known, name_at(columns, i)))
            continue;
        columns->uses[i] = COLUMN_NOT_IN_STATE;
        names_text_add(&unknown, name_at(columns, i));
    }
    if (unknown.count > 0)
        note_because(advice_on(&given, ADVICE_NEW_COLUMN, NULL),
                     "%s: the state %s has not learned from %s: left out", from->name,
                     from->known_path, names_text_read(&unknown));
}

/* Rows without names have the columns of the state if they have as many. */
static bool fits_without_names(const input_columns *columns)
{
    const column_source *from = &columns->from;
    return from->known && !known_columns_have_names(from) &&
           count_learned(columns) == oif_pipeline_columns(from->known);
}

static exit_code decide(input_columns *columns, const run_settings *settings)
{
    exit_code code = check_header(columns, settings);
    const bool is_new = !columns->from.known && !settings->columns;
    report_comments(columns, settings);
    if (code == EXIT_OK && !settings->strict && !settings->score.time && !settings->columns)
        take_time(columns, settings);
    if (code == EXIT_OK && !columns->has_time && is_new)
        leave_backward_out(columns, settings);
    if (code == EXIT_OK)
        take_day_order(columns, settings);
    if (code == EXIT_OK && !settings->label && is_new)
        leave_label_out(columns, settings);
    if (code == EXIT_OK && is_new)
        leave_marks_out(columns, settings);
    const bool has_keys =
        code == EXIT_OK && is_new && !columns->has_key && advise_key(columns, settings);
    if (code == EXIT_OK)
        code = leave_text_out(columns, settings, has_keys);
    if (code == EXIT_OK && is_new) {
        report_units(columns, settings);
        report_marks(columns, settings);
    }
    return code;
}

static exit_code check_strictly(input_columns *columns, const run_settings *settings)
{
    names_text texts = {.count = 0};
    list_columns(columns, settings, is_text, COLUMN_LEARNED, &texts);
    return texts.count > 0 ? refuse_text(columns, settings, &texts)
                           : check_header(columns, settings);
}

/* A column without any value in the first rows may turn out to be text; then its texts are missing,
 * not errors. */
static exit_code find_undecided(input_columns *columns, const run_settings *settings)
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

exit_code roles_find(input_columns *columns, const run_settings *settings)
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

static exit_code report_rising(const input_columns *columns, const run_settings *settings,
                               const rising_column rising[])
{
    static const struct {
        rising_kind kind;
        advice_topic topic;
    } remedies[] = {{RISING_TIME, ADVICE_RISING_TIME},
                    {RISING_EVENLY, ADVICE_RISING_EVENLY},
                    {RISING_COUNTER, ADVICE_RISING_COUNTER}};
    names_text all = {.count = 0}, kinds[RISING_COUNTER + 1] = {{.count = 0}};
    advice given = {.shell = ""};
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns_name(columns, i);
        rising_kind kind = rising_judge(&rising[i], name);
        if (kind == RISING_NOT || is_rate(columns, settings, name))
            continue;
        if (kind == RISING_TIME && (columns->has_time || kinds[RISING_TIME].count > 0))
            kind = RISING_EVENLY;
        columns_list(&all, columns->from.reader, columns->learned[i], "");
        columns_list(&kinds[kind], columns->from.reader, columns->learned[i], "");
    }
    if (all.count == 0)
        return EXIT_OK;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (kinds[remedies[i].kind].count > 0)
            advice_add(&given, remedies[i].topic,
                       &(advice_words){.names = &kinds[remedies[i].kind]});
    const complaint_reason *reason = advice_reason(&given, OIF_CAUSE_NONE);
    if (settings->strict)
        return complain_because(reason, EXIT_FAILED,
                                "%s: --strict refuses columns that only ever rise: %s",
                                columns->from.name, names_text_read(&all));
    if (!settings->is_quiet)
        note_because(reason, "%s: only ever rising, so every value is new: %s", columns->from.name,
                     names_text_read(&all));
    return EXIT_OK;
}

exit_code roles_report_rising(input_columns *columns, const run_settings *settings)
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

void rising_watch_start(rising_watch *watch, const input_columns *columns)
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

exit_code rising_watch_row(rising_watch *watch, const input_columns *columns,
                           const run_settings *settings, const oif_record *record)
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
