/* oif state: what a state file knows, key by key; removes keys. */
#include "front/columns/derive.h"
#include "front/input/input_file.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"
#include "state.h"
#include "state_commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Times and counts ---- */

/* "2026-11-15T22:01:02Z"; "" for a time that is not known or that no calendar has. */
static const char *time_text(double seconds, char text[MOMENT_TEXT_BYTES])
{
    const double year_10000 = 253402300799;
    return seconds >= 0 && seconds < year_10000 ? moment_text(floor(seconds), text) : "";
}

typedef struct file_facts {
    uint64_t bytes;
    double saved; /* seconds since 1970; -1: unknown */
} file_facts;

static file_facts facts_of(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return (file_facts){.saved = -1};
    return (file_facts){(uint64_t)info.st_size, (double)info.st_mtime};
}

/* How many keys are in which condition. */
typedef struct key_counts {
    size_t ready, in_episode, silent;
} key_counts;

static key_counts count_keys(const oif_pipeline *pipeline)
{
    key_counts counts = {0};
    oif_key_info key;
    for (size_t position = 0; oif_pipeline_next_key(pipeline, &position, &key);) {
        counts.ready += key.is_ready;
        counts.in_episode += key.is_in_episode;
        counts.silent += key.is_silent;
    }
    return counts;
}

/* ---- The state as a whole ---- */

static void print_count(const char *title, uint64_t count)
{
    char text[GROUPED_TEXT_BYTES];
    output_print("%-14s %s\n", title, grouped_text(count, text));
}

/* The options that differ from their defaults, as a command line has them: "--num-trees 8". */
static void print_changed(const char *title, const oif_params *params)
{
    bool is_first = true;
    for (size_t i = 0; i < params->table->param_count; i++) {
        const oif_param *param = &params->table->params[i];
        char name[FLAG_NAME_BYTES], value[PARAM_TEXT_BYTES];
        if (params->values[i] == param->initial)
            continue;
        if (is_first)
            output_print("%-14s", title);
        output_print(" --%s %s", param_flag_name(param, name),
                     param_text(param, params->values[i], value));
        is_first = false;
    }
    output_print("%s", is_first ? "" : "\n");
}

static void print_columns(const oif_pipeline *pipeline)
{
    size_t count = oif_pipeline_columns(pipeline);
    output_print("%-14s %zu", "columns", count);
    for (size_t i = 0; oif_pipeline_column_name(pipeline, 0) && i < count; i++) {
        const char *name = oif_pipeline_column_name(pipeline, i);
        output_print(i == 0 ? ": " : ", ");
        quoting_write_json(name, strlen(name));
    }
    output_print("\n");
}

static void print_state(const oif_pipeline *pipeline, const file_facts *file)
{
    const oif_params *params = oif_pipeline_detector_params(pipeline);
    key_counts counts = count_keys(pipeline);
    char text[MOMENT_TEXT_BYTES];
    output_print("%-14s %s\n", "detector", params->table->name);
    print_columns(pipeline);
    print_count("rows", oif_pipeline_rows(pipeline));
    print_count("keys", oif_pipeline_keys(pipeline));
    print_count("  ready", counts.ready);
    print_count("  in episode", counts.in_episode);
    if (counts.silent > 0)
        print_count("  silent", counts.silent);
    if (oif_pipeline_kept(pipeline) > 0)
        print_count("keys on disk", oif_pipeline_kept(pipeline));
    if (oif_pipeline_evictions(pipeline) > 0)
        print_count("evictions", oif_pipeline_evictions(pipeline));
    print_changed("options", oif_pipeline_options(pipeline));
    print_changed("parameters", params);
    print_count("bytes", file->bytes);
    output_print("%-14s %s\n", "saved", time_text(file->saved, text));
}

static void print_json_time(const char *name, double seconds)
{
    output_print(", \"%s\": ", name);
    output_json_number(seconds);
}

static void print_json_columns(const oif_pipeline *pipeline)
{
    size_t count = oif_pipeline_columns(pipeline);
    output_print(", \"columns\": %zu, \"names\": ", count);
    output_print(oif_pipeline_column_name(pipeline, 0) ? "[" : "null");
    for (size_t i = 0; oif_pipeline_column_name(pipeline, 0) && i < count; i++) {
        const char *name = oif_pipeline_column_name(pipeline, i);
        output_print(i > 0 ? ", " : "");
        quoting_write_json(name, strlen(name));
    }
    output_print(oif_pipeline_column_name(pipeline, 0) ? "]" : "");
}

static void print_json_state(const oif_pipeline *pipeline, const file_facts *file)
{
    const oif_params *params = oif_pipeline_detector_params(pipeline);
    key_counts counts = count_keys(pipeline);
    output_print("{\"detector\": \"%s\", \"params\": {", params->table->name);
    params_print_json(params);
    output_print("}, \"options\": {");
    params_print_json(oif_pipeline_options(pipeline));
    output_print("}");
    print_json_columns(pipeline);
    output_print(
        ", \"rows\": %" PRIu64 ", \"keys\": %zu, \"ready\": %zu, \"in_episode\": %zu"
        ", \"silent\": %zu, \"on_disk\": %zu, \"evictions\": %" PRIu64 ", \"bytes\": %" PRIu64,
        oif_pipeline_rows(pipeline), oif_pipeline_keys(pipeline), counts.ready, counts.in_episode,
        counts.silent, oif_pipeline_kept(pipeline), oif_pipeline_evictions(pipeline), file->bytes);
    print_json_time("saved", file->saved);
    output_print("}\n");
}

/* ---- Its keys ---- */

static const char *state_word(const oif_key_info *key)
{
    if (key->is_evicted)
        return "on disk";
    if (key->is_silent)
        return "silent";
    return key->is_in_episode ? "episode" : key->is_ready ? "ready" : "learning";
}

static void print_key(const oif_key_info *key)
{
    char rows[GROUPED_TEXT_BYTES], bytes[GROUPED_TEXT_BYTES], text[MOMENT_TEXT_BYTES];
    output_print("%12s  %-8s  %12s  %-20s  ", key->is_evicted ? "" : grouped_text(key->rows, rows),
                 state_word(key), key->is_evicted ? "" : grouped_text(key->memory_bytes, bytes),
                 time_text(key->last_seconds, text));
    if (key->key)
        quoting_write_json(key->key, key->key_bytes);
    else
        output_print("(none)");
    output_print("\n");
}

static void print_json_key(const oif_key_info *key)
{
    output_print("{\"key\": ");
    if (key->key)
        quoting_write_json(key->key, key->key_bytes);
    else
        output_print("null");
    if (key->is_evicted) {
        output_print(", \"on_disk\": true}\n");
        return;
    }
    output_print(", \"rows\": %" PRIu64 ", \"ready\": %s, \"in_episode\": %s, \"silent\": %s"
                 ", \"on_disk\": false, \"bytes\": %zu",
                 key->rows, key->is_ready ? "true" : "false", key->is_in_episode ? "true" : "false",
                 key->is_silent ? "true" : "false", key->memory_bytes);
    print_json_time("last_seconds", key->last_seconds);
    output_print("}\n");
}

static void print_keys(const oif_pipeline *pipeline, bool json)
{
    oif_key_info key;
    if (!json)
        output_print("%12s  %-8s  %12s  %-20s  %s\n", "rows", "state", "bytes", "last seen", "key");
    for (size_t position = 0; oif_pipeline_next_key(pipeline, &position, &key);)
        (json ? print_json_key : print_key)(&key);
}

/* ---- Reading and changing the file ---- */

static exit_code complain_load(const char *path, oif_status status, const oif_error *error)
{
    if (status == OIF_END)
        return complain(EXIT_FAILED, "%s: there is no such file", path);
    return complain(EXIT_FAILED, "%s%s", error->message,
                    error->cause == OIF_CAUSE_DETECTOR_SNAPSHOT
                        ? "; 'oif state inspect' shows what it contains"
                        : state_advice(status, error));
}

static exit_code complain_no_key(const char *path, const char *key)
{
    char pasted[PASTED_PATH_BYTES];
    return complain(EXIT_FAILED, "%s: there is no key '%s'; list all with: oif state --keys %s",
                    path, key, path_to_paste(path, pasted));
}

exit_code state_read(const run_settings *settings, pipeline_function show)
{
    oif_pipeline *pipeline = NULL;
    oif_error error;
    oif_status status = oif_pipeline_load_file(settings->file, &pipeline, &error);
    if (status != OIF_OK)
        return complain_load(settings->file, status, &error);
    exit_code code = show(settings, pipeline);
    oif_pipeline_free(pipeline);
    return code;
}

static exit_code show(const run_settings *settings, oif_pipeline *pipeline)
{
    file_facts file = facts_of(settings->file);
    if (settings->keys.list)
        print_keys(pipeline, settings->json);
    else
        (settings->json ? print_json_state : print_state)(pipeline, &file);
    return EXIT_OK;
}

exit_code state_change(const run_settings *settings, pipeline_function make)
{
    oif_state_file *file = NULL;
    oif_pipeline *pipeline = NULL;
    oif_error error;
    if (oif_state_file_open(settings->file, &file, &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    oif_status status = oif_state_file_load_pipeline(file, &pipeline, &error);
    exit_code code =
        status == OIF_OK ? make(settings, pipeline) : complain_load(settings->file, status, &error);
    if (code == EXIT_OK && oif_state_file_save_pipeline(file, pipeline, &error) != OIF_OK)
        code = complain(EXIT_FAILED, "%s", error.message);
    oif_state_file_close(file);
    oif_pipeline_free(pipeline);
    return code;
}

/* ---- Dropping ---- */

static exit_code drop_key(const run_settings *settings, oif_pipeline *pipeline)
{
    const char *key = settings->keys.drop;
    if (oif_pipeline_remove_key(pipeline, key, strlen(key), NULL) != OIF_OK)
        return complain_no_key(settings->file, key);
    note("%s: key '%s' was dropped; keys left: %zu", settings->file, key,
         oif_pipeline_keys(pipeline) + oif_pipeline_kept(pipeline));
    return EXIT_OK;
}

/* ---- The command ---- */

exit_code state_run(const run_settings *settings)
{
    const key_settings *keys = &settings->keys;
    if (!settings->file)
        return complain(EXIT_USAGE, "state needs a FILE, as 'oif score --state FILE' writes it");
    if (keys->drop && (keys->list || settings->json))
        return complain(EXIT_USAGE, "give only one of --drop, and --keys or --json");
    return keys->drop ? state_change(settings, drop_key) : state_read(settings, show);
}

static const option_entry options[] = {
    {"keys", OPTION_SWITCH, SETTING(keys.list), GROUP_KEYS,
     .brief = "list the keys, the least recently seen first",
     .help = "list its keys, the least recently seen first: rows, whether they are ready or in an "
             "episode, bytes, when they were last seen"},
    {"drop", OPTION_TEXT, SETTING(keys.drop), GROUP_KEYS,
     .brief = "forget this key; its next row starts a new model", .argument = "KEY"},
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT,
     .brief = "print JSON: an object, or one per key"},
};

const command_entry state_command = {
    .name = "state",
    .summary = "show a state file and its keys; drop keys",
    .usage = "state [OPTION...] FILE",
    .examples = "  oif state hosts.oif                    what was learned, and when it was saved\n"
                "  oif state --keys hosts.oif             the keys: rows, readiness, bytes,\n"
                "                                         last seen\n"
                "  oif state --keys --json hosts.oif      the same as NDJSON\n"
                "  oif state --drop web-7 hosts.oif       a host that is gone, or has learned\n"
                "                                         the wrong things\n"
                "  oif state inspect hosts.oif            all options and figures; detectors too\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
};
