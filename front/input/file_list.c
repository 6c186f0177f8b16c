#include "file_list.h"

#include "input_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static exit_code add_name(file_list *list, const char *name)
{
    if ((list->count & (list->count - 1)) == 0) { /* 0 or a power of two: all places are taken */
        size_t capacity = list->count > 0 ? 2 * list->count : 1;
        const char **names = realloc(list->names, capacity * sizeof *names);
        if (!names)
            return complain(EXIT_FAILED, "out of memory");
        list->names = names;
    }
    list->names[list->count++] = name;
    return EXIT_OK;
}

static exit_code add_matches(file_list *list, const char *pattern)
{
    glob_t *found = &list->found[list->pattern_count];
    exit_code code = EXIT_OK;
    int result = glob(pattern, GLOB_ERR, NULL, found);
    if (result == GLOB_NOMATCH)
        return complain(EXIT_FAILED,
                        "%s: no file matches this pattern; check the folder and the quotes",
                        pattern);
    if (result != 0)
        return complain(EXIT_FAILED, "%s: %s", pattern,
                        result == GLOB_NOSPACE ? "out of memory" : strerror(errno));
    list->pattern_count++;
    for (size_t i = 0; i < found->gl_pathc && code == EXIT_OK; i++)
        code = add_name(list, found->gl_pathv[i]);
    return code;
}

/* The name of an existing file is not a pattern. */
static bool is_pattern(const char *argument)
{
    return strpbrk(argument, "*?[") && access(argument, F_OK) != 0;
}

static exit_code check_file(const char *name, const struct stat *status, bool exists)
{
    char inside[PASTED_PATH_BYTES];
    if (!exists || access(name, R_OK) != 0)
        return complain(EXIT_FAILED, "%s: %s", name, strerror(errno));
    if (S_ISDIR(status->st_mode))
        return complain(EXIT_FAILED, "%s: %s; to read the files in it, give %s", name,
                        strerror(EISDIR), files_in_to_paste(name, inside));
    return EXIT_OK;
}

/* A single file is checked when it is opened. */
static exit_code look_at_files(file_list *list)
{
    list->can_be_reopened = true;
    for (size_t i = 0; i < list->count; i++) {
        struct stat status;
        bool is_stdin = strcmp(list->names[i], "-") == 0;
        bool exists =
            is_stdin ? fstat(STDIN_FILENO, &status) == 0 : stat(list->names[i], &status) == 0;
        if (list->count > 1 && !is_stdin) {
            exit_code code = check_file(list->names[i], &status, exists);
            if (code != EXIT_OK)
                return code;
        }
        bool is_regular = exists && S_ISREG(status.st_mode);
        list->can_be_reopened &= is_regular && !is_stdin;
        list->total_bytes += is_regular ? (uint64_t)status.st_size : 0;
        if (!is_regular) { /* how much there is to come is then not known */
            list->can_be_reopened = false;
            list->total_bytes = 0;
        }
    }
    return EXIT_OK;
}

exit_code file_list_open(file_list *list, char *const arguments[], size_t count)
{
    *list = (file_list){.found = calloc(count + 1, sizeof *list->found)};
    if (!list->found)
        return complain(EXIT_FAILED, "out of memory");
    exit_code code = count == 0 ? add_name(list, "-") : EXIT_OK;
    for (size_t i = 0; i < count && code == EXIT_OK; i++)
        code = is_pattern(arguments[i]) ? add_matches(list, arguments[i])
                                        : add_name(list, arguments[i]);
    return code == EXIT_OK ? look_at_files(list) : code;
}

void file_list_close(file_list *list)
{
    for (size_t i = 0; i < list->pattern_count; i++)
        globfree(&list->found[i]);
    free(list->found);
    free(list->names);
    *list = (file_list){.names = NULL};
}
