/* serve/outside/prometheus_rows.c: answers of Prometheus joined to rows. */
#include "serve/outside/prometheus_rows.h"

#include "front/text/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *parse(const char *text)
{
    json_t *parsed = json_loads(text, 0, NULL);
    if (!parsed)
        fail_msg("this is not JSON: %s", text);
    return parsed;
}

typedef struct fixture {
    pull_config config;
    prometheus_rows *rows;
} fixture;

static fixture *start(const char *queries, const char *labels, size_t rows_max)
{
    fixture *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->config = (pull_config){.queries = parse(queries), .labels = parse(labels)};
    made->rows = prometheus_rows_new(&made->config, rows_max);
    assert_non_null(made->rows);
    return made;
}

static void finish(fixture *made)
{
    prometheus_rows_free(made->rows);
    json_decref(made->config.queries);
    json_decref(made->config.labels);
    free(made);
}

static bool add(fixture *made, const char *answer, problem *why)
{
    json_t *parsed = parse(answer);
    bool is_added = prometheus_rows_add(made->rows, parsed, why);
    json_decref(parsed);
    return is_added;
}

#define VECTOR(series)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" series "]}}"
#define SERIES(labels, value) "{\"metric\":{" labels "},\"value\":[60,\"" value "\"]}"

static void assert_rows(fixture *made, double at, const char *expected)
{
    size_t bytes;
    output_divert();
    prometheus_rows_write(made->rows, at);
    output_write("", 1);
    char *text = output_diverted(&bytes);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void answers_are_joined_by_the_named_labels_in_their_order(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"load\": \"a\", \"free\": \"b\"}", "[\"job\", \"instance\"]", 100);
    assert_true(add(
        f,
        VECTOR(SERIES("\"instance\":\"y\",\"job\":\"j\",\"__name__\":\"load\"",
                      "0.5") "," SERIES("\"instance\":\"x\",\"job\":\"j\",\"cpu\":\"1\"", "1e-7")),
        &why));
    assert_true(add(f,
                    VECTOR(SERIES("\"instance\":\"x\",\"job\":\"j\"",
                                  "123456789") "," SERIES("\"instance\":\"z\"", "3")),
                    &why));
    assert_rows(
        f, 60.5,
        "{\"time\":60.5,\"job\":\"\",\"instance\":\"z\",\"load\":null,\"free\":3}\n"
        "{\"time\":60.5,\"job\":\"j\",\"instance\":\"x\",\"load\":1e-07,\"free\":123456789}\n"
        "{\"time\":60.5,\"job\":\"j\",\"instance\":\"y\",\"load\":0.5,\"free\":null}\n");
    finish(f);
}

static void without_names_all_labels_make_the_key_by_the_order_of_their_names(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"up\": \"a\"}", "[]", 100);
    assert_true(add(f,
                    VECTOR(SERIES("\"b\":\"2/x\",\"a\":\"1\\\\\",\"__name__\":\"up\"",
                                  "1") "," SERIES("\"only\":\"a/b\"", "2") "," SERIES("", "3")),
                    &why));
    assert_rows(f, 60,
                "{\"time\":60,\"key\":\"\",\"up\":3}\n"
                "{\"time\":60,\"key\":\"1\\\\\\\\/2\\\\/x\",\"up\":1}\n"
                "{\"time\":60,\"key\":\"a/b\",\"up\":2}\n");
    finish(f);
}

static void what_is_not_finite_is_missing(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"a\": \"a\"}", "[\"i\"]", 100);
    assert_true(add(
        f,
        VECTOR(SERIES("\"i\":\"1\"", "NaN") "," SERIES("\"i\":\"2\"", "+Inf") "," SERIES(
            "\"i\":\"3\"", "-Inf") "," SERIES("\"i\":\"4\"",
                                              "-0.25") ","
                                                       "{\"metric\":{\"i\":\"5\"},\"value\":[60]}"),
        &why));
    assert_rows(f, 60,
                "{\"time\":60,\"i\":\"1\",\"a\":null}\n{\"time\":60,\"i\":\"2\",\"a\":null}\n"
                "{\"time\":60,\"i\":\"3\",\"a\":null}\n{\"time\":60,\"i\":\"4\",\"a\":-0.25}\n"
                "{\"time\":60,\"i\":\"5\",\"a\":null}\n");
    finish(f);
}

static void series_beyond_the_limit_and_with_the_same_key_are_counted(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"a\": \"a\", \"b\": \"b\"}", "[\"i\"]", 2);
    assert_true(add(f,
                    VECTOR(SERIES("\"i\":\"1\",\"j\":\"x\"", "1") "," SERIES(
                        "\"i\":\"1\",\"j\":\"y\"",
                        "2") "," SERIES("\"i\":\"2\"", "3") "," SERIES("\"i\":\"3\"", "4")),
                    &why));
    assert_true(add(f, VECTOR(SERIES("\"i\":\"2\"", "5")), &why));
    assert_int_equal(prometheus_rows_left_out(f->rows), 1);
    assert_int_equal(prometheus_rows_doubled(f->rows), 1);
    assert_int_equal(prometheus_rows_count(f->rows), 2);
    assert_rows(f, 60,
                "{\"time\":60,\"i\":\"1\",\"a\":1,\"b\":null}\n"
                "{\"time\":60,\"i\":\"2\",\"a\":3,\"b\":5}\n");
    finish(f);
}

static void a_scalar_is_one_row(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"a\": \"1\"}", "[]", 2);
    assert_true(add(f,
                    "{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":"
                    "[60,\"7\"]}}",
                    &why));
    assert_rows(f, 60, "{\"time\":60,\"key\":\"\",\"a\":7}\n");
    finish(f);
}

static void what_is_not_an_answer_is_refused_with_its_reason(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"a\": \"1\"}", "[]", 2);
    assert_false(add(f, "{\"status\":\"error\",\"error\":\"parse error: x\"}", &why));
    assert_string_equal(why.message, "parse error: x");
    assert_false(add(f, "[]", &why));
    assert_false(add(f, "{\"status\":\"success\",\"data\":7}", &why));
    assert_string_equal(why.message, "it is not an answer to a query");
    assert_false(add(
        f, "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}", &why));
    assert_string_equal(why.message,
                        "the query returns a matrix; it must return one number per series");
    assert_true(add(f, VECTOR("7, {\"metric\": 3}, {}"), &why));
    assert_int_equal(prometheus_rows_count(f->rows), 0);
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_joined_by_the_named_labels_in_their_order),
        cmocka_unit_test(without_names_all_labels_make_the_key_by_the_order_of_their_names),
        cmocka_unit_test(what_is_not_finite_is_missing),
        cmocka_unit_test(series_beyond_the_limit_and_with_the_same_key_are_counted),
        cmocka_unit_test(a_scalar_is_one_row),
        cmocka_unit_test(what_is_not_an_answer_is_refused_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
