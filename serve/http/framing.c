#include "framing.h"

#include <string.h>
#include <strings.h>

typedef enum framing_state {
    AT_START,
    AT_START_LF, /* of an empty line before the request */
    IN_METHOD,
    IN_TARGET,
    IN_VERSION,
    AT_LINE_LF, /* of the request line, or of a header */
    AT_NAME,    /* at the first byte of a line */
    IN_NAME,
    IN_VALUE,
    AT_HEAD_LF, /* of the empty line after the headers */
    IN_BODY,
    IN_SIZE, /* of a chunk */
    IN_EXTENSION,
    AT_SIZE_LF,
    IN_CHUNK,
    AT_CHUNK_CR,
    AT_CHUNK_LF
} framing_state;

/* The headers that matter. */
typedef enum framing_field { FIELD_OTHER, FIELD_HOST, FIELD_LENGTH, FIELD_ENCODING } framing_field;

enum {
    METHOD_BYTES_MAX = 15,
    LENGTH_DIGITS_MAX = 18, /* below 2^63, leading zeros included */
    SIZE_DIGITS_MAX = 15,
    EXTENSION_BYTES_MAX = 256,
    IS_TRAILER = 1 << 8 /* in `field`: the line follows the last chunk */
};

static const char bad_line[] = "a line does not end with CR LF";

/* ---- Characters ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Of a method or of the name of a header: a token. */
static bool is_token(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Of a value or of an extension: anything but control characters. */
static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

/* Of a host with its port. Brackets are for IPv6. */
static bool is_host(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("-._~:[]%!$&'()*+;=", c) != NULL);
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- Words ---- */

static void add_to_word(framing *wire, char c)
{
    if (wire->word_bytes < sizeof wire->word)
        wire->word[wire->word_bytes] = c;
    if (wire->word_bytes <= sizeof wire->word)
        wire->word_bytes++;
}

static bool word_is(const framing *wire, const char *text)
{
    return wire->word_bytes == strlen(text) && strncasecmp(wire->word, text, wire->word_bytes) == 0;
}

static bool refuse(framing *wire, const char *why)
{
    wire->wrong = why;
    return false;
}

/* ---- The request line ---- */

/* One empty line is tolerated: some clients send it after a body. */
static bool take_start(framing *wire, char c)
{
    const bool is_empty_line = c == '\r' && wire->digits++ == 0;
    if (!is_empty_line && !is_token(c))
        return refuse(wire, "the request line does not begin with a method");
    wire->state = is_empty_line ? AT_START_LF : IN_METHOD;
    wire->word_bytes = 1;
    return true;
}

static bool take_method(framing *wire, char c)
{
    if (c == ' ') {
        wire->state = IN_TARGET;
        wire->length = 0;
        return true;
    }
    if (!is_token(c) || wire->word_bytes++ == METHOD_BYTES_MAX)
        return refuse(wire, "the method is not a word followed by one blank");
    return true;
}

static bool take_target(framing *wire, char c)
{
    if (c == ' ' && wire->length > 0) {
        wire->state = IN_VERSION;
        wire->word_bytes = 0;
        return true;
    }
    wire->length++;
    return (is_text(c) && c != ' ' && c != '\t') ||
           refuse(wire, "the target is not followed by one blank and the version, or has a control "
                        "character");
}

static bool take_version(framing *wire, char c)
{
    if (c != '\r') {
        add_to_word(wire, c);
        return wire->word_bytes <= strlen("HTTP/1.1") ||
               refuse(wire, "the request line does not end with HTTP/1.1");
    }
    const size_t bytes = strlen("HTTP/1.1");
    wire->is_old = wire->word_bytes == bytes && memcmp(wire->word, "HTTP/1.0", bytes) == 0;
    if (!wire->is_old && (wire->word_bytes != bytes || memcmp(wire->word, "HTTP/1.1", bytes) != 0))
        return refuse(wire, "the request line does not end with HTTP/1.1");
    wire->state = AT_LINE_LF;
    wire->length = 0;
    return true;
}

/* ---- Headers ---- */

static framing_field field_of(const framing *wire)
{
    return word_is(wire, "host")                ? FIELD_HOST
           : word_is(wire, "content-length")    ? FIELD_LENGTH
           : word_is(wire, "transfer-encoding") ? FIELD_ENCODING
                                                : FIELD_OTHER;
}

static bool take_name(framing *wire, char c)
{
    if (c == ':') {
        const framing_field field = field_of(wire);
        const bool is_trailer = wire->field & IS_TRAILER;
        if (is_trailer && field != FIELD_OTHER)
            return refuse(wire, "a header that must precede the body follows it");
        wire->field = (int)field | (is_trailer ? IS_TRAILER : 0);
        wire->state = IN_VALUE;
        wire->word_bytes = 0;
        return true;
    }
    add_to_word(wire, c);
    return is_token(c) ||
           refuse(wire, "the name of a header is not a word directly followed by a colon");
}

/* The first byte of a line. */
static bool take_line(framing *wire, char c)
{
    if (c == ' ' || c == '\t')
        return refuse(wire, "a header is folded into two lines");
    if (c == '\r') {
        wire->state = AT_HEAD_LF;
        return true;
    }
    wire->word_bytes = 0;
    wire->state = IN_NAME;
    if (c == ':')
        return refuse(wire, "a header has no name");
    return take_name(wire, c);
}

static bool take_length(framing *wire)
{
    wire->length = 0;
    if (wire->lengths++ > 0)
        return refuse(wire, "there are two headers Content-Length");
    if (wire->word_bytes == 0 || wire->word_bytes > LENGTH_DIGITS_MAX)
        return refuse(wire, "Content-Length is not a number of at most 18 digits");
    for (size_t i = 0; i < wire->word_bytes; i++) {
        if (!is_digit(wire->word[i]))
            return refuse(wire, "Content-Length is not a number");
        wire->length = 10 * wire->length + (uint64_t)(wire->word[i] - '0');
    }
    return true;
}

static bool take_encoding(framing *wire)
{
    if (wire->encodings++ > 0)
        return refuse(wire, "there are two headers Transfer-Encoding");
    return word_is(wire, "chunked") || refuse(wire, "Transfer-Encoding is not chunked");
}

/* The value is complete. Blanks after a length or an encoding are not tolerated, because
 * libmicrohttpd takes them as part of it. */
static bool end_value(framing *wire)
{
    wire->state = AT_LINE_LF;
    switch (wire->field) {
    case FIELD_HOST: return wire->hosts++ == 0 || refuse(wire, "there are two headers Host");
    case FIELD_LENGTH: return take_length(wire);
    case FIELD_ENCODING: return take_encoding(wire);
    default: return true;
    }
}

static bool take_value(framing *wire, char c)
{
    if (c == '\r')
        return end_value(wire);
    if (!is_text(c))
        return refuse(wire, c == '\n' ? bad_line : "a header has a control character");
    const bool is_blank = c == ' ' || c == '\t';
    if (wire->field == FIELD_HOST && !is_blank && (!is_host(c) || wire->is_host_over))
        return refuse(wire, "the header Host is not a name with an optional port");
    wire->is_host_over |= wire->field == FIELD_HOST && is_blank && wire->word_bytes > 0;
    if (!is_blank || wire->word_bytes > 0)
        add_to_word(wire, c);
    return true;
}

/* ---- Bodies ---- */

static void begin_request(framing *wire)
{
    *wire = (framing){.state = AT_START, .heads = wire->heads};
}

/* The headers are complete, or the trailers. */
static bool end_head(framing *wire)
{
    if (wire->field & IS_TRAILER) {
        begin_request(wire);
        return true;
    }
    if (wire->hosts == 0 && !wire->is_old)
        return refuse(wire, "there is no header Host");
    if (wire->lengths > 0 && wire->encodings > 0)
        return refuse(wire, "there are both Content-Length and Transfer-Encoding");
    if (wire->encodings > 0 && wire->is_old)
        return refuse(wire, "HTTP/1.0 has no Transfer-Encoding");
    wire->heads++;
    wire->digits = 0;
    if (wire->encodings > 0) {
        wire->state = IN_SIZE;
        wire->length = 0;
    } else if (wire->lengths > 0 && wire->length > 0) {
        wire->state = IN_BODY;
    } else {
        begin_request(wire);
    }
    return true;
}

/* The line with the size of a chunk is complete. */
static bool end_size(framing *wire)
{
    const bool is_last = wire->length == 0;
    wire->state = is_last ? AT_NAME : IN_CHUNK;
    wire->field = is_last ? IS_TRAILER : 0;
    wire->digits = 0;
    return true;
}

static bool take_size(framing *wire, char c)
{
    const int digit = hex_digit(c);
    if (wire->digits > 0 && (c == '\r' || c == ';')) {
        wire->state = c == ';' ? IN_EXTENSION : AT_SIZE_LF;
        wire->digits = 0;
        return true;
    }
    if (digit < 0 || wire->digits++ == SIZE_DIGITS_MAX)
        return refuse(wire, "the size of a chunk is not a hexadecimal number of at most 15 digits");
    wire->length = 16 * wire->length + (uint64_t)digit;
    return true;
}

static bool take_extension(framing *wire, char c)
{
    if (c == '\r') {
        wire->state = AT_SIZE_LF;
        return true;
    }
    return (is_text(c) && wire->digits++ < EXTENSION_BYTES_MAX) ||
           refuse(wire, "the extension of a chunk is too long, or has a control character");
}

/* ---- All bytes ---- */

/* A line feed that ends a line; what follows it is the state `next`. */
static bool take_feed(framing *wire, char c, framing_state next)
{
    wire->state = (int)next;
    wire->word_bytes = 0;
    return c == '\n' || refuse(wire, bad_line);
}

static bool take_byte(framing *wire, char c)
{
    switch ((framing_state)wire->state) {
    case AT_START: return take_start(wire, c);
    case AT_START_LF: return take_feed(wire, c, AT_START);
    case IN_METHOD: return take_method(wire, c);
    case IN_TARGET: return take_target(wire, c);
    case IN_VERSION: return take_version(wire, c);
    case AT_LINE_LF: return take_feed(wire, c, AT_NAME);
    case AT_NAME: return take_line(wire, c);
    case IN_NAME: return take_name(wire, c);
    case IN_VALUE: return take_value(wire, c);
    case AT_HEAD_LF: return take_feed(wire, c, AT_NAME) && end_head(wire);
    case IN_SIZE: return take_size(wire, c);
    case IN_EXTENSION: return take_extension(wire, c);
    case AT_SIZE_LF: return take_feed(wire, c, AT_NAME) && end_size(wire);
    case AT_CHUNK_CR: wire->state = AT_CHUNK_LF; return c == '\r' || refuse(wire, bad_line);
    case AT_CHUNK_LF: return take_feed(wire, c, IN_SIZE);
    case IN_BODY:
    case IN_CHUNK: break; /* their bytes are skipped */
    }
    return true;
}

/* Skips the bytes of a body or of a chunk. */
static size_t skip(framing *wire, size_t count)
{
    const size_t skipped = wire->length < count ? (size_t)wire->length : count;
    wire->length -= skipped;
    if (wire->length == 0 && wire->state == IN_CHUNK)
        wire->state = AT_CHUNK_CR;
    else if (wire->length == 0)
        begin_request(wire);
    return skipped;
}

size_t framing_take(framing *wire, const char *bytes, size_t count)
{
    size_t at = 0, good = 0;
    while (at < count && !wire->wrong) {
        const bool is_content = wire->state == IN_BODY || wire->state == IN_CHUNK;
        if (is_content)
            at += skip(wire, count - at);
        else if (take_byte(wire, bytes[at]))
            at++;
        if (wire->state == AT_START || wire->state >= IN_BODY)
            good = at;
    }
    return wire->wrong ? good : count;
}
