/* The type Incidents: episodes that begin together. Calls take microseconds, so they keep the
 * GIL, and need no guard. */
#include "core.h"

#include <math.h>

typedef struct incidents_object {
    PyObject_HEAD oif_incidents *made; /* NULL before __init__ */
} incidents_object;

static int incidents_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    incidents_object *self = (incidents_object *)object;
    oif_params options;
    oif_error error;
    if (PyTuple_Size(arguments) != 0) {
        PyErr_SetString(PyExc_TypeError, "options are given by name");
        return -1;
    }
    oif_incidents_options_init(&options);
    if (keywords && !params_set(&options, keywords))
        return -1;
    oif_incidents *made = NULL;
    if (oif_incidents_new(&options, &made, &error) != OIF_OK) {
        raise_error(&error);
        return -1;
    }
    oif_incidents_free(self->made);
    self->made = made;
    return 0;
}

static void incidents_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    oif_incidents_free(((incidents_object *)object)->made);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* NULL with an exception set. */
static oif_incidents *made_of(PyObject *object)
{
    oif_incidents *made = ((incidents_object *)object)->made;
    if (!made)
        PyErr_SetString(PyExc_RuntimeError, "__init__ of the incidents was not called");
    return made;
}

/* ---- Events ---- */

/* (key, column, reason, seconds, severity, episode, stream) */
static PyObject *report(PyObject *object, PyObject *arguments, bool begins)
{
    oif_incident_event event = {0};
    Py_ssize_t key_bytes;
    unsigned long long episode;
    oif_incident_place place = {0};
    oif_error error;
    oif_incidents *made = made_of(object);
    if (!made ||
        !PyArg_ParseTuple(arguments, "s#ssddKs", &event.key, &key_bytes, &event.column,
                          &event.reason, &event.seconds, &event.severity, &episode, &event.stream))
        return NULL;
    event.key_bytes = (size_t)key_bytes;
    event.episode = episode;
    if ((begins ? oif_incidents_begin : oif_incidents_end)(made, &event, &place, &error) != OIF_OK)
        return raise_error(&error);
    return Py_BuildValue("(KNNNd)", (unsigned long long)place.incident,
                         PyBool_FromLong(place.is_new), PyBool_FromLong(place.joins),
                         PyBool_FromLong(place.is_over), place.peak_before);
}

static PyObject *incidents_begin(PyObject *self, PyObject *arguments)
{
    return report(self, arguments, true);
}

static PyObject *incidents_end(PyObject *self, PyObject *arguments)
{
    return report(self, arguments, false);
}

/* ---- Questions ---- */

/* Appends and gives up the item. False with an exception set. */
static bool append(PyObject *list, PyObject *item)
{
    bool is_done = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return is_done;
}

static PyObject *incidents_numbers(PyObject *self, PyObject *unused)
{
    (void)unused;
    oif_incidents *made = made_of(self);
    PyObject *list = made ? PyList_New(0) : NULL;
    uint64_t number;
    for (size_t i = 0; list && (number = oif_incidents_number(made, i)) != 0; i++)
        if (!append(list, PyLong_FromUnsignedLongLong(number)))
            Py_CLEAR(list);
    return list;
}

/* A text that may have been cut within a character. */
static PyObject *text_of(const char *text, size_t bytes)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "replace");
}

static PyObject *members_of(const oif_incidents *made, uint64_t number)
{
    PyObject *list = PyList_New(0);
    oif_incident_member m;
    for (size_t i = 0; list && oif_incidents_member(made, number, i, &m); i++)
        if (!append(list, Py_BuildValue("(NNNNdddK)", text_of(m.key, m.key_bytes),
                                        text_of(m.column, m.column_bytes),
                                        text_of(m.reason, m.reason_bytes),
                                        text_of(m.stream, m.stream_bytes), m.seconds, m.end_seconds,
                                        m.severity, (unsigned long long)m.episode)))
            Py_CLEAR(list);
    return list;
}

static PyObject *shared_of(const oif_incidents *made, uint64_t number)
{
    PyObject *list = PyList_New(0);
    oif_incident_shared s;
    for (size_t i = 0; list && oif_incidents_shared(made, number, i, &s); i++)
        if (!append(list, Py_BuildValue("(sN)", s.is_column ? "column" : "part",
                                        text_of(s.text, s.bytes))))
            Py_CLEAR(list);
    return list;
}

/* (number, members, open, first seconds, last seconds, severity, is over, worst, order, shared) */
static PyObject *incidents_incident(PyObject *self, PyObject *argument)
{
    oif_incident_info info;
    unsigned long long number = PyLong_AsUnsignedLongLong(argument);
    oif_incidents *made = made_of(self);
    if (!made || PyErr_Occurred())
        return NULL;
    if (!oif_incidents_info(made, number, &info))
        Py_RETURN_NONE;
    return Py_BuildValue(
        "(KKKdddNKNN)", number, (unsigned long long)info.members, (unsigned long long)info.open,
        info.first_seconds, info.last_seconds, info.peak_severity, PyBool_FromLong(info.is_over),
        (unsigned long long)info.worst, members_of(made, number), shared_of(made, number));
}

/* ---- Snapshots ---- */

static PyObject *incidents_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    oif_error error;
    oif_incidents *made = made_of(self);
    size_t count = made ? oif_incidents_snapshot_bytes(made) : 0;
    PyObject *bytes = made ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count) : NULL;
    if (bytes &&
        oif_incidents_save_memory(made, PyBytes_AsString(bytes), count, &error) != OIF_OK) {
        Py_DECREF(bytes);
        return raise_error(&error);
    }
    return bytes;
}

static PyObject *incidents_take_bytes(PyObject *object, PyObject *source)
{
    incidents_object *self = (incidents_object *)object;
    oif_incidents *made = NULL;
    oif_error error;
    PyObject *bytes = bytes_of(source);
    if (!bytes)
        return NULL;
    oif_status status = oif_incidents_load_memory(PyBytes_AsString(bytes),
                                                  (size_t)PyBytes_Size(bytes), &made, &error);
    Py_DECREF(bytes);
    if (status != OIF_OK)
        return raise_error(&error);
    oif_incidents_free(self->made);
    self->made = made;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_begin", incidents_begin, METH_VARARGS, NULL},
    {"_end", incidents_end, METH_VARARGS, NULL},
    {"numbers", incidents_numbers, METH_NOARGS,
     "numbers($self, /)\n--\n\nThe numbers of the open incidents, the oldest first."},
    {"_incident", incidents_incident, METH_O, NULL},
    {"to_bytes", incidents_to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nA snapshot; from_bytes resumes from it."},
    {"_take_bytes", incidents_take_bytes, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Incidents(**options)\n--\n\nEpisodes that begin together."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, incidents_init},
    {Py_tp_dealloc, incidents_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec incidents_spec = {
    .name = "oif._core.Incidents",
    .basicsize = sizeof(incidents_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
