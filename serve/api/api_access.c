/* Login and logout, sessions, and the audit log. */
#include "api.h"

#include "events.h"
#include "front/text/output.h"
#include "front/text/write_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AUDIT_ENTRIES_MAX = 10000, AUDIT_ENTRIES_INITIALLY = 100 };

/* ---- Login ---- */

static void set_cookie(const api_call *call, const char *value, long seconds)
{
    const access_rules *rules = &call->served->access;
    const bool is_encrypted = call->asked->is_encrypted || strncmp(rules->origin, "https:", 6) == 0;
    reply_add_header(call->answer, "Set-Cookie",
                     "%s=%s; Path=%s/; HttpOnly; SameSite=Strict; Max-Age=%ld%s", rules->cookie,
                     value, rules->base_path, seconds, is_encrypted ? "; Secure" : "");
}

/* token=... as sent by browsers and curl -d, encoded like a query. */
static json_t *read_form(const request *asked)
{
    size_t bytes = asked->body_bytes + sizeof "/?";
    char *target = malloc(bytes);
    request form;
    problem ignored;
    const char *text = NULL;
    json_t *given = NULL;
    if (!target)
        return NULL;
    snprintf(target, bytes, "/?%.*s", (int)asked->body_bytes, asked->body);
    if (request_parse(&form, "GET", target, &ignored) &&
        request_text(&form, "token", &text, &ignored) && text)
        given = json_pack("{s:s}", "token", text);
    request_free(&form);
    free(target);
    return given;
}

/* {"token": "..."}, or a form. */
static json_t *read_login(const request *asked)
{
    const char *type = asked->headers[HEADER_CONTENT_TYPE];
    if (request_type_is(type, "application/x-www-form-urlencoded") && *asked->body != '{')
        return read_form(asked);
    return json_loadb(asked->body, asked->body_bytes, JSON_REJECT_DUPLICATES, NULL);
}

static bool log_in(api_call *call, const char *text, problem *why)
{
    char cookie[SECRET_HEX_BYTES];
    if (!text)
        return problem_set(why, 400, "Send {\"token\": \"...\"}, or token=... of a form.",
                           "the body has no token");
    if (token_table_count(call->asked->tokens) == 0)
        return problem_set(why, 409, "Continue without one.", "this server has no tokens");
    call->who = access_log_in(&call->served->access, call->asked, text, cookie, why);
    if (!call->who)
        return false;
    set_cookie(call, cookie, SESSION_SECONDS);
    secret_forget(cookie, sizeof cookie);
    output_print("{\"read_only\": %s", call->who->level < ACCESS_WRITE ? "true" : "false");
    write_json_string("role", access_level_word(call->who->level));
    write_json_string("token", call->who->name);
    output_print("}\n");
    call->is_change = true;
    return true;
}

bool api_login(api_call *call, problem *why)
{
    json_t *given = read_login(call->asked);
    bool is_good = log_in(call, json_string_value(json_object_get(given, "token")), why);
    json_decref(given);
    return is_good;
}

/* Events that the session receives end with it. */
bool api_logout(api_call *call, problem *why)
{
    (void)why;
    call->is_change = access_log_out(&call->served->access, call->asked);
    if (call->is_change)
        events_restart(call->served->watchers);
    set_cookie(call, "", 0);
    reply_empty(call->answer, 204);
    return true;
}

/* ---- Sessions ---- */

static bool check_is_for_all(const api_call *call, problem *why)
{
    return !access_patterns(call->asked) ||
           problem_set(why, 403, "Use an admin token for all streams.",
                       "the token \"%s\" is only for streams such as %s", access_name(call->asked),
                       access_patterns(call->asked));
}

bool api_get_sessions(api_call *call, problem *why)
{
    if (!check_is_for_all(call, why))
        return false;
    output_print("{\"sessions\":");
    sessions_write(call->served->access.sessions, call->asked->tokens);
    output_print("}\n");
    return true;
}

bool api_end_session(api_call *call, problem *why)
{
    const char *id = NULL;
    if (!check_is_for_all(call, why) || !request_text(call->asked, "id", &id, why))
        return false;
    if (!id)
        return problem_set(why, 400, "Add ?id=ID, as in the list of sessions.",
                           "the query does not name the session");
    if (!sessions_end_id(call->served->access.sessions, id))
        return problem_set(why, 404, NULL, "there is no such session");
    events_restart(call->served->watchers);
    reply_empty(call->answer, 204);
    return true;
}

/* ---- The audit log ---- */

bool api_audit(api_call *call, problem *why)
{
    uint64_t limit = AUDIT_ENTRIES_INITIALLY;
    if (!request_count(call->asked, "limit", AUDIT_ENTRIES_MAX, &limit, why))
        return false;
    audit_write(call->served->changes, access_patterns(call->asked), (size_t)limit);
    return true;
}
