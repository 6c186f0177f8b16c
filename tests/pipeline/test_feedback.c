/* Past episodes are kept in their order through snapshots, copies and threads. They cost no score
 * a bit. A rule that is proposed from one holds it back, and nothing wider. */
#include "../snapshot/snapshots.h"
#include "pipeline/pipeline.h"
#include "pipeline/rules/proposals.h"
#include "pipelines.h"

enum { COLUMNS = 3, LEARNED_ROWS = 3000 };

/* ---- Pipelines with episodes ---- */

static void keep(oif_pipeline *pipeline)
{
    oif_error error;
    require_ok_or(oif_pipeline_keep_episodes(pipeline, true, &error), error);
}

/* The rule that is proposed from an episode; valid until the next call. */
static const char *proposed(const oif_pipeline *pipeline, const char *key, uint64_t number)
{
    static char rule[OIF_RULE_BYTES];
    oif_error error;
    require_ok_or(oif_pipeline_propose(pipeline, key, key ? strlen(key) : 0, number, rule, &error),
                  error);
    return rule;
}

static void add_rule(oif_pipeline *pipeline, const char *rule)
{
    oif_error error;
    require_ok_or(oif_pipeline_add_rules(pipeline, rule, strlen(rule), &error), error);
}

static oif_result at(oif_pipeline *pipeline, const char *key, double latency, double errors)
{
    const double row[COLUMNS] = {latency, errors, 0};
    return process_key(pipeline, key, row);
}

/* A number of ordinary rows of some keys. */
static void teach(oif_pipeline *pipeline, const char *const *keys, size_t key_count, int rows,
                  uint64_t seed)
{
    dice from = {seed};
    double row[COLUMNS];
    for (int i = 0; i < rows; i++)
        for (size_t j = 0; j < key_count; j++) {
            draw_row(&from, row, COLUMNS);
            row[0] += 100;
            process_key(pipeline, keys[j], row);
        }
}

static const char *const no_key[] = {NULL};
static const char *const two_keys[] = {"web-1", "web-2"};

static oif_pipeline *taught(const char *const *keys, size_t key_count)
{
    static const char *const names[] = {"latency", "errors", "free memory"};
    oif_pipeline *pipeline =
        new_pipeline("rolling-iforest", "", COLUMNS, "moves=off alert_rate=0.01");
    oif_error error;
    require_ok_or(oif_pipeline_name_columns(pipeline, names, &error), error);
    teach(pipeline, keys, key_count, LEARNED_ROWS, 3);
    keep(pipeline);
    return pipeline;
}

/* An extreme row, then calm ones. Returns the number of its episode; 0: it began none. */
static uint64_t alert(oif_pipeline *pipeline, const char *key, double latency, double errors)
{
    oif_episode_info episode;
    const oif_result result = at(pipeline, key, latency, errors);
    assert_true(oif_pipeline_episode(pipeline, key, key ? strlen(key) : 0, &episode) ||
                result.episode != OIF_EPISODE_BEGINS);
    const uint64_t number = result.episode == OIF_EPISODE_BEGINS ? episode.number : 0;
    teach(pipeline, &key, 1, 60, (uint64_t)(latency + errors * 7) + 11);
    return number;
}

static size_t count_past(const oif_pipeline *pipeline)
{
    oif_past_episode episode;
    size_t count = 0;
    while (oif_pipeline_past_episode(pipeline, count, &episode))
        count++;
    return count;
}

static oif_past_episode past_at(const oif_pipeline *pipeline, size_t index)
{
    oif_past_episode episode;
    assert_true(oif_pipeline_past_episode(pipeline, index, &episode));
    return episode;
}

/* ---- Keeping ---- */

static void episodes_are_kept_with_their_causes(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(no_key, 1);
    const size_t before = count_past(pipeline);
    const uint64_t number = alert(pipeline, NULL, 180, 0);
    assert_true(number > 0);
    const oif_past_episode past = past_at(pipeline, before);
    assert_true(past.number == number && past.key == NULL && !past.is_key_cut);
    assert_true(past.column == 0 && past.direction == 1 && past.reason == OIF_REASON_JUMP);
    assert_true(past.change > 70 && past.change < 80); /* 100 to 103 was expected */
    assert_true(past.change_share > 0.6 && past.change_share < 0.9 && past.severity > 3);
    assert_true(isnan(past.first_seconds));
    assert_true(past.first_row == LEARNED_ROWS + 1);
    oif_error error;
    require_ok_or(oif_pipeline_keep_episodes(pipeline, false, &error), error);
    assert_false(oif_pipeline_keeps_episodes(pipeline));
    assert_int_equal(count_past(pipeline), 0);
    oif_pipeline_free(pipeline);
}

static void keeping_episodes_changes_no_score(void **unused)
{
    (void)unused;
    oif_pipeline *with = new_pipeline("rolling-iforest", "", COLUMNS, "alert_rate=0.02"),
                 *without = new_pipeline("rolling-iforest", "", COLUMNS, "alert_rate=0.02");
    dice from = {17};
    keep(with);
    for (int i = 0; i < 6000; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        row[dice_below(&from, COLUMNS)] += i % 83 == 0 ? 25 : 0;
        const oif_result a = process(with, row), b = process(without, row);
        require_same_result(&a, &b);
    }
    assert_true(count_past(with) > 3);
    assert_false(oif_pipeline_keeps_episodes(without));
    oif_pipeline_free(with);
    oif_pipeline_free(without);
}

static oif_past past_of(uint64_t row, const char *key)
{
    oif_past past = {.row = row, .number = row, .first_row = 1, .first_seconds = NAN};
    oif_past_set_key(&past, (oif_text){key, strlen(key)});
    return past;
}

/* Whatever the order in which threads add them. */
static void the_last_256_are_kept_in_the_order_of_rows(void **unused)
{
    (void)unused;
    enum { ROWS = 3000 };
    oif_past_episodes *past = oif_past_episodes_new();
    uint64_t order[ROWS];
    dice from = {5};
    for (uint64_t i = 0; i < ROWS; i++)
        order[i] = i + 1;
    for (uint32_t i = ROWS - 1; i > 0; i--) {
        const uint32_t other = dice_below(&from, i + 1);
        const uint64_t row = order[i];
        order[i] = order[other];
        order[other] = row;
    }
    for (size_t i = 0; i < ROWS; i++) {
        const oif_past one = past_of(order[i], key_text((uint32_t)order[i]));
        oif_past_episodes_add(past, &one);
    }
    assert_int_equal(past->count, OIF_PAST_EPISODES_MAX);
    for (size_t i = 0; i < past->count; i++)
        assert_true(past->list[i].row == ROWS - OIF_PAST_EPISODES_MAX + 1 + i);
    oif_past_episodes_free(past);
}

/* ---- Proposals ---- */

static void an_unknown_episode_is_refused(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("hst", "", COLUMNS, "");
    oif_error error;
    char rule[OIF_RULE_BYTES];
    assert_int_equal(oif_pipeline_propose(pipeline, NULL, 0, 1, rule, &error), OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_NO_EPISODES_KEPT);
    oif_pipeline_free(pipeline);
    pipeline = taught(two_keys, 2);
    const uint64_t number = alert(pipeline, "web-1", 180, 0);
    assert_int_equal(oif_pipeline_propose(pipeline, "web-1", 5, number + 1, rule, &error),
                     OIF_EVALUE);
    assert_int_equal(error.cause, OIF_CAUSE_UNKNOWN_EPISODE);
    assert_int_equal(oif_pipeline_propose(pipeline, "web-2", 5, number, rule, &error), OIF_EVALUE);
    oif_pipeline_free(pipeline);
}

/* Keys of any bytes and of any length are found again, and a proposal matches them. */
static void hostile_keys_are_muted(void **unused)
{
    (void)unused;
    static char longest[OIF_KEY_MAX_BYTES + 1], other[OIF_KEY_MAX_BYTES + 1];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(other, longest, sizeof other);
    other[sizeof other - 2] = 'y'; /* differs where it is cut */
    const char *const keys[] = {"a\"b",    "x key=y", "*",        "a,b",   "zone=Europe/Berlin",
                                "\x1b[2J", "#",       "\xff\xfe", "a b\n", longest,
                                other,     "mute"};
    enum { KEYS = sizeof keys / sizeof *keys };
    oif_pipeline *pipeline = taught(keys, KEYS);
    oif_error error;
    for (size_t i = 0; i < KEYS; i++) {
        oif_pipeline *copy = NULL;
        require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
        const uint64_t number = alert(copy, keys[i], 180, 0);
        assert_true(number > 0);
        const oif_past_episode past = past_at(copy, count_past(copy) - 1);
        assert_int_equal(past.is_key_cut, strlen(keys[i]) > 1000);
        const char *rule = proposed(copy, keys[i], number);
        assert_true(strstr(rule, " key="));
        assert_false(strpbrk(rule, "\x1b\n"));
        add_rule(copy, rule);
        assert_false(at(copy, keys[i], 175, 0).episode == OIF_EPISODE_BEGINS);
        oif_pipeline_free(copy);
    }
    oif_pipeline_free(pipeline);
}

static void a_proposal_is_as_narrow_as_its_episode(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(two_keys, 2);
    const char *rule = proposed(pipeline, "web-1", alert(pipeline, "web-1", 130, 0));
    assert_int_equal(strncmp(rule, "mute column=latency direction=high change<", 42), 0);
    assert_true(strstr(rule, " key=web-1"));
    add_rule(pipeline, rule);
    assert_true(alert(pipeline, "web-1", 129, 0) == 0); /* held back */
    assert_true(alert(pipeline, "web-1", 140, 0) > 0);  /* larger */
    assert_true(alert(pipeline, "web-1", 40, 0) > 0);   /* the other direction */
    assert_true(alert(pipeline, "web-1", 100, 60) > 0); /* another column */
    assert_true(alert(pipeline, "web-2", 129, 0) > 0);  /* another key */
    oif_pipeline_free(pipeline);
}

static void without_keys_a_proposal_has_none(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(no_key, 1);
    assert_false(strstr(proposed(pipeline, NULL, alert(pipeline, NULL, 130, 0)), "key="));
    oif_pipeline_free(pipeline);
}

static void rows_without_a_key_among_others_have_no_rule(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"", "web-1"};
    oif_pipeline *pipeline = taught(keys, 2);
    assert_string_equal(proposed(pipeline, "", alert(pipeline, "", 130, 0)), "");
    oif_pipeline_free(pipeline);
}

static void missing_values_have_a_rule_of_their_own(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(no_key, 1);
    const char *rule = proposed(pipeline, NULL, alert(pipeline, NULL, NAN, 0));
    assert_string_equal(rule, "mute column=latency direction=missing");
    add_rule(pipeline, rule);
    assert_true(alert(pipeline, NULL, NAN, 0) == 0);
    assert_true(alert(pipeline, NULL, 180, 0) > 0);
    oif_pipeline_free(pipeline);
}

static void added_rules_keep_those_before_them(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(no_key, 1);
    oif_rule_info info;
    oif_error error;
    add_rule(pipeline, "mute column=errors # loud");
    at(pipeline, NULL, 100, 90);
    assert_true(oif_pipeline_rule(pipeline, 0, &info) && info.held == 1);
    assert_int_equal(oif_pipeline_add_rules(pipeline, "\nhush", 5, &error), OIF_EPARAM);
    assert_true(error.cause == OIF_CAUSE_BAD_RULE && error.line == 2);
    add_rule(pipeline, "mute column=latency\n");
    assert_true(oif_pipeline_rule(pipeline, 0, &info) && info.held == 1 &&
                strcmp(info.text, "mute column=errors # loud") == 0);
    assert_true(oif_pipeline_rule(pipeline, 1, &info) &&
                strcmp(info.text, "mute column=latency") == 0);
    oif_pipeline_free(pipeline);
}

/* Rules are asked before a row is learned, and so are the causes: the rule that is proposed from an
 * episode would have held back its first row. */
static void a_proposal_would_have_held_back_its_episode(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, "alert_rate=0.02");
    dice from = {31};
    unsigned compared = 0;
    keep(pipeline);
    for (int i = 0; i < 5000; i++) {
        double row[COLUMNS];
        draw_row(&from, row, COLUMNS);
        row[dice_below(&from, COLUMNS)] += i % 41 == 0 ? dice_normal(&from) * 6 : 0;
        oif_pipeline *ruled = NULL;
        oif_error error;
        if (i % 41 == 0 && i > 1000)
            require_ok_or(oif_pipeline_clone(pipeline, &ruled, &error), error);
        const size_t before = count_past(pipeline);
        const oif_result result = process(pipeline, row);
        if (ruled && result.episode == OIF_EPISODE_BEGINS) {
            const char *rule = proposed(pipeline, NULL, past_at(pipeline, before).number);
            add_rule(ruled, rule);
            const oif_result other = process(ruled, row);
            const bool is_other = other.anomaly && other.reason != result.reason;
            assert_true(is_other || other.rule > 0);
            compared += other.rule > 0;
        }
        oif_pipeline_free(ruled);
    }
    assert_true(compared > 20);
    oif_pipeline_free(pipeline);
}

/* ---- Snapshots, copies and threads ---- */

static void episodes_survive_a_snapshot(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = taught(two_keys, 2), *loaded = NULL, *copy = NULL;
    oif_error error;
    alert(pipeline, "web-1", 180, 0);
    alert(pipeline, "web-2", 100, 90);
    require_ok_or(oif_pipeline_name_roles(pipeline, "host", NULL, &error), error);
    snapshot saved = save_all(pipeline);
    require_ok_or(oif_pipeline_load_memory(saved.bytes, saved.count, &loaded, &error), error);
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    snapshot again = save_all(loaded), cloned = save_all(copy);
    require_same_bytes(saved, again);
    require_same_bytes(saved, cloned);
    assert_true(oif_pipeline_keeps_episodes(loaded));
    alert(pipeline, "web-2", 20, 0);
    alert(loaded, "web-2", 20, 0);
    snapshot a = save_all(pipeline), b = save_all(loaded);
    require_same_bytes(a, b);
    /* Every byte of the section may be damaged. */
    for (size_t i = again.count - 400; i < again.count; i++) {
        oif_pipeline *broken = NULL;
        again.bytes[i] ^= 0x20;
        oif_status status = oif_pipeline_load_memory(again.bytes, again.count, &broken, &error);
        assert_true(status != OIF_OK && !broken);
        again.bytes[i] ^= 0x20;
    }
    free(saved.bytes);
    free(again.bytes);
    free(cloned.bytes);
    free(a.bytes);
    free(b.bytes);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(loaded);
    oif_pipeline_free(copy);
}

/* What no pipeline writes is refused, although its checksums are right. */
static void odd_episodes_are_refused(void **unused)
{
    (void)unused;
    for (int i = 0; i < 11; i++) {
        oif_pipeline *pipeline = taught(two_keys, 2), *broken = NULL;
        oif_error error;
        alert(pipeline, "web-1", 180, 0);
        alert(pipeline, "web-2", 180, 0);
        oif_past *past = &pipeline->past->list[pipeline->past->count - 1];
        switch (i) {
        case 0: past->row = 1; break;
        case 1: past->row = pipeline->rows + 1; break;
        case 2: past->number = 0; break;
        case 3: past->causes.reason = OIF_REASONS; break;
        case 4: past->causes.list[0].column = COLUMNS; break;
        case 5: past->causes.list[0].direction = 2; break;
        case 6: past->causes.list[0].share = NAN; break;
        case 7: past->causes.list[0].change = -1; break;
        case 8: past->key[0] ^= 1; break;
        case 9: past->first_seconds = INFINITY; break;
        default: past->severity = NAN; break;
        }
        snapshot saved = save_all(pipeline);
        assert_int_equal(oif_pipeline_load_memory(saved.bytes, saved.count, &broken, &error),
                         OIF_ECORRUPT);
        assert_null(broken);
        free(saved.bytes);
        oif_pipeline_free(pipeline);
    }
}

static void threads_keep_the_same_episodes(void **unused)
{
    (void)unused;
    enum { ROWS = 24000, KEYS = 7 };
    oif_pipeline *pipelines[2];
    double *rows = malloc(ROWS * COLUMNS * sizeof *rows), *seconds = malloc(ROWS * sizeof *seconds);
    const char **keys = malloc(ROWS * sizeof *keys);
    static const char *const names[KEYS] = {"a", "b", "c", "d", "e", "f", "g"};
    oif_result *results = malloc(ROWS * sizeof *results);
    dice from = {12};
    for (size_t i = 0; i < ROWS; i++) {
        draw_row(&from, rows + i * COLUMNS, COLUMNS);
        rows[i * COLUMNS + dice_below(&from, COLUMNS)] += i % 37 == 0 ? 30 : 0;
        seconds[i] = (double)i;
        keys[i] = names[dice_below(&from, KEYS)];
    }
    for (int t = 0; t < 2; t++) {
        oif_error error;
        size_t done;
        pipelines[t] = new_pipeline("rolling-iforest", "", COLUMNS, "moves=off alert_rate=0.02");
        keep(pipelines[t]);
        require_ok_or(oif_pipeline_set_threads(pipelines[t], t == 0 ? 1 : 3, &error), error);
        require_ok_or(oif_pipeline_process_rows(pipelines[t], rows, ROWS, COLUMNS, keys, NULL,
                                                seconds, results, &done, &error),
                      error);
    }
    assert_true(count_past(pipelines[0]) > 50);
    snapshot a = save_all(pipelines[0]), b = save_all(pipelines[1]);
    require_same_bytes(a, b);
    free(a.bytes);
    free(b.bytes);
    for (int t = 0; t < 2; t++)
        oif_pipeline_free(pipelines[t]);
    free(rows);
    free(seconds);
    free(keys);
    free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_are_kept_with_their_causes),
        cmocka_unit_test(keeping_episodes_changes_no_score),
        cmocka_unit_test(the_last_256_are_kept_in_the_order_of_rows),
        cmocka_unit_test(an_unknown_episode_is_refused),
        cmocka_unit_test(hostile_keys_are_muted),
        cmocka_unit_test(a_proposal_is_as_narrow_as_its_episode),
        cmocka_unit_test(without_keys_a_proposal_has_none),
        cmocka_unit_test(rows_without_a_key_among_others_have_no_rule),
        cmocka_unit_test(missing_values_have_a_rule_of_their_own),
        cmocka_unit_test(added_rules_keep_those_before_them),
        cmocka_unit_test(a_proposal_would_have_held_back_its_episode),
        cmocka_unit_test(episodes_survive_a_snapshot),
        cmocka_unit_test(odd_episodes_are_refused),
        cmocka_unit_test(threads_keep_the_same_episodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
