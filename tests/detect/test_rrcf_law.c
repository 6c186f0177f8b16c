/* Robust random cut trees against their plain twin (tests/reference). A tree after insertions and
 * removals has the distribution of a tree rebuilt from the rows it holds. A score without learning
 * is the mean of what learning would give. The samples of the forest have the promised
 * distribution.
 *
 * Two-sample Kolmogorov-Smirnov tests over 4000 trees per side, each at p = 10^-4. There are some
 * 100 of them: a change of the random numbers that keeps the distribution fails somewhere with a
 * probability of 1%. Seeds are fixed, so a run is repeatable. */
#include "driver.h"

#include "../reference/plain_rrcf.h"
#include "detect/rrcf/rrcf.h"

enum { TREES = 4000, MAX_DIMENSION = 4, PROBES = 5 };

/* ---- Streams ---- */

typedef void (*fill_row)(dice *from, size_t i, size_t dimension, double *row);

static void fill_normal(dice *from, size_t i, size_t dimension, double *row)
{
    (void)i;
    double far = dice_chance(from, 0.1) ? 5 : 1;
    for (size_t j = 0; j < dimension; j++)
        row[j] = far * dice_normal(from);
}

static void fill_clusters(dice *from, size_t i, size_t dimension, double *row)
{
    (void)i;
    double centre = 7.0 * dice_below(from, 3);
    for (size_t j = 0; j < dimension; j++)
        row[j] = centre + 0.4 * dice_normal(from);
}

/* Many exact duplicates, and one constant column. */
static void fill_steps(dice *from, size_t i, size_t dimension, double *row)
{
    (void)i;
    for (size_t j = 0; j < dimension; j++)
        row[j] = j == 1 ? 3 : dice_below(from, 3);
}

static void fill_drift(dice *from, size_t i, size_t dimension, double *row)
{
    for (size_t j = 0; j < dimension; j++)
        row[j] = 0.1 * (double)i + dice_normal(from);
}

/* Ranges of 1, 10, 100, which decide the columns that are cut. */
static void fill_scales(dice *from, size_t i, size_t dimension, double *row)
{
    (void)i;
    double scale = 1;
    for (size_t j = 0; j < dimension; j++, scale *= 10)
        row[j] = scale * dice_unit(from);
}

typedef struct test_case {
    const char *name;
    fill_row fill;
    size_t dimension, tree_size, rows;
} test_case;

static const test_case cases[] = {
    {"normal rows", fill_normal, 2, 24, 100}, {"clusters", fill_clusters, 3, 32, 90},
    {"steps", fill_steps, 4, 32, 120},        {"drift", fill_drift, 1, 16, 80},
    {"scales", fill_scales, 3, 20, 61},       {"two rows", fill_normal, 2, 2, 9},
    {"not yet full", fill_normal, 4, 40, 30},
};

static double *draw_stream(const test_case *c)
{
    double *rows = new_numbers(c->rows * c->dimension);
    dice rolled = {c->rows * 10 + c->dimension};
    for (size_t i = 0; i < c->rows; i++)
        c->fill(&rolled, i, c->dimension, &rows[i * c->dimension]);
    return rows;
}

static size_t rows_held(const test_case *c)
{
    return c->rows < c->tree_size ? c->rows : c->tree_size;
}

/* Rows of the final sample, oldest to newest. */
static const double *probe_row(const test_case *c, const double *rows, size_t probe)
{
    size_t held = rows_held(c);
    return &rows[(c->rows - 1 - probe * (held - 1) / (PROBES - 1)) * c->dimension];
}

/* ---- Observations of both sides ---- */

typedef struct observations {
    double *depths[PROBES], *displacements[PROBES];
    double *root_columns, *root_values;
} observations;

static observations new_observations(void)
{
    observations seen = {.root_columns = new_numbers(TREES), .root_values = new_numbers(TREES)};
    for (int probe = 0; probe < PROBES; probe++) {
        seen.depths[probe] = new_numbers(TREES);
        seen.displacements[probe] = new_numbers(TREES);
    }
    return seen;
}

static void free_observations(observations *seen)
{
    for (int probe = 0; probe < PROBES; probe++) {
        free(seen->depths[probe]);
        free(seen->displacements[probe]);
    }
    free(seen->root_columns);
    free(seen->root_values);
}

static uint32_t leaf_of(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                        const double *row, double *depth)
{
    uint32_t node = tree->root;
    for (*depth = 0; !oif_cut_tree_is_leaf(shape, node); ++*depth) {
        const oif_cut_tree_cut *cut = oif_cut_tree_cut_at(shape, tree, node);
        node = row[cut->column] <= cut->value ? cut->left : cut->right;
    }
    assert_memory_equal(oif_cut_tree_point(shape, tree, node), row, shape->dimension * sizeof *row);
    return node;
}

/* The last `skipped` rows are not learned. */
static void observe_fast(const test_case *c, const double *rows, size_t skipped, observations *seen)
{
    const oif_cut_tree_shape shape = oif_cut_tree_layout(c->dimension, (uint32_t)c->tree_size);
    oif_cut_tree *tree = calloc(1, shape.bytes);
    assert_non_null(tree);
    uint32_t leaves[64];
    for (size_t number = 0; number < TREES; number++) {
        oif_cut_tree_init(&shape, tree, oif_random_stream(7, number));
        for (size_t i = 0; i < c->rows - skipped; i++) {
            uint32_t *leaf = &leaves[i % c->tree_size];
            if (i >= c->tree_size)
                oif_cut_tree_remove(&shape, tree, *leaf);
            *leaf = oif_cut_tree_insert(&shape, tree, &rows[i * c->dimension]);
        }
        const char *broken = oif_cut_tree_check(&shape, tree, (uint32_t)rows_held(c));
        if (broken)
            fail_msg("%s: %s", c->name, broken);
        bool cut = !oif_cut_tree_is_leaf(&shape, tree->root);
        seen->root_columns[number] =
            cut ? oif_cut_tree_cut_at(&shape, tree, tree->root)->column : -1.0;
        seen->root_values[number] = cut ? oif_cut_tree_cut_at(&shape, tree, tree->root)->value : 0;
        for (size_t probe = 0; probe < PROBES && skipped == 0; probe++) {
            uint32_t leaf =
                leaf_of(&shape, tree, probe_row(c, rows, probe), &seen->depths[probe][number]);
            seen->displacements[probe][number] = oif_cut_tree_displacement(&shape, tree, leaf);
        }
    }
    free(tree);
}

static void look_at_twin(const test_case *c, const double *rows, const plain_cut_tree *tree,
                         size_t number, observations *seen)
{
    seen->root_columns[number] = plain_cut_tree_root_column(tree);
    seen->root_values[number] = plain_cut_tree_root_value(tree);
    for (size_t probe = 0; probe < PROBES; probe++) {
        seen->depths[probe][number] = plain_cut_tree_depth(tree, probe_row(c, rows, probe));
        seen->displacements[probe][number] =
            plain_cut_tree_displacement(tree, probe_row(c, rows, probe));
    }
}

static void observe_afresh(const test_case *c, const double *rows, observations *seen)
{
    for (size_t number = 0; number < TREES; number++) {
        const double *first = &rows[(c->rows - rows_held(c)) * c->dimension];
        plain_cut_tree *tree =
            plain_cut_tree_build(first, rows_held(c), c->dimension, 1000000 + number);
        look_at_twin(c, rows, tree, number, seen);
        plain_cut_tree_free(tree);
    }
}

static void observe_twin_streaming(const test_case *c, const double *rows, observations *seen)
{
    for (size_t number = 0; number < TREES; number++) {
        plain_cut_tree *tree = plain_cut_tree_build(rows, 0, c->dimension, 2000000 + number);
        for (size_t i = 0; i < c->rows; i++) {
            if (i >= c->tree_size)
                plain_cut_tree_forget(tree, &rows[(i - c->tree_size) * c->dimension]);
            plain_cut_tree_insert(tree, &rows[i * c->dimension]);
        }
        look_at_twin(c, rows, tree, number, seen);
        plain_cut_tree_free(tree);
    }
}

/* ---- Kolmogorov-Smirnov ---- */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] / (double)count;
    return sum;
}

/* The greatest distance between the two distribution functions; sorts both samples. */
static double greatest_distance(double *a, double *b)
{
    double greatest = 0;
    size_t i = 0, j = 0;
    qsort(a, TREES, sizeof *a, compare_numbers);
    qsort(b, TREES, sizeof *b, compare_numbers);
    while (i < TREES && j < TREES) {
        double x = a[i] < b[j] ? a[i] : b[j];
        while (i < TREES && a[i] <= x)
            i++;
        while (j < TREES && b[j] <= x)
            j++;
        greatest = fmax(greatest, fabs((double)i - (double)j) / TREES);
    }
    return greatest;
}

/* P(sqrt(n/2) D > x) = 2 exp(-2 x^2) for two samples of n; p = 10^-4. */
static double allowed_distance(void)
{
    return sqrt(-log(1e-4 / 2) / 2) * sqrt(2.0 / TREES);
}

static void expect_same_law(const test_case *c, const char *what, double *one, double *other)
{
    double distance = greatest_distance(one, other);
    if (distance > allowed_distance())
        fail_msg("%s, %s: the distributions over %d trees are %.4f apart, %.4f allowed; the means "
                 "are %.4f "
                 "and %.4f",
                 c->name, what, TREES, distance, allowed_distance(), mean_of(one, TREES),
                 mean_of(other, TREES));
}

static void expect_same_observations(const test_case *c, observations *one, observations *other)
{
    expect_same_law(c, "column of the first cut", one->root_columns, other->root_columns);
    expect_same_law(c, "value of the first cut", one->root_values, other->root_values);
    for (int probe = 0; probe < PROBES; probe++) {
        char what[60];
        snprintf(what, sizeof what, "depth of probe %d", probe);
        expect_same_law(c, what, one->depths[probe], other->depths[probe]);
        snprintf(what, sizeof what, "displacement of probe %d", probe);
        expect_same_law(c, what, one->displacements[probe], other->displacements[probe]);
    }
}

/* ---- Trees ---- */

static void a_tree_that_rows_went_into_and_out_of_has_the_law_of_one_built_afresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double *rows = draw_stream(&cases[i]);
        observations fast = new_observations(), afresh = new_observations();
        observe_fast(&cases[i], rows, 0, &fast);
        observe_afresh(&cases[i], rows, &afresh);
        expect_same_observations(&cases[i], &fast, &afresh);
        free_observations(&fast);
        free_observations(&afresh);
        free(rows);
    }
}

static void the_twin_keeps_the_law_through_its_own_inserts_and_forgets(void **state)
{
    (void)state;
    const test_case c = {"twin", fill_normal, 2, 16, 40};
    double *rows = draw_stream(&c);
    observations streaming = new_observations(), afresh = new_observations();
    observe_twin_streaming(&c, rows, &streaming);
    observe_afresh(&c, rows, &afresh);
    expect_same_observations(&c, &streaming, &afresh);
    free_observations(&streaming);
    free_observations(&afresh);
    free(rows);
}

static void the_comparison_tells_a_sample_from_the_one_three_rows_earlier(void **state)
{
    (void)state;
    const test_case c = {"power", fill_drift, 1, 16, 80};
    double *rows = draw_stream(&c);
    observations now = new_observations(), earlier = new_observations();
    observe_fast(&c, rows, 0, &now);
    observe_fast(&c, rows, 3, &earlier);
    double distance = greatest_distance(now.root_values, earlier.root_values);
    expect_within(distance, allowed_distance() * 1.5, 1,
                  "the distance of the values of the first cut");
    free_observations(&now);
    free_observations(&earlier);
    free(rows);
}

/* ---- Scoring without learning ---- */

static oif_cut_tree *tree_of_rows(const oif_cut_tree_shape *shape, const double *rows, size_t count)
{
    oif_cut_tree *tree = calloc(1, shape->bytes);
    assert_non_null(tree);
    oif_cut_tree_init(shape, tree, oif_random_stream(11, 0));
    for (size_t i = 0; i < count; i++)
        oif_cut_tree_insert(shape, tree, &rows[i * shape->dimension]);
    return tree;
}

/* Inserts the row into many copies of one tree, each with its own random numbers. */
static void expect_mean_of_insertions(const oif_cut_tree_shape *shape, const oif_cut_tree *tree,
                                      const double *row, int probe)
{
    enum { COPIES = 20000 };
    double expected = oif_cut_tree_expected_displacement(shape, tree, row), sum = 0, squares = 0;
    oif_cut_tree *copy = calloc(1, shape->bytes);
    assert_non_null(copy);
    for (uint64_t i = 0; i < COPIES; i++) {
        memcpy(copy, tree, shape->bytes);
        copy->random = oif_random_stream(12, i);
        double seen = oif_cut_tree_displacement(shape, copy, oif_cut_tree_insert(shape, copy, row));
        sum += seen / COPIES;
        squares += seen * seen / COPIES;
    }
    double error = sqrt(fmax(squares - sum * sum, 0) / COPIES);
    if (fabs(sum - expected) > 4.5 * error + 1e-9)
        fail_msg("probe %d: %d insertions have a mean displacement of %.5f, standard error %.5f; "
                 "expected "
                 "was %.5f",
                 probe, COPIES, sum, error, expected);
    free(copy);
}

static void the_score_of_an_unseen_row_is_the_mean_over_its_insertions(void **state)
{
    (void)state;
    const oif_cut_tree_shape shape = oif_cut_tree_layout(3, 50);
    double *rows = normal_rows(5, 40, 3), row[3];
    oif_cut_tree *tree = tree_of_rows(&shape, rows, 40);
    dice rolled = {9};
    for (int probe = 0; probe < 12; probe++) {
        for (int j = 0; j < 3; j++)
            row[j] = dice_normal(&rolled) * (probe % 4 == 0 ? 8 : probe % 4) / 2;
        if (probe % 3 == 2)
            row[probe % 2] = NAN;
        for (int j = 0; probe >= 10 && j < 3; j++) /* one of the rows, or nearly */
            row[j] = rows[j] + (probe == 10 ? 0 : 0.02);
        expect_mean_of_insertions(&shape, tree, row, probe);
    }
    free(tree);
    free(rows);
}

/* Nothing random is left: a single row, or all rows equal. */
static void what_an_insertion_leaves_no_choice_in_is_exact(void **state)
{
    (void)state;
    const oif_cut_tree_shape shape = oif_cut_tree_layout(2, 8);
    oif_cut_tree *tree = tree_of_rows(&shape, NULL, 0);
    const double here[] = {1, 2}, there[] = {1, 3};
    assert_true(oif_cut_tree_expected_displacement(&shape, tree, here) == 0);
    for (int count = 1; count <= 7; count++) {
        oif_cut_tree_insert(&shape, tree, here);
        assert_true(oif_cut_tree_expected_displacement(&shape, tree, here) == 0);
        assert_true(oif_cut_tree_expected_displacement(&shape, tree, there) == count);
    }
    uint32_t leaf = oif_cut_tree_insert(&shape, tree, there);
    assert_true(oif_cut_tree_displacement(&shape, tree, leaf) == 7);
    assert_true(oif_cut_tree_expected_displacement(&shape, tree, there) == 7.0 / 2);
    assert_true(oif_cut_tree_expected_displacement(&shape, tree, here) == 1.0 / 8);
    free(tree);
}

/* ---- Samples ---- */

enum { FOREST = 4096, SAMPLE = 8 };

/* The number of trees that contain each of the rows 0, 1, 2, ... */
static void count_trees_with_each_row(double window_size, const char *sample, size_t rows,
                                      size_t *trees_with)
{
    oif_params params;
    oif_detector *detector = NULL;
    require_ok(oif_params_init(&params, "rrcf", NULL));
    set_param(&params, "num_trees", FOREST);
    set_param(&params, "tree_size", SAMPLE);
    set_param(&params, "window_size", window_size);
    require_ok(oif_params_set_text(&params, "sample", sample, NULL));
    require_ok(oif_detector_new(&params, 1, &detector, NULL));
    for (size_t i = 0; i < rows; i++)
        learn(detector, &(double){(double)i});
    const oif_rrcf_state *f = oif_detector_state(detector);
    memset(trees_with, 0, rows * sizeof *trees_with);
    for (uint32_t number = 0; number < FOREST; number++)
        for (uint32_t place = 0; place < SAMPLE; place++)
            trees_with[(size_t)*oif_cut_tree_point(&f->shape, oif_rrcf_tree(f, number),
                                                   oif_rrcf_leaves(f, number)[place])]++;
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

/* The trees draw independently, so the number of trees with a row is binomial. If they drew alike,
 * it would be all or none. */
static void expect_share(size_t row, size_t trees_with, double share)
{
    double expected = FOREST * share, deviation = sqrt(expected * (1 - share));
    if (fabs((double)trees_with - expected) > 4.5 * deviation + 1e-9)
        fail_msg("row %zu is in %zu of %d trees; expected are %.1f, standard deviation %.1f", row,
                 trees_with, FOREST, expected, deviation);
}

static void a_reservoir_within_its_window_is_a_uniform_sample(void **state)
{
    (void)state;
    enum { ROWS = 100 };
    size_t trees_with[ROWS];
    count_trees_with_each_row(0x1p53, "reservoir", ROWS, trees_with);
    for (size_t i = 0; i < ROWS; i++)
        expect_share(i, trees_with[i], (double)SAMPLE / ROWS);
}

static void a_reservoir_beyond_its_window_fades(void **state)
{
    (void)state;
    enum { ROWS = 150, WINDOW = 20 };
    size_t trees_with[ROWS];
    count_trees_with_each_row(WINDOW, "reservoir", ROWS, trees_with);
    for (size_t i = 0; i < ROWS; i++) {
        /* the first WINDOW rows are alike */
        size_t age = i < WINDOW ? ROWS - WINDOW : ROWS - 1 - i;
        expect_share(i, trees_with[i],
                     (double)SAMPLE / WINDOW * pow(1 - 1.0 / WINDOW, (double)age));
    }
}

static void a_sliding_sample_is_the_last_rows(void **state)
{
    (void)state;
    size_t trees_with[100];
    count_trees_with_each_row(20, "sliding", 100, trees_with);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(trees_with[i], i < 100 - SAMPLE ? 0 : FOREST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_that_rows_went_into_and_out_of_has_the_law_of_one_built_afresh),
        cmocka_unit_test(the_twin_keeps_the_law_through_its_own_inserts_and_forgets),
        cmocka_unit_test(the_comparison_tells_a_sample_from_the_one_three_rows_earlier),
        cmocka_unit_test(the_score_of_an_unseen_row_is_the_mean_over_its_insertions),
        cmocka_unit_test(what_an_insertion_leaves_no_choice_in_is_exact),
        cmocka_unit_test(a_reservoir_within_its_window_is_a_uniform_sample),
        cmocka_unit_test(a_reservoir_beyond_its_window_fades),
        cmocka_unit_test(a_sliding_sample_is_the_last_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
