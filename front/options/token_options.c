/* The options of oif token, and its help. */
#include "options.h"

const char *const token_roles[] = {"read", "write", "admin", NULL};

static const char *const actions[] = {"add", "remove", "list", NULL};

static const cli_option options[] = {
    {"tokens", OPTION_TEXT, SETTING(serve.tokens), GROUP_ACCESS,
     .brief = "the file of tokens; it is created if missing", .argument = "FILE"},
    {"role", OPTION_WORD, SETTING(token.role), GROUP_ACCESS,
     .brief = "what a new token may do (default read)",
     .help = "what a new token may do: see streams, also write rows and create streams, or also "
             "change and remove them (default read)",
     .argument = "ROLE", .words = token_roles, .from = 1},
    {"streams", OPTION_NAMES, SETTING(token.streams), GROUP_ACCESS,
     .brief = "the streams it is for, such as 'web-*' (default all)",
     .help = "patterns of the streams it is for, such as 'web-*,db-?' (default all)",
     .argument = "PATTERNS"},
    {"max-streams", OPTION_COUNT, SETTING(token.max_streams), GROUP_LIMITS,
     .brief = "streams that it may have", .argument = "N", .from = 1, .to = 1e6,
     .range = "1 to 1000000"},
    {"max-keys", OPTION_COUNT, SETTING(token.max_keys), GROUP_LIMITS,
     .brief = "keys of all its streams together", .argument = "N", .from = 1, .to = 1e9,
     .range = "1 to 1000000000"},
    {"max-columns", OPTION_COUNT, SETTING(token.max_columns), GROUP_LIMITS,
     .brief = "columns of each of its streams", .argument = "N", .from = 1, .to = 65536,
     .range = "1 to 65536"},
};

const cli_command token_command = {
    .name = "token",
    .summary = "make and remove the tokens of oif serve",
    .usage = "token add NAME|remove NAME|list --tokens FILE [OPTION...]",
    .examples = "  oif token add ana --role admin --tokens tokens   prints a new token, once\n"
                "  oif token add web --role write --streams 'web-*' --tokens tokens\n"
                "                                                   for the streams of a team\n"
                "  oif serve --tokens tokens                        accepts these tokens\n"
                "  oif token remove web --tokens tokens             and SIGHUP to oif serve\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .words = actions,
    .words_max = 2,
};
