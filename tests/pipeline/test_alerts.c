/* From anomalies to alerts: episodes and their facts, a budget of episodes, silence; and frozen
 * models. */
#include "pipelines.h"

#include "pipeline/pipeline.h"

enum { COLUMNS = 3, HABITUATION = 3000, CALM = OIF_CALM_ROWS };

static const double step = 60;

typedef struct live {
    oif_pipeline *pipeline;
    dice from;
    double seconds; /* of the next row */
} live;

static oif_result row_at(live *l, const char *key, double seconds, double spike)
{
    double row[COLUMNS];
    oif_result result;
    oif_error error;
    draw_row(&l->from, row, COLUMNS);
    if (spike != 0)
        row[1] = spike;
    require_ok_or(oif_pipeline_process_at(l->pipeline, key, key ? strlen(key) : 0, seconds, row,
                                          &result, &error),
                  error);
    return result;
}

/* The next row; a spike has that many standard deviations, 0: none. */
static oif_result next(live *l, double spike)
{
    l->seconds += step;
    return row_at(l, NULL, l->seconds - step, spike);
}

static live habituated(const char *options)
{
    live l = {new_pipeline("rolling-iforest", "", COLUMNS, options), {1}, 1e9};
    for (int i = 0; i < HABITUATION; i++)
        next(&l, 0);
    while (next(&l, 0).episode != OIF_EPISODE_NONE)
        ;
    return l;
}

static oif_episode_info episode_of(const live *l)
{
    oif_episode_info episode;
    assert_true(oif_pipeline_episode(l->pipeline, NULL, 0, &episode));
    return episode;
}

static uint64_t episodes_of(const live *l)
{
    oif_episode_info episode = {0};
    return oif_pipeline_episode(l->pipeline, NULL, 0, &episode) ? episode.number : 0;
}

static void calm_down(live *l)
{
    oif_result result;
    int rows = 0;
    do
        result = next(l, 0);
    while (result.episode != OIF_EPISODE_ENDS && ++rows < 1000);
    assert_int_equal(result.episode, OIF_EPISODE_ENDS);
    assert_true(result.episode_grade > OIF_GRADE_NONE);
}

/* ---- Episodes ---- */

static void an_episode_knows_its_start_its_rows_and_its_worst_row(void **unused)
{
    (void)unused;
    live l = habituated("alert_rate=0.0005");
    uint64_t before = episodes_of(&l), rows = oif_pipeline_rows(l.pipeline);
    double began = l.seconds;
    const oif_result first = next(&l, 20);
    assert_int_equal(first.episode, OIF_EPISODE_BEGINS);
    assert_int_equal(first.episode_grade, OIF_GRADE_NONE);
    assert_int_equal(next(&l, 0).episode_grade, first.grade);
    oif_result worst = next(&l, 1e9);
    assert_int_equal(worst.episode_grade, first.grade);
    assert_int_equal(next(&l, 30).episode_grade, OIF_GRADE_CRITICAL);
    oif_episode_info e = episode_of(&l);
    assert_int_equal(e.number, before + 1);
    assert_int_equal(e.first_row, rows + 1);
    expect_within(e.first_seconds, began, began, "first_seconds");
    expect_within(e.last_seconds, began + 3 * step, began + 3 * step, "last_seconds");
    assert_int_equal(e.rows, 4);
    assert_int_equal(e.anomalies, 4); /* and the fall after the first */
    assert_false(e.is_over);
    assert_int_equal(e.peak_row, rows + 3);
    expect_same_bits(e.peak_severity, worst.severity, "peak_severity", 0);
    expect_same_bits(e.peak_score, worst.score, "peak_score", 0);
    assert_int_equal(e.peak_grade, OIF_GRADE_CRITICAL);
    calm_down(&l);
    e = episode_of(&l);
    assert_true(e.is_over);
    assert_int_equal(e.number, before + 1);
    assert_true(e.rows >= 4 + CALM); /* the level is far off for a while */
    require_ok(oif_pipeline_check(l.pipeline, NULL));
    oif_pipeline_free(l.pipeline);
}

static void a_key_without_an_episode_has_none(void **unused)
{
    (void)unused;
    live l = {new_pipeline("loda", "", COLUMNS, ""), {1}, 0};
    oif_episode_info episode;
    assert_false(oif_pipeline_episode(l.pipeline, "a", 1, &episode));
    row_at(&l, "a", NAN, 0);
    assert_false(oif_pipeline_episode(l.pipeline, "a", 1, &episode));
    oif_pipeline_free(l.pipeline);
}

static void the_reason_of_an_episode_is_that_of_its_worst_row(void **unused)
{
    (void)unused;
    live l = habituated("alert_rate=0.0005");
    oif_attribution why[COLUMNS];
    next(&l, 20);
    assert_int_equal(episode_of(&l).column, OIF_UNKNOWN_COLUMN); /* not explained yet */
    next(&l, -1e5);
    oif_pipeline_explain(l.pipeline, why);
    next(&l, -2e4); /* no worse */
    oif_pipeline_explain(l.pipeline, why);
    oif_episode_info e = episode_of(&l);
    assert_int_equal(e.column, 1);
    assert_int_equal(e.direction, -1);
    expect_within(e.value, -1e5, -1e5, "value");
    expect_within(e.size / e.usual, 100, 1e6, "size");
    oif_pipeline_free(l.pipeline);
}

/* ---- Silence ---- */

typedef struct heard {
    int count;
    oif_silence last;
} heard;

static void hear(void *context, const oif_silence *silence)
{
    heard *h = context;
    h->count++;
    h->last = *silence;
}

static int silent_at(live *l, double seconds)
{
    heard h = {0};
    oif_pipeline_silent(l->pipeline, seconds, hear, &h);
    return h.count;
}

static void a_pause_longer_than_any_before_is_reported_once(void **unused)
{
    (void)unused;
    live l = habituated("");
    double last = l.seconds - step, allowed = 5 * step; /* 2 x longest + 3 x usual */
    assert_int_equal(silent_at(&l, last + allowed), 0);
    heard h = {0};
    oif_pipeline_silent(l.pipeline, last + allowed + 1, hear, &h);
    assert_int_equal(h.count, 1);
    assert_null(h.last.key);
    expect_within(h.last.since, last, last, "since");
    expect_within(h.last.allowed, allowed - 1e-6, allowed + 1e-6, "allowed");
    assert_int_equal(silent_at(&l, last + 100 * allowed), 0);
    oif_result result = row_at(&l, NULL, last + 1000, 0);
    assert_int_equal(result.reason, OIF_REASON_SILENCE);
    expect_within(result.pause, 1000, 1000, "pause");
    assert_int_equal(row_at(&l, NULL, last + 1060, 0).reason, OIF_REASON_VALUES);
    assert_int_equal(silent_at(&l, last + 1060 + 1900), 0); /* it has learned that pause */
    assert_int_equal(silent_at(&l, last + 1060 + 2300), 1);
    oif_pipeline_free(l.pipeline);
}

static void silence_needs_times_and_rows(void **unused)
{
    (void)unused;
    live l = {new_pipeline("loda", "", COLUMNS, ""), {1}, 0};
    for (int i = 0; i < 32; i++)
        next(&l, 0);
    assert_int_equal(silent_at(&l, 1e12), 0);
    next(&l, 0);
    assert_int_equal(silent_at(&l, 1e12), 1);
    oif_pipeline_free(l.pipeline);
    live untimed = {new_pipeline("loda", "", COLUMNS, "silence=5"), {1}, 0};
    for (int i = 0; i < 100; i++)
        row_at(&untimed, NULL, NAN, 0);
    assert_int_equal(silent_at(&untimed, 1e12), 0);
    oif_pipeline_free(untimed.pipeline);
}

static void silence_can_be_fixed_or_off(void **unused)
{
    (void)unused;
    live fixed = {new_pipeline("loda", "", COLUMNS, "silence=300"), {1}, 0};
    row_at(&fixed, NULL, 0, 0);
    assert_int_equal(silent_at(&fixed, 300), 0);
    assert_int_equal(silent_at(&fixed, 300.5), 1);
    oif_pipeline_free(fixed.pipeline);
    live off = habituated("silence=-1");
    assert_int_equal(silent_at(&off, 1e12), 0);
    assert_int_equal(row_at(&off, NULL, 1e12, 0).reason, OIF_REASON_VALUES);
    oif_pipeline_free(off.pipeline);
}

static void late_rows_and_unknown_times_are_no_pause(void **unused)
{
    (void)unused;
    live l = habituated("");
    double last = l.seconds - step;
    assert_true(isnan(row_at(&l, NULL, last - 1e6, 0).pause));
    assert_true(isnan(row_at(&l, NULL, NAN, 0).pause));
    oif_result result = row_at(&l, NULL, last + step, 0);
    assert_int_equal(result.reason, OIF_REASON_VALUES);
    expect_within(result.pause, step, step, "pause");
    double row[COLUMNS] = {0};
    oif_error error;
    assert_int_equal(oif_pipeline_process_at(l.pipeline, NULL, 0, INFINITY, row, &result, &error),
                     OIF_EVALUE);
    expect_message(error, "the time of a row is infinite");
    require_ok(oif_pipeline_check(l.pipeline, NULL));
    oif_pipeline_free(l.pipeline);
}

/* The slow twin: asks every key at every time. */
static void keys_are_reported_when_each_of_them_is_due(void **unused)
{
    (void)unused;
    enum { KEYS = 40, ROWS = 20000 };
    live l = {new_pipeline("loda", "num_projections=2", COLUMNS, "max_keys=30 silence=50"), {7}, 0};
    double last[KEYS], now = 0;
    bool is_told[KEYS] = {false};
    for (int i = 0; i < KEYS; i++)
        last[i] = NAN;
    for (uint64_t n = 1; n <= ROWS; n++) {
        uint32_t key = dice_below(&l.from, dice_chance(&l.from, 0.9) ? KEYS / 4 : KEYS);
        now += dice_unit(&l.from) * 4;
        row_at(&l, key_text(key), now, 0);
        last[key] = now;
        is_told[key] = false;
        int expected = 0;
        for (uint32_t i = 0; i < KEYS; i++) {
            if (!oif_pipeline_detector(l.pipeline, key_text(i), strlen(key_text(i))))
                last[i] = NAN; /* it has no model, or lost it */
            bool is_due = last[i] + 50 < now && !is_told[i];
            expected += is_due;
            is_told[i] |= is_due;
        }
        int told = silent_at(&l, now);
        if (told != expected)
            fail_msg("row %llu: %d keys are silent instead of %d", (unsigned long long)n, told,
                     expected);
    }
    oif_pipeline_free(l.pipeline);
}

/* ---- The budget ---- */

typedef struct healthy {
    const char *name;
    double step;    /* seconds */
    double per_day; /* the budget */
    int days;
} healthy;

static void healthy_row(const healthy *h, dice *from, double seconds, double state[2],
                        double row[2])
{
    double angle = fmod(seconds, 86400) / 86400, wave = 16 * angle * (1 - angle);
    for (int i = 0; i < 2; i++) {
        double noise = dice_normal(from);
        state[i] = 0.95 * state[i] + 0.3 * noise;
        row[i] = *h->name == 'a' ? state[i] : *h->name == 's' ? 5 * wave + noise : noise;
    }
}

/* Episodes in the first four days, and in all but the first fifth. */
static void count_episodes(const healthy *h, double *first, double *later)
{
    char options[64];
    snprintf(options, sizeof options, "alerts=%g", h->per_day);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", 2, options);
    dice from = {3};
    double state[2] = {0}, row[2], fifth = h->days * 86400. / 5;
    *first = *later = 0;
    for (double t = 0; t < h->days * 86400.; t += h->step) {
        oif_result result;
        healthy_row(h, &from, t, state, row);
        require_ok(oif_pipeline_process_at(pipeline, NULL, 0, t, row, &result, NULL));
        bool begins = result.episode == OIF_EPISODE_BEGINS;
        *first += begins && t < 4 * 86400.;
        *later += begins && t > fifth;
    }
    oif_pipeline_free(pipeline);
}

static void healthy_streams_keep_to_their_budget(void **unused)
{
    (void)unused;
    static const healthy streams[] = {
        {"noise", 60, 5, 100},  {"autocorrelated", 60, 5, 100},  {"season", 60, 5, 100},
        {"noise", 600, 1, 300}, {"autocorrelated", 600, 1, 300}, {"season", 600, 1, 300},
        {"noise", 10, 20, 25},  {"autocorrelated", 10, 20, 25},  {"season", 10, 20, 25},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const healthy *h = &streams[i];
        double first, later, wanted = h->per_day * h->days * 0.8;
        count_episodes(h, &first, &later);
        if (!(later < wanted)) /* a cap: healthy streams need little of it */
            fail_msg("%s every %g s: %g episodes of %g", h->name, h->step, later, wanted);
        if (!(first <= 2 * 4 * h->per_day))
            fail_msg("%s every %g s: %g episodes in four days instead of %g", h->name, h->step,
                     first, 4 * h->per_day);
    }
}

static void contradictions_are_refused(void **unused)
{
    (void)unused;
    static const char *const options[] = {"alerts=5 alert_rate=0.01", "silence=-0.5"};
    for (size_t i = 0; i < 2; i++) {
        oif_params params = params_named("loda", ""), chosen;
        oif_pipeline *none = NULL;
        oif_error error;
        oif_pipeline_options_init(&chosen);
        set_params(&chosen, options[i]);
        assert_int_equal(oif_pipeline_new(&params, 3, &chosen, &none, &error), OIF_EPARAM);
        expect_message(error,
                       i < 1 ? "alerts contradicts alert_rate" : "silence must be a time, 0 or -1");
    }
}

/* ---- Frozen ---- */

static void what_is_frozen_judges_a_row_the_same_way_again(void **unused)
{
    (void)unused;
    live l = habituated("");
    require_ok(oif_pipeline_change_option(l.pipeline, "learn", 3, NULL));
    const oif_detector *detector = oif_pipeline_detector(l.pipeline, NULL, 0);
    uint64_t learned = oif_detector_rows_learned(detector);
    double rows[4][COLUMNS] = {{0.1, 0.2, 0.3}, {9, 9, 9}, {NAN, 0, 0}, {1e308, -1e308, 0}};
    oif_result before[4];
    for (int i = 0; i < 4; i++)
        before[i] = process(l.pipeline, rows[i]);
    assert_true(before[1].anomaly && !before[0].anomaly);
    for (int n = 0; n < 3000; n++)
        assert_true(process(l.pipeline, rows[1]).anomaly);
    for (int n = 0; n < 9000; n++)
        next(&l, 2.5);
    for (int i = 0; i < 4; i++) {
        oif_result again = process(l.pipeline, rows[i]);
        assert_false(again.learned);
        before[i].episode = again.episode; /* it depends on the rows around it */
        require_same_result(&again, &before[i]);
    }
    assert_int_equal(oif_detector_rows_learned(detector), learned);
    oif_pipeline_free(l.pipeline);
}

static void options_about_alerts_can_be_changed_and_others_not(void **unused)
{
    (void)unused;
    live l = habituated("alert_rate=0.0005");
    double value;
    oif_error error;
    assert_true(next(&l, 50).learned);
    require_ok(oif_pipeline_change_option(l.pipeline, "learn", 1, NULL));
    assert_false(next(&l, 50).learned);
    require_ok(oif_pipeline_change_option(l.pipeline, "silence", 7, NULL));
    require_ok(oif_params_get(oif_pipeline_options(l.pipeline), "silence", &value, NULL));
    expect_within(value, 7, 7, "silence");
    assert_int_equal(oif_pipeline_change_option(l.pipeline, "shingle", 2, &error), OIF_EPARAM);
    expect_message(error, "shingle cannot be changed once the pipeline exists");
    require_ok(oif_pipeline_change_option(l.pipeline, "alerts", 5, &error));
    require_ok(oif_params_get(oif_pipeline_options(l.pipeline), "alert_rate", &value, NULL));
    expect_within(value, 0.001, 0.001, "alert_rate");
    require_ok(oif_pipeline_change_option(l.pipeline, "alert_rate", 0.01, &error));
    require_ok(oif_params_get(oif_pipeline_options(l.pipeline), "alerts", &value, NULL));
    expect_within(value, 0, 0, "alerts");
    assert_int_equal(oif_pipeline_change_option(l.pipeline, "alert_rate", 0, &error), OIF_EPARAM);
    assert_int_equal(oif_pipeline_change_option(l.pipeline, "calm", 5, &error), OIF_EPARAM);
    require_ok(oif_pipeline_check(l.pipeline, NULL));
    oif_pipeline_free(l.pipeline);
}

/* ---- Snapshots ---- */

typedef struct bytes {
    char start[1 << 20];
    size_t count, next;
} bytes;

static ptrdiff_t put_bytes(void *context, const char *from, size_t count)
{
    bytes *to = context;
    assert_true(to->count + count <= sizeof to->start);
    memcpy(to->start + to->count, from, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static ptrdiff_t get_bytes(void *context, char *to, size_t capacity)
{
    bytes *from = context;
    size_t left = from->count - from->next, count = left < capacity ? left : capacity;
    memcpy(to, from->start + from->next, count);
    from->next += count;
    return (ptrdiff_t)count;
}

static oif_pipeline *loaded_copy(const oif_pipeline *pipeline)
{
    bytes *b = calloc(1, sizeof *b);
    oif_pipeline *copy = NULL;
    oif_error error;
    require_ok(oif_pipeline_save(pipeline, put_bytes, b, NULL));
    require_ok_or(oif_pipeline_load(get_bytes, b, &copy, &error), error);
    free(b);
    return copy;
}

static void require_same_episode(const oif_pipeline *a, const oif_pipeline *b)
{
    oif_episode_info one = {0}, other = {0};
    assert_int_equal(oif_pipeline_episode(a, NULL, 0, &one),
                     oif_pipeline_episode(b, NULL, 0, &other));
    assert_memory_equal(&one, &other, sizeof one);
}

/* Saved in the middle of an episode, of its calm rows and of a silence. */
static void a_loaded_pipeline_continues_its_episode(void **unused)
{
    (void)unused;
    for (int moment = 0; moment < 4; moment++) {
        live l = habituated(moment == 3 ? "alerts=5" : ""), other;
        oif_attribution why[COLUMNS];
        next(&l, 50);
        oif_pipeline_explain(l.pipeline, why);
        for (int i = 0; i < moment * 12; i++)
            next(&l, 0);
        if (moment == 2)
            assert_int_equal(silent_at(&l, l.seconds + 1e5), 1);
        other = l;
        other.pipeline = loaded_copy(l.pipeline);
        require_same_episode(l.pipeline, other.pipeline);
        assert_int_equal(silent_at(&other, l.seconds + 1e5), silent_at(&l, l.seconds + 1e5));
        for (int i = 0; i < 3000; i++) {
            double spike = i % 500 == 20 ? 50 : 0;
            oif_result a = next(&l, spike), b = next(&other, spike);
            require_same_result(&a, &b);
            assert_int_equal(a.reason, b.reason);
            if (i % 100 == 0)
                require_same_episode(l.pipeline, other.pipeline);
        }
        oif_pipeline_free(l.pipeline);
        oif_pipeline_free(other.pipeline);
    }
}

static void damaged_fields_are_found(void **unused)
{
    (void)unused;
    live l = habituated("alert_rate=0.0005");
    next(&l, 50);
    oif_model *model = oif_pipeline_model(l.pipeline, 0);
    const oif_gate gate = model->gate;
    const oif_pauses pauses = model->pauses;
#define BREAK(change)                                                                              \
    do {                                                                                           \
        oif_error error;                                                                           \
        model->gate = gate;                                                                        \
        model->pauses = pauses;                                                                    \
        model->change;                                                                             \
        assert_int_equal(oif_model_check(model, &error), OIF_EINVARIANT);                          \
        expect_message(error, "is inconsistent");                                                  \
    } while (0)
    BREAK(gate.in_episode = 2);
    BREAK(pauses.silence = OIF_SILENCE_HELD + 1);
    BREAK(gate.episode.number = 0);
    BREAK(gate.episode.first_row = 0);
    BREAK(gate.episode.first_row = UINT64_MAX);
    BREAK(gate.episode.rows = UINT64_MAX);
    BREAK(gate.episode.anomalies = 2);
    BREAK(gate.episode.peak_row = 1);
    BREAK(gate.episode.peak_grade = (oif_grade)4);
    BREAK(gate.episode.reason = (oif_reason)99);
    BREAK(gate.episode.column = COLUMNS);
    BREAK(gate.episode.direction = 2);
    BREAK(gate.episode.first_seconds = INFINITY);
    BREAK(pauses.last_seconds = -INFINITY);
    BREAK(pauses.usual_pause = NAN);
    BREAK(pauses.longest_pause = -1);
    model->gate = gate;
    model->pauses = pauses;
    require_ok(oif_model_check(model, NULL));
    oif_pipeline_free(l.pipeline);
}

/* ---- Deadlines ---- */

/* Seconds of any order of magnitude, from 10 ms to 60 days. */
static double draw_seconds(dice *from)
{
    return 0.01 * exp2(dice_unit(from) * 29);
}

/* Times with pauses of one size, now and then of another one. */
static double next_time(dice *from, double seconds, double usual)
{
    return seconds + (dice_below(from, 50) == 0 ? draw_seconds(from) : usual * dice_unit(from));
}

/* Threads share the rows up to the earliest deadline (pipeline_silence.c): none may be missed. */
static void no_deadline_is_before_the_earliest(void **unused)
{
    (void)unused;
    static const double silences[] = {0, 0, 0, 90, -1};
    dice from = {41};
    oif_result result;
    for (int trial = 0; trial < 20000; trial++) {
        oif_pauses a;
        oif_pauses_init(&a, silences[trial % 5]);
        double seconds = 1e9, usual = draw_seconds(&from);
        for (uint32_t rows = 1 + dice_below(&from, 200); rows > 0; rows--) {
            seconds = next_time(&from, seconds, usual);
            oif_pauses_arrive(&a, seconds, true, &result);
        }
        seconds += draw_seconds(&from) * (dice_below(&from, 8) == 0 ? -1 : 1);
        usual = draw_seconds(&from);
        const double earliest = oif_pauses_earliest_deadline(&a, seconds), until = seconds + 43200;
        for (int row = 0; row < 200 && seconds < until; row++) {
            oif_pauses_arrive(&a, seconds, true, &result);
            if (oif_pauses_deadline(&a) < earliest)
                fail_msg("trial %d: the deadline is %.17g, before %.17g", trial,
                         oif_pauses_deadline(&a), earliest);
            seconds = next_time(&from, seconds, usual);
        }
    }
}

/* ---- Wrong times ---- */

static oif_result process_at(oif_pipeline *pipeline, double seconds, const double *row)
{
    oif_result result;
    require_ok(oif_pipeline_process_at(pipeline, NULL, 0, seconds, row, &result, NULL));
    return result;
}

static void count_silence(void *context, const oif_silence *silence)
{
    (void)silence;
    ++*(int *)context;
}

static void one_row_from_the_future_does_not_stop_later_episodes(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "");
    dice from = {31};
    int begun = 0, silent = 0;
    for (int i = 0; i < 6000; i++) {
        double row[COLUMNS], seconds = 1.8e9 + 60 * i;
        draw_row(&from, row, COLUMNS);
        row[0] += i >= 3000 && i % 500 == 0 ? 60 : 0;
        begun +=
            process_at(pipeline, i == 3000 ? 4e9 : seconds, row).episode == OIF_EPISODE_BEGINS &&
            i >= 3000 && i % 500 == 0;
    }
    oif_pipeline_silent(pipeline, 1.8e9 + 60 * 9000., count_silence, &silent);
    assert_int_equal(begun, 6);
    assert_int_equal(silent, 1);
    oif_pipeline_free(pipeline);
}

static void rows_of_one_moment_are_no_pauses(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "");
    dice from = {32};
    int silent = 0;
    for (int i = 0; i < 400; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        process_at(pipeline, 1.8e9 + 60. * (i / 40), row);
        oif_pipeline_silent(pipeline, 1.8e9 + 60. * (i / 40) + 59, count_silence, &silent);
    }
    assert_int_equal(silent, 0);
    oif_pipeline_free(pipeline);
}

static void a_shorter_silence_holds_for_keys_that_wait_already(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "silence=86400");
    dice from = {33};
    int silent = 0;
    for (int i = 0; i < 100; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        process_at(pipeline, 1.8e9 + i, row);
    }
    require_ok(oif_pipeline_change_option(pipeline, "silence", 10, NULL));
    oif_pipeline_silent(pipeline, 1.8e9 + 120, count_silence, &silent);
    assert_int_equal(silent, 1);
    oif_pipeline_free(pipeline);
}

/* ---- What a damaged snapshot may hold ---- */

static const oif_gate SOUND_GATE = {
    .episode = {.number = 2,
                .first_row = 90,
                .rows = 5,
                .anomalies = 3,
                .peak_row = 92,
                .peak_grade = OIF_GRADE_CRITICAL,
                .direction = 1,
                .column = 1,
                .first_seconds = 1e9,
                .last_seconds = 1e9,
                .size = 3,
                .usual = NAN},
};

static void expect_refused(const oif_gate *gate, const char *what)
{
    if (oif_gate_check(gate, 100, COLUMNS))
        fail_msg("%s is accepted", what);
}

#define EXPECT_REFUSED(field, value)                                                               \
    do {                                                                                           \
        oif_gate broken = SOUND_GATE;                                                              \
        broken.field = (value);                                                                    \
        expect_refused(&broken, #field " = " #value);                                              \
    } while (0)

static void the_check_of_a_gate_refuses_what_no_stream_gives(void **unused)
{
    (void)unused;
    assert_true(oif_gate_check(&SOUND_GATE, 100, COLUMNS));
    EXPECT_REFUSED(in_episode, 2);
    EXPECT_REFUSED(opened_by, OIF_JUDGES);
    EXPECT_REFUSED(overspent, -2.1);
    EXPECT_REFUSED(overspent, 61);
    EXPECT_REFUSED(overspent, NAN);
    EXPECT_REFUSED(debts[OIF_JUDGE_RUN], -1);
    EXPECT_REFUSED(debts[OIF_JUDGE_SEASON], 201);
    EXPECT_REFUSED(debts[OIF_JUDGE_PARTNER], NAN);
    EXPECT_REFUSED(episode.size, INFINITY);
    EXPECT_REFUSED(episode.usual, -INFINITY);
    EXPECT_REFUSED(episode.first_seconds, -INFINITY);
    EXPECT_REFUSED(episode.last_seconds, INFINITY);
    oif_gate broken = SOUND_GATE;
    broken.episode.number = 0; /* without an episode, none lasts */
    assert_true(oif_gate_check(&broken, 100, COLUMNS));
    broken.in_episode = 1;
    expect_refused(&broken, "an episode that never began");
}

static void the_check_of_an_episode_refuses_rows_that_it_cannot_have(void **unused)
{
    (void)unused;
    EXPECT_REFUSED(episode.first_row, 0);
    EXPECT_REFUSED(episode.first_row, 101);
    EXPECT_REFUSED(episode.rows, 0);
    EXPECT_REFUSED(episode.rows, 101);
    EXPECT_REFUSED(episode.rows, 12); /* rows 90 to 101 of 100 */
    EXPECT_REFUSED(episode.anomalies, 0);
    EXPECT_REFUSED(episode.anomalies, 6);
    EXPECT_REFUSED(episode.peak_row, 89);
    EXPECT_REFUSED(episode.peak_row, 95);
    EXPECT_REFUSED(episode.peak_grade, (oif_grade)(OIF_GRADE_CRITICAL + 1));
    EXPECT_REFUSED(episode.reason, (oif_reason)(OIF_REASONS));
    EXPECT_REFUSED(episode.direction, -2);
    EXPECT_REFUSED(episode.direction, 2);
    EXPECT_REFUSED(episode.column, COLUMNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_episode_knows_its_start_its_rows_and_its_worst_row),
        cmocka_unit_test(a_key_without_an_episode_has_none),
        cmocka_unit_test(the_reason_of_an_episode_is_that_of_its_worst_row),
        cmocka_unit_test(a_pause_longer_than_any_before_is_reported_once),
        cmocka_unit_test(silence_needs_times_and_rows),
        cmocka_unit_test(silence_can_be_fixed_or_off),
        cmocka_unit_test(late_rows_and_unknown_times_are_no_pause),
        cmocka_unit_test(keys_are_reported_when_each_of_them_is_due),
        cmocka_unit_test(healthy_streams_keep_to_their_budget),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(what_is_frozen_judges_a_row_the_same_way_again),
        cmocka_unit_test(options_about_alerts_can_be_changed_and_others_not),
        cmocka_unit_test(a_loaded_pipeline_continues_its_episode),
        cmocka_unit_test(no_deadline_is_before_the_earliest),
        cmocka_unit_test(damaged_fields_are_found),
        cmocka_unit_test(one_row_from_the_future_does_not_stop_later_episodes),
        cmocka_unit_test(rows_of_one_moment_are_no_pauses),
        cmocka_unit_test(a_shorter_silence_holds_for_keys_that_wait_already),
        cmocka_unit_test(the_check_of_a_gate_refuses_what_no_stream_gives),
        cmocka_unit_test(the_check_of_an_episode_refuses_rows_that_it_cannot_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
