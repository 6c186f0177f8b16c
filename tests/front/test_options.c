/* front/options: what arguments mean, which are refused and why, and the text of help. */
#include "front_fixture.h"

#include "front/options/alert_options.h"
#include "front/options/command.h"
#include "front/options/flag_list.h"
#include "front/options/help.h"
#include "front/options/option_set.h"
#include "front/options/pipeline_flags.h"
#include "front/options/season_option.h"
#include "front/text/durations.h"

/* ---- A command with an option of every kind ---- */

static const char *set_even(run_settings *settings, const char *value)
{
    settings->generate.seed = value ? (uint64_t)atoi(value) : 2;
    return settings->generate.seed % 2 == 0 ? NULL : "an even number";
}

static const char *const sizes[] = {"small", "large", "huge", NULL};

static const option_entry try_options[] = {
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT, .brief = "print JSON"},
    {"verbose", OPTION_SWITCH, SETTING(verbose), GROUP_OUTPUT, .help = "say more"},
    {"no-header", OPTION_CONSTANT, SETTING(header), GROUP_INPUT, .help = "rows only",
     .from = OIF_HEADER_NO},
    {"label", OPTION_TEXT, SETTING(label), GROUP_COLUMNS, .brief = "the label", .argument = "COL"},
    {"rows", OPTION_COUNT, SETTING(generate.rows), GROUP_OUTPUT, .brief = "how many rows",
     .argument = "N", .from = 1, .to = 1000, .range = "1 to 1000"},
    {"size", OPTION_WORD, SETTING(format), GROUP_OUTPUT, .brief = "how large", .argument = "SIZE",
     .words = sizes, .from = 5},
    {"even", OPTION_APPLY, SETTING(generate.seed), GROUP_OUTPUT, .brief = "an even number",
     .argument = "[N]", .apply = set_even},
    {"share", OPTION_AMOUNT, SETTING(generate.share), GROUP_OUTPUT, .brief = "a time",
     .argument = "TIME", .to = 50, .range = "a time up to 50s", .parse = duration_parse,
     .given = SETTING(generate.is_share_given)},
};

static const command_entry try_command = {.name = "try",
                                          .summary = "has every kind of option",
                                          .usage = "try [OPTIONS] [FILE]",
                                          .examples = "  oif try rows.csv\n",
                                          .more_examples = "  oif try --json rows.csv\n",
                                          .options = try_options,
                                          .option_count = sizeof try_options / sizeof *try_options,
                                          .takes_file = true,
                                          .takes_params = true,
                                          .takes_pipeline = true};

static run_settings parsed; /* closed, so without files */
static help_kind asked_help;
static const char *first_file;
static size_t file_count;

/* What is wrong is in `said`. */
static exit_code parse_as(const command_entry *command, const char *const arguments[])
{
    static char *copies[ARGUMENTS_MAX + 1]; /* the settings point into them */
    size_t count = 0;
    for (; arguments[count]; count++)
        copies[count] = (char *)(uintptr_t)arguments[count]; /* they are not changed */
    copies[count] = NULL;
    messages_capture();
    exit_code code = command_parse(command, copies, &parsed, &asked_help);
    take_messages();
    first_file = parsed.file;
    file_count = parsed.file_count;
    settings_close(&parsed);
    return code;
}

#define PARSE(...) parse_as(&try_command, OPTIONS(__VA_ARGS__))

#define ASSERT_REFUSED(expected, ...)                                                              \
    do {                                                                                           \
        assert_int_equal(PARSE(__VA_ARGS__), EXIT_USAGE);                                          \
        assert_string_equal(said.text, expected);                                                  \
    } while (0)

static double pipeline_option(const char *name)
{
    double value = -5;
    assert_int_equal(oif_params_get(&parsed.options, name, &value, NULL), OIF_OK);
    return value;
}

/* ---- Kinds of options ---- */

static void without_arguments_nothing_is_given(void **state)
{
    (void)state;
    assert_int_equal(parse_as(&try_command, NO_OPTIONS), EXIT_OK);
    assert_false(parsed.json);
    assert_null(parsed.label);
    assert_null(first_file);
    assert_int_equal(file_count, 0);
    assert_false(parsed.is_detector_given);
    assert_string_equal(parsed.params.table->name, OIF_DEFAULT_DETECTOR);
    assert_int_equal(asked_help, HELP_NOT_ASKED);
    for (size_t i = 0; i < OIF_PARAMS_MAX; i++)
        assert_false(parsed.is_given[i] || parsed.is_option_given[i]);
}

static void a_switch_takes_no_value(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--json"), EXIT_OK);
    assert_true(parsed.json);
    ASSERT_REFUSED("--json takes no value", "--json=1");
    assert_int_equal(PARSE("-v"), EXIT_OK);
    assert_true(parsed.verbose);
}

static void a_constant_sets_its_word(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--no-header"), EXIT_OK);
    assert_int_equal(parsed.header, OIF_HEADER_NO);
    ASSERT_REFUSED("--no-header takes no value", "--no-header=x");
}

static void a_text_is_in_the_same_argument_or_the_next(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--label", "is bad"), EXIT_OK);
    assert_string_equal(parsed.label, "is bad");
    assert_int_equal(PARSE("--label=a=b"), EXIT_OK);
    assert_string_equal(parsed.label, "a=b");
    assert_int_equal(PARSE("--label="), EXIT_OK);
    assert_string_equal(parsed.label, "");
    assert_int_equal(PARSE("--label", "--json"), EXIT_OK);
    assert_string_equal(parsed.label, "--json");
    assert_false(parsed.json);
    assert_int_equal(PARSE("--label", "a", "--label", "b"), EXIT_OK);
    assert_string_equal(parsed.label, "b");
    ASSERT_REFUSED("--label needs a value ('oif try --help-all' says which)", "--label");
}

static void a_count_is_a_whole_number_in_its_range(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "1001", "1.5", "-1", "", "x", "7x", "nan", "inf"};
    assert_int_equal(PARSE("--rows", "1"), EXIT_OK);
    assert_int_equal(parsed.generate.rows, 1);
    assert_int_equal(PARSE("--rows=1e3"), EXIT_OK);
    assert_int_equal(parsed.generate.rows, 1000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char expected[96];
        snprintf(expected, sizeof expected,
                 "--rows: expected a whole number from 1 to 1000, not '%s'", wrong[i]);
        ASSERT_REFUSED(expected, "--rows", wrong[i]);
    }
}

static void a_word_is_one_of_the_listed(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--size", "small"), EXIT_OK);
    assert_int_equal(parsed.format, 5);
    assert_int_equal(PARSE("--size=huge"), EXIT_OK);
    assert_int_equal(parsed.format, 7);
    ASSERT_REFUSED("--size: expected small, large or huge, not 'hug'", "--size", "hug");
    ASSERT_REFUSED("--size needs a value ('oif try --help-all' says which)", "--size");
}

static void an_optional_value_is_taken_only_if_it_is_a_number(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--even", "4"), EXIT_OK);
    assert_int_equal(parsed.generate.seed, 4);
    assert_null(first_file);
    assert_int_equal(PARSE("--even", "rows.csv"), EXIT_OK);
    assert_int_equal(parsed.generate.seed, 2);
    assert_string_equal(first_file, "rows.csv");
    assert_int_equal(PARSE("--even"), EXIT_OK);
    assert_int_equal(parsed.generate.seed, 2);
    ASSERT_REFUSED("--even: expected an even number, not '3'", "--even=3");
}

/* ---- One option by its name ---- */

static run_settings one_by_one;
static option_problem refusal;

static void start(const char *detector)
{
    memset(&refusal, 0, sizeof refusal);
    assert_true(settings_start(&try_command, detector, &one_by_one, &refusal));
}

static bool set(const char *name, const char *value)
{
    return option_set(&try_command, &one_by_one, name, value, &refusal);
}

static void an_option_is_set_by_its_name(void **state)
{
    (void)state;
    double silence = 0;
    start(OIF_DEFAULT_DETECTOR);
    assert_true(set("json", NULL) && set("no-header", NULL) && set("label", "bad"));
    assert_true(set("rows", "1e3") && set("size", "huge") && set("even", NULL));
    assert_true(set("share", "25") && set("silence", "10m") && set("seed", "7"));
    assert_true(one_by_one.json && one_by_one.header == OIF_HEADER_NO);
    assert_string_equal(one_by_one.label, "bad");
    assert_int_equal(one_by_one.generate.rows, 1000);
    assert_int_equal(one_by_one.format, 7);
    assert_int_equal(one_by_one.generate.seed, 2);
    assert_true(one_by_one.generate.share == 25 && one_by_one.generate.is_share_given);
    assert_int_equal(oif_params_get(&one_by_one.options, "silence", &silence, NULL), OIF_OK);
    assert_true(silence == 600 && settings_give_option(&one_by_one, "silence"));
    assert_true(settings_give_param(&one_by_one, "seed"));
}

static void what_is_wrong_with_an_option_is_data(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
        option_fault fault;
        oif_cause cause;
        const char *expected, *other;
    } cases[] = {
        {"lable", "x", OPTION_UNKNOWN, OIF_CAUSE_UNKNOWN_PARAMETER, "", "label"},
        {"--label", "x", OPTION_UNKNOWN, OIF_CAUSE_UNKNOWN_PARAMETER, "", "label"},
        {"help-all", NULL, OPTION_UNKNOWN, OIF_CAUSE_UNKNOWN_PARAMETER, "", "help-all"},
        {"label", NULL, OPTION_NEEDS_VALUE, OIF_CAUSE_NONE, "", ""},
        {"silence", NULL, OPTION_NEEDS_VALUE, OIF_CAUSE_NONE, "", ""},
        {"json", "1", OPTION_TAKES_NO_VALUE, OIF_CAUSE_NONE, "", ""},
        {"rows", "0", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE, "a whole number from 1 to 1000", ""},
        {"size", "tiny", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE, "small, large or huge", ""},
        {"even", "3", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE, "an even number", ""},
        {"share", "51", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE, "a time up to 50s", ""},
        {"share", "nan", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE, "a time up to 50s", ""},
        {"silence", "long", OPTION_HAS_BAD_VALUE, OIF_CAUSE_NONE,
         "a time such as 30s, 10m, 2h or 1d, 0 or -1", ""},
        {"alert-rate", "0", OPTION_VALUE_IS_REFUSED, OIF_CAUSE_PARAMETER_RANGE,
         "alert_rate must be ", ""},
        {"shadow-trees", "4", OPTION_OF_OTHERS, OIF_CAUSE_NONE, "", NULL}};
    messages_capture();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start("loda");
        assert_false(set(cases[i].name, cases[i].value));
        assert_string_equal(refusal.name, cases[i].name);
        assert_int_equal(refusal.fault, cases[i].fault);
        assert_int_equal(refusal.cause, cases[i].cause);
        assert_memory_equal(refusal.expected, cases[i].expected, strlen(cases[i].expected));
        if (cases[i].other)
            assert_string_equal(refusal.other, cases[i].other);
    }
    take_messages();
    assert_string_equal(said.text, "");
    assert_false(settings_start(&try_command, "loda+rrfc", &one_by_one, &refusal));
    assert_int_equal(refusal.fault, OPTION_UNKNOWN_DETECTOR);
    assert_string_equal(refusal.value, "rrfc");
    assert_string_equal(refusal.other, "rrcf");
}

static bool turn(const command_entry *command, const char *name, bool is_on)
{
    start(OIF_DEFAULT_DETECTOR);
    return option_switch(command, &one_by_one, name, is_on, &refusal);
}

static void true_and_false_are_the_words_of_an_option(void **state)
{
    (void)state;
    assert_true(turn(&try_command, "json", true) && one_by_one.json);
    assert_true(turn(&try_command, "json", false) && !one_by_one.json);
    assert_true(turn(&try_command, "no-header", false) && one_by_one.header == OIF_HEADER_AUTO);
    assert_true(turn(&score_command, "season", false));
    assert_string_equal(params_word(&one_by_one.options, "find_season"), "off");
    assert_true(turn(&score_command, "freeze", true));
    assert_string_equal(params_word(&one_by_one.options, "learn"), "none");
    assert_true(turn(&score_command, "freeze", false));
    assert_string_equal(params_word(&one_by_one.options, "learn"), "decay");
    assert_true(turn(&score_command, "evicted", false)); /* as if it were not given */
    assert_false(settings_give_option(&one_by_one, "evicted"));
    assert_false(turn(&score_command, "evicted", true));
    assert_int_equal(refusal.fault, OPTION_NEEDS_VALUE);
    for (int is_on = 0; is_on < 2; is_on++) {
        assert_false(turn(&score_command, "freze", is_on));
        assert_int_equal(refusal.fault, OPTION_UNKNOWN);
        assert_string_equal(refusal.other, "freeze");
    }
}

/* ---- Files ---- */

static void a_dash_is_a_file_and_two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-"), EXIT_OK);
    assert_string_equal(first_file, "-");
    assert_int_equal(PARSE("--", "--json"), EXIT_OK);
    assert_string_equal(first_file, "--json");
    assert_false(parsed.json);
}

static void only_a_command_that_reads_rows_takes_several_files(void **state)
{
    (void)state;
    ASSERT_REFUSED("unexpected argument 'b.csv' (usage: oif try [OPTIONS] [FILE])", "a.csv",
                   "b.csv");
    assert_int_equal(parse_as(&score_command, OPTIONS("a.csv", "b.csv")), EXIT_OK);
    assert_int_equal(file_count, 2);
    command_entry without = try_command;
    without.takes_file = false;
    assert_int_equal(parse_as(&without, OPTIONS("a.csv")), EXIT_USAGE);
}

/* ---- Unknown options ---- */

static void an_unknown_option_comes_with_the_closest(void **state)
{
    (void)state;
    ASSERT_REFUSED("unknown option '--lable'; did you mean --label? "
                   "('oif try --help-all' lists all)",
                   "--lable", "x");
    ASSERT_REFUSED("unknown option '--alert-rat=1'; did you mean --alert-rate? "
                   "('oif try --help-all' lists all)",
                   "--alert-rat=1");
    ASSERT_REFUSED("unknown option '--helpp'; did you mean --help? "
                   "('oif try --help-all' lists all)",
                   "--helpp");
    ASSERT_REFUSED("unknown option '--zzzzzzzz' ('oif try --help-all' lists all)", "--zzzzzzzz");
    assert_int_equal(PARSE("-json"), EXIT_USAGE);
    assert_has(said.text, "unknown option '-json'; did you mean --json?");
}

static void a_command_without_parameters_has_no_flags_for_them(void **state)
{
    (void)state;
    command_entry without = try_command;
    without.takes_params = without.takes_pipeline = false;
    assert_int_equal(parse_as(&without, OPTIONS("--alert-rate", "0.1")), EXIT_USAGE);
    assert_int_equal(parse_as(&without, OPTIONS("--seed", "1")), EXIT_USAGE);
}

/* A parameter that only other detectors have; NULL: there is none. */
static const oif_param *param_of_others(const oif_param_table *own, const char **owner)
{
    const oif_detector_info *info;
    for (size_t i = 0; (info = oif_detector_info_at(i)) != NULL; i++)
        for (size_t j = 0; j < info->table.param_count; j++) {
            bool is_own = false;
            for (size_t k = 0; k < own->param_count; k++)
                is_own |= strcmp(own->params[k].name, info->table.params[j].name) == 0;
            *owner = info->table.name;
            if (!is_own)
                return &info->table.params[j];
        }
    return NULL;
}

static void a_parameter_of_another_detector_names_that(void **state)
{
    (void)state;
    const char *owner;
    assert_int_equal(parse_as(&try_command, NO_OPTIONS), EXIT_OK);
    const oif_param *param = param_of_others(parsed.params.table, &owner);
    char name[FLAG_NAME_BYTES], flag[FLAG_NAME_BYTES + 2], expected[COMPLAINT_BYTES];
    assert_non_null(param);
    snprintf(flag, sizeof flag, "--%s", param_flag_name(param, name));
    snprintf(expected, sizeof expected,
             "%s is not an option of the detector %s; leave it out, or use --detector %s", flag,
             OIF_DEFAULT_DETECTOR, owner);
    ASSERT_REFUSED(expected, flag, "1");
}

/* ---- Detectors ---- */

static void the_detector_is_chosen_before_its_flags_are_read(void **state)
{
    (void)state;
    const char *owner;
    char name[FLAG_NAME_BYTES], flag[2 * FLAG_NAME_BYTES], value[PARAM_TEXT_BYTES];
    assert_int_equal(parse_as(&try_command, NO_OPTIONS), EXIT_OK);
    const oif_param *param = param_of_others(parsed.params.table, &owner);
    snprintf(flag, sizeof flag, "--%s=%s", param_flag_name(param, name),
             param_text(param, param->initial, value));
    assert_int_equal(PARSE(flag, "--detector", owner), EXIT_OK);
    assert_true(parsed.is_detector_given);
    assert_string_equal(parsed.params.table->name, owner);
}

static void an_unknown_detector_comes_with_the_closest(void **state)
{
    (void)state;
    char wrong[FLAG_NAME_BYTES], expected[COMPLAINT_BYTES];
    snprintf(wrong, sizeof wrong, "%sx", OIF_DEFAULT_DETECTOR);
    snprintf(expected, sizeof expected, "--detector: there is no detector '%s'; did you mean %s?",
             wrong, OIF_DEFAULT_DETECTOR);
    ASSERT_REFUSED(expected, "--detector", wrong);
    ASSERT_REFUSED(
        "--detector: there is no detector 'zzzzzzzzzzzz'; choose one of: rolling-iforest, "
        "online-iforest, iforest-asd, hst, rrcf, loda, sdo",
        "--detector=zzzzzzzzzzzz");
    assert_int_not_equal(said.cause, OIF_CAUSE_NONE);
}

/* ---- Options of the pipeline ---- */

static void every_option_of_the_pipeline_is_in_a_group_of_help(void **state)
{
    (void)state;
    oif_params options;
    oif_pipeline_options_init(&options);
    for (size_t i = 0; i < options.table->param_count; i++) {
        const pipeline_flag *flag = pipeline_flag_find(options.table->params[i].name);
        if (flag && flag->group == GROUP_NONE)
            fail_msg("%s", options.table->params[i].name);
        assert_true(!flag || (flag->parse == NULL) == (flag->expected == NULL));
    }
    assert_null(pipeline_flag_find("alert-rate"));
}

static void times_and_sizes_are_written_as_people_do(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--alerts", "7/week", "--silence", "1h", "--memory-limit", "2G",
                           "--alert-rate", "0.01"),
                     EXIT_OK);
    assert_true(pipeline_option("alerts") == 1);
    assert_true(pipeline_option("silence") == 3600);
    assert_true(pipeline_option("memory_limit") == 2147483648.);
    assert_true(pipeline_option("alert_rate") == 0.01);
    assert_true(settings_give_option(&parsed, "silence"));
    assert_false(settings_give_option(&parsed, "max_keys"));
}

static void a_wrong_time_or_size_says_how_it_is_written(void **state)
{
    (void)state;
    ASSERT_REFUSED(
        "--silence: expected a time such as 30s, 10m, 2h or 1d, 0 or -1, not '10 minutes'",
        "--silence", "10 minutes");
    ASSERT_REFUSED("--alerts: expected a number per day, hour or week, such as 5/day, not 'few'",
                   "--alerts", "few");
    ASSERT_REFUSED("--memory-limit: expected a number of bytes such as 500M or 2G, not '2X'",
                   "--memory-limit=2X");
    ASSERT_REFUSED("--silence needs a value ('oif try --help-all' says which)", "--silence");
}

static void a_value_out_of_range_has_the_cause_of_the_library(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--alert-rate", "2"}, {"--silence", "-5s"}, {"--silence", "nan"}, {"--silence", "inf"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char start[64];
        snprintf(start, sizeof start, "%s %s: ", wrong[i][0], wrong[i][1]);
        assert_int_equal(PARSE(wrong[i][0], wrong[i][1]), EXIT_USAGE);
        assert_memory_equal(said.text, start, strlen(start));
        assert_int_not_equal(said.cause, OIF_CAUSE_NONE);
    }
}

static void an_option_that_is_set_later_counts_as_given(void **state)
{
    (void)state;
    assert_int_equal(parse_as(&try_command, NO_OPTIONS), EXIT_OK);
    assert_false(settings_set_option(&parsed, "silence", -2));
    assert_false(settings_give_option(&parsed, "silence"));
    assert_true(settings_set_option(&parsed, "silence", 60));
    assert_true(settings_give_option(&parsed, "silence"));
    assert_true(pipeline_option("silence") == 60);
}

static void choices_are_words(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--evicted", "keep"), EXIT_OK);
    assert_true(params_keep_evicted(&parsed.options));
    assert_int_equal(PARSE("--evicted", "forget"), EXIT_OK);
    assert_false(params_keep_evicted(&parsed.options));
    assert_int_equal(PARSE("--evicted", "some"), EXIT_USAGE);
}

static void a_csv_option_is_a_list_of_words(void **state)
{
    (void)state;
    assert_int_equal(parse_as(&score_command, OPTIONS("--csv", "sep=; skip=3 decimal=,", "--csv",
                                                      "comment=// header=no")),
                     EXIT_OK);
    assert_true(parsed.delimiter == ';' && parsed.skip_lines == 3);
    assert_true(parsed.decimal == OIF_DECIMAL_COMMA && parsed.header == OIF_HEADER_NO);
    assert_int_equal(parse_as(&score_command, OPTIONS("--csv", "sep=space header=yes")), EXIT_OK);
    assert_true(parsed.delimiter == ' ' && parsed.header == OIF_HEADER_YES);
    assert_int_equal(parse_as(&score_command, OPTIONS("--csv", "sep=tab decimal=.")), EXIT_OK);
    assert_true(parsed.delimiter == '\t' && parsed.decimal == OIF_DECIMAL_POINT);
    static const char *const wrong[] = {
        "",       ";",        "sep=",   "sep=ab",   "skip=-1",    "header=2",
        "quote=", "decimal=", "skip=x", "comment=", "decimal=;;", "skip=1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse_as(&score_command, OPTIONS("--csv", wrong[i])), EXIT_USAGE);
        assert_has(said.text, "--csv: expected words such as 'sep=; skip=3");
    }
}

/* ---- Options beside others ---- */

static exit_code parse_score(const char *const arguments[])
{
    return parse_as(&score_command, arguments);
}

static void a_season_is_rows_times_auto_or_off(void **state)
{
    (void)state;
    assert_int_equal(parse_score(OPTIONS("--season", "96")), EXIT_OK);
    assert_true(pipeline_option("season_rows") == 96);
    assert_int_equal(parse_score(OPTIONS("--season", "1d", "--season", "1w")), EXIT_OK);
    assert_true(pipeline_option("season_seconds") == 86400);
    assert_true(pipeline_option("other_season_seconds") == 604800);
    assert_int_equal(parse_score(OPTIONS("--season", "off")), EXIT_OK);
    assert_true(pipeline_option("find_season") == 0);
}

static void a_wrong_season_says_what_it_may_be(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *expected;
    } wrong[] = {{"96", "97", "one number of rows"},
                 {"96", "off", "auto or off alone"},
                 {"off", "96", "auto or off alone"},
                 {"96", "1.5", "2 rows or more"},
                 {"96", "1s", "a time from 2s to 10000000000s"},
                 {"96", "daily", "rows such as 96, a time such as 24h, 1d or 1w, auto or off"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char expected[COMPLAINT_BYTES];
        snprintf(expected, sizeof expected, "--season: expected %s, not '%s'", wrong[i].expected,
                 wrong[i].second);
        assert_int_equal(
            parse_score(OPTIONS("--season", wrong[i].first, "--season", wrong[i].second)),
            EXIT_USAGE);
        assert_string_equal(said.text, expected);
    }
    assert_int_equal(parse_score(OPTIONS("--season=1h", "--season=1d", "--season=1w")), EXIT_USAGE);
    assert_has(said.text, "at most two times");
}

static void a_season_in_seconds_needs_times(void **state)
{
    (void)state;
    assert_int_equal(parse_score(OPTIONS("--season", "1d", "--time", "at")), EXIT_OK);
    assert_int_equal(season_check(&parsed), EXIT_OK);
    assert_int_equal(parse_score(OPTIONS("--season", "1d")), EXIT_OK);
    messages_capture();
    assert_int_equal(season_check(&parsed), EXIT_USAGE);
    take_messages();
    assert_has(said.text, "--time COL");
}

static void a_rate_and_a_number_of_alerts_contradict_each_other(void **state)
{
    (void)state;
    assert_int_equal(parse_score(OPTIONS("--alerts=5/day")), EXIT_OK);
    assert_int_equal(alert_options_check(&parsed), EXIT_OK);
    assert_int_equal(parse_score(OPTIONS("--alerts=5/day", "--alert-rate=0.1")), EXIT_OK);
    messages_capture();
    assert_int_equal(alert_options_check(&parsed), EXIT_USAGE);
    take_messages();
}

/* The notes are in `noted`. */
static void note_useless(const oif_pipeline *held)
{
    messages_capture();
    alert_options_note_useless(&parsed, held);
    take_messages();
}

static void options_of_keys_have_no_effect_without_a_key(void **state)
{
    (void)state;
    assert_int_equal(parse_score(OPTIONS("--max-keys", "9", "--memory-limit", "1G")), EXIT_OK);
    note_useless(NULL);
    assert_string_equal(noted, "--max-keys has no effect without --key COL\n"
                               "--memory-limit has no effect without --key COL\n");
    assert_int_equal(
        parse_score(OPTIONS("--max-keys", "9", "--memory-limit", "1G", "--key", "host")), EXIT_OK);
    note_useless(NULL);
    assert_string_equal(noted, "");
}

static void options_of_keys_have_an_effect_on_a_state_with_a_key(void **state)
{
    (void)state;
    oif_pipeline *held;
    assert_int_equal(parse_score(OPTIONS("--max-keys", "9", "--memory-limit", "1G")), EXIT_OK);
    assert_int_equal(settings_make_pipeline(&parsed, 1, &held), EXIT_OK);
    assert_int_equal(oif_pipeline_name_roles(held, "host", NULL, NULL), OIF_OK);
    note_useless(held);
    assert_string_equal(noted, "");
    oif_pipeline_free(held);
}

static void a_clock_gets_what_options_make_from_times(void **state)
{
    (void)state;
    stream_clock clock = {.column = "at"};
    assert_int_equal(parse_score(OPTIONS("--season=1w", "--season=1d", "--key=host", "--rate=rx")),
                     EXIT_OK);
    alert_options_set_clock(&parsed, &clock);
    assert_true(clock.has_keys && clock.has_rates);
    assert_true(clock.season_seconds == 86400);
    assert_int_equal(parse_score(NO_OPTIONS), EXIT_OK);
    alert_options_set_clock(&parsed, &clock);
    assert_false(clock.has_keys || clock.has_rates);
    assert_true(clock.season_seconds == 0);
}

/* ---- States ---- */

static exit_code apply(oif_pipeline *held)
{
    messages_capture();
    exit_code code = settings_apply(&parsed, held, "s.oif");
    take_messages();
    return code;
}

static void a_state_refuses_what_contradicts_it_and_takes_alerts(void **state)
{
    (void)state;
    oif_pipeline *held;
    double silence = 0;
    assert_int_equal(PARSE("--evicted", "keep"), EXIT_OK);
    assert_int_equal(settings_make_pipeline(&parsed, 2, &held), EXIT_OK);
    assert_int_equal(apply(held), EXIT_OK);
    assert_int_equal(PARSE("--evicted", "forget"), EXIT_OK);
    assert_int_equal(apply(held), EXIT_USAGE);
    assert_string_equal(said.text, "s.oif: the state was learned with --evicted keep, not "
                                   "forget; leave it out or name another file");
    assert_int_equal(PARSE("--silence", "60"), EXIT_OK);
    assert_int_equal(apply(held), EXIT_OK);
    assert_int_equal(oif_params_get(oif_pipeline_options(held), "silence", &silence, NULL), OIF_OK);
    assert_true(silence == 60);
    oif_pipeline_free(held);
}

/* ---- Help ---- */

static void help_ends_the_reading_of_arguments(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--json", "--help", "--unknown"), EXIT_OK);
    assert_int_equal(asked_help, HELP_SHORT);
    assert_true(parsed.json);
    assert_int_equal(PARSE("-h"), EXIT_OK);
    assert_int_equal(asked_help, HELP_SHORT);
    assert_int_equal(PARSE("--help-all"), EXIT_OK);
    assert_int_equal(asked_help, HELP_ALL);
    assert_int_equal(PARSE("--unknown", "--help"), EXIT_USAGE);
    assert_int_equal(PARSE("--", "--help"), EXIT_OK);
    assert_int_equal(asked_help, HELP_NOT_ASKED);
}

static size_t runs;

static exit_code count_run(const run_settings *settings)
{
    runs++;
    return settings->json ? EXIT_ALERT : EXIT_OK;
}

static const char *run_try(const char *argument, exit_code code)
{
    char *arguments[] = {(char *)(uintptr_t)argument, NULL};
    output_divert();
    messages_capture();
    exit_code ended = command_run(&try_command, count_run, arguments);
    take_messages();
    const char *text = take_written();
    assert_int_equal(ended, code);
    return text;
}

static void a_command_runs_or_prints_its_help(void **state)
{
    (void)state;
    runs = 0;
    assert_string_equal(run_try("--json", EXIT_ALERT), "");
    assert_int_equal(runs, 1);
    run_try("--unknown", EXIT_USAGE);
    assert_has(run_try("--help", EXIT_OK), "Usage: oif try [OPTIONS] [FILE]\n");
    assert_int_equal(runs, 1);
}

static void short_help_has_only_options_with_a_brief_text(void **state)
{
    (void)state;
    const char *text = run_try("--help", EXIT_OK);
    assert_has(text, "oif try: has every kind of option\n\nExamples:\n  oif try rows.csv\n");
    assert_has(text, "  --json                 print JSON\n");
    assert_has(text, "  --size SIZE            how large\n");
    assert_has(text, "  --alerts N/day         episodes per day");
    assert_null(strstr(text, "--no-header"));
    assert_null(strstr(text, "oif try --json rows.csv"));
}

static void full_help_has_every_flag_and_fits_80_columns(void **state)
{
    (void)state;
    static flag_list list;
    const char *text = run_try("--help-all", EXIT_OK);
    assert_has(text, "  oif try --json rows.csv\n");
    assert_has(text, "  --size small|large|huge\n");
    flag_list_make(&try_command, parsed.params.table, &list);
    assert_in_range(list.count, 8 + 3 + 2, FLAGS_MAX - 1);
    for (size_t i = 0; i < list.count; i++) {
        char flag[FLAG_NAME_BYTES + 4];
        snprintf(flag, sizeof flag, "  --%s", list.flags[i].name);
        assert_has(text, flag);
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 80);
}

static void names_of_parameters_become_flags_in_help(void **state)
{
    (void)state;
    char text[PARAM_HELP_BYTES];
    const oif_param param = {.name = "x", .help = "with learn=decay, see alert_rate (a rate)"};
    assert_string_equal(param_help(&param, text), "with --learn decay, see --alert-rate (a rate)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_arguments_nothing_is_given),
        cmocka_unit_test(a_switch_takes_no_value),
        cmocka_unit_test(a_constant_sets_its_word),
        cmocka_unit_test(a_text_is_in_the_same_argument_or_the_next),
        cmocka_unit_test(a_count_is_a_whole_number_in_its_range),
        cmocka_unit_test(a_word_is_one_of_the_listed),
        cmocka_unit_test(an_optional_value_is_taken_only_if_it_is_a_number),
        cmocka_unit_test(an_option_is_set_by_its_name),
        cmocka_unit_test(what_is_wrong_with_an_option_is_data),
        cmocka_unit_test(true_and_false_are_the_words_of_an_option),
        cmocka_unit_test(a_dash_is_a_file_and_two_dashes_end_the_options),
        cmocka_unit_test(only_a_command_that_reads_rows_takes_several_files),
        cmocka_unit_test(an_unknown_option_comes_with_the_closest),
        cmocka_unit_test(a_command_without_parameters_has_no_flags_for_them),
        cmocka_unit_test(a_parameter_of_another_detector_names_that),
        cmocka_unit_test(the_detector_is_chosen_before_its_flags_are_read),
        cmocka_unit_test(an_unknown_detector_comes_with_the_closest),
        cmocka_unit_test(every_option_of_the_pipeline_is_in_a_group_of_help),
        cmocka_unit_test(times_and_sizes_are_written_as_people_do),
        cmocka_unit_test(a_wrong_time_or_size_says_how_it_is_written),
        cmocka_unit_test(a_value_out_of_range_has_the_cause_of_the_library),
        cmocka_unit_test(an_option_that_is_set_later_counts_as_given),
        cmocka_unit_test(choices_are_words),
        cmocka_unit_test(a_csv_option_is_a_list_of_words),
        cmocka_unit_test(a_season_is_rows_times_auto_or_off),
        cmocka_unit_test(a_wrong_season_says_what_it_may_be),
        cmocka_unit_test(a_season_in_seconds_needs_times),
        cmocka_unit_test(a_rate_and_a_number_of_alerts_contradict_each_other),
        cmocka_unit_test(options_of_keys_have_no_effect_without_a_key),
        cmocka_unit_test(options_of_keys_have_an_effect_on_a_state_with_a_key),
        cmocka_unit_test(a_clock_gets_what_options_make_from_times),
        cmocka_unit_test(a_state_refuses_what_contradicts_it_and_takes_alerts),
        cmocka_unit_test(help_ends_the_reading_of_arguments),
        cmocka_unit_test(a_command_runs_or_prints_its_help),
        cmocka_unit_test(short_help_has_only_options_with_a_brief_text),
        cmocka_unit_test(full_help_has_every_flag_and_fits_80_columns),
        cmocka_unit_test(names_of_parameters_become_flags_in_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
