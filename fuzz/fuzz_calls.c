/* Any bytes as calls: the first ones choose a detector, each of the others a call and its
 * arguments. After each call the detector is consistent, and saved and cloned copies have the same
 * bits. */
#include "fuzz_input.h"

enum { MAX_ROWS = 40, MAX_DIMENSION = 5, MAX_CALLS = 60 };

static const char *const detectors[][4] = {
    {"online-iforest", "num_trees=9 window_size=30 max_leaf_samples=2",
     "variant=paper growth=fixed", ""},
    {"online-iforest", "num_trees=3 window_size=20 max_leaf_samples=1", "variant=reference",
     "subsample=0.5"},
    {"online-iforest", "num_trees=9 max_leaf_samples=2 maturity=20", "forgetting=turnover", ""},
    {"online-iforest", "num_trees=2 max_leaf_samples=1 maturity=8",
     "forgetting=turnover growth=fixed", "shadow_trees=3"},
    {"iforest-asd", "num_trees=9 window_size=20 subsample_size=16", "", ""},
    {"iforest-asd", "num_trees=3 window_size=9 subsample_size=8", "retrain=drift drift_rate=0.1",
     ""},
    {"hst", "num_trees=9 window_size=18 max_depth=6", "size_limit=0.05", ""},
    {"hst", "num_trees=2 window_size=5 max_depth=3", "ranges=every", "size_limit=0"},
    {"rrcf", "num_trees=3 tree_size=8", "window_size=20", ""},
    {"rrcf", "num_trees=2 tree_size=2", "sample=sliding", ""},
    {"loda", "num_projections=3 num_bins=5 window_size=24", "", ""},
    {"loda", "num_projections=5 num_bins=1 window_size=7", "scale=none", ""},
    {"sdo", "num_observers=5 num_neighbours=2 window_size=24", "", ""},
    {"sdo", "num_observers=17 num_neighbours=6 window_size=7", "scale=none", "idle_share=0.5"},
    {"rolling-iforest", "num_trees=9 window_size=40 sample_size=16",
     "max_leaf_samples=2 max_depth=5", ""},
    {"rolling-iforest", "num_trees=3 window_size=9 sample_size=4", "max_leaf_samples=1",
     "insertion=none"},
};

static void set_all(oif_params *params, const char *settings)
{
    char copy[100], *word = copy;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *end; *word; word = end) {
        char *value = strchr(word, '=');
        end = word + strcspn(word, " ");
        end += *end ? (*end = '\0', 1) : 0;
        *value++ = '\0';
        require(oif_params_set_text(params, word, value, NULL) == OIF_OK);
    }
}

static oif_detector *make_detector(input *from)
{
    oif_params params;
    oif_detector *detector = NULL;
    const char *const *chosen =
        detectors[take_byte(from) % (sizeof detectors / sizeof detectors[0])];
    require(oif_params_init(&params, chosen[0], NULL) == OIF_OK);
    for (int i = 1; i < 4; i++)
        set_all(&params, chosen[i]);
    require(oif_params_set(&params, "seed", take_byte(from), NULL) == OIF_OK);
    require(oif_detector_new(&params, 1 + take_byte(from) % MAX_DIMENSION, &detector, NULL) ==
            OIF_OK);
    return detector;
}

/* The row learned last and its neighbours come again often: streams are like that, and duplicates
 * are hard. */
static size_t take_rows(input *from, double *rows, size_t dimension)
{
    uint8_t shape = take_byte(from);
    size_t count = 1 + shape % MAX_ROWS;
    take_row(from, rows, dimension);
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < dimension; j++)
            rows[i * dimension + j] = shape < 128
                                          ? take_number(from)
                                          : rows[(i - 1) * dimension + j] + (shape % 3) * 0.25;
    return count;
}

static void learn_block(oif_detector *detector, input *from, bool scored)
{
    double rows[MAX_ROWS * MAX_DIMENSION], scores[MAX_ROWS] = {0};
    size_t dimension = oif_detector_columns(detector), count = take_rows(from, rows, dimension);
    oif_status status =
        scored ? oif_detector_learn_score_rows(detector, rows, count, dimension, scores, NULL)
               : oif_detector_learn_rows(detector, rows, count, dimension, NULL);
    bool infinite = false; /* a sum of the largest numbers may be */
    for (size_t i = 0; i < count * dimension; i++)
        infinite |= isinf(rows[i]) != 0;
    require(status == (infinite ? OIF_EVALUE : OIF_OK));
    for (size_t i = 0; i < count; i++)
        require(scores[i] == scores[i]);
}

/* Scoring changes nothing, and neither does a rejected row. */
static void score_and_refuse(oif_detector *detector, input *from)
{
    double row[MAX_DIMENSION], score = 0;
    oif_detector *before = NULL;
    size_t dimension = oif_detector_columns(detector);
    require(oif_detector_clone(detector, &before, NULL) == OIF_OK);
    take_row(from, row, dimension);
    require(oif_detector_score(detector, row, &score, NULL) == OIF_OK && score == score);
    row[take_byte(from) % dimension] = INFINITY;
    require(oif_detector_learn_score(detector, row, &score, NULL) == OIF_EVALUE);
    require_same(detector, before);
    oif_detector_free(before);
}

/* Continues with a saved and loaded copy, or with the clone. */
static oif_detector *replace_by_copy(oif_detector *detector, bool loaded)
{
    oif_detector *clone = NULL, *other = NULL;
    size_t count;
    uint8_t *bytes = snapshot_of(detector, &count);
    require(oif_detector_clone(detector, &clone, NULL) == OIF_OK);
    require(oif_detector_load_memory(bytes, count, &other, NULL) == OIF_OK);
    require_same(detector, clone);
    require_same(detector, other);
    free(bytes);
    oif_detector_free(detector);
    oif_detector_free(loaded ? clone : other);
    return loaded ? other : clone;
}

static oif_detector *call(oif_detector *detector, input *from, bool *has_threads)
{
    double figures = 0;
    switch (take_byte(from) % 8) {
    case 0: score_and_refuse(detector, from); break;
    case 1: return replace_by_copy(detector, true);
    case 2: return replace_by_copy(detector, false);
    case 3:
        require(*has_threads || oif_detector_set_threads(detector, 2, NULL) == OIF_OK);
        *has_threads = true;
        break;
    case 4:
        oif_detector_describe(detector, add_figure, &figures);
        (void)oif_detector_ready(detector);
        break;
    case 5: learn_block(detector, from, false); break;
    default: learn_block(detector, from, true); break;
    }
    return detector;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, data + size};
    oif_detector *detector = make_detector(&from);
    /* rarely: they take longer than all other calls together */
    bool has_threads = size > 1 && data[1] % 16 != 0;
    for (int calls = 0; from.next < from.end && calls < MAX_CALLS; calls++) {
        detector = call(detector, &from, &has_threads);
        require_whole(detector);
    }
    oif_detector_free(detector);
    return 0;
}
