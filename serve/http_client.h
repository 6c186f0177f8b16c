/* Requests to Alertmanager and Prometheus, on libcurl. One client belongs to one thread and keeps
 * its connection between requests. */
#ifndef OIF_SERVE_HTTP_CLIENT_H
#define OIF_SERVE_HTTP_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct http_client http_client;

enum { HTTP_MESSAGE_BYTES = 256 };

/* What came back. To be closed. */
typedef struct http_answer {
    long status; /* 0: there was no answer, and `message` says why */
    char *body;  /* ends with a NUL that is not counted */
    size_t bytes;
    char message[HTTP_MESSAGE_BYTES];
} http_answer;

/* `base` is http://host:port with or without a path, `token_file` NULL or a file whose first line
 * is sent as a bearer token and read before each request, because tokens are renewed. While
 * `*is_stopped`, requests end at once. NULL: memory was short. All texts are copied. */
http_client *http_client_new(const char *base, const char *token_file,
                             const atomic_bool *is_stopped);
void http_client_free(http_client *client);

/* POSTs a body of this type to `path`, which is appended to the base. Returns whether there was an
 * answer of any status. */
bool http_client_post(http_client *client, const char *path, const char *type, const char *body,
                      size_t bytes, double timeout_seconds, http_answer *answer);
void http_answer_close(http_answer *answer);

/* Appends name=value with & before it if needed; returns a text to be freed, NULL if memory is
 * short. `form`, which may be NULL, is freed. */
char *http_form_add(char *form, const char *name, const char *value);

/* "http://host:9090" of "http://user:secret@host:9090/path": for messages. */
enum { HTTP_HOST_BYTES = 128 };
const char *http_host_text(const char *url, char text[HTTP_HOST_BYTES]);

/* The address without the slashes at its end, to be freed. */
char *http_copy_base(const char *base);

#endif
