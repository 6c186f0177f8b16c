/* The API of streams. serve/api/openapi.json describes it. */
#ifndef OIF_SERVE_API_H
#define OIF_SERVE_API_H

#include "app.h"
#include "serve/http/reply.h"
#include "serve/http/request.h"

void api_readyz(app *served, const request *asked, reply *answer);
void api_metrics(app *served, const request *asked, reply *answer);
void api_root(app *served, const request *asked, reply *answer);
void api_now(app *served, const request *asked, reply *answer);
void api_events(app *served, const request *asked, reply *answer);

void api_list_streams(app *served, const request *asked, reply *answer);
void api_get_stream(app *served, const request *asked, reply *answer);
void api_put_stream(app *served, const request *asked, reply *answer);
void api_patch_stream(app *served, const request *asked, reply *answer);
void api_delete_stream(app *served, const request *asked, reply *answer);

void api_post_rows(app *served, const request *asked, reply *answer);
void api_post_explain(app *served, const request *asked, reply *answer);

void api_get_keys(app *served, const request *asked, reply *answer);
void api_delete_key(app *served, const request *asked, reply *answer);
void api_get_points(app *served, const request *asked, reply *answer);
void api_get_episodes(app *served, const request *asked, reply *answer);
void api_get_alerts(app *served, const request *asked, reply *answer);
void api_get_row(app *served, const request *asked, reply *answer);

#endif
