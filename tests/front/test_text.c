/* front/text: durations, sizes, quotes, lists of names, suggestions, output and messages. */
#include "front_fixture.h"

#include "front/text/byte_sizes.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/name_list.h"
#include "front/text/quoting.h"
#include "front/text/suggest.h"

#include <math.h>

/* ---- Durations ---- */

static void a_duration_is_a_number_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } durations[] = {{"90", 90},     {"250ms", 0.25}, {"30s", 30},     {"10m", 600}, {"10min", 600},
                     {"1.5h", 5400}, {"1d", 86400},   {"2w", 1209600}, {"-1", -1},   {"0", 0}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        double seconds = -5;
        assert_true(duration_parse(durations[i].text, &seconds));
        assert_true(fabs(seconds - durations[i].seconds) < 1e-9);
    }
}

static void a_duration_with_another_unit_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "m", "10 m", "10M", "10mm", "10/day", "1h30m", "5m "};
    double seconds = -5;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(duration_parse(wrong[i], &seconds));
    assert_true(seconds == -5);
}

static void a_frequency_is_a_number_per_day_hour_or_week(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double per_day;
    } rates[] = {{"5", 5},      {"5/day", 5},  {"5/d", 5}, {"1/hour", 24},
                 {"0.5/h", 12}, {"7/week", 1}, {"14/w", 2}};
    static const char *const wrong[] = {"", "/day", "5/", "5/month", "5 /day", "5m"};
    double per_day = -5;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        assert_true(per_day_parse(rates[i].text, &per_day));
        assert_true(fabs(per_day - rates[i].per_day) < 1e-9);
    }
    per_day = -5;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(per_day_parse(wrong[i], &per_day));
    assert_true(per_day == -5);
}

static void a_duration_is_shown_in_the_unit_of_which_there_are_two(void **state)
{
    (void)state;
    char text[DURATION_TEXT_BYTES];
    assert_string_equal(duration_text(0, text), "0 s");
    assert_string_equal(duration_text(0.25, text), "0.25 s");
    assert_string_equal(duration_text(119, text), "119 s");
    assert_string_equal(duration_text(120, text), "2 min");
    assert_string_equal(duration_text(5400, text), "90 min");
    assert_string_equal(duration_text(9000, text), "2.5 h");
    assert_string_equal(duration_text(172800, text), "2 d");
}

static void a_moment_is_iso_8601_in_utc(void **state)
{
    (void)state;
    char text[MOMENT_TEXT_BYTES];
    assert_string_equal(moment_text(0, text), "1970-01-01T00:00:00Z");
    assert_string_equal(moment_text(1794769501, text), "2026-11-15T19:05:01Z");
    assert_string_equal(moment_text(951782400, text), "2000-02-29T00:00:00Z");
    assert_string_equal(moment_text(4107542399, text), "2100-02-28T23:59:59Z");
    assert_string_equal(moment_text(-1, text), "1969-12-31T23:59:59Z");
    assert_string_equal(moment_text(-62135596800, text), "0001-01-01T00:00:00Z");
    assert_string_equal(moment_text(253402300798, text), "9999-12-31T23:59:58Z");
}

static void a_moment_is_rounded_to_milliseconds(void **state)
{
    (void)state;
    char text[MOMENT_TEXT_BYTES];
    assert_string_equal(moment_text(1.25, text), "1970-01-01T00:00:01.250Z");
    assert_string_equal(moment_text(-0.25, text), "1969-12-31T23:59:59.750Z");
    assert_string_equal(moment_text(59.9996, text), "1970-01-01T00:01:00Z");
}

static void a_moment_beyond_the_calendar_is_a_number(void **state)
{
    (void)state;
    char text[MOMENT_TEXT_BYTES];
    assert_string_equal(moment_text(253402300800, text), "253402300800");
    assert_string_equal(moment_text(-62135596801, text), "-62135596801");
    assert_string_equal(moment_text(NAN, text), "nan");
}

/* ---- Sizes ---- */

static void a_size_is_a_power_of_1024_unless_it_ends_in_b(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bytes;
    } sizes[] = {{"0", 0},
                 {"512", 512},
                 {"512B", 512},
                 {"1k", 1024},
                 {"1K", 1024},
                 {"1Ki", 1024},
                 {"1KiB", 1024},
                 {"1KB", 1000},
                 {"2M", 2097152},
                 {"2MB", 2000000},
                 {"1G", 1073741824},
                 {"1GB", 1e9},
                 {"1T", 1099511627776},
                 {"1TB", 1e12},
                 {"1.5K", 1536},
                 {"0.0005K", 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double bytes = -5;
        assert_true(byte_size_parse(sizes[i].text, &bytes));
        assert_true(bytes == sizes[i].bytes);
    }
}

static void a_size_with_another_unit_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "G",  "1 G", "1g",  "1P",  "1Kb",
                                        "1KK", "1i", "1iB", "1BB", "inf", "nan"};
    double bytes = -5;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(byte_size_parse(wrong[i], &bytes));
    assert_true(bytes == -5);
}

/* ---- Cutting ---- */

static void a_short_text_is_not_cut(void **state)
{
    (void)state;
    assert_int_equal(cut_bytes("load", 4, 4), 4);
    assert_int_equal(cut_bytes("load", 4, 9), 4);
    assert_int_equal(cut_bytes("", 0, 9), 0);
    assert_string_equal(cut_name("load").text, "load");
}

static void no_character_is_cut(void **state)
{
    (void)state;
    assert_int_equal(cut_bytes("abcdef", 6, 4), 4);
    assert_int_equal(cut_bytes("ab\xc3\xa9z", 5, 3), 2);
    assert_int_equal(cut_bytes("ab\xc3\xa9z", 5, 4), 4);
    assert_int_equal(cut_bytes("a\xf0\x9f\x98\x80z", 6, 4), 1);
    assert_int_equal(cut_bytes("a\xf0\x9f\x98\x80z", 6, 5), 5);
}

static void bytes_that_are_no_characters_are_cut_anywhere(void **state)
{
    (void)state;
    assert_int_equal(cut_bytes("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 3);
    assert_int_equal(cut_bytes("\x80\x80", 2, 1), 0);
}

static void a_long_name_has_60_bytes(void **state)
{
    (void)state;
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    assert_int_equal(strlen(cut_name(name).text), 60);
    memcpy(name + 59, "\xc3\xa9", 2);
    assert_int_equal(strlen(cut_name(name).text), 59);
}

/* ---- Quotes ---- */

typedef bool (*text_writer)(const char *text, size_t bytes);

static const char *written_by(text_writer write, const char *text)
{
    output_divert();
    assert_true(write(text, strlen(text)));
    return take_written();
}

static const char *csv_of(const char *text, char delimiter)
{
    output_divert();
    assert_true(quoting_write_csv(text, strlen(text), delimiter));
    return take_written();
}

static void a_csv_field_has_quotes_only_where_it_needs_them(void **state)
{
    (void)state;
    assert_string_equal(csv_of("plain text", ','), "plain text");
    assert_string_equal(csv_of("", ','), "");
    assert_string_equal(csv_of("a;b", ','), "a;b");
    assert_string_equal(csv_of("a,b", ','), "\"a,b\"");
    assert_string_equal(csv_of("a;b", ';'), "\"a;b\"");
    assert_string_equal(csv_of("say \"no\"", ','), "\"say \"\"no\"\"\"");
    assert_string_equal(csv_of("two\nlines", ','), "\"two\nlines\"");
    assert_string_equal(csv_of("two\rlines", ','), "\"two\rlines\"");
}

static void between_blanks_an_empty_csv_field_can_be_seen(void **state)
{
    (void)state;
    assert_string_equal(csv_of("", ' '), "\"\"");
    assert_string_equal(csv_of("a\tb", ' '), "\"a\tb\"");
    assert_string_equal(csv_of("a b", ' '), "\"a b\"");
    assert_string_equal(csv_of("a\tb", ','), "a\tb");
}

static void json_escapes_quotes_backslashes_and_control_characters(void **state)
{
    (void)state;
    assert_string_equal(written_by(quoting_write_json, ""), "\"\"");
    assert_string_equal(written_by(quoting_write_json, "a\"b\\c"), "\"a\\\"b\\\\c\"");
    assert_string_equal(written_by(quoting_write_json, "\x01\t\n\x1b\x1f \x7f"),
                        "\"\\u0001\\u0009\\u000a\\u001b\\u001f \x7f\"");
    output_divert();
    assert_true(quoting_write_json("a\0b", 3));
    assert_string_equal(take_written(), "\"a\\u0000b\"");
}

static void json_keeps_characters_beyond_ascii(void **state)
{
    (void)state;
    const char *text = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", *quoted = "\"\xc3\xa9\xe2\x82\xac"
                                                                         "\xf0\x9f\x98\x80\"";
    assert_string_equal(written_by(quoting_write_json, text), quoted);
}

#define BROKEN "\xef\xbf\xbd" /* U+FFFD */

static void broken_utf_8_becomes_a_replacement_character(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } broken[] = {
        {"\xe9t\xe9", "\"" BROKEN "t" BROKEN "\""},                  /* Latin-1 */
        {"\x80z", "\"" BROKEN "z\""},                                /* a continuation alone */
        {"\xc0\xaf", "\"" BROKEN BROKEN "\""},                       /* another spelling of / */
        {"\xe2\x82z", "\"" BROKEN "z\""},                            /* a beginning */
        {"\xe2\x82", "\"" BROKEN "\""},                              /* the same at the end */
        {"\xed\xa0\x80", "\"" BROKEN BROKEN BROKEN "\""},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"" BROKEN BROKEN BROKEN BROKEN "\""}, /* past the last */
        {"\xff\"", "\"" BROKEN "\\\"\""},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_string_equal(written_by(quoting_write_json, broken[i].text), broken[i].json);
}

static void a_character_has_one_to_four_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes, invalid_bytes;
    } characters[] = {{"a", 1, 0},
                      {"\x7f", 1, 0},
                      {"\xc2\x80", 2, 0},
                      {"\xe0\xa0\x80", 3, 0},
                      {"\xed\x9f\xbf", 3, 0},
                      {"\xf0\x90\x80\x80", 4, 0},
                      {"\xf4\x8f\xbf\xbf", 4, 0},
                      {"\xc2", 0, 1},
                      {"\xe0\x9f\x80", 0, 1},
                      {"\xf0\x8f\x80\x80", 0, 1},
                      {"\xf0\x90\x80", 0, 3},
                      {"\xf5\x80\x80\x80", 0, 1}};
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        const char *text = characters[i].text;
        size_t invalid, bytes = quoting_character_bytes(text, text + strlen(text), &invalid);
        assert_int_equal(bytes, characters[i].bytes);
        if (bytes == 0)
            assert_int_equal(invalid, characters[i].invalid_bytes);
    }
}

static void a_logfmt_value_has_quotes_only_where_it_needs_them(void **state)
{
    (void)state;
    assert_string_equal(written_by(quoting_write_logfmt, "web-1"), "web-1");
    assert_string_equal(written_by(quoting_write_logfmt, "caf\xc3\xa9"), "caf\xc3\xa9");
    assert_string_equal(written_by(quoting_write_logfmt, "caf\xe9"), "caf" BROKEN);
    assert_string_equal(written_by(quoting_write_logfmt, ""), "\"\"");
    assert_string_equal(written_by(quoting_write_logfmt, "two words"), "\"two words\"");
    assert_string_equal(written_by(quoting_write_logfmt, "a=b"), "\"a=b\"");
    assert_string_equal(written_by(quoting_write_logfmt, "a\nb"), "\"a\\u000ab\"");
}

static void a_logfmt_name_has_no_character_that_ends_it(void **state)
{
    (void)state;
    output_divert();
    quoting_write_logfmt_name("load (1 min)=\"x\"");
    assert_string_equal(take_written(), "load_(1_min)__x_");
    output_divert();
    quoting_write_logfmt_name("");
    assert_string_equal(take_written(), "_");
}

static void a_word_for_the_shell_has_quotes_only_where_it_needs_them(void **state)
{
    (void)state;
    static const struct {
        const char *word, *quoted;
    } words[] = {{"rx_bytes,tx.1", "rx_bytes,tx.1"},
                 {"", "''"},
                 {"two words", "'two words'"},
                 {"$HOME", "'$HOME'"},
                 {"it's", "'it'\\''s'"},
                 {"'", "''\\'''"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", words[i].word);
        assert_true(quoting_for_shell(text, sizeof text));
        assert_string_equal(text, words[i].quoted);
    }
}

static void quotes_for_the_shell_need_room(void **state)
{
    (void)state;
    char text[6] = "a b";
    assert_false(quoting_for_shell(text, 5));
    assert_string_equal(text, "a b");
    assert_true(quoting_for_shell(text, 6));
    assert_string_equal(text, "'a b'");
}

/* ---- Lists of names ---- */

static void names_are_separated_by_commas_outside_quotes(void **state)
{
    (void)state;
    char name[32];
    const char *rest = name_list_next("a,\"b,\"\"c\"\"\",d\"e,\"f\"g,", name);
    assert_string_equal(name, "a");
    rest = name_list_next(rest, name);
    assert_string_equal(name, "b,\"c\"");
    rest = name_list_next(rest, name);
    assert_string_equal(name, "d\"e");
    rest = name_list_next(rest, name);
    assert_string_equal(name, "\"f\"g"); /* not a quoted name */
    rest = name_list_next(rest, name);
    assert_string_equal(name, "");
    assert_null(rest);
}

static void a_list_that_is_appended_to_is_read_as_the_same_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "a", "b,\"c\"", "d\"e", "\"", ""};
    const size_t count = sizeof names / sizeof *names;
    char *list = NULL, name[64];
    for (size_t i = 0; i < count; i++)
        assert_non_null(list = name_list_append(list, names[i]));
    const char *rest = list;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(rest);
        rest = name_list_next(rest, name);
        assert_string_equal(name, names[i]);
    }
    assert_null(rest);
    free(list);
}

static void a_list_has_the_very_names_in_it(void **state)
{
    (void)state;
    assert_true(name_list_has("load,\"a,b\"", "load"));
    assert_true(name_list_has("load,\"a,b\"", "a,b"));
    assert_false(name_list_has("load,\"a,b\"", "a"));
    assert_false(name_list_has("load*", "load1"));
    assert_false(name_list_has(NULL, "load"));
}

static void a_pattern_covers_names_and_an_object_its_members(void **state)
{
    (void)state;
    assert_true(name_is_pattern("cpu.*"));
    assert_true(name_is_pattern("disk?"));
    assert_true(name_is_pattern("disk[12]"));
    assert_false(name_is_pattern("disk.1"));
    assert_true(name_covers("*_total", "rx_total", false));
    assert_false(name_covers("*_total", "total", false));
    assert_false(name_covers("load", "load", false));
    assert_true(name_covers("labels", "labels.host", true));
    assert_false(name_covers("labels", "labels.host", false));
    assert_false(name_covers("labels", "labels2", true));
    assert_true(name_list_covers("x,cpu*", "cpu7", false));
    assert_true(name_list_covers("x,cpu*", "x", false));
    assert_false(name_list_covers("x,cpu*", "y", false));
    assert_false(name_list_covers(NULL, "y", false));
}

static void a_list_for_a_message_can_be_read_and_pasted(void **state)
{
    (void)state;
    names_text names = {.count = 0};
    names_text_add(&names, "load");
    names_text_add_as(&names, "state", "state", "up");
    names_text_add(&names, "a,b");
    assert_string_equal(names_text_read(&names), "load, state ('up'), a,b");
    assert_string_equal(names_text_paste(&names), "'load,state,\"a,b\"'");
    assert_string_equal(names_text_paste(&names), "'load,state,\"a,b\"'");
}

static void a_long_list_ends_with_how_many_more_there_are(void **state)
{
    (void)state;
    names_text names = {.count = 0};
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    for (int i = 0; i < 20; i++)
        names_text_add(&names, name);
    names_text_add(&names, "short"); /* would fit, but others before it are not shown */
    assert_int_equal(names.shown, 9);
    const char *text = names_text_read(&names);
    assert_string_equal(text + strlen(text) - strlen("n and 12 more"), "n and 12 more");
    assert_string_equal(names_text_paste(&names), "A,B,...");
}

static void a_long_list_is_the_same_every_time_it_is_read(void **state)
{
    (void)state;
    names_text names = {.count = 0};
    char name[601], first[NAMES_TEXT_BYTES];
    memset(name, 'n', 600);
    name[600] = '\0';
    for (int i = 0; i < 3; i++)
        names_text_add(&names, name);
    snprintf(first, sizeof first, "%s", names_text_read(&names));
    assert_string_equal(names_text_read(&names), first);
}

static void a_name_with_control_characters_is_not_pasted(void **state)
{
    (void)state;
    names_text names = {.count = 0};
    names_text_add(&names, "a\x1b[31m");
    assert_string_equal(names_text_paste(&names), "A,B,...");
}

/* ---- Suggestions ---- */

static const char *suggested(const char *typed)
{
    static const char *const words[] = {"label", "columns", "exclude", "alert-rate", "alerts"};
    static char hint[HINT_BYTES];
    word_suggestion suggestion = suggestion_for(typed, strlen(typed));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        suggestion_consider(&suggestion, words[i]);
    return suggestion_hint(&suggestion, "--", hint);
}

static void the_closest_word_is_suggested(void **state)
{
    (void)state;
    assert_string_equal(suggested("lable"), "; did you mean --label?");
    assert_string_equal(suggested("colums"), "; did you mean --columns?");
    assert_string_equal(suggested("exlude"), "; did you mean --exclude?");
    assert_string_equal(suggested("alert"), "; did you mean --alert-rate?"); /* the first */
    assert_string_equal(suggested("col"), "; did you mean --columns?");
}

static void nothing_is_suggested_where_no_word_is_close(void **state)
{
    (void)state;
    assert_string_equal(suggested("verbose"), "");
    assert_string_equal(suggested("x"), "");
    assert_string_equal(suggested(""), "");
    assert_string_equal(suggested("columnscolumnscolumnscolumnscolumnscolumnscolumns"), "");
}

/* ---- Output and messages ---- */

static void diversions_nest(void **state)
{
    (void)state;
    output_divert();
    output_print("outer %d", 1);
    output_divert();
    output_write("inner", 5);
    assert_string_equal(take_written(), "inner");
    output_write(".", 1);
    assert_string_equal(take_written(), "outer 1.");
}

static void a_long_text_is_printed_whole(void **state)
{
    (void)state;
    char text[10001];
    memset(text, 't', 10000);
    text[10000] = '\0';
    output_divert();
    assert_true(output_print("%s!", text));
    const char *written = take_written();
    assert_int_equal(strlen(written), 10001);
    assert_int_equal(written[10000], '!');
}

static void the_first_complaint_and_every_note_are_captured(void **state)
{
    (void)state;
    const complaint_reason reason = {.cause = OIF_CAUSE_KEY_TOO_LONG, .shell = "; cut it"};
    messages_capture();
    note("one");
    assert_int_equal(complain_because(&reason, EXIT_FAILED, "%s key", "a long"), EXIT_FAILED);
    assert_int_equal(complain(EXIT_USAGE, "another"), EXIT_USAGE);
    note("two");
    take_messages();
    assert_string_equal(said.text, "a long key; cut it");
    assert_int_equal(said.cause, OIF_CAUSE_KEY_TOO_LONG);
    assert_string_equal(said.remedy, "");
    assert_string_equal(noted, "one\ntwo\n");
}

static void the_service_gets_its_own_remedy_apart_from_the_message(void **state)
{
    (void)state;
    const complaint_reason reason = {
        .shell = "; try 'xsv FILE'", .service = "Send \x1b rows.", .is_conversion = true};
    messages_capture_for_service();
    complain_because(&reason, EXIT_FAILED, "not rows");
    note_because(&reason, "odd rows");
    take_messages();
    assert_string_equal(said.text, "not rows");
    assert_string_equal(said.remedy, "Send \\u001b rows.");
    assert_true(said.is_conversion);
    assert_string_equal(noted, "odd rows. Send \\u001b rows.\n");
}

static void control_characters_in_messages_are_escaped(void **state)
{
    (void)state;
    messages_capture();
    note("a\x1b[31m\n\x7f \xc2\x85 \xc2\xa9 \xc3\xa9");
    take_messages();
    assert_string_equal(noted, "a\\u001b[31m\\u000a\\u007f \\u0085 \xc2\xa9 \xc3\xa9\n");
}

static void notes_that_are_too_many_are_left_out_whole(void **state)
{
    (void)state;
    messages_capture();
    for (int i = 0; i < 5000; i++)
        note("note %04d", i);
    take_messages();
    size_t bytes = strlen(noted);
    assert_in_range(bytes, NOTES_BYTES_MAX - 20, NOTES_BYTES_MAX - 1);
    assert_int_equal(bytes % strlen("note 0000\n"), 0);
}

static void a_long_number_has_commas(void **state)
{
    (void)state;
    char text[GROUPED_TEXT_BYTES];
    assert_string_equal(grouped_text(0, text), "0");
    assert_string_equal(grouped_text(999, text), "999");
    assert_string_equal(grouped_text(20160, text), "20,160");
    assert_string_equal(grouped_text(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_duration_is_a_number_and_a_unit),
        cmocka_unit_test(a_duration_with_another_unit_is_refused),
        cmocka_unit_test(a_frequency_is_a_number_per_day_hour_or_week),
        cmocka_unit_test(a_duration_is_shown_in_the_unit_of_which_there_are_two),
        cmocka_unit_test(a_moment_is_iso_8601_in_utc),
        cmocka_unit_test(a_moment_is_rounded_to_milliseconds),
        cmocka_unit_test(a_moment_beyond_the_calendar_is_a_number),
        cmocka_unit_test(a_size_is_a_power_of_1024_unless_it_ends_in_b),
        cmocka_unit_test(a_size_with_another_unit_is_refused),
        cmocka_unit_test(a_short_text_is_not_cut),
        cmocka_unit_test(no_character_is_cut),
        cmocka_unit_test(bytes_that_are_no_characters_are_cut_anywhere),
        cmocka_unit_test(a_long_name_has_60_bytes),
        cmocka_unit_test(a_csv_field_has_quotes_only_where_it_needs_them),
        cmocka_unit_test(between_blanks_an_empty_csv_field_can_be_seen),
        cmocka_unit_test(json_escapes_quotes_backslashes_and_control_characters),
        cmocka_unit_test(json_keeps_characters_beyond_ascii),
        cmocka_unit_test(broken_utf_8_becomes_a_replacement_character),
        cmocka_unit_test(a_character_has_one_to_four_bytes),
        cmocka_unit_test(a_logfmt_value_has_quotes_only_where_it_needs_them),
        cmocka_unit_test(a_logfmt_name_has_no_character_that_ends_it),
        cmocka_unit_test(a_word_for_the_shell_has_quotes_only_where_it_needs_them),
        cmocka_unit_test(quotes_for_the_shell_need_room),
        cmocka_unit_test(names_are_separated_by_commas_outside_quotes),
        cmocka_unit_test(a_list_that_is_appended_to_is_read_as_the_same_names),
        cmocka_unit_test(a_list_has_the_very_names_in_it),
        cmocka_unit_test(a_pattern_covers_names_and_an_object_its_members),
        cmocka_unit_test(a_list_for_a_message_can_be_read_and_pasted),
        cmocka_unit_test(a_long_list_ends_with_how_many_more_there_are),
        cmocka_unit_test(a_long_list_is_the_same_every_time_it_is_read),
        cmocka_unit_test(a_name_with_control_characters_is_not_pasted),
        cmocka_unit_test(the_closest_word_is_suggested),
        cmocka_unit_test(nothing_is_suggested_where_no_word_is_close),
        cmocka_unit_test(diversions_nest),
        cmocka_unit_test(a_long_text_is_printed_whole),
        cmocka_unit_test(the_first_complaint_and_every_note_are_captured),
        cmocka_unit_test(the_service_gets_its_own_remedy_apart_from_the_message),
        cmocka_unit_test(control_characters_in_messages_are_escaped),
        cmocka_unit_test(notes_that_are_too_many_are_left_out_whole),
        cmocka_unit_test(a_long_number_has_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
