/* What a token may take up: streams, and keys of all its streams together. Its streams are those
 * that match its patterns, also those that others have created. */
#ifndef OIF_SERVE_API_QUOTA_H
#define OIF_SERVE_API_QUOTA_H

#include "api_call.h"

/* Whether the token of the call may create a stream with these settings; 403 if not. If it has a
 * quota of keys and the settings do not say how many, the stream gets what is left, as the setting
 * "max-keys". No other token with quotas creates a stream until api_quota_end. */
bool api_quota_begin(const api_call *call, const char *name, json_t *settings, problem *why);
void api_quota_end(const api_call *call); /* in any case */

/* The most columns of a stream of this token; 0: no limit of its own. */
size_t api_quota_columns(const api_call *call);

#endif
