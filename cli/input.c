#include "input.h"

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

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* ---- Bytes ---------------------------------------------------------------------------------------- */

static void notice_first_line(struct input *input, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !input->first_line_seen; i++) {
        uint64_t position = input->bytes_read + i;
        if (position < 3 && bytes[i] == byte_order_mark[position])
            input->byte_order_mark_bytes++;
        if (bytes[i] == '\n') {
            input->line_end = input->last_byte == '\r' ? "\r\n" : "\n";
            input->first_line_seen = true;
        }
        input->last_byte = bytes[i];
    }
}

/* Waits out a signal, and a source that another program left in non-blocking mode. */
static bool should_retry(int fd)
{
    struct pollfd wait_for_input = {.fd = fd, .events = POLLIN};

    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return poll(&wait_for_input, 1, -1) >= 0 || errno == EINTR;
    return errno == EINTR;
}

/* Waits for bytes, or for a signal to stop: then it returns false. */
static bool wait_for_bytes(struct input *input)
{
    struct pollfd sources[] = {{.fd = input->fd, .events = POLLIN},
                               {.fd = stop_descriptor(), .events = POLLIN}};

    for (;;) {
        int ready = poll(sources, 2, input->state ? state_milliseconds_left(input->state) : -1);
        if (stop_requested())
            return false;
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
        if (input->state && state_is_due(input->state))
            state_save(input->state);
    }
}

/* The reader asks for bytes only when it has no whole record left, and this may wait for long: all that was
 * scored so far goes out first. When nobody takes it any more there is no point in reading on. */
static ptrdiff_t read_bytes(void *context, char *buffer, size_t capacity)
{
    struct input *input = context;
    ssize_t count;

    if (!output_flush() || (stop_descriptor() >= 0 && !wait_for_bytes(input)))
        return -1;
    do
        count = read(input->fd, buffer, capacity);
    while (count < 0 && should_retry(input->fd));
    if (count < 0) {
        input->read_error = errno;
        return -1;
    }
    notice_first_line(input, buffer, (size_t)count);
    input->bytes_read += (uint64_t)count;
    return count;
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

/* ---- Columns -------------------------------------------------------------------------------------- */

static bool is_named(const oif_reader *reader, size_t column, const char *name, size_t name_bytes)
{
    const char *column_name = oif_reader_column_name(reader, column);

    return strlen(column_name) == name_bytes && memcmp(column_name, name, name_bytes) == 0;
}

static exit_code complain_no_column(const struct input *input, const char *name, size_t name_bytes)
{
    struct suggestion suggestion = suggestion_for(name, name_bytes);
    char hint[HINT_BYTES];

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        suggestion_consider(&suggestion, oif_reader_column_name(input->reader, i));
    return complain(EXIT_USAGE, "%s: there is no column '%.*s'%s%s", input->name, (int)name_bytes, name,
                    suggestion_hint(&suggestion, "", hint),
                    oif_reader_has_header(input->reader) ? "" : " (no header: columns are x0, x1, ...)");
}

static exit_code find_column(const struct input *input, const char *name, size_t name_bytes, size_t *found)
{
    size_t matches = 0;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++) {
        if (is_named(input->reader, i, name, name_bytes)) {
            *found = i;
            matches++;
        }
    }
    if (matches == 0)
        return complain_no_column(input, name, name_bytes);
    if (matches > 1)
        return complain(EXIT_USAGE, "%s: %zu columns are called '%.*s'; give each its own name", input->name,
                        matches, (int)name_bytes, name);
    return EXIT_OK;
}

/* Sets used[column] for each name in a list such as "a,b,c". */
static exit_code mark_columns(const struct input *input, const char *names, bool used[], bool value)
{
    for (;;) {
        size_t column, name_bytes = strcspn(names, ",");
        exit_code code = find_column(input, names, name_bytes, &column);
        if (code != EXIT_OK)
            return code;
        used[column] = value;
        if (names[name_bytes] == '\0')
            return EXIT_OK;
        names += name_bytes + 1;
    }
}

static exit_code mark_features(struct input *input, const struct settings *settings, bool used[])
{
    exit_code code = EXIT_OK;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        used[i] = !settings->columns;
    if (settings->columns)
        code = mark_columns(input, settings->columns, used, true);
    if (code == EXIT_OK && settings->exclude)
        code = mark_columns(input, settings->exclude, used, false);
    if (code == EXIT_OK && settings->label)
        code = find_column(input, settings->label, strlen(settings->label), &input->label_column);
    if (code == EXIT_OK && settings->label)
        used[input->label_column] = false;
    return code;
}

static exit_code select_marked(struct input *input, const bool used[], size_t selection[], bool read_label)
{
    size_t count = 0;
    oif_error error;

    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        if (used[i])
            selection[count++] = i;
    input->feature_count = count;
    if (count == 0)
        return complain(EXIT_USAGE, "%s: no column is left to learn from", input->name);
    if (read_label)
        selection[count++] = input->label_column;
    if (oif_reader_select(input->reader, selection, count, &error) != OIF_OK)
        return input_complain(input, &error);
    return EXIT_OK;
}

static exit_code choose_columns(struct input *input, const struct settings *settings,
                                enum label_use label_use)
{
    size_t column_count = oif_reader_column_count(input->reader);
    bool *used = calloc(column_count, sizeof *used);
    size_t *selection = calloc(column_count, sizeof *selection);
    exit_code code;

    if (!used || !selection) {
        code = complain(EXIT_FAILED, "out of memory");
    } else {
        code = mark_features(input, settings, used);
        if (code == EXIT_OK)
            code = select_marked(input, used, selection, settings->label && label_use == LABEL_READ);
    }
    free(selection);
    free(used);
    return code;
}

/* ---- The input ------------------------------------------------------------------------------------ */

static exit_code open_reader(struct input *input, const struct settings *settings, enum label_use label_use)
{
    oif_error error;
    oif_status status = oif_reader_open(&settings->reader, read_bytes, input, &input->reader, &error);

    if (stop_requested()) /* while the first line was waited for */
        return EXIT_FAILED;
    if (status == OIF_END)
        return complain(EXIT_FAILED, "%s: the input is empty", input->name);
    if (status == OIF_EPARAM) /* a delimiter that cannot be one */
        return complain(EXIT_USAGE, "%s", error.message);
    if (status != OIF_OK)
        return input_complain(input, &error);
    return choose_columns(input, settings, label_use);
}

exit_code input_open(struct input *input, const struct settings *settings, enum label_use label_use)
{
    exit_code code;

    memset(input, 0, sizeof *input);
    input->line_end = "\n";
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
    if (input->fd != STDIN_FILENO)
        close(input->fd);
}

exit_code input_complain(const struct input *input, const oif_error *error)
{
    if (!output_is_open()) /* that is why reading stopped, and output_finish says so */
        return EXIT_OK;
    if (error->status == OIF_EREAD)
        return complain(EXIT_FAILED, "%s: %s", input->name, strerror(input->read_error));
    if (error->line == 0)
        return complain(EXIT_FAILED, "%s: %s", input->name, error->message);
    if (error->column == 0)
        return complain(EXIT_FAILED, "%s:%" PRIu64 ": %s", input->name, error->line, error->message);
    return complain(EXIT_FAILED, "%s:%" PRIu64 ":%" PRIu64 ": %s", input->name, error->line, error->column,
                    error->message);
}

/* Where a field starts in a record's text. Inside quotes a delimiter is text, and a doubled quote closes and
 * opens them again. */
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

exit_code input_complain_label(const struct input *input, const oif_record *record, const char *message)
{
    size_t start = field_start(record, oif_reader_delimiter(input->reader), input->label_column);
    oif_error error = {.status = OIF_EINPUT, .line = record->line, .column = 1};

    for (size_t i = 0; i < start; i++) {
        bool line_ends = record->text[i] == '\n'; /* inside quotes */
        error.line += line_ends;
        error.column = line_ends ? 1 : error.column + 1;
    }
    snprintf(error.message, sizeof error.message, "%s", message);
    return input_complain(input, &error);
}
