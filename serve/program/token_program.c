#include "token_program.h"

#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/output.h"
#include "serve/access/tokens.h"
#include "serve/base/name_patterns.h"
#include "serve/base/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char reload[] = "a running server takes it after: kill -HUP PID, or systemctl reload "
                             "oif-serve";

/* ---- The file ---- */

static exit_code write_file(const char *file, const json_t *text)
{
    char *written = json_dumps(text, JSON_INDENT(2));
    const bool is_good = written && whole_file_write(file, written, strlen(written));
    const int reason = written ? errno : ENOMEM;
    free(written);
    return is_good ? EXIT_OK : complain(EXIT_FAILED, "%s: %s", file, strerror(reason));
}

/* The position of the token with this name; their number if there is none. */
static size_t find(const json_t *list, const char *name)
{
    size_t i = 0;
    for (; i < json_array_size(list); i++) {
        const char *other = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (other && strcmp(other, name) == 0)
            break;
    }
    return i;
}

/* ---- Adding ---- */

static exit_code check_name(const char *name)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-";
    if (*name && strlen(name) < TOKEN_NAME_BYTES && name[strspn(name, all)] == '\0')
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "'%s': the name of a token has up to %d letters, digits, dots, _, @ and -",
                    cut_name(name).text, TOKEN_NAME_BYTES - 1);
}

static void add_count(json_t *object, const char *name, uint64_t count)
{
    if (count > 0)
        json_object_set_new(object, name, json_integer((json_int_t)count));
}

static void add_streams(json_t *object, const char *patterns)
{
    json_t *list = json_array();
    for (const char *at = patterns; *at; at += *at == ',') {
        const size_t bytes = strcspn(at, ",");
        json_array_append_new(list, json_stringn(at, bytes));
        at += bytes;
    }
    json_object_set_new(object, "streams", list);
}

/* NULL: out of memory. */
static json_t *make_token(const cli_settings *settings, const char *name, const secret *hash)
{
    const token_settings *asked = &settings->token;
    char text[SECRET_HEX_BYTES], moment[MOMENT_TEXT_BYTES];
    secret_write(hash, text);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", name, "role",
                               token_roles[asked->role > 0 ? asked->role - 1 : 0], "sha256", text,
                               "created", moment_text((double)time(NULL), moment));
    if (object && asked->streams)
        add_streams(object, asked->streams);
    add_count(object, "max_streams", asked->max_streams);
    add_count(object, "max_keys", asked->max_keys);
    add_count(object, "max_columns", asked->max_columns);
    return object;
}

/* The token is printed after the file was written: what is printed works. */
static exit_code add(const cli_settings *settings, const char *name, json_t *list, json_t *text)
{
    secret made, hash;
    char written[SECRET_HEX_BYTES];
    exit_code code = check_name(name);
    if (code != EXIT_OK)
        return code;
    if (settings->token.streams && !name_patterns_are_valid(settings->token.streams))
        return complain(EXIT_USAGE, "--streams: expected patterns such as 'web-*,db-?'");
    if (find(list, name) < json_array_size(list))
        return complain(EXIT_FAILED,
                        "%s: has a token '%s'; remove it first, or choose another name",
                        settings->serve.tokens, name);
    if (json_array_size(list) >= TOKENS_MAX)
        return complain(EXIT_FAILED, "%s: has %d tokens, as many as allowed",
                        settings->serve.tokens, TOKENS_MAX);
    if (!secret_random(&made))
        return complain(EXIT_FAILED, "the system has no random numbers: %s", strerror(errno));
    secret_write(&made, written);
    if (!secret_hash(written, strlen(written), &hash) ||
        json_array_append_new(list, make_token(settings, name, &hash)) != 0)
        return complain(EXIT_FAILED, "out of memory");
    code = write_file(settings->serve.tokens, text);
    if (code == EXIT_OK) {
        output_print("%s\n", written);
        note("this token is shown only now; %s", reload);
    }
    secret_forget(written, sizeof written);
    return code;
}

/* ---- Others ---- */

static exit_code remove_token(const cli_settings *settings, const char *name, json_t *list,
                              const json_t *text)
{
    const size_t at = find(list, name);
    if (at == json_array_size(list))
        return complain(EXIT_FAILED, "%s: has no token '%s'", settings->serve.tokens,
                        cut_name(name).text);
    json_array_remove(list, at);
    const exit_code code = write_file(settings->serve.tokens, text);
    if (code == EXIT_OK)
        note("%s", reload);
    return code;
}

static void print_quota(const json_t *object, const char *name)
{
    const json_t *count = json_object_get(object, name);
    if (count)
        output_print(" %s=%" JSON_INTEGER_FORMAT, name, json_integer_value(count));
}

static exit_code print_list(const json_t *list)
{
    size_t i, j;
    json_t *object, *pattern;
    json_array_foreach(list, i, object) {
        json_t *streams = json_object_get(object, "streams");
        output_print("%-20s %-6s ", json_string_value(json_object_get(object, "name")),
                     json_string_value(json_object_get(object, "role")));
        json_array_foreach(streams, j, pattern) {
            output_print("%s%s", j > 0 ? "," : "", json_string_value(pattern));
        }
        output_print("%s", json_array_size(streams) == 0 ? "*" : "");
        print_quota(object, "max_streams");
        print_quota(object, "max_keys");
        print_quota(object, "max_columns");
        output_print("\n");
    }
    return EXIT_OK;
}

static exit_code complain_usage(void)
{
    return complain(EXIT_USAGE, "usage: oif %s", token_command.usage);
}

/* Only `add` makes the file. For the others a missing one is a mistake in its name. */
static exit_code check_file(const cli_settings *settings)
{
    const char *action = settings->files[0], *file = settings->serve.tokens;
    if ((strcmp(action, "list") == 0 || strcmp(action, "remove") == 0) && access(file, F_OK) != 0)
        return complain(EXIT_FAILED, "%s: %s; oif token add makes it", file, strerror(errno));
    return EXIT_OK;
}

static exit_code run_action(const cli_settings *settings, json_t *text)
{
    const char *action = settings->files[0], *name = settings->files[1];
    json_t *list = json_object_get(text, "tokens");
    if (strcmp(action, "list") == 0)
        return name ? complain_usage() : print_list(list);
    if (!name || (strcmp(action, "add") != 0 && strcmp(action, "remove") != 0))
        return complain_usage();
    return strcmp(action, "add") == 0 ? add(settings, name, list, text)
                                      : remove_token(settings, name, list, text);
}

exit_code token_program(const cli_settings *settings)
{
    problem why;
    token_table *table;
    if (settings->file_count == 0)
        return complain_usage();
    if (!settings->serve.tokens)
        return complain(EXIT_USAGE, "which file? Add --tokens FILE");
    if (check_file(settings) != EXIT_OK)
        return EXIT_FAILED;
    json_t *text = token_file_read(settings->serve.tokens, &why);
    if (!text)
        return complain(EXIT_FAILED, "%s", why.message);
    /* a file that the server would refuse is not extended */
    table = token_table_new();
    const bool is_good = json_array_size(json_object_get(text, "tokens")) == 0 ||
                         (table && token_table_load(table, settings->serve.tokens, &why));
    token_table_release(table);
    const exit_code code =
        is_good ? run_action(settings, text) : complain(EXIT_FAILED, "%s", why.message);
    json_decref(text);
    return code;
}
