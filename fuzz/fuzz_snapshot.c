/* Any bytes as a snapshot. The checksums are repaired, or the fuzzer would never get past them. An
 * accepted detector must work: learn, score, be copied, saved and loaded, and stay consistent. */
#include "fuzz_input.h"
#include "repair.h"

enum { ROWS = 60, MAX_DIMENSION = 16 };

static void live_on(oif_detector *detector, input rows)
{
    double row[MAX_DIMENSION], score, score_of_copy, figures = 0;
    size_t dimension = oif_detector_columns(detector);
    oif_detector *copy = NULL;
    require_whole(detector);
    oif_detector_describe(detector, add_figure, &figures);
    require(oif_detector_clone(detector, &copy, NULL) == OIF_OK);
    for (int i = 0; dimension <= MAX_DIMENSION && i < ROWS; i++) {
        take_row(&rows, row, dimension);
        require(oif_detector_learn_score(detector, row, &score, NULL) == OIF_OK);
        require(oif_detector_learn_score(copy, row, &score_of_copy, NULL) == OIF_OK);
        require(score == score_of_copy);
        require(oif_detector_score(detector, row, &score, NULL) == OIF_OK && score == score);
    }
    require_same(detector, copy);
    require_whole(detector);
    oif_detector_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    oif_detector *detector = NULL, *again = NULL;
    oif_error error = {.message = ""};
    require(bytes);
    if (size > 0)
        memcpy(bytes, data, size);
    repair_snapshot(bytes, size);
    oif_status status = oif_detector_load_memory(bytes, size, &detector, &error);
    if (status == OIF_OK) {
        live_on(detector, (input){data + size / 2, data + size});
        size_t count;
        uint8_t *saved = snapshot_of(detector, &count);
        require(oif_detector_load_memory(saved, count, &again, NULL) == OIF_OK);
        free(saved);
        require_same(detector, again);
        oif_detector_free(again);
        oif_detector_free(detector);
    } else {
        require(!detector && error.status == status && error.message[0] != '\0');
        require(status == OIF_EKIND || status == OIF_EVERSION || status == OIF_ETRUNCATED ||
                status == OIF_ECORRUPT || status == OIF_EMEMORY);
    }
    free(bytes);
    return 0;
}
