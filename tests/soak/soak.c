/* Runs every detector, a pipeline and the reader for a very long time and checks that nothing wears
 * out.
 *
 *     soak [ROWS [NAME]]     rows of each (2 x 10^5; tools/test/long.sh soak: 10^8); only one
 *
 * The stream never ends and always changes: a cloud moves in a circle, so a detector that stopped
 * learning or forgetting would soon take normal rows for anomalies. For each detector:
 *
 *   - Its counters pass 2^31, 2^32, 2^53 and 2^63: before each it is cloned, the clone's counters
 *     are set to just before that number, and both must then give the same bits until the clone's
 *     counters are past it. The clone then replaces the original.
 *   - Memory does not grow: after the warm-up the resident set changes by less than 256 KiB.
 *   - At the end it separates anomalies as well as a fresh one that has seen only the last rows:
 *     ROC AUC within 0.005, averaged over eight places (not with fewer than 2 x 10^5 rows).
 *   - Its own check finds nothing broken.
 *
 * For a pipeline with keys, where new keys keep evicting others: the same, except that episodes
 * must stay as frequent as wanted.
 *
 * For the reader: line numbers and values stay right, and memory does not grow.
 *
 * Counters without a setter are reached by including the sources that hold them. */
#include "detect/detector.c"
#include "rows/csv.c"

#include "detect/online_iforest/turnover_tree.h"
#include "detect/online_iforest/window_tree.h"
#include "detect/rrcf/rrcf.h"
#include "pipeline/pipeline.h"

#include "../base/sanitized.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A sanitizer has its own memory, which grows. */
#define MEMORY_IS_OURS (!SANITIZED)

enum {
    DIMENSION = 3,
    CHUNK = 500,        /* rows made and learned at a time */
    CIRCLE = 400000,    /* rows per round of the cloud */
    FRESH_ROWS = 8192,  /* seen by a fresh detector: a few windows */
    JUDGED_ROWS = 8000, /* for the AUC; one in ten is an anomaly */
    MAX_GROWTH_KIB = 256,
    LEAST_ROWS = 40000, /* so the warm-up fills all windows */
    LEAST_TO_COMPARE =
        200000 /* what the first rows have left behind is gone by then; see online-iforest's page */
};

static const double max_auc_gap = 0.005;
static const double powers[] = {0x1p31, 0x1p32, 0x1p53, 0x1p63};
enum { POWERS = 4 };

static int failures, checked;

#define COMPLAIN(...) (failures++, printf("  FAILED: " __VA_ARGS__), putchar('\n'))

static void require(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    printf("FAILED: %s: %s\n", oif_status_text(status), error->message);
    exit(1);
}

/* ---- The stream: a row is a function of its number ---- */

static uint64_t bits_of(uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* Nearly normal: the sum of four uniform numbers. */
static double bell(uint64_t bits)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)(bits >> 16 * i & 0xffff) * 0x1p-16 - 0.5;
    return sum * 1.7320508;
}

static double between(uint64_t bits, double low, double high)
{
    return low + (high - low) * (double)(bits >> 11) * 0x1p-53;
}

typedef struct centre {
    double x, y;
} centre;

static centre centre_at(uint64_t number)
{
    double angle = 6.283185307179586 * (double)(number % CIRCLE) / CIRCLE;
    return (centre){4 * cos(angle), 4 * sin(angle)};
}

static void write_normal(double *row, centre at, uint64_t number)
{
    row[0] = at.x + bell(bits_of(3 * number));
    row[1] = at.y + bell(bits_of(3 * number + 1));
    row[2] = row[0] - row[1] + bell(bits_of(3 * number + 2)) / 4;
}

/* Anywhere in a box around the circle: the cloud was there, but long ago. */
static void write_anomaly(double *row, uint64_t number)
{
    for (uint64_t i = 0; i < DIMENSION; i++)
        row[i] = between(bits_of(3 * number + i), -12, 12);
}

static void make_rows(uint64_t first, size_t count, double *rows)
{
    const centre at = centre_at(first);
    for (size_t i = 0; i < count; i++, rows += DIMENSION) {
        if ((first + i) % 128 == 77)
            write_anomaly(rows, first + i);
        else
            write_normal(rows, at, first + i);
        if ((first + i) % 256 == 5)
            rows[(first + i) / 256 % DIMENSION] = NAN;
    }
}

/* ---- Memory and time ---- */

/* Without pages of files, such as the program's own, which the system loads and drops. */
static long resident_kib(void)
{
    long resident = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld %ld", &resident, &of_files) != 2)
        COMPLAIN("no /proc/self/statm here: memory is not measured");
    if (file)
        fclose(file);
    return (resident - of_files) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Makes freed detectors leave no holes in the heap, which could hide a leak. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 64 * 1024);
#endif
}

static void require_steady_memory(long growth_kib)
{
    if (MEMORY_IS_OURS && labs(growth_kib) >= MAX_GROWTH_KIB)
        COMPLAIN("memory has changed by %ld KiB", growth_kib);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void show_progress(const char *name, uint64_t done, uint64_t rows)
{
    static double shown;
    double now = seconds_now();
    if (!isatty(STDERR_FILENO) || (now - shown < 0.2 && done < rows))
        return;
    shown = now;
    fprintf(stderr, done < rows ? "\r%-15s %5.1f%%" : "\r%-15s       \r", name,
            100.0 * (double)done / (double)rows);
}

/* ---- Counters ---- */

/* Sets every unbounded counter of a detector, so that after `ahead` more rows it is `target`. */
static void set_counters(oif_detector *detector, double target, uint64_t ahead)
{
    uint64_t value = (uint64_t)target - ahead;
    const bool online = strcmp(detector->kind->info.table.name, "online-iforest") == 0;
    const bool turnover =
        online && *(const oif_forgetting *)detector->state == OIF_FORGET_BY_TURNOVER;
    if (turnover) {
        oif_turnover_state *f = (oif_turnover_state *)detector->state;
        for (uint32_t i = 0; i < f->tree_count; i++)
            oif_turnover_tree_at(f, i)->cuts_made = (uint64_t)target - 3;
    } else if (online) {
        oif_window_state *f = (oif_window_state *)detector->state;
        for (uint32_t i = 0; i < f->num_trees; i++)
            oif_window_tree_at(f, i)->cuts_made = oif_window_tree_at(f, i)->cuts_undone =
                (uint64_t)target - 3;
    }
    if (strcmp(detector->kind->info.table.name, "rrcf") == 0) {
        oif_rrcf_state *f = (oif_rrcf_state *)detector->state;
        /* In whole rounds through the sample, whose places are taken in order. */
        value -= (value - f->rows_learned) % f->shape.capacity;
        f->rows_learned = value;
    }
    detector->rows_learned = value;
}

/* Learns rows with a detector and with one whose counters pass a power of two, which then replaces
 * it. */
static void pass_power(oif_detector **detector, double power, uint64_t first, uint64_t rows)
{
    double block[CHUNK * DIMENSION], plain[CHUNK], passing[CHUNK];
    oif_detector *copy = NULL;
    oif_error error;
    require(oif_detector_clone(*detector, &copy, &error), &error);
    set_counters(copy, power, rows / 2);
    const uint64_t counted = oif_detector_rows_learned(copy);
    for (uint64_t done = 0; done < rows; done += CHUNK) {
        make_rows(first + done, CHUNK, block);
        require(oif_detector_learn_score_rows(*detector, block, CHUNK, DIMENSION, plain, &error),
                &error);
        require(oif_detector_learn_score_rows(copy, block, CHUNK, DIMENSION, passing, &error),
                &error);
        if (memcmp(plain, passing, sizeof plain) != 0) {
            COMPLAIN("scores change where a counter passes 2^%g", log2(power));
            break;
        }
    }
    if (oif_detector_rows_learned(copy) < counted)
        COMPLAIN("rows_learned has wrapped at 2^%g: %" PRIu64, log2(power),
                 oif_detector_rows_learned(copy));
    if (oif_detector_check(copy, &error) != OIF_OK)
        COMPLAIN("after 2^%g: %s", log2(power), error.message);
    oif_detector_free(*detector);
    *detector = copy;
}

/* ---- Accuracy ---- */

typedef struct judged {
    double score;
    bool anomaly;
} judged;

static int by_score(const void *left, const void *right)
{
    double a = ((const judged *)left)->score, b = ((const judged *)right)->score;
    return (a > b) - (a < b);
}

/* The probability that an anomaly scores above a normal row; a tie counts half. */
static double auc_of(judged *rows, size_t count)
{
    double anomalies = 0, normals = 0, wins = 0;
    qsort(rows, count, sizeof *rows, by_score);
    for (size_t i = 0, end; i < count; i = end) {
        double tied[2] = {0, 0};
        for (end = i; end < count && rows[end].score == rows[i].score; end++)
            tied[rows[end].anomaly]++;
        wins += tied[1] * (normals + tied[0] / 2);
        normals += tied[0];
        anomalies += tied[1];
    }
    return wins / (normals * anomalies);
}

/* How well a detector separates rows at this place of the stream from anomalies. */
static double judge(const oif_detector *detector, uint64_t place)
{
    static judged rows[JUDGED_ROWS];
    const centre at = centre_at(place);
    for (uint64_t i = 0; i < JUDGED_ROWS; i++) {
        const uint64_t number = UINT64_MAX / 4 + i; /* not rows of the stream */
        double row[DIMENSION];
        oif_error error;
        rows[i].anomaly = i % 10 == 0;
        if (rows[i].anomaly)
            write_anomaly(row, number);
        else
            write_normal(row, at, number);
        require(oif_detector_score(detector, row, &rows[i].score, &error), &error);
    }
    return auc_of(rows, JUDGED_ROWS);
}

/* ---- A detector ---- */

static oif_detector *make_detector(oif_params params, double seed)
{
    oif_detector *detector = NULL;
    oif_error error;
    require(oif_params_set(&params, "seed", seed, &error), &error);
    require(oif_detector_new(&params, DIMENSION, &detector, &error), &error);
    return detector;
}

static void learn_stream(oif_detector *detector, uint64_t first, uint64_t end, uint64_t rows)
{
    double block[CHUNK * DIMENSION], scores[CHUNK];
    oif_error error;
    for (; first < end; first += CHUNK) {
        make_rows(first, CHUNK, block);
        require(oif_detector_learn_score_rows(detector, block, CHUNK, DIMENSION, scores, &error),
                &error);
        show_progress(detector->kind->info.table.name, first, rows);
    }
}

/* The result of a detector that has seen only the rows up to here. */
static double judge_fresh(const oif_params *params, uint64_t place)
{
    oif_detector *fresh = make_detector(*params, (double)(place % 1000003));
    learn_stream(fresh, place - FRESH_ROWS / CHUNK * CHUNK, place, UINT64_MAX);
    double auc = judge(fresh, place);
    oif_detector_free(fresh);
    return auc;
}

typedef struct findings {
    double auc, fresh_auc; /* means over the places where they were measured; NaN if none */
    long growth_kib;       /* while rows were learned; fresh detectors come and go in between */
} findings;

/* Learns the rest of the rows, and judges at the end of each eighth if there are enough. */
static findings run_to_end(oif_detector *detector, uint64_t first, uint64_t rows)
{
    enum { PLACES = 8 };
    const uint64_t part = (rows - first) / PLACES / CHUNK * CHUNK;
    const double nothing_yet = rows < LEAST_TO_COMPARE ? NAN : 0;
    findings found = {nothing_yet, nothing_yet, 0};
    for (int i = 0; i < PLACES; i++) {
        uint64_t end = first + part;
        const long before_kib = resident_kib();
        learn_stream(detector, first, end, rows);
        found.growth_kib += resident_kib() - before_kib;
        first = end;
        if (rows < LEAST_TO_COMPARE)
            continue;
        found.auc += judge(detector, end) / PLACES;
        found.fresh_auc += judge_fresh(oif_detector_params(detector), end) / PLACES;
    }
    return found;
}

/* A tenth of the rows is the warm-up, four times a sixteenth passes a power of two. */
static void soak_detector(const oif_params *params, const char *name, uint64_t rows)
{
    const double began = seconds_now();
    const uint64_t warm = rows / 10 / CHUNK * CHUNK, stretch = rows / 16 / CHUNK * CHUNK;
    oif_detector *detector = make_detector(*params, 0);
    oif_error error;
    learn_stream(detector, 0, warm, rows);
    uint64_t done = warm;
    for (int i = 0; i < POWERS; i++, done += stretch)
        pass_power(&detector, powers[i], done, stretch);
    const findings found = run_to_end(detector, done, rows);
    const double gap = found.auc - found.fresh_auc;
    show_progress(name, rows, rows);

    printf("%-15s %11" PRIu64
           " rows, %6.0f s, resident %+5ld KiB, AUC %.4f, fresh %.4f, difference %+.4f\n",
           name, rows, seconds_now() - began, found.growth_kib, found.auc, found.fresh_auc, gap);
    require_steady_memory(found.growth_kib);
    if (fabs(gap) > max_auc_gap)
        COMPLAIN("the AUC is not that of a fresh detector");
    if (oif_detector_check(detector, &error) != OIF_OK)
        COMPLAIN("%s", error.message);
    oif_detector_free(detector);
    fflush(stdout);
    checked++;
}

/* ---- A pipeline ---- */

enum { STEADY_KEYS = 4, ROWS_BETWEEN_NEW_KEYS = 1000, SHINGLE = 2 };

static const double alert_rate = 0.01;

static oif_pipeline *make_pipeline(void)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    require(oif_params_init(&params, "loda", &error), &error);
    oif_pipeline_options_init(&options);
    require(oif_params_set(&options, "alert_rate", alert_rate, &error), &error);
    require(oif_params_set(&options, "shingle", SHINGLE, &error), &error);
    require(oif_params_set(&options, "max_keys", STEADY_KEYS + 1, &error), &error);
    require(oif_params_set_text(&options, "learn", "decay", &error), &error);
    require(oif_pipeline_new(&params, DIMENSION, &options, &pipeline, &error), &error);
    return pipeline;
}

/* Four keys in rotation, and now and then one that never came before. */
static oif_result process_row(oif_pipeline *pipeline, uint64_t number, const double *row)
{
    char key[32];
    bool is_new = number % ROWS_BETWEEN_NEW_KEYS == 0;
    int bytes = snprintf(key, sizeof key, is_new ? "new-%" PRIu64 : "%" PRIu64,
                         is_new ? number : number % STEADY_KEYS);
    oif_result result;
    oif_error error;
    require(oif_pipeline_process(pipeline, key, (size_t)bytes, row, &result, &error), &error);
    return result;
}

/* Returns how many episodes begin. */
static uint64_t process_stream(oif_pipeline *pipeline, uint64_t first, uint64_t end, uint64_t rows)
{
    double block[CHUNK * DIMENSION];
    uint64_t episodes = 0;
    for (; first < end; first += CHUNK) {
        make_rows(first, CHUNK, block);
        for (uint64_t i = 0; i < CHUNK; i++) {
            oif_result result = process_row(pipeline, first + i, block + i * DIMENSION);
            episodes += result.episode == OIF_EPISODE_BEGINS;
        }
        show_progress("pipeline", first, rows);
    }
    return episodes;
}

static void set_pipeline_counters(oif_pipeline *pipeline, double target, uint64_t ahead)
{
    pipeline->rows = (uint64_t)target - ahead;
    pipeline->evictions = (uint64_t)target - ahead / ROWS_BETWEEN_NEW_KEYS;
    for (uint32_t i = 0; i < pipeline->keys.count; i++) {
        oif_model *model = pipeline->keys.entries[i].value;
        /* In whole rounds through the last rows: a shingle, or the 16 of an energy. */
        uint64_t rows = (uint64_t)target - ahead / STEADY_KEYS;
        model->rows = rows - (rows - model->rows) % (16 * SHINGLE);
        set_counters(model->detectors[0], target, ahead / STEADY_KEYS);
    }
}

/* Like pass_power. */
static void pass_power_piped(oif_pipeline **pipeline, double power, uint64_t first, uint64_t rows)
{
    double block[CHUNK * DIMENSION];
    oif_pipeline *copy = NULL;
    oif_error error;
    bool same = true;
    require(oif_pipeline_clone(*pipeline, &copy, &error), &error);
    set_pipeline_counters(copy, power, rows / 2);
    for (uint64_t done = 0; done < rows && same; done += CHUNK) {
        make_rows(first + done, CHUNK, block);
        for (uint64_t i = 0; i < CHUNK; i++) {
            oif_result a = process_row(*pipeline, first + done + i, block + i * DIMENSION);
            oif_result b = process_row(copy, first + done + i, block + i * DIMENSION);
            same &= memcmp(&a.score, &b.score, sizeof a.score) == 0 && a.severity == b.severity &&
                    a.threshold == b.threshold && a.anomaly == b.anomaly && a.episode == b.episode;
        }
    }
    if (!same)
        COMPLAIN("results change where a counter passes 2^%g", log2(power));
    if (oif_pipeline_rows(copy) < (uint64_t)power || oif_pipeline_evictions(copy) < (uint64_t)power)
        COMPLAIN("a counter has not passed 2^%g: %" PRIu64 " rows, %" PRIu64 " evictions",
                 log2(power), oif_pipeline_rows(copy), oif_pipeline_evictions(copy));
    if (oif_pipeline_check(copy, &error) != OIF_OK)
        COMPLAIN("after 2^%g: %s", log2(power), error.message);
    oif_pipeline_free(*pipeline);
    *pipeline = copy;
}

static void soak_pipeline(uint64_t rows)
{
    const double began = seconds_now();
    const uint64_t warm = rows / 10 / CHUNK * CHUNK, stretch = rows / 16 / CHUNK * CHUNK;
    oif_pipeline *pipeline = make_pipeline();
    oif_error error;
    process_stream(pipeline, 0, warm, rows);
    uint64_t done = warm;
    for (int i = 0; i < POWERS; i++, done += stretch)
        pass_power_piped(&pipeline, powers[i], done, stretch);
    const long before_kib = resident_kib();
    const double share = (double)process_stream(pipeline, done, rows, rows) / (double)(rows - done);
    const long growth_kib = resident_kib() - before_kib;
    show_progress("pipeline", rows, rows);
    printf("%-15s %11" PRIu64 " rows, %6.0f s, resident %+5ld KiB, %.4f episodes per row\n",
           "pipeline", rows, seconds_now() - began, growth_kib, share);
    require_steady_memory(growth_kib);
    if (share > alert_rate * 1.5) /* a limit, not a quota */
        COMPLAIN("at most %g episodes per row were allowed", alert_rate);
    if (oif_pipeline_check(pipeline, &error) != OIF_OK)
        COMPLAIN("%s", error.message);
    oif_pipeline_free(pipeline);
    fflush(stdout);
    checked++;
}

/* Each as created, and online-iforest also with its other way of forgetting; or only the one with
 * this name. */
static void soak_detectors(const char *only, uint64_t rows)
{
    const oif_detector_info *info;
    oif_params params;
    oif_error error;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++) {
        require(oif_params_init(&params, info->table.name, &error), &error);
        if (!only || strcmp(only, info->table.name) == 0)
            soak_detector(&params, info->table.name, rows);
    }
    require(oif_params_init(&params, "online-iforest", &error), &error);
    require(oif_params_set_text(&params, "forgetting", "turnover", &error), &error);
    if (!only || strcmp(only, "turnover") == 0)
        soak_detector(&params, "turnover", rows);
}

/* ---- The reader ---- */

enum { LINES = 1000 }; /* of the text, which is read repeatedly */

typedef struct endless {
    char text[LINES * 24];
    size_t bytes, at;
    double sums[LINES];
} endless;

static void write_text(endless *e)
{
    for (int i = 0; i < LINES; i++) {
        const char *format = i % 7 == 3 ? "\"%d\",%d\n" : "%d,%d\r\n";
        e->bytes += (size_t)sprintf(e->text + e->bytes, format, i, i * i);
        e->sums[i] = i + (double)i * i;
    }
}

static ptrdiff_t read_endless(void *context, char *buffer, size_t capacity)
{
    endless *e = context;
    size_t left = e->bytes - e->at, count = left < capacity ? left : capacity;
    memcpy(buffer, e->text + e->at, count);
    e->at = (e->at + count) % e->bytes;
    return (ptrdiff_t)count;
}

/* Reads rows starting at record number `first` of the text; false if one is not as expected. */
static bool read_lines(oif_reader *reader, const endless *e, uint64_t first, uint64_t rows)
{
    uint64_t line = reader->line;
    for (uint64_t i = 0; i < rows; i++, line++) {
        oif_record record;
        oif_error error;
        require(oif_reader_next(reader, &record, &error), &error);
        if (record.values[0] + record.values[1] != e->sums[(first + i) % LINES] ||
            record.line != line) {
            COMPLAIN("record %" PRIu64 " of line %" PRIu64 ": %g and %g at line %" PRIu64,
                     first + i, line, record.values[0], record.values[1], record.line);
            return false;
        }
    }
    return true;
}

static void soak_reader(uint64_t rows)
{
    static endless text;
    const double began = seconds_now();
    const uint64_t stretch = rows / (POWERS + 1);
    const oif_reader_options options = {.header = OIF_HEADER_NO};
    oif_reader *reader = NULL;
    oif_error error;
    write_text(&text);
    require(oif_reader_open(&options, read_endless, &text, &reader, &error), &error);
    bool right = read_lines(reader, &text, 0, stretch);
    const long before_kib = resident_kib();
    for (uint64_t i = 0; i < POWERS && right; i++) {
        reader->line = (uint64_t)powers[i] - stretch / 2;
        right = read_lines(reader, &text, (i + 1) * stretch, stretch);
        show_progress("reader", (i + 1) * stretch, rows);
    }
    const long growth_kib = resident_kib() - before_kib;
    show_progress("reader", rows, rows);
    printf("%-15s %11" PRIu64 " rows, %6.0f s, resident %+5ld KiB\n", "reader",
           (POWERS + 1) * stretch, seconds_now() - began, growth_kib);
    require_steady_memory(growth_kib);
    oif_reader_close(reader);
    checked++;
}

int main(int argc, char **argv)
{
    const uint64_t rows = (argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 200000) / CHUNK * CHUNK;
    if (rows < LEAST_ROWS) {
        fprintf(stderr, "soak: ROWS is %d or more\n", LEAST_ROWS);
        return 2;
    }
    const char *only = argc < 3 ? NULL : argv[2];
    give_memory_back();
    soak_detectors(only, rows);
    if (argc < 3 || strcmp(argv[2], "pipeline") == 0)
        soak_pipeline(rows);
    if (argc < 3 || strcmp(argv[2], "reader") == 0)
        soak_reader(rows);
    printf("%d soaked, %d complaints\n", checked, failures);
    return failures > 0 || checked == 0;
}
