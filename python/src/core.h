/* The extension oif._core: include/oif.h for Python, on the limited API, so that one build
 * serves every version from 3.11 on. Lifetime, rows and threads are the business of these
 * files; what is pleasant to use is made of them in python/oif.
 *
 *     module.c      the module, errors, tables of detectors
 *     guard.c       one thread at a time, also across a fork
 *     rows.c        dicts, sequences and buffers as rows of numbers
 *     arrow.c       Arrow streams as rows of numbers
 *     params.c      parameters in and out
 *     learner.c     the type Learner: what the next two have in common
 *     detector.c    the type Detector
 *     pipeline.c    the type Pipeline
 */
#ifndef OIF_PYTHON_CORE_H
#define OIF_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <oif.h>

/* ---- module.c ---- */

/* Raises what belongs to the status, with its place; returns NULL. */
PyObject *raise_error(const oif_error *error);

/* Raises oif.DataError with a place (counted from 0, -1 for none) and a message as of
 * PyErr_Format; returns NULL. */
PyObject *raise_data_error(Py_ssize_t row, Py_ssize_t column, const char *format, ...);

/* Raises oif.ColumnTypeError: a column of a table holds no numbers but, say, text. */
void raise_column_type(Py_ssize_t column, const char *name, const char *holds);

/* A new float64 array of numpy, of shape (count,) or, with columns >= 0, (count, columns), and
 * where its numbers are. */
PyObject *new_array(Py_ssize_t count, Py_ssize_t columns, Py_buffer *view);

/* ---- guard.c ---- */

/* Lets one thread at a time use an object. All fields are read and written with the GIL held;
 * who waits lets it go. */
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

/* ---- rows.c ---- */

enum { ROW_NUMBERS = 64 }; /* single rows up to this length need no memory of their own */

/* Rows of numbers behind some Python object. */
typedef struct rows {
    bool single; /* one row, not a block of rows */
    Py_ssize_t count, width;
    const char *data;
    Py_ssize_t row_stride, column_stride; /* in bytes */
    char format;                          /* 'd' or 'f' */
    PyObject *names;                      /* names of the columns as they came, or NULL; owned */
    Py_buffer view;
    bool has_view;
    double *own;
    double few[ROW_NUMBERS];
} rows;

/* What a reader has to know of the object that takes the rows. */
typedef struct expected_rows {
    PyObject *names;     /* of the features, or NULL while unknown */
    Py_ssize_t width;    /* 0 while unknown */
    bool ignore_unknown; /* features of a dict that were not in the first one */
} expected_rows;

/* Reads x; with `one` only a single row is accepted. False with an exception set. The rows stay
 * valid until rows_free, which must be called in any case. */
bool rows_read(rows *r, PyObject *x, const expected_rows *expected, bool one);
void rows_free(rows *r);

/* Row i as doubles: in place where they lie so, else copied to `copy`, which has room for
 * `width`. */
const double *rows_at(const rows *r, Py_ssize_t i, double *copy);

/* Whether the library can read the rows where they are; the stride is then in numbers. */
bool rows_in_place(const rows *r, size_t *stride);

/* Copies `count` rows from `first` on, one after another. */
void rows_copy(const rows *r, Py_ssize_t first, Py_ssize_t count, double *to);

/* Finds the first infinity. */
bool rows_find_infinity(const rows *r, Py_ssize_t *row, Py_ssize_t *column);

/* Raises the error of an infinity; returns NULL. */
PyObject *raise_infinity(Py_ssize_t row, Py_ssize_t column, bool single, PyObject *names);

/* ---- arrow.c ---- */

/* arrow_rows(capsule of an ArrowArrayStream) -> (array, names); nulls are NaN. */
PyObject *arrow_rows(PyObject *module, PyObject *capsule);

/* ---- params.c ---- */

/* Sets the parameters of a dict. */
bool params_set(oif_params *params, PyObject *values);
PyObject *params_as_dict(const oif_params *params);
PyObject *info_as_dict(const oif_detector_info *info);

/* ---- learner.c ---- */

typedef struct learner learner;

/* What the types do each in their own way. `made` is an oif_detector or an oif_pipeline. */
typedef struct learner_kind {
    const char *noun;
    bool (*enter)(learner *self, bool writing);
    /* sets self->made for rows of this width, or an exception */
    bool (*make)(learner *self, size_t width);
    void (*free)(learner *self);
    size_t (*width)(const void *made);
    const char *(*column_name)(const void *made, size_t column);
    oif_status (*name_columns)(void *made, const char *const *names, oif_error *error);
    oif_status (*check)(const void *made, oif_error *error);
    oif_status (*save)(const void *made, oif_write_function write, void *context, oif_error *error);
    oif_status (*save_file)(const void *made, const char *path, oif_error *error);
    /* and params */
    oif_status (*load)(learner *self, const void *bytes, size_t count, oif_error *error);
    oif_status (*copy)(learner *self, const learner *from, oif_error *error);
} learner_kind;

struct learner {
    PyObject_HEAD const learner_kind *kind;
    guard guard;
    oif_params params; /* its info is NULL before __init__ */
    void *made;        /* NULL before the first row */
    PyObject *names;   /* a tuple, or NULL while the features have none */
    bool ignore_unknown;
};

PyObject *learner_new(PyTypeObject *type, const learner_kind *kind);

/* For __init__: the parameters of a method, unless the object was made before. False with an
 * exception set. */
bool learner_read_params(learner *self, const char *method, PyObject *values, oif_params *params);

/* As guard_enter, for an object that was initialised. */
bool learner_enter(learner *self, bool writing);
void learner_leave(learner *self);

expected_rows learner_expects(const learner *self);

/* Has the first rows make what learns them; the width is checked again because another thread
 * may have done so since they were read. */
bool learner_prepare(learner *self, const rows *r);

/* Keeps the names that came with the rows, unless there are names already. */
void learner_adopt_names(learner *self, const rows *r);

/* Raises the error of a call with rows from `first` on; returns NULL. */
PyObject *learner_raise(const learner *self, const oif_error *error, Py_ssize_t first,
                        const rows *r);

/* A figure of what was made, or what stands for it before: the closure of an attribute with the
 * getter learner_ask. */
typedef struct learner_question {
    PyObject *(*answer)(const void *made);
    PyObject *(*before)(void);
} learner_question;

PyObject *learner_ask(PyObject *self, void *question);
PyObject *answer_none(void);
PyObject *answer_zero(void);
PyObject *answer_false(void);

/* ---- Types ---- */

extern PyType_Spec learner_spec, detector_spec, pipeline_spec;
extern PyTypeObject *detector_type; /* what detector_spec became */

#endif
