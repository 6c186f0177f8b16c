#include "file_start.h"

#include "oif_rows.h"

#include <string.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static bool is_comment(const file_start *start, const char *line, size_t bytes)
{
    const char *comment = start->comment ? start->comment : "#";
    return bytes >= strlen(comment) && memcmp(line, comment, strlen(comment)) == 0;
}

/* sep=; as Excel reads it. */
static bool names_delimiter(const file_start *start, const char *line, size_t bytes)
{
    if (bytes == 7 && line[0] == '"' && line[6] == '"') {
        line++;
        bytes -= 2;
    }
    return bytes == 5 && memcmp(line, "sep=", 4) == 0 && line[4] == start->delimiter;
}

/* Whether a field, blanks and quotes aside, is a number; a decimal comma counts as a point. */
static bool is_number(const char *field, const char *end)
{
    double value;
    while (field < end && (is_blank(*field) || *field == '"'))
        field++;
    while (field < end && (is_blank(end[-1]) || end[-1] == '"'))
        end--;
    const char *stop = field < end ? oif_number_parse(field, end, &value) : NULL;
    if (stop && stop < end && *stop == ',') {
        stop++;
        while (stop < end && *stop >= '0' && *stop <= '9')
            stop++;
    }
    return stop && stop == end && value == value;
}

static bool has_number(const file_start *start, const char *line, size_t bytes)
{
    const char *field = line, *end = line + bytes;
    bool is_quoted = false;
    for (const char *at = line; at <= end; at++) {
        bool is_blank_delimiter = start->delimiter == ' ' && at < end && *at == '\t';
        if (at < end && *at == '"')
            is_quoted = !is_quoted;
        if (at < end && (is_quoted || (*at != start->delimiter && !is_blank_delimiter)))
            continue;
        if (is_number(field, at))
            return true;
        field = at + 1;
    }
    return false;
}

start_line file_start_judge(const file_start *start, const char *line, size_t bytes)
{
    while (bytes > 0 && line[bytes - 1] == '\r')
        bytes--;
    size_t blanks = 0;
    while (blanks < bytes && is_blank(line[blanks]))
        blanks++;
    if (bytes > 0 && bytes == start->header_bytes && memcmp(line, start->header, bytes) == 0)
        return START_IS_HEADER;
    if (blanks == bytes)
        return START_IS_BLANK;
    if (is_comment(start, line, bytes) || names_delimiter(start, line, bytes))
        return START_IS_COMMENT;
    return has_number(start, line, bytes) ? START_IS_ROW : START_IS_OTHER_TEXT;
}
