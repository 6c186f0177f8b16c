/* The command line: what a command accepts is a table, what the user said is a `settings`.
 *
 * Every command has one table of options. The flags of the detector's parameters and of the
 * pipeline's options are not in it: they are made from the library's own tables (num_trees
 * becomes --num-trees), so a new parameter needs no line here. */
#ifndef OIF_CLI_OPTIONS_H
#define OIF_CLI_OPTIONS_H

#include "output.h"

#include "oif_rows.h"

/* What `oif generate` is asked for; 0 where its own value is as good as any. */
struct generate_settings {
    uint64_t rows, seed;
    size_t columns;
    double share;
    bool is_share_given;
};

/* What `oif eval` is asked for besides its measures. */
struct eval_settings {
    bool all_detectors, early;
    size_t window; /* rows; 0: none */
};

/* What happens to a row that cannot be read. */
enum on_bad_row { BAD_ROW_FAILS, BAD_ROW_IS_SKIPPED, BAD_ROW_IS_MENDED };

enum { DEFAULT_EXPLAIN_TOP = 3 };

enum output_format { OUTPUT_AS_INPUT, OUTPUT_CSV, OUTPUT_NDJSON };

/* What `oif score` is asked for besides its input. */
struct score_settings {
    const char *key, *time; /* columns; NULL: none */
    /* "score,p": what is added to each row; NULL: what suits the other settings */
    const char *fields;
    size_t explain_top; /* the columns that are named as the reasons of an anomaly; 0: none */
    bool only_alerts, alert_once, skip_seen, watch;
    enum on_bad_row on_bad_row;
    enum output_format output;
};

struct settings {
    const char *file;    /* NULL or "-": stdin */
    const char *label;   /* the column that says which rows are anomalous; NULL: none */
    const char *columns; /* "a,b,c": the only columns to learn from; NULL: all */
    const char *exclude; /* "a,b": columns to leave out; NULL: none */
    oif_reader_options reader;
    bool is_format_given;
    oif_params params;  /* of the detector */
    oif_params options; /* of the pipeline */
    /* Which of them the command line names; the others are initial values. */
    bool is_given[OIF_PARAMS_MAX], is_option_given[OIF_PARAMS_MAX];
    bool is_detector_given;
    struct score_settings score;
    bool json;
    /* as given: "a", or "a,b,c" where the command takes several; params are the first's */
    const char *detectors;
    struct generate_settings generate;
    struct eval_settings eval;
    const char *state; /* the state file; NULL: none */
    uint64_t rows_between_saves;
    double seconds_between_saves;
    size_t dimension; /* numbers in a row, for what does not read any */
};

struct option {
    const char *name; /* without the dashes */
    /* what --help calls its value; "[N]": a number, may be left out; NULL: a switch */
    const char *argument;
    const char *help; /* one line */
    /* Puts the value into the settings, NULL when it was left out. Returns NULL, or what it
     * should have been. */
    const char *(*apply)(struct settings *settings, const char *value);
};

struct command {
    const char *name;
    const char *summary;
    const char *usage;    /* what follows "oif " */
    const char *examples; /* whole lines, as --help prints them */
    const struct option *options;
    size_t option_count;
    bool takes_file;
    const char *const *words; /* what stands in the file's place: one of these, then NULL */
    bool takes_params;        /* --detector and the flags of its parameters */
    bool takes_pipeline;      /* the flags of the pipeline's options */
    bool takes_detectors;     /* several, "a,b,c" */
    bool is_hidden;           /* for those who install oif, not for those who use it */
    exit_code (*run)(const struct settings *settings);
};

extern const struct command score_command;
extern const struct command eval_command;
extern const struct command demo_command;
extern const struct command generate_command;
extern const struct command inspect_command;
extern const struct command detectors_command;
extern const struct command completions_command;
extern const struct command manual_command;

/* The commands that users see, from 0 on; NULL past the last. And examples of how to use them,
 * whole lines. */
const struct command *command_at(size_t index);
extern const char program_examples[];

/* --detector, of every command that takes parameters. */
extern const struct option detector_option;

/* num_trees -> num-trees */
enum { FLAG_NAME_BYTES = 64 };
const char *param_flag_name(const oif_param *param, char name[FLAG_NAME_BYTES]);

/* Runs a command with the arguments after its name; the array ends with NULL. */
exit_code command_run(const struct command *command, char **arguments);

/* A detector by its name, with initial parameters. Says which name may have been meant unless
 * it returns EXIT_OK. */
exit_code choose_detector(oif_params *params, const char *name, size_t name_bytes);

/* The detector that the settings ask for, for rows of `dimension` numbers. Prints what is wrong
 * unless it returns EXIT_OK. */
exit_code settings_make_detector(const struct settings *settings, size_t dimension,
                                 oif_detector **detector);

/* The same for a pipeline. */
exit_code settings_make_pipeline(const struct settings *settings, size_t columns,
                                 oif_pipeline **pipeline);

/* Whether what the command line says about the pipeline is what a state file holds; it need not
 * say anything. Prints the first contradiction unless it returns EXIT_OK. */
exit_code settings_compare(const struct settings *settings, const oif_pipeline *held,
                           const char *file);

/* Whether these options of a pipeline ask for evicted models to be kept. */
bool keeps_evicted(const oif_params *options);

/* "64", "paper": a value as it stands on the command line. */
enum { PARAM_TEXT_BYTES = 40 };
const char *param_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES]);

/* "num_trees": 64, "variant": "paper" */
void print_json_params(const oif_params *params);

/* The values of options that several commands share. */
const char *set_label(struct settings *settings, const char *value);
const char *set_key(struct settings *settings, const char *value);
const char *set_columns(struct settings *settings, const char *value);
const char *set_exclude(struct settings *settings, const char *value);
const char *set_header(struct settings *settings, const char *value);
const char *set_no_header(struct settings *settings, const char *value);
const char *set_delimiter(struct settings *settings, const char *value);
const char *set_format(struct settings *settings, const char *value);
const char *set_raw_columns(struct settings *settings, const char *value);
const char *set_json(struct settings *settings, const char *value);

/* The lines every command that reads a file has in its table. */
#define INPUT_OPTIONS                                                                              \
    {"columns", "A,B,...", "learn from these columns only", set_columns},                          \
        {"exclude", "A,B,...", "leave these columns out, such as names and times", set_exclude},   \
        {"format", "csv|ndjson|raw",                                                               \
         "of the input; raw is float64, little-endian (by file name or first byte if not given)",  \
         set_format},                                                                              \
        {"raw-columns", "N", "how many numbers a raw row has", set_raw_columns},                   \
        {"header", NULL, "the first line holds the names, even if they are numbers", set_header},  \
        {"no-header", NULL, "the first line is a row; columns are called x0, x1, ...",             \
         set_no_header},                                                                           \
    {                                                                                              \
        "delimiter", "C", "what separates fields (found in the first line if not given)",          \
            set_delimiter                                                                          \
    }

#endif
