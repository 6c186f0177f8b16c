/* The detector against its plain twins (tests/reference): same parameters, same stream, same
 * distribution. One twin for each way of forgetting. With turnover, the trees of a forest have
 * different ages, and so do the twin's.
 *
 * The trees of a forest are independent given the stream, so the depths of one row in the trees of
 * many forests are independent draws from one distribution, on either side. Two-sample
 * Kolmogorov-Smirnov tests compare them: 60 forests of 35 trees each (32 and 3, as the detector
 * processes them) give 2100 draws per side. Depths have ties, so the tests can only err towards
 * agreement.
 *
 * 25 cases of 9 comparisons each are 225 comparisons at p = 10^-4: a change of the random numbers
 * that keeps the distribution fails somewhere with a probability below 2.3%. Seeds are fixed, so a
 * run is repeatable.
 *
 * OIF_LAW_FORESTS multiplies the number of forests, for a closer look. */
#include "driver.h"

#include "../reference/plain_online_iforest.h"
#include "../reference/plain_turnover.h"
#include "detect/online_iforest/turnover_tree.h"

enum { TREES = 35, PROBES = 6, MAX_DIMENSION = 5 };

/* ---- Streams ---- */

typedef void (*fill_row)(dice *from, size_t i, size_t n, size_t dimension, double *row);

static void fill_normal(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    (void)i, (void)n;
    double far = dice_chance(from, 0.03) ? 6 : 1;
    for (size_t j = 0; j < dimension; j++)
        row[j] = far * dice_normal(from);
}

static void fill_clusters(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    (void)i, (void)n;
    static const double centres[] = {-4, 0, 7};
    double centre = centres[dice_below(from, 3)];
    for (size_t j = 0; j < dimension; j++)
        row[j] = centre + 0.4 * dice_normal(from);
}

static void fill_drift(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    for (size_t j = 0; j < dimension; j++)
        row[j] = 12 * (double)i / (double)n + dice_normal(from);
}

static void fill_jump(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    double level = i < n * 3 / 4 ? 0 : 5;
    for (size_t j = 0; j < dimension; j++)
        row[j] = level + dice_unit(from);
}

/* Some values are missing, except in the last rows, which the probes are made from. */
static void fill_holes(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    fill_clusters(from, i, n, dimension, row);
    for (size_t j = 0; j < dimension; j++)
        if (dice_chance(from, 0.2) && i + 200 < n)
            row[j] = NAN;
}

/* Few values, one column constant. */
static void fill_steps(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    (void)i, (void)n;
    for (size_t j = 0; j < dimension; j++)
        row[j] = j == 1 ? 3 : dice_below(from, 4);
}

/* A few rows from 0 to 30, then for a long time only rows around 100, then one of the first kind: a
 * leaf with rows from 0 to 30 waits while the tree may get deeper, until the last row comes. */
static void fill_return(dice *from, size_t i, size_t n, size_t dimension, double *row)
{
    for (size_t j = 0; j < dimension; j++) {
        double away = 100 + dice_unit(from), here = 30 * dice_unit(from);
        row[j] = i == 0 ? 0 : i == 1 ? 101 : i < n / 75 || i == n - 1 ? here : away;
    }
}

/* Where depths are compared: in the middle of the stream's last rows, at their border, and far
 * outside. */
static void place_around_the_last_rows(int probe, const double *rows, size_t n, size_t dimension,
                                       double *row)
{
    for (size_t j = 0; j < dimension; j++) {
        const double *last = &rows[(n - 1) * dimension];
        double low = INFINITY, high = -INFINITY;
        for (size_t i = n - 200; i < n; i++) {
            low = fmin(low, rows[i * dimension + j]);
            high = fmax(high, rows[i * dimension + j]);
        }
        switch (probe) {
        case 0: row[j] = last[j]; break;
        case 1: row[j] = (low + high) / 2; break;
        case 2: row[j] = rows[(n - 150) * dimension + j]; break;
        case 3: row[j] = j % 2 ? low : high; break;
        case 4: row[j] = high + (high - low + 1) * 3; break;
        default: row[j] = j == 0 ? low - 1 : last[j]; break;
        }
    }
}

static void place_where_few_rows_are(int probe, const double *rows, size_t n, size_t dimension,
                                     double *row)
{
    (void)rows, (void)n;
    for (size_t j = 0; j < dimension; j++)
        row[j] = 5 * (probe + 1);
}

/* ---- One case: the observations of both sides ---- */

typedef struct test_case {
    const char *name;
    fill_row fill;
    size_t dimension, rows;
    oif_variant variant;
    oif_growth growth;
    uint32_t window_size, max_leaf_samples;
    size_t forests;
    void (*place)(int probe, const double *rows, size_t n, size_t dimension, double *row);
} test_case;

typedef struct observations {
    size_t forests, draws;  /* trees in all forests */
    double *depths[PROBES]; /* Algorithm 4, per tree */
    double *leaf_depths;    /* of probe 0, without c(height) */
    double *nodes;
    double *scores; /* of the last row, learned and scored at once; one per forest */
} observations;

static size_t forests_factor(void)
{
    const char *text = getenv("OIF_LAW_FORESTS");
    return text ? strtoul(text, NULL, 10) : 1;
}

static observations new_observations(const test_case *c)
{
    observations seen = {.forests = c->forests * forests_factor()};
    seen.draws = seen.forests * TREES;
    for (int probe = 0; probe < PROBES; probe++)
        seen.depths[probe] = new_numbers(seen.draws);
    seen.leaf_depths = new_numbers(seen.draws);
    seen.nodes = new_numbers(seen.draws);
    seen.scores = new_numbers(seen.forests);
    return seen;
}

static void free_observations(observations *seen)
{
    for (int probe = 0; probe < PROBES; probe++)
        free(seen->depths[probe]);
    free(seen->leaf_depths);
    free(seen->nodes);
    free(seen->scores);
}

static void draw_stream(const test_case *c, double *rows)
{
    dice rolled = {c->dimension * 100 + c->rows};
    for (size_t i = 0; i < c->rows; i++)
        c->fill(&rolled, i, c->rows, c->dimension, &rows[i * c->dimension]);
}

static void observe_fast(const test_case *c, const double *rows, double probes[][MAX_DIMENSION],
                         observations *seen)
{
    for (size_t i = 0; i < seen->forests; i++) {
        setup s = {.num_trees = TREES,
                   .window_size = c->window_size,
                   .max_leaf_samples = c->max_leaf_samples,
                   .growth = c->growth,
                   .variant = c->variant,
                   .subsample = 1,
                   .seed = 1000 + i};
        oif_detector *detector = new_detector(&s, c->dimension);
        require_ok(oif_detector_learn_rows(detector, rows, c->rows - 1, c->dimension, NULL));
        seen->scores[i] = learn_score(detector, &rows[(c->rows - 1) * c->dimension]);
        const oif_window_state *f = forest_of(detector);
        for (uint32_t tree = 0; tree < TREES; tree++) {
            for (int probe = 0; probe < PROBES; probe++)
                seen->depths[probe][i * TREES + tree] = depth_in_tree(f, tree, probes[probe]);
            seen->nodes[i * TREES + tree] = 2.0 * leaves_below(f, oif_window_root(f, tree)) - 1;
            seen->leaf_depths[i * TREES + tree] = leaf_spot(f, tree, probes[0]).depth;
        }
        oif_detector_free(detector);
    }
}

static void observe_plain(const test_case *c, const double *rows, double probes[][MAX_DIMENSION],
                          observations *seen)
{
    for (size_t i = 0; i < seen->forests; i++) {
        plain_forest_params params = {.num_trees = TREES,
                                      .window_size = (int)c->window_size,
                                      .max_leaf_samples = (int)c->max_leaf_samples,
                                      .growth = (plain_growth)c->growth,
                                      .variant = (plain_variant)c->variant,
                                      .seed = 500000 + i};
        plain_forest *forest = plain_forest_new(&params, (int)c->dimension);
        for (size_t row = 0; row + 1 < c->rows; row++)
            plain_forest_learn(forest, &rows[row * c->dimension]);
        seen->scores[i] = plain_forest_learn_score(forest, &rows[(c->rows - 1) * c->dimension]);
        if (plain_forest_check(forest))
            fail_msg("%s: the twin is broken: %s", c->name, plain_forest_check(forest));
        for (int tree = 0; tree < TREES; tree++) {
            size_t at = i * TREES + (size_t)tree;
            for (int probe = 0; probe < PROBES; probe++)
                seen->depths[probe][at] = plain_forest_depth(forest, tree, probes[probe]);
            seen->nodes[at] = plain_forest_node_count(forest, tree);
            seen->leaf_depths[at] = plain_forest_leaf_depth(forest, tree, probes[0]);
        }
        plain_forest_free(forest);
    }
}

/* ---- The same for turnover ---- */

enum { SHADOWS = 3 };

/* In these cases window_size is the maturity. */
static oif_detector *new_turnover(const test_case *c, uint64_t seed)
{
    setup s = {.num_trees = TREES,
               .window_size = c->window_size,
               .max_leaf_samples = c->max_leaf_samples,
               .growth = c->growth,
               .subsample = 1,
               .seed = seed};
    oif_params params = params_of(&s);
    oif_detector *detector = NULL;
    set_param(&params, "forgetting", OIF_FORGET_BY_TURNOVER);
    set_param(&params, "shadow_trees", SHADOWS);
    set_param(&params, "maturity", c->window_size);
    require_ok(oif_detector_new(&params, c->dimension, &detector, NULL));
    return detector;
}

static const oif_turnover_leaf *turnover_leaf(const oif_turnover_state *f, uint32_t tree,
                                              const double *row)
{
    size_t node = oif_turnover_root(f, tree);
    while (oif_turnover_is_cut(f, node))
        node = oif_turnover_step(f, tree, node, row);
    return oif_turnover_leaf_of(f, tree, oif_turnover_leaf_number(oif_turnover_words(f)[node]));
}

static double turnover_depth(const oif_turnover_state *f, const oif_turnover_leaf *leaf)
{
    return leaf->depth + (leaf->height < f->max_leaf_samples
                              ? 0
                              : log2((double)leaf->height / f->max_leaf_samples));
}

static void observe_fast_turnover(const test_case *c, const double *rows,
                                  double probes[][MAX_DIMENSION], observations *seen)
{
    for (size_t i = 0; i < seen->forests; i++) {
        oif_detector *detector = new_turnover(c, 1000 + i);
        require_ok(oif_detector_learn_rows(detector, rows, c->rows - 1, c->dimension, NULL));
        seen->scores[i] = learn_score(detector, &rows[(c->rows - 1) * c->dimension]);
        const oif_turnover_state *f = oif_detector_state(detector);
        for (uint32_t place = 0; place < TREES; place++) {
            uint32_t tree = oif_turnover_tree_behind(f, &f->ring, place);
            for (int probe = 0; probe < PROBES; probe++)
                seen->depths[probe][i * TREES + place] =
                    turnover_depth(f, turnover_leaf(f, tree, probes[probe]));
            seen->nodes[i * TREES + place] = 2.0 * oif_turnover_tree_at(f, tree)->leaf_count - 1;
            seen->leaf_depths[i * TREES + place] = turnover_leaf(f, tree, probes[0])->depth;
        }
        oif_detector_free(detector);
    }
}

static void observe_plain_turnover(const test_case *c, const double *rows,
                                   double probes[][MAX_DIMENSION], observations *seen)
{
    for (size_t i = 0; i < seen->forests; i++) {
        plain_turnover_params params = {.num_trees = TREES,
                                        .shadow_trees = SHADOWS,
                                        .maturity = (int)c->window_size,
                                        .max_leaf_samples = (int)c->max_leaf_samples,
                                        .fixed_growth = c->growth == OIF_FIXED,
                                        .seed = 500000 + i};
        plain_turnover *forest = plain_turnover_new(&params, (int)c->dimension);
        for (size_t row = 0; row + 1 < c->rows; row++)
            plain_turnover_learn(forest, &rows[row * c->dimension]);
        seen->scores[i] = plain_turnover_learn_score(forest, &rows[(c->rows - 1) * c->dimension]);
        if (plain_turnover_check(forest))
            fail_msg("%s: the twin is broken: %s", c->name, plain_turnover_check(forest));
        for (int tree = 0; tree < TREES; tree++) {
            size_t at = i * TREES + (size_t)tree;
            for (int probe = 0; probe < PROBES; probe++)
                seen->depths[probe][at] = plain_turnover_depth(forest, tree, probes[probe]);
            seen->nodes[at] = plain_turnover_node_count(forest, tree);
            seen->leaf_depths[at] = plain_turnover_leaf_depth(forest, tree, probes[0]);
        }
        plain_turnover_free(forest);
    }
}

/* ---- Kolmogorov-Smirnov ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Depths that differ only by rounding are equal: one side sums c(height) with another logarithm. */
static double rounded(double x)
{
    return round(x * 0x1p20) * 0x1p-20;
}

static double mean_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] / (double)count;
    return sum;
}

/* The greatest distance between the two distribution functions; sorts both samples. */
static double greatest_distance(double *a, double *b, size_t count)
{
    double greatest = 0;
    size_t i = 0, j = 0;
    for (size_t k = 0; k < count; k++) {
        a[k] = rounded(a[k]);
        b[k] = rounded(b[k]);
    }
    qsort(a, count, sizeof *a, compare_numbers);
    qsort(b, count, sizeof *b, compare_numbers);
    while (i < count && j < count) {
        double x = a[i] < b[j] ? a[i] : b[j];
        while (i < count && a[i] <= x)
            i++;
        while (j < count && b[j] <= x)
            j++;
        greatest = fmax(greatest, fabs((double)i - (double)j) / (double)count);
    }
    return greatest;
}

/* P(sqrt(n/2) D > x) = 2 exp(-2 x^2) for two samples of n; p = 10^-4. */
static double allowed_distance(size_t count)
{
    return sqrt(-log(1e-4 / 2) / 2) * sqrt(2.0 / (double)count);
}

static void expect_same_law(const test_case *c, const char *what, double *fast, double *plain,
                            size_t count)
{
    double limit = allowed_distance(count), distance = greatest_distance(fast, plain, count);
    if (distance > limit)
        fail_msg("%s, %zu columns, %s: the distributions of %zu draws are %.4f apart, %.4f "
                 "allowed; the "
                 "means are "
                 "%.4f (detector) and %.4f (twin)",
                 c->name, c->dimension, what, count, distance, limit, mean_of(fast, count),
                 mean_of(plain, count));
}

static void draw_stream_and_probes(const test_case *c, double *rows, double probes[][MAX_DIMENSION])
{
    draw_stream(c, rows);
    for (int probe = 0; probe < PROBES; probe++)
        c->place(probe, rows, c->rows, c->dimension, probes[probe]);
}

typedef void (*observe)(const test_case *c, const double *rows, double probes[][MAX_DIMENSION],
                        observations *seen);

static void compare_case(const test_case *c, observe look_at_fast, observe look_at_plain)
{
    double *rows = new_numbers(c->rows * c->dimension), probes[PROBES][MAX_DIMENSION];
    observations fast = new_observations(c), plain = new_observations(c);
    draw_stream_and_probes(c, rows, probes);
    look_at_fast(c, rows, probes, &fast);
    look_at_plain(c, rows, probes, &plain);

    expect_same_law(c, "leaf depth at probe 0", fast.leaf_depths, plain.leaf_depths, fast.draws);
    expect_same_law(c, "number of nodes", fast.nodes, plain.nodes, fast.draws);
    expect_same_law(c, "score of the last row", fast.scores, plain.scores, fast.forests);
    for (int probe = 0; probe < PROBES; probe++) {
        char name[40];
        snprintf(name, sizeof name, "depth at probe %d", probe);
        expect_same_law(c, name, fast.depths[probe], plain.depths[probe], fast.draws);
    }
    free(rows);
    free_observations(&fast);
    free_observations(&plain);
}

/* ---- The cases ---- */

#define AROUND place_around_the_last_rows
#define COMPARE(test, look_at_fast, look_at_plain, ...)                                            \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        const test_case cases[] = {__VA_ARGS__};                                                   \
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)                                \
            compare_case(&cases[i], look_at_fast, look_at_plain);                                  \
    }

/* name, stream, dimension, rows, variant, growth, window_size, max_leaf_samples, forests,
 * probes */
COMPARE(running_has_the_law_of_the_twin, observe_fast, observe_plain, /**/
        {"running, normal rows", fill_normal, 3, 700, OIF_RUNNING, OIF_ADAPTIVE, 256, 8, 60,
         AROUND},
        {"running, clusters", fill_clusters, 2, 600, OIF_RUNNING, OIF_ADAPTIVE, 256, 8, 60, AROUND},
        {"running, drift", fill_drift, 1, 900, OIF_RUNNING, OIF_ADAPTIVE, 512, 8, 60, AROUND},
        {"running, fixed growth", fill_normal, 2, 700, OIF_RUNNING, OIF_FIXED, 256, 8, 60, AROUND},
        {"running, jump", fill_jump, 5, 700, OIF_RUNNING, OIF_FIXED, 512, 32, 60, AROUND},
        {"running, steps", fill_steps, 3, 600, OIF_RUNNING, OIF_ADAPTIVE, 256, 8, 60, AROUND},
        {"running, window not yet full", fill_clusters, 4, 400, OIF_RUNNING, OIF_ADAPTIVE, 512, 8,
         60, AROUND})

COMPARE(paper_has_the_law_of_the_twin, observe_fast, observe_plain, /**/
        {"paper, clusters", fill_clusters, 3, 600, OIF_PAPER, OIF_ADAPTIVE, 256, 8, 60, AROUND},
        {"paper, drift", fill_drift, 2, 900, OIF_PAPER, OIF_ADAPTIVE, 512, 32, 60, AROUND},
        {"paper, fixed growth", fill_jump, 1, 700, OIF_PAPER, OIF_FIXED, 256, 8, 60, AROUND},
        {"paper, window not yet full", fill_normal, 5, 400, OIF_PAPER, OIF_ADAPTIVE, 512, 8, 60,
         AROUND})

COMPARE(reference_has_the_law_of_the_twin, observe_fast, observe_plain, /**/
        {"reference, normal rows", fill_normal, 3, 600, OIF_REFERENCE, OIF_ADAPTIVE, 256, 8, 60,
         AROUND},
        {"reference, drift", fill_drift, 1, 900, OIF_REFERENCE, OIF_ADAPTIVE, 512, 8, 60, AROUND},
        {"reference, fixed growth", fill_clusters, 2, 600, OIF_REFERENCE, OIF_FIXED, 256, 8, 60,
         AROUND},
        {"reference, steps", fill_steps, 4, 600, OIF_REFERENCE, OIF_FIXED, 256, 8, 60, AROUND})

/* Here a new leaf may be cut again at once, which hardly ever happens in the other streams: more
 * forests. */
COMPARE(reference_cuts_newborn_leaves_by_the_law_of_the_twin, observe_fast, observe_plain, /**/
        {"reference, a leaf that waited", fill_return, 1, 800, OIF_REFERENCE, OIF_FIXED, 1024, 3,
         400, place_where_few_rows_are},
        {"reference, a leaf that waited", fill_return, 1, 300, OIF_REFERENCE, OIF_FIXED, 512, 1,
         400, place_where_few_rows_are},
        {"reference, a leaf that waited", fill_return, 2, 800, OIF_REFERENCE, OIF_FIXED, 1024, 3,
         400, place_where_few_rows_are})

/* The maturity is in place of window_size: with 35 trees and 3 shadows the oldest tree is more than
 * 12 times as old. In the last case, some rows have a missing value. */
COMPARE(turnover_has_the_law_of_its_twin, observe_fast_turnover, observe_plain_turnover, /**/
        {"turnover, normal rows", fill_normal, 3, 1500, OIF_RUNNING, OIF_ADAPTIVE, 100, 8, 60,
         AROUND},
        {"turnover, clusters", fill_clusters, 2, 900, OIF_RUNNING, OIF_ADAPTIVE, 64, 4, 60, AROUND},
        {"turnover, drift", fill_drift, 1, 1500, OIF_RUNNING, OIF_ADAPTIVE, 100, 8, 60, AROUND},
        {"turnover, fixed growth", fill_normal, 2, 700, OIF_RUNNING, OIF_FIXED, 50, 16, 60, AROUND},
        {"turnover, jump", fill_jump, 5, 1200, OIF_RUNNING, OIF_ADAPTIVE, 80, 8, 60, AROUND},
        {"turnover, few rows", fill_clusters, 4, 300, OIF_RUNNING, OIF_ADAPTIVE, 512, 8, 60,
         AROUND},
        {"turnover, holes", fill_holes, 3, 900, OIF_RUNNING, OIF_ADAPTIVE, 64, 8, 60, AROUND})

/* ---- The comparison can distinguish distributions ---- */

static void the_comparison_tells_a_window_of_256_from_one_of_200(void **state)
{
    (void)state;
    const test_case as_is = {"",           fill_normal, 3, 700, OIF_RUNNING,
                             OIF_ADAPTIVE, 256,         8, 60,  AROUND};
    test_case other = as_is;
    other.window_size = 200;
    double *rows = new_numbers(as_is.rows * as_is.dimension), probes[PROBES][MAX_DIMENSION];
    observations one = new_observations(&as_is), two = new_observations(&other);
    draw_stream_and_probes(&as_is, rows, probes);
    observe_fast(&as_is, rows, probes, &one);
    observe_fast(&other, rows, probes, &two);
    expect_within(greatest_distance(one.depths[1], two.depths[1], one.draws),
                  allowed_distance(one.draws), 1, "distance in the middle");
    free(rows);
    free_observations(&one);
    free_observations(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_has_the_law_of_the_twin),
        cmocka_unit_test(paper_has_the_law_of_the_twin),
        cmocka_unit_test(reference_has_the_law_of_the_twin),
        cmocka_unit_test(reference_cuts_newborn_leaves_by_the_law_of_the_twin),
        cmocka_unit_test(turnover_has_the_law_of_its_twin),
        cmocka_unit_test(the_comparison_tells_a_window_of_256_from_one_of_200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
