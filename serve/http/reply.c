#include "reply.h"

#include "front/text/output.h"
#include "front/text/write_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reply_begin(void)
{
    output_divert();
}

void reply_static(reply *answer, int status, const char *type, const void *bytes, size_t count)
{
    answer->status = status;
    answer->type = type;
    answer->body = (char *)(uintptr_t)bytes;
    answer->body_bytes = count;
    answer->is_static = true;
}

void reply_end(reply *answer, int status, const char *type)
{
    static const char no_memory[] = "{\"error\":{\"status\":503,\"message\":\"out of memory\"}}\n";
    size_t bytes;
    char *text = output_diverted(&bytes);
    if (!text && bytes > 0)
        reply_static(answer, 503, REPLY_JSON, no_memory, sizeof no_memory - 1);
    else
        reply_static(answer, status, type, text ? text : "", bytes);
    answer->is_static = !text;
}

void reply_free(reply *answer)
{
    if (!answer->is_static)
        free(answer->body);
    answer->body = NULL;
}

void reply_empty(reply *answer, int status)
{
    reply_static(answer, status, NULL, "", 0);
}

void reply_add_header(reply *answer, const char *name, const char *format, ...)
{
    if (answer->header_count == REPLY_HEADERS_MAX)
        return;
    reply_header *added = &answer->headers[answer->header_count++];
    va_list arguments;
    added->name = name;
    va_start(arguments, format);
    vsnprintf(added->value, sizeof added->value, format, arguments);
    va_end(arguments);
}

void reply_problem(reply *answer, const problem *why)
{
    reply_begin();
    output_print("{\"error\":{\"status\":%d", why->status);
    write_json_string("message", why->message);
    if (oif_cause_name(why->cause)[0])
        write_json_string("cause", oif_cause_name(why->cause));
    if (why->line > 0)
        output_print(",\"line\":%" PRIu64, why->line);
    if (why->column > 0)
        output_print(",\"column\":%" PRIu64, why->column);
    if (why->remedy[0])
        write_json_string("remedy", why->remedy);
    output_print("}");
    if (why->has_rows)
        output_print(",\"rows\":%" PRIu64, why->rows);
    if (why->has_writer)
        output_print(",\"writer_rows\":%" PRIu64, why->writer_rows);
    output_print("}\n");
    reply_end(answer, why->status, REPLY_JSON);
    problem_write_reason(why, answer->reason);
}

void reply_refuse(reply *answer, int status, const char *remedy, const char *format, ...)
{
    problem why;
    va_list arguments;
    va_start(arguments, format);
    problem_set_list(&why, status, remedy, format, arguments);
    va_end(arguments);
    reply_problem(answer, &why);
}
