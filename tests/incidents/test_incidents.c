/* Incidents: which episodes join, what is reported about them, their limits, hostile input, and
 * snapshots. The rule is compared with its slow twin (reference/plain_incidents.h). */
#include "../detect/any_detector.h"
#include "incidents/incidents.h"
#include "reference/plain_incidents.h"

#include <inttypes.h>

static uint32_t draw_below(uint32_t count)
{
    static dice rolled = {.state = 1};
    return dice_below(&rolled, count);
}

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

static oif_incident_place end_at(oif_incidents *incidents, const char *key, double seconds)
{
    oif_incident_event event = event_of(key, "load", seconds);
    oif_incident_place place;
    oif_error error;
    require_ok_or(oif_incidents_end(incidents, &event, &place, &error), error);
    require_ok_or(oif_incidents_check(incidents, &error), error);
    return place;
}

static oif_incident_info info_of(const oif_incidents *incidents, uint64_t number)
{
    oif_incident_info info;
    assert_true(oif_incidents_info(incidents, number, &info));
    return info;
}

static void require_text(const char *text, size_t bytes, const char *expected)
{
    if (bytes != strlen(expected) || memcmp(text, expected, bytes) != 0)
        fail_msg("it is \"%.*s\" instead of \"%s\"", (int)bytes, text, expected);
}

/* ---- The rule ---- */

static void a_begin_joins_with_a_shared_part_or_column_within_the_window(void **unused)
{
    (void)unused;
    const struct {
        const char *key, *column;
        double seconds;
        bool joins;
    } cases[] = {
        {"dc1/web-18", "cpu", 300, true},
        {"dc1/db-3", "disk", 300, true},
        {"dc2/web-17", "disk", 300, true},
        {"dc2/db-3", "cpu", 300, true},
        {"dc2/db-3", "disk", 0, false},
        {"dc1/web-18", "cpu", 301, false},
        {"dc1/web-18", "cpu", -300, true},
        {"dc1/web-18", "cpu", -301, false},
        {"dc11/web-171", "disk", 0, false},
        {"", "cpu", 10, true},
        {"", "", 10, false},
        {"web-17.dc2:80", "disk", 0, true},
        {"dc2 dc1", "disk", 0, true},
        {"17", "disk", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        oif_incidents *incidents = new_incidents("");
        begin(incidents, event_of("dc1/web-17", "cpu", 0));
        const oif_incident_place place =
            begin(incidents, event_of(cases[i].key, cases[i].column, cases[i].seconds));
        if (place.joins != cases[i].joins || place.is_new == cases[i].joins)
            fail_msg("case %zu: it joins: %d", i, place.joins);
        oif_incidents_free(incidents);
    }
}

static void numbers_alone_are_no_parts(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    assert_true(begin(incidents, event_of("10.0.0.1", "cpu", 0)).is_new);
    assert_true(begin(incidents, event_of("10.0.0.2", "disk", 0)).is_new);
    oif_incidents_free(incidents);
}

static void unrelated_faults_and_other_streams_never_join(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    oif_incident_event billing = event_of("a", "invoices", 0), freezer = event_of("b", "temp", 0);
    assert_true(begin(incidents, billing).is_new);
    assert_true(begin(incidents, freezer).is_new);
    billing.stream = "billing";
    freezer = billing;
    freezer.stream = "freezer";
    assert_int_equal(begin(incidents, billing).incident, 3);
    assert_int_equal(begin(incidents, freezer).incident, 4);
    oif_incidents_free(incidents);
}

static void all_members_share_what_is_reported(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    oif_incident_shared shared;
    begin(incidents, event_of("dc1/web-17", "cpu", 0));
    assert_false(oif_incidents_shared(incidents, 1, 0, &shared));
    begin(incidents, event_of("dc1/web-18", "cpu", 10));
    assert_true(oif_incidents_shared(incidents, 1, 0, &shared) && shared.is_column);
    require_text(shared.text, shared.bytes, "cpu");
    assert_true(oif_incidents_shared(incidents, 1, 1, &shared) && !shared.is_column);
    require_text(shared.text, shared.bytes, "dc1");
    assert_false(oif_incidents_shared(incidents, 1, 2, &shared));
    assert_true(begin(incidents, event_of("dc1/db-3", "disk", 20)).joins);
    assert_true(oif_incidents_shared(incidents, 1, 0, &shared) && !shared.is_column);
    /* not all have the column any more */
    assert_true(begin(incidents, event_of("dc2/web-1", "cpu", 30)).is_new);
    oif_incidents_free(incidents);
}

static void the_rule_is_that_of_its_slow_twin(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        oif_incidents *incidents = new_incidents("window_seconds=50");
        plain_incidents *plain = plain_incidents_new(50);
        double seconds = 0;
        for (int i = 0; i < 300; i++) {
            char key[40], column[8];
            snprintf(key, sizeof key, "dc%d/rack-%d.host-%d:%d", (int)draw_below(3),
                     (int)draw_below(4), i, (int)draw_below(2));
            snprintf(column, sizeof column, "c%d", (int)draw_below(20));
            seconds += (double)draw_below(60) - 5;
            const uint64_t expected = plain_incidents_begin(plain, key, column, seconds),
                           found = begin(incidents, event_of(key, column, seconds)).incident;
            if (found != expected)
                fail_msg("event %d: incident %" PRIu64 ", and %" PRIu64 " for the twin", i, found,
                         expected);
        }
        oif_incidents_free(incidents);
        plain_incidents_free(plain);
    }
}

/* ---- What is reported ---- */

static void an_incident_is_over_with_its_last_open_episode(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    begin_at(incidents, "a", 0);
    begin_at(incidents, "b", 60);
    assert_false(end_at(incidents, "a", 100).is_over);
    assert_int_equal(oif_incidents_number(incidents, 0), 1);
    assert_true(end_at(incidents, "b", 160).is_over);
    const oif_incident_info info = info_of(incidents, 1);
    assert_true(info.is_over && info.members == 2 && info.open == 0);
    assert_true(info.first_seconds == 0 && info.last_seconds == 160);
    assert_int_equal(oif_incidents_number(incidents, 0), 0);
    assert_true(begin_at(incidents, "c", 170).is_new);
    oif_incident_info gone;
    assert_false(oif_incidents_info(incidents, 1, &gone));
    oif_incidents_free(incidents);
}

static oif_incident_place begin_worse(oif_incidents *incidents, const char *key, double severity,
                                      const char *reason)
{
    oif_incident_event event = event_of(key, "load", 0);
    event.severity = severity;
    event.reason = reason;
    return begin(incidents, event);
}

/* The headline is true: the worst open member, with its own reason. */
static void the_worst_is_the_worst_open_member(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    oif_incident_member member;
    begin_worse(incidents, "chance", 3, "load low");
    begin_worse(incidents, "svc-17", 8.3, "load high");
    begin_worse(incidents, "svc-44", 5, "load rises");
    assert_true(info_of(incidents, 1).worst == 1 && info_of(incidents, 1).peak_severity == 8.3);
    end_at(incidents, "svc-17", 50);
    assert_int_equal(info_of(incidents, 1).worst, 2);
    assert_true(oif_incidents_member(incidents, 1, 2, &member));
    require_text(member.reason, member.reason_bytes, "load rises");
    end_at(incidents, "svc-44", 60);
    assert_int_equal(info_of(incidents, 1).worst, 0);
    end_at(incidents, "chance", 70);
    assert_int_equal(info_of(incidents, 1).worst, 1);
    oif_incidents_free(incidents);
}

/* So a program can send a message whenever the grade rises. */
static void an_event_reports_how_bad_the_incident_was_before(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    oif_incident_member member;
    assert_true(begin_worse(incidents, "a", 3, "first").peak_before == 0);
    assert_true(begin_worse(incidents, "b", 8, "second").peak_before == 3);
    assert_true(begin_worse(incidents, "c", 4, "third").peak_before == 8);
    const oif_incident_place again = begin_worse(incidents, "a", 9, "worse");
    assert_true(again.peak_before == 8 && !again.is_new && !again.joins && again.incident == 1);
    assert_true(oif_incidents_member(incidents, 1, 0, &member) && member.severity == 9);
    require_text(member.reason, member.reason_bytes, "worse");
    begin_worse(incidents, "a", 2, "milder");
    assert_true(oif_incidents_member(incidents, 1, 0, &member) && member.severity == 9);
    require_text(member.reason, member.reason_bytes, "worse");
    assert_int_equal(info_of(incidents, 1).members, 3);
    oif_incidents_free(incidents);
}

static void an_event_without_a_time_is_at_that_of_the_last_one(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("");
    assert_true(begin_at(incidents, "a", 1000).is_new);
    assert_true(begin_at(incidents, "b", NAN).joins);
    end_at(incidents, "a", NAN);
    assert_true(info_of(incidents, 1).last_seconds == 1000);
    /* one that ends before its begin ends with it */
    end_at(incidents, "b", 10);
    assert_true(info_of(incidents, 1).last_seconds == 1000 && info_of(incidents, 1).is_over);
    oif_incidents_free(incidents);
}

static void long_texts_are_cut_and_their_episodes_differ(void **unused)
{
    (void)unused;
    char key[301];
    oif_incidents *incidents = new_incidents("");
    oif_incident_member member;
    memset(key, 'x', 300);
    key[300] = 0;
    begin_at(incidents, key, 0);
    key[299] = 'y';
    assert_true(begin_at(incidents, key, 0).joins);
    assert_true(oif_incidents_member(incidents, 1, 1, &member));
    assert_int_equal(member.key_bytes, OIF_INCIDENT_TEXT_BYTES);
    assert_int_equal(end_at(incidents, key, 5).incident, 1);
    assert_int_equal(info_of(incidents, 1).open, 1);
    oif_incidents_free(incidents);
}

/* ---- Limits and hostile input ---- */

static void further_episodes_belong_to_no_incident(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("max_members=2");
    begin_at(incidents, "a", 0);
    begin_at(incidents, "b", 1000);
    const oif_incident_place third = begin_at(incidents, "c", 1000);
    assert_true(third.incident == 0 && !third.is_new && !third.joins);
    assert_int_equal(end_at(incidents, "c", 1001).incident, 0);
    end_at(incidents, "a", 1100);
    assert_int_equal(begin_at(incidents, "d", 1100).incident, 2);
    oif_incidents_free(incidents);
}

static void what_cannot_be_used_is_refused_and_changes_nothing(void **unused)
{
    (void)unused;
    static char key[OIF_KEY_MAX_BYTES + 1];
    oif_incidents *incidents = new_incidents(""), *none = NULL;
    oif_incident_event event = event_of("a", "load", INFINITY);
    oif_incident_place place;
    oif_error error;
    oif_params other;
    assert_int_equal(oif_incidents_begin(incidents, &event, &place, &error), OIF_EVALUE);
    assert_int_equal(oif_incidents_end(incidents, &event, &place, &error), OIF_EVALUE);
    event = (oif_incident_event){.key = key, .key_bytes = sizeof key};
    assert_int_equal(oif_incidents_begin(incidents, &event, &place, &error), OIF_EVALUE);
    assert_int_equal(oif_incidents_number(incidents, 0), 0);
    oif_pipeline_options_init(&other);
    assert_int_equal(oif_incidents_new(&other, &none, &error), OIF_EPARAM);
    assert_null(none);
    oif_incidents_free(incidents);
}

static void a_million_hostile_events_keep_every_invariant(void **unused)
{
    (void)unused;
    oif_incidents *incidents = new_incidents("max_members=20");
    oif_error error;
    for (int i = 0; i < 1000000; i++) {
        char key[16];
        const double times[] = {NAN, -1e300, 1e300, 0, (double)draw_below(2000)};
        snprintf(key, sizeof key, "%d/r%d", (int)draw_below(9), (int)draw_below(3));
        oif_incident_event event = event_of(key, "load", times[draw_below(5)]);
        event.severity = draw_below(20) == 0 ? NAN : (double)draw_below(12) - 2;
        event.episode = draw_below(3);
        oif_incident_place place;
        assert_int_equal((draw_below(2) ? oif_incidents_begin
                                        : oif_incidents_end)(incidents, &event, &place, NULL),
                         OIF_OK);
        if (i % 50 == 0)
            require_ok_or(oif_incidents_check(incidents, &error), error);
    }
    oif_incidents_free(incidents);
}

/* ---- Snapshots ---- */

static oif_incidents *copy_of(const oif_incidents *incidents)
{
    oif_incidents *copy = NULL;
    oif_error error;
    const size_t count = oif_incidents_snapshot_bytes(incidents);
    char *bytes = malloc(count);
    assert_non_null(bytes);
    assert_int_equal(oif_incidents_save_memory(incidents, bytes, count - 1, &error), OIF_EPARAM);
    require_ok_or(oif_incidents_save_memory(incidents, bytes, count, &error), error);
    require_ok_or(oif_incidents_load_memory(bytes, count, &copy, &error), error);
    free(bytes);
    return copy;
}

static void a_loaded_copy_decides_like_the_original(void **unused)
{
    (void)unused;
    oif_incidents *original = new_incidents("window_seconds=40"), *copy = copy_of(original);
    for (int i = 0; i < 3000; i++) {
        char key[24];
        snprintf(key, sizeof key, "dc%d/h%d", (int)draw_below(3), (int)draw_below(12));
        oif_incident_event event = event_of(key, "load", 10 * i);
        event.column = draw_below(2) ? "load" : key;
        oif_incident_place a, b;
        const bool begins = draw_below(2);
        assert_int_equal(
            (begins ? oif_incidents_begin : oif_incidents_end)(original, &event, &a, NULL), OIF_OK);
        assert_int_equal((begins ? oif_incidents_begin : oif_incidents_end)(copy, &event, &b, NULL),
                         OIF_OK);
        assert_memory_equal(&a, &b, sizeof a);
        if (i % 100 == 0) {
            oif_incidents_free(copy);
            copy = copy_of(original);
        }
    }
    oif_incidents_free(original);
    oif_incidents_free(copy);
}

static void damaged_snapshots_and_others_are_refused(void **unused)
{
    (void)unused;
    oif_incidents *original = new_incidents(""), *none = NULL;
    oif_error error;
    for (int i = 0; i < 5; i++)
        begin_worse(original, &"abcde"[i], 3 + i, "load high");
    const size_t count = oif_incidents_snapshot_bytes(original);
    unsigned char *bytes = malloc(count);
    assert_non_null(bytes);
    require_ok_or(oif_incidents_save_memory(original, bytes, count, &error), error);
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
        cmocka_unit_test(a_begin_joins_with_a_shared_part_or_column_within_the_window),
        cmocka_unit_test(numbers_alone_are_no_parts),
        cmocka_unit_test(unrelated_faults_and_other_streams_never_join),
        cmocka_unit_test(all_members_share_what_is_reported),
        cmocka_unit_test(the_rule_is_that_of_its_slow_twin),
        cmocka_unit_test(an_incident_is_over_with_its_last_open_episode),
        cmocka_unit_test(the_worst_is_the_worst_open_member),
        cmocka_unit_test(an_event_reports_how_bad_the_incident_was_before),
        cmocka_unit_test(an_event_without_a_time_is_at_that_of_the_last_one),
        cmocka_unit_test(long_texts_are_cut_and_their_episodes_differ),
        cmocka_unit_test(further_episodes_belong_to_no_incident),
        cmocka_unit_test(what_cannot_be_used_is_refused_and_changes_nothing),
        cmocka_unit_test(a_million_hostile_events_keep_every_invariant),
        cmocka_unit_test(a_loaded_copy_decides_like_the_original),
        cmocka_unit_test(damaged_snapshots_and_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
