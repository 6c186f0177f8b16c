/* serve/trend: buckets have what their rows have, in one file of a fixed
 * size, after a crash and with damage. */
#include "stream_fixture.h"

#include "serve/trend/trend_file.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { COLUMNS = 2, LIMIT = 1 << 20, KEYS = 3 };

static const double start = 1700000100; /* a whole five minutes */

/* ---- Rows, and what buckets must say about them ---- */

typedef struct made_row {
    double time;
    float values[COLUMNS];
    double severity;
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
                             .values = {draw(10) ? (float)draw(1000) : NAN, -5},
                             .severity = draw(1000) / 1000.0,
                             .grade = draw(100) == 0 ? 1 + draw(3) : 0};
    }
    return rows;
}

/* The slow twin: all rows of five minutes. */
static void check_bucket(trend_bucket *found, const made_row *rows, size_t count)
{
    uint32_t all = 0, anomalies = 0, with_value = 0;
    double low = INFINITY, high = -INFINITY, sum = 0, severity_high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].time < found->time || rows[i].time >= found->time + TREND_SECONDS)
            continue;
        const double value = (double)rows[i].values[0];
        all++;
        anomalies += rows[i].grade > 0;
        severity_high = fmax(severity_high, rows[i].severity);
        with_value += isnan(value) ? 0 : 1;
        low = fmin(low, value);
        high = fmax(high, value);
        sum += isnan(value) ? 0 : value;
    }
    const trend_values *values = trend_values_of(found);
    assert_int_equal(found->rows, all);
    assert_int_equal(found->anomalies, anomalies);
    assert_true((double)values[0].high == (double)(float)severity_high);
    assert_int_equal(values[1].count, with_value);
    if (with_value > 0) {
        const double mean = sum / with_value;
        assert_true((double)values[1].low == low && (double)values[1].high == high);
        assert_true(fabs((double)values[1].mean - mean) <= 1e-5 * fabs(mean) + 1e-3);
    }
    assert_true(values[2].mean == -5);
}

/* ---- Keeping ---- */

static const char *file_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/days", folder);
    return path;
}

static trend_file *open_after(size_t limit, uint64_t rows)
{
    trend_file *file = trend_file_open(file_path(), COLUMNS, limit, rows);
    assert_non_null(file);
    return file;
}

static trend_bucket *new_bucket(uint64_t key)
{
    trend_bucket *open = malloc(trend_bucket_bytes(COLUMNS));
    assert_non_null(open);
    trend_bucket_clear(open, key, COLUMNS);
    return open;
}

/* As stream_trend.c does it. */
static void add_rows(trend_bucket *open, trend_file *file, const made_row *rows, size_t first,
                     size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (!trend_bucket_fits(open, rows[i].time)) {
            open->closed = i + 1;
            trend_file_add(file, open);
            trend_bucket_clear(open, open->key, COLUMNS);
        }
        trend_bucket_add(open,
                         &(trend_row){.time = rows[i].time,
                                      .severity = (float)rows[i].severity,
                                      .threshold = 0.5F,
                                      .grade = rows[i].grade,
                                      .values = rows[i].values},
                         COLUMNS);
    }
}

typedef struct found_buckets {
    const made_row *rows;
    size_t row_count, count, all_rows;
    double first, last;
} found_buckets;

static void check_found(void *context, trend_bucket *bucket)
{
    found_buckets *found = context;
    if (found->rows)
        check_bucket(bucket, found->rows, found->row_count);
    found->first = found->count == 0 ? bucket->time : found->first;
    assert_true(found->count == 0 || bucket->time > found->last);
    found->last = bucket->time;
    found->count++;
    found->all_rows += bucket->rows;
}

static found_buckets read_key(trend_file *file, uint64_t key, const made_row *rows, size_t count)
{
    found_buckets found = {.rows = rows, .row_count = count};
    trend_ring view = trend_file_view(file);
    trend_view_read(&view, &(trend_visitor){key, check_found, &found});
    trend_view_close(&view);
    return found;
}

static size_t size_on_disk(void)
{
    struct stat info;
    assert_int_equal(stat(file_path(), &info), 0);
    return (size_t)info.st_blocks * 512;
}

/* ---- Tests ---- */

static void buckets_have_what_their_rows_have(void **state)
{
    enum { ROWS = 5000 };
    const double steps[] = {0.5, 10, 400};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        made_row *rows = make_rows(ROWS, steps[i]);
        trend_file *file = open_after(LIMIT, 0);
        trend_bucket *open = new_bucket(7);
        add_rows(open, file, rows, 0, ROWS);
        const found_buckets found = read_key(file, 7, rows, ROWS);
        assert_int_equal(found.all_rows + open->rows, ROWS);
        assert_int_equal(read_key(file, 8, rows, ROWS).count, 0);
        assert_int_equal(trend_file_lost(file), 0);
        trend_file_close(file);
        free(open);
        free(rows);
    }
}

static void times_may_jump_and_no_row_is_lost(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    made_row *rows = make_rows(ROWS, 1);
    trend_file *file = open_after(LIMIT, 0);
    trend_bucket *open = new_bucket(7);
    size_t ended = 0;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].time +=
            (i % 500 == 499) * 400 * 86400.0 - (i % 300 > 250) * 5000 - (i % 7 == 3) * 3;
        if (!trend_bucket_fits(open, rows[i].time))
            ended += open->rows;
        add_rows(open, file, rows, i, i + 1);
    }
    assert_int_equal(ended + open->rows, ROWS);
    trend_file_close(file);
    free(open);
    free(rows);
}

static void a_crash_loses_and_doubles_nothing(void **state)
{
    enum { ROWS = 6000, SAVED = 3000, KILLED = 5000 };
    (void)state;
    made_row *rows = make_rows(ROWS, 60);
    for (size_t is_full = 0; is_full < 2; is_full++) {
        const size_t limit = is_full ? 300 * trend_bucket_bytes(COLUMNS) : LIMIT;
        trend_file *file = open_after(limit, 0);
        trend_bucket *open = new_bucket(7), *kept = new_bucket(7);
        add_rows(open, file, rows, 0, SAVED);
        trend_file_sync(file);
        memcpy(kept, open, trend_bucket_bytes(COLUMNS)); /* the snapshot */
        add_rows(open, file, rows, SAVED, KILLED);
        if (is_full)
            trend_file_sync(file); /* of a snapshot that was not finished */
        trend_file_close(file);
        for (int i = 0; i < 2; i++) {
            file = open_after(limit, SAVED);
            memcpy(open, kept, trend_bucket_bytes(COLUMNS));
            add_rows(open, file, rows, SAVED, i == 0 ? KILLED : ROWS);
            if (i == 0)
                trend_file_close(file); /* killed again */
        }
        const found_buckets found = read_key(file, 7, rows, ROWS);
        if (is_full)
            assert_true(found.count >= 298 && found.first > rows[KILLED - 1000].time - 300 * 300);
        else
            assert_int_equal(found.all_rows + open->rows, ROWS);
        trend_file_close(file);
        free(open);
        free(kept);
    }
    free(rows);
}

static void the_ring_keeps_the_latest_and_its_size(void **state)
{
    enum { ROWS = 20000, SMALL = 1 << 16 };
    struct stat info;
    (void)state;
    made_row *rows = make_rows(ROWS, 300);
    trend_file *file = open_after(SMALL, 0);
    assert_true(size_on_disk() <= 8192); /* sparse */
    trend_bucket *open = new_bucket(7);
    add_rows(open, file, rows, 0, ROWS);
    const found_buckets found = read_key(file, 7, rows, ROWS);
    assert_true(found.count * trend_bucket_bytes(COLUMNS) >
                SMALL - 2 * trend_bucket_bytes(COLUMNS));
    assert_true(found.last > rows[ROWS - 1].time - 4 * TREND_SECONDS);
    assert_int_equal(stat(file_path(), &info), 0);
    assert_true(info.st_size <= SMALL);
    trend_file_close(file);
    free(open);
    free(rows);
}

static void flip(long at)
{
    FILE *file = fopen(file_path(), "r+");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

/* Whatever byte is flipped: what is returned is right. A header that is damaged starts the file
 * again; a bucket is left out, and all others stay. */
static void a_damaged_file_reports_nothing_wrong(void **state)
{
    enum { ROWS = 4000, HEADER = 40 };
    (void)state;
    made_row *rows = make_rows(ROWS, 60);
    for (int i = 0; i < 60; i++) {
        trend_file *file = open_after(LIMIT, 0);
        trend_bucket *open = new_bucket(7);
        add_rows(open, file, rows, 0, ROWS);
        trend_file_sync(file);
        const size_t whole = read_key(file, 7, rows, ROWS).count;
        const long used = HEADER + (long)(whole * trend_bucket_bytes(COLUMNS)),
                   at = i < HEADER ? i : HEADER + (long)draw((uint32_t)(used - HEADER));
        trend_file_close(file);
        flip(at);
        file = open_after(LIMIT, ROWS);
        const size_t found = read_key(file, 7, rows, ROWS).count,
                     after = read_key(file, 7, rows, ROWS).count;
        assert_true(at < HEADER ? found == 0 : found >= whole - 1);
        assert_int_equal(after, found);
        assert_int_equal(trend_file_lost(file), 0);
        trend_bucket_clear(open, 8, COLUMNS);
        add_rows(open, file, rows, 0, ROWS);
        assert_int_equal(read_key(file, 8, rows, ROWS).count, whole);
        trend_file_close(file);
        free(open);
    }
    run("printf junk > %s", file_path());
    trend_file *file = open_after(LIMIT, ROWS);
    assert_int_equal(read_key(file, 7, NULL, 0).count, 0);
    trend_file_close(file);
    free(rows);
}

static void other_columns_or_another_size_start_again(void **state)
{
    enum { ROWS = 1000 };
    (void)state;
    made_row *rows = make_rows(ROWS, 60);
    trend_bucket *open = new_bucket(7);
    trend_file *file = open_after(LIMIT, 0);
    add_rows(open, file, rows, 0, ROWS);
    trend_file_close(file);
    file = open_after(LIMIT, ROWS);
    assert_true(read_key(file, 7, rows, ROWS).count > 100);
    trend_file_close(file);
    file = open_after(LIMIT / 2, ROWS);
    assert_int_equal(read_key(file, 7, rows, ROWS).count, 0);
    trend_file_close(file);
    file = trend_file_open(file_path(), COLUMNS + 1, LIMIT / 2, ROWS);
    assert_non_null(file);
    assert_int_equal(read_key(file, 7, rows, ROWS).count, 0);
    trend_file_close(file);
    struct stat info;
    assert_int_equal(stat(file_path(), &info), 0);
    assert_null(trend_file_open(file_path(), COLUMNS, 0, ROWS));
    assert_int_equal(stat(file_path(), &info), -1);
    free(open);
    free(rows);
}

static void a_file_that_cannot_be_written_loses_buckets_and_counts_them(void **state)
{
    enum { ROWS = 1000 };
    (void)state;
    made_row *rows = make_rows(ROWS, 60);
    trend_bucket *open = new_bucket(7);
    run("rm -f %s; mv %s %s.away", file_path(), folder, folder);
    trend_file *file = open_after(LIMIT, 0);
    add_rows(open, file, rows, 0, ROWS);
    assert_true(trend_file_lost(file) > 100);
    assert_int_equal(read_key(file, 7, rows, ROWS).count, 0);
    trend_file_sync(file);
    trend_file_forget(file, 7);
    trend_file_close(file);
    run("mv %s.away %s", folder, folder);
    free(open);
    free(rows);
}

static void a_forgotten_key_is_gone_and_others_stay(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    made_row *rows = make_rows(ROWS, 60);
    trend_file *file = open_after(LIMIT, 0);
    trend_bucket *open[KEYS];
    for (size_t key = 0; key < KEYS; key++)
        open[key] = new_bucket(7 + key);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t key = 0; key < KEYS; key++)
            add_rows(open[key], file, rows, i, i + 1);
    trend_file_sync(file);
    const size_t whole = read_key(file, 8, rows, ROWS).count;
    trend_file_forget(file, 7);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_key(file, 7, rows, ROWS).count, 0);
        assert_int_equal(read_key(file, 8, rows, ROWS).count, whole);
        assert_int_equal(read_key(file, 9, rows, ROWS).count, whole);
        trend_file_close(file);
        file = open_after(LIMIT, ROWS);
    }
    trend_file_close(file);
    for (size_t key = 0; key < KEYS; key++)
        free(open[key]);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_have_what_their_rows_have),
        cmocka_unit_test(times_may_jump_and_no_row_is_lost),
        cmocka_unit_test(a_crash_loses_and_doubles_nothing),
        cmocka_unit_test(the_ring_keeps_the_latest_and_its_size),
        cmocka_unit_test(a_damaged_file_reports_nothing_wrong),
        cmocka_unit_test(other_columns_or_another_size_start_again),
        cmocka_unit_test(a_file_that_cannot_be_written_loses_buckets_and_counts_them),
        cmocka_unit_test(a_forgotten_key_is_gone_and_others_stay),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
