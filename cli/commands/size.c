/* oif state size: how much memory many keys take, and how large their state file is. */
#include "commands.h"
#include "fleet_size.h"
#include "front/options/season_option.h"

#include <math.h>
#include <stdio.h>

enum { DEFAULT_ROWS = 2048 };

/* "17.3 GB" */
enum { AMOUNT_TEXT_BYTES = 32 };
static const char *amount_text(double bytes, char text[AMOUNT_TEXT_BYTES])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1000;
    const int decimals = bytes >= 99.95 || unit == 0 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(text, AMOUNT_TEXT_BYTES, "%.*f %s", decimals, bytes, units[unit]);
    return text;
}

static void print_amount(const char *name, double bytes)
{
    char text[AMOUNT_TEXT_BYTES];
    output_print("%-22s %12s", name, amount_text(bytes, text));
}

static void print_models(const char *name, double keys, double bytes)
{
    char count[GROUPED_TEXT_BYTES], text[AMOUNT_TEXT_BYTES];
    print_amount(name, keys * bytes);
    output_print("   %s of %s\n", grouped_text((uint64_t)keys, count), amount_text(bytes, text));
}

/* Bytes rounded up to two digits, as options take them: 1200MB. */
static const char *limit_text(double bytes, char text[AMOUNT_TEXT_BYTES])
{
    const double unit = bytes < 1e10 ? 1e6 : 1e9,
                 digit = pow(10, fmax(0, floor(log10(bytes / unit)) - 1));
    snprintf(text, AMOUNT_TEXT_BYTES, "%.0f%s", ceil(bytes / unit / digit) * digit,
             unit < 1e9 ? "MB" : "GB");
    return text;
}

/* The options of a run with room for all keys: a tenth more than the models need. */
static void print_options(const fleet_size *size)
{
    char limit[AMOUNT_TEXT_BYTES];
    output_print("options                --max-keys %.0f --memory-limit %s\n", size->keys,
                 limit_text(size->memory_bytes * 1.1, limit));
}

/* What a lower limit would save, if that is a tenth or more: models become whole while there is
 * room, because their rows take less time then. */
static void print_least(const fleet_size *size)
{
    const double least =
        size->memory_bytes - size->whole_keys * (size->whole_bytes - size->packed_bytes);
    char limit[AMOUNT_TEXT_BYTES];
    if (least > 0.9 * size->memory_bytes)
        return;
    print_amount("at least", least);
    output_print("   if all are packed: a memory limit of %s\n", limit_text(least * 1.1, limit));
}

static void print_text(const fleet_size *size)
{
    print_amount("memory", size->memory_bytes);
    output_print("\n");
    print_models("  packed models", size->keys - size->whole_keys, size->packed_bytes);
    print_models("  whole models", size->whole_keys, size->whole_bytes);
    print_amount("  table of keys", size->table_bytes);
    output_print("\n");
    print_amount("  shared by all keys", size->shared_bytes);
    output_print("\n");
    print_least(size);
    print_models("state file", size->keys, size->file_bytes / size->keys);
    print_options(size);
}

static void print_json(const fleet_size *size)
{
    output_print("{\"memory_bytes\": %.0f, \"packed_models\": %.0f, \"packed_model_bytes\": %.0f, "
                 "\"whole_models\": %.0f, \"whole_model_bytes\": %.0f, ",
                 size->memory_bytes, size->keys - size->whole_keys, size->packed_bytes,
                 size->whole_keys, size->whole_bytes);
    output_print("\"table_bytes\": %.0f, \"shared_bytes\": %.0f, \"state_file_bytes\": %.0f, "
                 "\"fitting_keys\": %.0f}\n",
                 size->table_bytes, size->shared_bytes, size->file_bytes, size->fitting_keys);
}

static void report_limit(const fleet_size *size)
{
    char limit[AMOUNT_TEXT_BYTES], count[GROUPED_TEXT_BYTES];
    if (size->fitting_keys < size->keys)
        note("%s, %s, has room for about %s of these keys; rows of the others get no score",
             amount_text(size->limit_bytes, limit),
             size->is_limit_usual ? "half of the memory of this machine" : "the memory limit",
             grouped_text((uint64_t)size->fitting_keys, count));
}

exit_code size_run(const run_settings *settings)
{
    fleet_size size;
    const uint64_t rows = settings->size.rows > 0 ? settings->size.rows : DEFAULT_ROWS;
    if (settings->size.keys == 0 || settings->dimension == 0)
        return complain(EXIT_USAGE, "size needs --keys N and --columns D");
    exit_code code = fleet_size_estimate(settings, settings->size.keys, (size_t)settings->dimension,
                                         rows, &size);
    if (code != EXIT_OK)
        return code;
    (settings->json ? print_json : print_text)(&size);
    report_limit(&size);
    return EXIT_OK;
}

static const option_entry options[] = {
    {"keys", OPTION_COUNT, SETTING(size.keys), GROUP_KEYS, .brief = "how many keys there will be",
     .argument = "N", .from = 1, .to = 1e9, .range = "1 to 1e9"},
    {"rows-per-key", OPTION_COUNT, SETTING(size.rows), GROUP_KEYS,
     .brief = "rows that each has learned (default 2048)",
     .help = "rows that each key has learned (default 2048; models grow little afterwards)",
     .argument = "N", .from = 1, .to = 1e5, .range = "1 to 1e5"},
    {"columns", OPTION_COUNT, SETTING(dimension), GROUP_COLUMNS,
     .brief = "how many columns are learned", .help = "how many columns are learned",
     .argument = "D", .from = 1, .to = 10000, .range = "1 to 10000"},
    {"season", OPTION_APPLY, SETTING(options), GROUP_DETECTOR,
     .brief = "of a run with this --season: N rows, 1d, 1w; off",
     .help = "the size of a run with this --season: rows, or a time such as 24h, 1d or 1w if rows "
             "come every minute; may be given twice; auto (the default); off, which takes less",
     .argument = "PERIOD", .apply = season_set},
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT, .brief = "print JSON, sizes in bytes"},
};

const command_entry size_command = {
    .name = "state size",
    .summary = "estimate the memory and the state file of many keys",
    .usage = "state size --keys N --columns D [OPTION...]",
    .examples = "  oif state size --keys 1e6 --columns 10\n"
                "                              memory for a million hosts, part by part\n"
                "  oif state size --keys 1e6 --columns 10 --rows-per-key 60\n"
                "                              after an hour, one row per minute\n"
                "  oif state size --keys 5000 --columns 3 --detector sdo --memory-limit 1G\n"
                "                              with the settings of a run\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = false,
    .takes_params = true,
    .takes_pipeline = true,
};
