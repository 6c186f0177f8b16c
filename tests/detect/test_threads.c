/* Threads share the work and change no bits. Built with -fsanitize=thread this is also the test for
 * races. */
#include "any_detector.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DIMENSION = 5, ROWS = 3000 };

static double *make_rows(uint64_t seed, double missing)
{
    dice from = {seed};
    double *rows = malloc(sizeof(double) * ROWS * DIMENSION);
    assert_non_null(rows);
    for (int i = 0; i < ROWS * DIMENSION; i++)
        rows[i] = dice_chance(&from, missing)
                      ? NAN
                      : dice_normal(&from) + (i > ROWS * DIMENSION / 2 ? 4 : 0);
    return rows;
}

static oif_detector *make_detector(const setup *s, unsigned threads)
{
    oif_params params = params_of(s);
    oif_detector *detector = NULL;
    require_ok(oif_detector_new(&params, DIMENSION, &detector, NULL));
    require_ok(oif_detector_set_threads(detector, threads, NULL));
    return detector;
}

static void expect_same_scores(const double *one, const double *many, const setup *s,
                               unsigned threads)
{
    for (int i = 0; i < ROWS; i++)
        if (memcmp(&one[i], &many[i], sizeof one[i]) != 0)
            fail_msg("%s, row %d: %.17g with one thread, %.17g with %u", setup_text(s), i, one[i],
                     many[i], threads);
}

static void compare_threads(const setup *s, const double *rows, unsigned threads, size_t block)
{
    static double one[ROWS], many[ROWS];
    oif_detector *alone = make_detector(s, 1), *together = make_detector(s, threads);
    for (size_t from = 0; from < ROWS; from += block) {
        size_t count = ROWS - from < block ? ROWS - from : block;
        const double *start = rows + from * DIMENSION;
        require_ok(oif_detector_learn_score_rows(alone, start, count, DIMENSION, one + from, NULL));
        require_ok(
            oif_detector_learn_score_rows(together, start, count, DIMENSION, many + from, NULL));
    }
    expect_same_scores(one, many, s, threads);
    require_ok(oif_detector_check(together, NULL));
    require_ok(oif_detector_score_rows(alone, rows, ROWS, DIMENSION, one, NULL));
    require_ok(oif_detector_score_rows(together, rows, ROWS, DIMENSION, many, NULL));
    expect_same_scores(one, many, s, threads);
    oif_detector_free(alone);
    oif_detector_free(together);
}

static void scores_are_the_same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    const unsigned threads[] = {2, 3, 8, 16};
    const uint32_t trees[] = {1, 8, 9, 32, 67};
    double *complete = make_rows(1, 0), *holed = make_rows(2, 0.05);
    for (size_t t = 0; t < 4; t++)
        for (size_t n = 0; n < 5; n++) {
            setup s = {trees[n], 300, 16, OIF_ADAPTIVE, (oif_variant)(n % 3), n == 2 ? 0.5 : 1, t};
            compare_threads(&s, complete, threads[t], 1000);
            s.window_size = n == 0 ? 1 : 20 * (uint32_t)n; /* far shorter than a block */
            s.max_leaf_samples = 3;
            compare_threads(&s, holed, threads[t], 77);
        }
    free(complete);
    free(holed);
}

/* ---- Every kind of detector ---- */

static const struct {
    const char *name, *settings;
} kinds[] = {
    {"online-iforest", "forgetting=turnover"},
    {"online-iforest", "forgetting=turnover num_trees=67 maturity=20 max_leaf_samples=3"},
    {"online-iforest", "forgetting=turnover num_trees=3 shadow_trees=1 maturity=700"},
    {"online-iforest", "forgetting=turnover num_trees=8 shadow_trees=30 maturity=30 growth=fixed"},
    {"iforest-asd", "window_size=300"},
    {"iforest-asd", "window_size=90 num_trees=7 subsample_size=20 retrain=drift"},
    {"hst", "window_size=250"},
    {"hst", "window_size=250 num_trees=67 ranges=every"},
    {"hst", "window_size=60 num_trees=9 ranges=fixed range_low=-4 range_high=8"},
    {"hst", "window_size=1000 num_trees=3 size_limit=0.01"},
    {"rrcf", "tree_size=64 window_size=400"},
    {"rrcf", "tree_size=20 sample=sliding num_trees=5"},
    {"rolling-iforest", ""},
    {"rolling-iforest", "window_size=300 num_trees=13 renew_trees=13"},
    {"loda", "window_size=512"},
    {"loda", "window_size=40 num_projections=67 num_bins=7"},
    {"loda", "window_size=700 num_projections=3 scale=none"},
    {"loda", "window_size=2200 num_projections=9"},
    {"sdo", ""},
    {"sdo", "num_observers=37 num_neighbours=3 window_size=60 scale=none"},
};

/* Learns in blocks with one thread and with several; both must have the same bytes. */
static void compare_kind(size_t kind, const double *rows, unsigned threads, size_t block)
{
    static double one[ROWS], many[ROWS];
    const char *settings = kinds[kind].settings;
    oif_detector *alone = new_named(kinds[kind].name, settings, DIMENSION),
                 *together = new_named(kinds[kind].name, settings, DIMENSION);
    require_ok(oif_detector_set_threads(together, threads, NULL));
    for (size_t from = 0; from < ROWS; from += block) {
        size_t count = ROWS - from < block ? ROWS - from : block;
        const double *start = rows + from * DIMENSION;
        if (from / block % 3 == 1) { /* learning alone takes another path */
            require_ok(oif_detector_learn_rows(alone, start, count, DIMENSION, NULL));
            require_ok(oif_detector_learn_rows(together, start, count, DIMENSION, NULL));
            continue;
        }
        require_ok(oif_detector_learn_score_rows(alone, start, count, DIMENSION, one, NULL));
        require_ok(oif_detector_learn_score_rows(together, start, count, DIMENSION, many, NULL));
        for (size_t i = 0; i < count; i++)
            expect_same_bits(many[i], one[i], settings, from + i);
    }
    require_ok(oif_detector_score_rows(alone, rows, ROWS, DIMENSION, one, NULL));
    require_ok(oif_detector_score_rows(together, rows, ROWS, DIMENSION, many, NULL));
    for (size_t i = 0; i < ROWS; i++)
        expect_same_bits(many[i], one[i], settings, i);
    require_ok(oif_detector_check(together, NULL));
    require_ok(oif_detector_set_threads(together, 1, NULL));
    expect_same_detector(together, alone, settings);
    oif_detector_free(alone);
    oif_detector_free(together);
}

static void every_kind_is_the_same_bytes_with_any_number_of_threads(void **state)
{
    (void)state;
    double *complete = make_rows(5, 0), *holed = make_rows(6, 0.05);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        compare_kind(kind, complete, 2, 1000);
        compare_kind(kind, holed, 3, 77);
        compare_kind(kind, complete, 16, 500);
    }
    free(complete);
    free(holed);
}

static void a_clone_starts_with_one_thread_and_the_same_scores(void **state)
{
    (void)state;
    static double ours[ROWS], copied[ROWS];
    setup s = small_setup();
    double *rows = make_rows(3, 0);
    oif_detector *detector = make_detector(&s, 4), *copy = NULL;
    require_ok(oif_detector_learn_rows(detector, rows, ROWS, DIMENSION, NULL));
    require_ok(oif_detector_clone(detector, &copy, NULL));
    require_ok(oif_detector_learn_score_rows(detector, rows, ROWS, DIMENSION, ours, NULL));
    oif_detector_free(detector); /* and its threads: the copy must not use them */
    require_ok(oif_detector_learn_score_rows(copy, rows, ROWS, DIMENSION, copied, NULL));
    expect_same_scores(ours, copied, &s, 1);
    oif_detector_free(copy);
    free(rows);
}

static void the_number_of_threads_has_limits_and_may_change(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_error error;
    oif_detector *detector = make_detector(&s, 2);
    assert_int_equal(oif_detector_set_threads(detector, 0, &error), OIF_EPARAM);
    assert_int_equal(oif_detector_set_threads(detector, 17, &error), OIF_EPARAM);
    assert_non_null(strstr(error.message, "1 to 16"));
    require_ok(oif_detector_set_threads(detector, 5, NULL));
    require_ok(oif_detector_set_threads(detector, 1, NULL));
    oif_detector_free(detector);
}

struct scorer {
    const oif_detector *detector;
    const double *rows;
    double scores[ROWS];
};

static void *score_all(void *argument)
{
    struct scorer *scorer = argument;
    for (int i = 0; i < 5; i++)
        if (oif_detector_score_rows(scorer->detector, scorer->rows, ROWS, DIMENSION, scorer->scores,
                                    NULL) != OIF_OK)
            return scorer;
    return NULL;
}

static void const_calls_may_run_at_the_same_time_though_they_share_the_threads(void **state)
{
    (void)state;
    static struct scorer scorers[3];
    setup s = small_setup();
    double *rows = make_rows(4, 0);
    oif_detector *detector = make_detector(&s, 2);
    pthread_t threads[3];
    require_ok(oif_detector_learn_rows(detector, rows, ROWS, DIMENSION, NULL));
    for (int i = 0; i < 3; i++) {
        scorers[i].detector = detector;
        scorers[i].rows = rows;
        assert_int_equal(pthread_create(&threads[i], NULL, score_all, &scorers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    expect_same_scores(scorers[0].scores, scorers[1].scores, &s, 2);
    expect_same_scores(scorers[0].scores, scorers[2].scores, &s, 2);
    oif_detector_free(detector);
    free(rows);
}

static void count_part(void *context, unsigned part)
{
    atomic_uint *calls = context;
    atomic_fetch_add(&calls[part], 1);
}

static void a_pool_calls_every_part_once_in_every_round(void **state)
{
    (void)state;
    for (unsigned parts = 1; parts <= OIF_POOL_MAX_PARTS; parts += 5) {
        atomic_uint calls[OIF_POOL_MAX_PARTS] = {0};
        oif_pool *pool = oif_pool_new(parts, 0);
        assert_non_null(pool);
        for (int round = 0; round < 200; round++)
            oif_pool_run(pool, count_part, calls);
        oif_pool_free(pool);
        for (unsigned part = 0; part < OIF_POOL_MAX_PARTS; part++)
            assert_int_equal(atomic_load(&calls[part]), part < parts ? 200 : 0);
    }
    oif_pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(every_kind_is_the_same_bytes_with_any_number_of_threads),
        cmocka_unit_test(a_clone_starts_with_one_thread_and_the_same_scores),
        cmocka_unit_test(the_number_of_threads_has_limits_and_may_change),
        cmocka_unit_test(const_calls_may_run_at_the_same_time_though_they_share_the_threads),
        cmocka_unit_test(a_pool_calls_every_part_once_in_every_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
