/* How fast text becomes rows and scores become text, and what share of `oif score` that is.
 *
 *     bench_text [--json] [--repeats N] [FILE.csv]
 *
 * First, megabytes per second of the reader on synthetic files: CSV of short numbers and of 17
 * digits, compared with strtod on the same numbers; NDJSON like logs, dense and with the blanks of
 * Python's json.dumps, compared with memcpy; and of printing. Nanoseconds per ISO 8601 time. Then
 * the three phases of `oif score` (parse, learn and score, print), one after the other over the
 * same rows: those of the file (only numbers, lines that end in \n), or else synthetic ones like
 * the Http data set. Everything is in memory, so no disk is timed; processor time, best of N. */
#include "stopwatch.h"

#include <oif_rows.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16 << 20, HTTP_ROWS = 200000, HTTP_COLUMNS = 3, COLUMNS = 8 };

static _Noreturn void die(const char *format, ...)
{
    va_list arguments;

    fputs("bench_text: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        die("out of memory");
    return memory;
}

/* ---- Text in memory ---- */

typedef struct text {
    char *bytes;
    size_t count, capacity;
} text;

static text text_new(size_t capacity)
{
    return (text){.bytes = allocate(capacity), .capacity = capacity};
}

static void text_add(text *to, const char *bytes, size_t count)
{
    if (count > to->capacity - to->count)
        die("a text grew past its %zu bytes", to->capacity);
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

static text text_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0)
        die("cannot read %s", path);
    rewind(file);
    text loaded = text_new((size_t)bytes);
    loaded.count = fread(loaded.bytes, 1, (size_t)bytes, file);
    if (loaded.count != (size_t)bytes)
        die("cannot read %s", path);
    fclose(file);
    return loaded;
}

/* ---- Synthetic files ---- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* For example 7, 348, 12.5, -0.25. */
static size_t short_number(uint64_t *random, char *field, size_t size)
{
    static const double parts[] = {1, 1, 10, 100};
    uint64_t bits = next_random(random);
    double value = (double)(bits % 2000) / parts[bits >> 62] - (bits >> 61 & 1 ? 100 : 0);

    return (size_t)snprintf(field, size, "%.10g", value);
}

/* For example 0.84442185152504812, -13.775671418259417. */
static size_t long_number(uint64_t *random, char *field, size_t size)
{
    static const double scales[] = {1, -1, 20, -1000};
    uint64_t bits = next_random(random);
    double value = ((double)(bits >> 11) * 0x1p-53 + 0.1) * scales[bits & 3];

    return (size_t)snprintf(field, size, "%.17g", value);
}

typedef size_t (*number_maker)(uint64_t *random, char *field, size_t size);

static text make_csv(number_maker make_number)
{
    text csv = text_new(TEXT_BYTES);
    uint64_t random = 11;

    while (csv.count + COLUMNS * (OIF_NUMBER_TEXT_BYTES + 1) <= TEXT_BYTES)
        for (int column = 1; column <= COLUMNS; column++) {
            char field[OIF_NUMBER_TEXT_BYTES + 1];
            size_t length = make_number(&random, field, sizeof field);
            field[length] = column < COLUMNS ? ',' : '\n';
            text_add(&csv, field, length + 1);
        }
    return csv;
}

/* Lines such as
 * {"time":"2024-06-01T07:37:34.133Z","host":"web-23","path":"/login","status":304,"bytes":82014,
 * "latency_ms":17.39,"cpu":0.606,"cached":false}; `blank` follows each colon and comma. */
static text make_log(const char *blank)
{
    static const char *const paths[] = {"/", "/login", "/api/v1/items", "/static/app.js"};
    static const int statuses[] = {200, 200, 200, 304, 404, 500, 200, 200};
    text log = text_new(TEXT_BYTES);
    uint64_t random = 19;

    for (;;) {
        char line[512], latency[OIF_NUMBER_TEXT_BYTES], cpu[OIF_NUMBER_TEXT_BYTES];
        uint64_t bits = next_random(&random), more = next_random(&random);
        int latency_bytes = (int)oif_number_format((double)(more % 10000) / 100, latency);
        int cpu_bytes = (int)oif_number_format((double)(more >> 20 & 1023) / 1000, cpu);
        int length = snprintf(
            line, sizeof line,
            "{\"time\":%s\"2024-06-01T%02u:%02u:%02u.%03uZ\",%s\"host\":%s\"web-%u\",%s\"path\":%"
            "s\"%s\",%s"
            "\"status\":%s%d,%s\"bytes\":%s%u,%s\"latency_ms\":%s%.*s,%s\"cpu\":%s%.*s,%"
            "s\"cached\":%s%s}\n",
            blank, (unsigned)(bits & 15), (unsigned)(bits >> 4 & 31), (unsigned)(bits >> 9 & 31),
            (unsigned)(bits >> 14 & 511), blank, blank, (unsigned)(bits >> 23 & 63), blank, blank,
            paths[bits >> 29 & 3], blank, blank, statuses[bits >> 31 & 7], blank, blank,
            (unsigned)(bits >> 47), blank, blank, latency_bytes, latency, blank, blank, cpu_bytes,
            cpu, blank, blank, bits >> 34 & 1 ? "true" : "false");
        if (log.count + (size_t)length > TEXT_BYTES)
            return log;
        text_add(&log, line, (size_t)length);
    }
}

/* Like the Http data set: logarithms of a duration (mostly 0), of the bytes sent and received, plus
 * 0.1. */
static text make_http_like(void)
{
    text csv = text_new(HTTP_ROWS * HTTP_COLUMNS * (OIF_NUMBER_TEXT_BYTES + 1));
    uint64_t random = 13;

    for (size_t i = 0; i < HTTP_ROWS; i++)
        for (int column = 1; column <= HTTP_COLUMNS; column++) {
            uint64_t bits = next_random(&random);
            uint64_t amount =
                column == 1 ? (bits % 20 == 0) * (bits >> 60) : 100 + (bits >> (bits % 8 + 50));
            char field[OIF_NUMBER_TEXT_BYTES + 1];
            size_t length = oif_number_format(log((double)amount + 0.1), field);
            field[length] = column < HTTP_COLUMNS ? ',' : '\n';
            text_add(&csv, field, length + 1);
        }
    return csv;
}

/* ---- Reading ---- */

typedef struct source {
    const text *from;
    size_t position;
} source;

static ptrdiff_t read_source(void *context, char *buffer, size_t capacity)
{
    source *s = context;
    size_t left = s->from->count - s->position, count = left < capacity ? left : capacity;

    memcpy(buffer, s->from->bytes + s->position, count);
    s->position += count;
    return (ptrdiff_t)count;
}

typedef struct table {
    double *values;                     /* NULL: only add them up */
    size_t *text_bytes;                 /* the length of each row's line, or NULL */
    size_t rows, columns, header_bytes; /* of the header with its line end, 0 without one */
    double sum;                         /* keeps compilers from removing the reading */
} table;

/* Reads all of `from`; times what a program that wants the rows must do. */
static timing read_csv(const text *from, table *into)
{
    source s = {.from = from};
    timing started = stopwatch_start();
    oif_reader *reader = NULL;
    oif_record record;
    oif_error error;
    oif_status status = oif_reader_open(&(oif_reader_options){0}, read_source, &s, &reader, &error);

    if (status != OIF_OK)
        die("%s", status == OIF_END ? "the file is empty" : error.message);
    into->columns = oif_reader_column_count(reader);
    oif_reader_header_text(reader, &into->header_bytes);
    into->header_bytes += oif_reader_has_header(reader);
    into->rows = 0;
    into->sum = 0;
    while ((status = oif_reader_next(reader, &record, &error)) == OIF_OK) {
        if (into->values)
            memcpy(into->values + into->rows * into->columns, record.values,
                   into->columns * sizeof(double));
        if (into->text_bytes)
            into->text_bytes[into->rows] = record.text_bytes;
        into->sum += record.values[0];
        into->rows++;
    }
    if (status != OIF_END)
        die("line %llu: %s", (unsigned long long)error.line, error.message);
    oif_reader_close(reader);
    return stopwatch_stop(started);
}

/* Reads all records of a log: five numbers, and two columns as texts. */
static timing read_log(const text *from, double *sum)
{
    static const char *const names[] = {"status", "bytes", "latency_ms", "cpu",
                                        "cached", "time",  "host"};
    enum { VALUES = 5, TEXTS = 2 };
    source s = {.from = from};
    timing started = stopwatch_start();
    oif_reader *reader = NULL;
    oif_record record;
    oif_error error;
    size_t columns[VALUES + TEXTS];
    oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
    oif_status status = oif_reader_open(&options, read_source, &s, &reader, &error);

    for (size_t i = 0; i < VALUES + TEXTS && status == OIF_OK; i++)
        status = oif_reader_find_column(reader, names[i], &columns[i], &error);
    if (status == OIF_OK)
        status = oif_reader_select(reader, columns, VALUES, &error);
    if (status == OIF_OK)
        status = oif_reader_select_texts(reader, columns + VALUES, TEXTS, &error);
    while (status == OIF_OK && (status = oif_reader_next(reader, &record, &error)) == OIF_OK)
        *sum += record.values[2] + (double)record.texts[0].bytes;
    if (status != OIF_END)
        die("line %llu: %s", (unsigned long long)error.line, error.message);
    oif_reader_close(reader);
    return stopwatch_stop(started);
}

/* The cost of the source alone. */
static timing copy_pieces(const text *from, double *sum)
{
    static char buffer[1 << 16];
    source s = {.from = from};
    timing started = stopwatch_start();

    while (read_source(&s, buffer, sizeof buffer) > 0)
        *sum += buffer[0];
    return stopwatch_stop(started);
}

/* The cost in libc for the same numbers, without any checks: every field is followed by one
 * byte. */
static timing read_with_strtod(const text *from, double *sum)
{
    timing started = stopwatch_start();
    char *at = from->bytes, *end = from->bytes + from->count;

    while (at < end) {
        *sum += strtod(at, &at);
        at++;
    }
    return stopwatch_stop(started);
}

/* Reads every line as a time. */
static timing read_times(const text *from, double *sum)
{
    timing started = stopwatch_start();
    const char *at = from->bytes, *end = from->bytes + from->count;
    oif_time_format format = {0};
    double seconds = 0;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (oif_time_parse(&format, at, (size_t)(newline - at), &seconds, NULL) != OIF_OK)
            die("not a time: %.*s", (int)(newline - at), at);
        *sum += seconds;
        at = newline + 1;
    }
    return stopwatch_stop(started);
}

/* ---- Printing ---- */

static timing print_numbers(const double *values, size_t count, text *into)
{
    timing started = stopwatch_start();

    into->count = 0;
    for (size_t i = 0; i < count; i++) {
        char field[OIF_NUMBER_TEXT_BYTES + 1];
        size_t length = oif_number_format(values[i], field);
        field[length] = '\n';
        text_add(into, field, length + 1);
    }
    return stopwatch_stop(started);
}

static timing print_with_snprintf(const double *values, size_t count, text *into)
{
    timing started = stopwatch_start();

    into->count = 0;
    for (size_t i = 0; i < count; i++) {
        char field[OIF_NUMBER_TEXT_BYTES + 1];
        text_add(into, field, (size_t)snprintf(field, sizeof field, "%.17g\n", values[i]));
    }
    return stopwatch_stop(started);
}

/* Like oif score: the original line, a comma, the score; collected in pieces of 64 KiB, as in
 * front/text/output.c. */
static timing print_scored(FILE *to, const text *from, const table *rows, const double *scores)
{
    enum { PIECE_BYTES = 1 << 16 };
    static char piece[PIECE_BYTES];
    timing started = stopwatch_start();
    const char *line = from->bytes + rows->header_bytes;
    size_t used = 0;

    for (size_t i = 0; i < rows->rows; i++) {
        size_t most = rows->text_bytes[i] + OIF_NUMBER_TEXT_BYTES + 2;
        if (most > PIECE_BYTES - used) {
            if (most > PIECE_BYTES || fwrite(piece, 1, used, to) != used)
                die("cannot print row %zu", i);
            used = 0;
        }
        memcpy(piece + used, line, rows->text_bytes[i]);
        used += rows->text_bytes[i];
        piece[used++] = ',';
        used += oif_number_format(scores[i], piece + used);
        piece[used++] = '\n';
        line += rows->text_bytes[i] + 1;
    }
    if (fwrite(piece, 1, used, to) != used || fflush(to) != 0)
        die("cannot write to /dev/null");
    return stopwatch_stop(started);
}

/* ---- The benchmarks ---- */

typedef struct settings {
    bool json;
    int repeats;
    const char *csv_path;
} settings;

static void report_rate(const settings *s, const char *what, size_t bytes, timing ours,
                        timing libc_taken, const char *libc_function, double bar)
{
    double rate = 1e-6 * (double)bytes / ours.cpu_seconds,
           libc_rate = 1e-6 * (double)bytes / libc_taken.cpu_seconds;

    if (s->json) {
        printf(" {\"what\": \"%s\", \"mb_per_second\": %.1f, \"%s_mb_per_second\": %.1f, \"bar\": "
               "%g},\n",
               what, rate, libc_function, libc_rate, bar);
        return;
    }
    printf("%-34s %7.0f MB/s, %s %.0f MB/s", what, rate, libc_function, libc_rate);
    if (bar > 0)
        printf("; bar %g: %s", bar, rate >= bar ? "met" : "MISSED");
    printf("\n");
}

/* Times of a stream with a row every 0.7 seconds. */
enum { TIMES = 400000, TIME_BYTES = 40 };

static text make_times(const char *zone)
{
    text times = text_new((size_t)TIMES * TIME_BYTES);

    for (int i = 0; i < TIMES; i++) {
        char line[TIME_BYTES];
        int second = (int)(i * 0.7), day = second / 86400;
        int length = snprintf(line, sizeof line, "2026-11-%02dT%02d:%02d:%02d%s\n", day + 1,
                              second / 3600 % 24, second / 60 % 60, second % 60, zone);
        text_add(&times, line, (size_t)length);
    }
    return times;
}

static void benchmark_times(const settings *s, const char *what, text times, double bar)
{
    timing best = {HUGE_VAL, HUGE_VAL};
    double sum = 0;

    for (int i = 0; i < s->repeats; i++)
        best = timing_best(best, read_times(&times, &sum));
    double nanoseconds = 1e9 * best.cpu_seconds / TIMES;
    if (s->json)
        printf(" {\"what\": \"%s\", \"ns_per_row\": %.1f, \"bar\": %g, \"sum\": %g},\n", what,
               nanoseconds, bar, sum);
    else
        printf("%-34s %7.1f ns per row; bar %g: %s\n", what, nanoseconds, bar,
               nanoseconds <= bar ? "met" : "MISSED");
    free(times.bytes);
}

static void benchmark_reading(const settings *s, const char *what, number_maker make_number,
                              double bar)
{
    text csv = make_csv(make_number);
    timing ours = {HUGE_VAL, HUGE_VAL}, libc_taken = ours;

    for (int i = 0; i < s->repeats; i++) {
        table rows = {0};
        double sum = 0;
        ours = timing_best(ours, read_csv(&csv, &rows));
        libc_taken = timing_best(libc_taken, read_with_strtod(&csv, &sum));
        if (!isfinite(rows.sum) || !isfinite(sum))
            die("the numbers of the file do not add up");
    }
    report_rate(s, what, csv.count, ours, libc_taken, "strtod", bar);
    free(csv.bytes);
}

typedef timing (*text_reader)(const text *from, double *sum);

static void benchmark_format(const settings *s, const char *what, text from, text_reader read,
                             double bar)
{
    timing ours = {HUGE_VAL, HUGE_VAL}, copying = ours;

    for (int i = 0; i < s->repeats; i++) {
        double sum = 0;
        ours = timing_best(ours, read(&from, &sum));
        copying = timing_best(copying, copy_pieces(&from, &sum));
        if (!isfinite(sum))
            die("the numbers do not add up");
    }
    report_rate(s, what, from.count, ours, copying, "memcpy", bar);
    free(from.bytes);
}

static void benchmark_printing(const settings *s)
{
    enum { COUNT = 500000 };
    double *values = allocate(COUNT * sizeof *values);
    text printed = text_new(COUNT * (OIF_NUMBER_TEXT_BYTES + 1));
    timing ours = {HUGE_VAL, HUGE_VAL}, libc_taken = ours;
    uint64_t random = 17;
    size_t bytes = 0;

    for (size_t i = 0; i < COUNT; i++)
        values[i] = (double)(next_random(&random) >> 11) * 0x1p-53;
    for (int i = 0; i < s->repeats; i++) {
        ours = timing_best(ours, print_numbers(values, COUNT, &printed));
        bytes = printed.count;
        libc_taken = timing_best(libc_taken, print_with_snprintf(values, COUNT, &printed));
    }
    report_rate(s, "print doubles in [0, 1)", bytes, ours, libc_taken, "snprintf", 0);
    free(values);
    free(printed.bytes);
}

static timing score_rows(const table *rows, double *scores)
{
    oif_detector *detector = NULL;
    oif_params params;
    oif_error error;
    oif_status status = oif_params_init(&params, "online-iforest", &error);

    if (status == OIF_OK)
        status = oif_detector_new(&params, rows->columns, &detector, &error);
    timing started = stopwatch_start(), taken;
    for (size_t i = 0; i < rows->rows && status == OIF_OK; i++)
        status = oif_detector_learn_score(detector, rows->values + i * rows->columns, &scores[i],
                                          &error);
    taken = stopwatch_stop(started);
    if (status != OIF_OK)
        die("%s", error.message);
    oif_detector_free(detector);
    return taken;
}

static void benchmark_phases(const settings *s)
{
    static char buffer[1 << 16];
    text csv = s->csv_path ? text_load(s->csv_path) : make_http_like();
    table rows = {0};
    timing parsing = {HUGE_VAL, HUGE_VAL}, scoring = parsing, printing = parsing;
    FILE *nowhere = fopen("/dev/null", "w");

    if (!nowhere || setvbuf(nowhere, buffer, _IOFBF, sizeof buffer) != 0)
        die("cannot open /dev/null");
    read_csv(&csv, &rows); /* to count them */
    rows.values = allocate(rows.rows * rows.columns * sizeof *rows.values);
    rows.text_bytes = allocate(rows.rows * sizeof *rows.text_bytes);
    double *scores = allocate(rows.rows * sizeof *scores);
    for (int i = 0; i < s->repeats; i++) {
        parsing = timing_best(parsing, read_csv(&csv, &rows));
        scoring = timing_best(scoring, score_rows(&rows, scores));
        printing = timing_best(printing, print_scored(nowhere, &csv, &rows, scores));
    }

    double n = (double)rows.rows;
    double parse = 1e9 * parsing.cpu_seconds / n, score = 1e9 * scoring.cpu_seconds / n;
    double print = 1e9 * printing.cpu_seconds / n, ratio = (parse + print) / score;
    const char *name = s->csv_path ? s->csv_path : "made up like Http";
    if (s->json)
        printf(" {\"what\": \"phases of oif score\", \"file\": \"%s\", \"rows\": %zu, "
               "\"parse_ns_per_row\": "
               "%.1f, "
               "\"score_ns_per_row\": %.1f, \"print_ns_per_row\": %.1f, \"text_to_scoring\": %.3f, "
               "\"bar\": "
               "0.35}\n",
               name, rows.rows, parse, score, print, ratio);
    else
        printf("oif score on %s (%zu rows of %zu): a row takes %.0f ns to parse, %.0f to learn and "
               "score, "
               "%.0f to print; "
               "parsing and printing take %.2f of the scoring; bar 0.35: %s\n",
               name, rows.rows, rows.columns, parse, score, print, ratio,
               ratio <= 0.35 ? "met" : "MISSED");
    fclose(nowhere);
    free(scores);
    free(rows.text_bytes);
    free(rows.values);
    free(csv.bytes);
}

int main(int argc, char **argv)
{
    settings s = {.repeats = 5};

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            s.json = true;
        else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            s.repeats = atoi(argv[++i]);
        else if (argv[i][0] != '-' && !s.csv_path)
            s.csv_path = argv[i];
        else
            die("usage: bench_text [--json] [--repeats N] [FILE.csv]");
    if (s.json)
        printf("[\n");
    benchmark_reading(&s, "read CSV of short numbers", short_number, 350);
    benchmark_reading(&s, "read CSV of 17 digits", long_number, 500);
    benchmark_format(&s, "read NDJSON, dense", make_log(""), read_log, 250);
    benchmark_format(&s, "read NDJSON with blanks", make_log(" "), read_log, 250);
    benchmark_times(&s, "read times, ISO 8601", make_times(""), 30);
    benchmark_times(&s, "read times with fraction and zone", make_times(".250+01:00"), 30);
    benchmark_printing(&s);
    benchmark_phases(&s);
    if (s.json)
        printf("]\n");
    return 0;
}
