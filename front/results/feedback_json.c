#include "feedback_json.h"

#include "front/columns/derive.h"
#include "front/text/output.h"
#include "front/text/quoting.h"
#include "result_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *feedback_mark_word(oif_mark mark)
{
    static const char *const words[] = {"none", "useless", "real"};
    return words[mark];
}

char *feedback_column_name(const oif_pipeline *pipeline, uint32_t learned)
{
    oif_derive kind;
    char number[32];
    const size_t column = oif_pipeline_learned_from(pipeline, learned, &kind);
    const char *name = oif_pipeline_column_name(pipeline, column);
    snprintf(number, sizeof number, "column %zu", column + 1);
    return derive_text(kind, name ? name : number);
}

oif_proposal *feedback_proposals(const oif_pipeline *pipeline, size_t *count)
{
    oif_proposal *made = malloc(OIF_PAST_EPISODES_MAX * sizeof *made);
    *count = made ? oif_pipeline_propose(pipeline, made, OIF_PAST_EPISODES_MAX) : 0;
    return made;
}

void feedback_write_episode(const oif_pipeline *pipeline, const oif_past_episode *episode)
{
    static const char *const directions[] = {"\"low\"", "null", "\"high\""};
    char *name = episode->column == OIF_UNKNOWN_COLUMN
                     ? NULL
                     : feedback_column_name(pipeline, episode->column);
    output_print("{\"key\": ");
    if (episode->key)
        quoting_write_json(episode->key, episode->key_bytes);
    else
        output_print("null");
    output_print(", \"is_key_cut\": %s, \"number\": %" PRIu64 ", \"first_row\": %" PRIu64
                 ", \"first_seconds\": ",
                 episode->is_key_cut ? "true" : "false", episode->number, episode->first_row);
    output_json_number(episode->first_seconds);
    output_print(", \"severity\": ");
    output_json_number(episode->severity);
    output_print(", \"column\": ");
    if (name)
        quoting_write_json(name, strlen(name));
    else
        output_print("null");
    output_print(", \"direction\": %s, \"reason\": \"%s\", \"change\": ",
                 directions[episode->direction + 1], result_fields_reason_word(episode->reason));
    output_json_number(episode->change);
    output_print(", \"change_share\": ");
    output_json_number(episode->change_share);
    output_print(", \"mark\": \"%s\"}", feedback_mark_word(episode->mark));
    free(name);
}

void feedback_write_trial(const oif_rule_trial *trial)
{
    output_print("\"episodes\": %zu, \"held\": %zu, \"useless_held\": %zu, \"real_held\": %zu",
                 trial->episodes, trial->held, trial->useless_held, trial->real_held);
}

void feedback_write_proposal(const oif_proposal *proposal, size_t number)
{
    output_print("{\"number\": %zu, \"rule\": ", number);
    quoting_write_json(proposal->rule, strlen(proposal->rule));
    output_print(", \"kind_episodes\": %zu, \"kind_held\": %zu, \"kind_useless\": %zu, ",
                 proposal->kind_episodes, proposal->kind_held, proposal->kind_useless);
    feedback_write_trial(&proposal->trial);
    output_print("}");
}
