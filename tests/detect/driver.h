/* Shared by the detector tests: forests in one line, a separate random generator, and failures that
 * print both values. */
#ifndef TESTS_DETECT_DRIVER_H
#define TESTS_DETECT_DRIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/online_iforest/window_tree.h"
#include "oif.h"

/* ---- Dice: not the library's generator, so its faults cannot hide here ---- */

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t dice_bits(dice *from)
{
    uint64_t x = from->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

static inline double dice_unit(dice *from)
{
    return (double)(dice_bits(from) >> 11) * 0x1p-53;
}

static inline uint32_t dice_below(dice *from, uint32_t count)
{
    return (uint32_t)((dice_bits(from) >> 32) * count >> 32);
}

static inline bool dice_chance(dice *from, double probability)
{
    return dice_unit(from) < probability;
}

static inline double dice_normal(dice *from)
{
    double radius = sqrt(-2 * log(1 - dice_unit(from)));
    return radius * cos(6.283185307179586 * dice_unit(from));
}

/* ---- Forests ---- */

typedef struct setup {
    uint32_t num_trees, window_size, max_leaf_samples;
    oif_growth growth;
    oif_variant variant;
    double subsample;
    uint64_t seed;
} setup;

static inline setup small_setup(void)
{
    return (setup){
        .num_trees = 11, .window_size = 200, .max_leaf_samples = 8, .subsample = 1, .seed = 1};
}

static const char *const variant_names[] = {"running", "paper", "reference"};
static const char *const growth_names[] = {"adaptive", "fixed"};

static inline const char *setup_text(const setup *s)
{
    static char text[200];
    snprintf(text, sizeof text,
             "%s %s num_trees=%u window_size=%u max_leaf_samples=%u subsample=%g seed=%" PRIu64,
             variant_names[s->variant], growth_names[s->growth], s->num_trees, s->window_size,
             s->max_leaf_samples, s->subsample, s->seed);
    return text;
}

#define require_ok(call) require_ok_at(call, NULL, #call, __FILE__, __LINE__)
#define require_ok_or(call, error) require_ok_at(call, &(error), #call, __FILE__, __LINE__)

static inline void require_ok_at(oif_status status, const oif_error *error, const char *call,
                                 const char *file, int line)
{
    if (status == OIF_OK)
        return;
    print_error("%s is \"%s\", not ok%s%s\n", call, oif_status_text(status), error ? ": " : "",
                error ? error->message : "");
    _fail(file, line);
}

static inline void set_param(oif_params *params, const char *name, double value)
{
    oif_error error;
    require_ok_or(oif_params_set(params, name, value, &error), error);
}

static inline oif_params params_of(const setup *s)
{
    oif_params params;
    require_ok(oif_params_init(&params, "online-iforest", NULL));
    set_param(&params, "num_trees", s->num_trees);
    set_param(&params, "window_size", s->window_size);
    set_param(&params, "max_leaf_samples", s->max_leaf_samples);
    set_param(&params, "growth", s->growth);
    set_param(&params, "variant", s->variant);
    set_param(&params, "subsample", s->subsample);
    set_param(&params, "seed", (double)s->seed);
    set_param(&params, "insertion", 0); /* these tests are only about the trees */
    return params;
}

static inline oif_detector *new_detector(const setup *s, size_t dimension)
{
    oif_params params = params_of(s);
    oif_detector *detector = NULL;
    oif_error error;
    require_ok_or(oif_detector_new(&params, dimension, &detector, &error), error);
    return detector;
}

static inline oif_detector *clone_of(const oif_detector *detector)
{
    oif_detector *copy = NULL;
    require_ok(oif_detector_clone(detector, &copy, NULL));
    return copy;
}

static inline void learn(oif_detector *detector, const double *row)
{
    require_ok(oif_detector_learn(detector, row, NULL));
}

static inline double score(const oif_detector *detector, const double *row)
{
    double result = -1;
    require_ok(oif_detector_score(detector, row, &result, NULL));
    return result;
}

static inline double learn_score(oif_detector *detector, const double *row)
{
    double result = -1;
    require_ok(oif_detector_learn_score(detector, row, &result, NULL));
    return result;
}

static inline double *new_numbers(size_t count)
{
    double *numbers = calloc(count ? count : 1, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

static inline double *normal_rows(uint64_t seed, size_t count, size_t dimension)
{
    double *rows = new_numbers(count * dimension);
    dice rolled = {seed};
    for (size_t i = 0; i < count * dimension; i++)
        rows[i] = dice_normal(&rolled);
    return rows;
}

/* ---- Looking inside ---- */

static inline const oif_window_state *forest_of(const oif_detector *detector)
{
    return oif_detector_state(detector);
}

/* The leaf of a row, found by walking node by node. */
static inline oif_window_node leaf_spot(const oif_window_state *f, uint32_t tree, const double *row)
{
    oif_window_node at = oif_window_root(f, tree);
    while (oif_window_is_cut(f, at)) {
        double number = row[oif_window_cut_columns(f)[at.index]];
        bool right = number >= oif_window_cut_value(f, at);
        if (isnan(number))
            right = oif_window_height(f, oif_window_right(at)) >
                    oif_window_height(f, oif_window_left(at));
        at = right ? oif_window_right(at) : oif_window_left(at);
    }
    return at;
}

/* c(n, eta) with the C library's logarithm. */
static inline double normal_depth(const oif_window_state *f, double rows)
{
    if (rows < f->max_leaf_samples)
        return 0;
    return log2(rows / f->max_leaf_samples) / (f->variant == OIF_REFERENCE ? 2 : 1);
}

/* Algorithm 4. */
static inline double depth_in_tree(const oif_window_state *f, uint32_t tree, const double *row)
{
    oif_window_node at = leaf_spot(f, tree, row);
    return at.depth + normal_depth(f, oif_window_height(f, at));
}

static inline uint32_t leaves_below(const oif_window_state *f, oif_window_node at)
{
    return oif_window_is_cut(f, at)
               ? leaves_below(f, oif_window_left(at)) + leaves_below(f, oif_window_right(at))
               : 1;
}

/* ---- Failures that print both values ---- */

#define expect_same_bits(actual, expected, what, place)                                            \
    expect_same_bits_at(actual, expected, what, (size_t)(place), __FILE__, __LINE__)
#define expect_within(actual, least, greatest, what)                                               \
    expect_within_at(actual, least, greatest, what, __FILE__, __LINE__)
#define expect_message(error, words) expect_message_at(&(error), words, __FILE__, __LINE__)

static inline void expect_same_bits_at(double actual, double expected, const char *what,
                                       size_t place, const char *file, int line)
{
    if (memcmp(&actual, &expected, sizeof actual) == 0)
        return;
    print_error("%s, row %zu: %.17g (%a), expected %.17g (%a)\n", what, place, actual, actual,
                expected, expected);
    _fail(file, line);
}

static inline void expect_within_at(double actual, double least, double greatest, const char *what,
                                    const char *file, int line)
{
    if (actual >= least && actual <= greatest)
        return;
    print_error("%s: %.17g, expected from %.17g to %.17g\n", what, actual, least, greatest);
    _fail(file, line);
}

static inline void expect_message_at(const oif_error *error, const char *words, const char *file,
                                     int line)
{
    if (strstr(error->message, words))
        return;
    print_error("the message is \"%s\", expected to contain \"%s\"\n", error->message, words);
    _fail(file, line);
}

/* A detector is one block of bytes: equal detectors have equal bytes. */
#define expect_same_detector(actual, expected, what)                                               \
    expect_same_detector_at(actual, expected, what, __FILE__, __LINE__)

static inline void expect_same_detector_at(const oif_detector *actual, const oif_detector *expected,
                                           const char *what, const char *file, int line)
{
    const unsigned char *a = (const unsigned char *)actual, *b = (const unsigned char *)expected;
    size_t bytes = oif_detector_memory_bytes(expected), at = 0;
    if (oif_detector_memory_bytes(actual) == bytes && memcmp(a, b, bytes) == 0)
        return;
    while (at < bytes && a[at] == b[at])
        at++;
    print_error("%s: byte %zu of %zu is %d, expected %d\n", what, at, bytes,
                at < bytes ? a[at] : -1, at < bytes ? b[at] : -1);
    _fail(file, line);
}

#endif
