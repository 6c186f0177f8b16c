/* oif state size says how much memory many keys will take: compared with runs of thousands of keys,
 * by the library's own count and by the memory of the process. */
#include "../base/sanitized.h"
#include "cli/commands/commands.h"
#include "cli/commands/fleet_size.h"
#include "front/options/command.h"
#include "pipeline/pipeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_COLUMNS = 16, MOST_ARGUMENTS = 12 };

typedef struct fleet {
    uint64_t keys, rows;
    size_t columns;
    char *arguments[MOST_ARGUMENTS];
    bool is_first; /* later ones may reuse the memory of earlier ones */
} fleet;

/* The limit of a run that does not name one depends on the machine. */
#define AMPLE "--memory-limit", "4GB"

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Every key in turn. */
static void learn(oif_pipeline *pipeline, const fleet *of)
{
    uint64_t state = 7;
    double row[MOST_COLUMNS];
    for (uint64_t number = 0; number < of->rows; number++)
        for (uint64_t key = 0; key < of->keys; key++) {
            char text[32];
            oif_result result;
            oif_error error;
            for (size_t i = 0; i < of->columns; i++)
                row[i] = 100 * uniform(&state) * (double)(i + 1);
            size_t bytes = (size_t)snprintf(text, sizeof text, "web-%llu", (unsigned long long)key);
            assert_int_equal(oif_pipeline_process_at(pipeline, text, bytes,
                                                     1.7e9 + 60 * (double)number, row, &result,
                                                     &error),
                             OIF_OK);
        }
}

static double resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void assert_within(const char *name, double expected, double found, double least,
                          double most)
{
    print_message("  %-22s expected %.3g MB, is %.3g MB, %.3f times\n", name, expected / 1e6,
                  found / 1e6, found / expected);
    assert_true(found >= least * expected && found <= most * expected);
}

/* Compares what is expected of a fleet with a run of it. */
static fleet_size compare(fleet of)
{
    run_settings settings;
    help_kind help;
    fleet_size size;
    oif_pipeline *pipeline = NULL;
    assert_int_equal(command_parse(&size_command, of.arguments, &settings, &help), EXIT_OK);
    const double before = resident_bytes();
    assert_int_equal(settings_make_pipeline(&settings, of.columns, &pipeline), EXIT_OK);
    learn(pipeline, &of);
    const double resident = resident_bytes() - before;
    assert_int_equal(fleet_size_estimate(&settings, of.keys, of.columns, of.rows, &size), EXIT_OK);
    print_message("%llu keys, %zu columns, %llu rows: %.0f whole models\n",
                  (unsigned long long)of.keys, of.columns, (unsigned long long)of.rows,
                  size.whole_keys);
    assert_int_equal(oif_pipeline_unmodelled_rows(pipeline), 0);
    assert_int_equal(oif_pipeline_evictions(pipeline), 0);
    assert_within("memory", size.memory_bytes, (double)oif_pipeline_memory_bytes(pipeline), 0.9,
                  1.1);
    assert_within("state file", size.file_bytes, (double)oif_pipeline_snapshot_bytes(pipeline), 0.9,
                  1.1);
    if (of.is_first && !SANITIZED)
        assert_within("of the process", size.memory_bytes, resident, 0.6, 1.4);
    oif_pipeline_free(pipeline);
    settings_close(&settings);
    return size;
}

static void the_memory_of_young_keys_is_known_beforehand(void **unused)
{
    (void)unused;
    fleet_size size = compare(
        (fleet){.keys = 2500, .rows = 8, .columns = 10, .arguments = {AMPLE}, .is_first = true});
    assert_true(size.whole_keys > 0 && size.whole_keys < 1000);
    compare(
        (fleet){.keys = 4200, .rows = 3, .columns = 3, .arguments = {AMPLE, "--detector", "sdo"}});
}

/* Nearly all of a model of rrcf is in use after few rows. */
#define GROWN "--detector", "rrcf", "--tree-size", "64"

static void the_memory_of_keys_that_have_learned_much_is_known_beforehand(void **unused)
{
    (void)unused;
    fleet grown = {.keys = 400, .rows = 40, .columns = 3, .arguments = {AMPLE, GROWN}};
    fleet_size size = compare(grown);
    assert_true(size.whole_keys == 400);
    grown = (fleet){
        .keys = 400, .rows = 40, .columns = 3, .arguments = {GROWN, "--memory-limit", "160MB"}};
    size = compare(grown);
    assert_true(size.whole_keys > 100 && size.whole_keys < 300);
}

static void the_memory_of_few_keys_is_known_beforehand(void **unused)
{
    (void)unused;
    assert_true(
        compare((fleet){.keys = 100, .rows = 30, .columns = 3, .arguments = {AMPLE}}).whole_keys ==
        100);
    assert_true(
        compare((fleet){.keys = 7, .rows = 30, .columns = 3, .arguments = {AMPLE}}).whole_keys ==
        7);
}

static fleet_size expected(char **arguments, uint64_t keys)
{
    run_settings settings;
    help_kind help;
    fleet_size size;
    assert_int_equal(command_parse(&size_command, arguments, &settings, &help), EXIT_OK);
    assert_int_equal(fleet_size_estimate(&settings, keys, 3, 10, &size), EXIT_OK);
    settings_close(&settings);
    return size;
}

/* As many keys as should fit, and a tenth more, which should not. */
static void the_keys_that_a_limit_has_room_for_are_known_beforehand(void **unused)
{
    (void)unused;
    char *arguments[] = {"--memory-limit", "12MB", NULL};
    const double fitting = expected(arguments, 100000).fitting_keys;
    print_message("%.0f keys fit\n", fitting);
    for (int more = 0; more < 2; more++) {
        run_settings settings;
        help_kind help;
        oif_pipeline *pipeline = NULL;
        fleet of = {.keys = (uint64_t)(fitting * (more ? 1.1 : 0.9)), .rows = 10, .columns = 3};
        assert_int_equal(command_parse(&size_command, arguments, &settings, &help), EXIT_OK);
        assert_int_equal(settings_make_pipeline(&settings, 3, &pipeline), EXIT_OK);
        learn(pipeline, &of);
        const bool has_room =
            oif_pipeline_unmodelled_rows(pipeline) == 0 && oif_pipeline_evictions(pipeline) == 0;
        assert_int_equal(has_room, !more);
        oif_pipeline_free(pipeline);
        settings_close(&settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_memory_of_young_keys_is_known_beforehand),
        cmocka_unit_test(the_memory_of_keys_that_have_learned_much_is_known_beforehand),
        cmocka_unit_test(the_memory_of_few_keys_is_known_beforehand),
        cmocka_unit_test(the_keys_that_a_limit_has_room_for_are_known_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
