/* The command line: a table describes what a command accepts, and a `run_settings` holds what
 * the user gave.
 *
 * Every command has one table of options. The flags of the detector's parameters and of the
 * pipeline's options are not in it: they are made from the library's own tables (num_trees
 * becomes --num-trees), so a new parameter needs no line here. */
#ifndef OIF_FRONT_OPTIONS_H
#define OIF_FRONT_OPTIONS_H

#include "front/text/output.h"
#include "option_groups.h"
#include "output_formats.h"

#include "oif_rows.h"

/* What `oif demo` is asked for; 0 where its own value is as good as any. */
typedef struct generate_settings {
    uint64_t rows, seed, columns;
    double share;
    bool is_share_given;
} generate_settings;

/* What `oif state size` is asked for; 0: not given. */
typedef struct size_settings {
    uint64_t keys, rows;
} size_settings;

/* What `oif eval` is asked for besides its measures. */
enum { ANOMALY_VALUES_MAX = 16 };

typedef struct eval_settings {
    bool all_detectors;
    uint64_t runs;      /* with different seeds; 0: not given, one */
    const char *report; /* the page to write; NULL: none */
    /* values of the label that are anomalies; none: to be found */
    const char *anomalies[ANOMALY_VALUES_MAX];
    size_t anomaly_count;
} eval_settings;

/* What happens to a row that cannot be read. */
typedef enum on_bad_row { BAD_ROW_FAILS, BAD_ROW_IS_SKIPPED, BAD_ROW_IS_MENDED } on_bad_row;

enum { REASONS_MAX = 3 }; /* columns that are named as the reasons of an anomaly */

/* The rules that options give, as text (rule_options.h). */
typedef struct given_rules {
    char *text;
    size_t bytes;
    bool is_given;
    char wrong[OIF_ERROR_MESSAGE_BYTES]; /* with the last one */
} given_rules;

/* What is printed: all rows; anomalous ones; the worst of each episode; or incidents instead of
 * rows. */
typedef enum printed_rows { PRINT_ALL, PRINT_ALERTS, PRINT_EPISODES, PRINT_INCIDENTS } printed_rows;

/* What `oif score` is asked for besides its input. */
typedef struct score_settings {
    const char *key, *time;   /* columns; NULL: none */
    const char *time_pattern; /* how times are written; NULL: to be found */
    oif_day_order day_order;  /* of dates such as 01/02/2026 */
    const char *rate;         /* "a,b": counters, whose increase is learned; NULL: none */
    const char *category;     /* the same: how rare their values are */
    /* "score,why": what is added to each row; NULL: what suits the other settings */
    const char *fields;
    printed_rows rows;
    bool is_explained; /* alerts have the field why even if all rows are printed */
    bool skip_seen, watch;
    oif_grade min_grade; /* of the rows that are printed; OIF_GRADE_NONE: not given */
    on_bad_row on_bad_row;
    output_format output;
    uint64_t digits;      /* significant ones of the numbers that are added; 0: all */
    const char *on_alert; /* a command for the start and the end of an episode; NULL: none */
    bool fail_on_alert;
    given_rules rules;
} score_settings;

/* What `oif state` is asked for; NULL: not given. */
typedef struct key_settings {
    bool list;
    const char *drop;
} key_settings;

/* What `oif state feedback` is asked for; NULL or 0: not given. */
typedef struct feedback_settings {
    const char *propose; /* an episode: "3", "web-1#3" */
    const char *add;     /* a rule */
    uint64_t remove;     /* a rule, from 1 */
} feedback_settings;

/* What `oif serve` is asked for; NULL or 0: not given. */
typedef struct serve_settings {
    const char *listen, *data, *config;
    const char *token_file, *read_token_file, *tls_cert, *tls_key;
    const char *proxies; /* addresses whose X-Forwarded-... headers count */
    double save_seconds;
    bool is_save_given;
    double max_body_bytes, history_bytes, history_disk_bytes, timeout_seconds;
    uint64_t max_streams, max_columns, max_connections;
    const char *alertmanager, *prometheus; /* their addresses */
    const char *external_url;              /* of the page, as people reach it */
    bool is_history_disk_given;
} serve_settings;

typedef struct joined_text {
    struct joined_text *before;
    char text[];
} joined_text;

typedef struct run_settings {
    char **arguments; /* all of them, after the command's name */
    const char *file; /* the first file; NULL or "-": stdin */
    char **files;     /* all of them */
    size_t file_count;
    const char *label;   /* the column that says which rows are anomalous; NULL: none */
    const char *columns; /* "a,b,c": the only columns to learn from; NULL: all */
    const char *exclude; /* "a,b": columns to leave out; NULL: none */
    const char *missing; /* "-200,a=9999": values that mean missing; NULL: none */
    int format;          /* of the input: 0: to be found, otherwise 1 + one of format_words */
    oif_header header;
    char delimiter; /* 0: to be found */
    oif_decimal decimal;
    const char *comment; /* of CSV; NULL: not given */
    uint64_t skip_lines; /* at the start of each file */
    const char *pivot;   /* "METRIC:VALUE"; NULL: not given */
    double every;        /* seconds of a row of an access log; 0: not given */
    oif_params params;   /* of the detector */
    oif_params options;  /* of the pipeline */
    /* Which of them the command line names; the others are initial values. */
    bool is_given[OIF_PARAMS_MAX], is_option_given[OIF_PARAMS_MAX];
    bool is_detector_given;
    bool strict;    /* what would be guessed about columns is refused */
    bool verbose;   /* what is learned is said */
    bool is_quiet;  /* and what is guessed was said already */
    bool is_silent; /* no notes and no summary: --quiet */
    score_settings score;
    bool json;
    /* as given: "a", or "a,b,c" where the command takes several; params are the first's */
    const char *detectors;
    generate_settings generate;
    size_settings size;
    eval_settings eval;
    key_settings keys;
    feedback_settings feedback;
    serve_settings serve;
    const char *state; /* the state file; NULL: none */
    uint64_t rows_between_saves;
    double seconds_between_saves;
    uint64_t dimension;  /* columns, for commands that do not read any; 0: not given */
    joined_text *joined; /* texts that were put together, for settings_close */
} run_settings;

typedef enum option_kind {
    OPTION_SWITCH,   /* no value: a bool becomes true */
    OPTION_CONSTANT, /* no value: an enum becomes `from` */
    OPTION_TEXT,     /* a const char * */
    OPTION_NAMES,    /* the same; given again, it adds to the list "a,b" */
    OPTION_COUNT,    /* a uint64_t: a whole number from `from` to `to` */
    OPTION_AMOUNT,   /* a double: what `parse` reads, from `from` to `to` */
    OPTION_WORD,     /* an enum: one of `words`, of which the first is `from` */
    OPTION_APPLY     /* whatever `apply` makes of it */
} option_kind;

/* What an option of `oif score` is to a stream of `oif serve`. */
typedef enum stream_use {
    STREAM_LACKS,  /* it is refused, with `stream_remedy` */
    STREAM_FIXES,  /* it decides what is learned, so it cannot change later */
    STREAM_CHANGES /* it can */
} stream_use;

typedef struct option_entry {
    const char *name; /* without the dashes */
    option_kind kind;
    size_t offset; /* of the value in run_settings: SETTING(...) */
    option_group group;
    const char *brief; /* in --help, which has room for 55 bytes; NULL: only in --help-all */
    /* the full text, for --help-all, manual pages and completions; NULL: the brief one is all */
    const char *help;
    /* what help calls its value; "[N]": a number, may be left out; NULL: it has none. If it has
     * words, only --help calls them so: the others list them. */
    const char *argument;
    double from, to;
    const char *range; /* for messages; of a count: "1 to 1e9", of an amount: "a time up to 1h" */
    bool (*parse)(const char *text, double *amount);
    size_t given;             /* of a bool that notes that the option is given; 0: none does */
    const char *const *words; /* ends with NULL */
    /* Puts the value into the settings, NULL when it was left out. Returns NULL, or what it
     * should have been. */
    const char *(*apply)(run_settings *settings, const char *value);
    const char *on;   /* the value for true, beside "off" for false; NULL: it has no such values */
    bool is_repeated; /* a list gives it once for each item */
    stream_use stream;
    const char *stream_remedy; /* NULL: none */
} option_entry;

#define SETTING(member) offsetof(run_settings, member)

/* "COL", "csv|ndjson": what help calls its value; NULL: it has none. */
enum { ARGUMENT_TEXT_BYTES = 128 };
const char *option_argument(const option_entry *option, char text[ARGUMENT_TEXT_BYTES]);

typedef struct command_entry {
    const char *name;
    const char *summary;
    const char *usage;         /* what follows "oif " */
    const char *examples;      /* whole lines, as --help prints them */
    const char *more_examples; /* only in --help-all and the manual page; NULL: none */
    const option_entry *options;
    size_t option_count;
    bool takes_file;
    bool reads_rows;          /* from the file, so it has the options of the input */
    const char *const *words; /* instead of a file: one of these; ends with NULL */
    bool takes_params;        /* --detector and the flags of its parameters */
    bool takes_pipeline;      /* the flags of the pipeline's options */
    bool takes_detectors;     /* several, "a,b,c" */
    bool is_hidden;           /* for those who install oif, not for those who use it */
} command_entry;

/* Those whose options the program and the service both read. */
extern const command_entry score_command;
extern const command_entry serve_command;

/* The options of a command from 0 on: --detector, its own, those of the input and those that ask
 * for help; NULL past the last. */
const option_entry *command_option(const command_entry *command, size_t index);
extern const option_entry detector_option;

/* num_trees -> num-trees */
enum { FLAG_NAME_BYTES = 64 };
const char *param_flag_name(const oif_param *param, char name[FLAG_NAME_BYTES]);

/* "N", "WORD", "TIME": what help calls its value. */
const char *param_argument(const oif_param *param);

/* What the settings say about times, before the first one is read. */
oif_time_format settings_time_format(const run_settings *settings);

/* How times are written, for --time-format: a pattern, or an order of day and month. */
const char *set_time_format(run_settings *settings, const char *value);

/* "sep=; skip=3 decimal=, comment=# header=no". Returns NULL, or what it should have been. */
const char *csv_option_set(run_settings *settings, const char *value);

/* A copy of the text, at most `bytes` of it and with room for as many, that lives as long as the
 * settings; NULL: no memory. */
char *settings_keep_text(run_settings *settings, const char *text, size_t bytes);

/* Frees what a command line has put into them. */
void settings_close(run_settings *settings);

/* The detector that the settings ask for, for rows of `dimension` numbers. Prints what is wrong
 * unless it returns EXIT_OK. */
exit_code settings_make_detector(const run_settings *settings, size_t dimension,
                                 oif_detector **detector);

/* The same for a pipeline. */
exit_code settings_make_pipeline(const run_settings *settings, size_t columns,
                                 oif_pipeline **pipeline);

/* Whether what the command line says about the pipeline is what a state file holds; it need not
 * say anything. Options that only decide about later alerts are changed. Prints the first
 * contradiction unless it returns EXIT_OK. */
exit_code settings_apply(const run_settings *settings, oif_pipeline *held, const char *file);

/* Whether the command line names this parameter of the detector. */
bool settings_give_param(const run_settings *settings, const char *name);

/* Whether the command line names this option of the pipeline; and as if it did. Returns false if
 * the value is out of range. */
bool settings_give_option(const run_settings *settings, const char *name);
bool settings_set_option(run_settings *settings, const char *name, double value);

/* Whether these options of a pipeline ask for evicted models to be kept. */
bool params_keep_evicted(const oif_params *options);

/* Whether they ask for nothing to be learned. */
bool params_learn_none(const oif_params *options);

/* The word that a parameter has as its value; "": there is no such parameter. */
const char *params_word(const oif_params *params, const char *name);

/* "64", "paper": a value as the command line writes it. */
enum { PARAM_TEXT_BYTES = 40 };
const char *param_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES]);

/* "num_trees": 64, "variant": "paper" */
void params_print_json(const oif_params *params);

#endif
