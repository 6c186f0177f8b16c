/* oif inspect: what a state file holds. */
#include "options.h"

#include <inttypes.h>
#include <string.h>

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

static void print_table(const oif_detector *detector)
{
    const oif_params *params = oif_detector_params(detector);

    output_print("%-26s %14s\n", "detector", params->info->name);
    print_count("features", oif_detector_dimension(detector));
    print_count("rows learned", oif_detector_rows_learned(detector));
    output_print("%-26s %14s\n", "ready", oif_detector_ready(detector) ? "yes" : "no");
    print_count("bytes in memory", oif_detector_memory_bytes(detector));
    print_count("bytes in the file", oif_detector_snapshot_bytes(detector));
    output_print("parameters\n");
    for (size_t i = 0; i < params->info->param_count; i++) {
        const oif_param *param = &params->info->params[i];
        char text[PARAM_TEXT_BYTES];

        output_print("  %-24s %14s\n", param->name, param_text(param, params->values[i], text));
    }
    output_print("figures\n");
    oif_detector_describe(detector, print_figure, NULL);
}

static void print_json_figure(void *context, const char *name, double value)
{
    bool *is_first = context;
    char text[OIF_NUMBER_TEXT_BYTES];
    size_t length = oif_number_format(value, text);
    bool is_finite = value - value == 0; /* JSON has no others */

    output_print("%s\"%s\": %.*s", *is_first ? "" : ", ", name, is_finite ? (int)length : 4,
                 is_finite ? text : "null");
    *is_first = false;
}

static void print_json(const oif_detector *detector)
{
    const oif_params *params = oif_detector_params(detector);
    bool is_first = true;

    output_print("{\"detector\": \"%s\", \"params\": {", params->info->name);
    print_json_params(params);
    output_print("},\n \"features\": %zu, \"rows_learned\": %" PRIu64 ", \"ready\": %s,\n",
                 oif_detector_dimension(detector), oif_detector_rows_learned(detector),
                 oif_detector_ready(detector) ? "true" : "false");
    output_print(" \"memory_bytes\": %zu, \"file_bytes\": %zu,\n \"figures\": {",
                 oif_detector_memory_bytes(detector), oif_detector_snapshot_bytes(detector));
    oif_detector_describe(detector, print_json_figure, &is_first);
    output_print("}}\n");
}

static exit_code run(const struct settings *settings)
{
    oif_detector *detector;
    oif_error error;

    if (!settings->file)
        return complain(EXIT_USAGE, "inspect needs a FILE, as 'oif score --state FILE' writes it");
    if (oif_detector_load_file(strcmp(settings->file, "-") == 0 ? "/dev/stdin" : settings->file, &detector,
                               &error) != OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    if (settings->json)
        print_json(detector);
    else
        print_table(detector);
    oif_detector_free(detector);
    return EXIT_OK;
}

static const struct option options[] = {
    {"json", NULL, "print it as JSON", set_json},
};

const struct command inspect_command = {
    .name = "inspect",
    .summary = "say what a state file holds, and whether it is whole",
    .usage = "inspect [OPTION...] FILE|-",
    .examples = "  oif inspect pump.oif          its detector, parameters, rows, bytes and figures\n"
                "  oif inspect --json pump.oif   for other programs to read\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .run = run,
};
