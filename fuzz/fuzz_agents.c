/* Any bytes as the body of an agent. The first byte chooses the format, the second the settings,
 * and the rest is the body. The rows that it becomes are JSON, can wait, and no number is lost or
 * doubled on the way. */
#include "fuzz_input.h"

#include "front/text/output.h"
#include "serve/agents/agent_body.h"
#include "serve/agents/waiting_rows.h"

enum { ROWS_BYTES_MAX = 1 << 20 };

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
    return settings;
}

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
static size_t count_numbers(const char *rows, size_t bytes)
{
    size_t numbers = 0;
    for (size_t at = 0; at < bytes;) {
        const char *newline = memchr(rows + at, '\n', bytes - at);
        require(newline);
        const size_t row_bytes = (size_t)(newline - rows) - at;
        json_t *row = parse_row(rows + at, row_bytes);
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
static void let_wait(const char *rows, size_t bytes, size_t numbers)
{
    waiting_rows *all = waiting_rows_new();
    const size_t head = (size_t)((const char *)memchr(rows, '\n', bytes) + 1 - rows);
    size_t taken_bytes = 0;
    require(all && waiting_rows_add(all, (oif_text){rows, head}, 0.5, 1));
    require(waiting_rows_add(all, (oif_text){rows + head, bytes - head}, 0.5, 2));
    char *taken = waiting_rows_take(all, 2, &taken_bytes);
    require(taken && waiting_rows_count(all) == 0);
    require(count_numbers(taken, taken_bytes) == numbers);
    free(taken);
    waiting_rows_free(all);
}

/* Names that are not UTF-8 get this sign, after which two of them may be the same. */
static bool has_replacement(const char *rows, size_t bytes)
{
    for (size_t i = 0; i + 3 <= bytes; i++)
        if (memcmp(rows + i, "\xef\xbf\xbd", 3) == 0)
            return true;
    return false;
}

static void write_rows(const agent_body *body, const json_t *settings)
{
    sample_rule rule;
    agent_report report;
    problem why;
    size_t bytes;
    require(sample_rule_open(&rule, settings, &why));
    output_divert();
    const bool is_good = agent_body_write(body, &rule, &report, &why);
    char *rows = output_diverted(&bytes);
    if (is_good && !has_replacement(rows, bytes)) {
        const size_t numbers = count_numbers(rows, bytes);
        require(numbers == report.samples.taken && bytes <= ROWS_BYTES_MAX);
        if (bytes > 0)
            let_wait(rows, bytes, numbers);
    }
    require(is_good || (why.status >= 400 && why.message[0]));
    free(rows);
    sample_rule_close(&rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, data + size};
    const body_kind kind = BODY_INFLUX + take_byte(&from) % (BODY_KINDS - BODY_INFLUX);
    json_t *settings = settings_of(take_byte(&from));
    const size_t bytes = (size_t)(from.end - from.next);
    char *text = malloc(bytes ? bytes : 1); /* a sanitizer sees reads past its end */
    require(settings && text);
    if (bytes > 0)
        memcpy(text, from.next, bytes);
    const agent_body body = {.kind = kind,
                             .bytes = {text, bytes},
                             .now_seconds = 1794970649,
                             .per_second = 1e9,
                             .limit_bytes = ROWS_BYTES_MAX};
    problem why;
    write_rows(&body, settings);
    if (agent_body_settle(&body, settings, &why))
        write_rows(&body, settings);
    free(text);
    json_decref(settings);
    return 0;
}
