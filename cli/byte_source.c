#include "byte_source.h"

#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEEKED_BYTES = 256, MOST_PEEKED_BYTES = 1 << 16 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

static bool is_blank(char byte) /* or of a byte order mark */
{
    return byte != '\0' && strchr(" \t\r\n\xEF\xBB\xBF", byte);
}

/* ---- The file ---- */

exit_code byte_source_open(byte_source *source, const char *file)
{
    *source =
        (byte_source){.name = "<stdin>", .fd = STDIN_FILENO, .line_end = "\n", .header_line = 1};
    if (file && strcmp(file, "-") != 0) {
        source->name = file;
        source->fd = open(file, O_RDONLY);
        if (source->fd < 0)
            return complain(EXIT_FAILED, "%s: %s", file, strerror(errno));
    } else if (isatty(source->fd)) {
        fputs("oif: reading from the terminal; Ctrl-D ends\n", stderr);
    }
    struct stat status;
    if (fstat(source->fd, &status) == 0 && S_ISREG(status.st_mode))
        source->total_bytes = (uint64_t)status.st_size;
    return EXIT_OK;
}

void byte_source_close(byte_source *source)
{
    free(source->held);
    if (source->fd != STDIN_FILENO)
        close(source->fd);
}

static void notice_first_line(byte_source *source, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !source->first_line_seen; i++) {
        uint64_t position = source->bytes_read + i;
        if (position < 3 && bytes[i] == byte_order_mark[position])
            source->byte_order_mark_bytes++;
        if (bytes[i] == '\n') {
            source->line_end = source->last_byte == '\r' ? "\r\n" : "\n";
            source->first_line_seen = true;
        }
        source->last_byte = bytes[i];
    }
}

static void notice_blank_lines(byte_source *source, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !source->text_seen; i++) {
        source->header_line += bytes[i] == '\n';
        source->text_seen = !is_blank(bytes[i]);
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
static bool wait_for_bytes(byte_source *source)
{
    struct pollfd sources[] = {{.fd = source->fd, .events = POLLIN},
                               {.fd = signals_descriptor(), .events = POLLIN}};
    int milliseconds = source->idle ? 0 : -1;
    for (;;) {
        int ready = poll(sources, 2, milliseconds);
        if (signals_stop_requested())
            return false;
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
        if (source->idle)
            milliseconds = source->idle(source->idle_context);
    }
}

/* The reader asks for bytes only when it has no whole record left, and this may wait for long:
 * all that was scored so far goes out first. Once stdout takes no more there is no
 * point in reading on. */
static ptrdiff_t read_source(byte_source *source, char *buffer, size_t capacity)
{
    ssize_t count;
    if (!output_flush() || (signals_descriptor() >= 0 && !wait_for_bytes(source)))
        return -1;
    do
        count = read(source->fd, buffer, capacity);
    while (count < 0 && should_retry(source->fd));
    if (count < 0) {
        source->read_error = errno;
        return -1;
    }
    notice_first_line(source, buffer, (size_t)count);
    notice_blank_lines(source, buffer, (size_t)count);
    source->bytes_read += (uint64_t)count;
    return count;
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

/* As read_source, and what was read is held. */
static ptrdiff_t read_and_hold(byte_source *source, char *buffer, size_t capacity)
{
    ptrdiff_t count = read_source(source, buffer, capacity);
    if (count > 0 && !hold(source, buffer, (size_t)count)) {
        source->read_error = ENOMEM;
        return -1;
    }
    return count;
}

ptrdiff_t byte_source_read(void *context, char *buffer, size_t capacity)
{
    byte_source *source = context;
    size_t left = source->bytes_held - source->bytes_given,
           count = left < capacity ? left : capacity;
    if (left == 0 && !source->holds)
        return read_source(source, buffer, capacity);
    if (left == 0) {
        ptrdiff_t read_now = read_and_hold(source, buffer, capacity);
        source->bytes_given = source->bytes_held;
        return read_now;
    }
    memcpy(buffer, source->held + source->bytes_given, count);
    source->bytes_given += count;
    return (ptrdiff_t)count;
}

/* Where the first line begins that is not blank; bytes_held when none is held. */
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
            return '\0'; /* a failure comes again when the reader asks */
    return source->held[at];
}

void byte_source_rewind(byte_source *source)
{
    source->bytes_given = 0;
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
        source->bytes_held = start; /* the line may be longer than any memory */
        if (read_and_hold(source, bytes, sizeof bytes) <= 0)
            return false;
    }
    size_t rest = source->bytes_held - (size_t)(newline - source->held);
    memmove(source->held + start, newline, rest);
    source->bytes_held = start + rest;
    return true;
}
