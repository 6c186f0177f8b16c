/* Any bytes as a body with rows or samples. The first byte chooses the format, the second the
 * settings, and the rest is the body. If OIF_FUZZ_FORMAT is set, that number chooses the format.
 *
 * libFuzzer takes longer for one input than a translation takes, so each input is translated again
 * in variants: a few changes each, which depend on its bytes alone. The number of bodies of each
 * format is printed at the end.
 *
 * Mostly the body is only translated: its rows are lines of a bounded number of bytes. That is what
 * differs from input to input, and it takes microseconds. One input of some also has its rows read:
 * they are JSON, can wait, and no number is lost or doubled on the way. One of many also feeds a
 * real stream. Which ones depends on their bytes, so a finding is found again; the first inputs of
 * a process have everything done to them, so a file with a finding shows it. */
#include "fuzz_input.h"

#include "front/text/output.h"
#include "serve/agents/agent_body.h"
#include "serve/agents/json_rows.h"
#include "serve/agents/waiting_rows.h"
#include "serve/base/digest.h"
#include "serve/bodies/body_reader.h"
#include "serve/http/unsnappy.h"
#include "serve/stream/stream_settings.h"
#include "serve/stream/streams.h"

enum { ROWS_BYTES_MAX = 1 << 20, FIRST_INPUTS = 16, READ_ONE_OF = 32, STREAM_ONE_OF = 1024 };

typedef enum effort { EFFORT_TRANSLATE, EFFORT_READ, EFFORT_STREAM } effort;

static effort effort_for(const uint8_t *data, size_t size)
{
    static size_t inputs;
    const uint64_t chance = digest_add(0, data, size);
    if (inputs < FIRST_INPUTS) {
        inputs++;
        return EFFORT_STREAM;
    }
    return chance % STREAM_ONE_OF == 0 ? EFFORT_STREAM
           : chance % READ_ONE_OF == 0 ? EFFORT_READ
                                       : EFFORT_TRANSLATE;
}

/* ---- The settings ---- */

enum { IS_COMPRESSED = 32 }; /* in the choice, for remote write */

static json_t *settings_of(uint8_t choice)
{
    json_t *settings = json_object();
    static const char *const keys[] = {"host", "series", "measurement", "service.name,host.name"};
    if (choice & 1)
        json_object_set_new(settings, "key", json_string(keys[choice >> 6]));
    if (choice & 2)
        json_object_set_new(settings, "buckets", json_true());
    if (choice & 4)
        json_object_set_new(settings, "drop-labels", json_string("cpu"));
    if (choice & 8)
        json_object_set_new(settings, "metrics", json_string("c*"));
    if (choice & 16)
        json_object_set_new(settings, "row-span", json_string("0"));
    require(settings);
    return settings;
}

/* Opened once for each choice. */
static const sample_rule *rule_of(uint8_t choice)
{
    static json_t *settings[256];
    static sample_rule rules[256];
    problem why;
    if (!settings[choice]) {
        settings[choice] = settings_of(choice);
        require(sample_rule_open(&rules[choice], settings[choice], &why));
    }
    return &rules[choice];
}

/* ---- Rows ---- */

/* A row as JSON. Jansson refuses \u0000 in names, so another sign takes its place. */
static json_t *parse_row(const char *text, size_t bytes)
{
    char *copy = malloc(bytes);
    require(copy);
    memcpy(copy, text, bytes);
    for (size_t i = 0; i + 6 <= bytes; i++)
        if (memcmp(copy + i, "\\u0000", 6) == 0)
            memcpy(copy + i, "\\ufdd0", 6);
    json_t *row = json_loadb(copy, bytes, JSON_REJECT_DUPLICATES, NULL);
    free(copy);
    require(json_is_object(row));
    return row;
}

/* How many numbers the rows have, besides the time. */
static size_t count_numbers(oif_text rows)
{
    size_t numbers = 0;
    for (size_t at = 0; at < rows.bytes;) {
        const char *newline = memchr(rows.text + at, '\n', rows.bytes - at);
        require(newline);
        const size_t row_bytes = (size_t)(newline - rows.text) - at;
        json_t *row = parse_row(rows.text + at, row_bytes);
        const char *name;
        json_t *value;
        json_object_foreach(row, name, value)
            numbers += json_is_number(value);
        require(numbers > 0);
        numbers--;
        json_decref(row);
        at += row_bytes + 1;
    }
    return numbers;
}

/* The first row comes in a request of its own, the others in a second one. */
static void let_wait(oif_text rows, size_t numbers)
{
    waiting_rows *all = waiting_rows_new();
    const size_t head = (size_t)((const char *)memchr(rows.text, '\n', rows.bytes) + 1 - rows.text);
    oif_text taken;
    require(all && waiting_rows_add(all, (oif_text){rows.text, head}, 0.5, 1));
    require(waiting_rows_add(all, (oif_text){rows.text + head, rows.bytes - head}, 0.5, 2));
    taken.text = waiting_rows_take(all, 2, &taken.bytes);
    require(taken.text && waiting_rows_count(all) == 0);
    require(count_numbers(taken) == numbers);
    free((char *)(uintptr_t)taken.text);
    waiting_rows_free(all);
}

/* Names that are not UTF-8 get this sign, after which two of them may be the same. */
static bool has_replacement(oif_text rows)
{
    for (size_t i = 0; i + 3 <= rows.bytes; i++)
        if (memcmp(rows.text + i, "\xef\xbf\xbd", 3) == 0)
            return true;
    return false;
}

static size_t count_lines(oif_text rows)
{
    size_t lines = 0;
    for (size_t i = 0; i < rows.bytes; i++)
        lines += rows.text[i] == '\n';
    return lines;
}

/* ---- A stream ---- */

/* Each body makes a stream, whose name is free again afterwards. */
static void feed_stream(oif_text rows, int format, json_t *settings)
{
    static streams *all;
    const streams_options options = {.max_streams = 2, .history_bytes = 1 << 16};
    const rows_request request = {
        .body = rows.text, .bytes = rows.bytes, .format = format, .answer = ANSWER_RESULTS};
    stream *one;
    rows_answer answer;
    problem why;
    size_t bytes;
    require(all || streams_open(&options, &all, &why));
    if (!streams_create_for_rows(all, "a", settings, &one, &why)) {
        require(why.status >= 400 && why.message[0]);
        return;
    }
    output_divert();
    const bool is_good = stream_rows(one, &request, &answer, &why);
    free(output_diverted(&bytes));
    require(is_good ? answer.rows == answer.accepted : why.status >= 400 && why.message[0]);
    const bool is_provisional = answer.accepted == 0;
    stream_release(one);
    streams_drop_provisional(all);
    require(streams_remove(all, "a", &why) || is_provisional);
}

/* ---- Bodies ---- */

typedef struct body_input {
    agent_body body;
    uint8_t choice;
    effort effort;
} body_input;

/* The rows are freed by the caller. */
static bool translate(const body_input *from, const sample_rule *rule, agent_report *report,
                      oif_text *rows)
{
    const agent_body *body = &from->body;
    problem why;
    output_divert();
    const bool is_good = body->kind == BODY_JSON ? json_rows_write(body->bytes, &why)
                                                 : agent_body_write(body, rule, report, &why);
    rows->text = output_diverted(&rows->bytes);
    require(is_good || (why.status >= 400 && why.message[0]));
    return is_good;
}

static void check_samples(const body_input *from, const sample_rule *rule)
{
    agent_report report;
    oif_text rows;
    if (translate(from, rule, &report, &rows)) {
        require(count_lines(rows) == report.samples.rows && rows.bytes <= ROWS_BYTES_MAX);
        if (from->effort >= EFFORT_READ && !has_replacement(rows)) {
            const size_t numbers = count_numbers(rows);
            require(numbers == report.samples.taken);
            if (rows.bytes > 0)
                let_wait(rows, numbers);
        }
    }
    free((char *)(uintptr_t)rows.text);
}

/* As a body that makes its stream: its settings are completed first. */
static void settle(const body_input *from)
{
    json_t *settings = settings_of(from->choice);
    sample_rule rule;
    agent_report report;
    oif_text rows = {NULL, 0};
    problem why;
    const bool is_settled = agent_body_settle(&from->body, settings, &why);
    if (is_settled) {
        require(sample_rule_open(&rule, settings, &why));
        check_samples(from, &rule);
        if (from->effort == EFFORT_STREAM && translate(from, &rule, &report, &rows))
            feed_stream(rows, 1 + OIF_FORMAT_NDJSON, settings);
        sample_rule_close(&rule);
    }
    free((char *)(uintptr_t)rows.text);
    json_decref(settings);
}

/* Rows as the first body of a stream, without the stream. */
static void read_rows(oif_text rows, oif_format format)
{
    static const body_shape shape;
    static stream_settings settings;
    static bool is_ready;
    body_reader reader = {.is_open = false};
    bad_rows bad = {0};
    oif_record record;
    oif_error error;
    complaint about;
    problem why;
    if (!is_ready)
        require(stream_settings_open(&settings, NULL, false, &why));
    is_ready = true;
    const body_request asked = {.settings = &settings.cli,
                                .shape = &shape,
                                .body = body_text(rows.text, rows.bytes),
                                .format = format,
                                .max_columns = 1000,
                                .why = &why};
    size_t read = 0;
    messages_capture_for_service();
    if (!body_is_blank(asked.body) && body_readers_begin(&reader, 1, &asked))
        while (body_reader_next(&reader, BAD_ROW_FAILS, &bad, &record, &error) == OIF_OK)
            read++;
    body_reader_close(&reader);
    free(messages_captured(&about));
    require(read <= rows.bytes);
}

static void check_rows(const body_input *from)
{
    json_t *settings = json_object();
    const body_kind kind = from->body.kind;
    const bool is_translated = kind == BODY_JSON;
    oif_text rows = {NULL, 0};
    if (is_translated && translate(from, NULL, NULL, &rows) && from->effort == EFFORT_STREAM)
        feed_stream(rows, 1 + OIF_FORMAT_NDJSON, settings);
    else if (!is_translated && from->effort == EFFORT_STREAM)
        feed_stream(from->body.bytes, kind == BODY_CSV ? 1 + OIF_FORMAT_CSV : 0, settings);
    else if (!is_translated)
        read_rows(from->body.bytes, kind == BODY_CSV ? OIF_FORMAT_CSV : OIF_FORMAT_NDJSON);
    free((char *)(uintptr_t)rows.text);
    json_decref(settings);
}

/* ---- Any body ---- */

static unsigned long long bodies[BODY_KINDS];

static void print_bodies(void)
{
    static const char *const names[BODY_KINDS] = {
        [BODY_CSV] = "CSV",
        [BODY_NDJSON] = "NDJSON",
        [BODY_JSON] = "JSON arrays",
        [BODY_INFLUX] = "Influx lines",
        [BODY_PROMETHEUS] = "texts of exporters",
        [BODY_REMOTE_WRITE] = "remote write",
        [BODY_OTLP] = "OTLP protobuf",
    };
    for (int kind = 0; kind < BODY_KINDS; kind++)
        fprintf(stderr, "%12llu bodies: %s\n", bodies[kind], names[kind]);
}

static void check_body(const body_input *from)
{
    const body_claim unknown = {.protobuf = BODY_KINDS};
    body_found found;
    problem why;
    bodies[from->body.kind]++;
    require(body_kind_find(&unknown, from->body.bytes, &found, &why) || why.status >= 400);
    if (!body_kind_is_sampled(from->body.kind)) {
        check_rows(from);
        return;
    }
    check_samples(from, rule_of(from->choice));
    if (from->effort >= EFFORT_READ)
        settle(from);
}

/* A copy with exactly these bytes, so a sanitizer sees reads past its end. NULL: bytes that claim
 * to be compressed are not. */
static char *body_of(const input *from, bool is_compressed, size_t *bytes)
{
    const char *sent = (const char *)from->next;
    const size_t count = (size_t)(from->end - from->next);
    *bytes = count;
    if (is_compressed && (!unsnappy_size(sent, count, bytes) || *bytes > ROWS_BYTES_MAX))
        return NULL;
    char *text = malloc(*bytes ? *bytes : 1);
    require(text);
    if (is_compressed && !unsnappy_run(sent, count, text, *bytes)) {
        free(text);
        return NULL;
    }
    if (!is_compressed && count > 0)
        memcpy(text, sent, count);
    return text;
}

/* ---- Variants ---- */

enum { VARIANTS = 31, VARIED_BYTES_MAX = 2048, CHANGES_MAX = 4, RANGE_MAX = 16 };

static uint32_t draw(uint64_t *state, size_t below)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((*state >> 33) % below);
}

/* Overwrites, inserts, removes or repeats some bytes. Returns how many there are now. */
static size_t change(char *bytes, size_t count, uint64_t *state)
{
    static const char signs[] = "\n\r\t ,;:=\"\\#{}[]()_-+.0123456789eEinfa\x01\x7f\x80\xff";
    const size_t at = draw(state, count), range = 1 + draw(state, RANGE_MAX);
    const size_t rest = count - at, taken = range < rest ? range : rest;
    const char sign = signs[draw(state, sizeof signs)];
    switch (draw(state, 5)) {
    case 0: bytes[at] = sign; return count;
    case 1: bytes[at] = (char)draw(state, 256); return count;
    case 2:
        memmove(bytes + at + 1, bytes + at, rest);
        bytes[at] = sign;
        return count + 1;
    case 3: memmove(bytes + at, bytes + at + taken, rest - taken); return count - taken;
    default: memmove(bytes + at + taken, bytes + at, rest); return count + taken;
    }
}

static void check_variants(const body_input *from, uint64_t state)
{
    const oif_text sent = from->body.bytes;
    char varied[VARIED_BYTES_MAX + CHANGES_MAX * RANGE_MAX];
    for (int i = 0; i < VARIANTS; i++) {
        body_input one = *from;
        size_t count = sent.bytes;
        memcpy(varied, sent.text, count);
        for (size_t changes = 1 + draw(&state, CHANGES_MAX); changes > 0 && count > 0; changes--)
            count = change(varied, count, &state);
        char *text = malloc(count ? count : 1); /* with exactly these bytes */
        require(text);
        memcpy(text, varied, count);
        one.body.bytes = (oif_text){text, count};
        one.effort = EFFORT_TRANSLATE;
        check_body(&one);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const body_kind kinds[] = {BODY_INFLUX, BODY_PROMETHEUS, BODY_REMOTE_WRITE, BODY_OTLP,
                                      BODY_JSON,   BODY_NDJSON,     BODY_CSV};
    static bool is_started;
    input from = {data, data + size};
    const char *only = getenv("OIF_FUZZ_FORMAT");
    const uint8_t number = take_byte(&from);
    const body_kind kind =
        kinds[(only ? strtoul(only, NULL, 10) : number) % (sizeof kinds / sizeof *kinds)];
    const uint8_t choice = take_byte(&from);
    const bool is_compressed =
        kind == BODY_REMOTE_WRITE && (choice & IS_COMPRESSED) && unsnappy_exists();
    size_t bytes;
    if (!is_started)
        is_started = atexit(print_bodies) == 0;
    char *text = body_of(&from, is_compressed, &bytes);
    if (!text)
        return 0;
    const body_input one = {.body = {.kind = kind,
                                     .bytes = {text, bytes},
                                     .now_seconds = 1794970649,
                                     .per_second = 1e9,
                                     .limit_bytes = ROWS_BYTES_MAX},
                            .choice = choice,
                            .effort = effort_for(data, size)};
    check_body(&one);
    if (bytes > 0 && bytes <= VARIED_BYTES_MAX)
        check_variants(&one, digest_add(0, data, size));
    free(text);
    return 0;
}
