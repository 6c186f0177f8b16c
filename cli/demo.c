/* oif demo: two weeks of a pump, one reading per minute, with planted faults, scored as it
 * arrives.
 *
 * The pump switches between two states, running and standby, so its readings form two clusters.
 * Both follow the hour of the day and drift as the pump wears, so what is normal moves. The
 * stream is made here, with nothing but + - * /, so it is the same everywhere. */
#include "chart.h"
#include "clock.h"
#include "options.h"
#include "progress.h"
#include "roc.h"
#include "stream_random.h"

#include <stdlib.h>

enum { DAYS = 14, ROWS_PER_DAY = 24 * 60, ROWS = DAYS * ROWS_PER_DAY, COLUMNS = 3, TOP_ROWS = 10 };

/* What can go wrong, and where the readings then lie. */
typedef struct pump_fault {
    const char *name;
    double lowest[COLUMNS], highest[COLUMNS];
} pump_fault;

static const pump_fault faults[] = {
    {"leak", {55, 0.2, 35}, {80, 1.5, 60}},
    {"blockage", {10, 7, 50}, {30, 9, 70}},
    {"overheating", {8, 2.5, 80}, {40, 5.5, 100}},
};

enum { FAULT_KINDS = sizeof faults / sizeof *faults };

typedef struct pump_stream {
    /* flow in l/s, pressure in bar, temperature in degrees Celsius */
    double readings[ROWS][COLUMNS];
    const pump_fault *planted[ROWS]; /* NULL: a normal row */
    bool is_planted[ROWS];
    double scores[ROWS];
} pump_stream;

/* ---- The stream ---- */

/* Twelve uniforms: near enough to a normal distribution with deviation 1. */
static double next_noise(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += stream_random_uniform(state);
    return sum;
}

/* A smooth wave from -1 to 1 over the day, low at night: parabolas in place of a sine. */
static double time_of_day(size_t row)
{
    double phase = (double)(row % ROWS_PER_DAY) / ROWS_PER_DAY;
    return phase < 0.5 ? -16 * phase * (0.5 - phase) : 16 * (phase - 0.5) * (1 - phase);
}

static void make_reading(double reading[COLUMNS], size_t row, bool running, uint64_t *random)
{
    double wave = time_of_day(row), wear = (double)row / ROWS;
    double flow = running ? 40 + 2 * wave - 5 * wear : 8;
    double pressure = running ? 5.2 - 0.5 * wear : 2.5;
    double temperature = (running ? 58 + 8 * wear : 34 + 4 * wear) + 2 * wave;
    reading[0] = flow + 1.5 * next_noise(random);
    reading[1] = pressure + 0.15 * next_noise(random);
    reading[2] = temperature + 1.5 * next_noise(random);
}

static void make_fault(double reading[COLUMNS], const pump_fault *fault, uint64_t *random)
{
    for (size_t i = 0; i < COLUMNS; i++)
        reading[i] = fault->lowest[i] +
                     (fault->highest[i] - fault->lowest[i]) * stream_random_uniform(random);
}

static void make_stream(pump_stream *stream)
{
    const double switch_chance = 1.0 / 20; /* a state lasts twenty minutes on average */
    const double fault_chance = 1.0 / 200;
    uint64_t random = 7;
    bool running = false;
    for (size_t row = 0; row < ROWS; row++) {
        if (stream_random_uniform(&random) < switch_chance)
            running = !running;
        make_reading(stream->readings[row], row, running, &random);
        if (stream_random_uniform(&random) < fault_chance) {
            stream->planted[row] = &faults[(size_t)(stream_random_uniform(&random) * FAULT_KINDS)];
            stream->is_planted[row] = true;
            make_fault(stream->readings[row], stream->planted[row], &random);
        }
    }
}

static exit_code score_stream(pump_stream *stream, oif_detector *detector, double *seconds)
{
    progress_line progress = progress_start(ROWS);
    double started = clock_seconds();
    oif_status status = OIF_OK;
    oif_error error;
    for (size_t row = 0; row < ROWS && status == OIF_OK; row++) {
        status =
            oif_detector_learn_score(detector, stream->readings[row], &stream->scores[row], &error);
        progress_row(&progress, row);
    }
    *seconds = clock_seconds() - started;
    progress_end(&progress);
    return status == OIF_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.message);
}

/* ---- The report ---- */

static void print_top_row(const pump_stream *stream, size_t row)
{
    const double *reading = stream->readings[row];
    const pump_fault *fault = stream->planted[row];
    size_t minute = row % ROWS_PER_DAY;
    char text[GROUPED_TEXT_BYTES];
    output_print("  %7s %5zu  %02zu:%02zu %7.1f %9.2f %12.1f %8.3f   %s\n",
                 grouped_text(row + 1, text), row / ROWS_PER_DAY + 1, minute / 60, minute % 60,
                 reading[0], reading[1], reading[2], stream->scores[row],
                 fault ? fault->name : "(none planted)");
}

static void print_top_rows(const pump_stream *stream, const roc_ranking *ranking)
{
    output_print("The %d most anomalous rows:\n\n"
                 "      row   day   time    flow  pressure  temperature    score   planted fault\n",
                 TOP_ROWS);
    for (size_t i = 0; i < TOP_ROWS; i++)
        print_top_row(stream, ranking->rows[i].row);
}

/* The last day only: two weeks in 64 columns would show a fault in nearly each of them. */
static void print_chart(const pump_stream *stream)
{
    const size_t start = ROWS - ROWS_PER_DAY;
    output_print(
        "\nThe score over the last day (the highest of each %d minutes; %s: a planted fault):\n\n",
        ROWS_PER_DAY / CHART_COLUMNS, chart_mark());
    chart_print(stream->scores + start, stream->is_planted + start, ROWS_PER_DAY);
    output_print("        %-16s%-16s%-16s%-11s%s\n", "00:00", "06:00", "12:00", "18:00", "24:00");
}

static void print_report(const pump_stream *stream, const roc_ranking *ranking, double seconds)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("Two weeks of a pump, one reading a minute: %s rows of flow, pressure and\n"
                 "temperature, %zu of them faults that were planted. Every row was learned and\n"
                 "scored as it came; the detector was never told which ones are faults.\n\n",
                 grouped_text(ROWS, text), ranking->anomaly_count);
    print_top_rows(stream, ranking);
    print_chart(stream);
    output_print("\nROC AUC            %9.4f   1 is perfect, 0.5 is guessing\n"
                 "average precision  %9.4f   guessing gives %.4f\n",
                 roc_auc(ranking), roc_average_precision(ranking),
                 (double)ranking->anomaly_count / ROWS);
    output_print("rows per second    %9s   learned and scored one by one\n",
                 grouped_text((uint64_t)(ROWS / seconds), text));
}

static exit_code report(const pump_stream *stream, double seconds)
{
    roc_ranking ranking = {0};
    exit_code code = EXIT_OK;
    size_t row = 0;
    while (row < ROWS && roc_add(&ranking, stream->scores[row], stream->is_planted[row]))
        row++;
    roc_sort(&ranking);
    if (row == ROWS)
        print_report(stream, &ranking, seconds);
    else
        code = complain(EXIT_FAILED, "out of memory");
    roc_free(&ranking);
    return code;
}

static exit_code run(const cli_settings *settings)
{
    pump_stream *stream = calloc(1, sizeof *stream);
    oif_detector *detector = NULL;
    double seconds = 0;
    if (!stream)
        return complain(EXIT_FAILED, "out of memory");
    make_stream(stream);
    exit_code code = settings_make_detector(settings, COLUMNS, &detector);
    if (code == EXIT_OK)
        code = score_stream(stream, detector, &seconds);
    if (code == EXIT_OK)
        code = report(stream, seconds);
    oif_detector_free(detector);
    free(stream);
    return code;
}

const cli_command demo_command = {
    .name = "demo",
    .summary = "score an embedded stream and show what was found",
    .usage = "demo [OPTION...]",
    .examples = "  oif demo                    two weeks of a pump, with planted faults\n"
                "  oif demo --num-trees 100    the same with a larger forest\n",
    .takes_params = true,
    .run = run,
};
