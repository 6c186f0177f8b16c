#include "certificate.h"

#include "front/text/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 16, KEY_ID_BYTES = 64 };

/* --timeout, and so a handshake, is at most this long. */
static const double keep_seconds = 3600;

struct certificate {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
    double replaced; /* by the clock */
    certificate *before;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static certificate *current; /* and those before it */

void certificate_free(certificate *loaded)
{
    if (!loaded)
        return;
    for (unsigned i = 0; i < loaded->count; i++)
        gnutls_pcert_deinit(&loaded->chain[i]);
    if (loaded->key)
        gnutls_privkey_deinit(loaded->key);
    free(loaded);
}

/* ---- Loading ---- */

static bool refuse(problem *why, const char *file, const char *what, int code)
{
    return problem_set(why, 400, NULL, "%s: is not a PEM file with %s: %s", file, what,
                       gnutls_strerror(code));
}

static bool load_chain(certificate *into, const char *file, problem *why)
{
    gnutls_datum_t text;
    unsigned count = CHAIN_MAX;
    int code = gnutls_load_file(file, &text);
    if (code == 0) {
        code = gnutls_pcert_list_import_x509_raw(into->chain, &count, &text, GNUTLS_X509_FMT_PEM,
                                                 GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
        gnutls_free(text.data);
    }
    into->count = code == 0 ? count : 0;
    return code == 0 || refuse(why, file, "a certificate", code);
}

static bool load_key(certificate *into, const char *file, problem *why)
{
    gnutls_datum_t text;
    int code = gnutls_load_file(file, &text);
    if (code == 0) {
        code = gnutls_privkey_init(&into->key);
        if (code == 0)
            code = gnutls_privkey_import_x509_raw(into->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
        gnutls_memset(text.data, 0, text.size);
        gnutls_free(text.data);
    }
    return code == 0 || refuse(why, file, "a private key", code);
}

static bool get_id(gnutls_pubkey_t key, unsigned char id[KEY_ID_BYTES], size_t *bytes)
{
    *bytes = KEY_ID_BYTES;
    return gnutls_pubkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, id, bytes) == 0;
}

static bool is_pair(const certificate *loaded)
{
    unsigned char of_cert[KEY_ID_BYTES], of_key[KEY_ID_BYTES];
    size_t cert_bytes, key_bytes;
    gnutls_pubkey_t key;
    if (gnutls_pubkey_init(&key) != 0)
        return false;
    const bool is_same = gnutls_pubkey_import_privkey(key, loaded->key, 0, 0) == 0 &&
                         get_id(key, of_key, &key_bytes) &&
                         get_id(loaded->chain[0].pubkey, of_cert, &cert_bytes) &&
                         key_bytes == cert_bytes && memcmp(of_key, of_cert, key_bytes) == 0;
    gnutls_pubkey_deinit(key);
    return is_same;
}

certificate *certificate_load(const char *cert_file, const char *key_file, problem *why)
{
    certificate *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        problem_set(why, 503, NULL, "out of memory");
    if (loaded && load_chain(loaded, cert_file, why) && load_key(loaded, key_file, why)) {
        if (is_pair(loaded))
            return loaded;
        problem_set(why, 400, NULL, "%s and %s: the certificate and the key do not belong together",
                    cert_file, key_file);
    }
    certificate_free(loaded);
    return NULL;
}

/* ---- Use ---- */

static void free_before(certificate *one, double until)
{
    while (one->before && one->before->replaced > until)
        one = one->before;
    for (certificate *old = one->before, *before; old; old = before) {
        before = old->before;
        certificate_free(old);
    }
    one->before = NULL;
}

void certificate_use(certificate *loaded)
{
    const double now = clock_seconds();
    pthread_mutex_lock(&lock);
    if (loaded) {
        if (current)
            current->replaced = now;
        loaded->before = current;
        free_before(loaded, now - keep_seconds);
    } else if (current) {
        free_before(current, now);
        certificate_free(current);
    }
    current = loaded;
    pthread_mutex_unlock(&lock);
}

int certificate_retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_count, gnutls_privkey_t *key)
{
    (void)session, (void)authorities, (void)count, (void)algorithms, (void)algorithm_count;
    pthread_mutex_lock(&lock);
    certificate *used = current;
    pthread_mutex_unlock(&lock);
    if (!used)
        return -1;
    *chain = used->chain;
    *chain_count = used->count;
    *key = used->key;
    return 0;
}
