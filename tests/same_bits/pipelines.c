/* Pipelines: everything that turns scores into alerts, with every option that affects it.
 *
 * The stream has the four columns that the judges are for, and an incident for each of them:
 *
 *     0    a wave, a period of 48 rows        stuck; shifted by half a period
 *     1    follows it                         no longer does
 *     2    a counter, for rates               starts at 0 again
 *     3    a cloud                            outliers, missing, higher for a while
 */
#include "same_bits.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 4,
    ROWS = 2700,
    GOLDEN_ROWS = 600,
    RESTART_ROWS = 900,
    PERIOD = 48,
    ROW_SECONDS = 60,
    MOST_LEARNED = 2 * COLUMNS,
    MOST_BYTES = 1 << 20
};

typedef struct pipeline_case {
    const char *name, *detector;
    const char *settings; /* of the detector, besides the usual ones */
    const char *options;  /* that differ from the defaults */
    bool has_times;
    bool derives;
    bool has_keys;
    bool is_wild; /* values are missing, or at either end of the range of a double */
} pipeline_case;

static const pipeline_case cases[] = {
    {.name = "pipeline_as_created", .detector = "rolling-iforest", .options = ""},
    {.name = "pipeline_without_moves",
     .detector = "rolling-iforest",
     .options = "learn=all moves=off"},
    {.name = "pipeline_moves",
     .detector = "rolling-iforest",
     .options = "find_season=off moves=on"},
    {.name = "pipeline_learns_normal", .detector = "online-iforest", .options = "learn=normal"},
    {.name = "pipeline_shingle", .detector = "online-iforest", .options = "shingle=3"},
    {.name = "pipeline_together", .detector = "rolling-iforest+sdo", .options = "alert_rate=0.005"},
    {.name = "pipeline_season_in_rows",
     .detector = "rolling-iforest",
     .options = "season_rows=48 alert_rate=0.005"},
    {.name = "pipeline_seasons_in_seconds",
     .detector = "rolling-iforest",
     .options = "season_seconds=2880 other_season_seconds=20160 alert_rate=0.005",
     .has_times = true},
    {.name = "pipeline_derived",
     .detector = "sdo",
     .options = "alert_rate=0.005",
     .has_times = true,
     .derives = true},
    {.name = "pipeline_derived_by_row", .detector = "loda", .options = "", .derives = true},
    {.name = "pipeline_alerts",
     .detector = "rolling-iforest",
     .options = "alerts=20",
     .has_times = true,
     .has_keys = true},
    {.name = "pipeline_wild",
     .detector = "rolling-iforest+sdo+hst",
     .options = "season_rows=48 season_seconds=2880 alerts=20",
     .has_times = true,
     .derives = true,
     .has_keys = true,
     .is_wild = true},
};

static const pipeline_case goldens[] = {
    {.name = "pipeline",
     .detector = "rolling-iforest+sdo",
     .settings = "num_trees=3 window_size=60 sample_size=16 max_leaf_samples=4 num_observers=9 "
                 "num_neighbours=3 sdo_window_size=40",
     .options = "season_rows=48 season_seconds=2880 alerts=20 moves=off",
     .has_times = true,
     .derives = true},
    {.name = "pipeline_moves",
     .detector = "rolling-iforest",
     .settings = "num_trees=3 window_size=60 sample_size=16 max_leaf_samples=4",
     .options = "find_season=off moves=on"},
    {.name = "pipeline_keys",
     .detector = "rolling-iforest",
     .settings = "num_trees=3 window_size=60 sample_size=16 max_leaf_samples=4",
     .options = "alerts=20",
     .has_times = true,
     .has_keys = true},
};
enum { GOLDENS = sizeof goldens / sizeof *goldens };

/* ---- Rows ---- */

typedef struct timed_row {
    double seconds; /* NaN: unknown */
    double values[COLUMNS];
} timed_row;

static bool is_within(size_t row, size_t first, size_t count)
{
    return row >= first && row < first + count;
}

static double wave_at(size_t row)
{
    size_t at = row % PERIOD;
    return (double)(at < PERIOD / 2 ? at : PERIOD - at);
}

static double seconds_at(size_t row)
{
    const double start = 1700000000, pause = row < 2000 ? 0 : 10 * PERIOD * ROW_SECONDS;
    return row % 500 == 499 ? (double)NAN : start + (double)row * ROW_SECONDS + pause;
}

static void make_wild(uint64_t *random, double values[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        uint64_t choice = next_random(random) % 64;
        values[i] = choice == 0   ? (double)NAN
                    : choice == 1 ? DBL_MAX
                    : choice == 2 ? -DBL_MAX
                    : choice == 3 ? DBL_MIN / 4
                                  : values[i];
    }
}

static void make_stream(const pipeline_case *c, timed_row rows[ROWS])
{
    uint64_t random = 1;
    double counter = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double *values = rows[i].values;
        size_t shift = is_within(i, 2150, PERIOD / 2) ? PERIOD / 2 : 0;
        double wave = wave_at(i + shift) + next_cloud_value(&random) / 4;
        counter = i == 1700 ? 0 : counter + 100 + (double)(next_random(&random) % 16);
        rows[i].seconds = c->has_times ? seconds_at(i) : (double)NAN;
        values[0] = is_within(i, 1400, 60) ? rows[1399].values[0] : wave;
        values[1] = is_within(i, 1800, 16) ? 60 - wave : 2 * wave + next_cloud_value(&random) / 8;
        values[2] = counter;
        values[3] =
            next_cloud_value(&random) + (i % 331 == 330 ? 8 : 0) + (is_within(i, 2500, 12) ? 2 : 0);
        if (is_within(i, 2300, 6))
            values[3] = (double)NAN;
        if (c->is_wild)
            make_wild(&random, values);
    }
}

/* ---- Outcome ---- */

typedef struct outcome {
    uint64_t hash;
    unsigned silences;
    unsigned anomalies[OIF_REASONS]; /* by reason */
} outcome;

/* All NaNs count as one. */
static void add_number(outcome *out, double number)
{
    out->hash = hash_double(out->hash, number == number ? number : 0x1p-1000);
}

static void add_result(outcome *out, const oif_result *result)
{
    const double numbers[] = {result->score, result->threshold, result->severity, result->pause};
    const unsigned words[] = {result->anomaly, result->ready,  result->learned, result->episode,
                              result->grade,   result->reason, result->detector};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(out, numbers[i]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        out->hash = hash_byte(out->hash, (unsigned char)words[i]);
    out->anomalies[result->reason] += result->anomaly;
}

static void add_explanation(outcome *out, oif_pipeline *pipeline)
{
    oif_attribution attributions[MOST_LEARNED];
    memset(attributions, 0, sizeof attributions);
    oif_pipeline_explain(pipeline, attributions);
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        add_number(out, attributions[i].share);
        add_number(out, attributions[i].size);
        add_number(out, attributions[i].usual);
        out->hash = hash_byte(out->hash, (unsigned char)(attributions[i].direction + 1));
        out->hash = hash_byte(out->hash, (unsigned char)attributions[i].partner);
    }
}

static void add_silence(void *context, const oif_silence *silence)
{
    outcome *out = context;
    add_number(out, silence->since);
    add_number(out, silence->allowed);
    out->silences++;
}

static void print_outcome(const char *name, const outcome *out, uint64_t snapshot_hash)
{
    static const struct {
        oif_reason reason;
        const char *name;
    } reasons[] = {{OIF_REASON_VALUES, "values"},         {OIF_REASON_JUMP, "jump"},
                   {OIF_REASON_LEVEL, "level"},           {OIF_REASON_SPREAD, "spread"},
                   {OIF_REASON_STUCK, "stuck"},           {OIF_REASON_MISSING, "missing"},
                   {OIF_REASON_SEASON, "season"},         {OIF_REASON_PARTNER, "partner"},
                   {OIF_REASON_SILENCE, "after_silence"}, {OIF_REASON_NEW_VALUE, "new"},
                   {OIF_REASON_RARE_VALUE, "rare"},       {OIF_REASON_FIRST_VALUE, "first"}};
    printf("%s %016llx %016llx", name, (unsigned long long)out->hash,
           (unsigned long long)snapshot_hash);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        printf(" %s=%u", reasons[i].name, out->anomalies[reasons[i].reason]);
    printf(" silences=%u\n", out->silences);
}

/* ---- Snapshots ---- */

typedef struct snapshot {
    size_t count;
    unsigned char bytes[MOST_BYTES];
} snapshot;

static ptrdiff_t take_bytes(void *context, const char *bytes, size_t count)
{
    snapshot *taken = context;
    if (count > MOST_BYTES - taken->count)
        return -1;
    memcpy(taken->bytes + taken->count, bytes, count);
    taken->count += count;
    return (ptrdiff_t)count;
}

static const snapshot *save(const oif_pipeline *pipeline, const char *name)
{
    static snapshot taken;
    oif_error error;
    taken.count = 0;
    require(oif_pipeline_save(pipeline, take_bytes, &taken, &error), name, &error);
    return &taken;
}

static void restart(oif_pipeline **pipeline, const char *name)
{
    oif_error error;
    const snapshot *taken = save(*pipeline, name);
    oif_pipeline_free(*pipeline);
    require(oif_pipeline_load_memory(taken->bytes, taken->count, pipeline, &error), name, &error);
}

static uint64_t hash_of_snapshot(const oif_pipeline *pipeline, const char *name)
{
    const snapshot *taken = save(pipeline, name);
    uint64_t hash = fnv_start;
    for (size_t i = 0; i < taken->count; i++)
        hash = hash_byte(hash, taken->bytes[i]);
    return hash;
}

/* ---- Cases ---- */

static oif_pipeline *make_pipeline(const pipeline_case *c)
{
    oif_params params, options;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    choose_detector(c->detector, c->settings ? c->settings : "", &params);
    oif_pipeline_options_init(&options);
    apply_settings(&options, c->options);
    require(oif_pipeline_new(&params, COLUMNS, &options, &pipeline, &error), c->name, &error);
    if (c->derives) {
        require(oif_pipeline_derive(pipeline, 0, OIF_DERIVE_DIFF, true, &error), c->name, &error);
        require(oif_pipeline_derive(pipeline, 2, OIF_DERIVE_RATE, false, &error), c->name, &error);
        require(oif_pipeline_derive(pipeline, 3, OIF_DERIVE_LOG, false, &error), c->name, &error);
    }
    return pipeline;
}

static void process(oif_pipeline *pipeline, const pipeline_case *c, const timed_row *row,
                    size_t number, outcome *out)
{
    oif_result result;
    oif_error error;
    const char *key = c->has_keys ? number % 2 ? "odd" : "even" : NULL;
    if (row->seconds == row->seconds)
        oif_pipeline_silent(pipeline, row->seconds, add_silence, out);
    require(oif_pipeline_process_at(pipeline, key, key ? strlen(key) : 0, row->seconds, row->values,
                                    &result, &error),
            c->name, &error);
    add_result(out, &result);
    if (result.anomaly)
        add_explanation(out, pipeline);
}

static void run_pipeline(const pipeline_case *c, bool restarts)
{
    static timed_row rows[ROWS];
    outcome out = {.hash = fnv_start};
    oif_error error;
    oif_pipeline *pipeline = make_pipeline(c);
    make_stream(c, rows);
    for (size_t i = 0; i < ROWS; i++) {
        if (restarts && i % RESTART_ROWS == RESTART_ROWS - 1)
            restart(&pipeline, c->name);
        process(pipeline, c, &rows[i], i, &out);
    }
    require(oif_pipeline_check(pipeline, &error), c->name, &error);
    print_outcome(c->name, &out, hash_of_snapshot(pipeline, c->name));
    oif_pipeline_free(pipeline);
}

static void add_row_of_table(void *context, oif_pipeline *pipeline, size_t row,
                             const oif_result *result)
{
    (void)row;
    add_result(context, result);
    if (result->anomaly)
        add_explanation(context, pipeline);
}

/* The first rows as a finished table. */
static void run_table(const pipeline_case *c, size_t count)
{
    static timed_row rows[ROWS];
    static double values[ROWS][COLUMNS];
    static oif_result results[ROWS];
    outcome out = {.hash = fnv_start};
    oif_table_info info;
    oif_error error;
    char name[64];
    oif_pipeline *pipeline = make_pipeline(c);
    make_stream(c, rows);
    for (size_t i = 0; i < count; i++)
        memcpy(values[i], rows[i].values, sizeof values[i]);
    snprintf(name, sizeof name, "table_%zu_%s", count, c->name);
    require(oif_pipeline_process_table(pipeline, values[0], count, COLUMNS, NULL, add_row_of_table,
                                       &out, results, &info, &error),
            name, &error);
    print_outcome(name, &out, hash_of_snapshot(pipeline, name));
    oif_pipeline_free(pipeline);
}

void run_pipelines(size_t block_size)
{
    run_table(&cases[0], 100);
    run_table(&cases[0], 1500);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_pipeline(&cases[i], block_size > 1);
}

/* ---- Golden snapshots ---- */

static void save_golden(const pipeline_case *c, const char *folder)
{
    static timed_row rows[ROWS];
    char path[200];
    outcome out = {.hash = fnv_start};
    oif_error error = {.message = "not written"};
    golden_path(folder, c->name, path);
    FILE *file = fopen(path, "wbx");
    if (!file)
        return; /* it exists */
    oif_pipeline *pipeline = make_pipeline(c);
    make_stream(c, rows);
    for (size_t i = 0; i < GOLDEN_ROWS; i++)
        process(pipeline, c, &rows[i], i, &out);
    const snapshot *taken = save(pipeline, c->name);
    size_t written = fwrite(taken->bytes, 1, taken->count, file);
    require(fclose(file) == 0 && written == taken->count ? OIF_OK : OIF_EWRITE, path, &error);
    oif_pipeline_free(pipeline);
}

void save_golden_pipelines(const char *folder)
{
    for (size_t i = 0; i < GOLDENS; i++)
        save_golden(&goldens[i], folder);
}

static void run_golden(const pipeline_case *c, const char *folder)
{
    static timed_row rows[ROWS];
    char path[200], name[64];
    outcome out = {.hash = fnv_start};
    oif_pipeline *pipeline = NULL;
    oif_error error;
    golden_path(folder, c->name, path);
    size_t count;
    const void *bytes = golden_bytes(path, &count);
    require(oif_pipeline_load_memory(bytes, count, &pipeline, &error), path, &error);
    uint64_t snapshot_hash = hash_of_snapshot(pipeline, c->name);
    make_stream(c, rows);
    for (size_t i = GOLDEN_ROWS; i < ROWS; i++)
        process(pipeline, c, &rows[i], i, &out);
    snprintf(name, sizeof name, "snapshot_of_%s", c->name);
    print_outcome(name, &out, snapshot_hash);
    oif_pipeline_free(pipeline);
}

/* A log of few keys, which tests/pipeline/test_pipeline_updates_damage.c writes. */
static void run_golden_log(const char *folder)
{
    enum { LOG_KEYS = 6, LOG_ROWS = 60 };
    static const char name[] = "pipeline_updates";
    char path[200];
    size_t count;
    outcome out = {.hash = fnv_start};
    oif_pipeline *pipeline = NULL;
    oif_error error;
    golden_path(folder, name, path);
    const void *bytes = golden_bytes(path, &count);
    require(oif_pipeline_load_memory(bytes, count, &pipeline, &error), path, &error);
    uint64_t snapshot_hash = hash_of_snapshot(pipeline, name);
    for (unsigned i = 0; i < LOG_ROWS; i++) {
        char key[20];
        oif_result result;
        const double row[2] = {i * 5 % 7, i * 3 % 11};
        const int length = snprintf(key, sizeof key, "host-%u", i % LOG_KEYS);
        require(oif_pipeline_process(pipeline, key, (size_t)length, row, &result, &error), name,
                &error);
        add_result(&out, &result);
    }
    print_outcome("snapshot_of_pipeline_updates", &out, snapshot_hash);
    oif_pipeline_free(pipeline);
}

void run_golden_pipelines(const char *folder)
{
    for (size_t i = 0; i < GOLDENS; i++)
        run_golden(&goldens[i], folder);
    run_golden_log(folder);
}
