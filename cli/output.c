#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int first_failure; /* the errno of the first write that failed */

/* A file that we open must not become stdout or stderr because those were closed: results would go into it. What stands in
 * for them refuses to be written, and stdin's to be read. */
static void occupy_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void output_start(void)
{
    static char buffer[1 << 16];

    occupy_closed_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is then seen as EPIPE, like any other failure */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

static bool note(bool written)
{
    if (!written && !first_failure)
        first_failure = errno ? errno : EIO;
    return !first_failure;
}

bool output_write(const char *bytes, size_t count)
{
    return output_is_open() && note(fwrite(bytes, 1, count, stdout) == count);
}

bool output_print(const char *format, ...)
{
    va_list arguments;
    int printed;

    if (!output_is_open())
        return false;
    va_start(arguments, format);
    printed = vprintf(format, arguments);
    va_end(arguments);
    return note(printed >= 0);
}

bool output_flush(void)
{
    return output_is_open() && note(fflush(stdout) == 0);
}

bool output_is_open(void)
{
    return !first_failure;
}

exit_code output_finish(exit_code code)
{
    output_flush();
    /* Some file systems report a full disk only when the file is closed. */
    note(fclose(stdout) == 0);
    if (!first_failure || first_failure == EPIPE)
        return code;
    fprintf(stderr, "oif: cannot write the output: %s\n", strerror(first_failure));
    return EXIT_FAILED;
}

exit_code complain(exit_code code, const char *format, ...)
{
    va_list arguments;

    output_flush();
    fputs("oif: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

const char *grouped_text(uint64_t number, char text[GROUPED_TEXT_BYTES])
{
    /* cppcheck-suppress ctuPointerArith ; every caller's text has this size, and this is its last byte */
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
