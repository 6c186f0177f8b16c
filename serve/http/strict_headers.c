#include "strict_headers.h"

#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS_MAX = 18 }; /* below 2^63, leading zeros included */

/* What is known of the headers so far. */
typedef struct summary {
    unsigned hosts, lengths, encodings;
    const char *wrong; /* NULL: nothing */
} summary;

static const char digits[] = "0123456789";

static bool consists_of(const char *text, size_t bytes, const char *letters)
{
    return strspn(text, letters) == bytes;
}

static bool is_token(const char *name, size_t bytes)
{
    return bytes > 0 && consists_of(name, bytes,
                                    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "!#$%&'*+-.^_`|~");
}

/* A name or an address with an optional port. Brackets are for IPv6. */
static bool is_host(const char *value, size_t bytes)
{
    return consists_of(value, bytes,
                       "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "-._~:[]%!$&'()*+;=");
}

static bool has_control(const char *value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f)
            return true;
    return false;
}

static const char *judge_host(summary *all, const char *value, size_t bytes)
{
    if (all->hosts++ > 0)
        return "there are two headers Host";
    return is_host(value, bytes) ? NULL : "the header Host is not a name with an optional port";
}

static const char *judge_length(summary *all, const char *value, size_t bytes)
{
    if (all->lengths++ > 0)
        return "there are two headers Content-Length";
    return bytes > 0 && bytes <= LENGTH_DIGITS_MAX && consists_of(value, bytes, digits)
               ? NULL
               : "Content-Length is not a number of at most 18 digits";
}

static const char *judge_encoding(summary *all, const char *value)
{
    if (all->encodings++ > 0)
        return "there are two headers Transfer-Encoding";
    return strcasecmp(value, "chunked") == 0 ? NULL : "Transfer-Encoding is not chunked";
}

static enum MHD_Result judge(void *context, enum MHD_ValueKind kind, const char *name,
                             size_t name_bytes, const char *value, size_t value_bytes)
{
    summary *all = context;
    (void)kind;
    if (!is_token(name, name_bytes))
        all->wrong = "the name of a header is not a word directly followed by a colon";
    else if (!value || has_control(value, value_bytes))
        all->wrong = "a header has no value, or a control character";
    else if (strcasecmp(name, "Host") == 0)
        all->wrong = judge_host(all, value, value_bytes);
    else if (strcasecmp(name, "Content-Length") == 0)
        all->wrong = judge_length(all, value, value_bytes);
    else if (strcasecmp(name, "Transfer-Encoding") == 0)
        all->wrong = judge_encoding(all, value);
    return all->wrong ? MHD_NO : MHD_YES;
}

static bool verdict(const char *wrong, problem *why)
{
    return !wrong || problem_set(why, 400, NULL, "%s", wrong);
}

bool strict_headers_check(struct MHD_Connection *wire, const char *method, const char *version,
                          problem *why)
{
    summary all = {0};
    const bool is_old = strcmp(version, "HTTP/1.0") == 0;
    MHD_get_connection_values_n(wire, MHD_HEADER_KIND, judge, &all);
    if (!all.wrong && !is_token(method, strlen(method)))
        all.wrong = "the method is not a word";
    else if (!all.wrong && !is_old && strcmp(version, "HTTP/1.1") != 0)
        all.wrong = "the request line does not end with HTTP/1.1";
    else if (!all.wrong && !is_old && all.hosts == 0)
        all.wrong = "there is no header Host";
    else if (!all.wrong && all.lengths > 0 && all.encodings > 0)
        all.wrong = "there are both Content-Length and Transfer-Encoding";
    else if (!all.wrong && is_old && all.encodings > 0)
        all.wrong = "HTTP/1.0 has no Transfer-Encoding";
    return verdict(all.wrong, why);
}

bool strict_trailers_check(struct MHD_Connection *wire, problem *why)
{
    summary all = {0};
    MHD_get_connection_values_n(wire, MHD_FOOTER_KIND, judge, &all);
    if (!all.wrong && (all.hosts > 0 || all.lengths > 0 || all.encodings > 0))
        all.wrong = "a header that must precede the body follows it";
    return verdict(all.wrong, why);
}
