/* Models report which of their memory the last rows have not changed (base/unchanged.h). Here each
 * line of memory is compared with what it was: a line that was reported must be the same. */
#include "base/unchanged.h"
#include "detect/detector.h"
#include "pipeline/pipeline.h"
#include "pipelines.h"

#include <math.h>

enum { COLUMNS = 5, LINE = OIF_CACHE_LINE_BYTES };

/* A block of a model, its bytes some rows ago, and those of a new model. */
typedef struct block {
    const unsigned char *now;
    unsigned char *before, *blank;
    size_t bytes;
} block;

typedef struct blocks {
    block list[1 + OIF_TOGETHER_MAX];
    size_t count;
    size_t reported; /* lines, in all comparisons */
} blocks;

static void add_block(blocks *b, const void *now, const void *blank, size_t bytes)
{
    block *added = &b->list[b->count++];
    *added = (block){now, malloc(bytes), malloc(bytes), bytes};
    memcpy(added->before, now, bytes);
    memcpy(added->blank, blank, bytes);
}

static blocks blocks_of(const oif_model *model, const oif_model *blank)
{
    blocks b = {.count = 0};
    add_block(&b, model, blank, model->bytes);
    for (size_t i = 0; i < model->detector_count; i++)
        add_block(&b, model->detectors[i], blank->detectors[i],
                  oif_detector_block_bytes(model->detectors[i]));
    return b;
}

static void free_blocks(blocks *b)
{
    for (size_t i = 0; i < b->count; i++) {
        free(b->list[i].before);
        free(b->list[i].blank);
    }
}

static void keep(blocks *b)
{
    for (size_t i = 0; i < b->count; i++)
        memcpy(b->list[i].before, b->list[i].now, b->list[i].bytes);
}

/* Compares the lines that are reported with what they were, or with those of a new model. */
static void compare(blocks *b, const oif_model *model, uint64_t rows)
{
    for (size_t i = 0; i < b->count; i++) {
        const block *one = &b->list[i];
        const size_t lines = one->bytes / LINE, words = (lines + 63) / 64;
        uint64_t *changed = malloc(words * sizeof *changed);
        const oif_unchanged unchanged = {one->now, changed, rows};
        memset(changed, 0xff, words * sizeof *changed);
        if (i == 0)
            oif_model_unchanged(model, &unchanged);
        else
            oif_detector_unchanged(model->detectors[i - 1], &unchanged);
        const unsigned char *was = rows == OIF_ALL_ROWS ? one->blank : one->before;
        for (size_t line = 0; line < lines; line++)
            if (!(changed[line / 64] >> line % 64 & 1)) {
                b->reported++;
                if (memcmp(one->now + line * LINE, was + line * LINE, LINE) != 0)
                    fail_msg("line %zu of block %zu has changed within %lld rows, after %llu", line,
                             i, (long long)rows, (unsigned long long)model->rows);
            }
        free(changed);
    }
}

typedef struct trial {
    const char *detector, *settings, *options;
    int period; /* of a season in the rows; 0: none */
    int rows;
    int period_after_600_rows; /* 0: the same */
} trial;

/* Values with memory, missing ones, incidents and, for some, a season. */
static void draw(dice *from, const trial *s, int i, double level[COLUMNS], double row[COLUMNS])
{
    const int period =
        s->period_after_600_rows > 0 && i >= 600 ? s->period_after_600_rows : s->period;
    for (size_t j = 0; j < COLUMNS; j++) {
        level[j] = 0.9 * level[j] + 0.2 * dice_normal(from);
        row[j] = level[j] + 0.1 * dice_normal(from);
        if (period > 0)
            row[j] += 3 * sin(6.2831853 * i / period);
        if (dice_below(from, 60) == 0)
            row[j] = NAN;
    }
    row[COLUMNS - 1] = row[0] + 0.01 * dice_normal(from); /* a partner */
    if (i % 700 > 660)
        row[1] += 40;
}

static void require_reports(const trial *s, uint64_t rows_apart)
{
    oif_pipeline *pipeline = new_pipeline(s->detector, s->settings, COLUMNS, s->options);
    oif_model *blank;
    double row[COLUMNS], level[COLUMNS] = {0}, seconds = 1.7e9;
    dice from = {3 + (uint32_t)rows_apart};
    oif_result result;
    require_ok(oif_models_new_model(&pipeline->models, &blank, NULL));
    draw(&from, s, 0, level, row);
    require_ok(oif_pipeline_process_at(pipeline, NULL, 0, seconds, row, &result, NULL));
    const oif_model *model = pipeline->keys.entries[0].value;
    blocks b = blocks_of(model, blank);
    uint64_t rows_before = model->rows;
    for (int i = 1; i < s->rows; i++) {
        draw(&from, s, i, level, row);
        seconds += dice_below(&from, 400) == 0 ? 4000 : 60;
        require_ok(oif_pipeline_process_at(pipeline, NULL, 0, seconds, row, &result, NULL));
        if (model->rows - rows_before < rows_apart)
            continue;
        compare(&b, model, model->rows - rows_before);
        if (i % 16 == 0 || i < 300)
            compare(&b, model, OIF_ALL_ROWS);
        keep(&b);
        rows_before = model->rows;
    }
    assert_true(b.reported > 0);
    free_blocks(&b);
    oif_model_free(blank);
    oif_pipeline_free(pipeline);
}

static void what_is_reported_has_not_changed(void **unused)
{
    (void)unused;
    static const trial trials[] = {
        {"rolling-iforest", "", "", 0, 2600, 0},
        {"rolling-iforest", "num_trees=8", "", 80, 2600, 70},
        {"rolling-iforest", "", "moves=on", 24, 1400, 0},
        {"rolling-iforest", "window_size=64 num_trees=8 sample_size=16", "", 48, 6000, 0},
        {"rolling-iforest", "window_size=64 num_trees=9 renew_trees=4 sample_size=16", "", 0, 1500,
         0},
        {"rolling-iforest", "num_trees=8 insertion=path", "shingle=4", 0, 1500, 0},
        {"rolling-iforest+sdo", "num_trees=8", "learn=all season_rows=96", 96, 1500, 0},
        {"rolling-iforest", "num_trees=8", "season_seconds=3600 moves=off", 60, 1500, 0},
        {"online-iforest", "num_trees=8", "find_season=off", 0, 900, 0},
        {"sdo", "", "", 0, 900, 0},
        {"hst", "num_trees=8 window_size=64", "", 0, 900, 0},
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        require_reports(&trials[i], 1);
        require_reports(&trials[i], 3);
        require_reports(&trials[i], 40);
    }
}

/* A model that got another column is not one that was created with it. */
static void a_model_with_a_new_column_reports_what_is_blank(void **unused)
{
    (void)unused;
    static const int rows_before[] = {5, 100, 600, 1500};
    const trial wide = {"rolling-iforest", "", "", 80, 0, 0};
    for (size_t i = 0; i < sizeof rows_before / sizeof *rows_before; i++) {
        oif_pipeline *pipeline = new_pipeline(wide.detector, "", COLUMNS - 1, "");
        oif_model *blank;
        double row[COLUMNS], level[COLUMNS] = {0};
        dice from = {11};
        for (int k = 0; k < rows_before[i] + 200; k++) {
            if (k == rows_before[i])
                require_ok(oif_pipeline_add_columns(pipeline, 1, NULL, NULL, 0, NULL));
            draw(&from, &wide, k, level, row);
            process(pipeline, row);
            if (k < rows_before[i])
                continue;
            const oif_model *model = pipeline->keys.entries[0].value;
            require_ok(oif_models_new_model(&pipeline->models, &blank, NULL));
            blocks b = blocks_of(model, blank);
            compare(&b, model, OIF_ALL_ROWS);
            free_blocks(&b);
            oif_model_free(blank);
        }
        oif_pipeline_free(pipeline);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reported_has_not_changed),
        cmocka_unit_test(a_model_with_a_new_column_reports_what_is_blank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
