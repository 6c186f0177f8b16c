/* A marked number is split into its parts, then the parts are judged:
 *
 *     - $ 1 , 234 . 50          sign, currency, runs of digits with marks between them
 *          3 . 4 [ ] GB         the same, then a unit
 *
 * The marks say which of them group digits and which is decimal. All is as strict as it can be,
 * since a date, an address or a version is not a number: groups have three digits, all group
 * marks are the same, and only known units are units. */
#include "rows/value_text.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "rows/csv_field.h"

#include <inttypes.h>

enum { NUMBER_BYTES = 64, MARKS_MAX = 8 };

/* ---- Units ---- */

typedef struct known_unit {
    const char *text; /* as written */
    const char *name; /* of the unit that it is converted to */
    double times, per;
} known_unit;

static const known_unit units[] = {
    {"%", "%", 1, 1},
    {"ns", "s", 1, 1e9},
    {"us", "s", 1, 1e6},
    {"\xc2\xb5s", "s", 1, 1e6},
    {"\xce\xbcs", "s", 1, 1e6},
    {"ms", "s", 1, 1e3},
    {"s", "s", 1, 1},
    {"sec", "s", 1, 1},
    {"min", "s", 60, 1},
    {"h", "s", 3600, 1},
    {"B", "B", 1, 1},
    {"kB", "B", 1e3, 1},
    {"KB", "B", 1e3, 1},
    {"MB", "B", 1e6, 1},
    {"GB", "B", 1e9, 1},
    {"TB", "B", 1e12, 1},
    {"PB", "B", 1e15, 1},
    {"KiB", "B", 0x1p10, 1},
    {"MiB", "B", 0x1p20, 1},
    {"GiB", "B", 0x1p30, 1},
    {"TiB", "B", 0x1p40, 1},
    {"PiB", "B", 0x1p50, 1},
    {"Ki", "B", 0x1p10, 1},
    {"Mi", "B", 0x1p20, 1},
    {"Gi", "B", 0x1p30, 1},
    {"Ti", "B", 0x1p40, 1},
    {"B/s", "B/s", 1, 1},
    {"kB/s", "B/s", 1e3, 1},
    {"KB/s", "B/s", 1e3, 1},
    {"MB/s", "B/s", 1e6, 1},
    {"GB/s", "B/s", 1e9, 1},
    {"KiB/s", "B/s", 0x1p10, 1},
    {"MiB/s", "B/s", 0x1p20, 1},
    {"GiB/s", "B/s", 0x1p30, 1},
    {"bps", "bit/s", 1, 1},
    {"kbps", "bit/s", 1e3, 1},
    {"Kbps", "bit/s", 1e3, 1},
    {"Mbps", "bit/s", 1e6, 1},
    {"Gbps", "bit/s", 1e9, 1},
    {"bit/s", "bit/s", 1, 1},
    {"kbit/s", "bit/s", 1e3, 1},
    {"Mbit/s", "bit/s", 1e6, 1},
    {"Gbit/s", "bit/s", 1e9, 1},
    {"Hz", "Hz", 1, 1},
    {"kHz", "Hz", 1e3, 1},
    {"MHz", "Hz", 1e6, 1},
    {"GHz", "Hz", 1e9, 1},
    {"W", "W", 1, 1},
    {"kW", "W", 1e3, 1},
    {"MW", "W", 1e6, 1},
    {"kWh", "kWh", 1, 1},
    {"mV", "V", 1, 1e3},
    {"V", "V", 1, 1},
    {"kV", "V", 1e3, 1},
    {"mA", "A", 1, 1e3},
    {"A", "A", 1, 1},
    {"\xc2\xb0"
     "C",
     "\xc2\xb0"
     "C",
     1, 1},
    {"\xc2\xb0"
     "F",
     "\xc2\xb0"
     "F",
     1, 1},
    {"rpm", "rpm", 1, 1},
};

/* Before or after the number. */
static const known_unit currencies[] = {
    {"$", "$", 1, 1},
    {"USD", "$", 1, 1},
    {"US$", "$", 1, 1},
    {"\xe2\x82\xac", "\xe2\x82\xac", 1, 1},
    {"EUR", "\xe2\x82\xac", 1, 1},
    {"\xc2\xa3", "\xc2\xa3", 1, 1},
    {"GBP", "\xc2\xa3", 1, 1},
    {"\xc2\xa5", "\xc2\xa5", 1, 1},
    {"JPY", "\xc2\xa5", 1, 1},
    {"CHF", "CHF", 1, 1},
};

static bool starts_with(oif_span text, const char *word)
{
    const size_t bytes = strlen(word);
    return (size_t)(text.end - text.start) >= bytes && memcmp(text.start, word, bytes) == 0;
}

static const known_unit *find_whole(oif_span text, const known_unit *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].text) == (size_t)(text.end - text.start) &&
            starts_with(text, list[i].text))
            return &list[i];
    return NULL;
}

static const known_unit *find_unit(oif_span text)
{
    const known_unit *found = find_whole(text, units, sizeof units / sizeof *units);
    return found ? found : find_whole(text, currencies, sizeof currencies / sizeof *currencies);
}

/* ---- Parts ---- */

/* The bytes of the first of some texts that is there; 0: none. */
static size_t bytes_of_any(oif_span text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (starts_with(text, words[i]))
            return strlen(words[i]);
    return 0;
}

/* A blank: also the no-break, narrow no-break and thin ones of UTF-8. */
static size_t blank_bytes(oif_span text)
{
    static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};
    return bytes_of_any(text, blanks, sizeof blanks / sizeof *blanks);
}

static void take_sign(oif_span *text, bool *is_negative)
{
    const bool is_long = starts_with(*text, "\xe2\x88\x92"); /* the minus of Unicode */
    *is_negative |= is_long || starts_with(*text, "-");
    text->start += is_long ? 3 : starts_with(*text, "-") || starts_with(*text, "+");
}

static const known_unit *take_currency(oif_span *text)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++) {
        if (starts_with(*text, currencies[i].text)) {
            text->start += strlen(currencies[i].text);
            text->start += blank_bytes(*text);
            return &currencies[i];
        }
    }
    return NULL;
}

static bool is_digit_at(oif_span text, size_t offset)
{
    return (size_t)(text.end - text.start) > offset && text.start[offset] >= '0' &&
           text.start[offset] <= '9';
}

/* Digits with marks between them. */
typedef struct digit_runs {
    char digits[NUMBER_BYTES]; /* of all runs */
    size_t digit_count;
    size_t first_run;       /* its digits */
    char marks[MARKS_MAX];  /* , . ' or a blank before each later run */
    size_t runs[MARKS_MAX]; /* their digits */
    size_t mark_count;
} digit_runs;

/* The mark at the start of a text, as one byte; '\0': there is none. */
static char mark_at(oif_span text, size_t *bytes)
{
    *bytes = blank_bytes(text);
    if (*bytes > 0)
        return ' ';
    const bool is_quote = starts_with(text, "\xe2\x80\x99");
    *bytes = is_quote ? 3 : 1;
    if (is_quote || starts_with(text, "'"))
        return '\'';
    return starts_with(text, ",") ? ',' : starts_with(text, ".") ? '.' : '\0';
}

static bool take_run(oif_span *text, digit_runs *found, size_t *run)
{
    *run = 0;
    for (; is_digit_at(*text, 0); text->start++, (*run)++) {
        if (found->digit_count == NUMBER_BYTES - 2)
            return false;
        found->digits[found->digit_count++] = *text->start;
    }
    return true;
}

static bool take_runs(oif_span *text, digit_runs *found)
{
    size_t bytes;
    if (!take_run(text, found, &found->first_run))
        return false;
    for (;;) {
        const char mark = mark_at(*text, &bytes);
        if (mark == '\0' || !is_digit_at(*text, bytes))
            return found->digit_count > 0;
        if (found->mark_count == MARKS_MAX)
            return false;
        text->start += bytes;
        found->marks[found->mark_count] = mark;
        if (!take_run(text, found, &found->runs[found->mark_count++]))
            return false;
    }
}

/* ---- Marks ---- */

/* Whether the first `count` marks are the same and each is before three digits. */
static bool are_groups(const digit_runs *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (found->marks[i] != found->marks[0] || found->runs[i] != 3)
            return false;
    return count == 0 || (found->first_run >= 1 && found->first_run <= 3);
}

/* A single comma. */
static oif_comma_use lone_comma(const digit_runs *found, oif_decimal decimal)
{
    if (decimal == OIF_DECIMAL_COMMA)
        return OIF_COMMA_DECIMAL;
    const bool may_group = are_groups(found, 1) && found->digits[0] != '0';
    if (decimal == OIF_DECIMAL_POINT)
        return may_group ? OIF_COMMA_GROUPS : OIF_COMMA_ABSENT;
    return may_group ? OIF_COMMA_EITHER : OIF_COMMA_DECIMAL;
}

/* Whether the last mark is decimal; all others group. *commas is what commas are. False: the marks
 * are not those of a number. */
static bool judge_marks(const digit_runs *found, oif_decimal decimal, bool *has_decimals,
                        oif_comma_use *commas)
{
    const size_t count = found->mark_count;
    const char last = count > 0 ? found->marks[count - 1] : '\0';
    const bool is_lone = count == 1, is_alike = count > 1 && are_groups(found, count);
    *commas = OIF_COMMA_ABSENT;
    *has_decimals = false;
    if (count == 0)
        return true;
    if (last == ',' && is_lone) {
        *commas = lone_comma(found, decimal);
        *has_decimals = *commas == OIF_COMMA_DECIMAL;
        return *commas != OIF_COMMA_ABSENT;
    }
    if (last == '.' && (is_lone || is_alike)) {
        *has_decimals = is_lone && decimal != OIF_DECIMAL_COMMA;
        return *has_decimals || (decimal == OIF_DECIMAL_COMMA && are_groups(found, count));
    }
    if (last != '.' && last != ',')
        return are_groups(found, count);
    if (is_alike) { /* 1,234,567 */
        *commas = OIF_COMMA_GROUPS;
        return decimal != OIF_DECIMAL_COMMA && found->digits[0] != '0';
    }
    *has_decimals = true;
    *commas = last == ','              ? OIF_COMMA_DECIMAL
              : found->marks[0] == ',' ? OIF_COMMA_GROUPS
                                       : OIF_COMMA_ABSENT;
    return are_groups(found, count - 1) && found->marks[0] != last &&
           decimal != (last == '.' ? OIF_DECIMAL_COMMA : OIF_DECIMAL_POINT);
}

static double number_of(const digit_runs *found, bool has_decimals)
{
    char text[NUMBER_BYTES];
    const size_t last = found->mark_count > 0 ? found->runs[found->mark_count - 1] : 0;
    const size_t whole = found->digit_count - (has_decimals ? last : 0);
    double value = NAN;
    memcpy(text, found->digits, whole);
    text[whole] = '.';
    memcpy(text + whole + 1, found->digits + whole, found->digit_count - whole);
    oif_number_parse(text, text + found->digit_count + 1, &value);
    return value;
}

bool oif_marked_number_read(oif_span text, oif_decimal decimal, oif_marked_number *number)
{
    digit_runs found = {.digit_count = 0};
    bool is_negative = false, has_decimals;
    take_sign(&text, &is_negative);
    const known_unit *currency = take_currency(&text), *suffix = NULL;
    if (currency && !is_negative)
        take_sign(&text, &is_negative);
    if (!take_runs(&text, &found) || !judge_marks(&found, decimal, &has_decimals, &number->commas))
        return false;
    if (text.start < text.end) {
        text.start += blank_bytes(text);
        suffix = currency ? NULL : find_unit(text);
        if (!suffix)
            return false;
    }
    const known_unit *in = currency ? currency : suffix;
    const double value = number_of(&found, has_decimals);
    number->value = (is_negative ? -value : value) * (in ? in->times : 1) / (in ? in->per : 1);
    number->unit = in ? in->name : "";
    return true;
}

/* ---- Texts of any kind ---- */

static bool is_truth(oif_span text, double *value)
{
    const bool is_true = oif_csv_is_word(text, "true");
    if (!is_true && !oif_csv_is_word(text, "false"))
        return false;
    *value = is_true;
    return true;
}

oif_value_kind oif_value_parse_plain(oif_span text, oif_decimal decimal, double *value)
{
    double number;
    *value = NAN;
    const bool is_number = decimal == OIF_DECIMAL_COMMA
                               ? oif_csv_parse_comma_number(text, true, &number)
                               : oif_number_parse(text.start, text.end, &number) == text.end;
    if (is_number) {
        *value = number;
        return isnan(number)   ? OIF_VALUE_MISSING
               : isinf(number) ? OIF_VALUE_INFINITE
                               : OIF_VALUE_NUMBER;
    }
    if (is_truth(text, value))
        return OIF_VALUE_NUMBER;
    return oif_csv_is_missing(text) ? OIF_VALUE_MISSING : OIF_VALUE_TEXT;
}

oif_value_kind oif_value_parse(const char *text, size_t bytes, oif_decimal decimal, double *value,
                               const char **unit)
{
    const oif_span span = oif_csv_without_blanks((oif_span){text, text + bytes}, '\0');
    oif_marked_number number = {.unit = ""};
    oif_value_kind kind = oif_value_parse_plain(span, decimal, value);
    if (kind == OIF_VALUE_TEXT && oif_marked_number_read(span, decimal, &number)) {
        *value = number.value;
        kind = isinf(number.value) ? OIF_VALUE_INFINITE : OIF_VALUE_NUMBER;
    }
    if (unit)
        *unit = kind == OIF_VALUE_NUMBER ? number.unit : "";
    return kind;
}

/* ---- Columns of a reader ---- */

/* Whether what the commas of a number show agrees with the file so far. */
static bool agree_commas(oif_reader *reader, oif_span text, oif_marked_number *number)
{
    switch (number->commas) {
    case OIF_COMMA_ABSENT: return true;
    case OIF_COMMA_DECIMAL:
        if (reader->grouped_line == 0 && reader->comma_line == 0)
            reader->comma_line = reader->line;
        return reader->grouped_line == 0;
    case OIF_COMMA_EITHER:
        if (reader->comma_line > 0)
            return oif_marked_number_read(text, OIF_DECIMAL_COMMA, number);
        break;
    case OIF_COMMA_GROUPS: break;
    }
    if (reader->grouped_line == 0 && reader->comma_line == 0)
        reader->grouped_line = reader->line;
    return reader->comma_line == 0;
}

oif_value_kind oif_reader_read_value(oif_reader *reader, oif_reader_column *column, oif_span text,
                                     oif_decimal decimal, double *value)
{
    oif_marked_number number;
    *value = NAN;
    if (oif_reader_is_missing_word(reader, column, text))
        return OIF_VALUE_MISSING;
    if (!oif_marked_number_read(text, decimal, &number))
        return OIF_VALUE_TEXT;
    if (*number.unit && column->unit && strcmp(column->unit, number.unit) != 0)
        return OIF_VALUE_TEXT;
    if (decimal == OIF_DECIMAL_AUTO && !agree_commas(reader, text, &number))
        return OIF_VALUE_TEXT;
    if (*number.unit)
        column->unit = number.unit;
    *value = number.value;
    return isinf(number.value) ? OIF_VALUE_INFINITE : OIF_VALUE_NUMBER;
}

bool oif_reader_contradicts(const oif_reader *reader, size_t column, oif_span text, uint64_t line,
                            uint64_t byte, oif_error *error)
{
    const char *name = reader->columns[column].name, *unit = reader->columns[column].unit;
    const oif_excerpt field = oif_excerpt_of(text.start, text.end),
                      shown = oif_excerpt_of(name, name + strlen(name));
    oif_marked_number number;
    if (!oif_marked_number_read(text, OIF_DECIMAL_AUTO, &number))
        return false;
    if (unit && *number.unit && strcmp(unit, number.unit) != 0)
        oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_NOT_A_NUMBER, line, byte,
                            "'%s' is in another unit than column \"%s\", which is in %s; leave the "
                            "column out or convert it",
                            field.text, shown.text, unit);
    else if (number.commas == OIF_COMMA_DECIMAL && reader->grouped_line > 0)
        oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_DECIMAL_COMMA, line, byte,
                            "'%s' in column \"%s\" has a decimal comma, but commas have grouped "
                            "digits since line %" PRIu64 "; choose the decimal comma",
                            field.text, shown.text, reader->grouped_line);
    else if (number.commas == OIF_COMMA_GROUPS && reader->comma_line > 0)
        oif_fail_because_at(
            error, OIF_EINPUT, OIF_CAUSE_DECIMAL_POINT, line, byte,
            "'%s' in column \"%s\" has groups of digits, but the comma has been the "
            "decimal sign since line %" PRIu64,
            field.text, shown.text, reader->comma_line);
    else
        return false;
    return true;
}
