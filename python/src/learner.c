/* The base of Detector and Pipeline: an object of the library, created by the first rows and used
 * by one thread at a time, with column names and snapshots. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- Creation ---- */

PyObject *learner_new(PyTypeObject *type, const learner_kind *kind)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    learner *self = (learner *)allocate(type, 0);
    if (!self)
        return NULL;
    self->kind = kind;
    if (!guard_init(&self->guard))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static bool is_fresh(const learner *self)
{
    if (self->params.table)
        PyErr_Format(PyExc_RuntimeError, "a %s is made once", self->kind->noun);
    return !self->params.table;
}

bool learner_read_params(learner *self, const char *kind, PyObject *values, oif_params *params)
{
    oif_error error;
    if (!is_fresh(self))
        return false;
    if (oif_params_init(params, kind, &error) == OIF_OK)
        return params_set(params, values);
    raise_error(&error);
    return false;
}

void learner_dealloc(PyObject *object)
{
    learner *self = (learner *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->kind)
        self->kind->free(self);
    guard_free(&self->guard);
    Py_XDECREF(self->names);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* ---- Entering and leaving ---- */

bool learner_enter(learner *self, bool writing)
{
    if (self->params.table)
        return guard_enter(&self->guard, writing);
    PyErr_Format(PyExc_RuntimeError, "__init__ of the %s was not called", self->kind->noun);
    return false;
}

static bool enter(learner *self, bool writing)
{
    return self->kind->enter(self, writing);
}

void learner_leave(learner *self)
{
    guard_leave(&self->guard);
}

/* ---- Rows ---- */

expected_rows learner_expects(const learner *self)
{
    return (expected_rows){self->names,
                           self->made ? (Py_ssize_t)self->kind->columns(self->made) : 0,
                           self->ignore_unknown};
}

bool learner_prepare(learner *self, const row_input *rows)
{
    if (!self->made && self->names && PyTuple_Size(self->names) != rows->columns) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1,
                         "%zd names for rows of %zd numbers; set column_names again or to None",
                         PyTuple_Size(self->names), rows->columns);
        return false;
    }
    if (!self->made && !self->kind->make(self, (size_t)rows->columns))
        return false;
    size_t columns = self->kind->columns(self->made);
    if (columns == (size_t)rows->columns)
        return true;
    raise_data_error(cause_of_count(rows->columns, (Py_ssize_t)columns), -1, -1,
                     "expected rows of %zu columns, not %zd", columns, rows->columns);
    return false;
}

void learner_adopt_names(learner *self, const row_input *rows)
{
    if (!self->names && rows->names)
        self->names = Py_NewRef(rows->names);
}

PyObject *learner_raise(const learner *self, const oif_error *error, Py_ssize_t first,
                        const row_input *rows)
{
    if (error->status == OIF_EVALUE && error->column > 0)
        return raise_infinity(first + (error->line ? (Py_ssize_t)error->line - 1 : 0),
                              (Py_ssize_t)error->column - 1, rows->single,
                              self->names ? self->names : rows->names);
    return raise_error(error);
}

/* ---- Names in snapshots ---- */

/* Names are text in snapshots; in Python they may be any dict key. */

static PyObject *name_as_bytes(PyObject *name)
{
    PyObject *bytes =
        PyUnicode_Check(name) ? PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape") : NULL;
    const char *text = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!text || strlen(text) != (size_t)PyBytes_Size(bytes))
        Py_CLEAR(bytes);
    PyErr_Clear();
    return bytes;
}

/* The names as a tuple of bytes, or NULL if there are none, or not all are text without a NUL. */
static PyObject *names_as_bytes(PyObject *names)
{
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    PyObject *tuple = names ? PyTuple_New(count) : NULL;
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *bytes = name_as_bytes(PyTuple_GetItem(names, i));
        if (!bytes || PyTuple_SetItem(tuple, i, bytes) < 0)
            Py_CLEAR(tuple);
    }
    PyErr_Clear();
    return tuple;
}

bool learner_give_names(learner *self, PyObject *names)
{
    oif_error error;
    PyObject *tuple = names_as_bytes(names);
    size_t count = tuple ? (size_t)PyTuple_Size(tuple) : 0;
    const char **texts = PyMem_Malloc((count + 1) * sizeof *texts);
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = PyBytes_AsString(PyTuple_GetItem(tuple, (Py_ssize_t)i));
    bool named =
        texts && self->kind->name_columns(self->made, tuple ? texts : NULL, &error) == OIF_OK;
    if (!texts)
        PyErr_NoMemory();
    else if (!named)
        raise_error(&error);
    PyMem_Free(texts);
    Py_XDECREF(tuple);
    return named;
}

bool learner_take_names(learner *self)
{
    if (!self->kind->column_name(self->made, 0))
        return true;
    size_t columns = self->kind->columns(self->made);
    PyObject *names = PyTuple_New((Py_ssize_t)columns);
    for (size_t i = 0; names && i < columns; i++) {
        const char *text = self->kind->column_name(self->made, i);
        PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
        if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(names);
    }
    self->names = names;
    return names != NULL;
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

/* The target of a snapshot: a file, or memory if there is none. */
typedef struct destination {
    const char *path;
    growing memory;
} destination;

/* Saves without the GIL; false with an exception set. */
static bool save_to(learner *self, destination *to)
{
    oif_error error;
    oif_status status = OIF_OK;
    if (!enter(self, false))
        return false;
    bool empty = !self->made, named = empty || learner_give_names(self, self->names);
    if (!empty && named) {
        PyThreadState *state = PyEval_SaveThread();
        status = to->path ? self->kind->save_file(self->made, to->path, &error)
                          : self->kind->save(self->made, append, &to->memory, &error);
        PyEval_RestoreThread(state);
    }
    learner_leave(self);
    if (empty)
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "there is nothing to save before the first row");
    else if (status != OIF_OK)
        raise_error(&error);
    return !empty && named && status == OIF_OK;
}

static PyObject *learner_to_bytes(PyObject *object, PyObject *unused)
{
    (void)unused;
    destination to = {.path = NULL};
    PyObject *bytes = NULL;
    if (save_to((learner *)object, &to))
        bytes = PyBytes_FromStringAndSize(to.memory.bytes, (Py_ssize_t)to.memory.count);
    free(to.memory.bytes);
    return bytes;
}

static PyObject *learner_save(PyObject *object, PyObject *path)
{
    PyObject *name = NULL;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    destination to = {.path = PyBytes_AsString(name)};
    bool saved = to.path && save_to((learner *)object, &to);
    Py_DECREF(name);
    return saved ? Py_NewRef(Py_None) : NULL;
}

ptrdiff_t learner_read_bytes(void *context, char *buffer, size_t capacity)
{
    learner_bytes *from = context;
    size_t left = from->count - from->used, count = left < capacity ? left : capacity;
    memcpy(buffer, from->bytes + from->used, count);
    from->used += count;
    return (ptrdiff_t)count;
}

/* Loads the bytes into a fresh object, whose __init__ was not called. */
static bool restore(learner *self, PyObject *snapshot, size_t *used)
{
    oif_error error;
    PyObject *bytes = is_fresh(self) ? bytes_of(snapshot) : NULL;
    if (!bytes)
        return false;
    oif_status status =
        self->kind->load(self, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), used, &error);
    Py_DECREF(bytes);
    if (status != OIF_OK)
        raise_error(&error);
    return status == OIF_OK && learner_take_names(self);
}

static PyObject *learner_restore(PyObject *object, PyObject *snapshot)
{
    return restore((learner *)object, snapshot, NULL) ? Py_NewRef(Py_None) : NULL;
}

/* _restore_first(bytes) -> the size of the snapshot that they begin with */
static PyObject *learner_restore_first(PyObject *object, PyObject *bytes)
{
    size_t used = 0;
    return restore((learner *)object, bytes, &used) ? PyLong_FromSize_t(used) : NULL;
}

/* Copies another object into a fresh one. */
static PyObject *learner_assign(PyObject *object, PyObject *other)
{
    learner *self = (learner *)object, *from = (learner *)other;
    oif_error error;
    if (self->params.table || !PyObject_TypeCheck(other, Py_TYPE(object)))
        return PyErr_Format(PyExc_TypeError, "a fresh %s becomes a copy of one of the same class",
                            self->kind->noun);
    if (!enter(from, false))
        return NULL;
    oif_status status = self->kind->copy(self, from, &error);
    if (status == OIF_OK) {
        self->params = from->params;
        self->names = Py_XNewRef(from->names);
        self->ignore_unknown = from->ignore_unknown;
    }
    learner_leave(from);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

/* ---- Questions ---- */

static PyObject *learner_check(PyObject *object, PyObject *unused)
{
    (void)unused;
    learner *self = (learner *)object;
    oif_error error;
    if (!enter(self, false))
        return NULL;
    oif_status status = self->made ? self->kind->check(self->made, &error) : OIF_OK;
    learner_leave(self);
    return status == OIF_OK ? Py_NewRef(Py_None) : raise_error(&error);
}

PyObject *learner_ask(PyObject *object, void *question)
{
    learner *self = (learner *)object;
    const learner_question *ask = question;
    if (!enter(self, false))
        return NULL;
    PyObject *answer = self->made ? ask->answer(self->made) : ask->before();
    learner_leave(self);
    return answer;
}

PyObject *answer_none(void)
{
    return Py_NewRef(Py_None);
}

PyObject *answer_zero(void)
{
    return PyLong_FromLong(0);
}

PyObject *answer_false(void)
{
    return PyBool_FromLong(0);
}

static PyObject *get_kind(PyObject *object, void *unused)
{
    (void)unused;
    learner *self = (learner *)object;
    return PyUnicode_FromString(self->params.table ? self->params.table->name : "");
}

static PyObject *get_params(PyObject *object, void *unused)
{
    (void)unused;
    learner *self = (learner *)object;
    return params_as_proxy(&self->params);
}

static PyObject *get_column_names(PyObject *object, void *unused)
{
    (void)unused;
    PyObject *names = ((learner *)object)->names;
    return Py_NewRef(names ? names : Py_None);
}

static bool names_differ(PyObject *names)
{
    PyObject *set = PySet_New(names);
    bool differ = set && PySet_Size(set) == PyTuple_Size(names);
    if (set && !differ)
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "columns have the same name: %R", names);
    Py_XDECREF(set);
    return differ;
}

static int set_column_names(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    learner *self = (learner *)object;
    PyObject *names = NULL;
    if (value && value != Py_None && !(names = PySequence_Tuple(value)))
        return -1;
    size_t columns = self->made ? self->kind->columns(self->made) : 0;
    if (names && columns > 0 && PyTuple_Size(names) != (Py_ssize_t)columns) {
        raise_data_error(OIF_CAUSE_NONE, -1, -1, "%zd names for rows of %zu numbers",
                         PyTuple_Size(names), columns);
        Py_DECREF(names);
        return -1;
    }
    if (names && !names_differ(names)) {
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
    return PyBool_FromLong(((learner *)object)->ignore_unknown);
}

static int set_ignore_unknown(PyObject *object, PyObject *value, void *unused)
{
    (void)unused;
    int ignore = value ? PyObject_IsTrue(value) : 0;
    if (ignore < 0)
        return -1;
    ((learner *)object)->ignore_unknown = ignore;
    return 0;
}

/* ---- The type ---- */

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "The name of the detector, as the tool and the C library call it.",
     NULL},
    {"params", get_params, NULL, "Every parameter of the detector with its value.", NULL},
    {"column_names", get_column_names, set_column_names,
     "The names of the columns: those of the first dict or DataFrame, or None.", NULL},
    {"ignore_unknown", get_ignore_unknown, set_ignore_unknown,
     "Whether columns that the first dict or DataFrame did not have are ignored.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"to_bytes", learner_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nA snapshot: all that was learned, on any machine. oif.load reads "
     "it."},
    {"save", learner_save, METH_O,
     "save($self, path, /)\n--\n\nWrite a snapshot to a file, atomically: after a crash the file "
     "holds the old one or the new one."},
    {"check", learner_check, METH_NOARGS,
     "check($self, /)\n--\n\nVerify every invariant of what was learned; raises "
     "oif.InvariantError. Slow."},
    {"_restore", learner_restore, METH_O, "_restore($self, snapshot, /)\n--\n\n"},
    {"_restore_first", learner_restore_first, METH_O, "_restore_first($self, bytes, /)\n--\n\n"},
    {"_assign", learner_assign, METH_O, "_assign($self, other, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

/* Detector and Pipeline have their own. Since 3.10 a type flag would do. */
static PyObject *refuse_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)type, (void)arguments, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "cannot create 'oif._core.Learner' instances");
    return NULL;
}

static PyType_Slot slots[] = {
    {Py_tp_doc, "What Detector and Pipeline have in common."},
    {Py_tp_new, refuse_new},
    {Py_tp_dealloc, learner_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec learner_spec = {
    .name = "oif._core.Learner",
    .basicsize = sizeof(learner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
