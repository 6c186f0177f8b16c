/* oif detectors: which detectors there are, what they cost, and when to choose which. */
#include "commands.h"

static void print_memory(const oif_params *params, size_t dimension)
{
    size_t bytes;
    oif_error error;
    if (oif_detector_estimate_bytes(params, dimension, &bytes, &error) == OIF_OK)
        output_print("  memory     %zu KB with these parameters and d = %zu\n",
                     (bytes + 999) / 1000, dimension);
    else
        output_print("  memory     %s\n", error.message);
}

static void print_params(const oif_detector_info *info)
{
    output_print("  parameters");
    for (size_t i = 0; i < info->table.param_count; i++) {
        const oif_param *param = &info->table.params[i];
        char text[PARAM_TEXT_BYTES];
        if (i > 0 && i % 4 == 0)
            output_print("\n            ");
        output_print(" %s=%s", param->name, param_text(param, param->initial, text));
    }
    output_print("\n");
}

exit_code detectors_run(const run_settings *settings)
{
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++) {
        oif_params params;
        oif_error error;
        if (oif_params_init(&params, info->table.name, &error) != OIF_OK)
            return complain(EXIT_FAILED, "%s", error.message);
        output_print("%s%s: %s\n  %s\n  choose it  %s\n  cost/row   %s\n", i > 0 ? "\n" : "",
                     info->table.name, info->table.summary, info->paper, info->choose, info->cost);
        print_memory(&params, settings->dimension ? (size_t)settings->dimension : 10);
        print_params(info);
    }
    return EXIT_OK;
}

static const option_entry options[] = {
    {"dimension", OPTION_COUNT, SETTING(dimension), GROUP_COLUMNS,
     .brief = "columns of a row, for the memory (default 10)",
     .help = "columns of a row, for the memory it takes (default 10)", .argument = "D", .from = 1,
     .to = 1e9, .range = "1 to 1e9"},
};

const command_entry detectors_command = {
    .name = "detectors",
    .summary = "list the detectors, what they cost, and when to choose which",
    .usage = "detectors [OPTION...]",
    .examples = "  oif detectors                  all of them, and their memory for 10 columns\n"
                "  oif detectors --dimension 36   their memory for 36\n"
                "  oif score --detector rrcf readings.csv\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = false,
};
