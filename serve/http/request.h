/* A request as plain data: method, path, parameters, headers, body. Outside input is decoded and
 * checked here, once. There is no libmicrohttpd in it, so a fuzzer can make requests too. */
#ifndef OIF_SERVE_REQUEST_H
#define OIF_SERVE_REQUEST_H

#include "address.h"
#include "serve/base/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_SEGMENTS_MAX = 8, REQUEST_PARAMETERS_MAX = 16, REQUEST_METHOD_BYTES = 16 };

typedef enum request_header {
    HEADER_ACCEPT,
    HEADER_AUTHORIZATION,
    HEADER_CONTENT_ENCODING,
    HEADER_CONTENT_LENGTH,
    HEADER_CONTENT_TYPE,
    HEADER_FORWARDED_FOR,
    HEADER_FORWARDED_USER,
    HEADER_HOST,
    HEADER_IF_NONE_MATCH,
    HEADER_LAST_EVENT_ID,
    HEADER_ORIGIN,
    HEADER_PREFER,
    HEADER_SEC_FETCH_SITE,
    HEADER_STREAM,
    HEADER_COUNT
} request_header;

/* "Accept" */
const char *request_header_name(request_header header);

/* One name=value of the query; the value may hold any bytes and is NUL-terminated. */
typedef struct request_parameter {
    const char *name, *value;
    size_t value_bytes;
} request_parameter;

typedef struct request {
    char method[REQUEST_METHOD_BYTES];
    char *path;   /* as received, without the query; for logs: it holds no secrets */
    char *target; /* decoded and split: what the pointers below point into */
    char *form;   /* the same for parameters in the body; NULL: none */
    const char *segments[REQUEST_SEGMENTS_MAX];
    size_t segment_count;
    request_parameter parameters[REQUEST_PARAMETERS_MAX];
    size_t parameter_count;
    const char *headers[HEADER_COUNT]; /* NULL: not present */
    const char *body;
    size_t body_bytes;
    bool is_encrypted;        /* it came over TLS */
    char from[ADDRESS_BYTES]; /* the client, or what a proxy says about it */
    const char *user;         /* whom a proxy has let in; NULL: it does not say */
    bool may_write;           /* by access_check */
} request;

/* Parses the target: "/api/v1/streams/a%20b?key=x". Returns false and sets `why` if it is
 * malformed. Call request_free in either case. */
bool request_parse(request *asked, const char *method, const char *target, problem *why);
void request_free(request *asked);

/* Adds the parameters of the body, a form as a browser or `curl -d` sends it. */
bool request_take_form(request *asked, problem *why);

/* Whether all parameters are in the list, such as "key limit since", without duplicates. */
bool request_check_parameters(const request *asked, const char *known, problem *why);

/* The parameter, or NULL if it was not given. Text contains no NUL. */
const request_parameter *request_find(const request *asked, const char *name);
bool request_text(const request *asked, const char *name, const char **text, problem *why);

/* Numbers; *value is unchanged if the parameter was not given. Times are seconds since 1970, or in
 * RFC 3339. */
bool request_count(const request *asked, const char *name, uint64_t most, uint64_t *value,
                   problem *why);
bool request_time(const request *asked, const char *name, double *seconds, problem *why);
bool request_flag(const request *asked, const char *name, bool *value, problem *why);

/* The position of the word in the list of `count` words. */
bool request_word(const request *asked, const char *name, const char *const *words, size_t count,
                  size_t *position, problem *why);

/* Whether the media type of a header is this one, ignoring its parameters. */
bool request_type_is(const char *header, const char *type);

#endif
