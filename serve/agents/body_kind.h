/* What a body of rows is: by the query, by its Content-Type, or, if that says only "text", by its
 * first bytes. Bytes decide only where they leave no doubt; else the body is refused. */
#ifndef OIF_SERVE_BODY_KIND_H
#define OIF_SERVE_BODY_KIND_H

#include "serve/base/problem.h"

#include "oif_rows.h"

typedef enum body_kind {
    BODY_CSV,
    BODY_NDJSON,
    BODY_JSON,   /* an array of objects, or objects over several lines */
    BODY_INFLUX, /* from here on: samples, not rows */
    BODY_PROMETHEUS,
    BODY_REMOTE_WRITE,
    BODY_OTLP,
    BODY_KINDS
} body_kind;

/* Whether a body has samples, which become rows by a rule. */
bool body_kind_is_sampled(body_kind kind);

/* What a request says about its body; NULL: nothing. */
typedef struct body_claim {
    const char *format; /* of the query */
    const char *type;   /* Content-Type */
    body_kind protobuf; /* what the path says about protobuf; BODY_KINDS: nothing */
    int known;          /* the format of the stream's settings, as in rows_request; 0: none */
} body_claim;

typedef struct body_found {
    body_kind kind;
    bool is_guessed; /* by the bytes: then it must have a row, and not only a header */
} body_found;

/* What a sender of OTLP as JSON can do. */
#define BODY_OTLP_REMEDY                                                                           \
    "Send metrics as protobuf: OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf for the SDK, "            \
    "\"encoding: proto\" for the exporter otlphttp of the collector."

/* 415 if the type is unknown, 400 if the bytes are not what the request says. */
bool body_kind_find(const body_claim *claim, oif_text body, body_found *found, problem *why);

#endif
