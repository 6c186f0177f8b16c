/* serve/stream/history.c and serve/base/feed.c: they keep the latest, in bounded memory. */
#include "serve/base/feed.h"
#include "serve/stream/history.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void add_rows(history *past, const char *name, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        history_key *key = history_touch(past, name, strlen(name));
        const history_point point = {.row = i, .time = (double)i};
        const double values[] = {(double)i, -1};
        assert_non_null(key);
        history_add_point(past, key, &point, values);
        history_add_band(past, key, i, (float[]){(float)(i / 2), (float)(i / 2 + 1), -2, 0});
    }
}

/* A band lasts for two rows here. */
static void assert_bands(const history *past, const history_key *key)
{
    const uint32_t known = 2 * (key->bands.count - 1);
    assert_true(key->bands.count > 0 && key->bands.capacity <= past->points_max / 4);
    for (uint32_t i = 0; i < known && i < key->points.count; i++) {
        const uint64_t row = history_point_at(past, key, key->points.count - 1 - i)->row;
        const float *ends = history_band_of(past, key, row);
        assert_non_null(ends);
        assert_true(ends[0] == (float)(row / 2) && ends[1] == ends[0] + 1 && ends[2] == -2);
    }
}

static void assert_latest(const history *past, const char *name, uint64_t last, uint32_t count)
{
    const history_key *key = history_find(past, name, strlen(name));
    assert_non_null(key);
    assert_int_equal(key->points.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const history_point *point = history_point_at(past, key, i);
        assert_int_equal(point->row, last + 1 - count + i);
        assert_true(history_values(point)[0] == (float)point->row);
        assert_true(history_values(point)[1] == -1);
    }
    assert_bands(past, key);
}

static void a_ring_holds_the_latest_points(void **state)
{
    history *past = history_new(1 << 20);
    (void)state;
    history_start(past, 2);
    add_rows(past, "a", 0, 5);
    assert_latest(past, "a", 4, 5);
    add_rows(past, "a", 5, 400);
    assert_latest(past, "a", 404, 405);
    add_rows(past, "a", 405, 2 * POINTS_MAX);
    assert_latest(past, "a", 404 + 2 * POINTS_MAX, POINTS_MAX);
    history_free(past);
}

static void a_band_lasts_until_the_next_one(void **state)
{
    history *past = history_new(1 << 20);
    const float narrow[] = {1, 2}, wide[] = {0, 9}, unknown[] = {NAN, NAN};
    (void)state;
    history_start(past, 1);
    history_key *key = history_touch(past, "a", 1);
    assert_null(history_band_of(past, key, 0));
    for (uint64_t row = 10; row < 20; row++)
        history_add_band(past, key, row, narrow);
    history_add_band(past, key, 20, wide);
    history_add_band(past, key, 21, unknown);
    history_add_band(past, key, 22, unknown);
    assert_int_equal(key->bands.count, 3);
    assert_null(history_band_of(past, key, 9));
    assert_memory_equal(history_band_of(past, key, 10), narrow, sizeof narrow);
    assert_memory_equal(history_band_of(past, key, 19), narrow, sizeof narrow);
    assert_memory_equal(history_band_of(past, key, 20), wide, sizeof wide);
    assert_memory_equal(history_band_of(past, key, 1000), unknown, sizeof unknown);
    history_forget(past, key);
    assert_int_equal(past->bytes, 0);
    history_free(past);
}

static void many_keys_have_fewer_points_and_memory_stays_bounded(void **state)
{
    enum { KEYS = 3000, LIMIT = 2 << 20 };
    history *past = history_new(LIMIT);
    char name[16];
    (void)state;
    history_start(past, 2);
    add_rows(past, "first", 0, 1000);
    for (uint64_t round = 0; round < 40; round++)
        for (uint64_t i = 0; i < KEYS; i++) {
            snprintf(name, sizeof name, "k%d", (int)i);
            add_rows(past, name, round, 1);
            assert_true(past->bytes <= LIMIT);
        }
    assert_true(past->points_max < 40);
    snprintf(name, sizeof name, "k%d", KEYS - 1);
    assert_latest(past, name, 39, history_find(past, name, strlen(name))->points.count);
    assert_true(history_find(past, name, strlen(name))->points.count >= POINTS_MIN);
    history_free(past);
}

static void keys_that_were_not_seen_for_longest_make_room(void **state)
{
    history *past = history_new(100 << 10);
    char name[16];
    (void)state;
    history_start(past, 2);
    const stream_episode open = {.number = 1};
    add_rows(past, "in episode", 0, 1);
    assert_non_null(history_episode_now(past, history_touch(past, "in episode", 10), &open));
    add_rows(past, "old", 0, 1);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "k%d", i);
        add_rows(past, name, 0, 1);
    }
    assert_null(history_find(past, "old", 3));
    assert_non_null(history_find(past, "in episode", 10));
    assert_non_null(history_find(past, "k1999", 5));
    history_free(past);
}

static void episodes_end_and_the_last_ones_are_kept(void **state)
{
    history *past = history_new(1 << 20);
    history_key *key = history_touch(past, "a", 1);
    (void)state;
    for (uint64_t i = 1; i <= ENDED_MAX + 5; i++) {
        stream_episode info = {.number = i, .first_row = 10 * i, .last_row = 10 * i, .reason = "x"};
        assert_non_null(history_episode_now(past, key, &info));
        assert_int_equal(past->open_count, 1);
        info.first_row = info.last_row = 10 * i + 3;
        info.is_over = i % 2;
        const history_episode *now = history_episode_now(past, key, &info);
        assert_int_equal(now->info.first_row, 10 * i);
        assert_int_equal(now->info.last_row, 10 * i + 3);
        assert_string_equal(now->info.reason, "x");
    }
    assert_int_equal(past->ended_count, ENDED_MAX);
    assert_int_equal(history_ended_at(past, 0)->info.number, ENDED_MAX + 5);
    assert_int_equal(history_ended_at(past, ENDED_MAX - 1)->info.number, 6);
    assert_true(history_ended_at(past, 1)->info.is_over); /* the next one has ended it */
    history_forget(past, key);
    history_free(past);
}

static bool opens(history *past, history_key *key, uint64_t number, bool is_anomaly)
{
    const oif_result result = {.episode = OIF_EPISODE_LASTS, .anomaly = is_anomaly};
    return history_row_opens(past, key, number, &result);
}

static void an_episode_that_a_silence_ended_opens_again_as_the_same_one(void **state)
{
    history *past = history_new(1 << 20);
    history_key *key = history_touch(past, "a", 1), *other = history_touch(past, "b", 1);
    (void)state;
    for (uint64_t i = 1; i <= ENDED_MAX + 7; i++) /* the ring is full and has turned */
        history_episode_now(past, other, &(stream_episode){.number = i, .is_over = true});
    history_episode *open = history_episode_now(past, key, &(stream_episode){.number = 3});
    const oif_result begins = {.episode = OIF_EPISODE_BEGINS, .anomaly = true};
    history_shut(past, open);
    history_episode_now(past, other, &(stream_episode){.number = 5000, .is_over = true});
    assert_int_equal(past->open_count, 0);
    assert_false(opens(past, key, 3, false));
    assert_true(opens(past, key, 3, true));
    assert_ptr_equal(key->open, open);
    assert_int_equal(past->ended_count, ENDED_MAX - 1);
    assert_int_equal(history_ended_at(past, 0)->info.number, 5000);
    assert_int_equal(history_ended_at(past, 1)->info.number, ENDED_MAX + 7);
    assert_int_equal(history_ended_at(past, ENDED_MAX - 2)->info.number, 10);
    open = history_episode_now(past, key, &(stream_episode){.number = 3, .last_row = 9});
    assert_int_equal(past->open_count, 1);
    history_shut(past, open);
    assert_true(history_row_opens(past, key, 3, &begins)); /* of a model that began again */
    assert_int_equal(past->open_count, 0);
    assert_true(history_find_episode(past, "a", 1, 3)->info.is_ended_by_silence);
    assert_null(history_find_episode(past, "a", 1, 4));
    assert_null(history_find_episode(past, "other", 5, 3));
    history_free(past);
}

/* ---- In a file ---- */

static history *make_past(void)
{
    history *past = history_new(1 << 20);
    history_start(past, 2);
    add_rows(past, "a", 0, 700);
    add_rows(past, "b\n", 700, 3);
    const stream_episode open = {.number = 2, .first_row = 5, .column = "c", .reason = "c high"},
                         over = {.number = 1, .is_over = true, .reason = "old"};
    history_episode_now(past, history_find(past, "a", 1), &over);
    history_episode_now(past, history_find(past, "a", 1), &open);
    history_shut(past, history_episode_now(past, history_find(past, "b\n", 2),
                                           &(stream_episode){.number = 4, .arrived = 6}));
    char *text = malloc(3);
    memcpy(text, "{}", 3);
    history_add_alert(past, 17, 1.5, "a", 1, text, 2);
    past->graded[1] = 4;
    past->episodes = 2;
    return past;
}

static void a_history_is_loaded_as_it_was_saved(void **state)
{
    history *past = make_past(), *loaded = history_new(1 << 20);
    int extra = 42;
    history_extra found = {.rows = 703};
    FILE *file = tmpfile();
    (void)state;
    assert_true(history_save(past, file, &(history_extra){703, &extra, sizeof extra}));
    rewind(file);
    assert_true(history_load(loaded, file, &found));
    assert_int_equal(found.count, sizeof extra);
    assert_memory_equal(found.bytes, &extra, sizeof extra);
    free(found.bytes);
    assert_int_equal(loaded->bytes, past->bytes);
    assert_latest(loaded, "a", 699, POINTS_MAX < 700 ? POINTS_MAX : 700);
    assert_latest(loaded, "b\n", 702, 3);
    assert_string_equal(loaded->newest->info.key, "b\n");
    assert_int_equal(loaded->open_count, 1);
    assert_string_equal(history_find(loaded, "a", 1)->open->info.reason, "c high");
    assert_string_equal(history_find(loaded, "a", 1)->info.reason, "c high");
    assert_int_equal(loaded->ended_count, 2);
    assert_true(history_ended_at(loaded, 0)->info.is_ended_by_silence);
    assert_true(history_ended_at(loaded, 0)->info.arrived == 6);
    assert_int_equal(history_find(loaded, "b\n", 2)->shut, 4);
    assert_int_equal(history_alert_at(loaded, 0)->row, 17);
    assert_int_equal(loaded->graded[1], 4);
    assert_int_equal(loaded->episodes, 2);
    fclose(file);
    history_free(past);
    history_free(loaded);
}

static void a_file_of_another_version_is_ignored(void **state)
{
    history *past = history_new(1 << 20);
    char bytes[4096];
    int extra = 42;
    (void)state;
    for (char version = '0'; version <= '2'; version++) {
        FILE *file = tmpfile();
        assert_true(history_save(past, file, &(history_extra){4, &extra, sizeof extra}));
        rewind(file);
        const size_t count = fread(bytes, 1, sizeof bytes, file) - sizeof(uint64_t);
        assert_memory_equal(bytes, "oifhist1", 8);
        bytes[7] = version;
        const uint64_t checksum = byte_hash(1, bytes, count);
        rewind(file);
        fwrite(bytes, 1, count, file);
        fwrite(&checksum, 1, sizeof checksum, file);
        rewind(file);
        history *loaded = history_new(1 << 20);
        history_extra found = {.rows = 4};
        assert_int_equal(history_load(loaded, file, &found), version == '1');
        free(found.bytes);
        history_free(loaded);
        fclose(file);
    }
    history_free(past);
}

static void set_fields_of_episode(stream_episode *episode)
{
    episode->stream = episode->key = episode->text = NULL;
    episode->key_bytes = 0;
    episode->has_key = true;
    episode->number = 1;
    episode->first_row = episode->last_row = 3;
    episode->began = episode->ended = episode->last_seen = 1;
    episode->has_time = true;
    episode->is_over = episode->is_ended_by_silence = false;
    episode->anomalies = episode->rows = 1;
    episode->incident = 7;
    episode->peak_score = episode->peak_severity = 1;
    episode->grade = OIF_GRADE_WARNING;
    episode->column = "c";
    episode->reason = "c high";
    episode->arrived = 1;
}

static void set_fields_of_key(stream_key *info, const history_key *key)
{
    info->key = key->info.key;
    info->key_bytes = key->info.key_bytes;
    info->rows = 1;
    info->last_seen = info->score = info->threshold = info->severity = 1;
    info->grade = OIF_GRADE_WARNING;
    info->episode = 0;
    info->reason = "";
    info->is_silent = info->is_ready = false;
    info->calm_rows = 0;
}

/* The file of a small history whose memory and padding were full of `stray` bytes. */
static size_t file_among(int stray, char *bytes, size_t most)
{
    history *past = history_new(1 << 20);
    const double value = 1;
    int extra = 42;
    history_start(past, 1); /* an odd number of floats */
    history_key *key = history_touch(past, "a", 1);
    stream_episode episode;
    stream_key info;
    memset(&episode, stray, sizeof episode);
    memset(&info, stray, sizeof info);
    set_fields_of_episode(&episode);
    set_fields_of_key(&info, key);
    key->info = info;
    history_add_point(past, key, &(history_point){.row = 2}, &value);
    /* as malloc may give it */
    memset(key->points.items, stray, key->points.capacity * past->point_bytes);
    key->points.count = 0;
    history_add_point(past, key, &(history_point){.row = 3}, &value);
    assert_non_null(history_episode_now(past, key, &episode));
    FILE *file = tmpfile();
    assert_true(history_save(past, file, &(history_extra){4, &extra, sizeof extra}));
    rewind(file);
    size_t count = fread(bytes, 1, most, file);
    fclose(file);
    history_free(past);
    return count;
}

static void no_stray_bytes_of_memory_get_into_the_file(void **state)
{
    char some[4096], others[4096];
    (void)state;
    size_t count = file_among(0x5a, some, sizeof some);
    assert_in_range(count, 100, sizeof some - 1);
    assert_int_equal(file_among(0xa5, others, sizeof others), count);
    assert_memory_equal(some, others, count);
}

static void a_history_of_other_rows_or_a_damaged_one_is_not_used(void **state)
{
    history *past = make_past();
    int extra = 0;
    FILE *file = tmpfile();
    (void)state;
    assert_true(history_save(past, file, &(history_extra){703, &extra, sizeof extra}));
    long bytes = ftell(file);
    history_free(past);
    rewind(file);
    past = history_new(1 << 20);
    assert_false(history_load(past, file, &(history_extra){.rows = 702}));
    history_free(past);
    for (long at = 0; at < bytes; at += at < 200 || at > bytes - 400 ? 1 : 97) {
        fseek(file, at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 0x41, file);
        rewind(file);
        past = history_new(1 << 20);
        if (history_load(past, file, &(history_extra){.rows = 703}))
            fail_msg("byte %ld is another one, and that is not seen", at);
        history_free(past);
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
    }
    fclose(file);
}

/* ---- Events ---- */

static void a_watcher_gets_what_it_wants_in_order(void **state)
{
    feed *events = feed_new();
    const feed_filter of_a = {.stream = "a", .key = "k", .key_bytes = 1};
    uint64_t cursor = feed_latest(events);
    feed_event event;
    (void)state;
    feed_add(events, FEED_ALERT, "a", "k", 1, "1", 1);
    feed_add(events, FEED_ALERT, "b", "k", 1, "2", 1);
    feed_add(events, FEED_ALERT, "a", "other", 5, "3", 1);
    feed_add(events, FEED_STREAM, "a", "", 0, "4", 1);
    assert_true(feed_next(events, &cursor, &of_a, &event));
    assert_string_equal(event.text, "1");
    assert_int_equal(event.number, 1);
    feed_event_free(&event);
    assert_true(feed_next(events, &cursor, &of_a, &event));
    assert_string_equal(event.text, "4");
    feed_event_free(&event);
    assert_false(feed_next(events, &cursor, &of_a, &event));
    assert_int_equal(cursor, 4);
    cursor = 1000; /* of another run */
    assert_true(feed_next(events, &cursor, &of_a, &event));
    assert_int_equal(event.kind, FEED_LOST);
    feed_event_free(&event);
    assert_false(feed_next(events, &cursor, &of_a, &event));
    assert_int_equal(cursor, 4);
    feed_free(events);
}

static void old_events_leave_the_ring(void **state)
{
    feed *events = feed_new();
    const feed_filter all = {.stream = NULL};
    uint64_t cursor = 0, first = 0, count = 0;
    feed_event event;
    (void)state;
    for (int i = 0; i < 20000; i++)
        feed_add(events, FEED_ALERT, "a", "", 0, "{}", 2);
    assert_true(feed_next(events, &cursor, &all, &event));
    assert_int_equal(event.kind, FEED_LOST);
    assert_int_equal(event.number, 20000 - 8192);
    assert_string_equal(event.text, "{\"after\":0,\"until\":11808}");
    feed_event_free(&event);
    while (feed_next(events, &cursor, &all, &event)) {
        first = first ? first : event.number;
        count++;
        feed_event_free(&event);
    }
    assert_int_equal(cursor, 20000);
    assert_int_equal(first + count - 1, 20000);
    assert_true(count >= 4096 && count <= 8192);
    feed_free(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_holds_the_latest_points),
        cmocka_unit_test(a_band_lasts_until_the_next_one),
        cmocka_unit_test(many_keys_have_fewer_points_and_memory_stays_bounded),
        cmocka_unit_test(keys_that_were_not_seen_for_longest_make_room),
        cmocka_unit_test(episodes_end_and_the_last_ones_are_kept),
        cmocka_unit_test(an_episode_that_a_silence_ended_opens_again_as_the_same_one),
        cmocka_unit_test(a_history_is_loaded_as_it_was_saved),
        cmocka_unit_test(a_file_of_another_version_is_ignored),
        cmocka_unit_test(no_stray_bytes_of_memory_get_into_the_file),
        cmocka_unit_test(a_history_of_other_rows_or_a_damaged_one_is_not_used),
        cmocka_unit_test(a_watcher_gets_what_it_wants_in_order),
        cmocka_unit_test(old_events_leave_the_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
