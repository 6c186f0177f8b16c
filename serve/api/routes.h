/* The routes: one table of methods and paths. */
#ifndef OIF_SERVE_ROUTES_H
#define OIF_SERVE_ROUTES_H

#include "api_call.h"

typedef enum route_body {
    BODY_NONE,
    BODY_SMALL,
    BODY_FORM, /* parameters too long for a query, such as a key of 64 KB */
    BODY_ROWS
} route_body;

typedef struct route {
    const char *method;
    const char *path; /* "/api/v1/streams/NAME": parts in capitals match any text */
    access_level access;
    api_handler handle;
    const char *parameters; /* of the query, and of a form: "key limit" */
    route_body body;
} route;

/* Finds the route and checks access. If that fails, or the answer is already known, returns NULL
 * and the answer is complete. */
const route *route_find(app *served, request *asked, reply *answer);

/* Whether paths of the API begin with the first part of this one. */
bool route_begins_with(const char *path);

/* The maximum size of its body in bytes. */
size_t route_body_limit(const app *served, const route *found);

/* Begins and ends an answer on one thread. */
void route_handle(app *served, const route *found, request *asked, reply *answer);

#endif
