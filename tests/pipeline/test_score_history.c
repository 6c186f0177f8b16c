/* The history of scores against a plain twin that keeps them all. */
#include "../detect/driver.h"

#include "pipeline/alerts/score_history.h"

/* ---- The twin ---- */

enum { MAX_SCORES = 40000 };

typedef struct twin {
    double memory;
    uint32_t count;
    double scores[MAX_SCORES];
} twin;

/* The weight of scores at least as high; pending ones have none. */
static double twin_weight(const twin *t, double score)
{
    uint32_t known = t->count / OIF_HISTORY_PENDING * OIF_HISTORY_PENDING;
    double weight = 0;
    for (uint32_t i = 0; i < known; i++) {
        uint32_t younger = (known - 1 - i) / OIF_HISTORY_PENDING * OIF_HISTORY_PENDING;
        weight += t->scores[i] >= score ? exp(-(double)younger / t->memory) : 0;
    }
    return weight;
}

static double twin_share(const twin *t, double score)
{
    return (twin_weight(t, score) + 1) / (twin_weight(t, -INFINITY) + 1);
}

static void add_to_both(oif_score_history *h, twin *t, double score)
{
    oif_score_history_add(h, score);
    t->scores[t->count++] = score;
    if (!oif_score_history_check(h))
        fail_msg("after %u scores the history is inconsistent", t->count);
}

/* ---- Streams of scores ---- */

static double score_at(dice *from, int kind, uint32_t i)
{
    switch (kind) {
    case 0: return dice_unit(from);
    case 1: return dice_normal(from);
    case 2: return exp(8 * dice_normal(from));
    case 3: return dice_normal(from) + i * 1e-3; /* rises */
    case 4: return dice_normal(from) - i * 1e-3; /* falls */
    case 5:
        return floor(4 * dice_unit(from)); /* few values */
    /* jumps */
    case 6: return i < 9000 ? 0.4 + 0.01 * dice_normal(from) : 0.6 + 0.05 * dice_normal(from);
    case 7: return i % 500 == 499 ? 0.9 : 0.5;
    default: return 0.5;
    }
}

/* A fraction is accurate to a few percent, and thresholds have the requested fractions. */
static void test_agrees_with_all_scores(void **unused)
{
    (void)unused;
    static twin t;
    static const double rates[] = {0.3, 0.1, 0.01, 0.001};
    for (int kind = 0; kind < 9; kind++)
        for (int memory = 500; memory <= 8000; memory *= 16) {
            oif_score_history h;
            dice from = {(uint64_t)kind};
            t.memory = memory;
            t.count = 0;
            oif_score_history_init(&h, memory);
            for (uint32_t i = 0; i < 20000; i++) {
                add_to_both(&h, &t, score_at(&from, kind, i));
                if (i % 3001 != 3000)
                    continue;
                for (int probe = 0; probe < 20; probe++) {
                    double score = t.scores[t.count - 1 - dice_below(&from, 2000)];
                    double share = oif_score_history_share(&h, score),
                           exact = twin_share(&t, score);
                    double tolerance = 0.08 * exact + 1.5 / (h.total + 1);
                    if (!(fabs(share - exact) <= tolerance))
                        fail_msg("kind %d memory %d row %u: share %g, exactly %g", kind, memory, i,
                                 share, exact);
                }
                for (int r = 0; r < 4; r++) {
                    double threshold = oif_score_history_threshold(&h, rates[r]);
                    if (threshold == INFINITY) {
                        assert_true(1 / (h.total + 1) > rates[r]);
                        continue;
                    }
                    double above = oif_score_history_share(&h, nextafter(threshold, INFINITY));
                    double at = oif_score_history_share(&h, threshold);
                    if (!(above <= rates[r] && at > rates[r]))
                        fail_msg("kind %d memory %d: the share above the threshold for %g is %g, "
                                 "at it %g",
                                 kind, memory, rates[r], above, at);
                }
            }
        }
}

/* What users ask for: one row in a thousand, within chance. */
static void test_alerts_at_the_rate(void **unused)
{
    (void)unused;
    static const double rates[] = {0.05, 0.01, 0.001};
    for (int kind = 0; kind < 3; kind++)
        for (int r = 0; r < 3; r++) {
            oif_score_history h;
            dice from = {77};
            const double rows = 400000, expected = rates[r] * rows;
            double alerts = 0;
            oif_score_history_init(&h, 16384);
            for (uint32_t i = 0; i < rows + 20000; i++) {
                double score = score_at(&from, kind, i);
                alerts += i >= 20000 && score > oif_score_history_threshold(&h, rates[r]);
                oif_score_history_add(&h, score);
            }
            if (!(fabs(alerts - expected) <= 4 * sqrt(expected) + 0.06 * expected))
                fail_msg("kind %d: %g alerts instead of %g", kind, alerts, expected);
        }
}

/* Before one row in a hundred can be estimated, nothing is that rare. */
static void test_is_silent_at_first(void **unused)
{
    (void)unused;
    oif_score_history h;
    oif_score_history_init(&h, 10000);
    assert_true(oif_score_history_threshold(&h, 0.01) == INFINITY);
    assert_true(oif_score_history_share(&h, 1e300) == 1);
    for (int i = 0; i < 96; i++)
        oif_score_history_add(&h, i);
    assert_true(oif_score_history_threshold(&h, 0.01) == INFINITY);
    for (int i = 0; i < 32; i++)
        oif_score_history_add(&h, i);
    assert_true(oif_score_history_threshold(&h, 0.01) == 95);
    assert_true(oif_score_history_threshold(&h, 1) == -INFINITY);
}

/* Every score is lower than all before, for a long time: groups do not run out. */
static void test_never_runs_out_of_groups(void **unused)
{
    (void)unused;
    for (int direction = -1; direction <= 1; direction += 2) {
        oif_score_history h;
        uint32_t most = 0;
        oif_score_history_init(&h, 1e9);
        for (int i = 0; i < 3000000; i++) {
            oif_score_history_add(&h, direction * (double)i);
            most = h.groups > most ? h.groups : most;
        }
        assert_true(oif_score_history_check(&h));
        assert_true(most > 100 && most <= OIF_HISTORY_GROUPS);
    }
}

static void test_check_sees_damage(void **unused)
{
    (void)unused;
    oif_score_history h, good;
    dice from = {3};
    oif_score_history_init(&good, 1000);
    for (int i = 0; i < 1000; i++)
        oif_score_history_add(&good, dice_normal(&from));
    assert_true(oif_score_history_check(&good));
#define DAMAGED(change) (h = good, (change), !oif_score_history_check(&h))
    assert_true(DAMAGED(h.groups = OIF_HISTORY_GROUPS + 1));
    assert_true(DAMAGED(h.pending = OIF_HISTORY_PENDING));
    assert_true(DAMAGED(h.waiting[0] = NAN));
    assert_true(DAMAGED(h.waiting[0] = -INFINITY));
    assert_true(DAMAGED(h.scores[0] = -1.7e308));
    assert_true(DAMAGED(h.scores[5] = h.scores[7]));
    assert_true(DAMAGED(h.scores[h.groups - 1] = NAN));
    assert_true(DAMAGED(h.weights[5] = h.weights[6]));
    assert_true(DAMAGED(h.weights[0] = INFINITY));
    assert_true(DAMAGED(h.total += 1));
    assert_true(good.groups < OIF_HISTORY_GROUPS);
    assert_true(DAMAGED(h.scores[good.groups] = 1e-300));
    assert_true(DAMAGED(h.weights[OIF_HISTORY_GROUPS - 1] = -0.0));
#undef DAMAGED
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_all_scores),
        cmocka_unit_test(test_alerts_at_the_rate),
        cmocka_unit_test(test_is_silent_at_first),
        cmocka_unit_test(test_never_runs_out_of_groups),
        cmocka_unit_test(test_check_sees_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
