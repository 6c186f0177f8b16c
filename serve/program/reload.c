#include "reload.h"

#include "serve/api/events.h"
#include "serve/http/certificate.h"

#include <stdlib.h>
#include <string.h>

bool service_is_local(const service *one)
{
    return one->opened.is_loopback || one->opened.unix_path;
}

/* ---- Tokens and certificate ---- */

static bool load_tokens(const serve_settings *asked, token_table *tokens, problem *why)
{
    return (!asked->tokens || token_table_load(tokens, asked->tokens, why)) &&
           (!asked->token_file ||
            token_table_load_lines(tokens, asked->token_file, ACCESS_ADMIN, why)) &&
           (!asked->read_token_file ||
            token_table_load_lines(tokens, asked->read_token_file, ACCESS_READ, why));
}

static bool check_tokens(const serve_settings *asked, bool is_local, const token_table *tokens,
                         problem *why)
{
    return is_local || token_table_count(tokens) > 0 ||
           problem_set(why, 400, NULL,
                       "--listen %s: other machines could read and write; make a token with: oif "
                       "token add NAME --role admin --tokens tokens, and add --tokens tokens",
                       asked->listen);
}

bool fresh_secrets_load(const serve_settings *asked, bool is_local, fresh_secrets *fresh,
                        problem *why)
{
    *fresh = (fresh_secrets){.tokens = token_table_new()};
    if (!fresh->tokens)
        return problem_set(why, 503, NULL, "out of memory");
    bool is_good = !asked->tls_cert == !asked->tls_key ||
                   problem_set(why, 400, NULL, "--tls-cert and --tls-key go together");
    is_good = is_good && load_tokens(asked, fresh->tokens, why) &&
              check_tokens(asked, is_local, fresh->tokens, why);
    if (is_good && asked->tls_cert) {
        fresh->loaded = certificate_load(asked->tls_cert, asked->tls_key, why);
        if (!fresh->loaded)
            why->status = 503; /* the files may be right at another time */
        is_good = fresh->loaded != NULL;
    }
    if (!is_good) {
        token_table_release(fresh->tokens);
        fresh->tokens = NULL;
    }
    return is_good;
}

void fresh_secrets_use(fresh_secrets *fresh, access_rules *rules)
{
    access_set_tokens(rules, fresh->tokens);
    if (fresh->loaded)
        certificate_use(fresh->loaded);
    *fresh = (fresh_secrets){.tokens = NULL};
}

/* ---- What changes ---- */

static const configured *now_of(const service *one)
{
    return one->later.config.options ? &one->later : &one->first;
}

/* Options of the file that a running server can change. */
static bool can_change(const char *name)
{
    static const char *const names[] = {"tokens",     "token-file",  "read-token-file",
                                        "tls-cert",   "tls-key",     "alertmanager",
                                        "prometheus", "metrics-keys"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void note_change(const char *name, const json_t *before, const json_t *after)
{
    if (!json_equal(before, after) && !can_change(name))
        note("reload: \"%s\" of the configuration changes only with a restart", name);
}

static void note_what_waits(const configured *before, const configured *after)
{
    const char *name;
    json_t *value;
    json_object_foreach(before->config.options, name, value) {
        note_change(name, value, json_object_get(after->config.options, name));
    }
    json_object_foreach(after->config.options, name, value) {
        if (!json_object_get(before->config.options, name))
            note_change(name, NULL, value);
    }
}

outside *service_set_outside(service *one, outside *others)
{
    pthread_rwlock_wrlock(&one->served.others_lock);
    outside *before = one->served.others;
    one->served.others = others;
    pthread_rwlock_unlock(&one->served.others_lock);
    return before;
}

/* The streams, what is sent and what is pulled begin again only if the file has changed. The old
 * ones are used again if the new ones cannot start. */
static bool restart_outside(service *one, configured *fresh)
{
    const configured *before = now_of(one);
    if (json_equal(before->config.text, fresh->config.text))
        return true;
    outside_stop(service_set_outside(one, NULL));
    outside *started = outside_start(fresh, one->url, one->kept);
    const bool is_good = started != NULL;
    if (!is_good)
        started = outside_start(before, one->url, one->kept);
    service_set_outside(one, started);
    return is_good;
}

/* Clients of events connect again, with the tokens that count now. */
static void finish(service *one, fresh_secrets *secrets, configured *fresh)
{
    note_what_waits(now_of(one), fresh);
    fresh_secrets_use(secrets, &one->served.access);
    events_restart(one->served.watchers);
    configured_close(&one->later);
    one->later = *fresh;
    note("reload: the configuration, tokens and certificate were read again");
}

void service_reload(service *one)
{
    problem why = {.status = 0};
    fresh_secrets secrets = {.tokens = NULL};
    configured fresh;
    const bool is_good = configured_open(one->given, &fresh) == EXIT_OK;
    fresh.settings.serve.external_url = one->asked->external_url; /* the paths of the page, too */
    if (is_good &&
        !fresh_secrets_load(&fresh.settings.serve, service_is_local(one), &secrets, &why))
        complain(EXIT_FAILED, "%s", why.message);
    if (is_good && secrets.tokens && restart_outside(one, &fresh)) {
        finish(one, &secrets, &fresh);
        return;
    }
    note("reload: everything stays as it was");
    token_table_release(secrets.tokens);
    certificate_free(secrets.loaded);
    configured_close(&fresh);
}
