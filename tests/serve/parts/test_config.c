/* serve/outside/config.c: what --config FILE may contain, and the messages about everything
 * else. */
#include "serve/outside/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char path[] = "test_config.json";

static bool load(const char *text, server_config *config, problem *why)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    *why = (problem){0};
    bool is_loaded = config_load(path, config, why);
    remove(path);
    return is_loaded;
}

static void assert_refused(const char *text, const char *message)
{
    server_config config;
    problem why;
    assert_false(load(text, &config, &why));
    if (!strstr(why.message, message))
        fail_msg("%s\nis refused with: %s\nand not with: %s", text, why.message, message);
    assert_int_equal(strncmp(why.message, path, strlen(path)), 0);
}

static void options_of_the_command_are_collected(void **state)
{
    server_config config;
    problem why;
    (void)state;
    assert_true(
        load("{\"listen\": \"127.0.0.1:0\", \"save-every\": 0.25, \"quiet\": true, "
             "\"verbose\": false, \"data\": null, \"words\": [\"a\", \"b\"], \"max-streams\": 7, "
             "\"max-body\": \"1M\"}",
             &config, &why));
    json_t *expected =
        json_pack("{s:s, s:f, s:b, s:i, s:[s, s], s:s}", "listen", "127.0.0.1:0", "save-every",
                  0.25, "quiet", 1, "max-streams", 7, "words", "a", "b", "max-body", "1M");
    assert_true(json_equal(config.options, expected));
    json_decref(expected);
    config_close(&config);
}

static void streams_have_names_and_settings(void **state)
{
    server_config config;
    problem why;
    (void)state;
    assert_true(load("{\"streams\": [{\"name\": \"a\", \"settings\": {\"key\": \"host\"}}, "
                     "{\"name\": \"b\"}]}",
                     &config, &why));
    assert_int_equal(config.stream_count, 2);
    assert_string_equal(config.streams[0].name, "a");
    assert_string_equal(json_string_value(json_object_get(config.streams[0].settings, "key")),
                        "host");
    assert_int_equal(json_object_size(config.streams[1].settings), 0);
    config_close(&config);
    assert_refused("{\"streams\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "two streams");
    assert_refused("{\"streams\": [{\"settings\": {}}]}", "streams[0]: 'name' is missing");
    assert_refused("{\"streams\": {}}", "'streams' must be an array");
    assert_refused("{\"streams\": [{\"name\": \"a\", \"setings\": {}}]}",
                   "streams[0] has no member 'setings'; did you mean settings?");
    assert_refused("{\"x\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                   "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                   "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\": {}}",
                   "'x\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                   "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                   "\u00e9\u00e9\u00e9\u00e9\u00e9' must be");
}

static void alertmanager_has_labels_of_texts(void **state)
{
    server_config config;
    problem why;
    (void)state;
    assert_true(load("{\"alertmanager\": {\"url\": \"http://h:9093/\", \"labels\": {\"team\": "
                     "\"x\"}, \"resend_seconds\": \"2m\"}}",
                     &config, &why));
    assert_string_equal(config.alertmanager.url, "http://h:9093/");
    assert_true(config.alertmanager.resend_seconds == 120);
    config_close(&config);
    assert_refused("{\"alertmanager\": {\"url\": \"h:9093\"}}", "http:// or https://");
    assert_refused("{\"alertmanager\": {\"url\": 7}}", "'url' must be a text");
    assert_refused("{\"alertmanager\": {\"labels\": {\"a-b\": \"x\"}}}", "'a-b' cannot be");
    assert_refused("{\"alertmanager\": {\"labels\": {\"a\": 1}}}", "'a' must be a text");
    assert_refused("{\"alertmanager\": {\"labels\": {\"key\": \"x\"}}}", "'key' is set by oif");
    assert_refused("{\"alertmanager\": {\"min_grade\": \"red\"}}", "note, warning or critical");
    assert_refused("{\"alertmanager\": {\"resend_seconds\": 0}}", "must be seconds");
}

static void a_pulled_stream_has_the_settings_that_follow_from_its_queries(void **state)
{
    server_config config;
    problem why;
    (void)state;
    assert_true(
        load("{\"prometheus\": {\"url\": \"http://p:9090\", \"step\": \"15s\", \"streams\": "
             "[{\"name\": \"a\", \"queries\": {\"load\": \"node_load1\", \"x:y\": "
             "\"up\"}, \"key\": [\"instance\", \"job\"], \"settings\": {\"silence\": 4}}, "
             "{\"name\": \"b\", \"queries\": {\"up\": \"up\"}, \"step\": 1}]}}",
             &config, &why));
    const pull_config *a = &config.prometheus.streams[0], *b = &config.prometheus.streams[1];
    assert_true(a->step_seconds == 15 && b->step_seconds == 1);
    json_t *settings = a->stream.settings;
    assert_string_equal(json_string_value(json_object_get(settings, "key")), "instance,job");
    assert_string_equal(json_string_value(json_object_get(settings, "time")), "time");
    assert_string_equal(json_string_value(json_object_get(settings, "columns")), "load,x:y");
    assert_int_equal(json_integer_value(json_object_get(settings, "silence")), 4);
    assert_string_equal(json_string_value(json_object_get(b->stream.settings, "key")), "series");
    config_close(&config);
}

#define PULL(members) "{\"prometheus\": {\"streams\": [{\"name\": \"a\", " members "}]}}"

static void queries_that_cannot_make_rows_are_refused(void **state)
{
    (void)state;
    assert_refused(PULL("\"queries\": {}"), "'queries' is empty");
    assert_refused(PULL("\"queries\": {\"a\": 7}"), "the query of 'a' must be a text");
    assert_refused(PULL("\"queries\": {\"time\": \"up\"}"), "cannot be called 'time'");
    assert_refused(PULL("\"queries\": {\"series\": \"up\"}"), "cannot be called 'series'");
    assert_refused(PULL("\"queries\": {\"x,y\": \"up\"}"), "use letters, digits, _ and :");
    assert_refused(PULL("\"queries\": {\"job\": \"up\"}, \"key\": [\"job\"]"),
                   "cannot be called 'job'");
    assert_refused(PULL("\"queries\": {\"a\": \"up\"}, \"key\": [\"b-c\"]"), "names of labels");
    assert_refused(PULL("\"queries\": {\"a\": \"up\"}, \"key\": [\"time\"]"), "'time' cannot be");
    assert_refused(PULL("\"queries\": {\"a\": \"up\"}, \"settings\": {\"time\": \"t\"}"),
                   "'time' follows from the queries");
    assert_refused(PULL("\"queries\": {\"a\": \"up\"}, \"key\": [\"a1\",\"a2\",\"a3\",\"a4\","
                        "\"a5\",\"a6\",\"a7\",\"a8\",\"a9\"]"),
                   "at most 8 labels");
    assert_refused("{\"prometheus\": {\"step\": -1, \"streams\": []}}", "'step' must be seconds");
    assert_refused("{\"streams\": [{\"name\": \"a\"}], \"prometheus\": {\"streams\": [{\"name\": "
                   "\"a\", \"queries\": {\"a\": \"up\"}}]}}",
                   "two streams have the name 'a'");
}

static void text_that_is_not_json_is_refused_with_its_place(void **state)
{
    server_config config;
    problem why;
    (void)state;
    assert_false(load("{\n  \"listen\": }\n", &config, &why));
    assert_int_equal(why.line, 2);
    assert_non_null(strstr(why.message, "test_config.json: line 2, column "));
    assert_refused("[]", "must be a JSON object");
    assert_refused("{\"a\": 1, \"a\": 2}", "duplicate");
    assert_refused("{\"config\": \"x\"}", "'config' cannot be");
    assert_refused("{\"listen\": {}}", "'listen' must be a string");
    assert_refused("{\"limits\": {\"listen\": \"x\"}}", "'limits' must be a string");
    assert_false(config_load("no/such/file", &config, &why));
    assert_string_equal(why.message, "no/such/file: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_the_command_are_collected),
        cmocka_unit_test(streams_have_names_and_settings),
        cmocka_unit_test(alertmanager_has_labels_of_texts),
        cmocka_unit_test(a_pulled_stream_has_the_settings_that_follow_from_its_queries),
        cmocka_unit_test(queries_that_cannot_make_rows_are_refused),
        cmocka_unit_test(text_that_is_not_json_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
