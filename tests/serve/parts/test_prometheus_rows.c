/* serve/outside/prometheus_rows.c: answers of Prometheus become samples, and rows. */
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

/* The samples of a step. The rule of a pull is that of its settings, and keeps missing numbers. */
typedef struct fixture {
    json_t *settings;
    sample_rule rule;
    samples *all;
} fixture;

static fixture *start(const char *key, size_t keys_max)
{
    problem why;
    fixture *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->settings = parse(key);
    assert_true(sample_rule_open(&made->rule, made->settings, &why));
    made->rule.keys_max = keys_max;
    made->rule.keeps_missing = true;
    made->all = samples_new(&made->rule);
    assert_non_null(made->all);
    return made;
}

static void finish(fixture *made)
{
    samples_free(made->all);
    sample_rule_close(&made->rule);
    json_decref(made->settings);
    free(made);
}

static bool add(fixture *made, const char *column, const char *answer, problem *why)
{
    json_t *parsed = parse(answer);
    bool is_added = prometheus_rows_add(made->all, column, 60.5, parsed, why);
    json_decref(parsed);
    return is_added;
}

#define VECTOR(series)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" series "]}}"
#define SERIES(labels, value) "{\"metric\":{" labels "},\"value\":[60,\"" value "\"]}"

static void assert_rows(fixture *made, const char *expected)
{
    size_t bytes;
    problem why;
    output_divert();
    assert_true(samples_write(made->all, SIZE_MAX, &why));
    output_write("", 1);
    char *text = output_diverted(&bytes);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void answers_are_joined_by_the_labels_of_the_key(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": [\"job\", \"instance\"]}", 100);
    assert_true(add(
        f, "load",
        VECTOR(SERIES("\"instance\":\"y\",\"job\":\"j\",\"__name__\":\"load\"",
                      "0.5") "," SERIES("\"instance\":\"x\",\"job\":\"j\",\"cpu\":\"1\"", "1e-7")),
        &why));
    assert_true(add(f, "free",
                    VECTOR(SERIES("\"instance\":\"x\",\"job\":\"j\"",
                                  "123456789") "," SERIES("\"instance\":\"z\"", "3")),
                    &why));
    assert_rows(
        f, "{\"time\":60.5,\"job\":\"j\",\"instance\":\"y\",\"load\":0.5}\n"
           "{\"time\":60.5,\"job\":\"j\",\"instance\":\"x\",\"load\":1e-07,\"free\":123456789}\n"
           "{\"time\":60.5,\"job\":\"\",\"instance\":\"z\",\"free\":3}\n");
    finish(f);
}

static void all_labels_but_the_name_may_be_the_key(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": \"series\"}", 100);
    assert_true(add(
        f, "up",
        VECTOR(SERIES("\"b\":\"2\",\"a\":\"1\\\\\",\"__name__\":\"up\"", "1") "," SERIES("", "3")),
        &why));
    assert_rows(f, "{\"time\":60.5,\"series\":\"{a=\\\"1\\\\\\\\\\\",b=\\\"2\\\"}\",\"up\":1}\n"
                   "{\"time\":60.5,\"series\":\"\",\"up\":3}\n");
    finish(f);
}

static void what_is_not_finite_is_missing_and_its_key_has_a_row(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": \"i\"}", 100);
    assert_true(add(
        f, "a",
        VECTOR(SERIES("\"i\":\"1\"", "NaN") "," SERIES("\"i\":\"2\"", "+Inf") "," SERIES(
            "\"i\":\"3\"", "-Inf") "," SERIES("\"i\":\"4\"",
                                              "-0.25") ","
                                                       "{\"metric\":{\"i\":\"5\"},\"value\":[60]}"),
        &why));
    assert_rows(f, "{\"time\":60.5,\"i\":\"1\"}\n{\"time\":60.5,\"i\":\"2\"}\n"
                   "{\"time\":60.5,\"i\":\"3\"}\n{\"time\":60.5,\"i\":\"4\",\"a\":-0.25}\n"
                   "{\"time\":60.5,\"i\":\"5\"}\n");
    finish(f);
}

static void series_beyond_the_limit_and_with_the_same_key_are_counted(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": \"i\"}", 2);
    assert_true(add(f, "a",
                    VECTOR(SERIES("\"i\":\"1\",\"j\":\"x\"", "1") "," SERIES(
                        "\"i\":\"1\",\"j\":\"y\"",
                        "2") "," SERIES("\"i\":\"2\"", "3") "," SERIES("\"i\":\"3\"", "4")),
                    &why));
    assert_true(add(f, "b", VECTOR(SERIES("\"i\":\"2\"", "5")), &why));
    assert_rows(
        f, "{\"time\":60.5,\"i\":\"1\",\"a\":2}\n{\"time\":60.5,\"i\":\"2\",\"a\":3,\"b\":5}\n");
    const sample_counts *counts = samples_counted(f->all);
    assert_int_equal(counts->rows, 2);
    assert_int_equal(counts->left[LEFT_TOO_LONG], 1);
    assert_int_equal(counts->left[LEFT_REPEATED], 1);
    finish(f);
}

static void a_scalar_is_one_row(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": \"series\"}", 2);
    assert_true(add(f, "a",
                    "{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":"
                    "[60,\"7\"]}}",
                    &why));
    assert_rows(f, "{\"time\":60.5,\"series\":\"\",\"a\":7}\n");
    finish(f);
}

static void what_is_not_an_answer_is_refused_with_its_reason(void **state)
{
    (void)state;
    problem why;
    fixture *f = start("{\"key\": \"series\"}", 2);
    assert_false(add(f, "a", "{\"status\":\"error\",\"error\":\"parse error: x\"}", &why));
    assert_string_equal(why.message, "parse error: x");
    assert_false(add(f, "a", "[]", &why));
    assert_false(add(f, "a", "{\"status\":\"success\",\"data\":7}", &why));
    assert_string_equal(why.message, "it is not an answer to a query");
    assert_false(add(f, "a",
                     "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}",
                     &why));
    assert_string_equal(why.message,
                        "the query returns a matrix; it must return one number per series");
    assert_true(add(f, "a", VECTOR("7, {\"metric\": 3}, {}"), &why));
    assert_rows(f, "");
    finish(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_joined_by_the_labels_of_the_key),
        cmocka_unit_test(all_labels_but_the_name_may_be_the_key),
        cmocka_unit_test(what_is_not_finite_is_missing_and_its_key_has_a_row),
        cmocka_unit_test(series_beyond_the_limit_and_with_the_same_key_are_counted),
        cmocka_unit_test(a_scalar_is_one_row),
        cmocka_unit_test(what_is_not_an_answer_is_refused_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
