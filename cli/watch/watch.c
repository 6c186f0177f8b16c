#include "watch.h"

#include "front/text/byte_table.h"
#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/quoting.h"
#include "front/text/signals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_PER_LOOK_AT_THE_CLOCK = 16, HISTORY_NUMBERS = 1 << 20, HISTORY_ROWS_MAX = 1 << 16 };

static const double draw_seconds = 0.1, bin_seconds = 0.1 /* or longer, of streams */;

bool watch_is_possible(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

/* ---- Starting ---- */

void watch_start(watch_view *watch, const run_input *input, const oif_pipeline *pipeline)
{
    *watch = (watch_view){.input = input,
                          .pipeline = pipeline,
                          .started = clock_seconds(),
                          .rows_per_bin = 1,
                          .first_seconds = NAN,
                          .last_seconds = NAN};
    signals_catch_resize(); /* which draws the view again */
    output_hold_messages();
}

/* ---- Severities ---- */

static void add_bin(watch_view *watch, double seconds)
{
    watch->newest_bin = watch->bin_count == 0 ? 0 : (watch->newest_bin + 1) % WATCH_BINS;
    watch->bin_count += watch->bin_count < WATCH_BINS;
    watch->rows_in_bin = 0;
    watch->bins[watch->newest_bin] =
        (watch_bin){.highest = NAN, .threshold = NAN, .seconds = seconds, .row = watch->rows};
}

static void add_severity(watch_bin *bin, double severity, double threshold, bool is_marked)
{
    if (!(severity <= bin->highest)) {
        bin->highest = isnan(severity) ? bin->highest : severity;
        bin->threshold = threshold;
    }
    bin->is_marked |= is_marked;
}

/* The chart shows the whole of a file, and at least a minute of a stream: when there are too
 * many bins, two become one. */
static void halve_bins(watch_view *watch)
{
    for (size_t i = 0; i < WATCH_BINS / 2; i++) {
        const watch_bin *second = &watch->bins[2 * i + 1];
        watch->bins[i] = watch->bins[2 * i];
        add_severity(&watch->bins[i], second->highest, second->threshold, second->is_marked);
    }
    watch->bin_count = WATCH_BINS / 2;
    watch->newest_bin = watch->bin_count - 1;
    watch->rows_per_bin *= 2;
}

static void add_to_bins(watch_view *watch, const oif_result *result, double now, double seconds)
{
    if (watch->bin_count == 0 || watch->rows_in_bin >= watch->rows_per_bin) {
        bool is_whole = watch->input->source.files.total_bytes > 0 ||
                        now - watch->started < bin_seconds * WATCH_BINS;
        if (is_whole && watch->bin_count == WATCH_BINS)
            halve_bins(watch);
        add_bin(watch, isnan(seconds) ? (double)time(NULL) : seconds);
    }
    watch->rows_in_bin++;
    add_severity(&watch->bins[watch->newest_bin], result->ready ? result->severity : NAN,
                 result->threshold, result->anomaly);
}

/* ---- Keys ---- */

static void copy_key(char name[WATCH_KEY_BYTES], oif_text key)
{
    snprintf(name, WATCH_KEY_BYTES, "%.*s",
             (int)cut_bytes(key.text, key.bytes, WATCH_KEY_BYTES - 1), key.text);
}

static void rank_key(watch_view *watch, oif_text key, uint64_t hash, const oif_result *result)
{
    watch_key *slot = &watch->keys[hash % WATCH_KEYS];
    if (slot->row > 0 && slot->hash != hash && slot->severity > result->severity)
        return;
    if (slot->row == 0 || slot->hash != hash)
        copy_key(slot->name, key);
    slot->hash = hash;
    slot->row = watch->rows;
    slot->severity = result->severity;
    slot->is_in_episode =
        result->episode == OIF_EPISODE_BEGINS || result->episode == OIF_EPISODE_LASTS;
}

/* ---- The columns ---- */

static void free_history(watch_view *watch)
{
    free(watch->history);
    free(watch->history_keys);
    free(watch->picture.points);
    free(watch->picture.order);
    watch->history = NULL;
    watch->history_keys = NULL;
    watch->picture = (watch_picture){.is_shown = false};
}

static bool make_history(watch_view *watch, const result_fields *fields)
{
    size_t count = fields->column_count;
    if (watch->history && watch->column_count == count)
        return true;
    size_t capacity = HISTORY_NUMBERS / (count > 0 ? count : 1);
    capacity = capacity < 2 ? 2 : capacity > HISTORY_ROWS_MAX ? HISTORY_ROWS_MAX : capacity;
    free_history(watch);
    watch->picture = (watch_picture){.points = malloc(count * WATCH_POINTS * sizeof(double)),
                                     .order = malloc(count * sizeof(size_t))};
    watch->history = malloc(capacity * count * sizeof *watch->history);
    watch->history_keys = malloc(capacity * sizeof *watch->history_keys);
    watch->history_capacity = capacity;
    watch->history_rows = 0;
    watch->column_count = count;
    watch->names = fields->names;
    bool has_memory = watch->history && watch->history_keys && watch->picture.points &&
                      watch->picture.order && count > 0;
    if (!has_memory)
        free_history(watch);
    return has_memory;
}

static void add_point(watch_view *watch, const double *values)
{
    watch_picture *picture = &watch->picture;
    bool is_full = picture->count == WATCH_POINTS;
    for (size_t i = 0; i < watch->column_count; i++) {
        double *points = picture->points + i * WATCH_POINTS;
        if (is_full)
            memmove(points, points + 1, (WATCH_POINTS - 1) * sizeof *points);
        points[is_full ? WATCH_POINTS - 1 : picture->count] = values[i];
    }
    picture->count += !is_full;
}

/* The rows of the key before this one that are still known. */
static void begin_picture(watch_view *watch, const row_verdict *verdict, oif_text key,
                          uint64_t hash)
{
    watch_picture *picture = &watch->picture;
    uint64_t oldest = watch->history_rows > watch->history_capacity
                          ? watch->history_rows - watch->history_capacity
                          : 0;
    picture->key_hash = hash;
    picture->count = picture->after = 0;
    picture->is_shown = true;
    copy_key(picture->key, key);
    memcpy(picture->order, verdict->fields->order, watch->column_count * sizeof *picture->order);
    uint64_t first = watch->history_rows, found = 0;
    while (first > oldest && found < WATCH_POINTS - WATCH_POINTS_AFTER)
        found += watch->history_keys[--first % watch->history_capacity] == hash;
    for (uint64_t row = first; row < watch->history_rows; row++) {
        size_t place = (size_t)(row % watch->history_capacity);
        if (watch->history_keys[place] == hash)
            add_point(watch, watch->history + place * watch->column_count);
    }
}

static void add_to_history(watch_view *watch, const row_verdict *verdict, oif_text key,
                           uint64_t hash)
{
    watch_picture *picture = &watch->picture;
    if (!verdict->values || !make_history(watch, verdict->fields))
        return;
    if (verdict->result.episode == OIF_EPISODE_BEGINS)
        begin_picture(watch, verdict, key, hash);
    if (picture->is_shown && picture->key_hash == hash && picture->after < WATCH_POINTS_AFTER) {
        add_point(watch, verdict->values);
        picture->after++;
    }
    size_t place = (size_t)(watch->history_rows++ % watch->history_capacity);
    memcpy(watch->history + place * watch->column_count, verdict->values,
           watch->column_count * sizeof *verdict->values);
    watch->history_keys[place] = hash;
}

/* ---- Episodes ---- */

/* An episode that begins ends the one before it, if that has not ended. */
static void end_episodes(watch_view *watch, uint64_t hash)
{
    for (size_t i = 0; i < WATCH_EPISODES; i++)
        watch->episodes[i].info.is_over |= watch->episodes[i].key_hash == hash;
}

static watch_episode *new_episode(watch_view *watch)
{
    watch_episode *episode = &watch->episodes[watch->episode_count++ % WATCH_EPISODES];
    *episode = (watch_episode){.is_note = false};
    return episode;
}

static watch_episode *find_episode(watch_view *watch, uint64_t hash, uint64_t number)
{
    for (size_t i = 0; i < WATCH_EPISODES; i++) {
        watch_episode *episode = &watch->episodes[i];
        if (episode->info.number == number && episode->key_hash == hash && !episode->is_note)
            return episode;
    }
    return new_episode(watch);
}

static void add_to_episode(watch_view *watch, const row_verdict *verdict, oif_text key,
                           uint64_t hash)
{
    const oif_episode_info *info = &verdict->episode;
    if (info->number == 0)
        return;
    if (verdict->result.episode == OIF_EPISODE_BEGINS)
        end_episodes(watch, hash);
    watch_episode *episode = find_episode(watch, hash, info->number);
    bool is_worst = info->peak_row == info->first_row + info->rows - 1;
    if (episode->info.number == 0)
        copy_key(episode->key, key);
    episode->key_hash = hash;
    episode->info = *info;
    episode->info.is_over |= verdict->result.episode == OIF_EPISODE_ENDS;
    if (verdict->reason_count > 0 && (is_worst || !*episode->reason))
        result_fields_reasons_text(verdict, episode->reason, sizeof episode->reason);
}

void watch_note(watch_view *watch, const char *text)
{
    watch_episode *episode = new_episode(watch);
    episode->is_note = true;
    snprintf(episode->reason, sizeof episode->reason, "%s", text);
}

/* ---- Rows ---- */

bool watch_row(watch_view *watch, const row_verdict *verdict, double seconds)
{
    const oif_result *result = &verdict->result;
    oif_text key = {"", 0};
    size_t key_bytes;
    const char *recent = oif_pipeline_recent_key(watch->pipeline, &key_bytes);
    bool looks = watch->rows++ % ROWS_PER_LOOK_AT_THE_CLOCK == 0 ||
                 watch->input->source.files.total_bytes == 0;
    double now = looks ? clock_seconds() : watch->looked;
    watch->looked = now;
    if (recent)
        key = (oif_text){recent, key_bytes};
    uint64_t hash = byte_hash(BYTE_HASH_START, key.text, key.bytes);
    watch->is_ready |= result->ready;
    if (isnan(watch->first_seconds))
        watch->first_seconds = seconds;
    watch->last_seconds = isnan(seconds) ? watch->last_seconds : seconds;
    watch->anomalies += result->anomaly;
    watch->episode_total += result->episode == OIF_EPISODE_BEGINS;
    add_to_bins(watch, result, now, seconds);
    if (recent)
        rank_key(watch, key, hash, result);
    add_to_history(watch, verdict, key, hash);
    if (result->episode != OIF_EPISODE_NONE)
        add_to_episode(watch, verdict, key, hash);
    if (looks && now >= watch->next_draw)
        watch_draw(watch);
    return output_is_open();
}

/* ---- Drawing ---- */

/* What was on the terminal before scrolls up once; a terminal of another size is cleared. */
static void prepare_terminal(watch_view *watch, size_t columns, size_t lines)
{
    if (watch->lines_drawn == 0)
        for (size_t i = 0; i < lines; i++)
            output_print("\n");
    else if (watch->columns_drawn != columns || watch->lines_drawn != lines)
        output_print("\033[2J");
    watch->columns_drawn = columns;
    watch->lines_drawn = lines;
}

void watch_draw(watch_view *watch)
{
    const bool is_last = watch->is_ended;
    size_t columns, lines;
    screen picture;
    screen_size(&columns, &lines);
    /* the last column and, at the end, the line for the prompt stay free */
    if (columns < 2 || lines < 2 || !screen_open(&picture, columns - 1, lines - is_last))
        return;
    prepare_terminal(watch, columns, lines);
    watch_view_paint(watch, &picture);
    screen_draw(&picture);
    if (is_last)
        output_print("\n");
    output_flush();
    screen_close(&picture);
    watch->next_draw = clock_seconds() + draw_seconds;
}

void watch_end(watch_view *watch)
{
    watch->is_ended = true;
    if (watch->rows > 0)
        watch_draw(watch);
    output_release_messages();
    free_history(watch);
    *watch = (watch_view){0};
}
