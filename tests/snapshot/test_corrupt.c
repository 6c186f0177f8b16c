/* Loading validates everything. A truncated or changed snapshot is refused. If its checksums were
 * adjusted to the damage, it is refused as well, or it makes a detector that every call can work
 * with, and that stays consistent.
 *
 * OIF_CORRUPT_TRIALS: damaged snapshots per detector; `tools/test/long.sh corrupt` sets 50,000.
 * OIF_CORRUPT_KIND: only detectors of this kind. */
#include "../base/sanitized.h"
#include "snapshots.h"

#include "detect/detector.h"
#include "snapshot/sections.h"

enum {
    MAX_FIELDS = 1 << 12,
    ROWS_LIVED = 120 /* by a detector from a damaged snapshot */
};

static uint32_t trials_wanted(uint32_t usually)
{
    const char *text = getenv("OIF_CORRUPT_TRIALS");
    return text ? (uint32_t)atoi(text) : usually;
}

static bool is_wanted(size_t index)
{
    const char *kind = getenv("OIF_CORRUPT_KIND");
    return !kind || strcmp(kind, small_detectors[index].name) == 0;
}

/* A small detector that has learned that many rows of up to two columns. */
static oif_detector *new_narrow(size_t index, uint64_t seed, uint32_t rows)
{
    stream s = new_stream((dice){seed});
    s.dimension = s.dimension < 2 ? s.dimension : 2;
    return new_small(index, &s, rows);
}

static snapshot copy_snapshot(snapshot s)
{
    snapshot copy = {malloc(s.count), s.count};
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, s.bytes, s.count);
    return copy;
}

/* ---- Damage that checksums reveal ---- */

/* The bytes are in memory of exactly their length, so a sanitizer sees reads past them. */
static void require_damage_found(snapshot s, const char *what, size_t at)
{
    snapshot exact = copy_snapshot(s);
    oif_detector *untouched = (oif_detector *)&s;
    oif_error error = {.status = OIF_OK};
    oif_status status = oif_detector_load_memory(exact.bytes, exact.count, &untouched, &error);
    bool refused = status == OIF_ETRUNCATED || status == OIF_ECORRUPT || status == OIF_EKIND ||
                   status == OIF_EVERSION;
    if (!refused || untouched != (oif_detector *)&s || error.status != status)
        fail_msg("%s %zu of %zu: the status is \"%s\", the message \"%s\"", what, at, s.count,
                 oif_status_text(status), error.message);
    free(exact.bytes);
}

static void every_truncation_is_refused(void **unused)
{
    (void)unused;
    size_t tried = 0;
    for (size_t index = 0; index < SMALL_DETECTORS; index++) {
        oif_detector *detector = new_narrow(index, 1, 100);
        snapshot s = take_snapshot(detector);
        for (size_t count = 0; count < s.count; count++, tried++)
            require_damage_found((snapshot){s.bytes, count}, "cut off at byte", count);
        free(s.bytes);
        oif_detector_free(detector);
    }
    print_message("%zu truncations refused\n", tried);
}

static void every_changed_byte_is_refused(void **unused)
{
    (void)unused;
    static const unsigned char changes[] = {0x01, 0x80, 0xFF};
    size_t tried = 0;
    for (size_t index = 0; index < SMALL_DETECTORS; index++) {
        oif_detector *detector = new_narrow(index, 2, 100);
        snapshot s = take_snapshot(detector);
        for (size_t at = 0; at < s.count; at++)
            for (size_t i = 0; i < sizeof changes; i++, tried++) {
                s.bytes[at] ^= changes[i];
                require_damage_found(s, "changed byte", at);
                s.bytes[at] ^= changes[i];
            }
        free(s.bytes);
        oif_detector_free(detector);
    }
    print_message("%zu changed bytes refused\n", tried);
}

/* ---- Damage that checksums hide ---- */

/* The positions of the fields in the state, so damage can look like a valid value. */
typedef struct field_list {
    oif_state_visitor visitor;
    size_t bytes, count;
    struct {
        const char *name;
        size_t at, width, values;
    } of[MAX_FIELDS];
} field_list;

static void list_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    (void)values;
    field_list *list = (field_list *)self;
    size_t width = oif_field_type_bytes(type);
    if (count == 0)
        return;
    assert_in_range(list->count, 0, MAX_FIELDS - 1);
    list->of[list->count].name = name;
    list->of[list->count].at = list->bytes;
    list->of[list->count].width = width;
    list->of[list->count++].values = count;
    list->bytes += width * count;
}

static field_list *list_fields(oif_detector *detector)
{
    field_list *list = calloc(1, sizeof *list);
    assert_non_null(list);
    list->visitor.visit = list_field;
    oif_detector_visit_fields(detector, &list->visitor);
    return list;
}

/* The state ends the snapshot, except for its checksum and the last section. */
static size_t state_start(snapshot s, const field_list *list)
{
    return s.count - OIF_SECTION_BYTES - (OIF_SECTION_BYTES - PAYLOAD_AT) - list->bytes -
           PAYLOAD_AT;
}

static uint64_t draw_value(dice *from, uint64_t old)
{
    static const uint64_t unusual[] = {
        0, 1, UINT64_MAX, INT32_MAX, (uint64_t)INT32_MAX + 1,
        UINT64_C(0x7FF0000000000000),                               /* infinity */
        UINT64_C(0xFFF0000000000000), UINT64_C(0x7FF8000000000000), /* NaN */
        /* the largest double, the lowest ... */
        UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0xFFEFFFFFFFFFFFFF),
        /* ... and the smallest above 0 */
        UINT64_C(0x0000000000000001), UINT64_C(0x3FF0000000000000)}; /* 1.0 */
    switch (dice_below(from, 6)) {
    case 0: return old + 1;
    case 1: return old - 1;
    case 2: return old ^ UINT64_C(1) << dice_below(from, 64);
    case 3: return dice_below(from, 64);
    case 4: return dice_bits(from);
    default: return unusual[dice_below(from, sizeof unusual / sizeof unusual[0])];
    }
}

/* Changes one value of the state to an unusual one or to another value of the same field. Returns
 * the field's name. */
static const char *damage_value(unsigned char *state, const field_list *list, dice *from)
{
    size_t chosen = dice_below(from, (uint32_t)list->count), width = list->of[chosen].width;
    unsigned char *first = state + list->of[chosen].at;
    unsigned char *at = first + width * dice_below(from, (uint32_t)list->of[chosen].values);
    if (dice_chance(from, 0.2))
        memmove(at, first + width * dice_below(from, (uint32_t)list->of[chosen].values), width);
    else
        oif_bytes_store(at, draw_value(from, oif_bytes_load(at, width)), width);
    return list->of[chosen].name;
}

static void ignore_figure(void *context, const char *name, double value)
{
    (void)context, (void)name, (void)value;
}

static void require_whole(const oif_detector *detector, const char *damaged, uint64_t seed)
{
    oif_error error;
    if (oif_detector_check(detector, &error) != OIF_OK)
        fail_msg("damaged '%s' with seed %" PRIu64 ", accepted, and later: %s", damaged, seed,
                 error.message);
}

/* Uses a detector in every way. Its copy must do the same. */
static void live_on(oif_detector *detector, const char *damaged, uint64_t seed)
{
    stream s = new_stream((dice){seed});
    s.dimension = (uint32_t)oif_detector_columns(detector);
    double rows[ROWS_LIVED * STREAM_DIMENSION], scores[ROWS_LIVED], of_copy[ROWS_LIVED];
    oif_detector *copy = clone_of(detector);
    for (size_t i = 0; i < ROWS_LIVED; i++)
        next_row(&s, &rows[i * s.dimension]);
    rows[dice_below(&s.dice, ROWS_LIVED * s.dimension)] = NAN;
    oif_detector_describe(detector, ignore_figure, NULL);
    (void)oif_detector_ready(detector);
    for (size_t i = 0; i < ROWS_LIVED; i++)
        scores[i] = i % 8 ? learn_score(detector, &rows[i * s.dimension])
                          : score(detector, &rows[i * s.dimension]);
    for (size_t i = 0; i < ROWS_LIVED; i++)
        of_copy[i] =
            i % 8 ? learn_score(copy, &rows[i * s.dimension]) : score(copy, &rows[i * s.dimension]);
    for (size_t i = 0; i < ROWS_LIVED; i++) {
        expect_same_bits(of_copy[i], scores[i], damaged, i);
        if (isnan(scores[i]))
            fail_msg("damaged '%s' with seed %" PRIu64 ": score %zu is NaN", damaged, seed, i);
    }
    require_ok(oif_detector_learn_rows(detector, rows, ROWS_LIVED, s.dimension, NULL));
    require_whole(detector, damaged, seed);
    oif_detector_describe(detector, ignore_figure, NULL);

    snapshot later = take_snapshot(detector);
    oif_detector *loaded = load_snapshot(later);
    expect_same_bits(score(loaded, rows), score(detector, rows), damaged, 0);
    free(later.bytes);
    oif_detector_free(loaded);
    oif_detector_free(copy);
}

/* Whether a snapshot with hidden damage was refused; if not, it was used. */
static bool was_refused(snapshot s, const char *damaged, uint64_t seed)
{
    oif_detector *loaded = NULL;
    oif_error error;
    oif_status status = oif_detector_load_memory(s.bytes, s.count, &loaded, &error);
    if (status != OIF_OK && status != OIF_ECORRUPT)
        fail_msg("damaged '%s' with seed %" PRIu64 ": %s", damaged, seed, error.message);
    if (status == OIF_ECORRUPT) {
        assert_null(loaded);
        return true;
    }
    require_whole(loaded, damaged, seed);
    live_on(loaded, damaged, seed);
    oif_detector_free(loaded);
    return false;
}

static void damage_values(size_t index, uint64_t seed, uint32_t trials, uint32_t *refused)
{
    dice from = {seed};
    oif_detector *detector = new_narrow(index, dice_bits(&from), dice_below(&from, 200));
    field_list *list = list_fields(detector);
    snapshot whole = take_snapshot(detector), s = copy_snapshot(whole);
    size_t start = state_start(s, list);
    for (uint32_t trial = 0; trial < trials; trial++) {
        const char *damaged = NULL;
        uint64_t trial_seed = from.state;
        memcpy(s.bytes, whole.bytes, whole.count);
        for (uint32_t left = 1 + dice_below(&from, 3) / 2 * dice_below(&from, 6); left > 0; left--)
            damaged = damage_value(s.bytes + start + PAYLOAD_AT, list, &from);
        repair(s, start);
        *refused += was_refused(s, damaged, trial_seed);
    }
    free(s.bytes);
    free(whole.bytes);
    free(list);
    oif_detector_free(detector);
}

static void a_damaged_value_is_found_or_does_no_harm(void **unused)
{
    (void)unused;
    enum { AT_A_TIME = 50 };
    uint32_t trials = trials_wanted(600);
    for (size_t index = 0; index < SMALL_DETECTORS; index++) {
        uint32_t refused = 0, tried = 0;
        if (!is_wanted(index))
            continue;
        for (uint64_t seed = 1; tried < trials; seed++, tried += AT_A_TIME)
            damage_values(index, seed * SMALL_DETECTORS + index, AT_A_TIME, &refused);
        print_message("%s %s: of %u damaged states %u were refused\n", small_detectors[index].name,
                      small_detectors[index].settings, tried, refused);
    }
}

/* Every byte of the state, set to other values. */
static void a_damaged_byte_is_found_or_does_no_harm(void **unused)
{
    (void)unused;
    static const unsigned char changes[] = {0x01, 0x80, 0xFF, 0x10, 0x02, 0x7F};
    const bool is_long = getenv("OIF_CORRUPT_TRIALS");
    const uint32_t each = is_long ? sizeof changes : 1;
    const size_t step = is_long ? 1 : STEP_IF_SANITIZED(5);
    for (size_t index = 0; index < SMALL_DETECTORS; index++) {
        if (!is_wanted(index))
            continue;
        oif_detector *detector = new_narrow(index, index, 130);
        field_list *list = list_fields(detector);
        snapshot s = take_snapshot(detector);
        size_t start = state_start(s, list), refused = 0;
        for (size_t at = 0; at < list->bytes; at += step)
            for (uint32_t i = 0; i < each; i++) {
                unsigned char change = changes[(at + i) % sizeof changes];
                s.bytes[start + PAYLOAD_AT + at] ^= change;
                repair(s, start);
                refused += was_refused(s, "a byte", at);
                s.bytes[start + PAYLOAD_AT + at] ^= change;
            }
        print_message("%s %s: of %zu damaged bytes %zu were refused\n", small_detectors[index].name,
                      small_detectors[index].settings, (list->bytes + step - 1) / step * each,
                      refused);
        free(s.bytes);
        free(list);
        oif_detector_free(detector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(a_damaged_value_is_found_or_does_no_harm),
        cmocka_unit_test(a_damaged_byte_is_found_or_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
