#include "problem.h"

#include <stdarg.h>
#include <stdio.h>

bool problem_set(problem *why, int status, const char *remedy, const char *format, ...)
{
    va_list arguments;
    *why = (problem){.status = status};
    va_start(arguments, format);
    vsnprintf(why->message, sizeof why->message, format, arguments);
    va_end(arguments);
    if (remedy)
        snprintf(why->remedy, sizeof why->remedy, "%s", remedy);
    return false;
}
