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

/* What is known of a failure besides its message. */
typedef struct failure {
    oif_status status;
    oif_cause cause;
    int system_errno;
    uint64_t line, column;
} failure;

static void fill(oif_error *error, failure failed, const char *format, va_list arguments)
{
    if (!error)
        return;
    error->status = failed.status;
    error->cause = failed.cause;
    error->system_errno = failed.system_errno;
    error->line = failed.line;
    error->column = failed.column;
    int bytes = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (bytes >= (int)sizeof error->message)
        remove_cut_character(error->message, sizeof error->message - 1);
}

oif_status oif_fail(oif_error *error, oif_status status, const char *format, ...)
{
    const failure failed = {.status = status, .cause = oif_cause_of(status)};
    va_list arguments;
    va_start(arguments, format);
    fill(error, failed, format, arguments);
    va_end(arguments);
    return status;
}

oif_status oif_fail_at(oif_error *error, oif_status status, uint64_t line, uint64_t column,
                       const char *format, ...)
{
    const failure failed = {
        .status = status, .cause = oif_cause_of(status), .line = line, .column = column};
    va_list arguments;
    va_start(arguments, format);
    fill(error, failed, format, arguments);
    va_end(arguments);
    return status;
}

oif_status oif_fail_because(oif_error *error, oif_status status, oif_cause cause,
                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, (failure){.status = status, .cause = cause}, format, arguments);
    va_end(arguments);
    return status;
}

oif_status oif_fail_because_at(oif_error *error, oif_status status, oif_cause cause, uint64_t line,
                               uint64_t column, const char *format, ...)
{
    const failure failed = {.status = status, .cause = cause, .line = line, .column = column};
    va_list arguments;
    va_start(arguments, format);
    fill(error, failed, format, arguments);
    va_end(arguments);
    return status;
}

oif_status oif_fail_system(oif_error *error, oif_status status, int reason, const char *format, ...)
{
    const failure failed = {.status = status, .cause = OIF_CAUSE_SYSTEM, .system_errno = reason};
    va_list arguments;
    va_start(arguments, format);
    fill(error, failed, format, arguments);
    va_end(arguments);
    return status;
}

oif_cause oif_cause_of(oif_status status)
{
    switch (status) {
    case OIF_EMEMORY: return OIF_CAUSE_MEMORY;
    case OIF_EVERSION: return OIF_CAUSE_NEWER_SNAPSHOT;
    case OIF_ETRUNCATED: return OIF_CAUSE_TRUNCATED_SNAPSHOT;
    case OIF_ECORRUPT: return OIF_CAUSE_INCONSISTENT_SNAPSHOT;
    case OIF_EBUSY: return OIF_CAUSE_FILE_IN_USE;
    default: return OIF_CAUSE_NONE;
    }
}

const char *oif_cause_name(oif_cause cause)
{
    switch (cause) {
    case OIF_CAUSE_NONE: break;
    case OIF_CAUSE_UNKNOWN_PARAMETER: return "unknown_parameter";
    case OIF_CAUSE_PARAMETER_RANGE: return "parameter_range";
    case OIF_CAUSE_UNKNOWN_DETECTOR: return "unknown_detector";
    case OIF_CAUSE_UNKNOWN_COLUMN: return "unknown_column";
    case OIF_CAUSE_UNKNOWN_KEY: return "unknown_key";
    case OIF_CAUSE_KEY_TOO_LONG: return "key_too_long";
    case OIF_CAUSE_BAD_RULE: return "bad_rule";
    case OIF_CAUSE_UNKNOWN_EPISODE: return "unknown_episode";
    case OIF_CAUSE_NO_EPISODES_KEPT: return "no_episodes_kept";
    case OIF_CAUSE_INFINITE_VALUE: return "infinite_value";
    case OIF_CAUSE_NOT_A_NUMBER: return "not_a_number";
    case OIF_CAUSE_DECIMAL_COMMA: return "decimal_comma";
    case OIF_CAUSE_DECIMAL_POINT: return "decimal_point";
    case OIF_CAUSE_TOO_FEW_FIELDS: return "too_few_fields";
    case OIF_CAUSE_TOO_MANY_FIELDS: return "too_many_fields";
    case OIF_CAUSE_TRAILING_DELIMITER: return "trailing_delimiter";
    case OIF_CAUSE_COMMENT: return "comment";
    case OIF_CAUSE_OPEN_QUOTE: return "open_quote";
    case OIF_CAUSE_LINE_TOO_LONG: return "line_too_long";
    case OIF_CAUSE_BAD_JSON: return "bad_json";
    case OIF_CAUSE_NUL_BYTES: return "nul_bytes";
    case OIF_CAUSE_NOT_TEXT: return "not_text";
    case OIF_CAUSE_NOT_A_TIME: return "not_a_time";
    case OIF_CAUSE_DAY_ORDER: return "day_order";
    case OIF_CAUSE_NOT_A_SNAPSHOT: return "not_a_snapshot";
    case OIF_CAUSE_DETECTOR_SNAPSHOT: return "detector_snapshot";
    case OIF_CAUSE_PIPELINE_SNAPSHOT: return "pipeline_snapshot";
    case OIF_CAUSE_KEY_SNAPSHOT: return "key_snapshot";
    case OIF_CAUSE_NEWER_SNAPSHOT: return "newer_snapshot";
    case OIF_CAUSE_TRUNCATED_SNAPSHOT: return "truncated_snapshot";
    case OIF_CAUSE_WRONG_CHECKSUM: return "wrong_checksum";
    case OIF_CAUSE_INCONSISTENT_SNAPSHOT: return "inconsistent_snapshot";
    case OIF_CAUSE_MEMORY: return "memory";
    case OIF_CAUSE_SYSTEM: return "system";
    case OIF_CAUSE_FILE_IN_USE: return "file_in_use";
    case OIF_CAUSE_NOT_BUILT: return "not_built";
    }
    return "";
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
