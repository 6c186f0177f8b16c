/* serve/trend: buckets have what their rows have, on disk, in bounded
 * space, after a crash and with damage. */
#include "stream_fixture.h"

#include "serve/trend/trend_store.h"

#include <glob.h>
#include <math.h>
#include <sys/stat.h>

enum { COLUMNS = 3, LIMIT = 1 << 22 };

static const double start = 1700000000;

/* ---- Rows, and what buckets must say about them ---- */

typedef struct made_row {
    double time;
    float values[COLUMNS];
    double score;
    uint32_t grade;
} made_row;

static made_row *make_rows(size_t count, double step)
{
    made_row *rows = calloc(count, sizeof *rows);
    double time = start;
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++) {
        time += step * draw(2000) / 1000.0;
        rows[i] = (made_row){.time = time,
                             .values = {(float)draw(1000), draw(10) ? (float)i : NAN, -5},
                             .score = draw(1000) / 1000.0,
                             .grade = draw(100) == 0 ? 1 + draw(3) : 0};
    }
    return rows;
}

/* The slow twin: all rows from `from` on and before `to`. */
typedef struct expected_bucket {
    uint32_t rows, anomalies, count;
    double low, high, sum, score_high;
} expected_bucket;

static expected_bucket sum_up(const made_row *rows, size_t count, double from, double to)
{
    expected_bucket all = {.low = INFINITY, .high = -INFINITY, .score_high = -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].time < from || rows[i].time >= to)
            continue;
        all.rows++;
        all.anomalies += rows[i].grade > 0;
        all.score_high = fmax(all.score_high, rows[i].score);
        if (isnan(rows[i].values[1]))
            continue;
        all.count++;
        all.sum += (double)rows[i].values[1];
        all.low = fmin(all.low, (double)rows[i].values[1]);
        all.high = fmax(all.high, (double)rows[i].values[1]);
    }
    return all;
}

static void check_bucket(const trend_bucket *found, const expected_bucket *wanted)
{
    const trend_column *of = &trend_columns_of(found)[1];
    assert_int_equal(found->rows, wanted->rows);
    assert_int_equal(found->anomalies, wanted->anomalies);
    assert_int_equal(of->count, wanted->count);
    assert_true((double)found->score_high == (double)(float)wanted->score_high);
    if (wanted->count > 0) {
        assert_true((double)of->low == wanted->low && (double)of->high == wanted->high);
        const double mean = wanted->sum / wanted->count;
        assert_true(fabs((double)of->mean - mean) <= 1e-5 * fabs(mean) + 1e-3);
    }
    assert_true(trend_columns_of(found)[2].mean == -5);
}

/* ---- Keeping ---- */

static void keep(void *context, size_t level, const trend_bucket *ended)
{
    trend_store_add(context, level, ended);
}

static trend *new_trend(uint64_t key)
{
    trend *one = malloc(trend_bytes(COLUMNS));
    assert_non_null(one);
    trend_init(one, key, COLUMNS);
    return one;
}

static void add_rows(trend *one, trend_store *store, const made_row *rows, size_t first, size_t end)
{
    const trend_sink sink = {keep, store};
    const float expected[2 * COLUMNS] = {0, 1, 2, 3, NAN, NAN};
    for (size_t i = first; i < end; i++)
        trend_add(one,
                  &(trend_row){.time = rows[i].time,
                               .score = rows[i].score,
                               .threshold = 0.5F,
                               .grade = rows[i].grade,
                               .values = rows[i].values,
                               .expected = expected},
                  i + 1, &sink);
}

typedef struct found_buckets {
    char *bytes;
    size_t count;
} found_buckets;

static void take_bucket(void *context, const trend_bucket *bucket, size_t columns)
{
    found_buckets *found = context;
    const size_t bytes = trend_bucket_bytes(COLUMNS);
    assert_int_equal(columns, COLUMNS);
    found->bytes = realloc(found->bytes, (found->count + 1) * bytes);
    assert_non_null(found->bytes);
    memcpy(found->bytes + found->count++ * bytes, bucket, bytes);
}

static const trend_bucket *found_at(const found_buckets *found, size_t i)
{
    return (const trend_bucket *)(const void *)(found->bytes + i * trend_bucket_bytes(COLUMNS));
}

static found_buckets read_level(trend_store *store, uint64_t key, size_t level, double from,
                                double to, uint64_t *damaged)
{
    found_buckets found = {.bytes = NULL};
    trend_view *view = trend_store_look(store, key, level);
    assert_non_null(view);
    const uint64_t bad = trend_view_read(view, from, to, take_bucket, &found);
    if (damaged)
        *damaged = bad;
    else
        assert_int_equal(bad, 0);
    trend_view_free(view);
    return found;
}

/* Every bucket of a level is the sum of its rows, and no row is missing. */
static size_t check_level(trend_store *store, uint64_t key, size_t level, const made_row *rows,
                          size_t count)
{
    found_buckets found = read_level(store, key, level, -INFINITY, INFINITY, NULL);
    uint64_t all = 0;
    for (size_t i = 0; i < found.count; i++) {
        const trend_bucket *one = found_at(&found, i);
        const expected_bucket wanted =
            sum_up(rows, count, one->time, one->time + trend_seconds[level]);
        check_bucket(one, &wanted);
        assert_true(trend_columns_of(one)[0].expected_high == 1);
        assert_true(isnan(trend_columns_of(one)[2].expected_low));
        all += one->rows;
    }
    const size_t buckets = found.count;
    free(found.bytes);
    assert_true(all <= count);
    return buckets;
}

static void remove_files(void)
{
    run("rm -rf %s && mkdir %s", folder, folder);
}

static size_t count_files(void)
{
    char pattern[128];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/trend.*", folder);
    const size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* ---- Tests ---- */

static void buckets_have_what_their_rows_have(void **state)
{
    enum { ROWS = 20000 };
    const double steps[] = {0.5, 2, 40};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        remove_files();
        made_row *rows = make_rows(ROWS, steps[i]);
        trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
        trend *one = new_trend(7);
        add_rows(one, store, rows, 0, ROWS);
        for (size_t level = 0; level < TREND_LEVELS; level++) {
            const size_t buckets = check_level(store, 7, level, rows, ROWS);
            const double most = (rows[ROWS - 1].time - start) / trend_seconds[level] + 2;
            assert_true((double)buckets <= most);
            if (level >= 2)
                assert_true((double)buckets >= most - 4); /* no gap, and the open one */
        }
        /* levels with hardly more than a row per bucket are left out, once that is known */
        found_buckets finest = read_level(store, 7, 0, start + 3600, INFINITY, NULL);
        assert_true(i < 2 ? finest.count > 500 : finest.count == 0);
        free(finest.bytes);
        trend_end(one, ROWS, &(trend_sink){keep, store});
        found_buckets last = read_level(store, 7, 3, -INFINITY, INFINITY, NULL);
        uint64_t all = 0;
        for (size_t j = 0; j < last.count; j++)
            all += found_at(&last, j)->rows;
        assert_int_equal(all, ROWS);
        free(last.bytes);
        free(one);
        trend_store_close(store);
        free(rows);
    }
}

static void times_may_jump_and_no_row_is_lost(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 1);
    for (size_t i = 0; i < ROWS; i++) {
        if (i % 300 > 250)
            rows[i].time -= 5000;
        if (i % 500 == 499)
            rows[i].time += 400 * 86400.0;
        if (i % 7 == 3)
            rows[i].time -= 3; /* a little late */
    }
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7);
    add_rows(one, store, rows, 0, ROWS);
    trend_end(one, ROWS, &(trend_sink){keep, store});
    for (size_t level = 2; level < TREND_LEVELS; level++) {
        found_buckets found = read_level(store, 7, level, -INFINITY, INFINITY, NULL);
        uint64_t all = 0;
        for (size_t i = 0; i < found.count; i++)
            all += found_at(&found, i)->rows;
        assert_int_equal(all, ROWS);
        free(found.bytes);
    }
    free(one);
    trend_store_close(store);
    free(rows);
}

static void a_crash_loses_and_doubles_nothing(void **state)
{
    enum { ROWS = 6000, SAVED = 3000, KILLED = 5000 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 2);
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7), *kept = new_trend(7);
    add_rows(one, store, rows, 0, SAVED);
    assert_true(trend_store_sync(store));
    memcpy(kept, one, trend_bytes(COLUMNS)); /* the snapshot */
    add_rows(one, store, rows, SAVED, KILLED);
    trend_store_write(store); /* some of it is on disk when the server is killed */
    trend_store_close(store);
    run("printf 'torn' >> $(ls %s/trend.0.* | tail -1)", folder);
    for (int i = 0; i < 2; i++) {
        store = trend_store_open(folder, COLUMNS, LIMIT);
        trend_store_cut(store, SAVED);
        memcpy(one, kept, trend_bytes(COLUMNS));
        add_rows(one, store, rows, SAVED, i == 0 ? KILLED : ROWS);
        trend_store_write(store);
        if (i == 0)
            trend_store_close(store); /* killed again */
    }
    trend_store *whole = trend_store_open(NULL, COLUMNS, 0);
    trend *undisturbed = new_trend(7);
    add_rows(undisturbed, whole, rows, 0, ROWS);
    for (size_t level = 0; level < TREND_LEVELS; level++) {
        found_buckets found = read_level(store, 7, level, -INFINITY, INFINITY, NULL),
                      wanted = read_level(whole, 7, level, -INFINITY, INFINITY, NULL);
        assert_int_equal(found.count, wanted.count);
        if (found.count > 0)
            assert_memory_equal(found.bytes, wanted.bytes,
                                found.count * trend_bucket_bytes(COLUMNS));
        free(found.bytes);
        free(wanted.bytes);
    }
    assert_memory_equal(one, undisturbed, trend_bytes(COLUMNS));
    free(one);
    free(kept);
    free(undisturbed);
    trend_store_close(store);
    trend_store_close(whole);
    free(rows);
}

static void space_is_bounded_and_coarse_levels_reach_back_farthest(void **state)
{
    enum { ROWS = 200000, SMALL = 1 << 17 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 4);
    trend_store *store = trend_store_open(folder, COLUMNS, SMALL);
    trend *one = new_trend(7);
    for (size_t i = 0; i < ROWS; i += 1000) {
        add_rows(one, store, rows, i, i + 1000);
        trend_store_write(store);
        assert_true(trend_store_figures(store).bytes <= SMALL);
    }
    assert_true(count_files() <= 64 + TREND_LEVELS);
    double oldest[TREND_LEVELS];
    for (size_t level = 0; level < TREND_LEVELS; level++) {
        found_buckets found = read_level(store, 7, level, -INFINITY, INFINITY, NULL);
        assert_true(found.count > 20);
        oldest[level] = found_at(&found, 0)->time;
        for (size_t i = 1; i < found.count; i++)
            assert_true(found_at(&found, i)->time > found_at(&found, i - 1)->time);
        free(found.bytes);
    }
    assert_true(oldest[0] > oldest[1] && oldest[1] > oldest[2] && oldest[2] > oldest[3]);
    assert_true(oldest[3] < start + 86400);
    assert_true(trend_store_figures(store).removed > 0);
    trend_store_close(store);
    /* a smaller limit holds after a restart, too */
    store = trend_store_open(folder, COLUMNS, SMALL / 2);
    assert_true(trend_store_write(store));
    assert_true(trend_store_figures(store).bytes <= SMALL / 2);
    trend_store_close(store);
    free(one);
    free(rows);
}

static void flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

/* Whatever byte is flipped, at most one bucket is missing, or one segment if it is in its header;
 * what is returned is right. */
static void a_damaged_bucket_is_left_out_and_counted(void **state)
{
    enum { ROWS = 4000 };
    char path[128];
    struct stat info;
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 10);
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7);
    add_rows(one, store, rows, 0, ROWS);
    assert_true(trend_store_sync(store));
    const size_t whole = check_level(store, 7, 1, rows, ROWS);
    trend_store_close(store);
    snprintf(path, sizeof path, "%s/trend.1.1", folder);
    assert_int_equal(stat(path, &info), 0);
    for (int i = 0; i < 120; i++) {
        const long at = i < 64 ? i : (long)draw((uint32_t)info.st_size);
        uint64_t damaged = 0;
        flip(path, at);
        store = trend_store_open(folder, COLUMNS, LIMIT);
        found_buckets found = read_level(store, 7, 1, -INFINITY, INFINITY, &damaged);
        for (size_t j = 0; j < found.count; j++) {
            const trend_bucket *bucket = found_at(&found, j);
            const expected_bucket wanted =
                sum_up(rows, ROWS, bucket->time, bucket->time + trend_seconds[1]);
            check_bucket(bucket, &wanted);
        }
        assert_true(found.count >= whole - 1 || at < 64);
        assert_true(damaged <= 1);
        free(found.bytes);
        trend_store_close(store);
        flip(path, at);
    }
    /* junk and an empty file are no segments; writing continues beside them */
    run("printf junk > %s/trend.1.7; : > %s/trend.1.8; printf x > %s/trend.9.1", folder, folder,
        folder);
    store = trend_store_open(folder, COLUMNS, LIMIT);
    assert_int_equal(check_level(store, 7, 1, rows, ROWS), whole);
    trend_end(one, ROWS, &(trend_sink){keep, store});
    assert_true(trend_store_sync(store));
    found_buckets found = read_level(store, 7, 1, -INFINITY, INFINITY, NULL);
    assert_int_equal(found.count, whole + 1);
    free(found.bytes);
    trend_store_close(store);
    free(one);
    free(rows);
}

static void a_full_disk_loses_buckets_counts_them_and_leaves_the_rest(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 10);
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7);
    add_rows(one, store, rows, 0, ROWS / 2);
    assert_true(trend_store_sync(store));
    const size_t before = check_level(store, 7, 2, rows, ROWS);
    run("mv %s %s.away", folder, folder);
    add_rows(one, store, rows, ROWS / 2, ROWS);
    assert_false(trend_store_sync(store));
    assert_true(trend_store_figures(store).lost > 0);
    run("mv %s.away %s", folder, folder);
    assert_int_equal(check_level(store, 7, 2, rows, ROWS), before);
    trend_end(one, ROWS, &(trend_sink){keep, store});
    assert_true(trend_store_sync(store));
    free(one);
    trend_store_close(store);
    free(rows);
}

static void a_forgotten_key_is_gone_and_others_stay(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 10);
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7), *other = new_trend(8);
    add_rows(one, store, rows, 0, ROWS);
    add_rows(other, store, rows, 0, ROWS / 2);
    assert_true(trend_store_write(store));
    add_rows(other, store, rows, ROWS / 2, ROWS);
    const size_t whole = check_level(store, 8, 1, rows, ROWS);
    trend_store_forget(store, 7);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(check_level(store, 7, 1, rows, ROWS), 0);
        assert_int_equal(check_level(store, 8, 1, rows, ROWS), whole);
        assert_true(trend_store_sync(store));
        trend_store_close(store);
        store = trend_store_open(folder, COLUMNS, LIMIT);
    }
    trend_store_close(store);
    free(one);
    free(other);
    free(rows);
}

static void other_columns_begin_another_segment_and_old_ones_can_be_read(void **state)
{
    enum { ROWS = 2000 };
    (void)state;
    remove_files();
    made_row *rows = make_rows(ROWS, 10);
    trend_store *store = trend_store_open(folder, COLUMNS, LIMIT);
    trend *one = new_trend(7);
    add_rows(one, store, rows, 0, ROWS);
    assert_true(trend_store_sync(store));
    const size_t whole = check_level(store, 7, 1, rows, ROWS), files = count_files();
    trend_store_close(store);
    store = trend_store_open(folder, COLUMNS + 1, LIMIT);
    trend *wider = malloc(trend_bytes(COLUMNS + 1));
    assert_non_null(wider);
    trend_init(wider, 9, COLUMNS + 1);
    for (int i = 0; i < 5000; i++)
        trend_add(wider, &(trend_row){.time = start + i}, 1, &(trend_sink){keep, store});
    assert_true(trend_store_sync(store));
    assert_true(count_files() > files);
    assert_int_equal(check_level(store, 7, 1, rows, ROWS), whole);
    trend_store_close(store);
    free(one);
    free(wider);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_have_what_their_rows_have),
        cmocka_unit_test(times_may_jump_and_no_row_is_lost),
        cmocka_unit_test(a_crash_loses_and_doubles_nothing),
        cmocka_unit_test(space_is_bounded_and_coarse_levels_reach_back_farthest),
        cmocka_unit_test(a_damaged_bucket_is_left_out_and_counted),
        cmocka_unit_test(a_full_disk_loses_buckets_counts_them_and_leaves_the_rest),
        cmocka_unit_test(a_forgotten_key_is_gone_and_others_stay),
        cmocka_unit_test(other_columns_begin_another_segment_and_old_ones_can_be_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
