/* The order in which silent keys are reported, also after a state was loaded, and how long rows may
 * wait without hiding a silence. */
#include "pipelines.h"

enum { KEYS = 8, ROWS = 6000, REPORTS_MAX = 4096 };

typedef struct report {
    char key[20];
    double since, deadline;
    size_t row; /* it comes before this row */
} report;

typedef struct reports {
    report all[REPORTS_MAX];
    size_t count, row;
} reports;

static void add_report(void *context, const oif_silence *silence)
{
    reports *r = context;
    assert_true(r->count < REPORTS_MAX);
    report *made = &r->all[r->count++];
    snprintf(made->key, sizeof made->key, "%.*s", (int)silence->key_bytes, silence->key);
    made->since = silence->since;
    made->deadline = silence->since + silence->allowed;
    made->row = r->row;
}

static void process_at(oif_pipeline *pipeline, const char *key, double seconds)
{
    const double row = 1;
    oif_result result;
    oif_error error;
    require_ok_or(
        oif_pipeline_process_at(pipeline, key, strlen(key), seconds, &row, &result, &error), error);
}

static void keys_are_reported_in_the_order_of_their_deadlines(void **state)
{
    oif_pipeline *pipeline = new_pipeline("loda", "", 1, "silence=60");
    static reports heard;
    (void)state;
    heard.count = 0;
    process_at(pipeline, "a", 0);
    process_at(pipeline, "b", 10);
    process_at(pipeline, "a", 30);
    process_at(pipeline, "d", 40);
    process_at(pipeline, "c", 40);
    process_at(pipeline, "c2", 40);
    expect_within(oif_pipeline_next_silence(pipeline), 70, 70, "the next silence, of b");
    oif_pipeline_silent(pipeline, 200, add_report, &heard);
    assert_int_equal(heard.count, 5);
    assert_string_equal(heard.all[0].key, "b");
    assert_string_equal(heard.all[1].key, "a");
    assert_string_equal(heard.all[2].key, "c"); /* at the same time: in the order of the keys */
    assert_string_equal(heard.all[3].key, "c2");
    assert_string_equal(heard.all[4].key, "d");
    assert_true(isinf(oif_pipeline_next_silence(pipeline)));
    oif_pipeline_free(pipeline);
}

/* ---- Rows that wait ---- */

typedef struct timed_row {
    char key[20];
    double seconds;
} timed_row;

/* Keys with a row every 0.1 to 8 seconds or so; growing pauses, late rows, and rows without a
 * time. */
static void make_rows(timed_row rows[ROWS], uint64_t seed)
{
    dice from = {seed};
    double now = 1.7e9, next[KEYS], pause[KEYS];
    for (size_t k = 0; k < KEYS; k++) {
        next[k] = now;
        pause[k] = 3;
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t key = 0;
        for (size_t k = 1; k < KEYS; k++)
            key = next[k] < next[key] ? k : key;
        now = next[key];
        uint32_t draw = dice_below(&from, 300);
        snprintf(rows[i].key, sizeof rows[i].key, "key-%zu", key);
        rows[i].seconds = draw == 1 ? NAN : draw < 7 ? now - 3 : now;
        double step = 0.1 * (double)(1 << key % 7) * (0.5 + dice_unit(&from));
        next[key] = now + (draw == 299 ? pause[key] *= 2.2 : 1) * step;
    }
}

/* A program that processes each row at once. */
static void listen(oif_pipeline *pipeline, const timed_row rows[ROWS], reports *heard)
{
    double latest = -INFINITY;
    for (heard->row = 0; heard->row < ROWS; heard->row++) {
        const timed_row *row = &rows[heard->row];
        if (row->seconds > latest) {
            latest = row->seconds;
            oif_pipeline_silent(pipeline, latest, add_report, heard);
        }
        process_at(pipeline, row->key, row->seconds);
    }
}

/* A program that collects rows. Returns how many blocks it has processed. */
static size_t listen_in_blocks(oif_pipeline *pipeline, const timed_row rows[ROWS], reports *heard)
{
    double latest = -INFINITY, quiet = oif_pipeline_next_silence(pipeline);
    size_t first = 0, blocks = 0;
    for (heard->row = 0; heard->row <= ROWS; heard->row++) {
        const timed_row *row = heard->row < ROWS ? &rows[heard->row] : NULL;
        bool is_later = row && row->seconds > latest;
        latest = is_later ? row->seconds : latest;
        if (!row || (is_later && latest > quiet) || heard->row - first == 512) {
            for (; first < heard->row; first++)
                process_at(pipeline, rows[first].key, rows[first].seconds);
            blocks++;
            oif_pipeline_silent(pipeline, latest, add_report, heard);
            quiet = oif_pipeline_next_silence(pipeline);
        }
        if (row)
            quiet = fmin(quiet, oif_pipeline_silence_after(pipeline, row->key, strlen(row->key),
                                                           row->seconds));
    }
    return blocks;
}

static void rows_that_wait_hide_no_silence(void **state)
{
    static const char *const options[] = {"", "silence=5", "silence=0.5"};
    static timed_row rows[ROWS];
    static reports at_once, in_blocks;
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        oif_pipeline *one = new_pipeline("loda", "", 1, options[seed % 3]),
                     *other = new_pipeline("loda", "", 1, options[seed % 3]);
        make_rows(rows, seed);
        at_once.count = in_blocks.count = 0;
        listen(one, rows, &at_once);
        size_t blocks = listen_in_blocks(other, rows, &in_blocks);
        if (at_once.count < 3 || blocks > ROWS / 3)
            fail_msg("seed %d: %zu silences, %zu blocks of %d rows", (int)seed, at_once.count,
                     blocks, ROWS);
        for (size_t i = 0; i < at_once.count || i < in_blocks.count; i++) {
            const report *a = &at_once.all[i], *b = &in_blocks.all[i];
            if (i >= at_once.count || i >= in_blocks.count || strcmp(a->key, b->key) != 0 ||
                a->since != b->since || a->row != b->row)
                fail_msg("seed %d, silence %zu: %s since %.3f before row %zu, not %s since %.3f "
                         "before row %zu",
                         (int)seed, i, a->key, a->since, a->row, b->key, b->since, b->row);
        }
        oif_pipeline_free(one);
        oif_pipeline_free(other);
    }
}

/* ---- A stream that resumes ---- */

typedef struct bytes {
    char all[1 << 20];
    size_t count, next;
} bytes;

static ptrdiff_t put_bytes(void *context, const char *from, size_t count)
{
    bytes *to = context;
    assert_true(count <= sizeof to->all - to->count);
    memcpy(to->all + to->count, from, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static ptrdiff_t get_bytes(void *context, char *to, size_t capacity)
{
    bytes *from = context;
    const size_t left = from->count - from->next, count = left < capacity ? left : capacity;
    memcpy(to, from->all + from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

static oif_pipeline *resume(oif_pipeline *pipeline)
{
    static bytes state;
    oif_error error;
    state.count = state.next = 0;
    require_ok_or(oif_pipeline_save(pipeline, put_bytes, &state, &error), error);
    oif_pipeline_free(pipeline);
    require_ok_or(oif_pipeline_load(get_bytes, &state, &pipeline, &error), error);
    return pipeline;
}

static void require_in_order(const reports *heard, uint64_t seed)
{
    for (size_t i = 1; i < heard->count; i++) {
        const report *a = &heard->all[i - 1], *b = &heard->all[i];
        if (a->row == b->row && (a->deadline > b->deadline ||
                                 (a->deadline == b->deadline && strcmp(a->key, b->key) >= 0)))
            fail_msg("seed %d: %s until %g is before %s until %g", (int)seed, a->key, a->deadline,
                     b->key, b->deadline);
    }
}

/* As a program does with a host that is gone. The next new key gets its entry. */
static void remove_key(oif_pipeline *pipeline, const char *key)
{
    oif_error error;
    require_ok_or(oif_pipeline_remove_key(pipeline, key, strlen(key), &error), error);
}

/* Whole seconds, and sources of which many fall silent together; with 30 keys there is no space for
 * some. */
static void a_resumed_stream_reports_in_the_same_order(void **state)
{
    static const char *const options[] = {"silence=5", "silence=5 max_keys=30"};
    static reports whole, resumed;
    size_t together = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dice from = {seed};
        oif_pipeline *one = new_pipeline("loda", "", 1, options[seed % 2]),
                     *other = new_pipeline("loda", "", 1, options[seed % 2]);
        double now = 0;
        whole.count = resumed.count = 0;
        for (whole.row = resumed.row = 0; whole.row < 800; whole.row = ++resumed.row) {
            const uint32_t draw = dice_below(&from, 100);
            const char *key = key_text(dice_below(&from, 40));
            now += draw < 20 ? 1 : draw == 99 ? 20 : 0;
            oif_pipeline_silent(one, now, add_report, &whole);
            oif_pipeline_silent(other, now, add_report, &resumed);
            process_at(one, key, now);
            process_at(other, key, now);
            if (draw >= 90 && draw < 97 &&
                oif_pipeline_key(one, key, strlen(key), &(oif_key_info){0})) {
                remove_key(one, key);
                remove_key(other, key);
            }
            other = draw >= 98 ? resume(other) : other;
        }
        require_in_order(&whole, seed);
        assert_int_equal(whole.count, resumed.count);
        for (size_t i = 0; i < whole.count; i++) {
            const report *a = &whole.all[i], *b = &resumed.all[i];
            together += i > 0 && a->deadline == a[-1].deadline;
            if (a->row != b->row || a->since != b->since || strcmp(a->key, b->key) != 0)
                fail_msg("seed %d, silence %zu: %s since %g before row %zu, not %s since %g "
                         "before row %zu",
                         (int)seed, i, a->key, a->since, a->row, b->key, b->since, b->row);
        }
        oif_pipeline_free(one);
        oif_pipeline_free(other);
    }
    assert_in_range(together, 300, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_reported_in_the_order_of_their_deadlines),
        cmocka_unit_test(rows_that_wait_hide_no_silence),
        cmocka_unit_test(a_resumed_stream_reports_in_the_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
