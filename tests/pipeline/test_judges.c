/* Judges with one score: the most severe evidence decides, on the leader's scale. */
#include "pipelines.h"

#include "pipeline/alerts/judges.h"

enum { COLUMNS = 3, HABITUATION = 4000 };

static const oif_score_scale scales[] = {OIF_SCORES_UP_TO_1, OIF_SCORES_IN_BITS, OIF_SCORES_OF_MASS,
                                         OIF_SCORES_OF_DISTANCE};

static double draw_score(dice *from, oif_score_scale scale)
{
    double x = dice_normal(from);
    return scale == OIF_SCORES_UP_TO_1 ? 0.5 + 0.04 * x : exp(0.5 * x);
}

static oif_judge judge_with_history(oif_score_scale scale, uint32_t scores, dice *from)
{
    oif_judge judge;
    oif_judge_init(&judge, scale, 8192);
    for (uint32_t i = 0; i < scores; i++) {
        judge.score = draw_score(from, scale);
        oif_judges_learn(&judge, 1);
    }
    return judge;
}

static double severity_of(const oif_judge *judge, double score)
{
    return oif_curve_severity(&judge->curve, &judge->history, judge->scale, score);
}

static double score_of(const oif_judge judges[], size_t count, uint32_t *decisive)
{
    double severity = oif_judges_severity(judges, count, decisive);
    return *decisive > 0 ? oif_judge_score(&judges[0], severity) : judges[0].score;
}

/* ---- Severity and its inverse ---- */

static void shares_between_the_groups_rise_with_every_score(void **unused)
{
    (void)unused;
    dice from = {1};
    oif_judge judge = judge_with_history(OIF_SCORES_UP_TO_1, 5000, &from);
    double before = 1;
    for (int i = 0; i <= 4000; i++) {
        double score = 0.3 + 0.4 * i / 4000, share;
        share = oif_score_history_smooth_share(&judge.history, score);
        if (!(share > 0 && share <= before))
            fail_msg("the share of %g is %g, that of a lower score %g", score, share, before);
        if (share < 0.9 && share > 0.01 && share == before)
            fail_msg("the share of %g is that of a lower score, %g", score, share);
        double plain = oif_score_history_share(&judge.history, score);
        if (fabs(share - plain) > 0.05 * plain + 1e-3)
            fail_msg("the share of %g is %g, by its group %g", score, share, plain);
        before = share;
    }
}

static void the_score_of_a_severity_has_that_severity(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        dice from = {2};
        oif_judge judge = judge_with_history(scales[s], 20000, &from);
        for (double severity = 0.05; severity < 9; severity += 0.01) {
            double score = oif_curve_score(&judge.curve, &judge.history, scales[s], severity),
                   back = oif_curve_severity(&judge.curve, &judge.history, scales[s], score);
            if (fabs(back - severity) > (severity > 1.25 && severity < 1.35 ? 0.1 : 1e-6))
                fail_msg("scale %d: severity %.9g has the score %.17g, which has %.9g", (int)s,
                         severity, score, back);
        }
    }
}

/* ---- One score of several ---- */

static void the_leader_decides_when_no_one_finds_more(void **unused)
{
    (void)unused;
    dice from = {3};
    oif_judge judges[2] = {judge_with_history(OIF_SCORES_UP_TO_1, 5000, &from),
                           judge_with_history(OIF_SCORES_OF_DISTANCE, 5000, &from)};
    uint32_t decisive = 7;
    judges[0].score = 0.63;
    judges[1].score = 1;
    assert_true(score_of(judges, 2, &decisive) == 0.63);
    assert_int_equal(decisive, 0);
}

static void the_most_severe_judge_decides_on_the_scale_of_the_leader(void **unused)
{
    (void)unused;
    dice from = {4};
    oif_judge judges[3] = {judge_with_history(OIF_SCORES_UP_TO_1, 5000, &from),
                           judge_with_history(OIF_SCORES_OF_DISTANCE, 5000, &from),
                           judge_with_history(OIF_SCORES_OF_MASS, 5000, &from)};
    uint32_t decisive = 7;
    double before = 0.5;
    for (double far = 6; far < 1e12; far *= 10) {
        judges[0].score = 0.5;
        judges[1].score = far;
        judges[2].score = 1;
        double score = score_of(judges, 3, &decisive);
        assert_int_equal(decisive, 1);
        if (!(score > before && score < 1))
            fail_msg("a distance of %g gives %g, a tenth of it %g", far, score, before);
        double lifted = severity_of(&judges[0], score), own = severity_of(&judges[1], far);
        expect_within(lifted, own - 0.3011, own - 0.3009, "severity");
        before = score;
    }
}

static void a_judge_that_cannot_tell_or_knows_too_little_is_not_heard(void **unused)
{
    (void)unused;
    dice from = {5};
    oif_judge judges[2] = {judge_with_history(OIF_SCORES_UP_TO_1, 5000, &from),
                           judge_with_history(OIF_SCORES_OF_DISTANCE, 400, &from)};
    uint32_t decisive = 7;
    judges[0].score = 0.5;
    judges[1].score = 1e9;
    assert_true(score_of(judges, 2, &decisive) == 0.5);
    judges[1] = judge_with_history(OIF_SCORES_OF_DISTANCE, 4000, &from);
    judges[1].score = NAN;
    assert_true(score_of(judges, 2, &decisive) == 0.5);
    judges[1].score = 1e9;
    assert_true(score_of(judges, 2, &decisive) > 0.5);
}

/* A tenth of all rows are one cluster of anomalies that the leader is sure of. By rank they are one
 * row in ten; a row that is one in a hundred to the other judge must not overrule them. */
static void a_clump_that_the_leader_sees_is_not_overruled_by_ordinary_rows(void **unused)
{
    (void)unused;
    dice from = {9};
    oif_judge judges[2] = {judge_with_history(OIF_SCORES_UP_TO_1, 0, &from),
                           judge_with_history(OIF_SCORES_OF_DISTANCE, 5000, &from)};
    uint32_t decisive;
    for (int i = 0; i < 5000; i++) {
        judges[0].score = i % 10 == 0 ? 0.8 : 0.4 + 0.02 * dice_normal(&from);
        oif_judges_learn(judges, 1);
    }
    judges[0].score = 0.8;
    judges[1].score = exp(0.5 * 2.3);
    assert_true(score_of(judges, 2, &decisive) == 0.8);
    judges[0].score = 0.4;
    assert_true(score_of(judges, 2, &decisive) < 0.8);
    assert_int_equal(decisive, 1);
}

/* ---- Pipelines ---- */

/* Two columns that are always equal: only a detector that looks at both at once can notice when
 * they are not. */
static void draw_equal(dice *from, double *row)
{
    draw_row(from, row, COLUMNS);
    row[1] = row[0] + 0.01 * dice_normal(from);
}

static oif_pipeline *habituated(const char *detector, dice *from)
{
    oif_pipeline *pipeline = new_pipeline(detector, "", COLUMNS, "alert_rate=0.01 partner=off");
    for (int i = 0; i < HABITUATION; i++) {
        double row[COLUMNS];
        draw_equal(from, row);
        process(pipeline, row);
    }
    return pipeline;
}

static void what_the_leader_misses_another_one_finds_and_explains(void **unused)
{
    (void)unused;
    dice from = {6};
    oif_pipeline *alone = habituated("iforest-asd", &from);
    from.state = 6;
    oif_pipeline *together = habituated("iforest-asd+rrcf", &from);
    const double apart[COLUMNS] = {2, -2, 0};
    oif_attribution why[COLUMNS];
    assert_false(process(alone, apart).anomaly);
    oif_result result = process(together, apart);
    assert_true(result.anomaly);
    assert_int_equal(result.detector, 1);
    oif_pipeline_explain(together, why);
    assert_true(why[0].share + why[1].share > 0.9);
    oif_pipeline_free(alone);
    oif_pipeline_free(together);
}

/* Twice the evidence must not mean twice the alerts. */
static void together_they_raise_as_many_alerts_as_one(void **unused)
{
    (void)unused;
    dice from = {7};
    oif_pipeline *together = habituated("rolling-iforest+rrcf", &from);
    int alerts = 0;
    for (int i = 0; i < 20000; i++) {
        double row[COLUMNS];
        draw_equal(&from, row);
        alerts += process(together, row).anomaly;
    }
    assert_in_range(alerts, 100, 300); /* 200 is one in a hundred */
    oif_pipeline_free(together);
}

static ptrdiff_t append(void *context, const char *bytes, size_t count)
{
    return (ptrdiff_t)fwrite(bytes, 1, count, context);
}

static ptrdiff_t take(void *context, char *buffer, size_t capacity)
{
    return (ptrdiff_t)fread(buffer, 1, capacity, context);
}

static void clones_and_snapshots_continue_with_the_same_bits(void **unused)
{
    (void)unused;
    dice from = {8};
    oif_pipeline *pipeline = habituated("rolling-iforest+loda+rrcf", &from), *copy, *loaded;
    FILE *file = tmpfile();
    oif_error error;
    require_ok_or(oif_pipeline_clone(pipeline, &copy, &error), error);
    require_ok_or(oif_pipeline_save(pipeline, append, file, &error), error);
    rewind(file);
    require_ok_or(oif_pipeline_load(take, file, &loaded, &error), error);
    require_ok_or(oif_pipeline_check(loaded, &error), error);
    for (int i = 0; i < 3000; i++) {
        double row[COLUMNS];
        draw_equal(&from, row);
        row[2] += i % 300 == 0 ? 40 : 0;
        oif_result result = process(pipeline, row), cloned = process(copy, row),
                   reloaded = process(loaded, row);
        require_same_result(&result, &cloned);
        require_same_result(&result, &reloaded);
        assert_int_equal(result.detector, reloaded.detector);
    }
    fclose(file);
    oif_pipeline_free(pipeline);
    oif_pipeline_free(copy);
    oif_pipeline_free(loaded);
}

/* The checksum of a section is known only once all its fields are read. */
static void one_flipped_bit_anywhere_is_refused(void **unused)
{
    (void)unused;
    dice from = {10};
    oif_pipeline *pipeline = habituated("rolling-iforest", &from);
    FILE *file = tmpfile();
    require_ok(oif_pipeline_save(pipeline, append, file, NULL));
    const uint32_t bytes = (uint32_t)ftell(file);
    for (int i = 0; i < 600; i++) {
        /* most of them in the model, which follows the detector */
        long at = bytes - 1 - (long)dice_below(&from, i % 3 == 0 ? bytes : bytes / 4);
        oif_pipeline *loaded = NULL;
        fseek(file, at, SEEK_SET);
        int good = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(good ^ 1 << dice_below(&from, 8), file);
        rewind(file);
        assert_true(oif_pipeline_load(take, file, &loaded, NULL) != OIF_OK);
        fseek(file, at, SEEK_SET);
        fputc(good, file);
    }
    fclose(file);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_between_the_groups_rise_with_every_score),
        cmocka_unit_test(the_score_of_a_severity_has_that_severity),
        cmocka_unit_test(the_leader_decides_when_no_one_finds_more),
        cmocka_unit_test(the_most_severe_judge_decides_on_the_scale_of_the_leader),
        cmocka_unit_test(a_judge_that_cannot_tell_or_knows_too_little_is_not_heard),
        cmocka_unit_test(a_clump_that_the_leader_sees_is_not_overruled_by_ordinary_rows),
        cmocka_unit_test(what_the_leader_misses_another_one_finds_and_explains),
        cmocka_unit_test(together_they_raise_as_many_alerts_as_one),
        cmocka_unit_test(clones_and_snapshots_continue_with_the_same_bits),
        cmocka_unit_test(one_flipped_bit_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
