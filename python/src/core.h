/* The extension oif._core: include/oif.h for Python, on the limited API, so one build serves
 * every version from 3.9 on. These files are about lifetime, rows and threads; python/oif makes
 * an interface for people of them.
 *
 *     errors.c      exceptions
 *     text.c        str and bytes as bytes
 *     arrays.c      arrays of NumPy
 *     guard.c       one thread at a time, also across a fork
 *     row_input.c   dicts, sequences and buffers as rows of numbers
 *     arrow.c       Arrow streams as rows of numbers
 *     params.c      parameters in and out
 *     learner.c     the type Learner: what the next two have in common
 *     detector.c    the type Detector
 *     pipeline_keys.c   the keys of a pipeline
 *     pipeline_rows.c   the rows of a pipeline
 *     pipeline.c    the type Pipeline
 *     module.c      the module
 *
 * A file uses only files above it.
 */
#ifndef OIF_PYTHON_CORE_H
#define OIF_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <oif.h>

/* ---- What the limited API of 3.9 lacks ---- */

/* Promised from 3.10 on. In 3.9, of which there will be no other release, it is the same. */
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

/* Raises oif.DataError with a place (counted from 0, -1 for none) and a message as of
 * PyErr_Format; returns NULL. */
PyObject *raise_data_error(Py_ssize_t row, Py_ssize_t column, const char *format, ...);

/* ---- text.c ---- */

/* The bytes of a str as UTF-8, which belong to the object; `count` may be NULL, the text then has
 * no NUL. NULL with an exception set. */
const char *text_read(PyObject *object, Py_ssize_t *count);

/* What is like bytes as bytes: a new reference, or NULL with an exception set. */
PyObject *bytes_of(PyObject *object);

/* ---- arrays.c ---- */

/* What an array of NumPy contains. */
typedef struct array_view {
    PyObject *capsule; /* keeps the array alive; NULL: nothing is viewed */
    void *data;
    int dimensions;
    const Py_ssize_t *shape, *strides; /* one per dimension, strides in bytes */
    int item_bytes;
    char kind; /* 'f' for floats; 0: the bytes are in the wrong order for this machine */
} array_view;

/* Whether it is an array, or one of a type derived from it, such as one with a mask. */
bool is_array(PyObject *x);
bool is_plain_array(PyObject *x);

/* False with an exception set. Until array_view_release the array lives. */
bool array_view_get(array_view *view, PyObject *array);
void array_view_release(array_view *view);

/* An array in the place of a buffer, such as an array.array. NULL with an exception set. */
PyObject *array_of_buffer(PyObject *x);

/* A new float64 array of NumPy, and a view of its numbers. Its shape is (count,) or, with
 * columns >= 0, (count, columns). NULL with an exception set. */
PyObject *new_array(Py_ssize_t count, Py_ssize_t columns, array_view *view);

/* ---- guard.c ---- */

/* Lets one thread at a time use an object. All fields are read and written with the GIL held;
 * a thread that waits releases it. */
typedef struct guard {
    PyThread_type_lock lock;
    unsigned long owner; /* the thread that is inside, 0 for none */
    unsigned generation; /* forks seen when the lock was made */
    bool writing;        /* the one inside changes the object */
    bool broken;         /* a fork happened while a thread that is gone was changing the object */
} guard;

bool guard_init(guard *g);
void guard_free(guard *g);

/* False with an exception set when the same thread is inside already or the object is lost. */
bool guard_enter(guard *g, bool writing);
void guard_leave(guard *g);

/* Whether the process is a child forked since the guard was made; its other threads are then
 * gone. */
bool guard_is_forked(const guard *g);

/* ---- row_input.c ---- */

enum { ROW_NUMBERS = 64 }; /* single rows up to this length need no memory of their own */

/* Rows of numbers behind some Python object. */
typedef struct row_input {
    bool single; /* one row, not a block of rows */
    Py_ssize_t count, columns;
    const char *data;
    Py_ssize_t row_stride, column_stride; /* in bytes */
    char format;                          /* 'd' or 'f' */
    bool by_name;                         /* a dict, or a row with labels */
    PyObject *names;                      /* names of the columns as they came, or NULL; owned */
    array_view view;
    bool has_view;
    double *own;
    double few[ROW_NUMBERS];
} row_input;

/* What reading has to know about the object that the rows are for. */
typedef struct expected_rows {
    PyObject *names;     /* of the columns, or NULL while unknown */
    Py_ssize_t columns;  /* 0 while unknown */
    bool ignore_unknown; /* columns of a dict that were not in the first one */
} expected_rows;

/* What numbers in one dimension are, where the object is new or has rows of one number:
 *
 *     ONE_ROW    a row; rows are refused
 *     SOME_ROWS  a list is a row; an array is refused if the object is new, else a series
 *     SERIES     rows of one number each
 *
 * With rows of several columns, that many numbers are always a row. */
typedef enum rows_wanted { ONE_ROW, SOME_ROWS, SERIES } rows_wanted;

/* Reads x. False with an exception set. The rows stay valid until row_input_free, which must be
 * called in any case. */
bool row_input_read(row_input *rows, PyObject *x, const expected_rows *expected,
                    rows_wanted wanted);
void row_input_free(row_input *rows);

/* Row i as doubles: in place where they lie so, else copied to `copy`, which has room for
 * one row. */
const double *row_input_at(const row_input *rows, Py_ssize_t i, double *copy);

/* Whether the library can read the rows where they are; the stride is then in numbers. */
bool row_input_in_place(const row_input *rows, size_t *stride);

/* Copies `count` rows from `first` on, one after another. */
void row_input_copy(const row_input *rows, Py_ssize_t first, Py_ssize_t count, double *to);

/* Finds the first infinity. */
bool row_input_find_infinity(const row_input *rows, Py_ssize_t *row, Py_ssize_t *column);

/* Raises the error of an infinity; returns NULL. */
PyObject *raise_infinity(Py_ssize_t row, Py_ssize_t column, bool single, PyObject *names);

/* ---- arrow.c ---- */

/* arrow_rows(capsule of an ArrowArrayStream) -> (array, names, left_out): the columns of numbers,
 * nulls as NaN, and (place, name, what it contains) of each other column. */
PyObject *arrow_rows(PyObject *module, PyObject *capsule);

/* ---- params.c ---- */

/* Sets the parameters of a dict. */
bool params_set(oif_params *params, PyObject *values);
PyObject *params_as_dict(const oif_params *params);
PyObject *params_as_proxy(const oif_params *params); /* the same, which cannot be changed */
PyObject *table_as_dict(const oif_param_table *table);
PyObject *info_as_dict(const oif_detector_info *info);

/* ---- learner.c ---- */

typedef struct learner learner;

/* What the types do each in their own way. `made` is an oif_detector or an oif_pipeline. */
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
    oif_status (*load)(learner *self, const void *bytes, size_t count, oif_error *error);
    oif_status (*copy)(learner *self, const learner *from, oif_error *error);
} learner_kind;

struct learner {
    PyObject_HEAD const learner_kind *kind;
    guard guard;
    oif_params params; /* its table is NULL before __init__ */
    void *made;        /* NULL before the first row */
    PyObject *names;   /* a tuple, or NULL while the columns have none */
    bool ignore_unknown;
};

PyObject *learner_new(PyTypeObject *type, const learner_kind *kind);
void learner_dealloc(PyObject *object);

/* For __init__: the parameters of a kind of detector, unless the object was made before. False
 * with an exception set. */
bool learner_read_params(learner *self, const char *kind, PyObject *values, oif_params *params);

/* As guard_enter, for an object that was initialised. */
bool learner_enter(learner *self, bool writing);
void learner_leave(learner *self);

expected_rows learner_expects(const learner *self);

/* Makes the library's object when these are the first rows. The columns are checked again,
 * because another thread may have made it since the rows were read. */
bool learner_prepare(learner *self, const row_input *rows);

/* Keeps the names that came with the rows, unless there are names already. */
void learner_adopt_names(learner *self, const row_input *rows);

/* Hands the names to the library, before it saves; takes over those that a snapshot holds. False
 * with an exception set. */
bool learner_give_names(learner *self);
bool learner_take_names(learner *self);

/* Raises the error of a call with rows from `first` on; returns NULL. */
PyObject *learner_raise(const learner *self, const oif_error *error, Py_ssize_t first,
                        const row_input *rows);

/* An attribute with the getter learner_ask has one of these as its closure: the value once there
 * is an object of the library, and the value before. */
typedef struct learner_question {
    PyObject *(*answer)(const void *made);
    PyObject *(*before)(void);
} learner_question;

PyObject *learner_ask(PyObject *self, void *question);
PyObject *answer_none(void);
PyObject *answer_zero(void);
PyObject *answer_false(void);

/* ---- pipeline_keys.c ---- */

typedef struct row_key {
    const char *bytes; /* NULL: no key */
    Py_ssize_t count;
} row_key;

/* Reads a key, which belongs to the object: str, bytes, or None for no key. `row` is for the
 * error, -1 without one. */
bool key_read(PyObject *object, row_key *k, Py_ssize_t row);

/* The keys of all rows; they belong to the objects in the tuple. NULL with an exception set. */
row_key *key_read_all(PyObject *tuple, Py_ssize_t count);

typedef struct pipeline_object {
    learner base; /* made: an oif_pipeline */
    oif_params options;
    /* ((column, kind, keep), ...): what is derived, columns by name or number; NULL: nothing */
    PyObject *derive;
    oif_state_file *file; /* that it is saved to and that keeps evicted models, or NULL */
} pipeline_object;

PyObject *pipeline_episode(PyObject *self, PyObject *key);
PyObject *pipeline_silent(PyObject *self, PyObject *seconds);
PyObject *pipeline_key_infos(PyObject *self, PyObject *unused);
PyObject *pipeline_key_info(PyObject *self, PyObject *key);
PyObject *pipeline_remove_key(PyObject *self, PyObject *key);
PyObject *pipeline_save_key(PyObject *self, PyObject *key);
PyObject *pipeline_load_key(PyObject *self, PyObject *arguments);
PyObject *pipeline_detector_of(PyObject *self, PyObject *arguments);
PyObject *pipeline_adopt(PyObject *self, PyObject *detector);

/* ---- pipeline_rows.c ---- */

/* _set_result_type(oif.Result, episodes, grades, reasons) */
PyObject *set_result_type(PyObject *module, PyObject *arguments);
PyObject *pipeline_process(PyObject *self, PyObject *arguments);
PyObject *pipeline_process_one(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
PyObject *pipeline_explain(PyObject *self, PyObject *unused);
PyObject *pipeline_learned(PyObject *self, PyObject *unused);

/* ---- Types ---- */

extern PyType_Spec learner_spec, detector_spec, pipeline_spec;
extern PyTypeObject *detector_type; /* made from detector_spec by module.c */

#endif
