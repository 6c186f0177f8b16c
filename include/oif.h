/* oif: find the unusual rows of a stream.
 *
 * A detector learns rows of numbers one after another and forgets old ones.
 * It gives every row a score: the higher, the more anomalous.
 * The shortest useful program (a longer one is examples/scorer.c):
 *
 *     oif_params params;
 *     oif_detector *detector = NULL;
 *     double score, row[2];
 *
 *     if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, NULL) != OIF_OK ||
 *         oif_detector_new(&params, 2, &detector, NULL) != OIF_OK)
 *         return 1;
 *     while (scanf("%lf %lf", &row[0], &row[1]) == 2)
 *         if (oif_detector_learn_score(detector, row, &score, NULL) == OIF_OK)
 *             printf("%g\n", score);
 *     oif_detector_free(detector);
 *
 * Sections of this header:
 *
 *     Status and errors       what a call returns
 *     Memory                  where the library gets it
 *     Parameters              choose a detector and its settings
 *     Detectors               learn rows, score rows
 *     Pipelines               from rows to alerts, one model per key
 *     Explanations            which columns made a row unusual
 *     Snapshots               save and load, in memory or through any stream
 *     State files             save to a file that survives a crash
 *     More keys than memory   keep evicted models on disk
 *     Incidents               episodes that begin together
 *
 * oif_rows.h, beside this header, reads rows from CSV and NDJSON.
 *
 * Rules for every function:
 *
 *   - A call that can fail returns an oif_status.
 *     When it fails, its outputs and the objects it works on are unchanged.
 *   - `error` may be NULL.
 *     A failing call fills it, a succeeding one leaves it alone.
 *   - Every call that returns an oif_status can also fail with OIF_EMEMORY,
 *     unless its comment says "Never allocates".
 *   - Pointers must not be NULL, with these exceptions:
 *     those that a comment allows; `error`; what a free or close function gets;
 *     and a key, a text or a snapshot of 0 bytes, or a block of 0 rows.
 *     A NULL name of a detector, parameter, option or file
 *     is an unknown name.
 *   - An index past the last item, such as a column,
 *     and an unknown enumerator are never used:
 *     the call fails, or returns NULL, "", false, 0 or SIZE_MAX.
 *   - Same seed and same rows give the same scores, bit for bit: on every
 *     machine and compiler, one row at a time or in blocks of any size.
 *   - The library never prints, exits or aborts.
 *     It does not read the clock, the environment or the locale.
 *   - A call uses at most OIF_STACK_BYTES of stack, callbacks not included.
 *     No single function of the library uses more than 4 KB.
 *   - An object may be used by one thread at a time.
 *     Calls that take a const object may run concurrently,
 *     except for a pipeline with keys: there even const calls
 *     run one at a time, because they may unpack a model.
 *
 * Rules for structs, so a program keeps working
 * with a newer library of the same ABI:
 *
 *   - A struct that the caller allocates never changes its size.
 *     New members take the place of `reserved`, or of unused oif_params.values.
 *   - The caller sets `reserved` to 0 in a struct that the library reads,
 *     and ignores it in a struct that the library fills.
 *   - An array element (oif_param, oif_text) never changes at all,
 *     unless it has `reserved`.
 *   - A struct that only the library creates (oif_detector_info)
 *     may grow at its end.
 *     Do not copy it and do not use its sizeof.
 */
#ifndef OIF_H
#define OIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define OIF_API __attribute__((visibility("default")))
#define OIF_MUST_CHECK __attribute__((warn_unused_result))
#else
#define OIF_API
#define OIF_MUST_CHECK
#endif

/* Discards a status that does not matter: OIF_IGNORE(oif_pipeline_save(...));
 * An unused status is a warning, with gcc even after a cast to void. */
#define OIF_IGNORE(call) ((void)((call) == OIF_OK))

/* ---- Version ---- */

/* The version of this header: what the program was compiled with. */
#define OIF_VERSION_MAJOR 0
#define OIF_VERSION_MINOR 1
#define OIF_VERSION_PATCH 0

/* One comparable number: 1.2.3 is 10203. */
#define OIF_VERSION_NUMBER (OIF_VERSION_MAJOR * 10000 + OIF_VERSION_MINOR * 100 + OIF_VERSION_PATCH)

/* The version of the running library: "0.1.0", and its OIF_VERSION_NUMBER. */
OIF_API const char *oif_version(void);
OIF_API int oif_version_number(void);

/* Increases when the same rows, parameters and seed would give results
 * that differ from earlier versions.
 * For programs that keep rows instead of models,
 * and replay them to restore the models. */
#define OIF_BEHAVIOR_NUMBER 1
OIF_API int oif_behavior_number(void);

/* ---- Status and errors ---- */

typedef enum oif_status {
    OIF_OK = 0,
    OIF_END,        /* no more rows: the input ended after a complete row */
    OIF_EPARAM,     /* a parameter is unknown or out of range, e.g. num_trees = 0 */
    OIF_EVALUE,     /* a value cannot be used, e.g. an infinity in a row */
    OIF_EMEMORY,    /* not enough memory, or a size that no machine can hold */
    OIF_EINPUT,     /* malformed input, e.g. a row with a missing field */
    OIF_EREAD,      /* the read function, or the file system, reported a failure */
    OIF_EINVARIANT, /* an invariant is broken: a bug, or memory overwritten */
    OIF_EWRITE,     /* the write function, or the file system, reported a failure */
    OIF_EKIND,      /* the bytes are not a snapshot, or a snapshot of something else */
    OIF_EVERSION,   /* the snapshot was written by a newer version of oif */
    OIF_ETRUNCATED, /* the snapshot is truncated */
    OIF_ECORRUPT,   /* the snapshot is damaged */
    OIF_EBUSY       /* another program holds the state file */
} oif_status;

/* Why a call failed, more exactly than its status.
 * Programs decide by the status and the cause:
 * any version may change the words of a message.
 *
 * A cause keeps its number and its name.
 * A newer library may have more of them: treat an unknown number
 * as OIF_CAUSE_NONE. */
typedef enum oif_cause {
    OIF_CAUSE_NONE = 0, /* the status says it all */

    /* Parameters, columns and keys */
    OIF_CAUSE_UNKNOWN_PARAMETER = 1, /* there is no parameter of this name */
    OIF_CAUSE_PARAMETER_RANGE = 2,   /* a value is out of range, or not one of the words */
    OIF_CAUSE_UNKNOWN_DETECTOR = 3,  /* there is no detector of this name */
    OIF_CAUSE_UNKNOWN_COLUMN = 4,    /* there is no column of this name or number */
    OIF_CAUSE_UNKNOWN_KEY = 5,       /* the pipeline has no such key */
    OIF_CAUSE_KEY_TOO_LONG = 6,      /* a key is longer than OIF_KEY_MAX_BYTES */
    OIF_CAUSE_BAD_RULE = 7,          /* a line is not a rule */
    OIF_CAUSE_UNKNOWN_EPISODE = 8,   /* the key has no such past episode, or no longer */
    OIF_CAUSE_NO_EPISODES_KEPT = 9,  /* the pipeline keeps no past episodes */

    /* Rows */
    OIF_CAUSE_INFINITE_VALUE = 20,     /* a value or a time is infinite */
    OIF_CAUSE_NOT_A_NUMBER = 21,       /* text, an object or an array where a number must be;
                                        * 22 is not used */
    OIF_CAUSE_DECIMAL_COMMA = 23,      /* 1,5 where the decimal sign is the point */
    OIF_CAUSE_DECIMAL_POINT = 24,      /* 1.5 where the decimal sign is the comma */
    OIF_CAUSE_TOO_FEW_FIELDS = 25,     /* a row is short */
    OIF_CAUSE_TOO_MANY_FIELDS = 26,    /* a row is long */
    OIF_CAUSE_TRAILING_DELIMITER = 27, /* too many, as a delimiter ends the row: 1,2, */
    OIF_CAUSE_COMMENT = 28,            /* a bad row begins with # and may be a comment */
    OIF_CAUSE_OPEN_QUOTE = 29,         /* a quote is never closed */
    OIF_CAUSE_LINE_TOO_LONG = 30,      /* a line, or a quoted field, is too long */
    OIF_CAUSE_BAD_JSON = 31,           /* a line is not a JSON object */
    OIF_CAUSE_NUL_BYTES = 32,          /* a line has NUL bytes, as after a power cut */
    OIF_CAUSE_NOT_TEXT = 33,           /* the input is UTF-16 or binary */
    OIF_CAUSE_NOT_A_TIME = 34,         /* a text is not a time */
    OIF_CAUSE_DAY_ORDER = 36,          /* a date has the day where others have the month */

    /* Snapshots */
    OIF_CAUSE_NOT_A_SNAPSHOT = 40,        /* other bytes */
    OIF_CAUSE_DETECTOR_SNAPSHOT = 41,     /* a detector's, but another kind was expected */
    OIF_CAUSE_PIPELINE_SNAPSHOT = 42,     /* a pipeline's, but another kind was expected */
    OIF_CAUSE_KEY_SNAPSHOT = 43,          /* a single key's, but another kind was expected */
    OIF_CAUSE_NEWER_SNAPSHOT = 44,        /* a newer version of oif wrote it */
    OIF_CAUSE_TRUNCATED_SNAPSHOT = 45,    /* its end is missing */
    OIF_CAUSE_WRONG_CHECKSUM = 46,        /* its bytes have changed */
    OIF_CAUSE_INCONSISTENT_SNAPSHOT = 47, /* its checksums match, but its content is impossible */

    /* Memory and files */
    OIF_CAUSE_MEMORY = 60,      /* out of memory, or a size that no machine can hold */
    OIF_CAUSE_SYSTEM = 61,      /* a system call failed; system_errno says how */
    OIF_CAUSE_FILE_IN_USE = 62, /* another program holds the state file */
    OIF_CAUSE_NOT_BUILT = 63    /* this library was built without threads, or without files */
} oif_cause;

/* The size of an error message, including its NUL.
 * Longer messages are truncated. */
enum { OIF_ERROR_MESSAGE_BYTES = 240 };

/* What went wrong and where.
 *
 * line and column count from 1; 0 means unknown.
 * Their meaning depends on the call:
 *
 *     reading text        line and byte of the input
 *     a block of rows     row and column of the block
 *     deriving columns    column: position in the list
 *     loading, saving     column: the last byte that was read or written
 *
 * With OIF_CAUSE_SYSTEM, system_errno is the errno of the call that failed,
 * such as ENOSPC; else 0. */
typedef struct oif_error {
    oif_status status;
    uint64_t line;
    uint64_t column;
    char message[OIF_ERROR_MESSAGE_BYTES];
    oif_cause cause;
    int system_errno;
    uint64_t reserved[3];
} oif_error;

/* A short text for the status: "out of memory". */
OIF_API const char *oif_status_text(oif_status status);

/* The name of a cause: "not_a_number" for OIF_CAUSE_NOT_A_NUMBER.
 * "" for OIF_CAUSE_NONE, and for unknown numbers. */
OIF_API const char *oif_cause_name(oif_cause cause);

/* ---- Memory ---- */

/* The stack that a call needs, in bytes, including the C library below it:
 * for programs that size the stacks of their threads.
 * Measured with gcc and clang at -O2 and -O3 on x86-64;
 * without optimisation, or with sanitizers, a call needs more. */
enum { OIF_STACK_BYTES = 24 * 1024 };

/* The alignment of everything the library allocates, in bytes. */
enum { OIF_MEMORY_ALIGNMENT = 64 };

/* The source of the library's memory: set both functions or neither.
 * `allocate` returns `bytes` bytes with this alignment, or NULL,
 * which becomes OIF_EMEMORY.
 * `release` gets what `allocate` returned, never NULL. */
typedef struct oif_allocator {
    void *(*allocate)(void *context, size_t alignment, size_t bytes);
    void (*release)(void *context, void *memory);
    void *context;
    uint64_t reserved[2];
} oif_allocator;

/* Sets the allocator; NULL: aligned_alloc and free, the default.
 * It applies to the whole program: call it before any other function,
 * and before other threads exist.
 * An object must be freed with the allocator that it was created with. */
OIF_API void oif_set_allocator(const oif_allocator *allocator);

/* ---- Parameters ---- */

typedef enum oif_param_type {
    OIF_PARAM_INTEGER, /* a whole number */
    OIF_PARAM_REAL,    /* any finite number in the range */
    OIF_PARAM_CHOICE   /* one of a few words; its value is the word's position in `choices` */
} oif_param_type;

/* The description of one parameter.
 * Command-line flags, Python keywords
 * and manual pages are generated from it. */
typedef struct oif_param {
    const char *name; /* "num_trees"; --num-trees on the command line */
    const char *help; /* one line */
    oif_param_type type;
    double minimum, maximum;    /* inclusive; for a choice 0 and the last position */
    double initial;             /* the value that oif_params_init sets */
    const char *const *choices; /* for a choice: its words, then NULL */
} oif_param;

/* The parameters of a detector, or the options of a pipeline. */
typedef struct oif_param_table {
    const char *name;    /* "rolling-iforest"; "pipeline" for options */
    const char *summary; /* one line */
    const oif_param *params;
    size_t param_count;
    uint64_t reserved[2];
} oif_param_table;

/* The description of a detector. */
typedef struct oif_detector_info {
    oif_param_table table; /* its name, summary and parameters */
    const char *paper;     /* the source of the method */
    const char *cost;      /* time per row, by the parameters and d, the number of columns */
    const char *choose;    /* when to choose it */
} oif_detector_info;

/* The detector to start with; also the default of the tool
 * and the Python package. */
#define OIF_DEFAULT_DETECTOR "rolling-iforest"

/* The detectors of this library.
 * oif_detector_info_at counts from 0, the default,
 * and returns NULL past the last.
 * oif_detector_info_find takes a name and returns NULL if it is unknown. */
OIF_API const oif_detector_info *oif_detector_info_at(size_t index);
OIF_API const oif_detector_info *oif_detector_info_find(const char *name);

/* The capacity of oif_params. No table has more parameters. */
enum { OIF_PARAMS_MAX = 48 };

/* A value for each parameter of a table. A plain value: copy it freely.
 *
 * Fill it with oif_params_init (a detector)
 * or oif_pipeline_options_init (a pipeline).
 * A call that expects one of these rejects the other,
 * a zeroed one and NULL with OIF_EPARAM.
 * Exception: NULL as the options of a pipeline means initial values. */
typedef struct oif_params {
    const oif_param_table *table;
    double values[OIF_PARAMS_MAX]; /* in the order of table->params; the rest is 0 */
} oif_params;

/* The most detectors that can judge together. */
enum { OIF_TOGETHER_MAX = 4 };

/* Chooses a detector by name and sets every parameter to its initial value.
 *
 * "rolling-iforest+sdo" is a list of up to OIF_TOGETHER_MAX detectors
 * that judge together, in pipelines only.
 * It has the parameters of all its detectors, and one seed.
 * If two detectors share another parameter name, that of the later one
 * gets a prefix: sdo_window_size.
 * Allocates only when a list is named for the first time.
 *
 * The parameter "seed" is a double like all others:
 * a whole number from 0 to 2^53.
 *
 * OIF_EPARAM   there is no such detector (the message lists them),
 *              or the list has duplicates or too many detectors */
OIF_API OIF_MUST_CHECK oif_status oif_params_init(oif_params *params, const char *detector,
                                                  oif_error *error);

/* Sets one parameter, as a number or as text ("64", "paper"). Never allocates.
 *
 * OIF_EPARAM   the name is unknown
 *              the value is not allowed; the message says what is */
OIF_API OIF_MUST_CHECK oif_status oif_params_set(oif_params *params, const char *name, double value,
                                                 oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_params_set_text(oif_params *params, const char *name,
                                                      const char *text, oif_error *error);

/* Gets the value of a parameter. Never allocates.
 *
 * OIF_EPARAM   the name is unknown */
OIF_API OIF_MUST_CHECK oif_status oif_params_get(const oif_params *params, const char *name,
                                                 double *value, oif_error *error);

/* ---- Detectors: create and free ---- */

typedef struct oif_detector oif_detector;

/* The most columns of a row. */
#define OIF_COLUMNS_MAX (UINT32_MAX / 4)

/* Total memory the detector would use, in bytes.
 * A detector allocates nothing after its creation except column names.
 * Never allocates.
 *
 * OIF_EPARAM    as oif_detector_new
 * OIF_EMEMORY   the size does not fit a size_t */
OIF_API OIF_MUST_CHECK oif_status oif_detector_estimate_bytes(const oif_params *params,
                                                              size_t columns, size_t *bytes,
                                                              oif_error *error);

/* Creates a detector for rows of `columns` numbers.
 * Free it with oif_detector_free.
 *
 * OIF_EPARAM   columns is 0 or more than OIF_COLUMNS_MAX
 *              the parameters do not fit together
 *              params is NULL, zeroed, or holds the options of a pipeline */
OIF_API OIF_MUST_CHECK oif_status oif_detector_new(const oif_params *params, size_t columns,
                                                   oif_detector **detector, oif_error *error);

/* Creates a detector in the caller's memory, aligned to OIF_MEMORY_ALIGNMENT.
 * oif_detector_estimate_bytes returns its size.
 * Free it with oif_detector_free, which does not free the memory;
 * the memory must live until then.
 * Never allocates.
 *
 * OIF_EPARAM   as oif_detector_new
 *              the memory is too small or not aligned;
 *              the message says how much is needed */
OIF_API OIF_MUST_CHECK oif_status oif_detector_init(void *memory, size_t memory_bytes,
                                                    const oif_params *params, size_t columns,
                                                    oif_detector **detector, oif_error *error);

/* Copies a detector and everything it has learned.
 * Given the same rows, both return the same scores.
 * The copy uses one thread. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_clone(const oif_detector *detector,
                                                     oif_detector **copy, oif_error *error);

/* Frees a detector. NULL is accepted. */
OIF_API void oif_detector_free(oif_detector *detector);

/* ---- Detectors: one row ---- */

/* Learns one row.
 * Once the window is full, the oldest row is forgotten.
 * NaN means that a value is missing. Never allocates.
 *
 * OIF_EVALUE   a value is infinite; error->column says which */
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn(oif_detector *detector, const double *row,
                                                     oif_error *error);

/* Scores one row without learning it. Never allocates.
 *
 * OIF_EVALUE   as oif_detector_learn */
OIF_API OIF_MUST_CHECK oif_status oif_detector_score(const oif_detector *detector,
                                                     const double *row, double *score,
                                                     oif_error *error);

/* Learns one row, then scores it:
 * the order of the Online Isolation Forest paper.
 * Never allocates.
 *
 * OIF_EVALUE   as oif_detector_learn */
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn_score(oif_detector *detector,
                                                           const double *row, double *score,
                                                           oif_error *error);

/* Scores one row, then learns it: the prequential order,
 * in which a row does not lower its own score.
 * The same bits as oif_detector_score, then oif_detector_learn,
 * at the cost of oif_detector_learn_score.
 * Never allocates.
 *
 * OIF_EVALUE   as oif_detector_learn */
OIF_API OIF_MUST_CHECK oif_status oif_detector_score_learn(oif_detector *detector,
                                                           const double *row, double *score,
                                                           oif_error *error);

/* Forgets all rows: the detector is as newly created.
 * Column names and threads stay. Never allocates. */
OIF_API void oif_detector_reset(oif_detector *detector);

/* ---- Detectors: blocks of rows ---- */

/* Learns or scores `count` rows, or does both. Never allocates.
 * Row i starts at rows[i * stride]; stride is at least the number of columns.
 * The results are the same as for single rows, bit for bit.
 *
 * OIF_EVALUE   a value is infinite; error->line is the row,
 *              error->column the column; no row is learned or scored
 * OIF_EPARAM   there are several rows, and stride is less
 *              than the number of columns */
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn_rows(oif_detector *detector,
                                                          const double *rows, size_t count,
                                                          size_t stride, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_score_rows(const oif_detector *detector,
                                                          const double *rows, size_t count,
                                                          size_t stride, double *scores,
                                                          oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn_score_rows(oif_detector *detector,
                                                                const double *rows, size_t count,
                                                                size_t stride, double *scores,
                                                                oif_error *error);

OIF_API OIF_MUST_CHECK oif_status oif_detector_score_learn_rows(oif_detector *detector,
                                                                const double *rows, size_t count,
                                                                size_t stride, double *scores,
                                                                oif_error *error);

/* The most threads that can share the work on a block,
 * including the calling thread. */
enum { OIF_THREADS_MAX = 16 };

/* Sets how many threads share the work on blocks of rows:
 * 1 to OIF_THREADS_MAX, initially 1.
 * The results stay the same, bit for bit.
 * Useful for blocks of a few hundred rows or more.
 *
 * OIF_EPARAM    the number is out of range
 * OIF_EMEMORY   the threads could not be started */
OIF_API OIF_MUST_CHECK oif_status oif_detector_set_threads(oif_detector *detector, unsigned threads,
                                                           oif_error *error);

/* ---- Detectors: questions ---- */

/* Whether enough rows were learned for meaningful scores.
 * Do not raise alerts before that. */
OIF_API bool oif_detector_ready(const oif_detector *detector);

/* The parameters it was created with. */
OIF_API const oif_params *oif_detector_params(const oif_detector *detector);

/* The columns of its rows. */
OIF_API size_t oif_detector_columns(const oif_detector *detector);

/* The rows learned so far. */
OIF_API uint64_t oif_detector_rows_learned(const oif_detector *detector);

/* The memory it uses, in bytes. */
OIF_API size_t oif_detector_memory_bytes(const oif_detector *detector);

/* Reports figures about the learned state, such as leaves and their depths.
 * Calls `report` with the name and the value of each. */
typedef void (*oif_describe_function)(void *context, const char *name, double value);
OIF_API void oif_detector_describe(const oif_detector *detector, oif_describe_function report,
                                   void *context);

/* Verifies every invariant of the detector's structure. Slow; meant for tests.
 * Never allocates.
 *
 * OIF_EINVARIANT   the message names the broken one:
 *                  "tree 3: an inner height is under its threshold" */
OIF_API OIF_MUST_CHECK oif_status oif_detector_check(const oif_detector *detector,
                                                     oif_error *error);

/* ---- Detectors: names of columns ---- */

/* The most bytes of all names of an object together, including a NUL each. */
enum { OIF_COLUMN_NAMES_MAX_BYTES = 16 << 20 };

/* Names the columns (the names are copied), or removes the names
 * if `names` is NULL.
 * Names do not affect scores.
 * Clones and snapshots keep them, so a program
 * that resumes a detector can verify its input.
 *
 * OIF_EVALUE   the names are longer than OIF_COLUMN_NAMES_MAX_BYTES,
 *              or one of them is NULL; error->column says which */
OIF_API OIF_MUST_CHECK oif_status oif_detector_name_columns(oif_detector *detector,
                                                            const char *const *names,
                                                            oif_error *error);

/* The name of a column, counted from 0;
 * NULL if the columns have no names, or there is no such column.
 * Valid until the columns are named again. */
OIF_API const char *oif_detector_column_name(const oif_detector *detector, size_t column);

/* ---- Pipelines: from rows to alerts ---- */

/* A pipeline turns rows into results that a program can act on. For each row it
 *
 *   - finds the model of the row's key, such as a host;
 *   - joins the row with the ones before it into a shingle, if asked to;
 *   - scores it, and compares how its values moved with how they usually move;
 *   - decides whether the row is anomalous and whether to learn it.
 *
 *     oif_params params, options;
 *     oif_pipeline *pipeline = NULL;
 *     oif_result result;
 *
 *     oif_pipeline_options_init(&options);
 *     if (oif_params_init(&params, OIF_DEFAULT_DETECTOR, NULL) != OIF_OK ||
 *         oif_params_set(&options, "alert_rate", 0.01, NULL) != OIF_OK ||
 *         oif_pipeline_new(&params, 2, &options, &pipeline, NULL) != OIF_OK)
 *         return 1;
 *     while (next_row(host, row))
 *         if (oif_pipeline_process(pipeline, host, strlen(host), row, &result, NULL) == OIF_OK &&
 *             result.anomaly)
 *             printf("%s: %s\n", host, result.grade == OIF_GRADE_CRITICAL ? "page" : "log");
 *     oif_pipeline_free(pipeline);
 */
typedef struct oif_pipeline oif_pipeline;

/* Sets every option to its initial value.
 * Change options with oif_params_set. options->table lists them. */
OIF_API void oif_pipeline_options_init(oif_params *options);

/* Creates a pipeline for rows of `columns` numbers.
 * Free it with oif_pipeline_free.
 * `params` are those of its detectors,
 * which get rows of shingle x columns numbers.
 * If `options` is NULL, every option has its initial value.
 *
 * OIF_EPARAM   parameters or options do not fit together
 *              params is not from oif_params_init
 *              options is not from oif_pipeline_options_init */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_new(const oif_params *params, size_t columns,
                                                   const oif_params *options,
                                                   oif_pipeline **pipeline, oif_error *error);

/* Creates a pipeline around a detector, which may already have learned rows:
 * history first, then live rows.
 * The pipeline has the detector's parameters, its columns divided
 * by the option shingle, and its column names unless rows are shingles.
 * The detector becomes that of the key, which may be NULL and 0
 * as in oif_pipeline_process.
 * The pipeline takes ownership, and `*detector` becomes NULL.
 * Anomalies are found after 48 more rows.
 *
 * OIF_EPARAM   its columns are not those of a shingle of that many rows
 * others       as oif_pipeline_new; the caller still owns the detector */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_new_around(oif_detector **detector,
                                                          const oif_params *options,
                                                          const char *key, size_t key_bytes,
                                                          oif_pipeline **pipeline,
                                                          oif_error *error);

/* Copies a pipeline, with the models in memory. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_clone(const oif_pipeline *pipeline,
                                                     oif_pipeline **copy, oif_error *error);

/* Frees a pipeline. NULL is accepted. */
OIF_API void oif_pipeline_free(oif_pipeline *pipeline);

/* ---- Pipelines: rows ---- */

/* Anomalies in close succession are one episode. */
typedef enum oif_episode {
    OIF_EPISODE_NONE,
    OIF_EPISODE_BEGINS, /* with this row, which is anomalous */
    OIF_EPISODE_LASTS,
    OIF_EPISODE_ENDS /* this row is the last of 16 rows without an anomaly */
} oif_episode;

/* The lowest severities of two grades. */
#define OIF_WARNING_SEVERITY 3.3
#define OIF_CRITICAL_SEVERITY 4.0

/* How bad an anomaly is, by its severity.
 * A program can page a person for some and log the others. */
typedef enum oif_grade {
    OIF_GRADE_NONE,    /* not an anomaly */
    OIF_GRADE_NOTE,    /* severity above 2.8 */
    OIF_GRADE_WARNING, /* OIF_WARNING_SEVERITY or more */
    OIF_GRADE_CRITICAL /* OIF_CRITICAL_SEVERITY or more */
} oif_grade;

/* Rows of a key before the first that may be anomalous,
 * and rows without an anomaly that end an episode. */
enum { OIF_FIRST_ROWS = 48, OIF_CALM_ROWS = 16 };

/* What is unusual about a row. */
typedef enum oif_reason {
    OIF_REASON_VALUES,      /* its values: a detector gives it a high score */
    OIF_REASON_JUMP,        /* a column has changed unusually much since the rows before */
    OIF_REASON_LEVEL,       /* a column has left its level, for some time */
    OIF_REASON_SPREAD,      /* the last rows are unusually far from their levels */
    OIF_REASON_STUCK,       /* a column repeats one value for longer than it usually does */
    OIF_REASON_MISSING,     /* a column has no value for longer than it usually has none */
    OIF_REASON_SEASON,      /* a value is unlike those at the same time of earlier periods */
    OIF_REASON_PARTNER,     /* a column no longer follows its partner */
    OIF_REASON_SILENCE,     /* the row came after a pause longer than any before */
    OIF_REASON_NEW_VALUE,   /* a category has an unknown value */
    OIF_REASON_RARE_VALUE,  /* a category has an unusually rare value */
    OIF_REASON_FIRST_VALUE, /* a column that was always missing has a value */
    OIF_REASONS             /* their number */
} oif_reason;

/* The result of one row. */
typedef struct oif_result {
    /* What the detector says: the higher, the more anomalous;
     * NaN while a shingle has too few rows. With a list of detectors,
     * whose scores have no common scale, their severity. */
    double score;
    double threshold; /* higher severities are anomalous; +infinity until ready */
    bool anomaly;
    bool ready;        /* 48 rows of its key came before; until then nothing is anomalous */
    bool learned;      /* the row was learned: it is part of what is normal now */
    bool has_no_model; /* the limits left no space for a model of this key: the score is NaN */
    oif_episode episode;
    oif_grade grade;
    /* How rare such evidence is over recorded series of many kinds:
     * one unit more is about a tenth as frequent. 0 until ready. */
    double severity;
    oif_reason reason;
    uint32_t detector;       /* with OIF_REASON_VALUES: which detector of a list decided */
    double pause;            /* seconds since the previous row of its key; NaN if unknown */
    uint32_t rule;           /* the rule that held back the alert or the row, from 1; 0: none */
    oif_grade episode_grade; /* the worst of the episode's earlier rows; none when it begins */
    uint64_t reserved[1];
} oif_result;

/* The longest key in bytes. */
enum { OIF_KEY_MAX_BYTES = 64 * 1024 };

/* Processes one row.
 * Each key, `key_bytes` bytes of any kind, has its own model.
 * Without keys pass NULL and 0. A new key gets a new model.
 * Once max_keys or memory_limit is reached, a new key replaces an overdue one,
 * a key that was not seen for several times its usual gap.
 * If no key is overdue, rows of new keys get no score: has_no_model.
 * A key that was evicted earlier gets its old model back
 * if it was kept (see "More keys than memory").
 *
 * OIF_EVALUE    a value is infinite, or the key is longer
 *               than OIF_KEY_MAX_BYTES; the row is ignored
 * OIF_EMEMORY   for a new key, or while models grow:
 *               a model takes memory as it learns.
 *               The row was not processed; it can be passed again.
 *               With few keys, or once they have learned enough,
 *               rows never allocate */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_process(oif_pipeline *pipeline, const char *key,
                                                       size_t key_bytes, const double *row,
                                                       oif_result *result, oif_error *error);

/* The same for a row with a time, in seconds since 1970; NaN if unknown.
 * Rows of one stream should be in order of time, or nearly.
 *
 * OIF_EVALUE   also: the time is infinite */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_process_at(oif_pipeline *pipeline, const char *key,
                                                          size_t key_bytes, double seconds,
                                                          const double *row, oif_result *result,
                                                          oif_error *error);

/* Processes `count` rows in order.
 * Row i starts at rows[i * stride]; stride is at least the number of columns.
 * The results are the same as for single rows, bit for bit.
 *
 *   - `keys` may be NULL; else keys[i] has key_bytes[i] bytes.
 *     If `key_bytes` is NULL, keys are NUL-terminated.
 *   - `seconds` may be NULL; else seconds[i] is the time of row i.
 *   - results[i] is the result of row i.
 *   - If rows of many keys take turns, give thousands at once:
 *     the rows of each key are processed together, which is faster.
 *     With a limit on memory this holds for large models only.
 *   - `*done` becomes the number of rows processed.
 *     The first failure ends the call: the rows before it were processed,
 *     it and those after it were not.
 *
 * OIF_EPARAM   stride is too small; no row was processed
 * others       as oif_pipeline_process_at; error->line is the row,
 *              error->column the column */
OIF_API OIF_MUST_CHECK oif_status
oif_pipeline_process_rows(oif_pipeline *pipeline, const double *rows, size_t count, size_t stride,
                          const char *const *keys, const size_t *key_bytes, const double *seconds,
                          oif_result *results, size_t *done, oif_error *error);

/* Called after each row of oif_pipeline_process_rows_with,
 * on the thread that processed it.
 * Meanwhile other threads process rows of other keys.
 * Until it returns, it may ask `pipeline` about this row:
 * oif_pipeline_explain, oif_pipeline_episode of its key,
 * oif_pipeline_learned_row and oif_pipeline_recent_key. */
typedef void (*oif_row_function)(void *context, oif_pipeline *pipeline, size_t row,
                                 const oif_result *result);

/* As oif_pipeline_process_rows, but calls `after` (may be NULL)
 * for each row that was processed.
 * With one thread rows are then processed in their order,
 * which takes longer if keys take turns. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_process_rows_with(
    oif_pipeline *pipeline, const double *rows, size_t count, size_t stride,
    const char *const *keys, const size_t *key_bytes, const double *seconds, oif_row_function after,
    void *context, oif_result *results, size_t *done, oif_error *error);

/* The fewest and the most rows of a table. */
enum { OIF_TABLE_ROWS_MIN = 20, OIF_TABLE_ROWS_MAX = 1 << 20 };

/* How sure the judgement of a table is. */
typedef struct oif_table_info {
    uint64_t rows;
    uint64_t anomalies;
    double chance; /* in a table without anomalies, at most this share of rows looks like one */
    uint64_t reserved[5];
} oif_table_info;

/* Judges a finished table: all its rows are known.
 * A stream needs 48 rows before its first alert.
 * A table of 40 rows gets an answer,
 * because each row is compared with all others, before and after it:
 *
 *   - A row is scored by detectors that have learned other rows, not this one.
 *   - The tail of the scores says how rare a score is among these rows;
 *     info->chance says how sure that can be.
 *   - How values usually move is known from all rows
 *     before the first is judged.
 *   - `after` and the results are those of oif_pipeline_process_rows_with,
 *     in the order of the rows. `after` may be NULL.
 *   - The pipeline, which must not have processed a row,
 *     has then learned the table, and later rows continue the stream.
 *   - The table has no keys. It costs some 25 times the time of a stream.
 *     Use it for up to a few thousand rows.
 *
 * OIF_EPARAM   the pipeline has processed rows, or has learn=none or alerts;
 *              or there are too few or too many rows;
 *              or stride is less than the number of columns
 * OIF_EVALUE   a value or a time is infinite; error->line is the row */
OIF_API OIF_MUST_CHECK oif_status
oif_pipeline_process_table(oif_pipeline *pipeline, const double *rows, size_t count, size_t stride,
                           const double *seconds, oif_row_function after, void *context,
                           oif_result *results, oif_table_info *info, oif_error *error);

/* Sets how many threads share the rows of oif_pipeline_process_rows,
 * each the rows of some keys: 1 to OIF_THREADS_MAX, initially 1.
 * The results and the snapshots stay the same, bit for bit.
 * Useful for blocks of a few hundred rows of several keys.
 * Processed in sequence: rows of new keys, of keys with packed models,
 * and all rows with the option `alerts`.
 *
 * OIF_EPARAM    the number is out of range
 * OIF_EMEMORY   the threads could not be started */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_set_threads(oif_pipeline *pipeline, unsigned threads,
                                                           oif_error *error);

/* ---- Pipelines: derived columns ---- */

/* What is learned instead of a column, or in addition to it.
 * A value that cannot be computed is missing, never infinite. */
typedef enum oif_derive {
    OIF_DERIVE_NONE,    /* the column itself */
    OIF_DERIVE_DIFF,    /* the value minus that of the previous row */
    OIF_DERIVE_RATE,    /* the increase of a counter per second since its last known value */
    OIF_DERIVE_LOG,     /* the natural logarithm; missing for values not above 0 */
    OIF_DERIVE_CATEGORY /* 0, or missing; the rarity of the value is judged beside the detectors */
} oif_derive;

/* Learns a derived column in place of a column or, with `keep`, after it.
 * Call it before the first row, once per derived column;
 * several may come from one column.
 * Each key has its own previous values.
 * The columns of the input rows stay the same.
 *
 *   - The first value of a key is missing.
 *     A diff is also missing before and after a missing value.
 *   - A rate is missing unless the time has advanced.
 *     Rows without value or time are skipped.
 *     Until a row of a key has a time, a rate is per row.
 *   - A counter that falls was reset to 0, so the new value is the increase.
 *   - A category has numbers that represent names;
 *     oif_category makes them from texts.
 *     A row is an anomaly, with OIF_REASON_NEW_VALUE
 *     or OIF_REASON_RARE_VALUE, if values as rare as its own
 *     make up less than one row in 1,260.
 *     If most values are new, a new value is not an anomaly.
 *     Each key has its own counts: up to 256 values per column in 3 KB;
 *     beyond that, the rarest are forgotten.
 *     A category cannot also be kept or derived in another way.
 *
 * OIF_EPARAM   no such column or kind, or a duplicate
 *              rows were already processed, or evicted models are already kept
 *              memory_limit is too small for the resulting models */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_derive(oif_pipeline *pipeline, size_t column,
                                                      oif_derive kind, bool keep, oif_error *error);

/* The same for many columns, in the time of one.
 * After a failure nothing is derived;
 * error->column is the position of the rejected derivation, from 1, or 0. */
typedef struct oif_derive_column {
    size_t column;
    oif_derive kind;
    bool keep;
} oif_derive_column;
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_derive_all(oif_pipeline *pipeline,
                                                          const oif_derive_column *derived,
                                                          size_t count, oif_error *error);

/* Adds columns to a pipeline that may have processed rows.
 * They come after the others.
 * Each model continues as if they had been missing in all rows so far,
 * so the scores of rows that lack them do not change at once:
 *
 *   - The first value in a new column is reported once,
 *     as a note with OIF_REASON_FIRST_VALUE.
 *   - Detectors and judges learn the new columns as rows come;
 *     after 48 to some hundred rows they judge them, too.
 *   - `names`: one per new column if the columns have names, otherwise NULL.
 *   - `derived`: what is derived from new columns, as oif_pipeline_derive;
 *     their numbers follow those of the columns before.
 *   - A detector for which oif_detector_adds_columns is false
 *     learns from the start again, and does not alert until it is ready.
 *
 * It copies all models, so it takes the time and the memory of a clone;
 * add several columns with one call.
 *
 * OIF_EPARAM    a name is missing or taken, no such new column to derive from,
 *               evicted models are kept in a file,
 *               memory_limit is too small for the wider models,
 *               or there would be more than OIF_COLUMNS_MAX columns
 * OIF_EMEMORY   in either case nothing has changed */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_add_columns(oif_pipeline *pipeline, size_t count,
                                                           const char *const *names,
                                                           const oif_derive_column *derived,
                                                           size_t derived_count, oif_error *error);

/* Whether a detector, or each of a list, keeps what it has learned
 * when a pipeline gets more columns. */
OIF_API bool oif_detector_adds_columns(const oif_params *params);

/* A number that represents a text, for a column that is a category:
 * a whole number of 53 bits, the same on every machine and in every version.
 * NaN, a missing value, for an empty text. */
OIF_API double oif_category(const char *text, size_t bytes);

/* The number of learned columns, which is also the number of attributions.
 * They are in the order of the columns that they are derived from;
 * derived ones in the order of the calls. */
OIF_API size_t oif_pipeline_learned_columns(const oif_pipeline *pipeline);

/* The column that a learned column is derived from, and how.
 * SIZE_MAX and OIF_DERIVE_NONE if there is no such learned column. */
OIF_API size_t oif_pipeline_learned_from(const oif_pipeline *pipeline, size_t learned_column,
                                         oif_derive *kind);

/* The last processed row as it was learned; NULL if there is none.
 * Valid until the next row. */
OIF_API const double *oif_pipeline_learned_row(const oif_pipeline *pipeline);

/* "diff", "rate", "log", "category"; "" for others. */
OIF_API const char *oif_derive_word(oif_derive kind);

/* ---- Pipelines: episodes ---- */

#define OIF_UNKNOWN_COLUMN UINT32_MAX

/* An episode of anomalies. Times are NaN if unknown. */
typedef struct oif_episode_info {
    uint64_t number;      /* among the episodes of its key, from 1 */
    uint64_t first_row;   /* among the rows of its key, from 1 */
    double first_seconds; /* the time of that row */
    double last_seconds;  /* the time of its last row so far */
    uint64_t rows;        /* from the first to the last, including calm ones */
    uint64_t anomalies;   /* among these rows */
    bool is_over;
    uint8_t reserved_8[3];
    oif_grade peak_grade; /* of its worst row, the one with the highest severity */
    uint64_t peak_row;
    double peak_score, peak_severity;
    /* Why that row is anomalous, if oif_pipeline_explain was called right after it. */
    uint32_t column;   /* with the highest share; OIF_UNKNOWN_COLUMN: unknown */
    int32_t direction; /* as in oif_attribution */
    double value;      /* of that column; NaN if missing */
    oif_reason reason;
    /* With OIF_REASON_PARTNER: the column it no longer follows. OIF_UNKNOWN_COLUMN for other
     * reasons, and once the model has given up the link between the two. */
    uint32_t partner;
    double size, usual; /* as in oif_attribution */
    uint64_t reserved[1];
} oif_episode_info;

/* The current episode of a key, or else its last one.
 * Returns false if it never had one, or if the key has no model in memory.
 * To know the reason for an episode, explain each row that becomes its worst:
 *
 *     if (result.anomaly && oif_pipeline_episode(pipeline, key, bytes, &episode) &&
 *         episode.peak_row == episode.first_row + episode.rows - 1)
 *         oif_pipeline_explain(pipeline, attributions);
 */
OIF_API bool oif_pipeline_episode(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                  oif_episode_info *episode);

/* ---- Pipelines: silence ---- */

/* A key that was silent for too long. */
typedef struct oif_silence {
    const char *key; /* NULL without keys */
    size_t key_bytes;
    double since;   /* the time of its last row */
    double allowed; /* the longest pause allowed, in seconds */
} oif_silence;

typedef void (*oif_silence_function)(void *context, const oif_silence *silence);

/* Calls `report` for each key whose pause is too long.
 * `seconds` is the current time of the stream.
 * Reports each pause once, in the order in which they became too long, and then
 * in the order of the keys' bytes.
 * The option silence sets the limit in seconds.
 * Without it, the limit is twice the longest pause of recent weeks plus three
 * usual pauses; known after 32 rows with times.
 * The next row of the key ends the silence; its result has OIF_REASON_SILENCE.
 * Cheap enough to call for every row. Never allocates. */
OIF_API void oif_pipeline_silent(oif_pipeline *pipeline, double seconds,
                                 oif_silence_function report, void *context);

/* For programs that collect rows before they process them.
 *
 * oif_pipeline_next_silence: up to this time oif_pipeline_silent has nothing
 * to report; +infinity: never, unless rows come.
 *
 * oif_pipeline_silence_after: the same for one key, once a row
 * of it at `seconds` and others that follow are processed: a lower bound.
 * -infinity: not known, as the row may restore an evicted model.
 *
 * So rows may wait while the time of the stream is at most
 * the minimum of the two. */
OIF_API double oif_pipeline_next_silence(oif_pipeline *pipeline);
OIF_API double oif_pipeline_silence_after(const oif_pipeline *pipeline, const char *key,
                                          size_t key_bytes, double seconds);

/* ---- Pipelines: rules ---- */

/* Replaces the rules that hold back alerts.
 * One rule per line; # begins a comment:
 *
 *     mute column=latency direction=low
 *     mute column=disk_* change<20% key=db-* time=02:00-04:00 days=mon-fri
 *     ignore from=2026-11-17T22:00:00Z until=2026-11-18T02:00:00Z
 *
 *   - `mute` holds back alerts. The row is not an anomaly, does not count
 *     against the alert rate, and is learned as usual;
 *     result.rule names the rule.
 *   - `ignore` applies to whole rows: they are scored,
 *     but neither alert nor are learned.
 *   - All conditions of a rule must hold. Patterns have * and ?,
 *     and commas between several.
 *       column=     the column in the row, before it is derived;
 *                   columns without names are called 1, 2, ...
 *       direction=  high, low, or missing: there is no value
 *       change<     how far the value is outside what was expected:
 *                   in the unit of the column, or in percent of the nearer end
 *       reason=     values, jump, level, spread, stuck, missing, season, partner,
 *                   silence, new, rare, first
 *       key=  time=22:00-04:00  days=mon-fri,sun  zone=Europe/Berlin
 *       from=  until=   as oif_time_parse reads them
 *   - An alert of several columns is held back
 *     if rules match columns that have at least half of the shares.
 *   - A silent key is not reported if a rule without conditions
 *     on columns matches it at that time, not even once the rule ends.
 *     reason=silence is about silent keys, not about the row after a pause.
 *
 * A rule that stays keeps its counts. Snapshots have the rules and the counts;
 * a named zone is stored as its POSIX text.
 * An empty text removes all rules. There are at most 1000.
 *
 * OIF_EPARAM    a line is not a rule, or names a column that does not exist;
 *               error->line and error->column say where. Nothing has changed
 * OIF_EMEMORY */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_set_rules(oif_pipeline *pipeline, const char *text,
                                                         size_t bytes, oif_error *error);

/* Whether a text has only rules; columns are not looked for.
 *
 * OIF_EPARAM, OIF_EMEMORY   as oif_pipeline_set_rules */
OIF_API OIF_MUST_CHECK oif_status oif_rules_check(const char *text, size_t bytes, oif_error *error);

typedef struct oif_rule_info {
    const char *text;                   /* NUL-terminated; valid until the rules change */
    uint64_t held;                      /* rows that it held back */
    double first_seconds, last_seconds; /* of these; NaN: none, or unknown */
    uint64_t reserved[2];
} oif_rule_info;

/* A rule from 0 on, in the order of the text. Returns false past the last. */
OIF_API bool oif_pipeline_rule(const oif_pipeline *pipeline, size_t index, oif_rule_info *info);

/* Adds rules after the existing ones. Otherwise as oif_pipeline_set_rules;
 * error->line counts the lines of `text`. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_add_rules(oif_pipeline *pipeline, const char *text,
                                                         size_t bytes, oif_error *error);

/* ---- Pipelines: feedback ---- */

/* Turns a useless alert into a rule that holds back others like it;
 * `rule` has OIF_RULE_BYTES:
 *
 *     oif_pipeline_keep_episodes(pipeline, true, &error)       before the rows
 *     oif_pipeline_propose(pipeline, "web-1", 5, 3, rule, &error)
 *     oif_pipeline_add_rules(pipeline, rule, strlen(rule), &error)
 *
 * A proposal changes nothing. Only rules that are added do. */

/* The most past episodes that are kept, over all keys. */
enum { OIF_PAST_EPISODES_MAX = 256 };

/* Keeps the last episodes from now on, or forgets them all.
 * At first none are kept.
 * They take 110 KB; each episode costs one explanation when it begins,
 * other rows nothing.
 * Scores stay the same. Clones and snapshots have the episodes
 * (snapshots of single keys do not); a loaded pipeline continues to keep them.
 *
 * OIF_EMEMORY */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_keep_episodes(oif_pipeline *pipeline, bool keep,
                                                             oif_error *error);

/* A past episode. Its column and reason are those of its first row.
 * Silent keys are not episodes. */
typedef struct oif_past_episode {
    const char *key;  /* not NUL-terminated; valid until the next row */
    size_t key_bytes; /* 0: without a key */
    uint64_t number;  /* among the episodes of its key, from 1 */
    uint64_t first_row;
    double first_seconds; /* NaN if unknown */
    double severity;
    uint32_t column;     /* learned, with the highest share; OIF_UNKNOWN_COLUMN: unknown */
    int32_t direction;   /* as in oif_attribution */
    double change;       /* how far its value was outside what was expected; NaN: unknown */
    double change_share; /* of what was expected: 0.2 is 20% */
    oif_reason reason;
    bool is_key_cut; /* a long key: only its first bytes are kept */
    uint8_t reserved_8[3];
    uint64_t reserved[3];
} oif_past_episode;

/* The episode number `index`, from 0, the oldest first.
 * Returns false past the last, and if none are kept. */
OIF_API bool oif_pipeline_past_episode(const oif_pipeline *pipeline, size_t index,
                                       oif_past_episode *episode);

/* Whether episodes are kept. */
OIF_API bool oif_pipeline_keeps_episodes(const oif_pipeline *pipeline);

/* The most bytes of a proposed rule, with its NUL. */
enum { OIF_RULE_BYTES = 1024 };

/* Proposes a rule that holds back episodes like this one, and nothing wider:
 * its columns, direction, reason and key, and changes up to its own.
 * `rule` is "" if no rule describes it. Never allocates.
 * If a key was removed and came back, its newest episode of this number.
 *
 * OIF_EVALUE   OIF_CAUSE_UNKNOWN_EPISODE: it never was, or is no longer kept
 *              OIF_CAUSE_NO_EPISODES_KEPT */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_propose(const oif_pipeline *pipeline,
                                                       const char *key, size_t key_bytes,
                                                       uint64_t number, char rule[OIF_RULE_BYTES],
                                                       oif_error *error);

/* ---- Pipelines: questions ---- */

/* The parameters of its detectors, and its options. */
OIF_API const oif_params *oif_pipeline_detector_params(const oif_pipeline *pipeline);
OIF_API const oif_params *oif_pipeline_options(const oif_pipeline *pipeline);

/* Changes an option that affects alerts or learning from now on: alert_rate,
 * alerts, silence, learn. Of alerts and alert_rate, the last one set wins.
 *
 * OIF_EPARAM   another option, or the options would not fit together;
 *              nothing has changed */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_change_option(oif_pipeline *pipeline,
                                                             const char *name, double value,
                                                             oif_error *error);

/* Whether oif_pipeline_change_option can change an option of this name. */
OIF_API bool oif_pipeline_option_is_changeable(const char *name);

/* The columns of its rows. */
OIF_API size_t oif_pipeline_columns(const oif_pipeline *pipeline);

/* The rows processed so far. */
OIF_API uint64_t oif_pipeline_rows(const oif_pipeline *pipeline);

/* The keys that have a model in memory. */
OIF_API size_t oif_pipeline_keys(const oif_pipeline *pipeline);

/* How many times a key lost its model to another key. */
OIF_API uint64_t oif_pipeline_evictions(const oif_pipeline *pipeline);

/* The rows so far whose key got no model, because of the limits (has_no_model).
 * A loaded pipeline starts at 0. */
OIF_API uint64_t oif_pipeline_unmodelled_rows(const oif_pipeline *pipeline);

/* How often a key that was evicted, and not kept,
 * came back and got a new model.
 * An estimate: one in 1000 other keys may be counted too.
 * A loaded pipeline starts at 0. */
OIF_API uint64_t oif_pipeline_restarts(const oif_pipeline *pipeline);

/* Limits the memory of the pipeline, in bytes,
 * in addition to the option memory_limit: the smaller one counts.
 * Meant for the limits of this machine; it is not saved.
 * Set it before the first row: what models take without a limit
 * depends on whether rows came one by one or in blocks,
 * so a later limit may evict other keys. */
OIF_API void oif_pipeline_limit_memory(oif_pipeline *pipeline, size_t bytes);

/* The memory of the pipeline and all its models, in bytes.
 * A model takes memory as it learns. */
OIF_API size_t oif_pipeline_memory_bytes(const oif_pipeline *pipeline);

/* The key of the last processed row, `*key_bytes` long.
 * NULL and 0 if there is no such row, or if it has no key. */
OIF_API const char *oif_pipeline_recent_key(const oif_pipeline *pipeline, size_t *key_bytes);

/* Verifies every invariant. Slow; meant for tests. Never allocates.
 *
 * OIF_EINVARIANT   the message names the broken one */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_check(const oif_pipeline *pipeline,
                                                     oif_error *error);

/* ---- Pipelines: keys ---- */

/* A key of a pipeline.
 * `key` is valid until the next call that processes a row,
 * or adds or removes a key. */
typedef struct oif_key_info {
    const char *key; /* NULL without keys; not NUL-terminated */
    size_t key_bytes;
    uint64_t rows;       /* of this key that were processed */
    double last_seconds; /* the latest time of a row; NaN if no row had one */
    size_t memory_bytes; /* of its model */
    bool is_ready;       /* it had 48 rows; before that no row is anomalous */
    bool is_in_episode;
    bool is_silent;  /* oif_pipeline_silent has reported its current pause */
    bool is_evicted; /* its model is in the evicted models file, so all of the above is unknown */
    uint32_t reserved_32;
    uint64_t reserved[4];
} oif_key_info;

/* Finds one key. Returns false if the pipeline has no model of it.
 * Never allocates. */
OIF_API bool oif_pipeline_key(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                              oif_key_info *info);

/* Iterates over the keys: those with a model in memory,
 * then those evicted and kept.
 * Start with *position = 0. Returns false after the last. Never allocates.
 * The order stays the same as long as no key is added.
 * Keys may be removed on the way:
 *
 *     size_t position = 0;
 *     oif_key_info info;
 *     while (oif_pipeline_next_key(pipeline, &position, &info))
 *         if (info.last_seconds < long_ago &&
 *             oif_pipeline_remove_key(pipeline, info.key, info.key_bytes, NULL) != OIF_OK)
 *             break;
 */
OIF_API bool oif_pipeline_next_key(const oif_pipeline *pipeline, size_t *position,
                                   oif_key_info *info);

/* Removes a key and frees its model. Its next row gets a new one.
 * Never allocates.
 *
 * OIF_EVALUE   there is no such key */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_remove_key(oif_pipeline *pipeline, const char *key,
                                                          size_t key_bytes, oif_error *error);

/* ---- Pipelines: seasons ---- */

/* A season of a key: the period after which its rows repeat. */
typedef struct oif_season_info {
    double rows;     /* its period in rows; 0 if it is in seconds */
    double seconds;  /* its period in seconds; 0 if it is in rows */
    bool was_found;  /* the pipeline found it; otherwise an option gave it */
    double strength; /* 0 to 1, in the column where it is strongest; 0 while unknown */
    size_t column;   /* that learned column */
    uint64_t reserved[2];
} oif_season_info;

/* The season number `index`, from 0, of a key.
 * Returns false if the key has no such season, or none was found yet. */
OIF_API bool oif_pipeline_season(const oif_pipeline *pipeline, const char *key, size_t key_bytes,
                                 size_t index, oif_season_info *info);

/* ---- Pipelines: names of columns ---- */

/* As oif_detector_name_columns and oif_detector_column_name.
 * The detectors of the pipeline have no names of their own. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_name_columns(oif_pipeline *pipeline,
                                                            const char *const *names,
                                                            oif_error *error);
OIF_API const char *oif_pipeline_column_name(const oif_pipeline *pipeline, size_t column);

/* Names the columns that the keys and times come from; NULL: none.
 * The names are copied and have no meaning to the pipeline.
 * Clones and snapshots keep them (snapshots of single keys do not),
 * so a program that resumes a pipeline takes them from the same columns.
 * Several columns are one text, such as "host,disk".
 *
 * OIF_EVALUE   the names are longer than OIF_COLUMN_NAMES_MAX_BYTES */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_name_roles(oif_pipeline *pipeline, const char *key,
                                                          const char *time, oif_error *error);

/* The names; false, and NULL for both, if they were never set.
 * Valid until they are set again. */
OIF_API bool oif_pipeline_roles(const oif_pipeline *pipeline, const char **key, const char **time);

/* Attaches bytes of the program, such as a snapshot of its incidents.
 * They replace those attached before; 0 bytes remove them.
 * They are copied and have no meaning to the pipeline.
 * Clones and snapshots keep them (snapshots of single keys do not).
 *
 * OIF_EVALUE    more than OIF_ATTACHMENT_MAX_BYTES
 * OIF_EMEMORY   nothing has changed */
enum { OIF_ATTACHMENT_MAX_BYTES = 1 << 26 };
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_attach(oif_pipeline *pipeline, const void *bytes,
                                                      size_t count, oif_error *error);

/* The bytes, and how many; NULL and 0 if there are none.
 * Valid until others are attached. */
OIF_API const void *oif_pipeline_attachment(const oif_pipeline *pipeline, size_t *count);

/* ---- Pipelines: their detectors ---- */

/* The detector of a key; NULL if it has none in memory.
 * The pipeline owns it, and the next row changes it. */
OIF_API const oif_detector *oif_pipeline_detector(const oif_pipeline *pipeline, const char *key,
                                                  size_t key_bytes);

/* Swaps the detector of a key with `*detector`.
 * A key without a model gets one.
 * The new detector needs the same parameters and shingle x columns columns.
 * From then on it scores the key's rows.
 *
 * OIF_EPARAM    the detectors have different parameters or columns
 * OIF_EVALUE    the key is longer than OIF_KEY_MAX_BYTES
 * OIF_EMEMORY   only for a key without a model in memory,
 *               or a detector in the caller's memory */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_exchange_detector(oif_pipeline *pipeline,
                                                                 const char *key, size_t key_bytes,
                                                                 oif_detector **detector,
                                                                 oif_error *error);

/* ---- Explanations ---- */

/* Why a row has its score: the part of one column. */
typedef struct oif_attribution {
    double share;      /* 0 to 1; the shares of a row add up to 1, or are all 0 */
    int direction;     /* 1: higher than usual, -1: lower, 0: neither, or the value is missing */
    oif_reason reason; /* what is unusual about the column */
    uint32_t partner;  /* with OIF_REASON_PARTNER: the column it no longer follows */
    uint32_t reserved_32;
    /* Of a jump: how much the value changed, and the usual most. Of a level:
     * how far it lies from its level. Of a spread: standard deviations.
     * Of what is stuck or missing: rows. Else NaN. */
    double size, usual;
} oif_attribution;

/* Explains the last processed row.
 * `attributions` has space for one per learned column
 * (oif_pipeline_learned_columns).
 * A share grows with two things: how much the score would fall
 * if the column were missing, and how far the value is from the usual.
 * A value that is missing but usually is not counts as the farthest.
 * Costs one score per column: meant for anomalies. Never allocates. */
OIF_API void oif_pipeline_explain(oif_pipeline *pipeline, oif_attribution *attributions);

/* What was expected of a column. */
typedef struct oif_expected {
    double low, high; /* NaN: unknown */
    /* What the range is based on. OIF_REASON_SEASON: this time of earlier
     * periods; OIF_REASON_PARTNER: its partner; OIF_REASON_JUMP: the row
     * before; OIF_REASON_LEVEL and OIF_REASON_SPREAD: the level of the column;
     * OIF_REASON_VALUES: recent rows, of which about 97 in 100 are within. */
    oif_reason basis;
    uint32_t reserved_32;
    uint64_t reserved[1];
} oif_expected;

/* What was expected of the learned columns in the last processed row.
 * `expected` has space for one per learned column.
 * For a column that a judge found unusual, the basis is that reason;
 * for others it is the recent rows. Never allocates. */
OIF_API void oif_pipeline_expected(const oif_pipeline *pipeline, oif_expected *expected);

/* Explains the score that a detector gives a row.
 * A column's share is how much the score would fall if the column were missing.
 *
 *   - `shares` gets `step_columns` numbers, none below 0.
 *     They add up to 1, or are all 0 if no single column matters.
 *   - `step_columns` is the number of columns of the detector;
 *     for rows made of several time steps, the number of columns of one step.
 *     The values of one column are then missing from all steps at once.
 *   - `scratch` has space for one row and is overwritten.
 *
 * Costs one score per column. Never allocates.
 *
 * OIF_EPARAM   the row is not a whole number of steps
 * OIF_EVALUE   as oif_detector_score */
OIF_API OIF_MUST_CHECK oif_status oif_detector_explain(const oif_detector *detector,
                                                       const double *row, size_t step_columns,
                                                       double *shares, double *scratch,
                                                       oif_error *error);

/* ---- Snapshots ---- */

/* A snapshot holds a detector, or a pipeline with all its models in memory.
 * The loaded copy resumes exactly where the original was, bit for bit,
 * on any machine. docs/snapshot-format.md describes the bytes.
 *
 * Loading validates everything. Every load call can return:
 *
 * OIF_EKIND        not a snapshot, or a snapshot of something else
 * OIF_EVERSION     written by a newer version of oif
 * OIF_ETRUNCATED   truncated
 * OIF_ECORRUPT     damaged */

/* A source of bytes. Fills up to `capacity` bytes.
 * Returns how many, 0 at the end, negative on failure. */
typedef ptrdiff_t (*oif_read_function)(void *context, char *buffer, size_t capacity);

/* A sink for bytes. Takes up to `count` bytes.
 * Returns how many, negative on failure. */
typedef ptrdiff_t (*oif_write_function)(void *context, const char *bytes, size_t count);

/* Snapshots through functions of the caller.
 * Loading never reads past the snapshot's end.
 *
 * OIF_EWRITE    `write` failed
 * OIF_EREAD     `read` failed
 * OIF_EMEMORY   no memory to load, or to pack the models of a pipeline */
OIF_API OIF_MUST_CHECK oif_status oif_detector_save(const oif_detector *detector,
                                                    oif_write_function write, void *context,
                                                    oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load(oif_read_function read, void *context,
                                                    oif_detector **detector, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save(const oif_pipeline *pipeline,
                                                    oif_write_function write, void *context,
                                                    oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load(oif_read_function read, void *context,
                                                    oif_pipeline **pipeline, oif_error *error);

/* Snapshots in memory.
 * oif_detector_snapshot_bytes and oif_pipeline_snapshot_bytes return the size.
 * It depends on the column names and, for a pipeline, on its keys, their rows
 * and its options.
 * Saving a detector, or a pipeline without keys, never allocates.
 * Models of keys are packed, which takes memory for two to three models;
 * oif_pipeline_snapshot_bytes packs them all to add up their bytes,
 * and returns 0 if that memory is missing.
 *
 * OIF_EPARAM    the capacity is too small
 * OIF_EMEMORY   no memory to pack models */
OIF_API size_t oif_detector_snapshot_bytes(const oif_detector *detector);
OIF_API size_t oif_pipeline_snapshot_bytes(const oif_pipeline *pipeline);
OIF_API OIF_MUST_CHECK oif_status oif_detector_save_memory(const oif_detector *detector,
                                                           void *bytes, size_t capacity,
                                                           oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load_memory(const void *bytes, size_t count,
                                                           oif_detector **detector,
                                                           oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save_memory(const oif_pipeline *pipeline,
                                                           void *bytes, size_t capacity,
                                                           oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_memory(const void *bytes, size_t count,
                                                           oif_pipeline **pipeline,
                                                           oif_error *error);

/* Snapshots in a file, opened and closed by the call.
 * After a crash or on a full disk the file holds the new snapshot
 * or the previous one, complete.
 *
 * OIF_EBUSY    another program holds the file
 * OIF_EWRITE   the file could not be written
 * OIF_EREAD    the file does not exist or could not be read */
OIF_API OIF_MUST_CHECK oif_status oif_detector_save_file(const oif_detector *detector,
                                                         const char *path, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load_file(const char *path, oif_detector **detector,
                                                         oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save_file(const oif_pipeline *pipeline,
                                                         const char *path, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_file(const char *path, oif_pipeline **pipeline,
                                                         oif_error *error);

/* ---- Snapshots of single keys ---- */

/* Moves a key from one pipeline to another, on this machine or elsewhere:
 * save it, load it there, remove it here.
 * There it resumes exactly where it was, bit for bit.
 *
 *   - Both pipelines need the same detector, parameters, columns, derived
 *     columns and options; except options that oif_pipeline_change_option
 *     can change, max_keys, memory_limit and evicted.
 *     Column names are compared if both have some.
 *   - Saving a key whose evicted model was kept reads the model
 *     and leaves it in the file.
 *   - Loading adds the key, or replaces its model if it has one.
 *     `as`, unless NULL, is the new name of the key, with `as_bytes` bytes;
 *     "" and 0 for a pipeline without keys.
 *   - The loaded key counts as the most recently seen.
 *     At the limit, the least recently seen key is evicted.
 *   - `info` may be NULL; it becomes what oif_pipeline_key returns
 *     for the loaded key.
 *
 * OIF_EVALUE   there is no such key; a key is longer than OIF_KEY_MAX_BYTES
 * OIF_EPARAM   the capacity is too small
 *              the pipelines do not fit together;
 *              the message names the first difference
 * others       see "Snapshots" */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save_key(const oif_pipeline *pipeline,
                                                        const char *key, size_t key_bytes,
                                                        oif_write_function write, void *context,
                                                        oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_key(oif_pipeline *pipeline,
                                                        oif_read_function read, void *context,
                                                        const char *as, size_t as_bytes,
                                                        oif_key_info *info, oif_error *error);

/* The same in memory. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_key_snapshot_bytes(const oif_pipeline *pipeline,
                                                                  const char *key, size_t key_bytes,
                                                                  size_t *bytes, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save_key_memory(const oif_pipeline *pipeline,
                                                               const char *key, size_t key_bytes,
                                                               void *bytes, size_t capacity,
                                                               oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_key_memory(oif_pipeline *pipeline,
                                                               const void *bytes, size_t count,
                                                               const char *as, size_t as_bytes,
                                                               oif_key_info *info,
                                                               oif_error *error);

/* The same in a file, as oif_pipeline_save_file and oif_pipeline_load_file. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save_key_file(const oif_pipeline *pipeline,
                                                             const char *key, size_t key_bytes,
                                                             const char *path, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_key_file(oif_pipeline *pipeline,
                                                             const char *path, const char *as,
                                                             size_t as_bytes, oif_key_info *info,
                                                             oif_error *error);

/* ---- State files ---- */

/* A file that one program holds while it runs,
 * so no other program writes to it.
 * Other programs may read it at any time.
 * While it is held there is a file PATH.lock beside it and,
 * during a save, PATH.new.
 * If a crash leaves them behind, the next program
 * that opens the file removes them. */
typedef struct oif_state_file oif_state_file;

/* Opens a state file and holds it.
 * Close it with oif_state_file_close. The file need not exist.
 * If `path` is a link, its target is held and replaced.
 *
 * OIF_EBUSY    another program holds the file
 * OIF_EWRITE   the folder is not writable, or the path cannot be a file */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_open(const char *path, oif_state_file **file,
                                                      oif_error *error);

/* Closes a state file, saving nothing. NULL is accepted. */
OIF_API void oif_state_file_close(oif_state_file *file);

/* Replaces the content of the file atomically. Keeps owner and permissions.
 * On success, the bytes are on the disk.
 *
 * OIF_EWRITE   the file is unchanged, and a retry may succeed */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_save(oif_state_file *file,
                                                      const oif_detector *detector,
                                                      oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_state_file_save_pipeline(oif_state_file *file,
                                                               const oif_pipeline *pipeline,
                                                               oif_error *error);

/* Saves a pipeline with keys, but writes only what has changed
 * since this call, or oif_state_file_load_pipeline, was last used
 * with the same file and pipeline: the keys that had rows or were removed,
 * and what all keys share. That is appended to the file as an update;
 * loading gives the bits of a whole save.
 * The file is replaced as a whole the first time, when updates are longer
 * than the rest, when half of the keys have changed, after an option
 * or the columns have changed, or when another program has changed the file.
 * So are pipelines without keys and those with evicted=keep, always.
 * On success, the bytes are on the disk.
 *
 * OIF_EWRITE   the file is unchanged, and a retry may succeed */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_update_pipeline(oif_state_file *file,
                                                                 oif_pipeline *pipeline,
                                                                 oif_error *error);

/* How a file is stored that a pipeline was loaded from
 * or saved to with oif_state_file_update_pipeline. */
typedef struct oif_log_info {
    bool is_log;            /* whether updates may follow; else all is 0 */
    uint64_t base_bytes;    /* of the whole save that the updates follow */
    uint64_t updates;       /* number of updates */
    uint64_t update_bytes;  /* bytes of all updates */
    uint64_t ignored_bytes; /* an incomplete save at the end, left by a crash */
} oif_log_info;
OIF_API oif_log_info oif_pipeline_log(const oif_pipeline *pipeline);

/* The lock that protects a pipeline which several threads use:
 * `give` releases it, and `take` takes it again.
 * If `give` returns false, the lock is released, too, and the save ends. */
typedef struct oif_turns {
    bool (*give)(void *context);
    void (*take)(void *context);
    void *context;
} oif_turns;

/* The same as oif_state_file_save_pipeline, while other threads process rows.
 *
 * The caller holds the lock, and holds it again when the function returns.
 * In between, the lock is released while keys are written, about every
 * millisecond, and while the file is synced. The file gets the pipeline as it
 * was at the start: a model that changes first is packed into memory,
 * in all about 64 MB before the lock is no longer released.
 * Meanwhile the pipeline must not be freed, and rows are processed on one
 * thread. With evicted=keep the lock is never released.
 *
 * OIF_EBUSY     the pipeline is being saved already
 * OIF_END       `give` has returned false; the file is unchanged
 * OIF_EMEMORY   the file is unchanged
 * OIF_EWRITE    as oif_state_file_save_pipeline */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_save_pipeline_in_turns(oif_state_file *file,
                                                                        oif_pipeline *pipeline,
                                                                        const oif_turns *turns,
                                                                        oif_error *error);

/* Loads the content of the file.
 *
 * OIF_END     there is no file yet
 * OIF_EREAD   the file could not be read
 * others      see "Snapshots" */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_load(const oif_state_file *file,
                                                      oif_detector **detector, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_state_file_load_pipeline(oif_state_file *file,
                                                               oif_pipeline **pipeline,
                                                               oif_error *error);

/* ---- More keys than memory ---- */

/* Keeps the models of evicted keys on disk, in the evicted models file:
 * PATH.evicted beside the state file.
 * A model is restored when its key comes back.
 * Scores are then the same as without a memory limit, bit for bit.
 *
 *   - Needs the option evicted=keep. Call it before the first row.
 *     oif_state_file_load_pipeline does it for the pipeline that it loads.
 *   - Save the pipeline to the same file, and close the file
 *     after the last row.
 *   - Models in it that the saved state still needs stay until the next save.
 *     After a crash the state that was saved last finds all its models.
 *   - Clones and snapshots saved elsewhere contain only the models in memory.
 *   - Packing takes memory for three models at most, which is not counted.
 *   - A model that cannot be written or read back is lost: its key starts over,
 *     the row is processed, and oif_pipeline_lost counts it.
 *
 * OIF_EPARAM                                the option is not set
 * OIF_EREAD, OIF_ETRUNCATED, OIF_ECORRUPT   that file does not belong
 *                                           to the loaded state */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_keep_evicted(oif_state_file *file,
                                                              oif_pipeline *pipeline,
                                                              oif_error *error);

/* The number of keys with a model in the evicted models file. */
OIF_API size_t oif_pipeline_kept(const oif_pipeline *pipeline);

/* The number of lost models.
 * `*why` becomes the reason for the last one:
 * "" if that was before the pipeline was loaded.
 * `why` may be NULL. */
OIF_API uint64_t oif_pipeline_lost(const oif_pipeline *pipeline, const char **why);

/* ---- Incidents ---- */

/* Episodes of several keys of a stream that begin together are one
 * incident: one message instead of forty.
 * A program reports the start and the end of each episode,
 * and gets the incident that it belongs to:
 *
 *     oif_incident_event event = {.key = host, .key_bytes = strlen(host),
 *                                 .seconds = now, .severity = result.severity,
 *                                 .episode = number};
 *     if (oif_incidents_begin(incidents, &event, &place, NULL) == OIF_OK && place.is_new)
 *         notify_begin(place.incident);
 *     if (oif_incidents_end(incidents, &event, &place, NULL) == OIF_OK && place.is_over)
 *         notify_end(place.incident);
 *
 * An episode joins an incident of its stream if a member of it began
 * at most window_seconds before or after it, and if all members share its
 * column or a part of its key: what is between / . : and spaces, and has
 * a letter. dc1/web-17 has the parts dc1 and web-17.
 * Of several incidents it joins the newest.
 *
 * Decisions depend only on the calls: the same bits on every machine. */
typedef struct oif_incidents oif_incidents;

/* Sets every option to its initial value.
 * Change options with oif_params_set. options->table lists them. */
OIF_API void oif_incidents_options_init(oif_params *options);

/* Creates an object without incidents. Free it with oif_incidents_free.
 * All its memory is allocated here.
 * If `options` is NULL, every option has its initial value.
 *
 * OIF_EPARAM   options is not from oif_incidents_options_init,
 *              or a value is out of range */
OIF_API OIF_MUST_CHECK oif_status oif_incidents_new(const oif_params *options,
                                                    oif_incidents **incidents, oif_error *error);

/* Frees it. NULL is accepted. */
OIF_API void oif_incidents_free(oif_incidents *incidents);

/* The start or the end of an episode. Texts are copied. */
typedef struct oif_incident_event {
    const char *stream; /* where it is from; NULL: there is only one */
    const char *key;    /* any bytes; NULL: none */
    size_t key_bytes;
    const char *column; /* the main reason; NULL or "": unknown */
    const char *reason; /* the same for people; NULL or "": unknown */
    double seconds;     /* the time of the data, or a number that grows with it, such as that of
                           the row; NaN: that of the last event */
    double severity;    /* at the end: the highest of the episode */
    uint64_t episode;   /* its number among those of the key */
    uint64_t reserved[4];
} oif_incident_event;

/* The incident that an episode belongs to. */
typedef struct oif_incident_place {
    uint64_t incident; /* its number, from 1; 0: none */
    bool is_new;       /* the episode begins the incident */
    bool joins;        /* the episode joins it; neither: it was known already */
    bool is_over;      /* the episode was its last open one */
    uint8_t reserved_8[5];
    double peak_before; /* the highest severity of the incident before this event; 0: none */
    uint64_t reserved[2];
} oif_incident_place;

/* Reports that an episode begins; or again, that it has become worse.
 * Never allocates. If there are max_members, a new episode belongs
 * to no incident: place->incident is 0.
 *
 * OIF_EVALUE   the time is infinite, or the key is longer
 *              than OIF_KEY_MAX_BYTES; nothing has changed */
OIF_API OIF_MUST_CHECK oif_status oif_incidents_begin(oif_incidents *incidents,
                                                      const oif_incident_event *event,
                                                      oif_incident_place *place, oif_error *error);

/* Reports that an episode ends. Stream, key and number say which one.
 * For an unknown episode place->incident is 0.
 * An incident is over when its last open episode has ended.
 * It can be asked about until the next start or end.
 * Never allocates.
 *
 * OIF_EVALUE   as oif_incidents_begin */
OIF_API OIF_MUST_CHECK oif_status oif_incidents_end(oif_incidents *incidents,
                                                    const oif_incident_event *event,
                                                    oif_incident_place *place, oif_error *error);

/* ---- Incidents: questions ---- */

/* The numbers of the open incidents, from index 0 on,
 * the oldest first; 0 past the last. */
OIF_API uint64_t oif_incidents_number(const oif_incidents *incidents, size_t index);

typedef struct oif_incident_info {
    uint64_t number;
    uint64_t members; /* episodes that belong to it */
    uint64_t open;    /* those that have not ended */
    uint64_t worst;   /* the index of the severest open one; of all if none is open */
    double first_seconds, last_seconds; /* the earliest start; the latest start or end */
    double peak_severity;               /* of all members */
    bool is_over;
    uint8_t reserved_8[7];
    uint64_t reserved[3];
} oif_incident_info;

/* One episode. A key, column or stream is cut after OIF_INCIDENT_TEXT_BYTES,
 * a reason after OIF_INCIDENT_REASON_BYTES. */
enum { OIF_INCIDENT_TEXT_BYTES = 96, OIF_INCIDENT_REASON_BYTES = 200 };

typedef struct oif_incident_member {
    const char *stream, *key, *column; /* not NUL-terminated; valid until the next event */
    const char *reason;                /* that of the highest severity */
    size_t stream_bytes, key_bytes, column_bytes, reason_bytes;
    double seconds, end_seconds; /* NaN: it has not ended */
    double severity;             /* the highest that was reported */
    uint64_t episode;
    uint64_t reserved[2];
} oif_incident_member;

/* What all members share: the column, or a part of the key. */
typedef struct oif_incident_shared {
    const char *text; /* not NUL-terminated; valid until the next event */
    size_t bytes;
    bool is_column;
    uint8_t reserved_8[7];
    uint64_t reserved[2];
} oif_incident_shared;

/* Returns false if there is no such incident, member or trait.
 * Members are in the order in which they were reported.
 * An incident of one member shares nothing. */
OIF_API bool oif_incidents_info(const oif_incidents *incidents, uint64_t number,
                                oif_incident_info *info);
OIF_API bool oif_incidents_member(const oif_incidents *incidents, uint64_t number, size_t index,
                                  oif_incident_member *member);
OIF_API bool oif_incidents_shared(const oif_incidents *incidents, uint64_t number, size_t index,
                                  oif_incident_shared *shared);

/* Verifies every invariant. Never allocates.
 *
 * OIF_EINVARIANT   the message names the broken one */
OIF_API OIF_MUST_CHECK oif_status oif_incidents_check(const oif_incidents *incidents,
                                                      oif_error *error);

/* ---- Incidents: snapshots ---- */

/* The same as for detectors and pipelines, see "Snapshots".
 * Saving never allocates.
 *
 * OIF_EPARAM   the capacity is too small */
OIF_API size_t oif_incidents_snapshot_bytes(const oif_incidents *incidents);
OIF_API OIF_MUST_CHECK oif_status oif_incidents_save_memory(const oif_incidents *incidents,
                                                            void *bytes, size_t capacity,
                                                            oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_incidents_load_memory(const void *bytes, size_t count,
                                                            oif_incidents **incidents,
                                                            oif_error *error);

#ifdef __cplusplus
}
#endif
#endif
