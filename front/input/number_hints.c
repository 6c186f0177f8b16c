#include "number_hints.h"

#include <string.h>

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static const char *past_digits(const char *at, const char *end)
{
    while (is_digit(at, end))
        at++;
    return at;
}

/* A blank, of one byte or as in UTF-8: no-break, or narrow and no-break. */
static size_t blank_bytes(const char *at, const char *end)
{
    static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (strlen(blanks[i]) <= (size_t)(end - at) &&
            memcmp(at, blanks[i], strlen(blanks[i])) == 0)
            return strlen(blanks[i]);
    return 0;
}

/* Past 5, 1.5, 1,234.5 or 1 234,5: three digits after every mark but the last. NULL for others,
 * such as dates and addresses. */
static const char *past_grouped_digits(const char *at, const char *end)
{
    const char *digits = at;
    size_t points = 0, group = 3;
    at = past_digits(at, end);
    for (bool is_number = at > digits; is_number;) {
        size_t mark = at < end && strchr(".,'", *at) && *at != '\0' ? 1 : blank_bytes(at, end);
        if (mark == 0 || !is_digit(at + mark, end))
            return points == 3 ? NULL : at; /* 192.168.100.200 */
        points += *at == '.';
        is_number = group == 3;
        digits = at + mark;
        at = past_digits(digits, end);
        group = (size_t)(at - digits);
    }
    return NULL;
}

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Whether letters directly after whole digits are a unit; in 4xx, 5g and 1080p they are not. */
static bool is_common_unit(const char *at, size_t bytes)
{
    static const char *const units[] = {"s",  "ms", "us", "ns",  "B",   "kB",
                                        "KB", "MB", "GB", "KiB", "MiB", "GiB"};
    bool is_common = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        is_common |= strlen(units[i]) == bytes && memcmp(units[i], at, bytes) == 0;
    return is_common;
}

/* %, ms, GiB, m/s, EUR, and signs beyond ASCII: at most six bytes. */
static bool is_unit(const char *at, const char *end, bool is_whole)
{
    const char *unit = at + blank_bytes(at, end);
    bool is_good = end - unit <= 6;
    for (const char *byte = unit; is_good && byte < end; byte++)
        is_good = (unsigned char)*byte >= 0x80 || is_letter(*byte) || *byte == '%' ||
                  *byte == '/' || *byte == '$';
    return is_good && (!is_whole || unit > at || unit == end || !is_letter(*unit) ||
                       is_common_unit(unit, (size_t)(end - unit)));
}

bool number_hints_is_marked(oif_text text)
{
    const char *at = text.text, *end = at + text.bytes;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (int i = 0; i < 3 && at < end && (*at == '$' || (unsigned char)*at >= 0x80); i++)
        at++;
    at += blank_bytes(at, end);
    const char *after = past_grouped_digits(at, end);
    return after && is_unit(after, end, past_digits(at, end) == after);
}
