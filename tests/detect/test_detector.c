/* The promises of oif.h for every detector, shown on online-iforest.
 *
 * Allocations are counted by wrapping the C library's functions. With a sanitizer, which has its
 * own, only aligned_alloc is wrapped: the one function that base/memory.c calls. */
#include "../base/sanitized.h"
#include "driver.h"

/* ---- Counting allocations ---- */

static uint64_t allocations, frees;
static bool allocations_fail;

#if defined(__GLIBC__) && !SANITIZED
#define COUNTS_EVERYTHING 1
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    allocations++;
    return __libc_realloc(memory, bytes);
}

void free(void *memory)
{
    frees += memory != NULL;
    __libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    allocations++;
    return allocations_fail ? NULL : __libc_memalign(alignment, bytes);
}
#else
#define COUNTS_EVERYTHING 0
int posix_memalign(void **memory, size_t alignment, size_t bytes);

void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = NULL;
    allocations++;
    return allocations_fail || posix_memalign(&memory, alignment, bytes) != 0 ? NULL : memory;
}
#endif

/* ---- Streams ---- */

enum { DIMENSION = 3, ROWS = 1000 };

/* Normal rows with ties, some missing values and, later, a jump. */
static double *mixed_rows(uint64_t seed, size_t count, double missing)
{
    double *rows = normal_rows(seed, count, DIMENSION);
    dice rolled = {seed + 1000};
    for (size_t i = 0; i < count * DIMENSION; i++) {
        if (i > count * DIMENSION / 2)
            rows[i] += 10;
        if (i % DIMENSION == 1)
            rows[i] = floor(rows[i] * 2);
        if (dice_chance(&rolled, missing))
            rows[i] = NAN;
    }
    return rows;
}

static setup setup_number(int number)
{
    setup s = small_setup();
    s.variant = (oif_variant)(number % 3);
    s.growth = (oif_growth)(number / 3 % 2);
    s.subsample = number / 6 % 2 ? 0.5 : 1;
    s.seed = (uint64_t)number;
    return s;
}

enum { SETUPS = 12 };

/* ---- Blocks and single rows ---- */

static void check_blocks_against_single_rows(const setup *s, const double *rows, size_t block,
                                             size_t stride)
{
    oif_detector *single = new_detector(s, DIMENSION), *blocks = new_detector(s, DIMENSION);
    double *spread = new_numbers(ROWS * stride), *scores = new_numbers(ROWS),
           *again = new_numbers(ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(&spread[i * stride], &rows[i * DIMENSION], DIMENSION * sizeof *rows);
        for (size_t j = DIMENSION; j < stride; j++)
            spread[i * stride + j] = INFINITY; /* not part of the row: must not be read */
    }
    for (size_t first = 0; first < ROWS; first += block) {
        size_t count = ROWS - first < block ? ROWS - first : block;
        const double *from = &spread[first * stride];
        oif_error error;
        require_ok_or(
            oif_detector_learn_score_rows(blocks, from, count, stride, &scores[first], &error),
            error);
        for (size_t i = first; i < first + count; i++)
            expect_same_bits(scores[i], learn_score(single, &rows[i * DIMENSION]),
                             "learn_score_rows", i);
        require_ok(oif_detector_score_rows(blocks, from, count, stride, again, NULL));
        for (size_t i = 0; i < count; i++)
            expect_same_bits(again[i], score(single, &rows[(first + i) * DIMENSION]), "score_rows",
                             first + i);
    }
    expect_same_detector(blocks, single, setup_text(s));

    oif_detector *learned = new_detector(s, DIMENSION);
    for (size_t first = 0; first < ROWS; first += block)
        require_ok(oif_detector_learn_rows(learned, &spread[first * stride],
                                           ROWS - first < block ? ROWS - first : block, stride,
                                           NULL));
    expect_same_detector(learned, single, "learn_rows");
    oif_detector_free(single);
    oif_detector_free(blocks);
    oif_detector_free(learned);
    free(spread);
    free(scores);
    free(again);
}

static void a_block_gives_the_bits_of_its_rows_one_by_one(void **state)
{
    (void)state;
    const size_t blocks[] = {1, 7, 100, 1000};
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        double *rows = mixed_rows((uint64_t)number, ROWS, number % 2 ? 0.05 : 0);
        for (size_t i = 0; i < 4; i++)
            check_blocks_against_single_rows(&s, rows, blocks[i],
                                             i % 2 ? DIMENSION + 4 : DIMENSION);
        free(rows);
    }
}

static void a_block_longer_than_the_window_gives_the_bits_of_its_rows_one_by_one(void **state)
{
    (void)state;
    const size_t blocks[] = {30, 63, 257, 1000};
    double *rows = mixed_rows(21, ROWS, 0.02);
    for (uint32_t window_size = 1; window_size <= 140; window_size += window_size < 12 ? 1 : 9)
        for (size_t i = 0; i < 4; i++) {
            setup s = {
                .num_trees = 3, .window_size = window_size, .max_leaf_samples = 2, .subsample = 1};
            s.variant = (oif_variant)(window_size % 3);
            check_blocks_against_single_rows(&s, rows, blocks[i], DIMENSION);
        }
    free(rows);
}

static void a_block_of_no_rows_changes_nothing(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, DIMENSION), *before = clone_of(detector);
    require_ok(oif_detector_learn_rows(detector, NULL, 0, DIMENSION, NULL));
    require_ok(oif_detector_score_rows(detector, NULL, 0, DIMENSION, NULL, NULL));
    require_ok(oif_detector_learn_score_rows(detector, NULL, 0, DIMENSION, NULL, NULL));
    expect_same_detector(detector, before, "after empty blocks");
    oif_detector_free(detector);
    oif_detector_free(before);
}

static void learning_then_scoring_is_learn_score(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        double *rows = mixed_rows((uint64_t)number, ROWS, number % 2 ? 0.05 : 0);
        oif_detector *one = new_detector(&s, DIMENSION), *two = new_detector(&s, DIMENSION);
        for (size_t i = 0; i < ROWS; i++) {
            double both = learn_score(one, &rows[i * DIMENSION]);
            learn(two, &rows[i * DIMENSION]);
            expect_same_bits(score(two, &rows[i * DIMENSION]), both, setup_text(&s), i);
        }
        expect_same_detector(one, two, setup_text(&s));
        oif_detector_free(one);
        oif_detector_free(two);
        free(rows);
    }
}

static void the_same_seed_and_rows_give_the_same_bits_and_another_seed_others(void **state)
{
    (void)state;
    setup s = small_setup();
    double *rows = mixed_rows(1, ROWS, 0.05);
    oif_detector *one = new_detector(&s, DIMENSION), *two = new_detector(&s, DIMENSION);
    s.seed++;
    oif_detector *other = new_detector(&s, DIMENSION);
    size_t different = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double expected = learn_score(one, &rows[i * DIMENSION]);
        expect_same_bits(learn_score(two, &rows[i * DIMENSION]), expected, "the same seed", i);
        different += learn_score(other, &rows[i * DIMENSION]) != expected;
    }
    expect_within((double)different, 900, ROWS, "scores that another seed changes");
    oif_detector_free(one);
    oif_detector_free(two);
    oif_detector_free(other);
    free(rows);
}

static void another_seed_gives_other_scores_whatever_the_detector(void **state)
{
    (void)state;
    const oif_detector_info *info;
    double *rows = mixed_rows(1, ROWS, 0);
    for (size_t kind = 0; (info = oif_detector_info_at(kind)) != NULL; kind++) {
        oif_params params;
        oif_detector *one = NULL, *other = NULL;
        size_t different = 0;
        require_ok(oif_params_init(&params, info->table.name, NULL));
        require_ok(oif_detector_new(&params, DIMENSION, &one, NULL));
        set_param(&params, "seed", 1);
        require_ok(oif_detector_new(&params, DIMENSION, &other, NULL));
        for (size_t i = 0; i < ROWS; i++)
            different +=
                learn_score(one, &rows[i * DIMENSION]) != learn_score(other, &rows[i * DIMENSION]);
        expect_within((double)different, 800, ROWS, info->table.name);
        oif_detector_free(one);
        oif_detector_free(other);
    }
    free(rows);
}

/* ---- Scoring changes nothing, clones are independent ---- */

static void scoring_changes_no_byte(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        double *rows = mixed_rows(7, ROWS, 0.05), scores[50];
        oif_detector *detector = new_detector(&s, DIMENSION);
        for (size_t i = 0; i < ROWS; i += 50) {
            require_ok(
                oif_detector_learn_rows(detector, &rows[i * DIMENSION], 50, DIMENSION, NULL));
            oif_detector *before = clone_of(detector);
            double first = score(detector, rows);
            require_ok(oif_detector_score_rows(detector, &rows[i * DIMENSION], 50, DIMENSION,
                                               scores, NULL));
            expect_same_bits(score(detector, rows), first, "the same row scored again", i);
            expect_same_detector(detector, before, "after scoring");
            oif_detector_free(before);
        }
        oif_detector_free(detector);
        free(rows);
    }
}

static void a_clone_goes_on_like_its_original_and_on_its_own(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        double *rows = mixed_rows(3, ROWS, 0.05);
        oif_detector *original = new_detector(&s, DIMENSION);
        require_ok(oif_detector_learn_rows(original, rows, 300, DIMENSION, NULL));
        oif_detector *copy = clone_of(original), *elsewhere = clone_of(original);
        expect_same_detector(copy, original, "a fresh clone");
        for (size_t i = 300; i < ROWS; i++) {
            double away[DIMENSION] = {1e6 + (double)i, -5, NAN};
            learn(elsewhere, away); /* must not affect the others */
            double expected = learn_score(original, &rows[i * DIMENSION]);
            expect_same_bits(learn_score(copy, &rows[i * DIMENSION]), expected, "clone", i);
        }
        expect_same_detector(copy, original, "a clone that learned the same");
        assert_true(memcmp(elsewhere, original, oif_detector_memory_bytes(original)) != 0);
        oif_detector_free(original); /* the clone does not need its original */
        for (size_t i = 0; i < 300; i++)
            learn(copy, &rows[i * DIMENSION]);
        require_ok(oif_detector_check(copy, NULL));
        oif_detector_free(copy);
        oif_detector_free(elsewhere);
        free(rows);
    }
}

/* ---- Infinities ---- */

typedef oif_status (*call_with_rows)(oif_detector *detector, const double *rows, size_t count,
                                     size_t stride, double *scores, oif_error *error);

static oif_status call_learn(oif_detector *detector, const double *rows, size_t count,
                             size_t stride, double *scores, oif_error *error)
{
    (void)scores;
    return oif_detector_learn_rows(detector, rows, count, stride, error);
}

static oif_status call_score(oif_detector *detector, const double *rows, size_t count,
                             size_t stride, double *scores, oif_error *error)
{
    return oif_detector_score_rows(detector, rows, count, stride, scores, error);
}

static const call_with_rows calls[] = {call_learn, call_score, oif_detector_learn_score_rows};

static void an_infinity_in_a_block_is_refused_with_its_place_and_nothing_changes(void **state)
{
    (void)state;
    enum { BLOCK = 10, STRIDE = DIMENSION + 2 };
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, DIMENSION);
    double *rows = mixed_rows(5, ROWS, 0.05), block[BLOCK * STRIDE], scores[BLOCK];
    require_ok(oif_detector_learn_rows(detector, rows, 500, DIMENSION, NULL));
    oif_detector *before = clone_of(detector);
    for (size_t bad_row = 0; bad_row < BLOCK; bad_row++)
        for (size_t bad_column = 0; bad_column < DIMENSION; bad_column++)
            for (size_t call = 0; call < 3; call++) {
                for (size_t i = 0; i < BLOCK * STRIDE; i++)
                    block[i] = i % 7 == 3 ? NAN : (double)i;
                block[bad_row * STRIDE + bad_column] = call % 2 ? -INFINITY : INFINITY;
                for (size_t i = 0; i < BLOCK; i++)
                    scores[i] = -7;
                oif_error error = {.status = OIF_OK};
                assert_int_equal(calls[call](detector, block, BLOCK, STRIDE, scores, &error),
                                 OIF_EVALUE);
                assert_int_equal(error.status, OIF_EVALUE);
                assert_int_equal(error.line, bad_row + 1);
                assert_int_equal(error.column, bad_column + 1);
                expect_message(error, "infinite");
                assert_int_equal(calls[call](detector, block, BLOCK, STRIDE, scores, NULL),
                                 OIF_EVALUE);
                for (size_t i = 0; i < BLOCK; i++)
                    expect_same_bits(scores[i], -7, "a score that was not to be written", i);
                expect_same_detector(detector, before, "after an infinity");
            }
    for (size_t i = 500; i < ROWS; i++) {
        double expected = learn_score(before, &rows[i * DIMENSION]);
        expect_same_bits(learn_score(detector, &rows[i * DIMENSION]), expected, "after refusals",
                         i);
    }
    oif_detector_free(detector);
    oif_detector_free(before);
    free(rows);
}

static void of_two_infinities_the_first_is_named(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, 2);
    const double rows[] = {1, 2, 3, INFINITY, -INFINITY, 4};
    oif_error error;
    assert_int_equal(oif_detector_learn_rows(detector, rows, 3, 2, &error), OIF_EVALUE);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
    oif_detector_free(detector);
}

static void an_infinity_in_a_single_row_is_refused_with_its_column(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, DIMENSION), *before = clone_of(detector);
    const double row[] = {1, NAN, -INFINITY};
    double result = -7;
    oif_error error = {.status = OIF_OK};
    assert_int_equal(oif_detector_learn(detector, row, &error), OIF_EVALUE);
    assert_int_equal(error.column, 3);
    error.column = 0;
    assert_int_equal(oif_detector_score(detector, row, &result, &error), OIF_EVALUE);
    assert_int_equal(error.column, 3);
    error.column = 0;
    assert_int_equal(oif_detector_learn_score(detector, row, &result, &error), OIF_EVALUE);
    assert_int_equal(error.column, 3);
    assert_int_equal(oif_detector_learn(detector, row, NULL), OIF_EVALUE);
    assert_int_equal(oif_detector_score(detector, row, &result, NULL), OIF_EVALUE);
    assert_int_equal(oif_detector_learn_score(detector, row, &result, NULL), OIF_EVALUE);
    expect_same_bits(result, -7, "a score that was not to be written", 0);
    expect_same_detector(detector, before, "after an infinity");
    oif_detector_free(detector);
    oif_detector_free(before);
}

static void the_largest_numbers_and_missing_ones_are_accepted(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, 4);
    const double numbers[] = {
        1.7976931348623157e308, -1.7976931348623157e308, NAN, -NAN, 0.0, -0.0, 5e-324, -5e-324};
    for (size_t i = 0; i < 600; i++) {
        double row[4];
        for (size_t j = 0; j < 4; j++)
            row[j] = numbers[(i / (j + 1) + j) % 8];
        expect_within(learn_score(detector, row), 0, 1, "score");
    }
    require_ok(oif_detector_check(detector, NULL));
    oif_detector_free(detector);
}

static void a_call_that_succeeds_leaves_the_error_alone(void **state)
{
    (void)state;
    oif_error error, before;
    memset(&error, 0x77, sizeof error);
    before = error;
    setup s = small_setup();
    oif_params params = params_of(&s);
    oif_detector *detector = NULL, *copy = NULL;
    double row[2] = {1, NAN}, result;
    size_t bytes;
    require_ok(oif_detector_estimate_bytes(&params, 2, &bytes, &error));
    require_ok(oif_detector_new(&params, 2, &detector, &error));
    require_ok(oif_detector_learn(detector, row, &error));
    require_ok(oif_detector_score(detector, row, &result, &error));
    require_ok(oif_detector_learn_score(detector, row, &result, &error));
    require_ok(oif_detector_learn_score_rows(detector, row, 1, 2, &result, &error));
    require_ok(oif_detector_clone(detector, &copy, &error));
    require_ok(oif_detector_check(copy, &error));
    assert_memory_equal(&error, &before, sizeof error);
    oif_detector_free(detector);
    oif_detector_free(copy);
}

/* ---- Memory ---- */

static void the_estimate_is_what_the_detector_takes(void **state)
{
    (void)state;
    const size_t dimensions[] = {1, 2, 3, 5, 64, 1000};
    for (int number = 0; number < SETUPS; number++)
        for (size_t i = 0; i < 6; i++) {
            setup s = setup_number(number);
            s.num_trees = 1 + (uint32_t)number;
            oif_params params = params_of(&s);
            size_t bytes = 0;
            oif_error error;
            require_ok_or(oif_detector_estimate_bytes(&params, dimensions[i], &bytes, &error),
                          error);
            oif_detector *detector = new_detector(&s, dimensions[i]);
            assert_int_equal(oif_detector_memory_bytes(detector), bytes);
            /* it holds the window */
            assert_true(bytes > s.window_size * dimensions[i] * sizeof(double));
            oif_detector_free(detector);
        }
}

static void the_estimate_grows_with_the_dimension_up_to_the_longest_row(void **state)
{
    (void)state;
    setup s = {.num_trees = 1, .window_size = 1, .max_leaf_samples = 1, .subsample = 1};
    oif_params params = params_of(&s);
    size_t before = 0, bytes = 0;
    const size_t longest = UINT32_MAX / 2;
    for (size_t dimension = longest - 9; dimension <= longest; dimension++) {
        oif_status status = oif_detector_estimate_bytes(&params, dimension, &bytes, NULL);
        if (status != OIF_OK)
            break; /* a lower limit is fine */
        if (bytes <= before || bytes < 4 * dimension * sizeof(double))
            fail_msg("a row of %zu numbers takes %zu bytes, one of %zu took %zu", dimension, bytes,
                     dimension - 1, before);
        before = bytes;
    }
}

static void a_detector_is_one_allocation(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_params params = params_of(&s);
    oif_detector *detector = NULL, *copy = NULL;
    uint64_t before = allocations;
    require_ok(oif_detector_new(&params, 4, &detector, NULL));
    assert_int_equal(allocations - before, 1);
    require_ok(oif_detector_clone(detector, &copy, NULL));
    assert_int_equal(allocations - before, 2);
    uint64_t freed = frees;
    oif_detector_free(detector);
    oif_detector_free(copy);
    if (COUNTS_EVERYTHING)
        assert_int_equal(frees - freed, 2);
}

static void no_row_allocates(void **state)
{
    (void)state;
    if (!COUNTS_EVERYTHING)
        print_message("only aligned_alloc is counted here: the sanitizer has its own malloc\n");
    enum { CALLS = 100000 };
    double *rows = mixed_rows(9, ROWS, 0.02), scores[20] = {0}, sum = 0;
    for (int number = 0; number < 6; number++) {
        setup s = setup_number(number);
        s.num_trees = 9;
        oif_detector *detector = new_detector(&s, DIMENSION);
        uint64_t before = allocations + frees;
        oif_status status = OIF_OK;
        for (size_t i = 0; i < CALLS / 6 && status == OIF_OK; i++) {
            const double *row = &rows[i % ROWS * DIMENSION];
            switch (i % 4) {
            case 0: status = oif_detector_learn(detector, row, NULL); break;
            case 1: status = oif_detector_score(detector, row, scores, NULL); break;
            case 2: status = oif_detector_learn_score(detector, row, scores, NULL); break;
            case 3:
                if (i % 20 == 3)
                    status =
                        oif_detector_learn_score_rows(detector, rows, 20, DIMENSION, scores, NULL);
                break;
            }
            sum += scores[0];
        }
        uint64_t made = allocations + frees - before;
        require_ok(status);
        assert_int_equal(made, 0);
        oif_detector_free(detector);
    }
    assert_true(sum != 0);
    free(rows);
}

static void without_memory_creation_and_cloning_fail_cleanly(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_params params = params_of(&s);
    oif_detector *detector = NULL, *existing = new_detector(&s, 2);
    oif_error error = {.status = OIF_OK};
    allocations_fail = true;
    oif_status made = oif_detector_new(&params, 2, &detector, &error);
    oif_status made_quietly = oif_detector_new(&params, 2, &detector, NULL);
    oif_error clone_error = {.status = OIF_OK};
    oif_status cloned = oif_detector_clone(existing, &detector, &clone_error);
    allocations_fail = false;
    assert_int_equal(made, OIF_EMEMORY);
    assert_int_equal(made_quietly, OIF_EMEMORY);
    assert_int_equal(cloned, OIF_EMEMORY);
    assert_null(detector);
    assert_int_equal(error.status, OIF_EMEMORY);
    assert_int_equal(clone_error.status, OIF_EMEMORY);
    expect_message(error, "memory");
    learn(existing, (double[]){1, 2});
    oif_detector_free(existing);
}

static void a_detector_that_no_machine_can_hold_is_refused(void **state)
{
    (void)state;
    /* Every size here is above 2^57 bytes, which no malloc grants, or overflows on the way. */
    const size_t dimensions[] = {UINT32_MAX / 2, UINT32_MAX,   (size_t)1 << 40,
                                 SIZE_MAX / 16,  SIZE_MAX / 8, SIZE_MAX};
    for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++) {
        setup s = small_setup();
        s.num_trees = 4096;
        s.window_size = 1 << 24;
        s.max_leaf_samples = 1 << 20;
        oif_params params = params_of(&s);
        oif_detector *detector = NULL;
        oif_error error = {.status = OIF_OK};
        oif_status status = oif_detector_new(&params, dimensions[i], &detector, &error);
        if (status != OIF_EPARAM && status != OIF_EMEMORY)
            fail_msg("a row of %zu numbers gives status %d", dimensions[i], status);
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != '\0');
        assert_null(detector);
        assert_int_equal(oif_detector_new(&params, dimensions[i], &detector, NULL), status);
    }
}

static void a_row_of_no_numbers_is_refused(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_params params = params_of(&s);
    oif_detector *detector = NULL;
    oif_error error;
    size_t bytes = 7;
    assert_int_equal(oif_detector_new(&params, 0, &detector, &error), OIF_EPARAM);
    expect_message(error, "at least one");
    assert_null(detector);
    assert_int_equal(oif_detector_estimate_bytes(&params, 0, &bytes, &error), OIF_EPARAM);
    assert_int_equal(bytes, 7);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    oif_detector_free(NULL);
}

/* ---- Questions ---- */

static void a_detector_knows_what_it_is(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_params params = params_of(&s);
    oif_detector *detector = new_detector(&s, 17);
    assert_int_equal(oif_detector_columns(detector), 17);
    assert_memory_equal(oif_detector_params(detector), &params, sizeof params);
    assert_string_equal(oif_detector_params(detector)->table->name, "online-iforest");
    oif_detector_free(detector);
}

static void only_rows_that_were_learned_are_counted(void **state)
{
    (void)state;
    setup s = small_setup();
    oif_detector *detector = new_detector(&s, DIMENSION);
    double *rows = mixed_rows(2, ROWS, 0), scores[ROWS];
    assert_int_equal(oif_detector_rows_learned(detector), 0);
    learn(detector, rows);
    score(detector, rows);
    learn_score(detector, rows);
    assert_int_equal(oif_detector_rows_learned(detector), 2);
    require_ok(oif_detector_learn_rows(detector, rows, 500, DIMENSION, NULL));
    require_ok(oif_detector_score_rows(detector, rows, 500, DIMENSION, scores, NULL));
    require_ok(oif_detector_learn_score_rows(detector, rows, 400, DIMENSION, scores, NULL));
    assert_int_equal(oif_detector_rows_learned(detector), 902);
    rows[4] = INFINITY;
    assert_int_equal(oif_detector_learn_rows(detector, rows, 500, DIMENSION, NULL), OIF_EVALUE);
    assert_int_equal(oif_detector_rows_learned(detector), 902);
    oif_detector *copy = clone_of(detector);
    assert_int_equal(oif_detector_rows_learned(copy), 902);
    oif_detector_free(detector);
    oif_detector_free(copy);
    free(rows);
}

static bool becomes_ready(const setup *s, size_t rows_given)
{
    oif_detector *detector = new_detector(s, 1);
    dice rolled = {4};
    bool is_ready = oif_detector_ready(detector);
    assert_false(is_ready);
    for (size_t i = 0; i < rows_given; i++) {
        learn(detector, &(double){dice_unit(&rolled)});
        assert_true(!is_ready || oif_detector_ready(detector)); /* once ready, always ready */
        is_ready = oif_detector_ready(detector);
    }
    oif_detector_free(detector);
    return is_ready;
}

static void a_detector_becomes_ready_and_stays_so(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        assert_false(becomes_ready(&s, 8));
        assert_true(becomes_ready(&s, 200));
        assert_true(becomes_ready(&s, 1000));
    }
}

static void a_window_that_allows_no_cut_never_gets_ready(void **state)
{
    (void)state;
    for (int number = 0; number < SETUPS; number++) {
        setup s = setup_number(number);
        s.window_size = 20;
        s.max_leaf_samples = 20;
        assert_false(becomes_ready(&s, 500));
        s.max_leaf_samples = 400;
        assert_false(becomes_ready(&s, 500));
    }
}

/* A subsample so thin that no tree ever counts enough rows to be cut, so all scores are equal. */
static void a_subsample_too_thin_to_cut_never_gets_ready(void **state)
{
    (void)state;
    setup s = small_setup();
    s.max_leaf_samples = 32;
    s.subsample = 0.001;
    assert_false(becomes_ready(&s, 500));
}

/* The slow twin is isinf of each number. */
static void one_infinity_among_any_numbers_is_found(void **unused)
{
    (void)unused;
    static const double numbers[] = {0,       -0.0,     1,   -1,       5e-324,
                                     DBL_MAX, -DBL_MAX, NAN, INFINITY, -INFINITY};
    enum { NUMBERS = sizeof numbers / sizeof *numbers, MOST = 9 };
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        dice from = (dice){seed};
        const size_t count = dice_bits(&from) % (MOST + 1), kinds = NUMBERS - 2 * (seed % 2);
        double drawn[MOST] = {0};
        bool is_infinite = false;
        for (size_t i = 0; i < count; i++) {
            drawn[i] = numbers[dice_bits(&from) % kinds];
            is_infinite |= isinf(drawn[i]) != 0;
        }
        if (oif_none_infinite(drawn, count) == is_infinite)
            fail_msg("seed %llu: %d infinite, and it is said to be otherwise",
                     (unsigned long long)seed, is_infinite);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_infinity_among_any_numbers_is_found),
        cmocka_unit_test(a_block_gives_the_bits_of_its_rows_one_by_one),
        cmocka_unit_test(a_block_longer_than_the_window_gives_the_bits_of_its_rows_one_by_one),
        cmocka_unit_test(a_block_of_no_rows_changes_nothing),
        cmocka_unit_test(learning_then_scoring_is_learn_score),
        cmocka_unit_test(the_same_seed_and_rows_give_the_same_bits_and_another_seed_others),
        cmocka_unit_test(another_seed_gives_other_scores_whatever_the_detector),
        cmocka_unit_test(scoring_changes_no_byte),
        cmocka_unit_test(a_clone_goes_on_like_its_original_and_on_its_own),
        cmocka_unit_test(an_infinity_in_a_block_is_refused_with_its_place_and_nothing_changes),
        cmocka_unit_test(of_two_infinities_the_first_is_named),
        cmocka_unit_test(an_infinity_in_a_single_row_is_refused_with_its_column),
        cmocka_unit_test(the_largest_numbers_and_missing_ones_are_accepted),
        cmocka_unit_test(a_call_that_succeeds_leaves_the_error_alone),
        cmocka_unit_test(the_estimate_is_what_the_detector_takes),
        cmocka_unit_test(the_estimate_grows_with_the_dimension_up_to_the_longest_row),
        cmocka_unit_test(a_detector_is_one_allocation),
        cmocka_unit_test(no_row_allocates),
        cmocka_unit_test(without_memory_creation_and_cloning_fail_cleanly),
        cmocka_unit_test(a_detector_that_no_machine_can_hold_is_refused),
        cmocka_unit_test(a_row_of_no_numbers_is_refused),
        cmocka_unit_test(freeing_nothing_is_fine),
        cmocka_unit_test(a_detector_knows_what_it_is),
        cmocka_unit_test(only_rows_that_were_learned_are_counted),
        cmocka_unit_test(a_detector_becomes_ready_and_stays_so),
        cmocka_unit_test(a_window_that_allows_no_cut_never_gets_ready),
        cmocka_unit_test(a_subsample_too_thin_to_cut_never_gets_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
