#include "svg.h"

#include <math.h>

double svg_at(const svg_scale *scale, double value)
{
    double share = scale->to > scale->from ? (value - scale->from) / (scale->to - scale->from) : .5;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return scale->start + share * (scale->end - scale->start);
}

void svg_begin(html_page *page, int width, int height, const char *title)
{
    page_print(page,
               "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">",
               width, height);
    page_print(page, "<title>");
    page_text(page, title);
    page_print(page, "</title>\n");
}

void svg_end(html_page *page)
{
    page_print(page, "</svg>\n");
}

void svg_line(html_page *page, const char *class, double x1, double y1, double x2, double y2)
{
    page_print(page, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               class, x1, y1, x2, y2);
}

void svg_box(html_page *page, const char *class, double x, double y, double width, double height)
{
    page_print(page, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               class, x, y, width, height);
}

void svg_dot(html_page *page, const char *class, double x, double y, double radius)
{
    page_print(page, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", class, x, y,
               radius);
}

void svg_text(html_page *page, const char *class, svg_anchor anchor, double x, double y,
              const char *text)
{
    static const char *const words[] = {"start", "middle", "end"};
    page_print(page, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class,
               words[anchor], x, y);
    page_text(page, text);
    page_print(page, "</text>\n");
}

void svg_path_begin(html_page *page, const char *class)
{
    page_print(page, "<path class=\"%s\" d=\"", class);
}

void svg_path_point(html_page *page, double x, double y, bool moves)
{
    page_print(page, "%c%.1f %.1f", moves ? 'M' : 'L', x, y);
}

void svg_path_end(html_page *page)
{
    page_print(page, "\"/>\n");
}

/* ---- Axes ---- */

/* 1, 2 or 5 times a power of ten: the least that makes at most `most` steps. */
static double round_step(double span, size_t most)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(span / (double)most)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (span / (steps[i] * power) <= (double)most)
            return steps[i] * power;
    return 10 * power;
}

size_t svg_ticks(double from, double to, size_t most, double ticks[SVG_TICKS_MAX])
{
    size_t count = 0;
    if (!(to > from) || !isfinite(to - from)) {
        ticks[0] = from;
        return 1;
    }
    double step = round_step(to - from, most < SVG_TICKS_MAX ? most : SVG_TICKS_MAX - 1);
    for (double i = ceil(from / step); i * step <= to && count < SVG_TICKS_MAX; i++)
        ticks[count++] = i == 0 ? 0 : i * step; /* not -0 */
    return count;
}

const char *svg_number(double number, char text[SVG_NUMBER_BYTES])
{
    static const struct {
        double size;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    double size = fabs(number);
    if (size >= 1e15 || (size > 0 && size < 1e-3)) {
        snprintf(text, SVG_NUMBER_BYTES, "%.1e", number);
        return text;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units && size >= 1e4; i++) {
        if (size < units[i].size)
            continue;
        snprintf(text, SVG_NUMBER_BYTES, "%.4g%s", number / units[i].size, units[i].letter);
        return text;
    }
    snprintf(text, SVG_NUMBER_BYTES, "%.4g", number);
    return text;
}

void svg_axis_y(html_page *page, const svg_frame *frame, size_t most, const char *title)
{
    double ticks[SVG_TICKS_MAX];
    size_t count = svg_ticks(frame->y.from, frame->y.to, most, ticks);
    for (size_t i = 0; i < count; i++) {
        char text[SVG_NUMBER_BYTES];
        double y = svg_at(&frame->y, ticks[i]);
        svg_line(page, "grid", frame->x.start, y, frame->x.end, y);
        svg_text(page, "tick", SVG_END, frame->x.start - 5, y + 4, svg_number(ticks[i], text));
    }
    svg_text(page, "axis", SVG_START, frame->x.start, frame->y.end - 8, title);
}

void svg_mark_x(html_page *page, const svg_frame *frame, double value, svg_anchor anchor,
                const char *text)
{
    double x = svg_at(&frame->x, value);
    svg_line(page, "mark", x, frame->y.start, x, frame->y.start + 4);
    svg_text(page, "tick", anchor, x, frame->y.start + 17, text);
}
