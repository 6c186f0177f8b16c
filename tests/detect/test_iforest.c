/* Isolation Forest: the distribution of its trees against a plain twin, invariants for any rows,
 * and that the check detects everything that can be broken.
 *
 * The twin follows the algorithms of Liu, Ting and Zhou (2008) literally: pointers, recursion,
 * copies of the rows, the C library's arithmetic. Path lengths of one row in many trees are
 * independent draws from one distribution, on either side. Two-sample Kolmogorov-Smirnov tests
 * compare them: 5 cases of 7 comparisons at p = 10^-4, with fixed seeds.
 *
 * OIF_FOREST_SEED sets the seed of the random rows; every failure prints it. */
#include "driver.h"

#include "detect/iforest_asd/iforest.h"

/* ---- The twin ---- */

typedef struct plain_node {
    struct plain_node *left, *right; /* NULL in a leaf */
    int column, size;
    double value;
} plain_node;

static double plain_average(int n)
{
    double harmonic = 0;
    for (int i = 1; i < n; i++)
        harmonic += 1.0 / i;
    return n < 2 ? 0 : 2 * harmonic - 2.0 * (n - 1) / n;
}

static bool plain_range(const double *const *rows, int count, int column, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < count; i++) {
        *low = fmin(*low, rows[i][column]); /* fmin and fmax ignore a NaN */
        *high = fmax(*high, rows[i][column]);
    }
    return *low < *high;
}

/* Algorithm 2. */
static plain_node *plain_tree(dice *from, const double **rows, int count, int dimension, int depth,
                              int limit)
{
    plain_node *node = calloc(1, sizeof *node);
    int candidates[8], found = 0, left_count = 0, right_count = 0, missing = 0;
    double low, high;
    assert_non_null(node);
    node->size = count;
    for (int j = 0; j < dimension; j++)
        if (plain_range(rows, count, j, &low, &high))
            candidates[found++] = j;
    if (depth >= limit || count <= 1 || found == 0)
        return node;
    node->column = candidates[dice_below(from, (uint32_t)found)];
    plain_range(rows, count, node->column, &low, &high);
    do
        node->value = low + (high - low) * dice_unit(from);
    while (node->value <= low);
    const double **left = calloc((size_t)count, sizeof *left),
                 **right = calloc((size_t)count, sizeof *right);
    const double **waiting = calloc((size_t)count, sizeof *waiting);
    for (int i = 0; i < count; i++)
        if (isnan(rows[i][node->column]))
            waiting[missing++] = rows[i];
        else if (rows[i][node->column] < node->value)
            left[left_count++] = rows[i];
        else
            right[right_count++] = rows[i];
    bool right_is_heavier = right_count > left_count;
    for (int i = 0; i < missing; i++)
        if (right_is_heavier)
            right[right_count++] = waiting[i];
        else
            left[left_count++] = waiting[i];
    node->left = plain_tree(from, left, left_count, dimension, depth + 1, limit);
    node->right = plain_tree(from, right, right_count, dimension, depth + 1, limit);
    free(left);
    free(right);
    free(waiting);
    return node;
}

/* Algorithm 3. */
static double plain_path_length(const plain_node *node, const double *row, int depth)
{
    if (!node->left)
        return depth + plain_average(node->size);
    bool right = isnan(row[node->column]) ? node->right->size > node->left->size
                                          : row[node->column] >= node->value;
    return plain_path_length(right ? node->right : node->left, row, depth + 1);
}

static int plain_nodes(const plain_node *node)
{
    return node->left ? 1 + plain_nodes(node->left) + plain_nodes(node->right) : 1;
}

static void plain_free(plain_node *node)
{
    if (!node)
        return;
    plain_free(node->left);
    plain_free(node->right);
    free(node);
}

/* Algorithm 1, for one tree: a sample without replacement. */
static plain_node *plain_sampled_tree(dice *from, const double *rows, int count, int dimension,
                                      int psi)
{
    const double **chosen = calloc((size_t)count, sizeof *chosen);
    for (int i = 0; i < count; i++)
        chosen[i] = &rows[i * dimension];
    for (int i = count - 1; i > 0; i--) {
        uint32_t other = dice_below(from, (uint32_t)i + 1);
        const double *moved = chosen[i];
        chosen[i] = chosen[other];
        chosen[other] = moved;
    }
    int size = psi < count ? psi : count;
    plain_node *tree = plain_tree(from, chosen, size, dimension, 0, (int)ceil(log2(size)));
    free(chosen);
    return tree;
}

/* ---- Forests in their own block ---- */

static oif_iforest *new_forest(uint32_t num_trees, uint32_t subsample_size, size_t dimension)
{
    oif_iforest head = oif_iforest_lay_out(num_trees, subsample_size, dimension);
    oif_iforest *forest = calloc(1, head.bytes);
    assert_non_null(forest);
    oif_iforest_init(forest, &head);
    return forest;
}

static void grow_all(oif_iforest *forest, const double *rows, uint32_t count, uint64_t seed)
{
    uint32_t *numbers = calloc(count, sizeof *numbers);
    oif_random random = oif_random_stream(seed, 0);
    assert_non_null(numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    for (uint32_t tree = 0; tree < forest->num_trees; tree++)
        oif_iforest_grow(forest, tree, rows, forest->dimension, numbers, count, &random);
    free(numbers);
}

static bool node_is_cut(const oif_iforest *f, uint32_t index, uint32_t depth)
{
    return depth < f->depth_limit && oif_iforest_cuts(f)[index] < INFINITY;
}

/* Walked node by node, as in the paper. */
static double path_length(const oif_iforest *f, uint32_t tree, const double *row)
{
    uint32_t at = oif_iforest_root(f, tree), depth = 0;
    const uint16_t *counts = oif_iforest_counts(f);
    for (; node_is_cut(f, at, depth); depth++) {
        double number = row[oif_iforest_cut_columns(f)[at]];
        bool right =
            isnan(number) ? counts[2 * at + 1] > counts[2 * at] : number >= oif_iforest_cuts(f)[at];
        at = 2 * at + right;
    }
    return depth + plain_average(counts[at]);
}

static uint32_t nodes_below(const oif_iforest *f, uint32_t at, uint32_t depth)
{
    return node_is_cut(f, at, depth)
               ? 1 + nodes_below(f, 2 * at, depth + 1) + nodes_below(f, 2 * at + 1, depth + 1)
               : 1;
}

/* ---- The distribution ---- */

enum { PROBES = 6, LAW_TREES = 3000, MAX_DIMENSION = 5 };

typedef enum row_style { CLOUD, CLUSTERS, STEPS, GAPS } row_style;

/* CLOUD: normal with a few distant rows; STEPS: few values, column 1 constant; GAPS: a cloud with
 * every fifth value missing. */
static double *styled_rows(row_style style, uint32_t count, uint32_t dimension)
{
    double *rows = new_numbers((size_t)count * dimension);
    dice rolled = {(uint64_t)style + 7};
    for (uint32_t i = 0; i < count; i++) {
        double far = dice_chance(&rolled, 0.03) ? 6 : 1, centre = 5.0 * dice_below(&rolled, 3);
        for (uint32_t j = 0; j < dimension; j++) {
            double x = dice_normal(&rolled), *number = &rows[i * dimension + j];
            switch (style) {
            case CLOUD: *number = far * x; break;
            case CLUSTERS: *number = centre + 0.3 * x; break;
            case STEPS: *number = j == 1 ? 3 : dice_below(&rolled, 4); break;
            case GAPS: *number = dice_chance(&rolled, 0.2) ? NAN : far * x; break;
            }
        }
    }
    return rows;
}

static void place_probe(int probe, const double *rows, uint32_t dimension, double *row)
{
    for (uint32_t j = 0; j < dimension; j++)
        switch (probe) {
        case 0: row[j] = rows[j]; break;
        case 1: row[j] = rows[20 * dimension + j]; break;
        case 2: row[j] = 0.1; break;
        case 3: row[j] = 30; break;
        case 4: row[j] = j == 0 ? -30 : rows[5 * dimension + j]; break;
        default: row[j] = j == 0 ? NAN : rows[9 * dimension + j]; break;
        }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The greatest distance between two distribution functions; sorts both samples. Numbers that differ
 * only by rounding are equal. */
static double greatest_distance(double *a, double *b, size_t count)
{
    double greatest = 0;
    for (size_t k = 0; k < count; k++) {
        a[k] = round(a[k] * 0x1p16) * 0x1p-16;
        b[k] = round(b[k] * 0x1p16) * 0x1p-16;
    }
    qsort(a, count, sizeof *a, compare_numbers);
    qsort(b, count, sizeof *b, compare_numbers);
    for (size_t i = 0, j = 0; i < count && j < count;) {
        double x = fmin(a[i], b[j]);
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

/* Path lengths at each probe, then the number of nodes, of LAW_TREES trees. */
typedef struct law {
    double *draws[PROBES + 1];
} law;

static law new_law(void)
{
    law l;
    for (int i = 0; i <= PROBES; i++)
        l.draws[i] = new_numbers(LAW_TREES);
    return l;
}

static void free_law(law *l)
{
    for (int i = 0; i <= PROBES; i++)
        free(l->draws[i]);
}

typedef struct law_case {
    const char *name;
    row_style style;
    uint32_t dimension, count, subsample_size;
} law_case;

static law observe_forest(const law_case *c, const double *rows)
{
    law l = new_law();
    oif_iforest *forest = new_forest(LAW_TREES, c->subsample_size, c->dimension);
    grow_all(forest, rows, c->count, 11);
    for (uint32_t tree = 0; tree < LAW_TREES; tree++) {
        double probe[MAX_DIMENSION];
        for (int i = 0; i < PROBES; i++) {
            place_probe(i, rows, c->dimension, probe);
            l.draws[i][tree] = path_length(forest, tree, probe);
        }
        l.draws[PROBES][tree] = nodes_below(forest, oif_iforest_root(forest, tree), 0);
    }
    require_ok(oif_iforest_check(forest, NULL));
    free(forest);
    return l;
}

static law observe_twin(const law_case *c, const double *rows)
{
    law l = new_law();
    dice rolled = {99};
    for (uint32_t i = 0; i < LAW_TREES; i++) {
        plain_node *tree = plain_sampled_tree(&rolled, rows, (int)c->count, (int)c->dimension,
                                              (int)c->subsample_size);
        double probe[MAX_DIMENSION];
        for (int j = 0; j < PROBES; j++) {
            place_probe(j, rows, c->dimension, probe);
            l.draws[j][i] = plain_path_length(tree, probe, 0);
        }
        l.draws[PROBES][i] = plain_nodes(tree);
        plain_free(tree);
    }
    return l;
}

static void trees_have_the_law_of_the_twin(void **state)
{
    (void)state;
    const law_case cases[] = {
        {"a cloud", CLOUD, 3, 500, 64},
        {"clusters, a subsample that is no power of two", CLUSTERS, 2, 300, 50},
        {"few values and a constant column", STEPS, 3, 200, 64},
        {"missing numbers", GAPS, 4, 300, 64},
        {"fewer rows than the subsample", CLOUD, 5, 40, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double *rows = styled_rows(cases[i].style, cases[i].count, cases[i].dimension);
        law ours = observe_forest(&cases[i], rows), twins = observe_twin(&cases[i], rows);
        for (int j = 0; j <= PROBES; j++) {
            double distance = greatest_distance(ours.draws[j], twins.draws[j], LAW_TREES);
            if (distance > allowed_distance(LAW_TREES))
                fail_msg("%s, %s %d: the distributions are %.4f apart, %.4f allowed; the medians "
                         "are %.3f "
                         "and %.3f",
                         cases[i].name, j < PROBES ? "path lengths at probe" : "nodes", j, distance,
                         allowed_distance(LAW_TREES), ours.draws[j][LAW_TREES / 2],
                         twins.draws[j][LAW_TREES / 2]);
        }
        free_law(&ours);
        free_law(&twins);
        free(rows);
    }
}

static void the_comparison_tells_a_subsample_of_64_from_one_of_56(void **state)
{
    (void)state;
    const law_case one = {"", CLOUD, 3, 500, 64}, other = {"", CLOUD, 3, 500, 56};
    double *rows = styled_rows(CLOUD, 500, 3);
    law a = observe_forest(&one, rows), b = observe_twin(&other, rows);
    expect_within(greatest_distance(a.draws[2], b.draws[2], LAW_TREES), allowed_distance(LAW_TREES),
                  1, "distance");
    free_law(&a);
    free_law(&b);
    free(rows);
}

/* ---- Path lengths and scores ---- */

static void the_average_path_length_has_exact_harmonic_numbers(void **state)
{
    (void)state;
    oif_iforest *forest = new_forest(1, OIF_MAX_SUBSAMPLE_SIZE, 1);
    const double unit = 1.0 / (1 << OIF_PATH_BITS);
    assert_int_equal(oif_iforest_average(forest, 0), 0);
    assert_int_equal(oif_iforest_average(forest, 1), 0);
    assert_int_equal(oif_iforest_average(forest, 2), 1 << OIF_PATH_BITS);
    /* 2 H(255) - 2 255/256, computed with fractions in Python. */
    expect_within(oif_iforest_average(forest, 256) * unit, 10.2486899 - 1e-7, 10.2486899 + 1e-7,
                  "c(256)");
    for (int n = 2; n <= OIF_MAX_SUBSAMPLE_SIZE; n = n * 3 / 2)
        expect_within(oif_iforest_average(forest, (uint32_t)n) * unit, plain_average(n) - unit,
                      plain_average(n) + unit, "c(n)");
    free(forest);
}

static void a_score_is_two_to_minus_the_mean_path_length_over_the_average(void **state)
{
    (void)state;
    const uint32_t trees[] = {1, 7, 8, 9, 32, 35};
    for (size_t i = 0; i < 6; i++) {
        oif_iforest *forest = new_forest(trees[i], 60, 4);
        double *rows = styled_rows(GAPS, 400, 4), *full = styled_rows(CLOUD, 400, 4);
        grow_all(forest, rows, 400, i);
        for (uint32_t row = 0; row < 400; row++)
            for (int complete = 0; complete < 2; complete++) {
                const double *x = &(complete ? full : rows)[row * 4];
                double sum = 0;
                for (uint32_t tree = 0; tree < trees[i]; tree++)
                    sum += path_length(forest, tree, x);
                double expected = exp2(-sum / trees[i] / plain_average(60));
                expect_within(oif_iforest_score(forest, x, complete), expected - 1e-7,
                              expected + 1e-7, "score");
                if (complete) /* the careful walk and the fast one */
                    expect_same_bits(oif_iforest_score(forest, x, false),
                                     oif_iforest_score(forest, x, true), "score", row);
            }
        free(forest);
        free(rows);
        free(full);
    }
}

static void a_forest_without_rows_or_of_equal_rows_scores_one_half(void **state)
{
    (void)state;
    oif_iforest *forest = new_forest(9, 16, 2);
    const double row[] = {1, 2}, other[] = {NAN, -5};
    double equal[40];
    expect_same_bits(oif_iforest_score(forest, row, true), 0.5, "no rows", 0);
    expect_same_bits(oif_iforest_score(forest, other, false), 0.5, "no rows", 1);
    require_ok(oif_iforest_check(forest, NULL));
    for (size_t i = 0; i < 40; i++)
        equal[i] = row[i % 2];
    grow_all(forest, equal, 20, 3);
    expect_same_bits(oif_iforest_score(forest, row, true), 0.5, "equal rows", 0);
    expect_same_bits(oif_iforest_score(forest, other, false), 0.5, "equal rows", 1);
    grow_all(forest, equal, 1, 3);
    expect_same_bits(oif_iforest_score(forest, row, true), 0.5, "one row", 0);
    require_ok(oif_iforest_check(forest, NULL));
    free(forest);
}

/* Each of 200 rows must be in a sample of 50 a quarter of the time: 4000 trees, 1000 +- 27. */
static void every_row_is_sampled_equally_often_and_none_twice(void **state)
{
    (void)state;
    enum { ROWS = 200, SAMPLE = 50, TREES = 4000 };
    oif_iforest *forest = new_forest(1, SAMPLE, 1);
    uint32_t numbers[ROWS], hits[ROWS] = {0};
    double rows[ROWS];
    oif_random random = oif_random_stream(5, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        numbers[i] = i;
        rows[i] = i;
    }
    for (int tree = 0; tree < TREES; tree++) {
        bool seen[ROWS] = {false};
        oif_iforest_grow(forest, 0, rows, 1, numbers, ROWS, &random);
        assert_int_equal(oif_iforest_rows_of(forest, 0), SAMPLE);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_false(seen[numbers[i]]);
            seen[numbers[i]] = true;
        }
        for (uint32_t i = 0; i < SAMPLE; i++)
            hits[numbers[i]]++;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        expect_within(hits[i], 1000 - 5 * 27.4, 1000 + 5 * 27.4, "times that a row was sampled");
    free(forest);
}

/* ---- Any rows ---- */

static double wild_number(dice *from, uint32_t style)
{
    switch (style) {
    case 0: return dice_normal(from);
    case 1: return dice_below(from, 4);
    case 2: return 0.1;
    case 3: return 1.79e308 * (2 * dice_unit(from) - 1);
    case 4: return 1 + 0x1p-52 * dice_below(from, 4);
    case 5: return 5e-324 * dice_below(from, 20);
    case 6: return dice_chance(from, 0.5) ? 0.0 : -0.0;
    case 7: return exp(40 * dice_normal(from));
    default: return NAN;
    }
}

static uint64_t seed_from_environment(void)
{
    const char *text = getenv("OIF_FOREST_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

static void every_invariant_holds_whatever_the_rows_are(void **state)
{
    (void)state;
    enum { ROUNDS = 1500, MAX_ROWS = 120 };
    const uint64_t seed = seed_from_environment();
    dice rolled = {seed};
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t dimension = 1 + dice_below(&rolled, MAX_DIMENSION),
                 trees = 1 + dice_below(&rolled, 10);
        oif_iforest *forest = new_forest(trees, 2 + dice_below(&rolled, 80), dimension);
        double rows[MAX_ROWS * MAX_DIMENSION],
            missing = dice_chance(&rolled, 0.5) ? 0 : 0.5 * dice_unit(&rolled);
        uint32_t styles[MAX_DIMENSION];
        for (uint32_t j = 0; j < dimension; j++)
            styles[j] = dice_below(&rolled, 9);
        for (int training = 0; training < 3; training++) {
            uint32_t count = 1 + dice_below(&rolled, MAX_ROWS);
            for (uint32_t i = 0; i < count * dimension; i++)
                rows[i] = dice_chance(&rolled, missing)
                              ? NAN
                              : wild_number(&rolled, styles[i % dimension]);
            grow_all(forest, rows, count, dice_bits(&rolled));
            oif_error error;
            if (oif_iforest_check(forest, &error) != OIF_OK)
                fail_msg("seed %" PRIu64 ", round %d: %s", seed, round, error.message);
            for (uint32_t i = 0; i < count; i++) {
                double got = oif_iforest_score(forest, &rows[i * dimension], false);
                if (!(got > 0 && got <= 1))
                    fail_msg("seed %" PRIu64 ", round %d: the score is %.17g", seed, round, got);
            }
        }
        free(forest);
    }
}

/* In a tree grown from all rows, it is known which rows reach each node. */
static void
a_node_counts_its_rows_and_is_a_leaf_only_if_they_are_equal_or_the_depth_ends(void **state)
{
    (void)state;
    enum { ROWS = 100, DIMENSION = 3, TREES = 40 };
    const row_style styles[] = {CLOUD, STEPS};
    for (size_t i = 0; i < 2; i++) {
        double *rows = styled_rows(styles[i], ROWS, DIMENSION);
        oif_iforest *forest = new_forest(TREES, ROWS, DIMENSION);
        uint32_t bottom = forest->num_trees << forest->depth_limit,
                 *reached = calloc(2 * bottom, sizeof *reached);
        const double **first = calloc(2 * bottom, sizeof *first);
        bool *differ = calloc(2 * bottom, sizeof *differ);
        grow_all(forest, rows, ROWS, 8);
        for (uint32_t row = 0; row < ROWS * TREES; row++) {
            const double *x = &rows[row / TREES * DIMENSION];
            uint32_t at = oif_iforest_root(forest, row % TREES);
            for (uint32_t depth = 0;; depth++) {
                reached[at]++;
                first[at] = first[at] ? first[at] : x;
                differ[at] |= memcmp(first[at], x, DIMENSION * sizeof *x) != 0;
                if (!node_is_cut(forest, at, depth))
                    break;
                at = 2 * at +
                     (x[oif_iforest_cut_columns(forest)[at]] >= oif_iforest_cuts(forest)[at]);
            }
        }
        for (uint32_t at = TREES; at < 2 * bottom; at++) {
            assert_int_equal(oif_iforest_counts(forest)[at], reached[at]);
            if (at < bottom)
                assert_int_equal(oif_iforest_cuts(forest)[at] < INFINITY, differ[at]);
        }
        free(differ);
        free(first);
        free(reached);
        free(forest);
        free(rows);
    }
}

static void growing_one_tree_leaves_the_others_alone(void **state)
{
    (void)state;
    double *rows = styled_rows(CLOUD, 200, 3);
    oif_iforest *forest = new_forest(6, 64, 3);
    uint32_t numbers[200];
    oif_random random = oif_random_stream(1, 1);
    grow_all(forest, rows, 200, 1);
    for (uint32_t i = 0; i < 200; i++)
        numbers[i] = i;
    for (uint32_t grown = 0; grown < 6; grown++) {
        double before[6], changed = 0;
        for (uint32_t tree = 0; tree < 6; tree++) {
            before[tree] = 0;
            for (uint32_t i = 0; i < 200; i++)
                before[tree] += path_length(forest, tree, &rows[i * 3]);
        }
        oif_iforest_grow(forest, grown, rows, 3, numbers, 200 - grown * 30, &random);
        for (uint32_t tree = 0; tree < 6; tree++) {
            double after = 0;
            for (uint32_t i = 0; i < 200; i++)
                after += path_length(forest, tree, &rows[i * 3]);
            changed += after != before[tree];
            assert_true(tree == grown || after == before[tree]);
        }
        expect_within(changed, 1, 1, "trees that changed");
        require_ok(oif_iforest_check(forest, NULL));
    }
    free(forest);
    free(rows);
}

/* ---- What the check detects ---- */

static uint32_t root_of_tree_1(oif_iforest *f)
{
    return oif_iforest_root(f, 1);
}

static uint32_t leftmost_leaf(oif_iforest *f, uint32_t *depth)
{
    uint32_t at = root_of_tree_1(f);
    for (*depth = 0; node_is_cut(f, at, *depth); ++*depth)
        at *= 2;
    return at;
}

static void count_a_row_too_few(oif_iforest *f)
{
    oif_iforest_counts(f)[root_of_tree_1(f)]--;
}

static void empty_a_side(oif_iforest *f)
{
    oif_iforest_counts(f)[2 * root_of_tree_1(f)] = 0;
}

static void grow_from_too_many_rows(oif_iforest *f)
{
    oif_iforest_counts(f)[root_of_tree_1(f)] = (uint16_t)(f->subsample_size + 1);
}

static void grow_from_too_few_rows(oif_iforest *f)
{
    oif_iforest_counts(f)[root_of_tree_1(f)] = 1;
}

static void lengthen_a_path(oif_iforest *f)
{
    uint32_t depth, at = leftmost_leaf(f, &depth);
    oif_iforest_path_lengths(
        f)[(at << (f->depth_limit - depth)) - (f->num_trees << f->depth_limit)]++;
}

static void hide_a_cut_below_a_leaf(oif_iforest *f)
{
    uint32_t depth, at = leftmost_leaf(f, &depth);
    if (depth + 1 >= f->depth_limit)
        fail_msg("the leftmost leaf is too deep: choose another seed");
    oif_iforest_cuts(f)[2 * at] = 0;
}

static void cut_a_column_that_does_not_exist(oif_iforest *f)
{
    oif_iforest_cut_columns(f)[root_of_tree_1(f)] = f->dimension;
}

static void cut_at_minus_infinity(oif_iforest *f)
{
    oif_iforest_cuts(f)[root_of_tree_1(f)] = -INFINITY;
}

static void move_a_cut_beyond_the_one_above(oif_iforest *f)
{
    uint32_t root = root_of_tree_1(f), left = 2 * root, right = 2 * root + 1;
    bool to_left = oif_iforest_counts(f)[left] > oif_iforest_counts(f)[right];
    oif_iforest_cut_columns(f)[to_left ? left : right] = oif_iforest_cut_columns(f)[root];
    oif_iforest_cuts(f)[to_left ? left : right] = oif_iforest_cuts(f)[root] + (to_left ? 1 : -1);
}

static void change_the_normal_length(oif_iforest *f)
{
    f->normal_length--;
}

static void lose_a_column(oif_iforest *f)
{
    uint32_t *order = oif_block_part(f, f->order_at);
    order[0] = order[1];
}

static const struct {
    const char *name;
    void (*inflict)(oif_iforest *f);
    const char *words;
} wounds[] = {
#define WOUND(function, words)                                                                     \
    {                                                                                              \
#function, function, words                                                                 \
    }
    WOUND(count_a_row_too_few, "tree 1: a count is not the sum of those below it"),
    WOUND(empty_a_side, "tree 1: a side of a cut has no rows"),
    WOUND(grow_from_too_many_rows, "tree 1: it was grown from too many rows"),
    WOUND(grow_from_too_few_rows, "tree 1: a cut is deeper than the rows of the tree allow"),
    WOUND(lengthen_a_path,
          "tree 1: a leaf's path length is not its depth and the average of its rows"),
    WOUND(hide_a_cut_below_a_leaf, "tree 1: a cut lies below a leaf"),
    WOUND(cut_a_column_that_does_not_exist, "tree 1: a cut's column does not exist"),
    WOUND(cut_at_minus_infinity, "tree 1: a cut's value is not a number"),
    WOUND(move_a_cut_beyond_the_one_above, "tree 1: a cut lies beyond a cut above it"),
    WOUND(change_the_normal_length, "the normal length is not the sum of the trees' averages"),
    WOUND(lose_a_column, "a column cannot be drawn, or twice"),
#undef WOUND
};

static void the_check_names_each_thing_that_is_broken(void **state)
{
    (void)state;
    double *rows = styled_rows(CLOUD, 200, 2);
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        oif_iforest *forest = new_forest(3, 100, 2);
        oif_error error = {.status = OIF_OK};
        grow_all(forest, rows, 200, 2);
        require_ok_or(oif_iforest_check(forest, &error), error);
        wounds[i].inflict(forest);
        oif_status status = oif_iforest_check(forest, &error);
        if (status != OIF_EINVARIANT || strcmp(error.message, wounds[i].words) != 0)
            fail_msg("%s: status %d, \"%s\", expected %d, \"%s\"", wounds[i].name, status,
                     status ? error.message : "", OIF_EINVARIANT, wounds[i].words);
        assert_int_equal(oif_iforest_check(forest, NULL), OIF_EINVARIANT);
        free(forest);
    }
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_have_the_law_of_the_twin),
        cmocka_unit_test(the_comparison_tells_a_subsample_of_64_from_one_of_56),
        cmocka_unit_test(the_average_path_length_has_exact_harmonic_numbers),
        cmocka_unit_test(a_score_is_two_to_minus_the_mean_path_length_over_the_average),
        cmocka_unit_test(a_forest_without_rows_or_of_equal_rows_scores_one_half),
        cmocka_unit_test(every_row_is_sampled_equally_often_and_none_twice),
        cmocka_unit_test(every_invariant_holds_whatever_the_rows_are),
        cmocka_unit_test(
            a_node_counts_its_rows_and_is_a_leaf_only_if_they_are_equal_or_the_depth_ends),
        cmocka_unit_test(growing_one_tree_leaves_the_others_alone),
        cmocka_unit_test(the_check_names_each_thing_that_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
