/* Passes a synthetic stream through detectors; instructions.py counts the instructions with
 * callgrind.
 *
 *     bench_stream [START...]   runs every case, or those whose names begin so, and prints
 *                               "NAME ROWS" for each, in order
 *
 * For each case a detector first learns two windows of rows, so the counts are of the steady state:
 * every row is learned, the oldest forgotten. Cases called /filling start empty. Then
 * pass_counted_rows passes the counted rows; callgrind resets its count on entry and writes it on
 * exit. Same seed, same rows, same scores, hence the same work: on one machine with one compiler
 * the counts repeat exactly. */
#include <oif.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 2048, /* the longest initial window of a detector */
    FILL_ROWS = 2 * WINDOW,
    COUNTED_ROWS = 8000,
    RRCF_COUNTED_ROWS = 2000, /* each costs as much as ten of the others */
    BLOCK_ROWS = 1000,
    MAX_DIMENSION = 36
};

typedef enum pass {
    LEARN_SCORE,
    LEARN_SCORE_BLOCKS,
    SCORE,
    SCORE_BLOCKS,
    SCORE_LEARN,
    SCORE_LEARN_BLOCKS,
    PASS_COUNT
} pass;

static const char *const pass_names[PASS_COUNT] = {
    [LEARN_SCORE] = "learn-score",
    [LEARN_SCORE_BLOCKS] = "learn-score-blocks",
    [SCORE] = "score",
    [SCORE_BLOCKS] = "score-blocks",
    [SCORE_LEARN] = "score-learn",
    [SCORE_LEARN_BLOCKS] = "score-learn-blocks",
};

static void must(oif_status status, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "bench_stream: %s\n", error->message);
    exit(2);
}

/* ---- The stream: three clouds that slowly drift, one row in 100 anywhere around them ---- */

static double rows[(FILL_ROWS + COUNTED_ROWS) * MAX_DIMENSION], scores[COUNTED_ROWS];

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double next_unit(uint64_t *random)
{
    return (double)(next_random(random) >> 11) * 0x1p-53;
}

/* In (-2, 2), denser in the middle; without libm, so every machine counts the same rows. */
static double next_bell(uint64_t *random)
{
    return next_unit(random) + next_unit(random) - next_unit(random) - next_unit(random);
}

static void make_rows(size_t dimension, double share_missing)
{
    uint64_t random = 7;

    for (size_t i = 0; i < FILL_ROWS + COUNTED_ROWS; i++) {
        size_t cloud = next_random(&random) % 3;
        double spread = next_random(&random) % 100 == 0 ? 6.0 : 0.5;
        for (size_t j = 0; j < dimension; j++) {
            double centre = (double)((cloud + 1) * (j + 1) % 7) + 1e-4 * (double)i;
            double value = centre + spread * next_bell(&random);
            rows[i * dimension + j] = next_unit(&random) < share_missing ? (double)NAN : value;
        }
    }
}

/* The cost of inserting a row depends on how many of its values are outside the boxes of recent
 * rows (detect/row_ranges.h). */
typedef enum place {
    INSIDE,   /* both ends of the range are frequent, so every box has them: no row is outside */
    GAUSSIAN, /* ordinary rows: with ten columns two of three are outside some box */
    PLACE_COUNT
} place;

static const char *const place_remarks[PLACE_COUNT] = {
    [INSIDE] = "/inside",
    [GAUSSIAN] = "/gaussian",
};

/* Nearly normal, with standard deviation 1; without libm. */
static double next_gaussian(uint64_t *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += next_unit(random);
    return sum;
}

static double clamp(double value, double end)
{
    return value > end ? end : value < -end ? -end : value;
}

static void make_rows_at(size_t dimension, place where)
{
    uint64_t random = 7;

    for (size_t i = 0; i < (FILL_ROWS + COUNTED_ROWS) * dimension; i++) {
        double value = next_gaussian(&random);
        rows[i] = where == INSIDE ? clamp(value, 0.8) : value;
    }
}

/* ---- What is counted ---- */

#if defined(__clang__)
#define KEPT_WHOLE __attribute__((noinline))
#else
#define KEPT_WHOLE __attribute__((noinline, noclone))
#endif

KEPT_WHOLE static void pass_counted_rows(oif_detector *detector, size_t count, pass how)
{
    size_t dimension = oif_detector_columns(detector),
           step = how == LEARN_SCORE || how == SCORE || how == SCORE_LEARN ? 1 : BLOCK_ROWS;
    const double *first = rows + FILL_ROWS * dimension;
    oif_status status = OIF_OK;
    oif_error error;

    for (size_t i = 0; i < count && status == OIF_OK; i += step) {
        const double *row = first + i * dimension;
        switch (how) {
        case LEARN_SCORE:
            status = oif_detector_learn_score(detector, row, scores + i, &error);
            break;
        case SCORE: status = oif_detector_score(detector, row, scores + i, &error); break;
        case SCORE_LEARN:
            status = oif_detector_score_learn(detector, row, scores + i, &error);
            break;
        case LEARN_SCORE_BLOCKS:
            status =
                oif_detector_learn_score_rows(detector, row, step, dimension, scores + i, &error);
            break;
        case SCORE_LEARN_BLOCKS:
            status =
                oif_detector_score_learn_rows(detector, row, step, dimension, scores + i, &error);
            break;
        default:
            status = oif_detector_score_rows(detector, row, step, dimension, scores + i, &error);
            break;
        }
    }
    must(status, &error);
}

static oif_params params_of(const char *name)
{
    oif_params params;
    oif_error error;

    must(oif_params_init(&params, name, &error), &error);
    return params;
}

static size_t fill_rows = FILL_ROWS; /* learned before the counted ones */
static char **starts;                /* of the names of the cases to run, then NULL; all if empty */

static bool is_run(const char *name)
{
    bool runs = !*starts;
    for (char **start = starts; *start && !runs; start++)
        runs = strncmp(name, *start, strlen(*start)) == 0;
    return runs;
}

/* Counts rows and prints the name of the case and the number of rows. */
static void run_case(const oif_params *params, const char *name, size_t dimension, pass how,
                     size_t count, const char *remark)
{
    oif_detector *detector = NULL;
    oif_error error;
    char whole_name[100];

    snprintf(whole_name, sizeof whole_name, "%s/%s/d=%zu%s", name, pass_names[how], dimension,
             remark);
    if (!is_run(whole_name))
        return;
    must(oif_detector_new(params, dimension, &detector, &error), &error);
    must(oif_detector_learn_rows(detector, rows, fill_rows, dimension, &error), &error);
    pass_counted_rows(detector, count, how);
    oif_detector_free(detector);
    printf("%s %zu\n", whole_name, count);
}

static void run_variant(const char *variant, size_t dimension, pass how, const char *remark)
{
    oif_params params = params_of("online-iforest");
    oif_error error;

    must(oif_params_set(&params, "window_size", WINDOW, &error), &error);
    must(oif_params_set_text(&params, "variant", variant, &error), &error);
    must(oif_params_set_text(&params, "insertion", "none", &error), &error);
    run_case(&params, variant, dimension, how, fill_rows ? COUNTED_ROWS : WINDOW, remark);
}

static void run_turnover(size_t dimension, pass how, const char *remark)
{
    oif_params params = params_of("online-iforest");
    oif_error error;

    must(oif_params_set_text(&params, "forgetting", "turnover", &error), &error);
    must(oif_params_set_text(&params, "insertion", "none", &error), &error);
    run_case(&params, "turnover", dimension, how, COUNTED_ROWS, remark);
}

static void run_detector(const char *name, size_t dimension, size_t count)
{
    oif_params params = params_of(name);

    run_case(&params, name, dimension, LEARN_SCORE, count, "");
    run_case(&params, name, dimension, LEARN_SCORE_BLOCKS, count, "");
    run_case(&params, name, dimension, SCORE, count, "");
    run_case(&params, name, dimension, SCORE_LEARN, count, "");
    run_case(&params, name, dimension, SCORE_LEARN_BLOCKS, count, "");
}

/* The detectors that insert rows, with and without insertion: NAME/insertion=WORD/... */
static void run_insertion(const char *detector, const char *insertion, size_t dimension,
                          const char *remark)
{
    oif_params params = params_of(detector);
    oif_error error;
    char name[60];

    must(oif_params_set_text(&params, "insertion", insertion, &error), &error);
    snprintf(name, sizeof name, "%s/%s", detector, insertion);
    for (int how = 0; how < PASS_COUNT; how++)
        run_case(&params, name, dimension, (pass)how, COUNTED_ROWS, remark);
}

static void run_insertions(size_t dimension)
{
    for (int where = 0; where < PLACE_COUNT; where++) {
        make_rows_at(dimension, (place)where);
        run_insertion("rolling-iforest", "row", dimension, place_remarks[where]);
        run_insertion("rolling-iforest", "path", dimension, place_remarks[where]);
        run_insertion("online-iforest", "row", dimension, place_remarks[where]);
        run_insertion("online-iforest", "none", dimension, place_remarks[where]);
    }
}

int main(int argument_count, char **arguments)
{
    static const char *const variants[] = {"running", "paper", "reference"};
    static const size_t dimensions[] = {3, 10, 36};
    const size_t dimension_count = sizeof dimensions / sizeof *dimensions;

    (void)argument_count;
    starts = arguments + 1;
    for (size_t d = 0; d < dimension_count; d++) {
        make_rows(dimensions[d], 0);
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
            for (int how = 0; how < PASS_COUNT; how++)
                run_variant(variants[v], dimensions[d], (pass)how, "");
        for (int how = 0; how < PASS_COUNT; how++)
            run_turnover(dimensions[d], (pass)how, "");
    }
    make_rows(10, 0);
    fill_rows = 0;
    run_variant("running", 10, LEARN_SCORE, "/filling");
    run_variant("reference", 10, LEARN_SCORE, "/filling");
    fill_rows = FILL_ROWS;
    make_rows(10, 0.05);
    run_variant("running", 10, LEARN_SCORE, "/missing");
    run_variant("running", 10, SCORE, "/missing");
    run_variant("running", 10, SCORE_LEARN, "/missing");
    run_turnover(10, LEARN_SCORE, "/missing");
    run_turnover(10, SCORE, "/missing");
    run_turnover(10, SCORE_LEARN, "/missing");

    make_rows(10, 0);
    run_detector("iforest-asd", 10, COUNTED_ROWS);
    run_detector("hst", 10, COUNTED_ROWS);
    run_detector("rrcf", 10, RRCF_COUNTED_ROWS);
    run_detector("loda", 10, COUNTED_ROWS);
    run_detector("sdo", 10, COUNTED_ROWS);
    for (size_t d = 0; d < dimension_count; d++)
        run_insertions(dimensions[d]);
    return 0;
}
