/* oif state inspect: what a state file holds, a pipeline or a detector. */
#define _XOPEN_SOURCE 700 /* for realpath */

#include "front/columns/derive.h"
#include "front/results/rules_json.h"
#include "front/text/quoting.h"
#include "state.h"
#include "state_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What was loaded: one of the two is NULL. */
typedef struct loaded_state {
    oif_pipeline *pipeline;
    oif_detector *detector;
    uint64_t file_bytes, kept_bytes; /* 0: unknown */
} loaded_state;

static size_t column_count(const loaded_state *held)
{
    return held->pipeline ? oif_pipeline_columns(held->pipeline)
                          : oif_detector_columns(held->detector);
}

/* The name of a column. That of column 0 is NULL if columns have no names. */
static const char *column_name(const loaded_state *held, size_t column)
{
    return held->pipeline ? oif_pipeline_column_name(held->pipeline, column)
                          : oif_detector_column_name(held->detector, column);
}

/* ---- As a table ---- */

static void print_count(const char *title, uint64_t count)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("%-26s %14s\n", title, grouped_text(count, text));
}

static void print_figure(void *context, const char *name, double value)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    size_t length = oif_number_format(value, text);
    (void)context;
    output_print("  %-24s %14.*s\n", name, (int)length, text);
}

/* Calls `print` for every derived column, "rate(rx_bytes)"; returns how many there are. */
static size_t for_each_derived(const oif_pipeline *pipeline,
                               void (*print)(size_t number, const char *name))
{
    size_t number = 0;
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        oif_derive kind;
        size_t column = oif_pipeline_learned_from(pipeline, i, &kind);
        const char *name = oif_pipeline_column_name(pipeline, column);
        char unnamed[32], *text = NULL;
        snprintf(unnamed, sizeof unnamed, "x%zu", column);
        if (kind != OIF_DERIVE_NONE)
            text = derive_text(kind, name ? name : unnamed);
        if (text)
            print(number++, text);
        free(text);
    }
    return number;
}

static void print_derived(size_t number, const char *name)
{
    output_print("%s  ", number == 0 ? "derived columns\n" : "");
    quoting_write_json(name, strlen(name));
    output_print("\n");
}

static void print_params(const char *title, const oif_params *params)
{
    output_print("%s\n", title);
    for (size_t i = 0; i < params->table->param_count; i++) {
        const oif_param *param = &params->table->params[i];
        char text[PARAM_TEXT_BYTES];
        output_print("  %-24s %14s\n", param->name, param_text(param, params->values[i], text));
    }
}

static void print_names(const loaded_state *held)
{
    if (!column_name(held, 0))
        return;
    output_print("names of the columns\n");
    for (size_t i = 0; i < column_count(held); i++) {
        output_print("  ");
        quoting_write_json(column_name(held, i), strlen(column_name(held, i)));
        output_print("\n");
    }
}

static void print_detector(const loaded_state *held)
{
    const oif_detector *detector = held->detector;
    const oif_params *params = oif_detector_params(detector);
    output_print("%-26s %14s\n", "detector", params->table->name);
    print_count("columns", column_count(held));
    print_count("rows learned", oif_detector_rows_learned(detector));
    output_print("%-26s %14s\n", "ready", oif_detector_ready(detector) ? "yes" : "no");
    print_count("bytes in memory", oif_detector_memory_bytes(detector));
    print_count("bytes in the file", held->file_bytes);
    print_names(held);
    print_params("parameters", params);
    output_print("figures\n");
    oif_detector_describe(detector, print_figure, NULL);
}

/* The model of the key that was seen last; a pipeline that has seen no row has none. */
static void print_recent(const oif_pipeline *pipeline)
{
    size_t bytes;
    const char *key = oif_pipeline_recent_key(pipeline, &bytes);
    const oif_detector *model = oif_pipeline_detector(pipeline, key, bytes);
    if (!model)
        return;
    output_print("model");
    if (key) {
        output_print(" of the key seen last, ");
        quoting_write_json(key, bytes); /* control characters are escaped */
    }
    output_print("\n  %-24s %14s\n", "ready", oif_detector_ready(model) ? "yes" : "no");
    print_figure(NULL, "rows_learned", (double)oif_detector_rows_learned(model));
    oif_detector_describe(model, print_figure, NULL);
}

/* The evicted models, which are beside the state file. */
static void print_kept(const oif_pipeline *pipeline, uint64_t kept_bytes)
{
    if (!params_keep_evicted(oif_pipeline_options(pipeline)))
        return;
    print_count("evicted models kept", oif_pipeline_kept(pipeline));
    print_count("models lost", oif_pipeline_lost(pipeline, NULL));
    print_count("bytes of kept models", kept_bytes);
}

/* The rows that each rule muted, and the rule. */
static void print_rules(const oif_pipeline *pipeline)
{
    oif_rule_info rule;
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++) {
        output_print("%s  %14" PRIu64 "  ", i == 0 ? "rows muted, and the rule\n" : "", rule.held);
        quoting_write_json(rule.text, strlen(rule.text));
        output_print("\n");
    }
}

/* The updates that were appended since the whole file was last written. */
static void print_log(const oif_pipeline *pipeline)
{
    const oif_log_info log = oif_pipeline_log(pipeline);
    if (log.updates > 0) {
        print_count("  of the last whole save", log.base_bytes);
        print_count("  of updates since then", log.update_bytes);
        print_count("updates", log.updates);
    }
    if (log.ignored_bytes > 0)
        print_count("  of an interrupted save", log.ignored_bytes);
}

static void print_pipeline(const loaded_state *held)
{
    const oif_pipeline *pipeline = held->pipeline;
    const oif_params *params = oif_pipeline_detector_params(pipeline);
    output_print("%-26s %14s\n", "detector", params->table->name);
    print_count("columns", column_count(held));
    print_count("rows", oif_pipeline_rows(pipeline));
    print_count("models", oif_pipeline_keys(pipeline));
    print_count("evictions", oif_pipeline_evictions(pipeline));
    print_count("bytes in memory", oif_pipeline_memory_bytes(pipeline));
    if (held->file_bytes > 0)
        print_count("bytes in the file", held->file_bytes);
    print_log(pipeline);
    print_kept(pipeline, held->kept_bytes);
    print_names(held);
    for_each_derived(pipeline, print_derived);
    print_rules(pipeline);
    print_params("options", oif_pipeline_options(pipeline));
    print_params("parameters", params);
    print_recent(pipeline);
}

/* ---- As JSON ---- */

static void print_json_figure(void *context, const char *name, double value)
{
    bool *is_first = context;
    output_print("%s\"%s\": ", *is_first ? "" : ", ", name);
    output_json_number(value);
    *is_first = false;
}

static void print_json_figures(const oif_detector *detector)
{
    bool is_first = true;
    output_print("\"figures\": {");
    oif_detector_describe(detector, print_json_figure, &is_first);
    output_print("}");
}

static void print_json_names(const loaded_state *held)
{
    output_print(" \"names\": %s", column_name(held, 0) ? "[" : "null,\n");
    if (!column_name(held, 0))
        return;
    for (size_t i = 0; i < column_count(held); i++) {
        output_print("%s", i > 0 ? ", " : "");
        quoting_write_json(column_name(held, i), strlen(column_name(held, i)));
    }
    output_print("],\n");
}

static void print_json_derived(size_t number, const char *name)
{
    output_print("%s", number > 0 ? ", " : " \"derived\": [");
    quoting_write_json(name, strlen(name));
}

static void print_json_detector(const loaded_state *held)
{
    const oif_detector *detector = held->detector;
    const oif_params *params = oif_detector_params(detector);
    output_print("{\"detector\": \"%s\", \"params\": {", params->table->name);
    params_print_json(params);
    output_print("},\n \"columns\": %zu, \"rows_learned\": %" PRIu64 ", \"ready\": %s,\n",
                 column_count(held), oif_detector_rows_learned(detector),
                 oif_detector_ready(detector) ? "true" : "false");
    print_json_names(held);
    output_print(" \"memory_bytes\": %zu, \"file_bytes\": %" PRIu64 ",\n ",
                 oif_detector_memory_bytes(detector), held->file_bytes);
    print_json_figures(detector);
    output_print("}\n");
}

static void print_json_recent(const oif_pipeline *pipeline)
{
    size_t bytes;
    const char *key = oif_pipeline_recent_key(pipeline, &bytes);
    const oif_detector *model = oif_pipeline_detector(pipeline, key, bytes);
    if (!model) {
        output_print("null");
        return;
    }
    output_print("{\"key\": ");
    if (key)
        quoting_write_json(key, bytes);
    else
        output_print("null");
    output_print(", \"rows_learned\": %" PRIu64 ", \"ready\": %s,\n  ",
                 oif_detector_rows_learned(model), oif_detector_ready(model) ? "true" : "false");
    print_json_figures(model);
    output_print("}");
}

static void print_json_pipeline(const loaded_state *held)
{
    const oif_pipeline *pipeline = held->pipeline;
    const oif_params *params = oif_pipeline_detector_params(pipeline);
    output_print("{\"detector\": \"%s\", \"params\": {", params->table->name);
    params_print_json(params);
    output_print("},\n \"options\": {");
    params_print_json(oif_pipeline_options(pipeline));
    output_print("},\n \"columns\": %zu, \"rows\": %" PRIu64
                 ", \"models\": %zu, \"evictions\": %" PRIu64 ",\n",
                 column_count(held), oif_pipeline_rows(pipeline), oif_pipeline_keys(pipeline),
                 oif_pipeline_evictions(pipeline));
    print_json_names(held);
    if (for_each_derived(pipeline, print_json_derived) > 0)
        output_print("],\n");
    output_print(" \"rules\": ");
    rules_write_json(pipeline);
    output_print(",\n");
    output_print(" \"kept\": %zu, \"lost\": %" PRIu64
                 ", \"memory_bytes\": %zu, \"file_bytes\": %" PRIu64 ", \"updates\": %" PRIu64
                 ", \"kept_bytes\": %" PRIu64 ",\n \"recent\": ",
                 oif_pipeline_kept(pipeline), oif_pipeline_lost(pipeline, NULL),
                 oif_pipeline_memory_bytes(pipeline), held->file_bytes,
                 oif_pipeline_log(pipeline).updates, held->kept_bytes);
    print_json_recent(pipeline);
    output_print("}\n");
}

/* ---- The command ---- */

/* Standard input, whose first 4,096 bytes can be read twice: whether it holds a pipeline or a
 * detector shows only while it is loaded. */
typedef struct stdin_source {
    char beginning[4096];
    size_t kept, given;  /* bytes of the beginning */
    uint64_t more_bytes; /* read after the beginning */
} stdin_source;

static ptrdiff_t read_stdin(void *context, char *buffer, size_t capacity)
{
    stdin_source *source = context;
    size_t left = source->kept - source->given, count = left < capacity ? left : capacity;
    if (left > 0) {
        memcpy(buffer, source->beginning + source->given, count);
        source->given += count;
        return (ptrdiff_t)count;
    }
    count = fread(buffer, 1, capacity, stdin);
    source->more_bytes += count;
    return ferror(stdin) ? -1 : (ptrdiff_t)count;
}

/* Returns to the start, to load the other kind of snapshot. False: more than the beginning was
 * read. */
static bool rewind_stdin(stdin_source *source)
{
    source->given = 0;
    return source->more_bytes == 0;
}

static oif_status load_stdin(loaded_state *held, oif_error *error)
{
    stdin_source source = {.kept = 0};
    source.kept = fread(source.beginning, 1, sizeof source.beginning, stdin);
    oif_status status = oif_pipeline_load(read_stdin, &source, &held->pipeline, error);
    if (status == OIF_EKIND && rewind_stdin(&source))
        status = oif_detector_load(read_stdin, &source, &held->detector, error);
    held->file_bytes = source.given + source.more_bytes;
    char byte;
    if (status == OIF_OK && read_stdin(&source, &byte, 1) > 0) {
        *error = (oif_error){.status = OIF_ECORRUPT, .cause = OIF_CAUSE_INCONSISTENT_SNAPSHOT};
        snprintf(error->message, sizeof error->message,
                 "the snapshot ends at byte %" PRIu64 ", but bytes follow", held->file_bytes);
        status = OIF_ECORRUPT;
    }
    return status;
}

/* 0: unknown. */
static uint64_t bytes_of_file(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
}

/* The bytes that the file of evicted models takes on the disk. Most of its slots are partly
 * empty, and the file has holes there. It is beside the state file itself, even if `path` is a
 * link to that. */
static uint64_t bytes_of_kept_models(const char *path)
{
    enum { BLOCK_BYTES = 512 }; /* the unit of st_blocks */
    struct stat file;
    char *found = realpath(path, NULL), name[4096] = "";
    int bytes = found ? snprintf(name, sizeof name, "%s.evicted", found) : -1;
    free(found);
    return bytes > 0 && (size_t)bytes < sizeof name && stat(name, &file) == 0
               ? (uint64_t)file.st_blocks * BLOCK_BYTES
               : 0;
}

static oif_status load_file(const char *path, loaded_state *held, oif_error *error)
{
    oif_status status = oif_pipeline_load_file(path, &held->pipeline, error);
    if (status == OIF_EKIND)
        status = oif_detector_load_file(path, &held->detector, error);
    held->file_bytes = bytes_of_file(path);
    held->kept_bytes = bytes_of_kept_models(path);
    return status;
}

static void print_held(const loaded_state *held, bool json)
{
    if (held->pipeline)
        (json ? print_json_pipeline : print_pipeline)(held);
    else
        (json ? print_json_detector : print_detector)(held);
}

exit_code inspect_run(const run_settings *settings)
{
    loaded_state held = {.pipeline = NULL};
    bool is_stdin = settings->file && strcmp(settings->file, "-") == 0;
    if (!settings->file)
        return complain(EXIT_USAGE, "inspect needs a FILE, as 'oif score --state FILE' writes it");
    oif_error error;
    oif_status status =
        is_stdin ? load_stdin(&held, &error) : load_file(settings->file, &held, &error);
    if (status == OIF_OK)
        print_held(&held, settings->json);
    oif_pipeline_free(held.pipeline);
    oif_detector_free(held.detector);
    return status == OIF_OK
               ? EXIT_OK
               : complain(EXIT_FAILED, "%s%s%s", is_stdin ? "<stdin>: " : "", error.message,
                          status == OIF_EKIND ? state_advice(status, &error) : "");
}

static const option_entry options[] = {
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT, .brief = "print it as JSON"},
};

const command_entry inspect_command = {
    .name = "state inspect",
    .summary = "show a state file or snapshot, and whether it is intact",
    .usage = "state inspect [OPTION...] FILE|-",
    .examples = "  oif state inspect pump.oif          its detector, options, rows, keys, bytes\n"
                "                                and figures\n"
                "  oif state inspect --json pump.oif   for other programs to read\n"
                "  ssh plant cat pump.oif | oif state inspect -\n"
                "                                a state elsewhere\n"
                "  oif state pump.oif            the short form; its keys, to list, drop\n"
                "                                and move\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
};
