/* Shared by the snapshot tests: small detectors of every kind, and their snapshots in memory. */
#ifndef TESTS_SNAPSHOT_SNAPSHOTS_H
#define TESTS_SNAPSHOT_SNAPSHOTS_H

#include "../detect/any_detector.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "snapshot/sections.h"

enum {
    HEADER_BYTES = OIF_SNAPSHOT_HEADER_BYTES,
    LENGTH_AT = OIF_SECTION_TAG_BYTES, /* in a section */
    PAYLOAD_AT = OIF_SECTION_HEAD_BYTES + OIF_CHECKSUM_BYTES
};

/* Every kind in every mode that has its own state; small, so all bytes of a snapshot can be
 * tried. */
static const struct {
    const char *name, *settings;
} small_detectors[] = {
    {"online-iforest", "num_trees=3 window_size=60 max_leaf_samples=4"},
    {"online-iforest",
     "num_trees=3 window_size=60 max_leaf_samples=4 variant=reference subsample=0.5"},
    {"online-iforest", "num_trees=3 maturity=15 max_leaf_samples=4 forgetting=turnover"},
    {"online-iforest",
     "num_trees=2 maturity=24 max_leaf_samples=3 shadow_trees=3 growth=fixed forgetting=turnover"},
    /* side by side */
    {"online-iforest", "num_trees=6 maturity=8 max_leaf_samples=2 forgetting=turnover"},
    {"iforest-asd", "num_trees=3 window_size=24 subsample_size=16"},
    {"iforest-asd", "num_trees=3 window_size=24 subsample_size=8 retrain=drift"},
    {"hst", "num_trees=2 window_size=20 max_depth=5"},
    {"hst", "num_trees=2 window_size=20 max_depth=5 ranges=every"},
    {"rrcf", "num_trees=3 tree_size=12"},
    {"rrcf", "num_trees=3 tree_size=12 sample=sliding"},
    {"loda", "num_projections=3 num_bins=6 window_size=30"},
    {"loda", "num_projections=3 num_bins=6 window_size=30 scale=none"},
    {"sdo", "num_observers=9 num_neighbours=3 window_size=30"},
    {"sdo", "num_observers=9 num_neighbours=3 window_size=30 scale=none"},
    {"rolling-iforest", "num_trees=3 window_size=60 sample_size=16 max_leaf_samples=4 max_depth=4"},
    {"rolling-iforest",
     "num_trees=4 window_size=40 sample_size=12 max_leaf_samples=2 renew_trees=2 insertion=none"},
    {"rolling-iforest",
     "num_trees=9 window_size=16 sample_size=8 max_leaf_samples=4 max_depth=2"}, /* side by side */
};

enum { SMALL_DETECTORS = sizeof small_detectors / sizeof small_detectors[0] };

typedef struct snapshot {
    unsigned char *bytes;
    size_t count;
} snapshot;

static inline snapshot take_snapshot(const oif_detector *detector)
{
    snapshot s = {.count = oif_detector_snapshot_bytes(detector)};
    s.bytes = malloc(s.count);
    assert_non_null(s.bytes);
    require_ok(oif_detector_save_memory(detector, s.bytes, s.count, NULL));
    return s;
}

static inline oif_detector *load_snapshot(snapshot s)
{
    oif_detector *detector = NULL;
    oif_error error;
    require_ok_or(oif_detector_load_memory(s.bytes, s.count, &detector, &error), error);
    return detector;
}

static inline oif_detector *new_small(size_t index, stream *s, uint32_t rows)
{
    double row[STREAM_DIMENSION];
    oif_detector *detector =
        new_named(small_detectors[index].name, small_detectors[index].settings, s->dimension);
    for (uint32_t i = 0; i < rows; i++) {
        next_row(s, row);
        require_ok(oif_detector_learn(detector, row, NULL));
    }
    return detector;
}

/* All of a pipeline; the caller frees the bytes. */
static inline snapshot save_all(const oif_pipeline *pipeline)
{
    snapshot s = {.count = oif_pipeline_snapshot_bytes(pipeline)};
    oif_error error;
    s.bytes = malloc(s.count);
    require_ok_or(oif_pipeline_save_memory(pipeline, s.bytes, s.count, &error), error);
    assert_int_equal(oif_pipeline_save_memory(pipeline, s.bytes, s.count - 1, NULL), OIF_EPARAM);
    return s;
}

static inline void require_same_bytes(snapshot a, snapshot b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.bytes, b.bytes, a.count);
}

/* Recomputes the checksum of the header, or of the section that starts at this byte. */
static inline void repair(snapshot s, size_t start)
{
    size_t head = start == 0 ? HEADER_BYTES - OIF_CHECKSUM_BYTES : OIF_SECTION_HEAD_BYTES;
    oif_bytes_store(s.bytes + start + head,
                    oif_checksum(&oif_checksum_zip, 0, s.bytes + start, head), 4);
    if (start == 0)
        return;
    size_t length = (size_t)oif_bytes_load(s.bytes + start + LENGTH_AT, 8);
    if (length <= s.count - start - OIF_SECTION_BYTES)
        oif_bytes_store(s.bytes + start + PAYLOAD_AT + length,
                        oif_checksum(&oif_checksum_zip, 0, s.bytes + start + PAYLOAD_AT, length),
                        4);
}

#endif
