/* The certificate of the server and its key, which can be replaced while it runs: connections that
 * begin later get the new one. */
#ifndef OIF_SERVE_CERTIFICATE_H
#define OIF_SERVE_CERTIFICATE_H

#include "serve/base/problem.h"

#include <gnutls/abstract.h>

typedef struct certificate certificate;

/* Reads two PEM files; NULL: `why` says what is wrong with them. */
certificate *certificate_load(const char *cert_file, const char *key_file, problem *why);
void certificate_free(certificate *loaded); /* accepts NULL */

/* From now on handshakes use this one; takes it over. The one before is kept for an hour, as a
 * handshake may still use it. NULL frees all, when there are no connections any more. */
void certificate_use(certificate *loaded);

/* For MHD_OPTION_HTTPS_CERT_CALLBACK. There is one certificate in a program, because the callback
 * has no context. */
int certificate_retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_count, gnutls_privkey_t *key);

#endif
