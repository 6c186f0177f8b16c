/* The extension oif._core: include/oif.h for Python, on the limited API, so one build serves every
 * version from 3.9 on. These files handle lifetime, rows and threads; python/oif is the interface
 * for users.
 *
 *     errors.c      exceptions
 *     text.c        str and bytes as bytes
 *     arrays.c      NumPy arrays
 *     guard.c       one thread at a time, also across a fork
 *     row_input.c   dicts, sequences and buffers as rows of numbers
 *     arrow.c       Arrow streams as rows of numbers
 *     params.c      parameters in and out
 *     learner.c     the type Learner: the base of the next two
 *     detector.c    the type Detector
 *     pipeline_rules.c  the rules of a pipeline
 *     pipeline_keys.c   the keys of a pipeline
 *     pipeline_result.c the result of a row
 *     pipeline_rows.c   the rows of a pipeline
 *     pipeline.c    the type Pipeline
 *     incidents.c   the type Incidents
 *     module.c      the module
 *
 * A file uses only files above it.
 */
#ifndef OIF_PYTHON_CORE_H
#define OIF_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <oif.h>

/* ---- Missing in the limited API of 3.9 ---- */

/* Official since 3.10. It is the same in 3.9, which gets no further releases. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_XNewRef(PyObject *object)
{
    Py_XINCREF(object);
    return object;
}
static inline PyObject *Py_NewRef(PyObject *object)
{
    return Py_XNewRef(object);
}
#endif

/* ---- errors.c ---- */

/* Raises the exception of the status, with its place; returns NULL. */
PyObject *raise_error(const oif_error *error);

/* Raises oif.DataError with a cause, a place (from 0, -1 for none) and a message as in
 * PyErr_Format; returns NULL. */
PyObject *raise_data_error(oif_cause cause, Py_ssize_t row, Py_ssize_t column, const char *format,
                           ...);

/* For rows that have other columns than the model. */
static inline oif_cause cause_of_count(Py_ssize_t columns, Py_ssize_t expected)
{
    return columns < expected ? OIF_CAUSE_TOO_FEW_FIELDS : OIF_CAUSE_TOO_MANY_FIELDS;
}

/* ---- text.c ---- */

/* The UTF-8 bytes of a str, owned by the object. `count` may be NULL; then the text must not
 * contain a NUL. NULL with an exception set. */
const char *text_read(PyObject *object, Py_ssize_t *count);

/* A bytes-like object as bytes: a new reference, or NULL with an exception set. */
PyObject *bytes_of(PyObject *object);

/* ---- arrays.c ---- */

/* A view of a NumPy array. Its shape and strides must be read before Python runs other code, which
 * could reshape the array. */
typedef struct array_view {
    PyObject *owner; /* keeps the array alive; NULL: no view */
    void *data;
    int dimensions;
    const Py_ssize_t *shape, *strides; /* one per dimension, strides in bytes */
    int item_bytes;
    char kind; /* 'f' for floats; 0: wrong byte order for this machine */
} array_view;

/* Whether it is an array, or of a derived type such as a masked array. */
bool is_array(PyObject *x);
bool is_plain_array(PyObject *x);

/* False with an exception set. The array lives until array_view_release. */
bool array_view_get(array_view *view, PyObject *array);
void array_view_release(array_view *view);

/* Converts a buffer, such as an array.array, to an array. NULL with an exception set. */
PyObject *array_of_buffer(PyObject *x);

/* A new float64 NumPy array, and a view of its numbers. Its shape is (count,) or, if columns >= 0,
 * (count, columns). NULL with an exception set. */
PyObject *new_array(Py_ssize_t count, Py_ssize_t columns, array_view *view);

/* ---- guard.c ---- */

/* Lets one thread at a time use an object. All fields are accessed with the GIL held; a waiting
 * thread releases it. */
typedef struct guard {
    PyThread_type_lock turn; /* released for one waiting thread when the guard is left */
    bool turn_given;         /* released, and not taken yet */
    unsigned waiting;        /* number of threads that wait for the turn */
    unsigned long owner;     /* the thread inside, 0 for none */
    unsigned generation;     /* number of forks when the lock was created */
    bool writing;            /* the thread inside changes the object */
    bool broken;             /* a fork happened while another thread was changing the object */
} guard;

bool guard_init(guard *g);
void guard_free(guard *g);

/* False with an exception set if the same thread is already inside or the object is lost. */
bool guard_enter(guard *g, bool writing);
void guard_leave(guard *g);

/* Whether the process was forked since the guard was created; its other threads are then gone. */
bool guard_is_forked(const guard *g);

/* ---- row_input.c ---- */

enum { ROW_NUMBERS = 64 }; /* single rows up to this length need no allocation */

/* Rows of numbers from some Python object. */
typedef struct row_input {
    bool single; /* one row, not a block of rows */
    Py_ssize_t count, columns;
    const char *data;
    Py_ssize_t row_stride, column_stride; /* in bytes */
    char format;                          /* 'd' or 'f' */
    bool by_name;                         /* a dict, or a row with labels */
    PyObject *names;                      /* of the columns as given, or NULL; owned */
    array_view view;
    bool has_view;
    double *own;
    double few[ROW_NUMBERS];
} row_input;

/* What reading must know about the object that gets the rows. */
typedef struct expected_rows {
    PyObject *names;     /* of the columns, or NULL while unknown */
    Py_ssize_t columns;  /* 0 while unknown */
    bool ignore_unknown; /* columns of a dict that the first one did not have */
} expected_rows;

/* How numbers in one dimension are interpreted if the object is new or has rows of one number:
 *
 *     ONE_ROW    a row; several rows are rejected
 *     SOME_ROWS  a list is a row; an array is rejected if the object is new, else a series
 *     SERIES     rows of one number each
 *
 * If rows have several columns, that many numbers are always one row. */
typedef enum rows_wanted { ONE_ROW, SOME_ROWS, SERIES } rows_wanted;

/* Reads x. False with an exception set. The rows stay valid until row_input_free, which must be
 * called in any case. */
bool row_input_read(row_input *rows, PyObject *x, const expected_rows *expected,
                    rows_wanted wanted);
void row_input_free(row_input *rows);

/* Row i as doubles: in place if possible, else copied to `copy`, which has space for one row. */
const double *row_input_at(const row_input *rows, Py_ssize_t i, double *copy);

/* Whether the library can read the rows in place; `stride` is then in numbers. */
bool row_input_in_place(const row_input *rows, size_t *stride);

/* Copies `count` rows, starting at `first`, without gaps. */
void row_input_copy(const row_input *rows, Py_ssize_t first, Py_ssize_t count, double *to);

/* Finds the first infinity. */
bool row_input_find_infinity(const row_input *rows, Py_ssize_t *row, Py_ssize_t *column);

/* Raises the error of an infinity; returns NULL. */
PyObject *raise_infinity(Py_ssize_t row, Py_ssize_t column, bool single, PyObject *names);

/* ---- arrow.c ---- */

/* arrow_rows(capsule of an ArrowArrayStream) -> (array, names, left_out): the columns of numbers,
 * with NaN for null, and (position, name, content) of every other column. */
PyObject *arrow_rows(PyObject *module, PyObject *capsule);

/* ---- params.c ---- */

/* Sets the parameters of a dict. */
bool params_set(oif_params *params, PyObject *values);
PyObject *params_as_dict(const oif_params *params);
PyObject *params_as_proxy(const oif_params *params); /* the same, read-only */
PyObject *table_as_dict(const oif_param_table *table);
PyObject *info_as_dict(const oif_detector_info *info);

/* ---- learner.c ---- */

typedef struct learner learner;

/* What differs between the types. `made` is an oif_detector or an oif_pipeline. */
typedef struct learner_kind {
    const char *noun;
    bool (*enter)(learner *self, bool writing);
    /* sets self->made for rows of that many columns; false with an exception set */
    bool (*make)(learner *self, size_t columns);
    void (*free)(learner *self);
    size_t (*columns)(const void *made);
    const char *(*column_name)(const void *made, size_t column);
    oif_status (*name_columns)(void *made, const char *const *names, oif_error *error);
    oif_status (*check)(const void *made, oif_error *error);
    oif_status (*save)(const void *made, oif_write_function write, void *context, oif_error *error);
    oif_status (*save_file)(const void *made, const char *path, oif_error *error);
    /* sets self->made and self->params */
    /* If `used` is not NULL, other bytes may follow the snapshot, and `*used` becomes its size. */
    oif_status (*load)(learner *self, const void *bytes, size_t count, size_t *used,
                       oif_error *error);
    oif_status (*copy)(learner *self, const learner *from, oif_error *error);
} learner_kind;

struct learner {
    PyObject_HEAD const learner_kind *kind;
    guard guard;
    oif_params params; /* its table is NULL before __init__ */
    void *made;        /* NULL before the first row */
    PyObject *names;   /* a tuple, or NULL while the columns are unnamed */
    bool ignore_unknown;
};

PyObject *learner_new(PyTypeObject *type, const learner_kind *kind);
void learner_dealloc(PyObject *object);

/* For __init__: reads the parameters of a kind of detector; fails if the object was already
 * created. False with an exception set. */
bool learner_read_params(learner *self, const char *kind, PyObject *values, oif_params *params);

/* Like guard_enter, for an initialised object. */
bool learner_enter(learner *self, bool writing);
void learner_leave(learner *self);

expected_rows learner_expects(const learner *self);

/* Creates the library's object if these are the first rows. Checks the columns again, because
 * another thread may have created it since the rows were read. */
bool learner_prepare(learner *self, const row_input *rows);

/* Keeps the names that came with the rows, unless there already are names. */
void learner_adopt_names(learner *self, const row_input *rows);

/* Passes names to the library; takes those of a snapshot. False with an exception set. */
bool learner_give_names(learner *self, PyObject *names);
bool learner_take_names(learner *self);

/* Raises the error of a call with rows, starting at `first`; returns NULL. */
PyObject *learner_raise(const learner *self, const oif_error *error, Py_ssize_t first,
                        const row_input *rows);

/* The closure of an attribute with the getter learner_ask: the value once the library's object
 * exists, and the value before. */
typedef struct learner_question {
    PyObject *(*answer)(const void *made);
    PyObject *(*before)(void);
} learner_question;

/* Bytes that the library reads; `context` of learner_read_bytes. */
typedef struct learner_bytes {
    const char *bytes;
    size_t count, used;
} learner_bytes;

ptrdiff_t learner_read_bytes(void *context, char *buffer, size_t capacity);

PyObject *learner_ask(PyObject *self, void *question);
PyObject *answer_none(void);
PyObject *answer_zero(void);
PyObject *answer_false(void);

/* ---- pipeline_rules.c ---- */

typedef struct pipeline_object {
    learner base; /* made: an oif_pipeline */
    oif_params options;
    /* ((column, kind, keep), ...): derived columns, by name or number; NULL: none */
    PyObject *derive;
    PyObject *rules;      /* bytes: those that wait for the first row; NULL: none */
    PyObject *named;      /* the names that the library was given; NULL: none */
    oif_state_file *file; /* saved to, and keeps evicted models; or NULL */
    bool keeps_episodes;  /* from the first row on */
} pipeline_object;

/* Give the names of columns, if rules find them by these, and the rules that waited, to a pipeline
 * of the library. False with an exception set. */
bool pipeline_name_columns(pipeline_object *self, PyObject *names);
bool pipeline_begin_rules(pipeline_object *self);

/* Replaces the rules that wait; NULL: none. */
void pipeline_keep_rules(pipeline_object *self, PyObject *text);

/* A pipeline with the options of one that does not exist yet: it knows which options conflict, and
 * what is a rule. NULL with an exception set. */
oif_pipeline *pipeline_make_trial(const pipeline_object *self);

PyObject *pipeline_set_rules(PyObject *self, PyObject *text);
PyObject *pipeline_rules(PyObject *self, PyObject *unused);

/* ---- pipeline_feedback.c ---- */

/* Begins to keep episodes if that is wanted. False with an exception set. */
bool pipeline_begin_episodes(pipeline_object *self);
bool pipeline_keeps(const pipeline_object *self);

PyObject *pipeline_get_keep_episodes(PyObject *self, void *unused);
int pipeline_set_keep_episodes(PyObject *self, PyObject *value, void *unused);
PyObject *pipeline_past_episodes(PyObject *self, PyObject *unused);
PyObject *pipeline_propose(PyObject *self, PyObject *arguments);

/* ---- pipeline_keys.c ---- */

typedef struct row_key {
    const char *bytes; /* NULL: no key */
    Py_ssize_t count;
} row_key;

/* Reads a key, owned by the object: str, bytes, or None for no key. `row` is for the error, -1 for
 * none. */
bool key_read(PyObject *object, row_key *k, Py_ssize_t row);

/* The keys of all rows, owned by the objects in the tuple. NULL with an exception set. */
row_key *key_read_all(PyObject *tuple, Py_ssize_t count);

PyObject *pipeline_episode(PyObject *self, PyObject *key);
PyObject *pipeline_season(PyObject *self, PyObject *key);
PyObject *pipeline_silent(PyObject *self, PyObject *seconds);
PyObject *pipeline_key_infos(PyObject *self, PyObject *unused);
PyObject *pipeline_key_info(PyObject *self, PyObject *key);
PyObject *pipeline_remove_key(PyObject *self, PyObject *key);
PyObject *pipeline_save_key(PyObject *self, PyObject *key);
PyObject *pipeline_load_key(PyObject *self, PyObject *arguments);
PyObject *pipeline_detector_of(PyObject *self, PyObject *arguments);
PyObject *pipeline_adopt(PyObject *self, PyObject *detector);

/* ---- pipeline_result.c ---- */

/* One result, laid out like RESULT in python/oif/_results.py. */
typedef struct record {
    double score, threshold;
    uint8_t anomaly, ready, learned, episode, grade;
    /* named, so it is zero in every result, and equal results have equal bytes */
    uint8_t unused[3];
    double severity;
    int8_t reason;
    uint8_t has_no_model;
    uint8_t unused_too[2];
    uint32_t rule;
} record;

record result_record(const oif_result *result);
PyObject *result_as_python(const record *r);

/* _set_result_type(oif.Result, episodes, grades, reasons) */
PyObject *set_result_type(PyObject *module, PyObject *arguments);
PyObject *pipeline_explain(PyObject *self, PyObject *unused);
PyObject *pipeline_expected(PyObject *self, PyObject *unused);

/* ---- pipeline_rows.c ---- */

PyObject *pipeline_process(PyObject *self, PyObject *arguments);
PyObject *pipeline_process_one(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

/* ---- pipeline_columns.c ---- */

/* Sets the derived columns of a new pipeline, whose columns have these names. False with an
 * exception set. */
bool pipeline_derive(const pipeline_object *self, PyObject *names);

PyObject *pipeline_learned(PyObject *self, PyObject *unused);
PyObject *pipeline_add_columns(PyObject *self, PyObject *arguments);

/* ---- Types ---- */

extern PyType_Spec learner_spec, detector_spec, pipeline_spec, incidents_spec;
extern PyTypeObject *detector_type; /* created from detector_spec by module.c */

#endif
