#include "tokens.h"

#include "front/text/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_BYTES_MIN = 16, TOKEN_BYTES_MAX = 255 };

/* ---- Files ---- */

static FILE *open_file(const char *file, problem *why)
{
    struct stat info;
    FILE *opened = fopen(file, "re");
    if (!opened) {
        problem_set(why, 503, NULL, "cannot read the token of %s: %s", file, strerror(errno));
        return NULL;
    }
    if (fstat(fileno(opened), &info) == 0 && S_ISREG(info.st_mode)) {
        if (info.st_mode & (S_IWGRP | S_IWOTH)) {
            fclose(opened);
            problem_set(why, 400, NULL, "%s: others can write it; protect it with: chmod 600 %s",
                        file, file);
            return NULL;
        }
        if (info.st_mode & (S_IRGRP | S_IROTH))
            note("%s: others can read this token; protect it with: chmod 600 %s", file, file);
    }
    return opened;
}

/* Characters that are valid in a header. */
static bool is_token_character(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\",;\\", c);
}

/* Returns NULL, or what is wrong. */
static const char *check(const char *text, size_t bytes)
{
    if (bytes == 0)
        return "there is no token";
    for (size_t i = 0; i < bytes; i++)
        if (!is_token_character(text[i]))
            return "one token is expected, of ASCII letters, digits and signs other than \" , ; "
                   "and \\";
    return bytes < TOKEN_BYTES_MIN || bytes > TOKEN_BYTES_MAX ? "a token has 16 to 255 characters"
                                                              : NULL;
}

/* The text of a file without the end of its line. */
static bool load(const char *file, secret *hash, problem *why)
{
    char text[TOKEN_BYTES_MAX + 3]; /* CR LF, and a byte too many */
    FILE *opened = open_file(file, why);
    if (!opened)
        return false;
    size_t bytes = fread(text, 1, sizeof text, opened);
    fclose(opened);
    while (bytes > 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r'))
        bytes--;
    const char *wrong = check(text, bytes);
    const bool is_hashed = secret_hash(text, bytes, hash);
    secret_forget(text, sizeof text);
    if (wrong)
        return problem_set(why, 400, NULL, "%s: %s; make one with: openssl rand -hex 32 > %s", file,
                           wrong, file);
    return is_hashed || problem_set(why, 503, NULL, "GnuTLS cannot hash a token");
}

bool tokens_load(const char *write_file, const char *read_file, tokens *all, problem *why)
{
    *all = (tokens){.has_write = write_file != NULL, .has_read = read_file != NULL};
    return (!write_file || load(write_file, &all->write, why)) &&
           (!read_file || load(read_file, &all->read, why));
}

/* ---- Use ---- */

bool tokens_are_needed(const tokens *all)
{
    return all->has_write || all->has_read;
}

access_level tokens_level(const tokens *all, const char *text, size_t bytes)
{
    secret hash;
    if (!secret_hash(text, bytes, &hash))
        return ACCESS_NONE;
    if (all->has_write && secret_equal(&all->write, &hash))
        return ACCESS_WRITE;
    return all->has_read && secret_equal(&all->read, &hash) ? ACCESS_READ : ACCESS_NONE;
}
