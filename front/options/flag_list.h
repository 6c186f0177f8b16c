/* All flags of a command, for help, shell completions and manual pages. */
#ifndef OIF_FRONT_FLAG_LIST_H
#define OIF_FRONT_FLAG_LIST_H

#include "front/options/options.h"

enum { FLAGS_MAX = 128, FLAG_WORDS_BYTES = 256, PARAM_HELP_BYTES = 512 };

typedef struct listed_flag {
    char name[FLAG_NAME_BYTES]; /* without the dashes */
    const char *argument;       /* NULL for a switch; "[N]": may be left out */
    char argument_text[ARGUMENT_TEXT_BYTES];
    const char *brief_argument; /* the same for --help, which does not list words */
    option_group group;
    const char *brief; /* NULL: not in --help */
    const char *help;
    char help_text[PARAM_HELP_BYTES];
    const oif_param *param; /* NULL: from the command's own table */
    bool takes_file;        /* its value is a path */
    /* "a b c": what its value may be; "" when it is not one of some words */
    char words[FLAG_WORDS_BYTES];
} listed_flag;

typedef struct flag_list {
    listed_flag flags[FLAGS_MAX];
    size_t count;
} flag_list;

/* In the order of help, apart from the groups. The parameters are those of one detector, or if that
 * is NULL of all: one that several have is listed once. */
void flag_list_make(const command_entry *command, const oif_param_table *detector, flag_list *list);

/* What a parameter is for, as the command line writes names: alert_rate becomes --alert-rate. */
const char *param_help(const oif_param *param, char text[PARAM_HELP_BYTES]);

#endif
