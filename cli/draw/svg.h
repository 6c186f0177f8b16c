/* Drawings inside a page: SVG whose colours are classes of the page's style. Lengths are those of
 * the drawing, which is scaled to the width that it gets. */
#ifndef OIF_CLI_SVG_H
#define OIF_CLI_SVG_H

#include "page.h"

/* Numbers from `from` to `to` on the way from `start` to `end`. */
typedef struct svg_scale {
    double from, to, start, end;
} svg_scale;

/* Where a number is; beyond the ends, at the end. */
double svg_at(const svg_scale *scale, double value);

/* The area in which curves are drawn. */
typedef struct svg_frame {
    svg_scale x, y;
} svg_frame;

/* `title` is for screen readers. */
void svg_begin(html_page *page, int width, int height, const char *title);
void svg_end(html_page *page);

void svg_line(html_page *page, const char *class, double x1, double y1, double x2, double y2);
void svg_box(html_page *page, const char *class, double x, double y, double width, double height);
void svg_dot(html_page *page, const char *class, double x, double y, double radius);

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;
void svg_text(html_page *page, const char *class, svg_anchor anchor, double x, double y,
              const char *text);

/* A line through points; one that `moves` begins a new piece. */
void svg_path_begin(html_page *page, const char *class);
void svg_path_point(html_page *page, double x, double y, bool moves);
void svg_path_end(html_page *page);

/* Round numbers from `from` to `to`, at most `most`; returns how many. */
enum { SVG_TICKS_MAX = 12 };
size_t svg_ticks(double from, double to, size_t most, double ticks[SVG_TICKS_MAX]);

/* Lines across the frame at round numbers, with the numbers beside them; above, what they are. */
void svg_axis_y(html_page *page, const svg_frame *frame, size_t most, const char *title);

/* A mark below the frame with a text. */
void svg_mark_x(html_page *page, const svg_frame *frame, double value, svg_anchor anchor,
                const char *text);

/* "1234", "0.25", "1.5M", "2.0e-05": short enough for an axis. */
enum { SVG_NUMBER_BYTES = 32 };
const char *svg_number(double number, char text[SVG_NUMBER_BYTES]);

#endif
