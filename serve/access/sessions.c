#include "sessions.h"

#include "front/text/durations.h"
#include "front/text/output.h"
#include "front/text/write_json.h"
#include "serve/base/background.h"
#include "serve/base/whole_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_BYTES = 16, FROM_BYTES = 64, PATH_BYTES = 4096 };

typedef struct session {
    secret hash;  /* of the cookie */
    secret token; /* its hash */
    double began, used;
    char from[FROM_BYTES];
} session;

struct sessions {
    char path[PATH_BYTES]; /* "": nothing is stored */
    pthread_mutex_t lock;
    session list[SESSIONS_MAX]; /* the oldest first */
    size_t count;
};

/* ---- The file ---- */

static json_t *to_json(const session *one)
{
    char hash[SECRET_HEX_BYTES], token_hash[SECRET_HEX_BYTES];
    secret_write(&one->hash, hash);
    secret_write(&one->token, token_hash);
    return json_pack("{s:s, s:s, s:f, s:f, s:s}", "cookie", hash, "token", token_hash, "began",
                     one->began, "used", one->used, "from", one->from);
}

static void save(const sessions *all)
{
    json_t *list = json_array();
    if (!all->path[0] || !list) {
        json_decref(list);
        return;
    }
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(list, to_json(&all->list[i]));
    char *text = json_dumps(list, JSON_INDENT(0));
    if (!text || !whole_file_write(all->path, text, strlen(text)))
        note("%s: cannot be written: %s; after a restart users must log in again", all->path,
             strerror(text ? errno : ENOMEM));
    free(text);
    json_decref(list);
}

static bool from_json(const json_t *object, session *one)
{
    const char *hash = json_string_value(json_object_get(object, "cookie"));
    const char *token_hash = json_string_value(json_object_get(object, "token"));
    const char *from = json_string_value(json_object_get(object, "from"));
    one->began = json_number_value(json_object_get(object, "began"));
    one->used = json_number_value(json_object_get(object, "used"));
    snprintf(one->from, sizeof one->from, "%s", from ? from : "");
    return hash && token_hash && secret_read(hash, &one->hash) &&
           secret_read(token_hash, &one->token);
}

static void load(sessions *all)
{
    json_error_t error;
    size_t i;
    json_t *object, *list = json_load_file(all->path, 0, &error);
    json_array_foreach(list, i, object)
        if (all->count < SESSIONS_MAX && from_json(object, &all->list[all->count]))
            all->count++;
    if (!json_is_array(list) && json_error_code(&error) != json_error_cannot_open_file)
        note("%s: cannot be used; users must log in again", all->path);
    json_decref(list);
}

sessions *sessions_open(const char *folder)
{
    sessions *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    if (folder) {
        snprintf(all->path, sizeof all->path, "%s/sessions", folder);
        load(all);
    }
    return all;
}

void sessions_close(sessions *all)
{
    if (!all)
        return;
    save(all);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- The list ---- */

static void remove_at(sessions *all, size_t index)
{
    all->count--;
    memmove(&all->list[index], &all->list[index + 1], (all->count - index) * sizeof *all->list);
}

static void remove_old(sessions *all)
{
    const double now = background_wall_seconds();
    while (all->count > 0 && all->list[0].began + SESSION_SECONDS < now)
        remove_at(all, 0);
}

/* The position of a session; their number if there is none. */
static size_t find(sessions *all, const char *cookie, size_t bytes)
{
    secret hash;
    size_t found = all->count;
    if (bytes != SECRET_HEX_BYTES - 1 || !secret_hash(cookie, bytes, &hash))
        return found;
    for (size_t i = 0; i < all->count; i++)
        if (secret_equal(&all->list[i].hash, &hash))
            found = i;
    return found;
}

bool sessions_begin(sessions *all, const secret *token_hash, const char *from,
                    char cookie[SECRET_HEX_BYTES])
{
    secret made;
    session one = {.token = *token_hash, .began = background_wall_seconds()};
    if (!secret_random(&made))
        return false;
    secret_write(&made, cookie);
    if (!secret_hash(cookie, SECRET_HEX_BYTES - 1, &one.hash))
        return false;
    one.used = one.began;
    snprintf(one.from, sizeof one.from, "%s", from);
    pthread_mutex_lock(&all->lock);
    remove_old(all);
    if (all->count == SESSIONS_MAX)
        remove_at(all, 0);
    all->list[all->count++] = one;
    save(all);
    pthread_mutex_unlock(&all->lock);
    return true;
}

bool sessions_find(sessions *all, const char *cookie, size_t bytes, secret *token_hash)
{
    pthread_mutex_lock(&all->lock);
    remove_old(all);
    const size_t at = find(all, cookie, bytes);
    const bool is_found = at < all->count;
    if (is_found) {
        all->list[at].used = background_wall_seconds();
        *token_hash = all->list[at].token;
    }
    pthread_mutex_unlock(&all->lock);
    return is_found;
}

static bool end_at(sessions *all, size_t index)
{
    const bool is_found = index < all->count;
    if (is_found) {
        remove_at(all, index);
        save(all);
    }
    return is_found;
}

bool sessions_end(sessions *all, const char *cookie, size_t bytes)
{
    pthread_mutex_lock(&all->lock);
    const bool is_found = end_at(all, find(all, cookie, bytes));
    pthread_mutex_unlock(&all->lock);
    return is_found;
}

bool sessions_end_id(sessions *all, const char *id)
{
    char hash[SECRET_HEX_BYTES];
    size_t at = 0;
    pthread_mutex_lock(&all->lock);
    for (; at < all->count; at++) {
        secret_write(&all->list[at].hash, hash);
        if (strlen(id) == ID_BYTES && strncmp(hash, id, ID_BYTES) == 0)
            break;
    }
    const bool is_found = end_at(all, at);
    pthread_mutex_unlock(&all->lock);
    return is_found;
}

/* ---- JSON ---- */

static void write_moment(const char *name, double seconds)
{
    char text[MOMENT_TEXT_BYTES];
    write_json_string(name, moment_text(seconds, text));
}

void sessions_write(sessions *all, const token_table *tokens)
{
    size_t written = 0;
    pthread_mutex_lock(&all->lock);
    remove_old(all);
    output_print("[");
    for (size_t i = 0; i < all->count;) {
        const session *one = &all->list[i];
        const token *of = token_table_find(tokens, &one->token);
        char hash[SECRET_HEX_BYTES];
        if (!of) {
            remove_at(all, i);
            continue;
        }
        secret_write(&one->hash, hash);
        output_print("%s{\"id\":\"%.*s\"", written++ > 0 ? "," : "", ID_BYTES, hash);
        write_json_string("token", of->name);
        write_json_string("from", one->from);
        write_moment("began", one->began);
        write_moment("used", one->used);
        output_print("}");
        i++;
    }
    output_print("]");
    pthread_mutex_unlock(&all->lock);
}
