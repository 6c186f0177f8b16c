/* front/input: keys of several columns, how files and lines begin, texts that look like numbers,
 * columns that rise, and the times of a stream. */
#include "front_fixture.h"

#include "front/input/bad_rows.h"
#include "front/input/byte_source.h"
#include "front/input/file_start.h"
#include "front/input/first_line.h"
#include "front/input/input_error.h"
#include "front/input/key_columns.h"
#include "front/input/marks.h"
#include "front/input/rising.h"
#include "front/input/stream_clock.h"
#include "front/input/time_of_day.h"

#include <math.h>
#include <unistd.h>

/* ---- Keys ---- */

static void split(key_columns *key, const char *list)
{
    messages_capture();
    exit_code code = key_columns_split(key, list);
    take_messages();
    assert_int_equal(code, EXIT_OK);
    for (size_t i = 0; i < key->count; i++)
        key->texts[i] = key->columns[i] = i;
}

/* The key of two texts, to be freed with the columns. */
static oif_text key_of(const key_columns *key, const char *first, const char *second)
{
    const oif_text texts[] = {text_of(first), text_of(second)};
    const oif_record record = {.texts = texts};
    return key_columns_text(key, &record);
}

static void assert_key(const key_columns *key, const char *first, const char *second,
                       const char *joined)
{
    oif_text text = key_of(key, first, second);
    assert_int_equal(text.bytes, strlen(joined));
    assert_memory_equal(text.text, joined, text.bytes);
}

static void names_of_a_key_may_be_in_quotes(void **state)
{
    (void)state;
    key_columns key;
    split(&key, "host,\"a,b\",\"say \"\"no\"\"\"");
    assert_int_equal(key.count, 3);
    assert_string_equal(key.names[0], "host");
    assert_string_equal(key.names[1], "a,b");
    assert_string_equal(key.names[2], "say \"no\"");
    key_columns_close(&key);
    assert_int_equal(key.count, 0);
}

static void a_quote_that_does_not_end_is_part_of_the_name(void **state)
{
    (void)state;
    key_columns key;
    split(&key, "\"host,\"a\"b");
    assert_int_equal(key.count, 2);
    assert_string_equal(key.names[0], "\"host");
    assert_string_equal(key.names[1], "\"a\"b");
    key_columns_close(&key);
}

static void without_a_list_there_is_no_key(void **state)
{
    (void)state;
    key_columns key;
    const oif_record record = {.line = 1};
    split(&key, NULL);
    assert_int_equal(key.count, 0);
    assert_null(key_columns_text(&key, &record).text);
    assert_int_equal(key_columns_text(&key, &record).bytes, 0);
    key_columns_close(&key);
}

static void a_key_of_one_column_is_its_text_unchanged(void **state)
{
    (void)state;
    key_columns key;
    split(&key, "host");
    assert_key(&key, "a/b\\c", "", "a/b\\c");
    assert_key(&key, "", "", "");
    key_columns_close(&key);
}

static void values_of_several_columns_cannot_be_mistaken_for_others(void **state)
{
    (void)state;
    key_columns key;
    split(&key, "host,disk");
    assert_key(&key, "web", "sda", "web/sda");
    assert_key(&key, "a/b", "c", "a\\/b/c");
    assert_key(&key, "a", "b/c", "a/b\\/c");
    assert_key(&key, "a\\", "b", "a\\\\/b");
    assert_key(&key, "a", "\\b", "a/\\\\b");
    assert_key(&key, "", "", "/");
    key_columns_close(&key);
}

/* A text of that many bytes, to be freed. */
static char *repeated(char byte, size_t bytes)
{
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, byte, bytes);
    text[bytes] = '\0';
    return text;
}

static void a_joined_key_that_is_too_long_says_so_by_its_length(void **state)
{
    (void)state;
    key_columns key;
    char *fits = repeated('n', OIF_KEY_MAX_BYTES - 2), *slashes = repeated('/', OIF_KEY_MAX_BYTES);
    char *odd = repeated('/', OIF_KEY_MAX_BYTES);
    odd[0] = 'n';
    split(&key, "host,disk");
    assert_int_equal(key_of(&key, fits, "a").bytes, OIF_KEY_MAX_BYTES);
    assert_true(key_of(&key, fits, "ab").bytes > OIF_KEY_MAX_BYTES);
    assert_true(key_of(&key, fits, "/").bytes > OIF_KEY_MAX_BYTES);
    assert_true(key_of(&key, slashes, "").bytes > OIF_KEY_MAX_BYTES);
    assert_true(key_of(&key, odd, slashes).bytes > OIF_KEY_MAX_BYTES);
    key_columns_close(&key);
    free(fits);
    free(slashes);
    free(odd);
}

static void a_key_with_an_empty_name_or_nine_columns_is_refused(void **state)
{
    (void)state;
    key_columns key;
    messages_capture();
    assert_int_equal(key_columns_split(&key, "host,,disk"), EXIT_USAGE);
    take_messages();
    assert_has(said.text, "'host,,disk' contains an empty name");
    key_columns_close(&key);
    messages_capture();
    assert_int_equal(key_columns_split(&key, "a,b,c,d,e,f,g,h"), EXIT_OK);
    key_columns_close(&key);
    assert_int_equal(key_columns_split(&key, "a,b,c,d,e,f,g,h,i"), EXIT_USAGE);
    take_messages();
    assert_has(said.text, "at most 8 columns");
    key_columns_close(&key);
}

/* ---- The start of a later file ---- */

/* The line has no byte after it, as at the end of a file. */
static start_line judge(const file_start *start, const char *line)
{
    size_t bytes = strlen(line);
    char *copy = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, line, bytes);
    start_line kind = file_start_judge(start, copy, bytes);
    free(copy);
    return kind;
}

static void the_first_lines_of_a_later_file_are_recognised(void **state)
{
    (void)state;
    const file_start start = {.header = "host,load", .header_bytes = 9, .delimiter = ','};
    assert_int_equal(judge(&start, "host,load"), START_IS_HEADER);
    assert_int_equal(judge(&start, "host,load\r"), START_IS_HEADER);
    assert_int_equal(judge(&start, ""), START_IS_BLANK);
    assert_int_equal(judge(&start, " \t\r"), START_IS_BLANK);
    assert_int_equal(judge(&start, "# by hand"), START_IS_COMMENT);
    assert_int_equal(judge(&start, "sep=,"), START_IS_COMMENT);
    assert_int_equal(judge(&start, "\"sep=,\""), START_IS_COMMENT);
    assert_int_equal(judge(&start, "sep=;"), START_IS_OTHER_TEXT);
    assert_int_equal(judge(&start, "web,1.5"), START_IS_ROW);
    assert_int_equal(judge(&start, "web,\" 1.5 \""), START_IS_ROW);
    assert_int_equal(judge(&start, "host,memory"), START_IS_OTHER_TEXT);
    assert_int_equal(judge(&start, "web,nan"), START_IS_OTHER_TEXT);
    assert_int_equal(judge(&start, "x1,2y"), START_IS_OTHER_TEXT);
}

static void a_comment_begins_as_the_option_says(void **state)
{
    (void)state;
    const file_start start = {
        .header = "load", .header_bytes = 4, .delimiter = ',', .comment = "//"};
    assert_int_equal(judge(&start, "// 5"), START_IS_COMMENT);
    assert_int_equal(judge(&start, "#"), START_IS_OTHER_TEXT);
    assert_int_equal(judge(&start, "/"), START_IS_OTHER_TEXT);
}

static void a_number_with_a_decimal_comma_makes_a_row(void **state)
{
    (void)state;
    const file_start start = {.header = "host;load", .header_bytes = 9, .delimiter = ';'};
    assert_int_equal(judge(&start, "web;1,5"), START_IS_ROW);
    assert_int_equal(judge(&start, "1,5;web"), START_IS_ROW);
    assert_int_equal(judge(&start, "web;1,"), START_IS_ROW);
    assert_int_equal(judge(&start, "web;1,5x"), START_IS_OTHER_TEXT);
}

static void a_blank_delimiter_is_any_run_of_blanks(void **state)
{
    (void)state;
    const file_start start = {.header = "host load", .header_bytes = 9, .delimiter = ' '};
    assert_int_equal(judge(&start, "web   1.5"), START_IS_ROW);
    assert_int_equal(judge(&start, "web\t1.5"), START_IS_ROW);
    assert_int_equal(judge(&start, "web \"1 5\""), START_IS_OTHER_TEXT);
}

static void without_a_header_no_line_is_one(void **state)
{
    (void)state;
    const file_start start = {.header = "", .delimiter = ','};
    assert_int_equal(judge(&start, ""), START_IS_BLANK);
    assert_int_equal(judge(&start, "\r"), START_IS_BLANK);
    assert_int_equal(judge(&start, "1,2"), START_IS_ROW);
}

/* ---- The first line ---- */

static oif_status try_first(const char *text, oif_format format, bool any_object)
{
    byte_memory memory = {.pieces = {text_of(text)}};
    const file_start start = {.delimiter = ','};
    const oif_reader_options options = {.format = format};
    byte_source source;
    oif_error error;
    byte_source_open_memory(&source, "rows", &memory, &start);
    source.holds = true;
    oif_status status = first_line_try(&source, &options, any_object, &error);
    byte_source_close(&source);
    return status;
}

static void a_csv_header_is_followed_by_a_row_with_as_many_fields(void **state)
{
    (void)state;
    assert_int_equal(try_first("host,load\nweb,1\n", OIF_FORMAT_CSV, false), OIF_OK);
    assert_int_equal(try_first("host,load\ntorn\nweb,1\n", OIF_FORMAT_CSV, false), OIF_OK);
    assert_int_equal(try_first("host,load\n", OIF_FORMAT_CSV, false), OIF_OK);
    assert_int_equal(try_first("torn\nhost,load\nweb,1\n", OIF_FORMAT_CSV, false), OIF_EINPUT);
    assert_int_equal(try_first("a,b\nc,d\ne,f\n", OIF_FORMAT_CSV, false), OIF_EINPUT);
}

static void an_ndjson_row_is_an_object_with_a_number(void **state)
{
    (void)state;
    assert_int_equal(try_first("{\"load\":1}\n", OIF_FORMAT_NDJSON, false), OIF_OK);
    assert_int_equal(try_first("{\"load\":null}\n", OIF_FORMAT_NDJSON, false), OIF_OK);
    assert_int_equal(try_first("{\"host\":\"web\"}\n", OIF_FORMAT_NDJSON, false), OIF_EINPUT);
    assert_int_equal(try_first("{\"host\":\"web\"}\n", OIF_FORMAT_NDJSON, true), OIF_OK);
    assert_int_equal(try_first("{\"load\":\n", OIF_FORMAT_NDJSON, true), OIF_EINPUT);
}

/* ---- Numbers that are no measurements ---- */

static bool has_mark(const double *values, size_t count, double expected)
{
    extreme_values extremes = {.count = 0};
    double mark = NAN;
    for (size_t i = 0; i < count; i++)
        extremes_add(&extremes, values[i]);
    return extremes_have_mark(&extremes, &mark) && mark == expected;
}

static void a_repeated_value_far_from_all_others_is_a_mark(void **state)
{
    (void)state;
    assert_true(has_mark((double[]){5, -200, 7, -200, 6, -200}, 6, -200));
    assert_true(has_mark((double[]){9999, 5, 7, 9999, 9999}, 5, 9999));
    assert_false(has_mark((double[]){5, -200, 7, 6, 8}, 5, -200));          /* once */
    assert_false(has_mark((double[]){1, -1, 7, -1, 6, -1}, 6, -1));         /* near */
    assert_false(has_mark((double[]){5, -2.5, 5, -2.5, 5, -2.5}, 6, -2.5)); /* not whole */
    assert_false(has_mark((double[]){7, 7, 7, 7}, 4, 7));                   /* nothing else */
    assert_true(mark_is_usual(-200) && mark_is_usual(9999) && !mark_is_usual(42));
}

static bool is_part(const char *name, int first, int step, int wrap, int rows)
{
    calendar_steps steps = {.count = 0};
    for (int i = 0, value = first; i < rows; i++, value = (value + step) % wrap)
        calendar_steps_add(&steps, value);
    return calendar_steps_are(&steps, name);
}

static void parts_of_the_date_run_as_a_clock_does(void **state)
{
    (void)state;
    assert_true(is_part("hour", 0, 1, 24, 100));
    assert_true(is_part("Hour", 0, 3, 24, 100));
    assert_true(is_part("year", 2026, 0, 3000, 100));
    assert_true(is_part("dayofweek", 4, 1, 7, 30));
    assert_false(is_part("load", 0, 1, 24, 100));
    assert_false(is_part("hour", 0, 1, 60, 100));  /* too high */
    assert_false(is_part("hour", 0, 17, 24, 100)); /* jumps */
    assert_false(is_part("hour", 0, 1, 24, 5));    /* too few rows */
}

static void names_of_row_numbers_are_known(void **state)
{
    (void)state;
    static const char *const yes[] = {"id", "ID", "LineId", "x0", "Unnamed: 0", "row_id", "No"};
    static const char *const no[] = {"load", "humid", "grid", "x1", "month", "Unnamed"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!name_says_index(yes[i]))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (name_says_index(no[i]))
            fail_msg("%s", no[i]);
}

static void check_joined(const char *clock, const char *expected)
{
    char joined[32];
    const int bytes = time_of_day_join("31/01/2026", 10, text_of(clock), joined, sizeof joined);
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(joined, expected, strlen(expected));
}

static void a_date_and_a_time_of_day_become_one_text(void **state)
{
    (void)state;
    check_joined("13:05", "31/01/2026 13:05");
    check_joined("18.00.00", "31/01/2026 18:00:00");
    check_joined("18:00:00.25", "31/01/2026 18:00:00.25");
    check_joined("", "31/01/2026");
    check_joined("a text that is longer than the room", "");
}

/* ---- Columns that rise ---- */

static rising_kind judge_rising(double first, double step, int fall_at, const char *name)
{
    rising_column column = {.count = 0};
    for (int i = 0; i < RISING_ROWS; i++) {
        rising_add(&column, first + step * i - (i == fall_at ? 2 * step : 0));
        rising_add(&column, NAN);
    }
    return rising_judge(&column, name);
}

static void a_column_that_only_rises_is_an_id_a_time_or_a_counter(void **state)
{
    (void)state;
    assert_int_equal(judge_rising(1, 1, -1, "id"), RISING_EVENLY);
    assert_int_equal(judge_rising(1794769501, 60, -1, "x"), RISING_TIME);
    assert_int_equal(judge_rising(1, 1, -1, "rx_BYTES"), RISING_COUNTER);
    assert_int_equal(judge_rising(1, 1, 100, "id"), RISING_NOT);
    assert_int_equal(judge_rising(1, 0, -1, "id"), RISING_NOT);
    rising_column few = {.count = 0};
    for (int i = 0; i < RISING_ROWS - 1; i++)
        rising_add(&few, i);
    assert_int_equal(rising_judge(&few, "id"), RISING_NOT);
    rising_add(&few, RISING_ROWS);
    assert_int_equal(rising_judge(&few, "id"), RISING_EVENLY);
}

static void an_epoch_is_in_this_century_in_any_unit(void **state)
{
    (void)state;
    assert_true(rising_is_epoch(1794769501));
    assert_true(rising_is_epoch(1794769501e3));
    assert_true(rising_is_epoch(1794769501e9));
    assert_false(rising_is_epoch(946684799));
    assert_false(rising_is_epoch(4102444800));
    assert_true(rising_says_time("event.created_at"));
    assert_true(rising_says_time("Timestamp"));
    assert_false(rising_says_time("at.load"));
    assert_false(rising_says_time("data"));
}

/* ---- Places ---- */

static void an_error_has_its_place_before_the_message(void **state)
{
    (void)state;
    char text[INPUT_ERROR_TEXT_BYTES];
    oif_error error = {.line = 7, .column = 3, .message = "no number"};
    assert_string_equal(input_error_text("a.csv", &error, text), "a.csv:7:3: no number");
    error.column = 0;
    assert_string_equal(input_error_text("a.csv", &error, text), "a.csv:7: no number");
    error.line = 0;
    assert_string_equal(input_error_text("a.csv", &error, text), "a.csv: no number");
}

static void the_place_of_a_field_counts_lines_inside_quotes(void **state)
{
    (void)state;
    memory_rows rows;
    oif_error error = {.status = OIF_EINPUT};
    open_rows(&rows, "note,load,x\n\"two,\n\"\"lines\",5,6\n", OPTIONS("--exclude", "note"));
    oif_record record = next_record(&rows);
    input_error_place(rows.input.reader, &record, 0, &error);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 1);
    input_error_place(rows.input.reader, &record, 2, &error);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 12);
    close_rows(&rows);
}

/* ---- Bytes ---- */

enum { FILES_MAX = 3 };

typedef struct test_files {
    char paths[FILES_MAX][64];
    char *names[FILES_MAX];
    size_t count;
    byte_source source;
} test_files;

static void open_files(test_files *files, const file_start *start, const char *const texts[])
{
    *files = (test_files){.count = 0};
    for (; texts[files->count]; files->count++) {
        char *path = files->paths[files->count];
        snprintf(path, sizeof files->paths[0], "/tmp/oif_front_XXXXXX");
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        size_t bytes = strlen(texts[files->count]);
        assert_int_equal(write(fd, texts[files->count], bytes), bytes);
        close(fd);
        files->names[files->count] = path;
    }
    assert_int_equal(byte_source_open(&files->source, files->names, files->count, start), EXIT_OK);
}

/* All bytes up to the end or a failure; a few at a time. */
static const char *read_all(byte_source *source)
{
    static char text[1024];
    size_t used = 0;
    ptrdiff_t count;
    while ((count = byte_source_read(source, text + used, 5)) > 0)
        used += (size_t)count;
    text[used] = '\0';
    return text;
}

static void close_files(test_files *files)
{
    byte_source_close(&files->source);
    for (size_t i = 0; i < files->count; i++)
        unlink(files->paths[i]);
}

static const file_start with_header = {.header = "x,y", .header_bytes = 3, .delimiter = ','};

static void the_headers_of_later_files_become_blank_lines(void **state)
{
    (void)state;
    test_files files;
    open_files(&files, &with_header,
               OPTIONS("x,y\n1,2",
                       "\xef\xbb\xbf"
                       "x,y\na,b\n",
                       "# note\nx,y\n5,6\n"));
    assert_string_equal(read_all(&files.source), "x,y\n1,2\n\na,b\n\n\n5,6\n");
    static const struct {
        uint64_t line, in_file;
        size_t file;
    } places[] = {{1, 1, 0}, {2, 2, 0}, {3, 1, 1}, {4, 2, 1}, {5, 1, 2}, {7, 3, 2}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t line = places[i].line;
        assert_string_equal(byte_source_place(&files.source, &line), files.paths[places[i].file]);
        assert_int_equal(line, places[i].in_file);
    }
    close_files(&files);
}

static void a_later_file_with_other_columns_is_a_problem(void **state)
{
    (void)state;
    test_files files;
    open_files(&files, &with_header, OPTIONS("x,y\n1,2\n", "x,z\n3,4\n"));
    assert_string_equal(read_all(&files.source), "x,y\n1,2\n");
    assert_non_null(files.source.problem);
    assert_has(files.source.problem, "x,z");
    assert_has(files.source.problem, "x,y");
    close_files(&files);
}

static void skipped_lines_become_blank_in_every_file(void **state)
{
    (void)state;
    test_files files;
    file_start start = with_header;
    start.skipped_lines = 2;
    open_files(&files, &start, OPTIONS("title\nby me\nx,y\n1,2\n", "title\n\nx,y\n3,4\n"));
    assert_string_equal(read_all(&files.source), "\n\nx,y\n1,2\n\n\n\n3,4\n");
    close_files(&files);
}

static void held_bytes_are_read_again(void **state)
{
    (void)state;
    byte_memory memory = {.pieces = {text_of("  \n x,y"), text_of("1,2")}};
    byte_source source;
    byte_source_open_memory(&source, "rows", &memory, &with_header);
    assert_int_equal(byte_source_peek(&source), 'x');
    source.holds = true;
    assert_string_equal(read_all(&source), "  \n x,y\n1,2\n");
    assert_int_equal(byte_source_line(&source), 2);
    byte_source_rewind(&source);
    assert_string_equal(read_all(&source), "  \n x,y\n1,2\n");
    assert_true(byte_source_drop_line(&source));
    byte_source_rewind(&source);
    assert_string_equal(read_all(&source), "  \n \n1,2\n");
    byte_source_close(&source);
}

static void bad_rows_are_counted_and_the_first_three_are_placed(void **state)
{
    (void)state;
    byte_memory memory = {.pieces = {text_of("")}};
    byte_source source;
    bad_rows bad = {.skipped = 0};
    byte_source_open_memory(&source, "rows", &memory, &with_header);
    messages_capture();
    bad_rows_report(&bad, &source);
    for (uint64_t line = 2; line < 7; line++)
        bad_rows_add(&bad, &source, &(oif_error){.line = line, .message = "torn"}, line == 3);
    bad_rows_report(&bad, &source);
    take_messages();
    assert_string_equal(noted, "rows: 4 bad rows skipped\n"
                               "rows: 1 bad row scored without its bad numbers\n"
                               "  rows:2: torn\n  rows:3: torn\n  rows:4: torn\n"
                               "  and 2 more\n");
    byte_source_close(&source);
}

/* ---- Times ---- */

typedef struct test_times {
    byte_memory memory;
    byte_source source;
    stream_clock clock;
    uint64_t line;
} test_times;

static void begin_times(test_times *times)
{
    const file_start start = {.delimiter = ','};
    *times = (test_times){.memory = {.pieces = {text_of("")}}};
    byte_source_open_memory(&times->source, "rows", &times->memory, &start);
    times->clock = stream_clock_start(&times->source, "at", &(oif_time_format){0});
    messages_capture();
}

static double read_time(test_times *times, const char *text)
{
    return stream_clock_read(&times->clock, text_of(text), ++times->line);
}

/* Rows on days of November 2026 at that time of day. */
static void read_days(test_times *times, int count, const char *time)
{
    for (int i = 0; i < count; i++) {
        char text[64];
        snprintf(text, sizeof text, "2026-11-%02d%s", 1 + i, time);
        assert_true(read_time(times, text) > 0);
    }
}

static bool has_problem(const test_times *times, const char *part)
{
    char text[STREAM_CLOCK_TEXT_BYTES] = "";
    bool found = stream_clock_problem(&times->clock, text);
    if (found)
        assert_has(text, part);
    return found;
}

/* The report is in `noted`. */
static void end_times(test_times *times)
{
    stream_clock_report(&times->clock);
    take_messages();
    byte_source_close(&times->source);
}

static void good_times_are_not_worth_a_word(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    assert_true(read_time(&times, "2026-11-15T19:05:01Z") == 1794769501);
    assert_true(read_time(&times, "2026-11-15T19:05:02Z") == 1794769502);
    assert_false(has_problem(&times, ""));
    end_times(&times);
    assert_string_equal(noted, "");
}

static void times_that_cannot_be_read_are_a_problem(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    assert_true(read_time(&times, "2026-11-15T19:05:01Z") > 0);
    assert_true(isnan(read_time(&times, "yesterday")));
    assert_true(isnan(read_time(&times, "")));
    assert_true(has_problem(&times, "times in 'at': 1 of 2 cannot be read: "));
    end_times(&times);
    assert_has(noted, "rows: times in 'at': 1 is missing, 1 cannot be read, the first on line 2: ");
}

static void a_column_without_times_is_doubted_after_100_rows(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    for (int i = 0; i < 99; i++)
        read_time(&times, "web");
    take_messages();
    assert_string_equal(noted, "");
    messages_capture();
    read_time(&times, "web");
    read_time(&times, "web");
    take_messages();
    assert_has(noted, "no time in 'at' could be read so far, in 100 rows");
    messages_capture();
    end_times(&times);
}

static void times_that_go_back_or_repeat_are_counted(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    read_days(&times, 20, "T10:00:00Z");
    read_time(&times, "2026-11-20T10:00:00Z");
    read_time(&times, "2026-11-19T10:00:00Z");
    end_times(&times);
    assert_has(noted, "times in 'at': 1 goes back, 1 repeats the one before");
    assert_null(strstr(noted, "sort the rows"));
}

static void rows_in_the_wrong_order_are_to_be_sorted(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    for (int day = 20; day > 0; day--) {
        char text[32];
        snprintf(text, sizeof text, "2026-11-%02dT10:00:00Z", day);
        read_time(&times, text);
    }
    end_times(&times);
    assert_has(noted, "19 go back; sort the rows, oldest first");
}

static void the_order_of_rows_of_several_keys_says_nothing(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    times.clock.has_keys = true;
    read_time(&times, "2026-11-15T19:05:01Z");
    read_time(&times, "2026-11-15T19:05:00Z");
    end_times(&times);
    assert_string_equal(noted, "");
}

static void a_pause_ten_times_as_long_as_any_before_is_a_gap(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    read_days(&times, 20, "T10:00:00Z");
    read_time(&times, "2026-11-30T10:00:00Z"); /* just ten days */
    assert_int_equal(times.clock.gaps, 0);
    read_time(&times, "2027-11-30T10:00:00Z");
    end_times(&times);
    assert_has(noted, "1 gap, 365.0 days before line 22");
}

static void a_late_row_is_no_jump_and_a_wrong_clock_is(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    read_days(&times, 20, "T10:00:00Z");
    read_time(&times, "2026-11-11T10:00:00Z"); /* nine days late */
    assert_false(has_problem(&times, ""));
    read_time(&times, "2026-10-30T10:00:00Z"); /* twelve days before */
    assert_true(has_problem(&times, "times in 'at': 1 jumps back, at most by 12.0 days. "));
    read_time(&times, "2027-11-20T10:00:00Z");
    assert_true(has_problem(&times, "1 jumps back, at most by 12.0 days, 1 jumps ahead, at most by "
                                    "365.0 days. Check the clock"));
    times.clock.has_keys = true;
    assert_true(has_problem(&times, "times in 'at': 1 jumps ahead, "));
    end_times(&times);
}

static void dates_are_too_coarse_for_a_season_of_a_day(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    times.clock.season_seconds = 86400;
    read_days(&times, 9, "");
    assert_false(has_problem(&times, ""));
    read_time(&times, "2026-11-10");
    assert_true(has_problem(&times, "are dates without a time of day, which the season needs"));
    times.clock.season_seconds = 7 * 86400;
    assert_false(has_problem(&times, ""));
    end_times(&times);
}

static void repeated_times_are_too_coarse_for_rates(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    times.clock.has_rates = true;
    for (int i = 0; i < 10; i++)
        read_time(&times, i < 4 ? "2026-11-15T19:05:01Z" : "2026-11-15T19:05:02Z");
    assert_true(has_problem(&times, "8 of 10 repeat the one before, and a rate needs a step"));
    end_times(&times);
    assert_has(noted, "--rate without --time learns the increase");
}

static void only_rows_of_the_first_key_are_compared_where_keys_are_given(void **state)
{
    (void)state;
    test_times times;
    begin_times(&times);
    times.clock.has_keys = times.clock.has_rates = true;
    char *longer = repeated('k', 100), *other = repeated('k', 100);
    other[10] = 'o';
    for (int i = 0; i < 10; i++) {
        stream_clock_set_key(&times.clock, text_of(longer));
        read_time(&times, "2026-11-15T19:05:01Z");
        stream_clock_set_key(&times.clock, text_of(other));
        read_time(&times, "2026-11-15T19:05:01Z");
    }
    assert_int_equal(times.clock.ordered, 10);
    assert_true(has_problem(&times, ", rows of the first key: 9 of 10 repeat"));
    end_times(&times);
    free(longer);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_key_may_be_in_quotes),
        cmocka_unit_test(a_quote_that_does_not_end_is_part_of_the_name),
        cmocka_unit_test(without_a_list_there_is_no_key),
        cmocka_unit_test(a_key_of_one_column_is_its_text_unchanged),
        cmocka_unit_test(values_of_several_columns_cannot_be_mistaken_for_others),
        cmocka_unit_test(a_joined_key_that_is_too_long_says_so_by_its_length),
        cmocka_unit_test(a_key_with_an_empty_name_or_nine_columns_is_refused),
        cmocka_unit_test(the_first_lines_of_a_later_file_are_recognised),
        cmocka_unit_test(a_comment_begins_as_the_option_says),
        cmocka_unit_test(a_number_with_a_decimal_comma_makes_a_row),
        cmocka_unit_test(a_blank_delimiter_is_any_run_of_blanks),
        cmocka_unit_test(without_a_header_no_line_is_one),
        cmocka_unit_test(a_csv_header_is_followed_by_a_row_with_as_many_fields),
        cmocka_unit_test(an_ndjson_row_is_an_object_with_a_number),
        cmocka_unit_test(a_repeated_value_far_from_all_others_is_a_mark),
        cmocka_unit_test(parts_of_the_date_run_as_a_clock_does),
        cmocka_unit_test(names_of_row_numbers_are_known),
        cmocka_unit_test(a_date_and_a_time_of_day_become_one_text),
        cmocka_unit_test(a_column_that_only_rises_is_an_id_a_time_or_a_counter),
        cmocka_unit_test(an_epoch_is_in_this_century_in_any_unit),
        cmocka_unit_test(an_error_has_its_place_before_the_message),
        cmocka_unit_test(the_place_of_a_field_counts_lines_inside_quotes),
        cmocka_unit_test(the_headers_of_later_files_become_blank_lines),
        cmocka_unit_test(a_later_file_with_other_columns_is_a_problem),
        cmocka_unit_test(skipped_lines_become_blank_in_every_file),
        cmocka_unit_test(held_bytes_are_read_again),
        cmocka_unit_test(bad_rows_are_counted_and_the_first_three_are_placed),
        cmocka_unit_test(good_times_are_not_worth_a_word),
        cmocka_unit_test(times_that_cannot_be_read_are_a_problem),
        cmocka_unit_test(a_column_without_times_is_doubted_after_100_rows),
        cmocka_unit_test(times_that_go_back_or_repeat_are_counted),
        cmocka_unit_test(rows_in_the_wrong_order_are_to_be_sorted),
        cmocka_unit_test(the_order_of_rows_of_several_keys_says_nothing),
        cmocka_unit_test(a_pause_ten_times_as_long_as_any_before_is_a_gap),
        cmocka_unit_test(a_late_row_is_no_jump_and_a_wrong_clock_is),
        cmocka_unit_test(dates_are_too_coarse_for_a_season_of_a_day),
        cmocka_unit_test(repeated_times_are_too_coarse_for_rates),
        cmocka_unit_test(only_rows_of_the_first_key_are_compared_where_keys_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
