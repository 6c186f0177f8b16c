/* Feedback: a rule that is proposed from a past episode. Rules are the setting "mute". */
#include "stream_parts.h"

#include "front/text/quoting.h"

#include <string.h>

/* Call it under the lock. Reading works for a broken stream, too. */
static bool write_proposal(const stream *one, const episode_name *name, problem *why)
{
    char rule[OIF_RULE_BYTES];
    oif_error error;
    if (!one->pipeline)
        return problem_set(why, 404, NULL, "the stream has no rows yet, and so no episodes");
    if (oif_pipeline_propose(one->pipeline, name->key, name->key_bytes, name->number, rule,
                             &error) != OIF_OK)
        return problem_set_error(why, 404, "GET .../episodes lists the latest, with their keys.",
                                 &error);
    output_print("{\"rule\":");
    if (*rule)
        quoting_write_json(rule, strlen(rule));
    else
        output_print("null");
    output_print("}\n");
    return true;
}

bool stream_write_proposal(stream *one, const episode_name *name, problem *why)
{
    stream_read_lock(one);
    bool is_good = write_proposal(one, name, why);
    stream_read_unlock(one);
    return is_good;
}
