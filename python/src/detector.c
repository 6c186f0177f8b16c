/* The type Detector: a kind with parameters, and from the first row on, which says how many numbers there are in one, an
 * oif_detector.
 *
 * Single rows are worked on with the GIL held: they take about a microsecond, and letting it go costs a good part of that.
 * Blocks let it go, for some thousand rows at a time, so that other threads run and Ctrl-C is heard. */
#include "core.h"

#include <string.h>

enum { CHUNK_NUMBERS = 1 << 17 }; /* numbers of a block between two looks for signals: some 10 milliseconds */

typedef struct detector_object {
    PyObject_HEAD guard guard;
    oif_params params; /* its info is NULL before __init__ */
    oif_detector *detector;
    PyObject *names; /* a tuple, or NULL while the features have none */
    bool ignore_unknown;
    unsigned threads;
} detector_object;

typedef enum action { LEARN, SCORE, LEARN_SCORE } action;

/* ---- Creation ---- */

static PyObject *detector_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    detector_object *self = (detector_object *)allocate(type, 0);
    if (!self)
        return NULL;
    self->threads = 1;
    if (!guard_init(&self->guard))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int detector_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    detector_object *self = (detector_object *)object;
    static char *words[] = {"kind", "params", NULL};
    const char *kind;
    PyObject *values = NULL;
    oif_params params;
    oif_error error;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sO:Detector", words, &kind, &values))
        return -1;
    if (self->params.info) {
        PyErr_SetString(PyExc_RuntimeError, "a detector is made once");
        return -1;
    }
    if (oif_params_init(&params, kind, &error) != OIF_OK) {
        raise_error(&error, NULL);
        return -1;
    }
    if (!params_set(&params, values))
        return -1;
    size_t bytes;
    if (oif_detector_estimate_bytes(&params, 1, &bytes, &error) != OIF_OK) { /* do they fit together? */
        raise_error(&error, NULL);
        return -1;
    }
    self->params = params;
    return 0;
}

/* The threads of a parent process are gone, so a pool of them cannot be ended. */
static void free_detector(detector_object *self)
{
    if (self->threads == 1 || !guard_is_forked(&self->guard))
        oif_detector_free(self->detector);
    self->detector = NULL;
}

static void detector_dealloc(PyObject *object)
{
    detector_object *self = (detector_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    free_detector(self);
    guard_free(&self->guard);
    Py_XDECREF(self->names);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- Taking and giving back ---- */

static bool set_threads(detector_object *self, unsigned threads)
{
    oif_error error;
    if (!self->detector || oif_detector_set_threads(self->detector, threads, &error) == OIF_OK)
        return true;
    raise_error(&error, NULL);
    return false;
}

/* In a forked child a detector with threads is copied, which leaves those of the parent behind. */
static bool leave_threads_behind(detector_object *self)
{
    oif_detector *copy;
    oif_error error;
    if (oif_detector_clone(self->detector, &copy, &error) != OIF_OK) {
        raise_error(&error, NULL);
        return false;
    }
    self->detector = copy;
    return set_threads(self, self->threads);
}

static bool enter(detector_object *self, bool writing)
{
    if (!self->params.info) {
        PyErr_SetString(PyExc_RuntimeError, "__init__ of the detector was not called");
        return false;
    }
    bool forked = guard_is_forked(&self->guard);
    if (!guard_enter(&self->guard, writing))
        return false;
    if (!forked || self->threads == 1 || !self->detector || leave_threads_behind(self))
        return true;
    guard_leave(&self->guard);
    return false;
}

static void leave(detector_object *self)
{
    guard_leave(&self->guard);
}

/* ---- Rows ---- */

static expected_rows expect_rows(const detector_object *self)
{
    return (expected_rows){self->names,
                           self->detector ? (Py_ssize_t)oif_detector_dimension(self->detector) : 0,
                           self->ignore_unknown};
}

/* Makes the detector when these are the first rows; the width is checked again because another thread may have made it
 * since they were read. */
static bool prepare(detector_object *self, const rows *r)
{
    oif_error error;
    if (!self->detector) {
        if (oif_detector_new(&self->params, (size_t)r->width, &self->detector, &error) != OIF_OK) {
            self->detector = NULL;
            raise_error(&error, NULL);
            return false;
        }
        if (self->threads > 1 && !set_threads(self, self->threads))
            return false;
    }
    if ((Py_ssize_t)oif_detector_dimension(self->detector) == r->width)
        return true;
    raise_data_error(-1, -1, "rows have %zu numbers here, not %zd", oif_detector_dimension(self->detector),
                     r->width);
    return false;
}

/* Keeps the names that came with the rows. */
static void adopt_names(detector_object *self, const rows *r)
{
    if (!self->names && r->names)
        self->names = Py_NewRef(r->names);
}

static oif_status act_on_row(detector_object *self, action what, const double *row, double *score,
                             oif_error *error)
{
    switch (what) {
    case LEARN: return oif_detector_learn(self->detector, row, error);
    case SCORE: return oif_detector_score(self->detector, row, score, error);
    case LEARN_SCORE: break;
    }
    return oif_detector_learn_score(self->detector, row, score, error);
}

static oif_status act_on_block(detector_object *self, action what, const double *block, size_t count,
                               size_t stride, double *scores, oif_error *error)
{
    switch (what) {
    case LEARN: return oif_detector_learn_rows(self->detector, block, count, stride, error);
    case SCORE: return oif_detector_score_rows(self->detector, block, count, stride, scores, error);
    case LEARN_SCORE: break;
    }
    return oif_detector_learn_score_rows(self->detector, block, count, stride, scores, error);
}

static PyObject *raise_at(const oif_error *error, Py_ssize_t first, const rows *r, PyObject *names)
{
    if (error->status == OIF_EVALUE && error->column > 0)
        return raise_infinity(first + (error->line ? (Py_ssize_t)error->line - 1 : 0),
                              (Py_ssize_t)error->column - 1, r->single, names ? names : r->names);
    return raise_error(error, names);
}

static bool act_on_chunks(detector_object *self, action what, const rows *r, double *scores)
{
    size_t stride = (size_t)r->width;
    bool in_place = rows_in_place(r, &stride), good = true;
    Py_ssize_t chunk = CHUNK_NUMBERS / r->width + 1, row = 0, column = 0;
    double *copy = NULL;
    if (chunk > r->count)
        chunk = r->count;
    if (!in_place && !(copy = PyMem_Malloc((size_t)(chunk * r->width) * sizeof *copy))) {
        PyErr_NoMemory();
        return false;
    }
    PyThreadState *state = PyEval_SaveThread();
    /* All or nothing: what comes in several chunks is checked as a whole before the first. */
    bool infinite = chunk < r->count && rows_find_infinity(r, &row, &column);
    for (Py_ssize_t first = 0; good && !infinite && first < r->count; first += chunk) {
        Py_ssize_t count = r->count - first < chunk ? r->count - first : chunk;
        const double *block = copy;
        oif_error error;
        if (in_place)
            block = (const double *)(const void *)(r->data + first * r->row_stride);
        else
            rows_copy(r, first, count, copy);
        oif_status status =
            act_on_block(self, what, block, (size_t)count, stride, scores ? scores + first : NULL, &error);
        if (status == OIF_OK && first + count == r->count)
            break;
        PyEval_RestoreThread(state);
        if (status != OIF_OK)
            raise_at(&error, first, r, self->names);
        good = status == OIF_OK && PyErr_CheckSignals() == 0;
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    PyMem_Free(copy);
    if (infinite)
        raise_infinity(row, column, false, self->names ? self->names : r->names);
    return good && !infinite;
}

static bool act_locked(detector_object *self, action what, const rows *r, double *scores)
{
    oif_error error;
    double copy[ROW_NUMBERS];
    bool first = !self->detector, good;
    if (!prepare(self, r))
        return false;
    if (r->single && r->width <= ROW_NUMBERS) {
        good = act_on_row(self, what, rows_at(r, 0, copy), scores, &error) == OIF_OK;
        if (!good)
            raise_at(&error, 0, r, self->names);
    } else {
        good = act_on_chunks(self, what, r, scores);
    }
    if (!good && first && oif_detector_rows_learned(self->detector) == 0)
        free_detector(self); /* a call that fails changes nothing: the next may have rows of another width */
    if (good && r->names)
        adopt_names(self, r);
    return good;
}

static PyObject *act(detector_object *self, action what, PyObject *x, bool one)
{
    rows r;
    double score = 0, *scores = &score;
    PyObject *array = NULL;
    Py_buffer view;
    expected_rows expected = expect_rows(self);
    bool good = rows_read(&r, x, &expected, one);
    if (good && !r.single && what != LEARN) {
        array = new_array(r.count, -1, &view);
        good = array != NULL;
        scores = good ? view.buf : NULL;
    }
    if (good && r.count > 0 && (good = enter(self, what != SCORE))) {
        good = act_locked(self, what, &r, scores);
        leave(self);
    }
    if (array)
        PyBuffer_Release(&view);
    bool single = good && r.single;
    rows_free(&r);
    if (!good || what == LEARN) {
        Py_XDECREF(array);
        return good ? Py_NewRef(Py_None) : NULL;
    }
    return single ? PyFloat_FromDouble(score) : array;
}

#define ACT_METHOD(name, what, one)                                                                          \
    static PyObject *name(PyObject *self, PyObject *x)                                                       \
    {                                                                                                        \
        return act((detector_object *)self, what, x, one);                                                   \
    }
ACT_METHOD(detector_learn, LEARN, false)
ACT_METHOD(detector_score, SCORE, false)
ACT_METHOD(detector_learn_score, LEARN_SCORE, false)
ACT_METHOD(detector_learn_one, LEARN, true)
ACT_METHOD(detector_score_one, SCORE, true)
ACT_METHOD(detector_learn_score_one, LEARN_SCORE, true)

/* ---- Explanations ---- */

static bool explain_rows(detector_object *self, const rows *r, Py_ssize_t features, double *shares)
{
    oif_error error = {.status = OIF_OK};
    Py_ssize_t done = 0;
    double *room = PyMem_Malloc(2 * (size_t)r->width * sizeof *room);
    if (!room) {
        PyErr_NoMemory();
        return false;
    }
    PyThreadState *state = PyEval_SaveThread();
    for (; done < r->count; done++)
        if (oif_detector_explain(self->detector, rows_at(r, done, room), (size_t)features,
                                 shares + done * features, room + r->width, &error) != OIF_OK)
            break;
    PyEval_RestoreThread(state);
    PyMem_Free(room);
    if (done < r->count)
        raise_at(&error, done, r, self->names);
    return done == r->count;
}

static PyObject *detector_explain(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    detector_object *self = (detector_object *)object;
    static char *words[] = {"x", "columns", NULL};
    PyObject *x, *array = NULL, *wanted = Py_None;
    rows r;
    Py_buffer view;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:explain", words, &x, &wanted))
        return NULL;
    Py_ssize_t features = wanted == Py_None ? -1 : PyLong_AsSsize_t(wanted);
    if (features == -1 && PyErr_Occurred())
        return NULL;
    expected_rows expected = expect_rows(self);
    bool good = rows_read(&r, x, &expected, false);
    if (good && !self->detector) {
        raise_data_error(-1, -1, "nothing was learned that could explain a row");
        good = false;
    }
    if (good && wanted == Py_None)
        features = r.width;
    if (good && (features < 1 || r.width % features != 0)) {
        PyErr_Format(PyExc_ValueError, "columns must divide the %zd numbers of a row, %zd does not", r.width,
                     features);
        good = false;
    }
    if (good) {
        array = r.single ? new_array(features, -1, &view) : new_array(r.count, features, &view);
        good = array != NULL;
    }
    if (good && (good = enter(self, false))) {
        good = prepare(self, &r) && explain_rows(self, &r, features, view.buf);
        leave(self);
    }
    if (array)
        PyBuffer_Release(&view);
    rows_free(&r);
    if (!good)
        Py_CLEAR(array);
    return array;
}

/* ---- Snapshots ---- */

static PyObject *detector_to_bytes(PyObject *object, PyObject *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    PyObject *bytes = NULL;
    oif_error error;
    if (!enter(self, false))
        return NULL;
    if (!self->detector) {
        raise_data_error(-1, -1, "there is nothing to save before the first row");
    } else {
        size_t size = oif_detector_snapshot_bytes(self->detector);
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (bytes &&
            oif_detector_save_memory(self->detector, PyBytes_AsString(bytes), size, &error) != OIF_OK) {
            Py_CLEAR(bytes);
            raise_error(&error, NULL);
        }
    }
    leave(self);
    return bytes;
}

static PyObject *detector_save(PyObject *object, PyObject *path)
{
    detector_object *self = (detector_object *)object;
    PyObject *name = NULL;
    oif_error error;
    oif_status status = OIF_OK;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    if (!enter(self, false)) {
        Py_DECREF(name);
        return NULL;
    }
    bool empty = !self->detector;
    if (!empty) {
        const char *file = PyBytes_AsString(name);
        PyThreadState *state = PyEval_SaveThread();
        status = oif_detector_save_file(self->detector, file, &error);
        PyEval_RestoreThread(state);
    }
    leave(self);
    Py_DECREF(name);
    if (empty)
        return raise_data_error(-1, -1, "there is nothing to save before the first row");
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error, NULL);
}

/* Becomes what the bytes hold; for a fresh object, of which __init__ was not called. */
static PyObject *detector_restore(PyObject *object, PyObject *bytes)
{
    detector_object *self = (detector_object *)object;
    Py_buffer view;
    oif_error error;
    if (self->params.info) {
        PyErr_SetString(PyExc_RuntimeError, "a detector is made once");
        return NULL;
    }
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    oif_status status = oif_detector_load_memory(view.buf, (size_t)view.len, &self->detector, &error);
    PyBuffer_Release(&view);
    if (status != OIF_OK) {
        self->detector = NULL;
        return raise_error(&error, NULL);
    }
    self->params = *oif_detector_params(self->detector);
    Py_RETURN_NONE;
}

/* Becomes a copy of another; for a fresh object as well. */
static PyObject *detector_assign(PyObject *object, PyObject *other)
{
    detector_object *self = (detector_object *)object, *from = (detector_object *)other;
    oif_error error;
    oif_status status = OIF_OK;
    /* Both are of this type when they share what deallocates them at the root of their classes. */
    if (self->params.info || !PyObject_TypeCheck(other, Py_TYPE(object))) {
        PyErr_SetString(PyExc_TypeError, "a fresh detector becomes a copy of one of the same class");
        return NULL;
    }
    if (!enter(from, false))
        return NULL;
    if (from->detector)
        status = oif_detector_clone(from->detector, &self->detector, &error);
    if (status == OIF_OK) {
        self->params = from->params;
        self->names = Py_XNewRef(from->names);
        self->ignore_unknown = from->ignore_unknown;
    } else {
        self->detector = NULL;
    }
    leave(from);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error, NULL);
}

/* ---- Questions ---- */

static PyObject *detector_check(PyObject *object, PyObject *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    oif_error error;
    if (!enter(self, false))
        return NULL;
    oif_status status = self->detector ? oif_detector_check(self->detector, &error) : OIF_OK;
    leave(self);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error, NULL);
}

static void tell_figure(void *context, const char *name, double value)
{
    PyObject **dict = context;
    PyObject *number = *dict ? PyFloat_FromDouble(value) : NULL;
    if (!number || PyDict_SetItemString(*dict, name, number) < 0)
        Py_CLEAR(*dict);
    Py_XDECREF(number);
}

static PyObject *detector_describe(PyObject *object, PyObject *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    PyObject *dict = PyDict_New();
    if (!dict || !enter(self, false)) {
        Py_XDECREF(dict);
        return NULL;
    }
    if (self->detector)
        oif_detector_describe(self->detector, tell_figure, &dict);
    leave(self);
    return dict;
}

static PyObject *detector_estimate_bytes(PyObject *object, PyObject *argument)
{
    detector_object *self = (detector_object *)object;
    Py_ssize_t dimension = PyLong_AsSsize_t(argument);
    size_t bytes;
    oif_error error;
    if (dimension == -1 && PyErr_Occurred())
        return NULL;
    if (!enter(self, false))
        return NULL;
    leave(self);
    if (oif_detector_estimate_bytes(&self->params, dimension < 0 ? 0 : (size_t)dimension, &bytes, &error) !=
        OIF_OK)
        return raise_error(&error, NULL);
    return PyLong_FromSize_t(bytes);
}

static PyObject *get_params(PyObject *object, void *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    return self->params.info ? params_as_dict(&self->params) : PyDict_New();
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    return PyUnicode_FromString(self->params.info ? self->params.info->name : "");
}

/* A figure of the detector, or what stands for it before the first row. */
#define QUESTION(name, answer, before)                                                                       \
    static PyObject *name(PyObject *object, void *unused)                                                    \
    {                                                                                                        \
        (void)unused;                                                                                        \
        detector_object *self = (detector_object *)object;                                                   \
        if (!enter(self, false))                                                                             \
            return NULL;                                                                                     \
        PyObject *result = self->detector ? answer : before;                                                 \
        leave(self);                                                                                         \
        return result;                                                                                       \
    }
QUESTION(get_dimension, PyLong_FromSize_t(oif_detector_dimension(self->detector)), Py_NewRef(Py_None))
QUESTION(get_rows_learned, PyLong_FromUnsignedLongLong(oif_detector_rows_learned(self->detector)),
         PyLong_FromLong(0))
QUESTION(get_memory_bytes, PyLong_FromSize_t(oif_detector_memory_bytes(self->detector)), PyLong_FromLong(0))
QUESTION(get_ready, PyBool_FromLong(oif_detector_ready(self->detector)), PyBool_FromLong(0))

static PyObject *get_feature_names(PyObject *object, void *unused)
{
    (void)unused;
    PyObject *names = ((detector_object *)object)->names;
    return Py_NewRef(names ? names : Py_None);
}

static int set_feature_names(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    PyObject *names = NULL;
    if (value && value != Py_None && !(names = PySequence_Tuple(value)))
        return -1;
    if (names && self->detector &&
        PyTuple_Size(names) != (Py_ssize_t)oif_detector_dimension(self->detector)) {
        PyErr_Format(PyExc_ValueError, "%zd names for rows of %zu numbers", PyTuple_Size(names),
                     oif_detector_dimension(self->detector));
        Py_DECREF(names);
        return -1;
    }
    PyObject *old = self->names;
    self->names = names;
    Py_XDECREF(old);
    return 0;
}

static PyObject *get_threads(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((detector_object *)object)->threads);
}

static int set_threads_attribute(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    detector_object *self = (detector_object *)object;
    long threads = value ? PyLong_AsLong(value) : 0;
    if (threads == -1 && PyErr_Occurred())
        return -1;
    if (threads < 1 || threads > 16) {
        PyErr_Format(PyExc_ValueError, "threads must be 1 to 16, not %ld", threads);
        return -1;
    }
    if (!enter(self, true))
        return -1;
    bool good = set_threads(self, (unsigned)threads);
    if (good)
        self->threads = (unsigned)threads;
    leave(self);
    return good ? 0 : -1;
}

static PyObject *get_ignore_unknown(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((detector_object *)object)->ignore_unknown);
}

static int set_ignore_unknown(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    int ignore = value ? PyObject_IsTrue(value) : 0;
    if (ignore < 0)
        return -1;
    ((detector_object *)object)->ignore_unknown = ignore;
    return 0;
}

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "The name of the method, as the tool and the C library call it.", NULL},
    {"params", get_params, NULL, "Every parameter with its value.", NULL},
    {"dimension", get_dimension, NULL, "The numbers in a row; None before the first.", NULL},
    {"rows_learned", get_rows_learned, NULL, "The rows learned so far.", NULL},
    {"memory_bytes", get_memory_bytes, NULL, "The bytes that the detector takes; 0 before the first row.",
     NULL},
    {"ready", get_ready, NULL, "Whether enough was learned for scores to mean something.", NULL},
    {"feature_names", get_feature_names, set_feature_names,
     "The names of the numbers in a row: those of the first dict or DataFrame, or None.", NULL},
    {"threads", get_threads, set_threads_attribute,
     "The threads, 1 to 16, that share the work on arrays. Scores do not depend on it.", NULL},
    {"ignore_unknown", get_ignore_unknown, set_ignore_unknown,
     "Whether features that were not in the first dict or DataFrame are left out instead of refused.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"learn", detector_learn, METH_O,
     "learn($self, x, /)\n--\n\nLearn one row, or the rows of an array or DataFrame one after another."},
    {"score", detector_score, METH_O,
     "score($self, x, /)\n--\n\nScore without learning: a number for one row, an array for rows. Higher is "
     "more "
     "anomalous."},
    {"learn_score", detector_learn_score, METH_O,
     "learn_score($self, x, /)\n--\n\nLearn and then score row after row: a number for one row, an array for "
     "rows."},
    {"learn_one", detector_learn_one, METH_O,
     "learn_one($self, x, /)\n--\n\nLearn one row: a dict, a sequence or an array of one dimension."},
    {"score_one", detector_score_one, METH_O,
     "score_one($self, x, /)\n--\n\nScore one row without learning it."},
    {"learn_score_one", detector_learn_score_one, METH_O,
     "learn_score_one($self, x, /)\n--\n\nLearn one row, then score it."},
    {"explain", (PyCFunction)(void (*)(void))detector_explain, METH_VARARGS | METH_KEYWORDS,
     "explain($self, /, x, columns=None)\n--\n\nHow much of each row's score is due to each number: shares "
     "that add up "
     "to 1, or all 0.\n\nOf rows that are several time steps long, give the columns of one step."},
    {"to_bytes", detector_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nA snapshot: all that the detector is, on any machine. oif.load reads it."},
    {"save", detector_save, METH_O,
     "save($self, path, /)\n--\n\nWrite a snapshot to a file, which holds the old one or the new one "
     "whatever happens."},
    {"check", detector_check, METH_NOARGS,
     "check($self, /)\n--\n\nVerify every invariant of the detector; raises oif.InvariantError. Slow."},
    {"describe", detector_describe, METH_NOARGS,
     "describe($self, /)\n--\n\nFigures about what was learned, such as leaves and depths, by name."},
    {"estimate_bytes", detector_estimate_bytes, METH_O,
     "estimate_bytes($self, dimension, /)\n--\n\nThe bytes that the detector takes for rows of so many "
     "numbers."},
    {"_restore", detector_restore, METH_O, "_restore($self, snapshot, /)\n--\n\n"},
    {"_assign", detector_assign, METH_O, "_assign($self, other, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Detector(kind, params)\n--\n\nA detector of the C library."},
    {Py_tp_new, detector_new},
    {Py_tp_init, detector_init},
    {Py_tp_dealloc, detector_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec detector_spec = {
    .name = "oif._core.Detector",
    .basicsize = sizeof(detector_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
