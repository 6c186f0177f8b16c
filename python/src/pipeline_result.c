/* The result of a row for Python: a record of an array, an oif.Result, the reasons, and what was
 * expected. */
#include "core.h"

#include <math.h>

record result_record(const oif_result *result)
{
    return (record){
        .score = result->score,
        .threshold = result->threshold,
        .anomaly = result->anomaly,
        .ready = result->ready,
        .learned = result->learned,
        .episode = (uint8_t)result->episode,
        .grade = (uint8_t)result->grade,
        .severity = result->severity,
        .reason = (int8_t)result->reason,
        .has_no_model = result->has_no_model,
        .rule = result->rule,
    };
}

/* ---- oif.Result ---- */

/* oif.Result, and the enumerations of its members as tuples. */
static PyObject *result_type, *episodes, *grades, *reasons;
static allocfunc allocate_result;

static void replace(PyObject **old, PyObject *value)
{
    PyObject *before = *old;
    *old = Py_XNewRef(value);
    Py_XDECREF(before);
}

/* Static variables belong to one interpreter. From 3.12 on, Python itself refuses to load the
 * module into a second one. */
static bool is_in_its_interpreter(void)
{
    static int64_t first = -1;
    int64_t here = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (first == -1)
        first = here;
    if (here != first)
        PyErr_SetString(PyExc_ImportError, "oif is loaded in another interpreter of this process");
    return here == first;
}

PyObject *set_result_type(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *type, *given[3];
    if (!is_in_its_interpreter())
        return NULL;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:_set_result_type", &type, &PyTuple_Type, &given[0],
                          &PyTuple_Type, &given[1], &PyTuple_Type, &given[2]))
        return NULL;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a result is a named tuple");
        return NULL;
    }
    allocate_result = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    replace(&result_type, type);
    replace(&episodes, given[0]);
    replace(&grades, given[1]);
    replace(&reasons, given[2]);
    return Py_NewRef(Py_None);
}

/* A new reference to a member of an enumeration. */
static PyObject *member(PyObject *members, Py_ssize_t i)
{
    return Py_XNewRef(PyTuple_GetItem(members, i));
}

/* An oif.Result: a named tuple. It is filled in place, because its constructor takes as long as a
 * row, and that of tuple would copy another tuple. */
PyObject *result_as_python(const record *r)
{
    enum { FIELDS = 11 };
    if (!result_type) {
        PyErr_SetString(PyExc_SystemError, "the type of results is not set");
        return NULL;
    }
    PyObject *result = allocate_result((PyTypeObject *)result_type, FIELDS);
    if (!result)
        return NULL;
    PyObject *values[FIELDS] = {PyFloat_FromDouble(r->score),    PyFloat_FromDouble(r->threshold),
                                PyBool_FromLong(r->anomaly),     PyBool_FromLong(r->ready),
                                PyBool_FromLong(r->learned),     member(episodes, r->episode),
                                member(grades, r->grade),        PyFloat_FromDouble(r->severity),
                                member(reasons, r->reason),      PyBool_FromLong(r->has_no_model),
                                PyLong_FromUnsignedLong(r->rule)};
    bool good = true;
    for (int i = 0; i < FIELDS; i++) {
        good = good && values[i];
        PyTuple_SetItem(result, i, values[i]);
    }
    PyObject_GC_UnTrack(result); /* it cannot be part of a cycle, and programs keep many */
    if (!good)
        Py_CLEAR(result);
    return result;
}

/* ---- Reasons ---- */

/* (share, direction, reason, partner or None, size, usual) */
static PyObject *attribution_tuple(const oif_attribution *why)
{
    PyObject *partner = why->reason == OIF_REASON_PARTNER ? PyLong_FromUnsignedLong(why->partner)
                                                          : Py_NewRef(Py_None);
    return Py_BuildValue("diiNdd", why->share, why->direction, (int)why->reason, partner, why->size,
                         why->usual);
}

PyObject *pipeline_explain(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true))
        return NULL;
    size_t columns = self->base.made ? oif_pipeline_learned_columns(self->base.made) : 0;
    oif_attribution *room = PyMem_Malloc((columns + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && self->base.made)
        oif_pipeline_explain(self->base.made, room);
    learner_leave(&self->base);
    for (size_t i = 0; list && i < columns; i++) {
        PyObject *why = attribution_tuple(&room[i]);
        if (!why || PyList_Append(list, why) < 0)
            Py_CLEAR(list);
        Py_XDECREF(why);
    }
    PyMem_Free(room);
    return list;
}

/* (value, low, high, basis) */
static PyObject *expected_tuple(double value, const oif_expected *expected)
{
    return Py_BuildValue("dddi", value, expected->low, expected->high, (int)expected->basis);
}

PyObject *pipeline_expected(PyObject *object, PyObject *unused)
{
    (void)unused;
    pipeline_object *self = (pipeline_object *)object;
    if (!learner_enter(&self->base, true)) /* it may unpack a model */
        return NULL;
    const oif_pipeline *made = self->base.made;
    size_t columns = made ? oif_pipeline_learned_columns(made) : 0;
    oif_expected *room = PyMem_Malloc((columns + 1) * sizeof *room);
    PyObject *list = room ? PyList_New(0) : PyErr_NoMemory();
    if (list && made)
        oif_pipeline_expected(made, room);
    const double *row = list && made ? oif_pipeline_learned_row(made) : NULL;
    for (size_t i = 0; list && i < columns; i++) {
        PyObject *tuple = expected_tuple(row ? row[i] : (double)NAN, &room[i]);
        if (!tuple || PyList_Append(list, tuple) < 0)
            Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    learner_leave(&self->base);
    PyMem_Free(room);
    return list;
}
