/* oif demo: streams whose anomalies are known, to try detectors on.
 *
 * Rows are made one at a time from the seed, so there may be any number of them. The same seed
 * gives the same bytes on every machine: random numbers are our own, all else is + - * / and
 * sqrt, which IEEE 754 defines to the last bit, and numbers are printed with a fixed number of
 * decimals. */
#include "commands.h"
#include "front/text/durations.h"
#include "pump.h"
#include "stream_random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_DAY = 48, FAULT_ROWS = 12, PUMP_FAULT_ROWS = 10 };

typedef struct stream_kind stream_kind;

typedef struct synthetic_stream {
    const stream_kind *kind;
    uint64_t rows;
    size_t columns;
    double share; /* the share of anomalous rows */
    uint64_t random;
    uint64_t groups_left, anomalous_groups_left;
    bool is_anomalous; /* the current group */
    double *values;    /* the current row */
    char *line;        /* and its text */

    int fault; /* seasonal: the kind of fault; pump: the faults so far */
    size_t faulty_column;
    double stuck_at;
    bool is_running; /* pump */
    double faulty_reading[PUMP_COLUMNS];
} synthetic_stream;

struct stream_kind {
    const char *name;
    uint64_t rows; /* the default, as are columns and share */
    size_t columns;
    double share;
    uint64_t group_rows; /* anomalies come in groups of this many rows */
    int decimals;
    /* NULL: x0, x1, ... With names the columns are fixed, and a row begins with its time. */
    const char *const *names;
    void (*make_row)(synthetic_stream *stream, uint64_t row);
};

/* ---- seasonal: a day like the others, or not ---- */

enum { STUCK, LATE, SURGE, FAULT_KINDS };

/* Lowest at the end of the night, a step at noon, highest in the evening; each column a little
 * earlier. */
static double usual_reading(uint64_t row, size_t column)
{
    double phase = (double)((row + column * 4) % ROWS_PER_DAY) / ROWS_PER_DAY;
    double twice = phase < 0.5 ? 2 * phase : 2 * phase - 1;
    return 100 + 10 * (double)(column % 10) + 30 * stream_wave(phase) + 12 * stream_wave(twice);
}

static double faulty_reading(const synthetic_stream *stream, uint64_t row)
{
    switch (stream->fault) {
    case STUCK: return stream->stuck_at;
    case LATE: /* by half a day: each number is usual, but not at this hour */
        return usual_reading(row + ROWS_PER_DAY / 2, stream->faulty_column);
    default: return 1.5 * usual_reading(row, stream->faulty_column);
    }
}

static void choose_fault(synthetic_stream *stream, uint64_t row)
{
    uint64_t bits = stream_random_bits(&stream->random);
    stream->fault = (int)(bits % FAULT_KINDS);
    stream->faulty_column = (size_t)(bits / FAULT_KINDS % stream->columns);
    stream->stuck_at = usual_reading(row, stream->faulty_column);
}

static void make_seasonal_row(synthetic_stream *stream, uint64_t row)
{
    if (stream->is_anomalous && row % FAULT_ROWS == 0)
        choose_fault(stream, row);
    for (size_t i = 0; i < stream->columns; i++) {
        double noise = 3 * stream_random_noise(&stream->random);
        bool is_faulty = stream->is_anomalous && i == stream->faulty_column;
        stream->values[i] = is_faulty ? faulty_reading(stream, row) : usual_reading(row, i);
        if (!is_faulty || stream->fault != STUCK)
            stream->values[i] += noise;
    }
}

/* ---- pump: two weeks of readings, with faults of ten minutes ---- */

static void make_pump_row(synthetic_stream *stream, uint64_t row)
{
    if (stream->is_anomalous && row % PUMP_FAULT_ROWS == 0)
        pump_read_fault(stream->faulty_reading, pump_fault_at(stream->fault++), &stream->random);
    pump_switch(&stream->is_running, &stream->random);
    if (stream->is_anomalous) {
        memcpy(stream->values, stream->faulty_reading, sizeof stream->faulty_reading);
        pump_add_noise(stream->values, &stream->random);
        return;
    }
    double wear = (double)row / (double)stream->rows;
    pump_read(stream->values, row, wear, stream->is_running, &stream->random);
}

/* ---- The stream ---- */

static const stream_kind kinds[] = {
    {"pump", PUMP_ROWS, PUMP_COLUMNS, 0.004, PUMP_FAULT_ROWS, 2, pump_column_names, make_pump_row},
    {"seasonal", 10080, 1, 0.02, FAULT_ROWS, 4, NULL, make_seasonal_row},
};

static const char *const kind_names[] = {"pump", "seasonal", NULL};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* Draws which of the remaining groups are anomalous: the share is exact, and needs no memory. */
static void begin_group(synthetic_stream *stream)
{
    double draw = stream_random_uniform(&stream->random) * (double)stream->groups_left;
    stream->is_anomalous = draw < (double)stream->anomalous_groups_left;
    if (stream->is_anomalous)
        stream->anomalous_groups_left--;
    if (stream->groups_left > 0)
        stream->groups_left--;
}

enum { NUMBER_BYTES = 24 };

/* "-12.3456,": rounded to a whole number of units in the last place, so differences between
 * machines in the last bit of `value` do not show. */
static char *put_number(char *to, double value, int decimals)
{
    int64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    int64_t units = (int64_t)(value * (double)scale + (value < 0 ? -0.5 : 0.5));
    const char *sign = units < 0 ? "-" : "";
    units = units < 0 ? -units : units;
    return to + sprintf(to, "%s%" PRId64 ".%0*" PRId64 ",", sign, units / scale, decimals,
                        units % scale);
}

/* A row per minute from the start of 2026 on. */
static bool write_time(uint64_t row)
{
    const double start = 1767225600;
    char text[MOMENT_TEXT_BYTES];
    return output_print("%s,", moment_text(start + 60 * (double)row, text));
}

static bool write_row(synthetic_stream *stream, uint64_t row)
{
    char *end = stream->line;
    for (size_t i = 0; i < stream->columns; i++)
        end = put_number(end, stream->values[i], stream->kind->decimals);
    *end++ = stream->is_anomalous ? '1' : '0';
    *end++ = '\n';
    return (!stream->kind->names || write_time(row)) &&
           output_write(stream->line, (size_t)(end - stream->line));
}

static bool write_header(const synthetic_stream *stream)
{
    const char *const *names = stream->kind->names;
    if (names)
        output_print("time,");
    for (size_t i = 0; i < stream->columns; i++)
        names ? output_print("%s,", names[i]) : output_print("x%zu,", i);
    return output_print("label\n");
}

static bool write_stream(synthetic_stream *stream)
{
    if (!write_header(stream))
        return false;
    for (uint64_t row = 0; row < stream->rows; row++) {
        if (row % stream->kind->group_rows == 0)
            begin_group(stream);
        stream->kind->make_row(stream, row);
        if (!write_row(stream, row))
            return false;
    }
    return true;
}

static synthetic_stream describe_stream(const stream_kind *kind, const generate_settings *asked)
{
    synthetic_stream stream = {.kind = kind, .is_running = true};
    stream.rows = asked->rows ? asked->rows : kind->rows;
    stream.columns = asked->columns ? (size_t)asked->columns : kind->columns;
    stream.share = asked->is_share_given ? asked->share : kind->share;
    stream.random = asked->seed;
    stream.groups_left = stream.rows / kind->group_rows;
    stream.anomalous_groups_left =
        (uint64_t)(stream.share * (double)stream.rows / (double)kind->group_rows + 0.5);
    if (stream.anomalous_groups_left > stream.groups_left)
        stream.anomalous_groups_left = stream.groups_left;
    return stream;
}

static exit_code generate(const stream_kind *kind, const generate_settings *asked)
{
    if (kind->names && asked->columns && asked->columns != kind->columns)
        return complain(EXIT_USAGE, "--columns: %s always has %zu columns; leave --columns out",
                        kind->name, kind->columns);
    synthetic_stream stream = describe_stream(kind, asked);
    exit_code code = EXIT_OK;
    stream.values = calloc(stream.columns, sizeof *stream.values);
    stream.line = malloc(stream.columns * NUMBER_BYTES + 2);
    if (stream.values && stream.line)
        write_stream(&stream); /* output_finish reports what goes wrong */
    else
        code = complain(EXIT_FAILED, "out of memory");
    free(stream.values);
    free(stream.line);
    return code;
}

exit_code demo_run(const run_settings *settings)
{
    if (!settings->file)
        return demo_show(settings);
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(settings->file, kinds[i].name) == 0)
            return generate(&kinds[i], &settings->generate);
    return complain(EXIT_USAGE, "there is no stream '%s'; KIND is pump or seasonal",
                    settings->file);
}

/* ---- The command line ---- */

static const char *set_share(run_settings *settings, const char *value)
{
    const char *end = value + strlen(value);
    double *share = &settings->generate.share;
    settings->generate.is_share_given = true;
    return oif_number_parse(value, end, share) == end && *share >= 0 && *share <= 0.5
               ? NULL
               : "a share from 0 to 0.5";
}

static const option_entry options[] = {
    {"rows", OPTION_COUNT, SETTING(generate.rows), GROUP_STREAM,
     .brief = "how many rows (default 10080; pump 20160)", .argument = "N", .from = 1, .to = 0x1p53,
     .range = "1 to 2^53"},
    {"seed", OPTION_COUNT, SETTING(generate.seed), GROUP_STREAM,
     .brief = "another stream of the same kind (default 0)",
     .help = "each seed gives another stream of the same kind (default 0)", .argument = "S",
     .from = 0, .to = 0x1p53, .range = "0 to 2^53"},
    {"columns", OPTION_COUNT, SETTING(generate.columns), GROUP_STREAM,
     .brief = "number of columns (default 1; pump has 3)", .argument = "D", .from = 1, .to = 10000,
     .range = "1 to 10000"},
    {"anomalies", OPTION_APPLY, SETTING(generate.share), GROUP_STREAM,
     .brief = "share of anomalous rows (default 0.02; pump 0.004)", .argument = "SHARE",
     .apply = set_share},
};

const command_entry demo_command = {
    .name = "demo",
    .summary = "score an embedded stream and show what was found; or print one",
    .usage = "demo [KIND] [OPTION...]",
    .examples = "  oif demo                           two weeks of a pump, with planted faults,\n"
                "                                     and which of them are found\n"
                "  oif demo pump > pump.csv           the stream: one row per minute, label is\n"
                "                                     1 in faults and else 0\n"
                "  oif demo seasonal --columns 3      sensors with a daily pattern, 48 rows\n"
                "                                     per day; now and then one is stuck,\n"
                "                                     half a day late or too high for 12 rows\n"
                "  oif demo seasonal --rows 1e6 | oif eval --label label\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .words = kind_names,
};
