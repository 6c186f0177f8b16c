#include "access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_BYTES_MIN = 16 };

/* ---- Tokens ---- */

/* Characters that are valid in a header and a cookie. */
static bool is_token_character(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\",;\\", c);
}

static exit_code add_token(access_rules *rules, const char *file, size_t line, const char *text,
                           bool may_write)
{
    size_t bytes = strlen(text);
    if (bytes < TOKEN_BYTES_MIN || bytes >= TOKEN_BYTES_MAX)
        return complain(EXIT_USAGE,
                        "%s:%zu: a token has %d to %d characters; make one with: openssl rand "
                        "-hex 32 > %s",
                        file, line, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX - 1, file);
    for (const char *c = text; *c; c++)
        if (!is_token_character(*c))
            return complain(EXIT_USAGE,
                            "%s:%zu: a token is made of ASCII letters, digits and signs other "
                            "than \" , ; and \\; make one with: openssl rand -hex 32 > %s",
                            file, line, file);
    if (rules->token_count == TOKENS_MAX)
        return complain(EXIT_USAGE, "%s:%zu: there are more than %d tokens", file, line,
                        TOKENS_MAX);
    token *added = &rules->tokens[rules->token_count++];
    memset(added->bytes, 0, sizeof added->bytes);
    memcpy(added->bytes, text, bytes);
    added->may_write = may_write;
    return EXIT_OK;
}

exit_code access_load(access_rules *rules, const char *file, bool may_write)
{
    char line[2 * TOKEN_BYTES_MAX];
    size_t number = 0, count = rules->token_count;
    FILE *opened = fopen(file, "r");
    if (!opened)
        return complain(EXIT_FAILED, "cannot read the tokens of %s: %s", file, strerror(errno));
    exit_code code = EXIT_OK;
    while (code == EXIT_OK && fgets(line, sizeof line, opened)) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0')
            code = add_token(rules, file, number, line, may_write);
    }
    fclose(opened);
    memset(line, 0, sizeof line);
    if (code == EXIT_OK && rules->token_count == count)
        return complain(EXIT_USAGE,
                        "%s: there is no token; make one with: openssl rand -hex 32 > "
                        "%s",
                        file, file);
    return code;
}

access_level access_of_token(const access_rules *rules, const char *text, size_t bytes)
{
    char padded[TOKEN_BYTES_MAX] = {0};
    access_level level = ACCESS_NONE;
    memcpy(padded, text, bytes < sizeof padded ? bytes : sizeof padded);
    for (size_t i = 0; i < rules->token_count; i++) {
        const token *known = &rules->tokens[i];
        volatile unsigned char difference = bytes >= sizeof padded;
        for (size_t j = 0; j < sizeof padded; j++)
            difference = (unsigned char)(difference | (padded[j] ^ known->bytes[j]));
        if (difference == 0 && level != ACCESS_WRITE)
            level = known->may_write ? ACCESS_WRITE : ACCESS_READ;
    }
    return level;
}

/* The value of our cookie, or NULL. */
static const char *find_cookie(const char *header, size_t *bytes)
{
    static const char name[] = ACCESS_COOKIE "=";
    for (const char *at = header; at && *at;) {
        at += strspn(at, " ;");
        size_t length = strcspn(at, ";");
        if (strncmp(at, name, sizeof name - 1) == 0) {
            *bytes = length - (sizeof name - 1);
            while (*bytes > 0 && at[sizeof name - 2 + *bytes] == ' ')
                --*bytes;
            return at + sizeof name - 1;
        }
        at += length;
    }
    return NULL;
}

access_level access_of(const access_rules *rules, const request *asked)
{
    static const char scheme[] = "Bearer ";
    const char *header = asked->headers[HEADER_AUTHORIZATION], *text;
    size_t bytes = 0;
    if (rules->token_count == 0)
        return ACCESS_WRITE;
    if (header && strncasecmp(header, scheme, sizeof scheme - 1) == 0) {
        text = header + sizeof scheme - 1;
        text += strspn(text, " ");
        return access_of_token(rules, text, strlen(text));
    }
    text = header ? NULL : find_cookie(asked->headers[HEADER_COOKIE], &bytes);
    return text ? access_of_token(rules, text, bytes) : ACCESS_NONE;
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

static bool check_host(const access_rules *rules, const request *asked, problem *why)
{
    const char *host = asked->headers[HEADER_HOST];
    if (!rules->is_loopback || rules->token_count > 0)
        return true;
    if (host && is_loopback_name(host, host_name_bytes(host)))
        return true;
    return problem_set(why, 421, "Ask for http://127.0.0.1, or give the server a --token-file.",
                       "the Host header does not name this machine");
}

/* Browsers name the origin of a write; other programs need not. */
static bool is_same_origin(const request *asked)
{
    const char *origin = asked->headers[HEADER_ORIGIN], *host = asked->headers[HEADER_HOST];
    const char *site = asked->headers[HEADER_SEC_FETCH_SITE];
    const char *scheme = asked->is_encrypted ? "https://" : "http://";
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    return !origin || (host && strncmp(origin, scheme, strlen(scheme)) == 0 &&
                       strcasecmp(origin + strlen(scheme), host) == 0);
}

static bool is_safe_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

bool access_check(const access_rules *rules, const request *asked, access_level needed,
                  problem *why)
{
    if (!check_host(rules, asked, why))
        return false;
    if (!is_safe_method(asked->method) && !is_same_origin(asked))
        return problem_set(why, 403, NULL, "a page of another site may not write here");
    access_level level = needed == ACCESS_NONE ? ACCESS_NONE : access_of(rules, asked);
    if (level >= needed)
        return true;
    if (level == ACCESS_READ)
        return problem_set(why, 403, "Use the token of --token-file.",
                           "this token is for reading only");
    return problem_set(why, 401, "Send Authorization: Bearer TOKEN, or log in on the page.",
                       "a token is needed");
}
