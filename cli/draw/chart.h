/* Scores over time, drawn with characters: blocks where the terminal can show them, plain ASCII
 * elsewhere. */
#ifndef OIF_CLI_CHART_H
#define OIF_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

/* How many columns the chart has for its bars; each shows the highest score of its share of the
 * rows. */
enum { CHART_COLUMNS = 64 };

/* Prints `count` scores from left to right, and below them a mark for each column with a marked
 * row. */
void chart_print(const double *scores, const bool *marked, size_t count);

/* One cell of a line chart, filled from below: `share` from 0 to 1, NaN for an empty cell. */
const char *chart_cell(double share);

/* A cell that is filled from below by 0 to 8 eighths, or whole from there on; and a piece of a
 * horizontal line. */
const char *chart_fill(int eighths);
const char *chart_line(void);

/* Whether the terminal shows more than ASCII. */
bool chart_is_unicode(void);

/* "▲" or "^": what the marks look like here. */
const char *chart_mark(void);

#endif
