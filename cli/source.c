#include "source.h"

#include "stop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PEEKED_BYTES = 256, MOST_PEEKED_BYTES = 1 << 16 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

static bool is_blank(char byte) /* or of a byte order mark */
{
    return byte != '\0' && strchr(" \t\r\n\xEF\xBB\xBF", byte);
}

/* ---- From the file ---- */

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

static void notice_blank_lines(struct input *input, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !input->text_seen; i++) {
        input->header_line += bytes[i] == '\n';
        input->text_seen = !is_blank(bytes[i]);
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

    if (input->pauses && poll(sources, 2, 0) == 0)
        input->pauses(input->pause_context);
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

/* The reader asks for bytes only when it has no whole record left, and this may wait for long:
 * all that was scored so far goes out first. When nobody takes it any more there is no point in
 * reading on. */
static ptrdiff_t read_source(struct input *input, char *buffer, size_t capacity)
{
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
    notice_blank_lines(input, buffer, (size_t)count);
    input->bytes_read += (uint64_t)count;
    return count;
}

/* ---- Held back ---- */

static bool hold(struct source *source, const char *bytes, size_t count)
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
static ptrdiff_t read_and_hold(struct input *input, char *buffer, size_t capacity)
{
    ptrdiff_t count = read_source(input, buffer, capacity);

    if (count > 0 && !hold(&input->source, buffer, (size_t)count)) {
        input->read_error = ENOMEM;
        return -1;
    }
    return count;
}

ptrdiff_t source_read(void *context, char *buffer, size_t capacity)
{
    struct input *input = context;
    struct source *source = &input->source;
    size_t left = source->bytes_held - source->bytes_given,
           count = left < capacity ? left : capacity;

    if (left == 0 && !source->holds)
        return read_source(input, buffer, capacity);
    if (left == 0) {
        ptrdiff_t read_now = read_and_hold(input, buffer, capacity);
        source->bytes_given = source->bytes_held;
        return read_now;
    }
    memcpy(buffer, source->held + source->bytes_given, count);
    source->bytes_given += count;
    return (ptrdiff_t)count;
}

/* Where the first line begins that is not blank; bytes_held when none is held. */
static size_t first_text(const struct source *source)
{
    size_t at = 0;

    while (at < source->bytes_held && is_blank(source->held[at]))
        at++;
    return at;
}

char source_peek(struct input *input)
{
    struct source *source = &input->source;
    char bytes[PEEKED_BYTES];
    size_t at;

    while ((at = first_text(source)) == source->bytes_held)
        if (at >= MOST_PEEKED_BYTES || read_and_hold(input, bytes, sizeof bytes) <= 0)
            return '\0'; /* a failure comes again when the reader asks */
    return source->held[at];
}

uint64_t source_line(const struct input *input)
{
    uint64_t line = 1;

    for (size_t i = first_text(&input->source); i > 0; i--)
        line += input->source.held[i - 1] == '\n';
    return line;
}

bool source_drop_line(struct input *input)
{
    struct source *source = &input->source;
    size_t start = first_text(source);
    char bytes[1 << 12], *newline;

    source->bytes_given = 0;
    while (!(newline = memchr(source->held + start, '\n', source->bytes_held - start))) {
        source->bytes_held = start; /* the line may be longer than any memory */
        if (read_and_hold(input, bytes, sizeof bytes) <= 0)
            return false;
    }
    size_t rest = source->bytes_held - (size_t)(newline - source->held);
    memmove(source->held + start, newline, rest);
    source->bytes_held = start + rest;
    return true;
}
