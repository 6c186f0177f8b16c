#include "watch.h"

#include "chart.h"
#include "clock.h"
#include "durations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ROWS_PER_LOOK_AT_THE_CLOCK = 16, LINE_BYTES = 1024 };

static const double draw_seconds = 0.1, bin_seconds = 0.1;

bool watch_is_possible(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void watch_start(watch_view *watch, const cli_input *input, const oif_pipeline *pipeline)
{
    *watch = (watch_view){.input = input,
                          .pipeline = pipeline,
                          .started = clock_seconds(),
                          .first_seconds = NAN,
                          .last_seconds = NAN};
    for (size_t i = 0; i < WATCH_BINS; i++)
        watch->bins[i].highest = NAN;
}

/* ---- Rows ---- */

static void add_to_bins(watch_view *watch, const oif_result *result, double now)
{
    if (watch->rows == 1 || now - watch->bin_started >= bin_seconds) {
        watch->newest_bin = (watch->newest_bin + 1) % WATCH_BINS;
        watch->bins[watch->newest_bin].highest = NAN;
        watch->bins[watch->newest_bin].is_marked = false;
        watch->bin_started = now;
    }
    watch->bins[watch->newest_bin].highest =
        fmax(watch->bins[watch->newest_bin].highest, result->score);
    watch->bins[watch->newest_bin].is_marked |= result->anomaly;
}

static oif_text text_of(const oif_record *record, bool has_it, size_t number)
{
    return has_it ? record->texts[number] : (oif_text){"", 0};
}

static void add_alert(watch_view *watch, const oif_record *record, const row_verdict *verdict)
{
    const cli_columns *columns = &watch->input->columns;
    oif_text key = columns->has_key ? key_columns_text(&columns->key, record) : (oif_text){"", 0};
    oif_text time = text_of(record, columns->has_time, columns->time_text);
    char *text = watch->alerts[watch->alert_count++ % WATCH_ALERTS], row[GROUPED_TEXT_BYTES];
    int length = snprintf(
        text, WATCH_ALERT_BYTES, "%.*s%s%.*s%srow %s  %s %.1f  score %.3f  p %.2g  ",
        key.bytes < 40 ? (int)key.bytes : 40, key.text, columns->has_key ? "  " : "",
        time.bytes < 40 ? (int)time.bytes : 40, time.text, columns->has_time ? "  " : "",
        grouped_text(oif_pipeline_rows(watch->pipeline), row), grade_word(verdict->result.grade),
        verdict->result.severity, verdict->result.score, verdict->result.p);
    if (length > 0 && length < WATCH_ALERT_BYTES)
        result_fields_reasons_text(verdict, text + length, (size_t)(WATCH_ALERT_BYTES - length));
}

void watch_note(watch_view *watch, const char *text)
{
    snprintf(watch->alerts[watch->alert_count++ % WATCH_ALERTS], WATCH_ALERT_BYTES, "%s", text);
}

bool watch_row(watch_view *watch, const oif_record *record, const row_verdict *verdict,
               double seconds)
{
    const oif_result *result = &verdict->result;
    bool looks = watch->rows++ % ROWS_PER_LOOK_AT_THE_CLOCK == 0 ||
                 watch->input->source.files.total_bytes == 0;
    double now = looks ? clock_seconds() : watch->bin_started;
    watch->is_ready = result->ready;
    if (isnan(watch->first_seconds))
        watch->first_seconds = seconds;
    watch->last_seconds = isnan(seconds) ? watch->last_seconds : seconds;
    watch->anomalies += result->anomaly;
    watch->episodes += result->episode == OIF_EPISODE_BEGINS;
    add_to_bins(watch, result, now);
    if (result->anomaly)
        add_alert(watch, record, verdict);
    if (looks && now >= watch->next_draw)
        watch_draw(watch);
    return output_is_open();
}

/* ---- Drawing ---- */

static size_t terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Text of the input must not move the cursor or change colours: control characters, also those
 * that UTF-8 writes as two bytes, become question marks. */
static void disarm(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            *c = '?';
}

/* The bytes of the text that fill at most that many columns, one per character. */
static size_t bytes_that_fit(const char *text, size_t columns)
{
    size_t bytes = 0;
    for (; text[bytes]; bytes++) {
        bool begins_character = ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (begins_character && columns-- == 0)
            break;
    }
    return bytes;
}

static void draw_line(watch_view *watch, const char *colour, char *text)
{
    static const char end[] = "\033[0m";
    bool plain = !*colour || getenv("NO_COLOR");
    output_print("%s%.*s%s\033[K\n", plain ? "" : colour,
                 (int)bytes_that_fit(text, terminal_columns() - 1), text, plain ? "" : end);
    watch->lines_drawn++;
}

static void draw_counts(watch_view *watch)
{
    char line[LINE_BYTES], keys[64] = "", rows[GROUPED_TEXT_BYTES], rate[GROUPED_TEXT_BYTES],
                           count[GROUPED_TEXT_BYTES], episodes[GROUPED_TEXT_BYTES];
    double seconds = clock_seconds() - watch->started;
    if (watch->input->columns.has_key)
        snprintf(keys, sizeof keys, "   %s keys",
                 grouped_text(oif_pipeline_keys(watch->pipeline), count));
    snprintf(line, sizeof line, "%s rows   %s rows/s%s   %s anomalies in %s episodes",
             grouped_text(watch->rows, rows),
             grouped_text(seconds > 0 ? (uint64_t)((double)watch->rows / seconds) : 0, rate), keys,
             grouped_text(watch->anomalies, count), grouped_text(watch->episodes, episodes));
    draw_line(watch, "\033[1m", line);
}

static void draw_scores(watch_view *watch)
{
    char line[LINE_BYTES] = "score ", marks[LINE_BYTES] = "      ";
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < WATCH_BINS; i++) {
        low = fmin(low, watch->bins[i].highest);
        high = fmax(high, watch->bins[i].highest);
    }
    for (size_t i = 1; i <= WATCH_BINS; i++) {
        size_t bin = (watch->newest_bin + i) % WATCH_BINS;
        double share = (watch->bins[bin].highest - low) / (high > low ? high - low : 1);
        strcat(line, chart_cell(share));
        strcat(marks, watch->bins[bin].is_marked ? chart_mark() : " ");
    }
    if (high >= low)
        snprintf(line + strlen(line), sizeof line - strlen(line), "  %.2f to %.2f", low, high);
    draw_line(watch, "", line);
    draw_line(watch, "\033[31m", marks);
}

/* "warming up: at least 1,000 rows, 16.7 h, until the first alert": so rare is one. */
static void draw_warm_up(watch_view *watch)
{
    char line[LINE_BYTES], rows[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES], time[64] = "";
    double needed = ceil(1 / oif_pipeline_alert_rate(watch->pipeline)),
           passed = watch->last_seconds - watch->first_seconds;
    if (passed > 0 && watch->rows > 1)
        snprintf(time, sizeof time, ", %s,",
                 duration_text(passed / (double)(watch->rows - 1) * needed, duration));
    snprintf(line, sizeof line, "warming up: a key needs about %s rows%s before its first alert",
             grouped_text((uint64_t)needed, rows), time);
    draw_line(watch, "", line);
}

static void draw_alerts(watch_view *watch)
{
    uint64_t shown = watch->alert_count < WATCH_ALERTS ? watch->alert_count : WATCH_ALERTS;
    char title[] = "last alerts", none[] = "no alert yet", line[WATCH_ALERT_BYTES + 2];
    draw_line(watch, "\033[1m", shown > 0 ? title : none);
    for (uint64_t i = 1; i <= shown; i++) {
        snprintf(line, sizeof line, "  %s", watch->alerts[(watch->alert_count - i) % WATCH_ALERTS]);
        disarm(line);
        draw_line(watch, i == 1 ? "\033[31m" : "", line);
    }
}

void watch_draw(watch_view *watch)
{
    size_t lines_before = watch->lines_drawn;
    if (lines_before > 0)
        output_print("\033[%zuA", lines_before);
    watch->lines_drawn = 0;
    draw_counts(watch);
    draw_scores(watch);
    if (!watch->is_ready)
        draw_warm_up(watch);
    draw_alerts(watch);
    if (watch->lines_drawn < lines_before)
        output_print("\033[J");
    output_flush();
    watch->next_draw = clock_seconds() + draw_seconds;
}
