/* oif state feedback: which alerts were useless, and rules that mute others of their kind. */
#include "front/input/input_file.h"
#include "front/options/rule_options.h"
#include "front/results/feedback_json.h"
#include "front/results/result_fields.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"
#include "state_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Past episodes ---- */

/* An episode without a mark has an empty field. */
static const char *mark_word(oif_mark mark)
{
    return mark == OIF_MARK_NONE ? "" : feedback_mark_word(mark);
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
    if (episode->column == OIF_UNKNOWN_COLUMN)
        return;
    char *name = feedback_column_name(pipeline, episode->column);
    result_fields_unusual_text(episode->reason, episode->direction,
                               episode->direction == 0 ? NAN : 0, "another column", unusual,
                               sizeof unusual);
    print_plain(name ? name : "", name ? strlen(name) : 0);
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
    output_print("%-7s  %8" PRIu64 "  %-24s  %8.2f  ", mark_word(episode->mark), episode->first_row,
                 text, episode->severity);
    print_episode_name(pipeline, episode);
    output_print("  ");
    print_why(pipeline, episode);
    output_print("\n");
}

static void print_json_episode(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    feedback_write_episode(pipeline, episode);
    output_print("\n");
}

static void print_heading(void)
{
    output_print("%-7s  %8s  %-24s  %8s  %s\n", "mark", "row", "time", "severity",
                 "episode       why");
}

static exit_code list(const cli_settings *settings, oif_pipeline *pipeline)
{
    oif_past_episode episode;
    if (!settings->json)
        print_heading();
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++)
        (settings->json ? print_json_episode : print_episode)(pipeline, &episode);
    return EXIT_OK;
}

/* ---- Marks ---- */

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

/* The key of the only past episode with this number. */
static exit_code find_key(const cli_settings *settings, const oif_pipeline *pipeline,
                          uint64_t number, oif_past_episode *found)
{
    size_t keys = 0;
    oif_past_episode episode;
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++) {
        if (episode.number != number)
            continue;
        keys += keys == 0 || episode.key_bytes != found->key_bytes ||
                (episode.key && memcmp(episode.key, found->key, episode.key_bytes) != 0);
        *found = episode;
    }
    if (keys > 1)
        return complain(EXIT_USAGE,
                        "%s: several keys have an episode %" PRIu64 "; say which: KEY#%" PRIu64,
                        settings->file, number, number);
    if (keys == 1 && found->is_key_cut)
        return complain(EXIT_USAGE,
                        "%s: the key of this episode is long; write all of it: KEY#%" PRIu64,
                        settings->file, number);
    return EXIT_OK;
}

static exit_code mark(const cli_settings *settings, oif_pipeline *pipeline, const char *text,
                      oif_mark as)
{
    uint64_t number = 0;
    oif_past_episode found = {.key = NULL};
    oif_error error;
    char pasted[PASTED_PATH_BYTES];
    const char *digits = parse_number(text, &number);
    if (!digits)
        return complain(EXIT_USAGE, "'%s' is not an episode: write its number, or KEY#NUMBER",
                        text);
    const bool has_key = digits > text;
    if (!has_key && find_key(settings, pipeline, number, &found) != EXIT_OK)
        return EXIT_USAGE;
    const char *key = has_key ? text : found.key;
    const size_t key_bytes = has_key ? (size_t)(digits - text) - 1 : found.key_bytes;
    if (oif_pipeline_mark_episode(pipeline, key, key_bytes, number, as, &error) != OIF_OK)
        return complain(EXIT_FAILED,
                        "%s: there is no past episode '%s'; list all with: oif state feedback %s",
                        settings->file, text, path_to_paste(settings->file, pasted));
    note("%s: episode %s is marked %s", settings->file, text,
         as == OIF_MARK_NONE ? "no longer" : mark_word(as));
    return EXIT_OK;
}

static exit_code mark_one(const cli_settings *settings, oif_pipeline *pipeline)
{
    const feedback_settings *given = &settings->feedback;
    if (given->useless)
        return mark(settings, pipeline, given->useless, OIF_MARK_USELESS);
    return given->real ? mark(settings, pipeline, given->real, OIF_MARK_REAL)
                       : mark(settings, pipeline, given->unmark, OIF_MARK_NONE);
}

/* ---- Rules ---- */

static void print_proposal(const oif_proposal *proposal, size_t number)
{
    output_print("%zu  ", number);
    print_plain(proposal->rule, strlen(proposal->rule));
    output_print("\n   would have muted %zu of %zu past episodes of this kind; %zu marked real\n",
                 proposal->kind_held, proposal->kind_episodes, proposal->trial.real_held);
}

static void print_json_proposal(const oif_proposal *proposal, size_t number)
{
    feedback_write_proposal(proposal, number);
    output_print("\n");
}

/* All proposals, to be freed; NULL: no memory. */
static oif_proposal *find_proposals(const oif_pipeline *pipeline, size_t *count)
{
    oif_proposal *made = feedback_proposals(pipeline, count);
    if (!made)
        complain(EXIT_FAILED, "no memory for proposals");
    return made;
}

static exit_code propose(const cli_settings *settings, oif_pipeline *pipeline)
{
    size_t count = 0;
    oif_proposal *proposals = find_proposals(pipeline, &count);
    if (!proposals)
        return EXIT_FAILED;
    for (size_t i = 0; i < count; i++)
        (settings->json ? print_json_proposal : print_proposal)(&proposals[i], i + 1);
    if (count == 0)
        note("%s: nothing to propose: no episode is marked useless that the rules let through",
             settings->file);
    free(proposals);
    return EXIT_OK;
}

static exit_code accept(const cli_settings *settings, oif_pipeline *pipeline)
{
    const uint64_t number = settings->feedback.accept;
    size_t count = 0;
    oif_error error;
    oif_proposal *proposals = find_proposals(pipeline, &count);
    exit_code code = EXIT_OK;
    if (!proposals)
        return EXIT_FAILED;
    char rule[sizeof proposals->rule + sizeof RULE_FEEDBACK_MARK] = "";
    if (number <= count)
        snprintf(rule, sizeof rule, "%s" RULE_FEEDBACK_MARK, proposals[number - 1].rule);
    if (number > count)
        code = complain(EXIT_FAILED, "%s: there is no proposal %" PRIu64 "; --propose lists %zu",
                        settings->file, number, count);
    else if (oif_pipeline_add_rules(pipeline, rule, strlen(rule), &error) != OIF_OK)
        code = complain(EXIT_FAILED, "%s: %s", settings->file, error.message);
    else
        note("%s: added: %s", settings->file, rule);
    free(proposals);
    return code;
}

static void print_trial(const oif_pipeline *pipeline, const oif_rule_trial *trial,
                        const bool *is_held)
{
    oif_past_episode episode;
    output_print("would have muted %zu of %zu past episodes: %zu marked useless, %zu marked "
                 "real\n",
                 trial->held, trial->episodes, trial->useless_held, trial->real_held);
    if (trial->real_held > 0)
        print_heading();
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++)
        if (is_held[i] && episode.mark == OIF_MARK_REAL)
            print_episode(pipeline, &episode);
}

/* A summary, then what a rule would lose. */
static void print_json_trial(const oif_pipeline *pipeline, const oif_rule_trial *trial,
                             const bool *is_held)
{
    oif_past_episode episode;
    output_print("{");
    feedback_write_trial(trial);
    output_print("}\n");
    for (size_t i = 0; oif_pipeline_past_episode(pipeline, i, &episode); i++)
        if (is_held[i] && episode.mark == OIF_MARK_REAL)
            print_json_episode(pipeline, &episode);
}

static exit_code try_rule(const cli_settings *settings, oif_pipeline *pipeline)
{
    const char *rule = settings->feedback.try_rule;
    bool is_held[OIF_PAST_EPISODES_MAX];
    oif_rule_trial trial;
    oif_error error;
    oif_status status =
        oif_pipeline_try_rules(pipeline, rule, strlen(rule), &trial, is_held, &error);
    if (status != OIF_OK)
        return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED,
                        "--try: character %" PRIu64 ": %s", error.column, error.message);
    (settings->json ? print_json_trial : print_trial)(pipeline, &trial, is_held);
    return EXIT_OK;
}

/* ---- The command ---- */

static bool is_marking(const feedback_settings *given)
{
    return given->useless || given->real || given->unmark;
}

static exit_code answer(const cli_settings *settings, oif_pipeline *pipeline)
{
    const feedback_settings *given = &settings->feedback;
    char pasted[PASTED_PATH_BYTES];
    if (!oif_pipeline_keeps_episodes(pipeline))
        return complain(EXIT_FAILED,
                        "%s: has no past episodes: the program that wrote it kept none; 'oif score "
                        "--state %s' keeps them from now on",
                        settings->file, path_to_paste(settings->file, pasted));
    return is_marking(given)   ? mark_one(settings, pipeline)
           : given->accept > 0 ? accept(settings, pipeline)
           : given->propose    ? propose(settings, pipeline)
           : given->try_rule   ? try_rule(settings, pipeline)
                               : list(settings, pipeline);
}

exit_code feedback_run(const cli_settings *settings)
{
    const feedback_settings *given = &settings->feedback;
    const bool changes = is_marking(given) || given->accept > 0;
    if (!settings->file)
        return complain(EXIT_USAGE, "feedback needs a FILE, as 'oif score --state FILE' writes it");
    if ((given->useless != NULL) + (given->real != NULL) + (given->unmark != NULL) +
            given->propose + (given->accept > 0) + (given->try_rule != NULL) >
        1)
        return complain(EXIT_USAGE,
                        "give only one of --useless, --real, --unmark, --propose, --accept, --try");
    return changes ? state_change(settings, answer, true) : state_read(settings, answer);
}

static const cli_option options[] = {
    {"useless", OPTION_TEXT, SETTING(feedback.useless), GROUP_ALERTS,
     .brief = "mark an episode that was not needed: N, or KEY#N",
     .help = "mark an episode as one that was not needed: its number, or KEY#N if several keys "
             "have one of this number",
     .argument = "EPISODE"},
    {"real", OPTION_TEXT, SETTING(feedback.real), GROUP_ALERTS,
     .brief = "mark an episode that must not be muted",
     .help = "mark an episode as a real incident: no proposal would mute it",
     .argument = "EPISODE"},
    {"unmark", OPTION_TEXT, SETTING(feedback.unmark), GROUP_ALERTS,
     .brief = "remove the mark of an episode", .argument = "EPISODE"},
    {"propose", OPTION_SWITCH, SETTING(feedback.propose), GROUP_ALERTS,
     .brief = "propose rules that mute what was marked useless",
     .help = "propose rules, one for each kind of episode that was marked useless, with what they "
             "would have muted"},
    {"accept", OPTION_COUNT, SETTING(feedback.accept), GROUP_ALERTS,
     .brief = "add a proposal to the rules of the state",
     .help = "add the proposal with this number to the rules of the state; 'oif score' mutes by it "
             "from the next run on",
     .argument = "N", .from = 1, .to = OIF_PAST_EPISODES_MAX, .range = "1 to 256"},
    {"try", OPTION_TEXT, SETTING(feedback.try_rule), GROUP_ALERTS,
     .brief = "what a rule would have muted, and which real ones",
     .help = "try a rule, such as 'mute column=latency change<20%', on the past episodes: how many "
             "it would have muted, and which real ones; the state does not change",
     .argument = "RULE"},
    {"json", OPTION_SWITCH, SETTING(json), GROUP_OUTPUT,
     .brief = "print NDJSON: an object per line"},
};

const cli_command feedback_command = {
    .name = "state feedback",
    .summary = "mark useless alerts of a state; get rules that mute them",
    .usage = "state feedback [OPTION...] FILE",
    .examples = "  oif state feedback hosts.oif                     the last episodes and reasons\n"
                "  oif state feedback --useless web-1#3 hosts.oif   this alert was useless\n"
                "  oif state feedback --real db-2#1 hosts.oif       and this one was not\n"
                "  oif state feedback --propose hosts.oif           rules that mute them\n"
                "  oif state feedback --accept 1 hosts.oif          use the first one from now on\n"
                "  oif state feedback --try 'mute column=latency change<20%' hosts.oif\n"
                "                                                   what another rule does\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
};
