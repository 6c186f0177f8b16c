/* oif demo without a kind: two weeks of a pump, one reading per minute, with planted faults, scored
 * as it arrives. */
#include "cli/draw/chart.h"
#include "cli/eval/roc.h"
#include "commands.h"
#include "front/text/clock.h"
#include "front/text/progress.h"
#include "pump.h"
#include "stream_random.h"

#include <stdlib.h>

enum { TOP_ROWS = 10 };

typedef struct pump_stream {
    double readings[PUMP_ROWS][PUMP_COLUMNS];
    const pump_fault *planted[PUMP_ROWS]; /* NULL: a normal row */
    bool is_planted[PUMP_ROWS];
    double scores[PUMP_ROWS];
} pump_stream;

/* ---- The stream ---- */

static void make_stream(pump_stream *stream)
{
    const double fault_chance = 1.0 / 200;
    uint64_t random = 7;
    bool is_running = false;
    for (size_t row = 0; row < PUMP_ROWS; row++) {
        pump_switch(&is_running, &random);
        pump_read(stream->readings[row], row, (double)row / PUMP_ROWS, is_running, &random);
        if (stream_random_uniform(&random) < fault_chance) {
            stream->planted[row] = pump_fault_draw(&random);
            stream->is_planted[row] = true;
            pump_read_fault(stream->readings[row], stream->planted[row], &random);
        }
    }
}

static exit_code score_stream(pump_stream *stream, oif_detector *detector, double *seconds)
{
    progress_line progress = progress_start(PUMP_ROWS);
    double started = clock_seconds();
    oif_status status = OIF_OK;
    oif_error error;
    for (size_t row = 0; row < PUMP_ROWS && status == OIF_OK; row++) {
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
    size_t minute = row % PUMP_ROWS_PER_DAY;
    char text[GROUPED_TEXT_BYTES];
    output_print("  %7s %5zu  %02zu:%02zu %7.1f %9.2f %12.1f %8.3f   %s\n",
                 grouped_text(row + 1, text), row / PUMP_ROWS_PER_DAY + 1, minute / 60, minute % 60,
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

/* Only the last day: in a chart of two weeks in 64 columns, nearly every column would show a
 * fault. */
static void print_chart(const pump_stream *stream)
{
    const size_t start = PUMP_ROWS - PUMP_ROWS_PER_DAY;
    output_print(
        "\nThe score over the last day (the highest of each %d minutes; %s: a planted fault):\n\n",
        PUMP_ROWS_PER_DAY / CHART_COLUMNS, chart_mark());
    chart_print(stream->scores + start, stream->is_planted + start, PUMP_ROWS_PER_DAY);
    output_print("        %-16s%-16s%-16s%-11s%s\n", "00:00", "06:00", "12:00", "18:00", "24:00");
}

static void print_report(const pump_stream *stream, const roc_ranking *ranking, double seconds)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("Two weeks of a pump, one reading per minute: %s rows of flow, pressure and\n"
                 "temperature, %zu of them planted faults. Every row was learned and scored as it\n"
                 "arrived; the detector does not know which rows are faults.\n\n",
                 grouped_text(PUMP_ROWS, text), ranking->anomaly_count);
    print_top_rows(stream, ranking);
    print_chart(stream);
    output_print("\nROC AUC            %9.4f   1 is perfect, 0.5 is guessing\n"
                 "average precision  %9.4f   guessing gives %.4f\n",
                 roc_auc(ranking), roc_average_precision(ranking),
                 (double)ranking->anomaly_count / PUMP_ROWS);
    output_print("rows per second    %9s   learned and scored one by one\n",
                 grouped_text((uint64_t)(PUMP_ROWS / seconds), text));
}

static exit_code report(const pump_stream *stream, double seconds)
{
    roc_ranking ranking = {0};
    exit_code code = EXIT_OK;
    size_t row = 0;
    while (row < PUMP_ROWS && roc_add(&ranking, stream->scores[row], stream->is_planted[row]))
        row++;
    roc_sort(&ranking);
    if (row == PUMP_ROWS)
        print_report(stream, &ranking, seconds);
    else
        code = complain(EXIT_FAILED, "out of memory");
    roc_free(&ranking);
    return code;
}

exit_code demo_show(const run_settings *settings)
{
    pump_stream *stream = calloc(1, sizeof *stream);
    oif_detector *detector = NULL;
    double seconds = 0;
    if (!stream)
        return complain(EXIT_FAILED, "out of memory");
    make_stream(stream);
    exit_code code = settings_make_detector(settings, PUMP_COLUMNS, &detector);
    if (code == EXIT_OK)
        code = score_stream(stream, detector, &seconds);
    if (code == EXIT_OK)
        code = report(stream, seconds);
    oif_detector_free(detector);
    free(stream);
    return code;
}
