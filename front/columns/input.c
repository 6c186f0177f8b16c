#include "input.h"

#include "front/advice/advice.h"
#include "front/input/first_line.h"
#include "front/input/input_error.h"
#include "front/input/missing_values.h"
#include "front/input/other_formats.h"
#include "front/text/durations.h"
#include "front/text/name_list.h"
#include "front/text/signals.h"
#include "roles.h"

#include <string.h>

/* ---- The format ---- */

static bool ends_with(const char *name, size_t bytes, const char *ending)
{
    size_t ending_bytes = strlen(ending);
    return bytes > ending_bytes && memcmp(name + bytes - ending_bytes, ending, ending_bytes) == 0;
}

/* The bytes of a name without the ending of a compressed file. */
static size_t uncompressed_name_bytes(const char *name)
{
    static const char *const endings[] = {".gz", ".zst"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, strlen(name), endings[i]))
            return strlen(name) - strlen(endings[i]);
    return strlen(name);
}

static bool format_of_name(const char *name, oif_format *format)
{
    size_t bytes = uncompressed_name_bytes(name);
    static const struct {
        const char *ending;
        oif_format format;
    } known[] = {{".csv", OIF_FORMAT_CSV},
                 {".tsv", OIF_FORMAT_CSV},
                 {".ndjson", OIF_FORMAT_NDJSON},
                 {".jsonl", OIF_FORMAT_NDJSON},
                 {".json", OIF_FORMAT_NDJSON}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (ends_with(name, bytes, known[i].ending)) {
            *format = known[i].format;
            return true;
        }
    }
    return false;
}

static void find_format(run_input *input, const run_settings *settings)
{
    if (input->translator)
        input->format = input->translator->format->writes;
    else if (settings->format > 0)
        input->format = (oif_format)(settings->format - 1);
    else if (!format_of_name(input->source.name, &input->format))
        input->format =
            byte_source_peek(&input->source) == '{' ? OIF_FORMAT_NDJSON : OIF_FORMAT_CSV;
}

static oif_reader_options reader_options(const run_input *input, const run_settings *settings)
{
    if (input->translator)
        return (oif_reader_options){.format = input->format,
                                    .header = OIF_HEADER_YES,
                                    .delimiter = input->translator->format->delimiter};
    return (oif_reader_options){.format = input->format,
                                .header = settings->header,
                                .delimiter = settings->delimiter,
                                .comment = settings->comment,
                                .decimal = settings->decimal};
}

/* ---- The first line ---- */

/* Skips bad lines at the beginning (--on-bad-row skip or null), and finds the line at which the
 * reader begins. */
static oif_status find_first_line(run_input *input, const run_settings *settings, bool any_object,
                                  bad_rows *bad, exit_code *code, oif_error *error)
{
    byte_source *source = &input->source;
    oif_status status = OIF_OK;
    source->holds = true;
    for (;;) {
        find_format(input, settings);
        oif_reader_options options = reader_options(input, settings);
        status = first_line_try(source, &options, any_object, error);
        byte_source_rewind(source);
        if (status != OIF_EINPUT)
            break;
        if (bad->skipped == BAD_START_MAX) {
            advice given;
            *code = complain_because(advice_on(&given, ADVICE_NO_FIRST_ROW, NULL), EXIT_FAILED,
                                     "%s: none of the first %d lines is a header or a row",
                                     source->name, BAD_START_MAX);
            break;
        }
        bad_rows_add(bad, source, error, false);
        if (!byte_source_drop_line(source)) {
            status = OIF_END;
            break;
        }
    }
    source->holds = false;
    source->header_line = byte_source_line(source);
    return status;
}

/* ---- The reader ---- */

static exit_code complain_not_open(const run_input *input, const bad_rows *bad,
                                   const oif_error *error, oif_status status)
{
    if (signals_stop_requested()) /* the signal came while waiting for the first line */
        return EXIT_FAILED;
    if (status == OIF_END && input->translator && !(bad && bad->skipped > 0))
        return complain(EXIT_FAILED, "%s: it has no row of %s; --format csv reads it as it is",
                        input->source.name, input->translator->format->what);
    advice given;
    const bool is_all_bad = bad && bad->skipped > 0;
    if (status == OIF_END)
        return complain_because(advice_on(&given, is_all_bad ? ADVICE_ALL_BAD : 0, NULL),
                                EXIT_FAILED, "%s: %s", input->source.name,
                                is_all_bad ? "every line is bad" : "the input is empty");
    if (status == OIF_EPARAM) /* the delimiter is not allowed */
        return complain(EXIT_USAGE, "%s", error->message);
    return input_complain(input, error);
}

/* ---- Text of other programs ---- */

/* No other format is searched for if options describe CSV. */
static bool may_be_translated(const run_settings *settings)
{
    return settings->format == 0 && !settings->delimiter && !settings->comment &&
           settings->header == OIF_HEADER_AUTO && settings->decimal == OIF_DECIMAL_AUTO;
}

/* Refuses --pivot with formats other than CSV and NDJSON, which are distinguished later. */
static exit_code check_pivot(run_input *input, const run_settings *settings,
                             const translation *format)
{
    if (format)
        return complain(EXIT_USAGE, "%s: --pivot is for CSV and NDJSON, and this is %s",
                        input->source.name, format->what);
    find_format(input, settings);
    return EXIT_OK;
}

static exit_code open_translator(run_input *input, const run_settings *settings)
{
    const translation *format = settings->format > 0          ? formats_asked(settings->format - 1)
                                : may_be_translated(settings) ? formats_recognise(&input->source)
                                                              : NULL;
    translator_options options = {
        .key = settings->score.key, .time = settings->score.time, .every = settings->every};
    if (settings->pivot) {
        exit_code code = check_pivot(input, settings, format);
        if (code != EXIT_OK)
            return code;
        options.pivot = settings->pivot;
        options.reader = reader_options(input, settings);
        format = &format_pivot;
    }
    if (settings->every > 0 && format != &format_access_log)
        return complain(EXIT_USAGE, "--every is for --format access-log, and this is not one");
    if (!format)
        return EXIT_OK;
    input->translator = translator_new(format, &options);
    if (!input->translator)
        return complain(EXIT_FAILED, "out of memory");
    byte_source_set_filter(&input->source, &input->translator->filter);
    return EXIT_OK;
}

void input_take_implied(const run_input *input, run_settings *settings)
{
    if (!input->translator || settings->strict)
        return;
    const implied_roles *implied = &input->translator->implied;
    score_settings *score = &settings->score;
    if (!score->time && implied->time[0] != '\0')
        score->time = implied->time;
    if (input->translator->format == &format_access_log && settings->format == 0)
        note("%s: read as an access log, a row per %s (--every); --format csv reads it as it is",
             input->source.name,
             duration_text(settings->every > 0 ? settings->every : 60,
                           (char[DURATION_TEXT_BYTES]){""}));
    if (!settings->exclude && !settings->columns && implied->exclude[0] != '\0')
        settings->exclude = implied->exclude;
    if (score->key || implied->key[0] == '\0')
        return;
    score->key = implied->key;
    note("%s: read as %s, with a model for each %s (--key %s)", input->source.name,
         input->translator->format->what, implied->key, implied->key);
}

/* Files of other programs are translated, or the message says how to convert them. */
static exit_code check_other_formats(run_input *input, const run_settings *settings)
{
    byte_source *source = &input->source;
    size_t bytes;
    byte_source_peek(source);
    const char *text = byte_source_held_text(source, &bytes);
    exit_code code = other_formats_check(source->name, text, bytes);
    if (code == EXIT_OK)
        code = open_translator(input, settings);
    if (code != EXIT_OK || input->translator || settings->format == 1 + OIF_FORMAT_CSV)
        return code;
    text = byte_source_held_text(source, &bytes);
    return other_formats_check_json(source->name, text, bytes);
}

static exit_code open_reader(run_input *input, const run_settings *settings,
                             const oif_pipeline *known, bad_rows *bad)
{
    bool any_object = settings->columns || (known && oif_pipeline_column_name(known, 0));
    exit_code code = check_other_formats(input, settings);
    oif_status status = OIF_OK;
    oif_error error;
    if (code != EXIT_OK)
        return code;
    if (bad)
        status = find_first_line(input, settings, any_object, bad, &code, &error);
    if (code != EXIT_OK)
        return code;
    find_format(input, settings);
    oif_reader_options options = reader_options(input, settings);
    input->source.holds = true; /* the first rows are read twice */
    if (status == OIF_OK)
        status =
            oif_reader_open(&options, byte_source_read, &input->source, &input->reader, &error);
    return status == OIF_OK ? EXIT_OK : complain_not_open(input, bad, &error, status);
}

/* Later files must have the header of the first one. */
static void expect_header(run_input *input)
{
    file_start *start = &input->source.start;
    start->delimiter = oif_reader_delimiter(input->reader);
    if (!oif_reader_has_header(input->reader) || input->translator)
        return;
    input->source.header_line = oif_reader_header_line(input->reader);
    start->header = oif_reader_header_text(input->reader, &start->header_bytes);
}

static file_start start_of(const run_settings *settings)
{
    return (file_start){.skipped_lines = settings->skip_lines, .comment = settings->comment};
}

/* Continues once the source is open; `code` says whether it is. */
static exit_code open_source(run_input *input, const run_settings *settings,
                             const oif_pipeline *known, bad_rows *bad, exit_code code)
{
    if (code == EXIT_OK)
        code = open_reader(input, settings, known, bad);
    if (code == EXIT_OK)
        expect_header(input);
    if (code != EXIT_OK && bad)
        bad_rows_report(bad, &input->source);
    if (code != EXIT_OK)
        input_close(input);
    return code;
}

exit_code input_open_reader(run_input *input, const run_settings *settings,
                            const oif_pipeline *known, bad_rows *bad)
{
    const file_start start = start_of(settings);
    *input = (run_input){.reader = NULL};
    exit_code code =
        byte_source_open(&input->source, settings->files, settings->file_count, &start);
    return open_source(input, settings, known, bad, code);
}

exit_code input_open_memory(run_input *input, const run_settings *settings,
                            const oif_pipeline *known, bad_rows *bad, const char *name,
                            byte_memory *memory)
{
    const file_start start = start_of(settings);
    *input = (run_input){.reader = NULL};
    byte_source_open_memory(&input->source, name, memory, &start);
    return open_source(input, settings, known, bad, EXIT_OK);
}

/* ---- The columns ---- */

static exit_code choose(run_input *input, const run_settings *settings, label_use use,
                        const oif_pipeline *known, const first_rows *look)
{
    column_source from = {.reader = input->reader,
                          .format = input->format,
                          .name = input->source.name,
                          .header_line = input->source.header_line,
                          .known = known,
                          .known_path = settings->state,
                          .look = look,
                          .is_part = input->source.memory != NULL};
    oif_error error;
    if (first_rows_add_columns(look, input->reader, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s: %s", input->source.name, error.message);
    if (missing_values_set(input->reader, settings->missing, input->format == OIF_FORMAT_NDJSON,
                           &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s: %s", input->source.name, error.message);
    exit_code code = columns_mark(&input->columns, &from, settings);
    if (code == EXIT_OK)
        code = roles_find(&input->columns, settings);
    if (code == EXIT_OK)
        code = columns_select(&input->columns, settings, use);
    if (code == EXIT_OK)
        code = roles_report_rising(&input->columns, settings);
    input->columns.from.look = NULL; /* the first rows are closed now */
    return code;
}

exit_code input_choose_columns(run_input *input, const run_settings *settings, label_use use,
                               const oif_pipeline *known, first_rows_wait wait)
{
    first_rows look = {.reader = NULL};
    oif_reader_options options = reader_options(input, settings);
    const first_rows_hints hints = {settings->score.key, settings->missing,
                                    settings_time_format(settings)};
    bool has_memory = first_rows_look(&look, &input->source, &options, &hints, wait);
    input->source.holds = false;
    exit_code code = has_memory ? choose(input, settings, use, known, &look)
                                : complain(EXIT_FAILED, "out of memory");
    first_rows_close(&look);
    if (code != EXIT_OK)
        input_close(input);
    return code;
}

exit_code input_choose_known_columns(run_input *input, const run_settings *settings,
                                     const oif_pipeline *known)
{
    const first_rows nothing = {.reader = NULL};
    input->source.holds = false;
    exit_code code = choose(input, settings, LABEL_IGNORED, known, &nothing);
    if (code != EXIT_OK)
        input_close(input);
    return code;
}

exit_code input_open(run_input *input, const run_settings *settings, label_use use,
                     const oif_pipeline *known, bad_rows *bad)
{
    exit_code code = input_open_reader(input, settings, known, bad);
    return code == EXIT_OK
               ? input_choose_columns(input, settings, use, known, (first_rows_wait){NULL, NULL})
               : code;
}

void input_close(run_input *input)
{
    columns_close(&input->columns);
    oif_reader_close(input->reader);
    byte_source_close(&input->source);
}

bool input_has_decimal_commas(const run_input *input, const oif_record *record)
{
    return input->comma_line > 0 && record->line >= input->comma_line;
}

/* Whether the delimiter may be blanks: there is a single column, and its name has blanks. */
static bool may_be_between_blanks(const run_input *input)
{
    return input->reader && input->format == OIF_FORMAT_CSV &&
           oif_reader_column_count(input->reader) == 1 && oif_reader_has_header(input->reader) &&
           oif_reader_delimiter(input->reader) != ' ' &&
           strpbrk(oif_reader_column_name(input->reader, 0), " \t");
}

size_t input_text_column(const run_input *input, const oif_error *error)
{
    switch (error->cause) {
    case OIF_CAUSE_NOT_A_NUMBER:
    case OIF_CAUSE_COMMENT: return oif_reader_refused_column(input->reader);
    default: return oif_reader_column_count(input->reader);
    }
}

/* Advises the option that leaves out the column of text which the error is about; other errors
 * get no advice. */
static void advise_to_exclude(const run_input *input, const oif_error *error, advice *given)
{
    names_text names = {.count = 0};
    size_t column = input->reader ? input_text_column(input, error) : 0;
    if (!input->reader || column == oif_reader_column_count(input->reader) ||
        error->cause == OIF_CAUSE_COMMENT)
        return;
    columns_list(&names, input->reader, column, "");
    advice_add(given,
               columns_have_same_name(input->reader, column) ? ADVICE_EXCLUDE_REPEATED
                                                             : ADVICE_EXCLUDE,
               &(advice_words){.names = &names});
}

static void advise_by_cause(const run_input *input, const char *name, oif_cause cause,
                            advice *given)
{
    char command[64] = "tr -d '\\000' < FILE", delimiter;
    size_t before = strlen(given->shell);
    if (cause == OIF_CAUSE_TRAILING_DELIMITER) {
        delimiter = oif_reader_delimiter(input->reader);
        snprintf(command, sizeof command, "sed 's/%s\\r*$//' FILE",
                 delimiter == '\t' ? "\\t" : (char[]){delimiter, '\0'});
    }
    advice_add(given, (unsigned)cause, &(advice_words){.file = name, .command = command});
    if (strlen(given->shell) == before && may_be_between_blanks(input))
        advice_add(given, ADVICE_BLANKS, NULL);
}

exit_code input_complain(const run_input *input, const oif_error *error)
{
    if (!output_is_open()) /* which ended the reading; output_finish reports it */
        return EXIT_OK;
    if (error->status == OIF_EREAD)
        return complain(EXIT_FAILED, "%s",
                        input->source.problem ? input->source.problem : error->message);
    char text[INPUT_ERROR_TEXT_BYTES];
    advice given = {.shell = ""};
    oif_error in_file = *error;
    translator_explain(input->translator, &in_file);
    const char *name = byte_source_place(&input->source, &in_file.line);
    advise_to_exclude(input, error, &given);
    advise_by_cause(input, name, in_file.cause, &given);
    return complain_because(advice_reason(&given, in_file.cause), EXIT_FAILED, "%s",
                            input_error_text(name, &in_file, text));
}
