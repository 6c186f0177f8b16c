#include "watch.h"

#include "cli/draw/chart.h"
#include "front/text/clock.h"
#include "front/text/durations.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_BYTES = 1024,
    AXIS_COLUMNS = 7, /* left of the chart */
    LABEL_BYTES = 64,
    NAME_COLUMNS = 24,
    KEYS_SHOWN_MAX = 10,
    SMALL_LINES = 16,  /* a lower terminal gets no titles */
    WIDE_COLUMNS = 80, /* a narrower terminal gets shorter lines */
    LINES_AROUND = 4   /* counts, status, marks and the axis of time */
};

static const double day_seconds = 86400;

/* How many lines each part has, titles included. */
typedef struct view_layout {
    size_t chart, episodes, columns, keys;
} view_layout;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Puts a text into a line, as printf, and returns the next line. */
__attribute__((format(printf, 4, 5))) static size_t
put_line(screen *picture, size_t line, screen_style style, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    screen_put(picture, line, 0, picture->columns, style, text);
    return line + 1;
}

/* ---- Counts and warm-up ---- */

static size_t paint_counts(const watch_view *watch, screen *picture)
{
    char keys[64] = "", rows[GROUPED_TEXT_BYTES], rate[GROUPED_TEXT_BYTES],
         count[GROUPED_TEXT_BYTES], episodes[GROUPED_TEXT_BYTES];
    double seconds = clock_seconds() - watch->started;
    if (watch->input->columns.has_key)
        snprintf(keys, sizeof keys, "   %s keys",
                 grouped_text(oif_pipeline_keys(watch->pipeline), count));
    return put_line(picture, 0, STYLE_BOLD, "%s rows   %s rows/s%s   %s anomalies in %s episode%s",
                    grouped_text(watch->rows, rows),
                    grouped_text(seconds > 0 ? (uint64_t)((double)watch->rows / seconds) : 0, rate),
                    keys, grouped_text(watch->anomalies, count),
                    grouped_text(watch->episode_total, episodes),
                    watch->episode_total == 1 ? "" : "s");
}

/* The mean time between two rows, by their times or else by the clock; 0: unknown. */
static double seconds_per_row(const watch_view *watch)
{
    double passed = watch->last_seconds - watch->first_seconds;
    if (watch->rows < 2)
        return 0;
    if (!(passed > 0))
        passed = watch->input->source.files.total_bytes > 0 ? 0 : clock_seconds() - watch->started;
    return passed / (double)(watch->rows - 1);
}

static size_t paint_warm_up(const watch_view *watch, screen *picture, size_t line)
{
    size_t keys = oif_pipeline_keys(watch->pipeline);
    uint64_t known = oif_pipeline_rows(watch->pipeline) / (keys > 0 ? keys : 1),
             left = known < OIF_FIRST_ROWS ? OIF_FIRST_ROWS - known : 0;
    double seconds = seconds_per_row(watch) * (double)left * (double)keys;
    char rows[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES], time_left[64] = "";
    if (seconds > 0)
        snprintf(time_left, sizeof time_left, ", about %s left", duration_text(seconds, duration));
    return put_line(picture, line, STYLE_YELLOW,
                    "warming up: %s of %d rows%s until the first possible alert%s",
                    grouped_text(known, rows), OIF_FIRST_ROWS,
                    watch->input->columns.has_key ? " of a key" : "", time_left);
}

static size_t paint_status(const watch_view *watch, screen *picture, size_t line)
{
    const char *message = watch->is_ended ? NULL : output_held_message();
    if (message)
        return put_line(picture, line, STYLE_YELLOW, "%s", message);
    return watch->is_ready ? line : paint_warm_up(watch, picture, line);
}

/* ---- Times ---- */

/* "19:05:01"; "11-15 19:05" where a day or more is shown. */
static void time_label(double seconds, bool has_days, char label[LABEL_BYTES])
{
    char moment[MOMENT_TEXT_BYTES];
    moment_text(seconds, moment);
    if (strlen(moment) < 19)
        snprintf(label, LABEL_BYTES, "%s", moment);
    else if (has_days)
        snprintf(label, LABEL_BYTES, "%.5s %.5s", moment + 5, moment + 11);
    else
        snprintf(label, LABEL_BYTES, "%.8s", moment + 11);
}

/* ---- Scores ---- */

/* The bin at a position; 0 is the oldest. */
static const watch_bin *bin_at(const watch_view *watch, size_t position)
{
    return &watch->bins[(watch->newest_bin + 1 + WATCH_BINS - watch->bin_count + position) %
                        WATCH_BINS];
}

typedef struct score_chart {
    const watch_view *watch;
    size_t bins, width; /* the bins that are shown, and the width of the chart in characters */
    double low, high;
} score_chart;

/* The bins that share one column of the chart, as one bin. */
static watch_bin chart_column(const score_chart *chart, size_t column)
{
    size_t from = column * chart->bins / chart->width,
           to = (column + 1) * chart->bins / chart->width;
    watch_bin found = {.highest = NAN, .threshold = NAN, .is_marked = false};
    for (size_t i = from; i == from || i < to; i++) {
        const watch_bin *bin = bin_at(chart->watch, i);
        found.is_marked |= bin->is_marked;
        if (isnan(bin->highest) || bin->highest <= found.highest)
            continue;
        found.highest = bin->highest;
        found.threshold = bin->threshold;
    }
    return found;
}

static score_chart make_chart(const watch_view *watch, size_t width)
{
    bool is_file = watch->input->source.files.total_bytes > 0;
    score_chart chart = {.watch = watch,
                         .bins = watch->bin_count,
                         .width = is_file ? width : smaller(watch->bin_count, width),
                         .low = INFINITY,
                         .high = -INFINITY};
    for (size_t i = 0; i < chart.bins; i++) {
        const watch_bin *bin = bin_at(watch, i);
        chart.low = fmin(chart.low, bin->highest);
        chart.high = fmax(chart.high, bin->highest);
        if (isfinite(bin->threshold))
            chart.high = fmax(chart.high, bin->threshold);
    }
    return chart;
}

/* How high a severity is, in eighths of a line; at least one. */
static int eighths_of(const score_chart *chart, double severity, size_t lines)
{
    double range = chart->high > chart->low ? chart->high - chart->low : 1;
    int eighths = (int)((severity - chart->low) / range * (double)lines * 8 + 0.5);
    return eighths < 1 ? 1 : eighths;
}

static void paint_column(const score_chart *chart, screen *picture, size_t top, size_t lines,
                         size_t column)
{
    watch_bin bin = chart_column(chart, column);
    int filled = isnan(bin.highest) ? 0 : eighths_of(chart, bin.highest, lines),
        threshold = isfinite(bin.threshold) ? eighths_of(chart, bin.threshold, lines) : -1;
    for (size_t i = 0; i < lines; i++) {
        int rest = filled - (int)i * 8;
        bool has_threshold = threshold > (int)i * 8 && threshold <= (int)(i + 1) * 8;
        const char *glyph = rest > 0 ? chart_fill(rest) : has_threshold ? chart_line() : NULL;
        screen_style style = rest <= 0 ? STYLE_FAINT : bin.is_marked ? STYLE_RED : STYLE_PLAIN;
        if (glyph)
            screen_put(picture, top + lines - 1 - i, AXIS_COLUMNS + column, picture->columns, style,
                       glyph);
    }
    if (bin.is_marked)
        screen_put(picture, top + lines, AXIS_COLUMNS + column, picture->columns, STYLE_RED,
                   chart_mark());
}

static void bin_label(const watch_view *watch, const watch_bin *bin, bool has_days,
                      char label[LABEL_BYTES])
{
    char row[GROUPED_TEXT_BYTES];
    if (!isnan(watch->first_seconds) || watch->input->source.files.total_bytes == 0)
        time_label(bin->seconds, has_days, label);
    else
        snprintf(label, LABEL_BYTES, "row %s", grouped_text(bin->row, row));
}

/* The times of the first bin, of the middle one and of the last. */
static void paint_time_axis(const score_chart *chart, screen *picture, size_t line)
{
    const watch_view *watch = chart->watch;
    const watch_bin *first = bin_at(watch, 0), *middle = bin_at(watch, chart->bins / 2),
                    *last = bin_at(watch, chart->bins - 1);
    bool has_days = last->seconds - first->seconds >= day_seconds;
    char label[3][LABEL_BYTES];
    bin_label(watch, first, has_days, label[0]);
    bin_label(watch, middle, has_days, label[1]);
    bin_label(watch, last, has_days, label[2]);
    size_t end = screen_put(picture, line, AXIS_COLUMNS, picture->columns, STYLE_FAINT, label[0]),
           bytes = strlen(label[2]), right = AXIS_COLUMNS + chart->width;
    size_t at = right > end + 2 + bytes ? right - bytes : end + 2;
    size_t centre = AXIS_COLUMNS + chart->width / 2;
    if (chart->bins < 2)
        return;
    screen_put(picture, line, at, picture->columns, STYLE_FAINT, label[2]);
    if (centre > end + 2 && centre + strlen(label[1]) + 2 < at)
        screen_put(picture, line, centre, picture->columns, STYLE_FAINT, label[1]);
}

static size_t paint_chart(const watch_view *watch, screen *picture, size_t top, size_t lines)
{
    char text[LABEL_BYTES];
    if (watch->bin_count == 0 || picture->columns <= AXIS_COLUMNS + 1)
        return top;
    score_chart chart = make_chart(watch, picture->columns - AXIS_COLUMNS);
    if (chart.high >= chart.low) {
        snprintf(text, sizeof text, "%6.3g", chart.high);
        screen_put(picture, top, 0, AXIS_COLUMNS - 1, STYLE_FAINT, text);
        snprintf(text, sizeof text, "%6.3g", chart.low);
        screen_put(picture, top + lines - 1, 0, AXIS_COLUMNS - 1, STYLE_FAINT, text);
        for (size_t column = 0; column < chart.width; column++)
            paint_column(&chart, picture, top, lines, column);
    }
    paint_time_axis(&chart, picture, top + lines + 1);
    return top + lines + 2;
}

/* ---- Episodes ---- */

static screen_style grade_style(const watch_episode *episode)
{
    return episode->is_note || episode->info.peak_grade < OIF_GRADE_WARNING ? STYLE_PLAIN
           : episode->info.peak_grade == OIF_GRADE_CRITICAL                 ? STYLE_RED
                                                                            : STYLE_YELLOW;
}

static void length_text(const oif_episode_info *info, char text[LABEL_BYTES])
{
    char rows[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES];
    double seconds = info->last_seconds - info->first_seconds;
    snprintf(text, LABEL_BYTES, "%s%s rows%s%s", info->is_over ? "" : "now, ",
             grouped_text(info->rows, rows), seconds > 0 ? ", " : "",
             seconds > 0 ? duration_text(seconds, duration) : "");
}

static size_t paint_episode(const watch_view *watch, const watch_episode *episode, screen *picture,
                            size_t line)
{
    const screen_style style = grade_style(episode);
    const oif_episode_info *info = &episode->info;
    const char *grade = grade_word(info->peak_grade);
    char start[LABEL_BYTES], length[LABEL_BYTES], row[GROUPED_TEXT_BYTES];
    if (episode->is_note)
        return put_line(picture, line, style, "  %s", episode->reason);
    if (isnan(info->first_seconds))
        snprintf(start, sizeof start, "row %s", grouped_text(info->first_row, row));
    else
        time_label(info->first_seconds, watch->last_seconds - info->first_seconds >= day_seconds,
                   start);
    if (picture->columns < WIDE_COLUMNS)
        return put_line(picture, line, style, "%s %s %.1f %s%s%s", start, grade,
                        info->peak_severity, episode->key, *episode->key ? " " : "",
                        episode->reason);
    length_text(info, length);
    return put_line(picture, line, style, "  %-11s  %-20s  %-8s %5.1f  %s%s%s", start, length,
                    grade, info->peak_severity, episode->key, *episode->key ? "  " : "",
                    episode->reason);
}

static size_t paint_episodes(const watch_view *watch, screen *picture, size_t line, size_t lines)
{
    size_t known = smaller((size_t)watch->episode_count, WATCH_EPISODES), end = line + lines;
    if (known == 0 || picture->lines >= SMALL_LINES)
        line = put_line(picture, line, STYLE_BOLD, known > 0 ? "episodes" : "no alert yet");
    for (size_t i = 1; i <= known && line < end; i++)
        line = paint_episode(watch, &watch->episodes[(watch->episode_count - i) % WATCH_EPISODES],
                             picture, line);
    return line;
}

/* ---- Columns ---- */

/* The first point to draw: if not all fit, those around the start of the episode are drawn. */
static size_t first_point(const watch_picture *chosen, size_t width)
{
    size_t begin = chosen->count - chosen->after, before = width * 2 / 3;
    if (chosen->count <= width)
        return 0;
    return smaller(begin > before ? begin - before : 0, chosen->count - width);
}

static void paint_points(const double *points, size_t count, screen *picture, size_t line)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, points[i]);
        high = fmax(high, points[i]);
    }
    for (size_t i = 0; i < count; i++)
        screen_put(picture, line, NAME_COLUMNS + i, picture->columns, STYLE_PLAIN,
                   chart_cell((points[i] - low) / (high > low ? high - low : 1)));
    if (high >= low) {
        char text[LABEL_BYTES];
        snprintf(text, sizeof text, "  %.4g to %.4g", low, high);
        screen_put(picture, line, NAME_COLUMNS + count, picture->columns, STYLE_FAINT, text);
    }
}

static size_t paint_columns(const watch_view *watch, screen *picture, size_t line, size_t lines)
{
    const watch_picture *chosen = &watch->picture;
    const size_t range_columns = 26;
    size_t width = picture->columns > NAME_COLUMNS + range_columns + 8
                       ? picture->columns - NAME_COLUMNS - range_columns
                       : 8;
    size_t first = first_point(chosen, width);
    if (lines < 2)
        return line;
    line = put_line(picture, line, STYLE_BOLD, "%s%saround the start of the latest episode",
                    chosen->key, *chosen->key ? ": " : "");
    for (size_t i = 0; i + 1 < lines && i < watch->column_count; i++, line++) {
        size_t column = chosen->order[i];
        screen_put(picture, line, 2, NAME_COLUMNS - 1, STYLE_PLAIN, watch->names[column]);
        paint_points(chosen->points + column * WATCH_POINTS + first, smaller(chosen->count, width),
                     picture, line);
    }
    return line;
}

/* ---- Keys ---- */

static bool is_more_unusual(const watch_key *a, const watch_key *b)
{
    if (a->is_in_episode != b->is_in_episode)
        return a->is_in_episode;
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->row > b->row;
}

/* The most unusual keys, best first; returns how many. */
static size_t rank_keys(const watch_view *watch, const watch_key *ranked[KEYS_SHOWN_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < WATCH_KEYS; i++) {
        const watch_key *key = &watch->keys[i];
        size_t place = count;
        if (key->row == 0)
            continue;
        while (place > 0 && is_more_unusual(key, ranked[place - 1]))
            place--;
        if (place == KEYS_SHOWN_MAX)
            continue;
        count += count < KEYS_SHOWN_MAX;
        memmove(ranked + place + 1, ranked + place, (count - 1 - place) * sizeof *ranked);
        ranked[place] = key;
    }
    return count;
}

static size_t paint_keys(const watch_view *watch, screen *picture, size_t line, size_t lines)
{
    const watch_key *ranked[KEYS_SHOWN_MAX];
    size_t count = rank_keys(watch, ranked);
    if (lines < 2)
        return line;
    line = put_line(picture, line, STYLE_BOLD, "keys, the most unusual now first");
    for (size_t i = 0; i + 1 < lines && i < count; i++)
        line = put_line(picture, line, ranked[i]->is_in_episode ? STYLE_RED : STYLE_PLAIN,
                        "  %-*s severity %5.1f%s", NAME_COLUMNS - 3, ranked[i]->name,
                        ranked[i]->severity, ranked[i]->is_in_episode ? "  in an episode" : "");
    return line;
}

/* ---- All of it ---- */

/* The chart gets the lines that the lists do not need. If these are too few, the lists are
 * shortened. */
static view_layout lay_out(const watch_view *watch, size_t lines)
{
    const watch_key *ranked[KEYS_SHOWN_MAX];
    size_t keys = rank_keys(watch, ranked), least = lines < SMALL_LINES ? 3 : 5,
           room = lines > LINES_AROUND ? lines - LINES_AROUND : 0,
           rest = room > least ? room - least : 0;
    view_layout layout = {
        .episodes = smaller((size_t)watch->episode_count, WATCH_EPISODES) + 1,
        .columns = watch->picture.is_shown ? watch->column_count + 1 : 0,
        .keys = keys > 1 ? keys + 1 : 0,
    };
    if (layout.episodes + layout.columns + layout.keys > rest) {
        layout.keys = rest >= 12 ? smaller(layout.keys, rest / 4) : 0;
        layout.columns = rest >= 6 ? smaller(layout.columns, rest / 3) : 0;
        layout.episodes = smaller(layout.episodes, rest - layout.columns - layout.keys);
    }
    size_t used = layout.episodes + layout.columns + layout.keys;
    layout.chart = room > used ? room - used : 1;
    layout.chart = smaller(layout.chart, lines * 2 / 3 > least ? lines * 2 / 3 : least);
    return layout;
}

void watch_view_paint(const watch_view *watch, screen *picture)
{
    view_layout layout = lay_out(watch, picture->lines);
    size_t line = paint_counts(watch, picture);
    line = paint_status(watch, picture, line);
    line = paint_chart(watch, picture, line, layout.chart);
    line = paint_episodes(watch, picture, line, layout.episodes);
    if (layout.columns > 0)
        line = paint_columns(watch, picture, line, layout.columns);
    if (layout.keys > 0)
        paint_keys(watch, picture, line, layout.keys);
}
