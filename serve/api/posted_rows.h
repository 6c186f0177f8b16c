/* Rows of a request: the body is understood, its stream found or made, and the rows scored. */
#ifndef OIF_SERVE_POSTED_ROWS_H
#define OIF_SERVE_POSTED_ROWS_H

#include "api_call.h"
#include "serve/agents/agent_body.h"
#include "serve/base/digest.h"
typedef struct posted_rows {
    api_call *call;
    /* What the caller knows. */
    rows_request rows; /* all but the body and its format */
    bool may_create;
    bool must_have_sample; /* otherwise a message of an agent may be empty */
    json_t *settings;      /* that the request names, of a stream that is made */
    double per_second;     /* units of Influx's times in a second */
    body_kind protobuf;    /* what the path says about protobuf; BODY_KINDS: nothing */
    const char *format;    /* of the body; NULL: its type says it */
    /* What became of them. */
    body_found found;
    agent_report report; /* of samples */
    bool is_scored;      /* `done` is known */
    rows_answer done;
    char *text; /* the rows as NDJSON; NULL: the body has them */
    char digest[DIGEST_TEXT_BYTES];
} posted_rows;

posted_rows posted_rows_begin(api_call *call);
void posted_rows_end(posted_rows *posted);

/* The parameter of a setting, and `precision`, the unit of Influx's times. */
bool posted_rows_read_setting(posted_rows *posted, const char *name, problem *why);
bool posted_rows_read_precision(posted_rows *posted, problem *why);

/* Turns the body into what streams read: CSV or NDJSON. `one` is NULL if the stream is not
 * there yet. */
bool posted_rows_translate(posted_rows *posted, stream *one, problem *why);

/* Scores them. If it fails, a stream that was made for them is removed, and call->one is NULL. Some
 * of the rows may have been accepted, and some samples: posted->done and the report say it. */
bool posted_rows_take(posted_rows *posted, problem *why);

/* For clients that cannot learn it otherwise: 400 if some samples were malformed, although the
 * others were taken. */
bool posted_rows_check_bad(const posted_rows *posted, problem *why);

#endif
