#include "translator.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* gcc's analyzer does not see that the filter is the start of the translator, which is freed. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

enum { PIECE_BYTES = 1 << 16, LINE_BYTES_MAX = OIF_LINE_BYTES_INITIAL };

/* ---- Rows ---- */

void translator_begin_row(translator *by, uint64_t line)
{
    for (; by->lines_printed + 1 < line; by->lines_printed++)
        output_text("\n");
}

void translator_end_row(translator *by)
{
    output_text("\n");
    by->lines_printed++;
}

void translator_bad_row(translator *by)
{
    translator_begin_row(by, by->line);
    output_text("!");
    translator_end_row(by);
}

/* ---- Messages ---- */

void translator_fail(translator *by, uint64_t line, const char *format, ...)
{
    va_list arguments;
    if (by->problem[0] != '\0')
        return;
    const char *name = byte_source_place(by->source, &line);
    int length = snprintf(by->problem, sizeof by->problem, "%.200s:%" PRIu64 ": ", name, line);
    va_start(arguments, format);
    vsnprintf(by->problem + length, sizeof by->problem - (size_t)length, format, arguments);
    va_end(arguments);
}

void translator_note(translator *by, const char *format, ...)
{
    char text[512];
    va_list arguments;
    uint64_t line = by->line;
    if (by->is_noted)
        return;
    by->is_noted = true;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *name = byte_source_place(by->source, &line);
    note("%s:%" PRIu64 ": %s", name, line, text);
}

void translator_explain(const translator *by, oif_error *error)
{
    bool may_be_marked =
        error->cause == OIF_CAUSE_BAD_JSON || error->cause == OIF_CAUSE_TOO_FEW_FIELDS;
    if (!by || !by->format->bad_line || !may_be_marked)
        return;
    error->cause = OIF_CAUSE_NONE;
    error->column = 1;
    snprintf(error->message, sizeof error->message, "%s; --on-bad-row skip leaves such lines out",
             by->format->bad_line);
}

/* ---- Lines ---- */

static bool keep_unfinished(translator *by, oif_text part)
{
    if (part.bytes > LINE_BYTES_MAX - by->unfinished_bytes) {
        translator_fail(by, by->line + 1,
                        "a line of more than %d MiB, too long for %s; is it another kind of file?",
                        LINE_BYTES_MAX >> 20, by->format->what);
        return false;
    }
    if (part.bytes > by->unfinished_capacity - by->unfinished_bytes) {
        size_t capacity = 2 * (by->unfinished_bytes + part.bytes);
        char *larger = realloc(by->unfinished, capacity);
        if (!larger) {
            translator_fail(by, by->line + 1, "out of memory");
            return false;
        }
        by->unfinished = larger;
        by->unfinished_capacity = capacity;
    }
    if (part.bytes > 0)
        memcpy(by->unfinished + by->unfinished_bytes, part.text, part.bytes);
    by->unfinished_bytes += part.bytes;
    return true;
}

static void take_line(translator *by, oif_text line)
{
    static const char mark[] = "\xEF\xBB\xBF";
    by->line++;
    if (by->line == 1 && text_begins(line, mark)) {
        line.text += 3;
        line.bytes -= 3;
    }
    if (line.bytes > 0 && line.text[line.bytes - 1] == '\r')
        line.bytes--;
    by->format->line(by, line);
}

static void take_unfinished(translator *by)
{
    size_t bytes = by->unfinished_bytes;
    by->unfinished_bytes = 0;
    take_line(by, (oif_text){by->unfinished, bytes});
}

static void take_lines(translator *by, oif_text piece)
{
    while (piece.bytes > 0 && by->problem[0] == '\0') {
        const char *newline = memchr(piece.text, '\n', piece.bytes);
        oif_text part = {piece.text, newline ? (size_t)(newline - piece.text) : piece.bytes};
        size_t taken = part.bytes + (newline ? 1 : 0);
        if (newline && by->unfinished_bytes == 0)
            take_line(by, part);
        else if (keep_unfinished(by, part) && newline)
            take_unfinished(by);
        piece.text += taken;
        piece.bytes -= taken;
    }
}

/* ---- Reading ---- */

static void take_piece(translator *by, oif_text piece)
{
    by->has_ended = piece.bytes == 0;
    if (by->format->piece && !by->has_ended)
        by->format->piece(by, piece);
    else if (!by->has_ended)
        take_lines(by, piece);
    else if (by->unfinished_bytes > 0)
        take_unfinished(by);
    if (by->has_ended && by->format->end)
        by->format->end(by);
}

void translator_print(translator *by)
{
    free(by->printed);
    by->printed = NULL;
    output_divert();
}

void translator_printed(translator *by)
{
    by->printed = output_diverted(&by->printed_bytes);
    by->printed_given = 0;
    if (!by->printed && by->printed_bytes > 0) {
        by->printed_bytes = 0;
        translator_fail(by, by->line, "out of memory");
    }
}

static bool take_more(translator *by)
{
    if (by->format->pull)
        return by->format->pull(by);
    ptrdiff_t count = byte_source_read_unfiltered(by->source, by->piece, PIECE_BYTES);
    if (count < 0)
        return false;
    translator_print(by);
    take_piece(by, (oif_text){by->piece, (size_t)count});
    translator_printed(by);
    return true;
}

static ptrdiff_t read_translated(byte_filter *filter, byte_source *source, char *buffer,
                                 size_t capacity)
{
    translator *by = (translator *)filter;
    by->source = source;
    while (by->printed_given == by->printed_bytes) {
        if (by->problem[0] != '\0')
            source->problem = by->problem;
        if (by->problem[0] != '\0' || by->has_ended)
            return by->problem[0] != '\0' ? -1 : 0;
        if (!take_more(by))
            return -1;
    }
    size_t left = by->printed_bytes - by->printed_given, count = left < capacity ? left : capacity;
    memcpy(buffer, by->printed + by->printed_given, count);
    by->printed_given += count;
    filter->ready_bytes = by->printed_bytes - by->printed_given;
    return (ptrdiff_t)count;
}

static void close_translator(byte_filter *filter)
{
    translator *by = (translator *)filter;
    if (by->format->close && by->state)
        by->format->close(by);
    free(by->state);
    free(by->printed);
    free(by->unfinished);
    free(by->piece);
    free(by);
}

translator *translator_new(const translation *format, const translator_options *options)
{
    translator *by = calloc(1, sizeof *by);
    if (!by)
        return NULL;
    by->filter = (byte_filter){.read = read_translated, .close = close_translator};
    by->format = format;
    by->options = *options;
    by->state = calloc(1, format->state_bytes > 0 ? format->state_bytes : 1);
    by->piece = malloc(PIECE_BYTES);
    if (by->state && by->piece)
        return by;
    close_translator(&by->filter);
    return NULL;
}

/* ---- Words ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

size_t translator_words(oif_text line, oif_text *words, size_t most)
{
    const char *at = line.text, *end = line.text + line.bytes;
    size_t count = 0;
    while (end > at && is_blank(end[-1]))
        end--;
    while (count < most) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            break;
        const char *begin = at;
        while (at < end && !is_blank(*at))
            at++;
        if (count + 1 == most)
            at = end;
        words[count++] = (oif_text){begin, (size_t)(at - begin)};
    }
    return count;
}

bool text_is(oif_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

bool text_begins(oif_text text, const char *beginning)
{
    size_t bytes = strlen(beginning);
    return text.bytes >= bytes && memcmp(text.text, beginning, bytes) == 0;
}

bool text_has(oif_text text, const char *part)
{
    const char *at = text.text, *end = text.text + text.bytes;
    const size_t bytes = strlen(part);
    while ((size_t)(end - at) >= bytes && (at = memchr(at, *part, (size_t)(end - at)))) {
        if ((size_t)(end - at) >= bytes && memcmp(at, part, bytes) == 0)
            return true;
        at++;
    }
    return false;
}
