/* All flags of a command, for what is made from them: shell completions and manual pages. */
#ifndef OIF_CLI_FLAGS_H
#define OIF_CLI_FLAGS_H

#include "options.h"

enum { FLAGS_MAX = 128, FLAG_WORDS_BYTES = 256 };

struct listed_flag {
    char name[FLAG_NAME_BYTES]; /* without the dashes */
    const char *argument;       /* NULL for a switch; "[N]": may be left out */
    const char *help;
    const oif_param *param; /* NULL: from the command's own table */
    bool is_of_detector;    /* exists only for some detectors */
    bool takes_file;        /* its value is a path */
    char words
        [FLAG_WORDS_BYTES]; /* "a b c": what its value may be; "" when that is no choice of words */
};

struct flag_list {
    struct listed_flag flags[FLAGS_MAX];
    size_t count;
};

/* In the order of --help. A parameter that several detectors have is listed once. */
void flags_list(const struct command *command, struct flag_list *list);

#endif
