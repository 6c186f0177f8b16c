/* The API of streams. serve/api/openapi.json describes it. */
#ifndef OIF_SERVE_API_H
#define OIF_SERVE_API_H

#include "api_call.h"

bool api_file(api_call *call, problem *why);
bool api_healthz(api_call *call, problem *why);
bool api_readyz(api_call *call, problem *why);
bool api_metrics(api_call *call, problem *why);
bool api_root(api_call *call, problem *why);
bool api_now(api_call *call, problem *why);
bool api_incidents(api_call *call, problem *why);
bool api_events(api_call *call, problem *why);

bool api_list_streams(api_call *call, problem *why);
bool api_get_stream(api_call *call, problem *why);
bool api_stream_ready(api_call *call, problem *why);
bool api_put_stream(api_call *call, problem *why);
bool api_patch_stream(api_call *call, problem *why);
bool api_delete_stream(api_call *call, problem *why);

bool api_post_rows(api_call *call, problem *why);
bool api_remote_write(api_call *call, problem *why);
bool api_influx_write(api_call *call, problem *why);
bool api_influx_query(api_call *call, problem *why);
bool api_otlp_metrics(api_call *call, problem *why);

bool api_get_keys(api_call *call, problem *why);
bool api_delete_key(api_call *call, problem *why);
bool api_get_history(api_call *call, problem *why);
bool api_get_points(api_call *call, problem *why);
bool api_get_episodes(api_call *call, problem *why);
bool api_get_alerts(api_call *call, problem *why);
bool api_get_proposal(api_call *call, problem *why);

#endif
