#include "problem.h"

#include "front/text/cut.h"

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
