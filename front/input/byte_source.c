#include "byte_source.h"

#include "front/text/cut.h"
#include "front/text/quoting.h"
#include "front/text/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { PEEKED_BYTES = 256, MOST_PEEKED_BYTES = 1 << 16, MOST_START_BYTES = 1 << 20 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

static bool is_blank(char byte) /* or a byte of a byte order mark */
{
    return byte != '\0' && strchr(" \t\r\n\xEF\xBB\xBF", byte);
}

/* ---- Opening ---- */

static bool open_file(byte_source *source, size_t index)
{
    source->file_index = index;
    if (source->first_lines)
        source->first_lines[index] = source->lines + 1;
    source->is_start_due = index > 0 || source->start.skipped_lines > 0;
    return input_file_open(&source->file, source->files.names[index]);
}

exit_code byte_source_open(byte_source *source, char *const files[], size_t count,
                           const file_start *start)
{
    *source = (byte_source){.name = "<stdin>",
                            .file = {.fd = -1},
                            .start = *start,
                            .line_end = "\n",
                            .final_byte = '\n',
                            .header_line = 1};
    exit_code code = file_list_open(&source->files, files, count);
    if (code == EXIT_OK && source->files.count > 1) {
        source->first_lines = calloc(source->files.count, sizeof *source->first_lines);
        if (!source->first_lines)
            code = complain(EXIT_FAILED, "out of memory");
    }
    if (code != EXIT_OK)
        return code;
    source->name = source->files.names[0];
    if (!open_file(source, 0))
        return complain(EXIT_FAILED, "%s", source->file.problem);
    source->name = source->file.name;
    return EXIT_OK;
}

void byte_source_open_memory(byte_source *source, const char *name, byte_memory *memory,
                             const file_start *start)
{
    *source = (byte_source){.name = name,
                            .memory = memory,
                            .start = *start,
                            .line_end = "\n",
                            .final_byte = '\n',
                            .header_line = 1};
}

void byte_source_close(byte_source *source)
{
    if (!source->memory)
        input_file_close(&source->file);
    file_list_close(&source->files);
    if (source->filter)
        source->filter->close(source->filter);
    free(source->first_lines);
    free(source->begun);
    free(source->unfiltered);
    free(source->held);
}

const char *byte_source_place(const byte_source *source, uint64_t *line)
{
    size_t index = source->file_index;
    if (!source->first_lines)
        return source->name;
    while (index > 0 && source->first_lines[index] > *line)
        index--;
    *line = *line - source->first_lines[index] + 1;
    const char *name = source->files.names[index];
    return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

const char *byte_source_title(const byte_source *source, char title[BYTE_SOURCE_TITLE_BYTES])
{
    int length = snprintf(title, BYTE_SOURCE_TITLE_BYTES - 32, "%s", source->name);
    if (length >= BYTE_SOURCE_TITLE_BYTES - 32)
        length = BYTE_SOURCE_TITLE_BYTES - 33;
    if (source->files.count > 1 && length >= 0)
        snprintf(title + length, 32, " and %zu more", source->files.count - 1);
    return title;
}

/* ---- What is noticed on the way ---- */

static void notice_first_line(byte_source *source, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !source->first_line_seen; i++) {
        uint64_t position = source->bytes_noticed + i;
        if (position < 3 && bytes[i] == byte_order_mark[position])
            source->byte_order_mark_bytes++;
        if (bytes[i] == '\n') {
            source->line_end = source->last_byte == '\r' ? "\r\n" : "\n";
            source->first_line_seen = true;
        }
        source->last_byte = bytes[i];
    }
    source->bytes_noticed += count;
}

static void notice_blank_lines(byte_source *source, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !source->text_seen; i++) {
        source->header_line += bytes[i] == '\n';
        source->text_seen = !is_blank(bytes[i]);
    }
}

static void count_lines(byte_source *source, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        source->lines++;
        at++;
    }
    source->final_byte = bytes[count - 1];
}

/* ---- The current file ---- */

/* Waits for bytes. Returns false if a signal asks the program to stop. */
static bool wait_for_bytes(byte_source *source, int fd)
{
    struct pollfd sources[] = {{.fd = fd, .events = POLLIN},
                               {.fd = signals_descriptor(), .events = POLLIN}};
    int milliseconds = source->idle ? 0 : -1;
    for (;;) {
        int ready = poll(sources, 2, milliseconds);
        if (signals_stop_requested())
            return false;
        if (ready > 0 && sources[1].revents != 0)
            signals_heed(); /* the idle function below does what the signal asks for */
        if (sources[0].revents != 0 || (ready < 0 && errno != EINTR))
            return true;
        if (source->idle)
            milliseconds = source->idle(source->idle_context);
    }
}

/* The reader asks for bytes only when it has no whole record left, and the wait may be long, so
 * everything scored so far is written first. Once stdout is closed, there is no point in
 * reading on. */
static bool flush_and_wait(void *context, int fd)
{
    return output_flush() && (signals_descriptor() < 0 || wait_for_bytes(context, fd));
}

static ptrdiff_t read_file(byte_source *source, char *buffer, size_t capacity)
{
    const input_wait wait = {flush_and_wait, source};
    uint64_t before = source->file.stored_bytes;
    ptrdiff_t count = input_file_read(&source->file, buffer, capacity, &wait);
    source->bytes_read += source->file.stored_bytes - before;
    if (count < 0 && source->file.problem[0] != '\0')
        source->problem = source->file.problem;
    return count;
}

/* ---- Several files ---- */

static bool fail_in_file(byte_source *source, const char *what)
{
    snprintf(source->file.problem, sizeof source->file.problem, "%s: %s", source->file.name, what);
    source->problem = source->file.problem;
    return false;
}

/* Reads more of the start of the file; false when nothing came. */
static bool read_start(byte_source *source, bool *has_failed)
{
    enum { PIECE = 1 << 12 };
    if (source->begun_capacity - source->begun_bytes < PIECE) {
        size_t capacity = 2 * source->begun_capacity + PIECE;
        char *begun = realloc(source->begun, capacity);
        if (!begun) {
            *has_failed = true;
            return fail_in_file(source, "out of memory");
        }
        source->begun = begun;
        source->begun_capacity = capacity;
    }
    ptrdiff_t count = read_file(source, source->begun + source->begun_bytes, PIECE);
    *has_failed = count < 0;
    source->begun_bytes += count > 0 ? (size_t)count : 0;
    return count > 0;
}

/* Reads until the held start contains the whole line at `at`. Returns the bytes from there to
 * the end of the line; SIZE_MAX: the line is longer than the limit. */
static size_t await_start_line(byte_source *source, size_t at, bool *has_failed)
{
    size_t seen = at;
    *has_failed = false;
    for (;;) {
        const char *newline = seen < source->begun_bytes
                                  ? memchr(source->begun + seen, '\n', source->begun_bytes - seen)
                                  : NULL;
        if (newline)
            return (size_t)(newline - source->begun) - at;
        seen = source->begun_bytes;
        if (seen - at > MOST_START_BYTES + source->start.header_bytes ||
            !read_start(source, has_failed))
            return SIZE_MAX;
    }
}

static void remove_start(byte_source *source, size_t at, size_t count)
{
    memmove(source->begun + at, source->begun + at + count, source->begun_bytes - at - count);
    source->begun_bytes -= count;
}

/* Makes the lines to skip blank, and returns where the next one begins. */
static size_t skip_lines(byte_source *source, size_t at, bool *has_failed)
{
    for (uint64_t i = 0; i < source->start.skipped_lines && !*has_failed; i++) {
        size_t bytes = await_start_line(source, at, has_failed);
        bool is_whole = bytes != SIZE_MAX;
        remove_start(source, at, is_whole ? bytes : source->begun_bytes - at);
        if (!is_whole)
            break;
        at++;
    }
    return at;
}

static bool fail_other_columns(byte_source *source, size_t at, size_t bytes)
{
    enum { SHOWN = 60 };
    const file_start *start = &source->start;
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += source->begun[i] == '\n';
    size_t shown = cut_bytes(source->begun + at, bytes, SHOWN),
           header_shown = cut_bytes(start->header, start->header_bytes, SHOWN);
    snprintf(source->file.problem, sizeof source->file.problem,
             "%s:%" PRIu64 ": the columns are '%.*s%s', but in %s '%.*s%s'; files that are read "
             "together need the same columns in the same order",
             source->file.name, line, (int)shown, source->begun + at, shown < bytes ? "..." : "",
             source->name, (int)header_shown, start->header,
             header_shown < start->header_bytes ? "..." : "");
    source->problem = source->file.problem;
    return false;
}

/* Blanks the header of a later file and the comments before it. Returns false if its columns
 * differ. */
static bool drop_header(byte_source *source, size_t at)
{
    for (;;) {
        bool has_failed;
        size_t bytes = await_start_line(source, at, &has_failed);
        bool is_whole = bytes != SIZE_MAX;
        if (has_failed)
            return false;
        if (!is_whole)
            bytes = source->begun_bytes - at;
        if (bytes > MOST_START_BYTES + source->start.header_bytes || (!is_whole && bytes == 0))
            return true;
        start_line line = file_start_judge(&source->start, source->begun + at, bytes);
        if (line == START_IS_OTHER_TEXT)
            return fail_other_columns(source, at, bytes);
        if (line == START_IS_ROW)
            return true;
        remove_start(source, at, bytes);
        if (line == START_IS_HEADER || !is_whole)
            return true;
        at++;
    }
}

static bool begin_file(byte_source *source)
{
    bool has_failed = false;
    source->is_start_due = false;
    source->begun_bytes = source->begun_given = 0;
    while (source->begun_bytes < 3 && read_start(source, &has_failed))
        ;
    size_t at = 0;
    if (source->begun_bytes >= 3 && memcmp(source->begun, byte_order_mark, 3) == 0) {
        if (source->file_index > 0)
            remove_start(source, 0, 3);
        else
            at = 3;
    }
    if (!has_failed && source->start.skipped_lines > 0)
        at = skip_lines(source, at, &has_failed);
    if (has_failed)
        return false;
    return source->file_index == 0 || !source->start.header || drop_header(source, at);
}

static ptrdiff_t give_start(byte_source *source, char *buffer, size_t capacity)
{
    size_t left = source->begun_bytes - source->begun_given,
           count = left < capacity ? left : capacity;
    memcpy(buffer, source->begun + source->begun_given, count);
    source->begun_given += count;
    return (ptrdiff_t)count;
}

/* Reads from the current file, and then from the next ones. */
static ptrdiff_t read_files(byte_source *source, char *buffer, size_t capacity)
{
    for (;;) {
        if (source->is_start_due && !begin_file(source))
            return -1;
        if (source->begun_given < source->begun_bytes)
            return give_start(source, buffer, capacity);
        ptrdiff_t count = read_file(source, buffer, capacity);
        if (count != 0 || source->file_index + 1 >= source->files.count)
            return count;
        if (source->final_byte != '\n') { /* or the next file continues it */
            *buffer = '\n';
            return 1;
        }
        input_file_close(&source->file);
        if (!open_file(source, source->file_index + 1)) {
            source->problem = source->file.problem;
            return -1;
        }
    }
}

/* The next bytes of the pieces; a piece without a final line end gets one. */
static ptrdiff_t read_memory(byte_memory *memory, char *buffer, size_t capacity)
{
    for (; memory->piece < 2; memory->piece++, memory->given = 0) {
        const oif_text *piece = &memory->pieces[memory->piece];
        size_t left = piece->bytes - memory->given, count = left < capacity ? left : capacity;
        if (count > 0) {
            memcpy(buffer, piece->text + memory->given, count);
            memory->given += count;
            memory->last = buffer[count - 1];
            return (ptrdiff_t)count;
        }
        if (memory->last == '\n' || piece->bytes == 0)
            continue;
        *buffer = memory->last = '\n';
        return 1;
    }
    return memory->is_open ? -1 : 0;
}

static ptrdiff_t read_counted(byte_source *source, char *buffer, size_t capacity)
{
    ptrdiff_t count = source->memory ? read_memory(source->memory, buffer, capacity)
                                     : read_files(source, buffer, capacity);
    if (count > 0 && source->first_lines)
        count_lines(source, buffer, (size_t)count);
    return count;
}

static ptrdiff_t read_source(byte_source *source, char *buffer, size_t capacity)
{
    if (source->has_ended)
        return 0;
    if (source->problem) /* reading again would fail again */
        return -1;
    ptrdiff_t count = source->filter
                          ? source->filter->read(source->filter, source, buffer, capacity)
                          : read_counted(source, buffer, capacity);
    source->has_ended = count == 0;
    if (count <= 0)
        return count;
    notice_first_line(source, buffer, (size_t)count);
    notice_blank_lines(source, buffer, (size_t)count);
    return count;
}

bool byte_source_is_ready(const byte_source *source, int milliseconds)
{
    struct pollfd sources[] = {{.fd = source->file.fd, .events = POLLIN},
                               {.fd = signals_descriptor(), .events = POLLIN}};
    if (source->memory || source->has_ended || source->begun_given < source->begun_bytes ||
        (source->filter &&
         (source->filter->ready_bytes > 0 || source->unfiltered_given < source->unfiltered_bytes)))
        return true;
    return poll(sources, 2, milliseconds) > 0 && sources[0].revents != 0;
}

/* ---- Held back ---- */

static bool hold(byte_source *source, const char *bytes, size_t count)
{
    if (source->bytes_held + count > source->capacity) {
        size_t capacity = 2 * (source->bytes_held + count);
        char *held = realloc(source->held, capacity);
        if (!held)
            return false;
        source->held = held;
        source->capacity = capacity;
    }
    memcpy(source->held + source->bytes_held, bytes, count);
    source->bytes_held += count;
    return true;
}

/* Reads from the source, and holds a copy of the bytes. */
static ptrdiff_t read_and_hold(byte_source *source, char *buffer, size_t capacity)
{
    ptrdiff_t count = read_source(source, buffer, capacity);
    if (count > 0 && !hold(source, buffer, (size_t)count)) {
        source->problem = "out of memory";
        return -1;
    }
    return count;
}

ptrdiff_t byte_source_read(void *context, char *buffer, size_t capacity)
{
    byte_source *source = context;
    if (source->before_read && !source->before_read(source->before_read_context))
        return -1;
    size_t left = source->bytes_held - source->bytes_given,
           count = left < capacity ? left : capacity;
    if (left == 0 && !source->holds) {
        free(source->held);
        source->held = NULL;
        source->bytes_held = source->bytes_given = source->capacity = 0;
        return read_source(source, buffer, capacity);
    }
    if (left == 0) {
        ptrdiff_t read_now = read_and_hold(source, buffer, capacity);
        source->bytes_given = source->bytes_held;
        return read_now;
    }
    memcpy(buffer, source->held + source->bytes_given, count);
    source->bytes_given += count;
    return (ptrdiff_t)count;
}

bool byte_source_hold_more(byte_source *source, size_t bytes)
{
    char piece[1 << 12];
    return read_and_hold(source, piece, bytes < sizeof piece ? bytes : sizeof piece) > 0;
}

/* ---- A filter ---- */

void byte_source_set_filter(byte_source *source, byte_filter *filter)
{
    source->filter = filter;
    source->unfiltered = source->held;
    source->unfiltered_bytes = source->bytes_held;
    source->held = NULL;
    source->bytes_held = source->bytes_given = source->capacity = 0;
    source->has_ended = source->first_line_seen = source->text_seen = false;
    source->bytes_noticed = source->byte_order_mark_bytes = 0;
    source->line_end = "\n";
    source->header_line = 1;
}

ptrdiff_t byte_source_read_unfiltered(byte_source *source, char *buffer, size_t capacity)
{
    size_t left = source->unfiltered_bytes - source->unfiltered_given,
           count = left < capacity ? left : capacity;
    if (left == 0) {
        free(source->unfiltered);
        source->unfiltered = NULL;
        source->unfiltered_bytes = source->unfiltered_given = 0;
        return read_counted(source, buffer, capacity);
    }
    memcpy(buffer, source->unfiltered + source->unfiltered_given, count);
    source->unfiltered_given += count;
    return (ptrdiff_t)count;
}

/* ---- Peeking ---- */

/* Where the first line that is not blank begins; bytes_held if there is none. */
static size_t first_text(const byte_source *source)
{
    size_t at = 0;
    while (at < source->bytes_held && is_blank(source->held[at]))
        at++;
    return at;
}

char byte_source_peek(byte_source *source)
{
    char bytes[PEEKED_BYTES];
    size_t at;
    while ((at = first_text(source)) == source->bytes_held)
        if (at >= MOST_PEEKED_BYTES || read_and_hold(source, bytes, sizeof bytes) <= 0)
            return '\0'; /* the reader meets the same failure and reports it */
    return source->held[at];
}

const char *byte_source_held_text(const byte_source *source, size_t *bytes)
{
    size_t at = first_text(source);
    *bytes = source->bytes_held - at;
    return source->held ? source->held + at : "";
}

void byte_source_rewind(byte_source *source)
{
    source->bytes_given = 0;
}

void byte_source_return_to(byte_source *source, size_t held_byte)
{
    source->bytes_given = held_byte;
}

uint64_t byte_source_line(const byte_source *source)
{
    uint64_t line = 1;
    for (size_t i = first_text(source); i > 0; i--)
        line += source->held[i - 1] == '\n';
    return line;
}

bool byte_source_drop_line(byte_source *source)
{
    size_t start = first_text(source);
    char bytes[1 << 12], *newline;
    source->bytes_given = 0;
    while (!(newline = memchr(source->held + start, '\n', source->bytes_held - start))) {
        source->bytes_held = start; /* the line itself is not needed, and may not fit memory */
        if (read_and_hold(source, bytes, sizeof bytes) <= 0)
            return false;
    }
    size_t rest = source->bytes_held - (size_t)(newline - source->held);
    memmove(source->held + start, newline, rest);
    source->bytes_held = start + rest;
    return true;
}
