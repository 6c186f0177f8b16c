/* The type Pipeline: as Detector, with alerts, shingles and a model for each key. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 1 << 13, MAX_KEY_BYTES = 1 << 16 };

typedef struct pipeline_object {
    PyObject_HEAD guard guard;
    oif_params params, options; /* the infos are NULL before __init__ */
    oif_pipeline *pipeline;     /* NULL before the first row */
    PyObject *names;
    bool ignore_unknown;
} pipeline_object;

/* One result as python/oif/_pipeline.py's RESULT lays it out. */
typedef struct record {
    double score, p, threshold;
    uint8_t anomaly, ready, learned, episode;
    uint8_t unused[4]; /* named, so that it is zero in every result and equal ones have equal bytes */
} record;

/* ---- Creation ---- */

static PyObject *pipeline_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    pipeline_object *self = (pipeline_object *)allocate(type, 0);
    if (self && !guard_init(&self->guard))
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* Options that do not fit together show only when a pipeline is made, so a small one is. */
static bool try_options(const oif_params *params, const oif_params *options)
{
    oif_error error;
    oif_pipeline *trial;
    if (oif_pipeline_new(params, 1, options, &trial, &error) != OIF_OK) {
        raise_error(&error);
        return false;
    }
    oif_pipeline_free(trial);
    return true;
}

static int pipeline_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    pipeline_object *self = (pipeline_object *)object;
    static char *words[] = {"kind", "params", "options", NULL};
    const char *kind;
    PyObject *values, *option_values;
    oif_params params, options;
    oif_error error;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOO:Pipeline", words, &kind, &values,
                                     &option_values))
        return -1;
    if (self->params.info) {
        PyErr_SetString(PyExc_RuntimeError, "a pipeline is made once");
        return -1;
    }
    if (oif_params_init(&params, kind, &error) != OIF_OK) {
        raise_error(&error);
        return -1;
    }
    oif_pipeline_options_init(&options);
    if (!params_set(&params, values) || !params_set(&options, option_values) ||
        !try_options(&params, &options))
        return -1;
    self->params = params;
    self->options = options;
    return 0;
}

static void pipeline_dealloc(PyObject *object)
{
    pipeline_object *self = (pipeline_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    oif_pipeline_free(self->pipeline);
    guard_free(&self->guard);
    Py_XDECREF(self->names);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static bool enter(pipeline_object *self, bool writing)
{
    if (self->params.info)
        return guard_enter(&self->guard, writing);
    PyErr_SetString(PyExc_RuntimeError, "__init__ of the pipeline was not called");
    return false;
}

static void leave(pipeline_object *self)
{
    guard_leave(&self->guard);
}

/* ---- Keys ---- */

typedef struct key {
    const char *bytes;
    Py_ssize_t count;
} key;

static bool read_key(PyObject *object, key *k, Py_ssize_t row)
{
    *k = (key){NULL, 0};
    if (object == Py_None)
        return true;
    if (PyUnicode_Check(object)) {
        k->bytes = PyUnicode_AsUTF8AndSize(object, &k->count);
    } else if (PyBytes_Check(object)) {
        char *bytes;
        if (PyBytes_AsStringAndSize(object, &bytes, &k->count) == 0)
            k->bytes = bytes;
    } else {
        PyErr_Format(PyExc_TypeError, "a key is a str or bytes, not %R", object);
    }
    if (k->bytes && k->count > MAX_KEY_BYTES)
        raise_data_error(row, -1, "a key of %zd bytes is too long", k->count);
    return k->bytes && k->count <= MAX_KEY_BYTES;
}

/* The keys of all rows; they belong to the objects in the tuple. NULL with an exception set. */
static key *read_keys(PyObject *tuple, Py_ssize_t count)
{
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_ValueError, "there must be a key for each of the %zd rows", count);
        return NULL;
    }
    key *keys = PyMem_Malloc((size_t)(count + 1) * sizeof *keys);
    if (!keys)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; keys && i < count; i++)
        if (!read_key(PyTuple_GetItem(tuple, i), &keys[i], i)) {
            PyMem_Free(keys);
            return NULL;
        }
    return keys;
}

/* ---- Rows ---- */

static expected_rows expect_rows(const pipeline_object *self)
{
    return (expected_rows){self->names, self->pipeline ? (Py_ssize_t)oif_pipeline_columns(self->pipeline) : 0,
                           self->ignore_unknown};
}

static bool prepare(pipeline_object *self, const rows *r)
{
    oif_error error;
    if (!self->pipeline && oif_pipeline_new(&self->params, (size_t)r->width, &self->options, &self->pipeline,
                                            &error) != OIF_OK) {
        self->pipeline = NULL;
        raise_error(&error);
        return false;
    }
    if ((Py_ssize_t)oif_pipeline_columns(self->pipeline) == r->width)
        return true;
    raise_data_error(-1, -1, "rows have %zu numbers here, not %zd", oif_pipeline_columns(self->pipeline),
                     r->width);
    return false;
}

/* What explains the rows, for those that ask. */
typedef struct explanations {
    double *shares;
    int8_t *directions;
    bool anomalies_only;
    oif_attribution *room;
} explanations;

static void explain_last(pipeline_object *self, const explanations *e, Py_ssize_t row, size_t width,
                         bool wanted)
{
    if (wanted)
        oif_pipeline_explain(self->pipeline, e->room);
    for (size_t j = 0; j < width; j++) {
        e->shares[(size_t)row * width + j] = wanted ? e->room[j].share : 0;
        e->directions[(size_t)row * width + j] = wanted ? (int8_t)e->room[j].direction : 0;
    }
}

static oif_status process_rows(pipeline_object *self, const rows *r, const key *keys, Py_ssize_t first,
                               Py_ssize_t last, record *records, const explanations *e, double *copy,
                               oif_error *error)
{
    for (Py_ssize_t i = first; i < last; i++) {
        oif_result result;
        const key *k = keys ? &keys[i] : &(key){NULL, 0};
        oif_status status = oif_pipeline_process(self->pipeline, k->bytes, (size_t)k->count,
                                                 rows_at(r, i, copy), &result, error);
        if (status != OIF_OK)
            return status;
        records[i] = (record){result.score, result.p,       result.threshold,        result.anomaly,
                              result.ready, result.learned, (uint8_t)result.episode, {0}};
        if (e->shares)
            explain_last(self, e, i, (size_t)r->width, result.anomaly || !e->anomalies_only);
    }
    return OIF_OK;
}

static bool process_locked(pipeline_object *self, const rows *r, const key *keys, record *records,
                           explanations *e)
{
    bool good = true, fresh = !self->pipeline;
    Py_ssize_t row, column;
    if (!prepare(self, r))
        return false;
    if (!self->names && r->names)
        self->names = Py_NewRef(r->names);
    double *copy = PyMem_Malloc((size_t)r->width * sizeof *copy);
    e->room = PyMem_Malloc((size_t)r->width * sizeof *e->room);
    if (!copy || !e->room) {
        PyErr_NoMemory();
        good = false;
    }
    PyThreadState *state = PyEval_SaveThread();
    bool infinite = rows_find_infinity(r, &row, &column); /* all or nothing */
    for (Py_ssize_t first = 0; good && !infinite && first < r->count; first += CHUNK_ROWS) {
        Py_ssize_t last = r->count - first < CHUNK_ROWS ? r->count : first + CHUNK_ROWS;
        oif_error error;
        oif_status status = process_rows(self, r, keys, first, last, records, e, copy, &error);
        if (status == OIF_OK && last == r->count)
            break;
        PyEval_RestoreThread(state);
        if (status != OIF_OK)
            raise_error(&error);
        good = status == OIF_OK && PyErr_CheckSignals() == 0;
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    PyMem_Free(copy);
    PyMem_Free(e->room);
    if (infinite)
        raise_infinity(row, column, r->single, self->names);
    if (fresh && (infinite || (!good && oif_pipeline_rows(self->pipeline) == 0))) {
        oif_pipeline_free(self->pipeline); /* a call that fails changes nothing */
        self->pipeline = NULL;
        if (r->names)
            Py_CLEAR(self->names);
    }
    return good && !infinite;
}

static bool get_room(PyObject *object, Py_buffer *view, size_t bytes)
{
    if (PyObject_GetBuffer(object, view, PyBUF_WRITABLE) < 0)
        return false;
    if ((size_t)view->len >= bytes)
        return true;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "the array for results is too small");
    return false;
}

/* _process(x, keys, records, shares, directions, anomalies_only): `records` is called with the number of rows and gives
 * the arrays to write to. */
static PyObject *pipeline_process(PyObject *object, PyObject *arguments)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *x, *key_tuple, *make_room, *room = NULL;
    int with_shares, anomalies_only;
    rows r;
    key *keys = NULL;
    Py_buffer views[3];
    int view_count = 0;
    if (!PyArg_ParseTuple(arguments, "OOOpp:_process", &x, &key_tuple, &make_room, &with_shares,
                          &anomalies_only))
        return NULL;
    expected_rows expected = expect_rows(self);
    bool good = rows_read(&r, x, &expected, false);
    if (good && key_tuple != Py_None)
        good = (keys = read_keys(key_tuple, r.count)) != NULL;
    if (good) {
        room = PyObject_CallFunction(make_room, "nn", r.count, r.width); /* (records, shares, directions) */
        good = room && PyTuple_Check(room) && PyTuple_Size(room) == 3;
        if (room && !good)
            PyErr_SetString(PyExc_SystemError, "the room for results is a triple");
    }
    size_t cells = good ? (size_t)(r.count * r.width) : 0;
    size_t sizes[] = {good ? (size_t)r.count * sizeof(record) : 0, cells * sizeof(double), cells};
    for (int i = 0; good && i < (with_shares ? 3 : 1); i++) {
        good = get_room(PyTuple_GetItem(room, i), &views[i], sizes[i]);
        view_count += good;
    }
    if (good && r.count > 0 && (good = enter(self, true))) {
        explanations e = {.anomalies_only = anomalies_only};
        if (with_shares) {
            e.shares = views[1].buf;
            e.directions = views[2].buf;
        }
        good = process_locked(self, &r, keys, views[0].buf, &e);
        leave(self);
    }
    for (int i = 0; i < view_count; i++)
        PyBuffer_Release(&views[i]);
    PyMem_Free(keys);
    bool single = r.single;
    rows_free(&r);
    if (!good) {
        Py_XDECREF(room);
        return NULL;
    }
    return Py_BuildValue("NO", room, single ? Py_True : Py_False);
}

static PyObject *result_tuple(const record *r)
{
    return Py_BuildValue("dddNNNi", r->score, r->p, r->threshold, PyBool_FromLong(r->anomaly),
                         PyBool_FromLong(r->ready), PyBool_FromLong(r->learned), (int)r->episode);
}

static PyObject *pipeline_process_one(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    pipeline_object *self = (pipeline_object *)object;
    rows r;
    key k = {NULL, 0};
    record result;
    explanations none = {.shares = NULL};
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a row and a key are asked for");
        return NULL;
    }
    expected_rows expected = expect_rows(self);
    bool good = rows_read(&r, arguments[0], &expected, true) && read_key(arguments[1], &k, 0);
    if (good && (good = enter(self, true))) {
        good = process_locked(self, &r, &k, &result, &none);
        leave(self);
    }
    rows_free(&r);
    return good ? result_tuple(&result) : NULL;
}

static PyObject *pipeline_explain(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!enter(self, true))
        return NULL;
    size_t width = self->pipeline ? oif_pipeline_columns(self->pipeline) : 0;
    oif_attribution *room = PyMem_Malloc((width + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && self->pipeline)
        oif_pipeline_explain(self->pipeline, room);
    leave(self);
    for (size_t i = 0; list && i < width; i++) {
        PyObject *pair = Py_BuildValue("di", room[i].share, room[i].direction);
        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    PyMem_Free(room);
    return list;
}

/* ---- Snapshots ---- */

typedef struct growing {
    char *bytes;
    size_t count, capacity;
} growing;

static ptrdiff_t append(void *context, const char *bytes, size_t count)
{
    growing *to = context;
    if (count > to->capacity - to->count) {
        size_t capacity = 2 * to->capacity + count;
        char *larger = realloc(to->bytes, capacity);
        if (!larger)
            return -1;
        to->bytes = larger;
        to->capacity = capacity;
    }
    memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
    return (ptrdiff_t)count;
}

static PyObject *pipeline_to_bytes(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    growing to = {NULL, 0, 0};
    oif_error error;
    oif_status status = OIF_OK;
    if (!enter(self, false))
        return NULL;
    bool empty = !self->pipeline;
    if (!empty) {
        PyThreadState *state = PyEval_SaveThread();
        status = oif_pipeline_save(self->pipeline, append, &to, &error);
        PyEval_RestoreThread(state);
    }
    leave(self);
    PyObject *bytes = NULL;
    if (empty)
        raise_data_error(-1, -1, "there is nothing to save before the first row");
    else if (status != OIF_OK)
        raise_error(&error);
    else
        bytes = PyBytes_FromStringAndSize(to.bytes, (Py_ssize_t)to.count);
    free(to.bytes);
    return bytes;
}

static oif_status save_file(const oif_pipeline *pipeline, const char *path, oif_error *error)
{
    oif_state_file *file;
    oif_status status = oif_state_file_open(path, &file, error);
    if (status != OIF_OK)
        return status;
    status = oif_state_file_save_pipeline(file, pipeline, error);
    oif_state_file_close(file);
    return status;
}

static PyObject *pipeline_save(PyObject *object, PyObject *path)
{
    pipeline_object *self = (pipeline_object *)object;
    PyObject *name = NULL;
    oif_error error;
    oif_status status = OIF_OK;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    if (!enter(self, false)) {
        Py_DECREF(name);
        return NULL;
    }
    bool empty = !self->pipeline;
    if (!empty) {
        const char *file = PyBytes_AsString(name);
        PyThreadState *state = PyEval_SaveThread();
        status = save_file(self->pipeline, file, &error);
        PyEval_RestoreThread(state);
    }
    leave(self);
    Py_DECREF(name);
    if (empty)
        return raise_data_error(-1, -1, "there is nothing to save before the first row");
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

static PyObject *pipeline_restore(PyObject *object, PyObject *bytes)
{
    pipeline_object *self = (pipeline_object *)object;
    Py_buffer view;
    oif_error error;
    if (self->params.info) {
        PyErr_SetString(PyExc_RuntimeError, "a pipeline is made once");
        return NULL;
    }
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    oif_status status = oif_pipeline_load_memory(view.buf, (size_t)view.len, &self->pipeline, &error);
    PyBuffer_Release(&view);
    if (status != OIF_OK) {
        self->pipeline = NULL;
        return raise_error(&error);
    }
    self->params = *oif_pipeline_detector_params(self->pipeline);
    self->options = *oif_pipeline_options(self->pipeline);
    return Py_NewRef(Py_None);
}

static PyObject *pipeline_assign(PyObject *object, PyObject *other)
{
    pipeline_object *self = (pipeline_object *)object, *from = (pipeline_object *)other;
    oif_error error;
    oif_status status = OIF_OK;
    if (self->params.info || !PyObject_TypeCheck(other, Py_TYPE(object))) {
        PyErr_SetString(PyExc_TypeError, "a fresh pipeline becomes a copy of one of the same class");
        return NULL;
    }
    if (!enter(from, false))
        return NULL;
    if (from->pipeline)
        status = oif_pipeline_clone(from->pipeline, &self->pipeline, &error);
    if (status == OIF_OK) {
        self->params = from->params;
        self->options = from->options;
        self->names = Py_XNewRef(from->names);
        self->ignore_unknown = from->ignore_unknown;
    } else {
        self->pipeline = NULL;
    }
    leave(from);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

/* ---- Questions ---- */

static PyObject *pipeline_check(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    oif_error error;
    if (!enter(self, false))
        return NULL;
    oif_status status = self->pipeline ? oif_pipeline_check(self->pipeline, &error) : OIF_OK;
    leave(self);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    return PyUnicode_FromString(self->params.info ? self->params.info->name : "");
}

static PyObject *get_params(PyObject *object, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    return self->params.info ? params_as_dict(&self->params) : PyDict_New();
}

static PyObject *get_options(PyObject *object, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    return self->options.info ? params_as_dict(&self->options) : PyDict_New();
}

#define QUESTION(name, answer, before)                                                                       \
    static PyObject *name(PyObject *object, void *unused)                                                    \
    {                                                                                                        \
        (void)unused;                                                                                        \
        pipeline_object *self = (pipeline_object *)object;                                                   \
        if (!enter(self, false))                                                                             \
            return NULL;                                                                                     \
        PyObject *result = self->pipeline ? answer : before;                                                 \
        leave(self);                                                                                         \
        return result;                                                                                       \
    }
QUESTION(get_columns, PyLong_FromSize_t(oif_pipeline_columns(self->pipeline)), Py_NewRef(Py_None))
QUESTION(get_rows, PyLong_FromUnsignedLongLong(oif_pipeline_rows(self->pipeline)), PyLong_FromLong(0))
QUESTION(get_keys, PyLong_FromSize_t(oif_pipeline_keys(self->pipeline)), PyLong_FromLong(0))
QUESTION(get_evictions, PyLong_FromUnsignedLongLong(oif_pipeline_evictions(self->pipeline)),
         PyLong_FromLong(0))
QUESTION(get_shelved, PyLong_FromSize_t(oif_pipeline_shelved(self->pipeline)), PyLong_FromLong(0))
QUESTION(get_lost, PyLong_FromUnsignedLongLong(oif_pipeline_lost(self->pipeline, NULL)), PyLong_FromLong(0))
QUESTION(get_memory_bytes, PyLong_FromSize_t(oif_pipeline_memory_bytes(self->pipeline)), PyLong_FromLong(0))

static PyObject *get_feature_names(PyObject *object, void *unused)
{
    (void)unused;
    PyObject *names = ((pipeline_object *)object)->names;
    return Py_NewRef(names ? names : Py_None);
}

static int set_feature_names(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    PyObject *names = NULL;
    if (value && value != Py_None && !(names = PySequence_Tuple(value)))
        return -1;
    if (names && self->pipeline && PyTuple_Size(names) != (Py_ssize_t)oif_pipeline_columns(self->pipeline)) {
        PyErr_Format(PyExc_ValueError, "%zd names for rows of %zu numbers", PyTuple_Size(names),
                     oif_pipeline_columns(self->pipeline));
        Py_DECREF(names);
        return -1;
    }
    PyObject *old = self->names;
    self->names = names;
    Py_XDECREF(old);
    return 0;
}

static PyObject *get_ignore_unknown(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((pipeline_object *)object)->ignore_unknown);
}

static int set_ignore_unknown(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    int ignore = value ? PyObject_IsTrue(value) : 0;
    if (ignore < 0)
        return -1;
    ((pipeline_object *)object)->ignore_unknown = ignore;
    return 0;
}

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "The name of the detectors' method.", NULL},
    {"params", get_params, NULL, "Every parameter of the detectors with its value.", NULL},
    {"options", get_options, NULL, "Every option of the pipeline with its value.", NULL},
    {"columns", get_columns, NULL, "The numbers in a row; None before the first.", NULL},
    {"rows", get_rows, NULL, "The rows processed so far.", NULL},
    {"keys", get_keys, NULL, "The keys that have a model.", NULL},
    {"evictions", get_evictions, NULL, "The keys that lost their model to others.", NULL},
    {"shelved", get_shelved, NULL,
     "The keys whose model is on the shelf beside the state file of `oif score`.", NULL},
    {"lost", get_lost, NULL, "The models that should have been kept there, or been there, and were not.",
     NULL},
    {"memory_bytes", get_memory_bytes, NULL, "The bytes that all models take.", NULL},
    {"feature_names", get_feature_names, set_feature_names,
     "The names of the numbers in a row: those of the first dict or DataFrame, or None.", NULL},
    {"ignore_unknown", get_ignore_unknown, set_ignore_unknown,
     "Whether features that were not in the first dict or DataFrame are left out instead of refused.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_process", pipeline_process, METH_VARARGS,
     "_process($self, x, keys, room, with_shares, anomalies_only, /)\n--\n\n"},
    {"_process_one", (PyCFunction)(void (*)(void))pipeline_process_one, METH_FASTCALL,
     "_process_one($self, x, key, /)\n--\n\n"},
    {"_explain", pipeline_explain, METH_NOARGS, "_explain($self, /)\n--\n\n"},
    {"to_bytes", pipeline_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nA snapshot: all that the pipeline is, on any machine. oif.load reads it."},
    {"save", pipeline_save, METH_O,
     "save($self, path, /)\n--\n\nWrite a snapshot to a file, which holds the old one or the new one "
     "whatever happens."},
    {"check", pipeline_check, METH_NOARGS,
     "check($self, /)\n--\n\nVerify every invariant of all models; raises oif.InvariantError. Slow."},
    {"_restore", pipeline_restore, METH_O, "_restore($self, snapshot, /)\n--\n\n"},
    {"_assign", pipeline_assign, METH_O, "_assign($self, other, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Pipeline(kind, params, options)\n--\n\nA pipeline of the C library."},
    {Py_tp_new, pipeline_new},
    {Py_tp_init, pipeline_init},
    {Py_tp_dealloc, pipeline_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec pipeline_spec = {
    .name = "oif._core.Pipeline",
    .basicsize = sizeof(pipeline_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
