/* Some episodes with the columns around them: those that were found, missed or raised falsely, the
 * worst of each kind. */
#include "front/results/result_fields.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"
#include "report.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    CARDS = 12,
    CARD_COLUMNS = 3, /* columns of a card */
    ROWS_MAX = 600,   /* rows of a card */
    ROWS_AROUND = 40, /* before and after an episode */
    EXPECTED_DIGITS = 7,
};

/* A labelled episode, or an episode of alerts that is false. */
typedef struct shown_episode {
    episode_kind kind;
    size_t first, last; /* rows */
    uint32_t key;
    size_t rows;  /* of its key, from the first to the last */
    size_t delay; /* if found: rows until the first alert */
    size_t first_alert;
    const alert_episode *alerts; /* NULL: missed */
    double weight;               /* episodes with the largest weights are shown */
    bool was_ready;
} shown_episode;

/* The episodes of each kind with the largest weights. */
typedef struct shown_list {
    shown_episode items[EPISODE_KINDS][CARDS];
    size_t counts[EPISODE_KINDS], all[EPISODE_KINDS];
    size_t begun; /* episodes of alerts so far; the trace has them in the order of their begin */
} shown_list;

/* ---- Which ---- */

static void add_shown(shown_list *list, const shown_episode *episode)
{
    shown_episode *items = list->items[episode->kind];
    size_t *count = &list->counts[episode->kind], place = *count;
    list->all[episode->kind]++;
    while (place > 0 && items[place - 1].weight < episode->weight)
        place--;
    if (place == CARDS)
        return;
    *count += *count < CARDS;
    memmove(items + place + 1, items + place, (*count - place - 1) * sizeof *items);
    items[place] = *episode;
}

/* What is open for a key: a labelled episode. */
typedef struct key_state {
    shown_episode labelled;
    bool is_labelled;
    size_t alert; /* 1 + its latest episode of alerts; 0: none */
} key_state;

/* For found episodes the severity of their alerts, for missed ones their highest. */
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
        labelled->weight = fmax(labelled->weight, (double)shown->trace.severities[row]);
    if (!(shown->marks[row] & ROW_IS_ALERT))
        return;
    alert_episode *alerts = &shown->trace.episodes[state->alert - 1];
    alerts->is_labelled = true;
    if (labelled->kind == EPISODE_MISSED) {
        labelled->kind = EPISODE_FOUND;
        labelled->first_alert = row;
        labelled->delay = labelled->rows - 1;
        labelled->alerts = alerts;
        labelled->weight = alerts->severity;
    }
}

static void follow_row(const eval_page *report, shown_list *list, key_state *state, size_t row)
{
    const eval_rows *rows = &report->evaluation->rows;
    if (report->shown->marks[row] & ROW_BEGINS_EPISODE)
        state->alert = ++list->begun;
    if (rows->labels[row])
        follow_label(report, state, row, rows->keys ? rows->keys[row] : 0);
    else
        end_labelled(list, state);
}

static void add_false(const eval_page *report, shown_list *list)
{
    const eval_trace *trace = &report->shown->trace;
    for (size_t i = 0; i < trace->episode_count; i++) {
        const alert_episode *episode = &trace->episodes[i];
        if (!episode->is_labelled)
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
    if (!states)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        follow_row(report, list, &states[rows->keys ? rows->keys[i] : 0], i);
    for (size_t i = 0; i < rows->key_count; i++)
        end_labelled(list, &states[i]);
    add_false(report, list);
    free(states);
    return true;
}

/* A third of the cards for each kind; cards that one kind does not need go to the others. */
static void share_cards(shown_list *list)
{
    size_t shares[EPISODE_KINDS] = {0}, given = 0;
    for (size_t turn = 0; turn < CARDS; turn++)
        for (size_t kind = 0; kind < EPISODE_KINDS; kind++)
            if (turn < list->counts[kind] && given < CARDS) {
                shares[kind]++;
                given++;
            }
    memcpy(list->counts, shares, sizeof shares);
}

/* ---- The rows around one ---- */

typedef struct row_window {
    size_t rows[ROWS_MAX];
    size_t count;
    double *values;              /* [count][columns] */
    const float *ends[ROWS_MAX]; /* what was expected, see eval_bands_of */
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
    const double *value = window->values + column;
    double before[ROWS_AROUND], mean, deviation, farthest = 0;
    size_t i = 0;
    for (; i < window->count && window->rows[i] < episode->first; i++)
        before[i] = value[i * report->column_count];
    eval_measures_spread(before, i, &mean, &deviation);
    for (; i < window->count && window->rows[i] <= episode->last; i++)
        farthest = fmax(farthest, fabs(value[i * report->column_count] - (isnan(mean) ? 0 : mean)));
    return deviation > 0 ? farthest / deviation : farthest;
}

/* The columns that are the reasons come first, then those that change most. */
static double column_weight(const eval_page *report, const shown_episode *episode,
                            const row_window *window, size_t column)
{
    for (size_t i = 0; episode->alerts && i < episode->alerts->reason_count; i++)
        if (episode->alerts->reasons[i].column == column)
            return DBL_MAX / (double)(i + 1);
    return change_of(report, episode, window, column);
}

static size_t choose_columns(const eval_page *report, const shown_episode *episode,
                             const row_window *window, size_t chosen[CARD_COLUMNS])
{
    double weights[CARD_COLUMNS];
    size_t count = 0;
    for (size_t column = 0; column < report->column_count; column++) {
        double weight = column_weight(report, episode, window, column);
        size_t place = count;
        while (place > 0 && weights[place - 1] < weight)
            place--;
        if (place == CARD_COLUMNS)
            continue;
        count += count < CARD_COLUMNS;
        memmove(weights + place + 1, weights + place, (count - place - 1) * sizeof *weights);
        memmove(chosen + place + 1, chosen + place, (count - place - 1) * sizeof *chosen);
        weights[place] = weight;
        chosen[place] = column;
    }
    return count;
}

/* ---- Writing ---- */

static void print_reasons(const eval_page *report, const alert_episode *alerts)
{
    output_print(",\"severity\":%.1f,\"reasons\":[", alerts->severity);
    for (size_t i = 0; i < alerts->reason_count; i++) {
        const alert_reason *reason = &alerts->reasons[i];
        char unusual[256];
        result_fields_unusual_text(&reason->why, reason->value, report->names[reason->why.partner],
                                   unusual, sizeof unusual);
        output_text(i > 0 ? ",{" : "{");
        report_text("column", report->names[reason->column]);
        output_text(",");
        report_text("text", unusual);
        output_print(",\"share\":%.4f}", reason->why.share);
    }
    output_text("]");
}

static void print_facts(const eval_page *report, const shown_episode *episode)
{
    static const char *const words[] = {"found", "missed", "false"};
    const eval_rows *rows = &report->evaluation->rows;
    char duration[DURATION_TEXT_BYTES] = "";
    double delay = rows->seconds && episode->kind == EPISODE_FOUND
                       ? rows->seconds[episode->first_alert] - rows->seconds[episode->first]
                       : NAN;
    output_print("{\"kind\":\"%s\",\"first\":%zu,\"last\":%zu,\"was_ready\":%s,\"delay_rows\":%zu,"
                 "\"delay\":\"%s\",\"highest\":",
                 words[episode->kind], episode->first + 1, episode->last + 1,
                 episode->was_ready ? "true" : "false", episode->delay,
                 isnan(delay) ? "" : duration_text(delay, duration));
    output_json_number(episode->kind == EPISODE_MISSED ? episode->weight : NAN);
    if (rows->keys) {
        oif_text key = eval_keys_text(&report->evaluation->keys, episode->key);
        output_text(",\"key\":");
        quoting_write_json(key.text, key.bytes);
    }
    if (episode->alerts)
        print_reasons(report, episode->alerts);
}

/* Numbers, times, labels and alerts of the rows. */
static void print_rows(const eval_page *report, const row_window *window)
{
    enum { NUMBER, SECONDS, LABELLED, ALERT, LISTS };
    static const char *const names[] = {"rows", "seconds", "labelled", "alerts"};
    const eval_rows *rows = &report->evaluation->rows;
    double lists[ROWS_MAX][LISTS];
    for (size_t i = 0; i < window->count; i++) {
        size_t row = window->rows[i];
        lists[i][NUMBER] = (double)row + 1;
        lists[i][SECONDS] = rows->seconds ? rows->seconds[row] : NAN;
        lists[i][LABELLED] = rows->labels[row];
        lists[i][ALERT] = report->shown->marks[row] & ROW_IS_ALERT;
    }
    for (size_t i = 0; i < LISTS; i++) {
        output_text(",\n");
        report_list(names[i], &lists[0][i], window->count, LISTS, REPORT_TIME_DIGITS);
    }
}

/* "expected":[[0,4.5,6],[17,null,null]]: from a row of the window on, low and high. Bands last
 * long, so only changes are written. */
static void print_expected(const row_window *window, size_t column)
{
    const float *before = NULL;
    const char *separator = "";
    output_text(",\"expected\":[");
    for (size_t i = 0; i < window->count; i++) {
        const float *ends = window->ends[i] ? window->ends[i] + 2 * column : NULL;
        if (ends == before || (ends && before && memcmp(ends, before, 2 * sizeof *ends) == 0))
            continue;
        const double change[] = {(double)i, ends ? (double)ends[0] : NAN,
                                 ends ? (double)ends[1] : NAN};
        output_text(separator);
        report_numbers(change, 3, 1, EXPECTED_DIGITS);
        separator = ",";
        before = ends;
    }
    output_text("]");
}

static exit_code print_card(eval_page *report, const shown_episode *episode)
{
    row_window window = {.count = 0};
    choose_rows(&report->evaluation->rows, episode, &window);
    eval_bands_of(&report->shown->trace.bands, episode->key, window.rows, window.count,
                  window.ends);
    exit_code code = read_rows(report, &window);
    if (code == EXIT_OK) {
        size_t chosen[CARD_COLUMNS], count = choose_columns(report, episode, &window, chosen);
        print_facts(report, episode);
        print_rows(report, &window);
        output_text(",\n\"columns\":[");
        for (size_t i = 0; i < count; i++) {
            output_text(i > 0 ? ",\n{" : "\n{");
            report_text("name", report->names[chosen[i]]);
            output_text(",");
            report_list("values", window.values + chosen[i], window.count, report->column_count,
                        REPORT_DIGITS);
            print_expected(&window, chosen[i]);
            output_text("}");
        }
        output_text("]}");
    }
    free(window.values);
    return code;
}

static exit_code print_cards(eval_page *report, const shown_list *list)
{
    exit_code code = EXIT_OK;
    const char *before = "\n";
    output_print(",\n\"found\":%zu,\"missed\":%zu,\"false\":%zu,\"episodes\":[",
                 list->all[EPISODE_FOUND], list->all[EPISODE_MISSED], list->all[EPISODE_FALSE]);
    for (size_t kind = 0; kind < EPISODE_KINDS; kind++)
        for (size_t i = 0; i < list->counts[kind] && code == EXIT_OK; i++, before = ",\n") {
            output_text(before);
            code = print_card(report, &list->items[kind][i]);
        }
    output_text("]");
    return code;
}

exit_code report_episodes(eval_page *report)
{
    shown_list *list = calloc(1, sizeof *list);
    exit_code code = EXIT_OK;
    if (!list || !find_shown(report, list)) {
        code = complain(EXIT_FAILED, "out of memory");
    } else {
        share_cards(list);
        memcpy(report->episodes, list->all, sizeof list->all);
        code = print_cards(report, list);
    }
    free(list);
    return code;
}
