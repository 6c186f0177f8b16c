/* Incidents: which episodes join, what is reported about them, their limits, hostile input, and
 * snapshots. The rule is compared with its slow twin (reference/plain_incidents.h). */
#include "../detect/any_detector.h"
#include "incidents/incidents.h"
#include "reference/plain_incidents.h"

#include <inttypes.h>

static oif_incidents *new_incidents(const char *settings)
{
    oif_params options;
    oif_incidents *incidents = NULL;
    oif_error error;
    oif_incidents_options_init(&options);
    set_params(&options, settings);
    require_ok_or(oif_incidents_new(&options, &incidents, &error), error);
    return incidents;
}

static oif_incident_event event_of(const char *key, const char *column, double seconds)
{
    return (oif_incident_event){.key = key,
                                .key_bytes = strlen(key),
                                .column = column,
                                .seconds = seconds,
                                .severity = 3,
                                .episode = 1};
}

static oif_incident_place begin(oif_incidents *incidents, oif_incident_event event)
{
    oif_incident_place place;
    oif_error error;
    require_ok_or(oif_incidents_begin(incidents, &event, &place, &error), error);
    require_ok_or(oif_incidents_check(incidents, &error), error);
    return place;
}

static oif_incident_place begin_at(oif_incidents *incidents, const char *key, double seconds)
{
    return begin(incidents, event_of(key, "load", seconds));
}

static uint64_t end_at(oif_incidents *incidents, const char *key, double seconds)
{
    oif_incident_event event = event_of(key, "load", seconds);
    oif_incident_place place;
    oif_error error;
    require_ok_or(oif_incidents_end(incidents, &event, &place, &error), error);
    require_ok_or(oif_incidents_check(incidents, &error), error);
    return place.incident;
}

static oif_incident_info info_of(const oif_incidents *incidents, uint64_t number)
{
    oif_incident_info info;
    assert_true(oif_incidents_info(incidents, number, &info));
    return info;
}

static uint64_t next_over(oif_incidents *incidents)
{
    uint64_t number;
    return oif_incidents_next_over(incidents, &number) ? number : 0;
}

static void require_text(const char *text, size_t bytes, const char *expected)
{
    if (bytes != strlen(expected) || memcmp(text, expected, bytes) != 0)
        fail_msg("it is \"%.*s\" instead of \"%s\"", (int)bytes, text, expected);
}

/* ---- The rule ---- */

static void episodes_far_apart_are_incidents_of_one(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    const char *const keys[] = {"rack-1/a", "rack-2/b", "rack-3/c", "rack-1/d"};
    for (int i = 0; i < 4; i++) {
        oif_incident_place place = begin_at(incidents, keys[i], 20000.0 * i);
        assert_true(place.is_new && !place.joins);
        assert_int_equal(place.incident, i + 1);
        assert_int_equal(info_of(incidents, place.incident).members, 1);
    }
    oif_incidents_free(incidents);
}

/* Singles over days, then ten hosts of one rack within five minutes. */
static oif_incidents *after_an_outage(uint64_t *number)
{
    oif_incidents *incidents = new_incidents("");
    char key[40];
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "rack-%d/host-%02d", i % 4, i);
        begin_at(incidents, key, 7200.0 * i);
        end_at(incidents, key, 7200.0 * i + 600);
    }
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "rack-2/host-%02d", 4 * ((i + 3) % 10) + 2);
        oif_incident_event event = event_of(key, i % 2 ? "load" : "latency", 400000 + 30.0 * i);
        event.severity = i == 4 ? 6 : 3.5;
        oif_incident_place place = begin(incidents, event);
        assert_true(i == 0 ? place.is_new : place.joins);
        *number = place.incident;
    }
    return incidents;
}

static void an_outage_is_one_incident_with_its_first_its_worst_and_what_is_shared(void **unused)
{
    (void)unused;
    uint64_t number;
    oif_incidents *incidents = after_an_outage(&number);
    oif_incident_info info = info_of(incidents, number);
    oif_incident_member member;
    oif_incident_shared shared;
    assert_int_equal(info.members, 10);
    assert_int_equal(info.open, 10);
    assert_int_equal(info.worst, 4);
    assert_true(info.first_seconds == 400000 && info.peak_severity == 6);
    assert_true(oif_incidents_member(incidents, number, 0, &member));
    require_text(member.key, member.key_bytes, "rack-2/host-14");
    require_text(member.column, member.column_bytes, "latency");
    assert_true(info.shared >= 1 && oif_incidents_shared(incidents, number, 0, &shared));
    require_text(shared.text, shared.bytes, "rack-2");
    assert_int_equal(shared.members, 10);
    expect_within(shared.share, 0.15, 0.35, "the share of rack-2");
    assert_false(oif_incidents_member(incidents, number, 10, &member));
    assert_false(oif_incidents_shared(incidents, number, info.shared, &shared));
    oif_incidents_free(incidents);
}

/* Rows come once a minute, so all begin at the same time, and so do single ones before. */
static void a_thousand_hosts_that_fail_at_once_are_one_incident(void **unused)
{
    (void)unused;
    for (int before = 0; before <= 20; before += 20) {
        oif_incidents *incidents = new_incidents("");
        char key[16];
        uint64_t first = 0;
        for (int i = 0; i < before; i++) {
            snprintf(key, sizeof key, "host-%d", 37 * i);
            begin_at(incidents, key, 7200.0 * i);
        }
        for (int i = 0; i < 1000; i++) {
            oif_incident_event event;
            snprintf(key, sizeof key, "host-%d", i);
            event = event_of(key, "load", 1e6);
            event.episode = 2;
            oif_incident_place place = begin(incidents, event);
            first = i == 0 ? place.incident : first;
            assert_int_equal(place.incident, first);
        }
        oif_incidents_free(incidents);
    }
}

static void another_rack_needs_a_shorter_gap_than_the_same_one(void **unused)
{
    (void)unused;
    uint64_t number;
    oif_incidents *incidents = after_an_outage(&number);
    oif_incident_place other = begin_at(incidents, "rack-1/host-99", 401500);
    oif_incidents_free(incidents);
    incidents = after_an_outage(&number);
    oif_incident_place same = begin_at(incidents, "rack-2/host-98", 401500);
    assert_true(same.joins && same.incident == number);
    if (!(other.odds < same.odds / 10))
        fail_msg("the odds are %g for another rack and %g for the same one", other.odds, same.odds);
    oif_incidents_free(incidents);
}

static void the_more_episodes_begin_by_chance_the_fewer_join(void **unused)
{
    (void)unused;
    double odds[2];
    for (int many = 0; many < 2; many++) {
        oif_incidents *incidents = new_incidents("");
        char key[40];
        double seconds = 0;
        for (int i = 0; i < 200; i++, seconds += many ? 120 : 7200) {
            snprintf(key, sizeof key, "%c%d", 'a' + i % 26, i);
            begin_at(incidents, key, seconds);
        }
        odds[many] = begin_at(incidents, "new", seconds + 60 - (many ? 120 : 7200)).odds;
        oif_incidents_free(incidents);
    }
    if (!(odds[1] < odds[0] / 5))
        fail_msg("odds %g with few episodes, %g with many", odds[0], odds[1]);
}

static void the_rule_is_that_of_its_slow_twin(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        dice from = {seed};
        oif_incidents *incidents = new_incidents("max_incidents=1024 stale_seconds=4000");
        double seconds = 1e9, odds;
        plain_incidents *plain = plain_incidents_new(seconds);
        oif_incidents_advance(incidents, seconds);
        int joined = 0;
        for (uint64_t i = 1; i <= 400; i++) {
            char key[40], column[8];
            seconds += dice_chance(&from, 0.6) ? 10 * dice_below(&from, 12)
                                               : 60.0 * dice_below(&from, 200);
            snprintf(key, sizeof key, "rack-%d/host-%02d", (int)dice_below(&from, 3),
                     (int)dice_below(&from, 6));
            snprintf(column, sizeof column, "c%d", (int)dice_below(&from, 4));
            oif_incident_event event = event_of(key, column, seconds);
            event.episode = i;
            oif_incident_place place = begin(incidents, event);
            uint64_t expected = plain_incidents_begin(plain, key, column, seconds, &odds);
            joined += place.joins;
            if (place.incident != expected || fabs(place.odds - odds) > 1e-9 * odds)
                fail_msg("seed %" PRIu64 ", episode %" PRIu64 ": incident %" PRIu64
                         " with odds %.17g, and %" PRIu64 " with %.17g",
                         seed, i, place.incident, place.odds, expected, odds);
        }
        assert_in_range(joined, 40, 360);
        plain_incidents_free(plain);
        oif_incidents_free(incidents);
    }
}

/* ---- Time ---- */

static void an_incident_is_over_once_its_episodes_have_ended_and_all_is_quiet(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("quiet_seconds=600");
    begin_at(incidents, "a", 1000);
    assert_int_equal(begin_at(incidents, "b", 1001).incident, 1);
    assert_int_equal(end_at(incidents, "a", 1300), 1);
    oif_incidents_advance(incidents, 5000);
    assert_int_equal(next_over(incidents), 0);
    assert_int_equal(end_at(incidents, "b", 5000), 1);
    assert_int_equal(end_at(incidents, "b", 5000), 0);
    oif_incidents_advance(incidents, 5599);
    assert_int_equal(next_over(incidents), 0);
    oif_incidents_advance(incidents, 5600);
    assert_int_equal(next_over(incidents), 1);
    assert_int_equal(next_over(incidents), 0);
    assert_true(info_of(incidents, 1).is_over && info_of(incidents, 1).last_seconds == 5000);
    assert_int_equal(oif_incidents_count(incidents), 0);
    oif_incidents_advance(incidents, 9e4);
    begin_at(incidents, "c", 9e4);
    oif_incident_info info;
    assert_false(oif_incidents_info(incidents, 1, &info));
    oif_incidents_free(incidents);
}

static void a_wrong_time_neither_ends_incidents_nor_stops_the_clock(void **unused)
{
    (void)unused;
    const double wrong[] = {4e9, 1e308, -1e308, 0, 1e9 + 8 * 86400};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        oif_incidents *incidents = new_incidents("");
        begin_at(incidents, "a", 1e9);
        oif_incidents_advance(incidents, wrong[i]);
        assert_int_equal(next_over(incidents), 0);
        assert_int_equal(begin_at(incidents, "b", 1e9 + 5).incident, 1);
        assert_true(begin_at(incidents, "c", wrong[i]).is_new); /* of its own */
        oif_incidents_advance(incidents, 1e9 + 6);
        assert_int_equal(next_over(incidents), 2);
        assert_int_equal(next_over(incidents), 0);
        assert_int_equal(end_at(incidents, "a", wrong[i]), 1); /* one member of two */
        end_at(incidents, "b", 1e9 + 60);
        oif_incidents_advance(incidents, 1e9 + 659);
        assert_int_equal(next_over(incidents), 0);
        oif_incidents_advance(incidents, 1e9 + 660);
        assert_int_equal(next_over(incidents), 1);
        assert_true(info_of(incidents, 1).last_seconds == 1e9 + 60);
        oif_incidents_free(incidents);
    }
}

static void a_source_whose_clock_is_wrong_does_not_disturb_the_others(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    begin_at(incidents, "a", 1e9);
    for (int minute = 1; minute < 60; minute++) {
        oif_incidents_advance(incidents, 1e9 + 60 * minute);
        oif_incidents_advance(incidents, 1.5e9 + 60 * minute);
        assert_int_equal(next_over(incidents), 0);
    }
    end_at(incidents, "a", 1e9 + 3600);
    oif_incidents_advance(incidents, 1e9 + 4200);
    assert_int_equal(next_over(incidents), 1);
    oif_incidents_free(incidents);
}

static void a_lasting_jump_of_the_times_moves_the_clock(void **unused)
{
    (void)unused;
    const double after[] = {1e9 + 30 * 86400, 1e9 - 30 * 86400, 0};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        oif_incidents *incidents = new_incidents("");
        begin_at(incidents, "a", 1e9);
        for (int row = 1; row < OIF_AGREEING_TIMES; row++) {
            oif_incidents_advance(incidents, after[i] + row);
            assert_int_equal(next_over(incidents), 0);
        }
        oif_incidents_advance(incidents, after[i] + OIF_AGREEING_TIMES);
        assert_int_equal(next_over(incidents), 1);
        begin_at(incidents, "a", after[i] + 20);
        assert_int_equal(begin_at(incidents, "b", after[i] + 22).incident, 2);
        assert_int_equal(next_over(incidents), 0);
        oif_incidents_free(incidents);
    }
}

static void episodes_that_never_end_become_stale_and_the_end_waits_for_nothing(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("stale_seconds=7200");
    begin_at(incidents, "a", 0);
    begin_at(incidents, "b", 7000);
    oif_incidents_advance(incidents, 7300);
    assert_int_equal(next_over(incidents), 1);
    oif_incidents_finish(incidents);
    assert_int_equal(next_over(incidents), 0); /* b has not ended */
    end_at(incidents, "b", 7400);
    oif_incidents_finish(incidents);
    assert_int_equal(next_over(incidents), 2);
    oif_incidents_free(incidents);
}

static void an_episode_reported_again_only_becomes_worse(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    oif_incident_event event = event_of("a", "load", 1000);
    const double severities[] = {3, 5.5, 4};
    for (size_t i = 0; i < 3; i++) {
        event.severity = severities[i];
        assert_int_equal(begin(incidents, event).is_new, i == 0);
    }
    oif_incident_member member;
    assert_true(oif_incidents_member(incidents, 1, 0, &member));
    assert_int_equal(info_of(incidents, 1).members, 1);
    assert_true(member.severity == 5.5);
    assert_true(info_of(incidents, 1).peak_severity == 5.5);
    oif_incidents_free(incidents);
}

static void late_events_are_sorted_and_of_simultaneous_ones_the_severest_is_first(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    const struct {
        const char *key;
        double seconds, severity;
    } events[] = {{"c", 1010, 3}, {"a", 1000, 3}, {"d", 1010, 5}, {"b", 1005, 3}};
    const char *const order[] = {"a", "b", "d", "c"};
    for (int i = 0; i < 4; i++) {
        oif_incident_event event = event_of(events[i].key, "load", events[i].seconds);
        event.severity = events[i].severity;
        assert_int_equal(begin(incidents, event).incident, 1);
    }
    for (size_t i = 0; i < 4; i++) {
        oif_incident_member member;
        assert_true(oif_incidents_member(incidents, 1, i, &member));
        require_text(member.key, member.key_bytes, order[i]);
    }
    oif_incidents_free(incidents);
}

static void without_times_the_sequence_is_the_time(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    const uint64_t rows[] = {5000, 5001, 90000};
    const uint64_t expected[] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        oif_incident_event event = event_of("a", "load", NAN);
        event.sequence = rows[i];
        event.episode = rows[i];
        assert_int_equal(begin(incidents, event).incident, expected[i]);
    }
    /* then a time comes, and an event without one is simultaneous with it */
    assert_int_equal(begin_at(incidents, "b", 1.7e9).incident, 3);
    oif_incident_event event = event_of("c", "load", NAN);
    event.sequence = 90002;
    assert_int_equal(begin(incidents, event).incident, 3);
    oif_incidents_free(incidents);
}

/* ---- Limits and hostile input ---- */

static void further_members_are_counted_and_further_incidents_end_the_quietest(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("max_members=3 max_incidents=2");
    char key[20];
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof key, "h%d", i);
        assert_int_equal(begin_at(incidents, key, 1000).incident, 1);
    }
    oif_incident_info info = info_of(incidents, 1);
    assert_true(info.members == 10 && info.kept == 3 && info.open == 3);
    assert_int_equal(end_at(incidents, "h9", 1001), 0); /* only counted */
    begin_at(incidents, "x", 20000);
    begin_at(incidents, "y", 40000);
    assert_int_equal(oif_incidents_count(incidents), 2);
    assert_int_equal(oif_incidents_number(incidents, 0), 2);
    assert_int_equal(oif_incidents_number(incidents, 1), 3);
    assert_int_equal(oif_incidents_number(incidents, 2), 0);
    assert_int_equal(next_over(incidents), 1);
    for (int i = 0; i < 20; i++) { /* ends that the caller does not take are dropped */
        snprintf(key, sizeof key, "z%d", i);
        begin_at(incidents, key, 60000 + 20000.0 * i);
    }
    assert_int_equal(oif_incidents_count(incidents), 2);
    assert_int_equal(next_over(incidents), 20);
    oif_incidents_free(incidents);
}

/* Of 8 kept: the first 3 and the worst stay, the mildest others that have ended make room. */
static void an_incident_lasts_as_long_as_its_later_episodes(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("max_members=8");
    char key[20];
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "h%d", i);
        oif_incident_event event = event_of(key, "load", 1000 + i);
        event.severity = i == 5 ? 9 : 8 - i;
        assert_int_equal(begin(incidents, event).incident, 1);
    }
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "h%d", i);
        assert_int_equal(end_at(incidents, key, 1010), 1);
        snprintf(key, sizeof key, "later%d", i);
        assert_int_equal(begin_at(incidents, key, 1010).incident, 1);
    }
    oif_incident_info info = info_of(incidents, 1);
    assert_true(info.members == 16 && info.kept == 8);
    assert_int_equal(info.open, 4); /* the others came while none could make room */
    oif_incident_member member;
    assert_true(oif_incidents_member(incidents, 1, info.worst, &member));
    assert_true(member.severity == 9 && info.peak_severity == 9);
    for (size_t i = 0; i < 3; i++)
        assert_true(oif_incidents_member(incidents, 1, i, &member) &&
                    member.seconds == 1000 + (double)i);
    assert_int_equal(end_at(incidents, "later7", 1011), 1);
    assert_int_equal(info_of(incidents, 1).open, 3);
    assert_int_equal(oif_incidents_check(incidents, NULL), OIF_OK);
    oif_incidents_free(incidents);
}

static void an_episode_that_begins_twice_is_known(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    assert_true(begin_at(incidents, "a", 1000).is_new);
    oif_incident_place again = begin_at(incidents, "a", 1000);
    assert_true(again.incident == 1 && !again.is_new && !again.joins);
    assert_int_equal(info_of(incidents, 1).members, 1);
    oif_incidents_free(incidents);
}

static void what_cannot_be_used_is_refused_and_changes_nothing(void **unused)
{
    (void)unused;
    static char long_key[OIF_KEY_MAX_BYTES + 1];
    oif_incidents *incidents = new_incidents(""), *none = NULL;
    oif_incident_event event = event_of("a", "load", INFINITY);
    oif_incident_place place;
    oif_params options;
    oif_error error;
    assert_int_equal(oif_incidents_begin(incidents, &event, &place, &error), OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_INFINITE_VALUE);
    assert_int_equal(oif_incidents_end(incidents, &event, &place, &error), OIF_EVALUE);
    event = (oif_incident_event){.key = long_key, .key_bytes = sizeof long_key};
    assert_int_equal(oif_incidents_begin(incidents, &event, &place, &error), OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_KEY_TOO_LONG);
    assert_int_equal(oif_incidents_count(incidents), 0);
    oif_pipeline_options_init(&options);
    assert_int_equal(oif_incidents_new(&options, &none, &error), OIF_EPARAM);
    oif_incidents_options_init(&options);
    options.values[0] = 1e9;
    assert_int_equal(oif_incidents_new(&options, &none, &error), OIF_EPARAM);
    assert_null(none);
    oif_incidents_advance(incidents, NAN);
    oif_incidents_advance(incidents, INFINITY);
    oif_incidents_free(incidents);
    oif_incidents_free(NULL);
}

/* Times of any size, in any order, or none; keys of separators; severities that are no numbers. */
static oif_incident_event hostile_event(dice *from, char key[64])
{
    static const double times[] = {NAN, -1e308, 1e308, 0, 5e-324, 1.7e9, -3};
    size_t bytes = dice_below(from, 64);
    for (size_t i = 0; i < bytes; i++)
        key[i] = "/.-:a0\0\xff"[dice_below(from, 8)];
    const uint32_t kind = dice_below(from, 40);
    return (oif_incident_event){.key = key,
                                .key_bytes = bytes,
                                .column = kind % 3 ? "c" : NULL,
                                .stream = kind % 5 ? NULL : "stream",
                                .seconds = kind < 7 ? times[kind] : 1e6 * dice_normal(from),
                                .sequence = (uint64_t)dice_below(from, 1000) << 54,
                                .severity = kind == 9    ? NAN
                                            : kind == 10 ? INFINITY
                                                         : 3,
                                .episode = dice_below(from, 50)};
}

static void a_million_hostile_events_keep_every_invariant(void **unused)
{
    (void)unused;
    dice from = {11};
    oif_incidents *incidents = new_incidents("max_incidents=16 max_members=16");
    for (int i = 0; i < 1000000; i++) {
        char key[64];
        oif_incident_event event = hostile_event(&from, key);
        oif_incident_place place;
        oif_error error;
        if (i % 3 < 2)
            require_ok(oif_incidents_begin(incidents, &event, &place, NULL));
        else
            require_ok(oif_incidents_end(incidents, &event, &place, NULL));
        if (i % 1000 == 0)
            require_ok_or(oif_incidents_check(incidents, &error), error);
        if (i % 7 == 0)
            next_over(incidents);
    }
    oif_incidents_free(incidents);
}

/* ---- Snapshots ---- */

static size_t save(const oif_incidents *incidents, unsigned char **bytes)
{
    size_t count = oif_incidents_snapshot_bytes(incidents);
    *bytes = malloc(count);
    oif_error error;
    assert_non_null(*bytes);
    require_ok_or(oif_incidents_save_memory(incidents, *bytes, count, &error), error);
    assert_int_equal(oif_incidents_save_memory(incidents, *bytes, count - 1, NULL), OIF_EPARAM);
    return count;
}

static void a_loaded_copy_decides_like_the_original(void **unused)
{
    (void)unused;
    uint64_t number;
    oif_incidents *original = after_an_outage(&number), *copy = NULL;
    unsigned char *bytes;
    size_t count = save(original, &bytes);
    oif_error error;
    dice from = {4};
    require_ok_or(oif_incidents_load_memory(bytes, count, &copy, &error), error);
    free(bytes);
    for (int i = 0; i < 500; i++) {
        char key[20];
        snprintf(key, sizeof key, "rack-%d/h%d", (int)dice_below(&from, 4),
                 (int)dice_below(&from, 9));
        double seconds = 400400 + 100.0 * i;
        oif_incident_place a = begin_at(original, key, seconds), b = begin_at(copy, key, seconds);
        assert_true(a.incident == b.incident && a.is_new == b.is_new && a.joins == b.joins);
        assert_memory_equal(&a.odds, &b.odds, sizeof a.odds);
        assert_int_equal(end_at(original, key, seconds + 50), end_at(copy, key, seconds + 50));
        assert_int_equal(next_over(original), next_over(copy));
    }
    oif_incidents_free(original);
    oif_incidents_free(copy);
}

static void a_copy_doubts_the_same_times(void **unused)
{
    (void)unused;
    for (int saved_after = 0; saved_after < OIF_AGREEING_TIMES; saved_after++) {
        oif_incidents *incidents = new_incidents("");
        begin_at(incidents, "a", 1e9);
        for (int row = 0; row < OIF_AGREEING_TIMES; row++) {
            unsigned char *bytes;
            assert_int_equal(next_over(incidents), 0);
            if (row == saved_after) {
                size_t count = save(incidents, &bytes);
                oif_incidents_free(incidents);
                require_ok(oif_incidents_load_memory(bytes, count, &incidents, NULL));
                free(bytes);
            }
            oif_incidents_advance(incidents, 2e9 + row);
        }
        assert_int_equal(next_over(incidents), 1);
        oif_incidents_free(incidents);
    }
}

static void damaged_snapshots_and_others_are_refused(void **unused)
{
    (void)unused;
    uint64_t number;
    oif_incidents *original = after_an_outage(&number), *none = NULL;
    unsigned char *bytes;
    size_t count = save(original, &bytes);
    oif_error error;
    for (size_t cut = 0; cut < count; cut += cut < 500 ? 1 : 97)
        assert_int_not_equal(oif_incidents_load_memory(bytes, cut, &none, &error), OIF_OK);
    for (size_t i = 0; i < count; i += i < 500 ? 1 : 97) {
        bytes[i] ^= 4;
        assert_int_not_equal(oif_incidents_load_memory(bytes, count, &none, &error), OIF_OK);
        bytes[i] ^= 4;
    }
    oif_detector *detector = NULL;
    assert_int_equal(oif_detector_load_memory(bytes, count, &detector, &error), OIF_EKIND);
    assert_null(none);
    free(bytes);
    oif_incidents_free(original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_far_apart_are_incidents_of_one),
        cmocka_unit_test(an_outage_is_one_incident_with_its_first_its_worst_and_what_is_shared),
        cmocka_unit_test(a_thousand_hosts_that_fail_at_once_are_one_incident),
        cmocka_unit_test(another_rack_needs_a_shorter_gap_than_the_same_one),
        cmocka_unit_test(the_more_episodes_begin_by_chance_the_fewer_join),
        cmocka_unit_test(the_rule_is_that_of_its_slow_twin),
        cmocka_unit_test(an_incident_is_over_once_its_episodes_have_ended_and_all_is_quiet),
        cmocka_unit_test(a_wrong_time_neither_ends_incidents_nor_stops_the_clock),
        cmocka_unit_test(a_source_whose_clock_is_wrong_does_not_disturb_the_others),
        cmocka_unit_test(a_lasting_jump_of_the_times_moves_the_clock),
        cmocka_unit_test(episodes_that_never_end_become_stale_and_the_end_waits_for_nothing),
        cmocka_unit_test(an_episode_reported_again_only_becomes_worse),
        cmocka_unit_test(late_events_are_sorted_and_of_simultaneous_ones_the_severest_is_first),
        cmocka_unit_test(without_times_the_sequence_is_the_time),
        cmocka_unit_test(further_members_are_counted_and_further_incidents_end_the_quietest),
        cmocka_unit_test(an_incident_lasts_as_long_as_its_later_episodes),
        cmocka_unit_test(an_episode_that_begins_twice_is_known),
        cmocka_unit_test(what_cannot_be_used_is_refused_and_changes_nothing),
        cmocka_unit_test(a_million_hostile_events_keep_every_invariant),
        cmocka_unit_test(a_loaded_copy_decides_like_the_original),
        cmocka_unit_test(a_copy_doubts_the_same_times),
        cmocka_unit_test(damaged_snapshots_and_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
