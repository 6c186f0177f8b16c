/* oif state feedback: the past episodes of a state, and the rules that mute others like them. */
#include "front/columns/derive.h"
#include "front/input/input_file.h"
#include "front/options/rule_options.h"
#include "front/results/result_fields.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "state_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Past episodes ---- */

/* "latency", "rate(rx_bytes)": the name of a learned column, to be freed; NULL: unknown. */
static char *column_name(const oif_pipeline *pipeline, uint32_t learned)
{
    oif_derive kind;
    char number[32];
    if (learned == OIF_UNKNOWN_COLUMN)
        return NULL;
    const size_t column = oif_pipeline_learned_from(pipeline, learned, &kind);
    const char *name = oif_pipeline_column_name(pipeline, column);
    snprintf(number, sizeof number, "column %zu", column + 1);
    return derive_text(kind, name ? name : number);
}

/* Without control characters, which a terminal would obey. */
static void print_plain(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        output_write((unsigned char)text[i] < ' ' || text[i] == 0x7f ? "?" : &text[i], 1);
}

static bool has_keys(const oif_pipeline *pipeline)
{
    const char *key, *time;
    oif_pipeline_roles(pipeline, &key, &time);
    return key || oif_pipeline_keys(pipeline) > 1;
}

/* "web-1#3", the key in the quotes of the shell if it needs them; "#3" for rows without a key, and
 * "3" if there are no keys at all. */
static void print_episode_name(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    const size_t width = 12;
    char text[1024], number[32];
    size_t bytes = 0;
    for (; bytes < episode->key_bytes; bytes++)
        text[bytes] = episode->key[bytes] == '\0' ? '?' : episode->key[bytes];
    strcpy(text + bytes, episode->is_key_cut ? "..." : "");
    if (bytes > 0)
        quoting_for_shell(text, sizeof text);
    snprintf(number, sizeof number, "%s%" PRIu64, has_keys(pipeline) ? "#" : "", episode->number);
    print_plain(text, strlen(text));
    output_print("%s", number);
    for (bytes = strlen(text) + strlen(number); bytes < width; bytes++)
        output_print(" ");
}

/* "latency high by 12 (30%)" */
static void print_why(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    char unusual[128];
    char *name = column_name(pipeline, episode->column);
    if (!name)
        return;
    const oif_attribution why = {
        .direction = episode->direction, .reason = episode->reason, .size = NAN, .usual = NAN};
    result_fields_unusual_text(&why, episode->direction == 0 ? NAN : 0, "another column", unusual,
                               sizeof unusual);
    print_plain(name, strlen(name));
    output_print(" %s", unusual);
    if (episode->change > 0)
        output_print(episode->change >= 1e3 && episode->change < 1e9 ? " by %.0f" : " by %.3g",
                     episode->change);
    if (episode->change > 0 && isfinite(episode->change_share))
        output_print(" (%.0f%%)", episode->change_share * 100);
    free(name);
}

static void print_episode(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    char text[MOMENT_TEXT_BYTES] = "";
    if (!isnan(episode->first_seconds))
        moment_text(episode->first_seconds, text);
    output_print("%8" PRIu64 "  %-24s  %8.2f  ", episode->first_row, text, episode->severity);
    print_episode_name(pipeline, episode);
    output_print("  ");
    print_why(pipeline, episode);
    output_print("\n");
}

static void print_json_episode(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    static const char *const directions[] = {"low", NULL, "high"};
    char *name = column_name(pipeline, episode->column);
    output_print("{\"key\":");
    write_json_key(episode->key != NULL, episode->key, episode->key_bytes);
    output_print(",\"is_key_cut\":%s,\"number\":%" PRIu64 ",\"first_row\":%" PRIu64,
                 episode->is_key_cut ? "true" : "false", episode->number, episode->first_row);
    write_json_member("first_seconds", episode->first_seconds);
    write_json_member("severity", episode->severity);
    write_json_text("column", name);
    write_json_text("direction", directions[episode->direction + 1]);
    write_json_text("reason", result_fields_reason_word(episode->reason));
    write_json_member("change", episode->change);
    write_json_member("change_share", episode->change_share);
    output_print("}\n");
    free(name);
}

static void print_rules(const oif_pipeline *pipeline)
{
    oif_rule_info rule;
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++) {
        output_print("rule %zu  ", i + 1);
        print_plain(rule.text, strlen(rule.text));
        output_print("\n");
    }
}

static exit_code list(const run_settings *settings, oif_pipeline *pipeline)
{
    oif_past_episode episode;
    if (!settings->json)
        output_print("%8s  %-24s  %8s  %s\n", "row", "time", "severity", "episode       why");
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++)
        (settings->json ? print_json_episode : print_episode)(pipeline, &episode);
    if (!settings->json)
        print_rules(pipeline);
    return EXIT_OK;
}

/* ---- A proposal ---- */

/* The part of "web-1#3" after the last #; the key is before it. NULL: it is not a number. */
static const char *parse_number(const char *text, uint64_t *number)
{
    const char *hash = strrchr(text, '#'), *digits = hash ? hash + 1 : text;
    char *end;
    if (*digits < '0' || *digits > '9')
        return NULL;
    *number = strtoull(digits, &end, 10);
    return *end == '\0' ? digits : NULL;
}

static exit_code propose(const run_settings *settings, oif_pipeline *pipeline)
{
    const char *text = settings->feedback.propose;
    uint64_t number = 0;
    oif_error error;
    char pasted[PASTED_PATH_BYTES], rule[OIF_RULE_BYTES];
    const char *digits = parse_number(text, &number);
    if (!digits)
        return complain(EXIT_USAGE, "'%s' is not an episode: write its number, or KEY#NUMBER",
                        text);
    const size_t key_bytes = digits > text ? (size_t)(digits - text) - 1 : 0;
    if (oif_pipeline_propose(pipeline, text, key_bytes, number, rule, &error) != OIF_OK)
        return complain(EXIT_FAILED,
                        "%s: there is no past episode '%s'; list all with: oif state feedback %s",
                        settings->file, text, path_to_paste(settings->file, pasted));
    if (!*rule)
        return complain(EXIT_FAILED, "%s: no rule describes episode %s", settings->file, text);
    print_plain(rule, strlen(rule));
    output_print("\n");
    return EXIT_OK;
}

/* ---- Rules ---- */

/* The comment says that it stays when `oif score` gives other rules. */
static exit_code add(const run_settings *settings, oif_pipeline *pipeline)
{
    const char *rule = settings->feedback.add;
    oif_error error;
    char *line = malloc(strlen(rule) + sizeof RULE_FEEDBACK_MARK);
    if (!line)
        return complain(EXIT_FAILED, "out of memory");
    sprintf(line, "%s" RULE_FEEDBACK_MARK, rule);
    exit_code code = EXIT_OK;
    if (oif_pipeline_add_rules(pipeline, line, strlen(line), &error) != OIF_OK)
        code = complain(error.status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED,
                        "--add: character %" PRIu64 ": %s", error.column, error.message);
    else
        note("%s: added: %s", settings->file, line);
    free(line);
    return code;
}

/* The others keep their counts. */
static exit_code remove_rule(const run_settings *settings, oif_pipeline *pipeline)
{
    const uint64_t number = settings->feedback.remove;
    oif_rule_info rule;
    oif_error error;
    size_t bytes = 0;
    if (number > SIZE_MAX || !oif_pipeline_rule(pipeline, (size_t)number - 1, &rule))
        return complain(EXIT_FAILED, "%s: there is no rule %" PRIu64, settings->file, number);
    note("%s: removed: %s", settings->file, rule.text);
    output_divert();
    size_t count = 0;
    for (; oif_pipeline_rule(pipeline, count, &rule); count++)
        if (count != number - 1)
            output_print("%s\n", rule.text);
    char *others = output_diverted(&bytes);
    if (count > 1 && !others)
        return complain(EXIT_FAILED, "out of memory");
    const oif_status status = oif_pipeline_set_rules(pipeline, others ? others : "", bytes, &error);
    free(others);
    return status == OIF_OK ? EXIT_OK
                            : complain(EXIT_FAILED, "%s: %s", settings->file, error.message);
}

/* ---- The command ---- */

static exit_code answer(const run_settings *settings, oif_pipeline *pipeline)
{
    const feedback_settings *given = &settings->feedback;
    char pasted[PASTED_PATH_BYTES];
    if (!oif_pipeline_keeps_episodes(pipeline))
        return complain(EXIT_FAILED,
                        "%s: has no past episodes: the program that wrote it kept none; 'oif score "
                        "--state %s' keeps them from now on",
                        settings->file, path_to_paste(settings->file, pasted));
    return given->propose      ? propose(settings, pipeline)
           : given->add        ? add(settings, pipeline)
           : given->remove > 0 ? remove_rule(settings, pipeline)
                               : list(settings, pipeline);
}

exit_code feedback_run(const run_settings *settings)
{
    const feedback_settings *given = &settings->feedback;
    const bool changes = given->add || given->remove > 0;
    if (!settings->file)
        return complain(EXIT_USAGE, "feedback needs a FILE, as 'oif score --state FILE' writes it");
    if ((given->propose != NULL) + (given->add != NULL) + (given->remove > 0) > 1)
        return complain(EXIT_USAGE, "give only one of --propose, --add, --remove");
    return changes ? state_change(settings, answer) : state_read(settings, answer);
}

static const option_entry options[] = {
    {"propose", OPTION_TEXT, SETTING(feedback.propose), GROUP_ALERTS,
     .brief = "print a rule that mutes its kind: N, or KEY#N",
     .help = "print a rule that mutes alerts like this episode and nothing wider: its number, or "
             "KEY#N if there are keys",
     .argument = "EPISODE"},
    {"add", OPTION_TEXT, SETTING(feedback.add), GROUP_ALERTS,
     .brief = "add a rule to those of the state",
     .help = "add a rule, such as 'mute column=latency change<20%', to those of the state; 'oif "
             "score' mutes by it from the next run on",
     .argument = "RULE"},
    {"remove", OPTION_COUNT, SETTING(feedback.remove), GROUP_ALERTS,
     .brief = "remove the rule with this number", .argument = "N", .from = 1, .to = 1e9,
     .range = "1 or more"},
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT,
     .brief = "print NDJSON: an object per line"},
};

const command_entry feedback_command = {
    .name = "state feedback",
    .summary = "list the alerts of a state; mute others like one by a rule",
    .usage = "state feedback [OPTION...] FILE",
    .examples = "  oif state feedback hosts.oif                   the last episodes, the rules\n"
                "  oif state feedback --propose web-1#3 hosts.oif a rule that mutes its kind\n"
                "  oif state feedback --add 'mute column=latency change<20%' hosts.oif\n"
                "  oif state feedback --remove 1 hosts.oif        use the first rule no longer\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
};
