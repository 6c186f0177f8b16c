#include "input.h"

#include "bad_rows.h"
#include "first_line.h"
#include "known_columns.h"
#include "source.h"
#include "stop.h"
#include "suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The format ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t bytes = strlen(name), ending_bytes = strlen(ending);

    return bytes > ending_bytes && strcmp(name + bytes - ending_bytes, ending) == 0;
}

static bool format_of_name(const char *name, oif_format *format)
{
    static const struct {
        const char *ending;
        oif_format format;
    } known[] = {{".csv", OIF_FORMAT_CSV},       {".tsv", OIF_FORMAT_CSV},
                 {".ndjson", OIF_FORMAT_NDJSON}, {".jsonl", OIF_FORMAT_NDJSON},
                 {".json", OIF_FORMAT_NDJSON},   {".f64", OIF_FORMAT_RAW}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (ends_with(name, known[i].ending)) {
            *format = known[i].format;
            return true;
        }
    }
    return false;
}

static exit_code find_format(struct input *input, const struct settings *settings)
{
    input->format = settings->reader.format;
    if (!settings->is_format_given && settings->reader.columns > 0)
        input->format = OIF_FORMAT_RAW;
    else if (!settings->is_format_given && !format_of_name(input->name, &input->format))
        input->format = source_peek(input) == '{' ? OIF_FORMAT_NDJSON : OIF_FORMAT_CSV;
    if (input->format == OIF_FORMAT_RAW && settings->reader.columns == 0)
        return complain(EXIT_USAGE, "%s: raw rows need --raw-columns N, how many numbers each has",
                        input->name);
    return EXIT_OK;
}

static exit_code open_source(struct input *input, const char *file)
{
    struct stat status;

    input->fd = STDIN_FILENO;
    input->name = "<stdin>";
    if (file && strcmp(file, "-") != 0) {
        input->name = file;
        input->fd = open(file, O_RDONLY);
        if (input->fd < 0)
            return complain(EXIT_FAILED, "%s: %s", file, strerror(errno));
    } else if (isatty(input->fd)) {
        fputs("oif: reading from the terminal; Ctrl-D ends\n", stderr);
    }
    if (fstat(input->fd, &status) == 0 && S_ISREG(status.st_mode))
        input->total_bytes = (uint64_t)status.st_size;
    return EXIT_OK;
}

/* ---- Columns ---- */

static bool is_named(const oif_reader *reader, size_t column, const char *name, size_t name_bytes)
{
    const char *column_name = oif_reader_column_name(reader, column);

    return strlen(column_name) == name_bytes && memcmp(column_name, name, name_bytes) == 0;
}

/* A column that the first line of NDJSON lacks may come later. It may as well be a mistake, so
 * this is told. */
static exit_code add_column(const struct input *input, const char *name, size_t name_bytes,
                            const char *hint, size_t *added)
{
    char *terminated = strndup(name, name_bytes);
    oif_error error = {.status = OIF_EMEMORY, .message = "out of memory"};
    oif_status status =
        terminated ? oif_reader_find_column(input->reader, terminated, added, &error) : OIF_EMEMORY;

    free(terminated);
    if (status != OIF_OK)
        return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "%s: %s", input->name,
                        error.message);
    return complain(EXIT_OK,
                    "%s: the first line has no '%.*s'%s; it is missing until a line has it",
                    input->name, (int)name_bytes, name, hint);
}

static exit_code complain_no_column(const struct input *input, const char *name, size_t name_bytes,
                                    size_t *added)
{
    struct suggestion suggestion = suggestion_for(name, name_bytes);
    char hint[HINT_BYTES];

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        suggestion_consider(&suggestion, oif_reader_column_name(input->reader, i));
    suggestion_hint(&suggestion, "", hint);
    if (input->format == OIF_FORMAT_NDJSON)
        return add_column(input, name, name_bytes, hint, added);
    return complain(
        EXIT_USAGE, "%s: there is no column '%.*s'%s%s", input->name, (int)name_bytes, name, hint,
        oif_reader_has_header(input->reader) ? "" : " (no header: columns are x0, x1, ...)");
}

static exit_code find_column(const struct input *input, const char *name, size_t name_bytes,
                             size_t *found)
{
    size_t matches = 0;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++) {
        if (is_named(input->reader, i, name, name_bytes)) {
            *found = i;
            matches++;
        }
    }
    if (matches == 0)
        return complain_no_column(input, name, name_bytes, found);
    if (matches > 1)
        return complain(EXIT_USAGE, "%s: %zu columns are called '%.*s'; give each its own name",
                        input->name, matches, (int)name_bytes, name);
    return EXIT_OK;
}

/* Sets used[column] for each name in a list such as "a,b,c"; without `used` it only sees that
 * they exist. */
static exit_code mark_columns(const struct input *input, const char *names, bool used[], bool value)
{
    while (names) {
        size_t column, name_bytes = strcspn(names, ",");
        exit_code code = find_column(input, names, name_bytes, &column);
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

/* Finds a column that is no feature. */
static exit_code set_aside(const struct input *input, const char *name, bool used[], size_t *column)
{
    exit_code code = name ? find_column(input, name, strlen(name), column) : EXIT_OK;

    if (name && code == EXIT_OK)
        used[*column] = false;
    return code;
}

/* Lines of NDJSON may lack keys and have others: unless columns are chosen, the known ones are. */
static bool takes_known_columns(const struct input *input, const struct settings *settings)
{
    return input->format == OIF_FORMAT_NDJSON && !settings->columns &&
           known_columns_have_names(input);
}

/* NDJSON makes columns of names that it does not know, so all names come first. */
static exit_code find_all_names(const struct input *input, const struct settings *settings)
{
    const char *lists[] = {settings->columns, settings->exclude};
    const char *names[] = {settings->label, settings->score.key, settings->score.time};
    exit_code code = EXIT_OK;
    size_t column;

    for (size_t i = 0; i < 2 && code == EXIT_OK; i++)
        code = mark_columns(input, lists[i], NULL, true);
    for (size_t i = 0; i < 3 && code == EXIT_OK; i++)
        code = names[i] ? find_column(input, names[i], strlen(names[i]), &column) : EXIT_OK;
    if (code == EXIT_OK && takes_known_columns(input, settings))
        code = known_columns_find(input);
    return code;
}

static exit_code mark_features(struct input *input, const struct settings *settings, bool used[])
{
    exit_code code;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        used[i] = !settings->columns && !takes_known_columns(input, settings);
    if (takes_known_columns(input, settings))
        known_columns_mark(input, used);
    code = mark_columns(input, settings->columns, used, true);
    if (code == EXIT_OK)
        code = mark_columns(input, settings->exclude, used, false);
    if (code == EXIT_OK)
        code = set_aside(input, settings->label, used, &input->label_column);
    if (code == EXIT_OK)
        code = set_aside(input, settings->score.key, used, &input->key_text);
    if (code == EXIT_OK)
        code = set_aside(input, settings->score.time, used, &input->time_text);
    return code;
}

static exit_code select_features(struct input *input, const bool used[], bool read_label)
{
    size_t count = 0;
    oif_error error;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        if (used[i])
            input->features[count++] = i;
    input->feature_count = count;
    if (count == 0)
        return complain(EXIT_USAGE, "%s: no column is left to learn from", input->name);
    if (read_label)
        input->features[count++] = input->label_column;
    if (oif_reader_select(input->reader, input->features, count, &error) != OIF_OK)
        return input_complain(input, &error);
    return EXIT_OK;
}

/* Rows that are written in another format than they came in are made of their texts. */
static bool needs_all_texts(const struct input *input, const struct settings *settings)
{
    return (input->format == OIF_FORMAT_CSV && settings->score.output == OUTPUT_NDJSON) ||
           (input->format == OIF_FORMAT_NDJSON && settings->score.output == OUTPUT_CSV);
}

/* key_text and time_text are columns until now. */
static exit_code select_texts(struct input *input, const struct settings *settings,
                              size_t selection[])
{
    size_t count = 0;
    oif_error error;

    input->has_key = settings->score.key != NULL;
    input->has_time = settings->score.time != NULL;
    input->all_texts = needs_all_texts(input, settings);
    if (input->all_texts) {
        for (; count < oif_reader_column_count(input->reader); count++)
            selection[count] = count;
    } else {
        if (input->has_key)
            selection[count++] = input->key_text;
        if (input->has_time && !(input->has_key && input->time_text == input->key_text))
            selection[count++] = input->time_text;
        input->key_text = 0;
        input->time_text = count > 0 ? count - 1 : 0;
    }
    if (count > 0 && oif_reader_select_texts(input->reader, selection, count, &error) != OIF_OK)
        return complain(EXIT_USAGE, "%s: %s", input->name, error.message);
    return EXIT_OK;
}

static exit_code choose_columns(struct input *input, const struct settings *settings,
                                enum label_use label_use)
{
    exit_code code = find_all_names(input, settings);
    size_t column_count = oif_reader_column_count(input->reader);
    bool *used = calloc(column_count, sizeof *used);
    size_t *selection = calloc(column_count, sizeof *selection);

    input->features = calloc(column_count, sizeof *input->features);
    if (!used || !selection || !input->features)
        code = complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_OK)
        code = mark_features(input, settings, used);
    if (code == EXIT_OK)
        code = select_features(input, used, settings->label && label_use == LABEL_READ);
    if (code == EXIT_OK && known_columns_have_names(input))
        code = known_columns_sort(input, settings);
    if (code == EXIT_OK)
        code = select_texts(input, settings, selection);
    free(selection);
    free(used);
    return code;
}

bool input_has_names(const struct input *input)
{
    return input->format == OIF_FORMAT_NDJSON || oif_reader_has_header(input->reader);
}

const char *input_feature_name(const struct input *input, size_t feature)
{
    const char *known = input->known ? oif_pipeline_column_name(input->known, feature) : NULL;

    return known ? known : oif_reader_column_name(input->reader, input->features[feature]);
}

/* ---- The input ---- */

/* Finds the line that the reader is to begin with, where bad ones do not end the run: those
 * before it are such. */
static oif_status find_first_line(struct input *input, const struct settings *settings,
                                  exit_code *code, oif_error *error)
{
    const bool has_known_names = input->known && oif_pipeline_column_name(input->known, 0);
    oif_reader_options options = settings->reader;
    oif_status status = OIF_OK;

    input->source.holds = true;
    while ((*code = find_format(input, settings)) == EXIT_OK && input->format != OIF_FORMAT_RAW) {
        options.format = input->format;
        status = first_line_try(input, &options, settings->columns || has_known_names, error);
        input->source.bytes_given = 0;
        if (status != OIF_EINPUT)
            break;
        if (input->bad->skipped == BAD_START_MAX) {
            *code = complain(EXIT_FAILED, "%s: none of the first %d lines is a header or a row",
                             input->name, BAD_START_MAX);
            break;
        }
        bad_rows_add(input->bad, error, false);
        if (!source_drop_line(input)) {
            status = OIF_END;
            break;
        }
    }
    input->source.holds = false;
    input->header_line = source_line(input);
    return status;
}

static exit_code open_reader(struct input *input, const struct settings *settings,
                             enum label_use label_use)
{
    oif_reader_options options = settings->reader;
    oif_error error;
    oif_status status;
    exit_code code = EXIT_OK;

    status = input->bad ? find_first_line(input, settings, &code, &error) : OIF_OK;
    if (status == OIF_OK && code == EXIT_OK)
        code = find_format(input, settings);
    if (code != EXIT_OK)
        return code;
    options.format = input->format;
    if (status == OIF_OK)
        status = oif_reader_open(&options, source_read, input, &input->reader, &error);
    if (status != OIF_OK && stop_requested()) /* while the first line was waited for */
        return EXIT_FAILED;
    if (status == OIF_END)
        return complain(EXIT_FAILED,
                        input->bad && input->bad->skipped > 0 ? "%s: no line can be read"
                                                              : "%s: the input is empty",
                        input->name);
    if (status == OIF_EPARAM) /* a delimiter that cannot be one */
        return complain(EXIT_USAGE, "%s", error.message);
    if (status != OIF_OK)
        return input_complain(input, &error);
    return choose_columns(input, settings, label_use);
}

exit_code input_open(struct input *input, const struct settings *settings, enum label_use label_use,
                     const oif_pipeline *known, struct bad_rows *bad)
{
    exit_code code;

    *input = (struct input){.line_end = "\n",
                            .header_line = 1,
                            .known = known,
                            .bad = bad,
                            .known_from = settings->state};
    code = open_source(input, settings->file);
    if (code != EXIT_OK)
        return code;
    code = open_reader(input, settings, label_use);
    if (code != EXIT_OK)
        input_close(input);
    return code;
}

void input_close(struct input *input)
{
    oif_reader_close(input->reader);
    free(input->features);
    free(input->source.held);
    if (input->fd != STDIN_FILENO)
        close(input->fd);
}

const char *input_place_text(const struct input *input, const oif_error *error,
                             char text[PLACE_TEXT_BYTES])
{
    char place[48] = "";

    if (error->column > 0)
        snprintf(place, sizeof place, "%" PRIu64 ":%" PRIu64 ": ", error->line, error->column);
    else if (error->line > 0)
        snprintf(place, sizeof place, "%" PRIu64 ": ", error->line);
    snprintf(text, PLACE_TEXT_BYTES, "%s:%s%s%s", input->name, *place ? "" : " ", place,
             error->message);
    return text;
}

exit_code input_complain(const struct input *input, const oif_error *error)
{
    char text[PLACE_TEXT_BYTES];

    if (!output_is_open()) /* that is why reading stopped, and output_finish says so */
        return EXIT_OK;
    if (error->status == OIF_EREAD)
        return complain(EXIT_FAILED, "%s: %s", input->name, strerror(input->read_error));
    return complain(EXIT_FAILED, "%s", input_place_text(input, error, text));
}

/* Where a field starts in a record's text. Inside quotes a delimiter is text, and a doubled
 * quote closes and opens them again. */
static size_t field_start(const oif_record *record, char delimiter, size_t field)
{
    bool quoted = false;
    size_t at = 0;

    for (; field > 0 && at < record->text_bytes; at++) {
        if (record->text[at] == '"')
            quoted = !quoted;
        else if (record->text[at] == delimiter && !quoted)
            field--;
    }
    return at;
}

static exit_code complain_field(const struct input *input, const oif_record *record, size_t column,
                                const char *message)
{
    size_t start = input->format == OIF_FORMAT_CSV
                       ? field_start(record, oif_reader_delimiter(input->reader), column)
                       : 0;
    oif_error error = {.status = OIF_EINPUT, .line = record->line, .column = 1};

    for (size_t i = 0; i < start; i++) {
        bool line_ends = record->text[i] == '\n'; /* inside quotes */
        error.line += line_ends;
        error.column = line_ends ? 1 : error.column + 1;
    }
    snprintf(error.message, sizeof error.message, "%s", message);
    return input_complain(input, &error);
}

exit_code input_complain_label(const struct input *input, const oif_record *record,
                               const char *message)
{
    return complain_field(input, record, input->label_column, message);
}

exit_code input_complain_header(const struct input *input, size_t column, const char *message)
{
    oif_record header = {.line = input->header_line};

    header.text = oif_reader_header_text(input->reader, &header.text_bytes);
    return complain_field(input, &header, column, message);
}
