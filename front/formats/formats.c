#include "formats.h"

const char *const format_words[] = {"csv",  "ndjson",     "json",   "vmstat",     "sysstat",
                                    "sadf", "prometheus", "influx", "access-log", NULL};

enum { FIRST_TRANSLATED = 2 }; /* after the two of oif_format that have lines */
static const translation *const formats[] = {&format_json,      &format_vmstat,     &format_sysstat,
                                             &format_sadf,      &format_prometheus, &format_influx,
                                             &format_access_log};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const translation *formats_asked(int word)
{
    return word >= FIRST_TRANSLATED && word < FIRST_TRANSLATED + FORMAT_COUNT
               ? formats[word - FIRST_TRANSLATED]
               : NULL;
}

/* ---- Recognising ---- */

enum { START_BYTES_MAX = 1 << 16, PATIENCE_MILLISECONDS = 1000 };

/* The text from the first line on that is not blank, with more of it if the line is not whole. */
static oif_text first_line(byte_source *source)
{
    oif_text text;
    byte_source_peek(source);
    do
        text.text = byte_source_held_text(source, &text.bytes);
    while (!memchr(text.text, '\n', text.bytes) && text.bytes < START_BYTES_MAX &&
           byte_source_hold_more(source, START_BYTES_MAX));
    return text;
}

/* What the first line of JSON shows. */
typedef struct json_look {
    int depth;          /* of brackets that are open at its end */
    uint64_t arrays;    /* which of the innermost 64 are arrays: the last bit is the innermost */
    char last;          /* byte that is not blank */
    bool has_objects;   /* an array has two objects or more */
    const char *behind; /* the first object or array */
} json_look;

static void look_at_byte(json_look *look, char byte, char before_last)
{
    if (byte == '{' || byte == '[') {
        look->depth++;
        look->arrays = look->arrays << 1 | (byte == '[');
    } else if (byte == '}' || byte == ']') {
        look->depth--;
        look->arrays >>= 1;
    }
    look->has_objects |= byte == '{' && look->last == ',' && before_last == '}';
}

static json_look look_at_json(oif_text text)
{
    json_look look = {.depth = 0};
    bool is_string = false;
    char before_last = '\0';
    for (const char *at = text.text, *end = at + text.bytes; at < end && *at != '\n'; at++) {
        if (is_string && *at == '\\') {
            at++;
            continue;
        }
        if (*at == '"')
            is_string = !is_string;
        if (is_string || *at == ' ' || *at == '\t' || *at == '\r')
            continue;
        look_at_byte(&look, *at, before_last);
        if (look.depth == 0 && !look.behind)
            look.behind = at + 1;
        before_last = look.last;
        look.last = *at;
    }
    return look;
}

/* The held text, with more of it until the first line is whole: as long as one of NDJSON may be. */
static oif_text whole_line(byte_source *source)
{
    oif_text text = {"", 0};
    size_t searched = 0;
    do {
        text.text = byte_source_held_text(source, &text.bytes);
        if (memchr(text.text + searched, '\n', text.bytes - searched))
            break;
        searched = text.bytes;
    } while (text.bytes <= OIF_LINE_BYTES_INITIAL &&
             byte_source_hold_more(source, START_BYTES_MAX));
    return text;
}

/* Whether a line that ends inside an object continues in the next one. A line that was cut off is
 * followed by another row. */
static bool continues(byte_source *source, const json_look *look)
{
    char next = '\0';
    oif_text text;
    do {
        text.text = byte_source_held_text(source, &text.bytes);
        const char *at = memchr(text.text, '\n', text.bytes), *end = text.text + text.bytes;
        while (at && at < end && strchr(" \t\r\n", *at) && *at != '\0')
            at++;
        next = at && at < end ? *at : '\0';
    } while (next == '\0' && text.bytes <= OIF_LINE_BYTES_INITIAL &&
             byte_source_hold_more(source, START_BYTES_MAX));
    const bool is_in_array = look->arrays & 1;
    return next != '\0' && (next != '{' || look->last == ':' || look->last == '[' ||
                            (look->last == ',' && is_in_array));
}

/* Whether anything but blanks follows; waits a moment for it. */
static bool has_more(byte_source *source, size_t at)
{
    for (;;) {
        size_t bytes;
        const char *text = byte_source_held_text(source, &bytes);
        for (; at < bytes; at++)
            if (!strchr(" \t\r\n", text[at]) || text[at] == '\0')
                return true;
        if (!byte_source_is_ready(source, PATIENCE_MILLISECONDS))
            return true; /* a stream that has just begun */
        if (bytes > OIF_LINE_BYTES_INITIAL || !byte_source_hold_more(source, START_BYTES_MAX))
            return false;
    }
}

/* A document is an array of objects, an object over several lines, or one object on the only line
 * with an array of objects in it. */
static bool is_json_document(byte_source *source, oif_text text)
{
    size_t at = 1;
    while (at < text.bytes && strchr(" \t\r\n", text.text[at]) && text.text[at])
        at++;
    if (text.text[0] == '[')
        return at < text.bytes && text.text[at] == '{';
    if (at < text.bytes && text.text[at] != '"' && text.text[at] != '}')
        return false;
    text = whole_line(source);
    json_look look = look_at_json(text);
    if (look.depth > 0)
        return text.bytes > OIF_LINE_BYTES_INITIAL || continues(source, &look);
    return look.has_objects && look.behind && !has_more(source, (size_t)(look.behind - text.text));
}

const translation *formats_recognise(byte_source *source)
{
    oif_text text = first_line(source);
    if (text.bytes > 0 && (*text.text == '{' || *text.text == '['))
        return is_json_document(source, text) ? &format_json : NULL;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->recognise && formats[i]->recognise(text.text, text.bytes))
            return formats[i];
    return NULL;
}
