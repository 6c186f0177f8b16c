/* Some episodes with the columns around them: those that were found, missed or raised falsely, the
 * worst of each kind. */
#include "front/results/result_fields.h"
#include "front/text/durations.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum {
    CARDS = 12,
    CARD_COLUMNS = 3, /* of the rows that a card shows */
    ROWS_MAX = 600,   /* that a card shows */
    ROWS_AROUND = 40, /* before and after an episode */
    WIDTH = 320,
    CHART_HEIGHT = 84,
    LEFT = 52,
    RIGHT = 312,
};

typedef enum episode_kind {
    EPISODE_FOUND,
    EPISODE_MISSED,
    EPISODE_FALSE,
    EPISODE_KINDS
} episode_kind;

/* A labelled episode, or an episode of alerts that is false. */
typedef struct shown_episode {
    episode_kind kind;
    size_t first, last; /* rows */
    uint32_t key;
    size_t rows;  /* of its key, from the first to the last */
    size_t delay; /* rows; of one that is found */
    size_t first_alert;
    const alert_episode *alerts; /* NULL: missed */
    double weight;               /* the heaviest of its kind are shown */
    bool was_ready;
} shown_episode;

/* The heaviest of each kind. */
typedef struct shown_list {
    shown_episode items[EPISODE_KINDS][CARDS];
    size_t counts[EPISODE_KINDS], all[EPISODE_KINDS];
} shown_list;

/* ---- Which ---- */

static void add_shown(shown_list *list, const shown_episode *episode)
{
    shown_episode *items = list->items[episode->kind];
    size_t *count = &list->counts[episode->kind], place = *count;
    list->all[episode->kind]++;
    if (*count == CARDS && items[CARDS - 1].weight >= episode->weight)
        return;
    if (*count < CARDS)
        (*count)++;
    else
        place--;
    for (; place > 0 && items[place - 1].weight < episode->weight; place--)
        items[place] = items[place - 1];
    items[place] = *episode;
}

/* Where a key is: the labelled episode that lasts. */
typedef struct key_state {
    shown_episode labelled;
    bool is_labelled;
    size_t alert; /* 1 + its latest episode of alerts; 0: none */
} key_state;

/* For found episodes their severity, for missed ones their highest score. */
static void end_labelled(shown_list *list, key_state *state)
{
    if (state->is_labelled)
        add_shown(list, &state->labelled);
    state->is_labelled = false;
}

static void follow_label(const eval_page *report, key_state *state, size_t row, uint32_t key)
{
    const eval_try *shown = report->shown;
    shown_episode *labelled = &state->labelled;
    if (!state->is_labelled)
        *labelled =
            (shown_episode){.kind = EPISODE_MISSED, .first = row, .key = key, .weight = -INFINITY};
    state->is_labelled = true;
    labelled->last = row;
    labelled->rows++;
    labelled->was_ready |= (shown->marks[row] & ROW_IS_READY) != 0;
    if (labelled->kind == EPISODE_MISSED)
        labelled->weight = fmax(labelled->weight, shown->scores[row]);
    if (!(shown->marks[row] & ROW_IS_ALERT))
        return;
    if (labelled->kind == EPISODE_MISSED) {
        labelled->kind = EPISODE_FOUND;
        labelled->first_alert = row;
        labelled->delay = labelled->rows - 1;
        labelled->alerts = &shown->trace.episodes[state->alert - 1];
        labelled->weight = labelled->alerts->severity;
    }
}

static void follow_row(const eval_page *report, shown_list *list, key_state *state, size_t row,
                       bool touched[], size_t *begun)
{
    const eval_rows *rows = &report->evaluation->rows;
    uint8_t mark = report->shown->marks[row];
    if (mark & ROW_BEGINS_EPISODE)
        state->alert = ++*begun; /* the trace has them in the order of their begin */
    if (rows->labels[row]) {
        follow_label(report, state, row, rows->keys ? rows->keys[row] : 0);
        if (mark & ROW_IS_ALERT)
            touched[state->alert - 1] = true;
    } else {
        end_labelled(list, state);
    }
}

static void add_false(const eval_page *report, shown_list *list, const bool touched[])
{
    const eval_trace *trace = &report->shown->trace;
    for (size_t i = 0; i < trace->episode_count; i++) {
        const alert_episode *episode = &trace->episodes[i];
        if (!touched[i])
            add_shown(list, &(shown_episode){.kind = EPISODE_FALSE,
                                             .first = episode->first,
                                             .last = episode->last,
                                             .key = episode->key,
                                             .alerts = episode,
                                             .weight = episode->severity,
                                             .was_ready = true});
    }
}

static bool find_shown(const eval_page *report, shown_list *list)
{
    const eval_rows *rows = &report->evaluation->rows;
    key_state *states = calloc(rows->key_count, sizeof *states);
    bool *touched = calloc(report->shown->trace.episode_count + 1, sizeof *touched);
    size_t begun = 0;
    bool has_memory = states && touched;
    for (size_t i = 0; i < rows->count && has_memory; i++)
        follow_row(report, list, &states[rows->keys ? rows->keys[i] : 0], i, touched, &begun);
    for (size_t i = 0; i < rows->key_count && has_memory; i++)
        end_labelled(list, &states[i]);
    if (has_memory)
        add_false(report, list, touched);
    free(states);
    free(touched);
    return has_memory;
}

/* A third of the cards for each kind; cards that one kind does not need go to the others. */
static void share_cards(shown_list *list)
{
    size_t shares[EPISODE_KINDS] = {0}, given = 0;
    for (bool is_any = true; is_any && given < CARDS;) {
        is_any = false;
        for (size_t kind = 0; kind < EPISODE_KINDS && given < CARDS; kind++) {
            if (shares[kind] == list->counts[kind])
                continue;
            shares[kind]++;
            given++;
            is_any = true;
        }
    }
    for (size_t kind = 0; kind < EPISODE_KINDS; kind++)
        list->counts[kind] = shares[kind];
}

/* ---- The rows around one ---- */

typedef struct row_window {
    size_t rows[ROWS_MAX];
    size_t count;
    double *values; /* [count][columns] */
} row_window;

static bool is_of_key(const eval_rows *rows, size_t row, uint32_t key)
{
    return !rows->keys || rows->keys[row] == key;
}

/* Rows of the same key, from some before it to some after it. */
static void choose_rows(const eval_rows *rows, const shown_episode *episode, row_window *window)
{
    size_t first = episode->first, before = 0, after = 0;
    while (first > 0 && before < ROWS_AROUND)
        before += is_of_key(rows, --first, episode->key);
    for (size_t row = first; row < rows->count && window->count < ROWS_MAX && after < ROWS_AROUND;
         row++) {
        if (!is_of_key(rows, row, episode->key))
            continue;
        after += row > episode->last;
        window->rows[window->count++] = row;
    }
}

static exit_code read_rows(eval_page *report, row_window *window)
{
    exit_code code = EXIT_OK;
    window->values = calloc(window->count * report->column_count, sizeof *window->values);
    if (!window->values)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < window->count && code == EXIT_OK; i++)
        code = row_spool_read(&report->evaluation->spool, window->rows[i],
                              window->values + i * report->column_count);
    return code;
}

/* How far the values of an episode are from those before it, in standard deviations of those. */
static double change_of(const eval_page *report, const shown_episode *episode,
                        const row_window *window, size_t column)
{
    double sum[2] = {0}, squares = 0, farthest = 0;
    size_t count = 0;
    for (size_t i = 0; i < window->count && window->rows[i] < episode->first; i++) {
        double value = window->values[i * report->column_count + column];
        if (isnan(value))
            continue;
        sum[0] += value;
        count++;
    }
    double mean = count > 0 ? sum[0] / (double)count : 0;
    for (size_t i = 0; i < window->count && window->rows[i] <= episode->last; i++) {
        double off = window->values[i * report->column_count + column] - mean;
        if (window->rows[i] >= episode->first)
            farthest = fmax(farthest, fabs(off));
        else if (!isnan(off))
            squares += off * off;
    }
    double deviation = count > 1 ? sqrt(squares / (double)count) : 0;
    return deviation > 0 ? farthest / deviation : farthest;
}

/* First the columns that are the reasons, then those that change most. */
static size_t choose_columns(const eval_page *report, const shown_episode *episode,
                             const row_window *window, size_t chosen[CARD_COLUMNS])
{
    size_t count = 0;
    for (; episode->alerts && count < episode->alerts->reason_count && count < CARD_COLUMNS;
         count++)
        chosen[count] = episode->alerts->reasons[count].column;
    while (count < CARD_COLUMNS && count < report->column_count) {
        double largest = -1;
        size_t best = report->column_count;
        for (size_t i = 0; i < report->column_count; i++) {
            bool is_chosen = false;
            for (size_t j = 0; j < count; j++)
                is_chosen |= chosen[j] == i;
            double change = is_chosen ? -1 : change_of(report, episode, window, i);
            if (change > largest) {
                largest = change;
                best = i;
            }
        }
        if (best == report->column_count)
            break;
        chosen[count++] = best;
    }
    return count;
}

/* ---- Drawing ---- */

static svg_frame make_frame(const eval_page *report, const row_window *window, size_t column,
                            size_t position)
{
    double low = NAN, high = NAN, top = (double)(position * CHART_HEIGHT) + 20;
    for (size_t i = 0; i < window->count; i++) {
        low = fmin(low, window->values[i * report->column_count + column]);
        high = fmax(high, window->values[i * report->column_count + column]);
    }
    low = isnan(low) ? 0 : low;
    high = isnan(high) ? 1 : high;
    if (!(high > low)) {
        double margin = fmax(fabs(low), 1) / 10;
        low -= margin;
        high += margin;
    }
    return (svg_frame){{-0.5, (double)window->count - 0.5, LEFT, RIGHT},
                       {low, high, top + CHART_HEIGHT - 30, top}};
}

static void draw_labelled(eval_page *report, const svg_frame *frame, const row_window *window)
{
    const uint8_t *labels = report->evaluation->rows.labels;
    for (size_t i = 0, end; i < window->count; i = end + 1) {
        for (end = i; end < window->count && labels[window->rows[end]]; end++)
            ;
        double x = svg_at(&frame->x, (double)i - 0.5);
        if (end > i)
            svg_box(&report->page, "labelled", x, frame->y.end,
                    fmax(svg_at(&frame->x, (double)end - 0.5) - x, 1),
                    frame->y.start - frame->y.end);
    }
}

static void draw_values(eval_page *report, const svg_frame *frame, const row_window *window,
                        size_t column)
{
    bool moves = true;
    svg_path_begin(&report->page, "curve");
    for (size_t i = 0; i < window->count; i++) {
        double value = window->values[i * report->column_count + column];
        if (!isnan(value))
            svg_path_point(&report->page, svg_at(&frame->x, (double)i), svg_at(&frame->y, value),
                           moves);
        moves = isnan(value);
    }
    svg_path_end(&report->page);
    for (size_t i = 0; i < window->count; i++) {
        double value = window->values[i * report->column_count + column];
        if (report->shown->marks[window->rows[i]] & ROW_IS_ALERT)
            svg_dot(&report->page,
                    report->evaluation->rows.labels[window->rows[i]] ? "hit" : "wrong",
                    svg_at(&frame->x, (double)i),
                    isnan(value) ? frame->y.start : svg_at(&frame->y, value), 2.5);
    }
}

/* As much of a name as fits, in whole characters. */
enum { TITLE_BYTES = 44 };

static const char *shorten(const char *name, char title[TITLE_BYTES])
{
    int length = snprintf(title, TITLE_BYTES, "%s", name);
    if (length < TITLE_BYTES)
        return title;
    size_t end = TITLE_BYTES - 4;
    while (end > 0 && ((unsigned char)name[end] & 0xc0) == 0x80)
        end--;
    snprintf(title + end, TITLE_BYTES - end, "...");
    return title;
}

static void draw_column(eval_page *report, const row_window *window, size_t column, size_t position)
{
    html_page *page = &report->page;
    char low[SVG_NUMBER_BYTES], high[SVG_NUMBER_BYTES];
    svg_frame frame = make_frame(report, window, column, position);
    draw_labelled(report, &frame, window);
    svg_line(page, "grid", LEFT, frame.y.start, RIGHT, frame.y.start);
    svg_line(page, "grid", LEFT, frame.y.end, RIGHT, frame.y.end);
    svg_text(page, "tick", SVG_END, LEFT - 4, frame.y.start + 3, svg_number(frame.y.from, low));
    svg_text(page, "tick", SVG_END, LEFT - 4, frame.y.end + 4, svg_number(frame.y.to, high));
    char title[TITLE_BYTES];
    svg_text(page, "name", SVG_START, LEFT, frame.y.end - 6, shorten(report->names[column], title));
    draw_values(report, &frame, window, column);
}

static void draw_card(eval_page *report, const shown_episode *episode, const row_window *window)
{
    size_t chosen[CARD_COLUMNS], count = choose_columns(report, episode, window, chosen);
    char text[REPORT_PLACE_BYTES];
    double bottom = (double)count * CHART_HEIGHT + 10;
    svg_begin(&report->page, WIDTH, (int)bottom + 12, "Columns around this episode");
    for (size_t i = 0; i < count; i++)
        draw_column(report, window, chosen[i], i);
    svg_text(&report->page, "tick", SVG_START, LEFT, bottom,
             report_place(report, window->rows[0], text));
    svg_text(&report->page, "tick", SVG_END, RIGHT, bottom,
             report_place(report, window->rows[window->count - 1], text));
    svg_end(&report->page);
}

/* ---- Words ---- */

static void print_reasons(eval_page *report, const alert_episode *alerts)
{
    for (size_t i = 0; i < alerts->reason_count; i++) {
        const alert_reason *reason = &alerts->reasons[i];
        char unusual[256];
        result_fields_unusual_text(reason->why.reason, reason->why.direction, reason->value,
                                   report->names[reason->why.partner], unusual, sizeof unusual);
        page_print(&report->page, "%s", i > 0 ? "; " : "");
        page_text(&report->page, report->names[reason->column]);
        page_print(&report->page, " ");
        page_text(&report->page, unusual);
        page_print(&report->page, " %.0f%%", reason->why.share * 100);
    }
}

static void print_where(eval_page *report, const shown_episode *episode)
{
    const eval_rows *rows = &report->evaluation->rows;
    char first[GROUPED_TEXT_BYTES], last[GROUPED_TEXT_BYTES], place[REPORT_PLACE_BYTES];
    if (rows->keys) {
        oif_text key = eval_keys_text(&report->evaluation->keys, episode->key);
        page_text_bytes(&report->page, key.text, key.bytes);
        page_print(&report->page, ", ");
    }
    if (rows->seconds && !isnan(rows->seconds[episode->first]))
        page_print(&report->page, "%s, ", report_place(report, episode->first, place));
    page_print(&report->page, episode->first == episode->last ? "row %s" : "rows %s to ",
               grouped_text(episode->first + 1, first));
    if (episode->first != episode->last)
        page_print(&report->page, "%s", grouped_text(episode->last + 1, last));
}

static void print_delay(eval_page *report, const shown_episode *episode)
{
    const double *seconds = report->evaluation->rows.seconds;
    char duration[DURATION_TEXT_BYTES];
    if (episode->delay == 0) {
        page_print(&report->page, "Alert in its first row. ");
        return;
    }
    page_print(&report->page, "Alert after %zu row%s", episode->delay,
               episode->delay == 1 ? "" : "s");
    if (seconds && !isnan(seconds[episode->first_alert] - seconds[episode->first]))
        page_print(
            &report->page, ", %s",
            duration_text(seconds[episode->first_alert] - seconds[episode->first], duration));
    page_print(&report->page, ". ");
}

static void print_words(eval_page *report, const shown_episode *episode)
{
    static const char *const words[] = {"found", "missed", "false"};
    html_page *page = &report->page;
    page_print(page, "<h3><span class=\"badge %s\">%s</span> ", words[episode->kind],
               words[episode->kind]);
    print_where(report, episode);
    page_print(page, "</h3>\n<p class=\"dim\">");
    if (episode->kind == EPISODE_FOUND)
        print_delay(report, episode);
    if (episode->alerts) {
        page_print(page, "Severity %.1f: ", episode->alerts->severity);
        print_reasons(report, episode->alerts);
    } else if (!episode->was_ready) {
        page_print(page, "It lies before the detector was ready.");
    } else {
        char score[SVG_NUMBER_BYTES];
        page_print(page, "No alert; the highest score is %s. Below: what changed most.",
                   svg_number(episode->weight, score));
    }
    page_print(page, "</p>\n");
}

static exit_code print_card(eval_page *report, const shown_episode *episode)
{
    row_window window = {.count = 0};
    choose_rows(&report->evaluation->rows, episode, &window);
    exit_code code = read_rows(report, &window);
    if (code == EXIT_OK) {
        page_print(&report->page, "<div class=\"card\">\n");
        print_words(report, episode);
        draw_card(report, episode, &window);
        page_print(&report->page, "</div>\n");
    }
    free(window.values);
    return code;
}

static exit_code print_cards(eval_page *report, const shown_list *list)
{
    exit_code code = EXIT_OK;
    page_print(
        &report->page,
        "<h2>Episodes</h2>\n<p class=\"dim\">%zu found, %zu missed, %zu false; here the worst "
        "of each. Shaded: labelled rows. Dots: alerts.</p>\n<div class=\"cards\">\n",
        list->all[EPISODE_FOUND], list->all[EPISODE_MISSED], list->all[EPISODE_FALSE]);
    for (size_t kind = 0; kind < EPISODE_KINDS; kind++)
        for (size_t i = 0; i < list->counts[kind] && code == EXIT_OK; i++)
            code = print_card(report, &list->items[kind][i]);
    page_print(&report->page, "</div>\n");
    return code;
}

exit_code report_episodes(eval_page *report)
{
    shown_list *list = calloc(1, sizeof *list);
    exit_code code = EXIT_OK;
    if (!list || !find_shown(report, list))
        code = complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_OK)
        share_cards(list);
    if (code == EXIT_OK && list->counts[0] + list->counts[1] + list->counts[2] > 0)
        code = print_cards(report, list);
    free(list);
    return code;
}
