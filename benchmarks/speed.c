/* The time per row; for online-iforest compared with the plain translation of the paper
 * (tests/reference).
 *
 *     bench_speed [OPTION...] NAME DIMENSION FILE [NAME DIMENSION FILE ...]
 *
 * A file holds rows of DIMENSION native doubles and nothing else; speed.py makes them from the data
 * sets. All ways of passing the rows run in rotation, several times, so other load on the machine
 * affects all of them; the best run of each counts. One thread is timed by processor time, several
 * by wall-clock time. Creating the detector is not timed, nor is learning if only scoring is
 * measured. */
#include "stopwatch.h"

#include <oif.h>
#include <reference/plain_online_iforest.h>

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bench_speed [OPTION...] NAME DIMENSION FILE [NAME DIMENSION FILE ...]\n"
    "  --json           print JSON instead of a table\n"
    "  --detector NAME  before any --set (default: online-iforest; only this one has the way "
    "plain)\n"
    "  --only WAY,...   of plain, one-by-one, blocks, blocks-2-threads, score-one-by-one, "
    "score-blocks,\n"
    "                   score-blocks-2-threads (default: all that there are)\n"
    "  --repeats N      runs of each way, of which the best counts (default: 5)\n"
    "  --block N        rows in a block (default: 1000)\n"
    "  --set NAME=VALUE a parameter of the detector and of plain, such as num_trees=64\n"
    "  --scores FILE    write the scores of the last way that ran, as native doubles\n";

static _Noreturn void die(const char *format, ...)
{
    va_list arguments;

    fputs("bench_speed: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

static void must(oif_status status, const oif_error *error)
{
    if (status != OIF_OK)
        die("%s", error->message);
}

/* ---- The rows, and what processes them ---- */

typedef struct workload {
    const char *name;
    size_t dimension, count, block_rows;
    double *rows, *scores;
    oif_params params;
} workload;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        die("out of memory");
    return memory;
}

static void load_rows(workload *w, const char *path)
{
    size_t row_bytes = w->dimension * sizeof *w->rows;
    FILE *file = fopen(path, "rb");
    long bytes;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0)
        die("cannot read %s", path);
    if (bytes == 0 || (size_t)bytes % row_bytes != 0)
        die("%s does not hold rows of %zu doubles", path, w->dimension);
    rewind(file);
    w->count = (size_t)bytes / row_bytes;
    w->rows = allocate(w->count, row_bytes);
    w->scores = allocate(w->count, sizeof *w->scores);
    if (fread(w->rows, row_bytes, w->count, file) != w->count)
        die("cannot read %s", path);
    fclose(file);
}

static oif_detector *new_detector(const workload *w, unsigned threads)
{
    oif_detector *detector = NULL;
    oif_error error;

    must(oif_detector_new(&w->params, w->dimension, &detector, &error), &error);
    must(oif_detector_set_threads(detector, threads, &error), &error);
    return detector;
}

static oif_detector *new_learned_detector(const workload *w, unsigned threads)
{
    oif_detector *detector = new_detector(w, threads);
    oif_error error;

    must(oif_detector_learn_rows(detector, w->rows, w->count, w->dimension, &error), &error);
    return detector;
}

static int param(const workload *w, const char *name)
{
    oif_error error;
    double value;

    must(oif_params_get(&w->params, name, &value, &error), &error);
    return (int)value;
}

/* ---- Ways of passing rows ---- */

/* The words of our choices are in the order of the plain translation's enumerators. */
static timing run_plain(const workload *w)
{
    const int leaf = param(w, "max_leaf_samples");
    plain_forest_params params = {.num_trees = param(w, "num_trees"),
                                  .window_size = param(w, "window_size"),
                                  .max_leaf_samples = leaf ? leaf : 32, /* our default */
                                  .growth = (plain_growth)param(w, "growth"),
                                  .variant = (plain_variant)param(w, "variant"),
                                  .seed = (uint64_t)param(w, "seed")};
    plain_forest *forest = plain_forest_new(&params, (int)w->dimension);
    timing started = stopwatch_start(), taken;

    for (size_t i = 0; i < w->count; i++)
        w->scores[i] = plain_forest_learn_score(forest, w->rows + i * w->dimension);
    taken = stopwatch_stop(started);
    plain_forest_free(forest);
    return taken;
}

static timing run_one_by_one(const workload *w)
{
    oif_detector *detector = new_detector(w, 1);
    oif_error error;
    timing started = stopwatch_start(), taken;

    for (size_t i = 0; i < w->count; i++)
        must(oif_detector_learn_score(detector, w->rows + i * w->dimension, &w->scores[i], &error),
             &error);
    taken = stopwatch_stop(started);
    oif_detector_free(detector);
    return taken;
}

static timing run_score_one_by_one(const workload *w)
{
    oif_detector *detector = new_learned_detector(w, 1);
    oif_error error;
    timing started = stopwatch_start(), taken;

    for (size_t i = 0; i < w->count; i++)
        must(oif_detector_score(detector, w->rows + i * w->dimension, &w->scores[i], &error),
             &error);
    taken = stopwatch_stop(started);
    oif_detector_free(detector);
    return taken;
}

static size_t block_at(const workload *w, size_t first)
{
    return w->count - first < w->block_rows ? w->count - first : w->block_rows;
}

static timing run_in_blocks(const workload *w, unsigned threads)
{
    oif_detector *detector = new_detector(w, threads);
    oif_error error;
    timing started = stopwatch_start(), taken;

    for (size_t i = 0; i < w->count; i += w->block_rows)
        must(oif_detector_learn_score_rows(detector, w->rows + i * w->dimension, block_at(w, i),
                                           w->dimension, w->scores + i, &error),
             &error);
    taken = stopwatch_stop(started);
    oif_detector_free(detector);
    return taken;
}

static timing run_score_in_blocks(const workload *w, unsigned threads)
{
    oif_detector *detector = new_learned_detector(w, threads);
    oif_error error;
    timing started = stopwatch_start(), taken;

    for (size_t i = 0; i < w->count; i += w->block_rows)
        must(oif_detector_score_rows(detector, w->rows + i * w->dimension, block_at(w, i),
                                     w->dimension, w->scores + i, &error),
             &error);
    taken = stopwatch_stop(started);
    oif_detector_free(detector);
    return taken;
}

static timing run_blocks(const workload *w)
{
    return run_in_blocks(w, 1);
}

static timing run_blocks_2_threads(const workload *w)
{
    return run_in_blocks(w, 2);
}

static timing run_score_blocks(const workload *w)
{
    return run_score_in_blocks(w, 1);
}

static timing run_score_blocks_2_threads(const workload *w)
{
    return run_score_in_blocks(w, 2);
}

enum way {
    PLAIN,
    ONE_BY_ONE,
    BLOCKS,
    BLOCKS_2,
    SCORE_ONE_BY_ONE,
    SCORE_BLOCKS,
    SCORE_BLOCKS_2,
    WAY_COUNT
};

static const struct {
    const char *name, *heading;
    timing (*run)(const workload *w);
} ways[WAY_COUNT] = {
    [PLAIN] = {"plain", "plain", run_plain},
    [ONE_BY_ONE] = {"one-by-one", "one by one", run_one_by_one},
    [BLOCKS] = {"blocks", "blocks", run_blocks},
    [BLOCKS_2] = {"blocks-2-threads", "2 threads*", run_blocks_2_threads},
    [SCORE_ONE_BY_ONE] = {"score-one-by-one", "score", run_score_one_by_one},
    [SCORE_BLOCKS] = {"score-blocks", "score blk.", run_score_blocks},
    [SCORE_BLOCKS_2] = {"score-blocks-2-threads", "2 threads*", run_score_blocks_2_threads},
};

static bool is_threaded(enum way way)
{
    return way == BLOCKS_2 || way == SCORE_BLOCKS_2;
}

/* ---- Results ---- */

typedef struct result {
    const char *name;
    size_t dimension, count, memory_bytes;
    timing best[WAY_COUNT];
} result;

typedef struct settings {
    bool json, wanted[WAY_COUNT];
    int repeats;
    size_t block_rows;
    const char *scores_path;
    oif_params params;
} settings;

static double nanoseconds(const result *r, enum way way)
{
    timing best = r->best[way];

    return 1e9 * (is_threaded(way) ? best.wall_seconds : best.cpu_seconds) / (double)r->count;
}

/* How many times as fast the second way is. With threads, both are timed by the wall clock. */
static double speedup(const result *r, enum way slow, enum way fast)
{
    if (is_threaded(slow) || is_threaded(fast))
        return r->best[slow].wall_seconds / r->best[fast].wall_seconds;
    return r->best[slow].cpu_seconds / r->best[fast].cpu_seconds;
}

static double mean_speedup(const result *results, size_t count, enum way slow, enum way fast)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += log(speedup(&results[i], slow, fast));
    return exp(sum / (double)count);
}

static const struct comparison {
    const char *what;
    enum way slow, fast;
    double at_least;
} comparisons[] = {
    {"one by one, against plain", PLAIN, ONE_BY_ONE, 8},
    {"blocks, against one by one", ONE_BY_ONE, BLOCKS, 1},
    {"blocks on 2 threads, against one", BLOCKS, BLOCKS_2, 1.5},
    {"scoring, against learning and scoring, one by one", ONE_BY_ONE, SCORE_ONE_BY_ONE, 2},
    {"scoring, against learning and scoring, blocks", BLOCKS, SCORE_BLOCKS, 2},
    {"scoring blocks on 2 threads, against one", SCORE_BLOCKS, SCORE_BLOCKS_2, 1.5},
};

/* Whether there is a plain translation of this detector, which the limits are for. */
static bool has_plain(const settings *s)
{
    return strcmp(s->params.table->name, "online-iforest") == 0;
}

static bool was_run(const settings *s, const struct comparison *c)
{
    return s->wanted[c->slow] && s->wanted[c->fast];
}

static void print_table(const settings *s, const result *results, size_t count)
{
    printf("%s: nanoseconds a row (processor time, * wall), best of %d; blocks of %zu rows\n\n",
           s->params.table->name, s->repeats, s->block_rows);
    printf("%-12s %3s %7s %8s", "set", "d", "rows", "KiB");
    for (int way = 0; way < WAY_COUNT; way++)
        if (s->wanted[way])
            printf(" %10s", ways[way].heading);
    printf("\n");
    for (const result *r = results; r < results + count; r++) {
        printf("%-12s %3zu %7zu %8.1f", r->name, r->dimension, r->count,
               (double)r->memory_bytes / 1024);
        for (int way = 0; way < WAY_COUNT; way++)
            if (s->wanted[way])
                printf(" %10.0f", nanoseconds(r, (enum way)way));
        printf("\n");
    }
}

static void print_comparisons(const settings *s, const result *results, size_t count)
{
    printf("\ntimes as fast");
    for (const result *r = results; r < results + count; r++)
        printf("%s %s", r == results ? ":" : ",", r->name);
    printf("; geometric mean%s\n\n", has_plain(s) ? ", bar" : "");
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const struct comparison *c = &comparisons[i];
        if (!was_run(s, c))
            continue;
        double mean = mean_speedup(results, count, c->slow, c->fast);
        printf("%-50s", c->what);
        for (const result *r = results; r < results + count; r++)
            printf(" %6.2f", speedup(r, c->slow, c->fast));
        printf("   mean %6.2f", mean);
        if (has_plain(s))
            printf(", bar %g: %s", c->at_least, mean >= c->at_least ? "met" : "MISSED");
        printf("\n");
    }
}

static void print_json(const settings *s, const result *results, size_t count)
{
    printf("{\"version\": \"%s\", \"detector\": \"%s\", \"repeats\": %d, \"block_rows\": %zu, "
           "\"sets\": [",
           oif_version(), s->params.table->name, s->repeats, s->block_rows);
    for (const result *r = results; r < results + count; r++) {
        printf("%s\n {\"name\": \"%s\", \"dimension\": %zu, \"rows\": %zu, \"memory_bytes\": %zu, "
               "\"ways\": {",
               r == results ? "" : ",", r->name, r->dimension, r->count, r->memory_bytes);
        const char *separator = "";
        for (int way = 0; way < WAY_COUNT; way++)
            if (s->wanted[way]) {
                printf("%s\n  \"%s\": {\"cpu_seconds\": %.9f, \"wall_seconds\": %.9f}", separator,
                       ways[way].name, r->best[way].cpu_seconds, r->best[way].wall_seconds);
                separator = ",";
            }
        printf("}}");
    }
    printf("],\n \"geometric_means\": {");
    const char *separator = "";
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        const struct comparison *c = &comparisons[i];
        if (!was_run(s, c))
            continue;
        printf("%s\n  \"%s\": {\"times\": %.4f", separator, c->what,
               mean_speedup(results, count, c->slow, c->fast));
        if (has_plain(s))
            printf(", \"bar\": %g", c->at_least);
        printf("}");
        separator = ",";
    }
    printf("}}\n");
}

/* ---- The run ---- */

static result measure(const settings *s, const workload *w)
{
    result r = {.name = w->name, .dimension = w->dimension, .count = w->count};
    oif_error error;

    must(oif_detector_estimate_bytes(&w->params, w->dimension, &r.memory_bytes, &error), &error);
    for (int repeat = 0; repeat < s->repeats; repeat++)
        for (int way = 0; way < WAY_COUNT; way++)
            if (s->wanted[way]) {
                timing taken = ways[way].run(w);
                r.best[way] = repeat == 0 ? taken : timing_best(r.best[way], taken);
            }
    return r;
}

static void save_scores(const char *path, const workload *w)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(w->scores, sizeof *w->scores, w->count, file) != w->count ||
        fclose(file) != 0)
        die("cannot write %s", path);
}

static void choose_ways(settings *s, char *names)
{
    memset(s->wanted, 0, sizeof s->wanted);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int way = 0;
        while (way < WAY_COUNT && strcmp(name, ways[way].name) != 0)
            way++;
        if (way == WAY_COUNT)
            die("no way is called %s\n%s", name, usage);
        s->wanted[way] = true;
    }
}

static void set_param(settings *s, char *assignment)
{
    char *value = strchr(assignment, '=');
    oif_error error;

    if (!value)
        die("--set wants NAME=VALUE, not %s", assignment);
    *value++ = '\0';
    must(oif_params_set_text(&s->params, assignment, value, &error), &error);
}

static void choose_detector(settings *s, const char *name)
{
    oif_error error;

    must(oif_params_init(&s->params, name, &error), &error);
}

/* Returns the index of the first argument that is not an option. */
static int read_options(settings *s, int argc, char **argv)
{
    int i = 1;
    char *only = NULL;

    *s = (settings){.repeats = 5, .block_rows = 1000};
    memset(s->wanted, 1, sizeof s->wanted);
    choose_detector(s, "online-iforest");
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--json") == 0) {
            s->json = true;
            continue;
        }
        if (++i == argc)
            die("%s wants a value, or is unknown\n%s", option, usage);
        if (strcmp(option, "--detector") == 0)
            choose_detector(s, argv[i]);
        else if (strcmp(option, "--only") == 0)
            only = argv[i];
        else if (strcmp(option, "--repeats") == 0)
            s->repeats = atoi(argv[i]);
        else if (strcmp(option, "--block") == 0)
            s->block_rows = strtoul(argv[i], NULL, 10);
        else if (strcmp(option, "--set") == 0)
            set_param(s, argv[i]);
        else if (strcmp(option, "--scores") == 0)
            s->scores_path = argv[i];
        else
            die("no option is called %s\n%s", option, usage);
    }
    s->wanted[PLAIN] = has_plain(s);
    if (only)
        choose_ways(s, only);
    if (s->wanted[PLAIN] && !has_plain(s))
        die("there is no plain translation of %s here", s->params.table->name);
    if (s->repeats < 1 || s->block_rows < 1 || i == argc || (argc - i) % 3 != 0)
        die("%s", usage);
    return i;
}

int main(int argc, char **argv)
{
    settings s;
    int first = read_options(&s, argc, argv);
    size_t count = (size_t)(argc - first) / 3;
    result *results = allocate(count, sizeof *results);

    for (size_t i = 0; i < count; i++) {
        char **arguments = argv + first + 3 * i;
        workload w = {.name = arguments[0],
                      .dimension = strtoul(arguments[1], NULL, 10),
                      .block_rows = s.block_rows,
                      .params = s.params};
        if (w.dimension == 0)
            die("the dimension of %s is not a number: %s", arguments[0], arguments[1]);
        load_rows(&w, arguments[2]);
        results[i] = measure(&s, &w);
        if (s.scores_path)
            save_scores(s.scores_path, &w);
        free(w.rows);
        free(w.scores);
    }
    if (s.json) {
        print_json(&s, results, count);
    } else {
        print_table(&s, results, count);
        print_comparisons(&s, results, count);
    }
    free(results);
    return 0;
}
