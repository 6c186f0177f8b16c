#include "output.h"

#include "cut.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Buffered text. A row consists of many small pieces, for which stdio takes more time than
 * scoring. */
typedef struct waiting_text {
    char *text;
    size_t bytes, capacity;
    bool is_cut_off; /* of a diversion: there was no memory for all of it */
} waiting_text;

static char stdout_bytes[1 << 16]; /* the buffer of the main thread */

/* Of each thread: the current buffer, and those that diversions replaced: that of stdout
 * first. */
static _Thread_local waiting_text waiting, diverted_from[OUTPUT_DIVERSIONS_MAX];
static _Thread_local int diversions;
static _Thread_local int first_failure; /* the errno of the first write to stdout that failed */

/* If stdin, stdout or stderr are closed, the next file to be opened would get their
 * descriptors, and results would be written into it. /dev/null takes their places, opened the
 * wrong way round, so reading and writing fail as they should. */
static void occupy_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void output_start(void)
{
    occupy_closed_descriptors();
    waiting = (waiting_text){.text = stdout_bytes, .capacity = sizeof stdout_bytes};
    /* write then fails with EPIPE or EFBIG, like any other failure. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* A diversion that ran out of memory does not close stdout; output_diverted reports it. */
bool output_is_open(void)
{
    return diversions > 0 ? !waiting.is_cut_off : !first_failure;
}

static bool remember_failure(bool written)
{
    if (!written && !first_failure)
        first_failure = errno ? errno : EIO;
    return !first_failure;
}

/* Waits until stdout can be written to, if another program has left it in non-blocking mode. */
static bool is_writable_later(int fd)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    return (errno == EAGAIN || errno == EWOULDBLOCK) && (poll(&room, 1, -1) >= 0 || errno == EINTR);
}

static bool write_out(const char *bytes, size_t count)
{
    while (count > 0 && output_is_open()) {
        ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written < 0 && (errno == EINTR || is_writable_later(STDOUT_FILENO)))
            continue;
        if (!remember_failure(written > 0))
            break;
        bytes += written;
        count -= (size_t)written;
    }
    return output_is_open();
}

/* ---- In memory ---- */

void output_divert(void)
{
    diverted_from[diversions++] = waiting;
    waiting = (waiting_text){.text = NULL};
}

char *output_diverted(size_t *bytes)
{
    waiting_text made = waiting;
    waiting = diverted_from[--diversions];
    *bytes = made.bytes;
    if (!made.is_cut_off)
        return made.text;
    free(made.text);
    return NULL;
}

static bool make_room(size_t count)
{
    if (diversions == 0)
        return output_flush();
    size_t capacity = 2 * (waiting.bytes + count);
    char *larger = waiting.is_cut_off ? NULL : realloc(waiting.text, capacity);
    waiting.is_cut_off = !larger;
    if (!larger)
        return false;
    waiting.text = larger;
    waiting.capacity = capacity;
    return true;
}

/* ---- Results ---- */

bool output_flush(void)
{
    if (diversions > 0)
        return output_is_open();
    size_t count = waiting.bytes;
    waiting.bytes = 0;
    return write_out(waiting.text, count);
}

bool output_write(const char *bytes, size_t count)
{
    if (count > waiting.capacity - waiting.bytes && !make_room(count))
        return false;
    if (count > waiting.capacity)
        return write_out(bytes, count);
    if (count > 0)
        memcpy(waiting.text + waiting.bytes, bytes, count);
    waiting.bytes += count;
    return output_is_open();
}

/* Records that there was no memory to format a text. */
static bool fail_to_print(void)
{
    if (diversions == 0)
        return remember_failure(false);
    waiting.is_cut_off = true;
    return false;
}

bool output_print(const char *format, ...)
{
    char text[4096], *longer = text;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length >= (int)sizeof text) {
        longer = malloc((size_t)length + 1);
        if (longer)
            vsnprintf(longer, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    bool written = length >= 0 && longer ? output_write(longer, (size_t)length) : fail_to_print();
    if (longer != text)
        free(longer);
    return written;
}

exit_code output_finish(exit_code code)
{
    output_flush();
    /* Some file systems report a full disk only when the file is closed. */
    remember_failure(fclose(stdout) == 0);
    if (!first_failure || first_failure == EPIPE)
        return code;
    fprintf(stderr, "oif: cannot write the output: %s\n", strerror(first_failure));
    return EXIT_FAILED;
}

/* ---- Complaints and notes ---- */

/* The bytes of the control character that `at` begins with: 0 when it is none, 2 for those of
 * Latin-1 in UTF-8. */
static size_t control_bytes(const char *at)
{
    unsigned char c = (unsigned char)at[0], next = c ? (unsigned char)at[1] : 0;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0)
        return 2;
    return (c > 0 && c < 0x20) || c == 0x7f;
}

static void escape_controls(const char *text, char *escaped)
{
    while (*text) {
        size_t bytes = control_bytes(text);
        if (bytes == 0) {
            *escaped++ = *text++;
            continue;
        }
        escape_control((unsigned char)text[bytes - 1], escaped);
        escaped += ESCAPE_BYTES - 1;
        text += bytes;
    }
    *escaped = '\0';
}

/* Messages that are held while a live view covers the terminal. */
enum { HELD_BYTES_MAX = 1 << 16 };
static struct {
    bool is_on;
    char *text;
    size_t bytes, last; /* where the last one begins */
} held;

void output_hold_messages(void)
{
    held.is_on = isatty(STDERR_FILENO) != 0;
}

const char *output_held_message(void)
{
    return held.text ? held.text + held.last : NULL;
}

static bool hold_message(const char *message)
{
    size_t bytes = strlen(message) + 1;
    if (!held.is_on || held.bytes + bytes > HELD_BYTES_MAX)
        return held.is_on; /* no one reads more than a thousand messages */
    char *text = realloc(held.text, held.bytes + bytes);
    if (!text)
        return false;
    memcpy(text + held.bytes, message, bytes);
    held.text = text;
    held.last = held.bytes;
    held.bytes += bytes;
    return true;
}

void output_release_messages(void)
{
    output_flush();
    for (size_t at = 0; at < held.bytes; at += strlen(held.text + at) + 1)
        fprintf(stderr, "oif: %s\n", held.text + at);
    free(held.text);
    memset(&held, 0, sizeof held);
}

/* Messages that this thread captures instead of printing them. */
static _Thread_local struct {
    bool is_on, is_for_service;
    complaint first;
    char *notes;
    size_t note_bytes;
} captured;

void messages_capture(void)
{
    captured.is_on = true;
    captured.is_for_service = false;
    captured.first = (complaint){.text = ""};
    captured.notes = NULL;
    captured.note_bytes = 0;
}

void messages_capture_for_service(void)
{
    messages_capture();
    captured.is_for_service = true;
}

char *messages_captured(complaint *first)
{
    *first = captured.first;
    captured.is_on = false;
    return captured.notes;
}

static void capture_note(const char *message)
{
    size_t bytes = strlen(message);
    if (captured.note_bytes + bytes + 2 > NOTES_BYTES_MAX)
        return;
    char *notes = realloc(captured.notes, captured.note_bytes + bytes + 2);
    if (!notes)
        return;
    memcpy(notes + captured.note_bytes, message, bytes);
    captured.notes = notes;
    captured.note_bytes += bytes;
    notes[captured.note_bytes++] = '\n';
    notes[captured.note_bytes] = '\0';
}

static void capture_complaint(const char *message, const char *remedy,
                              const complaint_reason *reason)
{
    complaint *first = &captured.first;
    char plain[REMEDY_BYTES], escaped[sizeof plain * (ESCAPE_BYTES - 1)];
    if (first->text[0] != '\0')
        return;
    snprintf(plain, sizeof plain, "%s", remedy);
    escape_controls(plain, escaped);
    first->cause = reason->cause;
    first->is_conversion = reason->is_conversion;
    snprintf(first->text, sizeof first->text, "%.*s",
             (int)cut_bytes(message, strlen(message), COMPLAINT_BYTES - 1), message);
    snprintf(first->remedy, sizeof first->remedy, "%.*s",
             (int)cut_bytes(escaped, strlen(escaped), REMEDY_BYTES - 1), escaped);
}

static bool are_notes_silent;

void output_silence_notes(void)
{
    are_notes_silent = true;
}

/* The length of the option's name, without --, at the start of the text; 0: the text does not
 * start with an option. */
static size_t option_bytes(const char *text)
{
    if (strncmp(text, "--", 2) != 0)
        return 0;
    return strncmp(text + 2, "%s", 2) == 0 ? 2 : strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-");
}

/* Clients of the service know settings, not options: in the format, --key and --%s become
 * "key" and "%s". Arguments that are inserted later, such as a column called --key, stay as
 * they are. */
static void name_settings(const char *format, char *named, size_t capacity)
{
    size_t used = 0;
    while (*format && used + 1 < capacity) {
        const size_t bytes = option_bytes(format);
        if (bytes == 0 || used + bytes + 2 >= capacity) {
            named[used++] = *format++;
            continue;
        }
        used += (size_t)snprintf(named + used, capacity - used, "\"%.*s\"", (int)bytes, format + 2);
        format += 2 + bytes;
    }
    named[used] = '\0';
}

static void print_message(const complaint_reason *reason, bool is_note, const char *format,
                          va_list arguments)
{
    enum { TEXT_BYTES = 1 << 13, FORMAT_BYTES = 1 << 10 };
    char text[TEXT_BYTES], escaped[TEXT_BYTES * (ESCAPE_BYTES - 1)], named[FORMAT_BYTES];
    if (is_note && are_notes_silent && !captured.is_on)
        return;
    const bool is_for_service = captured.is_on && captured.is_for_service;
    const char *remedy = is_for_service ? reason->service : reason->shell;
    output_flush();
    if (is_for_service)
        name_settings(format, named, sizeof named);
    vsnprintf(text, sizeof text, is_for_service ? named : format, arguments);
    const size_t bytes = strlen(text);
    /* clients of the service get the remedy as a field of its own */
    if (remedy && *remedy && (is_note || !is_for_service))
        snprintf(text + bytes, sizeof text - bytes, "%s%s", is_for_service ? ". " : "", remedy);
    escape_controls(text, escaped);
    if (captured.is_on && is_note)
        capture_note(escaped);
    else if (captured.is_on)
        capture_complaint(escaped, is_for_service && remedy ? remedy : "", reason);
    else if (!hold_message(escaped))
        fprintf(stderr, "oif: %s\n", escaped);
}

static const complaint_reason unknown_reason = {.cause = OIF_CAUSE_NONE};

exit_code complain(exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(&unknown_reason, false, format, arguments);
    va_end(arguments);
    return code;
}

exit_code complain_because(const complaint_reason *reason, exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(reason, false, format, arguments);
    va_end(arguments);
    return code;
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(&unknown_reason, true, format, arguments);
    va_end(arguments);
}

void note_because(const complaint_reason *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(reason, true, format, arguments);
    va_end(arguments);
}

const char *grouped_text(uint64_t number, char text[GROUPED_TEXT_BYTES])
{
    /* cppcheck-suppress ctuPointerArith ; every caller's text has this size, and this is its
     * last byte */
    char *start = text + GROUPED_TEXT_BYTES - 1;
    int digits = 0;
    *start = '\0';
    do {
        if (digits > 0 && digits % 3 == 0)
            *--start = ',';
        *--start = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number > 0);
    return start;
}
