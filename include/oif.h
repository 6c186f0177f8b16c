/* oif: score anomalies on a stream.
 *
 * A detector learns rows of numbers one after another, forgets old ones, and gives every row a
 * score: the higher, the more anomalous. oif_rows.h, beside this header, reads rows from
 * CSV, NDJSON and raw float64. The shortest useful program:
 *
 *     oif_params params;
 *     oif_detector *detector = NULL;
 *     double score, row[2];
 *
 *     if (oif_params_init(&params, "online-iforest", NULL) != OIF_OK ||
 *         oif_detector_new(&params, 2, &detector, NULL) != OIF_OK)
 *         return 1;
 *     while (scanf("%lf %lf", &row[0], &row[1]) == 2)
 *         if (oif_detector_learn_score(detector, row, &score, NULL) == OIF_OK)
 *             printf("%g\n", score);
 *     oif_detector_free(detector);
 *
 * Rules that hold for every function:
 *   - A call that can fail returns an oif_status; what it should have made or changed is then
 *     as it was.
 *   - `error` may be NULL; otherwise a failing call fills it and a succeeding one leaves it
 *     alone.
 *   - Same seed and same rows give the same scores, bit for bit, on every machine and compiler,
 *     one row at a time or in blocks of any size.
 *   - Nothing prints, exits, aborts, or reads the clock, the environment or the locale.
 *   - An object may be used by one thread at a time; const calls may run at the same time as
 *     each other.
 */
#ifndef OIF_H
#define OIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OIF_API __attribute__((visibility("default")))
#define OIF_MUST_CHECK __attribute__((warn_unused_result))

#define OIF_VERSION_MAJOR 0
#define OIF_VERSION_MINOR 1
#define OIF_VERSION_PATCH 0

/* The version of the library that runs, such as "0.1.0"; the macros above are those it was
 * built with. */
OIF_API const char *oif_version(void);

/* ---- Status and errors ---- */

typedef enum oif_status {
    OIF_OK = 0,
    OIF_END,        /* no more rows: the input ended after a whole row */
    OIF_EPARAM,     /* a parameter is unknown or out of range, e.g. num_trees = 0 */
    OIF_EVALUE,     /* a value cannot be used, e.g. an infinity in a row */
    OIF_EMEMORY,    /* not enough memory, or a size that no machine can hold */
    OIF_EINPUT,     /* the text is not what was announced, e.g. a row with a field too few */
    OIF_EREAD,      /* the read function reported a failure */
    OIF_EINVARIANT, /* oif_detector_check found the detector broken: a bug, or memory overwritten */
    /* bytes could not be written: the write function reported it, or the file system */
    OIF_EWRITE,
    OIF_EKIND,      /* the bytes are no snapshot, or one of something else */
    OIF_EVERSION,   /* a newer version of oif has written the snapshot */
    OIF_ETRUNCATED, /* the snapshot is cut off */
    OIF_ECORRUPT,   /* the snapshot is damaged */
    OIF_EBUSY       /* another program holds the state file */
} oif_status;

enum { OIF_ERROR_MESSAGE_BYTES = 240 };

/* What went wrong and where. For text, line and column count from 1 (the column in bytes); for
 * a block of rows, line is the row and column the feature, both from 1; for a snapshot, column
 * is the byte that was read or written last, from 1. 0 where there is no place. */
typedef struct oif_error {
    oif_status status;
    uint64_t line;
    uint64_t column;
    char message[OIF_ERROR_MESSAGE_BYTES];
} oif_error;

/* A short name of the status for messages: "out of memory". */
OIF_API const char *oif_status_text(oif_status status);

/* ---- Kinds of detectors and their parameters ---- */

typedef enum oif_param_type {
    OIF_PARAM_INTEGER, /* a whole number */
    OIF_PARAM_REAL,    /* any finite number in the range */
    OIF_PARAM_CHOICE   /* one of a few words; its value is the word's position in `choices` */
} oif_param_type;

/* One parameter. Command-line flags, Python keywords and the manual are made from this table. */
typedef struct oif_param {
    const char *name; /* "num_trees"; on the command line --num-trees */
    const char *help; /* one line */
    oif_param_type type;
    double minimum, maximum;    /* both included; for a choice 0 and the last position */
    double initial;             /* what oif_params_init sets */
    const char *const *choices; /* for a choice: its words, then NULL */
} oif_param;

typedef struct oif_detector_info {
    const char *name;    /* "online-iforest" */
    const char *summary; /* one line */
    const char *paper;   /* where the method comes from */
    /* what a row costs, by the parameters' names and d, the numbers in a row */
    const char *cost;
    const char *choose; /* when to choose it */
    const oif_param *params;
    size_t param_count;
} oif_detector_info;

/* The kinds of detectors this library has: index from 0, NULL past the last; or by name, NULL
 * if unknown. */
OIF_API const oif_detector_info *oif_detector_info_at(size_t index);
OIF_API const oif_detector_info *oif_detector_info_find(const char *name);

enum { OIF_PARAMS_MAX = 16 };

/* A kind of detector with a value for each of its parameters. A plain value: copy it as you
 * like. */
typedef struct oif_params {
    const oif_detector_info *info;
    double values[OIF_PARAMS_MAX]; /* in the order of info->params */
} oif_params;

/* Chooses a detector by name and sets every parameter to its initial value. OIF_EPARAM: no such
 * detector. */
OIF_API OIF_MUST_CHECK oif_status oif_params_init(oif_params *params, const char *detector,
                                                  oif_error *error);

/* Sets one parameter, by number or by text ("64", "paper"). OIF_EPARAM when the name is unknown
 * or the value is not allowed; the message says what is. */
OIF_API OIF_MUST_CHECK oif_status oif_params_set(oif_params *params, const char *name, double value,
                                                 oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_params_set_text(oif_params *params, const char *name,
                                                      const char *text, oif_error *error);

/* The value of a parameter; OIF_EPARAM when the name is unknown. */
OIF_API OIF_MUST_CHECK oif_status oif_params_get(const oif_params *params, const char *name,
                                                 double *value, oif_error *error);

/* ---- Detectors ---- */

typedef struct oif_detector oif_detector;

/* The bytes that a detector would take, all of them: it allocates nothing after its creation
 * but for names. OIF_EPARAM as oif_detector_new; OIF_EMEMORY when the number does not fit a
 * size_t. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_estimate_bytes(const oif_params *params,
                                                              size_t dimension, size_t *bytes,
                                                              oif_error *error);

/* Creates a detector for rows of `dimension` numbers; oif_detector_free it. OIF_EPARAM when the
 * dimension is 0 or parameters do not fit together, OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_new(const oif_params *params, size_t dimension,
                                                   oif_detector **detector, oif_error *error);

/* Copies a detector with all it has learned: both then give the same scores for the same rows. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_clone(const oif_detector *detector,
                                                     oif_detector **copy, oif_error *error);

/* Frees a detector; NULL is accepted. */
OIF_API void oif_detector_free(oif_detector *detector);

/* Gives the `dimension` columns of its rows names, which are copied, or with NULL takes them
 * away. They change no score; clones and snapshots keep them, so that whoever goes on with a
 * detector can see that its rows are the same ones. OIF_EVALUE when all together are longer
 * than 16 MiB, OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_name_columns(oif_detector *detector,
                                                            const char *const *names,
                                                            oif_error *error);

/* The name of a column, from 0, until columns are named anew; NULL when they have no names. */
OIF_API const char *oif_detector_column_name(const oif_detector *detector, size_t column);

/* Learns one row of `dimension` numbers, and forgets the oldest where the detector has a
 * window. NaN means "missing" and is fine. OIF_EVALUE when a number is infinite; error->column
 * says which. Never allocates. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn(oif_detector *detector, const double *row,
                                                     oif_error *error);

/* Scores one row without learning it. Failures as oif_detector_learn. Never allocates. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_score(const oif_detector *detector,
                                                     const double *row, double *score,
                                                     oif_error *error);

/* Learns one row, then scores it: the order of the Online Isolation Forest paper. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_learn_score(oif_detector *detector,
                                                           const double *row, double *score,
                                                           oif_error *error);

/* The same for `count` rows; row i starts at rows[i * stride], stride >= dimension. The results
 * are those of the calls for single rows, bit for bit. When a number is infinite no row is
 * learned or scored; error->line says which row and error->column which number. */
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

/* Lets up to 16 threads, the calling one among them, share the work on blocks of rows; 1, the
 * initial number, ends the others. The results stay the same, bit for bit. Worth it for blocks
 * of some hundred rows. A clone starts with one thread. OIF_EPARAM, OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_set_threads(oif_detector *detector, unsigned threads,
                                                           oif_error *error);

/* Whether enough was learned for scores to mean something; before that do not raise alarms. */
OIF_API bool oif_detector_ready(const oif_detector *detector);

/* What it is: its parameters, the numbers in a row, the rows learned so far, the bytes it
 * takes. */
OIF_API const oif_params *oif_detector_params(const oif_detector *detector);
OIF_API size_t oif_detector_dimension(const oif_detector *detector);
OIF_API uint64_t oif_detector_rows_learned(const oif_detector *detector);
OIF_API size_t oif_detector_memory_bytes(const oif_detector *detector);

/* Verifies every invariant of the detector's structure: OIF_OK, or OIF_EINVARIANT with a
 * message that names the broken one ("tree 3: an inner height is under its threshold"). Slow;
 * meant for tests. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_check(const oif_detector *detector,
                                                     oif_error *error);

/* Figures about what it has learned, such as its leaves and their depths: calls `tell` with
 * each, by name. */
typedef void (*oif_describe_function)(void *context, const char *name, double value);
OIF_API void oif_detector_describe(const oif_detector *detector, oif_describe_function tell,
                                   void *context);

/* ---- Snapshots ---- */

/* A snapshot holds all of a detector: one that is loaded goes on where the other was, bit for
 * bit, on any machine. docs/snapshot-format.md describes the bytes. Loading believes nothing:
 * OIF_EKIND, OIF_EVERSION, OIF_ETRUNCATED, OIF_ECORRUPT and OIF_EMEMORY say what is wrong, and
 * where. */

/* Where bytes come from: fills up to `capacity` bytes, returns how many, 0 at the end, negative
 * on failure. */
typedef ptrdiff_t (*oif_read_function)(void *context, char *buffer, size_t capacity);

/* Where bytes go: takes up to `count` of them, returns how many, negative on failure. */
typedef ptrdiff_t (*oif_write_function)(void *context, const char *bytes, size_t count);

/* To and from any place. Loading never asks for a byte past the snapshot's end. OIF_EWRITE,
 * OIF_EREAD. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_save(const oif_detector *detector,
                                                    oif_write_function write, void *context,
                                                    oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load(oif_read_function read, void *context,
                                                    oif_detector **detector, oif_error *error);

/* To and from memory: a snapshot of this detector has so many bytes, until columns are named.
 * OIF_EPARAM when the capacity is less. Saving allocates nothing. */
OIF_API size_t oif_detector_snapshot_bytes(const oif_detector *detector);
OIF_API OIF_MUST_CHECK oif_status oif_detector_save_memory(const oif_detector *detector,
                                                           void *bytes, size_t capacity,
                                                           oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load_memory(const void *bytes, size_t count,
                                                           oif_detector **detector,
                                                           oif_error *error);

/* To and from a file. Whatever happens meanwhile, a crash or a full disk, the file holds the
 * last snapshot or the one before, whole. OIF_EBUSY when another program holds it; OIF_EREAD
 * when it cannot be read. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_save_file(const oif_detector *detector,
                                                         const char *path, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_detector_load_file(const char *path, oif_detector **detector,
                                                         oif_error *error);

/* A state file: held by one program for as long as it runs, so that no other one writes to it.
 * While it is held there is a file PATH.lock beside it and, during a save, PATH.new; what a
 * crash leaves of them is cleared away by whoever comes next. Anyone may read the file at any
 * time. */
typedef struct oif_state_file oif_state_file;

/* OIF_EBUSY when another program holds it, OIF_EWRITE when its folder is not writable or the
 * path is no place for a file, OIF_EMEMORY. The file need not exist; through a link it is the
 * target that is held and replaced. */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_open(const char *path, oif_state_file **file,
                                                      oif_error *error);
OIF_API void oif_state_file_close(oif_state_file *file);

/* Replaces what the file holds, all or nothing; owner and permissions stay. When it succeeds,
 * the bytes are on the disk. OIF_EWRITE: the file is as it was, and the next try may succeed. */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_save(oif_state_file *file,
                                                      const oif_detector *detector,
                                                      oif_error *error);

/* OIF_END when there is no file yet. */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_load(const oif_state_file *file,
                                                      oif_detector **detector, oif_error *error);

/* ---- Explanations ---- */

/* How much of a row's score is due to each of its columns: by how much it would fall if that
 * column were missing. With columns = dimension each number is a column; of a row that is
 * several time steps long, give the columns of one step: the numbers i, i + columns, i + 2
 * columns ... are then missing together. `shares` gets `columns` numbers that are not negative
 * and add up to 1, or all 0 when no column by itself matters. Costs a score for each column,
 * and writes to `scratch`, `dimension` numbers. OIF_EPARAM when the dimension is no multiple of
 * the columns, OIF_EVALUE as oif_detector_score. Never allocates. */
OIF_API OIF_MUST_CHECK oif_status oif_detector_explain(const oif_detector *detector,
                                                       const double *row, size_t columns,
                                                       double *shares, double *scratch,
                                                       oif_error *error);

/* ---- Pipelines: from rows to alerts ---- */

/* A pipeline turns rows into results that can be acted upon: it puts rows of a series together,
 * scores them, tells how rare a score is, decides which are anomalous and which are learned;
 * and it does so for each key by itself, such as for every host.
 *
 *     oif_params detector, options;
 *     oif_pipeline *pipeline;
 *     oif_result result;
 *
 *     oif_params_init(&detector, "online-iforest", NULL);
 *     oif_pipeline_options_init(&options);
 *     oif_params_set(&options, "alert_rate", 0.01, NULL);
 *     oif_pipeline_new(&detector, 2, &options, &pipeline, NULL);
 *     oif_pipeline_process(pipeline, NULL, 0, row, &result, NULL);
 *     if (result.anomaly) ...
 */
typedef struct oif_pipeline oif_pipeline;

/* Sets every option to its initial value; options->info->params lists them. Change them with
 * oif_params_set. */
OIF_API void oif_pipeline_options_init(oif_params *options);

/* Anomalies that follow each other closely are one episode. */
typedef enum oif_episode {
    OIF_EPISODE_NONE,
    OIF_EPISODE_BEGINS, /* with this row, which is anomalous */
    OIF_EPISODE_LASTS,
    OIF_EPISODE_ENDS /* this row is the last of `calm` rows without anomaly */
} oif_episode;

/* What is known about a row. */
typedef struct oif_result {
    double score; /* the higher, the more anomalous; NaN while a shingle has too few rows */
    /* the share of recent scores at least as high: 0.001 is one row in a thousand */
    double p;
    double threshold; /* higher scores are anomalous; +infinity while too few scores are known */
    bool anomaly;
    bool ready;   /* enough was learned; before that nothing is anomalous */
    bool learned; /* the row is now part of what is normal */
    oif_episode episode;
} oif_result;

/* Creates a pipeline for rows of `columns` numbers; oif_pipeline_free it. Its detectors get
 * rows of shingle x columns numbers. OIF_EPARAM when parameters or options do not fit together,
 * OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_new(const oif_params *detector, size_t columns,
                                                   const oif_params *options,
                                                   oif_pipeline **pipeline, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_clone(const oif_pipeline *pipeline,
                                                     oif_pipeline **copy, oif_error *error);
OIF_API void oif_pipeline_free(oif_pipeline *pipeline);

/* Names the `columns` columns, as oif_detector_name_columns does, and tells a name. The
 * detectors in it have none. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_name_columns(oif_pipeline *pipeline,
                                                            const char *const *names,
                                                            oif_error *error);
OIF_API const char *oif_pipeline_column_name(const oif_pipeline *pipeline, size_t column);

/* Takes one row of `columns` numbers. Each key, `key_bytes` bytes of any kind, has a model of
 * its own; without keys give NULL and 0. A key that is new gets memory, or that of the key that
 * was not seen for longest once there are max_keys or memory_limit is reached; it gets back the
 * model it lost if that was kept (oif_state_file_keep_evicted). OIF_EVALUE when a number is
 * infinite or a key longer than 64 KiB; the row then counts for nothing. OIF_EMEMORY, only for
 * a key that has no model in memory. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_process(oif_pipeline *pipeline, const char *key,
                                                       size_t key_bytes, const double *row,
                                                       oif_result *result, oif_error *error);

/* Why a row has its score: how much is due to each column, by how much the score would fall
 * without it and by how far its number is from the usual, and in which direction. */
typedef struct oif_attribution {
    double share;  /* of the columns' shares, which add up to 1 or are all 0 */
    int direction; /* -1 low, 1 high, 0 unknown: missing, or never seen before */
} oif_attribution;

/* Explains the row that was processed last. `attributions` gets one for each column. Costs a
 * score for each column: meant for anomalies. */
OIF_API void oif_pipeline_explain(oif_pipeline *pipeline, oif_attribution *attributions);

/* What it is: the parameters of its detectors, its options, the numbers in a row; the rows
 * processed so far, the keys that have a model and those that lost theirs to others, and the
 * bytes of all. */
OIF_API const oif_params *oif_pipeline_detector_params(const oif_pipeline *pipeline);
OIF_API const oif_params *oif_pipeline_options(const oif_pipeline *pipeline);
OIF_API size_t oif_pipeline_columns(const oif_pipeline *pipeline);
OIF_API uint64_t oif_pipeline_rows(const oif_pipeline *pipeline);
OIF_API size_t oif_pipeline_keys(const oif_pipeline *pipeline);
OIF_API uint64_t oif_pipeline_evictions(const oif_pipeline *pipeline);
OIF_API size_t oif_pipeline_memory_bytes(const oif_pipeline *pipeline);

/* The detector of a key, NULL when it has none in memory. It belongs to the pipeline and
 * changes with the next row. */
OIF_API const oif_detector *oif_pipeline_detector(const oif_pipeline *pipeline, const char *key,
                                                  size_t key_bytes);

/* Exchanges the detector of a key, which gets a model if it has none, for another one with the
 * same parameters and shingle x columns numbers in a row. Alerts then come from what that one
 * has learned, elsewhere or before; its scores are measured by those that the key had so far.
 * `*detector` becomes the one that was there. OIF_EPARAM when they are not alike, OIF_EVALUE
 * when the key is longer than 64 KiB, OIF_EMEMORY, only for a key that is new. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_exchange_detector(oif_pipeline *pipeline,
                                                                 const char *key, size_t key_bytes,
                                                                 oif_detector **detector,
                                                                 oif_error *error);

/* The key of the row processed last, `*key_bytes` long; NULL and 0 when there is none, or it
 * has no key. */
OIF_API const char *oif_pipeline_recent_key(const oif_pipeline *pipeline, size_t *key_bytes);

/* Snapshots hold all keys' models and go on where they were, as those of detectors (see there). */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_save(const oif_pipeline *pipeline,
                                                    oif_write_function write, void *context,
                                                    oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load(oif_read_function read, void *context,
                                                    oif_pipeline **pipeline, oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_memory(const void *bytes, size_t count,
                                                           oif_pipeline **pipeline,
                                                           oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_load_file(const char *path, oif_pipeline **pipeline,
                                                         oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_state_file_save_pipeline(oif_state_file *file,
                                                               const oif_pipeline *pipeline,
                                                               oif_error *error);
OIF_API OIF_MUST_CHECK oif_status oif_state_file_load_pipeline(oif_state_file *file,
                                                               oif_pipeline **pipeline,
                                                               oif_error *error);

/* With the option evicted=keep, lets a pipeline put the models of keys that lose theirs on the
 * shelf of a state file, a file PATH.shelf beside it, and take them back when their keys come
 * again: results are then those of a pipeline without limits, bit for bit. A pipeline that
 * oif_state_file_load_pipeline loads does so already; for a new one call this before its first
 * row; models that are on the shelf for a state that stands in the file stay until the new one
 * is saved. The shelf belongs to the file: save the pipeline there, and close the file after
 * the last row. After a crash the state that was saved last finds all its models. Clones, and
 * snapshots saved elsewhere, have only the models in memory. A model that cannot be written to
 * the shelf, or not be read back, is lost: its key starts anew, the row is processed all the
 * same, and oif_pipeline_lost counts it. OIF_EPARAM when the option is not set; OIF_ETRUNCATED,
 * OIF_ECORRUPT and OIF_EREAD when the shelf is not that of a state that was loaded;
 * OIF_EMEMORY. */
OIF_API OIF_MUST_CHECK oif_status oif_state_file_keep_evicted(oif_state_file *file,
                                                              oif_pipeline *pipeline,
                                                              oif_error *error);

/* How many keys have their model on the shelf; how many models were lost, and why the last one
 * was ("" when it was before the pipeline was loaded), which may be NULL. */
OIF_API size_t oif_pipeline_shelved(const oif_pipeline *pipeline);
OIF_API uint64_t oif_pipeline_lost(const oif_pipeline *pipeline, const char **why);

/* Verifies every invariant; OIF_EINVARIANT names the broken one. */
OIF_API OIF_MUST_CHECK oif_status oif_pipeline_check(const oif_pipeline *pipeline,
                                                     oif_error *error);

#ifdef __cplusplus
}
#endif
#endif
