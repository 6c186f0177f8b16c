#include "base/error.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

/* Removes the last character of a text that was cut, unless it is complete. */
static void remove_cut_character(char *text, size_t bytes)
{
    const char *end = text + bytes;
    char *last = text + bytes - 1;
    uint32_t code;
    while (end - last < 4 && last > text && ((unsigned char)*last & 0xc0) == 0x80)
        last--;
    if ((unsigned char)*last >= 0xc0 && oif_utf8_character(last, end, &code) == 0)
        *last = '\0';
}

static void fill(oif_error *error, oif_status status, uint64_t line, uint64_t column,
                 const char *format, va_list arguments)
{
    if (!error)
        return;
    error->status = status;
    error->line = line;
    error->column = column;
    int bytes = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (bytes >= (int)sizeof error->message)
        remove_cut_character(error->message, sizeof error->message - 1);
}

oif_status oif_fail(oif_error *error, oif_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

oif_status oif_fail_at(oif_error *error, oif_status status, uint64_t line, uint64_t column,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, line, column, format, arguments);
    va_end(arguments);
    return status;
}

const char *oif_status_text(oif_status status)
{
    switch (status) {
    case OIF_OK: return "ok";
    case OIF_END: return "end of input";
    case OIF_EPARAM: return "bad parameter";
    case OIF_EVALUE: return "bad value";
    case OIF_EMEMORY: return "out of memory";
    case OIF_EINPUT: return "bad input";
    case OIF_EREAD: return "read failure";
    case OIF_EINVARIANT: return "broken invariant";
    case OIF_EWRITE: return "write failure";
    case OIF_EKIND: return "not the expected kind of snapshot";
    case OIF_EVERSION: return "written by a newer version";
    case OIF_ETRUNCATED: return "snapshot cut off";
    case OIF_ECORRUPT: return "snapshot damaged";
    case OIF_EBUSY: return "in use by another program";
    }
    return "unknown status";
}

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *oif_version(void)
{
    return VERSION_TEXT(OIF_VERSION_MAJOR, OIF_VERSION_MINOR, OIF_VERSION_PATCH);
}

int oif_version_number(void)
{
    return OIF_VERSION_NUMBER;
}

int oif_behavior_number(void)
{
    return OIF_BEHAVIOR_NUMBER;
}
