/* The results in words, and the detectors side by side. */
#include "front/text/durations.h"
#include "report.h"

#include <math.h>
#include <stdarg.h>

enum { ANSWER_BYTES = 160, NUMBER_BYTES = 40 };

static const char *number_text(double number, char text[NUMBER_BYTES])
{
    if (isnan(number))
        return "unknown";
    if (number == floor(number) && number < 1e15)
        return grouped_text((uint64_t)number, text);
    snprintf(text, NUMBER_BYTES, number < 1000 ? "%.3g" : "%.0f", number);
    return text;
}

static void print_answer(eval_page *report, const char *question, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_answer(eval_page *report, const char *question, const char *format, ...)
{
    char answer[ANSWER_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer, sizeof answer, format, arguments);
    va_end(arguments);
    page_print(&report->page, "<tr><th scope=\"row\">%s</th><td>", question);
    page_text(&report->page, answer);
    page_print(&report->page, "</td></tr>\n");
}

static void print_found(eval_page *report, const double mean[MEASURES])
{
    char text[3][NUMBER_BYTES], duration[DURATION_TEXT_BYTES];
    size_t all = report->evaluation->rows.labelled_episodes;
    bool is_timed = eval_is_timed(report->evaluation);
    print_answer(report, "How many anomalies were found?", "%s of %s labelled episodes (%.0f%%)",
                 number_text(mean[MEASURE_FOUND], text[0]), number_text((double)all, text[1]),
                 all > 0 ? 100 * mean[MEASURE_FOUND] / (double)all : 0);
    if (isnan(mean[MEASURE_DELAY_ROWS]))
        print_answer(report, "How late?", "nothing was found");
    else
        print_answer(report, "How late?", "%s%s%s rows after the first labelled row (median)",
                     is_timed ? duration_text(mean[MEASURE_DELAY_SECONDS], duration) : "",
                     is_timed ? ", " : "", number_text(mean[MEASURE_DELAY_ROWS], text[2]));
}

static void print_alerts(eval_page *report, const double mean[MEASURES])
{
    char text[2][NUMBER_BYTES];
    bool is_timed = eval_is_timed(report->evaluation);
    print_answer(
        report, "How many false alerts?", "%s episodes without a labelled row: %s per %s",
        number_text(mean[MEASURE_FALSE_EPISODES], text[0]),
        number_text(mean[is_timed ? MEASURE_FALSE_PER_DAY : MEASURE_FALSE_PER_1000], text[1]),
        is_timed ? "day" : "1,000 rows");
    print_answer(report, "How many alerts in all?", "%s rows, in %s episodes",
                 number_text(mean[MEASURE_ALERTS], text[0]),
                 number_text(mean[MEASURE_EPISODES], text[1]));
    if (!isnan(mean[MEASURE_PRECISION]))
        print_answer(report, "How many of these rows are labelled?", "%.1f%% (precision)",
                     100 * mean[MEASURE_PRECISION]);
    if (!isnan(mean[MEASURE_RECALL]))
        print_answer(report, "How many labelled rows are alerts?", "%.1f%% (recall)",
                     100 * mean[MEASURE_RECALL]);
    print_answer(report, "When could it alert?",
                 "after %s rows; %s labelled episodes lie before that",
                 number_text(mean[MEASURE_NOT_READY], text[0]),
                 number_text(mean[MEASURE_LABELLED_NOT_READY], text[1]));
    if (!isnan(mean[MEASURE_ROC_AUC]))
        print_answer(report, "How well do scores separate?", "ROC AUC %.4f, average precision %.4f",
                     mean[MEASURE_ROC_AUC], mean[MEASURE_AVERAGE_PRECISION]);
}

/* "rolling-iforest, alerts by --alert-rate 0.001. 10,080 rows of 2 columns from ... to ..." */
static void print_setting(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    char rows[GROUPED_TEXT_BYTES], keys[GROUPED_TEXT_BYTES], alerts[ALERTS_TEXT_BYTES],
        first[REPORT_PLACE_BYTES], last[REPORT_PLACE_BYTES];
    page_print(&report->page, "<p>%s%s, alerts by <code>%s</code>. %s rows, %zu columns",
               evaluation->contestant_count > 1 ? "Best of several detectors: " : "Detector ",
               report->best->name, eval_alerts_text(evaluation, alerts),
               grouped_text(evaluation->rows.count, rows), report->column_count);
    if (evaluation->rows.keys)
        page_print(&report->page, ", %s keys", grouped_text(evaluation->rows.key_count, keys));
    page_print(&report->page, ", %s to %s.", report_place(report, 0, first),
               report_place(report, evaluation->rows.count - 1, last));
    if (evaluation->run_count > 1)
        page_print(&report->page, " Numbers are means of %zu runs, pictures show the first one.",
                   evaluation->run_count);
    page_print(&report->page, "</p>\n");
}

void report_summary(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    print_setting(report);
    if (eval_higher_rate(evaluation) > 0)
        page_print(&report->page,
                   "<p>This rate allows fewer episodes than the %zu labelled ones: try "
                   "<code>--alert-rate %.1g</code>.</p>\n",
                   evaluation->rows.labelled_episodes, eval_higher_rate(evaluation));
    page_print(&report->page, "<table>\n");
    print_found(report, report->best->mean);
    print_alerts(report, report->best->mean);
    page_print(&report->page, "</table>\n");
}

/* ---- Detectors ---- */

/* A number with a bar: its share of the largest. */
static void print_meter(eval_page *report, double number, double spread, double largest,
                        const char *class)
{
    char text[NUMBER_BYTES];
    page_print(&report->page, "<td class=\"meter\">%s", number_text(number, text));
    if (!isnan(spread))
        page_print(&report->page, " <span class=\"dim\">&#177; %.2g</span>", spread);
    if (!isnan(number))
        page_print(&report->page, "<div class=\"bar%s\" style=\"width:%.1f%%\"></div>", class,
                   largest > 0 ? 100 * number / largest : 0);
    page_print(&report->page, "</td>");
}

static double largest_of(const eval_run *evaluation, eval_measure measure)
{
    double largest = 0;
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        largest = fmax(largest, evaluation->contestants[i].mean[measure]);
    return largest;
}

static void print_detector(eval_page *report, const eval_contestant *contestant,
                           eval_measure false_rate)
{
    const eval_run *evaluation = report->evaluation;
    page_print(&report->page, "<tr><th scope=\"row\">%s</th>", contestant->name);
    print_meter(report, contestant->mean[MEASURE_FOUND], contestant->spread[MEASURE_FOUND],
                (double)evaluation->rows.labelled_episodes, "");
    print_meter(report, contestant->mean[false_rate], contestant->spread[false_rate],
                largest_of(evaluation, false_rate), " false");
    print_meter(report, contestant->mean[MEASURE_PRECISION], contestant->spread[MEASURE_PRECISION],
                1, "");
    print_meter(report, contestant->mean[MEASURE_RECALL], contestant->spread[MEASURE_RECALL], 1,
                "");
    print_meter(report, contestant->mean[MEASURE_ROC_AUC], contestant->spread[MEASURE_ROC_AUC], 1,
                "");
    print_meter(report, contestant->mean[MEASURE_AVERAGE_PRECISION],
                contestant->spread[MEASURE_AVERAGE_PRECISION], 1, "");
    page_print(&report->page, "</tr>\n");
}

void report_detectors(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    bool is_timed = eval_is_timed(evaluation);
    page_print(
        &report->page,
        "<h2>Detectors</h2>\n<p class=\"dim\">The best first: by labelled episodes found (of "
        "%zu), then by false alerts, then by average precision.%s</p>\n<div "
        "class=\"wide\"><table>\n<tr><th>detector</th><th>found</th><th>false per %s</th>"
        "<th>precision</th><th>recall</th><th>ROC AUC</th><th>average "
        "precision</th></tr>\n",
        evaluation->rows.labelled_episodes,
        evaluation->run_count > 1 ? " &#177; is the standard deviation of the runs." : "",
        is_timed ? "day" : "1,000 rows");
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        print_detector(report, &evaluation->contestants[evaluation->order[i]],
                       is_timed ? MEASURE_FALSE_PER_DAY : MEASURE_FALSE_PER_1000);
    page_print(&report->page, "</table></div>\n");
}
