/* A loaded detector equals the saved one: the same bytes when saved again, the same scores forever.
 * And a load that fails says why. */
#include "../base/sanitized.h"
#include "snapshots.h"

#include "snapshot/sections.h"

/* Both give the same scores while they continue with the same rows, at random. */
static void require_same_future(oif_detector *a, oif_detector *b, stream s, uint32_t rows)
{
    double row[STREAM_DIMENSION], score_a, score_b;
    for (uint32_t i = 0; i < rows; i++) {
        next_row(&s, row);
        bool learns = dice_chance(&s.dice, 0.9);
        require_ok(learns ? oif_detector_learn_score(a, row, &score_a, NULL)
                          : oif_detector_score(a, row, &score_a, NULL));
        require_ok(learns ? oif_detector_learn_score(b, row, &score_b, NULL)
                          : oif_detector_score(b, row, &score_b, NULL));
        assert_memory_equal(&score_a, &score_b, sizeof score_a);
    }
    assert_int_equal(oif_detector_rows_learned(a), oif_detector_rows_learned(b));
    assert_int_equal(oif_detector_ready(a), oif_detector_ready(b));
}

/* OIF_SNAPSHOT_PAIRS: how many; `tools/test/long.sh snapshots` sets 5,000. */
static void a_loaded_detector_continues_as_the_saved_one(void **unused)
{
    (void)unused;
    const char *wanted = getenv("OIF_SNAPSHOT_PAIRS");
    uint32_t pairs = wanted ? (uint32_t)atoi(wanted) : 200, rows = SANITIZED ? 2000 : 10000;
    for (uint32_t pair = 0; pair < pairs; pair++) {
        stream s = new_stream((dice){pair});
        oif_detector *saved = new_small(pair % SMALL_DETECTORS, &s, dice_below(&s.dice, 300));
        snapshot first = take_snapshot(saved);
        oif_detector *loaded = load_snapshot(first), *copy = NULL;
        snapshot second = take_snapshot(loaded);
        require_same_bytes(first, second);
        require_ok(oif_detector_clone(loaded, &copy, NULL));
        snapshot third = take_snapshot(copy);
        require_same_bytes(first, third);

        require_same_future(saved, loaded, s, rows);
        snapshot saved_later = take_snapshot(saved), loaded_later = take_snapshot(loaded);
        require_same_bytes(saved_later, loaded_later);
        snapshot all[] = {first, second, third, saved_later, loaded_later};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            free(all[i].bytes);
        oif_detector_free(saved);
        oif_detector_free(loaded);
        oif_detector_free(copy);
    }
}

/* With default parameters, and wider rows than the others. */
static void every_kind_is_saved_and_loaded_at_its_usual_size(void **unused)
{
    (void)unused;
    for (size_t kind = 0; oif_detector_info_at(kind); kind++) {
        oif_detector *saved = new_named(oif_detector_info_at(kind)->table.name, "", 40);
        double row[40];
        dice from = {kind};
        for (uint32_t i = 0; i < 3000; i++) {
            for (uint32_t j = 0; j < 40; j++)
                row[j] = dice_normal(&from);
            require_ok(oif_detector_learn(saved, row, NULL));
        }
        snapshot first = take_snapshot(saved);
        oif_detector *loaded = load_snapshot(first);
        snapshot second = take_snapshot(loaded);
        require_same_bytes(first, second);
        free(first.bytes);
        free(second.bytes);
        oif_detector_free(saved);
        oif_detector_free(loaded);
    }
}

/* One record of a tree of wide rows is longer than the buffers of reader and writer. */
static void wide_rows_are_saved_and_loaded(void **unused)
{
    (void)unused;
    static const uint32_t widths[] = {510, 511, 1200};
    static double row[1200];
    dice from = {7};
    for (size_t kind = 0; oif_detector_info_at(kind); kind++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            oif_detector *saved = new_named(oif_detector_info_at(kind)->table.name, "", widths[w]);
            for (uint32_t i = 0; i < 40; i++) {
                for (uint32_t j = 0; j < widths[w]; j++)
                    row[j] = dice_normal(&from);
                require_ok(oif_detector_learn(saved, row, NULL));
            }
            snapshot first = take_snapshot(saved);
            oif_detector *loaded = load_snapshot(first), *cut_off = NULL;
            snapshot second = take_snapshot(loaded);
            require_same_bytes(first, second);
            for (size_t bytes = 1; bytes < first.count; bytes += first.count / 7)
                assert_int_not_equal(oif_detector_load_memory(first.bytes, bytes, &cut_off, NULL),
                                     OIF_OK);
            free(first.bytes);
            free(second.bytes);
            oif_detector_free(saved);
            oif_detector_free(loaded);
        }
}

/* ---- Loads that fail ---- */

static snapshot some_snapshot(void)
{
    stream s = new_stream((dice){1});
    oif_detector *detector = new_small(0, &s, 100);
    snapshot made = take_snapshot(detector);
    oif_detector_free(detector);
    return made;
}

/* Those that take the most memory besides the content of their snapshot: it must not seem too small
 * for them. */
static void detectors_with_large_work_areas_are_saved_and_loaded(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *settings;
    } roomy[] = {{"rolling-iforest", "num_trees=1 max_depth=1 sample_size=8192 window_size=16384"},
                 {"rolling-iforest", "num_trees=32 max_depth=3 sample_size=8192 window_size=16384"},
                 {"rrcf", "num_trees=4096 tree_size=2 window_size=1"},
                 {"loda", "num_projections=1 num_bins=1 window_size=284246"}};
    for (size_t i = 0; i < sizeof roomy / sizeof roomy[0]; i++) {
        oif_detector *saved = new_named(roomy[i].name, roomy[i].settings, 1);
        snapshot s = take_snapshot(saved);
        oif_detector_free(load_snapshot(s));
        oif_detector_free(saved);
        free(s.bytes);
    }
}

static void require_refused(snapshot s, oif_status status, const char *words)
{
    oif_detector *untouched = (oif_detector *)&s;
    oif_error error = {0};
    assert_int_equal(oif_detector_load_memory(s.bytes, s.count, &untouched, &error), status);
    assert_ptr_equal(untouched, (oif_detector *)&s);
    assert_int_equal(error.status, status);
    if (!strstr(error.message, words))
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    free(s.bytes);
}

static void every_refusal_has_its_own_message(void **unused)
{
    (void)unused;
    snapshot s = some_snapshot();
    s.bytes[1] = 'X';
    require_refused(s, OIF_EKIND, "byte 8: this is not a snapshot of oif");

    s = some_snapshot();
    s.bytes[8] = 8;
    require_refused(s, OIF_ECORRUPT, "the checksum of the header is wrong");

    s = some_snapshot();
    s.bytes[8] = 8;
    repair(s, 0);
    require_refused(s, OIF_EVERSION,
                    "the snapshot has format 8, this version of oif reads format 1");

    s = some_snapshot();
    s.bytes[10] = 2;
    repair(s, 0);
    require_refused(s, OIF_ECORRUPT, "the header is invalid");

    s = some_snapshot();
    memcpy(s.bytes + HEADER_BYTES, "PIPE", 4);
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_EKIND, "this is the snapshot of a pipeline, not of a detector");

    s = some_snapshot();
    s.bytes[HEADER_BYTES + PAYLOAD_AT + 1] = 'X';
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_EVERSION, "this version of oif has no detector 'Xnline-iforest'");

    s = some_snapshot();
    s.count -= 1;
    require_refused(s, OIF_ETRUNCATED, "the snapshot is cut off here");

    s = some_snapshot();
    s.count = 0;
    require_refused(s, OIF_ETRUNCATED, "byte 0: the snapshot is cut off here");

    s = some_snapshot();
    s.count = 6;
    require_refused(s, OIF_ETRUNCATED, "byte 6: the snapshot is cut off here");

    s = some_snapshot();
    s.count = 6;
    memcpy(s.bytes, "hello\n", 6);
    require_refused(s, OIF_EKIND, "byte 6: this is not a snapshot of oif");

    s = some_snapshot();
    s.bytes = realloc(s.bytes, s.count + 1);
    s.bytes[s.count++] = 0;
    require_refused(s, OIF_ECORRUPT, "the snapshot ends here, but more bytes follow");

    s = some_snapshot();
    s.bytes[s.count / 2] ^= 1;
    require_refused(s, OIF_ECORRUPT, "the checksum of a section is wrong");
}

/* A detector of 100 GB in a file of a few bytes is refused before memory is allocated. */
static void no_size_is_believed_before_it_is_checked(void **unused)
{
    (void)unused;
    snapshot s = some_snapshot();
    size_t dimension_at = HEADER_BYTES + PAYLOAD_AT + 1 + strlen("online-iforest");
    oif_bytes_store(s.bytes + dimension_at, 100 * 1000 * 1000, 8);
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_ECORRUPT, "is too small for a detector of");

    s = some_snapshot(); /* nor if the state claims to be as large */
    size_t state_at = HEADER_BYTES + OIF_SECTION_BYTES +
                      (size_t)oif_bytes_load(s.bytes + HEADER_BYTES + LENGTH_AT, 8);
    oif_bytes_store(s.bytes + dimension_at, 100 * 1000 * 1000, 8);
    oif_bytes_store(s.bytes + state_at + LENGTH_AT, UINT64_C(1) << 40, 8);
    repair(s, HEADER_BYTES);
    repair(s, state_at);
    require_refused(s, OIF_ETRUNCATED,
                    "the snapshot is cut off: a section of 1099511627776 bytes begins here");

    s = some_snapshot();
    oif_bytes_store(s.bytes + dimension_at, UINT64_MAX, 8);
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_ECORRUPT, "numbers is too long");

    s = some_snapshot();
    oif_bytes_store(s.bytes + dimension_at, 0, 8);
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_ECORRUPT, "a row needs at least one number");
}

static void an_unknown_section_is_refused(void **unused)
{
    (void)unused;
    snapshot s = some_snapshot();
    memcpy(s.bytes + HEADER_BYTES, "NEW!", 4);
    repair(s, HEADER_BYTES);
    require_refused(s, OIF_EKIND, "a section 'NEW!'");
}

/* Versions before the first release had a magic of their own, and formats 1 to 7. */
static void a_snapshot_from_before_the_first_release_is_refused(void **unused)
{
    (void)unused;
    static const unsigned char key_of_format_6[] = {0x89, 'O', 'I', 'F', '\r', '\n', 0x1A, '\n',
                                                    6,    0,   0,   0,   0xCF, 0x04, 0xCF, 0xFE,
                                                    'K',  'E', 'Y', 'F', 0,    0,    0,    0};
    static const unsigned char state_of_format_7[] = {0x89, 'O', 'I', 'F', '\r', '\n', 0x1A, '\n',
                                                      7,    0,   0,   0,   0xAA, 0x63, 0x73, 0x46,
                                                      0x3D, 6,   0,   0,   0,    0,    0,    0};
    const unsigned char *const files[] = {key_of_format_6, state_of_format_7};
    for (size_t i = 0; i < 2; i++)
        for (size_t count = 8; count <= sizeof state_of_format_7; count++) {
            snapshot s = {malloc(count), count};
            memcpy(s.bytes, files[i], count);
            require_refused(s, OIF_EKIND,
                            "byte 8: a version of oif before 0.1.0 wrote this snapshot, and no "
                            "release reads it");
        }
}

/* ---- Any stream ---- */

typedef struct trickle {
    unsigned char *bytes;
    size_t next, end;
    size_t fails_at;
} trickle;

static ptrdiff_t write_some(void *context, const char *bytes, size_t count)
{
    trickle *to = context;
    if (to->next >= to->fails_at)
        return -1;
    size_t now = 1 + to->next % 7;
    now = now < count ? now : count;
    memcpy(to->bytes + to->next, bytes, now);
    to->next += now;
    return (ptrdiff_t)now;
}

static ptrdiff_t read_some(void *context, char *buffer, size_t capacity)
{
    trickle *from = context;
    if (from->next >= from->fails_at)
        return -1;
    size_t now = 1 + from->next % 5;
    now = now < capacity ? now : capacity;
    now = now < from->end - from->next ? now : from->end - from->next;
    memcpy(buffer, from->bytes + from->next, now);
    from->next += now;
    return (ptrdiff_t)now;
}

static void a_snapshot_is_written_and_read_in_pieces(void **unused)
{
    (void)unused;
    snapshot s = some_snapshot();
    oif_detector *detector = load_snapshot(s), *loaded = NULL;
    oif_error error;
    trickle trickled = {malloc(s.count + 10), 0, s.count + 10, SIZE_MAX};
    require_ok(oif_detector_save(detector, write_some, &trickled, NULL));
    assert_int_equal(trickled.next, s.count);
    assert_memory_equal(trickled.bytes, s.bytes, s.count);

    trickled.next = 0; /* ten bytes follow that are not part of the snapshot */
    require_ok(oif_detector_load(read_some, &trickled, &loaded, NULL));
    assert_int_equal(trickled.next, s.count);
    oif_detector_free(loaded);

    trickled = (trickle){trickled.bytes, 0, s.count, s.count / 2};
    assert_int_equal(oif_detector_save(detector, write_some, &trickled, &error), OIF_EWRITE);
    assert_true(error.column > s.count / 2 && error.column <= s.count / 2 + 8);
    trickled = (trickle){trickled.bytes, 0, s.count, s.count / 2};
    assert_int_equal(oif_detector_load(read_some, &trickled, &loaded, &error), OIF_EREAD);
    assert_int_equal(error.column, trickled.next);

    assert_int_equal(oif_detector_save_memory(detector, trickled.bytes, s.count - 1, &error),
                     OIF_EPARAM);
    oif_detector_free(detector);
    free(trickled.bytes);
    free(s.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_detector_continues_as_the_saved_one),
        cmocka_unit_test(every_kind_is_saved_and_loaded_at_its_usual_size),
        cmocka_unit_test(wide_rows_are_saved_and_loaded),
        cmocka_unit_test(detectors_with_large_work_areas_are_saved_and_loaded),
        cmocka_unit_test(every_refusal_has_its_own_message),
        cmocka_unit_test(no_size_is_believed_before_it_is_checked),
        cmocka_unit_test(an_unknown_section_is_refused),
        cmocka_unit_test(a_snapshot_from_before_the_first_release_is_refused),
        cmocka_unit_test(a_snapshot_is_written_and_read_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
