#include "log.h"

#include "front/text/clock.h"
#include "front/text/durations.h"
#include "front/text/output.h"
#include "front/text/quoting.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINES_PER_SECOND = 20, BURST = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double allowance = BURST, refilled_at;
static unsigned long left_out;

/* Whether a line may be written now, and how many were left out before it. A blocked log must not
 * stop the server. */
static int may_write(unsigned long *count)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    int is_writable = poll(&room, 1, 0) > 0 && (room.revents & POLLOUT);
    double now = clock_seconds();
    pthread_mutex_lock(&lock);
    allowance += (now - refilled_at) * LINES_PER_SECOND;
    allowance = allowance > BURST ? BURST : allowance;
    refilled_at = now;
    int may = is_writable && allowance >= 1;
    *count = left_out;
    left_out = may ? 0 : left_out + 1;
    allowance -= may ? 1 : 0;
    pthread_mutex_unlock(&lock);
    return may;
}

static void write_pairs(va_list pairs)
{
    const char *name;
    while ((name = va_arg(pairs, const char *)) != NULL) {
        const char *value = va_arg(pairs, const char *);
        if (!value)
            continue;
        output_print(" %s=", name);
        quoting_write_logfmt(value, strlen(value));
    }
}

void log_line(const char *level, const char *event, ...)
{
    unsigned long before;
    if (!may_write(&before))
        return;
    char moment[MOMENT_TEXT_BYTES];
    va_list pairs;
    va_start(pairs, event);
    output_divert();
    output_print("time=%s level=%s event=%s", moment_text((double)time(NULL), moment), level,
                 event);
    write_pairs(pairs);
    if (before > 0)
        output_print(" left_out=%lu", before);
    output_write("\n", 1);
    size_t bytes;
    char *text = output_diverted(&bytes);
    va_end(pairs);
    if (text)
        (void)!write(STDERR_FILENO, text, bytes);
    free(text);
}
