/* Requests to Alertmanager and Prometheus, with libcurl. A client belongs to one thread and keeps
 * its connection between requests. */
#ifndef OIF_SERVE_HTTP_CLIENT_H
#define OIF_SERVE_HTTP_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct http_client http_client;

enum { HTTP_MESSAGE_BYTES = 256 };

/* The answer to a request. Close it after use. */
typedef struct http_answer {
    long status; /* 0: no answer; `message` has the cause */
    char *body;  /* NUL-terminated; the NUL is not counted */
    size_t bytes;
    char message[HTTP_MESSAGE_BYTES];
} http_answer;

/* `base` is http://host:port with or without a path. `token_file` is NULL or a file whose first
 * line is sent as a bearer token; it is read before each request, because tokens are renewed. While
 * `*is_stopped`, requests end at once. NULL: out of memory. All texts are copied. */
http_client *http_client_new(const char *base, const char *token_file,
                             const atomic_bool *is_stopped);
void http_client_free(http_client *client);

/* From now on, requests have the header "Oif-Signature: t=SECONDS,v1=HEX", the HMAC-SHA256 of
 * "SECONDS." and the body. The secret is the first line of the file, which is read before each
 * request; NULL: none. False: out of memory. */
bool http_client_sign_with(http_client *client, const char *secret_file);

/* POSTs a body of this type to `path`, which is appended to the base. Returns whether there was an
 * answer, of any status. */
bool http_client_post(http_client *client, const char *path, const char *type, const char *body,
                      size_t bytes, double timeout_seconds, http_answer *answer);
void http_answer_close(http_answer *answer);

/* Appends name=value, with & before it if needed. Frees `form`, which may be NULL, and returns a
 * new text for the caller to free; NULL if out of memory. */
char *http_form_add(char *form, const char *name, const char *value);

/* "http://host:9090" of "http://user:secret@host:9090/path", for messages. */
enum { HTTP_HOST_BYTES = 128 };
const char *http_host_text(const char *url, char text[HTTP_HOST_BYTES]);

/* The address without trailing slashes; the caller frees it. */
char *http_copy_base(const char *base);

#endif
