#include "problem.h"

#include "front/text/cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool problem_set_list(problem *why, int status, const char *remedy, const char *format,
                      va_list arguments)
{
    char longer[PROBLEM_MESSAGE_BYTES + 1]; /* shows whether a character is cut */
    vsnprintf(longer, sizeof longer, format, arguments);
    *why = (problem){.status = status};
    memcpy(why->message, longer, cut_bytes(longer, strlen(longer), PROBLEM_MESSAGE_BYTES - 1));
    snprintf(why->remedy, sizeof why->remedy, "%s", remedy ? remedy : "");
    return false;
}

bool problem_set(problem *why, int status, const char *remedy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    problem_set_list(why, status, remedy, format, arguments);
    va_end(arguments);
    return false;
}

bool problem_set_error(problem *why, int status, const char *remedy, const oif_error *error)
{
    problem_set(why, status, remedy, "%s", error->message);
    why->cause = error->cause;
    return false;
}

/* Copies a text; of what is quoted, only the quotes. */
static void copy_unquoted(const char *text, char *to, size_t room)
{
    char quote = '\0';
    size_t used = 0;
    for (; *text && used + 1 < room; text++) {
        const bool is_quote = *text == '"' || *text == '\'';
        if (quote == '\0' || *text == quote)
            to[used++] = *text;
        if (is_quote && (quote == '\0' || quote == *text))
            quote = quote == '\0' ? *text : '\0';
    }
    to[cut_bytes(to, used, room - 1)] = '\0';
}

void problem_write_reason(const problem *why, char reason[PROBLEM_REASON_BYTES])
{
    const char *cause = oif_cause_name(why->cause);
    if (why->line > 0)
        snprintf(reason, PROBLEM_REASON_BYTES, "%s, line %" PRIu64 ", column %" PRIu64,
                 *cause ? cause : "a bad row", why->line, why->column);
    else if (*cause)
        snprintf(reason, PROBLEM_REASON_BYTES, "%s", cause);
    else
        copy_unquoted(why->message, reason, PROBLEM_REASON_BYTES);
}
