/* The command line: what a command accepts is a table, what the user said is a `settings`.
 *
 * Every command has one table of options. The flags of the detector's parameters are not in it: they are made
 * from the library's own table (num_trees becomes --num-trees), so a new parameter needs no line here. */
#ifndef OIF_CLI_OPTIONS_H
#define OIF_CLI_OPTIONS_H

#include "output.h"

#include "oif.h"

struct settings {
    const char *file;    /* NULL or "-": stdin */
    const char *label;   /* the column that says which rows are anomalous; NULL: none */
    const char *columns; /* "a,b,c": the only columns to learn from; NULL: all */
    const char *exclude; /* "a,b": columns to leave out; NULL: none */
    oif_reader_options reader;
    oif_params params;
    bool is_given
        [OIF_PARAMS_MAX]; /* which of the params the command line names; the others are initial values */
    bool is_detector_given;
    bool json;
    const char *state; /* the state file; NULL: none */
    uint64_t rows_between_saves;
    double seconds_between_saves;
    size_t dimension; /* numbers in a row, for what does not read any */
};

struct option {
    const char *name;     /* without the dashes */
    const char *argument; /* what --help calls its value; NULL for a switch */
    const char *help;     /* one line */
    /* Puts the value into the settings. Returns NULL, or what the value should have been. */
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
    bool takes_params; /* --detector and the flags of its parameters */
    exit_code (*run)(const struct settings *settings);
};

extern const struct command score_command;
extern const struct command eval_command;
extern const struct command demo_command;
extern const struct command inspect_command;
extern const struct command detectors_command;

/* Runs a command with the arguments after its name; the array ends with NULL. */
exit_code command_run(const struct command *command, char **arguments);

/* The detector that the settings ask for, for rows of `dimension` numbers. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code settings_make_detector(const struct settings *settings, size_t dimension, oif_detector **detector);

/* Whether what the command line says about the detector is what a state file holds; it need not say anything. Prints the
 * first contradiction unless it returns EXIT_OK. */
exit_code settings_compare_params(const struct settings *settings, const oif_params *held, const char *file);

/* "64", "paper": a value as it stands on the command line. */
enum { PARAM_TEXT_BYTES = 40 };
const char *param_text(const oif_param *param, double value, char text[PARAM_TEXT_BYTES]);

/* "num_trees": 64, "variant": "paper" */
void print_json_params(const oif_params *params);

/* The values of options that several commands share. */
const char *set_label(struct settings *settings, const char *value);
const char *set_columns(struct settings *settings, const char *value);
const char *set_exclude(struct settings *settings, const char *value);
const char *set_header(struct settings *settings, const char *value);
const char *set_no_header(struct settings *settings, const char *value);
const char *set_delimiter(struct settings *settings, const char *value);
const char *set_json(struct settings *settings, const char *value);

/* The lines every command that reads a file has in its table. */
#define INPUT_OPTIONS                                                                                        \
    {"columns", "A,B,...", "learn from these columns only", set_columns},                                    \
        {"exclude", "A,B,...", "leave these columns out, such as names and times", set_exclude},             \
        {"header", NULL, "the first line holds the names, even if they are numbers", set_header},            \
        {"no-header", NULL, "the first line is a row; columns are called x0, x1, ...", set_no_header},       \
    {                                                                                                        \
        "delimiter", "C", "what separates fields (found in the first line if not given)", set_delimiter      \
    }

#endif
