/* The files that the command line names, in its order. A pattern that the shell has left as it is
 * (in quotes, as with 'log?.csv') becomes the files that match, sorted by name. */
#ifndef OIF_FRONT_FILE_LIST_H
#define OIF_FRONT_FILE_LIST_H

#include "front/text/output.h"

#include <glob.h>

typedef struct file_list {
    const char **names; /* "-" is stdin; at least one */
    size_t count;
    glob_t *found; /* of each pattern: the names in it */
    size_t pattern_count;
    uint64_t total_bytes; /* as they are stored; 0: unknown */
    bool can_be_reopened; /* all are regular files with a name */
} file_list;

/* Without arguments: stdin. With several files, each is checked before the first is read, so a
 * missing one does not end a run halfway. Prints what is wrong unless it returns EXIT_OK. To be
 * closed in any case. */
exit_code file_list_open(file_list *list, char *const arguments[], size_t count);
void file_list_close(file_list *list);

#endif
