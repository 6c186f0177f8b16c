/* The tables of sar, mpstat, pidstat and iostat:
 *
 *     Linux 6.1.0 (web-1)   11/18/26   _x86_64_   (2 CPU)
 *
 *     02:57:28        CPU     %user     %nice   %system   %iowait    %steal     %idle
 *     02:57:29        all     36.50     52.50     11.00      0.00      0.00      0.00
 *     Average:        all     36.50     52.50     11.00      0.00      0.00      0.00
 *
 * becomes time,CPU,%user,... with the date of the first line. Averages and restarts are left out.
 * iostat prints its time, if any, in a line of its own, and the processors above the devices. The
 * first table counts, of iostat that of the devices; a note names the others. */
#include "formats.h"
#include "repeated_table.h"

#include <stdlib.h>

typedef enum table_kind {
    NO_TABLE,
    TIMED_ROWS,  /* each row begins with its time of day */
    DEVICE_ROWS, /* of iostat */
    CPU_ROWS     /* of iostat: all its numbers */
} table_kind;

typedef struct calendar_day {
    int year, month, day; /* year 0: not known */
} calendar_day;

typedef struct sysstat_state {
    repeated_table table;
    table_kind chosen, below; /* the table that is read; the latest header */
    calendar_day today;
    int last_second;       /* of the day */
    char moment[40];       /* time of iostat's next rows; "": unknown */
    bool has_time;         /* whether rows have a time */
    char held[1024];       /* iostat: numbers of the processors, before a second header of them */
    char held_names[1024]; /* "": there were none */
    uint64_t held_line;
} sysstat_state;

/* ---- Dates and times ---- */

/* As the locale writes them: 11/18/26, 18/11/2026, 18.11.2026; and 2026-11-18. The month comes
 * first between slashes unless it cannot be one. */
static bool parse_date(oif_text text, calendar_day *date)
{
    int part[3] = {0}, count = 0;
    size_t digits = 0;
    char separator = '\0';
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.text[i] >= '0' && text.text[i] <= '9' && ++digits <= 4) {
            part[count] = 10 * part[count] + text.text[i] - '0';
        } else if (digits > 0 && count < 2 && strchr("/-.", text.text[i]) && text.text[i] &&
                   (separator == '\0' || separator == text.text[i])) {
            separator = text.text[i];
            digits = 0;
            count++;
        } else {
            return false;
        }
    }
    bool is_year_first = part[0] > 31, is_day_first = separator == '.' || part[0] > 12;
    *date = is_year_first  ? (calendar_day){part[0], part[1], part[2]}
            : is_day_first ? (calendar_day){part[2], part[1], part[0]}
                           : (calendar_day){part[2], part[0], part[1]};
    date->year += date->year < 100 ? 2000 : 0;
    return count == 2 && digits > 0 && date->month >= 1 && date->month <= 12 && date->day >= 1 &&
           date->day <= 31;
}

static int days_in_month(const calendar_day *date)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = date->year % 4 == 0 && (date->year % 100 != 0 || date->year % 400 == 0);
    return days[date->month - 1] + (date->month == 2 && is_leap);
}

static void next_day(calendar_day *date)
{
    if (date->day++ < days_in_month(date))
        return;
    date->day = 1;
    if (date->month++ < 12)
        return;
    date->month = 1;
    date->year++;
}

/* 02:57:28, with AM or PM in the next word. Returns how many words it takes; 0: it is not one. */
static size_t parse_time_of_day(const oif_text *words, size_t count, int *second)
{
    if (count == 0 || words[0].bytes != 8 || words[0].text[2] != ':' || words[0].text[5] != ':')
        return 0;
    const char *text = words[0].text;
    for (size_t i = 0; i < 8; i++)
        if (i != 2 && i != 5 && !(text[i] >= '0' && text[i] <= '9'))
            return 0;
    int hour = 10 * (text[0] - '0') + text[1] - '0', minute = 10 * (text[3] - '0') + text[4] - '0';
    bool is_am = count > 1 && text_is(words[1], "AM"), is_pm = count > 1 && text_is(words[1], "PM");
    if (is_am || is_pm)
        hour = hour % 12 + (is_pm ? 12 : 0);
    *second = 3600 * hour + 60 * minute + 10 * (text[6] - '0') + text[7] - '0';
    if (hour > 23 || minute > 59)
        return 0;
    return is_am || is_pm ? 2 : 1;
}

static void write_moment(sysstat_state *state, int second)
{
    const calendar_day *date = &state->today;
    snprintf(state->moment, sizeof state->moment, "%04d-%02d-%02dT%02d:%02d:%02d", date->year,
             date->month, date->day, second / 3600, second / 60 % 60, second % 60);
}

/* After midnight the clock starts again. */
static void take_time_of_day(sysstat_state *state, int second)
{
    if (state->today.year == 0)
        return;
    if (second < state->last_second - 12 * 3600)
        next_day(&state->today);
    state->last_second = second;
    write_moment(state, second);
}

/* ---- Headers ---- */

static void print_names(translator *by, const oif_text *words, size_t count)
{
    sysstat_state *state = by->state;
    state->has_time = state->moment[0] != '\0';
    translator_begin_row(by, by->line);
    if (state->has_time) {
        output_text("time,");
        snprintf(by->implied.time, sizeof by->implied.time, "time");
    }
    table_print_cells(words, count);
    translator_end_row(by);
}

/* Columns that describe a process, besides its numbers. */
static void imply_exclude(translator *by)
{
    static const char *const names[] = {"UID", "CPU", "Command"};
    const sysstat_state *state = by->state;
    char *list = by->implied.exclude;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = strlen(list);
        if (table_has_column(&state->table, names[i]))
            snprintf(list + bytes, IMPLIED_BYTES - bytes, "%s%s", bytes > 0 ? "," : "", names[i]);
    }
}

/* The key: the column that says what a row is about. */
static void imply_key(translator *by)
{
    static const char *const names[] = {"PID",        "IFACE", "DEV",   "Device", "CPU",
                                        "FILESYSTEM", "INTR",  "TTY",   "FAN",    "TEMP",
                                        "IN",         "BUS",   "FCHOST"};
    const sysstat_state *state = by->state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!table_has_column(&state->table, names[i]))
            continue;
        snprintf(by->implied.key, sizeof by->implied.key, "%s", names[i]);
        if (i == 0)
            imply_exclude(by);
        return;
    }
}

static void take_header(translator *by, table_kind kind, const oif_text *words, size_t count)
{
    sysstat_state *state = by->state;
    state->below = kind;
    if (count == 0 || !table_take_header(&state->table, by, words, count))
        return;
    if (state->table.is_other && kind == TIMED_ROWS)
        translator_note(by,
                        "another table, '%.*s ...', is left out; ask sar or pidstat for one table "
                        "at a time (pidstat -h joins them)",
                        (int)(words[0].bytes < 40 ? words[0].bytes : 40), words[0].text);
    if (!state->table.is_first)
        return;
    state->chosen = kind;
    imply_key(by);
    print_names(by, words, count);
}

/* ---- iostat's processors ---- */

/* Prints iostat's line of processors as a row. It is one only if no devices follow, as with
 * iostat -c, which shows at the second header. */
static void release_held(translator *by)
{
    sysstat_state *state = by->state;
    oif_text words[TABLE_COLUMNS_MAX];
    size_t count = translator_words((oif_text){state->held_names, strlen(state->held_names)}, words,
                                    TABLE_COLUMNS_MAX);
    uint64_t line = by->line;
    if (state->held_line < 2) /* there is no line of numbers */
        return;
    by->line = state->held_line - 1;
    take_header(by, CPU_ROWS, words, count);
    by->line = line;
    translator_begin_row(by, state->held_line);
    output_text(state->held);
    translator_end_row(by);
    state->held_line = 0;
}

static void take_cpu_header(translator *by, const oif_text *words, size_t count)
{
    sysstat_state *state = by->state;
    size_t bytes = 0;
    if (state->chosen == NO_TABLE && state->held_line > 0)
        release_held(by);
    state->below = CPU_ROWS;
    if (state->chosen != NO_TABLE)
        return;
    for (size_t i = 0; i < count && bytes + words[i].bytes + 2 < sizeof state->held_names; i++)
        bytes += (size_t)snprintf(state->held_names + bytes, sizeof state->held_names - bytes,
                                  "%.*s ", (int)words[i].bytes, words[i].text);
}

static void hold_row(translator *by, const oif_text *words, size_t count)
{
    sysstat_state *state = by->state;
    size_t bytes;
    output_divert();
    if (state->moment[0] != '\0')
        output_print("%s,", state->moment);
    table_print_cells(words, count);
    char *text = output_diverted(&bytes);
    state->held_line = text && bytes < sizeof state->held ? by->line : 0;
    if (state->held_line > 0) {
        memcpy(state->held, text, bytes);
        state->held[bytes] = '\0';
    }
    free(text);
}

/* ---- Lines ---- */

static void take_row(translator *by, table_kind kind, oif_text line, size_t words_before)
{
    sysstat_state *state = by->state;
    oif_text words[TABLE_COLUMNS_MAX];
    /* the last column, if it is a command, may have blanks in it */
    bool ends_with_command = table_has_column(&state->table, "Command");
    size_t most = ends_with_command ? state->table.columns + words_before : TABLE_COLUMNS_MAX;
    size_t count = translator_words(line, words, most);
    if (kind == CPU_ROWS && state->chosen == NO_TABLE) {
        hold_row(by, words, count);
        return;
    }
    if (state->chosen != kind || state->below != kind || state->table.is_other)
        return;
    translator_begin_row(by, by->line);
    if (state->has_time)
        output_print("%s,", state->moment);
    table_print_cells(words + words_before, count - words_before);
    translator_end_row(by);
}

static bool has_number(const oif_text *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = words[i].text;
        size_t sign = words[i].bytes > 1 && *text == '-';
        if (text[sign] >= '0' && text[sign] <= '9')
            return true;
    }
    return false;
}

/* "Linux 6.1.0 (web-1) 11/18/26 _x86_64_ (2 CPU)": the date. */
static void take_banner(sysstat_state *state, const oif_text *words, size_t count)
{
    for (size_t i = 3; i < count; i++) {
        calendar_day date;
        if (!parse_date(words[i], &date))
            continue;
        state->today = date;
        state->last_second = 0;
    }
}

/* iostat -t: a date and a time, or both in ISO 8601, and nothing else. */
static bool take_moment(sysstat_state *state, const oif_text *words, size_t count)
{
    calendar_day date;
    int second;
    if (count == 1 && words[0].bytes >= 19 && words[0].bytes < sizeof state->moment &&
        words[0].text[10] == 'T' && parse_date((oif_text){words[0].text, 10}, &date)) {
        snprintf(state->moment, sizeof state->moment, "%.*s", (int)words[0].bytes, words[0].text);
        return true;
    }
    if (count < 2 || !parse_date(words[0], &date))
        return false;
    size_t used = parse_time_of_day(words + 1, count - 1, &second);
    if (used == 0 || used + 1 != count)
        return false;
    state->today = date;
    write_moment(state, second);
    return true;
}

static bool is_ignored(oif_text line, const oif_text *words, size_t count)
{
    return count == 0 || text_is(words[0], "Average:") || text_begins(words[0], "Summary") ||
           (count > 2 && text_has(line, "RESTART"));
}

static void take_timed(translator *by, oif_text line, const oif_text *words, size_t count,
                       size_t time_words)
{
    bool is_row = has_number(words + time_words, count - time_words);
    if (is_row)
        take_row(by, TIMED_ROWS, line, time_words);
    else
        take_header(by, TIMED_ROWS, words + time_words, count - time_words);
}

static void take_line(translator *by, oif_text line)
{
    sysstat_state *state = by->state;
    oif_text words[TABLE_COLUMNS_MAX];
    size_t count = translator_words(line, words, TABLE_COLUMNS_MAX), time_words;
    int second = 0;
    if (is_ignored(line, words, count) || take_moment(state, words, count))
        return;
    if (text_is(words[0], "Linux") && count > 3) {
        take_banner(state, words, count);
    } else if ((time_words = parse_time_of_day(words, count, &second)) > 0) {
        take_time_of_day(state, second);
        take_timed(by, line, words, count, time_words);
    } else if (text_is(words[0], "#") && count > 2) { /* pidstat -h: # Time UID ... */
        if (state->moment[0] == '\0' && state->today.year > 0)
            write_moment(state, 0); /* a row has its own */
        take_header(by, TIMED_ROWS, words + 2, count - 2);
    } else if (text_begins(words[0], "avg-cpu:")) {
        take_cpu_header(by, words + 1, count - 1);
    } else if (text_is(words[0], "Device") || text_is(words[0], "Device:")) {
        words[0].bytes = strlen("Device");
        take_header(by, DEVICE_ROWS, words, count);
    } else {
        take_row(by, state->below == NO_TABLE ? DEVICE_ROWS : state->below, line, 0);
    }
}

static void take_end(translator *by)
{
    const sysstat_state *state = by->state;
    if (state->chosen == NO_TABLE)
        release_held(by);
}

static bool recognise(const char *text, size_t bytes)
{
    const char *newline = memchr(text, '\n', bytes);
    oif_text words[16], line = {text, newline ? (size_t)(newline - text) : bytes};
    size_t count = newline ? translator_words(line, words, 16) : 0;
    calendar_day date;
    return count > 3 && text_is(words[0], "Linux") && words[2].text[0] == '(' &&
           (parse_date(words[3], &date) || (count > 4 && parse_date(words[4], &date)));
}

const translation format_sysstat = {.word = "sysstat",
                                    .what = "a table of sysstat",
                                    .writes = OIF_FORMAT_CSV,
                                    .delimiter = ',',
                                    .state_bytes = sizeof(sysstat_state),
                                    .recognise = recognise,
                                    .line = take_line,
                                    .end = take_end};
