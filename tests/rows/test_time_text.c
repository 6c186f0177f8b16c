/* Times from text against a calendar that counts day by day. */
#include "../detect/driver.h"

#include "oif_rows.h"

#include <inttypes.h>
#include <regex.h>

/* ---- The twin ---- */

static int twin_days_of_month(int year, int month)
{
    bool is_leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    if (month == 2)
        return is_leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Days from January 1 of year 1 to a valid date. */
static int64_t twin_days(int year, int month, int day)
{
    static int64_t before_year[10001]; /* days before each year, counted once */
    for (int y = 2; y <= 10000 && before_year[10000] == 0; y++)
        before_year[y] = before_year[y - 1] + 337 + twin_days_of_month(y - 1, 2);
    int64_t days = before_year[year] + day - 1;
    for (int m = 1; m < month; m++)
        days += twin_days_of_month(year, m);
    return days;
}

static double twin_seconds(int year, int month, int day, int hour, int minute, int second)
{
    int64_t days = twin_days(year, month, day) - twin_days(1970, 1, 1);
    return (double)(days * 86400 + hour * 3600 + minute * 60 + second);
}

/* ---- Expectations ---- */

static oif_status parse(oif_time_format *format, const char *text, double *seconds)
{
    oif_error error = {.message = ""};
    return oif_time_parse(format, text, strlen(text), seconds, &error);
}

/* Read as the first time of a stream. */
static void check_time(const char *text, double expected)
{
    oif_time_format format = {0};
    oif_error error = {.message = ""};
    double seconds = -1;
    oif_status status = oif_time_parse(&format, text, strlen(text), &seconds, &error);
    if (status != OIF_OK || seconds != expected)
        fail_msg("'%s' is %.17g and not %.17g (%s)", text, seconds, expected, error.message);
}

static void check_refused(const char *text, const char *reason)
{
    oif_time_format format = {0}, before = format;
    oif_error error = {.message = ""};
    double seconds = -1;
    oif_status status = oif_time_parse(&format, text, strlen(text), &seconds, &error);
    if (status != OIF_EVALUE || !strstr(error.message, reason))
        fail_msg("'%s' gives status %d, %.17g, and '%s' instead of '%s'", text, (int)status,
                 seconds, error.message, reason);
    assert_true(seconds == -1);
    assert_memory_equal(&format, &before, sizeof format);
}

static void check_described(const oif_time_format *format, const char *expected)
{
    char text[OIF_TIME_TEXT_BYTES];
    oif_time_describe(format, text);
    assert_string_equal(text, expected);
}

/* ---- ISO 8601 ---- */

static void every_day_of_ten_thousand_years_is_where_the_twin_counts_it(void **state)
{
    (void)state;
    oif_time_format format = {0};
    double expected = twin_seconds(1, 1, 1, 0, 0, 0);
    for (int year = 1; year <= 9999; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 1; day <= 31; day++) {
                char text[64];
                double seconds = -1;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                bool exists = day <= twin_days_of_month(year, month);
                oif_status status = parse(&format, text, &seconds);
                if (status != (exists ? OIF_OK : OIF_EVALUE) || (exists && seconds != expected))
                    fail_msg("%s is %.17g and not %.17g", text, seconds, expected);
                expected += exists ? 86400 : 0;
            }
        }
    }
}

static void every_second_of_a_day_and_every_zone_is_counted(void **state)
{
    (void)state;
    oif_time_format format = {0};
    char text[40];
    double seconds = -1;
    for (int i = 0; i < 86400; i++) {
        snprintf(text, sizeof text, "2026-11-15 %02d:%02d:%02d", i / 3600, i / 60 % 60, i % 60);
        assert_int_equal(parse(&format, text, &seconds), OIF_OK);
        if (seconds != 1794700800.0 + i)
            fail_msg("%s is %.17g", text, seconds);
    }
    static const char *const layouts[] = {"%c%02d:%02d", "%c%02d%02d"};
    for (int minutes = -1439; minutes < 1440; minutes++) {
        for (int i = 0; i < 2; i++) {
            int away = abs(minutes), length = snprintf(text, sizeof text, "2026-11-15T00:00:00");
            snprintf(text + length, sizeof text - (size_t)length, layouts[i],
                     minutes < 0 ? '-' : '+', away / 60, away % 60);
            assert_int_equal(parse(&format, text, &seconds), OIF_OK);
            if (seconds != 1794700800.0 - minutes * 60)
                fail_msg("%s is %.17g", text, seconds);
        }
    }
}

static void iso_8601_is_read_as_people_write_it(void **state)
{
    (void)state;
    const double noon = 1794744000; /* 2026-11-15 12:00 UTC */
    check_time("2026-11-15", noon - 43200);
    check_time("2026-11-15T12:00", noon);
    check_time("2026-11-15 12:00:00", noon);
    check_time("2026-11-15t12:00:00z", noon);
    check_time("2026/11/15 12:00:00", noon);
    check_time("  2026-11-15T12:00:00Z\t", noon);
    check_time("20261115T120000Z", noon);
    check_time("20261115T1200", noon);
    check_time("2026-11-15T12:00:00.25Z", noon + 0.25);
    check_time("2026-11-15T12:00:00,25", noon + 0.25);
    check_time("2026-11-15T12:00:00.000001", noon + 1e-6);
    check_time("2026-11-15T12:00:00.50000000000000000000000001", noon + 0.5);
    check_time("2026-11-15T13:00:00+01", noon);
    check_time("2026-11-15T17:30:00+05:30", noon);
    check_time("2026-11-15 08:30:00 -0330", noon);
    check_time("2026-11-15 12:00:00 UTC", noon);
    check_time("1969-12-31T23:59:59.5Z", -0.5);
    check_time("2026-11-14T24:00:00", noon - 43200);
    check_time("2016-12-31T23:59:60Z", 1483228800);
    check_time("2017-01-01T05:29:60+05:30", 1483228800);
    check_time("2024-02-29", 1709164800);
    check_time("9999-12-31T23:59:59", 253402300799);
    check_time("0001-01-01", -62135596800);
}

static void what_does_not_exist_is_refused_with_the_reason(void **state)
{
    (void)state;
    check_refused("0000-01-01", "the year must be 1 to 9999");
    check_refused("0001-01-01T00:00:00+01:00", "the year must be 1 to 9999");
    check_refused("9999-12-31T24:00:00", "the year must be 1 to 9999");
    check_refused("2026-13-01", "the month must be 1 to 12");
    check_refused("2026-00-01", "the month must be 1 to 12");
    check_refused("2026-02-29", "the month has no such day");
    check_refused("1900-02-29", "the month has no such day");
    check_refused("2026-04-31", "the month has no such day");
    check_refused("2026-04-00", "the month has no such day");
    check_refused("2026-04-01T24:00:01", "the hour must be 0 to 23");
    check_refused("2026-04-01T25:00", "the hour must be 0 to 23");
    check_refused("2026-04-01T12:60", "the minute must be 0 to 59");
    check_refused("2026-04-01T12:00:61", "the second must be 0 to 59");
    check_refused("2026-04-01T12:01:60", "there is no leap second at that time");
    check_refused("99999999999999999999", "no unit of time");
    check_refused("31/Feb/2026:00:00:00", "the month has no such day");
    check_refused("Apr 31 00:00:00", "the month has no such day");
}

static void a_month_begins_on_its_first_day_and_dotted_dates_begin_with_the_day(void **state)
{
    (void)state;
    check_time("2026-11", twin_seconds(2026, 11, 1, 0, 0, 0));
    check_time("16.11.2026", twin_seconds(2026, 11, 16, 0, 0, 0));
    check_time("05.11.2026 14:05", twin_seconds(2026, 11, 5, 14, 5, 0));
    check_time("16.11.2026 14:05:07.5+01:00", twin_seconds(2026, 11, 16, 13, 5, 7) + 0.5);
    check_refused("2026-13", "the month must be 1 to 12");
    check_refused("11.16.2026 14:05", "the month must be 1 to 12");
    check_refused("31.11.2026", "the month has no such day");
}

/* ---- Dates of people ---- */

static void dates_with_slashes_are_read(void **state)
{
    (void)state;
    const double day = twin_seconds(2026, 1, 31, 0, 0, 0),
                 time = twin_seconds(2026, 1, 31, 13, 5, 0);
    check_time("1/31/2026", day);
    check_time("01/31/2026 1:05 PM", time);
    check_time("1/31/2026, 1:05:00 p.m.", time);
    check_time("1/31/26 1:05PM", time);
    check_time("31/01/2026", day);
    check_time("31/01/2026 13:05:00", time);
    check_time("31-01-2026 13:05", time);
    check_time("31.1.2026 13:05", time);
    check_time("31.01.26", day);
    check_time("2026/1/31 13:05", time);
    check_time("31/01/2026 13:05 +0100", time - 3600);
    check_time("1/31/2026 12:05 AM", time - 13 * 3600);
    check_time("1/31/2026 12:05 PM", time - 3600);
    check_time("1/2/2026", twin_seconds(2026, 1, 2, 0, 0, 0)); /* a guess */
    check_refused("31/31/2026", "the month must be 1 to 12");
    check_refused("2/30/2026", "the month has no such day");
    check_refused("1/31/2026 13:05 PM", "write it as");
    check_refused("1/31-2026", "write it as");
    check_refused("1/31", "write it as");
}

static void dates_with_names_are_read(void **state)
{
    (void)state;
    const double day = twin_seconds(2026, 1, 31, 0, 0, 0),
                 time = twin_seconds(2026, 1, 31, 13, 5, 6);
    static const char *const days[] = {"31-Jan-2026",
                                       "31-JAN-26",
                                       "31 Jan 2026",
                                       "Jan 31 2026",
                                       "Jan 31, 2026",
                                       "January 31, 2026",
                                       "31. January 2026",
                                       "2026-Jan-31",
                                       "31/Jan/2026",
                                       "Sat 31 Jan 2026",
                                       "Saturday, 31 January 2026"};
    static const char *const times[] = {"31 Jan 2026 13:05:06",
                                        "31-Jan-2026 1:05:06 PM",
                                        "Sat, 31 Jan 2026 14:05:06 +0100",
                                        "Sat, 31 Jan 2026 14:05:06 +0100 (CET)",
                                        "31 Jan 2026 08:05:06 EST",
                                        "Sat, 31 Jan 2026 13:05:06 GMT",
                                        "Sat Jan 31 13:05:06 2026",
                                        "Sat Jan 31 13:05:06 UTC 2026",
                                        "January 31, 2026 at 13:05:06",
                                        "31/Jan/2026:14:05:06 +0100"};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        check_time(days[i], day);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        check_time(times[i], time);
    check_time("1 Sept 2026", twin_seconds(2026, 9, 1, 0, 0, 0));
    check_refused("31 Janx 2026", "write it as");
    check_refused("31 Jan", "write it as");
    check_refused("may 2026", "write it as");
    check_refused("30 Feb 2026", "the month has no such day");
}

static void dates_without_separators_are_read(void **state)
{
    (void)state;
    const double day = twin_seconds(2026, 1, 31, 0, 0, 0),
                 time = twin_seconds(2026, 1, 31, 13, 5, 0);
    check_time("20260131", day);
    check_time("202601311305", time);
    check_time("20260131130506", time + 6);
    check_time("20260131130506.25", time + 6.25);
    check_time("20260131130506250", time + 6.25);
    check_time("20260131 130506", time + 6);
    check_time("20260131 13:05:06", time + 6);
    oif_time_format format = {0};
    double seconds = -1;
    assert_int_equal(parse(&format, "5", &seconds), OIF_OK); /* numbers remain numbers */
    assert_int_equal(parse(&format, "20260131", &seconds), OIF_OK);
    assert_true(seconds == 20260131);
}

static void the_first_date_decides_about_day_and_month(void **state)
{
    (void)state;
    oif_time_format format = {0};
    oif_error error = {.message = ""};
    double seconds = -1;
    assert_int_equal(parse(&format, "31/01/2026", &seconds), OIF_OK);
    assert_false(format.is_uncertain);
    assert_int_equal(parse(&format, "01/02/2026", &seconds), OIF_OK);
    assert_true(seconds == twin_seconds(2026, 2, 1, 0, 0, 0));
    check_described(&format, "dates with the day first without a zone, taken as UTC");
    const oif_time_format before = format;
    assert_int_equal(oif_time_parse(&format, "02/13/2026", 10, &seconds, &error), OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_DAY_ORDER);
    assert_string_equal(
        error.message,
        "'02/13/2026': its month comes first, and earlier times were read with the day first");
    assert_memory_equal(&format, &before, sizeof format);

    oif_time_format guessed = {0};
    assert_int_equal(parse(&guessed, "01/02/2026", &seconds), OIF_OK);
    assert_true(guessed.is_uncertain);
    assert_int_equal(parse(&guessed, "01/31/2026", &seconds), OIF_OK);
    assert_false(guessed.is_uncertain);
    check_described(&guessed, "dates with the month first without a zone, taken as UTC");

    oif_time_format given = {.day_order = OIF_DAY_FIRST};
    assert_int_equal(parse(&given, "01/02/2026", &seconds), OIF_OK);
    assert_true(seconds == twin_seconds(2026, 2, 1, 0, 0, 0));
}

static void check_pattern(const char *pattern, const char *text, double expected)
{
    oif_time_format format = {.pattern = pattern};
    double seconds = -1;
    assert_int_equal(oif_time_check_pattern(pattern, NULL), OIF_OK);
    if (parse(&format, text, &seconds) != OIF_OK || seconds != expected)
        fail_msg("'%s' by '%s' is %.17g and not %.17g", text, pattern, seconds, expected);
}

static void a_pattern_reads_what_it_says(void **state)
{
    (void)state;
    const double time = twin_seconds(2026, 1, 31, 13, 5, 0);
    oif_error error;
    check_pattern("%d.%m.%Y %H:%M", "31.01.2026 13:05", time);
    check_pattern("%d.%m.%Y %H:%M", "31.1.2026  13:05", time);
    check_pattern("%Y%m%d%H%M%S", "20260131130506", time + 6);
    check_pattern("%H.%M Uhr, %d.%m.%y", "13.05 Uhr, 31.01.26", time);
    check_pattern("%a %d %b %Y %I:%M:%S.%f %p", "Sat 31 Jan 2026 01:05:06.25 PM", time + 6.25);
    check_pattern("%FT%T%z", "2026-01-31T13:05:06+01:00", time + 6 - 3600);
    check_pattern("%s", "1794769501", 1794769501);
    check_pattern("%D %R 100%%", "01/31/26 13:05 100%", time);
    static const char *const bad[] = {"", "%H:%M", "%Y-%m", "%Y-%m-%d %Q", "%Y-%m-%d %"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(oif_time_check_pattern(bad[i], &error), OIF_EPARAM);
    oif_time_format format = {.pattern = "%d/%m/%Y"};
    double seconds = -1;
    assert_int_equal(parse(&format, "2026-01-31", &seconds), OIF_EVALUE);
    assert_int_equal(parse(&format, "31/02/2026", &seconds), OIF_EVALUE);
    assert_int_equal(parse(&format, "31/01/2026 x", &seconds), OIF_EVALUE);
    assert_true(seconds == -1);
    assert_int_equal(parse(&format, "NA", &seconds), OIF_OK);
    assert_true(isnan(seconds));
    assert_int_equal(parse(&format, "31/01/2026", &seconds), OIF_OK);
    check_described(&format, "the given format without a zone, taken as UTC");
}

static void other_text_is_no_time(void **state)
{
    (void)state;
    static const char *const texts[] = {"day 3",
                                        "09:00",
                                        "2026/11",
                                        "2026-11-16 14:05 CEST",
                                        "2026-W47-1",
                                        "2026-11-15T",
                                        "2026-11-15T1",
                                        "2026-11-15T12",
                                        "2026-11-15x",
                                        "2026-11/15",
                                        "2026-11-15T12:00:00.",
                                        "2026-11-15T12:00:00+",
                                        "2026-11-15T12:00:00+1",
                                        "2026-11-15T12:00:00+24:00",
                                        "2026-11-15T12:00:00+01:60",
                                        "2026-11-15T12:00:00+01:0",
                                        "2026-11-15T12:00:00Zx",
                                        "inf",
                                        "-inf",
                                        "1e400",
                                        "12 s",
                                        "Nov",
                                        "Nov ",
                                        "Nov 15",
                                        "Nov x 10:00:00",
                                        "Xov 15 10:00:00",
                                        "15/Nov/2026:10",
                                        "[",
                                        "[]",
                                        "\xff\xfe",
                                        "0x10",
                                        ("2026-11-15T12:00:00\xe2\x88\x92"
                                         "01:00")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused(texts[i], "write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501,");
}

static void a_missing_time_is_known_to_be_missing(void **state)
{
    (void)state;
    static const char *const texts[] = {"",     "  ",   "NA", "n/a", "NaN",
                                        "null", "None", "-",  "?",   "\\N"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        oif_time_format format = {0};
        double seconds = -1;
        assert_int_equal(parse(&format, texts[i], &seconds), OIF_OK);
        assert_true(isnan(seconds));
        assert_int_equal(format.form, OIF_TIME_FORM_NONE);
    }
}

/* Random dates, half of them invalid, in all forms. */
static void random_times_are_those_of_the_twin(void **state)
{
    (void)state;
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    dice from = {.state = 5};
    for (int i = 0; i < 300000; i++) {
        int year = 1 + (int)(dice_unit(&from) * 9999), month = (int)(dice_unit(&from) * 14);
        int day = (int)(dice_unit(&from) * 33), hour = (int)(dice_unit(&from) * 25);
        int minute = (int)(dice_unit(&from) * 61), second = (int)(dice_unit(&from) * 60);
        bool exists = month >= 1 && month <= 12 && day >= 1 &&
                      day <= twin_days_of_month(year, month) && minute <= 59 &&
                      (hour <= 23 || (minute == 0 && second == 0)) &&
                      (year < 9999 || month < 12 || hour < 24);
        bool is_named = i % 2 && month >= 1 && month <= 12;
        char text[64];
        if (is_named)
            snprintf(text, sizeof text, "[%02d/%s/%04d:%02d:%02d:%02d]", day, months[month - 1],
                     year, hour, minute, second);
        else
            snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, hour,
                     minute, second);
        oif_time_format format = {0};
        double seconds = -1;
        oif_status status = parse(&format, text, &seconds);
        double expected = exists ? twin_seconds(year, month, day, hour, minute, second) : -1;
        if (status != (exists ? OIF_OK : OIF_EVALUE) || seconds != expected)
            fail_msg("%s: status %d, %.17g instead of %.17g", text, (int)status, seconds, expected);
    }
}

/* ---- What is a time at all ---- */

#define START "^[ \t]*"
#define END "[ \t]*$"
#define CLOCK "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
#define DIGITS_CLOCK "[0-9]{4}([0-9]{2}([.,][0-9]+)?)?"
#define ZONE "( ?([Zz]|UTC|GMT|[-+]([01][0-9]|2[0-3])(:?[0-5][0-9])?))?"
#define GAP "[-/., ][-/., ]?"
#define PEOPLES_CLOCK "[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
#define REST                                                                                       \
    "(([Tt]|:| at |,? +)" PEOPLES_CLOCK                                                            \
    "( *([Zz]|UTC|UT|GMT|[-+]([01][0-9]|2[0-3])(:?[0-5][0-9])?))?)?"
#define MONTH "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"

/* The twin: the forms as regular expressions. Only months may have any case. */
static const struct {
    const char *pattern;
    int flags;
} forms[] = {
    {START "[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ]" CLOCK ZONE ")?" END, 0},
    {START "[0-9]{4}/[0-9]{2}/[0-9]{2}([Tt ]" CLOCK ZONE ")?" END, 0},
    {START "[0-9]{4}-[0-9]{2}" END, 0},
    {START "[0-9]{2}\\.[0-9]{2}\\.[0-9]{4}([Tt ]" CLOCK ZONE ")?" END, 0},
    {START "[0-9]{8}[Tt]" DIGITS_CLOCK ZONE END, 0},
    {START "\\[?[0-9]{2}/" MONTH "/[0-9]{4}:" CLOCK
           "( ?([Zz]|[-+]([01][0-9]|2[0-3])(:?[0-5][0-9])?))?\\]?" END,
     REG_ICASE},
    {START MONTH "  ?([0-9]|[0-9]{2}) " CLOCK END, REG_ICASE},
    {START "[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}" REST END, 0},
    {START "[0-9]{1,2}/[0-9]{1,2}/([0-9]{2}|[0-9]{4})" REST END, 0},
    {START "[0-9]{1,2}\\.[0-9]{1,2}\\.([0-9]{2}|[0-9]{4})" REST END, 0},
    {START "[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}" REST END, 0},
    {START "[0-9]{1,2}" GAP MONTH GAP "[0-9]{4}" REST END, REG_ICASE},
    {START "[0-9]{1,2}" GAP MONTH "[-/.,]([-/.,])?[0-9]{2}" REST END, REG_ICASE},
    {START MONTH GAP "[0-9]{1,2}" GAP "[0-9]{4}" REST END, REG_ICASE},
    {START "[0-9]{4}" GAP MONTH GAP "[0-9]{1,2}" REST END, REG_ICASE},
    {START MONTH " +[0-9]{1,2} +" PEOPLES_CLOCK " +(UTC +|GMT +)?[0-9]{4}" END, REG_ICASE},
    {START "(19|20|21)[0-9]{6} " CLOCK ZONE END, 0},
    {START "(19|20|21)[0-9]{6} " DIGITS_CLOCK ZONE END, 0},
};

enum { FORMS = sizeof forms / sizeof *forms };

static bool has_a_form(const regex_t compiled[FORMS], const char *text)
{
    for (int i = 0; i < FORMS; i++)
        if (regexec(&compiled[i], text, 0, NULL, 0) == 0)
            return true;
    return false;
}

/* Numbers and missing values have tests of their own. */
static bool may_be_a_number(const char *text)
{
    return strspn(text, "+-0123456789.eE \t") == strlen(text);
}

static void compare_with_forms(const regex_t compiled[FORMS], const char *text)
{
    oif_time_format format = {0};
    oif_error error = {.message = ""};
    double seconds;
    if (may_be_a_number(text))
        return;
    oif_status status = oif_time_parse(&format, text, strlen(text), &seconds, &error);
    bool is_time =
        status == OIF_OK ||
        !strstr(error.message, "write it as 2026-11-15T19:05:01Z, 15.11.2026 19:05, 1794769501,");
    if (is_time != has_a_form(compiled, text))
        fail_msg("'%s' is %s (%s)", text, is_time ? "a time" : "no time", error.message);
}

/* Every text that differs from a time in one byte, has one byte less, or ends early. */
static void a_text_is_a_time_if_it_has_one_of_the_forms(void **state)
{
    (void)state;
    static const char *const times[] = {
        "2026-11-15T19:05:01", "2026-11-15 19:05",        "2026-11-15T19:05:01.25+01:00",
        "2026/11/15 19:05:01", "2026-11-15t19:05:01 UTC", "2026-11-15T19:05:01,5-0130",
        "20261115T190501",     "20261115T1905Z",          "20261115t190501.5 +01",
        "2026-11-15",          "Nov 15 19:05:01",         "Nov  5 19:05:01.25",
        "Feb 5 19:05",         "[15/Nov/2026:19:05:01]",  "15/nov/2026:19:05:01.5 +0100",
        "2026-11-15 24:00:00", "2026-11-15T19:05:01 z",   "15/Nov/2026:19:05:01Z",
        "15.11.2026 19:05",    "15.11.2026T19:05:01.5Z",  "2026-11"};
    static const char bytes[] = "0159:-/.,+ TtZzUN[]bx\x80\xb0\xff";
    regex_t compiled[FORMS];
    for (int i = 0; i < FORMS; i++)
        assert_int_equal(regcomp(&compiled[i], forms[i].pattern, REG_EXTENDED | forms[i].flags), 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const size_t length = strlen(times[i]);
        for (size_t at = 0; at < length; at++) {
            char text[64];
            for (size_t b = 0; b < sizeof bytes - 1; b++) {
                strcpy(text, times[i]);
                text[at] = bytes[b];
                compare_with_forms(compiled, text);
            }
            snprintf(text, sizeof text, "%.*s%s", (int)at, times[i], times[i] + at + 1);
            compare_with_forms(compiled, text);
            snprintf(text, sizeof text, "%.*s", (int)at, times[i]);
            compare_with_forms(compiled, text);
        }
        compare_with_forms(compiled, times[i]);
    }
    for (int i = 0; i < FORMS; i++)
        regfree(&compiled[i]);
}

/* ---- Numbers ---- */

static void the_unit_of_numbers_is_that_of_their_size(void **state)
{
    (void)state;
    check_time("1794769501", 1794769501);
    check_time("1794769501.25", 1794769501.25);
    check_time("1.794769501e9", 1794769501);
    check_time("1794769501250", 1794769501.25);
    check_time("1794769501250000", 1794769501.25);
    check_time("1794769501250000000", 1794769501.25);
    check_time("-1794769501250000000", -1794769501.25);
    check_time("1794769501250000001", 1794769501.25);
    check_time("1794769501250000000.0", 1794769501250000000.0 / 1e9);
    check_time("-86400", -86400);
    check_time("18001115", 18001115);
    check_time("20261315", 20261315);
    check_time("0", 0);
    check_time("5e-324", 5e-324);
    check_refused("1e300", "no unit of time");
    check_refused("-1e21", "no unit of time");
}

static void the_first_number_decides_for_the_stream(void **state)
{
    (void)state;
    oif_time_format format = {0};
    double seconds = -1;
    assert_int_equal(parse(&format, "0", &seconds), OIF_OK);
    assert_int_equal(parse(&format, "1794769501250", &seconds), OIF_OK);
    check_described(&format, "milliseconds since 1970");
    assert_false(format.is_uncertain);
    assert_int_equal(parse(&format, "1000", &seconds), OIF_OK);
    assert_true(seconds == 1);
    oif_time_format small = {0};
    assert_int_equal(parse(&small, "17", &seconds), OIF_OK);
    check_described(&small, "seconds since 1970");
    assert_true(small.is_uncertain);
    assert_int_equal(parse(&small, "1794769501250", &seconds), OIF_EVALUE);
}

/* ---- Syslog, common log ---- */

static void common_log_may_have_brackets(void **state)
{
    (void)state;
    check_time("15/Nov/2026:19:05:01 +0000", 1794769501);
    check_time("[15/Nov/2026:19:05:01 +0000]", 1794769501);
    check_time("[15/Nov/2026:19:05:01", 1794769501);
    check_time("15/nov/2026:20:05:01.5 +0100]", 1794769501.5);
}

static void syslog_starts_in_the_given_year_or_in_1972(void **state)
{
    (void)state;
    oif_time_format format = {.year = 2026};
    double seconds = -1;
    check_time("Nov 15 19:05:01", twin_seconds(1972, 11, 15, 19, 5, 1));
    check_time("Nov  5 19:05:01.5", twin_seconds(1972, 11, 5, 19, 5, 1) + 0.5);
    check_time("Nov 05 19:05:01", twin_seconds(1972, 11, 5, 19, 5, 1));
    check_time("Nov 5 19:05:01", twin_seconds(1972, 11, 5, 19, 5, 1));
    check_time("Feb 29 00:00:00", twin_seconds(1972, 2, 29, 0, 0, 0));
    assert_int_equal(parse(&format, "Nov 15 19:05:01", &seconds), OIF_OK);
    assert_true(seconds == 1794769501);
    assert_false(format.is_uncertain);
    check_described(&format, "syslog without a year, here 2026");
    format = (oif_time_format){0};
    assert_int_equal(parse(&format, "Nov 15 19:05:01", &seconds), OIF_OK);
    assert_int_equal(parse(&format, "Nov 15 19:05:02", &seconds), OIF_OK);
    assert_true(format.is_uncertain);
    check_described(&format, "syslog without a year, here 1972");
}

static void the_year_of_syslog_goes_on_with_the_months(void **state)
{
    (void)state;
    oif_time_format format = {.year = 2026};
    static const struct {
        const char *text;
        int year;
    } times[] = {{"Dec 31 23:59:59", 2026}, {"Jan  1 00:00:00", 2027}, {"Dec 31 23:59:58", 2026},
                 {"Jan  1 00:00:01", 2027}, {"Mar  1 00:00:00", 2027}, {"Feb 28 00:00:00", 2027},
                 {"Oct  1 00:00:00", 2027}, {"Jan  2 00:00:00", 2028}, {"Feb 29 00:00:00", 2028}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double seconds = -1;
        assert_int_equal(parse(&format, times[i].text, &seconds), OIF_OK);
        if (format.year != times[i].year)
            fail_msg("%s is in %d and not in %d", times[i].text, (int)format.year, times[i].year);
    }
}

static void a_year_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const int years[] = {-1, INT32_MIN, INT32_MAX, 10000};
    for (size_t i = 0; i < sizeof years / sizeof *years; i++) {
        oif_time_format format = {.year = years[i]};
        double seconds = -1;
        assert_int_equal(parse(&format, "Nov 15 19:05:01", &seconds), OIF_EVALUE);
    }
    oif_time_format last = {.year = 9999};
    double seconds = -1;
    assert_int_equal(parse(&last, "Dec 31 19:05:01", &seconds), OIF_OK);
    assert_int_equal(parse(&last, "Jan  1 19:05:01", &seconds), OIF_EVALUE);
}

/* ---- Streams ---- */

static void a_number_among_dates_is_no_time(void **state)
{
    (void)state;
    oif_time_format format = {0};
    double seconds = -1;
    assert_int_equal(parse(&format, "0", &seconds), OIF_OK);
    assert_int_equal(parse(&format, "2026-11-15", &seconds), OIF_OK);
    assert_int_equal(parse(&format, "0", &seconds), OIF_EVALUE);
    assert_int_equal(parse(&format, "15/Nov/2026:19:05:01", &seconds), OIF_OK);
    assert_true(seconds == 1794769501);
}

static void what_the_times_were_taken_for_is_said(void **state)
{
    (void)state;
    oif_time_format format = {0};
    double seconds;
    check_described(&format, "unknown");
    assert_int_equal(parse(&format, "2026-11-15T12:00Z", &seconds), OIF_OK);
    check_described(&format, "ISO 8601");
    assert_int_equal(parse(&format, "2026-11-15T12:00", &seconds), OIF_OK);
    check_described(&format, "ISO 8601, taken as UTC where there is no zone");
    format = (oif_time_format){0};
    assert_int_equal(parse(&format, "2026-11-15", &seconds), OIF_OK);
    check_described(&format, "ISO 8601 without a zone, taken as UTC");
    assert_false(format.is_uncertain);
    assert_int_equal(parse(&format, "15/Nov/2026:19:05:01", &seconds), OIF_OK);
    check_described(&format, "common log without a zone, taken as UTC");
    static const struct {
        const char *text, *description;
        bool is_uncertain;
    } numbers[] = {{"1794769501", "seconds since 1970", false},
                   {"5000000000", "seconds since 1970", true}, /* 2128 */
                   {"17", "seconds since 1970", true},
                   {"1794769501250", "milliseconds since 1970", false},
                   {"1794769501250000", "microseconds since 1970", false},
                   {"1794769501250000000", "nanoseconds since 1970", false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        format = (oif_time_format){0};
        assert_int_equal(parse(&format, numbers[i].text, &seconds), OIF_OK);
        check_described(&format, numbers[i].description);
        assert_int_equal(format.is_uncertain, numbers[i].is_uncertain);
    }
}

/* Text need not end in a NUL: what follows it must not matter. */
static void only_the_given_bytes_are_read(void **state)
{
    (void)state;
    static const char text[] = "2026-11-15T19:05:01.25+01:00";
    for (size_t bytes = 0; bytes <= strlen(text); bytes++) {
        char *copy = malloc(bytes + 1); /* a sanitizer sees reads past the end */
        assert_non_null(copy);
        memcpy(copy, text, bytes);
        char *exact = bytes > 0 ? realloc(copy, bytes) : copy;
        oif_time_format format = {0};
        double seconds = -1;
        oif_status status = oif_time_parse(&format, exact, bytes, &seconds, NULL);
        bool is_whole = bytes <= 4 /* a number */ || bytes == 7 || bytes == 10 || bytes == 16 ||
                        bytes == 19 || bytes == 21 || bytes == 22 || bytes == 25 || bytes == 28;
        format = (oif_time_format){0};
        if (oif_time_parse(&format, text, bytes, &seconds, NULL) != status)
            fail_msg("what follows the first %zu bytes of %s counts", bytes, text);
        if ((status == OIF_OK) != is_whole)
            fail_msg("the first %zu bytes of %s give status %d", bytes, text, (int)status);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_ten_thousand_years_is_where_the_twin_counts_it),
        cmocka_unit_test(every_second_of_a_day_and_every_zone_is_counted),
        cmocka_unit_test(iso_8601_is_read_as_people_write_it),
        cmocka_unit_test(what_does_not_exist_is_refused_with_the_reason),
        cmocka_unit_test(a_month_begins_on_its_first_day_and_dotted_dates_begin_with_the_day),
        cmocka_unit_test(dates_with_slashes_are_read),
        cmocka_unit_test(dates_with_names_are_read),
        cmocka_unit_test(dates_without_separators_are_read),
        cmocka_unit_test(the_first_date_decides_about_day_and_month),
        cmocka_unit_test(a_pattern_reads_what_it_says),
        cmocka_unit_test(other_text_is_no_time),
        cmocka_unit_test(a_missing_time_is_known_to_be_missing),
        cmocka_unit_test(a_text_is_a_time_if_it_has_one_of_the_forms),
        cmocka_unit_test(random_times_are_those_of_the_twin),
        cmocka_unit_test(the_unit_of_numbers_is_that_of_their_size),
        cmocka_unit_test(the_first_number_decides_for_the_stream),
        cmocka_unit_test(common_log_may_have_brackets),
        cmocka_unit_test(syslog_starts_in_the_given_year_or_in_1972),
        cmocka_unit_test(the_year_of_syslog_goes_on_with_the_months),
        cmocka_unit_test(a_year_that_cannot_be_is_refused),
        cmocka_unit_test(a_number_among_dates_is_no_time),
        cmocka_unit_test(what_the_times_were_taken_for_is_said),
        cmocka_unit_test(only_the_given_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
