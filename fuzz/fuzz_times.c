/* Any lines as the times of one stream. The first byte chooses the first year, the order of day and
 * month, and whether the first line is the pattern of the others. An accepted time is
 * between the years 1 and 9999; a rejected one changes nothing. */
#include "fuzz_input.h"

#include "oif_rows.h"

/* The line is copied, so a sanitizer sees reads past its end. */
static void read_line(oif_time_format *format, const uint8_t *line, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);
    require(copy);
    memcpy(copy, line, bytes);
    oif_time_format before = *format, again = *format;
    oif_error error = {.message = ""};
    double seconds = -1, seconds_again = -1;
    oif_status status = oif_time_parse(format, copy, bytes, &seconds, &error);
    require(oif_time_parse(&again, copy, bytes, &seconds_again, NULL) == status);
    require(memcmp(&seconds, &seconds_again, sizeof seconds) == 0);
    require(memcmp(format, &again, sizeof again) == 0);
    if (status == OIF_OK) {
        require(isnan(seconds) || (seconds >= -62135596800.0 && seconds < 253402300800.0));
    } else {
        require(status == OIF_EVALUE && error.message[0] != '\0' && seconds == -1);
        require(memcmp(format, &before, sizeof before) == 0);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t years[] = {0, 2026, 1, 9999, -1, INT32_MIN, INT32_MAX, 2024};
    char text[OIF_TIME_TEXT_BYTES];
    if (size == 0)
        return 0;
    oif_time_format format;
    memset(&format, 0, sizeof format);
    format.year = years[data[0] % 8];
    format.day_order = (oif_day_order)(data[0] >> 3 & 3) % 3;
    const uint8_t *line = data + 1, *end = data + size;
    char pattern[64] = "";
    if (data[0] & 0x20) {
        const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
        const uint8_t *after = newline ? newline : end;
        memcpy(pattern, line, (size_t)(after - line) < 63 ? (size_t)(after - line) : 63);
        line = after;
        if (oif_time_check_pattern(pattern, NULL) == OIF_OK)
            format.pattern = pattern;
    }
    while (line < end) {
        const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
        const uint8_t *line_end = newline ? newline : end;
        read_line(&format, line, (size_t)(line_end - line));
        line = line_end + 1;
    }
    oif_time_describe(&format, text);
    require(strlen(text) < sizeof text);
    return 0;
}
