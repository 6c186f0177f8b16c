/* All flags of a command, for shell completions and manual pages. */
#ifndef OIF_CLI_FLAG_LIST_H
#define OIF_CLI_FLAG_LIST_H

#include "front/options/options.h"

enum { FLAGS_MAX = 128, FLAG_WORDS_BYTES = 256 };

typedef struct listed_flag {
    char name[FLAG_NAME_BYTES]; /* without the dashes */
    const char *argument;       /* NULL for a switch; "[N]": may be left out */
    char argument_text[ARGUMENT_TEXT_BYTES];
    const char *help;
    const oif_param *param; /* NULL: from the command's own table */
    bool is_of_detector;    /* exists only for some detectors */
    bool takes_file;        /* its value is a path */
    /* "a b c": what its value may be; "" when it is not one of some words */
    char words[FLAG_WORDS_BYTES];
} listed_flag;

typedef struct flag_list {
    listed_flag flags[FLAGS_MAX];
    size_t count;
} flag_list;

/* In the order of --help. A parameter that several detectors have is listed once. */
void flag_list_make(const cli_command *command, flag_list *list);

#endif
