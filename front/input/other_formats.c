#include "other_formats.h"

#include "front/advice/advice.h"

#include "oif_rows.h"

#include <stdio.h>
#include <string.h>

/* Commands in which FILE is the file. */
#define WITH_DUCKDB "duckdb -c \"copy (from 'FILE') to '/dev/stdout' (format csv)\""
#define WITH_PANDAS(reader)                                                                        \
    "python3 -c \"import pandas, sys; pandas." reader "('FILE').to_csv(sys.stdout, index=False)\""
#define WITH_ICONV(encoding) "iconv -f " encoding " -t UTF-8 FILE"

static const struct other_format {
    const char *magic;
    size_t magic_bytes;
    const char *what, *command;
    advice_topic topic;
} formats[] = {
    {"PAR1", 4, "Parquet", WITH_DUCKDB, ADVICE_OTHER_FORMAT},
    {"ARROW1", 6, "an Arrow file", WITH_PANDAS("read_feather"), ADVICE_OTHER_FORMAT},
    {"FEA1", 4, "a Feather file", WITH_PANDAS("read_feather"), ADVICE_OTHER_FORMAT},
    {"\xff\xff\xff\xff", 4, "an Arrow stream",
     "python3 -c \"import pyarrow.ipc, sys; "
     "pyarrow.ipc.open_stream('FILE').read_pandas().to_csv(sys.stdout, index=False)\"",
     ADVICE_OTHER_FORMAT},
    {"PK\x03\x04", 4, "a zip archive, as xlsx and ods are", WITH_PANDAS("read_excel"),
     ADVICE_ZIPPED_TEXT},
    {"\xd0\xcf\x11\xe0", 4, "an old Excel file", WITH_PANDAS("read_excel"), ADVICE_OTHER_FORMAT},
    {"SQLite format 3", 15, "an SQLite database", "sqlite3 -header -csv FILE 'select * from TABLE'",
     ADVICE_OTHER_FORMAT},
    {"ORC", 3, "ORC", WITH_PANDAS("read_orc"), ADVICE_OTHER_FORMAT},
    {"\x89HDF", 4, "HDF5", WITH_PANDAS("read_hdf"), ADVICE_OTHER_FORMAT},
};

static exit_code complain_other(advice_topic topic, const char *name, const char *what,
                                const char *command)
{
    const advice_words words = {.file = name, .command = command};
    advice given = {.shell = ""};
    advice_add(&given, topic, &words);
    const oif_cause cause = topic == ADVICE_JSON_LAYOUT    ? OIF_CAUSE_BAD_JSON
                            : topic == ADVICE_LONE_RETURNS ? OIF_CAUSE_NONE
                                                           : OIF_CAUSE_NOT_TEXT;
    return complain_because(advice_reason(&given, cause), EXIT_FAILED, "%s: this is %s", name,
                            what);
}

/* Whether there are bytes that no text has, so a header that begins like a magic number is none. */
static bool has_binary(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte < 0x20 && !strchr("\t\r\n", (int)byte))
            return true;
        if (byte == 0)
            return true;
    }
    return false;
}

/* ---- UTF-16 and UTF-32 ---- */

/* How such text begins: 0 is a byte 0, a is printable ASCII, others are themselves. */
static const struct wide_text {
    const char *pattern, *encoding, *command;
} wide_texts[] = {
    {"\xff\xfe\x30\x30", "UTF-32", WITH_ICONV("UTF-32")}, /* a hex escape would take a 0 */
    {"00\xfe\xff", "UTF-32", WITH_ICONV("UTF-32")},
    {"\xff\xfe", "UTF-16", WITH_ICONV("UTF-16")},
    {"\xfe\xff", "UTF-16", WITH_ICONV("UTF-16")},
    {"a000", "UTF-32LE", WITH_ICONV("UTF-32LE")},
    {"000a", "UTF-32BE", WITH_ICONV("UTF-32BE")},
    {"a0a0", "UTF-16LE", WITH_ICONV("UTF-16LE")},
    {"0a0a", "UTF-16BE", WITH_ICONV("UTF-16BE")},
};

static bool begins_as(const char *pattern, const char *bytes, size_t count)
{
    bool begins = strlen(pattern) <= count;
    for (; begins && *pattern != '\0'; pattern++, bytes++)
        begins = *pattern == '0'   ? *bytes == '\0'
                 : *pattern == 'a' ? *bytes >= ' ' && *bytes <= '~'
                                   : *bytes == *pattern;
    return begins;
}

/* ---- Any format ---- */

/* Whether lines end with CR alone, as old Macs and some devices write them. */
static bool has_lone_returns(const char *bytes, size_t count)
{
    size_t returns = 0;
    if (memchr(bytes, '\n', count))
        return false;
    for (size_t i = 0; i + 1 < count; i++) /* what follows the last byte is not known */
        returns += bytes[i] == '\r' && bytes[i + 1] != '\r';
    return returns >= 2;
}

exit_code other_formats_check(const char *name, const char *bytes, size_t count)
{
    if (has_lone_returns(bytes, count))
        return complain_other(ADVICE_LONE_RETURNS, name, "text whose lines end with CR alone",
                              "tr '\\r' '\\n' < FILE");
    for (size_t i = 0; i < sizeof wide_texts / sizeof *wide_texts; i++)
        if (begins_as(wide_texts[i].pattern, bytes, count))
            return complain_other(ADVICE_OTHER_FORMAT, name, wide_texts[i].encoding,
                                  wide_texts[i].command);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (count >= formats[i].magic_bytes &&
            memcmp(bytes, formats[i].magic, formats[i].magic_bytes) == 0 &&
            has_binary(bytes, count))
            return complain_other(formats[i].topic, name, formats[i].what, formats[i].command);
    return EXIT_OK;
}

/* ---- JSON ---- */

static const char *past_blanks(const char *at, const char *end)
{
    while (at < end && *at != '\0' && strchr(" \t\r\n", *at))
        at++;
    return at;
}

/* Whether what follows a [ continues as an array: [{"a":1}, [1,2], [ 3 ], but not [15/Nov/2026, as
 * the times of logs begin. */
static bool is_array(const char *at, const char *end)
{
    double value;
    at = past_blanks(at, end);
    if (at == end || strchr("{[\"]", *at))
        return at < end && *at != '\0';
    const char *number_end = oif_number_parse(at, end, &value);
    if (!number_end)
        return false;
    number_end = past_blanks(number_end, end);
    return number_end < end && (*number_end == ',' || *number_end == ']');
}

/* The advice depends on what the array [at, end) holds: objects, rows, or numbers alone. */
static exit_code complain_array(const char *name, const char *at, const char *end)
{
    const char *first = past_blanks(at, end), *close = memchr(at, ']', (size_t)(end - at));
    const char *next = close ? past_blanks(close + 1, end) : end;
    if (first < end && *first == '[')
        return complain_other(ADVICE_JSON_LAYOUT, name,
                              "a JSON array of arrays, and oif reads one object or row of CSV per "
                              "line",
                              "jq -r '.[] | @csv' FILE");
    if (first < end && *first == '{')
        return complain_other(ADVICE_JSON_LAYOUT, name,
                              "a JSON array, and oif reads one object per line",
                              "jq -c '.[]' FILE");
    if (next < end && *next == '[')
        return complain_other(ADVICE_JSON_LAYOUT, name,
                              "JSON with an array per line, and a line must be an object, such as "
                              "{\"x\": 1, \"y\": 2}, or a row of CSV",
                              "jq -r @csv FILE");
    return complain_other(
        ADVICE_JSON_LAYOUT, name,
        "a JSON array of values, and a line must be an object, such as {\"x\": 1}",
        "jq -c '{x: .[]}' FILE");
}

/* Whether an object ends on a later line, and that line does not begin another one. */
static bool is_over_lines(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!newline)
        return false;
    const char *next = past_blanks(newline, end), *last = newline;
    while (last > at && strchr(" \t\r", last[-1]))
        last--;
    return last[-1] != '}' && next < end && *next != '{';
}

exit_code other_formats_check_json(const char *name, const char *bytes, size_t count)
{
    const char *end = bytes + count;
    if (count > 1 && *bytes == '[' && is_array(bytes + 1, end))
        return complain_array(name, bytes + 1, end);
    if (count > 1 && *bytes == '{' && is_over_lines(bytes, end))
        return complain_other(ADVICE_JSON_LAYOUT, name,
                              "JSON over several lines, and oif reads one object per line",
                              "jq -c . FILE");
    return EXIT_OK;
}
