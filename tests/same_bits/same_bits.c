/* Prints one line per case: its name, a hash of every bit of every score and one of the final
 * snapshot. The lines must be the same on every machine, with every compiler and for every block
 * size; run.sh compares them.
 *
 *     same_bits BLOCK_SIZE SNAPSHOTS      the last lines are about the snapshots in this folder
 *     same_bits --save SNAPSHOTS          creates missing snapshots of the current format
 *
 * The rows are whole numbers divided by powers of two, so computing them rounds nothing and needs
 * no libm. */
#include "same_bits.h"

#include <oif_rows.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_COUNT = 2500,
    MANY_ROWS = 4500, /* after 4,096 the boxes that insert rows are replaced one by one */
    PROBE_COUNT = 200,
    MAX_DIMENSION = 52,
    MAX_STRIDE = MAX_DIMENSION + 1
};

typedef enum row_kind {
    ROWS_PLAIN,     /* a cloud with an outlier now and then */
    ROWS_MISSING,   /* every eighth value is NaN */
    ROWS_FAR,       /* the cloud is at 1e9 */
    ROWS_DUPLICATE, /* few distinct values, the last feature constant */
    ROWS_CONSTANT,  /* one row over and over */
    ROWS_HUGE,      /* both ends of the range of a double */
    ROWS_SPIKES     /* now and then one value is extreme or missing; the last feature is constant,
                       then is not */
} row_kind;

typedef struct bits_case {
    const char *name;
    size_t dimension;
    row_kind rows;
    const char *settings; /* that differ from the usual ones here: "variant=paper growth=fixed" */
    const char *detector; /* NULL: online-iforest */
} bits_case;

/* Small, so emulated machines finish in seconds; rows still split, merge and forget. */
static const struct {
    const char *detector, *settings;
} usual[] = {
    {"online-iforest", "num_trees=8 window_size=512 max_leaf_samples=16 seed=42 insertion=none"},
    {"iforest-asd", "num_trees=8 window_size=512 subsample_size=64 seed=42"},
    {"hst", "num_trees=9 window_size=100 seed=42"},
    {"rrcf", "num_trees=8 tree_size=64 window_size=512 seed=42"},
    {"loda", "num_projections=9 window_size=128 seed=42"},
    {"rolling-iforest", "num_trees=9 window_size=512 sample_size=64 seed=42 insertion=path"},
    {"sdo", "num_observers=50 window_size=256 seed=42"},
    {"rolling-iforest+sdo", "num_trees=9 window_size=512 sample_size=64 seed=42 num_observers=50 "
                            "sdo_window_size=256"},
    {"rolling-iforest+sdo+hst", "num_trees=5 window_size=512 sample_size=64 seed=42 "
                                "num_observers=50 sdo_window_size=256 hst_num_trees=5 "
                                "hst_window_size=100"},
};

static const bits_case cases[] = {
    {"running", 3, ROWS_PLAIN, "variant=running", NULL},
    {"paper", 3, ROWS_PLAIN, "variant=paper", NULL},
    {"reference", 3, ROWS_PLAIN, "variant=reference", NULL},
    {"running_fixed", 3, ROWS_PLAIN, "variant=running growth=fixed", NULL},
    {"paper_fixed", 3, ROWS_PLAIN, "variant=paper growth=fixed", NULL},
    {"reference_fixed", 3, ROWS_PLAIN, "variant=reference growth=fixed", NULL},
    {"one_feature", 1, ROWS_PLAIN, "", NULL},
    {"ten_features", 10, ROWS_PLAIN, "", NULL},
    {"half_of_the_rows", 3, ROWS_PLAIN, "subsample=0.5", NULL},
    {"half_of_the_rows_reference", 10, ROWS_PLAIN, "subsample=0.5 variant=reference", NULL},
    {"window_smaller_than_leaf", 3, ROWS_PLAIN, "window_size=10 max_leaf_samples=32", NULL},
    {"window_of_one", 3, ROWS_PLAIN, "window_size=1 max_leaf_samples=1", NULL},
    {"smallest_leaves", 3, ROWS_PLAIN, "max_leaf_samples=1", NULL},
    {"odd_sizes", 3, ROWS_PLAIN, "num_trees=5 window_size=777 max_leaf_samples=7", NULL},
    {"other_seed", 3, ROWS_PLAIN, "seed=9007199254740991", NULL},
    {"as_created", 10, ROWS_PLAIN, "num_trees=32 window_size=2048 max_leaf_samples=32", NULL},
    {"missing_values", 3, ROWS_MISSING, "", NULL},
    {"missing_values_paper", 10, ROWS_MISSING, "variant=paper growth=fixed", NULL},
    {"missing_values_reference", 10, ROWS_MISSING, "variant=reference", NULL},
    {"far_from_zero", 3, ROWS_FAR, "", NULL},
    {"far_from_zero_reference", 3, ROWS_FAR, "variant=reference", NULL},
    {"duplicates", 3, ROWS_DUPLICATE, "", NULL},
    {"duplicates_reference", 3, ROWS_DUPLICATE, "variant=reference", NULL},
    {"constant", 3, ROWS_CONSTANT, "", NULL},
    {"huge", 3, ROWS_HUGE, "", NULL},
    {"long_rows", 20, ROWS_PLAIN, "", NULL}, /* these have inner boxes */
    {"long_rows_reference", 52, ROWS_PLAIN, "variant=reference", NULL},
    {"long_rows_missing_values", 36, ROWS_MISSING, "", NULL},
    {"long_rows_huge", 20, ROWS_HUGE, "", NULL},
    {"turnover", 3, ROWS_PLAIN, "forgetting=turnover", NULL},
    {"turnover_ten_features", 10, ROWS_PLAIN, "forgetting=turnover num_trees=32 max_leaf_samples=0",
     NULL},
    {"turnover_one_feature", 1, ROWS_PLAIN, "forgetting=turnover max_leaf_samples=0", NULL},
    {"turnover_fixed", 3, ROWS_PLAIN, "forgetting=turnover growth=fixed", NULL},
    {"turnover_odd_sizes", 3, ROWS_PLAIN,
     "forgetting=turnover num_trees=13 shadow_trees=3 maturity=77", NULL},
    {"turnover_every_row", 3, ROWS_PLAIN,
     "forgetting=turnover num_trees=70 shadow_trees=5 maturity=5", NULL},
    {"turnover_old", 3, ROWS_PLAIN, "forgetting=turnover num_trees=9 shadow_trees=1 maturity=1600",
     NULL},
    {"turnover_missing_values", 10, ROWS_MISSING, "forgetting=turnover", NULL},
    {"turnover_far_from_zero", 3, ROWS_FAR, "forgetting=turnover", NULL},
    {"turnover_duplicates", 3, ROWS_DUPLICATE, "forgetting=turnover", NULL},
    {"turnover_constant", 3, ROWS_CONSTANT, "forgetting=turnover", NULL},
    {"turnover_huge", 3, ROWS_HUGE, "forgetting=turnover", NULL},
    {"asd", 3, ROWS_PLAIN, "", "iforest-asd"},
    {"asd_drift", 3, ROWS_PLAIN, "retrain=drift drift_rate=0.3", "iforest-asd"},
    {"asd_one_feature", 1, ROWS_PLAIN, "", "iforest-asd"},
    {"asd_as_created", 10, ROWS_PLAIN, "num_trees=32 window_size=2048 subsample_size=256",
     "iforest-asd"},
    {"asd_odd_sizes", 3, ROWS_PLAIN, "num_trees=13 window_size=777 subsample_size=100",
     "iforest-asd"},
    {"asd_window_of_two", 3, ROWS_PLAIN, "window_size=2", "iforest-asd"},
    {"asd_missing_values", 10, ROWS_MISSING, "retrain=drift", "iforest-asd"},
    {"asd_far_from_zero", 3, ROWS_FAR, "", "iforest-asd"},
    {"asd_duplicates", 3, ROWS_DUPLICATE, "", "iforest-asd"},
    {"asd_constant", 3, ROWS_CONSTANT, "", "iforest-asd"},
    {"asd_huge", 3, ROWS_HUGE, "", "iforest-asd"},
    {"hst", 3, ROWS_PLAIN, "", "hst"},
    {"hst_every", 3, ROWS_PLAIN, "ranges=every", "hst"},
    {"hst_fixed", 3, ROWS_PLAIN, "ranges=fixed range_low=0 range_high=4", "hst"},
    {"hst_one_feature", 1, ROWS_PLAIN, "", "hst"},
    {"hst_as_created", 10, ROWS_PLAIN, "num_trees=32 window_size=250", "hst"},
    {"hst_deep", 3, ROWS_PLAIN, "max_depth=24 size_limit=0 window_size=60", "hst"},
    {"hst_window_of_one", 3, ROWS_PLAIN, "window_size=1", "hst"},
    {"hst_missing_values", 10, ROWS_MISSING, "", "hst"},
    {"hst_far_from_zero", 3, ROWS_FAR, "", "hst"},
    {"hst_duplicates", 3, ROWS_DUPLICATE, "", "hst"},
    {"hst_constant", 3, ROWS_CONSTANT, "", "hst"},
    {"hst_huge", 3, ROWS_HUGE, "", "hst"},
    {"rrcf", 3, ROWS_PLAIN, "", "rrcf"},
    {"rrcf_one_feature", 1, ROWS_PLAIN, "", "rrcf"},
    {"rrcf_ten_features", 10, ROWS_PLAIN, "", "rrcf"},
    {"rrcf_sliding", 10, ROWS_PLAIN, "sample=sliding", "rrcf"},
    {"rrcf_smallest_trees", 3, ROWS_PLAIN, "tree_size=2 window_size=1", "rrcf"},
    {"rrcf_as_created", 10, ROWS_PLAIN, "num_trees=32 tree_size=256 window_size=2048", "rrcf"},
    {"rrcf_missing_values", 10, ROWS_MISSING, "", "rrcf"},
    {"rrcf_missing_values_sliding", 3, ROWS_MISSING, "sample=sliding", "rrcf"},
    {"rrcf_far_from_zero", 3, ROWS_FAR, "", "rrcf"},
    {"rrcf_duplicates", 3, ROWS_DUPLICATE, "sample=sliding", "rrcf"},
    {"rrcf_constant", 3, ROWS_CONSTANT, "", "rrcf"},
    {"rrcf_huge", 10, ROWS_HUGE, "", "rrcf"},
    {"loda", 3, ROWS_PLAIN, "", "loda"},
    {"loda_not_scaled", 3, ROWS_PLAIN, "scale=none", "loda"},
    {"loda_one_feature", 1, ROWS_PLAIN, "", "loda"},
    {"loda_as_created", 10, ROWS_PLAIN, "num_projections=32 window_size=512", "loda"},
    {"loda_odd_sizes", 3, ROWS_PLAIN, "num_projections=50 window_size=33 num_bins=7", "loda"},
    {"loda_window_of_one", 3, ROWS_PLAIN, "window_size=1", "loda"},
    {"loda_missing_values", 10, ROWS_MISSING, "", "loda"},
    {"loda_far_from_zero", 3, ROWS_FAR, "", "loda"},
    {"loda_duplicates", 3, ROWS_DUPLICATE, "", "loda"},
    {"loda_constant", 3, ROWS_CONSTANT, "", "loda"},
    {"loda_huge", 3, ROWS_HUGE, "", "loda"},
    {"loda_huge_not_scaled", 3, ROWS_HUGE, "scale=none", "loda"},
    {"sdo", 3, ROWS_PLAIN, "", "sdo"},
    {"sdo_not_scaled", 3, ROWS_PLAIN, "scale=none", "sdo"},
    {"sdo_one_feature", 1, ROWS_PLAIN, "", "sdo"},
    {"sdo_as_created", 10, ROWS_PLAIN, "num_observers=200 window_size=2048", "sdo"},
    {"sdo_odd_sizes", 3, ROWS_PLAIN, "num_observers=37 num_neighbours=5 idle_share=0.41", "sdo"},
    {"sdo_one_observer", 3, ROWS_PLAIN, "num_observers=1 window_size=1", "sdo"},
    {"sdo_missing_values", 10, ROWS_MISSING, "", "sdo"},
    {"sdo_far_from_zero", 3, ROWS_FAR, "", "sdo"},
    {"sdo_duplicates", 3, ROWS_DUPLICATE, "", "sdo"},
    {"sdo_constant", 3, ROWS_CONSTANT, "", "sdo"},
    {"sdo_spikes", 5, ROWS_SPIKES, "", "sdo"},
    {"sdo_huge", 3, ROWS_HUGE, "", "sdo"},
    {"sdo_huge_not_scaled", 3, ROWS_HUGE, "scale=none", "sdo"},
    {"rolling", 3, ROWS_PLAIN, "", "rolling-iforest"},
    {"rolling_one_feature", 1, ROWS_PLAIN, "", "rolling-iforest"},
    {"rolling_as_created", 10, ROWS_PLAIN, "num_trees=32 window_size=2048 sample_size=128",
     "rolling-iforest"},
    {"rolling_no_insertion", 3, ROWS_PLAIN, "insertion=none tournament=1", "rolling-iforest"},
    {"rolling_all_trees_at_once", 3, ROWS_PLAIN, "renew_trees=9", "rolling-iforest"},
    {"rolling_deep", 10, ROWS_PLAIN, "max_leaf_samples=1 max_depth=32 tournament=7",
     "rolling-iforest"},
    {"rolling_smallest_window", 3, ROWS_PLAIN, "window_size=4", "rolling-iforest"},
    {"rolling_missing_values", 10, ROWS_MISSING, "", "rolling-iforest"},
    {"rolling_far_from_zero", 3, ROWS_FAR, "", "rolling-iforest"},
    {"rolling_duplicates", 3, ROWS_DUPLICATE, "", "rolling-iforest"},
    {"rolling_constant", 3, ROWS_CONSTANT, "", "rolling-iforest"},
    {"rolling_huge", 3, ROWS_HUGE, "", "rolling-iforest"},
};

/* Row insertion, with many rows. */
static const bits_case insertion_cases[] = {
    {"row_rolling", 3, ROWS_PLAIN, "insertion=row", "rolling-iforest"},
    {"row_rolling_one_feature", 1, ROWS_PLAIN, "insertion=row", "rolling-iforest"},
    {"row_rolling_ten_features", 10, ROWS_SPIKES, "insertion=row", "rolling-iforest"},
    {"row_rolling_spikes", 5, ROWS_SPIKES, "insertion=row", "rolling-iforest"},
    {"row_rolling_missing_values", 10, ROWS_MISSING, "insertion=row", "rolling-iforest"},
    {"row_rolling_far_from_zero", 3, ROWS_FAR, "insertion=row", "rolling-iforest"},
    {"row_rolling_duplicates", 4, ROWS_DUPLICATE, "insertion=row", "rolling-iforest"},
    {"row_rolling_constant", 3, ROWS_CONSTANT, "insertion=row", "rolling-iforest"},
    {"row_rolling_huge", 5, ROWS_HUGE, "insertion=row", "rolling-iforest"},
    {"row_window", 3, ROWS_PLAIN, "insertion=row", NULL},
    {"row_window_paper", 10, ROWS_PLAIN, "insertion=row variant=paper", NULL},
    {"row_window_spikes", 5, ROWS_SPIKES, "insertion=row", NULL},
    {"row_window_missing_values", 10, ROWS_MISSING, "insertion=row", NULL},
    {"row_window_constant", 3, ROWS_CONSTANT, "insertion=row", NULL},
    {"row_turnover", 3, ROWS_PLAIN, "insertion=row forgetting=turnover", NULL},
    {"row_turnover_spikes", 5, ROWS_SPIKES, "insertion=row forgetting=turnover", NULL},
    {"row_turnover_missing_values", 10, ROWS_MISSING, "insertion=row forgetting=turnover", NULL},
    {"row_turnover_duplicates", 4, ROWS_DUPLICATE, "insertion=row forgetting=turnover", NULL},
    {"row_asd_spikes", 5, ROWS_SPIKES, "insertion=row", "iforest-asd"},
    {"row_asd_missing_values", 10, ROWS_MISSING, "insertion=row retrain=drift", "iforest-asd"},
    {"row_asd_constant", 3, ROWS_CONSTANT, "insertion=row", "iforest-asd"},
};

uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double next_cloud_value(uint64_t *random)
{
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += next_random(random) >> 44;
    return (double)sum / 1048576.0;
}

static double spiky(double value, uint64_t choice, size_t row, bool is_last)
{
    if (is_last)
        return row % 701 == 700 ? 1.0 : 7.0;
    return choice % 223 == 0 ? (double)NAN : choice % 211 == 0 ? 64.0 * value : value;
}

static double next_value(uint64_t *random, row_kind rows, size_t row, size_t feature,
                         size_t dimension)
{
    double value = next_cloud_value(random) + (row % 97 == 96 ? 8.0 : 0.0);
    uint64_t choice = next_random(random);
    switch (rows) {
    case ROWS_PLAIN: return value;
    case ROWS_MISSING: return choice % 8 == 0 ? (double)NAN : value;
    case ROWS_FAR: return 1e9 + value;
    case ROWS_DUPLICATE: return feature + 1 == dimension ? 7.0 : (double)(choice % 5);
    case ROWS_CONSTANT: return (double)feature;
    case ROWS_HUGE: return choice % 3 == 0 ? DBL_MAX : choice % 3 == 1 ? -DBL_MAX : value;
    case ROWS_SPIKES: return spiky(value, choice, row, feature + 1 == dimension);
    }
    return value;
}

/* There are infinities between the rows: code that reads past a row's end is rejected. */
static void make_rows(const bits_case *c, double *rows, size_t count, size_t stride)
{
    uint64_t random = 1;
    for (size_t row = 0; row < count; row++)
        for (size_t j = 0; j < stride; j++)
            rows[row * stride + j] = j < c->dimension
                                         ? next_value(&random, c->rows, row, j, c->dimension)
                                         : (double)INFINITY;
}

uint64_t hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

uint64_t hash_double(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 64; shift += 8)
        hash = hash_byte(hash, (unsigned char)(bits >> shift & 0xff));
    return hash;
}

void require(oif_status status, const char *name, const oif_error *error)
{
    if (status == OIF_OK)
        return;
    fprintf(stderr, "same_bits: %s: %s\n", name, error->message);
    exit(1);
}

void apply_settings(oif_params *params, const char *settings)
{
    char copy[200];
    oif_error error;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " ")) {
        char *value = strchr(name, '=');
        *value++ = '\0';
        require(oif_params_set_text(params, name, value, &error), name, &error);
    }
}

void choose_detector(const char *detector, const char *settings, oif_params *params)
{
    oif_error error;
    require(oif_params_init(params, detector, &error), detector, &error);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(usual[i].detector, detector) == 0)
            apply_settings(params, usual[i].settings);
    apply_settings(params, settings);
}

static void choose_for_case(const bits_case *c, oif_params *params)
{
    choose_detector(c->detector ? c->detector : "online-iforest", c->settings, params);
}

/* Block size 1 uses the functions for one row, the others those for blocks. */
static void learn_score_all(oif_detector *detector, const bits_case *c, const double *rows,
                            size_t row_count, size_t stride, size_t block_size, double *scores)
{
    oif_error error;
    for (size_t row = 0; row < row_count; row += block_size) {
        size_t count = row_count - row < block_size ? row_count - row : block_size;
        const double *first = rows + row * stride;
        oif_status status = block_size == 1
                                ? oif_detector_learn_score(detector, first, scores + row, &error)
                                : oif_detector_learn_score_rows(detector, first, count, stride,
                                                                scores + row, &error);
        require(status, c->name, &error);
    }
}

/* Saves and loads a detector. */
static oif_detector *pass_through_snapshot(oif_detector *detector, const bits_case *c,
                                           uint64_t *hash)
{
    oif_detector *loaded = NULL;
    oif_error error = {.message = "no memory"};
    size_t count = oif_detector_snapshot_bytes(detector);
    unsigned char *bytes = malloc(count);
    require(bytes ? OIF_OK : OIF_EMEMORY, c->name, &error);
    require(oif_detector_save_memory(detector, bytes, count, &error), c->name, &error);
    require(oif_detector_load_memory(bytes, count, &loaded, &error), c->name, &error);
    for (size_t i = 0; i < count; i++)
        *hash = hash_byte(*hash, bytes[i]);
    free(bytes);
    return loaded;
}

static void run_case(const bits_case *c, size_t row_count, size_t block_size)
{
    static double rows[MANY_ROWS * MAX_STRIDE], scores[MANY_ROWS + PROBE_COUNT];
    const size_t stride = c->dimension + 1;
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    uint64_t hash = fnv_start, snapshot_hash = fnv_start;

    choose_for_case(c, &params);
    require(oif_detector_new(&params, c->dimension, &detector, &error), c->name, &error);
    make_rows(c, rows, MANY_ROWS, stride);
    learn_score_all(detector, c, rows, row_count, stride, block_size, scores);

    /* Once more after a restart and without learning. */
    oif_detector *copy = pass_through_snapshot(detector, c, &snapshot_hash);
    require(oif_detector_score_rows(copy, rows, PROBE_COUNT, stride, scores + row_count, &error),
            c->name, &error);
    require(oif_detector_check(copy, &error), c->name, &error);
    oif_detector_free(detector);
    oif_detector_free(copy);

    for (size_t i = 0; i < row_count + PROBE_COUNT; i++)
        hash = hash_double(hash, scores[i]);
    printf("%s %016llx %016llx\n", c->name, (unsigned long long)hash,
           (unsigned long long)snapshot_hash);
}

/* Numbers of all magnitudes to text and back: what the program writes must not depend on the
 * machine. */
static void run_number_text(void)
{
    uint64_t random = 1, hash = fnv_start;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&random);
        double value, read_back = 0;
        char text[OIF_NUMBER_TEXT_BYTES];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        size_t length = oif_number_format(value, text);
        for (size_t j = 0; j < length; j++)
            hash = hash_byte(hash, (unsigned char)text[j]);
        if (oif_number_parse(text, text + length, &read_back))
            hash = hash_double(hash, read_back);
    }
    printf("number_text %016llx\n", (unsigned long long)hash);
}

/* ---- Golden snapshots ---- */

/* After that many rows. */
typedef struct golden_snapshot {
    size_t row_count;
    bits_case what;
} golden_snapshot;

enum { FEW_ROWS = 200, BOXES_ROWS = 600 /* eight groups of rows have a box */ };

static const golden_snapshot golden_snapshots[] = {
    {BOXES_ROWS,
     {"online-iforest", 3, ROWS_SPIKES,
      "num_trees=3 window_size=60 max_leaf_samples=4 insertion=row", "online-iforest"}},
    {BOXES_ROWS,
     {"turnover", 3, ROWS_SPIKES,
      "num_trees=3 maturity=30 max_leaf_samples=4 forgetting=turnover insertion=row",
      "online-iforest"}},
    {BOXES_ROWS,
     {"iforest-asd", 3, ROWS_SPIKES, "num_trees=3 window_size=48 subsample_size=16 insertion=row",
      "iforest-asd"}},
    {FEW_ROWS, {"hst", 3, ROWS_MISSING, "num_trees=2 window_size=30 max_depth=6", "hst"}},
    {FEW_ROWS, {"rrcf", 3, ROWS_MISSING, "num_trees=3 tree_size=16", "rrcf"}},
    {FEW_ROWS, {"loda", 3, ROWS_MISSING, "num_projections=4 num_bins=8 window_size=40", "loda"}},
    {BOXES_ROWS,
     {"rolling-iforest", 3, ROWS_SPIKES,
      "num_trees=3 window_size=60 sample_size=16 max_leaf_samples=4 insertion=row",
      "rolling-iforest"}},
    {BOXES_ROWS,
     {"sdo", 3, ROWS_MISSING, "num_observers=9 num_neighbours=3 window_size=40", "sdo"}},
};

void golden_path(const char *folder, const char *name, char path[200])
{
    snprintf(path, 200, "%s/format-%d/%s.oif", folder, CURRENT_FORMAT, name);
}

const void *golden_bytes(const char *path, size_t *count)
{
    static char bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    *count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    return file && fclose(file) == 0;
}

static void save_golden(const golden_snapshot *g, const char *folder)
{
    static double rows[MANY_ROWS * MAX_STRIDE], scores[MANY_ROWS];
    const bits_case *c = &g->what;
    const size_t stride = c->dimension + 1;
    char path[200];
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    golden_path(folder, c->name, path);
    if (is_there(path))
        return;
    choose_for_case(c, &params);
    require(oif_detector_new(&params, c->dimension, &detector, &error), c->name, &error);
    make_rows(c, rows, g->row_count, stride);
    require(oif_detector_learn_score_rows(detector, rows, g->row_count, stride, scores, &error),
            c->name, &error);
    require(oif_detector_save_file(detector, path, &error), c->name, &error);
    oif_detector_free(detector);
}

/* A snapshot written by some version of oif resumes as it did then, on every machine. */
static void run_golden(const golden_snapshot *g, const char *folder)
{
    static double rows[MANY_ROWS * MAX_STRIDE], score;
    const bits_case *c = &g->what;
    const size_t stride = c->dimension + 1;
    char path[200];
    oif_detector *detector = NULL;
    oif_error error;
    uint64_t hash = fnv_start, snapshot_hash = fnv_start;
    golden_path(folder, c->name, path);
    size_t count;
    const void *bytes = golden_bytes(path, &count);
    require(oif_detector_load_memory(bytes, count, &detector, &error), path, &error);
    make_rows(c, rows, MANY_ROWS, stride);
    oif_detector_free(pass_through_snapshot(detector, c, &snapshot_hash));
    for (size_t row = g->row_count; row < MANY_ROWS; row++) {
        require(oif_detector_learn_score(detector, rows + row * stride, &score, &error), c->name,
                &error);
        hash = hash_double(hash, score);
    }
    oif_detector_free(detector);
    printf("snapshot_of_%s %016llx %016llx\n", c->name, (unsigned long long)hash,
           (unsigned long long)snapshot_hash);
}

int main(int argc, char **argv)
{
    const size_t golden_count = sizeof golden_snapshots / sizeof *golden_snapshots;
    long block_size = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    if (argc == 3 && strcmp(argv[1], "--save") == 0) {
        for (size_t i = 0; i < golden_count; i++)
            save_golden(&golden_snapshots[i], argv[2]);
        save_golden_pipelines(argv[2]);
        return 0;
    }
    if (block_size < 1) {
        fprintf(stderr, "usage: same_bits BLOCK_SIZE SNAPSHOTS\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i], ROW_COUNT, (size_t)block_size);
    for (size_t i = 0; i < sizeof insertion_cases / sizeof *insertion_cases; i++)
        run_case(&insertion_cases[i], MANY_ROWS, (size_t)block_size);
    run_pipelines((size_t)block_size);
    run_number_text();
    for (size_t i = 0; i < golden_count; i++)
        run_golden(&golden_snapshots[i], argv[2]);
    run_golden_pipelines(argv[2]);
    return 0;
}
