/* serve/outside/alert_queue.c: which episodes are sent when, and how. */
#include "serve/outside/alert_queue.h"

#include "front/text/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double now = 1700000000; /* 2023-11-14T22:13:20Z */

static alert_queue *new_queue(size_t episodes_max, json_t *labels)
{
    const alert_queue_options options = {.episodes_max = episodes_max,
                                         .resend_seconds = 60,
                                         .labels = labels,
                                         .page_url = "http://oif:8571"};
    alert_queue *queue = alert_queue_new(&options);
    assert_non_null(queue);
    return queue;
}

static json_t *make_episode(const char *key, int number, const char *grade, int last_row,
                            const char *ended)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"stream\": \"pumps\", \"key\": %s, \"number\": %d, \"first_row\": 3, "
             "\"last_row\": %d, \"began\": 1699999000, \"ended\": %s, \"peak_score\": 0.81, "
             "\"peak_severity\": 4.5, \"grade\": \"%s\", \"reason\": \"flow high\", \"column\": "
             "\"flow\", \"text\": \"flow high since 21:56, 4 rows, severity 4.5\"}",
             key, number, last_row, ended, grade);
    json_t *episode = json_loads(text, 0, NULL);
    assert_non_null(episode);
    return episode;
}

static void put(alert_queue *queue, const char *key, int number, const char *grade, int last_row,
                const char *ended)
{
    json_t *episode = make_episode(key, number, grade, last_row, ended);
    assert_true(alert_queue_put(queue, episode));
    json_decref(episode);
}

/* What is due, as an array; NULL: nothing. */
static json_t *write_due(alert_queue *queue, double clock, size_t limit)
{
    size_t bytes;
    output_divert();
    size_t count = alert_queue_write(queue, clock, now + clock, limit);
    char *text = output_diverted(&bytes);
    if (count == 0) {
        assert_true(!text || bytes == 0);
        free(text);
        return NULL;
    }
    assert_non_null(text);
    json_t *alerts = json_loadb(text, bytes, 0, NULL);
    if (!json_is_array(alerts))
        fail_msg("this is not an array: %.*s", (int)bytes, text);
    free(text);
    return alerts;
}

static const char *member(json_t *alerts, size_t i, const char *object, const char *name)
{
    json_t *alert = json_array_get(alerts, i);
    return json_string_value(
        json_object_get(object ? json_object_get(alert, object) : alert, name));
}

static void assert_nothing_due(alert_queue *queue, double clock)
{
    json_t *alerts = write_due(queue, clock, 100);
    if (alerts)
        fail_msg("%zu alerts are due at %g", json_array_size(alerts), clock);
}

static void an_alert_has_labels_annotations_times_and_an_address(void **state)
{
    (void)state;
    json_t *labels = json_loads("{\"team\": \"in\\\"fra\"}", 0, NULL);
    alert_queue *queue = new_queue(9, labels);
    put(queue, "\"p/7 é\"", 1, "warning", 6, "null");
    json_t *alerts = write_due(queue, 0, 9);
    assert_int_equal(json_array_size(alerts), 1);
    assert_string_equal(member(alerts, 0, "labels", "alertname"), "OifAnomaly");
    assert_string_equal(member(alerts, 0, "labels", "stream"), "pumps");
    assert_string_equal(member(alerts, 0, "labels", "key"), "p/7 é");
    assert_string_equal(member(alerts, 0, "labels", "column"), "flow");
    assert_string_equal(member(alerts, 0, "labels", "severity"), "warning");
    assert_string_equal(member(alerts, 0, "labels", "team"), "in\"fra");
    assert_string_equal(member(alerts, 0, "annotations", "summary"),
                        "pumps, p/7 é: flow high since 21:56, 4 rows, severity 4.5");
    assert_string_equal(member(alerts, 0, "annotations", "reason"), "flow high");
    assert_string_equal(member(alerts, 0, "annotations", "peak_score"), "0.81");
    assert_string_equal(member(alerts, 0, "annotations", "peak_severity"), "4.5");
    assert_string_equal(member(alerts, 0, NULL, "startsAt"), "2023-11-14T21:56:40Z");
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:17:20Z");
    assert_string_equal(member(alerts, 0, NULL, "generatorURL"),
                        "http://oif:8571/#stream=pumps&key=p%2F7%20%C3%A9");
    json_decref(alerts);
    alert_queue_free(queue);
    json_decref(labels);
}

static void an_open_episode_is_sent_again_and_its_end_moves(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "note", 6, "null");
    assert_int_equal(alert_queue_waiting(queue), 1);
    json_decref(write_due(queue, 0, 9));
    alert_queue_sent(queue, 0);
    assert_int_equal(alert_queue_waiting(queue), 0);
    put(queue, "\"a\"", 1, "note", 9, "null"); /* longer, but no worse */
    assert_nothing_due(queue, 59);
    json_t *alerts = write_due(queue, 60, 9);
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:18:20Z");
    json_decref(alerts);
    alert_queue_free(queue);
}

static void what_was_not_taken_stays_due_in_its_latest_state(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "note", 6, "null");
    json_decref(write_due(queue, 0, 9)); /* and the POST fails */
    put(queue, "\"a\"", 1, "critical", 7, "null");
    json_t *alerts = write_due(queue, 1, 9);
    assert_int_equal(json_array_size(alerts), 1);
    assert_string_equal(member(alerts, 0, "labels", "severity"), "critical");
    put(queue, "\"a\"", 1, "critical", 8, "1699999900"); /* during the POST */
    alert_queue_sent(queue, 1);
    json_decref(alerts);
    alerts = write_due(queue, 1, 9);
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:11:40Z");
    json_decref(alerts);
    alert_queue_sent(queue, 1);
    assert_int_equal(alert_queue_count(queue), 0);
    alert_queue_free(queue);
}

static void a_worse_grade_ends_the_old_alert_and_begins_another(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "warning", 6, "null");
    json_decref(write_due(queue, 0, 9));
    alert_queue_sent(queue, 0);
    put(queue, "\"a\"", 1, "critical", 7, "null");
    json_t *alerts = write_due(queue, 2, 9);
    assert_int_equal(json_array_size(alerts), 2);
    assert_string_equal(member(alerts, 0, "labels", "severity"), "warning");
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:13:22Z");
    assert_string_equal(member(alerts, 1, "labels", "severity"), "critical");
    assert_string_equal(member(alerts, 1, NULL, "endsAt"), "2023-11-14T22:17:22Z");
    json_decref(alerts);
    alert_queue_sent(queue, 2);
    assert_nothing_due(queue, 61);
    alert_queue_free(queue);
}

static void an_episode_is_sent_once_it_has_the_lowest_grade(void **state)
{
    (void)state;
    alert_queue *queue = alert_queue_new(
        &(alert_queue_options){.episodes_max = 9, .resend_seconds = 60, .min_grade = "warning"});
    put(queue, "\"a\"", 1, "note", 6, "null");
    assert_nothing_due(queue, 0);
    put(queue, "\"a\"", 1, "warning", 7, "null");
    json_t *alerts = write_due(queue, 0, 9);
    assert_int_equal(json_array_size(alerts), 1);
    assert_null(member(alerts, 0, NULL, "generatorURL"));
    json_decref(alerts);
    alert_queue_free(queue);
}

static void the_column_is_that_of_the_first_alert(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "note", 6, "null");
    json_decref(write_due(queue, 0, 9));
    alert_queue_sent(queue, 0);
    json_t *other = make_episode("\"a\"", 1, "note", 9, "1699999900");
    json_object_set_new(other, "column", json_string("heat"));
    assert_true(alert_queue_put(queue, other));
    json_decref(other);
    json_t *alerts = write_due(queue, 1, 9);
    assert_string_equal(member(alerts, 0, "labels", "column"), "flow");
    json_decref(alerts);
    alert_queue_free(queue);
}

static void what_is_listed_late_does_not_open_an_ended_episode(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "note", 9, "1699999900");
    put(queue, "\"a\"", 1, "note", 8, "null");
    json_t *alerts = write_due(queue, 0, 9);
    assert_int_equal(json_array_size(alerts), 1);
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:11:40Z");
    json_decref(alerts);
    alert_queue_free(queue);
}

static void what_is_not_listed_any_more_ends_now(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    put(queue, "\"a\"", 1, "note", 6, "null");
    put(queue, "\"b\"", 1, "note", 6, "null");
    json_decref(write_due(queue, 0, 9));
    alert_queue_sent(queue, 0);
    alert_queue_begin_all(queue);
    put(queue, "\"b\"", 1, "note", 6, "null");
    alert_queue_end_all(queue);
    json_t *alerts = write_due(queue, 5, 9);
    assert_int_equal(json_array_size(alerts), 1);
    assert_string_equal(member(alerts, 0, "labels", "key"), "a");
    assert_string_equal(member(alerts, 0, NULL, "endsAt"), "2023-11-14T22:13:25Z");
    json_decref(alerts);
    alert_queue_sent(queue, 5);
    assert_int_equal(alert_queue_count(queue), 1);
    alert_queue_free(queue);
}

static void times_of_rows_that_alertmanager_would_refuse_are_mended(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(9, NULL);
    json_t *future = make_episode("\"a\"", 1, "note", 6, "null");
    json_object_set_new(future, "began", json_real(now + 1e6));
    assert_true(alert_queue_put(queue, future));
    json_t *unknown = make_episode("\"b\"", 1, "note", 6, "5");
    json_object_set_new(unknown, "began", json_null());
    assert_true(alert_queue_put(queue, unknown));
    json_t *alerts = write_due(queue, 0, 9);
    assert_string_equal(member(alerts, 0, NULL, "startsAt"), "2023-11-14T22:13:20Z");
    assert_string_equal(member(alerts, 1, NULL, "startsAt"), "2023-11-14T22:13:20Z");
    assert_string_equal(member(alerts, 1, NULL, "endsAt"), "2023-11-14T22:13:20Z");
    json_decref(alerts);
    json_decref(future);
    json_decref(unknown);
    alert_queue_free(queue);
}

static void a_post_has_a_limit_and_the_queue_too(void **state)
{
    (void)state;
    alert_queue *queue = new_queue(300, NULL);
    for (int i = 0; i < 300; i++) {
        char key[16];
        snprintf(key, sizeof key, "\"k%d\"", i);
        put(queue, key, 1, "note", 6, "null");
    }
    json_t *one_more = make_episode("\"x\"", 1, "note", 6, "null");
    assert_false(alert_queue_put(queue, one_more));
    size_t posts = 0, alerts = 0;
    for (json_t *due; (due = write_due(queue, 0, 128)); posts++) {
        alerts += json_array_size(due);
        json_decref(due);
        alert_queue_sent(queue, 0);
    }
    assert_int_equal(posts, 3);
    assert_int_equal(alerts, 300);
    put(queue, "\"k7\"", 1, "note", 9, "1699999900");
    json_decref(write_due(queue, 1, 128));
    alert_queue_sent(queue, 1);
    assert_true(alert_queue_put(queue, one_more));
    assert_int_equal(alert_queue_count(queue), 300);
    json_decref(one_more);
    alert_queue_free(queue);
}

static void a_stream_without_keys_has_no_label_of_one(void **state)
{
    (void)state;
    json_t *labels = json_loads("{\"alertname\": \"Pump\"}", 0, NULL);
    alert_queue *queue = new_queue(9, labels);
    put(queue, "null", 1, "note", 6, "null");
    json_t *alerts = write_due(queue, 0, 9);
    assert_null(member(alerts, 0, "labels", "key"));
    assert_string_equal(member(alerts, 0, "labels", "alertname"), "Pump");
    assert_string_equal(member(alerts, 0, NULL, "generatorURL"), "http://oif:8571/#stream=pumps");
    json_decref(alerts);
    json_t *not_one = json_pack("{s:s}", "text", "no episode");
    assert_false(alert_queue_put(queue, not_one));
    json_decref(not_one);
    alert_queue_free(queue);
    json_decref(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alert_has_labels_annotations_times_and_an_address),
        cmocka_unit_test(an_open_episode_is_sent_again_and_its_end_moves),
        cmocka_unit_test(what_was_not_taken_stays_due_in_its_latest_state),
        cmocka_unit_test(a_worse_grade_ends_the_old_alert_and_begins_another),
        cmocka_unit_test(an_episode_is_sent_once_it_has_the_lowest_grade),
        cmocka_unit_test(the_column_is_that_of_the_first_alert),
        cmocka_unit_test(what_is_listed_late_does_not_open_an_ended_episode),
        cmocka_unit_test(what_is_not_listed_any_more_ends_now),
        cmocka_unit_test(times_of_rows_that_alertmanager_would_refuse_are_mended),
        cmocka_unit_test(a_post_has_a_limit_and_the_queue_too),
        cmocka_unit_test(a_stream_without_keys_has_no_label_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
