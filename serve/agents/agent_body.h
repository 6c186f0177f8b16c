/* The body of an agent as rows: its samples are read, and made rows by a rule. */
#ifndef OIF_SERVE_AGENT_BODY_H
#define OIF_SERVE_AGENT_BODY_H

#include "body_kind.h"
#include "sample_reading.h"

typedef struct agent_body {
    body_kind kind;
    oif_text bytes;
    double now_seconds; /* the time of samples without one */
    double per_second;  /* units of Influx's times in a second */
    size_t limit_bytes; /* of the rows */
} agent_body;

/* What became of the samples. */
typedef struct agent_report {
    sample_counts samples;
    bool has_times;    /* all samples have one: the same body is a repetition */
    uint64_t bad;      /* lines, metrics or points that are malformed */
    problem first_bad; /* about the first of them */
} agent_report;

/* Writes the rows to the output as NDJSON. False if nothing of the body can be used. */
bool agent_body_write(const agent_body *body, const sample_rule *rule, agent_report *report,
                      problem *why);

/* Completes the settings of a stream that the body makes: the time; the key, if there is none; and
 * which columns are counters. The key is the first of these that the samples have some of: job and
 * instance; service.name and host.name; host. */
bool agent_body_settle(const agent_body *body, json_t *settings, problem *why);

/* Writes ,"left_out":{"text":3} if there is something; and to a text for a header: "text 3". */
void agent_report_write(const agent_report *report);
enum { AGENT_REPORT_BYTES = 256 };
bool agent_report_text(const agent_report *report, char text[AGENT_REPORT_BYTES]);

#endif
