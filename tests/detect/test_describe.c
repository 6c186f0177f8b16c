/* The figures that a detector reports: the same names for the same things, and correct. */
#include "any_detector.h"

#include "detect/online_iforest/window_tree.h"
#include "detect/rrcf/rrcf.h"

enum { MAX_FIGURES = 32 };

typedef struct figures {
    size_t count;
    struct {
        const char *name;
        double value;
    } of[MAX_FIGURES];
} figures;

static void keep_figure(void *context, const char *name, double value)
{
    figures *kept = context;
    assert_in_range(kept->count, 0, MAX_FIGURES - 1);
    kept->of[kept->count].name = name;
    kept->of[kept->count++].value = value;
}

static figures describe(const oif_detector *detector)
{
    figures kept = {0};
    oif_detector_describe(detector, keep_figure, &kept);
    return kept;
}

static double figure(const figures *kept, const char *name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->of[i].name, name) == 0)
            return kept->of[i].value;
    fail_msg("there is no figure '%s'", name);
    return 0;
}

static void expect_figure(const oif_detector *detector, const char *name, double expected)
{
    figures told = describe(detector);
    expect_within(figure(&told, name), expected, expected, name);
}

static oif_detector *taught(const char *name, const char *settings, size_t rows)
{
    oif_detector *detector = new_named(name, settings, 3);
    double *numbers = normal_rows(5, rows, 3);
    require_ok(oif_detector_learn_rows(detector, numbers, rows, 3, NULL));
    free(numbers);
    return detector;
}

static void every_kind_tells_finite_figures_by_different_names(void **state)
{
    (void)state;
    for (size_t kind = 0; oif_detector_info_at(kind); kind++)
        for (size_t rows = 0; rows <= 600; rows += 150) {
            oif_detector *detector = taught(oif_detector_info_at(kind)->table.name, "", rows);
            figures told = describe(detector);
            assert_string_equal(told.of[0].name, "rows_held");
            for (size_t i = 0; i < told.count; i++) {
                expect_within(told.of[i].value, 0, DBL_MAX, told.of[i].name);
                for (size_t j = 0; j < i; j++)
                    assert_string_not_equal(told.of[i].name, told.of[j].name);
            }
            oif_detector_free(detector);
        }
}

/* With n leaves a tree has from log2(n) to n - 1 levels, and with two children for each inner
 * node 2n - 1 nodes. */
static void the_figures_of_trees_fit_together(void **state)
{
    (void)state;
    static const char *const kinds[] = {"online-iforest", "iforest-asd", "hst", "rrcf",
                                        "rolling-iforest"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        oif_detector *detector = taught(kinds[i], "num_trees=7", 1000);
        figures told = describe(detector);
        double mean = figure(&told, "leaves_mean"), most = figure(&told, "leaves_max");
        expect_within(mean, 4, most, kinds[i]);
        expect_within(figure(&told, "nodes"), 14 * mean - 7 - 1e-9, 14 * mean - 7 + 1e-9, kinds[i]);
        expect_within(figure(&told, "depth_mean"), log2(mean) / 2, figure(&told, "depth_max"),
                      kinds[i]);
        expect_within(figure(&told, "depth_max"), log2(most), most - 1, kinds[i]);
        oif_detector_free(detector);
    }
}

static void an_empty_detector_has_trees_of_one_leaf_or_none(void **state)
{
    (void)state;
    static const char *const kinds[] = {"online-iforest", "iforest-asd", "hst", "rolling-iforest"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        oif_detector *detector = taught(kinds[i], "num_trees=7", 0);
        expect_figure(detector, "leaves_mean", 1);
        expect_figure(detector, "nodes", 7);
        expect_figure(detector, "depth_max", 0);
        oif_detector_free(detector);
    }
    oif_detector *detector = taught("rrcf", "num_trees=7", 0);
    expect_figure(detector, "leaves_max", 0);
    expect_figure(detector, "nodes", 0);
    oif_detector_free(detector);
}

/* Every row has its own leaf in a robust random cut tree; climbing from each gives its depth. */
static void the_figures_of_rrcf_are_those_of_its_leaves(void **state)
{
    (void)state;
    oif_detector *detector = taught("rrcf", "num_trees=3 tree_size=64", 300);
    const oif_rrcf_state *f = oif_detector_state(detector);
    double depth_sum = 0, depth_max = 0;
    for (uint32_t tree = 0; tree < 3; tree++)
        for (uint32_t leaf = 0; leaf < 64; leaf++) {
            const oif_cut_tree_link *links = oif_cut_tree_links(&f->shape, oif_rrcf_tree(f, tree));
            double depth = 0;
            for (uint32_t node = leaf; links[node].parent != OIF_CUT_TREE_NO_NODE;
                 node = links[node].parent)
                depth++;
            depth_sum += depth;
            depth_max = fmax(depth_max, depth);
        }
    expect_figure(detector, "rows_held", 64);
    expect_figure(detector, "leaves_mean", 64);
    expect_figure(detector, "depth_mean", depth_sum / (3 * 64));
    expect_figure(detector, "depth_max", depth_max);
    oif_detector_free(detector);
}

/* Of the rows 0, 1, 2, 3 a tree cuts between any two first, each as likely. Cut in the middle, it
 * has four leaves; else three, as there are two levels. */
static void the_figures_of_iforest_asd_are_those_of_its_leaves(void **state)
{
    enum { TREES = 1000 };
    double leaves = 0;
    (void)state;
    for (int seed = 0; seed < TREES; seed++) {
        char settings[80];
        snprintf(settings, sizeof settings, "num_trees=1 window_size=4 subsample_size=4 seed=%d",
                 seed);
        oif_detector *detector = new_named("iforest-asd", settings, 1);
        for (int window = 0; window < 2; window++) /* the first tree is grown from fewer rows */
            require_ok(oif_detector_learn_rows(detector, (double[]){0, 1, 2, 3}, 4, 1, NULL));
        figures told = describe(detector);
        leaves += figure(&told, "leaves_max");
        expect_figure(detector, "depth_max", 2);
        oif_detector_free(detector);
    }
    expect_within(leaves / TREES, 3.27, 3.4, "leaves");
}

static void what_was_made_less_what_was_undone_is_what_there_is(void **state)
{
    (void)state;
    oif_detector *detector =
        taught("online-iforest", "num_trees=5 window_size=128 max_leaf_samples=4", 2000);
    figures told = describe(detector);
    double cuts = figure(&told, "cuts_made") - figure(&told, "cuts_undone");
    expect_within(5 * figure(&told, "leaves_mean") - 5, cuts - 1e-9, cuts + 1e-9,
                  "leaves less one a tree");
    expect_within(figure(&told, "cuts_undone"), 1, INFINITY, "cuts undone");
    oif_detector_free(detector);
}

/* Far from everything before, no row is where the points of the first cuts were drawn. */
static void a_jump_leaves_leaves_under_0(void **state)
{
    (void)state;
    oif_detector *detector =
        taught("online-iforest", "num_trees=5 window_size=128 max_leaf_samples=4", 0);
    expect_figure(detector, "leaves_under_0", 0);
    expect_figure(detector, "under_0_max", 0);
    oif_detector_free(detector);
    detector = taught("online-iforest", "num_trees=5 window_size=128 max_leaf_samples=4", 400);
    double *rows = normal_rows(3, 400, 3);
    for (size_t i = 0; i < 400 * 3; i++)
        rows[i] += 1000;
    require_ok(oif_detector_learn_rows(detector, rows, 400, 3, NULL));
    const oif_window_state *f = oif_detector_state(detector);
    int32_t least = 0;
    uint32_t leaves = 0, under_zero = 0;
    for (uint32_t tree = 0; tree < f->num_trees; tree++)
        for (uint32_t i = 0; i < f->leaf_capacity; i++) {
            const oif_window_leaf *leaf = oif_window_leaf_of(f, oif_window_tree_at(f, tree), i);
            if (leaf->depth == OIF_WINDOW_VACANT)
                continue;
            leaves++;
            under_zero += leaf->height < 0;
            least = leaf->height < least ? leaf->height : least;
        }
    expect_figure(detector, "leaves_under_0", (double)under_zero / leaves);
    expect_figure(detector, "under_0_max", -least);
    assert_true(least < 0);
    oif_detector_free(detector);
    free(rows);
}

static void turnover_tells_of_its_active_trees(void **state)
{
    (void)state;
    oif_detector *detector =
        taught("online-iforest", "forgetting=turnover num_trees=5 maturity=40", 0);
    expect_figure(detector, "rows_held", 0);
    expect_figure(detector, "nodes", 5);
    oif_detector_free(detector);
    detector = taught("online-iforest", "forgetting=turnover num_trees=5 maturity=40", 40);
    expect_figure(detector, "rows_held", 40);
    expect_figure(detector, "rows_in_youngest", 40);
    oif_detector_free(detector);
    detector = taught("online-iforest", "forgetting=turnover num_trees=5 maturity=40", 2000);
    figures told = describe(detector);
    double mean = figure(&told, "leaves_mean"), most = figure(&told, "leaves_max");
    expect_within(figure(&told, "rows_held"), 81, 90, "rows in the oldest tree");
    expect_within(figure(&told, "rows_in_youngest"), 41, 50, "rows in the youngest active tree");
    expect_within(mean, 4, most, "leaves");
    expect_within(figure(&told, "nodes"), 10 * mean - 5 - 1e-9, 10 * mean - 5 + 1e-9, "nodes");
    expect_within(figure(&told, "depth_max"), log2(most), most - 1, "depth");
    expect_within(figure(&told, "cuts_made"), 100, 2000, "cuts ever made");
    oif_detector_free(detector);
}

static void loda_tells_how_full_its_histograms_are(void **state)
{
    (void)state;
    oif_detector *detector = taught("loda", "num_projections=4 num_bins=8 window_size=64", 500);
    figures told = describe(detector);
    expect_figure(detector, "rows_known_mean", 64);
    expect_within(figure(&told, "rows_in_range_mean"), 32, 64, "rows in range");
    expect_within(figure(&told, "bins_in_use_mean"), 2, 8, "bins in use");
    oif_detector_free(detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_tells_finite_figures_by_different_names),
        cmocka_unit_test(the_figures_of_trees_fit_together),
        cmocka_unit_test(an_empty_detector_has_trees_of_one_leaf_or_none),
        cmocka_unit_test(the_figures_of_rrcf_are_those_of_its_leaves),
        cmocka_unit_test(the_figures_of_iforest_asd_are_those_of_its_leaves),
        cmocka_unit_test(what_was_made_less_what_was_undone_is_what_there_is),
        cmocka_unit_test(a_jump_leaves_leaves_under_0),
        cmocka_unit_test(turnover_tells_of_its_active_trees),
        cmocka_unit_test(loda_tells_how_full_its_histograms_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
