/* The names of columns: clones and snapshots keep them, they change nothing else, and damaged ones
 * are refused. */
#include "../pipeline/pipelines.h"
#include "snapshots.h"

#include "base/column_names.h"
#include "snapshot/sections.h"

static const char *const three[] = {"load", "", "net.in \xC3\xA9\n"};
static const char three_text[] = "load\0\0net.in \xC3\xA9\n"; /* including the last NUL */

static oif_detector *new_named_detector(void)
{
    oif_detector *detector = new_named("loda", "num_projections=2 num_bins=3 window_size=4", 3);
    require_ok(oif_detector_name_columns(detector, three, NULL));
    return detector;
}

static void require_three(const oif_detector *detector)
{
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(oif_detector_column_name(detector, i), three[i]);
}

static void names_are_kept_by_clones_and_snapshots(void **unused)
{
    (void)unused;
    oif_detector *named = new_named_detector(), *copy = NULL;
    require_three(named);
    snapshot s = take_snapshot(named);
    oif_detector *loaded = load_snapshot(s);
    require_three(loaded);
    require_ok(oif_detector_clone(loaded, &copy, NULL));
    oif_detector_free(loaded);
    oif_detector_free(named);
    require_three(copy); /* on its own */
    snapshot again = take_snapshot(copy);
    require_same_bytes(s, again);
    oif_detector_free(copy);
    free(s.bytes);
    free(again.bytes);
}

static void names_can_be_changed_and_taken_away(void **unused)
{
    (void)unused;
    const char *const others[] = {"a", "b", "c"};
    oif_detector *plain = new_named("loda", "num_projections=2 num_bins=3 window_size=4", 3);
    oif_detector *named = new_named_detector();
    size_t bytes = oif_detector_memory_bytes(plain);
    assert_true(oif_detector_memory_bytes(named) > bytes);
    require_ok(oif_detector_name_columns(named, others, NULL));
    assert_string_equal(oif_detector_column_name(named, 2), "c");
    require_ok(oif_detector_name_columns(named, NULL, NULL));
    assert_null(oif_detector_column_name(named, 2));
    assert_int_equal(oif_detector_memory_bytes(named), bytes);
    snapshot a = take_snapshot(plain), b = take_snapshot(named);
    require_same_bytes(a, b);
    free(a.bytes);
    free(b.bytes);
    oif_detector_free(plain);
    oif_detector_free(named);
}

static void names_that_are_too_long_are_refused_and_the_old_ones_stay(void **unused)
{
    (void)unused;
    oif_detector *named = new_named_detector();
    char *name = malloc(OIF_COLUMN_NAMES_MAX_BYTES);
    const char *const names[] = {"a", name, "b"};
    oif_error error;
    memset(name, 'x', OIF_COLUMN_NAMES_MAX_BYTES);
    name[OIF_COLUMN_NAMES_MAX_BYTES - 4] = '\0';
    assert_int_equal(oif_detector_name_columns(named, names, &error), OIF_EVALUE);
    assert_non_null(strstr(error.message, "the column names have 16777217 bytes together"));
    require_three(named);
    name[OIF_COLUMN_NAMES_MAX_BYTES - 5] = '\0'; /* one less */
    require_ok(oif_detector_name_columns(named, names, NULL));
    snapshot s = take_snapshot(named);
    oif_detector *loaded = load_snapshot(s);
    assert_string_equal(oif_detector_column_name(loaded, 1), name);
    oif_detector_free(loaded);
    oif_detector_free(named);
    free(s.bytes);
    free(name);
}

/* ---- The section ---- */

static size_t section_end(snapshot s, size_t start)
{
    return start + OIF_SECTION_BYTES + (size_t)oif_bytes_load(s.bytes + start + LENGTH_AT, 8);
}

/* A snapshot with another NAME section: this payload, with the claimed length. */
static snapshot with_payload(snapshot s, const void *payload, size_t bytes, uint64_t claimed)
{
    size_t start = section_end(s, OIF_SNAPSHOT_HEADER_BYTES), end = section_end(s, start);
    snapshot made = {calloc(1, s.count + bytes + OIF_SECTION_BYTES), s.count - (end - start)};
    size_t added = OIF_SECTION_BYTES + bytes;
    assert_memory_equal(s.bytes + start, "NAME", 4);
    memcpy(made.bytes, s.bytes, start);
    memcpy(made.bytes + start, s.bytes + start, LENGTH_AT);
    memcpy(made.bytes + start + PAYLOAD_AT, payload, bytes);
    memcpy(made.bytes + start + added, s.bytes + end, s.count - end);
    made.count += added;
    oif_bytes_store(made.bytes + start + LENGTH_AT, bytes, 8);
    repair(made, start);
    oif_bytes_store(made.bytes + start + LENGTH_AT, claimed, 8);
    repair(made, start);
    return made;
}

static void without_names_not_a_byte_is_written(void **unused)
{
    (void)unused;
    oif_detector *named = new_named_detector();
    snapshot s = take_snapshot(named);
    size_t start = section_end(s, OIF_SNAPSHOT_HEADER_BYTES), end = section_end(s, start);
    assert_int_equal(end - start, OIF_SECTION_BYTES + sizeof three_text);
    assert_memory_equal(s.bytes + start + PAYLOAD_AT, three_text, sizeof three_text);
    memmove(s.bytes + start, s.bytes + end, s.count - end);
    s.count -= end - start;
    require_ok(oif_detector_name_columns(named, NULL, NULL));
    snapshot plain = take_snapshot(named);
    require_same_bytes(s, plain);
    free(s.bytes);
    free(plain.bytes);
    oif_detector_free(named);
}

static ptrdiff_t read_snapshot(void *context, char *buffer, size_t capacity)
{
    snapshot *from = context;
    size_t count = from->count < capacity ? from->count : capacity;
    memcpy(buffer, from->bytes, count);
    from->bytes += count;
    from->count -= count;
    return (ptrdiff_t)count;
}

static void damaged_names_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *payload;
        size_t bytes;
        uint64_t claimed;
        const char *words;
    } wounds[] = {
        {"a\0b\0", 4, 4, "these are not the names of 3 columns"},
        {"a\0b\0c\0d\0", 8, 8, "these are not the names of 3 columns"},
        {"a\0b\0c\0\0", 7, 7, "these are not the names of 3 columns"},
        {"a\0b\0c", 5, 5, "these are not the names of 3 columns"},
        {"", 0, 0, "0 bytes cannot be the names of 3 columns"},
        {"\0", 2, 2, "2 bytes cannot be the names of 3 columns"},
        {"a\0b\0c\0", 6, OIF_COLUMN_NAMES_MAX_BYTES + 1,
         "16777217 bytes cannot be the names of 3 columns"},
        {"a\0b\0c\0", 6, UINT64_C(1) << 40, "1099511627776 bytes cannot be the names of 3 columns"},
    };
    oif_detector *named = new_named_detector();
    snapshot s = take_snapshot(named), good = with_payload(s, "a\0b\0c\0", 6, 6);
    oif_detector_free(load_snapshot(good));
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        snapshot wounded = with_payload(s, wounds[i].payload, wounds[i].bytes, wounds[i].claimed);
        snapshot unread = wounded; /* from a source of unknown length */
        oif_detector *untouched = named;
        oif_error error = {0};
        assert_int_equal(oif_detector_load(read_snapshot, &unread, &untouched, &error),
                         OIF_ECORRUPT);
        assert_ptr_equal(untouched, named);
        if (!strstr(error.message, wounds[i].words))
            fail_msg("wound %zu: \"%s\" does not say \"%s\"", i, error.message, wounds[i].words);
        free(wounded.bytes);
    }
    free(good.bytes);
    free(s.bytes);
    oif_detector_free(named);
}

/* ---- Pipelines ---- */

static ptrdiff_t append(void *context, const char *bytes, size_t count)
{
    snapshot *to = context;
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static void a_pipeline_names_its_columns_not_the_numbers_of_its_shingles(void **unused)
{
    (void)unused;
    const char *const names[] = {"load", "memory"};
    const double row[] = {1, 2};
    oif_pipeline *named = new_pipeline("loda", "window_size=4", 2, "shingle=3"), *copy = NULL,
                 *loaded = NULL;
    assert_null(oif_pipeline_column_name(named, 0));
    require_ok(oif_pipeline_name_columns(named, names, NULL));
    process_key(named, "host", row);
    assert_null(oif_detector_column_name(oif_pipeline_detector(named, "host", 4), 0));
    require_ok(oif_pipeline_clone(named, &copy, NULL));
    oif_pipeline_free(named);
    static unsigned char saved[1 << 20];
    snapshot s = {saved, 0};
    require_ok(oif_pipeline_save(copy, append, &s, NULL));
    oif_pipeline_free(copy);
    require_ok(oif_pipeline_load_memory(s.bytes, s.count, &loaded, NULL));
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(oif_pipeline_column_name(loaded, i), names[i]);
    require_ok(oif_pipeline_name_columns(loaded, NULL, NULL));
    assert_null(oif_pipeline_column_name(loaded, 1));
    oif_pipeline_free(loaded);
}

static void expect_roles(const oif_pipeline *pipeline, const char *key, const char *time)
{
    const char *key_now = "?", *time_now = "?";
    assert_true(oif_pipeline_roles(pipeline, &key_now, &time_now));
    if (key)
        assert_string_equal(key_now, key);
    else
        assert_null(key_now);
    if (time)
        assert_string_equal(time_now, time);
    else
        assert_null(time_now);
}

static void a_pipeline_remembers_where_keys_and_times_are_from(void **unused)
{
    (void)unused;
    static unsigned char saved[1 << 20];
    static const char *const roles[][2] = {
        {"host,disk", "at"}, {NULL, "at"}, {"host", NULL}, {NULL, NULL}, {"host", ""}};
    const char *key, *time;
    oif_pipeline *named = new_pipeline("loda", "window_size=4", 2, "");
    assert_false(oif_pipeline_roles(named, &key, &time));
    assert_null(key);
    assert_null(time);
    size_t bytes = oif_pipeline_snapshot_bytes(named);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        oif_pipeline *copy = NULL, *loaded = NULL;
        snapshot s = {saved, 0};
        require_ok(oif_pipeline_name_roles(named, roles[i][0], roles[i][1], NULL));
        require_ok(oif_pipeline_clone(named, &copy, NULL));
        expect_roles(copy, roles[i][0], roles[i][1]);
        require_ok(oif_pipeline_save(copy, append, &s, NULL));
        assert_int_equal(s.count, oif_pipeline_snapshot_bytes(copy));
        assert_true(s.count > bytes);
        require_ok(oif_pipeline_load_memory(s.bytes, s.count, &loaded, NULL));
        expect_roles(loaded, roles[i][0], roles[i][1]);
        oif_pipeline_free(copy);
        oif_pipeline_free(loaded);
    }
    oif_pipeline_free(named);
}

static void expect_attached(const oif_pipeline *pipeline, const void *bytes, size_t count)
{
    size_t now = 1;
    const void *attached = oif_pipeline_attachment(pipeline, &now);
    assert_int_equal(now, count);
    if (count > 0)
        assert_memory_equal(attached, bytes, count);
    else
        assert_null(attached);
}

static void a_pipeline_keeps_what_a_program_attaches(void **unused)
{
    (void)unused;
    static unsigned char saved[1 << 20];
    static const char bytes[100000] = {1, 0, 2};
    static const size_t counts[] = {sizeof bytes, 1, 0, 3};
    oif_pipeline *pipeline = new_pipeline("loda", "window_size=4", 2, "");
    const size_t without = oif_pipeline_snapshot_bytes(pipeline);
    expect_attached(pipeline, NULL, 0);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        oif_pipeline *copy = NULL, *loaded = NULL;
        snapshot s = {saved, 0};
        require_ok(oif_pipeline_attach(pipeline, bytes, counts[i], NULL));
        require_ok(oif_pipeline_clone(pipeline, &copy, NULL));
        expect_attached(copy, bytes, counts[i]);
        require_ok(oif_pipeline_save(copy, append, &s, NULL));
        assert_int_equal(s.count, oif_pipeline_snapshot_bytes(copy));
        assert_true(counts[i] > 0 ? s.count > without + counts[i] : s.count == without);
        require_ok(oif_pipeline_load_memory(s.bytes, s.count, &loaded, NULL));
        expect_attached(loaded, bytes, counts[i]);
        oif_pipeline_free(copy);
        oif_pipeline_free(loaded);
    }
    oif_error error;
    assert_int_equal(
        oif_pipeline_attach(pipeline, bytes, (size_t)OIF_ATTACHMENT_MAX_BYTES + 1, &error),
        OIF_EVALUE);
    assert_string_equal(error.message,
                        "67108865 bytes are too many to attach; the most are 67108864");
    expect_attached(pipeline, bytes, 3);
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_kept_by_clones_and_snapshots),
        cmocka_unit_test(names_can_be_changed_and_taken_away),
        cmocka_unit_test(names_that_are_too_long_are_refused_and_the_old_ones_stay),
        cmocka_unit_test(without_names_not_a_byte_is_written),
        cmocka_unit_test(damaged_names_are_refused),
        cmocka_unit_test(a_pipeline_names_its_columns_not_the_numbers_of_its_shingles),
        cmocka_unit_test(a_pipeline_remembers_where_keys_and_times_are_from),
        cmocka_unit_test(a_pipeline_keeps_what_a_program_attaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
