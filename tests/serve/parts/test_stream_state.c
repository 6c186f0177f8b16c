/* serve/stream/stream_state.c and stream_silence.c: never quiet without a
 * reason. Rows arrive at times that the tests choose. */
#include "stream_fixture.h"

#include "serve/base/background.h"
#include "serve/stream/stream_parts.h"

#include <math.h>

#define assert_near(a, b, apart) assert_true(fabs((a) - (b)) <= (apart))

/* ---- Rows ---- */

static double noise(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += draw(1000) / 1000.0;
    return sum - 2;
}

/* A body arrives at `now`, as if by HTTP, and is kept. */
static void arrive(stream *one, double now, const char *body)
{
    problem why;
    stream_begin_change(one);
    const journal_record record = {.kind = JOURNAL_ROWS,
                                   .first_row = stream_row_count(one),
                                   .seconds = now,
                                   .payload = body,
                                   .bytes = strlen(body)};
    assert_true(stream_keep_record(one, &record, &why));
    stream_replay_rows(one, &record, UINT64_MAX);
    stream_end_change(one);
}

/* One row per step without a time, or a key; the last is at `now`. */
static void arrive_every(stream *one, double *now, double step, int rows)
{
    char body[64];
    for (int i = 0; i < rows; i++) {
        snprintf(body, sizeof body, "{\"a\": %.3f}\n", noise());
        *now += step;
        arrive(one, *now, body);
    }
}

static void look(stream *one, double now)
{
    stream_begin_change(one);
    stream_note_idle(one, now);
    stream_end_change(one);
}

static stream_state state_at(stream *one, double now)
{
    stream_read_lock(one);
    const stream_state found = stream_state_of(one, now);
    stream_read_unlock(one);
    return found;
}

static stream_state key_at(stream *one, const char *name, double now)
{
    stream_read_lock(one);
    const history_key *key = history_find(one->past, name, strlen(name));
    assert_non_null(key);
    const stream_state found = stream_key_state(one, key, now);
    stream_read_unlock(one);
    return found;
}

#define assert_state(found, wanted) assert_string_equal(watch_words[(found).what], wanted)

static size_t count_events(streams *all, feed_kind kind)
{
    const feed_filter filter = {.stream = NULL};
    uint64_t cursor = 0;
    size_t count = 0;
    feed_event event;
    while (feed_next(streams_feed(all), &cursor, &filter, &event)) {
        count += event.kind == kind;
        feed_event_free(&event);
    }
    return count;
}

static json_t *incidents_of(streams *all)
{
    size_t bytes;
    output_divert();
    assert_true(streams_write_incidents(all, &(incidents_query){.since = NAN, .limit = 100}));
    char *text = output_diverted(&bytes);
    json_t *found = json_loadb(text, bytes, 0, NULL);
    free(text);
    return found;
}

/* The members that last, of all incidents. */
static size_t open_members(streams *all)
{
    size_t open = 0, i;
    json_t *incident, *found = incidents_of(all);
    json_array_foreach(json_object_get(found, "incidents"), i, incident) {
        open += (size_t)json_integer_value(json_object_get(incident, "open"));
    }
    json_decref(found);
    return open;
}

/* ---- Learning ---- */

static void a_stream_learns_and_says_how_far_it_is(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "learner", "{}");
    double now = 1.7e9;
    int needed = 0;
    (void)state;
    assert_state(state_at(one, now), "no data"); /* there was no row at all */
    while (needed < 2000) {
        arrive_every(one, &now, 60, 1);
        needed++;
        const stream_state found = state_at(one, now);
        if (found.what != WATCH_LEARNING)
            break;
        assert_near(found.learned_rows, needed, 0);
        assert_true(found.needed_rows > needed);
    }
    assert_state(state_at(one, now), "quiet");
    assert_int_equal(needed, OIF_FIRST_ROWS + 1);
    assert_state(key_at(one, "", now), "quiet");
    stream_release(one);
    streams_close(all);
}

static void the_time_left_follows_the_pace_of_the_rows(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "paced", "{\"time\": \"t\", \"key\": \"k\"}");
    const double start = 1.7e9;
    char body[96];
    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(body, sizeof body, "{\"t\": %.0f, \"k\": \"x\", \"a\": %.3f}\n", start + 60 * i,
                 noise());
        arrive(one, start + 60 * i, body);
    }
    const double now = start + 60 * 39;
    const stream_state found = state_at(one, now), of_key = key_at(one, "x", now);
    assert_state(found, "learning");
    assert_near(found.seconds_left, 60 * (found.needed_rows - 40), 1);
    assert_near(of_key.seconds_left, found.seconds_left, 1);
    /* rows of the past have no pace by the clock */
    assert_true(isnan(state_at(one, now + 7 * 86400.0).seconds_left));
    stream_release(one);
    streams_close(all);
}

static void most_keys_decide_whether_a_stream_learns(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "mixed", "{\"key\": \"k\", \"mute\": \"column=a\"}");
    char body[64];
    (void)state;
    for (int i = 0; i < 1200; i++) {
        snprintf(body, sizeof body, "{\"k\": \"%d\", \"a\": %.3f}\n", i % 2, noise());
        arrive(one, 1.7e9 + i, body);
    }
    assert_state(state_at(one, 1.7e9 + 1200), "quiet");
    arrive(one, 1.7e9 + 1200, "{\"k\": \"new\", \"a\": 1}\n");
    stream_state found = state_at(one, 1.7e9 + 1201);
    assert_state(found, "quiet");
    assert_int_equal(figures_of(one).learning_keys, 1);
    assert_state(key_at(one, "new", 1.7e9 + 1201), "learning");
    arrive(one, 1.7e9 + 1201, "{\"k\": \"newer\", \"a\": 1}\n{\"k\": \"newest\", \"a\": 1}\n");
    found = state_at(one, 1.7e9 + 1202);
    assert_state(found, "learning");
    assert_int_equal(found.keys, 3);
    assert_near(found.learned_rows, 1, 0);
    stream_begin_change(one);
    stream_drop_key(one, "newest", 6, 0);
    stream_end_change(one);
    assert_int_equal(figures_of(one).learning_keys, 2);
    stream_release(one);
    streams_close(all);
}

/* ---- Feeds ---- */

static void a_feed_without_times_dies_after_a_time_of_its_own_and_comes_back(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "untimed", "{}");
    double now = 1.7e9;
    (void)state;
    arrive_every(one, &now, 60, 600);
    look(one, now + 170);
    assert_state(state_at(one, now + 170), "quiet");
    assert_int_equal(count_events(all, FEED_SILENCE), 0);
    look(one, now + 190);
    const stream_state dead = state_at(one, now + 190);
    assert_state(dead, "no data");
    assert_near(dead.since, now, 1e-3);
    assert_state(key_at(one, "", now + 190), "no data");
    assert_int_equal(count_events(all, FEED_SILENCE), 1);
    assert_int_equal(open_members(all), 1);
    look(one, now + 5000); /* it is reported once */
    assert_int_equal(count_events(all, FEED_SILENCE), 1);
    now += 9000;
    arrive_every(one, &now, 60, 1);
    assert_state(state_at(one, now), "quiet");
    assert_int_equal(count_events(all, FEED_SILENCE), 2);
    assert_int_equal(open_members(all), 0);
    arrive_every(one, &now, 60, 3);
    look(one, now + 190); /* the outage was not taken for a usual pause */
    assert_state(state_at(one, now + 190), "no data");
    stream_release(one);
    streams_close(all);
}

static void hours_between_rows_are_no_reason_to_cry(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "slow", "{}");
    double now = 1.7e9;
    (void)state;
    arrive_every(one, &now, 7200, 20);
    look(one, now + 3 * 3600);
    assert_state(state_at(one, now + 3 * 3600), "learning");
    look(one, now + 7 * 3600);
    assert_state(state_at(one, now + 7 * 3600), "no data");
    stream_release(one);
    streams_close(all);
}

static void the_setting_silence_is_the_limit_of_the_feed_too(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "fixed", "{\"silence\": 5}"),
           *never = create(all, "never", "{\"silence\": -1}");
    double now = 1.7e9, then = 1.7e9;
    (void)state;
    arrive_every(one, &now, 1, 1);
    look(one, now + 4);
    assert_state(state_at(one, now + 4), "learning");
    look(one, now + 6);
    assert_state(state_at(one, now + 6), "no data");
    arrive_every(never, &then, 1, 700);
    look(never, then + 1e6);
    assert_state(state_at(never, then + 1e6), "quiet");
    stream_release(one);
    stream_release(never);
    streams_close(all);
}

enum { FLEET_KEYS = 2000 };

static void fleet_row(char *body, size_t bytes, double now, int first, int end)
{
    size_t used = 0;
    for (int i = first; i < end; i++)
        used += (size_t)snprintf(body + used, bytes - used,
                                 "{\"t\": %.0f, \"k\": \"%d\", \"a\": %d}\n", now, i, i % 7);
}

static void all_of_2000_silent_keys_are_one_dead_feed(void **state)
{
    static char body[FLEET_KEYS * 64];
    streams *all = open_at(NULL);
    stream *one = create(all, "fleet",
                         "{\"key\": \"k\", \"time\": \"t\", \"silence\": 20, \"max-keys\": "
                         "5000}");
    double now = floor(background_wall_seconds());
    (void)state;
    for (int i = 0; i < 3; i++, now += 10) {
        fleet_row(body, sizeof body, now, 0, FLEET_KEYS);
        arrive(one, now, body);
    }
    for (int i = 0; i < 4; i++, now += 10) { /* the rest falls silent */
        fleet_row(body, sizeof body, now, 0, FLEET_KEYS - 5);
        arrive(one, now, body);
    }
    stream_state found = state_at(one, now);
    assert_state(found, "no data");
    assert_int_equal(found.keys, 5);
    assert_false(one->is_dead);
    assert_int_equal(open_members(all), 0);
    look(one, now + 30);
    found = state_at(one, now + 30);
    assert_state(found, "no data");
    assert_int_equal(found.keys, FLEET_KEYS);
    assert_true(one->is_dead);
    assert_int_equal(open_members(all), 1);
    now += 40;
    fleet_row(body, sizeof body, now, 0, FLEET_KEYS);
    arrive(one, now, body);
    assert_state(state_at(one, now), "learning");
    assert_int_equal(figures_of(one).silent_keys, 0);
    assert_false(one->is_dead);
    stream_release(one);
    streams_close(all);
}

static void a_key_that_is_silent_for_a_day_no_longer_counts(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "gone", "{\"key\": \"k\", \"time\": \"t\", \"silence\": 20}");
    const double start = floor(background_wall_seconds()) - 3 * 86400.0;
    char body[96];
    (void)state;
    snprintf(body, sizeof body, "{\"t\": %.0f, \"k\": \"old\", \"a\": 1}\n", start);
    arrive(one, start, body);
    for (int i = 1; i <= 2 * 86400 / 15; i += 40) {
        const double now = start + 15.0 * i;
        snprintf(body, sizeof body, "{\"t\": %.0f, \"k\": \"new\", \"a\": 1}\n", now);
        arrive(one, now, body);
        assert_state(state_at(one, now), i == 1                ? "learning"
                                         : now - start < 86400 ? "no data"
                                                               : "quiet");
    }
    assert_int_equal(figures_of(one).silent_keys, 1);
    stream_release(one);
    streams_close(all);
}

/* ---- Incidents ---- */

static void episodes_that_are_in_no_incident_are_counted(void **state)
{
    enum { MOST = 2 };
    streams *all = open_at(NULL);
    stream *one = create(all, "many", "{\"key\": \"k\"}");
    oif_params options;
    char key[32];
    (void)state;
    oif_incidents_options_init(&options); /* as a stream does, with room for fewer */
    assert_int_equal(oif_params_set(&options, "max_members", MOST, NULL), OIF_OK);
    assert_int_equal(oif_incidents_new(&options, &one->incidents.open, NULL), OIF_OK);
    for (int i = 0; i < MOST + 3; i++) {
        const int bytes = snprintf(key, sizeof key, "all/%d", i);
        const stream_episode begun = {.number = 1, .began = 1000, .peak_severity = 4};
        history_key *known = history_touch(one->past, key, (size_t)bytes);
        history_episode *episode = history_episode_now(one->past, known, &begun);
        stream_join_incident(one, episode, 1000);
        assert_int_equal(episode->info.incident, i < MOST);
    }
    assert_int_equal(open_members(all), MOST);
    json_t *found = incidents_of(all);
    assert_int_equal(json_integer_value(json_object_get(found, "outside")), 3);
    json_decref(found);
    stream_release(one);
    streams_close(all);
}

/* ---- Restarts ---- */

static void a_dead_feed_is_dead_after_a_restart_and_reported_once(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "restarted", "{\"silence\": 5}");
    double now = background_wall_seconds() - 1000;
    (void)state;
    arrive_every(one, &now, 1, 10);
    look(one, now + 10);
    assert_true(one->is_dead);
    for (int i = 0; i < 2; i++) {
        streams *again = i == 0 ? open_killed() : open_at(folder);
        stream *same = streams_find(again, "restarted");
        assert_state(state_at(same, now + 20), "no data");
        look(same, now + 3000);
        assert_int_equal(count_events(again, FEED_SILENCE), 0);
        assert_int_equal(open_members(again), 1);
        double then = now + 3000;
        arrive_every(same, &then, 1, 1);
        assert_state(state_at(same, then), "learning");
        stream_release(same);
        if (i == 0) {
            streams_close(again);
            stream_release(one);
            streams_close(all);
        } else {
            streams_close(again);
        }
    }
}

static void the_time_that_the_server_was_stopped_is_no_silence(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "stopped", "{\"key\": \"k\", \"time\": \"t\", \"silence\": 60}");
    const double now = floor(background_wall_seconds()), before = now - 7200;
    char body[128];
    (void)state;
    snprintf(body, sizeof body,
             "{\"t\": %.0f, \"k\": \"a\", \"a\": 1}\n"
             "{\"t\": %.0f, \"k\": \"b\", \"a\": 1}\n",
             before, before);
    arrive(one, before, body);
    stream_release(one);
    streams_close(all);
    all = open_at(folder); /* two hours later */
    one = streams_find(all, "stopped");
    look(one, now + 10);
    assert_state(state_at(one, now + 10), "learning");
    snprintf(body, sizeof body, "{\"t\": %.0f, \"k\": \"a\", \"a\": 1}\n", now + 10);
    arrive(one, now + 10, body); /* by the times of the rows, b is silent since two hours */
    look(one, now + 11);
    assert_state(state_at(one, now + 11), "learning");
    assert_int_equal(count_events(all, FEED_SILENCE), 0);
    snprintf(body, sizeof body, "{\"t\": %.0f, \"k\": \"a\", \"a\": 1}\n", now + 65);
    arrive(one, now + 65, body);
    look(one, now + 66); /* the server has not heard it for as long as is allowed */
    assert_state(key_at(one, "b", now + 66), "no data");
    assert_int_equal(count_events(all, FEED_SILENCE), 1);
    stream_release(one);
    streams_close(all);
}

/* ---- Alerts ---- */

static void an_alert_recovers_before_it_ends(void **state)
{
    streams *all = open_at(NULL);
    stream *one = create(all, "alarming", "{}");
    double now = 1.7e9;
    (void)state;
    arrive_every(one, &now, 1, 3000);
    assert_state(state_at(one, now), "quiet");
    arrive(one, ++now, "{\"a\": 1000}\n");
    const stream_state worst = state_at(one, now);
    assert_state(worst, "alert");
    assert_int_equal(worst.grade, OIF_GRADE_CRITICAL);
    assert_true(worst.severity >= 5);
    assert_near(worst.since, now, 1e-3);
    arrive_every(one, &now, 1, 7);
    assert_state(state_at(one, now), "alert");
    stream_state found = worst;
    for (int i = 0; i < 40 && found.what == WATCH_ALERT; i++) {
        arrive_every(one, &now, 1, 1);
        found = state_at(one, now);
    }
    assert_state(found, "recovering");
    assert_near(found.severity, worst.severity, 1e-9); /* the peak */
    arrive_every(one, &now, 1, 8);
    assert_state(state_at(one, now), "quiet");
    stream_release(one);
    streams_close(all);
}

static void a_damaged_stream_is_damaged(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "broken", "{}");
    double now = 1.7e9;
    (void)state;
    arrive_every(one, &now, 1, 10);
    stream_release(one);
    streams_close(all);
    run("printf x > %s/streams/broken/state", folder);
    all = open_at(folder);
    one = streams_find(all, "broken");
    assert_state(figures_of(one).state, "damaged");
    stream_release(one);
    streams_close(all);
    run("rm -rf %s/streams/broken", folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_learns_and_says_how_far_it_is),
        cmocka_unit_test(the_time_left_follows_the_pace_of_the_rows),
        cmocka_unit_test(most_keys_decide_whether_a_stream_learns),
        cmocka_unit_test(a_feed_without_times_dies_after_a_time_of_its_own_and_comes_back),
        cmocka_unit_test(hours_between_rows_are_no_reason_to_cry),
        cmocka_unit_test(the_setting_silence_is_the_limit_of_the_feed_too),
        cmocka_unit_test(all_of_2000_silent_keys_are_one_dead_feed),
        cmocka_unit_test(a_key_that_is_silent_for_a_day_no_longer_counts),
        cmocka_unit_test(episodes_that_are_in_no_incident_are_counted),
        cmocka_unit_test(a_dead_feed_is_dead_after_a_restart_and_reported_once),
        cmocka_unit_test(the_time_that_the_server_was_stopped_is_no_silence),
        cmocka_unit_test(an_alert_recovers_before_it_ends),
        cmocka_unit_test(a_damaged_stream_is_damaged),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
