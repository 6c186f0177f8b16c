/* Models that take memory as they learn: a pipeline that packs its models gives the same bits as
 * one that never does, whatever happens in between; and it takes as much memory as it reports. */
#include "../base/sanitized.h"
#include "detect/detector.h"
#include "pipeline/pipeline.h"
#include "pipelines.h"

enum { COLUMNS = 3 };

static const char *const detectors[] = {
    "rolling-iforest", "online-iforest", "iforest-asd", "hst", "rrcf", "loda", "sdo"};

/* Small, so everything that a model can do happens within a few hundred rows. */
static const char *small_settings(const char *detector)
{
    return strcmp(detector, "loda") == 0              ? "window_size=64 num_projections=10"
           : strcmp(detector, "rrcf") == 0            ? "tree_size=32 num_trees=5"
           : strcmp(detector, "sdo") == 0             ? ""
           : strcmp(detector, "rolling-iforest") == 0 ? "window_size=64 num_trees=8 sample_size=16"
                                                      : "window_size=64 num_trees=8";
}

/* A pipeline whose models are packed from the first row on. */
static oif_pipeline *new_packing(const char *detector, const char *settings, const char *options)
{
    oif_pipeline *pipeline = new_pipeline(detector, settings, COLUMNS, options);
    pipeline->models.whole_at_first = 0;
    pipeline->models.whole_at_most = 0;
    return pipeline;
}

typedef struct pair {
    oif_pipeline *packs, *whole;
} pair;

static void require_same_row(const pair *p, const char *key, const double *row, double seconds)
{
    oif_result a, b;
    oif_attribution as[COLUMNS], bs[COLUMNS];
    require_ok(oif_pipeline_process_at(p->packs, key, strlen(key), seconds, row, &a, NULL));
    require_ok(oif_pipeline_process_at(p->whole, key, strlen(key), seconds, row, &b, NULL));
    require_same_result(&a, &b);
    oif_pipeline_explain(p->packs, as);
    oif_pipeline_explain(p->whole, bs);
    for (size_t i = 0; i < COLUMNS; i++)
        assert_true(as[i].share == bs[i].share && as[i].direction == bs[i].direction);
}

typedef struct memory {
    unsigned char *bytes;
    size_t count;
} memory;

static ptrdiff_t write_memory(void *context, const char *bytes, size_t count)
{
    memory *m = context;
    m->bytes = realloc(m->bytes, m->count + count);
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
    return (ptrdiff_t)count;
}

static void require_same_snapshot(const pair *p)
{
    memory a = {0}, b = {0};
    require_ok(oif_pipeline_save(p->packs, write_memory, &a, NULL));
    require_ok(oif_pipeline_save(p->whole, write_memory, &b, NULL));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.bytes, b.bytes, a.count);
    free(a.bytes);
    free(b.bytes);
}

static void count_silence(void *context, const oif_silence *silence)
{
    *(double *)context += silence->since + (double)silence->key_bytes;
}

static void require_same_silence(const pair *p, double seconds)
{
    double a = 0, b = 0;
    oif_pipeline_silent(p->packs, seconds, count_silence, &a);
    oif_pipeline_silent(p->whole, seconds, count_silence, &b);
    assert_true(a == b);
}

static void change_both(const pair *p, const char *name, double value)
{
    require_ok(oif_pipeline_change_option(p->packs, name, value, NULL));
    require_ok(oif_pipeline_change_option(p->whole, name, value, NULL));
}

/* Replaces one of the pipelines by its copy. */
static void go_on_with_a_copy(oif_pipeline **pipeline)
{
    oif_pipeline *copy;
    require_ok(oif_pipeline_clone(*pipeline, &copy, NULL));
    oif_pipeline_free(*pipeline);
    *pipeline = copy;
}

static void do_something_else(pair *p, dice *from, double seconds)
{
    switch (dice_below(from, 40)) {
    case 0: require_same_snapshot(p); break;
    case 1: require_same_silence(p, seconds); break;
    case 2: change_both(p, "alert_rate", dice_below(from, 2) ? 0.02 : 0.05); break;
    case 3: go_on_with_a_copy(&p->packs); break;
    case 4: require_ok(oif_pipeline_check(p->packs, NULL)); break;
    case 5: oif_models_pack_one(&p->packs->models, OIF_NO_KEY); break;
    default: break;
    }
}

static void a_packed_model_gives_the_same_bits(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof detectors / sizeof *detectors; k++) {
        dice from = {77 + (uint32_t)k};
        const char *settings = small_settings(detectors[k]), *options = "alert_rate=0.02";
        pair p = {new_packing(detectors[k], settings, options),
                  new_pipeline(detectors[k], settings, COLUMNS, options)};
        double row[COLUMNS], seconds = 1e9;
        for (int i = 0; i < 2500; i++) {
            draw_row(&from, row, COLUMNS);
            row[1] = dice_below(&from, 30) ? row[1] : NAN;
            row[2] *= dice_below(&from, 40) ? 1 : 50;
            seconds += dice_below(&from, 10);
            require_same_row(&p, key_text(dice_below(&from, 9)), row, seconds);
            do_something_else(&p, &from, seconds);
        }
        assert_int_equal(oif_pipeline_keys(p.packs), 9);
        oif_pipeline_free(p.packs);
        oif_pipeline_free(p.whole);
    }
}

/* ---- Equal bytes ---- */

/* Padding of structs that are built on the stack later gets this byte, unless it is set. */
static __attribute__((noinline)) void leave_on_the_stack(unsigned char byte)
{
    unsigned char below[16384];
    memset(below, byte, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory"); /* so the bytes are written */
}

static oif_pipeline *run_on_a_stack_of(unsigned char byte, const char *detector)
{
    const char *options = "alert_rate=0.02 season_rows=20 season_seconds=300";
    leave_on_the_stack(byte);
    oif_pipeline *pipeline = new_packing(detector, small_settings(detector), options);
    dice from = {21};
    double row[COLUMNS], seconds = 1e9;
    oif_result result;
    for (int i = 0; i < 2500; i++) {
        draw_row(&from, row, COLUMNS);
        row[2] *= dice_below(&from, 40) ? 1 : 50;
        leave_on_the_stack(byte);
        seconds += 3;
        require_ok(oif_pipeline_process_at(pipeline, "key", 3, seconds, row, &result, NULL));
        leave_on_the_stack(byte);
        if (i == 1500)
            require_ok(oif_pipeline_change_option(pipeline, "silence", 30, NULL));
    }
    return pipeline;
}

/* Copies the head of a model, without pointers to what is its own. */
static oif_model head_of(const oif_model *model)
{
    oif_model head;
    memcpy(&head, model, sizeof head);
    memset(head.detectors, 0, sizeof head.detectors);
    head.plan = NULL;
    return head;
}

/* Packing leaves out what is as in a new model, by its bytes. If padding counted, the size of a
 * packed model, and with a memory limit the keys that stay, would depend on chance. */
static void equal_models_have_equal_bytes(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof detectors / sizeof *detectors; k++) {
        oif_pipeline *p = run_on_a_stack_of(0x55, detectors[k]),
                     *q = run_on_a_stack_of(0xaa, detectors[k]);
        const oif_model *a = oif_models_view(&p->models, 0), *b = oif_models_view(&q->models, 0);
        oif_model a_head = head_of(a), b_head = head_of(b);
        assert_memory_equal(&a_head, &b_head, sizeof a_head);
        assert_memory_equal(a + 1, b + 1, a->bytes - sizeof *a);
        for (size_t i = 0; i < a->detector_count; i++)
            assert_memory_equal(a->detectors[i], b->detectors[i],
                                oif_detector_block_bytes(a->detectors[i]));
        assert_int_equal(oif_pipeline_memory_bytes(p), oif_pipeline_memory_bytes(q));
        oif_pipeline_free(p);
        oif_pipeline_free(q);
    }
}

static void a_model_becomes_whole_once_it_has_learned_much(void **unused)
{
    (void)unused;
    pair p = {new_packing("rolling-iforest", "", "find_season=off"),
              new_pipeline("rolling-iforest", "", COLUMNS, "find_season=off")};
    dice from = {5};
    double row[COLUMNS];
    p.packs->models.whole_at_most = SIZE_MAX;
    for (int i = 0; i < 2400; i++) {
        draw_row(&from, row, COLUMNS);
        require_same_row(&p, key_text((uint32_t)i % 3), row, NAN);
        if (i == 299)
            assert_int_equal(p.packs->models.whole_count, 0);
    }
    assert_int_equal(p.packs->models.whole_count, 2);      /* the third one stays unpacked */
    assert_true(oif_models_pack_one(&p.packs->models, 0)); /* other than host-0 */
    assert_int_equal(p.packs->models.whole_count, 1);
    require_same_snapshot(&p);
    oif_pipeline_free(p.packs);
    oif_pipeline_free(p.whole);
}

static void a_detector_can_be_exchanged_with_a_packed_model(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_packing("loda", "window_size=64", "moves=off");
    oif_detector *own = new_named("loda", "window_size=64", COLUMNS), *given = own;
    dice from = {6};
    double row[COLUMNS];
    for (uint32_t i = 0; i < 50; i++) {
        draw_row(&from, row, COLUMNS);
        process_key(pipeline, key_text(i % 3), row);
    }
    require_ok(oif_detector_learn(own, row, NULL));
    require_ok(oif_pipeline_exchange_detector(pipeline, "host-1", 6, &given, NULL));
    assert_int_equal(oif_detector_rows_learned(given), 17);
    assert_ptr_equal(oif_pipeline_detector(pipeline, "host-1", 6), own);
    oif_detector_free(given);
    oif_pipeline_free(pipeline);
}

/* What a removed key has learned is not left in the memory that the next one is unpacked into. */
static void a_removed_key_leaves_nothing_to_others(void **unused)
{
    (void)unused;
    pair p = {new_packing("rolling-iforest", "", ""),
              new_pipeline("rolling-iforest", "", COLUMNS, "")};
    dice from = {7};
    double row[COLUMNS];
    for (uint32_t i = 0; i < 900; i++) {
        draw_row(&from, row, COLUMNS);
        const char *key = key_text(i / 30 % 3); /* thirty rows that are packed once */
        require_same_row(&p, key, row, NAN);
        if (i % 30 == 29 && dice_below(&from, 2)) {
            require_ok(oif_pipeline_remove_key(p.packs, key, strlen(key), NULL));
            require_ok(oif_pipeline_remove_key(p.whole, key, strlen(key), NULL));
        }
    }
    require_same_snapshot(&p);
    oif_pipeline_free(p.packs);
    oif_pipeline_free(p.whole);
}

/* The words of the own block of a model. */
static size_t model_words(const oif_model *model)
{
    return model->bytes / sizeof(uint64_t);
}

static unsigned char *word_at(const oif_model *model, size_t word)
{
    return (unsigned char *)model + word * sizeof(uint64_t);
}

static uint32_t find_key(const oif_pipeline *pipeline, uint32_t number)
{
    return oif_keys_find(&pipeline->keys, key_text(number), strlen(key_text(number)));
}

/* A snapshot may have numbers where a model is blank, with the right checksums. The memory that
 * packed models share must not bring them to another key. */
static void numbers_where_a_model_is_blank_stay_in_it(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline = new_packing("rolling-iforest", "", "");
    const double row[COLUMNS] = {1, 2, 3};
    oif_model *model;
    for (uint32_t i = 0; i < 8; i++)
        process_key(pipeline, key_text(i % 2), row);
    const oif_model *blank = pipeline->models.blank;
    const size_t words = model_words(blank);
    uint32_t tried = 0;
    for (size_t word = words / 50; word < words; word += words / 500) {
        const uint32_t changed = find_key(pipeline, 0), other = find_key(pipeline, 1);
        if (memcmp(word_at(blank, word), word_at(oif_models_view(&pipeline->models, changed), word),
                   sizeof(uint64_t)) != 0 ||
            memcmp(word_at(blank, word), word_at(oif_models_view(&pipeline->models, other), word),
                   sizeof(uint64_t)) != 0)
            continue;
        require_ok(oif_models_open(&pipeline->models, changed, &model, NULL));
        word_at(model, word)[0] ^= 1;
        require_ok(oif_models_open_for_row(&pipeline->models, other, &model, NULL));
        assert_memory_equal(word_at(blank, word), word_at(model, word), sizeof(uint64_t));
        require_ok(oif_models_open(&pipeline->models, changed, &model, NULL));
        word_at(model, word)[0] ^= 1;
        tried++;
    }
    assert_true(tried > 300);
    oif_pipeline_free(pipeline);
}

/* ---- Memory ---- */

static size_t bytes_per_key(uint32_t keys, int rows)
{
    oif_pipeline *pipeline = new_packing("rolling-iforest", "", "");
    dice from = {8};
    double row[COLUMNS];
    for (int i = 0; i < rows; i++)
        for (uint32_t key = 0; key < keys; key++) {
            draw_row(&from, row, COLUMNS);
            process_key(pipeline, key_text(key), row);
        }
    size_t bytes = oif_pipeline_memory_bytes(pipeline) / keys;
    oif_pipeline_free(pipeline);
    return bytes;
}

static void a_key_takes_memory_as_it_learns(void **unused)
{
    (void)unused;
    size_t few = bytes_per_key(2000, 3), more = bytes_per_key(200, 100);
    print_message("bytes per key: %zu after 3 rows, %zu after 100\n", few, more);
    assert_true(few < 5500);
    assert_true(more < 36500);
}

/* Rows of few keys have no extra cost. */
static void the_first_models_are_whole(void **unused)
{
    (void)unused;
    oif_pipeline *pipeline =
        new_pipeline("rolling-iforest", "", COLUMNS, "find_season=off moves=off");
    double row[COLUMNS] = {0};
    for (uint32_t i = 0; i < 600; i++)
        process_key(pipeline, key_text(i), row);
    assert_in_range(pipeline->models.whole_count, 500, 600);
    oif_pipeline_free(pipeline);
}

static void memory_is_counted_and_limited(void **unused)
{
    (void)unused;
    const size_t limit = (SANITIZED ? 5 : 20) << 20;
    char options[64];
    snprintf(options, sizeof options, "memory_limit=%zu find_season=off", limit);
    oif_pipeline *pipeline = new_pipeline("rolling-iforest", "", COLUMNS, options);
    dice from = {9};
    double row[COLUMNS];
    for (int i = 0; i < (SANITIZED ? 16 : 120); i++)
        for (uint32_t key = 0; key < 2000; key++) {
            draw_row(&from, row, COLUMNS);
            process_key(pipeline, key_text(key), row);
            assert_true(oif_pipeline_memory_bytes(pipeline) <= limit);
        }
    assert_true(oif_pipeline_memory_bytes(pipeline) > limit / 2);
    assert_true(oif_pipeline_evictions(pipeline) > 0);
    require_ok(oif_pipeline_check(pipeline, NULL));
    oif_pipeline_free(pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_model_gives_the_same_bits),
        cmocka_unit_test(equal_models_have_equal_bytes),
        cmocka_unit_test(a_model_becomes_whole_once_it_has_learned_much),
        cmocka_unit_test(a_detector_can_be_exchanged_with_a_packed_model),
        cmocka_unit_test(a_removed_key_leaves_nothing_to_others),
        cmocka_unit_test(numbers_where_a_model_is_blank_stay_in_it),
        cmocka_unit_test(a_key_takes_memory_as_it_learns),
        cmocka_unit_test(the_first_models_are_whole),
        cmocka_unit_test(memory_is_counted_and_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
