/* Scores over all rows. Many rows share a column of the picture: it shows their lowest and
 * highest score, so a million rows take no more space than a thousand, and no spike is lost. */
#include "report.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 320, LEFT = 60, RIGHT = 950, TOP = 30, BOTTOM = 280, COLUMNS = 890 };

/* The rows of one column of the picture. */
typedef struct score_column {
    double low, high;  /* scores; NaN: none */
    double threshold;  /* the highest */
    double hit, wrong; /* the highest score of an alert that is labelled, that is not */
    bool is_labelled;  /* one of them */
} score_column;

static size_t first_row(size_t rows, size_t columns, size_t column)
{
    return (size_t)((double)rows * (double)column / (double)columns);
}

static void add_row(score_column *column, const eval_page *report, size_t row)
{
    double score = report->shown->scores[row];
    double threshold = (double)report->shown->trace.thresholds[row];
    bool is_labelled = report->evaluation->rows.labels[row] != 0;
    column->is_labelled |= is_labelled;
    if (isfinite(threshold))
        column->threshold = fmax(column->threshold, threshold);
    if (!isfinite(score))
        return;
    column->low = fmin(column->low, score);
    column->high = fmax(column->high, score);
    if (!(report->shown->marks[row] & ROW_IS_ALERT))
        return;
    double *alert = is_labelled ? &column->hit : &column->wrong;
    *alert = fmax(*alert, score);
}

static size_t fill_columns(const eval_page *report, score_column columns[COLUMNS])
{
    size_t rows = report->evaluation->rows.count, count = rows < COLUMNS ? rows : COLUMNS;
    for (size_t i = 0; i < count; i++) {
        columns[i] = (score_column){NAN, NAN, NAN, NAN, NAN, false};
        for (size_t row = first_row(rows, count, i); row < first_row(rows, count, i + 1); row++)
            add_row(&columns[i], report, row);
    }
    return count;
}

/* ---- Drawing ---- */

/* Some detectors give a few rows scores that are many times the threshold. Those are drawn at the
 * edge, or nothing else could be seen. */
static double highest_drawn(double low, double high, double threshold)
{
    enum { THRESHOLDS = 4 };
    double limit = low + THRESHOLDS * (threshold - low);
    return threshold > low && high > 2 * limit - low ? limit : high;
}

static svg_frame make_frame(const score_column columns[], size_t count, bool *is_cut)
{
    double low = NAN, high = NAN, threshold = NAN;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, columns[i].low);
        high = fmax(high, columns[i].high);
        threshold = fmax(threshold, columns[i].threshold);
    }
    low = isnan(low) ? 0 : low;
    high = isnan(high) ? 1 : high;
    double drawn = highest_drawn(low, high, threshold);
    double margin = drawn > low ? (drawn - low) / 20 : 0.5;
    *is_cut = drawn < high;
    return (svg_frame){{0, (double)count, LEFT, RIGHT},
                       {low - margin, drawn + margin, BOTTOM, TOP}};
}

static void draw_labelled(html_page *page, const svg_frame *frame, const score_column columns[],
                          size_t count)
{
    for (size_t i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && columns[end].is_labelled; end++)
            ;
        double x = svg_at(&frame->x, (double)i), width = svg_at(&frame->x, (double)end) - x;
        if (end > i)
            svg_box(page, "labelled", x, TOP, fmax(width, 1), BOTTOM - TOP);
    }
}

/* The area between the lowest and the highest scores. */
static void draw_band(html_page *page, const svg_frame *frame, const score_column columns[],
                      size_t count)
{
    bool moves = true;
    svg_path_begin(page, "curve");
    for (size_t i = 0; i < count; i++) {
        double x = svg_at(&frame->x, (double)i + 0.5);
        if (isnan(columns[i].high))
            continue;
        svg_path_point(page, x, svg_at(&frame->y, columns[i].high), moves);
        if (columns[i].low < columns[i].high)
            svg_path_point(page, x, svg_at(&frame->y, columns[i].low), false);
        moves = false;
    }
    svg_path_end(page);
}

static void draw_threshold(html_page *page, const svg_frame *frame, const score_column columns[],
                           size_t count)
{
    bool moves = true;
    svg_path_begin(page, "limit");
    for (size_t i = 0; i < count; i++) {
        if (!isnan(columns[i].threshold))
            svg_path_point(page, svg_at(&frame->x, (double)i + 0.5),
                           svg_at(&frame->y, columns[i].threshold), moves);
        moves = isnan(columns[i].threshold);
    }
    svg_path_end(page);
}

static void draw_alerts(html_page *page, const svg_frame *frame, const score_column columns[],
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = svg_at(&frame->x, (double)i + 0.5);
        if (!isnan(columns[i].wrong))
            svg_dot(page, "wrong", x, svg_at(&frame->y, columns[i].wrong), 2.5);
        if (!isnan(columns[i].hit))
            svg_dot(page, "hit", x, svg_at(&frame->y, columns[i].hit), 2.5);
    }
}

/* Rows are in their order; the marks show their number or their time. */
static void draw_places(eval_page *report, const svg_frame *frame, size_t count)
{
    enum { MARKS = 5 };
    size_t rows = report->evaluation->rows.count;
    for (size_t i = 0; i < MARKS; i++) {
        char text[REPORT_PLACE_BYTES];
        size_t row = i * (rows - 1) / (MARKS - 1);
        double x = (double)row * (double)count / (double)rows;
        svg_mark_x(&report->page, frame, x,
                   i == 0           ? SVG_START
                   : i == MARKS - 1 ? SVG_END
                                    : SVG_MIDDLE,
                   report_place(report, row, text));
    }
    svg_text(&report->page, "axis", SVG_END, RIGHT, HEIGHT - 6,
             report->evaluation->rows.seconds ? "rows in their order, with their times (UTC)"
                                              : "rows in their order");
}

static void print_legend(eval_page *report, bool has_threshold)
{
    static const char *const items[][2] = {
        {"<path class=\"curve\" d=\"M0 8L24 8\"/>", "score, lowest to highest"},
        {"<rect class=\"labelled\" width=\"24\" height=\"16\"/>", "labelled rows"},
        {"<circle class=\"hit\" cx=\"12\" cy=\"8\" r=\"5\"/>", "alert, labelled"},
        {"<circle class=\"wrong\" cx=\"12\" cy=\"8\" r=\"5\"/>", "alert, not labelled"},
        {"<path class=\"limit\" d=\"M0 8L24 8\"/>", "threshold"}};
    page_print(&report->page, "<ul class=\"legend dim\">\n");
    for (size_t i = 0; i < (has_threshold ? 5 : 4); i++)
        page_print(&report->page,
                   "<li><svg viewBox=\"0 0 24 16\" aria-hidden=\"true\">%s</svg>%s</li>\n",
                   items[i][0], items[i][1]);
    page_print(&report->page, "</ul>\n");
}

void report_scores(eval_page *report)
{
    html_page *page = &report->page;
    score_column columns[COLUMNS];
    size_t count = fill_columns(report, columns);
    bool is_cut;
    svg_frame frame = make_frame(columns, count, &is_cut);
    bool has_threshold = report->evaluation->rows.key_count == 1;
    page_print(page, "<h2>Scores over time</h2>\n<div class=\"wide\">\n");
    svg_begin(page, WIDTH, HEIGHT, "Scores of all rows, with labelled rows and alerts");
    draw_labelled(page, &frame, columns, count);
    svg_axis_y(page, &frame, 6, "score: higher is more anomalous");
    draw_band(page, &frame, columns, count);
    if (has_threshold)
        draw_threshold(page, &frame, columns, count);
    draw_alerts(page, &frame, columns, count);
    draw_places(report, &frame, count);
    svg_end(page);
    page_print(page, "</div>\n");
    print_legend(report, has_threshold);
    page_print(page,
               "<p class=\"dim\">A row can be an alert below the threshold: where several unusual "
               "rows follow each other, their evidence adds up; so does what the score does not "
               "see, such as a stuck column.%s%s</p>\n",
               is_cut ? " Scores beyond the top are drawn at the edge." : "",
               has_threshold ? "" : " Each key has its own threshold.");
}
