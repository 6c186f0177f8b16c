#include "chart.h"

#include "front/text/output.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_LINES = 8, LEVELS_PER_LINE = 8 };

/* One character cell filled from below in eighths, and the pieces around the bars. */
typedef struct chart_pen {
    const char *fill[LEVELS_PER_LINE + 1];
    const char *axis, *corner, *base, *mark;
} chart_pen;

static const chart_pen block_pen = {
    {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "┤", "└", "─", "▲"};
static const chart_pen ascii_pen = {
    {" ", " ", ".", ".", ":", ":", "|", "|", "|"}, "|", "+", "-", "^"};

static const chart_pen *choose_pen(void)
{
    static const chart_pen *chosen;
    const char *terminal = getenv("TERM");
    if (chosen)
        return chosen;
    setlocale(LC_CTYPE, ""); /* only the character set: numbers keep their decimal point */
    chosen =
        strcmp(nl_langinfo(CODESET), "UTF-8") != 0 || (terminal && strcmp(terminal, "dumb") == 0)
            ? &ascii_pen
            : &block_pen;
    return chosen;
}

bool chart_is_unicode(void)
{
    return choose_pen() == &block_pen;
}

const char *chart_fill(int eighths)
{
    return choose_pen()->fill[eighths > LEVELS_PER_LINE ? LEVELS_PER_LINE : eighths];
}

const char *chart_line(void)
{
    return choose_pen()->base;
}

const char *chart_mark(void)
{
    return choose_pen()->mark;
}

const char *chart_cell(double share)
{
    const chart_pen *pen = choose_pen();
    return isnan(share)
               ? " "
               : pen->fill[1 + (int)(fmin(fmax(share, 0), 1) * (LEVELS_PER_LINE - 1) + 0.5)];
}

typedef struct chart_bars {
    double highest[CHART_COLUMNS];
    bool marked[CHART_COLUMNS];
    double bottom, top; /* of the axis */
} chart_bars;

static size_t column_of(size_t row, size_t count)
{
    return row * CHART_COLUMNS / count;
}

/* The axis starts and ends at a multiple of a tenth, and is at least a tenth long. */
static void fit_axis(chart_bars *bars)
{
    double low = bars->highest[0], high = bars->highest[0];
    for (size_t i = 1; i < CHART_COLUMNS; i++) {
        low = fmin(low, bars->highest[i]);
        high = fmax(high, bars->highest[i]);
    }
    bars->bottom = floor(low * 10) / 10;
    bars->top = fmax(ceil(high * 10) / 10, bars->bottom + 0.1);
}

static chart_bars gather_bars(const double *scores, const bool *marked, size_t count)
{
    chart_bars bars = {.bottom = 0};
    for (size_t row = 0; row < count; row++) {
        size_t column = column_of(row, count);
        bars.highest[column] = fmax(bars.highest[column], scores[row]);
        bars.marked[column] |= marked[row];
    }
    fit_axis(&bars);
    return bars;
}

/* How many eighths of the cell on this line, counted from the bottom, the bar fills. */
static int filled_levels(const chart_bars *bars, size_t column, int line)
{
    double share = (bars->highest[column] - bars->bottom) / (bars->top - bars->bottom);
    int levels = (int)(share * CHART_LINES * LEVELS_PER_LINE + 0.5) - line * LEVELS_PER_LINE;
    if (line == 0 && levels < 1)
        levels = 1; /* a bar that ends at the axis is still a bar */
    return levels < 0 ? 0 : levels > LEVELS_PER_LINE ? LEVELS_PER_LINE : levels;
}

static void print_line(const chart_bars *bars, const chart_pen *pen, int line)
{
    if (line == CHART_LINES - 1)
        output_print("  %4.2f %s", bars->top, pen->axis);
    else if (line == 0)
        output_print("  %4.2f %s", bars->bottom, pen->axis);
    else
        output_print("       %s", pen->axis);
    for (size_t column = 0; column < CHART_COLUMNS; column++)
        output_print("%s", pen->fill[filled_levels(bars, column, line)]);
    output_print("\n");
}

void chart_print(const double *scores, const bool *marked, size_t count)
{
    chart_bars bars = gather_bars(scores, marked, count);
    const chart_pen *pen = choose_pen();
    for (int line = CHART_LINES - 1; line >= 0; line--)
        print_line(&bars, pen, line);
    output_print("       %s", pen->corner);
    for (size_t column = 0; column < CHART_COLUMNS; column++)
        output_print("%s", pen->base);
    output_print("\n        ");
    for (size_t column = 0; column < CHART_COLUMNS; column++)
        output_print("%s", bars.marked[column] ? pen->mark : " ");
    output_print("\n");
}
