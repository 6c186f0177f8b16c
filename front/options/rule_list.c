#include "rule_list.h"

#include "rule_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rule_lines {
    char *text;
    size_t bytes;
    bool is_good;
} rule_lines;

static void add_line(rule_lines *lines, const char *line)
{
    const size_t bytes = strlen(line);
    char *larger = lines->is_good ? realloc(lines->text, lines->bytes + bytes + 1) : NULL;
    lines->is_good = larger != NULL;
    if (!larger)
        return;
    memcpy(larger + lines->bytes, line, bytes);
    larger[lines->bytes + bytes] = '\n';
    lines->text = larger;
    lines->bytes += bytes + 1;
}

bool rule_list_exchange(oif_pipeline *pipeline, size_t without, const char *more, oif_error *error)
{
    rule_lines lines = {.is_good = true};
    oif_rule_info rule;
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++)
        if (i != without)
            add_line(&lines, rule.text);
    if (more)
        add_line(&lines, more);
    bool is_done = lines.is_good;
    if (!is_done)
        *error = (oif_error){.status = OIF_EMEMORY, .message = "out of memory"};
    else
        is_done = oif_pipeline_set_rules(pipeline, lines.text ? lines.text : "", lines.bytes,
                                         error) == OIF_OK;
    free(lines.text);
    return is_done;
}

char *rule_list_line(const char *rule)
{
    const size_t bytes = strlen(rule), mark_bytes = strlen(RULE_FEEDBACK_MARK);
    const bool has_mark =
        bytes >= mark_bytes && strcmp(rule + bytes - mark_bytes, RULE_FEEDBACK_MARK) == 0;
    char *line = malloc(bytes + mark_bytes + 1);
    if (line)
        snprintf(line, bytes + mark_bytes + 1, "%s%s", rule, has_mark ? "" : RULE_FEEDBACK_MARK);
    return line;
}
