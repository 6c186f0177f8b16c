/* Running out of memory or threads: every allocation and every start of a thread, in every call of
 * oif.h and oif_rows.h, fails once, and then together with all later ones. Such a call returns
 * OIF_EMEMORY with a message and changes nothing: no output, no byte of its detector, no leak.
 * Repeated with memory, it succeeds, and everything gives the same bits as if nothing had happened.
 *
 * The same calls run on a small stack, of which they may use as much as oif.h says.
 *
 * A new call is a row in `calls`; a test fails while a call of the headers has none. The linker
 * redirects the library's allocations to this file (see tests/CMakeLists.txt). OIF_FAULTS_LONG=1
 * (tools/test/long.sh faults) uses detectors of default size and lines of megabytes;
 * OIF_FAULTS_ROWS is the number of rows in which nothing may allocate. With a sanitizer, the calls
 * of pipelines fail with one kind of detector only. */
#define _XOPEN_SOURCE 700 /* pthread_attr_setstack */

#include "../base/sanitized.h"
#include "detect/any_detector.h"
#include "oif_rows.h"
#include "pipeline/pipeline.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Allocations and threads that fail on demand ---- */

static struct {
    uint64_t asked;       /* requests for memory or a thread since the last reset */
    uint64_t fails_from;  /* the request that fails, from 0; UINT64_MAX: none */
    uint64_t fails_until; /* the first that succeeds again */
    uint64_t threads_asked;
    int64_t memory_held, threads_held;
} supply = {.fails_from = UINT64_MAX, .fails_until = UINT64_MAX};

static bool is_refused(void)
{
    uint64_t number = supply.asked++;
    return number >= supply.fails_from && number < supply.fails_until;
}

static void *hold(void *memory)
{
    supply.memory_held += memory != NULL;
    return memory;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **result);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_join(pthread_t thread, void **result);

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : hold(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : hold(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (is_refused())
        return NULL;
    void *moved = __real_realloc(memory, bytes);
    supply.memory_held += moved && !memory;
    return moved;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused() ? NULL : hold(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *memory)
{
    supply.memory_held -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    supply.threads_asked++;
    int failure =
        is_refused() ? 11 /* EAGAIN */ : __real_pthread_create(thread, attributes, start, argument);
    supply.threads_held += failure == 0;
    return failure;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    supply.threads_held--;
    return __real_pthread_join(thread, result);
}

static void refuse(uint64_t from, uint64_t until)
{
    supply.asked = 0;
    supply.fails_from = from;
    supply.fails_until = until;
}

static void refuse_nothing(void)
{
    refuse(UINT64_MAX, UINT64_MAX);
}

/* ---- Text that readers read ---- */

typedef struct source {
    const char *bytes;
    size_t at;
} source;

static ptrdiff_t read_source(void *context, char *buffer, size_t capacity)
{
    source *from = context;
    size_t left = strlen(from->bytes + from->at), count = left < capacity ? left : capacity;
    memcpy(buffer, from->bytes + from->at, count);
    from->at += count;
    return (ptrdiff_t)count;
}

/* Snapshots in memory. */
typedef struct tape {
    size_t count, at;
} tape;

static char tape_bytes[64 << 20]; /* one is in use at a time */

static ptrdiff_t write_tape(void *context, const char *bytes, size_t count)
{
    tape *to = context;
    if (count > sizeof tape_bytes - to->count)
        return -1;
    memcpy(tape_bytes + to->count, bytes, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static ptrdiff_t read_tape(void *context, char *buffer, size_t capacity)
{
    tape *from = context;
    size_t left = from->count - from->at, count = left < capacity ? left : capacity;
    memcpy(buffer, tape_bytes + from->at, count);
    from->at += count;
    return (ptrdiff_t)count;
}

static char state_path[100], evicted_path[110];

static bool is_long_form(void)
{
    const char *text = getenv("OIF_FAULTS_LONG");
    return text && *text == '1';
}

static size_t long_word_bytes(void)
{
    return is_long_form() ? 12 << 20 : 300 << 10;
}

/* Writes `before`, a word that does not fit a reader's first buffer, and `after`. */
static void write_long(char *at, const char *before, const char *after)
{
    at += sprintf(at, "%s", before);
    memset(at, 'w', long_word_bytes());
    strcpy(at + long_word_bytes(), after);
}

/* With a long record, with a long quoted record that spans lines, and with a long first line. */
enum { LONG_RECORD, LONG_QUOTE, LONG_FIRST_LINE, TEXTS };
static char *texts[TEXTS];

static void write_texts(void)
{
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = malloc(long_word_bytes() + 100);
        assert_non_null(texts[i]);
    }
    write_long(texts[LONG_RECORD], "word,value\na,1\n", ",2\nb,\n");
    write_long(texts[LONG_QUOTE], "word,value\na,1\n\"b\n", "\",-4e3\nc,nan\n");
    write_long(texts[LONG_FIRST_LINE], "\"", "\";value\na;1\nb;2\n");
}

/* ---- What calls work on, and what they return ---- */

enum { DIMENSION = 3, BLOCK = 40, STREAM_ROWS = 4096, LEARNED_ROWS = 700 };

static double stream_rows[STREAM_ROWS * DIMENSION];

/* Normal rows with ties and missing values; now and then a whole row is missing. */
static void write_stream(void)
{
    dice rolled = {1};
    for (size_t i = 0; i < STREAM_ROWS; i++)
        for (size_t j = 0; j < DIMENSION; j++) {
            double number = dice_normal(&rolled);
            stream_rows[i * DIMENSION + j] = i % 97 == 5 || dice_chance(&rolled, 0.05) ? NAN
                                             : j == 1 ? floor(number * 2)
                                                      : number;
        }
}

typedef struct outputs {
    oif_detector *detector;
    oif_reader *reader;
    oif_pipeline *pipeline;
    oif_incidents *incidents;
    oif_state_file *file;
    oif_record record;
    oif_result result;
    oif_params params;
    double scores[BLOCK];
    double value;
    size_t bytes;
} outputs;

typedef struct world {
    const oif_detector *model; /* of the tested kind, has learned LEARNED_ROWS */
    oif_detector *detector;    /* that the call works on, NULL if none; */
    oif_reader *reader;        /* likewise, and so are ... */
    oif_pipeline *pipeline;
    oif_incidents *incidents;
    oif_state_file *file;
    source source;
    tape tape; /* what is saved or loaded */
    outputs out;
} world;

static void nothing(world *w)
{
    (void)w;
}

static void a_detector(world *w)
{
    w->detector = clone_of(w->model);
}

static void a_detector_with_threads(world *w)
{
    a_detector(w);
    require_ok(oif_detector_set_threads(w->detector, 3, NULL));
}

static const char *const column_names[DIMENSION] = {"load", "", "memory"};

static void a_named_detector(world *w)
{
    a_detector(w);
    require_ok(oif_detector_name_columns(w->detector, column_names, NULL));
}

static void a_saved_detector(world *w)
{
    require_ok(oif_detector_save(w->model, write_tape, &w->tape, NULL));
}

static void a_saved_named_detector(world *w)
{
    a_named_detector(w);
    require_ok(oif_detector_save(w->detector, write_tape, &w->tape, NULL));
}

static void no_file(world *w)
{
    (void)w;
    remove(state_path);
}

static void a_detector_and_no_file(world *w)
{
    no_file(w);
    a_detector(w);
}

static void a_detector_in_a_file(world *w)
{
    require_ok(oif_detector_save_file(w->model, state_path, NULL));
}

static void a_state_file(world *w)
{
    a_detector_in_a_file(w);
    a_detector(w);
    require_ok(oif_state_file_open(state_path, &w->file, NULL));
}

static void process_block(oif_pipeline *pipeline, oif_result results[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i++)
        require_ok(oif_pipeline_process(pipeline, i % 3 ? "a" : "b", 1, &stream_rows[i * DIMENSION],
                                        &results[i], NULL));
}

static void new_pipeline(world *w, const char *moves)
{
    oif_params options;
    oif_pipeline_options_init(&options);
    require_ok(oif_params_set_text(&options, "moves", moves, NULL));
    require_ok(
        oif_pipeline_new(oif_detector_params(w->model), DIMENSION, &options, &w->pipeline, NULL));
}

static void a_pipeline(world *w)
{
    oif_result results[BLOCK];
    new_pipeline(w, "on");
    process_block(w->pipeline, results);
}

static void a_pipeline_with_threads(world *w)
{
    a_pipeline(w);
    require_ok(oif_pipeline_set_threads(w->pipeline, 3, NULL));
}

/* A pipeline without rows that will pack its models. */
static void new_packing_pipeline(world *w, const char *moves)
{
    new_pipeline(w, moves);
    w->pipeline->models.whole_at_first = w->pipeline->models.whole_at_most = 0;
}

static void a_pipeline_before_it_packs(world *w)
{
    new_packing_pipeline(w, "on");
}

/* The model of "b" is unpacked and has grown. Before a row of another key, it is packed into
 * another block of memory. */
static void pack_and_unpack(world *w)
{
    oif_result result;
    for (size_t i = 0; i < 8; i++)
        require_ok(
            oif_pipeline_process(w->pipeline, i < 4 ? "a" : "b", 1, stream_rows, &result, NULL));
}

static void a_packing_pipeline(world *w)
{
    new_packing_pipeline(w, "on");
    pack_and_unpack(w);
}

/* Without moves, because the detector of the caller has no columns for it. */
static void a_packing_pipeline_and_a_detector(world *w)
{
    new_packing_pipeline(w, "off");
    pack_and_unpack(w);
    a_detector(w);
}

/* A pipeline without rows that derives one column. */
static void a_deriving_pipeline(world *w)
{
    oif_params options;
    oif_pipeline_options_init(&options);
    require_ok(
        oif_pipeline_new(oif_detector_params(w->model), DIMENSION, &options, &w->pipeline, NULL));
    require_ok(oif_pipeline_derive(w->pipeline, 0, OIF_DERIVE_RATE, false, NULL));
}

static void a_saved_deriving_pipeline(world *w)
{
    a_deriving_pipeline(w);
    require_ok(oif_pipeline_save(w->pipeline, write_tape, &w->tape, NULL));
}

static void a_pipeline_and_a_detector(world *w)
{
    oif_result results[BLOCK];
    new_pipeline(w, "off");
    process_block(w->pipeline, results);
    a_detector(w);
}

static const char rules[] =
    "mute direction=low\nignore key=z zone=Europe/Berlin time=01:00-02:00\n";

static void a_named_pipeline(world *w)
{
    a_pipeline(w);
    require_ok(oif_pipeline_name_columns(w->pipeline, column_names, NULL));
    require_ok(oif_pipeline_name_roles(w->pipeline, "host", "at", NULL));
    require_ok(oif_pipeline_attach(w->pipeline, "bytes", 5, NULL));
    require_ok(oif_pipeline_set_rules(w->pipeline, rules, strlen(rules), NULL));
}

static void a_saved_pipeline(world *w)
{
    a_named_pipeline(w);
    require_ok(oif_pipeline_save(w->pipeline, write_tape, &w->tape, NULL));
}

static void a_pipeline_in_a_state_file(world *w)
{
    a_pipeline(w);
    require_ok(oif_state_file_open(state_path, &w->file, NULL));
    require_ok(oif_state_file_save_pipeline(w->file, w->pipeline, NULL));
}

/* A key has changed since. */
static void a_pipeline_with_updates(world *w)
{
    oif_result result;
    a_pipeline(w);
    require_ok(oif_state_file_open(state_path, &w->file, NULL));
    require_ok(oif_state_file_update_pipeline(w->file, w->pipeline, NULL));
    require_ok(oif_pipeline_process(w->pipeline, "a", 1, stream_rows, &result, NULL));
}

/* An update follows the rest. */
static void a_log(world *w)
{
    a_pipeline_with_updates(w);
    require_ok(oif_state_file_update_pipeline(w->file, w->pipeline, NULL));
    assert_int_equal(oif_pipeline_log(w->pipeline).updates, 1);
}

static void a_saved_key(world *w)
{
    a_named_pipeline(w);
    require_ok(oif_pipeline_save_key(w->pipeline, "b", 1, write_tape, &w->tape, NULL));
}

static void a_key_in_a_file(world *w)
{
    a_named_pipeline(w);
    require_ok(oif_pipeline_save_key_file(w->pipeline, "b", 1, state_path, NULL));
}

static void a_pipeline_and_no_file(world *w)
{
    no_file(w);
    a_pipeline(w);
}

/* Beside a state file: of "a", "b" and "d" the last two have their models in memory. */
static void a_pipeline_with_evicted_models(world *w)
{
    oif_params options;
    oif_result result;
    oif_pipeline_options_init(&options);
    require_ok(oif_params_set(&options, "max_keys", 2, NULL));
    require_ok(oif_params_set_text(&options, "evicted", "keep", NULL));
    require_ok(
        oif_pipeline_new(oif_detector_params(w->model), DIMENSION, &options, &w->pipeline, NULL));
    require_ok(oif_state_file_open(state_path, &w->file, NULL));
    require_ok(oif_state_file_keep_evicted(w->file, w->pipeline, NULL));
    for (size_t i = 0; i < 3; i++)
        require_ok(oif_pipeline_process(w->pipeline, &"abd"[i], 1, stream_rows, &result, NULL));
    require_ok(oif_state_file_save_pipeline(w->file, w->pipeline, NULL));
}

/* Before the evicted models file is opened. */
static void a_pipeline_before_its_evicted_models(world *w)
{
    a_pipeline_with_evicted_models(w);
    oif_pipeline_free(w->pipeline);
    require_ok(oif_pipeline_load_file(state_path, &w->pipeline, NULL));
}

static void an_incident(world *w)
{
    oif_incident_event event = {.key = "rack-1/a", .key_bytes = 8, .column = "load", .seconds = 60};
    oif_incident_place place;
    require_ok(oif_incidents_new(NULL, &w->incidents, NULL));
    for (event.episode = 1; event.episode <= 4; event.episode++)
        require_ok(oif_incidents_begin(w->incidents, &event, &place, NULL));
}

static void a_saved_incident(world *w)
{
    an_incident(w);
    w->tape.count = oif_incidents_snapshot_bytes(w->incidents);
    require_ok(oif_incidents_save_memory(w->incidents, tape_bytes, w->tape.count, NULL));
}

static void a_text(world *w)
{
    w->source = (source){.bytes = texts[LONG_RECORD]};
}

static void a_text_with_a_long_first_line(world *w)
{
    w->source = (source){.bytes = texts[LONG_FIRST_LINE]};
}

/* A reader that has read the first record, and whose next one is long. */
static void open_before_long_record(world *w, int text)
{
    const oif_reader_options options = {.header = OIF_HEADER_YES};
    oif_record record;
    w->source = (source){.bytes = texts[text]};
    require_ok(oif_reader_open(&options, read_source, &w->source, &w->reader, NULL));
    require_ok(oif_reader_select(w->reader, &(size_t){1}, 1, NULL));
    require_ok(oif_reader_next(w->reader, &record, NULL));
}

static void a_reader_before_a_long_record(world *w)
{
    open_before_long_record(w, LONG_RECORD);
}

static void a_reader_before_a_long_quote(world *w)
{
    open_before_long_record(w, LONG_QUOTE);
}

static void a_reader_before_a_short_record(world *w)
{
    oif_record record;
    a_reader_before_a_long_record(w);
    require_ok(oif_reader_next(w->reader, &record, NULL));
}

static void an_ndjson_text(world *w)
{
    w->source = (source){.bytes = "{\"a\": 1, \"b\": 2, \"c\": {\"d\": 3, \"h\": 0}}\n{\"b\": 4, "
                                  "\"c\": {\"e\\n\": 5}}\n"};
}

static void an_ndjson_reader(world *w)
{
    const oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
    an_ndjson_text(w);
    require_ok(oif_reader_open(&options, read_source, &w->source, &w->reader, NULL));
}

/* ---- The calls ---- */

#define RUN(name) static oif_status name(world *w, oif_error *error)

RUN(init_params)
{
    return oif_params_init(&w->out.params, oif_detector_params(w->model)->table->name, error);
}

RUN(set_param_by_number)
{
    return oif_params_set(&w->out.params, "seed", 5, error);
}

RUN(set_param_by_text)
{
    return oif_params_set_text(&w->out.params, "seed", "7", error);
}

RUN(get_param)
{
    return oif_params_get(&w->out.params, "seed", &w->out.value, error);
}

RUN(estimate)
{
    return oif_detector_estimate_bytes(&w->out.params, DIMENSION, &w->out.bytes, error);
}

RUN(create)
{
    return oif_detector_new(&w->out.params, DIMENSION, &w->out.detector, error);
}

RUN(clone)
{
    return oif_detector_clone(w->detector, &w->out.detector, error);
}

RUN(name_columns)
{
    static const char *const others[DIMENSION] = {"a", "b", "c"};
    return oif_detector_name_columns(w->detector, others, error);
}

RUN(take_names_away)
{
    return oif_detector_name_columns(w->detector, NULL, error);
}

RUN(learn_one)
{
    return oif_detector_learn(w->detector, stream_rows, error);
}

RUN(score_one)
{
    return oif_detector_score(w->detector, stream_rows, w->out.scores, error);
}

RUN(learn_and_score_one)
{
    return oif_detector_learn_score(w->detector, stream_rows, w->out.scores, error);
}

RUN(learn_block)
{
    return oif_detector_learn_rows(w->detector, stream_rows, BLOCK, DIMENSION, error);
}

RUN(score_block)
{
    return oif_detector_score_rows(w->detector, stream_rows, BLOCK, DIMENSION, w->out.scores,
                                   error);
}

RUN(learn_and_score_block)
{
    return oif_detector_learn_score_rows(w->detector, stream_rows, BLOCK, DIMENSION, w->out.scores,
                                         error);
}

RUN(take_most_threads)
{
    return oif_detector_set_threads(w->detector, 16, error);
}

RUN(take_one_thread)
{
    return oif_detector_set_threads(w->detector, 1, error);
}

RUN(check)
{
    return oif_detector_check(w->detector, error);
}

RUN(explain)
{
    double scratch[2 * DIMENSION];
    return oif_detector_explain(w->detector, stream_rows, DIMENSION, w->out.scores, scratch, error);
}

RUN(save)
{
    w->tape.count = 0;
    return oif_detector_save(w->detector, write_tape, &w->tape, error);
}

RUN(load)
{
    w->tape.at = 0;
    return oif_detector_load(read_tape, &w->tape, &w->out.detector, error);
}

RUN(save_to_memory)
{
    w->tape.count = oif_detector_snapshot_bytes(w->detector);
    return oif_detector_save_memory(w->detector, tape_bytes, sizeof tape_bytes, error);
}

RUN(load_from_memory)
{
    return oif_detector_load_memory(tape_bytes, w->tape.count, &w->out.detector, error);
}

RUN(save_to_file)
{
    return oif_detector_save_file(w->detector, state_path, error);
}

RUN(load_from_file)
{
    return oif_detector_load_file(state_path, &w->out.detector, error);
}

RUN(open_state_file)
{
    return oif_state_file_open(state_path, &w->out.file, error);
}

RUN(save_to_state_file)
{
    return oif_state_file_save(w->file, w->detector, error);
}

RUN(load_from_state_file)
{
    return oif_state_file_load(w->file, &w->out.detector, error);
}

RUN(create_pipeline)
{
    oif_params options;
    oif_pipeline_options_init(&options);
    return oif_pipeline_new(&w->out.params, DIMENSION, &options, &w->out.pipeline, error);
}

RUN(clone_pipeline)
{
    return oif_pipeline_clone(w->pipeline, &w->out.pipeline, error);
}

RUN(add_named_columns)
{
    static const char *const more[] = {"d", "e"};
    const oif_derive_column derived = {DIMENSION, OIF_DERIVE_RATE, true};
    return oif_pipeline_add_columns(w->pipeline, 2, more, &derived, 1, error);
}

RUN(add_columns)
{
    return oif_pipeline_add_columns(w->pipeline, 1, NULL, NULL, 0, error);
}

RUN(name_pipeline_columns)
{
    static const char *const others[DIMENSION] = {"a", "b", "c"};
    return oif_pipeline_name_columns(w->pipeline, others, error);
}

RUN(name_pipeline_roles)
{
    return oif_pipeline_name_roles(w->pipeline, "disk", NULL, error);
}

RUN(attach)
{
    return oif_pipeline_attach(w->pipeline, "more", 4, error);
}

static const char a_rule[] = "mute column=1 direction=low";

static void a_pipeline_with_feedback(world *w)
{
    oif_past past = {.row = 1, .number = 1, .first_row = 1, .first_seconds = NAN};
    a_pipeline(w);
    require_ok(oif_pipeline_set_rules(w->pipeline, a_rule, strlen(a_rule), NULL));
    require_ok(oif_pipeline_keep_episodes(w->pipeline, true, NULL));
    oif_past_set_key(&past, (oif_text){"a", 1});
    oif_past_episodes_add(w->pipeline->past, &past);
}

static void a_saved_pipeline_with_feedback(world *w)
{
    a_pipeline_with_feedback(w);
    require_ok(oif_pipeline_save(w->pipeline, write_tape, &w->tape, NULL));
}

RUN(set_rules)
{
    return oif_pipeline_set_rules(w->pipeline, rules, strlen(rules), error);
}

RUN(check_rules)
{
    (void)w;
    return oif_rules_check(rules, strlen(rules), error);
}

RUN(add_rules)
{
    return oif_pipeline_add_rules(w->pipeline, a_rule, strlen(a_rule), error);
}

RUN(keep_episodes)
{
    return oif_pipeline_keep_episodes(w->pipeline, true, error);
}

RUN(propose_rule)
{
    char rule[OIF_RULE_BYTES];
    return oif_pipeline_propose(w->pipeline, "a", 1, 1, rule, error);
}

RUN(process_known_key)
{
    return oif_pipeline_process(w->pipeline, "a", 1, stream_rows, &w->out.result, error);
}

RUN(process_new_key)
{
    return oif_pipeline_process(w->pipeline, "c", 1, stream_rows, &w->out.result, error);
}

RUN(process_known_key_at)
{
    return oif_pipeline_process_at(w->pipeline, "a", 1, 5, stream_rows, &w->out.result, error);
}

RUN(process_new_key_at)
{
    return oif_pipeline_process_at(w->pipeline, "c", 1, 5, stream_rows, &w->out.result, error);
}

RUN(process_known_rows)
{
    enum { ROWS = 4 };
    static const char *const keys[ROWS] = {"a", "b", "b", "a"};
    oif_result results[ROWS];
    size_t done;
    oif_status status = oif_pipeline_process_rows(w->pipeline, stream_rows, ROWS, DIMENSION, keys,
                                                  NULL, NULL, results, &done, error);
    if (status == OIF_OK)
        w->out.result = results[done - 1];
    return status;
}

static void add_score(void *context, oif_pipeline *pipeline, size_t row, const oif_result *result)
{
    (void)pipeline;
    ((double *)context)[row] = result->score;
}

RUN(process_known_rows_with)
{
    enum { ROWS = 4 };
    static const char *const keys[ROWS] = {"a", "b", "b", "a"};
    oif_result results[ROWS];
    size_t done;
    oif_status status =
        oif_pipeline_process_rows_with(w->pipeline, stream_rows, ROWS, DIMENSION, keys, NULL, NULL,
                                       add_score, w->out.scores, results, &done, error);
    if (status == OIF_OK)
        w->out.result = results[done - 1];
    return status;
}

enum { TABLE_ROWS = 20 }; /* the fewest that are taken: each is scored many times */

RUN(process_table)
{
    oif_result results[TABLE_ROWS];
    oif_table_info info;
    oif_status status =
        oif_pipeline_process_table(w->pipeline, stream_rows, TABLE_ROWS, DIMENSION, NULL, add_score,
                                   w->out.scores, results, &info, error);
    if (status == OIF_OK)
        w->out.result = results[TABLE_ROWS - 1];
    return status;
}

RUN(share_keys_among_most_threads)
{
    return oif_pipeline_set_threads(w->pipeline, 16, error);
}

RUN(share_keys_no_more)
{
    return oif_pipeline_set_threads(w->pipeline, 1, error);
}

RUN(process_new_row)
{
    size_t done;
    return oif_pipeline_process_rows(w->pipeline, stream_rows, 1, DIMENSION,
                                     (const char *const[]){"c"}, NULL, NULL, &w->out.result, &done,
                                     error);
}

RUN(remove_key)
{
    oif_status status = oif_pipeline_remove_key(w->pipeline, "a", 1, error);
    return status == OIF_EVALUE ? OIF_OK : status; /* when it is repeated */
}

RUN(count_bytes_of_key)
{
    return oif_pipeline_key_snapshot_bytes(w->pipeline, "a", 1, &w->out.bytes, error);
}

RUN(save_key)
{
    w->tape.count = 0;
    return oif_pipeline_save_key(w->pipeline, "a", 1, write_tape, &w->tape, error);
}

RUN(save_key_to_memory)
{
    return oif_pipeline_save_key_memory(w->pipeline, "a", 1, tape_bytes, sizeof tape_bytes, error);
}

RUN(save_key_to_file)
{
    return oif_pipeline_save_key_file(w->pipeline, "a", 1, state_path, error);
}

RUN(load_known_key)
{
    w->tape.at = 0;
    return oif_pipeline_load_key(w->pipeline, read_tape, &w->tape, NULL, 0, NULL, error);
}

RUN(load_new_key)
{
    w->tape.at = 0;
    return oif_pipeline_load_key(w->pipeline, read_tape, &w->tape, "new", 3, NULL, error);
}

RUN(load_key_from_memory)
{
    return oif_pipeline_load_key_memory(w->pipeline, tape_bytes, w->tape.count, "new", 3, NULL,
                                        error);
}

RUN(load_key_from_file)
{
    return oif_pipeline_load_key_file(w->pipeline, state_path, "new", 3, NULL, error);
}

RUN(save_pipeline_to_memory)
{
    return oif_pipeline_save_memory(w->pipeline, tape_bytes, sizeof tape_bytes, error);
}

RUN(save_pipeline_to_file)
{
    return oif_pipeline_save_file(w->pipeline, state_path, error);
}

RUN(create_incidents)
{
    return oif_incidents_new(NULL, &w->out.incidents, error);
}

RUN(begin_episode)
{
    const oif_incident_event event = {.key = "b", .key_bytes = 1, .seconds = 70};
    oif_incident_place place;
    return oif_incidents_begin(w->incidents, &event, &place, error);
}

RUN(end_episode)
{
    const oif_incident_event event = {
        .key = "rack-1/a", .key_bytes = 8, .seconds = 70, .episode = 1};
    oif_incident_place place;
    return oif_incidents_end(w->incidents, &event, &place, error);
}

RUN(check_incidents)
{
    return oif_incidents_check(w->incidents, error);
}

RUN(save_incidents)
{
    w->tape.count = oif_incidents_snapshot_bytes(w->incidents);
    return oif_incidents_save_memory(w->incidents, tape_bytes, sizeof tape_bytes, error);
}

RUN(load_incidents)
{
    return oif_incidents_load_memory(tape_bytes, w->tape.count, &w->out.incidents, error);
}

RUN(create_in_memory)
{
    static _Alignas(OIF_MEMORY_ALIGNMENT) unsigned char memory[16 << 20];
    return oif_detector_init(memory, sizeof memory, &w->out.params, DIMENSION, &w->out.detector,
                             error);
}

RUN(create_pipeline_around)
{
    return oif_pipeline_new_around(&w->detector, NULL, NULL, 0, &w->out.pipeline, error);
}

RUN(score_and_learn_one)
{
    return oif_detector_score_learn(w->detector, stream_rows, w->out.scores, error);
}

RUN(score_and_learn_block)
{
    return oif_detector_score_learn_rows(w->detector, stream_rows, BLOCK, DIMENSION, w->out.scores,
                                         error);
}

RUN(change_option)
{
    return oif_pipeline_change_option(w->pipeline, "silence", 3, error);
}

RUN(derive_column)
{
    return oif_pipeline_derive(w->pipeline, 0, OIF_DERIVE_DIFF, true, error);
}

RUN(derive_columns)
{
    const oif_derive_column derived[] = {{1, OIF_DERIVE_CATEGORY, false},
                                         {0, OIF_DERIVE_DIFF, true}};
    return oif_pipeline_derive_all(w->pipeline, derived, 2, error);
}

RUN(parse_time)
{
    oif_time_format format = {0};
    return oif_time_parse(&format, "2026-11-15", 10, &w->out.value, error);
}

static oif_status check_pattern(world *w, oif_error *error)
{
    (void)w;
    return oif_time_check_pattern("%d.%m.%Y %H:%M", error);
}

static oif_status add_missing(world *w, oif_error *error)
{
    static char longer[1 << 17]; /* than any memory that the reader has kept */
    memset(longer, 'x', sizeof longer - 1);
    return oif_reader_add_missing(w->reader, OIF_ALL_COLUMNS, longer, error);
}

RUN(exchange_known_detector)
{
    return oif_pipeline_exchange_detector(w->pipeline, "a", 1, &w->detector, error);
}

RUN(exchange_new_detector)
{
    return oif_pipeline_exchange_detector(w->pipeline, "c", 1, &w->detector, error);
}

RUN(save_pipeline)
{
    w->tape.count = 0;
    return oif_pipeline_save(w->pipeline, write_tape, &w->tape, error);
}

RUN(load_pipeline)
{
    w->tape.at = 0;
    return oif_pipeline_load(read_tape, &w->tape, &w->out.pipeline, error);
}

RUN(load_pipeline_from_memory)
{
    return oif_pipeline_load_memory(tape_bytes, w->tape.count, &w->out.pipeline, error);
}

RUN(load_pipeline_from_file)
{
    return oif_pipeline_load_file(state_path, &w->out.pipeline, error);
}

RUN(save_pipeline_to_state_file)
{
    return oif_state_file_save_pipeline(w->file, w->pipeline, error);
}

RUN(update_pipeline_in_state_file)
{
    return oif_state_file_update_pipeline(w->file, w->pipeline, error);
}

static bool release_lock(void *context)
{
    (void)context;
    return true;
}

static void hold_lock(void *context)
{
    (void)context;
}

RUN(save_pipeline_in_turns)
{
    const oif_turns turns = {release_lock, hold_lock, NULL};
    return oif_state_file_save_pipeline_in_turns(w->file, w->pipeline, &turns, error);
}

RUN(load_pipeline_from_state_file)
{
    return oif_state_file_load_pipeline(w->file, &w->out.pipeline, error);
}

RUN(keep_evicted)
{
    return oif_state_file_keep_evicted(w->file, w->pipeline, error);
}

RUN(process_evicted_key)
{
    return oif_pipeline_process(w->pipeline, "a", 1, stream_rows, &w->out.result, error);
}

RUN(check_pipeline)
{
    return oif_pipeline_check(w->pipeline, error);
}

RUN(open_reader)
{
    oif_reader_options options = {.header = OIF_HEADER_YES};
    w->source.at = 0; /* a failed call may have read something */
    return oif_reader_open(&options, read_source, &w->source, &w->out.reader, error);
}

RUN(open_ndjson_reader)
{
    oif_reader_options options = {.format = OIF_FORMAT_NDJSON};
    w->source.at = 0;
    return oif_reader_open(&options, read_source, &w->source, &w->out.reader, error);
}

RUN(select_columns)
{
    return oif_reader_select(w->reader, NULL, 0, error);
}

RUN(select_text)
{
    return oif_reader_select_texts(w->reader, &(size_t){1}, 1, error);
}

RUN(find_known_column)
{
    return oif_reader_find_column(w->reader, oif_reader_column_name(w->reader, 1), &w->out.bytes,
                                  error);
}

RUN(find_new_column)
{
    return oif_reader_find_column(w->reader, "c.f.g", &w->out.bytes, error);
}

RUN(read_record)
{
    return oif_reader_next(w->reader, &w->out.record, error);
}

/* One row for each way in which a call can need memory; calls for files and callbacks do not differ
 * in that. `prepare` creates what it works on, `run` makes one call whose results are in `out`. */
static const struct call {
    const char *name;
    void (*prepare)(world *w);
    oif_status (*run)(world *w, oif_error *error);
    bool allocates; /* memory or threads; if not, it must succeed without them */
} calls[] = {
    {"oif_params_init", nothing, init_params, false},
    {"oif_params_set", nothing, set_param_by_number, false},
    {"oif_params_set_text", nothing, set_param_by_text, false},
    {"oif_params_get", nothing, get_param, false},
    {"oif_detector_estimate_bytes", nothing, estimate, false},
    {"oif_detector_new", nothing, create, true},
    {"oif_detector_init", nothing, create_in_memory, false},
    {"oif_detector_clone", a_detector, clone, true},
    {"oif_detector_clone", a_detector_with_threads, clone, true},
    {"oif_detector_clone", a_named_detector, clone, true},
    {"oif_detector_name_columns", a_detector, name_columns, true},
    {"oif_detector_name_columns", a_named_detector, name_columns, true},
    {"oif_detector_name_columns", a_named_detector, take_names_away, false},
    {"oif_detector_learn", a_detector, learn_one, false},
    {"oif_detector_score", a_detector, score_one, false},
    {"oif_detector_learn_score", a_detector, learn_and_score_one, false},
    {"oif_detector_learn_rows", a_detector_with_threads, learn_block, false},
    {"oif_detector_score_rows", a_detector_with_threads, score_block, false},
    {"oif_detector_learn_score_rows", a_detector_with_threads, learn_and_score_block, false},
    {"oif_detector_score_learn", a_detector, score_and_learn_one, false},
    {"oif_detector_score_learn_rows", a_detector_with_threads, score_and_learn_block, false},
    {"oif_detector_set_threads", a_detector, take_most_threads, true},
    {"oif_detector_set_threads", a_detector_with_threads, take_most_threads, true},
    {"oif_detector_set_threads", a_detector_with_threads, take_one_thread, false},
    {"oif_detector_check", a_detector, check, false},
    {"oif_detector_explain", a_detector, explain, false},
    {"oif_detector_save", a_detector, save, false},
    {"oif_detector_load", a_saved_detector, load, true},
    {"oif_detector_load", a_saved_named_detector, load, true},
    {"oif_detector_save_memory", a_detector, save_to_memory, false},
    {"oif_detector_load_memory", a_saved_detector, load_from_memory, true},
    {"oif_detector_save_file", a_detector_and_no_file, save_to_file, true},
    {"oif_detector_load_file", a_detector_in_a_file, load_from_file, true},
    {"oif_state_file_open", no_file, open_state_file, true},
    {"oif_state_file_save", a_state_file, save_to_state_file, false},
    {"oif_state_file_load", a_state_file, load_from_state_file, true},
    {"oif_pipeline_new", nothing, create_pipeline, true},
    {"oif_pipeline_clone", a_named_pipeline, clone_pipeline, true},
    {"oif_pipeline_add_columns", a_named_pipeline, add_named_columns, true},
    {"oif_pipeline_add_columns", a_packing_pipeline, add_columns, true},
    {"oif_pipeline_add_columns", a_deriving_pipeline, add_columns, true},
    {"oif_pipeline_name_columns", a_named_pipeline, name_pipeline_columns, true},
    {"oif_pipeline_name_roles", a_named_pipeline, name_pipeline_roles, true},
    {"oif_pipeline_attach", a_named_pipeline, attach, true},
    {"oif_pipeline_set_rules", a_pipeline, set_rules, true},
    {"oif_pipeline_set_rules", a_named_pipeline, set_rules, true},
    {"oif_rules_check", nothing, check_rules, true},
    {"oif_pipeline_add_rules", a_pipeline_with_feedback, add_rules, true},
    {"oif_pipeline_keep_episodes", a_pipeline, keep_episodes, true},
    {"oif_pipeline_propose", a_pipeline_with_feedback, propose_rule, false},
    {"oif_pipeline_clone", a_pipeline_with_feedback, clone_pipeline, true},
    {"oif_pipeline_load", a_saved_pipeline_with_feedback, load_pipeline, true},
    {"oif_pipeline_process", a_pipeline_with_feedback, process_known_key, false},
    {"oif_pipeline_process", a_pipeline, process_known_key, false},
    {"oif_pipeline_process", a_pipeline, process_new_key, true},
    {"oif_pipeline_process_at", a_pipeline, process_known_key_at, false},
    {"oif_pipeline_process_at", a_deriving_pipeline, process_new_key_at, true},
    {"oif_pipeline_process_at", a_packing_pipeline, process_known_key_at, true},
    {"oif_pipeline_process_at", a_packing_pipeline, process_new_key_at, true},
    {"oif_pipeline_process_at", a_pipeline_before_it_packs, process_new_key_at, true},
    {"oif_pipeline_new_around", a_named_detector, create_pipeline_around, true},
    {"oif_pipeline_process_rows", a_pipeline, process_known_rows, false},
    {"oif_pipeline_process_rows", a_pipeline, process_new_row, true},
    {"oif_pipeline_process_rows", a_pipeline_with_threads, process_known_rows, false},
    {"oif_pipeline_process_rows_with", a_pipeline_with_threads, process_known_rows_with, false},
    {"oif_pipeline_process_table", a_deriving_pipeline, process_table, true},
    {"oif_pipeline_set_threads", a_pipeline, share_keys_among_most_threads, true},
    {"oif_pipeline_set_threads", a_pipeline_with_threads, share_keys_among_most_threads, true},
    {"oif_pipeline_set_threads", a_pipeline_with_threads, share_keys_no_more, false},
    {"oif_pipeline_remove_key", a_pipeline, remove_key, false},
    {"oif_pipeline_remove_key", a_packing_pipeline, remove_key, false},
    {"oif_pipeline_remove_key", a_pipeline_with_evicted_models, remove_key, false},
    {"oif_pipeline_key_snapshot_bytes", a_pipeline, count_bytes_of_key, false},
    {"oif_pipeline_save_key", a_pipeline, save_key, false},
    {"oif_pipeline_save_key", a_pipeline_with_evicted_models, save_key, true},
    {"oif_pipeline_save_key_memory", a_pipeline, save_key_to_memory, false},
    {"oif_pipeline_save_key_file", a_pipeline_and_no_file, save_key_to_file, true},
    {"oif_pipeline_load_key", a_saved_key, load_known_key, true},
    {"oif_pipeline_load_key", a_saved_key, load_new_key, true},
    {"oif_pipeline_load_key_memory", a_saved_key, load_key_from_memory, true},
    {"oif_pipeline_load_key_file", a_key_in_a_file, load_key_from_file, true},
    {"oif_pipeline_save_memory", a_pipeline, save_pipeline_to_memory, true},
    {"oif_pipeline_save_file", a_pipeline_and_no_file, save_pipeline_to_file, true},
    {"oif_pipeline_change_option", a_pipeline, change_option, false},
    {"oif_pipeline_derive", a_deriving_pipeline, derive_column, true},
    {"oif_pipeline_derive_all", a_deriving_pipeline, derive_columns, true},
    {"oif_pipeline_clone", a_deriving_pipeline, clone_pipeline, true},
    {"oif_pipeline_load_memory", a_saved_deriving_pipeline, load_pipeline_from_memory, true},
    {"oif_incidents_new", nothing, create_incidents, true},
    {"oif_incidents_begin", an_incident, begin_episode, false},
    {"oif_incidents_end", an_incident, end_episode, false},
    {"oif_incidents_check", an_incident, check_incidents, false},
    {"oif_incidents_save_memory", an_incident, save_incidents, false},
    {"oif_incidents_load_memory", a_saved_incident, load_incidents, true},
    {"oif_time_parse", nothing, parse_time, false},
    {"oif_time_check_pattern", nothing, check_pattern, false},
    {"oif_pipeline_exchange_detector", a_pipeline_and_a_detector, exchange_known_detector, false},
    {"oif_pipeline_exchange_detector", a_pipeline_and_a_detector, exchange_new_detector, true},
    {"oif_pipeline_exchange_detector", a_packing_pipeline_and_a_detector, exchange_known_detector,
     true},
    {"oif_pipeline_save", a_pipeline, save_pipeline, true},
    {"oif_pipeline_load", a_saved_pipeline, load_pipeline, true},
    {"oif_pipeline_load_memory", a_saved_pipeline, load_pipeline_from_memory, true},
    {"oif_pipeline_load_file", a_pipeline_in_a_state_file, load_pipeline_from_file, true},
    {"oif_state_file_save_pipeline", a_pipeline_in_a_state_file, save_pipeline_to_state_file, true},
    {"oif_state_file_update_pipeline", a_pipeline_in_a_state_file, update_pipeline_in_state_file,
     true},
    {"oif_state_file_update_pipeline", a_pipeline_with_updates, update_pipeline_in_state_file,
     true},
    {"oif_state_file_save_pipeline_in_turns", a_pipeline_in_a_state_file, save_pipeline_in_turns,
     true},
    {"oif_state_file_save_pipeline_in_turns", a_pipeline_with_evicted_models,
     save_pipeline_in_turns, true},
    {"oif_state_file_load_pipeline", a_log, load_pipeline_from_state_file, true},
    {"oif_state_file_load_pipeline", a_pipeline_in_a_state_file, load_pipeline_from_state_file,
     true},
    {"oif_pipeline_process", a_pipeline_with_evicted_models, process_evicted_key, true},
    {"oif_pipeline_process", a_pipeline_with_evicted_models, process_new_key, true},
    {"oif_state_file_save_pipeline", a_pipeline_with_evicted_models, save_pipeline_to_state_file,
     true},
    {"oif_state_file_load_pipeline", a_pipeline_with_evicted_models, load_pipeline_from_state_file,
     true},
    {"oif_state_file_keep_evicted", a_pipeline_before_its_evicted_models, keep_evicted, true},
    {"oif_pipeline_check", a_pipeline, check_pipeline, false},
    {"oif_reader_open", a_text, open_reader, true},
    {"oif_reader_open", a_text_with_a_long_first_line, open_reader, true},
    {"oif_reader_open", an_ndjson_text, open_ndjson_reader, true},
    {"oif_reader_select", a_reader_before_a_long_record, select_columns, false},
    {"oif_reader_select_texts", a_reader_before_a_long_record, select_text, true},
    {"oif_reader_add_missing", a_reader_before_a_long_record, add_missing, true},
    {"oif_reader_find_column", a_reader_before_a_long_record, find_known_column, false},
    {"oif_reader_find_column", an_ndjson_reader, find_known_column, false},
    {"oif_reader_find_column", an_ndjson_reader, find_new_column, true},
    {"oif_reader_next", a_reader_before_a_short_record, read_record, false},
    {"oif_reader_next", a_reader_before_a_long_record, read_record, true},
    {"oif_reader_next", a_reader_before_a_long_quote, read_record, true},
};

/* ---- Worlds ---- */

/* Outputs that a failing call must leave unchanged point here. */
static max_align_t nowhere;

static void make_world(world *w, const struct call *c, const oif_detector *model)
{
    *w = (world){.model = model};
    memset(&w->out, 0xa5, sizeof w->out);
    w->out.params = *oif_detector_params(model);
    w->out.detector = (oif_detector *)&nowhere;
    w->out.reader = (oif_reader *)&nowhere;
    w->out.pipeline = (oif_pipeline *)&nowhere;
    w->out.incidents = (oif_incidents *)&nowhere;
    w->out.file = (oif_state_file *)&nowhere;
    w->out.record = (oif_record){.values = (double *)&nowhere, .text_bytes = 7, .line = 7};
    c->prepare(w);
}

static void free_world(world *w)
{
    oif_detector_free(w->detector);
    oif_reader_close(w->reader);
    if (w->out.detector != (oif_detector *)&nowhere)
        oif_detector_free(w->out.detector);
    if (w->out.reader != (oif_reader *)&nowhere)
        oif_reader_close(w->out.reader);
    oif_pipeline_free(w->pipeline);
    if (w->out.pipeline != (oif_pipeline *)&nowhere)
        oif_pipeline_free(w->out.pipeline);
    oif_incidents_free(w->incidents);
    if (w->out.incidents != (oif_incidents *)&nowhere)
        oif_incidents_free(w->out.incidents);
    oif_state_file_close(w->file);
    if (w->out.file != (oif_state_file *)&nowhere)
        oif_state_file_close(w->out.file);
    remove(state_path);
    remove(evicted_path);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t mix_record(uint64_t hash, const oif_record *record)
{
    if (record->values == (double *)&nowhere)
        return hash;
    hash = mix(hash, record->values, sizeof *record->values);
    hash = mix(hash, &record->line, sizeof record->line);
    return mix(hash, record->text, record->text_bytes);
}

/* NULL: there are no names. */
static uint64_t mix_name(uint64_t hash, const char *name)
{
    return name ? mix(hash, name, strlen(name) + 1) : hash;
}

/* Everything that a detector does from now on. */
static uint64_t mix_detector(uint64_t hash, oif_detector *detector)
{
    double scores[BLOCK];
    oif_error error;
    require_ok(
        oif_detector_learn_score_rows(detector, stream_rows, BLOCK, DIMENSION, scores, NULL));
    require_ok_or(oif_detector_check(detector, &error), error);
    for (size_t i = 0; i < DIMENSION; i++)
        hash = mix_name(hash, oif_detector_column_name(detector, i));
    return mix(hash, scores, sizeof scores);
}

/* Everything that a reader reads from now on. */
static uint64_t mix_reader(uint64_t hash, oif_reader *reader)
{
    oif_record record;
    oif_error error;
    oif_status status;
    require_ok(oif_reader_select(reader, &(size_t){1}, 1, NULL));
    while ((status = oif_reader_next(reader, &record, &error)) == OIF_OK)
        hash = mix_record(hash, &record);
    if (status != OIF_END)
        fail_msg("line %" PRIu64 ": %s", error.line, error.message);
    return hash;
}

/* Everything that a pipeline returns from now on. */
static uint64_t mix_pipeline(uint64_t hash, oif_pipeline *pipeline)
{
    oif_result results[BLOCK];
    oif_error error;
    size_t keys = oif_pipeline_keys(pipeline) + 100 * oif_pipeline_kept(pipeline);
    process_block(pipeline, results);
    require_ok_or(oif_pipeline_check(pipeline, &error), error);
    for (size_t i = 0; i < DIMENSION; i++)
        hash = mix_name(hash, oif_pipeline_column_name(pipeline, i));
    for (size_t i = 0; i < BLOCK; i++) {
        hash = mix(hash, &results[i].score, sizeof results[i].score);
        hash = mix(hash, &results[i].severity, sizeof results[i].severity);
    }
    return mix(hash, &keys, sizeof keys);
}

/* The detector in a state file, if there is one. */
static uint64_t mix_file(uint64_t hash)
{
    oif_detector *detector = NULL;
    if (oif_detector_load_file(state_path, &detector, NULL) != OIF_OK)
        return hash;
    hash = mix_detector(hash, detector);
    oif_detector_free(detector);
    return hash;
}

static uint64_t mix_incidents(uint64_t hash, const oif_incidents *incidents)
{
    static char bytes[1 << 18];
    size_t count = oif_incidents_snapshot_bytes(incidents);
    require_ok(oif_incidents_save_memory(incidents, bytes, sizeof bytes, NULL));
    return mix(hash, bytes, count);
}

/* A hash of the results of the call and of everything that its objects do afterwards. */
static uint64_t consequences(world *w)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = mix_record(hash, &w->out.record);
    hash = mix(hash, w->out.params.values, sizeof w->out.params.values);
    hash = mix(hash, w->out.scores, sizeof w->out.scores);
    hash = mix(hash, &w->out.value, sizeof w->out.value);
    hash = mix(hash, &w->out.bytes, sizeof w->out.bytes);
    if (w->out.detector != (oif_detector *)&nowhere)
        hash = mix_detector(hash, w->out.detector);
    if (w->detector)
        hash = mix_detector(hash, w->detector);
    hash = mix(hash, &w->out.result.score, sizeof w->out.result.score);
    hash = mix(hash, &w->out.result.severity, sizeof w->out.result.severity);
    hash = mix(hash, tape_bytes, w->tape.count);
    hash = mix_file(hash);
    if (w->out.pipeline != (oif_pipeline *)&nowhere)
        hash = mix_pipeline(hash, w->out.pipeline);
    if (w->pipeline)
        hash = mix_pipeline(hash, w->pipeline);
    if (w->out.incidents != (oif_incidents *)&nowhere)
        hash = mix_incidents(hash, w->out.incidents);
    if (w->incidents)
        hash = mix_incidents(hash, w->incidents);
    if (w->out.reader != (oif_reader *)&nowhere)
        hash = mix_reader(hash, w->out.reader);
    if (w->reader)
        hash = mix_reader(hash, w->reader);
    return hash;
}

/* ---- Faults ---- */

static uint64_t faults_injected, calls_tried;

/* "oif_detector_clone of rrcf, request 0 fails" */
typedef struct attempt {
    const struct call *call;
    const oif_detector *model;
    uint64_t from, until; /* requests that fail */
} attempt;

static const char *attempt_text(const attempt *a)
{
    static char text[200];
    snprintf(text, sizeof text, "%s (row %td, %s) with request %" PRIu64 "%s refused",
             a->call->name, a->call - calls, oif_detector_params(a->model)->table->name, a->from,
             a->until == UINT64_MAX ? " and all after it" : "");
    return text;
}

/* Of the detector itself, without names. */
static size_t block_bytes(const oif_detector *detector)
{
    size_t bytes = 0;
    require_ok(oif_detector_estimate_bytes(oif_detector_params(detector), DIMENSION, &bytes, NULL));
    return bytes;
}

static unsigned char *copy_of_bytes(const oif_detector *detector)
{
    size_t bytes = detector ? block_bytes(detector) : 1;
    unsigned char *copy = __real_malloc(bytes); /* the test's own memory does not fail */
    assert_non_null(copy);
    if (detector)
        memcpy(copy, detector, bytes);
    return copy;
}

/* One call that must fail for lack of memory and change nothing. */
static void require_clean_failure(const attempt *a, world *w, oif_error *error)
{
    unsigned char *detector_before = copy_of_bytes(w->detector);
    const outputs out_before = w->out;
    const int64_t memory_before = supply.memory_held, threads_before = supply.threads_held;
    oif_status status = a->call->run(w, error);
    faults_injected++;
    if (status != OIF_EMEMORY)
        fail_msg("%s: the status is \"%s\"", attempt_text(a), oif_status_text(status));
    if (error && (error->status != OIF_EMEMORY ||
                  (!strstr(error->message, "memory") && !strstr(error->message, "threads"))))
        fail_msg("%s: the error is \"%s\", %s", attempt_text(a), oif_status_text(error->status),
                 error->message);
    if (memcmp(&out_before, &w->out, sizeof out_before) != 0)
        fail_msg("%s: an output has changed", attempt_text(a));
    if (supply.memory_held != memory_before || supply.threads_held != threads_before)
        fail_msg("%s: %" PRId64 " allocations and %" PRId64 " threads were left behind",
                 attempt_text(a), supply.memory_held - memory_before,
                 supply.threads_held - threads_before);
    if (w->detector && memcmp(detector_before, w->detector, block_bytes(w->detector)) != 0)
        fail_msg("%s: the detector has changed", attempt_text(a));
    __real_free(detector_before);
}

static void require_recovery(const attempt *a, world *w, uint64_t expected)
{
    oif_error error;
    oif_status status = a->call->run(w, &error);
    if (status != OIF_OK)
        fail_msg("%s: repeated with memory it says \"%s\", %s", attempt_text(a),
                 oif_status_text(status), error.message);
    if (consequences(w) != expected)
        fail_msg("%s: the results afterwards are others", attempt_text(a));
}

static void try_fault(const attempt *a, uint64_t expected)
{
    const int64_t memory_before = supply.memory_held, threads_before = supply.threads_held;
    oif_error error = {.message = ""};
    world w;
    make_world(&w, a->call, a->model);
    refuse(a->from, a->until);
    require_clean_failure(a, &w, &error);
    if (a->until == UINT64_MAX)
        require_clean_failure(a, &w, NULL); /* again, without an error struct */
    refuse_nothing();
    require_recovery(a, &w, expected);
    free_world(&w);
    if (supply.memory_held != memory_before || supply.threads_held != threads_before)
        fail_msg("%s: %" PRId64 " allocations and %" PRId64 " threads were never freed",
                 attempt_text(a), supply.memory_held - memory_before,
                 supply.threads_held - threads_before);
}

/* How often a call requests memory or a thread if all succeed; and the consequences of the call. */
static uint64_t requests_of(const struct call *c, const oif_detector *model, uint64_t *expected)
{
    oif_error error;
    world w;
    make_world(&w, c, model);
    refuse_nothing();
    require_ok_or(c->run(&w, &error), error);
    uint64_t requests = supply.asked;
    *expected = consequences(&w);
    free_world(&w);
    return requests;
}

static void require_success_without_memory(const struct call *c, const oif_detector *model,
                                           uint64_t expected)
{
    const attempt a = {c, model, 0, UINT64_MAX};
    oif_error error;
    world w;
    make_world(&w, c, model);
    refuse(0, UINT64_MAX);
    oif_status status = c->run(&w, &error);
    refuse_nothing();
    if (status != OIF_OK)
        fail_msg("%s: the status is \"%s\", %s", attempt_text(&a), oif_status_text(status),
                 error.message);
    if (consequences(&w) != expected)
        fail_msg("%s: the results are others", attempt_text(&a));
    free_world(&w);
}

static void try_call(const struct call *c, const oif_detector *model)
{
    uint64_t expected, requests = requests_of(c, model, &expected);
    calls_tried++;
    if ((requests > 0) != c->allocates)
        fail_msg("%s (row %td): asks %" PRIu64 " times for memory or a thread", c->name, c - calls,
                 requests);
    for (uint64_t i = 0; i < requests; i++) {
        try_fault(&(attempt){c, model, i, i + 1}, expected);
        try_fault(&(attempt){c, model, i, UINT64_MAX}, expected);
    }
    if (requests == 0)
        require_success_without_memory(c, model, expected);
}

/* ---- Detectors of every kind ---- */

/* Every kind, then online-iforest with its other way of forgetting; NULL after that. */
static const oif_detector_info *kind_at(size_t kind)
{
    if (kind > 0 && !oif_detector_info_at(kind) && oif_detector_info_at(kind - 1))
        return oif_detector_info_find("online-iforest");
    return oif_detector_info_at(kind);
}

/* In the long form of default size; else with few trees, which does the same in less time. */
static oif_detector *new_of_kind(size_t kind)
{
    const oif_detector_info *info = kind_at(kind);
    oif_params params;
    oif_detector *detector = NULL;
    oif_error error;
    require_ok(oif_params_init(&params, info->table.name, NULL));
    if (!oif_detector_info_at(kind))
        require_ok(oif_params_set_text(&params, "forgetting", "turnover", NULL));
    for (size_t i = 0; i < info->table.param_count && !is_long_form(); i++)
        if (strcmp(info->table.params[i].name, "num_trees") == 0 ||
            strcmp(info->table.params[i].name, "num_projections") == 0)
            params.values[i] = 4;
    require_ok_or(oif_detector_new(&params, DIMENSION, &detector, &error), error);
    return detector;
}

/* Readers have no detector. */
static bool is_tried_with(const struct call *c, size_t kind)
{
    return kind == 0 || strstr(c->name, "reader") == NULL;
}

/* A sanitizer makes pipelines ten times slower and sees the same paths with each kind. */
static bool fails_with(const struct call *c, size_t kind)
{
    bool is_slow = SANITIZED && strstr(c->name, "pipeline") != NULL;
    return is_tried_with(c, kind) && (kind == 0 || !is_slow);
}

static void a_call_that_gets_no_memory_changes_nothing_and_can_be_repeated(void **state)
{
    (void)state;
    for (size_t kind = 0; kind_at(kind) != NULL; kind++) {
        oif_detector *model = new_of_kind(kind);
        require_ok(oif_detector_learn_rows(model, stream_rows, LEARNED_ROWS, DIMENSION, NULL));
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            if (fails_with(&calls[i], kind))
                try_call(&calls[i], model);
        oif_detector_free(model);
    }
    print_message("%" PRIu64 " calls on all detectors and readers; %" PRIu64
                  " failed for want of memory or a thread\n",
                  calls_tried, faults_injected);
    assert_int_equal(supply.threads_held, 0);
}

/* ---- The program's allocator ---- */

typedef struct given_memory {
    uint64_t allocated, released;
} given_memory;

static void *give(void *context, size_t alignment, size_t bytes)
{
    ((given_memory *)context)->allocated++;
    return __real_aligned_alloc(alignment, bytes);
}

static void take_back(void *context, void *memory)
{
    ((given_memory *)context)->released++;
    __real_free(memory);
}

/* The call asks the C library for threads at most. Returns how often it asked the allocator. */
static uint64_t requests_given(const struct call *c, const oif_detector *model,
                               const given_memory *given)
{
    oif_error error;
    world w;
    make_world(&w, c, model);
    refuse_nothing();
    const uint64_t threads = supply.threads_asked, allocated = given->allocated;
    const int64_t held = supply.memory_held;
    require_ok_or(c->run(&w, &error), error);
    const uint64_t requests = given->allocated - allocated;
    if (supply.asked != supply.threads_asked - threads || supply.memory_held != held)
        fail_msg("%s (row %td): asks the C library for memory, or frees it", c->name, c - calls);
    free_world(&w);
    return requests;
}

static void the_programs_allocator_gets_every_request_of_every_call(void **state)
{
    (void)state;
    given_memory given = {0};
    uint64_t requests = 0;
    oif_set_allocator(&(oif_allocator){.allocate = give, .release = take_back, .context = &given});
    for (size_t kind = 0; kind_at(kind) != NULL; kind++) {
        oif_detector *model = new_of_kind(kind);
        require_ok(oif_detector_learn_rows(model, stream_rows, LEARNED_ROWS, DIMENSION, NULL));
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            if (is_tried_with(&calls[i], kind))
                requests += requests_given(&calls[i], model, &given);
        oif_detector_free(model);
    }
    oif_set_allocator(NULL);
    print_message("%" PRIu64 " requests of all calls went to the program's allocator\n", requests);
    assert_true(requests > 1000);
    assert_int_equal(given.allocated, given.released);
}

/* ---- Rows never allocate ---- */

/* Allocations are counted, which a sanitizer makes fifteen times slower and no better. */
static uint64_t rows_wanted(void)
{
    const char *text = getenv("OIF_FAULTS_ROWS");
    if (SANITIZED)
        return 2000;
    return text ? strtoull(text, NULL, 10) : 1000000;
}

static void pass_row(oif_detector *detector, uint64_t number)
{
    double row[DIMENSION], result;
    oif_error error;
    memcpy(row, &stream_rows[number % STREAM_ROWS * DIMENSION], sizeof row);
    switch (number % 3) {
    case 0: require_ok(oif_detector_learn(detector, row, &error)); break;
    case 1: require_ok(oif_detector_score(detector, row, &result, &error)); break;
    default: require_ok(oif_detector_learn_score(detector, row, &result, &error));
    }
    if (number % 101 == 0) {
        row[number % DIMENSION] = -INFINITY;
        assert_int_equal(oif_detector_learn(detector, row, &error), OIF_EVALUE);
    }
}

static void pass_block(oif_detector *detector, uint64_t number)
{
    static double scores[STREAM_ROWS];
    size_t count = 1 + number * 7 % 600;
    require_ok(
        oif_detector_learn_score_rows(detector, stream_rows, count, DIMENSION, scores, NULL));
    require_ok(oif_detector_score_rows(detector, stream_rows, count, DIMENSION, scores, NULL));
}

static void no_row_allocates_whatever_the_detector(void **state)
{
    (void)state;
    const oif_detector_info *info;
    uint64_t rows = rows_wanted(), kinds = 0;
    for (; (info = kind_at(kinds)) != NULL; kinds++) {
        oif_detector *detector = new_of_kind(kinds);
        require_ok(oif_detector_set_threads(detector, 2, NULL));
        refuse(0, UINT64_MAX);
        for (uint64_t i = 0; i < rows; i++) {
            pass_row(detector, i);
            if (i % 8192 == 0)
                pass_block(detector, i);
        }
        uint64_t asked = supply.asked;
        refuse_nothing();
        if (asked != 0)
            fail_msg("%s: %" PRIu64 " allocations in %" PRIu64 " rows", info->table.name, asked,
                     rows);
        oif_detector_free(detector);
    }
    print_message("%" PRIu64 " rows and some blocks in each of %" PRIu64
                  " detectors: 0 allocations\n",
                  rows, kinds);
}

enum { WARM_KEYS = 5 };

/* With a few keys; every result is checked, and some are explained. */
static void pass_row_piped(oif_pipeline *pipeline, uint64_t number)
{
    static const char *const keys[WARM_KEYS] = {"a", "", "a longer key", "b", "c"};
    const char *key = keys[number % WARM_KEYS];
    double row[DIMENSION];
    oif_attribution why[DIMENSION];
    oif_result result;
    memcpy(row, &stream_rows[number % STREAM_ROWS * DIMENSION], sizeof row);
    row[0] += number % 211 == 0 ? 100 : 0;
    require_ok(oif_pipeline_process(pipeline, key, strlen(key), row, &result, NULL));
    if (result.anomaly)
        oif_pipeline_explain(pipeline, why);
    if (number % 101 == 0) {
        row[number % DIMENSION] = -INFINITY;
        assert_int_equal(oif_pipeline_process(pipeline, key, strlen(key), row, &result, NULL),
                         OIF_EVALUE);
    }
}

/* With a shingle, or with moves: both at once are refused. */
static oif_pipeline *new_warm_pipeline(size_t kind, bool with_moves)
{
    oif_pipeline *pipeline = NULL;
    oif_detector *detector = new_of_kind(kind);
    oif_params options;
    oif_pipeline_options_init(&options);
    if (with_moves)
        require_ok(oif_params_set_text(&options, "moves", "on", NULL));
    else
        require_ok(oif_params_set(&options, "shingle", 2, NULL));
    require_ok(oif_params_set(&options, "alert_rate", 0.01, NULL));
    require_ok(oif_params_set_text(&options, "learn", "decay", NULL));
    require_ok(
        oif_pipeline_new(oif_detector_params(detector), DIMENSION, &options, &pipeline, NULL));
    require_ok(oif_pipeline_name_columns(pipeline, column_names, NULL));
    for (uint64_t i = 0; i < WARM_KEYS; i++)
        pass_row_piped(pipeline, i);
    oif_detector_free(detector);
    return pipeline;
}

static void require_rows_without_memory(oif_pipeline *pipeline, const char *name, uint64_t rows)
{
    refuse(0, UINT64_MAX);
    for (uint64_t i = WARM_KEYS; i < rows; i++)
        pass_row_piped(pipeline, i);
    uint64_t asked = supply.asked;
    refuse_nothing();
    if (asked != 0)
        fail_msg("pipeline of %s: %" PRIu64 " allocations in %" PRIu64 " rows", name, asked, rows);
    assert_int_equal(oif_pipeline_rows(pipeline), rows);
}

static void no_row_allocates_in_a_pipeline_that_knows_its_keys(void **state)
{
    (void)state;
    const oif_detector_info *info;
    uint64_t rows = rows_wanted() / 2, kinds = 0;
    for (; (info = kind_at(kinds)) != NULL; kinds++)
        for (int with_moves = 0; with_moves < 2; with_moves++) {
            oif_pipeline *pipeline = new_warm_pipeline(kinds, with_moves);
            require_rows_without_memory(pipeline, info->table.name, rows);
            oif_pipeline_free(pipeline);
        }
    print_message("%" PRIu64 " rows in two pipelines of each of %" PRIu64
                  " detectors: 0 allocations\n",
                  rows, kinds);
}

/* ---- A small stack ---- */

/* Beyond what a call may use there is what a thread has on its stack from the start, then a page
 * that ends the program. */
enum { THREAD_BYTES = OIF_STACK_BYTES + 48 * 1024, PAGE_BYTES = 64 * 1024, PAINT = 0x5a };

typedef struct errand {
    void (*run)(void *context);
    void *context;
    unsigned char *begins; /* the stack when it runs, which grows downwards */
} errand;

static void *run_errand(void *argument)
{
    errand *e = argument;
    e->begins = __builtin_frame_address(0);
    e->run(e->context);
    return NULL;
}

/* Runs a function on a stack of its own and returns how much of it was used. */
static size_t stack_used(void (*run)(void *context), void *context)
{
    static _Alignas(PAGE_BYTES) unsigned char memory[PAGE_BYTES + THREAD_BYTES];
    errand e = {run, context, NULL};
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned char *stack = memory + PAGE_BYTES, *deepest = stack;
    assert_int_equal(mprotect(memory, PAGE_BYTES, PROT_NONE), 0);
    memset(stack, PAINT, THREAD_BYTES);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, THREAD_BYTES), 0);
    assert_int_equal(__real_pthread_create(&thread, &attributes, run_errand, &e), 0);
    assert_int_equal(__real_pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    while (deepest < e.begins && *deepest == PAINT)
        deepest++;
    return (size_t)(e.begins - deepest);
}

static struct {
    size_t bytes;
    const char *name;
} deepest_call;

static void note_depth(const char *name, size_t bytes)
{
    if (bytes > deepest_call.bytes) {
        deepest_call.bytes = bytes;
        deepest_call.name = name;
    }
    if (bytes > OIF_STACK_BYTES)
        fail_msg("%s takes %zu bytes of the stack, more than the %d of oif.h", name, bytes,
                 OIF_STACK_BYTES);
}

typedef struct one_call {
    const struct call *call;
    world w;
    oif_error error;
    oif_status status;
} one_call;

static void run_call(void *context)
{
    one_call *c = context;
    c->status = c->call->run(&c->w, &c->error);
}

/* The deepest trees that the parameters allow: checks and growth are recursive. */
static oif_detector *new_deepest(size_t kind)
{
    oif_detector *usual = new_of_kind(kind), *detector = NULL;
    oif_params params = *oif_detector_params(usual);
    for (size_t i = 0; i < params.table->param_count; i++)
        if (strcmp(params.table->params[i].name, "max_depth") == 0)
            params.values[i] = params.table->params[i].maximum;
        else if (strcmp(params.table->params[i].name, "max_leaf_samples") == 0)
            params.values[i] = 2;
    if (oif_detector_new(&params, DIMENSION, &detector, NULL) != OIF_OK)
        return usual;
    oif_detector_free(usual);
    return detector;
}

static void measure_calls(oif_detector *model)
{
    static one_call c;
    require_ok(oif_detector_learn_rows(model, stream_rows, STREAM_ROWS, DIMENSION, NULL));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        c = (one_call){.call = &calls[i]};
        make_world(&c.w, c.call, model);
        note_depth(calls[i].name, stack_used(run_call, &c));
        require_ok_or(c.status, c.error);
        free_world(&c.w);
    }
    oif_detector_free(model);
}

/* What only some rows need: a search for a season, an explanation, a proposal. */
static void live_for_long(void *context)
{
    char rule[OIF_RULE_BYTES];
    oif_pipeline *pipeline = context;
    oif_expected expected[DIMENSION];
    for (uint64_t i = 0; i < 20000; i++) {
        pass_row_piped(pipeline, i);
        oif_pipeline_silent(pipeline, (double)i, NULL, NULL);
    }
    oif_pipeline_expected(pipeline, expected);
    oif_past_episode past;
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &past); i++)
        require_ok(
            oif_pipeline_propose(pipeline, past.key, past.key_bytes, past.number, rule, NULL));
    require_ok(oif_pipeline_check(pipeline, NULL));
}

static void every_call_runs_on_a_small_stack(void **state)
{
    (void)state;
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: sanitizers, and compilers that do not optimise, take more stack\n");
    skip();
#endif
    for (size_t kind = 0; kind_at(kind) != NULL; kind++) {
        measure_calls(new_of_kind(kind));
        measure_calls(new_deepest(kind));
        for (int with_moves = 0; with_moves < 2; with_moves++) {
            oif_pipeline *pipeline = new_warm_pipeline(kind, with_moves);
            require_ok(oif_pipeline_keep_episodes(pipeline, true, NULL));
            note_depth("a pipeline of long life", stack_used(live_for_long, pipeline));
            oif_pipeline_free(pipeline);
        }
    }
    print_message("%s takes the most stack: %zu of %d bytes\n", deepest_call.name,
                  deepest_call.bytes, OIF_STACK_BYTES);
}

/* ---- The table is complete ---- */

static bool has_a_row(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)
            return true;
    return false;
}

/* Counts the calls of a header that can fail; fails if one of them has no row. */
static size_t check_rows_of_header(const char *path)
{
    static const char before[] = "OIF_MUST_CHECK oif_status ";
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("run this in tests/: %s is not there", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    size_t found = 0;
    for (char *at = text; (at = strstr(at, before)) != NULL; found++) {
        at += strlen(before);
        size_t length = strcspn(at, "(");
        if (!has_a_row(at, length))
            fail_msg("%.*s has no row in the table of calls", (int)length, at);
    }
    return found;
}

static void every_call_of_the_headers_that_can_fail_has_a_row(void **state)
{
    (void)state;
    assert_in_range(check_rows_of_header("../include/oif.h"), 39, 100);
    assert_in_range(check_rows_of_header("../include/oif_rows.h"), 5, 100);
}

static int set_up(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(state_path, sizeof state_path, "%s/oif-faults-%ld.state", folder ? folder : "/tmp",
             (long)getpid());
    snprintf(evicted_path, sizeof evicted_path, "%s.evicted", state_path);
    write_texts();
    write_stream();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        free(texts[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_gets_no_memory_changes_nothing_and_can_be_repeated),
        cmocka_unit_test(the_programs_allocator_gets_every_request_of_every_call),
        cmocka_unit_test(no_row_allocates_whatever_the_detector),
        cmocka_unit_test(no_row_allocates_in_a_pipeline_that_knows_its_keys),
        cmocka_unit_test(every_call_runs_on_a_small_stack),
        cmocka_unit_test(every_call_of_the_headers_that_can_fail_has_a_row),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
