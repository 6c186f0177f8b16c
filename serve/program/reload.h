/* What a running service has, and how it reads its configuration again. */
#ifndef OIF_SERVE_RELOAD_H
#define OIF_SERVE_RELOAD_H

#include "serve/api/app.h"
#include "serve/api/server.h"
#include "serve/outside/outside.h"

typedef struct certificate certificate;

typedef struct service {
    const cli_settings *given; /* the command line */
    configured first;          /* with the file; valid until the end */
    configured later;          /* after the last reload; empty: there was none */
    const serve_settings *asked;
    app served;
    listening opened;
    char url[LISTEN_ADDRESS_BYTES + 16];
    streams *kept;
    server *running;
} service;

/* Whether only programs of this machine can connect. */
bool service_is_local(const service *one);

/* Tokens and certificate, loaded but not used yet. */
typedef struct fresh_secrets {
    token_table *tokens;
    certificate *loaded; /* NULL: no TLS */
} fresh_secrets;

bool fresh_secrets_load(const serve_settings *asked, bool is_local, fresh_secrets *fresh,
                        problem *why);
void fresh_secrets_use(fresh_secrets *fresh, access_rules *rules);

/* Replaces the links to the outside; returns those before, which no request uses any more. */
outside *service_set_outside(service *one, outside *others);

/* Reads configuration, tokens and certificate again. If anything is wrong with them, all stays as
 * it was, and the reason is reported. */
void service_reload(service *one);

#endif
