/* What is drawn over all rows: severities, and the curves of all detectors. Both are thinned, so a
 * million rows take no more space than a thousand. */
#include "report.h"

#include <math.h>

/* ---- Severities ---- */

/* Many rows share a column of the picture: it has their lowest and highest severity, so no spike is
 * lost. */
enum { COLUMNS = 890 };

typedef enum series {
    SERIES_SECONDS, /* of the first row */
    SERIES_LOW,     /* severities */
    SERIES_HIGH,
    SERIES_THRESHOLD, /* the highest */
    SERIES_HIT,       /* the highest of an alert that is labelled */
    SERIES_WRONG,     /* that is not */
    SERIES_LABELLED,  /* 1: one of the rows */
    SERIES
} series;

static size_t first_row(size_t rows, size_t columns, size_t column)
{
    return (size_t)((double)rows * (double)column / (double)columns);
}

static void add_row(double column[SERIES], const eval_page *report, size_t row)
{
    double severity = (double)report->shown->trace.severities[row];
    double threshold = (double)report->shown->trace.thresholds[row];
    bool is_labelled = report->evaluation->rows.labels[row] != 0;
    if (is_labelled)
        column[SERIES_LABELLED] = 1;
    if (isfinite(threshold))
        column[SERIES_THRESHOLD] = fmax(column[SERIES_THRESHOLD], threshold);
    if (!isfinite(severity))
        return;
    column[SERIES_LOW] = fmin(column[SERIES_LOW], severity);
    column[SERIES_HIGH] = fmax(column[SERIES_HIGH], severity);
    if (!(report->shown->marks[row] & ROW_IS_ALERT))
        return;
    double *alert = &column[is_labelled ? SERIES_HIT : SERIES_WRONG];
    *alert = fmax(*alert, severity);
}

void report_severities(const eval_page *report)
{
    static const char *const names[] = {"seconds", "low",   "high",    "threshold",
                                        "hit",     "wrong", "labelled"};
    static double columns[COLUMNS][SERIES];
    const eval_rows *rows = &report->evaluation->rows;
    size_t count = rows->count < COLUMNS ? rows->count : COLUMNS;
    for (size_t i = 0; i < count; i++) {
        size_t row = first_row(rows->count, count, i);
        for (size_t j = 0; j < SERIES; j++)
            columns[i][j] = NAN;
        columns[i][SERIES_SECONDS] = rows->seconds ? rows->seconds[row] : NAN;
        for (; row < first_row(rows->count, count, i + 1); row++)
            add_row(columns[i], report, row);
    }
    for (size_t j = 0; j < SERIES; j++) {
        output_text(j > 0 ? ",\n" : ",\n\"severities\":{");
        report_list(names[j], &columns[0][j], count, SERIES,
                    j == SERIES_SECONDS ? REPORT_TIME_DIGITS : REPORT_DIGITS);
    }
    output_text("}");
}

/* ---- Curves ---- */

/* Among the rows with at least some score: how many there are, and how many are labelled. */
typedef struct curve_point {
    size_t rows, labelled;
} curve_point;

/* Whether two points can be distinguished on one of the curves. */
static bool is_apart(const roc_ranking *ranking, curve_point a, curve_point b)
{
    const double least = 1. / 400;
    double labelled = (double)b.labelled - (double)a.labelled;
    double others = (double)(b.rows - b.labelled) - (double)(a.rows - a.labelled);
    double precision = (double)b.labelled / (double)b.rows - (double)a.labelled / (double)a.rows;
    return labelled / (double)ranking->anomaly_count >= least || fabs(precision) >= least ||
           others / (double)(ranking->count - ranking->anomaly_count) >= least;
}

static void print_curve(const roc_ranking *ranking)
{
    curve_point last = {0, 0}, now = {0, 0};
    output_text(",\"curve\":[");
    while (now.rows < ranking->count && roc_has_both(ranking)) {
        now.labelled += ranking->rows[now.rows++].anomaly;
        bool is_end = now.rows == ranking->count;
        if (!is_end && ranking->rows[now.rows].score == ranking->rows[now.rows - 1].score)
            continue; /* no threshold lies between equal scores */
        if (!is_end && last.rows > 0 && !is_apart(ranking, last, now))
            continue;
        output_print("%s[%zu,%zu]", last.rows > 0 ? "," : "", now.rows, now.labelled);
        last = now;
    }
    output_text("]");
}

static void print_measures(const char *name, const double measures[MEASURES])
{
    output_print(",\"%s\":{", name);
    eval_json_measures(measures);
    output_text("}");
}

bool report_detectors(const eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    output_text(",\n\"detectors\":[");
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        const eval_contestant *contestant = &evaluation->contestants[evaluation->order[i]];
        roc_ranking ranking;
        if (!eval_measures_rank(&evaluation->rows, contestant->tries[0].scores, &ranking))
            return false;
        output_print("%s\n{\"name\":\"%s\"", i > 0 ? "," : "", contestant->name);
        print_measures("mean", contestant->mean);
        print_measures("spread", contestant->spread);
        print_measures("first_run", contestant->tries[0].measures);
        print_curve(&ranking);
        output_text("}");
        roc_free(&ranking);
    }
    return output_text("]");
}
