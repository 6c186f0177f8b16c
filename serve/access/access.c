#include "access.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- The address outside ---- */

static bool is_base_path(const char *path)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~/-";
    return path[strspn(path, all)] == '\0' && !strstr(path, "//") && !strstr(path, "/.");
}

bool access_set_external(access_rules *rules, const char *url, problem *why)
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return true;
    const char *path = host + 3 + strcspn(host + 3, "/");
    size_t bytes = strlen(path);
    while (bytes > 0 && path[bytes - 1] == '/')
        bytes--;
    const size_t origin_bytes = (size_t)(path - url);
    if (bytes >= sizeof rules->base_path || origin_bytes >= sizeof rules->origin)
        return problem_set(why, 400, NULL, "--external-url: is too long");
    snprintf(rules->origin, sizeof rules->origin, "%.*s", (int)origin_bytes, url);
    snprintf(rules->base_path, sizeof rules->base_path, "%.*s", (int)bytes, path);
    return is_base_path(rules->base_path) ||
           problem_set(why, 400, NULL,
                       "--external-url: its path has letters, digits, dots, _, ~ and - between "
                       "single slashes");
}

const char *access_within_base(const access_rules *rules, const char *target)
{
    const size_t bytes = strlen(rules->base_path);
    if (bytes == 0 || strncmp(target, rules->base_path, bytes) != 0)
        return target;
    if (target[bytes] == '\0' || target[bytes] == '?')
        return "";
    return target[bytes] == '/' ? target + bytes : target;
}

void access_set_tokens(access_rules *rules, const tokens *known)
{
    pthread_mutex_lock(&rules->lock);
    rules->known = *known;
    pthread_mutex_unlock(&rules->lock);
}

static tokens copy_tokens(access_rules *rules)
{
    pthread_mutex_lock(&rules->lock);
    const tokens known = rules->known;
    pthread_mutex_unlock(&rules->lock);
    return known;
}

/* What follows the scheme of the header, such as "Bearer "; NULL: it is another one. */
static const char *after_scheme(const char *header, const char *scheme)
{
    const size_t bytes = strlen(scheme);
    if (!header || strncasecmp(header, scheme, bytes) != 0)
        return NULL;
    return header + bytes + strspn(header + bytes, " ");
}

/* "Basic " and NAME:TOKEN in base 64, for browsers and other programs that know only names and
 * passwords. */
static access_level level_of_basic(const tokens *known, const char *encoded)
{
    const gnutls_datum_t text = {(unsigned char *)(uintptr_t)encoded, (unsigned)strlen(encoded)};
    gnutls_datum_t decoded = {NULL, 0};
    if (gnutls_base64_decode2(&text, &decoded) != 0)
        return ACCESS_NONE;
    const unsigned char *colon = memchr(decoded.data, ':', decoded.size);
    const unsigned char *start = colon ? colon + 1 : decoded.data;
    const access_level level =
        tokens_level(known, (const char *)start, decoded.size - (size_t)(start - decoded.data));
    gnutls_memset(decoded.data, 0, decoded.size);
    gnutls_free(decoded.data);
    return level;
}

/* Most agents send Bearer, those of InfluxDB send Token. */
static access_level level_of(const tokens *known, const request *asked)
{
    const char *header = asked->headers[HEADER_AUTHORIZATION];
    if (!tokens_are_needed(known))
        return ACCESS_WRITE;
    const char *text = after_scheme(header, "Bearer ");
    if (!text)
        text = after_scheme(header, "Token ");
    if (text)
        return tokens_level(known, text, strlen(text));
    text = after_scheme(header, "Basic ");
    return text ? level_of_basic(known, text) : ACCESS_NONE;
}

/* ---- The origin of a request ---- */

static bool is_loopback_name(const char *host, size_t bytes)
{
    static const char *const names[] = {"localhost", "[::1]", "localhost."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == bytes && strncasecmp(names[i], host, bytes) == 0)
            return true;
    return bytes >= 7 && bytes <= 15 && memcmp(host, "127.", 4) == 0 &&
           strspn(host, "0123456789.") == bytes;
}

/* "[::1]:8571" -> "[::1]" */
static size_t host_name_bytes(const char *host)
{
    return *host == '[' ? strcspn(host, "]") + (strchr(host, ']') != NULL) : strcspn(host, ":");
}

/* The one of --external-url, which a proxy may pass on. */
static bool is_external_name(const access_rules *rules, const char *host)
{
    const char *name = strstr(rules->origin, "://");
    return name && strcasecmp(name + 3, host) == 0;
}

static bool check_host(const access_rules *rules, const request *asked, problem *why)
{
    const char *host = asked->headers[HEADER_HOST];
    if (!rules->is_loopback)
        return true;
    if (host && (is_loopback_name(host, host_name_bytes(host)) || is_external_name(rules, host)))
        return true;
    return problem_set(why, 421, "Ask for http://127.0.0.1, or give the server a token.",
                       "the Host header does not name this machine");
}

/* Browsers name the origin of a write; other programs need not. */
static bool is_same_origin(const access_rules *rules, const request *asked)
{
    const char *origin = asked->headers[HEADER_ORIGIN], *host = asked->headers[HEADER_HOST];
    const char *site = asked->headers[HEADER_SEC_FETCH_SITE];
    const char *scheme = asked->is_encrypted ? "https://" : "http://";
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    if (!origin || (*rules->origin && strcasecmp(origin, rules->origin) == 0))
        return true;
    return host && strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcasecmp(origin + strlen(scheme), host) == 0;
}

static bool is_safe_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

/* ---- Whether it may ---- */

/* Tokens are long enough not to be guessed at any speed. */
static bool refuse_token(const request *asked, problem *why)
{
    const bool has_tried = asked->headers[HEADER_AUTHORIZATION] != NULL;
    return problem_set(why, 401,
                       "Send Authorization: Bearer TOKEN, or the token as the password of Basic.",
                       has_tried ? "this is not a token of this server" : "a token is needed");
}

bool access_check(access_rules *rules, request *asked, access_level needed, problem *why)
{
    const tokens known = copy_tokens(rules);
    if (!tokens_are_needed(&known) && !check_host(rules, asked, why))
        return false;
    if (!is_safe_method(asked->method) && !is_same_origin(rules, asked))
        return problem_set(why, 403, NULL, "a page of another site may not write here");
    const access_level level = level_of(&known, asked);
    asked->may_write = level == ACCESS_WRITE;
    if (level >= needed)
        return true;
    return level == ACCESS_READ
               ? problem_set(why, 403, "Use the token of --token-file.", "this token may only read")
               : refuse_token(asked, why);
}
