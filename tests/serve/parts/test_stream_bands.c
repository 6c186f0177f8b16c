/* What was expected of the columns of a key: it is that of the pipeline, it is there after a
 * restart, and streams that cannot have it say nothing. */
#include "stream_fixture.h"

#include "serve/stream/stream_parts.h"

#include <math.h>

enum { ROWS = 3000, COLUMNS = 2, KEYS = 2, ROWS_PER_BAND = 16 * COLUMNS };

static char *points_text(stream *one, const char *key)
{
    const points_query points = {.key = key, .key_bytes = strlen(key), .wants_expected = true};
    size_t bytes;
    problem why;
    output_divert();
    if (!stream_write_points(one, &points, &why))
        fail_msg("%s", why.message);
    output_write("", 1);
    return output_diverted(&bytes);
}

static json_t *expected_of(stream *one, const char *key)
{
    char *text = points_text(one, key);
    json_t *points = json_loads(text, 0, NULL), *expected = json_object_get(points, "expected");
    if (!expected)
        fail_msg("%s", text);
    json_incref(expected);
    json_decref(points);
    free(text);
    return expected;
}

static void send_body(stream *one, const char *body)
{
    const rows_request request = {.body = body, .bytes = strlen(body), .answer = ANSWER_COUNT};
    rows_answer answer;
    problem why;
    if (!stream_rows(one, &request, &answer, &why))
        fail_msg("%s: %s", body, why.message);
}

/* Two keys in turn. The level rises and falls slowly; some rows jump to what is usual at other
 * times, so these expect something else than the recent rows do. */
static void send_row(stream *one, unsigned row)
{
    const unsigned key = row % KEYS, i = row / KEYS, wave = i % 100 < 50 ? i % 100 : 99 - i % 100;
    const bool jumps = i > 400 && i % 37 == 5;
    char body[160];
    snprintf(body, sizeof body, "{\"host\": \"h%u\", \"level\": %u, \"load\": %.2f}\n", key,
             1000 * key + 10 * (jumps ? (wave + 25) % 50 : wave) + draw(5),
             5.0 * key + draw(100) / 100.0);
    send_body(one, body);
}

/* ---- What the pipeline expected ---- */

typedef struct twin {
    float ends[KEYS][ROWS / KEYS][2 * COLUMNS];
    bool was_anomaly[KEYS], was_ready[KEYS];
    unsigned jumps;
} twin;

/* As it was at a row that must have a band of its own, or as before. */
static void follow(twin *to, const stream *one, unsigned row)
{
    const unsigned key = row % KEYS, i = row / KEYS;
    const bool is_anomaly = one->past->newest->info.grade > 0;
    oif_expected expected[COLUMNS];
    const bool is_ready = isfinite(one->past->newest->info.threshold);
    oif_pipeline_expected(one->pipeline, expected);
    if (is_anomaly || to->was_anomaly[key] || is_ready != to->was_ready[key] ||
        i % ROWS_PER_BAND == 0)
        for (size_t c = 0; c < COLUMNS; c++) {
            to->ends[key][i][2 * c] = is_ready ? (float)expected[c].low : NAN;
            to->ends[key][i][2 * c + 1] = is_ready ? (float)expected[c].high : NAN;
        }
    else
        memcpy(to->ends[key][i], to->ends[key][i - 1], sizeof to->ends[key][i]);
    to->was_anomaly[key] = is_anomaly;
    to->was_ready[key] = is_ready;
    to->jumps += is_anomaly && expected[0].basis == OIF_REASON_JUMP;
}

static void assert_ends(const json_t *found, const float ends[2])
{
    if (!isfinite(ends[0])) {
        assert_true(json_is_null(found));
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const double end = json_number_value(json_array_get(found, i));
        assert_true(fabs(end - (double)ends[i]) <= 1e-6 * fabs(end));
    }
}

static void assert_expected(stream *one, const twin *wanted)
{
    static const char *const keys[] = {"h0", "h1"}, *const names[] = {"level", "load"};
    for (size_t k = 0; k < KEYS; k++) {
        json_t *found = expected_of(one, keys[k]);
        assert_int_equal(json_object_size(found), COLUMNS);
        for (size_t c = 0; c < COLUMNS; c++) {
            const json_t *list = json_object_get(found, names[c]);
            assert_int_equal(json_array_size(list), ROWS / KEYS);
            for (size_t i = 0; i < ROWS / KEYS; i++)
                assert_ends(json_array_get(list, i), &wanted->ends[k][i][2 * c]);
            assert_true(json_is_null(json_array_get(list, 0)));
            assert_true(json_is_array(json_array_get(list, ROWS / KEYS - 1)));
        }
        json_decref(found);
    }
}

static void points_have_what_the_pipeline_expected_also_after_a_restart(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "bands", "{\"key\": \"host\", \"alert-rate\": 0.02}");
    twin *wanted = calloc(1, sizeof *wanted);
    (void)state;
    for (unsigned row = 0; row < ROWS; row++) {
        send_row(one, row);
        follow(wanted, one, row);
    }
    assert_true(wanted->jumps > 3);
    assert_expected(one, wanted);
    streams *killed = open_killed(); /* replays the journal */
    stream *replayed = streams_find(killed, "bands");
    assert_expected(replayed, wanted);
    stream_release(replayed);
    streams_close(killed);
    stream_release(one);
    streams_close(all); /* makes a snapshot */
    all = open_at(folder);
    one = streams_find(all, "bands");
    assert_expected(one, wanted);
    stream_release(one);
    streams_close(all);
    free(wanted);
}

/* ---- Streams without ---- */

/* Nothing is known, and keys that learn may be many. */
static void a_key_that_learns_takes_no_memory_for_bands(void **state)
{
    streams *all = open_at(folder);
    stream *one = create(all, "early", "{\"key\": \"host\"}");
    (void)state;
    for (unsigned row = 0; row < 50; row++)
        send_row(one, row);
    assert_int_equal(one->past->newest->info.rows, 50 / KEYS);
    assert_int_equal(one->past->newest->bands.capacity, 0);
    stream_release(one);
    assert_true(streams_close(all));
}

static void columns_without_a_range_and_too_many_of_them_have_none(void **state)
{
    streams *all = open_at(NULL);
    stream *derived = create(all, "derived", "{\"rate\": \"counter\", \"category\": \"kind\"}"),
           *wide = create(all, "wide", "{}");
    char body[2048];
    (void)state;
    for (int i = 0; i < 600; i++) {
        snprintf(body, sizeof body, "{\"counter\": %d, \"kind\": \"k%d\", \"load\": %d}\n", 3 * i,
                 i % 3, i * 7 % 13);
        send_body(derived, body);
        int bytes = snprintf(body, sizeof body, "{\"c0\": %d", i * 5 % 11);
        for (int c = 1; c < 65; c++)
            bytes += snprintf(body + bytes, sizeof body - (size_t)bytes, ", \"c%d\": %d", c, i % 7);
        snprintf(body + bytes, sizeof body - (size_t)bytes, "}\n");
        send_body(wide, body);
    }
    json_t *found = expected_of(derived, "");
    assert_int_equal(json_object_size(found), 1);
    assert_int_equal(json_array_size(json_object_get(found, "load")), 600);
    json_decref(found);
    found = expected_of(wide, "");
    assert_int_equal(json_object_size(found), 0);
    json_decref(found);
    stream_release(derived);
    stream_release(wide);
    streams_close(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(points_have_what_the_pipeline_expected_also_after_a_restart,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_key_that_learns_takes_no_memory_for_bands, make_folder,
                                        remove_folder),
        cmocka_unit_test(columns_without_a_range_and_too_many_of_them_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
