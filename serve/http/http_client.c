#include "http_client.h"

#include "front/text/cut.h"
#include "serve/base/secrets.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A query for 10^5 series returns some 20 MB. */
enum { ANSWER_BYTES_MAX = 64 << 20, LINE_BYTES_MAX = 4096, CONNECT_SECONDS_MAX = 10 };

struct http_client {
    CURL *curl;
    char *base, *token_file;
    char *secret_file; /* NULL: requests are not signed */
    const atomic_bool *is_stopped;
};

/* ---- Lifecycle ---- */

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

char *http_copy_base(const char *base)
{
    size_t bytes = strlen(base);
    while (bytes > 0 && base[bytes - 1] == '/')
        bytes--;
    return strndup(base, bytes);
}

http_client *http_client_new(const char *base, const char *token_file,
                             const atomic_bool *is_stopped)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_curl);
    http_client *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->is_stopped = is_stopped;
    client->base = http_copy_base(base);
    client->token_file = token_file ? strdup(token_file) : NULL;
    client->curl = curl_easy_init();
    if (client->base && client->curl && (!token_file || client->token_file))
        return client;
    http_client_free(client);
    return NULL;
}

bool http_client_sign_with(http_client *client, const char *secret_file)
{
    client->secret_file = secret_file ? strdup(secret_file) : NULL;
    return !secret_file || client->secret_file;
}

void http_client_free(http_client *client)
{
    if (!client)
        return;
    curl_easy_cleanup(client->curl);
    free(client->base);
    free(client->token_file);
    free(client->secret_file);
    free(client);
}

void http_answer_close(http_answer *answer)
{
    free(answer->body);
    *answer = (http_answer){0};
}

/* ---- Callbacks of curl ---- */

static size_t take_bytes(char *bytes, size_t one, size_t count, void *context)
{
    http_answer *answer = context;
    (void)one; /* always 1 */
    if (count > ANSWER_BYTES_MAX - answer->bytes)
        return 0;
    char *longer = realloc(answer->body, answer->bytes + count + 1);
    if (!longer)
        return 0;
    memcpy(longer + answer->bytes, bytes, count);
    answer->body = longer;
    answer->bytes += count;
    longer[answer->bytes] = '\0';
    return count;
}

static int is_to_end(void *context, curl_off_t to_come, curl_off_t have, curl_off_t to_go,
                     curl_off_t gone)
{
    const http_client *client = context;
    (void)to_come;
    (void)have;
    (void)to_go;
    (void)gone;
    return client->is_stopped && atomic_load(client->is_stopped);
}

/* ---- Requests ---- */

/* The first line of a file, after what the text begins with; false: `answer` has the cause. */
static bool read_line(const char *what, const char *path, char text[LINE_BYTES_MAX],
                      http_answer *answer)
{
    const size_t used = strlen(text);
    FILE *file = fopen(path, "r");
    const char *line = file ? fgets(text + used, (int)(LINE_BYTES_MAX - used), file) : NULL;
    int reason = errno;
    if (file)
        fclose(file);
    text[used + strcspn(text + used, "\r\n")] = '\0';
    if (line && text[used])
        return true;
    snprintf(answer->message, sizeof answer->message, "%s: the %s cannot be read: %s", path, what,
             file ? "the file is empty" : strerror(reason));
    return false;
}

/* False: out of memory. */
static bool add_header(struct curl_slist **headers, const char *text)
{
    struct curl_slist *more = curl_slist_append(*headers, text);
    *headers = more ? more : *headers;
    return more != NULL;
}

static bool add_token(const http_client *client, struct curl_slist **headers, http_answer *answer)
{
    char text[LINE_BYTES_MAX] = "Authorization: Bearer ";
    if (!client->token_file)
        return true;
    const bool is_good =
        read_line("token", client->token_file, text, answer) && add_header(headers, text);
    secret_forget(text, sizeof text);
    return is_good;
}

/* The moment is signed, too, so a receiver can refuse what somebody recorded and sends again. */
static bool sign(const char *key, const char *body, size_t bytes, char header[LINE_BYTES_MAX])
{
    secret signature;
    char hex[SECRET_HEX_BYTES], moment[32];
    snprintf(moment, sizeof moment, "%lld.", (long long)time(NULL));
    const size_t used = strlen(moment);
    char *signed_text = malloc(used + bytes + 1);
    if (!signed_text)
        return false;
    memcpy(signed_text, moment, used);
    memcpy(signed_text + used, body, bytes);
    const bool is_good = secret_sign(key, strlen(key), signed_text, used + bytes, &signature);
    free(signed_text);
    secret_write(&signature, hex);
    snprintf(header, LINE_BYTES_MAX, "Oif-Signature: t=%.*s,v1=%s", (int)used - 1, moment, hex);
    return is_good;
}

static bool add_signature(const http_client *client, const char *body, size_t bytes,
                          struct curl_slist **headers, http_answer *answer)
{
    char key[LINE_BYTES_MAX] = "", header[LINE_BYTES_MAX];
    if (!client->secret_file)
        return true;
    const bool is_good = read_line("secret", client->secret_file, key, answer) &&
                         sign(key, body, bytes, header) && add_header(headers, header);
    secret_forget(key, sizeof key);
    return is_good;
}

/* NULL: `answer` has the cause, which at first is a lack of memory. */
static struct curl_slist *make_headers(const http_client *client, const char *type,
                                       const char *body, size_t bytes, http_answer *answer)
{
    char text[LINE_BYTES_MAX];
    struct curl_slist *headers = NULL;
    snprintf(text, sizeof text, "Content-Type: %s", type);
    /* curl would wait for an answer to "Expect: 100-continue" before a long body */
    if (add_header(&headers, text) && add_header(&headers, "Expect:") &&
        add_token(client, &headers, answer) && add_signature(client, body, bytes, &headers, answer))
        return headers;
    curl_slist_free_all(headers);
    return NULL;
}

/* host:port, without scheme, user and password. */
static const char *host_of(const char *url, size_t *bytes)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    *bytes = strcspn(host, "/?#");
    for (const char *at = host, *end = host + *bytes; at < end; at++)
        if (*at == '@') {
            host = at + 1;
            *bytes = (size_t)(end - host);
        }
    return host;
}

static bool is_this_machine(const char *url)
{
    size_t bytes;
    const char *host = host_of(url, &bytes);
    return strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0 ||
           (strncmp(host, "localhost", 9) == 0 && (bytes == 9 || host[9] == ':'));
}

static void set_options(http_client *client, const char *url, struct curl_slist *headers,
                        const char *body, size_t bytes, double timeout_seconds, http_answer *answer)
{
    CURL *curl = client->curl;
    long milliseconds = timeout_seconds > 0.001 ? (long)(timeout_seconds * 1000) : 1;
    curl_easy_reset(curl); /* keeps the connection */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    if (is_this_machine(url)) /* a proxy of the environment cannot reach it */
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "oif");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS_MAX);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_to_end);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, client);
}

static bool perform(http_client *client, http_answer *answer)
{
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, reason);
    CURLcode code = curl_easy_perform(client->curl);
    curl_easy_setopt(client->curl, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_OK) {
        answer->message[0] = '\0';
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
        return answer->status > 0;
    }
    snprintf(answer->message, sizeof answer->message, "%s",
             *reason ? reason : curl_easy_strerror(code));
    return false;
}

bool http_client_post(http_client *client, const char *path, const char *type, const char *body,
                      size_t bytes, double timeout_seconds, http_answer *answer)
{
    *answer = (http_answer){.message = "out of memory"};
    size_t url_bytes = strlen(client->base) + strlen(path) + 1;
    char *url = malloc(url_bytes);
    struct curl_slist *headers = url ? make_headers(client, type, body, bytes, answer) : NULL;
    bool is_answered = false;
    if (headers) {
        snprintf(url, url_bytes, "%s%s", client->base, path);
        set_options(client, url, headers, body, bytes, timeout_seconds, answer);
        is_answered = perform(client, answer);
    }
    curl_slist_free_all(headers);
    free(url);
    return is_answered;
}

/* ---- Texts ---- */

char *http_form_add(char *form, const char *name, const char *value)
{
    char *escaped = curl_easy_escape(NULL, value, 0);
    size_t used = form ? strlen(form) : 0;
    char *longer = escaped ? realloc(form, used + strlen(name) + strlen(escaped) + 3) : NULL;
    if (longer)
        sprintf(longer + used, "%s%s=%s", used > 0 ? "&" : "", name, escaped);
    else
        free(form);
    curl_free(escaped);
    return longer;
}

/* Keeps passwords out of the log. */
const char *http_host_text(const char *url, char text[HTTP_HOST_BYTES])
{
    size_t bytes;
    const char *host = host_of(url, &bytes), *scheme_end = strstr(url, "://");
    size_t scheme_bytes = scheme_end ? (size_t)(scheme_end + 3 - url) : 0;
    snprintf(text, HTTP_HOST_BYTES, "%.*s%.*s", scheme_bytes < 16 ? (int)scheme_bytes : 0, url,
             (int)cut_bytes(host, bytes, HTTP_HOST_BYTES / 2), host);
    return text;
}
