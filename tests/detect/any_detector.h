/* Tests for every detector: the promises of oif.h, and random operations on streams of every kind,
 * with the detector's own check after each. A detector is named as on the command line: "hst",
 * "window_size=50 max_depth=7". */
#ifndef TESTS_DETECT_ANY_DETECTOR_H
#define TESTS_DETECT_ANY_DETECTOR_H

#include "driver.h"

/* Sets parameters as on the command line: "window_size=50 max_depth=7". */
static inline void set_params(oif_params *params, const char *settings)
{
    oif_error error;
    char copy[300];
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        require_ok_or(oif_params_set_text(params, word, value, &error), error);
    }
}

static inline oif_params params_named(const char *name, const char *settings)
{
    oif_params params;
    oif_error error;
    require_ok_or(oif_params_init(&params, name, &error), error);
    set_params(&params, settings);
    return params;
}

static inline oif_detector *new_named(const char *name, const char *settings, size_t dimension)
{
    oif_params params = params_named(name, settings);
    oif_detector *detector = NULL;
    oif_error error;
    require_ok_or(oif_detector_new(&params, dimension, &detector, &error), error);
    return detector;
}

/* ---- Streams of every kind ---- */

typedef enum style {
    NORMAL,
    FEW_VALUES,
    CONSTANT,
    HUGE_NUMBERS,
    FEW_ULPS,
    FAR_OFFSET,
    SORTED,
    JUMPS,
    ALWAYS_MISSING,
    SUBNORMAL,
    HEAVY_TAILS,
    STYLES
} style;

static inline double number_in_style(dice *from, style of, uint64_t row)
{
    switch (of) {
    case NORMAL: return dice_normal(from);
    case FEW_VALUES: return dice_below(from, 4);
    case CONSTANT: return 0.1;
    case HUGE_NUMBERS: return 1.79e308 * (2 * dice_unit(from) - 1);
    case FEW_ULPS: return 1 + 0x1p-52 * dice_below(from, 4);
    case FAR_OFFSET: return 1e15 + dice_unit(from);
    case SORTED: return (double)row;
    case JUMPS: return dice_normal(from) + (double)(row / 60 % 3) * 1000;
    case ALWAYS_MISSING: return NAN;
    case SUBNORMAL: return 5e-324 * dice_below(from, 20);
    case HEAVY_TAILS: return exp(40 * dice_normal(from));
    case STYLES: break;
    }
    return 0;
}

enum { STREAM_DIMENSION = 5 };

typedef struct stream {
    dice dice;
    uint32_t dimension;
    style styles[STREAM_DIMENSION];
    double missing, all_missing;
    uint64_t row;
} stream;

static inline stream new_stream(dice from)
{
    static const uint32_t dimensions[] = {1, 2, 5};
    stream s = {.dice = from};
    s.dimension = dimensions[dice_below(&s.dice, 3)];
    s.missing = dice_chance(&s.dice, 0.5) ? 0 : 0.3 * dice_unit(&s.dice);
    s.all_missing = dice_chance(&s.dice, 0.8) ? 0 : 0.5 * dice_unit(&s.dice);
    for (uint32_t i = 0; i < s.dimension; i++)
        s.styles[i] = (style)dice_below(&s.dice, STYLES);
    return s;
}

static inline void next_row(stream *s, double *row)
{
    bool nothing = dice_chance(&s->dice, s->all_missing);
    for (uint32_t i = 0; i < s->dimension; i++) {
        row[i] = number_in_style(&s->dice, s->styles[i], s->row);
        if (nothing || dice_chance(&s->dice, s->missing))
            row[i] = NAN;
    }
    s->row++;
}

/* ---- Random operations ---- */

enum { MAX_BLOCK = 12 };

static inline oif_status operate_at_random(oif_detector **detector, stream *s,
                                           double scores[MAX_BLOCK])
{
    double rows[MAX_BLOCK * STREAM_DIMENSION];
    size_t count = 1 + dice_below(&s->dice, MAX_BLOCK), d = s->dimension;
    uint32_t chosen = dice_below(&s->dice, 20);
    if (chosen < 12 || chosen == 14)
        count = 1;
    for (size_t i = 0; i < count; i++)
        next_row(s, &rows[i * d]);
    if (chosen < 5)
        return oif_detector_learn(*detector, rows, NULL);
    if (chosen < 12)
        return oif_detector_learn_score(*detector, rows, scores, NULL);
    if (chosen < 14)
        return oif_detector_score_rows(*detector, rows, count, d, scores, NULL);
    if (chosen == 14) {
        oif_detector *copy = clone_of(*detector);
        oif_detector_free(*detector);
        *detector = copy;
        return OIF_OK;
    }
    if (chosen == 15) {
        rows[dice_below(&s->dice, (uint32_t)(count * d))] = INFINITY;
        return oif_detector_learn_rows(*detector, rows, count, d, NULL) == OIF_EVALUE ? OIF_OK
                                                                                      : OIF_EVALUE;
    }
    if (chosen == 16)
        return oif_detector_learn_rows(*detector, rows, count, d, NULL);
    return oif_detector_learn_score_rows(*detector, rows, count, d, scores, NULL);
}

static inline uint64_t seed_from_environment(void)
{
    const char *text = getenv("OIF_FOREST_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* Many rounds of operations, each with its own stream and settings from `draw_settings`. Every
 * score must be between `least` and `greatest`. */
static inline void require_invariants(const char *name,
                                      void (*draw_settings)(dice *from, char settings[200]),
                                      int rounds, int operations, double least, double greatest)
{
    uint64_t seed = seed_from_environment();
    dice rolled = {seed};
    for (int round = 0; round < rounds; round++) {
        char settings[200];
        draw_settings(&rolled, settings);
        stream s = new_stream((dice){dice_bits(&rolled)});
        oif_detector *detector = new_named(name, settings, s.dimension);
        for (int operation = 0; operation < operations; operation++) {
            oif_error error = {.status = OIF_OK};
            double scores[MAX_BLOCK];
            for (int i = 0; i < MAX_BLOCK; i++)
                scores[i] = least;
            oif_status status = operate_at_random(&detector, &s, scores);
            for (int i = 0; i < MAX_BLOCK; i++)
                if (!(scores[i] >= least && scores[i] <= greatest))
                    fail_msg("seed %" PRIu64 ", round %d, operation %d, %s: the score is %.17g",
                             seed, round, operation, settings, scores[i]);
            if (status != OIF_OK || oif_detector_check(detector, &error) != OIF_OK)
                fail_msg("seed %" PRIu64 ", round %d, operation %d, %s, d = %u: %s", seed, round,
                         operation, settings, s.dimension,
                         status ? oif_status_text(status) : error.message);
        }
        oif_detector_free(detector);
    }
    print_message("seed %" PRIu64 ": %d operations\n", seed, rounds * operations);
}

/* ---- What the check detects ---- */

static inline oif_detector *whole_clone_of(const oif_detector *sound)
{
    oif_detector *copy = clone_of(sound);
    oif_error error;
    require_ok_or(oif_detector_check(copy, &error), error);
    return copy;
}

/* Something in the detector was broken: the check must report these words. Frees it. */
static inline void require_broken(oif_detector *broken, const char *wound, const char *words)
{
    oif_error error = {.message = ""};
    oif_status status = oif_detector_check(broken, &error);
    if (status != OIF_EINVARIANT || !strstr(error.message, words))
        fail_msg("%s: status %d, \"%s\", expected %d, \"%s\"", wound, status, error.message,
                 OIF_EINVARIANT, words);
    assert_int_equal(oif_detector_check(broken, NULL), OIF_EINVARIANT);
    oif_detector_free(broken);
}

/* ---- The promises ---- */

enum { PROMISE_ROWS = 900, PROMISE_DIMENSION = 3 };

static inline double *promise_rows(uint64_t seed, double missing)
{
    double *rows = normal_rows(seed, PROMISE_ROWS, PROMISE_DIMENSION);
    dice rolled = {seed + 1000};
    for (size_t i = 0; i < PROMISE_ROWS * PROMISE_DIMENSION; i++) {
        if (i > PROMISE_ROWS * PROMISE_DIMENSION / 2)
            rows[i] += 10;
        if (i % PROMISE_DIMENSION == 1)
            rows[i] = floor(rows[i] * 2);
        if (dice_chance(&rolled, missing))
            rows[i] = NAN;
    }
    return rows;
}

/* Blocks of any size and stride, and learning apart from scoring, give the same bits as single
 * rows. */
static inline void require_blocks_equal_rows(const char *name, const char *settings,
                                             const double *rows, size_t block)
{
    enum { D = PROMISE_DIMENSION, STRIDE = D + 2 };
    oif_detector *single = new_named(name, settings, D), *blocks = new_named(name, settings, D);
    oif_detector *apart = new_named(name, settings, D);
    double *spread = new_numbers(PROMISE_ROWS * STRIDE), *scores = new_numbers(PROMISE_ROWS);
    for (size_t i = 0; i < PROMISE_ROWS * STRIDE; i++)
        /* not part of the row */
        spread[i] = i % STRIDE < D ? rows[i / STRIDE * D + i % STRIDE] : INFINITY;
    for (size_t first = 0; first < PROMISE_ROWS; first += block) {
        size_t count = PROMISE_ROWS - first < block ? PROMISE_ROWS - first : block;
        require_ok(oif_detector_learn_score_rows(blocks, &spread[first * STRIDE], count, STRIDE,
                                                 &scores[first], NULL));
    }
    for (size_t i = 0; i < PROMISE_ROWS; i++) {
        double expected = learn_score(single, &rows[i * D]);
        expect_same_bits(scores[i], expected, settings, i);
        learn(apart, &rows[i * D]);
        expect_same_bits(score(apart, &rows[i * D]), expected, settings, i);
    }
    expect_same_detector(blocks, single, settings);
    expect_same_detector(apart, single, settings);
    require_ok(oif_detector_score_rows(blocks, spread, PROMISE_ROWS, STRIDE, scores, NULL));
    for (size_t i = 0; i < PROMISE_ROWS; i++)
        expect_same_bits(score(single, &rows[i * D]), scores[i], "score_rows", i);
    expect_same_detector(blocks, single, "after scoring");
    oif_detector_free(single);
    oif_detector_free(blocks);
    oif_detector_free(apart);
    free(spread);
    free(scores);
}

static inline void require_clones_to_go_on(const char *name, const char *settings,
                                           const double *rows)
{
    enum { D = PROMISE_DIMENSION };
    oif_detector *original = new_named(name, settings, D);
    for (size_t at = 0; at < PROMISE_ROWS; at += 61) {
        oif_detector *copy = clone_of(original), *elsewhere = clone_of(original);
        size_t end = at + 61 < PROMISE_ROWS ? at + 61 : PROMISE_ROWS;
        for (size_t i = at; i < end; i++) {
            learn(elsewhere, (double[]){1e6 + (double)i, -5, NAN}); /* must not affect the others */
            double expected = learn_score(original, &rows[i * D]);
            expect_same_bits(learn_score(copy, &rows[i * D]), expected, settings, i);
        }
        expect_same_detector(copy, original, settings);
        oif_detector_free(copy);
        oif_detector_free(elsewhere);
    }
    oif_detector_free(original);
}

static inline void require_estimate(const char *name, const char *settings)
{
    const size_t dimensions[] = {1, 2, 5, 64, 1000};
    for (size_t i = 0; i < 5; i++) {
        oif_params params = params_named(name, settings);
        size_t bytes = 0;
        require_ok(oif_detector_estimate_bytes(&params, dimensions[i], &bytes, NULL));
        oif_detector *detector = new_named(name, settings, dimensions[i]);
        assert_int_equal(oif_detector_memory_bytes(detector), bytes);
        oif_detector_free(detector);
    }
}

static inline void require_promises(const char *name, const char *settings)
{
    const size_t blocks[] = {1, 7, 100, PROMISE_ROWS};
    for (int round = 0; round < 4; round++) {
        double *rows = promise_rows((uint64_t)round, round % 2 ? 0.05 : 0);
        require_blocks_equal_rows(name, settings, rows, blocks[round]);
        require_clones_to_go_on(name, settings, rows);
        free(rows);
    }
    require_estimate(name, settings);
}

#endif
