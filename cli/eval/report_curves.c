/* ROC and precision-recall curves of all detectors, with the point at which each one alerts. */
#include "report.h"

#include <math.h>

enum { WIDTH = 380, HEIGHT = 380, LEFT = 45, RIGHT = 365, TOP = 30, BOTTOM = 330, COLOURS = 8 };

/* Points that are nearer than this to the last one are left out. */
static const double least_step = 1. / 400;

typedef struct curve_kind {
    const char *title, *x, *y;
    bool is_roc;
} curve_kind;

/* Among the rows with at least some score: how many there are, and how many are labelled. */
static void curve_point(const roc_ranking *ranking, bool is_roc, uint64_t rows, uint64_t labelled,
                        double *x, double *y)
{
    double recall = (double)labelled / (double)ranking->anomaly_count;
    double normals = (double)(ranking->count - ranking->anomaly_count);
    *x = is_roc ? (double)(rows - labelled) / normals : recall;
    *y = is_roc ? recall : (double)labelled / (double)rows;
}

static void draw_curve(html_page *page, const svg_frame *frame, const roc_ranking *ranking,
                       bool is_roc, size_t colour)
{
    char class[8];
    uint64_t labelled = 0;
    double last_x = is_roc ? 0 : -1, last_y = is_roc ? 0 : -1;
    snprintf(class, sizeof class, "c%zu", colour % COLOURS);
    svg_path_begin(page, class);
    if (is_roc)
        svg_path_point(page, svg_at(&frame->x, 0), svg_at(&frame->y, 0), true);
    for (size_t i = 0; i < ranking->count; i++) {
        double x, y;
        labelled += ranking->rows[i].anomaly;
        bool is_last = i + 1 == ranking->count;
        if (!is_last && ranking->rows[i + 1].score == ranking->rows[i].score)
            continue; /* no threshold lies between equal scores */
        curve_point(ranking, is_roc, i + 1, labelled, &x, &y);
        if (!is_last && fabs(x - last_x) < least_step && fabs(y - last_y) < least_step)
            continue;
        svg_path_point(page, svg_at(&frame->x, x), svg_at(&frame->y, y), last_x < 0);
        last_x = x;
        last_y = y;
    }
    svg_path_end(page);
}

/* Where the alerts are. */
static void draw_alerts(html_page *page, const svg_frame *frame, const roc_ranking *ranking,
                        const double measures[MEASURES], bool is_roc, size_t colour)
{
    char class[16];
    double x, y, alerts = measures[MEASURE_ALERTS];
    if (!(alerts > 0))
        return;
    snprintf(class, sizeof class, "dot c%zu", colour % COLOURS);
    curve_point(ranking, is_roc, (uint64_t)alerts,
                (uint64_t)(alerts * measures[MEASURE_PRECISION] + 0.5), &x, &y);
    svg_dot(page, class, svg_at(&frame->x, x), svg_at(&frame->y, y), 5);
}

static bool draw_contestants(eval_page *report, const svg_frame *frame, bool is_roc)
{
    const eval_run *evaluation = report->evaluation;
    for (size_t i = 0; i < evaluation->contestant_count; i++) {
        const eval_try *try = &evaluation->contestants[evaluation->order[i]].tries[0];
        roc_ranking ranking;
        if (!eval_measures_rank(&evaluation->rows, try->scores, 0, evaluation->rows.count,
                                &ranking))
            return false;
        draw_curve(&report->page, frame, &ranking, is_roc, i);
        draw_alerts(&report->page, frame, &ranking, try->measures, is_roc, i);
        roc_free(&ranking);
    }
    return true;
}

static bool draw_kind(eval_page *report, const curve_kind *kind)
{
    html_page *page = &report->page;
    const svg_frame frame = {{0, 1, LEFT, RIGHT}, {0, 1, BOTTOM, TOP}};
    const eval_rows *rows = &report->evaluation->rows;
    double chance = (double)rows->anomaly_count / (double)rows->count;
    page_print(page, "<div><h3>%s</h3>\n", kind->title);
    svg_begin(page, WIDTH, HEIGHT, kind->title);
    svg_axis_y(page, &frame, 5, kind->y);
    for (int i = 0; i <= 5; i++) {
        char text[SVG_NUMBER_BYTES];
        svg_mark_x(page, &frame, i / 5., SVG_MIDDLE, svg_number(i / 5., text));
    }
    svg_text(page, "axis", SVG_END, RIGHT, BOTTOM + 38, kind->x);
    svg_line(page, "chance", LEFT, svg_at(&frame.y, kind->is_roc ? 0 : chance), RIGHT,
             svg_at(&frame.y, kind->is_roc ? 1 : chance));
    bool has_memory = draw_contestants(report, &frame, kind->is_roc);
    svg_end(page);
    page_print(page, "</div>\n");
    return has_memory;
}

static void print_legend(eval_page *report)
{
    const eval_run *evaluation = report->evaluation;
    page_print(&report->page, "<ul class=\"legend dim\">\n");
    for (size_t i = 0; i < evaluation->contestant_count; i++)
        page_print(
            &report->page,
            "<li><svg viewBox=\"0 0 24 16\" aria-hidden=\"true\"><path class=\"c%zu\" d=\"M0 "
            "8L24 8\"/></svg>%s</li>\n",
            i % COLOURS, evaluation->contestants[evaluation->order[i]].name);
    page_print(&report->page,
               "<li>dot: the alerts as they were</li><li>dotted: chance</li></ul>\n");
}

bool report_curves(eval_page *report)
{
    static const curve_kind kinds[] = {{"ROC curve", "share of the other rows at least as high",
                                        "share of labelled rows found", true},
                                       {"Precision and recall",
                                        "recall: share of labelled rows found",
                                        "precision: labelled share of the rows", false}};
    const eval_rows *rows = &report->evaluation->rows;
    if (rows->anomaly_count == 0 || rows->anomaly_count == rows->count)
        return true;
    page_print(&report->page, "<h2>At every threshold</h2>\n<div class=\"pair\">\n");
    bool has_memory = draw_kind(report, &kinds[0]) && draw_kind(report, &kinds[1]);
    page_print(&report->page, "</div>\n");
    print_legend(report);
    return has_memory;
}
