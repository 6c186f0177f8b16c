/* The results of oif eval: as tables. */
#include "eval.h"
#include "front/text/durations.h"

#include <math.h>
#include <string.h>

/* A measure as text: "1,234", "0.9534", "2 min"; "-" where it means nothing. */
enum { MEASURE_TEXT_BYTES = 40 };

typedef const char *(*measure_format)(double value, char text[MEASURE_TEXT_BYTES]);

/* Means of counts have a decimal. */
static const char *count_text(double value, char text[MEASURE_TEXT_BYTES])
{
    if (value == floor(value) && value < 0x1p53)
        return grouped_text((uint64_t)value, text);
    snprintf(text, MEASURE_TEXT_BYTES, "%.1f", value);
    return text;
}

static const char *share_text(double value, char text[MEASURE_TEXT_BYTES])
{
    snprintf(text, MEASURE_TEXT_BYTES, "%.4f", value);
    return text;
}

static const char *rate_text(double value, char text[MEASURE_TEXT_BYTES])
{
    snprintf(text, MEASURE_TEXT_BYTES, value < 100 ? "%.2f" : "%.0f", value);
    return text;
}

static const char *time_text(double value, char text[MEASURE_TEXT_BYTES])
{
    return duration_text(value, text);
}

static const char *measure_text(double value, measure_format format, char text[MEASURE_TEXT_BYTES])
{
    return isnan(value) ? "-" : format(value, text);
}

static double option_value(const eval_run *evaluation, const char *name)
{
    double value = 0;
    oif_status status = oif_params_get(&evaluation->settings->options, name, &value, NULL);
    (void)status; /* the callers' names exist */
    return value;
}

const char *eval_alerts_text(const eval_run *evaluation, char text[ALERTS_TEXT_BYTES])
{
    double per_day = option_value(evaluation, "alerts");
    bool is_daily = per_day >= 1;
    if (per_day > 0)
        snprintf(text, ALERTS_TEXT_BYTES, "--alerts %.6g/%s", is_daily ? per_day : 7 * per_day,
                 is_daily ? "day" : "week");
    else
        snprintf(text, ALERTS_TEXT_BYTES, "--alert-rate %.6g",
                 option_value(evaluation, "alert_rate"));
    return text;
}

static uint64_t per_second(size_t count, double seconds)
{
    return seconds > 0 ? (uint64_t)((double)count / seconds) : 0;
}

static void print_line(const char *title, const char *value, const char *spread, const char *remark)
{
    output_print("%-18s %12s%s%s%s%s\n", title, value, *spread ? " +/- " : "", spread,
                 *remark ? "  " : "", remark);
}

static void print_count(const char *title, uint64_t count, const char *remark)
{
    char text[GROUPED_TEXT_BYTES];
    print_line(title, grouped_text(count, text), "", remark);
}

/* ---- One detector ---- */

static void print_measure(const eval_contestant *contestant, const char *title,
                          eval_measure measure, measure_format format, const char *remark)
{
    char value[MEASURE_TEXT_BYTES], spread[MEASURE_TEXT_BYTES];
    double deviation = contestant->spread[measure];
    print_line(title, measure_text(contestant->mean[measure], format, value),
               isnan(deviation) ? "" : format(deviation, spread), remark);
}

/* How often each grade came, so that --min-grade can be chosen. */
static void print_grades(const eval_contestant *contestant)
{
    static const char *const titles[] = {"  critical", "  warning", "  note"};
    for (int i = 0; i < 3; i++) {
        char text[MEASURE_TEXT_BYTES], remark[96];
        const double rows = contestant->mean[MEASURE_CRITICAL_ROWS - i],
                     episodes = contestant->mean[MEASURE_CRITICAL_EPISODES - i];
        snprintf(remark, sizeof remark, "row%s; the worst of %s episode%s", rows == 1 ? "" : "s",
                 count_text(episodes, text), episodes == 1 ? "" : "s");
        print_measure(contestant, titles[i], (eval_measure)(MEASURE_CRITICAL_ROWS - i), count_text,
                      remark);
    }
}

static void print_alerts(const eval_run *evaluation, const eval_contestant *contestant)
{
    char text[MEASURE_TEXT_BYTES], remark[96];
    double episodes = contestant->mean[MEASURE_EPISODES];
    snprintf(remark, sizeof remark, "row%s, in %s episode%s",
             contestant->mean[MEASURE_ALERTS] == 1 ? "" : "s", count_text(episodes, text),
             episodes == 1 ? "" : "s");
    print_measure(contestant, "alerts", MEASURE_ALERTS, count_text, remark);
    print_grades(contestant);
    print_measure(contestant, "precision", MEASURE_PRECISION, share_text,
                  "of the alerts are labelled");
    print_measure(contestant, "recall", MEASURE_RECALL, share_text,
                  "of the labelled rows are alerts");
    snprintf(remark, sizeof remark, "of %s labelled",
             grouped_text(evaluation->rows.labelled_episodes, text));
    print_measure(contestant, "episodes found", MEASURE_FOUND, count_text, remark);
}

static void print_delay(const eval_run *evaluation, const eval_contestant *contestant)
{
    char text[MEASURE_TEXT_BYTES], remark[96];
    double rows = contestant->mean[MEASURE_DELAY_ROWS];
    if (isnan(contestant->mean[MEASURE_DELAY_SECONDS]) || !eval_is_timed(evaluation)) {
        print_measure(contestant, "median delay", MEASURE_DELAY_ROWS, count_text,
                      isnan(rows) ? "" : "rows until the first alert");
        return;
    }
    snprintf(remark, sizeof remark, "until the first alert, %s row%s", count_text(rows, text),
             rows == 1 ? "" : "s");
    print_measure(contestant, "median delay", MEASURE_DELAY_SECONDS, time_text, remark);
}

static void print_false(const eval_run *evaluation, const eval_contestant *contestant)
{
    bool is_timed = eval_is_timed(evaluation);
    char text[MEASURE_TEXT_BYTES], remark[96];
    double rate = contestant->mean[is_timed ? MEASURE_FALSE_PER_DAY : MEASURE_FALSE_PER_1000];
    double labelled = contestant->mean[MEASURE_LABELLED_NOT_READY];
    snprintf(remark, sizeof remark, "episode%s without a labelled row: %s per %s",
             contestant->mean[MEASURE_FALSE_EPISODES] == 1 ? "" : "s",
             measure_text(rate, rate_text, text), is_timed ? "day" : "1,000 rows");
    print_measure(contestant, "false alerts", MEASURE_FALSE_EPISODES, count_text, remark);
    if (labelled > 0)
        snprintf(remark, sizeof remark, "rows, with %s of the labelled episodes",
                 count_text(labelled, text));
    print_measure(contestant, "before ready", MEASURE_NOT_READY, count_text,
                  labelled > 0 ? remark : "rows, none labelled");
}

static void print_separation(const eval_run *evaluation, const eval_contestant *contestant)
{
    bool is_undefined = isnan(contestant->mean[MEASURE_ROC_AUC]);
    if (is_undefined) {
        print_line("ROC AUC", "undefined", "",
                   evaluation->rows.anomaly_count == 0
                       ? "no row is labelled an anomaly: nothing to find"
                       : "every row is labelled an anomaly");
        print_line("average precision", "undefined", "", "");
        return;
    }
    print_measure(contestant, "ROC AUC", MEASURE_ROC_AUC, share_text, "");
    print_measure(contestant, "average precision", MEASURE_AVERAGE_PRECISION, share_text, "");
}

static void print_one(const eval_run *evaluation)
{
    const eval_contestant *contestant = &evaluation->contestants[0];
    print_alerts(evaluation, contestant);
    print_delay(evaluation, contestant);
    print_false(evaluation, contestant);
    output_print("\n");
    print_separation(evaluation, contestant);
    print_count("rows per second", per_second(evaluation->rows.count, contestant->mean_seconds),
                "learning and scoring");
    print_count("", per_second(evaluation->rows.count, evaluation->total_seconds),
                "with reading the input");
}

/* ---- Several, side by side ---- */

typedef struct table_column {
    const char *title;
    int width;
    eval_measure measure;
    measure_format format;
} table_column;

enum { TABLE_COLUMNS = 9 };

static void choose_columns(const eval_run *evaluation, table_column columns[TABLE_COLUMNS])
{
    const table_column chosen[TABLE_COLUMNS] = {
        {"found", 7, MEASURE_FOUND, count_text},
        {"false/1000", 10, MEASURE_FALSE_PER_1000, rate_text},
        {"precision", 9, MEASURE_PRECISION, share_text},
        {"recall", 7, MEASURE_RECALL, share_text},
        {"delay", 8, MEASURE_DELAY_ROWS, count_text},
        {"alerts", 7, MEASURE_ALERTS, count_text},
        {"episodes", 8, MEASURE_EPISODES, count_text},
        {"ROC AUC", 7, MEASURE_ROC_AUC, share_text},
        {"AP", 6, MEASURE_AVERAGE_PRECISION, share_text},
    };
    memcpy(columns, chosen, sizeof chosen);
    if (!eval_is_timed(evaluation))
        return;
    columns[1] = (table_column){"false/day", 10, MEASURE_FALSE_PER_DAY, rate_text};
    columns[4] = (table_column){"delay", 8, MEASURE_DELAY_SECONDS, time_text};
}

static void print_row(const table_column columns[TABLE_COLUMNS], const char *name,
                      const double values[MEASURES], const char *last)
{
    char text[MEASURE_TEXT_BYTES];
    output_print("%-18s", name);
    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        output_print(" %*s", columns[i].width,
                     measure_text(values[columns[i].measure], columns[i].format, text));
    output_print(*last ? " %11s\n" : "%s\n", last);
}

static void print_several(const eval_run *evaluation)
{
    table_column columns[TABLE_COLUMNS];
    char text[GROUPED_TEXT_BYTES];
    choose_columns(evaluation, columns);
    output_print("%-18s", "detector");
    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        output_print(" %*s", columns[i].width, columns[i].title);
    output_print(" %11s\n", "rows/s");
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        const eval_contestant *contestant = &evaluation->contestants[evaluation->order[i]];
        uint64_t speed = per_second(evaluation->rows.count, contestant->mean_seconds);
        print_row(columns, contestant->name, contestant->mean, grouped_text(speed, text));
        if (evaluation->run_count > 1)
            print_row(columns, "  +/-", contestant->spread, "");
    }
    output_print("\nbest first: labelled episodes found (of %s), then false alerts, then average "
                 "precision (AP)\n",
                 grouped_text(evaluation->rows.labelled_episodes, text));
}

/* ---- The whole ---- */

static void print_head(const eval_run *evaluation)
{
    const eval_rows *rows = &evaluation->rows;
    char episodes[GROUPED_TEXT_BYTES], remark[64] = "", alerts[ALERTS_TEXT_BYTES];
    if (rows->anomaly_count > 0)
        snprintf(remark, sizeof remark, "labelled rows, in %s episode%s",
                 grouped_text(rows->labelled_episodes, episodes),
                 rows->labelled_episodes == 1 ? "" : "s");
    print_count("rows", rows->count, "");
    print_count("columns", evaluation->column_count, "");
    print_count("anomalies", rows->anomaly_count, remark);
    if (rows->keys)
        print_count("keys", rows->key_count, "");
    output_print("\nalerts by %s", eval_alerts_text(evaluation, alerts));
    if (evaluation->run_count > 1)
        output_print(", mean +/- standard deviation of %zu runs", evaluation->run_count);
    output_print("\n");
}

void eval_report_table(const eval_run *evaluation)
{
    print_head(evaluation);
    if (evaluation->contestant_count == 1)
        print_one(evaluation);
    else
        print_several(evaluation);
}
