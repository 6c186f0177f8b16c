#include "rules_json.h"

#include "front/text/output.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"

#include <inttypes.h>
#include <string.h>

void rules_write_json(const oif_pipeline *pipeline)
{
    oif_rule_info rule;
    output_print("[");
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++) {
        output_print(i > 0 ? ",{\"rule\":" : "{\"rule\":");
        quoting_write_json(rule.text, strlen(rule.text));
        output_print(",\"held\":%" PRIu64, rule.held);
        write_json_member("first", rule.first_seconds);
        write_json_member("last", rule.last_seconds);
        output_print("}");
    }
    output_print("]");
}
