/* A request while it is handled. What a handler writes with output_print and output_write becomes
 * the body of the answer, so handlers need not check for lack of memory. */
#ifndef OIF_SERVE_API_CALL_H
#define OIF_SERVE_API_CALL_H

#include "app.h"
#include "serve/http/reply.h"
#include "serve/http/request.h"
#include "serve/stream/streams.h"

typedef struct api_call {
    app *served;
    const request *asked;
    reply *answer; /* for headers; and for a whole answer that is not written, such as events */
    int status;    /* 200, unless the handler changes it */
    const char *type;
    streams *all;   /* once api_find_streams was called */
    stream *one;    /* once api_find_stream was called; it is released after the handler */
    bool is_change; /* and is logged; a handler may know better */
} api_call;

/* False: `why` becomes the answer. */
typedef bool (*api_handler)(api_call *call, problem *why);

/* Finds the streams, and the one that the path names. False while they are being loaded, and if
 * there is no such stream. */
bool api_find_streams(api_call *call, problem *why);
bool api_find_stream(api_call *call, problem *why);

/* The stream that a request is about, if it is about one: /api/v1/streams/NAME, /write?db=NAME,
 * /api/v2/write?bucket=NAME, or for OTLP the parameter `stream`, the header Oif-Stream, or otlp. */
const char *api_request_stream(const request *asked);
const char *api_stream_name(const api_call *call);
bool api_check_name(const api_call *call, problem *why);

/* Calls a handler, and completes the answer. A change that succeeds is logged. */
void api_answer(app *served, api_handler handle, bool is_change, const request *asked,
                reply *answer);

#endif
